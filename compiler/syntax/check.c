/* check.c: what the grammar lets through and the language does not. One walk over the tree; a row
 * of the table below for each kind of node that has something to check. */
#include "syntax/parser.h"

typedef struct Scope {
    bool function, async, class, loop;
} Scope;

typedef struct Checker {
    Session *session;
    Scope scope;
    const Node *parent;
    bool warns; /* of what is never reached */
} Checker;

static void visit(void *context, const Node *node);

static void visit_list(Checker *checker, const Nodes *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i] != NULL) visit(checker, list->items[i]);
}

static void visit_in(Checker *checker, Scope scope, const Nodes *list)
{
    Scope outer = checker->scope;
    checker->scope = scope;
    visit_list(checker, list);
    checker->scope = outer;
}

static void complain(Checker *checker, const Node *node, DiagCode code)
{
    diag_report(checker->session->diags, code, node->span);
}

static void misplaced(Checker *checker, const Node *node, const char *what, const char *where)
{
    diag_report(checker->session->diags, DIAG_misplaced, node->span, what, where);
}

/* ---- targets ---- */

typedef enum TargetRule { TARGET_ANY, TARGET_SINGLE, TARGET_DELETED } TargetRule;

static const char *literal_name(const Literal *literal)
{
    switch (literal->kind) {
    case LITERAL_NONE: return "None";
    case LITERAL_TRUE: return "True";
    case LITERAL_FALSE: return "False";
    case LITERAL_ELLIPSIS: return "'...'";
    case LITERAL_INT:
    case LITERAL_FLOAT:
    case LITERAL_IMAGINARY: return "a number";
    case LITERAL_STRING:
    case LITERAL_BYTES: return "a string";
    }
    return "a literal";
}

static const char *target_name(const Node *node)
{
    switch ((int)node->kind) {
    case NODE_Constant: return literal_name(&NODE_AS(Constant, node)->value);
    case NODE_Call: return "the result of a call";
    case NODE_Compare: return "a comparison";
    case NODE_Lambda: return "a lambda";
    case NODE_IfExp: return "a conditional expression";
    case NODE_NamedExpr: return "an assignment expression";
    case NODE_Tuple: return "a tuple";
    case NODE_List: return "a list";
    case NODE_Dict: return "a dict";
    case NODE_Set: return "a set";
    case NODE_Starred: return "a starred expression";
    case NODE_JoinedStr: return "an f-string";
    case NODE_Await: return "an await expression";
    case NODE_Yield:
    case NODE_YieldFrom: return "a yield expression";
    case NODE_ListComp:
    case NODE_SetComp:
    case NODE_DictComp: return "a comprehension";
    case NODE_GeneratorExp: return "a generator expression";
    }
    return "an expression";
}

static void check_target(Checker *checker, const Node *node, TargetRule rule);

static void check_targets(Checker *checker, const Nodes *list, TargetRule rule)
{
    bool starred = false;
    for (uint32_t i = 0; i < list->count; i++) {
        const Node *element = list->items[i];
        if (element->kind != NODE_Starred || rule == TARGET_DELETED) {
            check_target(checker, element, rule);
            continue;
        }
        if (starred)
            diag_report(checker->session->diags, DIAG_several_starred, element->span,
                        "target of an assignment");
        starred = true;
        check_target(checker, NODE_AS(Starred, element)->value, rule);
    }
}

static void check_target(Checker *checker, const Node *node, TargetRule rule)
{
    switch ((int)node->kind) {
    case NODE_Name:
    case NODE_Attribute:
    case NODE_Subscript: return;
    case NODE_Tuple:
        if (rule == TARGET_SINGLE) break;
        check_targets(checker, &NODE_AS(Tuple, node)->elts, rule);
        return;
    case NODE_List:
        if (rule == TARGET_SINGLE) break;
        check_targets(checker, &NODE_AS(List, node)->elts, rule);
        return;
    case NODE_Starred: /* check_starred knows whether it may stand here */
        if (rule == TARGET_ANY) return;
    }
    diag_report(checker->session->diags, DIAG_bad_assign_target, node->span, target_name(node));
}

