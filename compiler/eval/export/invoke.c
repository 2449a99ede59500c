/* invoke.c: a kernel that is called, in a run: the specialisation is chosen, what it takes is taken
 * apart into the parameters, and what it made for the call is given back. */
#include "eval/export/export.h"

typedef struct Call {
    Eval *eval;
    const Signature *signature;
    Specialisation *specialisation;
    Object **values;                /* one a parameter of the function; NULL: not given */
    HostValue *arguments;           /* one a parameter of the kernel */
    const char **from;              /* which argument gave it */
    const GradientLaunch *gradient; /* NULL: of the kernel itself */
    Span at;
} Call;

/* ---- the kernel's parameters ---- */

static bool set_extent(const Call *call, Name name, const char *what, int dim, const Extent *extent,
                       int64_t value)
{
    Eval *eval = call->eval;
    const Kernel *kernel = call->specialisation->kernel;
    const Parameter *parameter = &kernel->parameters[extent->parameter];
    if (extent->kind != EXTENT_PARAMETER || parameter->is_key) return true;
    HostValue *out = &call->arguments[extent->parameter];
    const char **from = &call->from[extent->parameter];
    if (*from != NULL && out->integer != value) {
        FAIL(eval, extents_disagree, call->at, name, what, dim, (long long)value, parameter->name,
             (long long)out->integer, arena_printf(eval->arena, "in '%s'", *from));
        return false;
    }
    const DType dtype = parameter->value->type->dtype;
    if (dtype_wrap(dtype, value) != value) {
        FAIL(eval, extent_range, call->at, name, what, dim, (long long)value,
             dtype_user_name(dtype));
        return false;
    }
    *out = (HostValue){.kind = HOST_INT, .integer = value};
    *from = name;
    return true;
}

static bool set_tensor(const Call *call, const Tensor *tensor, const KernelParameter *parameter,
                       Object *value)
{
    TensorSpec spec;
    if (!tensor_spec(call->eval, value, parameter->name, call->at, &spec) ||
        !host_value(call->eval, value, &call->arguments[tensor->pointer]))
        return false;
    spec_unpack(&spec, tensor->dtype, NULL);
    if (!dtype_holds(tensor->dtype, spec.dtype)) {
        FAIL(call->eval, argument_dtype, call->at, parameter->name, dtype_user_name(spec.dtype),
             dtype_user_name(tensor->dtype));
        return false;
    }
    for (int i = 0; i < tensor->rank; i++) {
        if (!set_extent(call, parameter->name, "extent", i, &tensor->shape[i], spec.shape[i]))
            return false;
        if (tensor->is_strided &&
            !set_extent(call, parameter->name, "stride", i, &tensor->strides[i], spec.strides[i]))
            return false;
    }
    return true;
}

static bool set_tensors(const Call *call)
{
    const Kernel *kernel = call->specialisation->kernel;
    for (int i = 0; i < kernel->tensor_count; i++) {
        int argument = call->specialisation->tensor_arguments[i];
        if (argument < 0) continue;
        const KernelParameter *parameter = &call->signature->parameters.data[argument];
        if (call->values[argument] == NULL)
            return lacks_argument(call->eval, call->at, parameter->name);
        if (!set_tensor(call, &kernel->tensors[i], parameter, call->values[argument])) return false;
    }
    return true;
}

static bool set_plain(const Call *call, int index)
{
    Eval *eval = call->eval;
    const Kernel *kernel = call->specialisation->kernel;
    const int argument = call->specialisation->parameter_arguments[index];
    if (kernel->parameters[index].is_key) {
        call->arguments[index] =
            (HostValue){.kind = HOST_INT, .integer = kernel->parameters[index].key};
        return true;
    }
    if (argument < 0 || kernel_tensor_has(kernel, index)) return true;
    const KernelParameter *parameter = &call->signature->parameters.data[argument];
    Object *value = call->values[argument] != NULL ? call->values[argument] : parameter->otherwise;
    if (value == NULL) return lacks_argument(eval, call->at, parameter->name);
    if (host_value(eval, value, &call->arguments[index])) return true;
    FAIL(eval, expected_kind, call->at, parameter->name, "a number or an array",
         object_repr(eval, value));
    return false;
}

/* ---- results ---- */

