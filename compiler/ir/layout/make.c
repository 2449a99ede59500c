/* make.c: the layouts that the compiler chooses: blocked for memory, row-major and swizzled
 * for shared memory, fragments for the matrix unit. All are built by handing the bits of the
 * coordinates, from the lowest up, to registers (or offsets), lanes and warps. */
#include "ir/layout/layout.h"

#include "ir/layout/bits.h"

#include <string.h>

enum { LANE_BITS = 5, REPEATS = 4 /* that are better than padding */ };

typedef struct Maker {
    Layout layout;         /* all but the basis */
    int used[LAYOUT_RANK]; /* coordinate bits of each dimension handed out */
    int32_t basis[LAYOUT_AXES][LAYOUT_BITS][LAYOUT_RANK];
} Maker;

/* The lowest bit of `dim` not handed out yet; zero when there is none. */
static int32_t take_bit(Maker *maker, int dim)
{
    if (maker->used[dim] >= bits_log2(maker->layout.block[dim])) return 0;
    return 1 << maker->used[dim]++;
}

/* One more bit of the axis: a replica if the dimension is used up. */
static void add_bit(Maker *maker, LayoutAxis axis, int dim)
{
    int at = maker->layout.bits[axis]++;
    CHECK(at < LAYOUT_BITS);
    if (maker->layout.rank > 0) maker->basis[axis][at][dim] = take_bit(maker, dim);
}

static void add_bits(Maker *maker, LayoutAxis axis, int dim, int count)
{
    for (int i = 0; i < count; i++) add_bit(maker, axis, dim);
}

static void add_replica(Maker *maker, LayoutAxis axis)
{
    CHECK(maker->layout.bits[axis] < LAYOUT_BITS);
    maker->layout.bits[axis]++;
}

static int bits_left(const Maker *maker, int dim)
{
    return bits_log2(maker->layout.block[dim]) - maker->used[dim];
}

static void add_rest(Maker *maker, LayoutAxis axis, int dim)
{
    add_bits(maker, axis, dim, bits_left(maker, dim));
}

static const Layout *finish(LayoutTable *table, Maker *maker)
{
    int at = 0;
    CHECK(layout_index_bits(&maker->layout) <= LAYOUT_BITS);
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        for (int bit = 0; bit < maker->layout.bits[axis]; bit++, at++)
            memcpy(maker->layout.basis[at], maker->basis[axis][bit],
                   sizeof maker->basis[axis][bit]);
    return layout_intern(table, &maker->layout);
}

/* ---- extents ---- */

static int64_t repeats_of(int64_t extent, int64_t block)
{
    return (extent + block - 1) / block;
}

static int32_t padded_block(int32_t extent)
{
    return 1 << bits_log2_above(extent);
}

/* The largest power of two that divides the extent, unless it would be repeated often: then
 * padding. */
static int32_t choose_block(int32_t extent)
{
    int32_t divisor = extent & -extent;
    return extent / divisor <= REPEATS ? divisor : padded_block(extent);
}

/* The block of at least `least` that pads the extent the least; of those the largest. */
static int32_t choose_tight_block(int32_t extent, int32_t least)
{
    int64_t above = padded_block(extent), best = least < above ? least : above;
    for (int64_t block = best; block <= above; block *= 2)
        if (block * repeats_of(extent, block) <= best * repeats_of(extent, best)) best = block;
    return (int32_t)best;
}

/* Tiles too large for LAYOUT_BITS repeat a smaller block. */
static void limit_block(Layout *layout, int bits)
{
    for (;;) {
        int sum = 0, largest = 0;
        for (int d = 0; d < layout->rank; d++) {
            sum += bits_log2(layout->block[d]);
            if (layout->block[d] > layout->block[largest]) largest = d;
        }
        if (sum <= bits) return;
        layout->block[largest] /= 2;
    }
}

