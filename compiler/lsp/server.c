/* server.c: the order of things: what a client may ask when, who answers (methods.def), and when
 * texts are analysed: when no message has come for a moment, as each message may make the last text
 * an old one. */
#include "lsp/lsp.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUIET_MILLISECONDS = 15 };

/* ---- answers ---- */

static void answer(Server *server, const json_t *id, json_t *result)
{
    json_t *copy = id != NULL ? json_deep_copy(id) : json_null();
    transport_send(&server->transport, json_pack("{s:s, s:o, s:o}", "jsonrpc", "2.0", "id", copy,
                                                 "result", result != NULL ? result : json_null()));
}

static void answer_failure(Server *server, const json_t *id, const Failure *failure)
{
    json_t *copy = id != NULL ? json_deep_copy(id) : json_null();
    transport_send(&server->transport,
                   json_pack("{s:s, s:o, s:{s:i, s:s}}", "jsonrpc", "2.0", "id", copy, "error",
                             "code", failure->code, "message", failure->message));
}

/* ---- lifecycle ---- */

static bool has_word(const json_t *words, const char *word)
{
    size_t index;
    json_t *one;
    json_array_foreach(words, index, one)
    {
        const char *name = json_string_value(one);
        if (name != NULL && strcmp(name, word) == 0) return true;
    }
    return false;
}

static Encoding choose_encoding(const json_t *params)
{
    const json_t *general = json_object_get(json_object_get(params, "capabilities"), "general");
    return has_word(json_object_get(general, "positionEncodings"), "utf-8") ? ENCODING_UTF8
                                                                            : ENCODING_UTF16;
}

/* Clients that do not say what they take get it. */
static bool takes_markdown(const json_t *params)
{
    const json_t *client = json_object_get(json_object_get(params, "capabilities"), "textDocument");
    const json_t *formats = json_object_get(json_object_get(client, "hover"), "contentFormat");
    return json_array_size(formats) == 0 || has_word(formats, "markdown");
}

enum { SYNC_INCREMENTAL = 2 };

json_t *on_initialize(Server *server, const json_t *params, Failure *failure)
{
    if (server->stage != LIFE_NEW) {
        *failure = (Failure){FAILURE_REQUEST, "the server is initialized already"};
        return NULL;
    }
    server->stage = LIFE_RUNNING;
    server->encoding = choose_encoding(params);
    server->markdown = takes_markdown(params);
    const char *encoding = server->encoding == ENCODING_UTF8 ? "utf-8" : "utf-16";
    json_t *capabilities = json_pack(
        "{s:s, s:{s:b, s:i, s:b}, s:b, s:b, s:b, s:b, s:b, s:{s:[s]}, s:{s:[s,s]}, s:{s:b}}",
        "positionEncoding", encoding, "textDocumentSync", "openClose", 1, "change",
        SYNC_INCREMENTAL, "save", 1, "hoverProvider", 1, "definitionProvider", 1,
        "referencesProvider", 1, "documentHighlightProvider", 1, "documentSymbolProvider", 1,
        "completionProvider", "triggerCharacters", ".", "signatureHelpProvider",
        "triggerCharacters", "(", ",", "renameProvider", "prepareProvider", 1);
    return json_pack("{s:o, s:{s:s, s:s}}", "capabilities", capabilities, "serverInfo", "name",
                     "tilec", "version", TILEC_VERSION);
}

json_t *on_shutdown(Server *server, const json_t *params, Failure *failure)
{
    (void)params;
    (void)failure;
    server->stage = LIFE_SHUT_DOWN;
    return json_null();
}

void on_exit_notification(Server *server, const json_t *params)
{
    (void)params;
    server->exited_well = server->stage == LIFE_SHUT_DOWN;
    server->stage = LIFE_OVER;
}

void on_nothing(Server *server, const json_t *params)
{
    (void)server;
    (void)params;
}

/* ---- dispatch ---- */

typedef json_t *RequestHandler(Server *server, const json_t *params, Failure *failure);
typedef void NotificationHandler(Server *server, const json_t *params);

typedef struct Method {
    const char *name;
    RequestHandler *request;
    NotificationHandler *notification;
} Method;

static const Method *find_method(const char *name)
{
    static const Method METHODS[] = {
#define REQUEST(method, handler)      {method, handler, NULL},
#define NOTIFICATION(method, handler) {method, NULL, handler},
#include "lsp/methods.def"
#undef REQUEST
#undef NOTIFICATION
    };
    for (size_t i = 0; i < sizeof METHODS / sizeof *METHODS; i++)
        if (strcmp(METHODS[i].name, name) == 0) return &METHODS[i];
    return NULL;
}

/* Whether a later message, which has come already, cancels the request. */
static bool is_cancelled(const Server *server, const json_t *id)
{
    size_t index;
    json_t *message;
    json_array_foreach(server->waiting, index, message)
    {
        const char *method = json_string_value(json_object_get(message, "method"));
        const json_t *params = json_object_get(message, "params");
        if (method != NULL && strcmp(method, "$/cancelRequest") == 0 &&
            json_equal(json_object_get(params, "id"), id))
            return true;
    }
    return false;
}

static Failure refuse(const Server *server, const Method *method, const json_t *id)
{
    const bool initializes = method != NULL && method->request == on_initialize;
    if (server->stage == LIFE_NEW && !initializes)
        return (Failure){FAILURE_NOT_INITIALIZED, "the server is not initialized"};
    if (server->stage == LIFE_SHUT_DOWN)
        return (Failure){FAILURE_REQUEST, "the server is shut down"};
    if (method == NULL || method->request == NULL)
        return (Failure){FAILURE_METHOD, "there is no such request"};
    if (is_cancelled(server, id)) return (Failure){FAILURE_CANCELLED, "it was cancelled"};
    return (Failure){0};
}

