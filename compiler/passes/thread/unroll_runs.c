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
 * so that the loads of several iterations are on the way; those of unknown length, that walk
 * through memory, so that ptxas, which unrolls them once more, has the loads of 16. */
#include "ir/op_vec.h"
#include "ir/rebuild.h"
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/pass.h"
#include "passes/thread/unroll_scans.h"
#include "target/target.h"

typedef struct Runs {
    FactTable *facts;
    const Op *loop;
    OpVec swizzles;   /* of places that the loop's index is a part of */
    bool are_aligned; /* an access of a run's elements is possible, as far as offsets say */
    Arena *arena;
} Runs;

static bool is_constant_here(const Runs *runs, const Value *value)
{
    int64_t slope;
    return loop_slope(runs->loop, value, &slope) && slope == 0;
}

/* Of two operands the one that is not this one. */
static Value *other_of(const Op *op, const Value *value)
{
    return operand(op, a) == value ? operand(op, b) : operand(op, a);
}

enum { MOST_SUMS = 8 }; /* that a place is looked for in */

/* The place of an element in a swizzled row, c xor i, i the loop's index, or what is added to one
 * such; NULL: it is none. */
static Op *swizzle_of(const Runs *runs, const Value *place)
{
    const Region *body = runs->loop->regions[0];
    const Value *index = body->arguments[0];
    Op *op = place->op;
    for (int sums = 0; sums < MOST_SUMS && op && op->parent == body && op->code == OP_add; sums++)
        op = is_constant_here(runs, operand(op, a))   ? operand(op, b)->op
             : is_constant_here(runs, operand(op, b)) ? operand(op, a)->op
                                                      : NULL;
    const bool is_swizzle = op && op->parent == body && op->code == OP_xor &&
                            (operand(op, a) == index || operand(op, b) == index);
    return is_swizzle && is_constant_here(runs, other_of(op, index)) ? op : NULL;
}

static bool is_multiple(FactTable *facts, const Value *value, int of)
{
    return facts_of(facts, value).multiple % of == 0;
}

/* As many iterations from each multiple of that on have places side by side. */
static bool swizzles_runs(const Runs *runs, const Op *swizzle, int run)
{
    const Value *index = runs->loop->regions[0]->arguments[0];
    return is_multiple(runs->facts, other_of(swizzle, index), run) &&
           is_multiple(runs->facts, operand(runs->loop, begin), run);
}

/* Each such iteration's place is a multiple of the run, as far as the value is a part of it. */
static bool begins_runs(const Runs *runs, const Value *value, int run)
{
    const Op *op = value->op;
    if (value == runs->loop->regions[0]->arguments[0])
        return is_multiple(runs->facts, operand(runs->loop, begin), run);
    if (op && op->code == OP_add)
        return begins_runs(runs, operand(op, a), run) && begins_runs(runs, operand(op, b), run);
    return is_multiple(runs->facts, value, run);
}

/* How many elements an access of 16 bytes has where the next iteration reads the next one; 0: it
 * does not. */
static int run_of(Runs *runs, const Op *load)
{
    const Value *pointer = operand(load, pointer);
    const Type *type = load->results[0].type;
    Op *swizzle = NULL;
    int64_t slope = 0;
    bool is_aligned = true;
    if (pointer->type->space != SPACE_SHARED || type->kind != TYPE_SCALAR ||
        load->operand_count != 1)
        return 0;
    const int run = ACCESS_BYTES * 8 / dtype_memory_bits(type->dtype);
    while (pointer->op && pointer->op->code == OP_ptr_add) {
        const Value *index = operand(pointer->op, index);
        int64_t more;
        if (!loop_slope(runs->loop, index, &more)) {
            swizzle = swizzle ? NULL : swizzle_of(runs, index);
            if (!swizzle || !swizzles_runs(runs, swizzle, run)) return 0;
            more = 1;
        } else {
            is_aligned &= begins_runs(runs, index, run);
        }
        slope += more;
        pointer = operand(pointer->op, pointer);
    }
    if (slope != 1) return 0;
    runs->are_aligned &= is_aligned;
    if (swizzle) vec_push(runs->arena, &runs->swizzles, swizzle);
    return run;
}

/* The longest run in the body; 0: there is none, or the body can't be unrolled. The accesses of
 * runs are one each, and their addresses. */
static int longest_run(Runs *runs, int *ops)
{
    int longest = 0;
    for (const Op *op = runs->loop->regions[0]->first; op; op = op->next) {
        if (op->region_count || op_has(op, COOP | BARRIER | WAITS | ASYNC)) return 0;
        const int run = op->code == OP_ld ? run_of(runs, op) : 0;
        if (run > longest) longest = run;
        if (run == 0 && op->code != OP_ptr_add) ++*ops;
    }
    *ops -= 2 * (int)runs->swizzles.count; /* with what they are added to */
    return longest;
}

/* No remainder; or, of a loop whose iterations are counted when it runs, one that may be little of
 * the whole: LLVM makes a loop of it. */
static bool fits_trips(const Runs *runs, int64_t trips, int run)
{
    enum { RUNS = 4 };
    if (trips) return trips % run == 0;
    const int64_t most = loop_most_trips(runs->facts, runs->loop);
    return runs->are_aligned && (most == 0 || most >= (int64_t)RUNS * run);
}

