/* combine.c: what reductions and scans combine elements by. */
#include <math.h>
#include <string.h>

#include "ir/ir.h"

typedef struct Combination {
    const char *name;
    OpCode code;
} Combination;

static const Combination combinations[] = {
    {"add", OP_add}, {"mul", OP_mul}, {"max", OP_max}, {"min", OP_min},
    {"and", OP_and}, {"or", OP_or},   {"xor", OP_xor},
};

bool op_combines(const Op *op)
{
    bool does = false;
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
        does |= combinations[i].code == op->code;
    return does;
}

OpCode op_combination(const Op *op)
{
    const char *mode = op_attr(op, ATTR_mode)->text;
    for (size_t i = 0; i < sizeof combinations / sizeof *combinations; i++)
        if (strcmp(combinations[i].name, mode) == 0) return combinations[i].code;
    ICE("no combination '%s'", mode);
}

double combination_identity_number(OpCode code)
{
    return code == OP_max ? -INFINITY : code == OP_min ? INFINITY : code == OP_mul ? 1 : 0;
}

/* The largest or smallest number of an integer type. */
static int64_t integer_limit(DType dtype, bool largest)
{
    const int bits = dtype_bits(dtype);
    if (dtype_is_signed(dtype))
        return largest ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits);
    return largest ? (int64_t)(UINT64_MAX >> (64 - bits)) : 0;
}

int64_t combination_identity(OpCode code, DType dtype)
{
    if (code == OP_max || code == OP_min) return integer_limit(dtype, code == OP_min);
    if (code == OP_and) return dtype == DTYPE_b1 ? 1 : dtype_wrap(dtype, -1);
    return code == OP_mul;
}
