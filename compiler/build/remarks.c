/* remarks.c: what is said of a kernel's code: what was made of it, and why no more (-Rperf), and
 * where it spills. For remarks the passes run once more, as a build that comes from the cache runs
 * none. What is the same for several architectures, variants and specialisations is said once. */
#include "build/units.h"
#include "target/cost.h"

#include <string.h>

typedef struct Said {
    Span span;
    const char *text;
    VEC(const char *) labels; /* for which it holds */
} Said;

typedef struct Remarks {
    Arena *arena; /* the session's */
    Session *session;
    VEC(Said) said;
    VEC(const char *) labels; /* all of them */
} Remarks;

static bool is_same(const Said *said, const Remark *remark)
{
    return said->span.source == remark->span.source && said->span.begin == remark->span.begin &&
           strcmp(said->text, remark->text) == 0;
}

static Said *said_of(Remarks *remarks, const Remark *remark)
{
    for (size_t i = 0; i < remarks->said.count; i++)
        if (is_same(&remarks->said.data[i], remark)) return &remarks->said.data[i];
    Said said = {.span = remark->span,
                 .text = arena_copy_text(remarks->arena, remark->text, strlen(remark->text))};
    vec_push(remarks->arena, &remarks->said, said);
    return &remarks->said.data[remarks->said.count - 1];
}

static void add_label(Remarks *remarks, Said *said, const char *label)
{
    for (size_t i = 0; i < said->labels.count; i++)
        if (said->labels.data[i] == label) return;
    vec_push(remarks->arena, &said->labels, label);
}

/* The kernel's own, the latest first: they are added in order. */
static void add_remarks(Remarks *remarks, const Remark *remark, const char *label)
{
    if (!remark) return;
    add_remarks(remarks, remark->next, label);
    add_label(remarks, said_of(remarks, remark), label);
}

/* ---- one image ---- */

/* Of as many threads as a block has. */
static int registers_of_thread(const ImageEntry *entry, const Target *target)
{
    enum { GRANULE = 8 };
    const int threads = entry->warps * WARP_SIZE;
    const int shared_out = target->registers / (threads > 0 ? threads : 1) / GRANULE * GRANULE;
    return shared_out < target->registers_per_thread ? shared_out : target->registers_per_thread;
}

/* By which power of two a thread's values are to be fewer: addresses and the like take registers,
 * too. */
static int parts_of(const Kernel *kernel, int registers)
{
    int parts = 1;
    const int most = registers * COST_HELD_PERCENT / 100;
    while (kernel->registers_held > most * parts) parts *= 2;
    return parts;
}

static void remark_what_fits(Kernel *kernel, const ImageEntry *entry, const Target *target)
{
    const int registers = registers_of_thread(entry, target);
    const int parts = parts_of(kernel, registers), warps = entry->warps * parts;
    const int threads = warps * WARP_SIZE;
    const bool fits = threads <= target->threads_per_block &&
                      kernel->registers_held / parts * threads <= target->registers;
    Buf text = {0};
    if (parts == 1) return;
    buf_printf(&text,
               "a thread's values fill %d registers at a time, and it has %d for them and for "
               "addresses; what would fit: tiles of 1/%d of the elements",
               kernel->registers_held, registers, parts);
    if (fits) buf_printf(&text, ", or %d warps", warps);
    kernel_remark(kernel, kernel->span, "%s", text.data);
    buf_free(&text);
}

static void remark_entries(Kernel *kernel, const Image *image)
{
    for (int i = 0; i < image->entry_count; i++) {
        const ImageEntry *entry = &image->entries[i];
        Buf text = {0};
        buf_printf(&text, "%d warps and %d bytes of shared memory a block", entry->warps,
                   entry->shared_bytes);
        if (entry->registers)
            buf_printf(&text, ", %d registers a thread, %d bytes of spills", entry->registers,
                       entry->spill_bytes);
        if (entry->serialised) buf_text(&text, ", wgmma instructions wait for each other");
        kernel_remark(kernel, kernel->span, "%s", text.data);
        buf_free(&text);
        if (entry->spill_bytes) remark_what_fits(kernel, entry, image->target);
    }
}

