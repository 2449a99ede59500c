/* code.c: code for kernels that an interpreter's statements call: built, and loaded for good. */
#include "library/host.h"

#include "build/load.h"
#include "driver.h"

static const tile_kernel *build_new(void *context, Kernel *kernel)
{
    Library *library = context;
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
    return load_once(library->session, &library->kernels, kernel, build_new, library);
}
