/* stmt.c: statements. What is known now is done now; loop.c stages the rest. */
#include "eval/value.h"

#include <string.h>

enum { STATEMENT_DEPTH = 2500 };

static Span place(Eval *eval, const Node *node)
{
    eval_move(eval, node->span);
    return eval->at;
}

/* ---- simple statements ---- */

static Flow run_expr(Eval *eval, const Node *node)
{
    return eval_expr(eval, NODE_AS(Expr, node)->value) != NULL ? FLOW_NEXT : FLOW_ERROR;
}

static Flow run_pass(Eval *eval, const Node *node)
{
    (void)eval;
    (void)node;
    return FLOW_NEXT;
}

static Flow run_assign(Eval *eval, const Node *node)
{
    const NodeAssign *n = NODE_AS(Assign, node);
    Object *value = eval_expr(eval, n->value);
    if (value == NULL) return FLOW_ERROR;
    for (uint32_t i = 0; i < n->targets.count; i++)
        if (!assign_target(eval, n->targets.items[i], value)) return FLOW_ERROR;
    return FLOW_NEXT;
}

/* In a kernel `x: int32 = e` makes a scalar of that type; any other annotation is for readers. */
static Object *declared_value(Eval *eval, const NodeAnnAssign *node, Object *value)
{
    bool scalar = object_is_number(value) ||
                  (value->kind == OBJECT_IR && type_is_scalar(value->as.ir.value->type));
    if (eval->staging == NULL || !scalar) return value;
    eval->quiet++;
    Object *type = eval_expr(eval, node->annotation);
    eval->quiet--;
    if (type == NULL || type->kind != OBJECT_DTYPE) return value;
    return object_ir(eval, stage_scalar(eval, value, type->as.dtype, place(eval, &node->base)));
}

static Flow run_annassign(Eval *eval, const Node *node)
{
    const NodeAnnAssign *n = NODE_AS(AnnAssign, node);
    if (n->value == NULL) return FLOW_NEXT;
    Object *value = eval_expr(eval, n->value);
    value = value != NULL ? declared_value(eval, n, value) : NULL;
    return value != NULL && assign_target(eval, n->target, value) ? FLOW_NEXT : FLOW_ERROR;
}

static Flow extend_list(Eval *eval, Object *list, Object *more, Span at)
{
    Object *items = list_may_change(eval, list, at) ? iterate(eval, more, at) : NULL;
    for (uint32_t i = 0; items != NULL && i < items->as.list.count; i++)
        list_append(eval, list, items->as.list.items[i]);
    return items != NULL ? FLOW_NEXT : FLOW_ERROR;
}

static Flow run_augassign(Eval *eval, const Node *node)
{
    const NodeAugAssign *n = NODE_AS(AugAssign, node);
    Object *old = eval_expr(eval, n->target);
    Object *operand = old != NULL ? eval_expr(eval, n->value) : NULL;
    if (operand == NULL) return FLOW_ERROR;
    Span at = place(eval, node);
    if (old->kind == OBJECT_LIST && n->op == OPERATOR_Add)
        return extend_list(eval, old, operand, at);
    Object *result = operate_binary(eval, n->op, old, operand, at);
    if (result == NULL) return FLOW_ERROR;
    /* A named tile is written in place, so that a helper that was given it changes the caller's. */
    bool in_place =
        old->kind == OBJECT_TILE && old->as.ir.var != NULL && result->kind == OBJECT_TILE;
    if (!in_place) return assign_target(eval, n->target, result) ? FLOW_NEXT : FLOW_ERROR;
    return tile_write(eval, old, stage_value(eval, result)) ? FLOW_NEXT : FLOW_ERROR;
}

static Flow jump_error(Eval *eval, const Node *node, const char *what)
{
    FAIL(eval, jump_under_control, place(eval, node), what);
    return FLOW_ERROR;
}

