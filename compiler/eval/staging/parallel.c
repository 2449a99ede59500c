/* parallel.c: data-parallel loops. The body is evaluated once, on tiles with an element for each
 * iteration: a loop's variable is a tile of its values, and so is what follows from it.
 *
 * Where a tile decides, all ways are evaluated, each for the iterations that go that way: a mask
 * says which these are. What a way binds is chosen by the mask from the new value and the old, and
 * what it writes to memory is written by those iterations alone. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- the object ---- */

Object *core_parallel(Eval *eval, const Bound *bound)
{
    const Object *given = bound->rest;
    if (given->as.list.count == 1 && object_is_sequence(given->as.list.items[0]))
        given = given->as.list.items[0];
    const uint32_t rank = given->as.list.count;
    if (rank < 1 || rank > TYPE_RANK)
        return FAIL(eval, rank_mismatch, bound->at, "the extents of a parallel loop",
                    (long long)rank, (long long)TYPE_RANK);
    Object *loop = object_list(eval, OBJECT_PARALLEL, NULL, 0);
    int64_t iterations = 1; /* indices of the loop's tiles and of its parts are i32 */
    for (uint32_t i = 0; i < rank; i++) {
        Object *extent = given->as.list.items[i];
        if (object_is_staged(extent)) return FAIL(eval, parallel_extent, bound->at);
        int64_t count;
        if (!object_as_int(eval, extent, "the extent of a parallel loop", &count)) return NULL;
        if (count < 0)
            return FAIL(eval, count_range, bound->at, "an extent of a parallel loop", 0LL,
                        (long long)INT32_MAX, (long long)count);
        if (count > INT32_MAX || (iterations *= count) > INT32_MAX)
            return FAIL(eval, parallel_iterations, bound->at, (long long)INT32_MAX);
        list_append(eval, loop, extent);
    }
    loop->as.list.share = bound->values[1];
    return loop;
}

/* Whether a parallel loop's body is being staged. */
Object *core_is_parallel(Eval *eval, const Bound *bound)
{
    (void)bound;
    return object_bool(eval, eval->parallel != NULL);
}

/* nests_parallel(rank): whether a parallel loop of so many dimensions may be dimensions of the
 * parallel loop around it. */
Object *core_nests_parallel(Eval *eval, const Bound *bound)
{
    int64_t rank;
    const Parallel *parallel = eval->parallel;
    if (!object_as_int(eval, bound->values[0], "the rank of a loop", &rank)) return NULL;
    return object_bool(eval, parallel != NULL && parallel->node != NULL &&
                                 !parallel->form.in_turn && rank <= TYPE_RANK - parallel->open);
}

bool parallel_take_share(Eval *eval)
{
    Parallel *parallel = eval->parallel;
    if (parallel == NULL || !parallel->has_share) return false;
    parallel->next.by_share = parallel->again = true;
    return true;
}

/* by_share(what): what follows has an order in each thread. */
Object *core_by_share(Eval *eval, const Bound *bound)
{
    const Object *what = bound->values[0];
    if (eval->parallel == NULL) return eval->none;
    if (parallel_take_share(eval)) return NULL;
    return FAIL(eval, in_parallel, bound->at,
                what->kind == OBJECT_TEXT ? what->as.text.data : "what has an order");
}

/* All iterations are at hand, and none of them is left out. */
static bool is_all(const Parallel *parallel)
{
    bool whole = parallel->mask == NULL;
    for (int i = 0; i < parallel->rank; i++) whole &= parallel->starts[i] == NULL;
    return whole;
}

/* by_turns(function): what the function makes for so many iterations, a tile, in which each thread
 * has taken its turns in their order. Of a second such tile the turns would come behind all of the
 * first, not between them. */
Object *core_by_turns(Eval *eval, const Bound *bound)
{
    Parallel *parallel = eval->parallel;
    int64_t count = 1;
    if (parallel == NULL || parallel->node == NULL || parallel->has_turns || !is_all(parallel) ||
        parallel->open > parallel->own || eval->control != parallel->control)
        return eval->none;
    for (int i = 0; i < parallel->own; i++) count *= parallel->form.extents[i];
    Object *argument = object_int(eval, count);
    eval->parallel = NULL;
    Object *made = call_simple(eval, bound->values[0], 1, &argument, bound->at);
    eval->parallel = parallel;
    if (made == NULL || made->kind == OBJECT_NONE) return made;
    const Type *type = argument_type(made);
    if (type == NULL || type->kind != TYPE_TILE)
        return FAIL(eval, expected_kind, bound->at, "what turns make", "a tile",
                    object_repr(eval, made));
    Value *tile = stage_value(eval, made);
    parallel->has_turns = true;
    return object_ir(eval, core_build(eval, OP_reshape, 1, &tile,
                                      type_tile(core_types(eval), type->dtype, parallel->rank,
                                                parallel->shape, NULL)));
}

