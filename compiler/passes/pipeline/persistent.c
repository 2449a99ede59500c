/* persistent.c: a launch that is no larger than the machine, each of whose blocks does the work of
 * several, one after the other:
 *
 *     for number = block index; number < blocks of the grid; number += blocks that were launched
 *
 * so that warps that copy are ahead of those that compute from one block to the next: persistent
 * threads (Aila and Laine 2009). The runtime launches that many for a launch that is {persistent}.
 */
#include "passes/pipeline/multi_buffer.h"

#include "ir/rebuild.h"

/* ---- a tile ---- */

Value *persistent_wave_parity(Builder *builder, const Op *tiles, Value *number)
{
    Value *first = build2(builder, OP_sub, number, operand(tiles, begin));
    return build2(builder, OP_and, build2(builder, OP_div, first, operand(tiles, step)),
                  build_const(builder, DTYPE_i32, 1));
}

/* Every other wave is taken in reverse, so that the block that had the longest tile of one has the
 * shortest of the next; not the last wave, if it has fewer tiles than there are blocks. */
static Value *reverse_odd_waves(Builder *builder, const Op *loop, Value *number)
{
    Value *blocks = operand(loop, step), *one = build_const(builder, DTYPE_i32, 1);
    Value *first = build2(builder, OP_sub, number, operand(loop, begin));
    Value *odd = persistent_wave_parity(builder, loop, number);
    Value *last = build2(builder, OP_sub, build2(builder, OP_add, first, blocks), one);
    Value *whole = build_cmp(builder, "lt", last, operand(loop, end));
    Value *reverses = build2(
        builder, OP_and, build_cmp(builder, "ne", odd, build_const(builder, DTYPE_i32, 0)), whole);
    return build3(builder, OP_select, reverses, build2(builder, OP_sub, last, operand(loop, begin)),
                  number);
}

/* Where the length of a tile follows from its place in the grid, a block would get the same lengths
 * in each wave. So each whole wave is rotated by one block more than the one before it, or by two
 * if the number of blocks is odd: a block's next tile is an odd number of tiles further then, and
 * no multiple of a grid's extent, as those are even. */
static Value *rotate_waves(Builder *builder, const Op *loop, Value *number)
{
    Value *blocks = operand(loop, step), *block = operand(loop, begin);
    Value *one = build_const(builder, DTYPE_i32, 1);
    Value *first = build2(builder, OP_sub, number, block);
    Value *wave = build2(builder, OP_div, first, blocks);
    Value *each = build2(builder, OP_add, build2(builder, OP_and, blocks, one), one);
    Value *moved = build2(builder, OP_add, block, build2(builder, OP_mul, wave, each));
    Value *place = build2(builder, OP_add, first, build2(builder, OP_rem, moved, blocks));
    Value *whole =
        build_cmp(builder, "le", build2(builder, OP_add, first, blocks), operand(loop, end));
    return build3(builder, OP_select, whole, place, number);
}

/* Other indices that are taken together: as many as L2 holds, or fewer, so that their tiles make an
 * even number of waves, if they can. */
static Value *find_group(Builder *builder, const PersistentRaster *raster, Value *extent,
                         Value *blocks)
{
    Value *most = build_const(builder, DTYPE_i32, raster->group);
    Value *two = build2(builder, OP_mul, blocks, build_const(builder, DTYPE_i32, 2));
    Value *each = build2(builder, OP_max, build2(builder, OP_div, two, extent),
                         build_const(builder, DTYPE_i32, 1));
    Value *group = build2(builder, OP_mul, build2(builder, OP_div, most, each), each);
    Value *even = build_cmp(builder, "eq", build2(builder, OP_mul, each, extent), two);
    Value *any = build_cmp(builder, "le", each, most);
    return build3(builder, OP_select, build2(builder, OP_and, even, any), group, most);
}

/* Tiles of one length follow each other, of a group of those that differ in other indices. */
static void find_balanced_index(Builder *builder, PersistentTile *tile, int dim, Value *group,
                                Value *number)
{
    const int low = dim == 0 ? 1 : 0, high = dim == 2 ? 1 : 2;
    Value *each = build2(builder, OP_mul, tile->extent[dim], group);
    Value *first = build2(builder, OP_mul, build2(builder, OP_div, number, each), group);
    Value *within = build2(builder, OP_rem, number, each);
    Value *others = build2(builder, OP_mul, tile->extent[low], tile->extent[high]);
    Value *count = build2(builder, OP_min, group, build2(builder, OP_sub, others, first));
    count = build2(builder, OP_max, count, build_const(builder, DTYPE_i32, 1));
    Value *other = build2(builder, OP_add, first, build2(builder, OP_rem, within, count));
    tile->index[dim] = build2(builder, OP_div, within, count);
    tile->index[low] = build2(builder, OP_rem, other, tile->extent[low]);
    tile->index[high] = build2(builder, OP_div, other, tile->extent[low]);
}

