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
 * that copies. More share the work where the tiles that are alive at a time would not fit into the
 * threads' registers. */
#include "passes/analysis/alive.h"
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

/* Whether so many threads have registers enough for the tiles that are alive, and can share all
 * products. */
static bool have_registers(Warps *warps, Op *launch, int64_t words, int count, bool whole)
{
    return words / (WARP_SIZE * count) + COST_OTHER_REGISTERS <=
               warps->target->registers_per_thread &&
           (!warps->seen || can_share(warps, launch, count, whole));
}

/* Twice as many, or four times; the same, if that does not do. */
static int add_warps(Warps *warps, Op *launch, int given, bool whole)
{
    const int64_t words = tile_bits_alive(launch_region(launch)) / REGISTER_BITS;
    const int most =
        (warps->seen ? COST_SPLIT_THREADS / 2 : warps->target->threads_per_block) / WARP_SIZE;
    for (int count = given; count <= 4 * given && count <= most; count *= 2)
        if (have_registers(warps, launch, words, count, whole)) return count;
    return given;
}

static int share_products(Warps *warps, Op *launch, int given, bool *whole)
{
    int count = find_count(warps, launch, given, true);
    *whole = count > 0;
    if (!count) count = find_count(warps, launch, given, false);
    return count ? count : power_of_two_below(given);
}

static void set_count(Warps *warps, Kernel *kernel, Op *launch)
{
    const int given = launch_warps(launch);
    bool whole = false;
    const int shared = warps->seen ? share_products(warps, launch, given, &whole) : given;
    const int count = add_warps(warps, launch, shared, whole);
    if (count == given) return;
    op_set_int(launch, ATTR_warps, count);
    kernel_remark(kernel, launch->span, "%d threads in place of %d: %s", WARP_SIZE * count,
                  WARP_SIZE * given,
                  count > shared ? "tiles that are in use at a time need their registers"
                                 : "products are divided among them");
}

bool pass_warps(Kernel *kernel, PassContext *context)
{
    for (Op *op = kernel->host->first; op; op = op->next) {
        Warps warps = {.kernel = kernel, .target = context->target};
        if (op->code != OP_launch) continue;
        region_visit(launch_region(op), look_at, &warps);
        if (!warps.depends) set_count(&warps, kernel, op);
    }
    return true;
}
