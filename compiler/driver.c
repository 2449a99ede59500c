/* driver.c: the stages in order, once a specialisation, architecture and alignment variant.
 *
 *   source -> tokens -> tree          syntax/   parse_source (by program_new)
 *   tree -> kernels                   eval/     program_export
 *   kernel -> one thread's program    passes/   passes_run
 *   thread program -> image           codegen/  image_start, image_finish (ptxas runs meanwhile)
 *   host region -> host function      codegen/  host_function
 *   images -> object, header, ...     emit/ */
#include "driver.h"

#include "base/vec.h"
#include "passes/passes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    VARIANT_MULTIPLE = 16
}; /* of the aligned variant: bytes of an address, or the value of an integer */

typedef struct Stages { /* what the steps of a build share */
    Session *session;
    const Options *options;
    const ArchList *archs;
    Codegen *codegen;
    PassOptions passes;
    Buf dump;
    VEC(Image *) pending;
    size_t jobs;     /* how many run at a time */
    size_t finished; /* of the pending ones: the first so many */
    Build *build;
} Stages;

/* ---- one specialisation ---- */

static bool is_assumable(const Parameter *parameter)
{
    const Type *type = parameter->value->type;
    return !parameter->is_key && (type->kind == TYPE_POINTER ||
                                  (type->kind == TYPE_SCALAR && dtype_is_integer(type->dtype)));
}

static int64_t *variant_multiples(Arena *arena, const Kernel *kernel)
{
    int64_t *multiples = arena_new_array(arena, int64_t, kernel->parameter_count + 1);
    bool any = false;
    for (int i = 0; i < kernel->parameter_count; i++) {
        multiples[i] = is_assumable(&kernel->parameters[i]) ? VARIANT_MULTIPLE : 1;
        any |= multiples[i] > 1;
    }
    return any ? multiples : NULL;
}

/* What every variant assumes: that a pointer is aligned to its elements. NULL: nothing. */
static int64_t *element_multiples(Arena *arena, const Kernel *kernel)
{
    int64_t *multiples = arena_new_array(arena, int64_t, kernel->parameter_count + 1);
    bool any = false;
    for (int i = 0; i < kernel->parameter_count; i++) {
        const Type *type = kernel->parameters[i].value->type;
        multiples[i] = type->kind == TYPE_POINTER ? dtype_bytes(type->dtype) : 1;
        any |= multiples[i] > 1;
    }
    return any ? multiples : NULL;
}

/* A lowered copy of a kernel, made under the assumptions; the caller's to free. NULL: reported.
 * What was assumed is the variant's to say from then on, so that equal code is equal text. */
static Kernel *lower_copy(const Kernel *typed, const ArchChoice *arch, const int64_t *multiples,
                          const PassOptions *passes)
{
    Kernel *kernel = kernel_clone(typed);
    kernel->name =
        intern_printf(typed->session->names, "%s%s%s%s", typed->name, multiples ? "_aligned" : "",
                      arch->emulator ? "_emulated_" : "", arch->emulator ? arch->target->name : "");
    for (int i = 0; multiples && i < kernel->parameter_count; i++)
        if (kernel->parameters[i].multiple < multiples[i])
            kernel->parameters[i].multiple = multiples[i];
    if (!passes_run(kernel, arch->target, passes)) {
        kernel_free(kernel);
        return NULL;
    }
    for (int i = 0; i < kernel->parameter_count; i++) kernel->parameters[i].multiple = 1;
    return kernel;
}

/* The code without the kernel's symbol: whether an assumption changed it, the text is the judge. */
static const char *code_text(Arena *arena, Kernel *kernel)
{
    Name name = kernel->name;
    kernel->name = kernel->export_name;
    Buf text = {0};
    kernel_print(kernel, &text);
    kernel->name = name;
    const char *copy = arena_copy_text(arena, text.data, text.length);
    buf_free(&text);
    return copy;
}

