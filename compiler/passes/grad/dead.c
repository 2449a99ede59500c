/* dead.c: what the gradient does not need is dropped: all that no effect of it is made of. Loops no
 * longer carry what only went round in them. */
#include "ir/rebuild.h"
#include "passes/grad/states.h"

typedef struct Need {
    Grad *grad;
    Arena *arena;
    Region *region;
    Map ops, values; /* that are needed; of ops with regions: their control */
    ValueVec work;
} Need;

static void need_value(Need *need, Value *value)
{
    if (map_has(&need->values, value)) return;
    map_set(need->arena, &need->values, value, value);
    vec_push(need->arena, &need->work, value);
}

static void need_operands(Need *need, const Op *op, int first, int count)
{
    for (int i = first; i < first + count; i++) need_value(need, op->operands[i]);
}

static void need_op(Need *need, Op *op);

/* Ops that write such memory, by any name of it. */
static void need_writers(Need *need, const Value *memory)
{
    for (OpUse *use = memory->uses; use; use = use->next) {
        if (op_has(use->op, WRITES)) need_op(need, use->op);
        if (op_aliased(use->op) == memory || use->op->code == OP_view)
            need_writers(need, use->op->results);
    }
}

static void need_meeting(Op *op, void *context)
{
    if (op->code == OP_sync) need_op(context, op);
}

/* Of records: what wrote the part that the op reads, and the barriers between. When records are
 * settled, all that is still there. */
static void need_records(Need *need, const Op *op)
{
    const Reread *read = record_read(need->grad, op);
    Value *workspace = read ? NULL : records_workspace(need->grad, op);
    Op *const wanted[] = {read ? read->state->store : NULL, read ? read->states->before : NULL,
                          read ? read->states->after : NULL};
    for (int i = 0; i < 3; i++)
        if (wanted[i]) need_op(need, wanted[i]);
    if (!workspace) return;
    need_writers(need, workspace);
    region_visit(need->region, need_meeting, need);
}

static void need_while(Need *need, const Op *op)
{
    const Op *asks = region_terminator(op->regions[0]), *yield = region_terminator(op->regions[1]);
    need_operands(need, op, 0, op->operand_count);
    need_operands(need, asks, 0, asks->operand_count);
    need_operands(need, yield, 0, yield->operand_count);
}

static void need_op(Need *need, Op *op)
{
    if (map_has(&need->ops, op)) return;
    map_set(need->arena, &need->ops, op, op);
    if (op->parent->parent) need_op(need, op->parent->parent);
    switch ((int)op->code) {
    case OP_launch: break;
    case OP_for: need_operands(need, op, 0, operand_index(op, init)); break;
    case OP_if: need_operands(need, op, 0, 1); break;
    case OP_while: need_while(need, op); break;
    case OP_shared_alloc:
    case OP_local_alloc: need_writers(need, op->results); break;
    default: need_operands(need, op, 0, op->operand_count); need_records(need, op);
    }
}

static void need_carried(Need *need, Op *loop, int index)
{
    need_op(need, loop);
    need_value(need, operand_list(loop, init)[index]);
    need_value(need, region_terminator(loop->regions[0])->operands[index]);
    need_value(need, loop->regions[0]->arguments[1 + index]);
}

static void follow(Need *need, Value *value)
{
    Op *op = value->op ? value->op : value->region ? value->region->parent : NULL;
    if (!op) return;
    need_op(need, op);
    if (op->code == OP_for && (value->op || value->index > 0))
        need_carried(need, op, value->op ? value->index : value->index - 1);
    for (int i = 0; op->code == OP_if && i < 2; i++)
        need_value(need, region_terminator(op->regions[i])->operands[value->index]);
}

/* Effects that the caller sees; what is known of numbers stays known. */
static void find_roots(Op *op, void *context)
{
    Need *need = context;
    const bool is_effect = map_has(&need->grad->effects, op) && view_of(op);
    if (is_effect || op->code == OP_assume) need_op(need, op);
}

/* ---- dropping ---- */

bool is_there(const Op *op)
{
    while (op && op->parent && op->parent->parent) op = op->parent->parent;
    return op && op->parent;
}

static bool is_needed(const Need *need, const Value *value)
{
    const TypeKind kind = value->type->kind;
    return map_has(&need->values, value) || (kind != TYPE_SCALAR && kind != TYPE_TILE);
}

static Value *zero_before(Need *need, Op *op, const Type *type)
{
    need->grad->builder = builder_before(op);
    Value *zero = dtype_is_float(type->dtype) ? number_of(need->grad, type, 0)
                                              : integer_of(need->grad, type, 0);
    return zero;
}

/* What the loop carries for nobody is a zero that goes round. */
static void empty_loop(Need *need, Op *loop)
{
    Op *yield = region_terminator(loop->regions[0]);
    for (int i = 0; i < loop->result_count; i++) {
        Value *argument = loop->regions[0]->arguments[1 + i];
        if (is_needed(need, argument) || is_needed(need, &loop->results[i])) continue;
        op_set_operand(yield, i, argument);
        op_set_operand(loop, operand_index(loop, init) + i,
                       zero_before(need, loop, argument->type));
    }
}

static void empty_branch(Need *need, Op *branch)
{
    for (int r = 0; r < 2; r++) {
        Op *yield = region_terminator(branch->regions[r]);
        for (int i = 0; i < branch->result_count; i++)
            if (!is_needed(need, &branch->results[i]))
                op_set_operand(yield, i, zero_before(need, yield, branch->results[i].type));
    }
}

static void drop(Need *need, Region *region)
{
    for (Op *op = region->last, *previous; op; op = previous) {
        previous = op_previous(op);
        if (op_has(op, TERM)) continue;
        if (!map_has(&need->ops, op)) {
            op_erase(op);
            continue;
        }
        for (int i = 0; i < op->region_count; i++) drop(need, op->regions[i]);
        if (op->code == OP_for) empty_loop(need, op);
        if (op->code == OP_if) empty_branch(need, op);
    }
}

void drop_unneeded(Grad *grad, Region *region)
{
    Need need = {.grad = grad, .arena = arena_new(), .region = region};
    region_visit(region, find_roots, &need);
    while (need.work.count) {
        Value *value = vec_pop(&need.work);
        follow(&need, value);
    }
    drop(&need, region);
    arena_free(need.arena);
}
