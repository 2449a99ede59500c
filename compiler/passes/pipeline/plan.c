/* plan.c: what a loop does when, whose products and other work with tiles depend on each other.
 *
 * The ops of the body are the nodes of a graph, what they make its edges, within an iteration and
 * from one to the next. A product that needs what is made of another product of its iteration is
 * done an iteration later, beside the first product of that iteration, if registers can hold what
 * goes from one stage to the next:
 *
 *     for each iteration k: begin the first product of iteration k, and the second of iteration
 *         k - 1; wait for the first; the work between the two of iteration k; wait for the second
 *
 * Where no product needs another, one that reads what threads store in its iteration is done an
 * iteration later: it is in flight while threads make what the next one reads.
 *
 * So the tensor core has work while threads do theirs: software pipelining (Lam 1988), of two
 * stages as in FlashAttention-3 (Shah and others 2024). Within an iteration ops come in the order
 * of a list schedule (Gibbons and Muchnick 1986): what is ready, products first, then what waits
 * least for products that are in flight; units have latencies of their own.
 *
 * Each multi-buffer has barriers of its own, so that its stages are filled again as soon as what
 * reads them is done (a Channel: multi-buffers that the same products read share them). Copies are
 * made by producers.
 */
#include "passes/pipeline/plan.h"

#include "passes/layout/matrix.h"
#include "passes/analysis/loop.h"

static const Region *body_of(const Plan *plan)
{
    return plan->pipeline->loop->regions[0];
}

/* ---- stages ---- */

/* With one stage all that was found are that one. */
int plan_stage(const Plan *plan, const Op *op)
{
    return (int)lesser_of(map_number(&plan->stages, op, 0), plan->count - 1);
}

/* Not before that of its operands, and of what stands before it and touches the same memory. A
 * product waits a stage for what is made of another product of its iteration, or what threads
 * store, of what it reads; but a sum that it goes on with costs no time. */
static int stage_of(Plan *plan, const Op *op)
{
    const bool multiplies = op->code == OP_dot;
    bool is_derived = multiplies;
    int64_t stage = 0;
    for (const Op *before = body_of(plan)->first; before != op; before = op_next(before)) {
        if (!plan_conflicts(before, op)) continue;
        const bool derived = map_has(&plan->derived, before),
                   stored = plan->hands_over && before->code == OP_shared_store;
        is_derived |= derived;
        stage = larger_of(stage, plan_stage(plan, before) + (multiplies && (derived || stored)));
    }
    for (int i = 0; i < op->operand_count; i++) {
        const Op *made = op->operands[i]->op;
        const bool derived = map_has(&plan->derived, made),
                   goes_on = i == 2 && made && made->code == OP_dot;
        is_derived |= derived;
        stage = larger_of(stage, plan_stage(plan, made) + (multiplies && derived && !goes_on));
    }
    if (is_derived) map_add(plan->arena, &plan->derived, op);
    return (int)stage;
}

static bool has_conflicts(const Plan *plan, const Op *op)
{
    vec_each (other, &plan->steps)
        if (*other != op && (plan_conflicts(*other, op) || plan_conflicts(op, *other))) return true;
    return false;
}

/* It goes to shared memory in the iteration as it is, for the next product. */
static bool is_handed_on(const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next)
        if (use->op->code == OP_shared_store) return true;
    return false;
}

/* Nothing waits for a store to global memory. What products make is stored an iteration late,
 * beside the next products, as these wait for what threads make of it. But not what goes to shared
 * memory as it is: there the next product waits for little else. */
static void put_off_stores(Plan *plan)
{
    if (plan->count == 1) return;
    vec_each (step, &plan->steps)
        if ((*step)->code == OP_store && map_has(&plan->derived, operand(*step, value)->op) &&
            !is_handed_on(operand(*step, value)) && !has_conflicts(plan, *step))
            map_set_number(plan->arena, &plan->stages, *step, plan->count - 1);
}

