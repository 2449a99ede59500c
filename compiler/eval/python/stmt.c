/* stmt.c: statements. What is known now is done now; loop.c stages the rest. */
#include "eval/python/python.h"

#include <string.h>

/* ---- simple statements ---- */

static Flow run_expr(Eval *eval, const Node *node)
{
    const Object *value = eval->ops->eval_expr(eval, NODE_AS(Expr, node)->value);
    return value != NULL ? eval->ops->run_marker(eval, node, value) : FLOW_ERROR;
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
    const Node *outer = eval->frame->assigned;
    eval->frame->assigned = node;
    Object *value = eval->ops->eval_expr(eval, n->value);
    eval->frame->assigned = outer;
    if (value == NULL) return FLOW_ERROR;
    for (uint32_t i = 0; i < n->targets.count; i++)
        if (!assign_target(eval, n->targets.items[i],
                           eval->ops->assigned_value(eval, n->targets.items[i], value)))
            return FLOW_ERROR;
    return FLOW_NEXT;
}

/* A class keeps the names of its fields in order: dataclasses ask for them. */
static void note_field(Eval *eval, const NodeAnnAssign *node)
{
    Scope *scope = eval->frame->scope;
    if (scope->kind != SCOPE_CLASS || node->target->kind != NODE_Name) return;
    Name name = NODE_AS(Name, node->target)->id;
    Binding *binding =
        bindings_make(eval, &scope->bindings, intern_text(eval->session->names, "__annotations__"));
    if (binding->object == NULL) binding->object = object_new(eval, OBJECT_DICT);
    eval->quiet++;
    Object *type = eval->ops->eval_expr(eval, node->annotation);
    eval->quiet--;
    dict_set(eval, binding->object, object_text(eval, name, strlen(name)),
             type != NULL ? type : eval->none);
}

/* In the body of a kernel function `A: type` says what the argument is. */
static Flow declare_argument(Eval *eval, const NodeAnnAssign *node)
{
    Name name = node->target->kind == NODE_Name ? NODE_AS(Name, node->target)->id : NULL;
    if (name == NULL || !eval->ops->tensor_is_awaited(eval, name)) return FLOW_NEXT;
    Object *type = eval->ops->eval_expr(eval, node->annotation);
    if (type != NULL &&
        eval->ops->tensor_declare(eval, name, type, eval_move_to(eval, node->target)))
        return FLOW_NEXT;
    eval->staging->frame = NULL; /* all that follows depends on it: it is not looked at */
    eval->staging->failures++;
    return FLOW_ERROR;
}

static Flow run_annassign(Eval *eval, const Node *node)
{
    const NodeAnnAssign *n = NODE_AS(AnnAssign, node);
    note_field(eval, n);
    if (n->value == NULL) return declare_argument(eval, n);
    Object *value = eval->ops->eval_expr(eval, n->value);
    value = value != NULL ? eval->ops->declared_value(eval, n, value) : NULL;
    return value != NULL && assign_target(eval, n->target, value) ? FLOW_NEXT : FLOW_ERROR;
}

static Flow extend_list(Eval *eval, Object *list, Object *more, Span at)
{
    Object *items = list_may_change(eval, list, at) ? eval->ops->iterate(eval, more, at) : NULL;
    for (uint32_t i = 0; items != NULL && i < items->as.list.count; i++)
        list_append(eval, list, items->as.list.items[i]);
    return items != NULL ? FLOW_NEXT : FLOW_ERROR;
}

/* `a[i] += x` where a's class says how. */
static Flow update_by_class(Eval *eval, const NodeAugAssign *node, Object *method,
                            const Slot *place)
{
    const char *op = operator_text(node->op);
    Object *operand = eval->ops->eval_expr(eval, node->value);
    Object *given[] = {place->memory, place->index, object_text(eval, op, strlen(op)), operand};
    Span at = eval_move_to(eval, &node->base);
    return operand != NULL && eval->ops->call_simple(eval, method, 4, given, at) != NULL
               ? FLOW_NEXT
               : FLOW_ERROR;
}

