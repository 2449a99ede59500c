/* shared_part.c: parts of shared tiles (shared_view): whose they are, and how they lie in it. */
#include "passes/access.h"

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

static int log2_above(int64_t size)
{
    int bits = 0;
    while (INT64_C(1) << bits < size) bits++;
    return bits;
}

/* The dimension of the part that spans dimension `whole` of the tile; -1: an index does. */
static int part_dim(const Attr *dims, int whole)
{
    for (int i = 0; i < dims->count; i++)
        if (dims->integers[i] == whole) return i;
    return -1;
}

/* The part's block: as much of the tile's as its extent needs. */
static Layout part_start(const Layout *whole, const Op *view)
{
    const Attr *dims = op_attr(view, ATTR_dims);
    const Type *type = view->results[0].type;
    Layout part = {.rank = type->rank};
    for (int i = 0; i < type->rank; i++) {
        const int32_t block = whole->block[dims->integers[i]];
        const int32_t needed = 1 << log2_above(type->shape[i]);
        part.shape[i] = (int32_t)type->shape[i];
        part.block[i] = needed < block ? needed : block;
    }
    return part;
}

/* Offset bits of the tile that move within the part must be the lowest ones. */
static bool take_bits(const Layout *whole, const Attr *dims, Layout *part)
{
    for (int bit = 0; bit < whole->bits[LAYOUT_REGISTER]; bit++) {
        const int32_t *basis = whole->basis[bit];
        bool inside = false, outside = false;
        for (int d = 0; d < whole->rank; d++) {
            const int i = part_dim(dims, d);
            const int32_t kept = i < 0 ? 0 : basis[d] & (part->block[i] - 1);
            inside |= kept != 0;
            outside |= kept != basis[d];
            if (i >= 0 && part->bits[LAYOUT_REGISTER] == bit) part->basis[bit][i] = kept;
        }
        if (inside && (outside || part->bits[LAYOUT_REGISTER] != bit)) return false;
        if (inside) part->bits[LAYOUT_REGISTER]++;
    }
    for (int i = 0; i < part->rank; i++)
        if (part->bits[LAYOUT_REGISTER] < LAYOUT_BITS)
            part->basis[part->bits[LAYOUT_REGISTER]][i] = 0;
    return true;
}

static int64_t repeat_stride(const Layout *layout, int dim)
{
    int64_t stride = 1;
    for (int d = 0; d < layout->rank; d++) stride *= layout->block[d];
    for (int d = layout->rank - 1; d > dim; d--) stride *= layout->repeat[d];
    return stride;
}

/* Repeats of the part's block lie as far apart as those of the tile's. */
static bool same_repeats(const Layout *whole, const Attr *dims, const Layout *part)
{
    for (int i = 0; i < part->rank; i++) {
        const int d = (int)dims->integers[i];
        if (part->repeat[i] == 1) continue;
        if (part->block[i] != whole->block[d] || repeat_stride(part, i) != repeat_stride(whole, d))
            return false;
    }
    return true;
}

/* Where the part starts, no bit of the offset is one that moves within it. */
static bool starts_apart(FactTable *facts, const Layout *whole, const Op *view, const Layout *part)
{
    int32_t inverse[LAYOUT_RANK][LAYOUT_BITS];
    const Attr *dims = op_attr(view, ATTR_dims);
    const int32_t moving = (1 << part->bits[LAYOUT_REGISTER]) - 1;
    if (!layout_invert(whole, inverse)) return false;
    for (int d = 0; d < whole->rank; d++) {
        const int64_t multiple = facts_of(facts, view->operands[1 + d]).multiple;
        const int i = part_dim(dims, d);
        const int64_t span = i < 0 ? 1 : INT64_C(1) << log2_above(part->shape[i]);
        if (multiple == 0) continue;
        if (multiple % span != 0) return false;
        for (int bit = 0; INT64_C(1) << bit < whole->block[d]; bit++)
            if (multiple % (INT64_C(2) << bit) != 0 && inverse[d][bit] & moving) return false;
    }
    return true;
}

const Layout *shared_part_layout(LayoutTable *table, FactTable *facts, const Op *view,
                                 const Layout *whole)
{
    const Attr *dims = op_attr(view, ATTR_dims);
    Layout start = part_start(whole, view);
    if (!take_bits(whole, dims, &start)) return NULL;
    int64_t size = 1;
    for (int i = 0; i < start.rank; i++) size *= start.block[i];
    if (size != INT64_C(1) << start.bits[LAYOUT_REGISTER]) return NULL;
    const Layout *part = layout_intern(table, &start);
    return same_repeats(whole, dims, part) && starts_apart(facts, whole, view, part) ? part : NULL;
}
