/* tunings.c: tuning files: JSON of one form. */
#include "build/tunings.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading JSON ---- */

typedef struct Reader {
    Session *session;
    const char *path, *begin, *at;
    bool failed;
} Reader;

static void fail(Reader *reader, const char *what)
{
    int line = 1;
    if (reader->failed) return;
    reader->failed = true;
    for (const char *at = reader->begin; at < reader->at; at++) line += *at == '\n';
    diag_report(reader->session->diags, DIAG_bad_tuning, (Span){0}, reader->path, line, what);
}

static char peek(Reader *reader)
{
    while (*reader->at && strchr(" \t\r\n", *reader->at)) reader->at++;
    return *reader->at;
}

static bool take(Reader *reader, char wanted)
{
    if (reader->failed || peek(reader) != wanted) return false;
    reader->at++;
    return true;
}

static void need(Reader *reader, char wanted)
{
    char what[] = "'?' is missing";
    what[1] = wanted;
    if (!take(reader, wanted)) fail(reader, what);
}

static const char *read_text(Reader *reader)
{
    Buf text = {0};
    need(reader, '"');
    while (!reader->failed && *reader->at && *reader->at != '"') {
        if (*reader->at == '\\') {
            reader->at++;
            if (!*reader->at || !strchr("\"\\/", *reader->at)) {
                fail(reader, "an escape that is not known here");
                break;
            }
        }
        buf_char(&text, *reader->at++);
    }
    need(reader, '"');
    const char *copy =
        arena_copy_text(reader->session->arena, text.length ? text.data : "", text.length);
    buf_free(&text);
    return copy;
}

static double read_number(Reader *reader)
{
    static const double MOST = 0x1p53; /* up to which all integers are doubles */
    char *end;
    peek(reader);
    const double number = strtod(reader->at, &end);
    if (end == reader->at) fail(reader, "a number is missing");
    if (!(number >= -MOST && number <= MOST)) fail(reader, "a number that is too large");
    reader->at = end;
    return reader->failed ? 0 : number;
}

static int read_int(Reader *reader)
{
    const double number = read_number(reader);
    if (number < 0 || number > INT_MAX) fail(reader, "a number that is out of range");
    return reader->failed ? 0 : (int)number;
}

/* {"name": text or number, ...} */
static NamedVec read_named(Reader *reader)
{
    NamedVec list = {0};
    need(reader, '{');
    while (!reader->failed && peek(reader) != '}') {
        Named one = {.name = read_text(reader)};
        need(reader, ':');
        if (peek(reader) == '"')
            one.text = read_text(reader);
        else
            one.number = read_number(reader);
        vec_push(reader->session->arena, &list, one);
        if (!take(reader, ',')) break;
    }
    need(reader, '}');
    return list;
}

static void read_field(Reader *reader, Tuning *out)
{
    const char *name = read_text(reader);
    const struct {
        const char *name;
        const char **text;
        NamedVec *list;
        int *number;
    } fields[] = {{"kernel", &out->kernel, NULL, NULL},   {"keys", NULL, &out->keys, NULL},
                  {"sizes", NULL, &out->sizes, NULL},     {"device", &out->device, NULL, NULL},
                  {"compute", NULL, NULL, &out->compute}, {"driver", NULL, NULL, &out->driver},
                  {"choice", &out->choice, NULL, NULL},   {"ms", NULL, &out->times, NULL}};
    need(reader, ':');
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (strcmp(fields[i].name, name) != 0) continue;
        if (fields[i].text) *fields[i].text = read_text(reader);
        if (fields[i].list) *fields[i].list = read_named(reader);
        if (fields[i].number) *fields[i].number = read_int(reader);
        return;
    }
    fail(reader, "a field that is not known here");
}

static void read_tuning(Reader *reader, Tunings *tunings)
{
    Tuning tuning = {.device = "*"};
    need(reader, '{');
    do read_field(reader, &tuning);
    while (take(reader, ','));
    need(reader, '}');
    if (!reader->failed && (!tuning.kernel || !tuning.choice))
        fail(reader, "an entry says the kernel and the choice");
    if (!reader->failed) tunings_add(reader->session->arena, tunings, &tuning);
}

/* {"tile_tuning": 1, "entries": [...]} */
static void read_all(Reader *reader, Tunings *tunings)
{
    need(reader, '{');
    if (strcmp(read_text(reader), "tile_tuning") != 0) fail(reader, "it begins with tile_tuning");
    need(reader, ':');
    if (read_number(reader) != 1) fail(reader, "its version is not 1");
    need(reader, ',');
    if (!reader->failed && strcmp(read_text(reader), "entries") != 0)
        fail(reader, "the entries are missing");
    need(reader, ':');
    need(reader, '[');
    while (!reader->failed && peek(reader) != ']') {
        read_tuning(reader, tunings);
        if (!take(reader, ',')) break;
    }
    need(reader, ']');
    need(reader, '}');
    if (!reader->failed && peek(reader)) fail(reader, "there is more behind its end");
}

