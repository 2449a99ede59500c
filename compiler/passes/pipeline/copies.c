/* copies.c: the plain loop of a matrix product, which loads tiles, perhaps stores them to shared
 * memory and synchronises, and multiplies, as a pipelined one: its loads become copies to shared
 * tiles and it gets {stages}, so that multi-buffer makes them ahead. Needs SSA and bounds, whose
 * proofs of loads hold of copies; leaves a TYPED kernel.
 *
 * A load is such if where it loads from is known ahead, it moves several bytes at a time, unless
 * warps would else load the same, and its tile goes nowhere but to a shared tile that a dot reads,
 * and that nothing else writes, or to the dot itself. In the loop nothing writes global memory:
 * then when it loads does not matter but for what came before the loop and comes behind it; the
 * author's syncs in the loop go before it and behind it.
 *
 * A loop whose author asks for stages has them already: there what each iteration loads and stores
 * element by element is copied.
 *
 * Where a loop does nothing but one product of tiles that follow each other along k, an iteration
 * does several iterations' work: fewer barriers, and rows as long as the tensor core likes them. */
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/layout/matrix.h"
#include "ir/rebuild.h"

#include "base/vec.h"

/* An operand of a dot that comes from global memory. */
typedef struct Feed {
    Op *dot, *load, *store; /* no store: the dot takes what is loaded */
    Op *copy, *alloc, *read;
    int operand;
    int k_dim;       /* of the tile that is loaded */
    bool is_read_on; /* `read` has other uses, too */
} Feed;

typedef struct Loop {
    Kernel *kernel;
    PassContext *context;
    const Target *target;
    Arena *arena;
    Region *launch;
    Op *op;
    Region *body;
    VEC(Feed) feeds;
    int64_t held; /* bytes of other shared tiles that live while it runs */
} Loop;

/* ---- what may be in the loop ---- */

/* Nothing that writes global memory, orders accesses but for a sync, or has copies of its own. */
static bool is_plain(const Region *body)
{
    for (const Op *op = body->first; op; op = op_next(op))
        if (op->region_count ||
            !(op_has(op, PURE) || op->code == OP_load || op->code == OP_shared_load ||
              op->code == OP_shared_store || op->code == OP_sync || op->code == OP_yield))
            return false;
    return true;
}

/* ---- which loads ---- */

static bool is_used_once(const Op *op)
{
    return op->results[0].use_count == 1;
}

/* Beside the store, nothing does more with the tile than that the loop reads it behind that, or a
 * part by its name. */
static bool is_written_by(const Loop *loop, const Op *store, const Value *tile)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        const Op *op = use->op;
        if (op == store) continue;
        if (!region_holds(loop->body, op->parent) || !shared_is_only_read(op) ||
            !op_comes_before(store, region_find_ancestor(loop->body, op)) ||
            (op_has(op, ALIAS) && !is_written_by(loop, store, &op->results[0])))
            return false;
    }
    return true;
}

/* The one store to the tile, in the loop's body; NULL: there is more to it. */
static Op *store_to(const Loop *loop, const Op *alloc)
{
    const Value *tile = &alloc->results[0];
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op->code == OP_shared_store && use->op->parent == loop->body)
            return is_written_by(loop, use->op, tile) ? use->op : NULL;
    return NULL;
}

static int64_t bytes_at_once(const Loop *loop, Op *load)
{
    return access_bytes(analysis_ranges(loop->context), load);
}

/* What a matrix instruction takes of b would lie along memory: each warp would load its own, which
 * is more than once for the block. */
static bool is_loaded_by_warps(const Op *dot)
{
    bool along;
    op_unswapped(operand(dot, b)->op, &along);
    return along;
}

/* So many bytes at a time that a copy is better than a load. Multiplying and adding takes long
 * enough for copies of a word each. */
static bool is_wide(const Loop *loop, const Op *dot, Op *load)
{
    if (!dot_has_instruction(dot, loop->target))
        return bytes_at_once(loop, load) >= COST_COPY_LEAST_FMA;
    return is_loaded_by_warps(dot) || bytes_at_once(loop, load) >= COST_COPY_LEAST;
}

static bool is_ahead(const Loop *loop, const Op *load)
{
    return load && load->code == OP_load && load->parent == loop->body && is_used_once(load) &&
           loop_foresees_operands(loop->op, load);
}

