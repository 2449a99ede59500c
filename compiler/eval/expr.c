/* expr.c: expressions of the tree. Each kind of node has a handler; those that do not may not stand
 * where an expression is wanted. */
#include "eval/value.h"

#include <string.h>

enum { DEPTH_LIMIT = 2500 };

/* The place for what happens at this node: the user's, if library code is running. */
static Span place(Eval *eval, const Node *node)
{
    eval_move(eval, node->span);
    return eval->at;
}

/* ---- leaves ---- */

static Object *eval_name(Eval *eval, const Node *node)
{
    return name_read(eval, NODE_AS(Name, node)->id, place(eval, node));
}

static Object *eval_constant(Eval *eval, const Node *node)
{
    const Literal *literal = &NODE_AS(Constant, node)->value;
    switch (literal->kind) {
    case LITERAL_NONE: return eval->none;
    case LITERAL_TRUE: return eval->yes;
    case LITERAL_FALSE: return eval->no;
    case LITERAL_ELLIPSIS: return eval->ellipsis;
    case LITERAL_INT:
        if (literal->too_large || literal->integer > INT64_MAX)
            return FAIL(eval, bad_value, place(eval, node), "this integer does not fit in 64 bits");
        return object_int(eval, (int64_t)literal->integer);
    case LITERAL_FLOAT: return object_float(eval, literal->number);
    case LITERAL_STRING: return object_text(eval, literal->text, literal->length);
    case LITERAL_IMAGINARY:
    case LITERAL_BYTES: break;
    }
    return FAIL(eval, unsupported, place(eval, node), "this kind of literal");
}

/* ---- containers ---- */

/* Appends an element, or all of `*elements`. */
static bool append_element(Eval *eval, Object *list, const Node *node)
{
    if (node->kind != NODE_Starred) {
        Object *item = eval_expr(eval, node);
        if (item != NULL) /* A tuple's tiles are copies, so that `a, b = b, a` exchanges them. */
            list_append(eval, list,
                        list->kind == OBJECT_TUPLE ? object_hold(eval, item)
                                                   : object_keep(eval, item));
        return item != NULL;
    }
    Object *value = eval_expr(eval, NODE_AS(Starred, node)->value);
    Object *items = value != NULL ? iterate(eval, value, place(eval, node)) : NULL;
    for (uint32_t i = 0; items != NULL && i < items->as.list.count; i++)
        list_append(eval, list, items->as.list.items[i]);
    return items != NULL;
}

static Object *eval_elements(Eval *eval, ObjectKind kind, Nodes elements)
{
    Object *list = object_list(eval, kind, NULL, 0);
    for (uint32_t i = 0; i < elements.count; i++)
        if (!append_element(eval, list, elements.items[i])) return NULL;
    return list;
}

static Object *eval_tuple(Eval *eval, const Node *node)
{
    return eval_elements(eval, OBJECT_TUPLE, NODE_AS(Tuple, node)->elts);
}

static Object *eval_list(Eval *eval, const Node *node)
{
    return eval_elements(eval, OBJECT_LIST, NODE_AS(List, node)->elts);
}

static Object *set_of(Eval *eval, const Object *items)
{
    if (items == NULL) return NULL;
    Object *set = set_new(eval);
    for (uint32_t i = 0; i < items->as.list.count; i++)
        dict_set(eval, set, items->as.list.items[i], items->as.list.items[i]);
    return set;
}

static Object *eval_set(Eval *eval, const Node *node)
{
    return set_of(eval, eval_elements(eval, OBJECT_LIST, NODE_AS(Set, node)->elts));
}

static bool spread_dict(Eval *eval, Object *dict, const Node *node)
{
    Object *other = eval_expr(eval, node);
    if (other == NULL) return false;
    if (other->kind != OBJECT_DICT) {
        FAIL(eval, expected_kind, place(eval, node), "what ** spreads", "a dict",
             object_kind_name(other));
        return false;
    }
    for (size_t i = 0; i < other->as.dict.keys.count; i++)
        dict_set(eval, dict, other->as.dict.keys.data[i], other->as.dict.values.data[i]);
    return true;
}

