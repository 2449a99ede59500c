/* repeated_reads.c: elements that were just read are not read again; needs and leaves a TYPED
 * kernel in SSA.
 *
 *     if a[i, j] > best { best = a[i, j] }
 *
 * reads twice, the second time where both the condition around and this one hold: all that it needs
 * is what the first read has, where selects take it under its own condition. LLVM cannot know that,
 * as each element of the second read is under a branch. Only elementwise work is between both, so
 * that nothing is written there, and nothing stays in registers for long. */
#include "passes/analysis/access.h"

enum { MOST_BETWEEN = 256, MOST_CONDITIONS = 8 };

static bool is_read(const Op *op)
{
    return (op->code == OP_gather || op->code == OP_load) && op_memory(op)->type->kind == TYPE_VIEW;
}

static bool may_be_between(const Op *op)
{
    return op->region_count == 0 && ((op_has(op, PURE) && !op_has(op, COOP)) || is_read(op));
}

static Value *mask_of(const Op *read)
{
    return read->code == OP_gather ? scattered_mask(read) : NULL;
}

static int places(const Op *read)
{
    return read->operand_count - (mask_of(read) ? 1 : 0);
}

static bool reads_same(const Op *a, const Op *b)
{
    static const AttrKey SAME[] = {ATTR_dims, ATTR_bounds, ATTR_evict, ATTR_watched, ATTR_lenient};
    if (a->code != b->code || places(a) != places(b) || a->results[0].type != b->results[0].type)
        return false;
    for (int i = 0; i < places(a); i++)
        if (a->operands[i] != b->operands[i]) return false;
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++)
        if (!op_same_attr(a, b, SAME[i])) return false;
    return true;
}

/* Where `mask` holds, the other one does. */
static bool implies(const Value *mask, const Value *other, int depth)
{
    if (!other || mask == other) return true;
    const Op *op = mask ? mask->op : NULL;
    return op && op->code == OP_and && depth < MOST_CONDITIONS &&
           (implies(operand(op, a), other, depth + 1) || implies(operand(op, b), other, depth + 1));
}

/* Nobody asks for elements where the mask does not hold. */
static bool is_chosen_by(const Op *read, const Value *mask)
{
    const Value *value = &read->results[0];
    for (const OpUse *use = value->uses; use; use = use->next)
        if (use->op->code != OP_select || operand(use->op, condition) != mask ||
            operand(use->op, b) == value)
            return false;
    return true;
}

static Op *find_earlier(const Op *read)
{
    const Value *mask = mask_of(read);
    int between = 0;
    for (Op *op = read->previous; op && may_be_between(op) && between++ < MOST_BETWEEN;
         op = op->previous)
        if (is_read(op) && reads_same(op, read) &&
            (mask_of(op) == mask || (implies(mask, mask_of(op), 0) && is_chosen_by(read, mask))))
            return op;
    return NULL;
}

static void visit_read(Op *read, void *context)
{
    (void)context;
    Op *earlier = is_read(read) ? find_earlier(read) : NULL;
    if (!earlier) return;
    value_replace(&read->results[0], &earlier->results[0]);
    op_erase(read);
}

bool pass_repeated_reads(Kernel *kernel, PassContext *context)
{
    (void)context;
    if (kernel_had(kernel, OP_gather) || kernel_had(kernel, OP_load))
        kernel_each_launch (op, kernel)
            region_visit_inner_first(launch_region(op), visit_read, NULL);
    return true;
}
