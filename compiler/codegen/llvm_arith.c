/* llvm_arith.c: arithmetic on scalars. What LLVM leaves undefined (division by zero, wide shifts)
 * gets the meaning that ops.def gives it; float types that a machine lacks are computed in f32 and
 * rounded. */
#include "codegen/llvm.h"
#include "codegen/quirks.h"

#include <string.h>

static DType operand_dtype(const Op *op)
{
    return operand(op, a)->type->dtype;
}

/* ---- floats: widened where the machine does not compute in the type ---- */

typedef LLVMValueRef FloatRule(Gen *gen, LLVMValueRef *operands);

static void emit_float_as(Gen *gen, const Op *op, FloatRule *rule, bool is_native)
{
    LLVMValueRef operands[3];
    DType dtype = op->results[0].type->dtype;
    for (int i = 0; i < op->operand_count; i++) {
        operands[i] = gen_operand_at(gen, op, i);
        if (!is_native) operands[i] = gen_to_f32(gen, dtype, operands[i]);
    }
    LLVMValueRef value = rule(gen, operands);
    gen_define_result(gen, op, is_native ? value : gen_from_f32(gen, dtype, value));
}

static void emit_float(Gen *gen, const Op *op, FloatRule *rule)
{
    emit_float_as(gen, op, rule, gen_is_native(gen, op->results[0].type->dtype));
}

static LLVMValueRef float_add(Gen *gen, LLVMValueRef *x)
{
    return LLVMBuildFAdd(gen->builder, x[0], x[1], "");
}

static LLVMValueRef float_sub(Gen *gen, LLVMValueRef *x)
{
    return LLVMBuildFSub(gen->builder, x[0], x[1], "");
}

static LLVMValueRef float_mul(Gen *gen, LLVMValueRef *x)
{
    return LLVMBuildFMul(gen->builder, x[0], x[1], "");
}

static LLVMValueRef float_div(Gen *gen, LLVMValueRef *x)
{
    return LLVMBuildFDiv(gen->builder, x[0], x[1], "");
}

static LLVMValueRef float_min(Gen *gen, LLVMValueRef *x)
{
    return gen_intrinsic2(gen, "llvm.minimumnum", x[0], x[1]);
}

static LLVMValueRef float_max(Gen *gen, LLVMValueRef *x)
{
    return gen_intrinsic2(gen, "llvm.maximumnum", x[0], x[1]);
}

static LLVMValueRef float_sqrt(Gen *gen, LLVMValueRef *x)
{
    return gen_intrinsic1(gen, "llvm.sqrt", x[0]);
}

/* Toward zero. In a host region without a library: numbers beyond 2^63 do not occur there. */
static LLVMValueRef float_truncate(Gen *gen, LLVMValueRef x)
{
    if (gen->machine->has_fma) return gen_intrinsic1(gen, "llvm.trunc", x);
    LLVMTypeRef types[2] = {gen->types.i64, LLVMTypeOf(x)};
    LLVMValueRef whole = gen_intrinsic(gen, "llvm.fptosi.sat", 2, types, 1, &x);
    return LLVMBuildSIToFP(gen->builder, whole, types[1], "");
}

/* a - trunc(a / b) * b, as the GPU does; 16-bit floats in f32 everywhere. */
static LLVMValueRef float_rem(Gen *gen, LLVMValueRef *x)
{
    LLVMValueRef quotient = float_truncate(gen, LLVMBuildFDiv(gen->builder, x[0], x[1], ""));
    if (!gen->machine->has_fma)
        return LLVMBuildFSub(gen->builder, x[0], LLVMBuildFMul(gen->builder, quotient, x[1], ""),
                             "");
    LLVMTypeRef type = LLVMTypeOf(x[0]);
    LLVMValueRef arguments[3] = {LLVMBuildFNeg(gen->builder, quotient, ""), x[1], x[0]};
    return gen_intrinsic(gen, "llvm.fma", 1, &type, 3, arguments);
}

