/* gradients.c: exports that are gradients of kernels: what was staged for them becomes the kernels
 * that are built. */
#include "build/build.h"

#include "passes/grad/gradient.h"

#include <string.h>

/* Of configurations one after another. NULL: reported. */
static Kernel *make_gradient(Session *session, const Kernel *typed, const Target *target,
                             KernelVec *made)
{
    Kernel *first = NULL, **link = &first;
    for (; typed; typed = typed->next_configuration) {
        Kernel *kernel = kernel_gradient(typed, target, false, "");
        if (!kernel) return NULL;
        vec_push(session->arena, made, kernel);
        *link = kernel;
        link = &kernel->next_configuration;
    }
    return first;
}

bool make_gradients(Session *session, const Target *target, ExportList *exports, KernelVec *made)
{
    bool fine = true;
    for (int i = 0; i < exports->count; i++) {
        Export *export = &exports->items[i];
        for (int j = 0; export->is_gradient && j < export->specialisation_count; j++) {
            Kernel *kernel = make_gradient(session, export->specialisations[j], target, made);
            fine &= kernel != NULL;
            if (kernel) export->specialisations[j] = kernel;
        }
    }
    return fine;
}

void free_gradients(KernelVec *made)
{
    for (size_t i = 0; i < made->count; i++) kernel_free(made->data[i]);
}

/* ---- of IR text ---- */

static bool is_wanted(const Options *options, const char *name)
{
    for (int i = 0; i < options->gradients.count; i++)
        if (strcmp(options->gradients.items[i], name) == 0 ||
            strcmp(options->gradients.items[i], "*") == 0)
            return true;
    return false;
}

/* The same kernels under another name. */
static Export staged_again(Session *session, const Export *export, KernelVec *made)
{
    Export again = *export;
    again.name = intern_printf(session->names, "%s_grad", export->name);
    again.is_gradient = true;
    again.specialisations =
        arena_new_array(session->arena, Kernel *, export->specialisation_count + 1);
    for (int i = 0; i < export->specialisation_count; i++) {
        Kernel *copy = kernel_clone(export->specialisations[i]);
        copy->export_name = again.name;
        copy->name = intern_printf(session->names, "%s_grad", copy->name);
        vec_push(session->arena, made, copy);
        again.specialisations[i] = copy;
    }
    return again;
}

void ask_for_gradients(Session *session, const Options *options, ExportList *exports,
                       KernelVec *made)
{
    const int count = exports->count;
    Export *items = arena_new_array(session->arena, Export, 2 * count + 1);
    for (int i = 0; i < count; i++) items[i] = exports->items[i];
    for (int i = 0; i < count; i++)
        if (is_wanted(options, items[i].name))
            items[exports->count++] = staged_again(session, &items[i], made);
    exports->items = items;
}