static void start(Maker *maker, int rank, const int32_t *shape)
{
    CHECK(rank >= 0 && rank <= LAYOUT_RANK);
    memset(maker, 0, sizeof *maker);
    maker->layout.rank = (uint8_t)rank;
    for (int d = 0; d < rank; d++) {
        CHECK(shape[d] >= 1 && shape[d] <= 1 << 30);
        maker->layout.shape[d] = shape[d];
    }
}

/* ---- blocked ---- */

/* Along the first of `count` dimensions that has bits left. */
static void add_next(Maker *maker, LayoutAxis axis, const int *dim_order, int count)
{
    for (int i = 0; i < count; i++)
        if (bits_left(maker, dim_order[i]) > 0) {
            add_bit(maker, axis, dim_order[i]);
            return;
        }
    add_replica(maker, axis);
}

/* A vector divides the extent, so that it is inside or outside as a whole. */
static void add_vector(Maker *maker, int dim, int vector)
{
    int bits = bits_log2(vector),
        extent = bits_log2(maker->layout.shape[dim] & -maker->layout.shape[dim]);
    bits = bits < extent ? bits : extent;
    int left = bits_left(maker, dim);
    add_bits(maker, LAYOUT_REGISTER, dim, bits < left ? bits : left);
}

/* The maker's blocks are chosen. In one dimension a warp's elements are side by side, so that its
 * accesses follow each other in memory; in more, warps are side by side. Warps that are not a power
 * of two are rounded down: those above hold replicas. They leave the first `lines` dimensions of
 * the order alone. */
static const Layout *spread(LayoutTable *table, Maker *maker, const int *dim_order, int vector,
                            int warps, int lines)
{
    const int rank = maker->layout.rank;
    int replicas = lines ? bits_log2(warps) : 0; /* warps that other dimensions have no bit for */
    for (int i = lines; i < rank && replicas > 0; i++)
        replicas -= bits_log2(maker->layout.block[dim_order[i]]);
    limit_block(&maker->layout, LAYOUT_BITS - (replicas > 0 ? replicas : 0));
    if (rank > 0) add_vector(maker, dim_order[0], vector);
    for (int i = 0; warps > 0 && i < LANE_BITS; i++) add_next(maker, LAYOUT_LANE, dim_order, rank);
    const int left = rank == 1 && warps > 0 ? bits_left(maker, 0) - bits_log2(warps) : 0;
    if (left > 0 && !lines) add_bits(maker, LAYOUT_REGISTER, 0, left);
    for (int i = 0; warps > 0 && i < bits_log2(warps); i++)
        add_next(maker, LAYOUT_WARP, dim_order + lines, rank - lines);
    for (int i = 0; i < rank; i++) add_rest(maker, LAYOUT_REGISTER, dim_order[i]);
    return finish(table, maker);
}

/* How the extents become blocks: one that divides them, padding, or, for lanes and so many warps
 * along the first dimension of the order and the other warps along the second, one that pads them
 * the least. */
typedef enum Blocks { BLOCKS_EXACT, BLOCKS_PADDED, BLOCKS_TIGHT } Blocks;

static int32_t block_along(Blocks blocks, int32_t extent, int place, int vector, int warps,
                           int along)
{
    const int32_t least = place == 0                ? (vector << LANE_BITS) * along
                          : place == 1 && warps > 0 ? (1 << bits_log2(warps)) / along
                                                    : 1;
    return blocks == BLOCKS_EXACT    ? choose_block(extent)
           : blocks == BLOCKS_PADDED ? padded_block(extent)
                                     : choose_tight_block(extent, least);
}

/* Repeating a small block can leave threads idle that padding would use, and padding some that
 * repeats would: whichever holds the fewest registers. */
