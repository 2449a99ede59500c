/* unroll.c: loops over what is known now: the body once for each item. Where run-time control
 * decides whether an iteration leaves the loop, the others are staged for the ways that stay. */
#include "eval/staging/staging.h"

#include "ir/op_vec.h"

#include <string.h>

typedef struct Unrolling {
    const Node *node;
    Nodes body, orelse;
    Object *items;          /* of a for: an iterator */
    Object *map;            /* of a range, or NULL */
    bool guarded;           /* other ways have left the loop */
    bool finished;          /* the rest was staged, `else` and all */
    bool begun;             /* the first iteration has */
    size_t surveyed, asked; /* kernels when the last iteration had ended (says_nothing_new) */
    int same;
    MaskedLoop masked;
} Unrolling;

/* A loop's target is the item itself: `for acc in tiles` may write to each. */
static bool bind_item(Eval *eval, const Node *target, Object *item)
{
    if (target->kind != NODE_Name || item->kind != OBJECT_TILE)
        return masked_assign_all(eval, target, item);
    Binding *binding =
        bindings_make(eval, &eval->frame->scope->bindings, NODE_AS(Name, target)->id);
    binding_put(eval, binding, object_keep(eval, item), target->span);
    return true;
}

/* FLOW_NEXT: there is an iteration; FLOW_BREAK: there is none. */
static Flow next_item(Eval *eval, Unrolling *unrolling)
{
    Object *item;
    if (!iterator_pull(eval, unrolling->items, eval->at, &item)) return FLOW_ERROR;
    if (item == NULL) return FLOW_BREAK;
    if (unrolling->map != NULL &&
        (item = call_simple(eval, unrolling->map, 1, &item, eval->at)) == NULL)
        return FLOW_ERROR;
    const Node *target = NODE_AS(For, unrolling->node)->target;
    return eval_step(eval, eval->at) && bind_item(eval, target, item) ? FLOW_NEXT : FLOW_ERROR;
}

/* ---- what a test did that the loop does itself ---- */

static bool has_effect(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, WRITES) || op->code == OP_var_set;
}

static bool uses_any(const Op *op, const void *context)
{
    const OpVec *ops = context;
    for (int i = 0; i < op->operand_count; i++)
        for (size_t k = 0; k < ops->count; k++)
            if (op->operands[i]->op == ops->data[k]) return true;
    return false;
}

static void find_named(void *context, const Node *node)
{
    *(bool *)context |= node->kind == NODE_NamedExpr;
    node_visit_children(node, find_named, context);
}

/* Takes back what happened since `before`, and what follows from it, and what was bound since; what
 * it computed beside may stay. A name that the test gives has its value from there. */
static void take_back(Eval *eval, const Node *test, Op *before, size_t mark)
{
    OpVec done = {0};
    bool named = false;
    find_named(&named, test);
    if (named) return;
    for (Op *op = before ? before->next : eval->builder.region->first;
         op && op != eval->builder.before; op = op->next)
        if (op_find_within(op, has_effect, NULL) || op_find_within(op, uses_any, &done))
            vec_push(eval->arena, &done, op);
    bindings_undo(eval, mark);
    while (done.count > 0) op_erase(done.data[--done.count]);
}

static Op *latest_op(const Eval *eval)
{
    if (eval->staging == NULL || eval->builder.region == NULL) return NULL;
    return eval->builder.before ? eval->builder.before->previous : eval->builder.region->last;
}

/* Whether a first iteration, on trial, may leave the loop by a run-time condition. */
static bool stops_at_run_time(Eval *eval, const NodeWhile *node)
{
    Object *needed_missing = eval->needed_missing;
    if (!eval_work(eval, WORK_OF_LOOP)) return false; /* loops in loops: again and again */
    Value *condition = build_const(&eval->builder, DTYPE_b1, 1);
    Op *op = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    ChangeVec changes = {0};
    Control control = control_enter(eval, op->regions[0]);
    jump_clear_all(eval, eval->at);
    OpenLoop outer = loop_open(eval);
    Frame *frame = eval->frame;
    Object *result = frame->result;
    const LaneExit exit = frame->exit;
    eval->quiet++;
    MaskedLoop loop = masked_open(eval, node->body);
    const MaskedFrame masked = masked_enter(eval, &loop);
    Flow flow = eval_block(eval, node->body);
    masked_leave(eval, masked);
    eval->quiet--;
    frame->result = result;
    frame->exit = exit;
    loop_close(eval, outer);
    bool stops =
        flow != FLOW_ERROR && !(flow == FLOW_BREAK || flow == FLOW_RETURN) &&
        (jump_possible(eval, JUMP_BREAK) || jump_possible(eval, JUMP_RETURN) || masked_left(&loop));
    control_leave(eval, control, &changes);
    op_erase(op);
    eval->needed_missing = needed_missing;
    return stops;
}

