/* plan_loop.c: what is to be done for a loop whose multi-buffers are known: who fills the stages,
 * how many of them, whether a product is left in flight, whether two blocks copy together. Those
 * that do it (multi_buffer.c, warp_specialize.c, persistent.c, multicast.c, plan_iterations.c) ask
 * no more. */
#include "passes/pipeline/plan.h"

#include "passes/analysis/alive.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/layout/matrix.h"

#include <string.h>

/* ---- loops of one product ---- */

/* The index of what the loop carries for the dot's sum alone; -1: there is none. */
static int sum_of(const Pipeline *pipeline, const Op *dot)
{
    const Region *body = pipeline->loop->regions[0];
    const Value *c = operand(dot, c), *sum = &dot->results[0];
    const Op *yield = region_terminator(body);
    const int index = c->region == body ? c->index - 1 : -1;
    return index >= 0 && yield->operands[index] == sum && sum->use_count == 1 && c->use_count == 1
               ? index
               : -1;
}

static bool prepares(const Op *op)
{
    return op_has(op, ELEM) && op->results[0].type->kind == TYPE_TILE;
}

static bool stores_gathered(const Pipeline *pipeline, const Op *op)
{
    return op->code == OP_shared_store && multi_buffer_has(pipeline, op);
}

static ValueAnswer goes_elsewhere(const Value *value, const Op *user, void *context)
{
    (void)value;
    if (stores_gathered(context, user)) return VALUE_ENOUGH;
    return user->result_count == 1 ? VALUE_RESULTS : VALUE_FOUND;
}

/* It makes what is gathered to stages, or where that is, and nothing else. */
static bool gathers(const Pipeline *pipeline, const Op *op)
{
    return stores_gathered(pipeline, op) ||
           (op->result_count == 1 && op->results[0].use_count > 0 &&
            !value_finds_use(op->results, goes_elsewhere, (Pipeline *)(uintptr_t)pipeline));
}

/* The only dot of a body that does nothing else with tiles but to prepare operands, element by
 * element. While it is in flight its sums must stay in their registers, which more work, or copies
 * by the element, would need. */
static Op *only_dot(const Pipeline *pipeline)
{
    FactTable *facts = analysis_ranges(pipeline->pass->context);
    Op *dot = NULL;
    for (Op *op = pipeline->loop->regions[0]->first; op; op = op_next(op)) {
        if (gathers(pipeline, op)) continue;
        const bool is_tile = op->result_count && op->results[0].type->kind == TYPE_TILE;
        if (op->region_count) return NULL;
        if (op->code == OP_copy) {
            if (!multi_buffer_has(pipeline, op) || !access_is_wide(facts, op)) return NULL;
        } else if (op->code == OP_dot) {
            if (dot) return NULL;
            dot = op;
        } else if (op->code != OP_shared_load && op->code != OP_transpose && op->code != OP_yield &&
                   op->code != OP_splat && !prepares(op) && (is_tile || !op_has(op, PURE))) {
            return NULL;
        }
    }
    return dot;
}

static ValueAnswer is_of_no_buffer(const Value *value, void *context)
{
    const Pipeline *pipeline = context;
    const Op *op = value->op;
    if (!op) return VALUE_FOUND;
    if (op->code == OP_splat) return VALUE_ENOUGH;
    if (op->code == OP_shared_load && multi_buffer_of(pipeline, shared_root(operand(op, tile))))
        return VALUE_ENOUGH;
    return op->code == OP_transpose || prepares(op) ? VALUE_OPERANDS : VALUE_FOUND;
}

/* The value is a tile that the loop copies ahead, or made of such, element by element: of others
 * nothing is known when the loop ends. */
static bool reads_buffers(const Pipeline *pipeline, const Value *value)
{
    return !value_finds(value, is_of_no_buffer, (Pipeline *)(uintptr_t)pipeline);
}

/* The only work of the loop, if that is a product of what is in the stages, its left operand
 * perhaps from registers, and whose sums nothing else touches. */
static Op *stages_dot(const Pipeline *pipeline)
{
    Op *dot = pipeline->buffers.count ? only_dot(pipeline) : NULL;
    return dot && sum_of(pipeline, dot) >= 0 && reads_buffers(pipeline, operand(dot, a)) &&
                   reads_buffers(pipeline, operand(dot, b))
               ? dot
               : NULL;
}

