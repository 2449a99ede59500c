/* plan_buffers.c: which tiles a loop copies ahead, and by what; and by what other copies are made.
 *
 * A tile is made a multi-buffer where its copy is all that writes it in the loop, comes before what
 * reads it, and goes by the loop's variable and by what is known before the loop. So is one that a
 * gather fills, whose indices may be read from memory that the launch does not write. */
#include "passes/pipeline/plan.h"

#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/layout/matrix.h"

/* ---- what uses a tile ---- */

/* The loop with stages that is nearest around the op; NULL: there is none. */
static Op *pipelined_around(const Op *op)
{
    Op *loop = op_enclosing(op, OP_for);
    while (loop && op_int(loop, ATTR_stages, 0) <= 0) loop = op_enclosing(loop, OP_for);
    return loop;
}

/* In every round the tile is copied whole before anything else is done with it. */
static bool is_copied_first(const MultiBuffer *buffer, const Op *loop)
{
    const Region *body = loop->regions[0];
    for (size_t i = 0; i < buffer->uses.count; i++) {
        const Op *use = buffer->uses.data[i];
        if (!op_has(use, ALIAS) && region_holds(body, use->parent)) /* the first one there */
            return use->code == OP_copy && use->parent == body &&
                   operand(use, tile)->op == buffer->alloc;
    }
    return false;
}

/* ---- which tiles ---- */

/* What cannot be computed iterations ahead; loads of memory that stays as it is can. */
static ValueAnswer is_unforeseen(const Value *value, void *context)
{
    const Pipeline *pipeline = context;
    const Op *op = value->op;
    return op && op->parent == pipeline->loop->regions[0] && is_steady_load(pipeline->pass, op)
               ? VALUE_OPERANDS
               : loop_is_unforeseen(pipeline->loop, value);
}

static const char *fault_of_tile(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    const Type *tile = operand(buffer->copy, tile)->type;
    if (buffer->alloc->code != OP_shared_alloc)
        return "it goes to a part of a tile, or to a tile that another loop left in a multi-buffer";
    if (tile->rank == TYPE_RANK) return "the tile has as many dimensions as one may have";
    return type_elements(tile) > TILE_LIMIT / pipeline->stages
               ? "so many of these tiles are more than one tile may hold"
               : NULL;
}

/* Whether a loop between the tile and the region repeats what the region does. */
static bool is_repeated(const Region *region, const Op *alloc)
{
    for (; region != alloc->parent; region = region->parent->parent)
        if (region->parent->code == OP_for || region->parent->code == OP_while) return true;
    return false;
}

/* What the tile holds before the loop, or leaves behind it, matters where it is used there: then
 * both must be parts of one straight text. */
static const char *fault_of_uses(const Pipeline *pipeline, MultiBuffer *buffer)
{
    const Region *body = pipeline->loop->regions[0], *around = pipeline->loop->parent;
    for (size_t i = 0; i < buffer->uses.count; i++) {
        const Op *use = buffer->uses.data[i], *other = pipelined_around(use);
        if (use == buffer->copy) continue;
        if (use->code == OP_shared_reshape) return "the tile is used in another shape";
        if (region_holds(body, use->parent)) {
            if (!shared_is_only_read(use)) return "the loop writes the tile in another place, too";
            if (!op_has(use, ALIAS) &&
                op_comes_before(region_find_ancestor(body, use), buffer->copy))
                return "the loop reads the tile before it is copied to";
        } else if (!op_has(use, ALIAS) && !(other && is_copied_first(buffer, other))) {
            buffer->is_shared = true;
            if (!region_holds(around, use->parent))
                return "the tile is used outside of the branch or loop that this is in";
        }
    }
    if (buffer->is_shared && is_repeated(around, buffer->alloc))
        return "the tile is used outside of the loop, which another loop repeats";
    return NULL;
}

/* Nobody asks a single stage to be ahead. */
static void report(const Pipeline *pipeline, const Op *copy, const char *fault)
{
    Session *session = pipeline->pass->kernel->session;
    if (pipeline->stages > 1) diag_report(session->diags, DIAG_not_ahead, copy->span, fault);
}

/* ---- tiles that are gathered ---- */

/* Nor a tile of memory that changes: of other memory one is read anywhere, of an iteration that
 * there is not, too. */
static ValueAnswer is_unforeseen_index(const Value *value, void *context)
{
    const Pipeline *pipeline = context;
    const Op *op = value->op;
    return op && op->parent == pipeline->loop->regions[0] &&
                   (op->code == OP_load || op->code == OP_gather) && !op_attr(op, ATTR_watched) &&
                   op_memory(op)->type->kind == TYPE_VIEW &&
                   !written_has(&pipeline->pass->written, op_memory(op))
               ? VALUE_OPERANDS
               : is_unforeseen(value, context);
}

