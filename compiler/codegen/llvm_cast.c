/* llvm_cast.c: conversions. Where a machine has no instruction for one, it is written out in
 * integer arithmetic, so that generated objects need no support library and every machine gives the
 * same bits. */
#include "codegen/llvm.h"

bool gen_is_native(const Gen *gen, DType dtype)
{
    switch (dtype) {
    case DTYPE_f16: return gen->machine->has_f16;
    case DTYPE_bf16: return gen->machine->has_bf16;
    case DTYPE_tf32:
    case DTYPE_f32:
    case DTYPE_f64: return true;
    default: return false;
    }
}

/* ---- pieces ---- */

static LLVMValueRef word_of(Gen *gen, LLVMValueRef f32)
{
    return gen_bitcast(gen, f32, gen->types.i32);
}

static LLVMValueRef f32_of(Gen *gen, LLVMValueRef word)
{
    return gen_bitcast(gen, word, gen->types.f32);
}

static LLVMValueRef and_word(Gen *gen, LLVMValueRef word, uint32_t mask)
{
    return LLVMBuildAnd(gen->builder, word, LLVMConstInt(gen->types.i32, mask, false), "");
}

static LLVMValueRef is_nan(Gen *gen, LLVMValueRef x)
{
    return LLVMBuildFCmp(gen->builder, LLVMRealUNO, x, x, "");
}

/* Drops `shift` low bits of a word, rounding to nearest even; they are cleared or shifted out. */
static LLVMValueRef round_word(Gen *gen, LLVMValueRef word, int shift, bool keeps_place)
{
    LLVMBuilderRef at = gen->builder;
    LLVMValueRef amount = gen_i32(gen, shift);
    LLVMValueRef last = and_word(gen, LLVMBuildLShr(at, word, amount, ""), 1);
    LLVMValueRef half = LLVMBuildAdd(at, last, gen_i32(gen, (1ll << (shift - 1)) - 1), "");
    LLVMValueRef sum = LLVMBuildAdd(at, word, half, "");
    return keeps_place ? and_word(gen, sum, ~0u << shift) : LLVMBuildLShr(at, sum, amount, "");
}

/* ---- small floats ---- */

typedef struct SmallFloat {
    int bits, exponent, mantissa;
    uint32_t most;     /* magnitude bits of what lies beyond the largest number */
    uint32_t infinity; /* magnitude bits; all above are NaN */
    uint32_t nan;
} SmallFloat;

static SmallFloat small_float(DType dtype)
{
    switch (dtype) {
    case DTYPE_f16: return (SmallFloat){16, 5, 10, 0x7c00, 0x7c00, 0x7fff};
    case DTYPE_f8e5m2: return (SmallFloat){8, 5, 2, 0x7b, 0x7c, 0x7f};
    case DTYPE_f8e4m3: return (SmallFloat){8, 4, 3, 0x7e, 0x7e, 0x7f}; /* no infinity */
    case DTYPE_f4e2m1: return (SmallFloat){4, 2, 1, 7, 8, 7};          /* nor NaN: 8 is the sign */
    default: ICE("no small float: %s", dtype_name(dtype));
    }
}

static int bias_of(const SmallFloat *kind)
{
    return (1 << (kind->exponent - 1)) - 1;
}

/* ---- by instructions: e4m3 and e5m2 in pairs ---- */

bool gen_has_fp8(const Gen *gen, DType dtype)
{
    return dtype_is_fp8(dtype) && gen->machine->has_ptx && target_has(gen->target, HAS_FP8_MMA);
}

LLVMValueRef gen_fp8_pair(Gen *gen, DType to, LLVMValueRef low, LLVMValueRef high)
{
    LLVMValueRef operands[2] = {high, low};
    return gen_intrinsic(
        gen, to == DTYPE_f8e4m3 ? "llvm.nvvm.ff.to.e4m3x2.rn" : "llvm.nvvm.ff.to.e5m2x2.rn", 0,
        NULL, 2, operands);
}

LLVMValueRef gen_fp8_halves(Gen *gen, DType from, LLVMValueRef pair)
{
    return gen_intrinsic(
        gen, from == DTYPE_f8e4m3 ? "llvm.nvvm.e4m3x2.to.f16x2.rn" : "llvm.nvvm.e5m2x2.to.f16x2.rn",
        0, NULL, 1, &pair);
}

/* All numbers of 8 bits are ones of f16. */
static LLVMValueRef decode_fp8(Gen *gen, DType from, LLVMValueRef value)
{
    LLVMValueRef pair = LLVMBuildZExt(gen->builder, value, gen->types.i16, "");
    pair = gen_fp8_halves(gen, from, pair);
    pair = LLVMBuildExtractElement(gen->builder, pair, gen_i32(gen, 0), "");
    return LLVMBuildFPExt(gen->builder, pair, gen->types.f32, "");
}

