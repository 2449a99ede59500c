/* warp_specialize.c: warps of their own that fill the multi-buffers of a loop, beside those that
 * the author asked for, which then do nothing but compute:
 *
 *     producers: for each iteration k: wait until stage k mod n was released; begin its copies,
 *         which arrive at the stage's barrier when they have landed
 *     consumers: all that the author wrote, with the loop as: wait until stage k mod n is
 *         filled; the iteration's work; release the stage of the iteration, or, while a product
 *         is still in flight, that of the iteration before
 *
 * Where TMA can do the copies, the producer is one thread, which says how many bytes
 * are to land. Else producers copy with each of their threads.
 *
 * No thread waits for all others, and copies are ahead as far as there are stages. The producers
 * begin at once: so what they read must not be written before the loop. */
#include "passes/pipeline/plan.h"

#include "passes/layout/matrix.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/analysis/trend.h"
#include "ir/rebuild.h"

/* ---- whether ---- */

static ValueAnswer is_unknown(const Value *value, void *context)
{
    const Pipeline *pipeline = context;
    if (!value->op)
        return !value->region || value == pipeline->loop->regions[0]->arguments[0] ||
                       nest_counts(pipeline, value)
                   ? VALUE_ENOUGH
                   : VALUE_FOUND;
    if (!multi_buffer_is_inside(value->op, pipeline->pass->launch)) return VALUE_ENOUGH;
    if (is_steady_load(pipeline->pass, value->op)) return VALUE_OPERANDS;
    return value->op->region_count || !op_has(value->op, PURE) || op_has(value->op, COOP)
               ? VALUE_FOUND
               : VALUE_OPERANDS;
}

bool is_known(const Pipeline *pipeline, const Value *value)
{
    return !value_finds(value, is_unknown, (Pipeline *)(uintptr_t)pipeline);
}

/* Each thread could find out by itself where each iteration copies from. */
static bool are_known(const Pipeline *pipeline)
{
    for (int i = 0; i < 3; i++)
        if (!is_known(pipeline, pipeline->loop->operands[i])) return false;
    for (size_t r = 0; r < pipeline->buffers.count; r++) {
        const Op *copy = pipeline->buffers.data[r].copy;
        for (int i = 0; i < copy->operand_count; i++)
            if (i != operand_index(copy, tile) && !is_known(pipeline, copy->operands[i]))
                return false;
    }
    return true;
}

/* What comes before the loop writes nothing that it may copy; `copies`: there may be copies to
 * shared memory. */
static bool starts_freely(const Pipeline *pipeline, bool copies)
{
    const Op *first = pipeline->loop;
    while (first->parent != pipeline->pass->launch) first = first->parent->parent;
    for (const Op *op = first->previous; op; op = op->previous) {
        const bool writes = (op_info(op->code)->traits & WRITES) != 0;
        if (op->region_count || (writes && op->code != OP_shared_alloc && op->code != OP_assume &&
                                 op->code != OP_shared_store && op->code != OP_anchor &&
                                 !(copies && op->code == OP_copy)))
            return false;
    }
    return true;
}

static int consumers_of(const Pipeline *pipeline)
{
    return WARP_SIZE * launch_warps(pipeline->pass->launch->parent);
}

static int64_t bytes_of_iteration(const Pipeline *pipeline)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < pipeline->buffers.count; i++) {
        const Type *tile = pipeline->buffers.data[i].alloc->results[0].type;
        bytes += type_bytes(tile);
    }
    return bytes;
}

/* No second block has room beside this one: blocks that have cover for each other, and more threads
 * would only take their registers. */
