/* tiles.c: the part of __core__ that works on tiles in registers and in shared memory. */
#include "eval/surface/surface.h"

/* ---- register tiles ---- */

static Value *coordinates(Eval *eval, int rank, const int64_t *shape, int dim)
{
    Value *value = core_build(eval, OP_iota, 0, NULL,
                              type_tile(core_types(eval), DTYPE_i32, rank, shape, NULL));
    op_set_int(value->op, ATTR_dim, dim);
    return value;
}

static Object *computed_init(Eval *eval, Object *function, int rank, const int64_t *shape, Span at)
{
    Value *indices[TYPE_RANK];
    for (int i = 0; i < rank; i++) indices[i] = coordinates(eval, rank, shape, i);
    return masked_init(eval, function, rank, indices, at);
}

static Object *new_tile(Eval *eval, const Type *content, Value *init)
{
    const Type *type = type_var(core_types(eval), content);
    Object *tile = object_new(eval, OBJECT_TILE);
    tile->as.ir.var = build_op(&eval->builder, OP_var, init != NULL, &init, 1, &type)->results;
    tile->fresh = true;
    return tile;
}

Object *core_tile(Eval *eval, const Bound *bound)
{
    DType dtype;
    int rank;
    int64_t shape[TYPE_RANK];
    if (!stage_ready(eval, bound->at) ||
        !argument_dtype(eval, bound->values[0], bound->at, &dtype) ||
        !argument_shape(eval, bound->values[1], bound->at, &rank, shape))
        return NULL;
    const Type *type = type_tile(core_types(eval), dtype, rank, shape, NULL);
    Object *init = bound->values[2];
    if (argument_absent(init)) return new_tile(eval, type, NULL);
    if (init->kind == OBJECT_FUNCTION || init->kind == OBJECT_METHOD)
        init = computed_init(eval, init, rank, shape, bound->at);
    Value *value = init != NULL ? stage_typed(eval, init, type, bound->at) : NULL;
    return value != NULL ? new_tile(eval, type, value) : NULL;
}

Object *core_fragment(Eval *eval, const Bound *bound)
{
    Bound tile = *bound;
    tile.values[2] = NULL;
    Object *fragment = core_tile(eval, &tile);
    if (fragment != NULL) vec_push(eval->arena, &eval->staging->fragments, fragment->as.ir.var);
    return fragment;
}

Object *core_iota(Eval *eval, const Bound *bound)
{
    int rank;
    int64_t shape[TYPE_RANK], dim;
    if (!stage_ready(eval, bound->at) ||
        !argument_shape(eval, bound->values[0], bound->at, &rank, shape) ||
        !object_as_int(eval, bound->values[1], "the dimension", &dim))
        return NULL;
    if (dim < 0 || dim >= rank)
        return FAIL(eval, no_dimension, bound->at, "the tile", (long long)dim);
    return object_ir(eval, coordinates(eval, rank, shape, (int)dim));
}

Object *core_cast(Eval *eval, const Bound *bound)
{
    DType dtype;
    if (!argument_dtype(eval, bound->values[1], bound->at, &dtype)) return NULL;
    return cast_to(eval, bound->values[0], dtype, bound->at);
}

Object *core_assign(Eval *eval, const Bound *bound)
{
    const Type *type = argument_type(bound->values[0]);
    if (type == NULL || type->kind != TYPE_TILE)
        return FAIL(eval, expected_kind, bound->at, "what is assigned to", "a register tile",
                    object_repr(eval, bound->values[0]));
    const Type *given = argument_type(bound->values[1]);
    if (given != NULL && given->dtype != type->dtype)
        return FAIL(eval, dtype_mismatch, argument_span(eval, bound->values[1], bound->at),
                    "the value", dtype_user_name(given->dtype), dtype_user_name(type->dtype));
    Value *value = stage_typed(eval, bound->values[1], type, bound->at);
    return value != NULL && tile_write_out(eval, bound->values[0], value) ? eval->none : NULL;
}

/* ---- shapes ---- */

