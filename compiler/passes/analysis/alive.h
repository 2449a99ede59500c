/* alive.h: how much of register tiles is alive at a time. */
#ifndef TILEC_PASSES_ANALYSIS_ALIVE_H
#define TILEC_PASSES_ANALYSIS_ALIVE_H

#include "ir/ir.h"

/* The most bits of register tiles that are alive at one place of the region, all threads together.
 * What products read in shared memory, and what is the same for all elements, takes none. */
int64_t tile_bits_alive(const Region *region);

#endif