static bool is_alone(const Pipeline *pipeline)
{
    return 2 * pipeline->stages * bytes_of_iteration(pipeline) >
           pipeline->pass->target->shared_bytes;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The one warp that has TMA copy costs no block its place on the multiprocessor, by its
 * registers. */
static bool costs_nothing(const Pipeline *pipeline, const Op *dot)
{
    const Target *target = pipeline->pass->target;
    const int threads = consumers_of(pipeline);
    const int64_t each = type_elements(dot->results[0].type) / threads + COST_OTHER_REGISTERS,
                  room = target->shared_bytes / (pipeline->stages * bytes_of_iteration(pipeline)),
                  before = at_most(room, target->registers / (each * threads)),
                  after = at_most(room, target->registers / (each * (threads + WARP_SIZE)));
    return after >= before;
}

/* Of a thread that computes: its sums, the left operand if it goes through registers, and others.
 */
static int64_t registers_of(const Pipeline *pipeline, const Op *dot)
{
    const int threads = power_of_two_below(consumers_of(pipeline));
    const Type *left = operand(dot, a)->type, *sum = dot->results[0].type;
    const int64_t words = type_elements(left) / threads * dtype_bits(left->dtype) / REGISTER_BITS;
    const bool in_place = wgmma_fits(pipeline->pass->kernel, pipeline->pass->target, dot);
    return type_elements(sum) / threads + (in_place ? 0 : words) + COST_OTHER_REGISTERS;
}

/* Of each thread where a multiprocessor has one such block. */
static int64_t registers_for(const Pipeline *pipeline, int threads)
{
    return cost_registers_per_thread(pipeline->pass->target, (threads + WARP_SIZE - 1) / WARP_SIZE,
                                     1);
}

/* One warp more would leave the others too few registers, which a warpgroup can give away. */
static bool must_set_maxnreg(const Pipeline *pipeline, const Op *dot)
{
    const int consumers = consumers_of(pipeline);
    return target_has(pipeline->pass->target, HAS_SETMAXNREG) && pipeline->by_tensor &&
           is_alone(pipeline) && consumers % WARPGROUP_SIZE == 0 &&
           consumers + WARPGROUP_SIZE <= COST_SPLIT_THREADS &&
           registers_of(pipeline, dot) > registers_for(pipeline, consumers + WARP_SIZE);
}

/* Of each consumer, once producers have given theirs away. */
static int64_t consumer_registers(const Pipeline *pipeline)
{
    const int unit = pipeline->pass->target->register_unit;
    const int64_t left =
        pipeline->pass->target->registers / pipeline->blocks - WARPGROUP_SIZE * SETMAXNREG_LEAST;
    return at_most(left / consumers_of(pipeline) / unit * unit, COST_CONSUMER_REGISTERS);
}

/* One, or as few as have not more than COST_PRODUCER_COPIES a round to begin each. */
static int producers_of(const Pipeline *pipeline)
{
    if (pipeline->by_tensor) return 1;
    const int64_t bytes = bytes_of_iteration(pipeline);
    int threads = WARP_SIZE;
    while ((int64_t)threads * COST_PRODUCER_COPIES * ACCESS_BYTES < bytes &&
           threads < COST_PRODUCER_WARPS * WARP_SIZE)
        threads *= 2;
    return threads;
}

/* As wgmma reads tiles, or row after row. NULL: the extents don't allow that. */
static const Layout *multi_buffer_layout(const Pipeline *pipeline, const MultiBuffer *buffer,
                                         const Type *tile)
{
    LayoutTable *layouts = pipeline->pass->kernel->layouts;
    int32_t shape[TYPE_RANK];
    int order[TYPE_RANK];
    for (int d = 0; d < tile->rank; d++) {
        shape[d] = (int32_t)tile->shape[d];
        order[d] = tile->rank - 1 - d;
    }
    return buffer->is_plain ? layout_row_major(layouts, tile->rank, shape, order)
                            : layout_panels(layouts, tile->rank, shape, dtype_bits(tile->dtype));
}

void multi_buffer_lay_out(const Pipeline *pipeline, MultiBuffer *buffer)
{
    Value *stages = buffer->stages;
    if (!buffer->is_plain) {
        wgmma_lay_out(pipeline->pass->kernel, stages);
        return;
    }
    const Layout *layout = multi_buffer_layout(pipeline, buffer, stages->type);
    stages->type = type_with_layout(pipeline->pass->kernel->types, stages->type, layout);
    op_set_int(stages->op, ATTR_bytes, type_bytes(stages->type));
    op_set_int(stages->op, ATTR_align, TMA_ALIGN);
}

/* Why the multi-buffer's copy cannot be a TMA load; NULL: it can. */
static const char *fault_of_tma(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    const Type *tile = operand(buffer->copy, tile)->type;
    if (!target_has(pipeline->pass->target, HAS_TMA)) return "the architecture has none";
    if (bytes_of_iteration(pipeline) >= MBARRIER_BYTES)
        return "a stage has more bytes than mbarriers count";
    if (tile->rank == 1 && type_bytes(tile) % TMA_ALIGN)
        return "its shared tile has no multiple of 128 bytes";
    return tma_load_fault(analysis_ranges(pipeline->pass->context), buffer->copy,
                          tile->rank <= 2 ? multi_buffer_layout(pipeline, buffer, tile) : NULL);
}

bool is_by_tensor(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    return !fault_of_tma(pipeline, buffer);
}

bool are_by_tensor(const Pipeline *pipeline)
{
    bool all = true;
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        all = all && is_by_tensor(pipeline, &pipeline->buffers.data[i]);
    return all;
}

void multi_buffer_remark_copies(const Pipeline *pipeline, const char *fault)
{
    if (!pipeline->pass->kernel->wants_remarks) return;
    const char *others = are_by_tensor(pipeline) ? fault : "another copy of its loop cannot be one";
    for (size_t i = 0; i < pipeline->buffers.count; i++) {
        const char *own = fault_of_tma(pipeline, &pipeline->buffers.data[i]);
        kernel_remark(pipeline->pass->kernel, pipeline->buffers.data[i].copy->span,
                      "a copy not by TMA load: %s", own ? own : others);
    }
}

/* ---- several blocks in turn ---- */

typedef struct Room {
    FactTable *facts;
    int64_t bytes; /* of shared memory, that others than the multi-buffer take */
    bool marks;    /* stores are told */
} Room;

static int64_t parts_of_store(const Room *room, Op *store)
{
    const Type *tile = operand(store, value)->type;
    if (!tma_store_fits(room->facts, store)) return 0;
    return tile->shape[1] / tma_store_columns(tile) *
           (tile->shape[0] / tma_store_rows(tile, op_threads(store).count));
}

/* Of a tile that is stored by way of shared memory: extents are powers of two there. */
static int64_t bytes_on_the_way(const Type *tile)
{
    int64_t bits = dtype_bits(tile->dtype);
    for (int d = 0; d < tile->rank; d++) {
        int64_t extent = 1;
        while (extent < tile->shape[d]) extent *= 2;
        bits *= extent;
    }
    return bits / 8;
}

static void add_tile_bytes(Op *op, void *context)
{
    Room *room = context;
    if (op->code == OP_shared_alloc) room->bytes += type_bytes(op->results[0].type);
    if (op->code != OP_store) return;
    const Type *tile = operand(op, value)->type;
    const int64_t parts = parts_of_store(room, op);
    const int64_t count = at_most(parts, COST_STORE_BUFFERS);
    if (count && room->marks) op_set_int(op, ATTR_tma, count);
    room->bytes += parts ? type_bytes(tile) / parts * count : bytes_on_the_way(tile);
}

/* The bytes beside the multi-buffer that what else is shared takes; `marks`: stores are told
 * theirs. */
static int64_t bytes_beside(const Pipeline *pipeline, bool marks)
{
    Room room = {.facts = analysis_ranges(pipeline->pass->context),
                 .bytes = COST_SHARED_MARGIN_SPLIT - bytes_of_iteration(pipeline),
                 .marks = marks};
    region_visit(pipeline->pass->launch, add_tile_bytes, &room);
    return room.bytes;
}

/* The multi-buffer's stages are in use while a block's end, which goes through shared memory, is at
 * work. Stages that leave no room for that are given up, but for as many as it takes. */
static bool has_room(Pipeline *pipeline)
{
    int stages = pipeline->stages;
    const int64_t most = pipeline->pass->target->shared_bytes - bytes_beside(pipeline, false);
    while (stages > COST_STAGES_ENOUGH && stages * bytes_of_iteration(pipeline) > most) stages--;
    if (stages * bytes_of_iteration(pipeline) > most) return false;
    bytes_beside(pipeline, true);
    pipeline->stages = stages;
    return true;
}

/* As many blocks have room if what a block's end takes is not that of stages. */
static bool is_room_beside(const Pipeline *pipeline)
{
    const int64_t all = pipeline->pass->target->shared_bytes,
                  buffer = pipeline->stages * bytes_of_iteration(pipeline);
    return all / buffer == all / (buffer + bytes_beside(pipeline, false));
}

static ValueAnswer is_key(const Value *value, void *context)
{
    const Parameter *parameter = kernel_parameter_of(context, value);
    return parameter && parameter->is_key ? VALUE_FOUND : VALUE_OPERANDS;
}

/* Blocks find the grid's extents themselves, and do not see keys. */
static bool has_known_grid(const Pass *pass, const Op *launch)
{
    for (int d = 0; d < 3; d++)
        if (value_finds(launch->operands[d], is_key, pass->kernel)) return false;
    return true;
}

/* Why blocks do not do the work of several; NULL: they can. */
static const char *fault_of_turns(Pipeline *pipeline)
{
    const Op *launch = pipeline->pass->launch->parent;
    if (!pipeline->by_tensor) return "not all copies are TMA loads";
    if (launch_is_cluster_or_cooperative(launch)) return "the launch is a cluster, or cooperative";
    if (!persistent_may_differ(launch)) return "they wait for others, or the author orders them";
    if (!has_known_grid(pipeline->pass, launch)) return "their number depends on keys";
    return has_room(pipeline) ? NULL : "what ends a block has no room beside the stages";
}

static bool is_persistent(Pipeline *pipeline)
{
    const char *fault = fault_of_turns(pipeline);
    if (fault)
        kernel_remark(pipeline->pass->kernel, pipeline->loop->span,
                      "a loop whose blocks are not persistent: %s", fault);
    return !fault;
}

/* No tile is used outside of the loop, and what is copied is not written before. Groups of threads
 * that the author makes behind the loop are parts of the consumers. */
static const char *fault_of_place(const Pipeline *pipeline, bool copies)
{
    const char *fault = pipeline->nested ? nest_fault(pipeline) : NULL;
    if (fault) return fault;
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        if (pipeline->buffers.data[i].is_shared) return "a shared tile is used outside of the loop";
    return starts_freely(pipeline, copies) ? NULL
                                           : "memory that it copies may be written before the loop";
}

const char *fault_of_fill(const Pipeline *pipeline)
{
    if (pipeline->nested) return "the loop is within another loop or a branch";
    return pipeline->by_tensor ? fault_of_place(pipeline, false) : "not all copies are TMA loads";
}

static const char NO_ROOM[] = "shared memory has no room for stages beside the rest of the block";

/* Whether a producer is worth what it takes; NULL: it is. */
static const char *fault_of_producer(const Pipeline *pipeline, const Op *dot)
{
    if (pipeline->by_tensor)
        return costs_nothing(pipeline, dot)
                   ? NULL
                   : "a producer warp's registers would cost a block on each multiprocessor";
    return is_alone(pipeline) ? NULL : "another block on the multiprocessor covers for this one";
}

const char *fault_of_split(Pipeline *pipeline, const Op *dot)
{
    pipeline->by_tensor = are_by_tensor(pipeline);
    const char *fault = fault_of_place(pipeline, false);
    if (!fault) fault = fault_of_producer(pipeline, dot);
    if (fault) return fault;
    if (consumers_of(pipeline) + producers_of(pipeline) > COST_SPLIT_THREADS)
        return "a block may not have so many threads";
    if (!are_known(pipeline)) return "what is copied depends on what threads compute";
    pipeline->blocks = 1;
    pipeline->sets_maxnreg = must_set_maxnreg(pipeline, dot);
    if (pipeline->nested) return has_room(pipeline) ? NULL : NO_ROOM;
    pipeline->persistent = is_persistent(pipeline);
    pairs_find(pipeline, dot);
    return NULL;
}

/* ---- of a loop with a plan ---- */

/* All that is shared has room beside the multi-buffers, which are in use from tile to tile. */
static bool has_room_by_plan(const Pipeline *pipeline)
{
    Room room = {.facts = analysis_ranges(pipeline->pass->context),
                 .bytes = COST_SHARED_MARGIN_SPLIT +
                          (pipeline->stages - 1) * bytes_of_iteration(pipeline)};
    region_visit(pipeline->pass->launch, add_tile_bytes, &room);
    return room.bytes <= pipeline->pass->target->shared_bytes;
}

const char *fault_of_split_by_plan(Pipeline *pipeline)
{
    pipeline->by_tensor = are_by_tensor(pipeline);
    if (!pipeline->by_tensor) return "not all copies are TMA loads";
    const char *fault = fault_of_place(pipeline, true);
    if (fault) return fault;
    if (consumers_of(pipeline) % WARPGROUP_SIZE ||
        consumers_of(pipeline) + WARP_SIZE > COST_SPLIT_THREADS)
        return "a block has no warp to spare, or no whole warpgroups";
    if (!are_known(pipeline)) return "where it copies from is not known to all threads";
    return !pipeline->nested || has_room_by_plan(pipeline) ? NULL : NO_ROOM;
}

bool can_copy_once(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    const Op *copy = buffer->copy;
    bool can = !fault_of_tma(pipeline, buffer);
    for (int i = 0; i < copy->operand_count; i++)
        can = can && (i == 1 || is_known(pipeline, copy->operands[i]));
    return can;
}

/* Of tiles that are in use in the loop; with `before`, before it, too. Producers fill the stages
 * that early; what is used behind the loop gets the room of stages. */
static int64_t bytes_in_use(const Pipeline *pipeline, bool before)
{
    Map seen = {0};
    int64_t bytes = COST_SHARED_MARGIN_SPLIT;
    for (size_t i = 0; i < pipeline->uses.count; i++) {
        const Op *use = pipeline->uses.data[i];
        if (!multi_buffer_is_inside(use, pipeline->loop->regions[0]) &&
            !(before && use->parent == pipeline->pass->launch &&
              op_comes_before(use, pipeline->loop)))
            continue;
        for (int o = 0; o < use->operand_count; o++) {
            if (use->operands[o]->type->kind != TYPE_SHARED) continue;
            const Op *alloc = shared_root(use->operands[o]);
            if (map_has(&seen, alloc) || multi_buffer_of(pipeline, alloc)) continue;
            map_set(pipeline->pass->arena, &seen, alloc, (void *)(uintptr_t)alloc);
            bytes += type_bytes(alloc->results[0].type);
        }
    }
    return bytes;
}

/* Blocks that a multiprocessor runs at a time: of `more` warps beside the consumers, and bytes of
 * shared memory beside the multi-buffers. */
static int blocks_per_sm(const Pipeline *pipeline, int64_t registers, int more, int64_t beside)
{
    const int64_t buffer = pipeline->stages * bytes_of_iteration(pipeline);
    return cost_blocks_per_sm(pipeline->pass->target, consumers_of(pipeline) / WARP_SIZE + more,
                              (int)registers, buffer + beside);
}

/* What is needed is estimated: for the sake of a second block one unit more is tried. */
static int64_t needed_at_most(const Pipeline *pipeline)
{
    const int more = pipeline->blocks > 1 ? pipeline->pass->target->register_unit : 0;
    return consumer_registers(pipeline) + more;
}

typedef struct Sums {
    int threads;
    int64_t most;
} Sums;

static void look_at_sums(Op *op, void *context)
{
    Sums *sums = context;
    if (op->code != OP_dot) return;
    const int64_t words = type_elements(op->results[0].type) / sums->threads;
    sums->most = words > sums->most ? words : sums->most;
}

/* Of a thread, in registers, of one product. */
static int64_t largest_sums(const Pipeline *pipeline)
{
    Sums sums = {.threads = power_of_two_below(consumers_of(pipeline))};
    region_visit(pipeline->pass->launch, look_at_sums, &sums);
    return sums.most;
}

/* What all threads have at first, a warpgroup of producers among them, must be enough for any one
 * product: ptxas looks no further. */
static bool begins_with_enough(const Pipeline *pipeline)
{
    const int threads = consumers_of(pipeline) + WARPGROUP_SIZE;
    return target_has(pipeline->pass->target, HAS_SETMAXNREG) && threads <= COST_SPLIT_THREADS &&
           cost_registers_per_thread(pipeline->pass->target, threads / WARP_SIZE,
                                     pipeline->blocks) >=
               largest_sums(pipeline) + COST_OTHER_REGISTERS;
}

/* Two blocks of consumers and of a warpgroup that gives its registers away; more would have too
 * few. */
static bool fits_with_warpgroup(const Pipeline *pipeline, int64_t needed, int64_t beside)
{
    const int blocks = pipeline->blocks;
    return blocks == 2 && begins_with_enough(pipeline) && needed <= needed_at_most(pipeline) &&
           blocks_per_sm(pipeline, SETMAXNREG_LEAST, WARPGROUP_SIZE / WARP_SIZE, beside) >= blocks;
}

/* Whether threads read global memory in the loop, which other blocks cover for. */
static bool loads_itself(const Op *loop)
{
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op)) {
        const Value *memory = op_has(op, READS) && op->code != OP_copy ? op_memory(op) : NULL;
        if (memory && memory->type->kind == TYPE_VIEW) return true;
    }
    return false;
}

