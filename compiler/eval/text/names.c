/* names.c: what the text of statements tells: the names that they bind, whether they leave. */
#include "eval/text/text.h"

#include <string.h>

typedef struct NameWalk {
    Eval *eval;
    void (*visit)(void *, Name);
    void *context;
} NameWalk;

/* ---- the names that a statement binds ---- */

static void walk_statement(const NameWalk *walk, const Node *node);

static void walk_target(const NameWalk *walk, const Node *node)
{
    if (node == NULL) return;
    if (node->kind == NODE_Name) walk->visit(walk->context, NODE_AS(Name, node)->id);
    if (node->kind == NODE_Starred) walk_target(walk, NODE_AS(Starred, node)->value);
    if (node->kind != NODE_Tuple && node->kind != NODE_List) return;
    Nodes elements =
        node->kind == NODE_Tuple ? NODE_AS(Tuple, node)->elts : NODE_AS(List, node)->elts;
    for (uint32_t i = 0; i < elements.count; i++) walk_target(walk, elements.items[i]);
}

static void walk_all(const NameWalk *walk, Nodes nodes)
{
    for (uint32_t i = 0; i < nodes.count; i++) walk_statement(walk, nodes.items[i]);
}

static void walk_aliases(const NameWalk *walk, Nodes names)
{
    for (uint32_t i = 0; i < names.count; i++) {
        const Nodealias *alias = NODE_AS(alias, names.items[i]);
        if (alias->asname != NULL) {
            walk->visit(walk->context, alias->asname);
            continue;
        }
        const char *dot = strchr(alias->name, '.'); /* `import a.b` binds a */
        size_t length = dot != NULL ? (size_t)(dot - alias->name) : strlen(alias->name);
        walk->visit(walk->context, intern(walk->eval->session->names, alias->name, length));
    }
}

static void walk_try(const NameWalk *walk, const NodeTry *node)
{
    walk_all(walk, node->body);
    for (uint32_t i = 0; i < node->handlers.count; i++)
        walk_all(walk, NODE_AS(ExceptHandler, node->handlers.items[i])->body);
    walk_all(walk, node->orelse);
    walk_all(walk, node->finalbody);
}

static void walk_with(const NameWalk *walk, const NodeWith *node)
{
    for (uint32_t i = 0; i < node->items.count; i++)
        walk_target(walk, NODE_AS(withitem, node->items.items[i])->optional_vars);
    walk_all(walk, node->body);
}

static void walk_compound(const NameWalk *walk, const Node *node)
{
    switch ((int)node->kind) {
    case NODE_For:
        walk_target(walk, NODE_AS(For, node)->target);
        walk_all(walk, NODE_AS(For, node)->body);
        walk_all(walk, NODE_AS(For, node)->orelse);
        break;
    case NODE_While:
        walk_all(walk, NODE_AS(While, node)->body);
        walk_all(walk, NODE_AS(While, node)->orelse);
        break;
    case NODE_Match:
        for (uint32_t i = 0; i < NODE_AS(Match, node)->cases.count; i++)
            walk_all(walk, NODE_AS(match_case, NODE_AS(Match, node)->cases.items[i])->body);
        break;
    case NODE_If:
        walk_all(walk, NODE_AS(If, node)->body);
        walk_all(walk, NODE_AS(If, node)->orelse);
        break;
    case NODE_With: walk_with(walk, NODE_AS(With, node)); break;
    case NODE_Try: walk_try(walk, NODE_AS(Try, node)); break;
    default: break; /* the others bind nothing */
    }
}

static void walk_statement(const NameWalk *walk, const Node *node)
{
    switch ((int)node->kind) {
    case NODE_FunctionDef: walk->visit(walk->context, NODE_AS(FunctionDef, node)->name); break;
    case NODE_ClassDef: walk->visit(walk->context, NODE_AS(ClassDef, node)->name); break;
    case NODE_Assign:
        for (uint32_t i = 0; i < NODE_AS(Assign, node)->targets.count; i++)
            walk_target(walk, NODE_AS(Assign, node)->targets.items[i]);
        break;
    case NODE_AugAssign: walk_target(walk, NODE_AS(AugAssign, node)->target); break;
    case NODE_AnnAssign: walk_target(walk, NODE_AS(AnnAssign, node)->target); break;
    case NODE_TypeAlias: walk_target(walk, NODE_AS(TypeAlias, node)->name); break;
    case NODE_Import: walk_aliases(walk, NODE_AS(Import, node)->names); break;
    case NODE_ImportFrom: walk_aliases(walk, NODE_AS(ImportFrom, node)->names); break;
    default: walk_compound(walk, node); break;
    }
}

void names_bound(Eval *eval, const Node *statement, void (*visit)(void *, Name), void *context)
{
    NameWalk walk = {eval, visit, context};
    walk_statement(&walk, statement);
}

/* ---- whether they leave ---- */

static bool statement_leaves(const Node *node)
{
    if (node->kind == NODE_If)
        return block_leaves(NODE_AS(If, node)->body) && block_leaves(NODE_AS(If, node)->orelse);
    return node->kind == NODE_Return || node->kind == NODE_Break || node->kind == NODE_Continue;
}

bool block_leaves(Nodes statements)
{
    return statements.count > 0 && statement_leaves(statements.items[statements.count - 1]);
}
