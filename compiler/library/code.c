/* code.c: code for kernels that an interpreter's statements call: built, and loaded for good. */
#include "library/host.h"

#include "build/load.h"
#include "driver.h"

/* What the kernel is but for its symbol. */
static Name kernel_text(Session *session, Kernel *kernel)
{
    Buf text = {0};
    for (; kernel; kernel = kernel->next_configuration) {
        const Name symbol = kernel->name;
        kernel->name = kernel->export_name;
        kernel_print(kernel, &text);
        kernel->name = symbol;
    }
    const Name name = intern(session->names, text.data, text.length);
    buf_free(&text);
    return name;
}

static const tile_kernel *build_new(Library *library, Kernel *kernel)
{
    Export export = {
        .name = kernel->export_name, .specialisations = &kernel, .specialisation_count = 1};
    const ExportList exports = {&export, 1};
    const BuildWish wish = {.emit = {.tables_only = true}, .first_only = library->emulator != NULL};
    Build build;
    const tile_kernel *loaded = NULL;
    LLVMOrcLLJITRef jit; /* never disposed of: it holds the kernel */
    if (build_exports(library->session, library->options, library->archs, &exports, &wish, &build))
        loaded =
            load_kernel(library->session, &build, build.exports[0].name, library->emulator, &jit);
    build_free(&build);
    return loaded;
}

const tile_kernel *library_code(Library *library, Kernel *kernel)
{
    Arena *arena = library->session->arena;
    const tile_kernel *built = map_get(&library->kernels, kernel);
    if (built) return built;
    const Name text = kernel_text(library->session, kernel);
    built = map_get(&library->kernels, text);
    if (!built) built = build_new(library, kernel);
    if (!built) return NULL;
    map_set(arena, &library->kernels, kernel, (void *)(uintptr_t)built);
    map_set(arena, &library->kernels, text, (void *)(uintptr_t)built);
    return built;
}
