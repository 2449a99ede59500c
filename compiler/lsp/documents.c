/* documents.c: the texts that editors have open, and what becomes of them. */
#include "lsp/lsp.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_TEXT = 16 << 20 };

static Document *document_find(const Server *server, const char *uri)
{
    for (Document *document = server->documents; document != NULL; document = document->next)
        if (strcmp(document->uri, uri) == 0) return document;
    return NULL;
}

void document_free(Document *document)
{
    analysis_free(document->tree);
    analysis_free(document->values);
    buf_free(&document->text);
    free(document->uri);
    free(document->path);
    free(document);
}

const Analysis *document_tree(Document *document)
{
    if (document->is_current) return document->values;
    if (document->tree == NULL)
        document->tree = analysis_parse(document->path, document->text.data, document->text.length);
    return document->tree;
}

/* Others may import it. */
static void text_changed(Server *server, Document *document)
{
    analysis_free(document->tree);
    document->tree = NULL;
    document->is_current = false;
    document->interruptions = 0;
    for (Document *each = server->documents; each != NULL; each = each->next)
        each->is_pending = !each->is_library;
}

/* ---- what editors say ---- */

static bool starts_with(const char *text, const char *start)
{
    return start != NULL && strncmp(text, start, strlen(start)) == 0;
}

static Document *document_new(Server *server, const char *uri)
{
    Document *document = calloc(1, sizeof *document);
    CHECK(document != NULL);
    document->uri = strdup(uri);
    document->path = strdup(path_from_uri(server->arena, uri));
    document->is_library = starts_with(document->path, server->library_folder);
    document->next = server->documents;
    return server->documents = document;
}

/* One that is too large becomes empty. */
static void set_text(Document *document, const char *text)
{
    const size_t length = strlen(text);
    document->text.length = 0;
    buf_bytes(&document->text, text, length <= LARGEST_TEXT ? length : 0);
}

void on_open(Server *server, const json_t *params)
{
    const json_t *item = json_object_get(params, "textDocument");
    const char *uri = json_string_value(json_object_get(item, "uri"));
    const char *text = json_string_value(json_object_get(item, "text"));
    if (uri == NULL || text == NULL) return;
    Document *document = document_find(server, uri);
    if (document == NULL) document = document_new(server, uri);
    document->version = json_integer_value(json_object_get(item, "version"));
    set_text(document, text);
    text_changed(server, document);
}

/* A part of the text, or without a range all of it, becomes another. */
static void apply_change(const Server *server, Document *document, const json_t *change)
{
    const char *text = json_string_value(json_object_get(change, "text"));
    const json_t *range = json_object_get(change, "range");
    if (text == NULL) return;
    if (!json_is_object(range)) {
        set_text(document, text);
        return;
    }
    Session *session = session_new();
    const Source *source =
        source_from_text(session, document->path, document->text.data, document->text.length);
    const uint32_t mark = (uint32_t)(document->text.length - source->length); /* of byte order */
    uint32_t begin = position_to_offset(source, server->encoding, json_object_get(range, "start"));
    uint32_t end = position_to_offset(source, server->encoding, json_object_get(range, "end"));
    if (end < begin) end = begin;
    Buf changed = {0};
    buf_bytes(&changed, document->text.data, mark + begin);
    buf_text(&changed, text);
    buf_bytes(&changed, source->text + end, source->length - end);
    if (changed.length > LARGEST_TEXT) changed.length = 0;
    buf_free(&document->text);
    document->text = changed;
    session_free(session);
}

static Document *named_document(const Server *server, const json_t *params)
{
    const json_t *item = json_object_get(params, "textDocument");
    const char *uri = json_string_value(json_object_get(item, "uri"));
    return uri != NULL ? document_find(server, uri) : NULL;
}

void on_change(Server *server, const json_t *params)
{
    Document *document = named_document(server, params);
    const json_t *item = json_object_get(params, "textDocument");
    size_t index;
    json_t *change;
    if (document == NULL) return;
    json_array_foreach(json_object_get(params, "contentChanges"), index, change)
        apply_change(server, document, change);
    document->version = json_integer_value(json_object_get(item, "version"));
    text_changed(server, document);
}

/* What was said of it is taken back. */
void on_close(Server *server, const json_t *params)
{
    Document *document = named_document(server, params);
    Document **link = &server->documents;
    if (document == NULL) return;
    while (*link != document) link = &(*link)->next;
    *link = document->next;
    transport_notify(&server->transport, "textDocument/publishDiagnostics",
                     json_pack("{s:s, s:[]}", "uri", document->uri, "diagnostics"));
    document_free(document);
}

/* ---- what requests name ---- */

Document *request_document(Server *server, const json_t *params, Failure *failure)
{
    Document *document = named_document(server, params);
    if (document == NULL)
        *failure = (Failure){FAILURE_PARAMETERS, "no such document is open"};
    else if (document->values == NULL && document->is_pending)
        publish(server, document);
    return document;
}

Document *request_place(Server *server, const json_t *params, uint32_t *offset, Failure *failure)
{
    Document *document = request_document(server, params, failure);
    const json_t *position = json_object_get(params, "position");
    if (document == NULL) return NULL;
    if (!json_is_object(position)) {
        *failure = (Failure){FAILURE_PARAMETERS, "there is no position"};
        return NULL;
    }
    *offset = position_to_offset(document_tree(document)->source, server->encoding, position);
    return document;
}
