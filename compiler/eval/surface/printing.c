/* printing.c: what a kernel prints: a format as C has them, checked against the values now. */
#include "eval/surface/surface.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_FLAGS = 16, MOST_WIDTH = 4095 /* characters of a conversion, as C asks for */ };

typedef struct Format {
    Eval *eval;
    Span at;
    const char *text;
    Object *const *values;
    int given, taken, used; /* values of the program, of them read; operands */
    Buf out;
    Value *operands[PRINT_VALUES];
} Format;

static Object *next_value(Format *format)
{
    if (format->taken == format->given) return FAIL(format->eval, print_values, format->at, "more");
    return format->values[format->taken++];
}

static bool add_operand(Format *format, Value *value)
{
    if (format->used == PRINT_VALUES) {
        FAIL(format->eval, print_many, format->at);
        return false;
    }
    format->operands[format->used++] = value;
    return true;
}

/* Integers become 64 bits wide, floats double. */
static bool take_value(Format *format, char letter)
{
    Object *given = next_value(format);
    Value *value = given != NULL ? stage_operand(format->eval, given, format->at) : NULL;
    if (value == NULL) return false;
    const bool wants_float = strchr("eEfFgGaA", letter) != NULL;
    if (value->type->kind != TYPE_SCALAR || dtype_is_float(value->type->dtype) != wants_float) {
        FAIL(format->eval, expected_kind, format->at, "what is printed",
             wants_float ? "a float" : "an integer", object_repr(format->eval, given));
        if (value->type->kind == TYPE_TILE && format->eval->quiet == 0)
            diag_hint(format->eval->session->diags,
                      "a tile of one element has item(), and print_tensor() prints whole ones");
        return false;
    }
    const DType wide = wants_float                           ? DTYPE_f64
                       : dtype_is_signed(value->type->dtype) ? DTYPE_i64
                                                             : DTYPE_u64;
    return add_operand(format, stage_cast(format->eval, value, wide));
}

/* An address is an integer, in base 16. */
static bool take_pointer(Format *format)
{
    Object *given = next_value(format);
    Value *value = given != NULL ? stage_operand(format->eval, given, format->at) : NULL;
    if (value == NULL) return false;
    if (value->type->kind != TYPE_POINTER) {
        FAIL(format->eval, expected_kind, format->at, "what %p prints", "a pointer",
             object_repr(format->eval, given));
        return false;
    }
    buf_text(&format->out, "0x%llx");
    return add_operand(format, core_build(format->eval, OP_bitcast, 1, &value,
                                          type_scalar(core_types(format->eval), DTYPE_u64)));
}

/* %[-][width][.precision]s: text that is known now becomes part of the format. `flags` begins
 * behind the percent sign. */
static bool take_text(Format *format, const char *flags)
{
    Object *text = next_value(format);
    if (text == NULL) return false;
    if (text->kind != OBJECT_TEXT) {
        FAIL(format->eval, expected_kind, format->at, "what %s prints",
             "text known when compiling (%d and %g print numbers)",
             object_repr(format->eval, text));
        return false;
    }
    const char *digits = flags + strspn(flags, "-+ #0");
    char *end;
    const bool is_left = memchr(flags, '-', (size_t)(digits - flags)) != NULL;
    const long width = strtol(digits, &end, 10),
               precision = *end == '.' ? strtol(end + 1, NULL, 10) : -1;
    if (width > MOST_WIDTH || precision > MOST_WIDTH) {
        FAIL(format->eval, percent_width, format->at);
        return false;
    }
    Buf padded = {0};
    buf_printf(&padded, "%*.*s", (int)(is_left ? -width : width), (int)precision,
               text->as.text.data);
    for (size_t i = 0; i < padded.length; i++) {
        if (padded.data[i] == '%') buf_char(&format->out, '%');
        buf_char(&format->out, padded.data[i]);
    }
    buf_free(&padded);
    return true;
}

/* %[flags][width][.precision][length]letter; the length is ours. */
static bool read_conversion(Format *format)
{
    const char *start = format->text++;
    if (*format->text == '%') {
        buf_text(&format->out, "%%");
        format->text++;
        return true;
    }
    const size_t flags = strspn(format->text, "-+ #0123456789.");
    format->text += flags;
    const size_t shown = 1 + flags, length = strspn(format->text, "hlzjt");
    const char letter = format->text[length];
    if (letter == 's' && length == 0 && flags <= MOST_FLAGS) {
        format->text++;
        return take_text(format, start + 1);
    }
    if (letter == 'p' && shown == 1 && length == 0) {
        format->text++;
        return take_pointer(format);
    }
    if (letter == '\0' || strchr("diouxXceEfFgGaA", letter) == NULL || flags > MOST_FLAGS) {
        FAIL(format->eval, print_conversion, format->at);
        return false;
    }
    buf_printf(&format->out, "%.*s", (int)shown, start);
    if (strchr("diouxX", letter) != NULL) buf_text(&format->out, "ll");
    buf_printf(&format->out, "%c", letter);
    format->text += length + 1;
    return take_value(format, letter);
}

static bool read_format(Format *format)
{
    while (*format->text != '\0') {
        const size_t plain = strcspn(format->text, "%");
        buf_printf(&format->out, "%.*s", (int)plain, format->text);
        format->text += plain;
        if (*format->text == '%' && !read_conversion(format)) return false;
    }
    if (format->taken == format->given) return true;
    FAIL(format->eval, print_values, format->at, "fewer");
    return false;
}

Object *core_print(Eval *eval, const Bound *bound)
{
    const Object *text = bound->values[0], *values = bound->values[1];
    if (!stage_ready(eval, bound->at)) return NULL;
    if (text->kind != OBJECT_TEXT || !object_is_sequence(values))
        return FAIL(eval, expected_kind, bound->at, "the format", "text known when compiling",
                    object_repr(eval, bound->values[0]));
    Format format = {.eval = eval,
                     .at = bound->at,
                     .text = text->as.text.data,
                     .values = values->as.list.items,
                     .given = (int)values->as.list.count};
    const bool good = read_format(&format);
    if (good) {
        Op *op = build_op(&eval->builder, OP_print, format.used, format.operands, 0, NULL);
        op_set_text(
            op, ATTR_text,
            intern_text(eval->session->names, format.out.data != NULL ? format.out.data : ""));
    }
    buf_free(&format.out);
    return good ? eval->none : NULL;
}

/* Whether it is a tile in registers. */
Object *core_is_register(Eval *eval, const Bound *bound)
{
    const Type *type = argument_type(bound->values[0]);
    return object_bool(eval, type != NULL && type->kind == TYPE_TILE);
}
