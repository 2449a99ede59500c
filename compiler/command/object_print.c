/* object_print.c: the tables of an object as text: kernels with their keys, variants and images,
 * and the driver that each image needs. */
#include "command/object_view.h"
#include "ir/ir.h"

#include "abi.h"

#include <stdio.h>
#include <string.h>

enum { TABLE_BYTES = 1 << 26 };

/* Prints and stops at the first thing that is broken. */
typedef struct Info {
    const ObjectView *view;
    Buf *out;
    tile_kernel kernel;
    size_t *left; /* how many bytes may still be read: tables may name each other many times over */
    bool *is_broken; /* a text or an address leads nowhere */
} Info;

static uint64_t address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

static bool spend(const Info *info, size_t bytes)
{
    const bool fine = bytes <= *info->left;
    *info->left = fine ? *info->left - bytes : 0;
    return fine;
}

/* The index-th struct of a table; false: broken. */
static bool read_item(const Info *info, const void *table, uint64_t index, void *out, size_t size)
{
    return spend(info, size) && index < UINT32_MAX &&
           view_read(info->view, address(table) + index * size, out, size);
}

static const char *text_at(const Info *info, const char *pointer)
{
    const char *text = view_text(info->view, address(pointer));
    if (text && spend(info, strlen(text))) return text;
    *info->is_broken |= pointer != NULL;
    return "?";
}

/* What a call reads or jumps to is in the object. */
static void check_range(const Info *info, uint64_t offset, uint64_t size)
{
    *info->is_broken |= !view_holds(info->view, offset, size);
}

/* ---- the driver that an image needs ---- */

/* PTX 6.0 to 7.8 and 8.0 to 8.5 came with the CUDA of the next major or of their own number; from
 * 8.6 on they part. */
static void print_ptx_driver(int major, int minor, Buf *out)
{
    static const struct {
        int major, minor;
        const char *cuda;
    } rows[] = {{8, 6, "12.7"}, {8, 7, "12.8"}, {8, 8, "12.9"}, {9, 0, "13.0"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].major != major || rows[i].minor != minor) continue;
        buf_printf(out, "CUDA %s", rows[i].cuda);
        return;
    }
    if (major < 8)
        buf_text(out, "CUDA 12.0"); /* libtile asks for no less */
    else if (major == 8 && minor <= 5)
        buf_printf(out, "CUDA 12.%d", minor);
    else
        buf_printf(out, "PTX %d.%d", major, minor);
}

/* What stands before a version in PTX, and in the note that ptxas leaves in a cubin. Within one
 * major version a driver takes the cubins of newer tools. */
static void print_driver(const Info *info, const tile_image *image)
{
    const bool is_ptx = image->kind == TILE_IMAGE_PTX;
    const char *mark = is_ptx ? ".version " : "release ";
    const char *bytes = view_bytes(info->view, address(image->bytes), image->size);
    const char *found =
        bytes && spend(info, image->size) ? memmem(bytes, image->size, mark, strlen(mark)) : NULL;
    int major, minor;
    char version[16] = "";
    if (found) {
        size_t room = image->size - (size_t)(found - bytes) - strlen(mark);
        size_t length = room < sizeof version - 1 ? room : sizeof version - 1;
        memcpy(version, found + strlen(mark), length);
    }
    if (sscanf(version, "%d.%d", &major, &minor) != 2)
        buf_text(info->out, "unknown");
    else if (is_ptx)
        print_ptx_driver(major, minor, info->out);
    else
        buf_printf(info->out, "CUDA %d.0", major < 12 ? 12 : major);
}

/* ---- tables ---- */

static bool print_launch(const Info *info, const tile_image *image, uint32_t index)
{
    tile_entry entry;
    if (!read_item(info, image->entries, index, &entry, sizeof entry)) return false;
    if (image->kind == TILE_IMAGE_EMULATOR) check_range(info, address(entry.emulated), 1);
    buf_printf(info->out, "      %s: %u warps, %u bytes of shared memory",
               text_at(info, entry.name), entry.warps, entry.shared_bytes);
    if (entry.registers)
        buf_printf(info->out, ", %u registers, %u bytes of spills", entry.registers,
                   entry.spill_bytes);
    buf_char(info->out, '\n');
    return true;
}

static bool print_image(const Info *info, const tile_variant *variant, uint64_t index,
                        uint32_t launches)
{
    tile_image image;
    if (!read_item(info, variant->images, index, &image, sizeof image)) return false;
    const char *target = text_at(info, image.target);
    if (image.kind != TILE_IMAGE_EMULATOR) check_range(info, address(image.bytes), image.size);
    if (image.maps) check_range(info, (uint64_t)(uintptr_t)image.maps, 1);
    if (image.kind == TILE_IMAGE_EMULATOR) {
        buf_printf(info->out, "    emulator of %s\n", target);
    } else {
        buf_printf(info->out, "    %s: %s of %llu bytes, needs a driver of ", target,
                   image.kind == TILE_IMAGE_PTX ? "PTX" : "cubin", (unsigned long long)image.size);
        print_driver(info, &image);
        buf_char(info->out, '\n');
    }
    for (uint32_t i = 0; i < launches; i++)
        if (!print_launch(info, &image, i)) return false;
    return true;
}

