/* codegen.c: the front door: the LLVM context, the host module, images, and what the machines
 * share. */
#include "codegen/llvm.h"
#include "codegen/quirks.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Target.h>

/* ---- errors of LLVM are errors of ours ---- */

static void on_fatal_error(const char *reason)
{
    ICE("LLVM: %s", reason);
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *unused)
{
    (void)unused;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError) return;
    char *text = LLVMGetDiagInfoDescription(info);
    ICE("LLVM: %s", text);
}

/* ---- the host ---- */

typedef struct HostTarget {
    const char *name, *cpu;
    void (*initialise)(void);
} HostTarget;

static void initialise_x86(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
}

static void initialise_aarch64(void)
{
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
}

static const HostTarget host_targets[] = {
    {"x86_64", "x86-64", initialise_x86},
    {"aarch64", "generic", initialise_aarch64},
    {"arm64", "generic", initialise_aarch64},
};

static const HostTarget *host_find(const char *triple)
{
    for (size_t i = 0; i < sizeof host_targets / sizeof *host_targets; i++) {
        const size_t length = strlen(host_targets[i].name);
        if (strncmp(triple, host_targets[i].name, length) == 0 && triple[length] == '-')
            return &host_targets[i];
    }
    return NULL;
}

/* What tables, host functions and libtile are written for: ELF of 64 bits, as Linux has it. The
 * triple is normalised: its second '-' is before the system. */
static const char *host_fault(const char *triple, const HostTarget *host)
{
    const char *vendor = strchr(triple, '-');
    const char *system = vendor != NULL ? strchr(vendor + 1, '-') : NULL;
    const char *environment = system != NULL ? strchr(system + 1, '-') : NULL;
    if (host == NULL) return "its processor is not known";
    if (system == NULL || strncmp(system + 1, "linux", strlen("linux")) != 0)
        return "libtile, and the ELF files that it goes with, are for Linux";
    if (environment != NULL &&
        (strstr(environment, "x32") != NULL || strstr(environment, "ilp32") != NULL))
        return "its pointers have 32 bits";
    return NULL;
}

static LLVMTargetMachineRef host_target_new(const Codegen *codegen, LLVMCodeGenOptLevel level)
{
    LLVMTargetRef target = NULL;
    char *error = NULL;
    if (LLVMGetTargetFromTriple(codegen->host_triple, &target, &error)) ICE("%s", error);
    return LLVMCreateTargetMachine(target, codegen->host_triple,
                                   host_find(codegen->host_triple)->cpu, "", level, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
}

static bool host_target_make(Codegen *codegen)
{
    const HostTarget *host = host_find(codegen->host_triple);
    const char *fault = host_fault(codegen->host_triple, host);
    LLVMTargetRef target = NULL;
    char *error = NULL;
    if (fault == NULL) host->initialise();
    if (fault != NULL || LLVMGetTargetFromTriple(codegen->host_triple, &target, &error)) {
        const char *given = codegen->options.host_triple;
        diag_report(codegen->session->diags, DIAG_unknown_host, (Span){0},
                    given != NULL ? given : codegen->host_triple, fault != NULL ? fault : error);
        LLVMDisposeMessage(error);
        return false;
    }
    LLVMCodeGenOptLevel level =
        codegen->options.optimise > 0 ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelLess;
    codegen->host_target = host_target_new(codegen, level);
    return codegen->host_target != NULL;
}

/* ---- the code generator ---- */

static GenTypes gen_types_new(LLVMContextRef context)
{
    return (GenTypes){
        .nothing = LLVMVoidTypeInContext(context),
        .i1 = LLVMInt1TypeInContext(context),
        .i8 = LLVMInt8TypeInContext(context),
        .i16 = LLVMInt16TypeInContext(context),
        .i32 = LLVMInt32TypeInContext(context),
        .i64 = LLVMInt64TypeInContext(context),
        .f16 = LLVMHalfTypeInContext(context),
        .bf16 = LLVMBFloatTypeInContext(context),
        .f32 = LLVMFloatTypeInContext(context),
        .f64 = LLVMDoubleTypeInContext(context),
        .pointer = LLVMPointerTypeInContext(context, 0),
    };
}

/* Normalised, as LLVM takes an unknown system for one with ELF files. A processor alone is one with
 * Linux. */
static char *host_triple_text(Arena *arena, const char *given)
{
    char *found = given == NULL ? LLVMGetDefaultTargetTriple() : NULL;
    const char *text = given != NULL ? given : found;
    if (strchr(text, '-') == NULL) text = arena_printf(arena, "%s-linux-gnu", text);
    char *normal = LLVMNormalizeTargetTriple(text);
    char *copy = arena_copy_text(arena, normal, strlen(normal));
    LLVMDisposeMessage(normal);
    LLVMDisposeMessage(found);
    return copy;
}

Codegen *codegen_new(Session *session, const CodegenOptions *options)
{
    Codegen *codegen = arena_new_of(session->arena, Codegen);
    LLVMResetFatalErrorHandler();
    LLVMInstallFatalErrorHandler(on_fatal_error);
    codegen->session = session;
    codegen->options = *options;
    codegen->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(codegen->context, on_diagnostic, NULL);
    codegen->types = gen_types_new(codegen->context);
    codegen->host_triple = host_triple_text(session->arena, options->host_triple);
    if (!host_target_make(codegen)) {
        codegen_free(codegen);
        return NULL;
    }
    codegen->host_module = host_module_new(codegen, "host");
    return codegen;
}

void codegen_prepare(Session *session)
{
    const CodegenOptions nothing = {0};
    Codegen *codegen = codegen_new(session, &nothing);
    if (codegen != NULL) nvptx_prepare(codegen);
    codegen_free(codegen);
}

void codegen_free(Codegen *codegen)
{
    if (codegen == NULL) return;
    for (size_t i = 0; i < codegen->gpu_targets.count; i++)
        LLVMDisposeTargetMachine(codegen->gpu_targets.data[i].machine);
    while (codegen->linked.count > 0) LLVMDisposeModule(vec_pop(&codegen->linked).module);
    if (codegen->host_module != NULL) LLVMDisposeModule(codegen->host_module);
    if (codegen->host_target != NULL) LLVMDisposeTargetMachine(codegen->host_target);
    LLVMContextDispose(codegen->context);
}

LLVMContextRef codegen_context(Codegen *codegen)
{
    return codegen->context;
}

/* Host regions and emulated code were optimised when they were made; what emit/ added is simple. */
static void optimise_rest(Codegen *codegen)
{
    LLVMValueRef function = LLVMGetFirstFunction(codegen->host_module);
    for (; function != NULL; function = LLVMGetNextFunction(function)) {
        bool is_done =
            LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                          "tilec-done", strlen("tilec-done")) != NULL;
        if (!is_done && !LLVMIsDeclaration(function))
            passes_on_function(function, codegen->host_target,
                               "sroa,early-cse," QUIRK_INSTCOMBINE ",simplifycfg");
    }
}