/* The body is evaluated again, loops within the loop one iteration after the other. */
void parallel_take_turns(Eval *eval)
{
    eval->parallel->next.in_turn = eval->parallel->again = true;
}

/* ---- tiles in the shape of the loop ---- */

bool masked_differ(const Eval *eval, const Object *object)
{
    const Type *type = eval->parallel != NULL ? argument_type(object) : NULL;
    return type != NULL && type->kind == TYPE_TILE;
}

static Value *stretch(Eval *eval, Value *value, Span at)
{
    return stage_broadcast(eval, value, eval->parallel->rank, eval->parallel->shape, at);
}

/* A number of each iteration, as another type; NULL: reported. */
static Value *stretched_as(Eval *eval, Value *value, const char *what, DType dtype, Span at)
{
    if (value == NULL) return NULL;
    if (value->type->kind != TYPE_SCALAR && value->type->kind != TYPE_TILE)
        return FAIL(eval, expected_kind, at, what, "a number", type_text(eval->arena, value->type));
    return stretch(eval, stage_cast(eval, value, dtype), at);
}

Value *masked_number(Eval *eval, Object *object, DType dtype, Span at)
{
    return stretched_as(eval, stage_operand(eval, object, at), "the value", dtype, at);
}

Value *masked_condition(Eval *eval, Object *object, Span at)
{
    if (eval->parallel == NULL) return stage_condition(eval, object, at);
    return stretched_as(eval, stage_operand(eval, object, at), "a condition", DTYPE_b1, at);
}

Value *masked_both(Eval *eval, Value *a, Value *b)
{
    return a == NULL ? b : b == NULL ? a : build2(&eval->builder, OP_and, a, b);
}

Value *masked_either(Eval *eval, Value *a, Value *b)
{
    return a == NULL ? b : build2(&eval->builder, OP_or, a, b);
}

Value *masked_others(Eval *eval, Value *mask)
{
    return build1(&eval->builder, OP_not, mask);
}

enum { PARTS_DEPTH = 4000 }; /* a list may hold itself */

/* a where the mask is true, else b; of tuples and lists part by part. NULL: reported. */
Object *masked_choose(Eval *eval, Value *mask, Object *a, Object *b, Span at)
{
    if (!eval_works(eval, WORK_OF_STAGED, at)) return NULL;
    if (a == b || (!object_is_staged(a) && !object_is_staged(b) && a->kind == b->kind &&
                   object_equal(eval, a, b)))
        return a;
    if (object_is_sequence(a) && a->kind == b->kind && a->as.list.count == b->as.list.count) {
        if (eval->depth >= PARTS_DEPTH) return FAIL(eval, recursion, at, PARTS_DEPTH);
        Object *parts = object_list(eval, a->kind, NULL, 0);
        parts->as.list.class = a->as.list.class;
        eval->depth++;
        for (uint32_t i = 0; i < a->as.list.count && parts != NULL; i++) {
            Object *part = masked_choose(eval, mask, a->as.list.items[i], b->as.list.items[i], at);
            if (part != NULL)
                list_append(eval, parts, part);
            else
                parts = NULL;
        }
        eval->depth--;
        return parts;
    }
    const bool numbers = (object_is_staged(a) || object_is_number(a)) &&
                         (object_is_staged(b) || object_is_number(b));
    if (!numbers)
        return FAIL(eval, expected_kind, at, "what iterations of a parallel loop choose between",
                    "two numbers", object_repr(eval, object_is_number(a) ? b : a));
    Bound bound = {.values = {object_ir(eval, mask), a, b}, .at = at};
    Object *chosen = eval->ops->core_where(eval, &bound);
    if (chosen == NULL || argument_type(chosen)->rank == eval->parallel->rank) return chosen;
    return object_ir(eval, stretch(eval, stage_value(eval, chosen), at));
}

/* ---- names ---- */

/* What the binding held before this iteration; NULL: nothing that counts. */
static Object *older_value(Eval *eval, const Binding *binding)
{
    if (binding->object == NULL || binding->object->kind == OBJECT_LANES) return NULL;
    return binding->clock > eval->parallel->start || binding->variable ? binding->object : NULL;
}