static Object *new_dict(Eval *eval)
{
    Object *dict = object_new(eval, OBJECT_DICT);
    dict->as.dict.control = (uint32_t)eval->control;
    return dict;
}

static Object *eval_dict(Eval *eval, const Node *node)
{
    const NodeDict *n = NODE_AS(Dict, node);
    Object *dict = new_dict(eval);
    for (uint32_t i = 0; i < n->keys.count; i++) {
        if (n->keys.items[i] == NULL) {
            if (!spread_dict(eval, dict, n->values.items[i])) return NULL;
            continue;
        }
        Object *key = eval_expr(eval, n->keys.items[i]);
        Object *value = key != NULL ? eval_expr(eval, n->values.items[i]) : NULL;
        if (value == NULL) return NULL;
        dict_set(eval, dict, key, object_keep(eval, value));
    }
    return dict;
}

/* ---- operators ---- */

static Object *eval_binop(Eval *eval, const Node *node)
{
    const NodeBinOp *n = NODE_AS(BinOp, node);
    Object *left = eval_expr(eval, n->left);
    Object *right = left != NULL ? eval_expr(eval, n->right) : NULL;
    return right != NULL ? operate_binary(eval, n->op, left, right, place(eval, node)) : NULL;
}

static Object *eval_unaryop(Eval *eval, const Node *node)
{
    const NodeUnaryOp *n = NODE_AS(UnaryOp, node);
    Object *operand = eval_expr(eval, n->operand);
    return operand != NULL ? operate_unary(eval, n->op, operand, place(eval, node)) : NULL;
}

static Object *stage_logic(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    Value *a = stage_condition(eval, left, at);
    Value *b = a != NULL ? stage_condition(eval, right, at) : NULL;
    if (b == NULL) return NULL;
    return object_ir(eval, build2(&eval->builder, op == OPERATOR_And ? OP_and : OP_or, a, b));
}

/* Operands known now decide as in Python; both sides of a run-time one are evaluated. */
static Object *eval_boolop(Eval *eval, const Node *node)
{
    const NodeBoolOp *n = NODE_AS(BoolOp, node);
    Object *result = eval_expr(eval, n->values.items[0]);
    for (uint32_t i = 1; result != NULL && i < n->values.count; i++) {
        bool truth;
        if (!object_is_staged(result)) {
            if (!object_truth(eval, result, &truth)) return NULL;
            if (truth != (n->op == OPERATOR_And)) return result;
            result = eval_expr(eval, n->values.items[i]);
            continue;
        }
        Object *right = eval_expr(eval, n->values.items[i]);
        if (right == NULL) return NULL;
        result = stage_logic(eval, n->op, result, right, place(eval, node));
    }
    return result;
}

static Object *eval_compare(Eval *eval, const Node *node)
{
    const NodeCompare *n = NODE_AS(Compare, node);
    Object *left = eval_expr(eval, n->left), *result = NULL;
    for (uint32_t i = 0; i < n->ops.count; i++) {
        Object *right = left != NULL ? eval_expr(eval, n->comparators.items[i]) : NULL;
        Span at = place(eval, node);
        Object *link =
            right != NULL ? operate_compare(eval, n->ops.items[i], left, right, at) : NULL;
        if (link == NULL) return NULL;
        bool known = link->kind == OBJECT_BOOL;
        if (known && !link->as.integer) return link;
        result = result == NULL || result->kind == OBJECT_BOOL ? link
                 : known                                       ? result
                         : stage_logic(eval, OPERATOR_And, result, link, at);
        if (result == NULL) return NULL;
        left = right;
    }
    return result;
}

static Object *eval_ifexp(Eval *eval, const Node *node)
{
    const NodeIfExp *n = NODE_AS(IfExp, node);
    Object *test = eval_expr(eval, n->test);
    if (test == NULL) return NULL;
    if (object_is_staged(test)) {
        Value *condition = stage_condition(eval, test, place(eval, n->test));
        return condition != NULL ? stage_choice(eval, n, condition) : NULL;
    }
    bool truth;
    if (!object_truth(eval, test, &truth)) return NULL;
    return eval_expr(eval, truth ? n->body : n->orelse);
}