/* Waits until no more than `running` images are with ptxas. */
static bool finish_images(Stages *stages, size_t running)
{
    uint64_t start = os_now_ns();
    bool fine = true;
    for (; stages->pending.count - stages->finished > running; stages->finished++)
        fine &= image_finish(stages->codegen, stages->pending.data[stages->finished]);
    times_add(stages->session->times, "waiting for ptxas", start);
    return fine;
}

static bool start_image(Stages *stages, Kernel *kernel, const ArchChoice *arch, Image *image)
{
    if (!finish_images(stages, stages->jobs - 1)) return false;
    uint64_t start = os_now_ns();
    bool fine = image_start(stages->codegen, kernel, arch, image);
    times_add(stages->session->times, "LLVM", start);
    vec_push(stages->session->arena, &stages->pending, image);
    return fine;
}

static bool start_variant(Stages *stages, Kernel *const *kernels, VariantImages *out)
{
    const ArchList *archs = stages->archs;
    *out = (VariantImages){.images = arena_new_array(stages->session->arena, Image, archs->count),
                           .image_count = (int)archs->count};
    for (size_t i = 0; i < archs->count; i++)
        if (!start_image(stages, kernels[i], &archs->items[i], &out->images[i])) return false;
    return true;
}

typedef struct Lowered { /* one an architecture */
    Kernel **kernels;
    const char **texts;
} Lowered;

/* Lowers for all architectures under the same assumptions. False: reported. */
static bool lower_all(Stages *stages, const Kernel *typed, const int64_t *multiples, Lowered *out)
{
    Arena *arena = stages->session->arena;
    const ArchList *archs = stages->archs;
    out->kernels = arena_new_array(arena, Kernel *, archs->count);
    out->texts = arena_new_array(arena, const char *, archs->count);
    for (size_t i = 0; i < archs->count; i++) {
        out->kernels[i] = lower_copy(typed, &archs->items[i], multiples, &stages->passes);
        if (!out->kernels[i]) return false;
        vec_push(arena, &stages->build->kernels, out->kernels[i]);
        out->texts[i] = code_text(arena, out->kernels[i]);
    }
    return true;
}

static bool same_code(const Lowered *a, const Lowered *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(a->texts[i], b->texts[i]) != 0) return false;
    return true;
}

/* Whether the assumptions give the code of `wanted` on all architectures: a trial, which is not
 * shown by --print-after and leaves nothing behind. */
static bool gives_code(Stages *stages, const Kernel *typed, const int64_t *multiples,
                       const Lowered *wanted)
{
    const PassOptions quiet = {.verify_each = stages->passes.verify_each};
    Arena *arena = stages->session->arena;
    bool same = true;
    for (size_t i = 0; same && i < stages->archs->count; i++) {
        Kernel *kernel = lower_copy(typed, &stages->archs->items[i], multiples, &quiet);
        same = kernel && strcmp(code_text(arena, kernel), wanted->texts[i]) == 0;
        if (kernel) kernel_free(kernel);
    }
    return same;
}

/* Assumes no more than what the code needs, so that more calls get it: each multiple is lowered to
 * the least that gives the same code on all architectures. Lowering is cheap beside LLVM. */
static void relax_multiples(Stages *stages, const Kernel *typed, const Lowered *aligned,
                            int64_t *multiples)
{
    for (int i = 0; i < typed->parameter_count; i++) {
        int64_t wanted = multiples[i];
        for (multiples[i] = 1; multiples[i] < wanted; multiples[i] *= 2)
            if (gives_code(stages, typed, multiples, aligned)) break;
    }
}

/* Up to two variants: aligned first where alignment changes the code on some architecture, then the
 * one that assumes no more than aligned elements. */
