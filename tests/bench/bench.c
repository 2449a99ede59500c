/* bench.c: see bench.h. */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void bench_stop(const char *what)
{
    fflush(stdout);
    fprintf(stderr, "%s failed: %s\n", what, tile_last_error());
    exit(3);
}

void bench_must(int result, const char *what)
{
    if (result) {
        fprintf(stderr, "status %d (%s): ", result, tile_status_name(result));
        bench_stop(what);
    }
}

void *bench_new(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory) bench_stop("calloc");
    return memory;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* splitmix64: one word of state, and good enough for operands. */
uint64_t bench_random_bits(bench_random *random)
{
    uint64_t bits = random->state += 0x9e3779b97f4a7c15u;
    bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ bits >> 27) * 0x94d049bb133111ebu;
    return bits ^ bits >> 31;
}

double bench_random_number(bench_random *random)
{
    return (double)(bench_random_bits(random) >> 11) * 0x1p-52 - 1;
}

/* A half is a multiple of 2^-24 below 2^-14, and of 2^(exponent - 10) above. rint() rounds to
 * nearest even in the default mode, so the scaled value is rounded as the format asks. */
uint16_t bench_half(double value)
{
    const unsigned sign = signbit(value) ? 0x8000u : 0;
    const double magnitude = fabs(value);
    int exponent;
    if (isnan(value)) return 0x7e00;
    if (magnitude >= 65520) return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x1p-14) return (uint16_t)(sign | (unsigned)rint(magnitude * 0x1p24));
    frexp(magnitude, &exponent); /* magnitude = f * 2^exponent with f in [0.5, 1) */
    /* 1024..2048; the carry of 2048 into the exponent is just what is wanted */
    const unsigned scaled = (unsigned)rint(ldexp(magnitude, 11 - exponent));
    return (uint16_t)(sign | (((unsigned)(exponent + 14) << 10) + scaled - 1024));
}

double bench_from_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double sign = half & 0x8000 ? -1 : 1;
    if (exponent == 31) return fraction ? NAN : sign * INFINITY;
    if (!exponent) return sign * fraction * 0x1p-24;
    return sign * ldexp(1024 + fraction, exponent - 25);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_quantile(double *values, int count, double quantile)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    const double at = quantile * (count - 1);
    const int below = (int)at, above = below + 1 < count ? below + 1 : below;
    return values[below] + (at - below) * (values[above] - values[below]);
}

/* ---- the GPU --------------------------------------------------------------------------------- */

void bench_find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    if (!address) {
        fprintf(stderr, "%s: ", dlerror());
        bench_stop(name);
    }
    memcpy(function, &address, sizeof address);
}

static void find_calls(bench_gpu *gpu)
{
    const char *given = getenv("TILE_CUDA_LIBRARY"); /* libtile's name for another driver */
    void *library = dlopen(given ? given : "libcuda.so.1", RTLD_NOW);
    if (!library) bench_stop("opening libcuda.so.1");
#define FIND(field, symbol, parameters) bench_find(library, #symbol, &gpu->field);
    TILE_DRIVER_CALLS(FIND)
#undef FIND
#define FIND(field, symbol, parameters) bench_find(library, #symbol, &gpu->more.field);
    BENCH_CALLS(FIND)
#undef FIND
}

void bench_gpu_open(bench_gpu *gpu)
{
    enum { NON_BLOCKING = 1, MULTIPROCESSORS = 16, L2_BYTES = 38 };
    CUdevice device;
    CUcontext context;
    find_calls(gpu);
    bench_must(gpu->init(0), "cuInit");
    bench_must(gpu->device_get(&device, 0), "cuDeviceGet");
    bench_must(gpu->primary_retain(&context, device), "cuDevicePrimaryCtxRetain");
    bench_must(gpu->more.context_set(context), "cuCtxSetCurrent");
    bench_must(gpu->more.stream_create(&gpu->stream, NON_BLOCKING), "cuStreamCreate");
    bench_must(gpu->device_name(gpu->name, sizeof gpu->name, device), "cuDeviceGetName");
    bench_must(gpu->driver_version(&gpu->version), "cuDriverGetVersion");
    bench_must(gpu->device_attribute(&gpu->multiprocessors, MULTIPROCESSORS, device),
               "cuDeviceGetAttribute");
    bench_must(gpu->device_attribute(&gpu->l2_bytes, L2_BYTES, device), "cuDeviceGetAttribute");
}

int bench_on_emulator(void)
{
    const char *device = getenv("TILE_DEVICE");
    return device && !strcmp(device, "emulator");
}
