/* explain.c: tilec explain CODE...: what a message means, by the pages of base/explain.txt. */
#include "driver.h"

#include <string.h>

static bool explain_code(Session *session, const char *name)
{
    DiagCode code = diag_find(name);
    if (code == DIAG_COUNT) {
        diag_report(session->diags, DIAG_option_value, (Span){0}, "explain", name,
                    "there is no such code");
        return false;
    }
    const DiagRow *row = diag_row(code);
    Buf text = {0};
    const bool is_told = strcmp(row->format, "%s") != 0;
    buf_printf(&text, "%s (%s)\n\n  %s\n", row->code, row->name,
               is_told ? row->format : "the message itself says what is so");
    buf_printf(&text, "\n%s", diag_explanation(code));
    if (row->hint) buf_printf(&text, "\nWhat to do: %s.\n", row->hint);
    bool fine = write_output(session, "-", text.data, text.length);
    buf_free(&text);
    return fine;
}

ExitStatus command_explain(Session *session, const Options *options)
{
    if (options->inputs.count == 0)
        diag_report(session->diags, DIAG_command_words, (Span){0}, "explain",
                    "the codes of messages, such as E0107");
    for (int i = 0; i < options->inputs.count; i++)
        if (!explain_code(session, options->inputs.items[i])) break;
    return session_status(session);
}
