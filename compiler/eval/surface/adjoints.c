/* adjoints.c: what the author says of a function's gradient: what is replayed of it, and functions
 * that are written as Warp has them, with adjoint[x] for the adjoint of a parameter x. */
#include "eval/surface/surface.h"

#include <string.h>

/* ---- what is replayed ---- */

/* A number, or another one of the type's shape, in its type. */
static Value *operand_like(Eval *eval, Object *given, const Type *type, Span at)
{
    Value *value = stage_operand(eval, given, at);
    if (value == NULL) return NULL;
    value = stage_cast(eval, value, type->dtype);
    if (value->type == type || value->type->kind != TYPE_SCALAR) return value;
    return build_op(&eval->builder, OP_splat, 1, &value, 1, &type)->results;
}

Object *core_replayed(Eval *eval, const Bound *bound)
{
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    Value *other =
        value != NULL ? operand_like(eval, bound->values[1], value->type, bound->at) : NULL;
    if (other == NULL) return NULL;
    if (other->type != value->type)
        return FAIL(eval, expected_kind, bound->at, "what is replayed", "of the shape of the other",
                    object_repr(eval, bound->values[1]));
    return object_ir(eval, build2(&eval->builder, OP_replayed, value, other));
}

/* ---- memory of adjoints ---- */

Object *core_adjoint_view(Eval *eval, const Bound *bound)
{
    const Type *type = argument_type(bound->values[0]);
    Value *view =
        type != NULL && type->kind == TYPE_VIEW ? stage_value(eval, bound->values[0]) : NULL;
    if (view == NULL || view->op == NULL || view->op->code != OP_view)
        return FAIL(eval, expected_kind, bound->at, "what has adjoints in memory", "a view",
                    object_repr(eval, bound->values[0]));
    Value *pointer = operand(view->op, pointer), *const *extents = operand_list(view->op, extents);
    const int rank = view->type->rank;
    pointer = core_build(eval, OP_adjoint_pointer, 1, &pointer, pointer->type);
    return object_ir(eval, build_view(&eval->builder, pointer, rank, extents, extents + rank));
}

/* ---- functions that belong to another one ---- */

static bool is_name(const Node *node, Name name)
{
    return (node->kind == NODE_Name && NODE_AS(Name, node)->id == name) ||
           (node->kind == NODE_Attribute && NODE_AS(Attribute, node)->attr == name);
}

/* @name(function) */
static bool has_decorator(const NodeFunctionDef *def, Name name, Name function)
{
    for (uint32_t i = 0; i < def->decorator_list.count; i++) {
        if (def->decorator_list.items[i]->kind != NODE_Call) continue;
        const NodeCall *call = NODE_AS(Call, def->decorator_list.items[i]);
        const Node *given = call->args.count == 1 ? call->args.items[0] : NULL;
        if (is_name(call->func, name) && given != NULL && given->kind == NODE_Name &&
            NODE_AS(Name, given)->id == function)
            return true;
    }
    return false;
}

static Name type_name_of(const Node *parameter)
{
    const Node *annotation = NODE_AS(arg, parameter)->annotation;
    if (annotation == NULL) return NULL;
    if (annotation->kind == NODE_Attribute) return NODE_AS(Attribute, annotation)->attr;
    return annotation->kind == NODE_Name ? NODE_AS(Name, annotation)->id : NULL;
}

/* Of functions of one name it is that with the same parameters in front, as far as names say. */
static bool has_parameters_of(const NodeFunctionDef *def, const Node *node)
{
    if (node->kind != NODE_FunctionDef) return true;
    const Nodes given = NODE_AS(arguments, def->args)->args;
    const Nodes wanted = NODE_AS(arguments, NODE_AS(FunctionDef, node)->args)->args;
    if (given.count < wanted.count) return false;
    for (uint32_t i = 0; i < wanted.count; i++) {
        const Name a = type_name_of(given.items[i]), b = type_name_of(wanted.items[i]);
        if (a != NULL && b != NULL && a != b) return false;
    }
    return true;
}

/* Behind the function. A module is evaluated where names of it are asked for, so that nobody runs
 * the decorator. */
Object *core_decorated(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0], *text = bound->values[1];
    if (object->kind != OBJECT_FUNCTION || object->as.function.unit == NULL ||
        text->kind != OBJECT_TEXT)
        return eval->none;
    const Function *function = &object->as.function;
    const Name name = intern(eval->session->names, text->as.text.data, text->as.text.length);
    Nodes body = function->unit->tree->tree->body;
    bool is_behind = false;
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind != NODE_FunctionDef) continue;
        const NodeFunctionDef *def = NODE_AS(FunctionDef, body.items[i]);
        is_behind |= body.items[i] == function->node;
        if (!is_behind || !has_decorator(def, name, function->name) ||
            !has_parameters_of(def, function->node))
            continue;
        Object *found = object_new(eval, OBJECT_FUNCTION);
        found->as.function = (Function){.name = def->name,
                                        .node = body.items[i],
                                        .closure = function->closure,
                                        .attributes = function->attributes,
                                        .unit = function->unit};
        return found;
    }
    return eval->none;
}

/* ---- adjoint[x] ---- */

typedef struct Adjoints {
    Eval *eval;
    Name adjoint;
    Map aliases; /* names that were given parameters, or parts of them */
} Adjoints;

static Name adjoint_name(Eval *eval, Name name)
{
    return intern_printf(eval->session->names, "adjoint[%s]", name);
}

static Node *name_node(Eval *eval, Name name, Span span)
{
    NodeName *node = arena_new_of(eval->arena, NodeName);
    *node = (NodeName){.base = {NODE_Name, span}, .id = name};
    return &node->base;
}

