/* arguments.c: what the typed entry of a kernel takes. */
#include "emit/emit.h"

static const Tensor *tensor_at(const Kernel *kernel, int pointer)
{
    for (int i = 0; i < kernel->tensor_count; i++)
        if (kernel->tensors[i].pointer == pointer) return &kernel->tensors[i];
    return NULL;
}

int entry_arguments(const Kernel *kernel, EntryArgument *out)
{
    int count = 0;
    for (int i = 0; i < kernel_argument_count(kernel); i++) {
        const Tensor *tensor = tensor_at(kernel, i);
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
