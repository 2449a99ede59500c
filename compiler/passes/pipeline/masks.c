/* masks.c: choices by element that all elements make alike. A comparison of tiles of integers that
 * goes the same way everywhere by the ranges of its operands is a constant. In a loop of products
 * one may do so in the first iterations, or in the last ones, as its operands grow by the same each
 * iteration: those are a loop of their own, which makes no choice:
 *
 *     for iterations below `middle`: the body, where the mask is all true, or all false
 *     for the others: the body
 *
 * That is index set splitting (Wolfe 1996), by what is known at run time. Masks that all end to be
 * alike, or are alike in all iterations, share the first loop. Where sums of what is only known at
 * run time may wrap, no iteration is taken for one of those.
 *
 * Needs SSA, and loops as the passes before leave them; leaves a TYPED kernel. */
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"

enum {
    DEPTH = 2,   /* times that iterations of one loop are told apart */
    MASKS = 8,   /* that share a loop */
    CHAINED = 16 /* choices that one mask is followed through */
};

typedef struct Masks {
    Kernel *kernel;
    FactTable *facts;
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
        if (op_has(user, PURE) && user->results[0].use_count == 0) op_erase(user);
    }
}

static bool is_mask(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_cmp && op->results[0].type->kind == TYPE_TILE &&
           operand(op, a)->type->dtype == DTYPE_i32;
}

static void fold_mask(const Masks *masks, const Op *compare)
{
    Order order;
    if (!order_of(compare, &order)) return;
    const Facts more = facts_of(masks->facts, order.more),
                less = facts_of(masks->facts, order.less);
    Value *mask = (Value *)(uintptr_t)&compare->results[0];
    if (!facts_are_bounded(more) || !facts_are_bounded(less)) return;
    if (more.low - less.high - !order.equal >= 0)
        decide(masks->kernel, mask, true);
    else if (more.high - less.low - !order.equal < 0)
        decide(masks->kernel, mask, false);
}

/* ---- the least and the greatest element ---- */

/* Of a tile in the loop's first iteration, and by how much it grows as the index grows by 1. */
typedef struct Extreme {
    Value *first;
    int64_t slope;
} Extreme;

typedef struct Finder {
    Masks *masks;
    Op *loop;
    Builder builder; /* before the loop */
    Map first;       /* values of the loop -> what they are in its first iteration */
    Map found[2];    /* tiles -> their least Extreme and their greatest one, for one mask */
    Value *exact;    /* whether no sum wraps; NULL: none can */
} Finder;

static Value *wide_constant(Finder *finder, int64_t number)
{
    return build_const(&finder->builder, DTYPE_i64, number);
}

static void note_exact(Finder *finder, Value *low, const char *predicate, Value *high)
{
    Value *fits = build_cmp(&finder->builder, predicate, low, high);
    finder->exact = finder->exact ? build2(&finder->builder, OP_and, finder->exact, fits) : fits;
}

/* What is not seen to fit in an i32 is looked at when the loop begins, and as it will be at its
 * end. */
static void check_extreme(Finder *finder, Extreme extreme)
{
    Builder *builder = &finder->builder;
    Value *way = build2(builder, OP_sub, build_cast(builder, DTYPE_i64, operand(finder->loop, end)),
                        build_cast(builder, DTYPE_i64, operand(finder->loop, begin)));
    Value *last = build2(builder, OP_add, extreme.first,
                         build2(builder, OP_mul, way, wide_constant(finder, extreme.slope)));
    Value *ends[2] = {extreme.first, last};
    for (int i = 0; i < 1 + (extreme.slope != 0); i++) {
        note_exact(finder, ends[i], "ge", wide_constant(finder, INT32_MIN));
        note_exact(finder, ends[i], "le", wide_constant(finder, INT32_MAX));
    }
}

static bool find_extreme(Finder *finder, Value *tile, bool greatest, Extreme *out);

static bool find_scalar(Finder *finder, Value *value, Extreme *out)
{
    if (!loop_foresees(finder->loop, value) || !loop_slope(finder->loop, value, &out->slope))
        return false;
    out->first = build_cast(
        &finder->builder, DTYPE_i64,
        value_copy_slice(&finder->builder, value, finder->loop->regions[0], &finder->first));
    if (out->slope && !facts_are_bounded(facts_of(finder->masks->facts, value)))
        check_extreme(finder, *out);
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

/* Where the greatest element wraps, the least one is another. */
static bool find_exact_sum(Finder *finder, const Op *op, bool greatest, Extreme *out)
{
    Extreme other;
    if (!find_sum(finder, op, greatest, out)) return false;
    if (facts_are_bounded(facts_of(finder->masks->facts, &op->results[0]))) return true;
    if (!find_sum(finder, op, !greatest, &other)) return false;
    check_extreme(finder, *out);
    check_extreme(finder, other);
    return true;
}

static bool make_extreme(Finder *finder, const Value *tile, bool greatest, Extreme *out)
{
    const Op *op = tile->op;
    if (!op) return false;
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
    case OP_sub: return find_exact_sum(finder, op, greatest, out);
    default: return false;
    }
}