static void find_steps(Plan *plan, bool hands_over)
{
    plan->count = 1;
    plan->hands_over = hands_over;
    plan->steps.count = 0;
    for (Op *op = body_of(plan)->first; op; op = op_next(op)) {
        const int stage = stage_of(plan, op);
        if (op->code == OP_copy || op->code == OP_yield || op->code == OP_shared_alloc ||
            plan_is_remade(plan, op))
            continue;
        vec_push(plan->arena, &plan->steps, op);
        map_set_number(plan->arena, &plan->stages, op, stage);
        plan->count = (int)larger_of(plan->count, stage + 1);
    }
    put_off_stores(plan);
}

/* ---- registers ---- */

static int64_t words_of(const Type *type, int threads)
{
    return type->kind == TYPE_TILE
               ? type_elements(type) / threads * dtype_bits(type->dtype) / REGISTER_BITS
               : 0;
}

static bool goes_to_later_stage(const Plan *plan, const Op *op)
{
    for (const OpUse *use = op->result_count ? op->results[0].uses : NULL; use; use = use->next)
        if (plan_stage(plan, use->op) > plan_stage(plan, op)) return true;
    return false;
}

/* Of a thread: all sums, which are in flight at one time, and what goes from stage to stage beside
 * them, or is a product's left operand. */
static int64_t words_needed(const Plan *plan, int stages)
{
    const int threads = power_of_two_below(op_threads(plan->pipeline->loop).count);
    int64_t words = COST_OTHER_REGISTERS;
    vec_each (step, &plan->steps) {
        const Op *op = *step;
        if (op->code == OP_dot) {
            words += words_of(op->results[0].type, threads);
            if (!plan_operand(op, 0)) words += words_of(operand(op, a)->type, threads);
        } else if (stages > 1 && goes_to_later_stage(plan, op) &&
                   op->results[0].uses->op->code != OP_dot) {
            words += words_of(op->results[0].type, threads);
        }
    }
    return words;
}

/* ---- the order ---- */

int64_t plan_product_cycles(const Target *target, const Op *dot)
{
    enum { BITS = 16, EACH = 2 /* a multiply-add is two operations */ };
    const Type *a = operand(dot, a)->type;
    return cost_cycles(target, UNIT_TENSOR,
                       type_elements(dot->results[0].type) * a->shape[1] * dtype_bits(a->dtype) /
                           BITS * EACH);
}

/* Cycles of a multiprocessor, by what does the work. */
static int64_t latency_of(const Target *target, const Op *op)
{
    if (op->code == OP_shared_store)
        return cost_cycles(target, UNIT_SHARED, type_bytes(operand(op, tile)->type)) + 1;
    if (!op->result_count || op->results[0].type->kind != TYPE_TILE) return 1;
    const Type *type = op->results[0].type;
    const int64_t elements = type_elements(op->code == OP_reduce ? operand(op, a)->type : type);
    if (op->code == OP_dot) return plan_product_cycles(target, op);
    const bool is_special = op->code == OP_approx || op->code == OP_div;
    return cost_cycles(target, is_special ? UNIT_SFU : UNIT_ALU, elements) + 1;
}

typedef VEC(size_t) Numbers;

typedef struct Schedule {
    const Plan *plan;
    Numbers *before; /* of each step: those that must precede it */
    int64_t *done;   /* when it is; -1: it is not known yet */
    int64_t now, tensor_core;
} Schedule;

/* What the user needs in its stage, or in the iteration before; of later stages that is done. */
static bool makes_for(const Plan *plan, const Op *op, const Op *user)
{
    const Region *body = body_of(plan);
    for (int i = 0; i < user->operand_count; i++) {
        const Value *value = user->operands[i];
        if (value->op == op && plan_stage(plan, op) == plan_stage(plan, user)) return true;
        if (value->region == body && value->index > 0 &&
            region_terminator(body)->operands[value->index - 1]->op == op &&
            plan_stage(plan, op) > 0 && plan_stage(plan, user) == 0)
            return true;
    }
    return false;
}

/* Steps of a later stage are of an iteration before; those of one stage stand in order. */
static bool must_precede(const Plan *plan, size_t a, size_t b)
{
    const Op *op = plan->steps.data[a], *other = plan->steps.data[b];
    const int stages = plan_stage(plan, op) - plan_stage(plan, other);
    return makes_for(plan, op, other) || (stages > 0 && plan_reads_registers(op, other)) ||
           ((stages > 0 || (stages == 0 && a < b)) && plan_conflicts(op, other));
}

