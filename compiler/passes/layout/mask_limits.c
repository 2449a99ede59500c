/* mask_limits.c: masks of several comparisons, as limits of rows.
 *
 *     row < base + j or base + j >= end or row >= rows        of elements j of a row
 *
 * compares each element with what is one number for a row, or for all of them. Where the numbers
 * are known, so is from which j on it holds, and each element makes one comparison:
 *
 *     j >= least(row - base + 1, end - base), or 0 where row >= rows
 *
 * One that holds below a limit is another comparison. A row is some number and the row's own, so
 * that differences are of numbers that are the same for all elements: of 64 bits, in which none
 * wraps, and then brought to where the tile is. Where base + j may wrap, what the text has is done
 * in those launches where it does.
 *
 * Needs SSA, before layouts; leaves a TYPED kernel. */
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"
#include "ir/op_vec.h"

#include <string.h>

enum { SIDES = 2 /* of a limit: what holds from it on, and what holds below it */ };

typedef struct Limits {
    FactTable *facts;
    Builder builder;
    const Type *row;    /* i32, extent 1 along the dimension */
    int dim;            /* along which elements are compared with limits */
    OpCode code;        /* OP_or, OP_and */
    Value *side[SIDES]; /* NULL: no comparison is of that side */
    Value *rows;        /* b1, of whole rows */
    Map made_rows;      /* tiles of rows -> the same numbers, once for each row */
    Value *rest;        /* what is no such comparison */
    Value *exact;       /* whether no sum wraps; NULL: none can */
    bool branches;      /* around the mask, where all elements go the other way */
    Value *idle;        /* whether they do; NULL: that is not known */
} Limits;

static const Type *row_of(const Limits *limits, DType dtype)
{
    return type_with_dtype(limits->builder.kernel->types, limits->row, dtype);
}

static Value *build_typed(Limits *limits, OpCode code, Value *a, const Type *type)
{
    return build_op(&limits->builder, code, 1, &a, 1, &type)->results;
}

static Value *build_iota(Limits *limits, const Type *type, int dim)
{
    Op *made = build_op(&limits->builder, OP_iota, 0, NULL, 1, &type);
    op_set_int(made, ATTR_dim, dim);
    return made->results;
}

/* ---- what is one number for a row ---- */

static bool is_row(const Limits *limits, const Type *type)
{
    return type->rank == limits->row->rank &&
           memcmp(type->shape, limits->row->shape, sizeof(int64_t) * (size_t)type->rank) == 0;
}

static ValueAnswer is_of_elements(const Value *value, void *context)
{
    const Limits *limits = context;
    const Op *op = value->op;
    switch (op ? (int)op->code : OP_COUNT) {
    case OP_splat: return VALUE_ENOUGH;
    case OP_iota: return op_int(op, ATTR_dim, 0) == limits->dim ? VALUE_FOUND : VALUE_ENOUGH;
    case OP_broadcast: return is_row(limits, operand(op, a)->type) ? VALUE_ENOUGH : VALUE_FOUND;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_min:
    case OP_max:
    case OP_cmp:
    case OP_and:
    case OP_or: return operand(op, a)->type->dtype == DTYPE_f64 ? VALUE_FOUND : VALUE_OPERANDS;
    default: return VALUE_FOUND;
    }
}

static bool is_of_rows(const Limits *limits, const Value *value)
{
    return !value_finds(value, is_of_elements, (Limits *)(uintptr_t)limits);
}

