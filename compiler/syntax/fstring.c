/* fstring.c: the parts of an f-string: texts and replacement fields, whose expressions are parsed.
 */
#include "syntax/parser.h"

#include <string.h>

static uint32_t offset_of(const Parser *parser, const char *at)
{
    return (uint32_t)(at - parser->source->text);
}

static void complain(Parser *parser, const char *begin, const char *end, const char *text)
{
    diag_report(parser->session->diags, DIAG_bad_fstring,
                parser_span(parser, offset_of(parser, begin), offset_of(parser, end)), text);
}

static bool is_blank(const char *begin, const char *end)
{
    while (begin < end && strchr(" \t\f\r\n", *begin) != NULL) begin++;
    return begin == end;
}

/* !r, !s, !a as Python numbers them; -1 for none. */
static int read_conversion(Parser *parser, const FieldShape *field)
{
    if (field->conversion == NULL) return -1;
    char c = field->conversion[0];
    bool known = c == 'r' || c == 's' || c == 'a';
    if (known && is_blank(field->conversion + 1, field->conversion_end)) return c;
    complain(parser, field->conversion - 1, field->conversion_end,
             "after '!' comes 'r', 's' or 'a'");
    return -1;
}

static void split_parts(Parser *parser, const StringShape *shape, const char *at, const char *end,
                        BraceRule braces, StringParts *parts);

/* Its place starts at the ':'. */
static Node *make_format(Parser *parser, const StringShape *shape, const FieldShape *field)
{
    const char *end = field->end - 1;
    StringParts parts = {.items = items_new(parser, NULL)};
    split_parts(parser, shape, field->format, end, BRACES_PLAIN, &parts);
    parts_flush_text(parser, &parts);
    return MAKE(JoinedStr, offset_of(parser, field->format) - 1, offset_of(parser, end),
                .values = items_list(parts.items));
}

/* Comments are left out. */
static void put_debug_text(Parser *parser, const FieldShape *field, StringParts *parts)
{
    StringShape plain = {.raw = true};
    parts_begin_text(parts, offset_of(parser, field->expression),
                     offset_of(parser, field->debug_end));
    for (const char *at = field->expression, *end = field->debug_end; at < end;) {
        const char *comment = find_comment(at, end);
        decode_text(parser, &plain, at, comment, BRACES_PLAIN, &parts->text);
        for (at = comment; at < end && *at != '\n' && *at != '\r';) at++;
    }
}

static void add_field(Parser *parser, const StringShape *shape, const char *open,
                      const FieldShape *field, StringParts *parts)
{
    if (field->debug_end != NULL) put_debug_text(parser, field, parts);
    parts_flush_text(parser, parts);
    if (is_blank(field->expression, field->expression_end)) {
        complain(parser, open, field->end, "there is no expression in this field");
        return;
    }
    Node *value = parse_field(parser, offset_of(parser, field->expression),
                              offset_of(parser, field->expression_end));
    int conversion = read_conversion(parser, field);
    Node *format = field->format == NULL ? NULL : make_format(parser, shape, field);
    if (field->debug_end != NULL && field->conversion == NULL && format == NULL) conversion = 'r';
    items_add(parser, parts->items,
              MAKE(FormattedValue, offset_of(parser, open), offset_of(parser, field->end),
                   .value = value, .conversion = conversion, .format_spec = format));
}

/* The next brace that is one of the language; in text, two of a kind stand for one. */
static const char *find_brace(const char *at, const char *end, const StringShape *shape,
                              BraceRule braces)
{
    while (at < end) {
        bool brace = *at == '{' || *at == '}';
        bool doubled = brace && braces == BRACES_DOUBLED && at + 1 < end && at[1] == *at;
        if (brace && !doubled) return at;
        bool named = *at == '\\' && !shape->raw && end - at >= 3 && at[1] == 'N' && at[2] == '{';
        bool escaped = *at == '\\' && end - at >= 2 && at[1] != '{' && at[1] != '}';
        if (named) {
            const char *close = memchr(at, '}', (size_t)(end - at));
            at = close == NULL ? end : close + 1;
        } else {
            at += doubled || escaped ? 2 : 1;
        }
    }
    return end;
}

static void split_parts(Parser *parser, const StringShape *shape, const char *at, const char *end,
                        BraceRule braces, StringParts *parts)
{
    while (at < end) {
        const char *brace = find_brace(at, end, shape, braces);
        if (brace > at) {
            parts_begin_text(parts, offset_of(parser, at), offset_of(parser, brace));
            decode_text(parser, shape, at, brace, braces, &parts->text);
        }
        if (brace >= end) return;
        FieldShape field = {0};
        if (*brace == '{') field = field_shape(brace, end);
        if (field.end == NULL) {
            complain(parser, brace, brace + 1,
                     *brace == '{' ? "this '{' is never closed" : "a single '}' is not allowed");
            return;
        }
        add_field(parser, shape, brace, &field, parts);
        at = field.end;
    }
}

void split_fstring(Parser *parser, const StringShape *shape, StringParts *parts)
{
    split_parts(parser, shape, shape->body, shape->body_end, BRACES_DOUBLED, parts);
}