static LLVMValueRef encode_fp8(Gen *gen, DType to, LLVMValueRef value)
{
    LLVMValueRef pair = gen_fp8_pair(gen, to, value, LLVMConstReal(gen->types.f32, 0));
    return LLVMBuildTrunc(gen->builder, pair, gen->types.i8, "");
}

/* ---- by integer arithmetic ---- */

static LLVMValueRef decode_small(Gen *gen, DType dtype, LLVMValueRef value)
{
    if (gen_has_fp8(gen, dtype)) return decode_fp8(gen, dtype, value);
    LLVMBuilderRef at = gen->builder;
    SmallFloat kind = small_float(dtype);
    LLVMValueRef word = LLVMBuildZExt(at, value, gen->types.i32, "");
    LLVMValueRef magnitude = and_word(gen, word, (1u << (kind.bits - 1)) - 1);
    LLVMValueRef sign = LLVMBuildShl(at, and_word(gen, word, 1u << (kind.bits - 1)),
                                     gen_i32(gen, 32 - kind.bits), "");
    /* In place of the f32's fields the number is too small by a power of two, subnormal or not. */
    LLVMValueRef fields = LLVMBuildShl(at, magnitude, gen_i32(gen, 23 - kind.mantissa), "");
    uint32_t scale = (uint32_t)(127 + 127 - bias_of(&kind)) << 23;
    LLVMValueRef scaled =
        LLVMBuildFMul(at, f32_of(gen, fields), f32_of(gen, gen_i32(gen, scale)), "");
    LLVMValueRef special = LLVMBuildOr(at, fields, gen_i32(gen, 0x7f800000), "");
    LLVMIntPredicate above = kind.most == kind.infinity && kind.bits == 8 ? LLVMIntUGT : LLVMIntUGE;
    LLVMValueRef is_special = LLVMBuildICmp(at, above, magnitude, gen_i32(gen, kind.infinity), "");
    LLVMValueRef bits = LLVMBuildSelect(at, is_special, special, word_of(gen, scaled), "");
    return f32_of(gen, LLVMBuildOr(at, bits, sign, ""));
}

static LLVMValueRef encode_small(Gen *gen, DType dtype, LLVMValueRef value)
{
    if (gen_has_fp8(gen, dtype)) return encode_fp8(gen, dtype, value);
    LLVMBuilderRef at = gen->builder;
    SmallFloat kind = small_float(dtype);
    int bias = bias_of(&kind), shift = 23 - kind.mantissa;
    LLVMValueRef word = word_of(gen, value), magnitude = and_word(gen, word, 0x7fffffff);
    LLVMValueRef rebias = gen_i32(gen, (127 - bias) << kind.mantissa);
    LLVMValueRef normal = LLVMBuildSub(at, round_word(gen, magnitude, shift, false), rebias, "");
    /* Below the smallest normal number: adding a power of two whose last place is the subnormals'
     * step rounds. */
    LLVMValueRef step = gen_i32(gen, (int64_t)(127 + 1 - bias + shift) << 23);
    LLVMValueRef sum = LLVMBuildFAdd(at, f32_of(gen, magnitude), f32_of(gen, step), "");
    LLVMValueRef tiny = LLVMBuildSub(at, word_of(gen, sum), step, "");
    LLVMValueRef lowest = gen_i32(gen, (int64_t)(127 + 1 - bias) << 23);
    LLVMValueRef is_tiny = LLVMBuildICmp(at, LLVMIntULT, magnitude, lowest, "");
    LLVMValueRef bits = LLVMBuildSelect(at, is_tiny, tiny, normal, "");
    bits = gen_intrinsic2(gen, "llvm.umin", bits, gen_i32(gen, kind.most));
    bits = LLVMBuildSelect(at, is_nan(gen, value), gen_i32(gen, kind.nan), bits, "");
    LLVMValueRef sign = LLVMBuildLShr(at, word, gen_i32(gen, 32 - kind.bits), "");
    bits = LLVMBuildOr(at, bits, and_word(gen, sign, 1u << (kind.bits - 1)), "");
    return LLVMBuildTrunc(at, bits, LLVMIntTypeInContext(gen->context, (unsigned)kind.bits), "");
}

static LLVMValueRef decode_bf16(Gen *gen, LLVMValueRef value)
{
    LLVMValueRef word = LLVMBuildZExt(gen->builder, value, gen->types.i32, "");
    return f32_of(gen, LLVMBuildShl(gen->builder, word, gen_i32(gen, 16), ""));
}

