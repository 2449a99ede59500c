/* join_reads.c: a branch whose arms read the same memory at different places becomes reads at the
 * places that its condition chooses:
 *
 *     if c { copy a[x], t } else { copy a[y], t }                     ->   copy a[c ? x : y], t
 *     r = if c { element a[x] } else { element a[y] }                 ->   r = element a[c ? x : y]
 *
 * Then each iteration of a loop does the copies once, and multi_buffer can make them ahead; and a
 * thread that reads elements one after the other waits for none of them before it has begun the
 * next. Needs SSA and bounds: what either arm checks is checked. Leaves a TYPED kernel. */
#include "passes/pass.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"

static bool is_read(const Op *op)
{
    return op->code == OP_copy || op->code == OP_element_load;
}

/* A number of those that places are found by: both arms' are computed then. */
static bool is_for_places(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP) && op->region_count == 0 &&
           (op->code == OP_const ||
            (type_is_scalar(op->results[0].type) && (dtype_is_integer(op->results[0].type->dtype) ||
                                                     op->results[0].type->dtype == DTYPE_b1)));
}

/* The reads of an arm, which does no more than that; false: it does. */
static bool list_reads(Arena *arena, const Region *arm, OpVec *reads)
{
    for (Op *op = arm->first; op && op->code != OP_yield; op = op->next) {
        if (!is_read(op) && !is_for_places(op)) return false;
        if (is_read(op)) vec_push(arena, reads, op);
    }
    return true;
}

static int first_place(const Op *read)
{
    return read->code == OP_copy ? operand_index(read, offsets) : operand_index(read, indices);
}

/* Where alone may differ. */
static bool are_joined(const Op *a, const Op *b)
{
    if (a->code != b->code || a->operand_count != b->operand_count) return false;
    for (int i = 0; i < a->operand_count; i++)
        if (i < first_place(a) ? a->operands[i] != b->operands[i]
                               : a->operands[i]->type != b->operands[i]->type)
            return false;
    return op_same_attr(a, b, ATTR_dims) && op_same_attr(a, b, ATTR_evict);
}

static bool has_same_reads(Arena *arena, const Op *branch, OpVec reads[2])
{
    if (branch->code != OP_if || is_group(branch)) return false;
    for (int i = 0; i < branch->result_count; i++)
        if (!type_is_scalar(branch->results[i].type)) return false;
    for (int r = 0; r < 2; r++)
        if (!list_reads(arena, branch->regions[r], &reads[r])) return false;
    for (size_t i = 0; reads[0].count == reads[1].count && i < reads[0].count; i++)
        if (!are_joined(reads[0].data[i], reads[1].data[i])) return false;
    return reads[0].count && reads[0].count == reads[1].count;
}

/* What one of them checks. */
static void join_bounds(Op *read, const Op *other)
{
    const Attr *a = op_attr(read, ATTR_bounds), *b = op_attr(other, ATTR_bounds);
    int64_t checks[TYPE_RANK];
    if (!a || !b) return;
    for (int i = 0; i < a->count; i++) checks[i] = a->integers[i] | b->integers[i];
    op_set_ints(read, ATTR_bounds, a->count, checks);
}

static Value *chosen(Builder *at, const Op *branch, Value *a, Value *b)
{
    return a == b ? a : build3(at, OP_select, operand(branch, condition), a, b);
}

static void join(Op *branch, Op *read, Op *other)
{
    op_move_before(read, branch);
    Builder at = builder_before(read);
    at.span = read->span;
    for (int i = first_place(read); i < read->operand_count; i++)
        op_set_operand(read, i, chosen(&at, branch, read->operands[i], other->operands[i]));
    join_bounds(read, other);
    for (int i = 0; i < read->result_count; i++)
        value_replace(&other->results[i], &read->results[i]);
    op_erase(other);
}

static void join_arms(Op *branch, void *arena)
{
    OpVec reads[2] = {{0}, {0}};
    if (!has_same_reads(arena, branch, reads)) return;
    for (size_t i = 0; i < reads[0].count; i++) {
        for (int r = 0; r < 2; r++)
            while (branch->regions[r]->first != reads[r].data[i])
                op_move_before(branch->regions[r]->first, branch);
        join(branch, reads[0].data[i], reads[1].data[i]);
    }
    const Op *yield = region_terminator(branch->regions[0]);
    Op *other = region_terminator(branch->regions[1]);
    Builder at = builder_before(other);
    at.span = branch->span;
    for (int i = 0; i < branch->result_count; i++)
        op_set_operand(other, i, chosen(&at, branch, yield->operands[i], other->operands[i]));
    region_move_before(branch->regions[0], branch);
    op_dissolve(branch, branch->regions[1]);
}

bool pass_join_reads(Kernel *kernel, PassContext *context)
{
    if (kernel_had(kernel, OP_copy) || kernel_had(kernel, OP_element_load))
        region_visit_inner_first(kernel->host, join_arms, context->arena);
    return true;
}