/* In a thread's program such a loop is one at run time, however much is known of its test: each
 * iteration would stand within what stays of the one before it. */
static bool is_loop_of_thread(Eval *eval, const Unrolling *unrolling, const NodeWhile *node)
{
    return !unrolling->begun && eval->staging != NULL && eval->frame->is_thread_code &&
           !in_host_part(eval) && stops_at_run_time(eval, node);
}

static Flow next_test(Eval *eval, Unrolling *unrolling)
{
    const NodeWhile *node = NODE_AS(While, unrolling->node);
    Op *before = latest_op(eval);
    const size_t mark = eval->journal.count;
    eval->tests++;
    Object *test = object_condition(eval, eval_expr(eval, node->test));
    eval->tests--;
    bool truth;
    eval_move_to(eval, node->test);
    if (test == NULL) return FLOW_ERROR;
    const bool is_known = !object_is_staged(test);
    if (is_known && (!object_truth(eval, test, &truth) || !eval_step(eval, eval->at)))
        return FLOW_ERROR;
    if (!is_known || (truth && is_loop_of_thread(eval, unrolling, node))) {
        if (host_part_refuses_loop(eval, eval->at)) return FLOW_ERROR;
        if (unrolling->guarded && node->orelse.count > 0)
            return FAIL(eval, unsupported, eval->at, "the 'else' of this loop"), FLOW_ERROR;
        take_back(eval, node->test, before, mark);
        unrolling->finished = true;
        return FLOW_BREAK;
    }
    if (eval->control == 0 && eval->tests == 0) eval->journal.count = mark;
    unrolling->begun = true;
    return truth ? FLOW_NEXT : FLOW_BREAK;
}

static int failures(const Eval *eval)
{
    return eval->staging != NULL ? eval->staging->failures : 0;
}

/* Host code that is looked at for its kernels alone launches the same ones again and again. */
static bool says_nothing_new(const Eval *eval, Unrolling *unrolling)
{
    enum { SAME_ITERATIONS = 32 };
    if (eval->staging != NULL || !eval->frame->is_surveyed) return false;
    if (unrolling->surveyed != eval->surveyed.count)
        unrolling->same = 0;
    else if (unrolling->asked != eval->asked)
        unrolling->same++;
    unrolling->surveyed = eval->surveyed.count;
    unrolling->asked = eval->asked;
    return unrolling->same > SAME_ITERATIONS;
}

/* The iterations that are left. One with a wrong statement is the last: what decides how many there
 * are may be wrong, too, and the others would say the same. */
static Flow run_iterations(Eval *eval, void *context)
{
    Unrolling *unrolling = context;
    for (;;) {
        Flow flow =
            unrolling->items != NULL ? next_item(eval, unrolling) : next_test(eval, unrolling);
        if (flow == FLOW_ERROR) return flow;
        if (unrolling->finished) return stage_while(eval, NODE_AS(While, unrolling->node));
        if (flow == FLOW_BREAK) return FLOW_NEXT;
        if (eval->staging != NULL) iteration_open(eval);
        const MaskedFrame masked = masked_enter(eval, &unrolling->masked);
        const int before = failures(eval);
        flow = eval_block(eval, unrolling->body);
        masked_leave(eval, masked);
        if (eval->staging != NULL) iteration_close(eval);
        if (failures(eval) != before) return FLOW_ERROR;
        if (flow == FLOW_RETURN || flow == FLOW_BREAK || flow == FLOW_ERROR) return flow;
        if (says_nothing_new(eval, unrolling)) return FLOW_NEXT;
        if (jump_possible(eval, JUMP_CONTINUE)) jump_clear(eval, JUMP_CONTINUE, eval->at);
        if (jump_possible(eval, JUMP_BREAK) || jump_possible(eval, JUMP_RETURN)) {
            if (flow == FLOW_GONE && jump_taken(eval, JUMPS_STOP) == eval->yes) return flow;
            unrolling->guarded = true;
            return stage_rest(eval, run_iterations, unrolling);
        }
    }
}

