/* threads.c: the part of __core__ that kernels are made of whose function is the program of one
 * thread, as Warp's are. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- what a function unpacks ---- */

static bool calls_name(const Node *node, Name name)
{
    if (node->kind != NODE_Call) return false;
    const Node *callee = NODE_AS(Call, node)->func;
    if (callee->kind == NODE_Attribute) return NODE_AS(Attribute, callee)->attr == name;
    return callee->kind == NODE_Name && NODE_AS(Name, callee)->id == name;
}

static uint32_t targets_of(const Node *target)
{
    if (target->kind == NODE_Tuple) return NODE_AS(Tuple, target)->elts.count;
    if (target->kind == NODE_List) return NODE_AS(List, target)->elts.count;
    return 1;
}

static uint32_t most_unpacked(Nodes statements, Name name);

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t unpacked_by(const Node *statement, Name name)
{
    switch ((int)statement->kind) {
    case NODE_Assign: {
        const NodeAssign *n = NODE_AS(Assign, statement);
        return calls_name(n->value, name) && n->targets.count == 1 ? targets_of(n->targets.items[0])
                                                                   : 0;
    }
    case NODE_If:
        return larger(most_unpacked(NODE_AS(If, statement)->body, name),
                      most_unpacked(NODE_AS(If, statement)->orelse, name));
    case NODE_For: return most_unpacked(NODE_AS(For, statement)->body, name);
    case NODE_While: return most_unpacked(NODE_AS(While, statement)->body, name);
    case NODE_With: return most_unpacked(NODE_AS(With, statement)->body, name);
    default: return 0;
    }
}

static uint32_t most_unpacked(Nodes statements, Name name)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < statements.count; i++)
        most = larger(most, unpacked_by(statements.items[i], name));
    return most;
}

/* unpacked(function, name): to how many names at most a statement of the function's body binds
 * what a call of `name` gives; 1 if none does. */
Object *core_unpacked(Eval *eval, const Bound *bound)
{
    const Object *function = bound->values[0], *name = bound->values[1];
    if (function->kind != OBJECT_FUNCTION || function->as.function.node->kind != NODE_FunctionDef ||
        name->kind != OBJECT_TEXT)
        return FAIL(eval, expected_kind, bound->at, "what becomes a kernel",
                    "a function that 'def' made", object_repr(eval, function));
    Name callee = intern(eval->session->names, name->as.text.data, name->as.text.length);
    Nodes body = NODE_AS(FunctionDef, function->as.function.node)->body;
    return object_int(eval, larger(1, most_unpacked(body, callee)));
}

/* targets(): to how many names the statement that calls the library's function at hand binds what
 * it gives; 1 where that is a part of an expression. */
Object *core_targets(Eval *eval, const Bound *bound)
{
    (void)bound;
    const Frame *frame = eval->frame;
    const Node *statement = frame->caller != NULL ? frame->caller->assigned : NULL;
    const NodeAssign *assign = statement != NULL ? NODE_AS(Assign, statement) : NULL;
    const bool binds = assign != NULL && assign->targets.count == 1 && frame->arguments != NULL &&
                       (const void *)assign->value == (const void *)frame->arguments->node;
    return object_int(eval, binds ? targets_of(assign->targets.items[0]) : 1);
}

/* calls(function, prefix): whether the function's own text calls something whose name begins so. */
Object *core_calls(Eval *eval, const Bound *bound)
{
    const Object *function = bound->values[0], *prefix = bound->values[1];
    if (function->kind != OBJECT_FUNCTION || prefix->kind != OBJECT_TEXT) return eval->no;
    const char *text = arena_copy_text(eval->arena, prefix->as.text.data, prefix->as.text.length);
    return object_bool(eval, node_calls(function->as.function.node, text));
}

/* ---- what a function has, or one that it calls by a name ---- */

