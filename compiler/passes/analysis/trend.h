/* trend.h: how a scalar goes as the index of a block grows. */
#ifndef TILEC_PASSES_ANALYSIS_TREND_H
#define TILEC_PASSES_ANALYSIS_TREND_H

#include "ir/ir.h"

typedef enum Trend { TREND_FALLS = -1, TREND_STEADY, TREND_RISES, TREND_UNKNOWN } Trend;

/* As the block's index along `dim` grows, and the others stay. Never falling counts as rising. */
Trend block_trend(const Value *value, int dim);
/* Of the number of iterations of a `for`. */
Trend block_trend_of_trips(const Op *loop, int dim);
/* One block may wait for what another does, so that all must run in the order of the grid. */
bool launch_may_wait(const Op *launch);

#endif