static Flow run_return(Eval *eval, const Node *node)
{
    const NodeReturn *n = NODE_AS(Return, node);
    Object *value = n->value != NULL ? eval_expr(eval, n->value) : eval->none;
    if (value == NULL) return FLOW_ERROR;
    if (eval->control > eval->frame->control) return jump_error(eval, node, "return");
    eval->frame->result = value;
    return FLOW_RETURN;
}

static Flow run_break(Eval *eval, const Node *node)
{
    return eval->frame->loop == eval->control ? FLOW_BREAK : jump_error(eval, node, "break");
}

static Flow run_continue(Eval *eval, const Node *node)
{
    return eval->frame->loop == eval->control ? FLOW_CONTINUE : jump_error(eval, node, "continue");
}

static Flow run_delete(Eval *eval, const Node *node)
{
    Nodes targets = NODE_AS(Delete, node)->targets;
    for (uint32_t i = 0; i < targets.count; i++) {
        const Node *target = targets.items[i];
        if (target->kind != NODE_Name)
            return FAIL(eval, unsupported, place(eval, target), "this 'del'"), FLOW_ERROR;
        Binding *binding = bindings_get(&eval->frame->scope->bindings, NODE_AS(Name, target)->id);
        if (binding == NULL)
            return FAIL(eval, unknown_name, place(eval, target), NODE_AS(Name, target)->id),
                   FLOW_ERROR;
        binding_put(eval, binding, NULL, target->span);
    }
    return FLOW_NEXT;
}

static Scope *find_outside(Eval *eval, Name name)
{
    for (Scope *scope = eval->frame->scope->parent; scope != NULL; scope = scope->parent)
        if (scope->kind == SCOPE_FUNCTION && bindings_get(&scope->bindings, name) != NULL)
            return scope;
    return NULL;
}

static Flow run_global(Eval *eval, const Node *node)
{
    Names names = NODE_AS(Global, node)->names;
    Scope *scope = eval->frame->scope;
    for (uint32_t i = 0; scope->unit != NULL && i < names.count; i++)
        map_set(eval->arena, &scope->outside, names.items[i], scope->unit->scope);
    return FLOW_NEXT;
}

static Flow run_nonlocal(Eval *eval, const Node *node)
{
    Names names = NODE_AS(Nonlocal, node)->names;
    for (uint32_t i = 0; i < names.count; i++) {
        Scope *scope = find_outside(eval, names.items[i]);
        if (scope == NULL)
            return FAIL(eval, unknown_name, place(eval, node), names.items[i]), FLOW_ERROR;
        map_set(eval->arena, &eval->frame->scope->outside, names.items[i], scope);
    }
    return FLOW_NEXT;
}

/* ---- raise, assert ---- */

static const char *exception_text(Eval *eval, Object *exception)
{
    if (exception->kind == OBJECT_CLASS) return exception->as.class->name;
    if (exception->kind != OBJECT_INSTANCE) return object_repr(eval, exception);
    const Instance *instance = exception->as.instance;
    const char *name = instance->class->as.class->name;
    const Object *positional =
        instance->arguments != NULL ? instance->arguments->as.list.items[0] : NULL;
    if (positional == NULL || positional->as.list.count == 0) return name;
    Buf buf = {0};
    object_print(eval, positional->as.list.items[0], TEXT_STR, &buf);
    const char *text = arena_printf(eval->arena, "%s: %s", name, buf.data != NULL ? buf.data : "");
    buf_free(&buf);
    return text;
}

static Flow run_raise(Eval *eval, const Node *node)
{
    const NodeRaise *n = NODE_AS(Raise, node);
    Object *exception = n->exc != NULL ? eval_expr(eval, n->exc) : eval->none;
    if (exception != NULL) FAIL(eval, raised, place(eval, node), exception_text(eval, exception));
    return FLOW_ERROR;
}

