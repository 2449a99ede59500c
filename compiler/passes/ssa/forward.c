/* forward.c: a tile that was written to shared memory and is read back at once stays in registers;
 * needs and leaves a TYPED kernel in SSA.
 *
 * Texts store sums by way of shared memory, so that the threads' stores are wide. How stores go is
 * for later passes to choose, which know more: by TMA, from a few rows of them at a time. What
 * other work reads stays where it is, and so does what such work stands between, for which the
 * registers may be needed. */
#include "ir/op_vec.h"
#include "passes/analysis/access.h"

enum { MOST_BETWEEN = 64 };

static bool is_stored_alone(const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next)
        if (use->op->code != OP_store &&
            !(op_has(use->op, ELEM) && is_stored_alone(use->op->results)))
            return false;
    return true;
}

/* What the op writes to all of the tile; NULL: it may write some of it, or is more work. */
static Value *stored_by(const Op *op, const Value *tile)
{
    const bool fits = op->code == OP_shared_store && operand(op, tile) == tile;
    return fits ? operand(op, value) : NULL;
}

static bool may_be_between(const Op *op, const Op *alloc)
{
    return !op->region_count && op->code != OP_dot &&
           (!shared_is_used(op, alloc) || shared_is_only_read(op));
}

/* What is in the tile where it is read; NULL: that is not known. */
static Value *find_stored(const Op *load)
{
    const Value *tile = operand(load, tile);
    int between = 0;
    for (const Op *op = load->previous; op && between < MOST_BETWEEN;
         op = op->previous, between++) {
        Value *stored = stored_by(op, tile);
        if (stored) return stored->type == load->results[0].type ? stored : NULL;
        if (!may_be_between(op, tile->op)) return NULL;
    }
    return NULL;
}

static bool is_whole(const Value *tile)
{
    return tile->op && tile->op->code == OP_shared_alloc;
}

/* More than this would be taken apart on its way through shared memory. */
static bool fits_registers(const Op *load)
{
    const Type *type = load->results[0].type;
    const int64_t words = type_elements(type) * dtype_bits(type->dtype) / REGISTER_BITS;
    return words <= (int64_t)COST_SPLIT_SUMS * op_threads(load).count;
}

static void forward(Op *op, void *context)
{
    (void)context;
    if (op->code != OP_shared_load || !is_whole(operand(op, tile)) || !fits_registers(op) ||
        !is_stored_alone(&op->results[0]))
        return;
    Value *stored = find_stored(op);
    if (!stored) return;
    value_replace(&op->results[0], stored);
    op_erase(op);
}

static bool is_only_written(const Value *tile)
{
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (!stored_by(use->op, tile)) return false;
    return true;
}

static void find_unread(Op *op, void *context)
{
    OpVec *unread = context;
    if (op->code == OP_shared_alloc && is_only_written(&op->results[0]))
        vec_push(op->parent->kernel->arena, unread, op);
}

static void drop_unread(Kernel *kernel)
{
    OpVec unread = {0};
    kernel_visit(kernel, find_unread, &unread);
    for (size_t i = 0; i < unread.count; i++) {
        Op *alloc = unread.data[i];
        while (alloc->results[0].uses) op_erase(alloc->results[0].uses->op);
        op_erase(alloc);
    }
}

bool pass_forward(Kernel *kernel, PassContext *context)
{
    (void)context;
    if (!region_has(kernel->host, OP_dot)) return true; /* sums are what texts store so */
    kernel_visit(kernel, forward, NULL);
    drop_unread(kernel);
    return true;
}