/* Once, as a sum asks for both of each operand. */
static bool find_extreme(Finder *finder, Value *tile, bool greatest, Extreme *out)
{
    Arena *arena = finder->masks->kernel->arena;
    Extreme *known = map_get(&finder->found[greatest], tile);
    if (!known) {
        known = arena_new_of(arena, Extreme);
        if (!make_extreme(finder, tile, greatest, known)) known->first = NULL;
        map_set(arena, &finder->found[greatest], tile, known);
    }
    *out = *known;
    return known->first != NULL;
}

/* ---- iterations that are told apart ---- */

/* Where the mask is all `holds` where first + slope * index, as it grows from its beginning, is not
 * below 0. */
typedef struct Verdict {
    Op *compare;
    Value *first, *exact;
    int64_t slope;
    bool holds;
} Verdict;

static bool find_verdict(Finder *finder, Op *compare, bool holds, Verdict *out)
{
    Order order;
    Extreme more, less;
    finder->exact = NULL;
    finder->found[0] = finder->found[1] = (Map){0};
    if (!order_of(compare, &order)) return false;
    if (!find_extreme(finder, order.more, !holds, &more) ||
        !find_extreme(finder, order.less, holds, &less))
        return false;
    Builder *builder = &finder->builder;
    Value *least = build2(builder, OP_sub, more.first, less.first);
    least = build2(builder, OP_sub, least, wide_constant(finder, !order.equal));
    *out = (Verdict){compare, least, finder->exact, more.slope - less.slope, holds};
    if (!holds) { /* where that is below 0 */
        out->slope = -out->slope;
        out->first = build2(builder, OP_sub, wide_constant(finder, -1), least);
    }
    return true;
}

/* It holds up to some iteration, or in all of them. */
static bool ends(const Verdict *verdict)
{
    return verdict->slope <= 0;
}

/* The iterations until the verdict ends to hold, or begins to. */
static Value *iterations_by_slope(Finder *finder, const Verdict *verdict, int64_t step)
{
    Builder *builder = &finder->builder;
    Value *first = verdict->first;
    if (!ends(verdict)) first = build2(builder, OP_sub, wide_constant(finder, -1), first);
    Value *each = wide_constant(finder, (ends(verdict) ? -verdict->slope : verdict->slope) * step);
    Value *iterations = build2(builder, OP_floordiv, first, each);
    iterations = build2(builder, OP_add, iterations, wide_constant(finder, 1));
    return build2(builder, OP_max, iterations, wide_constant(finder, 0));
}

static Value *iterations_until(Finder *finder, const Verdict *verdict, int64_t step)
{
    Builder *builder = &finder->builder;
    Value *none = wide_constant(finder, 0), *all = wide_constant(finder, UINT32_MAX);
    Value *iterations =
        verdict->slope
            ? iterations_by_slope(finder, verdict, step)
            : build3(builder, OP_select, build_cmp(builder, "ge", verdict->first, none), all, none);
    return verdict->exact
               ? build3(builder, OP_select, verdict->exact, iterations, ends(verdict) ? none : all)
               : iterations;
}

