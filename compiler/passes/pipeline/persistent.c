/* persistent.c: a launch that is no larger than the machine, each of whose blocks does the work of
 * several, one after the other:
 *
 *     for number = block index; number < blocks of the grid; number += blocks that were launched
 *
 * so that warps that copy are ahead of those that compute from one block to the next. The runtime
 * launches that many for a launch that is {persistent}. */
#include "passes/pipeline/multi_buffer.h"

#include "ir/rebuild.h"

/* ---- whether ---- */

static void look_for_waits(Op *op, void *context)
{
    if (op->code == OP_atomic || op->code == OP_element_atomic || op->code == OP_while)
        *(bool *)context = true;
}

bool turns_may_differ(const Op *launch)
{
    bool may_wait = false;
    region_visit(launch_region(launch), look_for_waits, &may_wait);
    return !may_wait && !op_attr(launch, ATTR_panel);
}

/* ---- a turn ---- */

/* Which block it is, by its place in the grid. */
static void find_index(Builder *builder, Turn *turn, Value *place)
{
    int64_t deep;
    turn->index[0] = build2(builder, OP_rem, place, turn->extent[0]);
    Value *above = build2(builder, OP_div, place, turn->extent[0]);
    const bool is_flat = value_constant(turn->extent[2], &deep) && deep == 1;
    turn->index[1] = is_flat ? above : build2(builder, OP_rem, above, turn->extent[1]);
    turn->index[2] =
        is_flat ? ring_number(builder, 0) : build2(builder, OP_div, above, turn->extent[1]);
}

/* No block runs of a grid that has none. */
static void assume_positive(Builder *builder, Value *extent)
{
    Op *assume = build_op(builder, OP_assume, 1, &extent, 0, NULL);
    op_set_int(assume, ATTR_multiple, 1);
    op_set_int(assume, ATTR_low, 1);
}

Turn turns_begin(const Pass *pass, Region *region, int parity)
{
    const Op *launch = pass->launch->parent;
    const Type *i32 = type_scalar(pass->kernel->types, DTYPE_i32);
    Builder builder = builder_before(region->last);
    Turn turn = {0};
    Map map = {0};
    builder.span = launch->span;
    for (int d = 0; d < 3; d++) {
        Value *extent = ring_copy_slice(&builder, launch->operands[d], pass->kernel->host, &map);
        turn.extent[d] = build_cast(&builder, DTYPE_i32, extent);
        assume_positive(&builder, turn.extent[d]);
    }
    Value *blocks = build2(&builder, OP_mul, turn.extent[0], turn.extent[1]);
    Value *operands[5] = {build_of_grid(&builder, OP_block_idx, 0),
                          build2(&builder, OP_mul, blocks, turn.extent[2]),
                          build_of_grid(&builder, OP_grid_dim, 0), ring_number(&builder, 0),
                          ring_number(&builder, parity)};
    Op *loop = build_op(&builder, OP_for, 5, operands, 2, (const Type *[]){i32, i32});
    op_set_int(loop, ATTR_unroll, 1);
    turn.region = loop->regions[0];
    Value *place = region_add_argument(turn.region, i32, NULL);
    turn.slot = region_add_argument(turn.region, i32, NULL);
    turn.parity = region_add_argument(turn.region, i32, NULL);
    Builder inside = builder_at_end(turn.region, launch->span);
    find_index(&inside, &turn, place);
    build_op(&inside, OP_yield, 2, (Value *[]){turn.slot, turn.parity}, 0, NULL);
    return turn;
}

Turn turns_only(Region *region, int parity)
{
    Builder builder = builder_before(region->last);
    Turn turn = {.region = region};
    turn.slot = ring_number(&builder, 0);
    turn.parity = ring_number(&builder, parity);
    return turn;
}

/* ---- what a turn knows ---- */

typedef struct Knowledge {
    const Pass *pass;
    const Turn *turn;
    Map *map;
} Knowledge;

static void know(Op *op, void *context)
{
    const Knowledge *knowledge = context;
    Value *const *known = op->code == OP_block_idx  ? knowledge->turn->index
                          : op->code == OP_grid_dim ? knowledge->turn->extent
                                                    : NULL;
    if (known)
        map_set(knowledge->pass->arena, knowledge->map, &op->results[0],
                known[op_int(op, ATTR_dim, 0)]);
}

void turns_know(const Pass *pass, const Turn *turn, Map *map)
{
    Knowledge knowledge = {pass, turn, map};
    if (turn->index[0]) region_visit(pass->launch, know, &knowledge);
}

void turns_end(const Turn *turn, Value *slot, Value *parity)
{
    Op *yield = region_terminator(turn->region);
    if (!turn->index[0]) return;
    op_set_operand(yield, 0, slot);
    op_set_operand(yield, 1, parity);
}