/* Iterations at most; 0: nothing is known. */
static int64_t most_trips(const Pipeline *pipeline)
{
    FactTable *facts = analysis_ranges(pipeline->pass->context);
    const Facts begin = facts_of(facts, operand(pipeline->loop, begin)),
                end = facts_of(facts, operand(pipeline->loop, end));
    int64_t step = 1;
    value_constant(operand(pipeline->loop, step), &step);
    return end.high < INT32_MAX && begin.low > INT32_MIN ? (end.high - begin.low) / step : 0;
}

/* Copies far ahead, and several warpgroups whose work goes on beside each other, do for a long loop
 * what one more block does for others. */
static bool does_with_fewer(const Pipeline *pipeline, int blocks)
{
    const int64_t trips = most_trips(pipeline);
    return blocks * consumers_of(pipeline) > WARPGROUP_SIZE && !loads_itself(pipeline->loop) &&
           (!trips || trips >= COST_LONG_LOOP);
}

/* Of a grid whose extents are known: the most that a multiprocessor gets at a time. */
static int most_blocks(const Pipeline *pipeline)
{
    const Op *launch = pipeline->pass->launch->parent;
    const int64_t count = pipeline->pass->target->sm_count;
    int64_t blocks = 1, extent;
    for (int d = 0; d < 3; d++) {
        if (!value_constant(launch->operands[d], &extent) || extent > INT32_MAX) return INT32_MAX;
        blocks = at_most(blocks * extent, INT32_MAX);
    }
    return (int)((blocks + count - 1) / count);
}