static LLVMValueRef encode_bf16(Gen *gen, LLVMValueRef value)
{
    LLVMValueRef rounded = round_word(gen, word_of(gen, value), 16, false);
    rounded = LLVMBuildSelect(gen->builder, is_nan(gen, value), gen_i32(gen, 0x7fff), rounded, "");
    return LLVMBuildTrunc(gen->builder, rounded, gen->types.i16, "");
}

static LLVMValueRef encode_tf32(Gen *gen, LLVMValueRef value)
{
    LLVMValueRef rounded = f32_of(gen, round_word(gen, word_of(gen, value), 13, true));
    return LLVMBuildSelect(gen->builder, is_nan(gen, value), f32_of(gen, gen_i32(gen, 0x7fffe000)),
                           rounded, "");
}

/* ---- powers of two: the exponent of an f32, in its place ---- */

static LLVMValueRef decode_scale(Gen *gen, LLVMValueRef value)
{
    LLVMBuilderRef at = gen->builder;
    LLVMValueRef code = LLVMBuildZExt(at, value, gen->types.i32, "");
    LLVMValueRef word = LLVMBuildShl(at, code, gen_i32(gen, 23), "");
    /* The least is subnormal; the greatest is NaN, where the f32 would be infinite. */
    LLVMValueRef next =
        LLVMBuildAnd(at, LLVMBuildAdd(at, code, gen_i32(gen, 1), ""), gen_i32(gen, 0xff), "");
    LLVMValueRef ends = LLVMBuildICmp(at, LLVMIntULE, next, gen_i32(gen, 1), "");
    LLVMValueRef half = LLVMBuildOr(at, word, gen_i32(gen, 0x400000), "");
    return f32_of(gen, LLVMBuildSelect(at, ends, half, word, ""));
}

/* The next one that is not less than the number's size. */
static LLVMValueRef encode_scale(Gen *gen, LLVMValueRef value)
{
    LLVMBuilderRef at = gen->builder;
    LLVMValueRef size = and_word(gen, word_of(gen, value), 0x7fffffff);
    LLVMValueRef above = LLVMBuildAdd(at, size, gen_i32(gen, 0x7fffff), "");
    LLVMValueRef code = LLVMBuildLShr(at, above, gen_i32(gen, 23), "");
    LLVMValueRef least = LLVMBuildICmp(at, LLVMIntULE, size, gen_i32(gen, 0x400000), "");
    code = LLVMBuildSelect(at, least, gen_i32(gen, 0), code, "");
    code = gen_intrinsic2(gen, "llvm.umin", code, gen_i32(gen, 0xfe));
    code = LLVMBuildSelect(at, is_nan(gen, value), gen_i32(gen, 0xff), code, "");
    return LLVMBuildTrunc(at, code, gen->types.i8, "");
}

/* ---- floats ---- */

LLVMValueRef gen_to_f32(Gen *gen, DType from, LLVMValueRef value)
{
    if (from == DTYPE_f32 || from == DTYPE_tf32) return value;
    if (gen_is_native(gen, from)) return LLVMBuildFPExt(gen->builder, value, gen->types.f32, "");
    if (from == DTYPE_f8e8m0) return decode_scale(gen, value);
    return from == DTYPE_bf16 ? decode_bf16(gen, value) : decode_small(gen, from, value);
}

LLVMValueRef gen_from_f32(Gen *gen, DType to, LLVMValueRef value)
{
    if (to == DTYPE_f32) return value;
    if (to == DTYPE_tf32) return encode_tf32(gen, value);
    if (gen_is_native(gen, to))
        return LLVMBuildFPTrunc(gen->builder, value, gen_dtype(gen, to), "");
    if (to == DTYPE_f8e8m0) return encode_scale(gen, value);
    return to == DTYPE_bf16 ? encode_bf16(gen, value) : encode_small(gen, to, value);
}

LLVMValueRef gen_to_f64(Gen *gen, DType from, LLVMValueRef value)
{
    if (from == DTYPE_f64) return value;
    return LLVMBuildFPExt(gen->builder, gen_to_f32(gen, from, value), gen->types.f64, "");
}

/* An f32 whose last bit is set if the f64 does not fit: rounding that once more is rounding once.
 */
