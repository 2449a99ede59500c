/* render.c: messages for people (the line, a caret range, colours) and for programs (JSON lines).
 */
#include "base/diags.h"

#include <stdlib.h>
#include <string.h>

enum { TAB_WIDTH = 8, SHOWN_COLUMNS = 160, GUTTER = 5, SHOWN_LINES = 5, SHOWN_BYTES = 600 };

typedef struct Style {
    const char *bold, *red, *yellow, *cyan, *green, *off;
} Style;

static Style style_for(bool colour)
{
    if (!colour) return (Style){"", "", "", "", "", ""};
    return (Style){"\033[1m", "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m", "\033[0m"};
}

static const char *severity_name(Severity severity)
{
    switch (severity) {
    case SEVERITY_REMARK: return "remark";
    case SEVERITY_WARNING: return "warning";
    case SEVERITY_ERROR: return "error";
    }
    return "?";
}

static const char *severity_colour(const Style *style, Severity severity)
{
    switch (severity) {
    case SEVERITY_REMARK: return style->green;
    case SEVERITY_WARNING: return style->yellow;
    case SEVERITY_ERROR: return style->red;
    }
    return "";
}

/* ---- one line of source on a terminal ---- */

/* How many cells a character takes: wide scripts and emoji two, combining marks none. */
static int cell_width(uint32_t c)
{
    if ((c >= 0x300 && c <= 0x36f) || (c >= 0x200b && c <= 0x200f) || (c >= 0xfe00 && c <= 0xfe0f))
        return 0;
    static const uint32_t wide[][2] = {
        {0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
        {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
        {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd},
    };
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++)
        if (c >= wide[i][0] && c <= wide[i][1]) return 2;
    return 1;
}

/* Decodes one character; a broken or control one becomes U+FFFD, so that nothing in a file can
 * steer the terminal. */
static uint32_t next_character(const char *line, size_t length, size_t *at)
{
    uint32_t c = 0xfffd;
    size_t count = utf8_decode(line + *at, length - *at, &c);
    *at += count == 0 ? 1 : count;
    bool control = (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) ||
                   (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
    return control ? 0xfffd : c;
}

/* The cells that a character takes at this column. */
static int advance(uint32_t c, int column)
{
    return c == '\t' ? TAB_WIDTH - column % TAB_WIDTH : cell_width(c);
}

static int column_of(const char *line, size_t length, size_t offset)
{
    int column = 0;
    for (size_t i = 0; i < length && i < offset;)
        column += advance(next_character(line, length, &i), column);
    return column;
}

static void put_repeated(Buf *out, char c, int count)
{
    for (int i = 0; i < count; i++) buf_char(out, c);
}

/* The cells [from, from + SHOWN_COLUMNS) of the line, tabs as blanks. */
static void put_line(Buf *out, const char *line, size_t length, int from)
{
    int column = 0;
    for (size_t i = 0; i < length && column < from + SHOWN_COLUMNS;) {
        uint32_t c = next_character(line, length, &i);
        int width = advance(c, column);
        if (c == '\t')
            put_repeated(out, ' ', column < from ? column + width - from : width);
        else if (column >= from)
            buf_character(out, c);
        column += width;
    }
}

/* The line of the span's begin, and carets below what of the span lies on it. */
static void put_excerpt(Buf *out, const Style *style, const char *colour, Span at)
{
    Location location = source_location(at.source, at.begin);
    size_t length;
    const char *line = source_line(at.source, location.line, &length);
    if (line == NULL) return;
    size_t start = (size_t)(at.source->text - line) + at.begin; /* offset of the span in the line */
    size_t end = at.end > at.begin ? start + (at.end - at.begin) : start + 1;
    if (end > length) end = length;
    int first = column_of(line, length, start);
    int last = end > start ? column_of(line, length, end) : first + 1;
    int from = first < SHOWN_COLUMNS * 3 / 4 ? 0 : first - SHOWN_COLUMNS / 4;
    if (last > from + SHOWN_COLUMNS) last = from + SHOWN_COLUMNS;
    buf_printf(out, "%*u | ", GUTTER, location.line);
    put_line(out, line, length, from);
    buf_printf(out, "\n%*s | ", GUTTER, "");
    put_repeated(out, ' ', first - from);
    buf_text(out, colour);
    put_repeated(out, '^', last > first ? last - first : 1);
    buf_printf(out, "%s\n", style->off);
}

static void put_place(Buf *out, const Style *style, Span at)
{
    if (at.source == NULL) {
        buf_printf(out, "%stilec:%s ", style->bold, style->off);
        return;
    }
    Location location = source_location(at.source, at.begin);
    buf_printf(out, "%s%s:%u:%u:%s ", style->bold, at.source->path, location.line, location.column,
               style->off);
}

/* What is said, which may quote the file or the command line: bytes that could steer the terminal
 * are written as numbers. Of a line that is very long the end is left out. */
static void put_said(Buf *out, const char *text)
{
    const size_t length = strlen(text);
    for (size_t i = 0, line = 0; i < length;) {
        const size_t begin = i;
        const bool fine = next_character(text, length, &i) != 0xfffd || text[begin] == '\n';
        if (text[begin] == '\n') line = i;
        if (begin - line > SHOWN_BYTES && begin >= line) {
            buf_text(out, " ...");
            i = begin + strcspn(text + begin, "\n");
            line = i;
            continue;
        }
        if (fine) buf_bytes(out, text + begin, i - begin);
        for (size_t j = begin; !fine && j < i; j++)
            buf_printf(out, "\\x%02x", (unsigned)(unsigned char)text[j]);
    }
}

/* ---- a message: five lines, if what happened takes one ---- */

/* The notes of a message in their order, then the calls that were open. */
typedef struct Asides {
    const NoteVec *notes, *frames;
} Asides;

static const Note *aside(const Asides *asides, size_t index)
{
    const size_t notes = asides->notes->count;
    return index < notes ? &asides->notes->data[index] : &asides->frames->data[index - notes];
}

/* Behind the aside before it on the same line, with its place in brackets. */
static void put_joined(Buf *out, const Note *note, const Note *before)
{
    buf_text(out, "; ");
    put_said(out, note->text);
    if (note->at.source == NULL) return;
    const Location location = source_location(note->at.source, note->at.begin);
    buf_text(out, " (");
    if (note->at.source != before->at.source) buf_printf(out, "%s:", note->at.source->path);
    buf_printf(out, "%u:%u)", location.line, location.column);
}

static void put_aside(Buf *out, const Style *style, const Note *note)
{
    if (note->at.source != NULL)
        put_place(out, style, note->at);
    else
        buf_text(out, "  ");
    buf_printf(out, "%snote:%s ", style->cyan, style->off);
    put_said(out, note->text);
}

/* In so many lines, of which two are the source's where the message has no place of its own: calls
 * share one, and so does what is left over. */
static void put_asides(Buf *out, const Style *style, const Asides *asides, int lines, bool placed)
{
    const size_t notes = asides->notes->count, count = notes + asides->frames->count;
    bool shows = !placed && lines >= 3 + (count > 1), shown = false;
    for (size_t i = 0; i < count; i++) {
        const Note *note = aside(asides, i);
        if (i == 0 || shown || (i <= notes && lines > 0)) {
            if (i > 0 && !shown) buf_char(out, '\n');
            put_aside(out, style, note);
            lines--;
        } else {
            put_joined(out, note, aside(asides, i - 1));
        }
        shown = shows && note->at.source != NULL;
        if (!shown) continue;
        buf_char(out, '\n');
        put_excerpt(out, style, style->cyan, note->at);
        shows = false;
        lines -= 2;
    }
    if (count > 0 && !shown) buf_char(out, '\n');
}

static int count_lines(const char *text)
{
    int lines = 1;
    for (; *text != '\0'; text++) lines += *text == '\n';
    return lines;
}

static void put_report(Buf *out, const Style *style, const Report *report)
{
    const DiagRow *row = diag_row(report->code);
    const char *colour = severity_colour(style, report->severity);
    const bool placed = report->at.source != NULL;
    const int taken = count_lines(report->text) + (placed ? 2 : 0) + (report->hint != NULL);
    put_place(out, style, report->at);
    buf_printf(out, "%s%s:%s %s", colour, severity_name(report->severity), style->off, style->bold);
    put_said(out, report->text);
    buf_printf(out, "%s [%s]\n", style->off, row->code);
    if (placed) put_excerpt(out, style, colour, report->at);
    const int left = SHOWN_LINES - taken;
    put_asides(out, style, &(Asides){&report->notes, &report->frames}, left > 1 ? left : 1, placed);
    if (report->hint == NULL) return;
    buf_printf(out, "  %shint:%s ", style->cyan, style->off);
    put_said(out, report->hint);
    buf_char(out, '\n');
}

/* ---- JSON lines ---- */

static void put_json_text(Buf *out, const char *key, const char *text)
{
    buf_printf(out, "\"%s\":", key);
    buf_quoted(out, text, strlen(text));
}

static void put_json_place(Buf *out, Span at)
{
    if (at.source == NULL) return;
    Location begin = source_location(at.source, at.begin), end = source_location(at.source, at.end);
    buf_char(out, ',');
    put_json_text(out, "file", at.source->path);
    buf_printf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u", begin.line,
               begin.column, end.line, end.column);
    buf_printf(out, ",\"begin\":%u,\"end\":%u", at.begin, at.end);
}

static void put_json_notes(Buf *out, const NoteVec *notes, bool *first)
{
    for (size_t i = 0; i < notes->count; i++) {
        buf_text(out, *first ? "{" : ",{");
        *first = false;
        put_json_text(out, "message", notes->data[i].text);
        put_json_place(out, notes->data[i].at);
        buf_char(out, '}');
    }
}

static void put_json_report(Buf *out, const Report *report)
{
    const DiagRow *row = diag_row(report->code);
    buf_char(out, '{');
    put_json_text(out, "severity", severity_name(report->severity));
    buf_char(out, ',');
    put_json_text(out, "code", row->code);
    buf_char(out, ',');
    put_json_text(out, "name", row->name);
    buf_char(out, ',');
    put_json_text(out, "message", report->text);
    put_json_place(out, report->at);
    if (report->hint != NULL) {
        buf_char(out, ',');
        put_json_text(out, "hint", report->hint);
    }
    buf_text(out, ",\"notes\":[");
    bool first = true;
    put_json_notes(out, &report->notes, &first);
    put_json_notes(out, &report->frames, &first);
    buf_text(out, "]}\n");
}

void diag_render(const Diags *diags, DiagFormat format, bool colour, Buf *out)
{
    Style style = style_for(colour);
    const Report **sorted = diags_sorted(diags);
    const size_t count = diags->reports.count - diags->shown;
    for (size_t i = 0; i < count; i++) {
        if (format == DIAG_JSON)
            put_json_report(out, sorted[i]);
        else
            put_report(out, &style, sorted[i]);
    }
    free(sorted);
    if (format == DIAG_TEXT && diags->error_count > diags->max_errors)
        buf_printf(out, "%stilec:%s %zu more errors are not shown\n", style.bold, style.off,
                   diags->error_count - diags->max_errors);
}