const char *share_registers(Pipeline *pipeline, int64_t needed)
{
    const int consumers = consumers_of(pipeline);
    const int64_t beside = bytes_in_use(pipeline, true);
    const int blocks = blocks_per_sm(pipeline, needed, 0, bytes_in_use(pipeline, false));
    pipeline->sets_maxnreg = false;
    pipeline->blocks = blocks > 1 ? blocks : 1;
    if (pipeline->blocks == 1) {
        const bool lacks = needed > registers_for(pipeline, consumers + WARP_SIZE);
        pipeline->sets_maxnreg = lacks && begins_with_enough(pipeline);
        return lacks && !pipeline->sets_maxnreg ? "a producer warp leaves threads too few registers"
                                                : NULL;
    }
    const int left = blocks_per_sm(pipeline, needed, 1, beside);
    if (left >= at_most(blocks, most_blocks(pipeline))) return NULL;
    pipeline->sets_maxnreg = fits_with_warpgroup(pipeline, needed, beside);
    return pipeline->sets_maxnreg || does_with_fewer(pipeline, left)
               ? NULL
               : "a producer warp's registers would cost a block on each multiprocessor";
}

int64_t registers_left(const Pipeline *pipeline)
{
    const int consumers = consumers_of(pipeline);
    return pipeline->sets_maxnreg
               ? needed_at_most(pipeline)
               : at_most(registers_for(pipeline, consumers + producers_of(pipeline)),
                         pipeline->pass->target->registers_per_thread);
}

/* ---- the groups ---- */

/* Behind the loop stages are used again. */
static bool goes_on(const Pipeline *pipeline)
{
    return pipeline->persistent || pipeline->nested;
}

static Region *build_group(Builder *builder, int begin, int count)
{
    const Type *boolean = type_scalar(builder->kernel->types, DTYPE_b1);
    Op *test = build_op(builder, OP_in_group, 0, NULL, 1, &boolean);
    op_set_int(test, ATTR_begin, begin);
    op_set_int(test, ATTR_count, count);
    return build_branch(builder, &test->results[0])->regions[0];
}

static Value *make_barriers(const Pipeline *pipeline, Builder *builder)
{
    const int64_t shape[2] = {2, pipeline->stages};
    const Type *type = type_shared(pipeline->pass->kernel->types, DTYPE_i64, 2, shape, NULL);
    Value *barriers = &build_op(builder, OP_shared_alloc, 0, NULL, 1, &type)->results[0];
    Op *init = build_op(builder, OP_pipeline_init, 1, &barriers, 0, NULL);
    op_set_int(init, ATTR_count, producers_of(pipeline));
    op_set_int(init, ATTR_warps, consumers_of(pipeline) / WARP_SIZE * (pipeline->pairs ? 2 : 1));
    return barriers;
}

Value *multi_buffer_make_barriers(const Pipeline *pipeline, Builder *builder)
{
    Value *barriers = make_barriers(pipeline, builder);
    if (pipeline->pairs)
        pairs_meet(builder);
    else
        build_op(builder, OP_barrier, 0, NULL, 0, NULL);
    return barriers;
}