/* Whether k goes along the tile's rows. */
static bool has_k_in_rows(const Op *dot, const MultiBuffer *buffer)
{
    for (int o = 0; o < 2; o++) {
        bool swapped = o == 1;
        const Value *value = dot->operands[o];
        for (; value && value->op && value->op->code != OP_shared_load;
             value = operand_given(value->op, a))
            swapped ^= value->op->code == OP_transpose;
        if (value && value->op && shared_root(operand(value->op, tile)) == buffer->alloc)
            return !swapped;
    }
    return true;
}

/* By its registers a block has a multiprocessor to itself: nobody else multiplies while one of its
 * threads tells TMA, and the others wait for that at the next barrier. */
static bool is_alone_by_registers(const Pipeline *pipeline, const Op *dot)
{
    const int64_t threads = op_threads(dot).count;
    return 2 * (type_elements(dot->results[0].type) + COST_OTHER_REGISTERS_FMA * threads) >
           pipeline->pass->target->registers;
}

/* ---- two blocks that copy what both need once ---- */

/* That is no gain where rows begin at lines of the cache, as blocks that run at a time find there
 * what others read; where they don't, each row of a box is two requests. Nor with small tiles,
 * which are for products that are over before it has paid for the barrier of the two,
 * unless it is nearly a third of all that they copy. */

static ValueAnswer is_x(const Value *value, void *context)
{
    const Op *op = value->op;
    (void)context;
    if (!op || op_attr(op, ATTR_pair)) return VALUE_ENOUGH;
    return op->code == OP_block_idx && op_int(op, ATTR_dim, 0) == 0 ? VALUE_FOUND : VALUE_OPERANDS;
}

/* A half is one piece of the stage: half of the panels, or half of the rows of one. */
static int half_of(FactTable *facts, Op *copy)
{
    const Access access = access_of(copy);
    const int64_t *shape = access.tile->shape,
                  panel = SWIZZLE_ROW_BYTES * 8 / dtype_bits(access.tile->dtype);
    if (access.rank != 2 || access.tile->rank != 2 || !access_splits_lines(facts, &access) ||
        copy_source_finds(copy, is_x, NULL))
        return -1;
    if (shape[1] % (COST_CLUSTER_BLOCKS * panel) == 0) return 1;
    return shape[1] <= panel && shape[0] % (COST_CLUSTER_BLOCKS * SWIZZLE_ROWS) == 0 ? 0 : -1;
}

/* NULL, or why blocks do not copy together. */
static const char *fault_of_pairs(const Pipeline *pipeline, const Op *dot)
{
    int64_t saved = 0; /* what a block need not copy of all that it reads */
    for (int i = 0; i < 3; i++)
        if (value_finds(pipeline->loop->operands[i], is_x, NULL)) /* one would wait for the other */
            return "they have not the same iterations to do";
    vec_each (buffer, &pipeline->buffers) {
        buffer->half = half_of(analysis_ranges(pipeline->pass->context), buffer->copy);
        if (buffer->half >= 0)
            saved += type_bytes(buffer->alloc->results[0].type) / COST_CLUSTER_BLOCKS;
    }
    if (!saved)
        return "rows begin at lines of the cache, which both find there, or neighbours need others";
    return type_elements(dot->results[0].type) >= COST_CLUSTER_SUMS ||
                   saved * 100 >= multi_buffer_bytes(pipeline) * COST_CLUSTER_PERCENT
               ? NULL
               : "that would save little of what small tiles copy";
}

static void find_pairs(Pipeline *pipeline, const Op *dot)
{
    if (!pipeline->persistent || !target_has(pipeline->pass->target, HAS_MULTICAST)) return;
    const char *fault = fault_of_pairs(pipeline, dot);
    if (fault)
        pipeline_remark(pipeline, "a loop whose blocks copy each for themselves: %s", fault);
    else
        pipeline->cluster = COST_CLUSTER_BLOCKS;
}

/* ---- loops of several products, or of other work ---- */

/* With tiles, beside a product whose operands are read in shared memory. */
static bool has_other_work(const Op *loop)
{
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op))
        if (op->result_count && op->results[0].type->kind == TYPE_TILE && op->code != OP_dot &&
            op->code != OP_shared_load && op->code != OP_splat && !op_swaps(op))
            return true;
    return loop_products(loop) > 1;
}

/* Copies that TMA cannot make, beside those that it can: threads make the small ones through
 * registers, where they can be loaded ahead. */
