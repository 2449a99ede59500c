/* reduce.c: reductions and scans by one thread.
 *
 * A thread combines its own registers, then lanes that differ in one bit exchange what they have:
 * after the last bit every lane has the whole, but for sums that a loop carries in parts, of which
 * each lane keeps its own. Where the result's layout shares its registers among the lanes, each of
 * two keeps one half, and is sent that half alone by the other. Warps never meet here: infer_layout
 * sends their parts through shared memory. Padding counts as the identity of the combination. */
#include "passes/lower/lower.h"

#include <stdlib.h>
#include <string.h>

/* ---- combining ---- */

static Value *combine(Lower *lower, OpCode code, Value *a, Value *b)
{
    if (!a) return b;
    if (!b) return a;
    return lower_build(lower, code, 2, (Value *[]){a, b}, a->type);
}

static Value *identity_of(Lower *lower, OpCode code, DType dtype)
{
    if (!dtype_is_float(dtype))
        return address_const(lower, dtype, combination_identity(code, dtype));
    const double number = combination_identity_number(code);
    return number == 0 ? address_zero(lower, dtype) : build_number(&lower->at, dtype, number);
}

/* ---- another lane's value, of any width ---- */

static Value *build_as(Lower *lower, OpCode code, Value *value, DType dtype)
{
    if (value->type->dtype == dtype) return value;
    return lower_build(lower, code, 1, &value, type_scalar(lower->kernel->types, dtype));
}

static Value *shuffle_word(Lower *lower, Value *word, const char *mode, Value *lane)
{
    Value *result = lower_build(lower, OP_shuffle, 2, (Value *[]){word, lane}, word->type);
    op_set_text(result->op, ATTR_mode, intern_text(lower->kernel->session->names, mode));
    return result;
}

static Value *shuffle_wide(Lower *lower, Value *value, const char *mode, Value *lane)
{
    const Type *pair = type_vector(lower->kernel->types, DTYPE_i32, 2);
    Value *words = lower_build(lower, OP_bitcast, 1, &value, pair), *moved[2];
    for (int i = 0; i < 2; i++)
        moved[i] = shuffle_word(lower, memory_element(lower, words, i), mode, lane);
    words = memory_pack(lower, 2, moved);
    return lower_build(lower, OP_bitcast, 1, &words, value->type);
}

static Value *shuffle(Lower *lower, Value *value, const char *mode, Value *lane)
{
    const DType dtype = value->type->dtype;
    const int bits = dtype_bits(dtype);
    if (bits == 64) return shuffle_wide(lower, value, mode, lane);
    if (bits == 32) return shuffle_word(lower, value, mode, lane);
    const DType integer = dtype_unsigned(dtype);
    const bool is_bool = dtype == DTYPE_b1;
    Value *narrow = build_as(lower, is_bool ? OP_cast : OP_bitcast, value, integer);
    Value *word = shuffle_word(lower, build_as(lower, OP_cast, narrow, DTYPE_u32), mode, lane);
    return build_as(lower, is_bool ? OP_cast : OP_bitcast, build_as(lower, OP_cast, word, integer),
                    dtype);
}

static Value *shuffle_xor(Lower *lower, Value *value, int mask)
{
    return shuffle(lower, value, "xor", address_const(lower, DTYPE_i32, mask));
}

/* ---- reduce ---- */

/* Register `reg` of the tile, padding as the identity; NULL: all of it is padding. */
static Value *masked_register(Lower *lower, const Coordinates *coordinates, Value *const *registers,
                              int reg, Value *identity)
{
    Value *predicate = NULL;
    const Padding padding = coordinates_padding(lower, coordinates, reg, &predicate);
    if (padding == PADDING_ALL) return NULL;
    if (padding == PADDING_NONE) return registers[reg];
    Value *operands[] = {predicate, registers[reg], identity};
    return lower_build(lower, OP_select, 3, operands, identity->type);
}

typedef VEC(Value *) ValueVec;

/* Neighbours first: the chain of dependences is short, and a sum ~iterations~ less than one by one.
 */
static Value *combine_all(Lower *lower, OpCode code, ValueVec *values, Value *identity)
{
    if (values->count == 0) return identity;
    for (size_t count = values->count; count > 1; count = (count + 1) / 2)
        for (size_t i = 0; i < (count + 1) / 2; i++)
            values->data[i] = combine(lower, code, values->data[2 * i],
                                      2 * i + 1 < count ? values->data[2 * i + 1] : NULL);
    return values->data[0];
}

