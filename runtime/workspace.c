/* workspace.c: the memory that kernels use beside their arguments.
 *
 * Each kernel has its own on each stream of each GPU, which orders the calls that use it: a block
 * that grows by doubling, outside stream capture only. A block that became too small is kept, since
 * a captured graph or another thread's launch may still name it. Finding it takes no lock. What a
 * kernel leaves zero is in a block of its own, which is cleared when it is made. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256, BUCKETS = 64 };

typedef struct block {
    char *base;
    size_t bytes;
    struct block *outgrown;
} block;

/* Whose a block is. */
typedef struct owner {
    const tile_kernel *kernel; /* NULL: what tile_set_workspace gave, for all kernels */
    uint64_t stream;
    int device; /* the emulator's: TILE_DEVICE_EMULATOR */
    int kept;   /* the kernel leaves it zero */
} owner;

/* Never freed, and its owner never changes. */
typedef struct pool {
    struct pool *next;
    owner owner;
    _Atomic(block *) block; /* NULL: none yet */
} pool;

static _Atomic(pool *) buckets[BUCKETS];
static pthread_mutex_t emulator_lock = PTHREAD_MUTEX_INITIALIZER;

/* Of all pools of a GPU, for changes. */
static pthread_mutex_t *lock_of(const tile_driver *driver, const owner *owner)
{
    return &driver->gpus[owner->device].locks->growing;
}

static _Atomic(pool *) *bucket_of(const owner *owner)
{
    uint64_t hash = (uint64_t)(uintptr_t)owner->kernel / 16 * 31 + owner->stream;
    hash = (hash * 31 + (uint64_t)owner->device) * UINT64_C(0x9e3779b97f4a7c15);
    return &buckets[hash >> 58];
}

static int is_same(const owner *a, const owner *b)
{
    return a->kernel == b->kernel && a->stream == b->stream && a->device == b->device &&
           a->kept == b->kept;
}

static pool *find_pool(const owner *owner)
{
    pool *found = atomic_load_explicit(bucket_of(owner), memory_order_acquire);
    while (found && !is_same(&found->owner, owner)) found = found->next;
    return found;
}

static block *block_of(const owner *owner)
{
    pool *found = find_pool(owner);
    return found ? atomic_load_explicit(&found->block, memory_order_acquire) : NULL;
}

/* Under the device's lock; other devices' pools come into the same list. NULL: no memory. */
static pool *make_pool(const owner *owner)
{
    pool *made = find_pool(owner);
    if (made) return made;
    made = calloc(1, sizeof *made);
    if (!made) return NULL;
    _Atomic(pool *) *bucket = bucket_of(owner);
    made->owner = *owner;
    made->next = atomic_load_explicit(bucket, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(bucket, &made->next, made, memory_order_release,
                                                  memory_order_relaxed)) {
    }
    return made;
}

/* Under the device's lock. False: no memory. */
static int put_block(const owner *whose, void *base, size_t bytes)
{
    pool *owner = make_pool(whose);
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

/* Those of `which`: a bit for each. */
static uint64_t bytes_of(const tile_workspaces *call, uint32_t which)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < call->count; i++) {
        if (!(which >> i & 1)) continue;
        if (call->bytes[i] > most_bytes - total) return most_bytes;
        total += aligned(call->bytes[i]);
    }
    return total;
}

uint64_t tile_workspace_bytes(uint32_t count, const uint64_t *bytes)
{
    return bytes_of(&(tile_workspaces){.count = count, .bytes = bytes}, UINT32_MAX);
}

static void divide(char *base, const tile_workspaces *call, uint32_t which, void **out)
{
    for (uint32_t i = 0; i < call->count; i++) {
        if (!(which >> i & 1)) continue;
        out[i] = base;
        base += aligned(call->bytes[i]);
    }
}

static tile_status too_small(const tile_kernel *kernel, const block *given, uint64_t needed)
{
    return tile_error(TILE_ERROR_ARGUMENT,
                      "%s: the workspace of tile_set_workspace has %zu bytes, this call needs %llu",
                      kernel->name, given->bytes, (unsigned long long)needed);
}

