/* address.c: address arithmetic: folded, built once, and before the loops that don't change
 * it. */
#include "passes/lower/lower.h"

#include <string.h>

/* ---- where ops go ---- */

static Builder hoisted(const Lower *lower, int count, Value *const *operands)
{
    Builder at = lower->at;
    while (at.region != lower->top) {
        for (int i = 0; i < count; i++)
            if (value_home(operands[i]) == at.region) return at;
        at.before = at.region->parent;
        at.region = at.region->parent->parent;
    }
    return at;
}

int address_depth(const Lower *lower, const Value *value)
{
    const Region *region = value_home(value);
    int depth = 0;
    for (; region && region != lower->top && region->parent; region = region->parent->parent)
        depth++;
    return region == lower->top ? depth : 0;
}

/* ---- what is built already ---- */

typedef struct Key {
    int64_t code, number, tile, bytes;
    const void *a, *b, *text;
    const Type *type;
} Key;

static Value *emit(Lower *lower, const Key *key, int count, Value *const *operands)
{
    Name name = intern(lower->keys, (const char *)key, sizeof *key);
    Value *known = map_get(&lower->built, name);
    if (known) return known;
    Builder at = hoisted(lower, count, operands);
    Op *op = build_op(&at, (OpCode)key->code, count, operands, 1, &key->type);
    if (key->code == OP_const && dtype_is_float(key->type->dtype))
        op_set_number(op, ATTR_number, 0);
    else if (key->code == OP_const)
        op_set_int(op, ATTR_value, key->number);
    if (key->code == OP_shared_base) op_set_int(op, ATTR_offset, key->number);
    if (key->tile) op_set_int(op, ATTR_tile, key->tile);
    if (key->bytes) op_set_int(op, ATTR_bytes, key->bytes);
    if (key->text) op_set_text(op, ATTR_predicate, key->text);
    map_set(lower->arena, &lower->built, name, &op->results[0]);
    return &op->results[0];
}

Value *address_const(Lower *lower, DType dtype, int64_t value)
{
    const Key key = {
        .code = OP_const, .number = value, .type = type_scalar(lower->kernel->types, dtype)};
    return emit(lower, &key, 0, NULL);
}

Value *address_zero(Lower *lower, DType dtype)
{
    return address_const(lower, dtype, 0);
}

/* ---- folding ---- */

static bool folds_to_left(OpCode code, int64_t b)
{
    if (code == OP_mul) return b == 1;
    return b == 0 && (code == OP_add || code == OP_sub || code == OP_xor || code == OP_or ||
                      code == OP_shl || code == OP_shr || code == OP_ptr_add);
}

static bool fold_numbers(OpCode code, int64_t a, int64_t b, int64_t *out)
{
    if (code == OP_add) return !__builtin_add_overflow(a, b, out);
    if (code == OP_mul) return !__builtin_mul_overflow(a, b, out);
    return false;
}

Value *address_op(Lower *lower, OpCode code, Value *a, Value *b)
{
    int64_t x, y, folded;
    const bool a_known = value_constant(a, &x), b_known = value_constant(b, &y);
    if (a_known && !b_known && (code == OP_add || code == OP_mul))
        return address_op(lower, code, b, a);
    if (b_known && folds_to_left(code, y)) return a;
    if (b_known && y == 0 && (code == OP_mul || code == OP_and)) return b;
    if (a_known && b_known && fold_numbers(code, x, y, &folded) &&
        dtype_wrap(a->type->dtype, folded) == folded)
        return address_const(lower, a->type->dtype, folded);
    const Key key = {.code = code, .a = a, .b = b, .type = a->type};
    return emit(lower, &key, 2, (Value *[]){a, b});
}

Value *address_cast(Lower *lower, DType dtype, Value *a)
{
    int64_t number;
    if (a->type->dtype == dtype) return a;
    if (value_constant(a, &number)) return address_const(lower, dtype, dtype_wrap(dtype, number));
    const Key key = {.code = OP_cast, .a = a, .type = type_scalar(lower->kernel->types, dtype)};
    return emit(lower, &key, 1, &a);
}

Value *address_cmp(Lower *lower, const char *predicate, Value *a, Value *b)
{
    const Key key = {.code = OP_cmp,
                     .a = a,
                     .b = b,
                     .type = type_scalar(lower->kernel->types, DTYPE_b1),
                     .text = intern_text(lower->kernel->session->names, predicate)};
    return emit(lower, &key, 2, (Value *[]){a, b});
}

Value *address_and(Lower *lower, Value *a, Value *b)
{
    if (!a || a == b) return b;
    if (!b) return a;
    return address_op(lower, OP_and, a, b);
}

