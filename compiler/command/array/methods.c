/* methods.c: the methods of arrays, named as torch names them. */
#include "command/array/arguments.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const Array *self_of(const Arguments *arguments)
{
    return arguments->call->arguments[0].array; /* the evaluator puts it there */
}

static HostStatus method_same(const Arguments *arguments, HostValue *result)
{
    *result = arguments->call->arguments[0];
    return HOST_OK;
}

/* The array itself if it is there, else a copy. */
static Array *moved(ArrayContext *context, const Array *array, bool to_host)
{
    const bool is_there = array->on_host == to_host;
    Array *out = is_there ? array_view(context, array) : array_cast(context, array, array->dtype);
    if (out) out->on_host = to_host;
    return out;
}

static HostStatus move_to(const Arguments *arguments, bool to_host, HostValue *result)
{
    if (self_of(arguments)->on_host == to_host) return method_same(arguments, result);
    return give_array(result, moved(arguments->context, self_of(arguments), to_host));
}

static HostStatus method_cuda(const Arguments *arguments, HostValue *result)
{
    return move_to(arguments, false, result);
}

static HostStatus method_cpu(const Arguments *arguments, HostValue *result)
{
    return move_to(arguments, true, result);
}

static HostStatus method_numpy(const Arguments *arguments, HostValue *result)
{
    Array *out = moved(arguments->context, self_of(arguments), true);
    if (out) out->family = FAMILY_NUMPY;
    return give_array(result, out);
}

/* ---- element types ---- */

static HostStatus cast_to(const Arguments *arguments, DType dtype, HostValue *result)
{
    const Array *self = self_of(arguments);
    if (self->dtype == dtype) return method_same(arguments, result);
    return give_array(result, array_cast(arguments->context, self, dtype));
}

#define CAST(name, dtype)                                                                          \
    static HostStatus method_##name(const Arguments *arguments, HostValue *result)                 \
    {                                                                                              \
        return cast_to(arguments, dtype, result);                                                  \
    }
CAST(half, DTYPE_f16)
CAST(bfloat16, DTYPE_bf16)
CAST(float, DTYPE_f32)
CAST(double, DTYPE_f64)
CAST(int, DTYPE_i32)
CAST(long, DTYPE_i64)
CAST(bool, DTYPE_b1)
#undef CAST

/* The first argument of that kind, by position or by name; NULL: there is none. */
static const HostValue *of_kind(const HostCall *call, HostKind kind)
{
    for (int i = 1; i < call->argument_count; i++)
        if (call->arguments[i].kind == kind) return &call->arguments[i];
    for (int i = 0; i < call->named_count; i++)
        if (call->named[i].kind == kind) return &call->named[i];
    return NULL;
}

/* to(dtype), to(device), to(device, dtype) */
static HostStatus method_to(const Arguments *arguments, HostValue *result)
{
    const HostValue *dtype = of_kind(arguments->call, HOST_DTYPE),
                    *device = of_kind(arguments->call, HOST_TEXT);
    const HostStatus status =
        dtype ? cast_to(arguments, dtype->dtype, result) : method_same(arguments, result);
    const Array *made = result->array;
    const bool to_host = device && strncmp(device->text, "cpu", 3) == 0;
    if (status != HOST_OK || !device || made->on_host == to_host) return status;
    return give_array(result, moved(arguments->context, made, to_host));
}

/* ---- copies and shapes ---- */

static HostStatus method_clone(const Arguments *arguments, HostValue *result)
{
    const Array *self = self_of(arguments);
    return give_array(result, array_cast(arguments->context, self, self->dtype));
}

static HostStatus method_contiguous(const Arguments *arguments, HostValue *result)
{
    return (array_is_contiguous(self_of(arguments)) ? method_same : method_clone)(arguments,
                                                                                  result);
}