/* `a[i][j] += x`: a part of an element, where the run tells which, of an array whose class says how
 * such are updated. */
static bool update_part(Eval *eval, Operator operator, const Slot * place, Object *operand, Span at,
                        bool *good)
{
    const char *op = operator_text(operator);
    return place != NULL && place->whole != NULL &&
           eval->ops->slot_part(eval, place, "__update_part__", object_text(eval, op, strlen(op)),
                                operand, at, good);
}

/* An element of memory, or a part of one: of an array whose class says how elements are updated. */
static bool is_in_memory(Eval *eval, const Slot *place)
{
    while (place != NULL && place->whole != NULL) place = place->whole;
    return place != NULL && place->index != NULL && place->memory != NULL &&
           (object_is_staged(place->memory) ||
            special_method(eval, place->memory, "__update_item__") != NULL);
}

static int kind_of_numbers(DType dtype)
{
    return dtype_is_float(dtype) ? 2 : dtype != DTYPE_b1;
}

/* Arrays of host code are written in place, as torch's and numpy's are, and so are the views of
 * them. Those of one element are numbers. */
static bool is_written_in_place(Eval *eval, const Object *old, const Object *result,
                                const Slot *place)
{
    HostArray array;
    if (old->kind != OBJECT_ARRAY || result->kind != OBJECT_ARRAY) return false;
    if (place != NULL && place->memory != NULL && place->memory->kind == OBJECT_ARRAY)
        return false; /* its element is */
    eval->host->describe(eval->host, old->as.array, &array);
    return array.rank > 0;
}

/* Dicts and sets are, too: `d |= e`. What run-time control decides about is bound anew. */
static bool is_refilled(const Eval *eval, const Object *old, const Object *result)
{
    const bool is_keyed =
        old->kind == OBJECT_DICT || (old->kind == OBJECT_SET && !old->as.dict.frozen);
    return is_keyed && result->kind == old->kind && old->as.dict.mirrored == NULL &&
           (uint32_t)eval->control <= old->as.dict.control;
}

static Flow refill(Eval *eval, Object *old, const Object *result, Span at)
{
    if (!list_may_change(eval, old, at)) return FLOW_ERROR;
    const uint32_t control = old->as.dict.control;
    old->as.dict = result->as.dict;
    old->as.dict.control = control;
    return FLOW_NEXT;
}

static Flow write_array(Eval *eval, Object *array, Object *result, Span at)
{
    HostArray has, gets;
    eval->host->describe(eval->host, array->as.array, &has);
    eval->host->describe(eval->host, result->as.array, &gets);
    if (kind_of_numbers(gets.dtype) > kind_of_numbers(has.dtype)) {
        FAIL(eval, array_update, at, dtype_name(has.dtype), dtype_name(gets.dtype));
        return FLOW_ERROR;
    }
    return host_set_item(eval, array, eval->ellipsis, result, at) ? FLOW_NEXT : FLOW_ERROR;
}

/* `place` is NULL where the target is a name. */
static Flow update_value(Eval *eval, const NodeAugAssign *n, Object *old, const Slot *place)
{
    Object *operand = old != NULL ? eval->ops->eval_expr(eval, n->value) : NULL;
    if (operand == NULL) return FLOW_ERROR;
    Span at = eval_move_to(eval, &n->base);
    if (old->kind == OBJECT_LIST && n->op == OPERATOR_Add)
        return extend_list(eval, old, operand, at);
    bool good;
    if (update_part(eval, n->op, place, operand, at, &good)) return good ? FLOW_NEXT : FLOW_ERROR;
    if (is_in_memory(eval, place) &&
        eval->ops->element_update(eval, n->op, old, operand, at, &good))
        return good ? FLOW_NEXT : FLOW_ERROR;
    Object *result = operate_in_place(eval, n->op, old, operand, at);
    if (result == NULL) return FLOW_ERROR;
    if (result == old && object_class(old) != NULL) return FLOW_NEXT;
    if (is_refilled(eval, old, result)) return refill(eval, old, result, at);
    if (is_written_in_place(eval, old, result, place)) return write_array(eval, old, result, at);
    /* A named tile is written in place, so that a helper that was given it changes the caller's. */
    if (old->kind == OBJECT_TILE && old->as.ir.var != NULL && result->kind == OBJECT_TILE &&
        eval->parallel == NULL)
        return eval->ops->tile_update(eval, old, result) ? FLOW_NEXT : FLOW_ERROR;
    result = eval->ops->assigned_value(eval, n->target, result);
    at = eval_move_to(eval, n->target);
    const bool written = place != NULL ? eval->ops->slot_write(eval, place, result, at)
                                       : assign_target(eval, n->target, result);
    return written ? FLOW_NEXT : FLOW_ERROR;
}