/* The parity changes with every lap. */
Value *multi_buffer_next_parity(Builder *builder, Value *parity, Value *is_last)
{
    Value *other = build2(builder, OP_sub, build_const(builder, DTYPE_i32, 1), parity);
    return build3(builder, OP_select, is_last, other, parity);
}

/* ---- producers ---- */

typedef struct Copying {
    const Pipeline *pipeline;
    Builder *builder;
    Map *map;
} Copying;

static ValueAnswer copy_outside(const Value *value, void *context)
{
    const Copying *to = context;
    if (!value->op) return VALUE_ENOUGH;
    if (multi_buffer_is_inside(value->op, to->pipeline->loop->regions[0])) return VALUE_OPERANDS;
    multi_buffer_copy_slice(to->builder, (Value *)(uintptr_t)value, to->pipeline->pass->launch,
                            to->map);
    return VALUE_ENOUGH;
}

/* What an iteration needs from before the loop is copied to before the producers' loop. */
static void copy_known(const Pipeline *pipeline, Builder *builder, Value *value, Map *map)
{
    value_finds(value, copy_outside, &(Copying){pipeline, builder, map});
}

static void copy_buffer(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                        Value *const stage[2], const Region *region, Map *map)
{
    Value *operands[4 + TYPE_RANK];
    const Op *copy = buffer->copy;
    const int tile = operand_index(copy, tile);
    int count = 0;
    builder->span = copy->span;
    for (int o = 0; o < copy->operand_count; o++) {
        operands[count++] = o == tile
                                ? multi_buffer_stage(pipeline, builder, buffer, stage[1])
                                : multi_buffer_copy_slice(builder, copy->operands[o], region, map);
        for (int i = 0; i < 2 && o == tile && pipeline->by_tensor; i++)
            operands[count++] = stage[i];
    }
    Op *begun = build_op(builder, pipeline->by_tensor ? OP_tma_load : OP_copy_async, count,
                         operands, 0, NULL);
    begun->attrs = copy->attrs;
    begun->attr_count = copy->attr_count;
    op_set_int(begun, ATTR_stages, pipeline->stages);
    op_set_int(begun, ATTR_multi_buffer, 1);
}

void multi_buffer_copy_by_tensor(const Pipeline *pipeline, Builder *builder, Value *const filled[2],
                                 const Region *region, Map *map)
{
    Op *fill = build_op(builder, OP_producer_commit, 2, filled, 0, NULL);
    op_set_int(fill, ATTR_bytes, bytes_of_iteration(pipeline));
    for (size_t r = 0; r < pipeline->buffers.count; r++) {
        const MultiBuffer *buffer = &pipeline->buffers.data[r];
        const bool shares = pipeline->pairs && buffer->half >= 0;
        (shares ? pairs_copy : copy_buffer)(pipeline, builder, buffer, filled, region, map);
    }
}

static void copy_by_threads(const Pipeline *pipeline, Builder *builder, Value *const filled[2],
                            const Region *region, Map *map)
{
    for (size_t r = 0; r < pipeline->buffers.count; r++)
        copy_buffer(pipeline, builder, &pipeline->buffers.data[r], filled, region, map);
    build_op(builder, OP_producer_commit, 2, filled, 0, NULL);
}

/* The producers' loop, with the stage and the parity after its index; `map` gets what it needs. */
static Op *build_iterations(const Pipeline *pipeline, Builder *builder, const PersistentTile *tile,
                            Map *map)
{
    const Op *loop = pipeline->loop;
    const Type *i32 = type_scalar(pipeline->pass->kernel->types, DTYPE_i32);
    Value *operands[5];
    for (int i = 0; i < 3; i++)
        operands[i] =
            multi_buffer_copy_slice(builder, loop->operands[i], pipeline->pass->launch, map);
    for (size_t r = 0; r < pipeline->buffers.count; r++) {
        const Op *copy = pipeline->buffers.data[r].copy;
        for (int i = 0; i < copy->operand_count; i++)
            if (i != operand_index(copy, tile))
                copy_known(pipeline, builder, copy->operands[i], map);
    }
    operands[3] = tile->stage;
    operands[4] = tile->parity;
    Op *iterations = build_op(builder, OP_for, 5, operands, 2, (const Type *[]){i32, i32});
    op_set_int(iterations, ATTR_unroll, 1);
    region_add_argument(iterations->regions[0], operand(loop, begin)->type, NULL);
    for (int i = 0; i < 2; i++) region_add_argument(iterations->regions[0], i32, NULL);
    return iterations;
}

static PersistentTile begin_tile(const Pipeline *pipeline, Region *group, int parity)
{
    return pipeline->persistent ? persistent_begin(pipeline->pass, group, &pipeline->raster, parity)
                                : persistent_only(group, parity);
}

/* Of producers, whose nest is made here; what consumers have is theirs already. */
static PersistentTile begin_producers(const Pipeline *pipeline, Region *group, Map *map)
{
    return pipeline->nested ? nest_begin(pipeline, group, 1, map) : begin_tile(pipeline, group, 1);
}

/* Behind the last tile every stage is claimed once more: the other block gives stages back here,
 * and its arrivals must find this block's memory. */
static void wait_for_other(const Pipeline *pipeline, Op *tiles, Value *barriers)
{
    const Type *i32 = type_scalar(pipeline->pass->kernel->types, DTYPE_i32);
    Builder builder = builder_after(tiles);
    Value *operands[5] = {multi_buffer_number(&builder, 0),
                          multi_buffer_number(&builder, pipeline->stages),
                          multi_buffer_number(&builder, 1), &tiles->results[0], &tiles->results[1]};
    Op *loop = build_op(&builder, OP_for, 5, operands, 2, (const Type *[]){i32, i32});
    op_set_int(loop, ATTR_unroll, 1);
    Region *body = loop->regions[0];
    region_add_argument(body, i32, NULL);
    Value *stage = region_add_argument(body, i32, NULL), *is_last;
    Value *parity = region_add_argument(body, i32, NULL);
    Builder inside = builder_at_end(body, tiles->span);
    build_op(&inside, OP_producer_acquire, 3, (Value *[]){barriers, stage, parity}, 0, NULL);
    Value *next[2] = {multi_buffer_next(pipeline, &inside, stage, &is_last), NULL};
    next[1] = multi_buffer_next_parity(&inside, parity, is_last);
    build_op(&inside, OP_yield, 2, next, 0, NULL);
}

