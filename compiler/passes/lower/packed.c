/* packed.c: elements of less than a byte, by one thread.
 *
 * A pointer to such elements that is moved counts elements, and need not be a whole byte's: its
 * steps stay in the program of the pass alone. An access looks back at them: one of whole bytes
 * goes on with their address, one of less with a byte's and the bit in it. */
#include "passes/lower/lower.h"

typedef struct Spot {
    Value *base;  /* where the pointer was a byte's */
    Value *steps; /* elements from there on, an i64; NULL: none */
    int64_t more; /* and these */
} Spot;

static Spot spot_of(Lower *lower, Value *pointer)
{
    Spot spot = {.base = pointer};
    while (spot.base->op && spot.base->op->code == OP_ptr_add) {
        Value *step = operand(spot.base->op, index);
        int64_t number, sum;
        spot.base = operand(spot.base->op, pointer);
        if (value_constant(step, &number) && !__builtin_add_overflow(spot.more, number, &sum)) {
            spot.more = sum;
            continue;
        }
        step = address_cast(lower, DTYPE_i64, step);
        spot.steps = spot.steps ? address_op(lower, OP_add, step, spot.steps) : step;
    }
    return spot;
}

/* The byte so many elements on; the last ones are the access's own. */
static Value *byte_at(Lower *lower, Value *base, Value *steps, int64_t more, int each)
{
    Value *byte = address_pointer_to(lower, DTYPE_u8, base);
    Value *shift = address_const(lower, DTYPE_i64, bits_log2(each));
    if (steps) byte = address_op(lower, OP_ptr_add, byte, address_op(lower, OP_shr, steps, shift));
    return address_add_number(lower, byte, more / each);
}

Value *packed_address(Lower *lower, Value *pointer)
{
    const DType dtype = pointer->type->dtype;
    const int each = 8 / dtype_memory_bits(dtype);
    Spot spot = spot_of(lower, pointer);
    if (spot.more % each != 0) {
        spot.steps = spot.steps ? address_add_number(lower, spot.steps, spot.more)
                                : address_const(lower, DTYPE_i64, spot.more);
        spot.more = 0;
    }
    return byte_at(lower, spot.base, spot.steps, spot.more, each);
}

typedef struct Bits {
    Value *byte, *bit;
} Bits;

static Bits bits_of(Lower *lower, Value *pointer)
{
    const int size = dtype_memory_bits(pointer->type->dtype), each = 8 / size;
    const Spot spot = spot_of(lower, pointer);
    if (!spot.steps && spot.more >= 0)
        return (Bits){byte_at(lower, spot.base, NULL, spot.more, each),
                      address_const(lower, DTYPE_i32, spot.more % each * size)};
    Value *steps = spot.steps ? address_add_number(lower, spot.steps, spot.more)
                              : address_const(lower, DTYPE_i64, spot.more);
    Value *in_byte = address_op(lower, OP_and, address_cast(lower, DTYPE_i32, steps),
                                address_const(lower, DTYPE_i32, each - 1));
    return (Bits){
        byte_at(lower, spot.base, steps, 0, each),
        address_op(lower, OP_shl, in_byte, address_const(lower, DTYPE_i32, bits_log2(size)))};
}

Value *packed_read(Lower *lower, Value *pointer, Value *predicate)
{
    const Bits at = bits_of(lower, pointer);
    Value *operands[3] = {at.byte, at.bit, predicate};
    const Type *type = type_scalar(lower->kernel->types, pointer->type->dtype);
    return lower_build(lower, OP_ld_bits, predicate ? 3 : 2, operands, type);
}

void packed_write(Lower *lower, Value *pointer, Value *predicate, Value *value)
{
    const Bits at = bits_of(lower, pointer);
    Value *operands[4] = {at.byte, value, at.bit, predicate};
    build_op(&lower->at, OP_st_bits, predicate ? 4 : 3, operands, 0, NULL);
}

/* ---- casts by the word ---- */

/* Elements from the first on that are neighbours in one word of a vector, a power of two. */
static int run_of(Value *const *elements, int count, int most)
{
    const Op *first = elements[0]->op;
    int run = 1;
    if (!first || first->code != OP_vec_get) return 1;
    const int64_t index = op_int(first, ATTR_index, 0);
    while (run < count && elements[run]->op && elements[run]->op->code == OP_vec_get &&
           operand(elements[run]->op, vector) == operand(first, vector) &&
           op_int(elements[run]->op, ATTR_index, 0) == index + run)
        run++;
    while (most > run || index % most != 0) most /= 2;
    return most;
}

static bool is_wide_float(DType dtype)
{
    return dtype == DTYPE_f16 || dtype == DTYPE_bf16 || dtype == DTYPE_f32;
}

static bool is_cast_by_word(const Lower *lower, DType from, DType to)
{
    const bool has_fp8 = target_has(lower->target, HAS_FP8_MMA);
    if (dtype_is_fp8(to)) return is_wide_float(from) && has_fp8;
    if (!is_wide_float(to)) return false;
    if (from == DTYPE_f4e2m1) return to != DTYPE_f32;
    if (dtype_is_fp8(from)) return has_fp8 || to == DTYPE_f16;
    return dtype_is_packed(from) ||
           (dtype_is_integer(from) && dtype_bits(from) == 8 && to == DTYPE_f16);
}

int packed_cast(Lower *lower, DType to, Value *const *from, int count, Value **registers)
{
    const DType dtype = from[0]->type->dtype;
    if (!is_cast_by_word(lower, dtype, to) || count < 2) return 0;
    int run = dtype_is_fp8(to) ? (count < 4 ? 2 : 4)
                               : run_of(from, count, REGISTER_BITS / dtype_bits(dtype));
    if (run < 2) run = 2;
    const Type *type = type_vector(lower->kernel->types, to, run);
    Value *vector = memory_pack(lower, run, from);
    vector = lower_build(lower, OP_vec_cast, 1, &vector, type);
    for (int i = 0; i < run; i++) registers[i] = memory_element(lower, vector, i);
    return run;
}
