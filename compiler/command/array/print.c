/* print.c: arrays as text: torch's own form for its arrays, and a plain one.
 *
 * Torch's rules (its _tensor_str.py): four digits behind the point; one width for all elements;
 * exponents where magnitudes are far apart; lines of 80 columns; of more than 1000 elements the
 * three at each end of a dimension; a type other than the default is named. */
#include "command/array/arrays.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EDGE = 3, LINE_WIDTH = 80, SUMMARY_ABOVE = 1000, TEXT_SIZE = 400 };

typedef enum NumberForm {
    FORM_INTEGER,  /* of an integer type */
    FORM_WHOLE,    /* floats that all are whole numbers: "12." */
    FORM_FIXED,    /* "12.3400" */
    FORM_EXPONENT, /* "1.2340e+01" */
} NumberForm;

typedef struct Printer {
    const Array *array;
    const Element *elements;
    Buf *out;
    NumberForm form;
    int width;
    bool summarise;
} Printer;

/* ---- one element ---- */

static void print_float(NumberForm form, double number, char *text)
{
    if (isnan(number))
        snprintf(text, TEXT_SIZE, "nan");
    else if (isinf(number))
        snprintf(text, TEXT_SIZE, number < 0 ? "-inf" : "inf");
    else if (form == FORM_WHOLE)
        snprintf(text, TEXT_SIZE, "%.0f.", number);
    else
        snprintf(text, TEXT_SIZE, form == FORM_FIXED ? "%.4f" : "%.4e", number);
}

static void print_element(const Printer *printer, Element element, char *text)
{
    if (printer->form == FORM_INTEGER)
        element_text(printer->array->dtype, element, text);
    else
        print_float(printer->form, element.f, text);
}

/* ---- which elements are shown ---- */

/* The next index along a dimension of that extent: the middle is left out of a summary. */
static int64_t next_shown(const Printer *printer, int64_t extent, int64_t index)
{
    bool skip = printer->summarise && extent > 2 * EDGE && index + 1 == EDGE;
    return skip ? extent - EDGE : index + 1;
}

typedef void ElementVisitor(Printer *printer, Element element, void *state);

static void visit_shown(Printer *printer, int dim, int64_t at, ElementVisitor *visit, void *state)
{
    const Array *array = printer->array;
    if (dim == array->rank) {
        visit(printer, printer->elements[at], state);
        return;
    }
    for (int64_t i = 0; i < array->shape[dim]; i = next_shown(printer, array->shape[dim], i))
        visit_shown(printer, dim + 1, at * array->shape[dim] + i, visit, state);
}

/* ---- torch: the form and width that all elements share ---- */

typedef struct Range {
    double least, most; /* of the magnitudes of finite numbers that are not zero */
    bool any, whole;
} Range;

static void note_range(Printer *printer, Element element, void *state)
{
    Range *range = state;
    double magnitude = fabs(element.f);
    (void)printer;
    if (!isfinite(element.f) || element.f == 0) return;
    range->least = range->any ? fmin(range->least, magnitude) : magnitude;
    range->most = range->any ? fmax(range->most, magnitude) : magnitude;
    range->whole &= element.f == ceil(element.f);
    range->any = true;
}

static void note_width(Printer *printer, Element element, void *state)
{
    char text[TEXT_SIZE];
    (void)state;
    if (printer->form != FORM_INTEGER && (!isfinite(element.f) || element.f == 0)) return;
    print_element(printer, element, text);
    int width = (int)strlen(text);
    if (width > printer->width) printer->width = width;
}

static void choose_form(Printer *printer)
{
    Range range = {.whole = true};
    printer->width = 1;
    if (dtype_is_float(printer->array->dtype)) {
        visit_shown(printer, 0, 0, note_range, &range);
        bool wide = range.any && (range.most / range.least > 1000 || range.most > 1e8);
        printer->form = range.whole ? FORM_WHOLE : FORM_FIXED;
        if (wide || (!range.whole && range.least < 1e-4)) printer->form = FORM_EXPONENT;
    }
    visit_shown(printer, 0, 0, note_width, NULL);
}

/* ---- torch: brackets and lines ---- */

static void break_line(Buf *out, int lines, int indent)
{
    buf_char(out, ',');
    for (int i = 0; i < lines; i++) buf_char(out, '\n');
    for (int i = 0; i < indent; i++) buf_char(out, ' ');
}

static void print_vector(const Printer *printer, int64_t at, int indent)
{
    int64_t extent = printer->array->rank ? printer->array->shape[printer->array->rank - 1] : 1;
    int per_line = (LINE_WIDTH - indent) / (printer->width + 2), column = 0;
    buf_char(printer->out, '[');
    for (int64_t i = 0, next; i < extent; i = next) {
        char text[TEXT_SIZE];
        if (column == (per_line > 1 ? per_line : 1)) {
            break_line(printer->out, 1, indent + 1);
            column = 0;
        } else if (column > 0) {
            buf_text(printer->out, ", ");
        }
        print_element(printer, printer->elements[at + i], text);
        buf_printf(printer->out, "%*s", printer->width, text);
        column++;
        next = next_shown(printer, extent, i);
        if (next == i + 1) continue;
        if (column == (per_line > 1 ? per_line : 1)) {
            break_line(printer->out, 1, indent + 1);
            column = 0;
        } else {
            buf_text(printer->out, ", ");
        }
        buf_text(printer->out, " ...");
        column++;
    }
    buf_char(printer->out, ']');
}

