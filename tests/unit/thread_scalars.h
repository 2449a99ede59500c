/* thread_scalars.h: what an op makes of scalars, computed apart from the compiler. For
 * thread_machine.h. */
#ifndef TILEC_TESTS_THREAD_SCALARS_H
#define TILEC_TESTS_THREAD_SCALARS_H

#include "passes/passes.h"

#include <math.h>

static double machine_float(DType dtype, uint64_t bits)
{
    return dtype_decode(dtype, bits);
}

static double float_binary(OpCode code, double a, double b)
{
    switch ((int)code) {
    case OP_add: return a + b;
    case OP_sub: return a - b;
    case OP_mul: return a * b;
    case OP_div: return a / b;
    case OP_min: return fmin(a, b);
    case OP_max: return fmax(a, b);
    default: abort();
    }
}

static int64_t floor_division(int64_t a, int64_t b)
{
    return b == 0 ? -1 : a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t int_binary(OpCode code, int64_t a, int64_t b)
{
    switch ((int)code) {
    case OP_add: return (int64_t)((uint64_t)a + (uint64_t)b);
    case OP_sub: return (int64_t)((uint64_t)a - (uint64_t)b);
    case OP_mul: return (int64_t)((uint64_t)a * (uint64_t)b);
    case OP_div: return b == 0 ? -1 : a / b;
    case OP_rem: return b == 0 ? a : a % b;
    case OP_floordiv: return floor_division(a, b);
    case OP_floormod: return a - floor_division(a, b) * b;
    case OP_min: return a < b ? a : b;
    case OP_max: return a > b ? a : b;
    case OP_and: return a & b;
    case OP_or: return a | b;
    case OP_xor: return a ^ b;
    case OP_shl: return (int64_t)((uint64_t)a << b);
    case OP_shr: return a >> b;
    default: abort();
    }
}

static bool compare(const char *predicate, double a, double b)
{
    if (strcmp(predicate, "eq") == 0) return a == b;
    if (strcmp(predicate, "ne") == 0) return a != b;
    if (strcmp(predicate, "lt") == 0) return a < b;
    if (strcmp(predicate, "le") == 0) return a <= b;
    if (strcmp(predicate, "gt") == 0) return a > b;
    return a >= b;
}

static double as_number(DType dtype, uint64_t bits)
{
    return dtype_is_float(dtype) ? machine_float(dtype, bits) : (double)(int64_t)bits;
}

static uint64_t cast_bits(DType from, DType to, uint64_t bits)
{
    if (to == DTYPE_b1) return as_number(from, bits) != 0;
    if (dtype_is_float(to)) return dtype_encode(to, as_number(from, bits));
    return (uint64_t)dtype_wrap(to, dtype_is_float(from) ? (int64_t)machine_float(from, bits)
                                                         : (int64_t)bits);
}

static uint64_t scalar_result(const Op *op, uint64_t a, uint64_t b, uint64_t c)
{
    const DType dtype = op->operands[0]->type->dtype;
    if (op->code == OP_cmp)
        return compare(op_attr(op, ATTR_predicate)->text, as_number(dtype, a), as_number(dtype, b));
    if (op->code == OP_select) return a ? b : c;
    if (op->code == OP_cast) return cast_bits(dtype, op->results[0].type->dtype, a);
    if (op->code == OP_bitcast) return a;
    if (op->code == OP_not)
        return dtype == DTYPE_b1 ? !a : (uint64_t)dtype_wrap(dtype, ~(int64_t)a);
    if (op->code == OP_neg && !dtype_is_float(dtype))
        return (uint64_t)dtype_wrap(dtype, -(int64_t)a);
    if (op->code == OP_neg) return dtype_encode(dtype, -machine_float(dtype, a));
    if (op->code == OP_fma)
        return dtype_encode(
            dtype, fma(machine_float(dtype, a), machine_float(dtype, b), machine_float(dtype, c)));
    if (dtype_is_float(dtype))
        return dtype_encode(
            dtype, float_binary(op->code, machine_float(dtype, a), machine_float(dtype, b)));
    return (uint64_t)dtype_wrap(dtype, int_binary(op->code, (int64_t)a, (int64_t)b));
}

#endif
