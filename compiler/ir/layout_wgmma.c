/* layout_wgmma.c: how a shared tile is described to wgmma (PTX ISA manual, "Shared Memory Matrix
 * Layout" and "Matrix Descriptor Format"): found by asking the layout where elements lie, so that
 * whatever lies as the tensor core wants it can be its operand. */
#include "ir/layout.h"

enum {
    ROWS = 8,
    CHUNK_BYTES = 16,
    PRODUCT_BYTES = 32 /* of k, an instruction */,
    MOST_COLUMNS = 256 /* of a box */,
    TRANSPOSABLE_BITS = 16
};

typedef struct Asked {
    const Layout *layout;
    int along, across; /* the contiguous dimension, and the other */
    int bits;          /* of an element */
} Asked;

static int64_t bit_at(const Asked *asked, int32_t along, int32_t across)
{
    int32_t coordinates[LAYOUT_RANK] = {0};
    coordinates[asked->along] = along;
    coordinates[asked->across] = across;
    return layout_offset(asked->layout, coordinates) * asked->bits;
}

/* The next number, or the next single bit. */
static int32_t following(int32_t number, bool single)
{
    return single && number > 0 ? 2 * number : number + 1;
}

/* 8 rows of `width` bytes, one after the other, chunks flipped by the address's bits from 7 up. */
static bool is_swizzled(const Asked *asked, int width)
{
    const int32_t elements = width * 8 / asked->bits;
    if (asked->layout->shape[asked->along] < elements || asked->layout->shape[asked->across] < ROWS)
        return false;
    /* Both are linear in the bits of rows and elements of a block: the single bits will do. */
    const bool linear = elements <= asked->layout->block[asked->along] &&
                        ROWS <= asked->layout->block[asked->across];
    for (int32_t row = 0; row < ROWS; row = following(row, linear))
        for (int32_t i = 0; i < elements; i = following(i, linear)) {
            const int64_t plain = (int64_t)row * width * 8 + i * asked->bits;
            const int64_t flip = (plain >> 10 & (width / CHUNK_BYTES - 1)) * CHUNK_BYTES * 8;
            if (bit_at(asked, i, row) != (plain ^ flip)) return false;
        }
    return true;
}

/* Whether parts of `step` elements along one dimension lie evenly; *stride: how far apart. */
static bool lie_evenly(const Asked *asked, bool along, int32_t step, int32_t extent,
                       int64_t *stride)
{
    *stride = CHUNK_BYTES; /* where there is but one, it does not matter */
    for (int32_t i = step; i < extent; i += step) {
        const int64_t at = (along ? bit_at(asked, i, 0) : bit_at(asked, 0, i)) / 8;
        if (i == step) *stride = at;
        if (at != i / step * *stride) return false;
    }
    return true;
}

WgmmaLayout layout_wgmma(const Layout *shared, int k_dim, int32_t extent, int element_bits)
{
    WgmmaLayout found = {.swizzle = 128};
    Asked asked = {shared, k_dim, 1 - k_dim, element_bits};
    if (shared->rank != 2 || element_bits < 8) return found;
    found.transposed = bit_at(&asked, 1, 0) != asked.bits;
    if (found.transposed) asked = (Asked){shared, 1 - k_dim, k_dim, asked.bits};
    if (found.transposed && element_bits != TRANSPOSABLE_BITS) return found;
    while (found.swizzle > CHUNK_BYTES && !is_swizzled(&asked, found.swizzle)) found.swizzle /= 2;
    if (found.swizzle == CHUNK_BYTES) return found;
    const int32_t width = found.swizzle * 8 / asked.bits, depth = PRODUCT_BYTES * 8 / asked.bits;
    found.possible =
        lie_evenly(&asked, true, width, found.transposed ? extent : width, &found.leading) &&
        lie_evenly(&asked, false, ROWS, found.transposed ? depth : extent, &found.stride);
    return found;
}

/* Row-major, without gaps, rows of whole chunks. */
static bool is_plain(const Asked *asked)
{
    const int32_t rows = asked->layout->shape[0], columns = asked->layout->shape[1];
    int64_t step, stride;
    return columns * asked->bits % (CHUNK_BYTES * 8) == 0 && columns <= MOST_COLUMNS &&
           asked->bits >= 8 && lie_evenly(asked, true, 1, columns, &step) &&
           step * 8 == asked->bits && lie_evenly(asked, false, 1, rows, &stride) &&
           (rows == 1 || stride == columns * step);
}

LayoutBoxes layout_boxes(const Layout *shared, int element_bits)
{
    LayoutBoxes found = {.swizzle = 128};
    const Asked asked = {shared, 1, 0, element_bits};
    int64_t stride, panel;
    if (shared->rank != 2) return found;
    while (found.swizzle > CHUNK_BYTES && !is_swizzled(&asked, found.swizzle)) found.swizzle /= 2;
    if (found.swizzle == CHUNK_BYTES) {
        found.columns = shared->shape[1];
        found.possible = is_plain(&asked);
        return found;
    }
    found.columns = found.swizzle * 8 / asked.bits;
    found.possible = shared->shape[1] % found.columns == 0 &&
                     lie_evenly(&asked, true, found.columns, shared->shape[1], &panel) &&
                     lie_evenly(&asked, false, ROWS, shared->shape[0], &stride) &&
                     (shared->shape[0] == ROWS || stride == (int64_t)ROWS * found.swizzle);
    return found;
}
