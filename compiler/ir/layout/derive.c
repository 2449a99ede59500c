/* derive.c: the layout that a tile has after its dimensions were reshaped, permuted, reduced
 * to one element or given another extent, with every element where it was. */
#include "ir/layout/layout.h"

#include "ir/layout/bits.h"

#include <string.h>

static void remove_bit(Layout *layout, LayoutAxis axis, int bit)
{
    int at = (int)(layout_basis(layout, axis, bit) - layout->basis[0]) / LAYOUT_RANK;
    int after = layout_index_bits(layout) - 1 - at;
    memmove(layout->basis[at], layout->basis[at + 1], (size_t)after * sizeof layout->basis[0]);
    layout->bits[axis]--;
}

/* ---- reshape ---- */

/* Dimensions [begin, end) of the old shape and of the new one that hold equally many elements. */
typedef struct Group {
    int begin[2], end[2];
} Group;

static bool next_group(const Layout *from, const Layout *to, Group *group)
{
    const Layout *sides[2] = {from, to};
    int64_t size[2] = {1, 1};
    for (int side = 0; side < 2; side++) {
        group->begin[side] = group->end[side];
        if (group->end[side] < sides[side]->rank)
            size[side] = sides[side]->shape[group->end[side]++];
    }
    while (size[0] != size[1]) {
        int less = size[0] < size[1] ? 0 : 1;
        if (group->end[less] == sides[less]->rank) return false;
        size[less] *= sides[less]->shape[group->end[less]++];
    }
    return true;
}

/* The first dimension of the group with more than one element, else its end. */
static int slowest_dim(const Layout *layout, int begin, int end)
{
    while (begin < end && layout->shape[begin] == 1) begin++;
    return begin;
}

/* Elements of the group's block, or 0 if a dimension other than the slowest is padded or repeated:
 * then neighbours in row-major order are not neighbours in the block. */
static int64_t group_block(const Layout *layout, int begin, int end)
{
    int64_t block = 1;
    int slowest = slowest_dim(layout, begin, end);
    for (int d = begin; d < end; d++) {
        if (d != slowest && layout->block[d] != layout->shape[d]) return 0;
        block *= layout->block[d];
    }
    return block;
}

static bool choose_group_blocks(const Layout *from, const Group *group, Layout *to)
{
    int begin = group->begin[1], end = group->end[1];
    if (group->end[0] - group->begin[0] == 1 && end - begin == 1) {
        to->block[begin] = from->block[group->begin[0]];
        return true;
    }
    int64_t block = group_block(from, group->begin[0], group->end[0]);
    int slowest = slowest_dim(to, begin, end);
    for (int d = end - 1; d >= begin; d--) {
        if (d == slowest) continue;
        to->block[d] = to->shape[d];
        if (block % to->shape[d] != 0) return false;
        block /= to->shape[d];
    }
    if (slowest < end) to->block[slowest] = (int32_t)block;
    return slowest < end ? block > 0 : block == 1;
}

const Layout *layout_reshape(LayoutTable *table, const Layout *layout, int rank,
                             const int32_t *shape)
{
    CHECK(rank <= LAYOUT_RANK);
    Layout to = {.rank = (uint8_t)rank};
    memcpy(to.bits, layout->bits, sizeof to.bits);
    memcpy(to.shape, shape, (size_t)rank * sizeof *shape);
    Group group = {0};
    while (group.end[0] < layout->rank || group.end[1] < rank)
        if (!next_group(layout, &to, &group) || !choose_group_blocks(layout, &group, &to))
            return NULL;
    for (int i = 0; i < layout_index_bits(layout); i++)
        layout_unpack(&to, layout_pack(layout, layout->basis[i]), to.basis[i]);
    return layout_intern(table, &to);
}

/* ---- transpose ---- */

/* Registers keep their numbers unless two dimensions repeat and change places: repeats are always
 * numbered with dimension 0 slowest. */
