/* masks.c: choices by element that all elements make alike. A comparison of tiles of integers that
 * goes the same way everywhere by the ranges of its operands is a constant. In a loop of products
 * one may do so in the first iterations, or in the last ones, as its operands grow by the same each
 * iteration: those are a loop of their own, which makes no choice:
 *
 *     for iterations below `middle`: the body, where the mask is all true, or all false
 *     for the others: the body
 *
 * Needs SSA, and loops as the passes before leave them; leaves a TYPED kernel. */
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"
#include "ir/op_vec.h"

#include <string.h>

enum { DEPTH = 2 /* masks of one loop that iterations are told apart by */ };

typedef struct Masks {
    Kernel *kernel;
    FactTable *facts;
    OpVec compares, loops;
    Map done; /* comparisons that a loop was split by, in both of its parts */
} Masks;

/* ---- facts about a mask ---- */

static void decide(Kernel *kernel, Value *mask, bool holds);

static void decide_use(Kernel *kernel, Op *use, const Value *mask, bool holds)
{
    Value *result = &use->results[0];
    if (use->code == OP_select && operand(use, condition) == mask)
        value_replace(result, holds ? operand(use, a) : operand(use, b));
    else if (use->code == OP_not)
        decide(kernel, result, !holds);
    else if ((use->code == OP_and && !holds) || (use->code == OP_or && holds))
        decide(kernel, result, holds);
    else if (use->code == OP_and || use->code == OP_or)
        value_replace(result, operand(use, a) == mask ? operand(use, b) : operand(use, a));
}

static OpVec users_of(Arena *arena, const Value *value)
{
    OpVec users = {0};
    for (OpUse *use = value->uses; use; use = use->next) {
        bool known = false;
        for (size_t i = 0; i < users.count; i++) known |= users.data[i] == use->op;
        if (!known) vec_push(arena, &users, use->op);
    }
    return users;
}

/* What goes by the mask goes by its value. */
static void decide(Kernel *kernel, Value *mask, bool holds)
{
    const OpVec users = users_of(kernel->arena, mask);
    for (size_t i = 0; i < users.count; i++) {
        Op *user = users.data[i];
        decide_use(kernel, user, mask, holds);
        if (op_info(user->code)->traits & PURE && user->results[0].use_count == 0) op_erase(user);
    }
}

/* The comparison as `left - right >= 0`, or, for the opposite, as `left - right < 0`. */
typedef struct Difference {
    Value *left, *right;
    int64_t less; /* to be taken from left - right */
} Difference;

static bool difference_of(const Op *compare, Difference *out)
{
    const char *predicate = op_attr(compare, ATTR_predicate)->text;
    const bool swapped = predicate[0] == 'l';
    if (strcmp(predicate + 1, "e") != 0 && strcmp(predicate + 1, "t") != 0) return false;
    if (predicate[0] != 'g' && !swapped) return false;
    *out =
        (Difference){compare->operands[swapped], compare->operands[!swapped], predicate[1] == 't'};
    return true;
}

static bool is_finite(Facts facts)
{
    return facts.low > INT32_MIN && facts.high < INT32_MAX;
}

static bool is_mask(const Op *op)
{
    return op->code == OP_cmp && op->results[0].type->kind == TYPE_TILE &&
           operand(op, a)->type->dtype == DTYPE_i32;
}

static void fold_mask(const Masks *masks, const Op *compare)
{
    Difference difference;
    if (!difference_of(compare, &difference)) return;
    const Facts left = facts_of(masks->facts, difference.left),
                right = facts_of(masks->facts, difference.right);
    Value *mask = (Value *)(uintptr_t)&compare->results[0];
    if (!is_finite(left) || !is_finite(right)) return;
    if (left.low - right.high - difference.less >= 0)
        decide(masks->kernel, mask, true);
    else if (left.high - right.low - difference.less < 0)
        decide(masks->kernel, mask, false);
}

/* ---- the least and the greatest element ---- */

/* Of a tile in the loop's first iteration, and by how much it grows as the index grows by 1. */
typedef struct Extreme {
    Value *first;
    int64_t slope;
} Extreme;

typedef struct Finder {
    const Masks *masks;
    Op *loop;
    Builder builder; /* before the loop */
    Map first;       /* values of the loop -> what they are in its first iteration */
} Finder;

