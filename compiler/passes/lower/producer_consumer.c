/* producer_consumer.c: the barriers of a multi-buffer's stages: an mbarrier a stage for each way.
 */
#include "passes/lower/lower.h"

enum { FILLED, GIVEN };

/* The mbarrier of the stage; `stage` is an i32. */
static Value *barrier_at(Lower *lower, const Value *barriers, int way, Value *stage)
{
    Value *at[LAYOUT_RANK] = {address_const(lower, DTYPE_i32, way), stage};
    return shared_element(lower, barriers, at);
}

Value *stage_filled(Lower *lower, const Value *barriers, Value *stage)
{
    Value *at[LAYOUT_RANK] = {lower_scalar(lower, stage)};
    if (barriers->type->rank == 1) return shared_element(lower, barriers, at); /* the author's */
    return barrier_at(lower, barriers, FILLED, at[0]);
}

static Value *stage_of(Lower *lower, const Op *op)
{
    return lower_scalar(lower, operand(op, stage));
}

static void init(Lower *lower, const Op *op, int way, int64_t arrivals)
{
    const int stages = (int)operand(op, barriers)->type->shape[1];
    for (int i = 0; i < stages; i++) {
        Value *stage = address_const(lower, DTYPE_i32, i);
        Value *operands[2] = {barrier_at(lower, operand(op, barriers), way, stage),
                              address_const(lower, DTYPE_b1, 1)};
        op_set_int(build_op(&lower->at, OP_mbar_init, 2, operands, 0, NULL), ATTR_count, arrivals);
    }
}

/* By one thread, to whom all addresses are constants: where threads have addresses of their own,
 * the machine takes one thread after the other. */
void lower_pipeline_init(Lower *lower, Op *op)
{
    const Builder around = lower->at;
    Op *branch = build_branch(&lower->at, address_elected(lower, 0));
    lower->at = builder_before(branch->regions[0]->last);
    init(lower, op, FILLED, op_int(op, ATTR_count, 1));
    if (operand(op, barriers)->type->shape[0] > GIVEN)
        init(lower, op, GIVEN, op_int(op, ATTR_warps, 1));
    lower->at = around;
}

/* What a stage's barriers order are copies by TMA and what the tensor core reads, of
 * which the block's own order is enough: no caches are to be emptied for the cluster's sake. */
static void set_scope(Lower *lower, const Op *from, Op *made)
{
    if (launch_cluster(op_enclosing(from, OP_launch)) > 1)
        op_set_text(made, ATTR_scope, intern_text(lower->kernel->session->names, "cta"));
}

static void await(Lower *lower, const Op *op, int way)
{
    Value *operands[2] = {barrier_at(lower, operand(op, barriers), way, stage_of(lower, op)),
                          lower_scalar(lower, operand(op, parity))};
    set_scope(lower, op, build_op(&lower->at, OP_mbar_wait, 2, operands, 0, NULL));
}

void lower_producer_acquire(Lower *lower, Op *op)
{
    await(lower, op, GIVEN);
}

void lower_consumer_wait(Lower *lower, Op *op)
{
    await(lower, op, FILLED);
}

/* Lanes may ask at different times: the warp waits if one of them has found the phase open. */
void lower_consumer_try_wait(Lower *lower, Op *op)
{
    TypeTable *types = lower->kernel->types;
    Value *barrier = barrier_at(lower, operand(op, barriers), FILLED, stage_of(lower, op));
    Value *phase = lower_build(lower, OP_mbar_phase, 1, &barrier, type_scalar(types, DTYPE_i32));
    Value *open = build_cmp(&lower->at, "eq", phase, lower_scalar(lower, operand(op, parity)));
    Value *lanes = lower_build(lower, OP_vote, 1, &open, type_scalar(types, DTYPE_u32));
    map_set(lower->arena, &lower->scalars, op->results,
            build_cmp(&lower->at, "eq", lanes, address_const(lower, DTYPE_u32, 0)));
}

/* TMA's bytes are expected by one thread. */
void lower_producer_commit(Lower *lower, Op *op)
{
    const Attr *bytes = op_attr(op, ATTR_bytes);
    Value *operands[2] = {stage_filled(lower, operand(op, barriers), operand(op, stage)), NULL};
    if (!bytes) {
        build_op(&lower->at, OP_cp_async_arrive, 1, operands, 0, NULL);
        return;
    }
    operands[1] = address_first_thread(lower);
    op_set_int(build_op(&lower->at, OP_mbar_arrive, 2, operands, 0, NULL), ATTR_bytes,
               bytes->integer);
}

