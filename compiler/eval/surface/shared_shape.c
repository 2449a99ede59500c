/* shared_shape.c: shared tiles in other shapes. */
#include "eval/surface/surface.h"

#include <string.h>

/* ---- reshape_shared(tile, shape) ---- */

/* How many of the leading dimensions have one index, where all others are spanned wholly and in
 * order; -1: it is another kind of part. */
static int leading_indices(const Op *view)
{
    const Type *whole = operand(view, tile)->type, *part = view->results[0].type;
    const Attr *dims = op_attr(view, ATTR_dims);
    const int lead = whole->rank - part->rank;
    for (int i = 0; i < part->rank; i++) {
        int64_t offset;
        if (dims->integers[i] != lead + i || part->shape[i] != whole->shape[lead + i] ||
            !value_constant(operand_list(view, offsets)[lead + i], &offset) || offset != 0)
            return -1;
    }
    return lead;
}

static Value *reshape_whole(Eval *eval, Value *tile, DType dtype, int rank, const int64_t *shape)
{
    if (tile->op->code == OP_shared_reshape) tile = operand(tile->op, tile);
    return core_build(eval, OP_shared_reshape, 1, &tile,
                      type_shared(core_types(eval), dtype, rank, shape, NULL));
}

/* The same index of the whole tile in another shape. */
static Value *reshape_part(Eval *eval, const Op *view, int lead, const Type *seen)
{
    const int rank = seen->rank;
    Value *whole = operand(view, tile), *operands[1 + TYPE_RANK];
    int64_t extents[TYPE_RANK], dims[TYPE_RANK];
    for (int d = 0; d < lead; d++) extents[d] = whole->type->shape[d];
    memcpy(extents + lead, seen->shape, (size_t)rank * sizeof *extents);
    operands[0] = reshape_whole(eval, whole, seen->dtype, lead + rank, extents);
    for (int d = 0; d < lead; d++) operands[1 + d] = operand_list(view, offsets)[d];
    for (int i = 0; i < rank; i++) {
        dims[i] = lead + i;
        operands[1 + lead + i] = build_const(&eval->builder, DTYPE_i32, 0);
    }
    Value *part = core_build(eval, OP_shared_view, 1 + lead + rank, operands,
                             type_shared(core_types(eval), seen->dtype, rank, seen->shape, NULL));
    op_set_ints(part->op, ATTR_dims, rank, dims);
    return part;
}

Object *core_reshape_shared(Eval *eval, const Bound *bound)
{
    int rank;
    int64_t shape[TYPE_RANK];
    const Value *tile =
        argument_value(eval, bound->values[0], TYPE_SHARED, "what is reshaped", NULL, bound->at);
    if (tile == NULL ||
        !argument_reshape(eval, tile->type, bound->values[1], bound->at, &rank, shape))
        return NULL;
    const Type *seen = type_tile(core_types(eval), tile->type->dtype, rank, shape, NULL);
    return shared_as(eval, bound->values[0], seen, bound->at);
}

Object *shared_as(Eval *eval, Object *object, const Type *seen, Span at)
{
    const int rank = seen->rank;
    Value *tile = argument_value(eval, object, TYPE_SHARED, "what is reshaped", NULL, at);
    if (tile == NULL) return NULL;
    if (tile->op != NULL && tile->op->code != OP_shared_view)
        return object_ir(eval, reshape_whole(eval, tile, seen->dtype, rank, seen->shape));
    const int lead = tile->op != NULL ? leading_indices(tile->op) : -1;
    const Value *whole = lead < 0 ? NULL : operand(tile->op, tile);
    if (whole == NULL || lead + rank > TYPE_RANK || whole->op == NULL ||
        whole->op->code == OP_shared_view)
        return FAIL(eval, expected_kind, at, "what is reshaped",
                    "a whole shared tile or one index of its first dimensions",
                    "another part of one");
    return object_ir(eval, reshape_part(eval, tile->op, lead, seen));
}
