/* agreed.h: control that is taken to be the same in all threads. Private to this folder. */
#ifndef TILEC_PASSES_SSA_AGREED_H
#define TILEC_PASSES_SSA_AGREED_H

#include "passes/analysis/uniformity.h"

/* Makes all threads go the way of the first one through `control`, by which they may part, as they
 * do `joint` together in it. False: they part by their index. */
bool control_agree(Agreement *agreement, Kernel *kernel, Op *control, const Op *joint);

#endif
