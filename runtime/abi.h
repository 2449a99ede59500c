/* abi.h: what libtile, libtile_emulator and the code generator agree on beside tile.h. */
#ifndef TILE_ABI_H
#define TILE_ABI_H

#include "tile/tile.h"

/* Sets this thread's error text and returns `status`. */
TILE_API tile_status tile_error(tile_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The emulator's entry, found through tile_image.run so that libtile itself does not need it: runs
 * one launch to its end. `parameters` are the device's: those of the call without the keys. */
typedef tile_status tile_emulator_run_function(const tile_image *image, const tile_entry *entry,
                                               const tile_grid *grid,
                                               const void *const *parameters);
TILE_API tile_emulator_run_function tile_emulator_run;

/* Allocations of tile_alloc on the emulator, for its checks: libtile keeps the list. */
typedef struct tile_allocation {
    uint8_t *base;
    size_t bytes;
    uint8_t *written; /* one bit a byte: set once something wrote it */
} tile_allocation;
/* The allocation that holds `address`, or NULL. Valid until it is freed. */
TILE_API const tile_allocation *tile_find_allocation(const void *address);

#endif
