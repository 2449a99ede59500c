/* prefetch.c: a loop's loads from global memory are issued some iterations ahead.
 *
 * Needs layouts (to know what a prefetched tile costs in registers); SSA. A load qualifies if its
 * view and offsets follow from the loop variable and from what is defined outside the loop, and if
 * nothing in the loop writes the memory of its parameter. So does a gather that goes to shared
 * memory by registers, as elements under a condition do. Its tiles in flight become carried
 * values: loaded for the first iterations before the loop, and for the one `distance` ahead as soon
 * as this iteration's tiles have left their registers. An iteration that has none so far ahead
 * loads its own tile again, which keeps every access inside what the bounds analysis saw; or, if
 * that would be many of a loop whose length is not known, nothing.
 *
 * With a distance above one the carried tiles move up one place each iteration. A move of a
 * register that is still being loaded waits for it, so the loop asks to be unrolled by the
 * distance: then the moves are renamings. A loop of few times as many iterations is unrolled as a
 * whole, as many of its loads would be those of tiles that are there already. */
#include "passes/analysis/access.h"
#include "passes/analysis/alive.h"
#include "passes/analysis/loop.h"
#include "passes/layout/matrix.h"
#include "passes/pass.h"
#include "ir/group.h"
#include "ir/rebuild.h"
#include "ir/op_vec.h"
#include "target/cost.h"

#include "base/vec.h"

typedef struct Prefetch {
    Kernel *kernel;
    const Target *target;
    Op *loop;
    OpVec loads;
    WrittenMemory written; /* by the loop */
    int64_t bytes;         /* of one iteration's tiles, a thread */
    int64_t flying;        /* the same while they are being loaded */
    int64_t most;          /* of all iterations' */
    int64_t ops;           /* of a thread, in one iteration */
    int distance;          /* iterations ahead */
} Prefetch;

static int64_t bytes_per_thread(const Type *type)
{
    if (type->kind != TYPE_TILE) return REGISTER_BYTES;
    return (int64_t)layout_registers(type->layout) * dtype_bytes(type->dtype);
}

static ValueAnswer copies(const Value *value, const Op *user, void *context)
{
    (void)context;
    if (op_is_own_copy(user)) return VALUE_FOUND;
    return user->code == OP_select && operand(user, condition) != value ? VALUE_RESULTS
                                                                        : VALUE_ENOUGH;
}

/* What a thread copies itself, or zero in its place, goes through no register. */
static bool is_copied(const Op *load)
{
    return value_finds_use(load->results, copies, NULL);
}

/* On its way to shared memory, with zeros where its mask does not hold; not to a stage that is
 * filled ahead as it is. */
static bool is_gathered_with_zeros(const Op *gather)
{
    const OpUse *use = gather->results[0].uses;
    return gather_choice(gather) ||
           (scattered_mask(gather) && use && !use->next && use->op->code == OP_shared_store &&
            !op_int(use->op, ATTR_async, 0));
}

/* Of a tile; or of one element, where it is waited for. What is stored as it is gathered, threads
 * copy themselves, but for what zeros are among. */
static bool is_load(const Op *op, bool with_elements)
{
    if (op->code == OP_load) return true;
    const bool single = op->code == OP_element_load || op->code == OP_gather;
    if (!single || !with_elements || operand(op, memory)->type->kind != TYPE_VIEW) return false;
    return op->code == OP_gather ? is_gathered_with_zeros(op) : !is_copied(op);
}

/* Products would wait for elements, and so would copies of rows that these tell; an iteration's
 * elements would wait for the stores of the one before. */
static bool waits_for_elements(const Op *loop)
{
    const bool aliases = op_int(op_enclosing(loop, OP_launch), ATTR_aliases, 0);
    region_each (op, loop->regions[0]) {
        const bool stores = op->code == OP_element_store && !aliases &&
                            operand(op, memory)->type->kind == TYPE_VIEW;
        if (op_is_own_copy(op) || op_has(op, DOT) || stores) return true;
    }
    return false;
}

static void find_loads(Prefetch *prefetch)
{
    const Region *body = prefetch->loop->regions[0];
    const bool with_elements = waits_for_elements(prefetch->loop);
    for (Op *op = body->first; op; op = op_next(op))
        if (is_load(op, with_elements)) vec_push(prefetch->kernel->arena, &prefetch->loads, op);
}

