/* rasterize.c: which block computes which part of a product. The machine starts blocks along x
 * first, so those that run at a time are a long stripe, which reads nearly all of one operand and
 * little of the other. Here they are taken in groups of some columns of the grid, row by row: about
 * square, so that they read the least that so many blocks can.
 *
 *     number = y * gridDim.x + x              group = number / (most * gridDim.y)
 *     columns = min(most, gridDim.x - group * most)
 *     x' = group * most + rest % columns      y' = rest / columns
 *
 * with `most` of COST_RASTER_COLUMNS for blocks that copy as much by one index as by the other; of
 * others as many as make that square in bytes, by what an iteration copies, up to COST_RASTER_MOST.
 * Fewer where the number of columns is known. Blocks that begin one after the other read the same
 * of one operand: where that is the lesser one, x and y change places, so that a group is some
 * rows, column by column.
 *
 * That is for blocks whose pipelined loops copy by both indices. Where blocks have more iterations
 * of products to do the greater their index is, they are taken from the last one to the first; and
 * where that is the index along x, and no block does the work of several, the longest of many rows
 * come before the others of any (rasterize_blocks.c).
 *
 * CUTLASS calls that a threadblock swizzle, Triton a grouped order. Panels that the author asks for
 * give way to it: they are the same for another count of blocks and another L2, and persistent
 * blocks, which have an order of their own, would be refused for their sake.
 *
 * Blocks are logical as long as none waits for another: not where the kernel has atomics, or a
 * loop whose end nobody knows. */
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/layout/matrix.h"
#include "passes/analysis/trend.h"
#include "ir/rebuild.h"

typedef struct Traits {
    FactTable *facts;
    bool uses[2];     /* the block's index along x, y, in what pipelined loops copy */
    int64_t bytes[2]; /* of an iteration's copies by that index alone */
    bool splits;      /* neighbours along x may copy together */
    bool pipelined;   /* a loop that copies operands of a product ahead */
    int rises; /* the dimension along which blocks have more and more iterations to do; -1: none */
} Traits;

static ValueAnswer finds_index(const Value *value, void *context)
{
    Traits *traits = context;
    if (value->op && value->op->code == OP_block_idx && op_int(value->op, ATTR_dim, 0) < 2)
        traits->uses[op_int(value->op, ATTR_dim, 0)] = true;
    return VALUE_OPERANDS;
}

static void look_at_copy(Op *op, Traits *traits)
{
    Traits own = {0};
    copy_source_finds(op, finds_index, &own);
    for (int dim = 0; dim < 2; dim++) {
        traits->uses[dim] |= own.uses[dim];
        if (own.uses[dim] && !own.uses[1 - dim])
            traits->bytes[dim] += type_bytes(operand(op, tile)->type);
    }
    const Access access = access_of(op);
    traits->splits |= !own.uses[0] && access_splits_lines(traits->facts, &access);
}

static void look_at_loop(Op *loop, Traits *traits)
{
    if (!region_has_with(loop->regions[0], DOT)) return;
    if (op_int(loop, ATTR_stages, 0) >= 1) {
        traits->pipelined = true;
        region_each_of (copy, loop->regions[0], OP_copy) look_at_copy(copy, traits);
    }
    for (int dim = 0; dim < 2; dim++)
        if (block_trend_of_trips(loop, dim) == TREND_RISES) traits->rises = dim;
}

/* Columns of a group, even: blocks that run at a time read as much of one operand as of the other.
 */
static int64_t most_columns(const Traits *traits, int axis)
{
    const int64_t square = (int64_t)COST_RASTER_COLUMNS * COST_RASTER_COLUMNS,
                  own = traits->bytes[axis], other = traits->bytes[1 - axis];
    int64_t columns = 2;
    if (!own || !other) return COST_RASTER_COLUMNS;
    while ((columns + 1) * (columns + 1) * own < square * other && columns < COST_RASTER_MOST)
        columns += 2;
    return columns;
}

/* Groups of about one size, even ones: a narrow one at the end would read all of an operand for
 * itself. */
static int64_t columns_of(int64_t width, int64_t most)
{
    const int64_t groups = (width + most - 1) / most;
    const int64_t columns = (width + groups - 1) / groups;
    return columns + columns % 2;
}

/* The number of blocks may take more than 32 bits. Where groups are known to be `whole`, all have
 * as many columns. */
