/* interpreter.c: a program that grows statement by statement, for a host that has Python of its
 * own. Each call runs on a thread of the library's, as builds do. */
#include "library/host.h"
#include "library/library.h"

#include "base/diags.h"

#include "tile/interpreter.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum { FAULT_BYTES = 1024 };

struct tilec_interpreter {
    Library library; /* its session is NULL once something failed */
    Options options;
    ArchList archs;
    Program *program;
};

typedef struct Task {
    tilec_interpreter *interpreter;
    const tilec_options *options; /* NULL: statements are run */
    const char *statements;
    const DLTensor *const *arrays;
    uint32_t array_count;
    bool fine;
    char fault[FAULT_BYTES];
    Buf answer;
} Task;

/* ---- opening ---- */

static bool read_options(Session *session, const tilec_options *given, Options *out)
{
    char **words = arena_new_array(session->arena, char *, given->word_count + 2);
    int count = 0;
    words[count++] = (char *)"tilec";
    for (uint32_t i = 0; i < given->word_count; i++)
        words[count++] = arena_copy_text(session->arena, given->words[i], strlen(given->words[i]));
    words[count++] = (char *)"-j1"; /* no processes are made of somebody's program */
    return options_parse(session, count, words, out);
}

static bool open_program_of(tilec_interpreter *interpreter, const tilec_options *given)
{
    Library *library = &interpreter->library;
    Session *session = library->session;
    if (!read_options(session, given, &interpreter->options) ||
        !arch_parse(session,
                    library_archs(session->arena, given->computes, given->compute_count, NULL),
                    &interpreter->archs))
        return false;
    library->options = &interpreter->options;
    library->archs = &interpreter->archs;
    library->emulator = given->compute_count == 0 ? given->emulator : NULL;
    library_host(library);
    library->gradients = (Gradients){
        .session = session, .host = &library->host, .target = interpreter->archs.items[0].target};
    interpreter->program =
        open_source(session, library->options, source_from_text(session, "./statements", "", 0),
                    NULL, &library->host);
    return interpreter->program != NULL;
}

/* ---- running ---- */

static bool run_statements(Task *task)
{
    tilec_interpreter *interpreter = task->interpreter;
    Library *library = &interpreter->library;
    library->session->diags = diags_new(library->session->arena);
    return library_take_arrays(library, task->arrays, task->array_count) &&
           program_continue(interpreter->program, task->statements);
}

/* Of the first error, if Python has a name for it. */
static const char *exception_of(const Diags *diags)
{
    for (size_t i = 0; i < diags->reports.count; i++)
        if (diags->reports.data[i]->severity == SEVERITY_ERROR)
            return diag_exception(diags->reports.data[i]->code);
    return NULL;
}

static void put_messages(Task *task)
{
    Buf text = {0};
    const Session *session = task->interpreter->library.session;
    if (session) diag_render(session->diags, DIAG_TEXT, false, &text);
    if (*task->fault) buf_text(&text, task->fault);
    buf_text(&task->answer, "{\"messages\": ");
    buf_quoted(&task->answer, text.length ? text.data : "", text.length);
    buf_free(&text);
    const char *exception = session ? exception_of(session->diags) : NULL;
    if (exception) buf_printf(&task->answer, ", \"exception\": \"%s\"", exception);
}

/* What was evaluated stays until the interpreter is closed. */
static size_t memory_of(const tilec_interpreter *interpreter)
{
    const Program *program = interpreter->program;
    return arena_bytes(interpreter->library.session->arena) +
           (program ? program_bytes(program) : 0);
}

static void *perform(void *context)
{
    Task *task = context;
    Library *library = &task->interpreter->library;
    Refuge refuge = {.text = task->fault, .bytes = sizeof task->fault};
    os_use_c_locale();
    refuge_set(&refuge);
    if (setjmp(refuge.place) == 0) {
        task->fine = task->options ? open_program_of(task->interpreter, task->options)
                                   : run_statements(task);
        put_messages(task);
        buf_text(&task->answer, ", ");
        library_answer(library, &task->answer);
        buf_printf(&task->answer, ", \"memory\": %zu", memory_of(task->interpreter));
    } else {
        library->session = NULL; /* what was being changed is in no known state: it is lost */
        task->interpreter->program = NULL;
        buf_free(&task->answer);
        put_messages(task);
    }
    buf_text(&task->answer, "}");
    return NULL;
}

static tile_status finish(Task *task, char **answer)
{
    const int error = library_run(perform, task);
    if (error) return TILE_ERROR_MEMORY;
    *answer = task->answer.data;
    if (task->fine) return TILE_OK;
    return *task->fault ? TILE_ERROR_NO_SPECIALISATION : TILE_ERROR_ARGUMENT;
}

/* ---- the front ---- */

tile_status tilec_open(const tilec_options *options, tilec_interpreter **out, char **answer)
{
    *out = NULL;
    *answer = NULL;
    if (options->abi_version != TILE_ABI_VERSION) return TILE_ERROR_ABI;
    library_prepare();
    tilec_interpreter *interpreter = calloc(1, sizeof *interpreter);
    if (!interpreter) return TILE_ERROR_MEMORY;
    interpreter->library.session = session_new();
    Task task = {.interpreter = interpreter, .options = options};
    const tile_status status = finish(&task, answer);
    if (status)
        tilec_close(interpreter);
    else
        *out = interpreter;
    return status;
}

tile_status tilec_run(tilec_interpreter *interpreter, const char *statements,
                      const DLTensor *const *arrays, uint32_t array_count, char **answer)
{
    Task task = {.interpreter = interpreter,
                 .statements = statements,
                 .arrays = arrays,
                 .array_count = array_count};
    *answer = NULL;
    if (!interpreter->program) return TILE_ERROR_ARGUMENT;
    return finish(&task, answer);
}

void tilec_close(tilec_interpreter *interpreter)
{
    if (!interpreter) return;
    Library *library = &interpreter->library;
    if (interpreter->program) {
        gradients_free(&library->gradients);
        program_free(interpreter->program);
    }
    if (library->session) session_free(library->session);
    buf_free(&library->printed);
    buf_free(&library->values);
    buf_free(&library->built);
    buf_free(&library->launches);
    free(interpreter);
}

void tilec_free(char *answer)
{
    free(answer);
}
