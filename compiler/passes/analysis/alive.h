/* alive.h: how much of register tiles is alive at a time. */
#ifndef TILEC_PASSES_ANALYSIS_ALIVE_H
#define TILEC_PASSES_ANALYSIS_ALIVE_H

#include "ir/ir.h"

/* The most bits of register tiles that are alive at one place of the region, all threads together.
 * What products read in shared memory, and what is the same for all elements, takes none. */
int64_t tile_bits_alive(const Region *region);

/* The same of what `size` says of each tile. */
typedef int64_t TileSize(const Value *tile, const void *context);
int64_t tiles_alive(const Region *region, TileSize *size, const void *context);

#endif