static bool find_feed(const Loop *loop, Op *dot, int operand, Feed *out)
{
    Op *op = dot->operands[operand]->op;
    *out = (Feed){.dot = dot, .operand = operand, .k_dim = 1 - operand};
    for (; op && op_swaps(op) && is_used_once(op); op = operand(op, a)->op)
        out->k_dim = 1 - out->k_dim;
    if (!op || op->parent != loop->body) return false;
    out->load = op;
    if (op->code == OP_shared_load) {
        out->read = op;
        out->alloc = operand(op, tile)->op;
        if (out->alloc->code != OP_shared_alloc || out->alloc->results[0].type->layout)
            return false;
        out->store = store_to(loop, out->alloc);
        out->load = out->store ? operand(out->store, value)->op : NULL;
        out->is_read_on = !is_used_once(op);
    }
    return is_ahead(loop, out->load) && is_wide(loop, dot, out->load);
}

/* A product by multiplying and adding reads both operands in shared memory, or none. */
static void find_feeds(Loop *loop, Op *dot)
{
    Feed feeds[2];
    const bool found[2] = {find_feed(loop, dot, 0, &feeds[0]), find_feed(loop, dot, 1, &feeds[1])};
    const bool both = found[0] && found[1] && operand(dot, c)->type->rank == 2;
    for (int i = 0; i < 2; i++)
        if (both || (found[i] && dot_has_instruction(dot, loop->target)))
            vec_push(loop->arena, &loop->feeds, feeds[i]);
}

/* Two dots may read the tile, which there is not yet of what goes to the dot itself. */
static bool is_first_of_tile(const Loop *loop, size_t index)
{
    const Op *alloc = loop->feeds.data[index].alloc;
    for (size_t i = 0; i < index && alloc; i++)
        if (loop->feeds.data[i].alloc == alloc) return false;
    return true;
}

/* ---- loads become copies ---- */

static void make_tile(const Loop *loop, Feed *feed)
{
    const Type *tile = feed->load->results[0].type;
    Builder builder = builder_before(loop->op), inside = builder_before(feed->load->next);
    builder.span = inside.span = feed->load->span;
    const Type *shared =
        type_shared(loop->kernel->types, tile->dtype, tile->rank, tile->shape, NULL);
    feed->alloc = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &shared);
    feed->read = build_op(&inside, OP_shared_load, 1, (Value *[]){feed->alloc->results}, 1,
                          &feed->load->results[0].type);
    value_replace(feed->load->results, feed->read->results);
}

static void make_copy(Feed *feed)
{
    Value *operands[2 + TYPE_RANK];
    const Op *load = feed->load;
    int count = 0;
    operands[count++] = operand(load, view);
    operands[count++] = &feed->alloc->results[0];
    for (int i = operand_index(load, offsets); i < load->operand_count; i++)
        operands[count++] = load->operands[i];
    Builder builder = builder_before(feed->load);
    feed->copy = build_op(&builder, OP_copy, count, operands, 0, NULL);
    op_keep_attrs(feed->copy, load);
    if (feed->store) op_erase(feed->store);
    op_erase(feed->load);
}

static void move_late(const Feed *feed, Op *op)
{
    if (op != feed->read) move_late(feed, operand(op, a)->op);
    op_move_before(op, feed->dot);
}

static void make_copies(Loop *loop)
{
    for (size_t i = 0; i < loop->feeds.count; i++) {
        Feed *feed = &loop->feeds.data[i];
        if (!is_first_of_tile(loop, i)) continue;
        if (!feed->store) make_tile(loop, feed);
        make_copy(feed);
        /* right before the dot, where the tensor core can do so, if it is for that alone */
        if (!feed->is_read_on) move_late(feed, feed->dot->operands[feed->operand]->op);
    }
}

/* Accesses before the loop and those behind it keep what order the author's syncs gave them. */
static void move_syncs(const Loop *loop)
{
    bool found = false;
    for (Op *op = loop->body->first, *next; op; op = next) {
        next = op_next(op);
        if (op->code != OP_sync) continue;
        found = true;
        op_erase(op);
    }
    if (!found) return;
    Builder before = builder_before(loop->op), after = builder_after(loop->op);
    build_op(&before, OP_sync, 0, NULL, 0, NULL);
    build_op(&after, OP_sync, 0, NULL, 0, NULL);
}

/* ---- several iterations at a time ---- */

/* The copies' offsets along k grow by the tile's extent each iteration, and nothing else changes.
 */
static bool follows_along_k(const Loop *loop, const Feed *feed)
{
    const Access access = access_of(feed->copy);
    const Op *view = operand(feed->copy, view)->op;
    int64_t slope, step, way;
    if (!value_constant(operand(loop->op, step), &step)) return false;
    for (int i = 0; i < view->operand_count; i++)
        if (!loop_slope(loop->op, view->operands[i], &slope) || slope) return false;
    for (int d = 0; d < access.rank; d++) {
        const int64_t along = access.tile_dim[d] == feed->k_dim ? access.width[d] : 0;
        if (!loop_slope(loop->op, access.offsets[d], &slope) ||
            __builtin_mul_overflow(slope, step, &way) || way != along)
            return false;
    }
    return true;
}

