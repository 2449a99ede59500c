/* survey.c: host code that is looked at for the kernels that it makes, and not for what it
 * computes: a statement that fails is left out, and what it would bind is unknown from there on.
 * Where a condition is unknown both branches are run, and a loop over what is unknown is run once.
 */
#include "eval/python/python.h"

#include <string.h>

bool is_surveyed(const Eval *eval)
{
    return eval->staging == NULL && eval->frame != NULL && eval->frame->is_surveyed;
}

/* Code that the library calls, as a kernel's factory, fails as a whole. */
bool survey_reaches(Eval *eval, const Function *function)
{
    if (!is_surveyed(eval) || eval->library > 0) return false;
    map_set(eval->arena, &eval->called, function->node, eval);
    return true;
}

bool survey_keeps(const Eval *eval, const Object *object)
{
    return is_surveyed(eval) && object->kind == OBJECT_FUNCTION &&
           strncmp(object->as.function.name, "test", 4) == 0;
}

static void forget_name(void *context, Name name)
{
    Eval *eval = context;
    Binding *binding = bindings_make(eval, &eval->frame->scope->bindings, name);
    eval->ops->binding_put(eval, binding, eval->poison, eval->at);
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
        if (expects_failure(NODE_AS(With, statement))) return FLOW_NEXT;
        return eval->ops->eval_block(eval, NODE_AS(With, statement)->body);
    case NODE_Return:
    case NODE_Raise: eval->frame->lacks_result = true; return FLOW_RETURN;
    default: names_bound(eval, statement, forget_name, eval); return FLOW_NEXT;
    }
}