/* -1: what must precede it has no time yet. */
static int64_t step_ready(const Schedule *schedule, size_t step)
{
    int64_t latest = 0;
    vec_each (before, &schedule->before[step]) {
        if (schedule->done[*before] < 0) return -1;
        latest = larger_of(latest, schedule->done[*before]);
    }
    return latest;
}

/* Of steps that can come now: a product, that of the earliest stage; what need not wait; what waits
 * least. Where each product is waited for, the author's order, as sums that are made earlier take
 * registers for nothing. */
static int64_t rank_of(const Schedule *schedule, const Op *op, int64_t ready)
{
    if (schedule->plan->waits) return 0;
    if (ready > schedule->now) return ready;
    return op->code == OP_dot ? plan_stage(schedule->plan, op) - PLAN_STAGES : 0;
}

static size_t choose_step(const Schedule *schedule)
{
    const OpVec *steps = &schedule->plan->steps;
    size_t best = steps->count;
    int64_t least = INT64_MAX;
    for (size_t i = 0; i < steps->count; i++) {
        const int64_t ready = schedule->done[i] < 0 ? step_ready(schedule, i) : -1,
                      rank = rank_of(schedule, steps->data[i], ready);
        if (ready < 0 || rank >= least) continue;
        best = i;
        least = rank;
    }
    CHECK(best < steps->count);
    return best;
}

static void place_step(Schedule *schedule, size_t step)
{
    const Plan *plan = schedule->plan;
    const Op *op = plan->steps.data[step];
    schedule->now = larger_of(schedule->now, step_ready(schedule, step));
    int64_t end = schedule->now + latency_of(plan->pipeline->pass->target, op);
    if (plan_is_async(plan, op) && !plan->waits) {
        end += larger_of(schedule->tensor_core - schedule->now, 0);
        schedule->tensor_core = end;
    } else {
        schedule->now = end;
    }
    schedule->done[step] = end;
}

static void order_steps(Plan *plan)
{
    const size_t count = plan->steps.count;
    Schedule schedule = {.plan = plan,
                         .before = arena_new_array(plan->arena, Numbers, count),
                         .done = arena_new_array(plan->arena, int64_t, count)};
    OpVec order = {0};
    for (size_t i = 0; i < count; i++) {
        schedule.done[i] = -1;
        for (size_t j = 0; j < count; j++)
            if (must_precede(plan, j, i)) vec_push(plan->arena, &schedule.before[i], j);
    }
    while (order.count < count) {
        const size_t next = choose_step(&schedule);
        place_step(&schedule, next);
        vec_push(plan->arena, &order, plan->steps.data[next]);
    }
    plan->steps = order;
    plan->cycles = larger_of(schedule.now, schedule.tensor_core);
}

/* ---- ping-pong of warpgroups ---- */

/* Two warpgroups that begin their products at the same time wait for them at the same time, too,
 * and then compute at the same time, while the tensor core has nothing to do: each iteration is as
 * the one before. Where products take longer than what threads do between them, the second
 * warpgroup's are late enough for the two to come apart by themselves; else they had better begin
 * one behind the other, as in FlashAttention-3 (Shah and others 2024). */
static bool gains_by_pingpong(const Plan *plan)
{
    enum { ALL = 100 };
    const Pipeline *pipeline = plan->pipeline;
    int64_t products = 0, between = 0;
    vec_each (step, &plan->steps) {
        const int64_t cycles = latency_of(pipeline->pass->target, *step);
        if ((*step)->code == OP_shared_store) return false; /* for which they wait anyway */
        *(plan_is_async(plan, *step) ? &products : &between) += cycles;
    }
    return plan->count == PLAN_STAGES && pipeline->consumers > WARPGROUP_SIZE &&
           pipeline->consumers % WARPGROUP_SIZE == 0 &&
           products * COST_PINGPONG_PERCENT < between * ALL;
}

/* ---- channels ---- */

static bool same_readers(const Plan *plan, const Op *a, const Op *b)
{
    vec_each (step, &plan->steps)
        if (plan_reads(*step, a) != plan_reads(*step, b)) return false;
    return true;
}

