/* info.c: tilec info [FILE...]: what is in an object: its kernels with their keys, variants and
 * images, and the driver that each image needs. A source is compiled first; without a file it
 * tells about the architectures. */
#include "command/object_view.h"
#include "driver.h"

#include "tile/tile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Prints and stops at the first thing that is broken. */
typedef struct Info {
    const ObjectView *view;
    const char *path;
    Buf *out;
    tile_kernel kernel;
} Info;

static uint64_t address(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/* The index-th struct of a table; false: broken. */
static bool read_item(const Info *info, const void *table, uint64_t index, void *out, size_t size)
{
    return index < UINT32_MAX && view_read(info->view, address(table) + index * size, out, size);
}

static const char *text_at(const Info *info, const char *pointer)
{
    const char *text = view_text(info->view, address(pointer));
    return text ? text : "?";
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
    const char *found = bytes ? memmem(bytes, image->size, mark, strlen(mark)) : NULL;
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

/* NULL, or what is wrong with the object. */
static const char *print_object(Info *info)
{
    ObjectSymbol symbol;
    int kernels = 0;
    buf_printf(info->out, "%s, for %s:\n", info->path, view_machine(info->view));
    for (size_t i = 0; view_symbol(info->view, i, &symbol); i++) {
        if (!is_kernel_symbol(&symbol)) continue;
        kernels++;
        if (!print_kernel(info, &symbol)) return "its tables are broken";
    }
    return kernels ? NULL : "it holds no kernels";
}

/* ---- objects and sources ---- */

static bool show_object(Session *session, const char *path, const char *bytes, size_t size)
{
    Buf text = {0};
    const char *fault = NULL;
    Info info = {
        .view = view_open(session->arena, bytes, size, &fault), .path = path, .out = &text};
    if (info.view) fault = print_object(&info);
    if (fault)
        diag_report(session->diags, DIAG_not_an_object, (Span){0}, path, fault);
    else
        write_output(session, "-", text.data, text.length);
    buf_free(&text);
    return !fault;
}

static void show_exports(Session *session, const Options *options, const ExportList *exports)
{
    ArchList archs;
    Build build = {0};
    if (!choose_archs(session, options->arch ? options->arch : ARCH_DEFAULT, &archs)) return;
    if (exports->count == 0)
        diag_report(session->diags, DIAG_no_exports, (Span){0});
    else if (build_exports(session, options, &archs, exports, &(BuildWish){0}, &build))
        show_object(session, options->inputs.items[0], build.object, build.object_size);
    build_free(&build);
}

static void show_source(Session *session, const Options *options)
{
    ExportList exports;
    Program *program = open_program(session, options, NULL);
    if (!program) return;
    if (program_export(program, options->exports.items, options->exports.count, &exports))
        show_exports(session, options, &exports);
    program_free(program);
}

static void show_ir(Session *session, const Options *options)
{
    ExportList exports;
    KernelList kernels;
    if (read_ir_exports(session, options->inputs.items[0], &kernels, &exports))
        show_exports(session, options, &exports);
    free_kernels(&kernels);
}

static void show_file(Session *session, const Options *options)
{
    size_t size;
    const char *path = options->inputs.items[0];
    const char *bytes = strcmp(path, "-") == 0 ? "" : os_read_file(session->arena, path, &size);
    if (!bytes)
        diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, strerror(errno));
    else if (*bytes && view_is_elf(bytes, size))
        show_object(session, path, bytes, size);
    else if (is_ir_file(path))
        show_ir(session, options);
    else
        show_source(session, options);
}

/* ---- architectures ---- */

static void print_features(const Target *target, Buf *out)
{
    static const struct {
        TargetFeature feature;
        const char *name;
    } rows[] = {{HAS_MMA, "mma"},           {HAS_LDMATRIX, "ldmatrix"}, {HAS_STMATRIX, "stmatrix"},
                {HAS_CP_ASYNC, "cp.async"}, {HAS_FP8_MMA, "fp8 mma"},   {HAS_F64_MMA, "f64 mma"},
                {HAS_WGMMA, "wgmma"},       {HAS_TMA, "tensor copies"}, {HAS_CLUSTER, "clusters"}};
    const char *separator = "";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!target_has(target, rows[i].feature)) continue;
        buf_printf(out, "%s%s", separator, rows[i].name);
        separator = ", ";
    }
}

static void print_target(const Target *target, Buf *out)
{
    buf_printf(out, "%s: %s\n  %d bytes of shared memory a block, %d registers, PTX %d.%d\n  ",
               target->name, target->description, target->shared_bytes, target->registers,
               target->ptx / 10, target->ptx % 10);
    print_features(target, out);
    buf_char(out, '\n');
}

static void show_targets(Session *session)
{
    Buf text = {0};
    const Target *target;
    for (size_t i = 0; (target = target_at(i)) != NULL; i++) print_target(target, &text);
    buf_text(&text, "native: the first GPU of this machine\n"
                    "emulator[:ARCH]: the program of ARCH (default: the first GPU of the list), "
                    "run and checked on the CPU\n");
    write_output(session, "-", text.data, text.length);
    buf_free(&text);
}

ExitStatus command_info(Session *session, const Options *options)
{
    if (options->inputs.count == 0) show_targets(session);
    for (int i = 0; i < options->inputs.count; i++) {
        Options one = *options;
        one.inputs = (TextList){&options->inputs.items[i], 1};
        show_file(session, &one);
    }
    return session_status(session);
}
