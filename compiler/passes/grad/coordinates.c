/* coordinates.c: see coordinates.h. A launch of one dimension may count several: then quotients and
 * remainders of its index by the same numbers are what tells the blocks apart. */
#include "passes/grad/coordinates.h"

typedef struct Uses {
    Value *by, *quotient, *remainder;
    bool others;
} Uses;

static bool divides(const Op *op, const Value *value, OpCode code)
{
    return op->code == code && operand(op, a) == value;
}

/* Divided by one number alone, perhaps as an integer of another type. */
static void look_at_uses(Value *value, Uses *uses)
{
    for (const OpUse *use = value->uses; use; use = use->next) {
        Op *op = use->op;
        const bool is_quotient = divides(op, value, OP_floordiv);
        if (op->code == OP_cast && dtype_is_integer(op->results->type->dtype)) {
            look_at_uses(op->results, uses);
            continue;
        }
        if (!is_quotient && !divides(op, value, OP_floormod)) {
            uses->others = true;
            return;
        }
        if (!uses->by) uses->by = operand(op, b);
        uses->others |= uses->by != operand(op, b);
        *(is_quotient ? &uses->quotient : &uses->remainder) = op->results;
    }
}

static Value *at_least_one(Builder *host, Value *value)
{
    return build2(host, OP_max, value, build_const(host, value->type->dtype, 1));
}

static void split_index(Grad *grad, Builder *host, Value *value, Value *extent, Coordinates *out)
{
    Uses uses = {0};
    Map copied = {0};
    look_at_uses(value, &uses);
    if (uses.others || !uses.by || !value_is_on_host(uses.by)) {
        vec_push(grad->arena, out, ((Coordinate){.value = value, .extent = extent}));
        return;
    }
    Value *by = build_cast(host, DTYPE_i32, value_on_host(host, uses.by, &copied));
    if (uses.remainder)
        vec_push(grad->arena, out, ((Coordinate){.value = uses.remainder, .extent = by}));
    if (uses.quotient)
        split_index(grad, host, uses.quotient,
                    build2(host, OP_floordiv, extent, at_least_one(host, by)), out);
}

static bool is_one(const Value *extent)
{
    int64_t number;
    return value_constant(extent, &number) && number == 1;
}

/* One block_idx a dimension: simplify has seen to that. */
static bool add_dimension(Grad *grad, Op *launch, int dim, Coordinates *out)
{
    Builder host = builder_before(launch);
    for (Op *op = launch_region(launch)->first; op; op = op_next(op)) {
        if (op->code != OP_block_idx || op_int(op, ATTR_dim, 0) != dim) continue;
        split_index(grad, &host, op->results, launch->operands[dim], out);
        return true;
    }
    return is_one(launch->operands[dim]);
}

static bool add_loops(Grad *grad, const Op *op, Coordinates *out)
{
    Op *around = op->parent->parent;
    if (around->code == OP_launch) return true;
    if (around->code != OP_for || around->result_count || !add_loops(grad, around, out))
        return false;
    for (int i = 0; i < 3; i++)
        if (!value_is_on_host(around->operands[i])) return false;
    vec_push(grad->arena, out,
             ((Coordinate){.value = around->regions[0]->arguments[0], .loop = around}));
    return true;
}

bool find_coordinates(Grad *grad, Op *launch, const Op *op, Coordinates *out)
{
    for (int dim = 0; dim < 3; dim++)
        if (!add_dimension(grad, launch, dim, out)) return false;
    return add_loops(grad, op, out);
}

static ValueAnswer is_that(const Value *value, void *context)
{
    return value == context ? VALUE_FOUND : VALUE_OPERANDS;
}

bool value_needs(const Value *value, const Value *coordinate)
{
    return value_finds(value, is_that, (void *)(uintptr_t)coordinate);
}

/* ---- apart ---- */

static const Value *without_casts(const Value *value)
{
    while (value->op && (value->op->code == OP_cast || value->op->code == OP_splat) &&
           dtype_bits(value->type->dtype) >= 32)
        value = operand(value->op, a);
    return value;
}

static bool counts_elements(const Value *value)
{
    value = without_casts(value);
    return value->op && value->op->code == OP_iota;
}

/* Of an index of elements, the offset of the tile, and its extent there. */
static const Value *offset_of(const Value *index, int64_t *extent)
{
    const Op *op = index->op;
    *extent = 1;
    if (!type_is_tile(index->type)) return index;
    if (!op || op->code != OP_add) return NULL;
    const bool first = counts_elements(operand(op, a));
    const Value *iota = without_casts(first ? operand(op, a) : operand(op, b));
    if (!counts_elements(iota)) return NULL;
    *extent = iota->type->shape[op_int(iota->op, ATTR_dim, 0)];
    return first ? operand(op, b) : operand(op, a);
}

/* How far tiles of neighbours along the coordinate are apart; 0: nobody knows. The rest of the
 * offset depends on no coordinate. */
static int64_t stride_along(const Value *offset, const Value *coordinate)
{
    int64_t factor = 1, number;
    offset = without_casts(offset);
    if (offset->op && offset->op->code == OP_mul &&
        value_constant(operand(offset->op, b), &number)) {
        factor = number;
        offset = without_casts(operand(offset->op, a));
    }
    return offset == coordinate || without_casts(coordinate) == offset ? factor : 0;
}

static int64_t step_of(const Coordinate *coordinate)
{
    int64_t step;
    if (!coordinate->loop) return 1;
    return value_constant(operand(coordinate->loop, step), &step) ? step : 0;
}

bool adds_apart(const Op *atomic, const Coordinates *coordinates)
{
    const int rank = operand(atomic, memory)->type->rank;
    for (size_t i = 0; i < coordinates->count; i++) {
        const Coordinate *one = &coordinates->data[i];
        bool apart = false;
        for (int d = 0; d < rank && !apart; d++) {
            int64_t extent;
            const Value *offset = offset_of(operand_list(atomic, more)[d], &extent);
            apart = offset && stride_along(offset, one->value) * step_of(one) >= extent;
        }
        if (!apart) return false;
    }
    return true;
}
