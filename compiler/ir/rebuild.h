/* rebuild.h: changing how many operands and results an op with regions has, for promote, simplify,
 * pipeline and multi_buffer. */
#ifndef TILEC_IR_REBUILD_H
#define TILEC_IR_REBUILD_H

#include "ir/ir.h"

/* An op's results are an array in place, so one with more or fewer is a new op, made before `op`:
 * same code, attributes and regions (which move). `op` itself is left empty for the caller to
 * erase. */
Op *op_rebuild(Op *op, int operand_count, Value *const *operands, int result_count,
               const Type *const *types);

/* A `for` that carries `first` too, behind what it carries already, in the place of `loop`, which
 * is gone. The region's new arguments and what it yields for them are the caller's to add. */
Op *loop_carry(Op *loop, int count, Value *const *first);
/* An `if` with results of these types, too: what its regions yield for them is the caller's to add.
 */
Op *branch_carry(Op *branch, int count, const Type *const *types);

/* The value at the builder's place: copies what it needs of the region; `map` says what is there
 * already. */
Value *value_copy_slice(Builder *builder, Value *value, const Region *region, Map *map);

/* `rest` and what comes behind it take these for the block's indices along x and y; NULL: its own.
 */
void ops_rename_blocks(Op *rest, Value *indices[2]);

/* A region's last op if it is a terminator, else NULL. */
Op *region_terminator(const Region *region);

#endif
