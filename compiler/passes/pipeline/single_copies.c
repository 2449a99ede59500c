/* single_copies.c: copies from global to shared memory that no loop makes ahead: at once, by
 * cp.async, those with nothing else between waited for together; or through registers, as the
 * planner says (plan_buffers.c). */
#include "passes/pipeline/plan.h"

#include "passes/analysis/context.h"

#include <string.h>

/* ---- through registers ---- */

Op *single_copy_by_threads(const Pass *pass, const Op *copy)
{
    const Type *shared = operand(copy, tile)->type;
    const Type *tile =
        type_tile(pass->kernel->types, shared->dtype, shared->rank, shared->shape, NULL);
    Value *operands[1 + TYPE_RANK] = {operand(copy, view)};
    const int offsets = copy->operand_count - operand_index(copy, offsets);
    memcpy(operands + 1, operand_list(copy, offsets), sizeof *operands * (size_t)offsets);
    Builder builder = builder_before((Op *)(uintptr_t)copy);
    builder.span = copy->span;
    Op *load = build_op(&builder, OP_load, 1 + offsets, operands, 1, &tile);
    op_keep_attrs(load, copy);
    build2(&builder, OP_shared_store, operand(copy, tile), &load->results[0]);
    return load;
}

static void copy_through_registers(const Pass *pass, Op *copy)
{
    single_copy_by_threads(pass, copy);
    kernel_remark(pass->kernel, copy->span,
                  "a copy through registers: it has %d bytes a thread or fewer",
                  COST_COPY_BY_REGISTERS);
    op_erase(copy);
}

/* ---- at once ---- */

/* Copies that are in flight, to be waited for together. */
typedef struct Copies {
    const Pass *pass;
    Agreement *agreement; /* NULL: not asked for yet */
    VEC(const Value *) begun;
} Copies;

/* It writes where one that is in flight does. */
static bool meets(Copies *copies, const Op *next)
{
    for (size_t i = 0; i < copies->begun.count; i++) {
        const Value *earlier = copies->begun.data[i], *later = operand(next, tile);
        if (shared_root(earlier) != shared_root(later)) continue;
        if (!copies->agreement) copies->agreement = analysis_uniformity(copies->pass->context);
        if (!shared_parts_apart(copies->agreement, earlier, (Iteration){ITERATION_SAME, NULL},
                                later))
            return true;
    }
    return false;
}

/* Reads of global memory, and a thread's own arrays: the copies may be in flight meanwhile. */
static bool is_apart(const Op *op)
{
    if (op_has(op, PURE)) return !op_has(op, COOP);
    const Value *memory = op_has(op, ACCESS | ELEMENT) ? op_memory(op) : NULL;
    if (!memory || op_has(op, ATOMIC)) return false;
    return memory->type->kind == TYPE_LOCAL ||
           (memory->type->kind == TYPE_VIEW && !op_has(op, WRITES));
}

/* Those with nothing else between are waited for together, unless they meet. */
static void copy_at_once(Copies *copies, Op *copy)
{
    Builder builder = builder_before(copy);
    vec_push(copies->pass->arena, &copies->begun, operand(copy, tile));
    Op *begun = build_op(&builder, OP_copy_async, copy->operand_count, copy->operands, 0, NULL);
    op_keep_attrs(begun, copy);
    op_set_int(begun, ATTR_stages, 1);
    Op *next = copy->next;
    while (next && is_apart(next)) next = next->next;
    if (!next || next->code != OP_copy || plan_copies_by_threads(copies->pass, next) ||
        meets(copies, next)) {
        build_op(&builder, OP_copy_commit, 0, NULL, 0, NULL);
        build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL);
        copies->begun.count = 0;
    }
    op_erase(copy);
}

static void lower_copy(Op *op, void *context)
{
    Copies *copies = context;
    if (op->code != OP_copy) return;
    if (plan_copies_by_threads(copies->pass, op))
        copy_through_registers(copies->pass, op);
    else
        copy_at_once(copies, op);
}

void single_copies_build(const Pass *pass)
{
    Copies copies = {.pass = pass};
    region_visit(pass->launch, lower_copy, &copies);
}
