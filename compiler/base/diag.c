/* diag.c: collects messages; the session that they belong to. */
#include "base/diags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_MAX_ERRORS = 50, SHOWN_FRAMES = 12 };

const DiagRow *diag_row(DiagCode code)
{
    static const DiagRow rows[] = {
#define DIAG(code, severity, name, format, hint) {#code, #name, format, hint, SEVERITY_##severity},
#include "base/diag.def"
#undef DIAG
    };
    CHECK(code < DIAG_COUNT);
    return &rows[code];
}

DiagCode diag_find(const char *code_or_name)
{
    for (DiagCode code = 0; code < DIAG_COUNT; code++)
        if (strcmp(diag_row(code)->code, code_or_name) == 0 ||
            strcmp(diag_row(code)->name, code_or_name) == 0)
            return code;
    return DIAG_COUNT;
}

static const struct {
    const char *group;
    DiagCode code;
} in_groups[] = {
#define WARNING_IN(group, name) {#group, DIAG_##name},
#include "base/warnings.def"
#undef WARNING_IN
};

Diags *diags_new(Arena *arena)
{
    Diags *diags = arena_new_of(arena, Diags);
    diags->arena = arena;
    diags->seen_names = interner_new(arena);
    diags->max_errors = DEFAULT_MAX_ERRORS;
    for (size_t i = 0; i < sizeof in_groups / sizeof *in_groups; i++)
        diags->silenced[in_groups[i].code] = true;
    return diags;
}

const char *diag_group_at(size_t index)
{
    return index < sizeof in_groups / sizeof *in_groups ? in_groups[index].group : NULL;
}

bool diag_each_of_group(const char *group, void (*visit)(void *context, DiagCode code),
                        void *context)
{
    bool found = false;
    for (size_t i = 0; i < sizeof in_groups / sizeof *in_groups; i++) {
        if (strcmp(in_groups[i].group, group) != 0) continue;
        visit(context, in_groups[i].code);
        found = true;
    }
    return found;
}

/* Whether the code was reported at this place before. Nowhere is no place: a file that is missing
 * and another one are two faults, so there the text decides. Remarks of one place may be of several
 * things, too. */
static bool was_seen(Diags *diags, DiagCode code, Span at, const char *text)
{
    const bool by_text = at.source == NULL || diag_row(code)->severity == SEVERITY_REMARK;
    Name key = by_text ? intern_printf(diags->seen_names, "%d %p %u %s", (int)code,
                                       (const void *)at.source, at.begin, text)
                       : intern_printf(diags->seen_names, "%d %p %u", (int)code,
                                       (const void *)at.source, at.begin);
    if (map_has(&diags->seen, key)) return true;
    map_set(diags->arena, &diags->seen, key, NULL);
    return false;
}