static const Layout *blocked(LayoutTable *table, int rank, const int32_t *shape,
                             const int *dim_order, int vector, int warps, int lines)
{
    const Layout *best = NULL;
    const int most = warps > 0 && !lines ? 1 << bits_log2(warps) : 1;
    for (Blocks blocks = BLOCKS_EXACT; blocks <= BLOCKS_TIGHT; blocks++)
        for (int along = 1; along <= (blocks == BLOCKS_TIGHT ? most : 1); along *= 2) {
            Maker maker;
            start(&maker, rank, shape);
            for (int i = 0; i < rank; i++)
                maker.layout.block[dim_order[i]] =
                    block_along(blocks, shape[dim_order[i]], i, vector, warps, along);
            const Layout *layout = spread(table, &maker, dim_order, vector, warps, lines);
            if (!best || layout_registers(layout) < layout_registers(best)) best = layout;
        }
    return best;
}

const Layout *layout_blocked(LayoutTable *table, int rank, const int32_t *shape,
                             const int *dim_order, int vector, int warps)
{
    return blocked(table, rank, shape, dim_order, vector, warps, 0);
}

const Layout *layout_lines(LayoutTable *table, int rank, const int32_t *shape, const int *dim_order,
                           int vector, int warps)
{
    return blocked(table, rank, shape, dim_order, vector, warps, 1);
}

/* ---- shared ---- */

enum { BANK_CHUNKS = 8 /* of 16 bytes: what the banks hold at once */ };

static bool is_only_long_dim(int rank, const int32_t *shape, int dim)
{
    for (int d = 0; d < rank; d++)
        if (d != dim && shape[d] != 1) return false;
    return true;
}

/* Of what would be padded: panels of all banks, if fewer of their elements are padding. */
static int32_t choose_row_block(int32_t extent, int chunk)
{
    const int32_t block = choose_block(extent);
    return block < extent ? block : choose_tight_block(extent, BANK_CHUNKS * chunk);
}

/* Memory is dear: rows are padded as little as keeps 8 of them in a block, where the swizzle needs
 * them. The contiguous dimension is cut into few panels, so that rows stay long, except where
 * nothing else is. Dimensions outside of rows and columns number tiles, each of which has its bytes
 * for itself: no block has parts of several. */
static void choose_shared_blocks(Layout *layout, const int *dim_order, int chunk)
{
    bool repeats = false;
    for (int i = 0; i < layout->rank; i++) {
        int dim = dim_order[i];
        int32_t extent = layout->shape[dim];
        if (i == 0 && !is_only_long_dim(layout->rank, layout->shape, dim))
            layout->block[dim] = choose_row_block(extent, chunk);
        else if (i >= 2 && repeats)
            layout->block[dim] = 1;
        else
            layout->block[dim] = choose_tight_block(extent, i == 0 ? chunk : i == 1 ? 8 : 1);
        repeats |= layout->block[dim] < extent;
    }
    limit_block(layout, LAYOUT_BITS);
}

static void make_row_major(Maker *maker, int rank, const int32_t *shape, const int *dim_order,
                           int chunk)
{
    start(maker, rank, shape);
    choose_shared_blocks(&maker->layout, dim_order, chunk);
    for (int i = 0; i < rank; i++) add_rest(maker, LAYOUT_REGISTER, dim_order[i]);
}

const Layout *layout_row_major(LayoutTable *table, int rank, const int32_t *shape,
                               const int *dim_order)
{
    Maker maker;
    make_row_major(&maker, rank, shape, dim_order, 16);
    return finish(table, &maker);
}

const Layout *layout_rows(LayoutTable *table, int rank, const int32_t *shape, const int *dim_order)
{
    Maker maker;
    start(&maker, rank, shape);
    for (int d = 0; d < rank; d++)
        maker.layout.block[d] = d == dim_order[0] ? shape[d] & -shape[d] : 1;
    limit_block(&maker.layout, LAYOUT_BITS);
    for (int i = 0; i < rank; i++) add_rest(&maker, LAYOUT_REGISTER, dim_order[i]);
    return finish(table, &maker);
}

/* With 2^p chunks a row, 8 rows that are neighbours fill 8 x 2^p chunks; banks repeat every 8
 * chunks. For p >= 3 the chunk's low bits are flipped by the row's. For p < 3 the row's lowest 3 -
 * p bits choose among 8 chunks anyway, and the bits above them flip the chunk's. `columns`: as
 * many rows as a chunk has elements are flipped alike. */
