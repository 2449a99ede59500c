/* raise.c: exceptions that happen now: raise, assert, try. An error that nothing catches is
 * reported where it happened. */
#include "eval/python/python.h"

/* Whether a condition that shows when the kernel runs decides about what went wrong. */
static bool is_conditional(const Eval *eval, const Attempt *attempt)
{
    return attempt->fault.control > eval->control || attempt->fault.mask != attempt->mask;
}

/* ---- raise and assert ---- */

/* `with`: what the context's __exit__ says of an exception. Its own code runs as that of a `try`'s
 * handler does. */
static Flow leave_context(Eval *eval, Attempt *attempt, Object *context, Object *method)
{
    Fault *fault = &attempt->fault;
    Object *exception = attempt->failed ? fault_exception(eval, fault) : NULL;
    if (!attempt->failed) return FLOW_ERROR;
    if (exception == NULL || exception->kind != OBJECT_INSTANCE || is_conditional(eval, attempt))
        return fault_pass_on(eval, fault);
    Object *given[] = {context, exception->as.instance->class, exception, eval->none};
    Object *outer = eval->handling;
    eval->handling = exception;
    Object *result = eval->ops->call_simple(eval, method, 4, given, eval->at);
    eval->handling = outer;
    bool caught = false;
    if (result == NULL || !object_truth(eval, result, &caught)) return FLOW_ERROR;
    return caught ? FLOW_NEXT : fault_pass_on(eval, fault);
}

Flow guard_context(Eval *eval, WithBody *body, const NodeWith *node, uint32_t index,
                   Object *context, Object *method)
{
    Attempt attempt = {.quiet = eval->quiet + 1,
                       .frame = eval->frame,
                       .mask = mask_now(eval),
                       .outer = eval->attempt};
    const Span at = eval->at;
    eval->attempt = &attempt;
    eval->quiet++;
    Flow flow = body(eval, node, index);
    eval->quiet--;
    eval->attempt = attempt.outer;
    eval_move(eval, at);
    if (flow == FLOW_ERROR) return leave_context(eval, &attempt, context, method);
    Object *given[] = {context, eval->none, eval->none, eval->none};
    Object *result = eval->frame->result;
    if (eval->ops->call_simple(eval, method, 4, given, eval->at) == NULL) return FLOW_ERROR;
    eval->frame->result = result;
    return flow;
}

Flow run_raise(Eval *eval, const Node *node)
{
    const NodeRaise *n = NODE_AS(Raise, node);
    Object *exception = n->exc != NULL ? eval->ops->eval_expr(eval, n->exc) : eval->handling;
    eval_move(eval, node->span);
    if (n->exc == NULL && exception == NULL)
        return FAIL(eval, misplaced, eval->at, "raise", "an 'except'"), FLOW_ERROR;
    if (exception != NULL && exception->kind == OBJECT_CLASS)
        exception = eval->ops->call_simple(eval, exception, 0, NULL, eval->at);
    Object *cause =
        exception != NULL && n->cause != NULL ? eval->ops->eval_expr(eval, n->cause) : NULL;
    if (exception == NULL || (n->cause != NULL && cause == NULL)) return FLOW_ERROR;
    if (cause != NULL && exception->kind == OBJECT_INSTANCE &&
        !attribute_put(eval, exception, intern_text(eval->session->names, "__cause__"), cause,
                       eval->at))
        return FLOW_ERROR;
    raise_object(eval, exception, eval->at);
    return FLOW_ERROR;
}

static Flow assertion_error(Eval *eval, const NodeAssert *node)
{
    const char *text = "";
    eval_move(eval, node->base.span);
    Span at = eval->at; /* in a library the call of it */
    eval->raised = NULL;
    Object *message = node->msg != NULL ? eval->ops->eval_expr(eval, node->msg) : eval->none;
    if (message == NULL) return FLOW_ERROR;
    if (node->msg != NULL) {
        Buf buf = {0};
        object_print(eval, message, TEXT_STR, &buf);
        text = arena_printf(eval->arena, ": %s", buf.data != NULL ? buf.data : "");
        buf_free(&buf);
    }
    if (eval->attempt != NULL)
        eval->raised = exception_new(eval, "AssertionError", text[0] != '\0' ? text + 2 : "");
    /* A run's own check is a mismatch; one in a kernel's static part is an error of the program. */
    if (eval->host != NULL && eval->staging == NULL)
        FAIL(eval, run_mismatch, at, text);
    else
        FAIL(eval, assertion, at, text);
    return FLOW_ERROR;
}

/* In the program of a thread a condition that can never hold is for those that come there. */
static bool is_for_threads(const Eval *eval)
{
    return eval->staging != NULL && eval->staging->launch != NULL && eval->frame->is_thread_code;
}

Flow run_assert(Eval *eval, const Node *node)
{
    const NodeAssert *n = NODE_AS(Assert, node);
    if (eval->host != NULL && eval->staging == NULL && eval->host->asserts_nothing)
        return FLOW_NEXT;
    Object *test = eval->ops->eval_expr(eval, n->test);
    bool truth;
    eval_move(eval, node->span);
    if (test != NULL && object_is_staged(test)) return eval->ops->stage_assertion(eval, n, test);
    if (test == NULL || !object_truth(eval, test, &truth)) return FLOW_ERROR;
    if (truth) return FLOW_NEXT;
    return is_for_threads(eval) ? eval->ops->stage_assertion(eval, n, test)
                                : assertion_error(eval, n);
}

