/* locations.c: `# path:line:column` at the ends of IR lines, as spans. The file itself is not
 * opened: reading IR must not depend on what lies beside it. A blank stand-in of the same path has
 * just enough lines and columns for the locations named. */
#include "ir/locations.h"
#include "base/vec.h"

#include <string.h>

/* Locations beyond these are passed over, so that a short text cannot ask for a large stand-in. */
enum { LAST_LINE = 1 << 18, LAST_COLUMN = 1 << 12, LARGEST_STAND_IN = 1 << 24 };

typedef struct Named {
    uint32_t ir_line, line, column;
    int file;
} Named;

typedef struct File {
    Name path;
    uint32_t lines;
    const Source *source;
} File;

struct Locations {
    Session *session;
    Arena *scratch;
    VEC(Named) named; /* in the order of ir_line */
    VEC(File) files;
    size_t size; /* of all stand-ins */
};

Locations *locations_new(Session *session, Arena *scratch)
{
    Locations *locations = arena_new_of(scratch, Locations);
    locations->session = session;
    locations->scratch = scratch;
    return locations;
}

/* Takes ":digits" off the end of the text. */
static bool take_number(const char *text, size_t *length, uint32_t most, uint32_t *out)
{
    size_t begin = *length;
    while (begin > 0 && text[begin - 1] >= '0' && text[begin - 1] <= '9') begin--;
    if (begin == 0 || begin == *length || *length - begin > 8 || text[begin - 1] != ':')
        return false;
    uint32_t number = 0;
    for (size_t i = begin; i < *length; i++) number = number * 10 + (uint32_t)(text[i] - '0');
    *length = begin - 1;
    *out = number;
    return number >= 1 && number <= most;
}

static int find_file(Locations *locations, Name path)
{
    for (size_t i = 0; i < locations->files.count; i++)
        if (locations->files.data[i].path == path) return (int)i;
    vec_push(locations->scratch, &locations->files, ((File){.path = path}));
    return (int)locations->files.count - 1;
}

void locations_add(Locations *locations, uint32_t ir_line, const char *comment, size_t length)
{
    Named named = {.ir_line = ir_line};
    if (!take_number(comment, &length, LAST_COLUMN, &named.column) ||
        !take_number(comment, &length, LAST_LINE, &named.line) || length <= 2 || comment[1] != ' ')
        return;
    named.file = find_file(locations, intern(locations->session->names, comment + 2, length - 2));
    File *file = &locations->files.data[named.file];
    if (file->lines < named.line) file->lines = named.line;
    vec_push(locations->scratch, &locations->named, named);
}

static void fill_line(Buf *text, uint32_t width)
{
    while (width-- > 0) buf_char(text, ' ');
    buf_char(text, '\n');
}

static void make_stand_in(Locations *locations, int index)
{
    File *file = &locations->files.data[index];
    if (locations->size + file->lines > LARGEST_STAND_IN) return;
    uint32_t *widths = arena_new_array(locations->scratch, uint32_t, file->lines + 1);
    size_t size = file->lines;
    for (size_t i = 0; i < locations->named.count; i++) {
        const Named *named = &locations->named.data[i];
        if (named->file == index && widths[named->line] < named->column) {
            size += named->column - widths[named->line];
            widths[named->line] = named->column;
        }
    }
    locations->size += size;
    if (locations->size > LARGEST_STAND_IN) return;
    Buf text = {0};
    for (uint32_t line = 1; line <= file->lines; line++) fill_line(&text, widths[line]);
    file->source = source_from_text(locations->session, file->path, text.data, text.length);
    buf_free(&text);
}

void locations_resolve(Locations *locations)
{
    for (size_t i = 0; i < locations->files.count; i++) make_stand_in(locations, (int)i);
}

Span locations_find(const Locations *locations, uint32_t ir_line)
{
    size_t low = 0, high = locations->named.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (locations->named.data[middle].ir_line < ir_line)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == locations->named.count || locations->named.data[low].ir_line != ir_line)
        return (Span){0};
    const Named *named = &locations->named.data[low];
    const Source *source = locations->files.data[named->file].source;
    if (source == NULL) return (Span){0};
    uint32_t begin = source->lines[named->line - 1] + named->column - 1;
    return (Span){source, begin, begin + 1};
}
