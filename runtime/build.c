/* build.c: specialisations that the object lacks and libtilec compiles when a call asks for them.
 *
 * Where a kernel's object holds its source, the library is opened, given the line that would add
 * the specialisation, and gives back a kernel that has that one alone. What was compiled is in
 * lists of the kernel's, by a hash of its keys; reading them takes no lock. Threads that ask for
 * the same wait for each other, others do not. A failure is remembered: the source does not get
 * better. */
#include "runtime.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct late {
    struct late *next;
    const tile_kernel *kernel; /* NULL: it failed */
    char *fault;
    tile_status status;
    atomic_int is_done; /* all of the above is settled */
    int on_emulator;
    int64_t keys[]; /* texts are copies */
} late;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t done;
    tile_build_function *build; /* of the library that was opened last */
    const char *opened;
} builder = {.lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};

/* ---- keys ------------------------------------------------------------------------------------ */

static const char *key_text(int64_t key)
{
    return (const char *)(uintptr_t)key;
}

static const tile_parameter *key_parameter(const tile_kernel *kernel, uint32_t index)
{
    const tile_parameter *parameter = kernel->parameters;
    for (uint32_t keys = 0;; parameter++) {
        if (tile_is_key(parameter) && keys++ == index) return parameter;
    }
}

int tile_same_keys(const tile_kernel *kernel, const int64_t *a, const int64_t *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a[i] == b[i]) continue;
        /* What differs as a number may be of a kind that is not compared so. */
        const uint32_t kind = key_parameter(kernel, i)->kind;
        if (kind == TILE_PARAMETER_KEY_FIXED) continue;
        if (kind != TILE_PARAMETER_KEY_TEXT || strcmp(key_text(a[i]), key_text(b[i])) != 0)
            return 0;
    }
    return 1;
}

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash = (hash ^ more) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t mix_key(uint64_t hash, uint32_t kind, int64_t key)
{
    if (kind == TILE_PARAMETER_KEY_FIXED) return hash;
    if (kind != TILE_PARAMETER_KEY_TEXT) return mix(hash, (uint64_t)key);
    for (const char *text = key_text(key); *text; text++) hash = mix(hash, (unsigned char)*text);
    return hash;
}

uint64_t tile_hash_keys(const tile_kernel *kernel, const int64_t *keys)
{
    uint64_t hash = mix(0, (uintptr_t)kernel);
    for (uint32_t i = 0, k = 0; i < kernel->parameter_count; i++)
        if (tile_is_key(&kernel->parameters[i]))
            hash = mix_key(hash, kernel->parameters[i].kind, keys[k++]);
    return hash;
}

/* ---- what was compiled ----------------------------------------------------------------------- */

enum { LISTS = 1024 };

/* A kernel's, by the hash of its keys; made with the first one. */
typedef struct lates {
    late *first[LISTS];
} lates;

static late **list_of(lates *lates, const tile_kernel *kernel, const int64_t *keys)
{
    return &lates->first[tile_hash_keys(kernel, keys) % LISTS];
}

static late *find_late(const tile_kernel *kernel, const int64_t *keys, uint32_t count,
                       int on_emulator)
{
    lates *lates = __atomic_load_n(kernel->later, __ATOMIC_ACQUIRE);
    if (!lates) return NULL;
    late *one = __atomic_load_n(list_of(lates, kernel, keys), __ATOMIC_ACQUIRE);
    while (one &&
           (one->on_emulator != on_emulator || !tile_same_keys(kernel, keys, one->keys, count)))
        one = one->next;
    return one;
}

/* Under the lock. NULL: out of memory. */
static late **list_to_add_to(const tile_kernel *kernel, const int64_t *keys)
{
    lates *lates = __atomic_load_n(kernel->later, __ATOMIC_ACQUIRE);
    if (!lates) lates = calloc(1, sizeof *lates);
    if (!lates) return NULL;
    __atomic_store_n(kernel->later, (void *)lates, __ATOMIC_RELEASE);
    return list_of(lates, kernel, keys);
}

