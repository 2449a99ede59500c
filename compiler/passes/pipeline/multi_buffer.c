/* multi_buffer.c: copies from global to shared memory: in a loop with {stages} ahead of their use,
 * into a multi-buffer of that many tiles; elsewhere at once. Needs SSA and bounds, which are proved
 * of a loop's own variable; leaves no `copy`.
 *
 * What is done for a loop is planned (plan_loop.c); here that is done by threads that compute.
 * Iteration k reads the tile in stage k mod n:
 *
 *     for s below n - 1: copy iteration s to stage s if there is such an iteration; commit
 *     for each iteration k: wait until n - 2 groups are left; copy iteration k + n - 1 to the
 *         stage that iteration k - 1 has read, if there is such an iteration; commit; the rest
 *         of the body
 *
 * A product that the tensor core reads in the stages may be in flight while the next iteration
 * begins: then copies are one iteration less ahead, and that of iteration k - 2 is waited for
 * first.
 *
 * What threads gather, 16 bytes side by side each, and store to such a tile as a whole is copied
 * like that, too: the gather and what it takes its indices from are made again for the iteration
 * ahead, and the store begins copies.
 *
 * A group is committed whether anything was copied or not, so that the count of those in flight
 * always says the same. The barrier that shows what was copied to the other threads also says that
 * they have done with iteration k - 1: sync places one. */
#include "passes/pipeline/plan.h"

#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/layout/matrix.h"
#include "ir/rebuild.h"

#include <string.h>

/* ---- stages ---- */

Value *multi_buffer_view(Builder *builder, Value *stages, Value *stage, const Type *type)
{
    Value *operands[1 + TYPE_RANK] = {stages, stage};
    int64_t dims[TYPE_RANK];
    for (int d = 0; d < type->rank; d++) {
        operands[2 + d] = build_const(builder, DTYPE_i32, 0);
        dims[d] = d + 1;
    }
    Op *view = build_op(builder, OP_shared_view, 2 + type->rank, operands, 1, &type);
    op_set_ints(view, ATTR_dims, type->rank, dims);
    return &view->results[0];
}

Value *multi_buffer_stage(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                          Value *stage)
{
    const Type *tile = buffer->alloc->results[0].type;
    return multi_buffer_view(
        builder, buffer->stages, stage,
        type_shared(pipeline->pass->kernel->types, tile->dtype, tile->rank, tile->shape, NULL));
}

static void lay_out(const Pipeline *pipeline, MultiBuffer *buffer)
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

Value *multi_buffer_alloc(Builder *builder, const Op *alloc, int64_t stages)
{
    const Type *tile = alloc->results[0].type;
    int64_t shape[TYPE_RANK] = {stages};
    memcpy(shape + 1, tile->shape, sizeof *shape * (size_t)tile->rank);
    const Type *type =
        type_shared(builder->kernel->types, tile->dtype, tile->rank + 1, shape, NULL);
    builder->span = alloc->span;
    Value *made = &build_op(builder, OP_shared_alloc, 0, NULL, 1, &type)->results[0];
    made->name = alloc->results[0].name;
    return made;
}

/* What is used outside of the loop has its stages from where its tile is. */
void multi_buffer_make_stages(Pipeline *pipeline, Builder builder)
{
    vec_each (buffer, &pipeline->buffers) {
        Builder at = buffer->is_shared ? builder_after(buffer->alloc) : builder;
        buffer->stages = multi_buffer_alloc(&at, buffer->alloc, pipeline->stages);
        if (pipeline->by_tma) lay_out(pipeline, buffer);
        if (pipeline->filling > FILLED_BY_TMA) /* by threads beside those that compute */
            op_set_int(buffer->stages->op, ATTR_multi_buffer, 1);
    }
}

PipelineState multi_buffer_advance(const Pipeline *pipeline, Builder *builder, PipelineState at)
{
    Value *last = build_const(builder, DTYPE_i32, pipeline->stages - 1);
    Value *one = build_const(builder, DTYPE_i32, 1), *zero = build_const(builder, DTYPE_i32, 0);
    Value *is_last = build_cmp(builder, "eq", at.stage, last);
    at.stage = build3(builder, OP_select, is_last, zero, build2(builder, OP_add, at.stage, one));
    if (at.parity)
        at.parity =
            build3(builder, OP_select, is_last, build2(builder, OP_sub, one, at.parity), at.parity);
    return at;
}

static int carried_values(const Pipeline *pipeline)
{
    return pipeline->filling == FILLED_BY_THREADS ? STAGE_PARITY : STAGE_VALUES;
}

