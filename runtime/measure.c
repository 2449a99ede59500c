/* measure.c: how long each configuration of a kernel takes, on the arguments of the call that asks.
 *
 * What the kernel both reads and writes is saved first and put back before each run, and at the
 * end: the call itself then does its work once. The L2 cache is filled with other data between
 * runs. All is done in stream order, and nothing is measured that could not be put back. */
#include "tune.h"

#include <stdlib.h>
#include <string.h>

enum { WARM_UP = 1, ROUNDS = 3, FINAL_ROUNDS = 9, MOST_ROUNDS = FINAL_ROUNDS };

static const double SLOW = 3;     /* a first run so many times the best one: the rest is spared */
static const double CLOSE = 1.15; /* what is measured again: at most so much slower than the best */
static const double LONG = 100e6; /* nanoseconds: of what takes so long one run must do */
#define LARGEST_SPAN (UINT64_C(1) << 48) /* bytes */

typedef struct saved {
    CUdeviceptr memory, copy;
    uint64_t bytes;
} saved;

typedef struct bench {
    const tile_trial *trial;
    const tile_driver *driver;
    CUstream stream;
    CUevent start, end;
    CUdeviceptr other; /* what the cache is filled with; 0: there is no memory for it */
    size_t other_bytes;
    saved saved[TILE_MAX_PARAMETERS];
    uint32_t saved_count;
} bench;

static tile_status failed(const bench *bench, CUresult result, const char *call)
{
    return tile_driver_error(bench->driver, result, bench->trial->question->kernel->name, call);
}

/* ---- what is to be saved --------------------------------------------------------------------- */

static uint64_t address_of(const bench *bench, uint32_t parameter)
{
    uint64_t address;
    memcpy(&address, bench->trial->arguments[parameter], sizeof address);
    return address;
}

static int is_known(uint64_t span)
{
    return span <= LARGEST_SPAN;
}

/* Whether the kernel reads what it writes through the parameter, be it through another one. */
static int is_read(const bench *bench, uint32_t written)
{
    const tile_kernel *kernel = bench->trial->question->kernel;
    const uint64_t *spans = bench->trial->spans;
    const uint64_t begin = address_of(bench, written), end = begin + spans[written];
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (!(kernel->parameters[i].access & TILE_READ)) continue;
        const uint64_t from = address_of(bench, i);
        if (i == written || !is_known(spans[i]) || (from < end && from + spans[i] > begin))
            return 1;
    }
    return 0;
}

/* Notes what has to be put back. NULL, or why that cannot be. */
static const char *plan(bench *bench)
{
    const tile_kernel *kernel = bench->trial->question->kernel;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const uint64_t bytes = bench->trial->spans[i];
        if (!(kernel->parameters[i].access & TILE_WRITTEN)) continue;
        if (!is_known(bytes)) return "how much memory it writes is not known beforehand";
        if (bytes && is_read(bench, i))
            bench->saved[bench->saved_count++] =
                (saved){.memory = (CUdeviceptr)address_of(bench, i), .bytes = bytes};
    }
    return NULL;
}

static const char *save(bench *bench)
{
    for (uint32_t i = 0; i < bench->saved_count; i++) {
        saved *one = &bench->saved[i];
        if (bench->driver->memory_alloc(&one->copy, one->bytes) != CUDA_SUCCESS) {
            one->copy = 0;
            return "there is no memory to save what it reads and writes";
        }
        if (bench->driver->copy_device(one->copy, one->memory, one->bytes, bench->stream) !=
            CUDA_SUCCESS)
            return "what it reads and writes cannot be copied";
    }
    return NULL;
}

static CUresult put_back(const bench *bench)
{
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < bench->saved_count && result == CUDA_SUCCESS; i++) {
        const saved *one = &bench->saved[i];
        result = bench->driver->copy_device(one->memory, one->copy, one->bytes, bench->stream);
    }
    return result;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static tile_status run_timed(const bench *bench, uint32_t configuration, double *nanoseconds)
{
    const tile_driver *driver = bench->driver;
    float milliseconds = 0;
    CUresult result = put_back(bench);
    if (result == CUDA_SUCCESS && bench->other)
        result = driver->memory_set(bench->other, 0, bench->other_bytes, bench->stream);
    if (result == CUDA_SUCCESS) result = driver->event_record(bench->start, bench->stream);
    if (result != CUDA_SUCCESS) return failed(bench, result, "cuEventRecord");
    const tile_status status = bench->trial->launch(bench->trial->call, configuration);
    if (status) return status;
    result = driver->event_record(bench->end, bench->stream);
    if (result == CUDA_SUCCESS) result = driver->stream_synchronize(bench->stream);
    if (result == CUDA_SUCCESS)
        result = driver->event_elapsed(&milliseconds, bench->start, bench->end);
    *nanoseconds = 1e6 * (double)milliseconds;
    return result == CUDA_SUCCESS ? TILE_OK : failed(bench, result, "cuStreamSynchronize");
}

