/* loop.c: see loop.h. */
#include "passes/analysis/loop.h"

#include "ir/op_vec.h"
#include "passes/pass.h"

int64_t loop_trips(const Op *loop)
{
    int64_t begin, end, step;
    if (!value_constant(operand(loop, begin), &begin) ||
        !value_constant(operand(loop, end), &end) || !value_constant(operand(loop, step), &step) ||
        begin >= end || step < 1 ||
        operand(loop, begin)->type->dtype == DTYPE_u64) /* whose constants have a sign here */
        return 0;
    const uint64_t iterations = ((uint64_t)end - (uint64_t)begin - 1) / (uint64_t)step;
    return iterations < INT64_MAX ? (int64_t)iterations + 1 : 0;
}

bool loop_is_short(const Op *loop)
{
    const int64_t trips = loop_trips(loop);
    return trips > 0 && trips < COST_LONG_LOOP;
}

Value *loop_condition(const Op *loop)
{
    const Op *either = operand(loop, end)->op;
    return either && either->code == OP_select && operand(either, b) == operand(loop, begin)
               ? operand(either, condition)
               : NULL;
}

int loop_products(const Op *loop)
{
    int count = 0;
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op)) count += op->code == OP_dot;
    return count;
}

int64_t loop_last(const Op *loop)
{
    int64_t begin, step;
    if (!value_constant(operand(loop, begin), &begin) || begin < 0 ||
        !value_constant(operand(loop, step), &step) || step < 1)
        return -1;
    const int64_t trips = loop_trips(loop);
    if (trips) return begin + (trips - 1) * step;
    const Value *end = operand(loop, end);
    const Op *around = end->region && end->index == 0 ? end->region->parent : NULL;
    const int64_t last = around && around->code == OP_for ? loop_last(around) : -1;
    return last > begin ? last - 1 : -1;
}

/* ---- how many iterations there are at most ---- */

/* Extremes within extremes that are looked through: of each, both sides. */
enum { EXTREMES_DEPTH = 4 };

static const Op *made_by(const Value *value, OpCode code)
{
    return value->op && value->op->code == code ? value->op : NULL;
}

/* By ranges alone, or, of quotients by one number, by what is divided: ceil(high / divisor). */
static int64_t most_by_ranges(FactTable *facts, const Value *begin, const Value *end)
{
    const Op *last = made_by(end, OP_floordiv), *first = made_by(begin, OP_floordiv);
    int64_t low, high, divisor;
    if (last && first && operand(last, b) == operand(first, b) &&
        value_constant(operand(last, b), &divisor) && divisor > 0 &&
        facts_likely_difference(facts, operand(last, a), operand(first, a), &low, &high) &&
        high < INT32_MAX)
        return high > 0 ? (high + divisor - 1) / divisor : 0;
    const int64_t from = facts_of(facts, begin).low, to = facts_of(facts, end).high;
    return to < INT32_MAX && from > INT32_MIN ? to - from : INT32_MAX;
}

/* How far `end` is behind `begin` at most; INT32_MAX: nothing is known. A window that moves with
 * the block's index begins and ends at extremes of where it would and of where the whole does:
 * what is known of any of those. A loop may count from 0 to the difference of the two. */
static int64_t most_between(FactTable *facts, const Value *begin, const Value *end, int deep)
{
    const Op *least = made_by(end, OP_min), *most = made_by(begin, OP_max),
             *rest = made_by(end, OP_sub);
    if (rest && value_is_constant(begin, 0))
        return most_between(facts, operand(rest, b), operand(rest, a), deep);
    if (deep < EXTREMES_DEPTH && least)
        return lesser_of(most_between(facts, begin, operand(least, a), deep + 1),
                         most_between(facts, begin, operand(least, b), deep + 1));
    if (deep < EXTREMES_DEPTH && most)
        return lesser_of(most_between(facts, operand(most, a), end, deep + 1),
                         most_between(facts, operand(most, b), end, deep + 1));
    return most_by_ranges(facts, begin, end);
}