static Flow run_augassign(Eval *eval, const Node *node)
{
    const NodeAugAssign *n = NODE_AS(AugAssign, node);
    if (n->target->kind == NODE_Name)
        return update_value(eval, n, eval->ops->eval_expr(eval, n->target), NULL);
    const Slot *place = eval->ops->target_place(eval, n->target);
    if (place == NULL) return FLOW_ERROR;
    Object *method = place->memory != NULL && place->index != NULL
                         ? special_method(eval, place->memory, "__update_item__")
                         : NULL;
    if (method != NULL) return update_by_class(eval, n, method, place);
    return update_value(eval, n, eval->ops->slot_read(eval, place, eval_move_to(eval, n->target)),
                        place);
}

static bool delete_name(Eval *eval, const Node *target)
{
    Name name = NODE_AS(Name, target)->id;
    Binding *binding = bindings_get(&eval->frame->scope->bindings, name);
    if (binding == NULL || binding->object == NULL) {
        FAIL(eval, unknown_name, eval_move_to(eval, target), name);
        return false;
    }
    eval->ops->binding_put(eval, binding, NULL, target->span);
    return true;
}

static bool delete_target(Eval *eval, const Node *target)
{
    if (target->kind == NODE_Name) return delete_name(eval, target);
    if (target->kind == NODE_Attribute) {
        Object *owner = eval->ops->eval_expr(eval, NODE_AS(Attribute, target)->value);
        return owner != NULL && attribute_delete(eval, owner, NODE_AS(Attribute, target)->attr,
                                                 eval_move_to(eval, target));
    }
    if (target->kind == NODE_Subscript) {
        Object *owner = eval->ops->eval_expr(eval, NODE_AS(Subscript, target)->value);
        Object *index =
            owner != NULL ? eval->ops->eval_expr(eval, NODE_AS(Subscript, target)->slice) : NULL;
        return index != NULL && item_delete(eval, owner, index, eval_move_to(eval, target));
    }
    FAIL(eval, unsupported, eval_move_to(eval, target), "this 'del'");
    return false;
}

static Flow run_delete(Eval *eval, const Node *node)
{
    Nodes targets = NODE_AS(Delete, node)->targets;
    for (uint32_t i = 0; i < targets.count; i++)
        if (!delete_target(eval, targets.items[i])) return FLOW_ERROR;
    return FLOW_NEXT;
}

static Flow run_type_alias(Eval *eval, const Node *node)
{
    const NodeTypeAlias *n = NODE_AS(TypeAlias, node);
    Object *value = n->type_params.count == 0 ? eval->ops->eval_expr(eval, n->value) : eval->none;
    return value != NULL && assign_target(eval, n->name, value) ? FLOW_NEXT : FLOW_ERROR;
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
            return FAIL(eval, unknown_name, eval_move_to(eval, node), names.items[i]), FLOW_ERROR;
        map_set(eval->arena, &eval->frame->scope->outside, names.items[i], scope);
    }
    return FLOW_NEXT;
}

