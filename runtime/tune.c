/* tune.c: which configuration a call takes: what the object was built with, what an earlier run
 * kept, or what is measured now.
 *
 * What was chosen is in a table that lives as long as the process; reading it takes no lock. One
 * thread chooses at a time on each GPU, and the others that ask the same wait for its answer. */
#include "tune.h"

#include "c_locale.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct choice {
    struct choice *next;
    uint32_t chosen;
    uint64_t code; /* of the configuration: another plug-in's kernel may get a kernel's address */
    tile_question question;
} choice;

enum { BUCKETS = 64 };

typedef struct tile_listener {
    tile_log_function *function;
    void *context;
} tile_listener;

static struct {
    pthread_mutex_t lock; /* of what is told whom */
    _Atomic(choice *) buckets[BUCKETS];
    tile_tuned_function *tuned; /* called under the lock */
    void *tuned_context;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the log --------------------------------------------------------------------------------- */

/* An old listener is kept, since another thread may be calling it. */
tile_status tile_set_log(tile_log_function *function, void *context)
{
    tile_listener *made = NULL;
    if (function) {
        made = calloc(1, sizeof *made);
        if (!made) return tile_error(TILE_ERROR_MEMORY, "tile_set_log: out of memory");
        *made = (tile_listener){function, context};
    }
    atomic_store_explicit(&tile_the_process.listener, made, memory_order_release);
    return TILE_OK;
}

void tile_log(const char *format, ...)
{
    const tile_listener *listener =
        atomic_load_explicit(&tile_the_process.listener, memory_order_acquire);
    if (!listener) return;
    char text[1024];
    va_list arguments;
    const locale_t before = tile_enter_c_locale();
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tile_leave_c_locale(before);
    listener->function(text, listener->context);
}

/* ---- how ------------------------------------------------------------------------------------- */

tile_status tile_set_tuning(tile_tuning mode)
{
    if (mode < TILE_TUNE_ON || mode > TILE_TUNE_DEFAULT)
        return tile_error(TILE_ERROR_ARGUMENT, "tile_set_tuning: there is no mode %d", (int)mode);
    atomic_store_explicit(&tile_the_process.tuning, mode, memory_order_relaxed);
    return TILE_OK;
}

static tile_status mode_of_environment(int *out)
{
    static const char *const names[] = {"on", "file", "off", "first"};
    const char *named = getenv("TILE_TUNE");
    *out = TILE_TUNE_ON;
    if (!named || !*named) return TILE_OK;
    for (*out = 0; *out < TILE_TUNE_DEFAULT; ++*out) {
        if (strcmp(named, names[*out]) == 0) return TILE_OK;
    }
    return tile_error(TILE_ERROR_ARGUMENT, "TILE_TUNE is '%.100s', not on, file, off or first",
                      named);
}

tile_status tile_tuning_mode(tile_tuning *out)
{
    int mode = atomic_load_explicit(&tile_the_process.tuning, memory_order_relaxed);
    int wanted = mode;
    if (mode == TILE_TUNE_DEFAULT) {
        const tile_status status = mode_of_environment(&wanted);
        if (status) return status;
        /* The environment is asked once; tile_set_tuning in another thread wins. */
        if (!atomic_compare_exchange_strong(&tile_the_process.tuning, &mode, wanted)) wanted = mode;
    }
    *out = (tile_tuning)wanted;
    return TILE_OK;
}

void tile_set_tuned(tile_tuned_function *function, void *context)
{
    pthread_mutex_lock(&table.lock);
    table.tuned = function;
    table.tuned_context = context;
    pthread_mutex_unlock(&table.lock);
}

/* ---- questions ------------------------------------------------------------------------------- */

int64_t tile_size_class(int64_t value)
{
    if (value <= 4) return value < 0 ? -1 : value;
    int bits = 0;
    for (uint64_t left = (uint64_t)value; left; left >>= 1) bits++;
    const uint64_t step = UINT64_C(1) << (bits - 2);
    const uint64_t class = ((uint64_t)value + step - 1) / step * step;
    return class > INT64_MAX ? INT64_MAX : (int64_t) class;
}

static int is_size(const tile_parameter *parameter)
{
    return parameter->kind == TILE_PARAMETER_SCALAR && parameter->type &&
           (parameter->type[0] == 'i' || parameter->type[0] == 'u');
}

void tile_ask(tile_question *question, const void *const *arguments)
{
    const tile_kernel *kernel = question->kernel;
    question->class_count = 0;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        if (is_size(&kernel->parameters[i]))
            question->classes[question->class_count++] =
                tile_size_class(tile_argument_value(&kernel->parameters[i], arguments[i]));
    }
}

