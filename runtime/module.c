/* module.c: picks the image of a variant for a device, loads it once, and keeps what was loaded.
 *
 * A kernel's state is made by its first call and lives as long as the process: an image can't be
 * unloaded while another thread may still launch it, and at exit the driver may be gone already. */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- picking --------------------------------------------------------------------------------- */

/* How well an image suits a GPU; 0: not at all. The same chip's code comes first, then code of the
 * nearest older minor of the same major, then PTX of the newest older version. What is marked 'a'
 * runs on its own chip alone, machine code and PTX alike. */
static uint32_t suitability(const tile_image *image, uint32_t compute)
{
    enum { PTX = 1, SAME_MAJOR = 1000, EXACT = 2000 };
    const int exact = image->compute == compute;
    if (image->kind == TILE_IMAGE_EMULATOR || image->compute > compute || (image->suffix && !exact))
        return 0;
    if (image->kind == TILE_IMAGE_PTX) return PTX + 2 * image->compute + (image->suffix != 0);
    if (exact) return EXACT + (image->suffix != 0);
    return image->compute / 10 == compute / 10 ? SAME_MAJOR + image->compute : 0;
}

const tile_image *tile_pick_image(const tile_variant *variant, uint32_t compute)
{
    const tile_image *best = NULL;
    uint32_t most = 0;
    for (uint64_t i = 0; i < variant->image_count; i++) {
        const uint32_t suits = suitability(&variant->images[i], compute);
        if (suits > most) {
            most = suits;
            best = &variant->images[i];
        }
    }
    return best;
}

const tile_image *tile_pick_emulated(const tile_variant *variant)
{
    for (uint64_t i = 0; i < variant->image_count; i++) {
        if (variant->images[i].kind == TILE_IMAGE_EMULATOR) return &variant->images[i];
    }
    return NULL;
}

static const char *image_kind_name(const tile_image *image)
{
    switch (image->kind) {
    case TILE_IMAGE_CUBIN: return "";
    case TILE_IMAGE_PTX: return " (PTX)";
    case TILE_IMAGE_EMULATOR: return " (emulator)";
    default: return " (of an unknown kind)";
    }
}

static void list_images(tile_text *text, const tile_variant *variant)
{
    if (!variant->image_count) tile_text_add(text, "nothing");
    for (uint64_t i = 0; i < variant->image_count; i++)
        tile_text_add(text, "%s%s%s", i ? ", " : "", variant->images[i].target,
                      image_kind_name(&variant->images[i]));
}

tile_status tile_need_image(const tile_kernel *kernel, const tile_variant *variant,
                            const tile_gpu *gpu, const tile_image **out)
{
    *out = tile_pick_image(variant, gpu->compute);
    if (*out) return TILE_OK;
    tile_text text = {0};
    tile_text_add(
        &text,
        "%s: no image runs on this device, %s of compute capability %u.%u; the object holds ",
        kernel->name, gpu->name, gpu->compute / 10, gpu->compute % 10);
    list_images(&text, variant);
    tile_text_add(&text, "; add sm_%u or compute_80 to tilec's --arch", gpu->compute);
    return tile_error(TILE_ERROR_NO_IMAGE, "%s", text.bytes);
}

tile_status tile_need_emulated(const tile_kernel *kernel, const tile_variant *variant,
                               const tile_image **out)
{
    *out = tile_pick_emulated(variant);
    if (*out && (*out)->emulator) return TILE_OK;
    tile_text text = {0};
    if (*out) {
        tile_text_add(&text,
                      "%s: the image for the emulator was linked without it: add -ltile_emulator "
                      "before -ltile",
                      kernel->name);
    } else {
        tile_text_add(&text, "%s: the device is the emulator and the object holds ", kernel->name);
        list_images(&text, variant);
        tile_text_add(&text, "; add emulator to tilec's --arch");
    }
    return tile_error(TILE_ERROR_NO_EMULATOR, "%s", text.bytes);
}

/* ---- loading --------------------------------------------------------------------------------- */

typedef struct kernel_state {
    pthread_mutex_t lock; /* loading */
    tile_loaded *loaded;  /* every image that the driver holds, under the lock */
    uint32_t variants;    /* of all specialisations */
    uint32_t *first;      /* for each specialisation its first variant's place in a row of slots */
    _Atomic(const tile_loaded *) slots[]; /* [device][variant] */
} kernel_state;

static void free_state(kernel_state *state)
{
    if (!state) return;
    pthread_mutex_destroy(&state->lock);
    free(state->first);
    free(state);
}

