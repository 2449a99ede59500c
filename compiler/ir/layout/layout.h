/* layout.h: which thread and register, or which byte, holds which element of a tile.
 *
 * A layout is linear over GF(2) on a block whose extents are powers of two: each bit of the
 * register index, the lane and the warp has a basis vector of coordinates, and an element's
 * coordinates are the exclusive or of the basis vectors of the bits that are set. The block is
 * repeated along each dimension to cover other extents (96 = 3 x 32); repeats are spread over
 * registers, dimension 0 slowest, above the register bits. Where the repeated block still exceeds
 * the tile's shape, the elements past the shape are padding: nothing reads or stores them. A zero
 * basis vector means replication: threads (or registers) that differ in that bit hold the same
 * element.
 *
 * A shared tile's layout is the same thing with offset bits in place of register bits and no lanes
 * or warps: element offset -> coordinates. It must be invertible.
 *
 * After Zhou et al. 2025, "Linear Layouts: Robust Code Generation of Efficient Tensor Computation
 * Using F2". Layouts are interned in a kernel: equal layouts are equal pointers. */
#ifndef TILEC_IR_LAYOUT_LAYOUT_H
#define TILEC_IR_LAYOUT_LAYOUT_H

#include "base/base.h"

enum { LAYOUT_RANK = 8, LAYOUT_BITS = 24 };
enum { LAYOUT_REGISTERS = 1 << 14 }; /* that a thread may hold: each has code of its own */

typedef enum LayoutAxis { LAYOUT_REGISTER, LAYOUT_LANE, LAYOUT_WARP, LAYOUT_AXES } LayoutAxis;

typedef struct Layout {
    uint8_t rank;
    uint8_t bits[LAYOUT_AXES];   /* of register (or offset), lane and warp index */
    int32_t shape[LAYOUT_RANK];  /* the tile's */
    int32_t block[LAYOUT_RANK];  /* powers of two */
    int32_t repeat[LAYOUT_RANK]; /* block * repeat >= shape */
    /* basis[i] for register bits, then lane bits, then warp bits */
    int32_t basis[LAYOUT_BITS][LAYOUT_RANK];
} Layout;

typedef struct LayoutTable LayoutTable; /* the interned ones */
LayoutTable *layout_table_new(Arena *arena);
const Layout *layout_intern(LayoutTable *table, const Layout *layout);

/* ---- asking ---- */
const int32_t *layout_basis(const Layout *layout, LayoutAxis axis, int bit);
int layout_registers(const Layout *layout); /* a thread, repeats counted */
int layout_threads(const Layout *layout);   /* 2^(lane bits + warp bits) */
int64_t layout_size(const Layout *layout);  /* elements of a shared layout, padding counted */
/* Whether each of so many equal parts of the threads holds rows, the tile's last dimension but one,
 * that are its turn, and no others. */
bool layout_has_row_parts(const Layout *layout, int threads, int parts);
/* Coordinates of one register (repeats counted in the index) of one thread. */
void layout_coordinates(const Layout *layout, int reg, int lane, int warp, int32_t *out);
/* False for padding. */
bool layout_is_inside(const Layout *layout, const int32_t *coordinates);
bool layout_is_padded(const Layout *layout);
/* Bits of lane and warp index whose basis is zero: threads with any of them set hold replicas. The
 * mask is over the thread index (lane in bits 0-4, warp above). */
uint32_t layout_replica_mask(const Layout *layout);
/* Of so many neighbours along the dimension as many as the axis makes of them. Of lanes that have
 * the same elements one counts. */
int layout_extend_run(const Layout *layout, LayoutAxis axis, int dim, int run);
/* How many registers from register 0 on are neighbours along the dimension. */
int layout_register_run(const Layout *layout, int dim);
/* Of a shared layout: how many elements along the dimension, from each multiple of so many on, lie
 * side by side, from a multiple of so many on. */
int layout_aligned_run(const Layout *layout, int dim);
/* Of a shared layout: the offset in elements of an element. */
int64_t layout_offset(const Layout *layout, const int32_t *coordinates);
/* The exclusive-or part of layout_offset: result[dim][bit] is what coordinate bit `bit` of `dim`
 * (within the block) contributes to the offset in the block. False if the layout is not invertible.
 */
bool layout_invert(const Layout *layout, int32_t result[LAYOUT_RANK][LAYOUT_BITS]);
/* Of a shared layout: each place holds one element. */
bool layout_is_order(const Layout *layout);

/* ---- numbers ---- */

bool bits_is_power(int64_t number); /* of two */
int bits_log2(int64_t power);       /* exact for powers of two, else rounded down */

