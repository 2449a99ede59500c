/* run_passes.h: the passes up to one thread's program; each may refuse the kernel, and leaves one
 * that the verifier takes. */
#ifndef TILEC_TESTS_RUN_PASSES_H
#define TILEC_TESTS_RUN_PASSES_H

#include "passes/passes.h"

/* Between `matrix` and `infer_layout`: that a part of a shared tile begins where the tensor core
 * reads it follows from facts of numbers, which the verifier does not have. */
static bool has_unplaced_operands(const Kernel *kernel)
{
    return kernel->stage < STAGE_LAID_OUT && kernel_had(kernel, OP_dot_shared);
}

static void fuzz_passes(Kernel *kernel)
{
    static const PassOptions options = {.verify_each = true};
    const Diags *diags = kernel->session->diags;
    const bool may_fail = diag_has_errors_of(diags, diag_row(DIAG_ir_invalid)->code) ||
                          has_unplaced_operands(kernel);
    if (passes_run(kernel, target_find("sm_90a"), &options) || may_fail) return;
    CHECK(!diag_has_errors_of(diags, diag_row(DIAG_ir_invalid)->code));
}

#endif