void multi_buffer_carry(Pipeline *pipeline, Value *const first[STAGE_VALUES],
                        Value *arguments[STAGE_VALUES])
{
    const int count = carried_values(pipeline);
    pipeline->loop = loop_carry(pipeline->loop, count, first);
    Region *body = pipeline->loop->regions[0];
    for (int i = 0; i < count; i++) arguments[i] = region_add_argument(body, first[i]->type, NULL);
    Builder end = builder_before(region_terminator(body));
    Value *read = arguments[STAGE_READ];
    const PipelineState next = multi_buffer_advance(
        pipeline, &end,
        (PipelineState){read, count > STAGE_PARITY ? arguments[STAGE_PARITY] : NULL});
    Value *const carried[STAGE_VALUES] = {
        next.stage, read, pipeline->open ? arguments[STAGE_BEFORE] : read, read, next.parity};
    op_add_operands(region_terminator(body), count, carried);
}

/* ---- the tile's uses ---- */

/* What `value`, the tile or a part of it, is in the stage. */
static Value *in_stage(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                       Value *value, Value *stage)
{
    if (value == &buffer->alloc->results[0])
        return multi_buffer_stage(pipeline, builder, buffer, stage);
    Map map = {0};
    Value *whole = op_aliased(value->op);
    map_set(pipeline->pass->arena, &map, whole, in_stage(pipeline, builder, buffer, whole, stage));
    return &op_clone(builder, value->op, &map)->results[0];
}

static void move_buffer(const Pipeline *pipeline, const MultiBuffer *buffer,
                        Value *const arguments[STAGE_VALUES])
{
    Op *loop = pipeline->loop;
    for (size_t i = 0; i < buffer->uses.count; i++) {
        Op *use = buffer->uses.data[i];
        if (use == buffer->copy || op_has(use, ALIAS)) continue;
        const bool inside = region_holds(loop->regions[0], use->parent);
        if (!inside && !buffer->is_shared) continue;
        Builder builder = builder_before(use);
        Value *stage = arguments[STAGE_READ];
        if (!inside)
            stage =
                op_comes_before(region_find_ancestor(loop->parent, use), loop)
                    ? build_const(&builder, DTYPE_i32, 0)
                    : &loop->results[loop->result_count - carried_values(pipeline) + STAGE_LAST];
        for (int o = 0; o < use->operand_count; o++)
            if (use->operands[o]->type->kind == TYPE_SHARED &&
                shared_root(use->operands[o]) == buffer->alloc)
                op_set_operand(use, o,
                               in_stage(pipeline, &builder, buffer, use->operands[o], stage));
    }
}

static void drop_tile(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    const Op *loop = pipeline->loop;
    for (size_t i = buffer->uses.count; i-- > 0;) {
        Op *use = buffer->uses.data[i];
        /* it went with the loop, in whose place there is another one */
        const bool is_erased = !loop->parent && region_holds(loop->regions[0], use->parent);
        if (op_has(use, ALIAS) && !is_erased && use->results[0].use_count == 0) op_erase(use);
    }
    if (buffer->alloc->results[0].use_count == 0) op_erase(buffer->alloc);
}

void multi_buffer_drop_tiles(const Pipeline *pipeline)
{
    vec_each (buffer, &pipeline->buffers) drop_tile(pipeline, buffer);
}

/* What is gathered to stages now, and where from. */
static void drop_gathered(const Pipeline *pipeline)
{
    if (!multi_buffer_gathers(pipeline)) return;
    for (Op *op = pipeline->loop->regions[0]->last, *before; op; op = before) {
        before = op->previous;
        const bool computes = (op_has(op, PURE) && !op_has(op, ALIAS)) || op->code == OP_gather ||
                              op->code == OP_load;
        if (computes && op->result_count == 1 && !op->results[0].use_count) op_erase(op);
    }
}

void multi_buffer_move_uses(const Pipeline *pipeline, Value *const arguments[STAGE_VALUES])
{
    vec_each (buffer, &pipeline->buffers) move_buffer(pipeline, buffer, arguments);
    vec_each (buffer, &pipeline->buffers) op_erase(buffer->copy);
    drop_gathered(pipeline);
    multi_buffer_drop_tiles(pipeline);
}

/* ---- a dot in flight ---- */

static Value *build_dot_wait(Builder *builder, Value *tile)
{
    Op *wait = build_op(builder, OP_dot_wait, 1, &tile, 1, &tile->type);
    op_set_int(wait, ATTR_count, 0);
    return &wait->results[0];
}

