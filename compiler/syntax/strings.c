/* strings.c: where strings and the fields of f-strings end. Nothing is decoded here.
 *
 * An f-string may hold strings with its own quotes inside its fields, so its end is found by
 * walking through the fields; if that fails, the first closing quote ends it, and the reader of its
 * parts says what is wrong. */
#include "syntax/parser.h"

#include <string.h>

static const char *skip_text(const char *at, const char *limit, const StringShape *shape,
                             int depth);

static bool continues_name(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

static bool is_newline(char c)
{
    return c == '\n' || c == '\r';
}

static bool at_quotes(const char *at, const char *limit, const StringShape *shape)
{
    if (at >= limit || *at != shape->quote) return false;
    if (!shape->triple) return true;
    return limit - at >= 3 && at[1] == shape->quote && at[2] == shape->quote;
}

/* The prefix and the opening quotes; body is where the text starts. */
static StringShape read_opening(const char *begin, const char *limit)
{
    StringShape shape = {0};
    const char *at = begin;
    for (; at < limit && *at != '"' && *at != '\''; at++) {
        shape.bytes |= *at == 'b' || *at == 'B';
        shape.raw |= *at == 'r' || *at == 'R';
        shape.formatted |= *at == 'f' || *at == 'F';
    }
    CHECK(at < limit);
    shape.quote = *at;
    shape.triple = limit - at >= 3 && at[1] == *at && at[2] == *at;
    shape.body = at + (shape.triple ? 3 : 1);
    return shape;
}

/* A backslash takes the next character along, "\r\n" counting as one, whether raw or not. */
static const char *skip_escape(const char *at, const char *limit)
{
    at++;
    if (at < limit && *at == '\r' && at + 1 < limit && at[1] == '\n') at++;
    return at < limit ? at + 1 : limit;
}

/* The closing quote by quotes alone, or NULL. */
static const char *find_quote(const char *at, const char *limit, const StringShape *shape)
{
    while (at < limit && !at_quotes(at, limit, shape)) {
        if (!shape->triple && is_newline(*at)) return NULL;
        at = *at == '\\' ? skip_escape(at, limit) : at + 1;
    }
    return at < limit ? at : NULL;
}

static bool is_prefix(const char *begin, const char *end)
{
    if (end - begin > 2) return false;
    for (; begin < end; begin++)
        if (strchr("bBrRfFuU", *begin) == NULL) return false;
    return true;
}

/* Past the closing quote of the string that starts at `begin`, or NULL. */
static const char *skip_string(const char *begin, const char *limit, int depth)
{
    StringShape shape = read_opening(begin, limit);
    const char *at = shape.formatted ? skip_text(shape.body, limit, &shape, depth + 1)
                                     : find_quote(shape.body, limit, &shape);
    return at == NULL ? NULL : at + (shape.triple ? 3 : 1);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f' || is_newline(c);
}

/* From inside a field to the '!', ':' or '}' that ends its expression, or NULL. `*last` is past the
 * last character before it that is no blank and in no comment. */
static const char *skip_expression(const char *at, const char *limit, int depth, const char **last)
{
    int brackets = 0;
    for (*last = at; at < limit;) {
        const char *word = at;
        while (at < limit && continues_name(*at)) at++;
        if (at >= limit) return NULL;
        if (*at == '"' || *at == '\'') {
            at = skip_string(is_prefix(word, at) ? word : at, limit, depth);
            if (at == NULL) return NULL;
        }
        if (at > word) {
            *last = at;
            continue;
        }
        if (*at == '#') {
            while (at < limit && !is_newline(*at)) at++;
            continue;
        }
        bool not_equal = *at == '!' && at + 1 < limit && at[1] == '=';
        if (brackets == 0 && (*at == '}' || *at == ':' || (*at == '!' && !not_equal))) return at;
        if (*at == '(' || *at == '[' || *at == '{') brackets++;
        if ((*at == ')' || *at == ']' || *at == '}') && brackets > 0) brackets--;
        at += not_equal ? 2 : 1;
        if (!is_blank(at[-1])) *last = at;
    }
    return NULL;
}

const char *find_comment(const char *at, const char *limit)
{
    while (at < limit && *at != '#') {
        const char *word = at;
        while (at < limit && continues_name(*at)) at++;
        if (at < limit && (*at == '"' || *at == '\'')) {
            at = skip_string(is_prefix(word, at) ? word : at, limit, 0);
            if (at == NULL) return limit;
        } else if (at == word) {
            at++;
        }
    }
    return at;
}

/* From behind the ':' of a field to its '}', or NULL; fields may stand in it. `shape` is of the
 * string around, whose end it must not pass; NULL where `limit` sees to that. */
static const char *skip_format(const char *at, const char *limit, const StringShape *shape,
                               int depth);

/* From behind '{' to behind '}', or NULL. */
static const char *skip_field(const char *at, const char *limit, const StringShape *shape,
                              int depth)
{
    if (depth > MAX_FIELD_DEPTH) return NULL;
    const char *last;
    at = skip_expression(at, limit, depth, &last);
    if (at != NULL && *at == '!')
        while (at < limit && *at != ':' && *at != '}') at++;
    if (at == NULL || at >= limit) return NULL;
    if (*at == ':') at = skip_format(at + 1, limit, shape, depth + 1);
    return at == NULL ? NULL : at + 1;
}

static const char *skip_format(const char *at, const char *limit, const StringShape *shape,
                               int depth)
{
    while (at != NULL && at < limit && *at != '}') {
        if (shape != NULL && (at_quotes(at, limit, shape) || (!shape->triple && is_newline(*at))))
            return NULL;
        at = *at == '{'    ? skip_field(at + 1, limit, shape, depth)
             : *at == '\\' ? skip_escape(at, limit)
                           : at + 1;
    }
    return at != NULL && at < limit ? at : NULL;
}

/* \N{...} is the one place where a brace in the text opens no field. */
static const char *skip_named_character(const char *at, const char *limit)
{
    const char *close = memchr(at, '}', (size_t)(limit - at));
    return close == NULL ? limit : close + 1;
}

/* From inside the text of an f-string to its closing quote, or NULL. */
static const char *skip_text(const char *at, const char *limit, const StringShape *shape, int depth)
{
    while (at != NULL && at < limit && !at_quotes(at, limit, shape)) {
        bool doubled = at + 1 < limit && at[1] == *at;
        if (!shape->triple && is_newline(*at)) return NULL;
        if (*at == '\\' && !shape->raw && limit - at >= 3 && at[1] == 'N' && at[2] == '{')
            at = skip_named_character(at, limit);
        else if (*at == '\\' && limit - at >= 2 && at[1] != '{' && at[1] != '}')
            at = skip_escape(at, limit);
        else if (*at == '{' && !doubled)
            at = skip_field(at + 1, limit, shape, depth + 1);
        else
            at += *at == '{' ? 2 : 1;
    }
    return at != NULL && at < limit ? at : NULL;
}

StringShape string_shape(const char *begin, const char *limit)
{
    StringShape shape = read_opening(begin, limit);
    const char *end = NULL;
    if (shape.formatted) end = skip_text(shape.body, limit, &shape, 0);
    if (end == NULL) end = find_quote(shape.body, limit, &shape);
    shape.closed = end != NULL;
    if (end == NULL) {
        end = shape.body;
        while (end < limit && (shape.triple || !is_newline(*end))) end++;
    }
    shape.body_end = end;
    shape.end = shape.closed ? end + (shape.triple ? 3 : 1) : end;
    return shape;
}

/* `{x = }` shows its text: a last '=' that belongs to no comparison. */
static bool ends_in_debug_sign(const char *begin, const char *last)
{
    return last - begin >= 2 && last[-1] == '=' && strchr("=!<>", last[-2]) == NULL;
}

FieldShape field_shape(const char *open, const char *limit)
{
    FieldShape field = {.expression = open + 1};
    const char *last;
    const char *at = skip_expression(open + 1, limit, 0, &last);
    if (at == NULL) return field;
    field.expression_end = at;
    if (ends_in_debug_sign(open + 1, last)) {
        field.expression_end = last - 1;
        field.debug_end = at;
    }
    if (*at == '!') {
        field.conversion = at + 1;
        while (at < limit && *at != ':' && *at != '}') at++;
        field.conversion_end = at;
    }
    if (at < limit && *at == ':') {
        field.format = at + 1;
        at = skip_format(at + 1, limit, NULL, 0);
    }
    if (at != NULL && at < limit) field.end = at + 1;
    return field;
}
