/* dependence.c: which values follow from some ops, looked for until no more are found. */
#include "passes/analysis/dependence.h"

#include "ir/rebuild.h"

static bool follows(const Dependence *dependence, const Value *value)
{
    return map_has(dependence->values, value);
}

static void add(Dependence *dependence, const Value *value)
{
    if (!dependence->is_followed(value->type) || follows(dependence, value)) return;
    map_set(dependence->arena, dependence->values, value, dependence->values);
    dependence->grows = true;
}

static bool any_follows(const Dependence *dependence, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (follows(dependence, op->operands[i])) return true;
    return false;
}

/* Of a branch or loop: which way it goes. */
static bool way_follows(const Dependence *dependence, const Op *control)
{
    if (op_int(control, ATTR_idle, 0)) return false; /* the border of the launch, or of a block */
    const int deciders = control->code == OP_for ? 3 : control->code == OP_if ? 1 : 0;
    for (int i = 0; i < deciders; i++)
        if (follows(dependence, control->operands[i])) return true;
    return control->code == OP_while &&
           follows(dependence, operand(region_terminator(control->regions[0]), condition));
}

static bool is_parted(const Dependence *dependence, const Op *op)
{
    for (const Op *at = op->parent->parent; at && at->code != OP_launch; at = at->parent->parent)
        if (way_follows(dependence, at)) return true;
    return false;
}

bool dependence_has(const Dependence *dependence, const Op *op)
{
    return any_follows(dependence, op) || is_parted(dependence, op);
}

/* What a branch or loop gives, or carries. */
static void add_carried(Dependence *dependence, const Op *op)
{
    bool found = way_follows(dependence, op) || dependence_has(dependence, op);
    for (int r = 0; r < op->region_count; r++) {
        const Op *end = region_terminator(op->regions[r]);
        found |= end && any_follows(dependence, end);
    }
    for (int i = 0; found && i < op->result_count; i++) add(dependence, &op->results[i]);
    for (int r = 0; found && r < op->region_count; r++)
        for (int i = 0; i < op->regions[r]->argument_count; i++)
            add(dependence, op->regions[r]->arguments[i]);
}

static void follow(Op *op, void *context)
{
    Dependence *dependence = context;
    if (op->code == OP_launch) return;
    if (op->region_count) {
        add_carried(dependence, op);
        return;
    }
    if (!dependence->begins(op) && !dependence_has(dependence, op)) return;
    for (int i = 0; i < op->result_count; i++) add(dependence, &op->results[i]);
    if (op->code == OP_var_set) add(dependence, operand(op, variable));
    if (op->code == OP_element_store && operand(op, memory)->type->kind == TYPE_LOCAL)
        add(dependence, operand(op, memory));
}

void dependence_find(Dependence *dependence, Region *region)
{
    do {
        dependence->grows = false;
        region_visit(region, follow, dependence);
    } while (dependence->grows);
}
