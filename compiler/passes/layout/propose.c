/* propose.c: the register layout that a matrix op or a global access would like best. */
#include "ir/mma.h"
#include "passes/layout/layouts.h"
#include "target/cost.h"

static void tile_shape(const Type *tile, int32_t *out)
{
    for (int d = 0; d < tile->rank; d++) out[d] = (int32_t)tile->shape[d];
}

int elements_each(const Inference *inference, const Type *tile)
{
    const int threads = inference->warps > 0 ? WARP_SIZE * inference->warps : 1;
    const int64_t each = type_elements(tile) / threads;
    return each < 1 ? 1 : 1 << bits_log2(each);
}

int run_limit(const Inference *inference, const Type *tile, int most)
{
    const int each = elements_each(inference, tile);
    return most && most < each ? most : each;
}

/* ---- dot ---- */

/* The elements of a shared tile that lie side by side along `dim` and can be read at once. */
static int shared_run(const Value *tile, int dim)
{
    int32_t next[LAYOUT_RANK] = {0};
    const int most = ACCESS_BYTES * 8 / dtype_memory_bits(tile->type->dtype);
    next[dim] = 1;
    return tile->type->shape[dim] % most == 0 && layout_offset(tile->type->layout, next) == 1 ? most
                                                                                              : 1;
}

static const Layout *fma_sums(const Inference *inference, const Op *dot)
{
    const Type *c = operand(dot, c)->type;
    const Layout *layout = NULL;
    int32_t shape[LAYOUT_RANK];
    tile_shape(c, shape);
    if (dot->code == OP_dot_slices)
        layout =
            layout_fma_sums(inference->kernel->layouts, shape,
                            (int[]){shared_run(operand(dot, a), 0), shared_run(operand(dot, b), 1)},
                            inference->warps);
    return layout ? layout : propose_default(inference, c);
}

static DotLayouts fma_layouts(const Inference *inference, const Op *dot, const Layout *c)
{
    LayoutTable *table = inference->kernel->layouts;
    const int32_t k = (int32_t)operand(dot, a)->type->shape[1];
    if (!c || !layout_is_fma_sums(c)) c = fma_sums(inference, dot);
    return (DotLayouts){layout_fma_operand(table, c, k, 0, true),
                        layout_fma_operand(table, c, k, 1, false), c};
}

DotLayouts propose_dot(const Inference *inference, const Op *dot, const Layout *c)
{
    LayoutTable *table = inference->kernel->layouts;
    if (dot_kind(dot))
        return (DotLayouts){dot_layout(table, dot, DOT_A, inference->warps),
                            dot_layout(table, dot, DOT_B, inference->warps),
                            dot_layout(table, dot, DOT_C, inference->warps)};
    return fma_layouts(inference, dot, c);
}

/* ---- memory ---- */

/* The tile's dimensions, `first` as the contiguous one, then from the last to the first. */
static void make_dim_order(int rank, int first, int *out)
{
    int count = 0;
    if (first >= 0) out[count++] = first;
    for (int d = rank - 1; d >= 0; d--)
        if (d != first) out[count++] = d;
}

/* Threads have so many elements side by side along that dimension, or the last one (-1). */
static const Layout *blocked_along(const Inference *inference, const Type *tile, int dim,
                                   int vector)
{
    int32_t shape[LAYOUT_RANK];
    int dim_order[LAYOUT_RANK];
    tile_shape(tile, shape);
    make_dim_order(tile->rank, dim, dim_order);
    return layout_blocked(inference->kernel->layouts, tile->rank, shape, dim_order, vector,
                          inference->warps);
}

const Layout *propose_shared(const Inference *inference, const Type *tile, int most)
{
    const int run = run_limit(inference, tile, most),
              access = ACCESS_BYTES * 8 / dtype_memory_bits(tile->dtype);
    return blocked_along(inference, tile, -1, run < access ? run : access);
}

const Layout *propose_default(const Inference *inference, const Type *tile)
{
    return propose_shared(inference, tile, 0);
}

const Layout *propose_along(const Inference *inference, const Type *tile, int dim)
{
    const int each = elements_each(inference, tile);
    int vector = 1;
    while (vector < each && tile->shape[dim] % (2 * vector) == 0) vector *= 2;
    return blocked_along(inference, tile, dim, vector);
}

