/* plan_iterations.c: the loop that consumers run, by its plan. With two stages the first one of the
 * first iteration comes before the loop, and the second one of the last iteration behind it:
 *
 *     if there are iterations: stage 0 of the first
 *         for each other iteration k: stage 0 of k and stage 1 of k - 1, in the plan's order
 *         stage 1 of the last
 *
 * What a stage makes for the next one, or for the next iteration, the loop carries. A product is
 * begun, and waited for where the first op needs its sums; stages are taken before the first
 * product that reads them, and given back behind the wait for the last. Where threads have too few
 * registers for products in flight, each is waited for at once. */
#include "passes/pipeline/multi_buffer.h"

#include "passes/analysis/loop.h"
#include "ir/rebuild.h"

/* A product in flight. */
typedef struct Flight {
    const Op *dot; /* of the text */
    Value *sums;   /* NULL: another goes on with them */
} Flight;

typedef VEC(Value *) Values;

/* What an iteration, or a part of one, is written with. */
typedef struct Writer {
    const Plan *plan;
    Builder builder;
    Map made[PLAN_STAGES];         /* a value of the text -> what it is, in the stage */
    Map waited;                    /* sums in flight -> those that were waited for */
    PipelineState at[PLAN_STAGES]; /* that the stage reads */
    Map filled;                    /* channels: waited for already */
    Map read;                      /* and how often they were read in their last stage */
    VEC(Flight) flights;
    enum { NOT_IN_ORDER, IN_ORDER, DONE_IN_ORDER } pingpong; /* this iteration */
} Writer;

static Region *text_body(const Writer *writer)
{
    return writer->plan->pipeline->loop->regions[0];
}

static Arena *arena_of(const Writer *writer)
{
    return writer->plan->arena;
}

static void know(Writer *writer, int stage, const Value *value, Value *made)
{
    map_set(arena_of(writer), &writer->made[stage], value, made);
}

static void push_state(const Plan *plan, Values *values, PipelineState at)
{
    vec_push(plan->arena, values, at.stage);
    vec_push(plan->arena, values, at.parity);
}

/* ---- stages ---- */

static const Channel *channel_of(const Writer *writer, const MultiBuffer *buffer)
{
    return &writer->plan->pipeline->channels.data[buffer->channel];
}

/* The stages that the step reads are filled, and stand for the tiles. */
static void wait_for_stages(Writer *writer, int stage, const Op *op)
{
    const Pipeline *pipeline = writer->plan->pipeline;
    vec_each (buffer, &pipeline->buffers) {
        const Channel *channel = channel_of(writer, buffer);
        if (!plan_reads(op, buffer->alloc) || channel->stage != stage ||
            map_has(&writer->filled, channel))
            continue;
        map_add(arena_of(writer), &writer->filled, channel);
        build_consumer_wait(&writer->builder, channel->barriers, writer->at[stage], true);
    }
    vec_each (buffer, &pipeline->buffers)
        if (plan_reads(op, buffer->alloc))
            know(writer, stage, &buffer->alloc->results[0],
                 multi_buffer_stage(pipeline, &writer->builder, buffer, writer->at[stage].stage));
}

/* The step is done with what it reads: of some it is the last one. */
static void release_stages(Writer *writer, const Op *op)
{
    const Pipeline *pipeline = writer->plan->pipeline;
    const int stage = plan_stage(writer->plan, op);
    vec_each (channel, &pipeline->channels) {
        intptr_t reads = map_number(&writer->read, channel, 0), before = reads;
        vec_each (buffer, &pipeline->buffers)
            reads += channel_of(writer, buffer) == channel && plan_reads(op, buffer->alloc);
        if (stage != channel->last_stage || reads == before) continue;
        map_set_number(arena_of(writer), &writer->read, channel, reads);
        if (reads == channel->reads)
            build_consumer_release(pipeline, &writer->builder, channel->barriers,
                                   writer->at[stage].stage, NULL);
    }
}