static const Layout *make_swizzled(LayoutTable *table, int rank, const int32_t *shape,
                                   const int *dim_order, int element_bits, int dims, bool columns)
{
    Maker maker;
    int chunk = element_bits < 128 ? 128 / element_bits : 1, chunk_bits = bits_log2(chunk);
    make_row_major(&maker, rank, shape, dim_order, chunk);
    int row_bits = rank > 0 ? bits_log2(maker.layout.block[dim_order[0]]) : 0;
    int flips = row_bits - chunk_bits < 3 ? row_bits - chunk_bits : 3;
    int first = row_bits + (3 - flips); /* the offset bit that flips the lowest */
    int end = 0;                        /* behind the last one that may flip */
    for (int d = 0; d < dims; d++) end += bits_log2(maker.layout.block[dim_order[d]]);
    if (columns && first < row_bits + chunk_bits) first = row_bits + chunk_bits;
    for (int i = 0; i < flips && first + i < end; i++)
        maker.basis[LAYOUT_REGISTER][first + i][dim_order[0]] |= chunk << i;
    return finish(table, &maker);
}

const Layout *layout_swizzled(LayoutTable *table, int rank, const int32_t *shape,
                              const int *dim_order, int element_bits)
{
    return make_swizzled(table, rank, shape, dim_order, element_bits, rank, false);
}

const Layout *layout_swizzled_slices(LayoutTable *table, int rank, const int32_t *shape,
                                     const int *dim_order, int element_bits)
{
    return make_swizzled(table, rank, shape, dim_order, element_bits, rank - 1, false);
}

const Layout *layout_swizzled_columns(LayoutTable *table, int rank, const int32_t *shape,
                                      const int *dim_order, int element_bits)
{
    return make_swizzled(table, rank, shape, dim_order, element_bits, rank, true);
}

/* ---- matrix unit ---- */

/* The block that costs a warp the fewest instructions along this dimension; of those the largest.
 * It depends on nothing else, so that the operands that share a dimension agree. */
static int32_t choose_mma_block(int32_t extent, int32_t instruction, int warps)
{
    int64_t best = instruction, least = INT64_MAX;
    for (int64_t block = instruction; block == instruction || block < 2 * (int64_t)extent;
         block *= 2) {
        int64_t each = block / ((int64_t)instruction * warps); /* instructions a warp and repeat */
        int64_t work = (each > 1 ? each : 1) * repeats_of(extent, block);
        if (work <= least) {
            best = block;
            least = work;
        }
    }
    return (int32_t)best;
}

/* a [m, k] or b [k, n]: `outer` is m or n, `inner` is k. A 32-bit register word holds neighbours
 * along k; lanes 0 and 1 count words along k, the others rows; then the second 8 rows of m, then
 * what k has left. */
static void add_fragment(Maker *maker, MmaShape instruction, int outer, int inner, int outer_extent)
{
    int word = instruction.element_bits < 32 ? bits_log2(32 / instruction.element_bits) : 0;
    add_bits(maker, LAYOUT_REGISTER, inner, word);
    add_bits(maker, LAYOUT_LANE, inner, 2);
    add_bits(maker, LAYOUT_LANE, outer, 3);
    if (outer_extent == 16) add_bit(maker, LAYOUT_REGISTER, outer);
    add_bits(maker, LAYOUT_REGISTER, inner, bits_log2(instruction.k) - word - 2);
}

/* The accumulator [m, n]: pairs along n, lanes 0 and 1 count pairs, the others rows. */
static void add_accumulator(Maker *maker, MmaShape instruction)
{
    add_bit(maker, LAYOUT_REGISTER, 1);
    add_bits(maker, LAYOUT_LANE, 1, 2);
    add_bits(maker, LAYOUT_LANE, 0, 3);
    if (instruction.m == 16) add_bit(maker, LAYOUT_REGISTER, 0);
}

