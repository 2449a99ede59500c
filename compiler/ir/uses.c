/* uses.c: who uses a value. An op's operands are in the lists of their values from when it is built
 * until it is erased, so that finding, counting and replacing uses costs what there are of them. */
#include "ir/rows.h"
#include "ir/op_vec.h"

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

/* Ops whose operands are still to be asked about, as chains of them may be longer than a stack is
 * deep. */
bool value_finds(const Value *value, ValueQuestion *ask, void *context)
{
    ValueAnswer answer = ask(value, context);
    if (answer != VALUE_OPERANDS || !value->op) return answer == VALUE_FOUND;
    Arena *arena = arena_new();
    Map asked = {0};
    VEC(const Op *) open = {0};
    vec_push(arena, &open, value->op);
    while (open.count > 0 && answer != VALUE_FOUND) {
        const Op *op = vec_pop(&open);
        for (int i = 0; i < op->operand_count && answer != VALUE_FOUND; i++) {
            const Value *made_of = op->operands[i];
            if (map_has(&asked, made_of)) continue;
            map_set(arena, &asked, made_of, arena);
            answer = ask(made_of, context);
            if (answer == VALUE_OPERANDS && made_of->op) vec_push(arena, &open, made_of->op);
        }
    }
    arena_free(arena);
    return answer == VALUE_FOUND;
}

bool value_finds_use(const Value *value, UseQuestion *ask, void *context)
{
    Arena *arena = arena_new();
    Map asked = {0};
    VEC(const Value *) open = {0};
    bool found = false;
    vec_push(arena, &open, value);
    while (open.count > 0 && !found) {
        const Value *made = vec_pop(&open);
        for (const OpUse *use = made->uses; use && !found; use = use->next) {
            const ValueAnswer answer = ask(made, use->op, context);
            found = answer == VALUE_FOUND;
            if (answer != VALUE_RESULTS || map_has(&asked, use->op)) continue;
            map_set(arena, &asked, use->op, arena);
            for (int i = 0; i < use->op->result_count; i++)
                vec_push(arena, &open, &use->op->results[i]);
        }
    }
    arena_free(arena);
    return found;
}

/* An op, and which of its operands is looked at next. */
typedef struct Opened {
    Op *op;
    int next;
} Opened;

OpVec value_ops(Arena *arena, const Value *value, ValueQuestion *ask, void *context)
{
    OpVec ops = {0};
    Map seen = {0};
    VEC(Opened) open = {0};
    if (!value->op || ask(value, context) != VALUE_OPERANDS) return ops;
    map_set(arena, &seen, value->op, arena);
    vec_push(arena, &open, ((Opened){value->op, 0}));
    while (open.count > 0) {
        Opened *last = &open.data[open.count - 1];
        if (last->next == last->op->operand_count) {
            vec_push(arena, &ops, vec_pop(&open).op);
            continue;
        }
        const Value *made_of = last->op->operands[last->next++];
        if (!made_of->op || map_has(&seen, made_of->op) || ask(made_of, context) != VALUE_OPERANDS)
            continue;
        map_set(arena, &seen, made_of->op, arena);
        vec_push(arena, &open, ((Opened){made_of->op, 0}));
    }
    return ops;
}
