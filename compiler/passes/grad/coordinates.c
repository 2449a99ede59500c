/* coordinates.c: see coordinates.h. A launch of one dimension may count several: then quotients and
 * remainders of its index by the same numbers are what tells the blocks apart. */
#include "passes/grad/coordinates.h"

#include "passes/analysis/ranges.h"

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

/* The other factor of a number that is a product with `by`; NULL: it is not known to be one. */
static Value *rest_of(Builder *host, Value *extent, Value *by)
{
    int64_t number, part;
    Op *op = extent->op;
    if (value_constant(extent, &number) && value_constant(by, &part))
        return part > 0 && number % part == 0
                   ? build_const(host, extent->type->dtype, number / part)
                   : NULL;
    if (!op || (op->code != OP_mul && op->code != OP_cast)) return NULL;
    if (op->code == OP_cast) return rest_of(host, operand(op, a), by);
    for (int i = 0; i < 2; i++)
        if (value_uncast(op->operands[i]) == value_uncast(by)) return op->operands[1 - i];
    for (int i = 0; i < 2; i++) {
        Value *rest = rest_of(host, op->operands[i], by), *other = op->operands[1 - i];
        if (rest) return build2(host, OP_mul, build_cast(host, other->type->dtype, rest), other);
    }
    return NULL;
}

static void split_index(Grad *grad, Builder *host, Value *value, Value *extent, Coordinates *out)
{
    Uses uses = {0};
    Map copied = {0};
    look_at_uses(value, &uses);
    const bool may = !uses.others && uses.by && value_is_on_host(uses.by);
    Value *by = may ? value_on_host(host, uses.by, &copied) : NULL;
    Value *rest = may ? rest_of(host, extent, by) : NULL;
    if (!rest) {
        vec_push(grad->arena, out, ((Coordinate){.value = value, .extent = extent}));
        return;
    }
    if (uses.remainder)
        vec_push(
            grad->arena, out,
            ((Coordinate){.value = uses.remainder, .extent = build_cast(host, DTYPE_i32, by)}));
    if (uses.quotient)
        split_index(grad, host, uses.quotient, build_cast(host, DTYPE_i32, rest), out);
}

static bool is_one(const Value *extent)
{
    return value_is_constant(extent, 1);
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

Value *value_in_launch(Builder *builder, Value *value, Map *values)
{
    Op *op = value->op;
    if (!op) return value;
    Value *known = map_get(values, value);
    if (known) return known;
    if (!op_has(op, PURE) || op->region_count) return NULL;
    for (int i = 0; i < op->operand_count; i++) {
        Value *operand = value_in_launch(builder, op->operands[i], values);
        if (!operand) return NULL;
        map_set(builder->kernel->arena, values, op->operands[i], operand);
    }
    op_clone(builder, op, values);
    return map_get(values, value);
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

static bool offsets_apart(const Op *atomic, const Coordinate *one)
{
    const int rank = operand(atomic, memory)->type->rank;
    for (int d = 0; d < rank; d++) {
        int64_t extent;
        const Value *offset = offset_of(operand_list(atomic, more)[d], &extent);
        if (offset && stride_along(offset, one->value) * step_of(one) >= extent) return true;
    }
    return false;
}

/* That many, or fewer. */
static bool at_most(const Value *value, const Value *limit)
{
    int64_t number, most;
    const Op *op = value_uncast(value)->op;
    if (value_uncast(value) == value_uncast(limit)) return true;
    if (op && op->code == OP_select)
        return at_most(operand(op, a), limit) && at_most(operand(op, b), limit);
    return value_constant(value, &number) &&
           (number == 0 || (value_constant(limit, &most) && number <= most));
}

/* Rows: views of elements side by side, each of which begins where that before it may end. */
static bool views_apart(const Op *atomic, const Coordinate *one)
{
    const Op *view = operand(atomic, memory)->op, *pointer = operand(view, pointer)->op;
    int64_t stride;
    if (operand(atomic, memory)->type->rank != 1 || !pointer || pointer->code != OP_ptr_add ||
        !value_constant(operand_list(view, extents)[1], &stride) || stride != 1)
        return false;
    const Op *offset = without_casts(operand(pointer, index))->op;
    return offset && offset->code == OP_mul && step_of(one) > 0 &&
           without_casts(operand(offset, a)) == without_casts(one->value) &&
           at_most(operand_list(view, extents)[0], operand(offset, b));
}

bool adds_apart(const Op *atomic, const Coordinates *coordinates)
{
    for (size_t i = 0; i < coordinates->count; i++)
        if (!offsets_apart(atomic, &coordinates->data[i]) &&
            !views_apart(atomic, &coordinates->data[i]))
            return false;
    return true;
}
