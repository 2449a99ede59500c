/* multi_buffer.c: copies from global to shared memory: in a loop with {stages} ahead of their use,
 * into a multi-buffer of that many tiles; elsewhere at once. Needs SSA and bounds, which are proved
 * of a loop's own variable; leaves no `copy`.
 *
 * A tile is made a multi-buffer where its copy is all that writes it in the loop, comes before what
 * reads it, and goes by the loop's variable and by what is known before the loop. Iteration k reads
 * the tile in stage k mod n:
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
 * A group is committed whether anything was copied or not, so that the count of those in flight
 * always says the same. The barrier that shows what was copied to the other threads also says that
 * they have done with iteration k - 1: sync places one. */
#include "passes/pipeline/plan.h"

#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/layout/matrix.h"
#include "ir/rebuild.h"

#include <string.h>

/* ---- what uses a tile ---- */

bool multi_buffer_is_inside(const Op *op, const Region *region)
{
    return region_holds(region, op->parent);
}

static bool is_rename(const Op *op)
{
    return op->code == OP_shared_view || op->code == OP_shared_reshape;
}

static void collect_use(Op *op, void *context)
{
    Pipeline *pipeline = context;
    bool uses = false;
    for (int i = 0; i < op->operand_count; i++) uses |= op->operands[i]->type->kind == TYPE_SHARED;
    if (uses) vec_push(pipeline->pass->arena, &pipeline->uses, op);
}

/* The op of the region that holds `op`, or is it. */
static const Op *ancestor_in(const Op *op, const Region *region)
{
    while (op->parent != region) op = op->parent->parent;
    return op;
}

/* The loop with stages that is nearest around the op; NULL: there is none. */
static Op *pipelined_around(const Op *op)
{
    for (const Region *at = op->parent; at && at->parent; at = at->parent->parent)
        if (at->parent->code == OP_for && op_int(at->parent, ATTR_stages, 0) > 0) return at->parent;
    return NULL;
}

/* In every round the tile is copied whole before anything else is done with it. */
static bool is_copied_first(const Pipeline *pipeline, const Op *alloc, const Op *loop)
{
    const Region *body = loop->regions[0];
    const Op *copy = NULL;
    for (size_t i = 0; i < pipeline->uses.count; i++) {
        const Op *use = pipeline->uses.data[i];
        if (is_rename(use) || !shared_is_used(use, alloc) || !multi_buffer_is_inside(use, body))
            continue;
        if (copy) return true; /* uses come in order */
        if (use->code != OP_copy || use->parent != body || operand(use, tile)->op != alloc)
            return false;
        copy = use;
    }
    return copy != NULL;
}

/* ---- which tiles ---- */

static ValueAnswer is_unforeseen(const Value *value, void *context)
{
    const Pipeline *pipeline = context;
    const Op *op = value->op;
    const bool is_loaded =
        op && op->parent == pipeline->loop->regions[0] && is_steady_load(pipeline->pass, op);
    return is_loaded                              ? VALUE_OPERANDS
           : loop_foresees(pipeline->loop, value) ? VALUE_ENOUGH
           : !op || op->parent != pipeline->loop->regions[0] || op->region_count ||
                   !op_has(op, PURE)
               ? VALUE_FOUND
               : VALUE_OPERANDS;
}

/* Whether it can be computed iterations ahead, loads of memory that stays as it is included. */
static bool foresees(const Pipeline *pipeline, const Value *value)
{
    return !value_finds(value, is_unforeseen, (Pipeline *)(uintptr_t)pipeline);
}

static const char *fault_of_copy(const Pipeline *pipeline, const Op *copy)
{
    if (operand(copy, tile)->op->code != OP_shared_alloc)
        return "it goes to a part of a tile, or to a tile that another loop left in a multi-buffer";
    const Type *tile = operand(copy, tile)->type;
    if (tile->rank == TYPE_RANK) return "the tile has as many dimensions as one may have";
    if (type_elements(tile) > TILE_LIMIT / pipeline->stages)
        return "so many of these tiles are more than one tile may hold";
    for (int i = 0; i < copy->operand_count; i++)
        if (i != operand_index(copy, tile) && !foresees(pipeline, copy->operands[i]))
            return "where it copies from is not known before the iteration";
    return NULL;
}

