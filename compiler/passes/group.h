/* group.h: thread groups: an `if` by `in_group`, whose first region belongs to some threads of the
 * block alone. Private to this folder. */
#ifndef TILEC_PASSES_GROUP_H
#define TILEC_PASSES_GROUP_H

#include "ir/ir.h"

typedef struct ThreadGroup {
    int begin, count; /* threads: one, or whole warps */
} ThreadGroup;

/* Whether the op is an `if` that makes a group. */
bool is_group(const Op *op);
bool has_group(const Op *op); /* it is one, or there is one in its regions */
/* The threads that `group`'s first region belongs to. */
ThreadGroup group_threads(const Op *group);
/* The threads that run an op together: those of the nearest group around it, or of the launch. */
ThreadGroup op_threads(const Op *op);
/* Warps that share a tile of the group; 0: one thread has all of it. */
int group_warps(ThreadGroup group);
bool group_is_same(ThreadGroup a, ThreadGroup b);
bool group_has(ThreadGroup outer, ThreadGroup inner);
bool group_is_apart(ThreadGroup a, ThreadGroup b);

#endif
