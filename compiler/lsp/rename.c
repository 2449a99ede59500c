/* rename.c: all places of a name in its text: references, highlights, another name for what is
 * local to a function. */
#include "lsp/lsp.h"

#include <string.h>

enum { HIGHLIGHT_READ = 2, HIGHLIGHT_WRITE = 3 };

static const NameUse *named_use(Server *server, const json_t *params, Document **document,
                                Failure *failure)
{
    uint32_t offset;
    *document = request_place(server, params, &offset, failure);
    return *document != NULL ? symbols_at(document_tree(*document)->symbols, offset) : NULL;
}

/* ---- references, highlights ---- */

json_t *on_references(Server *server, const json_t *params, Failure *failure)
{
    Document *document;
    const NameUse *use = named_use(server, params, &document, failure);
    const json_t *context = json_object_get(params, "context");
    const bool with_declaration = !json_is_false(json_object_get(context, "includeDeclaration"));
    json_t *list = json_array();
    for (size_t i = 0; use != NULL && use->local != NULL && i < use->local->uses.count; i++) {
        const NameUse *each = use->local->uses.data[i];
        if (each->binds && !with_declaration) continue;
        json_array_append_new(list, json_pack("{s:s, s:o}", "uri", document->uri, "range",
                                              range_from_span(server->encoding, each->span)));
    }
    return list;
}

json_t *on_highlight(Server *server, const json_t *params, Failure *failure)
{
    Document *document;
    const NameUse *use = named_use(server, params, &document, failure);
    json_t *list = json_array();
    for (size_t i = 0; use != NULL && use->local != NULL && i < use->local->uses.count; i++) {
        const NameUse *each = use->local->uses.data[i];
        json_array_append_new(list, json_pack("{s:o, s:i}", "range",
                                              range_from_span(server->encoding, each->span), "kind",
                                              each->binds ? HIGHLIGHT_WRITE : HIGHLIGHT_READ));
    }
    return list;
}

/* ---- another name ---- */

/* Names of modules and classes may be used by other files, and imports name what others have. */
static const char *why_not(const NameUse *use)
{
    if (use == NULL || use->local == NULL) return "there is no name that this file binds";
    const BlockKind kind = use->local->block->kind;
    if (kind != BLOCK_FUNCTION && kind != BLOCK_COMPREHENSION)
        return "only names that are local to a function are renamed: other files may use this one";
    for (size_t i = 0; i < use->local->uses.count; i++) {
        const Node *node = use->local->uses.data[i]->node;
        if (node->kind == NODE_alias && NODE_AS(alias, node)->asname == NULL)
            return "an import has the name of what it imports";
    }
    return NULL;
}

static bool is_keyword(const char *name)
{
    Word word;
    for (size_t i = 0; (word = keyword_at(i)).length > 0; i++)
        if (strlen(name) == word.length && memcmp(name, word.text, word.length) == 0) return true;
    return false;
}

static bool is_identifier(const char *name)
{
    bool is_start = true;
    for (const char *c = name; *c != '\0'; c++, is_start = false) {
        const bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
                               (unsigned char)*c >= 0x80;
        if (!is_letter && (is_start || *c < '0' || *c > '9')) return false;
    }
    return !is_start && !is_keyword(name);
}

/* In the text of the block that binds it, as another name there could come to mean this one. */
static bool is_used(const Symbols *symbols, const Block *block, const char *name)
{
    const Span text = block->node->span;
    for (size_t i = 0; i < symbols->uses.count; i++) {
        const NameUse *use = symbols->uses.data[i];
        if (strcmp(use->name, name) == 0 && text.begin <= use->span.begin &&
            use->span.end <= text.end)
            return true;
    }
    return false;
}

typedef struct Renaming {
    Server *server;
    const Analysis *values; /* NULL: not of this text */
    const LocalName *local;
    const char *name;
    json_t *edits;
} Renaming;

static void add_edit(Renaming *renaming, Span span)
{
    json_array_append_new(renaming->edits,
                          json_pack("{s:o, s:s}", "range",
                                    range_from_span(renaming->server->encoding, span), "newText",
                                    renaming->name));
}

static bool is_function(const Renaming *renaming, const Node *callee)
{
    Object *object = program_observed(renaming->values->program, callee->span);
    ObjectFacts facts = {0};
    if (object != NULL) object_facts(renaming->values->program, object, &facts);
    return object != NULL && facts.function == renaming->local->block->node;
}

/* Calls of the function, or of a method of the kernel that it is, name its parameters. */
static void rename_keywords(void *context, const Node *node)
{
    Renaming *renaming = context;
    node_visit_children(node, rename_keywords, renaming);
    if (node->kind != NODE_Call) return;
    const NodeCall *call = NODE_AS(Call, node);
    const Node *owner =
        call->func->kind == NODE_Attribute ? NODE_AS(Attribute, call->func)->value : NULL;
    for (uint32_t i = 0; i < call->keywords.count; i++) {
        const Node *keyword = call->keywords.items[i];
        const Name name = NODE_AS(keyword, keyword)->arg;
        if (name != NULL && strcmp(name, renaming->local->name) == 0 &&
            (is_function(renaming, call->func) || (owner != NULL && is_function(renaming, owner))))
            add_edit(renaming, name_span(keyword));
    }
}

static json_t *edits_of(Server *server, Document *document, const LocalName *local,
                        const char *name)
{
    Renaming renaming = {server, document->is_current ? document->values : NULL, local, name,
                         json_array()};
    for (size_t i = 0; i < local->uses.count; i++) add_edit(&renaming, local->uses.data[i]->span);
    if (local->is_parameter && renaming.values != NULL)
        rename_keywords(&renaming, &renaming.values->module->tree->base);
    return renaming.edits;
}

json_t *on_prepare_rename(Server *server, const json_t *params, Failure *failure)
{
    Document *document;
    const NameUse *use = named_use(server, params, &document, failure);
    if (document == NULL) return NULL;
    const char *reason = why_not(use);
    if (reason == NULL)
        return json_pack("{s:o, s:s}", "range", range_from_span(server->encoding, use->span),
                         "placeholder", use->name);
    *failure = (Failure){FAILURE_REFUSED, reason};
    return NULL;
}

/* Parameters are named by calls, which the text's values tell: they are to be of this text. */
json_t *on_rename(Server *server, const json_t *params, Failure *failure)
{
    Document *document = request_document(server, params, failure);
    const char *name = json_string_value(json_object_get(params, "newName"));
    if (document == NULL) return NULL;
    if (document->is_pending) publish(server, document);
    const NameUse *use = named_use(server, params, &document, failure);
    if (failure->code != 0) return NULL;
    const char *reason = why_not(use);
    if (reason == NULL && (name == NULL || !is_identifier(name))) reason = "it is no name";
    if (reason == NULL && strcmp(name, use->name) != 0 &&
        is_used(document_tree(document)->symbols, use->local->block, name))
        reason = "the name is used there already";
    if (reason != NULL) {
        *failure = (Failure){FAILURE_REFUSED, reason};
        return NULL;
    }
    return json_pack("{s:{s:o}}", "changes", document->uri,
                     edits_of(server, document, use->local, name));
}
