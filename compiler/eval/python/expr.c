/* expr.c: expressions of the tree. Each kind of node has a handler; those that do not may not stand
 * where an expression is wanted. */
#include "eval/python/python.h"

/* ---- leaves ---- */

static Object *eval_name(Eval *eval, const Node *node)
{
    return name_read(eval, NODE_AS(Name, node)->id, eval_move_to(eval, node));
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
        if (literal->too_large)
            return FAIL(eval, wide_integer, eval_move_to(eval, node), "this integer", "");
        return object_of_wide(eval, literal->integer);
    case LITERAL_FLOAT: return object_float(eval, literal->number);
    case LITERAL_STRING: return object_text(eval, literal->text, literal->length);
    case LITERAL_IMAGINARY:
    case LITERAL_BYTES: break;
    }
    return FAIL(eval, unsupported, eval_move_to(eval, node), "this kind of literal");
}

/* ---- containers ---- */

/* Appends an element, or all of `*elements`. */
static bool append_element(Eval *eval, Object *list, const Node *node)
{
    if (node->kind != NODE_Starred) {
        Object *item = eval_expr(eval, node);
        if (item != NULL) /* A tuple's tiles are copies, so that `a, b = b, a` exchanges them. */
            list_append(eval, list,
                        list->kind == OBJECT_TUPLE ? eval->ops->object_hold(eval, item)
                                                   : eval->ops->object_keep(eval, item));
        return item != NULL;
    }
    Object *value = eval_expr(eval, NODE_AS(Starred, node)->value);
    Object *items =
        value != NULL ? eval->ops->iterate(eval, value, eval_move_to(eval, node)) : NULL;
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

static Object *eval_set(Eval *eval, const Node *node)
{
    return set_from_items(eval, eval_elements(eval, OBJECT_LIST, NODE_AS(Set, node)->elts));
}

static bool spread_dict(Eval *eval, Object *dict, const Node *node)
{
    Object *other = eval_expr(eval, node);
    if (other == NULL) return false;
    if (other->kind != OBJECT_DICT) {
        FAIL(eval, expected_kind, eval_move_to(eval, node), "what ** spreads", "a dict",
             object_kind_name(other));
        return false;
    }
    for (size_t i = 0; i < other->as.dict.keys.count; i++)
        dict_set(eval, dict, other->as.dict.keys.data[i], other->as.dict.values.data[i]);
    return true;
}

static Object *eval_dict(Eval *eval, const Node *node)
{
    const NodeDict *n = NODE_AS(Dict, node);
    Object *dict = dict_new(eval);
    for (uint32_t i = 0; i < n->keys.count; i++) {
        if (n->keys.items[i] == NULL) {
            if (!spread_dict(eval, dict, n->values.items[i])) return NULL;
            continue;
        }
        Object *key = eval_expr(eval, n->keys.items[i]);
        Object *value = key != NULL ? eval_expr(eval, n->values.items[i]) : NULL;
        if (value == NULL || !key_is_fit(eval, key, n->keys.items[i]->span)) return NULL;
        dict_set(eval, dict, key, eval->ops->object_keep(eval, value));
    }
    return dict;
}

/* ---- operators ---- */

static Object *eval_binop(Eval *eval, const Node *node)
{
    const NodeBinOp *n = NODE_AS(BinOp, node);
    Object *left = eval_expr(eval, n->left);
    Object *right = left != NULL ? eval_expr(eval, n->right) : NULL;
    return right != NULL ? operate_binary(eval, n->op, left, right, eval_move_to(eval, node))
                         : NULL;
}

static Object *eval_unaryop(Eval *eval, const Node *node)
{
    const NodeUnaryOp *n = NODE_AS(UnaryOp, node);
    Object *operand = eval_expr(eval, n->operand);
    return operand != NULL ? operate_unary(eval, n->op, operand, eval_move_to(eval, node)) : NULL;
}

/* A chain of operands or comparisons, from `index` on. */
typedef struct Chain {
    const Node *node;
    Object *left; /* of a comparison */
    uint32_t index;
} Chain;

static Object *eval_operands(Eval *eval, const void *context);

/* A run-time operand, and those behind it; of booleans alone in the program of a thread. */
static Object *stage_operands(Eval *eval, const Chain *rest, Object *operand)
{
    const NodeBoolOp *n = NODE_AS(BoolOp, rest->node);
    const bool is_last = rest->index == n->values.count;
    if (is_last && !eval->frame->is_thread_code) return operand;
    if (is_last) return eval->ops->stage_truth(eval, operand, eval_move_to(eval, rest->node));
    if (eval->parallel != NULL) return eval->ops->masked_operands(eval, n, operand, rest->index);
    return eval->ops->stage_logic(eval, n->op, operand, eval_operands, rest,
                                  eval_move_to(eval, rest->node));
}

/* Operands known now decide as in Python; what follows a run-time one is staged behind it. */
static Object *eval_operands(Eval *eval, const void *context)
{
    Chain rest = *(const Chain *)context;
    const NodeBoolOp *n = NODE_AS(BoolOp, rest.node);
    for (bool truth;;) {
        Object *result = object_condition(eval, eval_expr(eval, n->values.items[rest.index++]));
        if (result == NULL) return NULL;
        if (object_is_staged(result)) return stage_operands(eval, &rest, result);
        if (rest.index == n->values.count) return result;
        if (!object_truth(eval, result, &truth)) return NULL;
        if (truth != (n->op == OPERATOR_And)) return result;
    }
}

static Object *eval_boolop(Eval *eval, const Node *node)
{
    const Chain chain = {.node = node};
    return eval_operands(eval, &chain);
}

static Object *eval_links(Eval *eval, const void *context)
{
    Chain rest = *(const Chain *)context;
    const NodeCompare *n = NODE_AS(Compare, rest.node);
    for (bool truth;;) {
        Object *right = eval_expr(eval, n->comparators.items[rest.index]);
        if (right == NULL) return NULL;
        Span at = eval_move_to(eval, rest.node);
        Object *link =
            eval->ops->operate_compare(eval, n->ops.items[rest.index++], rest.left, right, at);
        if (link == NULL || rest.index == n->ops.count) return link;
        rest.left = right;
        if (object_is_staged(link) && eval->parallel != NULL) {
            Object *others = eval_links(eval, &rest);
            return others != NULL ? eval->ops->masked_join(eval, OPERATOR_And, link, others, at)
                                  : NULL;
        }
        if (object_is_staged(link))
            return eval->ops->stage_logic(eval, OPERATOR_And, link, eval_links, &rest, at);
        if (!object_truth(eval, link, &truth)) return NULL;
        if (!truth) return link;
    }
}

static Object *eval_compare(Eval *eval, const Node *node)
{
    const Chain chain = {.node = node, .left = eval_expr(eval, NODE_AS(Compare, node)->left)};
    return chain.left != NULL ? eval_links(eval, &chain) : NULL;
}

static Object *eval_ifexp(Eval *eval, const Node *node)
{
    const NodeIfExp *n = NODE_AS(IfExp, node);
    Object *test = object_condition(eval, eval_expr(eval, n->test));
    if (test == NULL) return NULL;
    if (object_is_staged(test)) return eval->ops->stage_ifexp(eval, n, test);
    bool truth;
    if (!object_truth(eval, test, &truth)) return NULL;
    return eval_expr(eval, truth ? n->body : n->orelse);
}

static Object *eval_named(Eval *eval, const Node *node)
{
    const NodeNamedExpr *n = NODE_AS(NamedExpr, node);
    Object *value = eval_expr(eval, n->value);
    /* In a comprehension the name is that of the function around it. */
    Scope *here = eval->frame->scope;
    while (eval->frame->scope->kind == SCOPE_INNER) eval->frame->scope = eval->frame->scope->parent;
    bool good = value != NULL && assign_target(eval, n->target, value);
    eval->frame->scope = here;
    return good ? value : NULL;
}

/* ---- calls, attributes ---- */

/* `others`: so many names may be the same one. */
static bool add_named(Eval *eval, const Node *node, Name name, Object *value, size_t others,
                      Arguments *arguments)
{
    for (size_t i = 0; i < others; i++)
        if (arguments->names.data[i] == name) {
            FAIL(eval, argument_twice, eval_move_to(eval, node), name);
            return false;
        }
    vec_push(eval->arena, &arguments->names, name);
    vec_push(eval->arena, &arguments->named, value);
    return true;
}

static bool eval_keyword(Eval *eval, Object *callee, const Node *node, Arguments *arguments)
{
    const Nodekeyword *keyword = NODE_AS(keyword, node);
    Object *value =
        keyword->arg == NULL
            ? eval_expr(eval, keyword->value)
            : eval->ops->eval_argument_of(eval, callee, 0, keyword->arg, keyword->value);
    const size_t others = arguments->names.count;
    if (value == NULL) return false;
    if (keyword->arg != NULL) return add_named(eval, node, keyword->arg, value, others, arguments);
    if (value->kind != OBJECT_DICT) {
        FAIL(eval, expected_kind, eval_move_to(eval, node), "what ** spreads", "a dict",
             object_kind_name(value));
        return false;
    }
    for (size_t i = 0; i < value->as.dict.keys.count; i++) {
        const Object *key = value->as.dict.keys.data[i];
        if (key->kind != OBJECT_TEXT) {
            FAIL(eval, expected_kind, eval_move_to(eval, node), "the name of an argument", "a str",
                 object_kind_name(key));
            return false;
        }
        Name name = intern(eval->session->names, key->as.text.data, key->as.text.length);
        if (!add_named(eval, node, name, value->as.dict.values.data[i], others, arguments))
            return false;
    }
    return true;
}

static bool known_bound(const Object *bound, int64_t absent, int64_t *out)
{
    *out = bound == NULL ? absent : bound->as.integer;
    return bound == NULL || bound->kind == OBJECT_INT;
}

/* The elements of a[1:4], where `a` is memory whose extent is known at run time, and the places are
 * known now: those that the text says, as no length cuts them off. */
static Object *elements_of_slice(Eval *eval, Object *memory, const Object *slice, Span at)
{
    int64_t start, stop, step;
    if (memory->kind != OBJECT_IR || slice->kind != OBJECT_SLICE ||
        !known_bound(slice->as.range.start, 0, &start) ||
        !known_bound(slice->as.range.stop, -1, &stop) ||
        !known_bound(slice->as.range.step, 1, &step) || start < 0 || stop < 0 || step <= 0)
        return NULL;
    Object *items = object_list(eval, OBJECT_LIST, NULL, 0);
    for (int64_t i = start; i < stop; i += step) {
        Object *item = item_get(eval, memory, object_int(eval, i), at);
        if (item == NULL) return NULL;
        list_append(eval, items, item);
    }
    return items;
}

/* What a starred argument stands for. */
static Object *eval_starred(Eval *eval, const Node *node)
{
    const Node *inner = NODE_AS(Starred, node)->value;
    if (inner->kind != NODE_Subscript || !eval->frame->is_thread_code) {
        Object *value = eval_expr(eval, inner);
        return value != NULL ? eval->ops->iterate(eval, value, eval_move_to(eval, node)) : NULL;
    }
    Object *object = eval_expr(eval, NODE_AS(Subscript, inner)->value);
    Object *index = object != NULL ? eval_expr(eval, NODE_AS(Subscript, inner)->slice) : NULL;
    if (index == NULL) return NULL;
    Object *items = elements_of_slice(eval, object, index, inner->span);
    if (items != NULL) return items;
    Object *value = item_get(eval, object, index, eval_move_to(eval, inner));
    return value != NULL ? eval->ops->iterate(eval, value, eval_move_to(eval, node)) : NULL;
}

static bool eval_argument(Eval *eval, Object *callee, const Node *node, Arguments *arguments)
{
    if (node->kind != NODE_Starred) {
        uint32_t index = (uint32_t)arguments->positional.count;
        Object *value = eval->ops->eval_argument_of(eval, callee, index, NULL, node);
        if (value != NULL) vec_push(eval->arena, &arguments->positional, value);
        return value != NULL;
    }
    const Object *items = eval_starred(eval, node);
    for (uint32_t i = 0; items != NULL && i < items->as.list.count; i++)
        vec_push(eval->arena, &arguments->positional, items->as.list.items[i]);
    return items != NULL;
}

static Object *eval_call(Eval *eval, const Node *node)
{
    const NodeCall *n = NODE_AS(Call, node);
    Object *known;
    if (known_call(eval, node, &known)) return known;
    Object *callee = eval_expr(eval, n->func);
    if (callee == NULL) return NULL;
    Arguments arguments = {0};
    for (uint32_t i = 0; i < n->args.count; i++)
        if (!eval_argument(eval, callee, n->args.items[i], &arguments)) return NULL;
    for (uint32_t i = 0; i < n->keywords.count; i++)
        if (!eval_keyword(eval, callee, n->keywords.items[i], &arguments)) return NULL;
    arguments.at = eval_move_to(eval, node);
    arguments.node = n;
    Frame *frame = eval->frame;
    const bool alone = frame->exits == NULL;
    Object *result = eval->ops->call_object(eval, callee, &arguments);
    if (frame->exits != NULL && alone) frame->exiting = node;
    return result;
}

static Object *eval_attribute(Eval *eval, const Node *node)
{
    const NodeAttribute *n = NODE_AS(Attribute, node);
    Object *object = eval_expr(eval, n->value);
    return object != NULL ? attribute_get(eval, object, n->attr, eval_move_to(eval, node)) : NULL;
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
    if (index == NULL) return NULL;
    if (object->kind == OBJECT_IR && eval->ops->first_element(eval, n->value, index) != NULL)
        return object;
    return item_get(eval, object, index, eval_move_to(eval, node));
}

/* ---- functions and comprehensions ---- */

static Object *eval_default(Eval *eval, const Node *node)
{
    Object *value = eval_expr(eval, node);
    return value == NULL && is_surveyed(eval) ? eval->poison : value;
}

static bool eval_defaults(Eval *eval, const Nodearguments *parameters, Function *function)
{
    function->defaults = arena_new_array(eval->arena, Object *, parameters->defaults.count);
    function->kw_defaults = arena_new_array(eval->arena, Object *, parameters->kwonlyargs.count);
    for (uint32_t i = 0; i < parameters->defaults.count; i++)
        if ((function->defaults[i] = eval_default(eval, parameters->defaults.items[i])) == NULL)
            return false;
    for (uint32_t i = 0; i < parameters->kw_defaults.count; i++)
        if (parameters->kw_defaults.items[i] != NULL &&
            (function->kw_defaults[i] = eval_default(eval, parameters->kw_defaults.items[i])) ==
                NULL)
            return false;
    return true;
}

Object *function_new(Eval *eval, const Node *node, Name name, const Nodearguments *parameters)
{
    Scope *scope = eval->frame->scope;
    Object *object = object_new(eval, OBJECT_FUNCTION);
    object->as.function = (Function){
        .name = name, .node = node, .closure = scope_for_closure(scope), .unit = scope->unit};
    return eval_defaults(eval, parameters, &object->as.function) ? object : NULL;
}

static Object *eval_lambda(Eval *eval, const Node *node)
{
    return function_new(eval, node, intern_text(eval->session->names, "<lambda>"),
                        NODE_AS(arguments, NODE_AS(Lambda, node)->args));
}

typedef struct Comprehension {
    Nodes generators;
    const Node *key, *value; /* key: of a dict */
    Object *result;          /* NULL: of a generator */
    Object *first;           /* what it iterates over, if that is known already */
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
    if (c->result == NULL)
        return generator_yield(eval, eval->ops->object_keep(eval, value), eval->at) != NULL;
    if (c->key != NULL && !key_is_fit(eval, key, c->key->span)) return false;
    if (c->key != NULL)
        dict_set(eval, c->result, key, eval->ops->object_keep(eval, value));
    else
        list_append(eval, c->result, eval->ops->object_keep(eval, value));
    return true;
}

static bool comprehend(Eval *eval, const Comprehension *c, uint32_t level)
{
    const Nodecomprehension *generator = NODE_AS(comprehension, c->generators.items[level]);
    Object *iterable = level == 0 && c->first != NULL ? c->first : eval_expr(eval, generator->iter);
    Object *iterator =
        iterable != NULL ? iterator_of(eval, iterable, eval_move_to(eval, generator->iter)) : NULL;
    while (iterator != NULL) {
        Object *item;
        if (!iterator_pull(eval, iterator, eval->at, &item)) return false;
        if (item == NULL) return true;
        if (!eval_step(eval, eval->at) || !assign_target(eval, generator->target, item) ||
            !comprehend_item(eval, c, generator, level))
            return false;
    }
    return false;
}

static Scope *comprehension_scope(Eval *eval)
{
    Scope *outer = eval->frame->scope;
    Scope *scope = scope_new(eval, SCOPE_INNER, outer->kind == SCOPE_CLASS ? outer->parent : outer,
                             outer->unit);
    scope->host_names = outer->host_names;
    return scope;
}

static Object *run_comprehension(Eval *eval, Nodes generators, const Node *key, const Node *value)
{
    Scope *outer = eval->frame->scope;
    Comprehension c = {generators, key, value,
                       key != NULL ? dict_new(eval) : object_list(eval, OBJECT_LIST, NULL, 0),
                       NULL};
    eval->frame->scope = comprehension_scope(eval);
    bool good = comprehend(eval, &c, 0);
    eval->frame->scope = outer;
    return good ? c.result : NULL;
}

static Object *eval_listcomp(Eval *eval, const Node *node)
{
    return run_comprehension(eval, NODE_AS(ListComp, node)->generators, NULL,
                             NODE_AS(ListComp, node)->elt);
}

static bool run_expression(Eval *eval, void *context)
{
    return comprehend(eval, context, 0);
}

/* What it iterates over first is evaluated at once, the rest when it is asked for. */
static Object *eval_generator(Eval *eval, const Node *node)
{
    const NodeGeneratorExp *n = NODE_AS(GeneratorExp, node);
    Comprehension *c = arena_new_of(eval->arena, Comprehension);
    const Node *iter = NODE_AS(comprehension, n->generators.items[0])->iter;
    Object *iterable = eval_expr(eval, iter);
    Object *first = iterable != NULL ? iterator_of(eval, iterable, eval_move_to(eval, iter)) : NULL;
    if (first == NULL) return NULL;
    *c = (Comprehension){n->generators, NULL, n->elt, NULL, first};
    Frame frame = *eval->frame;
    frame.scope = comprehension_scope(eval);
    frame.jumps = NULL;
    return generator_new(eval, run_expression, c, &frame, NULL);
}

static Object *eval_setcomp(Eval *eval, const Node *node)
{
    return set_from_items(eval, run_comprehension(eval, NODE_AS(SetComp, node)->generators, NULL,
                                                  NODE_AS(SetComp, node)->elt));
}

/* ---- generators ---- */

static Object *eval_yield(Eval *eval, const Node *node)
{
    const NodeYield *n = NODE_AS(Yield, node);
    Object *value = n->value != NULL ? eval_expr(eval, n->value) : eval->none;
    return value != NULL ? generator_yield(eval, eval->ops->object_keep(eval, value),
                                           eval_move_to(eval, node))
                         : NULL;
}

static Object *eval_yield_from(Eval *eval, const Node *node)
{
    Object *value = eval_expr(eval, NODE_AS(YieldFrom, node)->value);
    Object *iterator = value != NULL ? iterator_of(eval, value, eval_move_to(eval, node)) : NULL;
    while (iterator != NULL) {
        Object *item;
        if (!iterator_pull(eval, iterator, eval->at, &item)) return NULL;
        if (item == NULL) return generator_result(eval, iterator);
        if (generator_yield(eval, item, eval_move_to(eval, node)) == NULL) return NULL;
    }
    return NULL;
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
    if (node->conversion > 0) value = object_converted(eval, value, (char)node->conversion);
    Object *text = format_object(eval, value, spec != NULL ? spec->as.text.data : "", eval->at);
    return text != NULL && text_add(eval, out, text->as.text.data, text->as.text.length, eval->at);
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

const char *kind_text(Eval *eval, NodeKind kind)
{
    static const struct {
        NodeKind kind;
        const char *text;
    } rows[] = {{NODE_AsyncFunctionDef, "'async def'"},
                {NODE_AsyncFor, "'async for'"},
                {NODE_AsyncWith, "'async with'"},
                {NODE_Await, "'await'"},
                {NODE_TryStar, "'except*'"},
                {NODE_Starred, "a starred expression"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].kind == kind) return rows[i].text;
    return arena_printf(eval->arena, "'%s'", node_kind_name(kind));
}

/* Whether a tool asks what expressions of the kind are. */
static bool is_shown(NodeKind kind)
{
    return kind == NODE_Name || kind == NODE_Attribute || kind == NODE_Call ||
           kind == NODE_Subscript;
}

Object *eval_expr(Eval *eval, const Node *node)
{
    CHECK(node != NULL);
    if (EVALUATORS[node->kind] == NULL)
        return FAIL(eval, unsupported, node->span, kind_text(eval, node->kind));
    if (!eval_may_nest(eval, node->span)) return NULL;
    eval->depth++;
    Object *object = EVALUATORS[node->kind](eval, node);
    eval->depth--;
    const Span at = eval->library > 0 ? eval->at : node->span;
    if (object != NULL && !eval_works(eval, WORK_OF_EXPRESSION, at)) return NULL;
    if (object == NULL || !eval->ops->content_settle(eval, object)) return NULL;
    if (is_shown(node->kind)) observe(eval, node->span, object);
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

/* `M, K = A.shape` and then `K, N = B.shape`: both are K. */
static bool assign_item(Eval *eval, const Node *target, Object *item, bool is_extent)
{
    Name name = target->kind == NODE_Name ? NODE_AS(Name, target)->id : NULL;
    if (!is_extent || name == NULL || name[0] == '_') return assign_target(eval, target, item);
    Binding *binding = bindings_make(eval, &eval->frame->scope->bindings, name);
    if (binding->is_extent &&
        !eval->ops->extents_agree(eval, binding, item, eval_move_to(eval, target)))
        return false;
    if (!assign_target(eval, target, item)) return false;
    binding->is_extent = true;
    return true;
}

static bool unpack(Eval *eval, Nodes targets, Object *object)
{
    Object *items = eval->ops->iterate(eval, object, eval->at);
    if (items == NULL) return false;
    for (uint32_t i = 0; i < targets.count; i++)
        if (targets.items[i]->kind == NODE_Starred) return unpack_starred(eval, targets, i, items);
    if (items->as.list.count != targets.count) {
        FAIL(eval, unpack, eval->at, (long long)items->as.list.count, (long long)targets.count);
        return false;
    }
    for (uint32_t i = 0; i < targets.count; i++)
        if (!assign_item(eval, targets.items[i], items->as.list.items[i],
                         object->is_shape && in_host_part(eval)))
            return false;
    return true;
}

bool assign_target(Eval *eval, const Node *target, Object *object)
{
    switch ((int)target->kind) {
    case NODE_Name:
        return scope_assign(eval, eval->frame->scope, NODE_AS(Name, target)->id, object,
                            eval_move_to(eval, target));
    case NODE_Tuple:
        eval_move_to(eval, target);
        return unpack(eval, NODE_AS(Tuple, target)->elts, object);
    case NODE_List:
        eval_move_to(eval, target);
        return unpack(eval, NODE_AS(List, target)->elts, object);
    case NODE_Attribute:
    case NODE_Subscript: {
        const Slot *place = eval->ops->target_place(eval, target);
        return place != NULL &&
               eval->ops->slot_write(eval, place, object, eval_move_to(eval, target));
    }
    default: break;
    }
    FAIL(eval, bad_assign_target, eval_move_to(eval, target), node_kind_name(target->kind));
    return false;
}
