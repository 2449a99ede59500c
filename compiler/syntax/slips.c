/* slips.c: what is said beside a syntax error where the fingers are used to another language, or to
 * an older Python. A row of the table for each, found by the words around the error. */
#include "syntax/parser.h"

#include "tile_grammar.h"

#include <ctype.h>
#include <string.h>

/* Words; NULL: any; "": there is none, as before the first of a line and behind its last. */
typedef struct Slip {
    const char *first, *earlier, *before, *at;
    const char *note;
} Slip;

static const Slip slips[] = {
    {NULL, NULL, "else", "if", "'else if' is spelled 'elif'"},
    {"elseif", NULL, "elseif", NULL, "'else if' is spelled 'elif'"},
    {"elsif", NULL, "elsif", NULL, "'else if' is spelled 'elif'"},
    {"print", NULL, "print", NULL, "print is a function: print(...)"},
    {"exec", NULL, "exec", NULL, "exec is a function: exec(...)"},
    {"switch", NULL, "switch", NULL, "'match' chooses between cases"},
    {"function", NULL, "function", NULL, "'def' defines a function"},
    {"func", NULL, "func", NULL, "'def' defines a function"},
    {"fn", NULL, "fn", NULL, "'def' defines a function"},
    {"const", NULL, "const", NULL, "a name needs no declaration: name = value"},
    {"let", NULL, "let", NULL, "a name needs no declaration: name = value"},
    {"var", NULL, "var", NULL, "a name needs no declaration: name = value"},
    {NULL, NULL, "&", "&", "'&&' is spelled 'and'"},
    {NULL, NULL, "|", "|", "'||' is spelled 'or'"},
    {NULL, NULL, "<", ">", "'<>' is spelled '!='"},
    {NULL, "+", "+", NULL, "there is no '++': x += 1"},
    {NULL, "-", "-", NULL, "there is no '--': x -= 1"},
    {NULL, NULL, "", "/", "a comment begins with '#'"},
    {NULL, NULL, "", "//", "a comment begins with '#'"},
    {NULL, NULL, "", "else", "it belongs to no statement above it with the same indentation"},
    {NULL, NULL, "", "elif", "it belongs to no statement above it with the same indentation"},
    {NULL, NULL, "", "except", "it belongs to no statement above it with the same indentation"},
    {NULL, NULL, "", "finally", "it belongs to no statement above it with the same indentation"},
    {"if", NULL, NULL, "{", "a block begins with ':' and is indented"},
    {"while", NULL, NULL, "{", "a block begins with ':' and is indented"},
    {"for", NULL, NULL, "{", "a block begins with ':' and is indented"},
    {"else", NULL, NULL, "{", "a block begins with ':' and is indented"},
    {"def", NULL, NULL, "{", "a block begins with ':' and is indented"},
    {"class", NULL, NULL, "{", "a block begins with ':' and is indented"},
    {NULL, NULL, NULL, ":=", "':=' stands in parentheses; a statement assigns with '='"},
    {NULL, NULL, NULL, "=", "'=' assigns, '==' compares"},
};

/* The tokens of a line around the one that is wrong; those that are not there have length 0. */
typedef struct Around {
    Token first, earlier, before, at;
} Around;

static Around tokens_around(const Parser *parser, Token token)
{
    const Layout *layout = &parser->layout;
    Scanner scanner = {parser->source, parser->source->text + layout->first_begin};
    Around around = {.at = token};
    for (Token next; (next = scan_token(&scanner)).kind != 0 && next.begin < token.begin;) {
        if (next.kind == TOKEN_NEWLINE) continue;
        if (around.first.end == 0) around.first = next;
        around.earlier = around.before;
        around.before = next;
    }
    if (around.first.end == 0) around.first = token;
    return around;
}

static bool token_is(const Parser *parser, Token token, const char *word)
{
    if (word == NULL) return true;
    bool none = token.kind == TOKEN_NEWLINE || token.kind == 0;
    size_t length = none ? 0 : token.end - token.begin;
    return strlen(word) == length && memcmp(parser->source->text + token.begin, word, length) == 0;
}

static bool is_keyword(const Parser *parser, Token token)
{
    return token.end > token.begin && token.kind != TOKEN_NAME && token.kind != TOKEN_STRING &&
           isalpha((unsigned char)parser->source->text[token.begin]);
}

static bool ends_value(int kind)
{
    return kind == TOKEN_NAME || kind == TOKEN_NUMBER || kind == TOKEN_STRING ||
           kind == TOKEN_RPAR || kind == TOKEN_RSQB || kind == TOKEN_RBRACE || kind == TOKEN_NONE ||
           kind == TOKEN_TRUE || kind == TOKEN_FALSE || kind == TOKEN_ELLIPSIS;
}

static bool starts_value(int kind)
{
    return kind == TOKEN_LBRACE || kind == TOKEN_STAR || kind == TOKEN_DOUBLESTAR ||
           kind == TOKEN_LAMBDA ||
           (ends_value(kind) && kind != TOKEN_RPAR && kind != TOKEN_RSQB && kind != TOKEN_RBRACE);
}

bool is_missing_comma(const Parser *parser, Token token)
{
    size_t own = token.kind == TOKEN_LBRACE; /* opened already */
    if (parser->layout.bracket_count <= own || !starts_value(token.kind)) return false;
    return ends_value(tokens_around(parser, token).before.kind);
}

void note_slip(const Parser *parser, Token token)
{
    Diags *diags = parser->session->diags;
    Around around = tokens_around(parser, token);
    if (token.kind == TOKEN_EQ && is_keyword(parser, around.before)) {
        diag_note(diags, (Span){0}, "%s is a word of the language and cannot be a name",
                  token_describe(parser, around.before));
        return;
    }
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++) {
        const Slip *slip = &slips[i];
        if (!token_is(parser, around.first, slip->first) ||
            !token_is(parser, around.earlier, slip->earlier) ||
            !token_is(parser, around.before, slip->before) ||
            !token_is(parser, around.at, slip->at))
            continue;
        diag_note(diags, (Span){0}, "%s", slip->note);
        return;
    }
}

const char *character_slip(char c)
{
    switch (c) {
    case '!': return "'not' negates, '!=' compares";
    case '?': return "a choice is spelled: b if a else c";
    }
    return NULL;
}
