/* main.c: argv in, exit status out. */
#include "driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIGNAL_STACK = 256 * 1024 };

static ExitStatus print_text(const char *text)
{
    fputs(text, stdout); /* what goes wrong, main sees at the end */
    return EXIT_DONE;
}

static ExitStatus print_help(void)
{
    Buf help = {0};
    options_help(&help);
    ExitStatus status = print_text(help.data);
    buf_free(&help);
    return status;
}

static ExitStatus run_command(Session *session, const Options *options)
{
    static const struct {
        const char *name;
        ExitStatus (*run)(Session *session, const Options *options);
    } commands[] = {
#define COMMAND(name, spelling, arguments, help) {spelling, command_##name},
#include "commands.def"
#undef COMMAND
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, options->command) == 0)
            return commands[i].run(session, options);
    return EXIT_USAGE; /* options_parse gives no other names */
}

static bool is_warning(DiagCode code)
{
    return code < DIAG_COUNT && diag_row(code)->severity == SEVERITY_WARNING;
}

static void refuse_warning(Session *session, const char *option, const char *name)
{
    Nearest nearest = nearest_to(name);
    diag_report(session->diags, DIAG_option_value, (Span){0}, option, name,
                "there is no such warning");
    for (DiagCode code = 0; code < DIAG_COUNT; code++)
        if (is_warning(code)) nearest_try(&nearest, diag_row(code)->name);
    for (size_t i = 0; diag_group_at(i) != NULL; i++) nearest_try(&nearest, diag_group_at(i));
    diag_hint_nearest(session->diags, &nearest);
}

/* What is asked of a warning, by its name, by its code or by its group's name. */
typedef struct Asked {
    Session *session;
    enum { ASK_FOR, ASK_SILENCE, ASK_PROMOTE, ASK_DEMOTE } what;
    bool of_groups; /* what is asked of single ones comes later, as it counts */
} Asked;

static void ask(void *context, DiagCode code)
{
    const Asked *asked = context;
    Diags *diags = asked->session->diags;
    switch (asked->what) {
    case ASK_FOR: diag_ask_for(diags, code); return;
    case ASK_SILENCE: diag_silence(diags, code); return;
    case ASK_DEMOTE: diag_demote(diags, code); return;
    case ASK_PROMOTE: diag_ask_for(diags, code), diag_promote(diags, code);
    }
}

static void ignore(void *context, DiagCode code)
{
    (void)context;
    (void)code;
}

/* "unused-load" is unused_load, as people write it. */
static void ask_by_name(Asked *asked, const char *option, const char *text)
{
    char *name = arena_copy_text(asked->session->arena, text, strlen(text));
    for (char *at = name; *at; at++)
        if (*at == '-') *at = '_';
    if (diag_each_of_group(name, asked->of_groups ? ask : ignore, asked)) return;
    const DiagCode code = diag_find(name);
    if (is_warning(code) && !asked->of_groups) ask(asked, code);
    if (!is_warning(code) && asked->of_groups) refuse_warning(asked->session, option, text);
}

static void ask_without(Asked *asked, const char *text)
{
    static const char of_errors[] = "error=";
    const bool is_of_error = strncmp(text, of_errors, strlen(of_errors)) == 0;
    asked->what = is_of_error ? ASK_DEMOTE : ASK_SILENCE;
    if (strcmp(text, "error") == 0) return; /* apply_warnings has seen it */
    if (is_of_error)
        ask_by_name(asked, "-Wno-error=", text + strlen(of_errors));
    else
        ask_by_name(asked, "-Wno-", text);
}

/* In the order of the command line. */
static void ask_all(Asked *asked, const Options *options)
{
    int named = 0, without = 0, errors = 0;
    for (int i = 0; i < options->given.count; i++) {
        const char *spelling = options->given.items[i];
        asked->what = strcmp(spelling, "-W") == 0 ? ASK_FOR : ASK_PROMOTE;
        if (asked->what == ASK_FOR)
            ask_by_name(asked, spelling, options->warnings.items[named++]);
        else if (strcmp(spelling, "-Werror=") == 0)
            ask_by_name(asked, spelling, options->errors_for.items[errors++]);
        else if (strcmp(spelling, "-Wno-") == 0)
            ask_without(asked, options->no_warnings.items[without++]);
    }
}