/* ---- integers ---- */

typedef LLVMValueRef IntRule(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b);

#define SIGNLESS(name, build)                                                                      \
    static LLVMValueRef int_##name(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)       \
    {                                                                                              \
        (void)is_signed;                                                                           \
        return build(gen->builder, a, b, "");                                                      \
    }
SIGNLESS(add, LLVMBuildAdd)
SIGNLESS(sub, LLVMBuildSub)
SIGNLESS(mul, LLVMBuildMul)
SIGNLESS(and, LLVMBuildAnd)
SIGNLESS(or, LLVMBuildOr)
SIGNLESS(xor, LLVMBuildXor)
/* Of {positive} divisions nothing is left undefined: neither side has a sign. */
SIGNLESS(quotient, LLVMBuildUDiv)
SIGNLESS(remainder, LLVMBuildURem)
#undef SIGNLESS

static void emit_int(Gen *gen, const Op *op, IntRule *rule)
{
    const bool is_signed = dtype_is_signed(operand_dtype(op));
    if (op_int(op, ATTR_positive, 0))
        rule = op->code == OP_rem || op->code == OP_floormod ? int_remainder : int_quotient;
    gen_define_result(gen, op,
                      rule(gen, is_signed, gen_operand(gen, op, a), gen_operand(gen, op, b)));
}

static void emit_number(Gen *gen, const Op *op, IntRule *int_rule, FloatRule *float_rule)
{
    if (dtype_is_float(op->results[0].type->dtype))
        emit_float(gen, op, float_rule);
    else
        emit_int(gen, op, int_rule);
}

/* A division that LLVM defines: `safe` is b, or 1 where b is zero or the quotient overflows (whose
 * quotient by 1 and remainder 0 are right). One of numbers with a sign, by no constant, is one of
 * their magnitudes, which does not overflow: so what it divides by does not depend on what is
 * divided, and the assembler has one reciprocal for all that divide by it. Of 64 bits it has a
 * function, which looks at signs itself. */
typedef struct Division {
    LLVMValueRef a, b, safe, by_zero;
    bool is_signed, by_magnitudes;
} Division;

static LLVMValueRef is_below_zero(Gen *gen, LLVMValueRef a)
{
    return LLVMBuildICmp(gen->builder, LLVMIntSLT, a, gen_int(gen, LLVMTypeOf(a), 0), "");
}

static LLVMValueRef negated_where(Gen *gen, LLVMValueRef condition, LLVMValueRef a)
{
    return LLVMBuildSelect(gen->builder, condition, LLVMBuildNeg(gen->builder, a, ""), a, "");
}

static LLVMValueRef magnitude(Gen *gen, LLVMValueRef a)
{
    return negated_where(gen, is_below_zero(gen, a), a);
}

static Division division_new(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef zero = gen_int(gen, type, 0), one = gen_int(gen, type, 1);
    LLVMValueRef by_zero = LLVMBuildICmp(gen->builder, LLVMIntEQ, b, zero, "");
    LLVMValueRef unsafe = by_zero, divisor = b;
    const unsigned width = LLVMGetIntTypeWidth(type);
    const bool by_magnitudes = is_signed && width <= 32 && !LLVMIsConstant(b);
    if (by_magnitudes) {
        divisor = magnitude(gen, b);
    } else if (is_signed) {
        LLVMValueRef lowest = LLVMConstInt(type, 1ull << (width - 1), false);
        LLVMValueRef is_lowest = LLVMBuildICmp(gen->builder, LLVMIntEQ, a, lowest, "");
        LLVMValueRef is_minus =
            LLVMBuildICmp(gen->builder, LLVMIntEQ, b, gen_int(gen, type, -1), "");
        LLVMValueRef overflows = LLVMBuildAnd(gen->builder, is_lowest, is_minus, "");
        unsafe = LLVMBuildOr(gen->builder, by_zero, overflows, "");
    }
    LLVMValueRef safe = LLVMBuildSelect(gen->builder, unsafe, one, divisor, "");
    return (Division){a, b, safe, by_zero, is_signed, by_magnitudes};
}