static void check_assign(Checker *checker, const Node *node)
{
    const Nodes *targets = &NODE_AS(Assign, node)->targets;
    for (uint32_t i = 0; i < targets->count; i++)
        check_target(checker, targets->items[i], TARGET_ANY);
}

static void check_delete(Checker *checker, const Node *node)
{
    check_targets(checker, &NODE_AS(Delete, node)->targets, TARGET_DELETED);
}

static void check_aug_assign(Checker *checker, const Node *node)
{
    check_target(checker, NODE_AS(AugAssign, node)->target, TARGET_SINGLE);
}

static void check_ann_assign(Checker *checker, const Node *node)
{
    check_target(checker, NODE_AS(AnnAssign, node)->target, TARGET_SINGLE);
}

static void check_comprehension(Checker *checker, const Node *node)
{
    check_target(checker, NODE_AS(comprehension, node)->target, TARGET_ANY);
}

static void check_with_item(Checker *checker, const Node *node)
{
    const Node *target = NODE_AS(withitem, node)->optional_vars;
    if (checker->parent->kind == NODE_Tuple)
        diag_report(checker->session->diags, DIAG_syntax, node->span, "'as'", "',' or ')'");
    else if (target != NULL)
        check_target(checker, target, TARGET_ANY);
}

static void check_named(Checker *checker, const Node *node)
{
    const Node *target = NODE_AS(NamedExpr, node)->target;
    if (target->kind != NODE_Name)
        diag_report(checker->session->diags, DIAG_bad_assign_target, target->span,
                    target_name(target));
}

/* A star unpacks into something that has room for several. */
static void check_starred(Checker *checker, const Node *node)
{
    switch ((int)checker->parent->kind) {
    case NODE_Tuple:
    case NODE_List:
    case NODE_Set:
    case NODE_Call:
    case NODE_ClassDef:
    case NODE_arg:
    case NODE_Delete: /* of the last, check_target speaks */ return;
    }
    complain(checker, node, DIAG_starred_expression);
}

/* ---- names given twice ---- */

/* The names of one list so far. */
typedef struct NamesSeen {
    const char *what;
    Map names;
} NamesSeen;

static void check_name(Checker *checker, NamesSeen *seen, Name name, const Node *node)
{
    if (name == NULL) return; /* `**x` */
    if (map_has(&seen->names, name))
        diag_report(checker->session->diags, DIAG_duplicate, node->span, seen->what, name);
    map_set(checker->session->arena, &seen->names, name, NULL);
}

static void check_args(Checker *checker, NamesSeen *seen, const Nodes *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        check_name(checker, seen, NODE_AS(arg, list->items[i])->arg, list->items[i]);
}

static void check_one_arg(Checker *checker, NamesSeen *seen, Node *arg)
{
    if (arg != NULL) check_args(checker, seen, &(Nodes){&arg, 1});
}

static void check_arguments(Checker *checker, const Node *node)
{
    const Nodearguments *arguments = NODE_AS(arguments, node);
    NamesSeen seen = {.what = "parameter"};
    check_args(checker, &seen, &arguments->posonlyargs);
    check_args(checker, &seen, &arguments->args);
    check_one_arg(checker, &seen, arguments->vararg);
    check_args(checker, &seen, &arguments->kwonlyargs);
    check_one_arg(checker, &seen, arguments->kwarg);
}

static void check_keywords(Checker *checker, const Nodes *keywords)
{
    NamesSeen seen = {.what = "argument"};
    if (keywords->count < 2) return;
    for (uint32_t i = 0; i < keywords->count; i++)
        check_name(checker, &seen, NODE_AS(keyword, keywords->items[i])->arg, keywords->items[i]);
}