static Object *eval_named(Eval *eval, const Node *node)
{
    const NodeNamedExpr *n = NODE_AS(NamedExpr, node);
    Object *value = eval_expr(eval, n->value);
    return value != NULL && assign_target(eval, n->target, value) ? value : NULL;
}

/* ---- calls, attributes ---- */

static bool eval_keyword(Eval *eval, const Node *node, Arguments *arguments)
{
    const Nodekeyword *keyword = NODE_AS(keyword, node);
    Object *value = eval_expr(eval, keyword->value);
    if (value == NULL) return false;
    if (keyword->arg != NULL) {
        vec_push(eval->arena, &arguments->names, keyword->arg);
        vec_push(eval->arena, &arguments->named, value);
        return true;
    }
    if (value->kind != OBJECT_DICT) {
        FAIL(eval, expected_kind, place(eval, node), "what ** spreads", "a dict",
             object_kind_name(value));
        return false;
    }
    for (size_t i = 0; i < value->as.dict.keys.count; i++) {
        const Object *key = value->as.dict.keys.data[i];
        if (key->kind != OBJECT_TEXT) {
            FAIL(eval, expected_kind, place(eval, node), "the name of an argument", "a str",
                 object_kind_name(key));
            return false;
        }
        vec_push(eval->arena, &arguments->names,
                 intern(eval->session->names, key->as.text.data, key->as.text.length));
        vec_push(eval->arena, &arguments->named, value->as.dict.values.data[i]);
    }
    return true;
}

static bool eval_argument(Eval *eval, const Node *node, Arguments *arguments)
{
    if (node->kind != NODE_Starred) {
        Object *value = eval_expr(eval, node);
        if (value != NULL) vec_push(eval->arena, &arguments->positional, value);
        return value != NULL;
    }
    Object *value = eval_expr(eval, NODE_AS(Starred, node)->value);
    Object *items = value != NULL ? iterate(eval, value, place(eval, node)) : NULL;
    for (uint32_t i = 0; items != NULL && i < items->as.list.count; i++)
        vec_push(eval->arena, &arguments->positional, items->as.list.items[i]);
    return items != NULL;
}

static Object *eval_call(Eval *eval, const Node *node)
{
    const NodeCall *n = NODE_AS(Call, node);
    Object *callee = eval_expr(eval, n->func);
    if (callee == NULL) return NULL;
    Arguments arguments = {0};
    for (uint32_t i = 0; i < n->args.count; i++)
        if (!eval_argument(eval, n->args.items[i], &arguments)) return NULL;
    for (uint32_t i = 0; i < n->keywords.count; i++)
        if (!eval_keyword(eval, n->keywords.items[i], &arguments)) return NULL;
    arguments.at = place(eval, node);
    return call_object(eval, callee, &arguments);
}

static Object *eval_attribute(Eval *eval, const Node *node)
{
    const NodeAttribute *n = NODE_AS(Attribute, node);
    Object *object = eval_expr(eval, n->value);
    return object != NULL ? attribute_get(eval, object, n->attr, place(eval, node)) : NULL;
}

static Object *eval_slice(Eval *eval, const Node *node)
{
    const NodeSlice *n = NODE_AS(Slice, node);
    const Node *parts[3] = {n->lower, n->upper, n->step};
    Object *values[3] = {NULL, NULL, NULL};
    for (int i = 0; i < 3; i++) {
        if (parts[i] == NULL) continue;
        values[i] = eval_expr(eval, parts[i]);
        if (values[i] == NULL) return NULL;
        if (values[i]->kind == OBJECT_NONE) values[i] = NULL;
    }
    Object *slice = object_new(eval, OBJECT_SLICE);
    slice->as.range.start = values[0];
    slice->as.range.stop = values[1];
    slice->as.range.step = values[2];
    return slice;
}

