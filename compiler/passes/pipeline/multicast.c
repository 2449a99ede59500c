/* multicast.c: clusters of two blocks, neighbours along x, which need the same part of an operand:
 * each copies half of it, to both, as CUTLASS's loops with TMA multicast do.
 *
 * Only where the grid is even along x do both need the same: elsewhere each copies all of it for
 * itself, and gives its own stages back twice, so that the barriers' counts are always the same. */
#include "passes/pipeline/multi_buffer.h"

#include "ir/rebuild.h"

void pairs_begin(Pipeline *pipeline, Builder *builder)
{
    const Op *launch = pipeline->pass->launch->parent;
    Kernel *kernel = pipeline->pass->kernel;
    const Type *i32 = type_scalar(kernel->types, DTYPE_i32);
    Map map = {0};
    Value *along = value_copy_slice(builder, operand(launch, x), kernel->host, &map);
    along = build_cast(builder, DTYPE_i32, along);
    Value *odd = build2(builder, OP_rem, along, build_const(builder, DTYPE_i32, pipeline->cluster));
    pipeline->paired = build_cmp(builder, "eq", odd, build_const(builder, DTYPE_i32, 0));
    pipeline->rank = &build_op(builder, OP_cluster_rank, 0, NULL, 1, &i32)->results[0];
}

Value *pairs_other(const Pipeline *pipeline, Builder *builder)
{
    Value *other = build2(builder, OP_sub, build_const(builder, DTYPE_i32, 1), pipeline->rank);
    return build3(builder, OP_select, pipeline->paired, other, pipeline->rank);
}

void pairs_meet(Builder *builder)
{
    op_set_int(build_op(builder, OP_cluster_arrive, 0, NULL, 0, NULL), ATTR_made, 1);
    build_op(builder, OP_cluster_wait, 0, NULL, 0, NULL);
}

/* A half of the stage. */
static Value *half_stage(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                         Value *stage, Value *begin)
{
    const Type *tile = buffer->alloc->results[0].type;
    const Type *type = type_with_extent(pipeline->pass->kernel->types, tile, buffer->half,
                                        tile->shape[buffer->half] / pipeline->cluster);
    Value *half = multi_buffer_view(builder, buffer->stages, stage, type);
    op_set_operand(half->op, operand_index(half->op, offsets) + 1 + buffer->half, begin);
    return half;
}

/* `blocks`: to which, a bit each. */
static void copy_half(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                      Value *which, Value *blocks, Value *const filled[2], const Region *region,
                      Map *map)
{
    const Access access = access_of(buffer->copy);
    const int64_t extent = buffer->alloc->results[0].type->shape[buffer->half] / pipeline->cluster;
    Value *begin = build2(builder, OP_mul, which, build_const(builder, DTYPE_i32, extent));
    Op *begun = multi_buffer_copy(pipeline, builder, buffer, filled, blocks, region, map);
    Builder before = builder_before(begun);
    op_set_operand(begun, operand_index(begun, tile),
                   half_stage(pipeline, &before, buffer, filled[1], begin));
    for (int d = 0; d < access.rank; d++) {
        Value *offset = operand_list(begun, offsets)[d];
        if (access.tile_dim[d] == buffer->half)
            op_set_operand(
                begun, operand_index(begun, offsets) + d,
                build2(&before, OP_add, offset, build_cast(&before, offset->type->dtype, begin)));
    }
}

void pairs_copy(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                Value *const filled[2], const Region *region, Map *map)
{
    Value *own = build2(builder, OP_shl, build_const(builder, DTYPE_i32, 1), pipeline->rank);
    Value *both = build_const(builder, DTYPE_i32, (1 << pipeline->cluster) - 1);
    copy_half(pipeline, builder, buffer, pipeline->rank,
              build3(builder, OP_select, pipeline->paired, both, own), filled, region, map);
    Op *branch = build_branch(builder, pipeline->paired);
    Builder alone = builder_before(branch->regions[1]->last);
    Value *rest = build2(&alone, OP_sub, build_const(&alone, DTYPE_i32, 1), pipeline->rank);
    copy_half(pipeline, &alone, buffer, rest, own, filled, region, map);
}
