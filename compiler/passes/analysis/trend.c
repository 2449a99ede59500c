/* trend.c: monotone functions of a block's index, by the rules for sums, multiples and extremes. */
#include "passes/analysis/trend.h"

#include "ir/op_vec.h"
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

/* Of what ops were seen to make, operands first. */
typedef struct Trends {
    Map found; /* value -> its Trend */
    int dim;
} Trends;

static Trend of_value(const Trends *trends, const Value *value)
{
    if (value->op) return (Trend)map_number(&trends->found, value, TREND_UNKNOWN);
    return value->region ? TREND_UNKNOWN : TREND_STEADY;
}

/* Of a product with a constant, or a quotient by one. */
static Trend of_multiple(const Trends *trends, const Op *op)
{
    int64_t constant;
    const Trend trend = of_value(trends, operand(op, a));
    return trend == TREND_STEADY && of_value(trends, operand(op, b)) == TREND_STEADY ? TREND_STEADY
           : value_constant(operand(op, b), &constant) && constant > 0               ? trend
                                                                       : TREND_UNKNOWN;
}

/* Of a number in memory, by where it lies. */
static Trend of_element(const Trends *trends, const Op *op)
{
    for (int i = operand_index(op, indices); i < op->operand_count; i++)
        if (of_value(trends, op->operands[i]) != TREND_STEADY) return TREND_UNKNOWN;
    return TREND_STEADY;
}

static Trend of_op(const Trends *trends, const Op *op)
{
    switch ((int)op->code) {
    case OP_const:
    case OP_grid_dim: return TREND_STEADY;
    case OP_block_idx: return op_int(op, ATTR_dim, 0) == trends->dim ? TREND_RISES : TREND_STEADY;
    case OP_add:
    case OP_min:
    case OP_max: return of_sum(of_value(trends, operand(op, a)), of_value(trends, operand(op, b)));
    case OP_sub:
        return of_sum(of_value(trends, operand(op, a)), opposite(of_value(trends, operand(op, b))));
    case OP_mul:
    case OP_div:
    case OP_floordiv: return of_multiple(trends, op);
    case OP_cast: return of_value(trends, operand(op, a));
    case OP_element_load: return of_element(trends, op);
    default: return TREND_UNKNOWN;
    }
}

static ValueAnswer is_number(const Value *value, void *context)
{
    (void)context;
    return type_is_scalar(value->type) ? VALUE_OPERANDS : VALUE_ENOUGH;
}

Trend block_trend(const Value *value, int dim)
{
    Arena *arena = arena_new();
    Trends trends = {.dim = dim};
    const OpVec ops = value_ops(arena, value, is_number, NULL);
    for (size_t i = 0; i < ops.count; i++)
        if (ops.data[i]->result_count == 1)
            map_set_number(arena, &trends.found, ops.data[i]->results, of_op(&trends, ops.data[i]));
    const Trend trend = of_value(&trends, value);
    arena_free(arena);
    return trend;
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