/* ---- making ---- */
/* Register layout for accesses to memory: `dim_order[0]` is the dimension that is contiguous,
 * vectors of `vector` elements of it per thread, then lanes, then warps along it and the next ones;
 * what is left over repeats in registers, and threads left over are replicas. 0 warps: one thread
 * has all.
 */
const Layout *layout_blocked(LayoutTable *table, int rank, const int32_t *shape,
                             const int *dim_order, int vector, int warps);
/* The same where a warp has all of dim_order[0]: warps are along the other dimensions only. */
const Layout *layout_lines(LayoutTable *table, int rank, const int32_t *shape, const int *dim_order,
                           int vector, int warps);
/* Rows one after the other, neither padded nor swizzled: an element's address is a sum of strides,
 * so that those of its neighbours are at constant distances. */
const Layout *layout_rows(LayoutTable *table, int rank, const int32_t *shape, const int *dim_order);
/* Row-major shared layout (dim_order[0] contiguous) in which 16-byte chunks of `element_bits`
 * elements are swizzled so that ldmatrix's 8 rows and 16-byte vectors of 8 neighbouring lanes meet
 * no bank conflict. Plain row-major where a row has less than 16 bytes. */
const Layout *layout_swizzled(LayoutTable *table, int rank, const int32_t *shape,
                              const int *dim_order, int element_bits);
/* The same of several tiles, the outermost dimension their number: they lie alike. */
const Layout *layout_swizzled_slices(LayoutTable *table, int rank, const int32_t *shape,
                                     const int *dim_order, int element_bits);
/* The same for columns, of which a thread reads as many elements as 16 bytes hold: lanes that read
 * so many rows apart meet different banks. */
const Layout *layout_swizzled_columns(LayoutTable *table, int rank, const int32_t *shape,
                                      const int *dim_order, int element_bits);
const Layout *layout_row_major(LayoutTable *table, int rank, const int32_t *shape,
                               const int *dim_order);

typedef enum DotOperand { DOT_A, DOT_B, DOT_C } DotOperand;
typedef struct MmaShape {
    int m, n, k;      /* of one instruction */
    int element_bits; /* of a and b */
} MmaShape;
/* The layouts of the operands of dot [m, k] @ [k, n] by mma.sync, warps arranged warps_m x warps_n:
 * the instruction's fragments of the PTX manual, extended over warps, then registers. a's and b's
 * contain replicas. */
const Layout *layout_mma(LayoutTable *table, DotOperand operand, MmaShape instruction, int m, int n,
                         int k, int warps_m, int warps_n);

/* The sums [m, n] of a product by multiplying and adding, of which each thread has a part as square
 * as may be, in vectors of so many along m and n; NULL: that does not fit the shape. */
const Layout *layout_fma_sums(LayoutTable *table, const int32_t shape[2], const int vectors[2],
                              int warps);
/* Sums for which there are the next ones: no bit moves along both dimensions. */
bool layout_is_fma_sums(const Layout *layout);
/* a (`outer` is 0) or b (1) for sums c: the whole of k in each thread, its elements next to each
 * other if k_first. */
const Layout *layout_fma_operand(LayoutTable *table, const Layout *c, int32_t k, int outer,
                                 bool k_first);

/* Derived layouts, so that an op moves no data. */
const Layout *layout_reshape(LayoutTable *table, const Layout *layout, int rank,
                             const int32_t *shape); /* NULL: not representable */
const Layout *layout_transpose(LayoutTable *table, const Layout *layout, const int *dims);
/* The layout of a tile with extent 1 in those dimensions, so that broadcasting it to `layout` is a
 * copy of registers. */
const Layout *layout_shrink(LayoutTable *table, const Layout *layout, const int32_t *shape);
/* A reduction's result, in the layout that layout_shrink makes of its operand's, where lanes that
 * the operand has along the dimensions of the mask share the registers: each time a lane's number
 * has one more bit that says which half it keeps, at most `halvings` times, and no more often than
 * registers' bits allow. */
const Layout *layout_halved(LayoutTable *table, const Layout *from, unsigned dims,
                            const Layout *result, int halvings);
/* What is left of a layout when each warp (`kept` is LAYOUT_WARP) or each thread (LAYOUT_LANE) has
 * combined its elements along the dimensions of the mask: along each of them one element for every
 * position of those that differ in it. Asked only of layouts that layout_is_plain. */
const Layout *layout_parts(LayoutTable *table, const Layout *layout, unsigned dims,
                           LayoutAxis kept);
/* The layout in which a thread holds all of `parts` that belong to the elements which it has in
 * `combined`, where the dimensions that differ have extent 1. */
const Layout *layout_gathered(LayoutTable *table, const Layout *combined, const Layout *parts);
/* No bit moves along dimensions of the mask and others at once, nor along two of the mask. */
bool layout_is_plain(const Layout *layout, unsigned dims);
/* The layout of a part of a tile, of this shape and at a multiple of it in each dimension, held by
 * the threads as the tile is; NULL: not all of them have a part of it. */
