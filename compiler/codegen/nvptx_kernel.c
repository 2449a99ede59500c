/* nvptx_kernel.c: the GPU: target machines, kernels, PTX text. */
#include "codegen/llvm.h"
#include "ir/group.h"
#include "codegen/quirks.h"

#include <stdio.h>
#include <string.h>

#include <llvm-c/Target.h>

#include "abi.h"

enum { PTX_KERNEL = 71 };

/* ---- target machines ---- */

static LLVMTargetMachineRef machine_make(const Target *target, int ptx, LLVMCodeGenOptLevel level)
{
    char cpu[32], features[32], *error = NULL;
    LLVMTargetRef llvm = NULL;
    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &llvm, &error)) ICE("LLVM: %s", error);
    snprintf(cpu, sizeof cpu, "sm_%d%c", target->number, target->suffix);
    snprintf(features, sizeof features, "+ptx%d", ptx);
    return LLVMCreateTargetMachine(llvm, "nvptx64-nvidia-cuda", cpu, features, level, LLVMRelocPIC,
                                   LLVMCodeModelDefault);
}

static bool has_short_pointers(LLVMTargetMachineRef machine)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    bool result = LLVMPointerSizeForAS(layout, SPACE_OF_SHARED) == 4;
    LLVMDisposeTargetData(layout);
    return result;
}

/* Shared memory has 32-bit addresses. */
static LLVMTargetMachineRef machine_with_short_pointers(const Target *target, int ptx,
                                                        LLVMCodeGenOptLevel level)
{
    LLVMTargetMachineRef machine = machine_make(target, ptx, level);
    if (has_short_pointers(machine)) return machine;
    quirk_set_options();
    LLVMDisposeTargetMachine(machine);
    machine = machine_make(target, ptx, level);
    CHECK(has_short_pointers(machine));
    return machine;
}

static LLVMTargetMachineRef machine_of(Codegen *codegen, const Target *target, int ptx,
                                       LLVMCodeGenOptLevel level)
{
    for (size_t i = 0; i < codegen->gpu_targets.count; i++)
        if (codegen->gpu_targets.data[i].target == target &&
            codegen->gpu_targets.data[i].ptx == ptx && codegen->gpu_targets.data[i].level == level)
            return codegen->gpu_targets.data[i].machine;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    NvptxTarget made = {target, ptx, level, machine_with_short_pointers(target, ptx, level)};
    vec_push(codegen->session->arena, &codegen->gpu_targets, made);
    return made.machine;
}

void nvptx_prepare(Codegen *codegen)
{
    machine_of(codegen, target_at(0), target_at(0)->ptx, LLVMCodeGenLevelDefault);
}

/* ---- kernels ---- */

static void add_attribute(Gen *gen, int index, LLVMAttributeRef attribute)
{
    LLVMAddAttributeAtIndex(gen->function, (LLVMAttributeIndex)(index + 1), attribute);
}

static unsigned attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* A tensor map is passed whole, and TMA reads it where it is. */
static void declare_map(Gen *gen, int index)
{
    static const char constant[] = "nvvm.grid_constant";
    LLVMTypeRef bytes = LLVMArrayType2(gen->types.i8, sizeof(tile_encoded_map));
    add_attribute(gen, index,
                  LLVMCreateTypeAttribute(gen->context, attribute_kind("byval"), bytes));
    add_attribute(
        gen, index,
        LLVMCreateEnumAttribute(gen->context, attribute_kind("align"), _Alignof(tile_encoded_map)));
    add_attribute(gen, index,
                  LLVMCreateStringAttribute(gen->context, constant, strlen(constant), "", 0));
}

static void parameter_align(Gen *gen, int index, const Parameter *parameter)
{
    int64_t multiple = parameter->multiple;
    if (parameter->value->type->kind != TYPE_POINTER || multiple <= 1) return;
    uint64_t power = (uint64_t)(multiple & -multiple);
    add_attribute(
        gen, index,
        LLVMCreateEnumAttribute(gen->context, attribute_kind("align"), power > 256 ? 256 : power));
}

/* A packed number comes in a byte of its own. */
static LLVMTypeRef parameter_type(const Gen *gen, const Type *type)
{
    const bool is_packed = type->kind == TYPE_SCALAR && dtype_is_packed(type->dtype);
    return is_packed ? gen->types.i8 : gen_type(gen, type);
}

