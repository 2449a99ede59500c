/* parser.h: what scanner, layout, grammar and constructors share; private to syntax/.
 *
 * Text flows  scan_token (grammar/tile.re) -> layout_next (indent.c) -> Lemon (grammar/tile.y),
 * pumped by parse.c; the grammar's actions call the constructors declared here and do nothing else.
 */
#ifndef TILEC_SYNTAX_PARSER_H
#define TILEC_SYNTAX_PARSER_H

#include "base/base.h"
#include "base/vec.h"
#include "syntax/syntax.h"

enum {
    MAX_INDENTS = 100,
    MAX_BRACKETS = 200,
    MAX_TREE_HEIGHT = 500, /* so that walks of the tree may recurse */
    MAX_FIELD_DEPTH = 20,  /* f-strings within f-strings */
};

#define NO_COLUMN UINT32_MAX

/* ---- grammar/tile.re: raw tokens ---- */

typedef struct Token {
    int kind; /* TOKEN_... of the grammar; 0 at the end */
    uint32_t begin, end;
    DiagCode problem;   /* what is wrong with its text; DIAG_COUNT if nothing is */
    const char *detail; /* of the problem, static text; NULL: the token's own text */
} Token;

typedef struct Scanner {
    const Source *source;
    const char *cursor;
} Scanner;

Token scan_token(Scanner *scanner);

/* ---- strings.c: where strings end, what they mean ---- */

typedef struct StringShape {
    bool bytes, raw, formatted, triple, closed;
    char quote;
    const char *body, *body_end; /* between the quotes */
    const char *end;             /* past the closing quote */
} StringShape;

/* The string whose prefix or quote is at `begin`; `limit` is where the text ends. */
StringShape string_shape(const char *begin, const char *limit);

/* A replacement field {expression = !conversion : format}, from its '{'. NULL: not there. */
typedef struct FieldShape {
    const char *expression, *expression_end;
    const char *debug_end;  /* past '=' and its blanks */
    const char *conversion; /* past '!' */
    const char *conversion_end;
    const char *format; /* past ':' */
    const char *end;    /* past '}'; NULL if the field is never closed */
} FieldShape;

FieldShape field_shape(const char *open, const char *limit);
/* The first '#' of a field's text that starts a comment, or `limit`. */
const char *find_comment(const char *at, const char *limit);

/* ---- unicode.c: names beyond ASCII ---- */

bool is_name_character(uint32_t character, bool first);
/* The one spelling (NFKC) of a name that may be spelled in several ways. */
void normalise_name(Arena *arena, const char *text, size_t length, Buf *out);

/* ---- indent.c: NEWLINE, INDENT, DEDENT, brackets ---- */

typedef struct Indent {
    uint32_t column, other; /* with tabs to 8, and with tabs as 1: both must tell the same story */
    bool silent;            /* was reported: the parser is not told */
} Indent;

typedef struct Bracket {
    char open;
    uint32_t begin;
} Bracket;

typedef struct Layout {
    Session *session;
    Scanner scanner;
    uint32_t end;          /* the text to read ends here */
    const char *line;      /* where the logical line starts, its indentation included */
    uint32_t first_begin;  /* its first token */
    uint32_t column;       /* of that */
    uint32_t fault_column; /* of the last line with a syntax error, NO_COLUMN once it is left */
    uint32_t odd_column;   /* of a line that fitted no block: those after it are as they should */
    Indent indents[MAX_INDENTS + 1];
    size_t indent_count;
    size_t keep_indents; /* owed DEDENTs: the stack must come down to this many */
    Bracket brackets[MAX_BRACKETS];
    size_t bracket_count;
    Token held; /* waits behind an INDENT or DEDENTs */
    bool has_held;
    bool at_line_start;
    bool line_failed; /* something of this logical line was reported */
    bool too_deep;
    int last_kind; /* of the last token handed out, NEWLINE and the like left out */
    uint32_t last_begin, last_end;
    int supply; /* tokens still to come of an INDENT PASS NEWLINE DEDENT made up here */
} Layout;

/* Reads [begin, end) of the source; `inside` starts in brackets, where lines mean nothing. */
typedef enum LayoutMode { LAYOUT_FILE, LAYOUT_INSIDE } LayoutMode;
void layout_init(Layout *layout, Session *session, const Source *source, uint32_t begin,
                 uint32_t end, LayoutMode mode);
Token layout_next(Layout *layout);
/* The innermost bracket that nothing later in the text closes, or NULL. Closes it and all around
 * it, so that the next line is a line again. */