/* A variable that a serial loop carries may have become a tile after it was bound to a scalar. */
static Object *as_tile(Eval *eval, const Binding *binding, Object *object, Span at)
{
    const Type *type = binding->variable ? argument_type(binding->object) : NULL;
    const Type *given = argument_type(object);
    if (type == NULL || type->kind != TYPE_TILE || given == NULL || given->kind != TYPE_SCALAR)
        return object;
    return object_ir(eval, stretch(eval, stage_value(eval, object), at));
}

/* A variable's value that is another one in each iteration: of its type. */
static Object *bind_variable(Eval *eval, Binding *binding, Object *object, Span at)
{
    Object *old = slot_read(eval, binding->object->as.place, at);
    const Type *type = old != NULL ? argument_type(old) : NULL;
    if (type == NULL) return NULL;
    Value *value = masked_number(eval, object, type->dtype, at), *mask = eval->parallel->mask;
    if (value == NULL) return NULL;
    object = object_ir(eval, value);
    return mask != NULL ? masked_choose(eval, mask, object, old, at) : object;
}

bool parallel_is_nested(const Eval *eval)
{
    return eval->parallel != NULL && eval->parallel->open > eval->parallel->own;
}

/* A loop within the parallel loop binds a name from around it: its last iteration's value counts.
 */
static bool binds_outer(const Eval *eval, const Binding *binding)
{
    const Parallel *parallel = eval->parallel;
    return parallel_is_nested(eval) && binding->object != NULL &&
           binding->object->kind != OBJECT_LANES && binding->clock <= parallel->inner;
}

Object *masked_bind(Eval *eval, Binding *binding, Object *object, Span at)
{
    const Parallel *parallel = eval->parallel;
    if (binds_outer(eval, binding)) {
        parallel_take_turns(eval);
        return NULL;
    }
    if (object_is_one_variable(binding->object) && masked_differ(eval, object))
        return bind_variable(eval, binding, object, at);
    if (binding->variable && binding->control < parallel->control) {
        FAIL(eval, parallel_write, at, binding->name);
        return NULL;
    }
    if (older_value(eval, binding) == NULL || binding->masked == parallel->mask) {
        if (!binding->variable) binding->masked = parallel->mask;
        return as_tile(eval, binding, object, at);
    }
    if (parallel->mask == NULL) {
        binding->masked = NULL;
        return as_tile(eval, binding, object, at);
    }
    Object *old = binding_get(eval, binding, at);
    return old != NULL ? masked_choose(eval, parallel->mask, object, old, at) : NULL;
}

bool masked_assign_all(Eval *eval, const Node *target, Object *object)
{
    if (eval->parallel == NULL) return assign_target(eval, target, object);
    Value *mask = eval->parallel->mask;
    eval->parallel->mask = NULL;
    const bool good = assign_target(eval, target, object);
    eval->parallel->mask = mask;
    return good;
}

Object *masked_hold(Eval *eval, Object *object)
{
    if (object->as.ir.var == NULL || object->fresh) return object;
    return object_ir(eval, stage_value(eval, object));
}

/* ---- ways that a tile decides ---- */

Flow stage_masked(Eval *eval, Object *test, const Nodes bodies[2])
{
    Parallel *parallel = eval->parallel;
    Value *outer = parallel->mask, *left = NULL;
    Value *condition = masked_condition(eval, test, eval->at);
    Flow flows[2] = {FLOW_NEXT, FLOW_NEXT};
    if (condition == NULL) return FLOW_ERROR;
    for (int i = 0; i < 2; i++) {
        if (bodies[i].count == 0) continue;
        Value *own = masked_both(eval, outer, i == 0 ? condition : masked_others(eval, condition));
        parallel->mask = own;
        flows[i] = eval_block(eval, bodies[i]);
        if (flows[i] == FLOW_ERROR) break;
        if (flow_leaves(flows[i]))
            left = masked_either(eval, left, own);
        else if (parallel->mask != own)
            left = masked_either(eval, left,
                                 masked_both(eval, own, masked_others(eval, parallel->mask)));
    }
    parallel->mask = left != NULL ? masked_both(eval, outer, masked_others(eval, left)) : outer;
    if (flows[0] == FLOW_ERROR || flows[1] == FLOW_ERROR) return FLOW_ERROR;
    return flow_leaves(flows[0]) && flow_leaves(flows[1]) ? flow_join(flows[0], flows[1])
                                                          : FLOW_NEXT;
}