static Flow run_if(Eval *eval, const Node *node, Rest *rest)
{
    const NodeIf *n = NODE_AS(If, node);
    Object *test = eval->ops->eval_expr(eval, n->test);
    if (test == NULL) return FLOW_ERROR;
    eval_move_to(eval, n->test);
    if ((test = object_condition(eval, test)) == NULL) return FLOW_ERROR;
    if (object_is_staged(test)) return eval->ops->stage_if(eval, n, test, rest);
    bool truth;
    if (!object_truth(eval, test, &truth)) return FLOW_ERROR;
    return eval_block(eval, truth ? n->body : n->orelse);
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
    return eval->ops->call_simple(eval, method, count, (Object *[]){context, none, none, none},
                                  eval->at);
}

/* What the class of the object says of the threads that run a `with` over it; NULL: nothing. */
static Object *threads_of(Eval *eval, Object *context, const char *text)
{
    bool found = false;
    Name name = intern_text(eval->session->names, text);
    if (context->kind != OBJECT_INSTANCE || class_find(context->as.instance->class, name) == NULL)
        return NULL;
    Object *range = attribute_find(eval, context, name, eval->at, &found);
    return found ? range : NULL;
}

/* The __exit__ that hears of exceptions: not in a kernel, where contexts open launches and loops. A
 * generator may stop in the body. */
static Object *host_guard(Eval *eval, Object *context)
{
    Object *method = special_method(eval, context, "__exit__");
    const bool hears = eval->staging == NULL && eval->frame->generator == NULL;
    return hears && method != NULL && method->kind == OBJECT_FUNCTION ? method : NULL;
}

/* `with ... as (x,)`, where the class of the object says that what it gives is one of itself. */
static bool unpacks_one(const Object *context, const Node *target)
{
    if (target == NULL || context->kind != OBJECT_INSTANCE) return false;
    const Nodes *parts = target->kind == NODE_Tuple  ? &NODE_AS(Tuple, target)->elts
                         : target->kind == NODE_List ? &NODE_AS(List, target)->elts
                                                     : NULL;
    return parts != NULL && parts->count == 1 &&
           class_says(context->as.instance->class, "__unpacks_one__");
}

/* `with While(condition):`, where the class says that it repeats what stands in it. */
static bool repeats(const Object *context, const Nodewithitem *item)
{
    return context->kind == OBJECT_INSTANCE && item->context_expr->kind == NODE_Call &&
           NODE_AS(Call, item->context_expr)->args.count == 1 &&
           class_says(context->as.instance->class, "__repeats__");
}

static Flow run_repeated(Eval *eval, const NodeWith *node, const Nodewithitem *item)
{
    NodeWhile *loop = arena_new_of(eval->arena, NodeWhile);
    *loop = (NodeWhile){.base = node->base,
                        .test = NODE_AS(Call, item->context_expr)->args.items[0],
                        .body = node->body};
    loop->base.kind = NODE_While;
    return eval_statement(eval, &loop->base);
}

/* `with If(condition):`, where the class says that of what stands in it, `with Then():` and
 * `with Else():`, which say so, too, one is run. */
static bool branches(const Object *context, const Nodewithitem *item)
{
    return context->kind == OBJECT_INSTANCE && item->context_expr->kind == NODE_Call &&
           NODE_AS(Call, item->context_expr)->args.count == 1 &&
           class_says(context->as.instance->class, "__branches__");
}

/* Which side of `choice` the context is; NULL: reported. */
static Nodes *side_of(Eval *eval, NodeIf *choice, const Nodewithitem *item)
{
    const Object *context = eval->ops->eval_expr(eval, item->context_expr);
    if (context == NULL) return NULL;
    if (context->kind == OBJECT_INSTANCE) {
        if (class_says(context->as.instance->class, "__then__")) return &choice->body;
        if (class_says(context->as.instance->class, "__else__")) return &choice->orelse;
    }
    return FAIL(eval, misplaced, eval_move_to(eval, item->context_expr), "a statement",
                "the two branches of this with statement");
}

