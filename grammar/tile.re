/* tile.re: raw tokens of the language. Blanks, comments and joined lines vanish here; a newline is
 * a token wherever it stands: what it means, indent.c knows.
 *
 * The text ends with a NUL that no rule but its own matches, so nothing reads past it. */
#include "syntax/parser.h"

#include "tile_grammar.h"

#include <string.h>

typedef unsigned char Byte;

static Token make_token(Scanner *scanner, int kind, const Byte *begin, const Byte *end)
{
    const Byte *text = (const Byte *)scanner->source->text;
    scanner->cursor = (const char *)end;
    return (Token){kind, (uint32_t)(begin - text), (uint32_t)(end - text), DIAG_COUNT, NULL};
}

static Token make_bad(Scanner *scanner, int kind, const Byte *begin, const Byte *end,
                      DiagCode problem, const char *detail)
{
    Token token = make_token(scanner, kind, begin, end);
    token.problem = problem;
    token.detail = detail;
    return token;
}

static bool continues_name(Byte c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c >= 0x80;
}

/* `1if x else y` is legal: these words may touch a number. */
static bool is_touching_keyword(const Byte *begin, const Byte *end)
{
    static const char *const words[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
    size_t length = (size_t)(end - begin);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], begin, length) == 0)
            return true;
    return false;
}

static const char *number_fault(const Byte *begin, const Byte *rest, const Byte *end)
{
    if (memchr(begin, '_', (size_t)(end - begin)) != NULL)
        return "'_' may only stand between two digits";
    if (begin[0] == '0' && rest == begin + 1 && *rest >= '0' && *rest <= '9')
        return "leading zeros are not allowed, 0o starts an octal number";
    return "letters follow its digits";
}

/* A number must not run into a name. */
static Token make_number_token(Scanner *scanner, const Byte *begin, const Byte *end)
{
    const Byte *last = end;
    while (continues_name(*last))
        last++;
    if (last == end || is_touching_keyword(end, last))
        return make_token(scanner, TOKEN_NUMBER, begin, end);
    return make_bad(scanner, TOKEN_NUMBER, begin, last, DIAG_bad_number,
                    number_fault(begin, end, last));
}

/* A name, or what of it precedes a character that no name may have. */
static Token make_name_token(Scanner *scanner, const Byte *begin, const Byte *end)
{
    for (const Byte *at = begin; at < end;) {
        uint32_t c = 0;
        size_t count = utf8_decode((const char *)at, (size_t)(end - at), &c);
        if (count > 0 && is_name_character(c, at == begin)) {
            at += count;
            continue;
        }
        if (at > begin)
            return make_token(scanner, TOKEN_NAME, begin, at);
        return make_bad(scanner, TOKEN_BAD, at, at + (count == 0 ? 1 : count),
                        count == 0 ? DIAG_bad_utf8 : DIAG_bad_character, NULL);
    }
    return make_token(scanner, TOKEN_NAME, begin, end);
}

/* An unclosed string ends with its line, or with the text if it was to span lines. */
static Token make_string_token(Scanner *scanner, const Byte *begin)
{
    const char *limit = scanner->source->text + scanner->source->length;
    StringShape shape = string_shape((const char *)begin, limit);
    if (shape.closed)
        return make_token(scanner, TOKEN_STRING, begin, (const Byte *)shape.end);
    return make_bad(scanner, TOKEN_STRING, begin, (const Byte *)shape.end, DIAG_unterminated_string,
                    NULL);
}

