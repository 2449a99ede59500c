/* invocation.h: one call of a kernel, on its way from the arguments to the launches. */
#ifndef TILE_INVOCATION_H
#define TILE_INVOCATION_H

#include "runtime.h"

/* A call, sorted out. */
typedef struct invocation {
    const tile_kernel *kernel;
    const void *const *arguments;        /* all of them */
    const void *const *device_arguments; /* without the keys */
    const tile_specialisation *specialisation;
    const tile_variant *variant;
    uint32_t specialisation_index;
    uint32_t variant_index;
    uint32_t key_count;
    uint32_t device_count; /* of device_arguments; workspaces follow them */
    int64_t keys[TILE_MAX_PARAMETERS];
    const void *parameters[TILE_MAX_PARAMETERS + TILE_MAX_WORKSPACES + TILE_MAX_MAPS];
    tile_encoded_map maps[TILE_MAX_MAPS];
    tile_grid grids[TILE_MAX_LAUNCHES];
    int64_t *extents; /* where those of results go, or NULL */
    uint64_t workspace_bytes[TILE_MAX_WORKSPACES];
    void *workspaces[TILE_MAX_WORKSPACES];
} invocation;

/* ---- resolve.c ------------------------------------------------------------------------------- */

/* From the arguments to the grids; `grid` is the caller's, or NULL. */
tile_status tile_resolve(invocation *call, const tile_kernel *kernel, const tile_grid *grid,
                         const void *const *arguments);
/* The variant and the grids of a call whose specialisation is known. */
tile_status tile_resolve_variant(invocation *call, const tile_grid *grid);
/* Adds the integer arguments with their values: a grid is made of nothing else. */
void tile_describe_integers(tile_text *text, const invocation *call);

#endif