/* The bit of a lane's number says which element along the dimensions it has. */
static bool is_along(const Layout *layout, int bit, unsigned dims)
{
    const int32_t *basis = layout_basis(layout, LAYOUT_LANE, bit);
    bool is = false;
    for (int d = 0; d < layout->rank; d++) is |= dims >> d & 1 && basis[d];
    return is;
}

/* The lanes that tell each other, in the order of their bits: those of which each keeps one half of
 * the results say which elements, a coordinate each; the result's registers say the others. */
typedef struct Halves {
    int count, bit[WARP_BITS];
    const int32_t *element[WARP_BITS];
} Halves;

static Halves halves_of(const Op *op)
{
    const Layout *from = operand(op, a)->type->layout, *to = op->results[0].type->layout;
    const unsigned dims = op_dims_mask(op);
    Halves halves = {0};
    for (int bit = 0; bit < from->bits[LAYOUT_LANE]; bit++) {
        if (!is_along(from, bit, dims) || is_along(to, bit, dims) || !is_along(to, bit, ~dims))
            continue;
        halves.bit[halves.count] = bit;
        halves.element[halves.count++] = layout_basis(to, LAYOUT_LANE, bit);
    }
    return halves;
}

/* The register, and above its number the halves, that an element is of; -1: another thread's. */
static int part_at(const RegisterIndex *index, const Halves *halves, const int32_t *own)
{
    const int registers = layout_registers(index->layout);
    for (int half = 0; half < 1 << halves->count; half++) {
        int32_t at[LAYOUT_RANK] = {0};
        for (int d = 0; d < index->layout->rank; d++) {
            at[d] = own[d];
            for (int i = 0; i < halves->count; i++)
                if (half >> i & 1) at[d] ^= halves->element[i][d];
        }
        const int reg = register_at(index, at);
        if (reg >= 0) return half * registers + reg;
    }
    return -1;
}

/* Sorts the tile's registers by the result's register, and half, that they belong to. */
static ValueVec *gather_registers(Lower *lower, const Op *op, const Halves *halves, Value *identity)
{
    const Layout *from = operand(op, a)->type->layout, *to = op->results[0].type->layout;
    const unsigned dims = op_dims_mask(op);
    Value **registers = lower_tile(lower, operand(op, a));
    const Coordinates coordinates = coordinates_of(lower, from);
    const RegisterIndex index = register_index(lower, to);
    const int replicas = layout_register_replicas(from);
    ValueVec *groups =
        arena_new_array(lower->arena, ValueVec, layout_registers(to) << halves->count);
    for (int reg = 0; reg < layout_registers(from); reg++) {
        int32_t own[LAYOUT_RANK];
        layout_coordinates(from, reg, 0, 0, own);
        for (int d = 0; d < from->rank; d++)
            if (dims >> d & 1) own[d] = 0;
        const int target = reg & replicas ? -1 : part_at(&index, halves, own);
        Value *value =
            target < 0 ? NULL : masked_register(lower, &coordinates, registers, reg, identity);
        if (value) vec_push(lower->arena, &groups[target], value);
    }
    return groups;
}

/* What a lane has of both halves becomes what two lanes have of its own: lanes whose bit is set
 * keep the second one. */
static Value *keep_half(Lower *lower, OpCode code, int bit, Value *first, Value *second)
{
    int32_t targets[32] = {0};
    targets[bit] = 1;
    Value *upper = address_cmp(lower, "ne", address_gather(lower, targets),
                               address_const(lower, DTYPE_i32, 0));
    Value *kept[] = {upper, second, first}, *sent[] = {upper, first, second};
    Value *own = lower_build(lower, OP_select, 3, kept, first->type),
          *other = lower_build(lower, OP_select, 3, sent, first->type);
    return combine(lower, code, own, shuffle_xor(lower, other, 1 << bit));
}

/* The lanes that hold other elements along the dimensions, a bit at a time, but for those that keep
 * elements of their own in the result. */
