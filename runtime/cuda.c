/* cuda.c: finds the CUDA driver, chooses the device, and makes the right context current for the
 * length of a call. */
#include "runtime.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tile_process tile_the_process = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .device = TILE_DEVICE_UNDECIDED,
    .tuning = TILE_TUNE_DEFAULT,
};

/* ---- the driver ------------------------------------------------------------------------------ */

static const char driver_library[] = "libcuda.so.1";

typedef struct driver_symbol {
    const char *name;
    size_t offset; /* of the pointer in tile_driver */
} driver_symbol;

static const driver_symbol driver_symbols[] = {
#define DRIVER_SYMBOL(field, symbol, parameters) {#symbol, offsetof(tile_driver, field)},
    TILE_DRIVER_CALLS(DRIVER_SYMBOL)
#undef DRIVER_SYMBOL
};

/* ISO C has no cast from an object pointer to a function pointer: the bytes are copied. */
static void set_function(tile_driver *driver, size_t offset, void *address)
{
    memcpy((char *)driver + offset, &address, sizeof address);
}

static tile_status find_symbols(tile_driver *driver, const char *path)
{
    for (size_t i = 0; i < sizeof driver_symbols / sizeof driver_symbols[0]; i++) {
        void *address = dlsym(driver->library, driver_symbols[i].name);
        if (!address)
            return tile_error(TILE_ERROR_NO_DRIVER,
                              "%s has no %s: libtile needs a CUDA driver of version 12.0 or newer",
                              path, driver_symbols[i].name);
        set_function(driver, driver_symbols[i].offset, address);
    }
    return TILE_OK;
}

const char *tile_driver_error_name(const tile_driver *driver, CUresult result)
{
    const char *name = NULL;
    return driver->error_name(result, &name) == CUDA_SUCCESS && name ? name : "an unknown error";
}

tile_status tile_driver_error(const tile_driver *driver, CUresult result, const char *who,
                              const char *call)
{
    const char *text = NULL;
    if (driver->error_string(result, &text) != CUDA_SUCCESS || !text)
        text = "the driver gives no text";
    return tile_error(result, "%s: %s failed with %s (%d): %s", who, call,
                      tile_driver_error_name(driver, result), result, text);
}

static tile_status describe_gpu(const tile_driver *driver, int ordinal, tile_gpu *gpu)
{
    static const char who[] = "opening the CUDA driver";
    int major = 0, minor = 0;
    CUresult result = driver->device_get(&gpu->device, ordinal);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuDeviceGet");
    result = driver->device_name(gpu->name, (int)sizeof gpu->name, gpu->device);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuDeviceGetName");
    result =
        driver->device_attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, gpu->device);
    if (result == CUDA_SUCCESS)
        result = driver->device_attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
                                          gpu->device);
    if (result != CUDA_SUCCESS)
        return tile_driver_error(driver, result, who, "cuDeviceGetAttribute");
    gpu->compute = (uint32_t)(major * 10 + minor);
    pthread_mutex_init(&gpu->locks->choosing, NULL);
    pthread_mutex_init(&gpu->locks->growing, NULL);
    return TILE_OK;
}

static tile_status start_driver(tile_driver *driver, int *count)
{
    static const char who[] = "opening the CUDA driver";
    CUresult result = driver->init(0);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuInit");
    result = driver->driver_version(&driver->version);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuDriverGetVersion");
    result = driver->device_count(count);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuDeviceGetCount");
    return TILE_OK;
}

static tile_status describe_gpus(tile_driver *driver, tile_gpu_locks *locks)
{
    tile_status status = TILE_OK;
    for (int i = 0; i < driver->count && !status; i++) {
        driver->gpus[i].locks = &locks[i];
        status = describe_gpu(driver, i, &driver->gpus[i]);
    }
    return status;
}

/* The finished table: `head` and the GPUs behind it. */
static tile_status complete_driver(const tile_driver *head, int count, tile_driver **out)
{
    tile_driver *driver = calloc(1, sizeof *driver + (size_t)count * sizeof driver->gpus[0]);
    tile_gpu_locks *locks = calloc((size_t)count + 1, sizeof *locks);
    tile_status status =
        driver && locks ? TILE_OK
                        : tile_error(TILE_ERROR_MEMORY, "opening the CUDA driver: out of memory");
    if (!status) {
        memcpy(driver, head, sizeof *head);
        driver->count = count;
        status = describe_gpus(driver, locks);
    }
    if (status) {
        free(driver);
        free(locks);
        return status;
    }
    *out = driver;
    return TILE_OK;
}

