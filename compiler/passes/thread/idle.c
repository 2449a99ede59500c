/* idle.c: what waits for asynchronous copies where none are in flight: a copy that memory is not
 * aligned for has become loads and stores. Groups of copies are for waits that count them: one for
 * all copies needs none. */
#include "passes/pass.h"

typedef struct Copies {
    bool begun, counted;
} Copies;

static void find(Op *op, void *context)
{
    Copies *copies = context;
    copies->begun |= op->code == OP_cp_async;
    copies->counted |= op->code == OP_copy_wait && op_attr(op, ATTR_count);
}

static void drop(Op *op, void *context)
{
    const Copies *copies = context;
    const bool idle_commit = op->code == OP_copy_commit && !(copies->begun && copies->counted),
               idle_wait = op->code == OP_copy_wait && !copies->begun;
    if (idle_commit || idle_wait) op_erase(op);
}

bool pass_idle(Kernel *kernel, PassContext *context)
{
    (void)context;
    for (Op *op = kernel->host->first; op; op = op->next) {
        Copies copies = {0};
        if (op->code != OP_launch) continue;
        if (!kernel_had(kernel, OP_copy_commit) && !kernel_had(kernel, OP_copy_wait)) continue;
        region_visit(launch_region(op), find, &copies);
        region_visit(launch_region(op), drop, &copies);
    }
    return true;
}
