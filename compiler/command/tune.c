/* tune.c: tilec tune: the configurations of kernels, measured before the program is built that
 * they are for. */
#include "command/object_calls.h"
#include "command/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands behind the file, and the calls, a line each. */
static const char *statements(Session *session, const Options *options)
{
    Buf text = {0};
    if (options->inputs.count > 1) buf_printf(&text, "%s\n", options->inputs.items[1]);
    for (int i = 0; i < options->calls.count; i++)
        buf_printf(&text, "%s\n", options->calls.items[i]);
    const char *copy = arena_copy_text(session->arena, text.data, text.length);
    buf_free(&text);
    return copy;
}

static void show_plan(const Tunings *tunings)
{
    for (size_t i = 0; i < tunings->items.count; i++) {
        const Tuning *tuning = &tunings->items.data[i];
        printf("%s", tuning->kernel);
        for (size_t j = 0; j < tuning->keys.count; j++)
            printf(" %s=%s", tuning->keys.data[j].name, tuning->keys.data[j].text);
        for (size_t j = 0; j < tuning->sizes.count; j++)
            printf(" %s=%.0f", tuning->sizes.data[j].name, tuning->sizes.data[j].number);
        printf(": %zu configurations\n", tuning->times.count);
        for (size_t j = 0; j < tuning->times.count; j++)
            printf("  %s\n", tuning->times.data[j].name);
    }
}

static ExitStatus refuse_words(Session *session, const char *wanted)
{
    diag_report(session->diags, DIAG_command_words, (Span){0}, "tune", wanted);
    return EXIT_USAGE;
}

static ExitStatus write_tunings(Session *session, const Options *options, Tunings *tunings)
{
    Buf text = {0};
    tunings_write(tunings, &text);
    if (options->output) write_output(session, options->output, text.data, text.length);
    text.length = 0;
    tunings_report(session->arena, tunings, &text);
    show_messages(session, options); /* on the measurements come before their table */
    if (!options->output || strcmp(options->output, "-") != 0)
        fwrite(text.data, 1, text.length, stdout);
    buf_free(&text);
    return session_status(session);
}

static ExitStatus merge(Session *session, const Options *options)
{
    Tunings tunings = {0};
    if (!options->output) {
        diag_report(session->diags, DIAG_output_needed, (Span){0}, " for the merged tunings");
        return EXIT_USAGE;
    }
    for (int i = 0; i < options->inputs.count; i++)
        if (!tunings_read(session, options->inputs.items[i], &tunings))
            return session_status(session);
    return write_tunings(session, options, &tunings);
}

ExitStatus command_tune(Session *session, const Options *options)
{
    Tunings tunings = {0};
    const RunWish wish = {.tunings = &tunings, .only_plans = options->plan};
    if (options->inputs.count < 1) return refuse_words(session, "a file");
    if (options->merge) return merge(session, options);
    if (options->inputs.count > 2 || (options->inputs.count == 1 && !options->calls.count))
        return refuse_words(session, "a file and --args, or statements that call its kernels");
    if (options->plan && is_object_file(options->inputs.items[0])) {
        diag_report(session->diags, DIAG_plan_of_object, (Span){0}, options->inputs.items[0]);
        return EXIT_USAGE;
    }
    setenv("TILE_CACHE", "off", 1); /* what was measured on other days is measured again */
    const ExitStatus status = run_file(session, options, statements(session, options), &wish);
    if (status != EXIT_DONE) return status;
    if (options->plan) {
        show_plan(&tunings);
        return status;
    }
    if (!tunings.items.count) {
        diag_report(session->diags, DIAG_nothing_tuned, (Span){0});
        return session_status(session);
    }
    return write_tunings(session, options, &tunings);
}