/* What is left beside the tiles that the loop carries, its sums say. */
static int64_t prefetch_room(const Op *loop)
{
    int64_t room = COST_PREFETCH_LOOP_BYTES;
    for (int i = 0; i < loop->result_count; i++)
        if (loop->results[i].type->kind == TYPE_TILE)
            room -= bytes_per_thread(loop->results[i].type);
    return lesser_of(room, COST_PREFETCH_BYTES);
}

/* While it is being loaded: what comes in pieces smaller than a register has one for each, as may
 * all elements that are gathered. */
static int64_t bytes_in_flight(Op *load)
{
    if (load->code == OP_gather)
        return layout_registers(load->results[0].type->layout) * (int64_t)REGISTER_BYTES;
    if (load->code != OP_load) return REGISTER_BYTES;
    const Access access = access_of(load);
    const Layout *layout = access.tile->layout;
    const int dim = access_contiguous(&access);
    const int run = dim < 0 ? 1 : layout_register_run(layout, access.tile_dim[dim]);
    const int64_t bytes = bytes_per_thread(access.tile);
    const int64_t pieces = layout_registers(layout) / run * REGISTER_BYTES;
    return larger_of(bytes, pieces);
}

static void take_loads(Prefetch *prefetch, size_t count)
{
    prefetch->loads.count = count;
    prefetch->bytes = prefetch->flying = 0;
    for (size_t i = 0; i < count; i++) {
        prefetch->bytes += bytes_per_thread(prefetch->loads.data[i]->results[0].type);
        prefetch->flying += bytes_in_flight(prefetch->loads.data[i]);
    }
}

/* Of the loads, those that may be made ahead. NULL, or why there are none. */
static const char *choose_loads(Prefetch *prefetch)
{
    size_t count = 0;
    Op *loop = prefetch->loop;
    /* beside a group of threads the others may write what it reads while it runs */
    const Region *writers =
        op_is_of_block(loop) ? loop->regions[0] : launch_region(op_enclosing(loop, OP_launch));
    prefetch->most = prefetch_room(loop);
    region_each (op, writers) {
        const bool writes = op_has(op, STORES) || op->code == OP_tma_store;
        const Value *memory = writes ? op_memory(op) : NULL;
        if (memory && memory->type->kind == TYPE_VIEW)
            written_note(&prefetch->written, prefetch->kernel->arena, memory);
    }
    if (prefetch->written.any) return "it writes global memory, which its loads may read";
    vec_each (load, &prefetch->loads)
        if (!written_has(&prefetch->written, op_memory(*load)) &&
            loop_foresees_operands(loop, *load))
            prefetch->loads.data[count++] = *load;
    if (!count)
        return "it writes what they read, or where that is is not known before the iteration";
    take_loads(prefetch, count);
    const bool in_pieces = prefetch->flying > prefetch->bytes; /* ptxas says whether they fit */
    if (in_pieces) prefetch->kernel->uses |= MAY_HOLD;
    const bool all_fit = prefetch->bytes <= prefetch->most; /* else the first ones, in flight */
    while (!all_fit && prefetch->loads.count && prefetch->flying > prefetch->most)
        take_loads(prefetch, prefetch->loads.count - 1);
    if (in_pieces && !target_has(prefetch->target, MAY_HOLD)) take_loads(prefetch, 0);
    return prefetch->loads.count ? NULL : "a thread has no registers left for them";
}

/* Instructions of a thread, as good as layouts tell. Products are of the matrix unit; a conversion
 * of layouts goes through shared memory, a sum by shuffles. */
static int64_t instructions_of(const Op *op)
{
    const Type *type = op->result_count ? op->results[0].type : NULL;
    if (!type || type->kind != TYPE_TILE) return 1;
    const int64_t registers = layout_registers(type->layout);
    if (op_has(op, DOT)) {
        const int64_t depth = type_elements(operand(op, a)->type) / type->shape[type->rank - 2];
        return registers + registers * depth / COST_OP_PRODUCTS;
    }
    switch (op->code) {
    case OP_reshape:
    case OP_broadcast:
    case OP_splat:
    case OP_iota: return 0;
    case OP_convert: return COST_CONVERT_OPS * registers;
    case OP_reduce:
        return layout_registers(operand(op, a)->type->layout) + 2 * WARP_BITS * registers;
    default: return registers;
    }
}

