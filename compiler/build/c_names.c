/* c_names.c: whether C can call what is exported: what the header declares is no word of C or C++,
 * and nothing twice. */
#include "build/build.h"

typedef struct CNames {
    Session *session;
    const char *prefix;
    Map owners; /* Name -> Export that the header declares it for */
} CNames;

static bool take_name(CNames *names, const Export *export, const char *ending)
{
    Arena *arena = names->session->arena;
    Name name = intern_printf(names->session->names, "%s%s%s", names->prefix, export->name, ending);
    const Export *owner = map_get(&names->owners, name);
    map_set(arena, &names->owners, name, (void *)(uintptr_t) export);
    if (c_keeps_name(name))
        diag_report(names->session->diags, DIAG_c_keeps, export->span, name);
    else if (owner)
        diag_report(names->session->diags, DIAG_declared_twice, export->span, name, owner->name,
                    export->name);
    else
        return true;
    return false;
}

bool check_c_names(Session *session, const Options *options, const ExportList *exports)
{
    static const char *const endings[] = {"", "_prepare", "_plan", "_kernel", "_shapes"};
    CNames names = {session, options->prefix ? options->prefix : "", {0}};
    bool fine = true;
    for (int i = 0; i < exports->count; i++) {
        const Export *export = &exports->items[i];
        const Kernel *const *kernels = (const Kernel *const *)export->specialisations;
        const int count = has_results(kernels[0]) ? 5 : 4;
        for (int j = 0; fine && j < count; j++) fine = take_name(&names, export, endings[j]);
        if (fine && has_fixed_entry(kernels, export->specialisation_count))
            fine = take_name(&names, export, "_fixed");
    }
    return fine;
}
