/* plan.c: the units of a build, in the order of its tables, and, when they are made, the tables
 * without those configurations that cannot be built. */
#include "build/units.h"

static size_t count_kernels(const Kernel *first)
{
    size_t count = 0;
    for (; first; first = first->next_configuration) count++;
    return count;
}

static void add_units(Stages *stages, const Kernel *first, ExportImages *images)
{
    for (const Kernel *typed = first; typed; typed = typed->next_configuration) {
        SpecialisationImages *out = &images->specialisations[images->specialisation_count++];
        out->kernel = typed;
        out->host_symbol = intern_printf(stages->session->names, "%s_host", typed->name);
        vec_push(stages->session->arena, &stages->units,
                 ((Unit){.typed = typed, .images = out, .row = first}));
    }
}

static Name exported_name(const Stages *stages, const Export *export)
{
    const char *prefix = stages->options->prefix;
    return intern_printf(stages->session->names, "%s%s", prefix ? prefix : "", export->name);
}

/* NULL: its gradient is not exported. */
static Name gradient_of(const Stages *stages, const ExportList *exports, const Export *export)
{
    const Name name = intern_printf(stages->session->names, "%s_grad", export->name);
    for (int i = 0; i < exports->count; i++)
        if (exports->items[i].is_gradient && exports->items[i].name == name)
            return exported_name(stages, &exports->items[i]);
    return NULL;
}

void plan_units(Stages *stages, const ExportList *exports)
{
    Build *out = stages->build;
    Arena *arena = stages->session->arena;
    out->exports = arena_new_array(arena, ExportImages, exports->count + 1);
    out->export_count = exports->count;
    for (int i = 0; i < exports->count; i++) {
        const Export *export = &exports->items[i];
        ExportImages *images = &out->exports[i];
        size_t count = 0;
        for (int j = 0; j < export->specialisation_count; j++)
            count += count_kernels(export->specialisations[j]);
        images->name = exported_name(stages, export);
        images->is_gradient = export->is_gradient;
        images->gradient = gradient_of(stages, exports, export);
        images->plain_name = export->name;
        images->lacks_name = export->lacks_name;
        images->lacks_language = export->lacks_language;
        images->specialisations = arena_new_array(arena, SpecialisationImages, count + 1);
        for (int j = 0; j < export->specialisation_count; j++)
            add_units(stages, export->specialisations[j], images);
    }
}

/* ---- configurations that cannot be built ---- */

static void tell_of_fault(const Stages *stages, const Unit *unit)
{
    if (!unit->fault) return;
    diag_report(stages->session->diags, DIAG_configuration_left_out,
                unit->fault_at.source ? unit->fault_at : unit->typed->span,
                unit->typed->configuration, unit->fault);
}

/* Takes a row's failed configurations out. False: none is left, reported. */
static bool keep_built(Stages *stages, Unit *row, size_t count, ExportImages *export)
{
    SpecialisationImages *first = &export->specialisations[export->specialisation_count];
    const Unit *failed = NULL;
    int kept = 0;
    for (size_t i = 0; i < count; i++) {
        SpecialisationImages images = *row[i].images;
        row[i].images = arena_new_of(stages->session->arena, SpecialisationImages);
        failed = !failed && row[i].fault ? &row[i] : failed;
        tell_of_fault(stages, &row[i]);
        if (images.variant_count == 0) continue;
        row[i].images = &export->specialisations[export->specialisation_count++];
        *row[i].images = images;
        kept++;
    }
    if (kept && row->typed->configuration) first->configuration_count = kept;
    if (kept) return true;
    if (failed)
        diag_report(stages->session->diags, DIAG_no_configuration, row->typed->span, (int)count,
                    row->typed->export_name, failed->typed->configuration, failed->fault);
    return false;
}

bool keep_built_units(Stages *stages)
{
    const Build *build = stages->build;
    bool fine = true;
    size_t at = 0;
    for (int i = 0; i < build->export_count; i++) {
        ExportImages *export = &build->exports[i];
        const size_t end = at + (size_t) export->specialisation_count;
        export->specialisation_count = 0;
        while (at < end) {
            size_t count = 1;
            Unit *row = &stages->units.data[at];
            while (at + count < end && row[count].row == row->row) count++;
            fine = keep_built(stages, row, count, export) && fine;
            at += count;
        }
    }
    return fine;
}
