/* llvm_packed.c: numbers of less than a byte. A vector of them is the words that it fills in a
 * machine's registers, the first number in the lowest bits. */
#include "codegen/llvm.h"
#include "codegen/quirks.h"

/* ---- vectors ---- */

LLVMTypeRef gen_packed_type(const Gen *gen, const Type *vector)
{
    const int bits = vector->count * dtype_bits(vector->dtype);
    if (bits <= REGISTER_BITS) return LLVMIntTypeInContext(gen->context, (unsigned)bits);
    CHECK(bits % REGISTER_BITS == 0);
    return LLVMVectorType(gen->types.i32, (unsigned)(bits / REGISTER_BITS));
}

static LLVMValueRef shifted(Gen *gen, LLVMValueRef word, int bits, bool left)
{
    LLVMValueRef amount = gen_int(gen, LLVMTypeOf(word), bits);
    if (bits == 0) return word;
    return left ? LLVMBuildShl(gen->builder, word, amount, "")
                : LLVMBuildLShr(gen->builder, word, amount, "");
}

LLVMValueRef gen_packed_get(Gen *gen, const Type *type, LLVMValueRef vector, int index)
{
    const int bits = dtype_bits(type->dtype), at = index * bits;
    if (type->count * bits > REGISTER_BITS)
        vector =
            LLVMBuildExtractElement(gen->builder, vector, gen_i32(gen, at / REGISTER_BITS), "");
    vector = shifted(gen, vector, at % REGISTER_BITS, false);
    LLVMTypeRef number = gen_dtype(gen, type->dtype);
    return LLVMTypeOf(vector) == number ? vector : LLVMBuildTrunc(gen->builder, vector, number, "");
}

static LLVMValueRef pack_word(Gen *gen, const Op *op, int first, int count, LLVMTypeRef type)
{
    const int bits = dtype_bits(op->results[0].type->dtype);
    LLVMValueRef word = NULL;
    for (int i = 0; i < count; i++) {
        LLVMValueRef number = gen_operand_at(gen, op, first + i);
        if (LLVMTypeOf(number) != type) number = LLVMBuildZExt(gen->builder, number, type, "");
        number = shifted(gen, number, i * bits, true);
        word = word != NULL ? LLVMBuildOr(gen->builder, word, number, "") : number;
    }
    return word;
}

LLVMValueRef gen_packed_pack(Gen *gen, const Op *op)
{
    const Type *type = op->results[0].type;
    LLVMTypeRef llvm = gen_packed_type(gen, type);
    const int each = REGISTER_BITS / dtype_bits(type->dtype);
    if (type->count <= each) return pack_word(gen, op, 0, type->count, llvm);
    LLVMValueRef vector = LLVMGetPoison(llvm);
    for (int i = 0; i < type->count / each; i++)
        vector = LLVMBuildInsertElement(gen->builder, vector,
                                        pack_word(gen, op, i * each, each, gen->types.i32),
                                        gen_i32(gen, i), "");
    return vector;
}

/* ---- to floats, by pairs ----
 *
 * An integer of a few bits in the lowest places of a float's significand, below an exponent that
 * gives the last place the weight 1, is that power of two plus the integer: what is subtracted then
 * is exact. The sign is flipped on the way, which adds half the range. */

typedef struct Pairing {
    DType to;
    int bits, count;
    bool is_signed;
    LLVMValueRef words[8]; /* shifted, so that each number is the lowest of a byte of one */
} Pairing;

static LLVMValueRef half_word(Gen *gen, uint32_t half)
{
    return LLVMConstInt(gen->types.i32, half | half << 16, false);
}

/* Byte `low` of a in the lower half, byte `high` of b in the upper; the other bytes are a's first,
 * on both machines, so that the emulator sees whether they are masked. */
static LLVMValueRef two_bytes(Gen *gen, LLVMValueRef a, int low, LLVMValueRef b, int high)
{
    if (gen->machine->has_ptx) {
        LLVMValueRef operands[3] = {a, b, gen_i32(gen, low | (4 + high) << 8)};
        return gen_intrinsic(gen, "llvm.nvvm.prmt", 0, NULL, 3, operands);
    }
    LLVMValueRef bytes[3] = {a, shifted(gen, a, 8 * low, false), shifted(gen, b, 8 * high, false)};
    for (int i = 0; i < 3; i++)
        bytes[i] = LLVMBuildAnd(gen->builder, bytes[i], gen_i32(gen, 0xff), "");
    LLVMValueRef others = LLVMBuildMul(gen->builder, bytes[0], gen_i32(gen, 0x01000100), "");
    LLVMValueRef pair = LLVMBuildOr(gen->builder, bytes[1], shifted(gen, bytes[2], 16, true), "");
    return LLVMBuildOr(gen->builder, pair, others, "");
}

