/* invariant_functions.c: functions whose argument is the same in each iteration of a loop are
 * computed in front of it, all of them.
 *
 *     for k: sum *= exp(g * i)            a = exp(g * i); for k: sum *= a
 *
 * LLVM takes arithmetic out of loops, but leaves the GPU's quick instructions where they are. Of an
 * exponential, which is several instructions around one of these, a thread would keep three numbers
 * for as long as the loop runs, where the result is one. */
#include "ir/op_vec.h"
#include "ir/rebuild.h"
#include "passes/pass.h"

#include <string.h>

static void take_loop(Op *op, void *loops)
{
    if (op->code == OP_for) vec_push(op->parent->kernel->arena, (OpVec *)loops, op);
}

/* What it needs would be taken out without it: no more registers are needed. */
static bool has_invariant_parts(const Op *function, const Op *loop)
{
    const Op *argument = operand(function, a)->op;
    const char *name = op_attr(function, ATTR_function)->text;
    return strcmp(name, "exp") == 0 || strcmp(name, "exp2") == 0 ||
           (argument && argument->parent == loop->regions[0] && argument->code != OP_const);
}

static void hoist_of_loop(Op *loop)
{
    for (Op *op = loop->regions[0]->first, *next; op; op = next) {
        next = op->next;
        if (op->code == OP_approx && value_may_precede(op->results, loop) &&
            has_invariant_parts(op, loop))
            value_move_before(op->results, loop);
    }
}

bool pass_invariant_functions(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_each_launch (op, kernel) {
        OpVec loops = {0};
        region_visit_inner_first(launch_region(op), take_loop, &loops);
        vec_each (loop, &loops) hoist_of_loop(*loop);
    }
    return true;
}