/* Channel after channel: who reads one may wait for it while the next is filled. */
static void copy_channels(const Pipeline *pipeline, Builder *builder, Value *stage, Value *parity,
                          Map *map)
{
    for (size_t c = 0; c < pipeline->channels.count; c++) {
        const Channel *channel = &pipeline->channels.data[c];
        Value *filled[2] = {channel->barriers, stage};
        build_op(builder, OP_producer_acquire, 3, (Value *[]){channel->barriers, stage, parity}, 0,
                 NULL);
        op_set_int(build_op(builder, OP_producer_commit, 2, filled, 0, NULL), ATTR_bytes,
                   channel->bytes);
        for (size_t r = 0; r < pipeline->buffers.count; r++)
            if (pipeline->buffers.data[r].channel == (int)c)
                copy_buffer(pipeline, builder, &pipeline->buffers.data[r], filled,
                            pipeline->pass->launch, map);
    }
}

/* The parity of the number of turns before this one: 0 or 1. */
static Value *turn_parity(Builder *builder, const PersistentTile *tile)
{
    if (!tile->index[0]) return multi_buffer_number(builder, 0);
    return persistent_turn(builder, tile->region->parent, tile->region->arguments[0]);
}

/* Copies before the loop, each to a stage of its own. */
static void copy_once(const Pipeline *pipeline, Builder *builder, const PersistentTile *tile,
                      Map *map)
{
    Value *filled[2] = {pipeline->barriers, multi_buffer_number(builder, 0)};
    int64_t bytes = 0;
    for (size_t i = 0; i < pipeline->once.count; i++)
        bytes += type_bytes(operand(pipeline->once.data[i].copy, tile)->type);
    if (!bytes) return;
    if (pipeline->persistent) {
        Value *other =
            build2(builder, OP_sub, multi_buffer_number(builder, 1), turn_parity(builder, tile));
        build_op(builder, OP_producer_acquire, 3, (Value *[]){filled[0], filled[1], other}, 0,
                 NULL);
    }
    op_set_int(build_op(builder, OP_producer_commit, 2, filled, 0, NULL), ATTR_bytes, bytes);
    for (size_t i = 0; i < pipeline->once.count; i++)
        copy_buffer(pipeline, builder, &pipeline->once.data[i], filled, pipeline->pass->launch,
                    map);
}

static void copy_iteration(const Pipeline *pipeline, Builder *builder, Value *barriers,
                           Value *stage, Value *parity, Map *map)
{
    Value *filled[2] = {barriers, stage};
    if (!barriers) {
        copy_channels(pipeline, builder, stage, parity, map);
        return;
    }
    build_op(builder, OP_producer_acquire, 3, (Value *[]){barriers, stage, parity}, 0, NULL);
    (pipeline->by_tensor ? multi_buffer_copy_by_tensor
                         : copy_by_threads)(pipeline, builder, filled, pipeline->pass->launch, map);
}

/* Without `barriers` each channel has its own. */
static void build_producers(const Pipeline *pipeline, Region *region, Value *barriers)
{
    const Op *loop = pipeline->loop;
    Map map = {0};
    const PersistentTile tile = begin_producers(pipeline, region, &map);
    Builder builder = builder_before(tile.region->last);
    persistent_know(pipeline->pass, &tile, &map);
    builder.span = loop->span;
    copy_once(pipeline, &builder, &tile, &map);
    Op *iterations = build_iterations(pipeline, &builder, &tile, &map);
    Region *body = iterations->regions[0];
    Value *stage = body->arguments[1], *parity = body->arguments[2], *is_last;
    map_set(pipeline->pass->arena, &map, loop->regions[0]->arguments[0], body->arguments[0]);
    Builder inside = builder_at_end(body, loop->span);
    copy_iteration(pipeline, &inside, barriers, stage, parity, &map);
    Value *next[2] = {multi_buffer_next(pipeline, &inside, stage, &is_last), NULL};
    next[1] = multi_buffer_next_parity(&inside, parity, is_last);
    build_op(&inside, OP_yield, 2, next, 0, NULL);
    if (!pipeline->by_tensor) build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL);
    persistent_end(&tile, &iterations->results[0], &iterations->results[1]);
    if (pipeline->pairs) wait_for_other(pipeline, tile.region->parent, barriers);
}

/* ---- consumers ---- */

static void build_give_to(const Pipeline *pipeline, Builder *builder, Value *barriers, Value *stage,
                          Value *given)
{
    Value *operands[4] = {barriers, stage, given};
    if (pipeline->pairs) operands[3] = pairs_other(pipeline, builder);
    build_op(builder, OP_consumer_release, pipeline->pairs ? 4 : 3, operands, 0, NULL);
}

/* Gives back what was read in the iteration before while this iteration's product is in flight. */
static void build_give(const Pipeline *pipeline, Value *barriers,
                       Value *const arguments[STAGE_VALUES])
{
    const Op *loop = pipeline->loop;
    Builder builder = builder_before(region_terminator(loop->regions[0]));
    Value *stage = arguments[pipeline->open ? STAGE_BEFORE : STAGE_READ];
    Value *given = pipeline->open ? build_cmp(&builder, "ne", loop->regions[0]->arguments[0],
                                              operand(loop, begin))
                                  : build_const(&builder, DTYPE_b1, 1);
    build_give_to(pipeline, &builder, barriers, stage, given);
}

/* What the last iteration has read, once the product has been waited for. */
static void give_last(const Pipeline *pipeline, Value *barriers, Op *after)
{
    Op *loop = pipeline->loop;
    Builder builder = builder_after(after);
    Value *any = build_cmp(&builder, "lt", operand(loop, begin), operand(loop, end));
    Value *last = &loop->results[loop->result_count - STAGE_VALUES + STAGE_LAST];
    build_give_to(pipeline, &builder, barriers, last, any);
}

/* The loop's results of `tile`'s names. */
static void end_tile(const Pipeline *pipeline, const PersistentTile *tile)
{
    Value *results = &pipeline->loop->results[pipeline->loop->result_count - STAGE_VALUES];
    Map map = {0};
    persistent_know(pipeline->pass, tile, &map);
    region_replace(tile->region, &map);
    persistent_end(tile, &results[STAGE_READ], &results[STAGE_PARITY]);
}

/* ---- divisions that consumers make before they wait ---- */

typedef struct Early {
    const Pipeline *pipeline;
    Map kept; /* a value from before the loop -> what stands for it behind the loop */
} Early;

