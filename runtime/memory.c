/* memory.c: memory of the chosen device, copies, and the emulator's list of allocations.
 *
 * The emulator asks tile_find_allocation at each access of emulated code, so that each thread
 * remembers its last hit and the list is only searched, in a sorted array, when that one misses. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- the emulator's allocations -------------------------------------------------------------- */

enum {
    ALIGNMENT = 256, /* what the CUDA driver gives */
    GUARD = 1 << 16, /* keeps neighbours apart: neither running off an end, nor rows or tiles that
                        lie further down, find another allocation */
    FRESH = 0xff     /* unwritten memory is a NaN in every float type, and the same in every run */
};

static struct {
    pthread_rwlock_t lock;
    tile_allocation **sorted; /* by base */
    size_t count, capacity;
    atomic_uint_least64_t generation; /* changes with the list */
} registry = {.lock = PTHREAD_RWLOCK_INITIALIZER};

void tile_memory_lock(void)
{
    pthread_rwlock_wrlock(&registry.lock);
}

void tile_memory_unlock(void)
{
    pthread_rwlock_unlock(&registry.lock);
}

void tile_memory_unlock_child(void)
{
    pthread_rwlock_init(&registry.lock, NULL);
}

/* A copy, since the allocation itself may be freed by the time a thread looks again. */
typedef struct last_hit {
    uint64_t generation;
    uintptr_t base;
    size_t bytes;
    const tile_allocation *allocation;
} last_hit;
static _Thread_local last_hit last;

