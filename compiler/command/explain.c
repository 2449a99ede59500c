/* explain.c: tilec explain CODE. */
#include "driver.h"

ExitStatus command_explain(Session *session, const Options *options)
{
    DiagCode code = options->inputs.count == 1 ? diag_find(options->inputs.items[0]) : DIAG_COUNT;
    if (code == DIAG_COUNT) {
        diag_report(session->diags, DIAG_usage, (Span){0},
                    "explain needs one error code, such as E0107");
        return EXIT_USAGE;
    }
    const DiagRow *row = diag_row(code);
    Buf text = {0};
    buf_printf(&text, "%s (%s)\n\n  %s\n", row->code, row->name, row->format);
    if (row->hint) buf_printf(&text, "\nWhat to do: %s.\n", row->hint);
    write_output(session, "-", text.data, text.length);
    buf_free(&text);
    return session_status(session);
}
