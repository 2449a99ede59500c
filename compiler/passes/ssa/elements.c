/* elements.c: elements of register tiles at indices that each thread has for itself; needs and
 * leaves a TYPED kernel in SSA.
 *
 * A tile that is read so goes to shared memory, once for all readings, in the region where it was
 * made: there all threads are that made it, whichever of them come to read it. */
#include "passes/pass.h"

typedef struct Pass {
    Kernel *kernel;
    Arena *arena;
    Map copies; /* tile -> shared tile */
} Pass;

/* Ops are visited in the order of the text, so that the first reading stands before all others. */
static Value *copy_before(Pass *pass, Value *tile, Op *first)
{
    const Region *region = tile->op ? tile->op->parent : tile->region;
    Builder at = builder_before(region_find_ancestor(region, first));
    const Type *type = type_shared(pass->kernel->types, tile->type->dtype, tile->type->rank,
                                   tile->type->shape, NULL);
    Value *shared = build_op(&at, OP_shared_alloc, 0, NULL, 1, &type)->results;
    build_op(&at, OP_shared_store, 2, (Value *[]){shared, tile}, 0, NULL);
    map_set(pass->arena, &pass->copies, tile, shared);
    return shared;
}

static void visit(Op *op, void *context)
{
    Pass *pass = context;
    if (op->code != OP_element_load || operand(op, memory)->type->kind != TYPE_TILE) return;
    Value *tile = operand(op, memory), *shared = map_get(&pass->copies, tile);
    op_set_operand(op, operand_index(op, memory), shared ? shared : copy_before(pass, tile, op));
}

bool pass_elements(Kernel *kernel, PassContext *context)
{
    (void)context;
    Pass pass = {.kernel = kernel, .arena = arena_new()};
    kernel_visit_those(kernel, OP_element_load, visit, &pass);
    arena_free(pass.arena);
    return true;
}