/* What the caller set for the stream, if anything. */
static tile_status given_block(const owner *caller, uint64_t needed, char **out)
{
    owner all = *caller;
    all.kernel = NULL;
    all.kept = 0;
    const block *given = block_of(&all);
    *out = given ? given->base : NULL;
    return *out && given->bytes < needed ? too_small(caller->kernel, given, needed) : TILE_OK;
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

/* Under the device's lock. */
static tile_status grow(const tile_driver *driver, const owner *owner, tile_stream stream,
                        uint64_t needed, char **out)
{
    const tile_kernel *kernel = owner->kernel;
    const block *old = block_of(owner);
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
    const CUresult cleared =
        owner->kept ? driver->memory_set(base, 0, bytes, stream) : CUDA_SUCCESS;
    *out = (char *)(uintptr_t)base;
    if (cleared == CUDA_SUCCESS && put_block(owner, *out, bytes)) return TILE_OK;
    driver->memory_free(base);
    return cleared == CUDA_SUCCESS
               ? tile_error(TILE_ERROR_MEMORY, "%s: out of memory", kernel->name)
               : tile_driver_error(driver, cleared, kernel->name, "cuMemsetD8Async");
}

static tile_status own_block(const tile_driver *driver, const owner *owner, tile_stream stream,
                             uint64_t needed, char **out)
{
    const block *own = block_of(owner);
    *out = own ? own->base : NULL;
    if (own && own->bytes >= needed) return TILE_OK;
    pthread_mutex_lock(lock_of(driver, owner));
    const tile_status status = grow(driver, owner, stream, needed, out);
    pthread_mutex_unlock(lock_of(driver, owner));
    return status;
}

static tile_status clear(const tile_driver *driver, const tile_workspaces *call, uint32_t which,
                         tile_stream stream, void *const *places)
{
    for (uint32_t i = 0; i < call->count; i++) {
        if (!(which >> i & 1) || !call->bytes[i]) continue;
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

/* The places of those of `which`, in the owner's block. */
static tile_status own_part(const tile_scope *scope, const tile_workspaces *call,
                            const owner *owner, uint32_t which, tile_stream stream, void **places)
{
    const uint64_t needed = bytes_of(call, which);
    char *base = NULL;
    const tile_status status =
        needed ? own_block(scope->driver, owner, stream, needed, &base) : TILE_OK;
    if (!status) divide(base, call, which, places);
    return status;
}

tile_status tile_workspaces_on_gpu(const tile_scope *scope, const tile_workspaces *call,
                                   tile_stream stream, void **places)
{
    const uint64_t needed = tile_workspace_bytes(call->count, call->bytes);
    owner owner = {.kernel = call->kernel, .device = scope->device};
    char *base = NULL;
    tile_status status = stream_number(scope->driver, stream, call->kernel->name, &owner.stream);
    if (!status) status = given_block(&owner, needed, &base);
    if (status) return status;
    if (base) {
        divide(base, call, UINT32_MAX, places);
        return clear(scope->driver, call, call->zeroed, stream, places);
    }
    status = own_part(scope, call, &owner, ~call->kept, stream, places);
    owner.kept = 1;
    if (!status) status = own_part(scope, call, &owner, call->kept, stream, places);
    return status ? status : clear(scope->driver, call, call->zeroed & ~call->kept, stream, places);
}

void tile_workspaces_reset(const tile_scope *scope, const tile_workspaces *call, tile_stream stream,
                           void *const *places)
{
    for (uint32_t i = 0; i < call->count; i++)
        if (call->kept >> i & 1 && call->bytes[i])
            scope->driver->memory_set((CUdeviceptr)(uintptr_t)places[i], 0, call->bytes[i], stream);
}

/* ---- the emulator's -------------------------------------------------------------------------- */

tile_status tile_workspaces_check(const tile_workspaces *call, void *const *places)
{
    for (uint32_t i = 0; i < call->count; i++)
        for (uint64_t at = 0; call->kept >> i & 1 && at < call->bytes[i]; at++)
            if (((const char *)places[i])[at])
                return tile_error(TILE_ERROR_FAULT,
                                  "%s: its workspace %u, which it is to leave zero, is not at "
                                  "byte %llu",
                                  call->kernel->name, i, (unsigned long long)at);
    return TILE_OK;
}

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
    const owner owner = {call->kernel, (uintptr_t)stream, TILE_DEVICE_EMULATOR, 0};
    tile_status status = given_block(&owner, needed, &base);
    if (status) return status;
    call->is_given = base != NULL;
    if (base)
        divide(base, call, UINT32_MAX, places);
    else
        status = allocate_each(call, places);
    for (uint32_t i = 0; !status && i < call->count; i++)
        if (call->zeroed >> i & 1) tile_clear_emulated(places[i], call->bytes[i]);
    return status;
}

/* ---- the interface --------------------------------------------------------------------------- */

static tile_status set_block(pthread_mutex_t *lock, const owner *owner, void *pointer, size_t bytes)
{
    pthread_mutex_lock(lock);
    const int done = put_block(owner, pointer, bytes);
    pthread_mutex_unlock(lock);
    return done ? TILE_OK : tile_error(TILE_ERROR_MEMORY, "tile_set_workspace: out of memory");
}

static tile_status set_on_gpu(tile_stream stream, void *pointer, size_t bytes)
{
    static const char who[] = "tile_set_workspace";
    tile_driver *driver = NULL;
    tile_scope scope;
    tile_status status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter(driver, stream, who, &scope);
    if (status) return status;
    owner all = {.device = scope.device};
    status = stream_number(driver, stream, who, &all.stream);
    if (!status) status = set_block(lock_of(driver, &all), &all, pointer, bytes);
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
    const owner all = {NULL, (uintptr_t)stream, TILE_DEVICE_EMULATOR, 0};
    return device == TILE_DEVICE_EMULATOR ? set_block(&emulator_lock, &all, pointer, bytes)
                                          : set_on_gpu(stream, pointer, bytes);
}
