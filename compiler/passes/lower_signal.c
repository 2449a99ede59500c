/* lower_signal.c: mbarriers that the author has made. */
#include "passes/lower.h"

/* The index is an i32, which the emulator checks where it is not known. */
static Value *barrier_at(Lower *lower, const Op *op, Value *index)
{
    Value *at[LAYOUT_RANK] = {index};
    return shared_element(lower, op->operands[0], at);
}

static Value *barrier_of(Lower *lower, const Op *op)
{
    const int64_t count = op->operands[0]->type->shape[0];
    const Facts facts = facts_of(lower->facts, op->operands[1]);
    Value *index = lower_scalar(lower, op->operands[1]);
    if (facts.low < 0 || facts.high >= count) {
        Value *operands[2] = {address_cast(lower, DTYPE_i64, index),
                              address_const(lower, DTYPE_i64, count)};
        const Type *type = type_scalar(lower->kernel->types, DTYPE_i64);
        index =
            address_cast(lower, DTYPE_i32, lower_build(lower, OP_check_index, 2, operands, type));
    }
    return barrier_at(lower, op, index);
}

void lower_signal_init(Lower *lower, Op *op)
{
    const Attr *counts = op_attr(op, ATTR_counts);
    Value *once = address_in_group(lower, (ThreadGroup){lower->group.begin, 1});
    for (int i = 0; i < counts->count; i++) {
        Value *number = address_const(lower, DTYPE_i32, i);
        Value *operands[2] = {barrier_at(lower, op, number), once};
        op_set_int(build_op(&lower->at, OP_mbarrier_init, 2, operands, 0, NULL), ATTR_count,
                   counts->integers[i]);
    }
}

void lower_signal_arrive(Lower *lower, Op *op)
{
    Value *operands[2] = {barrier_of(lower, op), address_const(lower, DTYPE_b1, 1)};
    if (op->operand_count > 2)
        operands[0] = address_in_cluster(lower, operands[0], lower_scalar(lower, op->operands[2]));
    build_op(&lower->at, OP_mbarrier_arrive, 2, operands, 0, NULL);
}

void lower_signal_expect(Lower *lower, Op *op)
{
    Value *operands[3] = {barrier_of(lower, op), lower_scalar(lower, op->operands[2]),
                          op_int(op, ATTR_once, 0) ? address_first_thread(lower)
                                                   : address_const(lower, DTYPE_b1, 1)};
    build_op(&lower->at, OP_mbarrier_expect, 3, operands, 0, NULL);
}

void lower_signal_complete(Lower *lower, Op *op)
{
    Value *rank = lower_scalar(lower, op->operands[3]);
    Value *operands[3] = {address_in_cluster(lower, barrier_of(lower, op), rank),
                          lower_scalar(lower, op->operands[2]), address_first_thread(lower)};
    build_op(&lower->at, OP_mbarrier_complete, 3, operands, 0, NULL);
}

void lower_signal_copied(Lower *lower, Op *op)
{
    Value *barrier = barrier_of(lower, op);
    Op *arrive = build_op(&lower->at, OP_cp_async_arrive, 1, &barrier, 0, NULL);
    if (!op_int(op, ATTR_arrives, 0)) op_set_int(arrive, ATTR_extra, 1);
}

void lower_signal_meet(Lower *lower, Op *op)
{
    Value *barrier = barrier_of(lower, op);
    const Type *type = type_scalar(lower->kernel->types, DTYPE_i32);
    Value *phase = lower_build(lower, OP_mbarrier_phase, 1, &barrier, type);
    Value *arrive[2] = {barrier, address_const(lower, DTYPE_b1, 1)};
    build_op(&lower->at, OP_mbarrier_arrive, 2, arrive, 0, NULL);
    build_op(&lower->at, OP_mbarrier_wait, 2, (Value *[]){barrier, phase}, 0, NULL);
}

void lower_signal_wait(Lower *lower, Op *op)
{
    Value *operands[2] = {barrier_of(lower, op),
                          address_op(lower, OP_and, lower_scalar(lower, op->operands[2]),
                                     address_const(lower, DTYPE_i32, 1))};
    build_op(&lower->at, OP_mbarrier_wait, 2, operands, 0, NULL);
}