/* The loop carries the dot's sum alone, and does nothing with tiles but for it. */
static bool is_one_product(const Loop *loop)
{
    const Op *dot = loop->feeds.data[0].dot, *yield = region_terminator(loop->body);
    if (loop->feeds.count != 2 || loop->feeds.data[1].dot != dot || loop->op->result_count != 1 ||
        operand(dot, c) != loop->body->arguments[1] || operand(yield, values) != &dot->results[0] ||
        loop->feeds.data[0].alloc == loop->feeds.data[1].alloc)
        return false;
    for (const Op *op = loop->body->first; op; op = op_next(op)) {
        const bool scalar = !op->result_count || op->results[0].type->kind != TYPE_TILE;
        const bool own = op == dot || op->code == OP_shared_load || op->code == OP_transpose;
        if (!scalar && (!own || !is_used_once(op))) return false;
    }
    return true;
}

static void stretch(const Loop *loop, Value *value, int dim, int factor)
{
    value->type =
        type_with_extent(loop->kernel->types, value->type, dim, value->type->shape[dim] * factor);
}

static void stretch_feed(const Loop *loop, const Feed *feed, int factor)
{
    stretch(loop, &feed->alloc->results[0], feed->k_dim, factor);
    int dim = 1 - feed->operand;
    for (Op *op = feed->dot->operands[feed->operand]->op;; op = operand(op, a)->op) {
        stretch(loop, &op->results[0], dim, factor);
        if (op == feed->read) return;
        dim = 1 - dim;
    }
}

/* ---- room ---- */

/* What an iteration copies; of tiles that are `there` alone. */
static int64_t iteration_bytes(const Loop *loop, bool there)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < loop->feeds.count; i++) {
        const Feed *feed = &loop->feeds.data[i];
        if (is_first_of_tile(loop, i) && (!there || feed->alloc))
            bytes += type_bytes(feed->dot->operands[feed->operand]->type);
    }
    return bytes;
}

/* What the loop's operands may have. */
static int64_t room_of(const Loop *loop)
{
    return loop->target->shared_bytes - COST_SHARED_MARGIN - loop->held;
}

/* What each of COST_BLOCKS_PER_SM blocks may have. */
static int64_t share_of(const Loop *loop)
{
    return loop->target->shared_bytes / COST_BLOCKS_PER_SM - COST_SHARED_MARGIN;
}

/* A block of the tensor core's that waits for memory more than that waits for it: what it has in
 * flight counts for more than a second block. */
static bool is_deep(const Loop *loop, int64_t bytes)
{
    const Op *dot = loop->feeds.data[0].dot;
    const Type *a = operand(dot, a)->type, *c = operand(dot, c)->type;
    return wgmma_fits(loop->kernel, loop->target, dot) &&
           c->shape[0] * c->shape[1] * a->shape[1] < COST_BALANCE * bytes;
}

/* How many iterations' work one is to do. */
static int choose_factor(const Loop *loop)
{
    const int64_t trips = loop_trips(loop->op);
    if (trips == 0 || op_attr(loop->op, ATTR_unroll) || !is_one_product(loop) ||
        dtype_bits(operand(loop->op, step)->type->dtype) < 32) /* the step has to fit */
        return 1;
    const Feed *a = &loop->feeds.data[0], *b = &loop->feeds.data[1];
    if (!follows_along_k(loop, a) || !follows_along_k(loop, b)) return 1;
    const Type *left = operand(a->dot, a)->type;
    const int64_t depth = left->shape[1] * dtype_bits(left->dtype) / 8;
    const int64_t most =
        wgmma_fits(loop->kernel, loop->target, a->dot) ? COST_WGMMA_DEPTH : COST_MMA_DEPTH;
    const int64_t room = lesser_of(share_of(loop), room_of(loop));
    int factor = 1;
    while (depth * factor * 2 <= most && trips % (factor * 2) == 0 &&
           iteration_bytes(loop, false) * factor * 2 * COST_STAGES_ENOUGH <= room)
        factor *= 2;
    return factor;
}

static void join_iterations(const Loop *loop, int factor)
{
    int64_t step;
    if (factor == 1) return;
    vec_each (feed, &loop->feeds) stretch_feed(loop, feed, factor);
    Builder builder = builder_before(loop->op);
    value_constant(operand(loop->op, step), &step);
    op_set_operand(loop->op, operand_index(loop->op, step),
                   build_const(&builder, operand(loop->op, step)->type->dtype, step * factor));
    kernel_remark(loop->kernel, loop->op->span,
                  "an iteration of this loop of a product does the work of %d", factor);
}

