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

/* The ops between the two regions, from the innermost. */
static OpVec levels_between(const Pipeline *pipeline, const Region *inner, const Region *outer)
{
    OpVec levels = {0};
    for (; inner != outer; inner = inner->parent->parent)
        vec_push(pipeline->pass->arena, &levels, inner->parent);
    return levels;
}

/* What is around the loop in tile->region, with the loop's place in `inner`, carries the tile's
 * state, behind what it carries itself. */
static void carry_into(const Pipeline *pipeline, Region *inner, PersistentTile *tile)
{
    Value *carried[2] = {tile->at.stage, tile->at.parity};
    const OpVec levels = levels_between(pipeline, inner, tile->region);
    for (size_t i = levels.count; i-- > 0;) {
        Op *level = levels.data[i];
        const bool repeats = level->code == OP_for;
        level = repeats
                    ? loop_carry(level, 2, carried)
                    : branch_carry(level, 2, (const Type *[]){carried[0]->type, carried[1]->type});
        Region *region = level->regions[!repeats && region_holds(level->regions[1], inner)];
        for (int v = 0; v < 2 && repeats; v++)
            carried[v] = region_add_argument(region, carried[v]->type, NULL);
        for (int r = 0; r < level->region_count; r++)
            op_add_operands(region_terminator(level->regions[r]), 2, carried);
        Value *results = &level->results[level->result_count - 2];
        persistent_end(tile, (PipelineState){&results[0], &results[1]});
        tile->yield = region_terminator(region);
        tile->yield_at = tile->yield->operand_count - 2;
    }
    tile->region = inner;
    tile->at = (PipelineState){carried[0], carried[1]};
}

void nest_carry(const Pipeline *pipeline, PersistentTile *tile)
{
    carry_into(pipeline, pipeline->loop->parent, tile);
}

/* An empty op for the level's iterations, or under its condition: where the loop is in it. */
static Region *copy_level(const Pipeline *pipeline, Builder *builder, const Op *level, Map *map)
{
    const bool repeats = level->code == OP_for;
    Value *operands[3];
    for (int i = 0; i < (repeats ? 3 : 1); i++)
        operands[i] = value_copy_slice(builder, level->operands[i], pipeline->pass->launch, map);
    if (!repeats)
        return build_branch(builder, operands[0])
            ->regions[region_holds(level->regions[1], pipeline->loop->parent)];
    Op *loop = loop_build(builder, 3, operands);
    Region *body = loop->regions[0];
    op_set_int(loop, ATTR_unroll, 1);
    map_set(pipeline->pass->arena, map, level->regions[0]->arguments[0], body->arguments[0]);
    Builder inside = builder_at_end(body, level->span);
    build_op(&inside, OP_yield, 0, NULL, 0, NULL);
    return body;
}

PersistentTile nest_begin(const Pipeline *pipeline, Region *group, int parity, Map *map)
{
    PersistentTile tile = persistent_only(group, parity);
    Region *inner = group;
    const OpVec levels = levels_between(pipeline, pipeline->loop->parent, pipeline->pass->launch);
    for (size_t i = levels.count; i-- > 0;) {
        Builder builder = builder_before(inner->last);
        builder.span = levels.data[i]->span;
        inner = copy_level(pipeline, &builder, levels.data[i], map);
    }
    carry_into(pipeline, inner, &tile);
    return tile;
}