/* The same numbers, once for each row. */
static Value *build_rows(Limits *limits, const Value *value)
{
    const Op *op = value->op;
    const Type *type = row_of(limits, value->type->dtype);
    Value *known = map_get(&limits->made_rows, value);
    if (known) return known;
    if (op->code == OP_broadcast) return operand(op, a);
    if (op->code == OP_splat) return build_typed(limits, OP_splat, operand(op, a), type);
    Op *made;
    if (op->code == OP_iota) {
        made = build_op(&limits->builder, OP_iota, 0, NULL, 1, &type);
    } else {
        Value *operands[2] = {build_rows(limits, operand(op, a)),
                              build_rows(limits, operand(op, b))};
        made = build_op(&limits->builder, op->code, 2, operands, 1, &type);
    }
    op_keep_attrs(made, op);
    map_set(limits->builder.kernel->arena, &limits->made_rows, value, made->results);
    return made->results;
}

/* ---- sums of one number and coordinates ---- */

enum { NONE = -1 /* it is no such sum */ };

static unsigned long_dims(const Type *type)
{
    unsigned dims = 0;
    for (int d = 0; d < type->rank; d++)
        if (type->shape[d] > 1) dims |= 1u << d;
    return dims;
}

/* The dimensions along which it grows by 1, a bit each. */
static int dims_of_sum(const Value *value)
{
    const Op *op = value->op;
    if (!op || value->type->kind != TYPE_TILE || value->type->dtype != DTYPE_i32) return NONE;
    if (op->code == OP_splat) return 0;
    if (op->code == OP_iota) return (int)(1U << op_int(op, ATTR_dim, 0) & long_dims(value->type));
    if (op->code == OP_broadcast) return dims_of_sum(operand(op, a));
    if (op->code != OP_add && op->code != OP_sub) return NONE;
    const int a = dims_of_sum(operand(op, a)), b = a == NONE ? NONE : dims_of_sum(operand(op, b));
    return b == NONE || a & b || (op->code == OP_sub && b) ? NONE : a | b;
}

static void note_exact(Limits *limits, const char *predicate, Value *number, int64_t limit)
{
    Builder *builder = &limits->builder;
    Value *fits = build_cmp(builder, predicate, number, build_const(builder, DTYPE_i64, limit));
    limits->exact = limits->exact ? build2(builder, OP_and, limits->exact, fits) : fits;
}

static void check_sum(Limits *limits, const Value *value, Value *least)
{
    const int dims = dims_of_sum(value);
    int64_t most = 0;
    if (facts_are_bounded(facts_of(limits->facts, value))) return;
    for (int d = 0; d < value->type->rank; d++)
        if (dims >> d & 1) most += value->type->shape[d] - 1;
    note_exact(limits, "ge", least, INT32_MIN);
    note_exact(limits, "le", least, INT32_MAX - most);
}

/* Of the first element, an i64. */
static Value *find_least(Limits *limits, const Value *value)
{
    const Op *op = value->op;
    Builder *builder = &limits->builder;
    if (op->code == OP_splat) return build_cast(builder, DTYPE_i64, operand(op, a));
    if (op->code == OP_iota) return build_const(builder, DTYPE_i64, 0);
    if (op->code == OP_broadcast) return find_least(limits, operand(op, a));
    Value *least = build2(builder, op->code, find_least(limits, operand(op, a)),
                          find_least(limits, operand(op, b)));
    check_sum(limits, value, least);
    return least;
}

/* ---- comparisons ---- */

/* `row PREDICATE column`, of what grows along the dimension alone, and what does not grow there. */
typedef struct Comparison {
    Value *row, *column;
    bool less, equal; /* row < column, row <= column; or the opposite ones */
} Comparison;

static bool find_comparison(const Limits *limits, const Value *mask, Comparison *out)
{
    Order order;
    if (!mask->op || mask->op->code != OP_cmp || !order_of(mask->op, &order)) return false;
    const int less = dims_of_sum(order.less), more = dims_of_sum(order.more),
              along = 1 << limits->dim;
    if (less == NONE || more == NONE) return false;
    *out = more == along ? (Comparison){order.less, order.more, true, order.equal}
                         : (Comparison){order.more, order.less, false, order.equal};
    return more == along ? !(less & along) : less == along && !(more & along);
}

/* What holds in a row from its limit on, or below it, holds where it holds for any of them, or for
 * all. */
