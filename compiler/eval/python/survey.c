/* survey.c: host code that is looked at for the kernels that it makes, and not for what it
 * computes: a statement that fails is left out, and what it would bind is unknown from there on.
 * Where a condition is unknown both branches are run, and a loop over what is unknown is run once.
 */
#include "base/diags.h"
#include "eval/python/python.h"

#include <string.h>

bool is_surveyed(const Eval *eval)
{
    return eval->staging == NULL && eval->frame != NULL && eval->frame->is_surveyed;
}

static bool is_test(const Function *function)
{
    return function->name != NULL && strncmp(function->name, "test", 4) == 0;
}

/* Code that the library calls, as a kernel's factory, fails as a whole; but for tests, which it
 * calls with what marks say of their arguments. */
bool survey_reaches(Eval *eval, const Function *function)
{
    const bool is_called = eval->library > 0
                               ? eval->host != NULL && eval->host->surveys && is_test(function)
                               : is_surveyed(eval);
    if (!is_called || eval->staging != NULL) return false;
    map_set(eval->arena, &eval->called, function->node, eval);
    return true;
}

bool survey_keeps(const Eval *eval, const Object *object)
{
    return is_surveyed(eval) && object->kind == OBJECT_FUNCTION && is_test(&object->as.function);
}

Object *survey_made_before(Eval *eval, const Object *instance, const Function *constructor)
{
    const Instance *new = instance->as.instance;
    if (eval->host == NULL || !eval->host->surveys || !class_is_kernel(new->class) ||
        constructor->unit == NULL || constructor->unit->is_library)
        return NULL;
    for (size_t i = 0; i < eval->surveyed.count; i++) {
        Object *other = eval->surveyed.data[i];
        if (other == instance || other->kind != OBJECT_INSTANCE ||
            other->as.instance->class != new->class ||
            !object_equal(eval, other->as.instance->arguments, new->arguments))
            continue;
        return other;
    }
    return NULL;
}

/* What is unknown, with the reason for which its statement failed: the last error. */
static Object *unknown_value(Eval *eval)
{
    const Diags *diags = eval->session->diags;
    Object *object = object_new(eval, OBJECT_POISON);
    for (size_t i = diags->reports.count; i > 0 && object->as.text.data == NULL; i--)
        if (diags->reports.data[i - 1]->severity == SEVERITY_ERROR)
            object->as.text.data = diags->reports.data[i - 1]->text;
    return object;
}

static void forget_name(void *context, Name name)
{
    Eval *eval = context;
    Binding *binding = bindings_make(eval, &eval->frame->scope->bindings, name);
    eval->ops->binding_put(eval, binding, unknown_value(eval), eval->at);
}

bool survey_leaves_name(Eval *eval, Name name)
{
    if (!is_surveyed(eval)) return false;
    forget_name(eval, name);
    return true;
}

/* One after the other: it is gone on behind them if one of them does. */
static Flow run_both(Eval *eval, Nodes first, Nodes second)
{
    Flow a = eval->ops->eval_block(eval, first), b = eval->ops->eval_block(eval, second);
    return a == FLOW_NEXT || b == FLOW_NEXT ? FLOW_NEXT : b;
}

static Flow run_once(Eval *eval, Nodes body)
{
    Flow flow = eval->ops->eval_block(eval, body);
    return flow == FLOW_RETURN ? flow : FLOW_NEXT;
}

/* `with pytest.raises(...)`: what stands in it is to fail. */
static bool expects_failure(const NodeWith *node)
{
    const Node *call = NODE_AS(withitem, node->items.items[0])->context_expr;
    if (call->kind != NODE_Call || NODE_AS(Call, call)->func->kind != NODE_Attribute) return false;
    const char *name = NODE_AS(Attribute, NODE_AS(Call, call)->func)->attr;
    return strcmp(name, "raises") == 0 || strncmp(name, "assertRaises", 12) == 0;
}

