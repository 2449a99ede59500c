/* scattered.c: gather, put and atomic by one thread: each element at indices of its own, or a
 * few that lie side by side. What writes is done by one thread for all that hold the element. */
#include "passes/lower/lower.h"

typedef struct Scattered {
    Op *op;
    const Layout *layout;
    Coordinates coordinates;
    Value **indices[TYPE_RANK]; /* registers, one tile a dimension of the memory; NULL: a scalar */
    Value **mask;               /* NULL: there is none */
    int bounds[TYPE_RANK];      /* the checks that are needed */
    int first;
    int vector; /* registers an access */
} Scattered;

static int needed_bounds(Lower *lower, const Op *op, int dim, const Value *index)
{
    const Value *memory = operand(op, memory);
    const Facts position = facts_of(lower->facts, index);
    const int64_t known = memory->type->shape[dim];
    const int64_t least = memory->type->kind == TYPE_VIEW
                              ? facts_of(lower->facts, operand_list(memory->op, extents)[dim]).low
                              : known;
    return (position.low >= 0 ? 0 : BOUND_LOW) | (position.high < least ? 0 : BOUND_HIGH);
}

static Scattered scattered_of(Lower *lower, Op *op)
{
    Scattered scattered = {.op = op, .layout = scattered_value(op)->type->layout};
    const Value *mask = scattered_mask(op);
    const int last = scattered.layout->rank - 1;
    scattered.first = scattered_first(op);
    scattered.vector = scattered_vector(lower->facts, lower->target, op,
                                        layout_register_run(scattered.layout, last));
    while (scattered.vector > 1 && !layout_starts_aligned(scattered.layout, last, scattered.vector))
        scattered.vector /= 2;
    scattered.coordinates = coordinates_of(lower, scattered.layout);
    scattered.mask = mask ? lower_tile(lower, mask) : NULL;
    for (int d = 0; d < operand(op, memory)->type->rank; d++) {
        const Value *index = op->operands[scattered.first + d];
        if (type_is_tile(index->type)) scattered.indices[d] = lower_tile(lower, index);
        scattered.bounds[d] = needed_bounds(lower, op, d, index);
    }
    return scattered;
}

static Value *position_along(const Lower *lower, const Scattered *scattered, int reg, int dim)
{
    return scattered->indices[dim]
               ? scattered->indices[dim][reg]
               : lower_scalar(lower, scattered->op->operands[scattered->first + dim]);
}

/* 0 <= place < extent, as far as that is not plain. */
static Value *inside(Lower *lower, const Scattered *scattered, int reg, int dim, Value *predicate)
{
    const Value *memory = operand(scattered->op, memory);
    const int bounds = scattered->bounds[dim];
    if (!bounds) return predicate;
    Value *position = address_cast(lower, DTYPE_i64, position_along(lower, scattered, reg, dim));
    Value *extent = memory->type->kind == TYPE_VIEW
                        ? lower_scalar(lower, operand_list(memory->op, extents)[dim])
                        : address_const(lower, DTYPE_i64, memory->type->shape[dim]);
    if (bounds & BOUND_LOW)
        predicate =
            address_and(lower, predicate,
                        address_cmp(lower, "ge", position, address_const(lower, DTYPE_i64, 0)));
    if (bounds & BOUND_HIGH)
        predicate =
            address_and(lower, predicate,
                        address_cmp(lower, "lt", position, address_cast(lower, DTYPE_i64, extent)));
    return predicate;
}

/* Nothing is outside of a tile: the emulator says where an index is. What the access does then is
 * left to its predicate. */
static void watch(Lower *lower, const Scattered *scattered, int reg, int dim, Value *predicate)
{
    const Value *memory = operand(scattered->op, memory);
    if (!scattered->bounds[dim] || !op_int(scattered->op, ATTR_watched, 0)) return;
    Value *position = address_cast(lower, DTYPE_i64, position_along(lower, scattered, reg, dim));
    if (predicate)
        position =
            build3(&lower->at, OP_select, predicate, position, address_const(lower, DTYPE_i64, 0));
    lower_check_index(lower, position, memory, dim);
}

/* False: no thread has anything to do for this register. */
static bool is_done(Lower *lower, const Scattered *scattered, int reg, Value **predicate)
{
    int64_t known;
    if (coordinates_padding(lower, &scattered->coordinates, reg, predicate) == PADDING_ALL)
        return false;
    if (scattered->mask) {
        if (!value_constant(scattered->mask[reg], &known))
            *predicate = address_and(lower, *predicate, scattered->mask[reg]);
        else if (!known)
            return false;
    }
    const int rank = operand(scattered->op, memory)->type->rank;
    for (int d = 0; d < rank; d++) watch(lower, scattered, reg, d, *predicate);
    for (int d = 0; d < rank; d++) *predicate = inside(lower, scattered, reg, d, *predicate);
    return true;
}