static void leave_to_threads(Pipeline *pipeline, OpVec *loads)
{
    const Pass *pass = pipeline->pass;
    MultiBuffers others = {0};
    vec_each (buffer, &pipeline->buffers) {
        const int64_t bytes = type_bytes(operand(buffer->copy, tile)->type);
        if (is_by_tma(pipeline, buffer))
            vec_push(pass->arena, &others, *buffer);
        else if (bytes > ACCESS_BYTES * op_threads(buffer->copy).count)
            return;
    }
    if (!others.count || others.count == pipeline->buffers.count) return;
    vec_each (buffer, &pipeline->buffers) {
        if (is_by_tma(pipeline, buffer)) continue;
        map_add(pass->arena, &pipeline->by_threads, buffer->copy);
        vec_push(pass->arena, loads, single_copy_by_threads(pass, buffer->copy));
    }
    pipeline->buffers = others;
}

static void remark_fault(const Plan *plan, const char *fault)
{
    static const char TEXT[] = "a loop of products and other work that is not planned: %s";
    Kernel *kernel = plan->pipeline->pass->kernel;
    const Op *loop = plan->pipeline->loop, *obstacle = plan->obstacle;
    Buf text = {0};
    if (obstacle)
        buf_printf(&text, "%s, in line %u", fault,
                   (unsigned)source_location(obstacle->span.source, obstacle->span.begin).line);
    kernel_remark(kernel, loop->span, TEXT, obstacle ? text.data : fault);
    buf_free(&text);
}

/* Several products, or one and other work with tiles: true if they are done by a plan. */
static bool plan_products(Pipeline *pipeline, Plan *plan)
{
    const Target *target = pipeline->pass->target;
    const Pipeline given = *pipeline;
    OpVec loads = {0};
    if (!target_has(target, HAS_TMA) || !target_has(target, HAS_WGMMA) ||
        !loop_products(pipeline->loop))
        return false;
    leave_to_threads(pipeline, &loads);
    const char *fault = target_has(target, MAY_PLAN)
                            ? plan_make(plan, pipeline)
                            : "threads have too few registers for that, ptxas says";
    if (fault) {
        vec_each (load, &loads) {
            op_erase((*load)->next); /* what stores it */
            op_erase(*load);
        }
        if (has_other_work(pipeline->loop)) remark_fault(plan, fault);
        *pipeline = given;
        return false;
    }
    plan_explain(plan);
    pipeline->pass->kernel->uses |= MAY_PLAN | MAY_FLY | (plan->count > 1 ? MAY_OVERLAP : 0);
    plan_persistence(pipeline, plan);
    return true;
}

/* ---- who fills the stages ---- */

/* Threads that multiply and add by themselves have better things to do than to copy. They read many
 * rows at one k, which must not lie in the same banks; or along a row. */
static const char *fault_of_threads(Pipeline *pipeline, const Op *dot)
{
    if (!dot && !loop_products(pipeline->loop)) return "the loop has no product";
    if (!dot) return "the loop does more than one product of what it copies";
    if (dot_has_instruction(dot, pipeline->pass->target)) return "the product is not by wgmma";
    if (is_alone_by_registers(pipeline, dot))
        return "no other block multiplies while a thread begins the loads";
    vec_each (buffer, &pipeline->buffers) buffer->is_plain = !has_k_in_rows(dot, buffer);
    pipeline->by_tma = are_by_tma(pipeline);
    return fault_of_fill(pipeline);
}

/* With stages enough, the tensor core need not be waited for in the iteration that it starts in:
 * the stage that it reads is filled again an iteration later. Registers that it reads could not be.
 * Of few stages one more is in use then, so that copies have less time to land: iterations must be
 * shorter all the same, as the tensor core has no pause. */
static const char *fault_of_open(const Pipeline *pipeline, const Op *dot, bool splits)
{
    const Target *target = pipeline->pass->target;
    const int64_t stages = pipeline->stages, cycles = plan_product_cycles(target, dot);
    if (!wgmma_fits(pipeline->pass->kernel, target, dot))
        return "it reads registers that the next iteration writes";
    return stages >= COST_STAGES_IN_FLIGHT || (splits && stages >= COST_STAGES_IN_FLIGHT_SPLIT &&
                                               cost_latency(target, UNIT_TMA) + 2 * cycles <=
                                                   stages * (cycles + COST_PRODUCT_PAUSE))
               ? NULL
               : "it takes 4 stages, or 3 where producers fill them and it is long enough";
}

