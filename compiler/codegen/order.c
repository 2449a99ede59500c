/* order.c: what the ops of a thread order in memory, and for whom: the one place from which the
 * GPU's instructions get their .sem and .scope, and the emulator what it holds the program to. */
#include "codegen/llvm.h"

#include <string.h>

static const char *const order_names[] = {
    [0] = "relaxed",
    [TILE_EMU_ACQUIRE] = "acquire",
    [TILE_EMU_RELEASE] = "release",
    [TILE_EMU_ACQUIRE | TILE_EMU_RELEASE] = "acq_rel",
};

static const char *const scope_names[] = {
    [TILE_EMU_CTA] = "cta",
    [TILE_EMU_CLUSTER] = "cluster",
    [TILE_EMU_GPU] = "gpu",
    [TILE_EMU_SYS] = "sys",
};

const char *memory_order_name(MemoryOrder order)
{
    return order_names[order.kinds];
}

const char *memory_scope_name(MemoryOrder order)
{
    return scope_names[order.scope];
}

bool is_remote(const Op *op)
{
    const Value *barrier = operand_given(op, barrier);
    return (barrier != NULL ? barrier : operand(op, pointer))->type->space == SPACE_CLUSTER;
}

static uint8_t order_named(const char *name)
{
    for (uint8_t i = 0; i < sizeof order_names / sizeof *order_names; i++)
        if (strcmp(order_names[i], name) == 0) return i;
    ICE("no memory order '%s'", name);
}

static tile_emu_scope scope_named(const char *name)
{
    for (int i = 0; i < (int)(sizeof scope_names / sizeof *scope_names); i++)
        if (strcmp(scope_names[i], name) == 0) return (tile_emu_scope)i;
    ICE("no scope '%s'", name);
}

/* Another block's memory is the cluster's. One order of all is made by a fence before the atomic.
 */
MemoryOrder atomic_order(const Op *op)
{
    const char *order = op_attr(op, ATTR_order)->text;
    const bool sequential = strcmp(order, "seq_cst") == 0;
    MemoryOrder made = {.kinds = order_named(sequential ? "acq_rel" : order),
                        .scope = scope_named(op_attr(op, ATTR_scope)->text),
                        .sequential = sequential};
    if (is_remote(op) && made.scope == TILE_EMU_CTA) made.scope = TILE_EMU_CLUSTER;
    return made;
}

/* A block arrives at its own barriers for its own threads. One that is told of bytes is always told
 * for the cluster. */
MemoryOrder arrival_order(const Op *op)
{
    const bool narrow = op_attr(op, ATTR_scope) && !op_attr(op, ATTR_bytes);
    return (MemoryOrder){.kinds = TILE_EMU_RELEASE,
                         .scope = is_remote(op) && !narrow ? TILE_EMU_CLUSTER : TILE_EMU_CTA};
}

/* Those that arrive may be of other blocks. */
MemoryOrder wait_order(const Op *op)
{
    const Op *launch = op_enclosing(op, OP_launch);
    const bool wide = launch && op_attr(launch, ATTR_cluster) && !op_attr(op, ATTR_scope);
    return (MemoryOrder){.kinds = TILE_EMU_ACQUIRE,
                         .scope = wide ? TILE_EMU_CLUSTER : TILE_EMU_CTA};
}
