/* specialise.c: from a kernel and the values of its keys to a staged Kernel.
 *
 * A kernel is an instance of a class that says `__kernel__ = True`; its `__call__` is the kernel
 * function. A parameter annotated int or bool is a key: its value is part of the specialisation.
 * One annotated with an element type or a pointer type is a run-time argument. The function is
 * evaluated in the launch's region; what it sets in `attrs` describes the launch, and the scalar
 * code behind the grid is copied to the host region. */
#include "eval/value.h"

#include <string.h>

/* ---- kernels ---- */

bool class_is_kernel(const Object *class)
{
    for (int i = 0; i < class->as.class->order_count; i++) {
        const BindingVec *list = &class->as.class->order[i]->as.class->attributes.list;
        for (size_t j = 0; j < list->count; j++)
            if (strcmp(list->data[j]->name, "__kernel__") == 0)
                return list->data[j]->object != NULL &&
                       list->data[j]->object->kind == OBJECT_BOOL &&
                       list->data[j]->object->as.integer != 0;
    }
    return false;
}

bool is_kernel(const Object *object)
{
    return object->kind == OBJECT_INSTANCE && class_is_kernel(object->as.instance->class);
}

bool instances_same(const Object *a, const Object *b)
{
    if (a->as.instance == b->as.instance) return true;
    const Object *left = a->as.instance->arguments, *right = b->as.instance->arguments;
    return a->as.instance->class == b->as.instance->class && left != NULL && right != NULL &&
           object_equal(left, right);
}

static Object *kernel_function(Eval *eval, Object *instance, Span at)
{
    Object *function =
        class_find(instance->as.instance->class, intern_text(eval->session->names, "__call__"));
    if (function != NULL && function->kind == OBJECT_FUNCTION) return function;
    return FAIL(eval, unknown_attribute, at, object_repr(eval, instance), "__call__");
}

/* ---- parameters ---- */

typedef enum ParameterKind { PARAMETER_KEY, PARAMETER_SCALAR, PARAMETER_POINTER } ParameterKind;

typedef struct KernelParameter {
    Name name;
    Span span;
    ParameterKind kind;
    DType dtype;       /* of a key: i64 or b1 */
    Object *otherwise; /* the default, or NULL */
} KernelParameter;

typedef VEC(KernelParameter) ParameterVec;

static bool read_annotation(const Object *type, KernelParameter *out)
{
    out->kind = PARAMETER_KEY;
    out->dtype = DTYPE_i64;
    if (builtin_is(type, "int")) return true;
    if (builtin_is(type, "bool")) {
        out->dtype = DTYPE_b1;
        return true;
    }
    if (type->kind != OBJECT_DTYPE && type->kind != OBJECT_POINTER_TYPE) return false;
    out->kind = type->kind == OBJECT_DTYPE ? PARAMETER_SCALAR : PARAMETER_POINTER;
    out->dtype = type->as.dtype;
    return true;
}

static Object *eval_annotation(Eval *eval, const Function *function, const Node *annotation)
{
    Frame frame = {.scope = function->closure, .caller = eval->frame};
    eval->frame = &frame;
    Object *type = eval_expr(eval, annotation);
    eval->frame = frame.caller;
    return type;
}

static bool read_parameter(Eval *eval, const Function *function, const Nodearg *node,
                           Object *otherwise, KernelParameter *out)
{
    *out = (KernelParameter){.name = node->arg, .span = node->base.span, .otherwise = otherwise};
    Object *type =
        node->annotation != NULL ? eval_annotation(eval, function, node->annotation) : NULL;
    if (node->annotation != NULL && type == NULL) return false;
    if (type != NULL && read_annotation(type, out)) return true;
    FAIL(eval, parameter_type, node->base.span, node->arg);
    return false;
}

/* All but self. */
static bool read_parameters(Eval *eval, const Function *function, ParameterVec *out)
{
    const Nodearguments *arguments = NODE_AS(arguments, NODE_AS(FunctionDef, function->node)->args);
    if (arguments->vararg != NULL || arguments->kwarg != NULL || arguments->kwonlyargs.count > 0) {
        FAIL(eval, unsupported, function->node->span,
             "a kernel with *, ** or keyword-only parameters");
        return false;
    }
    uint32_t first = arguments->posonlyargs.count, count = first + arguments->args.count;
    for (uint32_t i = 1; i < count; i++) {
        const Node *node =
            i < first ? arguments->posonlyargs.items[i] : arguments->args.items[i - first];
        uint32_t defaults = arguments->defaults.count;
        Object *otherwise = i + defaults >= count ? function->defaults[i + defaults - count] : NULL;
        KernelParameter parameter;
        if (!read_parameter(eval, function, NODE_AS(arg, node), otherwise, &parameter))
            return false;
        vec_push(eval->arena, out, parameter);
    }
    return true;
}