static bool print_assumptions(const Info *info, const uint32_t *multiples)
{
    const char *separator = "  where ";
    for (uint32_t i = 0; multiples && i < info->kernel.parameter_count; i++) {
        uint32_t multiple;
        tile_parameter parameter;
        if (!read_item(info, multiples, i, &multiple, sizeof multiple) ||
            !read_item(info, info->kernel.parameters, i, &parameter, sizeof parameter))
            return false;
        if (multiple <= 1) continue;
        buf_printf(info->out, "%s%s is a multiple of %u", separator, text_at(info, parameter.name),
                   multiple);
        separator = ", ";
    }
    buf_text(info->out, *separator == ',' ? ":\n" : "  for all arguments:\n");
    return true;
}

static bool print_variant(const Info *info, const tile_specialisation *specialisation,
                          uint64_t index)
{
    tile_variant variant;
    if (!read_item(info, specialisation->variants, index, &variant, sizeof variant) ||
        !print_assumptions(info, variant.multiples))
        return false;
    for (uint64_t i = 0; i < variant.image_count; i++)
        if (!print_image(info, &variant, i, specialisation->launch_count)) return false;
    return true;
}

/* Whether the parameter is an element type, whose key is then a dtype_code. */
static bool is_dtype(const Info *info, uint32_t index, const tile_parameter *parameter)
{
    if (strcmp(text_at(info, parameter->type), "dtype") == 0) return true;
    for (uint32_t i = 0; i < info->kernel.tensor_count; i++) {
        tile_tensor tensor;
        if (!read_item(info, info->kernel.tensors, i, &tensor, sizeof tensor)) return false;
        if (tensor.dtype_key == index) return true;
    }
    return false;
}

static void print_key(const Info *info, uint32_t index, const tile_parameter *parameter,
                      int64_t key)
{
    double number;
    memcpy(&number, &key, sizeof number);
    const char *text = NULL;
    if (parameter->kind == TILE_PARAMETER_KEY_TEXT)
        text = text_at(info, (const char *)(uintptr_t)key);
    const char *dtype = is_dtype(info, index, parameter) ? dtype_code_name(key) : NULL;
    if (text)
        buf_quoted(info->out, text, strlen(text));
    else if (parameter->kind == TILE_PARAMETER_KEY_FLOAT)
        buf_float(info->out, number);
    else if (dtype)
        buf_text(info->out, dtype);
    else
        buf_printf(info->out, "%lld", (long long)key);
}

static bool print_keys(const Info *info, const int64_t *keys)
{
    const char *separator = "  with ";
    uint64_t at = 0;
    for (uint32_t i = 0; i < info->kernel.parameter_count; i++) {
        tile_parameter parameter;
        int64_t key;
        if (!read_item(info, info->kernel.parameters, i, &parameter, sizeof parameter))
            return false;
        if (parameter.kind < TILE_PARAMETER_KEY) continue;
        if (!read_item(info, keys, at++, &key, sizeof key)) return false;
        buf_printf(info->out, "%s%s = ", separator, text_at(info, parameter.name));
        print_key(info, i, &parameter, key);
        separator = ", ";
    }
    if (at) buf_text(info->out, ":\n");
    return true;
}

static bool print_specialisation(const Info *info, uint32_t index)
{
    tile_specialisation specialisation;
    if (!read_item(info, info->kernel.specialisations, index, &specialisation,
                   sizeof specialisation) ||
        !print_keys(info, specialisation.keys))
        return false;
    check_range(info, (uint64_t)(uintptr_t)specialisation.host, 1);
    if (specialisation.configuration)
        buf_printf(info->out, "  configuration %s:\n", text_at(info, specialisation.configuration));
    for (uint32_t i = 0; i < specialisation.variant_count; i++)
        if (!print_variant(info, &specialisation, i)) return false;
    return true;
}

/* "[1024, N$, K$dyn]": what is no number is a parameter, of the specialisation or of the call. */
static bool print_extents(const Info *info, const int64_t *extents, uint32_t rank)
{
    for (uint32_t i = 0; i < rank; i++) {
        int64_t extent;
        tile_parameter parameter;
        if (!read_item(info, extents, i, &extent, sizeof extent)) return false;
        const uint64_t k = (uint64_t)extent - (uint64_t)TILE_SYMBOL(0);
        buf_text(info->out, i ? ", " : " [");
        if (k >= info->kernel.parameter_count)
            buf_printf(info->out, "%lld", (long long)extent);
        else if (read_item(info, info->kernel.parameters, k, &parameter, sizeof parameter))
            buf_printf(info->out, "%s$%s", text_at(info, parameter.name),
                       parameter.kind >= TILE_PARAMETER_KEY ? "" : "dyn");
        else
            return false;
    }
    buf_text(info->out, rank ? "]" : " []");
    return true;
}

