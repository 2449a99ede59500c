/* match.c: forms of values that several passes look for. */
#include "ir/ir.h"

#include <string.h>

bool value_is_widened(const Value *value)
{
    if (!value->op || value->op->code != OP_cast) return false;
    const DType old = operand(value->op, a)->type->dtype, new = value->type->dtype;
    return dtype_is_integer(old) && dtype_is_integer(new) && dtype_bits(old) <= dtype_bits(new);
}

Value *value_uncast(const Value *value)
{
    while (type_is_scalar(value->type) && value_is_widened(value)) value = operand(value->op, a);
    return (Value *)(uintptr_t)value;
}

Value *value_repeated(const Value *value)
{
    while (value->op && (value->op->code == OP_splat || value->op->code == OP_broadcast ||
                         value_is_widened(value)))
        value = operand(value->op, a);
    return (Value *)(uintptr_t)value;
}

bool value_repeated_constant(const Value *value, int64_t *out)
{
    return value_constant(value_repeated(value), out) &&
           (*out >= 0 || dtype_is_signed(value->type->dtype));
}

bool value_repeated_number(const Value *value, double *out)
{
    const Op *op = value_repeated(value)->op;
    const Attr *number = op && op->code == OP_const ? op_attr(op, ATTR_number) : NULL;
    if (number) *out = number->number;
    return number != NULL;
}

Value *value_chosen_index(const Value *mask, int *dim)
{
    const Op *op = mask->op;
    if (!op || op->code != OP_cmp || strcmp(op_attr(op, ATTR_predicate)->text, "eq") != 0)
        return NULL;
    const Op *a = operand(op, a)->op, *b = operand(op, b)->op;
    if (!a || !b) return NULL;
    const Op *iota = a->code == OP_iota ? a : b, *splat = a->code == OP_iota ? b : a;
    if (iota->code != OP_iota || splat->code != OP_splat) return NULL;
    *dim = (int)op_int(iota, ATTR_dim, 0);
    return operand(splat, a);
}