bool tunings_read(Session *session, const char *path, Tunings *tunings)
{
    const Source *source = source_from_file(session, path);
    if (!source) return false;
    Reader reader = {session, path, source->text, source->text, false};
    if (strlen(source->text) != source->length) fail(&reader, "it holds a NUL");
    if (!reader.failed) read_all(&reader, tunings);
    return !reader.failed;
}

/* ---- entries ---- */

static int compare_named(const NamedVec *a, const NamedVec *b)
{
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        const Named *x = &a->data[i], *y = &b->data[i];
        int sign = strcmp(x->name, y->name);
        if (!sign) sign = strcmp(x->text ? x->text : "", y->text ? y->text : "");
        if (!sign) sign = (x->number > y->number) - (x->number < y->number);
        if (sign) return sign;
    }
    return (a->count > b->count) - (a->count < b->count);
}

/* What is measured, and where: one entry each. That of any device comes last: the first one that
 * fits is taken. */
static int compare(const Tuning *a, const Tuning *b)
{
    int sign = strcmp(a->kernel, b->kernel);
    if (!sign) sign = compare_named(&a->keys, &b->keys);
    if (!sign) sign = compare_named(&a->sizes, &b->sizes);
    if (!sign) sign = (strcmp(a->device, "*") == 0) - (strcmp(b->device, "*") == 0);
    return sign ? sign : strcmp(a->device, b->device);
}

static void set_named(Arena *arena, NamedVec *list, const Named *one)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->data[i].name, one->name) == 0) {
            list->data[i] = *one;
            return;
        }
    vec_push(arena, list, *one);
}

/* What was measured later counts. */
static void merge(Arena *arena, Tuning *old, const Tuning *tuning)
{
    NamedVec times = old->times;
    for (size_t i = 0; i < tuning->times.count; i++)
        set_named(arena, &times, &tuning->times.data[i]);
    *old = *tuning;
    old->times = times;
}

void tunings_add(Arena *arena, Tunings *tunings, const Tuning *tuning)
{
    size_t at = 0;
    int sign = 1;
    while (at < tunings->items.count && (sign = compare(&tunings->items.data[at], tuning)) < 0)
        at++;
    if (at < tunings->items.count && sign == 0) {
        merge(arena, &tunings->items.data[at], tuning);
        return;
    }
    vec_push(arena, &tunings->items, *tuning);
    Tuning *place = &tunings->items.data[at];
    memmove(place + 1, place, (tunings->items.count - 1 - at) * sizeof *place);
    *place = *tuning;
}

/* ---- writing ---- */

static void put_text(Buf *out, const char *text)
{
    buf_char(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') buf_char(out, '\\');
        buf_char(out, *text);
    }
    buf_char(out, '"');
}

static void put_named(Buf *out, const char *name, const NamedVec *list, const char *between,
                      const char *number)
{
    buf_printf(out, ", \"%s\": {", name);
    for (size_t i = 0; i < list->count; i++) {
        buf_text(out, i ? "," : "");
        buf_text(out, i || between[0] == '\n' ? between : "");
        put_text(out, list->data[i].name);
        buf_text(out, ": ");
        if (list->data[i].text)
            put_text(out, list->data[i].text);
        else
            buf_printf(out, number, list->data[i].number);
    }
    buf_char(out, '}');
}

void tunings_write(const Tunings *tunings, Buf *out)
{
    buf_text(out, "{\"tile_tuning\": 1, \"entries\": [");
    for (size_t i = 0; i < tunings->items.count; i++) {
        const Tuning *tuning = &tunings->items.data[i];
        buf_text(out, i ? ",\n  {\"kernel\": " : "\n  {\"kernel\": ");
        put_text(out, tuning->kernel);
        put_named(out, "keys", &tuning->keys, " ", "%.17g");
        put_named(out, "sizes", &tuning->sizes, " ", "%.0f");
        buf_text(out, ",\n   \"device\": ");
        put_text(out, tuning->device);
        buf_printf(out, ", \"compute\": %d, \"driver\": %d,\n   \"choice\": ", tuning->compute,
                   tuning->driver);
        put_text(out, tuning->choice);
        put_named(out, "ms", &tuning->times, "\n     ", "%.6f");
        buf_char(out, '}');
    }
    buf_text(out, "\n]}\n");
}

static int compare_times(const void *a, const void *b)
{
    const Named *x = a, *y = b;
    const double left = x->number < 0 ? 1e300 : x->number;
    const double right = y->number < 0 ? 1e300 : y->number;
    return left != right ? (left > right ? 1 : -1) : strcmp(x->name, y->name);
}

static void report_names(const NamedVec *list, Buf *out)
{
    for (size_t i = 0; i < list->count; i++) {
        const Named *one = &list->data[i];
        buf_printf(out, " %s=", one->name);
        if (one->text)
            buf_text(out, one->text);
        else
            buf_printf(out, "%.0f", one->number);
    }
}