static kernel_state *make_state(const tile_driver *driver, const tile_kernel *kernel)
{
    size_t variants = 0;
    for (uint32_t i = 0; i < kernel->specialisation_count; i++)
        variants += kernel->specialisations[i].variant_count;
    const size_t slots = variants * (size_t)driver->count;
    kernel_state *state = calloc(1, sizeof *state + slots * sizeof state->slots[0]);
    if (!state) return NULL;
    pthread_mutex_init(&state->lock, NULL);
    state->first = calloc(kernel->specialisation_count, sizeof *state->first);
    if (!state->first) {
        free_state(state);
        return NULL;
    }
    for (uint32_t i = 0; i < kernel->specialisation_count; i++) {
        state->first[i] = state->variants;
        state->variants += kernel->specialisations[i].variant_count;
    }
    return state;
}

static tile_status state_of(const tile_driver *driver, const tile_kernel *kernel,
                            kernel_state **out)
{
    void *there = __atomic_load_n(kernel->state, __ATOMIC_ACQUIRE);
    if (!there) {
        kernel_state *made = make_state(driver, kernel);
        if (!made) return tile_error(TILE_ERROR_MEMORY, "%s: out of memory", kernel->name);
        if (__atomic_compare_exchange_n(kernel->state, &there, (void *)made, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE))
            there = made;
        else
            free_state(made); /* another thread was first */
    }
    *out = there;
    return TILE_OK;
}

/* The driver reads PTX up to a NUL, which an image need not end with. */
static tile_status terminated_text(const tile_kernel *kernel, const tile_image *image, char **out)
{
    *out = malloc(image->size + 1);
    if (!*out) return tile_error(TILE_ERROR_MEMORY, "%s: out of memory", kernel->name);
    memcpy(*out, image->bytes, image->size);
    (*out)[image->size] = '\0';
    return TILE_OK;
}

/* `log` is what the driver's own compiler said of PTX. */
static tile_status refused_image(const tile_driver *driver, const tile_kernel *kernel,
                                 const tile_image *image, const tile_gpu *gpu, CUresult result,
                                 const char *log)
{
    return tile_error(
        result,
        "%s: the driver (CUDA %d.%d) refuses the image for %s%s on %s of compute capability "
        "%u.%u: cuLibraryLoadData failed with %s (%d)%s%s",
        kernel->name, driver->version / 1000, driver->version % 1000 / 10, image->target,
        image_kind_name(image), gpu->name, gpu->compute / 10, gpu->compute % 10,
        tile_driver_error_name(driver, result), result, *log ? ": " : "", log);
}

static tile_status load_library(const tile_driver *driver, const tile_kernel *kernel,
                                const tile_image *image, const tile_gpu *gpu, CUlibrary *out)
{
    char log[1024] = "";
    int options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log}; /* a size travels in the pointer */
    CUresult result;
    if (image->kind == TILE_IMAGE_PTX) {
        char *text;
        const tile_status status = terminated_text(kernel, image, &text);
        if (status) return status;
        result = driver->library_load(out, text, options, values, 2, NULL, NULL, 0);
        free(text);
    } else {
        result = driver->library_load(out, image->bytes, NULL, NULL, 0, NULL, NULL, 0);
    }
    log[sizeof log - 1] = '\0';
    return result == CUDA_SUCCESS ? TILE_OK
                                  : refused_image(driver, kernel, image, gpu, result, log);
}

static tile_status find_kernels(const tile_driver *driver, const tile_kernel *kernel,
                                uint32_t launches, tile_loaded *loaded)
{
    for (uint32_t i = 0; i < launches; i++) {
        const CUresult result = driver->library_kernel(&loaded->kernels[i].kernel, loaded->library,
                                                       loaded->image->entries[i].name);
        if (result != CUDA_SUCCESS)
            return tile_driver_error(driver, result, kernel->name, "cuLibraryGetKernel");
    }
    return TILE_OK;
}

static tile_status load_image(const tile_driver *driver, const tile_kernel *kernel,
                              const tile_image *image, uint32_t launches, const tile_gpu *gpu,
                              tile_loaded **out)
{
    tile_loaded *loaded = calloc(1, sizeof *loaded + launches * sizeof loaded->kernels[0]);
    if (!loaded) return tile_error(TILE_ERROR_MEMORY, "%s: out of memory", kernel->name);
    loaded->image = image;
    tile_status status = load_library(driver, kernel, image, gpu, &loaded->library);
    if (!status) {
        status = find_kernels(driver, kernel, launches, loaded);
        if (status) driver->library_unload(loaded->library);
    }
    if (status) {
        free(loaded);
        return status;
    }
    *out = loaded;
    return TILE_OK;
}

static tile_status too_much_shared(const tile_driver *driver, const tile_kernel *kernel,
                                   const tile_entry *entry, const tile_gpu *gpu, CUresult result)
{
    int most = 0;
    driver->device_attribute(&most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                             gpu->device);
    return tile_error(
        result,
        "%s: %s needs %u bytes of shared memory a block, %s has %d: cuKernelSetAttribute "
        "failed with %s (%d)",
        kernel->name, entry->name, entry->shared_bytes, gpu->name, most,
        tile_driver_error_name(driver, result), result);
}