/* What goes into the loop must not be a constant, as the tensor core writes it all the time. */
Op *multi_buffer_leave_in_flight(const Pipeline *pipeline)
{
    Op *loop = pipeline->loop;
    const int index = pipeline->open_sum;
    Builder before = builder_before(loop), after = builder_after(loop),
            inside = builder_after(pipeline->open);
    op_set_int(build_op(&inside, OP_dot_wait, 0, NULL, 0, NULL), ATTR_count, 1);
    Value *sum = &loop->results[index];
    op_set_operand(loop, operand_index(loop, init) + index,
                   build_dot_wait(&before, operand_list(loop, init)[index]));
    Value *whole = build_dot_wait(&after, sum);
    value_replace(sum, whole);
    op_set_operand(whole->op, operand_index(whole->op, tiles), sum);
    op_set_int(pipeline->open, ATTR_async, 1);
    return whole->op;
}

/* ---- by threads that compute ---- */

/* Iterations that copies are ahead of their use. */
static int distance_of(const Pipeline *pipeline)
{
    return pipeline->stages - (pipeline->open ? 2 : 1);
}

/* What tells where elements are is loaded of iterations that there are not, too: what was proved of
 * its bounds does not hold there. */
static void check_loads(Op *first, const Op *last)
{
    for (Op *op = first; op != last; op = op->next)
        if (op->code == OP_load) access_check(op, NULL, 0);
}

/* Elements to their places in the stage, as far as the iteration exists. */
static void copy_gathered(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                          Value *stage, Value *exists, Map *map)
{
    const Op *gather = buffer->gather;
    const Region *region = pipeline->loop->regions[0];
    builder->span = gather->span;
    Op *before = builder->before->previous;
    for (int i = 0; i < gather->operand_count; i++)
        value_copy_slice(builder, gather->operands[i], region, map);
    Op *made = op_clone(builder, gather, map);
    check_loads(before ? before->next : made->parent->first, made);
    builder->span = buffer->copy->span;
    Value *operands[3] = {multi_buffer_stage(pipeline, builder, buffer, stage), made->results,
                          exists};
    Op *begun = build_op(builder, OP_shared_store, 3, operands, 0, NULL);
    op_set_int(begun, ATTR_async, 1);
    op_set_int(begun, ATTR_stages, pipeline->stages);
}

Op *multi_buffer_copy(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                      Value *const filled[2], Value *which, const Region *region, Map *map)
{
    Value *operands[5 + TYPE_RANK];
    const Op *copy = buffer->copy;
    const int tile = operand_index(copy, tile);
    const bool by_tma = pipeline->by_tma;
    int count = 0;
    builder->span = copy->span;
    for (int o = 0; o < copy->operand_count; o++) {
        operands[count++] = o == tile ? multi_buffer_stage(pipeline, builder, buffer, filled[1])
                                      : value_copy_slice(builder, copy->operands[o], region, map);
        for (int i = 0; i < 2 && o == tile && by_tma; i++) operands[count++] = filled[i];
    }
    if (which) operands[count++] = which;
    Op *begun = build_op(builder, by_tma ? OP_tma_load : OP_copy_async, count, operands, 0, NULL);
    op_keep_attrs(begun, copy);
    if (which) op_set_int(begun, by_tma ? ATTR_multicast : ATTR_masked, 1);
    op_set_int(begun, ATTR_stages, pipeline->stages);
    if (filled[0]) op_set_int(begun, ATTR_multi_buffer, 1);
    return begun;
}

/* To their stages, and a group of them. */
static void copy_iteration(const Pipeline *pipeline, Builder *builder, Value *stage, Value *exists,
                           Map *map)
{
    const Span span = builder->span;
    vec_each (buffer, &pipeline->buffers) {
        if (buffer->gather)
            copy_gathered(pipeline, builder, buffer, stage, exists, map);
        else
            multi_buffer_copy(pipeline, builder, buffer, (Value *const[2]){NULL, stage}, exists,
                              pipeline->loop->regions[0], map);
    }
    builder->span = span;
    build_op(builder, OP_copy_commit, 0, NULL, 0, NULL);
}

/* By the end less so many steps, which does not wrap: in a loop that runs it is behind the
 * beginning. */
static Value *has_iteration_ahead(const Pipeline *pipeline, Builder *builder, Value *index)
{
    const Op *loop = pipeline->loop;
    Builder outside = builder_before(pipeline->loop);
    Value *limit =
        loop_ahead(&outside, operand(loop, end), operand(loop, step), -distance_of(pipeline));
    return build_cmp(builder, "lt", index, limit);
}

/* The copies of the iteration so many behind the one with this index, if there is one. */
static void begin_iteration(const Pipeline *pipeline, Builder *builder, Value *index,
                            int iterations, Value *stage)
{
    const Op *loop = pipeline->loop;
    const bool by_threads = pipeline->filling == FILLED_BY_THREADS,
               counts_down = by_threads && index == loop->regions[0]->arguments[0] &&
                             loop_counts_to(loop, operand(loop, begin), -distance_of(pipeline));
    Value *exists = counts_down ? has_iteration_ahead(pipeline, builder, index) : NULL;
    Value *later = loop_ahead(builder, index, operand(loop, step), iterations);
    if (!exists) exists = loop_has_iteration(loop, builder, index, iterations, later);
    Map map = {0};
    map_set(pipeline->pass->arena, &map, loop->regions[0]->arguments[0], later);
    if (by_threads) {
        copy_iteration(pipeline, builder, stage, exists, &map);
        return;
    }
    Builder inside = builder_before(build_branch(builder, exists)->regions[0]->last);
    multi_buffer_fill(pipeline, &inside, 0, stage, loop->regions[0], &map);
}

