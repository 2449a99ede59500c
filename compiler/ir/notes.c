/* notes.c: see notes.h. */
#include "ir/notes.h"

#include "ir/group.h"

/* ---- shared buffers ---- */

/* One index of the first dimension, which is a stage. */
static bool is_view_of_stage(const Op *op, const Value *buffer)
{
    const Attr *dims = op->code == OP_shared_view ? op_attr(op, ATTR_dims) : NULL;
    return dims && operand(op, tile) == buffer && dims->count == buffer->type->rank - 1 &&
           (dims->count == 0 || dims->integers[0] == 1);
}

/* Of a buffer of which something is used by stages in a pipelined loop; else 1. */
static int64_t buffer_stages(const Value *buffer)
{
    for (const OpUse *use = buffer->uses; use; use = use->next) {
        const Op *loop = op_enclosing(use->op, OP_for);
        if (loop && op_attr(loop, ATTR_stages) && is_view_of_stage(use->op, buffer))
            return buffer->type->shape[0];
    }
    return 1;
}

static bool has_mbarriers(const Value *buffer)
{
    for (const OpUse *use = buffer->uses; use; use = use->next)
        if (use->op->code == OP_pipeline_init) return true;
    return false;
}

/* Of a buffer of mbarriers: two a stage. */
static int64_t stages_of(const Op *alloc)
{
    const Type *type = alloc->results[0].type;
    if (has_mbarriers(&alloc->results[0])) return type->shape[1];
    return op_attr(alloc, ATTR_multi_buffer) ? type->shape[0] : buffer_stages(&alloc->results[0]);
}

bool note_of_buffer(const Op *op, Buf *out)
{
    if (op->code != OP_shared_alloc) return false;
    const int64_t stages = stages_of(op), bytes = op_int(op, ATTR_bytes, 0);
    const Attr *offset = op_attr(op, ATTR_offset);
    if (stages == 1 && !offset) return false;
    buf_text(out, has_mbarriers(&op->results[0]) ? "mbarriers" : "buffer");
    if (bytes) buf_printf(out, " of %lld bytes", (long long)bytes);
    if (offset) buf_printf(out, " at %lld", (long long)offset->integer);
    if (stages > 1) buf_printf(out, ", %lld stages", (long long)stages);
    return true;
}

/* ---- roles ---- */

static const char *role_of(const Region *region)
{
    const bool produces = region_has(region, OP_producer_acquire) ||
                          region_has(region, OP_producer_commit),
               consumes =
                   region_has(region, OP_consumer_wait) || region_has(region, OP_consumer_release);
    return produces && consumes ? "producer and consumer"
           : produces           ? "producer"
           : consumes           ? "consumer"
                                : NULL;
}

bool note_of_role(const Op *op, int index, Buf *out)
{
    const char *role = is_group(op) ? role_of(op->regions[index]) : NULL;
    if (!role) return false;
    buf_text(out, role);
    if (index > 0) return true;
    const ThreadGroup threads = group_threads(op);
    buf_printf(out, ": thread%s %d", threads.count == 1 ? "" : "s", threads.begin);
    if (threads.count > 1) buf_printf(out, " to %d", threads.begin + threads.count - 1);
    return true;
}

/* ---- loops ---- */

typedef struct Plan {
    int64_t stages, waits;          /* 0: none; groups of copies left in flight, -1: nobody waits */
    bool acquires, waits_for_stage; /* stages */
    bool by_tma, by_cp_async;
    bool is_asynchronous; /* a product is in flight between iterations */
} Plan;

static void add_to_plan(Plan *plan, const Op *op)
{
    const bool has_stages = op->code == OP_producer_acquire || op->code == OP_producer_commit ||
                            op->code == OP_consumer_wait || op->code == OP_consumer_release;
    if (has_stages) plan->stages = operand(op, barriers)->type->shape[1];
    plan->acquires |= op->code == OP_producer_acquire;
    plan->waits_for_stage |= op->code == OP_consumer_wait;
    plan->by_tma |= op->code == OP_tma_load;
    plan->by_cp_async |= op_begins_copy(op);
    plan->is_asynchronous |= op->code == OP_dot_shared && op_int(op, ATTR_async, 0);
    if (op->code == OP_copy_wait) plan->waits = op_int(op, ATTR_count, 0);
}

static Plan plan_of(const Op *loop)
{
    Plan plan = {.waits = -1};
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op)) {
        add_to_plan(&plan, op);
        if (op->code != OP_if) continue; /* a fill may hang on whether there is an iteration left */
        for (const Op *inner = op->regions[0]->first; inner; inner = op_next(inner))
            add_to_plan(&plan, inner);
    }
    if (!plan.stages && plan.by_cp_async) plan.stages = op_int(loop, ATTR_stages, 0);
    return plan;
}

bool note_of_loop(const Op *op, int index, Buf *out)
{
    if (op->code != OP_for || index > 0) return false;
    const Plan plan = plan_of(op);
    if (plan.stages < 2 || (!plan.by_tma && !plan.by_cp_async && !plan.waits_for_stage))
        return false;
    buf_printf(out, "pipeline of %lld stages", (long long)plan.stages);
    if (plan.by_tma) buf_text(out, ", filled by TMA loads");
    if (plan.by_cp_async) buf_text(out, ", filled by cp.async");
    if (plan.by_cp_async && plan.waits >= 0)
        buf_printf(out, " %lld iterations ahead", (long long)plan.waits + 1);
    if (plan.acquires) buf_text(out, ", whose producer waits here");
    if (plan.waits_for_stage) buf_text(out, ", whose consumer waits here");
    if (plan.is_asynchronous) buf_text(out, "; wgmma stays in flight for an iteration");
    return true;
}