Object *core_transpose(Eval *eval, const Bound *bound)
{
    Value *tile =
        argument_value(eval, bound->values[0], TYPE_TILE, "what is transposed", NULL, bound->at);
    if (tile == NULL) return NULL;
    int rank = tile->type->rank, given = rank;
    int64_t dims[TYPE_RANK], shape[TYPE_RANK];
    for (int i = 0; i < rank; i++) dims[i] = rank - 1 - i;
    if (!argument_absent(bound->values[1]) &&
        !argument_ints(eval, bound->values[1], "dims", bound->at, &given, dims))
        return NULL;
    unsigned seen = 0;
    for (int i = 0; i < given; i++) seen |= dims[i] >= 0 && dims[i] < rank ? 1u << dims[i] : 0;
    if (given != rank || seen != (1u << rank) - 1)
        return FAIL(eval, bad_dims, bound->at, "dims", "dimensions of the tile, each once");
    for (int i = 0; i < rank; i++) shape[i] = tile->type->shape[dims[i]];
    Value *value = core_build(eval, OP_transpose, 1, &tile,
                              type_tile(core_types(eval), tile->type->dtype, rank, shape, NULL));
    op_set_ints(value->op, ATTR_dims, rank, dims);
    return object_ir(eval, value);
}

Object *core_reshape(Eval *eval, const Bound *bound)
{
    int rank;
    int64_t shape[TYPE_RANK];
    Value *tile =
        argument_value(eval, bound->values[0], TYPE_TILE, "what is reshaped", NULL, bound->at);
    if (tile == NULL ||
        !argument_reshape(eval, tile->type, bound->values[1], bound->at, &rank, shape))
        return NULL;
    const Type *type = type_tile(core_types(eval), tile->type->dtype, rank, shape, NULL);
    return object_ir(eval, core_build(eval, OP_reshape, 1, &tile, type));
}

Object *core_broadcast(Eval *eval, const Bound *bound)
{
    int rank;
    int64_t shape[TYPE_RANK];
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    if (value == NULL || !argument_shape(eval, bound->values[1], bound->at, &rank, shape))
        return NULL;
    if (value->type->kind != TYPE_SCALAR && value->type->kind != TYPE_TILE)
        return FAIL(eval, expected_kind, bound->at, "what is stretched", "a number",
                    object_repr(eval, bound->values[0]));
    return object_ir(eval, stage_broadcast(eval, value, rank, shape, bound->at));
}

/* ---- arithmetic ---- */

/* Whether each number of the type is one of f32's. */
static bool is_single(DType dtype)
{
    return dtype_bits(dtype) <= 16 || (dtype_is_float(dtype) && dtype != DTYPE_f64);
}

/* What products are summed in where nobody says. */
static DType dot_default(DType operand)
{
    if (dtype_is_float(operand)) return operand == DTYPE_f64 ? DTYPE_f64 : DTYPE_f32;
    return dtype_bits(operand) < 32 ? DTYPE_i32 : operand;
}

/* What products whose sum is to be `sum` are summed in, before one rounding. Integers wrap, in
 * whatever type; halves are summed as halves, as matrix units do; other floats in the first of f32
 * and f64 that has the operands' numbers. */
static DType dot_inner(DType operand, DType sum)
{
    if (dtype_is_integer(sum) || (operand == DTYPE_f16 && sum == DTYPE_f16)) return sum;
    return sum != DTYPE_f64 && is_single(operand) ? DTYPE_f32 : DTYPE_f64;
}

/* A product of fractions has no sum among integers. */
static bool dot_has_sum(DType operand, DType sum)
{
    return operand != DTYPE_b1 && sum != DTYPE_b1 &&
           (dtype_is_float(sum) || !dtype_is_float(operand));
}

