/* order.c: elements by their order along an axis, and by their places. */
#include "command/array/lines.h"

#include <math.h>
#include <stdlib.h>

typedef struct Item {
    Element element;
    int64_t position;
} Item;

static int by_position(const Item *a, const Item *b)
{
    return (a->position > b->position) - (a->position < b->position);
}

/* A NaN is the greatest, as in numpy and torch; equal ones stay in their order. */
static int compare_floats(const void *first, const void *second)
{
    const Item *a = first, *b = second;
    const double x = a->element.f, y = b->element.f;
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? by_position(a, b) : isnan(x) ? 1 : -1;
    return x < y ? -1 : x > y ? 1 : by_position(a, b);
}
static int compare_integers(const void *first, const void *second)
{
    const Item *a = first, *b = second;
    const int64_t x = a->element.i, y = b->element.i;
    return x < y ? -1 : x > y ? 1 : by_position(a, b);
}
static int compare_unsigned(const void *first, const void *second)
{
    const Item *a = first, *b = second;
    const uint64_t x = (uint64_t)a->element.i, y = (uint64_t)b->element.i;
    return x < y ? -1 : x > y ? 1 : by_position(a, b);
}

typedef int Compare(const void *first, const void *second);

static Compare *comparison(DType dtype)
{
    if (dtype_is_float(dtype)) return compare_floats;
    return dtype == DTYPE_u64 ? compare_unsigned : compare_integers;
}

/* Descending: places count down, so that equal ones come out in their order when the line is
 * turned around. */
static void order_line(const Element *from, Element *to, Lines lines, Compare *compare,
                       bool descending, Item *items)
{
    const int64_t last = lines.count - 1;
    for (int64_t i = 0; i < lines.count; i++)
        items[i] = (Item){from[i * lines.after], descending ? last - i : i};
    qsort(items, (size_t)lines.count, sizeof *items, compare);
    for (int64_t i = 0; i < lines.count; i++)
        to[i * lines.after].i = descending ? last - items[last - i].position : items[i].position;
}

Array *array_argsort(ArrayContext *context, const Array *array, int axis, bool descending)
{
    Array *out = array_new(context, DTYPE_i64, array->rank, array->shape);
    Elements from;
    if (!out) return NULL;
    array_take_after(out, 1, &array);
    if (!out->storage) return out;
    if (!array_read(context, array, &from)) return NULL;
    const Lines lines = lines_of(array, axis);
    Elements to = {bytes_new(from.count + 1, sizeof(Element)), from.count};
    Item *items = bytes_new(lines.count + 1, sizeof *items);
    for (int64_t line = 0; line < lines.before * lines.after && lines.count > 0; line++) {
        const int64_t start = line_start(lines, line, lines.count);
        order_line(from.items + start, to.items + start, lines, comparison(array->dtype),
                   descending, items);
    }
    const bool fine = array_write(context, out, &to);
    free(from.items);
    free(to.items);
    free(items);
    return fine ? out : NULL;
}

/* False: a place is none of the axis. Those below 0 count from its end. */
static bool gather_line(const Element *from, Lines source, const Element *positions, Element *to,
                        Lines lines)
{
    for (int64_t i = 0; i < lines.count; i++) {
        int64_t position = positions[i * lines.after].i;
        if (position < 0) position += source.count;
        if (position < 0 || position >= source.count) return false;
        to[i * lines.after] = from[position * source.after];
    }
    return true;
}

static bool gather(const Elements *from, Lines source, const Elements *positions, Lines lines,
                   Elements *to)
{
    for (int64_t line = 0; line < lines.before * lines.after; line++) {
        const int64_t start = line_start(lines, line, lines.count);
        if (!gather_line(from->items + line_start(source, line, source.count), source,
                         positions->items + start, to->items + start, lines))
            return false;
    }
    return true;
}

Array *array_gather(ArrayContext *context, const Array *array, const Array *positions, int axis)
{
    Array *out = array_new(context, array->dtype, positions->rank, positions->shape);
    Elements from, indices;
    if (!out) return NULL;
    array_take_after(out, 1, &array);
    if (!out->storage) return out;
    if (!array_read(context, array, &from)) return NULL;
    bool fine = array_read(context, positions, &indices);
    if (fine) {
        Elements to = {bytes_new(indices.count + 1, sizeof(Element)), indices.count};
        const bool inside =
            gather(&from, lines_of(array, axis), &indices, lines_of(positions, axis), &to);
        if (!inside) diag_report(context->session->diags, DIAG_outside_array, context->at);
        fine = inside && array_write(context, out, &to);
        free(to.items);
        free(indices.items);
    }
    free(from.items);
    return fine ? out : NULL;
}