/* ---- ping-pong of warpgroups ---- */

/* Iterations are counted by the stages, of all tiles: where these are odd, by their laps, too. */
static void wait_for_order(Writer *writer)
{
    const Pipeline *pipeline = writer->plan->pipeline;
    Builder *builder = &writer->builder;
    if (!pipeline->pingpong || writer->pingpong != NOT_IN_ORDER) return;
    Value *count = writer->at[0].stage;
    if (pipeline->stages % 2) count = build2(builder, OP_xor, count, writer->at[0].parity);
    if (pipeline->stages != 2)
        count = build2(builder, OP_and, count, build_const(builder, DTYPE_i32, 1));
    build_op(builder, OP_order_wait, 2, (Value *[]){pipeline->order, count}, 0, NULL);
    writer->pingpong = IN_ORDER;
}

/* ---- waits ---- */

/* For the first `count` of the products in flight. */
static void wait_for(Writer *writer, size_t count)
{
    Values sums = {0};
    VEC(const Type *) types = {0};
    if (writer->pingpong == IN_ORDER) { /* the next warpgroup's turn */
        build_op(&writer->builder, OP_order_arrive, 1, &writer->plan->pipeline->order, 0, NULL);
        writer->pingpong = DONE_IN_ORDER;
    }
    for (size_t i = 0; i < count; i++) {
        Value *value = writer->flights.data[i].sums;
        if (!value) continue;
        vec_push(arena_of(writer), &sums, value);
        vec_push(arena_of(writer), &types, value->type);
    }
    Op *wait = build_op(&writer->builder, OP_dot_wait, (int)sums.count, sums.data, (int)types.count,
                        types.data);
    op_set_int(wait, ATTR_count, (int64_t)(writer->flights.count - count));
    for (int i = 0; i < wait->result_count; i++)
        map_set(arena_of(writer), &writer->waited, sums.data[i], &wait->results[i]);
    for (size_t i = 0; i < count; i++) release_stages(writer, writer->flights.data[i].dot);
    for (size_t i = count; i < writer->flights.count; i++)
        writer->flights.data[i - count] = writer->flights.data[i];
    writer->flights.count -= count;
}

static Flight *flight_of(const Writer *writer, const Value *sums)
{
    vec_each (flight, &writer->flights)
        if (flight->sums == sums) return flight;
    return NULL;
}

/* ---- values ---- */

/* What the loop's next iteration begins with may be what a later stage makes before it. */
static Value *stands_for(const Writer *writer, int stage, const Value *value)
{
    Value *made = map_get(&writer->made[stage], value);
    if (!made && stage == 0 && value->region == text_body(writer) && value->index > 0)
        made =
            map_get(&writer->made[1], region_terminator(value->region)->operands[value->index - 1]);
    for (Value *next; made && (next = map_get(&writer->waited, made)) != NULL;) made = next;
    return made;
}

static Value *need(Writer *writer, int stage, Value *value);

/* Its operands are there, and known by what they are now. */
static void need_operands(Writer *writer, int stage, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++) {
        Value *operand = need(writer, stage, op->operands[i]);
        if (operand != op->operands[i]) know(writer, stage, op->operands[i], operand);
    }
}

static Value *need_sums(Writer *writer, int stage, Value *value)
{
    Value *made = stands_for(writer, stage, value);
    if (made || !region_holds(text_body(writer), value_home(value))) return made ? made : value;
    CHECK(value->op && plan_is_remade(writer->plan, value->op));
    need_operands(writer, stage, value->op);
    writer->builder.span = value->op->span;
    op_clone(&writer->builder, value->op, &writer->made[stage]);
    return map_get(&writer->made[stage], value);
}

static Value *need(Writer *writer, int stage, Value *value)
{
    Value *made = need_sums(writer, stage, value);
    const Flight *flight = flight_of(writer, made);
    if (!flight) return made;
    wait_for(writer, (size_t)(flight - writer->flights.data) + 1);
    return stands_for(writer, stage, value);
}