static LLVMValueRef division_quotient(Gen *gen, const Division *it)
{
    LLVMBuilderRef at = gen->builder;
    if (it->by_magnitudes) {
        LLVMValueRef signs = LLVMBuildXor(at, it->a, it->b, "");
        LLVMValueRef quotient = LLVMBuildUDiv(at, magnitude(gen, it->a), it->safe, "");
        return negated_where(gen, is_below_zero(gen, signs), quotient);
    }
    return it->is_signed ? LLVMBuildSDiv(at, it->a, it->safe, "")
                         : LLVMBuildUDiv(at, it->a, it->safe, "");
}

static LLVMValueRef division_remainder(Gen *gen, const Division *it)
{
    LLVMBuilderRef at = gen->builder;
    if (it->by_magnitudes) {
        LLVMValueRef rest = LLVMBuildURem(at, magnitude(gen, it->a), it->safe, "");
        return negated_where(gen, is_below_zero(gen, it->a), rest);
    }
    return it->is_signed ? LLVMBuildSRem(at, it->a, it->safe, "")
                         : LLVMBuildURem(at, it->a, it->safe, "");
}

static LLVMValueRef or_by_zero(Gen *gen, const Division *it, LLVMValueRef by_zero,
                               LLVMValueRef otherwise)
{
    return LLVMBuildSelect(gen->builder, it->by_zero, by_zero, otherwise, "");
}

static LLVMValueRef int_div(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    Division it = division_new(gen, is_signed, a, b);
    return or_by_zero(gen, &it, gen_int(gen, LLVMTypeOf(a), -1), division_quotient(gen, &it));
}

static LLVMValueRef int_rem(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    Division it = division_new(gen, is_signed, a, b);
    return or_by_zero(gen, &it, a, division_remainder(gen, &it));
}

/* True where the quotient toward zero lies above the one toward minus infinity. */
static LLVMValueRef rounds_down(Gen *gen, const Division *it, LLVMValueRef remainder)
{
    LLVMValueRef zero = gen_int(gen, LLVMTypeOf(remainder), 0);
    LLVMValueRef mixed = LLVMBuildXor(gen->builder, remainder, it->b, "");
    LLVMValueRef differs = LLVMBuildICmp(gen->builder, LLVMIntSLT, mixed, zero, "");
    LLVMValueRef inexact = LLVMBuildICmp(gen->builder, LLVMIntNE, remainder, zero, "");
    return LLVMBuildAnd(gen->builder, differs, inexact, "");
}

static bool is_power_of_two(LLVMValueRef b, unsigned *shift)
{
    if (LLVMIsAConstantInt(b) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(b)) > 64) return false;
    long long value = LLVMConstIntGetSExtValue(b);
    if (!bits_is_power(value)) return false;
    *shift = (unsigned)__builtin_ctzll((unsigned long long)value);
    return true;
}

static LLVMValueRef int_floordiv(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    unsigned shift;
    if (!is_signed) return int_div(gen, false, a, b);
    if (is_power_of_two(b, &shift))
        return LLVMBuildAShr(gen->builder, a, gen_int(gen, LLVMTypeOf(a), shift), "");
    Division it = division_new(gen, true, a, b);
    LLVMValueRef quotient = division_quotient(gen, &it);
    LLVMValueRef down = rounds_down(gen, &it, division_remainder(gen, &it));
    LLVMValueRef all_ones = gen_int(gen, LLVMTypeOf(a), -1);
    LLVMValueRef lower = LLVMBuildAdd(gen->builder, quotient, all_ones, "");
    return or_by_zero(gen, &it, all_ones, LLVMBuildSelect(gen->builder, down, lower, quotient, ""));
}

