/* dependence.c: what the sweeps ask of the program: which scalars threads have each for itself, and
 * which reads find something else when their region is replayed. */
#include "ir/rebuild.h"
#include "passes/analysis/access.h"
#include "passes/analysis/dependence.h"
#include "passes/grad/grad.h"

/* Numbers, and the memory that numbers lead to. */
static bool is_followed(const Type *type)
{
    return type->kind == TYPE_SCALAR || type->kind == TYPE_POINTER || type->kind == TYPE_VIEW;
}

static bool is_threads_own(const Op *op)
{
    const Value *memory = op_is_element(op) ? operand(op, memory) : NULL;
    return op->code == OP_thread_id || op->code == OP_shuffle ||
           (op->code == OP_element_atomic && !op_int(op, ATTR_once, 0)) ||
           (memory && memory->type->kind == TYPE_LOCAL);
}

void find_dependent(Grad *grad, Region *region)
{
    Dependence dependence = {.arena = grad->arena,
                             .values = &grad->depends,
                             .begins = is_threads_own,
                             .is_followed = is_followed};
    dependence_find(&dependence, region);
}

/* ---- memory that moves ---- */

/* What made the shared memory, or threads' own, that an op reads or writes; NULL: it is of neither.
 */
static const Op *allocation_of(const Op *op)
{
    for (int i = 0; i < op->operand_count; i++) {
        const Value *memory = op->operands[i];
        const TypeKind kind = memory->type->kind;
        if (kind != TYPE_SHARED && kind != TYPE_LOCAL) continue;
        while (memory->op && op_aliased(memory->op)) memory = op_aliased(memory->op);
        return memory->op;
    }
    return NULL;
}

typedef struct Moving {
    Grad *grad;
    Map seen;             /* regions whose allocations' writers are noted */
    Map writers;          /* an allocation -> the last op of its region that writes it, or in it */
    const Region *region; /* whose allocations are looked at */
} Moving;

static void note_writer(Op *op, void *context)
{
    Moving *moving = context;
    if (!op_has(op, WRITES) || op->region_count) return;
    const Op *allocation = allocation_of(op);
    if (!allocation || op == allocation || allocation->parent != moving->region) return;
    Op *at = region_find_ancestor(moving->region, op);
    const Op *last = map_get(&moving->writers, allocation);
    if (!last || op_comes_before(last, at))
        map_set(moving->grad->arena, &moving->writers, allocation, at);
}

/* What nobody asks an atomic for may be anything. */
static bool reads(const Op *op)
{
    return op_has(op, READS) && !op->region_count && op->result_count &&
           (!op_has(op, ATOMIC) || op->results->use_count);
}

static void look_at(Op *op, void *context)
{
    Moving *moving = context;
    Grad *grad = moving->grad;
    const Op *allocation = reads(op) ? allocation_of(op) : NULL;
    if (!allocation || allocation->parent == op->parent) return;
    moving->region = allocation->parent;
    if (!map_has(&moving->seen, moving->region)) {
        map_set(grad->arena, &moving->seen, moving->region, moving);
        region_visit(allocation->parent, note_writer, moving);
    }
    const Op *last = map_get(&moving->writers, allocation),
             *around = region_find_ancestor(moving->region, op);
    if (!last || (last != around && !op_comes_before(around, last))) return;
    for (Region *in = op->parent; in != moving->region; in = in->parent->parent) {
        OpVec *of = map_get(&grad->moving, in);
        if (!of) of = arena_new_of(grad->arena, OpVec);
        vec_push(grad->arena, of, op);
        map_set(grad->arena, &grad->moving, in, of);
    }
}

void find_moving(Grad *grad, Region *region)
{
    Moving moving = {.grad = grad};
    region_visit(region, look_at, &moving);
}