/* ---- steps ---- */

/* What is named in shared memory, or loaded for a product, is made right before who reads it: the
 * tensor core reads operands in their place, and other steps may have made them of another stage.
 */
static void forget_operands(Writer *writer, int stage, const Op *op)
{
    const bool multiplies = op->code == OP_dot;
    for (int i = 0; i < op->operand_count; i++) {
        const Value *value = op->operands[i];
        if (value->type->kind != TYPE_SHARED && !(multiplies && i < 2 && plan_operand(op, i)))
            continue;
        for (const Op *made = value->op;
             made && made->parent == text_body(writer) &&
             (op_swaps(made) || made->code == OP_shared_load || made->code == OP_shared_view);
             made = op_swaps(made) ? operand(made, a)->op : operand(made, tile)->op)
            know(writer, stage, made->results, NULL);
    }
}

/* Of registers; sums that it goes on with may be in flight. */
static void need_registers(Writer *writer, int stage, const Op *dot)
{
    for (int i = 0; i < 2; i++)
        if (!plan_operand(dot, i)) need(writer, stage, dot->operands[i]);
    Value *sums = need_sums(writer, stage, operand(dot, c));
    Flight *before = flight_of(writer, sums);
    if (before && operand(dot, c)->use_count > 1)
        need(writer, stage, operand(dot, c));
    else if (before)
        before->sums = NULL;
}

/* Products in flight read what the step writes, in memory or in registers. */
static void wait_for_readers(Writer *writer, const Op *op)
{
    size_t count = 0;
    for (size_t i = 0; i < writer->flights.count; i++)
        if (plan_conflicts(writer->flights.data[i].dot, op) ||
            plan_reads_registers(writer->flights.data[i].dot, op))
            count = i + 1;
    if (count) wait_for(writer, count);
}

static void write_step(Writer *writer, int stage, const Op *op)
{
    const bool is_async = plan_is_async(writer->plan, op);
    writer->builder.span = op->span;
    if (is_async) need_registers(writer, stage, op);
    wait_for_readers(writer, op);
    wait_for_stages(writer, stage, op);
    if (is_async && stage == 0) wait_for_order(writer);
    forget_operands(writer, stage, op);
    need_operands(writer, stage, op);
    writer->builder.span = op->span;
    Op *made = op_clone(&writer->builder, op, &writer->made[stage]);
    if (is_async) {
        op_set_int(made, ATTR_async, 1);
        vec_push(arena_of(writer), &writer->flights, ((Flight){op, &made->results[0]}));
        if (writer->plan->waits) wait_for(writer, writer->flights.count);
    } else {
        release_stages(writer, op);
    }
}

/* The steps of one stage, or with -1 of all. */
static void write_steps(Writer *writer, int only)
{
    vec_each (step, &writer->plan->steps) {
        const int stage = plan_stage(writer->plan, *step);
        if (only < 0 || stage == only) write_step(writer, stage, *step);
    }
    if (writer->flights.count) wait_for(writer, writer->flights.count);
}

/* ---- what the loop carries ---- */

typedef struct Carried {
    int stage;          /* who needs it */
    const Value *value; /* of the text */
    int next_stage;     /* where what the next iteration finds is to be looked up */
    Value *next, *first;
} Carried;

typedef struct PlannedLoop {
    const Plan *plan;
    Op *loop;                      /* of the text */
    VEC(Carried) carried;          /* behind them come the states */
    PipelineState at[PLAN_STAGES]; /* with which its stages begin */
} PlannedLoop;

static bool is_used_in(const Plan *plan, const Value *value, int stage)
{
    for (const OpUse *use = value->uses; use; use = use->next)
        if (plan_stage(plan, use->op) == stage) return true;
    return false;
}

