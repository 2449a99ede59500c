/* warps.c: how many warps a block that multiplies has; needs and leaves a TYPED kernel in SSA.
 *
 * A tile is divided among a power of two of warps, and a product by wgmma among warpgroups that
 * each have rows or columns of it. Warps beyond those would only repeat what others do, and take
 * their registers. Where a launch does nothing that depends on how many threads there are, it gets
 *
 *     what the author asks for, if all its products can be divided so
 *     else the largest number below, or else the least one above, with which they can
 *
 * so that three warpgroups for a tile of 128 rows become two, beside which there is room for one
 * that copies. */
#include "passes/layout/matrix.h"

typedef struct Warps {
    const Kernel *kernel;
    const Target *target;
    int threads;   /* to be asked about */
    bool seen;     /* there is a product */
    bool depends;  /* on the number of threads */
    bool whole;    /* wgmma may do all products */
    bool possible; /* sums fit into the registers */
} Warps;

static void look_at(Op *op, void *context)
{
    Warps *warps = context;
    warps->depends |= op_has(op, PER_THREAD) && !op_int(op, ATTR_once, 0);
    warps->seen |= is_dot(op);
}

static void ask_product(Op *op, void *context)
{
    Warps *warps = context;
    if (!is_dot(op)) return;
    warps->whole &= wgmma_divides(warps->kernel, warps->target, op, warps->threads);
    warps->possible &= sums_fit(warps->target, operand(op, c)->type, warps->threads);
}

/* Whether so many can share all products: by wgmma, or with sums in registers. */
static bool can_share(Warps *warps, Op *launch, int count, bool whole)
{
    warps->threads = WARP_SIZE * count;
    warps->whole = warps->possible = true;
    region_visit(launch_region(launch), ask_product, warps);
    return whole ? warps->whole : warps->possible;
}

/* A power of two, the author's number if it is one; 0: there is none. */
static int find_count(Warps *warps, Op *launch, int given, bool whole)
{
    const int below = power_of_two_below(given), least = whole ? 1 : below;
    for (int count = below; count >= least; count /= 2)
        if (can_share(warps, launch, count, whole)) return count;
    const int above = 2 * below;
    return below < given && above <= warps->target->threads_per_block / WARP_SIZE &&
                   can_share(warps, launch, above, whole)
               ? above
               : 0;
}

static void set_count(Warps *warps, Kernel *kernel, Op *launch)
{
    const int given = launch_warps(launch);
    int count = find_count(warps, launch, given, true);
    if (!count) count = find_count(warps, launch, given, false);
    if (!count) count = power_of_two_below(given);
    if (count == given) return;
    op_set_int(launch, ATTR_warps, count);
    kernel_remark(kernel, launch->span,
                  "%d threads in place of %d: products are divided among them", WARP_SIZE * count,
                  WARP_SIZE * given);
}

bool pass_warps(Kernel *kernel, PassContext *context)
{
    for (Op *op = kernel->host->first; op; op = op->next) {
        Warps warps = {.kernel = kernel, .target = context->target};
        if (op->code != OP_launch) continue;
        region_visit(launch_region(op), look_at, &warps);
        if (warps.seen && !warps.depends) set_count(&warps, kernel, op);
    }
    return true;
}
