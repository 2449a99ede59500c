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
    diag_hint_nearest(session->diags, &nearest);
}

/* `set` for each warning that the option names, by its code or its name. */
static void apply_to(Session *session, const char *option, const TextList *names,
                     void (*set)(Diags *, DiagCode))
{
    for (int i = 0; i < names->count; i++) {
        const DiagCode code = diag_find(names->items[i]);
        if (is_warning(code))
            set(session->diags, code);
        else
            refuse_warning(session, option, names->items[i]);
    }
}

static void apply_warnings(Session *session, const Options *options)
{
    apply_to(session, "-Werror=", &options->errors_for, diag_promote);
    apply_to(session, "-Wno-", &options->no_warnings, diag_silence);
    for (int code = 0; options->warnings_are_errors && code < DIAG_COUNT; code++)
        if (is_warning((DiagCode)code)) diag_promote(session->diags, (DiagCode)code);
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

/* The stack may be at its end, and whatever is called here may fault or hang as well. */
static void on_crash(int number)
{
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
