/* fake_cuda.c: a CUDA driver for the runtime's tests, built as a shared library that the variable
 * TILE_CUDA_LIBRARY names. It records calls, counts what is held, and fails where it is told to.
 * With FAKE_CUDA_TAKES_ALL in the environment it loads any PTX, where else one text passes for it.
 */
#include "fake_cuda.h"

#include "driver.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static fake_cuda_state state = {.device_count = 1, .compute = {90}};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static fake_context primaries[FAKE_DEVICES];
static fake_context contexts[FAKE_CONTEXTS];
static int context_count;
static _Thread_local fake_context *stack[FAKE_CONTEXTS];
static _Thread_local int depth;

typedef struct fake_kernel {
    char name[64];
} fake_kernel;

enum { FAKE_KERNELS = 64 };

typedef struct fake_library {
    fake_kernel *kernels[FAKE_KERNELS];
    int count;
} fake_library;

EXPORT fake_cuda_state *fake_cuda_get(void);
EXPORT int fake_cuda_depth(void);
EXPORT fake_context *fake_cuda_current(void);
EXPORT fake_context *fake_cuda_push(int device);

fake_cuda_state *fake_cuda_get(void)
{
    return &state;
}

int fake_cuda_depth(void)
{
    return depth;
}

fake_context *fake_cuda_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

static void push(fake_context *context)
{
    if (depth == FAKE_CONTEXTS) abort(); /* a test that never pops */
    stack[depth++] = context;
}

fake_context *fake_cuda_push(int device)
{
    pthread_mutex_lock(&lock);
    if (context_count == FAKE_CONTEXTS) abort();
    fake_context *context = &contexts[context_count++];
    pthread_mutex_unlock(&lock);
    context->device = device;
    push(context);
    return context;
}

/* What needs a context fails in one that was destroyed, or reset. */
static CUresult check_context(const char *name)
{
    static const char *const parts[] = {"cuMem", "cuLaunch", "cuStream", "cuEvent"};
    const fake_context *context = fake_cuda_current();
    for (size_t i = 0; context && context->destroyed && i < sizeof parts / sizeof *parts; i++)
        if (!strncmp(name, parts[i], strlen(parts[i]))) return FAKE_CONTEXT_IS_DESTROYED;
    return CUDA_SUCCESS;
}

/* Notes a call under the lock and says whether it is to fail. The caller unlocks. */
static CUresult enter(const char *name)
{
    pthread_mutex_lock(&lock);
    state.calls++;
    const size_t used = strlen(state.log);
    if (used + strlen(name) + 2 < sizeof state.log)
        snprintf(state.log + used, sizeof state.log - used, "%s ", name);
    if (state.calls == state.fail_at || (state.fail_name && !strcmp(state.fail_name, name)))
        return FAKE_ERROR;
    return check_context(name);
}

static CUresult leave(CUresult result)
{
    pthread_mutex_unlock(&lock);
    return result;
}

#define ENTER()                                                                                    \
    do {                                                                                           \
        const CUresult entered = enter(__func__);                                                  \
        if (entered != CUDA_SUCCESS) return leave(entered);                                        \
    } while (0)

/* The declarations come from the list that libtile itself uses, so the two can't differ. */
#define DECLARE(field, symbol, parameters) EXPORT CUresult symbol parameters;
TILE_DRIVER_CALLS(DECLARE)

CUresult cuInit(unsigned int flags)
{
    ENTER();
    return leave(flags ? 1 : CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int *version)
{
    ENTER();
    *version = 12040;
    return leave(CUDA_SUCCESS);
}

CUresult cuGetErrorName(CUresult result, const char **text)
{
    *text = result == FAKE_ERROR ? "CUDA_ERROR_UNKNOWN" : NULL;
    return *text ? CUDA_SUCCESS : 1;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    *text = result == FAKE_ERROR ? "told to fail" : NULL;
    return *text ? CUDA_SUCCESS : 1;
}

CUresult cuDeviceGetCount(int *count)
{
    ENTER();
    *count = state.device_count;
    return leave(CUDA_SUCCESS);
}

/* A device's handle is not its ordinal, so that mixing them up shows. */
enum { FIRST_HANDLE = 100 };

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    ENTER();
    if (ordinal < 0 || ordinal >= state.device_count) return leave(101);
    *device = FIRST_HANDLE + ordinal;
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    ENTER();
    snprintf(name, (size_t)bytes, "Fake GPU %d", device - FIRST_HANDLE);
    return leave(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    ENTER();
    const int compute = state.compute[device - FIRST_HANDLE];
    *value = 227 * 1024;
    if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *value = 132;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) *value = compute / 10;
    if (attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) *value = compute % 10;
    return leave(CUDA_SUCCESS);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    ENTER();
    primaries[device - FIRST_HANDLE].device = device - FIRST_HANDLE;
    *context = (CUcontext)(void *)&primaries[device - FIRST_HANDLE];
    state.retained++;
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    ENTER();
    *context = (CUcontext)(void *)fake_cuda_current();
    return leave(CUDA_SUCCESS);
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    ENTER();
    push((fake_context *)(void *)context);
    return leave(CUDA_SUCCESS);
}

