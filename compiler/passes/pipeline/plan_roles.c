/* plan_roles.c: which warps do what for a loop: whether some of their own, producers, fill its
 * multi-buffers, what they take of registers and of shared memory, and whether a block does the
 * work of several in turn.
 *
 * No thread waits for all others, and copies are ahead as far as there are stages. The producers
 * begin at once: so what they read must not be written before the loop. */
#include "passes/pipeline/plan.h"

#include "passes/layout/matrix.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/analysis/trend.h"

/* ---- what producers can know ---- */

/* Of what no op makes: all but parameters, and indices of the loop and of those around it. */
static ValueAnswer is_unknown(const Value *value, void *context)
{
    const Pipeline *pipeline = context;
    const Region *region = value->region;
    if (!value->op)
        return !region || (value->index == 0 && region->parent->code == OP_for &&
                           region_holds(region, pipeline->loop->regions[0]))
                   ? VALUE_ENOUGH
                   : VALUE_FOUND;
    if (!region_holds(pipeline->pass->launch, value->op->parent)) return VALUE_ENOUGH;
    if (is_steady_load(pipeline->pass, value->op)) return VALUE_OPERANDS;
    return value->op->region_count || !op_has(value->op, PURE) || op_has(value->op, COOP)
               ? VALUE_FOUND
               : VALUE_OPERANDS;
}

static bool is_known(const Pipeline *pipeline, const Value *value)
{
    return !value_finds(value, is_unknown, (Pipeline *)(uintptr_t)pipeline);
}

/* Each thread could find out by itself where it is copied from. */
static bool is_source_known(const Pipeline *pipeline, const Op *copy)
{
    return !copy_source_finds(copy, is_unknown, (Pipeline *)(uintptr_t)pipeline);
}

/* That of each iteration's copies, and how many iterations there are. */
static bool are_known(const Pipeline *pipeline)
{
    for (int i = 0; i < 3; i++)
        if (!is_known(pipeline, pipeline->loop->operands[i])) return false;
    vec_each (buffer, &pipeline->buffers)
        if (!is_source_known(pipeline, buffer->copy)) return false;
    return true;
}

/* What comes before the loop writes nothing that it may copy, so that nobody need wait for a sync
 * there; `copies`: there may be copies to shared memory. */
static bool starts_freely(const Pipeline *pipeline, bool copies)
{
    const Op *op = region_find_ancestor(pipeline->pass->launch, pipeline->loop)->previous;
    for (; op; op = op->previous)
        if (op->region_count ||
            (op_has(op, WRITES) && op->code != OP_shared_alloc && op->code != OP_assume &&
             op->code != OP_shared_store && op->code != OP_anchor && op->code != OP_sync &&
             !(copies && op->code == OP_copy)))
            return false;
    return true;
}

/* ---- loops around the loop ---- */

static const char *fault_of_nest(const Pipeline *pipeline)
{
    const Pass *pass = pipeline->pass;
    Agreement *agreement = analysis_uniformity(pass->context);
    if (!pipeline->by_tma) return "the loop is within another one, or a branch";
    for (const Op *op = pipeline->loop->parent->parent; op != pass->launch->parent;
         op = op->parent->parent) {
        if (op->code != OP_for && op->code != OP_if) return "the loop is within a `while`";
        for (int i = 0; i < (op->code == OP_for ? 3 : 1); i++)
            if (threads_differ(agreement, op->operands[i], op_threads(pipeline->loop)) ||
                !is_known(pipeline, op->operands[i]))
                return "threads may not agree on what the loop is within";
    }
    vec_each (buffer, &pipeline->buffers)
        if (written_has(&pass->written, operand(buffer->copy, view)))
            return "memory that it copies may be written between one time and the next";
    return NULL;
}

/* ---- registers ---- */

static int64_t bytes_of_stages(const Pipeline *pipeline)
{
    return pipeline->stages * multi_buffer_bytes(pipeline);
}

/* No second block has room beside this one. Blocks that share a multiprocessor cover for each
 * other: producers would only take registers from them. */