static void carry(PlannedLoop *iterations, Carried carried)
{
    vec_push(iterations->plan->arena, &iterations->carried, carried);
}

/* What the text's loop carries. */
static void carry_arguments(PlannedLoop *iterations, Writer *before)
{
    const Plan *plan = iterations->plan;
    const Region *body = iterations->loop->regions[0];
    const Op *yield = region_terminator(body);
    for (int i = 0; i < yield->operand_count; i++) {
        Value *argument = body->arguments[1 + i], *next = yield->operands[i];
        Value *init = operand_list(iterations->loop, init)[i];
        const bool is_late = plan_stage(plan, next->op) > 0;
        if (!is_late)
            carry(iterations,
                  (Carried){0, argument, 0, next, plan->count > 1 ? need(before, 0, next) : init});
        if (is_used_in(plan, argument, 1))
            carry(iterations, (Carried){1, argument, is_late, is_late ? next : argument, init});
    }
}

/* What stage 0 makes for stage 1, and the index of its iteration. */
static void carry_to_later_stage(PlannedLoop *iterations, Writer *before)
{
    const Plan *plan = iterations->plan;
    Value *index = iterations->loop->regions[0]->arguments[0];
    carry(iterations, (Carried){1, index, 0, index, operand(iterations->loop, begin)});
    vec_each (step, &plan->steps)
        for (int r = 0; r < (*step)->result_count && plan_stage(plan, *step) == 0; r++) {
            Value *value = &(*step)->results[r];
            if (is_used_in(plan, value, 1))
                carry(iterations, (Carried){1, value, 0, value, need(before, 0, value)});
        }
}

/* ---- the loop ---- */

static Values results_of(const Plan *plan, Op *op)
{
    Values results = {0};
    for (int i = 0; i < op->result_count; i++) vec_push(plan->arena, &results, &op->results[i]);
    return results;
}

/* `found` are the loop's arguments in an iteration, or its results. */
static void know_found(Writer *writer, const PlannedLoop *iterations, Value *const *found)
{
    vec_each (carried, &iterations->carried) know(writer, carried->stage, carried->value, *found++);
    for (int stage = 0; stage < writer->plan->count; stage++, found += 2)
        writer->at[stage] = (PipelineState){found[0], found[1]};
}

static void yield_iteration(Writer *writer, const PlannedLoop *iterations)
{
    const Plan *plan = writer->plan;
    Values next = {0};
    vec_each (carried, &iterations->carried)
        vec_push(plan->arena, &next, need(writer, carried->next_stage, carried->next));
    push_state(writer->plan, &next,
               multi_buffer_advance(plan->pipeline, &writer->builder, writer->at[0]));
    if (plan->count > 1) push_state(writer->plan, &next, writer->at[0]);
    build_op(&writer->builder, OP_yield, (int)next.count, next.data, 0, NULL);
}

static Op *build_loop(const PlannedLoop *iterations, Builder *builder)
{
    const Plan *plan = iterations->plan;
    const Op *text = iterations->loop;
    Value *begin = operand(text, begin);
    if (plan->count > 1) begin = build2(builder, OP_add, begin, operand(text, step));
    Values operands = {0};
    Value *bounds[3] = {begin, operand(text, end), operand(text, step)};
    for (int i = 0; i < 3; i++) vec_push(plan->arena, &operands, bounds[i]);
    vec_each (carried, &iterations->carried) vec_push(plan->arena, &operands, carried->first);
    for (int stage = 0; stage < plan->count; stage++)
        push_state(plan, &operands, iterations->at[stage]);
    Op *loop = loop_build(builder, (int)operands.count, operands.data);
    op_keep_attrs(loop, text);
    Region *body = loop->regions[0];
    Writer writer = {.plan = plan, .builder = builder_at_end(body, text->span)};
    know(&writer, 0, text->regions[0]->arguments[0], body->arguments[0]);
    know_found(&writer, iterations, body->arguments + 1);
    write_steps(&writer, -1);
    yield_iteration(&writer, iterations);
    return loop;
}

