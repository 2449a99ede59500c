# What the driver is asked for textures: arrays, copies, texture objects and surfaces, by a driver that has texels in the host's memory.
needs numpy
export TILE_DEVICE=emulator
cd "$TMP"
cat > driver.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { size_t extents[3]; unsigned format, channels, flags; } Descriptor;
typedef struct Array { Descriptor shape; size_t texel; char *texels; struct Array *levels[16]; } Array;
typedef struct { size_t x, y, z, level; unsigned kind; char *host, *device; Array *array; void *reserved; size_t pitch, rows; } End;
typedef struct { End from, to; size_t bytes, rows, planes; } Copy;
typedef struct { unsigned kind; Array *array; char rest[120]; unsigned flags; } Resource;
typedef struct { unsigned address[3], filter, flags, anisotropy, level_filter; float bias, least, most, border[4]; int reserved[12]; } Sampling;

static Array *make(const Descriptor *shape, unsigned level)
{
    Array *made = calloc(1, sizeof *made);
    size_t count = 1;
    made->shape = *shape;
    for (int i = 0; i < 3; i++) {
        size_t extent = shape->extents[i] >> level;
        made->shape.extents[i] = shape->extents[i] ? extent ? extent : 1 : 0;
        count *= made->shape.extents[i] ? made->shape.extents[i] : 1;
    }
    made->texel = 4 * shape->channels;
    made->texels = calloc(count, made->texel);
    return made;
}

static void describe(const char *what, const Descriptor *shape)
{
    printf("%s %zu %zu %zu, format %u, %u channels, flags %u\n", what, shape->extents[0], shape->extents[1], shape->extents[2], shape->format,
           shape->channels, shape->flags);
}

static char *row(const End *end, size_t y, size_t z)
{
    if (end->kind != 3) return (end->kind == 1 ? end->host : end->device) + (z * end->rows + y) * end->pitch;
    const size_t *extents = end->array->shape.extents;
    return end->array->texels + (z * (extents[1] ? extents[1] : 1) + y) * extents[0] * end->array->texel;
}

int cuInit(unsigned flags) { return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = "context"; return 0; }
int cuCtxPushCurrent_v2(void *context) { return 0; }
int cuCtxPopCurrent_v2(void **context) { return 0; }
int cuArray3DCreate_v2(Array **out, const Descriptor *shape) { describe("array", shape); *out = make(shape, 0); return 0; }
int cuArray3DGetDescriptor_v2(Descriptor *out, const Array *array) { *out = array->shape; return 0; }
int cuMipmappedArrayCreate(Array **out, const Descriptor *shape, unsigned levels)
{
    describe("levels of", shape);
    *out = make(shape, 0);
    for (unsigned i = 0; i < levels; i++) (*out)->levels[i] = make(shape, i);
    return 0;
}
int cuMipmappedArrayGetLevel(Array **out, const Array *array, unsigned level) { *out = array->levels[level]; return 0; }
int cuArrayDestroy(Array *array) { puts("destroyed"); return 0; }
int cuMipmappedArrayDestroy(Array *array) { puts("levels destroyed"); return 0; }
int cuMemcpy3DAsync_v2(const Copy *copy, void *stream)
{
    for (size_t z = 0; z < copy->planes; z++)
        for (size_t y = 0; y < copy->rows; y++) memcpy(row(&copy->to, y, z), row(&copy->from, y, z), copy->bytes);
    return 0;
}
int cuTexObjectCreate(unsigned long long *out, const Resource *of, const Sampling *as, void *view)
{
    printf("texture of kind %u: address %u %u %u, filter %u, flags %u, levels by %u, up to %g\n", of->kind, as->address[0], as->address[1],
           as->address[2], as->filter, as->flags, as->level_filter, (double)as->most);
    *out = 77;
    return view != NULL;
}
int cuTexObjectDestroy(unsigned long long texture) { printf("texture %llu destroyed\n", texture); return 0; }
int cuSurfObjectCreate(unsigned long long *out, const Resource *of) { *out = 88; return of->kind; }
int cuSurfObjectDestroy(unsigned long long surface) { printf("surface %llu destroyed\n", surface); return 0; }
C
${CC:-cc} -w -shared -fPIC -o libcuda.so.1 driver.c
cat > program.py <<'P'
import numpy as np
import warp as wp
from warp import cuda_arrays, textures

for shape, levels, surface in (((5,), 1, False), ((4, 6), 1, True), ((2, 3, 4), 1, False), ((8, 8), 3, False)):
    extents = (*reversed(shape), 1, 1)[:3]
    data = np.arange(2 * np.prod(shape), dtype=np.float32).reshape(*shape, 2)
    image = cuda_arrays.Image(len(shape), extents, 2, wp.float32, levels, surface)
    for level in range(levels):
        image.write(level, data[tuple([slice(extent >> level) for extent in shape])])
    sampler = image.sampler(textures._Options(1, 1, [1, 0, 2], True))
    if levels == 1:
        back, other = np.zeros_like(data), cuda_arrays.Image(len(shape), extents, 2, wp.float32, 1)
        image.copy(back, True)
        print((back == data).all(), end=" ")
        image.copy(wp.array(data + 1, dtype=wp.vec2, device="cpu"), False)
        other.copy(image, False)
        other.copy(back, True)
        seen = cuda_arrays.Image.of(image.array)
        print((back == data + 1).all(), seen.dims, seen.extents, seen.channels, seen.dtype.__name__)
    if surface:
        print(image.surface(), image.surface())
    print(sampler.handle)
    sampler.close()
    image.close()
P
LD_LIBRARY_PATH=$TMP:$LD_LIBRARY_PATH PYTHONUNBUFFERED=1 stdbuf -o0 python3 -m tilec run program.py
