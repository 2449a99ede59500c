/* register_shares.c: how many registers a thread the author gives his warpgroups; needs and leaves
 * a TYPED kernel in SSA.
 *
 * All threads of a block begin with as many as the machine has for them, and a warpgroup that asks
 * for more waits until others have given some away. So the author's word is kept where each
 * warpgroup of the launch says once, outside of branches and loops, what it has from then on, where
 * that is more or fewer as it says, and there are as many in all. Elsewhere, and on GPUs whose
 * warps keep what they have, it is dropped: the compiler divides registers evenly then. */
#include "passes/pass.h"

#include "ir/op_vec.h"

#include <string.h>

enum { MOST_REGISTERS = 240 };

/* Of whole warpgroups, and reached once by all of their threads. */
static bool is_of_groups(const Op *op)
{
    const ThreadGroup group = op_threads(op);
    const Op *around = op->parent->parent;
    return is_group(around) && op->parent == around->regions[0] &&
           around->parent->parent->code == OP_launch && group.begin % WARPGROUP_SIZE == 0 &&
           group.count % WARPGROUP_SIZE == 0;
}

static bool is_possible(const Op *op, int first)
{
    const int64_t count = op_int(op, ATTR_count, 0);
    return strcmp(op_attr(op, ATTR_mode)->text, "inc") == 0 ? count >= first : count <= first;
}

static bool are_apart(const OpVec *ops)
{
    for (size_t i = 0; i < ops->count; i++)
        for (size_t j = 0; j < i; j++)
            if (!group_is_apart(op_threads(ops->data[i]), op_threads(ops->data[j]))) return false;
    return true;
}

static bool can_be_kept(const OpVec *ops, const Target *target, int threads)
{
    const int unit = target->register_unit, /* what a thread begins with: */
        first = (int)lesser_of(target->registers / threads / unit * unit, MOST_REGISTERS);
    int64_t covered = 0, registers = 0;
    if (!target_has(target, HAS_WGMMA) || !are_apart(ops)) return false;
    vec_each (op, ops) {
        const int threads_of = op_threads(*op).count;
        if (!is_of_groups(*op) || !is_possible(*op, first)) return false;
        covered += threads_of;
        registers += threads_of * op_int(*op, ATTR_count, 0);
    }
    return covered == threads && registers <= (int64_t)first * threads;
}

bool pass_register_shares(Kernel *kernel, PassContext *context)
{
    kernel_each_launch (launch, kernel) {
        const OpVec shares =
            region_list_those(context->arena, launch_region(launch), OP_setmaxnreg);
        if (can_be_kept(&shares, context->target, launch_threads(launch).count)) continue;
        vec_each (share, &shares) {
            kernel_remark(kernel, (*share)->span,
                          "registers are divided evenly: not each warpgroup says once, outside of "
                          "branches and loops, how many it has, or they are more than there are");
            op_erase(*share);
        }
    }
    return true;
}
