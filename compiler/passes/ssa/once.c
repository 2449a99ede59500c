/* once.c: which atomics each thread does. Those that the text makes depend on the thread's index,
 * by their place, their value or a condition around them, whatever it comes to: `t * 0` depends on
 * t, and so does `t < 128` where there are 128 threads. So this goes before all that folds. */
#include "ir/rebuild.h"
#include "passes/pass.h"

typedef struct Dependence {
    Kernel *kernel;
    Map values; /* and variables, local arrays */
    bool grows;
} Dependence;

static void add(Dependence *dependence, const Value *value)
{
    const TypeKind kind = value->type->kind;
    if (kind == TYPE_TILE || kind == TYPE_SHARED || kind == TYPE_VIEW ||
        map_has(&dependence->values, value))
        return;
    map_set(dependence->kernel->arena, &dependence->values, value, dependence);
    dependence->grows = true;
}

static bool any_depends(const Dependence *dependence, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (map_has(&dependence->values, op->operands[i])) return true;
    return false;
}

/* Of a branch or loop: which way it goes. */
static bool way_depends(const Dependence *dependence, const Op *control)
{
    if (op_int(control, ATTR_idle, 0)) return false; /* the border of the block */
    const int deciders = control->code == OP_for ? 3 : control->code == OP_if ? 1 : 0;
    for (int i = 0; i < deciders; i++)
        if (map_has(&dependence->values, control->operands[i])) return true;
    return control->code == OP_while &&
           map_has(&dependence->values, operand(region_terminator(control->regions[0]), condition));
}

static bool is_parted(const Dependence *dependence, const Op *op)
{
    for (const Op *at = op->parent->parent; at && at->code != OP_launch; at = at->parent->parent)
        if (way_depends(dependence, at)) return true;
    return false;
}

/* What a branch or loop gives, or carries. */
static void add_carried(Dependence *dependence, const Op *op)
{
    bool found = any_depends(dependence, op) || way_depends(dependence, op);
    for (int r = 0; r < op->region_count; r++) {
        const Op *end = region_terminator(op->regions[r]);
        found |= end && any_depends(dependence, end);
    }
    for (int i = 0; found && i < op->result_count; i++) add(dependence, &op->results[i]);
    for (int r = 0; found && r < op->region_count; r++)
        for (int i = 0; i < op->regions[r]->argument_count; i++)
            add(dependence, op->regions[r]->arguments[i]);
}

static void follow(Op *op, void *context)
{
    Dependence *dependence = context;
    const bool own =
        op->code == OP_thread_id || (op->code == OP_element_atomic && !op_int(op, ATTR_once, 0));
    if (op->code == OP_launch) return;
    if (op->region_count) {
        add_carried(dependence, op);
        return;
    }
    if (!own && !any_depends(dependence, op) &&
        !(op->code == OP_var_set && is_parted(dependence, op)))
        return;
    for (int i = 0; i < op->result_count; i++) add(dependence, &op->results[i]);
    if (op->code == OP_var_set) add(dependence, operand(op, variable));
    if (op->code == OP_element_store) add(dependence, operand(op, memory));
}

static void settle(Op *op, void *context)
{
    const Dependence *dependence = context;
    if (op->code == OP_element_atomic && op_int(op, ATTR_once, 0) &&
        (any_depends(dependence, op) || is_parted(dependence, op)))
        op_set_int(op, ATTR_once, 0);
}

bool pass_once(Kernel *kernel, PassContext *context)
{
    (void)context;
    Dependence dependence = {.kernel = kernel, .grows = kernel_had(kernel, OP_element_atomic)};
    while (dependence.grows) {
        dependence.grows = false;
        kernel_visit(kernel, follow, &dependence);
    }
    kernel_visit_those(kernel, OP_element_atomic, settle, &dependence);
    return true;
}
