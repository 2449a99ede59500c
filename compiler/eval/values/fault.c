/* fault.c: reports: with the chain of calls to the user, or to the `try` that is running. */
#include "eval/values/values.h"

/* ---- where arguments stand ---- */

static bool in_library(const Frame *frame)
{
    return frame->function != NULL && frame->function->unit != NULL &&
           frame->function->unit->is_library;
}

static const Node *keyword_value(const NodeCall *call, Name name)
{
    for (uint32_t i = 0; i < call->keywords.count; i++) {
        const Nodekeyword *keyword = NODE_AS(keyword, call->keywords.items[i]);
        if (keyword->arg == name) return keyword->value;
    }
    return NULL;
}

/* Argument `index` of those that are given by position; NULL: a starred one may have given it. */
static const Node *positional_node(const Arguments *arguments, size_t index)
{
    const NodeCall *call = arguments->node;
    if (call == NULL || index < arguments->selves) return NULL;
    index -= arguments->selves;
    for (uint32_t i = 0; i <= index; i++)
        if (i >= call->args.count || call->args.items[i]->kind == NODE_Starred) return NULL;
    return call->args.items[index];
}

/* What the call of the frame's function gave to its parameter; NULL: it is none, or has its
 * default. */
static const Node *given_to(const Frame *frame, Name name)
{
    const Node *node = frame->function->node;
    const Arguments *arguments = frame->arguments;
    if (arguments == NULL || arguments->node == NULL || node->kind != NODE_FunctionDef) return NULL;
    const Node *named = keyword_value(arguments->node, name);
    const Nodes parameters = NODE_AS(arguments, NODE_AS(FunctionDef, node)->args)->args;
    const uint32_t self = frame->self != NULL && arguments->positional.count > 0
                              ? frame->self != arguments->positional.data[0]
                              : frame->self != NULL;
    for (uint32_t i = self; named == NULL && i < parameters.count; i++)
        if (NODE_AS(arg, parameters.items[i])->arg == name)
            return i - self < arguments->positional.count ? positional_node(arguments, i - self)
                                                          : NULL;
    return named;
}

typedef struct Handed {
    const Frame *frame;
    const Node *given;
} Handed;

static void find_parameter(void *context, const Node *node)
{
    Handed *parameter = context;
    if (parameter->given != NULL) return;
    if (node->kind == NODE_Name)
        parameter->given = given_to(parameter->frame, NODE_AS(Name, node)->id);
    else
        node_visit_children(node, find_parameter, parameter);
}

/* In the program's own text the node itself stands there; in the library's it is followed to the
 * argument that its first parameter has. */
static Span follow_node(const Frame *frame, const Node *node, Span at)
{
    while (node != NULL && frame != NULL && in_library(frame)) {
        Handed parameter = {frame, NULL};
        find_parameter(&parameter, node);
        node = parameter.given;
        frame = frame->caller;
    }
    return node != NULL && frame != NULL ? node->span : at;
}

static bool is_part_of(const Object *object, const Object *whole)
{
    if (object == whole) return true;
    if (whole->kind != OBJECT_LIST && whole->kind != OBJECT_TUPLE) return false;
    for (uint32_t i = 0; i < whole->as.list.count; i++)
        if (whole->as.list.items[i] == object) return true;
    return false;
}

static const Node *argument_node(const Arguments *arguments, const Object *object)
{
    for (size_t i = 0; i < arguments->positional.count; i++)
        if (is_part_of(object, arguments->positional.data[i])) return positional_node(arguments, i);
    for (size_t i = 0; arguments->node != NULL && i < arguments->names.count; i++)
        if (is_part_of(object, arguments->named.data[i]))
            return keyword_value(arguments->node, arguments->names.data[i]);
    return NULL;
}

static bool span_is(Span a, Span b)
{
    return a.source == b.source && a.begin == b.begin && a.end == b.end;
}

Span argument_span(const Eval *eval, const Object *object, Span at)
{
    for (const ActiveCall *call = eval->calling; call != NULL && span_is(call->at, at);
         call = call->outer) {
        const Node *node = object != NULL ? argument_node(call->arguments, object) : NULL;
        if (node != NULL) return follow_node(call->frame, node, at);
    }
    return at;
}

Span keyword_span(const Eval *eval, const Arguments *arguments, Name name)
{
    const Node *node = arguments->node != NULL ? keyword_value(arguments->node, name) : NULL;
    return node != NULL ? follow_node(eval->frame, node, arguments->at) : arguments->at;
}

Span extra_span(const Eval *eval, const Arguments *arguments, size_t index)
{
    return follow_node(eval->frame, positional_node(arguments, index), arguments->at);
}

/* ---- reports ---- */

bool report_begin(Eval *eval)
{
    eval->described = NULL;
    if (eval->quiet > 0) return false;
    Diags *diags = eval->session->diags;
    for (size_t i = 0; i < eval->steps.count; i++)
        diag_push_frame(diags, eval->steps.data[i].at, "%s", eval->steps.data[i].text);
    return true;
}

/* A message that describes an argument of the call at its place stands at the argument. */
void *report_end(Eval *eval)
{
    if (eval->described != NULL && eval->quiet == 0) {
        const Span at = diag_place(eval->session->diags);
        diag_move(eval->session->diags, argument_span(eval, eval->described, at));
    }
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
