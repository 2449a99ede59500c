/* check.c: tilec check FILE...: parse and evaluate only. */
#include "driver.h"

/* What cannot be differentiated is reported, too. */
static void check_exports(Session *session, const Options *options, Program *program)
{
    ExportList exports;
    ArchList archs;
    KernelVec gradients = {0};
    if (program_export(program, options->exports.items, options->exports.count, &exports) &&
        choose_archs(session, options->arch ? options->arch : ARCH_DEFAULT, &archs)) {
        warn_of_unused_loads(session, &exports);
        make_gradients(session, archs.items[0].target, &exports, &gradients);
    }
    free_gradients(&gradients);
}

ExitStatus command_check(Session *session, const Options *options)
{
    if (options->inputs.count == 0) {
        diag_report(session->diags, DIAG_source_needed, (Span){0});
        return EXIT_USAGE;
    }
    if (options->kernels) return command_migrate_report(session, options);
    for (int i = 0; i < options->inputs.count; i++) {
        Options one = *options;
        one.inputs = (TextList){&options->inputs.items[i], 1};
        Program *program = open_program(session, &one, NULL);
        if (!program) continue;
        check_exports(session, options, program);
        program_free(program);
    }
    return session_status(session);
}