/* That of multi-buffers which the same steps read; else one of its own. */
static void join_channel(const Plan *plan, MultiBuffer *buffer, int stage)
{
    Pipeline *pipeline = plan->pipeline;
    const int own = (int)pipeline->channels.count;
    vec_each (other, &pipeline->buffers)
        if (other->channel >= 0 && same_readers(plan, other->alloc, buffer->alloc))
            buffer->channel = other->channel;
    if (buffer->channel < 0) {
        buffer->channel = own;
        vec_push(plan->arena, &pipeline->channels, ((Channel){.stage = stage}));
    }
    pipeline->channels.data[buffer->channel].bytes += type_bytes(buffer->alloc->results[0].type);
}

/* In the order in which they are read, which is that in which they are filled: what a later stage
 * reads, an iteration later, has its place free as much later, and would keep the others waiting.
 */
static void find_channels(const Plan *plan)
{
    Pipeline *pipeline = plan->pipeline;
    pipeline->channels.count = 0;
    vec_each (buffer, &pipeline->buffers) buffer->channel = -1;
    for (int stage = 0; stage < plan->count; stage++)
        vec_each (step, &plan->steps)
            vec_each (buffer, &pipeline->buffers) {
                if (plan_stage(plan, *step) != stage || !plan_reads(*step, buffer->alloc)) continue;
                if (buffer->channel < 0) join_channel(plan, buffer, stage);
                Channel *channel = &pipeline->channels.data[buffer->channel];
                channel->reads = channel->last_stage == stage ? channel->reads + 1 : 1;
                channel->last_stage = stage;
            }
}

/* ---- copies before the loop ---- */

/* But for the copy, products of the loop read the tile where it lies, and nobody else uses it. */
static bool is_for_products(const Pipeline *pipeline, const Value *tile, const Op *copy)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        if (use->op == copy) continue;
        if (use->op->parent != pipeline->loop->regions[0]) return false;
        const bool loads = use->op->code == OP_shared_load, names = use->op->code == OP_shared_view;
        if (!(loads && plan_feeds_products_alone(&use->op->results[0])) &&
            !(names && is_for_products(pipeline, &use->op->results[0], NULL)))
            return false;
    }
    return true;
}

static bool is_read_in_place(const Plan *plan, const Op *alloc)
{
    const Pass *pass = plan->pipeline->pass;
    vec_each (step, &plan->steps) {
        const Value *left = (*step)->code == OP_dot ? plan_operand(*step, 0) : NULL;
        if (left && shared_root(left) == alloc && !wgmma_fits(pass->kernel, pass->target, *step))
            return false;
    }
    return true;
}

static void find_once(const Plan *plan)
{
    Pipeline *pipeline = plan->pipeline;
    if (pipeline->nested) return; /* of each time there is another one */
    for (Op *op = pipeline->loop->previous; op; op = op->previous) {
        Op *alloc = op->code == OP_copy ? operand(op, tile)->op : NULL;
        if (!alloc || alloc->code != OP_shared_alloc || alloc->parent != op->parent ||
            alloc->results[0].type->layout || alloc->results[0].type->rank != 2)
            continue;
        const MultiBuffer buffer = {.copy = op, .alloc = alloc, .channel = -1};
        const char *fault = !is_for_products(pipeline, alloc->results, op)
                                ? "others than the loop's products use it, too"
                            : !is_read_in_place(plan, alloc) ? "a product reads it by threads"
                            : !can_copy_once(pipeline, &buffer)
                                ? "it cannot be a TMA load, or threads compute where it copies from"
                                : NULL;
        if (!fault)
            vec_push(plan->arena, &pipeline->copied_once, buffer);
        else
            kernel_remark(pipeline->pass->kernel, op->span,
                          "a copy before the loop that its producers do not make: %s", fault);
    }
}

/* ---- branches ---- */

/* But for branches, other than elementwise work, which may as well be done for nothing. */
static bool is_more_than_elements(const Op *op, const void *pass)
{
    return op->code != OP_if && op->code != OP_yield && !is_steady_load(pass, op) &&
           (!op_has(op, PURE) || op_has(op, COOP));
}

