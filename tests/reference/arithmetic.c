/* arithmetic.c: one element of an op. */
#include "interpret.h"

#include <math.h>
#include <string.h>

double number_round(DType dtype, double number)
{
    if (dtype == DTYPE_f64) return number;
    if (dtype == DTYPE_f32) return (float)number;
    return dtype_decode(dtype, dtype_encode(dtype, number));
}

static Number floats(DType dtype, double number)
{
    return (Number){.f = number_round(dtype, number)};
}

static Number wraps(DType dtype, uint64_t integer)
{
    return (Number){.i = dtype_wrap(dtype, (int64_t)integer)};
}

static Number truth(bool value)
{
    return (Number){.i = value};
}

Number number_decode(DType dtype, uint64_t bits)
{
    if (dtype_is_float(dtype)) return (Number){.f = dtype_decode(dtype, bits)};
    return (Number){.i = dtype_wrap(dtype, (int64_t)bits)};
}

uint64_t number_encode(DType dtype, Number number)
{
    return dtype_is_float(dtype) ? dtype_encode(dtype, number.f) : (uint64_t)number.i;
}

/* ---- casts ---- */

static Number float_to_integer(DType to, double number)
{
    double whole = trunc(number);
    int bits = dtype_bits(to);
    double above = ldexp(1, dtype_is_signed(to) ? bits - 1 : bits);
    double below = dtype_is_signed(to) ? -above : 0;
    if (isnan(number)) return (Number){0};
    if (whole >= above)
        return wraps(to, dtype_is_signed(to) ? (UINT64_C(1) << (bits - 1)) - 1 : ~UINT64_C(0));
    if (whole <= below) return wraps(to, dtype_is_signed(to) ? UINT64_C(1) << (bits - 1) : 0);
    return wraps(to, whole < 0 ? (uint64_t)(int64_t)whole : (uint64_t)whole);
}

static Number integer_to_float(DType from, DType to, int64_t integer)
{
    bool large = from == DTYPE_u64;
    if (to == DTYPE_f32) return (Number){.f = large ? (float)(uint64_t)integer : (float)integer};
    return floats(to, large ? (double)(uint64_t)integer : (double)integer);
}

Number number_cast(DType from, DType to, Number number)
{
    if (to == DTYPE_b1) return truth(dtype_is_float(from) ? number.f != 0 : number.i != 0);
    if (dtype_is_float(from))
        return dtype_is_float(to) ? floats(to, number.f) : float_to_integer(to, number.f);
    return dtype_is_float(to) ? integer_to_float(from, to, number.i)
                              : wraps(to, (uint64_t)number.i);
}

/* ---- arithmetic ---- */

/* Division on the GPU: toward zero, and all ones by zero. */
static uint64_t divide(DType dtype, int64_t a, int64_t b)
{
    if (b == 0) return ~UINT64_C(0);
    if (!dtype_is_signed(dtype)) return (uint64_t)a / (uint64_t)b;
    return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t divide_floor(DType dtype, int64_t a, int64_t b)
{
    uint64_t quotient = divide(dtype, a, b);
    if (b == 0 || !dtype_is_signed(dtype)) return quotient;
    bool inexact = (uint64_t)a != quotient * (uint64_t)b;
    return quotient - (inexact && (a < 0) != (b < 0));
}

static uint64_t shift_right(DType dtype, int64_t a, int64_t b)
{
    bool out = b < 0 || b >= dtype_bits(dtype);
    if (!dtype_is_signed(dtype)) return out ? 0 : (uint64_t)a >> b;
    return (uint64_t)(out ? (a < 0 ? -1 : 0) : a >> b);
}

/* a * b + c rounded once: the exact product of two floats of at most 24 bits is a double; the sum
 * is rounded to odd, after which rounding to a narrower type is right. */
static double fused(DType dtype, double a, double b, double c)
{
    if (dtype == DTYPE_f64) return fma(a, b, c);
    if (dtype == DTYPE_f32) return fmaf((float)a, (float)b, (float)c);
    double product = a * b, sum = product + c;
    double part = sum - product, error = (product - (sum - part)) + (c - part);
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (error == 0 || bits & 1 || !isfinite(sum)) return sum;
    bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

/* Whether a is the minimum: not a NaN beside a number, and of zeros the negative one. */
static bool smaller(double a, double b)
{
    if (isnan(a) || isnan(b)) return isnan(b);
    return a < b || (a == b && signbit(a));
}

static double binary_float(OpCode code, double a, double b)
{
    switch ((int)code) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return a / b;
    case OP_rem: return fmod(a, b);
    case OP_min: return smaller(a, b) ? a : b;
    default: return smaller(-a, -b) ? a : b;
    }
}

static uint64_t binary_integer(OpCode code, DType dtype, int64_t x, int64_t y)
{
    uint64_t a = (uint64_t)x, b = (uint64_t)y;
    bool less = dtype_is_signed(dtype) ? x < y : a < b;
    switch ((int)code) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return divide(dtype, x, y);
    case OP_rem: return y == 0 ? a : a - divide(dtype, x, y) * b;
    case OP_floordiv: return divide_floor(dtype, x, y);
    case OP_floormod: return a - divide_floor(dtype, x, y) * b;
    case OP_min: return less ? a : b;
    case OP_max: return less ? b : a;
    case OP_and: return a & b;
    case OP_or: return a | b;
    case OP_xor: return a ^ b;
    case OP_shl: return y < 0 || y >= dtype_bits(dtype) ? 0 : a << y;
    default: return shift_right(dtype, x, y);
    }
}