Value *address_shared(Lower *lower, DType dtype, const Op *alloc)
{
    const Key key = {.code = OP_shared_base,
                     .number = op_int(alloc, ATTR_offset, 0),
                     .tile = op_int(alloc, ATTR_tile, 0),
                     .bytes = op_int(alloc, ATTR_bytes, 0),
                     .type = type_pointer(lower->kernel->types, dtype, SPACE_SHARED)};
    return emit(lower, &key, 0, NULL);
}

Value *address_in_cluster(Lower *lower, Value *pointer, Value *rank)
{
    const Key key = {.code = OP_cluster_address,
                     .a = pointer,
                     .b = rank,
                     .type =
                         type_pointer(lower->kernel->types, pointer->type->dtype, SPACE_CLUSTER)};
    return emit(lower, &key, 2, (Value *[]){pointer, rank});
}

Value *address_pointer_to(Lower *lower, DType dtype, Value *pointer)
{
    if (pointer->type->dtype == dtype) return pointer;
    const Key key = {.code = OP_ptr_cast,
                     .a = pointer,
                     .type = type_pointer(lower->kernel->types, dtype, pointer->type->space)};
    return emit(lower, &key, 1, &pointer);
}

Value *address_add_number(Lower *lower, Value *a, int64_t number)
{
    if (!a) return address_const(lower, DTYPE_i32, number);
    const bool is_narrow = dtype_wrap(DTYPE_i32, number) == number;
    const DType dtype = a->type->kind != TYPE_POINTER ? a->type->dtype
                        : is_narrow                   ? DTYPE_i32
                                                      : DTYPE_i64;
    return address_op(lower, a->type->kind == TYPE_POINTER ? OP_ptr_add : OP_add, a,
                      address_const(lower, dtype, number));
}

Value *address_xor_number(Lower *lower, Value *a, int64_t number)
{
    if (!a) return number ? address_const(lower, DTYPE_i32, number) : NULL;
    return address_op(lower, OP_xor, a, address_const(lower, a->type->dtype, number));
}

/* ---- bits of the thread index ---- */

Value *address_thread_id(Lower *lower)
{
    const Key key = {.code = OP_thread_id, .type = type_scalar(lower->kernel->types, DTYPE_i32)};
    return emit(lower, &key, 0, NULL);
}

/* The index among the threads of the group. */
static Value *index_in_group(Lower *lower)
{
    return address_add_number(lower, address_thread_id(lower), -lower->group.begin);
}

/* The least power of two that is not below the number of threads. */
static uint32_t index_limit(const Lower *lower)
{
    uint32_t limit = 1;
    while (limit < (uint32_t)lower->group.count) limit *= 2;
    return limit;
}

Value *address_uniform(Lower *lower, Value *value)
{
    Value *operands[2] = {value, address_const(lower, DTYPE_i32, 0)};
    const Key key = {.code = OP_shuffle, .a = value, .b = operands[1], .type = value->type};
    Value *first = emit(lower, &key, 2, operands);
    op_set_text(first->op, ATTR_mode, intern_text(lower->kernel->session->names, "idx"));
    return first;
}

/* Whole warps: what is the same in all lanes is said to be so. */
static Value *warp_in_group(Lower *lower, ThreadGroup group)
{
    Value *warp = address_op(lower, OP_shr, address_thread_id(lower),
                             address_const(lower, DTYPE_i32, WARP_BITS));
    warp = address_add_number(lower, address_uniform(lower, warp), -(group.begin >> WARP_BITS));
    return address_cmp(lower, "lt", address_cast(lower, DTYPE_u32, warp),
                       address_const(lower, DTYPE_u32, group.count >> WARP_BITS));
}

Value *address_in_group(Lower *lower, ThreadGroup group)
{
    if (group.count % WARP_SIZE == 0) return warp_in_group(lower, group);
    Value *index = address_add_number(lower, address_thread_id(lower), -group.begin);
    if (group.count == 1)
        return address_cmp(lower, "eq", index, address_const(lower, DTYPE_i32, 0));
    return address_cmp(lower, "lt", address_cast(lower, DTYPE_u32, index),
                       address_const(lower, DTYPE_u32, group.count));
}

Value *address_elected(Lower *lower, int thread)
{
    const Type *boolean = type_scalar(lower->kernel->types, DTYPE_b1);
    if (thread % WARP_SIZE != 0) return address_in_group(lower, (ThreadGroup){thread, 1});
    Value *warp = address_in_group(lower, (ThreadGroup){thread, WARP_SIZE});
    return address_and(lower, warp, lower_build(lower, OP_elect, 0, NULL, boolean));
}

