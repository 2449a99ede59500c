/* loop.c: see loop.h. */
#include "passes/loop.h"

int64_t loop_trips(const Op *loop)
{
    int64_t begin, end, step;
    if (!value_constant(loop->operands[0], &begin) || !value_constant(loop->operands[1], &end) ||
        !value_constant(loop->operands[2], &step) || begin >= end || step < 1)
        return 0;
    return (end - begin - 1) / step + 1;
}

bool loop_foresees(const Op *loop, const Value *value)
{
    const Region *body = loop->regions[0];
    if (value->region == body) return value->index == 0;
    if (!region_holds(body, value_home(value))) return true;
    if (!value->op || value->op->parent != body || value->op->region_count ||
        !(op_info(value->op->code)->traits & PURE))
        return false;
    for (int i = 0; i < value->op->operand_count; i++)
        if (!loop_foresees(loop, value->op->operands[i])) return false;
    return true;
}

static bool slope_of_product(const Op *op, const int64_t slopes[2], int64_t *slope)
{
    for (int i = 0; i < 2; i++) {
        int64_t factor;
        if (slopes[i] == 0 && value_constant(op->operands[i], &factor)) {
            *slope = slopes[1 - i] * factor;
            return true;
        }
    }
    return false;
}

bool loop_slope(const Op *loop, const Value *value, int64_t *slope)
{
    const Region *body = loop->regions[0];
    *slope = value->region == body && value->index == 0;
    if (*slope || !region_holds(body, value_home(value))) return true;
    const Op *op = value->op;
    if (!op || op->parent != body || !(op_info(op->code)->traits & PURE)) return false;
    int64_t slopes[2] = {0};
    bool steady = true;
    for (int i = 0; i < op->operand_count; i++) {
        int64_t own;
        if (!loop_slope(loop, op->operands[i], &own)) return false;
        if (i < 2) slopes[i] = own;
        steady &= own == 0;
    }
    *slope = 0;
    if (steady) return true;
    if (op->code == OP_add) *slope = slopes[0] + slopes[1];
    if (op->code == OP_sub) *slope = slopes[0] - slopes[1];
    if (op->code == OP_cast) *slope = slopes[0];
    return op->code == OP_add || op->code == OP_sub ||
           (op->code == OP_cast && dtype_is_integer(value->type->dtype)) ||
           (op->code == OP_mul && slope_of_product(op, slopes, slope));
}
