/* run_passes.h: the passes up to one thread's program; each may refuse the kernel, and leaves one
 * that the verifier takes. */
#ifndef TILEC_TESTS_RUN_PASSES_H
#define TILEC_TESTS_RUN_PASSES_H

#include "passes/passes.h"

static void fuzz_passes(Kernel *kernel)
{
    static const PassOptions options = {.verify_each = true};
    const Diags *diags = kernel->session->diags;
    const bool may_fail = diag_has_errors_of(diags, diag_row(DIAG_ir_invalid)->code);
    if (passes_run(kernel, target_find("sm_90a"), &options) || may_fail) return;
    CHECK(!diag_has_errors_of(diags, diag_row(DIAG_ir_invalid)->code));
}

#endif
