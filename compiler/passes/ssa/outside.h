/* outside.h: reads outside of a view; private to this folder. */
#ifndef TILEC_PASSES_SSA_OUTSIDE_H
#define TILEC_PASSES_SSA_OUTSIDE_H

#include "passes/analysis/access.h"

/* An op with bounds that reads a view reads what the view says where it is not inside of it. The op
 * may be erased. */
void outside_choose(FactTable *facts, Op *op);

#endif