static Flow unroll(Eval *eval, Unrolling *unrolling)
{
    bool stages = eval->staging != NULL;
    OpenLoop outer = stages ? loop_open(eval) : (OpenLoop){0};
    unrolling->masked = masked_open(eval, unrolling->body);
    Flow flow = run_iterations(eval, unrolling);
    if (stages) loop_close(eval, outer);
    if (!unrolling->finished || unrolling->guarded)
        flow = finish_loop(eval, flow, unrolling->orelse, &unrolling->masked);
    return flow;
}

static bool unrolls_all(const Object *range)
{
    const Object *unroll_by = range->as.range.unroll;
    return unroll_by != NULL && unroll_by->kind == OBJECT_BOOL && unroll_by->as.integer;
}

/* Called in a kernel, but none of the functions that the kernel consists of, where those say so by
 * their attribute __traced__. */
static bool is_of_python(Eval *eval)
{
    const Function *function = eval->frame->function;
    if (function == NULL || (function->unit != NULL && function->unit->is_library)) return false;
    const Frame *frame = eval->frame;
    while (frame != NULL && said_of(eval, frame->function, "__traced__") != eval->yes)
        frame = frame->caller;
    return frame != NULL && frame != eval->frame;
}

/* Python runs its own functions, and the kernel consists of what they do: a tuple's items by the
 * loop's variable are known then. So many iterations, which are more than anybody writes there. */
static bool is_loop_of_python(Eval *eval, const NodeFor *loop, const Object *range)
{
    enum { MOST = 256 };
    if (loop->iter->kind != NODE_Call || range->as.range.unroll != NULL) return false;
    const Node *called = NODE_AS(Call, loop->iter)->func;
    int64_t count;
    return called->kind == NODE_Name && strcmp(NODE_AS(Name, called)->id, "range") == 0 &&
           range_count(range, &count) && count <= MOST && is_of_python(eval);
}

/* What a call in a loop's body, of what begins so, says of names that the loop binds. */
typedef struct CallSearch {
    Eval *eval;
    const char *prefix;
    Map bound;
    bool called; /* within such a call */
    bool found;
} CallSearch;

static void note_bound(void *context, Name name)
{
    CallSearch *search = context;
    map_set(search->eval->arena, &search->bound, name, search);
}

static void search_call(void *context, const Node *node)
{
    CallSearch *search = context;
    const bool outer = search->called;
    search->called |= node_is_call_of(node, search->prefix);
    search->found |= search->called && node->kind == NODE_Name &&
                     map_has(&search->bound, NODE_AS(Name, node)->id);
    if (!search->found) node_visit_children(node, search_call, search);
    search->called = outer;
}

/* A function whose attribute __unroll__ names something wants loops unrolled whose names are given
 * to it. */
static bool must_unroll(Eval *eval, const NodeFor *loop, const Object *range)
{
    if (!object_is_known(eval, range->as.range.start) ||
        !object_is_known(eval, range->as.range.stop) ||
        !object_is_known(eval, range->as.range.step))
        return false;
    if (is_loop_of_python(eval, loop, range)) return true;
    const Object *said = said_of(eval, eval->frame->function, "__unroll__");
    if (said == NULL || said->kind != OBJECT_TEXT) return false;
    CallSearch search = {.eval = eval, .prefix = said->as.text.data};
    names_bound(eval, &loop->base, note_bound, &search);
    for (uint32_t i = 0; i < loop->body.count; i++) search_call(&search, loop->body.items[i]);
    return search.found;
}

/* ---- items that a method of theirs finds, while it does ---- */

static Node *name_node(Eval *eval, const Node *loop, const char *what)
{
    NodeName *node = arena_new_of(eval->arena, NodeName);
    node->base = (Node){.kind = NODE_Name, .span = loop->span};
    node->id = intern_printf(eval->session->names, "%s of the loop at %u", what, loop->span.begin);
    return &node->base;
}