/* Which block it is, by its number in the grid. */
static void find_index(Builder *builder, PersistentTile *tile, Value *number)
{
    tile->index[0] = build2(builder, OP_rem, number, tile->extent[0]);
    Value *above = build2(builder, OP_div, number, tile->extent[0]);
    const bool is_flat = value_is_constant(tile->extent[2], 1);
    tile->index[1] = is_flat ? above : build2(builder, OP_rem, above, tile->extent[1]);
    tile->index[2] = is_flat ? build_const(builder, DTYPE_i32, 0)
                             : build2(builder, OP_div, above, tile->extent[1]);
}

PersistentTile persistent_begin(const Pass *pass, Region *region, const PersistentRaster *raster,
                                int parity)
{
    const Op *launch = pass->launch->parent;
    Builder builder = builder_before(region->last);
    PersistentTile tile = {0};
    Map map = {0};
    builder.span = launch->span;
    for (int d = 0; d < 3; d++) {
        Value *extent =
            value_copy_slice(&builder, operand_list(launch, x)[d], pass->kernel->host, &map);
        tile.extent[d] = build_cast(&builder, DTYPE_i32, extent);
        Op *assume = build_op(&builder, OP_assume, 1, &tile.extent[d], 0, NULL);
        op_set_int(assume, ATTR_multiple, 1);
        op_set_int(assume, ATTR_low, 1); /* no block runs of a grid that has none */
    }
    Value *blocks = build2(&builder, OP_mul, tile.extent[0], tile.extent[1]);
    Value *bounds[3] = {build_of_grid(&builder, OP_block_idx, 0),
                        build2(&builder, OP_mul, blocks, tile.extent[2]),
                        build_of_grid(&builder, OP_grid_dim, 0)};
    const PipelineState first = {build_const(&builder, DTYPE_i32, 0),
                                 build_const(&builder, DTYPE_i32, parity)};
    Value *group =
        raster->group ? find_group(&builder, raster, tile.extent[raster->dim], bounds[2]) : NULL;
    Op *loop = multi_buffer_stages_loop(&builder, bounds, first, &tile.at);
    tile.region = loop->regions[0];
    Value *number = tile.region->arguments[0];
    Builder inside = builder_at_end(tile.region, launch->span);
    if (group)
        find_balanced_index(&inside, &tile, raster->dim, group,
                            reverse_odd_waves(&inside, loop, number));
    else
        find_index(&inside, &tile, raster->uneven ? rotate_waves(&inside, loop, number) : number);
    tile.yield =
        build_op(&inside, OP_yield, 2, (Value *[]){tile.at.stage, tile.at.parity}, 0, NULL);
    return tile;
}

PersistentTile persistent_only(Region *region, int parity)
{
    Builder builder = builder_before(region->last);
    PersistentTile tile = {.region = region};
    tile.at.stage = build_const(&builder, DTYPE_i32, 0);
    tile.at.parity = build_const(&builder, DTYPE_i32, parity);
    return tile;
}

/* ---- what a tile knows ---- */

static void know(const Pass *pass, OpCode code, Value *const known[3], const Op *loop, Map *map)
{
    const OpVec ops = region_list_those(pass->arena, pass->launch, code);
    vec_each (op, &ops) /* the loop over tiles counts in blocks of the launch */
        if (*op != operand(loop, begin)->op && *op != operand(loop, step)->op)
            map_set(pass->arena, map, (*op)->results, known[op_int(*op, ATTR_dim, 0)]);
}

void persistent_know(const Pass *pass, const PersistentTile *tile, Map *map)
{
    if (!tile->index[0]) return;
    know(pass, OP_block_idx, tile->index, tile->region->parent, map);
    know(pass, OP_grid_dim, tile->extent, tile->region->parent, map);
}

void persistent_end(const PersistentTile *tile, PipelineState at)
{
    if (!tile->yield) return;
    op_set_operand(tile->yield, tile->yield_at, at.stage);
    op_set_operand(tile->yield, tile->yield_at + 1, at.parity);
}