Value *address_first_thread(Lower *lower)
{
    return lower->group.count == 1 ? address_const(lower, DTYPE_b1, 1)
                                   : address_in_group(lower, (ThreadGroup){lower->group.begin, 1});
}

Value *address_first_of_part(Lower *lower, int parts)
{
    if (parts == 1) return address_first_thread(lower);
    Value *index = address_op(lower, OP_and, index_in_group(lower),
                              address_const(lower, DTYPE_i32, lower->group.count / parts - 1));
    return address_cmp(lower, "eq", index, address_const(lower, DTYPE_i32, 0));
}

Value *address_part(Lower *lower, int parts, int32_t times)
{
    int32_t targets[32] = {0};
    int first = 0;
    if (parts == 1) return NULL;
    while (1 << first < lower->group.count / parts) first++;
    for (int bit = 0; 1 << bit < parts; bit++) targets[first + bit] = times << bit;
    return address_uniform(lower, address_gather(lower, targets));
}

/* (value & mask) << shift, or >> -shift, of a value that has the bits `all`. Shifting right or
 * masking all bits needs no mask. */
static Value *move_bits(Lower *lower, Value *value, uint32_t all, uint32_t mask, int shift)
{
    const uint32_t kept = shift < 0 ? all >> -shift << -shift : all;
    if (mask != kept)
        value = address_op(lower, OP_and, value, address_const(lower, DTYPE_i32, mask));
    if (shift > 0) value = address_op(lower, OP_shl, value, address_const(lower, DTYPE_i32, shift));
    if (shift < 0)
        value = address_op(lower, OP_shr, value, address_const(lower, DTYPE_i32, -shift));
    return value;
}

typedef Value *IndexRule(Lower *lower);

/* The exclusive or of `sum`, which has the bits `reached`, and targets[b] over the bits b of the
 * index that are set. */
static Value *gather(Lower *lower, IndexRule *index, uint32_t all, const int32_t *targets,
                     int count, uint32_t reached, Value *sum)
{
    uint32_t masks[63] = {0};
    for (int bit = 0; bit < count; bit++)
        for (int to = 0; to < 31; to++)
            if (targets[bit] >> to & 1) masks[to - bit + 31] |= UINT32_C(1) << bit;
    for (int i = 0; i < 63; i++) {
        if (!masks[i]) continue;
        const int shift = i - 31;
        const uint32_t moved = shift < 0 ? masks[i] >> -shift : masks[i] << shift;
        Value *part = move_bits(lower, index(lower), all, masks[i], shift);
        sum = sum ? address_op(lower, moved & reached ? OP_xor : OP_or, sum, part) : part;
        reached |= moved;
    }
    return sum;
}

static Value *iteration_index(Lower *lower)
{
    return lower->iterations.index;
}

Value *address_gather(Lower *lower, const int32_t targets[32])
{
    const CoarsenedLoop *iterations = &lower->iterations;
    const int own = iterations->index ? bits_log2(iterations->threads) : 32;
    uint32_t reached = 0;
    Value *sum = gather(lower, index_in_group, index_limit(lower) - 1, targets, own, 0, NULL);
    if (!iterations->index) return sum;
    for (int bit = 0; bit < own; bit++) reached |= (uint32_t)targets[bit];
    return gather(lower, iteration_index, (uint32_t)iterations->count - 1, targets + own, 32 - own,
                  reached, sum);
}

/* ---- coordinates ---- */

int layout_thread_bits(const Layout *layout)
{
    return layout->bits[LAYOUT_LANE] + layout->bits[LAYOUT_WARP];
}

const int32_t *layout_thread_basis(const Layout *layout, int bit)
{
    return layout->basis[layout->bits[LAYOUT_REGISTER] + bit];
}

Coordinates coordinates_of(Lower *lower, const Layout *layout)
{
    Coordinates coordinates = {.layout = layout};
    for (int d = 0; d < layout->rank; d++) {
        int32_t targets[32] = {0};
        for (int bit = 0; bit < layout_thread_bits(layout); bit++) {
            targets[bit] = layout_thread_basis(layout, bit)[d];
            coordinates.mask[d] |= targets[bit];
        }
        coordinates.part[d] = address_gather(lower, targets);
    }
    return coordinates;
}

Coordinate coordinate_at(Lower *lower, const Coordinates *coordinates, int reg, int dim)
{
    int32_t own[LAYOUT_RANK];
    layout_coordinates(coordinates->layout, reg, 0, 0, own);
    const int32_t flip = own[dim] & coordinates->mask[dim];
    return (Coordinate){address_xor_number(lower, coordinates->part[dim], flip), own[dim] & ~flip};
}

