/* compile.c: tilec FILE -o OUT: an object and a header, or one of the texts on the way. */
#include "driver.h"

#include "passes/passes.h"

#include <string.h>

/* Where --emit stops: each kind with what writes it. */
typedef struct Output {
    Session *session;
    const Options *options;
    ArchList archs;
    Program *program;
    ExportList exports;
    Build build;
    Buf text;
} Output;

static bool is_ir_text(const Options *options)
{
    const char *dot = strrchr(options->inputs.items[0], '.');
    return dot && strcmp(dot, ".ir") == 0;
}

/* Kernels that were written down as IR: each is an export of its own. */
static bool read_kernels(Output *output)
{
    int count = 0;
    const Source *source = source_from_file(output->session, output->options->inputs.items[0]);
    Kernel **kernels = source ? kernel_read(output->session, source, &count) : NULL;
    if (!kernels) return false;
    Export *exports = arena_new_array(output->session->arena, Export, count + 1);
    for (int i = 0; i < count; i++) {
        if (!kernel_verify(kernels[i])) return false;
        exports[i] = (Export){kernels[i]->export_name, kernels[i]->span, &kernels[i], 1};
    }
    output->exports = (ExportList){exports, count};
    return true;
}

static bool stage_kernels(Output *output)
{
    if (is_ir_text(output->options)) return read_kernels(output);
    const TextList *texts = &output->options->exports;
    if (!program_export(output->program, texts->items, texts->count, &output->exports))
        return false;
    if (output->exports.count) return true;
    diag_report(output->session->diags, DIAG_no_exports, (Span){0});
    return false;
}

static bool build_all(Output *output)
{
    return stage_kernels(output) && build_exports(output->session, output->options, &output->archs,
                                                  &output->exports, &output->build);
}

/* ---- the kinds ---- */

static bool emit_ast(Output *output)
{
    const Source *source = source_from_file(output->session, output->options->inputs.items[0]);
    if (!source) return false;
    print_tree(&parse_source(output->session, source)->tree->base, &output->text);
    return true;
}

static bool emit_ir(Output *output)
{
    if (!stage_kernels(output)) return false;
    for (int i = 0; i < output->exports.count; i++)
        for (int j = 0; j < output->exports.items[i].specialisation_count; j++)
            kernel_print(output->exports.items[i].specialisations[j], &output->text);
    return true;
}

static bool emit_thread_ir(Output *output)
{
    if (!stage_kernels(output)) return false;
    const PassOptions passes = {.verify_each = output->options->verify_each};
    for (int i = 0; i < output->exports.count; i++) {
        for (int j = 0; j < output->exports.items[i].specialisation_count; j++) {
            Kernel *kernel = output->exports.items[i].specialisations[j];
            if (!passes_run(kernel, output->archs.items[0].target, &passes)) return false;
            kernel_print(kernel, &output->text);
        }
    }
    return true;
}

/* Appends what `take` finds in each image of the build. */
static bool each_image(Output *output, void (*take)(const Image *image, Buf *out))
{
    if (!build_all(output)) return false;
    for (int i = 0; i < output->build.export_count; i++) {
        const ExportImages *export = &output->build.exports[i];
        for (int j = 0; j < export->specialisation_count; j++)
            for (int k = 0; k < export->specialisations[j].variant_count; k++)
                for (int l = 0; l < export->specialisations[j].variants[k].image_count; l++)
                    take(&export->specialisations[j].variants[k].images[l], &output->text);
    }
    return true;
}

static void take_llvm(const Image *image, Buf *out)
{
    if (image->llvm) buf_text(out, image->llvm);
}

static void take_ptx(const Image *image, Buf *out)
{
    if (image->ptx) buf_text(out, image->ptx);
}

static void take_cubin(const Image *image, Buf *out)
{
    if (image->kind == IMAGE_CUBIN && !out->length) buf_bytes(out, image->bytes, image->size);
}

static bool emit_llvm(Output *output)
{
    return each_image(output, take_llvm);
}

static bool emit_ptx(Output *output)
{
    return each_image(output, take_ptx);
}

static bool
emit_cubin(Output *output) /* the first one: of the first variant for the first architecture */
{
    return each_image(output, take_cubin);
}

static bool emit_obj(Output *output)
{
    if (!build_all(output)) return false;
    buf_bytes(&output->text, output->build.object, output->build.object_size);
    return true;
}

