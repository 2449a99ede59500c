/* in_place.c: operands of a dot that it can read where they lie in shared memory. */
#include "passes/analysis/access.h"
#include "passes/layout/matrix.h"

static void find_write(Op *op, void *context)
{
    if (!op->region_count && op_info(op->code)->traits & WRITES && op->code != OP_copy_commit)
        *(bool *)context = true;
}

/* Nothing is written between the load and the dot, so that the dot may read in its place. */
static bool is_still_there(Op *load, const Op *dot)
{
    bool written = false;
    if (load->parent != dot->parent) return false;
    for (Op *op = load; op && op != dot && !written; op = op->next)
        op_visit(op, find_write, &written);
    return !written;
}

bool find_in_place(const Op *dot, DotOperand operand, InPlace *out)
{
    Value *value = operand_list(dot, a)[operand];
    *out = (InPlace){0};
    for (; value->op && op_swaps(value->op); value = operand(value->op, a))
        out->transposed = !out->transposed;
    if (!value->op || value->op->code != OP_shared_load || !is_still_there(value->op, dot))
        return false;
    out->tile = operand(value->op, tile);
    return true;
}

Value *build_in_place(const Kernel *kernel, Builder *builder, const InPlace *place)
{
    const Type *type = place->tile->type;
    if (!place->transposed) return place->tile;
    const int64_t shape[2] = {type->shape[1], type->shape[0]}, dims[2] = {1, 0};
    Value *zero = build_const(builder, DTYPE_i32, 0);
    const Type *turned = type_shared(kernel->types, type->dtype, 2, shape, NULL);
    Op *view =
        build_op(builder, OP_shared_view, 3, (Value *[]){place->tile, zero, zero}, 1, &turned);
    op_set_ints(view, ATTR_dims, 2, dims);
    return &view->results[0];
}

bool choose_slices(Kernel *kernel, Op *dot)
{
    InPlace a, b;
    if (operand(dot, c)->type->rank != 2 || !find_in_place(dot, DOT_A, &a) ||
        !find_in_place(dot, DOT_B, &b))
        return false;
    Builder builder = builder_before(dot);
    Value *operands[3] = {build_in_place(kernel, &builder, &a),
                          build_in_place(kernel, &builder, &b), operand(dot, c)};
    Op *slices = build_op(&builder, OP_dot_slices, 3, operands, 1, &dot->results[0].type);
    slices->results[0].name = dot->results[0].name;
    value_replace(&dot->results[0], &slices->results[0]);
    op_erase(dot);
    return true;
}
