/* shared_view.c: parts of shared tiles (shared_view): whose they are, and how they lie in it. */
#include "passes/analysis/access.h"

#include <string.h>

Value *shared_rank(const Value *tile)
{
    while (tile->op->code == OP_shared_view) tile = tile->op->operands[0];
    return tile->op->code == OP_shared_peer ? tile->op->operands[1] : NULL;
}

const Op *shared_root(const Value *tile)
{
    while (tile->op && (tile->op->code == OP_shared_view || tile->op->code == OP_shared_reshape ||
                        tile->op->code == OP_shared_peer))
        tile = tile->op->operands[0];
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
        multiples[d] = facts_of(facts, view->operands[1 + d]).multiple;
    return layout_view(table, whole, part->rank, dims->integers, part->shape, multiples);
}
