/* rebuild.c: see rebuild.h. */
#include "ir/rebuild.h"

#include "ir/op_vec.h"

Op *op_rebuild(Op *op, int operand_count, Value *const *operands, int result_count,
               const Type *const *types)
{
    Builder builder = builder_before(op);
    Op *fresh = build_op(&builder, op->code, operand_count, operands, result_count, types);
    op_keep_attrs(fresh, op);
    for (int i = 0; i < op->region_count; i++) {
        fresh->regions[i] = op->regions[i];
        fresh->regions[i]->parent = fresh;
    }
    op->region_count = 0;
    return fresh;
}

/* The op with these operands, and results of `count` more types. */
static Op *widen(Op *op, int operand_count, Value *const *operands, int count,
                 const Type *const *more)
{
    Kernel *kernel = op->parent->kernel;
    VEC(const Type *) types = {0};
    for (int i = 0; i < op->result_count; i++) vec_push(kernel->arena, &types, op->results[i].type);
    for (int i = 0; i < count; i++) vec_push(kernel->arena, &types, more[i]);
    Op *wide = op_rebuild(op, operand_count, operands, (int)types.count, types.data);
    for (int i = 0; i < op->result_count; i++) {
        wide->results[i].name = op->results[i].name;
        value_replace(&op->results[i], &wide->results[i]);
    }
    op_erase(op);
    return wide;
}

static void remove_argument(Region *region, int index)
{
    region->argument_count--;
    for (int i = index; i < region->argument_count; i++) {
        region->arguments[i] = region->arguments[i + 1];
        region->arguments[i]->index = i;
    }
}

Op *op_narrow(Op *op, int index)
{
    VEC(const Type *) types = {0};
    for (int i = 0; i < op->result_count; i++)
        if (i != index) vec_push(op->parent->kernel->arena, &types, op->results[i].type);
    if (op->code == OP_for) op_remove_operand(op, operand_index(op, init) + index);
    Op *narrow = op_rebuild(op, op->operand_count, op->operands, (int)types.count, types.data);
    for (int i = 0; i < narrow->region_count; i++) {
        op_remove_operand(region_terminator(narrow->regions[i]), index);
        if (op->code == OP_for) remove_argument(narrow->regions[i], 1 + index);
    }
    for (int i = 0; i < narrow->result_count; i++)
        narrow->results[i].name = op->results[i + (i >= index)].name;
    return narrow;
}

Op *loop_build(Builder *builder, int count, Value *const *operands)
{
    const int carried = count - 3;
    const Type **types = arena_new_array(builder->kernel->arena, const Type *, carried + 1);
    for (int i = 0; i < carried; i++) types[i] = operands[3 + i]->type;
    Op *loop = build_op(builder, OP_for, count, operands, carried, types);
    region_add_argument(loop->regions[0], operands[0]->type, NULL);
    for (int i = 0; i < carried; i++) region_add_argument(loop->regions[0], types[i], NULL);
    return loop;
}

Op *loop_carry(Op *loop, int count, Value *const *first)
{
    Kernel *kernel = loop->parent->kernel;
    VEC(Value *) operands = {0};
    VEC(const Type *) types = {0};
    for (int i = 0; i < loop->operand_count; i++)
        vec_push(kernel->arena, &operands, loop->operands[i]);
    for (int i = 0; i < count; i++) {
        vec_push(kernel->arena, &operands, first[i]);
        vec_push(kernel->arena, &types, first[i]->type);
    }
    return widen(loop, (int)operands.count, operands.data, count, types.data);
}

Op *branch_carry(Op *branch, int count, const Type *const *types)
{
    return widen(branch, branch->operand_count, branch->operands, count, types);
}

/* `carried`: what the iteration begins with; then what the next one does. */
static void copy_iteration(Builder *at, const Op *loop, int64_t trip, Map *copies, Value **carried,
                           IterationCopier *copy, void *context)
{
    const Region *body = loop->regions[0];
    Arena *arena = at->kernel->arena;
    for (int i = 0; i < loop->result_count; i++)
        map_set(arena, copies, body->arguments[1 + i], carried[i]);
    for (const Op *op = body->first; op != body->last; op = op_next(op))
        copy(at, op, trip, copies, context);
    for (int i = 0; i < loop->result_count; i++) {
        Value *next = body->last->operands[i];
        carried[i] = value_copied(copies, next);
    }
}