/* INT32_MAX: as many, or more. */
static int64_t thread_ops(const Region *region)
{
    int64_t ops = 0;
    for (const Op *op = region->first; op; op = op_next(op)) {
        int64_t rounds = op_int(op, ATTR_unroll, 1);
        rounds = rounds < 1 ? 1 : rounds < INT32_MAX ? rounds : INT32_MAX;
        ops += instructions_of(op);
        for (int i = 0; i < op->region_count; i++) ops += thread_ops(op->regions[i]) * rounds;
        if (ops > INT32_MAX) ops = INT32_MAX;
    }
    return ops;
}

/* Threads do nothing together in it but load and store. */
static bool goes_alone(const Region *body)
{
    for (const Op *op = body->first; op; op = op_next(op))
        if (op->region_count || (op_has(op, COOP) && op->code != OP_load && op->code != OP_store))
            return false;
    return true;
}

/* Whether iterations can be taken so many at a time: there are as many, as what is loaded before
 * the loop is of iterations that run. Where they are no multiple of that, or it is not known how
 * many there are, a loop of single ones takes what is left, which LLVM does not make of what
 * threads do together. */
static bool goes_by(const Prefetch *prefetch, int rounds)
{
    const int64_t trips = loop_trips(prefetch->loop);
    if (trips && trips < rounds) return false;
    return (trips && trips % rounds == 0) || goes_alone(prefetch->loop->regions[0]);
}

static const char *fault_of_rounds(const Prefetch *prefetch)
{
    return loop_trips(prefetch->loop) ? ", as it has no more iterations, or no multiple"
                                      : ", as threads do more together than load and store";
}

/* Of the iterations that are unrolled. */
static int64_t most_ops(const Prefetch *prefetch)
{
    return region_has_with(prefetch->loop->regions[0], DOT) ? COST_PREFETCH_OPS_PRODUCTS
                                                            : COST_PREFETCH_OPS;
}

/* A thread's, as good as tiles tell. */
static int registers_with(const Prefetch *prefetch, int distance)
{
    const int64_t held = tile_bits_alive(prefetch->loop->regions[0]) /
                         (REGISTER_BITS * op_threads(prefetch->loop).count),
                  flying = prefetch->flying * distance / REGISTER_BYTES;
    return (int)(held + flying) + COST_OTHER_REGISTERS_AHEAD;
}

/* How many blocks the loop's registers would let a multiprocessor have. */
static int blocks_with(const Prefetch *prefetch, int distance)
{
    return cost_blocks_per_sm(prefetch->target,
                              launch_warps(op_enclosing(prefetch->loop, OP_launch)),
                              registers_with(prefetch, distance), 0);
}

/* What the warps of a multiprocessor do in so many iterations takes longer than a load from L2.
 * Where it is memory that an iteration takes its time by, copies and all, there are never too many
 * loads. */
static bool covers_loads(const Prefetch *prefetch, int distance)
{
    const Target *target = prefetch->target;
    const int warps = op_threads(prefetch->loop).count / WARP_SIZE;
    const int64_t blocks = blocks_with(prefetch, distance),
                  work = prefetch->ops * warps / target->partitions;
    int64_t bytes = 0;
    region_each (op, prefetch->loop->regions[0]) {
        if (op->code == OP_load) bytes += type_bytes(op->results[0].type);
        if (op_has(op, COPY)) bytes += type_bytes(operand(op, tile)->type);
    }
    return work > cost_cycles(target, UNIT_DRAM, bytes) &&
           blocks * work * distance >= cost_latency(target, UNIT_L2);
}

/* Of a multiprocessor's blocks, the grid's if it has fewer. */
static int64_t bytes_on_the_way(const Prefetch *prefetch, int distance)
{
    const Target *target = prefetch->target;
    const Op *launch = op_enclosing(prefetch->loop, OP_launch);
    const int64_t grid = launch_blocks(launch),
                  share = grid ? (grid + target->sm_count - 1) / target->sm_count : INT64_MAX;
    return lesser_of(share, blocks_with(prefetch, distance)) * op_threads(prefetch->loop).count *
           prefetch->bytes * distance;
}