/* The sum so far, in the caller's type, which is also the result's. */
static Value *dot_addend(Eval *eval, const Bound *bound, const Type *a, const Type *b)
{
    DType dtype = dot_default(a->dtype);
    if (!argument_absent(bound->values[3]) &&
        !argument_dtype(eval, bound->values[3], bound->at, &dtype))
        return NULL;
    const int64_t shape[2] = {a->shape[0], b->shape[1]};
    if (argument_absent(bound->values[2])) {
        const Type *type = type_tile(core_types(eval), dtype, 2, shape, NULL);
        return stage_typed(eval, object_int(eval, 0), type, bound->at);
    }
    Value *c = argument_value(eval, bound->values[2], TYPE_TILE, "the third operand of dot", NULL,
                              bound->at);
    if (c == NULL) return NULL;
    if (c->type->rank != 2 || c->type->shape[0] != shape[0] || c->type->shape[1] != shape[1])
        return FAIL(eval, shape_mismatch, bound->at, type_text(eval->arena, c->type),
                    "of dot's result");
    return argument_absent(bound->values[3]) ? c : stage_cast(eval, c, dtype);
}

static Value *dot_accumulator(Eval *eval, const Bound *bound, const Type *a, const Type *b)
{
    Value *c = dot_addend(eval, bound, a, b);
    if (c == NULL || dot_has_sum(a->dtype, c->type->dtype)) return c;
    return FAIL(eval, no_sum, bound->at, dtype_user_name(a->dtype), dtype_user_name(b->dtype),
                dtype_user_name(c->type->dtype));
}

static void *shapes_unfit(Eval *eval, const Type *a, const Type *b, Span at)
{
    FAIL(eval, shape_mismatch, at, type_text(eval->arena, a), type_text(eval->arena, b));
    if (eval->quiet > 0) return NULL;
    if (a->rank == 2 && b->rank == 2)
        diag_hint(
            eval->session->diags,
            "the left operand has %lld columns, so the right one needs as many rows, not %lld",
            (long long)a->shape[1], (long long)b->shape[0]);
    else
        diag_hint(eval->session->diags, "a product is of tiles of two dimensions");
    return NULL;
}

Object *core_dot(Eval *eval, const Bound *bound)
{
    Value *a = argument_value(eval, bound->values[0], TYPE_TILE, "the first operand of dot", NULL,
                              bound->at);
    Value *b = a != NULL ? argument_value(eval, bound->values[1], TYPE_TILE,
                                          "the second operand of dot", NULL, bound->at)
                         : NULL;
    if (b == NULL) return NULL;
    if (a->type->rank != 2 || b->type->rank != 2 || a->type->shape[1] != b->type->shape[0])
        return shapes_unfit(eval, a->type, b->type, bound->at);
    if (a->type->dtype != b->type->dtype)
        return FAIL(eval, dtype_mismatch, argument_span(eval, bound->values[1], bound->at),
                    "the second operand of dot", dtype_user_name(b->type->dtype),
                    dtype_user_name(a->type->dtype));
    Value *c = dot_accumulator(eval, bound, a->type, b->type);
    if (c == NULL) return NULL;
    const DType inner = dot_inner(a->type->dtype, c->type->dtype);
    Value *dot = build3(&eval->builder, OP_dot, a, b, stage_cast(eval, c, inner));
    bool tf32 = false;
    if (!argument_absent(bound->values[5]) && !object_truth(eval, bound->values[5], &tf32))
        return NULL;
    if (tf32 && a->type->dtype == DTYPE_f32) op_set_int(dot->op, ATTR_tf32, 1);
    for (int i = 0; i < 2; i++) {
        bool flag = false;
        if (!argument_absent(bound->values[6 + i]) &&
            !object_truth(eval, bound->values[6 + i], &flag))
            return NULL;
        if (flag) op_set_int(dot->op, i ? ATTR_joined : ATTR_async, 1);
    }
    return result_deliver(eval, stage_cast(eval, dot, c->type->dtype), bound->values[4]);
}

/* dot_commit(): the products that are open and joined, since the last time, are a group. */
Object *core_dot_commit(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    build_op(&eval->builder, OP_dot_commit, 0, NULL, 0, NULL);
    return eval->none;
}

