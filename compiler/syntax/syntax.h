/* syntax.h: the front door of syntax/: from text to a tree.
 *
 * parse_source() reads a file of the language (Python 3.11's grammar, and 3.12's additions) and
 * gives a tree that is read-only from then on. Errors are reported to the session; what could be
 * read is still returned, so that several errors of a file are found in one run. */
#ifndef TILEC_SYNTAX_H
#define TILEC_SYNTAX_H

#include "base/base.h"

typedef enum NodeKind {
#define NODE(kind, fields) NODE_##kind,
#include "syntax/nodes.def"
#undef NODE
    NODE_COUNT
} NodeKind;

typedef enum Operator {
#define OPERATOR(name, text) OPERATOR_##name,
#include "syntax/operators.def"
#undef OPERATOR
    OPERATOR_COUNT
} Operator;

typedef struct Node {
    NodeKind kind;
    Span span;
} Node;

typedef struct Nodes {
    Node **items;
    uint32_t count;
} Nodes;

typedef struct Names {
    Name *items;
    uint32_t count;
} Names;

typedef struct Operators {
    Operator *items;
    uint32_t count;
} Operators;

typedef enum LiteralKind {
    LITERAL_NONE,
    LITERAL_TRUE,
    LITERAL_FALSE,
    LITERAL_ELLIPSIS,
    LITERAL_INT,   /* integer; the text too where it does not fit 64 bits */
    LITERAL_FLOAT, /* number */
    LITERAL_IMAGINARY,
    LITERAL_STRING, /* text, decoded to UTF-8, with its length (it may hold NUL) */
    LITERAL_BYTES,
} LiteralKind;

typedef struct Literal {
    LiteralKind kind;
    uint64_t integer;
    double number;
    const char *text;
    size_t length;
    bool too_large; /* the integer needs more than 64 bits; text has its digits as written */
} Literal;

/* One struct a kind: NodeBinOp {base, left, op, right}. */
#define F_NODE(name)  Node *name;
#define F_LIST(name)  Nodes name;
#define F_NAME(name)  Name name;
#define F_NAMES(name) Names name;
#define F_OP(name)    Operator name;
#define F_OPS(name)   Operators name;
#define F_INT(name)   int name;
#define F_CONST(name) Literal name;
#define NODE(kind, fields)                                                                         \
    typedef struct Node##kind {                                                                    \
        Node base;                                                                                 \
        fields                                                                                     \
    } Node##kind;
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

/* NODE_AS(BinOp, node)->left: checked in every build. */
#define NODE_AS(type, node) ((const Node##type *)node_check((node), NODE_##type))
const Node *node_check(const Node *node, NodeKind kind);

/* The words of the grammar, which are no names, or as `match` not everywhere; length 0: there are
 * no more. */
typedef struct Word {
    const char *text;
    size_t length;
} Word;
Word keyword_at(size_t index);

const char *node_kind_name(NodeKind kind); /* "BinOp" */
const char *operator_name(Operator op);    /* "Add", as in Python's ast */
const char *operator_text(Operator op);    /* "+" */

typedef struct Module {
    const Source *source;
    const NodeModule *tree;
} Module;

/* Never NULL; ask diag_error_count() whether the tree is whole. */
Module *parse_source(Session *session, const Source *source);
/* Whether a function's body has a `yield` of its own: a call of it makes a generator. */
bool node_yields(const Node *function);
bool node_is_call_of(const Node *node, const char *prefix);
/* Whether a function, or a `for`, calls something whose name, or attribute, begins so. */
bool node_calls(const Node *function, const char *prefix);
/* Calls visit(context, child) for each child that is there, in order. */
void node_visit_children(const Node *node, void (*visit)(void *context, const Node *child),
                         void *context);
/* Puts what replace(context, child) gives in the place of each child that is there. */
void node_replace(Node *node, Node *(*replace)(void *context, Node *child), void *context);
/* The lists of statements that a node has, those without any left out; so many. */
enum { NODE_BLOCKS = 4 };
int node_blocks(const Node *node, Nodes blocks[NODE_BLOCKS]);
/* The tree as text, one node a line, indented, with spans: what --emit=ast prints. */
void print_tree(const Node *node, Buf *out);

#endif
