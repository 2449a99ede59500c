/* literal.c: the values of numbers and strings. */
#include "syntax/parser.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static int digit_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 16;
}

static unsigned base_of(const char *text, size_t length)
{
    if (length < 2 || text[0] != '0') return 10;
    switch (text[1]) {
    case 'x':
    case 'X': return 16;
    case 'o':
    case 'O': return 8;
    case 'b':
    case 'B': return 2;
    }
    return 10;
}

static void read_integer(Parser *parser, const char *text, size_t length, Literal *literal)
{
    unsigned base = base_of(text, length);
    literal->kind = LITERAL_INT;
    for (size_t i = base == 10 ? 0 : 2; i < length; i++) {
        if (text[i] == '_') continue;
        unsigned digit = (unsigned)digit_value(text[i]);
        if (literal->integer > (UINT64_MAX - digit) / base) literal->too_large = true;
        literal->integer = literal->integer * base + digit;
    }
    if (!literal->too_large) return;
    literal->integer = 0;
    literal->text = arena_copy_text(parser->session->arena, text, length);
    literal->length = length;
}

static void read_float(const char *text, size_t length, Literal *literal)
{
    Buf digits = {0};
    for (size_t i = 0; i < length; i++)
        if (text[i] != '_') buf_char(&digits, text[i]);
    literal->number = strtod(digits.data, NULL);
    buf_free(&digits);
}

static bool is_float(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] == '.' || text[i] == 'e' || text[i] == 'E') return base_of(text, length) == 10;
    return false;
}

Node *make_number(Parser *parser, Token token)
{
    Literal literal = {.kind = LITERAL_INT};
    const char *text = parser->source->text + token.begin;
    size_t length = token.end - token.begin;
    char last = text[length - 1];
    if (token.problem != DIAG_COUNT) {
        literal.integer = 0; /* reported */
    } else if (last == 'j' || last == 'J') {
        literal.kind = LITERAL_IMAGINARY;
        read_float(text, length - 1, &literal);
    } else if (is_float(text, length)) {
        literal.kind = LITERAL_FLOAT;
        read_float(text, length, &literal);
    } else {
        read_integer(parser, text, length, &literal);
    }
    return MAKE(Constant, token.begin, token.end, .value = literal);
}

/* ---- escapes ---- */

typedef struct Decoder {
    Parser *parser;
    const StringShape *shape;
    const char *at, *end;
    Buf *out;
} Decoder;

static void bad_escape(const Decoder *decoder, const char *begin, const char *end, const char *why)
{
    const char *text = decoder->parser->source->text;
    if (end > decoder->end) end = decoder->end;
    diag_report(decoder->parser->session->diags, DIAG_bad_escape,
                parser_span(decoder->parser, (uint32_t)(begin - text), (uint32_t)(end - text)),
                why);
}

static void put_value(const Decoder *decoder, uint32_t value)
{
    if (decoder->shape->bytes)
        buf_char(decoder->out, (char)(value & 0xff));
    else
        buf_character(decoder->out, value);
}

/* `count` hexadecimal digits behind \x, \u or \U. */
static void decode_hex(Decoder *decoder, const char *begin, int count)
{
    uint32_t value = 0;
    for (int i = 0; i < count; i++, decoder->at++) {
        if (decoder->at >= decoder->end || digit_value(*decoder->at) > 15) {
            bad_escape(decoder, begin, decoder->at, "too few hexadecimal digits");
            return;
        }
        value = value * 16 + (uint32_t)digit_value(*decoder->at);
    }
    if (value > 0x10ffff)
        bad_escape(decoder, begin, decoder->at, "there is no such character");
    else
        put_value(decoder, value);
}

static void decode_octal(Decoder *decoder)
{
    uint32_t value = 0;
    for (int i = 0; i < 3 && decoder->at < decoder->end; i++, decoder->at++) {
        if (*decoder->at < '0' || *decoder->at > '7') break;
        value = value * 8 + (uint32_t)digit_value(*decoder->at);
    }
    put_value(decoder, value);
}

static bool decode_simple(Decoder *decoder, char c)
{
    static const char from[] = "\\'\"abfnrtv", to[] = "\\'\"\a\b\f\n\r\t\v";
    const char *found = c == '\0' ? NULL : strchr(from, c);
    if (found != NULL) buf_char(decoder->out, to[found - from]);
    return found != NULL;
}

/* The names of all characters would be larger than this compiler. */
static void decode_named(Decoder *decoder, const char *begin)
{
    const char *text = decoder->parser->source->text;
    if (decoder->at == decoder->end || *decoder->at != '{') {
        bad_escape(decoder, begin, decoder->at, "the name is in braces");
        return;
    }
    const char *close = memchr(decoder->at, '}', (size_t)(decoder->end - decoder->at));
    decoder->at = close == NULL ? decoder->end : close + 1;
    if (close == NULL) {
        bad_escape(decoder, begin, decoder->at, "the name is never closed");
        return;
    }
    diag_report(
        decoder->parser->session->diags, DIAG_character_name,
        parser_span(decoder->parser, (uint32_t)(begin - text), (uint32_t)(close + 1 - text)));
    buf_character(decoder->out, 0xfffd);
}