/* Each thread copies 16 bytes at a time, by cp.async. */
static bool is_gathered_wide(const Pipeline *pipeline, Op *gather)
{
    const Pass *pass = pipeline->pass;
    const Type *tile = gather->results[0].type;
    const int64_t each = type_elements(tile) / op_threads(gather).count;
    const int most = ACCESS_BYTES * 8 / dtype_memory_bits(tile->dtype);
    return dtype_memory_bits(tile->dtype) == dtype_bits(tile->dtype) && each >= most &&
           scattered_vector(analysis_ranges(pass->context), pass->target, gather, most) == most;
}

/* What is gathered as a whole, from where is known before the iteration; NULL: it is not. */
static Op *gather_ahead(const Pipeline *pipeline, const Op *store)
{
    Op *gather = store->code == OP_shared_store && !store->attr_count ? gather_stored(store) : NULL;
    if (!gather || gather->parent != store->parent ||
        !target_has(pipeline->pass->target, HAS_CP_ASYNC) ||
        value_finds(gather->results, is_unforeseen_index, (Pipeline *)(uintptr_t)pipeline) ||
        !is_gathered_wide(pipeline, gather))
        return NULL;
    return gather;
}

/* ---- all of a loop ---- */

/* Of the tile that a copy, or a store of what is gathered, writes. */
static void consider(Pipeline *pipeline, Op *op)
{
    const Pass *pass = pipeline->pass;
    Op *gather = gather_ahead(pipeline, op);
    if (op->code != OP_copy && !gather) return;
    Op *alloc = operand(op, tile)->op;
    MultiBuffer buffer = {.copy = op,
                          .alloc = alloc,
                          .uses = region_list(pass->arena, pass->launch, shared_is_used, alloc),
                          .gather = gather,
                          .is_plain = operand(op, tile)->type->rank == 1};
    const char *fault = fault_of_tile(pipeline, &buffer);
    if (!fault && !gather && copy_source_finds(op, is_unforeseen, pipeline))
        fault = "where it copies from is not known before the iteration";
    if (!fault) fault = fault_of_uses(pipeline, &buffer);
    if (!fault && !(gather && buffer.is_shared))
        vec_push(pass->arena, &pipeline->buffers, buffer);
    else if (!gather) /* which threads may do in each iteration as well */
        report(pipeline, op, fault);
}

bool multi_buffer_gathers(const Pipeline *pipeline)
{
    vec_each (buffer, &pipeline->buffers)
        if (buffer->gather) return true;
    return false;
}

void plan_find_buffers(Pipeline *pipeline)
{
    Region *body = pipeline->loop->regions[0];
    const bool own_groups = region_has(body, OP_copy_async) || region_has(body, OP_copy_commit) ||
                            region_has(body, OP_copy_wait);
    if (own_groups || !(region_has(body, OP_copy) || region_has(body, OP_gather))) {
        /* an inner loop's, or the author's: their count would not be right */
        pipeline_remark(pipeline, "a loop not multi-buffered, though it asks for stages: %s",
                        own_groups ? "copies are in flight in it already"
                                   : "it copies no tile from global to shared memory as a whole");
        return;
    }
    region_each_of (copy, body, OP_copy)
        if (copy->parent != body && pipelined_around(copy) == pipeline->loop)
            report(pipeline, copy, "not every iteration does it once");
    for (Op *op = body->first; op; op = op_next(op)) consider(pipeline, op);
}

/* ---- how many stages ---- */

bool plan_has_stages(const Pipeline *pipeline, int stages)
{
    enum { BARRIERS = 2 }; /* a stage's: it is full, it is empty */
    const int64_t barriers =
                      (int64_t)pipeline->buffers.count * BARRIERS * (int64_t)sizeof(uint64_t),
                  stage = multi_buffer_bytes(pipeline) + barriers,
                  others = loop_lasting_bytes(pipeline->pass->launch, pipeline->loop) -
                           multi_buffer_bytes(pipeline);
    vec_each (buffer, &pipeline->buffers)
        if (type_elements(buffer->alloc->results[0].type) > TILE_LIMIT / stages) return false;
    return others + stages * stage <= pipeline->pass->target->shared_bytes;
}