static LLVMMemoryBufferRef emit(const Codegen *codegen, LLVMTargetMachineRef machine)
{
    char *error = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, codegen->host_module, LLVMObjectFile, &error,
                                            &buffer))
        ICE("LLVM writes no object: %s", error);
    return buffer;
}

bool codegen_host_object(Codegen *codegen, Arena *arena, const char **bytes, size_t *size)
{
    module_check(codegen_host_module(codegen), "host module");
    if (codegen->options.optimise > 0) optimise_rest(codegen);
    module_set_sections(codegen->host_module);
    const bool large = quirk_has_large_function(codegen->host_module);
    LLVMTargetMachineRef machine =
        large ? host_target_new(codegen, LLVMCodeGenLevelNone) : codegen->host_target;
    LLVMMemoryBufferRef buffer = emit(codegen, machine);
    if (large) LLVMDisposeTargetMachine(machine);
    *size = LLVMGetBufferSize(buffer);
    *bytes = arena_copy_text(arena, LLVMGetBufferStart(buffer), *size);
    LLVMDisposeMemoryBuffer(buffer);
    return true;
}

/* ---- images ---- */

static int launch_count(const Kernel *kernel)
{
    int count = 0;
    for (const Op *op = kernel->host->first; op != NULL; op = op->next)
        count += op->code == OP_launch;
    return count;
}

/* What maps_function needs of the kernel, for whoever writes the object. */
static const char *maps_text(Codegen *codegen, const Kernel *kernel)
{
    if (!kernel_map_count(kernel)) return NULL;
    Kernel *copy = kernel_clone(kernel);
    Buf text = {0};
    for (Op *op = copy->host->first, *next; op; op = next) {
        next = op_next(op);
        if (op->code == OP_launch) op_erase(op);
    }
    kernel_print(copy, &text);
    const char *lasting = arena_copy_text(codegen->session->arena, text.data, text.length);
    buf_free(&text);
    kernel_free(copy);
    return lasting;
}

bool image_start(Codegen *codegen, Kernel *kernel, const ArchChoice *arch, Image *out)
{
    CHECK(kernel->stage == STAGE_THREADED);
    int count = launch_count(kernel);
    *out = (Image){.target = arch->target,
                   .maps = maps_text(codegen, kernel),
                   .in_order = quirk_is_in_order(kernel)};
    out->entries = arena_new_array(codegen->session->arena, ImageEntry, count + 1);
    return arch->emulator ? emulator_image(codegen, kernel, out)
                          : nvptx_image(codegen, kernel, out);
}

bool image_finish(Codegen *codegen, Image *image)
{
    return image->job == NULL || ptxas_finish(codegen, image);
}