const tile_specialisation *tile_configuration(const tile_question *question, uint32_t index)
{
    return &question->kernel->specialisations[question->first + index];
}

static _Atomic(choice *) *bucket_of(const tile_question *question)
{
    uint64_t hash = (uint64_t)(uintptr_t)question->kernel / 16 + question->first;
    for (uint32_t i = 0; i < question->class_count; i++)
        hash = hash * 31 + (uint64_t)question->classes[i];
    hash = (hash * 31 + (uint64_t)question->device) * UINT64_C(0x9e3779b97f4a7c15);
    return &table.buckets[hash >> 58];
}

static int is_same(const tile_question *a, const tile_question *b)
{
    return a->kernel == b->kernel && a->first == b->first && a->variant == b->variant &&
           a->device == b->device && a->class_count == b->class_count &&
           memcmp(a->classes, b->classes, a->class_count * sizeof a->classes[0]) == 0;
}

static int is_answer(const choice *one, const tile_question *question)
{
    return is_same(&one->question, question) &&
           one->chosen < tile_configuration(question, 0)->configuration_count &&
           one->code == tile_configuration(question, one->chosen)->code;
}

int tile_tune_known(const tile_question *question, uint32_t *chosen)
{
    const choice *one = atomic_load_explicit(bucket_of(question), memory_order_acquire);
    while (one && !is_answer(one, question)) one = one->next;
    if (one) *chosen = one->chosen;
    return one != NULL;
}

/* Without memory it is chosen again the next time. */
static void remember(const tile_question *question, uint32_t chosen)
{
    const size_t bytes =
        offsetof(choice, question.classes) + question->class_count * sizeof question->classes[0];
    choice *made = calloc(1, bytes);
    if (!made) return;
    made->code = tile_configuration(question, chosen)->code;
    made->chosen = chosen;
    memcpy(&made->question, question, bytes - offsetof(choice, question));
    _Atomic(choice *) *bucket = bucket_of(question);
    made->next = atomic_load_explicit(bucket, memory_order_relaxed);
    /* Other GPUs' choices come into the same list. */
    while (!atomic_compare_exchange_weak_explicit(bucket, &made->next, made, memory_order_release,
                                                  memory_order_relaxed)) {
    }
}

/* ---- what the object was built with ---------------------------------------------------------- */

static int answers(const tile_choice *built, const tile_question *question, const char *device)
{
    return built->specialisation == question->first &&
           built->class_count == question->class_count &&
           (!built->device || strcmp(built->device, device) == 0) &&
           built->configuration < tile_configuration(question, 0)->configuration_count &&
           (!built->class_count || memcmp(built->classes, question->classes,
                                          built->class_count * sizeof built->classes[0]) == 0);
}