Value *masked_any(Eval *eval, Object *test, Span at)
{
    int64_t ones[TYPE_RANK], dims[TYPE_RANK];
    Value *condition = test != NULL ? masked_condition(eval, test, at) : eval->parallel->mask;
    if (condition == NULL) return NULL;
    if (test != NULL) condition = masked_both(eval, eval->parallel->mask, condition);
    const int rank = condition->type->rank;
    for (int i = 0; i < rank; i++) {
        ones[i] = 1;
        dims[i] = i;
    }
    Value *any = core_build(eval, OP_reduce, 1, &condition,
                            type_tile(core_types(eval), DTYPE_b1, rank, ones, NULL));
    op_set_ints(any->op, ATTR_dims, rank, dims);
    op_set_text(any->op, ATTR_mode, intern_text(eval->session->names, "or"));
    return build1(&eval->builder, OP_item, any);
}

bool masked_narrow(Eval *eval, Object *test, Span at)
{
    Parallel *parallel = eval->parallel;
    Value *condition = masked_condition(eval, test, at);
    if (condition == NULL) return false;
    parallel->mask = masked_both(eval, parallel->mask, condition);
    return true;
}

/* An expression for some of the iterations. */
static Object *eval_masked(Eval *eval, const Node *node, Value *condition)
{
    Parallel *parallel = eval->parallel;
    Value *outer = parallel->mask;
    parallel->mask = masked_both(eval, outer, condition);
    Object *value = eval_expr(eval, node);
    parallel->mask = outer;
    return value;
}

Object *masked_choice(Eval *eval, const NodeIfExp *node, Object *test)
{
    const Span at = eval->at;
    Value *condition = masked_condition(eval, test, at);
    if (condition == NULL) return NULL;
    Object *a = eval_masked(eval, node->body, condition);
    Object *b = a != NULL ? eval_masked(eval, node->orelse, masked_others(eval, condition)) : NULL;
    return b != NULL ? masked_choose(eval, condition, a, b, at) : NULL;
}

/* The right side of `and` or `or`, for the iterations that the left one leaves open. */
static Object *masked_right(Eval *eval, Operator op, Object *left, const Node *right)
{
    if (!masked_differ(eval, left)) return eval_expr(eval, right);
    Value *condition = masked_condition(eval, left, eval->at);
    if (condition == NULL) return NULL;
    return eval_masked(eval, right,
                       op == OPERATOR_And ? condition : masked_others(eval, condition));
}

/* ---- the loop ---- */

static bool bind_index(Eval *eval, const Node *target, Object *const *indices, int rank)
{
    if (rank == 1) return assign_target(eval, target, indices[0]);
    return assign_target(eval, target, object_list(eval, OBJECT_TUPLE, indices, (size_t)rank));
}

/* Iterations that are too many for registers go in parts, one after the other: a run-time loop
 * along each dimension that is divided. */
static int64_t greatest_divisor(int64_t number, int64_t most)
{
    int64_t divisor = most < 1 ? 1 : most < number ? most : number;
    while (number % divisor != 0) divisor--;
    return divisor;
}

static int64_t threads_around(const Eval *eval)
{
    const Staging *staging = eval->staging;
    if (staging->group_count > 0) return staging->group_count;
    return staging->is_function ? staging->threads[0] * staging->threads[1] * staging->threads[2]
                                : 128;
}

static void divide(const Eval *eval, Parallel *parallel)
{
    const ParallelForm *form = &parallel->form;
    const int64_t threads = threads_around(eval);
    int64_t count = 1;
    for (int i = 0; i < form->rank; i++) count *= parallel->parts[i] = form->extents[i];
    for (int i = 0; i < form->rank && !form->whole && count > COST_PARALLEL_ELEMENTS * threads;
         i++) {
        const int64_t rest = count / parallel->parts[i];
        parallel->parts[i] = greatest_divisor(
            parallel->parts[i], COST_PARALLEL_REGISTERS * threads / (rest < 1 ? 1 : rest));
        count = rest * parallel->parts[i];
    }
}

/* The loops over the parts, each in the one before. Gives where the outermost one ends. */
static Builder open_parts(Eval *eval, Parallel *parallel)
{
    const Builder after = eval->builder;
    divide(eval, parallel);
    for (int i = 0; i < parallel->form.rank; i++) {
        const int64_t extent = parallel->form.extents[i];
        if (parallel->parts[i] == extent) continue;
        Value *bounds[3] = {build_const(&eval->builder, DTYPE_i32, 0),
                            build_const(&eval->builder, DTYPE_i32, extent),
                            build_const(&eval->builder, DTYPE_i32, parallel->parts[i])};
        Op *loop = build_op(&eval->builder, OP_for, 3, bounds, 0, NULL);
        op_set_int(loop, ATTR_unroll, 1);
        parallel->starts[i] = region_add_argument(loop->regions[0], bounds[0]->type, NULL);
        eval->builder = builder_at_end(loop->regions[0], eval->builder.span);
    }
    return after;
}

