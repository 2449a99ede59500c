/* assume.c: what the author assumes becomes a check that the emulator makes. */
#include "passes/lower/lower.h"

static Value *wide(Lower *lower, Value *value)
{
    return address_cast(lower, DTYPE_i64, lower_scalar(lower, value));
}

void lower_check(Lower *lower, const char *text, const char *predicate, Value *a, Value *b)
{
    Value *condition = address_cmp(lower, predicate, a, b);
    Op *made = build_op(&lower->at, OP_check, 1, &condition, 0, NULL);
    op_set_text(made, ATTR_text, text);
    op_set_int(made, ATTR_emulated, 1);
}

static void check(Lower *lower, const Op *op, const char *predicate, Value *a, Value *b)
{
    lower_check(lower, op_attr(op, ATTR_text)->text, predicate, a, b);
}

void lower_assume(Lower *lower, Op *op)
{
    if (!op_attr(op, ATTR_text)) return;
    const int64_t multiple = op_int(op, ATTR_multiple, 1);
    Value *value = wide(lower, operand(op, value));
    if (multiple > 1)
        check(lower, op, "eq",
              address_op(lower, OP_rem, value, address_const(lower, DTYPE_i64, multiple)),
              address_const(lower, DTYPE_i64, 0));
    if (op_attr(op, ATTR_low))
        check(lower, op, "ge", value, address_const(lower, DTYPE_i64, op_int(op, ATTR_low, 0)));
    if (op_attr(op, ATTR_high))
        check(lower, op, "le", value, address_const(lower, DTYPE_i64, op_int(op, ATTR_high, 0)));
    if (operand_given(op, limit))
        check(lower, op, "le",
              address_op(lower, OP_add, value,
                         address_const(lower, DTYPE_i64, op_int(op, ATTR_gap, 0))),
              wide(lower, operand(op, limit)));
}
