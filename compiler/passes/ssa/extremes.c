/* extremes.c: the lesser and the greater of two integers, where their ranges, or that
 * of their difference, say which one that is.
 *
 *     min(start + 128, length)         is start + 128, of blocks that all fit
 *     min(start + 64, start + 128)     is start + 64, wherever the block starts
 *
 * How often a loop runs follows from such an end of a block's share: a number lets it be unrolled.
 */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

/* NULL: it is either one. */
static Value *decided(FactTable *facts, const Op *op)
{
    Value *a = operand(op, a), *b = operand(op, b);
    const Facts first = facts_of(facts, a), second = facts_of(facts, b);
    const bool is_min = op->code == OP_min;
    int64_t low, high;
    if (first.high <= second.low) return is_min ? a : b;
    if (second.high <= first.low) return is_min ? b : a;
    if (!facts_difference(facts, a, b, &low, &high) || (low < 0 && high > 0)) return NULL;
    return (high <= 0) == is_min ? a : b;
}

static void visit(Op *op, void *context)
{
    const Type *type = op->results[0].type;
    if (!type_is_scalar(type) || !dtype_is_integer(type->dtype) || type->dtype == DTYPE_u64) return;
    Value *value = decided(context, op);
    if (value) value_replace(op->results, value);
}

bool pass_extremes(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_min, visit, analysis_ranges(context));
    kernel_visit_those(kernel, OP_max, visit, analysis_ranges(context));
    return true;
}