static void close_parts(Eval *eval, const Parallel *parallel, Builder after)
{
    for (int i = TYPE_RANK; i-- > 0;) {
        if (parallel->starts[i] == NULL) continue;
        Builder end = builder_at_end(parallel->starts[i]->region, eval->builder.span);
        build_op(&end, OP_yield, 0, NULL, 0, NULL);
    }
    eval->builder = after;
}

/* The loop's variable along a dimension: not its index in the part, where the part is not all. */
static Value *index_in_all(Eval *eval, int dim, Value *index)
{
    Value *start = eval->parallel->starts[dim];
    if (start == NULL) return index;
    return build2(&eval->builder, OP_add, index,
                  core_build(eval, OP_splat, 1, &start, index->type));
}

/* Opens dimensions up to `end`, of a loop with that target. */
static bool open_loop(Eval *eval, int end, const Node *target)
{
    Parallel *parallel = eval->parallel;
    Object *indices[TYPE_RANK];
    const int first = parallel->open;
    for (int i = first; i < end; i++) parallel->shape[i] = parallel->parts[i];
    const Type *type =
        type_tile(core_types(eval), DTYPE_i32, parallel->rank, parallel->shape, NULL);
    for (int i = first; i < end; i++) {
        Value *index = core_build(eval, OP_iota, 0, NULL, type);
        op_set_int(index->op, ATTR_dim, i);
        parallel->indices[i] = index_in_all(eval, i, index);
        indices[i - first] = object_ir(eval, parallel->indices[i]);
    }
    parallel->open = end;
    return bind_index(eval, target, indices, end - first);
}

static bool is_memory(const Object *object)
{
    const Type *type = object != NULL ? argument_type(object) : NULL;
    return type != NULL &&
           (type->kind == TYPE_VIEW || type->kind == TYPE_SHARED || type->kind == TYPE_LOCAL);
}

/* Names that were bound in the body have no value behind the loop, but for what is known now; one
 * that means memory does so again. */
static bool close_names(Eval *eval, const LoopTrial *trial, const ChangeVec *changes)
{
    bool good = true;
    for (size_t i = 0; i < changes->count; i++) {
        const Change *change = &changes->data[i];
        Binding *binding = change->binding;
        if (change->after == NULL || change->after->kind == OBJECT_POISON) {
            binding_put(eval, binding, change->after, change->at);
            continue;
        }
        if (is_memory(binding->object) && !is_memory(change->after)) continue;
        const bool known = object_is_number(change->after) || change->after->kind == OBJECT_TEXT ||
                           change->after == binding->object;
        if (binding->object != NULL && !known && map_has(&trial->reads, binding)) {
            FAIL(eval, parallel_write, change->at, binding->name);
            good = false;
        }
        Object *after = change->after;
        if (!known) after = object_new(eval, OBJECT_LANES);
        binding_put(eval, binding, after, change->at);
    }
    return good;
}

/* The body of a loop that is opened now, up to dimension `end`. */
static Flow run_opened(Eval *eval, const NodeFor *node, int end)
{
    const OpenLoop jumps = loop_open(eval);
    eval->parallel->control = eval->parallel->base_control = eval->control;
    eval->parallel->node = node;
    Flow flow = open_loop(eval, end, node->target) ? FLOW_NEXT : FLOW_ERROR;
    if (flow != FLOW_ERROR) flow = eval_block(eval, node->body);
    iteration_close(eval);
    loop_close(eval, jumps);
    return flow == FLOW_ERROR ? flow : FLOW_NEXT;
}

static Flow run_body(Eval *eval, const NodeFor *node)
{
    Parallel *parallel = eval->parallel;
    LoopTrial trial = {.start = eval->clock, .control = -1, .outer = eval->trial};
    ChangeVec changes = {0};
    Control control = {eval->builder, eval->journal.count};
    eval->control++;
    eval->trial = &trial;
    const Builder after = open_parts(eval, parallel);
    for (int i = 0; i < parallel->rank; i++) parallel->shape[i] = 1;
    const Flow flow = run_opened(eval, node, parallel->own);
    eval->trial = trial.outer;
    close_parts(eval, parallel, after);
    control.builder = eval->builder;
    control_leave(eval, control, &changes);
    if (parallel->again) return FLOW_NEXT; /* it is not over yet */
    eval->parallel = NULL;
    if (flow == FLOW_ERROR || !close_names(eval, &trial, &changes)) return FLOW_ERROR;
    return FLOW_NEXT;
}

