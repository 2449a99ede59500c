/* shadow.c: names of a file that hide what it imports from a dialect (-Wshadowed). Of a function's
 * own names those are looked at that are parameters or assigned; host code, which is never called
 * when kernels are made, is left alone. */
#include "eval/export/export.h"

#include <string.h>

/* ---- what hides ---- */

typedef struct Shadows {
    Eval *eval;
    const Unit *unit;
    uint32_t last; /* of the module's statements, those before it import */
} Shadows;

/* Whether the module is one of a dialect: its first name says so. */
static bool is_of_dialect(const Eval *eval, const char *module)
{
    const Object *dialects = eval->dialects;
    const size_t length = module != NULL ? strcspn(module, ".") : 0;
    for (size_t i = 0; i < dialects->as.dict.keys.count; i++) {
        const Object *name = dialects->as.dict.keys.data[i];
        if (name->as.text.length == length && memcmp(name->as.text.data, module, length) == 0)
            return true;
    }
    return false;
}

/* The module of the dialect that the statement imports, or imports the name from; NULL: it is none.
 */
static const char *imported_from(const Shadows *shadows, const Node *node, Name name)
{
    Eval *eval = shadows->eval;
    if (node->kind != NODE_Import && node->kind != NODE_ImportFrom) return NULL;
    const bool from = node->kind == NODE_ImportFrom;
    const Nodes names = from ? NODE_AS(ImportFrom, node)->names : NODE_AS(Import, node)->names;
    for (uint32_t i = 0; i < names.count; i++) {
        const Nodealias *alias = NODE_AS(alias, names.items[i]);
        const char *module = from ? NODE_AS(ImportFrom, node)->module : alias->name;
        if (!is_of_dialect(eval, module)) continue;
        const char *bound = alias->asname != NULL ? alias->asname : alias->name;
        const size_t length = alias->asname != NULL || from ? strlen(bound) : strcspn(bound, ".");
        if (strlen(name) == length && memcmp(name, bound, length) == 0) return module;
        bool found = false;
        eval->quiet++;
        if (strcmp(bound, "*") == 0)
            star_lookup(eval, shadows->unit, NODE_AS(ImportFrom, node), name, node->span, &found);
        eval->quiet--;
        if (found) return module;
    }
    return NULL;
}

static void look_at_name(const Shadows *shadows, Name name, Span span)
{
    const Nodes body = shadows->unit->tree->tree->body;
    for (uint32_t i = 0; i < body.count && i < shadows->last; i++) {
        const char *module = imported_from(shadows, body.items[i], name);
        if (module == NULL) continue;
        const Span import = body.items[i]->span;
        diag_report(shadows->eval->session->diags, DIAG_shadowed, span, name,
                    (unsigned)source_location(import.source, import.begin).line, module);
        return;
    }
}

/* ---- what is bound ---- */

static void look_at_target(const Shadows *shadows, const Node *node)
{
    if (node == NULL) return;
    if (node->kind == NODE_Name) look_at_name(shadows, NODE_AS(Name, node)->id, node->span);
    if (node->kind == NODE_Starred) look_at_target(shadows, NODE_AS(Starred, node)->value);
    if (node->kind != NODE_Tuple && node->kind != NODE_List) return;
    const Nodes parts =
        node->kind == NODE_Tuple ? NODE_AS(Tuple, node)->elts : NODE_AS(List, node)->elts;
    for (uint32_t i = 0; i < parts.count; i++) look_at_target(shadows, parts.items[i]);
}

/* Functions and classes within have names of their own, which are looked at when they are called.
 */
static void look_at_node(void *context, const Node *node)
{
    const Shadows *shadows = context;
    switch ((int)node->kind) {
    case NODE_FunctionDef:
        look_at_name(shadows, NODE_AS(FunctionDef, node)->name, node->span);
        return;
    case NODE_ClassDef: look_at_name(shadows, NODE_AS(ClassDef, node)->name, node->span); return;
    case NODE_Lambda:
    case NODE_ListComp:
    case NODE_SetComp:
    case NODE_DictComp:
    case NODE_GeneratorExp: return;
    case NODE_Assign:
        for (uint32_t i = 0; i < NODE_AS(Assign, node)->targets.count; i++)
            look_at_target(shadows, NODE_AS(Assign, node)->targets.items[i]);
        break;
    case NODE_AnnAssign: look_at_target(shadows, NODE_AS(AnnAssign, node)->target); break;
    case NODE_For: look_at_target(shadows, NODE_AS(For, node)->target); break;
    case NODE_withitem: look_at_target(shadows, NODE_AS(withitem, node)->optional_vars); break;
    case NODE_NamedExpr: look_at_target(shadows, NODE_AS(NamedExpr, node)->target); break;
    }
    node_visit_children(node, look_at_node, context);
}

static void look_at_parameter(void *context, const Node *node)
{
    if (node->kind == NODE_arg) look_at_name(context, NODE_AS(arg, node)->arg, node->span);
}

static bool is_wanted(const Eval *eval, const Unit *unit)
{
    return unit != NULL && unit->tree != NULL && !unit->is_library &&
           diag_is_wanted(eval->session->diags, DIAG_shadowed);
}

void shadows_of_call(Eval *eval, const Function *function)
{
    if (!is_wanted(eval, function->unit) || function->node == NULL ||
        (eval->host != NULL && eval->staging == NULL) || /* host code is called, too */
        function->node->kind != NODE_FunctionDef || map_has(&eval->shadows, function->node))
        return;
    map_set(eval->arena, &eval->shadows, function->node, eval);
    Shadows shadows = {eval, function->unit, UINT32_MAX};
    const NodeFunctionDef *node = NODE_AS(FunctionDef, function->node);
    node_visit_children(node->args, look_at_parameter, &shadows);
    for (uint32_t i = 0; i < node->body.count; i++) look_at_node(&shadows, node->body.items[i]);
}

/* Behind an import another statement of the module's own level binds its name: those in `try` or
 * `if` do so in its stead. */
void shadows_of_module(Eval *eval, const Unit *unit)
{
    if (!is_wanted(eval, unit)) return;
    const Nodes body = unit->tree->tree->body;
    for (uint32_t i = 0; i < body.count; i++) {
        Shadows shadows = {eval, unit, i};
        const NodeKind kind = body.items[i]->kind;
        if (kind == NODE_FunctionDef || kind == NODE_ClassDef || kind == NODE_Assign ||
            kind == NODE_AnnAssign)
            look_at_node(&shadows, body.items[i]);
    }
}