/* Whether stages are read by the product in flight alone. */
static bool is_read_by_open(const Pipeline *pipeline)
{
    vec_each (buffer, &pipeline->buffers)
        vec_each (item, &buffer->uses) {
            const Op *use = *item;
            if (use == buffer->copy || op_has(use, ALIAS)) continue;
            if (use->code != OP_shared_load || use->results->use_count != 1 ||
                use->results->uses->op != pipeline->open)
                return false;
        }
    return true;
}

/* Who waits for copies while a product is in flight keeps the stage that the product has read, and
 * may be done with: of few stages that is memory for a good part of the copies that the wait is
 * for. So where the next stage is not filled yet, the product is waited for first, and what it has
 * read is given back; else the stage is, once the next product is in flight.
 * 128x128 sums, 3 stages of 64, on an H200: 0.89 of the time where 64 blocks read what no other one
 * does, 0.95 behind long sums and before long epilogues, 1.00 to 1.01 where products are all there
 * is; with 4 stages 1.00 throughout. */
static bool releases_early(const Pipeline *pipeline)
{
    return pipeline->open && pipeline->by_tma && !pipeline->cluster &&
           pipeline->stages < COST_STAGES_IN_FLIGHT && is_read_by_open(pipeline);
}

/* A block that has a multiprocessor to itself, by its registers, has memory for more stages than
 * the text asks for nothing; but for what the author's own loop around this one keeps there. One
 * stage is read by the product in flight, one by that before it, and one is given back; the others
 * hide a copy's latency.
 * 128x256 sums by steps of 32 on an H200: 0.77 of cuBLAS with 3 stages, 0.97 to 0.99 with 4, 1.00
 * with 5 and 6; by steps of 64 0.84 with 2, 1.01 with 3 and 4. */
static void add_stages(Pipeline *pipeline, const Op *dot)
{
    enum { IN_USE = 3 };
    const Target *target = pipeline->pass->target;
    const int64_t cycles = plan_product_cycles(target, dot),
                  wanted = IN_USE + (cost_latency(target, UNIT_TMA) + cycles - 1) / cycles;
    int stages = pipeline->stages;
    if (pipeline->nested || !is_alone_by_registers(pipeline, dot)) return;
    while (stages < wanted && plan_has_stages(pipeline, stages + 1)) stages++;
    plan_take_stages(pipeline, stages, STAGES_OF_ONE_BLOCK);
}

/* A product by wgmma: who fills the stages, and whether it is left in flight. */
static bool plan_wgmma(Pipeline *pipeline, Op *dot)
{
    Kernel *kernel = pipeline->pass->kernel;
    const char *whole = fault_of_warp_specialize(pipeline, dot);
    add_stages(pipeline, dot);
    if (whole) {
        pipeline_remark(pipeline, "a loop without producer warps: %s", whole);
    } else {
        if (!pipeline->nested) plan_persistence(pipeline, NULL);
        find_pairs(pipeline, dot);
    }
    const char *fault = fault_of_open(pipeline, dot, !whole);
    if (fault)
        kernel_remark(kernel, dot->span, "a product not left in flight for an iteration: %s",
                      fault);
    pipeline->open = fault ? NULL : dot;
    pipeline->open_sum = sum_of(pipeline, dot);
    pipeline->releases_early = !whole && releases_early(pipeline);
    return !whole;
}

/* Nothing but memory is waited for: so many copies are in flight beside what is read, as the text
 * asks stages, if a second block still has room. */
static void add_stage_of_copies(Pipeline *pipeline)
{
    const Pass *pass = pipeline->pass;
    if (region_has_with(pipeline->loop->regions[0], DOT)) return;
    if (region_shared_bytes(pass->launch) + multi_buffer_bytes(pipeline) * pipeline->stages >
        pass->target->shared_bytes / COST_BLOCKS_PER_SM - COST_SHARED_MARGIN)
        return;
    pipeline->stages++;
}