static void check_call(Checker *checker, const Node *node)
{
    check_keywords(checker, &NODE_AS(Call, node)->keywords);
}

/* ---- where statements may stand ---- */

static void check_return(Checker *checker, const Node *node)
{
    if (!checker->scope.function) misplaced(checker, node, "return", "a function");
}

static void check_yield(Checker *checker, const Node *node)
{
    if (!checker->scope.function)
        misplaced(checker, node, node->kind == NODE_Yield ? "yield" : "yield from", "a function");
}

static void check_await(Checker *checker, const Node *node)
{
    if (!checker->scope.async) misplaced(checker, node, "await", "an async function");
}

static void check_async(Checker *checker, const Node *node)
{
    if (!checker->scope.async)
        misplaced(checker, node, node->kind == NODE_AsyncFor ? "async for" : "async with",
                  "an async function");
}

static void check_jump(Checker *checker, const Node *node)
{
    if (!checker->scope.loop)
        misplaced(checker, node, node->kind == NODE_Break ? "break" : "continue", "a loop");
}

static void check_nonlocal(Checker *checker, const Node *node)
{
    if (!checker->scope.function && !checker->scope.class)
        misplaced(checker, node, "nonlocal", "a function");
}

static void check_import_from(Checker *checker, const Node *node)
{
    const Nodealias *first = NODE_AS(alias, NODE_AS(ImportFrom, node)->names.items[0]);
    if (first->name[0] == '*' && (checker->scope.function || checker->scope.class))
        misplaced(checker, node, "import *", "the module's own level");
}

/* Those of `except*` have a type by the grammar. */
static void check_try(Checker *checker, const Node *node)
{
    const Nodes *handlers = &NODE_AS(Try, node)->handlers;
    for (uint32_t i = 0; i + 1 < handlers->count; i++) {
        const Node *handler = handlers->items[i];
        if (NODE_AS(ExceptHandler, handler)->type != NULL) continue;
        Span span = handler->span;
        span.end = span.begin + 6;
        diag_report(checker->session->diags, DIAG_bare_except, span);
    }
}

/* ---- patterns ---- */

/* Matches whatever there is. */
static bool is_irrefutable(const Node *pattern)
{
    if (pattern->kind == NODE_MatchAs) {
        const Node *inner = NODE_AS(MatchAs, pattern)->pattern;
        return inner == NULL || is_irrefutable(inner);
    }
    if (pattern->kind != NODE_MatchOr) return false;
    const Nodes *patterns = &NODE_AS(MatchOr, pattern)->patterns;
    return is_irrefutable(patterns->items[patterns->count - 1]);
}

static void check_match(Checker *checker, const Node *node)
{
    const Nodes *cases = &NODE_AS(Match, node)->cases;
    for (uint32_t i = 0; i + 1 < cases->count; i++) {
        const Nodematch_case *one = NODE_AS(match_case, cases->items[i]);
        if (one->guard == NULL && is_irrefutable(one->pattern))
            complain(checker, one->pattern, DIAG_unreached_pattern);
    }
}

static void check_match_or(Checker *checker, const Node *node)
{
    const Nodes *patterns = &NODE_AS(MatchOr, node)->patterns;
    for (uint32_t i = 0; i + 1 < patterns->count; i++)
        if (is_irrefutable(patterns->items[i]))
            complain(checker, patterns->items[i], DIAG_unreached_pattern);
}

static void check_match_sequence(Checker *checker, const Node *node)
{
    const Nodes *patterns = &NODE_AS(MatchSequence, node)->patterns;
    uint32_t starred = 0;
    for (uint32_t i = 0; i < patterns->count; i++)
        if (patterns->items[i]->kind == NODE_MatchStar && starred++ > 0)
            diag_report(checker->session->diags, DIAG_several_starred, patterns->items[i]->span,
                        "pattern of a sequence");
}

