/* python.c: a module of Python for the kernels of an object: what the package tilec makes of the
 * tables in a library that the object is linked into. */
#include "emit/emit.h"

static void print_names(const Kernel *kernel, Buf *out)
{
    EntryArgument *arguments =
        arena_new_array(kernel->arena, EntryArgument, kernel->parameter_count + 1);
    const int count = entry_arguments(kernel, arguments);
    const char *separator = "";
    for (int i = 0; i < count; i++) {
        if (arguments[i].tensor && arguments[i].tensor->is_result) continue;
        buf_printf(out, "%s%s", separator, arguments[i].parameter->name);
        separator = ", ";
    }
}

void emit_python(const ExportImages *exports, int count, const char *library, Buf *out)
{
    buf_printf(
        out,
        "\"\"\"Kernels that tilec compiled: %s, which their object is linked into, lies "
        "beside this file.\"\"\"\n\nimport tilec\n\n_library = tilec.Library(__file__, \"%s\")\n",
        library, library);
    for (int i = 0; i < count; i++) {
        buf_printf(out, "%s = _library.kernel(\"%s\", \"", exports[i].name, exports[i].name);
        print_names(exports[i].specialisations[0].kernel, out);
        buf_text(out, "\")\n");
    }
}
