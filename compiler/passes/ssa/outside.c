/* outside.c: what reads of a view find where they are not inside of it, if its author says that it
 * is no zero. After the bounds are known, so that it costs nothing where they are proved. */
#include "passes/ssa/outside.h"

typedef struct Inside {
    Builder *builder;
    const Type *tile; /* that the access reads; NULL: one element */
    Value *mask;      /* NULL: all of it, so far */
} Inside;

static bool is_narrow(const Value *value)
{
    return dtype_bits(value->type->dtype) <= 32 && value->type->dtype != DTYPE_u32;
}

static Value *converted(const Inside *inside, Value *value, DType dtype)
{
    TypeTable *types = inside->builder->kernel->types;
    if (value->type->dtype == dtype) return value;
    const Type *type = type_is_tile(value->type) ? type_with_dtype(types, value->type, dtype)
                                                 : type_scalar(types, dtype);
    return build_op(inside->builder, OP_cast, 1, &value, 1, &type)->results;
}

static Value *splat(const Inside *inside, Value *scalar)
{
    if (inside->tile == NULL || type_is_tile(scalar->type)) return scalar;
    const Type *type =
        type_with_dtype(inside->builder->kernel->types, inside->tile, scalar->type->dtype);
    return build_op(inside->builder, OP_splat, 1, &scalar, 1, &type)->results;
}

static void restrict_to(Inside *inside, Value *condition)
{
    condition = splat(inside, condition);
    inside->mask =
        inside->mask == NULL ? condition : build2(inside->builder, OP_and, inside->mask, condition);
}

/* 0 <= index < extent, as far as the bounds ask for it. */
static void compare(Inside *inside, Value *index, Value *extent, int bounds)
{
    const DType dtype = is_narrow(index) && is_narrow(extent) ? DTYPE_i32 : DTYPE_i64;
    const bool tiled = type_is_tile(index->type);
    index = converted(inside, index, dtype);
    extent = converted(inside, extent, dtype);
    Value *zero = build_const(inside->builder, dtype, 0);
    if (bounds & BOUND_LOW)
        restrict_to(inside,
                    build_cmp(inside->builder, "ge", index, tiled ? splat(inside, zero) : zero));
    if (bounds & BOUND_HIGH)
        restrict_to(inside, build_cmp(inside->builder, "lt", index,
                                      tiled ? splat(inside, extent) : extent));
}

static Value *coordinates(const Inside *inside, Value *offset, int dim)
{
    TypeTable *types = inside->builder->kernel->types;
    const Type *type = type_with_dtype(types, inside->tile, DTYPE_i32);
    Op *iota = build_op(inside->builder, OP_iota, 0, NULL, 1, &type);
    op_set_int(iota, ATTR_dim, dim);
    const DType dtype = is_narrow(offset) ? DTYPE_i32 : DTYPE_i64;
    return build2(inside->builder, OP_add, converted(inside, iota->results, dtype),
                  splat(inside, converted(inside, offset, dtype)));
}

static Value *outside_value(const Inside *inside, const Op *view, DType dtype)
{
    const Type *type = type_scalar(inside->builder->kernel->types, dtype);
    Op *value = build_op(inside->builder, OP_const, 0, NULL, 1, &type);
    op_keep_attr(value, view, ATTR_value);
    op_keep_attr(value, view, ATTR_number);
    return splat(inside, value->results);
}

/* `read` with the other value outside; itself where all of it is inside. */
static Value *chosen(const Inside *inside, const Op *view, Value *read)
{
    if (inside->mask == NULL) return read;
    return build3(inside->builder, OP_select, inside->mask, read,
                  outside_value(inside, view, read->type->dtype));
}

/* Every use but the one that makes the choice itself. */
static void put_in_place(Value *read, Value *made)
{
    if (read == made) return;
    value_replace(read, made);
    op_set_operand(made->op, operand_index(made->op, a), read);
}

/* Sums of 32 bits that wrap are below 0. */
static int bounds_of_sum(FactTable *facts, const Access *access, int dim)
{
    const Value *offset = access->offsets[dim];
    const bool wraps =
        is_narrow(offset) && facts_of(facts, offset).high > INT32_MAX - access->width[dim];
    return wraps ? BOUND_LOW | BOUND_HIGH : access->bounds[dim];
}

static void find_inside_tile(Inside *inside, FactTable *facts, const Access *access)
{
    for (int d = 0; d < access->rank; d++) {
        if (access->bounds[d] == 0) continue;
        const int dim = access->tile_dim[d];
        Value *index = dim >= 0 ? coordinates(inside, access->offsets[d], dim) : access->offsets[d];
        compare(inside, index, access->extents[d], bounds_of_sum(facts, access, d));
    }
}

static void choose_loaded(FactTable *facts, Op *op)
{
    const Access access = access_of(op);
    Builder after = builder_after(op);
    Inside inside = {.builder = &after, .tile = access.tile};
    find_inside_tile(&inside, facts, &access);
    put_in_place(access.value, chosen(&inside, operand(op, view)->op, access.value));
}

/* Through registers, where it can be chosen. */
static void load_copied(FactTable *facts, Op *op)
{
    const Access access = access_of(op);
    Builder builder = builder_before(op);
    const Type *tile = type_tile(builder.kernel->types, access.tile->dtype, access.tile->rank,
                                 access.tile->shape, NULL);
    Inside inside = {.builder = &builder, .tile = tile};
    find_inside_tile(&inside, facts, &access);
    if (inside.mask == NULL) return;
    Value *operands[1 + TYPE_RANK] = {operand(op, view)};
    for (int d = 0; d < access.rank; d++) operands[1 + d] = access.offsets[d];
    Op *load = build_op(&builder, OP_load, 1 + access.rank, operands, 1, &tile);
    op_keep_attr(load, op, ATTR_dims);
    op_keep_attr(load, op, ATTR_bounds);
    Value *value = chosen(&inside, operand(op, view)->op, load->results);
    build_op(&builder, OP_shared_store, 2, (Value *[]){operand(op, tile), value}, 0, NULL);
    op_erase(op);
}

/* Of elements at indices of their own, or of one. */
static void choose_read(FactTable *facts, Op *op, int first)
{
    const Op *view = operand(op, memory)->op;
    Value *read = &op->results[0];
    Builder after = builder_after(op);
    Inside inside = {.builder = &after, .tile = type_is_tile(read->type) ? read->type : NULL};
    for (int d = 0; d < operand(op, memory)->type->rank; d++) {
        Value *index = op->operands[first + d], *extent = operand_list(view, extents)[d];
        const Facts at = facts_of(facts, index), size = facts_of(facts, extent);
        const int bounds = (at.low >= 0 ? 0 : BOUND_LOW) | (at.high < size.low ? 0 : BOUND_HIGH);
        compare(&inside, index, extent, bounds);
    }
    put_in_place(read, chosen(&inside, view, read));
}

void outside_choose(FactTable *facts, Op *op)
{
    const Op *view = op_memory(op)->op;
    if (view == NULL || view->code != OP_view ||
        (op_attr(view, ATTR_value) == NULL && op_attr(view, ATTR_number) == NULL))
        return;
    switch ((int)op->code) {
    case OP_load: choose_loaded(facts, op); break;
    case OP_copy:
    case OP_copy_async: load_copied(facts, op); break;
    case OP_gather: choose_read(facts, op, scattered_first(op)); break;
    case OP_element_load: choose_read(facts, op, 1); break;
    default: break; /* it only writes */
    }
}