static bool is_alone(const Pipeline *pipeline)
{
    return 2 * bytes_of_stages(pipeline) > pipeline->pass->target->shared_bytes;
}

int plan_most_blocks(const Pipeline *pipeline)
{
    const int64_t blocks = launch_blocks(pipeline->pass->launch->parent),
                  count = pipeline->pass->target->sm_count;
    return blocks ? (int)lesser_of((blocks + count - 1) / count, INT32_MAX) : INT32_MAX;
}

/* The one warp that has TMA copy costs no block its place on the multiprocessor, by its registers:
 * none of those that there are. */
static bool costs_nothing(const Pipeline *pipeline, const Op *dot)
{
    const Target *target = pipeline->pass->target;
    const int threads = pipeline->consumers;
    const int64_t each = type_elements(dot->results[0].type) / threads + COST_OTHER_REGISTERS,
                  room = target->shared_bytes / bytes_of_stages(pipeline),
                  before = lesser_of(room, target->registers / (each * threads)),
                  after = lesser_of(room, target->registers / (each * (threads + WARP_SIZE)));
    return after >= lesser_of(before, plan_most_blocks(pipeline));
}

/* Of a thread that computes: its sums, the left operand if it goes through registers, and others.
 */
static int64_t registers_of(const Pipeline *pipeline, const Op *dot)
{
    const int threads = power_of_two_below(pipeline->consumers);
    const Type *left = operand(dot, a)->type, *sum = dot->results[0].type;
    const int64_t words = type_elements(left) / threads * dtype_bits(left->dtype) / REGISTER_BITS;
    const bool in_place = wgmma_fits(pipeline->pass->kernel, pipeline->pass->target, dot);
    return type_elements(sum) / threads + (in_place ? 0 : words) + COST_OTHER_REGISTERS;
}

/* Of each thread where a multiprocessor has so many blocks of consumers and such others. */
static int64_t registers_beside(const Pipeline *pipeline, int others, int blocks)
{
    const int threads = pipeline->consumers + others;
    return cost_registers_per_thread(pipeline->pass->target, (threads + WARP_SIZE - 1) / WARP_SIZE,
                                     blocks);
}

/* With one warp more the others have too few registers: by what is needed, or as ptxas said. */
static bool lacks_registers(const Pipeline *pipeline, int64_t needed)
{
    return needed > registers_beside(pipeline, WARP_SIZE, 1) ||
           !target_has(pipeline->pass->target, MAY_ADD_WARP);
}

/* A warpgroup can give its registers away. */
static bool can_set_maxnreg(const Pipeline *pipeline)
{
    const int consumers = pipeline->consumers;
    return target_has(pipeline->pass->target, HAS_SETMAXNREG) && pipeline->by_tma &&
           is_alone(pipeline) && consumers % WARPGROUP_SIZE == 0 &&
           consumers + WARPGROUP_SIZE <= COST_SPLIT_THREADS;
}

/* Of each consumer, once producers have given theirs away. A block has what its threads begin with,
 * whole units each, and not its part of the multiprocessor's: setmaxnreg.inc waits for more for
 * ever. */
static int64_t consumer_registers(const Pipeline *pipeline)
{
    const int unit = pipeline->pass->target->register_unit,
              threads = pipeline->consumers + WARPGROUP_SIZE;
    const int64_t all = threads * registers_beside(pipeline, WARPGROUP_SIZE, pipeline->blocks),
                  left = all - WARPGROUP_SIZE * SETMAXNREG_LEAST;
    return lesser_of(left / pipeline->consumers / unit * unit, COST_CONSUMER_REGISTERS);
}

/* One, or as few as have not more than COST_PRODUCER_COPIES a round to begin each. */
static int producers_of(const Pipeline *pipeline)
{
    if (pipeline->by_tma) return 1;
    const int64_t bytes = multi_buffer_bytes(pipeline);
    int threads = WARP_SIZE;
    while ((int64_t)threads * COST_PRODUCER_COPIES * ACCESS_BYTES < bytes &&
           threads < COST_PRODUCER_WARPS * WARP_SIZE)
        threads *= 2;
    return threads;
}

