/* wide.c: arithmetic of ints, in 128 bits. What 64 with a sign hold is an INT; masks and factors of
 * hashes, on the way to a type that takes them, are WIDE; what needs more bits is an error. */
#include "eval/values/values.h"

#include <math.h>

enum { WIDE_BITS = 127 }; /* besides the sign */

Object *object_of_wide(Eval *eval, Wide value)
{
    if (value >= INT64_MIN && value <= INT64_MAX) return object_int(eval, (int64_t)value);
    Wide *kept = arena_new_of(eval->arena, Wide);
    *kept = value;
    Object *object = object_new(eval, OBJECT_WIDE);
    object->as.wide = kept;
    return object;
}

/* False: it is no int. */
static bool value_of(const Object *object, Wide *out)
{
    if (object->kind == OBJECT_WIDE)
        *out = *object->as.wide;
    else if (object->kind == OBJECT_INT || object->kind == OBJECT_BOOL)
        *out = object->as.integer;
    else
        return false;
    return true;
}

/* ---- arithmetic ---- */

static Wide floor_divide(Wide a, Wide b)
{
    const Wide quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

static bool raise_to(Wide a, Wide b, Wide *out)
{
    *out = 1;
    while (b > 0) {
        if ((b & 1) && __builtin_mul_overflow(*out, a, out)) return false;
        b >>= 1;
        if (b > 0 && __builtin_mul_overflow(a, a, &a)) return false;
    }
    return true;
}

/* False: 128 bits do not hold it. */
static bool compute(Operator op, Wide a, Wide b, Wide *out)
{
    switch ((int)op) {
    case OPERATOR_Add: return !__builtin_add_overflow(a, b, out);
    case OPERATOR_Sub: return !__builtin_sub_overflow(a, b, out);
    case OPERATOR_Mult: return !__builtin_mul_overflow(a, b, out);
    case OPERATOR_FloorDiv:
        if (b == -1) return !__builtin_sub_overflow((Wide)0, a, out);
        *out = floor_divide(a, b);
        return true;
    case OPERATOR_Mod: *out = b == -1 ? 0 : a - floor_divide(a, b) * b; return true;
    case OPERATOR_BitAnd: *out = a & b; return true;
    case OPERATOR_BitOr: *out = a | b; return true;
    case OPERATOR_BitXor: *out = a ^ b; return true;
    case OPERATOR_LShift:
        *out = 0;
        return a == 0 || (b < WIDE_BITS && !__builtin_mul_overflow(a, (Wide)1 << b, out));
    case OPERATOR_RShift: *out = a >> (b > WIDE_BITS ? WIDE_BITS : b); return true;
    case OPERATOR_Pow: return b >= 0 && raise_to(a, b, out);
    default: return false;
    }
}

Object *wide_binary(Eval *eval, Operator op, const Object *left, const Object *right, Span at)
{
    Wide a = 0, b = 0, result;
    CHECK(value_of(left, &a) && value_of(right, &b));
    return compute(op, a, b, &result) ? object_of_wide(eval, result)
                                      : FAIL(eval, int_overflow, at, operator_text(op));
}

Object *wide_unary(Eval *eval, Operator op, const Object *operand, Span at)
{
    Wide value, result;
    if (!value_of(operand, &value) || __builtin_sub_overflow((Wide)0, value, &result))
        return FAIL(eval, int_overflow, at, operator_text(op));
    return object_of_wide(eval, op == OPERATOR_USub     ? result
                                : op == OPERATOR_Invert ? ~value
                                                        : value);
}

/* Exactly: -1, 0, 1; 2: a NaN is not ordered. */
static int order_mixed(Wide a, double b)
{
    const double limit = 0x1p127;
    if (isnan(b)) return 2;
    if (b >= limit) return -1;
    if (b < -limit) return 1;
    const Wide whole = (Wide)b;
    if (a != whole) return a < whole ? -1 : 1;
    const double rest = b - (double)whole;
    return (rest < 0) - (rest > 0);
}

int object_order_numbers(const Object *a, const Object *b)
{
    Wide left, right;
    const bool is_left = value_of(a, &left), is_right = value_of(b, &right);
    if (is_left && is_right) return (left > right) - (left < right);
    if (is_left) return order_mixed(left, b->as.number);
    if (is_right) {
        const int order = order_mixed(right, a->as.number);
        return order == 2 ? 2 : -order;
    }
    const double x = a->as.number, y = b->as.number;
    return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
}

/* ---- as a type's, and in parts ---- */

bool wide_parts(const Object *number, bool *negative, uint64_t *magnitude)
{
    Wide value;
    if (!value_of(number, &value)) return false;
    *negative = value < 0;
    if (value < -(Wide)UINT64_MAX || value > UINT64_MAX) return false;
    *magnitude = (uint64_t)(*negative ? -value : value);
    return true;
}

Object *wide_of_dtype(Eval *eval, const Object *object, DType dtype, bool wraps, Span at)
{
    const Wide value = *object->as.wide;
    if (dtype_is_float(dtype)) return object_float(eval, (double)value);
    if (!wraps && (dtype != DTYPE_u64 || value < 0 || value > UINT64_MAX))
        return FAIL(eval, literal_range, at, object_repr(eval, object), dtype_user_name(dtype));
    return object_int(eval, (int64_t)(uint64_t)value);
}