static LLVMValueRef masked(Gen *gen, LLVMValueRef word, uint32_t mask, uint32_t flip)
{
    if (gen->machine->has_ptx) return quirk_masked(gen, word, mask, flip);
    word = LLVMBuildAnd(gen->builder, word, gen_int(gen, gen->types.i32, mask), "");
    return LLVMBuildXor(gen->builder, word, gen_int(gen, gen->types.i32, flip), "");
}

/* Two bytes of a word, each below `above` in its half. */
static LLVMValueRef two_bytes_below(Gen *gen, LLVMValueRef word, int low, int high, uint32_t above)
{
    if (gen->machine->has_ptx) {
        LLVMValueRef operands[3] = {word, gen_i32(gen, above),
                                    gen_i32(gen, low | 4 << 4 | high << 8 | 4 << 12)};
        return gen_intrinsic(gen, "llvm.nvvm.prmt", 0, NULL, 3, operands);
    }
    LLVMValueRef pair = two_bytes(gen, word, low, word, high);
    pair = LLVMBuildAnd(gen->builder, pair, half_word(gen, 0xff), "");
    return LLVMBuildOr(gen->builder, pair, half_word(gen, above << 8), "");
}

/* The two numbers from `index` on, each in the lowest bits of a half. */
static LLVMValueRef two_numbers(Gen *gen, const Pairing *pairing, int index)
{
    const int each = 8 / pairing->bits;
    return two_bytes(gen, pairing->words[index % each], index / each,
                     pairing->words[(index + 1) % each], (index + 1) / each);
}

/* Each half of a word as a float, times a number, plus another, which is exact. */
static LLVMValueRef pair_scaled(Gen *gen, DType dtype, LLVMValueRef pair, const double by[2],
                                const double plus[2], LLVMValueRef *second)
{
    LLVMTypeRef half = gen_dtype(gen, dtype), type = LLVMVectorType(half, 2);
    LLVMValueRef results[2], numbers[2];
    const double *const of[2] = {by, plus};
    pair = gen_bitcast(gen, pair, type);
    for (int i = 0; i < 2; i++) {
        const uint32_t low = (uint32_t)dtype_encode(dtype, of[i][0]),
                       high = (uint32_t)dtype_encode(dtype, of[i][1]);
        numbers[i] = LLVMConstInt(gen->types.i32, low | high << 16, false);
    }
    for (int i = 0; i < 2; i++) numbers[i] = LLVMConstBitCast(numbers[i], type);
    if (gen_is_native(gen, dtype) && gen->machine->has_ptx) {
        LLVMValueRef operands[3] = {pair, numbers[0], numbers[1]};
        pair = gen_intrinsic(gen, "llvm.fma", 1, &type, 3, operands);
    } else if (gen_is_native(gen, dtype)) {
        pair = LLVMBuildFMul(gen->builder, pair, numbers[0], "");
        pair = LLVMBuildFAdd(gen->builder, pair, numbers[1], "");
    }
    for (int i = 0; i < 2; i++) {
        results[i] = LLVMBuildExtractElement(gen->builder, pair, gen_i32(gen, i), "");
        if (gen_is_native(gen, dtype)) continue;
        LLVMValueRef wide = gen_to_f32(gen, dtype, results[i]);
        wide = LLVMBuildFMul(gen->builder, wide, LLVMConstReal(gen->types.f32, by[i]), "");
        wide = LLVMBuildFAdd(gen->builder, wide, LLVMConstReal(gen->types.f32, plus[i]), "");
        results[i] = gen_from_f32(gen, dtype, wide);
    }
    *second = results[1];
    return results[0];
}

static int significand_bits(DType dtype)
{
    return dtype == DTYPE_f32 ? 23 : dtype == DTYPE_f16 ? 10 : 7;
}

/* Two integers of a few bits each that share a byte, where the float's significand holds it: the
 * upper one counts by its place, and is divided by that. */
