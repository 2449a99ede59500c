/* match.c: forms of values that several passes look for. */
#include "ir/ir.h"

#include <math.h>
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

bool value_is_zero(const Value *value)
{
    int64_t integer;
    double number;
    return value_repeated_constant(value, &integer)
               ? integer == 0
               : value_repeated_number(value, &number) && number == 0 && !signbit(number);
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

/* ---- what is computed twice ---- */

bool op_alike(const Op *a, const Op *b)
{
    bool same = a->code == b->code && a->operand_count == b->operand_count &&
                a->result_count == b->result_count && a->attr_count == b->attr_count;
    for (int i = 0; same && i < a->result_count; i++)
        same = a->results[i].type == b->results[i].type;
    for (int i = 0; same && i < a->attr_count; i++) same = op_same_attr(a, b, a->attrs[i].key);
    return same;
}

bool value_same_number(const Value *a, const Value *b)
{
    int64_t x, y;
    return a == b || (value_constant(a, &x) && value_constant(b, &y) && x == y);
}

typedef struct Comparison {
    ValueStandIn *stand_in;
    void *context;
    int looks; /* at pairs of values */
} Comparison;

static bool is_same(Comparison *comparison, const Value *a, const Value *b)
{
    enum { MOST_LOOKS = 200 };
    if (comparison->stand_in) {
        a = comparison->stand_in(a, comparison->context);
        b = comparison->stand_in(b, comparison->context);
    }
    if (value_same_number(a, b)) return true;
    const Op *p = a->op, *q = b->op;
    if (!p || !q || ++comparison->looks > MOST_LOOKS || !op_has(p, PURE) || p->region_count > 0 ||
        a->index != b->index || !op_alike(p, q))
        return false;
    for (int i = 0; i < p->operand_count; i++)
        if (!is_same(comparison, p->operands[i], q->operands[i])) return false;
    return true;
}

bool value_same(const Value *a, const Value *b, ValueStandIn *stand_in, void *context)
{
    Comparison comparison = {stand_in, context, 0};
    return a && b ? is_same(&comparison, a, b) : a == b;
}
