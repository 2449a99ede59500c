/* session.c: what commands share: programs from sources, outputs, messages, the exit status. */
#include "base/diags.h"
#include "build/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool rounds_products(const Options *options)
{
    return options->contraction && strcmp(options->contraction, "off") == 0;
}

EvalOptions eval_options(const Options *options, const Carried *carried, Host *host)
{
    return (EvalOptions){.stdlib_folder = options->stdlib,
                         .import_paths = options->import_paths.items,
                         .import_path_count = options->import_paths.count,
                         .defines = options->defines.items,
                         .define_count = options->defines.count,
                         .gradients = options->gradients.items,
                         .gradient_count = options->gradients.count,
                         .fast_math = options->fast_math,
                         .rounds_products = rounds_products(options),
                         .max_calls =
                             options->max_calls ? strtoull(options->max_calls, NULL, 10) : 0,
                         .files = carried ? carried->files : NULL,
                         .file_count = carried ? carried->file_count : 0,
                         .host = host};
}

Program *open_source(Session *session, const Options *options, const Source *source,
                     const Carried *carried, Host *host)
{
    const EvalOptions eval = eval_options(options, carried, host);
    uint64_t start = os_now_ns();
    Program *program = program_new(session, source, &eval);
    times_add(session->times, "parse", start);
    return program;
}

Program *open_program(Session *session, const Options *options, Host *host)
{
    const Source *source = source_from_file(session, options->inputs.items[0]);
    return source ? open_source(session, options, source, NULL, host) : NULL;
}

ExitStatus session_status(const Session *session)
{
    /* The first digits of a code tell what kind of fault it is: diag.def. */
    static const struct {
        const char *prefix;
        ExitStatus status;
    } rows[] = {{"E06", EXIT_TOOL}, {"E07", EXIT_USAGE}, {"E08", EXIT_MISMATCH}};
    if (diag_error_count(session->diags) == 0) return EXIT_DONE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (diag_has_errors_of(session->diags, rows[i].prefix)) return rows[i].status;
    return EXIT_SOURCE;
}

void show_messages(const Session *session, const Options *options)
{
    Buf text = {0};
    bool json = options->diagnostics && strcmp(options->diagnostics, "json") == 0;
    bool colour = !json && isatty(STDERR_FILENO);
    diag_render(session->diags, json ? DIAG_JSON : DIAG_TEXT, colour, &text);
    if (text.length) fwrite(text.data, 1, text.length, stderr);
    session->diags->shown = session->diags->reports.count;
    buf_free(&text);
}

bool write_output(Session *session, const char *path, const void *bytes, size_t length)
{
    OsOutput output = {.path = path, .bytes = bytes, .length = length};
    return write_outputs(session, &output, 1);
}

bool write_outputs(Session *session, OsOutput *outputs, size_t count)
{
    const OsOutput *failed = os_write_files(session->arena, outputs, count);
    if (failed)
        diag_report(session->diags, DIAG_cannot_write, (Span){0},
                    strcmp(failed->path, "-") == 0 ? "standard output" : failed->path,
                    strerror(errno));
    return !failed;
}

/* The streams' own buffers keep what could not be written, and that it could not. */
void check_printed(Session *session)
{
    const bool flushed = fflush(stdout) == 0;
    if (flushed && !ferror(stdout)) return;
    diag_report(session->diags, DIAG_cannot_write, (Span){0}, "standard output",
                flushed ? "what was printed before is lost" : strerror(errno));
}