/* How tensors become parameters: a line each. */
static bool print_tensors(const Info *info)
{
    for (uint32_t i = 0; i < info->kernel.tensor_count; i++) {
        tile_tensor tensor;
        if (!read_item(info, info->kernel.tensors, i, &tensor, sizeof tensor)) return false;
        buf_printf(info->out, "  %s %s", tensor.is_result ? "returns" : "tensor",
                   text_at(info, tensor.name));
        if (tensor.is_result)
            buf_printf(info->out, " of %u dimension%s", tensor.ndim, tensor.ndim == 1 ? "" : "s");
        else if (!print_extents(info, tensor.shape, tensor.ndim))
            return false;
        if (tensor.strides) buf_text(info->out, ", strides");
        if (tensor.strides && !print_extents(info, tensor.strides, tensor.ndim)) return false;
        buf_char(info->out, '\n');
    }
    return true;
}

static bool print_parameters(const Info *info)
{
    for (uint32_t i = 0; i < info->kernel.parameter_count; i++) {
        tile_parameter parameter;
        if (!read_item(info, info->kernel.parameters, i, &parameter, sizeof parameter) ||
            parameter.kind > TILE_PARAMETER_KEY_FIXED)
            return false;
        const char *type = parameter.kind == TILE_PARAMETER_KEY_FIXED ? "fixed"
                           : parameter.kind >= TILE_PARAMETER_KEY     ? "key"
                                                                  : text_at(info, parameter.type);
        buf_printf(info->out, "%s%s: %s%s", i ? ", " : "", text_at(info, parameter.name),
                   parameter.kind == TILE_PARAMETER_POINTER ? "~" : "", type);
    }
    return true;
}

/* What a call goes by, and nothing is printed of. */
static void check_kernel(const Info *info)
{
    const tile_kernel *kernel = &info->kernel;
    check_range(info, address(kernel->name), 1);
    check_range(info, address(kernel->plain_name), 1);
    check_range(info, address(kernel->state), sizeof *kernel->state);
    if (kernel->later) check_range(info, address(kernel->later), sizeof *kernel->later);
    if (kernel->choice_count > UINT32_MAX / sizeof *kernel->choices)
        *info->is_broken = true;
    else if (kernel->choice_count)
        check_range(info, address(kernel->choices), kernel->choice_count * sizeof *kernel->choices);
}

static bool print_kernel(Info *info, const ObjectSymbol *symbol)
{
    const size_t known = sizeof info->kernel, size = symbol->size < known ? symbol->size : known;
    if (!view_read(info->view, symbol->address, &info->kernel, size)) return false;
    buf_printf(info->out, "%s(", text_at(info, info->kernel.name));
    if (info->kernel.abi_version != TILE_ABI_VERSION) {
        buf_printf(info->out,
                   "...): ABI version %u, of which this tilec, of version %u, knows "
                   "nothing\n",
                   info->kernel.abi_version, TILE_ABI_VERSION);
        return true;
    }
    check_kernel(info);
    if (!print_parameters(info)) return false;
    buf_printf(info->out, "): %u specialisation%s, %sABI version %u\n",
               info->kernel.specialisation_count, info->kernel.specialisation_count == 1 ? "" : "s",
               info->kernel.source ? "with its source, " : "", info->kernel.abi_version);
    if (!print_tensors(info)) return false;
    for (uint32_t i = 0; i < info->kernel.specialisation_count; i++)
        if (!print_specialisation(info, i)) return false;
    return true;
}

static bool is_kernel_symbol(const ObjectSymbol *symbol)
{
    static const char suffix[] = "_kernel";
    size_t length = strlen(symbol->name);
    return symbol->size > offsetof(tile_kernel, abi_version) && length >= sizeof suffix &&
           strcmp(symbol->name + length - (sizeof suffix - 1), suffix) == 0;
}

const char *view_print(const ObjectView *view, Buf *out)
{
    size_t left = TABLE_BYTES + 2 * view_size(view);
    bool is_broken = false;
    Info info = {.view = view, .out = out, .left = &left, .is_broken = &is_broken};
    ObjectSymbol symbol;
    int kernels = 0;
    for (size_t i = 0; view_symbol(view, i, &symbol); i++) {
        if (!is_kernel_symbol(&symbol)) continue;
        kernels++;
        if (!print_kernel(&info, &symbol) || is_broken) return "its tables are broken";
    }
    return kernels ? NULL : "it holds no kernels";
}

const char *view_fault(const ObjectView *view)
{
    Buf text = {0};
    const char *fault = view_print(view, &text);
    buf_free(&text);
    return fault;
}
