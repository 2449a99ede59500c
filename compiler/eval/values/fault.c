/* fault.c: reports: with the chain of calls to the user, or to the `try` that is running. */
#include "eval/values/values.h"

bool report_begin(Eval *eval)
{
    if (eval->quiet > 0) return false;
    Diags *diags = eval->session->diags;
    for (size_t i = 0; i < eval->steps.count; i++)
        diag_push_frame(diags, eval->steps.data[i].at, "%s", eval->steps.data[i].text);
    return true;
}

void *report_end(Eval *eval)
{
    for (size_t i = 0; eval->quiet == 0 && i < eval->steps.count; i++)
        diag_pop_frame(eval->session->diags);
    return NULL;
}

void eval_move(Eval *eval, Span at)
{
    if (eval->library > 0) return;
    eval->at = at;
    eval->builder.span = at;
}

Span eval_move_to(Eval *eval, const Node *node)
{
    eval_move(eval, node->span);
    return eval->at;
}

const Value *mask_now(const Eval *eval)
{
    return eval->parallel != NULL ? eval->parallel->mask : NULL;
}

void fault_note(Eval *eval, DiagCode code, Span at, ...)
{
    Attempt *attempt = eval->attempt;
    Object *raised = eval->raised;
    eval->raised = NULL;
    if (attempt == NULL || attempt->quiet != eval->quiet) return;
    if (attempt->failed && eval->equal_failed) return; /* not found since an __eq__ failed */
    va_list arguments;
    va_start(arguments, at);
    const char *text = diag_text(eval->arena, code, arguments);
    va_end(arguments);
    attempt->failed = true;
    attempt->fault = (Fault){code, at, text, raised, eval->control, mask_now(eval)};
}

bool in_host_part(const Eval *eval)
{
    return eval->staging != NULL && eval->staging->is_function && eval->staging->launch == NULL;
}