/* As with C compilers: what is said of one warning counts more than what is said of its group, and
 * that more than what is said of all; of two the later one. */
static void apply_warnings(Session *session, const Options *options)
{
    Asked asked = {.session = session, .of_groups = true};
    bool all_fail = false;
    for (int i = 0, without = 0; i < options->given.count; i++) {
        const char *spelling = options->given.items[i];
        if (strcmp(spelling, "-Werror") == 0) all_fail = true;
        if (strcmp(spelling, "-Wno-") == 0 &&
            strcmp(options->no_warnings.items[without++], "error") == 0)
            all_fail = false;
    }
    for (int code = 0; all_fail && code < DIAG_COUNT; code++)
        if (is_warning((DiagCode)code)) diag_promote(session->diags, (DiagCode)code);
    ask_all(&asked, options);
    asked.of_groups = false;
    ask_all(&asked, options);
}

static ExitStatus print_archs(void)
{
    const Target *target;
    Buf text = {0};
    for (size_t i = 0; (target = target_at(i)) != NULL; i++)
        buf_printf(&text, "%s\n", target->name);
    buf_text(&text, "native\nemulator\n");
    ExitStatus status = print_text(text.data);
    buf_free(&text);
    return status;
}

static ExitStatus run(Session *session, const Options *options)
{
    if (options->help) return print_help();
    if (options->version) return print_text("tilec " TILEC_VERSION "\n");
    if (options->list_archs) return print_archs();
    return run_command(session, options);
}

static void show_times(const Session *session)
{
    if (!session->times) return;
    Buf text = {0};
    times_print(session->times, &text);
    fwrite(text.data, 1, text.length, stderr);
    buf_free(&text);
}

/* The stack may be at its end, and whatever is called here may fault or hang as well. Who goes on
 * behind it hears of the next one, too. */
static void on_crash(int number)
{
    static const struct sigaction again = {.sa_handler = on_crash,
                                           .sa_flags = SA_ONSTACK | SA_RESETHAND};
    if (fault_refuge_is_set())
        sigaction(number, &again, NULL);
    else
        alarm(10);
    ICE("%s", strsignal(number));
}

/* Ends as if nobody had caught the signal. */
static void on_end(int number)
{
    alarm(10);
    os_remove_temp_folders();
    raise(number);
}

static void set_ends(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    const struct sigaction action = {.sa_handler = on_end, .sa_flags = SA_RESETHAND};
    struct sigaction before;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(ends[i], &action, NULL);
}

static void set_signals(void)
{
    static const int crashes[] = {
        SIGABRT,
#if !defined(__SANITIZE_ADDRESS__) /* which tells more */
        SIGSEGV,
        SIGBUS,
        SIGFPE,
        SIGILL,
#endif
    };
    const stack_t stack = {.ss_sp = malloc(SIGNAL_STACK), .ss_size = SIGNAL_STACK};
    const struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    sigaltstack(&stack, NULL);
    for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
        sigaction(crashes[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN); /* a file that grows too large is an error of the write */
}

int main(int count, char **words)
{
    stack_raise();
    set_signals();
    set_ends();
    Session *session = session_new();
    Times times = {0};
    Options options;
    ExitStatus status = EXIT_USAGE;
    if (options_parse(session, count, words, &options) && path_maps_apply(session, &options)) {
        apply_warnings(session, &options);
        options_warn(session, &options);
        if (options.time_report) session->times = &times;
        status = run(session, &options);
        check_printed(session);
        if (status == EXIT_DONE) status = session_status(session);
    }
    show_times(session);
    show_messages(session, &options);
    session_free(session);
    return (int)status;
}
