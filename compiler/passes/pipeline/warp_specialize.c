/* warp_specialize.c: warps of their own that fill the multi-buffers of a loop, beside those that
 * the author asked for, which then do nothing but compute (Bauer, Cook and Khailany 2011, CudaDMA):
 *
 *     producers: for each iteration k: wait until stage k mod n was released; begin its copies,
 *         which arrive at the stage's barrier when they have landed
 *     consumers: all that the author wrote, with the loop as: wait until stage k mod n is
 *         filled; the iteration's work; release the stage of the iteration, or, while a product
 *         is still in flight, that of the iteration before (of few stages, before the wait for
 *         copies that are late)
 *
 * Where TMA can do the copies, the producer is one thread, which says how many bytes
 * are to land. Else producers copy with each of their threads.
 */
#include "passes/pipeline/multi_buffer.h"

#include "ir/rebuild.h"
#include "passes/analysis/loop.h"

/* ---- the groups ---- */

static Region *build_group(Builder *builder, int begin, int count)
{
    const Type *boolean = type_scalar(builder->kernel->types, DTYPE_b1);
    Op *test = build_op(builder, OP_in_group, 0, NULL, 1, &boolean);
    op_set_int(test, ATTR_begin, begin);
    op_set_int(test, ATTR_count, count);
    return build_branch(builder, &test->results[0])->regions[0];
}

/* Rows of mbarriers, at which so many arrive. */
static Op *init_barriers(Builder *builder, int64_t rows, int64_t columns, int64_t count)
{
    const int64_t shape[2] = {rows, columns};
    const Type *type = type_shared(builder->kernel->types, DTYPE_i64, 2, shape, NULL);
    Value *barriers = build_op(builder, OP_shared_alloc, 0, NULL, 1, &type)->results;
    Op *init = build_op(builder, OP_pipeline_init, 1, &barriers, 0, NULL);
    op_set_int(init, ATTR_count, count);
    return init;
}

static void make_channels(Pipeline *pipeline, Builder *builder)
{
    vec_each (channel, &pipeline->channels) {
        Op *init = init_barriers(builder, 2, pipeline->stages, pipeline->producers);
        op_set_int(init, ATTR_warps, pipeline->consumers / WARP_SIZE * (pipeline->cluster ? 2 : 1));
        channel->barriers = operand(init, barriers);
    }
}

void build_consumer_wait(Builder *builder, Value *barriers, PipelineState at, bool by_tma)
{
    Value *operands[3] = {barriers, at.stage, at.parity};
    Op *take = build_op(builder, OP_consumer_wait, 3, operands, 0, NULL);
    if (by_tma) op_set_int(take, ATTR_tma, 1);
}

void build_consumer_release(const Pipeline *pipeline, Builder *builder, Value *barriers,
                            Value *stage, Value *given)
{
    const bool pairs = pipeline->cluster != 0;
    if (!given) given = build_const(builder, DTYPE_b1, 1);
    Value *operands[4] = {barriers, stage, given, pairs ? pairs_other(pipeline, builder) : NULL};
    build_op(builder, OP_consumer_release, pairs ? 4 : 3, operands, 0, NULL);
}

void multi_buffer_make_barriers(Pipeline *pipeline, Builder *builder)
{
    make_channels(pipeline, builder);
    if (pipeline->pingpong)
        pipeline->order = operand(init_barriers(builder, 1, pipeline->consumers / WARPGROUP_SIZE,
                                                WARPGROUP_SIZE / WARP_SIZE),
                                  barriers);
    if (pipeline->once) {
        multi_buffer_make_stages(pipeline->once, *builder);
        make_channels(pipeline->once, builder);
    }
    if (pipeline->cluster)
        pairs_meet(builder);
    else
        build_op(builder, OP_barrier, 0, NULL, 0, NULL);
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
    if (region_holds(to->pipeline->loop->regions[0], value->op->parent)) return VALUE_OPERANDS;
    value_copy_slice(to->builder, (Value *)(uintptr_t)value, to->pipeline->pass->launch, to->map);
    return VALUE_ENOUGH;
}

