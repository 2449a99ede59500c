/* run_passes.h: the passes up to one thread's program; each may refuse the kernel, and leaves one
 * that the verifier takes. */
#ifndef TILEC_TESTS_RUN_PASSES_H
#define TILEC_TESTS_RUN_PASSES_H

#include "passes/passes.h"

/* Whether somebody waits for such a product is looked at in one thread's program alone. */
static void find_open(Op *op, void *found)
{
    *(bool *)found |= op->code == OP_dot_shared && op_attr(op, ATTR_open) != NULL;
}

static void fuzz_passes(Kernel *kernel)
{
    static const PassOptions options = {.verify_each = true};
    const Diags *diags = kernel->session->diags;
    bool may_fail = diag_has_errors_of(diags, diag_row(DIAG_ir_invalid)->code);
    kernel_visit(kernel, find_open, &may_fail);
    if (passes_run(kernel, target_find("sm_90a"), &options) || may_fail) return;
    CHECK(!diag_has_errors_of(diags, diag_row(DIAG_ir_invalid)->code));
}

#endif
