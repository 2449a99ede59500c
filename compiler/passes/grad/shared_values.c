/* shared_values.c: copies that go on beside the threads are done at once here, and a shared tile
 * that is read and written as a whole alone is a variable of its values, so that adjoints go by
 * values; where a product wants its operands in shared memory, the passes put them there again. */
#include "passes/grad/grad.h"

static bool is_whole(const Op *alloc, const Op *user)
{
    const Value *tile = alloc->results;
    switch ((int)user->code) {
    case OP_shared_load: return true;
    case OP_shared_store:
    case OP_copy: return operand(user, tile) == tile;
    case OP_anchor: return true;
    default: return false;
    }
}

static bool is_value(const Op *alloc)
{
    for (const OpUse *use = alloc->results->uses; use; use = use->next)
        if (!is_whole(alloc, use->op)) return false;
    return true;
}

static Value *tile_read(Builder *builder, Value *variable)
{
    return build1(builder, OP_var_get, variable);
}

static void copy_to_load(Op *copy, Value *variable)
{
    Builder builder = builder_before(copy);
    VEC(Value *) operands = {0};
    for (int i = 0; i < copy->operand_count; i++)
        if (copy->operands[i] != operand(copy, tile))
            vec_push(builder.kernel->arena, &operands, copy->operands[i]);
    const Type *type = variable->type->content;
    Op *load = build_op(&builder, OP_load, (int)operands.count, operands.data, 1, &type);
    op_keep_attr(load, copy, ATTR_dims);
    build2(&builder, OP_var_set, variable, load->results);
    op_erase(copy);
}

static void replace(Op *user, Value *variable)
{
    Builder builder = builder_before(user);
    switch ((int)user->code) {
    case OP_shared_load:
        value_replace(user->results, tile_read(&builder, variable));
        op_erase(user);
        break;
    case OP_shared_store:
        build2(&builder, OP_var_set, variable, operand(user, value));
        op_erase(user);
        break;
    case OP_copy: copy_to_load(user, variable); break;
    default: op_erase(user); break;
    }
}

static void to_variable(Op *alloc)
{
    Builder builder = builder_before(alloc);
    TypeTable *types = builder.kernel->types;
    const Type *shared = alloc->results->type;
    const Type *tile = type_tile(types, shared->dtype, shared->rank, shared->shape, NULL);
    const Type *type = type_var(types, tile);
    Value *variable = build_op(&builder, OP_var, 0, NULL, 1, &type)->results;
    variable->name = alloc->results->name;
    while (alloc->results->uses) replace(alloc->results->uses->op, variable);
    op_erase(alloc);
}

/* A product of shared tiles is one of their values. */
static void dot_to_values(Op *dot)
{
    Builder builder = builder_before(dot);
    for (int i = 0; i < dot->operand_count; i++)
        if (dot->operands[i]->type->kind == TYPE_SHARED)
            op_set_operand(dot, i, build1(&builder, OP_shared_load, dot->operands[i]));
    dot->code = OP_dot;
}

/* ---- whole tiles that are read in another order, or shape ---- */

/* Whether it has all elements of the tile. */
static bool is_all(const Type *tile, const Type *part)
{
    return type_elements(tile) == type_elements(part);
}

/* The dimensions that the part has not come first. */
static Value *in_order(Builder *builder, Value *tile, const Attr *dims)
{
    int64_t order[TYPE_RANK];
    int count = 0;
    Type shape = *tile->type;
    for (int d = 0; d < shape.rank; d++) {
        bool has = false;
        for (int i = 0; i < dims->count; i++) has |= dims->integers[i] == d;
        if (!has) order[count++] = d;
    }
    for (int i = 0; i < dims->count; i++) order[count++] = dims->integers[i];
    for (int d = 0; d < shape.rank; d++) shape.shape[d] = tile->type->shape[order[d]];
    const Type *type = type_intern(builder->kernel->types, &shape);
    bool same = true;
    for (int d = 0; d < shape.rank; d++) same &= order[d] == d;
    if (same) return tile;
    Op *op = build_op(builder, OP_transpose, 1, &tile, 1, &type);
    op_set_ints(op, ATTR_dims, shape.rank, order);
    return op->results;
}

/* Of a view of a whole tile, in whatever order, or of a reshaped one, that is read; else nothing.
 */
static void load_of_whole(Op *load)
{
    const Op *view = operand(load, tile)->op;
    const Type *type = load->results->type;
    Builder builder = builder_before(load);
    if (view->code == OP_shared_view && is_all(operand(view, tile)->type, type)) {
        Value *whole = build1(&builder, OP_shared_load, operand(view, tile));
        Value *turned = in_order(&builder, whole, op_attr(view, ATTR_dims));
        value_replace(load->results, build_op(&builder, OP_reshape, 1, &turned, 1, &type)->results);
    } else if (view->code == OP_shared_reshape && operand(view, tile)->type->dtype == type->dtype) {
        Value *whole = build1(&builder, OP_shared_load, operand(view, tile));
        value_replace(load->results, build_op(&builder, OP_reshape, 1, &whole, 1, &type)->results);
    } else {
        return;
    }
    op_erase(load);
}

/* ---- all of them ---- */

typedef struct Found {
    Arena *arena;
    VEC(Op *) allocations, loads, views, waits;
} Found;

static void visit(Op *op, void *context)
{
    Found *found = context;
    if (op->code == OP_dot_shared && !op_int(op, ATTR_async, 0)) dot_to_values(op);
    if (op->code == OP_shared_alloc) vec_push(found->arena, &found->allocations, op);
    if (op->code == OP_shared_load) vec_push(found->arena, &found->loads, op);
    if (op->code == OP_shared_view || op->code == OP_shared_reshape)
        vec_push(found->arena, &found->views, op);
    if (op->code == OP_copy_async && !op_attr(op, ATTR_masked)) op->code = OP_copy;
    if (op->code == OP_copy_commit || op->code == OP_copy_wait)
        vec_push(found->arena, &found->waits, op);
}

void shared_to_values(Kernel *kernel)
{
    Found found = {.arena = kernel->arena};
    kernel_visit(kernel, visit, &found);
    for (size_t i = 0; i < found.waits.count; i++) op_erase(found.waits.data[i]);
    for (size_t i = 0; i < found.loads.count; i++) load_of_whole(found.loads.data[i]);
    for (size_t i = found.views.count; i-- > 0;)
        if (!found.views.data[i]->results->uses) op_erase(found.views.data[i]);
    for (size_t i = 0; i < found.allocations.count; i++)
        if (is_value(found.allocations.data[i])) to_variable(found.allocations.data[i]);
}
