/* uses.c: who uses a value. An op's operands are in the lists of their values from when it is built
 * until it is erased, so that finding, counting and replacing uses costs what there are of them. */
#include "ir/rows.h"

#include <string.h>

static void link_use(Op *op, int index)
{
    Value *value = op->operands[index];
    OpUse *use = &op->uses[index];
    *use = (OpUse){.op = op, .next = value->uses};
    if (value->uses != NULL) value->uses->previous = use;
    value->uses = use;
    value->use_count++;
}

static void unlink_use(Op *op, int index)
{
    Value *value = op->operands[index];
    const OpUse *use = &op->uses[index];
    *(use->previous != NULL ? &use->previous->next : &value->uses) = use->next;
    if (use->next != NULL) use->next->previous = use->previous;
    value->use_count--;
}

void uses_add(Op *op, Value *const *operands)
{
    for (int i = 0; i < op->operand_count; i++) {
        ((Value **)op->operands)[i] = operands[i];
        link_use(op, i);
    }
}

void uses_drop(Op *op)
{
    for (int i = 0; i < op->operand_count && op->uses != NULL; i++) unlink_use(op, i);
    op->uses = NULL;
}

/* ---- operands ---- */

void op_set_operand(Op *op, int index, Value *value)
{
    if (op->operands[index] == value) return;
    unlink_use(op, index);
    ((Value **)op->operands)[index] = value;
    link_use(op, index);
}

/* More or fewer than it had. */
static void op_set_operands(Op *op, int count, Value *const *operands)
{
    Arena *arena = op->parent->kernel->ops;
    uses_drop(op);
    op->operands = arena_new_array(arena, Value *, count);
    op->operand_count = count;
    op->uses = arena_new_array(arena, OpUse, count);
    uses_add(op, operands);
}

void op_add_operands(Op *op, int count, Value *const *values)
{
    const int had = op->operand_count;
    Value **operands = arena_new_array(op->parent->kernel->arena, Value *, had + count);
    if (had > 0) memcpy(operands, op->operands, sizeof *operands * (size_t)had);
    if (count > 0) memcpy(operands + had, values, sizeof *operands * (size_t)count);
    op_set_operands(op, had + count, operands);
}

void op_remove_operand(Op *op, int index)
{
    const int last = op->operand_count - 1;
    for (int i = index; i < last; i++) op_set_operand(op, i, op->operands[i + 1]);
    unlink_use(op, last);
    op->operand_count--;
}

/* ---- uses ---- */

void value_replace(Value *value, Value *other)
{
    if (value == other) return;
    for (OpUse *use = value->uses, *next; use != NULL; use = next) {
        next = use->next;
        op_set_operand(use->op, (int)(use - use->op->uses), other);
    }
}

static Value *follow(const Map *to, Value *value)
{
    for (Value *next; (next = map_get(to, value)) != NULL && next != value;) value = next;
    return value;
}

static void replace_operands(Op *op, void *context)
{
    for (int i = 0; i < op->operand_count; i++)
        op_set_operand(op, i, follow(context, op->operands[i]));
}

void region_replace(Region *region, const Map *to)
{
    Map copy = *to;
    if (to->count > 0) region_visit(region, replace_operands, &copy);
}

int region_count_uses(const Region *region, const Value *value)
{
    int uses = 0;
    for (const OpUse *use = value->uses; use != NULL; use = use->next)
        uses += region_holds(region, use->op->parent);
    return uses;
}

int op_count_uses(const Op *op, const Value *value)
{
    int uses = 0;
    for (const OpUse *use = value->uses; use != NULL; use = use->next) uses += use->op == op;
    for (int i = 0; i < op->region_count; i++) uses += region_count_uses(op->regions[i], value);
    return uses;
}

/* ---- what values are made of ---- */

typedef struct Asking {
    ValueQuestion *ask;
    void *context;
    Arena *arena;
    Map asked;
} Asking;

static bool finds_in_operands(Asking *asking, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++) {
        const Value *value = op->operands[i];
        if (map_has(&asking->asked, value)) continue;
        map_set(asking->arena, &asking->asked, value, asking);
        const ValueAnswer answer = asking->ask(value, asking->context);
        if (answer == VALUE_FOUND ||
            (answer == VALUE_OPERANDS && value->op && finds_in_operands(asking, value->op)))
            return true;
    }
    return false;
}

bool value_finds(const Value *value, ValueQuestion *ask, void *context)
{
    const ValueAnswer answer = ask(value, context);
    if (answer != VALUE_OPERANDS || !value->op) return answer == VALUE_FOUND;
    Asking asking = {.ask = ask, .context = context, .arena = arena_new()};
    const bool found = finds_in_operands(&asking, value->op);
    arena_free(asking.arena);
    return found;
}
