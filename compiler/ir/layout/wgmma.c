/* wgmma.c: how a shared tile is described to wgmma (PTX ISA manual, "Shared Memory Matrix
 * Layout" and "Matrix Descriptor Format"): found by asking the layout where elements lie, so that
 * whatever lies as the tensor core wants it can be its operand. */
#include "ir/layout/layout.h"

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
    const bool single = asked->layout->rank == 1;
    const int32_t columns = asked->layout->shape[asked->along],
                  rows = single ? 1 : asked->layout->shape[asked->across];
    int64_t step, stride;
    return columns * asked->bits % (CHUNK_BYTES * 8) == 0 && (columns <= MOST_COLUMNS || single) &&
           asked->bits >= 8 && lie_evenly(asked, true, 1, columns, &step) &&
           step * 8 == asked->bits && lie_evenly(asked, false, 1, rows, &stride) &&
           (rows == 1 || stride == columns * step);
}

/* Whether matrices in the last two dimensions lie evenly, each as the first one does, and where a
 * swizzle may begin. */
static bool matrices_lie_evenly(const Layout *shared, int element_bits, int swizzle)
{
    const int64_t unit = swizzle == CHUNK_BYTES ? (int64_t)ROWS * CHUNK_BYTES : swizzle * ROWS;
    int32_t last[LAYOUT_RANK] = {0}, corner[LAYOUT_RANK] = {0};
    int64_t sum = 0, stride;
    for (int d = 0; d < shared->rank; d++) {
        int32_t own[LAYOUT_RANK] = {0};
        const Asked asked = {shared, d, d, element_bits};
        own[d] = last[d] = shared->shape[d] - 1;
        if (d >= shared->rank - 2) {
            corner[d] = last[d];
            continue;
        }
        sum += layout_offset(shared, own);
        if (!lie_evenly(&asked, true, 1, shared->shape[d], &stride) ||
            (shared->shape[d] > 1 && stride % unit))
            return false;
    }
    return layout_offset(shared, last) == sum + layout_offset(shared, corner);
}

/* As many elements of a single row as fit a box, in equal parts. */
static int32_t part_of_row(int32_t columns, int element_bits)
{
    while (columns > MOST_COLUMNS && columns % 2 == 0 &&
           columns / 2 * element_bits % (CHUNK_BYTES * 8) == 0)
        columns /= 2;
    return columns;
}

LayoutBoxes layout_boxes(const Layout *shared, int element_bits)
{
    LayoutBoxes found = {.swizzle = 128};
    const int along = shared->rank - 1, across = shared->rank > 1 ? shared->rank - 2 : 1;
    const Asked asked = {shared, along, across, element_bits};
    int64_t stride, panel;
    while (found.swizzle > CHUNK_BYTES && !is_swizzled(&asked, found.swizzle)) found.swizzle /= 2;
    if (found.swizzle == CHUNK_BYTES) {
        found.columns = part_of_row(shared->shape[along], element_bits);
        found.possible = is_plain(&asked) && found.columns <= MOST_COLUMNS &&
                         matrices_lie_evenly(shared, element_bits, found.swizzle);
        return found;
    }
    found.columns = found.swizzle * 8 / asked.bits;
    found.possible = shared->shape[along] % found.columns == 0 &&
                     lie_evenly(&asked, true, found.columns, shared->shape[along], &panel) &&
                     lie_evenly(&asked, false, ROWS, shared->shape[across], &stride) &&
                     (shared->shape[across] == ROWS || stride == (int64_t)ROWS * found.swizzle) &&
                     matrices_lie_evenly(shared, element_bits, found.swizzle);
    return found;
}