/* The index that the second loop begins with: not above the end. */
static Value *find_middle(Finder *finder, const Verdict *verdicts, int count, int64_t step)
{
    Builder *builder = &finder->builder;
    const Op *loop = finder->loop;
    Value *iterations = iterations_until(finder, &verdicts[0], step);
    for (int i = 1; i < count; i++)
        iterations =
            build2(builder, OP_min, iterations, iterations_until(finder, &verdicts[i], step));
    Value *way = build2(builder, OP_mul, iterations, wide_constant(finder, step));
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

/* Which value of the mask leaves elements as they are: true, where it chooses between them and a
 * lesser number, as -inf; false, where they are the other arm. -1: nothing is chosen by it. */
static int wanted(const Value *mask, int depth)
{
    for (const OpUse *use = mask->uses; use && depth < CHAINED; use = use->next) {
        const Op *op = use->op;
        if (op->code == OP_or) return 0;
        if (op->code == OP_and) return 1;
        if (op->code == OP_select && operand(op, condition) == mask) {
            double a, b;
            return !value_repeated_number(operand(op, a), &a) ||
                   (value_repeated_number(operand(op, b), &b) && a >= b);
        }
        const int inner = op->code == OP_not ? wanted(&op->results[0], depth + 1) : -1;
        if (inner >= 0) return !inner;
    }
    return -1;
}

/* Of the loop's masks those by which its iterations can be told apart: one that begins to hold, or
 * all that end to. How many there are. */
static int find_verdicts(Finder *finder, Verdict verdicts[MASKS])
{
    int count = 0, constant = 0;
    for (Op *op = finder->loop->regions[0]->first; op && count < MASKS; op = op_next(op)) {
        if (!is_mask(op, NULL) || map_has(&finder->masks->done, op)) continue;
        Verdict *verdict = &verdicts[count];
        const int want = wanted(&op->results[0], 0);
        if (want < 0 || !find_verdict(finder, op, want, verdict)) continue;
        if (!ends(verdict) && count > constant) continue;
        if (!ends(verdict)) {
            verdicts[0] = *verdict;
            return 1;
        }
        constant += verdict->slope == 0;
        count++;
    }
    return count > constant ? count : 0;
}

/* Both loops have the masks, of which one goes by the verdicts. */
static Op *split_by(Finder *finder, const Verdict *verdicts, int count, int64_t step)
{
    Masks *masks = finder->masks;
    Arena *arena = masks->kernel->arena;
    Map map = {0};
    Op *second = build_second(finder, find_middle(finder, verdicts, count, step), &map);
    for (int i = 0; i < count; i++) {
        Op *compare = verdicts[i].compare;
        Value *mask = &compare->results[0], *other = map_get(&map, mask);
        map_set(arena, &masks->done, compare, compare);
        map_set(arena, &masks->done, other->op, compare);
        decide(masks->kernel, ends(&verdicts[i]) ? mask : other, verdicts[i].holds);
        kernel_remark(
            masks->kernel, compare->span,
            "iterations in which this is the same for all elements are a loop of their own");
    }
    return second;
}

/* Of a mask that elements are chosen by in each iteration. */
static void remark_masks(const Masks *masks, const Op *loop, const char *why)
{
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op))
        if (is_mask(op, NULL) && wanted(&op->results[0], 0) >= 0)
            kernel_remark(masks->kernel, op->span,
                          "a mask that all iterations of its loop look at: %s", why);
}

/* Copies that a loop has in flight are counted by its iterations; of few iterations each of the
 * loops would have hardly one. NULL: it may be split. */
static const char *fault_of_loop(const Op *loop)
{
    int64_t step;
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op)) {
        if (op->region_count) return "a branch is in it";
        if (op_begins_copy(op) || op->code == OP_copy_wait)
            return "its copies in flight are counted by its iterations";
    }
    if (loop_is_short(loop)) return "it has few iterations";
    if (dtype_bits(operand(loop, begin)->type->dtype) > 32) return "it counts in 64 bits";
    return value_constant(operand(loop, step), &step) ? NULL : "its step is not known";
}

/* Whether it is split. */
static bool split_loop(Masks *masks, Op *loop, int depth)
{
    Finder finder = {.masks = masks, .loop = loop, .builder = builder_before(loop)};
    Verdict verdicts[MASKS];
    int64_t step = 1;
    if (depth == DEPTH) return false;
    value_constant(operand(loop, step), &step);
    map_set(masks->kernel->arena, &finder.first, loop->regions[0]->arguments[0],
            operand(loop, begin));
    const int count = find_verdicts(&finder, verdicts);
    if (count == 0) return false;
    Op *second = split_by(&finder, verdicts, count, step);
    split_loop(masks, loop, depth + 1);
    split_loop(masks, second, depth + 1);
    return true;
}

static void consider(Masks *masks, Op *loop)
{
    const char *fault = fault_of_loop(loop);
    if (fault)
        remark_masks(masks, loop, fault);
    else if (!split_loop(masks, loop, 0))
        remark_masks(masks, loop, "how the mask goes does not follow from its index");
}

static bool is_loop_of_products(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_for && loop_products(op) && !region_has(op->regions[0], OP_for);
}

bool pass_masks(Kernel *kernel, PassContext *context)
{
    Masks masks = {.kernel = kernel, .facts = analysis_ranges(context)};
    const OpVec compares = region_list(kernel->arena, kernel->host, is_mask, NULL),
                loops = region_list(kernel->arena, kernel->host, is_loop_of_products, NULL);
    for (size_t i = 0; i < compares.count; i++) fold_mask(&masks, compares.data[i]);
    for (size_t i = 0; i < loops.count; i++) consider(&masks, loops.data[i]);
    return true;
}