static int find_built(const tile_question *question, const tile_driver *driver, uint32_t *chosen)
{
    const tile_kernel *kernel = question->kernel;
    const char *device = driver->gpus[question->device].name;
    for (uint64_t i = 0; i < kernel->choice_count; i++) {
        if (!answers(&kernel->choices[i], question, device)) continue;
        *chosen = kernel->choices[i].configuration;
        return 1;
    }
    return 0;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static int is_capturing(const tile_trial *trial)
{
    int capturing = 0;
    return trial->driver->stream_is_capturing((CUstream)trial->stream, &capturing) !=
               CUDA_SUCCESS ||
           capturing;
}

/* Under the table's lock. */
static void tell_listener(const tile_trial *trial, uint32_t chosen, const double *nanoseconds)
{
    const tile_question *question = trial->question;
    const uint32_t count = tile_configuration(question, 0)->configuration_count;
    const tile_gpu *gpu = &trial->driver->gpus[question->device];
    tile_measured *measured = calloc(count, sizeof *measured);
    for (uint32_t i = 0; measured && i < count; i++) measured[i].nanoseconds = nanoseconds[i];
    const tile_tuned tuned = {.kernel = question->kernel,
                              .device = gpu->name,
                              .classes = question->classes,
                              .measured = measured,
                              .class_count = question->class_count,
                              .specialisation = question->first,
                              .configuration = chosen,
                              .compute = gpu->compute,
                              .driver = trial->driver->version};
    if (measured) table.tuned(&tuned, table.tuned_context);
    free(measured);
}

static void tell(const tile_trial *trial, uint32_t chosen, const double *nanoseconds)
{
    const tile_question *question = trial->question;
    tile_log("%s: %s is the fastest of %u configurations on %s: %.3f ms", question->kernel->name,
             tile_configuration(question, chosen)->configuration,
             tile_configuration(question, 0)->configuration_count,
             trial->driver->gpus[question->device].name, nanoseconds[chosen] / 1e6);
    pthread_mutex_lock(&table.lock);
    if (table.tuned) tell_listener(trial, chosen, nanoseconds);
    pthread_mutex_unlock(&table.lock);
}

/* Whether the device has room and code for it. */
static int fits(const tile_trial *trial, const tile_specialisation *configuration)
{
    const tile_gpu *gpu = &trial->driver->gpus[trial->question->device];
    int room = 0;
    trial->driver->device_attribute(&room, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                                    gpu->device);
    for (uint32_t i = 0; i < configuration->variant_count; i++) {
        const tile_image *image = tile_pick_image(&configuration->variants[i], gpu->compute);
        if (!image) return 0;
        for (uint32_t j = 0; j < configuration->launch_count; j++) {
            if (image->entries[j].shared_bytes > (uint32_t)room) return 0;
        }
    }
    return 1;
}

/* The first configuration that the device can run; the first of all where it can run none, whose
 * launch says why. */
static uint32_t first_fit(const tile_trial *trial)
{
    const uint32_t count = tile_configuration(trial->question, 0)->configuration_count;
    for (uint32_t i = 0; i < count; i++) {
        if (fits(trial, tile_configuration(trial->question, i))) return i;
    }
    return 0;
}

/* The fastest. Where nothing can be measured it is the first, and the log says why. */
static tile_status measure(const tile_trial *trial, uint32_t *chosen)
{
    const tile_question *question = trial->question;
    const uint32_t count = tile_configuration(question, 0)->configuration_count;
    const char *unfit = NULL;
    double *nanoseconds = calloc(count, sizeof *nanoseconds);
    if (!nanoseconds)
        return tile_error(TILE_ERROR_MEMORY, "%s: out of memory", question->kernel->name);
    tile_status status = tile_measure(trial, nanoseconds, &unfit);
    uint32_t best = count;
    for (uint32_t i = 0; i < count; i++) {
        if (nanoseconds[i] >= 0 && (best == count || nanoseconds[i] < nanoseconds[best])) best = i;
    }
    if (!status && unfit)
        tile_log("%s: the first configuration, %s, is taken, since %s", question->kernel->name,
                 tile_configuration(question, *chosen)->configuration, unfit);
    if (!status && !unfit && best < count) {
        *chosen = best;
        tile_tune_write(question, trial->driver, best, nanoseconds);
        tell(trial, best, nanoseconds);
    }
    free(nanoseconds);
    return status;
}

/* Under the GPU's lock. */
static tile_status choose(const tile_trial *trial, uint32_t *chosen)
{
    const tile_question *question = trial->question;
    tile_tuning mode;
    tile_status status = tile_tuning_mode(&mode);
    if (status) return status;
    const int kept = mode == TILE_TUNE_ON || mode == TILE_TUNE_FILE;
    *chosen = first_fit(trial);
    if (mode == TILE_TUNE_FIRST || tile_tune_known(question, chosen)) return TILE_OK;
    if (!find_built(question, trial->driver, chosen) &&
        !(kept && tile_tune_read(question, trial->driver, chosen))) {
        if (mode != TILE_TUNE_ON) return TILE_OK; /* not for good: another mode may be set */
        if (is_capturing(trial)) {
            tile_log("%s: the first configuration is taken, since nothing is measured while the "
                     "stream is captured; call it before, or use tilec tune",
                     question->kernel->name);
            return TILE_OK;
        }
        status = measure(trial, chosen);
    }
    if (!status) remember(question, *chosen);
    return status;
}

tile_status tile_tune(const tile_trial *trial, uint32_t *chosen)
{
    pthread_mutex_t *lock = &trial->driver->gpus[trial->question->device].locks->choosing;
    pthread_mutex_lock(lock);
    const tile_status status = choose(trial, chosen);
    pthread_mutex_unlock(lock);
    return status;
}
