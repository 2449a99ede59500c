/* mbarrier.c: mbarriers that the author has made. */
#include "passes/lower/lower.h"

/* The index is an i32, which the emulator checks where it is not known. */
static Value *barrier_at(Lower *lower, const Op *op, Value *index)
{
    Value *at[LAYOUT_RANK] = {index};
    return shared_element(lower, operand(op, barriers), at);
}

static Value *barrier_of(Lower *lower, const Op *op)
{
    const int64_t count = operand(op, barriers)->type->shape[0];
    const Facts facts = facts_of(lower->facts, operand(op, index));
    Value *index = lower_scalar(lower, operand(op, index));
    if (facts.low < 0 || facts.high >= count)
        index = lower_check_index(lower, index, operand(op, barriers), 0);
    return barrier_at(lower, op, index);
}

/* With a rank: that of the cluster's block. */
static Value *barrier_there(Lower *lower, const Op *op)
{
    Value *barrier = barrier_of(lower, op), *rank = operand_given(op, rank);
    return rank ? address_in_cluster(lower, barrier, lower_scalar(lower, rank)) : barrier;
}

/* What one thread did just before, to mbarriers: NULL if it did nothing, or something else. */
static Op *branch_before(const Lower *lower)
{
    Op *last = lower->at.before ? lower->at.before->previous : lower->at.region->last;
    while (last && op_has(last, PURE)) last = last->previous;
    const Op *init = last && last->code == OP_if ? last->regions[0]->last->previous : NULL;
    return init && init->code == OP_mbar_init ? last : NULL;
}

/* By one thread, one mbarrier after the other: a branch for each, and a fence of the async proxy
 * that ptxas adds, would be a tenth of a microsecond before the first copy. */
void lower_mbarrier_init(Lower *lower, Op *op)
{
    const Attr *counts = op_attr(op, ATTR_counts);
    const Builder around = lower->at;
    Op *before = branch_before(lower);
    Value *once = address_in_group(lower, (ThreadGroup){lower->group.begin, 1});
    Op *branch = build_branch(&lower->at, once);
    Op *end = branch->regions[0]->last;
    while (before && before->regions[0]->first != before->regions[0]->last)
        op_move_before(before->regions[0]->first, end);
    if (before) op_erase(before);
    lower->at = builder_before(end);
    for (int i = 0; i < counts->count; i++) {
        Value *number = address_const(lower, DTYPE_i32, i);
        Value *operands[2] = {barrier_at(lower, op, number), address_const(lower, DTYPE_b1, 1)};
        op_set_int(build_op(&lower->at, OP_mbar_init, 2, operands, 0, NULL), ATTR_count,
                   counts->integers[i]);
    }
    lower->at = around;
}

/* The next op, or the one before, that does something. */
static const Op *neighbour(const Op *op, bool next)
{
    do op = next ? op->next : op->previous;
    while (op && op_has(op, PURE));
    return op;
}

/* An expect of a known number of bytes with an arrival at the same place behind it, which says
 * that, too. */
static bool is_one(const Op *expect, const Op *arrive, int64_t *bytes)
{
    if (!expect || !arrive || expect->code != OP_mbarrier_expect_tx ||
        arrive->code != OP_mbarrier_arrive || op_int(expect, ATTR_once, 0) ||
        !value_constant(operand(expect, bytes), bytes))
        return false;
    return operand(expect, barriers) == operand(arrive, barriers) &&
           operand(expect, index) == operand(arrive, index) &&
           operand_given(expect, rank) == operand_given(arrive, rank);
}

void lower_mbarrier_arrive(Lower *lower, Op *op)
{
    int64_t bytes;
    Value *operands[2] = {barrier_there(lower, op), address_const(lower, DTYPE_b1, 1)};
    Op *arrive = build_op(&lower->at, OP_mbar_arrive, 2, operands, 0, NULL);
    if (is_one(neighbour(op, false), op, &bytes)) op_set_int(arrive, ATTR_bytes, bytes);
}

void lower_mbarrier_expect_tx(Lower *lower, Op *op)
{
    int64_t bytes;
    if (is_one(op, neighbour(op, true), &bytes)) return;
    Value *operands[3] = {barrier_there(lower, op), lower_scalar(lower, operand(op, bytes)),
                          op_int(op, ATTR_once, 0) ? address_first_thread(lower)
                                                   : address_const(lower, DTYPE_b1, 1)};
    build_op(&lower->at, OP_mbar_expect, 3, operands, 0, NULL);
}

void lower_mbarrier_arrive_on_copies(Lower *lower, Op *op)
{
    Value *barrier = barrier_of(lower, op);
    Op *arrive = build_op(&lower->at, OP_cp_async_arrive, 1, &barrier, 0, NULL);
    if (!op_int(op, ATTR_arrives, 0)) op_set_int(arrive, ATTR_extra, 1);
}

void lower_mbarrier_arrive_and_wait(Lower *lower, Op *op)
{
    Value *barrier = barrier_of(lower, op);
    const Type *type = type_scalar(lower->kernel->types, DTYPE_i32);
    Value *phase = lower_build(lower, OP_mbar_phase, 1, &barrier, type);
    Value *arrive[2] = {barrier, address_const(lower, DTYPE_b1, 1)};
    build_op(&lower->at, OP_mbar_arrive, 2, arrive, 0, NULL);
    build_op(&lower->at, OP_mbar_wait, 2, (Value *[]){barrier, phase}, 0, NULL);
}

void lower_mbarrier_wait(Lower *lower, Op *op)
{
    Value *operands[2] = {barrier_of(lower, op),
                          address_op(lower, OP_and, lower_scalar(lower, operand(op, parity)),
                                     address_const(lower, DTYPE_i32, 1))};
    build_op(&lower->at, OP_mbar_wait, 2, operands, 0, NULL);
}
