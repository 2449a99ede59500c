/* load.c: loads what was built into this process, by LLVM's LLJIT. */
#include "build/load.h"

#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>

#include <string.h>

static bool failed(Session *session, LLVMErrorRef error)
{
    if (!error) return false;
    char *text = LLVMGetErrorMessage(error);
    diag_report(session->diags, DIAG_jit_failed, (Span){0}, text);
    LLVMDisposeErrorMessage(text);
    return true;
}

static LLVMOrcCSymbolMapPair symbol(LLVMOrcLLJITRef jit, const char *name, uintptr_t address)
{
    return (LLVMOrcCSymbolMapPair){LLVMOrcLLJITMangleAndIntern(jit, name),
                                   {address, {LLVMJITSymbolGenericFlagsExported, 0}}};
}

/* What tables and code refer to. */
static bool define_symbols(Session *session, LLVMOrcLLJITRef jit, const tile_emulator *emulator)
{
    const struct {
        const char *name;
        uintptr_t address;
    } plain[] = {{"memcpy", (uintptr_t)memcpy},
                 {"memset", (uintptr_t)memset},
                 {"memmove", (uintptr_t)memmove},
                 {"tile_the_emulator", (uintptr_t)emulator}};
    const size_t plain_count = sizeof plain / sizeof plain[0] - !emulator;
    size_t count = 0;
    LLVMOrcCSymbolMapPair *pairs =
        arena_new_array(session->arena, LLVMOrcCSymbolMapPair,
                        plain_count + (emulator ? emulator->symbol_count : 0));
    for (size_t i = 0; i < plain_count; i++)
        pairs[count++] = symbol(jit, plain[i].name, plain[i].address);
    for (uint64_t i = 0; emulator && i < emulator->symbol_count; i++)
        pairs[count++] =
            symbol(jit, emulator->symbols[i].name, (uintptr_t)emulator->symbols[i].address);
    return !failed(session, LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit),
                                                  LLVMOrcAbsoluteSymbols(pairs, count)));
}

const tile_kernel *load_kernel(Session *session, const Build *build, const char *name,
                               const tile_emulator *emulator, LLVMOrcLLJITRef *jit)
{
    const char *table = arena_printf(session->arena, "%s_kernel", name);
    LLVMOrcExecutorAddress address;
    *jit = NULL;
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    if (failed(session, LLVMOrcCreateLLJIT(jit, NULL)) || !define_symbols(session, *jit, emulator))
        return NULL;
    LLVMMemoryBufferRef object =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(build->object, build->object_size, table);
    if (failed(session,
               LLVMOrcLLJITAddObjectFile(*jit, LLVMOrcLLJITGetMainJITDylib(*jit), object)) ||
        failed(session, LLVMOrcLLJITLookup(*jit, &address, table)))
        return NULL;
    return (const tile_kernel *)(uintptr_t)address;
}

/* What the kernel is but for its symbol: the same in all that are made of the same text. */
static Name kernel_text(Session *session, Kernel *kernel)
{
    Buf text = {0};
    for (; kernel; kernel = kernel->next_configuration) {
        const Name symbol = kernel->name;
        kernel->name = kernel->export_name;
        kernel_print(kernel, &text);
        if (kernel->rounds_products) buf_text(&text, "its products are rounded\n");
        kernel->name = symbol;
    }
    const Name name = intern(session->names, text.data, text.length);
    buf_free(&text);
    return name;
}

const tile_kernel *load_once(Session *session, Map *loaded, Kernel *kernel, KernelLoad *load,
                             void *context)
{
    const tile_kernel *built = map_get(loaded, kernel);
    if (built) return built;
    const Name text = kernel_text(session, kernel);
    built = map_get(loaded, text);
    if (!built) built = load(context, kernel);
    if (!built) return NULL;
    map_set(session->arena, loaded, kernel, (void *)(uintptr_t)built);
    map_set(session->arena, loaded, text, (void *)(uintptr_t)built);
    return built;
}

bool load_result_extents(Session *session, Span at, const tile_kernel *kernel,
                         const void *const *arguments, int64_t *extents)
{
    const tile_specialisation *one = &kernel->specialisations[0];
    tile_grid *grids = arena_new_array(session->arena, tile_grid, one->launch_count + 1);
    uint64_t *workspaces = arena_new_array(session->arena, uint64_t, one->workspace_count + 1);
    const char *complaint = NULL;
    if (one->host(arguments, grids, extents, workspaces, &complaint, NULL) == TILE_OK) return true;
    diag_report(session->diags, DIAG_call_refused, at,
                complaint ? complaint : "the number of blocks is negative or too large");
    return false;
}
