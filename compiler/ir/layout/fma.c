/* fma.c: the operands of a matrix product that is made by multiplying and adding. */
#include "ir/layout/layout.h"

#include "ir/layout/bits.h"

enum { LANE_BITS = 5, ACROSS_BITS = 3 /* lanes side by side */, REPEATS = 4 };

typedef struct Bits {
    Layout layout;
    int count;
    int32_t next[2]; /* the lowest coordinate of each dimension that no bit has yet */
} Bits;

static int left(const Bits *bits, int dim)
{
    return bits_log2(bits->layout.block[dim]) - bits_log2(bits->next[dim]);
}

static void add(Bits *bits, LayoutAxis axis, int dim, int32_t coordinate)
{
    CHECK(bits->count < LAYOUT_BITS);
    bits->layout.basis[bits->count++][dim] = coordinate;
    bits->layout.bits[axis]++;
}

static void add_next(Bits *bits, LayoutAxis axis, int dim, int count)
{
    for (int i = 0; i < count; i++) {
        add(bits, axis, dim, bits->next[dim]);
        bits->next[dim] *= 2;
    }
}

static int at_most(int bits, int limit)
{
    return bits < limit ? bits : limit;
}

/* ---- the sums ---- */

/* Registers, lanes and warps of each dimension, as bits; what lies in vectors is in `vectors`. */
typedef struct Shares {
    int vectors[2], registers[2], lanes[2];
} Shares;

/* A thread's part is as square as may be, since what it reads of a and b is as long as that is high
 * and wide.
 * Lanes side by side read one row of b at a time. */
static bool share_out(const Bits *bits, const int vectors[2], int warp_bits, Shares *out)
{
    const int all[2] = {left(bits, 0), left(bits, 1)};
    int rest = all[0] + all[1] - LANE_BITS - warp_bits;
    *out = (Shares){.vectors = {0}};
    if (rest < 0) return false;
    for (int d = 0; d < 2; d++) {
        out->vectors[d] = out->registers[d] = at_most(at_most(vectors[d], all[d]), rest);
        rest -= out->vectors[d];
    }
    out->lanes[1] = at_most(ACROSS_BITS, all[1] - out->vectors[1]);
    out->lanes[0] = LANE_BITS - out->lanes[1];
    while (rest > 0) {
        const int room[2] = {all[0] - out->registers[0] - out->lanes[0],
                             all[1] - out->registers[1] - out->lanes[1]};
        const int ahead = out->registers[1] - out->registers[0];
        const int dim = room[0] > 0 && (room[1] <= 0 || ahead >= 0) ? 0 : 1;
        if (room[dim] <= 0) return false;
        out->registers[dim]++;
        rest--;
    }
    return rest == 0 && out->registers[0] + out->lanes[0] <= all[0];
}

static bool start(Bits *bits, const int32_t shape[2])
{
    *bits = (Bits){.layout = {.rank = 2}, .next = {1, 1}};
    for (int d = 0; d < 2; d++) {
        bits->layout.shape[d] = shape[d];
        bits->layout.block[d] = shape[d] & -shape[d];
        bits->layout.repeat[d] = shape[d] / bits->layout.block[d];
        if (bits->layout.repeat[d] > REPEATS) return false;
    }
    return true;
}

/* Lanes i and i ^ 1 have the same rows, i and i ^ 2 the same columns: a read of 16 bytes takes half
 * the time where one of those pairs reads the same. */
static void add_lanes(Bits *bits, const int lanes[2])
{
    const int first[2] = {at_most(1, lanes[0]), at_most(1, lanes[1])};
    for (int d = 1; d >= 0; d--) add_next(bits, LAYOUT_LANE, d, first[d]);
    for (int d = 1; d >= 0; d--) add_next(bits, LAYOUT_LANE, d, lanes[d] - first[d]);
}

const Layout *layout_fma_sums(LayoutTable *table, const int32_t shape[2], const int vectors[2],
                              int warps)
{
    Bits bits;
    Shares shares;
    const int logs[2] = {bits_log2(vectors[0]), bits_log2(vectors[1])};
    if (warps < 1 || !start(&bits, shape) || !share_out(&bits, logs, bits_log2(warps), &shares))
        return NULL;
    for (int d = 1; d >= 0; d--) add_next(&bits, LAYOUT_REGISTER, d, shares.vectors[d]);
    const Bits behind = bits;
    for (int d = 1; d >= 0; d--) bits.next[d] <<= shares.lanes[d];
    for (int d = 1; d >= 0; d--)
        add_next(&bits, LAYOUT_REGISTER, d, shares.registers[d] - shares.vectors[d]);
    const int32_t above[2] = {bits.next[0], bits.next[1]};
    for (int d = 1; d >= 0; d--) bits.next[d] = behind.next[d];
    add_lanes(&bits, shares.lanes);
    for (int d = 1; d >= 0; d--) bits.next[d] = above[d];
    for (int d = 1; d >= 0; d--) add_next(&bits, LAYOUT_WARP, d, left(&bits, d));
    return layout_intern(table, &bits.layout);
}

/* ---- a and b ---- */

bool layout_is_fma_sums(const Layout *layout)
{
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        for (int bit = 0; bit < layout->bits[axis]; bit++) {
            const int32_t *basis = layout_basis(layout, (LayoutAxis)axis, bit);
            if (basis[0] && basis[1]) return false;
        }
    return true;
}

static void add_outer(Bits *bits, const Layout *c, LayoutAxis axis, int outer)
{
    for (int bit = 0; bit < c->bits[axis]; bit++) {
        const int32_t coordinate = layout_basis(c, axis, bit)[outer];
        if (axis != LAYOUT_REGISTER || coordinate) add(bits, axis, outer, coordinate);
    }
}

const Layout *layout_fma_operand(LayoutTable *table, const Layout *c, int32_t k, int outer,
                                 bool k_first)
{
    const int inner = 1 - outer;
    Bits bits = {.layout = {.rank = 2}, .next = {1, 1}};
    bits.layout.shape[outer] = c->shape[outer];
    bits.layout.block[outer] = c->block[outer];
    bits.layout.shape[inner] = k;
    bits.layout.block[inner] = k & -k;
    while (bits_log2(bits.layout.block[inner]) > LAYOUT_BITS - layout_index_bits(c))
        bits.layout.block[inner] /= 2; /* the rest repeats */
    if (k_first) add_next(&bits, LAYOUT_REGISTER, inner, left(&bits, inner));
    add_outer(&bits, c, LAYOUT_REGISTER, outer);
    if (!k_first) add_next(&bits, LAYOUT_REGISTER, inner, left(&bits, inner));
    add_outer(&bits, c, LAYOUT_LANE, outer);
    add_outer(&bits, c, LAYOUT_WARP, outer);
    return layout_intern(table, &bits.layout);
}
