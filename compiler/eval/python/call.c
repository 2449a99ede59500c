/* call.c: calls: binding arguments to parameters, evaluating the body in a scope of its own, the
 * chain of calls that messages show. A function that is called while a kernel is staged is inlined
 * by that. */
#include "eval/python/python.h"

#include <string.h>

/* ---- arguments ---- */

typedef struct Binder {
    Eval *eval;
    const Function *function;
    const Nodearguments *parameters;
    Scope *scope;
    ObjectVec positional; /* self comes first */
    const Arguments *given;
    bool *used; /* of the named ones */
} Binder;

static const Nodearguments *function_parameters(const Function *function)
{
    const Node *node = function->node;
    return NODE_AS(arguments, node->kind == NODE_Lambda ? NODE_AS(Lambda, node)->args
                                                        : NODE_AS(FunctionDef, node)->args);
}

/* A temporary tile has a variable of the parameter's own; what is written to a part goes where that
 * is, and the library is not to write where nobody would see it. */
static Object *hold_argument(const Binder *binder, Object *value)
{
    Object *held = binder->eval->ops->object_keep(binder->eval, value);
    if (held == value || held->kind != OBJECT_TILE) return held;
    held->as.ir.whole = value->as.ir.whole;
    held->as.ir.index = value->as.ir.index;
    held->as.ir.unseen = held->as.ir.whole == NULL && binder->function->unit != NULL &&
                         binder->function->unit->is_library;
    return held;
}

static bool bind_one(Binder *binder, const Node *node, Object *value)
{
    const Nodearg *parameter = NODE_AS(arg, node);
    Eval *eval = binder->eval;
    value = eval->ops->argument_converted(eval, binder->function, parameter, value);
    if (value == NULL) return false;
    Binding *binding = bindings_make(eval, &binder->scope->bindings, parameter->arg);
    eval->ops->binding_put(eval, binding, hold_argument(binder, value), node->span);
    if (eval->parallel != NULL) binding->masked = eval->parallel->mask; /* they alone are here */
    return true;
}

static Object *take_named(Binder *binder, Name name)
{
    for (size_t i = 0; i < binder->given->names.count; i++)
        if (binder->given->names.data[i] == name && !binder->used[i]) {
            binder->used[i] = true;
            return binder->given->named.data[i];
        }
    return NULL;
}

static bool has_parameter(const Binder *binder, Name name)
{
    const Nodes lists[] = {binder->parameters->args, binder->parameters->kwonlyargs};
    for (int i = 0; i < 2; i++)
        for (uint32_t j = 0; j < lists[i].count; j++)
            if (NODE_AS(arg, lists[i].items[j])->arg == name) return true;
    return false;
}

static const char *callee_name(const Binder *binder)
{
    return arena_printf(binder->eval->arena, "%s()", binder->function->name);
}

/* Behind a message on the call. */
static bool show_callee(const Binder *binder)
{
    const Eval *eval = binder->eval;
    if (eval->quiet == 0 && !(binder->function->unit != NULL && binder->function->unit->is_library))
        diag_note(eval->session->diags, binder->function->node->span, "%s is defined here",
                  binder->function->name);
    return false;
}

static bool lacks(const Binder *binder, const char *name)
{
    FAIL(binder->eval, missing_argument, binder->given->at, callee_name(binder), name);
    return show_callee(binder);
}

/* Parameter `index` of the positional ones, `count` of them in all. */
static bool bind_positional(Binder *binder, const Node *node, uint32_t index, uint32_t count,
                            bool by_name)
{
    const Nodearg *parameter = NODE_AS(arg, node);
    uint32_t defaults = binder->parameters->defaults.count;
    Object *named = by_name ? take_named(binder, parameter->arg) : NULL;
    if (index < binder->positional.count) {
        if (named == NULL) return bind_one(binder, node, binder->positional.data[index]);
        FAIL(binder->eval, argument_twice, binder->given->at, parameter->arg);
        return show_callee(binder);
    }
    if (named != NULL) return bind_one(binder, node, named);
    if (index + defaults >= count)
        return bind_one(binder, node, binder->function->defaults[index + defaults - count]);
    return lacks(binder, parameter->arg);
}

static bool bind_keyword_only(Binder *binder)
{
    Nodes names = binder->parameters->kwonlyargs;
    for (uint32_t i = 0; i < names.count; i++) {
        Object *value = take_named(binder, NODE_AS(arg, names.items[i])->arg);
        if (value == NULL) value = binder->function->kw_defaults[i];
        if (value == NULL) return lacks(binder, NODE_AS(arg, names.items[i])->arg);
        if (!bind_one(binder, names.items[i], value)) return false;
    }
    return true;
}