static const char *fault_in_loop(const Pipeline *pipeline, const Op *copy)
{
    const Region *body = pipeline->loop->regions[0];
    const Op *alloc = operand(copy, tile)->op;
    for (size_t i = 0; i < pipeline->uses.count; i++) {
        const Op *use = pipeline->uses.data[i];
        if (use == copy || !shared_is_used(use, alloc)) continue;
        if (use->code == OP_shared_reshape) return "the tile is used in another shape";
        if (!multi_buffer_is_inside(use, body)) continue;
        if (!shared_is_only_read(use)) return "the loop writes the tile in another place, too";
        if (!is_rename(use) && op_comes_before(ancestor_in(use, body), copy))
            return "the loop reads the tile before it is copied to";
    }
    return NULL;
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
static const char *fault_outside(const Pipeline *pipeline, const Op *copy, bool *is_shared)
{
    const Op *alloc = operand(copy, tile)->op;
    *is_shared = false;
    for (size_t i = 0; i < pipeline->uses.count; i++) {
        const Op *use = pipeline->uses.data[i];
        if (is_rename(use) || !shared_is_used(use, alloc) ||
            multi_buffer_is_inside(use, pipeline->loop->regions[0]))
            continue;
        const Op *other = pipelined_around(use);
        if (other && is_copied_first(pipeline, alloc, other)) continue;
        *is_shared = true;
        if (!multi_buffer_is_inside(use, pipeline->loop->parent))
            return "the tile is used outside of the branch or loop that this is in";
    }
    if (*is_shared && is_repeated(pipeline->loop->parent, alloc))
        return "the tile is used outside of the loop, which another loop repeats";
    return NULL;
}

/* Nobody asks a single stage to be ahead. */
static void report(const Pipeline *pipeline, const Op *copy, const char *fault)
{
    Session *session = pipeline->pass->kernel->session;
    if (pipeline->stages > 1) diag_report(session->diags, DIAG_not_ahead, copy->span, fault);
}

static void consider_copy(Pipeline *pipeline, Op *copy)
{
    bool is_shared = false;
    const char *fault = fault_of_copy(pipeline, copy);
    if (!fault) fault = fault_in_loop(pipeline, copy);
    if (!fault) fault = fault_outside(pipeline, copy, &is_shared);
    if (fault) {
        report(pipeline, copy, fault);
        return;
    }
    const MultiBuffer buffer = {.copy = copy,
                                .alloc = operand(copy, tile)->op,
                                .is_shared = is_shared,
                                .is_plain = operand(copy, tile)->type->rank == 1};
    vec_push(pipeline->pass->arena, &pipeline->buffers, buffer);
}

static void find_conditional(Op *op, void *context)
{
    const Pipeline *pipeline = context;
    if (op->code == OP_copy && op->parent != pipeline->loop->regions[0] &&
        pipelined_around(op) == pipeline->loop)
        report(pipeline, op, "not every iteration does it once");
}

static void find_own_groups(Op *op, void *context)
{
    if (op->code == OP_copy_async || op->code == OP_copy_commit || op->code == OP_copy_wait)
        *(bool *)context = true;
}

static void consider_loop(Pipeline *pipeline)
{
    Region *body = pipeline->loop->regions[0];
    bool own_groups = false;
    region_visit(body, find_own_groups, &own_groups);
    if (own_groups) return; /* an inner loop's, or the author's: their count would not be right */
    region_visit(pipeline->pass->launch, collect_use, pipeline);
    region_visit(body, find_conditional, pipeline);
    for (Op *op = body->first; op; op = op_next(op))
        if (op->code == OP_copy) consider_copy(pipeline, op);
}

/* ---- the new loop ---- */

Value *multi_buffer_stage(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                          Value *stage)
{
    const Type *tile = buffer->alloc->results[0].type;
    Value *operands[1 + TYPE_RANK] = {buffer->stages, stage};
    int64_t dims[TYPE_RANK];
    for (int d = 0; d < tile->rank; d++) {
        operands[2 + d] = build_const(builder, DTYPE_i32, 0);
        dims[d] = d + 1;
    }
    const Type *type =
        type_shared(pipeline->pass->kernel->types, tile->dtype, tile->rank, tile->shape, NULL);
    Op *view = build_op(builder, OP_shared_view, 2 + tile->rank, operands, 1, &type);
    op_set_ints(view, ATTR_dims, tile->rank, dims);
    return &view->results[0];
}

Value *multi_buffer_number(Builder *builder, int value)
{
    return build_const(builder, DTYPE_i32, value);
}

void multi_buffer_make_stages(const Pipeline *pipeline, Builder *builder, MultiBuffer *buffer)
{
    const Type *tile = buffer->alloc->results[0].type;
    builder->span = buffer->alloc->span;
    int64_t shape[TYPE_RANK] = {pipeline->stages};
    memcpy(shape + 1, tile->shape, sizeof *shape * (size_t)tile->rank);
    const Type *type =
        type_shared(pipeline->pass->kernel->types, tile->dtype, tile->rank + 1, shape, NULL);
    buffer->stages = &build_op(builder, OP_shared_alloc, 0, NULL, 1, &type)->results[0];
    buffer->stages->name = buffer->alloc->results[0].name;
    if (pipeline->by_tensor) multi_buffer_lay_out(pipeline, buffer);
}

Value *multi_buffer_copy_slice(Builder *builder, Value *value, const Region *region, Map *map)
{
    Value *copied = map_get(map, value);
    if (copied) return copied;
    if (!value->op || !multi_buffer_is_inside(value->op, region)) return value;
    for (int i = 0; i < value->op->operand_count; i++)
        multi_buffer_copy_slice(builder, value->op->operands[i], region, map);
    op_clone(builder, value->op, map);
    return map_get(map, value);
}

/* The copies of one iteration, `index` its loop variable, to their stages; none unless `exists`. */
static void copy_iteration(const Pipeline *pipeline, Builder *builder, Value *index, Value *stage,
                           Value *exists)
{
    const Region *body = pipeline->loop->regions[0];
    const Span span = builder->span;
    Map map = {0};
    map_set(pipeline->pass->arena, &map, body->arguments[0], index);
    for (size_t i = 0; i < pipeline->buffers.count; i++) {
        const MultiBuffer *buffer = &pipeline->buffers.data[i];
        Value *operands[3 + TYPE_RANK];
        int count = buffer->copy->operand_count;
        builder->span = buffer->copy->span;
        for (int o = 0; o < count; o++)
            operands[o] =
                o == operand_index(buffer->copy, tile)
                    ? multi_buffer_stage(pipeline, builder, buffer, stage)
                    : multi_buffer_copy_slice(builder, buffer->copy->operands[o], body, &map);
        operands[count++] = exists;
        Op *copy = build_op(builder, OP_copy_async, count, operands, 0, NULL);
        copy->attrs = buffer->copy->attrs;
        copy->attr_count = buffer->copy->attr_count;
        op_set_int(copy, ATTR_masked, 1);
        op_set_int(copy, ATTR_stages, pipeline->stages);
    }
    builder->span = span;
    build_op(builder, OP_copy_commit, 0, NULL, 0, NULL);
}

/* In the loop: whether there is the iteration that copies are ahead for. */
static Value *goes_on(const Pipeline *pipeline, Builder *builder)
{
    const Op *loop = pipeline->loop;
    Value *index = loop->regions[0]->arguments[0], *step = operand(loop, step);
    /* in a loop that runs the end is behind the beginning */
    if (!loop_counts_to(loop, operand(loop, begin), -pipeline->ahead))
        return loop_has_iteration(loop, builder, index, pipeline->ahead,
                                  loop_ahead(builder, index, step, pipeline->ahead));
    Builder outside = builder_before(pipeline->loop);
    Value *limit = loop_ahead(&outside, operand(loop, end), step, -pipeline->ahead);
    return build_cmp(builder, "lt", index, limit);
}

static void copy_first_iterations(const Pipeline *pipeline)
{
    Builder builder = builder_before(pipeline->loop);
    Value *const *bounds = pipeline->loop->operands;
    for (int iteration = 0; iteration < pipeline->ahead; iteration++) {
        Value *index =
            iteration ? loop_ahead(&builder, bounds[0], bounds[2], iteration) : bounds[0];
        Value *exists = loop_has_iteration(pipeline->loop, &builder, bounds[0], iteration, index);
        copy_iteration(pipeline, &builder, index, build_const(&builder, DTYPE_i32, iteration),
                       exists);
    }
}

void multi_buffer_carry(Pipeline *pipeline, Value *const first[STAGE_VALUES],
                        Value *arguments[STAGE_VALUES])
{
    pipeline->loop = loop_carry(pipeline->loop, STAGE_VALUES, first);
    for (int i = 0; i < STAGE_VALUES; i++)
        arguments[i] = region_add_argument(pipeline->loop->regions[0], first[i]->type, NULL);
}

void multi_buffer_yield(const Pipeline *pipeline, Value *const carried[STAGE_VALUES])
{
    op_add_operands(region_terminator(pipeline->loop->regions[0]), STAGE_VALUES, carried);
}

Value *multi_buffer_next(const Pipeline *pipeline, Builder *builder, Value *stage, Value **is_last)
{
    Value *last = build_const(builder, DTYPE_i32, pipeline->stages - 1);
    Value *one = build_const(builder, DTYPE_i32, 1), *zero = build_const(builder, DTYPE_i32, 0);
    *is_last = build_cmp(builder, "eq", stage, last);
    return build3(builder, OP_select, *is_last, zero, build2(builder, OP_add, stage, one));
}

static void yield_stages(const Pipeline *pipeline, Value *const arguments[STAGE_VALUES])
{
    Builder builder = builder_before(region_terminator(pipeline->loop->regions[0]));
    Value *read = arguments[STAGE_READ], *is_last;
    Value *next = multi_buffer_next(pipeline, &builder, read, &is_last);
    Value *free = pipeline->open ? arguments[STAGE_BEFORE] : read;
    multi_buffer_yield(pipeline, (Value *const[STAGE_VALUES]){next, read, free, read});
}

/* Waits for this iteration's copies and begins those of the iteration n - 1 later. */
static void advance(const Pipeline *pipeline, Op *before, Value *const arguments[STAGE_VALUES])
{
    const Op *loop = pipeline->loop;
    const int ahead = pipeline->ahead;
    Builder builder = builder_before(before);
    Value *index = loop->regions[0]->arguments[0], *step = operand(loop, step);
    Op *wait = build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL);
    op_set_int(wait, ATTR_count, ahead - 1);
    Value *exists = goes_on(pipeline, &builder);
    copy_iteration(pipeline, &builder, loop_ahead(&builder, index, step, ahead),
                   arguments[STAGE_FREE], exists);
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
    for (size_t i = 0; i < pipeline->uses.count; i++) {
        Op *use = pipeline->uses.data[i];
        if (use == buffer->copy || is_rename(use) || !shared_is_used(use, buffer->alloc)) continue;
        const bool inside = multi_buffer_is_inside(use, loop->regions[0]);
        if (!inside && !buffer->is_shared) continue;
        Builder builder = builder_before(use);
        Value *stage = arguments[STAGE_READ];
        if (!inside)
            stage = op_comes_before(ancestor_in(use, loop->parent), loop)
                        ? build_const(&builder, DTYPE_i32, 0)
                        : &loop->results[loop->result_count - STAGE_VALUES + STAGE_LAST];
        for (int o = 0; o < use->operand_count; o++)
            if (use->operands[o]->type->kind == TYPE_SHARED &&
                shared_root(use->operands[o]) == buffer->alloc)
                op_set_operand(use, o,
                               in_stage(pipeline, &builder, buffer, use->operands[o], stage));
    }
}

