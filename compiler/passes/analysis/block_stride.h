/* block_stride.h: loops in which each thread begins at its own index. Private to this folder. */
#ifndef TILEC_PASSES_ANALYSIS_BLOCK_STRIDE_H
#define TILEC_PASSES_ANALYSIS_BLOCK_STRIDE_H

#include "passes/pass.h"

/* `for i in range(t, end, step)`, t a thread's index below the step, and the end a multiple of it:
 * all threads make as many iterations. It becomes a loop that is the same in all of them, to whose
 * variable t is added. False: it is not such a loop. */
bool block_stride_settle(PassContext *context, Op *loop);

#endif