static char *format_text(Arena *arena, const char *format, va_list arguments)
{
    Buf buf = {0};
    buf_vprintf(&buf, format, arguments);
    char *text = arena_copy_text(arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

static bool note_is_same(const Note *a, const Note *b)
{
    return a->at.source == b->at.source && a->at.begin == b->at.begin && a->at.end == b->at.end &&
           strcmp(a->text, b->text) == 0;
}

/* How many of the frames below the index are the one at it again, as in a recursion. */
static size_t count_repeats(const Diags *diags, size_t index)
{
    size_t repeats = 0;
    while (repeats < index &&
           note_is_same(&diags->frames.data[index], &diags->frames.data[index - repeats - 1]))
        repeats++;
    return repeats;
}

/* Innermost first; of a deep chain the middle is left out. */
static NoteVec copy_frames(Diags *diags)
{
    NoteVec copy = {0};
    size_t count = diags->frames.count;
    for (size_t i = 0; i < count; i++) {
        size_t repeats = count_repeats(diags, count - 1 - i);
        if (repeats > 1) {
            vec_push(diags->arena, &copy, diags->frames.data[count - 1 - i]);
            Note again = {(Span){0},
                          arena_printf(diags->arena, "... the same %zu more times", repeats)};
            vec_push(diags->arena, &copy, again);
            i += repeats;
            continue;
        }
        if (count > SHOWN_FRAMES && i == SHOWN_FRAMES - 2) {
            size_t skipped = count - SHOWN_FRAMES;
            Note gap = {(Span){0}, arena_printf(diags->arena, "... %zu more steps ...", skipped)};
            vec_push(diags->arena, &copy, gap);
            i += skipped;
        }
        vec_push(diags->arena, &copy, diags->frames.data[count - 1 - i]);
    }
    return copy;
}

void diag_report_text(Diags *diags, DiagCode code, Span at, const char *text)
{
    const DiagRow *row = diag_row(code);
    diags->last = NULL;
    if (diags->muted) {
        if (row->severity == SEVERITY_ERROR && !diags->muted_error) {
            diags->muted_error = text;
            diags->muted_at = at;
        }
        diags->count++;
        diags->error_count += row->severity == SEVERITY_ERROR;
        return;
    }
    if (diags->silenced[code] && row->severity != SEVERITY_ERROR) return;
    if (was_seen(diags, code, at, text)) return;
    Severity severity = diags->promoted[code] ? SEVERITY_ERROR : row->severity;
    diags->count++;
    if (severity == SEVERITY_ERROR && ++diags->error_count > diags->max_errors) return;
    Report *report = arena_new_of(diags->arena, Report);
    *report = (Report){.code = code,
                       .severity = severity,
                       .at = at,
                       .text = text,
                       .hint = row->hint,
                       .frames = copy_frames(diags)};
    vec_push(diags->arena, &diags->reports, report);
    diags->last = report;
}

char *diag_text(Arena *arena, DiagCode code, va_list arguments)
{
    return format_text(arena, diag_row(code)->format, arguments);
}

void diag_report(Diags *diags, DiagCode code, Span at, ...)
{
    va_list arguments;
    va_start(arguments, at);
    const char *text = diag_text(diags->arena, code, arguments);
    va_end(arguments);
    diag_report_text(diags, code, at, text);
}

void diag_note(Diags *diags, Span at, const char *format, ...)
{
    if (diags->last == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    Note note = {at, format_text(diags->arena, format, arguments)};
    va_end(arguments);
    vec_push(diags->arena, &diags->last->notes, note);
}

void diag_hint(Diags *diags, const char *format, ...)
{
    if (diags->last == NULL) return;
    va_list arguments;
    va_start(arguments, format);
    diags->last->hint = format_text(diags->arena, format, arguments);
    va_end(arguments);
}

Span diag_place(const Diags *diags)
{
    return diags->last != NULL ? diags->last->at : (Span){0};
}

void diag_move(Diags *diags, Span at)
{
    if (diags->last != NULL) diags->last->at = at;
}

void diag_push_frame(Diags *diags, Span at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    Note note = {at, format_text(diags->arena, format, arguments)};
    va_end(arguments);
    vec_push(diags->arena, &diags->frames, note);
}

void diag_pop_frame(Diags *diags)
{
    CHECK(diags->frames.count > 0);
    diags->frames.count--;
}

size_t diag_error_count(const Diags *diags)
{
    return diags->error_count;
}

bool diag_has_errors_of(const Diags *diags, const char *prefix)
{
    for (size_t i = 0; i < diags->reports.count; i++) {
        const Report *report = diags->reports.data[i];
        if (report->severity == SEVERITY_ERROR &&
            strncmp(diag_row(report->code)->code, prefix, strlen(prefix)) == 0)
            return true;
    }
    return false;
}

const char *diag_reported(const Diags *diags, DiagCode code)
{
    for (size_t i = 0; i < diags->reports.count; i++)
        if (diags->reports.data[i]->code == code) return diags->reports.data[i]->text;
    return NULL;
}

size_t diag_count(const Diags *diags)
{
    return diags->count;
}

void diag_limit_errors(Diags *diags, size_t max_errors)
{
    diags->max_errors = max_errors;
}

DiagMute diag_mute(Diags *diags)
{
    const DiagMute before = {diags->count, diags->error_count, diags->muted, diags->muted_error,
                             diags->muted_at};
    diags->muted = true;
    diags->muted_error = NULL;
    return before;
}

const char *diag_muted_error(const Diags *diags, Span *at)
{
    *at = diags->muted_at;
    return diags->muted_error;
}

void diag_unmute(Diags *diags, DiagMute before)
{
    diags->count = before.count;
    diags->error_count = before.error_count;
    diags->muted = before.muted;
    diags->last = NULL;
    if (!before.muted) return;
    diags->muted_error = before.error;
    diags->muted_at = before.error_at;
}

/* ---- between processes ---- */

static void put_note(Buf *out, Span at, const char *text)
{
    const size_t length = strlen(text);
    buf_bytes(out, &at, sizeof at);
    buf_bytes(out, &length, sizeof length);
    buf_bytes(out, text, length);
}

static void put_notes(Buf *out, const NoteVec *notes)
{
    buf_bytes(out, &notes->count, sizeof notes->count);
    for (size_t i = 0; i < notes->count; i++) put_note(out, notes->data[i].at, notes->data[i].text);
}

size_t diag_report_count(const Diags *diags)
{
    return diags->reports.count;
}

void diag_put_since(const Diags *diags, size_t count, Buf *out)
{
    for (size_t i = count; i < diags->reports.count; i++) {
        const Report *report = diags->reports.data[i];
        buf_bytes(out, &report->code, sizeof report->code);
        put_note(out, report->at, report->text);
        put_note(out, report->at, report->hint ? report->hint : "");
        put_notes(out, &report->notes);
        put_notes(out, &report->frames);
    }
}

static void take(const char **at, void *out, size_t length)
{
    memcpy(out, *at, length);
    *at += length;
}

static Note take_note(Arena *arena, const char **at)
{
    Note note;
    size_t length;
    take(at, &note.at, sizeof note.at);
    take(at, &length, sizeof length);
    note.text = arena_copy_text(arena, *at, length);
    *at += length;
    return note;
}

static NoteVec take_notes(Arena *arena, const char **at)
{
    NoteVec notes = {0};
    size_t count;
    take(at, &count, sizeof count);
    while (count-- > 0) vec_push(arena, &notes, take_note(arena, at));
    return notes;
}

void diag_take(Diags *diags, const char *bytes, size_t length)
{
    for (const char *at = bytes; at < bytes + length;) {
        DiagCode code;
        take(&at, &code, sizeof code);
        const Note said = take_note(diags->arena, &at);
        const Note hint = take_note(diags->arena, &at);
        const NoteVec notes = take_notes(diags->arena, &at);
        const NoteVec frames = take_notes(diags->arena, &at);
        diag_report_text(diags, code, said.at, said.text);
        if (!diags->last) continue;
        diags->last->hint = *hint.text ? hint.text : NULL;
        diags->last->notes = notes;
        diags->last->frames = frames;
    }
}

void diag_promote(Diags *diags, DiagCode code)
{
    CHECK(code < DIAG_COUNT);
    diags->promoted[code] = diag_row(code)->severity == SEVERITY_WARNING;
}

void diag_demote(Diags *diags, DiagCode code)
{
    CHECK(code < DIAG_COUNT);
    diags->promoted[code] = false;
}

void diag_silence(Diags *diags, DiagCode code)
{
    CHECK(code < DIAG_COUNT);
    diags->silenced[code] = true;
}

void diag_ask_for(Diags *diags, DiagCode code)
{
    CHECK(code < DIAG_COUNT);
    diags->silenced[code] = false;
}

bool diag_is_wanted(const Diags *diags, DiagCode code)
{
    return !diags->silenced[code];
}

typedef struct Ranked {
    const Report *report;
    size_t arrival;
} Ranked;

/* What has no place comes first; then by path, place, arrival. */
static int compare_ranked(const void *left, const void *right)
{
    const Ranked *a = left, *b = right;
    const Span *at = &a->report->at, *other = &b->report->at;
    if ((at->source == NULL) != (other->source == NULL)) return at->source == NULL ? -1 : 1;
    if (at->source != NULL && at->source != other->source) {
        int sign = strcmp(at->source->path, other->source->path);
        if (sign != 0) return sign;
    }
    if (at->source != NULL && at->begin != other->begin) return at->begin < other->begin ? -1 : 1;
    return a->arrival < b->arrival ? -1 : a->arrival > b->arrival;
}

const Report **diags_sorted(const Diags *diags)
{
    const size_t first = diags->shown, count = diags->reports.count - first;
    Ranked *ranked = malloc((count + 1) * sizeof *ranked);
    const Report **sorted = malloc((count + 1) * sizeof *sorted);
    CHECK(ranked != NULL && sorted != NULL);
    for (size_t i = 0; i < count; i++) ranked[i] = (Ranked){diags->reports.data[first + i], i};
    qsort(ranked, count, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < count; i++) sorted[i] = ranked[i].report;
    free(ranked);
    return sorted;
}

Session *session_new(void)
{
    Arena *arena = arena_new();
    Session *session = arena_new_of(arena, Session);
    session->arena = arena;
    session->names = interner_new(arena);
    session->diags = diags_new(arena);
    return session;
}

void session_free(Session *session)
{
    if (session != NULL) arena_free(session->arena);
}

bool stage_result(const Session *session, bool good, const char *stage)
{
    if (!good && diag_error_count(session->diags) == 0)
        ICE("%s failed and reported nothing", stage);
    return good;
}
