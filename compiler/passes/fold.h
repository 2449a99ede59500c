/* fold.h: constant folding, for simplify. */
#ifndef TILEC_PASSES_FOLD_H
#define TILEC_PASSES_FOLD_H

#include "ir/ir.h"

/* The constant that a pure scalar op on constants gives, built at the builder's place; NULL if it
 * cannot be known. */
Value *fold_constants(Builder *builder, const Op *op);

#endif
