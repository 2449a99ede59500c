/* hoist_loads.c: loads of global memory go in front of barriers that order shared memory alone, and
 * of stores to other parameters' memory.
 *
 * A block that fills shared memory, waits, and then loads something else waits for memory twice.
 * What the block has not written yet, and waited for no other block to write, is the same on either
 * side of the barrier, whatever the launch's pointers have in common: so its loads go in front of
 * the first barrier where their addresses can be known, and are in flight together: those of places
 * that follow from the block's index, as others are soon in a cache, and would only cost registers.
 * Those of a branch that does nothing else with memory go there, too, and load where its condition
 * holds.
 *
 * ptxas takes no load past a store, as it knows nothing of pointers. Where the parameters' memory
 * does not overlap, as CUDA's __restrict__ says, loads through a parameter that the block has not
 * stored through go in front of stores, too. */
#include "passes/analysis/access.h"
#include "passes/pass.h"
#include "ir/group.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"
#include "target/cost.h"

typedef struct Hoist {
    Kernel *kernel;
    OpVec barriers;        /* that may be passed, in their order, and stores */
    int registers;         /* of a thread, that loads may still take */
    WrittenMemory written; /* so far */
} Hoist;

static bool is_own(const Op *op)
{
    const Space space = operand(op, pointer)->type->space;
    return space == SPACE_SHARED || space == SPACE_LOCAL;
}

static bool is_barrier(const Op *op)
{
    return op->code == OP_warp_sync || (op->code == OP_barrier && !op_attr(op, ATTR_count));
}

/* It may write global memory otherwise than by a store, or wait for others who do, or this is not
 * known. */
static bool orders_global(const Op *op, const void *context)
{
    (void)context;
    if (op->code == OP_while) return true;
    if (op->region_count || op_has(op, LOADS | REPORTS) || is_barrier(op)) return false;
    return op->code != OP_st && op_has(op, READS | WRITES) && op->code != OP_local_base;
}

/* Whether there are stores within the op. */
static bool note_stores(Hoist *hoist, const Op *op)
{
    bool any = op->code == OP_st && !is_own(op);
    if (any) written_note_store(&hoist->written, hoist->kernel, op);
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            any |= note_stores(hoist, inner);
    return any;
}

static bool may_precede(const Op *load, const Op *barrier)
{
    for (int i = 0; i < load->operand_count; i++)
        if (!value_may_precede(load->operands[i], barrier)) return false;
    return true;
}

static ValueAnswer is_block_index(const Value *value, void *context)
{
    (void)context;
    return !value->op                        ? VALUE_ENOUGH
           : value->op->code == OP_block_idx ? VALUE_FOUND
                                             : VALUE_OPERANDS;
}

/* Past what was stored so far. */
static bool may_pass(const Hoist *hoist, const Op *load)
{
    return !written_may_have(&hoist->written, hoist->kernel, load) &&
           value_finds(operand(load, pointer), is_block_index, NULL);
}

static void hoist(Hoist *hoist, Op *load)
{
    const int registers = type_words(load->results[0].type);
    if (registers > hoist->registers || !may_pass(hoist, load)) return;
    for (size_t i = 0; i < hoist->barriers.count; i++) {
        Op *barrier = hoist->barriers.data[i];
        if (!may_precede(load, barrier)) continue;
        value_move_before(load->results, barrier);
        hoist->registers -= registers;
        return;
    }
}

/* Those that are no load's, nor follow from one. */
static bool take_addresses_out(const Op *load, Op *branch)
{
    if (!may_precede(load, branch)) return false;
    for (int i = 0; i < load->operand_count; i++) value_move_before(load->operands[i], branch);
    return true;
}

/* What holds where the arm's load is done, before the barrier; NULL: that is not known there. */
static Value *find_guard(Op *branch, int arm, const Op *load, Op *barrier)
{
    Value *condition = operand(branch, condition);
    if (!may_precede(load, barrier) || !value_may_precede(condition, barrier)) return NULL;
    for (int i = 0; i < load->operand_count; i++) value_move_before(load->operands[i], barrier);
    value_move_before(condition, barrier);
    Builder at = builder_before(barrier);
    return arm == 1 ? build2(&at, OP_xor, condition, build_const(&at, DTYPE_b1, 1)) : condition;
}

static void hoist_guarded(Hoist *hoist, Op *branch, int arm, Op *load)
{
    const int registers = type_words(load->results[0].type);
    if (registers > hoist->registers || !may_pass(hoist, load) || !take_addresses_out(load, branch))
        return;
    for (size_t i = 0; i < hoist->barriers.count; i++) {
        Op *barrier = hoist->barriers.data[i];
        Value *guard = find_guard(branch, arm, load, barrier);
        if (!guard) continue;
        Builder at = builder_before(barrier);
        load_move_under(&at, load, guard);
        hoist->registers -= registers;
        return;
    }
}

/* It computes with what it loads, and no more. */
static bool is_plain_arm(const Region *arm)
{
    for (const Op *op = arm->first; op; op = op->next)
        if (op->region_count || (!op_has(op, PURE | TERM) && !load_is_global(op)) ||
            op_has(op, COOP))
            return false;
    return true;
}

static void hoist_of_branch(Hoist *hoist, Op *branch)
{
    for (int arm = 0; arm < branch->region_count; arm++) {
        if (!is_plain_arm(branch->regions[arm])) continue;
        for (Op *op = branch->regions[arm]->first, *next; op; op = next) {
            next = op->next;
            if (load_is_global(op)) hoist_guarded(hoist, branch, arm, op);
        }
    }
}

static void hoist_loads(Kernel *kernel, const Target *target, const Op *launch)
{
    const int all = cost_registers_per_thread(target, launch_warps(launch), 1);
    Hoist state = {.kernel = kernel, .registers = all * COST_HOISTED_PERCENT / 100};
    for (Op *op = launch_region(launch)->first, *next; op; op = next) {
        next = op->next;
        if (state.written.any || op_find_within(op, orders_global, NULL)) return;
        if (load_is_global(op))
            hoist(&state, op);
        else if (op->code == OP_if && state.barriers.count && !is_group(op))
            hoist_of_branch(&state, op);
        const bool stores = note_stores(&state, op);
        if (stores && op_has(op, LOOP))
            state.barriers.count = 0; /* registers would wait for all of its iterations */
        else if (stores || is_barrier(op))
            vec_push(kernel->arena, &state.barriers, op);
    }
}

bool pass_hoist_loads(Kernel *kernel, PassContext *context)
{
    kernel_each_launch (op, kernel) hoist_loads(kernel, context->target, op);
    return true;
}