static ValueAnswer divides(const Value *value, void *region)
{
    const Op *op = value->op;
    if (!op || op->parent != region || op->region_count) return VALUE_ENOUGH;
    return op->code == OP_div || op->code == OP_rem ? VALUE_FOUND : VALUE_OPERANDS;
}

static Value *keep(Early *early, Value *value)
{
    Kernel *kernel = early->pipeline->pass->kernel;
    Value *kept = map_get(&early->kept, value);
    if (kept) return kept;
    Builder builder = builder_after(value->op);
    Value *operands[2] = {value, multi_buffer_number(&builder, 0)};
    Op *op = build_op(&builder, OP_shuffle, 2, operands, 1, &value->type);
    op_set_text(op, ATTR_mode, intern_text(kernel->session->names, "xor"));
    map_set(early->pipeline->pass->arena, &early->kept, value, op->results);
    return op->results;
}

static void keep_operands(Op *op, void *context)
{
    Early *early = context;
    for (int i = 0; i < op->operand_count; i++) {
        Value *value = op->operands[i];
        if (value->op && value->op->scratch && value->type->kind == TYPE_SCALAR &&
            value->type->dtype == DTYPE_i32 && value_finds(value, divides, value->op->parent))
            op_set_operand(op, i, keep(early, value));
    }
}

/* Threads that wait for copies have time to divide. Left to themselves, code generators put what is
 * needed behind the loop there; what has gone by way of the lanes stays where it is. */
static void divide_early(const Pipeline *pipeline)
{
    Early early = {.pipeline = pipeline};
    Op *loop = pipeline->loop;
    for (Op *op = loop->previous; op; op = op->previous) op->scratch = op;
    for (Op *op = loop->next; op; op = op->next) op_visit(op, keep_operands, &early);
    for (Op *op = loop->previous; op; op = op->previous) op->scratch = NULL;
}

static void build_consumers(Pipeline *pipeline, const PersistentTile *tile, Value *barriers)
{
    Value *arguments[STAGE_VALUES], *is_last, *first[STAGE_VALUES];
    for (int i = 0; i < STAGE_VALUES; i++) first[i] = tile->stage;
    first[STAGE_PARITY] = tile->parity;
    multi_buffer_carry(pipeline, first, arguments);
    Region *body = pipeline->loop->regions[0];
    Value *read = arguments[STAGE_READ], *parity = arguments[STAGE_PARITY];
    Builder start = builder_before(body->first);
    Op *take = build_op(&start, OP_consumer_wait, 3, (Value *[]){barriers, read, parity}, 0, NULL);
    if (pipeline->by_tensor) op_set_int(take, ATTR_tma, 1);
    multi_buffer_move_uses(pipeline, arguments);
    Builder end = builder_before(region_terminator(body));
    Value *next = multi_buffer_next(pipeline, &end, read, &is_last);
    Value *carried[STAGE_VALUES] = {
        [STAGE_READ] = next, [STAGE_BEFORE] = read, [STAGE_LAST] = read};
    carried[STAGE_PARITY] = multi_buffer_next_parity(&end, parity, is_last);
    multi_buffer_yield(pipeline, carried);
    Op *wait = pipeline->open ? multi_buffer_leave_in_flight(pipeline) : NULL;
    build_give(pipeline, barriers, arguments);
    if (wait && goes_on(pipeline)) give_last(pipeline, barriers, wait);
    end_tile(pipeline, tile);
    if (pipeline->by_tensor) divide_early(pipeline); /* others need their registers */
}

static void set_registers(Region *group, const char *mode, int64_t count)
{
    Builder builder = builder_before(group->first);
    Op *op = build_op(&builder, OP_setmaxnreg, 0, NULL, 0, NULL);
    op_set_int(op, ATTR_count, count);
    op_set_text(op, ATTR_mode, intern_text(builder.kernel->session->names, mode));
}

/* The producers' group, inside of the warpgroup that gives its registers away, if one does. */
static Region *build_producers_group(const Pipeline *pipeline, Builder *builder)
{
    const int consumers = consumers_of(pipeline), producers = producers_of(pipeline);
    if (!pipeline->sets_maxnreg) return build_group(builder, consumers, producers);
    Region *all = build_group(builder, consumers, WARPGROUP_SIZE);
    set_registers(all, "dec", SETMAXNREG_LEAST);
    Builder inside = builder_before(all->last);
    return build_group(&inside, consumers, producers);
}

static Region *build_consumers_group(const Pipeline *pipeline, Builder *builder)
{
    Region *group = build_group(builder, 0, consumers_of(pipeline));
    if (pipeline->sets_maxnreg) set_registers(group, "inc", consumer_registers(pipeline));
    return group;
}

/* What comes behind a thread's own branch in the text is not known to be run by whole warps, so
 * that addresses there are in no uniform registers. The consumers come first, then, where all of
 * the multi-buffer is in use to the end, or there is room beside it; elsewhere their last work gets
 * the room of stages that the producers, before them, have done with. */
static void build_groups(bool consumers_first, const Pipeline *pipeline, Builder *builder,
                         Region **copying, Region **computing)
{
    if (consumers_first) {
        *computing = build_consumers_group(pipeline, builder);
        *copying = build_producers_group(pipeline, builder);
    } else {
        *copying = build_producers_group(pipeline, builder);
        *computing = build_consumers_group(pipeline, builder);
    }
}

static void move_to(const Region *group, Op *first)
{
    for (Op *op = first, *next; op; op = next) {
        next = op_next(op);
        op_move_before(op, group->last);
    }
}

static void make_all_stages(Pipeline *pipeline, Builder *builder)
{
    for (size_t i = 0; i < pipeline->buffers.count; i++) {
        MultiBuffer *buffer = &pipeline->buffers.data[i];
        multi_buffer_make_stages(pipeline, builder, buffer);
        op_set_int(buffer->stages->op, ATTR_multi_buffer, 1);
    }
    builder->span = pipeline->loop->span;
}

static void set_warps(const Pipeline *pipeline, int threads)
{
    op_set_int(pipeline->pass->launch->parent, ATTR_warps, (threads + WARP_SIZE - 1) / WARP_SIZE);
}

/* Stages for the copies before the loop, and the barriers of all of them. */
static void make_once(Pipeline *pipeline, Builder *builder)
{
    Pipeline once = *pipeline;
    once.stages = 1;
    if (!pipeline->once.count) return;
    for (size_t i = 0; i < pipeline->once.count; i++) {
        MultiBuffer *buffer = &pipeline->once.data[i];
        multi_buffer_make_stages(&once, builder, buffer);
        op_set_int(buffer->stages->op, ATTR_multi_buffer, 1);
    }
    pipeline->barriers = make_barriers(&once, builder);
}

