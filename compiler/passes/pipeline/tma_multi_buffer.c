/* tma_multi_buffer.c: a loop whose multi-buffers TMA fills, told by one of the threads that
 * compute:
 *
 *     for s below the iterations ahead: begin the copies of iteration s, if there is one
 *     for each iteration k: barrier, behind which the stage is free that was read last; begin
 *         the copies of the iteration that comes there, if there is one; wait until stage
 *         k mod n is filled; the rest of the body
 */
#include "passes/pipeline/multi_buffer.h"

#include "passes/analysis/loop.h"
#include "ir/rebuild.h"

enum { STAGE_FILLED = STAGE_LAST /* the parity of the stage that is read */ };

/* The copies of the iteration so many behind the one with this index, if there is one. */
static void begin_iteration(const Pipeline *pipeline, Builder *builder, Value *index,
                            int iterations, Value *const filled[2])
{
    const Region *body = pipeline->loop->regions[0];
    Value *later = loop_ahead(builder, index, operand(pipeline->loop, step), iterations);
    Value *exists = loop_has_iteration(pipeline->loop, builder, index, iterations, later);
    Builder inside = builder_before(build_branch(builder, exists)->regions[0]->last);
    Map map = {0};
    map_set(pipeline->pass->arena, &map, body->arguments[0], later);
    multi_buffer_copy_by_tensor(pipeline, &inside, filled, body, &map);
}

static void begin_first_iterations(const Pipeline *pipeline, Value *barriers)
{
    Builder builder = builder_before(pipeline->loop);
    for (int iteration = 0; iteration < pipeline->ahead; iteration++) {
        Value *filled[2] = {barriers, build_const(&builder, DTYPE_i32, iteration)};
        begin_iteration(pipeline, &builder, operand(pipeline->loop, begin), iteration, filled);
    }
}

static void carry(Pipeline *pipeline, Value *arguments[STAGE_VALUES])
{
    const int stages[STAGE_VALUES] = {0, pipeline->stages - 1, pipeline->ahead, [STAGE_FILLED] = 0};
    Builder builder = builder_before(pipeline->loop);
    Value *first[STAGE_VALUES];
    for (int i = 0; i < STAGE_VALUES; i++) first[i] = build_const(&builder, DTYPE_i32, stages[i]);
    multi_buffer_carry(pipeline, first, arguments);
}

void fill(Pipeline *pipeline)
{
    Value *arguments[STAGE_VALUES], *is_last;
    Builder before = builder_before(pipeline->loop);
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        multi_buffer_make_stages(pipeline, &before, &pipeline->buffers.data[i]);
    before.span = pipeline->loop->span;
    Value *barriers = multi_buffer_make_barriers(pipeline, &before);
    begin_first_iterations(pipeline, barriers);
    carry(pipeline, arguments);
    Region *body = pipeline->loop->regions[0];
    Builder start = builder_before(body->first), end = builder_before(region_terminator(body));
    build_op(&start, OP_barrier, 0, NULL, 0, NULL);
    begin_iteration(pipeline, &start, body->arguments[0], pipeline->ahead,
                    (Value *const[2]){barriers, arguments[STAGE_FREE]});
    Value *read = arguments[STAGE_READ], *parity = arguments[STAGE_FILLED];
    Op *take = build_op(&start, OP_consumer_wait, 3, (Value *[]){barriers, read, parity}, 0, NULL);
    op_set_int(take, ATTR_tma, 1);
    Value *next = multi_buffer_next(pipeline, &end, read, &is_last);
    multi_buffer_yield(pipeline,
                       (Value *const[STAGE_VALUES]){
                           [STAGE_READ] = next,
                           [STAGE_BEFORE] = read,
                           [STAGE_FREE] = pipeline->open ? arguments[STAGE_BEFORE] : read,
                           [STAGE_FILLED] = multi_buffer_next_parity(&end, parity, is_last)});
    multi_buffer_move_uses(pipeline, arguments);
    if (pipeline->open) multi_buffer_leave_in_flight(pipeline);
}
