/* late_waits.c: a product by the tensor core is waited for behind the copies that follow it; needs
 * and leaves a SYNCED kernel.
 *
 *     dot, copies to another stage, wait for copies, barrier
 *
 * of the author's own loop over stages: the tensor core computes while threads begin the copies.
 * They write to nothing that it reads, as a barrier would stand between them, whose place is behind
 * the wait as before. */
#include "passes/pass.h"

static bool reads(const Op *op, const Value *value)
{
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == value) return true;
    return false;
}

/* What goes on beside the product: numbers, and copies, on a condition or not. */
static bool goes_beside(const Op *op, const Value *product, bool *copies)
{
    if (reads(op, product)) return false;
    if (op->code == OP_if && op->result_count == 0) {
        for (int r = 0; r < op->region_count; r++)
            for (const Op *inner = op->regions[r]->first; inner; inner = op_next(inner))
                if (!op_has(inner, TERM) && !goes_beside(inner, product, copies)) return false;
        return true;
    }
    *copies |= op->code == OP_copy_async;
    return op->code == OP_copy_async || op->code == OP_copy_commit ||
           (op_has(op, PURE) && !op_has_tiles(op));
}

static void visit(Op *op, void *context)
{
    Value *product = op->results;
    if (op_int(op, ATTR_async, 0) || op_attr(op, ATTR_joined) ||
        operand(op, a)->type->kind != TYPE_SHARED)
        return;
    bool copies = false;
    Op *behind = op->next;
    while (behind && !op_has(behind, TERM) && goes_beside(behind, product, &copies))
        behind = behind->next;
    if (!copies || !behind) return;
    Builder builder = builder_before(behind);
    builder.span = op->span;
    const Type *type = product->type;
    Op *wait = build_op(&builder, OP_dot_wait, 1, &product, 1, &type);
    op_set_int(wait, ATTR_count, 0);
    wait->results->name = product->name;
    value_replace(product, wait->results);
    op_set_operand(wait, operand_index(wait, tiles), product);
    op_set_int(op, ATTR_async, 1);
    kernel_remark(context, op->span, "this product is waited for behind the copies that follow it");
}

bool pass_late_waits(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_visit_those(kernel, OP_dot_shared, visit, kernel);
    return true;
}
