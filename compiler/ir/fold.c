/* fold.c: what a pure op on constants gives, by the sentences of ops.def. */
#include "ir/fold.h"

#include <math.h>
#include <string.h>

typedef struct Number {
    bool is_float;
    int64_t i;
    double f;
} Number;

static bool constant_number(const Value *value, Number *out)
{
    if (!value->op || value->op->code != OP_const) return false;
    const Attr *attr = op_attr(value->op, ATTR_value);
    if (attr) {
        *out = (Number){.i = attr->integer};
        return true;
    }
    attr = op_attr(value->op, ATTR_number);
    if (!attr) return false;
    *out = (Number){.is_float = true, .f = attr->number};
    return true;
}

static uint64_t unsigned_bits(DType dtype, int64_t value)
{
    int bits = dtype_bits(dtype);
    return bits == 64 ? (uint64_t)value : (uint64_t)value & ((UINT64_C(1) << bits) - 1);
}

static bool divide(OpCode code, DType dtype, int64_t a, int64_t b, int64_t *out)
{
    if (b == 0) return false; /* left to the machine */
    if (!dtype_is_signed(dtype)) {
        uint64_t x = unsigned_bits(dtype, a), y = unsigned_bits(dtype, b);
        *out = (int64_t)(code == OP_div || code == OP_floordiv ? x / y : x % y);
        return true;
    }
    int64_t quotient = b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
    int64_t rest = b == -1 ? 0 : a % b;
    bool adjust = rest != 0 && (rest < 0) != (b < 0);
    switch ((int)code) {
    case OP_div: *out = quotient; return true;
    case OP_rem: *out = rest; return true;
    case OP_floordiv: *out = quotient - adjust; return true;
    case OP_floormod: *out = adjust ? rest + b : rest; return true;
    default: return false;
    }
}

static bool shift(OpCode code, DType dtype, int64_t a, int64_t b, int64_t *out)
{
    int bits = dtype_bits(dtype);
    bool beyond = b < 0 || b >= bits;
    if (code == OP_shl)
        *out = beyond ? 0 : (int64_t)((uint64_t)a << b);
    else if (dtype_is_signed(dtype))
        *out = a >> (beyond ? 63 : b);
    else
        *out = beyond ? 0 : (int64_t)(unsigned_bits(dtype, a) >> b);
    return true;
}

static bool less(DType dtype, int64_t a, int64_t b)
{
    return dtype_is_signed(dtype) ? a < b : unsigned_bits(dtype, a) < unsigned_bits(dtype, b);
}

static bool fold_integers(OpCode code, DType dtype, int64_t a, int64_t b, int64_t *out)
{
    switch ((int)code) {
    case OP_add: *out = (int64_t)((uint64_t)a + (uint64_t)b); return true;
    case OP_sub: *out = (int64_t)((uint64_t)a - (uint64_t)b); return true;
    case OP_mul: *out = (int64_t)((uint64_t)a * (uint64_t)b); return true;
    case OP_div:
    case OP_rem:
    case OP_floordiv:
    case OP_floormod: return divide(code, dtype, a, b, out);
    case OP_min: *out = less(dtype, a, b) ? a : b; return true;
    case OP_max: *out = less(dtype, a, b) ? b : a; return true;
    case OP_and: *out = a & b; return true;
    case OP_or: *out = a | b; return true;
    case OP_xor: *out = a ^ b; return true;
    case OP_shl:
    case OP_shr: return shift(code, dtype, a, b, out);
    default: return false;
    }
}

/* Of two zeros the negative one is less. */
static bool is_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

/* Sums, products and quotients of two f16, bf16 or f32 numbers, rounded from double, are the
 * correctly rounded ones: double has more than twice their digits (Figueroa 1995). */
static bool fold_floats(OpCode code, double a, double b, double *out)
{
    switch ((int)code) {
    case OP_add: *out = a + b; return true;
    case OP_sub: *out = a - b; return true;
    case OP_mul: *out = a * b; return true;
    case OP_div: *out = a / b; return true;
    case OP_min: *out = is_less(a, b) || isnan(b) ? a : b; return true;
    case OP_max: *out = is_less(a, b) || isnan(a) ? b : a; return true;
    default: return false;
    }
}

static int order(DType dtype, Number a, Number b) /* -1, 0, 1; 2: unordered */
{
    if (a.is_float) return isnan(a.f) || isnan(b.f) ? 2 : (a.f > b.f) - (a.f < b.f);
    return less(dtype, a.i, b.i) ? -1 : less(dtype, b.i, a.i);
}

static bool compare(const char *predicate, int sign)
{
    static const struct {
        const char *name;
        int signs; /* bit 0: below, bit 1: equal, bit 2: above, bit 3: unordered */
    } rows[] = {{"eq", 2}, {"ne", 13}, {"lt", 1}, {"le", 3}, {"gt", 4}, {"ge", 6}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strcmp(rows[i].name, predicate) == 0) return rows[i].signs >> (sign + 1) & 1;
    ICE("no such predicate: %s", predicate);
}

static Value *make_number(Builder *builder, DType dtype, double number)
{
    return build_number(builder, dtype, dtype_decode(dtype, dtype_encode(dtype, number)));
}