/* Half as many iterations take memory some times its latency, which is that of an idle one; or the
 * registers of more take so many blocks that there is not much more on the way. */
static bool is_enough(const Prefetch *prefetch, int distance)
{
    enum { MUCH_PERCENT = 125 };
    const Target *target = prefetch->target;
    const int64_t fewer = bytes_on_the_way(prefetch, distance / 2),
                  more = bytes_on_the_way(prefetch, distance);
    return cost_cycles(target, UNIT_DRAM, fewer) >=
               (int64_t)COST_PREFETCH_LATENCIES * cost_latency(target, UNIT_DRAM) ||
           more * 100 < fewer * MUCH_PERCENT;
}

/* As far ahead as registers allow, and not much code, which the GPU would have to fetch as well;
 * no further than it takes, as what is in flight costs blocks. */
static int choose_distance(const Prefetch *prefetch, const char **limit)
{
    int distance =
        loop_trips(prefetch->loop) ? COST_PREFETCH_DISTANCE : COST_PREFETCH_UNKNOWN_DISTANCE;
    for (*limit = ""; distance > 1; distance /= 2) {
        const char *fault =
            prefetch->flying * distance > prefetch->most    ? ", which has none for more"
            : !goes_by(prefetch, distance)                  ? fault_of_rounds(prefetch)
            : prefetch->ops * distance > most_ops(prefetch) ? ", as more is much code"
            : covers_loads(prefetch, distance / 2)          ? ", as other warps cover for more"
            : distance > COST_PREFETCH_ENOUGH && is_enough(prefetch, distance)
                ? ", which fill memory's time"
                : NULL;
        if (!fault) break;
        *limit = fault;
    }
    return distance;
}

/* The launch has as many as each of its loops. */
static void expect_blocks(const Prefetch *prefetch)
{
    Op *launch = op_enclosing(prefetch->loop, OP_launch);
    const int64_t blocks = blocks_with(prefetch, prefetch->distance);
    op_set_int(launch, ATTR_expected_blocks,
               lesser_of(op_int(launch, ATTR_expected_blocks, blocks), blocks));
}

static Value *copy_load(Builder *builder, const Op *load, const Region *body, Map *map)
{
    for (int i = 0; i < load->operand_count; i++)
        value_copy_slice(builder, load->operands[i], body, map);
    Op *copy = op_clone(builder, load, map);
    return copy->results;
}

/* Memory of which nothing is there, and nothing loaded, unless the iteration runs. */
static void guard_view(Builder *builder, Value *runs, Op *load)
{
    const Op *view = op_memory(load)->op;
    const int rank = view->results->type->rank;
    Value *none = build_const(builder, operand_list(view, extents)[0]->type->dtype, 0);
    Value *extents[2 * TYPE_RANK];
    for (int i = 0; i < 2 * rank; i++) extents[i] = operand_list(view, extents)[i];
    extents[0] = build3(builder, OP_select, runs, extents[0], none);
    Value *guarded = build_view(builder, operand(view, pointer), rank, extents, extents + rank);
    op_keep_attr(guarded->op, view, ATTR_value);
    op_keep_attr(guarded->op, view, ATTR_number);
    op_set_operand(load,
                   load->code == OP_load ? operand_index(load, view) : operand_index(load, memory),
                   guarded);
}

static bool may_guard(const Value *view)
{
    return view->type->rank && view->op && view->op->code == OP_view;
}

/* The dimension along which the load's own check finds that there is no such iteration: its offset
 * is the loop's variable, which ends with the extent. What wraps is below zero, so that one more
 * check finds that, too. -1: there is none. */
static int ending_dim(const Prefetch *prefetch, const Op *load)
{
    const Op *loop = prefetch->loop;
    const Attr *bounds = op_attr(load, ATTR_bounds);
    int64_t step;
    if (load->code != OP_load || !bounds || !may_guard(op_memory(load)) ||
        !value_constant(operand(loop, step), &step) || step < 1 ||
        step > INT32_MAX / 2 / (prefetch->distance + 1))
        return -1;
    for (int d = 0; d < op_memory(load)->type->rank; d++)
        if (operand_list(load, offsets)[d] == loop->regions[0]->arguments[0] &&
            bounds->integers[d] & BOUND_HIGH &&
            value_uncast(operand_list(op_memory(load)->op, extents)[d]) ==
                value_uncast(operand(loop, end)))
            return d;
    return -1;
}