static tile_status open_driver(tile_driver **out)
{
    const char *named = secure_getenv("TILE_CUDA_LIBRARY");
    const char *path = named && *named ? named : driver_library;
    tile_driver head = {0};
    head.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!head.library) {
        const char *why = dlerror();
        return tile_error(TILE_ERROR_NO_DRIVER,
                          "no CUDA driver: %s; TILE_DEVICE=emulator runs kernels without one",
                          why ? why : path);
    }
    int count = 0;
    tile_status status = find_symbols(&head, path);
    if (!status) status = start_driver(&head, &count);
    if (!status) status = complete_driver(&head, count, out);
    if (status) dlclose(head.library);
    return status;
}

static tile_status refuse_child(void)
{
    return tile_error(TILE_ERROR_NO_DRIVER,
                      "this process was forked from one that had opened the CUDA driver, which "
                      "works there alone: start it with exec, or fork before the first call");
}

static tile_status open_driver_once(tile_driver **out)
{
    tile_process *process = &tile_the_process;
    tile_watch_forks();
    pthread_mutex_lock(&process->lock);
    tile_status status = process->was_forked ? refuse_child() : TILE_OK;
    tile_driver *driver = atomic_load_explicit(&process->driver, memory_order_relaxed);
    if (!driver && !status) {
        status = open_driver(&driver);
        if (!status) atomic_store_explicit(&process->driver, driver, memory_order_release);
    }
    pthread_mutex_unlock(&process->lock);
    *out = driver;
    return status;
}

tile_status tile_driver_get(tile_driver **out)
{
    *out = atomic_load_explicit(&tile_the_process.driver, memory_order_acquire);
    return *out ? TILE_OK : open_driver_once(out);
}

int tile_device_count(void)
{
    tile_driver *driver = NULL;
    return tile_driver_get(&driver) ? 0 : driver->count;
}

int tile_device_compute(int device)
{
    tile_driver *driver = NULL;
    if (device < 0 || device >= tile_device_count() || tile_driver_get(&driver)) return 0;
    return (int)driver->gpus[device].compute;
}

/* ---- the chosen device ----------------------------------------------------------------------- */

/* "cuda", "cuda:N", "emulator"; `origin` is who said so. */
static tile_status parse_device(const char *text, const char *origin, int *out)
{
    if (!strcmp(text, "emulator")) {
        *out = TILE_DEVICE_EMULATOR;
        return TILE_OK;
    }
    if (!strcmp(text, "cuda")) {
        *out = 0;
        return TILE_OK;
    }
    if (!strncmp(text, "cuda:", 5) && text[5] >= '0' && text[5] <= '9') {
        char *end;
        const long ordinal = strtol(text + 5, &end, 10);
        if (!*end && ordinal < INT_MAX) {
            *out = (int)ordinal;
            return TILE_OK;
        }
    }
    return tile_error(TILE_ERROR_DEVICE,
                      "%s names the device '%.100s': expected cuda, cuda:N or emulator", origin,
                      text);
}

static tile_status check_ordinal(const tile_driver *driver, int ordinal)
{
    if (ordinal >= 0 && ordinal < driver->count) return TILE_OK;
    return tile_error(TILE_ERROR_DEVICE, "there is no device cuda:%d: the driver shows %d GPU%s",
                      ordinal, driver->count, driver->count == 1 ? "" : "s");
}

/* Without a variable the first GPU, whether or not there is one: the call that needs it will say.
 */
static tile_status device_of_environment(int *out)
{
    const char *text = getenv("TILE_DEVICE");
    *out = 0;
    return text && *text ? parse_device(text, "TILE_DEVICE", out) : TILE_OK;
}

tile_status tile_chosen_device(int *out)
{
    *out = atomic_load_explicit(&tile_the_process.device, memory_order_relaxed);
    if (*out != TILE_DEVICE_UNDECIDED) return TILE_OK;
    tile_watch_forks();
    int device;
    const tile_status status = device_of_environment(&device);
    if (status) return status;
    int expected = TILE_DEVICE_UNDECIDED;
    /* tile_set_device in another thread wins. */
    *out = atomic_compare_exchange_strong(&tile_the_process.device, &expected, device) ? device
                                                                                       : expected;
    return TILE_OK;
}

tile_status tile_set_device(const char *device)
{
    int chosen;
    tile_watch_forks();
    tile_status status =
        device ? parse_device(device, "tile_set_device", &chosen) : device_of_environment(&chosen);
    if (!status && device && chosen != TILE_DEVICE_EMULATOR) {
        tile_driver *driver = NULL;
        status = tile_driver_get(&driver);
        if (!status) status = check_ordinal(driver, chosen);
    }
    if (!status) atomic_store_explicit(&tile_the_process.device, chosen, memory_order_relaxed);
    return status;
}