static void join_limit(Limits *limits, int side, Value *limit)
{
    const bool least = (side == 0) == (limits->code == OP_or);
    Value *before = limits->side[side];
    limits->side[side] =
        before ? build2(&limits->builder, least ? OP_min : OP_max, before, limit) : limit;
}

static Value *clamp(Builder *builder, Value *value, int64_t low, int64_t high)
{
    value = build2(builder, OP_max, value, build_const(builder, DTYPE_i64, low));
    value = build2(builder, OP_min, value, build_const(builder, DTYPE_i64, high));
    return build_cast(builder, DTYPE_i32, value);
}

static void join_idle(Limits *limits, const char *predicate, Value *number, int64_t limit)
{
    Builder *builder = &limits->builder;
    Value *idle = build_cmp(builder, predicate, number, build_const(builder, DTYPE_i64, limit));
    limits->idle = limits->idle ? build2(builder, OP_and, limits->idle, idle) : idle;
}

/* By the limit of the first row, which grows from row to row: no element is on its side of it, or
 * all are, where the mask asks for all. */
static void note_idle(Limits *limits, Value *limit, bool from, int64_t extent, int64_t rows)
{
    if (!limits->branches) return;
    if (from == (limits->code == OP_or))
        join_idle(limits, "ge", limit, extent);
    else
        join_idle(limits, "le", limit, 1 - rows);
}

static void add_comparison(Limits *limits, const Comparison *comparison)
{
    Builder *builder = &limits->builder;
    const Type *row = row_of(limits, DTYPE_i32), *type = comparison->row->type;
    const int rows = dims_of_sum(comparison->row), other = 1 - limits->dim;
    Value *limit = build2(builder, OP_sub, find_least(limits, comparison->row),
                          find_least(limits, comparison->column));
    if (comparison->less != comparison->equal) /* row < j: from row + 1 on; row >= j: below that */
        limit = build2(builder, OP_add, limit, build_const(builder, DTYPE_i64, 1));
    note_idle(limits, limit, comparison->less, type->shape[limits->dim],
              rows ? type->shape[other] : 1);
    limit = clamp(builder, limit, rows ? -type->shape[other] : 0, type->shape[limits->dim]);
    limit = build_typed(limits, OP_splat, limit, row);
    if (rows) limit = build2(builder, OP_add, limit, build_iota(limits, row, other));
    join_limit(limits, !comparison->less, limit);
}

/* Of rows: their numbers less those of the other side are as far apart as rows and others are. */
static void note_idle_rows(Limits *limits, const Value *mask)
{
    const Op *op = mask->op;
    const bool is_cmp = op->code == OP_cmp;
    const int a = is_cmp ? dims_of_sum(operand(op, a)) : NONE,
              b = is_cmp ? dims_of_sum(operand(op, b)) : NONE;
    Order order;
    if (!limits->branches) return;
    if (a == NONE || b == NONE || !order_of(op, &order)) {
        limits->branches = false;
        return;
    }
    const int64_t most = mask->type->shape[1 - limits->dim] - 1;
    Value *difference = build2(&limits->builder, OP_sub, find_least(limits, operand(op, a)),
                               find_least(limits, operand(op, b)));
    const bool is_or = limits->code == OP_or, /* of what idle rows are */
        is_less = (order.less == operand(op, a)) != is_or, is_equal = order.equal != is_or;
    if (is_less)
        join_idle(limits, is_equal ? "le" : "lt", difference, a ? -most : 0);
    else
        join_idle(limits, is_equal ? "ge" : "gt", difference, b ? most : 0);
}

static Value *joined(Limits *limits, Value *before, Value *more)
{
    return before ? build2(&limits->builder, limits->code, before, more) : more;
}

static bool is_inner(const Limits *limits, const Value *mask)
{
    return mask->op && mask->op->code == limits->code;
}

