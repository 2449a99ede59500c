/* ast.c: nodes and lists of nodes; what is known about each kind, from nodes.def. */
#include "syntax/parser.h"

#include <string.h>

/* What precedes a node in memory while its tree is built. */
typedef struct Frame {
    uint32_t begin, end; /* outer bounds: with the parentheses around it */
    uint32_t height;
    uint32_t unused; /* the node after it stays aligned to 16 bytes */
} Frame;

_Static_assert(sizeof(Frame) == 16, "the node behind a frame must stay aligned");

const char *node_kind_name(NodeKind kind)
{
    static const char *const names[] = {
#define NODE(kind, fields) #kind,
#include "syntax/nodes.def"
#undef NODE
    };
    CHECK(kind < NODE_COUNT);
    return names[kind];
}

const char *operator_name(Operator op)
{
    static const char *const names[] = {
#define OPERATOR(name, text) #name,
#include "syntax/operators.def"
#undef OPERATOR
    };
    CHECK(op < OPERATOR_COUNT);
    return names[op];
}

const char *operator_text(Operator op)
{
    static const char *const texts[] = {
#define OPERATOR(name, text) text,
#include "syntax/operators.def"
#undef OPERATOR
    };
    CHECK(op < OPERATOR_COUNT);
    return texts[op];
}

const Node *node_check(const Node *node, NodeKind kind)
{
    if (node == NULL) ICE("there is no node where a %s is expected", node_kind_name(kind));
    if (node->kind != kind)
        ICE("a %s where a %s is expected", node_kind_name(node->kind), node_kind_name(kind));
    return node;
}

const Field *node_fields(NodeKind kind)
{
    switch (kind) {
#define F_NODE(field)  {FIELD_NODE, #field, offsetof(This, field)},
#define F_LIST(field)  {FIELD_LIST, #field, offsetof(This, field)},
#define F_NAME(field)  {FIELD_NAME, #field, offsetof(This, field)},
#define F_NAMES(field) {FIELD_NAMES, #field, offsetof(This, field)},
#define F_OP(field)    {FIELD_OP, #field, offsetof(This, field)},
#define F_OPS(field)   {FIELD_OPS, #field, offsetof(This, field)},
#define F_INT(field)   {FIELD_INT, #field, offsetof(This, field)},
#define F_CONST(field) {FIELD_CONST, #field, offsetof(This, field)},
#define NODE(kind, fields)                                                                         \
    case NODE_##kind: {                                                                            \
        typedef Node##kind This;                                                                   \
        _Static_assert(sizeof(This) >= sizeof(Node), "a node starts with its base");               \
        static const Field rows[] = {fields{FIELD_END, NULL, 0}};                                  \
        return rows;                                                                               \
    }
#include "syntax/nodes.def"
#undef NODE
#undef F_NODE
#undef F_LIST
#undef F_NAME
#undef F_NAMES
#undef F_OP
#undef F_OPS
#undef F_INT
#undef F_CONST
    case NODE_COUNT: break;
    }
    ICE("no such kind of node: %d", (int)kind);
}

void node_visit_children(const Node *node, void (*visit)(void *context, const Node *child),
                         void *context)
{
    for (const Field *field = node_fields(node->kind); field->kind != FIELD_END; field++) {
        if (field->kind == FIELD_NODE) {
            const Node *child = *FIELD_OF(Node *, node, field);
            if (child != NULL) visit(context, child);
        } else if (field->kind == FIELD_LIST) {
            const Nodes *list = FIELD_OF(Nodes, node, field);
            for (uint32_t i = 0; i < list->count; i++)
                if (list->items[i] != NULL) visit(context, list->items[i]);
        }
    }
}

void node_replace(Node *node, Node *(*replace)(void *context, Node *child), void *context)
{
    for (const Field *field = node_fields(node->kind); field->kind != FIELD_END; field++) {
        Node **child = (Node **)((char *)node + field->offset);
        const Nodes *list = FIELD_OF(Nodes, node, field);
        if (field->kind == FIELD_NODE && *child != NULL) *child = replace(context, *child);
        for (uint32_t i = 0; field->kind == FIELD_LIST && i < list->count; i++)
            if (list->items[i] != NULL) list->items[i] = replace(context, list->items[i]);
    }
}

/* ---- making ---- */

static Frame *frame_of(const Node *node)
{
    return (Frame *)((char *)(uintptr_t)node - sizeof(Frame));
}

static void raise_height(void *context, const Node *child)
{
    uint32_t *height = context;
    if (frame_of(child)->height >= *height) *height = frame_of(child)->height + 1;
}

Node *node_make(Parser *parser, const Node *node, size_t size)
{
    char *memory = arena_alloc(parser->session->arena, sizeof(Frame) + size);
    Node *copy = (Node *)(memory + sizeof(Frame));
    memcpy(copy, node, size);
    uint32_t height = 0;
    node_visit_children(copy, raise_height, &height);
    *frame_of(copy) = (Frame){copy->span.begin, copy->span.end, height, 0};
    if (height > MAX_TREE_HEIGHT && !parser->layout.too_deep) {
        parser->layout.too_deep = true;
        diag_report(parser->session->diags, DIAG_nesting, copy->span, (int)MAX_TREE_HEIGHT);
    }
    return copy;
}