/* Said before that one is missing, which it may stand for. */
static bool check_names(const Binder *binder)
{
    for (size_t i = 0; i < binder->given->names.count && binder->parameters->kwarg == NULL; i++) {
        const Name name = binder->given->names.data[i];
        if (has_parameter(binder, name)) continue;
        Nearest nearest = nearest_to(name);
        FAIL(binder->eval, unknown_parameter, keyword_span(binder->eval, binder->given, name),
             callee_name(binder), name);
        show_callee(binder);
        nearest_try_parameters(&nearest, binder->parameters);
        nearest_hint(binder->eval, &nearest);
        return false;
    }
    return true;
}

/* Said before that one is missing which has to be given by its name. */
static bool check_count(const Binder *binder, uint32_t count)
{
    const Nodes by_name = binder->parameters->kwonlyargs;
    if (binder->parameters->vararg != NULL || binder->positional.count <= count) return true;
    const size_t extra = binder->given->positional.count - (binder->positional.count - count);
    FAIL(binder->eval, many_arguments, extra_span(binder->eval, binder->given, extra),
         callee_name(binder), count, (unsigned)binder->positional.count);
    show_callee(binder);
    if (by_name.count > 0 && binder->eval->quiet == 0)
        diag_hint(binder->eval->session->diags, "give it by its name, as %s=...",
                  NODE_AS(arg, by_name.items[0])->arg);
    return false;
}

static bool bind_rest(Binder *binder, uint32_t count)
{
    Eval *eval = binder->eval;
    if (binder->parameters->vararg != NULL) {
        size_t given = binder->positional.count, left = given > count ? given - count : 0;
        Object **behind = left > 0 ? binder->positional.data + count : NULL;
        Object *rest = object_list(eval, OBJECT_TUPLE, behind, left);
        if (!bind_one(binder, binder->parameters->vararg, rest)) return false;
    }
    Object *extra = object_new(eval, OBJECT_DICT);
    for (size_t i = 0; i < binder->given->names.count; i++) {
        if (binder->used[i]) continue;
        const Name name = binder->given->names.data[i];
        dict_set(eval, extra, object_text(eval, name, strlen(name)), binder->given->named.data[i]);
    }
    return binder->parameters->kwarg == NULL || bind_one(binder, binder->parameters->kwarg, extra);
}

/* Binds the arguments to the parameters of a function in `scope`. */
static bool bind_arguments(Eval *eval, const Function *function, Object *self,
                           const Arguments *arguments, Scope *scope)
{
    Binder binder = {eval,
                     function,
                     function_parameters(function),
                     scope,
                     {0},
                     arguments,
                     arena_new_array(eval->arena, bool, arguments->names.count + 1)};
    if (self != NULL) vec_push(eval->arena, &binder.positional, self);
    for (size_t i = 0; i < arguments->positional.count; i++)
        vec_push(eval->arena, &binder.positional, arguments->positional.data[i]);
    if (!check_names(&binder)) return false;
    Nodes first = binder.parameters->posonlyargs, then = binder.parameters->args;
    uint32_t count = first.count + then.count;
    for (uint32_t i = 0; i < count; i++) {
        bool by_name = i >= first.count;
        if (!bind_positional(&binder, by_name ? then.items[i - first.count] : first.items[i], i,
                             count, by_name))
            return false;
    }
    return check_count(&binder, count) && bind_keyword_only(&binder) && bind_rest(&binder, count);
}

/* ---- functions ---- */

static bool enter_call(Eval *eval, const Function *function, const Arguments *arguments)
{
    if (eval->steps.count >= CALL_LIMIT) {
        FAIL(eval, recursion, arguments->at, CALL_LIMIT);
        return false;
    }
    const Span at = eval->library > 0 ? eval->at : arguments->at;
    CallStep step = {at, arena_printf(eval->arena, "in the call of %s", function->name)};
    vec_push(eval->arena, &eval->steps, step);
    return true;
}

static Object *run_body(Eval *eval, const Function *function)
{
    if (function->node->kind == NODE_Lambda)
        return eval->ops->eval_expr(eval, NODE_AS(Lambda, function->node)->body);
    Flow flow = eval->ops->eval_block(eval, NODE_AS(FunctionDef, function->node)->body);
    return eval->ops->call_result(eval, flow, function->node->span);
}

/* A function says by its attribute __thread_code__ whether it is the program of one thread, in
 * which effects happen once a thread and integers divide as C's do, as in Warp. Others are what
 * calls them, but the library. */