static void check_match_class(Checker *checker, const Node *node)
{
    const NodeMatchClass *class = NODE_AS(MatchClass, node);
    NamesSeen seen = {.what = "attribute"};
    for (uint32_t i = 0; i < class->kwd_attrs.count; i++)
        check_name(checker, &seen, class->kwd_attrs.items[i], class->kwd_patterns.items[i]);
}

/* ---- statements that are never reached ---- */

static const Node *leaves(const Node *node);

/* The statement at which a block ends without going on behind it; NULL: it may go on. */
static const Node *block_leaves(const Nodes *statements)
{
    return statements->count > 0 ? leaves(statements->items[statements->count - 1]) : NULL;
}

/* As far as the text alone says so. Of an `if` it is the branch behind which nothing follows. */
static const Node *leaves(const Node *node)
{
    switch ((int)node->kind) {
    case NODE_Return:
    case NODE_Raise:
    case NODE_Break:
    case NODE_Continue: return node;
    case NODE_If:
        return block_leaves(&NODE_AS(If, node)->body) != NULL
                   ? block_leaves(&NODE_AS(If, node)->orelse)
                   : NULL;
    }
    return NULL;
}

static const char *leaving_word(const Node *node)
{
    switch ((int)node->kind) {
    case NODE_Return: return "return";
    case NODE_Raise: return "raise";
    case NODE_Break: return "break";
    }
    return "continue";
}

/* A `yield` behind a `return` makes a generator of the function, if one of nothing. */
static bool is_yield(const Node *node)
{
    if (node->kind != NODE_Expr) return false;
    const NodeKind kind = NODE_AS(Expr, node)->value->kind;
    return kind == NODE_Yield || kind == NODE_YieldFrom;
}

/* The first one of a block: what follows it is as little reached. */
static void check_reached(Checker *checker, const Nodes *statements)
{
    for (uint32_t i = 0; i + 1 < statements->count; i++) {
        const Node *left = leaves(statements->items[i]), *next = statements->items[i + 1];
        if (left == NULL) continue;
        if (is_yield(next)) return;
        const Location at = source_location(left->span.source, left->span.begin);
        diag_report(checker->session->diags, DIAG_unreachable, next->span, leaving_word(left),
                    (unsigned)at.line);
        return;
    }
}

static void check_blocks(Checker *checker, const Node *node)
{
    Nodes blocks[NODE_BLOCKS];
    const int count = node_blocks(node, blocks);
    for (int i = 0; i < count; i++) check_reached(checker, &blocks[i]);
}

/* ---- walks into new scopes ---- */

static void walk_function(Checker *checker, const Node *node)
{
    /* the async one has the same fields */
    const NodeFunctionDef *function = (const NodeFunctionDef *)node;
    visit_list(checker, &function->decorator_list);
    visit_list(checker, &function->type_params);
    visit(checker, function->args);
    if (function->returns != NULL) visit(checker, function->returns);
    Scope inside = {.function = true, .async = node->kind == NODE_AsyncFunctionDef};
    visit_in(checker, inside, &function->body);
}

static void walk_lambda(Checker *checker, const Node *node)
{
    const NodeLambda *lambda = NODE_AS(Lambda, node);
    visit(checker, lambda->args);
    visit_in(checker, (Scope){.function = true}, &(Nodes){(Node **)&lambda->body, 1});
}

static void walk_class(Checker *checker, const Node *node)
{
    const NodeClassDef *class = NODE_AS(ClassDef, node);
    check_keywords(checker, &class->keywords);
    visit_list(checker, &class->decorator_list);
    visit_list(checker, &class->type_params);
    visit_list(checker, &class->bases);
    visit_list(checker, &class->keywords);
    visit_in(checker, (Scope){.class = true}, &class->body);
}

/* Waiting makes the generator asynchronous, wherever it is written. */
static void walk_generator(Checker *checker, const Node *node)
{
    const NodeGeneratorExp *generator = NODE_AS(GeneratorExp, node);
    Scope inside = checker->scope;
    inside.async = true;
    visit_in(checker, inside, &generator->generators);
    visit_in(checker, inside, &(Nodes){(Node **)&generator->elt, 1});
}

