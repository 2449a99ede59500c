/* reshape.c: reshapes that move elements between threads. Where no layout of the operand is one of
 * the result with every element where it was (a row of 12 has no part among rows of 48 that is a
 * power of two), the tile is written to shared memory in plain row-major order, which is the same
 * for both shapes, and read back in the other. */
#include "passes/layout/layouts.h"

/* Offset in elements = index in row-major order, whatever the extents: the last dimension's block
 * divides its extent, the others' blocks are 1. */
static const Layout *layout_linear(LayoutTable *table, const Type *tile)
{
    Layout layout = {.rank = tile->rank};
    for (int d = 0; d < tile->rank; d++) {
        layout.shape[d] = (int32_t)tile->shape[d];
        layout.block[d] = 1;
    }
    const int last = tile->rank - 1;
    for (int bit = 0; last >= 0 && !(layout.shape[last] >> bit & 1); bit++) {
        layout.basis[layout.bits[LAYOUT_REGISTER]++][last] = layout.block[last];
        layout.block[last] *= 2;
    }
    return layout_intern(table, &layout);
}

const Type *linear_type(const Kernel *kernel, const Type *tile)
{
    return type_shared(kernel->types, tile->dtype, tile->rank, tile->shape,
                       layout_linear(kernel->layouts, tile));
}

static void set_linear(const Inference *inference, Value *tile)
{
    tile->type = linear_type(inference->kernel, tile->type);
    if (tile->op->code == OP_shared_alloc) op_set_int(tile->op, ATTR_bytes, type_bytes(tile->type));
}

/* The tile's own layout in the other shape; NULL: there is none. */
static const Layout *reshaped_layout(const Inference *inference, const Op *op)
{
    const Type *to = op->results[0].type;
    int32_t shape[LAYOUT_RANK];
    if (dtype_memory_bits(to->dtype) != dtype_memory_bits(operand(op, tile)->type->dtype))
        return NULL;
    for (int d = 0; d < to->rank; d++) shape[d] = (int32_t)to->shape[d];
    return layout_reshape(inference->kernel->layouts, operand(op, tile)->type->layout, to->rank,
                          shape);
}

void prepare_reshaped(Op *op, void *context)
{
    Inference *inference = context;
    if (op->code != OP_shared_reshape) return;
    Value *tile = operand(op, tile);
    lay_out_shared(tile->op, inference);
    if (!reshaped_layout(inference, op)) set_linear(inference, tile);
}

void lay_out_reshaped(Inference *inference, Op *op)
{
    const Layout *layout = reshaped_layout(inference, op);
    Value *tile = &op->results[0];
    if (layout)
        tile->type = type_with_layout(inference->kernel->types, tile->type, layout);
    else
        set_linear(inference, tile);
}

void reshape_through_shared(Inference *inference, Op *op)
{
    Kernel *kernel = inference->kernel;
    Value *from = operand(op, a), *to = &op->results[0];
    const Type *stored = linear_type(kernel, from->type), *loaded = linear_type(kernel, to->type);
    Builder builder = builder_before(op);
    Op *alloc = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &stored);
    op_set_int(alloc, ATTR_bytes, type_bytes(stored));
    build2(&builder, OP_shared_store, alloc->results, from);
    Op *other = build_op(&builder, OP_shared_reshape, 1, &alloc->results, 1, &loaded);
    Op *load = build_op(&builder, OP_shared_load, 1, &other->results, 1, &to->type);
    value_replace(to, load->results);
    op_erase(op);
}
