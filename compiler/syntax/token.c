/* token.c: tokens as people call them. */
#include "syntax/parser.h"

#include "tile_grammar.h"

#include <string.h>

enum { SHOWN_EXPECTED = 5, SHOWN_TEXT = 24, KIND_LIMIT = 256 };

static const char *token_kind_name(int kind)
{
    static const char *const names[] = {
        [0] = "the end of the file",
        [TOKEN_AMP] = "'&'",
        [TOKEN_AND] = "'and'",
        [TOKEN_ARROW] = "'->'",
        [TOKEN_AS] = "'as'",
        [TOKEN_ASSERT] = "'assert'",
        [TOKEN_ASYNC] = "'async'",
        [TOKEN_AT] = "'@'",
        [TOKEN_AUGEQ] = "an operator with '='",
        [TOKEN_AWAIT] = "'await'",
        [TOKEN_BAR] = "'|'",
        [TOKEN_BREAK] = "'break'",
        [TOKEN_CARET] = "'^'",
        [TOKEN_CASE] = "'case'",
        [TOKEN_CLASS] = "'class'",
        [TOKEN_COLON] = "':'",
        [TOKEN_COLONEQ] = "':='",
        [TOKEN_COMMA] = "','",
        [TOKEN_COMPARE] = "a comparison",
        [TOKEN_CONTINUE] = "'continue'",
        [TOKEN_DEDENT] = "the end of the block",
        [TOKEN_DEF] = "'def'",
        [TOKEN_DEL] = "'del'",
        [TOKEN_DOT] = "'.'",
        [TOKEN_DOUBLESTAR] = "'**'",
        [TOKEN_ELIF] = "'elif'",
        [TOKEN_ELLIPSIS] = "'...'",
        [TOKEN_ELSE] = "'else'",
        [TOKEN_EQ] = "'='",
        [TOKEN_EXCEPT] = "'except'",
        [TOKEN_FALSE] = "'False'",
        [TOKEN_FINALLY] = "'finally'",
        [TOKEN_FOR] = "'for'",
        [TOKEN_FROM] = "'from'",
        [TOKEN_GLOBAL] = "'global'",
        [TOKEN_IF] = "'if'",
        [TOKEN_IMPORT] = "'import'",
        [TOKEN_IN] = "'in'",
        [TOKEN_INDENT] = "an indented block",
        [TOKEN_IS] = "'is'",
        [TOKEN_LAMBDA] = "'lambda'",
        [TOKEN_LBRACE] = "'{'",
        [TOKEN_LPAR] = "'('",
        [TOKEN_LSQB] = "'['",
        [TOKEN_MATCH] = "'match'",
        [TOKEN_MINUS] = "'-'",
        [TOKEN_MULOP] = "'//' or '%'",
        [TOKEN_NAME] = "a name",
        [TOKEN_NEWLINE] = "the end of the line",
        [TOKEN_NONE] = "'None'",
        [TOKEN_NONLOCAL] = "'nonlocal'",
        [TOKEN_NOT] = "'not'",
        [TOKEN_NUMBER] = "a number",
        [TOKEN_OR] = "'or'",
        [TOKEN_PASS] = "'pass'",
        [TOKEN_PLUS] = "'+'",
        [TOKEN_RAISE] = "'raise'",
        [TOKEN_RBRACE] = "'}'",
        [TOKEN_RETURN] = "'return'",
        [TOKEN_RPAR] = "')'",
        [TOKEN_RSQB] = "']'",
        [TOKEN_SEMI] = "';'",
        [TOKEN_SHIFT] = "'<<' or '>>'",
        [TOKEN_SLASH] = "'/'",
        [TOKEN_STAR] = "'*'",
        [TOKEN_STRING] = "a string",
        [TOKEN_TILDE] = "'~'",
        [TOKEN_TRUE] = "'True'",
        [TOKEN_TRY] = "'try'",
        [TOKEN_TYPE] = "'type'",
        [TOKEN_WHILE] = "'while'",
        [TOKEN_WITH] = "'with'",
        [TOKEN_YIELD] = "'yield'",
    };
    if (kind < 0 || (size_t)kind >= sizeof names / sizeof *names)
        return NULL; /* the grammar's own marks: no text is one */
    return names[kind];
}

/* A kind whose name is a word in quotes. */
static Word keyword_of(int kind)
{
    const char *name = token_kind_name(kind);
    const size_t length = name != NULL && name[0] == '\'' ? strcspn(name + 1, "'") : 0;
    const bool is_word =
        length > 0 && ((name[1] >= 'a' && name[1] <= 'z') || (name[1] >= 'A' && name[1] <= 'Z'));
    return is_word && name[1 + length + 1] == '\0' ? (Word){name + 1, length} : (Word){0};
}

Word keyword_at(size_t index)
{
    for (int kind = 0; kind < KIND_LIMIT; kind++) {
        const Word word = keyword_of(kind);
        if (word.length > 0 && index-- == 0) return word;
    }
    return (Word){0};
}

