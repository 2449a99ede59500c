/* rasterize_blocks.c: the order in which the grid's blocks are taken, where the author asks for
 * one, a launch with {panel}, or where blocks are known to take longer the less their index along x
 * is, one with {rasterize = longest}.
 *
 * The blocks that run at one time follow each other by their hardware index. In panels of some rows
 * (or, if {rasterize} is "column", columns) they go down a panel's rows before the next column, so
 * that they share rows and columns of the operands in the L2 cache; every other panel goes
 * backwards, so that the columns at its end are still there. Each block's index is another one for
 * that, one to one. */
#include "passes/pass.h"
#include "target/cost.h"
#include "ir/rebuild.h"

#include <string.h>

/* Of so many blocks along a dimension, a number where the launch says which. */
static Value *find_extent(Builder *at, const Op *launch, int dim)
{
    int64_t extent;
    return value_constant(operand_list(launch, x)[dim], &extent)
               ? build_const(at, DTYPE_i32, extent)
               : build_of_grid(at, OP_grid_dim, dim);
}

/* along: the dimension that a panel is long in; the other one is what it has `panel` of. */
static void find_indices(Builder *at, const Op *launch, int64_t panel, int along, Value *indices[2])
{
    Value *index[2] = {build_of_grid(at, OP_block_idx, 0), build_of_grid(at, OP_block_idx, 1)};
    Value *extent[2] = {find_extent(at, launch, 0), find_extent(at, launch, 1)};
    Value *number_in_grid = build2(at, OP_add, build2(at, OP_mul, index[1], extent[0]), index[0]);
    Value *length = extent[along], *rows = build_const(at, DTYPE_i32, panel);
    Value *blocks = build2(at, OP_mul, length, rows);
    int64_t across_all;
    const bool one_panel = value_constant(extent[1 - along], &across_all) && across_all <= panel;
    Value *which =
        one_panel ? build_const(at, DTYPE_i32, 0) : build2(at, OP_div, number_in_grid, blocks);
    Value *inside = build2(at, OP_sub, number_in_grid, build2(at, OP_mul, which, blocks));
    Value *first = build2(at, OP_mul, which, rows);
    Value *height = build2(at, OP_min, build2(at, OP_sub, extent[1 - along], first), rows);
    Value *far = build2(at, OP_div, inside, height), *one = build_const(at, DTYPE_i32, 1);
    Value *backwards = build2(at, OP_sub, build2(at, OP_sub, length, one), far);
    Value *odd = build_cmp(at, "ne", build2(at, OP_and, which, one), build_const(at, DTYPE_i32, 0));
    Value *across = build2(at, OP_sub, inside, build2(at, OP_mul, far, height));
    indices[along] = build3(at, OP_select, odd, backwards, far);
    indices[1 - along] = build2(at, OP_add, first, across);
}

/* The least divisor of the rows of which as many have enough blocks. */
static int64_t rows_of_group(int64_t columns, int64_t rows)
{
    int64_t group = 1;
    while (group < rows && (rows % group != 0 || group * columns < COST_LONGEST_FIRST)) group++;
    return group;
}

static Value *find_index(Builder *at, int dim)
{
    return build_cast(at, DTYPE_u32, build_of_grid(at, OP_block_idx, dim));
}

/* A list of jobs ends soonest, and evenly, if the longest begin first (Graham 1969). Blocks with
 * the same index along x take as long as each other, so that those of a group of rows come column
 * by column; a group is small enough for what its rows read to stay in L2, and those that follow
 * fill up what the short blocks leave. */
static void put_longest_first(Op *launch, Op *rest)
{
    int64_t columns, rows;
    if (!value_constant(operand(launch, x), &columns) || !value_constant(operand(launch, y), &rows))
        return;
    const int64_t group = rows_of_group(columns, rows);
    if (group == 1) return;
    Builder at = builder_before(rest);
    Value *number = build2(
        &at, OP_add, build2(&at, OP_mul, find_index(&at, 1), build_const(&at, DTYPE_u32, columns)),
        find_index(&at, 0));
    Value *blocks = build_const(&at, DTYPE_u32, group * columns),
          *height = build_const(&at, DTYPE_u32, group);
    Value *which = build2(&at, OP_div, number, blocks),
          *inside = build2(&at, OP_rem, number, blocks);
    Value *x = build2(&at, OP_div, inside, height),
          *y = build2(&at, OP_add, build2(&at, OP_mul, which, height),
                      build2(&at, OP_rem, inside, height));
    ops_rename_blocks(rest,
                      (Value *[2]){build_cast(&at, DTYPE_i32, x), build_cast(&at, DTYPE_i32, y)});
}

static void rasterize_launch(Op *launch)
{
    const Attr *word = op_attr(launch, ATTR_rasterize);
    const int64_t panel = op_int(launch, ATTR_panel, 0);
    Op *rest = launch_region(launch)->first;
    Value *indices[2];
    if (!rest || launch_is_cluster_or_cooperative(launch)) return;
    if (word && strcmp(word->text, "longest") == 0 && !op_attr(launch, ATTR_persistent))
        put_longest_first(launch, rest);
    if (panel == 0) return;
    Builder at = builder_before(rest);
    find_indices(&at, launch, panel, word && strcmp(word->text, "column") == 0 ? 1 : 0, indices);
    ops_rename_blocks(rest, indices);
}

bool pass_rasterize_blocks(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_each_launch (op, kernel) rasterize_launch(op);
    return true;
}