/* But for roles, which follow from that. */
static Filling filling_of(Pipeline *pipeline, Plan *plan)
{
    if (pipeline->stages == 1) /* copies of one are not ahead, but may be other warps' work */
        return plan_products(pipeline, plan) ? FILLED_BY_PLAN : FILLED_BY_NOBODY;
    Op *any = stages_dot(pipeline), *dot = any;
    if (dot &&
        (!wgmma_can(pipeline->pass->kernel, pipeline->pass->target, dot) ||
         type_elements(dot->results[0].type) > (int64_t)COST_SPLIT_SUMS * op_threads(dot).count))
        dot = NULL;
    const bool splits = dot && plan_wgmma(pipeline, dot);
    if (splits) return FILLED_BY_PRODUCERS;
    if (!any && !multi_buffer_gathers(pipeline) && plan_products(pipeline, plan))
        return FILLED_BY_PLAN;
    if (loop_trips(pipeline->loop) == 1) return FILLED_BY_NOBODY; /* nothing is ahead of it */
    const char *fault = dot ? fault_of_fill(pipeline) : fault_of_threads(pipeline, any);
    if (!fault) return FILLED_BY_TMA;
    pipeline->by_tma = false;
    multi_buffer_remark_copies(pipeline, fault);
    add_stage_of_copies(pipeline);
    return FILLED_BY_THREADS;
}

/* All that is copied arrives at the same barriers. */
static void use_one_channel(Pipeline *pipeline)
{
    pipeline->channels.count = 0;
    vec_push(pipeline->pass->arena, &pipeline->channels,
             ((Channel){.bytes = multi_buffer_bytes(pipeline)}));
    vec_each (buffer, &pipeline->buffers) buffer->channel = 0;
}

/* Copies before the loop are those of a pipeline of one stage, by the same threads. */
static void plan_once(Pipeline *pipeline)
{
    Pipeline *once = arena_new_of(pipeline->pass->arena, Pipeline);
    *once = *pipeline;
    once->stages = 1;
    once->buffers = pipeline->copied_once;
    memset(&once->channels, 0, sizeof once->channels);
    use_one_channel(once);
    pipeline->once = once;
}

static void keep_copies(Pipeline *pipeline)
{
    size_t kept = 0;
    vec_each (buffer, &pipeline->buffers)
        if (!buffer->gather) pipeline->buffers.data[kept++] = *buffer;
    pipeline->buffers.count = kept;
}

/* Blocks that share a multiprocessor cover for each other while one of them waits for what it
 * gathers: stages that take the room of one cost more than they gain. */
static bool has_room_for_gathered(const Pipeline *pipeline)
{
    const Pass *pass = pipeline->pass;
    const int warps = launch_warps(pass->launch->parent);
    const int64_t words = tile_bits_alive(pass->launch) / REGISTER_BITS / (WARP_SIZE * warps),
                  once = loop_lasting_bytes(pass->launch, pipeline->loop),
                  more = (pipeline->stages - 1) * multi_buffer_bytes(pipeline);
    const int registers = (int)words + COST_OTHER_REGISTERS,
              before = cost_blocks_per_sm(pass->target, warps, registers, once),
              after = cost_blocks_per_sm(pass->target, warps, registers, once + more);
    return after >= lesser_of(before, plan_most_blocks(pipeline));
}

/* Threads fill the stages of what they gather, and then all of the loop's. They do so where that is
 * all that it copies, or its only work is a product: another loop had better go by a plan, whose
 * threads gather an iteration ahead into registers. */
static bool may_gather(const Pipeline *pipeline)
{
    const Op *dot = stages_dot(pipeline);
    if (dot) return dot_has_instruction(dot, pipeline->pass->target);
    if (!has_room_for_gathered(pipeline)) return false;
    vec_each (buffer, &pipeline->buffers)
        if (!buffer->gather) return false;
    return true;
}

void plan_stages(Pipeline *pipeline)
{
    const int asked = pipeline->stages;
    if (multi_buffer_gathers(pipeline)) {
        /* what one stage is asked for is an iteration ahead, and threads need a place for it */
        pipeline->stages = asked > 1 ? asked : 2;
        if (!may_gather(pipeline)) {
            keep_copies(pipeline);
            pipeline->stages = asked;
        }
    }
    if (!pipeline->buffers.count) return;
    plan_fit_stages(pipeline);
    if (pipeline->stages > 1 || !multi_buffer_gathers(pipeline)) return;
    pipeline->stages = asked;
    keep_copies(pipeline);
    if (pipeline->buffers.count) plan_fit_stages(pipeline);
}

void plan_loop(Pipeline *pipeline, Plan *plan)
{
    pipeline->consumers = launch_threads(pipeline->pass->launch->parent).count;
    pipeline->filling = filling_of(pipeline, plan);
    if (pipeline->filling != FILLED_BY_PLAN) use_one_channel(pipeline);
    if (pipeline->filling > FILLED_BY_THREADS) plan_groups(pipeline);
    if (pipeline->copied_once.count) plan_once(pipeline);
}