/* A scalar that the loop's index is known to lead to, before the loop. */
static Value *in_first_iteration(Finder *finder, Value *value)
{
    Value *known = map_get(&finder->first, value);
    if (known || !value->op || value->op->parent != finder->loop->regions[0])
        return known ? known : value;
    for (int i = 0; i < value->op->operand_count; i++)
        in_first_iteration(finder, value->op->operands[i]);
    op_clone(&finder->builder, value->op, &finder->first);
    return map_get(&finder->first, value);
}

static Value *wide_constant(Finder *finder, int64_t number)
{
    return build_const(&finder->builder, DTYPE_i64, number);
}

static bool find_extreme(Finder *finder, Value *tile, bool greatest, Extreme *out);

static bool find_scalar(Finder *finder, Value *value, Extreme *out)
{
    if (!loop_foresees(finder->loop, value) || !loop_slope(finder->loop, value, &out->slope))
        return false;
    out->first = build_cast(&finder->builder, DTYPE_i64, in_first_iteration(finder, value));
    return true;
}

static bool find_sum(Finder *finder, const Op *op, bool greatest, Extreme *out)
{
    Extreme a, b;
    const bool subtracts = op->code == OP_sub;
    if (!find_extreme(finder, operand(op, a), greatest, &a) ||
        !find_extreme(finder, operand(op, b), greatest != subtracts, &b))
        return false;
    *out = (Extreme){build2(&finder->builder, op->code, a.first, b.first),
                     subtracts ? a.slope - b.slope : a.slope + b.slope};
    return true;
}

static bool find_extreme(Finder *finder, Value *tile, bool greatest, Extreme *out)
{
    const Op *op = tile->op;
    if (!op || !is_finite(facts_of(finder->masks->facts, tile))) return false;
    switch ((int)op->code) {
    case OP_splat: return find_scalar(finder, operand(op, a), out);
    case OP_iota:
        *out = (Extreme){
            wide_constant(finder, greatest ? tile->type->shape[op_int(op, ATTR_dim, 0)] - 1 : 0),
            0};
        return true;
    case OP_broadcast:
    case OP_reshape:
    case OP_transpose: return find_extreme(finder, operand(op, a), greatest, out);
    case OP_add:
    case OP_sub: return find_sum(finder, op, greatest, out);
    default: return false;
    }
}

/* ---- iterations that are told apart ---- */

/* Where the mask is all `holds` where first + slope * index, as it grows from its beginning, is not
 * below 0. */
typedef struct Verdict {
    Value *first;
    int64_t slope;
    bool holds;
} Verdict;

static bool find_verdict(Finder *finder, const Op *compare, bool holds, Verdict *out)
{
    Difference difference;
    Extreme left, right;
    if (!difference_of(compare, &difference)) return false;
    if (!find_extreme(finder, difference.left, !holds, &left) ||
        !find_extreme(finder, difference.right, holds, &right))
        return false;
    Builder *builder = &finder->builder;
    Value *least = build2(builder, OP_sub, left.first, right.first);
    least = build2(builder, OP_sub, least, wide_constant(finder, difference.less));
    out->slope = left.slope - right.slope;
    out->holds = holds;
    out->first = least;
    if (!holds) { /* left - right - less < 0 */
        out->slope = -out->slope;
        out->first = build2(builder, OP_sub, wide_constant(finder, -1), least);
    }
    return out->slope != 0;
}

/* The iterations until the verdict ends to hold, or begins to. */
static Value *iterations_until(Finder *finder, const Verdict *verdict, int64_t step)
{
    Builder *builder = &finder->builder;
    const bool ends = verdict->slope < 0;
    Value *first = verdict->first;
    if (!ends) first = build2(builder, OP_sub, wide_constant(finder, -1), first);
    Value *each = wide_constant(finder, (ends ? -verdict->slope : verdict->slope) * step);
    Value *iterations = build2(builder, OP_floordiv, first, each);
    iterations = build2(builder, OP_add, iterations, wide_constant(finder, 1));
    return build2(builder, OP_max, iterations, wide_constant(finder, 0));
}

