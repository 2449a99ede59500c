/* made.c: what the statements of a module make that may be exported, noted as they run. */
#include "eval/export/export.h"

enum { NESTING = 8 /* of lists of compiled kernels */ };

void made_note(Eval *eval, Object *object, Span at)
{
    if (object != NULL && eval->made != NULL && eval->staging == NULL)
        vec_push(eval->arena, eval->made, ((Made){.object = object, .span = at}));
}

static void name_one(Eval *eval, Name name, Object *object, Span at)
{
    MadeVec *made = eval->made;
    for (size_t i = 0; i < made->count; i++) {
        if (made->data[i].object != object || made->data[i].name != NULL) continue;
        made->data[i].name = name;
        return;
    }
    vec_push(eval->arena, made, ((Made){name, object, at}));
}

/* What the statement that binds the name has made. */
typedef struct Naming {
    Eval *eval;
    Name name;
    Map seen; /* containers: one may hold another often */
} Naming;

static void name_all(Naming *naming, Object *const *values, size_t count, int depth);

/* The kernels in a value that is assigned to the name. */
static void name_value(Naming *naming, Object *value, int depth)
{
    Eval *eval = naming->eval;
    const bool is_dict = value->kind == OBJECT_DICT;
    if (value->kind == OBJECT_SPECIALISATION || is_kernel(value))
        name_one(eval, naming->name, value, eval->at);
    if ((!is_dict && !object_is_sequence(value)) || depth > NESTING ||
        map_has(&naming->seen, value))
        return;
    map_set(eval->arena, &naming->seen, value, value);
    if (is_dict)
        name_all(naming, value->as.dict.values.data, value->as.dict.values.count, depth + 1);
    else
        name_all(naming, value->as.list.items, value->as.list.count, depth + 1);
}

static void name_all(Naming *naming, Object *const *values, size_t count, int depth)
{
    for (size_t i = 0; i < count; i++) name_value(naming, values[i], depth);
}

static void note_name(void *context, Name name)
{
    Eval *eval = context;
    const Binding *binding = bindings_get(&eval->frame->scope->bindings, name);
    Naming naming = {.eval = eval, .name = name};
    if (binding != NULL && binding->object != NULL) name_value(&naming, binding->object, 0);
}

/* Another name for a kernel that there is makes none. */
static bool makes_anew(const Node *statement)
{
    const Node *value = statement->kind == NODE_Assign      ? NODE_AS(Assign, statement)->value
                        : statement->kind == NODE_AnnAssign ? NODE_AS(AnnAssign, statement)->value
                                                            : NULL;
    if (statement->kind == NODE_FunctionDef)
        return NODE_AS(FunctionDef, statement)->decorator_list.count > 0;
    return value != NULL && value->kind != NODE_Name && value->kind != NODE_Attribute;
}

static void lack_name(void *context, Name name)
{
    Eval *eval = context;
    Binding *binding = bindings_make(eval, &eval->frame->scope->bindings, name);
    binding_put(eval, binding, eval->needed_missing, eval->at);
}

/* Within a loop or an `if` as beside it: a simple statement that needs a host module is left out,
 * and what it would bind is that module's until something needs it. */
static bool leave_out(Eval *eval, const Node *statement)
{
    const bool is_simple = statement->kind == NODE_Expr || statement->kind == NODE_Assign ||
                           statement->kind == NODE_AnnAssign || statement->kind == NODE_AugAssign ||
                           statement->kind == NODE_FunctionDef || statement->kind == NODE_Assert;
    const Scope *scope = eval->frame->scope;
    if (eval->needed_missing == NULL || !is_simple || eval->quiet == 0 ||
        eval->attempt != eval->changes ||
        statement == scope->unit->tree->tree->body.items[scope->index])
        return false;
    if (eval->changes == NULL)
        diag_report(eval->session->diags, DIAG_statement_skipped, statement->span,
                    "it needs a host module");
    vec_push(eval->arena, &scope->unit->thunks[scope->index].left,
             ((LeftOut){statement, eval->needed_missing, NULL}));
    names_bound(eval, statement, lack_name, eval);
    return true;
}

Flow made_by_statement(Eval *eval, const Node *statement, Flow flow)
{
    if (flow == FLOW_ERROR) return leave_out(eval, statement) ? FLOW_NEXT : flow;
    if (makes_anew(statement)) {
        eval_move_to(eval, statement);
        names_bound(eval, statement, note_name, eval);
    }
    return flow;
}
