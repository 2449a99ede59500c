/* explain.c: says what became of the loops, to who asks: needs and leaves a SYNCED kernel. What
 * other passes decide they say themselves, by kernel_remark. */
#include "passes/analysis/context.h"
#include "passes/pipeline/multi_buffer.h"

enum { TILES = 16 };

/* What a loop does with shared tiles of several stages. */
typedef struct Loop {
    const Op *op;
    const Op *buffers[TILES]; /* shared_allocs */
    int count;
    bool takes, fills; /* stages of another group, for one */
    bool by_tma;       /* it is TMA that fills them */
    bool copies;
    int64_t waits; /* until so many groups of copies are in flight; -1: it does not */
} Loop;

static void note_buffer(Loop *loop, const Value *tile)
{
    const Op *root = tile->type->kind == TYPE_SHARED ? shared_root(tile) : NULL;
    if (!root || root->results[0].type->rank <= tile->type->rank || loop->count == TILES) return;
    for (int i = 0; i < loop->count; i++)
        if (loop->buffers[i] == root) return;
    loop->buffers[loop->count++] = root;
}

static void look_at(Loop *loop, const Op *op)
{
    for (int i = 0; i < op->operand_count && op->code != OP_shared_view; i++)
        note_buffer(loop, op->operands[i]);
    loop->takes |= op->code == OP_consumer_wait;
    loop->fills |= op->code == OP_producer_commit || op->code == OP_producer_acquire;
    loop->by_tma |= op->code == OP_consumer_wait && op_attr(op, ATTR_tma);
    loop->copies |= op_begins_copy(op);
    if (op->code == OP_copy_wait) loop->waits = op_int(op, ATTR_count, 0);
}

static const char *who_fills(Kernel *kernel, const Loop *loop, Buf *out)
{
    if (loop->by_tma) return "filled by TMA loads";
    if (loop->takes) {
        const Op *producer = region_next_of(kernel->host, NULL, OP_producer_commit);
        buf_printf(out, "filled by %d producer threads with cp.async",
                   producer ? op_threads(producer).count : 0);
    } else {
        buf_printf(out, "filled by cp.async %d iteration%s ahead", (int)loop->waits + 1,
                   loop->waits ? "s" : "");
    }
    return out->data;
}

static int64_t stages_of(const Op *buffer)
{
    return buffer->results[0].type->shape[0];
}

static int64_t most_stages(const Loop *loop)
{
    int64_t most = 1;
    for (int i = 0; i < loop->count; i++)
        if (stages_of(loop->buffers[i]) > most) most = stages_of(loop->buffers[i]);
    return most;
}

/* Bytes of a stage of all that have so many. */
static int64_t stage_bytes(const Loop *loop, int64_t stages)
{
    int64_t bytes = 0;
    for (int i = 0; i < loop->count; i++)
        if (stages_of(loop->buffers[i]) == stages)
            bytes += type_bytes(loop->buffers[i]->results[0].type) / stages;
    return bytes;
}

/* Where others have several stages, what has one is copied before the loop. */
static void remark_multi_buffer(Kernel *kernel, const Loop *loop)
{
    const int64_t most = most_stages(loop), once = most > 1 ? stage_bytes(loop, 1) : 0;
    Buf text = {0}, before = {0};
    if (once) buf_printf(&before, "; %lld bytes are copied once, before it", (long long)once);
    kernel_remark(kernel, loop->op->span,
                  "a loop multi-buffered over %lld stage%s of %lld bytes, %s%s", (long long)most,
                  most == 1 ? "" : "s", (long long)stage_bytes(loop, most),
                  who_fills(kernel, loop, &text), once ? before.data : "");
    buf_free(&text);
    buf_free(&before);
}

static void explain_loop(Kernel *kernel, const Op *op)
{
    Loop loop = {.op = op, .waits = -1};
    const Region *body = op->regions[op->region_count - 1];
    for (const Op *inner = body->first; inner; inner = op_next(inner)) look_at(&loop, inner);
    if (loop.fills && !loop.takes) return; /* the other half of one that is told of */
    if (loop.count && (loop.takes || (loop.copies && loop.waits >= 0)))
        remark_multi_buffer(kernel, &loop);
    else if (loop.copies)
        kernel_remark(kernel, op->span,
                      "a loop not multi-buffered: each iteration waits for its own copies%s",
                      op_int(op, ATTR_stages, 0) ? "" : ", as the text asks no stages of it");
}

static void explain_op(Kernel *kernel, const Op *op)
{
    if (op->code == OP_for || op->code == OP_while) explain_loop(kernel, op);
    if (op->code == OP_tma_load) kernel_remark(kernel, op->span, "a copy by TMA load");
    if (op->code == OP_tma_store) kernel_remark(kernel, op->span, "a store by TMA store");
    if (op->code == OP_launch && op_attr(op, ATTR_persistent))
        kernel_remark(kernel, kernel->span,
                      "persistent blocks: as many as the device runs at a time are launched");
    if (op->code == OP_launch && op_attr(op, ATTR_persistent) && launch_cluster(op) > 1)
        kernel_remark(kernel, kernel->span,
                      "two blocks copy what both need together, as rows are not whole lines of 128 "
                      "bytes: each half of it, if the grid is even along x");
}

bool pass_explain(Kernel *kernel, PassContext *context)
{
    (void)context;
    if (!kernel->wants_remarks) return true;
    region_each (op, kernel->host) explain_op(kernel, op);
    return true;
}

/* ---- stores ---- */

/* Why stores of launches that multiply, or have loops to be pipelined, are no TMA stores. What
 * prevents it in the store itself is asked before copies are begun by other ops, which memory that
 * the store writes would then have to be told from. */

static bool is_pipelined(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, DOT) || (op_has(op, LOOP) && op_attr(op, ATTR_stages));
}

StoreFaults multi_buffer_note_stores(const Pass *pass)
{
    StoreFaults stores = {.pass = pass};
    if (!pass->kernel->wants_remarks || !region_find(pass->launch, is_pipelined, NULL))
        return stores;
    region_each_of (op, pass->launch, OP_store) {
        const char *why = target_has(pass->target, HAS_TMA)
                              ? tma_store_fault(analysis_ranges(pass->context), op)
                              : "the architecture has none";
        vec_push(pass->arena, &stores.faults, ((StoreFault){op, why}));
    }
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
    vec_each (store, &stores->faults) {
        if (op_attr(store->op, ATTR_tma)) continue;
        kernel_remark(pass->kernel, store->op->span, "a store not by TMA store: %s",
                      store->why ? store->why : fault_of_launch(pass->launch->parent));
    }
}
