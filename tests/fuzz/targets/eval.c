/* eval.c: a program: all that is evaluated at compile time, its kernels staged and checked, and
 * their passes up to one thread's program. */
#include "fuzz.h"
#include "mutate_text.h"
#include "eval/eval.h"
#include "run_passes.h"

static void lower(const Kernel *typed)
{
    CHECK(kernel_verify(typed));
    Kernel *kernel = kernel_clone(typed);
    fuzz_passes(kernel);
    kernel_free(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* Less than what is allowed else: it takes longer here. */
    static const EvalOptions options = {.max_calls = 50000, .max_memory = (size_t)512 << 20};
    Session *session = session_new();
    Program *program =
        program_new(session, fuzz_source(session, "fuzz.tile", data, size), &options);
    ExportList exports = {0};
    if (program && program_export(program, NULL, 0, &exports))
        for (int i = 0; i < exports.count; i++)
            for (int j = 0; j < exports.items[i].specialisation_count; j++)
                lower(exports.items[i].specialisations[j]);
    if (program) program_free(program);
    fuzz_close(session);
    return 0;
}