Op *builder_last(const Builder *builder)
{
    return builder->before != NULL ? builder->before->previous : builder->region->last;
}

/* ---- a loop within a loop ---- */

/* The loop is all that an iteration of the loop around it does. */
static bool is_all_of(const NodeFor *outer, const NodeFor *node)
{
    return outer->body.count == 1 && outer->body.items[0] == &node->base && node->orelse.count == 0;
}

/* Whether the loop around has dimensions for the loop, of its extents; if not, it gets them. */
static bool has_dimensions(Eval *eval, const Object *extents)
{
    Parallel *parallel = eval->parallel;
    ParallelForm *next = &parallel->next;
    const int end = parallel->open + (int)extents->as.list.count;
    if (end <= parallel->rank) return true;
    next->rank = end;
    parallel->again = true;
    for (int i = parallel->open; i < end; i++)
        next->extents[i] = extents->as.list.items[i - parallel->open]->as.integer;
    int64_t count = 1;
    for (int i = 0; i < end; i++)
        if (__builtin_mul_overflow(count, next->extents[i], &count) || count > INT32_MAX)
            count = INT32_MAX, next->in_turn = true;
    return false;
}

/* Loops over parts of the loop, which are around what else the loop around it does, are not of its
 * dimensions; what is not in parts is not too much. */
static bool fits(const Eval *eval, const NodeFor *node, const Object *extents)
{
    const Parallel *parallel = eval->parallel;
    int64_t count = 1, most = COST_PARALLEL_ELEMENTS * threads_around(eval);
    bool divided = false;
    for (int i = 0; i < parallel->open; i++) count *= parallel->shape[i];
    for (int i = parallel->own; i < parallel->rank; i++) divided |= parallel->starts[i] != NULL;
    if (divided) return is_all_of(parallel->node, node);
    for (uint32_t i = 0; i < extents->as.list.count; i++) {
        const int64_t extent = extents->as.list.items[i]->as.integer;
        if (extent < 1 || count > most / extent) return false;
        count *= extent;
    }
    return true;
}

/* Names that were bound in the loop alone have no value behind it. */
static void forget_names(Eval *eval, const ChangeVec *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const Change *change = &changes->data[i];
        if (change->after == change->binding->object || change->after == NULL) continue;
        binding_put(eval, change->binding, object_new(eval, OBJECT_LANES), change->at);
    }
}

static Flow run_inner(Eval *eval, const NodeFor *node, const Object *extents)
{
    Parallel *parallel = eval->parallel;
    const Parallel outer = *parallel;
    const int end = parallel->open + (int)extents->as.list.count;
    ChangeVec changes = {0};
    Control control = {eval->builder, eval->journal.count};
    for (int i = outer.open; i < end && outer.starts[i] == NULL; i++)
        parallel->parts[i] = extents->as.list.items[i - outer.open]->as.integer;
    for (int i = outer.open; i < end; i++) parallel->shape[i] = parallel->parts[i];
    if (outer.mask != NULL) parallel->mask = stretch(eval, outer.mask, eval->at);
    eval->control++;
    parallel->inner = eval->clock;
    Flow flow = run_opened(eval, node, end);
    control.builder = eval->builder;
    control_leave(eval, control, &changes);
    const ParallelForm next = parallel->next;
    const bool again = parallel->again;
    *parallel = outer;
    parallel->next = next;
    parallel->again = again;
    if (flow != FLOW_ERROR) forget_names(eval, &changes);
    return again ? FLOW_ERROR : flow;
}

/* A parallel loop within one is further dimensions of it, if that makes no difference; what stands
 * around it has one element along these. */
static Flow stage_inner(Eval *eval, const NodeFor *node, const Object *extents)
{
    const Parallel *parallel = eval->parallel;
    if (parallel->form.in_turn || parallel->open + (int)extents->as.list.count > TYPE_RANK) {
        FAIL(eval, in_parallel, eval->at, "another parallel loop");
        return FLOW_ERROR;
    }
    if (parallel->again || !has_dimensions(eval, extents)) return FLOW_ERROR;
    if (eval->frame != parallel->frame || eval->control != parallel->control ||
        block_jumps(node->body) || !fits(eval, node, extents)) {
        parallel_take_turns(eval);
        return FLOW_ERROR;
    }
    const Flow flow = run_inner(eval, node, extents);
    return flow == FLOW_ERROR ? flow : eval_block(eval, node->orelse);
}

enum { LOOKS = 1000 }; /* at values that an index is made of */