static Value *choose_result(Builder *builder, const Op *branch, int result)
{
    const Type *type = branch->results[result].type;
    Value *condition = operand(branch, condition), *either[2];
    for (int r = 0; r < 2; r++)
        either[r] = operand_list(region_terminator(branch->regions[r]), values)[result];
    if (either[0] == either[1]) return either[0];
    if (type->kind == TYPE_TILE) {
        const Type *mask =
            type_tile(builder->kernel->types, DTYPE_b1, type->rank, type->shape, NULL);
        condition = build_op(builder, OP_splat, 1, &condition, 1, &mask)->results;
    }
    return build3(builder, OP_select, condition, either[0], either[1]);
}

/* Both ways are gone, and results chosen. */
static void flatten_branch(Op *branch, void *context)
{
    (void)context;
    if (branch->code != OP_if) return;
    for (int r = 0; r < 2; r++) region_move_before(branch->regions[r], branch);
    Builder builder = builder_before(branch);
    builder.span = branch->span;
    for (int i = 0; i < branch->result_count; i++)
        value_replace(&branch->results[i], choose_result(&builder, branch, i));
    op_erase(branch);
}

/* ---- whether ---- */

static bool may_be_in(const Pipeline *pipeline, const Op *op)
{
    if (op->region_count) return !op_find_within(op, is_more_than_elements, pipeline->pass);
    if (op->code == OP_copy)
        return multi_buffer_has(pipeline, op) || map_has(&pipeline->by_threads, op);
    return op_has(op, PURE | PLANNED) || op->code == OP_yield || op->code == OP_shared_alloc;
}

/* Products read what is copied ahead where it lies, and threads beside them what is not theirs. */
static const char *fault_of_product(const Pipeline *pipeline, const Op *dot)
{
    const Pass *pass = pipeline->pass;
    for (int i = 0; i < 2; i++) {
        const Op *load = plan_operand_load(dot, i);
        if (!load || !multi_buffer_of(pipeline, shared_root(operand(load, tile)))) continue;
        if (!plan_feeds_products_alone(load->results)) return "a product's operand has other uses";
        if (i == 0 && wgmma_can(pass->kernel, pass->target, dot) &&
            !wgmma_fits(pass->kernel, pass->target, dot))
            return "a product has to read its left operand by threads";
    }
    return NULL;
}

static const char *fault_of_body(Plan *plan)
{
    const Pass *pass = plan->pipeline->pass;
    for (const Op *op = body_of(plan)->first; op; op = op_next(op)) {
        const char *fault =
            !may_be_in(plan->pipeline, op)
                ? "it does more than copy, multiply, compute with tiles and read or write memory"
            : op->code == OP_dot ? fault_of_product(plan->pipeline, op)
                                 : NULL;
        plan->obstacle = fault ? op : NULL;
        if (fault) return fault;
        if (op->code == OP_dot && wgmma_can(pass->kernel, pass->target, op))
            map_add(plan->arena, &plan->async, op);
    }
    return plan->async.count ? NULL : "it has no product that wgmma can do";
}

bool plan_is_async(const Plan *plan, const Op *op)
{
    return map_has(&plan->async, op);
}

/* ---- what is said of it ---- */

void plan_explain(const Plan *plan)
{
    const Pipeline *pipeline = plan->pipeline;
    Buf text = {0};
    if (!pipeline->pass->kernel->wants_remarks) return;
    for (size_t c = 0; c < pipeline->channels.count; c++) {
        const char *between = c ? ", " : "";
        vec_each (buffer, &pipeline->buffers) {
            if (buffer->channel != (int)c) continue;
            const Name name = buffer->alloc->results[0].name;
            buf_printf(&text, "%s%s", between, name ? name : "a tile");
            between = " with ";
        }
    }
    vec_each (step, &plan->steps) {
        if ((*step)->code != OP_dot) continue;
        const Location at = source_location((*step)->span.source, (*step)->span.begin);
        buf_printf(&text, "; the product in line %u %s", (unsigned)at.line,
                   plan_stage(plan, *step) ? "an iteration later" : "in its iteration");
    }
    if (pipeline->pingpong) buf_text(&text, "; warpgroups begin them in turn (ping-pong)");
    pipeline_remark(pipeline, "a loop by plan: %d stages each of %s", pipeline->stages, text.data);
    if (plan->fault)
        pipeline_remark(pipeline, "no product is done an iteration later: %s", plan->fault);
    buf_free(&text);
}

