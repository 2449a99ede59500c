/* compile.c: tilec FILE -o OUT: an object and a header, or the texts on the way. */
#include "driver.h"

#include "base/vec.h"
#include "passes/passes.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* What the kinds of output are made from: each step is taken once, when a kind first needs it. */
typedef struct Output {
    Session *session;
    const Options *options;
    ArchList archs;
    const Source *source;
    Program *program;
    ExportList exports;
    KernelList kernels; /* that were read as IR; the program owns the others */
    KernelVec gradients;
    Build build;
    VEC(OsOutput) files; /* to be written, together */
    bool is_staged, is_built;
} Output;

static bool find_ir_exports(Output *output)
{
    if (!read_ir_exports(output->session, output->options->inputs.items[0], &output->kernels,
                         &output->exports))
        return false;
    ask_for_gradients(output->session, output->options, &output->exports, &output->gradients);
    return true;
}

static bool find_exports(Output *output)
{
    if (is_ir_file(output->options->inputs.items[0])) return find_ir_exports(output);
    const TextList *texts = &output->options->exports;
    if (!program_export(output->program, texts->items, texts->count, &output->exports))
        return false;
    if (output->exports.count) return true;
    if (program_report_unmade(output->program)) return false;
    diag_report(output->session->diags, DIAG_no_exports, (Span){0});
    program_tell_unexported(output->program);
    return false;
}

static bool stage_kernels(Output *output)
{
    if (output->is_staged) return true;
    uint64_t start = os_now_ns();
    output->is_staged =
        find_exports(output) && make_gradients(output->session, output->archs.items[0].target,
                                               &output->exports, &output->gradients);
    if (output->is_staged) warn_of_unused_loads(output->session, &output->exports);
    times_add(output->session->times, "evaluate", start);
    return output->is_staged;
}

static bool build_all(Output *output)
{
    if (output->is_built) return true;
    if (!stage_kernels(output)) return false;
    BuildWish wish = {0};
    if (output->options->with_source)
        wish.emit.carried =
            carry_program(output->session, output->options, output->source, output->program);
    output->is_built = build_exports(output->session, output->options, &output->archs,
                                     &output->exports, &wish, &output->build);
    return output->is_built;
}

/* ---- the kinds ---- */

static bool emit_ast(Output *output, Buf *out)
{
    const Source *source = source_from_file(output->session, output->options->inputs.items[0]);
    if (!source) return false;
    print_tree(&parse_source(output->session, source)->tree->base, out);
    return true;
}

static bool emit_ir(Output *output, Buf *out)
{
    if (!stage_kernels(output)) return false;
    for (int i = 0; i < output->exports.count; i++)
        for (int j = 0; j < output->exports.items[i].specialisation_count; j++)
            kernel_print(output->exports.items[i].specialisations[j], out);
    return true;
}

static bool lower_and_print(const Output *output, const Kernel *typed, Buf *out)
{
    const PassOptions passes = {.verify_each = output->options->verify_each};
    Kernel *kernel = kernel_clone(typed);
    bool fine = passes_run(kernel, output->archs.items[0].target, &passes);
    if (fine) kernel_print(kernel, out);
    kernel_free(kernel);
    return fine;
}

static bool emit_thread_ir(Output *output, Buf *out)
{
    bool fine = stage_kernels(output);
    for (int i = 0; fine && i < output->exports.count; i++)
        for (int j = 0; fine && j < output->exports.items[i].specialisation_count; j++)
            fine = lower_and_print(output, output->exports.items[i].specialisations[j], out);
    return fine;
}

static bool each_image(Output *output, ImageFunction *take, void *context)
{
    if (!build_all(output)) return false;
    for (int i = 0; i < output->build.export_count; i++)
        export_each_image(&output->build.exports[i], take, context);
    return true;
}

typedef struct Texts {
    Buf *out;
    int count;
} Texts;

static void add_text_of(Texts *texts, const char *text)
{
    if (text) buf_text(texts->out, text);
    texts->count += text != NULL;
}

static void take_llvm(const Image *image, void *texts)
{
    add_text_of(texts, image->llvm);
}

static void take_ptx(const Image *image, void *texts)
{
    add_text_of(texts, image->ptx);
}

/* Tools take one module a file. */
static bool emit_texts(Output *output, ImageFunction *take, const char *kind, Buf *out)
{
    const Options *options = output->options;
    Texts texts = {.out = out};
    if (!each_image(output, take, &texts)) return false;
    const bool is_file = options->output && !os_is_stream(options->output);
    if (texts.count > 1 && is_file && !options->save_temps)
        diag_report(output->session->diags, DIAG_several_texts, (Span){0}, texts.count, kind);
    return true;
}