/* The index that the second loop begins with: not above the end. */
static Value *find_middle(Finder *finder, const Verdict *verdict, int64_t step)
{
    Builder *builder = &finder->builder;
    const Op *loop = finder->loop;
    Value *way = build2(builder, OP_mul, iterations_until(finder, verdict, step),
                        wide_constant(finder, step));
    Value *begin = build_cast(builder, DTYPE_i64, operand(loop, begin));
    Value *middle = build2(builder, OP_min, build2(builder, OP_add, begin, way),
                           build_cast(builder, DTYPE_i64, operand(loop, end)));
    return build_cast(builder, operand(loop, begin)->type->dtype, middle);
}

/* The second loop, which goes on where `loop` then ends; `map` says what became of its ops. */
static Op *build_second(Finder *finder, Value *middle, Map *map)
{
    Op *loop = finder->loop;
    Builder after = builder_after(loop);
    Op *second = op_clone(&after, loop, map);
    for (int i = 0; i < loop->result_count; i++)
        value_replace(&loop->results[i], &second->results[i]);
    for (int i = 0; i < loop->result_count; i++)
        op_set_operand(second, operand_index(second, init) + i, &loop->results[i]);
    op_set_operand(second, operand_index(second, begin), middle);
    op_set_operand(loop, operand_index(loop, end), middle);
    return second;
}

static bool is_worth_it(const Op *compare)
{
    for (const OpUse *use = compare->results[0].uses; use; use = use->next)
        if (use->op->code == OP_select || use->op->code == OP_and || use->op->code == OP_or)
            return true;
    return false;
}

static void split_loop(Masks *masks, Op *loop, int depth);

static bool split_by(Masks *masks, Op *loop, Op *compare, int depth)
{
    Finder finder = {.masks = masks, .loop = loop, .builder = builder_before(loop)};
    Verdict verdict;
    Map map = {0};
    int64_t step;
    map_set(masks->kernel->arena, &finder.first, loop->regions[0]->arguments[0],
            operand(loop, begin));
    if (!is_worth_it(compare) || !value_constant(operand(loop, step), &step) ||
        (!find_verdict(&finder, compare, true, &verdict) &&
         !find_verdict(&finder, compare, false, &verdict)))
        return false;
    map_set(masks->kernel->arena, &masks->done, compare, compare);
    Op *second = build_second(&finder, find_middle(&finder, &verdict, step), &map);
    Value *mask = &compare->results[0], *other = map_get(&map, mask);
    map_set(masks->kernel->arena, &masks->done, other->op, compare);
    decide(masks->kernel, verdict.slope > 0 ? other : mask, verdict.holds);
    kernel_remark(masks->kernel, compare->span,
                  "iterations in which this is the same for all elements are a loop of their own");
    if (depth + 1 < DEPTH) {
        split_loop(masks, loop, depth + 1);
        split_loop(masks, second, depth + 1);
    }
    return true;
}

static void split_loop(Masks *masks, Op *loop, int depth)
{
    for (Op *op = loop->regions[0]->first; op; op = op_next(op))
        if (is_mask(op) && op->results[0].use_count > 0 && !map_has(&masks->done, op) &&
            split_by(masks, loop, op, depth))
            return;
}

/* Copies that a loop has in flight are counted by its iterations. */
static bool may_split(const Op *loop)
{
    const Region *body = loop->regions[0];
    bool multiplies = false;
    for (const Op *op = body->first; op; op = op_next(op)) {
        if (op->region_count || op->code == OP_copy_async || op->code == OP_copy_wait) return false;
        multiplies |= op->code == OP_dot;
    }
    return multiplies && dtype_bits(operand(loop, begin)->type->dtype) <= 32;
}

static void collect(Op *op, void *context)
{
    Masks *masks = context;
    if (is_mask(op)) vec_push(masks->kernel->arena, &masks->compares, op);
    if (op->code == OP_for && may_split(op)) vec_push(masks->kernel->arena, &masks->loops, op);
}

bool pass_masks(Kernel *kernel, PassContext *context)
{
    Masks masks = {.kernel = kernel, .facts = analysis_ranges(context)};
    kernel_visit(kernel, collect, &masks);
    for (size_t i = 0; i < masks.compares.count; i++) fold_mask(&masks, masks.compares.data[i]);
    for (size_t i = 0; i < masks.loops.count; i++) split_loop(&masks, masks.loops.data[i], 0);
    return true;
}
