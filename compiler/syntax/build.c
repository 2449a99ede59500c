/* build.c: constructors for statements and expressions, as the grammar calls them. They give a tree
 * in any case; what is wrong with the parts is said here only where the tree would not show it. */
#include "syntax/parser.h"

#include "tile_grammar.h"

#include <string.h>

static void complain(Parser *parser, uint32_t begin, uint32_t end, DiagCode code)
{
    diag_report(parser->session->diags, code, parser_span(parser, begin, end));
}

static void complain_at(Parser *parser, const Node *at, DiagCode code)
{
    complain(parser, node_begin(at), node_end(at), code);
}

static bool is_ascii(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] >= 0x80) return false;
    return true;
}

Name token_text(const Parser *parser, Token token)
{
    Session *session = parser->session;
    const char *text = parser->source->text + token.begin;
    size_t length = token.end - token.begin;
    if (is_ascii(text, length)) return intern(session->names, text, length);
    Buf buf = {0};
    normalise_name(session->arena, text, length, &buf);
    Name name = intern(session->names, buf.data, buf.length);
    buf_free(&buf);
    return name;
}

/* The operator's text is one of operators.def's; that of an assignment has "=" behind it. */
Operator token_operator(const Parser *parser, Token token)
{
    const char *text = parser->source->text + token.begin;
    size_t length = token.end - token.begin;
    if (token.kind == TOKEN_AUGEQ) length--;
    for (Operator op = 0; op < OPERATOR_COUNT; op++)
        if (strlen(operator_text(op)) == length && memcmp(operator_text(op), text, length) == 0)
            return op;
    ICE("no operator '%.*s'", (int)length, text);
}

Node *make_name(Parser *parser, Token token)
{
    return MAKE(Name, token.begin, token.end, .id = token_text(parser, token));
}

Node *make_literal(Parser *parser, Token token, LiteralKind kind)
{
    return MAKE(Constant, token.begin, token.end, .value = {.kind = kind});
}

Node *make_binary(Parser *parser, Node *left, Operator op, Node *right)
{
    return MAKE(BinOp, node_begin(left), node_end(right), .left = left, .op = op, .right = right);
}

Node *make_unary(Parser *parser, Token op, Operator operator, Node * operand)
{
    return MAKE(UnaryOp, op.begin, node_end(operand), .op = operator, .operand = operand);
}

Node *make_bool(Parser *parser, Operator op, const Items *values)
{
    return MAKE(BoolOp, values->begin, values->end, .op = op, .values = items_list(values));
}

Node *make_starred(Parser *parser, Token star, Node *value)
{
    return MAKE(Starred, star.begin, node_end(value), .value = value);
}

CompareChain *compare_begin(Parser *parser, Node *left)
{
    CompareChain *chain = arena_new_of(parser->session->arena, CompareChain);
    chain->left = left;
    chain->rest = items_new(parser, NULL);
    return chain;
}

CompareChain *compare_add(Parser *parser, CompareChain *chain, Operator op, Node *right)
{
    vec_push(parser->session->arena, &chain->ops, op);
    items_add(parser, chain->rest, right);
    return chain;
}

Node *compare_finish(Parser *parser, CompareChain *chain)
{
    return MAKE(Compare, node_begin(chain->left), chain->rest->end, .left = chain->left,
                .ops = {chain->ops.data, (uint32_t)chain->ops.count},
                .comparators = items_list(chain->rest));
}

/* ---- tuples, groups, braces ---- */

Node *make_tuple_or_one(Parser *parser, Items *items)
{
    if (items->nodes.count == 1 && !items->comma) return items->nodes.data[0];
    return MAKE(Tuple, items->begin, items->end, .elts = items_list(items));
}

Node *make_group(Parser *parser, Token open, Items *items, Token close)
{
    Node *first = items->nodes.data[0];
    bool one = items->nodes.count == 1 && !items->comma && first->kind != NODE_withitem;
    if (!one) return MAKE(Tuple, open.begin, close.end, .elts = items_list(items));
    if (first->kind == NODE_Starred) complain_at(parser, first, DIAG_starred_expression);
    return node_widen(first, open.begin, close.end);
}

Node *make_braces(Parser *parser, Token open, Items *items, Token close)
{
    return MAKE(Set, open.begin, close.end, .elts = items_list(items));
}