const Layout *layout_transpose(LayoutTable *table, const Layout *layout, const int *dims)
{
    Layout to = *layout;
    for (int d = 0; d < layout->rank; d++) {
        to.shape[d] = layout->shape[dims[d]];
        to.block[d] = layout->block[dims[d]];
        for (int i = 0; i < layout_index_bits(layout); i++)
            to.basis[i][d] = layout->basis[i][dims[d]];
    }
    return layout_intern(table, &to);
}

/* ---- shrink ---- */

/* Bits that reach nothing new: registers are dropped, threads become replicas. */
static void drop_dependent_bits(Layout *layout)
{
    Solver solver = {0};
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        for (int bit = 0; bit < layout->bits[axis]; bit++) {
            const int32_t *basis = layout_basis(layout, (LayoutAxis)axis, bit);
            if (solver_add(&solver, layout_pack(layout, basis), 0)) continue;
            if (axis == LAYOUT_REGISTER)
                remove_bit(layout, LAYOUT_REGISTER, bit--);
            else
                memset(layout->basis[(basis - layout->basis[0]) / LAYOUT_RANK], 0,
                       sizeof layout->basis[0]);
        }
}

const Layout *layout_shrink(LayoutTable *table, const Layout *layout, const int32_t *shape)
{
    Layout to = *layout;
    for (int d = 0; d < layout->rank; d++) {
        CHECK(shape[d] == 1 || shape[d] == layout->shape[d]);
        if (shape[d] != 1) continue;
        to.shape[d] = to.block[d] = 1;
        for (int i = 0; i < layout_index_bits(layout); i++) to.basis[i][d] = 0;
    }
    drop_dependent_bits(&to);
    return layout_intern(table, &to);
}

/* ---- combined along some dimensions ---- */

static int reduced_along(const int32_t *basis, int rank, unsigned dims)
{
    for (int d = 0; d < rank; d++)
        if (basis[d] && dims >> d & 1) return d;
    return -1;
}

bool layout_is_plain(const Layout *layout, unsigned dims)
{
    for (int i = 0; i < layout_index_bits(layout); i++) {
        int others = 0, reduced = 0;
        for (int d = 0; d < layout->rank; d++) {
            others += layout->basis[i][d] != 0 && !(dims >> d & 1);
            reduced += layout->basis[i][d] != 0 && dims >> d & 1;
        }
        if (reduced > 1 || (reduced && others)) return false;
    }
    return true;
}

const Layout *layout_halved(LayoutTable *table, const Layout *from, unsigned dims,
                            const Layout *result, int halvings)
{
    Layout to = *result;
    for (int bit = 0; bit < from->bits[LAYOUT_LANE] && halvings > 0; bit++) {
        if (to.bits[LAYOUT_REGISTER] == 0) break;
        const int lane = to.bits[LAYOUT_REGISTER] + bit;
        if (reduced_along(layout_basis(from, LAYOUT_LANE, bit), from->rank, dims) < 0 ||
            reduced_along(to.basis[lane], to.rank, ~0u) >= 0)
            continue;
        memcpy(to.basis[lane], to.basis[0], sizeof to.basis[0]);
        remove_bit(&to, LAYOUT_REGISTER, 0);
        halvings--;
    }
    return layout_intern(table, &to);
}

const Layout *layout_parts(LayoutTable *table, const Layout *layout, unsigned dims, LayoutAxis kept)
{
    Layout to = *layout;
    for (int d = 0; d < layout->rank; d++)
        if (dims >> d & 1) to.shape[d] = to.block[d] = 1;
    const int threads = layout->bits[LAYOUT_REGISTER],
              apart = kept == LAYOUT_LANE ? threads : threads + layout->bits[LAYOUT_LANE];
    for (int i = threads; i < layout_index_bits(layout); i++) {
        const int d = reduced_along(layout->basis[i], layout->rank, dims);
        if (d < 0) continue;
        to.basis[i][d] = 0;
        if (i < apart) continue;
        to.basis[i][d] = to.block[d];
        to.shape[d] = to.block[d] *= 2;
    }
    for (int bit = threads - 1; bit >= 0; bit--)
        if (reduced_along(layout->basis[bit], layout->rank, dims) >= 0)
            remove_bit(&to, LAYOUT_REGISTER, bit);
    return layout_intern(table, &to);
}