static LLVMValueRef f32_to_odd(Gen *gen, LLVMValueRef value)
{
    LLVMBuilderRef at = gen->builder;
    LLVMValueRef near = LLVMBuildFPTrunc(at, value, gen->types.f32, "");
    LLVMValueRef back = LLVMBuildFPExt(at, near, gen->types.f64, ""), word = word_of(gen, near);
    LLVMValueRef fits = LLVMBuildFCmp(at, LLVMRealUEQ, value, back, "");
    LLVMValueRef is_odd = LLVMBuildTrunc(at, word, gen->types.i1, "");
    LLVMValueRef above = LLVMBuildFCmp(at, LLVMRealOGT, gen_intrinsic1(gen, "llvm.fabs", value),
                                       gen_intrinsic1(gen, "llvm.fabs", back), "");
    LLVMValueRef step = LLVMBuildSelect(at, above, gen_i32(gen, 1), gen_i32(gen, -1), "");
    LLVMValueRef keeps = LLVMBuildOr(at, fits, is_odd, "");
    return f32_of(gen, LLVMBuildSelect(at, keeps, word, LLVMBuildAdd(at, word, step, ""), ""));
}

LLVMValueRef gen_from_f64(Gen *gen, DType to, LLVMValueRef value)
{
    if (to == DTYPE_f64) return value;
    if (to == DTYPE_f32 || (to == DTYPE_f16 && gen->machine->has_ptx))
        return LLVMBuildFPTrunc(gen->builder, value, gen_dtype(gen, to), "");
    return gen_from_f32(gen, to, f32_to_odd(gen, value));
}

static LLVMValueRef float_to_float(Gen *gen, DType from, DType to, LLVMValueRef value)
{
    if (from == to) return value;
    if (from == DTYPE_f64) return gen_from_f64(gen, to, value);
    return to == DTYPE_f64 ? gen_to_f64(gen, from, value)
                           : gen_from_f32(gen, to, gen_to_f32(gen, from, value));
}

/* ---- between floats and integers ---- */

/* A 64-bit integer of more than 53 bits gets its lost bits gathered in the last one that f64 holds.
 */
static LLVMValueRef gather_low_bits(Gen *gen, bool is_signed, LLVMValueRef value)
{
    LLVMBuilderRef at = gen->builder;
    LLVMTypeRef i64 = gen->types.i64;
    LLVMValueRef size = value;
    if (is_signed)
        size = gen_intrinsic(gen, "llvm.abs", 1, &i64, 2,
                             (LLVMValueRef[]){value, gen_int(gen, gen->types.i1, 0)});
    LLVMValueRef is_large = LLVMBuildICmp(at, LLVMIntUGE, size, gen_int(gen, i64, 1ll << 53), "");
    LLVMValueRef low = LLVMBuildAnd(at, size, gen_int(gen, i64, 0x7ff), "");
    LLVMValueRef lost = LLVMBuildICmp(at, LLVMIntNE, low, gen_int(gen, i64, 0), "");
    LLVMValueRef sticky =
        LLVMBuildShl(at, LLVMBuildZExt(at, lost, i64, ""), gen_int(gen, i64, 11), "");
    LLVMValueRef high = LLVMBuildAnd(at, size, gen_int(gen, i64, ~0x7ffll), "");
    LLVMValueRef gathered =
        LLVMBuildSelect(at, is_large, LLVMBuildOr(at, high, sticky, ""), size, "");
    if (!is_signed) return gathered;
    LLVMValueRef negative = LLVMBuildICmp(at, LLVMIntSLT, value, gen_int(gen, i64, 0), "");
    return LLVMBuildSelect(at, negative, LLVMBuildNeg(at, gathered, ""), gathered, "");
}

static LLVMValueRef int_to_llvm_float(Gen *gen, bool is_signed, LLVMTypeRef type,
                                      LLVMValueRef value)
{
    return is_signed ? LLVMBuildSIToFP(gen->builder, value, type, "")
                     : LLVMBuildUIToFP(gen->builder, value, type, "");
}

/* An f32 that is rounded toward zero, with the last bit set if that took bits away: rounding it
 * once more is rounding once. */
static LLVMValueRef int_to_odd(Gen *gen, bool is_signed, LLVMValueRef value)
{
    LLVMBuilderRef at = gen->builder;
    LLVMValueRef near = gen_intrinsic(gen, is_signed ? "llvm.nvvm.i2f.rz" : "llvm.nvvm.ui2f.rz", 0,
                                      NULL, 1, &value);
    LLVMValueRef back =
        gen_intrinsic(gen, is_signed ? "llvm.nvvm.f2i.rz" : "llvm.nvvm.f2ui.rz", 0, NULL, 1, &near);
    LLVMValueRef lost = LLVMBuildICmp(at, LLVMIntNE, back, value, "");
    LLVMValueRef last = LLVMBuildZExt(at, lost, gen->types.i32, "");
    return f32_of(gen, LLVMBuildOr(at, word_of(gen, near), last, ""));
}