static Value *fold_cast(Builder *builder, DType from, DType to, Number a)
{
    if (to == DTYPE_b1) return build_const(builder, to, a.is_float ? a.f != 0 : a.i != 0);
    if (dtype_is_float(to)) {
        if (a.is_float) return make_number(builder, to, a.f);
        bool unsigned64 = from == DTYPE_u64 && a.i < 0;
        int64_t limit = INT64_C(1) << 53; /* exact in a double */
        if (unsigned64 || a.i > limit || a.i < -limit) return NULL;
        return make_number(
            builder, to, (double)(dtype_is_signed(from) ? a.i : (int64_t)unsigned_bits(from, a.i)));
    }
    if (!a.is_float)
        return build_const(
            builder, to,
            dtype_wrap(to, dtype_is_signed(from) ? a.i : (int64_t)unsigned_bits(from, a.i)));
    double whole = trunc(a.f);
    return whole >= -2147483648.0 && whole <= 2147483647.0 &&
                   (int64_t)whole == dtype_wrap(to, (int64_t)whole)
               ? build_const(builder, to, (int64_t)whole)
               : NULL;
}

static Value *fold_binary(Builder *builder, const Op *op, Number a, Number b)
{
    DType dtype = operand(op, a)->type->dtype;
    if (op->code == OP_cmp)
        return build_const(builder, DTYPE_b1,
                           compare(op_attr(op, ATTR_predicate)->text, order(dtype, a, b)));
    if (a.is_float) {
        double result;
        return fold_floats(op->code, a.f, b.f, &result) ? make_number(builder, dtype, result)
                                                        : NULL;
    }
    int64_t result;
    return fold_integers(op->code, dtype, a.i, b.i, &result)
               ? build_const(builder, dtype, dtype_wrap(dtype, result))
               : NULL;
}

static Value *fold_unary(Builder *builder, const Op *op, Number a)
{
    DType from = operand(op, a)->type->dtype, to = op->results[0].type->dtype;
    switch ((int)op->code) {
    case OP_cast: return fold_cast(builder, from, to, a);
    case OP_neg:
        return a.is_float ? make_number(builder, to, -a.f)
                          : build_const(builder, to, dtype_wrap(to, (int64_t)(0 - (uint64_t)a.i)));
    case OP_not:
        return to == DTYPE_b1 ? build_const(builder, to, !a.i)
                              : build_const(builder, to, dtype_wrap(to, ~a.i));
    default: return NULL;
    }
}

Value *fold_constants(Builder *builder, const Op *op)
{
    Number a, b;
    if (op->result_count != 1 || !type_is_scalar(op->results[0].type)) return NULL;
    if (!op_has(op, ELEM)) return NULL;
    if (op->operand_count == 1)
        return constant_number(operand(op, a), &a) && type_is_scalar(operand(op, a)->type)
                   ? fold_unary(builder, op, a)
                   : NULL;
    if (op->operand_count == 2)
        return constant_number(operand(op, a), &a) && constant_number(operand(op, b), &b)
                   ? fold_binary(builder, op, a, b)
                   : NULL;
    return NULL;
}

static bool fold_one(OpCode code, DType from, DType to, int64_t a, int64_t *out)
{
    switch ((int)code) {
    case OP_cast: *out = dtype_is_signed(from) ? a : (int64_t)unsigned_bits(from, a); return true;
    case OP_neg: *out = (int64_t)(0 - (uint64_t)a); return true;
    case OP_not: *out = to == DTYPE_b1 ? !a : ~a; return true;
    case OP_abs: *out = a < 0 && dtype_is_signed(to) ? (int64_t)(0 - (uint64_t)a) : a; return true;
    default: return false;
    }
}

static bool fold_two(const Op *op, DType from, int64_t a, int64_t b, int64_t *out)
{
    if (op->code != OP_cmp) return fold_integers(op->code, from, a, b, out);
    *out =
        compare(op_attr(op, ATTR_predicate)->text, order(from, (Number){.i = a}, (Number){.i = b}));
    return true;
}

bool fold_element(const Op *op, const int64_t *operands, int64_t *out)
{
    const DType from = operand(op, a)->type->dtype, to = op->results[0].type->dtype;
    bool good = false;
    if (op->code == OP_select) {
        *out = operands[0] ? operands[1] : operands[2];
        return true;
    }
    if (op->operand_count == 1) good = fold_one(op->code, from, to, operands[0], out);
    if (op->operand_count == 2) good = fold_two(op, from, operands[0], operands[1], out);
    if (good) *out = to == DTYPE_b1 ? *out != 0 : dtype_wrap(to, *out);
    return good;
}

/* ---- of values ---- */

typedef struct Folding {
    KnownNumber *known;
    const void *context;
    int looks; /* that are left */
} Folding;

static bool fold_within(Folding *folding, const Value *value, int64_t *out)
{
    enum { MOST = 3 };
    int64_t operands[MOST];
    const Op *op = value->op;
    if (folding->known && folding->known(value, folding->context, out)) return true;
    if (value_constant(value, out)) return true;
    if (!op || op->operand_count > MOST || op->result_count != 1 || --folding->looks < 0 ||
        !op_has(op, ELEM))
        return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!fold_within(folding, op->operands[i], &operands[i])) return false;
    return fold_element(op, operands, out);
}

bool fold_value(const Value *value, KnownNumber *known, const void *context, int64_t *out)
{
    return fold_within(&(Folding){known, context, FOLD_LOOKS}, value, out);
}