const char *token_describe(const Parser *parser, Token token)
{
    if (token.kind == 0 && parser->field_depth > 0) return "end of the field";
    switch (token.kind) {
    case 0: return "end of the file";
    case TOKEN_NEWLINE: return "end of the line";
    case TOKEN_INDENT: return "indentation";
    case TOKEN_DEDENT: return "end of the block";
    case TOKEN_STRING: return "string";
    }
    int length = (int)(token.end - token.begin);
    const char *text = parser->source->text + token.begin;
    if (length > SHOWN_TEXT)
        return arena_printf(parser->session->arena, "'%.*s...'", SHOWN_TEXT, text);
    return arena_printf(parser->session->arena, "'%.*s'", length, text);
}

/* Sets that have a name of their own; each stands for its members in what was expected. */
typedef struct Group {
    const char *name;
    int needed[4];   /* those that must all be expected; 0 ends them */
    int members[24]; /* those that it covers; 0 ends them, none: all */
} Group;

#define VALUES                                                                                     \
    TOKEN_AWAIT, TOKEN_ELLIPSIS, TOKEN_FALSE, TOKEN_LBRACE, TOKEN_LPAR, TOKEN_LSQB, TOKEN_MINUS,   \
        TOKEN_NAME, TOKEN_NONE, TOKEN_NUMBER, TOKEN_PLUS, TOKEN_STRING, TOKEN_TILDE, TOKEN_TRUE,   \
        TOKEN_STAR, TOKEN_NOT

static const Group *group_at(size_t index)
{
    static const Group groups[] = {
        {"a statement", {TOKEN_PASS, TOKEN_IMPORT, TOKEN_NAME}, {0}},
        {"an expression",
         {TOKEN_NAME, TOKEN_NUMBER, TOKEN_LPAR, TOKEN_LAMBDA},
         {TOKEN_LAMBDA, TOKEN_YIELD, TOKEN_DOUBLESTAR, VALUES}},
        {"a value", {TOKEN_NAME, TOKEN_NUMBER, TOKEN_LPAR}, {VALUES}},
        {"an operator",
         {TOKEN_PLUS, TOKEN_STAR, TOKEN_MULOP},
         {TOKEN_AMP, TOKEN_AND, TOKEN_AT, TOKEN_BAR, TOKEN_CARET, TOKEN_COMPARE, TOKEN_DOUBLESTAR,
          TOKEN_IN, TOKEN_IS, TOKEN_MINUS, TOKEN_MULOP, TOKEN_NOT, TOKEN_OR, TOKEN_PLUS,
          TOKEN_SHIFT, TOKEN_SLASH, TOKEN_STAR}},
    };
    return index < sizeof groups / sizeof *groups ? &groups[index] : NULL;
}

typedef struct Listing {
    Buf text;
    int count;
    const char *last; /* held back: "or" goes before it */
} Listing;

static void put_name(Listing *listing, const char *name)
{
    if (listing->count == SHOWN_EXPECTED || (listing->last != NULL && !strcmp(listing->last, name)))
        return;
    if (listing->last != NULL)
        buf_printf(&listing->text, "%s%s", listing->text.length == 0 ? "" : ", ", listing->last);
    listing->last = name;
    listing->count++;
}

static void put_group(Listing *listing, bool *left, int kind_count, const Group *group)
{
    for (size_t i = 0; i < 4 && group->needed[i] != 0; i++)
        if (group->needed[i] >= kind_count || !left[group->needed[i]]) return;
    put_name(listing, group->name);
    if (group->members[0] == 0) memset(left, 0, (size_t)kind_count * sizeof *left);
    for (size_t i = 0; i < 24 && group->members[i] != 0; i++) left[group->members[i]] = false;
}

const char *expected_describe(const Parser *parser, Token token, const bool *expected,
                              int kind_count)
{
    Arena *arena = parser->session->arena;
    bool *left = arena_new_array(arena, bool, kind_count);
    memcpy(left, expected, (size_t)kind_count * sizeof *left);
    left[TOKEN_CASE] = left[TOKEN_CASE] && !left[TOKEN_NAME]; /* it is a name where a name fits */
    left[TOKEN_SEMI] = left[TOKEN_SEMI] && !left[TOKEN_NEWLINE];   /* true, and no help */
    if (is_missing_comma(parser, token)) left[TOKEN_COMMA] = true; /* the parser is past it */
    Listing listing = {0};
    const Group *group;
    for (size_t i = 0; (group = group_at(i)) != NULL; i++)
        put_group(&listing, left, kind_count, group);
    for (int kind = 1; kind < kind_count; kind++)
        if (left[kind] && token_kind_name(kind) != NULL) put_name(&listing, token_kind_name(kind));
    if (listing.last == NULL) listing.last = "the end of the expression";
    const char *text = listing.last;
    if (listing.text.length > 0)
        text = arena_printf(arena, "%s or %s", listing.text.data, listing.last);
    buf_free(&listing.text);
    return text;
}

bool token_starts_statement(int kind)
{
    switch (kind) {
    case TOKEN_ASSERT:
    case TOKEN_BREAK:
    case TOKEN_CLASS:
    case TOKEN_CONTINUE:
    case TOKEN_DEF:
    case TOKEN_DEL:
    case TOKEN_ELIF:
    case TOKEN_EXCEPT:
    case TOKEN_FINALLY:
    case TOKEN_GLOBAL:
    case TOKEN_IMPORT:
    case TOKEN_NONLOCAL:
    case TOKEN_PASS:
    case TOKEN_RAISE:
    case TOKEN_RETURN:
    case TOKEN_TRY:
    case TOKEN_WHILE:
    case TOKEN_WITH: return true;
    }
    return false;
}
