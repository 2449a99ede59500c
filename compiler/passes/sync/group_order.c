/* group_order.c: what one thread group writes last and another one reads last; needs and leaves a
 * TYPED kernel in SSA.
 *
 * Groups beside each other are ordered by the author's mbarriers (sync.c). What a group writes
 * behind all of its arrivals it tells nobody: a group behind it that reads that tile has it only if
 * the other happened to be sooner. The text is read from its beginning to its end, so an mbarrier
 * of one phase is put there: the writer's threads arrive behind the last such write, and a reader
 * waits before its first such read. Who writes waits for nobody, and who reads has nothing left to
 * tell, so that nobody waits for ever. */
#include "ir/group.h"
#include "ir/op_vec.h"
#include "passes/analysis/access.h"
#include "passes/pass.h"

/* Others may wait for it. */
static bool tells(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, ARRIVES | RELEASES | BLOCKS | PIPELINE_BARRIER | TMA);
}

/* The last op of the group that others may wait for is in it; NULL: none is. */
static const Op *last_told(const Op *group)
{
    const Op *last = NULL;
    for (Op *op = group->regions[0]->first; op; op = op_next(op))
        if (op_find_within(op, tells, NULL)) last = op;
    return last;
}

/* The group of the launch's region that the op is in. */
static Op *group_of(const Region *launch, const Op *op)
{
    Op *around = region_find_ancestor(launch, op);
    return around && is_group(around) ? around : NULL;
}

/* The op of the group's region that the op is in, where nobody is told after it. */
static Op *place_in(const Op *group, const Op *op, const Op *told)
{
    Op *place = region_find_ancestor(group->regions[0], op);
    return place && (!told || op_comes_before(told, place)) ? place : NULL;
}

typedef struct Uses {
    OpVec writes, reads;
} Uses;

typedef struct Tiles {
    Arena *arena;
    Map uses; /* shared_alloc ops to their Uses */
} Tiles;

static void note_use(const Tiles *tiles, Op *op, const Value *shared)
{
    Uses *uses = map_get(&tiles->uses, shared_root(shared));
    if (!uses) return;
    if (op_has(op, WRITES) && !(uses->writes.count && vec_last(&uses->writes) == op))
        vec_push(tiles->arena, &uses->writes, op);
    if (op_has(op, READS) && !(op_has(op, STORES) && !op_has(op, ATOMIC)) &&
        !(uses->reads.count && vec_last(&uses->reads) == op))
        vec_push(tiles->arena, &uses->reads, op);
}

/* The group that alone writes the tile, by stores that are done when its threads arrive, and by
 * none before it was last waited for; `last` is behind them all. */
static Op *only_writer(const Region *launch, const Uses *uses, Op **last)
{
    Op *writer = uses->writes.count ? group_of(launch, uses->writes.data[0]) : NULL;
    if (!writer || region_has(writer->regions[0], OP_while)) return NULL;
    const Op *told = last_told(writer);
    for (size_t i = 0; i < uses->writes.count; i++) {
        const Op *write = uses->writes.data[i];
        Op *place = group_of(launch, write) == writer ? place_in(writer, write, told) : NULL;
        if (!place || !op_has(write, STORES) || op_has(write, ATOMIC | ASYNC)) return NULL;
        if (!*last || op_comes_before(*last, place)) *last = place;
    }
    return writer;
}

/* What waits, in `reader`: before the first of its reads; NULL: not all are behind what it tells.
 */
static Op *first_read(const Region *launch, const Uses *uses, const Op *reader)
{
    Op *first = NULL;
    const Op *told = last_told(reader);
    for (size_t i = 0; i < uses->reads.count; i++) {
        if (group_of(launch, uses->reads.data[i]) != reader) continue;
        Op *place = place_in(reader, uses->reads.data[i], told);
        if (!place) return NULL;
        if (!first || op_comes_before(place, first)) first = place;
    }
    return first;
}

/* An mbarrier with the author's own, before the barrier by which all know of them. */
static Value *make_mbarrier(Op *first_init, int64_t count)
{
    const int64_t shape[1] = {1};
    Builder builder = builder_before(first_init);
    const Type *type = type_shared(builder.kernel->types, DTYPE_i64, 1, shape, NULL);
    Value *row = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &type)->results;
    op_set_ints(build_op(&builder, OP_mbarrier_init, 1, &row, 0, NULL), ATTR_counts, 1, &count);
    return row;
}

static Op *first_init(const Region *launch)
{
    Op *op = launch->first;
    while (op && op->code != OP_mbarrier_init) op = op_next(op);
    return op;
}

static void order_tile(Region *launch, const Uses *uses)
{
    Op *last = NULL, *init = first_init(launch), *writer = only_writer(launch, uses, &last);
    Value *row = NULL;
    if (!writer || !init) return;
    for (Op *reader = op_next(writer); reader; reader = op_next(reader)) {
        if (!op_has(reader, PURE | ALLOCATES) && !is_group(reader)) break; /* all meet there */
        Op *read = is_group(reader) ? first_read(launch, uses, reader) : NULL;
        if (!read) continue;
        if (!row) row = make_mbarrier(init, group_threads(writer).count);
        Builder wait = builder_before(read);
        Value *zero = build_const(&wait, DTYPE_i32, 0);
        build_op(&wait, OP_mbarrier_wait, 3, (Value *[]){row, zero, zero}, 0, NULL);
    }
    if (!row) return;
    Builder arrive = builder_after(last);
    Value *zero = build_const(&arrive, DTYPE_i32, 0);
    build_op(&arrive, OP_mbarrier_arrive, 2, (Value *[]){row, zero}, 0, NULL);
}

static void order_launch(Arena *arena, Region *launch)
{
    Tiles tiles = {.arena = arena};
    const OpVec allocs = region_list_those(arena, launch, OP_shared_alloc);
    Uses *uses = arena_new_array(arena, Uses, allocs.count);
    for (size_t i = 0; i < allocs.count; i++) map_set(arena, &tiles.uses, allocs.data[i], &uses[i]);
    region_each (op, launch)
        for (int i = 0; i < op->operand_count && !op_has(op, PURE); i++)
            if (op->operands[i]->type->kind == TYPE_SHARED) note_use(&tiles, op, op->operands[i]);
    for (size_t i = 0; i < allocs.count; i++) order_tile(launch, &uses[i]);
}

bool pass_group_order(Kernel *kernel, PassContext *context)
{
    kernel_each_launch (op, kernel)
        if (region_has(launch_region(op), OP_mbarrier_init))
            order_launch(context->arena, launch_region(op));
    return true;
}