/* The `else` of a loop is no part of it. */
static void walk_for(Checker *checker, const Node *node)
{
    const NodeFor *loop = (const NodeFor *)node; /* the async one has the same fields */
    if (node->kind == NODE_AsyncFor) check_async(checker, node);
    check_target(checker, loop->target, TARGET_ANY);
    visit(checker, loop->target);
    visit(checker, loop->iter);
    Scope inside = checker->scope;
    inside.loop = true;
    visit_in(checker, inside, &loop->body);
    visit_list(checker, &loop->orelse);
}

static void walk_while(Checker *checker, const Node *node)
{
    const NodeWhile *loop = NODE_AS(While, node);
    visit(checker, loop->test);
    Scope inside = checker->scope;
    inside.loop = true;
    visit_in(checker, inside, &loop->body);
    visit_list(checker, &loop->orelse);
}

/* ---- the walk ---- */

typedef void Check(Checker *checker, const Node *node);

typedef struct Checks {
    Check *check; /* looks at the node itself; the walk goes on below it */
    Check *walk;  /* looks at the node and walks below it as it needs */
} Checks;

static const Checks *checks_of(NodeKind kind)
{
    static const Checks table[NODE_COUNT] = {
        [NODE_FunctionDef] = {NULL, walk_function},
        [NODE_AsyncFunctionDef] = {NULL, walk_function},
        [NODE_Lambda] = {NULL, walk_lambda},
        [NODE_ClassDef] = {NULL, walk_class},
        [NODE_GeneratorExp] = {NULL, walk_generator},
        [NODE_For] = {NULL, walk_for},
        [NODE_AsyncFor] = {NULL, walk_for},
        [NODE_While] = {NULL, walk_while},
        [NODE_AsyncWith] = {check_async, NULL},
        [NODE_Assign] = {check_assign, NULL},
        [NODE_AugAssign] = {check_aug_assign, NULL},
        [NODE_AnnAssign] = {check_ann_assign, NULL},
        [NODE_Delete] = {check_delete, NULL},
        [NODE_NamedExpr] = {check_named, NULL},
        [NODE_comprehension] = {check_comprehension, NULL},
        [NODE_withitem] = {check_with_item, NULL},
        [NODE_Starred] = {check_starred, NULL},
        [NODE_arguments] = {check_arguments, NULL},
        [NODE_Call] = {check_call, NULL},
        [NODE_Return] = {check_return, NULL},
        [NODE_Yield] = {check_yield, NULL},
        [NODE_YieldFrom] = {check_yield, NULL},
        [NODE_Await] = {check_await, NULL},
        [NODE_Break] = {check_jump, NULL},
        [NODE_Continue] = {check_jump, NULL},
        [NODE_Nonlocal] = {check_nonlocal, NULL},
        [NODE_ImportFrom] = {check_import_from, NULL},
        [NODE_Try] = {check_try, NULL},
        [NODE_Match] = {check_match, NULL},
        [NODE_MatchOr] = {check_match_or, NULL},
        [NODE_MatchSequence] = {check_match_sequence, NULL},
        [NODE_MatchClass] = {check_match_class, NULL},
    };
    return &table[kind];
}

static void visit(void *context, const Node *node)
{
    Checker *checker = context;
    const Checks *checks = checks_of(node->kind);
    if (checks->check != NULL) checks->check(checker, node);
    if (checker->warns) check_blocks(checker, node);
    const Node *outer = checker->parent;
    checker->parent = node;
    if (checks->walk != NULL)
        checks->walk(checker, node);
    else
        node_visit_children(node, visit, checker);
    checker->parent = outer;
}

void check_tree(Session *session, const NodeModule *module)
{
    Checker checker = {.session = session,
                       .warns = diag_is_wanted(session->diags, DIAG_unreachable)};
    visit(&checker, &module->base);
}
