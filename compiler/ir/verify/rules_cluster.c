/* rules_cluster.c: what blocks do with each other. */
#include "ir/verify/rules.h"

bool rule_cluster(const Check *check, const Op *launch)
{
    enum { MOST = 16 };
    const Attr *cluster = op_attr(launch, ATTR_cluster);
    int64_t blocks = 1;
    if (cluster == NULL) return true;
    if (cluster->count != 3) return broken(check, "a {cluster} has three extents");
    for (int i = 0; i < cluster->count; i++) {
        if (cluster->integers[i] < 1 || cluster->integers[i] > MOST)
            return broken(check, "a {cluster} has 1 to 16 blocks");
        blocks *= cluster->integers[i];
    }
    return require(check, blocks <= MOST, "a {cluster} has 16 blocks at most");
}

bool rule_shared_peer(const Check *check)
{
    const Op *tile = operand(check->op, tile)->op;
    return require(check, operand_type(check, rank)->dtype == DTYPE_i32, "the rank is an i32") &&
           require(check, result_type(check) == operand_type(check, tile),
                   "it is a tile like the operand") &&
           require(check,
                   tile != NULL &&
                       (tile->code == OP_shared_alloc || tile->code == OP_shared_reshape),
                   "the operand is a whole tile");
}

bool rule_cluster_address(const Check *check)
{
    const Type *from = operand_type(check, pointer), *to = result_type(check);
    return require(check, operand_type(check, rank)->dtype == DTYPE_i32, "the rank is an i32") &&
           require(check,
                   from->space == SPACE_SHARED && to->space == SPACE_CLUSTER &&
                       from->dtype == to->dtype,
                   "an address of the block becomes one of the cluster");
}

bool rule_grid_sync(const Check *check)
{
    const Type *count = operand_type(check, count);
    const Op *launch = op_enclosing(check->op, OP_launch);
    return require(check, count->dtype == DTYPE_u32 && count->space == SPACE_GLOBAL,
                   "blocks meet at a u32 of global memory") &&
           require(check, launch != NULL && op_int(launch, ATTR_cooperative, 0),
                   "the launch is not {cooperative}");
}
