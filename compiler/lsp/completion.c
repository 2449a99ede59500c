/* completion.c: what may be written at a place: members of what stands before a dot, names and
 * keywords that are in scope, parameters of the call that is open, modules of an import. */
#include "lsp/lsp.h"

#include <string.h>

enum {
    ITEM_METHOD = 2,
    ITEM_FUNCTION = 3,
    ITEM_FIELD = 5,
    ITEM_VARIABLE = 6,
    ITEM_CLASS = 7,
    ITEM_MODULE = 9,
    ITEM_PROPERTY = 10,
    ITEM_KEYWORD = 14,
    ITEM_TYPE = 25,
};

typedef struct Completion {
    Server *server;
    const Analysis *values; /* NULL: there are none */
    const Source *source;
    Cursor cursor;
    bool wants_private; /* the word begins with '_' */
    int unknown_kind;   /* of what was not evaluated */
    Map seen;           /* names of values->session */
    json_t *items;
} Completion;

/* ---- items ---- */

static void add_item(Completion *completion, const char *label, int kind, const char *detail)
{
    json_t *item = json_pack("{s:s, s:i}", "label", label, "kind", kind);
    if (detail != NULL) json_object_set_new(item, "detail", json_string(detail));
    json_array_append_new(completion->items, item);
}

static int item_kind(ObjectCategory category)
{
    switch (category) {
    case CATEGORY_FUNCTION: return ITEM_FUNCTION;
    case CATEGORY_METHOD: return ITEM_METHOD;
    case CATEGORY_CLASS: return ITEM_CLASS;
    case CATEGORY_MODULE: return ITEM_MODULE;
    case CATEGORY_TYPE: return ITEM_TYPE;
    case CATEGORY_PROPERTY: return ITEM_PROPERTY;
    case CATEGORY_VALUE: break;
    }
    return ITEM_VARIABLE;
}

/* text NULL: of values, what their object alone tells. */
static void add_object(Completion *completion, const char *name, Object *object, const char *text)
{
    ObjectFacts facts;
    object_facts(completion->values->program, object, &facts);
    const bool is_value = facts.category == CATEGORY_VALUE || facts.category == CATEGORY_TYPE ||
                          facts.category == CATEGORY_MODULE || facts.category == CATEGORY_PROPERTY;
    Buf signature = {0};
    if (!is_value && facts_can_be_called(&facts))
        put_signature(completion->server->arena, name, &facts, &signature, NULL);
    add_item(completion, name, item_kind(facts.category),
             signature.length > 0 ? signature.data
             : text != NULL       ? text
                                  : facts.text);
    buf_free(&signature);
}

/* Names that begin with '_' are offered to who begins with it. */
static bool is_offered(Completion *completion, const char *name)
{
    const Name key = intern_text(completion->values->session->names, name);
    if (map_has(&completion->seen, key) || (*name == '_' && !completion->wants_private))
        return false;
    map_set(completion->server->arena, &completion->seen, key, NULL);
    return true;
}

static void visit_member(void *context, Program *program, const char *name, Object *object)
{
    Completion *completion = context;
    (void)program;
    if (!is_offered(completion, name)) return;
    if (object != NULL)
        add_object(completion, name, object, NULL);
    else
        add_item(completion, name, completion->unknown_kind, NULL);
}

/* ---- where ---- */

static void add_members(Completion *completion)
{
    const Analysis *values = completion->values;
    const Cursor *cursor = &completion->cursor;
    if (values == NULL) return;
    Block *block = cursor_block(completion->source, cursor->line, values->symbols);
    Object *object = resolve_path(values, block, completion->source->text + cursor->receiver,
                                  cursor->dot - cursor->receiver);
    if (object != NULL) object_members(values->program, object, visit_member, completion);
}

static void add_locals(Completion *completion, const Block *block)
{
    for (size_t i = 0; i < block->locals.count; i++) {
        const LocalName *local = block->locals.data[i];
        if (!is_offered(completion, local->name)) continue;
        Object *object = resolve_local(completion->values, local);
        if (object != NULL)
            add_object(completion, local->name, object, local_text(completion->values, local));
        else
            add_item(completion, local->name, ITEM_VARIABLE, NULL);
    }
}

static void add_parameters(Completion *completion)
{
    ObjectFacts facts;
    Names names;
    const Analysis *values = completion->values;
    if (!cursor_callee(values, completion->source, &completion->cursor, &facts)) return;
    parameter_names(completion->server->arena, values->session->names, &facts, &names);
    for (uint32_t i = 0; i < names.count; i++)
        add_item(completion, arena_printf(completion->server->arena, "%s=", names.items[i]),
                 ITEM_FIELD, "parameter");
}

static void add_names(Completion *completion)
{
    Word word;
    for (size_t i = 0; (word = keyword_at(i)).length > 0; i++)
        add_item(completion, arena_copy_text(completion->server->arena, word.text, word.length),
                 ITEM_KEYWORD, NULL);
    const Analysis *values = completion->values;
    if (values == NULL) return;
    add_parameters(completion);
    const Block *inner = cursor_block(completion->source, completion->cursor.line, values->symbols);
    for (const Block *block = inner; block != NULL; block = block->parent)
        if (block->kind != BLOCK_CLASS || block == inner) add_locals(completion, block);
    program_builtins(values->program, visit_member, completion);
}

/* ---- imports ---- */

static bool starts_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

/* `from x import` before the offset: the module. NULL: it is no such statement. */
static const char *imported_module(Completion *completion)
{
    const char *line = completion->source->text + completion->cursor.line;
    while (*line == ' ' || *line == '\t') line++;
    if (!starts_with(line, "from ")) return NULL;
    line += strlen("from ");
    const size_t length = strcspn(line, " \t\n");
    const char *behind = line + length + strspn(line + length, " \t");
    const char *end = completion->source->text + completion->cursor.begin;
    if (!starts_with(behind, "import") || behind + strlen("import") > end) return NULL;
    return arena_copy_text(completion->server->arena, line, length);
}

static bool names_module(const Completion *completion)
{
    const char *line = completion->source->text + completion->cursor.line;
    while (*line == ' ' || *line == '\t') line++;
    return starts_with(line, "import ") || starts_with(line, "from ");
}

static void add_modules(Completion *completion)
{
    completion->unknown_kind = ITEM_MODULE;
    program_modules(completion->values->program, visit_member, completion);
}

static void add_imported(Completion *completion, const char *path)
{
    Object *module = program_import(completion->values->program, path);
    if (module != NULL)
        object_members(completion->values->program, module, visit_member, completion);
}

static void complete(Completion *completion)
{
    const char *module = imported_module(completion);
    if (completion->cursor.in_text) return;
    if (module != NULL && completion->values != NULL)
        add_imported(completion, module);
    else if (names_module(completion) && completion->values != NULL)
        add_modules(completion);
    else if (completion->cursor.dot != UINT32_MAX)
        add_members(completion);
    else
        add_names(completion);
}

json_t *on_completion(Server *server, const json_t *params, Failure *failure)
{
    uint32_t offset;
    Document *document = request_place(server, params, &offset, failure);
    if (document == NULL) return NULL;
    const Source *source = document_tree(document)->source;
    Completion completion = {.server = server,
                             .values = document->values,
                             .source = source,
                             .cursor = cursor_at(source, offset),
                             .unknown_kind = ITEM_FIELD,
                             .items = json_array()};
    completion.wants_private = source->text[completion.cursor.begin] == '_';
    complete(&completion);
    return json_pack("{s:b, s:o}", "isIncomplete", 0, "items", completion.items);
}
