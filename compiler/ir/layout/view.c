/* view.c: how parts of shared tiles lie in them. */
#include "ir/layout/layout.h"

static int log2_above(int64_t size)
{
    int bits = 0;
    while (INT64_C(1) << bits < size) bits++;
    return bits;
}

/* The dimension of the part that spans dimension `whole` of the tile; -1: an index does. */
static int part_dim(int rank, const int64_t *dims, int whole)
{
    for (int i = 0; i < rank; i++)
        if (dims[i] == whole) return i;
    return -1;
}

/* The part's block: as much of the tile's as its extent needs, and what that leaves, repeats. */
static Layout part_start(const Layout *whole, int rank, const int64_t *dims, const int64_t *shape)
{
    Layout part = {.rank = (uint8_t)rank};
    for (int i = 0; i < rank; i++) {
        const int32_t block = whole->block[dims[i]];
        const int32_t needed = 1 << log2_above(shape[i]);
        part.shape[i] = (int32_t)shape[i];
        part.block[i] = needed < block ? needed : block;
        part.repeat[i] = (part.shape[i] + part.block[i] - 1) / part.block[i];
    }
    return part;
}

/* Offset bits of the tile that move within the part must be the lowest ones. */
static bool take_bits(const Layout *whole, const int64_t *dims, Layout *part)
{
    for (int bit = 0; bit < whole->bits[LAYOUT_REGISTER]; bit++) {
        const int32_t *basis = whole->basis[bit];
        bool inside = false, outside = false;
        for (int d = 0; d < whole->rank; d++) {
            const int i = part_dim(part->rank, dims, d);
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

/* Repeats of the part's block lie as far apart as those of the tile's. Asked before the layout is
 * interned, which makes repeats part of the block. */
static bool same_repeats(const Layout *whole, const int64_t *dims, const Layout *part)
{
    for (int i = 0; i < part->rank; i++) {
        const int d = (int)dims[i];
        if (part->repeat[i] == 1) continue;
        if (part->block[i] != whole->block[d] || repeat_stride(part, i) != repeat_stride(whole, d))
            return false;
    }
    return true;
}

/* The bits of the offset in the tile that moving along dimension `d`, by less than `width`,
 * changes. */
static int32_t moving_bits(int32_t inverse[LAYOUT_BITS], int32_t block, int64_t width)
{
    int32_t moving = 0;
    for (int bit = 0; INT64_C(1) << bit < width && 1 << bit < block; bit++) moving |= inverse[bit];
    return moving;
}

bool layout_starts_apart(const Layout *whole, int rank, const int64_t *dims, const int64_t *shape,
                         const int64_t *multiples)
{
    int32_t inverse[LAYOUT_RANK][LAYOUT_BITS], moving = 0;
    if (!layout_invert(whole, inverse)) return false;
    for (int i = 0; i < rank; i++)
        moving |= moving_bits(inverse[dims[i]], whole->block[dims[i]],
                              INT64_C(1) << log2_above(shape[i]));
    for (int d = 0; d < whole->rank; d++) {
        const int64_t multiple = multiples[d];
        const int i = part_dim(rank, dims, d);
        const int64_t width = i < 0 ? 1 : INT64_C(1) << log2_above(shape[i]);
        if (multiple == 0) continue;
        if (multiple % width != 0) return false;
        for (int bit = 0; 1 << bit < whole->block[d]; bit++)
            if (multiple % (INT64_C(2) << bit) != 0 && inverse[d][bit] & moving) return false;
    }
    return true;
}

const Layout *layout_view(LayoutTable *table, const Layout *whole, int rank, const int64_t *dims,
                          const int64_t *shape, const int64_t *multiples)
{
    Layout part = part_start(whole, rank, dims, shape);
    if (!take_bits(whole, dims, &part)) return NULL;
    int64_t size = 1;
    for (int i = 0; i < rank; i++) size *= part.block[i];
    if (size != INT64_C(1) << part.bits[LAYOUT_REGISTER]) return NULL;
    if (!same_repeats(whole, dims, &part) ||
        !layout_starts_apart(whole, rank, dims, shape, multiples))
        return NULL;
    return layout_intern(table, &part);
}
