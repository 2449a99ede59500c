/* header.c: the C header: one typed entry a kernel, with what it needs and what it was built for.
 */
#include "emit/emit.h"

#include <ctype.h>
#include <string.h>

static const char *c_type(const Parameter *parameter)
{
    static const char *const names[DTYPE_COUNT] = {
        [DTYPE_b1] = "bool",        [DTYPE_i8] = "int8_t",      [DTYPE_i16] = "int16_t",
        [DTYPE_i32] = "int32_t",    [DTYPE_i64] = "int64_t",    [DTYPE_u8] = "uint8_t",
        [DTYPE_u16] = "uint16_t",   [DTYPE_u32] = "uint32_t",   [DTYPE_u64] = "uint64_t",
        [DTYPE_f16] = "uint16_t",   [DTYPE_bf16] = "uint16_t",  [DTYPE_tf32] = "float",
        [DTYPE_f32] = "float",      [DTYPE_f64] = "double",     [DTYPE_f8e4m3] = "uint8_t",
        [DTYPE_f8e5m2] = "uint8_t", [DTYPE_i1] = "int8_t",      [DTYPE_i2] = "int8_t",
        [DTYPE_i4] = "int8_t",      [DTYPE_u1] = "uint8_t",     [DTYPE_u2] = "uint8_t",
        [DTYPE_u4] = "uint8_t",     [DTYPE_f4e2m1] = "uint8_t", [DTYPE_f8e8m0] = "uint8_t"};
    const DType dtype = parameter->value->type->dtype;
    if (parameter->text) return "const char *";
    return parameter->is_key && !dtype_is_float(dtype) ? "int64_t" : names[dtype];
}

bool c_keeps_name(const char *name)
{
    static const char words[] =
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char "
        "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
        "const_cast consteval constexpr constinit continue decltype default delete do "
        "double dynamic_cast else enum explicit export extern false float for friend goto "
        "if inline int long main mutable namespace new noexcept not not_eq nullptr "
        "operator or or_eq private protected public register reinterpret_cast requires "
        "restrict return short signed sizeof static static_assert static_cast struct "
        "switch template this thread_local throw true try typedef typeid typename typeof "
        "typeof_unqual union unsigned using virtual void volatile wchar_t while xor "
        "xor_eq";
    const size_t length = strlen(name);
    for (const char *at = words; *at; at += strspn(at, " ")) {
        const size_t word = strcspn(at, " ");
        if (word == length && memcmp(at, name, length) == 0) return true;
        at += word;
    }
    return false;
}

/* Of an argument: what would not do in a call of `function` gets an underscore. */
static const char *c_name(Arena *arena, const char *name, const char *function)
{
    const bool is_taken =
        strcmp(name, "stream") == 0 || strcmp(name, "out") == 0 || strcmp(name, function) == 0;
    return is_taken || c_keeps_name(name) ? arena_printf(arena, "%s_", name) : name;
}