/* What the copies need from before the loop is copied to before the producers' loop. */
static void copy_known(const Pipeline *pipeline, Builder *builder, const MultiBuffers *buffers,
                       Map *map)
{
    vec_each (buffer, buffers)
        copy_source_finds(buffer->copy, copy_outside, &(Copying){pipeline, builder, map});
}

void multi_buffer_fill(const Pipeline *pipeline, Builder *builder, size_t channel, Value *stage,
                       const Region *region, Map *map)
{
    Value *filled[2] = {pipeline->channels.data[channel].barriers, stage};
    Op *begun = NULL;
    if (pipeline->by_tma) begun = build_op(builder, OP_producer_commit, 2, filled, 0, NULL);
    if (begun) op_set_int(begun, ATTR_bytes, pipeline->channels.data[channel].bytes);
    vec_each (buffer, &pipeline->buffers) {
        if (buffer->channel != (int)channel) continue;
        if (pipeline->cluster && buffer->half >= 0)
            pairs_copy(pipeline, builder, buffer, filled, region, map);
        else
            multi_buffer_copy(pipeline, builder, buffer, filled, NULL, region, map);
    }
    if (!begun) build_op(builder, OP_producer_commit, 2, filled, 0, NULL);
}

Op *multi_buffer_stages_loop(Builder *builder, Value *const bounds[3], PipelineState first,
                             PipelineState *at)
{
    Value *operands[5] = {bounds[0], bounds[1], bounds[2], first.stage, first.parity};
    Op *loop = loop_build(builder, 5, operands);
    op_set_int(loop, ATTR_unroll, 1);
    *at = (PipelineState){loop->regions[0]->arguments[1], loop->regions[0]->arguments[2]};
    return loop;
}

/* To the next stage. */
static void yield_stage(const Pipeline *pipeline, Builder *builder, PipelineState at)
{
    const PipelineState next = multi_buffer_advance(pipeline, builder, at);
    build_op(builder, OP_yield, 2, (Value *[]){next.stage, next.parity}, 0, NULL);
}

/* The producers' loop; `map` gets what it needs. */
static Op *build_iterations(const Pipeline *pipeline, Builder *builder, PipelineState first,
                            PipelineState *at, Map *map)
{
    const Op *loop = pipeline->loop;
    Value *bounds[3];
    for (int i = 0; i < 3; i++)
        bounds[i] = value_copy_slice(builder, loop->operands[i], pipeline->pass->launch, map);
    copy_known(pipeline, builder, &pipeline->buffers, map);
    return multi_buffer_stages_loop(builder, bounds, first, at);
}

static PersistentTile begin_tile(const Pipeline *pipeline, Region *group, int parity)
{
    return pipeline->persistent ? persistent_begin(pipeline->pass, group, &pipeline->raster, parity)
                                : persistent_only(group, parity);
}

static void build_producer_acquire(Builder *builder, Value *barriers, PipelineState at)
{
    build_op(builder, OP_producer_acquire, 3, (Value *[]){barriers, at.stage, at.parity}, 0, NULL);
}

/* Behind the last tile every stage is claimed once more: the other block gives stages back here,
 * and its arrivals must find this block's memory. */
static void wait_for_other(const Pipeline *pipeline, Op *tiles)
{
    Builder builder = builder_after(tiles);
    Value *bounds[3] = {build_const(&builder, DTYPE_i32, 0),
                        build_const(&builder, DTYPE_i32, pipeline->stages),
                        build_const(&builder, DTYPE_i32, 1)};
    PipelineState at = {&tiles->results[0], &tiles->results[1]};
    Op *loop = multi_buffer_stages_loop(&builder, bounds, at, &at);
    Builder inside = builder_at_end(loop->regions[0], tiles->span);
    build_producer_acquire(&inside, pipeline->channels.data[0].barriers, at);
    yield_stage(pipeline, &inside, at);
}