static Object *give_results(const Call *call, const HostValue *results, int count)
{
    Eval *eval = call->eval;
    if (count == 0) return eval->none;
    if (count == 1 && !call->specialisation->gives_tuple) return host_object(eval, &results[0]);
    Object *tuple = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int i = 0; i < count; i++) list_append(eval, tuple, host_object(eval, &results[i]));
    return tuple;
}

static int count_results(const Kernel *kernel)
{
    int count = 0;
    for (int i = 0; i < kernel->tensor_count; i++) count += kernel->tensors[i].is_result;
    return count;
}

static bool set_gradients(const Call *call, HostLaunch *launch)
{
    Eval *eval = call->eval;
    const Object *arrays = call->gradient ? call->gradient->arrays : NULL;
    const uint32_t count = arrays ? arrays->as.list.count : 0;
    HostValue *values = arena_new_array(eval->arena, HostValue, count + 1);
    for (uint32_t i = 0; i < count; i++)
        if (!host_value(eval, arrays->as.list.items[i], &values[i])) {
            FAIL(eval, expected_kind, call->at, "a gradient", "an array",
                 object_repr(eval, arrays->as.list.items[i]));
            return false;
        }
    launch->gradients = values;
    launch->gradient_count = (int)count;
    launch->consumes = call->gradient && call->gradient->consumes;
    launch->each = call->gradient && call->gradient->each;
    launch->retained = call->gradient ? call->gradient->retained : "";
    return true;
}

static Object *launch_values(Call *call)
{
    Eval *eval = call->eval;
    Kernel *kernel = call->specialisation->kernel;
    const int count = kernel_argument_count(kernel), results = count_results(kernel);
    call->arguments = arena_new_array(eval->arena, HostValue, kernel->parameter_count + 1);
    call->from = arena_new_array(eval->arena, const char *, kernel->parameter_count + 1);
    if (!set_tensors(call)) return NULL;
    for (int i = 0; i < count; i++)
        if (!set_plain(call, i)) return NULL;
    HostLaunch launch = {.kernel = kernel,
                         .arguments = call->arguments,
                         .results = arena_new_array(eval->arena, HostValue, results + 1),
                         .at = call->at};
    if (!set_gradients(call, &launch) || eval->host->launch(eval->host, &launch) != HOST_OK)
        return NULL;
    if (call->gradient) return eval->none;
    return give_results(call, launch.results, results);
}

/* ---- calls ---- */

/* A compiled function takes what is not part of it: tensors, pointers and run-time numbers. */
static bool spread_rest(Eval *eval, const Signature *signature,
                        const Specialisation *specialisation, const Arguments *arguments,
                        Object **values)
{
    Arguments rest = {.at = arguments->at, .names = arguments->names, .named = arguments->named};
    size_t index = 0, given = 0;
    for (; index < signature->parameters.count && given < arguments->positional.count; index++) {
        if (!specialisation_takes(signature, specialisation, index)) continue;
        values[index] = arguments->positional.data[given++];
    }
    if (given < arguments->positional.count) {
        FAIL(eval, many_arguments, arguments->at, "the compiled kernel, whose keys are part of it,",
             (unsigned)given, (unsigned)arguments->positional.count);
        return false;
    }
    for (size_t i = 0; i < rest.names.count; i++) {
        index = signature_find(signature, rest.names.data[i]);
        if (index < signature->parameters.count &&
            !specialisation_takes(signature, specialisation, index)) {
            FAIL(eval, key_given, arguments->at, rest.names.data[i]);
            return false;
        }
    }
    return spread_arguments(eval, signature, &rest, values);
}

/* The arrays of a call must be those that the kernel was compiled for. */
static bool check_tensors(Eval *eval, const Signature *signature,
                          const Specialisation *specialisation, Object **values, Span at)
{
    for (size_t i = 0; i < signature->parameters.count; i++) {
        const KernelParameter *parameter = &signature->parameters.data[i];
        if (!specialisation->is_tensor[i] || values[i] == NULL) continue;
        const Object *key = tensor_key(eval, parameter, values[i], at);
        if (key == NULL) return false;
        if (tensor_key_matches(eval, specialisation->keys[i], key)) continue;
        FAIL(eval, compiled_for, at, parameter->name,
             specialisation_title(eval, signature, specialisation,
                                  kernel_name(signature->instance)));
        return false;
    }
    return true;
}

