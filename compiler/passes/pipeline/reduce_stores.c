/* reduce_stores.c: what a gradient adds to memory by TMA is added where it is, not in registers.
 *
 *     before = load there; store there (before + more)    becomes    store there (more) {mode =
 * add}
 *
 * So nobody waits for what was there, which a block would have to begin with: L2 reads it. */
#include "passes/analysis/access.h"
#include "passes/pass.h"

static Op *load_before(const Op *store)
{
    for (Op *op = store->previous; op; op = op->previous)
        if (store_replaces(store, op)) return op;
    return NULL;
}

static void drop(Op *load)
{
    Op *cast = load->results->uses->op;
    Op *last = cast->code == OP_cast ? cast : load;
    const Type *type = last->results->type;
    Builder builder = builder_before(last);
    Value *zero = build_number(&builder, type->dtype, 0);
    value_replace(last->results, build_op(&builder, OP_splat, 1, &zero, 1, &type)->results);
    op_erase(last);
    if (last != load) op_erase(load);
}

bool pass_reduce_stores(Kernel *kernel, PassContext *context)
{
    (void)context;
    region_each_of (store, kernel->host, OP_store) {
        const DType dtype = operand(store, view)->type->dtype;
        const bool adds = op_attr(store, ATTR_tma) && op_attr(store, ATTR_added) &&
                          (dtype == DTYPE_f16 || dtype == DTYPE_bf16 || dtype == DTYPE_f32);
        Op *load = adds ? load_before(store) : NULL;
        if (!load) continue;
        drop(load);
        op_set_text(store, ATTR_mode, intern_text(kernel->session->names, "add"));
    }
    return true;
}