const Layout *propose_scattered(const Inference *inference, Op *op, int most)
{
    const Type *tile = scattered_value(op)->type;
    const int limit = run_limit(inference, tile, most);
    return blocked_along(inference, tile, -1,
                         scattered_vector(inference->facts, inference->target, op, limit));
}

/* As wide as an access may be, or half of that, if threads have less padding then. */
const Layout *propose_access(const Inference *inference, Op *op, int most)
{
    const Access access = access_of(op);
    const int dim = access_contiguous(&access), along = dim < 0 ? -1 : access.tile_dim[dim],
              limit = run_limit(inference, access.tile, most),
              vector = dim < 0 ? 1 : access_vector(inference->facts, &access, dim, limit);
    const Layout *layout = blocked_along(inference, access.tile, along, vector);
    if (!layout_is_padded(layout) || dtype_memory_bytes(access.tile->dtype, vector) < ACCESS_BYTES)
        return layout;
    const Layout *narrow = blocked_along(inference, access.tile, along, vector / 2);
    return layout_registers(narrow) < layout_registers(layout) ? narrow : layout;
}

const Layout *propose_run(const Inference *inference, Op *op, int run)
{
    const Access access = access_of(op);
    return blocked_along(inference, access.tile, access.tile_dim[access_contiguous(&access)], run);
}

int64_t access_segment(const Inference *inference, Op *op, const Layout *layout)
{
    const Access access = access_of(op);
    const int dim = access_contiguous(&access);
    if (dim < 0) return 0;
    const int run = layout_register_run(layout, access.tile_dim[dim]);
    const int vector = access_vector(inference->facts, &access, dim, run);
    /* lanes carry a run on only where one access moves all of it */
    const int covered =
        vector < run ? vector : layout_extend_run(layout, LAYOUT_LANE, access.tile_dim[dim], run);
    return dtype_memory_bytes(access.tile->dtype, covered);
}

/* ---- scans ---- */

/* A warp has the whole of `dim`, the lanes' bits side by side: lower ones and higher ones are in
 * registers. */
static bool fits_scan(const Layout *layout, int dim)
{
    const unsigned mask = 1u << dim;
    int32_t lanes = 0;
    if (!layout_is_plain(layout, mask)) return false;
    for (int bit = 0; bit < layout->bits[LAYOUT_WARP]; bit++)
        if (layout_basis(layout, LAYOUT_WARP, bit)[dim]) return false;
    for (int bit = 0; bit < layout->bits[LAYOUT_LANE]; bit++) {
        const int32_t coordinate = layout_basis(layout, LAYOUT_LANE, bit)[dim];
        if (coordinate & (coordinate - 1)) return false;
        lanes |= coordinate;
    }
    for (int bit = 0; bit < layout->bits[LAYOUT_REGISTER]; bit++) {
        const int32_t coordinate = layout_basis(layout, LAYOUT_REGISTER, bit)[dim];
        if (coordinate & (coordinate - 1)) return false;
    }
    return lanes == 0 || ((lanes + (lanes & -lanes)) & lanes) == 0;
}

/* Lanes along `dim` first, then along the others, which alone have the warps. */
const Layout *scan_layout(const Inference *inference, const Op *op, const Layout *operand)
{
    const Type *tile = operand(op, a)->type;
    const int dim = (int)op_int(op, ATTR_dim, 0);
    if (operand && fits_scan(operand, dim)) return operand;
    int32_t shape[LAYOUT_RANK];
    int dim_order[LAYOUT_RANK];
    tile_shape(tile, shape);
    make_dim_order(tile->rank, dim, dim_order);
    int vector = 1;
    while (vector < 4 && tile->shape[dim] % (2 * vector) == 0 &&
           tile->shape[dim] > WARP_SIZE * vector)
        vector *= 2;
    return layout_lines(inference->kernel->layouts, tile->rank, shape, dim_order, vector,
                        inference->warps);
}

/* ---- reductions ---- */

/* Cycles of a warp for so many results of a thread that lanes combine in so many steps, of which
 * the first ones halve them. */
static int reduction_cycles(int registers, int steps, int halvings, bool told)
{
    int cycles = halvings ? COST_HALVING_CYCLES + (told ? registers * COST_SHUFFLE_CYCLES : 0) : 0;
    for (int step = 0; step < steps; step++) {
        if (step < halvings) registers /= 2;
        cycles +=
            registers * (COST_SHUFFLE_CYCLES + 1 + (step < halvings ? 2 * COST_SELECT_CYCLES : 0));
    }
    return cycles;
}