/* NULL, or why all is done in one stage. */
static const char *fault_of_stages(const Plan *plan, int64_t needed)
{
    enum { STAGES_READ_TWICE = 3 };
    Pipeline *pipeline = plan->pipeline;
    const char *fault = share_registers(pipeline, needed);
    if (fault) return fault;
    if (!target_has(pipeline->pass->target, MAY_OVERLAP))
        return "threads have too few registers, ptxas says";
    if (plan->count > PLAN_STAGES) return "more than two follow each other in an iteration";
    vec_each (channel, &pipeline->channels) /* of which two are in use */
        if (channel->stage != channel->last_stage && pipeline->stages < STAGES_READ_TWICE)
            return "a tile of 2 stages is read in different iterations";
    /* it can, but is waited for: 0.70 to 0.93 of the speed of attention on an H200; two stages take
     * 0.87 to 0.89 of the time of one */
    if (pipeline->stages == 1)
        return "a tile of one stage would be needed again before it can be filled";
    if (needed > registers_left(pipeline)) return "threads have too few registers";
    return loop_counts_to(pipeline->loop, operand(pipeline->loop, begin), 1)
               ? NULL
               : "the loop's index might wrap";
}

/* Where the text asks one stage, a block has another one's memory for nothing if no second block
 * runs beside it on the multiprocessor, whatever its stages. */
static bool has_spare_stage(Plan *plan)
{
    Pipeline *pipeline = plan->pipeline;
    pipeline->blocks = 0;
    return pipeline->stages == 1 && plan->count == PLAN_STAGES &&
           !share_registers(pipeline, words_needed(plan, 1)) && pipeline->blocks == 1 &&
           plan_has_stages(pipeline, PLAN_STAGES);
}

/* Two stages if they are possible, and worth what they take; else one. NULL, or why neither is. */
static const char *choose_stages(Plan *plan)
{
    Pipeline *pipeline = plan->pipeline;
    const int asked = pipeline->stages, stages = has_spare_stage(plan) ? PLAN_STAGES : asked;
    const int64_t needed = words_needed(plan, plan->count);
    pipeline->stages = stages;
    if (plan->count > 1) plan->fault = fault_of_stages(plan, needed);
    pipeline->stages = asked;
    if (!plan->fault) {
        plan_take_stages(pipeline, stages, STAGES_OF_ONE_BLOCK);
        return plan->count > 1 ? NULL : share_registers(pipeline, needed);
    }
    plan->count = 1;
    return share_registers(pipeline, words_needed(plan, 1));
}

const char *plan_make(Plan *plan, Pipeline *pipeline)
{
    *plan = (Plan){.pipeline = pipeline,
                   .arena = pipeline->pass->arena,
                   .waits = !target_has(pipeline->pass->target, MAY_FLY)};
    const char *fault = fault_of_body(plan);
    if (!fault) fault = fault_of_warp_specialize(pipeline, NULL);
    if (fault) return fault;
    region_visit_inner_first(pipeline->loop->regions[0], flatten_branch, NULL);
    find_steps(plan, false);
    if (plan->count == 1) find_steps(plan, true);
    find_channels(plan);
    fault = choose_stages(plan);
    if (fault) return fault;
    /* Products that are waited for at once leave the tensor core to other blocks of the
     * multiprocessor. Where there are such, they cover for copies, too: the gradient of attention
     * with 128 threads a block takes 1.10 of its time by producers on an H200, with 256, one block
     * at a time, 0.90. */
    if (plan->waits && runs_beside_others(pipeline))
        return "threads have too few registers for products in flight, and other blocks run "
               "meanwhile";
    order_steps(plan);
    pipeline->pingpong = gains_by_pingpong(plan);
    find_channels(plan);
    find_once(plan);
    vec_each (buffer, &pipeline->buffers)
        if (buffer->channel < 0) return "a tile is copied that nothing reads";
    return NULL;
}
