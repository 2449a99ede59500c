/* raise.c: exceptions that happen now: raise, assert, try. An error that nothing catches is
 * reported where it happened. */
#include "eval/evaluate.h"

#include <string.h>

/* What Python calls the errors that a program may count on. */
static const struct {
    DiagCode code;
    const char *exception;
} EXCEPTIONS[] = {
    {DIAG_unknown_name, "NameError"},
    {DIAG_maybe_unbound, "UnboundLocalError"},
    {DIAG_host_module, "ImportError"},
    {DIAG_no_module, "ImportError"},
    {DIAG_unknown_import, "ImportError"},
    {DIAG_unknown_attribute, "AttributeError"},
    {DIAG_call_arguments, "TypeError"},
    {DIAG_not_callable, "TypeError"},
    {DIAG_number_text, "ValueError"},
    {DIAG_value_range, "ValueError"},
    {DIAG_empty_argument, "ValueError"},
    {DIAG_not_found, "ValueError"},
    {DIAG_bad_format, "ValueError"},
    {DIAG_slice_size, "ValueError"},
    {DIAG_zip_lengths, "ValueError"},
    {DIAG_zero_step, "ValueError"},
    {DIAG_wide_integer, "ValueError"},
    {DIAG_generator_running, "ValueError"},
    {DIAG_pairs_needed, "ValueError"},
    {DIAG_changed_meanwhile, "ValueError"},
    {DIAG_unknown_choice, "ValueError"},
    {DIAG_count_range, "ValueError"},
    {DIAG_tile_shape, "ValueError"},
    {DIAG_no_dimension, "ValueError"},
    {DIAG_misplaced, "RuntimeError"},
    {DIAG_result_length, "MemoryError"},
    {DIAG_too_many_generators, "RuntimeError"},
    {DIAG_match_args, "TypeError"},
    {DIAG_immutable, "AttributeError"},
    {DIAG_not_numbers, "TypeError"},
    {DIAG_bad_operands, "TypeError"},
    {DIAG_int_overflow, "OverflowError"},
    {DIAG_zero_division, "ZeroDivisionError"},
    {DIAG_index_range, "IndexError"},
    {DIAG_no_key, "KeyError"},
    {DIAG_bad_index, "TypeError"},
    {DIAG_recursion, "RecursionError"},
    {DIAG_assertion, "AssertionError"},
    {DIAG_static_assertion, "AssertionError"},
    {DIAG_run_mismatch, "AssertionError"},
    {DIAG_unpack, "ValueError"},
    {DIAG_not_iterable, "TypeError"},
    {DIAG_expected_kind, "TypeError"},
    {DIAG_stop_iteration, "StopIteration"},
    {DIAG_changed_size, "RuntimeError"},
    {DIAG_host_only, "ValueError"},
    {DIAG_host_loop, "ValueError"},
    {DIAG_host_choice, "ValueError"},
    {DIAG_no_launch, "ValueError"},
    {DIAG_extents_differ, "ValueError"},
    {DIAG_result_under_control, "ValueError"},
    {DIAG_unknown_extent, "ValueError"},
    {DIAG_untold_extent, "ValueError"},
    {DIAG_too_many_workspaces, "ValueError"},
    {DIAG_list_chosen, "ValueError"},
    {DIAG_parallel_return, "ValueError"},
    {DIAG_loop_unsettled, "ValueError"},
    {DIAG_parallel_extent, "ValueError"},
    {DIAG_reducer_use, "ValueError"},
    {DIAG_unnamed_tile, "ValueError"},
    {DIAG_configurations_failed, "ValueError"},
    {DIAG_no_dimensions, "ValueError"},
    {DIAG_tensor_size, "ValueError"},
    {DIAG_cannot_combine, "ValueError"},
    {DIAG_squeezed_extent, "ValueError"},
    {DIAG_bad_dims, "ValueError"},
    {DIAG_empty_slice, "ValueError"},
    {DIAG_slice_step, "ValueError"},
    {DIAG_slice_start, "ValueError"},
    {DIAG_no_part, "ValueError"},
    {DIAG_not_contiguous, "ValueError"},
    {DIAG_remote_part, "ValueError"},
    {DIAG_local_array, "ValueError"},
    {DIAG_block_threads, "ValueError"},
    {DIAG_grid_rank, "ValueError"},
    {DIAG_cluster_size, "ValueError"},
    {DIAG_cluster_grid, "ValueError"},
    {DIAG_layout_shape, "ValueError"},
    {DIAG_layout_order, "ValueError"},
    {DIAG_barrier_threads, "ValueError"},
    {DIAG_thread_group, "ValueError"},
    {DIAG_tile_threads, "ValueError"},
    {DIAG_parallel_iterations, "ValueError"},
};