static LLVMValueRef neighbours_of(Gen *gen, const Pairing *pairing, int index, LLVMValueRef *second)
{
    const int bits = pairing->bits, at = index % (8 / bits) * bits;
    const double weight = (double)(1 << significand_bits(pairing->to));
    const uint32_t mask = (1u << bits) - 1, sign = pairing->is_signed ? 1u << (bits - 1) : 0,
                   exponent = (uint32_t)dtype_encode(pairing->to, weight);
    const int shifts[2] = {at, at + bits};
    LLVMValueRef pair =
        two_bytes(gen, pairing->words[0], index * bits / 8, pairing->words[0], index * bits / 8);
    const uint32_t masks = mask << shifts[0] | mask << shifts[1] << 16,
                   signs = sign << shifts[0] | sign << shifts[1] << 16;
    double by[2], plus[2];
    pair = masked(gen, pair, masks, (exponent | exponent << 16) ^ signs);
    for (int i = 0; i < 2; i++) {
        by[i] = 1.0 / (1 << shifts[i]);
        plus[i] = -(weight * by[i] + sign);
    }
    return pair_scaled(gen, pairing->to, pair, by, plus, second);
}

static LLVMValueRef integers_of(Gen *gen, const Pairing *pairing, int index, LLVMValueRef *second)
{
    const double weight = (double)(1 << significand_bits(pairing->to));
    const uint32_t sign = pairing->is_signed ? 1u << (pairing->bits - 1) : 0,
                   exponent = (uint32_t)dtype_encode(pairing->to, weight);
    static const double one[2] = {1, 1};
    const double plus[2] = {-(weight + sign), -(weight + sign)};
    LLVMValueRef pair;
    if (pairing->bits < 8 && significand_bits(pairing->to) >= 8)
        return neighbours_of(gen, pairing, index, second);
    if (pairing->bits == 8 && significand_bits(pairing->to) >= 8) {
        pair = two_bytes_below(gen, pairing->words[0], index, index + 1, exponent >> 8);
        pair = LLVMBuildXor(gen->builder, pair, half_word(gen, sign), "");
    } else {
        pair = two_numbers(gen, pairing, index);
        const uint32_t mask = (1u << pairing->bits) - 1, flip = exponent ^ sign;
        pair = masked(gen, pair, mask | mask << 16, flip | flip << 16);
    }
    return pair_scaled(gen, pairing->to, pair, one, plus, second);
}

/* Sign and magnitude of e2m1 in the places of a wider float, which is too small by the difference
 * of the exponents' biases. */
static LLVMValueRef floats_of(Gen *gen, const Pairing *pairing, int index, LLVMValueRef *second)
{
    const int shift = significand_bits(pairing->to) - 1;
    LLVMValueRef pair = two_numbers(gen, pairing, index);
    LLVMValueRef sign =
        LLVMBuildAnd(gen->builder, shifted(gen, pair, 12, true), half_word(gen, 0x8000), "");
    LLVMValueRef rest = LLVMBuildAnd(gen->builder, shifted(gen, pair, shift, true),
                                     half_word(gen, 7u << shift), "");
    pair = LLVMBuildOr(gen->builder, sign, rest, "");
    const double scale = pairing->to == DTYPE_f16 ? 0x1p14 : 0x1p126;
    return pair_scaled(gen, pairing->to, pair, (double[]){scale, scale}, (double[]){-0.0, -0.0},
                       second);
}

/* Sign and magnitude of e4m3 in the places of f16, which is too small by the difference of the
 * exponents' biases. NaN, whose magnitude is the greatest, is 480 then: of the exponent that
 * stands for NaN one bit is missing, which is where the next magnitude's carry goes. */
static LLVMValueRef halves_of_e4m3(Gen *gen, LLVMValueRef pair)
{
    LLVMTypeRef type = LLVMVectorType(gen->types.f16, 2);
    LLVMValueRef rest =
        LLVMBuildAnd(gen->builder, shifted(gen, pair, 7, true), half_word(gen, 0x3f80), "");
    LLVMValueRef sign =
        LLVMBuildAnd(gen->builder, shifted(gen, pair, 8, true), half_word(gen, 0x8000), "");
    LLVMValueRef next = LLVMBuildAdd(gen->builder, rest, half_word(gen, 0x80), "");
    LLVMValueRef missing =
        LLVMBuildAnd(gen->builder, shifted(gen, next, 1, false), half_word(gen, 0x2000), "");
    LLVMValueRef operands[3] = {
        gen_bitcast(gen, LLVMBuildOr(gen->builder, rest, sign, ""), type),
        LLVMConstBitCast(half_word(gen, (uint32_t)dtype_encode(DTYPE_f16, 0x1p8)), type),
        LLVMConstBitCast(half_word(gen, (uint32_t)dtype_encode(DTYPE_f16, -0.0)), type)};
    pair = gen_intrinsic(gen, "llvm.fma", 1, &type, 3, operands);
    pair = LLVMBuildOr(gen->builder, gen_bitcast(gen, pair, gen->types.i32), missing, "");
    return gen_bitcast(gen, pair, type);
}

