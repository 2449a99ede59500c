/* key.c: the keys of specialisations: numbers, texts and element types known when a kernel is
 * compiled. */
#include "ir/ir.h"

#include <string.h>

const char *dtype_code_name(int64_t code)
{
    for (int dtype = DTYPE_COUNT - 1; dtype >= 0; dtype--) /* f32 before tf32 */
        if (dtype_code((DType)dtype) == code) return dtype_name((DType)dtype);
    return NULL;
}

void key_print(const Parameter *parameter, Buf *out)
{
    const char *dtype = parameter->is_dtype ? dtype_code_name(parameter->key) : NULL;
    double number;
    memcpy(&number, &parameter->key, sizeof number);
    if (parameter->text != NULL)
        buf_quoted(out, parameter->text, strlen(parameter->text));
    else if (dtype_is_float(parameter->value->type->dtype))
        buf_float(out, number);
    else if (dtype != NULL)
        buf_text(out, dtype);
    else
        buf_printf(out, "%lld", (long long)parameter->key);
}

bool keys_equal(const Parameter *a, const Parameter *b)
{
    if ((a->text == NULL) != (b->text == NULL)) return false;
    return a->text != NULL ? strcmp(a->text, b->text) == 0 : a->key == b->key;
}

bool kernel_key_is_fixed(const Kernel *kernel, int parameter)
{
    return kernel->parameters[parameter].is_dtype && !kernel_tensor_has(kernel, parameter);
}

/* ---- types ---- */

static bool key_varies(Kernel *const *kernels, int count, int parameter)
{
    for (int i = 1; i < count; i++)
        if (kernels[i]->parameters[parameter].key != kernels[0]->parameters[parameter].key)
            return true;
    return false;
}

static bool key_is_type_of(Kernel *const *kernels, int count, int parameter, int tensor)
{
    for (int i = 0; i < count; i++) {
        const Tensor *with = &kernels[i]->tensors[tensor];
        if (with->dtype_key >= 0 || !kernel_key_is_fixed(kernels[i], parameter) ||
            kernels[i]->parameters[parameter].key != dtype_code(with->dtype))
            return false;
    }
    return true;
}

static void tie(Kernel *const *kernels, int count, int parameter)
{
    for (int tensor = 0; tensor < kernels[0]->tensor_count; tensor++) {
        if (!key_is_type_of(kernels, count, parameter, tensor)) continue;
        for (int i = 0; i < count; i++) kernels[i]->tensors[tensor].dtype_key = parameter;
        return;
    }
}

void kernels_tie_dtypes(Kernel *const *kernels, int count)
{
    for (int i = 1; i < count; i++)
        if (kernels[i]->parameter_count != kernels[0]->parameter_count ||
            kernels[i]->tensor_count != kernels[0]->tensor_count)
            return; /* no specialisations of one export */
    for (int i = 0; count > 0 && i < kernels[0]->parameter_count; i++)
        if (key_varies(kernels, count, i)) tie(kernels, count, i);
}
