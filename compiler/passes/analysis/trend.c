/* trend.c: monotone functions of a block's index, by the rules for sums, multiples and extremes. */
#include "passes/analysis/trend.h"

#include "passes/analysis/loop.h"

static Trend of_sum(Trend a, Trend b)
{
    if (a == TREND_UNKNOWN || b == TREND_UNKNOWN) return TREND_UNKNOWN;
    return a == TREND_STEADY ? b : b == TREND_STEADY || b == a ? a : TREND_UNKNOWN;
}

static Trend opposite(Trend trend)
{
    return trend == TREND_UNKNOWN ? TREND_UNKNOWN : (Trend)(-(int)trend);
}

/* Of a product with a constant, or a quotient by one. */
static Trend of_multiple(const Op *op, int dim)
{
    int64_t constant;
    const Trend trend = block_trend(operand(op, a), dim);
    return trend == TREND_STEADY && block_trend(operand(op, b), dim) == TREND_STEADY ? TREND_STEADY
           : value_constant(operand(op, b), &constant) && constant > 0               ? trend
                                                                       : TREND_UNKNOWN;
}

/* Of a number in memory, by where it lies. */
static Trend of_element(const Op *op, int dim)
{
    for (int i = operand_index(op, indices); i < op->operand_count; i++)
        if (block_trend(op->operands[i], dim) != TREND_STEADY) return TREND_UNKNOWN;
    return TREND_STEADY;
}

Trend block_trend(const Value *value, int dim)
{
    const Op *op = value->op;
    if (!op) return value->region ? TREND_UNKNOWN : TREND_STEADY;
    switch ((int)op->code) {
    case OP_const:
    case OP_grid_dim: return TREND_STEADY;
    case OP_block_idx: return op_int(op, ATTR_dim, 0) == dim ? TREND_RISES : TREND_STEADY;
    case OP_add:
    case OP_min:
    case OP_max: return of_sum(block_trend(operand(op, a), dim), block_trend(operand(op, b), dim));
    case OP_sub:
        return of_sum(block_trend(operand(op, a), dim), opposite(block_trend(operand(op, b), dim)));
    case OP_mul:
    case OP_div:
    case OP_floordiv: return of_multiple(op, dim);
    case OP_cast: return block_trend(operand(op, a), dim);
    case OP_element_load: return of_element(op, dim);
    default: return TREND_UNKNOWN;
    }
}

/* Of the iterations of blocks that store something. */
Trend block_trend_of_trips(const Op *loop, int dim)
{
    const Value *end = operand(loop, end);
    if (loop_condition(loop)) end = operand(end->op, a);
    return of_sum(block_trend(end, dim), opposite(block_trend(operand(loop, begin), dim)));
}

bool launch_may_wait(const Op *launch)
{
    const Region *region = launch_region(launch);
    return region_has(region, OP_atomic) || region_has(region, OP_element_atomic) ||
           region_has(region, OP_while);
}