static LLVMValueRef int_floormod(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    unsigned shift;
    if (!is_signed) return int_rem(gen, false, a, b);
    if (is_power_of_two(b, &shift))
        return LLVMBuildAnd(gen->builder, a, gen_int(gen, LLVMTypeOf(a), (1ll << shift) - 1), "");
    Division it = division_new(gen, true, a, b);
    LLVMValueRef remainder = division_remainder(gen, &it);
    LLVMValueRef down = rounds_down(gen, &it, remainder);
    LLVMValueRef higher = LLVMBuildAdd(gen->builder, remainder, it.b, "");
    return or_by_zero(gen, &it, a, LLVMBuildSelect(gen->builder, down, higher, remainder, ""));
}

static LLVMValueRef int_min(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    return gen_intrinsic2(gen, is_signed ? "llvm.smin" : "llvm.umin", a, b);
}

static LLVMValueRef int_max(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    return gen_intrinsic2(gen, is_signed ? "llvm.smax" : "llvm.umax", a, b);
}

static LLVMValueRef shift_fits(Gen *gen, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(b);
    return LLVMBuildICmp(gen->builder, LLVMIntULT, b, gen_int(gen, type, LLVMGetIntTypeWidth(type)),
                         "");
}

/* 0 where b is not less than the width. */
static LLVMValueRef shift_logical(Gen *gen, ShiftBuilder *build, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    if (LLVMGetIntTypeWidth(type) == 64 && LLVMIsAConstantInt(b) == NULL)
        return quirk_shift_wide(gen, build, a, b);
    LLVMValueRef zero = gen_int(gen, type, 0), fits = shift_fits(gen, b);
    LLVMValueRef amount = LLVMBuildSelect(gen->builder, fits, b, zero, "");
    return LLVMBuildSelect(gen->builder, fits, build(gen->builder, a, amount, ""), zero, "");
}

static LLVMValueRef int_shl(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    (void)is_signed;
    return shift_logical(gen, LLVMBuildShl, a, b);
}

static LLVMValueRef int_shr(Gen *gen, bool is_signed, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    if (!is_signed) return shift_logical(gen, LLVMBuildLShr, a, b);
    LLVMValueRef most = gen_int(gen, type, LLVMGetIntTypeWidth(type) - 1);
    return LLVMBuildAShr(gen->builder, a, gen_intrinsic2(gen, "llvm.umin", b, most), "");
}

/* ---- the handlers ---- */

