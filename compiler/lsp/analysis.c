/* analysis.c: a text's tree and program, in a session of their own: nothing outlives the text. */
#include "lsp/lsp.h"

#include <stdlib.h>
#include <string.h>

static Analysis *analysis_new(const char *path, const char *text, size_t length)
{
    Session *session = session_new();
    Analysis *analysis = arena_new_of(session->arena, Analysis);
    analysis->session = session;
    analysis->source = source_from_text(session, path, length > 0 ? text : "", length);
    return analysis;
}

Analysis *analysis_parse(const char *path, const char *text, size_t length)
{
    Analysis *analysis = analysis_new(path, text, length);
    Session *session = analysis->session;
    analysis->module = parse_source(session, analysis->source);
    analysis->symbols = symbols_of(session->arena, session->names, analysis->module);
    return analysis;
}

void analysis_free(Analysis *analysis)
{
    if (analysis == NULL) return;
    Session *session = analysis->session; /* which the analysis lies in */
    layouts_free(analysis);
    program_free(analysis->program);
    session_free(session);
}

/* ---- evaluation ---- */

/* What other documents are, saved or not. */
static void add_open_files(const Server *server, const Analysis *analysis, EvalOptions *options)
{
    Session *session = analysis->session;
    int count = 0;
    for (const Document *each = server->documents; each != NULL; each = each->next) count++;
    const Source **files = arena_new_array(session->arena, const Source *, count + 1);
    for (const Document *each = server->documents; each != NULL; each = each->next) {
        if (strcmp(each->path, analysis->source->path) == 0) continue;
        files[options->file_count++] =
            source_from_text(session, each->path, each->text.data, each->text.length);
    }
    options->files = files;
    options->files_first = true;
}

/* As `tilec check` does, down to kernels that have no gradient. */
static void evaluate(const Server *server, Analysis *analysis)
{
    const Options *options = server->options;
    ExportList exports = {0};
    KernelVec gradients = {0};
    const bool is_whole =
        program_export(analysis->program, options->exports.items, options->exports.count, &exports);
    layouts_keep(analysis, &exports);
    if (is_whole) warn_of_unused_loads(analysis->session, &exports);
    if (is_whole) make_gradients(analysis->session, server->target, &exports, &gradients);
    free_gradients(&gradients);
}

/* The program asks as long as it lives, as names are evaluated when requests need them: these are
 * answered first. */
typedef struct Interest {
    Server *server; /* NULL: nothing interrupts */
    bool was_lost;
} Interest;

static bool lose_interest(void *context)
{
    Interest *interest = context;
    Server *server = interest->server;
    if (server == NULL) return false;
    interest->was_lost |=
        json_array_size(server->waiting) > 0 || transport_has_input(&server->transport);
    return interest->was_lost;
}

static void ask_for(void *session, DiagCode code)
{
    diag_ask_for(((Session *)session)->diags, code);
}

/* An editor shows warnings of all groups. */
static void ask_for_warnings(Session *session)
{
    for (size_t i = 0; diag_group_at(i) != NULL; i++)
        diag_each_of_group(diag_group_at(i), ask_for, session);
}

Analysis *analysis_evaluate(Server *server, const char *path, const char *text, size_t length,
                            bool *interrupted)
{
    Analysis *analysis = analysis_new(path, text, length);
    Session *session = analysis->session;
    Interest *interest = arena_new_of(session->arena, Interest);
    if (interrupted != NULL) interest->server = server;
    EvalOptions options = eval_options(server->options, NULL, NULL);
    ask_for_warnings(session);
    options.observes = true;
    options.interrupts = lose_interest;
    options.interrupts_context = interest;
    add_open_files(server, analysis, &options);
    analysis->program = program_new(session, analysis->source, &options);
    if (analysis->program != NULL) evaluate(server, analysis);
    analysis->module = analysis->program != NULL ? program_module(analysis->program)
                                                 : parse_source(session, analysis->source);
    analysis->symbols = symbols_of(session->arena, session->names, analysis->module);
    if (interrupted != NULL) *interrupted = interest->was_lost;
    interest->server = NULL;
    return analysis;
}
