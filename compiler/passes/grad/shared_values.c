/* shared_values.c: a shared tile that is read and written as a whole alone is a variable of its
 * values, so that adjoints go by values; where a product wants its operands in shared memory, the
 * passes put them there again. */
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

typedef struct Found {
    Arena *arena;
    VEC(Op *) allocations;
} Found;

static void visit(Op *op, void *context)
{
    Found *found = context;
    if (op->code == OP_dot_shared && !op_int(op, ATTR_async, 0)) dot_to_values(op);
    if (op->code == OP_shared_alloc) vec_push(found->arena, &found->allocations, op);
}

void shared_to_values(Kernel *kernel)
{
    Found found = {.arena = kernel->arena};
    kernel_visit(kernel, visit, &found);
    for (size_t i = 0; i < found.allocations.count; i++)
        if (is_value(found.allocations.data[i])) to_variable(found.allocations.data[i]);
}