static bool kernel_parameters(Eval *eval, Object *instance, Span at, ParameterVec *out)
{
    Object *function = kernel_function(eval, instance, at);
    return function != NULL && read_parameters(eval, &function->as.function, out);
}

bool kernel_has_open_key(Eval *eval, Object *instance, bool *out)
{
    ParameterVec parameters = {0};
    *out = false;
    if (!kernel_parameters(eval, instance, eval->at, &parameters)) return false;
    for (size_t i = 0; i < parameters.count; i++)
        *out |= parameters.data[i].kind == PARAMETER_KEY && parameters.data[i].otherwise == NULL;
    return true;
}

/* ---- choosing keys ---- */

static Object *new_specialisation(Eval *eval, Object *instance, const ParameterVec *parameters,
                                  Span at)
{
    Object *object = object_new(eval, OBJECT_SPECIALISATION);
    object->as.specialisation = arena_new_of(eval->arena, Specialisation);
    *object->as.specialisation =
        (Specialisation){.instance = instance,
                         .key_count = (int)parameters->count,
                         .at = at,
                         .keys = arena_new_array(eval->arena, Object *, parameters->count)};
    return object;
}

static bool set_key(Eval *eval, const KernelParameter *parameter, Object *value, Span at,
                    Object **out)
{
    if (parameter->kind != PARAMETER_KEY || value == NULL)
        return true; /* a run-time argument may be given as an example: it says nothing */
    if (value->kind != OBJECT_INT && value->kind != OBJECT_BOOL) {
        FAIL(eval, expected_kind, at, parameter->name,
             parameter->dtype == DTYPE_b1 ? "a bool" : "an int", object_repr(eval, value));
        return false;
    }
    *out = parameter->dtype == DTYPE_b1 ? object_bool(eval, value->as.integer != 0)
                                        : object_int(eval, value->as.integer);
    return true;
}

static size_t find_parameter(const ParameterVec *parameters, Name name)
{
    size_t place = 0;
    while (place < parameters->count && parameters->data[place].name != name) place++;
    return place;
}

static const Object *no_parameter(Eval *eval, const Object *instance, Name name, Span at)
{
    return FAIL(eval, call_arguments, at,
                arena_printf(eval->arena, "%s has no parameter '%s'",
                             instance->as.instance->class->as.class->name, name));
}

/* One value a parameter, from positional and named arguments; NULL where none is given. */
static bool spread_arguments(Eval *eval, Object *instance, const ParameterVec *parameters,
                             const Arguments *arguments, Object **values)
{
    if (arguments->positional.count > parameters->count) {
        FAIL(eval, call_arguments, arguments->at,
             arena_printf(eval->arena, "the kernel takes %zu arguments, not %zu", parameters->count,
                          arguments->positional.count));
        return false;
    }
    for (size_t i = 0; i < arguments->positional.count; i++)
        values[i] = arguments->positional.data[i];
    for (size_t i = 0; i < arguments->names.count; i++) {
        size_t place = find_parameter(parameters, arguments->names.data[i]);
        if (place == parameters->count) {
            no_parameter(eval, instance, arguments->names.data[i], arguments->at);
            return false;
        }
        values[place] = arguments->named.data[i];
    }
    return true;
}

/* The specialisation that was made before with the same keys, or this one. */
static Object *remember(Eval *eval, Object *instance, Object *object)
{
    ObjectVec *known = &instance->as.instance->specialised;
    const Specialisation *new = object->as.specialisation;
    for (size_t i = 0; i < known->count; i++) {
        const Specialisation *old = known->data[i]->as.specialisation;
        bool same = old->key_count == new->key_count;
        for (int j = 0; same && j < new->key_count; j++)
            same = (old->keys[j] == NULL) == (new->keys[j] == NULL) &&
                   (new->keys[j] == NULL || object_equal(old->keys[j], new->keys[j]));
        if (same) return known->data[i];
    }
    vec_push(eval->arena, known, object);
    return object;
}

