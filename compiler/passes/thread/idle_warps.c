/* idle_warps.c: what some warps alone store, they alone compute.
 *
 * A tile of few elements lies in each warp once more, so that all warps compute it where one stores
 * it: a scan, or a sum, of a row. The ops that nothing else needs go behind a branch that a warp
 * takes as a whole, with what they read and the lanes they ask, from the last op on that has an
 * effect. What they need of the ops before them is in registers until then, and must not be much.
 * Loops that do no more than load and compute go there, too: of four warps that each add up the
 * same columns, three would take the fourth one's time. Where the tensor core is at work by itself
 * there are no branches for that: ptxas would have it wait. */
#include "passes/pass.h"
#include "ir/op_vec.h"

typedef struct Idle {
    Arena *arena;
    Map within;      /* ops that go behind the branch */
    OpVec ops;       /* the same, the last one first */
    int count, asks; /* ops; and those that all lanes do, and loops */
} Idle;

/* The thread's bits above the lane's alone decide. */
static bool is_of_warps(const Value *predicate)
{
    int64_t zero, mask;
    const Op *cmp = predicate->op;
    if (!cmp || cmp->code != OP_cmp || !value_constant(operand(cmp, b), &zero) || zero != 0)
        return false;
    const Op *bits = operand(cmp, a)->op;
    return bits && bits->code == OP_and && operand(bits, a)->op &&
           operand(bits, a)->op->code == OP_thread_id && value_constant(operand(bits, b), &mask) &&
           mask % WARP_SIZE == 0;
}

static const Value *predicate_of(const Op *op)
{
    return op->code == OP_st ? operand_given(op, predicate) : NULL;
}

static bool is_needed_within(const Idle *idle, const Op *op)
{
    bool used = false;
    for (int i = 0; i < op->result_count; i++)
        for (const OpUse *use = op->results[i].uses; use; use = use->next, used = true)
            if (!map_has(&idle->within, region_find_ancestor(op->parent, use->op))) return false;
    return used;
}

/* A `while` may wait for what others write: all threads do. */
static bool has_effects(const Op *op, const void *context)
{
    (void)context;
    return op->code != OP_for && op->code != OP_if && !op_has(op, PURE | LOADS | TERM);
}

static bool reads_memory(const Op *op)
{
    return op->region_count > 0 || op_has(op, LOADS);
}

static void count(Idle *idle, const Op *op)
{
    idle->count += op->code != OP_const;
    idle->asks += op_has(op, COOP | LOOP);
}

static void take(Idle *idle, Op *op)
{
    map_add(idle->arena, &idle->within, op);
    vec_push(idle->arena, &idle->ops, op);
    count(idle, op);
    for (int r = 0; r < op->region_count; r++)
        region_each (inner, op->regions[r]) count(idle, inner);
}

static void find_ops(Idle *idle, Op *last, const Value *predicate)
{
    bool reads = false; /* something that stays where it is reads memory */
    take(idle, last);
    for (Op *op = last->previous; op; op = op->previous) {
        if (predicate_of(op) == predicate && !reads) {
            take(idle, op);
            continue;
        }
        if (op_find_within(op, has_effects, NULL)) return;
        if (op != predicate->op && op->code != OP_const && is_needed_within(idle, op))
            take(idle, op);
        else
            reads |= reads_memory(op);
    }
}

static void add_entering(const Idle *idle, const Op *op, const Region *region, Map *seen)
{
    for (int o = 0; o < op->operand_count; o++) {
        const Value *value = op->operands[o];
        if (value->op && value->op->code != OP_const && value->op->parent == region &&
            !map_has(&idle->within, value->op))
            map_add(idle->arena, seen, value);
    }
}

/* Values that ops behind the branch need of those before it in the region; what comes from around
 * it is in registers all the time anyway. */
static int count_entering(const Idle *idle)
{
    Map seen = {0};
    vec_each (op, &idle->ops) {
        const Region *region = (*op)->parent;
        add_entering(idle, *op, region, &seen);
        for (int r = 0; r < (*op)->region_count; r++)
            region_each (inner, (*op)->regions[r]) add_entering(idle, inner, region, &seen);
    }
    return (int)seen.count;
}

static void build_branch_of(Idle *idle, Op *last, Value *predicate)
{
    Builder builder = builder_after(last);
    builder.span = last->span;
    Op *branch = build_branch(&builder, predicate);
    Op *end = branch->regions[0]->last;
    for (size_t i = idle->ops.count; i-- > 0;) op_move_before(idle->ops.data[i], end);
}

static void visit_region(Arena *arena, Region *region)
{
    for (Op *op = region->last; op; op = op->previous) {
        for (int r = 0; r < op->region_count; r++) visit_region(arena, op->regions[r]);
        const Value *predicate = predicate_of(op);
        if (!predicate || !is_of_warps(predicate)) continue;
        Idle idle = {.arena = arena};
        find_ops(&idle, op, predicate);
        Op *first = idle.ops.data[idle.ops.count - 1], *before = first->previous;
        if (idle.asks == 0 || idle.count < COST_BRANCH_OPS ||
            count_entering(&idle) > COST_BRANCH_ENTERING) {
            op = first; /* stores before this one would take fewer ops */
            continue;
        }
        build_branch_of(&idle, op, (Value *)(uintptr_t)predicate);
        if (!before) return;
        op = before->next ? before->next : before;
    }
}

bool pass_idle_warps(Kernel *kernel, PassContext *context)
{
    kernel_each_launch (op, kernel)
        if (!region_has_with(launch_region(op), ASYNC_PROXY))
            visit_region(context->arena, launch_region(op));
    return true;
}
