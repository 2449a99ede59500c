/* lower_atomic.c: atomic updates and scattered stores by one thread, an element at a time. One
 * thread does it for all that hold the element. */
#include "passes/lower.h"

typedef struct Update {
    Op *op;
    const Layout *layout;
    Coordinates coordinates;
    Value **indices; /* registers of the tile of indices along `dim`; NULL: there is none */
    int dim;
} Update;

static Update update_of(Lower *lower, Op *op)
{
    Update update = {.op = op, .layout = op->operands[1]->type->layout, .dim = -1};
    update.coordinates = coordinates_of(lower, update.layout);
    if (!op_attr(op, ATTR_dim)) return update;
    update.dim = (int)op_int(op, ATTR_dim, 0);
    update.indices = lower_tile(lower, op->operands[op->operand_count - 1]);
    return update;
}

/* The element's coordinate in memory; NULL: 0. */
static Value *place_along(Lower *lower, const Update *update, int reg, int dim)
{
    if (dim == update->dim) return update->indices[reg];
    const Coordinate at = coordinate_at(lower, &update->coordinates, reg, dim);
    if (!at.variable && !at.rest) return NULL;
    return address_add_number(lower, at.variable, at.rest);
}

/* 0 <= place < extent, where that is not plain. */
static Value *inside(Lower *lower, Value *place, Value *extent, int64_t known, bool given,
                     int64_t span, Value *predicate)
{
    if (!given && known != TYPE_DYNAMIC && span <= known) return predicate;
    if (!place) place = address_const(lower, DTYPE_i32, 0);
    Value *wide = address_cast(lower, DTYPE_i64, place);
    Value *limit =
        extent ? address_cast(lower, DTYPE_i64, extent) : address_const(lower, DTYPE_i64, known);
    if (given)
        predicate = address_and(lower, predicate,
                                address_cmp(lower, "ge", wide, address_const(lower, DTYPE_i64, 0)));
    return address_and(lower, predicate, address_cmp(lower, "lt", wide, limit));
}

static Value *update_predicate(Lower *lower, const Update *update, int reg, Value *predicate)
{
    const Value *memory = update->op->operands[0];
    const Type *type = memory->type;
    for (int d = 0; d < type->rank; d++) {
        Value *extent =
            type->kind == TYPE_VIEW ? lower_scalar(lower, memory->op->operands[1 + d]) : NULL;
        predicate = inside(lower, place_along(lower, update, reg, d), extent, type->shape[d],
                           d == update->dim, update->op->operands[1]->type->shape[d], predicate);
    }
    return predicate;
}

static Value *view_element(Lower *lower, const Op *view, int rank, Value *const *places)
{
    Value *pointer = lower_scalar(lower, view->operands[0]);
    for (int d = 0; d < rank; d++) {
        if (!places[d]) continue;
        Value *stride = lower_scalar(lower, view->operands[1 + rank + d]);
        Value *step = address_op(lower, OP_mul, address_cast(lower, DTYPE_i64, places[d]),
                                 address_cast(lower, DTYPE_i64, stride));
        pointer = address_op(lower, OP_ptr_add, pointer, step);
    }
    return pointer;
}

static Value *update_pointer(Lower *lower, const Update *update, int reg)
{
    const Value *memory = update->op->operands[0];
    const int rank = memory->type->rank;
    Value *places[LAYOUT_RANK];
    for (int d = 0; d < rank; d++) {
        places[d] = place_along(lower, update, reg, d);
        if (places[d] && memory->type->kind == TYPE_SHARED)
            places[d] = address_cast(lower, DTYPE_i32, places[d]);
    }
    return memory->type->kind == TYPE_VIEW ? view_element(lower, memory->op, rank, places)
                                           : shared_element(lower, memory, places);
}

/* False: no thread has anything to do for this register. */
static bool update_is_done(Lower *lower, const Update *update, int reg, Value **predicate)
{
    *predicate = address_not_replica(lower, update->layout);
    if (coordinates_padding(lower, &update->coordinates, reg, predicate) == PADDING_ALL)
        return false;
    *predicate = update_predicate(lower, update, reg, *predicate);
    return true;
}

static Value *build_atom(Lower *lower, const Update *update, int reg, Value *predicate)
{
    const Op *op = update->op;
    Value *value = lower_tile(lower, op->operands[1])[reg];
    const bool compares = op->operand_count == 3 + (update->dim >= 0);
    Value *compare = compares ? lower_tile(lower, op->operands[2])[reg] : value;
    Value *operands[4] = {update_pointer(lower, update, reg), value, compare, predicate};
    Value *old = lower_build(lower, OP_atom, predicate ? 4 : 3, operands, value->type);
    static const AttrKey keys[3] = {ATTR_mode, ATTR_order, ATTR_scope};
    for (int i = 0; i < 3; i++) op_set_text(old->op, keys[i], op_attr(op, keys[i])->text);
    return old;
}

void lower_atomic(Lower *lower, Op *op)
{
    const Update update = update_of(lower, op);
    const int replicas = layout_register_replicas(update.layout);
    Value **registers = lower_new_tile(lower, &op->results[0]), *predicate;
    for (int reg = 0; reg < layout_registers(update.layout); reg++) {
        if (reg & replicas)
            registers[reg] = registers[reg & ~replicas];
        else if (update_is_done(lower, &update, reg, &predicate))
            registers[reg] = build_atom(lower, &update, reg, predicate);
        else
            registers[reg] = address_zero(lower, op->operands[1]->type->dtype);
    }
}

void lower_scatter(Lower *lower, Op *op)
{
    const Update update = update_of(lower, op);
    const int replicas = layout_register_replicas(update.layout);
    Value **values = lower_tile(lower, op->operands[1]), *predicate;
    for (int reg = 0; reg < layout_registers(update.layout); reg++)
        if (!(reg & replicas) && update_is_done(lower, &update, reg, &predicate))
            memory_write(lower, update_pointer(lower, &update, reg), predicate,
                         op->operands[1]->type->dtype, 1, values + reg);
}