static bool is_decorated(const NodeFunctionDef *function, const Object *name)
{
    for (uint32_t i = 0; i < function->decorator_list.count; i++) {
        const Node *node = function->decorator_list.items[i];
        if (node->kind == NODE_Call) node = NODE_AS(Call, node)->func;
        const Name last = node->kind == NODE_Attribute ? NODE_AS(Attribute, node)->attr
                          : node->kind == NODE_Name    ? NODE_AS(Name, node)->id
                                                       : NULL;
        if (last != NULL && strlen(last) == name->as.text.length &&
            memcmp(last, name->as.text.data, name->as.text.length) == 0)
            return true;
    }
    return false;
}

static bool has_function(Nodes body, const Object *decorator);

static bool defines_function(const Node *node, const Object *decorator)
{
    if (node->kind == NODE_FunctionDef)
        return is_decorated(NODE_AS(FunctionDef, node), decorator) ||
               has_function(NODE_AS(FunctionDef, node)->body, decorator);
    if (node->kind == NODE_If)
        return has_function(NODE_AS(If, node)->body, decorator) ||
               has_function(NODE_AS(If, node)->orelse, decorator);
    return false;
}

static bool has_function(Nodes body, const Object *decorator)
{
    for (uint32_t i = 0; i < body.count; i++)
        if (defines_function(body.items[i], decorator)) return true;
    return false;
}

typedef struct Reach Reach;

struct Reach {
    Eval *eval;
    const Function *function;
    bool (*has)(const Reach *reach, const Node *function); /* what is looked for */
    const char *prefix;                                    /* of names that are called */
    const Object *decorator;
    int depth; /* of the calls that are followed */
    bool found;
};

static void search_function(Reach *reach, const Function *function);

/* What a name, or a part of one, stands for: of a module of the program, or of an instance's
 * class. */
static Object *callee_of(const Reach *reach, const Node *node)
{
    bool found;
    if (node->kind == NODE_Name)
        return scope_lookup(reach->eval, reach->function->closure, NODE_AS(Name, node)->id,
                            node->span, &found);
    if (node->kind != NODE_Attribute) return NULL;
    const Name name = NODE_AS(Attribute, node)->attr;
    Object *owner = callee_of(reach, NODE_AS(Attribute, node)->value);
    if (owner != NULL && owner->kind == OBJECT_INSTANCE)
        return class_find(owner->as.instance->class, name);
    const bool is_written =
        owner != NULL && owner->kind == OBJECT_MODULE && !owner->as.unit->is_library;
    return is_written ? attribute_find(reach->eval, owner, name, node->span, &found) : NULL;
}

/* Of what is called for a function that has a gradient of its author's: that function. */
static const Object *own_gradients(Eval *eval, const Function *function)
{
    if (function->attributes == NULL) return NULL;
    const Binding *binding =
        bindings_get(function->attributes, intern_text(eval->session->names, "__own_gradient__"));
    const Object *own = binding != NULL ? binding->object : NULL;
    return own != NULL && own->kind == OBJECT_FUNCTION ? own : NULL;
}

static void search_call(void *context, const Node *node)
{
    enum { DEEPEST = 8 };
    Reach *reach = context;
    if (!reach->found) node_visit_children(node, search_call, reach);
    if (reach->found || node->kind != NODE_Call || reach->depth == DEEPEST) return;
    const Object *called = callee_of(reach, NODE_AS(Call, node)->func);
    if (called == NULL || called->kind != OBJECT_FUNCTION) return;
    const Object *own = own_gradients(reach->eval, &called->as.function);
    search_function(reach, own != NULL ? &own->as.function : &called->as.function);
}

static void search_function(Reach *reach, const Function *function)
{
    const Function *outer = reach->function;
    reach->found = reach->has(reach, function->node);
    reach->function = function;
    reach->depth++;
    if (!reach->found) node_visit_children(function->node, search_call, reach);
    reach->depth--;
    reach->function = outer;
}

static bool has_call(const Reach *reach, const Node *function)
{
    return node_calls(function, reach->prefix);
}

static bool has_decorated(const Reach *reach, const Node *function)
{
    return function->kind == NODE_FunctionDef &&
           has_function(NODE_AS(FunctionDef, function)->body, reach->decorator);
}

/* has_function(function, decorator): whether a function with a decorator of that name is defined
 * in it, or in one that it calls by a name. */
