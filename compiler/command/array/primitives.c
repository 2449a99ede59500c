/* primitives.c: what the functions of arrays in stdlib/compat are made of. Their arguments are
 * those of the library: axes are from 0 to rank - 1 and shapes fit. */
#include "command/array/arguments.h"

#include <string.h>

static const char *take_name(const Arguments *arguments)
{
    const HostValue *name = argument(arguments, 0, "name");
    if (name && name->kind == HOST_TEXT) return name->text;
    complain(arguments, "name", "a text");
    return NULL;
}

static bool take_axis(const Arguments *arguments, int index, const Array *array, int *axis)
{
    int64_t given;
    if (!take_integer(arguments, index, "axis", INT64_MIN, &given)) return false;
    if (given < 0 || given >= array->rank) return complain(arguments, "axis", "one of the array's");
    *axis = (int)given;
    return true;
}

/* _apply(name, a): a function of elementwise.c */
static HostStatus primitive_apply(const Arguments *arguments, HostValue *result)
{
    const char *name = take_name(arguments);
    const Array *array;
    Array *made = NULL;
    if (!name || !take_array(arguments, 1, "a", &array)) return HOST_FAILED;
    if (!array_apply(arguments->context, name, array, &made)) {
        complain(arguments, "name", "the name of a function");
        return HOST_FAILED;
    }
    return give_array(result, made);
}

/* _combine(name, a, b): an operator of ops.c, of which one has no sign */
static HostStatus primitive_combine(const Arguments *arguments, HostValue *result)
{
    const char *name = take_name(arguments);
    const HostValue *a = argument(arguments, 1, "a"), *b = argument(arguments, 2, "b");
    if (!name) return HOST_FAILED;
    if (a && b && (a->kind == HOST_ARRAY || b->kind == HOST_ARRAY)) {
        const HostStatus status = array_binary(arguments->context, name, a, b, result);
        if (status != HOST_UNKNOWN) return status;
    }
    complain(arguments, "a", "an array, and 'b' an array or a number");
    return HOST_FAILED;
}

/* _select(condition, a, b) */
static HostStatus primitive_select(const Arguments *arguments, HostValue *result)
{
    const Array *condition;
    const HostValue *a = argument(arguments, 1, "a"), *b = argument(arguments, 2, "b");
    if (!take_array(arguments, 0, "condition", &condition)) return HOST_FAILED;
    if (a && b && (a->kind == HOST_ARRAY || value_is_number(a)) &&
        (b->kind == HOST_ARRAY || value_is_number(b)))
        return give_array(result, array_select(arguments->context, condition, a, b));
    complain(arguments, "a", "an array or a number, and so 'b'");
    return HOST_FAILED;
}

static HostStatus give_fold(const Arguments *arguments, const char *name, const Array *array,
                            int axis, HostValue *result)
{
    if (array->shape[axis] == 0 && array_fold_needs_element(name)) {
        complain(arguments, "a", "of one element at least");
        return HOST_FAILED;
    }
    return give_array(result, array_fold(arguments->context, name, array, axis));
}

/* _fold(name, a, axis): a reduction or scan of fold.c */
static HostStatus primitive_fold(const Arguments *arguments, HostValue *result)
{
    const char *name = take_name(arguments);
    const Array *array;
    int axis = 0;
    if (!name || !take_array(arguments, 1, "a", &array) || !take_axis(arguments, 2, array, &axis))
        return HOST_FAILED;
    if (array_fold_exists(name)) return give_fold(arguments, name, array, axis, result);
    complain(arguments, "name", "the name of a reduction or scan");
    return HOST_FAILED;
}

/* _argsort(a, axis, descending) */
static HostStatus primitive_argsort(const Arguments *arguments, HostValue *result)
{
    const Array *array;
    int axis = 0;
    int64_t descending;
    if (!take_array(arguments, 0, "a", &array) || !take_axis(arguments, 1, array, &axis) ||
        !take_integer(arguments, 2, "descending", 0, &descending))
        return HOST_FAILED;
    return give_array(result, array_argsort(arguments->context, array, axis, descending != 0));
}

static bool differ_along_one(const Array *a, const Array *b, int axis)
{
    bool fine = a->rank == b->rank;
    for (int d = 0; fine && d < a->rank; d++) fine = d == axis || a->shape[d] == b->shape[d];
    return fine;
}