/* A line each, and how long it is beside the slowest one as a bar. */
static void report_times(const Named *times, size_t count, const char *choice, Buf *out)
{
    enum { BAR = 24 };
    static const char bar[BAR + 1] = "########################";
    double most = 0;
    for (size_t i = 0; i < count; i++) most = times[i].number > most ? times[i].number : most;
    for (size_t i = 0; i < count; i++) {
        const char *mark = strcmp(times[i].name, choice) == 0 ? "*" : " ";
        const int length = most > 0 ? (int)(BAR * times[i].number / most + 0.5) : BAR;
        if (times[i].number < 0)
            buf_printf(out, " %s     left out        %-*s  %s\n", mark, BAR, "", times[i].name);
        else
            buf_printf(out, " %s %10.4f ms %5.2fx  %-*.*s  %s\n", mark, times[i].number,
                       times[0].number > 0 ? times[i].number / times[0].number : 1.0, BAR, length,
                       bar, times[i].name);
    }
}

void tunings_report(Arena *arena, const Tunings *tunings, Buf *out)
{
    for (size_t i = 0; i < tunings->items.count; i++) {
        const Tuning *tuning = &tunings->items.data[i];
        Named *times = arena_new_array(arena, Named, tuning->times.count + 1);
        if (tuning->times.count)
            memcpy(times, tuning->times.data, tuning->times.count * sizeof *times);
        qsort(times, tuning->times.count, sizeof *times, compare_times);
        buf_printf(out, "%s", tuning->kernel);
        report_names(&tuning->keys, out);
        report_names(&tuning->sizes, out);
        buf_printf(out, " on %s\n", tuning->device);
        report_times(times, tuning->times.count, tuning->choice, out);
    }
}

/* ---- kernels ---- */

void tuning_of(Arena *arena, const Kernel *kernel, Tuning *out)
{
    *out = (Tuning){.kernel = kernel->source_name ? kernel->source_name : kernel->export_name,
                    .device = "*"};
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        if (!parameter->is_key) continue;
        Buf text = {0};
        key_print(parameter, &text);
        Named key = {.name = parameter->name,
                     .text = arena_copy_text(arena, text.data, text.length)};
        buf_free(&text);
        vec_push(arena, &out->keys, key);
    }
}

int tuning_sizes(const Kernel *kernel, const char **names)
{
    int count = 0;
    for (int i = 0; i < kernel_argument_count(kernel); i++) {
        const Parameter *parameter = &kernel->parameters[i];
        const Type *type = parameter->value->type;
        if (!parameter->is_key && type->kind == TYPE_SCALAR && dtype_is_integer(type->dtype))
            names[count++] = parameter->name;
    }
    return count;
}

static const Named *find_named(const NamedVec *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->data[i].name, name) == 0) return &list->data[i];
    return NULL;
}

/* Whether the entry is of the kernel, with these keys; by the name of the source or the export's.
 */
static bool is_of(const Tuning *tuning, const Tuning *wanted, const Kernel *kernel)
{
    return (strcmp(tuning->kernel, wanted->kernel) == 0 ||
            strcmp(tuning->kernel, kernel->export_name) == 0) &&
           compare_named(&tuning->keys, &wanted->keys) == 0;
}

static bool find_configuration(const ExportImages *export, int row, const char *name, int *out)
{
    for (*out = 0; *out < export->specialisations[row].configuration_count; (*out)++)
        if (strcmp(export->specialisations[row + *out].kernel->configuration, name) == 0)
            return true;
    return false;
}

static bool make_choice(Session *session, const Tuning *tuning, const ExportImages *export, int row,
                        Choice *out)
{
    Arena *arena = session->arena;
    const Kernel *kernel = export->specialisations[row].kernel;
    const char **names = arena_new_array(arena, const char *, kernel->parameter_count + 1);
    const int count = tuning_sizes(kernel, names);
    int64_t *classes = arena_new_array(arena, int64_t, count + 1);
    for (int i = 0; i < count; i++) {
        const Named *size = find_named(&tuning->sizes, names[i]);
        if (!size) return false;
        classes[i] = (int64_t)size->number;
    }
    *out = (Choice){.device = strcmp(tuning->device, "*") == 0 ? NULL : tuning->device,
                    .classes = classes,
                    .class_count = count,
                    .specialisation = row};
    if (find_configuration(export, row, tuning->choice, &out->configuration)) return true;
    diag_report(session->diags, DIAG_no_such_configuration, kernel->span, tuning->kernel,
                tuning->choice);
    return false;
}

void tunings_apply(Session *session, const Tunings *tunings, ExportImages *export)
{
    Choice *choices = arena_new_array(
        session->arena, Choice, tunings->items.count * (size_t) export->specialisation_count + 1);
    export->choices = choices;
    export->choice_count = 0;
    for (int i = 0; i < export->specialisation_count; i++) {
        Tuning wanted;
        if (!export->specialisations[i].configuration_count) continue;
        tuning_of(session->arena, export->specialisations[i].kernel, &wanted);
        for (size_t j = 0; j < tunings->items.count; j++)
            if (is_of(&tunings->items.data[j], &wanted, export->specialisations[i].kernel) &&
                make_choice(session, &tunings->items.data[j], export, i,
                            &choices[export->choice_count]))
                export->choice_count++;
    }
}
