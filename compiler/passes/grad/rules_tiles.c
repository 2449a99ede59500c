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

static bool turns_back(const Op *op, const int64_t *dims)
{
    const Attr *before = op_attr(op, ATTR_dims);
    for (int d = 0; d < before->count; d++)
        if (before->integers[dims[d]] != d) return false;
    return true;
}

static Value *transposed(Grad *grad, Value *a, const int64_t *dims);

/* (a @ b) transposed, of which nothing else is made. */
static Value *turned_product(Grad *grad, const Op *dot, const int64_t *dims)
{
    Value *a = transposed(grad, operand(dot, b), dims),
          *b = transposed(grad, operand(dot, a), dims);
    const int64_t shape[] = {a->type->shape[0], b->type->shape[1]};
    const DType dtype = dot->results->type->dtype;
    Value *zero = number_of(grad, type_tile(grad->kernel->types, dtype, 2, shape, NULL), 0);
    Value *product = build3(&grad->builder, OP_dot, a, b, zero);
    op_keep_attr(product->op, dot, ATTR_tf32);
    return product;
}

static Value *transposed(Grad *grad, Value *a, const int64_t *dims)
{
    const Op *op = a->op;
    Type type = *a->type;
    if (op && op->code == OP_transpose && turns_back(op, dims)) return operand(op, a);
    if (op && op->code == OP_dot && !a->use_count && dims[0] == 1 && value_is_zero(operand(op, c)))
        return turned_product(grad, op, dims);
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

/* Along the dimension the elements at these places. */
static Value *picked(Grad *grad, Value *tile, int dim, Value *indices)
{
    Value *operands[1 + TYPE_RANK] = {stored(grad, tile)};
    for (int d = 0; d < tile->type->rank; d++)
        operands[1 + d] = d == dim ? indices : coordinate(grad, tile->type, d);
    const Type *type = tile->type;
    return build_op(&grad->builder, OP_gather, 1 + type->rank, operands, 1, &type)->results;
}

/* Those one place further along the dimension, or one before; at the border it is its own. */
static Value *neighbours(Grad *grad, Value *tile, int dim, int step)
{
    Builder *builder = &grad->builder;
    Value *at = coordinate(grad, tile->type, dim);
    Value *index = build2(builder, OP_add, at, integer_of(grad, at->type, step));
    const int64_t border = step < 0 ? 0 : tile->type->shape[dim] - 1;
    index = build2(builder, step < 0 ? OP_max : OP_min, index, integer_of(grad, at->type, border));
    return picked(grad, tile, dim, index);
}

static Value *scanned(Grad *grad, Value *a, int dim, const char *mode)
{
    Value *result = build1(&grad->builder, OP_scan, a);
    op_set_int(result->op, ATTR_dim, dim);
    op_set_text(result->op, ATTR_mode, intern_text(grad->kernel->session->names, mode));
    return result;
}

/* An element counts for all those at it and behind it; in reverse, before it. */
static Value *through_sums(Grad *grad, const Op *op, Value *adjoint, int dim)
{
    Value *sums = scanned(grad, adjoint, dim, "add");
    op_keep_attr(sums->op, op, ATTR_exclusive);
    if (!op_int(op, ATTR_reverse, 0)) op_set_int(sums->op, ATTR_reverse, 1);
    return sums;
}

/* Those so many places further along the dimension; zero where there are none. */
static Value *further(Grad *grad, Value *tile, int dim, int64_t step)
{
    Builder *builder = &grad->builder;
    Value *at = coordinate(grad, tile->type, dim);
    Value *index = build2(builder, OP_add, at, integer_of(grad, at->type, step));
    Value *last = integer_of(grad, at->type, tile->type->shape[dim] - 1);
    Value *inside = build_cmp(builder, "le", index, last);
    return build3(builder, OP_select, inside,
                  picked(grad, tile, dim, build2(builder, OP_min, index, last)),
                  number_of(grad, tile->type, 0));
}

/* An element counts, times all before it, for the sum of the adjoints from it on, each times what
 * lies between: sum(i) = adjoint(i) + a(i + 1) sum(i + 1), of twice as many each time. */
static Value *through_products(Grad *grad, const Op *op, Value *adjoint, int dim)
{
    Builder *builder = &grad->builder;
    Value *a = primal(grad, operand(op, a)), *before = scanned(grad, a, dim, "mul");
    Value *sum = op_int(op, ATTR_exclusive, 0) ? further(grad, adjoint, dim, 1) : adjoint;
    Value *between = further(grad, a, dim, 1);
    op_set_int(before->op, ATTR_exclusive, 1);
    for (int64_t step = 1; step < a->type->shape[dim]; step *= 2) {
        sum = build2(builder, OP_add, sum,
                     build2(builder, OP_mul, between, further(grad, sum, dim, step)));
        between = build2(builder, OP_mul, between, further(grad, between, dim, step));
    }
    return build2(builder, OP_mul, before, sum);
}

/* Of each place that of the first of those up to it that is the greatest, or least: the last one at
 * which something came that was more than all before it. */
static Value *indices_found(Grad *grad, const Op *op, int dim, bool is_max)
{
    Builder *builder = &grad->builder;
    Value *a = primal(grad, operand(op, a)), *before = primal(grad, op->results);
    if (!op_int(op, ATTR_exclusive, 0)) before = neighbours(grad, before, dim, -1);
    Value *at = coordinate(grad, a->type, dim), *first = integer_of(grad, at->type, 0);
    Value *is_more = build_cmp(builder, is_max ? "gt" : "lt", a, before);
    return scanned(grad, build3(builder, OP_select, is_more, at, first), dim, "max");
}

static Value *sums_at(Grad *grad, Value *adjoint, int dim, Value *indices)
{
    Builder *builder = &grad->builder;
    Value *memory = stored(grad, number_of(grad, adjoint->type, 0));
    Value *operands[2 + TYPE_RANK] = {memory, adjoint};
    for (int d = 0; d < adjoint->type->rank; d++)
        operands[2 + d] = d == dim ? indices : coordinate(grad, adjoint->type, d);
    const Type *type = adjoint->type;
    as_sum(grad, build_op(builder, OP_atomic, 2 + type->rank, operands, 1, &type), memory);
    return build1(builder, OP_shared_load, memory);
}

/* Where nothing came before, an exclusive scan has nothing of the program's. */
static Value *through_extremes(Grad *grad, const Op *op, Value *adjoint, int dim, bool is_max)
{
    Builder *builder = &grad->builder;
    Value *indices = indices_found(grad, op, dim, is_max);
    if (op_int(op, ATTR_exclusive, 0)) {
        Value *at = coordinate(grad, adjoint->type, dim);
        Value *last = integer_of(grad, at->type, adjoint->type->shape[dim] - 1);
        Value *is_last = build_cmp(builder, "eq", at, last);
        adjoint = build3(builder, OP_select, is_last, number_of(grad, adjoint->type, 0),
                         neighbours(grad, adjoint, dim, 1));
    }
    return sums_at(grad, adjoint, dim, indices);
}

void adjoint_scan(Grad *grad, Op *op)
{
    const int dim = (int)op_int(op, ATTR_dim, 0);
    const char *mode = op_attr(op, ATTR_mode)->text;
    const bool is_max = strcmp(mode, "max") == 0;
    if (op_int(op, ATTR_reverse, 0) && strcmp(mode, "add") != 0) {
        grad_refuse(grad, op, "it is a scan of extremes or products from the end");
        return;
    }
    Value *adjoint = whole_of(grad, op);
    if (strcmp(mode, "add") == 0)
        adjoint = through_sums(grad, op, adjoint, dim);
    else if (is_max || strcmp(mode, "min") == 0)
        adjoint = through_extremes(grad, op, adjoint, dim, is_max);
    else
        adjoint = through_products(grad, op, adjoint, dim);
    give_total(grad, operand(op, a), adjoint);
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
