/* print.c: kernels as text, which read.c reads back to the same text.
 *
 *   kernel @gemm export gemm stage LAID_OUT (%m: i32, %a: ptr<f16, global> multiple 16) { #
 *     #l0 = {shape [64, 64] block [64, 64] reg [[0,1]] lane [[0,2]]}
 *     %x = floordiv %m, %block : i32 # gemm.tile:5:9
 *     launch %x, %one, %one {warps = 4} {
 *       %y = splat %z : tile<f32, [64, 64], #l0>
 *       ...
 *     }
 *   }
 *
 * A kernel of tensors says how they become parameters, a line each before the brace.
 * Every op has one shape: results = name operands {attributes} : result types (arguments) { ... }
 * for each region. A value is printed by its name, made unique, or by a number. */
#include "base/vec.h"
#include "ir/notes.h"
#include "ir/rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Printer {
    Buf *out;
    const Source *read_from;
    Arena *arena;
    Interner *names;
    Map taken;                   /* Name -> the last number that was put behind it */
    Map texts;                   /* Value -> its Name */
    Map aliases;                 /* Layout -> "#l0" */
    VEC(const Layout *) layouts; /* that have one, in order */
    int numbered;
} Printer;

/* ---- names of values ---- */

static bool is_word_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || c >= 0x80;
}

static bool is_word(const char *text)
{
    if ((*text >= '0' && *text <= '9') || *text == '.' || *text == '$' || *text == '\0')
        return false;
    for (; *text != '\0'; text++)
        if (!is_word_byte((unsigned char)*text)) return false;
    return true;
}

/* What the reader takes for a value's name: words, and never digits alone, which stand for no name.
 */
static Name readable_name(Printer *printer, Name name)
{
    bool digits = strspn(name, "0123456789") == strlen(name);
    char *text = arena_printf(printer->arena, "%s%s", digits ? "_" : "", name);
    for (char *c = text; *c != '\0'; c++)
        if (!is_word_byte((unsigned char)*c)) *c = '_';
    return intern_text(printer->names, text);
}

/* Layouts are many and long: each has a name, and stands once at the kernel's head. */
static void name_layout(Printer *printer, const Type *type)
{
    const Layout *layout = type->kind == TYPE_VAR ? type->content->layout : type->layout;
    if (layout == NULL || map_has(&printer->aliases, layout)) return;
    map_set(printer->arena, &printer->aliases, layout,
            (void *)intern_printf(printer->names, "#l%d", (int)printer->layouts.count));
    vec_push(printer->arena, &printer->layouts, layout);
}

static void name_value(Printer *printer, const Value *value, Name name)
{
    name_layout(printer, value->type);
    if (name == NULL || *name == '\0') {
        Buf number = {0};
        buf_integer(&number, ++printer->numbered);
        map_set(printer->arena, &printer->texts, value,
                arena_copy_text(printer->arena, number.data, number.length));
        buf_free(&number);
        return;
    }
    Name base = readable_name(printer, name), unique = base;
    uintptr_t suffix = (uintptr_t)map_get(&printer->taken, base);
    while (map_has(&printer->taken, unique))
        unique = intern_printf(printer->names, "%s.%d", base, (int)++suffix);
    map_set(printer->arena, &printer->taken, unique, NULL);
    map_set(printer->arena, &printer->taken, base, (void *)suffix);
    map_set(printer->arena, &printer->texts, value, (void *)unique);
}

static void name_region(Printer *printer, const Region *region)
{
    for (int i = 0; i < region->argument_count; i++)
        name_value(printer, region->arguments[i], region->arguments[i]->name);
    for (const Op *op = region->first; op != NULL; op = op_next(op)) {
        for (int i = 0; i < op->result_count; i++)
            name_value(printer, &op->results[i], op->results[i].name);
        for (int i = 0; i < op->region_count; i++) name_region(printer, op->regions[i]);
    }
}

static void name_kernel(Printer *printer, const Kernel *kernel)
{
    for (int i = 0; i < kernel->parameter_count; i++)
        name_value(printer, kernel->parameters[i].value, kernel->parameters[i].name);
    name_region(printer, kernel->host);
}

/* ---- parts of a line ---- */

static void print_word(Printer *printer, const char *text)
{
    if (is_word(text))
        buf_text(printer->out, text);
    else
        buf_quoted(printer->out, text, strlen(text));
}

static void print_value(Printer *printer, const Value *value)
{
    Name text = map_get(&printer->texts, value);
    buf_char(printer->out, '%');
    buf_text(printer->out, text != NULL ? text : "?");
}

/* The fewest digits that read back as the same number; a NaN with a payload by its bits. */
static void print_number(Printer *printer, double number)
{
    char text[40];
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (isnan(number)) {
        if (bits == 0x7ff8000000000000u)
            buf_text(printer->out, "nan");
        else
            buf_printf(printer->out, "0x%llx", (unsigned long long)bits);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number) break;
    }
    buf_text(printer->out, text);
}

