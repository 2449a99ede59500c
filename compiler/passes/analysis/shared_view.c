/* shared_view.c: parts of shared tiles (shared_view): whose they are, and how they lie in it. */
#include "passes/analysis/access.h"

#include <string.h>

Value *shared_rank(const Value *tile)
{
    while (tile->op->code == OP_shared_view) tile = operand(tile->op, tile);
    return tile->op->code == OP_shared_peer ? operand(tile->op, rank) : NULL;
}

const Op *shared_root(const Value *tile)
{
    while (tile->op && op_has(tile->op, ALIAS)) tile = op_aliased(tile->op);
    CHECK(tile->op && tile->op->code == OP_shared_alloc);
    return tile->op;
}

const Layout *shared_part_layout(LayoutTable *table, FactTable *facts, const Op *view,
                                 const Layout *whole)
{
    int64_t multiples[LAYOUT_RANK];
    const Attr *dims = op_attr(view, ATTR_dims);
    const Type *part = view->results[0].type;
    for (int d = 0; d < whole->rank; d++)
        multiples[d] = facts_of(facts, operand_list(view, offsets)[d]).multiple;
    return layout_view(table, whole, part->rank, dims->integers, part->shape, multiples);
}