/* The tile, if the stages stand for it everywhere, and names of its parts. */
static void drop_tile(const Pipeline *pipeline, const MultiBuffer *buffer)
{
    for (size_t i = pipeline->uses.count; i-- > 0;) {
        Op *use = pipeline->uses.data[i];
        if (is_rename(use) && shared_is_used(use, buffer->alloc) && use->results[0].use_count == 0)
            op_erase(use);
    }
    if (buffer->alloc->results[0].use_count == 0) op_erase(buffer->alloc);
}

void multi_buffer_move_uses(const Pipeline *pipeline, Value *const arguments[STAGE_VALUES])
{
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        move_buffer(pipeline, &pipeline->buffers.data[i], arguments);
    for (size_t i = 0; i < pipeline->buffers.count; i++) op_erase(pipeline->buffers.data[i].copy);
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        drop_tile(pipeline, &pipeline->buffers.data[i]);
}

/* ---- a dot in flight ---- */

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

const MultiBuffer *multi_buffer_of(const Pipeline *pipeline, const Op *alloc)
{
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        if (pipeline->buffers.data[i].alloc == alloc) return &pipeline->buffers.data[i];
    return NULL;
}

bool multi_buffer_has(const Pipeline *pipeline, const Op *copy)
{
    const MultiBuffer *buffer = multi_buffer_of(pipeline, shared_root(operand(copy, tile)));
    return buffer && buffer->copy == copy;
}