/* The device's parameters are those that are no keys, in order. */
static void kernel_declare(Gen *gen, const char *symbol, const Op *launch)
{
    const Kernel *kernel = gen->kernel;
    LLVMTypeRef *types = arena_new_array(gen->arena, LLVMTypeRef, kernel->parameter_count + 1);
    int count = 0;
    char threads[32], blocks[32];
    for (int i = 0; i < kernel->parameter_count; i++)
        if (!kernel->parameters[i].is_key)
            types[count++] = parameter_type(gen, kernel->parameters[i].value->type);
    LLVMTypeRef type = LLVMFunctionType(gen->types.nothing, types, (unsigned)count, false);
    gen->function = LLVMAddFunction(gen->module, symbol, type);
    LLVMSetFunctionCallConv(gen->function, PTX_KERNEL);
    snprintf(threads, sizeof threads, "%d", launch_threads(launch).count);
    snprintf(blocks, sizeof blocks, "%d", (int)op_int(launch, ATTR_min_blocks, 1));
    function_set_text(gen->function, "nvvm.maxntid", threads);
    function_set_text(gen->function, "nvvm.minctasm", blocks);
    function_set_flag(gen->function, "nounwind");
}

/* Before TMA needs it. */
static void prefetch_map(Gen *gen, LLVMValueRef map)
{
    nvptx_asm(gen, gen->types.nothing,
              "{\n\t.reg .pred first;\n\t.reg .b32 thread;\n\tmov.u32 thread, %tid.x;\n\t"
              "setp.eq.u32 first, thread, 0;\n\t@first prefetch.tensormap [$0];\n\t}",
              "l,~{memory}", 1, &map);
}

static void kernel_define_parameters(Gen *gen)
{
    int index = 0;
    for (int i = 0; i < gen->kernel->parameter_count; i++) {
        const Parameter *parameter = &gen->kernel->parameters[i];
        if (parameter->is_key) {
            gen_define(gen, parameter->value, gen_key(gen, parameter));
            continue;
        }
        parameter_align(gen, index, parameter);
        LLVMValueRef value = LLVMGetParam(gen->function, (unsigned)index);
        if (parameter_is_map(parameter)) {
            declare_map(gen, index);
            prefetch_map(gen, value);
        }
        index++;
        if (parameter_type(gen, parameter->value->type) != gen_type(gen, parameter->value->type))
            value = LLVMBuildTrunc(gen->builder, value, gen_type(gen, parameter->value->type), "");
        gen_define(gen, parameter->value, value);
    }
}

static void kernel_emit(Codegen *codegen, Kernel *kernel, LLVMModuleRef module, const Op *launch,
                        Image *out)
{
    ImageEntry *entry = &out->entries[out->entry_count];
    Gen gen = gen_new(codegen, kernel, &nvptx_machine, out->target, module);
    entry->name = out->entry_count == 0 ? kernel->name
                                        : intern_printf(codegen->session->names, "%s_%d",
                                                        kernel->name, out->entry_count);
    entry->warps = launch_warps(launch);
    entry_set_launch_kind(entry, launch);
    entry->shared_bytes = (int)op_int(launch, ATTR_bytes, 0);
    out->entry_count++;
    kernel_declare(&gen, entry->name, launch);
    if (entry_blocks(entry) > 1) {
        char text[32];
        snprintf(text, sizeof text, "%d,%d,%d", entry->cluster[0], entry->cluster[1],
                 entry->cluster[2]);
        function_set_text(gen.function, "nvvm.cluster_dim", text);
    }
    if (codegen->options.lines) {
        gen.lines = lines_new(&gen);
        lines_function(&gen, launch, entry->name);
    }
    gen_at(&gen, gen_block(&gen, "entry"));
    kernel_define_parameters(&gen);
    gen_region(&gen, launch->regions[0]);
    LLVMBuildRetVoid(gen.builder);
    if (gen.lines != NULL) lines_finish(&gen);
    gen_free(&gen);
}

static const char *message_text(Codegen *codegen, char *message)
{
    const char *text = arena_copy_text(codegen->session->arena, message, strlen(message));
    LLVMDisposeMessage(message);
    return text;
}

/* What a kernel needs: values out of memory, common subexpressions, loops' invariants. default<O2>
 * gave the same PTX for matrix products and elementwise kernels, in up to a third more time. */
