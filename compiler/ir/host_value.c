/* host_value.c: numbers of a launch that the host can compute: scalar code over the parameters. */
#include "ir/op_vec.h"

enum { MOST = 4000 }; /* ops behind a number: more are given up */

static bool is_on_host(const Value *value)
{
    return (!value->op && !value->region) || (value->op && !value->op->parent->parent);
}

static bool host_has(const Value *value)
{
    const OpInfo *info = value->op ? op_info(value->op->code) : NULL;
    return info && info->stages & HOST && info->traits & PURE;
}

static ValueAnswer is_unknown(const Value *value, void *context)
{
    int *count = context;
    if (is_on_host(value)) return VALUE_ENOUGH;
    return !host_has(value) || ++*count > MOST ? VALUE_FOUND : VALUE_OPERANDS;
}

bool value_is_on_host(const Value *value)
{
    int count = 0;
    return !value_finds(value, is_unknown, &count);
}

bool op_is_on_host(const Op *op)
{
    bool known = true;
    for (int i = 0; i < op->operand_count; i++) known &= value_is_on_host(op->operands[i]);
    return known;
}

static ValueAnswer is_to_copy(const Value *value, void *copied)
{
    return is_on_host(value) || map_has(copied, value) ? VALUE_ENOUGH : VALUE_OPERANDS;
}

Value *value_on_host(Builder *builder, Value *value, Map *copied)
{
    if (!value_is_on_host(value)) return NULL;
    Arena *arena = arena_new();
    const OpVec ops = value_ops(arena, value, is_to_copy, copied);
    for (size_t i = 0; i < ops.count; i++) op_clone(builder, ops.data[i], copied);
    arena_free(arena);
    return is_on_host(value) ? value : map_get(copied, value);
}
