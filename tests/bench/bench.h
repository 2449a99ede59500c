/* bench.h: what the programs of this folder share: failing loudly, random numbers, half precision,
 * order statistics, and the few driver calls that libtile has no need of. */
#ifndef TILE_BENCH_H
#define TILE_BENCH_H

#include "driver.h"
#include "tile/tile.h"

#include <stdio.h>

/* Ends the program with status 3 where a device or a library fails: nothing can be measured then.
 * A wrong result is no such failure; it is counted, and the rest goes on. */
_Noreturn void bench_stop(const char *what);
void bench_must(int result, const char *what);
void *bench_new(size_t count, size_t bytes);

/* ---- numbers --------------------------------------------------------------------------------- */

typedef struct bench_random {
    uint64_t state;
} bench_random;

uint64_t bench_random_bits(bench_random *random);
/* Uniform in [-1, 1). */
double bench_random_number(bench_random *random);

/* IEEE half precision as bits; to it by round to nearest even. */
uint16_t bench_half(double value);
double bench_from_half(uint16_t half);

/* Sorts `values`; `quantile` 0.5 is the median. */
double bench_quantile(double *values, int count, double quantile);

/* ---- the GPU --------------------------------------------------------------------------------- */

typedef struct CUevent_st *CUevent;

#define BENCH_CALLS(CALL)                                                                          \
    CALL(context_set, cuCtxSetCurrent, (CUcontext context))                                        \
    CALL(stream_create, cuStreamCreate, (CUstream * stream, unsigned int flags))                   \
    CALL(event_create, cuEventCreate, (CUevent * event, unsigned int flags))                       \
    CALL(event_record, cuEventRecord, (CUevent event, CUstream stream))                            \
    CALL(event_synchronize, cuEventSynchronize, (CUevent event))                                   \
    CALL(event_elapsed, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))     \
    CALL(memory_fill, cuMemsetD8Async,                                                             \
         (CUdeviceptr device, unsigned char value, size_t bytes, CUstream stream))                 \
    CALL(memory_copy, cuMemcpyDtoDAsync_v2,                                                        \
         (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))

typedef struct bench_gpu {
#define BENCH_FIELD(field, symbol, parameters) CUresult(*field) parameters;
    TILE_DRIVER_CALLS(BENCH_FIELD)
    struct {
        BENCH_CALLS(BENCH_FIELD)
    } more; /* of the driver than libtile has, or the same once more */
#undef BENCH_FIELD
    CUstream stream;
    char name[64];
    int version; /* 13000 for 13.0 */
    int multiprocessors;
    int l2_bytes;
} bench_gpu;

/* Opens the first GPU, makes its primary context current, and makes a stream. */
void bench_gpu_open(bench_gpu *gpu);
/* A function of a library that was opened; ends the program if there is none. */
void bench_find(void *library, const char *name, void *function);

/* Nonzero if the calls of this process go to the emulator. */
int bench_on_emulator(void);

#endif
