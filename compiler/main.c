/* main.c: argv in, exit status out. */
#include "driver.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

static void show_messages(const Session *session, const Options *options)
{
    Buf text = {0};
    bool json = options->diagnostics && strcmp(options->diagnostics, "json") == 0;
    bool colour = !json && isatty(STDERR_FILENO);
    diag_render(session->diags, json ? DIAG_JSON : DIAG_TEXT, colour, &text);
    if (text.length) fwrite(text.data, 1, text.length, stderr);
    buf_free(&text);
}

int main(int count, char **words)
{
    Session *session = session_new();
    Options options;
    ExitStatus status = EXIT_USAGE;
    if (options_parse(session, count, words, &options)) {
        apply_warnings(session, &options);
        if (options.help)
            status = print_help();
        else if (options.version)
            status = print_text("tilec " TILEC_VERSION "\n");
        else
            status = run_command(session, &options);
    }
    show_messages(session, &options);
    session_free(session);
    return (int)status;
}