static Flow assertion_error(Eval *eval, const NodeAssert *node)
{
    const char *text = "";
    Span at = node->base.span;
    if (node->msg != NULL) {
        Object *message = eval_expr(eval, node->msg);
        if (message == NULL) return FLOW_ERROR;
        Buf buf = {0};
        object_print(eval, message, TEXT_STR, &buf);
        text = arena_printf(eval->arena, ": %s", buf.data != NULL ? buf.data : "");
        buf_free(&buf);
    }
    /* A run's own check is a mismatch; one in a kernel's static part is an error of the program. */
    if (eval->host != NULL && eval->staging == NULL)
        FAIL(eval, run_mismatch, at, text);
    else
        FAIL(eval, assertion, at, text);
    return FLOW_ERROR;
}

static Flow run_assert(Eval *eval, const Node *node)
{
    const NodeAssert *n = NODE_AS(Assert, node);
    Object *test = eval_expr(eval, n->test);
    bool truth;
    place(eval, node);
    if (test == NULL || !object_truth(eval, test, &truth)) return FLOW_ERROR;
    return truth ? FLOW_NEXT : assertion_error(eval, n);
}

/* ---- compound statements ---- */

static Flow run_if(Eval *eval, const Node *node)
{
    const NodeIf *n = NODE_AS(If, node);
    Object *test = eval_expr(eval, n->test);
    if (test == NULL) return FLOW_ERROR;
    place(eval, n->test);
    if (object_is_staged(test)) {
        Value *condition = stage_condition(eval, test, eval->at);
        return condition != NULL ? stage_if(eval, n, condition) : FLOW_ERROR;
    }
    bool truth;
    if (!object_truth(eval, test, &truth)) return FLOW_ERROR;
    return eval_block(eval, truth ? n->body : n->orelse);
}

bool eval_step(Eval *eval, Span at)
{
    if (eval->host != NULL && eval->staging == NULL) return true; /* a run may take its time */
    if (eval->steps_left > 0) {
        eval->steps_left--;
        return true;
    }
    FAIL(eval, endless, at, (long long)UNROLL_LIMIT);
    return false;
}

/* A loop's target is the item itself: `for acc in tiles` may write to each. */
static bool bind_item(Eval *eval, const Node *target, Object *item)
{
    if (target->kind != NODE_Name || item->kind != OBJECT_TILE)
        return assign_target(eval, target, item);
    Binding *binding =
        bindings_make(eval, &eval->frame->scope->bindings, NODE_AS(Name, target)->id);
    binding_put(eval, binding, object_keep(eval, item), target->span);
    return true;
}

/* Over items that are known now: once for each. */
static Flow unroll(Eval *eval, const NodeFor *node, const Object *items)
{
    int outer = eval->frame->loop;
    Flow flow = FLOW_NEXT;
    for (uint32_t i = 0; i < items->as.list.count; i++) {
        if (!eval_step(eval, eval->at) || !bind_item(eval, node->target, items->as.list.items[i])) {
            flow = FLOW_ERROR;
            break;
        }
        eval->frame->loop = eval->control;
        flow = eval_block(eval, node->body);
        eval->frame->loop = outer;
        if (flow == FLOW_BREAK || flow == FLOW_RETURN || flow == FLOW_ERROR) break;
    }
    eval->frame->loop = outer;
    if (flow == FLOW_RETURN || flow == FLOW_ERROR) return flow;
    return flow == FLOW_BREAK ? FLOW_NEXT : eval_block(eval, node->orelse);
}

static bool unrolls_all(const Object *range)
{
    const Object *unroll_by = range->as.range.unroll;
    return unroll_by != NULL && unroll_by->kind == OBJECT_BOOL && unroll_by->as.integer;
}

static Flow run_for(Eval *eval, const Node *node)
{
    const NodeFor *n = NODE_AS(For, node);
    Object *iterable = eval_expr(eval, n->iter);
    if (iterable == NULL) return FLOW_ERROR;
    place(eval, n->iter);
    if (iterable->kind == OBJECT_RANGE && eval->staging != NULL && !unrolls_all(iterable))
        return stage_for(eval, n, iterable);
    Object *items = iterate(eval, iterable, eval->at);
    return items != NULL ? unroll(eval, n, items) : FLOW_ERROR;
}