/* Of the waves before this one: 0 or 1. */
static Value *wave_parity(Builder *builder, const PersistentTile *tile)
{
    if (!tile->index[0]) return build_const(builder, DTYPE_i32, 0);
    return persistent_wave_parity(builder, tile->region->parent, tile->region->arguments[0]);
}

/* Copies before the loop are made, and waited for, where it has iterations; NULL: everywhere, as a
 * block that does the work of several counts all of them. */
static Value *condition_of_once(const Pipeline *pipeline)
{
    return pipeline->persistent ? NULL : loop_condition(pipeline->loop);
}

static Builder where(Builder *builder, Value *condition)
{
    return condition ? builder_before(build_branch(builder, condition)->regions[0]->last)
                     : *builder;
}

/* Before the branch, so that the loop can have it, too. */
static Value *know_once(const Pipeline *pipeline, Builder *builder, Map *map)
{
    Value *condition = condition_of_once(pipeline);
    if (!condition) return NULL;
    copy_known(pipeline, builder, &pipeline->once->buffers, map);
    return value_copy_slice(builder, condition, pipeline->pass->launch, map);
}

/* Copies before the loop, each to a stage of its own. */
static void copy_once(const Pipeline *pipeline, Builder *around, const PersistentTile *tile,
                      Map *map)
{
    const Pipeline *once = pipeline->once;
    if (!once) return;
    Builder inside = where(around, know_once(pipeline, around, map)), *builder = &inside;
    Value *zero = build_const(builder, DTYPE_i32, 0);
    if (pipeline->persistent) {
        Value *other =
            build2(builder, OP_sub, build_const(builder, DTYPE_i32, 1), wave_parity(builder, tile));
        build_producer_acquire(builder, once->channels.data[0].barriers,
                               (PipelineState){zero, other});
    }
    multi_buffer_fill(once, builder, 0, zero, pipeline->pass->launch, map);
}

/* Channel after channel: who reads one may wait for it while the next is filled. A nest is made
 * anew, as that of the author's is the consumers'. */
static void build_producers(const Pipeline *pipeline, Region *region)
{
    const Op *loop = pipeline->loop;
    Map map = {0};
    const PersistentTile tile =
        pipeline->nested ? nest_begin(pipeline, region, 1, &map) : begin_tile(pipeline, region, 1);
    Builder builder = builder_before(tile.region->last);
    persistent_know(pipeline->pass, &tile, &map);
    builder.span = loop->span;
    copy_once(pipeline, &builder, &tile, &map);
    PipelineState at;
    Op *iterations = build_iterations(pipeline, &builder, tile.at, &at, &map);
    Region *body = iterations->regions[0];
    map_set(pipeline->pass->arena, &map, loop->regions[0]->arguments[0], body->arguments[0]);
    Builder inside = builder_at_end(body, loop->span);
    for (size_t c = 0; c < pipeline->channels.count; c++) {
        build_producer_acquire(&inside, pipeline->channels.data[c].barriers, at);
        multi_buffer_fill(pipeline, &inside, c, at.stage, pipeline->pass->launch, &map);
    }
    yield_stage(pipeline, &inside, at);
    if (!pipeline->by_tma) build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL);
    persistent_end(&tile, (PipelineState){&iterations->results[0], &iterations->results[1]});
    if (pipeline->cluster) wait_for_other(pipeline, tile.region->parent);
}

/* ---- consumers ---- */

/* Where copies are late, gives back what was read in the iteration before at once (plan_loop.c says
 * why). Returns whether the stage is yet to be given back; NULL where the plan has none of this. */
