/* custom.c: gradients of the author's: the ops around them, and functions that are written as Warp
 * has them, with adjoint[x] for the adjoint of a parameter x. */
#include "eval/surface/surface.h"

#include <string.h>

/* ---- ops ---- */

Object *core_custom_begin(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    build_op(&eval->builder, OP_custom_begin, 0, NULL, 0, NULL);
    return eval->none;
}

Object *core_adjoint_of(Eval *eval, const Bound *bound)
{
    Value *value = stage_operand(eval, bound->values[0], bound->at);
    if (value == NULL) return NULL;
    return object_ir(eval,
                     build_op(&eval->builder, OP_adjoint_of, 1, &value, 1, &value->type)->results);
}

/* A number, or another one of the type's shape, in its type. */
static Value *operand_like(Eval *eval, Object *given, const Type *type, Span at)
{
    Value *value = stage_operand(eval, given, at);
    if (value == NULL) return NULL;
    value = stage_cast(eval, value, type->dtype);
    if (value->type == type || value->type->kind != TYPE_SCALAR) return value;
    return build_op(&eval->builder, OP_splat, 1, &value, 1, &type)->results;
}

static bool take_results(Eval *eval, const Object *results, Span at, Value **out,
                         const Type **types)
{
    for (uint32_t i = 0; i < results->as.list.count; i++) {
        if ((out[i] = stage_operand(eval, results->as.list.items[i], at)) == NULL) return false;
        types[i] = out[i]->type;
    }
    return true;
}

static bool take_pairs(Eval *eval, const Object *pairs, Span at, Value **out)
{
    for (uint32_t i = 0; i + 1 < pairs->as.list.count; i += 2) {
        if ((out[i] = stage_operand(eval, pairs->as.list.items[i], at)) == NULL) return false;
        out[i + 1] = operand_like(eval, pairs->as.list.items[i + 1], out[i]->type, at);
        if (out[i + 1] == NULL) return false;
        if (out[i + 1]->type != out[i]->type)
            return FAIL(eval, expected_kind, at, "an adjoint", "of the shape of what it is for",
                        object_repr(eval, pairs->as.list.items[i + 1])) != NULL;
    }
    return true;
}

Object *core_custom(Eval *eval, const Bound *bound)
{
    const Object *results = bound->values[0], *pairs = bound->values[1];
    if (!object_is_sequence(results) || !object_is_sequence(pairs))
        return FAIL(eval, call_arguments, bound->at, "custom() takes two lists");
    const uint32_t count = results->as.list.count, more = pairs->as.list.count / 2 * 2;
    Value **operands = arena_new_array(eval->arena, Value *, count + more + 1);
    const Type **types = arena_new_array(eval->arena, const Type *, count + 1);
    if (!take_results(eval, results, bound->at, operands, types) ||
        !take_pairs(eval, pairs, bound->at, operands + count))
        return NULL;
    Op *op = build_op(&eval->builder, OP_custom, (int)(count + more), operands, (int)count, types);
    op_set_int(op, ATTR_count, count);
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = 0; i < count; i++) list_append(eval, list, object_ir(eval, &op->results[i]));
    return list;
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

/* Behind the function, before another one of its name. A module is evaluated where names of it are
 * asked for, so that nobody runs the decorator. */
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
        if (def->name == function->name) is_behind = body.items[i] == function->node;
        if (!is_behind || !has_decorator(def, name, function->name)) continue;
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

static Node *name_adjoint(void *context, Node *node)
{
    Adjoints *adjoints = context;
    if (node->kind == NODE_Subscript) {
        const NodeSubscript *subscript = NODE_AS(Subscript, node);
        if (is_name(subscript->value, adjoints->adjoint) && subscript->slice->kind == NODE_Name)
            return name_node(adjoints->eval,
                             adjoint_name(adjoints->eval, NODE_AS(Name, subscript->slice)->id),
                             node->span);
    }
    node_replace(node, name_adjoint, adjoints);
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
    Adjoints adjoints = {eval, intern_text(eval->session->names, "adjoint")};
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