const Layout *layout_gathered(LayoutTable *table, const Layout *combined, const Layout *parts)
{
    Layout to = *combined;
    int added = 0;
    for (int d = parts->rank - 1; d >= 0; d--) {
        if (parts->shape[d] == combined->shape[d]) continue;
        to.shape[d] = to.block[d] = parts->shape[d];
        for (int32_t step = 1; step < parts->shape[d]; step *= 2) {
            CHECK(layout_index_bits(&to) < LAYOUT_BITS);
            memmove(to.basis[added + 1], to.basis[added],
                    (size_t)(layout_index_bits(&to) - added) * sizeof to.basis[0]);
            memset(to.basis[added], 0, sizeof to.basis[0]);
            to.basis[added++][d] = step;
            to.bits[LAYOUT_REGISTER]++;
        }
    }
    return layout_intern(table, &to);
}

/* Whether the bit moves within one part, or from part to part. */
static bool stays_inside(const Layout *layout, int bit, const int32_t *shape, bool *fits)
{
    bool inside = true, outside = true;
    for (int d = 0; d < layout->rank; d++) {
        inside &= layout->basis[bit][d] < shape[d];
        outside &= layout->basis[bit][d] % shape[d] == 0;
    }
    *fits = inside || outside;
    return inside;
}

const Layout *layout_part(LayoutTable *table, const Layout *layout, const int32_t *shape)
{
    Layout part = *layout;
    int count = 0, bit = 0;
    for (int d = 0; d < layout->rank; d++) {
        const int32_t least = shape[d] < layout->block[d] ? shape[d] : layout->block[d];
        if (shape[d] == layout->shape[d]) continue;
        if (least & (least - 1) || shape[d] % least != 0) return NULL;
        part.shape[d] = shape[d];
        part.block[d] = least;
        part.repeat[d] = shape[d] / least;
    }
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        for (int i = 0; i < layout->bits[axis]; i++, bit++) {
            bool fits;
            const bool inside = stays_inside(layout, bit, part.shape, &fits);
            if (!fits || (!inside && axis != LAYOUT_REGISTER)) return NULL;
            if (!inside) part.bits[axis]--;
            if (inside) memcpy(part.basis[count++], layout->basis[bit], sizeof *part.basis);
        }
    while (count < LAYOUT_BITS) memset(part.basis[count++], 0, sizeof *part.basis);
    return layout_intern(table, &part);
}

/* One after the other in the last dimension, in which memory mostly is: first of all registers. */
static bool put_neighbours_first(Layout *whole, int dim, int32_t extent)
{
    const int count = bits_log2((uint64_t)extent);
    int bits = 0;
    for (int axis = 0; axis < LAYOUT_AXES; axis++) bits += whole->bits[axis];
    if (dim != whole->rank - 1 || whole->shape[dim] != 1 || extent & (extent - 1) ||
        bits + count > LAYOUT_BITS)
        return false;
    memmove(whole->basis[count], whole->basis[0], (size_t)bits * sizeof *whole->basis);
    memset(whole->basis[0], 0, (size_t)count * sizeof *whole->basis);
    for (int bit = 0; bit < count; bit++) whole->basis[bit][dim] = 1 << bit;
    whole->bits[LAYOUT_REGISTER] += count;
    whole->shape[dim] = whole->block[dim] = extent;
    return true;
}

const Layout *layout_whole(LayoutTable *table, const Layout *part, const int32_t *shape)
{
    Layout whole = *part;
    for (int d = 0; d < part->rank; d++) {
        if (shape[d] == part->shape[d]) continue; /* padded as the part is */
        if (put_neighbours_first(&whole, d, shape[d])) continue;
        if (shape[d] % whole.block[d]) return NULL;
        whole.shape[d] = shape[d];
        whole.repeat[d] = shape[d] / whole.block[d];
    }
    const Layout *made = layout_intern(table, &whole);
    return layout_part(table, made, part->shape) == part ? made : NULL;
}
