/* workspace.c: the memory that kernels use beside their arguments.
 *
 * Each kernel has its own on each stream, which orders the calls that use it: a block that grows by
 * doubling, outside stream capture only. A block that became too small is kept, since a captured
 * graph or another thread's launch may still name it. Finding it takes no lock. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256, BUCKETS = 64 };

typedef struct block {
    char *base;
    size_t bytes;
    struct block *outgrown;
} block;

/* Never freed, and its names never change. */
typedef struct pool {
    struct pool *next;
    const tile_kernel *kernel; /* NULL: what tile_set_workspace gave, for all kernels */
    uint64_t stream;
    _Atomic(block *) block; /* NULL: none yet */
} pool;

static struct {
    pthread_mutex_t lock; /* for changes */
    _Atomic(pool *) buckets[BUCKETS];
} pools = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Atomic(pool *) *bucket_of(const tile_kernel *kernel, uint64_t stream)
{
    uint64_t hash = (uint64_t)(uintptr_t)kernel / 16 * 31 + stream;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return &pools.buckets[hash >> 58];
}

static pool *find_pool(const tile_kernel *kernel, uint64_t stream)
{
    pool *found = atomic_load_explicit(bucket_of(kernel, stream), memory_order_acquire);
    while (found && (found->kernel != kernel || found->stream != stream)) found = found->next;
    return found;
}

static block *block_of(const tile_kernel *kernel, uint64_t stream)
{
    pool *found = find_pool(kernel, stream);
    return found ? atomic_load_explicit(&found->block, memory_order_acquire) : NULL;
}

/* Under the lock. NULL: no memory. */
static pool *make_pool(const tile_kernel *kernel, uint64_t stream)
{
    pool *made = find_pool(kernel, stream);
    if (made) return made;
    made = calloc(1, sizeof *made);
    if (!made) return NULL;
    _Atomic(pool *) *bucket = bucket_of(kernel, stream);
    made->kernel = kernel;
    made->stream = stream;
    made->next = atomic_load_explicit(bucket, memory_order_relaxed);
    atomic_store_explicit(bucket, made, memory_order_release);
    return made;
}

/* Under the lock. False: no memory. */
static int put_block(const tile_kernel *kernel, uint64_t stream, void *base, size_t bytes)
{
    pool *owner = make_pool(kernel, stream);
    block *made = owner ? calloc(1, sizeof *made) : NULL;
    if (!made) return 0;
    made->base = base;
    made->bytes = bytes;
    made->outgrown = atomic_load_explicit(&owner->block, memory_order_relaxed);
    atomic_store_explicit(&owner->block, made, memory_order_release);
    return 1;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* More than any device has: what is beyond it asks for it, and is refused. */
static const uint64_t most_bytes = UINT64_C(1) << 62;

uint64_t tile_workspace_bytes(uint32_t count, const uint64_t *bytes)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (bytes[i] > most_bytes - total) return most_bytes;
        total += aligned(bytes[i]);
    }
    return total;
}

static void divide(char *base, uint32_t count, const uint64_t *bytes, void **out)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = base;
        base += aligned(bytes[i]);
    }
}

static tile_status too_small(const tile_kernel *kernel, const block *given, uint64_t needed)
{
    return tile_error(TILE_ERROR_ARGUMENT,
                      "%s: the workspace of tile_set_workspace has %zu bytes, this call needs %llu",
                      kernel->name, given->bytes, (unsigned long long)needed);
}

/* What the caller set for the stream, if anything. */
static tile_status given_block(const tile_kernel *kernel, uint64_t stream, uint64_t needed,
                               char **out)
{
    const block *given = block_of(NULL, stream);
    *out = given ? given->base : NULL;
    return *out && given->bytes < needed ? too_small(kernel, given, needed) : TILE_OK;
}

/* ---- the GPU's ------------------------------------------------------------------------------- */

static tile_status refuse_capture(const tile_driver *driver, const tile_kernel *kernel,
                                  tile_stream stream, uint64_t needed)
{
    int capturing = 0;
    const CUresult result = driver->stream_is_capturing(stream, &capturing);
    if (result != CUDA_SUCCESS)
        return tile_driver_error(driver, result, kernel->name, "cuStreamIsCapturing");
    if (!capturing) return TILE_OK;
    return tile_error(TILE_ERROR_MEMORY,
                      "%s: its workspace on this stream would have to grow to %llu bytes, which is "
                      "impossible while the stream is captured: call it once before, or give it "
                      "memory with tile_set_workspace",
                      kernel->name, (unsigned long long)needed);
}

/* Under the lock. */
static tile_status grow(const tile_driver *driver, const tile_kernel *kernel, tile_stream stream,
                        uint64_t id, uint64_t needed, char **out)
{
    const block *old = block_of(kernel, id);
    if (old && old->bytes >= needed) { /* another thread was first */
        *out = old->base;
        return TILE_OK;
    }
    const tile_status status = refuse_capture(driver, kernel, stream, needed);
    if (status) return status;
    const uint64_t doubled = old ? 2 * (uint64_t)old->bytes : 0;
    const uint64_t bytes = doubled > needed ? doubled : needed;
    CUdeviceptr base = 0;
    const CUresult result = driver->memory_alloc(&base, bytes);
    if (result != CUDA_SUCCESS)
        return tile_driver_error(driver, result, kernel->name, "cuMemAlloc of its workspace");
    *out = (char *)(uintptr_t)base;
    if (put_block(kernel, id, *out, bytes)) return TILE_OK;
    driver->memory_free(base);
    return tile_error(TILE_ERROR_MEMORY, "%s: out of memory", kernel->name);
}