static Flow run_branches(Eval *eval, const NodeWith *node, uint32_t index)
{
    const Nodewithitem *item = NODE_AS(withitem, node->items.items[index]);
    NodeIf *choice = arena_new_of(eval->arena, NodeIf);
    *choice =
        (NodeIf){.base = node->base, .test = NODE_AS(Call, item->context_expr)->args.items[0]};
    choice->base.kind = NODE_If;
    if (index + 2 == node->items.count) { /* with If(condition), Then(): */
        Nodes *side = side_of(eval, choice, NODE_AS(withitem, node->items.items[index + 1]));
        if (side == NULL) return FLOW_ERROR;
        *side = node->body;
        return eval_statement(eval, &choice->base);
    }
    for (uint32_t i = 0; i < node->body.count; i++) {
        const Node *statement = node->body.items[i];
        const bool is_side =
            statement->kind == NODE_With && NODE_AS(With, statement)->items.count == 1;
        if (!is_side) {
            FAIL(eval, misplaced, statement->span, "a statement",
                 "the two branches of this with statement");
            return FLOW_ERROR;
        }
        const NodeWith *with = NODE_AS(With, statement);
        Nodes *side = side_of(eval, choice, NODE_AS(withitem, with->items.items[0]));
        if (side == NULL) return FLOW_ERROR;
        *side = with->body;
    }
    return eval_statement(eval, &choice->base);
}

typedef struct NumberUse {
    Name name;
    bool found, bound; /* the text may bind it to something else */
} NumberUse;

static bool names(const Node *node, Name name)
{
    return node != NULL && node->kind == NODE_Name && NODE_AS(Name, node)->id == name;
}

/* Whether the name is an operand, or an index, of something. */
static void find_number_use(void *context, const Node *node)
{
    NumberUse *use = context;
    if (node->kind == NODE_BinOp)
        use->found |= names(NODE_AS(BinOp, node)->left, use->name) ||
                      names(NODE_AS(BinOp, node)->right, use->name);
    if (node->kind == NODE_UnaryOp) use->found |= names(NODE_AS(UnaryOp, node)->operand, use->name);
    if (node->kind == NODE_Subscript) {
        const Node *index = NODE_AS(Subscript, node)->slice;
        use->found |= names(index, use->name);
        for (uint32_t i = 0; index->kind == NODE_Tuple && i < NODE_AS(Tuple, index)->elts.count;
             i++)
            use->found |= names(NODE_AS(Tuple, index)->elts.items[i], use->name);
    }
    if (!use->found) node_visit_children(node, find_number_use, use);
}

static void take_binding(void *context, Name name)
{
    NumberUse *use = context;
    use->bound |= name == use->name;
}

/* `with ... as bx`, where several are given, one a dimension, and the text takes it for a number.
 */
static bool is_one_for_all(Eval *eval, const NodeWith *node, const Object *context,
                           const Node *target, const Object *entered)
{
    if (target == NULL || target->kind != NODE_Name || entered->kind != OBJECT_TUPLE ||
        context->kind != OBJECT_INSTANCE ||
        !class_says(context->as.instance->class, "__unpacks_one__"))
        return false;
    NumberUse use = {.name = NODE_AS(Name, target)->id};
    for (uint32_t i = 0; i < node->body.count; i++) {
        find_number_use(&use, node->body.items[i]);
        names_bound(eval, node->body.items[i], take_binding, &use);
    }
    if (!use.found || use.bound) return false;
    FAIL(eval, one_for_all, target->span, use.name, entered->as.list.count);
    if (entered->as.list.count > 2)
        diag_hint(eval->session->diags, "name each of them: as (bx, by, bz%s)",
                  entered->as.list.count > 3 ? ", ..." : "");
    return true;
}

/* Whether the context is all that a kernel does, as its class says. */
static bool ends_exits(const Object *context)
{
    return context->kind == OBJECT_INSTANCE &&
           class_says(context->as.instance->class, "__ends_exits__");
}