/* A kernel that is named there is not looked at for that alone. */
static void leave_out(void *context, const Node *node)
{
    Eval *eval = context;
    bool found = false;
    node_visit_children(node, leave_out, eval);
    if (node->kind != NODE_Name) return;
    Object *named =
        scope_lookup(eval, eval->frame->scope, NODE_AS(Name, node)->id, node->span, &found);
    if (named != NULL && named->kind == OBJECT_INSTANCE)
        vec_push(eval->arena, &eval->refusable, named);
}

/* What is not known is None. */
static Object *known_value(Eval *eval, const Node *node)
{
    Object *value = node->kind == NODE_Starred ? NULL : eval->ops->eval_expr(eval, node);
    return value == NULL ? eval->none : value;
}

/* A call that failed, as its arguments are not known: the library may have a function that makes
 * of the rest what the call would, the callee's `__surveyed__`. */
static void look_at_call(Eval *eval, const NodeCall *call)
{
    const Span at = call->base.span;
    const Name name = intern_text(eval->session->names, "__surveyed__");
    bool found = false;
    Object *callee = eval->ops->eval_expr(eval, call->func);
    Object *seen = callee == NULL ? NULL : attribute_find(eval, callee, name, at, &found);
    if (seen == NULL || !found) return;
    Arguments arguments = {.at = at};
    for (uint32_t i = 0; i < call->args.count; i++)
        vec_push(eval->arena, &arguments.positional, known_value(eval, call->args.items[i]));
    for (uint32_t i = 0; i < call->keywords.count; i++) {
        const Nodekeyword *given = NODE_AS(keyword, call->keywords.items[i]);
        if (given->arg == NULL) continue;
        vec_push(eval->arena, &arguments.names, given->arg);
        vec_push(eval->arena, &arguments.named, known_value(eval, given->value));
    }
    eval->ops->call_object(eval, seen, &arguments);
}

/* The value of an expression that stands alone or is assigned. */
static const Node *value_of(const Node *statement)
{
    if (statement->kind == NODE_Expr) return NODE_AS(Expr, statement)->value;
    return statement->kind == NODE_Assign ? NODE_AS(Assign, statement)->value : NULL;
}

/* A struct of which a field is not known is not known itself. */
static void forget_owners(Eval *eval, Nodes targets)
{
    for (uint32_t i = 0; i < targets.count; i++) {
        const Node *target = targets.items[i];
        if (target->kind != NODE_Attribute) continue;
        while (target->kind == NODE_Attribute) target = NODE_AS(Attribute, target)->value;
        if (target->kind != NODE_Name) continue;
        bool found = false;
        const Name name = NODE_AS(Name, target)->id;
        const Object *owner = scope_lookup(eval, eval->frame->scope, name, target->span, &found);
        if (owner != NULL && object_is_record(owner)) forget_name(eval, name);
    }
}

static Flow leave_simple(Eval *eval, const Node *statement)
{
    const Node *value = value_of(statement);
    eval->quiet++;
    if (value != NULL && value->kind == NODE_Call) look_at_call(eval, NODE_AS(Call, value));
    eval->quiet--;
    names_bound(eval, statement, forget_name, eval);
    if (statement->kind == NODE_Assign) forget_owners(eval, NODE_AS(Assign, statement)->targets);
    return FLOW_NEXT;
}

Flow survey_left(Eval *eval, const Node *statement)
{
    if (eval->steps_left == 0 || eval->work_left == 0) return FLOW_ERROR;
    switch ((int)statement->kind) {
    case NODE_If: {
        const NodeIf *n = NODE_AS(If, statement);
        return run_both(eval, n->body, n->orelse);
    }
    case NODE_For: {
        const NodeFor *n = NODE_AS(For, statement);
        names_bound(eval, statement, forget_name, eval);
        return run_once(eval, n->body);
    }
    case NODE_While: return run_once(eval, NODE_AS(While, statement)->body);
    case NODE_With:
        names_bound(eval, statement, forget_name, eval);
        if (expects_failure(NODE_AS(With, statement))) {
            leave_out(eval, statement);
            return FLOW_NEXT;
        }
        return eval->ops->eval_block(eval, NODE_AS(With, statement)->body);
    case NODE_Return:
    case NODE_Raise: eval->frame->lacks_result = true; return FLOW_RETURN;
    default: return leave_simple(eval, statement);
    }
}