static Value *combine_lanes(Lower *lower, const Op *op, const Halves *halves, Value **parts)
{
    const Layout *from = operand(op, a)->type->layout, *to = op->results[0].type->layout;
    const OpCode code = op_combination(op);
    const unsigned dims = op_dims_mask(op);
    for (int bit = 0, half = 0; bit < from->bits[LAYOUT_LANE]; bit++) {
        if (!is_along(from, bit, dims) || is_along(to, bit, dims)) continue;
        const int step = 1 << half;
        const bool halved = half < halves->count && halves->bit[half] == bit;
        half += halved;
        for (int i = 0; i < 1 << halves->count; i += halved ? 2 * step : step)
            parts[i] = halved
                           ? keep_half(lower, code, bit, parts[i], parts[i + step])
                           : combine(lower, code, parts[i], shuffle_xor(lower, parts[i], 1 << bit));
    }
    return parts[0];
}

void lower_reduce(Lower *lower, Op *op)
{
    const Layout *to = op->results[0].type->layout;
    const OpCode code = op_combination(op);
    const Halves halves = halves_of(op);
    Value *identity = identity_of(lower, code, op->results[0].type->dtype);
    ValueVec *groups = gather_registers(lower, op, &halves, identity);
    Value **results = lower_new_tile(lower, &op->results[0]), *parts[1 << WARP_BITS];
    const int replicas = layout_register_replicas(to), registers = layout_registers(to);
    for (int reg = 0; reg < registers; reg++) {
        if (reg & replicas) {
            results[reg] = results[reg & ~replicas];
            continue;
        }
        for (int half = 0; half < 1 << halves.count; half++)
            parts[half] = combine_all(lower, code, &groups[half * registers + reg], identity);
        results[reg] = combine_lanes(lower, op, &halves, parts);
    }
}

/* ---- conversions by shuffles ---- */

bool lower_exchange(Lower *lower, const Op *op)
{
    const Layout *from = operand(op, a)->type->layout, *to = op->results[0].type->layout;
    int32_t lanes[LAYOUT_BITS], targets[32] = {0}, flip;
    if (!layout_exchange(from, to, lanes)) return false;
    Value **source = lower_tile(lower, operand(op, a)),
          **registers = lower_new_tile(lower, &op->results[0]);
    for (int bit = 0; bit < LAYOUT_BITS; bit++) targets[bit] = lanes[bit];
    Value *lane = address_gather(lower, targets);
    const int replicas = layout_register_replicas(to);
    for (int reg = 0; reg < layout_registers(to); reg++) {
        if (reg & replicas) {
            registers[reg] = registers[reg & ~replicas];
            continue;
        }
        Value *value = source[layout_exchange_source(from, to, reg, &flip)],
              *other = lane ? address_xor_number(lower, lane, flip)
                            : address_const(lower, DTYPE_i32, flip);
        registers[reg] = shuffle(lower, value, "idx", other);
    }
    return true;
}

/* ---- scan ---- */

/* What a scan knows of its layout: coordinates along `dim` go by registers, then lanes, then
 * registers again. In reverse those come first that are higher. */
typedef struct Scan {
    const Layout *layout;
    OpCode code;
    int dim;
    bool exclusive, reverse;
    int32_t low; /* coordinates below this are in one lane's registers, side by side */
    Value *identity;
} Scan;

static Scan scan_of(Lower *lower, const Op *op)
{
    const Layout *layout = operand(op, a)->type->layout;
    Scan scan = {.layout = layout,
                 .code = op_combination(op),
                 .dim = (int)op_int(op, ATTR_dim, 0),
                 .exclusive = op_int(op, ATTR_exclusive, 0) != 0,
                 .reverse = op_int(op, ATTR_reverse, 0) != 0};
    scan.identity = identity_of(lower, scan.code, op->results[0].type->dtype);
    scan.low = layout->block[scan.dim];
    for (int bit = 0; bit < layout->bits[LAYOUT_LANE]; bit++) {
        const int32_t coordinate = layout_basis(layout, LAYOUT_LANE, bit)[scan.dim];
        if (coordinate && coordinate < scan.low) scan.low = coordinate;
    }
    return scan;
}

/* What lanes before this one have in all, and the sum of all lanes. */
static Value *scan_lanes(Lower *lower, const Scan *scan, Value **total)
{
    Value *before = scan->identity;
    const Layout *layout = scan->layout;
    for (int32_t step = scan->low; step < layout->block[scan->dim]; step *= 2)
        for (int bit = 0; bit < layout->bits[LAYOUT_LANE]; bit++) {
            if (layout_basis(layout, LAYOUT_LANE, bit)[scan->dim] != step) continue;
            int32_t targets[32] = {0};
            targets[bit] = 1;
            Value *later =
                address_cmp(lower, scan->reverse ? "eq" : "ne", address_gather(lower, targets),
                            address_const(lower, DTYPE_i32, 0));
            Value *other = shuffle_xor(lower, *total, 1 << bit);
            Value *more[] = {later, combine(lower, scan->code, other, before), before};
            before = lower_build(lower, OP_select, 3, more, before->type);
            *total = combine(lower, scan->code, *total, other);
        }
    return before;
}

