/* merge_blocks.c: two neighbouring blocks that multiply become one, whose tile is as long again
 * along one dimension, and again, up to what two warpgroups hold of sums; needs and leaves a TYPED
 * kernel in SSA.
 *
 * A block of one warpgroup has tiles of 128x128 sums at most. Two that lie side by side copy one
 * operand twice, and with others beside them on the multiprocessor they have few registers for
 * producers and little memory for stages each. As one block they copy that operand once, and
 * products are of twice the columns, for which an instruction reads less shared memory. CUDA's
 * texts call that thread-block coarsening. Threads hold more sums each, or are twice as many.
 *
 * The block's index may only say where tiles are in memory: at its multiples of their extent. Then
 * it is known of each tile which of its dimensions goes on in the next block, if any: that of what
 * is loaded or stored there, of a product's sums that of its operand, and otherwise that of the
 * tiles it is computed with. That dimension is doubled, and the block's index. */
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/layout/matrix.h"
#include "ir/rebuild.h"

/* Which dimension of a tile goes on in the next block. */
enum { UNKNOWN, NONE, FIRST /* and those behind it */ };

typedef struct Merge {
    Kernel *kernel;
    const Target *target;
    FactTable *facts;
    Arena *arena;
    Op *launch;
    Op *dot;
    int axis;  /* of the grid */
    Map dims;  /* values of tiles -> the dimension, as above */
    Map steps; /* numbers that know the block -> their BlockStep */
    bool changed, possible;
} Merge;

static int dim_of(const Merge *merge, const Value *tile)
{
    return (int)(intptr_t)map_get(&merge->dims, tile);
}

static void set_dim(Merge *merge, const Value *tile, int dim)
{
    const int known = dim_of(merge, tile);
    if (dim == UNKNOWN || known == dim) return;
    merge->possible &= known == UNKNOWN;
    merge->changed = true;
    map_set(merge->arena, &merge->dims, tile, (void *)(intptr_t)dim);
}

static void tie(Merge *merge, const Value *a, const Value *b)
{
    set_dim(merge, a, dim_of(merge, b));
    set_dim(merge, b, dim_of(merge, a));
}

/* ---- the block's index ---- */

/* What a number grows by from block to block, if it is by the same each time. */
typedef struct BlockStep {
    int64_t step;
    bool known;
} BlockStep;

static BlockStep step_of(const Merge *merge, const Value *value)
{
    const BlockStep *step = map_get(&merge->steps, value);
    return step ? *step : (BlockStep){0, true};
}

static bool knows_block(const Merge *merge, const Value *value)
{
    const BlockStep step = step_of(merge, value);
    return !step.known || step.step != 0;
}

static BlockStep find_step(const Merge *merge, const Op *op)
{
    const BlockStep unknown = {0, false};
    BlockStep found = {0, true};
    int64_t factor;
    bool knows = false;
    if (op->code == OP_block_idx) found.step = op_int(op, ATTR_dim, 0) == merge->axis;
    for (int i = 0; i < op->operand_count && !knows; i++)
        knows = knows_block(merge, op->operands[i]);
    if (!knows) return found;
    if (op->code == OP_cast) return step_of(merge, operand(op, a));
    if (op->code != OP_add && (op->code != OP_mul || !value_constant(operand(op, b), &factor)))
        return unknown;
    const BlockStep a = step_of(merge, operand(op, a)), b = step_of(merge, operand(op, b));
    const bool overflows = op->code == OP_add ? __builtin_add_overflow(a.step, b.step, &found.step)
                                              : __builtin_mul_overflow(a.step, factor, &found.step);
    found.known = a.known && b.known && !overflows;
    return found;
}

/* In the order of the ops, as chains of them may be longer than a stack is deep. */
static void find_steps(Merge *merge)
{
    region_each (op, launch_region(merge->launch)) {
        const BlockStep found = find_step(merge, op);
        if (found.known && !found.step) continue;
        BlockStep *step = arena_new_of(merge->arena, BlockStep);
        *step = found;
        for (int i = 0; i < op->result_count; i++)
            map_set(merge->arena, &merge->steps, &op->results[i], step);
    }
}

static int dim_of_access(const Merge *merge, const Access *access)
{
    int dim = NONE;
    for (int d = 0; d < access->rank; d++) {
        const BlockStep step = step_of(merge, access->offsets[d]);
        if (!step.known) return UNKNOWN;
        if (!step.step) continue;
        if (dim != NONE || access->tile_dim[d] < 0 || access->width[d] != step.step) return UNKNOWN;
        dim = FIRST + access->tile_dim[d];
    }
    return dim;
}