#define NUMBER(name)                                                                               \
    void emit_##name(Gen *gen, const Op *op)                                                       \
    {                                                                                              \
        emit_number(gen, op, int_##name, float_##name);                                            \
    }
#define INTEGER(name)                                                                              \
    void emit_##name(Gen *gen, const Op *op)                                                       \
    {                                                                                              \
        emit_int(gen, op, int_##name);                                                             \
    }
/* exp(x), of which nothing else is asked, as the product that it is of what the instruction gives
 * and a power of two; NULL: it is another number. */
static LLVMValueRef power_of(Gen *gen, const Value *value)
{
    const Op *op = value->op;
    if (!gen->machine->has_ptx || op == NULL || op->code != OP_approx || value->use_count != 1 ||
        value->type->kind != TYPE_SCALAR)
        return NULL;
    LLVMValueRef product = gen_use(gen, value);
    return LLVMIsABinaryOperator(product) && LLVMGetInstructionOpcode(product) == LLVMFMul ? product
                                                                                           : NULL;
}

/* A sum with it, or a difference, is an fma, of the same bits: that product is exact. */
static bool emit_sum_of_power(Gen *gen, const Op *op, bool is_difference)
{
    LLVMValueRef first = power_of(gen, operand(op, a)),
                 product = first ? first : power_of(gen, operand(op, b));
    if (product == NULL || gen->kernel->rounds_products) return false;
    LLVMValueRef rest = first ? gen_operand(gen, op, b) : gen_operand(gen, op, a);
    LLVMValueRef x[] = {LLVMGetOperand(product, 0), LLVMGetOperand(product, 1), rest};
    const int negated = first ? 2 : 0;
    if (is_difference) x[negated] = LLVMBuildFNeg(gen->builder, x[negated], "");
    LLVMTypeRef type = LLVMTypeOf(rest);
    gen_define_result(gen, op, gen_intrinsic(gen, "llvm.fma", 1, &type, 3, x));
    return true;
}

void emit_add(Gen *gen, const Op *op)
{
    if (!emit_sum_of_power(gen, op, false)) emit_number(gen, op, int_add, float_add);
}

void emit_sub(Gen *gen, const Op *op)
{
    if (!emit_sum_of_power(gen, op, true)) emit_number(gen, op, int_sub, float_sub);
}

NUMBER(mul)
NUMBER(div)
NUMBER(min)
NUMBER(max)
INTEGER(floordiv)
INTEGER(floormod)
INTEGER(and)
INTEGER(or)
INTEGER(xor)
INTEGER(shl)
INTEGER(shr)

void emit_rem(Gen *gen, const Op *op)
{
    DType dtype = op->results[0].type->dtype;
    if (dtype_is_float(dtype))
        emit_float_as(gen, op, float_rem, dtype_bits(dtype) >= 32);
    else
        emit_int(gen, op, int_rem);
}

/* The sign of a float that is held as an integer is its top bit. */
static LLVMValueRef sign_bit(LLVMTypeRef type)
{
    return LLVMConstInt(type, 1ull << (LLVMGetIntTypeWidth(type) - 1), false);
}

void emit_neg(Gen *gen, const Op *op)
{
    LLVMValueRef a = gen_operand(gen, op, a), result;
    LLVMTypeRef type = LLVMTypeOf(a);
    if (!dtype_is_float(operand_dtype(op)))
        result = LLVMBuildNeg(gen->builder, a, "");
    else if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        result = LLVMBuildXor(gen->builder, a, sign_bit(type), "");
    else
        result = LLVMBuildFNeg(gen->builder, a, "");
    gen_define_result(gen, op, result);
}

void emit_not(Gen *gen, const Op *op)
{
    gen_define_result(gen, op, LLVMBuildNot(gen->builder, gen_operand(gen, op, a), ""));
}

void emit_abs(Gen *gen, const Op *op)
{
    LLVMValueRef a = gen_operand(gen, op, a), result = a;
    LLVMTypeRef type = LLVMTypeOf(a);
    DType dtype = operand_dtype(op);
    if (dtype_is_signed(dtype))
        result = gen_intrinsic(gen, "llvm.abs", 1, &type, 2,
                               (LLVMValueRef[]){a, gen_int(gen, gen->types.i1, 0)});
    else if (dtype_is_float(dtype) && LLVMGetTypeKind(type) == LLVMIntegerTypeKind)
        result = LLVMBuildAnd(gen->builder, a, LLVMConstNot(sign_bit(type)), "");
    else if (dtype_is_float(dtype))
        result = gen_intrinsic1(gen, "llvm.fabs", a);
    gen_define_result(gen, op, result);
}

void emit_sqrt(Gen *gen, const Op *op)
{
    emit_float(gen, op, float_sqrt);
}

/* Where the intrinsics would call a library: by way of an integer, as far as there are fractions.
 */
static LLVMValueRef whole_by_integer(Gen *gen, LLVMValueRef x, LLVMRealPredicate beyond,
                                     double step)
{
    LLVMBuilderRef at = gen->builder;
    LLVMTypeRef type = LLVMTypeOf(x);
    LLVMValueRef integer = LLVMBuildFPToSI(at, x, gen->types.i64, "");
    LLVMValueRef whole = LLVMBuildSIToFP(at, integer, type, "");
    LLVMValueRef next = LLVMBuildFAdd(at, whole, LLVMConstReal(type, step), "");
    whole = LLVMBuildSelect(at, LLVMBuildFCmp(at, beyond, whole, x, ""), next, whole, "");
    whole = gen_intrinsic(gen, "llvm.copysign", 1, &type, 2, (LLVMValueRef[]){whole, x});
    LLVMValueRef small = LLVMBuildFCmp(at, LLVMRealOLT, gen_intrinsic1(gen, "llvm.fabs", x),
                                       LLVMConstReal(type, 0x1p52), "");
    return LLVMBuildSelect(at, small, whole, x, "");
}

#define WHOLE(name, intrinsic, beyond, step)                                                       \
    static LLVMValueRef float_##name(Gen *gen, LLVMValueRef *x)                                    \
    {                                                                                              \
        if (!gen->machine->has_fma && (step) < 2)                                                  \
            return whole_by_integer(gen, x[0], LLVMReal##beyond, step);                            \
        return gen_intrinsic1(gen, intrinsic, x[0]);                                               \
    }                                                                                              \
    void emit_##name(Gen *gen, const Op *op) /* exact, so f32 serves the 16-bit floats */          \
    {                                                                                              \
        emit_float_as(gen, op, float_##name, dtype_bits(op->results[0].type->dtype) >= 32);        \
    }
WHOLE(floor, "llvm.floor", OGT, -1)
WHOLE(ceil, "llvm.ceil", OLT, 1)
WHOLE(trunc, "llvm.trunc", PredicateFalse, 0)
WHOLE(round, "llvm.roundeven", PredicateFalse, 2)
#undef WHOLE

/* f64 rounds the exact product of two 16-bit floats and the sum to odd, so that the second
 * rounding, to the 16-bit type, gives what one rounding would. */
static LLVMValueRef sum_to_odd(Gen *gen, LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef at = gen->builder;
    LLVMTypeRef i64 = gen->types.i64;
    LLVMValueRef sum = LLVMBuildFAdd(at, a, b, ""), b_part = LLVMBuildFSub(at, sum, a, "");
    LLVMValueRef a_error = LLVMBuildFSub(at, a, LLVMBuildFSub(at, sum, b_part, ""), "");
    LLVMValueRef error = LLVMBuildFAdd(at, a_error, LLVMBuildFSub(at, b, b_part, ""), "");
    LLVMValueRef zero = LLVMConstReal(gen->types.f64, 0), bits = gen_bitcast(gen, sum, i64);
    LLVMValueRef inexact = LLVMBuildFCmp(at, LLVMRealONE, error, zero, "");
    LLVMValueRef even = LLVMBuildICmp(
        at, LLVMIntEQ, LLVMBuildAnd(at, bits, gen_int(gen, i64, 1), ""), gen_int(gen, i64, 0), "");
    LLVMValueRef same =
        LLVMBuildICmp(at, LLVMIntEQ, LLVMBuildFCmp(at, LLVMRealOGT, error, zero, ""),
                      LLVMBuildFCmp(at, LLVMRealOGT, sum, zero, ""), "");
    LLVMValueRef step = LLVMBuildSelect(at, same, gen_int(gen, i64, 1), gen_int(gen, i64, -1), "");
    LLVMValueRef moved = LLVMBuildAdd(at, bits, step, "");
    LLVMValueRef odd = LLVMBuildSelect(at, LLVMBuildAnd(at, inexact, even, ""), moved, bits, "");
    return gen_bitcast(gen, odd, gen->types.f64);
}

void emit_fma(Gen *gen, const Op *op)
{
    LLVMValueRef x[3];
    DType dtype = op->results[0].type->dtype;
    for (int i = 0; i < 3; i++) x[i] = gen_operand_at(gen, op, i);
    if (!dtype_is_float(dtype)) {
        gen_define_result(
            gen, op,
            LLVMBuildAdd(gen->builder, LLVMBuildMul(gen->builder, x[0], x[1], ""), x[2], ""));
        return;
    }
    if (dtype_bits(dtype) >= 32 || (gen->machine->has_ptx && gen_is_native(gen, dtype))) {
        LLVMTypeRef type = LLVMTypeOf(x[0]);
        gen_define_result(gen, op, gen_intrinsic(gen, "llvm.fma", 1, &type, 3, x));
        return;
    }
    for (int i = 0; i < 3; i++) x[i] = gen_to_f64(gen, dtype, x[i]);
    LLVMValueRef sum = sum_to_odd(gen, LLVMBuildFMul(gen->builder, x[0], x[1], ""), x[2]);
    gen_define_result(gen, op, gen_from_f64(gen, dtype, sum));
}

/* The word of which a value is the byte of this number, the lowest one's being 0; NULL: of none. */
static const Value *word_around(const Value *byte, int number)
{
    int64_t by;
    const Value *word = byte->op && byte->op->code == OP_cast ? operand(byte->op, a) : NULL;
    const bool is_moved = word && word->op && word->op->code == OP_shr &&
                          value_constant(operand(word->op, b), &by) && by == 8 * number;
    if (number > 0) word = is_moved ? operand(word->op, a) : NULL;
    const bool is_word = word && (word->type->dtype == DTYPE_i32 || word->type->dtype == DTYPE_u32);
    return is_word ? word : NULL;
}

/* Four bytes as one word: the one that they were taken of, or, where they lay side by side, the
 * register that LLVM has loaded them to. */
static LLVMValueRef word_of_bytes(Gen *gen, Value *const *bytes)
{
    const Value *around = word_around(bytes[0], 0);
    for (int k = 1; around && k < DP4A_BYTES; k++)
        if (word_around(bytes[k], k) != around) around = NULL;
    if (around) return gen_use(gen, around);
    LLVMValueRef word = LLVMGetPoison(LLVMVectorType(gen->types.i8, DP4A_BYTES));
    for (int k = 0; k < DP4A_BYTES; k++)
        word = LLVMBuildInsertElement(gen->builder, word, gen_use(gen, bytes[k]),
                                      gen_int(gen, gen->types.i32, k), "");
    return gen_bitcast(gen, word, gen->types.i32);
}

static LLVMValueRef byte_as_i32(Gen *gen, const Value *byte)
{
    LLVMValueRef value = gen_use(gen, byte);
    return dtype_is_signed(byte->type->dtype)
               ? LLVMBuildSExt(gen->builder, value, gen->types.i32, "")
               : LLVMBuildZExt(gen->builder, value, gen->types.i32, "");
}

void emit_dp4a(Gen *gen, const Op *op)
{
    LLVMValueRef sum = gen_operand(gen, op, c);
    Value *const *a = operand_list(op, bytes), *const *b = a + DP4A_BYTES;
    static const char *const names[2][2] = {{"llvm.nvvm.idp4a.u.u", "llvm.nvvm.idp4a.u.s"},
                                            {"llvm.nvvm.idp4a.s.u", "llvm.nvvm.idp4a.s.s"}};
    if (gen->machine->has_ptx) {
        const char *name =
            names[dtype_is_signed(a[0]->type->dtype)][dtype_is_signed(b[0]->type->dtype)];
        LLVMValueRef words[] = {word_of_bytes(gen, a), word_of_bytes(gen, b), sum};
        gen_define_result(gen, op, gen_intrinsic(gen, name, 0, NULL, 3, words));
        return;
    }
    for (int k = 0; k < DP4A_BYTES; k++) {
        LLVMValueRef product =
            LLVMBuildMul(gen->builder, byte_as_i32(gen, a[k]), byte_as_i32(gen, b[k]), "");
        sum = LLVMBuildAdd(gen->builder, sum, product, "");
    }
    gen_define_result(gen, op, sum);
}

/* ---- comparisons ---- */

typedef struct Predicate {
    const char *name;
    LLVMIntPredicate is_signed, is_unsigned;
    LLVMRealPredicate is_float;
} Predicate;

static const Predicate predicates[] = {
    {"eq", LLVMIntEQ, LLVMIntEQ, LLVMRealOEQ},   {"ne", LLVMIntNE, LLVMIntNE, LLVMRealUNE},
    {"lt", LLVMIntSLT, LLVMIntULT, LLVMRealOLT}, {"le", LLVMIntSLE, LLVMIntULE, LLVMRealOLE},
    {"gt", LLVMIntSGT, LLVMIntUGT, LLVMRealOGT}, {"ge", LLVMIntSGE, LLVMIntUGE, LLVMRealOGE},
};

static const Predicate *predicate_of(const Op *op)
{
    const Attr *attr = op_attr(op, ATTR_predicate);
    for (size_t i = 0; attr != NULL && i < sizeof predicates / sizeof *predicates; i++)
        if (strcmp(predicates[i].name, attr->text) == 0) return &predicates[i];
    ICE("cmp: no predicate '%s'", attr != NULL ? attr->text : "");
}

void emit_cmp(Gen *gen, const Op *op)
{
    const Predicate *predicate = predicate_of(op);
    LLVMValueRef a = gen_operand(gen, op, a), b = gen_operand(gen, op, b), result;
    DType dtype = operand_dtype(op);
    if (dtype_is_float(dtype)) {
        bool is_native = gen_is_native(gen, dtype);
        a = is_native ? a : gen_to_f32(gen, dtype, a);
        b = is_native ? b : gen_to_f32(gen, dtype, b);
        result = LLVMBuildFCmp(gen->builder, predicate->is_float, a, b, "");
    } else {
        bool is_signed = dtype_is_signed(dtype);
        result = LLVMBuildICmp(gen->builder,
                               is_signed ? predicate->is_signed : predicate->is_unsigned, a, b, "");
    }
    gen_define_result(gen, op, result);
}

/* `x` unless it is beyond a number, else the number: PTX has an instruction for that by which NaN
 * stays NaN, as here. Zeros have two signs, which it orders, and nothing is beyond a NaN. */
static const char *bound_intrinsic(const Gen *gen, const Op *op)
{
    const Op *cmp = operand(op, condition)->op, *bound = operand(op, a)->op;
    if (!gen->machine->has_ptx || cmp == NULL || cmp->code != OP_cmp ||
        operand(cmp, a) != operand(op, b) || operand(cmp, b) != operand(op, a) || bound == NULL ||
        bound->code != OP_const || op->results[0].type->kind != TYPE_SCALAR ||
        op->results[0].type->dtype != DTYPE_f32)
        return NULL;
    const double number = op_attr(bound, ATTR_number)->number;
    if (number == 0 || number != number) return NULL;
    const char *predicate = op_attr(cmp, ATTR_predicate)->text;
    return strcmp(predicate, "lt") == 0   ? "llvm.maximum"
           : strcmp(predicate, "gt") == 0 ? "llvm.minimum"
                                          : NULL;
}

void emit_select(Gen *gen, const Op *op)
{
    const char *intrinsic = bound_intrinsic(gen, op);
    if (intrinsic != NULL) {
        LLVMValueRef x[2] = {gen_operand(gen, op, b), gen_operand(gen, op, a)};
        LLVMTypeRef type = LLVMTypeOf(x[0]);
        gen_define_result(gen, op, gen_intrinsic(gen, intrinsic, 1, &type, 2, x));
        return;
    }
    LLVMValueRef condition = gen_operand(gen, op, condition);
    LLVMValueRef a = gen_operand(gen, op, a), b = gen_operand(gen, op, b);
    gen_define_result(gen, op, LLVMBuildSelect(gen->builder, condition, a, b, ""));
}

void emit_cast(Gen *gen, const Op *op)
{
    DType from = operand_dtype(op), to = op->results[0].type->dtype;
    gen_define_result(gen, op, gen_cast(gen, from, to, gen_operand(gen, op, a)));
}