Object *core_has_function(Eval *eval, const Bound *bound)
{
    const Object *function = bound->values[0];
    const Object *name = text_argument(eval, bound->values[1], "the decorator's name", bound->at);
    if (name == NULL) return NULL;
    if (function->kind != OBJECT_FUNCTION) return eval->no;
    Reach reach = {.eval = eval, .has = has_decorated, .decorator = name};
    search_function(&reach, &function->as.function);
    return object_bool(eval, reach.found);
}

/* reaches(function, prefix): the same, or of the functions that it calls by a name. */
Object *core_reaches(Eval *eval, const Bound *bound)
{
    const Object *function = bound->values[0], *prefix = bound->values[1];
    if (function->kind != OBJECT_FUNCTION || prefix->kind != OBJECT_TEXT) return eval->no;
    Reach reach = {.eval = eval,
                   .has = has_call,
                   .prefix =
                       arena_copy_text(eval->arena, prefix->as.text.data, prefix->as.text.length)};
    search_function(&reach, &function->as.function);
    return object_bool(eval, reach.found);
}

/* Of the function whose call gives what the loop iterates over; NULL: there is none. */
static Name iterated_name(const NodeFor *node)
{
    if (node->iter->kind != NODE_Call) return NULL;
    const Node *called = NODE_AS(Call, node->iter)->func;
    return called->kind == NODE_Attribute ? NODE_AS(Attribute, called)->attr
           : called->kind == NODE_Name    ? NODE_AS(Name, called)->id
                                          : NULL;
}

/* is_iterated(): whether a `for` iterates over what the library's function at hand gives. */
Object *core_is_iterated(Eval *eval, const Bound *bound)
{
    (void)bound;
    const Frame *frame = eval->frame, *caller = frame->caller;
    if (caller == NULL || caller->iterated == NULL || frame->function == NULL) return eval->no;
    return object_bool(eval, iterated_name(caller->iterated) == frame->function->name);
}

typedef struct Spread {
    Eval *eval;
    const Frame *frame;
    Name name; /* of what gives the loops */
    bool in_loop, found, differs;
} Spread;

static bool binds(const Node *target, Name name)
{
    if (target->kind == NODE_Name) return NODE_AS(Name, target)->id == name;
    if (target->kind != NODE_Tuple) return false;
    const Nodes parts = NODE_AS(Tuple, target)->elts;
    for (uint32_t i = 0; i < parts.count; i++)
        if (binds(parts.items[i], name)) return true;
    return false;
}

static void find_counter(void *context, const Node *node)
{
    Spread *spread = context;
    if (node->kind == NODE_Name && binds(spread->frame->iterated->target, NODE_AS(Name, node)->id))
        spread->differs = true;
    node_visit_children(node, find_counter, spread);
}

/* Elements of register tiles that have a name; which ones, the counters do not say. */
static void find_spread(void *context, const Node *node)
{
    Spread *spread = context;
    const bool outer = spread->in_loop;
    bool found;
    if (node->kind == NODE_Subscript && spread->in_loop &&
        NODE_AS(Subscript, node)->value->kind == NODE_Name) {
        const Object *object =
            scope_lookup(spread->eval, spread->frame->scope,
                         NODE_AS(Name, NODE_AS(Subscript, node)->value)->id, node->span, &found);
        if (object != NULL && object->kind == OBJECT_TILE) {
            spread->found = true;
            node_visit_children(node, find_counter, spread);
        }
    }
    if (node->kind == NODE_For && iterated_name(NODE_AS(For, node)) == spread->name)
        spread->in_loop = true;
    node_visit_children(node, find_spread, spread);
    spread->in_loop = outer;
}

/* loop_spreads(): whether loops of the same kind in the body of the loop, over whose iterable a
 * call here decides, have elements of register tiles, which all threads of the block have together:
 * the same ones in each iteration. */