static bool prepares(const Op *op)
{
    return op_info(op->code)->traits & ELEM && op->results[0].type->kind == TYPE_TILE;
}

/* The only dot of a body that does nothing else with tiles but to prepare operands, element by
 * element. While it is in flight its sums must stay in their registers, which more work, or copies
 * by the element, would need. */
static Op *only_dot(const Pipeline *pipeline, FactTable *facts)
{
    Op *dot = NULL;
    for (Op *op = pipeline->loop->regions[0]->first; op; op = op_next(op)) {
        const bool tile = op->result_count && op->results[0].type->kind == TYPE_TILE;
        if (op->region_count) return NULL;
        if (op->code == OP_copy) {
            if (!multi_buffer_has(pipeline, op) || !access_is_wide(facts, op)) return NULL;
        } else if (op->code == OP_dot) {
            if (dot) return NULL;
            dot = op;
        } else if (op->code != OP_shared_load && op->code != OP_transpose && op->code != OP_yield &&
                   op->code != OP_splat && !prepares(op) &&
                   (tile || !(op_info(op->code)->traits & PURE))) {
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
    FactTable *facts = analysis_ranges(pipeline->pass->context);
    Op *dot = pipeline->buffers.count ? only_dot(pipeline, facts) : NULL;
    return dot && sum_of(pipeline, dot) >= 0 && reads_buffers(pipeline, operand(dot, a)) &&
                   reads_buffers(pipeline, operand(dot, b))
               ? dot
               : NULL;
}

static bool is_for_wgmma(const Pipeline *pipeline, const Op *dot)
{
    return dot && wgmma_can(pipeline->pass->kernel, pipeline->pass->target, dot) &&
           type_elements(dot->results[0].type) <= (int64_t)COST_SPLIT_SUMS * op_threads(dot).count;
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
static bool has_no_company(const Pipeline *pipeline, const Op *dot)
{
    const int64_t threads = op_threads(dot).count;
    return 2 * (type_elements(dot->results[0].type) + COST_OTHER_REGISTERS_FMA * threads) >
           pipeline->pass->target->registers;
}

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
    const int index = sum_of(pipeline, pipeline->open);
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

static void build_pipeline(Pipeline *pipeline)
{
    Value *arguments[STAGE_VALUES], *first[STAGE_VALUES];
    for (size_t i = 0; i < pipeline->buffers.count; i++) {
        MultiBuffer *buffer = &pipeline->buffers.data[i];
        Builder builder =
            buffer->is_shared ? builder_after(buffer->alloc) : builder_before(pipeline->loop);
        multi_buffer_make_stages(pipeline, &builder, buffer);
    }
    copy_first_iterations(pipeline);
    const int stages[STAGE_VALUES] = {0, pipeline->stages - 1, pipeline->ahead, 0};
    Builder before = builder_before(pipeline->loop);
    for (int i = 0; i < STAGE_VALUES; i++) first[i] = build_const(&before, DTYPE_i32, stages[i]);
    multi_buffer_carry(pipeline, first, arguments);
    advance(pipeline, pipeline->buffers.data[0].copy, arguments);
    yield_stages(pipeline, arguments);
    multi_buffer_move_uses(pipeline, arguments);
    if (pipeline->open) multi_buffer_leave_in_flight(pipeline);
}

static int count_products(const Region *body)
{
    int count = 0;
    for (const Op *op = body->first; op; op = op_next(op)) count += op->code == OP_dot;
    return count;
}

/* With tiles, beside a product whose operands are read in shared memory. */
static bool has_other_work(const Region *body)
{
    for (const Op *op = body->first; op; op = op_next(op))
        if (op->result_count && op->results[0].type->kind == TYPE_TILE && op->code != OP_dot &&
            op->code != OP_shared_load && op->code != OP_splat && !op_swaps(op))
            return true;
    return count_products(body) > 1;
}

/* The same copy by threads, before it: the load, behind which comes the store. */
static Op *load_and_store(const Pass *pass, const Op *copy)
{
    const Type *shared = operand(copy, tile)->type;
    const Type *tile =
        type_tile(pass->kernel->types, shared->dtype, shared->rank, shared->shape, NULL);
    Value *operands[1 + TYPE_RANK] = {operand(copy, view)};
    const int offsets = copy->operand_count - operand_index(copy, offsets);
    memcpy(operands + 1, operand_list(copy, offsets), sizeof *operands * (size_t)offsets);
    Builder builder = builder_before((Op *)(uintptr_t)copy);
    builder.span = copy->span;
    Op *load = build_op(&builder, OP_load, 1 + offsets, operands, 1, &tile);
    load->attrs = copy->attrs;
    load->attr_count = copy->attr_count;
    build2(&builder, OP_shared_store, operand(copy, tile), &load->results[0]);
    return load;
}

/* Copies that TMA cannot make, beside those that it can: threads make the small ones through
 * registers, where they can be loaded ahead. */
static void leave_to_threads(Pipeline *pipeline, OpVec *loads)
{
    const Pass *pass = pipeline->pass;
    Pipeline others = *pipeline;
    others.buffers.count = 0;
    others.buffers.data = NULL;
    others.buffers.capacity = 0;
    for (size_t i = 0; i < pipeline->buffers.count; i++) {
        const MultiBuffer *buffer = &pipeline->buffers.data[i];
        const int64_t bytes = type_bytes(operand(buffer->copy, tile)->type);
        if (is_by_tensor(pipeline, buffer))
            vec_push(pass->arena, &others.buffers, *buffer);
        else if (bytes > ACCESS_BYTES * op_threads(buffer->copy).count)
            return;
    }
    if (!others.buffers.count || others.buffers.count == pipeline->buffers.count) return;
    for (size_t i = 0; i < pipeline->buffers.count; i++) {
        Op *copy = pipeline->buffers.data[i].copy;
        if (is_by_tensor(pipeline, &pipeline->buffers.data[i])) continue;
        map_set(pass->arena, &others.by_threads, copy, copy);
        vec_push(pass->arena, loads, load_and_store(pass, copy));
    }
    *pipeline = others;
}

static void take_back(const OpVec *loads)
{
    for (size_t i = 0; i < loads->count; i++) {
        op_erase(loads->data[i]->next);
        op_erase(loads->data[i]);
    }
}

static void remark_fault(const Plan *plan, const char *fault)
{
    Kernel *kernel = plan->pipeline->pass->kernel;
    Buf text = {0};
    if (!kernel->wants_remarks) return;
    buf_text(&text, fault);
    if (plan->obstacle) {
        const Span span = plan->obstacle->span;
        buf_printf(&text, ", in line %u", (unsigned)source_location(span.source, span.begin).line);
    }
    kernel_remark(kernel, plan->pipeline->loop->span,
                  "a loop of products and other work that is not planned: %s", text.data);
    buf_free(&text);
}

/* Several products, or one and other work with tiles: true if they are done by a plan. */
static bool build_by_plan(Pipeline *pipeline)
{
    const Target *target = pipeline->pass->target;
    const Pipeline given = *pipeline;
    OpVec loads = {0};
    Plan plan;
    if (!target_has(target, HAS_TMA) || !target_has(target, HAS_WGMMA) ||
        !count_products(pipeline->loop->regions[0]))
        return false;
    if (!target_has(target, MAY_PLAN)) {
        kernel_remark(pipeline->pass->kernel, pipeline->loop->span,
                      "a loop of products that is not planned: threads have too few registers for "
                      "that, ptxas says");
        return false;
    }
    leave_to_threads(pipeline, &loads);
    const char *fault = plan_make(&plan, pipeline);
    if (fault) {
        take_back(&loads);
        if (has_other_work(pipeline->loop->regions[0])) remark_fault(&plan, fault);
        *pipeline = (Pipeline){.pass = pipeline->pass,
                               .loop = pipeline->loop,
                               .stages = pipeline->stages,
                               .ahead = pipeline->ahead,
                               .nested = pipeline->nested,
                               .buffers = given.buffers,
                               .uses = pipeline->uses};
        return false;
    }
    plan_explain(&plan);
    pipeline->pass->kernel->uses |= plan.count > 1 ? MAY_OVERLAP | MAY_PLAN : MAY_PLAN;
    split_by_plan(pipeline, &plan);
    return true;
}

/* Threads that multiply and add by themselves have better things to do than to copy. They read many
 * rows at one k, which must not lie in the same banks; or along a row. */
static const char *fault_of_threads(Pipeline *pipeline, const Op *dot)
{
    if (!dot) return "the loop does more than one product of what it copies";
    if (dot_has_instruction(dot, pipeline->pass->target)) return "the product is not by wgmma";
    if (has_no_company(pipeline, dot))
        return "no other block multiplies while a thread begins the loads";
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        pipeline->buffers.data[i].is_plain = !has_k_in_rows(dot, &pipeline->buffers.data[i]);
    pipeline->by_tensor = are_by_tensor(pipeline);
    const char *fault = fault_of_fill(pipeline);
    if (fault) pipeline->by_tensor = false;
    return fault;
}

/* With stages enough, the tensor core need not be waited for in the iteration that it starts in:
 * the stage that it reads is filled again an iteration later. Registers that it reads could not be.
 */
static const char *fault_of_open(const Pipeline *pipeline, const Op *dot, bool splits)
{
    if (!wgmma_fits(pipeline->pass->kernel, pipeline->pass->target, dot))
        return "it reads registers that the next iteration writes";
    return pipeline->stages >= (splits ? COST_STAGES_IN_FLIGHT_SPLIT : COST_STAGES_IN_FLIGHT)
               ? NULL
               : "it takes 4 stages, or 3 where producers fill them";
}

/* A product by wgmma: who fills the stages, and whether it is left in flight. */
static bool plan_wgmma(Pipeline *pipeline, Op *dot)
{
    Kernel *kernel = pipeline->pass->kernel;
    const char *whole = fault_of_split(pipeline, dot);
    if (whole)
        kernel_remark(kernel, pipeline->loop->span, "a loop without producer warps: %s", whole);
    const char *fault = fault_of_open(pipeline, dot, !whole);
    if (fault)
        kernel_remark(kernel, dot->span, "a product not left in flight for an iteration: %s",
                      fault);
    pipeline->open = fault ? NULL : dot;
    return !whole;
}

static void add_bytes(Op *op, void *context)
{
    if (op->code == OP_shared_alloc) *(int64_t *)context += type_bytes(op->results[0].type);
}

/* Nothing but memory is waited for: so many copies are in flight beside what is read, as the text
 * asks stages, if a second block still has room. */
static void add_stage(Pipeline *pipeline)
{
    const Pass *pass = pipeline->pass;
    int64_t beside = 0, bytes = 0;
    if (region_has_with(pipeline->loop->regions[0], DOT)) return;
    region_visit(pass->launch, add_bytes, &beside);
    for (size_t i = 0; i < pipeline->buffers.count; i++)
        bytes += type_bytes(pipeline->buffers.data[i].alloc->results[0].type);
    if (beside + bytes * pipeline->stages >
        pass->target->shared_bytes / COST_BLOCKS_PER_SM - COST_SHARED_MARGIN)
        return;
    pipeline->ahead++;
    pipeline->stages++;
}

static void build_loop(Pipeline *pipeline)
{
    if (pipeline->stages == 1) { /* copies of one are not ahead, but may be other warps' work */
        build_by_plan(pipeline);
        return;
    }
    Op *any = stages_dot(pipeline), *dot = is_for_wgmma(pipeline, any) ? any : NULL;
    const bool splits = dot && plan_wgmma(pipeline, dot);
    pipeline->ahead = pipeline->stages - (pipeline->open ? 2 : 1);
    if (!any && build_by_plan(pipeline)) return;
    const char *fault = splits ? NULL
                        : dot  ? fault_of_fill(pipeline)
                               : fault_of_threads(pipeline, any);
    if (fault) multi_buffer_remark_copies(pipeline, fault);
    if (splits)
        split(pipeline);
    else if (!fault)
        fill(pipeline);
    else {
        add_stage(pipeline);
        build_pipeline(pipeline);
    }
}

static void pipeline_region(const Pass *pass, Region *region)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        for (int i = 0; i < op->region_count; i++) pipeline_region(pass, op->regions[i]);
        const int64_t stages = op_int(op, ATTR_stages, 0);
        if (op->code != OP_for || stages < 1 || !op->region_count) continue;
        Pipeline pipeline = {.pass = pass,
                             .loop = op,
                             .stages = (int)stages,
                             .ahead = (int)stages - 1,
                             .nested = op->parent != pass->launch};
        consider_loop(&pipeline);
        if (!pipeline.buffers.count) continue;
        analysis_invalidate(pass->context);
        build_loop(&pipeline);
    }
}

/* ---- the other copies ---- */

static bool is_in_loop(const Op *op)
{
    return op_enclosing(op, OP_for) || op_enclosing(op, OP_while);
}

static bool is_small(const Op *copy)
{
    return type_bytes(operand(copy, tile)->type) <=
           (int64_t)COST_COPY_BY_REGISTERS * op_threads(copy).count;
}

/* Where the tiles of a loop's products leave threads registers for what is copied, ptxas says. */
static bool may_hold(const Pass *pass, const Op *copy)
{
    const Op *loop = op_enclosing(copy, OP_for);
    if (!loop || !count_products(loop->regions[0])) return true;
    pass->kernel->uses |= MAY_HOLD;
    return !target_has(pass->target, HAS_CP_ASYNC) || target_has(pass->target, MAY_HOLD);
}

/* In a loop small tiles go through registers, where the next ones can be fetched ahead. In a branch
 * nothing is: there those do of which a thread has less than cp.async moves at a time, as loads are
 * in flight together without being waited for together. Groups take their branch each time. */
static bool goes_through_registers(const Pass *pass, const Op *copy)
{
    const int64_t bytes = type_bytes(operand(copy, tile)->type), threads = op_threads(copy).count;
    const Op *around = copy->parent->parent;
    if (!is_in_loop(copy) || !is_small(copy) || !may_hold(pass, copy)) return false;
    return around->code != OP_if || is_group(around) || bytes < ACCESS_BYTES * threads;
}

static void copy_through_registers(const Pass *pass, Op *copy)
{
    load_and_store(pass, copy);
    kernel_remark(pass->kernel, copy->span,
                  "a copy through registers: it has %d bytes a thread or fewer",
                  COST_COPY_BY_REGISTERS);
    op_erase(copy);
}

/* Copies that are in flight, to be waited for together. */
typedef struct Copies {
    const Pass *pass;
    Agreement *agreement; /* NULL: not asked for yet */
    VEC(const Value *) begun;
} Copies;

/* It writes where one that is in flight does. */
static bool meets(Copies *copies, const Op *next)
{
    for (size_t i = 0; i < copies->begun.count; i++) {
        const Value *earlier = copies->begun.data[i], *later = operand(next, tile);
        if (shared_root(earlier) != shared_root(later)) continue;
        if (!copies->agreement) copies->agreement = analysis_uniformity(copies->pass->context);
        if (!shared_parts_apart(copies->agreement, earlier, (Iteration){ITERATION_SAME, NULL},
                                later))
            return true;
    }
    return false;
}

/* Reads of global memory, and a thread's own arrays: the copies may be in flight meanwhile. */
static bool is_apart(const Op *op)
{
    if (op_has(op, PURE)) return !op_has(op, COOP);
    const Value *memory = op_has(op, ACCESS | ELEMENT) ? op_memory(op) : NULL;
    if (!memory || op_has(op, ATOMIC)) return false;
    return memory->type->kind == TYPE_LOCAL ||
           (memory->type->kind == TYPE_VIEW && !op_has(op, WRITES));
}

/* Those with nothing else between are waited for together, unless they meet. */
static void copy_at_once(Copies *copies, Op *copy)
{
    Builder builder = builder_before(copy);
    vec_push(copies->pass->arena, &copies->begun, operand(copy, tile));
    Op *begun = build_op(&builder, OP_copy_async, copy->operand_count, copy->operands, 0, NULL);
    begun->attrs = copy->attrs;
    begun->attr_count = copy->attr_count;
    op_set_int(begun, ATTR_stages, 1);
    Op *next = copy->next;
    while (next && is_apart(next)) next = next->next;
    if (!next || next->code != OP_copy || goes_through_registers(copies->pass, next) ||
        meets(copies, next)) {
        build_op(&builder, OP_copy_commit, 0, NULL, 0, NULL);
        build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL);
        copies->begun.count = 0;
    }
    op_erase(copy);
}

static void lower_copy(Op *op, void *context)
{
    Copies *copies = context;
    if (op->code != OP_copy) return;
    if (goes_through_registers(copies->pass, op))
        copy_through_registers(copies->pass, op);
    else
        copy_at_once(copies, op);
}

bool pass_multi_buffer(Kernel *kernel, PassContext *context)
{
    Pass pass = {
        .kernel = kernel, .context = context, .target = context->target, .arena = arena_new()};
    for (Op *op = kernel->host->first; op; op = op->next) {
        if (op->code != OP_launch) continue;
        pass.launch = launch_region(op);
        launch_note_writes(&pass);
        const StoreFaults stores = multi_buffer_note_stores(&pass);
        pipeline_region(&pass, pass.launch);
        analysis_invalidate(context);
        Copies copies = {.pass = &pass};
        region_visit(pass.launch, lower_copy, &copies);
        multi_buffer_remark_stores(&stores);
    }
    arena_free(pass.arena);
    return true;
}
