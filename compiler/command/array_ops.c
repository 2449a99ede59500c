/* array_ops.c: operators and subscripts of host arrays. */
#include "command/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static HostStatus fail(ArrayContext *context, const char *text)
{
    diag_report(context->session->diags, DIAG_bad_array, context->at, text);
    return HOST_FAILED;
}

static HostStatus give(HostValue *result, Array *array)
{
    if (!array) return HOST_FAILED;
    *result = (HostValue){.kind = HOST_ARRAY, .array = array};
    return HOST_OK;
}

/* ---- element types ---- */

static int dtype_rank(DType dtype) /* a float beats an integer, more bits beat fewer */
{
    return (dtype_is_float(dtype) ? 1000 : 0) + dtype_bits(dtype) * 2 +
           (dtype_is_signed(dtype) ? 0 : 1);
}

static DType dtype_promote(DType a, DType b)
{
    if (a != b && dtype_bits(a) == 16 && dtype_bits(b) == 16 && dtype_is_float(a) &&
        dtype_is_float(b))
        return DTYPE_f32;
    return dtype_rank(a) >= dtype_rank(b) ? a : b;
}

/* A Python number takes the array's type; a float beside an array of integers makes f32. */
static DType scalar_dtype(const HostValue *scalar, DType array)
{
    if (scalar->kind == HOST_FLOAT && !dtype_is_float(array)) return DTYPE_f32;
    return array == DTYPE_b1 && scalar->kind == HOST_INT ? DTYPE_i32 : array;
}

static bool is_number(const HostValue *value)
{
    return value->kind == HOST_INT || value->kind == HOST_FLOAT || value->kind == HOST_BOOL;
}

/* ---- operators ---- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    int64_t quotient = a / b;
    return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

static bool binary_floats(const char *op, double a, double b, double *out)
{
    switch (op[0]) {
    case '+': *out = a + b; return true;
    case '-': *out = a - b; return true;
    case '*': *out = op[1] ? pow(a, b) : a * b; return true;
    case '/': *out = op[1] ? floor(a / b) : a / b; return true;
    case '%': *out = a - floor(a / b) * b; return true;
    default: return false;
    }
}

static bool binary_integers(const char *op, int64_t a, int64_t b, int64_t *out)
{
    bool divides = op[0] == '/' || op[0] == '%';
    if (divides && b == 0) {
        *out = 0; /* as NumPy */
        return true;
    }
    switch (op[0]) {
    case '+': *out = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case '-': *out = (int64_t)((uint64_t)a - (uint64_t)b); return true;
    case '*': *out = (int64_t)((uint64_t)a * (uint64_t)b); return op[1] == '\0';
    case '/': *out = floor_divide(a, b); return true;
    case '%':
        *out = (int64_t)((uint64_t)a - (uint64_t)floor_divide(a, b) * (uint64_t)b);
        return true;
    case '&': *out = a & b; return true;
    case '|': *out = a | b; return true;
    case '^': *out = a ^ b; return true;
    case '<': *out = b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b); return true;
    case '>': *out = b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b; return true;
    default: return false;
    }
}

static const char *const comparisons[] = {"==", "!=", "<", "<=", ">", ">="};

static int comparison_index(const char *op)
{
    for (int i = 0; i < 6; i++)
        if (strcmp(comparisons[i], op) == 0) return i;
    return -1;
}

