/* index_bounds.h: where the indices of an access may lie. Private to this folder. */
#ifndef TILEC_PASSES_SSA_INDEX_BOUNDS_H
#define TILEC_PASSES_SSA_INDEX_BOUNDS_H

#include "passes/analysis/access.h"

/* Along dimension `dim` of the tile that a gather or an element's load reads: no index that is
 * used is outside of [*low, *high], an index that is not known counts as any of the tile's. Looks
 * at as many values as *looks says, and takes those off. */
void index_reach(FactTable *facts, int64_t *looks, Op *read, int dim, int64_t *low, int64_t *high);

#endif
