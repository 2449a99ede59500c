/* driver.c: the stages in order, once a specialisation, architecture and alignment variant.
 *
 *   source -> tokens -> tree          syntax/   parse_source (by program_new)
 *   tree -> kernels                   eval/     program_export
 *   kernel -> one thread's program    passes/   passes_run
 *   (what follows comes from the cache if it was built before)
 *   thread program -> image           codegen/  image_start, image_finish (ptxas runs meanwhile)
 *   host region -> host function      codegen/  host_function
 *   images -> object, header, ...     emit/ */
#include "driver.h"

#include "base/vec.h"
#include "build_cache.h"
#include "tunings.h"
#include "units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- all of them ---- */

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

static void plan_exports(Stages *stages, const ExportList *exports, Build *out)
{
    Arena *arena = stages->session->arena;
    out->exports = arena_new_array(arena, ExportImages, exports->count + 1);
    out->export_count = exports->count;
    for (int i = 0; i < exports->count; i++) {
        const Export *export = &exports->items[i];
        ExportImages *images = &out->exports[i];
        size_t count = 0;
        for (int j = 0; j < export->specialisation_count; j++)
            count += count_kernels(export->specialisations[j]);
        images->name =
            intern_printf(stages->session->names, "%s%s",
                          stages->options->prefix ? stages->options->prefix : "", export->name);
        images->plain_name = export->name;
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

static bool keep_all_built(Stages *stages, Build *build)
{
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

/* ---- the object ---- */

/* What tells a configuration's code from other code: its images. */
static void hash_code(SpecialisationImages *images)
{
    Buf bytes = {0};
    put_unit(images, true, &bytes);
    const CacheKey key = cache_key(bytes.data, bytes.length);
    memcpy(&images->code, key.bytes, sizeof images->code);
    buf_free(&bytes);
}

/* The host part of each; what its tables say comes from there too. */
static bool make_hosts(Stages *stages, Build *build)
{
    for (int i = 0; i < build->export_count; i++)
        for (int j = 0; j < build->exports[i].specialisation_count; j++) {
            SpecialisationImages *images = &build->exports[i].specialisations[j];
            Kernel *kernel = host_kernel(stages, images->kernel);
            if (!kernel) return false;
            images->kernel = kernel;
        }
    return true;
}

static bool write_hosts(Stages *stages, Build *build)
{
    for (int i = 0; i < build->export_count; i++)
        for (int j = 0; j < build->exports[i].specialisation_count; j++) {
            SpecialisationImages *images = &build->exports[i].specialisations[j];
            Kernel *kernel = (Kernel *)(uintptr_t)images->kernel;
            if (!host_function(stages->codegen, kernel, images->host_symbol)) return false;
            hash_code(images);
        }
    return true;
}

/* What tuning files choose. */
static bool choose(Stages *stages)
{
    for (int i = 0; i < stages->build->export_count; i++)
        tunings_apply(stages->session, stages->tunings, &stages->build->exports[i]);
    return true;
}

/* From kernels to the object. */
static bool generate(Stages *stages, Build *build)
{
    if (!build_units(stages) || !keep_all_built(stages, build) || !make_hosts(stages, build))
        return false;
    choose(stages);
    bool fine = write_hosts(stages, build);
    uint64_t start = os_now_ns();
    fine = fine &&
           emit_object(stages->codegen, stages->session->arena, build->exports, build->export_count,
                       &stages->wish.emit, &build->object, &build->object_size);
    times_add(stages->session->times, "object", start);
    return fine;
}

/* ---- the cache ---- */

/* What shows images or the tools that make them needs them made. */
bool build_is_plain(const Options *options)
{
    return !options->save_temps && !text_in_list(options->emit, "llvm") &&
           !text_in_list(options->emit, "ptx") && !text_in_list(options->emit, "cubin") &&
           !options->assembly;
}

/* The text of a kernel holds its names, keys, tensors and places. Those of places in IR text are
 * not in it, so that text is. */
static void add_unit(const Unit *unit, Buf *out)
{
    const Kernel *kernel = unit->typed;
    Buf text = {0};
    kernel_print(kernel, &text);
    put_text(out, text.data);
    put_text(out, kernel->read_from ? kernel->read_from->path : "");
    put_text(out, kernel->read_from ? kernel->read_from->text : "");
    buf_free(&text);
}

static void add_emit_wish(const EmitWish *wish, Buf *out)
{
    const Carried *carried = wish->carried;
    put_number(out, wish->tables_only);
    for (int i = 0; carried && i < carried->word_count; i++) put_text(out, carried->words[i]);
    for (int i = 0; carried && i < carried->file_count; i++) {
        put_text(out, carried->files[i]->path);
        put_text(out, carried->files[i]->text);
    }
}

static CacheKey build_key(const Stages *stages, const Build *build)
{
    Buf made_from = {0};
    codegen_add_identity(stages->codegen, &made_from);
    put_number(&made_from, stages->wish.first_only);
    put_number(&made_from, stages->wish.general_only);
    add_emit_wish(&stages->wish.emit, &made_from);
    for (size_t i = 0; i < stages->archs->count; i++) {
        put_text(&made_from, stages->archs->items[i].target->name);
        put_text(&made_from, stages->archs->items[i].emulator ? "emulator" : "");
    }
    for (int i = 0; i < build->export_count; i++) {
        put_text(&made_from, build->exports[i].name);
        put_number(&made_from, (uint64_t)build->exports[i].specialisation_count);
    }
    for (size_t i = 0; i < stages->units.count; i++) add_unit(&stages->units.data[i], &made_from);
    tunings_write(stages->tunings, &made_from);
    CacheKey key = cache_key(made_from.data, made_from.length);
    buf_free(&made_from);
    return key;
}

static bool generate_cached(Stages *stages, Cache *cache, Build *build)
{
    uint64_t start = os_now_ns();
    CacheKey key = build_key(stages, build);
    const bool found = restore_build(cache, stages, &key);
    times_add(stages->session->times, "cache", start);
    if (found) return keep_all_built(stages, build) && make_hosts(stages, build) && choose(stages);
    if (!generate(stages, build)) return false;
    start = os_now_ns();
    store_build(cache, stages, &key);
    times_add(stages->session->times, "cache", start);
    return true;
}

void export_each_image(const ExportImages *export, ImageFunction *visit, void *context)
{
    for (int i = 0; i < export->specialisation_count; i++)
        for (int j = 0; j < export->specialisations[i].variant_count; j++)
            for (int k = 0; k < export->specialisations[i].variants[j].image_count; k++)
                visit(&export->specialisations[i].variants[j].images[k], context);
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

static void warn_of_spills(Session *session, const Build *build)
{
    for (int i = 0; i < build->export_count; i++) {
        const ExportImages *export = &build->exports[i];
        Spill spill = {.session = session, .kernel = export->specialisations[0].kernel};
        export_each_image(export, look_at_image, &spill);
        report_spill(&spill);
        buf_free(&spill.notes);
    }
}

void build_free(Build *build)
{
    for (size_t i = 0; i < build->kernels.count; i++) kernel_free(build->kernels.data[i]);
    *build = (Build){0};
}

/* options_parse has seen that these are numbers. */
static uint64_t tool_limit(const Options *options)
{
    return 1000000000ull * (options->timeout ? strtoull(options->timeout, NULL, 10) : 300);
}

static size_t job_count(const Options *options)
{
    if (options->jobs) return strtoul(options->jobs, NULL, 10);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (size_t)processors : 1;
}

static CodegenOptions codegen_options(const Options *options, Cache *cache)
{
    bool no_ptxas = options->ptxas && strcmp(options->ptxas, "none") == 0;
    return (CodegenOptions){.host_triple = options->host,
                            .ptxas = no_ptxas ? "" : options->ptxas,
                            .keep_llvm = options->save_temps || text_in_list(options->emit, "llvm"),
                            .lines = options->lines,
                            .tool_limit_ns = tool_limit(options),
                            .show_tools = options->verbose || options->dry_run,
                            .run_no_tools = options->dry_run,
                            .cache = cache,
                            .optimise = options->optimise ? options->optimise[0] - '0' : 2};
}

static void show(const Buf *buf)
{
    if (buf->length) os_write_file("/dev/stderr", buf->data, buf->length);
}

bool build_exports(Session *session, const Options *options, const ArchList *archs,
                   const ExportList *exports, const BuildWish *wish, Build *out)
{
    *out = (Build){0};
    /* Tools that are to be shown are to be run. */
    Cache *cache = options->verbose || options->dry_run ? NULL : open_cache(session, options);
    const CodegenOptions codegen = codegen_options(options, cache);
    Tunings tunings = {0};
    for (int i = 0; i < options->tune.count; i++)
        if (!tunings_read(session, options->tune.items[i], &tunings)) return false;
    Stages stages = {.session = session,
                     .tunings = &tunings,
                     .options = options,
                     .archs = archs,
                     .codegen = codegen_new(session, &codegen),
                     .codegen_options = codegen,
                     .jobs = job_count(options),
                     .wish = *wish,
                     .build = out};
    if (!stages.codegen) return false;
    stages.passes = (PassOptions){.print_after = options->print_after,
                                  .verify_each = options->verify_each,
                                  .reasons = wish->mutants != NULL,
                                  .dump = &stages.dump};
    plan_exports(&stages, exports, out);
    bool fine = cache && build_is_plain(options) && !wish->mutants
                    ? generate_cached(&stages, cache, out)
                    : generate(&stages, out);
    if (fine) warn_of_spills(session, out);
    if (fine && options->performance) report_performance(&stages);
    show(&stages.dump);
    buf_free(&stages.dump);
    codegen_free(stages.codegen);
    return fine;
}

/* ---- what commands share ---- */

Program *open_source(Session *session, const Options *options, const Source *source,
                     const Carried *carried, Host *host)
{
    const EvalOptions eval = {.stdlib_folder = options->stdlib,
                              .import_paths = options->import_paths.items,
                              .import_path_count = options->import_paths.count,
                              .defines = options->defines.items,
                              .define_count = options->defines.count,
                              .fast_math = options->fast_math,
                              .max_calls =
                                  options->max_calls ? strtoull(options->max_calls, NULL, 10) : 0,
                              .files = carried ? carried->files : NULL,
                              .file_count = carried ? carried->file_count : 0,
                              .host = host};
    uint64_t start = os_now_ns();
    Program *program = program_new(session, source, &eval);
    times_add(session->times, "parse", start);
    return program;
}

Program *open_program(Session *session, const Options *options, Host *host)
{
    const Source *source = source_from_file(session, options->inputs.items[0]);
    return source ? open_source(session, options, source, NULL, host) : NULL;
}

ExitStatus session_status(const Session *session)
{
    /* The first digits of a code tell what kind of fault it is: diag.def. */
    static const struct {
        const char *prefix;
        ExitStatus status;
    } rows[] = {{"E06", EXIT_TOOL}, {"E07", EXIT_USAGE}, {"E08", EXIT_MISMATCH}};
    if (diag_error_count(session->diags) == 0) return EXIT_DONE;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (diag_has_errors_of(session->diags, rows[i].prefix)) return rows[i].status;
    return EXIT_SOURCE;
}

void show_messages(const Session *session, const Options *options)
{
    Buf text = {0};
    bool json = options->diagnostics && strcmp(options->diagnostics, "json") == 0;
    bool colour = !json && isatty(STDERR_FILENO);
    diag_render(session->diags, json ? DIAG_JSON : DIAG_TEXT, colour, &text);
    if (text.length) fwrite(text.data, 1, text.length, stderr);
    buf_free(&text);
}

bool write_output(Session *session, const char *path, const void *bytes, size_t length)
{
    if (os_write_file(path, bytes, length)) return true;
    diag_report(session->diags, DIAG_cannot_write, (Span){0},
                strcmp(path, "-") == 0 ? "standard output" : path, strerror(errno));
    return false;
}