static Object *exception_with(Eval *eval, const char *name, Object *argument)
{
    bool found;
    Object *class = scope_lookup(eval, eval->builtins, intern_text(eval->session->names, name),
                                 eval->at, &found);
    if (class == NULL || class->kind != OBJECT_CLASS) return NULL;
    return call_simple(eval, class, 1, &argument, eval->at);
}

Object *exception_new(Eval *eval, const char *name, const char *text)
{
    return exception_with(eval, name, object_text(eval, text, strlen(text)));
}

static const Value *mask_now(const Eval *eval)
{
    return eval->parallel != NULL ? eval->parallel->mask : NULL;
}

/* Whether a condition that shows when the kernel runs decides about what went wrong. */
static bool is_conditional(const Eval *eval, const Attempt *attempt)
{
    return attempt->fault.control > eval->control || attempt->fault.mask != attempt->mask;
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

static Flow fault_pass_on(Eval *eval, const Fault *fault);
static Object *fault_exception(Eval *eval, Fault *fault);

/* ---- raise and assert ---- */

/* What a test says of itself: tile.testing has the class. */
static bool is_skip(Eval *eval, const Object *exception)
{
    return exception->kind == OBJECT_INSTANCE &&
           class_find(exception->as.instance->class,
                      intern_text(eval->session->names, "__test_skipped__")) != NULL;
}

static const char *exception_text(Eval *eval, Object *exception)
{
    if (exception->kind != OBJECT_INSTANCE) return object_repr(eval, exception);
    const char *name = exception->as.instance->class->as.class->name;
    Buf buf = {0};
    object_print(eval, exception, TEXT_STR, &buf);
    const char *text = buf.length == 0 ? name
                       : is_skip(eval, exception)
                           ? arena_printf(eval->arena, "%s", buf.data)
                           : arena_printf(eval->arena, "%s: %s", name, buf.data);
    buf_free(&buf);
    return text;
}

static void raise_object(Eval *eval, Object *exception, Span at)
{
    const char *text = exception_text(eval, exception);
    eval->raised = exception;
    if (is_skip(eval, exception))
        FAIL(eval, test_skipped, at, text);
    else
        FAIL(eval, raised, at, text);
    eval->raised = NULL;
}

void *raise_python(Eval *eval, const char *name, const char *text, Span at)
{
    Object *exception = exception_new(eval, name, text);
    if (exception != NULL) raise_object(eval, exception, at);
    return NULL;
}

static void hint_keys(Eval *eval, const Object *dict)
{
    enum { MOST = 16 };
    const size_t count = dict->as.dict.keys.count;
    Buf text = {0};
    for (size_t i = 0; i < count && i < MOST; i++)
        buf_printf(&text, "%s%s", i ? ", " : "", object_repr(eval, dict->as.dict.keys.data[i]));
    if (count > MOST) buf_printf(&text, " and %zu more", count - MOST);
    if (count == 0)
        diag_hint(eval->session->diags, "the dict is empty");
    else
        diag_hint(eval->session->diags, "the keys are %s", text.data);
    buf_free(&text);
}

/* KeyError's argument is the key itself. */
void *raise_no_key(Eval *eval, const Object *dict, Object *key, Span at)
{
    eval->raised = exception_with(eval, "KeyError", key);
    FAIL(eval, no_key, at, object_repr(eval, key));
    if (eval->quiet == 0) hint_keys(eval, dict);
    eval->raised = NULL;
    return NULL;
}

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
    Object *result = call_simple(eval, method, 4, given, eval->at);
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
    if (call_simple(eval, method, 4, given, eval->at) == NULL) return FLOW_ERROR;
    eval->frame->result = result;
    return flow;
}

