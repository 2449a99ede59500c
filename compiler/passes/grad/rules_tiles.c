/* rules_tiles.c: adjoints of ops that move and combine the elements of tiles. */
#include "passes/grad/grad.h"

#include <string.h>

/* ---- building ---- */

static Value *build_to(Grad *grad, OpCode code, Value *a, const Type *type)
{
    return build_op(&grad->builder, code, 1, &a, 1, &type)->results;
}

static Value *in_shape_of(Grad *grad, Value *a, const Type *shape)
{
    return build_to(grad, OP_reshape, a,
                    type_with_dtype(grad->kernel->types, shape, a->type->dtype));
}

static Value *stretched(Grad *grad, Value *a, const Type *shape)
{
    const Type *type = type_with_dtype(grad->kernel->types, shape, a->type->dtype);
    return a->type == type ? a : build_to(grad, OP_broadcast, a, type);
}

static Value *reduced(Grad *grad, Value *a, const char *mode, int count, const int64_t *dims)
{
    Type type = *a->type;
    type.layout = NULL;
    for (int i = 0; i < count; i++) type.shape[dims[i]] = 1;
    Value *result = build_to(grad, OP_reduce, a, type_intern(grad->kernel->types, &type));
    op_set_ints(result->op, ATTR_dims, count, dims);
    op_set_text(result->op, ATTR_mode, intern_text(grad->kernel->session->names, mode));
    return result;
}

static Value *coordinate(Grad *grad, const Type *shape, int dim)
{
    const Type *type = type_with_dtype(grad->kernel->types, shape, DTYPE_i32);
    Op *op = build_op(&grad->builder, OP_iota, 0, NULL, 1, &type);
    op_set_int(op, ATTR_dim, dim);
    return op->results;
}

static Value *whole_of(Grad *grad, const Op *op)
{
    return whole_adjoint(grad, take_adjoint(grad, op->results));
}

/* ---- shapes ---- */

void adjoint_splat(Grad *grad, Op *op)
{
    Value *adjoint = whole_of(grad, op);
    int64_t dims[TYPE_RANK];
    if (!takes_adjoint(operand(op, a))) return;
    for (int d = 0; d < adjoint->type->rank; d++) dims[d] = d;
    Value *sum = reduced(grad, adjoint, "add", adjoint->type->rank, dims);
    give_total(grad, operand(op, a), build1(&grad->builder, OP_item, sum));
}

void adjoint_broadcast(Grad *grad, Op *op)
{
    Value *adjoint = whole_of(grad, op);
    const Type *from = operand(op, a)->type;
    int64_t dims[TYPE_RANK];
    int count = 0;
    for (int d = 0; d < from->rank; d++)
        if (from->shape[d] != adjoint->type->shape[d]) dims[count++] = d;
    give_total(grad, operand(op, a), count ? reduced(grad, adjoint, "add", count, dims) : adjoint);
}

void adjoint_reshape(Grad *grad, Op *op)
{
    give_total(grad, operand(op, a), in_shape_of(grad, whole_of(grad, op), operand(op, a)->type));
}

void adjoint_convert(Grad *grad, Op *op)
{
    give_total(grad, operand(op, a), whole_of(grad, op));
}

static Value *transposed(Grad *grad, Value *a, const int64_t *dims)
{
    Type type = *a->type;
    type.layout = NULL;
    for (int d = 0; d < type.rank; d++) type.shape[d] = a->type->shape[dims[d]];
    Value *result = build_to(grad, OP_transpose, a, type_intern(grad->kernel->types, &type));
    op_set_ints(result->op, ATTR_dims, type.rank, dims);
    return result;
}

void adjoint_transpose(Grad *grad, Op *op)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    int64_t back[TYPE_RANK];
    for (int d = 0; d < dims->count; d++) back[dims->integers[d]] = d;
    give_total(grad, operand(op, a), transposed(grad, whole_of(grad, op), back));
}

/* ---- by way of shared memory ---- */

static Value *memory_of(Grad *grad, const Value *tile)
{
    const Type *type = type_shared(grad->kernel->types, tile->type->dtype, tile->type->rank,
                                   tile->type->shape, NULL);
    return build_op(&grad->builder, OP_shared_alloc, 0, NULL, 1, &type)->results;
}

static Value *stored(Grad *grad, Value *tile)
{
    Value *memory = memory_of(grad, tile);
    build2(&grad->builder, OP_shared_store, memory, tile);
    return memory;
}

/* The elements along the dimension from the last to the first. */
static Value *turned(Grad *grad, Value *tile, int dim)
{
    Value *operands[1 + TYPE_RANK] = {stored(grad, tile)};
    for (int d = 0; d < tile->type->rank; d++) {
        Value *at = coordinate(grad, tile->type, d);
        if (d == dim)
            at = build2(&grad->builder, OP_sub,
                        integer_of(grad, at->type, tile->type->shape[d] - 1), at);
        operands[1 + d] = at;
    }
    const Type *type = tile->type;
    return build_op(&grad->builder, OP_gather, 1 + type->rank, operands, 1, &type)->results;
}

/* An element counts for all those at it and behind it. */
void adjoint_scan(Grad *grad, Op *op)
{
    const int dim = (int)op_int(op, ATTR_dim, 0);
    Value *adjoint = whole_of(grad, op);
    if (strcmp(op_attr(op, ATTR_mode)->text, "add") != 0) {
        grad_refuse(grad, op, "it is known of sums alone");
        return;
    }
    Value *sums = build1(&grad->builder, OP_scan, turned(grad, adjoint, dim));
    op_set_int(sums->op, ATTR_dim, dim);
    op_keep_attr(sums->op, op, ATTR_mode);
    op_keep_attr(sums->op, op, ATTR_exclusive);
    give_total(grad, operand(op, a), turned(grad, sums, dim));
}