int64_t loop_most_trips(FactTable *facts, const Op *loop)
{
    const Value *end = operand(loop, end);
    if (loop_condition(loop)) end = operand(end->op, a);
    const int64_t all = most_between(facts, operand(loop, begin), end, 0);
    int64_t step = 1;
    value_constant(operand(loop, step), &step);
    return all < INT32_MAX ? all / step : 0;
}

/* ---- values ahead ---- */

ValueAnswer loop_is_unforeseen(const Op *loop, const Value *value)
{
    const Region *body = loop->regions[0];
    if (value->region == body) return value->index == 0 ? VALUE_ENOUGH : VALUE_FOUND;
    if (!region_holds(body, value_home(value))) return VALUE_ENOUGH;
    return !value->op || value->op->parent != body || value->op->region_count ||
                   !op_has(value->op, PURE)
               ? VALUE_FOUND
               : VALUE_OPERANDS;
}

static ValueAnswer is_unforeseen(const Value *value, void *loop)
{
    return loop_is_unforeseen(loop, value);
}

bool loop_foresees(const Op *loop, const Value *value)
{
    return !value_finds(value, is_unforeseen, (Op *)(uintptr_t)loop);
}

bool loop_foresees_operands(const Op *loop, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (!loop_foresees(loop, op->operands[i])) return false;
    return true;
}

/* Of a value in the loop. */
typedef struct Slope {
    bool is_known;
    int64_t slope;
} Slope;

typedef struct Slopes {
    const Region *body;
    Arena *arena;
    Map found; /* value -> Slope */
} Slopes;

static bool slope_of_product(const Op *op, const int64_t slopes[2], int64_t *slope)
{
    for (int i = 0; i < 2; i++) {
        int64_t factor;
        if (slopes[i] == 0 && value_constant(op->operands[i], &factor))
            return !__builtin_mul_overflow(slopes[1 - i], factor, slope);
    }
    return false;
}

static bool slope_of(const Slopes *slopes, const Value *value, int64_t *slope)
{
    *slope = value->region == slopes->body && value->index == 0;
    if (*slope || !region_holds(slopes->body, value_home(value))) return true;
    const Slope *found = value->op ? map_get(&slopes->found, value) : NULL;
    if (found) *slope = found->slope;
    return found && found->is_known;
}

static bool slope_of_op(const Slopes *slopes, const Op *op, int64_t *slope)
{
    int64_t of[2] = {0};
    bool steady = true;
    if (op->parent != slopes->body || !op_has(op, PURE)) return false;
    for (int i = 0; i < op->operand_count; i++) {
        int64_t own;
        if (!slope_of(slopes, op->operands[i], &own)) return false;
        if (i < 2) of[i] = own;
        steady &= own == 0;
    }
    *slope = op->code == OP_cast ? of[0] : 0;
    if (steady) return true;
    switch ((int)op->code) {
    case OP_add: return !__builtin_add_overflow(of[0], of[1], slope);
    case OP_sub: return !__builtin_sub_overflow(of[0], of[1], slope);
    case OP_mul: return slope_of_product(op, of, slope);
    default: return op->code == OP_cast && dtype_is_integer(op->results[0].type->dtype);
    }
}

static ValueAnswer is_of_body(const Value *value, void *body)
{
    return value->op && value->op->parent == body && op_has(value->op, PURE) ? VALUE_OPERANDS
                                                                             : VALUE_ENOUGH;
}

bool loop_slope(const Op *loop, const Value *value, int64_t *slope)
{
    Slopes slopes = {.body = loop->regions[0], .arena = arena_new()};
    const OpVec ops = value_ops(slopes.arena, value, is_of_body, loop->regions[0]);
    for (size_t i = 0; i < ops.count; i++) {
        const Op *op = ops.data[i];
        Slope *found = arena_new_of(slopes.arena, Slope);
        found->is_known = slope_of_op(&slopes, op, &found->slope);
        for (int r = 0; r < op->result_count; r++)
            map_set(slopes.arena, &slopes.found, &op->results[r], found);
    }
    const bool is_known = slope_of(&slopes, value, slope);
    arena_free(slopes.arena);
    return is_known;
}

