/* block_stride.c: see block_stride.h. */
#include "passes/analysis/block_stride.h"

#include "passes/analysis/context.h"

/* Of whole steps: as is known of it, or as it is written, if that does not overflow. */
static bool has_whole_steps(FactTable *facts, const Value *end, int64_t step)
{
    const Op *op = value_uncast(end)->op;
    int64_t factor;
    for (int i = 0; op && op->code == OP_mul && i < 2; i++)
        if (value_constant(value_uncast(op->operands[i]), &factor) && factor % step == 0)
            return true;
    return facts_of(facts, end).multiple % step == 0;
}

static bool has_equal_iterations(FactTable *facts, const Op *loop)
{
    const Op *launch = op_enclosing(loop, OP_launch),
             *first = value_uncast(operand(loop, begin))->op;
    int64_t step;
    if (!launch || !first || first->code != OP_thread_id ||
        !value_constant(operand(loop, step), &step) || step < launch_threads(launch).count)
        return false;
    return has_whole_steps(facts, operand(loop, end), step);
}

bool block_stride_settle(PassContext *context, Op *loop)
{
    if (loop->code != OP_for || !has_equal_iterations(analysis_ranges(context), loop)) return false;
    Value *own = operand(loop, begin), *variable = loop->regions[0]->arguments[0];
    Builder before = builder_before(loop), inside = builder_before(loop->regions[0]->first);
    op_set_operand(loop, operand_index(loop, begin), build_const(&before, own->type->dtype, 0));
    Value *index = build2(&inside, OP_add, variable, own);
    value_replace(variable, index);
    op_set_operand(index->op, operand_index(index->op, a), variable);
    analysis_invalidate(context);
    return true;
}
