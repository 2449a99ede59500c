/* custom_vjp.c: ops whose adjoint the program says: their second region computes it. The first one
 * is replayed as it is, and not gone through. */
#include "ir/rebuild.h"
#include "passes/grad/grad.h"

/* How many results the second region knows: behind them come the variables that the first one
 * sets. */
static int told_count(const Op *op)
{
    int count = 0, arguments = 0;
    while (arguments < op->regions[1]->argument_count)
        arguments += 1 + is_differentiable(&op->results[count++]);
    return count;
}

/* Some of which threads have each for itself. */
static bool are_parted(const Grad *grad, const Op *op, int count)
{
    bool fine = true, own = false;
    for (int i = 0; i < count; i++) own |= scalar_depends(grad, &op->results[i]);
    for (int i = 0; i < count; i++) fine &= op->results[i].type->kind == TYPE_SCALAR;
    for (int i = 0; i < op->operand_count; i++) fine &= op->operands[i]->type->kind == TYPE_SCALAR;
    return fine && own;
}

/* What it writes for others is the gradient's. */
static void note_writes(Grad *grad, Op *op)
{
    if (op_has(op, WRITES) && view_of(op)) map_set(grad->arena, &grad->effects, op, op);
    for (int i = 0; i < op->region_count; i++)
        for (Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            note_writes(grad, inner);
}

/* `adjoints`: of the results; NULL is zero. */
static void set_arguments(Grad *grad, const Op *op, int count, Value *const *adjoints)
{
    const Region *region = op->regions[1];
    int at = count;
    for (int i = 0; i < count; i++)
        map_set(grad->arena, &grad->primal, region->arguments[i], replayed(grad, &op->results[i]));
    for (int i = 0; i < count; i++) {
        if (!is_differentiable(&op->results[i])) continue;
        const Value *argument = region->arguments[at++];
        Value *adjoint = adjoints[i] ? adjoints[i] : number_of(grad, argument->type, 0);
        map_set(grad->arena, &grad->primal, argument,
                build_cast(&grad->builder, argument->type->dtype, adjoint));
    }
}

/* Memory of adjoints that it asks for; what it reads, of whatever memory, is as the author wants
 * it. */
static void settle_memory(Grad *grad, Op *op)
{
    for (int i = 0; i < op->region_count; i++)
        for (Op *inner = op->regions[i]->first, *next; inner; inner = next) {
            next = inner->next;
            settle_memory(grad, inner);
        }
    if (op_has(op, READS) && !op->region_count) map_set(grad->arena, &grad->settled, op, op);
    if (op->code != OP_adjoint_pointer) return;
    const Builder outside = grad->builder;
    grad->builder = builder_before(op);
    Value *adjoint = pointer_adjoint(grad, operand(op, pointer));
    grad->builder = outside;
    if (!adjoint) {
        grad_refuse(grad, op,
                    "this memory has no gradient: it is not a parameter's of its own type");
        return;
    }
    value_replace(op->results, adjoint);
    op_erase(op);
}

/* Where nothing is asked of the results, threads tell what they themselves find in memory. */
static Part part_of(const Grad *grad, const Value *told, Part part, bool asked)
{
    return !asked && scalar_depends(grad, told) ? PART_OWN : part;
}

static void run_backward(Grad *grad, const Op *op, int count, Part part, Value *const *adjoints)
{
    const Region *region = op->regions[1];
    bool asked = false;
    for (int i = 0; i < count; i++) asked |= adjoints[i] != NULL;
    Op *before = grad->builder.region->last;
    set_arguments(grad, op, count, adjoints);
    replay(grad, region, false);
    Op *made = before ? before->next : grad->builder.region->first;
    for (Op *next; made; made = next) {
        next = made->next;
        note_writes(grad, made);
        settle_memory(grad, made);
    }
    for (int i = 0; i < op->operand_count; i++) {
        const Value *told = region_terminator(region)->operands[i];
        const Part own = part_of(grad, told, part, asked);
        Value *adjoint = replayed(grad, told);
        if (own == PART_TOTAL)
            give_total(grad, op->operands[i], adjoint);
        else
            give(grad, op->operands[i], own, adjoint);
    }
}

/* Numbers keep their two parts, of which each goes back by itself; without either, memory does. */
static void by_parts(Grad *grad, const Op *op, int count, const Adjoint *both)
{
    Value **adjoints = arena_new_array(grad->arena, Value *, count + 1);
    bool any = false;
    for (int part = 0; part < PARTS; part++) {
        bool found = false;
        for (int i = 0; i < count; i++) found |= (adjoints[i] = both[i].parts[part]) != NULL;
        if (found) run_backward(grad, op, count, (Part)part, adjoints);
        any |= found;
    }
    if (!any) run_backward(grad, op, count, PART_OWN, adjoints);
}

void adjoint_custom_vjp(Grad *grad, Op *op)
{
    const int count = told_count(op);
    bool found = region_has(op->regions[1], OP_adjoint_pointer);
    Adjoint *both = arena_new_array(grad->arena, Adjoint, op->result_count + 1);
    Value **whole = arena_new_array(grad->arena, Value *, op->result_count + 1);
    for (int i = 0; i < op->result_count; i++) {
        both[i] = take_adjoint(grad, &op->results[i]);
        if (adjoint_is_none(both[i])) continue;
        found = true;
        if (i >= count)
            grad_refuse(grad, op, "it sets a variable of which its adjoint does not tell");
    }
    if (!found || grad->failed) return;
    if (are_parted(grad, op, count)) {
        by_parts(grad, op, count, both);
        return;
    }
    for (int i = 0; i < count; i++) whole[i] = whole_adjoint(grad, both[i]);
    run_backward(grad, op, count, PART_TOTAL, whole);
}

/* ---- in the replay ---- */

static void note_store(Op *op, void *context)
{
    Grad *grad = context;
    if (op_has(op, STORES) && !op_has(op, ATOMIC) && view_of(op))
        map_set(grad->arena, &grad->effects, op, op);
}

void note_replayed_stores(Op *op, void *context)
{
    if (op_int(op, ATTR_again, 0)) region_visit(op->regions[0], note_store, context);
}

typedef struct Settle {
    Grad *grad;
    const Op *after;
} Settle;

/* What the author reads there, behind what his function does, is as he wants it. */
static ValueAnswer settle_read(const Value *value, void *context)
{
    const Settle *settle = context;
    const Op *op = value->op;
    if (!op || op->parent != settle->after->parent || !op_comes_before(settle->after, op))
        return VALUE_ENOUGH;
    if (op_has(op, READS))
        map_set(settle->grad->arena, &settle->grad->settled, op, (void *)(uintptr_t)op);
    return VALUE_OPERANDS;
}

static void put_second_value(Grad *grad, Op *op)
{
    Settle settle = {grad, operand(op, a)->op};
    if (settle.after) value_finds(operand(op, b), settle_read, &settle);
    value_replace(op->results, operand(op, b));
    op_erase(op);
}

void settle_custom_vjp(Grad *grad, Region *region)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        for (int i = 0; i < op->region_count && op->code != OP_grad; i++)
            settle_custom_vjp(grad, op->regions[i]);
        if (op->code == OP_custom_vjp) op_dissolve(op, op->regions[0]);
        if (op->code == OP_replayed) put_second_value(grad, op);
    }
}
