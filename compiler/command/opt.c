/* opt.c: tilec opt FILE: runs passes on IR text and prints what comes out. */
#include "driver.h"

#include "passes/passes.h"

#include <stdio.h>
#include <string.h>

static ExitStatus list_passes(Session *session)
{
    Buf text = {0};
    for (int i = 0; pass_name_at(i); i++) pass_describe(i, &text);
    write_output(session, "-", text.data, text.length);
    buf_free(&text);
    return session_status(session);
}

static bool run_named(Kernel *kernel, const Target *target, const char *names,
                      const PassOptions *options)
{
    Interner *interned = kernel->session->names;
    while (*names) {
        size_t length = strcspn(names, ",");
        if (!pass_run_named(kernel, target, intern(interned, names, length), options)) return false;
        names += length + (names[length] == ',');
    }
    return true;
}

static bool run_passes(const Options *options, Kernel *kernel, const Target *target, Buf *dump)
{
    const PassOptions passes = {
        .verify_each = true, .print_after = options->print_after, .dump = dump};
    if (!kernel_verify(kernel)) return false;
    return options->run_passes ? run_named(kernel, target, options->run_passes, &passes)
                               : passes_run(kernel, target, &passes);
}

/* They are kept with the latest first. */
static void report_remarks(Session *session, const Remark *remark)
{
    if (!remark) return;
    report_remarks(session, remark->next);
    diag_report(session->diags, DIAG_performance, remark->span, remark->text);
}

/* Of a copy, as remarks leave notes in the IR; what else is to be said is said of the kernel. */
static void remark_passes(const Options *options, const Kernel *read, const Target *target)
{
    Session *session = read->session;
    Kernel *kernel = kernel_clone(read);
    Buf dump = {0};
    kernel->wants_remarks = true;
    const DiagMute mute = diag_mute(session->diags);
    const bool fine = run_passes(options, kernel, target, &dump);
    diag_unmute(session->diags, mute);
    if (fine) report_remarks(session, kernel->remarks);
    buf_free(&dump);
    kernel_free(kernel);
}

ExitStatus command_opt(Session *session, const Options *options)
{
    if (options->list) return list_passes(session);
    const char *name = options->target ? options->target : "sm_90a";
    ArchList archs;
    if (!arch_parse(session, name, &archs)) return EXIT_USAGE;
    const Target *target = archs.items[0].target;
    if (options->inputs.count != 1) {
        diag_report(session->diags, DIAG_command_words, (Span){0}, "opt", "one file of IR text");
        return EXIT_USAGE;
    }
    const Source *source = source_from_file(session, options->inputs.items[0]);
    int count = 0;
    Kernel **kernels = source ? kernel_read(session, source, &count) : NULL;
    Buf text = {0}, dump = {0};
    bool fine = kernels != NULL;
    for (int i = 0; kernels && i < count; i++) {
        if (fine && options->performance) remark_passes(options, kernels[i], target);
        fine = fine && run_passes(options, kernels[i], target, &dump);
        if (fine) kernel_print(kernels[i], &text);
    }
    if (dump.length) fwrite(dump.data, 1, dump.length, stderr);
    if (fine)
        write_output(session, options->output ? options->output : "-", text.data, text.length);
    for (int i = 0; kernels && i < count; i++) kernel_free(kernels[i]);
    buf_free(&text);
    buf_free(&dump);
    return session_status(session);
}
