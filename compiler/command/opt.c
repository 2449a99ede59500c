/* opt.c: tilec opt FILE: runs passes on IR text and prints what comes out. */
#include "driver.h"

#include "passes/passes.h"

#include <string.h>

static ExitStatus list_passes(Session *session)
{
    Buf text = {0};
    for (int i = 0; pass_name_at(i); i++) pass_describe(i, &text);
    write_output(session, "-", text.data, text.length);
    buf_free(&text);
    return session_status(session);
}

static bool run_named(Session *session, Kernel *kernel, const Target *target, const char *names)
{
    while (*names) {
        size_t length = strcspn(names, ",");
        if (!pass_run_named(kernel, target, intern(session->names, names, length))) return false;
        names += length + (names[length] == ',');
    }
    return true;
}

static bool run_passes(Session *session, const Options *options, Kernel *kernel,
                       const Target *target)
{
    if (!kernel_verify(kernel)) return false;
    if (options->run_passes) return run_named(session, kernel, target, options->run_passes);
    const PassOptions all = {.verify_each = true};
    return passes_run(kernel, target, &all);
}

ExitStatus command_opt(Session *session, const Options *options)
{
    if (options->list) return list_passes(session);
    const char *name = options->target ? options->target : "sm_90a";
    ArchList archs;
    if (!arch_parse(session, name, &archs)) return EXIT_USAGE;
    const Target *target = archs.items[0].target;
    if (options->inputs.count != 1) {
        diag_report(session->diags, DIAG_usage, (Span){0}, "opt needs one file of IR text");
        return EXIT_USAGE;
    }
    const Source *source = source_from_file(session, options->inputs.items[0]);
    int count = 0;
    Kernel **kernels = source ? kernel_read(session, source, &count) : NULL;
    Buf text = {0};
    bool fine = kernels != NULL;
    for (int i = 0; kernels && i < count; i++) {
        fine = fine && run_passes(session, options, kernels[i], target);
        if (fine) kernel_print(kernels[i], &text);
    }
    if (fine)
        write_output(session, options->output ? options->output : "-", text.data, text.length);
    for (int i = 0; kernels && i < count; i++) kernel_free(kernels[i]);
    buf_free(&text);
    return session_status(session);
}
