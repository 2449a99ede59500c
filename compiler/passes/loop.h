/* loop.h: what is asked of a `for`; private to this folder. */
#ifndef TILEC_PASSES_LOOP_H
#define TILEC_PASSES_LOOP_H

#include "ir/ir.h"

/* How often it runs; 0 if that is not known, or never. */
int64_t loop_trips(const Op *loop);
/* True if `value` follows from the loop's variable and from outside by pure ops of the body alone,
 * so that it can be computed rounds ahead. */
bool loop_foresees(const Op *loop, const Value *value);
/* By how much a scalar grows as the loop's variable grows by 1; false if not always by the same. */
bool loop_slope(const Op *loop, const Value *value, int64_t *slope);

#endif