/* Of a thread, in registers, of one product. */
static int64_t largest_sums(const Pipeline *pipeline)
{
    int64_t most = 0;
    region_each_of (dot, pipeline->pass->launch, OP_dot)
        most = larger_of(most, type_elements(dot->results[0].type));
    return most / power_of_two_below(pipeline->consumers);
}

/* Blocks that a multiprocessor runs at a time: of `more` warps beside the consumers, and bytes of
 * shared memory beside the multi-buffers. */
static int blocks_per_sm(const Pipeline *pipeline, int64_t registers, int more, int64_t beside)
{
    return cost_blocks_per_sm(pipeline->pass->target, pipeline->consumers / WARP_SIZE + more,
                              (int)registers, bytes_of_stages(pipeline) + beside);
}

/* ---- persistent blocks ---- */

/* That TMA writes, a buffer each; 0: it cannot. */
static int64_t parts_of_store(const Pipeline *pipeline, Op *store)
{
    const Type *tile = operand(store, value)->type;
    int32_t part[2];
    if (!tma_store_fits(analysis_ranges(pipeline->pass->context), store) ||
        !tma_store_part(store, op_threads(store).count, part))
        return 0;
    return tile->shape[1] / part[1] * (tile->shape[0] / part[0]);
}

/* Sums of the loop's, of which four lanes have 8 neighbours: these fill sectors of memory if they
 * are wide, and are stored as they lie. */
static bool are_sums_in_sectors(const Op *loop, const Type *tile)
{
    for (int i = 0; i < loop->result_count; i++) {
        const Type *sums = loop->results[i].type;
        if (sums->kind == TYPE_TILE && sums->rank == 2 && tile->rank == 2 &&
            sums->shape[0] == tile->shape[0] && sums->shape[1] == tile->shape[1])
            return dtype_memory_bytes(tile->dtype, 8) >= SECTOR_BYTES;
    }
    return false;
}

/* Of a tile that is stored by way of shared memory: extents are powers of two there. */
static int64_t bytes_on_the_way(const Op *loop, const Type *tile)
{
    int64_t bits = are_sums_in_sectors(loop, tile) ? 0 : dtype_bits(tile->dtype);
    for (int d = 0; d < tile->rank; d++) {
        int64_t extent = 1;
        while (extent < tile->shape[d]) extent *= 2;
        bits *= extent;
    }
    return bits / 8;
}

/* The bytes beside the multi-buffer that what else is shared takes, with at most so many buffers of
 * a store; 0: threads store, not TMA. */
static int64_t bytes_beside(const Pipeline *pipeline, int buffers)
{
    int64_t bytes = COST_SHARED_MARGIN_SPLIT - multi_buffer_bytes(pipeline) +
                    region_shared_bytes(pipeline->pass->launch);
    region_each_of (op, pipeline->pass->launch, OP_store) {
        const Type *tile = operand(op, value)->type;
        const int64_t parts = buffers ? parts_of_store(pipeline, op) : 0;
        bytes += parts ? type_bytes(tile) / parts * lesser_of(parts, buffers)
                       : bytes_on_the_way(pipeline->loop, tile);
    }
    return bytes;
}

/* So many stages, and buffers of stores, have room in a block. */
static bool fits(const Pipeline *pipeline, int stages, int buffers)
{
    return stages * multi_buffer_bytes(pipeline) + bytes_beside(pipeline, buffers) <=
           pipeline->pass->target->shared_bytes;
}

/* A multiprocessor has room for a second block beside what stores take, if it has without that. */
static bool keeps_blocks(const Pipeline *pipeline, int buffers)
{
    const int registers = (int)largest_sums(pipeline) + COST_OTHER_REGISTERS,
              producers = (producers_of(pipeline) + WARP_SIZE - 1) / WARP_SIZE;
    const int64_t beside =
        bytes_beside(pipeline, buffers) - COST_SHARED_MARGIN_SPLIT + COST_SHARED_MARGIN;
    const int most = blocks_per_sm(pipeline, registers, producers, COST_SHARED_MARGIN);
    return blocks_per_sm(pipeline, registers, producers, beside) >=
           lesser_of(most, COST_BLOCKS_PER_SM);
}