/* The attribute belongs to a kernel on one device, so each device asks anew. */
static tile_status allow_shared(const tile_driver *driver, const tile_kernel *kernel,
                                uint32_t launches, const tile_loaded *loaded, const tile_gpu *gpu)
{
    for (uint32_t i = 0; i < launches; i++) {
        const tile_entry *entry = &loaded->image->entries[i];
        if (entry->shared_bytes <= TILE_FREE_SHARED_BYTES) continue;
        const CUresult result = driver->kernel_attribute(
            CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)entry->shared_bytes,
            loaded->kernels[i].kernel, gpu->device);
        if (result != CUDA_SUCCESS) return too_much_shared(driver, kernel, entry, gpu, result);
    }
    return TILE_OK;
}

/* How many blocks of those that take turns, wait for each other, or begin early the device runs at
 * a time. */
static tile_status count_blocks(const tile_driver *driver, const tile_kernel *kernel,
                                uint32_t launches, tile_loaded *loaded, const tile_gpu *gpu)
{
    for (uint32_t i = 0; i < launches; i++) {
        const tile_entry *entry = &loaded->image->entries[i];
        int processors = 0, blocks = 0;
        if (!entry->persistent && !entry->cooperative && !entry->early) continue;
        CUresult result = driver->device_attribute(
            &processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, gpu->device);
        if (result == CUDA_SUCCESS)
            result =
                driver->blocks_at_a_time(&blocks, (CUfunction)(void *)loaded->kernels[i].kernel,
                                         (int)entry->warps * 32, entry->shared_bytes);
        if (result != CUDA_SUCCESS)
            return tile_driver_error(driver, result, kernel->name,
                                     "cuOccupancyMaxActiveBlocksPerMultiprocessor");
        loaded->kernels[i].processors = (uint32_t)processors;
        loaded->kernels[i].at_a_time = (uint32_t)(processors * (blocks > 0 ? blocks : 1));
    }
    return TILE_OK;
}

/* The image in the driver, loaded now unless another device or variant loaded it before. */
static tile_status loaded_image(const tile_driver *driver, const tile_kernel *kernel,
                                kernel_state *state, const tile_image *image, uint32_t launches,
                                const tile_gpu *gpu, tile_loaded **out)
{
    for (tile_loaded *loaded = state->loaded; loaded; loaded = loaded->next) {
        if (loaded->image == image) {
            *out = loaded;
            return TILE_OK;
        }
    }
    const tile_status status = load_image(driver, kernel, image, launches, gpu, out);
    if (status) return status;
    (*out)->next = state->loaded;
    state->loaded = *out;
    return TILE_OK;
}

/* Fills a slot; the caller holds the lock. */
static tile_status load_slot(const tile_driver *driver, const tile_kernel *kernel,
                             kernel_state *state, const tile_specialisation *specialisation,
                             const tile_variant *variant, const tile_gpu *gpu,
                             _Atomic(const tile_loaded *) *slot)
{
    if (atomic_load_explicit(slot, memory_order_relaxed))
        return TILE_OK; /* by another thread, while this one waited */
    const tile_image *image = NULL;
    tile_loaded *loaded = NULL;
    tile_status status = tile_need_image(kernel, variant, gpu, &image);
    if (!status)
        status =
            loaded_image(driver, kernel, state, image, specialisation->launch_count, gpu, &loaded);
    if (!status) status = allow_shared(driver, kernel, specialisation->launch_count, loaded, gpu);
    if (!status) status = count_blocks(driver, kernel, specialisation->launch_count, loaded, gpu);
    if (!status) atomic_store_explicit(slot, loaded, memory_order_release);
    return status;
}

tile_status tile_load(const tile_driver *driver, const tile_kernel *kernel, uint32_t specialisation,
                      uint32_t variant, int device, const tile_loaded **out)
{
    kernel_state *state = NULL;
    tile_status status = state_of(driver, kernel, &state);
    if (status) return status;
    const size_t place = (size_t)device * state->variants + state->first[specialisation] + variant;
    _Atomic(const tile_loaded *) *slot = &state->slots[place];
    *out = atomic_load_explicit(slot, memory_order_acquire);
    if (*out) return TILE_OK;
    const tile_specialisation *wanted = &kernel->specialisations[specialisation];
    pthread_mutex_lock(&state->lock);
    status = load_slot(driver, kernel, state, wanted, &wanted->variants[variant],
                       &driver->gpus[device], slot);
    pthread_mutex_unlock(&state->lock);
    *out = atomic_load_explicit(slot, memory_order_relaxed);
    return status;
}