/* Index of the first allocation that starts after `address`. */
static size_t upper_bound(uintptr_t address)
{
    size_t low = 0, high = registry.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if ((uintptr_t)registry.sorted[middle]->base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The allocation that holds `address`; the lock is held. */
static tile_allocation *search(uintptr_t address, size_t *index)
{
    const size_t after = upper_bound(address);
    if (!after) return NULL;
    tile_allocation *allocation = registry.sorted[after - 1];
    if (address - (uintptr_t)allocation->base >= allocation->bytes) return NULL;
    *index = after - 1;
    return allocation;
}

const tile_allocation *tile_find_allocation(const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    const uint64_t generation = atomic_load_explicit(&registry.generation, memory_order_acquire);
    if (last.generation == generation && at - last.base < last.bytes) return last.allocation;
    size_t index;
    pthread_rwlock_rdlock(&registry.lock);
    const tile_allocation *found = search(at, &index);
    if (found)
        last = (last_hit){atomic_load_explicit(&registry.generation, memory_order_relaxed),
                          (uintptr_t)found->base, found->bytes, found};
    pthread_rwlock_unlock(&registry.lock);
    return found;
}

static uint64_t digest(const uint8_t *bytes, size_t count)
{
    const uint64_t factor = 0x9e3779b97f4a7c15;
    uint64_t sum = count;
    for (; count >= sizeof sum; bytes += sizeof sum, count -= sizeof sum) {
        uint64_t word;
        memcpy(&word, bytes, sizeof word);
        sum = (sum ^ word) * factor;
        sum ^= sum >> 29;
    }
    for (; count; count--) sum = (sum ^ *bytes++) * factor;
    return sum ^ sum >> 32;
}

/* A sum over them: where each lies does not count, nor what was written of it: a kernel that is not
 * checked counts as having written all of its arguments. */
uint64_t tile_digest_allocations(void)
{
    uint64_t sum = 0;
    pthread_rwlock_rdlock(&registry.lock);
    for (size_t i = 0; i < registry.count; i++) {
        const tile_allocation *allocation = registry.sorted[i];
        sum += digest(allocation->base, allocation->bytes);
    }
    pthread_rwlock_unlock(&registry.lock);
    return sum;
}

static tile_status out_of_memory(size_t bytes)
{
    return tile_error(TILE_ERROR_MEMORY, "tile_alloc: no %zu bytes of memory for the emulator",
                      bytes);
}

static void free_allocation(tile_allocation *allocation)
{
    if (!allocation) return;
    free(allocation->base);
    free(allocation->written);
    free(allocation->parts);
    free(allocation);
}

static tile_allocation *make_allocation(size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    const size_t room = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + GUARD;
    tile_allocation *allocation = calloc(1, sizeof *allocation);
    if (!allocation) return NULL;
    allocation->base = aligned_alloc(ALIGNMENT, room);
    allocation->bytes = bytes;
    allocation->written = calloc(bytes / 8 + 1, 1);
    if (!allocation->base || !allocation->written) {
        free_allocation(allocation);
        return NULL;
    }
    memset(allocation->base, FRESH, bytes + ALIGNMENT);
    return allocation;
}

/* Both under the write lock. */
static int reserve_slot(void)
{
    if (registry.count < registry.capacity) return 1;
    const size_t capacity = registry.capacity ? 2 * registry.capacity : 16;
    tile_allocation **grown = realloc(registry.sorted, capacity * sizeof *grown);
    if (!grown) return 0;
    registry.sorted = grown;
    registry.capacity = capacity;
    return 1;
}

static void insert(tile_allocation *allocation)
{
    const size_t index = upper_bound((uintptr_t)allocation->base);
    memmove(registry.sorted + index + 1, registry.sorted + index,
            (registry.count - index) * sizeof *registry.sorted);
    registry.sorted[index] = allocation;
    registry.count++;
}

static tile_status emulated_alloc(void **out, size_t bytes)
{
    tile_allocation *allocation = make_allocation(bytes);
    if (!allocation) return out_of_memory(bytes);
    pthread_rwlock_wrlock(&registry.lock);
    const int reserved = reserve_slot();
    if (reserved) {
        insert(allocation);
        atomic_fetch_add_explicit(&registry.generation, 1, memory_order_release);
    }
    pthread_rwlock_unlock(&registry.lock);
    if (!reserved) {
        free_allocation(allocation);
        return out_of_memory(bytes);
    }
    *out = allocation->base;
    return TILE_OK;
}

/* Takes the allocation that starts at `pointer` off the list; NULL if there is none. */
static tile_allocation *remove_allocation(const void *pointer)
{
    size_t index;
    pthread_rwlock_wrlock(&registry.lock);
    tile_allocation *found = search((uintptr_t)pointer, &index);
    if (found && found->base != pointer) found = NULL;
    if (found) {
        registry.count--;
        memmove(registry.sorted + index, registry.sorted + index + 1,
                (registry.count - index) * sizeof *registry.sorted);
        atomic_fetch_add_explicit(&registry.generation, 1, memory_order_release);
    }
    if (!registry.count) { /* nothing is left to be found by a leak checker */
        free(registry.sorted);
        registry.sorted = NULL;
        registry.capacity = 0;
    }
    pthread_rwlock_unlock(&registry.lock);
    return found;
}

/* Emulated threads set bits of the same bytes, so the ragged ends are set atomically. */
static void mark_written(const tile_allocation *allocation, size_t start, size_t bytes)
{
    size_t at = start;
    const size_t end = start + bytes;
    for (; at < end && at % 8; at++)
        __atomic_fetch_or(&allocation->written[at / 8], (uint8_t)(1u << at % 8), __ATOMIC_RELAXED);
    const size_t whole = (end - at) / 8;
    memset(allocation->written + at / 8, 0xff, whole);
    for (at += 8 * whole; at < end; at++)
        __atomic_fetch_or(&allocation->written[at / 8], (uint8_t)(1u << at % 8), __ATOMIC_RELAXED);
}

/* The allocation that holds all `bytes` at `device`. */
static tile_status emulated_range(const char *who, const void *device, size_t bytes,
                                  const tile_allocation **out)
{
    *out = tile_find_allocation(device);
    if (!*out)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: argument 'device' is %p, in no allocation of tile_alloc", who,
                          device);
    const size_t start = (uintptr_t)device - (uintptr_t)(*out)->base;
    if (bytes <= (*out)->bytes - start) return TILE_OK;
    return tile_error(TILE_ERROR_ARGUMENT,
                      "%s: %zu bytes at byte %zu run past the end of an allocation of %zu bytes",
                      who, bytes, start, (*out)->bytes);
}

static tile_status emulated_copy_in(void *device, const void *host, size_t bytes)
{
    const tile_allocation *allocation;
    const tile_status status = emulated_range("tile_copy_in", device, bytes, &allocation);
    if (status) return status;
    memcpy(device, host, bytes);
    mark_written(allocation, (uintptr_t)device - (uintptr_t)allocation->base, bytes);
    return TILE_OK;
}

void tile_clear_emulated(void *pointer, size_t bytes)
{
    if (!bytes) return;
    const tile_allocation *allocation = tile_find_allocation(pointer);
    memset(pointer, 0, bytes);
    if (allocation)
        mark_written(allocation, (uintptr_t)pointer - (uintptr_t)allocation->base, bytes);
}

static tile_status emulated_copy_out(void *host, const void *device, size_t bytes)
{
    const tile_allocation *allocation;
    const tile_status status = emulated_range("tile_copy_out", device, bytes, &allocation);
    if (!status) memcpy(host, device, bytes);
    return status;
}

/* ---- the device's ---------------------------------------------------------------------------- */

/* One call of the driver: its arguments, whichever it needs. */
typedef struct transfer {
    CUdeviceptr device;
    void *to;
    const void *from;
    size_t bytes;
    CUstream stream;
} transfer;

typedef CUresult transfer_function(const tile_driver *driver, transfer *transfer);

static CUresult do_alloc(const tile_driver *driver, transfer *t)
{
    return driver->memory_alloc(&t->device, t->bytes);
}

static CUresult do_free(const tile_driver *driver, transfer *t)
{
    return driver->memory_free(t->device);
}

static CUresult do_copy_in(const tile_driver *driver, transfer *t)
{
    return driver->copy_in(t->device, t->from, t->bytes, t->stream);
}

static CUresult do_copy_out(const tile_driver *driver, transfer *t)
{
    return driver->copy_out(t->to, t->device, t->bytes, t->stream);
}

static CUresult do_clear(const tile_driver *driver, transfer *t)
{
    return driver->memory_set(t->device, 0, t->bytes, t->stream);
}

static CUresult do_synchronize(const tile_driver *driver, transfer *t)
{
    return driver->stream_synchronize(t->stream);
}

/* Runs one driver call in the right context. */
static tile_status on_gpu(transfer_function *function, const char *who, const char *call,
                          transfer *t)
{
    tile_driver *driver = NULL;
    tile_scope scope;
    tile_status status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter(driver, t->stream, who, &scope);
    if (status) return status;
    const CUresult result = function(driver, t);
    if (result != CUDA_SUCCESS) status = tile_driver_error(driver, result, who, call);
    return tile_scope_leave(&scope, who, status);
}

/* ---- the interface --------------------------------------------------------------------------- */

static tile_status check_copy(const char *who, const void *device, const void *host)
{
    if (device && host) return TILE_OK;
    return tile_error(TILE_ERROR_ARGUMENT, "%s: argument '%s' is NULL", who,
                      device ? "host" : "device");
}

tile_status tile_alloc(void **out, size_t bytes)
{
    int device;
    if (!out) return tile_error(TILE_ERROR_ARGUMENT, "tile_alloc: argument 'out' is NULL");
    *out = NULL;
    tile_status status = tile_chosen_device(&device);
    if (status || !bytes) return status;
    if (device == TILE_DEVICE_EMULATOR) return emulated_alloc(out, bytes);
    transfer t = {.bytes = bytes};
    status = on_gpu(do_alloc, "tile_alloc", "cuMemAlloc", &t);
    if (!status)
        *out = (void *)(uintptr_t)t.device;
    else if (t.device) /* it was the context that could not be restored */
        on_gpu(do_free, "tile_alloc", "cuMemFree", &t);
    return status;
}

tile_status tile_free(void *pointer)
{
    int device;
    if (!pointer) return TILE_OK;
    /* By the pointer, not by the device: the program may have chosen another one since. */
    tile_allocation *allocation = remove_allocation(pointer);
    if (allocation) {
        free_allocation(allocation);
        return TILE_OK;
    }
    const tile_status status = tile_chosen_device(&device);
    if (status) return status;
    if (device == TILE_DEVICE_EMULATOR)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "tile_free: %p is not the start of an allocation of tile_alloc", pointer);
    transfer t = {.device = (uintptr_t)pointer};
    return on_gpu(do_free, "tile_free", "cuMemFree", &t);
}

