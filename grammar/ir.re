/* ir.re: tokens of the textual IR. White space separates and means nothing else, but for one thing
 * that the reader looks at: operands stand on the line of their op. */
#include "ir/tokens.h"

#include <string.h>

IrToken ir_scan(const char **text, const char **begin)
{
    const char *cursor = *text, *marker = cursor;
    IrToken token = IR_BAD;
start:
    *begin = cursor;
    /*!re2c
        re2c:define:YYCTYPE = "unsigned char";
        re2c:define:YYCURSOR = cursor;
        re2c:define:YYMARKER = marker;
        re2c:yyfill:enable = 0;

        first  = [A-Za-z_\x80-\xff];
        rest   = first | [0-9.$];
        digits = [0-9]+;

        [ \t\r\n]+ { goto start; }
        "\x00"     { cursor--; token = IR_END; goto done; }
        "#" first rest* { token = IR_ALIAS; goto done; }
        "#" ([^A-Za-z_\x80-\xff\n\x00] [^\n\x00]*)? { token = IR_COMMENT; goto done; }
        first rest*    { token = IR_NAME; goto done; }
        "%" rest+      { token = IR_VALUE; goto done; }
        "-"? digits ("." [0-9]*)? ([eE] [-+]? digits)? { token = IR_NUMBER; goto done; }
        "0x" [0-9a-f]+ { token = IR_NUMBER; goto done; }
        "-inf"         { token = IR_NUMBER; goto done; }
        ["] ([^"\\\n\x00] | "\\" [^\n\x00])* ["] { token = IR_STRING; goto done; }
        "@" { token = IR_AT; goto done; }
        "," { token = IR_COMMA; goto done; }
        ":" { token = IR_COLON; goto done; }
        "=" { token = IR_EQUAL; goto done; }
        "?" { token = IR_QUESTION; goto done; }
        "(" { token = IR_LPAREN; goto done; }
        ")" { token = IR_RPAREN; goto done; }
        "{" { token = IR_LBRACE; goto done; }
        "}" { token = IR_RBRACE; goto done; }
        "[" { token = IR_LBRACKET; goto done; }
        "]" { token = IR_RBRACKET; goto done; }
        "<" { token = IR_LESS; goto done; }
        ">" { token = IR_GREATER; goto done; }
        *   { token = IR_BAD; goto done; }
    */
done:
    *text = cursor;
    return token;
}

static int hex_value(const char *digits)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        const char *found = strchr("0123456789abcdef", digits[i]);
        if (digits[i] == '\0' || found == NULL)
            return -1;
        value = value * 16 + (int)(found - "0123456789abcdef");
    }
    return value;
}

int ir_unescape(const char *text, size_t *length)
{
    static const char letters[] = "\"\\nrtbf", bytes[] = "\"\\\n\r\t\b\f";
    *length = 1;
    const char *letter = strchr(letters, *text);
    if (*text != '\0' && letter != NULL)
        return bytes[letter - letters];
    if (*text != 'u')
        return -1;
    *length = 5;
    int value = hex_value(text + 1);
    if (value >= 0xdc80 && value <= 0xdcff)
        return value & 0xff;
    return value > 0 && value < 0x80 ? value : -1;
}
