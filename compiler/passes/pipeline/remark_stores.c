/* remark_stores.c: why stores of launches that multiply, or have loops to be pipelined, are no TMA
 * stores. What prevents it in the store itself is asked before copies are begun by other ops, which
 * memory that the store writes would then have to be told from. */
#include "passes/analysis/context.h"
#include "passes/pipeline/multi_buffer.h"

static bool is_pipelined(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, DOT) || (op_has(op, LOOP) && op_attr(op, ATTR_stages));
}

static void note_store(Op *op, void *context)
{
    StoreFaults *stores = context;
    const StoreFault fault = {op, target_has(stores->pass->target, HAS_TMA)
                                      ? tma_store_fault(analysis_ranges(stores->pass->context), op)
                                      : "the architecture has none"};
    vec_push(stores->pass->arena, &stores->faults, fault);
}

StoreFaults multi_buffer_note_stores(const Pass *pass)
{
    StoreFaults stores = {.pass = pass};
    if (pass->kernel->wants_remarks && region_find(pass->launch, is_pipelined, NULL))
        region_visit_those(pass->launch, OP_store, note_store, &stores);
    return stores;
}

/* Stages of the next tile are filled while TMA writes this one: only then stores are its. */
static const char *fault_of_launch(const Op *launch)
{
    if (!region_has(launch_region(launch), OP_producer_commit))
        return "no producer warps work beside it";
    return op_attr(launch, ATTR_persistent) ? "threads store what loops by plan end with"
                                            : "its blocks are not persistent";
}

void multi_buffer_remark_stores(const StoreFaults *stores)
{
    const Pass *pass = stores->pass;
    for (size_t i = 0; i < stores->faults.count; i++) {
        const StoreFault *store = &stores->faults.data[i];
        if (op_attr(store->op, ATTR_tma)) continue;
        kernel_remark(pass->kernel, store->op->span, "a store not by TMA store: %s",
                      store->why ? store->why : fault_of_launch(pass->launch->parent));
    }
}