static bool emit_header_text(Output *output)
{
    if (!build_all(output)) return false;
    emit_header(output->build.exports, output->build.export_count,
                output->options->output ? output->options->output : "kernels.h", &output->text);
    return true;
}

static bool emit_manifest_text(Output *output)
{
    if (!build_all(output)) return false;
    emit_manifest(output->build.exports, output->build.export_count, &output->text);
    return true;
}

static const struct {
    const char *name;
    bool (*emit)(Output *output);
    bool needs_output; /* bytes: not for a terminal */
} kinds[] = {
    {"ast", emit_ast, false},
    {"ir", emit_ir, false},
    {"thread-ir", emit_thread_ir, false},
    {"llvm", emit_llvm, false},
    {"ptx", emit_ptx, false},
    {"cubin", emit_cubin, true},
    {"obj", emit_obj, true},
    {"header", emit_header_text, false},
    {"manifest", emit_manifest_text, false},
};

/* ---- what comes beside the output ---- */

static bool write_header(Output *output)
{
    if (!output->options->header || !output->build.exports) return true;
    Buf text = {0};
    emit_header(output->build.exports, output->build.export_count, output->options->header, &text);
    bool fine = write_output(output->session, output->options->header, text.data, text.length);
    buf_free(&text);
    return fine;
}

static const char *depfile_name(const Output *output)
{
    const Options *options = output->options;
    if (options->depfile_name) return options->depfile_name;
    const char *object = options->output, *dot = strrchr(object, '.');
    size_t stem = dot && !strchr(dot, '/') ? (size_t)(dot - object) : strlen(object);
    return arena_printf(output->session->arena, "%.*s.d", (int)stem, object);
}

static bool write_depfile(Output *output)
{
    const Options *options = output->options;
    if (!options->depfile && !options->depfile_all) return true;
    int count = output->program ? program_input_count(output->program) : 0;
    const char **inputs = arena_new_array(output->session->arena, const char *, count + 1);
    inputs[0] = options->inputs.items[0];
    for (int i = 0; i < count; i++) inputs[i + 1] = program_input(output->program, i);
    Buf text = {0};
    emit_depfile(options->depfile_target ? options->depfile_target : options->output, inputs,
                 count + 1, options->depfile_phony, &text);
    bool fine = write_output(output->session, depfile_name(output), text.data, text.length);
    buf_free(&text);
    return fine;
}

static bool check_usage(Session *session, const Options *options, bool needs_output)
{
    const char *fault =
        options->inputs.count != 1 ? "one source file is needed"
        : !options->output && (needs_output || options->depfile || options->depfile_all)
            ? "-o FILE is needed"
            : NULL;
    if (fault) diag_report(session->diags, DIAG_usage, (Span){0}, fault);
    return !fault;
}

ExitStatus command_compile(Session *session, const Options *options)
{
    const char *name = options->emit ? options->emit : options->assembly ? "ptx" : "obj";
    size_t kind = 0;
    while (kind < sizeof kinds / sizeof kinds[0] && strcmp(kinds[kind].name, name) != 0) kind++;
    if (kind == sizeof kinds / sizeof kinds[0]) {
        diag_report(session->diags, DIAG_usage, (Span){0},
                    arena_printf(session->arena, "no such --emit kind: '%s'", name));
        return EXIT_USAGE;
    }
    if (!check_usage(session, options, kinds[kind].needs_output)) return EXIT_USAGE;
    Output output = {.session = session, .options = options};
    if (!arch_parse(session, options->arch ? options->arch : "sm_90a,sm_80", &output.archs))
        return EXIT_USAGE;
    bool needs_program = kinds[kind].emit != emit_ast && !is_ir_text(options);
    if (needs_program) output.program = open_program(session, options, NULL);
    if (!needs_program || output.program) {
        /* Nothing is written unless all went well: an old output stays whole. */
        bool fine = kinds[kind].emit(&output) && diag_error_count(session->diags) == 0;
        if (fine && write_output(session, options->output ? options->output : "-", output.text.data,
                                 output.text.length)) {
            write_header(&output);
            write_depfile(&output);
        }
    }
    buf_free(&output.text);
    build_free(&output.build);
    if (output.program) program_free(output.program);
    return session_status(session);
}
