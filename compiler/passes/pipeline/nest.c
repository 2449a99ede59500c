/* nest.c: a pipelined loop within other loops and branches of the author's, such as one over the
 * tiles of a persistent block:
 *
 *     producers: for the same indices, under the same conditions: the copies of the loop
 *     consumers: all that the author wrote
 *
 * Stages go on where they were from one time to the next, so that producers are ahead across the
 * outer loop, too: the next tile's copies are in flight while consumers store this one. */
#include "passes/pipeline/multi_buffer.h"

#include "ir/rebuild.h"

/* ---- producers ---- */

static void yield_stage(Builder *builder, Value *const carried[2])
{
    build_op(builder, OP_yield, 2, carried, 0, NULL);
}

/* An op like `level` that carries the stage and the parity. */
static Op *copy_level(const Pipeline *pipeline, Builder *builder, const Op *level,
                      Value *const carried[2], Map *map)
{
    const Type *i32 = type_scalar(pipeline->pass->kernel->types, DTYPE_i32);
    const int count = level->code == OP_for ? 3 : 1;
    Value *operands[5];
    for (int i = 0; i < count; i++)
        operands[i] = value_copy_slice(builder, level->operands[i], pipeline->pass->launch, map);
    operands[count] = carried[0];
    operands[count + 1] = carried[1];
    if (level->code == OP_for) return multi_buffer_stages_loop(builder, operands);
    return build_op(builder, OP_if, 1, operands, 2, (const Type *[]){i32, i32});
}

/* The region where the loop is, or what is around it; what it begins with, in *carried. */
static Region *enter_for(const Pipeline *pipeline, const Op *level, Op *op, Value *carried[2],
                         Map *map)
{
    Region *region = op->regions[0];
    map_set(pipeline->pass->arena, map, level->regions[0]->arguments[0], region->arguments[0]);
    for (int i = 0; i < 2; i++) carried[i] = region->arguments[1 + i];
    return region;
}

static Region *enter_if(const Pipeline *pipeline, const Op *level, Op *op, Value *const carried[2])
{
    const int taken = region_holds(level->regions[1], pipeline->loop->parent);
    Builder other = builder_at_end(op->regions[!taken], level->span);
    yield_stage(&other, carried);
    return op->regions[taken];
}

PersistentTile nest_begin(const Pipeline *pipeline, Region *group, int parity, Map *map)
{
    PersistentTile tile = persistent_only(group, parity);
    Value *carried[2] = {tile.stage, tile.parity};
    OpVec levels = {0};
    plan_levels(pipeline, pipeline->pass->launch, &levels);
    for (size_t i = levels.count; i-- > 0;) {
        const Op *level = levels.data[i];
        Builder builder = builder_before(tile.region->last);
        builder.span = level->span;
        Op *op = copy_level(pipeline, &builder, level, carried, map);
        if (tile.yield) persistent_end(&tile, &op->results[0], &op->results[1]);
        tile.region = level->code == OP_for ? enter_for(pipeline, level, op, carried, map)
                                            : enter_if(pipeline, level, op, carried);
        Builder inside = builder_at_end(tile.region, level->span);
        yield_stage(&inside, carried);
        tile.yield = tile.region->last;
    }
    tile.stage = carried[0];
    tile.parity = carried[1];
    return tile;
}

/* ---- consumers ---- */

/* The level with the stage and the parity behind what it carries itself; its region that has the
 * loop, and what it begins with. */
static Region *carry_through(const Pipeline *pipeline, Op **level, Value *carried[2])
{
    if ((*level)->code == OP_for) {
        *level = loop_carry(*level, 2, carried);
        Region *region = (*level)->regions[0];
        for (int i = 0; i < 2; i++)
            carried[i] = region_add_argument(region, carried[i]->type, NULL);
        op_add_operands(region_terminator(region), 2, carried);
        return region;
    }
    *level = branch_carry(*level, 2, (const Type *[]){carried[0]->type, carried[1]->type});
    for (int r = 0; r < 2; r++)
        op_add_operands(region_terminator((*level)->regions[r]), 2, carried);
    return (*level)->regions[region_holds((*level)->regions[1], pipeline->loop->parent)];
}

void nest_carry(const Pipeline *pipeline, PersistentTile *tile)
{
    Value *carried[2] = {tile->stage, tile->parity};
    OpVec levels = {0};
    /* the launch's region is no longer around it, but the consumers' group */
    plan_levels(pipeline, tile->region, &levels);
    for (size_t i = levels.count; i-- > 0;) {
        Op *level = levels.data[i];
        Region *inner = carry_through(pipeline, &level, carried);
        Value *results = &level->results[level->result_count - 2];
        if (tile->yield) persistent_end(tile, &results[0], &results[1]);
        tile->yield = region_terminator(inner);
        tile->yield_at = tile->yield->operand_count - 2;
    }
    tile->stage = carried[0];
    tile->parity = carried[1];
}