static void look_at(Remarks *remarks, const Kernel *typed, const int64_t *multiples,
                    const Image *image, const char *label)
{
    const PassOptions passes = {0};
    Kernel *kernel = kernel_clone(typed);
    kernel->wants_remarks = true;
    for (int i = 0; multiples && i < kernel->parameter_count; i++)
        if (kernel->parameters[i].multiple < multiples[i])
            kernel->parameters[i].multiple = multiples[i];
    const DiagMute mute = diag_mute(remarks->session->diags); /* it was all said before */
    if (passes_run(kernel, image->target, &passes)) {
        remark_entries(kernel, image);
        add_remarks(remarks, kernel->remarks, label);
    }
    diag_unmute(remarks->session->diags, mute);
    kernel_free(kernel);
}

/* "sm_90a", or which of its variants: the first of several assumes that arguments are aligned, the
 * last nothing. */
static const char *label_of(Remarks *remarks, const Image *image, int variant, int variants)
{
    const char *name = intern_printf(remarks->session->names, "%s%s", image->target->name,
                                     variants == 1             ? ""
                                     : variant == 0            ? ", aligned"
                                     : variant == variants - 1 ? ", any arguments"
                                                               : ", aligned in part");
    for (size_t i = 0; i < remarks->labels.count; i++)
        if (remarks->labels.data[i] == name) return name;
    vec_push(remarks->arena, &remarks->labels, name);
    return name;
}

/* The aligned variant was lowered with all that it may assume; what it says it assumes is less, as
 * much as its code needs. */
static void look_at_unit(Remarks *remarks, const Unit *unit)
{
    const SpecialisationImages *images = unit->images;
    for (int i = 0; i < images->variant_count; i++) {
        const int64_t *multiples = i == images->variant_count - 1 ? NULL
                                   : i == 0 ? variant_multiples(remarks->arena, unit->typed)
                                            : images->variants[i].multiples;
        for (int j = 0; j < images->variants[i].image_count; j++) {
            const Image *image = &images->variants[i].images[j];
            if (image->kind == IMAGE_EMULATOR) continue;
            look_at(remarks, unit->typed, multiples, image,
                    label_of(remarks, image, i, images->variant_count));
        }
    }
}

/* ---- all ---- */

static void report(Remarks *remarks, const Said *said)
{
    Buf text = {0};
    buf_text(&text, said->text);
    for (size_t i = 0; said->labels.count < remarks->labels.count && i < said->labels.count; i++)
        buf_printf(&text, "%s%s", i ? "; " : " [", said->labels.data[i]);
    if (said->labels.count < remarks->labels.count) buf_char(&text, ']');
    diag_report(remarks->session->diags, DIAG_performance, said->span, text.data);
    buf_free(&text);
}

void report_performance(const Stages *stages)
{
    Remarks remarks = {.arena = stages->session->arena, .session = stages->session};
    for (size_t i = 0; i < stages->units.count; i++) look_at_unit(&remarks, &stages->units.data[i]);
    for (size_t i = 0; i < remarks.said.count; i++) report(&remarks, &remarks.said.data[i]);
}

/* ---- spills ---- */

typedef struct Spill { /* the places of one export where registers go to memory */
    Session *session;
    const Kernel *kernel;
    int most;
    Buf notes; /* NUL-separated */
} Spill;

static void look_at_image(const Image *image, void *context)
{
    Spill *spill = context;
    for (int i = 0; i < image->entry_count; i++) {
        const ImageEntry *entry = &image->entries[i];
        if (!entry->spill_bytes) continue;
        if (entry->spill_bytes > spill->most) spill->most = entry->spill_bytes;
        buf_printf(&spill->notes, "%s on %s: %d registers, %d bytes of spills", entry->name,
                   image->target->name, entry->registers, entry->spill_bytes);
        buf_char(&spill->notes, '\0');
    }
}

static void report_spill(const Spill *spill)
{
    if (!spill->most) return;
    diag_report(spill->session->diags, DIAG_spills, spill->kernel->span, spill->kernel->export_name,
                spill->most);
    for (size_t at = 0; at < spill->notes.length; at += strlen(spill->notes.data + at) + 1)
        diag_note(spill->session->diags, (Span){0}, "%s", spill->notes.data + at);
}

void warn_of_spills(const Stages *stages)
{
    const Build *build = stages->build;
    for (int i = 0; i < build->export_count; i++) {
        const ExportImages *export = &build->exports[i];
        Spill spill = {.session = stages->session, .kernel = export->specialisations[0].kernel};
        export_each_image(export, look_at_image, &spill);
        report_spill(&spill);
        buf_free(&spill.notes);
    }
}
