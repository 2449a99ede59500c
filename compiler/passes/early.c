/* early.c: launches whose blocks begin while the last ones of the launch before are still at work.
 *
 * Between two launches a GPU has nothing to do: the last blocks end, then those of the next one
 * begin, make their barriers and find out what is theirs. That needs nothing of what others wrote.
 * So a launch may begin as soon as all blocks of the one before have, where there is room, and
 * waits, before its work begins, until all that was launched before is done. Work begins with the
 * first op that is not known to be of the block alone; never later, so that a wait stands in no
 * loop and between no products under way. */
#include "passes/passes.h"

static bool is_own(const Type *type)
{
    return type->space == SPACE_SHARED || type->space == SPACE_CLUSTER ||
           type->space == SPACE_LOCAL;
}

/* What blocks do before their work: all that it needs is theirs. */
static bool is_before_work(const Op *op)
{
    const unsigned traits = op_info(op->code)->traits;
    if (!(traits & (READS | WRITES))) return true;
    switch (op->code) {
    case OP_barrier:
    case OP_cluster_arrive:
    case OP_cluster_wait:
    case OP_fence_async:
    case OP_mbarrier_init:
    case OP_registers:
    case OP_local_base: return true;
    case OP_ld:
    case OP_st: return is_own(op->operands[0]->type);
    default: return false;
    }
}

static void wait_before(Op *op)
{
    Builder builder = builder_before(op);
    build_op(&builder, OP_launch_wait, 0, NULL, 0, NULL);
}

/* Each thread waits where its work begins. False: some may have none. */
static bool wait_in(Region *region)
{
    for (Op *op = region->first; op; op = op->next) {
        for (int i = 0; op->code == OP_if && i < op->region_count; i++) wait_in(op->regions[i]);
        if (op->code == OP_if || is_before_work(op)) continue;
        wait_before(op);
        return true;
    }
    return false;
}

/* A launch that has nothing to do, too, is done after those before it: the next one waits for it
 * alone. */
static void let_begin(Op *launch)
{
    Region *region = launch_region(launch);
    if (!wait_in(region)) {
        Builder builder = builder_at_end(region, launch->span);
        build_op(&builder, OP_launch_wait, 0, NULL, 0, NULL);
    }
    op_set_int(launch, ATTR_early, 1);
}

/* Persistent blocks of many turns gain nothing that counts by an early first one, so the runtime
 * does not ask for it (begins_early in launch.c), and what waits would cost them some of ptxas's
 * schedule. */
static bool has_many_turns(const Op *launch)
{
    enum { MANY = 2 * 132 }; /* blocks: more than an H200 runs of such at a time */
    int64_t blocks = 1, extent;
    if (!op_int(launch, ATTR_persistent, 0)) return false;
    for (int d = 0; d < 3; d++) {
        if (!value_constant(launch->operands[d], &extent)) return false;
        blocks *= extent <= MANY ? extent : MANY + 1;
    }
    return blocks > MANY;
}

bool pass_early(Kernel *kernel, const Target *target)
{
    if (!target_has(target, HAS_CLUSTER)) return true; /* as old as those */
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch && !op_int(op, ATTR_cooperative, 0) && !has_many_turns(op))
            let_begin(op);
    return true;
}