static Object *specialise_values(Eval *eval, Object *instance, const ParameterVec *parameters,
                                 Object **values, Span at)
{
    Object *object = new_specialisation(eval, instance, parameters, at);
    for (size_t i = 0; i < parameters->count; i++) {
        const KernelParameter *parameter = &parameters->data[i];
        Object *value = values[i] != NULL ? values[i] : parameter->otherwise;
        if (parameter->kind == PARAMETER_KEY && value == NULL)
            return FAIL(eval, open_key, at, parameter->name);
        if (!set_key(eval, parameter, value, at, &object->as.specialisation->keys[i])) return NULL;
    }
    return remember(eval, instance, object);
}

Object *specialise(Eval *eval, Object *instance, const Arguments *arguments)
{
    ParameterVec parameters = {0};
    if (!kernel_parameters(eval, instance, arguments->at, &parameters)) return NULL;
    Object **values = arena_new_array(eval->arena, Object *, parameters.count);
    if (!spread_arguments(eval, instance, &parameters, arguments, values)) return NULL;
    return specialise_values(eval, instance, &parameters, values, arguments->at);
}

/* ---- the grid: scalar code copied to the host region ---- */

typedef struct HostCopy {
    Eval *eval;
    Builder builder;
    Map map;
    int depth;
} HostCopy;

static Value *copy_to_host(HostCopy *copy, Value *value)
{
    Eval *eval = copy->eval;
    if (value->op == NULL && value->region == NULL) return value; /* a parameter */
    Value *known = map_get(&copy->map, value);
    if (known != NULL) return known;
    const OpInfo *info = value->op != NULL ? op_info(value->op->code) : NULL;
    if (info == NULL || !(info->stages & HOST) || !(info->traits & PURE) || copy->depth > 1000) {
        const char *what = value->name != NULL ? arena_printf(eval->arena, "'%s'", value->name)
                           : info != NULL
                               ? arena_printf(eval->arena, "the result of '%s'", info->name)
                               : "a loop's counter";
        return FAIL(eval, device_grid, value->op != NULL ? value->op->span : eval->at, what);
    }
    copy->depth++;
    bool good = true;
    for (int i = 0; good && i < value->op->operand_count; i++) {
        Value *operand = copy_to_host(copy, value->op->operands[i]);
        good = operand != NULL;
        if (good) map_set(eval->arena, &copy->map, value->op->operands[i], operand);
    }
    copy->depth--;
    if (!good) return NULL;
    Op *clone = op_clone(&copy->builder, value->op, &copy->map);
    Value *result = &clone->results[value->index];
    map_set(eval->arena, &copy->map, value, result);
    return result;
}

Object *kernel_attribute(Eval *eval, const char *name)
{
    Instance *attributes = eval->staging->attributes->as.instance;
    Binding *binding =
        bindings_get(&attributes->attributes, intern_text(eval->session->names, name));
    if (binding == NULL || binding->object == NULL)
        return FAIL(eval, no_attribute_set, eval->staging->at, name);
    eval->at = binding->at;
    return binding_get(eval, binding, binding->at);
}

static bool set_extent(Eval *eval, HostCopy *copy, int dim, Object *extent)
{
    Value *value;
    if (extent->kind == OBJECT_INT)
        value =
            build_const(&copy->builder,
                        extent->as.integer == (int32_t)extent->as.integer ? DTYPE_i32 : DTYPE_i64,
                        extent->as.integer);
    else {
        value = stage_index(eval, extent, eval->at);
        value = value != NULL ? copy_to_host(copy, value) : NULL;
    }
    if (value == NULL) return false;
    eval->staging->launch->operands[dim] = value;
    return true;
}

static bool set_grid(Eval *eval)
{
    Object *blocks = kernel_attribute(eval, "blocks");
    if (blocks == NULL) return false;
    HostCopy copy = {.eval = eval, .builder = builder_before(eval->staging->launch)};
    if (!object_is_sequence(blocks)) return set_extent(eval, &copy, 0, blocks);
    if (blocks->as.list.count < 1 || blocks->as.list.count > 3) {
        FAIL(eval, bad_value, eval->at, "the grid has one to three dimensions");
        return false;
    }
    for (uint32_t i = 0; i < blocks->as.list.count; i++)
        if (!set_extent(eval, &copy, (int)i, blocks->as.list.items[i])) return false;
    return true;
}

static bool set_warps(Eval *eval)
{
    int64_t warps;
    Object *object = kernel_attribute(eval, "warps");
    if (object == NULL || !object_as_int(eval, object, "the number of warps", &warps)) return false;
    if (warps < 1 || warps > 32) {
        FAIL(eval, bad_value, eval->at,
             arena_printf(eval->arena, "a block has 1 to 32 warps, not %lld", (long long)warps));
        return false;
    }
    op_set_int(eval->staging->launch, ATTR_warps, warps);
    return true;
}

