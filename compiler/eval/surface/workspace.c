/* workspace.c: memory of a call's own, which all its blocks and launches share. */
#include "eval/surface/surface.h"

#include "ir/workspace.h"

#include <string.h>

/* ---- the size, in the host region ---- */

static Value *number(Builder *builder, int64_t value)
{
    return build_const(builder, DTYPE_i64, value);
}

/* The bytes of so many elements of less than a byte; a negative number stays one. */
static Value *packed(Builder *builder, DType dtype, Value *count)
{
    const int each = 8 / dtype_memory_bits(dtype);
    Value *last = build2(builder, OP_add, count, number(builder, each - 1));
    return build3(builder, OP_select, build_cmp(builder, "lt", count, number(builder, 0)), count,
                  build2(builder, OP_div, last, number(builder, each)));
}

static Value *host_extent(Eval *eval, Builder *builder, Object *extent, Span at)
{
    if (extent->kind == OBJECT_INT) return number(builder, extent->as.integer);
    Value *value = stage_index(eval, extent, at);
    value = value != NULL ? eval->ops->stage_on_host(eval, value, "a workspace's size") : NULL;
    return value != NULL ? build_cast(builder, DTYPE_i64, value) : NULL;
}

static bool state_size(Eval *eval, int index, DType dtype, int rank, Object **shape, Span at)
{
    Value *extents[TYPE_RANK];
    for (int i = 0; i < rank; i++) {
        Builder builder = eval->ops->stage_host_builder(eval, at);
        if ((extents[i] = host_extent(eval, &builder, shape[i], at)) == NULL) return false;
    }
    Builder builder = eval->ops->stage_host_builder(eval, at);
    Value *bytes = number(&builder, dtype_is_packed(dtype) ? 1 : dtype_bytes(dtype));
    for (int i = 0; i < rank; i++) bytes = build_workspace_bytes(&builder, bytes, extents[i]);
    if (dtype_is_packed(dtype)) bytes = packed(&builder, dtype, bytes);
    build_workspace_size(&builder, index, 1, &bytes);
    return true;
}

/* ---- workspace(dtype, shape, zero=False, keep=False) ---- */

static Value *add_workspace(Eval *eval, DType dtype, int rank, Object **shape, bool zeroed, Span at)
{
    Kernel *kernel = eval->staging->kernel;
    int index = kernel->parameter_count - kernel_argument_count(kernel);
    if (index == WORKSPACES) return FAIL(eval, too_many_workspaces, at, WORKSPACES);
    if (!state_size(eval, index, dtype, rank, shape, at)) return NULL;
    return kernel_add_workspace(kernel, intern_printf(eval->session->names, "workspace_%d", index),
                                type_pointer(kernel->types, dtype, SPACE_GLOBAL), zeroed, at);
}

Value *workspace_pointer(Eval *eval, DType dtype, int64_t count, Span at)
{
    Object *shape = object_int(eval, count);
    return add_workspace(eval, dtype, 1, &shape, true, at);
}

Object *core_workspace(Eval *eval, const Bound *bound)
{
    DType dtype;
    int rank;
    Object *shape[TYPE_RANK];
    bool zeroed = false, kept = false;
    if (!stage_ready(eval, bound->at) ||
        !argument_dtype(eval, bound->values[0], bound->at, &dtype) ||
        !argument_items(eval, bound->values[1], "shape", bound->at, &rank, shape) ||
        (bound->values[2] != NULL && !object_truth(eval, bound->values[2], &zeroed)) ||
        (bound->values[3] != NULL && !object_truth(eval, bound->values[3], &kept)))
        return NULL;
    Value *pointer = add_workspace(eval, dtype, rank, shape, zeroed || kept, bound->at);
    if (pointer == NULL) return NULL;
    eval->staging->kernel->parameters[pointer->index].is_kept = kept;
    Object *values[] = {object_ir(eval, pointer), bound->values[0], bound->values[1], NULL};
    Bound view = {.at = bound->at};
    memcpy(view.values, values, sizeof values);
    return core_view(eval, &view);
}