/* ---- what ops do with the dimension ---- */

static void look_at_access(Merge *merge, Op *op)
{
    const Access access = access_of(op);
    const int dim = dim_of_access(merge, &access);
    const Value *tile = op->code == OP_copy ? operand(op, tile) : access.value;
    merge->possible &= dim != UNKNOWN && (op->code != OP_copy || tile->op->code == OP_shared_alloc);
    set_dim(merge, tile, dim);
}

/* Rows are those of a, columns those of b. What is summed along goes on nowhere. */
static void look_at_dot(Merge *merge, Op *op)
{
    const Value *a = operand(op, a), *b = operand(op, b), *sums = op->results;
    const int left = dim_of(merge, a), right = dim_of(merge, b), dim = dim_of(merge, sums);
    merge->possible &= sums->type->rank == 2 && left != FIRST + 1 && right != FIRST &&
                       (!merge->dot || merge->dot == op);
    merge->dot = op;
    tie(merge, operand(op, c), sums);
    if (left == FIRST || right == FIRST + 1) set_dim(merge, sums, left == FIRST ? left : right);
    if (dim == UNKNOWN) return;
    set_dim(merge, a, dim == FIRST ? dim : NONE);
    set_dim(merge, b, dim == FIRST + 1 ? dim : NONE);
}

/* Of a transpose, or a view of a shared tile, which has the whole dimension. */
static void look_at_dims(Merge *merge, const Op *op)
{
    const Value *whole = op->code == OP_transpose ? operand(op, a) : operand(op, tile),
                *result = op->results;
    const Attr *dims = op_attr(op, ATTR_dims);
    const int dim = dim_of(merge, whole);
    bool kept = dim < FIRST;
    merge->possible &= dims || result->type->rank == whole->type->rank;
    for (int i = 0; merge->possible && i < result->type->rank; i++) {
        const int from = dims ? (int)dims->integers[i] : i;
        const bool grows = dim == FIRST + from || dim_of(merge, result) == FIRST + i;
        if (!grows) continue;
        kept = result->type->shape[i] == whole->type->shape[from];
        set_dim(merge, result, FIRST + i);
        set_dim(merge, whole, FIRST + from);
    }
    merge->possible &= kept;
    if (dim == NONE || dim_of(merge, result) == NONE) tie(merge, whole, result);
}

/* What is stretched along the dimension is the same in both blocks. */
static void look_at_broadcast(Merge *merge, const Op *op)
{
    const Value *a = operand(op, a);
    const int dim = dim_of(merge, op->results);
    if (dim == NONE || dim == UNKNOWN) {
        set_dim(merge, a, dim);
        set_dim(merge, op->results, dim_of(merge, a) == NONE ? UNKNOWN : dim_of(merge, a));
        return;
    }
    set_dim(merge, a, a->type->shape[dim - FIRST] == 1 ? NONE : dim);
}

/* The dimension of a tile of the other shape with the same elements, if only extents of 1 differ.
 */
static int reshaped(Merge *merge, const Type *from, int dim, const Type *to)
{
    int at = 0;
    if (dim < FIRST) return dim;
    for (int d = 0; d < from->rank; d++) {
        if (from->shape[d] == 1) continue;
        while (at < to->rank && to->shape[at] == 1) at++;
        merge->possible &= at < to->rank && to->shape[at] == from->shape[d];
        if (!merge->possible) return UNKNOWN;
        if (d == dim - FIRST) return FIRST + at;
        at++;
    }
    merge->possible = false;
    return UNKNOWN;
}

static void look_at_reshape(Merge *merge, const Op *op)
{
    const Value *a = operand(op, a), *result = op->results;
    set_dim(merge, result, reshaped(merge, a->type, dim_of(merge, a), result->type));
    set_dim(merge, a, reshaped(merge, result->type, dim_of(merge, result), a->type));
}

/* Sums that go on in the next block are not carried; loops are the same for both. */
static void look_at_loop(Merge *merge, Op *op)
{
    const Region *body = op->regions[0];
    for (int i = 0; i < op->result_count; i++) {
        if (op->results[i].type->kind != TYPE_TILE) continue;
        const Value *sum = &op->results[i];
        tie(merge, sum, operand_list(op, init)[i]);
        tie(merge, sum, body->arguments[i + 1]);
        tie(merge, sum, region_terminator(body)->operands[i]);
    }
}

static void look_at_elements(Merge *merge, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind == TYPE_TILE) tie(merge, op->results, op->operands[i]);
}