static Specialisation *choose(Eval *eval, Object *callee, const Signature *signature,
                              const Arguments *arguments, Object **values)
{
    const bool compiled = callee->kind == OBJECT_SPECIALISATION;
    if (compiled && signature->is_function) {
        Specialisation *specialisation = callee->as.specialisation;
        if (specialisation->told != NULL && !specialisation_build(eval, specialisation))
            return NULL; /* what it is for shows when its tensors are declared */
        return spread_rest(eval, signature, specialisation, arguments, values) &&
                       check_tensors(eval, signature, specialisation, values, arguments->at)
                   ? specialisation
                   : NULL;
    }
    if (!spread_arguments(eval, signature, arguments, values)) return NULL;
    for (int i = 0; compiled && i < callee->as.specialisation->key_count; i++)
        values[i] = values[i] == NULL ? callee->as.specialisation->keys[i] : values[i];
    Object *object = specialise_values(eval, signature, values, arguments->at);
    return object != NULL ? object->as.specialisation : NULL;
}

/* Its keys by name, as a call of `.compile` tells them. */
static const char *keys_told(Eval *eval, const Signature *signature, bool *declares)
{
    Buf keys = {0};
    for (size_t i = 0; i < signature->parameters.count; i++) {
        const KernelParameter *parameter = &signature->parameters.data[i];
        *declares |= parameter->is_declared;
        if (parameter->kind != PARAMETER_KEY || parameter->is_declared || parameter->otherwise)
            continue;
        buf_printf(&keys, "%s%s=...", keys.length > 0 ? ", " : "", parameter->name);
    }
    const char *text =
        arena_copy_text(eval->arena, keys.data != NULL ? keys.data : "", keys.length);
    buf_free(&keys);
    return text;
}

const char *open_keys(Eval *eval, Object *instance)
{
    Signature signature;
    bool declares = false;
    return signature_read(eval, instance, eval->at, &signature)
               ? keys_told(eval, &signature, &declares)
               : "";
}

/* What compiles the kernel where nothing can be launched. */
static Object *refuse_launch(Eval *eval, const Signature *signature, Span at)
{
    bool declares = false;
    const char *keys = keys_told(eval, signature, &declares);
    FAIL(eval, host_only, at, "a launch", "while compiling");
    if (eval->quiet == 0)
        diag_note(eval->session->diags, at, "to compile it, write %s.compile(%s)%s",
                  kernel_name(signature->instance), keys,
                  declares ? ", with the extents that its body names: M=1024, ..." : "");
    return NULL;
}

static Object *launch_any(Eval *eval, Object *callee, const Arguments *arguments,
                          const GradientLaunch *gradient)
{
    Object *instance =
        callee->kind == OBJECT_SPECIALISATION ? callee->as.specialisation->instance : callee;
    if (eval->staging != NULL)
        return FAIL(eval, host_only, arguments->at, "a launch", "in a kernel");
    Signature signature;
    if (!signature_read(eval, instance, arguments->at, &signature)) return NULL;
    if (eval->host == NULL)
        return arguments_are_here(eval, arguments) ? refuse_launch(eval, &signature, arguments->at)
                                                   : NULL;
    Object **values = arena_new_array(eval->arena, Object *, signature.parameters.count + 1);
    Specialisation *specialisation = choose(eval, callee, &signature, arguments, values);
    if (specialisation == NULL) return NULL;
    if (gradient) specialisation = specialisation_differentiated(eval, specialisation);
    if (!specialisation || !specialisation_build(eval, specialisation)) return NULL;
    Call call = {.eval = eval,
                 .signature = &signature,
                 .specialisation = specialisation,
                 .values = values,
                 .gradient = gradient,
                 .at = arguments->at};
    return launch_values(&call);
}

Object *launch_instance(Eval *eval, Object *callee, const Arguments *arguments)
{
    return launch_any(eval, callee, arguments, NULL);
}

Object *launch_gradient(Eval *eval, Object *callee, const Arguments *arguments,
                        const GradientLaunch *gradient)
{
    return launch_any(eval, callee, arguments, gradient);
}
