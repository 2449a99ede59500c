/* hover.c: what a name, an attribute or a keyword is: its values' types and shapes, the signature
 * of what can be called, a sentence. */
#include "lsp/lsp.h"

#include <string.h>

/* What is shown of one place. */
typedef struct Shown {
    Span span;
    const char *name;
    const char *text;   /* of values, as they were observed; NULL: not */
    const char *layout; /* of a tile; NULL: it has none, or is none */
    Object *object;     /* NULL: unknown */
} Shown;

static void put_title(Server *server, const Shown *shown, const ObjectFacts *facts, Buf *out)
{
    if (shown->object == NULL) {
        buf_printf(out, "%s: %s", shown->name, shown->text);
    } else if (facts->category == CATEGORY_MODULE) {
        buf_text(out, facts->text);
    } else if (facts->category == CATEGORY_VALUE || facts->category == CATEGORY_TYPE ||
               !facts_can_be_called(facts)) {
        buf_printf(out, "%s: %s", shown->name, shown->text != NULL ? shown->text : facts->text);
        if (!facts_can_be_called(facts)) return;
        buf_char(out, '\n'); /* a kernel, or another object that can be */
        put_signature(server->arena, shown->name, facts, out, NULL);
    } else if (facts->category == CATEGORY_PROPERTY) {
        buf_printf(out, "property %s", shown->name);
    } else {
        buf_text(out, facts->category == CATEGORY_CLASS ? "class " : "def ");
        put_signature(server->arena, shown->name, facts, out, NULL);
    }
}

static json_t *hover_of(Server *server, const Analysis *values, const Shown *shown)
{
    ObjectFacts facts = {0};
    if (shown->object == NULL && shown->text == NULL) return NULL;
    if (shown->object != NULL) object_facts(values->program, shown->object, &facts);
    const char *sentence = shown->object != NULL ? documentation(server->arena, &facts) : NULL;
    Buf text = {0};
    if (server->markdown) buf_text(&text, "```python\n");
    put_title(server, shown, &facts, &text);
    if (shown->layout != NULL) buf_printf(&text, "\nlayout %s", shown->layout);
    if (server->markdown) buf_text(&text, "\n```");
    if (sentence != NULL) buf_printf(&text, "\n\n%s", sentence);
    json_t *result = json_pack("{s:{s:s, s:s}, s:o}", "contents", "kind",
                               server->markdown ? "markdown" : "plaintext", "value", text.data,
                               "range", range_from_span(server->encoding, shown->span));
    buf_free(&text);
    return result;
}

static const char *text_of(Document *document, Span span)
{
    return document->is_current ? program_observed_text(document->values->program, span) : NULL;
}

/* Of an import the statement has a place alone, which all its names share. */
static void show_name(Document *document, const NameUse *use, uint32_t offset, Shown *shown)
{
    const Analysis *values = document->values;
    shown->span = use->span;
    shown->name = use->name;
    if (document->is_current && use->node->kind != NODE_alias) {
        shown->text = text_of(document, use_place(use));
        shown->object = program_observed(values->program, use_place(use));
        if (shown->text == NULL && use->local != NULL) shown->text = local_text(values, use->local);
    }
    if (shown->object != NULL) return;
    if (document->is_current && use->local != NULL) {
        shown->object = resolve_local(values, use->local);
        return;
    }
    const Analysis *tree = document_tree(document);
    Block *block =
        cursor_block(tree->source, cursor_at(tree->source, offset).line, values->symbols);
    shown->object = resolve_path(values, block, use->name, strlen(use->name));
}

static void show_attribute(Document *document, const Node *node, uint32_t offset, Shown *shown)
{
    const Analysis *values = document->values, *tree = document_tree(document);
    const Span span = node->span;
    shown->span = name_span(node);
    shown->name = NODE_AS(Attribute, node)->attr;
    if (document->is_current) {
        shown->text = text_of(document, span);
        shown->object = program_observed(values->program, span);
        if (shown->object != NULL) return;
    }
    Block *block =
        cursor_block(tree->source, cursor_at(tree->source, offset).line, values->symbols);
    shown->object =
        resolve_path(values, block, span.source->text + span.begin, span.end - span.begin);
}

/* Of a keyword what is called, with its parameters. */
static void show_keyword(Document *document, const Node *node, uint32_t offset, Shown *shown)
{
    const Source *source = document_tree(document)->source;
    const Analysis *values = document->values;
    const Cursor cursor = cursor_at(source, offset);
    if (cursor.call == UINT32_MAX) return;
    const char *path = source->text + cursor.callee;
    const size_t length = cursor.call - cursor.callee;
    size_t last = length;
    while (last > 0 && path[last - 1] != '.') last--;
    Block *block = cursor_block(source, cursor.line, values->symbols);
    shown->span = name_span(node);
    shown->name = intern(values->session->names, path + last, length - last);
    shown->object = resolve_path(values, block, path, length);
}

/* ---- the layout ---- */

typedef struct AssignSearch {
    const Node *target, *value;
} AssignSearch;

static void search_assign(void *context, const Node *node)
{
    AssignSearch *search = context;
    node_visit_children(node, search_assign, search);
    if (node->kind == NODE_AugAssign && NODE_AS(AugAssign, node)->target == search->target)
        search->value = node;
    if (node->kind != NODE_Assign) return;
    const Nodes targets = NODE_AS(Assign, node)->targets;
    for (uint32_t i = 0; i < targets.count; i++)
        if (targets.items[i] == search->target) search->value = NODE_AS(Assign, node)->value;
}

/* Of the last assignment above the name, or to it, that has one. */
static void show_layout(Server *server, Document *document, const NameUse *use, Shown *shown)
{
    Analysis *values = document->values;
    if (!document->is_current || use->local == NULL || shown->text == NULL ||
        strchr(shown->text, '<') == NULL)
        return;
    for (size_t i = 0; i < use->local->uses.count; i++) {
        const NameUse *bound = use->local->uses.data[i];
        AssignSearch search = {.target = bound->node};
        if (!bound->binds || bound->span.begin > use->span.begin) continue;
        search_assign(&search, use->local->block->node);
        if (search.value == NULL) continue;
        const char *layout =
            layout_at(server, values, search.value->span, bound->name, shown->text);
        if (layout != NULL) shown->layout = layout;
    }
}

json_t *on_hover(Server *server, const json_t *params, Failure *failure)
{
    uint32_t offset;
    Document *document = request_place(server, params, &offset, failure);
    if (document == NULL) return NULL;
    if (document->values == NULL) return json_null();
    const Analysis *tree = document_tree(document);
    const NameUse *use = symbols_at(tree->symbols, offset);
    const Node *part = use == NULL ? named_part_at(tree->module, offset) : NULL;
    Shown shown = {0};
    if (use != NULL) {
        show_name(document, use, offset, &shown);
        show_layout(server, document, use, &shown);
    } else if (part != NULL && part->kind == NODE_Attribute)
        show_attribute(document, part, offset, &shown);
    else if (part != NULL)
        show_keyword(document, part, offset, &shown);
    return hover_of(server, document->values, &shown);
}