/* dot_wait(count): all products that are open are done, but for so many of the latest. */
Object *core_dot_wait(Eval *eval, const Bound *bound)
{
    int64_t count;
    if (!stage_ready(eval, bound->at) ||
        !object_as_int(eval, bound->values[0], "the products in flight", &count))
        return NULL;
    if (count < 0 || count > 7)
        return FAIL(eval, count_range, bound->at, "the number of products in flight", 0LL, 7LL,
                    (long long)count);
    op_set_int(build_op(&eval->builder, OP_dot_wait, 0, NULL, 0, NULL), ATTR_count, count);
    return eval->none;
}

/* Stretches all to one shape. */
static bool join_all(Eval *eval, Value **values, int count, Span at)
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < count; i++)
            if (!stage_same_shape(eval, at, &values[i], &values[(i + 1) % count])) return false;
    return true;
}

static bool join_three(Eval *eval, Value **values, Span at)
{
    return join_all(eval, values, 3, at);
}

/* The first of two numbers of the program, of which the wider one gives the type, or that which was
 * made of one. */
static Object *with_second(Eval *eval, Object *x, const Object *y)
{
    DType said;
    if (!object_is_number(x) || number_said(x, &said)) return x;
    if (number_said(y, &said) && (x->kind != OBJECT_FLOAT || dtype_is_float(said)))
        return object_of_dtype(eval, x, said);
    return y->kind == OBJECT_FLOAT ? object_float(eval, object_number(x)) : x;
}

Object *core_where(Eval *eval, const Bound *bound)
{
    Object *x = bound->values[1], *y = bound->values[2];
    Value *values[3] = {stage_operand(eval, bound->values[0], bound->at)};
    if (values[0] == NULL) return NULL;
    if (values[0]->type->kind != TYPE_SCALAR && values[0]->type->kind != TYPE_TILE)
        return FAIL(eval, expected_kind, bound->at, "the condition", "a boolean",
                    object_repr(eval, bound->values[0]));
    if (!object_is_staged(x) && !object_is_staged(y))
        x = object_ir(eval, stage_operand(eval, with_second(eval, x, y), bound->at));
    values[0] = stage_cast(eval, values[0], DTYPE_b1);
    if (x == NULL || !stage_pair(eval, x, y, bound->at, &values[1], &values[2]) ||
        !join_three(eval, values, bound->at))
        return NULL;
    bool rare = false;
    if (!argument_absent(bound->values[4]) && !object_truth(eval, bound->values[4], &rare))
        return NULL;
    Value *chosen = build3(&eval->builder, OP_select, values[0], values[1], values[2]);
    if (rare) op_set_int(chosen->op, ATTR_rare, 1);
    return result_deliver(eval, chosen, bound->values[3]);
}

static Object *deliver_object(Eval *eval, Object *result, Object *out)
{
    if (result == NULL || argument_absent(out)) return result;
    Value *value = stage_operand(eval, result, eval->at);
    return value != NULL ? result_deliver(eval, value, out) : NULL;
}

Object *core_add(Eval *eval, const Bound *bound)
{
    Object *result =
        operate_binary(eval, OPERATOR_Add, bound->values[0], bound->values[1], bound->at);
    return deliver_object(eval, result, bound->values[2]);
}

Object *core_minimum(Eval *eval, const Bound *bound)
{
    Object *result =
        smaller_or_larger(eval, OPERATOR_Lt, bound->values[0], bound->values[1], bound->at);
    return deliver_object(eval, result, bound->values[2]);
}

Object *core_maximum(Eval *eval, const Bound *bound)
{
    Object *result =
        smaller_or_larger(eval, OPERATOR_Gt, bound->values[0], bound->values[1], bound->at);
    return deliver_object(eval, result, bound->values[2]);
}

static Object *elementwise(Eval *eval, const Bound *bound, OpCode code, bool floats_only)
{
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    if (value == NULL) return NULL;
    bool number = value->type->kind == TYPE_SCALAR || value->type->kind == TYPE_TILE;
    if (!number || value->type->dtype == DTYPE_b1 ||
        (floats_only && !dtype_is_float(value->type->dtype)))
        return FAIL(eval, expected_kind, bound->at, "the operand",
                    floats_only ? "a float" : "a number", object_repr(eval, bound->values[0]));
    return result_deliver(eval, build1(&eval->builder, code, value), bound->values[1]);
}

