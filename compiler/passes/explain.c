/* explain.c: says what became of the loops, to who asks: needs and leaves a SYNCED kernel. What
 * other passes decide they say themselves, by kernel_remark. */
#include "passes/access.h"
#include "passes/group.h"

enum { TILES = 16 };

/* What a loop does with shared tiles of several slots. */
typedef struct Loop {
    const Op *op;
    const Op *rings[TILES]; /* shared_allocs */
    int count;
    bool takes, fills; /* slots of another group, for one */
    int64_t waits;     /* until so many groups of copies are under way; -1: it does not */
    const Op *copy;
} Loop;

static void note_ring(Loop *loop, const Value *tile)
{
    const Op *root = tile->type->kind == TYPE_SHARED ? shared_root(tile) : NULL;
    if (!root || root->results[0].type->rank <= tile->type->rank || loop->count == TILES) return;
    for (int i = 0; i < loop->count; i++)
        if (loop->rings[i] == root) return;
    loop->rings[loop->count++] = root;
}

static bool is_copy(const Op *op)
{
    return op->operand_count > 1 && op->operands[0]->type->kind == TYPE_VIEW &&
           op->operands[1]->type->kind == TYPE_SHARED;
}

static void look_at(Loop *loop, const Op *op)
{
    for (int i = 0; i < op->operand_count && op->code != OP_shared_view; i++)
        note_ring(loop, op->operands[i]);
    loop->takes |= op->code == OP_slot_take;
    loop->fills |= op->code == OP_slot_fill || op->code == OP_slot_claim;
    if (is_copy(op)) loop->copy = op;
    if (op->code == OP_copy_wait) loop->waits = op_int(op, ATTR_count, 0);
}

/* The threads that fill slots which others take. */
static void find_producers(Op *op, void *context)
{
    if (op->code == OP_slot_fill) *(int *)context = op_threads(op).count;
}

static int64_t slot_bytes(const Loop *loop)
{
    int64_t bytes = 0;
    for (int i = 0; i < loop->count; i++) {
        const Type *type = loop->rings[i]->results[0].type;
        bytes += type_bytes(type) / type->shape[0];
    }
    return bytes;
}

static void remark_ring(Kernel *kernel, const Loop *loop)
{
    const int64_t slots = loop->rings[0]->results[0].type->shape[0];
    int producers = 0;
    kernel_visit(kernel, find_producers, &producers);
    if (loop->takes)
        kernel_remark(
            kernel, loop->op->span,
            "a loop pipelined over %lld slots of %lld bytes, which %d threads of their own fill",
            (long long)slots, (long long)slot_bytes(loop), producers);
    else
        kernel_remark(kernel, loop->op->span,
                      "a loop pipelined over %lld slots of %lld bytes, copied to %lld rounds ahead",
                      (long long)slots, (long long)slot_bytes(loop), (long long)(loop->waits + 1));
}

static void explain_loop(Op *op, void *context)
{
    if (op->code != OP_for && op->code != OP_while) return;
    Kernel *kernel = context;
    Loop loop = {.op = op, .waits = -1};
    const Region *body = op->regions[op->region_count - 1];
    for (const Op *inner = body->first; inner; inner = inner->next) look_at(&loop, inner);
    if (loop.fills && !loop.takes) return; /* the other half of one that is told of */
    if (loop.takes || (loop.count && loop.copy && loop.waits >= 0))
        remark_ring(kernel, &loop);
    else if (loop.copy)
        kernel_remark(kernel, op->span,
                      "a loop not pipelined: each round waits for its own copies to shared memory");
}

bool pass_explain(Kernel *kernel, const Target *target)
{
    (void)target;
    if (kernel->wants_remarks) kernel_visit(kernel, explain_loop, kernel);
    return true;
}