/* A pop that is told to fail has popped all the same: otherwise no caller could restore anything.
 */
CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    const CUresult result = enter(__func__);
    if (!depth) return leave(201);
    *context = (CUcontext)(void *)stack[--depth];
    return leave(result);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    ENTER();
    const fake_context *context = fake_cuda_current();
    if (!context) return leave(201);
    *device = FIRST_HANDLE + context->device;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    ENTER();
    *context = (CUcontext)(void *)((fake_stream *)(void *)stream)->context;
    return leave(CUDA_SUCCESS);
}

static const fake_context *context_of(CUstream stream)
{
    const int is_default = (uintptr_t)stream <= CU_STREAM_LAST_SPECIAL;
    return is_default ? fake_cuda_current() : ((const fake_stream *)(void *)stream)->context;
}

static void wait_for(const fake_context *context)
{
    if (state.wait && context) state.wait(context->device);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    wait_for(context_of(stream));
    ENTER();
    return leave(stream || depth ? CUDA_SUCCESS : 201);
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes)
{
    wait_for(fake_cuda_current());
    ENTER();
    if (!depth || !bytes) return leave(depth ? 1 : 201);
    if (state.memory && bytes > state.memory) return leave(2);
    /* With real programs memory is zero, so that runs of one program are the same. */
    void *made = getenv("FAKE_CUDA_TAKES_ALL") ? calloc(bytes, 1) : malloc(bytes);
    if (!made) return leave(2);
    *pointer = (uintptr_t)made;
    state.allocations++;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
    ENTER();
    const fake_stream *fake = (const fake_stream *)(void *)stream;
    *id = fake ? fake->id : 1000;
    return leave(CUDA_SUCCESS);
}