Object *core_absolute(Eval *eval, const Bound *bound)
{
    return elementwise(eval, bound, OP_abs, false);
}

Object *core_sqrt(Eval *eval, const Bound *bound)
{
    return elementwise(eval, bound, OP_sqrt, true);
}

Object *core_floor(Eval *eval, const Bound *bound)
{
    return elementwise(eval, bound, OP_floor, true);
}

Object *core_ceil(Eval *eval, const Bound *bound)
{
    return elementwise(eval, bound, OP_ceil, true);
}

Object *core_trunc(Eval *eval, const Bound *bound)
{
    return elementwise(eval, bound, OP_trunc, true);
}

Object *core_round_even(Eval *eval, const Bound *bound)
{
    return elementwise(eval, bound, OP_round, true);
}

static bool is_number_type(const Type *type)
{
    return type->kind == TYPE_SCALAR || type->kind == TYPE_TILE;
}

/* Rounded once, so nothing is promoted: what is known at run time has one float type, which
 * literals take. */
Object *core_fma(Eval *eval, const Bound *bound)
{
    const Type *type = NULL;
    Value *values[3];
    for (int i = 0; i < 3 && type == NULL; i++) type = argument_type(bound->values[i]);
    if (type == NULL || !is_number_type(type) || !dtype_is_float(type->dtype))
        return FAIL(eval, expected_kind, bound->at, "what fma multiplies", "a run-time float",
                    object_repr(eval, bound->values[0]));
    for (int i = 0; i < 3; i++) {
        const Type *given = argument_type(bound->values[i]);
        if (given != NULL && !is_number_type(given))
            return FAIL(eval, expected_kind, bound->at, "an operand of fma", "a number",
                        object_repr(eval, bound->values[i]));
        if (given != NULL && given->dtype != type->dtype)
            return FAIL(eval, dtype_mismatch, bound->at, "an operand of fma",
                        dtype_user_name(given->dtype), dtype_user_name(type->dtype));
        values[i] = given != NULL ? stage_operand(eval, bound->values[i], bound->at)
                                  : stage_scalar(eval, bound->values[i], type->dtype, bound->at);
        if (values[i] == NULL) return NULL;
    }
    if (!join_three(eval, values, bound->at)) return NULL;
    return object_ir(eval, build3(&eval->builder, OP_fma, values[0], values[1], values[2]));
}

/* The bytes of a word, the lowest first, which have a sign where it has one. */
static void split_word(Eval *eval, Value *word, Value **out)
{
    const DType dtype = word->type->dtype, byte = dtype == DTYPE_i32 ? DTYPE_i8 : DTYPE_u8;
    for (int i = 0; i < DP4A_BYTES; i++) {
        Value *by = stage_cast(eval, build_const(&eval->builder, DTYPE_i32, 8 * i), dtype),
              *place = word;
        if (i > 0 && stage_same_shape(eval, eval->at, &place, &by))
            place = build2(&eval->builder, OP_shr, place, by);
        out[i] = stage_cast(eval, place, byte);
    }
}