tile_status tile_copy_in(void *device, const void *host, size_t bytes, tile_stream stream)
{
    int chosen;
    if (!bytes) return TILE_OK;
    tile_status status = check_copy("tile_copy_in", device, host);
    if (!status) status = tile_chosen_device(&chosen);
    if (status) return status;
    if (chosen == TILE_DEVICE_EMULATOR) return emulated_copy_in(device, host, bytes);
    transfer t = {.device = (uintptr_t)device, .from = host, .bytes = bytes, .stream = stream};
    return on_gpu(do_copy_in, "tile_copy_in", "cuMemcpyHtoDAsync", &t);
}

tile_status tile_clear(const char *who, void *device, size_t bytes, tile_stream stream)
{
    int chosen;
    if (!bytes) return TILE_OK;
    const tile_status status = tile_chosen_device(&chosen);
    if (status) return status;
    if (chosen != TILE_DEVICE_EMULATOR) {
        transfer t = {.device = (uintptr_t)device, .bytes = bytes, .stream = stream};
        return on_gpu(do_clear, who, "cuMemsetD8Async", &t);
    }
    tile_clear_emulated(device, bytes);
    return TILE_OK;
}

tile_status tile_copy_out(void *host, const void *device, size_t bytes, tile_stream stream)
{
    int chosen;
    if (!bytes) return TILE_OK;
    tile_status status = check_copy("tile_copy_out", device, host);
    if (!status) status = tile_chosen_device(&chosen);
    if (status) return status;
    if (chosen == TILE_DEVICE_EMULATOR) return emulated_copy_out(host, device, bytes);
    transfer t = {.device = (uintptr_t)device, .to = host, .bytes = bytes, .stream = stream};
    return on_gpu(do_copy_out, "tile_copy_out", "cuMemcpyDtoHAsync", &t);
}

tile_status tile_synchronize(tile_stream stream)
{
    int device;
    const tile_status status = tile_chosen_device(&device);
    if (status || device == TILE_DEVICE_EMULATOR)
        return status; /* the emulator ends each launch before it returns */
    transfer t = {.stream = stream};
    return on_gpu(do_synchronize, "tile_synchronize", "cuStreamSynchronize", &t);
}
