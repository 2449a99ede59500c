/* rasterize_blocks.c: the order in which the grid's blocks are taken, where the author asks for
 * one: a launch with {panel}.
 *
 * The blocks that run at one time follow each other by their hardware index. In panels of some rows
 * (or, if {rasterize} is "column", columns) they go down a panel's rows before the next column, so
 * that they share rows and columns of the operands in the L2 cache; every other panel goes
 * backwards, so that the columns at its end are still there. Each block's index is another one for
 * that, one to one. */
#include "passes/pass.h"

#include <string.h>

typedef struct Raster {
    Kernel *kernel;
    Builder at;        /* the launch's beginning */
    Value *indices[2]; /* that the program sees: x and y */
    Op *hardware[2];   /* the block's own */
} Raster;

static Value *number(Raster *raster, int64_t value)
{
    return build_const(&raster->at, DTYPE_i32, value);
}

static Value *of_grid(Raster *raster, OpCode code, int dim)
{
    Value *value = build_of_grid(&raster->at, code, dim);
    if (code == OP_block_idx) raster->hardware[dim] = value->op;
    return value;
}

/* along: the dimension that a panel is long in; the other one is what it has `panel` of. */
static void choose(Raster *raster, int64_t panel, int along)
{
    Builder *at = &raster->at;
    Value *index[2] = {of_grid(raster, OP_block_idx, 0), of_grid(raster, OP_block_idx, 1)};
    Value *extent[2] = {of_grid(raster, OP_grid_dim, 0), of_grid(raster, OP_grid_dim, 1)};
    Value *number_in_grid = build2(at, OP_add, build2(at, OP_mul, index[1], extent[0]), index[0]);
    Value *length = extent[along], *blocks = build2(at, OP_mul, length, number(raster, panel));
    Value *which = build2(at, OP_div, number_in_grid, blocks);
    Value *inside = build2(at, OP_sub, number_in_grid, build2(at, OP_mul, which, blocks));
    Value *first = build2(at, OP_mul, which, number(raster, panel));
    Value *left = build2(at, OP_sub, extent[1 - along], first);
    Value *height = build2(at, OP_min, left, number(raster, panel));
    Value *far = build2(at, OP_div, inside, height);
    Value *backwards = build2(at, OP_sub, build2(at, OP_sub, length, number(raster, 1)), far);
    Value *odd =
        build_cmp(at, "ne", build2(at, OP_and, which, number(raster, 1)), number(raster, 0));
    raster->indices[along] = build3(at, OP_select, odd, backwards, far);
    Value *across = build2(at, OP_sub, inside, build2(at, OP_mul, far, height));
    raster->indices[1 - along] = build2(at, OP_add, first, across);
}

static void use_index(Op *op, void *context)
{
    Raster *raster = context;
    const int64_t dim = op_int(op, ATTR_dim, 0);
    if (op->code != OP_block_idx || dim > 1 || op == raster->hardware[dim]) return;
    value_replace(op->results, raster->indices[dim]);
}

static void rasterize_launch(Kernel *kernel, Op *launch)
{
    const Attr *word = op_attr(launch, ATTR_rasterize);
    const int64_t panel = op_int(launch, ATTR_panel, 0);
    Region *body = launch->regions[0];
    if (panel == 0 || body->first == NULL || launch_is_cluster_or_cooperative(launch)) return;
    Raster raster = {.kernel = kernel, .at = builder_before(body->first)};
    choose(&raster, panel, word != NULL && strcmp(word->text, "column") == 0 ? 1 : 0);
    region_visit(body, use_index, &raster);
}

bool pass_rasterize_blocks(Kernel *kernel, PassContext *context)
{
    (void)context;
    for (Op *op = kernel->host->first; op != NULL; op = op->next)
        if (op->code == OP_launch) rasterize_launch(kernel, op);
    return true;
}
