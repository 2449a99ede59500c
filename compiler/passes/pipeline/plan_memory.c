/* plan_memory.c: memory that the ops of a planned loop touch: stages of multi-buffers, which they
 * read, shared tiles that threads write and products read, global memory. Ops that touch the same
 * memory, of which one writes it, keep the order of the text. */
#include "passes/pipeline/plan.h"

#include "passes/analysis/loop.h"

const Op *plan_operand_load(const Op *dot, int operand)
{
    bool swapped;
    const Op *op = op_unswapped(dot->operands[operand]->op, &swapped);
    return op && op->code == OP_shared_load && op->parent == dot->parent ? op : NULL;
}

const Value *plan_operand(const Op *dot, int operand)
{
    const Op *load = plan_operand_load(dot, operand);
    return load ? operand(load, tile) : NULL;
}

/* The tile of an operand; NULL: it is none. What a product reads stands at its operands' loads,
 * which are made where it is. */
static const Op *shared_of(const Op *op, int operand)
{
    const Value *tile = op->code != OP_dot ? op->operands[operand]
                        : operand < 2      ? plan_operand(op, operand)
                                           : NULL;
    return tile && tile->type->kind == TYPE_SHARED ? shared_root(tile) : NULL;
}

static bool touches(const Op *op, const Op *alloc)
{
    for (int i = 0; i < op->operand_count; i++)
        if (shared_of(op, i) == alloc) return true;
    return false;
}

bool plan_reads(const Op *op, const Op *alloc)
{
    return touches(op, alloc) && !op_has(op, ALIAS) && op->code != OP_copy;
}

static bool touches_shared_of(const Op *earlier, const Op *later)
{
    for (int i = 0; i < earlier->operand_count; i++)
        if (shared_of(earlier, i) && touches(later, shared_of(earlier, i))) return true;
    return false;
}

static bool touches_global_of(const Op *earlier, const Op *later)
{
    const Value *a = op_memory(earlier), *b = op_memory(later);
    if (!a || !b || a->type->kind != TYPE_VIEW || b->type->kind != TYPE_VIEW) return false;
    const Parameter *x = memory_parameter(a), *y = memory_parameter(b);
    return x == y || !x || !y;
}

bool plan_conflicts(const Op *earlier, const Op *later)
{
    return (op_has(earlier, STORES) || op_has(later, STORES)) && op_has(earlier, PLANNED) &&
           op_has(later, PLANNED) &&
           (touches_shared_of(earlier, later) || touches_global_of(earlier, later));
}

bool plan_reads_registers(const Op *dot, const Op *op)
{
    return dot->code == OP_dot && !plan_operand(dot, 0) && operand(dot, a)->op == op;
}

/* ---- of the launch ---- */

void launch_note_writes(Pass *pass)
{
    pass->written = (WrittenMemory){0};
    region_each (op, pass->launch)
        if (op_may_write(op, NULL))
            written_note(&pass->written, pass->arena, op_has(op, STORES) ? op_memory(op) : NULL);
}

bool is_steady_load(const Pass *pass, const Op *op)
{
    return op->code == OP_element_load && operand(op, memory)->type->kind == TYPE_VIEW &&
           !written_has(&pass->written, operand(op, memory));
}

/* ---- what is made where it is needed ---- */

bool plan_feeds_products_alone(const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next) {
        const bool left = use->op->code == OP_dot && operand(use->op, c) != value;
        if (!left && !(op_swaps(use->op) && plan_feeds_products_alone(&use->op->results[0])))
            return false;
    }
    return true;
}

static bool is_written_in(const Region *body, const Op *alloc)
{
    for (const Op *op = body->first; op; op = op_next(op))
        if ((op->code == OP_copy || op_has(op, STORES)) && touches(op, alloc)) return true;
    return false;
}

bool plan_is_remade(const Plan *plan, const Op *op)
{
    bool swapped;
    const Op *load = op_unswapped((Op *)(uintptr_t)op, &swapped);
    if (load && load->code == OP_shared_load &&
        load->parent == op->parent) /* of a tile that stays as it is */
        return plan_feeds_products_alone(&load->results[0]) ||
               !is_written_in(load->parent, shared_root(operand(load, tile)));
    return op->result_count == 1 && loop_foresees(plan->pipeline->loop, &op->results[0]);
}