/* As many buffers of stores as there is room for beside the stages: with one for each part of a
 * tile, none is waited for at the end of a block's last one. Fewer, where they would take the room
 * of a second block. */
static int buffers_of_stores(const Pipeline *pipeline, int stages)
{
    int buffers = COST_STORE_BUFFERS;
    while (buffers > 1 && !keeps_blocks(pipeline, buffers)) buffers--;
    while (is_alone(pipeline) && buffers < COST_STORE_BUFFERS_ALONE &&
           fits(pipeline, stages, buffers + 1))
        buffers++;
    return buffers;
}

/* The multi-buffer's stages are in use while a block's end, which goes through shared memory, is at
 * work. Stages that leave no room for that are given up, but for as many as it takes. What a loop
 * by plan ends with is stored by threads. */
static bool has_room(Pipeline *pipeline, bool by_plan)
{
    int stages = pipeline->stages;
    if (by_plan) return fits(pipeline, stages, 0);
    while (stages > COST_STAGES_ENOUGH && !fits(pipeline, stages, COST_STORE_BUFFERS)) stages--;
    if (!fits(pipeline, stages, COST_STORE_BUFFERS)) return false;
    const int buffers = buffers_of_stores(pipeline, stages);
    region_each_of (op, pipeline->pass->launch, OP_store) {
        const int64_t parts = parts_of_store(pipeline, op);
        if (parts) op_set_int(op, ATTR_tma, lesser_of(parts, buffers));
    }
    plan_take_stages(pipeline, stages, "what ends a block has no room beside more");
    return true;
}

/* Blocks find the grid's extents themselves, and do not see keys. */
static ValueAnswer is_key(const Value *value, void *kernel)
{
    const Parameter *parameter = kernel_parameter_of(kernel, value);
    return parameter && parameter->is_key ? VALUE_FOUND : VALUE_OPERANDS;
}

/* Why blocks cannot do the work of several, whatever their loop does; NULL: they can. */
static const char *fault_of_launch(const Pipeline *pipeline)
{
    const Op *launch = pipeline->pass->launch->parent;
    if (pipeline->nested) return "the loop is within another one, or a branch";
    if (!pipeline->by_tma) return "not all copies are TMA loads";
    if (launch_is_cluster_or_cooperative(launch)) return "the launch is a cluster, or cooperative";
    if (launch_may_wait(launch)) return "they wait for others";
    if (op_attr(launch, ATTR_panel)) return "the author orders them";
    for (int d = 0; d < 3; d++)
        if (value_finds(launch->operands[d], is_key, pipeline->pass->kernel))
            return "their number depends on keys";
    return NULL;
}

/* ---- whether producers may fill the stages ---- */

/* No tile is used outside of the loop, and what is copied is not written before. Groups of threads
 * that the author makes behind the loop are parts of the consumers. */
static const char *fault_of_place(const Pipeline *pipeline, bool copies)
{
    const char *fault = pipeline->nested ? fault_of_nest(pipeline) : NULL;
    if (fault) return fault;
    vec_each (buffer, &pipeline->buffers)
        if (buffer->is_shared) return "a shared tile is used outside of the loop";
    return starts_freely(pipeline, copies) ? NULL
                                           : "memory that it copies may be written before the loop";
}

const char *fault_of_fill(const Pipeline *pipeline)
{
    if (pipeline->nested) return "the loop is within another loop or a branch";
    return pipeline->by_tma ? fault_of_place(pipeline, false) : "not all copies are TMA loads";
}

