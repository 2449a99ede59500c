/* parse.c: the loop that feeds the grammar, and what is said when a token does not fit. */
#include "syntax/parser.h"

#include "tile_grammar.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_ERRORS = 100 }; /* in one file: after so many there is nothing to learn from it */

void *TileParserAlloc(void *(*allocate)(size_t), Parser *parser);
void TileParserFree(void *lemon, void (*release)(void *));
void TileParser(void *lemon, int kind, Token token);

Span parser_span(const Parser *parser, uint32_t begin, uint32_t end)
{
    return (Span){parser->source, begin, end < begin ? begin : end};
}

static void report_lost_bracket(Parser *parser, const Bracket *bracket, Token token)
{
    Diags *diags = parser->session->diags;
    diag_report(diags, DIAG_unclosed_bracket,
                parser_span(parser, bracket->begin, bracket->begin + 1), bracket->open);
    diag_note(diags, parser_span(parser, token.begin, token.end), "%s does not fit inside it",
              token_describe(parser, token));
}

void parser_syntax_error(Parser *parser, Token token, const bool *expected, int kind_count)
{
    Session *session = parser->session;
    bool reported =
        token.kind == TOKEN_BAD || parser->layout.line_failed || parser->layout.too_deep;
    parser->layout.line_failed = true;
    parser->layout.fault_column = parser->layout.column;
    if (reported) return;
    const Bracket *lost = layout_close_lost_bracket(&parser->layout);
    if (lost != NULL) {
        report_lost_bracket(parser, lost, token);
        return;
    }
    diag_report(session->diags, DIAG_syntax, parser_span(parser, token.begin, token.end),
                token_describe(parser, token),
                expected_describe(parser, token, expected, kind_count));
    note_slip(parser, token);
}

void parser_out_of_stack(Parser *parser)
{
    if (!parser->layout.too_deep)
        diag_report(parser->session->diags, DIAG_nesting, (Span){0}, (int)MAX_TREE_HEIGHT);
    parser->layout.too_deep = true;
}

static void run_grammar(Parser *parser, int first_kind)
{
    void *lemon = TileParserAlloc(malloc, parser);
    if (lemon == NULL) {
        parser_out_of_stack(parser);
        return;
    }
    size_t before = diag_error_count(parser->session->diags);
    if (first_kind != 0) TileParser(lemon, first_kind, (Token){first_kind, 0, 0, DIAG_COUNT, NULL});
    for (;;) {
        Token token = layout_next(&parser->layout);
        if (diag_error_count(parser->session->diags) > before + MAX_ERRORS)
            token = (Token){0, token.begin, token.begin, DIAG_COUNT, NULL};
        TileParser(lemon, token.kind, token);
        if (token.kind == 0 || parser->layout.too_deep) break;
    }
    TileParserFree(lemon, free);
}

Node *parse_field(Parser *outer, uint32_t begin, uint32_t end)
{
    Parser inner = {
        .session = outer->session, .source = outer->source, .field_depth = outer->field_depth + 1};
    Parser *parser = &inner;
    layout_init(&inner.layout, outer->session, outer->source, begin, end, LAYOUT_INSIDE);
    if (inner.field_depth > MAX_FIELD_DEPTH) {
        if (!outer->layout.too_deep)
            diag_report(outer->session->diags, DIAG_nesting, parser_span(outer, begin, end),
                        (int)MAX_FIELD_DEPTH);
        outer->layout.too_deep = true;
    } else {
        run_grammar(&inner, TOKEN_FIELD);
    }
    outer->layout.too_deep |= inner.layout.too_deep;
    if (inner.expression != NULL) return inner.expression;
    return MAKE(Constant, begin, end, .value = {.kind = LITERAL_ELLIPSIS}); /* reported */
}

/* ---- the text as a whole ---- */

static size_t skip_ascii(const char *text, size_t at, size_t length)
{
    for (uint64_t eight; at + sizeof eight <= length; at += sizeof eight) {
        memcpy(&eight, text + at, sizeof eight);
        if ((eight & 0x8080808080808080u) != 0) break;
    }
    while (at < length && (unsigned char)text[at] < 0x80) at++;
    return at;
}

static size_t count_name_part(const char *text)
{
    size_t count = 0;
    while (isalnum((unsigned char)text[count]) ||
           (text[count] != '\0' && strchr("-_.", text[count])))
        count++;
    return count;
}

/* The encoding that a comment `coding: NAME` in one of the first two lines declares, as Python
 * reads it: an empty span if there is none. */
static Span declared_encoding(const Source *source)
{
    for (uint32_t line = 1; line <= 2; line++) {
        size_t length = 0;
        const char *text = source_line(source, line, &length);
        if (text == NULL) break;
        const char *end = text + length, *at = text + strspn(text, " \t\f");
        if (at >= end) continue;
        if (*at != '#') break;
        while ((at = memmem(at, (size_t)(end - at), "coding", 6)) != NULL) {
            at += 6;
            if (*at != ':' && *at != '=') continue;
            const char *name = at + 1 + strspn(at + 1, " \t");
            size_t count = count_name_part(name);
            uint32_t begin = (uint32_t)(name - source->text);
            if (count > 0) return (Span){source, begin, begin + (uint32_t)count};
        }
    }
    return (Span){source, 0, 0};
}

static bool is_utf8_name(const char *text, size_t length)
{
    static const char *const names[] = {"utf-8", "utf8", "utf_8", "utf-8-sig", "utf8-sig", "u8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], text, length) == 0) return true;
    return false;
}

/* Whether the text is worth reading. One report of bytes that are no characters: what follows a
 * wrong byte is often more of them. */
static bool check_encoding(Session *session, const Source *source)
{
    const char *zero = memchr(source->text, '\0', source->length);
    if (zero != NULL) {
        uint32_t begin = (uint32_t)(zero - source->text);
        diag_report(session->diags, DIAG_bad_character, (Span){source, begin, begin + 1}, "\\0");
    }
    size_t at = skip_ascii(source->text, 0, source->length);
    if (at == source->length) return true;
    Span name = declared_encoding(source);
    size_t length = name.end - name.begin;
    if (length > 0 && !is_utf8_name(source->text + name.begin, length)) {
        char *text = arena_copy_text(session->arena, source->text + name.begin, length);
        diag_report(session->diags, DIAG_foreign_encoding, name, text);
        return false;
    }
    while (at < source->length) {
        uint32_t character;
        size_t count = utf8_decode(source->text + at, source->length - at, &character);
        if (count == 0) {
            diag_report(session->diags, DIAG_bad_utf8,
                        (Span){source, (uint32_t)at, (uint32_t)at + 1});
            break;
        }
        at = skip_ascii(source->text, at + count, source->length);
    }
    return true;
}

Module *parse_source(Session *session, const Source *source)
{
    Parser state = {.session = session, .source = source};
    Parser *parser = &state;
    size_t before = diag_error_count(session->diags);
    layout_init(&state.layout, session, source, 0, (uint32_t)source->length, LAYOUT_FILE);
    state.body = items_new(parser, NULL);
    if (check_encoding(session, source)) run_grammar(parser, 0);
    Nodes body = state.layout.too_deep ? (Nodes){NULL, 0} : items_list(state.body);
    Module *module = arena_new_of(session->arena, Module);
    module->source = source;
    module->tree = NODE_AS(Module, MAKE(Module, 0, (uint32_t)source->length, .body = body));
    if (diag_error_count(session->diags) == before || !state.layout.too_deep)
        check_tree(session, module->tree);
    return module;
}
