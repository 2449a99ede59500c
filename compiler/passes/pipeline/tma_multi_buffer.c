/* tma_multi_buffer.c: a loop whose rings the tensor unit fills, told by one of the threads that
 * compute:
 *
 *     for s below the rounds ahead: begin the copies of round s, if there is such a round
 *     for each round k: barrier, behind which the slot is free that was read last; begin the copies
 *         of the round that comes there, if there is one; wait until slot k mod n is filled; the
 *         rest of the body
 */
#include "passes/pipeline/multi_buffer.h"

#include "passes/analysis/loop.h"
#include "ir/rebuild.h"

enum { SLOT_FILLED = SLOT_LAST /* the parity of what is read */ };

/* The copies of the round so many behind the one with this index, if there is one. */
static void begin_round(const Pipeline *pipeline, Builder *builder, Value *index, int rounds,
                        Value *const filled[2])
{
    const Region *body = pipeline->loop->regions[0];
    Value *later = loop_ahead(builder, index, pipeline->loop->operands[2], rounds);
    Value *exists = loop_has_round(pipeline->loop, builder, index, rounds, later);
    Builder inside = builder_before(build_branch(builder, exists)->regions[0]->last);
    Map map = {0};
    map_set(pipeline->pass->arena, &map, body->arguments[0], later);
    ring_copy_by_tensor(pipeline, &inside, filled, body, &map);
}

static void begin_first_rounds(const Pipeline *pipeline, Value *barriers)
{
    Builder builder = builder_before(pipeline->loop);
    for (int round = 0; round < pipeline->ahead; round++) {
        Value *filled[2] = {barriers, build_const(&builder, DTYPE_i32, round)};
        begin_round(pipeline, &builder, pipeline->loop->operands[0], round, filled);
    }
}

static void carry(Pipeline *pipeline, Value *arguments[SLOTS])
{
    const int slots[SLOTS] = {0, pipeline->stages - 1, pipeline->ahead, [SLOT_FILLED] = 0};
    Builder builder = builder_before(pipeline->loop);
    Value *first[SLOTS];
    for (int i = 0; i < SLOTS; i++) first[i] = build_const(&builder, DTYPE_i32, slots[i]);
    ring_carry(pipeline, first, arguments);
}

void fill(Pipeline *pipeline)
{
    Value *arguments[SLOTS], *is_last;
    Builder before = builder_before(pipeline->loop);
    for (size_t i = 0; i < pipeline->rings.count; i++)
        ring_make_slots(pipeline, &before, &pipeline->rings.data[i]);
    before.span = pipeline->loop->span;
    Value *barriers = ring_make_barriers(pipeline, &before);
    begin_first_rounds(pipeline, barriers);
    carry(pipeline, arguments);
    Region *body = pipeline->loop->regions[0];
    Builder start = builder_before(body->first), end = builder_before(region_terminator(body));
    build_op(&start, OP_barrier, 0, NULL, 0, NULL);
    begin_round(pipeline, &start, body->arguments[0], pipeline->ahead,
                (Value *const[2]){barriers, arguments[SLOT_FREE]});
    Value *read = arguments[SLOT_READ], *parity = arguments[SLOT_FILLED];
    Op *take = build_op(&start, OP_slot_take, 3, (Value *[]){barriers, read, parity}, 0, NULL);
    op_set_int(take, ATTR_tensor, 1);
    Value *next = ring_next(pipeline, &end, read, &is_last);
    ring_yield(pipeline,
               (Value *const[SLOTS]){[SLOT_READ] = next,
                                     [SLOT_BEFORE] = read,
                                     [SLOT_FREE] = pipeline->open ? arguments[SLOT_BEFORE] : read,
                                     [SLOT_FILLED] = ring_next_parity(&end, parity, is_last)});
    ring_move_uses(pipeline, arguments);
    if (pipeline->open) ring_leave_open(pipeline);
}