Node *node_widen(Node *node, uint32_t begin, uint32_t end)
{
    frame_of(node)->begin = begin;
    frame_of(node)->end = end;
    return node;
}

uint32_t node_begin(const Node *node)
{
    return frame_of(node)->begin;
}

uint32_t node_end(const Node *node)
{
    return frame_of(node)->end;
}

bool node_is_parenthesised(const Node *node)
{
    return node_begin(node) != node->span.begin;
}

/* ---- lists ---- */

Items *items_new(Parser *parser, Node *first)
{
    Items *items = arena_new_of(parser->session->arena, Items);
    return first == NULL ? items : items_add(parser, items, first);
}

Items *items_add(Parser *parser, Items *items, Node *node)
{
    if (items->nodes.count == 0) items->begin = node_begin(node);
    items->end = node_end(node);
    vec_push(parser->session->arena, &items->nodes, node);
    return items;
}

Items *items_end(Items *items, uint32_t end)
{
    items->end = end;
    items->comma = true;
    return items;
}

Items *items_join(Parser *parser, Items *items, const Items *more)
{
    uint32_t end = more->end;
    for (size_t i = 0; i < more->nodes.count; i++) items_add(parser, items, more->nodes.data[i]);
    if (more->nodes.count > 0) items->end = end;
    return items;
}

Nodes items_list(const Items *items)
{
    if (items == NULL) return (Nodes){NULL, 0};
    return (Nodes){items->nodes.data, (uint32_t)items->nodes.count};
}

Names items_names(Parser *parser, const Items *items)
{
    Names list = {arena_new_array(parser->session->arena, Name, items->nodes.count), 0};
    for (size_t i = 0; i < items->nodes.count; i++)
        list.items[list.count++] = NODE_AS(Name, items->nodes.data[i])->id;
    return list;
}

uint32_t items_last(const Items *first, const Items *second, const Items *third)
{
    const Items *lists[] = {first, second, third};
    uint32_t end = 0;
    for (size_t i = 0; i < 3; i++)
        if (lists[i] != NULL && lists[i]->end > end) end = lists[i]->end;
    return end;
}

/* ---- what a function's body holds ---- */

typedef bool NodeTest(const Node *node, const char *text);

/* Functions and classes in it are not looked into. */
static bool holds(const Node *node, NodeTest *test, const char *text)
{
    if (node == NULL) return false;
    if (test(node, text)) return true;
    if (node->kind == NODE_FunctionDef || node->kind == NODE_Lambda || node->kind == NODE_ClassDef)
        return false;
    for (const Field *field = node_fields(node->kind); field->kind != FIELD_END; field++) {
        if (field->kind == FIELD_NODE && holds(*FIELD_OF(Node *, node, field), test, text))
            return true;
        if (field->kind != FIELD_LIST) continue;
        const Nodes *list = FIELD_OF(Nodes, node, field);
        for (uint32_t i = 0; i < list->count; i++)
            if (holds(list->items[i], test, text)) return true;
    }
    return false;
}

static bool body_holds(const Node *function, NodeTest *test, const char *text)
{
    if (function->kind != NODE_FunctionDef && function->kind != NODE_For) return false;
    Nodes body = function->kind == NODE_For ? NODE_AS(For, function)->body
                                            : NODE_AS(FunctionDef, function)->body;
    for (uint32_t i = 0; i < body.count; i++)
        if (holds(body.items[i], test, text)) return true;
    return false;
}

static bool is_yield(const Node *node, const char *text)
{
    (void)text;
    return node->kind == NODE_Yield || node->kind == NODE_YieldFrom;
}

bool node_is_call_of(const Node *node, const char *prefix)
{
    if (node->kind != NODE_Call) return false;
    const Node *callee = NODE_AS(Call, node)->func;
    Name name = callee->kind == NODE_Attribute ? NODE_AS(Attribute, callee)->attr
                : callee->kind == NODE_Name    ? NODE_AS(Name, callee)->id
                                               : NULL;
    return name != NULL && strncmp(name, prefix, strlen(prefix)) == 0;
}

bool node_yields(const Node *function)
{
    return body_holds(function, is_yield, NULL);
}

int node_blocks(const Node *node, Nodes blocks[NODE_BLOCKS])
{
    int count = 0;
    for (const Field *field = node_fields(node->kind); field->kind != FIELD_END; field++) {
        if (field->kind != FIELD_LIST || count == NODE_BLOCKS) continue;
        const Nodes *list = FIELD_OF(Nodes, node, field);
        if (list->count && list->items[0] && list->items[0]->kind >= NODE_FunctionDef &&
            list->items[0]->kind <= NODE_Continue)
            blocks[count++] = *list;
    }
    return count;
}

bool node_calls(const Node *function, const char *prefix)
{
    return body_holds(function, node_is_call_of, prefix);
}