static late *add_late(const tile_kernel *kernel, const int64_t *keys, uint32_t count,
                      int on_emulator)
{
    late **list = list_to_add_to(kernel, keys);
    late *made = list ? calloc(1, sizeof *made + count * sizeof *keys) : NULL;
    if (!made) return NULL;
    made->on_emulator = on_emulator;
    for (uint32_t i = 0; i < count; i++) {
        made->keys[i] = keys[i];
        if (key_parameter(kernel, i)->kind == TILE_PARAMETER_KEY_TEXT)
            made->keys[i] = (int64_t)(uintptr_t)strdup(key_text(keys[i]));
        if (!made->keys[i] && keys[i]) return NULL; /* little is lost with it */
    }
    made->next = *list;
    __atomic_store_n(list, made, __ATOMIC_RELEASE);
    return made;
}

static tile_status answer(const late *one, const tile_kernel **out)
{
    if (one->kernel) *out = one->kernel;
    return one->kernel ? TILE_OK : tile_error(one->status, "%s", one->fault ? one->fault : "");
}

/* ---- the library ----------------------------------------------------------------------------- */

tile_status tile_set_compiler(const char *library)
{
    atomic_store_explicit(&tile_the_process.compiler, library, memory_order_release);
    return TILE_OK;
}

static const char *library_name(void)
{
    const char *given = atomic_load_explicit(&tile_the_process.compiler, memory_order_acquire);
    const char *named = given ? given : secure_getenv("TILE_COMPILER");
    return named && *named ? named : "libtilec.so.0";
}

/* Under the lock. NULL: there is none, and why. An open library stays. */
static tile_build_function *open_library(const char **why)
{
    const char *name = library_name();
    if (builder.build && strcmp(builder.opened, name) == 0) return builder.build;
    *why = "";
    if (strcmp(name, "off") == 0) return NULL;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *address = library ? dlsym(library, "tilec_build") : NULL;
    char *copy = address ? strdup(name) : NULL;
    if (!copy) {
        *why = dlerror();
        return NULL;
    }
    builder.opened = copy;
    memcpy(&builder.build, &address, sizeof address);
    return builder.build;
}

/* ---- compiling ------------------------------------------------------------------------------- */

enum { MOST_GPUS = 64, FAULT_BYTES = 8192 };

static const tile_image *emulated_image(const tile_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->specialisation_count; i++) {
        const tile_specialisation *one = &kernel->specialisations[i];
        for (uint32_t j = 0; j < one->variant_count; j++) {
            const tile_image *image = tile_pick_emulated(&one->variants[j]);
            if (image && image->emulator) return image;
        }
    }
    return NULL;
}

/* The kinds of GPUs of this machine, each once. */
static tile_status find_computes(uint32_t *computes, uint32_t *count)
{
    tile_driver *driver = NULL;
    const tile_status status = tile_driver_get(&driver);
    for (int i = 0; !status && i < driver->count; i++) {
        uint32_t known = 0;
        while (known < *count && computes[known] != driver->gpus[i].compute) known++;
        if (known == *count && *count < MOST_GPUS) computes[(*count)++] = driver->gpus[i].compute;
    }
    return status;
}

/* Whether what came back is for calls of the kernel, and for these keys. */
static int is_fit(const tile_kernel *made, const tile_kernel *kernel, const late *wanted,
                  uint32_t key_count)
{
    if (made->abi_version != TILE_ABI_VERSION || !made->specialisation_count ||
        made->parameter_count != kernel->parameter_count ||
        made->tensor_count != kernel->tensor_count)
        return 0;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const tile_parameter *a = &made->parameters[i], *b = &kernel->parameters[i];
        if (a->bytes != b->bytes || tile_is_key(a) != tile_is_key(b)) return 0;
    }
    return tile_same_keys(kernel, wanted->keys, made->specialisations[0].keys, key_count);
}

typedef struct order {
    const tile_kernel *kernel;
    tile_build_function *build;
    const tile_image *emulated; /* an image for the emulator, where that is wanted */
    uint32_t key_count;
    uint32_t compute_count;
    uint32_t computes[MOST_GPUS];
    tile_text line;
} order;