#define PASSES_OF_LOOPS                                                                            \
    "function(sroa,early-cse<memssa>,simplifycfg," QUIRK_INSTCOMBINE ","                           \
    "loop-mssa(loop-simplifycfg,licm<no-allowspeculation>,loop-rotate,licm),simplifycfg,loop("     \
    "indvars),"
#define PASSES_AFTER_LOOPS "gvn," QUIRK_INSTCOMBINE ",dse,adce,simplifycfg"
static const char nvptx_passes[] = PASSES_OF_LOOPS PASSES_AFTER_LOOPS ")";
/* Where a loop asks to be unrolled; the others are left to ptxas. Of what iterations access side by
 * side one access is made where it is known to be aligned. What follows from an iteration's number
 * alone is then the same for all of a loop around it. */
static const char nvptx_passes_unrolling[] =
    PASSES_OF_LOOPS "loop-unroll<no-partial;no-runtime;no-upperbound;no-peeling>,"
                    "loop-mssa(licm<allowspeculation>)," PASSES_AFTER_LOOPS ",infer-alignment)";

/* Of a large kernel (quirk_is_large); ptxas still does its work. */
static const char nvptx_passes_large[] =
    "function(sroa,early-cse,simplifycfg,instsimplify,early-cse,adce,simplifycfg)";

static bool is_unrolled(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_for && op_int(op, ATTR_unroll, 0) > 1;
}

static const char *passes_for(const Kernel *kernel)
{
    return region_find(kernel->host, is_unrolled, NULL) ? nvptx_passes_unrolling : nvptx_passes;
}

static const char *module_ptx(Codegen *codegen, LLVMModuleRef module, LLVMTargetMachineRef machine)
{
    char *error = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &error, &buffer))
        ICE("LLVM writes no PTX: %s", error);
    const char *text = arena_copy_text(codegen->session->arena, LLVMGetBufferStart(buffer),
                                       LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return text;
}

static LLVMModuleRef module_new(Codegen *codegen, const Kernel *kernel,
                                LLVMTargetMachineRef machine)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(kernel->name, codegen->context);
    LLVMSetTarget(module, "nvptx64-nvidia-cuda");
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    return module;
}

/* What waits for a phase by its parity is as young as this. */
static int ptx_version(const Kernel *kernel, const Target *target)
{
    enum { PARITY = 71 };
    const bool waits =
        region_has(kernel->host, OP_mbar_wait) || region_has(kernel->host, OP_mbar_phase);
    return waits && target->ptx < PARITY ? PARITY : target->ptx;
}

bool nvptx_image(Codegen *codegen, Kernel *kernel, Image *out)
{
    const int ptx = ptx_version(kernel, out->target);
    LLVMTargetMachineRef machine = machine_of(codegen, out->target, ptx, LLVMCodeGenLevelDefault);
    LLVMModuleRef module = module_new(codegen, kernel, machine);
    for (const Op *op = kernel->host->first; op != NULL; op = op->next)
        if (op->code == OP_launch) kernel_emit(codegen, kernel, module, op, out);
    module_check(module, kernel->name);
    const bool large = quirk_is_large(module);
    if (large) machine = machine_of(codegen, out->target, ptx, LLVMCodeGenLevelNone);
    if (large || codegen->options.optimise > 0)
        passes_on_module(module, machine, large ? nvptx_passes_large : passes_for(kernel));
    if (large || quirk_is_large(module)) { /* by now, as loops were unrolled */
        machine = machine_of(codegen, out->target, ptx, LLVMCodeGenLevelNone);
        quirk_cut_blocks(module);
    }
    quirk_last_waits_first(module);
    kernel->uses |= MAY_SHARE;
    if (!target_has(out->target, MAY_SHARE)) module_recompute(codegen->session->arena, module);
    module_check(module, kernel->name);
    if (codegen->options.keep_llvm)
        out->llvm = message_text(codegen, LLVMPrintModuleToString(module));
    out->ptx = module_ptx(codegen, module, machine);
    LLVMDisposeModule(module);
    out->kind = IMAGE_PTX;
    out->bytes = out->ptx;
    out->size = strlen(out->ptx);
    size_t errors = diag_error_count(codegen->session->diags);
    if (target_has(out->target, IS_PORTABLE)) return true;
    out->job = ptxas_start(codegen, out, kernel->span);
    return diag_error_count(codegen->session->diags) == errors;
}