/* A dimension that the operand lacks is -1: warps along it hold replicas. */
static void add_warps(Maker *maker, int dim, int warps)
{
    for (int i = 0; i < bits_log2(warps); i++) {
        if (dim < 0)
            add_replica(maker, LAYOUT_WARP);
        else
            add_bit(maker, LAYOUT_WARP, dim);
    }
}

/* Registers above the fragment: the operand's own dimension (n for the accumulator), then k (m):
 * instructions of c count n fastest, those of a and b their own dimension fastest, k slowest.
 * Repeats come above all of them, dimension 0 slowest. So with blocks of M x N x K instructions and
 * no repeats, register word groups are c[m * N + n], a[k * M + m], b[k * N + n]. */
const Layout *layout_mma(LayoutTable *table, DotOperand operand, MmaShape instruction, int m, int n,
                         int k, int warps_m, int warps_n)
{
    int32_t m_block = choose_mma_block(m, instruction.m, warps_m);
    int32_t n_block = choose_mma_block(n, instruction.n, warps_n);
    int32_t k_block = choose_mma_block(k, instruction.k, 1);
    Maker maker;
    start(&maker, 2, (int32_t[]){operand == DOT_B ? k : m, operand == DOT_A ? k : n});
    maker.layout.block[0] = operand == DOT_B ? k_block : m_block;
    maker.layout.block[1] = operand == DOT_A ? k_block : n_block;
    limit_block(&maker.layout, LAYOUT_BITS - LANE_BITS);
    int own = operand == DOT_A ? 0 : 1;
    if (operand == DOT_C)
        add_accumulator(&maker, instruction);
    else
        add_fragment(&maker, instruction, own, 1 - own,
                     operand == DOT_A ? instruction.m : instruction.n);
    add_warps(&maker, operand == DOT_A ? -1 : 1, warps_n);
    add_warps(&maker, operand == DOT_B ? -1 : 0, warps_m);
    add_rest(&maker, LAYOUT_REGISTER, own);
    add_rest(&maker, LAYOUT_REGISTER, 1 - own);
    return finish(table, &maker);
}

/* ---- shared tiles that the tensor core reads ---- */

const Layout *layout_panels(LayoutTable *table, int rank, const int32_t *shape, int element_bits)
{
    enum { ROWS = 8, PANEL_BITS = 1024, LEAST_BITS = 256, CHUNK_BITS = 128 };
    const int row = rank - 2, column = rank - 1;
    Maker maker;
    if (rank < 2) return NULL;
    start(&maker, rank, shape);
    for (int d = 0; d < rank; d++) maker.layout.block[d] = shape[d] & -shape[d];
    /* a block that a matrix repeats must not hold others: each matrix lies in one piece */
    const bool repeats =
        maker.layout.block[row] != shape[row] || maker.layout.block[column] != shape[column];
    for (int d = 0; repeats && d < row; d++) maker.layout.block[d] = 1;
    int32_t panel = PANEL_BITS / element_bits;
    if (panel > maker.layout.block[column]) panel = maker.layout.block[column];
    const bool fits = panel * element_bits >= LEAST_BITS && maker.layout.block[row] >= ROWS;
    if (!fits) return NULL;
    limit_block(&maker.layout, LAYOUT_BITS);
    const int panel_bits = bits_log2(panel), chunk_bits = bits_log2(CHUNK_BITS / element_bits);
    add_bits(&maker, LAYOUT_REGISTER, column, panel_bits);
    add_rest(&maker, LAYOUT_REGISTER, row);
    for (int d = rank - 1; d >= 0; d--) add_rest(&maker, LAYOUT_REGISTER, d);
    const int flips = panel_bits - chunk_bits;
    for (int i = 0; i < flips; i++)
        maker.basis[LAYOUT_REGISTER][panel_bits + (3 - flips) + i][column] |=
            CHUNK_BITS / element_bits << i;
    return finish(table, &maker);
}