static bool compare(int index, double a, double b)
{
    const bool results[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    return results[index];
}

static Element convert(DType from, DType to, Element element)
{
    if (dtype_is_float(to)) return (Element){.f = element_number(from, element)};
    if (!dtype_is_float(from)) return element;
    return (Element){.i = isnan(element.f) || fabs(element.f) >= 9.2e18 ? 0 : (int64_t)element.f};
}

typedef struct Operand {
    DType dtype;
    const Array *array; /* NULL: a number */
    Element number;
    Elements elements;
} Operand;

static Operand operand_of(const HostValue *value, DType other)
{
    if (value->kind == HOST_ARRAY) {
        const Array *array = value->array;
        return (Operand){.dtype = array->dtype, .array = array};
    }
    Operand operand = {.dtype = scalar_dtype(value, other)};
    double number = value->kind == HOST_FLOAT ? value->number : (double)value->integer;
    operand.number =
        dtype_is_float(operand.dtype) ? (Element){.f = number} : (Element){.i = value->integer};
    return operand;
}

static bool read_operand(ArrayContext *context, Operand *operand, int rank, const int64_t *shape)
{
    return !operand->array ||
           array_read(context, array_broadcast(context, operand->array, rank, shape),
                      &operand->elements);
}

static Element operand_at(const Operand *operand, int64_t index)
{
    return operand->array ? operand->elements.items[index] : operand->number;
}

static bool compute(const char *op, DType dtype, const Operand *a, const Operand *b, int64_t index,
                    Element *out)
{
    Element x = convert(a->dtype, dtype, operand_at(a, index)),
            y = convert(b->dtype, dtype, operand_at(b, index));
    int comparison = comparison_index(op);
    if (comparison >= 0) {
        *out =
            (Element){.i = compare(comparison, element_number(dtype, x), element_number(dtype, y))};
        return true;
    }
    return dtype_is_float(dtype) ? binary_floats(op, x.f, y.f, &out->f)
                                 : binary_integers(op, x.i, y.i, &out->i);
}

static bool compute_all(const char *op, DType dtype, Operand *a, Operand *b, Elements *out)
{
    for (int64_t i = 0; i < out->count; i++)
        if (!compute(op, dtype, a, b, i, &out->items[i])) return false;
    return true;
}

HostStatus array_binary(ArrayContext *context, const char *op, const HostValue *left,
                        const HostValue *right, HostValue *result)
{
    bool fine = (left->kind == HOST_ARRAY || is_number(left)) &&
                (right->kind == HOST_ARRAY || is_number(right));
    if (!fine) return HOST_UNKNOWN;
    const Array *some = left->kind == HOST_ARRAY ? left->array : right->array;
    Operand a = operand_of(left, some->dtype), b = operand_of(right, some->dtype);
    int rank;
    int64_t shape[ARRAY_RANK];
    if (!shape_broadcast(context, a.array ? a.array->rank : 0, a.array ? a.array->shape : NULL,
                         b.array ? b.array->rank : 0, b.array ? b.array->shape : NULL, &rank,
                         shape))
        return HOST_FAILED;
    DType dtype = dtype_promote(a.dtype, b.dtype);
    if (strcmp(op, "/") == 0 && !dtype_is_float(dtype)) dtype = DTYPE_f32;
    Array *out = array_new(context, comparison_index(op) >= 0 ? DTYPE_b1 : dtype, rank, shape);
    if (!out) return HOST_FAILED;
    Elements elements = {malloc(sizeof(Element) * (size_t)(array_count(out) + 1)),
                         array_count(out)};
    CHECK(elements.items != NULL);
    HostStatus status = HOST_FAILED;
    if (read_operand(context, &a, rank, shape) && read_operand(context, &b, rank, shape)) {
        if (!compute_all(op, dtype, &a, &b, &elements))
            status = fail(context, "arrays of this type have no such operator");
        else if (array_write(context, out, &elements))
            status = give(result, out);
    }
    free(elements.items);
    free(a.elements.items);
    free(b.elements.items);
    return status;
}

HostStatus array_unary(ArrayContext *context, const char *op, const HostValue *operand,
                       HostValue *result)
{
    const Array *array = operand->array;
    if (op[0] == '~' && dtype_is_float(array->dtype)) return HOST_UNKNOWN;
    Elements elements;
    if (!array_read(context, array, &elements)) return HOST_FAILED;
    for (int64_t i = 0; i < elements.count; i++) {
        Element *element = &elements.items[i];
        if (op[0] == '-' && dtype_is_float(array->dtype))
            element->f = -element->f;
        else if (op[0] == '-')
            element->i = (int64_t)(0 - (uint64_t)element->i);
        else if (op[0] == '~')
            element->i = array->dtype == DTYPE_b1 ? !element->i : ~element->i;
    }
    HostStatus status = give(
        result, array_from_elements(context, array->dtype, array->rank, array->shape, &elements));
    free(elements.items);
    return status;
}

/* ---- subscripts ---- */

static bool slice_bound(const HostValue *value, int64_t *out)
{
    if (value->kind == HOST_NONE) return false;
    *out = value->integer;
    return true;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* Python's rule for slices of a sequence of `extent` items. */
static bool apply_slice(const HostValue *slice, int64_t extent, int64_t *start, int64_t *step,
                        int64_t *count)
{
    int64_t stop;
    *step = 1;
    if (slice_bound(&slice->items[2], step) && *step == 0) return false;
    int64_t low = *step < 0 ? -1 : 0, high = *step < 0 ? extent - 1 : extent;
    if (!slice_bound(&slice->items[0], start))
        *start = *step < 0 ? high : low;
    else
        *start = clamp(*start < 0 ? *start + extent : *start, low, high);
    if (!slice_bound(&slice->items[1], &stop))
        stop = *step < 0 ? low : high;
    else
        stop = clamp(stop < 0 ? stop + extent : stop, low, high);
    int64_t span = *step > 0 ? stop - *start : *start - stop, size = *step > 0 ? *step : -*step;
    *count = span > 0 ? (span + size - 1) / size : 0;
    return true;
}

typedef struct Selection { /* the view under construction */
    const Array *from;
    Array *view;
    int dim; /* next of from */
} Selection;

static void keep_dimension(Selection *selection)
{
    selection->view->shape[selection->view->rank] = selection->from->shape[selection->dim];
    selection->view->strides[selection->view->rank++] = selection->from->strides[selection->dim++];
}

static HostStatus select_one(ArrayContext *context, Selection *selection, const HostValue *index,
                             int after)
{
    const Array *from = selection->from;
    if (index->kind == HOST_ELLIPSIS) {
        while (selection->dim < from->rank - after && selection->view->rank < ARRAY_RANK)
            keep_dimension(selection);
        return HOST_OK;
    }
    if (selection->view->rank == ARRAY_RANK) return fail(context, "too many dimensions");
    if (index->kind == HOST_NONE) {
        selection->view->shape[selection->view->rank] = 1;
        selection->view->strides[selection->view->rank++] = 0;
        return HOST_OK;
    }
    if (selection->dim == from->rank)
        return fail(context, "more subscripts than the array has dimensions");
    int64_t extent = from->shape[selection->dim], stride = from->strides[selection->dim], start,
            step, count;
    if (index->kind == HOST_INT) {
        int64_t at = index->integer < 0 ? index->integer + extent : index->integer;
        if (at < 0 || at >= extent) return fail(context, "the subscript is outside the array");
        selection->view->offset += at * stride;
        selection->dim++;
        return HOST_OK;
    }
    if (index->kind != HOST_SLICE || !apply_slice(index, extent, &start, &step, &count))
        return fail(context, "an array is subscripted by integers, slices, '...' and None");
    selection->view->offset += count ? start * stride : 0;
    selection->view->shape[selection->view->rank] = count;
    selection->view->strides[selection->view->rank++] = stride * step;
    selection->dim++;
    return HOST_OK;
}

static int consumed(const HostValue *items, int count) /* dimensions that these subscripts take */
{
    int total = 0;
    for (int i = 0; i < count; i++)
        total += items[i].kind == HOST_INT || items[i].kind == HOST_SLICE;
    return total;
}

static Array *select_view(ArrayContext *context, const Array *array, const HostValue *index)
{
    const HostValue *items = index->kind == HOST_TUPLE ? index->items : index;
    int count = index->kind == HOST_TUPLE ? index->count : 1;
    Selection selection = {.from = array, .view = array_view(context, array)};
    selection.view->rank = 0;
    for (int i = 0; i < count; i++)
        if (select_one(context, &selection, &items[i], consumed(items + i + 1, count - i - 1)) !=
            HOST_OK)
            return NULL;
    while (selection.dim < array->rank && selection.view->rank < ARRAY_RANK)
        keep_dimension(&selection);
    return selection.view;
}

HostStatus array_get_item(ArrayContext *context, const HostValue *array, const HostValue *index,
                          HostValue *result)
{
    Array *view = select_view(context, array->array, index);
    if (!view || view->rank > 0) return give(result, view);
    Elements elements;
    if (!array_read(context, view, &elements)) return HOST_FAILED;
    if (dtype_is_float(view->dtype))
        *result = (HostValue){.kind = HOST_FLOAT, .number = elements.items[0].f};
    else
        *result = (HostValue){.kind = view->dtype == DTYPE_b1 ? HOST_BOOL : HOST_INT,
                              .integer = elements.items[0].i};
    free(elements.items);
    return HOST_OK;
}

HostStatus array_set_item(ArrayContext *context, const HostValue *array, const HostValue *index,
                          const HostValue *value)
{
    Array *view = select_view(context, array->array, index);
    if (!view) return HOST_FAILED;
    if (value->kind != HOST_ARRAY && !is_number(value))
        return fail(context, "only numbers and arrays can be put into an array");
    Operand source = operand_of(value, view->dtype);
    int rank;
    int64_t shape[ARRAY_RANK];
    if (source.array) {
        if (!shape_broadcast(context, view->rank, view->shape, source.array->rank,
                             source.array->shape, &rank, shape))
            return HOST_FAILED;
        if (rank != view->rank || memcmp(shape, view->shape, sizeof *shape * (size_t)rank) != 0)
            return fail(context, "the value is larger than the place");
    }
    if (!read_operand(context, &source, view->rank, view->shape)) return HOST_FAILED;
    Elements elements = {malloc(sizeof(Element) * (size_t)(array_count(view) + 1)),
                         array_count(view)};
    CHECK(elements.items != NULL);
    for (int64_t i = 0; i < elements.count; i++)
        elements.items[i] = convert(source.dtype, view->dtype, operand_at(&source, i));
    bool fine = array_write(context, view, &elements);
    free(elements.items);
    free(source.elements.items);
    return fine ? HOST_OK : HOST_FAILED;
}

/* ---- text ---- */

enum { REPR_EDGE = 3, REPR_WHOLE = 6 }; /* long dimensions show their ends */

typedef struct Repr {
    const Array *array;
    const Elements *elements;
    Buf *out;
} Repr;

static void repr_element(const Repr *repr, int64_t index)
{
    Element element = repr->elements->items[index];
    if (dtype_is_float(repr->array->dtype))
        buf_printf(repr->out, "%.6g", element.f);
    else if (repr->array->dtype == DTYPE_b1)
        buf_text(repr->out, element.i ? "True" : "False");
    else if (repr->array->dtype == DTYPE_u64)
        buf_printf(repr->out, "%llu", (unsigned long long)element.i);
    else
        buf_printf(repr->out, "%lld", (long long)element.i);
}

static void repr_dimension(const Repr *repr, int dim, int64_t at)
{
    if (dim == repr->array->rank) {
        repr_element(repr, at);
        return;
    }
    int64_t extent = repr->array->shape[dim], below = 1;
    for (int i = dim + 1; i < repr->array->rank; i++) below *= repr->array->shape[i];
    bool last = dim == repr->array->rank - 1,
         shorten = extent > (last ? 4 * REPR_WHOLE : 2 * REPR_WHOLE);
    buf_char(repr->out, '[');
    for (int64_t i = 0; i < extent; i++) {
        if (i) buf_text(repr->out, last ? ", " : ",\n ");
        if (shorten && i == REPR_EDGE) {
            buf_text(repr->out, last ? "..., " : "...,\n ");
            i = extent - REPR_EDGE;
        }
        repr_dimension(repr, dim + 1, at + i * below);
    }
    buf_char(repr->out, ']');
}

void array_repr(ArrayContext *context, const Array *array, Buf *out)
{
    Elements elements;
    if (!array_read(context, array, &elements)) return;
    const Repr repr = {array, &elements, out};
    repr_dimension(&repr, 0, 0);
    free(elements.items);
}
