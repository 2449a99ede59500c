/* workspace.c: see workspace.h. */
#include "ir/workspace.h"

static Value *number(Builder *builder, int64_t value)
{
    return build_const(builder, DTYPE_i64, value);
}

Value *build_workspace_bytes(Builder *builder, Value *bytes, Value *extent)
{
    Value *zero = number(builder, 0);
    Value *at_least_one = build2(builder, OP_max, extent, number(builder, 1));
    Value *most = build2(builder, OP_div, number(builder, INT64_C(1) << 48), at_least_one);
    Value *wrong = build2(builder, OP_or, build_cmp(builder, "lt", extent, zero),
                          build_cmp(builder, "lt", bytes, zero));
    wrong = build2(builder, OP_or, wrong, build_cmp(builder, "gt", bytes, most));
    return build3(builder, OP_select, wrong, number(builder, -1),
                  build2(builder, OP_mul, bytes, extent));
}

void build_workspace_size(Builder *host, int index, int count, Value *const *extents)
{
    Value *bytes = extents[0];
    for (int i = 1; i < count; i++) bytes = build_workspace_bytes(host, bytes, extents[i]);
    Op *op = build_op(host, OP_workspace_size, 1, &bytes, 0, NULL);
    op_set_int(op, ATTR_index, index);
}

static void drop(Kernel *kernel, int index)
{
    int first = kernel_argument_count(kernel);
    for (Op *op = kernel->host->first, *next; op != NULL; op = next) {
        next = op_next(op);
        if (op->code != OP_workspace_size) continue;
        int64_t of = op_int(op, ATTR_index, 0);
        if (of == index)
            op_erase(op);
        else if (of > index)
            op_set_int(op, ATTR_index, of - 1);
    }
    kernel->parameter_count--;
    for (int i = first + index; i < kernel->parameter_count; i++) {
        kernel->parameters[i] = kernel->parameters[i + 1];
        kernel->parameters[i].value->index = i;
    }
}

void workspaces_settle(Kernel *kernel)
{
    int first = kernel_argument_count(kernel);
    for (int i = first + kernel_workspace_count(kernel); i-- > first;)
        if (kernel->parameters[i].value->use_count == 0) drop(kernel, i - first);
}
