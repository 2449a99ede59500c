/* values.c: what became of the old program's values: a scalar's one, or a tile's registers; and ops
 * of the new program. It knows no rule. */
#include "passes/lower/lower.h"

Value *lower_scalar(const Lower *lower, Value *old)
{
    Value *known = map_get(&lower->scalars, old);
    if (known) return known;
    CHECK(!old->op && !old->region); /* a parameter is the same in both programs */
    return old;
}

Value **lower_tile(const Lower *lower, const Value *old)
{
    Value **registers = map_get(&lower->tiles, old);
    CHECK(registers);
    return registers;
}

int register_count(const Value *value)
{
    return value->type->kind == TYPE_TILE ? layout_registers(value->type->layout) : 1;
}

Value **lower_new_tile(Lower *lower, const Value *old)
{
    CHECK(old->type->layout);
    Value **registers = arena_new_array(lower->arena, Value *, register_count(old));
    map_set(lower->arena, &lower->tiles, old, registers);
    return registers;
}

Value *lower_build(Lower *lower, OpCode code, int count, Value *const *operands, const Type *type)
{
    return &build_op(&lower->at, code, count, operands, 1, &type)->results[0];
}