const Bracket *layout_close_lost_bracket(Layout *layout);

/* ---- parse.c ---- */

typedef struct Items {
    VEC(Node *) nodes;
    uint32_t begin, end; /* of all, a trailing comma included */
    bool comma;          /* there is a trailing one */
} Items;

typedef struct Parser {
    Session *session;
    const Source *source;
    Layout layout;
    Items *body;      /* the module's statements so far */
    Node *expression; /* the result where an expression alone was asked for */
    int field_depth;
} Parser;

/* The expression that [begin, end) holds, for f-strings. */
Node *parse_field(Parser *outer, uint32_t begin, uint32_t end);
Span parser_span(const Parser *parser, uint32_t begin, uint32_t end);
/* Called by the grammar; `expected[kind]` says whether a token would have been right. */
void parser_syntax_error(Parser *parser, Token token, const bool *expected, int kind_count);
void parser_out_of_stack(Parser *parser);

/* ---- token.c ---- */

const char *token_describe(const Parser *parser, Token token);
const char *expected_describe(const Parser *parser, Token token, const bool *expected,
                              int kind_count);
/* Whether a line inside brackets that starts with this token shows that a bracket was forgotten. */
bool token_starts_statement(int kind);

/* ---- slips.c: notes for those who come from elsewhere ---- */

/* Adds what may have been meant to the syntax error just reported. */
void note_slip(const Parser *parser, Token token);
/* Whether the token is a value that follows another inside brackets. */
bool is_missing_comma(const Parser *parser, Token token);
const char *character_slip(char c); /* NULL: nothing to say */

/* ---- ast.c: nodes ---- */

typedef enum FieldKind {
    FIELD_END,
    FIELD_NODE,
    FIELD_LIST,
    FIELD_NAME,
    FIELD_NAMES,
    FIELD_OP,
    FIELD_OPS,
    FIELD_INT,
    FIELD_CONST,
} FieldKind;

typedef struct Field {
    FieldKind kind;
    const char *name;
    size_t offset;
} Field;

const Field *node_fields(NodeKind kind); /* up to FIELD_END */
#define FIELD_OF(T, node, field) ((const T *)((const char *)(node) + (field)->offset))

/* A copy of `node`, `size` bytes, in the session's arena. While a tree is built each node also has
 * outer bounds, which parentheses around it widen. */
Node *node_make(Parser *parser, const Node *node, size_t size);
Node *node_widen(Node *node, uint32_t begin, uint32_t end);
uint32_t node_begin(const Node *node); /* outer */
uint32_t node_end(const Node *node);
bool node_is_parenthesised(const Node *node);