/* It may be another number in another iteration; so is what takes more than so many ops. */
static bool is_of_iteration(const Value *value, const Region *body, int most)
{
    if (value->region == body) return true;
    if (!value->op || value->op->parent != body) return false;
    bool is = most == 0 || !op_has(value->op, PURE);
    for (int i = 0; i < value->op->operand_count && !is; i++)
        is = is_of_iteration(value->op->operands[i], body, most - 1);
    return is;
}

/* Where the loop may not run at all, what was proved about offsets that it makes does not hold. */
static void check_made(const Prefetch *prefetch, const Op *load, Op *copy, bool guarded)
{
    const Region *body = prefetch->loop->regions[0];
    const int rank = operand(load, view)->type->rank;
    unsigned dims = guarded;
    for (int d = 0; d < rank; d++)
        if (is_of_iteration(operand_list(load, offsets)[d], body, COST_PREFETCH_INDEX_OPS))
            dims |= 1U << d;
    access_check(copy, op_attr(load, ATTR_bounds), dims);
}

/* The tile of iteration `ahead`, before the loop. */
static Value *load_first(const Prefetch *prefetch, const Op *load, int ahead)
{
    const Op *loop = prefetch->loop;
    Builder builder = builder_before(prefetch->loop);
    Value *index = loop_ahead(&builder, operand(loop, begin), operand(loop, step), ahead);
    Map map = {0};
    map_set(prefetch->kernel->arena, &map, loop->regions[0]->arguments[0], index);
    Value *tile = copy_load(&builder, load, loop->regions[0], &map);
    if (loop_trips(loop) == 0) {
        const bool made = op_memory(load)->op->parent == loop->regions[0],
                   guarded = may_guard(op_memory(load)) && (ahead > 0 || made) &&
                             (made || ending_dim(prefetch, load) < 0);
        builder = builder_before(tile->op);
        if (guarded)
            guard_view(&builder, build_cmp(&builder, "lt", index, operand(loop, end)), tile->op);
        if (load->code == OP_load) /* of elements all bounds are checked */
            check_made(prefetch, load, tile->op, guarded);
    }
    return tile;
}

/* Where this iteration's tiles have left their registers: before the first op that reads shared
 * memory. Where that is the end of an iteration, the next one would wait for all of its own: then
 * first of all, if there are registers for both. */
static Op *place_for_next(const Prefetch *prefetch)
{
    const Region *body = prefetch->loop->regions[0];
    Op *op = body->first;
    while (op->code != OP_shared_load && op->code != OP_dot && !op->region_count &&
           op->code != OP_yield)
        op = op_next(op);
    const bool is_late = op->code == OP_yield && prefetch->distance == 1;
    return is_late && 2 * prefetch->flying <= prefetch->most ? body->first : op;
}

/* By the distance; a short loop, or one that is little code, as a whole, which leaves out the loads
 * beyond its end. */
static int choose_unrolling(const Prefetch *prefetch)
{
    const int64_t trips = loop_trips(prefetch->loop);
    const bool is_short = trips > 0 && trips <= (int64_t)COST_PREFETCH_WHOLE * prefetch->distance &&
                          prefetch->ops * trips <= most_ops(prefetch);
    return is_short ? (int)trips : prefetch->distance;
}

static void carry_loads(Prefetch *prefetch)
{
    VEC(Value *) first = {0};
    vec_each (load, &prefetch->loads)
        for (int ahead = 0; ahead < prefetch->distance; ahead++)
            vec_push(prefetch->kernel->arena, &first, load_first(prefetch, *load, ahead));
    prefetch->loop = loop_carry(prefetch->loop, (int)first.count, first.data);
    const int rounds = choose_unrolling(prefetch);
    if (rounds > 1 && !op_attr(prefetch->loop, ATTR_unroll))
        op_set_int(prefetch->loop, ATTR_unroll, rounds);
}