/* Four bytes of one type, or a word of them. */
static bool four_bytes(Eval *eval, Object *given, Value **out, Span at)
{
    const Type *type = argument_type(given);
    if (type != NULL && is_number_type(type) &&
        (type->dtype == DTYPE_i32 || type->dtype == DTYPE_u32)) {
        Value *word = stage_operand(eval, given, at);
        if (word != NULL) split_word(eval, word, out);
        return word != NULL;
    }
    if (!object_is_sequence(given) || given->as.list.count != DP4A_BYTES)
        return FAIL(eval, expected_kind, at, "an operand of dp4a",
                    "a list of four bytes, or a 32-bit word of them",
                    object_repr(eval, given)) != NULL;
    for (int i = 0; i < DP4A_BYTES; i++) {
        out[i] = stage_operand(eval, given->as.list.items[i], at);
        if (out[i] == NULL) return false;
        const DType dtype = out[i]->type->dtype;
        if (!is_number_type(out[i]->type) || (dtype != DTYPE_i8 && dtype != DTYPE_u8))
            return FAIL(eval, expected_kind, at, "what dp4a multiplies", "an int8 or a uint8",
                        object_repr(eval, given->as.list.items[i])) != NULL;
        if (dtype != out[0]->type->dtype)
            return FAIL(eval, dtype_mismatch, at, "a byte of dp4a", dtype_user_name(dtype),
                        dtype_user_name(out[0]->type->dtype)) != NULL;
    }
    return true;
}

Object *core_dp4a(Eval *eval, const Bound *bound)
{
    enum { COUNT = 1 + 2 * DP4A_BYTES };
    Value *values[COUNT];
    values[0] = stage_operand(eval, bound->values[2], bound->at);
    if (values[0] == NULL || !four_bytes(eval, bound->values[0], values + 1, bound->at) ||
        !four_bytes(eval, bound->values[1], values + 1 + DP4A_BYTES, bound->at))
        return NULL;
    const DType sum = values[0]->type->dtype;
    if (!is_number_type(values[0]->type) || (sum != DTYPE_i32 && sum != DTYPE_u32))
        return FAIL(eval, expected_kind, bound->at, "the sum of dp4a", "an int32 or a uint32",
                    object_repr(eval, bound->values[2]));
    if (!join_all(eval, values, COUNT, bound->at)) return NULL;
    Op *op = build_op(&eval->builder, OP_dp4a, COUNT, values, 1, &values[0]->type);
    return object_ir(eval, op->results);
}

/* a and b are f32, or a alone where the function has one operand. */
Object *core_approximate(Eval *eval, const Bound *bound)
{
    const Object *name = bound->values[0];
    Object *second = argument_absent(bound->values[2]) ? NULL : bound->values[2];
    Value *a, *b = NULL;
    if (name->kind != OBJECT_TEXT)
        return FAIL(eval, expected_kind, bound->at, "the function", "a name",
                    object_repr(eval, name));
    const char *function = arena_copy_text(eval->arena, name->as.text.data, name->as.text.length);
    if (second == NULL)
        a = stage_operand(eval, bound->values[1], bound->at);
    else if (!stage_pair(eval, bound->values[1], second, bound->at, &a, &b))
        return NULL;
    if (a == NULL) return NULL;
    if (!is_number_type(a->type))
        return FAIL(eval, expected_kind, bound->at, "what is approximated", "a number",
                    object_repr(eval, bound->values[1]));
    if (a->type->dtype != DTYPE_f32)
        return FAIL(eval, dtype_mismatch, bound->at, "what is approximated",
                    dtype_user_name(a->type->dtype), dtype_user_name(DTYPE_f32));
    return object_ir(eval, stage_approximate(eval, function, a, b));
}

Object *core_fast_math(Eval *eval, const Bound *bound)
{
    Staging *staging = eval->staging;
    if (!argument_absent(bound->values[0])) {
        bool wanted;
        if (!object_truth(eval, bound->values[0], &wanted)) return NULL;
        if (staging != NULL && !staging->fast_math_told)
            staging->fast_math = wanted || eval->options.fast_math;
    }
    return object_bool(eval, uses_fast_math(eval));
}

Object *core_fuse_fp(Eval *eval, const Bound *bound)
{
    Staging *staging = eval->staging;
    bool wanted;
    if (!argument_absent(bound->values[0])) {
        if (!object_truth(eval, bound->values[0], &wanted)) return NULL;
        if (staging != NULL && !staging->fuse_fp_told)
            staging->kernel->rounds_products = !wanted || eval->options.rounds_products;
    }
    return object_bool(eval, staging != NULL ? !staging->kernel->rounds_products
                                             : !eval->options.rounds_products);
}

