/* rebuild.c: see rebuild.h. */
#include "passes/rebuild.h"

Op *op_rebuild(Op *op, int operand_count, Value *const *operands, int result_count,
               const Type *const *types)
{
    Builder builder = builder_before(op);
    Op *fresh = build_op(&builder, op->code, operand_count, operands, result_count, types);
    fresh->attrs = op->attrs;
    fresh->attr_count = op->attr_count;
    for (int i = 0; i < op->region_count; i++) {
        fresh->regions[i] = op->regions[i];
        fresh->regions[i]->parent = fresh;
    }
    op->region_count = 0;
    return fresh;
}

Op *region_terminator(const Region *region)
{
    Op *last = region->last;
    return last && op_info(last->code)->traits & TERM ? last : NULL;
}
