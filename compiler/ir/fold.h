/* fold.h: constant folding, for simplify. */
#ifndef TILEC_IR_FOLD_H
#define TILEC_IR_FOLD_H

#include "ir/ir.h"

/* The constant that a pure scalar op on constants gives, built at the builder's place; NULL if it
 * cannot be known. */
Value *fold_constants(Builder *builder, const Op *op);
/* What an elementwise op gives for one element of each operand, all of them integers or booleans;
 * false: it is none of these, or cannot be known. */
bool fold_element(const Op *op, const int64_t *operands, int64_t *out);
/* The number that a value is where `known` has those of others, or is NULL: follows elementwise
 * ops, at most FOLD_LOOKS of them, as they may share parts. */
enum { FOLD_LOOKS = 1000 };
typedef bool KnownNumber(const Value *value, const void *context, int64_t *out);
bool fold_value(const Value *value, KnownNumber *known, const void *context, int64_t *out);

#endif