Padding coordinates_padding(Lower *lower, const Coordinates *coordinates, int reg,
                            Value **predicate)
{
    const Layout *layout = coordinates->layout;
    Padding padding = PADDING_NONE;
    for (int d = 0; d < layout->rank; d++) {
        if ((int64_t)layout->block[d] * layout->repeat[d] == layout->shape[d]) continue;
        const Coordinate at = coordinate_at(lower, coordinates, reg, d);
        if (at.rest >= layout->shape[d]) return PADDING_ALL;
        if (at.rest + coordinates->mask[d] < layout->shape[d]) continue;
        Value *limit = address_const(lower, DTYPE_i32, layout->shape[d] - at.rest);
        *predicate = address_and(lower, *predicate, address_cmp(lower, "lt", at.variable, limit));
        padding = PADDING_SOME;
    }
    return padding;
}

/* How many of the group's threads the layout is for. */
static int laid_threads(const Lower *lower, const Layout *layout)
{
    return lower->iterations.index ? lower->iterations.threads : 1 << layout_thread_bits(layout);
}

bool address_has_replicas(const Lower *lower, const Layout *layout)
{
    return layout_replica_mask(layout) != 0 || laid_threads(lower, layout) < lower->group.count;
}

/* Threads above the largest power of two hold what those below hold. */
static Value *address_not_left_over(Lower *lower, const Layout *layout)
{
    const int threads = laid_threads(lower, layout);
    if (threads >= lower->group.count) return NULL;
    return address_cmp(lower, "lt", index_in_group(lower),
                       address_const(lower, DTYPE_i32, threads));
}

/* What a layout takes for the thread's index. */
static Value *spread_index(Lower *lower)
{
    const CoarsenedLoop *iterations = &lower->iterations;
    Value *index = index_in_group(lower);
    if (!iterations->index) return index;
    Value *above = address_op(lower, OP_shl, iterations->index,
                              address_const(lower, DTYPE_i32, bits_log2(iterations->threads)));
    return address_op(lower, OP_or, index, above);
}

Value *address_not_replica(Lower *lower, const Layout *layout)
{
    const uint32_t mask = layout_replica_mask(layout);
    Value *predicate = address_not_left_over(lower, layout);
    if (!mask) return predicate;
    Value *bits =
        address_op(lower, OP_and, spread_index(lower), address_const(lower, DTYPE_i32, mask));
    return address_and(lower, predicate,
                       address_cmp(lower, "eq", bits, address_const(lower, DTYPE_i32, 0)));
}

int layout_register_replicas(const Layout *layout)
{
    int mask = 0;
    for (int bit = 0; bit < layout->bits[LAYOUT_REGISTER]; bit++) {
        bool zero = true;
        for (int d = 0; d < layout->rank; d++) zero &= layout->basis[bit][d] == 0;
        mask |= zero ? 1 << bit : 0;
    }
    return mask;
}

/* ---- registers by coordinates ---- */

static int64_t linear_index(const RegisterIndex *index, const int32_t *coordinates)
{
    int64_t linear = 0;
    for (int d = 0; d < index->layout->rank; d++)
        linear = linear * index->extent[d] + coordinates[d];
    return linear;
}

RegisterIndex register_index(Lower *lower, const Layout *layout)
{
    RegisterIndex index = {.layout = layout};
    int64_t size = 1;
    for (int d = 0; d < layout->rank; d++) {
        index.extent[d] = layout->block[d] * layout->repeat[d];
        size *= index.extent[d];
    }
    index.at = arena_new_array(lower->arena, int, size);
    memset(index.at, -1, (size_t)size * sizeof(int));
    for (int reg = layout_registers(layout) - 1; reg >= 0; reg--) {
        int32_t coordinates[LAYOUT_RANK];
        layout_coordinates(layout, reg, 0, 0, coordinates);
        index.at[linear_index(&index, coordinates)] = reg;
    }
    return index;
}

int register_at(const RegisterIndex *index, const int32_t *coordinates)
{
    for (int d = 0; d < index->layout->rank; d++)
        if (coordinates[d] < 0 || coordinates[d] >= index->extent[d]) return -1;
    return index->at[linear_index(index, coordinates)];
}

int register_of(const RegisterIndex *index, int32_t row, int32_t column)
{
    const int reg = register_at(index, (int32_t[]){row, column});
    CHECK(reg >= 0);
    return reg;
}
