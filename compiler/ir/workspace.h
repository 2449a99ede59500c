/* workspace.h: how large a kernel's workspaces are, which the host computes. */
#ifndef TILEC_IR_WORKSPACE_H
#define TILEC_IR_WORKSPACE_H

#include "ir/ir.h"

enum { WORKSPACES = 32 }; /* of one kernel: a bit each in tile_specialisation */

/* The size of workspace `index`, in the host region: the product of i64 values, the first of which
 * is a number of bytes. One that is negative, or a product above what any device has, is refused
 * when the kernel is called. */
void build_workspace_size(Builder *host, int index, int count, Value *const *extents);
/* bytes * extent; -1 where it is negative or above what any device has. */
Value *build_workspace_bytes(Builder *host, Value *bytes, Value *extent);
void workspaces_settle(Kernel *kernel); /* drops those that nothing uses */

#endif
