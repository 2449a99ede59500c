/* op_vec.h: ops in some order. */
#ifndef TILEC_IR_OP_VEC_H
#define TILEC_IR_OP_VEC_H

#include "base/vec.h"
#include "ir/ir.h"

typedef VEC(Op *) OpVec;

/* Those of the region, and of regions within, of which the test holds (NULL: all of them), or of
 * one code; in order, each before those in its own regions. */
OpVec region_list(Arena *arena, const Region *region, OpTest *test, const void *context);
OpVec region_list_those(Arena *arena, const Region *region, OpCode code);
/* Ops that the value is made of, those of its operands before each, as far as the answer is
 * VALUE_OPERANDS. Each is listed once. */
OpVec value_ops(Arena *arena, const Value *value, ValueQuestion *ask, void *context);

#endif