static Array *transpose(ArrayContext *context, const Array *array)
{
    Array *view = array_view(context, array);
    for (int i = 0; i < array->rank; i++) {
        view->shape[i] = array->shape[array->rank - 1 - i];
        view->strides[i] = array->strides[array->rank - 1 - i];
    }
    return view;
}

static HostStatus method_transpose(const Arguments *arguments, HostValue *result)
{
    const Array *self = self_of(arguments);
    if (self->rank == 2) return give_array(result, transpose(arguments->context, self));
    complain(arguments, "the array", "a matrix");
    return HOST_FAILED;
}

/* reshape(2, -1) or reshape((2, -1)) */
static bool take_extents(const Arguments *arguments, int *rank, int64_t *shape)
{
    const HostValue *values = arguments->call->arguments + 1;
    int count = arguments->call->argument_count - 1;
    if (count == 1 && values->kind != HOST_INT) {
        count = values->kind == HOST_TUPLE || values->kind == HOST_LIST ? values->count : 0;
        values = values->items;
    }
    const bool is_one = arguments->call->argument_count == 2;
    bool fine = (count > 0 || (is_one && values != NULL)) && count <= ARRAY_RANK;
    for (int i = 0; fine && i < count; i++) {
        fine = values[i].kind == HOST_INT;
        shape[i] = values[i].integer;
    }
    *rank = count;
    return fine || complain(arguments, "shape", "1 to 8 integers");
}

/* Puts what is left of `total` for the one extent that is -1. */
static bool complete_extents(int64_t total, int rank, int64_t *shape)
{
    int64_t product = 1;
    int unknown = -1;
    for (int i = 0; i < rank; i++) {
        if (shape[i] == -1 && unknown < 0)
            unknown = i;
        else if (shape[i] < 0 || __builtin_mul_overflow(product, shape[i], &product))
            return false;
    }
    if (unknown < 0) return product == total;
    if (product == 0 || total % product != 0) return false;
    shape[unknown] = total / product;
    return true;
}

static HostStatus method_reshape(const Arguments *arguments, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK], stride = 1;
    if (!take_extents(arguments, &rank, shape)) return HOST_FAILED;
    if (!complete_extents(array_count(self_of(arguments)), rank, shape)) {
        complain(arguments, "shape", "of as many elements as the array");
        return HOST_FAILED;
    }
    HostValue packed;
    if (method_contiguous(arguments, &packed) != HOST_OK) return HOST_FAILED;
    Array *view = array_view(arguments->context, packed.array);
    view->rank = rank;
    for (int i = rank - 1; i >= 0; i--) {
        view->shape[i] = shape[i];
        view->strides[i] = stride;
        stride *= shape[i];
    }
    return give_array(result, view);
}

/* view(dtype): the same bytes as elements of another type, along the last dimension. */
static HostStatus method_view(const Arguments *arguments, HostValue *result)
{
    const Array *self = self_of(arguments);
    const HostValue *dtype = of_kind(arguments->call, HOST_DTYPE);
    if (!dtype) return method_reshape(arguments, result);
    const int from = dtype_memory_bits(self->dtype), to = dtype_memory_bits(dtype->dtype);
    const int last = self->rank - 1;
    if (from != to && (last < 0 || from < 8 || to < 8 || !array_is_contiguous(self) ||
                       self->shape[last] * from % to != 0 || self->offset * from % to != 0)) {
        complain(arguments, "dtype", "a type that the array's memory is whole elements of");
        return HOST_FAILED;
    }
    Array *view = array_view(arguments->context, self);
    view->dtype = dtype->dtype;
    view->offset = self->offset * from / to;
    if (from != to) view->shape[last] = self->shape[last] * from / to;
    for (int i = 0; from != to && i < last; i++) view->strides[i] = self->strides[i] * from / to;
    return give_array(result, view);
}

/* ---- numbers ---- */

static HostStatus give_integer(HostValue *result, int64_t integer)
{
    *result = (HostValue){.kind = HOST_INT, .integer = integer};
    return HOST_OK;
}

