/* tensor_map.c: what TMA is told of memory (CUDA Driver API, "Tensor Map Object
 * Management"). */
#include "runtime.h"

#include <string.h>

enum { KEPT = 16, UNIT_BYTES = 16 };
#define LARGEST_EXTENT (INT64_C(1) << 32)
#define LARGEST_STRIDE (INT64_C(1) << 40)

static int fits(const tile_tensor_map *map)
{
    if ((uintptr_t)map->pointer % UNIT_BYTES) return 0;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (map->extents[i] < 1 || map->extents[i] > LARGEST_EXTENT) return 0;
        if (i > 0 && (map->strides[i] < 0 || map->strides[i] >= LARGEST_STRIDE ||
                      map->strides[i] % UNIT_BYTES))
            return 0;
    }
    return 1;
}

int tile_maps_fit(const tile_image *image, const void *const *arguments)
{
    tile_tensor_map maps[TILE_MAX_MAPS];
    if (!image->map_count) return 1;
    if (image->map_count > TILE_MAX_MAPS) return 0;
    image->maps(arguments, maps);
    for (uint64_t i = 0; i < image->map_count; i++)
        if (!fits(&maps[i])) return 0;
    return 1;
}

/* ---- the GPU's ------------------------------------------------------------------------------- */

static int data_type(uint32_t dtype)
{
    switch (dtype) {
    case TILE_DTYPE(kDLUInt, 8, 1): return CU_TENSOR_MAP_DATA_TYPE_UINT8;
    case TILE_DTYPE(kDLUInt, 16, 1): return CU_TENSOR_MAP_DATA_TYPE_UINT16;
    case TILE_DTYPE(kDLUInt, 32, 1): return CU_TENSOR_MAP_DATA_TYPE_UINT32;
    case TILE_DTYPE(kDLFloat, 16, 1): return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case TILE_DTYPE(kDLFloat, 32, 1): return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case TILE_DTYPE(kDLBfloat, 16, 1): return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT64;
    }
}

static int swizzle_of(uint32_t bytes)
{
    return bytes == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
           : bytes == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
           : bytes == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                         : CU_TENSOR_MAP_SWIZZLE_NONE;
}

static CUresult encode(const tile_driver *driver, const tile_tensor_map *map, tile_encoded_map *out)
{
    static const uint32_t steps[5] = {1, 1, 1, 1, 1};
    uint64_t extents[5], strides[5];
    for (uint32_t i = 0; i < map->rank; i++) {
        extents[i] = (uint64_t)map->extents[i];
        strides[i] = (uint64_t)map->strides[i];
    }
    return driver->map_encode(out->bytes, data_type(map->dtype), map->rank,
                              (void *)(uintptr_t)map->pointer, extents, strides + 1, map->box,
                              steps, 0, swizzle_of(map->swizzle), CU_TENSOR_MAP_L2_PROMOTION_128B,
                              0);
}

/* What this thread made last, as calls repeat themselves. */
typedef struct kept_map {
    tile_tensor_map plan;
    tile_encoded_map map;
} kept_map;

static kept_map *place_of(const tile_tensor_map *map)
{
    static _Thread_local kept_map kept[KEPT];
    uint64_t hash = (uint64_t)(uintptr_t)map->pointer / UNIT_BYTES + (uint64_t)map->extents[0] * 3 +
                    (uint64_t)map->extents[1] * 5 + map->box[0] * 7 + map->box[1];
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return &kept[hash >> 60];
}

static tile_status make(const tile_driver *driver, const tile_kernel *kernel,
                        const tile_tensor_map *map, tile_encoded_map *out)
{
    kept_map *kept = place_of(map);
    if (memcmp(&kept->plan, map, sizeof *map)) {
        const CUresult result = encode(driver, map, &kept->map);
        if (result != CUDA_SUCCESS) {
            memset(&kept->plan, 0, sizeof kept->plan);
            return tile_driver_error(driver, result, kernel->name, "cuTensorMapEncodeTiled");
        }
        kept->plan = *map;
    }
    *out = kept->map;
    return TILE_OK;
}

tile_status tile_maps_on_gpu(const tile_driver *driver, const tile_kernel *kernel,
                             const tile_image *image, const void *const *arguments,
                             tile_encoded_map *out)
{
    tile_tensor_map maps[TILE_MAX_MAPS];
    memset(maps, 0, sizeof maps); /* they are compared as bytes */
    tile_status status = TILE_OK;
    if (image->map_count) image->maps(arguments, maps);
    for (uint64_t i = 0; !status && i < image->map_count; i++)
        status = make(driver, kernel, &maps[i], &out[i]);
    return status;
}

/* ---- the emulator's -------------------------------------------------------------------------- */

void tile_maps_emulated(const tile_image *image, const void *const *arguments,
                        tile_encoded_map *out)
{
    tile_tensor_map maps[TILE_MAX_MAPS];
    if (!image->map_count) return;
    image->maps(arguments, maps);
    for (uint64_t i = 0; i < image->map_count; i++) memcpy(out[i].bytes, &maps[i], sizeof maps[i]);
}