static void take_cubin(const Image *image, void *context)
{
    Buf *out = context;
    if (image->kind == IMAGE_CUBIN && !out->length) buf_bytes(out, image->bytes, image->size);
}

static bool emit_llvm(Output *output, Buf *out)
{
    return emit_texts(output, take_llvm, "LLVM IR", out);
}

static bool emit_ptx(Output *output, Buf *out)
{
    if (!emit_texts(output, take_ptx, "PTX", out)) return false;
    if (!out->length) diag_report(output->session->diags, DIAG_no_ptx, (Span){0});
    return out->length != 0;
}

/* The first one: of the first variant for the first architecture. */
static bool emit_cubin(Output *output, Buf *out)
{
    if (!each_image(output, take_cubin, out)) return false;
    if (!out->length && !output->options->dry_run)
        diag_report(output->session->diags, DIAG_no_cubin, (Span){0});
    return out->length != 0;
}

static bool build_for_c(Output *output)
{
    return stage_kernels(output) &&
           check_c_names(output->session, output->options, &output->exports) && build_all(output);
}

static bool emit_obj(Output *output, Buf *out)
{
    if (!build_for_c(output)) return false;
    buf_bytes(out, output->build.object, output->build.object_size);
    return true;
}

static bool emit_header_text(Output *output, Buf *out)
{
    if (!build_for_c(output)) return false;
    emit_header(output->build.exports, output->build.export_count,
                output->options->output ? output->options->output : "kernels.h", out);
    return true;
}

/* The path without its ending. */
static const char *stem_of(Arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    bool has_ending = dot && dot != path && (!slash || dot > slash + 1);
    return arena_copy_text(arena, path, has_ending ? (size_t)(dot - path) : strlen(path));
}

static bool emit_manifest_text(Output *output, Buf *out)
{
    if (!build_all(output)) return false;
    emit_manifest(output->build.exports, output->build.export_count, out);
    return true;
}

/* The library is called by the object's name; "lib" keeps Python from taking it for a module. */
static bool emit_python_text(Output *output, Buf *out)
{
    const char *path = output->options->output ? output->options->output : "kernels.o";
    const char *slash = strrchr(path, '/');
    if (!build_for_c(output)) return false;
    const char *stem = stem_of(output->session->arena, slash ? slash + 1 : path);
    emit_python(output->build.exports, output->build.export_count,
                arena_printf(output->session->arena, "lib%s.so", stem), out);
    return true;
}

typedef struct Kind {
    const char *name, *ending;
    bool (*emit)(Output *output, Buf *out);
    bool is_bytes; /* not for a terminal */
} Kind;

static const Kind kinds[] = {
    {"ast", ".ast", emit_ast, false},
    {"ir", ".ir", emit_ir, false},
    {"thread-ir", ".thread.ir", emit_thread_ir, false},
    {"llvm", ".ll", emit_llvm, false},
    {"ptx", ".ptx", emit_ptx, false},
    {"cubin", ".cubin", emit_cubin, true},
    {"obj", ".o", emit_obj, true},
    {"header", ".h", emit_header_text, false},
    {"manifest", ".json", emit_manifest_text, false},
    {"python", ".py", emit_python_text, false},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* Whether the kind is made from the text alone. */
static bool needs_kernels(const Kind *kind)
{
    return kind->emit != emit_ast;
}

/* ---- where it goes ---- */

typedef struct Result { /* one kind, asked for */
    const Kind *kind;
    const char *path;
    Buf bytes;
} Result;

typedef struct Results {
    Result items[KINDS];
    int count;
} Results;

static const Kind *find_kind(Session *session, const char *name)
{
    const char *known = "";
    for (int i = 0; i < KINDS; i++) {
        if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
        known = arena_printf(session->arena, "%s%s%s", known, i ? ", " : "", kinds[i].name);
    }
    diag_report(session->diags, DIAG_option_value, (Span){0}, "--emit", name,
                arena_printf(session->arena, "known are %s", known));
    return NULL;
}

static bool add_kind(Results *results, const Kind *kind)
{
    for (int i = 0; i < results->count; i++)
        if (results->items[i].kind == kind) return true;
    results->items[results->count++] = (Result){.kind = kind};
    return true;
}

static bool find_kinds(Session *session, const Options *options, Results *results)
{
    const char *item = options->emit ? options->emit : options->assembly ? "ptx" : "obj";
    for (;; item++) {
        size_t length = strcspn(item, ",");
        const Kind *kind = find_kind(session, arena_copy_text(session->arena, item, length));
        if (!kind || !add_kind(results, kind)) return false;
        item += length;
        if (!*item) return true;
    }
}

static bool refuse(Session *session, DiagCode code, const char *text)
{
    diag_report(session->diags, code, (Span){0}, text);
    return false;
}

/* One kind goes to -o as it stands, of several each to -o's name with its own ending. */
static bool find_paths(Session *session, const Options *options, Results *results)
{
    bool is_depfile = options->depfile || options->depfile_all;
    bool is_file = options->output && !os_is_stream(options->output);
    if (!options->output && (results->items[0].kind->is_bytes || is_depfile))
        return refuse(session, DIAG_output_needed, "");
    if (!is_file && (results->count > 1 || options->save_temps))
        return refuse(session, DIAG_output_needed, ", since several files are written");
    if (!is_file && is_depfile && !options->depfile_name) {
        diag_report(session->diags, DIAG_depfile_name, (Span){0});
        return false;
    }
    for (int i = 0; i < results->count; i++) {
        Result *result = &results->items[i];
        result->path = options->output ? options->output : "-";
        if (results->count > 1)
            result->path =
                arena_printf(session->arena, "%s%s", stem_of(session->arena, options->output),
                             result->kind->ending);
    }
    return true;
}

/* A word that is no file may have been meant as a command. */
static bool check_file(Session *session, const char *path)
{
    if (strcmp(path, "-") == 0 || os_file_exists(path)) return true;
    diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, strerror(errno));
    options_hint_command(session, path);
    return false;
}