/* Stage 0 of the first iteration. */
static void write_first(Writer *writer, const PlannedLoop *iterations)
{
    const Op *text = iterations->loop;
    const Region *body = text->regions[0];
    know(writer, 0, body->arguments[0], operand(text, begin));
    for (int i = 1; i < body->argument_count; i++)
        know(writer, 0, body->arguments[i], operand_list(text, init)[i - 1]);
    writer->at[0] = writer->plan->at;
    write_steps(writer, 0);
}

/* What the text's loop leaves: of the last iteration's stages; and the state. */
static Values write_loop(const Plan *plan, Builder *builder)
{
    Writer before = {.plan = plan, .builder = *builder};
    PlannedLoop iterations = {
        .plan = plan, .loop = plan->pipeline->loop, .at = {plan->at, plan->at}};
    if (plan->count > 1) write_first(&before, &iterations);
    carry_arguments(&iterations, &before);
    if (plan->count > 1) {
        carry_to_later_stage(&iterations, &before);
        iterations.at[0] = multi_buffer_advance(plan->pipeline, builder, plan->at);
    }
    Op *loop = build_loop(&iterations, builder);
    Writer after = {.plan = plan, .builder = *builder};
    know_found(&after, &iterations, results_of(plan, loop).data);
    if (plan->count > 1) write_steps(&after, 1);
    Values results = {0};
    for (int i = 0; i < iterations.loop->result_count; i++) {
        Value *last = region_terminator(text_body(&after))->operands[i];
        vec_push(plan->arena, &results,
                 plan_stage(plan, last->op) > 0
                     ? need(&after, 1, last)
                     : stands_for(&after, 0, text_body(&after)->arguments[1 + i]));
    }
    push_state(plan, &results, after.at[0]);
    return results;
}

/* ---- whether there are iterations ---- */

/* An `if` whose results are the loop's, and the state behind it: those of its iterations, or what
 * it begins with. */
static Values write_choice(const Plan *plan, Builder *builder)
{
    const Op *loop = plan->pipeline->loop;
    Values init = {0};
    VEC(const Type *) types = {0};
    for (int i = 0; i < loop->result_count; i++)
        vec_push(plan->arena, &init, operand_list(loop, init)[i]);
    push_state(plan, &init, plan->at);
    vec_each (value, &init) vec_push(plan->arena, &types, (*value)->type);
    Value *any = loop_is_entered(builder, loop);
    Op *choice = build_op(builder, OP_if, 1, &any, (int)types.count, types.data);
    Builder some = builder_at_end(choice->regions[0], loop->span),
            none = builder_at_end(choice->regions[1], loop->span);
    const Values made = write_loop(plan, &some);
    build_op(&some, OP_yield, (int)made.count, made.data, 0, NULL);
    build_op(&none, OP_yield, (int)init.count, init.data, 0, NULL);
    return results_of(plan, choice);
}

/* Tiles of the body, which both stages of an iteration have. */
static void move_tiles(Op *loop)
{
    for (Op *op = loop->regions[0]->first, *next; op; op = next) {
        next = op_next(op);
        if (op->code == OP_shared_alloc) op_move_before(op, loop);
    }
}

PipelineState plan_build(const Plan *plan)
{
    Op *loop = plan->pipeline->loop;
    Builder builder = builder_before(loop);
    move_tiles(loop);
    const Values results = plan->count == 1 || loop_runs(loop) ? write_loop(plan, &builder)
                                                               : write_choice(plan, &builder);
    const PipelineState end = {results.data[loop->result_count],
                               results.data[loop->result_count + 1]};
    for (int i = 0; i < loop->result_count; i++) value_replace(&loop->results[i], results.data[i]);
    op_erase(loop);
    multi_buffer_drop_tiles(plan->pipeline);
    return end;
}