static void add_mask(Limits *limits, Value *mask, bool whole)
{
    Comparison comparison;
    if (is_inner(limits, mask) && (whole || mask->use_count == 1)) {
        add_mask(limits, operand(mask->op, a), false);
        add_mask(limits, operand(mask->op, b), false);
    } else if (find_comparison(limits, mask, &comparison)) {
        add_comparison(limits, &comparison);
    } else if (is_of_rows(limits, mask)) {
        note_idle_rows(limits, mask);
        limits->rows = joined(limits, limits->rows, build_rows(limits, mask));
    } else {
        limits->branches = false;
        limits->rest = joined(limits, limits->rest, mask);
    }
}

/* Rows of which all elements are masked, or none is, have their limit at an end. */
static void use_rows(Limits *limits, int64_t extent)
{
    Builder *builder = &limits->builder;
    const int side = limits->side[0] ? 0 : 1;
    const bool is_or = limits->code == OP_or, first = (side == 0) == is_or;
    if (!limits->rows) return;
    Value *end = build_const(builder, DTYPE_i32, first ? 0 : extent), *limit = limits->side[side];
    end = build_typed(limits, OP_splat, end, limits->row);
    limits->side[side] =
        build3(builder, OP_select, limits->rows, is_or ? end : limit, is_or ? limit : end);
}

static Value *build_mask(Limits *limits, const Type *type)
{
    static const char *const PREDICATES[SIDES] = {"ge", "lt"};
    Builder *builder = &limits->builder;
    const Type *whole = type_with_dtype(builder->kernel->types, type, DTYPE_i32);
    use_rows(limits, type->shape[limits->dim]);
    Value *elements = build_iota(limits, whole, limits->dim), *mask = limits->rest;
    for (int side = 0; side < SIDES; side++) {
        Value *limit = limits->side[side];
        if (!limit) continue;
        limit = build_typed(limits, OP_broadcast, limit, whole);
        mask = joined(limits, mask, build_cmp(builder, PREDICATES[side], elements, limit));
    }
    return mask;
}

/* ---- masks ---- */

/* Of comparisons that it is made of, those that would be limits, and the sides of these. */
static int count_leaves(const Limits *limits, const Value *mask, bool whole, bool sides[SIDES])
{
    Comparison comparison;
    if (is_inner(limits, mask) && (whole || mask->use_count == 1))
        return count_leaves(limits, operand(mask->op, a), false, sides) +
               count_leaves(limits, operand(mask->op, b), false, sides);
    if (!find_comparison(limits, mask, &comparison)) return is_of_rows(limits, mask);
    sides[!comparison.less] = true;
    return 1;
}

/* A word of bits has both sides, so that two comparisons take as much as one. */
static bool pays(const Limits *limits, const Value *mask)
{
    bool sides[SIDES] = {false};
    const int leaves = count_leaves(limits, mask, true, sides);
    return (sides[0] || sides[1]) && leaves > 1;
}

/* What a product begins with, not in a loop of products alone, whose iterations masks tells apart.
 */
static bool begins_product(const Op *choice)
{
    const Op *loop = op_enclosing(choice, OP_for);
    bool begins = false;
    for (const OpUse *use = choice->results[0].uses; use; use = use->next)
        begins = begins || (use->op->code == OP_dot && operand(use->op, c) == choice->results);
    return begins && !(loop && loop_products(loop) && !region_has(loop->regions[0], OP_for));
}

static Limits limits_along(FactTable *facts, Op *choice, int dim)
{
    const Value *mask = operand(choice, condition);
    int64_t shape[TYPE_RANK];
    for (int d = 0; d < mask->type->rank; d++) shape[d] = d == dim ? 1 : mask->type->shape[d];
    Limits limits = {.facts = facts, .builder = builder_before(choice), .dim = dim};
    limits.branches = begins_product(choice);
    limits.code = mask->op->code;
    limits.row = type_tile(limits.builder.kernel->types, DTYPE_i32, mask->type->rank, shape, NULL);
    return limits;
}