/* ---- loops that ask for stages ---- */

static bool writes_global(const Op *op, const void *context)
{
    const Value *memory = op_memory(op);
    (void)context;
    return !op->region_count && op_has(op, WRITES) && !op_has(op, BARRIER | COPY) &&
           (!memory || memory->type->kind == TYPE_VIEW);
}

/* A tile that each iteration loads and stores whole, as loops over its elements do. */
static bool is_copied_by_elements(const Loop *loop, const Op *store)
{
    if (store->code != OP_shared_store || store->attr_count) return false;
    const Op *alloc = operand(store, tile)->op;
    Op *load = operand(store, value)->op;
    return alloc->code == OP_shared_alloc && is_ahead(loop, load) &&
           bytes_at_once(loop, load) >= COST_COPY_LEAST &&
           is_written_by(loop, store, operand(store, tile));
}

/* Where the author asks for stages, and nothing writes global memory, such are copies, too. */
static void copy_elements_ahead(Loop *loop)
{
    bool copies = false;
    if (op_int(loop->op, ATTR_stages, 0) < 2 || !op_is_of_block(loop->op) ||
        region_find(loop->body, writes_global, NULL))
        return;
    for (Op *op = loop->body->first, *next; op; op = next) {
        next = op_next(op);
        if (!is_copied_by_elements(loop, op)) continue;
        Feed feed = {.load = operand(op, value)->op, .store = op, .alloc = operand(op, tile)->op};
        make_copy(&feed);
        copies = true;
    }
    if (copies) analysis_invalidate(loop->context);
}

/* ---- the loop ---- */

/* As many as leave room for other blocks; fewer than two: too few. */
static int choose_stages(const Loop *loop, int64_t bytes)
{
    const int64_t all = (loop->target->shared_bytes - COST_SHARED_MARGIN) / bytes;
    const int64_t trips = loop_trips(loop->op);
    int64_t stages = share_of(loop) / bytes, most = COST_STAGES;
    if (stages < COST_STAGES_ENOUGH) {
        stages = all;
        most = COST_STAGES_ENOUGH;
    } else if (is_deep(loop, bytes)) {
        stages = all;
        most = COST_STAGES_OF_MEMORY;
    } else if (!dot_has_instruction(loop->feeds.data[0].dot, loop->target)) {
        most = COST_STAGES_OF_FMA;
    }
    stages = lesser_of(lesser_of(stages, most), room_of(loop) / bytes);
    return (int)(trips ? lesser_of(stages, trips) : stages);
}

/* NULL, or why the loop's loads do not become copies to shared memory. */
static const char *fault_of_loop(Loop *loop)
{
    if (!is_plain(loop->body)) return "it does more than load, multiply and keep in shared memory";
    if (!op_is_of_block(loop->op)) return "not all threads of the block take part";
    for (Op *op = loop->body->first; op; op = op_next(op))
        if (op->code == OP_dot) find_feeds(loop, op);
    if (!loop->feeds.count)
        return "no operand of a matrix instruction is loaded, 8 bytes or more at a time, from "
               "where is known before the iteration";
    loop->held = loop_lasting_bytes(loop->launch, loop->op) - iteration_bytes(loop, true);
    return choose_stages(loop, iteration_bytes(loop, false)) < 2
               ? "shared memory has no room for two iterations"
               : NULL;
}

static void consider(Loop *loop)
{
    copy_elements_ahead(loop);
    if (op_attr(loop->op, ATTR_stages) || !region_terminator(loop->body) ||
        !loop_products(loop->op))
        return;
    const char *fault = fault_of_loop(loop);
    if (fault) {
        kernel_remark(loop->kernel, loop->op->span,
                      "a loop of products not found to be pipelined: %s", fault);
        return;
    }
    move_syncs(loop);
    make_copies(loop);
    join_iterations(loop, choose_factor(loop));
    op_set_int(loop->op, ATTR_stages, choose_stages(loop, iteration_bytes(loop, false)));
    analysis_invalidate(loop->context);
}

static void consider_loop(Op *op, void *context)
{
    PassContext *pass = context;
    if (op->code != OP_for) return;
    Loop loop = {.kernel = pass->kernel,
                 .context = pass,
                 .target = pass->target,
                 .arena = pass->arena,
                 .launch = launch_region(op_enclosing(op, OP_launch)),
                 .op = op,
                 .body = op->regions[0]};
    consider(&loop);
}

bool pass_copies(Kernel *kernel, PassContext *context)
{
    kernel_each_launch (op, kernel)
        if (target_has(context->target, HAS_CP_ASYNC))
            region_visit_inner_first(launch_region(op), consider_loop, context);
    return true;
}