/* That of a parameter, or of a part of one: x, x.part, x[i]; NULL: of none. */
static Node *adjoint_of(const Adjoints *adjoints, Node *node)
{
    Eval *eval = adjoints->eval;
    if (node->kind == NODE_Name) {
        const Name name = NODE_AS(Name, node)->id;
        Node *known = map_get(&adjoints->aliases, name);
        return known != NULL ? known : name_node(eval, adjoint_name(eval, name), node->span);
    }
    if (node->kind == NODE_Attribute) {
        NodeAttribute *copy = arena_new_of(eval->arena, NodeAttribute);
        *copy = *NODE_AS(Attribute, node);
        copy->value = adjoint_of(adjoints, copy->value);
        return copy->value != NULL ? &copy->base : NULL;
    }
    if (node->kind != NODE_Subscript) return NULL;
    NodeSubscript *copy = arena_new_of(eval->arena, NodeSubscript);
    *copy = *NODE_AS(Subscript, node);
    copy->value = adjoint_of(adjoints, copy->value);
    return copy->value != NULL ? &copy->base : NULL;
}

static bool is_path(const Node *node)
{
    while (node->kind == NODE_Attribute) node = NODE_AS(Attribute, node)->value;
    return node->kind == NODE_Name;
}

/* name = x.part: adjoint[name] is adjoint[x.part]. */
static void note_alias(Adjoints *adjoints, const Node *node)
{
    const NodeAssign *assign = NODE_AS(Assign, node);
    const Node *target = assign->targets.count == 1 ? assign->targets.items[0] : NULL;
    if (target == NULL || target->kind != NODE_Name || !is_path(assign->value)) return;
    map_set(adjoints->eval->arena, &adjoints->aliases, NODE_AS(Name, target)->id,
            adjoint_of(adjoints, assign->value));
}

static Node *name_adjoint(void *context, Node *node)
{
    Adjoints *adjoints = context;
    if (node->kind == NODE_Subscript) {
        const NodeSubscript *subscript = NODE_AS(Subscript, node);
        Node *found = is_name(subscript->value, adjoints->adjoint)
                          ? adjoint_of(adjoints, subscript->slice)
                          : NULL;
        if (found != NULL) return found;
    }
    node_replace(node, name_adjoint, adjoints);
    if (node->kind == NODE_Assign) note_alias(adjoints, node);
    return node;
}

static Node *more_parameter(Eval *eval, Name name, Span span)
{
    Nodearg *node = arena_new_of(eval->arena, Nodearg);
    *node = (Nodearg){.base = {NODE_arg, span}, .arg = adjoint_name(eval, name)};
    return &node->base;
}

/* return (adjoint[x], adjoint[y], ...) */
static Node *return_node(Eval *eval, const Nodes *parameters, Span span)
{
    NodeTuple *tuple = arena_new_of(eval->arena, NodeTuple);
    NodeReturn *node = arena_new_of(eval->arena, NodeReturn);
    *tuple = (NodeTuple){.base = {NODE_Tuple, span}, .elts.count = parameters->count};
    tuple->elts.items = arena_new_array(eval->arena, Node *, parameters->count + 1);
    for (uint32_t i = 0; i < parameters->count; i++)
        tuple->elts.items[i] =
            name_node(eval, adjoint_name(eval, NODE_AS(arg, parameters->items[i])->arg), span);
    *node = (NodeReturn){.base = {NODE_Return, span}, .value = &tuple->base};
    return &node->base;
}

/* A copy of the definition, whose body is changed in place: nobody else runs it. */
static const Node *with_adjoints(Eval *eval, const NodeFunctionDef *def)
{
    NodeFunctionDef *copy = arena_new_of(eval->arena, NodeFunctionDef);
    Nodearguments *arguments = arena_new_of(eval->arena, Nodearguments);
    Adjoints adjoints = {.eval = eval, .adjoint = intern_text(eval->session->names, "adjoint")};
    const Nodes parameters = NODE_AS(arguments, def->args)->args;
    *arguments = *NODE_AS(arguments, def->args);
    *copy = *def;
    copy->args = &arguments->base;
    arguments->args.items = arena_new_array(eval->arena, Node *, 2 * parameters.count + 1);
    memcpy(arguments->args.items, parameters.items, parameters.count * sizeof(Node *));
    for (uint32_t i = 0; i < parameters.count; i++)
        arguments->args.items[parameters.count + i] =
            more_parameter(eval, NODE_AS(arg, parameters.items[i])->arg, parameters.items[i]->span);
    arguments->args.count = 2 * parameters.count;
    for (uint32_t i = 0; i < def->body.count; i++) name_adjoint(&adjoints, def->body.items[i]);
    copy->body.items = arena_new_array(eval->arena, Node *, def->body.count + 1);
    memcpy(copy->body.items, def->body.items, def->body.count * sizeof(Node *));
    copy->body.items[copy->body.count++] = return_node(eval, &parameters, def->base.span);
    return &copy->base;
}

Object *core_adjoint_function(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    if (object->kind != OBJECT_FUNCTION || object->as.function.node->kind != NODE_FunctionDef)
        return FAIL(eval, expected_kind, bound->at, "what has adjoints of its parameters",
                    "a function", object_repr(eval, object));
    Object *made = object_new(eval, OBJECT_FUNCTION);
    made->as.function = object->as.function;
    made->as.function.node = with_adjoints(eval, NODE_AS(FunctionDef, object->as.function.node));
    return made;
}