static bool is_thread_code(Eval *eval, const Function *function)
{
    const Object *said = said_of(eval, function, "__thread_code__");
    if (said != NULL) return said == eval->yes;
    const bool in_library = function->unit != NULL && function->unit->is_library;
    return !in_library && eval->frame != NULL && eval->frame->is_thread_code;
}

/* In a kernel, a method of an instance whose class says so, as Tilus's classes do. */
static bool is_procedure(Eval *eval, const Function *function, const Object *self)
{
    if (eval->staging == NULL || self == NULL || self->kind != OBJECT_INSTANCE ||
        (function->unit != NULL && function->unit->is_library))
        return false;
    return class_find(self->as.instance->class,
                      intern_text(eval->session->names, "__procedures__")) == eval->yes;
}

static bool run_generator(Eval *eval, void *context)
{
    const Object *object = context;
    return run_body(eval, &object->as.function) != NULL;
}

/* A function says by its attribute __returned__ what looks at its results, where it says by an
 * annotation what they are. */
static bool check_result(Eval *eval, Object *object, Object *result, Span at)
{
    const Function *function = &object->as.function;
    const Object *check = said_of(eval, function, "__returned__");
    if (check == NULL || function->node->kind != NODE_FunctionDef ||
        NODE_AS(FunctionDef, function->node)->returns == NULL)
        return true;
    Object *given[] = {object, result};
    return call_simple(eval, (Object *)(uintptr_t)check, 2, given, at) != NULL;
}

Object *call_function(Eval *eval, Object *object, Object *self, const Arguments *arguments)
{
    const Function *function = &object->as.function;
    bool in_library = function->unit != NULL && function->unit->is_library;
    if (!eval_may_call(eval, arguments->at)) return NULL;
    Scope *scope = scope_new(eval, SCOPE_FUNCTION, function->closure, function->unit);
    scope->host_names = function->closure->host_names;
    if (!bind_arguments(eval, function, self, arguments, scope)) return NULL;
    eval->ops->shadows_of_call(eval, function);
    const bool is_entry = said_of(eval, function, "__entry__") == eval->yes;
    const bool is_step =
        !in_library && !is_entry; /* the kernel itself is named by what specialises it */
    if (is_step && !enter_call(eval, function, arguments)) return NULL;
    if (in_library && eval->library >= 4 * CALL_LIMIT)
        return FAIL(eval, recursion, arguments->at, CALL_LIMIT);
    Object *first = self != NULL                      ? self
                    : arguments->positional.count > 0 ? arguments->positional.data[0]
                                                      : NULL;
    Frame frame = {.scope = scope,
                   .function = function,
                   .self = first,
                   .arguments = arguments,
                   .control = eval->control,
                   .is_procedure = is_procedure(eval, function, self),
                   .is_entry = is_entry,
                   .is_thread_code = is_thread_code(eval, function),
                   .is_operator = in_library && eval->library == 0 &&
                                  said_of(eval, function, "__operator__") == eval->yes,
                   .is_surveyed = !in_library && survey_reaches(eval, function),
                   .caller = eval->frame};
    int library = eval->library;
    eval->library = in_library ? library + 1 : 0;
    eval->frame = &frame;
    const MaskedFrame masked = eval->ops->masked_enter(eval, NULL);
    Object *result = function->yields ? generator_new(eval, run_generator, object, &frame,
                                                      in_library ? NULL : function->name)
                                      : run_body(eval, function);
    if (frame.lacks_result) result = NULL;
    if (result != NULL && !eval->ops->exits_tell(eval, arguments->at)) result = NULL;
    eval->ops->masked_leave(eval, masked);
    eval->frame = frame.caller;
    eval->library = library;
    if (is_step) eval->steps.count--;
    eval_move(eval, arguments->at);
    if (result != NULL && !check_result(eval, object, result, arguments->at)) return NULL;
    return result;
}

/* ---- what can be called ---- */

/* What the class's own __new__ makes of the arguments. */
static Object *make_by(Eval *eval, Object *maker, Object *class, const Arguments *arguments)
{
    if (maker->kind == OBJECT_STATIC_METHOD) maker = maker->as.method.function;
    Arguments given = *arguments;
    given.positional = (ObjectVec){0};
    given.selves++;
    vec_push(eval->arena, &given.positional, class);
    for (size_t i = 0; i < arguments->positional.count; i++)
        vec_push(eval->arena, &given.positional, arguments->positional.data[i]);
    return call_object(eval, maker, &given);
}