static Flow run_while(Eval *eval, const Node *node)
{
    const NodeWhile *n = NODE_AS(While, node);
    int outer = eval->frame->loop;
    for (;;) {
        Object *test = eval_expr(eval, n->test);
        bool truth;
        place(eval, n->test);
        if (test == NULL) return FLOW_ERROR;
        if (object_is_staged(test)) return stage_while(eval, n);
        if (!object_truth(eval, test, &truth) || !eval_step(eval, eval->at)) return FLOW_ERROR;
        if (!truth) return eval_block(eval, n->orelse);
        eval->frame->loop = eval->control;
        Flow flow = eval_block(eval, n->body);
        eval->frame->loop = outer;
        if (flow == FLOW_BREAK) return FLOW_NEXT;
        if (flow == FLOW_RETURN || flow == FLOW_ERROR) return flow;
    }
}

static Object *call_context(Eval *eval, Object *context, const char *name, int count)
{
    Object *method =
        context->kind == OBJECT_INSTANCE
            ? class_find(context->as.instance->class, intern_text(eval->session->names, name))
            : NULL;
    if (method == NULL)
        return FAIL(eval, unsupported, eval->at,
                    arena_printf(eval->arena, "'with' over %s", object_repr(eval, context)));
    Object *none = eval->none;
    return call_simple(eval, method, count, (Object *[]){context, none, none, none}, eval->at);
}

static Flow run_with_item(Eval *eval, const NodeWith *node, uint32_t index)
{
    if (index == node->items.count) return eval_block(eval, node->body);
    const Nodewithitem *item = NODE_AS(withitem, node->items.items[index]);
    Object *context = eval_expr(eval, item->context_expr);
    place(eval, item->context_expr);
    Object *entered = context != NULL ? call_context(eval, context, "__enter__", 1) : NULL;
    if (entered == NULL ||
        (item->optional_vars != NULL && !assign_target(eval, item->optional_vars, entered)))
        return FLOW_ERROR;
    Flow flow = run_with_item(eval, node, index + 1);
    if (flow == FLOW_ERROR) return flow;
    place(eval, item->context_expr);
    return call_context(eval, context, "__exit__", 4) != NULL ? flow : FLOW_ERROR;
}

static Flow run_with(Eval *eval, const Node *node)
{
    return run_with_item(eval, NODE_AS(With, node), 0);
}

/* An error is reported where it happens: handlers are never entered. */
static Flow run_try(Eval *eval, const Node *node)
{
    const NodeTry *n = NODE_AS(Try, node);
    Flow flow = eval_block(eval, n->body);
    if (flow == FLOW_NEXT) flow = eval_block(eval, n->orelse);
    if (flow == FLOW_ERROR) return flow;
    Flow last = eval_block(eval, n->finalbody);
    return last == FLOW_NEXT ? flow : last;
}

/* ---- definitions ---- */

static Object *decorate(Eval *eval, Nodes decorators, Object *object)
{
    for (uint32_t i = decorators.count; object != NULL && i-- > 0;) {
        Object *decorator = eval_expr(eval, decorators.items[i]);
        if (decorator == NULL) return NULL;
        object = call_simple(eval, decorator, 1, &object, place(eval, decorators.items[i]));
    }
    return object;
}

static bool eval_defaults(Eval *eval, const Nodearguments *parameters, Function *function)
{
    function->defaults = arena_new_array(eval->arena, Object *, parameters->defaults.count);
    function->kw_defaults = arena_new_array(eval->arena, Object *, parameters->kwonlyargs.count);
    for (uint32_t i = 0; i < parameters->defaults.count; i++)
        if ((function->defaults[i] = eval_expr(eval, parameters->defaults.items[i])) == NULL)
            return false;
    for (uint32_t i = 0; i < parameters->kw_defaults.count; i++)
        if (parameters->kw_defaults.items[i] != NULL &&
            (function->kw_defaults[i] = eval_expr(eval, parameters->kw_defaults.items[i])) == NULL)
            return false;
    return true;
}