Object *core_block_syncs(Eval *eval, const Bound *bound)
{
    Staging *staging = eval->staging;
    bool wanted;
    if (!argument_absent(bound->values[0])) {
        if (!object_truth(eval, bound->values[0], &wanted)) return NULL;
        if (staging != NULL) staging->block_syncs = wanted;
    }
    return object_bool(eval, staging != NULL && staging->block_syncs);
}

/* Its address, an integer. */
static Object *address_of(Eval *eval, Object *pointer, DType dtype)
{
    Value *value = stage_value(eval, pointer);
    return object_ir(eval,
                     core_build(eval, OP_bitcast, 1, &value, type_scalar(core_types(eval), dtype)));
}

Object *core_bitcast(Eval *eval, const Bound *bound)
{
    DType dtype;
    const Type *from = argument_type(bound->values[0]);
    if (!argument_dtype(eval, bound->values[1], bound->at, &dtype)) return NULL;
    if (from != NULL && from->kind == TYPE_POINTER && dtype_is_integer(dtype) &&
        dtype_bits(dtype) == 64)
        return address_of(eval, bound->values[0], dtype);
    if (from == NULL || (from->kind != TYPE_SCALAR && from->kind != TYPE_TILE))
        return FAIL(eval, expected_kind, bound->at, "what is taken as other bits",
                    "a run-time number", object_repr(eval, bound->values[0]));
    if (dtype_bits(from->dtype) != dtype_bits(dtype)) {
        FAIL(eval, expected_kind, bound->at,
             arena_printf(eval->arena, "what is taken as %s", dtype_user_name(dtype)),
             arena_printf(eval->arena, "of elements of %d bits", dtype_bits(dtype)),
             dtype_user_name(from->dtype));
        if (eval->quiet == 0)
            diag_hint(eval->session->diags, "cast it, which keeps numbers and not their bits");
        return NULL;
    }
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    return value == NULL
               ? NULL
               : object_ir(eval, core_build(eval, OP_bitcast, 1, &value,
                                            type_with_dtype(core_types(eval), value->type, dtype)));
}

/* ---- shared memory ---- */

Object *core_shared(Eval *eval, const Bound *bound)
{
    DType dtype;
    int rank;
    int64_t shape[TYPE_RANK];
    if (!stage_ready(eval, bound->at) ||
        !argument_dtype(eval, bound->values[0], bound->at, &dtype) ||
        !argument_shape(eval, bound->values[1], bound->at, &rank, shape))
        return NULL;
    return object_ir(eval, core_build(eval, OP_shared_alloc, 0, NULL,
                                      type_shared(core_types(eval), dtype, rank, shape, NULL)));
}

Object *core_shared_load(Eval *eval, const Bound *bound)
{
    Value *shared =
        argument_value(eval, bound->values[0], TYPE_SHARED, "what is loaded", NULL, bound->at);
    return shared != NULL ? result_deliver(eval, build1(&eval->builder, OP_shared_load, shared),
                                           bound->values[1])
                          : NULL;
}

Object *core_shared_store(Eval *eval, const Bound *bound)
{
    Value *shared =
        argument_value(eval, bound->values[0], TYPE_SHARED, "where it is stored", NULL, bound->at);
    Value *tile = shared != NULL ? argument_value(eval, bound->values[1], TYPE_TILE,
                                                  "what is stored", NULL, bound->at)
                                 : NULL;
    if (tile == NULL) return NULL;
    if (tile->type->dtype != shared->type->dtype)
        return FAIL(eval, dtype_mismatch, argument_span(eval, bound->values[1], bound->at),
                    "what is stored", dtype_user_name(tile->type->dtype),
                    dtype_user_name(shared->type->dtype));
    if (!type_same_shape(tile->type, shared->type))
        return FAIL(eval, shape_mismatch, argument_span(eval, bound->values[1], bound->at),
                    type_text(eval->arena, tile->type), type_text(eval->arena, shared->type));
    build2(&eval->builder, OP_shared_store, shared, tile);
    return eval->none;
}
