/* info.c: tilec info [FILE...]: what is in an object: its kernels with their keys, variants and
 * images, and the driver that each image needs. A source is compiled first; without a file it
 * tells about the architectures. */
#include "command/object_view.h"
#include "driver.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- objects and sources ---- */

static bool show_object(Session *session, const char *path, const char *bytes, size_t size)
{
    Buf text = {0};
    const char *fault = NULL;
    const ObjectView *view = view_open(session->arena, bytes, size, &fault);
    if (view) {
        buf_printf(&text, "%s, for %s:\n", path, view_machine(view));
        fault = view_print(view, &text);
    }
    if (fault)
        diag_report(session->diags, DIAG_not_an_object, (Span){0}, path, fault);
    else
        write_output(session, "-", text.data, text.length);
    buf_free(&text);
    return !fault;
}

static void show_exports(Session *session, const Options *options, ExportList *exports)
{
    ArchList archs;
    Build build = {0};
    KernelVec gradients = {0};
    if (!choose_archs(session, options->arch ? options->arch : ARCH_DEFAULT, &archs)) return;
    if (exports->count == 0)
        diag_report(session->diags, DIAG_no_exports, (Span){0});
    else if (make_gradients(session, archs.items[0].target, exports, &gradients) &&
             build_exports(session, options, &archs, exports, &(BuildWish){0}, &build))
        show_object(session, options->inputs.items[0], build.object, build.object_size);
    build_free(&build);
    free_gradients(&gradients);
}

static void show_source(Session *session, const Options *options)
{
    ExportList exports;
    Program *program = open_program(session, options, NULL);
    if (!program) return;
    if (program_export(program, options->exports.items, options->exports.count, &exports))
        show_exports(session, options, &exports);
    program_free(program);
}

static void show_ir(Session *session, const Options *options)
{
    ExportList exports;
    KernelList kernels;
    if (read_ir_exports(session, options->inputs.items[0], &kernels, &exports))
        show_exports(session, options, &exports);
    free_kernels(&kernels);
}

static void show_file(Session *session, const Options *options)
{
    size_t size;
    const char *path = options->inputs.items[0];
    const char *bytes = strcmp(path, "-") == 0 ? "" : os_read_file(session->arena, path, &size);
    if (!bytes)
        diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, strerror(errno));
    else if (*bytes && view_is_elf(bytes, size))
        show_object(session, path, bytes, size);
    else if (is_ir_file(path))
        show_ir(session, options);
    else
        show_source(session, options);
}

/* ---- architectures ---- */

static void print_features(const Target *target, Buf *out)
{
    static const struct {
        TargetFeature feature;
        const char *name;
    } rows[] = {{HAS_MMA, "mma"},           {HAS_LDMATRIX, "ldmatrix"}, {HAS_STMATRIX, "stmatrix"},
                {HAS_CP_ASYNC, "cp.async"}, {HAS_FP8_MMA, "fp8 mma"},   {HAS_F64_MMA, "f64 mma"},
                {HAS_WGMMA, "wgmma"},       {HAS_TMA, "TMA loads"},     {HAS_CLUSTER, "clusters"}};
    const char *separator = "";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (!target_has(target, rows[i].feature)) continue;
        buf_printf(out, "%s%s", separator, rows[i].name);
        separator = ", ";
    }
}

static void print_target(const Target *target, Buf *out)
{
    buf_printf(out, "%s: %s\n  %d bytes of shared memory a block, %d registers, PTX %d.%d\n  ",
               target->name, target->description, target->shared_bytes, target->registers,
               target->ptx / 10, target->ptx % 10);
    print_features(target, out);
    buf_char(out, '\n');
}

static void show_targets(Session *session)
{
    Buf text = {0};
    const Target *target;
    for (size_t i = 0; (target = target_at(i)) != NULL; i++) print_target(target, &text);
    buf_text(&text, "native: the first GPU of this machine\n"
                    "emulator[:ARCH]: the program of ARCH (default: the first GPU of the list), "
                    "run and checked on the CPU\n");
    write_output(session, "-", text.data, text.length);
    buf_free(&text);
}

ExitStatus command_info(Session *session, const Options *options)
{
    if (options->inputs.count == 0) show_targets(session);
    for (int i = 0; i < options->inputs.count; i++) {
        Options one = *options;
        one.inputs = (TextList){&options->inputs.items[i], 1};
        show_file(session, &one);
    }
    return session_status(session);
}
