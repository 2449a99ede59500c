/* positions.c: places as the protocol has them: lines from 0 on, and in a line units of UTF-16, or
 * bytes where client and server have agreed on UTF-8; files as URIs. */
#include "lsp/lsp.h"

#include <string.h>

static uint32_t line_end(const Source *source, uint32_t line)
{
    size_t length = 0;
    const char *text = source_line(source, line + 1, &length);
    return (uint32_t)(text - source->text + (ptrdiff_t)length);
}

/* The bytes and the units of the character there. */
static uint32_t step(const Source *source, Encoding encoding, uint32_t at, uint32_t *units)
{
    uint32_t character = 0;
    const size_t bytes = utf8_decode(source->text + at, source->length - at, &character);
    *units = encoding == ENCODING_UTF16 && character > 0xffff ? 2 : 1;
    if (encoding == ENCODING_UTF8 && bytes > 0) *units = (uint32_t)bytes;
    return bytes > 0 ? (uint32_t)bytes : 1;
}

static uint32_t clamp(const json_t *number)
{
    const json_int_t value = json_integer_value(number);
    return value < 0 ? 0 : value > INT32_MAX ? INT32_MAX : (uint32_t)value;
}

uint32_t position_to_offset(const Source *source, Encoding encoding, const json_t *position)
{
    const uint32_t line = clamp(json_object_get(position, "line"));
    uint32_t left = clamp(json_object_get(position, "character")), units;
    if (line >= source->line_count) return (uint32_t)source->length;
    const uint32_t end = line_end(source, line);
    uint32_t at = source->lines[line];
    while (at < end && left > 0) {
        const uint32_t bytes = step(source, encoding, at, &units);
        if (units > left) break;
        left -= units;
        at += bytes;
    }
    return at;
}

uint32_t text_units(Encoding encoding, const char *text, size_t bytes)
{
    const Source source = {.text = text, .length = strlen(text)};
    uint32_t count = 0, units;
    for (uint32_t at = 0; at < bytes;) {
        at += step(&source, encoding, at, &units);
        count += units;
    }
    return count;
}

static json_t *position_from_offset(const Source *source, Encoding encoding, uint32_t offset)
{
    if (offset > source->length) offset = (uint32_t)source->length;
    const uint32_t line = source_location(source, offset).line - 1;
    uint32_t count = 0, units;
    for (uint32_t at = source->lines[line]; at < offset;) {
        at += step(source, encoding, at, &units);
        count += units;
    }
    return json_pack("{s:I, s:I}", "line", (json_int_t)line, "character", (json_int_t)count);
}

json_t *range_from_span(Encoding encoding, Span span)
{
    return json_pack("{s:o, s:o}", "start", position_from_offset(span.source, encoding, span.begin),
                     "end", position_from_offset(span.source, encoding, span.end));
}

/* ---- files ---- */

static const char SCHEME[] = "file://";

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

const char *path_from_uri(Arena *arena, const char *uri)
{
    if (strncmp(uri, SCHEME, sizeof SCHEME - 1) != 0) return uri;
    const char *slash = strchr(uri + sizeof SCHEME - 1, '/'); /* behind a host, or none */
    if (slash == NULL) return uri;
    char *path = arena_copy_text(arena, slash, strlen(slash)), *out = path;
    for (const char *c = path; *c != '\0';) {
        const int high = *c == '%' ? hex_digit(c[1]) : -1;
        const int low = high >= 0 ? hex_digit(c[2]) : -1;
        const bool is_escape = low >= 0 && high + low > 0;
        *out++ = is_escape ? (char)(high * 16 + low) : *c;
        c += is_escape ? 3 : 1;
    }
    *out = '\0';
    return path;
}

static bool stands_for_itself(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           strchr("/-._~", c) != NULL;
}

const char *uri_from_path(Arena *arena, const char *path)
{
    Buf uri = {0};
    buf_text(&uri, SCHEME);
    for (const char *c = path; *c != '\0'; c++)
        if (stands_for_itself(*c))
            buf_char(&uri, *c);
        else
            buf_printf(&uri, "%%%02X", (unsigned char)*c);
    const char *copy = arena_copy_text(arena, uri.data, uri.length);
    buf_free(&uri);
    return copy;
}