static void compile(const order *order, late *out)
{
    char cache[TILE_PATH_BYTES], fault[FAULT_BYTES] = "it says nothing";
    const tile_kernel *made = NULL;
    const tile_build_request request = {
        .abi_version = TILE_ABI_VERSION,
        .computes = order->computes,
        .compute_count = order->compute_count,
        .emulator = order->emulated ? order->emulated->emulator : NULL,
        .emulated = order->emulated ? order->emulated->target : NULL,
        .source = order->kernel->source,
        .wanted = order->line.bytes,
        .cache = tile_cache_folder(cache, 1) ? cache : NULL};
    tile_status status = order->build(&request, &made, fault, sizeof fault);
    if (!status && !is_fit(made, order->kernel, out, order->key_count)) {
        status = TILE_ERROR_NO_SPECIALISATION;
        strcpy(fault, "what came of it is of another form");
    }
    if (status) {
        tile_error(status, "%s: libtilec, compiling '%s': %s", order->kernel->name,
                   order->line.bytes, fault);
        out->fault = strdup(tile_last_error());
    }
    out->status = status;
    out->kernel = status ? NULL : made;
}

/* Under the lock, which is released while something is compiled or waited for. */
static tile_status compile_or_wait(const order *order, const int64_t *keys, late **out)
{
    const int on_emulator = order->compute_count == 0;
    late *one = find_late(order->kernel, keys, order->key_count, on_emulator);
    if (one) {
        while (!atomic_load_explicit(&one->is_done, memory_order_acquire))
            pthread_cond_wait(&builder.done, &builder.lock);
    } else {
        one = add_late(order->kernel, keys, order->key_count, on_emulator);
        if (!one) return tile_error(TILE_ERROR_MEMORY, "%s: out of memory", order->kernel->name);
        pthread_mutex_unlock(&builder.lock);
        compile(order, one);
        pthread_mutex_lock(&builder.lock);
        atomic_store_explicit(&one->is_done, 1, memory_order_release);
        pthread_cond_broadcast(&builder.done);
    }
    *out = one;
    return TILE_OK;
}

/* Which code is wanted. */
static tile_status place_order(const tile_kernel *kernel, int on_emulator, order *out)
{
    out->kernel = kernel;
    out->compute_count = 0;
    out->emulated = on_emulator ? emulated_image(kernel) : NULL;
    out->line.used = 0;
    return on_emulator ? TILE_OK : find_computes(out->computes, &out->compute_count);
}

static tile_status build_now(const tile_kernel *kernel, const int64_t *keys, uint32_t key_count,
                             const void *const *arguments, int on_emulator, late **out)
{
    order order;
    tile_text more = {0};
    const char *why = NULL;
    tile_status status = place_order(kernel, on_emulator, &order);
    if (status) return status;
    order.key_count = key_count;
    tile_add_call(&order.line, kernel, keys, arguments);
    pthread_mutex_lock(&builder.lock);
    order.build = open_library(&why);
    const int can = order.build && (order.compute_count || order.emulated);
    if (can) status = compile_or_wait(&order, keys, out);
    if (!order.build && why && *why)
        tile_text_add(&more, ", or install libtilec, which compiles it for the call: %s", why);
    pthread_mutex_unlock(&builder.lock);
    return can ? status : tile_missing_specialisation(kernel, keys, arguments, more.bytes);
}

tile_status tile_build_missing(const tile_kernel *kernel, const int64_t *keys, uint32_t key_count,
                               const void *const *arguments, const tile_kernel **out)
{
    int device;
    if (!kernel->source) return tile_missing_specialisation(kernel, keys, arguments, "");
    tile_status status = tile_chosen_device(&device);
    if (status) return status;
    const int on_emulator = device == TILE_DEVICE_EMULATOR;
    late *one = find_late(kernel, keys, key_count, on_emulator);
    if (!one || !atomic_load_explicit(&one->is_done, memory_order_acquire))
        status = build_now(kernel, keys, key_count, arguments, on_emulator, &one);
    return status ? status : answer(one, out);
}
