/* codegen.c: the front door: the LLVM context, the host module, images, and what the machines
 * share. */
#include "codegen/llvm.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/Transforms/PassBuilder.h>

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

void module_check(LLVMModuleRef module, const char *what)
{
    char *text = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &text))
        ICE("%s: LLVM refuses the code: %s", what, text);
    LLVMDisposeMessage(text);
}

/* Loops stay as the author and our passes made them: ptxas unrolls what pays. */
static LLVMPassBuilderOptionsRef pass_options(void)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopUnrolling(options, false);
    LLVMPassBuilderOptionsSetLoopVectorization(options, false);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, false);
    LLVMPassBuilderOptionsSetSLPVectorization(options, false);
    return options;
}

static void passes_done(LLVMErrorRef error, LLVMPassBuilderOptionsRef options)
{
    LLVMDisposePassBuilderOptions(options);
    if (error != NULL) ICE("LLVM: %s", LLVMGetErrorMessage(error));
}

void passes_on_module(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes)
{
    LLVMPassBuilderOptionsRef options = pass_options();
    passes_done(LLVMRunPasses(module, passes, machine, options), options);
}

void passes_on_function(LLVMValueRef function, LLVMTargetMachineRef machine, const char *passes)
{
    LLVMPassBuilderOptionsRef options = pass_options();
    passes_done(LLVMRunPassesOnFunction(function, passes, machine, options), options);
}

/* ---- attributes ---- */

void function_set_text(LLVMValueRef function, const char *key, const char *value)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    LLVMAttributeRef attribute = LLVMCreateStringAttribute(context, key, (unsigned)strlen(key),
                                                           value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, attribute);
}

static void set_flag_at(LLVMValueRef function, LLVMAttributeIndex index, const char *name)
{
    LLVMContextRef context = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    CHECK(kind != 0);
    LLVMAttributeRef attribute = LLVMCreateEnumAttribute(context, kind, 0);
    LLVMAddAttributeAtIndex(function, index, attribute);
}

void function_set_flag(LLVMValueRef function, const char *name)
{
    set_flag_at(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name);
}

void parameter_set_flag(LLVMValueRef function, int index, const char *name)
{
    set_flag_at(function, (LLVMAttributeIndex)(index + 1), name);
}

/* ---- the host ---- */

typedef struct HostTarget {
    const char *prefix, *cpu;
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
    for (size_t i = 0; i < sizeof host_targets / sizeof *host_targets; i++)
        if (strncmp(triple, host_targets[i].prefix, strlen(host_targets[i].prefix)) == 0)
            return &host_targets[i];
    return NULL;
}

static bool host_target_make(Codegen *codegen)
{
    const HostTarget *host = host_find(codegen->host_triple);
    LLVMTargetRef target = NULL;
    char *error = NULL;
    if (host != NULL) host->initialise();
    if (host == NULL || LLVMGetTargetFromTriple(codegen->host_triple, &target, &error)) {
        diag_report(codegen->session->diags, DIAG_unknown_host, (Span){0}, codegen->host_triple);
        LLVMDisposeMessage(error);
        return false;
    }
    LLVMCodeGenOptLevel level =
        codegen->options.optimise > 0 ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelLess;
    codegen->host_target = LLVMCreateTargetMachine(target, codegen->host_triple, host->cpu, "",
                                                   level, LLVMRelocPIC, LLVMCodeModelDefault);
    return codegen->host_target != NULL;
}

LLVMModuleRef host_module_new(Codegen *codegen, const char *name)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name, codegen->context);
    LLVMSetTarget(module, codegen->host_triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(codegen->host_target);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    return module;
}

void module_link(Codegen *codegen, LLVMModuleRef module)
{
    if (LLVMLinkModules2(codegen->host_module, module))
        ICE("LLVM cannot link a module into the host's");
}

/* ---- the code generator ---- */

GenTypes gen_types_new(LLVMContextRef context)
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

static char *host_triple_text(Arena *arena, const char *given)
{
    char *found = given == NULL ? LLVMGetDefaultTargetTriple() : NULL;
    const char *text = given != NULL ? given : found;
    char *copy = arena_copy_text(arena, text, strlen(text));
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
    if (codegen->host_module != NULL) LLVMDisposeModule(codegen->host_module);
    if (codegen->host_target != NULL) LLVMDisposeTargetMachine(codegen->host_target);
    LLVMContextDispose(codegen->context);
}

LLVMModuleRef codegen_host_module(Codegen *codegen)
{
    return codegen->host_module;
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
                               "sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg");
    }
}

bool codegen_host_object(Codegen *codegen, Arena *arena, const char **bytes, size_t *size)
{
    char *error = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    module_check(codegen->host_module, "host module");
    if (codegen->options.optimise > 0) optimise_rest(codegen);
    if (LLVMTargetMachineEmitToMemoryBuffer(codegen->host_target, codegen->host_module,
                                            LLVMObjectFile, &error, &buffer))
        ICE("LLVM writes no object: %s", error);
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
        next = op->next;
        if (op->code == OP_launch) op_erase(op);
    }
    kernel_print(copy, &text);
    const char *lasting = arena_copy_text(codegen->session->arena, text.data, text.length);
    buf_free(&text);
    kernel_free(copy);
    return lasting;
}

int entry_blocks(const ImageEntry *entry)
{
    return entry->cluster[0] * entry->cluster[1] * entry->cluster[2];
}

void entry_set_company(ImageEntry *entry, const Op *launch)
{
    const Attr *cluster = op_attr(launch, ATTR_cluster);
    entry->persistent = (int)op_int(launch, ATTR_persistent, 0);
    entry->cooperative = (int)op_int(launch, ATTR_cooperative, 0);
    entry->early = (int)op_int(launch, ATTR_early, 0);
    for (int i = 0; i < 3; i++) entry->cluster[i] = cluster != NULL ? (int)cluster->integers[i] : 1;
}

typedef struct Shares {
    int fma, all;
} Shares;

static void count_fma(Op *op, void *context)
{
    Shares *shares = context;
    shares->all++;
    shares->fma += op->code == OP_fma;
}

/* Most of it multiplies and adds, in an order in which neighbours share operands. ptxas would mix
 * what may run at the same time, and read more registers than their banks give at once. */
static bool is_in_order(Kernel *kernel)
{
    Shares shares = {0};
    kernel_visit(kernel, count_fma, &shares);
    return 2 * shares.fma > shares.all;
}

bool image_start(Codegen *codegen, Kernel *kernel, const ArchChoice *arch, Image *out)
{
    CHECK(kernel->stage == STAGE_THREADED);
    int count = launch_count(kernel);
    *out = (Image){.target = arch->target,
                   .maps = maps_text(codegen, kernel),
                   .in_order = is_in_order(kernel)};
    out->entries = arena_new_array(codegen->session->arena, ImageEntry, count + 1);
    return arch->emulator ? emulator_image(codegen, kernel, out)
                          : nvptx_image(codegen, kernel, out);
}

bool image_finish(Codegen *codegen, Image *image)
{
    return image->job == NULL || ptxas_finish(codegen, image);
}