#define MAKE(kind_name, first, last, ...)                                                          \
    node_make(parser,                                                                              \
              &(Node##kind_name){.base = {NODE_##kind_name, parser_span(parser, (first), (last))}, \
                                 __VA_ARGS__}                                                      \
                   .base,                                                                          \
              sizeof(Node##kind_name))

Items *items_new(Parser *parser, Node *first); /* first may be NULL: empty */
Items *items_add(Parser *parser, Items *items, Node *node);
Items *items_end(Items *items, uint32_t end); /* a trailing comma ends here */
Items *items_join(Parser *parser, Items *items, const Items *more);
Nodes items_list(const Items *items);                  /* items may be NULL */
Names items_names(Parser *parser, const Items *items); /* of Name nodes */
uint32_t items_last(const Items *first, const Items *second,
                    const Items *third); /* NULLs allowed */

/* ---- build.c: constructors for the grammar ---- */

Name token_text(const Parser *parser, Token token);
Operator token_operator(const Parser *parser, Token token); /* "<=", "+=", "//" ... */
Node *make_name(Parser *parser, Token token);
Node *make_literal(Parser *parser, Token token, LiteralKind kind);
Node *make_binary(Parser *parser, Node *left, Operator op, Node *right);
Node *make_unary(Parser *parser, Token op, Operator operator, Node * operand);
Node *make_bool(Parser *parser, Operator op, const Items *values);
Node *make_starred(Parser *parser, Token star, Node *value);
Node *make_tuple_or_one(Parser *parser, Items *items);
Node *make_group(Parser *parser, Token open, Items *items, Token close); /* (a), (a, b), (a as b) */
Node *make_braces(Parser *parser, Token open, Items *items, Token close);
Node *make_dict(Parser *parser, Token open, const Items *pairs, Token close);
Node *make_generator(Parser *parser, NodeKind kind, Token open, Node *element, const Items *clauses,
                     Token close);
Node *make_dict_comprehension(Parser *parser, Token open, Node *pair, const Items *clauses,
                              Token close);
Node *make_bare_generator(Parser *parser, Node *element, const Items *clauses);
Node *make_call(Parser *parser, Node *function, Token open, Items *arguments, Token close);
Node *make_keyword(Parser *parser, Node *name, Node *value);
Node *make_subscript(Parser *parser, Node *value, Items *slices, Token close);
Node *make_slice(Parser *parser, Node *lower, Token colon, Node *upper, Token *second, Node *step);
Node *make_class(Parser *parser, Token keyword, Token name, const Items *types, Items *arguments,
                 const Items *body);
Node *make_assign(Parser *parser, Node *first, Items *rest);
Node *make_annotated(Parser *parser, Node *target, Node *annotation, Node *value);
Node *make_with(Parser *parser, Token keyword, Items *items, const Items *body);
Node *make_async(Parser *parser, Token keyword, Node *statement);
Node *make_decorated(Parser *parser, const Items *decorators, Node *definition);
Node *make_dotted(Parser *parser, const Items *parts); /* a Name with dots, for imports */
Node *make_import_from(Parser *parser, Token keyword, int level, Node *module, Items *names,
                       uint32_t end);
Items *make_else(Parser *parser, Token keyword, Node *test, Items *body, Items *orelse);
Node *make_try(Parser *parser, Token keyword, Items *body, Items *handlers, Items *orelse,
               Items *finalbody);
Node *make_handler(Parser *parser, Token keyword, Node *type, const Token *name, const Items *body);

typedef struct CompareChain {
    Node *left;
    Items *rest;
    VEC(Operator) ops;
} CompareChain;

CompareChain *compare_begin(Parser *parser, Node *left);
CompareChain *compare_add(Parser *parser, CompareChain *chain, Operator op, Node *right);
Node *compare_finish(Parser *parser, CompareChain *chain);

/* ---- params.c, patterns.c: constructors too ---- */

typedef enum ParamKind { PARAM_PLAIN, PARAM_SLASH, PARAM_STAR, PARAM_DOUBLE_STAR } ParamKind;

typedef struct Param {
    ParamKind kind;
    Node *arg; /* NULL for "/" and a bare "*" */
    Node *value;
    uint32_t begin, end;
} Param;

typedef VEC(Param) Params;

Param make_param(ParamKind kind, Node *arg, Node *value, Token mark);
Node *make_arg(Parser *parser, Token name, Node *annotation);
Params *params_add(Parser *parser, Params *params, Param param);
Node *make_arguments(Parser *parser, const Params *params, uint32_t at);

Node *make_capture(Parser *parser, Node *name);
Node *make_pattern_value(Parser *parser, Node *value);
Node *make_pattern_as(Parser *parser, Node *pattern, Token name);
Node *make_pattern_star(Parser *parser, Token star, Token name);
Node *make_pattern_sequence(Parser *parser, Items *items);
Node *make_pattern_group(Parser *parser, Token open, Items *items, Token close);
Node *make_pattern_class(Parser *parser, Node *cls, const Items *arguments, Token close);
Node *make_pattern_mapping(Parser *parser, Token open, const Items *pairs, Token close);

/* ---- literal.c, fstring.c ---- */

Node *make_number(Parser *parser, Token token);

typedef VEC(Token) Strings;

Strings *strings_add(Parser *parser, Strings *strings, Token token);
Node *make_strings(Parser *parser, const Strings *strings);
/* Decodes [begin, end) of a literal; `braces` says that "{{" and "}}" stand for one. */
typedef enum BraceRule { BRACES_PLAIN, BRACES_DOUBLED } BraceRule;
void decode_text(Parser *parser, const StringShape *shape, const char *begin, const char *end,
                 BraceRule braces, Buf *out);
/* Appends the parts of an f-string to `parts`. */
typedef struct StringParts StringParts;
void split_fstring(Parser *parser, const StringShape *shape, StringParts *parts);

struct StringParts { /* text that is collected until a field ends it, and the parts so far */
    Items *items;
    Buf text;
    uint32_t text_begin, text_end;
    bool has_text;
};
void parts_begin_text(StringParts *parts, uint32_t begin, uint32_t end);
void parts_flush_text(Parser *parser, StringParts *parts);

/* ---- check.c ---- */

void check_tree(Session *session, const NodeModule *module);

#endif
