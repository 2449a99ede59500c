/* definition.c: where a name, an attribute or a class was defined: in this text, another file or
 * the standard library. */
#include "lsp/lsp.h"

#include <string.h>

/* The name alone, of a definition that is a function or class. */
static Span name_in(Span definition)
{
    static const char *const WORDS[] = {"def ", "class ", "async def "};
    const Source *source = definition.source;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        const size_t length = strlen(WORDS[i]);
        if (definition.end - definition.begin < length ||
            memcmp(source->text + definition.begin, WORDS[i], length) != 0)
            continue;
        const uint32_t begin = definition.begin + (uint32_t)length;
        return (Span){source, begin, begin + (uint32_t)strcspn(source->text + begin, "([: \n")};
    }
    return definition;
}

static json_t *location_or_null(Server *server, Span span)
{
    return span.source != NULL ? location_of(server, name_in(span)) : json_null();
}

static Span definition_of(const Analysis *values, Object *object)
{
    ObjectFacts facts = {0};
    if (object != NULL) object_facts(values->program, object, &facts);
    return facts.definition;
}

/* Its first binding; an import leads on to what it imports. */
static Span place_of_local(Document *document, const LocalName *local)
{
    const NameUse *first = NULL;
    for (size_t i = 0; first == NULL && i < local->uses.count; i++)
        if (local->uses.data[i]->binds) first = local->uses.data[i];
    if (local->is_import && document->is_current) {
        const Span imported =
            definition_of(document->values, resolve_local(document->values, local));
        if (imported.source != NULL) return imported;
    }
    return first != NULL ? first->span : (Span){0};
}

static Span place_of_attribute(Document *document, const Node *node, uint32_t offset)
{
    const Analysis *values = document->values, *tree = document_tree(document);
    const Span whole = node->span, owner = NODE_AS(Attribute, node)->value->span;
    const char *text = whole.source->text;
    Block *block =
        cursor_block(tree->source, cursor_at(tree->source, offset).line, values->symbols);
    Object *object = document->is_current ? program_observed(values->program, owner) : NULL;
    if (object == NULL)
        object = resolve_path(values, block, text + owner.begin, owner.end - owner.begin);
    if (object == NULL) return (Span){0};
    const char *name = NODE_AS(Attribute, node)->attr;
    const Span own = definition_of(values, object_attribute(values->program, object, name));
    return own.source != NULL ? own : object_attribute_place(values->program, object, name);
}

/* Of `dtype=` in a call: the function. */
static Span place_of_keyword(Document *document, uint32_t offset)
{
    const Analysis *values = document->values, *tree = document_tree(document);
    const Cursor cursor = cursor_at(tree->source, offset);
    if (cursor.call == UINT32_MAX) return (Span){0};
    Block *block = cursor_block(tree->source, cursor.line, values->symbols);
    return definition_of(values, resolve_path(values, block, tree->source->text + cursor.callee,
                                              cursor.call - cursor.callee));
}

json_t *on_definition(Server *server, const json_t *params, Failure *failure)
{
    uint32_t offset;
    Document *document = request_place(server, params, &offset, failure);
    if (document == NULL) return NULL;
    const Analysis *tree = document_tree(document);
    const NameUse *use = symbols_at(tree->symbols, offset);
    if (use != NULL && use->local != NULL)
        return location_or_null(server, place_of_local(document, use->local));
    if (document->values == NULL) return json_null();
    if (use != NULL)
        return location_or_null(
            server,
            definition_of(document->values, program_lookup(document->values->program, use->name)));
    const Node *part = named_part_at(tree->module, offset);
    if (part == NULL) return json_null();
    return location_or_null(server, part->kind == NODE_Attribute
                                        ? place_of_attribute(document, part, offset)
                                        : place_of_keyword(document, offset));
}
