/* single_copies.c: copies from global to shared memory that no loop makes ahead: at once, by
 * cp.async, those with nothing else between waited for together; or through registers, as the
 * planner says (plan_buffers.c).
 *
 * In a loop those that could be begun beside earlier ones of the iteration are, so that the
 * iteration waits for memory once, not once for each operand:
 *
 *     copy a, s; product of s; copy b, t; product of t
 *     ->  copy a, s; copy b, t; wait for the first; product of s; wait for all; product of t */
#include "passes/pipeline/plan.h"

#include "ir/rebuild.h"
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
    OpVec begun;
} Copies;

/* It writes where one that is in flight does. */
static bool meets(Copies *copies, const Op *next)
{
    vec_each (begun, &copies->begun) {
        const Value *earlier = operand(*begun, tile), *later = operand(next, tile);
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

/* It uses a tile that they write, or orders threads. */
static bool comes_before(const Op *op, const void *context)
{
    const Copies *copies = context;
    if (op_has(op, BARRIER | MBARRIER | BLOCKS)) return true;
    vec_each (begun, &copies->begun)
        if (shared_is_used(op, shared_root(operand(*begun, tile)))) return true;
    return false;
}

/* The launch does not write what they read, and where from is known there. */
static bool can_begin_before(const Copies *copies, const Op *place)
{
    vec_each (begun, &copies->begun) {
        if (written_has(&copies->pass->written, operand(*begun, view))) return false;
        for (int i = 0; i < (*begun)->operand_count; i++)
            if (!value_may_precede((*begun)->operands[i], place)) return false;
    }
    return true;
}

/* The first wait that the copies can be begun before; NULL: there is none. A tile that a loop uses
 * keeps its memory for all of the loop: there that costs none. */
static Op *earliest_place(const Copies *copies)
{
    Op *place = NULL;
    const Op *first = copies->begun.data[0];
    if (!op_is_in_loop(first)) return NULL;
    for (Op *op = first->previous; op && !op_find_within(op, comes_before, copies);
         op = op->previous) {
        if (op->code != OP_copy_wait) continue;
        if (!can_begin_before(copies, op)) break;
        place = op;
    }
    return place;
}

static bool commits(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_copy_commit;
}

/* Waits that they are begun before leave one more group in flight, up to the next group that is
 * begun: who waits for that one waits for those before it, too. */
static void begin_early(const Copies *copies, Op *commit)
{
    Op *place = earliest_place(copies);
    for (Op *op = place; op && op != copies->begun.data[0] && !op_find_within(op, commits, NULL);
         op = op->next)
        if (op->code == OP_copy_wait) op_set_int(op, ATTR_count, op_int(op, ATTR_count, 0) + 1);
    for (size_t i = 0; place && i < copies->begun.count; i++) {
        Op *begun = copies->begun.data[i];
        for (int j = 0; j < begun->operand_count; j++) value_move_before(begun->operands[j], place);
        op_move_before(begun, place);
        kernel_remark(copies->pass->kernel, begun->span,
                      "a copy that is begun beside an earlier one of the iteration");
    }
    if (place) op_move_before(commit, place);
}

/* Those with nothing else between are waited for together, unless they meet. */
static void copy_at_once(Copies *copies, Op *copy)
{
    Builder builder = builder_before(copy);
    Op *begun = build_op(&builder, OP_copy_async, copy->operand_count, copy->operands, 0, NULL);
    vec_push(copies->pass->arena, &copies->begun, begun);
    op_keep_attrs(begun, copy);
    op_set_int(begun, ATTR_stages, 1);
    Op *next = copy->next;
    while (next && is_apart(next)) next = next->next;
    if (!next || next->code != OP_copy || plan_copies_by_threads(copies->pass, next) ||
        meets(copies, next)) {
        Op *commit = build_op(&builder, OP_copy_commit, 0, NULL, 0, NULL);
        build_op(&builder, OP_copy_wait, 0, NULL, 0, NULL);
        begin_early(copies, commit);
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