static bool check_inputs(Session *session, const Options *options)
{
    const bool is_one = options->inputs.count == 1;
    if (options->with_source &&
        (options->stdlib || (is_one && is_ir_file(options->inputs.items[0])))) {
        diag_report(session->diags, DIAG_without_source, (Span){0});
        return false;
    }
    if (options->inputs.count && !check_file(session, options->inputs.items[0])) return false;
    if (!is_one)
        diag_report(session->diags,
                    options->inputs.count == 0 ? DIAG_source_needed : DIAG_several_sources,
                    (Span){0});
    return is_one;
}

/* ---- what comes beside the output ---- */

static const char *depfile_name(const Options *options, Arena *arena)
{
    if (!options->depfile && !options->depfile_all) return NULL;
    if (options->depfile_name) return options->depfile_name;
    return arena_printf(arena, "%s.d", stem_of(arena, options->output));
}

/* Devices may be written to twice. */
static bool is_same(const char *path, const char *other)
{
    const bool is_device = strcmp(path, "-") != 0 && os_is_stream(path);
    return os_same_file(path, other) || (strcmp(path, other) == 0 && !is_device);
}

/* Nothing is written over the source, or over something else that is written. */
static bool check_outputs(Session *session, const Options *options, const Results *results)
{
    const char *paths[KINDS + 2];
    int count = 0;
    for (int i = 0; i < results->count; i++) paths[count++] = results->items[i].path;
    if (options->header) paths[count++] = options->header;
    if (depfile_name(options, session->arena))
        paths[count++] = depfile_name(options, session->arena);
    for (int i = 0; i < count; i++) {
        if (os_same_file(paths[i], options->inputs.items[0]))
            return refuse(session, DIAG_output_is_source, paths[i]);
        for (int j = 0; j < i; j++)
            if (is_same(paths[i], paths[j])) return refuse(session, DIAG_two_outputs, paths[i]);
    }
    return true;
}

/* The bytes must stay. */
static void add_file(Output *output, const char *path, const void *bytes, size_t length)
{
    const OsOutput file = {.path = path, .bytes = bytes, .length = length};
    vec_push(output->session->arena, &output->files, file);
}

static void add_text(Output *output, const char *path, Buf *text)
{
    add_file(output, path, arena_copy_text(output->session->arena, text->data, text->length),
             text->length);
    buf_free(text);
}

static void add_header(Output *output)
{
    if (!output->options->header || !output->build.exports) return;
    Buf text = {0};
    emit_header(output->build.exports, output->build.export_count, output->options->header, &text);
    add_text(output, output->options->header, &text);
}