static Flow run_functiondef(Eval *eval, const Node *node)
{
    const NodeFunctionDef *n = NODE_AS(FunctionDef, node);
    Scope *scope = eval->frame->scope;
    Object *object = object_new(eval, OBJECT_FUNCTION);
    object->as.function = (Function){
        .name = n->name, .node = node, .closure = scope_for_closure(scope), .unit = scope->unit};
    if (!eval_defaults(eval, NODE_AS(arguments, n->args), &object->as.function)) return FLOW_ERROR;
    object = decorate(eval, n->decorator_list, object);
    return object != NULL && scope_assign(eval, scope, n->name, object, node->span) ? FLOW_NEXT
                                                                                    : FLOW_ERROR;
}

static Flow run_classdef(Eval *eval, const Node *node)
{
    const NodeClassDef *n = NODE_AS(ClassDef, node);
    Object *class = class_new(eval, n);
    class = class != NULL ? decorate(eval, n->decorator_list, class) : NULL;
    return class != NULL && scope_assign(eval, eval->frame->scope, n->name, class, node->span)
               ? FLOW_NEXT
               : FLOW_ERROR;
}

static Flow run_import(Eval *eval, const Node *node)
{
    place(eval, node);
    return eval_import(eval, NODE_AS(Import, node));
}

static Flow run_import_from(Eval *eval, const Node *node)
{
    place(eval, node);
    return eval_import_from(eval, NODE_AS(ImportFrom, node));
}

/* ---- dispatch ---- */

typedef Flow Runner(Eval *, const Node *);

static Runner *const RUNNERS[NODE_COUNT] = {
    [NODE_Expr] = run_expr,
    [NODE_Pass] = run_pass,
    [NODE_Assign] = run_assign,
    [NODE_AnnAssign] = run_annassign,
    [NODE_AugAssign] = run_augassign,
    [NODE_Return] = run_return,
    [NODE_Break] = run_break,
    [NODE_Continue] = run_continue,
    [NODE_Delete] = run_delete,
    [NODE_Global] = run_global,
    [NODE_Nonlocal] = run_nonlocal,
    [NODE_Raise] = run_raise,
    [NODE_Assert] = run_assert,
    [NODE_If] = run_if,
    [NODE_For] = run_for,
    [NODE_While] = run_while,
    [NODE_With] = run_with,
    [NODE_Try] = run_try,
    [NODE_FunctionDef] = run_functiondef,
    [NODE_ClassDef] = run_classdef,
    [NODE_Import] = run_import,
    [NODE_ImportFrom] = run_import_from,
};

Flow eval_statement(Eval *eval, const Node *statement)
{
    if (RUNNERS[statement->kind] == NULL) {
        FAIL(eval, unsupported, place(eval, statement),
             arena_printf(eval->arena, "'%s'", node_kind_name(statement->kind)));
        return FLOW_ERROR;
    }
    if (eval->depth >= STATEMENT_DEPTH) {
        FAIL(eval, recursion, place(eval, statement), CALL_LIMIT);
        return FLOW_ERROR;
    }
    eval->depth++;
    Flow flow = RUNNERS[statement->kind](eval, statement);
    eval->depth--;
    return flow;
}

static void poison_name(void *context, Name name)
{
    Eval *eval = context;
    Binding *binding = bindings_make(eval, &eval->frame->scope->bindings, name);
    binding_put(eval, binding, eval->poison, eval->at);
}

Flow eval_block(Eval *eval, Nodes statements)
{
    for (uint32_t i = 0; i < statements.count; i++) {
        Flow flow = eval_statement(eval, statements.items[i]);
        if (flow == FLOW_ERROR && eval->staging != NULL && eval->staging->frame == eval->frame &&
            eval->quiet == 0) {
            eval->staging->failed = true;
            names_bound(eval, statements.items[i], poison_name, eval);
            continue;
        }
        if (flow != FLOW_NEXT) return flow;
    }
    return FLOW_NEXT;
}