static void build_yield(Builder *builder, Value *value)
{
    build_op(builder, OP_yield, 1, &value, 0, NULL);
}

static Value *build_select(Builder *builder, const Op *choice, Value *mask)
{
    return build3(builder, OP_select, mask, operand(choice, a), operand(choice, b));
}

/* What the text has, where a sum wraps. */
static Value *build_either(const Limits *limits, Builder *builder, const Op *choice, Value *mask)
{
    Value *text = operand(choice, condition), *exact = limits->exact;
    if (!exact) return build_select(builder, choice, mask);
    Op *branch = build_op(builder, OP_if, 1, &exact, 1, &(const Type *){choice->results[0].type});
    for (int r = 0; r < 2; r++) {
        Builder at = builder_at_end(branch->regions[r], choice->span);
        build_yield(&at, build_select(&at, choice, r ? text : mask));
    }
    return branch->results;
}

static Value *build_around(Limits *limits, const Op *choice, Value *mask)
{
    Builder *builder = &limits->builder;
    Value *idle = limits->idle;
    if (!limits->branches || !idle) return build_either(limits, builder, choice, mask);
    if (limits->exact) idle = build2(builder, OP_and, limits->exact, idle);
    Op *branch = build_op(builder, OP_if, 1, &idle, 1, &(const Type *){choice->results[0].type});
    Builder plain = builder_at_end(branch->regions[0], choice->span),
            masked = builder_at_end(branch->regions[1], choice->span);
    build_yield(&plain, limits->code == OP_or ? operand(choice, b) : operand(choice, a));
    build_yield(&masked, build_either(limits, &masked, choice, mask));
    return branch->results;
}

static ValueAnswer varies(const Value *value, void *dim)
{
    const int along = *(const int *)dim;
    const Op *op = value->op;
    if (value->type->kind != TYPE_TILE) return VALUE_ENOUGH;
    if (!op) return VALUE_FOUND;
    if (op->code == OP_splat) return VALUE_ENOUGH;
    if (op->code == OP_iota) return op_int(op, ATTR_dim, 0) == along ? VALUE_FOUND : VALUE_ENOUGH;
    if (op->code == OP_broadcast && operand(op, a)->type->rank == value->type->rank)
        return operand(op, a)->type->shape[along] > 1 ? VALUE_OPERANDS : VALUE_ENOUGH;
    return op_has(op, ELEM) ? VALUE_OPERANDS : VALUE_FOUND;
}

static bool varies_along(const Value *value, int dim)
{
    return value_finds(value, varies, &dim);
}

static void visit(Op *choice, FactTable *facts)
{
    const Value *mask = operand(choice, condition);
    if (mask->type->kind != TYPE_TILE || mask->type->rank != 2 || !mask->op ||
        (mask->op->code != OP_or && mask->op->code != OP_and))
        return;
    for (int dim = 1; dim >= 0; dim--) {
        Limits limits = limits_along(facts, choice, dim);
        if (!pays(&limits, mask)) continue;
        /* of a row that is masked as a whole there is one comparison as it is */
        if (dim == 0 && !varies_along(mask, 1)) continue;
        add_mask(&limits, operand(choice, condition), true);
        Value *made = build_mask(&limits, mask->type);
        if (!limits.exact && !(limits.branches && limits.idle)) {
            op_set_operand(choice, operand_index(choice, condition), made);
            return;
        }
        value_replace(&choice->results[0], build_around(&limits, choice, made));
        op_erase(choice);
        return;
    }
}

bool pass_mask_limits(Kernel *kernel, PassContext *context)
{
    FactTable *facts = analysis_ranges(context);
    const OpVec choices = region_list_those(kernel->arena, kernel->host, OP_select);
    for (size_t i = 0; i < choices.count; i++) visit(choices.data[i], facts);
    return true;
}
