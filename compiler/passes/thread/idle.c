/* idle.c: what waits for asynchronous copies where none are in flight: a copy that memory is not
 * aligned for has become loads and stores. Groups of copies are for waits that count them: one for
 * all copies needs none. */
#include "passes/pass.h"
#include "ir/op_vec.h"

bool pass_idle(Kernel *kernel, PassContext *context)
{
    if (!kernel_had(kernel, OP_copy_commit) && !kernel_had(kernel, OP_copy_wait)) return true;
    kernel_each_launch (launch, kernel) {
        OpVec idle = {0};
        bool begun = false, counted = false;
        region_each (op, launch_region(launch)) {
            begun |= op->code == OP_cp_async;
            counted |= op->code == OP_copy_wait && op_attr(op, ATTR_count);
        }
        region_each (op, launch_region(launch))
            if ((op->code == OP_copy_commit && !(begun && counted)) ||
                (op->code == OP_copy_wait && !begun))
                vec_push(context->arena, &idle, op);
        vec_each (op, &idle) op_erase(*op);
    }
    return true;
}
