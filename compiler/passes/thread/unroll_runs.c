/* unroll_runs.c: loops that read shared memory an element after the other, and short ones with
 * branches.
 *
 * All threads read the same element, and the next one in the next iteration: each read takes an
 * instruction and a wavefront, whether it is of one element or of 16 bytes. Of as many iterations
 * as such an access has elements, side by side, LLVM makes one access, and the loop's own index and
 * branch are shared, too. A body in which threads do something together, or that has loops of its
 * own, stays as it is.
 *
 * ptxas unrolls short loops, but none with a branch in it: where such a one is little code it is
 * unrolled as a whole. Loops that do no more than load global memory and compute are unrolled, too,
 * so that the loads of several iterations are on the way. */
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/pass.h"
#include "passes/thread/unroll_scans.h"
#include "target/target.h"

/* How many elements an access of 16 bytes has where the next iteration reads the next one; 0: it
 * does not. */
static int run_of(const Op *loop, const Op *load)
{
    const Value *pointer = operand(load, pointer);
    const Type *type = load->results[0].type;
    int64_t slope = 0;
    if (pointer->type->space != SPACE_SHARED || type->kind != TYPE_SCALAR ||
        load->operand_count != 1)
        return 0;
    while (pointer->op && pointer->op->code == OP_ptr_add) {
        int64_t more;
        if (!loop_slope(loop, operand(pointer->op, index), &more)) return 0;
        slope += more;
        pointer = operand(pointer->op, pointer);
    }
    return slope == 1 ? ACCESS_BYTES * 8 / dtype_memory_bits(type->dtype) : 0;
}

/* The longest run in the body; 0: there is none, or the body can't be unrolled. */
static int longest_run(const Op *loop, int *ops)
{
    int longest = 0;
    for (const Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->region_count || op_has(op, COOP | BARRIER | WAITS | ASYNC)) return 0;
        const int run = op->code == OP_ld ? run_of(loop, op) : 0;
        if (run > longest) longest = run;
        ++*ops;
    }
    return longest;
}

/* -1: threads do something together in it, or there is a loop. */
static int count_ops(const Region *region, bool *branches)
{
    int count = 0;
    for (const Op *op = region->first; op; op = op->next, count++) {
        if (op_has(op, COOP | BARRIER | WAITS | ASYNC | LOOP)) return -1;
        for (int r = 0; r < op->region_count; r++) {
            const int within = count_ops(op->regions[r], branches);
            if (within < 0) return -1;
            *branches = true;
            count += within;
        }
    }
    return count;
}

static bool is_short_with_branches(const Op *loop, int64_t trips)
{
    bool branches = false;
    const int ops = count_ops(loop->regions[0], &branches);
    return branches && ops >= 0 && trips <= COST_UNROLL_RUN_OPS &&
           ops * trips <= COST_UNROLL_RUN_OPS;
}

/* How many iterations' loads are to be on the way; 1: none are made, or something else is done. */
static int loads_together(const Op *loop, int64_t trips)
{
    bool loads = false;
    int count = COST_PREFETCH_DISTANCE, ops = 0;
    for (const Op *op = loop->regions[0]->first; op; op = op->next, ops++) {
        if (op->region_count || op_has(op, COOP | BARRIER | WAITS | ASYNC | STORES)) return 1;
        loads |= op->code == OP_ld && operand(op, pointer)->type->space == SPACE_GLOBAL;
    }
    while (count > 1 && (trips % count != 0 || ops * count > COST_UNROLL_RUN_OPS)) count /= 2;
    return loads ? count : 1;
}

static void visit(Op *loop, void *context)
{
    int64_t step;
    int ops = 0;
    if (loop->code != OP_for || op_attr(loop, ATTR_unroll) ||
        !value_constant(operand(loop, step), &step) || step != 1)
        return;
    const int64_t trips = loop_trips(loop);
    if (trips < 2 || unroll_scan(context, loop)) return;
    const int run = longest_run(loop, &ops);
    if (run > 1 && trips % run == 0 && ops * run <= COST_UNROLL_RUN_OPS)
        op_set_int(loop, ATTR_unroll, run);
    else if (is_short_with_branches(loop, trips))
        op_set_int(loop, ATTR_unroll, (int)trips);
    else if (loads_together(loop, trips) > 1)
        op_set_int(loop, ATTR_unroll, loads_together(loop, trips));
}

bool pass_unroll_runs(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_for, visit, analysis_ranges(context));
    return true;
}
