/* items.c: subscripts of host arrays. */
#include "command/array/arrays.h"

#include <stdlib.h>
#include <string.h>

static HostStatus fail(ArrayContext *context, DiagCode code)
{
    diag_report(context->session->diags, code, context->at);
    return HOST_FAILED;
}

/* An array of one integer and no dimensions is that integer. False: it is no index. */
static bool take_index(ArrayContext *context, const HostValue *value, HostValue *out)
{
    *out = *value;
    if (out->kind == HOST_ARRAY) {
        const Array *array = out->array;
        if (array->rank != 0 || !dtype_is_integer(array->dtype) || context->shapes_only ||
            array_number(context, array, out) != HOST_OK)
            return false;
    }
    return out->kind == HOST_INT;
}

/* The slice's bounds and step as integers, or None. */
static bool take_slice(ArrayContext *context, const HostValue *slice, HostValue *parts)
{
    for (int i = 0; i < 3; i++) {
        parts[i] = slice->items[i];
        if (parts[i].kind == HOST_BOOL) parts[i].kind = HOST_INT;
        if (parts[i].kind != HOST_NONE && !take_index(context, &parts[i], &parts[i])) return false;
    }
    return true;
}

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

/* Python's rule for slices of a sequence of `extent` items, by start, stop and step. */
static bool apply_slice(const HostValue *parts, int64_t extent, int64_t *start, int64_t *step,
                        int64_t *count)
{
    int64_t stop;
    *step = 1;
    if (slice_bound(&parts[2], step) && *step == 0) return false;
    int64_t low = *step < 0 ? -1 : 0, high = *step < 0 ? extent - 1 : extent;
    if (!slice_bound(&parts[0], start))
        *start = *step < 0 ? high : low;
    else
        *start = clamp(*start < 0 ? *start + extent : *start, low, high);
    if (!slice_bound(&parts[1], &stop))
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
    if (selection->view->rank == ARRAY_RANK) return fail(context, DIAG_array_dimensions);
    if (index->kind == HOST_NONE) {
        selection->view->shape[selection->view->rank] = 1;
        selection->view->strides[selection->view->rank++] = 0;
        return HOST_OK;
    }
    if (selection->dim == from->rank) return fail(context, DIAG_more_subscripts);
    int64_t extent = from->shape[selection->dim], stride = from->strides[selection->dim], start,
            step, count;
    HostValue one, parts[3];
    if (take_index(context, index, &one)) {
        int64_t at = one.integer < 0 ? one.integer + extent : one.integer;
        if (at < 0 || at >= extent) return fail(context, DIAG_outside_array);
        selection->view->offset += at * stride;
        selection->dim++;
        return HOST_OK;
    }
    if (index->kind != HOST_SLICE || !take_slice(context, index, parts) ||
        !apply_slice(parts, extent, &start, &step, &count))
        return fail(context, DIAG_array_subscript);
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
        total += items[i].kind != HOST_NONE && items[i].kind != HOST_ELLIPSIS;
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

/* A number, of an array of no dimensions; an array of torch stays one. */
HostStatus array_number(ArrayContext *context, const Array *array, HostValue *result)
{
    Elements elements;
    if (!array_read(context, array, &elements)) return HOST_FAILED;
    const int64_t integer = elements.items[0].i;
    const HostKind kind = array->dtype == DTYPE_b1                   ? HOST_BOOL
                          : array->dtype == DTYPE_u64 && integer < 0 ? HOST_UNSIGNED
                                                                     : HOST_INT;
    if (dtype_is_float(array->dtype))
        *result = (HostValue){.kind = HOST_FLOAT, .number = elements.items[0].f};
    else
        *result = (HostValue){.kind = kind, .integer = integer};
    free(elements.items);
    return HOST_OK;
}

HostStatus array_get_item(ArrayContext *context, const HostValue *array, const HostValue *index,
                          HostValue *result)
{
    Array *view = select_view(context, array->array, index);
    if (!view) return HOST_FAILED;
    if (view->rank == 0 && view->family != FAMILY_TORCH) return array_number(context, view, result);
    *result = (HostValue){.kind = HOST_ARRAY, .array = view};
    return HOST_OK;
}

HostStatus array_set_item(ArrayContext *context, const HostValue *array, const HostValue *index,
                          const HostValue *value)
{
    Array *view = select_view(context, array->array, index);
    if (!view) return HOST_FAILED;
    return array_assign(context, view, value) ? HOST_OK : HOST_FAILED;
}
