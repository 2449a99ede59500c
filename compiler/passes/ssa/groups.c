/* groups.c: what crosses the border of a thread group; needs and leaves a TYPED kernel in SSA.
 *
 * A tile lies in the registers of the threads that made it, so one that is used by another group
 * goes through shared memory, both ways; one that costs nothing is made again instead. A scalar
 * that a group sets has its new value in the group's threads alone: see uniform.c. */
#include "base/vec.h"
#include "passes/pass.h"
#include "ir/rebuild.h"

typedef struct Groups {
    Kernel *kernel;
    Arena *arena; /* of the pass */
} Groups;

enum { REMAKE_DEPTH = 8 };

/* ---- tiles that go in ---- */

/* Follows from scalars by elementwise ops and renamings. */
static bool is_remade(const Value *value, int depth)
{
    if (value->type->kind != TYPE_TILE) return true;
    const Op *op = value->op;
    if (!op || depth == 0 || !op_has(op, PURE) || op_has(op, COOP)) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!is_remade(op->operands[i], depth - 1)) return false;
    return true;
}

static Value *remake(Builder *builder, Value *value, Map *made)
{
    if (value->type->kind != TYPE_TILE) return value;
    Value *known = map_get(made, value);
    if (known) return known;
    for (int i = 0; i < value->op->operand_count; i++)
        remake(builder, value->op->operands[i], made);
    op_clone(builder, value->op, made);
    return map_get(made, value);
}

static Value *shared_copy(Builder *builder, Value *tile)
{
    const Type *type = tile->type;
    const Type *shared =
        type_shared(builder->kernel->types, type->dtype, type->rank, type->shape, NULL);
    Op *alloc = build_op(builder, OP_shared_alloc, 0, NULL, 1, &shared);
    return &alloc->results[0];
}

typedef struct Border {
    Groups *groups;
    Op *group;
    Map inside; /* a tile from outside -> what stands for it inside */
    Builder entry, before;
} Border;

static Value *bring_in(Border *border, Value *tile)
{
    Value *known = map_get(&border->inside, tile);
    if (known) return known;
    if (is_remade(tile, REMAKE_DEPTH)) {
        known = remake(&border->entry, tile, &border->inside);
    } else {
        Value *shared = shared_copy(&border->before, tile);
        build2(&border->before, OP_shared_store, shared, tile);
        known = build1(&border->entry, OP_shared_load, shared);
    }
    map_set(border->groups->arena, &border->inside, tile, known);
    return known;
}

static void bring_in_operands(Op *op, void *context)
{
    Border *border = context;
    for (int i = 0; i < op->operand_count; i++) {
        Value *operand = op->operands[i];
        if (operand->type->kind == TYPE_TILE &&
            !region_holds(border->group->regions[0], value_home(operand)))
            op_set_operand(op, i, bring_in(border, operand));
    }
}

/* ---- tiles that come out ---- */

/* What the group made of a tile, whatever the others held. */
static Value *bring_out(Op *group, int index, Builder *after)
{
    Op *yield = region_terminator(group->regions[0]);
    Value *tile = yield->operands[index];
    Builder before = builder_before(group), end = builder_before(yield);
    if (is_remade(tile, REMAKE_DEPTH) && !region_holds(group->regions[0], value_home(tile)))
        return tile;
    Value *shared = shared_copy(&before, tile);
    build2(&end, OP_shared_store, shared, tile);
    return build1(after, OP_shared_load, shared);
}

/* The group's op without its tile results. */
static Op *without_tiles(Groups *groups, Op *group)
{
    Map replaced = {0};
    VEC(const Type *) types = {0};
    VEC(Value *) kept = {0};
    Builder after = builder_after(group);
    for (int i = group->result_count - 1; i >= 0; i--) {
        Value *result = &group->results[i];
        if (result->type->kind != TYPE_TILE) continue;
        if (result->use_count > 0)
            map_set(groups->arena, &replaced, result, bring_out(group, i, &after));
        for (int r = 0; r < 2; r++) op_remove_operand(region_terminator(group->regions[r]), i);
    }
    for (int i = 0; i < group->result_count; i++) {
        if (group->results[i].type->kind == TYPE_TILE) continue;
        vec_push(groups->arena, &types, group->results[i].type);
        vec_push(groups->arena, &kept, &group->results[i]);
    }
    if ((int)types.count == group->result_count) return group;
    Op *narrow = op_rebuild(group, 1, group->operands, (int)types.count, types.data);
    for (size_t i = 0; i < kept.count; i++) {
        narrow->results[i].name = kept.data[i]->name;
        map_set(groups->arena, &replaced, kept.data[i], &narrow->results[i]);
    }
    region_replace(groups->kernel->host, &replaced);
    op_erase(group);
    return narrow;
}

static void cross_borders(Groups *groups, Region *region)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        if (is_group(op)) {
            op = without_tiles(groups, op);
            next = op_next(op);
            Border border = {.groups = groups, .group = op, .before = builder_before(op)};
            border.entry = builder_at_end(op->regions[0], op->span);
            border.entry.before = op->regions[0]->first;
            region_visit(op->regions[0], bring_in_operands, &border);
        }
        for (int i = 0; i < op->region_count; i++) cross_borders(groups, op->regions[i]);
    }
}

bool pass_groups(Kernel *kernel, PassContext *context)
{
    (void)context;
    bool any = false;
    for (const Op *op = kernel->host->first; op; op = op->next) any |= has_group(op);
    if (!any) return true;
    Groups groups = {.kernel = kernel, .arena = arena_new()};
    cross_borders(&groups, kernel->host);
    arena_free(groups.arena);
    return true;
}