CUresult cuStreamIsCapturing(CUstream stream, int *status)
{
    ENTER();
    *status = stream ? ((const fake_stream *)(void *)stream)->capturing : 0;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemsetD8Async(CUdeviceptr device, unsigned char value, size_t bytes, CUstream stream)
{
    (void)stream;
    ENTER();
    memset((void *)(uintptr_t)device, value, bytes);
    state.cleared += bytes;
    return leave(CUDA_SUCCESS);
}

/* What it was told, in order. */
CUresult cuTensorMapEncodeTiled(void *map, int type, unsigned int rank, void *pointer,
                                const uint64_t *extents, const uint64_t *strides,
                                const uint32_t *box, const uint32_t *steps, int interleave,
                                int swizzle, int promotion, int fill)
{
    ENTER();
    uint64_t told[16] = {(uintptr_t)pointer, (uint64_t)type, rank, (uint64_t)swizzle};
    if (rank < 1 || rank > 5 || (uintptr_t)pointer % 16 || interleave || fill) return leave(1);
    (void)promotion;
    for (unsigned int i = 0; i < rank; i++) {
        if (!extents[i] || !box[i] || box[i] > 256 || steps[i] != 1) return leave(1);
        if (i && strides[i - 1] % 16) return leave(1);
        if (i < 4) told[4 + 3 * i] = extents[i];
        if (i < 4) told[5 + 3 * i] = i ? strides[i - 1] : 0;
        if (i < 4) told[6 + 3 * i] = box[i];
    }
    memcpy(map, told, sizeof told);
    return leave(CUDA_SUCCESS);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared)
{
    enum { ROOM = 232448 };
    (void)function;
    ENTER();
    *blocks = threads <= 0 || shared > ROOM ? 0 : shared ? (int)(ROOM / shared) : 1;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemFree_v2(CUdeviceptr pointer)
{
    ENTER();
    if (!depth) return leave(201);
    free((void *)(uintptr_t)pointer);
    state.allocations--;
    return leave(CUDA_SUCCESS);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr device, const void *host, size_t bytes, CUstream stream)
{
    (void)stream;
    ENTER();
    memcpy((void *)(uintptr_t)device, host, bytes);
    return leave(CUDA_SUCCESS);
}

CUresult cuMemcpyDtoHAsync_v2(void *host, CUdeviceptr device, size_t bytes, CUstream stream)
{
    (void)stream;
    ENTER();
    memcpy(host, (const void *)(uintptr_t)device, bytes);
    return leave(CUDA_SUCCESS);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    (void)stream;
    ENTER();
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    state.copied += bytes;
    return leave(CUDA_SUCCESS);
}

/* The time of the clock when it was recorded, and the stream, if that was captured. */
typedef struct fake_event {
    float time;
    fake_stream *captured;
} fake_event;

CUresult cuEventCreate(CUevent *event, unsigned int flags)
{
    enum { DISABLE_TIMING = 2 };
    ENTER();
    if ((flags && flags != DISABLE_TIMING) || !depth) return leave(1);
    *event = (CUevent)(void *)calloc(1, sizeof(fake_event));
    state.events++;
    return leave(CUDA_SUCCESS);
}

CUresult cuEventDestroy_v2(CUevent event)
{
    ENTER();
    free(event);
    state.events--;
    return leave(CUDA_SUCCESS);
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    fake_event *made = (fake_event *)(void *)event;
    fake_stream *on = (fake_stream *)(void *)stream;
    ENTER();
    made->time = state.clock;
    made->captured = on && on->capturing ? on : NULL;
    return leave(CUDA_SUCCESS);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    ENTER();
    *milliseconds = ((const fake_event *)(const void *)end)->time -
                    ((const fake_event *)(const void *)start)->time;
    return leave(CUDA_SUCCESS);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *jit_options,
                           void **jit_values, unsigned int jit_count, int *options, void **values,
                           unsigned int count)
{
    (void)jit_options;
    (void)options;
    (void)values;
    const CUresult result = enter(__func__);
    /* PTX comes with a place for the compiler's log. */
    if (result != CUDA_SUCCESS && jit_count) strcpy(jit_values[0], "ptxas: syntax error in line 1");
    if (result != CUDA_SUCCESS) return leave(result);
    if (!code || count) return leave(1);
    if (jit_count && strcmp(code, "ptx text") && !getenv("FAKE_CUDA_TAKES_ALL"))
        return leave(218); /* not terminated, or not the text */
    *library = (CUlibrary)(void *)calloc(1, sizeof(fake_library));
    state.libraries++;
    return leave(CUDA_SUCCESS);
}

/* Neither noted nor told to fail: it is called where a process or a library ends. */
CUresult cuLibraryUnload(CUlibrary library)
{
    pthread_mutex_lock(&lock);
    fake_library *fake = (fake_library *)(void *)library;
    for (int i = 0; i < fake->count; i++) free(fake->kernels[i]);
    state.kernels_made -= fake->count;
    free(fake);
    state.libraries--;
    return leave(CUDA_SUCCESS);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    ENTER();
    fake_library *fake = (fake_library *)(void *)library;
    if (fake->count == FAKE_KERNELS) return leave(500);
    fake_kernel *made = calloc(1, sizeof *made);
    snprintf(made->name, sizeof made->name, "%s", name);
    fake->kernels[fake->count++] = made;
    state.kernels_made++;
    *kernel = (CUkernel)(void *)made;
    return leave(CUDA_SUCCESS);
}

CUresult cuKernelSetAttribute(int attribute, int value, CUkernel kernel, CUdevice device)
{
    (void)kernel;
    ENTER();
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || device < FIRST_HANDLE)
        return leave(1);
    if (value > 227 * 1024) return leave(FAKE_ERROR);
    state.attributes++;
    return leave(CUDA_SUCCESS);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    ENTER();
    if (!depth) return leave(201);
    *function = (CUfunction)(void *)kernel;
    state.settled++;
    return leave(CUDA_SUCCESS);
}

static void record(const CUlaunchConfig *config, const fake_kernel *kernel, void **parameters,
                   const fake_context *context)
{
    fake_launch *last = &state.last;
    memset(last, 0, sizeof *last);
    memcpy(last->kernel, kernel->name, sizeof last->kernel);
    memcpy(last->grid, &config->gridDimX, sizeof last->grid);
    memcpy(last->block, &config->blockDimX, sizeof last->block);
    last->shared_bytes = config->sharedMemBytes;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            memcpy(last->cluster, &attribute->value.cluster, sizeof last->cluster);
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            last->cooperative = (uint32_t)attribute->value.cooperative;
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            last->early = (uint32_t)attribute->value.programmatic;
    }
    last->context = context;
    last->device = context->device;
    for (int i = 0; i < FAKE_PARAMETERS && state.parameter_bytes[i]; i++)
        memcpy(&last->parameters[i], parameters[i], (size_t)state.parameter_bytes[i]);
    state.launches++;
}

/* Of the costs, else of FAKE_CUDA_COSTS, "PART=MILLISECONDS,..." by part of the kernel's name. */
static float cost_of(const char *kernel, const fake_cost *cost)
{
    const char *list = getenv("FAKE_CUDA_COSTS");
    if (cost->kernel[0] || !list) return cost->milliseconds;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char part[64];
        float milliseconds;
        if (sscanf(at, "%63[^=]=%f", part, &milliseconds) == 2 && strstr(kernel, part))
            return milliseconds;
    }
    return 0;
}

static int is_cost_of(const fake_cost *cost, const fake_kernel *kernel, const fake_context *context)
{
    return !strcmp(cost->kernel, kernel->name) &&
           (!cost->device || cost->device == context->device + 1);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra)
{
    ENTER();
    const fake_context *context = context_of(config->hStream);
    if (!context) return leave(201);
    if (extra || !config->gridDimX || !config->gridDimY || !config->gridDimZ) return leave(1);
    const fake_kernel *kernel = (const fake_kernel *)(void *)function;
    const fake_cost *cost = state.costs;
    while (cost->kernel[0] && !is_cost_of(cost, kernel, context)) cost++;
    if (cost->fails) return leave(701);
    record(config, kernel, parameters, context);
    state.clock += cost_of(kernel->name, cost);
    if (state.work) state.work(kernel->name, parameters);
    return leave(CUDA_SUCCESS);
}
