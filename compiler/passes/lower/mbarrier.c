/* mbarrier.c: mbarriers that the author has made. */
#include "passes/lower/lower.h"

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

/* With a rank, the operand `rank`: that of the cluster's block. */
static Value *barrier_there(Lower *lower, const Op *op, int rank)
{
    Value *barrier = barrier_of(lower, op);
    return op->operand_count > rank
               ? address_in_cluster(lower, barrier, lower_scalar(lower, op->operands[rank]))
               : barrier;
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

/* The next op, or the one before, that does something. */
static const Op *neighbour(const Op *op, bool next)
{
    do op = next ? op->next : op->previous;
    while (op && op_info(op->code)->traits & PURE);
    return op;
}

/* An expect of a known number of bytes with an arrival at the same place behind it, which says
 * that, too. */
static bool is_one(const Op *expect, const Op *arrive, int64_t *bytes)
{
    if (!expect || !arrive || expect->code != OP_signal_expect ||
        arrive->code != OP_signal_arrive || op_int(expect, ATTR_once, 0) ||
        expect->operand_count != arrive->operand_count + 1 ||
        !value_constant(expect->operands[2], bytes))
        return false;
    return expect->operands[0] == arrive->operands[0] &&
           expect->operands[1] == arrive->operands[1] &&
           (arrive->operand_count == 2 || expect->operands[3] == arrive->operands[2]);
}

void lower_signal_arrive(Lower *lower, Op *op)
{
    int64_t bytes;
    Value *operands[2] = {barrier_there(lower, op, 2), address_const(lower, DTYPE_b1, 1)};
    Op *arrive = build_op(&lower->at, OP_mbarrier_arrive, 2, operands, 0, NULL);
    if (is_one(neighbour(op, false), op, &bytes)) op_set_int(arrive, ATTR_bytes, bytes);
}

void lower_signal_expect(Lower *lower, Op *op)
{
    int64_t bytes;
    if (is_one(op, neighbour(op, true), &bytes)) return;
    Value *operands[3] = {barrier_there(lower, op, 3), lower_scalar(lower, op->operands[2]),
                          op_int(op, ATTR_once, 0) ? address_first_thread(lower)
                                                   : address_const(lower, DTYPE_b1, 1)};
    build_op(&lower->at, OP_mbarrier_expect, 3, operands, 0, NULL);
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