/* ---- reductions ---- */

/* The number of each element among those that are reduced together. */
static Value *number_among(Grad *grad, const Type *shape, const Attr *dims)
{
    Value *number = NULL;
    for (int i = 0; i < dims->count; i++) {
        const int d = (int)dims->integers[i];
        Value *at = coordinate(grad, shape, d);
        if (number)
            number =
                build2(&grad->builder, OP_mul, number, integer_of(grad, at->type, shape->shape[d]));
        number = number ? build2(&grad->builder, OP_add, number, at) : at;
    }
    return number;
}

/* The first of those that are what was found. */
static Value *through_found(Grad *grad, const Op *op, Value *adjoint)
{
    Builder *builder = &grad->builder;
    const Attr *dims = op_attr(op, ATTR_dims);
    const Type *shape = operand(op, a)->type;
    Value *number = number_among(grad, shape, dims);
    Value *found = build_cmp(builder, "eq", primal(grad, operand(op, a)),
                             stretched(grad, primal(grad, op->results), shape));
    Value *none = integer_of(grad, number->type, INT32_MAX);
    Value *first = reduced(grad, build3(builder, OP_select, found, number, none), "min",
                           dims->count, dims->integers);
    Value *is_first = build_cmp(builder, "eq", number, stretched(grad, first, shape));
    return build3(builder, OP_select, is_first, adjoint, number_of(grad, adjoint->type, 0));
}

/* The product of the others: of those that are not zero, unless another one is. */
static Value *through_product(Grad *grad, const Op *op, Value *adjoint)
{
    Builder *builder = &grad->builder;
    const Attr *dims = op_attr(op, ATTR_dims);
    Value *a = primal(grad, operand(op, a));
    Value *zero = number_of(grad, a->type, 0), *one = number_of(grad, a->type, 1);
    Value *is_zero = build_cmp(builder, "eq", a, zero);
    Value *rest = build3(builder, OP_select, is_zero, one, a);
    Value *zeros = build3(builder, OP_select, is_zero, one, zero);
    Value *product = reduced(grad, rest, "mul", dims->count, dims->integers);
    Value *count = reduced(grad, zeros, "add", dims->count, dims->integers);
    Value *others = build2(builder, OP_sub, stretched(grad, count, a->type), zeros);
    Value *alone = build_cmp(builder, "eq", others, zero);
    Value *by = build2(builder, OP_div, stretched(grad, product, a->type), rest);
    return build2(builder, OP_mul, adjoint, build3(builder, OP_select, alone, by, zero));
}

void adjoint_reduce(Grad *grad, Op *op)
{
    const char *mode = op_attr(op, ATTR_mode)->text;
    Value *adjoint = stretched(grad, whole_of(grad, op), operand(op, a)->type);
    if (!is_differentiable(op->results) && strcmp(mode, "or") != 0) {
        grad_refuse(grad, op, "it is of the bits of a number");
        return;
    }
    if (strcmp(mode, "mul") == 0) adjoint = through_product(grad, op, adjoint);
    if (strcmp(mode, "max") == 0 || strcmp(mode, "min") == 0)
        adjoint = through_found(grad, op, adjoint);
    give_total(grad, operand(op, a), adjoint);
}

void adjoint_item(Grad *grad, Op *op)
{
    Value *adjoint = whole_of(grad, op);
    give_total(grad, operand(op, a), spread(grad, operand(op, a)->type, adjoint));
}

/* ---- products ---- */

/* Operands of products are of the program's types, or f16 where these are less; sums are not. */
static DType factor_dtype(const Value *factor)
{
    return dtype_bits(factor->type->dtype) < 16 ? DTYPE_f16 : factor->type->dtype;
}

static Value *factor_of(Grad *grad, Value *value, DType dtype)
{
    return build_cast(&grad->builder, dtype, value);
}

static Value *turned_factor(Grad *grad, const Value *value, DType dtype)
{
    static const int64_t dims[] = {1, 0};
    return transposed(grad, factor_of(grad, replayed(grad, value), dtype), dims);
}

static void give_product(Grad *grad, const Op *op, Value *to, Value *a, Value *b)
{
    if (!is_differentiable(to)) return;
    Value *zero = number_of(grad, adjoint_type(grad, to), 0);
    Value *product = build3(&grad->builder, OP_dot, a, b, zero);
    op_keep_attr(product->op, op, ATTR_tf32);
    give_total(grad, to, product);
}

/* c + a @ b: of a it is the adjoint @ b transposed, of b a transposed @ the adjoint. */
void adjoint_dot(Grad *grad, Op *op)
{
    Value *adjoint = whole_of(grad, op), *a = operand(op, a), *b = operand(op, b);
    if (is_differentiable(a)) {
        const DType dtype = factor_dtype(b);
        give_product(grad, op, a, factor_of(grad, adjoint, dtype), turned_factor(grad, b, dtype));
    }
    if (is_differentiable(b)) {
        const DType dtype = factor_dtype(a);
        give_product(grad, op, b, turned_factor(grad, a, dtype), factor_of(grad, adjoint, dtype));
    }
    give_total(grad, operand(op, c), adjoint);
}