const char *fault_of_warp_specialize(Pipeline *pipeline, const Op *dot)
{
    pipeline->by_tma = are_by_tma(pipeline);
    if (pipeline->pass->shares_registers)
        return "the author divides the registers among the warpgroups that there are";
    if (!dot && !pipeline->by_tma) return "not all copies are TMA loads";
    const char *fault = fault_of_place(pipeline, true);
    if (fault) return fault;
    if (dot && pipeline->by_tma && !costs_nothing(pipeline, dot))
        return "a producer warp's registers would cost a block on each multiprocessor";
    if (!pipeline->by_tma && !is_alone(pipeline))
        return "another block on the multiprocessor covers for this one";
    if (pipeline->consumers + producers_of(pipeline) > COST_SPLIT_THREADS)
        return "a block may not have so many threads";
    if (!dot && pipeline->consumers % WARPGROUP_SIZE) return "a block has no whole warpgroups";
    if (!are_known(pipeline)) return "what is copied depends on what threads compute";
    pipeline->blocks = 1;
    pipeline->sets_maxnreg =
        dot && can_set_maxnreg(pipeline) && lacks_registers(pipeline, registers_of(pipeline, dot));
    return !pipeline->nested || has_room(pipeline, !dot)
               ? NULL
               : "shared memory has no room for stages beside the rest of the block";
}

/* ---- what a loop by plan takes ---- */

bool can_copy_once(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    return is_by_tma(pipeline, buffer) && is_source_known(pipeline, buffer->copy);
}

/* Of tiles that are in use in the loop; with `before`, before it, too. Producers fill the stages
 * that early; what is used behind the loop gets the room of stages. */
static int64_t bytes_in_use(const Pipeline *pipeline, bool before)
{
    const SharedUses uses =
        loop_shared_uses(pipeline->pass->arena, pipeline->pass->launch, pipeline->loop);
    int64_t bytes = COST_SHARED_MARGIN_SPLIT;
    vec_each (use, &uses)
        if ((use->inside || (before && use->before)) && !multi_buffer_of(pipeline, use->alloc))
            bytes += type_bytes(use->alloc->results[0].type);
    return bytes;
}

/* What is needed is estimated: for the sake of a second block one unit more is tried. */
static int64_t needed_at_most(const Pipeline *pipeline)
{
    const int more = pipeline->blocks > 1 ? pipeline->pass->target->register_unit : 0;
    return consumer_registers(pipeline) + more;
}

/* What all threads have at first, a warpgroup of producers among them, must be enough for any one
 * product: ptxas looks no further. */
