/* source.c: files, and the places of their bytes. A line ends at "\n", "\r\n" or a lone "\r". */
#include "base/base.h"
#include "base/vec.h"

#include <errno.h>
#include <string.h>

enum { LARGEST_SOURCE = 64 << 20 }; /* places are 32 bits wide, the parser's stack int */

static void find_lines(Session *session, Source *source)
{
    VEC(uint32_t) lines = {0};
    vec_push(session->arena, &lines, 0);
    for (size_t i = 0; i < source->length; i++) {
        char c = source->text[i];
        if (c == '\n' || (c == '\r' && source->text[i + 1] != '\n'))
            vec_push(session->arena, &lines, (uint32_t)i + 1);
    }
    source->lines = lines.data;
    source->line_count = (uint32_t)lines.count;
}

Name session_recorded_path(const Session *session, const char *path)
{
    for (int i = session->path_map_count - 1; i >= 0; i--) {
        const PathMap *map = &session->path_maps[i];
        const size_t length = strlen(map->from);
        if (strncmp(path, map->from, length) == 0)
            return intern_printf(session->names, "%s%s", map->to, path + length);
    }
    return intern_text(session->names, path);
}

/* `text` lives as long as the session and is NUL-terminated. */
static Source *make_source(Session *session, const char *path, const char *text, size_t length)
{
    Source *source = arena_new_of(session->arena, Source);
    source->path = intern_text(session->names, strcmp(path, "-") == 0 ? "<stdin>" : path);
    source->recorded = session_recorded_path(session, source->path);
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        length -= 3;
    }
    source->text = text;
    source->length = length;
    find_lines(session, source);
    return source;
}

Source *source_from_text(Session *session, const char *path, const char *text, size_t length)
{
    CHECK(length <= LARGEST_SOURCE);
    return make_source(session, path, arena_copy_text(session->arena, text, length), length);
}

Source *source_from_file(Session *session, const char *path)
{
    size_t length;
    char *text = os_read_file(session->arena, path, &length);
    if (text == NULL) {
        diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, strerror(errno));
        return NULL;
    }
    if (memchr(text, '\0', length) != NULL) {
        diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, "it is binary, not text");
        return NULL;
    }
    if (length > LARGEST_SOURCE) {
        diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, strerror(EFBIG));
        return NULL;
    }
    return make_source(session, path, text, length);
}

/* The index of the last line that starts at or before the offset. */
static uint32_t line_index(const Source *source, uint32_t offset)
{
    uint32_t low = 0, high = source->line_count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (source->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

Location source_location(const Source *source, uint32_t offset)
{
    if (offset > source->length) offset = (uint32_t)source->length;
    uint32_t line = line_index(source, offset);
    uint32_t column = 1;
    for (uint32_t i = source->lines[line]; i < offset; i++)
        column += !continues_character(source->text[i]);
    return (Location){line + 1, column};
}

const char *source_line(const Source *source, uint32_t line, size_t *length)
{
    if (line == 0 || line > source->line_count) return NULL;
    size_t begin = source->lines[line - 1];
    size_t end = line < source->line_count ? source->lines[line] : source->length;
    while (end > begin && (source->text[end - 1] == '\n' || source->text[end - 1] == '\r')) end--;
    *length = end - begin;
    return source->text + begin;
}

Span span_join(Span first, Span last)
{
    if (first.source == NULL) return last;
    if (last.source != first.source) return first;
    if (last.begin < first.begin) first.begin = last.begin;
    if (last.end > first.end) first.end = last.end;
    return first;
}
