/* outline.c: the classes, functions and variables of a text, as a tree. */
#include "lsp/lsp.h"

enum { OUTLINE_CLASS = 5, OUTLINE_METHOD = 6, OUTLINE_FUNCTION = 12, OUTLINE_VARIABLE = 13 };

static json_t *outline_of(Server *server, const Symbols *symbols, const Block *block);

static const Block *block_of(const Symbols *symbols, const Node *node)
{
    for (size_t i = 0; i < symbols->blocks.count; i++)
        if (symbols->blocks.data[i]->node == node) return symbols->blocks.data[i];
    return NULL;
}

static int outline_kind(const NameUse *use, const Block *block)
{
    if (use->node->kind == NODE_ClassDef) return OUTLINE_CLASS;
    if (use->node->kind == NODE_Name) return OUTLINE_VARIABLE;
    return block->kind == BLOCK_CLASS ? OUTLINE_METHOD : OUTLINE_FUNCTION;
}

/* Where the name is bound first; a function defined again is shown once. */
static const NameUse *first_binding(const LocalName *local)
{
    for (size_t i = 0; i < local->uses.count; i++)
        if (local->uses.data[i]->binds) return local->uses.data[i];
    return NULL;
}

/* Of functions their variables are left out. */
static bool is_shown(const NameUse *use, const Block *block)
{
    if (use == NULL) return false;
    const bool is_definition = use->node->kind == NODE_FunctionDef ||
                               use->node->kind == NODE_AsyncFunctionDef ||
                               use->node->kind == NODE_ClassDef;
    return is_definition || (use->node->kind == NODE_Name && block->kind != BLOCK_FUNCTION);
}

static json_t *entry(Server *server, const Symbols *symbols, const Block *block, const NameUse *use)
{
    const Block *inner = use->node->kind != NODE_Name ? block_of(symbols, use->node) : NULL;
    json_t *children = inner != NULL ? outline_of(server, symbols, inner) : json_array();
    return json_pack("{s:s, s:i, s:o, s:o, s:o}", "name", use->name, "kind",
                     outline_kind(use, block), "range",
                     range_from_span(server->encoding, use->node->span), "selectionRange",
                     range_from_span(server->encoding, use->span), "children", children);
}

static json_t *outline_of(Server *server, const Symbols *symbols, const Block *block)
{
    json_t *list = json_array();
    for (size_t i = 0; i < block->locals.count; i++) {
        const NameUse *use = first_binding(block->locals.data[i]);
        if (is_shown(use, block)) json_array_append_new(list, entry(server, symbols, block, use));
    }
    return list;
}

json_t *on_symbols(Server *server, const json_t *params, Failure *failure)
{
    Document *document = request_document(server, params, failure);
    if (document == NULL) return NULL;
    const Symbols *symbols = document_tree(document)->symbols;
    return outline_of(server, symbols, symbols->blocks.data[0]);
}