/* Consumers wait for it where they begin, and read the stages from there on. */
static void take_once(const Pipeline *pipeline, const PersistentTile *tile, Op *before)
{
    Builder builder = builder_before(before);
    builder.span = pipeline->loop->span;
    if (!pipeline->once.count) return;
    Value *zero = multi_buffer_number(&builder, 0);
    Value *operands[3] = {pipeline->barriers, zero, turn_parity(&builder, tile)};
    op_set_int(build_op(&builder, OP_consumer_wait, 3, operands, 0, NULL), ATTR_tma, 1);
    for (size_t i = 0; i < pipeline->once.count; i++) {
        const MultiBuffer *buffer = &pipeline->once.data[i];
        Value *stage = multi_buffer_stage(pipeline, &builder, buffer, zero);
        op_erase(buffer->copy);
        value_replace(&buffer->alloc->results[0], stage);
        op_erase(buffer->alloc);
    }
}

static void give_once(const Pipeline *pipeline, Op *before)
{
    Builder builder = builder_before(before);
    if (!pipeline->once.count || !pipeline->persistent) return;
    Value *operands[3] = {pipeline->barriers, multi_buffer_number(&builder, 0),
                          build_const(&builder, DTYPE_b1, 1)};
    build_op(&builder, OP_consumer_release, 3, operands, 0, NULL);
}

/* So many tiles of each length that the L2 cache holds what they read. */
static int group_of(const Pipeline *pipeline)
{
    const int64_t trips = most_trips(pipeline);
    const int64_t group =
        COST_L2_BYTES / (bytes_of_iteration(pipeline) * (trips ? trips : COST_LONG_LOOP));
    return group > 1 ? (int)group : 1;
}

/* Tiles of one length, or that get shorter along one index, and are short: of long ones blocks
 * would have more to do than others at the end, where the machine gives the next tile to who is
 * done. */
static bool has_order(Pipeline *pipeline, int64_t cycles)
{
    const int64_t trips = most_trips(pipeline);
    const bool short_ones = trips && trips * cycles <= COST_UNEVEN_CYCLES;
    bool steady = true;
    for (int dim = 0; dim < 3; dim++) {
        const Trend trend = block_trend_of_trips(pipeline->loop, dim);
        if (trend == TREND_FALLS && steady && short_ones)
            pipeline->raster = (PersistentRaster){dim, group_of(pipeline)};
        else if (trend != TREND_STEADY)
            return false;
        steady = steady && trend == TREND_STEADY;
    }
    return true;
}

/* A block that has a multiprocessor to itself: its producers copy for the next tile while the
 * consumers end this one. */
static bool takes_turns(Pipeline *pipeline, int64_t cycles)
{
    const Op *launch = pipeline->pass->launch->parent;
    return pipeline->blocks == 1 && !launch_is_cluster_or_cooperative(launch) &&
           persistent_may_differ(launch) && has_known_grid(pipeline->pass, launch) &&
           has_room_by_plan(pipeline) && has_order(pipeline, cycles);
}

/* The turn's block, in what was moved there. */
static void know_turn(const Pipeline *pipeline, const PersistentTile *tile)
{
    Map map = {0};
    persistent_know(pipeline->pass, tile, &map);
    region_replace(tile->region, &map);
}

static void build_consumers_by_plan(Pipeline *pipeline, Plan *plan, PersistentTile *tile, Op *first)
{
    Value *end[2];
    move_to(tile->region, first);
    know_turn(pipeline, tile);
    nest_carry(pipeline, tile);
    plan->at[0] = tile->stage;
    plan->at[1] = tile->parity;
    take_once(pipeline, tile, pipeline->loop);
    Op *after = pipeline->loop->next;
    plan_build(plan, end);
    give_once(pipeline, after);
    persistent_end(tile, end[0], end[1]);
}

void split_by_plan(Pipeline *pipeline, Plan *plan)
{
    Op *first = pipeline->pass->launch->first;
    const int more = pipeline->sets_maxnreg ? WARPGROUP_SIZE : producers_of(pipeline);
    const int threads = consumers_of(pipeline) + more;
    pipeline->persistent = takes_turns(pipeline, plan->cycles);
    const bool consumers_first = goes_on(pipeline) || is_room_beside(pipeline);
    Builder builder = builder_before(first);
    Region *copying, *computing;
    make_all_stages(pipeline, &builder);
    for (size_t c = 0; c < pipeline->channels.count; c++)
        pipeline->channels.data[c].barriers = make_barriers(pipeline, &builder);
    make_once(pipeline, &builder);
    build_op(&builder, OP_barrier, 0, NULL, 0, NULL);
    build_groups(consumers_first, pipeline, &builder, &copying, &computing);
    build_producers(pipeline, copying, NULL);
    PersistentTile tile = begin_tile(pipeline, computing, 0);
    build_consumers_by_plan(pipeline, plan, &tile, first);
    if (pipeline->persistent) op_set_int(pipeline->pass->launch->parent, ATTR_persistent, 1);
    if (pipeline->sets_maxnreg && pipeline->blocks > 1)
        op_set_int(pipeline->pass->launch->parent, ATTR_min_blocks, pipeline->blocks);
    set_warps(pipeline, threads);
}

void split(Pipeline *pipeline)
{
    Region *launch = pipeline->pass->launch;
    Op *first = launch->first;
    const int more = pipeline->sets_maxnreg ? WARPGROUP_SIZE : producers_of(pipeline);
    const int threads = consumers_of(pipeline) + more;
    const bool consumers_first = goes_on(pipeline) || is_room_beside(pipeline);
    Builder builder = builder_before(first);
    make_all_stages(pipeline, &builder);
    if (pipeline->pairs) pairs_begin(pipeline, &builder);
    Value *barriers = multi_buffer_make_barriers(pipeline, &builder);
    Region *copying, *computing;
    build_groups(consumers_first, pipeline, &builder, &copying, &computing);
    build_producers(pipeline, copying, barriers);
    PersistentTile tile = begin_tile(pipeline, computing, 0);
    move_to(tile.region, first);
    nest_carry(pipeline, &tile);
    build_consumers(pipeline, &tile, barriers);
    if (pipeline->persistent) op_set_int(launch->parent, ATTR_persistent, 1);
    if (pipeline->pairs) op_set_ints(launch->parent, ATTR_cluster, 3, (int64_t[]){2, 1, 1});
    set_warps(pipeline, threads);
}
