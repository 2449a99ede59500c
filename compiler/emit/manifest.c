/* manifest.c: the same as the header as JSON, for other languages and tools. */
#include "emit/emit.h"

#include <math.h>
#include <string.h>

static void print_string(const char *key, const char *text, Buf *out)
{
    buf_printf(out, "\"%s\": ", key);
    buf_quoted(out, text, strlen(text));
}

static void print_parameter(const Parameter *parameter, Buf *out)
{
    const Type *type = parameter->value->type;
    buf_char(out, '{');
    print_string("name", parameter->name, out);
    buf_text(out, ", ");
    print_string("kind",
                 parameter->is_key            ? "key"
                 : type->kind == TYPE_POINTER ? "pointer"
                                              : "scalar",
                 out);
    buf_text(out, ", ");
    print_string("dtype",
                 parameter->is_dtype       ? "dtype"
                 : parameter->text != NULL ? "str"
                                           : dtype_name(type->dtype),
                 out);
    if (type->kind == TYPE_POINTER)
        buf_printf(out, ", \"read\": %s, \"written\": %s", parameter->is_read ? "true" : "false",
                   parameter->is_written ? "true" : "false");
    buf_char(out, '}');
}

static void print_extents(const char *key, const Kernel *kernel, const Extent *extents, int rank,
                          Buf *out)
{
    buf_printf(out, ", \"%s\": [", key);
    for (int i = 0; i < rank; i++) {
        if (i) buf_text(out, ", ");
        const char *name = kernel->parameters[extents[i].parameter].name;
        if (extents[i].kind == EXTENT_PARAMETER)
            buf_quoted(out, name, strlen(name));
        else
            buf_printf(out, "%lld", (long long)extents[i].value);
    }
    buf_char(out, ']');
}

/* Its extents and strides by the parameters that they are: shape and type of a tensor are what the
 * first specialisation takes. */
static void print_tensor(const Kernel *kernel, const Tensor *tensor, Buf *out)
{
    buf_char(out, '{');
    print_string("name", tensor->name, out);
    buf_text(out, ", ");
    print_string("dtype", dtype_name(tensor->dtype), out);
    buf_printf(out, ", \"rank\": %d, \"returned\": %s", tensor->rank,
               tensor->is_result ? "true" : "false");
    if (!tensor->is_result) print_extents("shape", kernel, tensor->shape, tensor->rank, out);
    if (tensor->is_strided) print_extents("strides", kernel, tensor->strides, tensor->rank, out);
    if (tensor->dtype_key >= 0) {
        buf_text(out, ", ");
        print_string("dtype_key", kernel->parameters[tensor->dtype_key].name, out);
    }
    buf_char(out, '}');
}

static void print_tensors(const Kernel *kernel, Buf *out)
{
    if (kernel->tensor_count == 0) return;
    buf_text(out, "],\n    \"tensors\": [");
    for (int i = 0; i < kernel->tensor_count; i++) {
        if (i) buf_text(out, ", ");
        print_tensor(kernel, &kernel->tensors[i], out);
    }
}

static void print_image(const Image *image, Buf *out)
{
    static const char *const kinds[] = {
        [IMAGE_CUBIN] = "cubin", [IMAGE_PTX] = "ptx", [IMAGE_EMULATOR] = "emulator"};
    buf_char(out, '{');
    print_string("target", image->target->name, out);
    buf_text(out, ", ");
    print_string("kind", kinds[image->kind], out);
    buf_printf(out, ", \"bytes\": %zu, \"launches\": [", image->size);
    for (int i = 0; i < image->entry_count; i++) {
        const ImageEntry *entry = &image->entries[i];
        buf_text(out, i ? ", {" : "{");
        print_string("symbol", entry->name, out);
        buf_printf(out,
                   ", \"warps\": %d, \"shared_bytes\": %d, \"registers\": %d, \"spill_bytes\": %d}",
                   entry->warps, entry->shared_bytes, entry->registers, entry->spill_bytes);
    }
    buf_text(out, "]}");
}

static void print_variant(const VariantImages *variant, const Kernel *kernel, Buf *out)
{
    buf_text(out, "{\"multiples\": [");
    for (int i = 0; i < kernel_argument_count(kernel); i++)
        buf_printf(out, "%s%lld", i ? ", " : "",
                   (long long)(variant->multiples ? variant->multiples[i] : 1));
    buf_text(out, "], \"images\": [");
    for (int i = 0; i < variant->image_count; i++) {
        if (i) buf_text(out, ", ");
        print_image(&variant->images[i], out);
    }
    buf_text(out, "]}");
}

/* JSON has no infinities and no NaN. */
static void print_key(const Parameter *parameter, Buf *out)
{
    double number;
    memcpy(&number, &parameter->key, sizeof number);
    const bool quoted =
        parameter->is_dtype || (dtype_is_float(parameter->value->type->dtype) && !isfinite(number));
    buf_text(out, quoted ? "\"" : "");
    key_print(parameter, out);
    buf_text(out, quoted ? "\"" : "");
}

static void print_specialisation(const SpecialisationImages *specialisation, Buf *out)
{
    const Kernel *kernel = specialisation->kernel;
    const char *separator = "";
    buf_text(out, "\n      {\"keys\": {");
    for (int i = 0; i < kernel->parameter_count; i++) {
        if (!kernel->parameters[i].is_key) continue;
        buf_printf(out, "%s\"%s\": ", separator, kernel->parameters[i].name);
        print_key(&kernel->parameters[i], out);
        separator = ", ";
    }
    buf_text(out, "}");
    if (kernel->configuration) {
        buf_text(out, ", ");
        print_string("configuration", kernel->configuration, out);
    }
    buf_text(out, ", \"variants\": [");
    for (int i = 0; i < specialisation->variant_count; i++) {
        if (i) buf_text(out, ", ");
        print_variant(&specialisation->variants[i], kernel, out);
    }
    buf_text(out, "]}");
}

void emit_manifest(const ExportImages *exports, int count, Buf *out)
{
    buf_text(out, "{\"kernels\": [");
    for (int i = 0; i < count; i++) {
        const Kernel *kernel = exports[i].specialisations[0].kernel;
        buf_text(out, i ? ",\n  {" : "\n  {");
        print_string("name", exports[i].name, out);
        buf_text(out, ", \"parameters\": [");
        for (int j = 0; j < kernel_argument_count(kernel); j++) {
            if (j) buf_text(out, ", ");
            print_parameter(&kernel->parameters[j], out);
        }
        print_tensors(kernel, out);
        buf_text(out, "],\n    \"specialisations\": [");
        for (int j = 0; j < exports[i].specialisation_count; j++) {
            if (j) buf_char(out, ',');
            print_specialisation(&exports[i].specialisations[j], out);
        }
        buf_text(out, "]}");
    }
    buf_text(out, "\n]}\n");
}