static void print_attr(Printer *printer, const Attr *attr)
{
    buf_text(printer->out, attr_name(attr->key));
    buf_text(printer->out, " = ");
    switch (attr_kind(attr->key)) {
    case ATTR_KIND_INT: buf_integer(printer->out, attr->integer); return;
    case ATTR_KIND_FLOAT: print_number(printer, attr->number); return;
    case ATTR_KIND_TEXT: print_word(printer, attr->text); return;
    case ATTR_KIND_INTS: break;
    }
    buf_char(printer->out, '[');
    for (int i = 0; i < attr->count; i++) {
        buf_text(printer->out, i == 0 ? "" : ", ");
        buf_integer(printer->out, attr->integers[i]);
    }
    buf_char(printer->out, ']');
}

static void print_head(Printer *printer, const Op *op)
{
    Buf *out = printer->out;
    for (int i = 0; i < op->result_count; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        print_value(printer, &op->results[i]);
    }
    buf_text(out, op->result_count > 0 ? " = " : "");
    buf_text(out, op_info(op->code)->name);
    for (int i = 0; i < op->operand_count; i++) {
        buf_text(out, i == 0 ? " " : ", ");
        print_value(printer, op->operands[i]);
    }
    for (int i = 0; i < op->attr_count; i++) {
        buf_text(out, i == 0 ? " {" : ", ");
        print_attr(printer, &op->attrs[i]);
    }
    buf_text(out, op->attr_count > 0 ? "}" : "");
    for (int i = 0; i < op->result_count; i++) {
        buf_text(out, i == 0 ? " : " : ", ");
        type_print_short(op->results[i].type, &printer->aliases, out);
    }
}

/* Ends the line. Places in the text that the kernel was read from say nothing that the line does
 * not. */
static void print_place(Printer *printer, Span span)
{
    if (span.source != NULL && span.source != printer->read_from &&
        strpbrk(span.source->path, "\r\n") == NULL) {
        Location location = source_location(span.source, span.begin);
        buf_text(printer->out, " # ");
        buf_text(printer->out, span.source->path);
        buf_char(printer->out, ':');
        buf_integer(printer->out, location.line);
        buf_char(printer->out, ':');
        buf_integer(printer->out, location.column);
    }
    buf_char(printer->out, '\n');
}

/* ---- regions and kernels ---- */

static void print_region(Printer *printer, const Region *region, int depth);

static void indent(Printer *printer, int depth)
{
    enum { WIDTH = 2 };
    buf_fill(printer->out, ' ', (size_t)depth * WIDTH);
}

static void print_arguments(Printer *printer, const Region *region)
{
    for (int i = 0; i < region->argument_count; i++) {
        buf_text(printer->out, i == 0 ? " (" : ", ");
        print_value(printer, region->arguments[i]);
        buf_text(printer->out, ": ");
        type_print_short(region->arguments[i]->type, &printer->aliases, printer->out);
    }
    buf_text(printer->out, region->argument_count > 0 ? ") {" : " {");
}

/* A comment on a line of its own: what notes.c says of an op, with the value that it is about. */
static void print_note(Printer *printer, int depth, const Value *value, const char *text)
{
    indent(printer, depth);
    buf_text(printer->out, "# ");
    if (value != NULL) {
        print_value(printer, value);
        buf_text(printer->out, ": ");
    }
    buf_text(printer->out, text);
    buf_char(printer->out, '\n');
}

static void print_buffer_notes(Printer *printer, const Region *region, int depth)
{
    Buf text = {0};
    for (const Op *op = region->first; op != NULL; op = op_next(op)) {
        text.length = 0;
        if (note_of_buffer(op, &text)) print_note(printer, depth, &op->results[0], text.data);
        for (int i = 0; i < op->region_count; i++)
            print_buffer_notes(printer, op->regions[i], depth);
    }
    buf_free(&text);
}

static void print_region_notes(Printer *printer, const Op *op, int index, int depth)
{
    Buf text = {0};
    if (op->code == OP_launch) print_buffer_notes(printer, op->regions[index], depth);
    if (note_of_role(op, index, &text)) print_note(printer, depth, NULL, text.data);
    text.length = 0;
    if (note_of_loop(op, index, &text)) print_note(printer, depth, NULL, text.data);
    buf_free(&text);
}

static void print_op(Printer *printer, const Op *op, int depth)
{
    indent(printer, depth);
    print_head(printer, op);
    if (op->region_count == 0) {
        print_place(printer, op->span);
        return;
    }
    for (int i = 0; i < op->region_count; i++) {
        if (i > 0) {
            indent(printer, depth);
            buf_char(printer->out, '}');
        }
        print_arguments(printer, op->regions[i]);
        print_place(printer, i == 0 ? op->span : (Span){0});
        print_region_notes(printer, op, i, depth + 1);
        print_region(printer, op->regions[i], depth + 1);
    }
    indent(printer, depth);
    buf_text(printer->out, "}\n");
}

static void print_region(Printer *printer, const Region *region, int depth)
{
    for (const Op *op = region->first; op != NULL; op = op_next(op)) print_op(printer, op, depth);
}

