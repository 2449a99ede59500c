/* invariant_loads.c: what each iteration of a loop loads from the same place is loaded in front of
 * it.
 *
 *     for k: sum += f(x[i], y[k])            a = x[i]; for k: sum += f(a, y[k])
 *
 * is how a thread's own element is written in a loop. LLVM does not take such loads out, as those
 * with a predicate are instructions that it does not know. A loop that may have no iterations loads
 * where it has some. Nobody may write it meanwhile: the loop, and what is in it, computes and
 * loads, and stores to the thread's own arrays, or to other parameters' memory. What is loaded in
 * some iterations stays where it is. */
#include "ir/op_vec.h"
#include "ir/rebuild.h"
#include "passes/analysis/access.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "target/cost.h"

typedef struct Invariant {
    Kernel *kernel;
    OpVec loops;   /* the inner ones first */
    int registers; /* of a thread, that loads may still take */
} Invariant;

static bool stores_to(const Op *op, Space space)
{
    return op->code == OP_st && operand(op, pointer)->type->space == space;
}

/* It may write what others read, or wait for them, or this is not known. */
static bool is_unplain(const Op *op, const void *context)
{
    (void)context;
    if (op->code == OP_for || op->code == OP_if || op->code == OP_ld || op->code == OP_local_base)
        return false;
    if (op->code == OP_st) return !stores_to(op, SPACE_LOCAL) && !stores_to(op, SPACE_GLOBAL);
    return op->region_count > 0 || op_has(op, COOP) || !op_has(op, PURE | TERM);
}

static bool may_precede(const Op *load, const Op *loop)
{
    for (int i = 0; i < load->operand_count; i++)
        if (!value_may_precede(load->operands[i], loop)) return false;
    return true;
}

static void move_out(Op *load, Op *loop)
{
    if (loop_runs(loop)) {
        value_move_before(load->results, loop);
        return;
    }
    for (int i = 0; i < load->operand_count; i++) value_move_before(load->operands[i], loop);
    Builder at = builder_before(loop);
    at.span = load->span;
    load_move_under(&at, load, loop_is_entered(&at, loop));
}

static void take_loop(Op *op, void *context)
{
    Invariant *invariant = context;
    if (op->code == OP_for) vec_push(invariant->kernel->arena, &invariant->loops, op);
}

static void hoist_of_loop(Invariant *invariant, Op *loop)
{
    WrittenMemory written = {0};
    if (op_find_within(loop, is_unplain, NULL)) return;
    region_each (op, loop->regions[0])
        if (stores_to(op, SPACE_GLOBAL)) written_note_store(&written, invariant->kernel, op);
    for (Op *op = loop->regions[0]->first, *next; op; op = next) {
        next = op->next;
        if (!load_is_global(op) || !may_precede(op, loop) ||
            written_may_have(&written, invariant->kernel, op))
            continue;
        const int registers = type_words(op->results[0].type);
        if (registers > invariant->registers) continue;
        invariant->registers -= registers;
        move_out(op, loop);
    }
}

bool pass_invariant_loads(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_each_launch (op, kernel) {
        Invariant invariant = {.kernel = kernel, .registers = COST_INVARIANT_REGISTERS};
        region_visit_inner_first(launch_region(op), take_loop, &invariant);
        for (size_t i = 0; i < invariant.loops.count; i++)
            hoist_of_loop(&invariant, invariant.loops.data[i]);
    }
    return true;
}
