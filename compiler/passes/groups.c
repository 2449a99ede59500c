/* groups.c: what crosses the border of a thread group; needs and leaves a TYPED kernel in SSA.
 *
 * A tile lies in the registers of the threads that made it, so one that is used by another group
 * goes through shared memory, both ways; one that costs nothing is made again instead. A scalar
 * that a group sets has its new value in the group's threads alone: where other threads would
 * have to agree on it, that is an error. */
#include "base/vec.h"
#include "passes/group.h"
#include "passes/passes.h"
#include "passes/rebuild.h"

typedef struct Groups {
    Kernel *kernel;
    Arena *arena; /* of the pass */
    bool failed;
} Groups;

enum { REMAKE_DEPTH = 8 };

/* ---- tiles that go in ---- */

static bool region_holds(const Region *outer, const Region *inner)
{
    for (; inner; inner = inner->parent ? inner->parent->parent : NULL)
        if (inner == outer) return true;
    return false;
}

static const Region *home_of(const Value *value)
{
    return value->op ? value->op->parent : value->region;
}

/* Follows from scalars by elementwise ops and renamings. */
static bool is_remade(const Value *value, int depth)
{
    if (value->type->kind != TYPE_TILE) return true;
    const Op *op = value->op;
    if (!op || depth == 0 || !(op_info(op->code)->traits & PURE) ||
        op_info(op->code)->traits & COOP)
        return false;
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
            !region_holds(border->group->regions[0], home_of(operand)))
            op->operands[i] = bring_in(border, operand);
    }
}

/* ---- tiles that come out ---- */

static void drop_operand(Op *op, int index)
{
    for (int i = index; i + 1 < op->operand_count; i++) op->operands[i] = op->operands[i + 1];
    op->operand_count--;
}

/* What the group made of a tile, whatever the others held. */
static Value *bring_out(Op *group, int index, Builder *after)
{
    Op *yield = region_terminator(group->regions[0]);
    Value *tile = yield->operands[index];
    Builder before = builder_before(group), end = builder_before(yield);
    if (is_remade(tile, REMAKE_DEPTH) && !region_holds(group->regions[0], home_of(tile)))
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
        if (value_count_uses(groups->kernel, result) > 0)
            map_set(groups->arena, &replaced, result, bring_out(group, i, &after));
        for (int r = 0; r < 2; r++) drop_operand(region_terminator(group->regions[r]), i);
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
        next = op->next;
        if (is_group(op)) {
            op = without_tiles(groups, op);
            next = op->next;
            Border border = {.groups = groups, .group = op, .before = builder_before(op)};
            border.entry = builder_at_end(op->regions[0], op->span);
            border.entry.before = op->regions[0]->first;
            region_visit(op->regions[0], bring_in_operands, &border);
        }
        for (int i = 0; i < op->region_count; i++) cross_borders(groups, op->regions[i]);
    }
}

/* ---- scalars on which threads must agree ---- */

typedef struct Agreement {
    Groups *groups;
    ThreadGroup threads; /* that must agree */
    Map seen;
} Agreement;

static bool differs(Agreement *agreement, const Value *value);

static bool end_differs(Agreement *agreement, const Op *op, int index)
{
    for (int r = 0; r < op->region_count; r++) {
        const Op *end = region_terminator(op->regions[r]);
        const int first = end && end->code == OP_condition ? 1 : 0;
        if (first && differs(agreement, end->operands[0])) return true;
        if (end && index + first < end->operand_count &&
            differs(agreement, end->operands[index + first]))
            return true;
    }
    return false;
}

static bool group_differs(Agreement *agreement, const Op *group, int index)
{
    const ThreadGroup set = group_threads(group);
    const Value *in = region_terminator(group->regions[0])->operands[index];
    const Value *out = region_terminator(group->regions[1])->operands[index];
    if (group_has(set, agreement->threads)) return differs(agreement, in);
    if (group_is_apart(set, agreement->threads)) return differs(agreement, out);
    return in != out || differs(agreement, in);
}

/* What a loop carries, or an `if` yields, in place `index` among its results. */
static bool carried_differs(Agreement *agreement, const Op *op, int index)
{
    if (is_group(op)) return group_differs(agreement, op, index);
    const int fixed = op->code == OP_for ? 3 : op->code == OP_if ? 1 : 0;
    for (int i = 0; i < fixed; i++)
        if (differs(agreement, op->operands[i])) return true;
    if (op->code != OP_if && differs(agreement, op->operands[fixed + index])) return true;
    return end_differs(agreement, op, index);
}

static bool differs(Agreement *agreement, const Value *value)
{
    const Type *type = value->type;
    if (type->kind == TYPE_TILE || type->kind == TYPE_SHARED || map_has(&agreement->seen, value))
        return false;
    map_set(agreement->groups->arena, &agreement->seen, value, agreement);
    const Op *op = value->op;
    if (!op && !value->region) return false; /* a parameter */
    if (!op) {
        const Op *loop = value->region->parent;
        const int first = loop->code == OP_for ? 1 : 0;
        if (value->index >= first) return carried_differs(agreement, loop, value->index - first);
        for (int i = 0; i < 3; i++)
            if (differs(agreement, loop->operands[i])) return true;
        return false;
    }
    if (op->region_count) return carried_differs(agreement, op, value->index);
    for (int i = 0; i < op->operand_count; i++)
        if (differs(agreement, op->operands[i])) return true;
    return false;
}

static void find_cooperative(Op *op, void *context)
{
    if (op_info(op->code)->traits & COOP) *(bool *)context = true;
}

/* Whether the threads that run the op must agree on its operands. */
static bool needs_agreement(const Op *op)
{
    if (op_info(op->code)->traits & COOP) return true;
    if (!op->region_count || is_group(op)) return false;
    bool cooperates = false;
    for (int i = 0; i < op->region_count; i++)
        region_visit(op->regions[i], find_cooperative, &cooperates);
    return cooperates;
}

static bool operand_differs(Agreement *agreement, const Op *op, int index)
{
    agreement->seen = (Map){0};
    return differs(agreement, op->operands[index]);
}

static void check_agreement(Op *op, void *context)
{
    Groups *groups = context;
    if (!needs_agreement(op)) return;
    Agreement agreement = {.groups = groups, .threads = op_threads(op)};
    const int fixed = op->code == OP_for ? 3 : op->code == OP_if ? 1 : op->operand_count;
    bool differ = false;
    for (int i = 0; i < fixed && op->code != OP_while; i++)
        differ |= operand_differs(&agreement, op, i);
    if (op->code == OP_while) {
        agreement.seen = (Map){0};
        differ = differs(&agreement, region_terminator(op->regions[0])->operands[0]);
    }
    if (!differ) return;
    diag_report(groups->kernel->session->diags, DIAG_threads_differ, op->span);
    groups->failed = true;
}

static void find_group(Op *op, void *context)
{
    if (is_group(op)) *(bool *)context = true;
}

bool pass_groups(Kernel *kernel, const Target *target)
{
    (void)target;
    bool any = false;
    kernel_visit(kernel, find_group, &any);
    if (!any) return true;
    Groups groups = {.kernel = kernel, .arena = arena_new()};
    cross_borders(&groups, kernel->host);
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) region_visit(launch_region(op), check_agreement, &groups);
    arena_free(groups.arena);
    return !groups.failed;
}