Value *loop_is_entered(Builder *builder, const Op *loop)
{
    return build_cmp(builder, "lt", operand(loop, begin), operand(loop, end));
}

/* ---- iterations ahead ---- */

Value *loop_ahead(Builder *builder, Value *index, Value *step, int iterations)
{
    if (!iterations) return index;
    Value *distance =
        build2(builder, OP_mul, step, build_const(builder, step->type->dtype, iterations));
    return build2(builder, OP_add, index, distance);
}

static Facts facts_in(const Op *loop, const Value *value)
{
    FactTable *facts = facts_new(loop->parent->kernel);
    const Facts found = facts_of(facts, value);
    facts_free(facts);
    return found;
}

bool loop_runs(const Op *loop)
{
    return facts_in(loop, operand(loop, begin)).high < facts_in(loop, operand(loop, end)).low;
}

/* How far so many steps go at most; false: further than 64 bits count. */
static bool most_ahead(const Op *loop, int iterations, int64_t *way)
{
    const int64_t step = facts_in(loop, operand(loop, step)).high;
    return !__builtin_mul_overflow(step, (int64_t)iterations, way);
}

static bool stays_in(DType dtype, int64_t at, int64_t way)
{
    int64_t sum;
    if (__builtin_add_overflow(at, way, &sum)) return false;
    if (dtype_bits(dtype) < 64) return dtype_wrap(dtype, sum) == sum;
    return dtype_is_signed(dtype) || (at >= 0 && sum >= 0); /* facts have a sign */
}

bool loop_counts_to(const Op *loop, const Value *index, int iterations)
{
    const Facts at = facts_in(loop, index);
    const DType dtype = index->type->dtype;
    int64_t way;
    return most_ahead(loop, iterations, &way) && stays_in(dtype, at.low, way) &&
           stays_in(dtype, at.high, way);
}

/* Whether so many steps are no more than numbers of the type go round in. */
static bool wraps_once(const Op *loop, DType dtype, int iterations)
{
    int64_t way;
    return most_ahead(loop, iterations, &way) &&
           (dtype_bits(dtype) == 64 || way >> dtype_bits(dtype) == 0);
}

/* Numbers of 64 bits that wrap more than once: each step is looked at. */
static Value *has_each_step(const Op *loop, Builder *builder, Value *index, int iterations)
{
    Value *has = NULL;
    for (int i = 0; i < iterations; i++) {
        Value *later = build2(builder, OP_add, index, operand(loop, step));
        Value *counts = build_cmp(builder, "lt", index, later);
        has = has ? build2(builder, OP_and, has, counts) : counts;
        index = later;
    }
    return build2(builder, OP_and, has, build_cmp(builder, "lt", index, operand(loop, end)));
}

Value *loop_has_iteration(const Op *loop, Builder *builder, Value *index, int iterations,
                          Value *later)
{
    Value *step = operand(loop, step), *end = operand(loop, end);
    if (loop_counts_to(loop, index, iterations)) return build_cmp(builder, "lt", later, end);
    if (wraps_once(loop, index->type->dtype, iterations)) {
        Value *has = build_cmp(builder, "lt", later, end);
        return build2(builder, OP_and, has, build_cmp(builder, "lt", index, later));
    }
    if (dtype_bits(index->type->dtype) == 64)
        return has_each_step(loop, builder, index, iterations);
    step = build_cast(builder, DTYPE_i64, step);
    end = build_cast(builder, DTYPE_i64, end);
    later = loop_ahead(builder, build_cast(builder, DTYPE_i64, index), step, iterations);
    return build_cmp(builder, "lt", later, end);
}
