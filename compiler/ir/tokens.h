/* tokens.h: the tokens of the textual IR (grammar/ir.re); private to this folder. */
#ifndef TILEC_IR_TOKENS_H
#define TILEC_IR_TOKENS_H

#include <stddef.h>

typedef enum IrToken {
    IR_END,     /* a NUL byte: the text's end, or a stray one */
    IR_BAD,     /* a character that begins nothing */
    IR_NAME,    /* add */
    IR_VALUE,   /* %sum */
    IR_NUMBER,  /* -12, 1.5e-3, 0x7ff8, -inf */
    IR_STRING,  /* "..." with the escapes of buf_quoted */
    IR_ALIAS,   /* #l0: a name of a layout */
    IR_COMMENT, /* # to the line's end, unless a name follows at once */
    IR_AT,
    IR_COMMA,
    IR_COLON,
    IR_EQUAL,
    IR_QUESTION,
    IR_LPAREN,
    IR_RPAREN,
    IR_LBRACE,
    IR_RBRACE,
    IR_LBRACKET,
    IR_RBRACKET,
    IR_LESS,
    IR_GREATER,
} IrToken;

/* The next token of NUL-terminated text: *begin is where it begins, *cursor moves to its end. */
IrToken ir_scan(const char **cursor, const char **begin);
/* One escape of buf_quoted at `text`, just after the backslash: the byte it stands for, or -1;
 * *length is that of the escape. */
int ir_unescape(const char *text, size_t *length);

#endif
