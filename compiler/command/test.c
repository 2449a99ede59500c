/* test.c: tilec test FILE...: runs the test_* functions of each file, one after another, each in a
 * session of its own, so that none sees what another left behind. */
#include "driver.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "command/junit.h"

typedef struct Tests {
    const Options *options;
    const regex_t *filter; /* NULL: all */
    Buf cases;             /* of the report */
    int found, passed, failed, skipped;
    uint64_t spent; /* ns */
    ExitStatus worst;
} Tests;

typedef VEC(Name) NameVec;

static bool is_wanted(const Tests *tests, Name name)
{
    return !tests->filter || regexec(tests->filter, name, 0, NULL, 0) == 0;
}

/* The names of the module's test functions that are asked for, in order. False: reported. */
static bool find_tests(Session *session, const Tests *tests, const char *path, NameVec *out)
{
    const Source *source = source_from_file(session, path);
    if (!source) return false;
    const Module *module = parse_source(session, source);
    if (diag_error_count(session->diags)) return false;
    Nodes body = module->tree->body;
    int count = 0;
    for (uint32_t i = 0; i < body.count; i++) {
        if (body.items[i]->kind != NODE_FunctionDef) continue;
        Name name = NODE_AS(FunctionDef, body.items[i])->name;
        if (strncmp(name, "test_", 5) != 0) continue;
        count++;
        if (is_wanted(tests, name)) vec_push(session->arena, out, name);
    }
    if (count == 0) diag_report(session->diags, DIAG_no_tests, (Span){0}, path);
    return count != 0;
}

/* What the test gave for not being run, if nothing else went wrong; else NULL. */
static const char *skip_reason(const Session *session)
{
    static const char prefix[] = "skipped: ";
    const char *text = diag_reported(session->diags, DIAG_test_skipped);
    return text && diag_error_count(session->diags) == 1 ? text + sizeof prefix - 1 : NULL;
}

static void count_test(Tests *tests, const TestResult *result, ExitStatus status)
{
    int *count = result->skipped       ? &tests->skipped
                 : status == EXIT_DONE ? &tests->passed
                                       : &tests->failed;
    ++*count;
    tests->spent += result->spent;
    if (!result->skipped && status > tests->worst) tests->worst = status;
}

static void print_tally(const Tests *tests)
{
    printf("%d passed, %d failed", tests->passed, tests->failed);
    if (tests->skipped) printf(", %d skipped", tests->skipped);
    printf("\n");
    fflush(stdout);
}

static void print_result(const TestResult *result, ExitStatus status)
{
    if (result->skipped)
        printf("skip  %s: %s: %s\n", result->file, result->name, result->skipped);
    else
        printf("%-4s  %s: %s\n", status == EXIT_DONE ? "ok" : "FAIL", result->file, result->name);
    fflush(stdout);
}

static void run_test(Tests *tests, const char *path, Name name)
{
    Session *session = session_new();
    Options one = *tests->options;
    const char *inputs[] = {path, arena_printf(session->arena, "%s()", name)};
    Buf said = {0};
    one.inputs = (TextList){inputs, 2};
    const uint64_t start = os_now_ns();
    const ExitStatus status = command_run(session, &one);
    TestResult result = {
        .file = path, .name = name, .skipped = skip_reason(session), .spent = os_now_ns() - start};
    if (!result.skipped && status != EXIT_DONE) {
        diag_render(session->diags, DIAG_TEXT, false, &said);
        result.failed = said.length ? said.data : "";
    }
    print_result(&result, status);
    if (!result.skipped) show_messages(session, tests->options);
    junit_add(&tests->cases, &result);
    count_test(tests, &result, status);
    buf_free(&said);
    session_free(session);
}

static void run_file(Session *session, Tests *tests, const char *path)
{
    NameVec names = {0};
    if (!find_tests(session, tests, path, &names)) return;
    tests->found += (int)names.count;
    for (size_t i = 0; i < names.count; i++) {
        if (tests->options->list)
            printf("%s: %s\n", path, names.data[i]);
        else
            run_test(tests, path, names.data[i]);
    }
}

static bool compile_filter(Session *session, const char *text, regex_t *out)
{
    char why[256];
    const int status = regcomp(out, text, REG_EXTENDED | REG_NOSUB);
    if (status == 0) return true;
    regerror(status, out, why, sizeof why);
    diag_report(session->diags, DIAG_option_value, (Span){0}, "--filter", text, why);
    return false;
}

static void write_report(Session *session, Tests *tests)
{
    const TestTotals totals = {tests->passed + tests->failed + tests->skipped, tests->failed,
                               tests->skipped, tests->spent};
    Buf text = {0};
    junit_print(&tests->cases, &totals, &text);
    OsOutput file = {.path = tests->options->junit, .bytes = text.data, .length = text.length};
    write_outputs(session, &file, 1);
    buf_free(&text);
}

static ExitStatus run_files(Session *session, Tests *tests)
{
    const TextList *files = &tests->options->inputs;
    for (int i = 0; i < files->count; i++) run_file(session, tests, files->items[i]);
    if (tests->found == 0 && session_status(session) == EXIT_DONE)
        diag_report(session->diags, DIAG_option_value, (Span){0}, "--filter",
                    tests->options->filter, "it is found in no test's name");
    if (tests->options->list) return session_status(session);
    const int count = tests->passed + tests->failed + tests->skipped;
    if (session_status(session) == EXIT_DONE || count > 0) print_tally(tests);
    if (tests->options->junit) write_report(session, tests);
    const ExitStatus status = session_status(session);
    return status > tests->worst ? status : tests->worst;
}

ExitStatus command_test(Session *session, const Options *options)
{
    regex_t filter;
    Tests tests = {.options = options};
    if (options->inputs.count == 0) {
        diag_report(session->diags, DIAG_source_needed, (Span){0});
        return EXIT_USAGE;
    }
    if (options->filter && !compile_filter(session, options->filter, &filter)) return EXIT_USAGE;
    if (options->filter) tests.filter = &filter;
    const ExitStatus status = run_files(session, &tests);
    if (options->filter) regfree(&filter);
    buf_free(&tests.cases);
    return status;
}
