/* warp_groups.c: warps of their own that fill the rings of a loop, beside those that the author
 * asked for, which then do nothing but compute:
 *
 *     producers: for each round k: wait until slot k mod n was given back; begin its copies, which
 *         arrive at the slot's barrier when they have landed
 *     consumers: all that the author wrote, with the loop as: wait until slot k mod n is filled;
 * the round's work; give back the slot of the round, or, while a product is still under way, that
 *         of the round before
 *
 * No thread waits for all others, and copies are ahead as far as there are slots. The producers
 * begin at once: so what they read must not be written before the loop. */
#include "passes/ring.h"

#include "passes/group.h"
#include "passes/rebuild.h"

enum {
    WARP = 32,
    MOST_THREADS = 512,
    COPY_BYTES = 16,
    COPIES = 32 /* by a thread a round */
};

/* ---- whether ---- */

static bool is_known(const Pipeline *pipeline, const Value *value)
{
    if (!value->op) return !value->region || value == pipeline->loop->regions[0]->arguments[0];
    if (!ring_is_inside(value->op, pipeline->pass->launch)) return true;
    const unsigned traits = op_info(value->op->code)->traits;
    if (value->op->region_count || !(traits & PURE) || traits & COOP) return false;
    for (int i = 0; i < value->op->operand_count; i++)
        if (!is_known(pipeline, value->op->operands[i])) return false;
    return true;
}

/* Each thread could find out by itself where each round copies from. */
static bool are_known(const Pipeline *pipeline)
{
    for (int i = 0; i < 3; i++)
        if (!is_known(pipeline, pipeline->loop->operands[i])) return false;
    for (size_t r = 0; r < pipeline->rings.count; r++) {
        const Op *copy = pipeline->rings.data[r].copy;
        for (int i = 0; i < copy->operand_count; i++)
            if (i != 1 && !is_known(pipeline, copy->operands[i])) return false;
    }
    return true;
}

/* What comes before the loop writes nothing that it may copy. */
static bool starts_freely(const Pipeline *pipeline)
{
    for (const Op *op = pipeline->loop->previous; op; op = op->previous) {
        const bool writes = (op_info(op->code)->traits & WRITES) != 0;
        if (op->region_count || (writes && op->code != OP_shared_alloc && op->code != OP_assume &&
                                 op->code != OP_shared_store && op->code != OP_anchor))
            return false;
    }
    return true;
}

static void find_group(Op *op, void *context)
{
    if (op->code == OP_in_group) *(bool *)context = true;
}

static int consumers_of(const Pipeline *pipeline)
{
    return WARP * launch_warps(pipeline->pass->launch->parent);
}

static int64_t bytes_of_round(const Pipeline *pipeline)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < pipeline->rings.count; i++) {
        const Type *tile = pipeline->rings.data[i].alloc->results[0].type;
        bytes += type_bytes(tile);
    }
    return bytes;
}

/* No second block has room beside this one: blocks that have cover for each other, and more threads
 * would only take their registers. */
static bool is_alone(const Pipeline *pipeline)
{
    return 2 * pipeline->stages * bytes_of_round(pipeline) > pipeline->pass->target->shared_bytes;
}

/* As few as have not more than COPIES a round to begin each. */
static int producers_of(const Pipeline *pipeline)
{
    const int64_t bytes = bytes_of_round(pipeline);
    int threads = WARP;
    while ((int64_t)threads * COPIES * COPY_BYTES < bytes && threads < 4 * WARP) threads *= 2;
    return threads;
}

bool can_split(const Pipeline *pipeline)
{
    bool grouped = false;
    if (pipeline->loop->parent != pipeline->pass->launch || !is_alone(pipeline)) return false;
    for (size_t i = 0; i < pipeline->rings.count; i++)
        if (pipeline->rings.data[i].is_shared) return false;
    region_visit(pipeline->pass->launch, find_group, &grouped);
    return !grouped && consumers_of(pipeline) + producers_of(pipeline) <= MOST_THREADS &&
           are_known(pipeline) && starts_freely(pipeline);
}

/* ---- the groups ---- */