static bool is_scalar_work(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP) && !op_has(op, PER_THREAD) && !op->region_count &&
           op->result_count == 1 && op->results[0].type->kind == TYPE_SCALAR;
}

/* But for where tiles are, no op may know the block, or how many there are. */
static bool is_blind(Merge *merge, const Op *op)
{
    if (op->code == OP_grid_dim) return false;
    if (op_is_access(op) || op->code == OP_copy || is_scalar_work(op)) return true;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind != TYPE_TILE && knows_block(merge, op->operands[i]))
            return false;
    return true;
}

static void look_at_op(Merge *merge, Op *op)
{
    merge->possible &= is_blind(merge, op);
    if (!merge->possible || is_scalar_work(op)) return;
    if (op_is_access(op) || op->code == OP_copy) {
        look_at_access(merge, op);
        return;
    }
    switch (op->code) {
    case OP_view:
    case OP_shared_alloc:
    case OP_splat:
    case OP_yield: break;
    case OP_for: look_at_loop(merge, op); break;
    case OP_shared_load: tie(merge, operand(op, tile), op->results); break;
    case OP_shared_store: tie(merge, operand(op, tile), operand(op, value)); break;
    case OP_dot: look_at_dot(merge, op); break;
    case OP_transpose:
    case OP_shared_view: look_at_dims(merge, op); break;
    case OP_broadcast: look_at_broadcast(merge, op); break;
    case OP_reshape: look_at_reshape(merge, op); break;
    default:
        merge->possible &= op_has(op, ELEMENTWISE) && op->results[0].type->kind == TYPE_TILE;
        if (merge->possible) look_at_elements(merge, op);
    }
}

/* ---- whether it is a gain ---- */

/* To where the tensor core reads it. */
static bool is_by_tma(const Merge *merge, Op *copy)
{
    const Type *tile = operand(copy, tile)->type;
    return tile->rank == 2 &&
           !tma_load_fault(merge->facts, copy, tma_panels(merge->kernel->layouts, tile));
}

static bool are_by_tma(const Merge *merge, const Op *loop)
{
    for (Op *op = loop->regions[0]->first; op; op = op_next(op))
        if (op->code == OP_copy && !is_by_tma(merge, op)) return false;
    return true;
}

static int64_t copied_bytes(const Merge *merge, const Op *loop)
{
    int64_t bytes = 0;
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op))
        if (op->code == OP_copy)
            bytes += type_bytes(operand(op, tile)->type) *
                     (dim_of(merge, operand(op, tile)) >= FIRST ? 2 : 1);
    return bytes;
}

/* Of the grid, in turns of all multiprocessors, which take as long as a block's sums are many. In a
 * single turn blocks that share a multiprocessor cover for each other better than one with less
 * than the most sums does for itself. */
static bool fills_machine(const Merge *merge)
{
    enum { ALL = 100 };
    int64_t blocks = launch_blocks(merge->launch), extent;
    if (blocks <= 0 || !value_constant(merge->launch->operands[merge->axis], &extent) || extent % 2)
        return false;
    const int64_t count = merge->target->sm_count, turns = (blocks + count - 1) / count,
                  merged = (blocks / 2 + count - 1) / count;
    const bool most = 2 * type_elements(merge->dot->results[0].type) ==
                      (int64_t)COST_MERGED_SUMS * COST_MERGED_THREADS;
    return (merged > 1 || most) && 2 * merged * COST_MERGED_PERCENT <= turns * ALL;
}

/* A pipelined loop that does nothing but multiply what it copies. */
static bool is_plain_loop(const Op *loop)
{
    if (op_int(loop, ATTR_stages, 0) < 2) return false;
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op))
        if (op->code != OP_copy && op->code != OP_shared_load && op->code != OP_shared_view &&
            op->code != OP_transpose && op->code != OP_dot && op->code != OP_yield &&
            !is_scalar_work(op))
            return false;
    return true;
}

/* Threads hold more sums each, or there are twice as many. */
static bool has_registers(const Merge *merge)
{
    const Type *sums = merge->dot->results[0].type;
    const int threads = launch_threads(merge->launch).count;
    return threads <= COST_MERGED_THREADS &&
           2 * type_elements(sums) <= (int64_t)COST_MERGED_SUMS * COST_MERGED_THREADS &&
           type_elements(sums) <= (int64_t)COST_MERGED_SUMS * threads &&
           sums->shape[dim_of(merge, merge->dot->results) - FIRST] * 2 <= COST_MERGED_EXTENT;
}

