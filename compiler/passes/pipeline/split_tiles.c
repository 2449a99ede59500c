/* split_tiles.c: a shared tile that an iteration of a pipelined loop copies to, and later writes
 * anew as a whole, is two tiles:
 *
 *     for k { copy a[k], t; .. t ..; shared_store t, x; .. t .. }
 *     ->  for k { copy a[k], u; .. u ..; shared_store t, x; .. t .. }
 *
 * Then nothing but the copy writes u, and multi_buffer can make it ahead. This is the renaming of
 * variables (Cytron and Ferrante 1987, "What's in a name?") for tiles. Needs SSA; leaves a TYPED
 * kernel. Tiles are split only while there is room for all that the launch has. */
#include "passes/analysis/access.h"
#include "passes/analysis/loop.h"

#include "ir/op_vec.h"

typedef struct Split {
    Kernel *kernel;
    const Region *body; /* of the loop */
    Op *copy;           /* that begins the first of the two tiles */
    const Op *anew;     /* what writes the whole tile again */
    int64_t stages;
    int64_t room; /* bytes of shared memory that are left */
} Split;

/* The next op of the body that writes the whole tile, whatever it held; NULL: there is none. */
static const Op *next_write(const Op *copy)
{
    const Op *op = copy->next;
    while (op && !((op->code == OP_copy || op->code == OP_shared_store) &&
                   operand(op, tile) == operand(copy, tile)))
        op = op->next;
    return op;
}

/* Between the copy and what writes the tile anew, or within an op there. */
static bool is_between(const Split *split, const Op *op)
{
    if (!region_holds(split->body, op->parent)) return false;
    op = region_find_ancestor(split->body, op);
    return op_comes_before(split->copy, op) && op_comes_before(op, split->anew);
}

/* What uses the tile there does but read it, or names a part that is used there alone, where
 * `inside` itself is from. */
static bool fits(const Split *split, const Value *tile, bool inside)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        const Op *op = use->op;
        const bool here = is_between(split, op), names = op_has(op, ALIAS);
        if (!here && (inside || names)) return false;
        if (names && !fits(split, &op->results[0], true)) return false;
        if (here && !shared_is_only_read(op)) return false;
    }
    return true;
}

static void split_at(Split *split)
{
    const Value *tile = operand(split->copy, tile);
    Builder before = builder_before(split->body->parent);
    before.span = tile->op->span;
    Value *first = &build_op(&before, OP_shared_alloc, 0, NULL, 1, &tile->type)->results[0];
    first->name = tile->name;
    OpVec users = {0};
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op == split->copy || is_between(split, use->op))
            vec_push(split->kernel->arena, &users, use->op);
    vec_each (user, &users)
        for (int i = 0; i < (*user)->operand_count; i++)
            if ((*user)->operands[i] == tile) op_set_operand(*user, i, first);
}

static void consider(Split *split)
{
    const Value *tile = operand(split->copy, tile);
    const int64_t bytes = type_bytes(tile->type) * split->stages;
    split->anew = next_write(split->copy);
    if (!split->anew || split->anew->code == OP_copy || tile->op->code != OP_shared_alloc ||
        tile->type->layout || bytes > split->room || !fits(split, tile, false))
        return;
    split->room -= bytes;
    split_at(split);
}

static void split_in_loop(Op *op, void *context)
{
    Split *split = context;
    split->stages = op->code == OP_for ? op_int(op, ATTR_stages, 0) : 0;
    if (split->stages < 1 || loop_is_short(op)) return; /* it costs more than it gains */
    split->body = op->regions[0];
    for (split->copy = split->body->first; split->copy; split->copy = op_next(split->copy))
        if (split->copy->code == OP_copy) consider(split);
}

/* What is left beside all tiles and their stages. */
static int64_t room_of(Region *launch, const Target *target)
{
    int64_t room = target->shared_bytes - COST_SHARED_MARGIN_SPLIT - region_shared_bytes(launch);
    region_each_of (copy, launch, OP_copy)
        if (copy->parent->parent->code == OP_for)
            room -= type_bytes(operand(copy, tile)->type) *
                    (op_int(copy->parent->parent, ATTR_stages, 1) - 1);
    return room;
}

bool pass_split_tiles(Kernel *kernel, PassContext *context)
{
    if (!kernel_had(kernel, OP_copy)) return true;
    kernel_each_launch (op, kernel) {
        Split split = {.kernel = kernel, .room = room_of(launch_region(op), context->target)};
        region_visit_inner_first(launch_region(op), split_in_loop, &split);
    }
    return true;
}