static tile_status own_block(const tile_driver *driver, const tile_kernel *kernel,
                             tile_stream stream, uint64_t id, uint64_t needed, char **out)
{
    const block *own = block_of(kernel, id);
    *out = own ? own->base : NULL;
    if (own && own->bytes >= needed) return TILE_OK;
    pthread_mutex_lock(&pools.lock);
    const tile_status status = grow(driver, kernel, stream, id, needed, out);
    pthread_mutex_unlock(&pools.lock);
    return status;
}

static tile_status clear(const tile_driver *driver, const tile_workspaces *call, tile_stream stream,
                         void *const *places)
{
    for (uint32_t i = 0; i < call->count; i++) {
        if (!(call->zeroed >> i & 1) || !call->bytes[i]) continue;
        const CUresult result =
            driver->memory_set((CUdeviceptr)(uintptr_t)places[i], 0, call->bytes[i], stream);
        if (result != CUDA_SUCCESS)
            return tile_driver_error(driver, result, call->kernel->name, "cuMemsetD8Async");
    }
    return TILE_OK;
}

/* A stream's number: unlike its handle, no other stream gets it later. */
static tile_status stream_number(const tile_driver *driver, tile_stream stream, const char *who,
                                 uint64_t *out)
{
    unsigned long long id = 0;
    const CUresult result = driver->stream_id(stream, &id);
    *out = id;
    return result == CUDA_SUCCESS ? TILE_OK
                                  : tile_driver_error(driver, result, who, "cuStreamGetId");
}

tile_status tile_workspaces_on_gpu(const tile_driver *driver, const tile_workspaces *call,
                                   tile_stream stream, void **places)
{
    const uint64_t needed = tile_workspace_bytes(call->count, call->bytes);
    const tile_kernel *kernel = call->kernel;
    uint64_t id;
    char *base = NULL;
    tile_status status = stream_number(driver, stream, kernel->name, &id);
    if (!status) status = given_block(kernel, id, needed, &base);
    if (!status && !base && needed) status = own_block(driver, kernel, stream, id, needed, &base);
    if (status) return status;
    divide(base, call->count, call->bytes, places);
    return clear(driver, call, stream, places);
}

/* ---- the emulator's -------------------------------------------------------------------------- */

void tile_workspaces_return(const tile_workspaces *call, void *const *places)
{
    if (call->is_given) return;
    for (uint32_t i = 0; i < call->count; i++)
        if (places[i]) tile_free(places[i]);
}

/* Allocations of their own for one call, so that each one's bounds and first writes are watched. */
static tile_status allocate_each(tile_workspaces *call, void **places)
{
    tile_status status = TILE_OK;
    for (uint32_t i = 0; i < call->count; i++) places[i] = NULL;
    for (uint32_t i = 0; i < call->count && !status; i++)
        status = tile_alloc(&places[i], call->bytes[i]);
    if (status) tile_workspaces_return(call, places);
    return status;
}

tile_status tile_workspaces_emulated(tile_workspaces *call, tile_stream stream, void **places)
{
    const uint64_t needed = tile_workspace_bytes(call->count, call->bytes);
    char *base = NULL;
    tile_status status = given_block(call->kernel, (uintptr_t)stream, needed, &base);
    if (status) return status;
    call->is_given = base != NULL;
    if (base)
        divide(base, call->count, call->bytes, places);
    else
        status = allocate_each(call, places);
    for (uint32_t i = 0; !status && i < call->count; i++)
        if (call->zeroed >> i & 1) tile_clear_emulated(places[i], call->bytes[i]);
    return status;
}

/* ---- the interface --------------------------------------------------------------------------- */

static tile_status set_block(uint64_t stream, void *pointer, size_t bytes)
{
    pthread_mutex_lock(&pools.lock);
    const int done = put_block(NULL, stream, pointer, bytes);
    pthread_mutex_unlock(&pools.lock);
    return done ? TILE_OK : tile_error(TILE_ERROR_MEMORY, "tile_set_workspace: out of memory");
}

static tile_status set_on_gpu(tile_stream stream, void *pointer, size_t bytes)
{
    static const char who[] = "tile_set_workspace";
    tile_driver *driver = NULL;
    tile_scope scope;
    uint64_t id;
    tile_status status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter(driver, stream, who, &scope);
    if (status) return status;
    status = stream_number(driver, stream, who, &id);
    if (!status) status = set_block(id, pointer, bytes);
    return tile_scope_leave(&scope, who, status);
}

tile_status tile_set_workspace(tile_stream stream, void *pointer, size_t bytes)
{
    int device;
    if ((uintptr_t)pointer % ALIGNMENT)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "tile_set_workspace: argument 'pointer' must be aligned to %d bytes",
                          ALIGNMENT);
    const tile_status status = tile_chosen_device(&device);
    if (status) return status;
    return device == TILE_DEVICE_EMULATOR ? set_block((uintptr_t)stream, pointer, bytes)
                                          : set_on_gpu(stream, pointer, bytes);
}
