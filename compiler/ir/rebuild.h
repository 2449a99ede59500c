/* rebuild.h: changing how many operands and results an op with regions has, and moving
 * what is in regions. */
#ifndef TILEC_IR_REBUILD_H
#define TILEC_IR_REBUILD_H

#include "ir/ir.h"

/* An op's results are an array in place, so one with more or fewer is a new op, made before `op`:
 * same code, attributes and regions (which move). `op` itself is left empty for the caller to
 * erase. */
Op *op_rebuild(Op *op, int operand_count, Value *const *operands, int result_count,
               const Type *const *types);

/* A `for` of so many operands: its bounds, and what it carries at first. Its region has the index
 * and what it carries as arguments. */
Op *loop_build(Builder *builder, int count, Value *const *operands);
/* A `for` that carries `first` too, behind what it carries already, in the place of `loop`, which
 * is gone. The region's new arguments and what it yields for them are the caller's to add. */
Op *loop_carry(Op *loop, int count, Value *const *first);
/* An `if` with results of these types, too: what its regions yield for them is the caller's to add.
 */
Op *branch_carry(Op *branch, int count, const Type *const *types);

/* The `if` or `for` without that result, and what its regions yield and a loop carries for it;
 * nobody uses what it carries. The results of `op` are those of the new one, but for that one; it
 * is left for the caller to erase. */
Op *op_narrow(Op *op, int index);

/* Makes what becomes of an op in an iteration, by its number; `copies` says what is there already,
 * and is told of the op's results. */
typedef void IterationCopier(Builder *at, const Op *op, int64_t trip, Map *copies, void *context);
/* So many iterations of the loop, before it, from the one of index `begin` on. What the last one
 * yields stands for the loop's results; the loop is left for the caller to erase. */
void loop_copy_iterations(Op *loop, int64_t begin, int64_t step, int64_t trips,
                          IterationCopier *copy, void *context);

/* The region's ops in the op's place, which is gone: what they end with stands for its results. */
void op_dissolve(Op *op, Region *region);
/* A loop of one iteration, of that index, is what is in it. */
void loop_dissolve(Op *loop, Value *index);

/* To before `before`: the op and all that come behind it; all of a region but its terminator. */
void ops_move_before(Op *first, Op *before);
void region_move_before(Region *region, Op *before);
/* Whether the value is there in front of the op, or could be made there, by pure ops behind it or
 * within it that each thread does for itself; and makes it so. */
bool value_may_precede(const Value *value, const Op *op);
void value_move_before(const Value *value, Op *op);

/* The load, moved to the builder's place and done where `where` holds, too; else it gives zero. Its
 * address and its own predicate are there. */
void load_move_under(Builder *at, Op *load, Value *where);

/* The value at the builder's place: copies what it needs of the region; `map` says what is there
 * already. */
Value *value_copy_slice(Builder *builder, Value *value, const Region *region, Map *map);

/* `rest` and what comes behind it take these for the block's indices along x and y; NULL: its own.
 */
void ops_rename_blocks(Op *rest, Value *indices[2]);

/* A region's last op if it is a terminator, else NULL. */
Op *region_terminator(const Region *region);

#endif