static void begin_first_iterations(const Pipeline *pipeline)
{
    Builder builder = builder_before(pipeline->loop);
    for (int iteration = 0; iteration < distance_of(pipeline); iteration++) {
        Value *stage = build_const(&builder, DTYPE_i32, iteration);
        begin_iteration(pipeline, &builder, operand(pipeline->loop, begin), iteration, stage);
    }
}

static void carry(Pipeline *pipeline, Value *arguments[STAGE_VALUES])
{
    const int stages[STAGE_VALUES] = {
        [STAGE_BEFORE] = pipeline->stages - 1, [STAGE_FREE] = distance_of(pipeline)};
    Builder builder = builder_before(pipeline->loop);
    Value *first[STAGE_VALUES];
    for (int i = 0; i < STAGE_VALUES; i++) first[i] = build_const(&builder, DTYPE_i32, stages[i]);
    multi_buffer_carry(pipeline, first, arguments);
}

/* Waits for this iteration's copies and begins those of the iterations ahead. By TMA one of the
 * threads does: behind a barrier, behind which the stage is free that was read last. */
static void take_iteration(const Pipeline *pipeline, Value *const arguments[STAGE_VALUES])
{
    const bool by_threads = pipeline->filling == FILLED_BY_THREADS;
    const Region *body = pipeline->loop->regions[0];
    Builder builder = builder_before(by_threads ? pipeline->buffers.data[0].copy : body->first);
    if (by_threads)
        op_set_int(build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL), ATTR_count,
                   distance_of(pipeline) - 1);
    else
        build_op(&builder, OP_barrier, 0, NULL, 0, NULL);
    begin_iteration(pipeline, &builder, body->arguments[0], distance_of(pipeline),
                    arguments[STAGE_FREE]);
    if (by_threads) return;
    build_consumer_wait(&builder, pipeline->channels.data[0].barriers,
                        (PipelineState){arguments[STAGE_READ], arguments[STAGE_PARITY]}, true);
}

static void fill(Pipeline *pipeline)
{
    Value *arguments[STAGE_VALUES];
    Builder before = builder_before(pipeline->loop);
    multi_buffer_make_stages(pipeline, before);
    if (pipeline->filling == FILLED_BY_TMA) multi_buffer_make_barriers(pipeline, &before);
    begin_first_iterations(pipeline);
    carry(pipeline, arguments);
    take_iteration(pipeline, arguments);
    multi_buffer_move_uses(pipeline, arguments);
    if (pipeline->open) multi_buffer_leave_in_flight(pipeline);
}

/* ---- all loops ---- */

static void pipeline_loop(Op *op, void *context)
{
    const Pass *pass = context;
    const int64_t stages = op_int(op, ATTR_stages, 0);
    if (op->code != OP_for || stages < 1 || !op->region_count) return;
    Pipeline pipeline = {
        .pass = pass, .loop = op, .stages = (int)stages, .nested = op->parent != pass->launch};
    Plan plan = {.pipeline = &pipeline};
    plan_find_buffers(&pipeline);
    plan_stages(&pipeline);
    if (!pipeline.buffers.count) return;
    analysis_invalidate(pass->context);
    plan_loop(&pipeline, &plan);
    if (pipeline.filling > FILLED_BY_TMA)
        warp_specialize(&pipeline, &plan);
    else if (pipeline.filling != FILLED_BY_NOBODY)
        fill(&pipeline);
    else if (loop_trips(op) == 1)
        loop_dissolve(op, operand(op, begin)); /* nothing is ahead of its one iteration */
}

bool pass_multi_buffer(Kernel *kernel, PassContext *context)
{
    Pass pass = {
        .kernel = kernel, .context = context, .target = context->target, .arena = context->arena};
    kernel_each_launch (op, kernel) {
        pass.launch = launch_region(op);
        launch_note_writes(&pass);
        pass.shares_registers = region_has(pass.launch, OP_setmaxnreg);
        const StoreFaults stores = multi_buffer_note_stores(&pass);
        region_visit_inner_first(pass.launch, pipeline_loop, &pass);
        analysis_invalidate(context);
        single_copies_build(&pass);
        multi_buffer_remark_stores(&stores);
    }
    return true;
}
