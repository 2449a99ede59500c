/* clamped_indices.c: indices that are kept within a memory where a mask keeps them there anyway.
 *
 *     0 <= j && j < 64 ? x[min(max(j, 0), 63)] : 0          reads x[j] under the mask
 *     i >= 1 ? x[max(i - 1, 0)] : 0                         reads x[i - 1]
 *
 * Such texts keep to what is safe where both sides of a choice are computed. What is gathered under
 * the condition needs no second one, and blocks of it are found by indices that only count. Needs a
 * TYPED kernel in SSA, before affine. */
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

enum { DEPTH = 6, MOST_CONDITIONS = 16, SMALL = 1 << 30 /* sums of such numbers do not wrap */ };

/* base + number; base: the same of all elements, or of each one. NULL: the number alone. */
typedef struct Form {
    const Value *base;
    int64_t number;
} Form;

typedef struct Condition { /* less <= more */
    Form less, more;
} Condition;

typedef struct Clamps {
    FactTable *facts;
    Builder at;
    Condition conditions[MOST_CONDITIONS];
    int count;
} Clamps;

static Form form_of(const Value *value)
{
    Form form = {value, 0};
    int64_t number;
    for (;;) {
        const Op *op = form.base->op;
        if (value_repeated_constant(form.base, &number)) {
            form.number += number;
            form.base = NULL;
            return form;
        }
        if (op && (op->code == OP_splat || op->code == OP_broadcast)) {
            form.base = operand(op, a);
        } else if (op && (op->code == OP_add || op->code == OP_sub) &&
                   value_repeated_constant(operand(op, b), &number)) {
            form.number += op->code == OP_add ? number : -number;
            form.base = operand(op, a);
        } else {
            return form;
        }
    }
}

/* ---- what the mask says ---- */

static void note_comparison(Clamps *clamps, const Op *op)
{
    const char *predicate = op_attr(op, ATTR_predicate)->text;
    const bool is_less = predicate[0] == 'l', is_strict = predicate[1] == 't';
    const DType dtype = operand(op, a)->type->dtype;
    if ((!is_less && predicate[0] != 'g') || !dtype_is_integer(dtype) || !dtype_is_signed(dtype) ||
        clamps->count == MOST_CONDITIONS)
        return;
    Condition condition = {form_of(is_less ? operand(op, a) : operand(op, b)),
                           form_of(is_less ? operand(op, b) : operand(op, a))};
    condition.more.number -= is_strict;
    clamps->conditions[clamps->count++] = condition;
}

static void note_mask(Clamps *clamps, const Value *mask, int depth)
{
    const Op *op = mask->op;
    if (!op || depth == 0) return;
    if (op->code == OP_and) {
        note_mask(clamps, operand(op, a), depth - 1);
        note_mask(clamps, operand(op, b), depth - 1);
    }
    if (op->code == OP_splat || op->code == OP_broadcast)
        note_mask(clamps, operand(op, a), depth - 1);
    if (op->code == OP_cmp) note_comparison(clamps, op);
}

/* Numbers may be added to it. */
static bool is_small(const Clamps *clamps, const Value *base)
{
    if (!base) return true;
    const Facts facts = facts_of(clamps->facts, base);
    return facts.low >= -(int64_t)SMALL && facts.high <= SMALL;
}

/* Where the mask holds, less <= more. */
static bool is_implied(const Clamps *clamps, Form less, Form more)
{
    for (int i = 0; i < clamps->count; i++) {
        const Form *low = &clamps->conditions[i].less, *high = &clamps->conditions[i].more;
        if (low->base != less.base || high->base != more.base) continue;
        const bool same = low->number == less.number && high->number == more.number;
        if (same || (less.number - low->number <= more.number - high->number &&
                     is_small(clamps, less.base) && is_small(clamps, more.base)))
            return true;
    }
    return false;
}

/* ---- indices ---- */

static Value *unclamped(Clamps *clamps, Value *index, int depth)
{
    const Op *op = index->op;
    const bool is_min = op && op->code == OP_min, is_max = op && op->code == OP_max;
    if (!op || depth == 0 || (!is_min && !is_max && op->code != OP_add && op->code != OP_sub))
        return index;
    Value *a = unclamped(clamps, operand(op, a), depth - 1),
          *b = unclamped(clamps, operand(op, b), depth - 1);
    const Form inner = form_of(a), limit = form_of(b);
    if (is_min && is_implied(clamps, inner, limit)) return a;
    if (is_max && is_implied(clamps, limit, inner)) return a;
    return a == operand(op, a) && b == operand(op, b) ? index : build2(&clamps->at, op->code, a, b);
}

static void visit(Op *op, void *context)
{
    const int first = scattered_first(op);
    Value *mask = scattered_mask(op);
    if (!mask) return;
    Clamps clamps = {.facts = context, .at = builder_before(op)};
    clamps.at.span = op->span;
    note_mask(&clamps, mask, DEPTH);
    for (int d = 0; clamps.count && d < operand(op, memory)->type->rank; d++) {
        Value *index = op->operands[first + d];
        if (!dtype_is_signed(index->type->dtype)) continue;
        Value *other = unclamped(&clamps, index, DEPTH);
        if (other != index && other->type == index->type) op_set_operand(op, first + d, other);
    }
}

bool pass_clamped_indices(Kernel *kernel, PassContext *context)
{
    kernel_visit_with(kernel, SCATTERED, visit, analysis_ranges(context));
    return true;
}