/* Whether threads read the stages themselves. */
static bool reads_stages(const Op *op, const void *context)
{
    (void)context;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind == TYPE_SHARED &&
            op_attr(shared_root(op->operands[i]), ATTR_multi_buffer) &&
            !op_has(op, ASYNC_PROXY | ALIAS))
            return true;
    return false;
}

/* The stage was read by the tensor core alone, for which the threads of a warp wait as one
 * (wgmma.wait_group is .sync.aligned), and have just done so. */
static bool is_together(const Lower *lower, const Op *give)
{
    const Op *op = give->previous;
    while (op && !op_has(op, READS | WRITES | COOP) && !op->region_count) op = op->previous;
    if (!op || op->code != OP_dot_wait || !target_has(lower->target, HAS_WGMMA)) return false;
    return !region_find(give->parent, reads_stages, NULL);
}

static Value *first_lane(Lower *lower)
{
    Value *lane = address_op(lower, OP_and, address_thread_id(lower),
                             address_const(lower, DTYPE_i32, WARP_SIZE - 1));
    return address_cmp(lower, "eq", lane, address_const(lower, DTYPE_i32, 0));
}

/* One lane speaks for the warp, once all have come. */
void lower_consumer_release(Lower *lower, Op *op)
{
    Value *first = first_lane(lower);
    Value *operands[2] = {barrier_at(lower, operand(op, barriers), GIVEN, stage_of(lower, op)),
                          address_and(lower, first, lower_scalar(lower, operand(op, condition)))};
    if (!is_together(lower, op)) build_op(&lower->at, OP_warp_sync, 0, NULL, 0, NULL);
    build_op(&lower->at, OP_mbar_arrive, 2, operands, 0, NULL);
    if (!operand_given(op, rank)) return;
    operands[0] = address_in_cluster(lower, operands[0], lower_scalar(lower, operand(op, rank)));
    set_scope(lower, op, build_op(&lower->at, OP_mbar_arrive, 2, operands, 0, NULL));
}

/* ---- ping-pong of warpgroups ---- */

/* Which of them the thread is of, from the launch's first thread on. */
static Value *group_index(Lower *lower)
{
    Value *warp = address_op(lower, OP_shr, address_thread_id(lower),
                             address_const(lower, DTYPE_i32, WARP_BITS));
    return address_op(lower, OP_shr, address_uniform(lower, warp),
                      address_const(lower, DTYPE_i32, WARPGROUP_BITS - WARP_BITS));
}

/* A phase of a group's barrier is complete when the one before it has passed the turn: the first
 * one has to wait for one less. */
void lower_order_wait(Lower *lower, Op *op)
{
    Value *group = group_index(lower), *zero = address_const(lower, DTYPE_i32, 0);
    Value *is_first = address_cast(lower, DTYPE_i32, address_cmp(lower, "eq", group, zero));
    Value *operands[2] = {
        barrier_at(lower, operand(op, barriers), FILLED, group),
        address_op(lower, OP_xor, lower_scalar(lower, operand(op, parity)), is_first)};
    set_scope(lower, op, build_op(&lower->at, OP_mbar_wait, 2, operands, 0, NULL));
}

void lower_order_arrive(Lower *lower, Op *op)
{
    const Value *barriers = operand(op, barriers);
    const int last = (int)barriers->type->shape[1] - 1;
    Value *group = group_index(lower);
    Value *is_last = address_cmp(lower, "eq", group, address_const(lower, DTYPE_i32, last));
    Value *next = lower_build(lower, OP_select, 3,
                              (Value *[]){is_last, address_const(lower, DTYPE_i32, 0),
                                          address_add_number(lower, group, 1)},
                              group->type);
    Value *operands[2] = {barrier_at(lower, barriers, FILLED, next), first_lane(lower)};
    build_op(&lower->at, OP_warp_sync, 0, NULL, 0, NULL);
    set_scope(lower, op, build_op(&lower->at, OP_mbar_arrive, 2, operands, 0, NULL));
}
