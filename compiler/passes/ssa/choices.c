/* choices.c: choices that need not be made. Part of simplify.
 *
 * What a loop's first iteration takes in place of a carried value is the value that the loop begins
 * with:
 *
 *     for i = a... (x = u) { y = i == a ? v : x; ... }   ->   for i = a... (x = v) { ... x ... }
 *
 * Of the author's `if i == 0` there is nothing left then, and a product that begins with zeros in
 * the first iteration goes on with its sums in all of them.
 *
 * A choice whose result is used, element by element, only where its condition holds:
 *
 *     select(a and b, f(select(a, x, y)), z)   ->   select(a and b, f(x), z)
 *
 * What is read of memory where a mask holds, as zero elsewhere, and computed where the same mask
 * holds leaves such choices, one for each element. */
#include "passes/analysis/loop.h"
#include "passes/ssa/simplify.h"
#include "ir/group.h"
#include "ir/rebuild.h"

#include <string.h>

enum {
    DEEPEST = 12, /* comparisons of a mask */
    USES = 50     /* that are looked at from one choice to the others */
};

/* ---- of a first iteration ---- */

/* A choice between two values, and nothing else: a select, or an if that yields them. */
typedef struct Choice {
    Op *op;
    Value *condition, *values[2];
} Choice;

static bool find_choice(Op *op, Choice *out)
{
    *out = (Choice){.op = op};
    if (op->code == OP_select) {
        out->condition = operand(op, condition);
        out->values[0] = operand(op, a);
        out->values[1] = operand(op, b);
        return true;
    }
    if (op->code != OP_if || op->result_count != 1 || is_group(op)) return false;
    out->condition = operand(op, condition);
    for (int r = 0; r < 2; r++) {
        const Op *yield = op->regions[r]->first;
        if (!yield || yield->code != OP_yield) return false;
        out->values[r] = *operand_list(yield, values);
    }
    return true;
}

/* Which of the two is taken in the loop's first iteration alone; -1: that is not known. */
static int first_of(const Op *loop, const Value *condition)
{
    const Op *cmp = condition->op;
    if (!cmp || cmp->code != OP_cmp || operand(cmp, a) != loop->regions[0]->arguments[0] ||
        !value_same_number(operand(cmp, b), operand(loop, begin)))
        return -1;
    const char *predicate = op_attr(cmp, ATTR_predicate)->text;
    if (strcmp(predicate, "eq") == 0) return 0;
    const bool counts_up = strcmp(predicate, "gt") == 0 && loop_trips(loop) > 0;
    return counts_up || strcmp(predicate, "ne") == 0 ? 1 : -1;
}

static bool is_outside(const Op *loop, const Value *value)
{
    return !region_holds(loop->regions[0], value_home(value));
}

/* There, or made of what is there as well before the loop. */
static bool comes_before(const Op *loop, const Value *value)
{
    if (is_outside(loop, value)) return true;
    if (!value->op || (value->op->code != OP_const && value->op->code != OP_splat)) return false;
    for (int i = 0; i < value->op->operand_count; i++)
        if (!comes_before(loop, value->op->operands[i])) return false;
    return true;
}

/* The choice, in each iteration, between a carried value that nothing else uses and another one. */
static bool find_first_choice(const Op *loop, int index, Choice *out, int *first)
{
    const Value *argument = loop->regions[0]->arguments[1 + index];
    if (argument->use_count != 1) return false;
    Op *user = argument->uses->op;
    if (user->code == OP_yield) user = user->parent->parent;
    if (!user || user == loop || user->parent != loop->regions[0] || !find_choice(user, out))
        return false;
    *first = first_of(loop, out->condition);
    return *first >= 0 && out->values[1 - *first] == argument &&
           comes_before(loop, out->values[*first]);
}

bool simplify_first_choices(Op *loop)
{
    bool changed = false;
    for (int i = 0; i < loop->result_count; i++) {
        Choice choice;
        int first;
        if (loop_trips(loop) == 0 && loop->results[i].use_count > 0) continue;
        if (!find_first_choice(loop, i, &choice, &first)) continue;
        Value *begin = choice.values[first];
        value_move_before(begin, loop);
        op_set_operand(loop, operand_index(loop, init) + i, begin);
        value_replace(&choice.op->results[0], loop->regions[0]->arguments[1 + i]);
        op_erase(choice.op);
        changed = true;
    }
    return changed;
}

/* ---- within others ---- */

/* Whether `condition` is, or asks for, all that `part` does. */
static bool implies(const Value *condition, const Value *part, int depth)
{
    const Op *op = condition->op, *asks = part->op;
    if (condition == part) return true;
    if (depth == 0) return false;
    if (asks && asks->code == OP_and)
        return implies(condition, operand(asks, a), depth - 1) &&
               implies(condition, operand(asks, b), depth - 1);
    return op && op->code == OP_and &&
           (implies(operand(op, a), part, depth - 1) || implies(operand(op, b), part, depth - 1));
}

static bool is_used_within(const Value *value, const Value *condition, int *left);

/* A division is one of numbers that the author has chosen so that it can be done. */
static bool is_use_within(const OpUse *use, const Value *value, const Value *condition, int *left)
{
    const Op *op = use->op;
    if (op->code == OP_select && operand(op, condition) != value && operand(op, b) != value &&
        implies(operand(op, condition), condition, DEEPEST))
        return true;
    const bool divides =
        op_has(op, QUOTIENT | REMAINDER) && !dtype_is_float(op->results[0].type->dtype);
    return op_has(op, ELEM) && op_has(op, PURE) && op->result_count == 1 && !divides &&
           is_used_within(op->results, condition, left);
}

static bool is_used_within(const Value *value, const Value *condition, int *left)
{
    for (const OpUse *use = value->uses; use; use = use->next)
        if (--*left < 0 || !is_use_within(use, value, condition, left)) return false;
    return value->uses != NULL;
}

Value *simplify_nested_choice(const Op *choice)
{
    const Value *result = choice->results;
    int left = USES;
    return result->type->kind == TYPE_TILE &&
                   is_used_within(result, operand(choice, condition), &left)
               ? operand(choice, a)
               : NULL;
}
