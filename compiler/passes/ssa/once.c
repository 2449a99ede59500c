/* once.c: which atomics each thread does. Those that the text makes depend on the thread's index,
 * by their place, their value or a condition around them, whatever it comes to: `t * 0` depends on
 * t, and so does `t < 128` where there are 128 threads. So this goes before all that folds. */
#include "passes/analysis/dependence.h"
#include "passes/pass.h"

static bool is_own(const Op *op)
{
    return op->code == OP_thread_id || (op->code == OP_element_atomic && !op_int(op, ATTR_once, 0));
}

static bool is_followed(const Type *type)
{
    return type->kind != TYPE_TILE && type->kind != TYPE_SHARED && type->kind != TYPE_VIEW;
}

static void settle(Op *op, void *context)
{
    if (op->code == OP_element_atomic && op_int(op, ATTR_once, 0) && dependence_has(context, op))
        op_set_int(op, ATTR_once, 0);
}

bool pass_once(Kernel *kernel, PassContext *context)
{
    Map values = {0};
    Dependence dependence = {
        .arena = kernel->arena, .values = &values, .begins = is_own, .is_followed = is_followed};
    (void)context;
    if (!kernel_had(kernel, OP_element_atomic)) return true;
    dependence_find(&dependence, kernel->host);
    kernel_visit_those(kernel, OP_element_atomic, settle, &dependence);
    return true;
}