/* e4m3 and e5m2 by an instruction for two, from sm_89 on, over f16, which has all their numbers;
 * e5m2 is the upper half of an f16 anyway. */
static LLVMValueRef bytes_of(Gen *gen, DType from, const Pairing *pairing, int index,
                             LLVMValueRef *second)
{
    const bool is_upper = from == DTYPE_f8e5m2 && pairing->to == DTYPE_f16;
    LLVMValueRef pair, results[2];
    if (gen_has_fp8(gen, from)) {
        pair = shifted(gen, pairing->words[0], 8 * index, false);
        pair = gen_fp8_halves(gen, from, LLVMBuildTrunc(gen->builder, pair, gen->types.i16, ""));
    } else if (is_upper) {
        pair = shifted(gen, two_numbers(gen, pairing, index), 8, true);
        pair = LLVMBuildAnd(gen->builder, pair, half_word(gen, 0xff00), "");
        pair = gen_bitcast(gen, pair, LLVMVectorType(gen->types.f16, 2));
    } else if (from == DTYPE_f8e4m3 && gen->machine->has_ptx) {
        pair = halves_of_e4m3(gen, two_numbers(gen, pairing, index));
    } else {
        pair = NULL;
    }
    for (int i = 0; i < 2; i++) {
        const DType dtype = pair ? DTYPE_f16 : from;
        LLVMValueRef number;
        if (pair) {
            number = LLVMBuildExtractElement(gen->builder, pair, gen_i32(gen, i), "");
        } else {
            number = shifted(gen, pairing->words[0], 8 * (index + i), false);
            number = LLVMBuildTrunc(gen->builder, number, gen_dtype(gen, from), "");
        }
        results[i] = gen_cast(gen, dtype, pairing->to, number);
    }
    *second = results[1];
    return results[0];
}

/* Floats as e4m3 or e5m2, two at a time. */
static LLVMValueRef bytes_from(Gen *gen, const Type *from, DType to, LLVMValueRef vector)
{
    LLVMValueRef word = NULL;
    for (int i = 0; i < from->count; i += 2) {
        LLVMValueRef pair[2];
        for (int k = 0; k < 2; k++) {
            pair[k] = LLVMBuildExtractElement(gen->builder, vector, gen_i32(gen, i + k), "");
            pair[k] = gen_to_f32(gen, from->dtype, pair[k]);
        }
        LLVMValueRef bytes = gen_fp8_pair(gen, to, pair[0], pair[1]);
        if (from->count == 2) return bytes;
        bytes = shifted(gen, LLVMBuildZExt(gen->builder, bytes, gen->types.i32, ""), 8 * i, true);
        word = word != NULL ? LLVMBuildOr(gen->builder, word, bytes, "") : bytes;
    }
    return word;
}

static LLVMValueRef f32_of_integer(Gen *gen, const Pairing *pairing, int index)
{
    const uint32_t sign = pairing->is_signed ? 1u << (pairing->bits - 1) : 0;
    LLVMValueRef number = shifted(gen, pairing->words[0], index * pairing->bits, false);
    number = LLVMBuildAnd(gen->builder, number, gen_i32(gen, (1 << pairing->bits) - 1), "");
    number = LLVMBuildXor(gen->builder, number, gen_i32(gen, 0x4b000000 ^ sign), "");
    return LLVMBuildFSub(gen->builder, gen_bitcast(gen, number, gen->types.f32),
                         LLVMConstReal(gen->types.f32, 0x1p23 + sign), "");
}

static void cast_pairs(Gen *gen, const Type *from, Pairing *pairing, LLVMValueRef *results)
{
    for (int i = 1; i < 8 / pairing->bits; i++)
        pairing->words[i] = shifted(gen, pairing->words[0], i * pairing->bits, false);
    for (int i = 0; i < pairing->count; i += 2)
        results[i] = pairing->bits == 8 && dtype_is_float(from->dtype)
                         ? bytes_of(gen, from->dtype, pairing, i, &results[i + 1])
                     : dtype_is_float(from->dtype) ? floats_of(gen, pairing, i, &results[i + 1])
                                                   : integers_of(gen, pairing, i, &results[i + 1]);
}

static LLVMValueRef vector_of(Gen *gen, const Type *type, LLVMValueRef *numbers)
{
    LLVMValueRef all = LLVMGetPoison(gen_type(gen, type));
    for (int i = 0; i < type->count; i++)
        all = LLVMBuildInsertElement(gen->builder, all, numbers[i], gen_i32(gen, i), "");
    return all;
}