/* As many stages as were asked for, if a block has the memory; else as many as it has. */
void plan_fit_stages(Pipeline *pipeline)
{
    const int asked = pipeline->stages;
    while (pipeline->stages > 1 && !plan_has_stages(pipeline, pipeline->stages)) pipeline->stages--;
    if (pipeline->stages < asked)
        pipeline_remark(pipeline,
                        "stages: %d in place of %d, as a block has %lld bytes of shared memory",
                        pipeline->stages, asked, (long long)pipeline->pass->target->shared_bytes);
}

void plan_take_stages(Pipeline *pipeline, int stages, const char *why)
{
    if (stages != pipeline->stages)
        pipeline_remark(pipeline, "%d stages in place of %d: %s", stages, pipeline->stages, why);
    pipeline->stages = stages;
}

const MultiBuffer *multi_buffer_of(const Pipeline *pipeline, const Op *alloc)
{
    vec_each (buffer, &pipeline->buffers)
        if (buffer->alloc == alloc) return buffer;
    return NULL;
}

bool multi_buffer_has(const Pipeline *pipeline, const Op *copy)
{
    const MultiBuffer *buffer = multi_buffer_of(pipeline, shared_root(operand(copy, tile)));
    return buffer && buffer->copy == copy;
}

int64_t multi_buffer_bytes(const Pipeline *pipeline)
{
    int64_t bytes = 0;
    vec_each (buffer, &pipeline->buffers) bytes += type_bytes(buffer->alloc->results[0].type);
    return bytes;
}

/* ---- by what they are copied ---- */

const Layout *multi_buffer_layout(const Pipeline *pipeline, const MultiBuffer *buffer,
                                  const Type *tile)
{
    LayoutTable *layouts = pipeline->pass->kernel->layouts;
    return buffer->is_plain ? tma_rows(layouts, tile) : tma_panels(layouts, tile);
}

/* Why the multi-buffer's copy cannot be a TMA load; NULL: it can. */
static const char *fault_of_tma(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    const Type *tile = operand(buffer->copy, tile)->type;
    if (!target_has(pipeline->pass->target, HAS_TMA)) return "the architecture has none";
    if (buffer->gather) return "its elements are gathered";
    if (multi_buffer_bytes(pipeline) >= MBARRIER_BYTES)
        return "a stage has more bytes than mbarriers count";
    if (tile->rank == 1 && type_bytes(tile) % TMA_ALIGN)
        return "its shared tile has no multiple of 128 bytes";
    return tma_load_fault(analysis_ranges(pipeline->pass->context), buffer->copy,
                          tile->rank <= 2 ? multi_buffer_layout(pipeline, buffer, tile) : NULL);
}

bool is_by_tma(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    return !fault_of_tma(pipeline, buffer);
}

bool are_by_tma(const Pipeline *pipeline)
{
    vec_each (buffer, &pipeline->buffers)
        if (!is_by_tma(pipeline, buffer)) return false;
    return true;
}

void multi_buffer_remark_copies(const Pipeline *pipeline, const char *fault)
{
    if (!pipeline->pass->kernel->wants_remarks) return;
    const char *others = are_by_tma(pipeline) ? fault : "another copy of its loop cannot be one";
    vec_each (buffer, &pipeline->buffers) {
        const char *own = fault_of_tma(pipeline, buffer);
        kernel_remark(pipeline->pass->kernel, buffer->copy->span, "a copy not by TMA load: %s",
                      own ? own : others);
    }
}

/* ---- copies that no loop makes ahead ---- */

/* Where the tiles of a loop's products leave threads registers for what is copied, ptxas says. */
static bool may_hold(const Pass *pass, const Op *copy)
{
    const Op *loop = op_enclosing(copy, OP_for);
    if (!loop || !loop_products(loop)) return true;
    pass->kernel->uses |= MAY_HOLD;
    return !target_has(pass->target, HAS_CP_ASYNC) || target_has(pass->target, MAY_HOLD);
}

/* In a loop small tiles go through registers, where the next ones can be fetched ahead. In a branch
 * nothing is: there those do of which a thread has less than cp.async moves at a time, as loads are
 * in flight together without being waited for together. Groups take their branch each time. */
bool plan_copies_by_threads(const Pass *pass, const Op *copy)
{
    const int64_t bytes = type_bytes(operand(copy, tile)->type), threads = op_threads(copy).count;
    const Op *around = copy->parent->parent;
    if (!op_is_in_loop(copy) || bytes > COST_COPY_BY_REGISTERS * threads || !may_hold(pass, copy))
        return false;
    return around->code != OP_if || is_group(around) || bytes < ACCESS_BYTES * threads;
}
