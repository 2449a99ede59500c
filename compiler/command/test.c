/* test.c: tilec test FILE...: runs the test_* functions of each file, one after another, each in a
 * session of its own, so that none sees what another left behind. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

typedef struct Tally {
    int passed, failed, skipped;
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

/* What the test gave for not being run, if nothing else went wrong; else NULL. */
static const char *skip_reason(const Session *session)
{
    static const char prefix[] = "skipped: ";
    const char *text = diag_reported(session->diags, DIAG_test_skipped);
    return text && diag_error_count(session->diags) == 1 ? text + sizeof prefix - 1 : NULL;
}

static void count_test(Tally *tally, ExitStatus status, bool is_skipped)
{
    int *count = is_skipped            ? &tally->skipped
                 : status == EXIT_DONE ? &tally->passed
                                       : &tally->failed;
    ++*count;
    if (status > tally->worst) tally->worst = status;
}

static void print_tally(const Tally *tally)
{
    printf("%d passed, %d failed", tally->passed, tally->failed);
    if (tally->skipped) printf(", %d skipped", tally->skipped);
    printf("\n");
    fflush(stdout);
}

static void run_test(const Options *options, Name name, Tally *tally)
{
    Session *session = session_new();
    Options one = *options;
    const char *inputs[] = {options->inputs.items[0], arena_printf(session->arena, "%s()", name)};
    one.inputs = (TextList){inputs, 2};
    ExitStatus status = command_run(session, &one);
    const char *skipped = skip_reason(session);
    if (skipped)
        printf("skip  %s: %s: %s\n", inputs[0], name, skipped);
    else
        printf("%-4s  %s: %s\n", status == EXIT_DONE ? "ok" : "FAIL", inputs[0], name);
    fflush(stdout);
    if (!skipped) show_messages(session, options);
    session_free(session);
    count_test(tally, skipped ? EXIT_DONE : status, skipped != NULL);
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
        diag_report(session->diags, DIAG_source_needed, (Span){0});
        return EXIT_USAGE;
    }
    Tally tally = {0};
    for (int i = 0; i < options->inputs.count; i++) {
        Options one = *options;
        one.inputs = (TextList){&options->inputs.items[i], 1};
        run_file(session, &one, &tally);
    }
    ExitStatus status = session_status(session);
    if (status == EXIT_DONE || tally.passed + tally.failed + tally.skipped > 0) print_tally(&tally);
    return status > tally.worst ? status : tally.worst;
}