/* An escape that is none stays as it is written. */
static void decode_escape(Decoder *decoder)
{
    const char *begin = decoder->at++;
    if (decoder->at >= decoder->end) {
        buf_char(decoder->out, '\\');
        return;
    }
    char c = *decoder->at;
    if (c >= '0' && c <= '7') {
        decode_octal(decoder);
        return;
    }
    decoder->at++;
    if (c == '\r' && decoder->at < decoder->end && *decoder->at == '\n') decoder->at++;
    if (c == '\r' || c == '\n' || decode_simple(decoder, c)) return;
    bool text = !decoder->shape->bytes;
    if (c == 'x')
        decode_hex(decoder, begin, 2);
    else if (text && (c == 'u' || c == 'U'))
        decode_hex(decoder, begin, c == 'u' ? 4 : 8);
    else if (text && c == 'N')
        decode_named(decoder, begin);
    else {
        decoder->at = begin + 1; /* what follows may be a brace, or more than one byte */
        buf_char(decoder->out, '\\');
    }
}

static void decode_plain(Decoder *decoder, BraceRule braces)
{
    char c = *decoder->at++;
    char next = decoder->at < decoder->end ? *decoder->at : '\0';
    if (c == '\r') { /* however a file ends its lines, a string has "\n" */
        buf_char(decoder->out, '\n');
        decoder->at += next == '\n';
        return;
    }
    if (braces == BRACES_DOUBLED && (c == '{' || c == '}') && next == c) decoder->at++;
    if (decoder->shape->bytes && (unsigned char)c >= 0xc0) /* once a character: at its first byte */
        bad_escape(decoder, decoder->at - 1, decoder->at,
                   "a bytes literal has ASCII characters only; write \\x and its number");
    buf_char(decoder->out, c);
}

void decode_text(Parser *parser, const StringShape *shape, const char *begin, const char *end,
                 BraceRule braces, Buf *out)
{
    Decoder decoder = {parser, shape, begin, end, out};
    while (decoder.at < end) {
        if (*decoder.at == '\\' && !shape->raw)
            decode_escape(&decoder);
        else
            decode_plain(&decoder, braces);
    }
}

/* ---- strings ---- */

Strings *strings_add(Parser *parser, Strings *strings, Token token)
{
    if (strings == NULL) strings = arena_new_of(parser->session->arena, Strings);
    vec_push(parser->session->arena, strings, token);
    return strings;
}

static StringShape shape_of(const Parser *parser, Token token)
{
    const char *text = parser->source->text;
    return string_shape(text + token.begin, text + token.end);
}

static Literal finish_literal(Parser *parser, LiteralKind kind, Buf *buf)
{
    Literal literal = {.kind = kind, .length = buf->length};
    literal.text = arena_copy_text(parser->session->arena, buf->data, buf->length);
    buf_free(buf);
    return literal;
}

static Node *make_plain_string(Parser *parser, const Strings *strings, bool bytes)
{
    Buf buf = {0};
    for (size_t i = 0; i < strings->count; i++) {
        StringShape shape = shape_of(parser, strings->data[i]);
        decode_text(parser, &shape, shape.body, shape.body_end, BRACES_PLAIN, &buf);
    }
    return MAKE(Constant, strings->data[0].begin, strings->data[strings->count - 1].end,
                .value = finish_literal(parser, bytes ? LITERAL_BYTES : LITERAL_STRING, &buf));
}

void parts_begin_text(StringParts *parts, uint32_t begin, uint32_t end)
{
    if (!parts->has_text) parts->text_begin = begin;
    parts->text_end = end;
    parts->has_text = true;
}

void parts_flush_text(Parser *parser, StringParts *parts)
{
    bool any = parts->has_text && parts->text.length > 0;
    parts->has_text = false;
    if (any) {
        Literal literal = finish_literal(parser, LITERAL_STRING, &parts->text);
        items_add(parser, parts->items,
                  MAKE(Constant, parts->text_begin, parts->text_end, .value = literal));
    }
    buf_free(&parts->text);
}

static Node *make_joined_string(Parser *parser, const Strings *strings)
{
    StringParts parts = {.items = items_new(parser, NULL)};
    for (size_t i = 0; i < strings->count; i++) {
        Token token = strings->data[i];
        StringShape shape = shape_of(parser, token);
        if (shape.formatted) {
            split_fstring(parser, &shape, &parts);
            continue;
        }
        parts_begin_text(&parts, token.begin, token.end);
        decode_text(parser, &shape, shape.body, shape.body_end, BRACES_PLAIN, &parts.text);
    }
    parts_flush_text(parser, &parts);
    return MAKE(JoinedStr, strings->data[0].begin, strings->data[strings->count - 1].end,
                .values = items_list(parts.items));
}

Node *make_strings(Parser *parser, const Strings *strings)
{
    size_t bytes = 0, formatted = 0, broken = 0;
    for (size_t i = 0; i < strings->count; i++) {
        StringShape shape = shape_of(parser, strings->data[i]);
        bytes += shape.bytes;
        formatted += shape.formatted;
        broken += strings->data[i].problem != DIAG_COUNT;
    }
    uint32_t begin = strings->data[0].begin, end = strings->data[strings->count - 1].end;
    if (broken > 0) /* reported */
        return MAKE(Constant, begin, end, .value = {.kind = LITERAL_STRING, .text = ""});
    if (bytes > 0 && bytes < strings->count)
        diag_report(parser->session->diags, DIAG_bytes_and_text, parser_span(parser, begin, end));
    return formatted > 0 ? make_joined_string(parser, strings)
                         : make_plain_string(parser, strings, bytes > 0);
}