static bool handler_matches(Eval *eval, const NodeExceptHandler *handler, Object *exception,
                            bool *failed)
{
    if (handler->type == NULL) return true;
    Object *kinds = eval->ops->eval_expr(eval, handler->type);
    *failed = kinds == NULL;
    if (kinds == NULL) return false;
    Object *const *items = object_is_sequence(kinds) ? kinds->as.list.items : &kinds;
    uint32_t count = object_is_sequence(kinds) ? kinds->as.list.count : 1;
    for (uint32_t i = 0; i < count; i++)
        if (items[i]->kind == OBJECT_CLASS && exception->kind == OBJECT_INSTANCE &&
            class_derives(exception->as.instance->class, items[i]))
            return true;
    return false;
}

/* ---- try ---- */

static Flow run_handler(Eval *eval, const NodeExceptHandler *handler, Object *exception)
{
    Object *outer = eval->handling;
    Scope *scope = eval->frame->scope;
    if (handler->name != NULL &&
        !scope_assign(eval, scope, handler->name, exception, handler->base.span))
        return FLOW_ERROR;
    eval->handling = exception;
    Flow flow = eval->ops->eval_block(eval, handler->body);
    eval->handling = outer;
    Binding *binding = handler->name != NULL ? bindings_get(&scope->bindings, handler->name) : NULL;
    if (binding != NULL) eval->ops->binding_put(eval, binding, NULL, handler->base.span);
    return flow;
}

static Flow handle_fault(Eval *eval, const NodeTry *node, Attempt *attempt)
{
    Fault *fault = &attempt->fault;
    if (!attempt->failed) return FLOW_ERROR;
    Object *exception = fault_exception(eval, fault);
    for (uint32_t i = 0; exception != NULL && i < node->handlers.count; i++) {
        const NodeExceptHandler *handler = NODE_AS(ExceptHandler, node->handlers.items[i]);
        bool failed = false;
        if (!handler_matches(eval, handler, exception, &failed)) {
            if (failed) return FLOW_ERROR;
            continue;
        }
        if (is_conditional(eval, attempt))
            return FAIL(eval, jump_under_control, fault->at,
                        "an exception that a run-time condition decides about"),
                   FLOW_ERROR;
        return run_handler(eval, handler, exception);
    }
    return fault_pass_on(eval, fault);
}

static Flow run_attempt(Eval *eval, const NodeTry *node)
{
    if (node->handlers.count == 0) return eval->ops->eval_block(eval, node->body);
    Attempt attempt = {.quiet = eval->quiet + 1,
                       .frame = eval->frame,
                       .mask = mask_now(eval),
                       .outer = eval->attempt};
    const Span at = eval->at;
    eval->attempt = &attempt;
    eval->quiet++;
    Flow flow = eval->ops->eval_block(eval, node->body);
    eval->quiet--;
    eval->attempt = attempt.outer;
    if (flow == FLOW_NEXT) return eval->ops->eval_block(eval, node->orelse);
    if (flow != FLOW_ERROR) return flow;
    eval_move(eval, at);
    return handle_fault(eval, node, &attempt);
}

static Flow run_whole_try(Eval *eval, const NodeTry *node)
{
    eval_move(eval, node->base.span);
    Flow flow = run_attempt(eval, node);
    if (flow == FLOW_ERROR && eval->attempt == NULL && !eval->has_ended) return flow;
    /* What is returned is known before: the `finally` may return something else. */
    Object *result = eval->frame->result;
    Flow last = eval->ops->eval_block(eval, node->finalbody);
    if (last == FLOW_NEXT) eval->frame->result = result;
    return last == FLOW_NEXT ? flow : last;
}

static bool imports(Nodes body)
{
    for (uint32_t i = 0; i < body.count; i++)
        if (body.items[i]->kind == NODE_Import || body.items[i]->kind == NODE_ImportFrom)
            return true;
    return false;
}

/* Code that is surveyed leaves out the statement that fails, not the rest of its block: handlers
 * are for a module that is not there alone. */
static Flow survey_try(Eval *eval, const NodeTry *node)
{
    if (imports(node->body)) {
        eval->frame->is_surveyed = false;
        const Flow flow = run_whole_try(eval, node);
        eval->frame->is_surveyed = true;
        return flow;
    }
    Flow flow = eval->ops->eval_block(eval, node->body);
    if (flow == FLOW_NEXT) flow = eval->ops->eval_block(eval, node->orelse);
    const Flow last = eval->ops->eval_block(eval, node->finalbody);
    return last == FLOW_NEXT ? flow : last;
}

Flow run_try(Eval *eval, const Node *node)
{
    const NodeTry *n = NODE_AS(Try, node);
    return is_surveyed(eval) ? survey_try(eval, n) : run_whole_try(eval, n);
}
