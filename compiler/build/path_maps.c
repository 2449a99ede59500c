/* path_maps.c: what outputs have in place of the paths of sources: -ffile-prefix-map, and relative
 * paths for absolute ones. */
#include "build/build.h"

#include <string.h>

static bool read_path_map(Session *session, const char *text, PathMap *out)
{
    const char *sign = strrchr(text, '=');
    if (!sign) {
        diag_report(session->diags, DIAG_option_value, (Span){0}, "-ffile-prefix-map=", text,
                    "it is not of the form OLD=NEW");
        return false;
    }
    *out = (PathMap){arena_copy_text(session->arena, text, (size_t)(sign - text)), sign + 1};
    return true;
}

/* How much of the folder `one`, `length` bytes long, the folder `other` lies in, too; 0: they share
 * the root at most. */
static size_t shared_length(const char *one, size_t length, const char *other, size_t other_length)
{
    size_t shared = 0;
    for (size_t i = 1; i <= length && i <= other_length; i++) {
        const bool ends = (i == length || one[i] == '/') && (i == other_length || other[i] == '/');
        if (ends && strncmp(one, other, i) == 0) shared = i;
    }
    return shared;
}

/* The folder is to lie within the one whose path is the first `*length` bytes of the current one's.
 * Those that share the root alone are left as they are. True: it does, and its path is absolute. */
static bool share_folder(const char *current, size_t *length, const char *folder,
                         size_t folder_length)
{
    const bool is_absolute = folder_length > 1 && folder[0] == '/';
    const size_t shared = is_absolute ? shared_length(current, *length, folder, folder_length) : 0;
    if (shared) *length = shared;
    return shared != 0;
}

/* "../.." of a path that goes so many folders deeper; "." of none. */
static const char *way_up(Arena *arena, const char *deeper)
{
    const char *up = "";
    for (; *deeper; deeper++)
        if (*deeper == '/') up = arena_printf(arena, "%s%s..", up, *up ? "/" : "");
    return *up ? up : ".";
}

/* The folder that `from` and those of the main file and of -I lie in, of those that share more than
 * the root with it; its path is the first `*length` bytes of `from`. False: it is shared by none.
 */
static bool shared_folder(const Options *options, const char *main, const char *from,
                          size_t *length)
{
    const TextList *imports = &options->import_paths;
    bool found = share_folder(from, length, main, strlen(main));
    for (int i = 0; i < imports->count; i++)
        found |= share_folder(from, length, imports->items[i], strlen(imports->items[i]));
    return found;
}

/* A map by which absolute paths become relative, so that a build in another place has the same: to
 * the current folder, or where the main file shares no more with that than the root, to the main
 * file's. False: none is absolute. */
static bool relative_map(Session *session, const Options *options, PathMap *out)
{
    Arena *arena = session->arena;
    const char *input = options->inputs.count ? options->inputs.items[0] : "";
    const char *slash = strrchr(input, '/'), *current = os_working_folder(arena);
    const char *main = arena_copy_text(arena, input, slash ? (size_t)(slash - input) : 0);
    if (!current) return false;
    const bool is_apart =
        main[0] == '/' && !shared_length(current, strlen(current), main, strlen(main));
    const char *from = is_apart ? main : current;
    size_t length = strlen(from);
    const bool found = shared_folder(options, main, from, &length);
    *out = (PathMap){arena_copy_text(arena, from, length), way_up(arena, from + length)};
    return found;
}

bool path_maps_apply(Session *session, const Options *options)
{
    const TextList *texts = &options->path_maps;
    PathMap *maps = arena_new_array(session->arena, PathMap, texts->count + 1);
    const bool writes = strcmp(options->command, "compile") == 0;
    int count = writes && relative_map(session, options, &maps[0]) ? 1 : 0;
    for (int i = 0; i < texts->count; i++)
        if (!read_path_map(session, texts->items[i], &maps[count++])) return false;
    session->path_maps = maps;
    session->path_map_count = count;
    return true;
}