/* ---- contexts -------------------------------------------------------------------------------- */

static tile_status retain_primary(tile_driver *driver, tile_gpu *gpu, const char *who,
                                  CUcontext *out)
{
    tile_status status = TILE_OK;
    pthread_mutex_lock(&tile_the_process.lock);
    *out = gpu->primary;
    if (!*out) {
        const CUresult result = driver->primary_retain(out, gpu->device);
        if (result != CUDA_SUCCESS)
            status = tile_driver_error(driver, result, who, "cuDevicePrimaryCtxRetain");
        else
            __atomic_store_n(&gpu->primary, *out, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&tile_the_process.lock);
    return status;
}

/* Retained once and kept: giving it back after each call would destroy it, and all memory in it,
 * where nobody else holds it. */
static tile_status primary_context(tile_driver *driver, int ordinal, const char *who,
                                   CUcontext *out)
{
    const tile_status status = check_ordinal(driver, ordinal);
    if (status) return status;
    tile_gpu *gpu = &driver->gpus[ordinal];
    *out = __atomic_load_n(&gpu->primary, __ATOMIC_ACQUIRE);
    return *out ? TILE_OK : retain_primary(driver, gpu, who, out);
}

static tile_status push_context(const tile_driver *driver, CUcontext context, const char *who,
                                tile_scope *scope)
{
    const CUresult result = driver->context_push(context);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuCtxPushCurrent");
    scope->pushed = context;
    return TILE_OK;
}

/* The ordinal of the current context's GPU. */
static tile_status current_device(const tile_driver *driver, const char *who, int *out)
{
    CUdevice device;
    const CUresult result = driver->context_device(&device);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuCtxGetDevice");
    for (int i = 0; i < driver->count; i++) {
        if (driver->gpus[i].device == device) {
            *out = i;
            return TILE_OK;
        }
    }
    return tile_error(TILE_ERROR_DEVICE, "%s: the context's device %d is none of the driver's %d",
                      who, device, driver->count);
}

/* The context that a call on `stream` belongs to, and the thread's current one. */
static tile_status context_of(tile_driver *driver, tile_stream stream, const char *who,
                              CUcontext *current, CUcontext *wanted)
{
    CUresult result = driver->context_current(current);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuCtxGetCurrent");
    *wanted = *current;
    if ((uintptr_t)stream > CU_STREAM_LAST_SPECIAL) {
        result = driver->stream_context(stream, wanted);
        return result == CUDA_SUCCESS ? TILE_OK
                                      : tile_driver_error(driver, result, who, "cuStreamGetCtx");
    }
    if (*current) return TILE_OK;
    int ordinal;
    const tile_status status = tile_chosen_device(&ordinal);
    if (status) return status;
    return primary_context(driver, ordinal < 0 ? 0 : ordinal, who, wanted);
}

tile_status tile_scope_enter(tile_driver *driver, tile_stream stream, const char *who,
                             tile_scope *out)
{
    CUcontext current, wanted;
    *out = (tile_scope){.driver = driver};
    tile_status status = context_of(driver, stream, who, &current, &wanted);
    if (!status && wanted != current) status = push_context(driver, wanted, who, out);
    if (status || driver->count == 1) return status;
    status = current_device(driver, who, &out->device);
    return status ? tile_scope_leave(out, who, status) : TILE_OK;
}

tile_status tile_scope_enter_device(tile_driver *driver, int device, const char *who,
                                    tile_scope *out)
{
    CUcontext current, primary;
    *out = (tile_scope){.driver = driver, .device = device};
    tile_status status = check_ordinal(driver, device);
    if (status) return status;
    const CUresult result = driver->context_current(&current);
    if (result != CUDA_SUCCESS) return tile_driver_error(driver, result, who, "cuCtxGetCurrent");
    if (current) {
        int ordinal;
        status = current_device(driver, who, &ordinal);
        if (status || ordinal == device) return status;
    }
    status = primary_context(driver, device, who, &primary);
    return status ? status : push_context(driver, primary, who, out);
}

tile_status tile_scope_leave(const tile_scope *scope, const char *who, tile_status status)
{
    if (!scope->pushed) return status;
    CUcontext popped;
    const CUresult result = scope->driver->context_pop(&popped);
    if (result == CUDA_SUCCESS || status) return status;
    return tile_driver_error(scope->driver, result, who, "cuCtxPopCurrent");
}
