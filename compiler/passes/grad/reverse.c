/* reverse.c: the two sweeps over a region, and over a launch: see grad.h. */
#include "passes/grad/states.h"

#include "ir/rebuild.h"

typedef struct Row {
    AdjointRule *rule;
    Partial *partial;
    bool is_flat, moves_bits;
} Row;

static const Row rows[OP_COUNT] = {
#define ELEMENTWISE(op) [OP_##op] = {.partial = partial_##op},
#define ADJOINT(op)     [OP_##op] = {.rule = adjoint_##op},
#define FLAT(op)        [OP_##op] = {.is_flat = true},
#define CHOOSING(op)    [OP_##op] = {.partial = partial_##op, .moves_bits = true},
#define MOVING(op)      [OP_##op] = {.rule = adjoint_##op, .moves_bits = true},
#include "passes/grad/adjoints.def"
#undef ELEMENTWISE
#undef ADJOINT
#undef FLAT
#undef CHOOSING
#undef MOVING
};

/* ---- replaying ---- */

/* Memory of the region itself is written again, too, before it is read. */
static void note_stale(Grad *grad, const Region *region)
{
    const OpVec *moving = map_get(&grad->moving, region);
    for (size_t i = 0; moving && i < moving->count; i++) {
        Op *read = moving->data[i];
        const Value *copy = map_get(&grad->primal, read->results);
        if (copy && copy->op) vec_push(grad->arena, &grad->stale, ((Stale){read, copy->op}));
    }
}

/* What is read of memory that stays so. */
static void note_lasting(Op *read, void *context)
{
    Grad *grad = context;
    const Value *copy =
        map_has(&grad->lasting, read) ? map_get(&grad->primal, read->results) : NULL;
    if (copy && copy->op) map_set(grad->arena, &grad->settled, copy->op, copy->op);
}

/* The op, and what is in it. */
static Op *clone(Grad *grad, const Op *op)
{
    grad->builder.span = op->span;
    Op *copy = op_clone(&grad->builder, op, &grad->primal);
    op_visit((Op *)(uintptr_t)op, note_lasting, grad);
    op_visit(copy, note_replayed_stores, grad);
    return copy;
}

Op *replay_op(Grad *grad, const Op *op, bool again)
{
    Op *copy = clone(grad, op);
    for (int i = 0; again && i < op->region_count; i++) note_stale(grad, op->regions[i]);
    return copy;
}

void replay(Grad *grad, const Region *region, bool again)
{
    for (const Op *op = region->first; op; op = op_next(op))
        if (!op_has(op, TERM)) clone(grad, op);
    if (again) note_stale(grad, region);
}

/* ---- going back ---- */

static bool is_active(const Grad *grad, const Op *op)
{
    for (int i = 0; i < op->result_count; i++) {
        const Adjoint *both = map_get(&grad->scope->adjoints, &op->results[i]);
        if (both && !adjoint_is_none(*both)) return true;
    }
    return false;
}

/* Of a number that stays one. */
static bool is_cast(const Op *op, int operand)
{
    return op->code == OP_cast && is_differentiable(op->operands[operand]);
}

/* An adjoint reaches the bits of numbers where the op makes others of them. */
static bool breaks_bits(const Grad *grad, const Op *op)
{
    for (int i = 0; i < op->result_count; i++) {
        const Adjoint *both = map_get(&grad->scope->adjoints, &op->results[i]);
        if (both && !adjoint_is_none(*both) && !is_differentiable(&op->results[i])) return true;
    }
    return false;
}

static void reverse_elements(Grad *grad, const Op *op, Partial *partial)
{
    const Adjoint both = take_adjoint(grad, op->results);
    for (int part = 0; part < PARTS; part++)
        for (int i = 0; both.parts[part] && i < op->operand_count; i++) {
            if (op->operands[i]->type->dtype != op->results->type->dtype && !is_cast(op, i))
                continue;
            Value *adjoint = partial(grad, op, i, both.parts[part]);
            if (part == PART_TOTAL)
                give_total(grad, op->operands[i], adjoint);
            else
                give(grad, op->operands[i], PART_OWN, adjoint);
        }
}

static void reverse_op(Grad *grad, Op *op)
{
    const Row *row = &rows[op->code];
    const bool active = is_active(grad, op), writes = op_has(op, WRITES);
    if ((row->is_flat && !breaks_bits(grad, op)) || (!active && !writes)) return;
    grad->builder.span = op->span;
    if (!row->moves_bits && breaks_bits(grad, op))
        grad_refuse(grad, op, "it is of the bits of a number");
    else if (row->rule)
        row->rule(grad, op);
    else if (row->partial)
        reverse_elements(grad, op, row->partial);
    else
        grad_refuse(grad, op, active ? "it has no derivative here" : "it has no adjoint");
}

void reverse(Grad *grad, Region *region)
{
    memory_open(grad, region);
    for (Op *op = region->last; op && !grad->failed; op = op->previous)
        if (!op_has(op, TERM)) reverse_op(grad, op);
}

/* ---- a launch ---- */

static Op *new_launch(Op *launch)
{
    Builder builder = builder_at_end(launch->parent, launch->span);
    Op *fresh = build_op(&builder, OP_launch, 3, launch->operands, 0, NULL);
    op_keep_attr(fresh, launch, ATTR_warps);
    op_keep_attr(fresh, launch, ATTR_agree);
    return fresh;
}

void drop_slopes(Region *region)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        for (int i = 0; i < op->region_count && op->code != OP_grad; i++)
            drop_slopes(op->regions[i]);
        if (op->code != OP_slope && op->code != OP_with_adjoint) continue;
        value_replace(op->results, op->code == OP_slope ? operand(op, a) : operand(op, pointer));
        op_erase(op);
    }
}

/* Reads in the replay of what the program has written by then. */
bool reads_are_fresh(Grad *grad)
{
    for (size_t i = 0; i < grad->stale.count && !grad->failed; i++)
        if (is_there(grad->stale.data[i].replayed))
            grad_refuse(grad, grad->stale.data[i].read,
                        "the gradient needs what it reads, which is overwritten by then");
    return !grad->failed;
}

Op *differentiate(Grad *grad, Op *launch)
{
    Scope scope;
    Region *region = launch_region(launch);
    Op *fresh = new_launch(launch);
    grad->threads = launch_threads(launch).count;
    grad->builder = builder_at_end(launch_region(fresh), launch->span);
    find_dependent(grad, region);
    find_moving(grad, region);
    scope_open(grad, &scope);
    replay(grad, region, false);
    reverse(grad, region);
    scope_close(grad);
    if (grad->failed) return NULL;
    if (!settle_gradients(grad->kernel, grad->target, launch_region(fresh))) return NULL;
    drop_slopes(launch_region(fresh));
    settle_custom_vjp(grad, launch_region(fresh));
    drop_unneeded(grad, launch_region(fresh));
    records_settle(grad);
    return reads_are_fresh(grad) ? fresh : NULL;
}