Object *call_class_itself(Eval *eval, Object *class, const Arguments *arguments)
{
    Object *maker = class_find(class, intern_text(eval->session->names, "__new__"));
    Object *instance =
        maker != NULL ? make_by(eval, maker, class, arguments) : instance_new(eval, class);
    if (instance == NULL ||
        (maker != NULL && (instance->kind != OBJECT_INSTANCE ||
                           !class_derives(instance->as.instance->class, class))))
        return instance;
    Name init = intern_text(eval->session->names, "__init__");
    Object *constructor = class_find(class, init);
    Object *named = object_new(eval, OBJECT_DICT);
    for (size_t i = 0; i < arguments->names.count; i++) {
        Name name = arguments->names.data[i];
        dict_set(eval, named, object_text(eval, name, strlen(name)), arguments->named.data[i]);
    }
    Object *pair[2] = {
        object_list(eval, OBJECT_TUPLE, arguments->positional.data, arguments->positional.count),
        named};
    instance->as.instance->arguments = object_list(eval, OBJECT_TUPLE, pair, 2);
    if (constructor == NULL) {
        if (maker != NULL || arguments->positional.count + arguments->names.count == 0)
            return instance;
        return FAIL(eval, no_constructor, arguments->at, class->as.class->name);
    }
    if (constructor->kind == OBJECT_FUNCTION) {
        Object *same = survey_made_before(eval, instance, &constructor->as.function);
        if (same != NULL) return same;
        return call_function(eval, constructor, instance, arguments) != NULL ? instance : NULL;
    }
    return call_object(eval, constructor, arguments) != NULL ? instance : NULL;
}

static Object *call_class(Eval *eval, Object *class, const Arguments *arguments)
{
    Object *hook = class_find(class, intern_text(eval->session->names, "__class_call__"));
    return hook != NULL && hook->kind == OBJECT_FUNCTION
               ? call_function(eval, hook, class, arguments)
               : call_class_itself(eval, class, arguments);
}

static Object *call_instance(Eval *eval, Object *instance, const Arguments *arguments)
{
    if (is_kernel(instance)) return eval->ops->launch_instance(eval, instance, arguments);
    Object *method = special_method(eval, instance, "__call__");
    if (method == NULL || method->kind != OBJECT_FUNCTION)
        return FAIL(eval, not_callable, arguments->at, object_repr(eval, instance));
    return call_function(eval, method, instance, arguments);
}

/* An integer that is written down has to fit, as in TileLang; a thread's program wraps, as C's. */
static bool literal_fits(const Eval *eval, const Object *value, DType dtype)
{
    const Frame *frame = eval->frame;
    if (value->kind != OBJECT_INT || !dtype_is_integer(dtype) || eval->library > 0 ||
        (frame != NULL && frame->is_thread_code))
        return true;
    return dtype_wrap(dtype, value->as.integer) == value->as.integer;
}

static bool is_placeholder(const Eval *eval, const Arguments *arguments)
{
    return eval->staging == NULL && arguments->positional.count == 0 && arguments->names.count == 0;
}

bool argument_dtype(Eval *eval, const Object *object, Span at, DType *out)
{
    if (object != NULL && object->kind == OBJECT_DTYPE) {
        *out = object->as.dtype;
        return true;
    }
    if (object != NULL && object->kind == OBJECT_TEXT &&
        dtype_by_user_name(eval, object->as.text.data, out))
        return true;
    if (object != NULL && object->kind == OBJECT_MISSING)
        return missing_needed(eval, object, NULL, at) != NULL;
    FAIL(eval, expected_kind, at, "dtype", "an element type",
         object != NULL ? object_repr(eval, object) : "missing");
    return false;
}

/* A placeholder, or, as T.ptr(float32, "global"), the type of pointers to other elements. */
static Object *call_pointer_type(Eval *eval, Object *type, const Arguments *arguments)
{
    if (is_placeholder(eval, arguments)) return type;
    const size_t count = arguments->positional.count;
    if (arguments->names.count != 0 || count < 1 || count > 2)
        return FAIL(eval, not_callable, arguments->at, object_repr(eval, type));
    const Object *scope = count == 2 ? arguments->positional.data[1] : NULL;
    if (scope != NULL && (scope->kind != OBJECT_TEXT || strcmp(scope->as.text.data, "global") != 0))
        return FAIL(eval, expected_kind, arguments->at, "the memory of a kernel's argument",
                    "'global'", object_repr(eval, scope));
    Object *pointer = object_new(eval, OBJECT_POINTER_TYPE);
    const Object *element = arguments->positional.data[0];
    return argument_dtype(eval, element, arguments->at, &pointer->as.dtype) ? pointer : NULL;
}

/* A dtype called is a conversion: float32(x). Without a value it is zero in a kernel; outside it
 * stands for an argument of that type, as the dtype itself does. */