static Value *view_element(Lower *lower, const Op *view, int rank, Value *const *positions)
{
    Value *pointer = lower_scalar(lower, operand(view, pointer));
    for (int d = 0; d < rank; d++) {
        Value *stride = lower_scalar(lower, operand_list(view, extents)[rank + d]);
        Value *step = address_op(lower, OP_mul, address_cast(lower, DTYPE_i64, positions[d]),
                                 address_cast(lower, DTYPE_i64, stride));
        pointer = address_op(lower, OP_ptr_add, pointer, step);
    }
    return pointer;
}

static Value *element_pointer(Lower *lower, const Scattered *scattered, int reg)
{
    const Value *memory = operand(scattered->op, memory);
    const int rank = memory->type->rank;
    Value *positions[LAYOUT_RANK];
    for (int d = 0; d < rank; d++) {
        positions[d] = position_along(lower, scattered, reg, d);
        if (memory->type->kind == TYPE_SHARED)
            positions[d] = address_cast(lower, DTYPE_i32, positions[d]);
    }
    return memory->type->kind == TYPE_VIEW ? view_element(lower, memory->op, rank, positions)
                                           : shared_element(lower, memory, positions);
}

/* A lower register that reads the same element; -1: there is none. */
static int same_element(const Scattered *scattered, int reg)
{
    const int rank = operand(scattered->op, memory)->type->rank;
    for (int other = reg - scattered->vector; other >= 0; other -= scattered->vector) {
        bool same = !scattered->mask || scattered->mask[other] == scattered->mask[reg];
        for (int d = 0; d < rank && same; d++)
            same = !scattered->indices[d] ||
                   scattered->indices[d][other] == scattered->indices[d][reg];
        if (same) return other;
    }
    return -1;
}

static void copy_registers(Value **to, Value *const *from, int count)
{
    for (int i = 0; i < count; i++) to[i] = from[i];
}

void lower_gather(Lower *lower, Op *op)
{
    const Scattered scattered = scattered_of(lower, op);
    const DType dtype = op->results[0].type->dtype;
    const bool padded = layout_is_padded(scattered.layout);
    Value **registers = lower_new_tile(lower, &op->results[0]);
    for (int reg = 0; reg < layout_registers(scattered.layout); reg += scattered.vector) {
        Value *predicate = NULL;
        const int same = padded ? -1 : same_element(&scattered, reg);
        if (same >= 0)
            copy_registers(registers + reg, registers + same, scattered.vector);
        else if (is_done(lower, &scattered, reg, &predicate))
            memory_read(lower, element_pointer(lower, &scattered, reg), predicate, dtype,
                        scattered.vector, registers + reg);
        else
            for (int i = 0; i < scattered.vector; i++)
                registers[reg + i] = address_zero(lower, dtype);
    }
}

void lower_put(Lower *lower, Op *op)
{
    const Scattered scattered = scattered_of(lower, op);
    const int replicas = layout_register_replicas(scattered.layout);
    Value **values = lower_tile(lower, operand(op, value));
    for (int reg = 0; reg < layout_registers(scattered.layout); reg += scattered.vector) {
        Value *predicate = address_not_replica(lower, scattered.layout);
        if (!(reg & replicas) && is_done(lower, &scattered, reg, &predicate))
            memory_write(lower, element_pointer(lower, &scattered, reg), predicate,
                         operand(op, value)->type->dtype, scattered.vector, values + reg);
    }
}

static Value *build_atom(Lower *lower, const Scattered *scattered, int reg, Value *predicate)
{
    const Op *op = scattered->op;
    Value *value = lower_tile(lower, operand(op, value))[reg];
    Value *compare = scattered->first > 2 ? lower_tile(lower, operand(op, more))[reg] : value;
    Value *operands[4] = {element_pointer(lower, scattered, reg), value, compare, predicate};
    return lower_atom(lower, op, operands);
}

/* Nobody wants to know what was there. */
static void add_all(Lower *lower, const Scattered *scattered)
{
    const int replicas = layout_register_replicas(scattered->layout);
    Value **values = lower_tile(lower, operand(scattered->op, value));
    for (int reg = 0; reg < layout_registers(scattered->layout); reg += scattered->vector) {
        Value *predicate = address_not_replica(lower, scattered->layout);
        if (!(reg & replicas) && is_done(lower, scattered, reg, &predicate))
            lower_red(lower, scattered->op, element_pointer(lower, scattered, reg), predicate,
                      scattered->vector, values + reg);
    }
}

void lower_atomic(Lower *lower, Op *op)
{
    const Scattered scattered = scattered_of(lower, op);
    if (atomic_sums(lower->target, op)) {
        add_all(lower, &scattered);
        return;
    }
    const int replicas = layout_register_replicas(scattered.layout);
    Value **registers = lower_new_tile(lower, &op->results[0]);
    for (int reg = 0; reg < layout_registers(scattered.layout); reg++) {
        Value *predicate = address_not_replica(lower, scattered.layout);
        if (reg & replicas)
            registers[reg] = registers[reg & ~replicas];
        else if (is_done(lower, &scattered, reg, &predicate))
            registers[reg] = build_atom(lower, &scattered, reg, predicate);
        else
            registers[reg] = address_zero(lower, operand(op, value)->type->dtype);
    }
}
