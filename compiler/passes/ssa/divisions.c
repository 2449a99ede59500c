/* divisions.c: whole numbers that are known not to be negative, by ones known to be positive.
 *
 *     x / y * y + x % y                 is x
 *     x / y, x % y of at most 32 bits   are those of u32
 *     all others                        are {positive}: nothing but the quotient is computed
 *
 * GPUs have no instruction that divides: a division is a dozen instructions in a row for u32, three
 * times as many with signs or for 64 bits, and that twice in a row before a block knows what it is
 * to copy. */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

typedef struct Divisions {
    Kernel *kernel;
    FactTable *facts;
} Divisions;

/* Neither a sign, nor a division by zero, nor an overflow. */
static bool is_plain(const Divisions *divisions, const Op *op)
{
    const Value *a = operand(op, a), *b = operand(op, b);
    return type_is_scalar(a->type) && dtype_is_integer(a->type->dtype) &&
           a->type->dtype != DTYPE_u64 && facts_of(divisions->facts, a).low >= 0 &&
           facts_of(divisions->facts, b).low >= 1;
}

/* x, if `quotient` is of x by the factor and `rest` is what remains of that. */
static Value *whole_of(const Divisions *divisions, const Value *quotient, const Value *factor,
                       const Value *rest)
{
    const Op *a = value_uncast(quotient)->op, *b = value_uncast(rest)->op;
    const bool fits = a && b && op_has(a, QUOTIENT) && op_has(b, REMAINDER) &&
                      operand(a, a) == operand(b, a) && operand(a, b) == operand(b, b) &&
                      value_uncast(factor) == value_uncast(operand(a, b)) && is_plain(divisions, a);
    return fits ? operand(a, a) : NULL;
}

static Value *whole_of_sum(const Divisions *divisions, const Op *sum)
{
    Value *whole = NULL;
    for (int i = 0; i < 2 && !whole; i++) {
        const Op *product = value_uncast(sum->operands[i])->op;
        if (!product || product->code != OP_mul) continue;
        for (int j = 0; j < 2 && !whole; j++)
            whole = whole_of(divisions, product->operands[j], product->operands[1 - j],
                             sum->operands[1 - i]);
    }
    return whole;
}

static void simplify_sum(Op *op, void *context)
{
    const Divisions *divisions = context;
    if (op->code != OP_add || !type_is_scalar(op->results[0].type)) return;
    Value *whole = whole_of_sum(divisions, op);
    if (!whole) return;
    Builder at = builder_before(op);
    value_replace(op->results, build_cast(&at, op->results[0].type->dtype, whole));
}

static void narrow(Op *op, void *context)
{
    const Divisions *divisions = context;
    if (!op_has(op, QUOTIENT | REMAINDER)) return;
    if (!is_plain(divisions, op)) return;
    Value *a = operand(op, a), *b = operand(op, b);
    op_set_int(op, ATTR_positive, 1);
    if (dtype_bits(a->type->dtype) <= 32 || facts_of(divisions->facts, a).high > UINT32_MAX ||
        facts_of(divisions->facts, b).high > UINT32_MAX)
        return;
    Builder at = builder_before(op);
    Value *narrow_a = build_cast(&at, DTYPE_u32, a), *narrow_b = build_cast(&at, DTYPE_u32, b);
    Value *result = build2(&at, op->code, narrow_a, narrow_b);
    op_set_int(result->op, ATTR_positive, 1);
    value_replace(op->results, build_cast(&at, a->type->dtype, result));
}

static void visit_launches(PassContext *context, OpVisitor *visit)
{
    Divisions divisions = {.kernel = context->kernel, .facts = analysis_ranges(context)};
    for (Op *op = context->kernel->host->first; op; op = op_next(op))
        if (op->code == OP_launch) region_visit(op->regions[0], visit, &divisions);
    analysis_invalidate(context);
}

bool pass_divisions(Kernel *kernel, PassContext *context)
{
    if (!kernel_had_any(kernel, QUOTIENT | REMAINDER)) return true;
    visit_launches(context, simplify_sum);
    visit_launches(context, narrow);
    return true;
}
