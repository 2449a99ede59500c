/* ir_exports.c: kernels that were written down as IR: those of one name are specialisations of one
 * export. */
#include "build/build.h"

#include <string.h>

bool is_ir_file(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".ir") == 0;
}

/* One entry serves all specialisations of an export. */
static bool same_entry(const Kernel *a, const Kernel *b)
{
    if (kernel_argument_count(a) != kernel_argument_count(b) || a->tensor_count != b->tensor_count)
        return false;
    for (int i = 0; i < kernel_argument_count(a); i++) {
        const Parameter *x = &a->parameters[i], *y = &b->parameters[i];
        if (x->is_key != y->is_key || strcmp(x->name, y->name) != 0 ||
            x->value->type->kind != y->value->type->kind ||
            kernel_tensor_has(a, i) != kernel_tensor_has(b, i))
            return false;
    }
    return true;
}

static Export *find_export(const ExportList *list, Name name)
{
    for (int i = 0; i < list->count; i++)
        if (list->items[i].name == name) return &list->items[i];
    return NULL;
}

static bool add_kernel(Session *session, Kernel *kernel, ExportList *out)
{
    if (!kernel->export_name) kernel->export_name = kernel->name;
    Export *export = find_export(out, kernel->export_name);
    if (!export) {
        export = &out->items[out->count++];
        *export = (Export){.name = kernel->export_name, .span = kernel->span, .lacks_name = true};
    } else if (!same_entry(export->specialisations[0], kernel)) {
        diag_report(session->diags, DIAG_ir_invalid, kernel->span,
                    arena_printf(session->arena, "kernels of the export '%s' take other arguments",
                                 kernel->export_name));
        return false;
    }
    Kernel **larger = arena_new_array(session->arena, Kernel *, export->specialisation_count + 1);
    for (int i = 0; i < export->specialisation_count; i++) larger[i] = export->specialisations[i];
    larger[export->specialisation_count++] = kernel;
    export->specialisations = larger;
    return true;
}

bool read_ir_exports(Session *session, const char *path, KernelList *kernels, ExportList *out)
{
    const Source *source = source_from_file(session, path);
    *out = (ExportList){0};
    *kernels = (KernelList){0};
    if (!source) return false;
    kernels->items = kernel_read(session, source, &kernels->count);
    if (!kernels->items) return false;
    out->items = arena_new_array(session->arena, Export, kernels->count + 1);
    for (int i = 0; i < kernels->count; i++)
        if (!kernel_verify(kernels->items[i]) || !add_kernel(session, kernels->items[i], out))
            return false;
    return true;
}

void free_kernels(KernelList *kernels)
{
    for (int i = 0; i < kernels->count; i++) kernel_free(kernels->items[i]);
    *kernels = (KernelList){0};
}