/* Of the file's name and the first export's: files of one name in several folders are common. */
static void print_guard(const char *file, const char *first, Buf *out)
{
    const char *slash = strrchr(file, '/');
    buf_text(out, "TILE_GENERATED_");
    for (const char *at = slash ? slash + 1 : file; *at; at++)
        buf_char(out, isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_');
    buf_printf(out, "_%s", first);
}

static void print_argument(const Kernel *kernel, const EntryArgument *argument,
                           const char *function, Buf *out)
{
    const Parameter *parameter = argument->parameter;
    const char *name = c_name(kernel->arena, parameter->name, function);
    if (argument->tensor)
        buf_printf(out, "%sDLTensor *%s", argument->tensor->is_result ? "" : "const ", name);
    else if (parameter->value->type->kind == TYPE_POINTER)
        buf_printf(out, "%svoid *%s", parameter->is_written ? "" : "const ", name);
    else
        buf_printf(out, "%s%s%s", c_type(parameter), parameter->text ? "" : " ", name);
}

/* Between `first`, unless it is empty, and `last`. */
static void print_arguments(const Kernel *kernel, const char *first, const char *last, Buf *out)
{
    EntryArgument *arguments =
        arena_new_array(kernel->arena, EntryArgument, kernel->parameter_count + 1);
    int count = entry_arguments(kernel, arguments);
    const char *separator = *first ? ", " : "";
    buf_text(out, first);
    for (int i = 0; i < count; i++) {
        buf_text(out, separator);
        print_argument(kernel, &arguments[i], "", out);
        separator = ", ";
    }
    if (*last) buf_printf(out, "%s%s", separator, last);
}

static const char *access_text(const Parameter *parameter)
{
    return !parameter->is_written ? "read" : parameter->is_read ? "read and written" : "written";
}

static void print_extents(const Kernel *kernel, const Extent *extents, int rank, Buf *out)
{
    buf_char(out, '[');
    for (int i = 0; i < rank; i++) {
        const Parameter *parameter = &kernel->parameters[extents[i].parameter];
        if (i) buf_text(out, ", ");
        if (extents[i].kind == EXTENT_LITERAL || parameter->is_key)
            buf_printf(
                out, "%lld",
                (long long)(extents[i].kind == EXTENT_LITERAL ? extents[i].value : parameter->key));
        else
            buf_text(out, parameter->name);
    }
    buf_char(out, ']');
}

/* "f16 [1024, K], strides [1024, 1]": what a specialisation takes. */
static void print_tensor(const Kernel *kernel, const Tensor *tensor, Buf *out)
{
    buf_printf(out, "%s ", dtype_name(tensor->dtype));
    print_extents(kernel, tensor->shape, tensor->rank, out);
    if (!tensor->is_strided) return;
    buf_text(out, ", strides ");
    print_extents(kernel, tensor->strides, tensor->rank, out);
}

static bool has_open_tensors(const Kernel *kernel)
{
    for (int i = 0; i < kernel->parameter_count; i++)
        if (kernel->parameters[i].is_key && kernel_tensor_has(kernel, i)) return true;
    return false;
}

/* Whether a tensor's line tells the key. */
static bool is_told(const Kernel *kernel, int parameter)
{
    bool told = kernel_tensor_has(kernel, parameter);
    for (int i = 0; i < kernel->tensor_count; i++)
        told &= !(kernel->tensors[i].is_result && kernel->tensors[i].dtype_key == parameter);
    return told;
}

/* Within a comment. */
static void print_key(const Parameter *parameter, Buf *out)
{
    Buf text = {0};
    key_print(parameter, &text);
    for (size_t i = 0; i < text.length; i++) {
        buf_char(out, text.data[i]);
        if (text.data[i] == '*' && i + 1 < text.length && text.data[i + 1] == '/')
            buf_char(out, '\\');
    }
    buf_free(&text);
}

/* What tells a specialisation from the others: keys, and tensors some of whose numbers are keys. */
static void print_keys(const Kernel *kernel, Buf *out)
{
    const char *separator = "";
    for (int i = 0; has_open_tensors(kernel) && i < kernel->tensor_count; i++) {
        if (kernel->tensors[i].is_result) continue;
        buf_printf(out, "%s%s: ", separator, kernel->tensors[i].name);
        print_tensor(kernel, &kernel->tensors[i], out);
        separator = "; ";
    }
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        if (!parameter->is_key || kernel_key_is_fixed(kernel, i) || is_told(kernel, i)) continue;
        buf_printf(out, "%s%s = ", separator, parameter->name);
        print_key(parameter, out);
        separator = kernel->tensor_count ? "; " : ", ";
    }
}

static bool has_keys(const Kernel *kernel)
{
    for (int i = 0; i < kernel->parameter_count; i++)
        if (kernel->parameters[i].is_key && !kernel_key_is_fixed(kernel, i)) return true;
    return false;
}

static void print_result(const Tensor *tensor, Buf *out)
{
    buf_printf(out, "%s of %d dimension%s, returned", dtype_name(tensor->dtype), tensor->rank,
               tensor->rank == 1 ? "" : "s");
}

static void print_tensors(const Kernel *kernel, Buf *out)
{
    for (int i = 0; i < kernel->tensor_count; i++) {
        const Tensor *tensor = &kernel->tensors[i];
        buf_printf(out, " * %s: ", c_name(kernel->arena, tensor->name, ""));
        if (tensor->is_result)
            print_result(tensor, out);
        else if (has_open_tensors(kernel))
            buf_printf(out, "%d dimension%s, %s", tensor->rank, tensor->rank == 1 ? "" : "s",
                       access_text(&kernel->parameters[tensor->pointer]));
        else {
            print_tensor(kernel, tensor, out);
            buf_printf(out, ", %s", access_text(&kernel->parameters[tensor->pointer]));
        }
        buf_char(out, '\n');
    }
}

static void print_pointers(const Kernel *kernel, Buf *out)
{
    for (int i = 0; i < kernel_argument_count(kernel); i++) {
        const Parameter *parameter = &kernel->parameters[i];
        if (parameter->value->type->kind != TYPE_POINTER || kernel_tensor_has(kernel, i)) continue;
        buf_printf(out, " * %s: %s in device memory, %s\n",
                   c_name(kernel->arena, parameter->name, ""),
                   dtype_name(parameter->value->type->dtype), access_text(parameter));
    }
}

static void print_comment(const ExportImages *export, Buf *out)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    const VariantImages *variant = &export->specialisations[0].variants[0];
    buf_printf(out, "/* %s, built for", export->name);
    for (int i = 0; i < variant->image_count; i++)
        buf_printf(out, "%s %s%s", i ? "," : "",
                   variant->images[i].kind == IMAGE_EMULATOR ? "the emulator of " : "",
                   variant->images[i].target->name);
    buf_text(out, ".\n");
    print_tensors(kernel, out);
    print_pointers(kernel, out);
    if (has_keys(kernel)) {
        buf_text(out, " * Compiled for these keys; others give TILE_ERROR_NO_SPECIALISATION:\n");
        for (int i = 0; i < export->specialisation_count; i++) {
            buf_text(out, " *   ");
            print_keys(export->specialisations[i].kernel, out);
            buf_char(out, '\n');
        }
    }
    buf_text(out, " * Asynchronous: the work is done in stream order. */\n");
}

