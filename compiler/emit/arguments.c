/* arguments.c: what the typed entry of a kernel takes. */
#include "emit/emit.h"

#include <math.h>
#include <string.h>

int entry_arguments(const Kernel *kernel, EntryArgument *out)
{
    int count = 0;
    for (int i = 0; i < kernel_argument_count(kernel); i++) {
        const Tensor *tensor = kernel_tensor_of(kernel, i);
        if (tensor ? tensor->is_result
                   : kernel_tensor_has(kernel, i) || kernel_key_is_fixed(kernel, i))
            continue;
        out[count++] = (EntryArgument){&kernel->parameters[i], tensor};
    }
    for (int i = 0; i < kernel->tensor_count; i++)
        if (kernel->tensors[i].is_result)
            out[count++] = (EntryArgument){&kernel->parameters[kernel->tensors[i].pointer],
                                           &kernel->tensors[i]};
    return count;
}

bool has_results(const Kernel *kernel)
{
    return kernel->tensor_count > 0 && kernel->tensors[kernel->tensor_count - 1].is_result;
}

bool entry_argument_is_key(const EntryArgument *argument)
{
    return !argument->tensor && argument->parameter->is_key;
}

/* An infinity and a NaN are none of C's literals. */
static bool is_literal(const Parameter *parameter)
{
    double number;
    memcpy(&number, &parameter->key, sizeof number);
    return parameter->text || !dtype_is_float(parameter->value->type->dtype) || isfinite(number);
}

static bool same_keys(const Kernel *one, const Kernel *other)
{
    for (int i = 0; i < one->parameter_count; i++)
        if (one->parameters[i].is_key && !keys_equal(&one->parameters[i], &other->parameters[i]))
            return false;
    return true;
}

bool has_fixed_entry(const Kernel *const *kernels, int count)
{
    EntryArgument *arguments =
        arena_new_array(kernels[0]->arena, EntryArgument, kernels[0]->parameter_count + 1);
    const int argument_count = entry_arguments(kernels[0], arguments);
    int keys = 0;
    for (int i = 0; i < argument_count; i++) {
        if (!entry_argument_is_key(&arguments[i])) continue;
        if (!is_literal(arguments[i].parameter)) return false;
        keys++;
    }
    for (int i = 1; i < count; i++)
        if (!same_keys(kernels[0], kernels[i])) return false;
    return keys > 0;
}