static HostStatus method_numel(const Arguments *arguments, HostValue *result)
{
    return give_integer(result, array_count(self_of(arguments)));
}

static HostStatus method_dim(const Arguments *arguments, HostValue *result)
{
    return give_integer(result, self_of(arguments)->rank);
}

static HostStatus give_shape(ArrayContext *context, const Array *array, HostValue *result)
{
    HostValue *items = arena_new_array(context->arena, HostValue, array->rank + 1);
    for (int i = 0; i < array->rank; i++)
        items[i] = (HostValue){.kind = HOST_INT, .integer = array->shape[i]};
    *result = (HostValue){.kind = HOST_TUPLE, .items = items, .count = array->rank};
    return HOST_OK;
}

static HostStatus method_size(const Arguments *arguments, HostValue *result)
{
    const Array *self = self_of(arguments);
    const HostValue *dim = argument(arguments, 1, "dim");
    if (dim) {
        int64_t at =
            dim->kind == HOST_INT && dim->integer < 0 ? dim->integer + self->rank : dim->integer;
        if (dim->kind == HOST_INT && at >= 0 && at < self->rank)
            return give_integer(result, self->shape[at]);
        complain(arguments, "dim", "a dimension of the array");
        return HOST_FAILED;
    }
    return give_shape(arguments->context, self, result);
}

static HostStatus method_is_contiguous(const Arguments *arguments, HostValue *result)
{
    return give_bool(result, array_is_contiguous(self_of(arguments)));
}

static HostStatus method_item(const Arguments *arguments, HostValue *result)
{
    if (array_count(self_of(arguments)) == 1)
        return array_number(arguments->context, self_of(arguments), result);
    complain(arguments, "the array", "of one element");
    return HOST_FAILED;
}

static HostStatus method_fill(const Arguments *arguments, HostValue *result)
{
    const HostValue *value = argument(arguments, 1, "value");
    if (!value) {
        complain(arguments, "value", "a number");
        return HOST_FAILED;
    }
    if (!array_assign(arguments->context, self_of(arguments), value)) return HOST_FAILED;
    return method_same(arguments, result);
}

static HostStatus method_zero(const Arguments *arguments, HostValue *result)
{
    const HostValue zero = {.kind = HOST_INT};
    if (!array_assign(arguments->context, self_of(arguments), &zero)) return HOST_FAILED;
    return method_same(arguments, result);
}

/* requires_grad_(asked=True): has it an array beside it for its gradient, zero at first? */
static HostStatus method_requires_grad(const Arguments *arguments, HostValue *result)
{
    Array *array = (Array *)(uintptr_t)self_of(arguments);
    const HostValue zero = {.kind = HOST_INT};
    const bool asked = arguments->call->argument_count < 2 || arguments->call->arguments[1].integer;
    if (!asked) array->grad = NULL;
    if (asked && !array->grad) {
        array->grad = array_new(arguments->context, array->dtype, array->rank, array->shape);
        if (!array->grad || !array_assign(arguments->context, array->grad, &zero))
            return HOST_FAILED;
        array_take_after(array->grad, 1, (const Array *const[]){array});
    }
    return method_same(arguments, result);
}

static void make_magnitudes(DType dtype, const Elements *elements)
{
    for (int64_t i = 0; i < elements->count; i++) {
        Element *element = &elements->items[i];
        if (dtype_is_float(dtype))
            element->f = fabs(element->f);
        else if (dtype_is_signed(dtype) && element->i < 0)
            element->i = (int64_t)(0 - (uint64_t)element->i);
    }
}

static HostStatus method_abs(const Arguments *arguments, HostValue *result)
{
    const Array *self = self_of(arguments);
    Elements elements;
    if (!array_read(arguments->context, self, &elements)) return HOST_FAILED;
    make_magnitudes(self->dtype, &elements);
    Array *out =
        array_from_elements(arguments->context, self->dtype, self->rank, self->shape, &elements);
    free(elements.items);
    if (out) array_take_after(out, 1, &self);
    return give_array(result, out);
}