static Object *call_dtype(Eval *eval, Object *dtype, const Arguments *arguments)
{
    if (is_placeholder(eval, arguments)) return dtype;
    if (eval->staging != NULL && arguments->positional.count + arguments->names.count == 0)
        return eval->ops->cast_to(eval, object_int(eval, 0), dtype->as.dtype, arguments->at);
    if (arguments->positional.count != 1 || arguments->names.count != 0)
        return FAIL(eval, conversion_value, arguments->at, dtype_user_name(dtype->as.dtype),
                    (unsigned)(arguments->positional.count + arguments->names.count));
    Object *value = instance_number(eval, arguments->positional.data[0]);
    if (value == NULL) return NULL;
    if (value->kind == OBJECT_WIDE)
        value = wide_of_dtype(eval, value, dtype->as.dtype,
                              eval->frame != NULL && eval->frame->is_thread_code, arguments->at);
    if (value == NULL) return NULL;
    if (!literal_fits(eval, value, dtype->as.dtype))
        return FAIL(eval, literal_range, arguments->at, object_repr(eval, value),
                    dtype_user_name(dtype->as.dtype));
    if (eval->staging == NULL && object_is_number(value)) {
        DType type = dtype->as.dtype;
        if (type == DTYPE_b1) return object_bool(eval, object_number(value) != 0);
        double number = object_number(value);
        if (dtype_is_integer(type) && value->kind == OBJECT_FLOAT &&
            !(number > -9e18 && number < 9e18))
            return FAIL(eval, literal_range, arguments->at, object_repr(eval, value),
                        dtype_user_name(type));
        return object_of_dtype(eval, value, type);
    }
    return eval->ops->cast_to(eval, value, dtype->as.dtype, arguments->at);
}

/* Of a method of a method each has an object, the innermost comes first. */
static Object *call_method(Eval *eval, const Object *method, const Arguments *arguments)
{
    Object *function = method->as.method.function, *self = method->as.method.self;
    if (function->kind == OBJECT_FUNCTION) return call_function(eval, function, self, arguments);
    Arguments more = {.at = arguments->at,
                      .names = arguments->names,
                      .named = arguments->named,
                      .node = arguments->node};
    vec_push(eval->arena, &more.positional, self);
    for (; function->kind == OBJECT_METHOD; function = function->as.method.function)
        vec_push(eval->arena, &more.positional, function->as.method.self);
    more.selves = arguments->selves + (uint32_t)more.positional.count;
    for (size_t i = 0, last = more.positional.count - 1; i < last; i++, last--) {
        self = more.positional.data[i];
        more.positional.data[i] = more.positional.data[last];
        more.positional.data[last] = self;
    }
    for (size_t i = 0; i < arguments->positional.count; i++)
        vec_push(eval->arena, &more.positional, arguments->positional.data[i]);
    if (function->kind == OBJECT_HOST_FUNCTION) return host_call(eval, function->as.host, &more);
    return call_object(eval, function, &more);
}

Object *call_object(Eval *eval, Object *callee, const Arguments *arguments)
{
    if (!eval_may_nest(eval, arguments->at)) return NULL;
    switch ((int)callee->kind) {
    case OBJECT_FUNCTION: return call_function(eval, callee, NULL, arguments);
    case OBJECT_METHOD: return call_method(eval, callee, arguments);
    case OBJECT_BUILTIN: return builtin_call(eval, callee->as.builtin, arguments);
    case OBJECT_CLASS: return call_class(eval, callee, arguments);
    case OBJECT_TUPLE:
    case OBJECT_INSTANCE: return call_instance(eval, callee, arguments);
    case OBJECT_DTYPE: return call_dtype(eval, callee, arguments);
    case OBJECT_POINTER_TYPE: return call_pointer_type(eval, callee, arguments);
    case OBJECT_STATIC_METHOD: return call_object(eval, callee->as.method.function, arguments);
    case OBJECT_HOST_FUNCTION: return host_call(eval, callee->as.host, arguments);
    case OBJECT_MISSING: return eval->ops->missing_needed(eval, callee, NULL, arguments->at);
    case OBJECT_SPECIALISATION: return eval->ops->launch_instance(eval, callee, arguments);
    default: return FAIL(eval, not_callable, arguments->at, object_repr(eval, callee));
    }
}

Object *call_simple(Eval *eval, Object *callee, int count, Object *const *positional, Span at)
{
    Arguments arguments = {.at = at};
    for (int i = 0; i < count; i++) vec_push(eval->arena, &arguments.positional, positional[i]);
    return call_object(eval, callee, &arguments);
}
