/* signature.c: the signature of the call that is open at a place, and which of its parameters is
 * being written. */
#include "lsp/lsp.h"

#include <string.h>

/* Offsets in labels are in units of UTF-16, whatever encoding positions have. */
static json_t *parameter_label(const Buf *text, Label label)
{
    return json_pack("{s:[I,I]}", "label",
                     (json_int_t)text_units(ENCODING_UTF16, text->data, label.begin),
                     (json_int_t)text_units(ENCODING_UTF16, text->data, label.end));
}

static bool has_name(const Buf *text, Label label, const char *name, size_t length)
{
    const size_t whole = label.end - label.begin;
    const char *begin = text->data + label.begin;
    return whole >= length && memcmp(begin, name, length) == 0 &&
           (whole == length || strchr(":= ", begin[length]) != NULL);
}

/* A named one; else by its place, the last one if that takes the rest. */
static int active_parameter(const Cursor *cursor, const Buf *text, const LabelVec *labels)
{
    const Span keyword = cursor->keyword;
    for (size_t i = 0; keyword.source != NULL && i < labels->count; i++)
        if (has_name(text, labels->data[i], keyword.source->text + keyword.begin,
                     keyword.end - keyword.begin))
            return (int)i;
    for (size_t i = 0; i < labels->count && (int)i <= cursor->argument; i++)
        if (text->data[labels->data[i].begin] == '*') return (int)i;
    return cursor->argument;
}

static json_t *signature_help(Server *server, const Cursor *cursor, const char *name,
                              const ObjectFacts *facts)
{
    Buf text = {0};
    LabelVec labels = {0};
    json_t *parameters = json_array();
    put_signature(server->arena, name, facts, &text, &labels);
    for (size_t i = 0; i < labels.count; i++)
        json_array_append_new(parameters, parameter_label(&text, labels.data[i]));
    json_t *signature = json_pack("{s:s, s:o}", "label", text.data, "parameters", parameters);
    const char *sentence = documentation(server->arena, facts);
    if (sentence != NULL) json_object_set_new(signature, "documentation", json_string(sentence));
    json_t *result = json_pack("{s:[o], s:i, s:i}", "signatures", signature, "activeSignature", 0,
                               "activeParameter", active_parameter(cursor, &text, &labels));
    buf_free(&text);
    return result;
}

bool cursor_callee(const Analysis *values, const Source *source, const Cursor *cursor,
                   ObjectFacts *facts)
{
    if (cursor->call == UINT32_MAX) return false;
    Block *block = cursor_block(source, cursor->line, values->symbols);
    Object *object =
        resolve_path(values, block, source->text + cursor->callee, cursor->call - cursor->callee);
    if (object == NULL) return false;
    object_facts(values->program, object, facts);
    return facts_can_be_called(facts);
}

static const char *last_part(Arena *arena, const char *path, size_t length)
{
    size_t begin = length;
    while (begin > 0 && path[begin - 1] != '.') begin--;
    return arena_copy_text(arena, path + begin, length - begin);
}

json_t *on_signature_help(Server *server, const json_t *params, Failure *failure)
{
    uint32_t offset;
    Document *document = request_place(server, params, &offset, failure);
    if (document == NULL) return NULL;
    if (document->values == NULL) return json_null();
    const Source *source = document_tree(document)->source;
    const Cursor cursor = cursor_at(source, offset);
    ObjectFacts facts;
    if (!cursor_callee(document->values, source, &cursor, &facts)) return json_null();
    const char *name =
        last_part(server->arena, source->text + cursor.callee, cursor.call - cursor.callee);
    return signature_help(server, &cursor, name, &facts);
}