Flow run_raise(Eval *eval, const Node *node)
{
    const NodeRaise *n = NODE_AS(Raise, node);
    Object *exception = n->exc != NULL ? eval_expr(eval, n->exc) : eval->handling;
    eval_move(eval, node->span);
    if (n->exc == NULL && exception == NULL)
        return FAIL(eval, misplaced, eval->at, "raise", "an 'except'"), FLOW_ERROR;
    if (exception != NULL && exception->kind == OBJECT_CLASS)
        exception = call_simple(eval, exception, 0, NULL, eval->at);
    Object *cause = exception != NULL && n->cause != NULL ? eval_expr(eval, n->cause) : NULL;
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
    Object *message = node->msg != NULL ? eval_expr(eval, node->msg) : eval->none;
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

/* In the host part of a kernel function the call is refused unless it holds; in the device part
 * the emulator checks it. */
static Flow stage_assertion(Eval *eval, const NodeAssert *node, Object *test)
{
    const Span said = node->test->span;
    Object *message = node->msg != NULL ? eval_expr(eval, node->msg) : eval->none;
    Value *condition = message != NULL ? stage_condition(eval, test, eval->at) : NULL;
    if (condition == NULL) return FLOW_ERROR;
    Buf text = {0};
    if (node->msg != NULL)
        object_print(eval, message, TEXT_STR, &text);
    else
        buf_printf(&text, "the kernel asserts %.*s", (int)(said.end - said.begin),
                   said.source->text + said.begin);
    const bool on_host = in_host_part(eval);
    Op *op = build_op(&eval->builder, on_host ? OP_require : OP_check, 1, &condition, 0, NULL);
    op_set_text(op, ATTR_text,
                intern(eval->session->names, text.data != NULL ? text.data : "", text.length));
    if (!on_host) op_set_int(op, ATTR_emulated, 1);
    buf_free(&text);
    return FLOW_NEXT;
}

Flow run_assert(Eval *eval, const Node *node)
{
    const NodeAssert *n = NODE_AS(Assert, node);
    if (eval->host != NULL && eval->staging == NULL && eval->host->asserts_nothing)
        return FLOW_NEXT;
    Object *test = eval_expr(eval, n->test);
    bool truth;
    eval_move(eval, node->span);
    if (test != NULL && object_is_staged(test)) return stage_assertion(eval, n, test);
    if (test == NULL || !object_truth(eval, test, &truth)) return FLOW_ERROR;
    return truth ? FLOW_NEXT : assertion_error(eval, n);
}

/* ---- try ---- */

static Object *fault_exception(Eval *eval, Fault *fault)
{
    if (fault->exception != NULL) return fault->exception;
    for (size_t i = 0; i < sizeof EXCEPTIONS / sizeof *EXCEPTIONS; i++)
        if (EXCEPTIONS[i].code == fault->code)
            return fault->exception = exception_new(eval, EXCEPTIONS[i].exception, fault->text);
    return NULL;
}

bool attempt_raised(Eval *eval, Attempt *attempt, const char *name)
{
    bool found;
    if (!attempt->failed) return false;
    Object *exception = fault_exception(eval, &attempt->fault);
    Object *class = scope_lookup(eval, eval->builtins, intern_text(eval->session->names, name),
                                 eval->at, &found);
    if (exception != NULL && class != NULL && exception->kind == OBJECT_INSTANCE &&
        class_derives(exception->as.instance->class, class))
        return true;
    fault_pass_on(eval, &attempt->fault);
    return false;
}

/* It was not caught: the next `try` outside hears of it, else the user. */
static Flow fault_pass_on(Eval *eval, const Fault *fault)
{
    Attempt *outer = eval->attempt;
    if (outer != NULL && outer->quiet == eval->quiet) {
        outer->failed = true;
        outer->fault = *fault;
    }
    if (report_begin(eval))
        diag_report_text(eval->session->diags, fault->code, fault->at,
                         arena_printf(eval->session->arena, "%s", fault->text));
    report_end(eval);
    return FLOW_ERROR;
}

static bool handler_matches(Eval *eval, const NodeExceptHandler *handler, Object *exception,
                            bool *failed)
{
    if (handler->type == NULL) return true;
    Object *kinds = eval_expr(eval, handler->type);
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

static Flow run_handler(Eval *eval, const NodeExceptHandler *handler, Object *exception)
{
    Object *outer = eval->handling;
    Scope *scope = eval->frame->scope;
    if (handler->name != NULL &&
        !scope_assign(eval, scope, handler->name, exception, handler->base.span))
        return FLOW_ERROR;
    eval->handling = exception;
    Flow flow = eval_block(eval, handler->body);
    eval->handling = outer;
    Binding *binding = handler->name != NULL ? bindings_get(&scope->bindings, handler->name) : NULL;
    if (binding != NULL) binding_put(eval, binding, NULL, handler->base.span);
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
    if (node->handlers.count == 0) return eval_block(eval, node->body);
    Attempt attempt = {.quiet = eval->quiet + 1,
                       .frame = eval->frame,
                       .mask = mask_now(eval),
                       .outer = eval->attempt};
    const Span at = eval->at;
    eval->attempt = &attempt;
    eval->quiet++;
    Flow flow = eval_block(eval, node->body);
    eval->quiet--;
    eval->attempt = attempt.outer;
    if (flow == FLOW_NEXT) return eval_block(eval, node->orelse);
    if (flow != FLOW_ERROR) return flow;
    eval_move(eval, at);
    return handle_fault(eval, node, &attempt);
}

Flow run_try(Eval *eval, const Node *node)
{
    const NodeTry *n = NODE_AS(Try, node);
    eval_move(eval, node->span);
    Flow flow = run_attempt(eval, n);
    if (flow == FLOW_ERROR && eval->attempt == NULL) return flow;
    /* What is returned is known before: the `finally` may return something else. */
    Object *result = eval->frame->result;
    Flow last = eval_block(eval, n->finalbody);
    if (last == FLOW_NEXT) eval->frame->result = result;
    return last == FLOW_NEXT ? flow : last;
}