static LLVMValueRef int_to_float(Gen *gen, DType from, DType to, LLVMValueRef value)
{
    bool is_signed = dtype_is_signed(from);
    if (to == DTYPE_f32 || to == DTYPE_f64)
        return int_to_llvm_float(gen, is_signed, gen_dtype(gen, to), value);
    /* The ranges of f16 and the 8-bit floats end before f32 rounds an integer. */
    if (dtype_bits(from) <= 16 || (to != DTYPE_bf16 && to != DTYPE_tf32 && to != DTYPE_f8e8m0))
        return gen_from_f32(gen, to, int_to_llvm_float(gen, is_signed, gen->types.f32, value));
    if (gen->machine->has_ptx && to == DTYPE_bf16 && target_has(gen->target, HAS_BF16_CAST))
        return int_to_llvm_float(gen, is_signed, gen_dtype(gen, to), value);
    if (gen->machine->has_ptx && dtype_bits(from) == 32)
        return gen_from_f32(gen, to, int_to_odd(gen, is_signed, value));
    if (dtype_bits(from) == 64) value = gather_low_bits(gen, is_signed, value);
    return gen_from_f64(gen, to, int_to_llvm_float(gen, is_signed, gen->types.f64, value));
}

/* An i8 in the range of fewer bits. */
static LLVMValueRef clamp_to(Gen *gen, DType to, LLVMValueRef value)
{
    const bool is_signed = dtype_is_signed(to);
    const int bits = dtype_bits(to) - is_signed;
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef most[2] = {value, gen_int(gen, type, (1 << bits) - 1)};
    value = gen_intrinsic(gen, is_signed ? "llvm.smin" : "llvm.umin", 1, &type, 2, most);
    if (!is_signed) return value;
    LLVMValueRef least[2] = {value, gen_int(gen, type, -(1 << bits))};
    return gen_intrinsic(gen, "llvm.smax", 1, &type, 2, least);
}

/* Toward zero, into the range, NaN is 0. Less than a byte by way of one: LLVM 22's conversions for
 * NVPTX straight to one bit give other numbers. */
static LLVMValueRef float_to_int(Gen *gen, DType from, DType to, LLVMValueRef value)
{
    bool is_signed = dtype_is_signed(to);
    if (from != DTYPE_f64) value = gen_to_f32(gen, from, value);
    if (gen->machine->has_ptx && from != DTYPE_f64 && dtype_bits(to) == 32)
        return gen_intrinsic(gen, is_signed ? "llvm.nvvm.f2i.rz" : "llvm.nvvm.f2ui.rz", 0, NULL, 1,
                             &value);
    const bool is_narrow = dtype_bits(to) < 8;
    LLVMTypeRef type = gen_dtype(gen, to),
                types[2] = {is_narrow ? gen->types.i8 : type, LLVMTypeOf(value)};
    value =
        gen_intrinsic(gen, is_signed ? "llvm.fptosi.sat" : "llvm.fptoui.sat", 2, types, 1, &value);
    return is_narrow ? LLVMBuildTrunc(gen->builder, clamp_to(gen, to, value), type, "") : value;
}

static LLVMValueRef to_boolean(Gen *gen, DType from, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (!dtype_is_float(from))
        return LLVMBuildICmp(gen->builder, LLVMIntNE, value, gen_int(gen, type, 0), "");
    if (from != DTYPE_f64) value = gen_to_f32(gen, from, value);
    return LLVMBuildFCmp(gen->builder, LLVMRealUNE, value, LLVMConstReal(LLVMTypeOf(value), 0), "");
}

static LLVMValueRef int_to_int(Gen *gen, DType from, DType to, LLVMValueRef value)
{
    LLVMTypeRef type = gen_dtype(gen, to);
    if (dtype_bits(to) < dtype_bits(from)) return LLVMBuildTrunc(gen->builder, value, type, "");
    if (dtype_bits(to) == dtype_bits(from)) return value;
    return dtype_is_signed(from) ? LLVMBuildSExt(gen->builder, value, type, "")
                                 : LLVMBuildZExt(gen->builder, value, type, "");
}

LLVMValueRef gen_cast(Gen *gen, DType from, DType to, LLVMValueRef value)
{
    if (from == to) return value;
    if (to == DTYPE_b1) return to_boolean(gen, from, value);
    if (dtype_is_float(from))
        return dtype_is_float(to) ? float_to_float(gen, from, to, value)
                                  : float_to_int(gen, from, to, value);
    return dtype_is_float(to) ? int_to_float(gen, from, to, value)
                              : int_to_int(gen, from, to, value);
}