Node *make_dict(Parser *parser, Token open, const Items *pairs, Token close)
{
    size_t count = pairs->nodes.count;
    Nodes keys = {arena_new_array(parser->session->arena, Node *, count), (uint32_t)count};
    Nodes values = {arena_new_array(parser->session->arena, Node *, count), (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        const NodeSlice *pair = NODE_AS(Slice, pairs->nodes.data[i]);
        keys.items[i] = pair->lower;
        values.items[i] = pair->upper;
    }
    return MAKE(Dict, open.begin, close.end, .keys = keys, .values = values);
}

Node *make_generator(Parser *parser, NodeKind kind, Token open, Node *element, const Items *clauses,
                     Token close)
{
    if (element->kind == NODE_Starred) complain_at(parser, element, DIAG_unpacked_comprehension);
    Nodes list = items_list(clauses);
    if (kind == NODE_ListComp)
        return MAKE(ListComp, open.begin, close.end, .elt = element, .generators = list);
    if (kind == NODE_SetComp)
        return MAKE(SetComp, open.begin, close.end, .elt = element, .generators = list);
    return MAKE(GeneratorExp, open.begin, close.end, .elt = element, .generators = list);
}

Node *make_dict_comprehension(Parser *parser, Token open, Node *pair, const Items *clauses,
                              Token close)
{
    const NodeSlice *parts = NODE_AS(Slice, pair);
    if (parts->lower == NULL) complain_at(parser, pair, DIAG_unpacked_comprehension);
    return MAKE(DictComp, open.begin, close.end, .key = parts->lower, .value = parts->upper,
                .generators = items_list(clauses));
}

/* The only argument of a call: make_call gives it the call's parentheses. */
Node *make_bare_generator(Parser *parser, Node *element, const Items *clauses)
{
    return MAKE(GeneratorExp, node_begin(element), clauses->end, .elt = element,
                .generators = items_list(clauses));
}

/* ---- calls, subscripts, classes ---- */

Node *make_keyword(Parser *parser, Node *name, Node *value)
{
    Name text = NULL;
    if (name->kind == NODE_Name && !node_is_parenthesised(name))
        text = NODE_AS(Name, name)->id;
    else
        complain_at(parser, name, DIAG_keyword_name);
    if (text == NULL) /* not to be taken for `**value` */
        text = intern_text(parser->session->names, "?");
    return MAKE(keyword, node_begin(name), node_end(value), .arg = text, .value = value);
}

/* One with parentheses of its own starts before its element. */
static bool is_bare_generator(const Node *node)
{
    return node->kind == NODE_GeneratorExp &&
           node_begin(NODE_AS(GeneratorExp, node)->elt) == node->span.begin;
}

static void check_order(Parser *parser, const Items *arguments)
{
    bool named = false, unpacked = false;
    for (size_t i = 0; i < arguments->nodes.count; i++) {
        const Node *node = arguments->nodes.data[i];
        if (node->kind == NODE_keyword) {
            named = true;
            unpacked |= NODE_AS(keyword, node)->arg == NULL;
        } else if (node->kind == NODE_Starred && unpacked) {
            complain_at(parser, node, DIAG_unpack_order);
        } else if (node->kind != NODE_Starred && named) {
            diag_report(parser->session->diags, DIAG_positional_order,
                        parser_span(parser, node_begin(node), node_end(node)), "argument",
                        "argument");
        }
    }
}

static void split_arguments(Parser *parser, Items *arguments, Items **positional, Items **keywords)
{
    *positional = items_new(parser, NULL);
    *keywords = items_new(parser, NULL);
    if (arguments == NULL) return;
    check_order(parser, arguments);
    for (size_t i = 0; i < arguments->nodes.count; i++) {
        Node *node = arguments->nodes.data[i];
        bool several = arguments->nodes.count > 1 || arguments->comma;
        if (several && is_bare_generator(node)) complain_at(parser, node, DIAG_bare_generator);
        items_add(parser, node->kind == NODE_keyword ? *keywords : *positional, node);
    }
}

Node *make_call(Parser *parser, Node *function, Token open, Items *arguments, Token close)
{
    Items *positional, *keywords;
    split_arguments(parser, arguments, &positional, &keywords);
    if (positional->nodes.count == 1) {
        Node *only = positional->nodes.data[0];
        if (is_bare_generator(only)) {
            only->span = parser_span(parser, open.begin, close.end);
            node_widen(only, open.begin, close.end);
        }
    }
    return MAKE(Call, node_begin(function), close.end, .func = function,
                .args = items_list(positional), .keywords = items_list(keywords));
}

Node *make_class(Parser *parser, Token keyword, Token name, const Items *types, Items *arguments,
                 const Items *body)
{
    Items *positional, *keywords;
    split_arguments(parser, arguments, &positional, &keywords);
    return MAKE(ClassDef, keyword.begin, body->end, .name = token_text(parser, name),
                .bases = items_list(positional), .keywords = items_list(keywords),
                .body = items_list(body), .type_params = items_list(types));
}

/* A starred index makes a tuple even where it is alone. */
Node *make_subscript(Parser *parser, Node *value, Items *slices, Token close)
{
    if (slices->nodes.data[0]->kind == NODE_Starred) slices->comma = true;
    Node *slice = make_tuple_or_one(parser, slices);
    return MAKE(Subscript, node_begin(value), close.end, .value = value, .slice = slice);
}

Node *make_slice(Parser *parser, Node *lower, Token colon, Node *upper, Token *second, Node *step)
{
    uint32_t begin = lower != NULL ? node_begin(lower) : colon.begin;
    uint32_t end = step != NULL     ? node_end(step)
                   : second != NULL ? second->end
                   : upper != NULL  ? node_end(upper)
                                    : colon.end;
    return MAKE(Slice, begin, end, .lower = lower, .upper = upper, .step = step);
}

/* ---- statements ---- */

/* The last of `rest` is the value, all before it are targets. */
Node *make_assign(Parser *parser, Node *first, Items *rest)
{
    Items *targets = items_new(parser, first);
    size_t last = rest->nodes.count - 1;
    for (size_t i = 0; i < last; i++) items_add(parser, targets, rest->nodes.data[i]);
    return MAKE(Assign, node_begin(first), rest->end, .targets = items_list(targets),
                .value = rest->nodes.data[last]);
}

Node *make_annotated(Parser *parser, Node *target, Node *annotation, Node *value)
{
    bool simple = target->kind == NODE_Name && !node_is_parenthesised(target);
    return MAKE(AnnAssign, node_begin(target), node_end(value != NULL ? value : annotation),
                .target = target, .annotation = annotation, .value = value, .simple = simple);
}

/* `with (a, b):` opens two things: what looks like a tuple is the list of items in parentheses. */
static bool is_item_list(const Node *tuple)
{
    if (tuple->kind != NODE_Tuple || node_is_parenthesised(tuple)) return false;
    Nodes elements = NODE_AS(Tuple, tuple)->elts;
    for (uint32_t i = 0; i < elements.count; i++) {
        const Node *element = elements.items[i];
        if (element->kind == NODE_Starred) return false;
        if (element->kind == NODE_NamedExpr && !node_is_parenthesised(element)) return false;
    }
    return elements.count > 0;
}

static Items *unpack_items(Parser *parser, const NodeTuple *tuple)
{
    Items *items = items_new(parser, NULL);
    for (uint32_t i = 0; i < tuple->elts.count; i++) {
        Node *element = tuple->elts.items[i];
        if (element->kind != NODE_withitem)
            element =
                MAKE(withitem, node_begin(element), node_end(element), .context_expr = element);
        items_add(parser, items, element);
    }
    return items;
}

Node *make_with(Parser *parser, Token keyword, Items *items, const Items *body)
{
    if (items->nodes.count == 1) {
        const Nodewithitem *only = NODE_AS(withitem, items->nodes.data[0]);
        if (only->optional_vars == NULL && is_item_list(only->context_expr))
            items = unpack_items(parser, NODE_AS(Tuple, only->context_expr));
    }
    return MAKE(With, keyword.begin, body->end, .items = items_list(items),
                .body = items_list(body));
}

/* The same statement with the word before it. */
Node *make_async(Parser *parser, Token keyword, Node *statement)
{
    union {
        Node node;
        NodeAsyncFunctionDef function;
        NodeAsyncFor loop;
        NodeAsyncWith with;
    } copy;
    static const struct {
        NodeKind plain, async;
        size_t size;
    } ASYNC[] = {{NODE_FunctionDef, NODE_AsyncFunctionDef, sizeof(NodeAsyncFunctionDef)},
                 {NODE_For, NODE_AsyncFor, sizeof(NodeAsyncFor)},
                 {NODE_With, NODE_AsyncWith, sizeof(NodeAsyncWith)}};
    _Static_assert(sizeof(NodeAsyncFunctionDef) == sizeof(NodeFunctionDef) &&
                       sizeof(NodeAsyncFor) == sizeof(NodeFor) &&
                       sizeof(NodeAsyncWith) == sizeof(NodeWith),
                   "each two have the same fields");
    for (size_t i = 0; i < sizeof ASYNC / sizeof *ASYNC; i++)
        if (ASYNC[i].plain == statement->kind) {
            memcpy(&copy, statement, ASYNC[i].size);
            copy.node.kind = ASYNC[i].async;
            copy.node.span.begin = keyword.begin;
            return node_make(parser, &copy.node, ASYNC[i].size);
        }
    ICE("a %s cannot be async", node_kind_name(statement->kind));
}

/* The span of a definition starts at its keyword, not at its decorators. */
Node *make_decorated(Parser *parser, const Items *decorators, Node *definition)
{
    (void)parser;
    Nodes list = items_list(decorators);
    switch ((int)definition->kind) {
    case NODE_FunctionDef: ((NodeFunctionDef *)definition)->decorator_list = list; break;
    case NODE_AsyncFunctionDef: ((NodeAsyncFunctionDef *)definition)->decorator_list = list; break;
    case NODE_ClassDef: ((NodeClassDef *)definition)->decorator_list = list; break;
    }
    return definition;
}

Node *make_dotted(Parser *parser, const Items *parts)
{
    Nodes list = items_list(parts);
    Name name = NODE_AS(Name, list.items[0])->id;
    if (list.count > 1) {
        Buf text = {0};
        for (uint32_t i = 0; i < list.count; i++)
            buf_printf(&text, "%s%s", i == 0 ? "" : ".", NODE_AS(Name, list.items[i])->id);
        name = intern(parser->session->names, text.data, text.length);
        buf_free(&text);
    }
    return MAKE(Name, parts->begin, parts->end, .id = name);
}

Node *make_import_from(Parser *parser, Token keyword, int level, Node *module, Items *names,
                       uint32_t end)
{
    return MAKE(ImportFrom, keyword.begin, end,
                .module = module == NULL ? NULL : NODE_AS(Name, module)->id,
                .names = items_list(names), .level = level);
}

/* `elif` is an If in the list after `else`. */
Items *make_else(Parser *parser, Token keyword, Node *test, Items *body, Items *orelse)
{
    return items_new(parser, MAKE(If, keyword.begin, items_last(body, orelse, NULL), .test = test,
                                  .body = items_list(body), .orelse = items_list(orelse)));
}

/* Whether a handler was written `except*`: between the keyword and the type there is a star. */
static bool is_star_handler(const Parser *parser, const Node *handler)
{
    const char *text = parser->source->text;
    const Node *type = NODE_AS(ExceptHandler, handler)->type;
    uint32_t begin = handler->span.begin;
    return type != NULL && memchr(text + begin, '*', node_begin(type) - begin) != NULL;
}

Node *make_try(Parser *parser, Token keyword, Items *body, Items *handlers, Items *orelse,
               Items *finalbody)
{
    uint32_t end = items_last(handlers, orelse, finalbody);
    bool star = false;
    for (size_t i = 0; handlers != NULL && i < handlers->nodes.count; i++) {
        const Node *handler = handlers->nodes.data[i];
        bool this_star = is_star_handler(parser, handler);
        if (i > 0 && this_star != star)
            complain(parser, handler->span.begin, handler->span.begin + 6, DIAG_mixed_handlers);
        star = this_star;
    }
    if (star)
        return MAKE(TryStar, keyword.begin, end, .body = items_list(body),
                    .handlers = items_list(handlers), .orelse = items_list(orelse),
                    .finalbody = items_list(finalbody));
    return MAKE(Try, keyword.begin, end, .body = items_list(body), .handlers = items_list(handlers),
                .orelse = items_list(orelse), .finalbody = items_list(finalbody));
}

Node *make_handler(Parser *parser, Token keyword, Node *type, const Token *name, const Items *body)
{
    return MAKE(ExceptHandler, keyword.begin, body->end, .type = type,
                .name = name == NULL ? NULL : token_text(parser, *name), .body = items_list(body));
}
