/* from_end.c: indices that may count from the end, as an array of Warp's takes them:
 *
 *     select(i >= 0, i, i + n) {rare}     is i, wherever i is not negative
 *
 * That follows from ranges, of numbers that do not wrap, which are undefined in C, or from the
 * conditions of the branches that the index is computed in:
 *
 *     if i > 0 and p { x = a[i - 1] }
 *     if i == 0 { } else { x = a[i - 1] }
 *     for j = 0...n { x = a[n - 1 - j] } */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

enum { DEEPEST = 12 /* parts of a condition */ };

/* What is asked of a number, beside the 0 that it is compared with. */
typedef struct Question {
    FactTable *facts;
    const Value *value, *zero;
} Question;

/* Whether the number is at least zero, `base` being at least `low`. */
static bool follows(const Question *question, const Value *base, int64_t low)
{
    int64_t least, most;
    return facts_likely_difference(question->facts, question->value, base, &least, &most) &&
           least > INT32_MIN && low > INT32_MIN && low < INT32_MAX && low + least >= 0;
}

static bool follows_from_order(const Question *question, const Op *compare, bool holds)
{
    Order order;
    if (!order_of(compare, &order)) return false;
    const Value *less = holds ? order.less : order.more, *more = holds ? order.more : order.less;
    const bool may_equal = order.equal == holds;
    return facts_likely_follows(question->facts, question->value, less, more, !may_equal);
}

/* Of a number that is a constant, or is not the least one that it may be. */
static bool follows_from_equality(const Question *question, const Op *compare, bool holds)
{
    const char predicate = op_attr(compare, ATTR_predicate)->text[0];
    const Value *number = operand(compare, a);
    int64_t constant;
    if ((predicate != 'e' && predicate != 'n') || !value_constant(operand(compare, b), &constant))
        return false;
    if ((predicate == 'e') == holds) return follows(question, number, constant);
    return facts_of(question->facts, number).low == constant &&
           follows(question, number, constant + 1);
}

static bool follows_from(const Question *question, const Value *condition, bool holds, int depth)
{
    const Op *op = condition->op;
    if (!op || depth == 0) return false;
    if (op->code == (holds ? OP_and : OP_or))
        return follows_from(question, operand(op, a), holds, depth - 1) ||
               follows_from(question, operand(op, b), holds, depth - 1);
    int64_t constant;
    if (op->code == OP_xor && value_constant(operand(op, b), &constant) && constant == 1)
        return follows_from(question, operand(op, a), !holds, depth - 1);
    if (op->code != OP_cmp || !type_is_scalar(operand(op, a)->type) ||
        !dtype_is_signed(operand(op, a)->type->dtype) ||
        !dtype_is_integer(operand(op, a)->type->dtype))
        return false;
    return follows_from_order(question, op, holds) || follows_from_equality(question, op, holds);
}

static bool follows_from_loop(const Question *question, const Op *loop)
{
    int64_t step;
    return value_constant(operand(loop, step), &step) && step > 0 &&
           facts_likely_follows(question->facts, question->value, loop->regions[0]->arguments[0],
                                operand(loop, end), 1);
}

/* From what stands around `region`. */
static bool follows_within(const Question *question, const Op *around, const Region *region)
{
    if (around->code == OP_if)
        return follows_from(question, operand(around, condition), region == around->regions[0],
                            DEEPEST);
    return around->code == OP_for && follows_from_loop(question, around);
}

static bool is_not_negative(const Question *question, const Op *op)
{
    if (follows(question, question->zero, 0)) return true;
    for (const Region *region = op->parent; region->parent; region = region->parent->parent)
        if (follows_within(question, region->parent, region)) return true;
    return false;
}

static void visit(Op *op, void *context)
{
    const Op *compare = operand(op, condition)->op;
    int64_t zero;
    if (!op_int(op, ATTR_rare, 0) || !compare || compare->code != OP_cmp ||
        operand(compare, a) != operand(op, a) || !value_constant(operand(compare, b), &zero) ||
        zero != 0 || !type_is_scalar(op->results[0].type))
        return;
    const Question question = {context, operand(op, a), operand(compare, b)};
    if (!is_not_negative(&question, op)) return;
    Op *const made[] = {op, operand(op, condition)->op, operand(op, b)->op};
    value_replace(op->results, operand(op, a));
    for (int i = 0; i < 3; i++) /* unroll, for one, asks how much there is in a loop */
        if (made[i] && op_has(made[i], PURE) && !made[i]->results[0].use_count) op_erase(made[i]);
}

bool pass_from_end(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_select, visit, analysis_ranges(context));
    return true;
}
