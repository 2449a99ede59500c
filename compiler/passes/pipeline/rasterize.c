/* rasterize.c: which block computes which part of a product. The machine starts blocks along x
 * first, so those that run at a time are a long stripe, which reads nearly all of one operand and
 * little of the other. Here they are taken in groups of some columns of the grid, row by row: about
 * square, so that they read the least that so many blocks can.
 *
 *     number = y * gridDim.x + x              group = number / (COST_RASTER_COLUMNS * gridDim.y)
 *     columns = min(COST_RASTER_COLUMNS, gridDim.x - group * COST_RASTER_COLUMNS)
 *     x' = group * COST_RASTER_COLUMNS + rest % columns   y' = rest / columns
 *
 * Blocks are logical as long as none waits for another: not where the kernel has atomics, or a
 * loop whose end nobody knows. */
#include "passes/layout/matrix.h"

typedef struct Traits {
    bool uses[2];   /* the block's index along x, y */
    bool pipelined; /* a loop that copies operands of a product ahead */
    bool may_wait;
} Traits;

static void find_dot(Op *op, void *context)
{
    *(bool *)context |= is_dot(op);
}

static void look(Op *op, void *context)
{
    Traits *traits = context;
    const int64_t dim = op_int(op, ATTR_dim, 0);
    switch (op->code) {
    case OP_block_idx:
        if (dim < 2) traits->uses[dim] = true;
        break;
    case OP_for:
        if (op_int(op, ATTR_stages, 0) >= 2)
            region_visit(op->regions[0], find_dot, &traits->pipelined);
        break;
    case OP_atomic:
    case OP_element_atomic:
    case OP_while: traits->may_wait = true; break;
    default: break;
    }
}

/* A group has a column: that is said for those who divide by their number. */
static Value *build_columns(Builder *builder, Value *most, Value *left)
{
    Value *columns = build2(builder, OP_min, most, left);
    return build2(builder, OP_max, columns, build_const(builder, DTYPE_i32, 1));
}

/* The number of blocks may take more than 32 bits. Where groups are known to be `whole`, all have
 * as many columns. */
static void build_order(Builder *builder, bool whole, Value *out[2])
{
    Value *width = build_of_grid(builder, OP_grid_dim, 0);
    Value *wide[2] = {build_cast(builder, DTYPE_i64, width),
                      build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_grid_dim, 1))};
    Value *x = build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_block_idx, 0));
    Value *y = build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_block_idx, 1));
    Value *number = build2(builder, OP_add, build2(builder, OP_mul, y, wide[0]), x);
    Value *most = build_const(builder, DTYPE_i32, COST_RASTER_COLUMNS);
    Value *each =
        build2(builder, OP_mul, wide[1], build_const(builder, DTYPE_i64, COST_RASTER_COLUMNS));
    Value *group = build_cast(builder, DTYPE_i32, build2(builder, OP_div, number, each));
    Value *rest = build_cast(builder, DTYPE_i32, build2(builder, OP_rem, number, each));
    Value *first = build2(builder, OP_mul, group, most);
    Value *columns =
        whole ? most : build_columns(builder, most, build2(builder, OP_sub, width, first));
    out[0] = build2(builder, OP_add, first, build2(builder, OP_rem, rest, columns));
    out[1] = build2(builder, OP_div, rest, columns);
    op_set_int(out[1]->op, ATTR_pair, 1); /* COST_RASTER_COLUMNS is even */
}

typedef struct Renaming {
    Kernel *kernel;
    Value **indices;
} Renaming;

static void rename_index(Op *op, void *context)
{
    const Renaming *renaming = context;
    const int64_t dim = op_int(op, ATTR_dim, 0);
    if (op->code == OP_block_idx && dim < 2 && op->scratch == NULL)
        value_replace(&op->results[0], renaming->indices[dim]);
}

static void reorder(Kernel *kernel, Op *launch)
{
    Region *region = launch_region(launch);
    Value *indices[2];
    Op *rest = region->first;
    Builder builder = builder_before(rest);
    int64_t width;
    const bool known = value_constant(launch->operands[0], &width);
    if (known && width <= COST_RASTER_COLUMNS) return; /* one group, row by row: as they are */
    build_order(&builder, known && width % COST_RASTER_COLUMNS == 0, indices);
    for (Op *op = region->first; op != rest; op = op->next) op->scratch = op;
    Renaming renaming = {.kernel = kernel, .indices = indices};
    region_visit(region, rename_index, &renaming);
    for (Op *op = region->first; op != rest; op = op->next) op->scratch = NULL;
}

bool pass_order(Kernel *kernel, PassContext *context)
{
    (void)context;
    for (Op *op = kernel->host->first; op; op = op->next) {
        if (op->code != OP_launch || launch_has_company(op)) continue;
        Traits traits = {0};
        region_visit(launch_region(op), look, &traits);
        if (traits.pipelined && traits.uses[0] && traits.uses[1] && !traits.may_wait)
            reorder(kernel, op);
    }
    return true;
}