/* Bits of the axis that say where along the dimensions of the mask elements are. */
static int bits_along(const Layout *layout, LayoutAxis axis, unsigned dims)
{
    int count = 0;
    for (int bit = 0; bit < layout->bits[axis]; bit++)
        for (int d = 0; d < layout->rank; d++)
            count += dims >> d & 1 && layout_basis(layout, axis, bit)[d];
    return count;
}

const Layout *halved_layout(const Inference *inference, const Op *reduce, const Layout *operand,
                            const Layout *result, bool told)
{
    const unsigned dims = op_dims_mask(reduce);
    const int steps = bits_along(operand, LAYOUT_LANE, dims), registers = layout_registers(result);
    int best = 0;
    if (!layout_is_plain(operand, dims)) return result;
    for (int halvings = 1; halvings <= steps && halvings <= result->bits[LAYOUT_REGISTER];
         halvings++)
        if (reduction_cycles(registers, steps, halvings, told) <
            reduction_cycles(registers, steps, best, told))
            best = halvings;
    return layout_halved(inference->kernel->layouts, operand, dims, result, best);
}

int64_t exchanged_cycles(const Inference *inference, const Op *reduce, const Layout *operand)
{
    const unsigned dims = op_dims_mask(reduce);
    const int steps = bits_along(operand, LAYOUT_LANE, dims);
    int32_t shape[LAYOUT_RANK];
    tile_shape(reduce->results[0].type, shape);
    const int registers =
        layout_registers(layout_shrink(inference->kernel->layouts, operand, shape));
    int64_t least = reduction_cycles(registers, steps, 0, true);
    for (int halvings = 1; halvings <= steps && 1 << halvings <= registers; halvings++)
        least = lesser_of(least, reduction_cycles(registers, steps, halvings, true));
    return least / inference->target->partitions;
}

bool reduces_across_warps(const Op *reduce, const Layout *layout)
{
    return bits_along(layout, LAYOUT_WARP, op_dims_mask(reduce)) > 0;
}

/* What warps tell each other by way of shared memory, each thread reads as it needs it. */
static const Layout *reduced_layout(const Inference *inference, const Op *op, const Layout *operand,
                                    const int32_t *shape)
{
    const Layout *result = layout_shrink(inference->kernel->layouts, operand, shape);
    return reduces_across_warps(op, operand) ? result
                                             : halved_layout(inference, op, operand, result, true);
}

/* ---- ops that only rename ---- */

static const Layout *transpose_back(const Inference *inference, const Op *op, const Layout *result)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    int inverse[LAYOUT_RANK];
    for (int d = 0; d < dims->count; d++) inverse[dims->integers[d]] = d;
    return layout_transpose(inference->kernel->layouts, result, inverse);
}

const Layout *derive_operand(const Inference *inference, const Op *op, const Layout *result)
{
    const Type *operand = operand(op, a)->type;
    int32_t shape[LAYOUT_RANK];
    tile_shape(operand, shape);
    if (op->code == OP_reduce || op->code == OP_scan || op->code == OP_part) return NULL;
    if (op->code == OP_broadcast) return layout_shrink(inference->kernel->layouts, result, shape);
    if (op->code == OP_transpose) return transpose_back(inference, op, result);
    return layout_reshape(inference->kernel->layouts, result, operand->rank, shape);
}

const Layout *derive_result(const Inference *inference, const Op *op, const Layout *operand)
{
    const Type *result = op->results[0].type;
    int32_t shape[LAYOUT_RANK];
    int dims[LAYOUT_RANK];
    if (op->code == OP_broadcast) return NULL;
    if (op->code == OP_scan) return scan_layout(inference, op, operand);
    if (op->code == OP_part) {
        tile_shape(result, shape);
        return layout_part(inference->kernel->layouts, operand, shape);
    }
    if (op->code == OP_reduce) {
        tile_shape(result, shape);
        return reduced_layout(inference, op, operand, shape);
    }
    if (op->code == OP_reshape) {
        tile_shape(result, shape);
        return layout_reshape(inference->kernel->layouts, operand, result->rank, shape);
    }
    const Attr *attr = op_attr(op, ATTR_dims);
    for (int d = 0; d < attr->count; d++) dims[d] = (int)attr->integers[d];
    return layout_transpose(inference->kernel->layouts, operand, dims);
}