static Nodes nodes_of(Eval *eval, uint32_t count, Node *const *first, Nodes rest)
{
    Nodes all = {.count = count + rest.count};
    all.items = arena_new_array(eval->arena, Node *, all.count);
    for (uint32_t i = 0; i < all.count; i++)
        all.items[i] = i < count ? first[i] : rest.items[i - count];
    return all;
}

/* `while advance(items, item): target = item; body`. The items are those of a name as they are,
 * so that one loop goes on where another one ended. */
static Flow run_advance(Eval *eval, const NodeFor *node, Object *items, Object *advance)
{
    Node *const called = name_node(eval, &node->base, "next"), *const item = name_node(
                                                                   eval, &node->base, "item");
    const bool is_named = node->iter->kind == NODE_Name;
    Node *const from = is_named ? node->iter : name_node(eval, &node->base, "items");
    if (!masked_assign_all(eval, called, advance) ||
        !masked_assign_all(eval, item, object_int(eval, 0)) ||
        (!is_named && !masked_assign_all(eval, from, items)))
        return FLOW_ERROR;
    NodeCall *test = arena_new_of(eval->arena, NodeCall);
    test->base = (Node){.kind = NODE_Call, .span = node->iter->span};
    test->func = called;
    test->args = nodes_of(eval, 2, (Node *[]){from, item}, (Nodes){0});
    NodeAssign *assign = arena_new_of(eval->arena, NodeAssign);
    assign->base = (Node){.kind = NODE_Assign, .span = node->target->span};
    assign->targets = nodes_of(eval, 1, (Node *[]){node->target}, (Nodes){0});
    assign->value = item;
    NodeWhile *loop = arena_new_of(eval->arena, NodeWhile);
    loop->base = (Node){.kind = NODE_While, .span = node->base.span};
    loop->test = &test->base;
    loop->body = nodes_of(eval, 1, (Node *[]){&assign->base}, node->body);
    loop->orelse = node->orelse;
    return run_while(eval, &loop->base);
}

Flow run_for(Eval *eval, const Node *node)
{
    const NodeFor *n = NODE_AS(For, node);
    const NodeFor *outer = eval->frame->iterated;
    eval->frame->iterated = n;
    Object *iterable = eval_expr(eval, n->iter);
    eval->frame->iterated = outer;
    if (iterable == NULL) return FLOW_ERROR;
    eval_move_to(eval, n->iter);
    if (iterable->kind == OBJECT_RANGE && eval->staging != NULL && !in_host_part(eval) &&
        !unrolls_all(iterable) && !must_unroll(eval, n, iterable))
        return stage_for(eval, n, iterable);
    if (iterable->kind == OBJECT_PARALLEL) return stage_parallel(eval, n, iterable);
    Object *advance = eval->staging != NULL && object_is_record(iterable)
                          ? special_method(eval, iterable, "__advance__")
                          : NULL;
    if (advance != NULL) return run_advance(eval, n, iterable, advance);
    Object *map = iterable->kind == OBJECT_RANGE ? iterable->as.range.map : NULL;
    Object *items = iterator_of(eval, iterable, eval->at);
    if (items == NULL || !iterator_may_move(eval, items, eval->at)) return FLOW_ERROR;
    Unrolling unrolling = {
        .node = node, .body = n->body, .orelse = n->orelse, .items = items, .map = map};
    const int control = items->as.iterator.control;
    items->as.iterator.control = CONTROL_ANY;
    Flow flow = unroll(eval, &unrolling);
    items->as.iterator.control = unrolling.guarded ? CONTROL_NONE : control;
    return flow;
}

Flow run_while(Eval *eval, const Node *node)
{
    const NodeWhile *n = NODE_AS(While, node);
    eval_move_to(eval, n->test);
    if (eval->staging != NULL && !in_host_part(eval) && is_literal_true(n->test) &&
        stops_at_run_time(eval, n))
        return stage_while(eval, n);
    Unrolling unrolling = {.node = node, .body = n->body, .orelse = n->orelse};
    return unroll(eval, &unrolling);
}

bool host_part_refuses_loop(Eval *eval, Span at)
{
    if (!in_host_part(eval)) return false;
    FAIL(eval, host_loop, at);
    return true;
}