static void add_depfile(Output *output)
{
    const Options *options = output->options;
    const char *path = depfile_name(options, output->session->arena);
    if (!path) return;
    int count = output->program ? program_input_count(output->program) : 0;
    const TextList *tune = &options->tune, *files = &options->export_files;
    const char **inputs = arena_new_array(output->session->arena, const char *,
                                          count + tune->count + files->count + 1);
    int own = strcmp(options->inputs.items[0], "-") != 0; /* standard input is no file */
    inputs[0] = options->inputs.items[0];
    for (int i = 0; i < count; i++) inputs[i + own] = program_input(output->program, i)->path;
    for (int i = 0; i < tune->count; i++) inputs[count++ + own] = tune->items[i];
    for (int i = 0; i < files->count; i++) inputs[count++ + own] = files->items[i];
    Buf text = {0};
    emit_depfile(options->depfile_target ? options->depfile_target : options->output, inputs,
                 count + own, options->depfile_phony, &text);
    add_text(output, path, &text);
}

/* A file's name has 255 bytes at most: of a long one the beginning stays, and a hash (FNV-1a). */
static const char *file_part(Arena *arena, const char *name, size_t length)
{
    enum { WHOLE = 160, BEGINNING = 120 };
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (length <= WHOLE) return arena_copy_text(arena, name, length);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    return arena_printf(arena, "%.*s_%016" PRIx64, (int)BEGINNING, name, hash);
}

/* Named for the kernel and the GPU; the emulator's names hold theirs, and what its code generator
 * adds behind a dot says nothing to people. */
static void add_temp(Output *output, const Image *image, const char *ending, const char *bytes,
                     size_t size)
{
    Arena *arena = output->session->arena;
    const char *stem = stem_of(arena, output->options->output);
    const char *name = image->entries[0].name;
    const char *kernel = file_part(arena, name, strcspn(name, "."));
    const char *path =
        image->kind == IMAGE_EMULATOR
            ? arena_printf(arena, "%s.%s%s", stem, kernel, ending)
            : arena_printf(arena, "%s.%s.%s%s", stem, kernel, image->target->name, ending);
    add_file(output, path, bytes, size);
}

static void add_image(const Image *image, void *context)
{
    if (image->llvm) add_temp(context, image, ".ll", image->llvm, strlen(image->llvm));
    if (image->ptx) add_temp(context, image, ".ptx", image->ptx, strlen(image->ptx));
    if (image->kind == IMAGE_CUBIN) add_temp(context, image, ".cubin", image->bytes, image->size);
}

static bool add_temps(Output *output)
{
    if (!output->options->save_temps || !output->is_built) return true;
    return each_image(output, add_image, output);
}

/* ---- the command ---- */

/* Nothing is written unless all can be: old outputs stay whole, and of one build. The outputs come
 * last, so that make sees them only if all else is there. */
static bool write_all(Output *output, const Results *results)
{
    if (!add_temps(output)) return false;
    add_header(output);
    add_depfile(output);
    for (int i = 0; i < results->count; i++)
        add_file(output, results->items[i].path, results->items[i].bytes.data,
                 results->items[i].bytes.length);
    return write_outputs(output->session, output->files.data, output->files.count);
}

static bool is_program_needed(const Options *options, const Results *results)
{
    bool needed = false;
    for (int i = 0; i < results->count; i++) needed |= needs_kernels(results->items[i].kind);
    return needed && !is_ir_file(options->inputs.items[0]);
}

static bool make_results(Output *output, Results *results)
{
    bool is_needed = is_program_needed(output->options, results);
    if (is_needed)
        output->source = source_from_file(output->session, output->options->inputs.items[0]);
    if (output->source)
        output->program = open_source(output->session, output->options, output->source, NULL, NULL);
    bool fine = !is_needed || output->program;
    for (int i = 0; fine && i < results->count; i++)
        fine = results->items[i].kind->emit(output, &results->items[i].bytes);
    fine = fine && diag_error_count(output->session->diags) == 0;
    return fine && !output->options->dry_run ? write_all(output, results) : fine;
}

ExitStatus command_compile(Session *session, const Options *options)
{
    Output output = {.session = session, .options = options};
    Results results = {0};
    if (!check_inputs(session, options) || !find_kinds(session, options, &results) ||
        !find_paths(session, options, &results) || !check_outputs(session, options, &results) ||
        !choose_archs(session, options->arch ? options->arch : ARCH_DEFAULT, &output.archs))
        return EXIT_USAGE;
    stage_result(session, make_results(&output, &results), "compile");
    for (int i = 0; i < results.count; i++) buf_free(&results.items[i].bytes);
    build_free(&output.build);
    free_kernels(&output.kernels);
    free_gradients(&output.gradients);
    if (output.program) program_free(output.program);
    return session_status(session);
}