static void print_dimension(const Printer *printer, int dim, int64_t at, int indent)
{
    const Array *array = printer->array;
    int below = array->rank - dim;
    if (below == 1) {
        print_vector(printer, at * array->shape[dim], indent);
        return;
    }
    buf_char(printer->out, '[');
    for (int64_t i = 0, next; i < array->shape[dim]; i = next) {
        if (i > 0) break_line(printer->out, below - 1, indent + 1);
        print_dimension(printer, dim + 1, at * array->shape[dim] + i, indent + 1);
        next = next_shown(printer, array->shape[dim], i);
        if (next == i + 1) continue;
        break_line(printer->out, below - 1, indent + 1);
        buf_text(printer->out, "...");
    }
    buf_char(printer->out, ']');
}

static void print_body(const Printer *printer, int indent)
{
    char text[TEXT_SIZE];
    if (array_count(printer->array) == 0) {
        buf_text(printer->out, "[]");
    } else if (printer->array->rank == 0) {
        print_element(printer, printer->elements[0], text);
        buf_printf(printer->out, "%*s", printer->width, text);
    } else {
        print_dimension(printer, 0, 0, indent);
    }
}

/* torch's name, where it is not the language's. */
static const char *torch_name(DType dtype)
{
    switch (dtype) {
    case DTYPE_b1: return "bool";
    case DTYPE_tf32: return dtype_name(dtype);
    case DTYPE_f8e4m3: return "float8_e4m3fn";
    case DTYPE_f8e8m0: return "float8_e8m0fnu";
    case DTYPE_f4e2m1: return "float4_e2m1fn";
    default: return dtype_user_name(dtype);
    }
}

static void print_suffix(Buf *out, size_t start, const char *text, int indent)
{
    size_t line = out->length;
    while (line > start && out->data[line - 1] != '\n') line--;
    bool fits = out->length - line + strlen(text) + 4 <= LINE_WIDTH; /* torch counts 2 more */
    if (fits)
        buf_text(out, ", ");
    else
        break_line(out, 1, indent);
    buf_text(out, text);
}

static void print_torch(Printer *printer)
{
    static const char prefix[] = "tensor(";
    const Array *array = printer->array;
    size_t start = printer->out->length;
    int64_t count = array_count(array);
    bool is_default = array->dtype == DTYPE_f32 ||
                      (count > 0 && (array->dtype == DTYPE_i64 || array->dtype == DTYPE_b1));
    char text[TEXT_SIZE];
    printer->summarise = count > SUMMARY_ABOVE;
    choose_form(printer);
    buf_text(printer->out, prefix);
    print_body(printer, (int)strlen(prefix));
    if (count == 0 && array->rank != 1) {
        Buf shape = {0};
        for (int i = 0; i < array->rank; i++)
            buf_printf(&shape, "%s%lld", i ? ", " : "", (long long)array->shape[i]);
        snprintf(text, sizeof text, "size=(%s)", shape.data);
        print_suffix(printer->out, start, text, (int)strlen(prefix));
        buf_free(&shape);
    }
    snprintf(text, sizeof text, "dtype=torch.%s", torch_name(array->dtype));
    if (!is_default) print_suffix(printer->out, start, text, (int)strlen(prefix));
    buf_char(printer->out, ')');
}

/* ---- plain ---- */

enum { PLAIN_ROW = 24, PLAIN_ROWS = 12 }; /* longer dimensions show their ends */

static void print_plain(const Printer *printer, int dim, int64_t at)
{
    const Array *array = printer->array;
    char text[TEXT_SIZE];
    if (dim == array->rank) {
        Element element = printer->elements[at];
        if (dtype_is_float(array->dtype))
            snprintf(text, sizeof text, "%.6g", element.f);
        else
            element_text(array->dtype, element, text);
        buf_text(printer->out, text);
        return;
    }
    bool last = dim == array->rank - 1;
    int64_t extent = array->shape[dim];
    bool shorten = extent > (last ? PLAIN_ROW : PLAIN_ROWS);
    buf_char(printer->out, '[');
    for (int64_t i = 0; i < extent; i++) {
        if (i) buf_text(printer->out, last ? ", " : ",\n ");
        if (shorten && i == EDGE) {
            buf_text(printer->out, last ? "..., " : "...,\n ");
            i = extent - EDGE;
        }
        print_plain(printer, dim + 1, at * extent + i);
    }
    buf_char(printer->out, ']');
}

void array_repr(ArrayContext *context, const Array *array, Buf *out)
{
    Elements elements;
    if (!array_read(context, array, &elements)) return;
    Printer printer = {.array = array, .elements = elements.items, .out = out};
    if (array->family == FAMILY_TORCH)
        print_torch(&printer);
    else
        print_plain(&printer, 0, 0);
    free(elements.items);
}
