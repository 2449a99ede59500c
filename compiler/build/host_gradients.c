/* host_gradients.c: launches of gradients by host code: the kernel is made when it is launched
 * first, and the arrays that are given become its arguments. */
#include "build/host_gradients.h"

#include "passes/grad/gradient.h"

#include <string.h>

static Kernel *known_gradient(const Gradients *gradients, const HostLaunch *launch)
{
    for (size_t i = 0; i < gradients->all.count; i++) {
        const MadeGradient *one = &gradients->all.data[i];
        if (one->of == launch->kernel && one->consumes == launch->consumes &&
            strcmp(one->retained, launch->retained) == 0)
            return one->kernel;
    }
    return NULL;
}

static Name gradient_name(const Gradients *gradients, const HostLaunch *launch)
{
    Arena *arena = gradients->session->arena;
    char *kept = arena_copy_text(arena, launch->retained, strlen(launch->retained));
    for (char *at = kept; *at; at++)
        if (*at == ' ') *at = '_';
    return intern_printf(gradients->session->names, "%s_grad%s%s%s", launch->kernel->name,
                         launch->consumes ? "_0" : "", *kept ? "_keep_" : "", kept);
}

static Kernel *gradient_of(Gradients *gradients, const HostLaunch *launch)
{
    Kernel *made = known_gradient(gradients, launch);
    if (made) return made;
    made = kernel_gradient(launch->kernel, gradients->target, launch->consumes, launch->retained);
    if (!made) return NULL;
    made->export_name = made->name = gradient_name(gradients, launch);
    Arena *arena = gradients->session->arena;
    const char *retained = arena_copy_text(arena, launch->retained, strlen(launch->retained));
    vec_push(arena, &gradients->all,
             ((MadeGradient){launch->kernel, launch->consumes, retained, made}));
    return made;
}

/* ---- arguments ---- */

typedef struct Gradient {
    Session *session;
    struct Host *host;
    const Kernel *kernel;
    const HostLaunch *launch;
    HostValue *arguments; /* of the gradient */
    const char **from;    /* what gave an extent */
    int given;            /* of the arrays */
} Gradient;

static bool refuse_array(const Gradient *gradient, DiagCode code, const char *name)
{
    diag_report(gradient->session->diags, code, gradient->launch->at, name);
    return false;
}

/* What the kernel itself gets for a parameter; NULL: it has none of that name. */
static const HostValue *argument_named(const Gradient *gradient, Name name)
{
    const Kernel *primal = gradient->launch->kernel;
    for (int i = 0; i < primal->parameter_count; i++)
        if (primal->parameters[i].name == name) return &gradient->launch->arguments[i];
    return NULL;
}

/* The next of those that are given or, if there is one for each array among the arguments, that of
 * the one of which the parameter is the gradient; NULL: there is none. */
static const HostValue *gradient_for(Gradient *gradient, Name name)
{
    const HostLaunch *launch = gradient->launch;
    const size_t length = strlen(name) - strlen("_grad");
    if (!launch->each)
        return gradient->given == launch->gradient_count ? NULL
                                                         : &launch->gradients[gradient->given++];
    for (int i = 0, at = 0; i < launch->kernel->parameter_count; i++) {
        if (launch->arguments[i].kind != HOST_ARRAY) continue;
        const Name own = launch->kernel->parameters[i].name;
        if (at < launch->gradient_count && strlen(own) == length && !strncmp(own, name, length))
            return launch->gradients[at].kind == HOST_NONE ? NULL : &launch->gradients[at];
        at++;
    }
    return NULL;
}

static bool take_argument(Gradient *gradient, int index)
{
    const Parameter *parameter = &gradient->kernel->parameters[index];
    const HostValue *own = argument_named(gradient, parameter->name);
    if (own) gradient->arguments[index] = *own;
    if (own) gradient->from[index] = gradient->kernel->name;
    if (own || parameter->value->type->kind != TYPE_POINTER) return true;
    const HostValue *given = gradient_for(gradient, parameter->name);
    if (!given) return refuse_array(gradient, DIAG_gradient_missing, parameter->name);
    gradient->arguments[index] = *given;
    if (gradient->arguments[index].kind == HOST_ARRAY) return true;
    diag_report(gradient->session->diags, DIAG_argument_kind, gradient->launch->at, parameter->name,
                "an array");
    return false;
}

static bool take_extent(Gradient *gradient, const Tensor *tensor, const Extent *extent, int64_t is)
{
    int64_t wanted = extent->value;
    if (extent->kind == EXTENT_PARAMETER) {
        const Parameter *parameter = &gradient->kernel->parameters[extent->parameter];
        HostValue *known = &gradient->arguments[extent->parameter];
        if (!parameter->is_key && !gradient->from[extent->parameter]) {
            *known = (HostValue){.kind = HOST_INT, .integer = is};
            gradient->from[extent->parameter] = tensor->name;
        }
        wanted = parameter->is_key ? parameter->key : known->integer;
    }
    return wanted == is || refuse_array(gradient, DIAG_gradient_shape, tensor->name);
}

static bool is_packed(const HostArray *array)
{
    int64_t stride = 1;
    for (int d = array->rank; d-- > 0; stride *= array->shape[d])
        if (array->shape[d] != 1 && array->strides[d] != stride) return false;
    return true;
}

static bool take_shape(Gradient *gradient, const Tensor *tensor)
{
    HostArray array;
    gradient->host->describe(gradient->host, gradient->arguments[tensor->pointer].array, &array);
    if (array.rank != tensor->rank || array.dtype != tensor->dtype)
        return refuse_array(gradient, DIAG_gradient_type, tensor->name);
    if (!tensor->is_strided && !is_packed(&array))
        return refuse_array(gradient, DIAG_argument_strides, tensor->name);
    for (int d = 0; d < tensor->rank; d++) {
        if (!take_extent(gradient, tensor, &tensor->shape[d], array.shape[d])) return false;
        if (tensor->is_strided &&
            !take_extent(gradient, tensor, &tensor->strides[d], array.strides[d]))
            return false;
    }
    return true;
}

static bool take_arguments(Gradient *gradient)
{
    const Kernel *kernel = gradient->kernel;
    for (int i = 0; i < kernel_argument_count(kernel); i++)
        if (!take_argument(gradient, i)) return false;
    if (!gradient->launch->each && gradient->given < gradient->launch->gradient_count)
        return refuse_array(gradient, DIAG_gradient_surplus, kernel->name);
    for (int i = 0; i < kernel->tensor_count; i++) {
        const Tensor *tensor = &kernel->tensors[i];
        if (!argument_named(gradient, tensor->name) && !take_shape(gradient, tensor)) return false;
    }
    return true;
}

bool launch_as_gradient(Gradients *gradients, HostLaunch *launch)
{
    Arena *arena = gradients->session->arena;
    Kernel *kernel = gradient_of(gradients, launch);
    if (!kernel) return false;
    Gradient gradient = {.session = gradients->session,
                         .host = gradients->host,
                         .kernel = kernel,
                         .launch = launch,
                         .arguments =
                             arena_new_array(arena, HostValue, kernel->parameter_count + 1),
                         .from = arena_new_array(arena, const char *, kernel->parameter_count + 1)};
    if (!take_arguments(&gradient)) return false;
    launch->kernel = kernel;
    launch->arguments = gradient.arguments;
    return true;
}

void gradients_free(Gradients *gradients)
{
    for (size_t i = 0; i < gradients->all.count; i++) kernel_free(gradients->all.data[i].kernel);
}
