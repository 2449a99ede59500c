/* bits.c: the same bits as a tile of another element type or shape. */
#include "eval/staging/staging.h"

static Value *taken_as(Eval *eval, Value *value, DType dtype)
{
    const Type *type = type_with_dtype(core_types(eval), value->type, dtype);
    return type == value->type ? value : core_build(eval, OP_bitcast, 1, &value, type);
}

Value *stage_reshape(Eval *eval, Value *value, int rank, const int64_t *shape)
{
    const Type *type = type_tile(core_types(eval), value->type->dtype, rank, shape, NULL);
    return type == value->type ? value : core_build(eval, OP_reshape, 1, &value, type);
}

/* Where in its word each of a row's parts begins. */
static Value *part_shifts(Eval *eval, const Type *row, int bits)
{
    Builder *at = &eval->builder;
    const Type *type = type_with_dtype(core_types(eval), row, DTYPE_i32);
    Value *columns = core_build(eval, OP_iota, 0, NULL, type);
    op_set_int(columns->op, ATTR_dim, 1);
    Value *factor =
        stage_broadcast(eval, build_const(at, row->dtype, bits), 2, row->shape, at->span);
    return build2(at, OP_mul, stage_cast(eval, columns, row->dtype), factor);
}

/* Elements of several narrow ones each: [n, parts], the lowest bits first. */
static Value *split_words(Eval *eval, Value *value, DType dtype)
{
    const int bits = dtype_bits(dtype);
    const int64_t count = type_elements(value->type), parts = dtype_bits(value->type->dtype) / bits;
    value = taken_as(eval, value, dtype_unsigned(value->type->dtype));
    value = stage_reshape(eval, value, 2, (int64_t[]){count, 1});
    const int64_t shape[2] = {count, parts};
    const Type *row = type_tile(core_types(eval), value->type->dtype, 2, shape, NULL);
    value = core_build(eval, OP_broadcast, 1, &value, row);
    value = build2(&eval->builder, OP_shr, value, part_shifts(eval, row, bits));
    return taken_as(eval, stage_cast(eval, value, dtype_unsigned(dtype)), dtype);
}

/* The reverse: [n, 1]. */
static Value *join_words(Eval *eval, Value *value, DType dtype)
{
    const int bits = dtype_bits(value->type->dtype);
    const int64_t parts = dtype_bits(dtype) / bits, count = type_elements(value->type) / parts;
    const DType word = dtype_unsigned(dtype);
    value = taken_as(eval, value, dtype_unsigned(value->type->dtype));
    value = stage_cast(eval, stage_reshape(eval, value, 2, (int64_t[]){count, parts}), word);
    value = build2(&eval->builder, OP_shl, value, part_shifts(eval, value->type, bits));
    const int64_t shape[2] = {count, 1}, dim = 1;
    value =
        core_build(eval, OP_reduce, 1, &value, type_tile(core_types(eval), word, 2, shape, NULL));
    op_set_ints(value->op, ATTR_dims, 1, &dim);
    op_set_text(value->op, ATTR_mode, intern_text(eval->session->names, "or"));
    return taken_as(eval, value, dtype);
}

Value *tile_as(Eval *eval, Value *value, const Type *type)
{
    const int from = dtype_bits(value->type->dtype), to = dtype_bits(type->dtype);
    value = from > to   ? split_words(eval, value, type->dtype)
            : from < to ? join_words(eval, value, type->dtype)
                        : taken_as(eval, value, type->dtype);
    return stage_reshape(eval, value, type->rank, type->shape);
}