static double median(double *times, int count)
{
    for (int i = 1; i < count; i++) {
        const double time = times[i];
        int at = i;
        for (; at > 0 && times[at - 1] > time; at--) times[at] = times[at - 1];
        times[at] = time;
    }
    return times[count / 2];
}

/* Whether the device still works: a configuration that cannot be launched is left out, one that
 * broke the context is the caller's to hear of. */
static int device_works(const bench *bench)
{
    return bench->driver->stream_synchronize(bench->stream) == CUDA_SUCCESS;
}

/* `best` is the shortest time so far, or negative. */
static tile_status measure_one(const bench *bench, uint32_t configuration, int rounds, double best,
                               double *nanoseconds)
{
    double times[MOST_ROUNDS];
    int done = 0;
    tile_status status = TILE_OK;
    *nanoseconds = -1;
    for (int i = -WARM_UP; !status && i < rounds; i++) {
        status = run_timed(bench, configuration, &times[done]);
        if (status) break;
        const int hopeless = best >= 0 && times[done] > SLOW * best;
        if (i < 0 && times[done] < LONG && !hopeless) continue;
        done++;
        if (hopeless || times[done - 1] >= LONG) break;
    }
    if (!status) *nanoseconds = median(times, done);
    if (!status || !device_works(bench)) return status;
    tile_log("%s: %s is left out: %s", bench->trial->question->kernel->name,
             tile_configuration(bench->trial->question, configuration)->configuration,
             tile_last_error());
    return TILE_OK;
}

static double shortest(const double *nanoseconds, uint32_t count)
{
    double best = -1;
    for (uint32_t i = 0; i < count; i++) {
        if (nanoseconds[i] >= 0 && (best < 0 || nanoseconds[i] < best)) best = nanoseconds[i];
    }
    return best;
}

/* All of them, then those that are close to the best once more, with more runs. */
static tile_status measure_all(const bench *bench, double *nanoseconds)
{
    const uint32_t count = tile_configuration(bench->trial->question, 0)->configuration_count;
    tile_status status = TILE_OK;
    double best;
    for (uint32_t i = 0; i < count; i++) nanoseconds[i] = -1;
    for (uint32_t i = 0; !status && i < count; i++)
        status = measure_one(bench, i, ROUNDS, shortest(nanoseconds, count), &nanoseconds[i]);
    best = shortest(nanoseconds, count);
    for (uint32_t i = 0; !status && i < count && best < LONG; i++) {
        if (nanoseconds[i] < 0 || nanoseconds[i] > CLOSE * best) continue;
        status = measure_one(bench, i, FINAL_ROUNDS, best, &nanoseconds[i]);
    }
    return status;
}

/* ---- the bench ------------------------------------------------------------------------------- */

/* Twice the cache. */
static void make_other(bench *bench)
{
    int bytes = 0;
    const CUdevice device = bench->driver->gpus[bench->trial->question->device].device;
    if (bench->driver->device_attribute(&bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, device) !=
            CUDA_SUCCESS ||
        bytes <= 0)
        return;
    bench->other_bytes = 2 * (size_t)bytes;
    if (bench->driver->memory_alloc(&bench->other, bench->other_bytes) != CUDA_SUCCESS)
        bench->other = 0;
}

static void close_bench(bench *bench)
{
    for (uint32_t i = 0; i < bench->saved_count; i++) {
        if (bench->saved[i].copy) bench->driver->memory_free(bench->saved[i].copy);
    }
    if (bench->other) bench->driver->memory_free(bench->other);
    if (bench->start) bench->driver->event_destroy(bench->start);
    if (bench->end) bench->driver->event_destroy(bench->end);
}

static tile_status run_bench(bench *bench, double *nanoseconds)
{
    make_other(bench);
    tile_status status = measure_all(bench, nanoseconds);
    const CUresult result = put_back(bench);
    if (!status && result != CUDA_SUCCESS) status = failed(bench, result, "cuMemcpyDtoDAsync");
    bench->driver->stream_synchronize(bench->stream); /* what is freed now is no more in use */
    return status;
}

tile_status tile_measure(const tile_trial *trial, double *nanoseconds, const char **unfit)
{
    tile_status status = TILE_OK;
    bench bench = {.trial = trial, .driver = trial->driver, .stream = (CUstream)trial->stream};
    *unfit = plan(&bench);
    if (!*unfit && (bench.driver->event_create(&bench.start, 0) != CUDA_SUCCESS ||
                    bench.driver->event_create(&bench.end, 0) != CUDA_SUCCESS))
        *unfit = "the driver gives no events";
    if (!*unfit) *unfit = save(&bench);
    if (!*unfit) status = run_bench(&bench, nanoseconds);
    close_bench(&bench);
    return status;
}