static Object *eval_subscript(Eval *eval, const Node *node)
{
    const NodeSubscript *n = NODE_AS(Subscript, node);
    Object *object = eval_expr(eval, n->value);
    Object *index = object != NULL ? eval_expr(eval, n->slice) : NULL;
    return index != NULL ? item_get(eval, object, index, place(eval, node)) : NULL;
}

/* ---- functions and comprehensions ---- */

static Object *eval_lambda(Eval *eval, const Node *node)
{
    const Nodearguments *parameters = NODE_AS(arguments, NODE_AS(Lambda, node)->args);
    Object *object = object_new(eval, OBJECT_FUNCTION);
    Function *function = &object->as.function;
    *function = (Function){.name = intern_text(eval->session->names, "<lambda>"),
                           .node = node,
                           .closure = scope_for_closure(eval->frame->scope),
                           .unit = eval->frame->scope->unit};
    function->defaults = arena_new_array(eval->arena, Object *, parameters->defaults.count);
    function->kw_defaults = arena_new_array(eval->arena, Object *, parameters->kwonlyargs.count);
    for (uint32_t i = 0; i < parameters->defaults.count; i++)
        if ((function->defaults[i] = eval_expr(eval, parameters->defaults.items[i])) == NULL)
            return NULL;
    for (uint32_t i = 0; i < parameters->kw_defaults.count; i++)
        if (parameters->kw_defaults.items[i] != NULL &&
            (function->kw_defaults[i] = eval_expr(eval, parameters->kw_defaults.items[i])) == NULL)
            return NULL;
    return object;
}

typedef struct Comprehension {
    Nodes generators;
    const Node *key, *value; /* key: of a dict */
    Object *result;
} Comprehension;

static bool comprehend(Eval *eval, const Comprehension *c, uint32_t level);

static bool comprehend_item(Eval *eval, const Comprehension *c, const Nodecomprehension *generator,
                            uint32_t level)
{
    for (uint32_t i = 0; i < generator->ifs.count; i++) {
        Object *test = eval_expr(eval, generator->ifs.items[i]);
        bool truth;
        if (test == NULL || !object_truth(eval, test, &truth)) return false;
        if (!truth) return true;
    }
    if (level + 1 < c->generators.count) return comprehend(eval, c, level + 1);
    Object *key = c->key != NULL ? eval_expr(eval, c->key) : NULL;
    if (c->key != NULL && key == NULL) return false;
    Object *value = eval_expr(eval, c->value);
    if (value == NULL) return false;
    if (c->key != NULL)
        dict_set(eval, c->result, key, object_keep(eval, value));
    else
        list_append(eval, c->result, object_keep(eval, value));
    return true;
}

static bool comprehend(Eval *eval, const Comprehension *c, uint32_t level)
{
    const Nodecomprehension *generator = NODE_AS(comprehension, c->generators.items[level]);
    Object *iterable = eval_expr(eval, generator->iter);
    Object *items = iterable != NULL ? iterate(eval, iterable, place(eval, generator->iter)) : NULL;
    if (items == NULL) return false;
    for (uint32_t i = 0; i < items->as.list.count; i++) {
        if (!eval_step(eval, eval->at) ||
            !assign_target(eval, generator->target, items->as.list.items[i]) ||
            !comprehend_item(eval, c, generator, level))
            return false;
    }
    return true;
}

static Object *run_comprehension(Eval *eval, Nodes generators, const Node *key, const Node *value)
{
    Scope *outer = eval->frame->scope;
    Scope *closure = outer->kind == SCOPE_CLASS ? outer->parent : outer;
    Comprehension c = {generators, key, value,
                       key != NULL ? new_dict(eval) : object_list(eval, OBJECT_LIST, NULL, 0)};
    eval->frame->scope = scope_new(eval, SCOPE_INNER, closure, outer->unit);
    eval->frame->scope->host_names = outer->host_names;
    bool good = comprehend(eval, &c, 0);
    eval->frame->scope = outer;
    return good ? c.result : NULL;
}