/* c xor i is (c xor i without its last bits) + those bits, where c has none: so LLVM sees places
 * that lie side by side. */
static void split_swizzles(const Runs *runs, int run)
{
    Value *index = runs->loop->regions[0]->arguments[0];
    vec_each (swizzle, &runs->swizzles) {
        Op *op = *swizzle;
        /* another load may have it, too, or a longer run */
        if (!op->results[0].use_count || !swizzles_runs(runs, op, run)) continue;
        Builder at = builder_before(op);
        at.span = op->span;
        Value *last = build_const(&at, index->type->dtype, run - 1),
              *others = build_const(&at, index->type->dtype, -run), *other = other_of(op, index),
              *whole = build2(&at, OP_xor, other, build2(&at, OP_and, index, others));
        value_replace(op->results, build2(&at, OP_add, whole, build2(&at, OP_and, index, last)));
    }
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

/* Ops that each iteration does anew: what is the same in all of them goes in front of the loop. */
static int count_varying(Arena *arena, const Op *loop)
{
    const Region *body = loop->regions[0];
    Map varying = {0}; /* the ops */
    int count = 0;
    for (Op *op = body->first; op; op = op->next) {
        bool varies = !op_has(op, PURE);
        for (int i = 0; i < op->operand_count && !varies; i++) {
            const Value *value = op->operands[i];
            varies = value->region == body || (value->op && map_has(&varying, value->op));
        }
        if (!varies) continue;
        map_add(arena, &varying, op);
        count++;
    }
    return count;
}

/* How many iterations' loads are to be on the way; 1: none are made, or something else is done. Of
 * a few iterations that these do not divide all, which then share what follows from their numbers
 * alone. */
static int loads_together(const Op *loop, int64_t trips)
{
    bool loads = false;
    int count = COST_LOADS_TOGETHER, ops = 0;
    for (const Op *op = loop->regions[0]->first; op; op = op->next, ops++) {
        if (op->region_count || op_has(op, COOP | BARRIER | WAITS | ASYNC | STORES)) return 1;
        loads |= load_is_global(op);
    }
    if (!loads) return 1;
    if (trips % count && trips < 2 * count &&
        count_varying(loop->parent->kernel->arena, loop) * trips <= COST_UNROLL_RUN_OPS)
        return (int)trips;
    while (count > 1 && (trips % count != 0 || ops * count > COST_UNROLL_RUN_OPS)) count /= 2;
    return count;
}

/* Whether it follows from what the loop loads, or from what an iteration gives to the next one. */
static bool is_found(const Op *loop, const Value *value, const Map *found)
{
    const bool is_carried = value->region == loop->regions[0] && value->index > 0;
    return is_carried || (value->op && map_has(found, value->op));
}

/* A loop of unknown length that goes through memory, at places that its index gives, and does
 * little else: ptxas has four iterations of what it finds on the way, which do not fill memory's
 * time where threads are few. */
static bool streams(Arena *arena, const Op *loop)
{
    Map found = {0}; /* ops */
    int loads = 0, ops = 0;
    for (Op *op = loop->regions[0]->first; op; op = op->next, ops++) {
        if (op->region_count || op_has(op, COOP | BARRIER | WAITS | ASYNC | WRITES)) return false;
        const bool is_load = op->code == OP_ld;
        if (is_load && (!load_is_global(op) || is_found(loop, operand(op, pointer), &found)))
            return false;
        loads += is_load;
        bool follows = is_load;
        for (int i = 0; i < op->operand_count; i++)
            follows |= is_found(loop, op->operands[i], &found);
        if (follows) map_add(arena, &found, op);
    }
    return loads > 0 && loads <= COST_STREAM_LOADS && ops <= COST_STREAM_OPS;
}

static void visit(Op *loop, void *context)
{
    int64_t step;
    int ops = 0;
    if (loop->code != OP_for || op_attr(loop, ATTR_unroll) ||
        !value_constant(operand(loop, step), &step) || step != 1)
        return;
    const int64_t trips = loop_trips(loop);
    if (trips == 1 || (trips > 1 && unroll_scan(context, loop))) return;
    Runs runs = {
        .facts = context, .loop = loop, .are_aligned = true, .arena = loop->parent->kernel->arena};
    const int run = longest_run(&runs, &ops);
    if (run > 1 && fits_trips(&runs, trips, run) && ops * run <= COST_UNROLL_RUN_OPS) {
        op_set_int(loop, ATTR_unroll, run);
        if (!trips) op_set_int(loop, ATTR_unroll_further, 1);
        split_swizzles(&runs, run);
    } else if (trips && is_short_with_branches(loop, trips))
        op_set_int(loop, ATTR_unroll, (int)trips);
    else if (trips && loads_together(loop, trips) > 1)
        op_set_int(loop, ATTR_unroll, loads_together(loop, trips));
    else if (!trips && streams(runs.arena, loop)) {
        op_set_int(loop, ATTR_unroll, COST_LOADS_TOGETHER);
        op_set_int(loop, ATTR_unroll_further, 1);
    }
}

bool pass_unroll_runs(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_for, visit, analysis_ranges(context));
    return true;
}
