/* exceptions.c: Python's own exceptions, and the errors of messages as such. */
#include "eval/python/python.h"

#include <string.h>

static Object *exception_with(Eval *eval, const char *name, Object *argument)
{
    bool found;
    Object *class = scope_lookup(eval, eval->builtins, intern_text(eval->session->names, name),
                                 eval->at, &found);
    if (class == NULL || class->kind != OBJECT_CLASS) return NULL;
    return eval->ops->call_simple(eval, class, 1, &argument, eval->at);
}

Object *exception_new(Eval *eval, const char *name, const char *text)
{
    return exception_with(eval, name, object_text(eval, text, strlen(text)));
}

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

static bool derives_from(Eval *eval, const Object *exception, const char *name)
{
    bool found;
    Object *class = scope_lookup(eval, eval->builtins, intern_text(eval->session->names, name),
                                 eval->at, &found);
    return exception != NULL && class != NULL && exception->kind == OBJECT_INSTANCE &&
           class_derives(exception->as.instance->class, class);
}

/* Nobody catches it, and it says that the program is over and has nothing to complain about, as
 * sys.exit(0) does: no message. */
static bool ends_program(Eval *eval, Object *exception)
{
    if (eval->host == NULL || eval->staging != NULL || eval->quiet > 0 || eval->attempt != NULL ||
        !derives_from(eval, exception, "SystemExit"))
        return false;
    const Binding *binding = bindings_get(&exception->as.instance->attributes,
                                          intern_text(eval->session->names, "code"));
    const Object *code = binding != NULL ? binding->object : NULL;
    const bool is_number = code != NULL && (code->kind == OBJECT_INT || code->kind == OBJECT_BOOL);
    eval->has_ended =
        code != NULL && (code->kind == OBJECT_NONE || (is_number && code->as.integer == 0));
    return eval->has_ended;
}

void raise_object(Eval *eval, Object *exception, Span at)
{
    if (ends_program(eval, exception)) return;
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

Object *fault_exception(Eval *eval, Fault *fault)
{
    if (fault->exception != NULL) return fault->exception;
    const char *name = diag_exception(fault->code);
    return name != NULL ? fault->exception = exception_new(eval, name, fault->text) : NULL;
}

/* It was not caught: the next `try` outside hears of it, else the user. */
Flow fault_pass_on(Eval *eval, const Fault *fault)
{
    Attempt *outer = eval->attempt;
    if (outer != NULL && outer->quiet == eval->quiet) {
        outer->failed = true;
        outer->fault = *fault;
    }
    if (ends_program(eval, fault->exception)) return FLOW_ERROR;
    if (report_begin(eval))
        diag_report_text(eval->session->diags, fault->code, fault->at,
                         arena_printf(eval->session->arena, "%s", fault->text));
    report_end(eval);
    return FLOW_ERROR;
}

bool attempt_raised(Eval *eval, Attempt *attempt, const char *name)
{
    if (!attempt->failed) return false;
    if (derives_from(eval, fault_exception(eval, &attempt->fault), name)) return true;
    fault_pass_on(eval, &attempt->fault);
    return false;
}
