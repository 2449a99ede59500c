/* join_copies.c: a branch whose arms copy to the same tiles, from the same memory at different
 * places, becomes copies from the places that its condition chooses:
 *
 *     if c { copy a[x], t } else { copy a[y], t }   ->   copy a[c ? x : y], t
 *
 * Then each iteration of a loop does them once, and multi_buffer can make them ahead. Needs SSA and
 * bounds: what either arm checks is checked. Leaves a TYPED kernel. */
#include "passes/pass.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"

/* Nothing but what finds the copies' places. */
static bool prepares(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP) && op->region_count == 0;
}

/* The copies of an arm, which does no more than that; false: it does. */
static bool list_copies(Arena *arena, const Region *arm, OpVec *copies)
{
    for (Op *op = arm->first; op && op->code != OP_yield; op = op->next) {
        if (op->code != OP_copy && !prepares(op)) return false;
        if (op->code == OP_copy) vec_push(arena, copies, op);
    }
    return true;
}

/* Where alone may differ. */
static bool are_joined(const Op *a, const Op *b)
{
    return operand(a, view) == operand(b, view) && operand(a, tile) == operand(b, tile) &&
           op_dims_mask(a) == op_dims_mask(b) && a->operand_count == b->operand_count &&
           op_int(a, ATTR_evict, 0) == op_int(b, ATTR_evict, 0);
}

static bool has_same_copies(Arena *arena, const Op *branch, OpVec copies[2])
{
    if (branch->code != OP_if || branch->result_count || is_group(branch)) return false;
    for (int r = 0; r < 2; r++)
        if (!list_copies(arena, branch->regions[r], &copies[r])) return false;
    for (size_t i = 0; copies[0].count == copies[1].count && i < copies[0].count; i++)
        if (!are_joined(copies[0].data[i], copies[1].data[i])) return false;
    return copies[0].count && copies[0].count == copies[1].count;
}

/* What one of them checks. */
static void join_bounds(Op *copy, const Op *other)
{
    const Attr *a = op_attr(copy, ATTR_bounds), *b = op_attr(other, ATTR_bounds);
    int64_t checks[TYPE_RANK];
    if (!a || !b) return;
    for (int i = 0; i < a->count; i++) checks[i] = a->integers[i] | b->integers[i];
    op_set_ints(copy, ATTR_bounds, a->count, checks);
}

static void join(Op *branch, Op *copy, Op *other)
{
    op_move_before(copy, branch);
    Builder at = builder_before(copy);
    at.span = copy->span;
    for (int i = operand_index(copy, offsets); i < copy->operand_count; i++)
        if (copy->operands[i] != other->operands[i])
            op_set_operand(copy, i,
                           build3(&at, OP_select, operand(branch, condition), copy->operands[i],
                                  other->operands[i]));
    join_bounds(copy, other);
    op_erase(other);
}

static void join_arms(Op *branch, void *arena)
{
    OpVec copies[2] = {{0}, {0}};
    if (!has_same_copies(arena, branch, copies)) return;
    for (size_t i = 0; i < copies[0].count; i++) {
        for (int r = 0; r < 2; r++)
            while (branch->regions[r]->first != copies[r].data[i])
                op_move_before(branch->regions[r]->first, branch);
        join(branch, copies[0].data[i], copies[1].data[i]);
    }
    for (int r = 0; r < 2; r++) region_move_before(branch->regions[r], branch);
    op_erase(branch);
}

bool pass_join_copies(Kernel *kernel, PassContext *context)
{
    if (kernel_had(kernel, OP_copy))
        region_visit_inner_first(kernel->host, join_arms, context->arena);
    return true;
}