static bool is_gain(const Merge *merge)
{
    const Op *loop = merge->dot ? op_enclosing(merge->dot, OP_for) : NULL;
    return loop && loop->parent == launch_region(merge->launch) && is_plain_loop(loop) &&
           dim_of(merge, merge->dot->results) >= FIRST && has_registers(merge) &&
           wgmma_fits(merge->kernel, merge->target, merge->dot) && are_by_tma(merge, loop) &&
           copied_bytes(merge, loop) * COST_STAGES_ENOUGH <=
               merge->target->shared_bytes - COST_SHARED_MARGIN_SPLIT &&
           fills_machine(merge);
}

static bool has_plain_launch(const Op *launch)
{
    for (int i = 0; i < launch->attr_count; i++) {
        const AttrKey key = launch->attrs[i].key;
        if (key != ATTR_warps && key != ATTR_panel && key != ATTR_rasterize && key != ATTR_merged)
            return false;
    }
    return true;
}

static bool can_merge(Merge *merge)
{
    merge->dims = merge->steps = (Map){0};
    merge->dot = NULL;
    merge->possible = merge->changed = true;
    find_steps(merge);
    while (merge->possible && merge->changed) {
        merge->changed = false;
        region_each (op, launch_region(merge->launch)) look_at_op(merge, op);
    }
    return merge->possible && is_gain(merge);
}

/* ---- the block of two ---- */

static void lengthen(Merge *merge, Value *value)
{
    const int dim = dim_of(merge, value) - FIRST;
    if (dim < 0) return;
    value->type =
        type_with_extent(merge->kernel->types, value->type, dim, 2 * value->type->shape[dim]);
}

static void lengthen_results(Merge *merge, Op *op)
{
    for (int i = 0; i < op->result_count; i++) lengthen(merge, &op->results[i]);
    for (int r = 0; r < op->region_count; r++)
        for (int i = 0; i < op->regions[r]->argument_count; i++)
            lengthen(merge, op->regions[r]->arguments[i]);
}

static void merge_blocks(Merge *merge)
{
    Op *launch = merge->launch, *rest = launch_region(launch)->first;
    Builder host = builder_before(launch), builder = builder_before(rest);
    Value *indices[2] = {NULL, NULL}, *grid = launch->operands[merge->axis];
    int64_t extent = 0;
    CHECK(value_constant(grid, &extent));
    const int threads = launch_threads(launch).count;
    const bool twice =
        type_elements(merge->dot->results[0].type) > (int64_t)COST_MERGED_SUMS / 2 * threads;
    kernel_remark(merge->kernel, launch->span,
                  "two blocks along %c are one of %d threads: they copy one operand once",
                  "xy"[merge->axis], twice ? 2 * threads : threads);
    region_each (op, launch_region(launch)) lengthen_results(merge, op);
    indices[merge->axis] =
        build2(&builder, OP_mul, build_of_grid(&builder, OP_block_idx, merge->axis),
               build_const(&builder, DTYPE_i32, 2));
    ops_rename_blocks(rest, indices);
    op_set_operand(launch, merge->axis, build_const(&host, grid->type->dtype, extent / 2));
    const Attr *before = op_attr(launch, ATTR_merged);
    int64_t merged[2] = {before ? before->integers[0] : 0, before ? before->integers[1] : 0};
    merged[merge->axis]++;
    op_set_ints(launch, ATTR_merged, 2, merged); /* the host's grid is that of the text */
    if (twice) op_set_int(launch, ATTR_warps, 2 * op_int(launch, ATTR_warps, 0));
}

/* Columns first: an instruction has up to 256 of them. */
static bool try_axes(Merge *merge)
{
    int best = -1;
    for (merge->axis = 0; merge->axis < 2; merge->axis++)
        if (can_merge(merge) && (best < 0 || dim_of(merge, merge->dot->results) == FIRST + 1))
            best = merge->axis;
    merge->axis = best;
    return best >= 0 && can_merge(merge);
}

static bool merge_neighbours(Kernel *kernel, PassContext *context, Op *launch)
{
    Merge merge = {.kernel = kernel,
                   .target = context->target,
                   .facts = analysis_ranges(context),
                   .arena = context->arena,
                   .launch = launch};
    if (!has_plain_launch(launch) || !try_axes(&merge)) return false;
    merge_blocks(&merge);
    kernel->uses |= MAY_MERGE;
    analysis_invalidate(context);
    return true;
}

bool pass_merge_blocks(Kernel *kernel, PassContext *context)
{
    if (!target_has(context->target, HAS_WGMMA) || !target_has(context->target, MAY_MERGE))
        return true;
    kernel_each_launch (op, kernel)
        while (merge_neighbours(kernel, context, op)) continue;
    return true;
}
