/* custom.c: gradients of the author's.
 *
 * What he differentiates himself stands between a custom_begin and its custom op: first what his
 * function does, then what makes the adjoints of its arguments of those of its results, which
 * adjoint_of ops stand for. The first part is gone through in the replay alone, the second on the
 * way back. */
#include "passes/grad/grad.h"

static Op *begin_of(Op *custom)
{
    int depth = 1;
    Op *at = custom;
    while (depth) {
        at = at->previous;
        depth += (at->code == OP_custom) - (at->code == OP_custom_begin);
    }
    return at;
}

/* The first one of the custom op's own behind `at`, or the op itself. */
static Op *next_adjoint(Op *at, Op *custom)
{
    int depth = 0;
    for (at = at->next; at != custom; at = at->next) {
        depth += (at->code == OP_custom_begin) - (at->code == OP_custom);
        if (!depth && at->code == OP_adjoint_of) break;
    }
    return at;
}

static bool has_adjoint(const Grad *grad, const Value *value)
{
    const Adjoint *both = map_get(&grad->scope->adjoints, value);
    return both && !adjoint_is_none(*both);
}

/* Of a result: of what each thread has for itself, each thread's. */
static Value *adjoint_of(Grad *grad, const Value *result)
{
    const Adjoint both = take_adjoint(grad, result);
    Value *adjoint =
        scalar_depends(grad, result) ? both.parts[PART_OWN] : whole_adjoint(grad, both);
    if (!adjoint) adjoint = number_of(grad, adjoint_type(grad, result), 0);
    return build_cast(&grad->builder, result->type->dtype, adjoint);
}

/* In the order of the results that have one. */
static void set_adjoints(Grad *grad, Op *custom, Op *begin)
{
    Op *at = begin;
    for (int i = 0; i < custom->result_count; i++) {
        if (!is_differentiable(&custom->results[i])) continue;
        at = next_adjoint(at, custom);
        if (at == custom) return;
        map_set(grad->arena, &grad->primal, at->results, adjoint_of(grad, &custom->results[i]));
    }
}

static void note_write(Op *op, void *context)
{
    Grad *grad = context;
    if (op_has(op, WRITES) && view_of(op)) map_set(grad->arena, &grad->effects, op, op);
}

static void run_author(Grad *grad, Op *custom, Op *begin)
{
    for (const Op *at = next_adjoint(begin, custom); at != custom; at = at->next) {
        if (at->code == OP_adjoint_of && map_has(&grad->primal, at->results)) continue;
        grad->builder.span = at->span;
        op_visit(op_clone(&grad->builder, at, &grad->primal), note_write, grad);
    }
}

static void give_author(Grad *grad, Value *value, const Value *adjoint)
{
    const bool own = scalar_depends(grad, value) || scalar_depends(grad, adjoint);
    Value *given = replayed(grad, adjoint);
    if (own)
        give(grad, value, PART_OWN, given);
    else
        give_total(grad, value, given);
}

Op *reverse_custom(Grad *grad, Op *op)
{
    Op *begin = begin_of(op);
    bool active = false;
    for (int i = 0; i < op->result_count; i++) active |= has_adjoint(grad, &op->results[i]);
    if (!active) return begin;
    grad->builder.span = op->span;
    set_adjoints(grad, op, begin);
    run_author(grad, op, begin);
    for (int i = op->result_count; i + 1 < op->operand_count; i += 2)
        give_author(grad, op->operands[i], op->operands[i + 1]);
    return begin;
}

/* ---- what is left ---- */

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

static void settle_reads(Grad *grad, const Op *replayed)
{
    Settle settle = {grad, operand(replayed, a)->op};
    if (settle.after) value_finds(operand(replayed, b), settle_read, &settle);
}

static void drop(Op *op, void *context)
{
    if (op->code == OP_replayed) {
        settle_reads(context, op);
        op_set_operand(op, operand_index(op, a), operand(op, b));
    }
    if (op->code == OP_replayed || op->code == OP_custom || op->code == OP_adjoint_of ||
        op->code == OP_custom_begin)
        op_become_operands(op);
}

void drop_custom(Grad *grad, Region *region)
{
    region_visit(region, drop, grad);
}