static Flow run_with_item(Eval *eval, const NodeWith *node, uint32_t index)
{
    if (index == node->items.count) return eval_block(eval, node->body);
    const Nodewithitem *item = NODE_AS(withitem, node->items.items[index]);
    Object *context = eval->ops->eval_expr(eval, item->context_expr);
    eval_move_to(eval, item->context_expr);
    if (context != NULL && index + 1 == node->items.count && repeats(context, item))
        return run_repeated(eval, node, item);
    if (context != NULL && index + 2 >= node->items.count && branches(context, item))
        return run_branches(eval, node, index);
    const Object *threads = context != NULL ? threads_of(eval, context, "__threads__") : NULL;
    if (threads != NULL && item->optional_vars == NULL)
        return eval->ops->stage_group(eval, threads, run_with_item, node, index + 1);
    Object *entered = context != NULL ? call_context(eval, context, "__enter__", 1) : NULL;
    if (entered != NULL && unpacks_one(context, item->optional_vars) &&
        !object_is_sequence(entered))
        entered = object_list(eval, OBJECT_TUPLE, &entered, 1);
    if (entered == NULL || is_one_for_all(eval, node, context, item->optional_vars, entered) ||
        (item->optional_vars != NULL && !assign_target(eval, item->optional_vars, entered)))
        return FLOW_ERROR;
    Object *guard = host_guard(eval, context);
    if (guard != NULL) return guard_context(eval, run_with_item, node, index + 1, context, guard);
    Object *inside = threads_of(eval, context, "__inside__");
    Flow flow = inside != NULL
                    ? eval->ops->stage_guarded(eval, inside, run_with_item, node, index + 1)
                    : run_with_item(eval, node, index + 1);
    if (flow == FLOW_ERROR && eval->attempt == NULL) return flow;
    eval_move_to(eval, item->context_expr);
    if (ends_exits(context)) flow = eval->ops->end_exits(eval, flow);
    return call_context(eval, context, "__exit__", 4) != NULL ? flow : FLOW_ERROR;
}

static Flow run_with(Eval *eval, const Node *node)
{
    return run_with_item(eval, NODE_AS(With, node), 0);
}

/* ---- definitions ---- */

static Object *decorate_once(Eval *eval, const Node *node, Object *object)
{
    Object *decorator = eval->ops->eval_expr(eval, node);
    return decorator != NULL
               ? eval->ops->call_simple(eval, decorator, 1, &object, eval_move_to(eval, node))
               : NULL;
}

static Object *decorate(Eval *eval, Nodes decorators, Object *object)
{
    for (uint32_t i = decorators.count; object != NULL && i-- > 0;) {
        Object *decorated = decorate_once(eval, decorators.items[i], object);
        object = decorated == NULL && survey_keeps(eval, object) ? object : decorated;
    }
    return object;
}

static Flow run_functiondef(Eval *eval, const Node *node)
{
    const NodeFunctionDef *n = NODE_AS(FunctionDef, node);
    Scope *scope = eval->frame->scope;
    Object *object = function_new(eval, node, n->name, NODE_AS(arguments, n->args));
    if (object == NULL) return FLOW_ERROR;
    object->as.function.yields = node_yields(node);
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
    eval_move_to(eval, node);
    return eval_import(eval, NODE_AS(Import, node));
}

static Flow run_import_from(Eval *eval, const Node *node)
{
    eval_move_to(eval, node);
    return eval_import_from(eval, NODE_AS(ImportFrom, node));
}

/* ---- dispatch ---- */

typedef Flow Runner(Eval *, const Node *);

/* Statements of which run-time control may decide how they go on. */
#define ASK(name)                                                                                  \
    static Flow ask_##name(Eval *eval, const Node *node)                                           \
    {                                                                                              \
        return eval->ops->run_##name(eval, node);                                                  \
    }
ASK(for)
ASK(while)
ASK(return )
ASK(break)
ASK(continue)
#undef ASK

