/* group.h: which threads run an op together: a launch's, or those of a thread group: an `if` by
 * `in_group`, whose first region belongs to some threads of the block alone. */
#ifndef TILEC_IR_GROUP_H
#define TILEC_IR_GROUP_H

#include "ir/ir.h"

int launch_warps(const Op *launch);
int64_t launch_cluster(const Op *launch); /* blocks of a cluster */
int64_t launch_blocks(const Op *launch);  /* of the grid; 0: its extents are no numbers */
/* Nothing is said of it but its warps, and what its threads and parameters may be taken for. */
bool launch_is_plain(const Op *launch);
/* Its blocks stand for themselves: no other may do their work, or come in another order. */
bool launch_is_cluster_or_cooperative(const Op *launch);

typedef struct ThreadGroup {
    int begin, count; /* threads: one, or whole warps */
} ThreadGroup;

ThreadGroup launch_threads(const Op *launch); /* all of a block */

/* Whether the op is an `if` that makes a group. */
bool is_group(const Op *op);
bool has_group(const Op *op); /* it is one, or there is one in its regions */
/* The threads in which an `in_group` is true. */
ThreadGroup in_group_threads(const Op *in_group);
/* The threads that `group`'s first region belongs to. */
ThreadGroup group_threads(const Op *group);
/* The threads that run an op together: those of the nearest group around it, or of the launch. */
ThreadGroup op_threads(const Op *op);
bool op_is_of_block(const Op *op); /* all of the block do */
/* Warps that share a tile of the group; 0: one thread has all of it. */
int group_warps(ThreadGroup group);
bool group_is_same(ThreadGroup a, ThreadGroup b);
bool group_has(ThreadGroup outer, ThreadGroup inner);
bool group_is_apart(ThreadGroup a, ThreadGroup b);

#endif
