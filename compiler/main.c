/* main.c: argv in, exit status out. */
#include "driver.h"

#include <stdio.h>
#include <string.h>

static ExitStatus print_text(const char *text)
{
    return fputs(text, stdout) < 0 || fflush(stdout) != 0 ? EXIT_TOOL : EXIT_DONE;
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
#define COMMAND(name, arguments, help) {#name, command_##name},
#include "commands.def"
#undef COMMAND
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        if (strcmp(commands[i].name, options->command) == 0)
            return commands[i].run(session, options);
    return EXIT_USAGE; /* options_parse gives no other names */
}

static void apply_warnings(Session *session, const Options *options)
{
    for (int code = 0; options->warnings_are_errors && code < DIAG_COUNT; code++)
        if (diag_row((DiagCode)code)->severity == SEVERITY_WARNING)
            diag_promote(session->diags, (DiagCode)code);
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

int main(int count, char **words)
{
    Session *session = session_new();
    Times times = {0};
    Options options;
    ExitStatus status = EXIT_USAGE;
    if (options_parse(session, count, words, &options)) {
        apply_warnings(session, &options);
        if (options.time_report) session->times = &times;
        status = run(session, &options);
    }
    show_times(session);
    show_messages(session, &options);
    session_free(session);
    return (int)status;
}