Object *core_loop_spreads(Eval *eval, const Bound *bound)
{
    (void)bound;
    const Frame *frame = eval->frame;
    while (frame != NULL && frame->iterated == NULL) frame = frame->caller;
    if (frame == NULL) return eval->no;
    Spread spread = {.eval = eval, .frame = frame, .name = iterated_name(frame->iterated)};
    if (spread.name == NULL) return eval->no;
    eval->quiet++;
    for (uint32_t i = 0; i < frame->iterated->body.count; i++)
        find_spread(&spread, frame->iterated->body.items[i]);
    eval->quiet--;
    return object_bool(eval, spread.found && !spread.differs);
}

/* earlier(function): what the function's name was bound to before it where it is defined; None: to
 * nothing. A module finds it by the statement, since it is evaluated lazily. */
Object *core_earlier(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    if (object->kind != OBJECT_FUNCTION || object->as.function.unit == NULL) return eval->none;
    Unit *unit = object->as.function.unit;
    Nodes body = unit->tree->tree->body;
    bool found;
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i] != object->as.function.node) continue;
        Object *earlier = unit_lookup(eval, unit, object->as.function.name, i, bound->at, &found);
        return found ? earlier : eval->none;
    }
    Binding *binding =
        bindings_get(&object->as.function.closure->bindings, object->as.function.name);
    return binding != NULL && binding->object != NULL ? binding_get(eval, binding, bound->at)
                                                      : eval->none;
}

Object *core_is_function(Eval *eval, const Bound *bound)
{
    return object_bool(eval, bound->values[0]->kind == OBJECT_FUNCTION);
}

/* ---- threads beyond the end ---- */

/* What follows is for the threads where the condition holds. False: reported. */
static bool guard_open(Eval *eval, Object *inside, Span at, Control *out)
{
    Value *condition = stage_condition(eval, inside, at);
    if (condition == NULL) return false;
    Op *op = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    op_set_int(op, ATTR_idle, 1);
    Builder others = builder_at_end(op->regions[1], at);
    build_op(&others, OP_yield, 0, NULL, 0, NULL);
    *out = control_enter(eval, op->regions[0]);
    return true;
}

static void guard_close(Eval *eval, Control control)
{
    ChangeVec changes = {0};
    build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
    control_leave(eval, control, &changes);
}

/* guarded(condition, function, arguments): calls the function in the threads where the condition
 * holds. What it does with all threads together the others do, too. */
Object *core_guarded(Eval *eval, const Bound *bound)
{
    Control control;
    const Object *arguments = bound->values[2];
    if (!stage_ready(eval, bound->at) || !object_is_sequence(arguments) ||
        !guard_open(eval, bound->values[0], bound->at, &control))
        return NULL;
    Object *result = call_simple(eval, bound->values[1], (int)arguments->as.list.count,
                                 arguments->as.list.items, bound->at);
    guard_close(eval, control);
    return result != NULL ? eval->none : NULL;
}

Flow stage_guarded(Eval *eval, Object *inside, ThreadsBody *body, const NodeWith *node,
                   uint32_t index)
{
    Control control;
    if (!object_is_staged(inside)) return body(eval, node, index);
    if (!guard_open(eval, inside, eval->at, &control)) return FLOW_ERROR;
    Flow flow = body(eval, node, index);
    guard_close(eval, control);
    return flow;
}

/* require(condition, text): in the host part: a call for which it does not hold is refused. */
Object *core_require(Eval *eval, const Bound *bound)
{
    bool truth;
    const Object *text = bound->values[1];
    if (!stage_ready(eval, bound->at)) return NULL;
    if (!in_host_part(eval) || text->kind != OBJECT_TEXT)
        return FAIL(eval, host_only, bound->at, "a check of the call",
                    "outside the host part of a kernel");
    if (!object_is_staged(bound->values[0])) {
        if (!object_truth(eval, bound->values[0], &truth)) return NULL;
        return truth ? eval->none
                     : FAIL(eval, call_refused, bound->at,
                            arena_copy_text(eval->arena, text->as.text.data, text->as.text.length));
    }
    Value *condition = stage_condition(eval, bound->values[0], bound->at);
    if (condition == NULL) return NULL;
    op_set_text(build_op(&eval->builder, OP_require, 1, &condition, 0, NULL), ATTR_text,
                intern(eval->session->names, text->as.text.data, text->as.text.length));
    return eval->none;
}
