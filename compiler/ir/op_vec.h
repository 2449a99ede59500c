/* op_vec.h: ops in some order. */
#ifndef TILEC_IR_OP_VEC_H
#define TILEC_IR_OP_VEC_H

#include "base/vec.h"
#include "ir/ir.h"

typedef VEC(Op *) OpVec;

#endif
