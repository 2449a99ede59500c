/* test.c: tilec test FILE...: runs the test_* functions of each file, one after another, each in a
 * session of its own, so that none sees what another left behind. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

typedef struct Tally {
    int passed, failed;
    ExitStatus worst;
} Tally;

typedef VEC(Name) NameVec;

/* The names of the module's test functions, in order. False: reported. */
static bool find_tests(Session *session, const char *path, NameVec *out)
{
    const Source *source = source_from_file(session, path);
    if (!source) return false;
    const Module *module = parse_source(session, source);
    if (diag_error_count(session->diags)) return false;
    Nodes body = module->tree->body;
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind != NODE_FunctionDef) continue;
        Name name = NODE_AS(FunctionDef, body.items[i])->name;
        if (strncmp(name, "test_", 5) == 0) vec_push(session->arena, out, name);
    }
    if (out->count == 0) diag_report(session->diags, DIAG_no_tests, (Span){0}, path);
    return out->count != 0;
}

static void run_test(const Options *options, Name name, Tally *tally)
{
    Session *session = session_new();
    Options one = *options;
    const char *inputs[] = {options->inputs.items[0], arena_printf(session->arena, "%s()", name)};
    one.inputs = (TextList){inputs, 2};
    ExitStatus status = command_run(session, &one);
    printf("%-4s  %s: %s\n", status == EXIT_DONE ? "ok" : "FAIL", inputs[0], name);
    fflush(stdout);
    show_messages(session, options);
    session_free(session);
    if (status == EXIT_DONE)
        tally->passed++;
    else
        tally->failed++;
    if (status > tally->worst) tally->worst = status;
}

static void run_file(Session *session, const Options *options, Tally *tally)
{
    NameVec names = {0};
    if (!find_tests(session, options->inputs.items[0], &names)) return;
    for (size_t i = 0; i < names.count; i++) run_test(options, names.data[i], tally);
}

ExitStatus command_test(Session *session, const Options *options)
{
    if (options->inputs.count == 0) {
        diag_report(session->diags, DIAG_usage, (Span){0}, "a source file is needed");
        return EXIT_USAGE;
    }
    Tally tally = {0};
    for (int i = 0; i < options->inputs.count; i++) {
        Options one = *options;
        one.inputs = (TextList){&options->inputs.items[i], 1};
        run_file(session, &one, &tally);
    }
    ExitStatus status = session_status(session);
    if (status == EXIT_DONE || tally.passed + tally.failed > 0)
        printf("%d passed, %d failed\n", tally.passed, tally.failed);
    fflush(stdout);
    return status > tally.worst ? status : tally.worst;
}
