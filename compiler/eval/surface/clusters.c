/* clusters.c: blocks together: clusters, each other's shared memory, a launch whose blocks meet. */
#include "eval/surface/surface.h"

enum { MOST_BLOCKS = 8 /* of a cluster, on every GPU that has clusters */ };

/* NULL: reported. */
static Op *launch_at_hand(Eval *eval, Span at)
{
    if (!stage_ready(eval, at)) return NULL;
    if (eval->staging->launch == NULL) FAIL(eval, outside_launch, at);
    return eval->staging->launch;
}

static bool grid_is_whole(Eval *eval, const Op *launch, const int64_t extents[3], Span at)
{
    for (int i = 0; i < 3; i++) {
        int64_t grid;
        if (!value_constant(launch->operands[i], &grid) || grid % extents[i] == 0) continue;
        FAIL(eval, cluster_grid, at, i, (long long)grid, (long long)extents[i]);
        return false;
    }
    return true;
}

bool launch_set_cluster(Eval *eval, Op *launch, Object *object, Span at)
{
    int rank;
    int64_t given[TYPE_RANK], extents[3] = {1, 1, 1}, blocks = 1;
    if (!argument_ints(eval, object, "a cluster's extents", at, &rank, given)) return false;
    bool fits = rank >= 1 && rank <= 3;
    for (int i = 0; fits && i < rank; i++) {
        fits = given[i] >= 1 && given[i] <= MOST_BLOCKS;
        extents[i] = given[i];
        blocks *= fits ? given[i] : 1;
    }
    if (!fits || blocks > MOST_BLOCKS) {
        FAIL(eval, cluster_size, at, (int)MOST_BLOCKS, object_repr(eval, object));
        return false;
    }
    if (!grid_is_whole(eval, launch, extents, at)) return false;
    if (blocks > 1) op_set_ints(launch, ATTR_cluster, 3, extents);
    return true;
}

/* launch_cluster(extents): how many blocks along x, y and z make a cluster. */
Object *core_launch_cluster(Eval *eval, const Bound *bound)
{
    Op *launch = launch_at_hand(eval, bound->at);
    return launch != NULL && launch_set_cluster(eval, launch, bound->values[0], bound->at)
               ? eval->none
               : NULL;
}

/* The extents of a cluster, as the launch was given them. */
Object *core_cluster_extents(Eval *eval, const Bound *bound)
{
    const Op *launch = launch_at_hand(eval, bound->at);
    if (launch == NULL) return NULL;
    const Attr *cluster = op_attr(launch, ATTR_cluster);
    Object *extents = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (int i = 0; i < 3; i++)
        list_append(eval, extents, object_int(eval, cluster != NULL ? cluster->integers[i] : 1));
    return extents;
}

Object *core_cluster_rank(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    return object_ir(
        eval, core_build(eval, OP_cluster_rank, 0, NULL, type_scalar(core_types(eval), DTYPE_i32)));
}

/* cluster_arrive(relaxed=False) */
Object *core_cluster_arrive(Eval *eval, const Bound *bound)
{
    bool relaxed = false;
    if (!stage_ready(eval, bound->at)) return NULL;
    if (!argument_absent(bound->values[0]) && !object_truth(eval, bound->values[0], &relaxed))
        return NULL;
    Op *op = build_op(&eval->builder, OP_cluster_arrive, 0, NULL, 0, NULL);
    if (relaxed) op_set_int(op, ATTR_relaxed, 1);
    return eval->none;
}

Object *core_cluster_wait(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    build_op(&eval->builder, OP_cluster_wait, 0, NULL, 0, NULL);
    return eval->none;
}

/* peer(tile, rank): the shared tile in the memory of another block of the cluster. */
Object *core_peer(Eval *eval, const Bound *bound)
{
    Value *operands[2] = {
        argument_value(eval, bound->values[0], TYPE_SHARED, "the tile", NULL, bound->at)};
    if (operands[0] == NULL) return NULL;
    operands[1] = stage_scalar(eval, bound->values[1], DTYPE_i32, bound->at);
    if (operands[1] == NULL) return NULL;
    if (operands[0]->op == NULL ||
        (operands[0]->op->code != OP_shared_alloc && operands[0]->op->code != OP_shared_reshape))
        return FAIL(eval, remote_part, bound->at);
    return object_ir(eval, core_build(eval, OP_shared_peer, 2, operands, operands[0]->type));
}

/* ---- all blocks of a launch ---- */

static bool is_grid_sync(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_grid_sync;
}

/* A number that is 0 at first, one for the kernel. */
static Value *mbarrier_place(Eval *eval, Span at)
{
    const Op *other = region_find(eval->staging->kernel->host, is_grid_sync, NULL);
    return other != NULL ? operand(other, count) : workspace_pointer(eval, DTYPE_u32, 1, at);
}

/* grid_sync(): all threads of the launch wait for each other. */
Object *core_grid_sync(Eval *eval, const Bound *bound)
{
    Op *launch = launch_at_hand(eval, bound->at);
    Value *place = launch != NULL ? mbarrier_place(eval, bound->at) : NULL;
    if (place == NULL) return NULL;
    op_set_int(launch, ATTR_cooperative, 1);
    build_op(&eval->builder, OP_grid_sync, 1, &place, 0, NULL);
    return eval->none;
}