static Value *release_early(const Pipeline *pipeline, Builder *builder, Value *barriers,
                            Value *const arguments[STAGE_VALUES])
{
    const Op *loop = pipeline->loop;
    if (!pipeline->releases_early) return NULL;
    Value *operands[3] = {barriers, arguments[STAGE_READ], arguments[STAGE_PARITY]};
    Value *filled = build(builder, OP_consumer_try_wait, 3, operands);
    Value *is_later =
        build_cmp(builder, "ne", loop->regions[0]->arguments[0], operand(loop, begin));
    Value *is_empty = build_cmp(builder, "eq", filled, build_const(builder, DTYPE_b1, 0));
    Builder inside = builder_before(build_branch(builder, is_empty)->regions[0]->last);
    op_set_int(build_op(&inside, OP_dot_wait, 0, NULL, 0, NULL), ATTR_count, 0);
    build_consumer_release(pipeline, &inside, barriers, arguments[STAGE_BEFORE], is_later);
    return build2(builder, OP_and, filled, is_later);
}

/* Gives back what was read in the iteration before while this iteration's product is in flight, if
 * `given` says so; NULL: unless this is the first one. */
static void release_stage(const Pipeline *pipeline, Value *barriers,
                          Value *const arguments[STAGE_VALUES], Value *given)
{
    const Op *loop = pipeline->loop;
    Builder builder = builder_before(region_terminator(loop->regions[0]));
    Value *stage = arguments[pipeline->open ? STAGE_BEFORE : STAGE_READ];
    if (pipeline->open && !given)
        given = build_cmp(&builder, "ne", loop->regions[0]->arguments[0], operand(loop, begin));
    build_consumer_release(pipeline, &builder, barriers, stage, given);
}