const Layout *layout_part(LayoutTable *table, const Layout *layout, const int32_t *shape);
/* Of a tile of which each thread has every such part as `part` says; NULL: it has other parts. */
const Layout *layout_whole(LayoutTable *table, const Layout *part, const int32_t *shape);
/* Of a shared layout: the layout of a part of that shape, whose dimension i is the tile's dims[i];
 * the others have one index. Along dimension d it starts at a multiple of multiples[d], 0: at 0.
 * NULL: its elements do not lie, from where it starts, as those of a tile of its own. */
const Layout *layout_view(LayoutTable *table, const Layout *whole, int rank, const int64_t *dims,
                          const int64_t *shape, const int64_t *multiples);
/* Of such a part: no bit of the offset in the tile is both one that moves within the part and one
 * that where it starts may set, so that the two offsets add up. There may be gaps between its
 * elements. */
bool layout_starts_apart(const Layout *whole, int rank, const int64_t *dims, const int64_t *shape,
                         const int64_t *multiples);

/* ---- relating ---- */
typedef enum Conversion {
    CONVERT_NONE,
    CONVERT_REGISTERS,
    CONVERT_SHUFFLE,
    CONVERT_SHARED
} Conversion;
/* The cheapest way from one register layout to another. CONVERT_REGISTERS: every thread already has
 * what it needs. */
Conversion layout_conversion(const Layout *from, const Layout *to);
/* CONVERT_REGISTERS: which of the thread's own registers holds what register `reg` of `to` wants.
 */
int layout_source_register(const Layout *from, const Layout *to, int reg);

/* CONVERT_SHUFFLE where each register is one register of another lane, the same in all lanes: that
 * lane's number is the exclusive or of lanes[b] over the bits b of the thread's index that are set,
 * and of what layout_exchange_source says. False: it is not so. */
bool layout_exchange(const Layout *from, const Layout *to, int32_t lanes[LAYOUT_BITS]);
/* The register of `from`, in the lane that differs by *lane, which register `reg` of `to` is. */
int layout_exchange_source(const Layout *from, const Layout *to, int reg, int32_t *lane);

/* The widest access, in elements (a power of two, at most `limit`), for which consecutive registers
 * of every thread are consecutive, aligned offsets in a shared layout. */
int layout_shared_vector(const Layout *registers, const Layout *shared, int limit);
/* The same of registers whose dimension i is the shared layout's dims[i]. */
int layout_part_vector(const Layout *registers, const Layout *shared, const int *dims, int limit);

/* How registers are loaded by ldmatrix from a shared tile of 16-bit elements. */
typedef struct Ldmatrix {
    bool possible, transposed;
    int count;               /* matrices an instruction: 1, 2, 4 */
    uint8_t register_bit[2]; /* which register bits select the matrix (count 2 and 4) */
} Ldmatrix;
Ldmatrix layout_ldmatrix(const Layout *registers, const Layout *shared, int element_bits);

/* ---- the tensor core ---- */

/* A shared layout of matrices in the last two dimensions: rows cut into panels of 128 bytes, or
 * of 64 or 32 where a row is no whole number of 128, the rows of a panel one after the other and
 * their 16-byte chunks swizzled. NULL: the extents don't allow that. */
const Layout *layout_panels(LayoutTable *table, int rank, const int32_t *shape, int element_bits);
/* How an operand of wgmma lies in a shared tile: what its descriptor says, in bytes. */
typedef struct WgmmaLayout {
    bool possible, transposed; /* transposed: k is not the contiguous dimension */
    int swizzle;               /* 128, 64 or 32 */
    int64_t leading, stride;
} WgmmaLayout;
/* `extent` of the other dimension go into one instruction. */
WgmmaLayout layout_wgmma(const Layout *shared, int k_dim, int32_t extent, int element_bits);

/* How TMA fills a shared tile of two dimensions: boxes of `columns`, of swizzled rows
 * of `swizzle` bytes each that lie one after the other, or of whole rows as they are. */
typedef struct LayoutBoxes {
    bool possible;
    int swizzle; /* 128, 64 or 32; 16: rows as they are */
    int32_t columns;
} LayoutBoxes;
LayoutBoxes layout_boxes(const Layout *shared, int element_bits);

/* ---- text: {shape [64, 16] block [64, 16] reg [[0,1],[8,0]] lane [...] warp [...]} ---- */
void layout_print(const Layout *layout, Buf *out);
/* Reads what layout_print wrote, from *text on; NULL with *text at the fault. */
const Layout *layout_read(LayoutTable *table, const char **text);

#endif
