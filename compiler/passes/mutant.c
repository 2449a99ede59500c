/* mutant.c: a kernel that lacks one of the ops that order others: whoever looks for races must find
 * that, unless nobody needed it. */
#include "passes/passes.h"

static const OpCode ordering[] = {
    OP_barrier,         OP_warp_sync,     OP_fence_async,     OP_copy_commit,
    OP_copy_wait,       OP_wgmma_wait,    OP_mbarrier_arrive, OP_mbarrier_wait,
    OP_cp_async_arrive, OP_tensor_commit, OP_tensor_wait,     OP_cluster_arrive,
    OP_cluster_wait,    OP_grid_sync,     OP_mbarrier_expect, OP_mbarrier_complete};

typedef struct Mutant {
    int left;
    Op *found;
} Mutant;

static void look(Op *op, void *context)
{
    Mutant *mutant = context;
    for (size_t i = 0; i < sizeof ordering / sizeof *ordering; i++)
        if (op->code == ordering[i] && --mutant->left == 0) mutant->found = op;
}

void mutant_make(Kernel *kernel, int index)
{
    Mutant mutant = {.left = index};
    kernel_visit(kernel, look, &mutant);
    Op *op = mutant.found;
    if (!op) {
        diag_report(kernel->session->diags, DIAG_no_mutant, kernel->span, kernel->name);
        return;
    }
    diag_report(kernel->session->diags, DIAG_mutant, op->span, kernel->name,
                op_info(op->code)->name);
    for (int i = 0; i < op->result_count; i++) /* a wait hands its operands on */
        value_replace(kernel, &op->results[i], op->operands[i]);
    op_erase(op);
}