/* ---- staging ---- */

static const char *describe_keys(Eval *eval, const ParameterVec *parameters,
                                 const Specialisation *specialisation, const char *name)
{
    Buf buf = {0};
    buf_printf(&buf, "%s(", name);
    bool first = true;
    for (int i = 0; i < specialisation->key_count; i++) {
        if (specialisation->keys[i] == NULL) continue;
        buf_printf(&buf, "%s%s=%s", first ? "" : ", ", parameters->data[i].name,
                   object_repr(eval, specialisation->keys[i]));
        first = false;
    }
    buf_char(&buf, ')');
    const char *text = arena_copy_text(eval->arena, buf.data, buf.length);
    buf_free(&buf);
    return text;
}

static Object *add_parameter(Eval *eval, Kernel *kernel, const KernelParameter *parameter,
                             Object *key)
{
    const Type *type = parameter->kind == PARAMETER_POINTER
                           ? type_pointer(kernel->types, parameter->dtype, SPACE_GLOBAL)
                           : type_scalar(kernel->types, parameter->dtype);
    Value *value = kernel_add_parameter(kernel, parameter->name, type, parameter->span);
    if (parameter->kind != PARAMETER_KEY) return object_ir(eval, value);
    Parameter *added = &kernel->parameters[kernel->parameter_count - 1];
    added->is_key = true;
    added->key = key->as.integer;
    return key;
}

static Op *make_launch(Kernel *kernel, Span at)
{
    Builder builder = builder_at_end(kernel->host, at);
    Value *one = build_const(&builder, DTYPE_i32, 1);
    Op *launch = build_op(&builder, OP_launch, 3, (Value *[]){one, one, one}, 0, NULL);
    op_set_int(launch, ATTR_warps, 1);
    return launch;
}

/* Evaluates the kernel function in the launch's region. */
static bool run_kernel(Eval *eval, const Function *function, Scope *scope, Object *instance)
{
    Frame frame = {.scope = scope, .function = function, .self = instance, .caller = eval->frame};
    eval->frame = &frame;
    eval->staging->frame = &frame;
    Flow flow = eval_block(eval, NODE_AS(FunctionDef, function->node)->body);
    bool good = flow != FLOW_ERROR && !eval->staging->failed && set_grid(eval) && set_warps(eval);
    eval->frame = frame.caller;
    return good;
}

static void bind_self(Eval *eval, const Function *function, Scope *scope, Object *instance)
{
    const Nodearguments *arguments = NODE_AS(arguments, NODE_AS(FunctionDef, function->node)->args);
    Nodes names = arguments->posonlyargs.count > 0 ? arguments->posonlyargs : arguments->args;
    if (names.count > 0)
        binding_put(eval, bindings_make(eval, &scope->bindings, NODE_AS(arg, names.items[0])->arg),
                    instance, names.items[0]->span);
}

typedef struct Outside { /* what staging sets aside */
    Staging *staging;
    Builder builder;
    LoopTrial *trial;
    Span at;
    int control, library;
    uint64_t steps_left;
} Outside;

static Outside leave_outside(Eval *eval, Staging *staging)
{
    Outside outside = {eval->staging, eval->builder, eval->trial,     eval->at,
                       eval->control, eval->library, eval->steps_left};
    eval->staging = staging;
    eval->builder = builder_at_end(launch_region(staging->launch), staging->at);
    eval->trial = NULL;
    eval->control = 0;
    eval->library = 0;
    eval->steps_left = UNROLL_LIMIT;
    return outside;
}

static void return_outside(Eval *eval, const Outside *outside)
{
    eval->staging = outside->staging;
    eval->builder = outside->builder;
    eval->trial = outside->trial;
    eval->at = outside->at;
    eval->control = outside->control;
    eval->library = outside->library;
    eval->steps_left = outside->steps_left;
}

