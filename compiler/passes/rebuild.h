/* rebuild.h: changing how many operands and results an op with regions has, for promote, simplify
 * and pipeline. */
#ifndef TILEC_PASSES_REBUILD_H
#define TILEC_PASSES_REBUILD_H

#include "ir/ir.h"

/* An op's results are an array in place, so one with more or fewer is a new op, made before `op`:
 * same code, attributes and regions (which move). `op` itself is left empty for the caller to
 * erase. */
Op *op_rebuild(Op *op, int operand_count, Value *const *operands, int result_count,
               const Type *const *types);

/* A region's last op if it is a terminator, else NULL. */
Op *region_terminator(const Region *region);

#endif
