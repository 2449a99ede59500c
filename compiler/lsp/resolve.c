/* resolve.c: from names and places to the evaluator's objects. The text that was evaluated may be
 * an earlier one than the one at hand: blocks and names are looked for by their names then. */
#include "lsp/lsp.h"

#include <string.h>

/* ---- names ---- */

Span use_place(const NameUse *use)
{
    const bool is_name = use->node->kind == NODE_Name || use->node->kind == NODE_alias;
    return is_name ? use->span : use->node->span;
}

static Object *observed_use(const Analysis *values, const LocalName *local)
{
    for (size_t i = local->uses.count; i-- > 0;) {
        Object *object = program_observed(values->program, use_place(local->uses.data[i]));
        if (object != NULL) return object;
    }
    return NULL;
}

const char *local_text(const Analysis *values, const LocalName *local)
{
    const char *text = NULL;
    for (size_t i = local->uses.count; i-- > 0 && text == NULL;)
        text = program_observed_text(values->program, use_place(local->uses.data[i]));
    return text;
}

/* Of a method that was never evaluated the first parameter is taken for the class. */
static Object *class_of_self(const Analysis *values, const LocalName *local)
{
    const Block *block = local->block;
    const bool is_first = local->is_parameter && block->locals.count > 0 &&
                          block->locals.data[0] == local && block->parent != NULL &&
                          block->parent->kind == BLOCK_CLASS;
    if (!is_first || block->parent->parent->kind != BLOCK_MODULE) return NULL;
    return program_lookup(values->program, block->parent->name);
}

Object *resolve_local(const Analysis *values, const LocalName *local)
{
    Object *object = observed_use(values, local);
    if (object == NULL && local->block->kind == BLOCK_MODULE)
        object = program_lookup(values->program, local->name);
    return object != NULL ? object : class_of_self(values, local);
}

static Object *resolve_name(const Analysis *values, const Block *block, const char *text,
                            size_t length)
{
    const Name name = intern(values->session->names, text, length);
    const LocalName *local = block_find(block, name);
    return local != NULL ? resolve_local(values, local) : program_lookup(values->program, name);
}

/* ---- paths ---- */

typedef struct PathSearch {
    const Analysis *values;
    const char *text;
    size_t length;
    Object *found;
} PathSearch;

/* An attribute that is written so, and was evaluated: the last one. */
static void search_path(void *context, const Node *node)
{
    PathSearch *search = context;
    const Span span = node->span;
    if (node->kind == NODE_Attribute && span.end - span.begin == search->length &&
        memcmp(span.source->text + span.begin, search->text, search->length) == 0) {
        Object *object = program_observed(search->values->program, span);
        if (object != NULL) search->found = object;
    }
    node_visit_children(node, search_path, search);
}

Object *resolve_path(const Analysis *values, Block *block, const char *text, size_t length)
{
    const char *dot = memchr(text, '.', length);
    if (length == 0 || *text == '.') return NULL;
    if (dot == NULL) return resolve_name(values, block, text, length);
    PathSearch search = {values, text, length, NULL};
    search_path(&search, block->node);
    if (search.found != NULL) return search.found;
    Object *object = resolve_name(values, block, text, (size_t)(dot - text));
    while (object != NULL && dot != NULL) {
        const char *begin = dot + 1;
        const size_t left = length - (size_t)(begin - text);
        dot = memchr(begin, '.', left);
        const Name name =
            intern(values->session->names, begin, dot != NULL ? (size_t)(dot - begin) : left);
        object = object_attribute(values->program, object, name);
    }
    return object;
}

/* ---- places ---- */

typedef struct NodeSearch {
    uint32_t offset;
    const Node *found;
} NodeSearch;

static void search_node(void *context, const Node *node)
{
    NodeSearch *search = context;
    const bool has_name = node->kind == NODE_Attribute || node->kind == NODE_keyword;
    if (has_name && !(node->kind == NODE_keyword && NODE_AS(keyword, node)->arg == NULL)) {
        const Span name = name_span(node);
        if (name.begin <= search->offset && search->offset <= name.end) search->found = node;
    }
    node_visit_children(node, search_node, search);
}

const Node *named_part_at(const Module *module, uint32_t offset)
{
    NodeSearch search = {offset, NULL};
    search_node(&search, &module->tree->base);
    return search.found;
}
