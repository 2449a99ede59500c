/* coordinates.h: what tells the blocks of a launch apart, and its iterations; private to this
 * folder. */
#ifndef TILEC_PASSES_GRAD_COORDINATES_H
#define TILEC_PASSES_GRAD_COORDINATES_H

#include "ir/op_vec.h"
#include "passes/grad/grad.h"

/* A number that is its own in each block, from 0 to its extent; or a loop's variable. */
typedef struct Coordinate {
    Value *value;  /* in the launch */
    Value *extent; /* the host's; of a loop NULL */
    Op *loop;      /* or NULL */
} Coordinate;

typedef VEC(Coordinate) Coordinates;

/* The coordinates of the block, the fastest first, of which all that the launch does with the
 * block's index is made; and behind them those of the loops around the op, from the outermost.
 * False: there is none such, or a loop's bounds are not the same everywhere. */
bool find_coordinates(Grad *grad, Op *launch, const Op *op, Coordinates *out);
/* A number of the host's, computed in a launch; `values` says what is there already, and is
 * extended. NULL: it can't be. */
Value *value_in_launch(Builder *builder, Value *value, Map *values);
bool value_needs(const Value *value, const Value *coordinate);
/* Whether no two blocks, or iterations, meet in an element that the op, an atomic on a view, adds
 * to. */
bool adds_apart(const Op *atomic, const Coordinates *coordinates);

/* A number as it was before it was cast. */
Value *without_cast(Value *value);

/* ---- plain_sums.c: what no two blocks add to ---- */

OpVec effects_of(Grad *grad, Op *launch); /* on global memory */
void settle_sums(Grad *grad, Op *launch);

/* ---- block_sums.c: sums that all blocks along a coordinate add to one place ---- */
void gather_block_sums(Grad *grad, Op *launch);

#endif
