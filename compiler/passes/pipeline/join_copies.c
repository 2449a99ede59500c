/* join_copies.c: a branch whose arms copy to the same tiles, from the same memory at different
 * places, becomes copies from the places that its condition chooses:
 *
 *     if c { copy a[x], t } else { copy a[y], t }   ->   copy a[c ? x : y], t
 *
 * Then each iteration of a loop does them once, and multi_buffer can make them ahead. Needs SSA and
 * bounds: what either arm checks is checked. Leaves a TYPED kernel. */
#include "passes/pass.h"
#include "ir/rebuild.h"

/* Nothing but what finds the copies' places. */
static bool prepares(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP) && op->region_count == 0;
}

/* From `op` on; NULL: none, or more than copies. */
static Op *next_copy(Op *op, bool *fits)
{
    while (op && prepares(op)) op = op->next;
    *fits = op && (op->code == OP_copy || op->code == OP_yield);
    return *fits && op->code == OP_copy ? op : NULL;
}

static bool same_attributes(const Op *a, const Op *b)
{
    return op_dims_mask(a) == op_dims_mask(b) && a->operand_count == b->operand_count &&
           op_int(a, ATTR_evict, 0) == op_int(b, ATTR_evict, 0);
}

/* Where alone may differ. */
static bool are_joined(const Op *a, const Op *b)
{
    return operand(a, view) == operand(b, view) && operand(a, tile) == operand(b, tile) &&
           same_attributes(a, b);
}

static bool has_same_copies(const Op *branch)
{
    bool fits[2], any = false;
    if (branch->code != OP_if || branch->result_count || is_group(branch)) return false;
    Op *at[2] = {branch->regions[0]->first, branch->regions[1]->first};
    for (;;) {
        Op *a = next_copy(at[0], &fits[0]), *b = next_copy(at[1], &fits[1]);
        if (!fits[0] || !fits[1] || !a != !b) return false;
        if (!a) return any;
        if (!are_joined(a, b)) return false;
        any = true;
        at[0] = a->next, at[1] = b->next;
    }
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

static void join_arms(Op *branch, void *context)
{
    Op *copies[2] = {NULL, NULL};
    (void)context;
    if (!has_same_copies(branch)) return;
    for (;;) {
        for (int r = 0; r < 2; r++) {
            Region *arm = branch->regions[r];
            while (prepares(arm->first)) op_move_before(arm->first, branch);
            copies[r] = arm->first;
        }
        if (copies[0]->code != OP_copy) break;
        join(branch, copies[0], copies[1]);
    }
    op_erase(branch);
}

bool pass_join_copies(Kernel *kernel, PassContext *context)
{
    (void)context;
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch && kernel_had(kernel, OP_copy))
            region_visit_inner_first(launch_region(op), join_arms, NULL);
    return true;
}
