/* host_value.c: numbers of a launch that the host can compute: scalar code over the parameters. */
#include "ir/ir.h"

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

static Value *copy_to_host(Builder *builder, Value *value, Map *copied)
{
    if (is_on_host(value)) return value;
    Value *known = map_get(copied, value);
    if (known) return known;
    for (int i = 0; i < value->op->operand_count; i++)
        map_set(builder->kernel->arena, copied, value->op->operands[i],
                copy_to_host(builder, value->op->operands[i], copied));
    return &op_clone(builder, value->op, copied)->results[value->index];
}

Value *value_on_host(Builder *builder, Value *value, Map *copied)
{
    return value_is_on_host(value) ? copy_to_host(builder, value, copied) : NULL;
}
