/* cache.c: an entry of the cache whose hash is right: units of a build as an earlier one left them.
 */
#include "fuzz.h"
#include "build/units.h"

/* Not reached from here. */
bool image_start(Codegen *codegen, Kernel *kernel, const ArchChoice *arch, Image *out)
{
    (void)codegen, (void)kernel, (void)arch, (void)out;
    return false;
}

bool image_finish(Codegen *codegen, Image *image)
{
    (void)codegen, (void)image;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Session *session = session_new();
    ArchChoice items[] = {{.target = target_find("sm_90a")}, {.target = target_find("sm_80")}};
    const ArchList archs = {.items = items, .count = 2};
    Kernel *kernel = kernel_new(session, intern_text(session->names, "k"), (Span){0});
    kernel_add_parameter(kernel, intern_text(session->names, "n"),
                         type_scalar(kernel->types, DTYPE_i32), (Span){0});
    SpecialisationImages images = {.kernel = kernel};
    Taker taker = {.session = session, .at = (const char *)data, .left = size};
    take_unit(&taker, &archs, size % 2, &images);
    kernel_free(kernel);
    fuzz_close(session);
    return 0;
}