static bool stage_kernel(Eval *eval, Specialisation *specialisation, const ParameterVec *parameters,
                         Kernel *kernel, const Function *function)
{
    Object *attributes_class = object_new(eval, OBJECT_CLASS);
    attributes_class->as.class = arena_new_of(eval->arena, Class);
    attributes_class->as.class->name = intern_text(eval->session->names, "attrs");
    Staging staging = {.kernel = kernel,
                       .at = specialisation->at,
                       .attributes = instance_new(eval, attributes_class)};
    Scope *scope = scope_new(eval, SCOPE_FUNCTION, function->closure, function->unit);
    staging.launch = make_launch(kernel, function->node->span);
    Outside outside = leave_outside(eval, &staging);
    bind_self(eval, function, scope, specialisation->instance);
    for (size_t i = 0; i < parameters->count; i++) {
        Object *object = add_parameter(eval, kernel, &parameters->data[i], specialisation->keys[i]);
        binding_put(eval, bindings_make(eval, &scope->bindings, parameters->data[i].name), object,
                    parameters->data[i].span);
    }
    bool good = run_kernel(eval, function, scope, specialisation->instance);
    return_outside(eval, &outside);
    return good;
}

bool specialisation_stage(Eval *eval, Specialisation *specialisation, Name export_name, Name symbol)
{
    if (specialisation->kernel != NULL) return true;
    ParameterVec parameters = {0};
    Object *function = kernel_function(eval, specialisation->instance, specialisation->at);
    if (function == NULL || !read_parameters(eval, &function->as.function, &parameters))
        return false;
    Kernel *kernel = kernel_new(eval->session, symbol, function->as.function.node->span);
    kernel->export_name = export_name;
    const char *title = describe_keys(eval, &parameters, specialisation, export_name);
    CallStep step = {specialisation->at, arena_printf(eval->arena, "while specialising %s", title)};
    vec_push(eval->arena, &eval->steps, step);
    size_t errors = diag_error_count(eval->session->diags);
    bool good = stage_kernel(eval, specialisation, &parameters, kernel, &function->as.function);
    eval->steps.count--;
    good = good && diag_error_count(eval->session->diags) == errors && kernel_verify(kernel);
    if (!good) {
        kernel_free(kernel);
        return false;
    }
    specialisation->kernel = kernel;
    vec_push(eval->arena, &eval->kernels, kernel);
    return true;
}

/* ---- launching, in a run ---- */

static Name run_symbol(Eval *eval, const Object *instance)
{
    return intern_printf(eval->session->names, "%s__run%zu",
                         instance->as.instance->class->as.class->name, eval->kernels.count);
}

static Object *launch_values(Eval *eval, Specialisation *specialisation,
                             const ParameterVec *parameters, Object **values, Span at)
{
    HostValue *arguments = arena_new_array(eval->arena, HostValue, parameters->count);
    for (size_t i = 0; i < parameters->count; i++) {
        Object *value = specialisation->keys[i] != NULL ? specialisation->keys[i]
                        : values[i] != NULL             ? values[i]
                                                        : parameters->data[i].otherwise;
        if (value == NULL)
            return FAIL(eval, call_arguments, at,
                        arena_printf(eval->arena, "the kernel needs the argument '%s'",
                                     parameters->data[i].name));
        if (!host_value(eval, value, &arguments[i]))
            return FAIL(eval, expected_kind, at, parameters->data[i].name, "a number or an array",
                        object_repr(eval, value));
    }
    HostLaunch launch = {specialisation->kernel, arguments, at};
    return eval->host->launch(eval->host, &launch) == HOST_OK ? eval->none : NULL;
}

Object *launch_instance(Eval *eval, Object *callee, const Arguments *arguments)
{
    Object *instance =
        callee->kind == OBJECT_SPECIALISATION ? callee->as.specialisation->instance : callee;
    if (eval->staging != NULL)
        return FAIL(eval, unsupported, arguments->at, "a launch in a kernel");
    if (eval->host == NULL)
        return FAIL(eval, unsupported, arguments->at, "a launch while compiling");
    ParameterVec parameters = {0};
    if (!kernel_parameters(eval, instance, arguments->at, &parameters)) return NULL;
    Object **values = arena_new_array(eval->arena, Object *, parameters.count);
    if (!spread_arguments(eval, instance, &parameters, arguments, values)) return NULL;
    for (int i = 0;
         callee->kind == OBJECT_SPECIALISATION && i < callee->as.specialisation->key_count; i++)
        values[i] = values[i] == NULL ? callee->as.specialisation->keys[i] : values[i];
    Object *object = specialise_values(eval, instance, &parameters, values, arguments->at);
    if (object == NULL) return NULL;
    Specialisation *specialisation = object->as.specialisation;
    Name name = instance->as.instance->class->as.class->name;
    if (specialisation->kernel == NULL &&
        !specialisation_stage(eval, specialisation, name, run_symbol(eval, instance)))
        return NULL;
    return launch_values(eval, specialisation, &parameters, values, arguments->at);
}
