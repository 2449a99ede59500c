/* dependent_launch.c: launches whose blocks begin while the last ones of the launch before are
 * still at work.
 *
 * Between two launches a GPU has nothing to do: the last blocks end, then those of the next one
 * begin, make their barriers and find out what is theirs. That needs nothing of what others wrote.
 * So a launch may begin as soon as all blocks of the one before have, where there is room, and
 * waits, before its work begins, until all that was launched before is done. Work begins with the
 * first op that is not known to be of the block alone; never later, so that a wait stands in no
 * loop and between no products in flight. */
#include "passes/analysis/access.h"
#include "passes/pass.h"

static bool is_own(const Type *type)
{
    return type->space == SPACE_SHARED || type->space == SPACE_CLUSTER ||
           type->space == SPACE_LOCAL;
}

/* What blocks do before their work: all that it needs is theirs. */
static bool is_before_work(const Op *op)
{
    if (!op_has(op, READS | WRITES)) return true;
    return op_has(op, LOCAL) ||
           ((op->code == OP_ld || op->code == OP_st) && is_own(operand(op, pointer)->type));
}

/* The number of blocks, at most MANY_BLOCKS; false: what it is shows at the launch. */
enum { MANY_BLOCKS = 1 << 20 };
static bool known_blocks(const Op *launch, int64_t *blocks)
{
    *blocks = 1;
    for (int d = 0; d < 3; d++) {
        int64_t extent;
        if (!value_constant(operand_list(launch, x)[d], &extent)) return false;
        *blocks *= extent < 0 ? 0 : extent < MANY_BLOCKS ? extent : MANY_BLOCKS;
        if (*blocks > MANY_BLOCKS) *blocks = MANY_BLOCKS;
    }
    return true;
}

static Value *blocks_of_grid(Builder *builder, const Op *launch)
{
    Value *blocks = build_const(builder, DTYPE_i64, 1);
    for (int d = 0; d < 3; d++) {
        if (value_is_constant(operand_list(launch, x)[d], 1)) continue;
        Value *wide = build_cast(builder, DTYPE_i64, build_of_grid(builder, OP_grid_dim, d));
        blocks = build2(builder, OP_mul, blocks, wide);
    }
    return blocks;
}

/* What each thread moves; by TMA, what the one does that begins it. */
static int64_t bytes_moved(const Op *op)
{
    if (load_is_global(op)) return type_bytes(op->results[0].type);
    if (op->code == OP_st && operand(op, pointer)->type->space == SPACE_GLOBAL)
        return type_bytes(operand(op, value)->type);
    return op->code == OP_cp_async || op->code == OP_cp_bulk_tensor ? op_int(op, ATTR_bytes, 0) : 0;
}

/* Few threads that do one thing each, or threads that move few bytes: GPUs may do nothing but begin
 * such blocks. */
static bool has_small_blocks(const Op *launch)
{
    const int warps = launch_warps(launch);
    int64_t bytes = 0;
    region_each (op, launch_region(launch))
        bytes += bytes_moved(op) * (op->code == OP_cp_bulk_tensor ? 1 : warps * WARP_SIZE);
    return !region_has_with(launch_region(launch), LOOP) &&
           (warps < COST_PDL_WARPS || (bytes > 0 && bytes <= COST_PDL_BYTES));
}

typedef struct Waiting {
    const Op *launch;
    bool small_blocks;
} Waiting;

/* What lets the next launch begin takes as long as to begin a block. Blocks that end have let it,
 * too, so among many none has to say so. */
static Value *lets_next_begin(Builder *builder, const Waiting *waiting)
{
    const Op *launch = waiting->launch;
    int64_t blocks;
    if (op_int(launch, ATTR_persistent, 0) || !waiting->small_blocks)
        return build_const(builder, DTYPE_b1, 1);
    if (known_blocks(launch, &blocks))
        return build_const(builder, DTYPE_b1, blocks <= COST_PDL_BLOCKS);
    return build_cmp(builder, "le", blocks_of_grid(builder, launch),
                     build_const(builder, DTYPE_i64, COST_PDL_BLOCKS));
}

static void build_wait(Builder *builder, const Waiting *waiting)
{
    Value *next = lets_next_begin(builder, waiting);
    build_op(builder, OP_launch_wait, 1, &next, 0, NULL);
}

static bool is_work(const Op *op, const void *context)
{
    (void)context;
    return op->code != OP_if && !is_before_work(op);
}

/* The `if` that is all of the work: what the threads do that are not beyond the end. */
static Op *find_guard(const Region *region)
{
    Op *guard = NULL;
    for (Op *op = region->first; op; op = op_next(op)) {
        if (!op_find_within(op, is_work, NULL)) continue;
        if (guard || op->code != OP_if || region_find(op->regions[1], is_work, NULL)) return NULL;
        guard = op;
    }
    return guard;
}

/* Threads beyond the end wait, too, or launches that have nothing but such would be done before
 * those before them. Were that behind the guard, all of its threads would meet there, and ptxas
 * keeps nothing in uniform registers where threads are still to meet: so all wait in front of it,
 * once what the work begins with is computed. */
static void wait_before_guard(Op *guard, const Waiting *waiting)
{
    for (Op *op = guard->regions[0]->first, *next; op; op = next) {
        if (!op_has(op, PURE) || op_has(op, COOP)) break;
        next = op_next(op);
        op_move_before(op, guard);
    }
    Builder builder = builder_before(guard);
    build_wait(&builder, waiting);
}

/* Each thread waits where its work begins. False: some may have none. */
static bool wait_in(Region *region, const Waiting *waiting)
{
    for (Op *op = region->first; op; op = op_next(op)) {
        for (int i = 0; op->code == OP_if && i < op->region_count; i++)
            wait_in(op->regions[i], waiting);
        if (op->code == OP_if || is_before_work(op)) continue;
        Builder builder = builder_before(op);
        build_wait(&builder, waiting);
        return true;
    }
    return false;
}

/* A launch that has nothing to do, too, is done after those before it: the next one waits for it
 * alone. */
static void let_begin(Op *launch)
{
    Region *region = launch_region(launch);
    const Waiting waiting = {launch, has_small_blocks(launch)};
    Op *guard = find_guard(region);
    if (guard) {
        wait_before_guard(guard, &waiting);
    } else if (!wait_in(region, &waiting)) {
        Builder builder = builder_at_end(region, launch->span);
        build_wait(&builder, &waiting);
    }
    op_set_int(launch, ATTR_dependent, 1);
}

/* Persistent blocks of many tiles gain nothing that counts by an early first one, so the runtime
 * does not ask for it (is_dependent in launch.c), and what waits would cost them some of ptxas's
 * schedule. */
static bool has_many_tiles(const Op *launch, const Target *target)
{
    int64_t blocks;
    return op_int(launch, ATTR_persistent, 0) && known_blocks(launch, &blocks) &&
           cost_waves(target, blocks, 1) > COST_PDL_WAVES;
}

bool pass_dependent_launch(Kernel *kernel, PassContext *context)
{
    if (!target_has(context->target, HAS_PDL)) return true;
    kernel_each_launch (op, kernel)
        if (!op_int(op, ATTR_cooperative, 0) && !has_many_tiles(op, context->target)) let_begin(op);
    return true;
}
