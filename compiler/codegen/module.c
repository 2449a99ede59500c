/* module.c: what all code generators do to LLVM's modules and functions; what an image says of a
 * launch. It knows none of them. */
#include "codegen/llvm.h"
#include "ir/group.h"

#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>

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

/* ---- the host's module ---- */

LLVMModuleRef host_module_new(Codegen *codegen, const char *name)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name, codegen->context);
    LLVMSetTarget(module, codegen->host_triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(codegen->host_target);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    return module;
}

static void link_into(LLVMModuleRef module, LLVMModuleRef more)
{
    if (LLVMLinkModules2(module, more)) ICE("LLVM cannot link a module into the host's");
}

/* Linking looks at all of the module that it adds to: those of about one size go together. */
void module_link(Codegen *codegen, LLVMModuleRef module)
{
    LinkedModule added = {module, 1};
    while (codegen->linked.count > 0 && vec_last(&codegen->linked).modules <= added.modules) {
        LinkedModule before = vec_pop(&codegen->linked);
        link_into(before.module, added.module);
        added = (LinkedModule){before.module, before.modules + added.modules};
    }
    vec_push(codegen->session->arena, &codegen->linked, added);
}

LLVMModuleRef codegen_host_module(Codegen *codegen)
{
    for (size_t i = codegen->linked.count; i-- > 1;)
        link_into(codegen->linked.data[i - 1].module, codegen->linked.data[i].module);
    if (codegen->linked.count > 0) link_into(codegen->host_module, codegen->linked.data[0].module);
    codegen->linked.count = 0;
    return codegen->host_module;
}

/* ---- sections ---- */

/* Whether the constant holds an address. */
static bool holds_address(LLVMValueRef constant)
{
    bool found = LLVMIsAGlobalValue(constant) != NULL ||
                 LLVMGetValueKind(constant) == LLVMConstantExprValueKind;
    for (int i = 0; !found && i < LLVMGetNumOperands(constant); i++)
        found = holds_address(LLVMGetOperand(constant, (unsigned)i));
    return found;
}

static const char *section_kind(LLVMValueRef global)
{
    if (LLVMIsAFunction(global) != NULL) return ".text";
    LLVMValueRef constant = LLVMGetInitializer(global);
    if (LLVMIsGlobalConstant(global)) return holds_address(constant) ? ".data.rel.ro" : ".rodata";
    return LLVMIsNull(constant) ? ".bss" : ".data";
}

void global_set_section(LLVMValueRef global, const char *owner)
{
    Buf name = {0};
    buf_printf(&name, "%s.%s", section_kind(global), owner);
    LLVMSetSection(global, name.data);
    buf_free(&name);
}

/* Constants without an address of their own and without one in them are merged with equal ones. */
static bool is_merged(LLVMValueRef global)
{
    return LLVMGetUnnamedAddress(global) == LLVMGlobalUnnamedAddr && LLVMIsGlobalConstant(global) &&
           !holds_address(LLVMGetInitializer(global));
}

static void set_own_section(LLVMValueRef global)
{
    size_t length;
    const char *name = LLVMGetValueName2(global, &length), *section = LLVMGetSection(global);
    const bool is_placed = section != NULL && *section != '\0';
    if (!LLVMIsDeclaration(global) && !is_placed && length > 0) global_set_section(global, name);
}

void module_set_sections(LLVMModuleRef module)
{
    LLVMValueRef global;
    for (global = LLVMGetFirstFunction(module); global != NULL;
         global = LLVMGetNextFunction(global))
        set_own_section(global);
    for (global = LLVMGetFirstGlobal(module); global != NULL; global = LLVMGetNextGlobal(global))
        if (!LLVMIsDeclaration(global) && !is_merged(global)) set_own_section(global);
}

/* ---- images ---- */

int entry_blocks(const ImageEntry *entry)
{
    return entry->cluster[0] * entry->cluster[1] * entry->cluster[2];
}

void entry_set_launch_kind(ImageEntry *entry, const Op *launch)
{
    entry->grid = launch_blocks(launch);
    entry->expected = (int)op_int(launch, ATTR_expected_blocks, 0);
    const Attr *cluster = op_attr(launch, ATTR_cluster);
    const Attr *merged = op_attr(launch, ATTR_merged);
    for (int i = 0; i < 2; i++) entry->merged[i] = merged ? (int)merged->integers[i] : 0;
    entry->persistent = (int)op_int(launch, ATTR_persistent, 0);
    entry->cooperative = (int)op_int(launch, ATTR_cooperative, 0);
    entry->dependent = (int)op_int(launch, ATTR_dependent, 0);
    for (int i = 0; i < 3; i++) entry->cluster[i] = cluster != NULL ? (int)cluster->integers[i] : 1;
}
