/* kernel_library.c: a plug-in with a kernel and a libtile of its own, for tests that load and
 * unload it. */
#include "abi.h"

__attribute__((visibility("default"))) tile_status plugin_call(int32_t n);
__attribute__((visibility("default"))) const char *plugin_error(void);

static int32_t host(const void *const *arguments, tile_grid *grids, int64_t *extents,
                    uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)extents, (void)workspaces, (void)complaint, (void)spans;
    grids[0] = (tile_grid){*(const uint32_t *)arguments[0], 1, 1};
    return TILE_OK;
}

static const tile_parameter parameters[] = {{"n", "i32", TILE_PARAMETER_SCALAR, 4}};
static const tile_entry entries[] = {{"plugin", NULL, 1, 0, 0, 0}};
static const tile_image images[] = {
    {"sm_90", "cubin", entries, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0}};
static const tile_variant variants[] = {{NULL, images, 1}};
static const tile_specialisation specialisations[] = {{NULL, host, variants, 1, 1}};
static void *state;
static const tile_kernel kernel = {
    "plugin", parameters, specialisations, &state, TILE_ABI_VERSION, 1, 1, 0};

tile_status plugin_call(int32_t n)
{
    const void *arguments[] = {&n};
    return tile_launch(&kernel, NULL, NULL, 0, arguments);
}

const char *plugin_error(void)
{
    return tile_last_error();
}
