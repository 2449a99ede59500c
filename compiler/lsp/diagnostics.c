/* diagnostics.c: analyses a document and tells the editor what the compiler reports of it. */
#include "lsp/lsp.h"

#include "base/diags.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_INTERRUPTIONS = 3 };
enum { SEVERITY_IS_ERROR = 1, SEVERITY_IS_WARNING = 2, SEVERITY_IS_INFORMATION = 3 };

static int severity_number(Severity severity)
{
    switch (severity) {
    case SEVERITY_ERROR: return SEVERITY_IS_ERROR;
    case SEVERITY_WARNING: return SEVERITY_IS_WARNING;
    case SEVERITY_REMARK: return SEVERITY_IS_INFORMATION;
    }
    return SEVERITY_IS_INFORMATION;
}

/* Notes with a place are shown there, others, and the hint, behind the message. */
static void add_notes(Server *server, const NoteVec *notes, json_t *related, Buf *message)
{
    for (size_t i = 0; i < notes->count; i++) {
        const Note *note = &notes->data[i];
        if (note->at.source != NULL)
            json_array_append_new(related,
                                  json_pack("{s:o, s:s}", "location", location_of(server, note->at),
                                            "message", note->text));
        else
            buf_printf(message, "\nnote: %s", note->text);
    }
}

/* What lies in another file, or nowhere, is shown on the first line, with the place beside it. */
static json_t *shown_range(const Server *server, const Source *source, const Report *report)
{
    Span at = report->at;
    if (at.source != source) at = (Span){source, 0, 0};
    return range_from_span(server->encoding, at);
}

static json_t *diagnostic(Server *server, const Source *source, const Report *report)
{
    Buf message = {0};
    json_t *related = json_array();
    buf_text(&message, report->text);
    if (report->at.source != NULL && report->at.source != source)
        json_array_append_new(related,
                              json_pack("{s:o, s:s}", "location", location_of(server, report->at),
                                        "message", report->text));
    add_notes(server, &report->notes, related, &message);
    add_notes(server, &report->frames, related, &message);
    if (report->hint != NULL) buf_printf(&message, "\nhint: %s", report->hint);
    json_t *result = json_pack(
        "{s:o, s:i, s:s, s:s, s:s, s:o}", "range", shown_range(server, source, report), "severity",
        severity_number(report->severity), "code", diag_row(report->code)->code, "source", "tilec",
        "message", message.data, "relatedInformation", related);
    buf_free(&message);
    return result;
}

static json_t *diagnostics_of(Server *server, const Analysis *analysis)
{
    const Diags *diags = analysis->session->diags;
    const Report **reports = diags_sorted(diags);
    json_t *list = json_array();
    for (size_t i = 0; i < diags->reports.count; i++)
        json_array_append_new(list, diagnostic(server, analysis->source, reports[i]));
    free(reports);
    return list;
}

/* A whole text's values take the place of an earlier one's; of one that is not whole, the tree. */
static void keep(Document *document, Analysis *analysis)
{
    analysis_free(document->tree);
    document->tree = NULL;
    if (analysis->program == NULL) {
        document->tree = analysis;
        return;
    }
    analysis_free(document->values);
    document->values = analysis;
    document->is_current = true;
}

void publish(Server *server, Document *document)
{
    bool interrupted = false;
    Analysis *analysis =
        analysis_evaluate(server, document->path, document->text.data, document->text.length,
                          document->interruptions < MOST_INTERRUPTIONS ? &interrupted : NULL);
    if (interrupted) {
        document->interruptions++;
        analysis_free(analysis);
        return;
    }
    document->is_pending = false;
    document->interruptions = 0;
    transport_notify(&server->transport, "textDocument/publishDiagnostics",
                     json_pack("{s:s, s:I, s:o}", "uri", document->uri, "version",
                               document->version, "diagnostics", diagnostics_of(server, analysis)));
    keep(document, analysis);
}