static Number binary(OpCode code, DType dtype, Number a, Number b)
{
    if (dtype_is_float(dtype)) return floats(dtype, binary_float(code, a.f, b.f));
    return wraps(dtype, binary_integer(code, dtype, a.i, b.i));
}

Number number_add(DType dtype, Number a, Number b)
{
    return binary(OP_add, dtype, a, b);
}

static bool compare(const char *predicate, DType dtype, Number a, Number b)
{
    bool less, equal;
    if (dtype_is_float(dtype)) {
        if (isnan(a.f) || isnan(b.f)) return strcmp(predicate, "ne") == 0;
        less = a.f < b.f;
        equal = a.f == b.f;
    } else {
        less = dtype_is_signed(dtype) ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
        equal = a.i == b.i;
    }
    switch (predicate[0]) {
    case 'e': return equal;
    case 'n': return !equal;
    case 'l': return less || (equal && predicate[1] == 'e');
    default: return !less && (!equal || predicate[1] == 'e');
    }
}

static bool unary_float(OpCode code, double a, double *out)
{
    switch ((int)code) {
    case OP_neg: *out = -a; return true;
    case OP_abs: *out = fabs(a); return true;
    case OP_sqrt: *out = sqrt(a); return true;
    case OP_floor: *out = floor(a); return true;
    case OP_ceil: *out = ceil(a); return true;
    case OP_trunc: *out = trunc(a); return true;
    case OP_round: *out = nearbyint(a); return true;
    default: return false;
    }
}

static bool unary_integer(OpCode code, DType dtype, int64_t a, uint64_t *out)
{
    switch ((int)code) {
    case OP_neg: *out = 0 - (uint64_t)a; return true;
    case OP_abs:
        *out = a < 0 && dtype_is_signed(dtype) ? 0 - (uint64_t)a : (uint64_t)a;
        return true;
    case OP_not: *out = ~(uint64_t)a; return true;
    default: return false;
    }
}

/* Of each pair of bytes the product, which 32 bits hold; the sum wraps. */
static Number dot_of_bytes(DType dtype, const Number *operands)
{
    uint64_t sum = (uint64_t)operands[0].i;
    for (int k = 1; k <= 4; k++) sum += (uint64_t)(operands[k].i * operands[k + 4].i);
    return wraps(dtype, sum);
}

bool compute_element(const Op *op, DType dtype, DType result, const Number *operands, Number *out)
{
    double number;
    uint64_t integer;
    switch ((int)op->code) {
    case OP_fma:
        *out = floats(dtype, fused(dtype, operands[0].f, operands[1].f, operands[2].f));
        return true;
    case OP_dp4a: *out = dot_of_bytes(result, operands); return true;
    case OP_cmp:
        *out = truth(compare(op_attr(op, ATTR_predicate)->text, dtype, operands[0], operands[1]));
        return true;
    case OP_select: *out = operands[operands[0].i ? 1 : 2]; return true;
    case OP_cast: *out = number_cast(dtype, result, operands[0]); return true;
    case OP_bitcast: *out = number_decode(result, number_encode(dtype, operands[0])); return true;
    case OP_add:
    case OP_sub:
    case OP_mul:
    case OP_div:
    case OP_rem:
    case OP_floordiv:
    case OP_floormod:
    case OP_min:
    case OP_max:
    case OP_and:
    case OP_or:
    case OP_xor:
    case OP_shl:
    case OP_shr: *out = binary(op->code, dtype, operands[0], operands[1]); return true;
    default: break;
    }
    if (op->operand_count != 1) return false;
    if (dtype_is_float(dtype)) {
        if (!unary_float(op->code, operands[0].f, &number)) return false;
        *out = floats(dtype, number);
        return true;
    }
    if (!unary_integer(op->code, dtype, operands[0].i, &integer)) return false;
    *out = wraps(dtype, integer);
    return true;
}

/* ---- reductions ---- */

static OpCode reduction_op(const char *mode)
{
    OpCode code;
    static const char modes[] = " add mul max min and or xor ";
    const char *at = strstr(modes, mode);
    return at && op_find(mode, &code) ? code : OP_COUNT;
}

bool reduction_start(const char *mode, DType dtype, Number *out)
{
    int bits = dtype_bits(dtype);
    bool is_signed = dtype_is_signed(dtype), is_float = dtype_is_float(dtype);
    uint64_t least = is_signed ? UINT64_C(1) << (bits - 1) : 0;
    switch ((int)reduction_op(mode)) {
    case OP_add:
    case OP_or:
    case OP_xor: *out = is_float ? (Number){.f = 0} : (Number){.i = 0}; return true;
    case OP_mul: *out = is_float ? (Number){.f = 1} : (Number){.i = 1}; return true;
    case OP_and: *out = wraps(dtype, ~UINT64_C(0)); return true;
    case OP_max: *out = is_float ? (Number){.f = -INFINITY} : wraps(dtype, least); return true;
    case OP_min: *out = is_float ? (Number){.f = INFINITY} : wraps(dtype, ~least); return true;
    default: return false;
    }
}

Number reduction_step(const char *mode, DType dtype, Number a, Number b)
{
    return binary(reduction_op(mode), dtype, a, b);
}
