/* check.c: tilec check FILE...: parse and evaluate only. */
#include "driver.h"

ExitStatus command_check(Session *session, const Options *options)
{
    if (options->inputs.count == 0) {
        diag_report(session->diags, DIAG_usage, (Span){0}, "a source file is needed");
        return EXIT_USAGE;
    }
    for (int i = 0; i < options->inputs.count; i++) {
        Options one = *options;
        one.inputs = (TextList){&options->inputs.items[i], 1};
        Program *program = open_program(session, &one, NULL);
        if (!program) continue;
        ExportList exports;
        program_export(program, options->exports.items, options->exports.count, &exports);
        program_free(program);
    }
    return session_status(session);
}