/* ---- attributes ---- */

HostStatus array_attribute(ArrayContext *context, const Array *array, const char *name,
                           HostValue *result)
{
    if (strcmp(name, "shape") == 0) return give_shape(context, array, result);
    if (strcmp(name, "ndim") == 0) return give_integer(result, array->rank);
    if (strcmp(name, "size") == 0 && array->family != FAMILY_TORCH) /* torch's is a method */
        return give_integer(result, array_count(array));
    if (strcmp(name, "nbytes") == 0)
        return give_integer(result, dtype_memory_bytes(array->dtype, array_count(array)));
    if (strcmp(name, "T") == 0) return give_array(result, transpose(context, array));
    if (strcmp(name, "dtype") == 0) {
        *result = (HostValue){.kind = HOST_DTYPE, .dtype = array->dtype};
    } else if (strcmp(name, "grad") == 0) {
        *result = array->grad ? (HostValue){.kind = HOST_ARRAY, .array = array->grad}
                              : (HostValue){.kind = HOST_NONE};
    } else if (strcmp(name, "requires_grad") == 0) {
        *result = (HostValue){.kind = HOST_BOOL, .integer = array->grad != NULL};
    } else if (strcmp(name, "family") == 0) {
        static const char *const NAMES[] = {"tile", "numpy", "torch"};
        const char *family = NAMES[array->family];
        *result = (HostValue){.kind = HOST_TEXT, .text = family, .length = strlen(family)};
    } else if (strcmp(name, "__methods__") == 0) { /* the module of the library that has them */
        const char *module =
            array->family == FAMILY_TORCH ? "compat.torch_methods" : "compat.array_methods";
        *result = (HostValue){.kind = HOST_TEXT, .text = module, .length = strlen(module)};
    } else if (strcmp(name, "device") == 0) {
        const char *device = array->on_host ? "cpu" : "cuda";
        *result = (HostValue){.kind = HOST_TEXT, .text = device, .length = strlen(device)};
    } else if (strcmp(name, "is_cuda") == 0 && array->family == FAMILY_TORCH) {
        *result = (HostValue){.kind = HOST_BOOL, .integer = !array->on_host};
    } else if (strcmp(name, "is_contiguous") == 0 && array->family != FAMILY_TORCH) {
        *result = (HostValue){.kind = HOST_BOOL, .integer = array_is_contiguous(array)};
    } else {
        return HOST_UNKNOWN;
    }
    return HOST_OK;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    ArrayFunction *run;
} methods[] = {
    {"array.half", method_half},
    {"array.bfloat16", method_bfloat16},
    {"array.float", method_float},
    {"array.double", method_double},
    {"array.int", method_int},
    {"array.long", method_long},
    {"array.bool", method_bool},
    {"array.to", method_to},
    {"array.cuda", method_cuda},
    {"array.cpu", method_cpu},
    {"array.detach", method_same},
    {"array.numpy", method_numpy},
    {"array.clone", method_clone},
    {"array.contiguous", method_contiguous},
    {"array.t", method_transpose},
    {"array.reshape", method_reshape},
    {"array.view", method_view},
    {"array.numel", method_numel},
    {"array.dim", method_dim},
    {"array.size", method_size},
    {"array.item", method_item},
    {"array.fill_", method_fill},
    {"array.copy_", method_fill},
    {"array.zero_", method_zero},
    {"array.abs", method_abs},
    {"array.requires_grad_", method_requires_grad},
    {"array.is_contiguous", method_is_contiguous},
};

ArrayFunction *array_method(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++)
        if (strcmp(methods[i].name, name) == 0) return methods[i].run;
    return NULL;
}