/* One line of registers along the dimension, in the order of their coordinates. */
static void scan_line(Lower *lower, const Scan *scan, const int *line, int count,
                      Value *const *from, Value **to)
{
    Value *carry = NULL;
    for (int begin = 0; begin < count; begin += scan->low) {
        const int end = begin + scan->low < count ? begin + scan->low : count;
        Value *total = NULL;
        for (int i = begin; i < end; i++) total = combine(lower, scan->code, total, from[line[i]]);
        Value *before = scan_lanes(lower, scan, &total);
        if (carry) before = combine(lower, scan->code, carry, before);
        for (int i = begin; i < end; i++) {
            Value *after = combine(lower, scan->code, before, from[line[i]]);
            to[line[i]] = scan->exclusive ? before : after;
            before = after;
        }
        carry = combine(lower, scan->code, carry, total);
    }
}

typedef struct Position {
    int32_t at[LAYOUT_RANK];
    int reg;
} Position;

static int compare_positions(const void *a, const void *b)
{
    const Position *x = a, *y = b;
    for (int d = 0; d < LAYOUT_RANK; d++)
        if (x->at[d] != y->at[d]) return x->at[d] < y->at[d] ? -1 : 1;
    return x->reg - y->reg;
}

/* The registers, lines along `dim` one after the other; replicas are left out. */
static int sort_registers(Lower *lower, const Scan *scan, Position **out)
{
    const int registers = layout_registers(scan->layout),
              replicas = layout_register_replicas(scan->layout);
    Position *positions = arena_new_array(lower->arena, Position, registers);
    int count = 0;
    for (int reg = 0; reg < registers; reg++) {
        if (reg & replicas) continue;
        int32_t at[LAYOUT_RANK] = {0};
        layout_coordinates(scan->layout, reg, 0, 0, at);
        Position position = {.reg = reg};
        int stage = 0;
        for (int d = 0; d < scan->layout->rank; d++)
            if (d != scan->dim) position.at[stage++] = at[d];
        position.at[stage] = at[scan->dim];
        positions[count++] = position;
    }
    qsort(positions, (size_t)count, sizeof *positions, compare_positions);
    *out = positions;
    return count;
}

static bool same_line(const Scan *scan, const Position *a, const Position *b)
{
    return memcmp(a->at, b->at, sizeof a->at[0] * (size_t)(scan->layout->rank - 1)) == 0;
}

/* What is beyond the end comes first in reverse. */
static Value **without_padding(Lower *lower, const Scan *scan, Value *const *from)
{
    const Coordinates coordinates = coordinates_of(lower, scan->layout);
    const int registers = layout_registers(scan->layout);
    Value **masked = arena_new_array(lower->arena, Value *, registers);
    for (int reg = 0; reg < registers; reg++) {
        masked[reg] = masked_register(lower, &coordinates, from, reg, scan->identity);
        if (!masked[reg]) masked[reg] = scan->identity;
    }
    return masked;
}

void lower_scan(Lower *lower, Op *op)
{
    const Scan scan = scan_of(lower, op);
    Value **from = lower_tile(lower, operand(op, a)), **to = lower_new_tile(lower, &op->results[0]);
    Position *positions;
    const int count = sort_registers(lower, &scan, &positions);
    if (scan.reverse) from = without_padding(lower, &scan, from);
    int *line = arena_new_array(lower->arena, int, count);
    for (int begin = 0, end; begin < count; begin = end) {
        for (end = begin; end < count && same_line(&scan, &positions[begin], &positions[end]);)
            end++;
        for (int i = begin; i < end; i++)
            line[scan.reverse ? end - 1 - i : i - begin] = positions[i].reg;
        scan_line(lower, &scan, line, end - begin, from, to);
    }
    const int replicas = layout_register_replicas(scan.layout);
    for (int reg = 0; reg < layout_registers(scan.layout); reg++)
        if (reg & replicas) to[reg] = to[reg & ~replicas];
}
