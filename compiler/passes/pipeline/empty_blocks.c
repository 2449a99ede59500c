/* empty_blocks.c: blocks that store nothing do nothing.
 *
 * Where sequences of several lengths lie behind one another a grid is made for the longest one. A
 * block behind the end of its own, which it reads in memory, stores nothing, as all that it stores
 * lies outside of a view; what it computes for that nobody sees. The loops that compute it with
 * tiles get no iterations there, and what comes behind the last of them is in a branch: where sums
 * are zero, quotients of them take longer than others.
 *
 *     for begin, end    becomes    for begin, (end if a store's tile begins inside, else begin)
 *     what follows                 if a store's tile begins inside: what follows */
#include "passes/analysis/context.h"
#include "passes/pass.h"

#include "ir/op_vec.h"
#include "ir/rebuild.h"

typedef struct EmptyBlocks {
    Kernel *kernel;
    Arena *arena;
    Region *region;
    OpVec stores, loops; /* of the region itself */
    bool others;         /* what another block sees is done besides */
} EmptyBlocks;

/* ---- what a block does ---- */

/* Barriers of the block's threads are not: all of these come to a loop or none. */
static bool is_seen(const Op *op, const void *context)
{
    (void)context;
    const Value *memory = op_memory(op);
    if (op_has(op, BLOCKS | REPORTS | ATOMIC)) return true;
    if (op->region_count || !op_has(op, WRITES) ||
        op_has(op, LOCAL | COPY | ALLOCATES | TERM | BARRIER))
        return false;
    return !memory || memory->type->kind == TYPE_VIEW || memory->type->kind == TYPE_POINTER;
}

static void look(EmptyBlocks *blocks)
{
    for (Op *op = blocks->region->first; op; op = op_next(op)) {
        if (op->code == OP_store && !op_attr(op, ATTR_mode)) {
            vec_push(blocks->arena, &blocks->stores, op);
            continue;
        }
        if (op->code == OP_for && region_has_with(op->regions[0], COOP))
            vec_push(blocks->arena, &blocks->loops, op);
        blocks->others |= op_find_within(op, is_seen, NULL) != NULL;
    }
}

/* ---- whether it stores anything ---- */

static ValueAnswer is_read(const Value *value, void *context)
{
    (void)context;
    return value->op && value->op->code == OP_element_load ? VALUE_FOUND : VALUE_OPERANDS;
}

static ValueAnswer is_behind(const Value *value, void *context)
{
    const Op *op = value->op, *loop = context;
    return op && op->parent == loop->parent && !op_comes_before(op, loop) ? VALUE_OPERANDS
                                                                          : VALUE_ENOUGH;
}

static Value *copy_before(Builder *builder, Value *value, Map *made, const Op *loop)
{
    Arena *arena = arena_new();
    const OpVec ops = value_ops(arena, value, is_behind, (Op *)(uintptr_t)loop);
    for (size_t i = 0; i < ops.count; i++)
        if (!map_has(made, ops.data[i]->results)) op_clone(builder, ops.data[i], made);
    arena_free(arena);
    return value_copied(made, value);
}

/* The extent along the dimension may end before the tile begins, and was not known to who made the
 * grid. */
static bool may_be_outside(const Op *store, int dim, const Op *loop)
{
    const Attr *bounds = op_attr(store, ATTR_bounds);
    const Op *view = operand(store, view)->op;
    if (!view || view->code != OP_view || !bounds || !(bounds->integers[dim] & 2)) return false;
    const Value *extent = operand_list(view, extents)[dim];
    return value_finds(extent, is_read, NULL) && value_may_precede(extent, loop) &&
           value_may_precede(operand_list(store, offsets)[dim], loop);
}

/* NULL: it may not be outside. */
static Value *begins_inside(Builder *builder, const Op *store, const Op *loop)
{
    Value *inside = NULL;
    const Op *view = operand(store, view)->op;
    for (int d = 0; d < operand(store, view)->type->rank; d++) {
        Map made = {0};
        if (!may_be_outside(store, d, loop)) continue;
        Value *extent = copy_before(builder, operand_list(view, extents)[d], &made, loop);
        Value *offset = copy_before(builder, operand_list(store, offsets)[d], &made, loop);
        Value *less =
            build_cmp(builder, "lt", build_cast(builder, extent->type->dtype, offset), extent);
        inside = inside ? build2(builder, OP_and, inside, less) : less;
    }
    return inside;
}

/* NULL: some store may not be outside. */
static Value *stores_anything(const EmptyBlocks *blocks, Builder *builder, const Op *loop)
{
    Value *any = NULL;
    for (size_t i = 0; i < blocks->stores.count; i++) {
        Value *inside = begins_inside(builder, blocks->stores.data[i], loop);
        if (!inside) return NULL;
        any = any ? build2(builder, OP_or, any, inside) : inside;
    }
    return any;
}

/* NULL: nothing is known of it. Whether something is stored otherwise. */
static Value *limit(const EmptyBlocks *blocks, Op *loop)
{
    Builder builder = builder_before(loop);
    builder.span = loop->span;
    Value *any = stores_anything(blocks, &builder, loop);
    if (!any) return NULL;
    Value *end = build3(&builder, OP_select, any, operand(loop, end), operand(loop, begin));
    op_set_operand(loop, operand_index(loop, end), end);
    kernel_remark(blocks->kernel, loop->span,
                  "a loop that does not run in blocks which store nothing, as all of that is "
                  "outside");
    return any;
}

/* What comes behind the loop is done where something is stored. */
static void branch_behind(Op *loop, Value *any)
{
    Op *first = op_next(loop);
    Builder builder = builder_after(loop);
    builder.span = loop->span;
    if (!first) return;
    ops_move_before(first, build_branch(&builder, any)->regions[0]->last);
}

bool pass_empty_blocks(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_each_launch (op, kernel) {
        if (launch_is_cluster_or_cooperative(op)) continue;
        EmptyBlocks blocks = {
            .kernel = kernel, .arena = kernel->arena, .region = launch_region(op)};
        look(&blocks);
        if (blocks.others || !blocks.stores.count || kernel->is_strict) continue;
        Value *any = NULL;
        for (size_t i = 0; i < blocks.loops.count; i++) any = limit(&blocks, blocks.loops.data[i]);
        if (any) branch_behind(vec_last(&blocks.loops), any);
    }
    return true;
}
