/* library.c: places as locations of files. The standard library's text lies in the compiler itself:
 * a file of it is written to a folder of the server's own when an editor is to open it. */
#include "lsp/lsp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char LIBRARY[] = "<stdlib>/";

static bool make_folder(Server *server)
{
    if (server->library_folder != NULL) return true;
    const char *folder = os_temp_folder(server->arena);
    if (folder != NULL) server->library_folder = strdup(folder);
    return server->library_folder != NULL;
}

/* Folders above the file, below the server's own. */
static void make_parents(Server *server, const char *path)
{
    const size_t below = strlen(server->library_folder) + 1;
    for (const char *slash = strchr(path + below, '/'); slash != NULL;
         slash = strchr(slash + 1, '/'))
        mkdir(arena_copy_text(server->arena, path, (size_t)(slash - path)), 0700);
}

static const char *library_file(Server *server, const Source *source)
{
    if (!make_folder(server)) return source->path;
    const char *path =
        os_join_path(server->arena, server->library_folder, source->path + sizeof LIBRARY - 1);
    if (os_file_exists(path)) return path;
    make_parents(server, path);
    os_write_file(path, source->text, source->length);
    return path;
}

static const char *absolute_path(Server *server, const char *path)
{
    char *found = path[0] != '/' ? realpath(path, NULL) : NULL;
    if (found == NULL) return path;
    path = arena_copy_text(server->arena, found, strlen(found));
    free(found);
    return path;
}

json_t *location_of(Server *server, Span span)
{
    const bool is_library = strncmp(span.source->path, LIBRARY, sizeof LIBRARY - 1) == 0;
    const char *path =
        is_library ? library_file(server, span.source) : absolute_path(server, span.source->path);
    return json_pack("{s:s, s:o}", "uri", uri_from_path(server->arena, path), "range",
                     range_from_span(server->encoding, span));
}