Token scan_token(Scanner *scanner)
{
    const Byte *limit = (const Byte *)scanner->source->text + scanner->source->length;
    const Byte *cursor = (const Byte *)scanner->cursor, *marker, *begin;
again:
    begin = cursor;
#define KIND(kind) return make_token(scanner, TOKEN_##kind, begin, cursor)
    /*!re2c
    re2c:define:YYCTYPE = "Byte";
    re2c:define:YYCURSOR = "cursor";
    re2c:define:YYMARKER = "marker";
    re2c:yyfill:enable = 0;

    digit = [0-9];
    digits = digit ("_"? digit)*;
    decimal = "0" ("_"? "0")* | [1-9] ("_"? digit)*;
    integer = decimal | "0" [xX] ("_"? [0-9a-fA-F])+ | "0" [oO] ("_"? [0-7])+
            | "0" [bB] ("_"? [01])+;
    exponent = [eE] [+-]? digits;
    float = (digits? "." digits | digits ".") exponent? | digits exponent;
    imaginary = (float | digits) [jJ];
    name = [A-Za-z_\x80-\xff] [A-Za-z0-9_\x80-\xff]*;
    prefix = [bB] [rR]? | [rR] [bBfF]? | [uU] | [fF] [rR]?;
    newline = "\n" | "\r" "\n"?;

    *           { return make_bad(scanner, TOKEN_BAD, begin, cursor, DIAG_bad_character, NULL); }
    "\x00" {
        if (begin >= limit)
            return make_token(scanner, 0, limit, limit);
        return make_bad(scanner, TOKEN_BAD, begin, cursor, DIAG_bad_character, "\\0");
    }
    [ \t\f]+                { goto again; }
    "#" [^\r\n\x00]*        { goto again; }
    "\\" newline {
        if (cursor < limit) goto again;
        return make_bad(scanner, TOKEN_BAD, begin, begin + 1, DIAG_bad_continuation, NULL);
    }
    "\\" {
        return make_bad(scanner, TOKEN_BAD, begin, cursor, DIAG_bad_continuation, NULL);
    }
    newline                 { KIND(NEWLINE); }

    integer | float | imaginary { return make_number_token(scanner, begin, cursor); }
    prefix? ["']                { return make_string_token(scanner, begin); }

    "False"     { KIND(FALSE); }
    "None"      { KIND(NONE); }
    "True"      { KIND(TRUE); }
    "and"       { KIND(AND); }
    "as"        { KIND(AS); }
    "assert"    { KIND(ASSERT); }
    "async"     { KIND(ASYNC); }
    "await"     { KIND(AWAIT); }
    "break"     { KIND(BREAK); }
    "case"      { KIND(CASE); }
    "class"     { KIND(CLASS); }
    "continue"  { KIND(CONTINUE); }
    "def"       { KIND(DEF); }
    "del"       { KIND(DEL); }
    "elif"      { KIND(ELIF); }
    "else"      { KIND(ELSE); }
    "except"    { KIND(EXCEPT); }
    "finally"   { KIND(FINALLY); }
    "for"       { KIND(FOR); }
    "from"      { KIND(FROM); }
    "global"    { KIND(GLOBAL); }
    "if"        { KIND(IF); }
    "import"    { KIND(IMPORT); }
    "in"        { KIND(IN); }
    "is"        { KIND(IS); }
    "lambda"    { KIND(LAMBDA); }
    "nonlocal"  { KIND(NONLOCAL); }
    "not"       { KIND(NOT); }
    "or"        { KIND(OR); }
    "pass"      { KIND(PASS); }
    "raise"     { KIND(RAISE); }
    "return"    { KIND(RETURN); }
    "try"       { KIND(TRY); }
    "while"     { KIND(WHILE); }
    "with"      { KIND(WITH); }
    "yield"     { KIND(YIELD); }
    name        { return make_name_token(scanner, begin, cursor); }

    "("  { KIND(LPAR); }     ")"  { KIND(RPAR); }
    "["  { KIND(LSQB); }     "]"  { KIND(RSQB); }
    "{"  { KIND(LBRACE); }   "}"  { KIND(RBRACE); }
    ","  { KIND(COMMA); }    ";"  { KIND(SEMI); }
    ":"  { KIND(COLON); }    ":=" { KIND(COLONEQ); }
    "."  { KIND(DOT); }      "..." { KIND(ELLIPSIS); }
    "="  { KIND(EQ); }       "->" { KIND(ARROW); }
    "+"  { KIND(PLUS); }     "-"  { KIND(MINUS); }
    "*"  { KIND(STAR); }     "**" { KIND(DOUBLESTAR); }
    "/"  { KIND(SLASH); }    "@"  { KIND(AT); }
    "|"  { KIND(BAR); }      "^"  { KIND(CARET); }
    "&"  { KIND(AMP); }      "~"  { KIND(TILDE); }
    "//" | "%"                               { KIND(MULOP); }
    "<<" | ">>"                              { KIND(SHIFT); }
    "==" | "!=" | "<" | "<=" | ">" | ">="    { KIND(COMPARE); }
    ("+" | "-" | "*" | "**" | "/" | "//" | "%" | "@" | "&" | "|" | "^" | "<<" | ">>") "=" {
        KIND(AUGEQ);
    }
    */
#undef KIND
}