static Runner *const RUNNERS[NODE_COUNT] = {
    [NODE_Expr] = run_expr,
    [NODE_Pass] = run_pass,
    [NODE_Assign] = run_assign,
    [NODE_AnnAssign] = run_annassign,
    [NODE_AugAssign] = run_augassign,
    [NODE_Return] = ask_return,
    [NODE_Break] = ask_break,
    [NODE_Continue] = ask_continue,
    [NODE_Delete] = run_delete,
    [NODE_Global] = run_global,
    [NODE_Nonlocal] = run_nonlocal,
    [NODE_Raise] = run_raise,
    [NODE_Assert] = run_assert,
    [NODE_For] = ask_for,
    [NODE_While] = ask_while,
    [NODE_With] = run_with,
    [NODE_Try] = run_try,
    [NODE_Match] = run_match,
    [NODE_TypeAlias] = run_type_alias,
    [NODE_FunctionDef] = run_functiondef,
    [NODE_ClassDef] = run_classdef,
    [NODE_Import] = run_import,
    [NODE_ImportFrom] = run_import_from,
};

static Flow run_statement(Eval *eval, const Node *statement, Rest *rest)
{
    bool branches = statement->kind == NODE_If;
    if (!branches && RUNNERS[statement->kind] == NULL) {
        FAIL(eval, unsupported, eval_move_to(eval, statement), kind_text(eval, statement->kind));
        return FLOW_ERROR;
    }
    if (!eval_may_nest(eval, statement->span)) return FLOW_ERROR;
    const bool of_module = eval->made != NULL && eval->frame->scope->kind == SCOPE_STATEMENT;
    if (of_module) eval->needed_missing = NULL;
    eval->depth++;
    Flow flow =
        branches ? run_if(eval, statement, rest) : RUNNERS[statement->kind](eval, statement);
    eval->depth--;
    return of_module ? eval->ops->made_by_statement(eval, statement, flow) : flow;
}

Flow eval_statement(Eval *eval, const Node *statement)
{
    return run_statement(eval, statement, NULL);
}

static void poison_name(void *context, Name name)
{
    Eval *eval = context;
    Binding *binding = bindings_make(eval, &eval->frame->scope->bindings, name);
    eval->ops->binding_put(eval, binding, eval->poison, eval->at);
}

static Flow run_rest(Eval *eval, void *context)
{
    return eval_rest(eval, context);
}

/* In a kernel's own function the statements behind a wrong one are looked at all the same, but
 * those behind a failed assertion or import, as they rely on it. A parallel loop that is evaluated
 * again, in another form, ends here and is not wrong. */
static bool goes_on(Eval *eval, const Node *statement)
{
    const bool is_relied_on = statement->kind == NODE_Assert || statement->kind == NODE_Import ||
                              statement->kind == NODE_ImportFrom;
    if (is_relied_on || eval->staging == NULL || eval->staging->frame != eval->frame ||
        eval->quiet > 0 || (eval->parallel != NULL && eval->parallel->again))
        return false;
    eval->staging->failures++;
    names_bound(eval, statement, poison_name, eval);
    return true;
}

Flow eval_rest(Eval *eval, Rest *rest)
{
    Nodes statements = rest->statements;
    for (uint32_t i = rest->index; i < statements.count; i++) {
        Rest next = {statements, i + 1, false};
        Flow flow = run_statement(eval, statements.items[i], &next);
        if (flow == FLOW_ERROR && is_surveyed(eval)) flow = survey_left(eval, statements.items[i]);
        if (eval->frame->exits != NULL)
            flow = eval->ops->stage_exits(eval, statements.items[i], flow, &next);
        if (flow == FLOW_ERROR && goes_on(eval, statements.items[i])) {
            if (next.taken) return FLOW_NEXT;
            continue;
        }
        if (next.taken) return flow;
        if (flow == FLOW_MAYBE && i + 1 < statements.count)
            return eval->ops->stage_rest(eval, run_rest, &next);
        if (flow != FLOW_NEXT) return flow;
    }
    return FLOW_NEXT;
}

Flow eval_block(Eval *eval, Nodes statements)
{
    Rest rest = {statements, 0, false};
    return eval_rest(eval, &rest);
}