/* One load's places in the queue: the first is this iteration's tile, the last is loaded now. */
static void advance_queue(const Prefetch *prefetch, Op *load, Value *next, Map *tiles)
{
    Region *body = prefetch->loop->regions[0];
    Op *yield = region_terminator(body);
    for (int stage = 0; stage < prefetch->distance; stage++) {
        Value *argument = region_add_argument(body, load->results[0].type, load->results[0].name);
        if (stage == 0)
            map_set(prefetch->kernel->arena, tiles, load->results, argument);
        else
            op_add_operands(yield, 1, &argument);
    }
    op_add_operands(yield, 1, &next);
}

/* Of a loop that may be short nothing is loaded twice at its end. */
static bool guards(const Prefetch *prefetch)
{
    bool all = prefetch->distance > 1 && loop_trips(prefetch->loop) == 0;
    vec_each (load, &prefetch->loads) all &= may_guard(op_memory(*load));
    return all;
}

/* The first dimension's offset may be anything where there is no such iteration; `ending`: that
 * dimension's check finds that. */
static void guard_next(const Builder *at, Value *more, Op *load, int ending)
{
    Builder builder = builder_before(load);
    builder.span = at->span;
    if (ending < 0) guard_view(&builder, more, load);
    if (load->code == OP_load)
        access_check(load, op_attr(load, ATTR_bounds), 1U << larger_of(ending, 0));
}

/* A gather that comes later stays there: products may be in flight by then. */
static Builder place_of_next(const Builder *first, Op *load)
{
    return load->code == OP_gather && op_comes_before(first->before, load) ? builder_before(load)
                                                                           : *first;
}

static void load_next(const Prefetch *prefetch)
{
    Region *body = prefetch->loop->regions[0];
    Builder builder = builder_before(place_for_next(prefetch));
    Map map = {0}, tiles = {0};
    const Op *loop = prefetch->loop;
    Value *index = body->arguments[0],
          *next = loop_ahead(&builder, index, operand(loop, step), prefetch->distance),
          *more = loop_has_iteration(loop, &builder, index, prefetch->distance, next);
    const bool guarded = guards(prefetch);
    if (!guarded) next = build3(&builder, OP_select, more, next, index);
    map_set(prefetch->kernel->arena, &map, body->arguments[0], next);
    for (size_t i = 0; i < prefetch->loads.count; i++) {
        Op *load = prefetch->loads.data[i];
        const int ending = ending_dim(prefetch, load);
        Builder at = place_of_next(&builder, load);
        at.span = load->span;
        Value *tile = copy_load(&at, load, body, &map);
        if (guarded) guard_next(&builder, more, tile->op, ending);
        advance_queue(prefetch, load, tile, &tiles);
    }
    region_replace(body, &tiles);
    vec_each (load, &prefetch->loads) op_erase(*load);
}

/* A gather has zeros itself where its condition does not hold. */
static void drop_choices(const Prefetch *prefetch)
{
    for (size_t i = 0; i < prefetch->loads.count; i++) {
        Op *load = prefetch->loads.data[i];
        Op *choice = load->code == OP_gather ? gather_choice(load) : NULL;
        if (!choice) continue;
        value_replace(choice->results, load->results);
        op_erase(choice);
    }
}

static void pipeline_loop(Op *op, void *context)
{
    const PassContext *pass = context;
    Kernel *kernel = pass->kernel;
    Prefetch prefetch = {.kernel = kernel, .target = pass->target, .loop = op};
    if (op->code != OP_for || !region_terminator(op->regions[0])) return;
    find_loads(&prefetch);
    if (!prefetch.loads.count) return;
    const char *limit, *fault = choose_loads(&prefetch);
    if (fault) {
        kernel_remark(kernel, op->span, "a loop whose loads are not made ahead: %s", fault);
        return;
    }
    prefetch.ops = thread_ops(op->regions[0]);
    prefetch.distance = choose_distance(&prefetch, &limit);
    kernel_remark(kernel, op->span,
                  "a loop whose loads are made %d iterations ahead, in %lld bytes of a thread's "
                  "registers%s",
                  prefetch.distance, (long long)(prefetch.distance * prefetch.bytes), limit);
    expect_blocks(&prefetch);
    drop_choices(&prefetch);
    carry_loads(&prefetch);
    load_next(&prefetch);
}

bool pass_pipeline(Kernel *kernel, PassContext *context)
{
    region_visit_inner_first(kernel->host, pipeline_loop, context);
    kernel->stage = STAGE_PIPELINED;
    return true;
}