static Region *build_group(Builder *builder, int begin, int count)
{
    const Type *boolean = type_scalar(builder->kernel->types, DTYPE_b1);
    Op *test = build_op(builder, OP_in_group, 0, NULL, 1, &boolean);
    op_set_int(test, ATTR_begin, begin);
    op_set_int(test, ATTR_count, count);
    Value *inside = &test->results[0];
    Op *group = build_op(builder, OP_if, 1, &inside, 0, NULL);
    for (int i = 0; i < 2; i++) {
        Builder end = builder_at_end(group->regions[i], builder->span);
        build_op(&end, OP_yield, 0, NULL, 0, NULL);
    }
    return group->regions[0];
}

static Value *build_barriers(const Pipeline *pipeline, Builder *builder)
{
    const int64_t shape[2] = {2, pipeline->stages};
    const Type *type = type_shared(pipeline->pass->kernel->types, DTYPE_i64, 2, shape, NULL);
    Value *barriers = &build_op(builder, OP_shared_alloc, 0, NULL, 1, &type)->results[0];
    Op *init = build_op(builder, OP_slot_init, 1, &barriers, 0, NULL);
    op_set_int(init, ATTR_count, producers_of(pipeline));
    op_set_int(init, ATTR_warps, consumers_of(pipeline) / WARP);
    build_op(builder, OP_barrier, 0, NULL, 0, NULL);
    return barriers;
}

/* The parity changes with every lap. */
static Value *next_parity(Builder *builder, Value *parity, Value *is_last)
{
    Value *other = build2(builder, OP_sub, build_const(builder, DTYPE_i32, 1), parity);
    return build3(builder, OP_select, is_last, other, parity);
}

/* ---- producers ---- */

/* What a round needs from before the loop is copied to before the producers' loop. */
static void copy_known(const Pipeline *pipeline, Builder *builder, Value *value, Map *map)
{
    const Region *body = pipeline->loop->regions[0];
    if (!value->op) return;
    if (!ring_is_inside(value->op, body)) {
        ring_copy_slice(builder, value, pipeline->pass->launch, map);
        return;
    }
    for (int i = 0; i < value->op->operand_count; i++)
        copy_known(pipeline, builder, value->op->operands[i], map);
}

static void copy_ring(const Pipeline *pipeline, Builder *builder, const Ring *ring, Value *slot,
                      Map *map)
{
    Value *operands[2 + TYPE_RANK];
    const Op *copy = ring->copy;
    builder->span = copy->span;
    for (int o = 0; o < copy->operand_count; o++)
        operands[o] =
            o == 1 ? ring_slot(pipeline, builder, ring, slot)
                   : ring_copy_slice(builder, copy->operands[o], pipeline->pass->launch, map);
    Op *begun = build_op(builder, OP_copy_async, copy->operand_count, operands, 0, NULL);
    begun->attrs = copy->attrs;
    begun->attr_count = copy->attr_count;
    op_set_int(begun, ATTR_stages, pipeline->stages);
    op_set_int(begun, ATTR_ring, 1);
}

/* The producers' loop, with the slot and the parity after its index; `map` gets what it needs. */
static Op *build_rounds(const Pipeline *pipeline, Builder *builder, Map *map)
{
    const Op *loop = pipeline->loop;
    const Type *i32 = type_scalar(pipeline->pass->kernel->types, DTYPE_i32);
    Value *operands[5];
    for (int i = 0; i < 3; i++)
        operands[i] = ring_copy_slice(builder, loop->operands[i], pipeline->pass->launch, map);
    for (size_t r = 0; r < pipeline->rings.count; r++) {
        const Op *copy = pipeline->rings.data[r].copy;
        for (int i = 0; i < copy->operand_count; i++)
            if (i != 1) copy_known(pipeline, builder, copy->operands[i], map);
    }
    operands[3] = build_const(builder, DTYPE_i32, 0);
    operands[4] = build_const(builder, DTYPE_i32, 1);
    Op *rounds = build_op(builder, OP_for, 5, operands, 2, (const Type *[]){i32, i32});
    op_set_int(rounds, ATTR_unroll, 1);
    region_add_argument(rounds->regions[0], loop->operands[0]->type, NULL);
    for (int i = 0; i < 2; i++) region_add_argument(rounds->regions[0], i32, NULL);
    return rounds;
}

