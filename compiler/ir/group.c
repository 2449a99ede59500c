/* group.c: which threads run an op together. */
#include "ir/group.h"

int launch_warps(const Op *launch)
{
    return (int)op_int(launch, ATTR_warps, 1);
}

ThreadGroup launch_threads(const Op *launch)
{
    return (ThreadGroup){0, 32 * launch_warps(launch)};
}

int64_t launch_cluster(const Op *launch)
{
    const Attr *cluster = op_attr(launch, ATTR_cluster);
    int64_t blocks = 1;
    for (int i = 0; cluster && i < cluster->count; i++) blocks *= cluster->integers[i];
    return blocks;
}

int64_t launch_blocks(const Op *launch)
{
    int64_t blocks = 1, extent;
    for (int d = 0; d < 3; d++)
        if (!value_constant(launch->operands[d], &extent) ||
            __builtin_mul_overflow(blocks, extent, &blocks))
            return 0;
    return blocks;
}

bool launch_is_plain(const Op *launch)
{
    for (int i = 0; i < launch->attr_count; i++) {
        const AttrKey key = launch->attrs[i].key;
        if (key != ATTR_warps && key != ATTR_agree && key != ATTR_aliases) return false;
    }
    return true;
}

bool launch_is_cluster_or_cooperative(const Op *launch)
{
    return launch_cluster(launch) > 1 || op_int(launch, ATTR_cooperative, 0);
}

bool is_group(const Op *op)
{
    return op->code == OP_if && operand(op, condition)->op &&
           operand(op, condition)->op->code == OP_in_group;
}

static bool is_some_group(const Op *op, const void *context)
{
    (void)context;
    return is_group(op);
}

bool has_group(const Op *op)
{
    return op_find_within(op, is_some_group, NULL) != NULL;
}

ThreadGroup in_group_threads(const Op *in_group)
{
    return (ThreadGroup){(int)op_int(in_group, ATTR_begin, 0),
                         (int)op_int(in_group, ATTR_count, 1)};
}

ThreadGroup group_threads(const Op *group)
{
    return in_group_threads(operand(group, condition)->op);
}

ThreadGroup op_threads(const Op *op)
{
    for (const Region *at = op->parent; at && at->parent; at = at->parent->parent) {
        if (at->parent->code == OP_launch) return launch_threads(at->parent);
        if (is_group(at->parent) && at == at->parent->regions[0]) return group_threads(at->parent);
    }
    return (ThreadGroup){0, 32};
}

bool op_is_of_block(const Op *op)
{
    const Op *launch = op_enclosing(op, OP_launch);
    return !launch || op_threads(op).count == launch_threads(launch).count;
}

int group_warps(ThreadGroup group)
{
    return group.count / 32;
}

bool group_is_same(ThreadGroup a, ThreadGroup b)
{
    return a.begin == b.begin && a.count == b.count;
}

bool group_has(ThreadGroup outer, ThreadGroup inner)
{
    return inner.begin >= outer.begin && inner.begin + inner.count <= outer.begin + outer.count;
}

bool group_is_apart(ThreadGroup a, ThreadGroup b)
{
    return a.begin + a.count <= b.begin || b.begin + b.count <= a.begin;
}