static void print_entries(const ExportImages *export, Buf *out)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    print_comment(export, out);
    buf_printf(out, "tile_status %s(", export->name);
    print_arguments(kernel, "tile_stream stream", "", out);
    buf_printf(out,
               ");\n/* Loads the code for a device now: before graph capture, say. */\n"
               "tile_status %s_prepare(int device);\n",
               export->name);
    if (has_results(kernel)) {
        buf_printf(out,
                   "/* Fills in what is returned, but for its data; shape points to room. */\n"
                   "tile_status %s_shapes(",
                   export->name);
        print_arguments(kernel, "", "", out);
        buf_text(out, ");\n");
    }
    buf_printf(out,
               "/* What the call would do: grid, warps, shared memory, variant. */\n"
               "tile_status %s_plan(",
               export->name);
    print_arguments(kernel, "", "tile_plan *out", out);
    buf_printf(out, ");\nextern const tile_kernel %s_kernel;\n", export->name);
}

/* ---- the entry without keys ---- */

/* A string literal of C and C++; octal, as hexadecimal escapes end nowhere. */
static void print_literal_text(const char *text, Buf *out)
{
    buf_char(out, '"');
    for (; *text; text++) {
        const unsigned char byte = (unsigned char)*text;
        if (byte < ' ' || byte >= 127)
            buf_printf(out, "\\%03o", byte);
        else
            buf_printf(out, strchr("\"\\?", byte) ? "\\%c" : "%c", byte);
    }
    buf_char(out, '"');
}

static void print_literal(const Parameter *parameter, Buf *out)
{
    double number;
    memcpy(&number, &parameter->key, sizeof number);
    if (parameter->text)
        print_literal_text(parameter->text, out);
    else if (dtype_is_float(parameter->value->type->dtype))
        buf_float(out, number);
    else if (parameter->key == INT64_MIN)
        buf_text(out, "INT64_MIN");
    else
        buf_printf(out, "%lld", (long long)parameter->key);
}

static void print_call(const ExportImages *export, const EntryArgument *arguments, int count,
                       Buf *out)
{
    Arena *arena = export->specialisations[0].kernel->arena;
    for (int i = 0; i < count; i++) {
        buf_text(out, ", ");
        if (entry_argument_is_key(&arguments[i]))
            print_literal(arguments[i].parameter, out);
        else
            buf_text(out, c_name(arena, arguments[i].parameter->name, export->name));
    }
}

/* In the header alone: whoever adds a specialisation for other keys has the calls refused. */
static void print_fixed(const ExportImages *export, Buf *out)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    EntryArgument *arguments =
        arena_new_array(kernel->arena, EntryArgument, kernel->parameter_count + 1);
    const int count = entry_arguments(kernel, arguments);
    buf_printf(out,
               "/* The same for the only keys that there are. */\n"
               "static inline tile_status %s_fixed(tile_stream stream",
               export->name);
    for (int i = 0; i < count; i++) {
        if (entry_argument_is_key(&arguments[i])) continue;
        buf_text(out, ", ");
        print_argument(kernel, &arguments[i], export->name, out);
    }
    buf_printf(out, ")\n{\n    return %s(stream", export->name);
    print_call(export, arguments, count, out);
    buf_text(out, ");\n}\n");
}

/* ---- the file ---- */

static const Kernel **kernels_of(const ExportImages *export)
{
    const SpecialisationImages *items = export->specialisations;
    const Kernel **kernels =
        arena_new_array(items[0].kernel->arena, const Kernel *, export->specialisation_count);
    for (int i = 0; i < export->specialisation_count; i++) kernels[i] = items[i].kernel;
    return kernels;
}

static void print_export(const ExportImages *export, Buf *out)
{
    print_entries(export, out);
    if (has_fixed_entry(kernels_of(export), export->specialisation_count)) print_fixed(export, out);
    buf_char(out, '\n');
}

static bool any_tensors(const ExportImages *exports, int count)
{
    for (int i = 0; i < count; i++)
        if (exports[i].specialisations[0].kernel->tensor_count) return true;
    return false;
}

void emit_header(const ExportImages *exports, int count, const char *guard_from, Buf *out)
{
    const char *first = count ? exports[0].name : "";
    buf_text(out, "/* Generated by tilec. */\n#ifndef ");
    print_guard(guard_from, first, out);
    buf_text(out, "\n#define ");
    print_guard(guard_from, first, out);
    buf_text(out, "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n");
    buf_text(out, any_tensors(exports, count) ? "#include <tile/dlpack.h>\n" : "");
    buf_text(out, "#include <tile/tile.h>\n\n"
                  "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (int i = 0; i < count; i++) print_export(&exports[i], out);
    buf_text(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