static void build_producers(const Pipeline *pipeline, Region *region, Value *barriers)
{
    const Op *loop = pipeline->loop;
    Builder builder = builder_before(region->last);
    Map map = {0};
    builder.span = loop->span;
    Region *body = build_rounds(pipeline, &builder, &map)->regions[0];
    Value *slot = body->arguments[1], *parity = body->arguments[2], *is_last;
    map_set(pipeline->pass->arena, &map, loop->regions[0]->arguments[0], body->arguments[0]);
    Builder inside = builder_at_end(body, loop->span);
    build_op(&inside, OP_slot_claim, 3, (Value *[]){barriers, slot, parity}, 0, NULL);
    for (size_t r = 0; r < pipeline->rings.count; r++)
        copy_ring(pipeline, &inside, &pipeline->rings.data[r], slot, &map);
    build_op(&inside, OP_slot_fill, 2, (Value *[]){barriers, slot}, 0, NULL);
    Value *next[2] = {ring_next(pipeline, &inside, slot, &is_last), NULL};
    next[1] = next_parity(&inside, parity, is_last);
    build_op(&inside, OP_yield, 2, next, 0, NULL);
    build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL);
}

/* ---- consumers ---- */

/* Gives back what was read in the round before while this round's product is under way. */
static void build_give(const Pipeline *pipeline, Value *barriers, Value *const arguments[SLOTS])
{
    const Op *loop = pipeline->loop;
    Builder builder = builder_before(region_terminator(loop->regions[0]));
    Value *slot = arguments[pipeline->open ? SLOT_BEFORE : SLOT_READ];
    Value *given = pipeline->open ? build_cmp(&builder, "ne", loop->regions[0]->arguments[0],
                                              loop->operands[0])
                                  : build_const(&builder, DTYPE_b1, 1);
    build_op(&builder, OP_slot_give, 3, (Value *[]){barriers, slot, given}, 0, NULL);
}

static void build_consumers(Pipeline *pipeline, Value *barriers)
{
    Value *arguments[SLOTS], *is_last;
    ring_carry(pipeline, (const int[SLOTS]){[SLOT_BEFORE] = pipeline->stages - 1}, arguments);
    Region *body = pipeline->loop->regions[0];
    Value *read = arguments[SLOT_READ], *parity = arguments[SLOT_PARITY];
    Builder start = builder_before(body->first);
    build_op(&start, OP_slot_take, 3, (Value *[]){barriers, read, parity}, 0, NULL);
    ring_move_uses(pipeline, arguments);
    Builder end = builder_before(region_terminator(body));
    Value *next = ring_next(pipeline, &end, read, &is_last);
    Value *carried[SLOTS] = {[SLOT_READ] = next, [SLOT_BEFORE] = read, [SLOT_LAST] = read};
    carried[SLOT_PARITY] = next_parity(&end, parity, is_last);
    ring_yield(pipeline, carried);
    if (pipeline->open) ring_leave_open(pipeline);
    build_give(pipeline, barriers, arguments);
}

void split(Pipeline *pipeline)
{
    Region *launch = pipeline->pass->launch;
    Op *first = launch->first, *next;
    const int consumers = consumers_of(pipeline), producers = producers_of(pipeline);
    Builder builder = builder_before(first);
    for (size_t i = 0; i < pipeline->rings.count; i++) {
        Ring *ring = &pipeline->rings.data[i];
        ring_make_slots(pipeline, &builder, ring);
        op_set_int(ring->slots->op, ATTR_ring, 1);
    }
    builder.span = pipeline->loop->span;
    Value *barriers = build_barriers(pipeline, &builder);
    build_producers(pipeline, build_group(&builder, consumers, producers), barriers);
    Region *all = build_group(&builder, 0, consumers);
    for (Op *op = first; op; op = next) {
        next = op->next;
        op_move_before(op, all->last);
    }
    build_consumers(pipeline, barriers);
    op_set_int(launch->parent, ATTR_warps, (consumers + producers) / WARP);
}
