/* host_value.c: numbers of a launch that the host can compute: scalar code over the parameters. */
#include "passes/access.h"

enum { CHAIN = 1000 }; /* ops behind a number: more are given up */

static bool is_on_host(const Value *value)
{
    return (!value->op && !value->region) || (value->op && !value->op->parent->parent);
}

static bool host_has(const Value *value)
{
    const OpInfo *info = value->op ? op_info(value->op->code) : NULL;
    return info && info->stages & HOST && info->traits & PURE;
}

static bool is_known(const Value *value, int depth)
{
    if (is_on_host(value)) return true;
    if (!host_has(value) || depth > CHAIN) return false;
    for (int i = 0; i < value->op->operand_count; i++)
        if (!is_known(value->op->operands[i], depth + 1)) return false;
    return true;
}

bool value_is_on_host(const Value *value)
{
    return is_known(value, 0);
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