/* _gather(a, indices, axis): of the shape of the indices, which differs along the axis alone */
static HostStatus primitive_gather(const Arguments *arguments, HostValue *result)
{
    const Array *array, *indices;
    int axis = 0;
    if (!take_array(arguments, 0, "a", &array) || !take_array(arguments, 1, "indices", &indices) ||
        !take_axis(arguments, 2, array, &axis))
        return HOST_FAILED;
    if (differ_along_one(array, indices, axis) && !dtype_is_float(indices->dtype))
        return give_array(result, array_gather(arguments->context, array, indices, axis));
    complain(arguments, "indices", "integers, of the array's shape but along the axis");
    return HOST_FAILED;
}

/* _permute(a, axes) */
static HostStatus primitive_permute(const Arguments *arguments, HostValue *result)
{
    const Array *array;
    int rank;
    int64_t axes[ARRAY_RANK];
    unsigned seen = 0;
    if (!take_array(arguments, 0, "a", &array) || !take_shape(arguments, 1, &rank, axes))
        return HOST_FAILED;
    Array *view = array_view(arguments->context, array);
    for (int d = 0; d < rank && rank == array->rank; d++) {
        if (axes[d] < 0 || axes[d] >= rank) break;
        seen |= 1u << axes[d];
        view->shape[d] = array->shape[axes[d]];
        view->strides[d] = array->strides[axes[d]];
    }
    if (rank == array->rank && seen == (1u << rank) - 1) return give_array(result, view);
    complain(arguments, "axes", "each axis of the array once");
    return HOST_FAILED;
}

/* _expand(a, shape): a view */
static HostStatus primitive_expand(const Arguments *arguments, HostValue *result)
{
    const Array *array;
    int rank, wide;
    int64_t shape[ARRAY_RANK], both[ARRAY_RANK];
    if (!take_array(arguments, 0, "a", &array) || !take_shape(arguments, 1, &rank, shape) ||
        !shape_broadcast(arguments->context, array->rank, array->shape, rank, shape, &wide, both))
        return HOST_FAILED;
    if (wide == rank && memcmp(shape, both, sizeof *shape * (size_t)rank) == 0)
        return give_array(result, array_broadcast(arguments->context, array, rank, shape));
    complain(arguments, "shape", "one that the array can be stretched to");
    return HOST_FAILED;
}

/* ---- reference(name, a, axis=-1): in float64; without an axis the array is one line ---- */

static Array *as_line(ArrayContext *context, const Array *packed)
{
    Array *view = array_view(context, packed);
    view->rank = 1;
    view->shape[0] = array_count(packed);
    view->strides[0] = 1;
    return view;
}

static HostStatus reference_fold(const Arguments *arguments, const char *name, Array *array,
                                 int64_t axis, HostValue *result)
{
    ArrayContext *context = arguments->context;
    Array *line = axis < 0 ? as_line(context, array) : array;
    const HostStatus status = give_fold(arguments, name, line, axis < 0 ? 0 : (int)axis, result);
    if (status != HOST_OK) return status;
    Array *made = array_cast(context, result->array, DTYPE_f64);
    if (made && made->rank == 0) made = as_line(context, made);
    return give_array(result, made);
}

static HostStatus function_reference(const Arguments *arguments, HostValue *result)
{
    const char *name = take_name(arguments);
    const Array *a;
    int64_t axis;
    if (!name || !take_array(arguments, 1, "a", &a) ||
        !take_integer(arguments, 2, "axis", -1, &axis))
        return HOST_FAILED;
    Array *exact = array_cast(arguments->context, a, DTYPE_f64), *made = NULL;
    if (!exact) return HOST_FAILED;
    exact->family = FAMILY_TILE;
    if (axis >= -1 && axis < a->rank && array_fold_exists(name))
        return reference_fold(arguments, name, exact, axis, result);
    if (axis == -1 && array_apply(arguments->context, name, exact, &made))
        return give_array(result, made ? array_cast(arguments->context, made, DTYPE_f64) : NULL);
    complain(arguments, "name", "the name of a reduction, scan or function, with an axis of 'a'");
    return HOST_FAILED;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    ArrayFunction *run;
} primitives[] = {
    {"_apply", primitive_apply},       {"_combine", primitive_combine},
    {"_select", primitive_select},     {"_fold", primitive_fold},
    {"_argsort", primitive_argsort},   {"_gather", primitive_gather},
    {"_permute", primitive_permute},   {"_expand", primitive_expand},
    {"reference", function_reference},
};

enum { PRIMITIVE_TOTAL = sizeof primitives / sizeof primitives[0] };

const char *array_primitive_name(size_t index)
{
    return index < PRIMITIVE_TOTAL ? primitives[index].name : NULL;
}

ArrayFunction *array_primitive(const char *name)
{
    for (int i = 0; i < PRIMITIVE_TOTAL; i++)
        if (strcmp(primitives[i].name, name) == 0) return primitives[i].run;
    return NULL;
}
