/* rasterize_blocks.c: the order in which the grid's blocks are taken, where the author asks for
 * one: a launch with {panel}.
 *
 * The blocks that run at one time follow each other by their hardware index. In panels of some rows
 * (or, if {order} is "column", columns) they go down a panel's rows before the next column, so that
 * they share rows and columns of the operands in the L2 cache; every other panel goes backwards, so
 * that the columns at its end are still there. Each block's index is another one for that, one to
 * one. */
#include "passes/pass.h"

#include <string.h>

typedef struct Order {
    Kernel *kernel;
    Builder at;        /* the launch's beginning */
    Value *indices[2]; /* that the program sees: x and y */
    Op *hardware[2];   /* the block's own */
} Order;

static Value *number(Order *order, int64_t value)
{
    return build_const(&order->at, DTYPE_i32, value);
}

static Value *of_grid(Order *order, OpCode code, int dim)
{
    Value *value = build_of_grid(&order->at, code, dim);
    if (code == OP_block_idx) order->hardware[dim] = value->op;
    return value;
}

/* along: the dimension that a panel is long in; the other one is what it has `panel` of. */
static void choose(Order *order, int64_t panel, int along)
{
    Builder *at = &order->at;
    Value *index[2] = {of_grid(order, OP_block_idx, 0), of_grid(order, OP_block_idx, 1)};
    Value *extent[2] = {of_grid(order, OP_grid_dim, 0), of_grid(order, OP_grid_dim, 1)};
    Value *place = build2(at, OP_add, build2(at, OP_mul, index[1], extent[0]), index[0]);
    Value *length = extent[along], *blocks = build2(at, OP_mul, length, number(order, panel));
    Value *which = build2(at, OP_div, place, blocks);
    Value *inside = build2(at, OP_sub, place, build2(at, OP_mul, which, blocks));
    Value *first = build2(at, OP_mul, which, number(order, panel));
    Value *left = build2(at, OP_sub, extent[1 - along], first);
    Value *height = build2(at, OP_min, left, number(order, panel));
    Value *far = build2(at, OP_div, inside, height);
    Value *backwards = build2(at, OP_sub, build2(at, OP_sub, length, number(order, 1)), far);
    Value *odd = build_cmp(at, "ne", build2(at, OP_and, which, number(order, 1)), number(order, 0));
    order->indices[along] = build3(at, OP_select, odd, backwards, far);
    Value *across = build2(at, OP_sub, inside, build2(at, OP_mul, far, height));
    order->indices[1 - along] = build2(at, OP_add, first, across);
}

static void use_index(Op *op, void *context)
{
    Order *order = context;
    const int64_t dim = op_int(op, ATTR_dim, 0);
    if (op->code != OP_block_idx || dim > 1 || op == order->hardware[dim]) return;
    value_replace(op->results, order->indices[dim]);
}

static void order_blocks(Kernel *kernel, Op *launch)
{
    const Attr *word = op_attr(launch, ATTR_order);
    const int64_t panel = op_int(launch, ATTR_panel, 0);
    Region *body = launch->regions[0];
    if (panel == 0 || body->first == NULL || launch_is_cluster_or_cooperative(launch)) return;
    Order order = {.kernel = kernel, .at = builder_before(body->first)};
    choose(&order, panel, word != NULL && strcmp(word->text, "column") == 0 ? 1 : 0);
    region_visit(body, use_index, &order);
}

bool pass_rasterize_blocks(Kernel *kernel, PassContext *context)
{
    (void)context;
    for (Op *op = kernel->host->first; op != NULL; op = op->next)
        if (op->code == OP_launch) order_blocks(kernel, op);
    return true;
}