static Object *eval_listcomp(Eval *eval, const Node *node)
{
    return run_comprehension(eval, NODE_AS(ListComp, node)->generators, NULL,
                             NODE_AS(ListComp, node)->elt);
}

/* Its items are made at once. */
static Object *eval_generator(Eval *eval, const Node *node)
{
    return iterator_new(eval, run_comprehension(eval, NODE_AS(GeneratorExp, node)->generators, NULL,
                                                NODE_AS(GeneratorExp, node)->elt));
}

static Object *eval_setcomp(Eval *eval, const Node *node)
{
    return set_of(eval, run_comprehension(eval, NODE_AS(SetComp, node)->generators, NULL,
                                          NODE_AS(SetComp, node)->elt));
}

/* ---- generators: what they give is collected, once they are called ---- */

static Object *yield_items(Eval *eval, const Node *node, Object *const *items, uint32_t count)
{
    Object *yields = eval->frame->yields;
    if (yields == NULL) return FAIL(eval, unsupported, place(eval, node), "'yield' here");
    if (!eval_step(eval, place(eval, node)) || !list_may_change(eval, yields, eval->at))
        return NULL;
    for (uint32_t i = 0; i < count; i++) list_append(eval, yields, object_keep(eval, items[i]));
    return eval->none;
}

static Object *eval_yield(Eval *eval, const Node *node)
{
    const NodeYield *n = NODE_AS(Yield, node);
    Object *value = n->value != NULL ? eval_expr(eval, n->value) : eval->none;
    return value != NULL ? yield_items(eval, node, &value, 1) : NULL;
}

static Object *eval_yield_from(Eval *eval, const Node *node)
{
    Object *value = eval_expr(eval, NODE_AS(YieldFrom, node)->value);
    Object *items = value != NULL ? iterate(eval, value, place(eval, node)) : NULL;
    return items != NULL ? yield_items(eval, node, items->as.list.items, items->as.list.count)
                         : NULL;
}

static Object *eval_dictcomp(Eval *eval, const Node *node)
{
    const NodeDictComp *n = NODE_AS(DictComp, node);
    return run_comprehension(eval, n->generators, n->key, n->value);
}

/* ---- f-strings ---- */

static bool format_value(Eval *eval, const NodeFormattedValue *node, Buf *out)
{
    Object *value = eval_expr(eval, node->value);
    Object *spec =
        value != NULL && node->format_spec != NULL ? eval_expr(eval, node->format_spec) : NULL;
    if (value == NULL || (node->format_spec != NULL && spec == NULL)) return false;
    if (node->conversion == 'r' || node->conversion == 'a') {
        const char *text = object_repr(eval, value);
        value = object_text(eval, text, strlen(text));
    }
    Object *text = format_object(eval, value, spec != NULL ? spec->as.text.data : "", eval->at);
    if (text != NULL) buf_bytes(out, text->as.text.data, text->as.text.length);
    return text != NULL;
}

static Object *eval_joined(Eval *eval, const Node *node)
{
    Nodes values = NODE_AS(JoinedStr, node)->values;
    Buf buf = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < values.count; i++) {
        if (values.items[i]->kind == NODE_FormattedValue) {
            good = format_value(eval, NODE_AS(FormattedValue, values.items[i]), &buf);
            continue;
        }
        Object *text = eval_expr(eval, values.items[i]);
        good = text != NULL && text->kind == OBJECT_TEXT;
        if (good) buf_bytes(&buf, text->as.text.data, text->as.text.length);
    }
    Object *result = good ? object_text(eval, buf.data, buf.length) : NULL;
    buf_free(&buf);
    return result;
}

/* ---- dispatch ---- */

typedef Object *Evaluator(Eval *, const Node *);