static void print_key(Printer *printer, const Parameter *parameter)
{
    double number;
    memcpy(&number, &parameter->key, sizeof number);
    buf_text(printer->out, " = ");
    if (parameter->text != NULL)
        buf_quoted(printer->out, parameter->text, strlen(parameter->text));
    else if (dtype_is_float(parameter->value->type->dtype))
        print_number(printer, number);
    else
        buf_printf(printer->out, "%lld", (long long)parameter->key);
}

static void print_parameter(Printer *printer, const Parameter *parameter)
{
    print_value(printer, parameter->value);
    buf_text(printer->out, parameter->is_key ? ": key " : ": ");
    buf_text(printer->out, parameter->is_kept ? "kept " : parameter->is_zeroed ? "zeroed " : "");
    buf_text(printer->out, parameter->is_workspace ? "workspace " : "");
    if (parameter->is_dtype)
        buf_text(printer->out, "dtype");
    else if (parameter->text != NULL)
        buf_text(printer->out, "str");
    else
        type_print(parameter->value->type, printer->out);
    if (parameter->is_key) print_key(printer, parameter);
    if (parameter->multiple != 1)
        buf_printf(printer->out, " multiple %lld", (long long)parameter->multiple);
    buf_text(printer->out, parameter->is_read ? " reads" : "");
    buf_text(printer->out, parameter->is_written ? " writes" : "");
}

static void print_extents(Printer *printer, const Kernel *kernel, const Extent *extents, int rank,
                          bool known)
{
    buf_char(printer->out, '[');
    for (int i = 0; i < rank; i++) {
        buf_text(printer->out, i == 0 ? "" : ", ");
        if (!known)
            buf_char(printer->out, '?');
        else if (extents[i].kind == EXTENT_PARAMETER)
            print_value(printer, kernel->parameters[extents[i].parameter].value);
        else
            buf_printf(printer->out, "%lld", (long long)extents[i].value);
    }
    buf_char(printer->out, ']');
}

/* "tensor %a [%m, 1024] strides [%s, 1] dtype %a_dtype": the type is that of the pointer. */
static void print_tensor(Printer *printer, const Kernel *kernel, const Tensor *tensor)
{
    buf_text(printer->out, tensor->is_result ? "  result " : "  tensor ");
    print_value(printer, kernel->parameters[tensor->pointer].value);
    buf_char(printer->out, ' ');
    print_extents(printer, kernel, tensor->shape, tensor->rank, !tensor->is_result);
    if (tensor->is_strided) {
        buf_text(printer->out, " strides ");
        print_extents(printer, kernel, tensor->strides, tensor->rank, true);
    }
    if (tensor->dtype_key >= 0) {
        buf_text(printer->out, " dtype ");
        print_value(printer, kernel->parameters[tensor->dtype_key].value);
    }
    print_place(printer, tensor->span);
}

static void print_aliases(Printer *printer)
{
    for (size_t i = 0; i < printer->layouts.count; i++) {
        const Layout *layout = printer->layouts.data[i];
        buf_printf(printer->out, "  %s = ", (const char *)map_get(&printer->aliases, layout));
        layout_print(layout, printer->out);
        buf_char(printer->out, '\n');
    }
}

static void print_kernel(Printer *printer, const Kernel *kernel)
{
    buf_text(printer->out, "kernel @");
    print_word(printer, kernel->name);
    if (kernel->export_name != NULL) {
        buf_text(printer->out, " export ");
        print_word(printer, kernel->export_name);
    }
    if (kernel->configuration != NULL) {
        buf_text(printer->out, " configuration ");
        buf_quoted(printer->out, kernel->configuration, strlen(kernel->configuration));
    }
    buf_printf(printer->out, " stage %s (", stage_name(kernel->stage));
    for (int i = 0; i < kernel->parameter_count; i++) {
        buf_text(printer->out, i == 0 ? "" : ", ");
        print_parameter(printer, &kernel->parameters[i]);
    }
    buf_text(printer->out, kernel->tensor_count > 0 ? ")" : ") {");
    print_place(printer, kernel->span);
    for (int i = 0; i < kernel->tensor_count; i++)
        print_tensor(printer, kernel, &kernel->tensors[i]);
    buf_text(printer->out, kernel->tensor_count > 0 ? "{\n" : "");
    print_aliases(printer);
    print_region(printer, kernel->host, 1);
    buf_text(printer->out, "}\n");
}

static Printer printer_new(const Kernel *kernel, Buf *out)
{
    Printer printer = {.out = out, .arena = arena_new()};
    printer.names = interner_new(printer.arena);
    if (kernel != NULL) {
        printer.read_from = kernel->read_from;
        name_kernel(&printer, kernel);
    }
    return printer;
}

void kernel_print(const Kernel *kernel, Buf *out)
{
    Printer printer = printer_new(kernel, out);
    print_kernel(&printer, kernel);
    arena_free(printer.arena);
}

void op_print(const Op *op, Buf *out)
{
    Printer printer = printer_new(op->parent != NULL ? op->parent->kernel : NULL, out);
    printer.aliases = (Map){0}; /* a line by itself says all */
    print_head(&printer, op);
    arena_free(printer.arena);
}
