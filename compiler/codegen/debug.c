/* debug.c: line tables, so that profilers and compute-sanitizer name the source. */
#include "codegen/llvm.h"
#include "codegen/quirks.h"

#include <string.h>

#include <llvm-c/DebugInfo.h>

struct Lines {
    LLVMDIBuilderRef builder;
    LLVMMetadataRef subprogram;
    const Source *source; /* of the kernel: the one file that a subprogram has */
};

static void module_flag(Gen *gen, const char *name, int64_t value)
{
    if (LLVMGetModuleFlag(gen->module, name, strlen(name)) != NULL) return;
    LLVMAddModuleFlag(gen->module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(gen_i32(gen, value)));
}

struct Lines *lines_new(Gen *gen)
{
    struct Lines *lines = arena_new_of(gen->arena, struct Lines);
    lines->builder = LLVMCreateDIBuilder(gen->module);
    lines->source = gen->kernel->span.source;
    module_flag(gen, "Debug Info Version", LLVMDebugMetadataVersion());
    module_flag(gen, "Dwarf Version", 2);
    return lines;
}

static Location location_of(const struct Lines *lines, Span span)
{
    if (span.source == NULL || span.source != lines->source) return (Location){0};
    return source_location(span.source, span.begin);
}

void lines_function(Gen *gen, const Op *launch, const char *symbol)
{
    struct Lines *lines = gen->lines;
    const char *path = lines->source != NULL ? lines->source->recorded : "";
    size_t length = strlen(symbol);
    LLVMMetadataRef file = LLVMDIBuilderCreateFile(lines->builder, path, strlen(path), "", 0);
    LLVMDIBuilderCreateCompileUnit(lines->builder, LLVMDWARFSourceLanguageC, file, "tilec", 5, true,
                                   "", 0, 2, "", 0, (LLVMDWARFEmissionKind)QUIRK_LINES_ONLY, 0,
                                   false, false, "", 0, "", 0);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(lines->builder, file, NULL, 0, LLVMDIFlagZero);
    unsigned line = location_of(lines, launch->span).line;
    lines->subprogram =
        LLVMDIBuilderCreateFunction(lines->builder, file, symbol, length, symbol, length, file,
                                    line, type, false, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(gen->function, lines->subprogram);
}

/* A place in another file (a macro of the library) keeps the location of the op before it. */
void lines_at(Gen *gen, const Op *op)
{
    Location at = location_of(gen->lines, op->span);
    if (at.line == 0) return;
    LLVMMetadataRef location = LLVMDIBuilderCreateDebugLocation(gen->context, at.line, at.column,
                                                                gen->lines->subprogram, NULL);
    LLVMSetCurrentDebugLocation2(gen->builder, location);
}

void lines_finish(Gen *gen)
{
    LLVMDIBuilderFinalize(gen->lines->builder);
    LLVMDisposeDIBuilder(gen->lines->builder);
}