static void handle_request(Server *server, const Method *method, const json_t *id,
                           const json_t *params)
{
    Failure failure = refuse(server, method, id);
    server->request = id;
    json_t *result = failure.code == 0 ? method->request(server, params, &failure) : NULL;
    server->request = NULL;
    if (failure.code == 0) {
        answer(server, id, result);
        return;
    }
    json_decref(result);
    answer_failure(server, id, &failure);
}

static void handle_notification(Server *server, const Method *method, const json_t *params)
{
    if (method == NULL || method->notification == NULL) return;
    const bool is_served = server->stage == LIFE_RUNNING;
    if (is_served || method->notification == on_exit_notification)
        method->notification(server, params);
}

/* A message without a method answers a request, and the server makes none. */
static void handle(Server *server, const json_t *message)
{
    const json_t *id = json_object_get(message, "id"), *name = json_object_get(message, "method");
    const json_t *params = json_object_get(message, "params");
    const bool is_answer = name == NULL && (json_object_get(message, "result") != NULL ||
                                            json_object_get(message, "error") != NULL);
    if (is_answer) return;
    if (!json_is_object(message) || !json_is_string(name) ||
        (id != NULL && !json_is_integer(id) && !json_is_string(id))) {
        const Failure failure = {FAILURE_REQUEST, "it is no request"};
        answer_failure(server, json_is_integer(id) || json_is_string(id) ? id : NULL, &failure);
        return;
    }
    const Method *method = find_method(json_string_value(name));
    if (id != NULL)
        handle_request(server, method, id, params);
    else
        handle_notification(server, method, params);
}

/* ---- the loop ---- */

/* Everything that has come, or that comes within so many milliseconds. */
static void receive(Server *server, int milliseconds)
{
    for (json_t *message = NULL;; milliseconds = 0) {
        switch (transport_receive(&server->transport, milliseconds, &message)) {
        case RECEIVED_MESSAGE: json_array_append_new(server->waiting, message); break;
        case RECEIVED_BROKEN: {
            const Failure failure = {FAILURE_PARSE, "it is no message of this protocol"};
            answer_failure(server, NULL, &failure);
            break;
        }
        case RECEIVED_NOTHING: return;
        case RECEIVED_END: return;
        }
    }
}

static void handle_first(Server *server)
{
    json_t *message = json_incref(json_array_get(server->waiting, 0));
    json_array_remove(server->waiting, 0);
    server->arena = arena_new();
    handle(server, message);
    arena_free(server->arena);
    server->arena = NULL;
    json_decref(message);
}

static Document *first_pending(const Server *server)
{
    Document *document = server->documents;
    while (document != NULL && !document->is_pending) document = document->next;
    return document;
}

static bool goes_on(const Server *server)
{
    const bool has_work = json_array_size(server->waiting) > 0;
    return server->stage != LIFE_OVER && (has_work || !server->transport.has_ended);
}

/* Waits for a message; where texts are to be analysed, for a moment alone. */
static void serve_idle(Server *server)
{
    Document *pending = first_pending(server);
    receive(server, pending != NULL ? QUIET_MILLISECONDS : -1);
    if (json_array_size(server->waiting) > 0 || pending == NULL) return;
    server->arena = arena_new();
    server->analysed = pending;
    publish(server, pending);
    server->analysed = NULL;
    arena_free(server->arena);
    server->arena = NULL;
}

static void serve_step(Server *server)
{
    if (json_array_size(server->waiting) > 0)
        receive(server, 0);
    else
        serve_idle(server);
    if (json_array_size(server->waiting) > 0) handle_first(server);
}

enum { MESSAGE_IS_ERROR = 1 };

/* Behind an internal error nothing of what was known of texts is asked again, nor given back: what
 * was at work left it halfway. A text at which it happened waits for its next edit. */
static void recover(Server *server)
{
    server->arena = NULL;
    for (Document *document = server->documents; document != NULL; document = document->next) {
        document->tree = document->values = NULL;
        document->is_current = false;
        document->is_pending |= document != server->analysed;
    }
    if (server->analysed != NULL) server->analysed->is_pending = false;
    server->analysed = NULL;
    transport_notify(&server->transport, "window/logMessage",
                     json_pack("{s:i, s:s}", "type", MESSAGE_IS_ERROR, "message", server->fault));
    const Failure failure = {FAILURE_INTERNAL, server->fault};
    if (server->request != NULL) answer_failure(server, server->request, &failure);
    server->request = NULL;
}

static void serve_on(Server *server)
{
    sigjmp_buf place;
    if (sigsetjmp(place, 1) != 0) recover(server);
    fault_refuge_set(&place, server->fault, sizeof server->fault);
    while (goes_on(server)) serve_step(server);
    fault_refuge_set(NULL, NULL, 0);
}

ExitStatus serve(const Options *options, const Target *target, int in, int out)
{
    Server server = {.options = options, .target = target, .transport = {.in = in, .out = out}};
    server.waiting = json_array();
    serve_on(&server);
    while (server.documents != NULL) {
        Document *document = server.documents;
        server.documents = document->next;
        document_free(document);
    }
    json_decref(server.waiting);
    transport_free(&server.transport);
    if (server.library_folder != NULL) os_remove_folder(server.library_folder);
    free(server.library_folder);
    return server.exited_well ? EXIT_DONE : EXIT_SOURCE;
}