static Evaluator *const EVALUATORS[NODE_COUNT] = {
    [NODE_Name] = eval_name,
    [NODE_Constant] = eval_constant,
    [NODE_Tuple] = eval_tuple,
    [NODE_List] = eval_list,
    [NODE_Set] = eval_set,
    [NODE_SetComp] = eval_setcomp,
    [NODE_Yield] = eval_yield,
    [NODE_YieldFrom] = eval_yield_from,
    [NODE_Dict] = eval_dict,
    [NODE_BinOp] = eval_binop,
    [NODE_UnaryOp] = eval_unaryop,
    [NODE_BoolOp] = eval_boolop,
    [NODE_Compare] = eval_compare,
    [NODE_IfExp] = eval_ifexp,
    [NODE_NamedExpr] = eval_named,
    [NODE_Call] = eval_call,
    [NODE_Attribute] = eval_attribute,
    [NODE_Slice] = eval_slice,
    [NODE_Subscript] = eval_subscript,
    [NODE_Lambda] = eval_lambda,
    [NODE_ListComp] = eval_listcomp,
    [NODE_GeneratorExp] = eval_generator,
    [NODE_DictComp] = eval_dictcomp,
    [NODE_JoinedStr] = eval_joined,
};

Object *eval_expr(Eval *eval, const Node *node)
{
    CHECK(node != NULL);
    if (EVALUATORS[node->kind] == NULL)
        return FAIL(eval, unsupported, node->span,
                    arena_printf(eval->arena, "'%s'", node_kind_name(node->kind)));
    if (eval->depth >= DEPTH_LIMIT) return FAIL(eval, recursion, node->span, CALL_LIMIT);
    eval->depth++;
    Object *object = EVALUATORS[node->kind](eval, node);
    eval->depth--;
    return object;
}

/* ---- assigning ---- */

static bool unpack_starred(Eval *eval, Nodes targets, uint32_t star, Object *items)
{
    uint32_t count = items->as.list.count;
    if (count + 1 < targets.count) {
        FAIL(eval, unpack, eval->at, (long long)count, (long long)targets.count);
        return false;
    }
    uint32_t taken = count + 1 - targets.count;
    Object *middle = object_list(eval, OBJECT_LIST, items->as.list.items + star, taken);
    for (uint32_t i = 0; i < targets.count; i++) {
        const Node *target =
            i == star ? NODE_AS(Starred, targets.items[i])->value : targets.items[i];
        Object *item = i == star ? middle : items->as.list.items[i < star ? i : i + taken - 1];
        if (!assign_target(eval, target, item)) return false;
    }
    return true;
}

static bool unpack(Eval *eval, Nodes targets, Object *object)
{
    Object *items = iterate(eval, object, eval->at);
    if (items == NULL) return false;
    for (uint32_t i = 0; i < targets.count; i++)
        if (targets.items[i]->kind == NODE_Starred) return unpack_starred(eval, targets, i, items);
    if (items->as.list.count != targets.count) {
        FAIL(eval, unpack, eval->at, (long long)items->as.list.count, (long long)targets.count);
        return false;
    }
    for (uint32_t i = 0; i < targets.count; i++)
        if (!assign_target(eval, targets.items[i], items->as.list.items[i])) return false;
    return true;
}

bool assign_target(Eval *eval, const Node *target, Object *object)
{
    switch ((int)target->kind) {
    case NODE_Name:
        return scope_assign(eval, eval->frame->scope, NODE_AS(Name, target)->id, object,
                            place(eval, target));
    case NODE_Tuple: place(eval, target); return unpack(eval, NODE_AS(Tuple, target)->elts, object);
    case NODE_List: place(eval, target); return unpack(eval, NODE_AS(List, target)->elts, object);
    case NODE_Attribute: {
        Object *owner = eval_expr(eval, NODE_AS(Attribute, target)->value);
        return owner != NULL && attribute_set(eval, owner, NODE_AS(Attribute, target)->attr, object,
                                              place(eval, target));
    }
    case NODE_Subscript: {
        Object *owner = eval_expr(eval, NODE_AS(Subscript, target)->value);
        Object *index = owner != NULL ? eval_expr(eval, NODE_AS(Subscript, target)->slice) : NULL;
        return index != NULL && item_set(eval, owner, index, object, place(eval, target));
    }
    default: break;
    }
    FAIL(eval, bad_assign_target, place(eval, target), node_kind_name(target->kind));
    return false;
}