static bool build_specialisation(Stages *stages, const Kernel *typed, SpecialisationImages *out)
{
    Arena *arena = stages->session->arena;
    int64_t *multiples = variant_multiples(arena, typed);
    Lowered general, aligned;
    if (!lower_all(stages, typed, NULL, &general)) return false;
    out->kernel = general.kernels[0];
    out->variants = arena_new_array(arena, VariantImages, 2);
    if (multiples) {
        if (!lower_all(stages, typed, multiples, &aligned)) return false;
        if (!same_code(&general, &aligned, stages->archs->count)) {
            relax_multiples(stages, typed, &aligned, multiples);
            if (!start_variant(stages, aligned.kernels, &out->variants[out->variant_count]))
                return false;
            out->variants[out->variant_count++].multiples = multiples;
        }
    }
    VariantImages *last = &out->variants[out->variant_count++];
    if (!start_variant(stages, general.kernels, last)) return false;
    last->multiples = element_multiples(arena, typed);
    out->host_symbol = intern_printf(stages->session->names, "%s_host", typed->name);
    return host_function(stages->codegen, general.kernels[0], out->host_symbol);
}

/* ---- all of them ---- */

static bool build_images(Stages *stages, const ExportList *exports, Build *out)
{
    Arena *arena = stages->session->arena;
    out->exports = arena_new_array(arena, ExportImages, exports->count + 1);
    out->export_count = exports->count;
    for (int i = 0; i < exports->count; i++) {
        const Export *export = &exports->items[i];
        ExportImages *images = &out->exports[i];
        images->name =
            intern_printf(stages->session->names, "%s%s",
                          stages->options->prefix ? stages->options->prefix : "", export->name);
        images->specialisation_count = export->specialisation_count;
        images->specialisations =
            arena_new_array(arena, SpecialisationImages, export->specialisation_count + 1);
        for (int j = 0; j < export->specialisation_count; j++)
            if (!build_specialisation(stages, export->specialisations[j],
                                      &images->specialisations[j]))
                return false;
    }
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

static CodegenOptions codegen_options(const Options *options)
{
    bool no_ptxas = options->ptxas && strcmp(options->ptxas, "none") == 0;
    return (CodegenOptions){.host_triple = options->host,
                            .ptxas = no_ptxas ? "" : options->ptxas,
                            .keep_llvm = options->save_temps || text_in_list(options->emit, "llvm"),
                            .lines = options->lines,
                            .tool_limit_ns = tool_limit(options),
                            .show_tools = options->verbose || options->dry_run,
                            .run_no_tools = options->dry_run,
                            .optimise = options->optimise ? options->optimise[0] - '0' : 2};
}

static void show(const Buf *buf)
{
    if (buf->length) os_write_file("/dev/stderr", buf->data, buf->length);
}

bool build_exports(Session *session, const Options *options, const ArchList *archs,
                   const ExportList *exports, Build *out)
{
    *out = (Build){0};
    const CodegenOptions codegen = codegen_options(options);
    Stages stages = {.session = session,
                     .options = options,
                     .archs = archs,
                     .codegen = codegen_new(session, &codegen),
                     .jobs = job_count(options),
                     .build = out};
    if (!stages.codegen) return false;
    stages.passes = (PassOptions){.print_after = options->print_after,
                                  .verify_each = options->verify_each,
                                  .dump = &stages.dump};
    bool fine = build_images(&stages, exports, out);
    fine = finish_images(&stages, 0) && fine;
    if (fine) warn_of_spills(session, out);
    uint64_t start = os_now_ns();
    fine = fine && emit_object(stages.codegen, session->arena, out->exports, out->export_count,
                               &out->object, &out->object_size);
    times_add(session->times, "object", start);
    show(&stages.dump);
    buf_free(&stages.dump);
    codegen_free(stages.codegen);
    return fine;
}

/* ---- what commands share ---- */

Program *open_program(Session *session, const Options *options, Host *host)
{
    Source *source = source_from_file(session, options->inputs.items[0]);
    if (!source) return NULL;
    const EvalOptions eval = {.stdlib_folder = options->stdlib,
                              .import_paths = options->import_paths.items,
                              .import_path_count = options->import_paths.count,
                              .defines = options->defines.items,
                              .define_count = options->defines.count,
                              .host = host};
    uint64_t start = os_now_ns();
    Program *program = program_new(session, source, &eval);
    times_add(session->times, "parse", start);
    return program;
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