/* Packed numbers, which are a word at most. */
static LLVMValueRef unpacked(Gen *gen, const Type *from, const Type *to, LLVMValueRef vector)
{
    LLVMValueRef results[REGISTER_BITS];
    Pairing pairing = {.to = to->dtype,
                       .bits = dtype_bits(from->dtype),
                       .count = from->count,
                       .is_signed = dtype_is_signed(from->dtype)};
    LLVMTypeRef word = LLVMIntTypeInContext(gen->context, (unsigned)(pairing.bits * from->count));
    vector = gen_bitcast(gen, vector, word);
    if (word != gen->types.i32) vector = LLVMBuildZExt(gen->builder, vector, gen->types.i32, "");
    pairing.words[0] = vector;
    if (to->dtype == DTYPE_f32 && !dtype_is_float(from->dtype))
        for (int i = 0; i < from->count; i++) results[i] = f32_of_integer(gen, &pairing, i);
    else
        cast_pairs(gen, from, &pairing, results);
    return vector_of(gen, to, results);
}

static LLVMValueRef one_by_one(Gen *gen, const Type *from, const Type *to, LLVMValueRef vector)
{
    LLVMValueRef results[REGISTER_BITS];
    for (int i = 0; i < from->count; i++)
        results[i] = gen_cast(gen, from->dtype, to->dtype,
                              LLVMBuildExtractElement(gen->builder, vector, gen_i32(gen, i), ""));
    return vector_of(gen, to, results);
}

void emit_vec_cast(Gen *gen, const Op *op)
{
    const Type *from = operand(op, vector)->type, *to = op->results[0].type;
    LLVMValueRef vector = gen_operand(gen, op, vector);
    if (dtype_bits(from->dtype) < dtype_bits(to->dtype))
        vector = unpacked(gen, from, to, vector);
    else if (gen_has_fp8(gen, to->dtype))
        vector = gen_bitcast(gen, bytes_from(gen, from, to->dtype, vector), gen_type(gen, to));
    else
        vector = one_by_one(gen, from, to, vector);
    gen_define_result(gen, op, vector);
}

/* ---- single numbers in memory ---- */

static bool is_local(const Op *op)
{
    return operand(op, pointer)->type->space == SPACE_LOCAL;
}

void emit_ld_bits(Gen *gen, const Op *op)
{
    LLVMValueRef predicate = gen_operand_given(gen, op, predicate);
    LLVMValueRef pointer = gen_operand(gen, op, pointer), byte;
    if (is_local(op))
        byte = LLVMBuildLoad2(gen->builder, gen->types.i8, pointer, "");
    else
        byte = gen->machine->load(gen, op, pointer, gen->types.i8, predicate);
    LLVMValueRef bit = LLVMBuildTrunc(gen->builder, gen_operand(gen, op, bit), gen->types.i8, "");
    byte = LLVMBuildLShr(gen->builder, byte, bit, "");
    gen_define_result(
        gen, op,
        LLVMBuildTrunc(gen->builder, byte, gen_dtype(gen, op->results[0].type->dtype), ""));
}

void emit_st_bits(Gen *gen, const Op *op)
{
    const int bits = dtype_bits(operand(op, value)->type->dtype);
    LLVMValueRef predicate = gen_operand_given(gen, op, predicate);
    LLVMValueRef pointer = gen_operand(gen, op, pointer), bit = gen_operand(gen, op, bit);
    LLVMValueRef mask = LLVMBuildShl(gen->builder, gen_i32(gen, (1 << bits) - 1), bit, "");
    LLVMValueRef set = LLVMBuildZExt(gen->builder, gen_operand(gen, op, value), gen->types.i32, "");
    set = LLVMBuildShl(gen->builder, set, bit, "");
    if (!is_local(op)) {
        gen->machine->store_bits(gen, op, pointer, mask, set, predicate);
        return;
    }
    LLVMValueRef byte = LLVMBuildLoad2(gen->builder, gen->types.i8, pointer, "");
    LLVMValueRef keep = LLVMBuildNot(gen->builder, mask, "");
    keep = LLVMBuildTrunc(gen->builder, keep, gen->types.i8, "");
    byte = LLVMBuildAnd(gen->builder, byte, keep, "");
    set = LLVMBuildTrunc(gen->builder, set, gen->types.i8, "");
    LLVMBuildStore(gen->builder, LLVMBuildOr(gen->builder, byte, set, ""), pointer);
}
