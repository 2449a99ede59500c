/* header.c: the C header: one typed entry a kernel, with what it needs and what it was built for.
 */
#include "emit/emit.h"

#include <ctype.h>
#include <string.h>

static const char *c_type(const Parameter *parameter)
{
    static const char *const names[DTYPE_COUNT] = {
        [DTYPE_b1] = "bool",       [DTYPE_i8] = "int8_t",     [DTYPE_i16] = "int16_t",
        [DTYPE_i32] = "int32_t",   [DTYPE_i64] = "int64_t",   [DTYPE_u8] = "uint8_t",
        [DTYPE_u16] = "uint16_t",  [DTYPE_u32] = "uint32_t",  [DTYPE_u64] = "uint64_t",
        [DTYPE_f16] = "uint16_t",  [DTYPE_bf16] = "uint16_t", [DTYPE_tf32] = "float",
        [DTYPE_f32] = "float",     [DTYPE_f64] = "double",    [DTYPE_f8e4m3] = "uint8_t",
        [DTYPE_f8e5m2] = "uint8_t"};
    return parameter->is_key ? "int64_t" : names[parameter->value->type->dtype];
}

/* Names that C or C++ keeps for itself get an underscore. */
static const char *c_name(Arena *arena, const char *name)
{
    static const char *const reserved[] = {
        "auto",     "bool",     "break",   "case",      "char",   "class",    "const",
        "continue", "default",  "delete",  "do",        "double", "else",     "enum",
        "explicit", "export",   "extern",  "false",     "float",  "for",      "friend",
        "goto",     "if",       "inline",  "int",       "long",   "mutable",  "namespace",
        "new",      "operator", "private", "protected", "public", "register", "restrict",
        "return",   "short",    "signed",  "sizeof",    "static", "struct",   "switch",
        "template", "this",     "throw",   "true",      "try",    "typedef",  "typename",
        "union",    "unsigned", "using",   "virtual",   "void",   "volatile", "while",
        "stream",   "out"};
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++)
        if (strcmp(reserved[i], name) == 0) return arena_printf(arena, "%s_", name);
    return name;
}

static void print_guard(const char *file, Buf *out)
{
    const char *slash = strrchr(file, '/');
    buf_text(out, "TILE_GENERATED_");
    for (const char *at = slash ? slash + 1 : file; *at; at++)
        buf_char(out, isalnum((unsigned char)*at) ? (char)toupper((unsigned char)*at) : '_');
}

static void print_parameters(const Kernel *kernel, Buf *out)
{
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        const char *name = c_name(kernel->arena, parameter->name);
        if (i) buf_text(out, ", ");
        if (parameter->value->type->kind == TYPE_POINTER)
            buf_printf(out, "%svoid *%s", parameter->is_written ? "" : "const ", name);
        else
            buf_printf(out, "%s %s", c_type(parameter), name);
    }
}

static void print_keys(const Kernel *kernel, Buf *out)
{
    const char *separator = "";
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        if (!parameter->is_key) continue;
        buf_printf(out, "%s%s = %lld", separator, parameter->name, (long long)parameter->key);
        separator = ", ";
    }
}

static bool has_keys(const Kernel *kernel)
{
    for (int i = 0; i < kernel->parameter_count; i++)
        if (kernel->parameters[i].is_key) return true;
    return false;
}

static void print_pointers(const Kernel *kernel, Buf *out)
{
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Parameter *parameter = &kernel->parameters[i];
        if (parameter->value->type->kind != TYPE_POINTER) continue;
        buf_printf(out, " * %s: %s in device memory, %s\n", c_name(kernel->arena, parameter->name),
                   dtype_name(parameter->value->type->dtype),
                   parameter->is_written ? parameter->is_read ? "read and written" : "written"
                                         : "read");
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

static void print_export(const ExportImages *export, Buf *out)
{
    const Kernel *kernel = export->specialisations[0].kernel;
    const char *comma = kernel->parameter_count ? ", " : "";
    print_comment(export, out);
    buf_printf(out, "tile_status %s(tile_stream stream%s", export->name, comma);
    print_parameters(kernel, out);
    buf_printf(out,
               ");\n/* Loads the code for a device now: before graph capture, say. */\n"
               "tile_status %s_prepare(int device);\n/* What the call would do: grid, warps, "
               "shared memory, variant. */\ntile_status %s_plan(",
               export->name, export->name);
    print_parameters(kernel, out);
    buf_printf(out, "%stile_plan *out);\nextern const tile_kernel %s_kernel;\n\n", comma,
               export->name);
}

void emit_header(const ExportImages *exports, int count, const char *guard_from, Buf *out)
{
    buf_text(out, "/* Generated by tilec. */\n#ifndef ");
    print_guard(guard_from, out);
    buf_text(out, "\n#define ");
    print_guard(guard_from, out);
    buf_text(out, "\n\n#include <stdbool.h>\n#include <stdint.h>\n\n#include <tile/tile.h>\n\n"
                  "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    for (int i = 0; i < count; i++) print_export(&exports[i], out);
    buf_text(out, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