void loop_copy_iterations(Op *loop, int64_t begin, int64_t step, int64_t trips,
                          IterationCopier *copy, void *context)
{
    Builder at = builder_before(loop);
    Value *index = loop->regions[0]->arguments[0];
    Value **carried = arena_new_array(at.kernel->arena, Value *, loop->result_count + 1);
    for (int i = 0; i < loop->result_count; i++) carried[i] = operand_list(loop, init)[i];
    for (int64_t trip = 0; trip < trips; trip++) {
        Map copies = {0};
        map_set(at.kernel->arena, &copies, index,
                build_const(&at, index->type->dtype, begin + trip * step));
        copy_iteration(&at, loop, trip, &copies, carried, copy, context);
    }
    for (int i = 0; i < loop->result_count; i++) value_replace(&loop->results[i], carried[i]);
}

Op *region_terminator(const Region *region)
{
    Op *last = region->last;
    return last && op_has(last, TERM) ? last : NULL;
}

void ops_move_before(Op *first, Op *before)
{
    for (Op *op = first, *next; op; op = next) {
        next = op_next(op);
        op_move_before(op, before);
    }
}

void region_move_before(Region *region, Op *before)
{
    const Op *end = region_terminator(region);
    while (region->first != end) op_move_before(region->first, before);
}

void op_dissolve(Op *op, Region *region)
{
    const Op *yield = region_terminator(region);
    region_move_before(region, op);
    for (int i = 0; yield && i < yield->operand_count; i++)
        value_replace(&op->results[i], yield->operands[i]);
    op_erase(op);
}

void loop_dissolve(Op *loop, Value *index)
{
    Region *body = loop->regions[0];
    value_replace(body->arguments[0], index);
    for (int i = 0; i < loop->result_count; i++)
        value_replace(body->arguments[1 + i], operand_list(loop, init)[i]);
    op_dissolve(loop, body);
}

static bool is_within(const Value *value, const Op *op)
{
    for (int r = 0; r < op->region_count; r++)
        if (region_holds(op->regions[r], value_home(value))) return true;
    return false;
}

static bool is_in_front(const Value *value, const Op *op)
{
    if (is_within(value, op)) return false;
    return !value->op || value->op->parent != op->parent || op_comes_before(value->op, op);
}

static ValueAnswer must_stay(const Value *value, void *context)
{
    const Op *op = value->op;
    if (is_in_front(value, context)) return VALUE_ENOUGH;
    return op && op_has(op, PURE) && !op_has(op, COOP) && !op->region_count ? VALUE_OPERANDS
                                                                            : VALUE_FOUND;
}

bool value_may_precede(const Value *value, const Op *op)
{
    return !value_finds(value, must_stay, (Op *)(uintptr_t)op);
}

static ValueAnswer must_come(const Value *value, void *context)
{
    return is_in_front(value, context) ? VALUE_ENOUGH : VALUE_OPERANDS;
}

void value_move_before(const Value *value, Op *op)
{
    Arena *arena = arena_new();
    const OpVec ops = value_ops(arena, value, must_come, op);
    for (size_t i = 0; i < ops.count; i++) op_move_before(ops.data[i], op);
    arena_free(arena);
}

typedef struct Slice {
    const Region *region;
    const Map *map;
} Slice;

static ValueAnswer is_in_slice(const Value *value, void *context)
{
    const Slice *slice = context;
    const bool is = value->op && region_holds(slice->region, value->op->parent);
    return is && !map_has(slice->map, value) ? VALUE_OPERANDS : VALUE_ENOUGH;
}

void load_move_under(Builder *at, Op *load, Value *where)
{
    Value *own = operand_given(load, predicate);
    Value *operands[] = {operand(load, pointer), own ? build2(at, OP_and, own, where) : where};
    Op *masked = build_op(at, OP_ld, 2, operands, 1, &load->results[0].type);
    masked->span = load->span;
    if (op_attr(load, ATTR_align)) op_set_int(masked, ATTR_align, op_int(load, ATTR_align, 0));
    value_replace(load->results, masked->results);
    op_erase(load);
}

Value *value_copy_slice(Builder *builder, Value *value, const Region *region, Map *map)
{
    Slice slice = {region, map};
    if (is_in_slice(value, &slice) == VALUE_OPERANDS) {
        Arena *arena = arena_new();
        const OpVec ops = value_ops(arena, value, is_in_slice, &slice);
        for (size_t i = 0; i < ops.count; i++) op_clone(builder, ops.data[i], map);
        arena_free(arena);
    }
    return value_copied(map, value);
}

static void rename_block(Op *op, void *context)
{
    Value **indices = context;
    const int64_t dim = op_int(op, ATTR_dim, 0);
    if (op->code == OP_block_idx && dim < 2 && indices[dim])
        value_replace(op->results, indices[dim]);
}

void ops_rename_blocks(Op *rest, Value *indices[2])
{
    for (Op *op = rest; op; op = op->next) op_visit(op, rename_block, indices);
}