static bool begins_with_enough(const Pipeline *pipeline)
{
    return target_has(pipeline->pass->target, HAS_SETMAXNREG) &&
           pipeline->consumers + WARPGROUP_SIZE <= COST_SPLIT_THREADS &&
           registers_beside(pipeline, WARPGROUP_SIZE, pipeline->blocks) >=
               largest_sums(pipeline) + COST_OTHER_REGISTERS;
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

/* Copies far ahead, and several warpgroups whose work goes on beside each other, do for a long loop
 * what one more block does for others. */
static bool does_with_fewer(const Pipeline *pipeline, int blocks)
{
    const int64_t trips = loop_most_trips(analysis_ranges(pipeline->pass->context), pipeline->loop);
    return blocks * pipeline->consumers > WARPGROUP_SIZE && !loads_itself(pipeline->loop) &&
           (!trips || trips >= COST_LONG_LOOP);
}

bool runs_beside_others(const Pipeline *pipeline)
{
    return blocks_per_sm(pipeline, pipeline->pass->target->registers_per_thread, 0,
                         bytes_in_use(pipeline, false)) > 1;
}

const char *share_registers(Pipeline *pipeline, int64_t needed)
{
    const int64_t beside = bytes_in_use(pipeline, true);
    const int blocks = blocks_per_sm(pipeline, needed, 0, bytes_in_use(pipeline, false));
    pipeline->sets_maxnreg = false;
    pipeline->blocks = (int)larger_of(blocks, 1);
    if (pipeline->blocks == 1) {
        const bool lacks = lacks_registers(pipeline, needed);
        pipeline->sets_maxnreg = lacks && begins_with_enough(pipeline);
        return lacks && !pipeline->sets_maxnreg ? "a producer warp leaves threads too few registers"
                                                : NULL;
    }
    const int left = blocks_per_sm(pipeline, needed, 1, beside);
    if (left >= lesser_of(blocks, plan_most_blocks(pipeline))) return NULL;
    /* a warpgroup that gives its registers away, beside consumers; of more blocks than two each
     * would have too few */
    pipeline->sets_maxnreg =
        blocks == 2 && begins_with_enough(pipeline) && needed <= needed_at_most(pipeline) &&
        blocks_per_sm(pipeline, SETMAXNREG_LEAST, WARPGROUP_SIZE / WARP_SIZE, beside) >= 2;
    return pipeline->sets_maxnreg || does_with_fewer(pipeline, left)
               ? NULL
               : "a producer warp's registers would cost a block on each multiprocessor";
}

int64_t registers_left(const Pipeline *pipeline)
{
    return pipeline->sets_maxnreg ? needed_at_most(pipeline)
                                  : registers_beside(pipeline, producers_of(pipeline), 1);
}

/* Tiles of one length, or that get shorter along one index, and are short: of long ones blocks
 * would have more to do than others at the end, where the machine gives the next tile to who is
 * done. Of the shortest that is little, whatever their order. */
static bool has_order(Pipeline *pipeline, int64_t cycles)
{
    const int64_t trips = loop_most_trips(analysis_ranges(pipeline->pass->context), pipeline->loop),
                  longest = trips ? trips * cycles : INT64_MAX,
                  bytes = multi_buffer_bytes(pipeline) * (trips ? trips : COST_LONG_LOOP);
    const int group = (int)larger_of(COST_L2_BYTES / bytes, 1); /* whose tiles L2 holds */
    bool steady = true, ordered = true;
    for (int dim = 0; dim < 3; dim++) {
        const Trend trend = block_trend_of_trips(pipeline->loop, dim);
        if (trend == TREND_FALLS && steady && longest <= COST_UNEVEN_CYCLES)
            pipeline->raster = (PersistentRaster){.dim = dim, .group = group};
        else if (trend != TREND_STEADY)
            ordered = false;
        steady = steady && trend == TREND_STEADY;
    }
    pipeline->raster.uneven = !ordered;
    return ordered || longest <= COST_UNORDERED_CYCLES;
}

/* A block that has a multiprocessor to itself: its producers copy for the next tile while the
 * consumers end this one. */
void plan_persistence(Pipeline *pipeline, const Plan *plan)
{
    const char *fault = fault_of_launch(pipeline);
    if (!fault && pipeline->blocks > 1)
        fault = "a multiprocessor runs several at a time, which cover for each other";
    if (!fault && !plan && !keeps_blocks(pipeline, 1))
        fault = "what ends a block would take the room of a second one";
    if (!fault && !has_room(pipeline, plan))
        fault = "what ends a block has no room beside the stages";
    if (!fault && plan && !has_order(pipeline, plan->cycles))
        fault = "some have more iterations than others";
    pipeline->persistent = !fault;
    if (fault) pipeline_remark(pipeline, "a loop whose blocks are not persistent: %s", fault);
}

/* Whether a warpgroup of producers would leave consumers more registers than one warp does, should
 * ptxas say that they need more than was thought. A block of a loop by plan may be alone by its
 * registers, too. */
static bool may_set_maxnreg(const Pipeline *pipeline)
{
    const bool by_plan = pipeline->filling == FILLED_BY_PLAN && pipeline->blocks == 1;
    return !pipeline->sets_maxnreg &&
           (can_set_maxnreg(pipeline) || (by_plan && begins_with_enough(pipeline)));
}

void plan_groups(Pipeline *pipeline)
{
    pipeline->reuses_stages = pipeline->persistent || pipeline->nested;
    pipeline->producers = producers_of(pipeline);
    pipeline->registers = pipeline->sets_maxnreg ? consumer_registers(pipeline) : 0;
    if (may_set_maxnreg(pipeline)) pipeline->pass->kernel->uses |= MAY_ADD_WARP;
    /* or as many blocks have room if what a block's end takes is not that of stages */
    const int64_t all = pipeline->pass->target->shared_bytes, stages = bytes_of_stages(pipeline);
    const int buffers = pipeline->filling == FILLED_BY_PLAN ? 0 : COST_STORE_BUFFERS;
    pipeline->consumers_first =
        pipeline->persistent || all / stages == all / (stages + bytes_beside(pipeline, buffers));
}