static void build_raster(Builder *builder, int axis, int64_t group_columns, bool whole,
                         Value *out[2])
{
    Value *extents[2], *wide[2];
    for (int dim = 0; dim < 2; dim++) {
        extents[dim] = build_of_grid(builder, OP_grid_dim, dim);
        wide[dim] = build_cast(builder, DTYPE_i64, extents[dim]);
    }
    Value *x = build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_block_idx, 0));
    Value *y = build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_block_idx, 1));
    Value *number = build2(builder, OP_add, build2(builder, OP_mul, y, wide[0]), x);
    Value *most = build_const(builder, DTYPE_i32, group_columns);
    Value *each =
        build2(builder, OP_mul, wide[1 - axis], build_const(builder, DTYPE_i64, group_columns));
    Value *group = build_cast(builder, DTYPE_i32, build2(builder, OP_div, number, each));
    Value *rest = build_cast(builder, DTYPE_i32, build2(builder, OP_rem, number, each));
    Value *first = build2(builder, OP_mul, group, most);
    Value *columns = most;
    if (!whole) { /* a group has a column: that is said for those who divide by their number */
        columns = build2(builder, OP_min, most, build2(builder, OP_sub, extents[axis], first));
        columns = build2(builder, OP_max, columns, build_const(builder, DTYPE_i32, 1));
    }
    out[axis] = build2(builder, OP_add, first, build2(builder, OP_rem, rest, columns));
    out[1 - axis] = build2(builder, OP_div, rest, columns);
    if (axis == 0) op_set_int(out[1]->op, ATTR_pair, 1); /* group_columns is even */
}

/* NULL, or why not. */
static const char *rasterize_launch(Kernel *kernel, Op *launch, const Traits *traits)
{
    Value *indices[2];
    Op *rest = launch_region(launch)->first;
    Builder builder = builder_before(rest);
    /* blocks that follow each other along it share what is copied by the other one, and the most of
     * it; but along x where two may copy together */
    const int axis = traits->bytes[0] > traits->bytes[1] && !traits->splits ? 1 : 0;
    const int64_t most = most_columns(traits, axis);
    int64_t width;
    if (value_constant(operand(launch, x), &width) && width <= most_columns(traits, 0))
        return "it has no more columns than one group"; /* by columns: in the order of the grid */
    const bool known = value_constant(operand_list(launch, x)[axis], &width);
    const int64_t columns = known ? columns_of(width, most) : most;
    kernel_remark(kernel, kernel->span,
                  "blocks are taken in groups of %d %s of the grid, for the sake of L2",
                  (int)columns, axis ? "rows" : "columns");
    build_raster(&builder, axis, columns, known && width % columns == 0, indices);
    ops_rename_blocks(rest, indices);
    if (!op_attr(launch, ATTR_panel)) return NULL;
    kernel_remark(kernel, kernel->span, "the author's panels of blocks give way to that order");
    op_drop_attr(launch, ATTR_panel);
    op_drop_attr(launch, ATTR_rasterize);
    return NULL;
}

/* Those with the most iterations come first, so that the last ones to begin are soon done. */
static const char *reverse_blocks(Kernel *kernel, Op *launch, int dim)
{
    Op *rest = launch_region(launch)->first;
    Builder builder = builder_before(rest);
    int64_t extent;
    Value *last = value_constant(operand_list(launch, x)[dim], &extent)
                      ? build_const(&builder, DTYPE_i32, extent - 1)
                      : build2(&builder, OP_sub, build_of_grid(&builder, OP_grid_dim, dim),
                               build_const(&builder, DTYPE_i32, 1));
    Value *indices[2] = {NULL, NULL};
    indices[dim] = build2(&builder, OP_sub, last, build_of_grid(&builder, OP_block_idx, dim));
    kernel_remark(kernel, kernel->span,
                  "blocks are taken from the last one to the first, as those have more iterations");
    ops_rename_blocks(rest, indices);
    if (dim == 0 && !op_attr(launch, ATTR_panel))
        op_set_text(launch, ATTR_rasterize, intern_text(kernel->session->names, "longest"));
    return NULL;
}

/* NULL, or why they stay in the order of the grid. */
static const char *choose_order(Kernel *kernel, Op *launch, const Traits *traits)
{
    if (launch_is_cluster_or_cooperative(launch)) return "the launch is a cluster, or cooperative";
    if (launch_may_wait(launch)) return "they may wait for each other";
    if (traits->uses[0] && traits->uses[1]) return rasterize_launch(kernel, launch, traits);
    return traits->rises >= 0 ? reverse_blocks(kernel, launch, traits->rises)
                              : "what their loops copy does not go by both of its indices";
}

bool pass_rasterize(Kernel *kernel, PassContext *context)
{
    kernel_each_launch (op, kernel) {
        Traits traits = {.facts = analysis_ranges(context), .rises = -1};
        region_each_of (loop, launch_region(op), OP_for) look_at_loop(loop, &traits);
        const bool asks = traits.pipelined || traits.rises >= 0;
        const char *fault = asks ? choose_order(kernel, op, &traits) : NULL;
        if (fault)
            kernel_remark(kernel, kernel->span, "blocks are taken in the order of the grid: %s",
                          fault);
    }
    return true;
}