static bool is_made_of(const Value *value, const Value *index, int *looks)
{
    if (value == index) return true;
    if (value->op == NULL || ++*looks > LOOKS) return false;
    for (int i = 0; i < value->op->operand_count; i++)
        if (is_made_of(value->op->operands[i], index, looks)) return true;
    return false;
}

bool parallel_tells_apart(Eval *eval, int count, Value *const *indices)
{
    const Parallel *parallel = eval->parallel;
    for (int d = parallel != NULL ? parallel->own : 0; parallel != NULL && d < parallel->open;
         d++) {
        bool found = parallel->shape[d] == 1;
        int looks = 0;
        for (int i = 0; i < count && !found; i++)
            found = is_made_of(indices[i], parallel->indices[d], &looks);
        if (found) continue;
        parallel_take_turns(eval);
        return false;
    }
    return true;
}

/* ---- the loop as a whole ---- */

static ParallelForm form_of(const Object *extents)
{
    ParallelForm form = {.rank = (int)extents->as.list.count};
    for (int i = 0; i < form.rank; i++) form.extents[i] = extents->as.list.items[i]->as.integer;
    return form;
}

/* *form: as which it is to be evaluated again, if it is: true. What is wrong with loops within it
 * as dimensions of it is not reported: they may take turns. */
static bool run_in_form(Eval *eval, const NodeFor *node, const Object *extents, ParallelForm *form,
                        Flow *flow)
{
    const int own = (int)extents->as.list.count;
    if (form->in_turn) form->rank = own;
    const bool tries = form->rank > own;
    Parallel parallel = {.frame = eval->frame,
                         .start = eval->clock,
                         .rank = form->rank,
                         .own = own,
                         .has_share = extents->as.list.share != NULL,
                         .form = *form,
                         .next = *form};
    eval->parallel = &parallel;
    eval->quiet += tries;
    *flow = run_body(eval, node);
    eval->quiet -= tries;
    eval->parallel = NULL;
    *form = parallel.next;
    if (form->by_share) return true;
    if (!tries || *flow != FLOW_ERROR) return parallel.again;
    return form->in_turn = true;
}

static Flow stage_share(Eval *eval, const NodeFor *node, const Object *extents)
{
    Object *range = call_simple(eval, extents->as.list.share, 0, NULL, eval->at);
    const bool outer = eval->staging->in_share;
    eval->staging->in_share = true;
    const Flow flow = range != NULL ? stage_for(eval, node, range) : FLOW_ERROR;
    eval->staging->in_share = outer;
    Op *loop = flow != FLOW_ERROR ? builder_last(&eval->builder) : NULL;
    if (loop != NULL && loop->code == OP_for) op_set_int(loop, ATTR_parallel, 1);
    return flow;
}

Flow stage_parallel(Eval *eval, const NodeFor *node, const Object *extents)
{
    if (!stage_ready(eval, eval->at)) return FLOW_ERROR;
    if (eval->parallel != NULL && eval->parallel->node != NULL)
        return stage_inner(eval, node, extents);
    if (eval->parallel != NULL) {
        FAIL(eval, in_parallel, eval->at, "another parallel loop");
        return FLOW_ERROR;
    }
    for (uint32_t i = 0; i < extents->as.list.count; i++)
        if (extents->as.list.items[i]->as.integer == 0) return eval_block(eval, node->orelse);
    const Op *last = builder_last(&eval->builder);
    ParallelForm form = form_of(extents);
    Flow flow = FLOW_NEXT;
    for (bool again = true; again;) {
        for (Op *op; (op = builder_last(&eval->builder)) != last;) op_erase(op);
        if (form.by_share) return stage_share(eval, node, extents);
        again = run_in_form(eval, node, extents, &form, &flow);
    }
    return flow == FLOW_ERROR ? flow : eval_block(eval, node->orelse);
}

/* ---- a function of elements ---- */

/* A number as a tile of the loop's shape, a tuple part by part; what is known of a record stays so.
 * NULL: reported. */
Object *masked_stretch(Eval *eval, Object *object, bool of_record, Span at)
{
    if (!eval_works(eval, WORK_OF_STAGED, at)) return NULL;
    if (!object_is_sequence(object)) {
        if (!object_is_staged(object) && (of_record || !object_is_number(object))) return object;
        Value *value = stage_operand(eval, object, at);
        return value != NULL
                   ? object_ir(eval, stretched_as(eval, value, "the value", value->type->dtype, at))
                   : NULL;
    }
    if (eval->depth >= PARTS_DEPTH) return FAIL(eval, recursion, at, PARTS_DEPTH);
    Object *parts = object_list(eval, object->kind, NULL, 0);
    parts->as.list.class = object->as.list.class;
    of_record = of_record || object_is_record(object);
    eval->depth++;
    for (uint32_t i = 0; i < object->as.list.count && parts != NULL; i++) {
        Object *part = masked_stretch(eval, object->as.list.items[i], of_record, at);
        if (part != NULL)
            list_append(eval, parts, part);
        else
            parts = NULL;
    }
    eval->depth--;
    return parts;
}

