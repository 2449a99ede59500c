/* site_arrays.c: what a kernel's pointer parameters are taken for, so that the emulator can name
 * elements: a tensor's extents and strides, or those of the views that the kernel makes of a
 * pointer, where these are all the same. */
#include "emit/site_arrays.h"

typedef struct Arrays {
    const Kernel *kernel;
    SiteArray *items;
    bool *seen;   /* there is a view of the pointer */
    bool *differ; /* there are several, not all the same */
} Arrays;

static ArrayNumber number_of_extent(const Extent *extent)
{
    return extent->kind == EXTENT_LITERAL ? (ArrayNumber){extent->value, -1}
                                          : (ArrayNumber){0, extent->parameter};
}

/* Row by row, as far as products are numbers; the last but one has the last extent. */
static void pack(SiteArray *array)
{
    for (int i = array->rank - 1; i >= 0; i--) {
        const ArrayNumber *inner = i + 1 < array->rank ? &array->shape[i + 1] : NULL;
        const ArrayNumber *stride = inner ? &array->strides[i + 1] : NULL;
        if (!inner)
            array->strides[i] = (ArrayNumber){1, -1};
        else if (inner->parameter < 0 && stride->parameter < 0 && inner->value >= 0)
            array->strides[i] = (ArrayNumber){inner->value * stride->value, -1};
        else if (stride->parameter < 0 && stride->value == 1)
            array->strides[i] = *inner;
        else
            array->rank = 0;
    }
}

static void add_tensor(const Arrays *arrays, const Tensor *tensor)
{
    SiteArray *array = &arrays->items[tensor->pointer];
    if (tensor->is_result) return;
    array->rank = tensor->rank;
    for (int i = 0; i < tensor->rank; i++) {
        array->shape[i] = number_of_extent(&tensor->shape[i]);
        array->strides[i] = number_of_extent(&tensor->strides[i]);
    }
    if (!tensor->is_strided) pack(array);
}

/* A constant, or a parameter. */
static bool is_number(const Kernel *kernel, int64_t known, const Value *value, ArrayNumber *out)
{
    *out = (ArrayNumber){known, -1};
    if (known != TYPE_DYNAMIC || value_constant(value, &out->value)) return true;
    while (value->op && value->op->code == OP_cast) value = operand(value->op, a);
    const Parameter *parameter = kernel_parameter_of(kernel, value);
    if (parameter && !parameter->is_key) *out = (ArrayNumber){0, value->index};
    return parameter && !parameter->is_key;
}

/* Of an extent that is computed nothing is known but where it begins. */
static SiteArray array_of_view(const Kernel *kernel, const Op *view, const SiteArray *named)
{
    const Type *type = view->results[0].type;
    SiteArray array = {
        .name = named->name, .element_bits = dtype_memory_bits(type->dtype), .rank = type->rank};
    Value *const *extents = operand_list(view, extents), *const *strides = extents + type->rank;
    for (int i = 0; i < type->rank; i++) {
        if (!is_number(kernel, type->shape[i], extents[i], &array.shape[i]))
            array.shape[i] = (ArrayNumber){-1, -1};
        if (!is_number(kernel, type->strides[i], strides[i], &array.strides[i])) array.rank = 0;
    }
    return array;
}

static bool is_same_number(const ArrayNumber *a, const ArrayNumber *b)
{
    return a->value == b->value && a->parameter == b->parameter;
}

static bool is_same(const SiteArray *a, const SiteArray *b)
{
    bool same = a->rank == b->rank && a->element_bits == b->element_bits;
    for (int i = 0; same && i < a->rank; i++)
        same = is_same_number(&a->shape[i], &b->shape[i]) &&
               is_same_number(&a->strides[i], &b->strides[i]);
    return same;
}

static void add_view(Op *op, void *context)
{
    const Arrays *arrays = context;
    if (op->code != OP_view) return;
    const Value *pointer = operand(op, pointer), *root = pointer;
    while (root->op && op_has(root->op, ALIAS)) root = op_aliased(root->op);
    if (!kernel_parameter_of(arrays->kernel, root)) return;
    const int index = root->index;
    SiteArray *array = &arrays->items[index];
    if (arrays->differ[index] || kernel_tensor_has(arrays->kernel, index)) return;
    const bool from_start = root == pointer;
    const SiteArray seen = array_of_view(arrays->kernel, op, array);
    arrays->differ[index] = !from_start || (arrays->seen[index] && !is_same(array, &seen));
    arrays->seen[index] = true;
    if (arrays->differ[index])
        array->rank = 0;
    else
        *array = seen;
}

const SiteArray *site_arrays(Arena *arena, const Kernel *typed)
{
    const int count = typed->parameter_count;
    Arrays arrays = {typed, arena_new_array(arena, SiteArray, count + 1),
                     arena_new_array(arena, bool, count + 1),
                     arena_new_array(arena, bool, count + 1)};
    for (int i = 0; i < count; i++) {
        const Parameter *parameter = &typed->parameters[i];
        const Type *type = parameter->value->type;
        arrays.items[i] = (SiteArray){0};
        arrays.seen[i] = arrays.differ[i] = false;
        if (type->kind != TYPE_POINTER || parameter->is_key || parameter->is_workspace) continue;
        arrays.items[i] =
            (SiteArray){.name = parameter->name, .element_bits = dtype_memory_bits(type->dtype)};
    }
    for (int i = 0; i < typed->tensor_count; i++) add_tensor(&arrays, &typed->tensors[i]);
    kernel_visit((Kernel *)(uintptr_t)typed, add_view, &arrays);
    return arrays.items;
}