/* What the last iteration has read, once the product has been waited for. */
static void release_last(const Pipeline *pipeline, Value *barriers, Op *after)
{
    Op *loop = pipeline->loop;
    Builder builder = builder_after(after);
    Value *any = loop_is_entered(&builder, loop);
    Value *last = &loop->results[loop->result_count - STAGE_VALUES + STAGE_LAST];
    build_consumer_release(pipeline, &builder, barriers, last, any);
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
    Value *operands[2] = {value, build_const(&builder, DTYPE_i32, 0)};
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

static void build_consumers(Pipeline *pipeline, const PersistentTile *tile)
{
    Value *arguments[STAGE_VALUES], *first[STAGE_VALUES];
    Value *barriers = pipeline->channels.data[0].barriers;
    for (int i = 0; i < STAGE_VALUES; i++) first[i] = tile->at.stage;
    first[STAGE_PARITY] = tile->at.parity;
    multi_buffer_carry(pipeline, first, arguments);
    Builder start = builder_before(pipeline->loop->regions[0]->first);
    Value *given = release_early(pipeline, &start, barriers, arguments);
    build_consumer_wait(&start, barriers,
                        (PipelineState){arguments[STAGE_READ], arguments[STAGE_PARITY]},
                        pipeline->by_tma);
    multi_buffer_move_uses(pipeline, arguments);
    Op *wait = pipeline->open ? multi_buffer_leave_in_flight(pipeline) : NULL;
    release_stage(pipeline, barriers, arguments, given);
    if (wait && pipeline->reuses_stages) release_last(pipeline, barriers, wait);
    Value *results = &pipeline->loop->results[pipeline->loop->result_count - STAGE_VALUES];
    persistent_end(tile, (PipelineState){&results[STAGE_READ], &results[STAGE_PARITY]});
    if (pipeline->by_tma) divide_early(pipeline); /* others need their registers */
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
    const int consumers = pipeline->consumers, producers = pipeline->producers;
    if (!pipeline->sets_maxnreg) return build_group(builder, consumers, producers);
    Region *all = build_group(builder, consumers, WARPGROUP_SIZE);
    set_registers(all, "dec", SETMAXNREG_LEAST);
    Builder inside = builder_before(all->last);
    return build_group(&inside, consumers, producers);
}

static Region *build_consumers_group(const Pipeline *pipeline, Builder *builder)
{
    Region *group = build_group(builder, 0, pipeline->consumers);
    if (pipeline->sets_maxnreg) set_registers(group, "inc", pipeline->registers);
    return group;
}

/* Consumers wait for it where they begin, and read the stages from there on. */
static void wait_for_once(const Pipeline *pipeline, const PersistentTile *tile, Op *before)
{
    const Pipeline *once = pipeline->once;
    Builder builder = builder_before(before);
    builder.span = pipeline->loop->span;
    if (!once) return;
    Value *zero = build_const(&builder, DTYPE_i32, 0), *parity = wave_parity(&builder, tile);
    Builder inside = where(&builder, condition_of_once(pipeline));
    build_consumer_wait(&inside, once->channels.data[0].barriers, (PipelineState){zero, parity},
                        true);
    vec_each (buffer, &once->buffers) {
        Value *stage = multi_buffer_stage(once, &builder, buffer, zero);
        op_erase(buffer->copy);
        value_replace(&buffer->alloc->results[0], stage);
        op_erase(buffer->alloc);
    }
}

static void release_once(const Pipeline *pipeline, Op *before)
{
    Builder builder = builder_before(before);
    if (!pipeline->once || !pipeline->persistent) return;
    Value *zero = build_const(&builder, DTYPE_i32, 0);
    build_consumer_release(pipeline, &builder, pipeline->once->channels.data[0].barriers, zero,
                           NULL);
}

static void build_consumers_by_plan(Pipeline *pipeline, Plan *plan, const PersistentTile *tile)
{
    plan->at = tile->at;
    wait_for_once(pipeline, tile, pipeline->loop);
    Op *after = pipeline->loop->next;
    const PipelineState end = plan_build(plan);
    release_once(pipeline, after);
    persistent_end(tile, end);
}

static void set_launch(const Pipeline *pipeline, Op *launch)
{
    const int more = pipeline->sets_maxnreg ? WARPGROUP_SIZE : pipeline->producers;
    const int threads = pipeline->consumers + more;
    op_set_int(launch, ATTR_warps, (threads + WARP_SIZE - 1) / WARP_SIZE);
    if (pipeline->persistent) op_set_int(launch, ATTR_persistent, 1);
    if (pipeline->cluster) op_set_ints(launch, ATTR_cluster, 3, (int64_t[]){2, 1, 1});
    if (pipeline->blocks > 1)
        op_set_int(launch, pipeline->sets_maxnreg ? ATTR_min_blocks : ATTR_expected_blocks,
                   pipeline->blocks);
}

void warp_specialize(Pipeline *pipeline, Plan *plan)
{
    Op *first = pipeline->pass->launch->first;
    Map known = {0};
    Builder builder = builder_before(first);
    multi_buffer_make_stages(pipeline, builder);
    builder.span = pipeline->loop->span;
    if (pipeline->cluster) pairs_begin(pipeline, &builder);
    multi_buffer_make_barriers(pipeline, &builder);
    /* Code behind a branch that single threads take is not known to be run by whole warps, so that
     * ptxas has no uniform registers for its addresses: the consumers had better come first. But
     * what ends their work may lie where stages were only if the producers, who are done with
     * these, come before them: as is needed where the stages are not reused and nothing has room
     * beside them. */
    Region *computing =
        pipeline->consumers_first ? build_consumers_group(pipeline, &builder) : NULL;
    Region *copying = build_producers_group(pipeline, &builder);
    if (!computing) computing = build_consumers_group(pipeline, &builder);
    build_producers(pipeline, copying);
    PersistentTile tile = begin_tile(pipeline, computing, 0);
    ops_move_before(first, tile.region->last);
    persistent_know(pipeline->pass, &tile, &known); /* which block's work it is there */
    region_replace(tile.region, &known);
    nest_carry(pipeline, &tile);
    if (pipeline->filling == FILLED_BY_PLAN)
        build_consumers_by_plan(pipeline, plan, &tile);
    else
        build_consumers(pipeline, &tile);
    set_launch(pipeline, pipeline->pass->launch->parent);
}