/* What follows is evaluated as a parallel loop's body would be. */
static void begin_elements(Eval *eval, Parallel *parallel)
{
    parallel->frame = eval->frame;
    parallel->start = eval->clock;
    parallel->control = parallel->base_control = eval->control;
    eval->parallel = parallel;
}

/* elementwise(function, shape, arguments): what the function gives for each element of the
 * arguments, tiles of that shape. */
Object *core_elementwise(Eval *eval, const Bound *bound)
{
    const Object *arguments = bound->values[2];
    Parallel parallel = {0};
    if (!stage_ready(eval, bound->at) || !object_is_sequence(arguments)) return NULL;
    if (eval->parallel != NULL) return FAIL(eval, in_parallel, bound->at, "an operation of tiles");
    if (!argument_shape(eval, bound->values[1], bound->at, &parallel.rank, parallel.shape))
        return NULL;
    begin_elements(eval, &parallel);
    Object *result = call_simple(eval, bound->values[0], (int)arguments->as.list.count,
                                 arguments->as.list.items, bound->at);
    if (result != NULL) result = masked_stretch(eval, result, false, bound->at);
    eval->parallel = NULL;
    return result;
}

Object *masked_init(Eval *eval, Object *function, int rank, Value *const *indices, Span at)
{
    Parallel parallel = {.rank = rank, .own = rank, .open = rank, .all_come = true};
    Object *arguments[TYPE_RANK];
    for (int i = 0; i < rank; i++) {
        arguments[i] = object_ir(eval, indices[i]);
        parallel.indices[i] = indices[i];
        parallel.shape[i] = indices[i]->type->shape[i];
    }
    const bool inside = eval->parallel != NULL;
    if (!inside) begin_elements(eval, &parallel);
    Object *result = call_simple(eval, function, rank, arguments, at);
    if (!inside) eval->parallel = NULL;
    return result;
}

/* ---- what the block does as a whole ---- */

static bool is_one_iteration(const Parallel *parallel)
{
    for (int i = 0; i < parallel->form.rank; i++)
        if (parallel->form.extents[i] != 1) return false;
    return true;
}

bool masked_allow(Eval *eval, const BuiltinRow *row, Span at)
{
    static const char *const COLLECTIVE[] = {
        "load",        "store",        "dot",       "reduce",  "scan",         "item",
        "shared_load", "shared_store", "sync",      "barrier", "atomic",       "scatter",
        "copy_async",  "copy_commit",  "copy_wait", "copy",    "thread_range", "grid_sync",
    };
    const Parallel *parallel = eval->parallel;
    if (parallel == NULL || strcmp(row->module, "__core__") != 0) return true;
    if (parallel->all_come && parallel->mask == NULL) return true;
    if (strcmp(row->name, "grid_sync") == 0 && is_all(parallel)) return true;
    for (size_t i = 0; i < sizeof COLLECTIVE / sizeof *COLLECTIVE; i++)
        if (strcmp(row->name, COLLECTIVE[i]) == 0) {
            if (is_one_iteration(parallel) && parallel_take_share(eval)) return false;
            FAIL(eval, in_parallel, at, "an operation of the whole block");
            return false;
        }
    return true;
}

/* ---- `and` and `or` ---- */

/* Both sides are computed, the right one for the iterations that want it. */
Object *masked_join(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    const bool masked = masked_differ(eval, left) || masked_differ(eval, right);
    Value *a = masked ? masked_condition(eval, left, at) : stage_condition(eval, left, at);
    if (a == NULL) return NULL;
    Value *b = masked ? masked_condition(eval, right, at) : stage_condition(eval, right, at);
    if (b == NULL) return NULL;
    return object_ir(eval, build2(&eval->builder, op == OPERATOR_And ? OP_and : OP_or, a, b));
}

Object *masked_operands(Eval *eval, const NodeBoolOp *node, Object *result, uint32_t index)
{
    for (uint32_t i = index; result != NULL && i < node->values.count; i++) {
        Object *right = masked_right(eval, node->op, result, node->values.items[i]);
        result = right != NULL
                     ? masked_join(eval, node->op, result, right, eval_move_to(eval, &node->base))
                     : NULL;
    }
    return result;
}
