/* launch.c: what a typed entry costs over a bare cuLaunchKernelEx of the same kernel with the same
 * arguments. `make build/bench/launch` makes it of samples/add_one.
 *
 * Any kernel will do whose arguments are those of add_one: -DHEADER='"x.h"' -DENTRY=x. The bare
 * side loads the image that libtile picked, by itself. Rounds of the two are interleaved, and each
 * round is a pair, so that a change of clock hits both; the ratio is the median over the pairs. */
#include "driver.h"

#ifndef HEADER
#define HEADER "add_one.h"
#define ENTRY  add_one
#endif
#include HEADER

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define TEXT_(a)    #a
#define TEXT(a)     TEXT_(a)
#define KERNEL      JOIN(ENTRY, _kernel)

enum { ROUNDS = 300, LAUNCHES = 200, COUNT = 128 };

/* The driver's calls, found apart from libtile. */
static struct {
#define FIELD(field, symbol, parameters) CUresult(*field) parameters;
    TILE_DRIVER_CALLS(FIELD)
    CUresult (*context_set)(CUcontext context);
    CUresult (*stream_create)(CUstream *stream, unsigned int flags);
} driver;

typedef struct bench {
    CUstream stream;
    CUfunction function;
    CUlaunchConfig config;
    int32_t n;
    void *a, *b;
} bench;

static void stop(const char *what)
{
    fprintf(stderr, "launch: %s failed: %s\n", what, tile_last_error());
    exit(3);
}

static void must(int result, const char *what)
{
    if (result) stop(what);
}

static void find(void *library, const char *name, void *function)
{
    void *address = dlsym(library, name);
    if (!address) stop(name);
    memcpy(function, &address, sizeof address);
}

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) stop("dlopen of libcuda.so.1");
#define FIND(field, symbol, parameters) find(library, #symbol, &driver.field);
    TILE_DRIVER_CALLS(FIND)
    find(library, "cuCtxSetCurrent", &driver.context_set);
    find(library, "cuStreamCreate", &driver.stream_create);
}

static void open_device(bench *bench)
{
    enum { NON_BLOCKING = 1 };
    CUdevice device;
    CUcontext context;
    must(driver.init(0), "cuInit");
    must(driver.device_get(&device, 0), "cuDeviceGet");
    must(driver.primary_retain(&context, device), "cuDevicePrimaryCtxRetain");
    must(driver.context_set(context), "cuCtxSetCurrent");
    must(driver.stream_create(&bench->stream, NON_BLOCKING), "cuStreamCreate");
}

/* The image that a plan names, loaded a second time. */
static void load_bare(bench *bench, const tile_plan *plan)
{
    const tile_variant *variant =
        &KERNEL.specialisations[plan->specialisation].variants[plan->variant];
    const tile_image *image = variant->images;
    while (strcmp(image->target, plan->target)) image++;
    CUlibrary library;
    CUkernel kernel;
    must(driver.library_load(&library, image->bytes, NULL, NULL, 0, NULL, NULL, 0),
         "cuLibraryLoadData");
    must(driver.library_kernel(&kernel, library, image->entries[0].name), "cuLibraryGetKernel");
    must(driver.kernel_function(&bench->function, kernel), "cuKernelGetFunction");
    bench->config = (CUlaunchConfig){
        .gridDimX = plan->grid.x,
        .gridDimY = plan->grid.y,
        .gridDimZ = plan->grid.z,
        .blockDimX = plan->warps * 32,
        .blockDimY = 1,
        .blockDimZ = 1,
        .sharedMemBytes = plan->shared_bytes,
        .hStream = bench->stream,
    };
}

static void prepare(bench *bench)
{
    const void *arguments[] = {&bench->n, &bench->a, &bench->b};
    tile_plan plan;
    bench->n = COUNT;
    must(tile_alloc(&bench->a, COUNT * sizeof(float)), "tile_alloc");
    must(tile_alloc(&bench->b, COUNT * sizeof(float)), "tile_alloc");
    must(tile_prepare(&KERNEL, 0), "tile_prepare");
    must(tile_plan_launch(&KERNEL, arguments, &plan), "tile_plan_launch");
    load_bare(bench, &plan);
}

static int launch_bare(bench *bench)
{
    void *parameters[] = {&bench->n, &bench->a, &bench->b};
    return driver.launch(&bench->config, bench->function, parameters, NULL);
}

static int launch_typed(bench *bench)
{
    return ENTRY(bench->stream, bench->n, bench->a, bench->b);
}

static int launch_untyped(bench *bench)
{
    const void *arguments[] = {&bench->n, &bench->a, &bench->b};
    return tile_launch(&KERNEL, bench->stream, NULL, 0, arguments);
}

/* Host time of one launch in nanoseconds; the queue is empty before and after. */
static double round_of(int (*launch)(bench *), bench *bench)
{
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < LAUNCHES; i++) must(launch(bench), "a launch");
    clock_gettime(CLOCK_MONOTONIC, &end);
    must(driver.stream_synchronize(bench->stream), "cuStreamSynchronize");
    return ((double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec)) /
           LAUNCHES;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return (values[ROUNDS / 2 - 1] + values[ROUNDS / 2]) / 2;
}

static void measure(const char *name, int (*launch)(bench *), bench *bench)
{
    static double bare[ROUNDS], ours[ROUNDS], ratio[ROUNDS];
    for (int i = -10; i < ROUNDS; i++) { /* the first rounds warm up */
        double ours_now = 0, bare_now;
        if (i % 2) /* neither side is always the first of its pair */
            ours_now = round_of(launch, bench);
        bare_now = round_of(launch_bare, bench);
        if (i % 2 == 0) ours_now = round_of(launch, bench);
        if (i < 0) continue;
        bare[i] = bare_now;
        ours[i] = ours_now;
        ratio[i] = ours_now / bare_now;
    }
    printf("launch: %s %.0f ns, bare cuLaunchKernelEx %.0f ns, ratio %.3f\n", name, median(ours),
           median(bare), median(ratio));
}

int main(void)
{
    static bench bench;
    open_driver();
    open_device(&bench);
    prepare(&bench);
    measure(TEXT(ENTRY), launch_typed, &bench);
    measure("tile_launch", launch_untyped, &bench);
    measure("bare again", launch_bare, &bench); /* what the method itself cannot tell apart */
    return 0;
}
