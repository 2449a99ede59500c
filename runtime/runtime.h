/* runtime.h: what the files of libtile share. Every name with external linkage starts with tile_,
 * since libtile.a is linked into other people's programs. */
#ifndef TILE_RUNTIME_H
#define TILE_RUNTIME_H

#include "abi.h"
#include "driver.h"

#include "tile/dlpack.h"

#include <pthread.h>
#include <stdatomic.h>

/* ---- limits ---------------------------------------------------------------------------------- */

enum {
    TILE_MAX_PARAMETERS = 256, /* of one kernel, keys included: bounds the launch path's stack */
    TILE_MAX_LAUNCHES = 64,    /* of one specialisation */
    TILE_MAX_MAPS = 16,        /* of one image */
    TILE_MAX_WORKSPACES = 32,  /* of one specialisation: a bit each in zeroed_workspaces */
    TILE_MAX_GRID_X = 0x7fffffff,
    TILE_MAX_GRID_YZ = 65535,
    TILE_FREE_SHARED_BYTES = 48 * 1024 /* more has to be asked for */
};

/* ---- process state (cuda.c) ------------------------------------------------------------------ */

enum { TILE_DEVICE_UNDECIDED = -2, TILE_DEVICE_EMULATOR = -1 };

/* All that outlives a call, apart from each thread's error text and each kernel's state. */
typedef struct tile_process {
    pthread_mutex_t lock;          /* opening the driver, retaining contexts */
    _Atomic(tile_driver *) driver; /* NULL until opened */
    int was_forked; /* the driver was open in the process that this is a child of; under the lock */
    atomic_int device;                         /* ordinal of a GPU, or one of the two above */
    _Atomic(const tile_allocator *) allocator; /* of results; NULL: there is none */
    atomic_int tuning;                         /* a tile_tuning */
    _Atomic(struct tile_listener *) listener;  /* of the log; NULL: there is none */
    _Atomic(const char *) compiler;            /* tile_set_compiler's */
} tile_process;
extern tile_process tile_the_process;

/* From the first call on, a fork leaves the child with free locks (fork.c). */
void tile_watch_forks(void);
/* The list of the emulator's allocations, for a fork (memory.c). */
void tile_memory_lock(void);
void tile_memory_unlock(void);
void tile_memory_unlock_child(void);

/* The driver, opened by the first call. Errors: TILE_ERROR_NO_DRIVER, a CUresult. A failure is not
 * remembered: the next call tries again. */
tile_status tile_driver_get(tile_driver **out);

const char *tile_driver_error_name(const tile_driver *driver, CUresult result);
/* Reports a failed driver call as `who`: `call`, and returns the CUresult as status. */
tile_status tile_driver_error(const tile_driver *driver, CUresult result, const char *who,
                              const char *call);

/* The device that TILE_DEVICE or tile_set_device chose. Errors: TILE_ERROR_DEVICE. */
tile_status tile_chosen_device(int *out);

/* A context that is current for the length of one call. */
typedef struct tile_scope {
    const tile_driver *driver;
    int device;       /* ordinal */
    CUcontext pushed; /* NULL where the right one was current already */
} tile_scope;

/* Makes the context of `stream` current; for a default stream the thread's own, else the primary
 * one of the chosen device. tile_scope_leave restores what was and returns `status`, or its own
 * failure where that was TILE_OK. */
tile_status tile_scope_enter(tile_driver *driver, tile_stream stream, const char *who,
                             tile_scope *out);
/* The same for a given GPU: the thread's context if it is of that GPU, else its primary one. */
tile_status tile_scope_enter_device(tile_driver *driver, int device, const char *who,
                                    tile_scope *out);
tile_status tile_scope_leave(const tile_scope *scope, const char *who, tile_status status);

/* ---- images (module.c) ----------------------------------------------------------------------- */

typedef struct tile_loaded_kernel {
    CUkernel kernel;
    uint32_t at_a_time;  /* blocks that the device runs, of one that needs to know */
    uint32_t processors; /* on so many */
} tile_loaded_kernel;

/* An image that the driver holds. Its kernels belong to no context. */
typedef struct tile_loaded {
    struct tile_loaded *next;
    const tile_image *image;
    CUlibrary library;
    tile_loaded_kernel kernels[]; /* one a launch */
} tile_loaded;

/* The blocks to launch for a grid whose blocks take turns, `at_a_time` of them: as few as do it in
 * as many turns. */
tile_grid tile_persistent_grid(const tile_entry *entry, const tile_grid *grid, uint32_t at_a_time);

/* The image of `variant` for a GPU; NULL if there is none. */
const tile_image *tile_pick_image(const tile_variant *variant, uint32_t compute);
/* The image for the emulator; NULL if there is none. */
const tile_image *tile_pick_emulated(const tile_variant *variant);
/* Both with the whole story where there is none. */
tile_status tile_need_image(const tile_kernel *kernel, const tile_variant *variant,
                            const tile_gpu *gpu, const tile_image **out);
tile_status tile_need_emulated(const tile_kernel *kernel, const tile_variant *variant,
                               const tile_image **out);

/* What a variant became on a GPU: after the first call two loads, no lock. */
tile_status tile_load(const tile_driver *driver, const tile_kernel *kernel, uint32_t specialisation,
                      uint32_t variant, int device, const tile_loaded **out);

/* ---- workspaces (workspace.c) ---------------------------------------------------------------- */

/* What one call needs. */
typedef struct tile_workspaces {
    const tile_kernel *kernel;
    const uint64_t *bytes;
    uint32_t count;
    uint32_t zeroed;
    uint32_t kept; /* of those */
    int is_given;  /* tile_set_workspace's */
} tile_workspaces;

/* With each one's place; what tile_plan says. */
uint64_t tile_workspace_bytes(uint32_t count, const uint64_t *bytes);
/* Where each is, those that are to be zero cleared in stream order; in a scope of the stream. */
tile_status tile_workspaces_on_gpu(const tile_scope *scope, const tile_workspaces *call,
                                   tile_stream stream, void **places);
/* After a call of which a launch was refused: what the launches before it have left, of what the
 * kernel is to leave zero, is cleared. Tells no error: the launch's is what counts. */
void tile_workspaces_reset(const tile_scope *scope, const tile_workspaces *call, tile_stream stream,
                           void *const *places);
tile_status tile_workspaces_emulated(tile_workspaces *call, tile_stream stream, void **places);
/* Whether the emulator's are zero again that the kernel leaves so. */
tile_status tile_workspaces_check(const tile_workspaces *call, void *const *places);
void tile_workspaces_return(const tile_workspaces *call, void *const *places); /* the emulator's */
/* Zeroes memory and notes that it was written (memory.c). */
void tile_clear_emulated(void *pointer, size_t bytes);
/* The same on the chosen device, in stream order. */
tile_status tile_clear(const char *who, void *device, size_t bytes, tile_stream stream);

/* ---- tapes (tape.c) -------------------------------------------------------------------------- */

/* A launch that open tapes of the thread are to note. */
typedef struct tile_taped tile_taped;
/* Before it; NULL where no tape is open. */
tile_status tile_tape_take(const tile_kernel *kernel, int own_grid, const void *const *arguments,
                           tile_taped **out);
void tile_tape_settle(tile_taped *taped, int is_launched); /* behind it */

/* ---- tensor maps (tensor_map.c) -------------------------------------------------------------- */

/* Whether what the image's kernels take of these arguments can be described by tensor maps. */
int tile_maps_fit(const tile_image *image, const void *const *arguments);
/* Makes them; an image without any needs no driver. */
tile_status tile_maps_on_gpu(const tile_driver *driver, const tile_kernel *kernel,
                             const tile_image *image, const void *const *arguments,
                             tile_encoded_map *out);
void tile_maps_emulated(const tile_image *image, const void *const *arguments,
                        tile_encoded_map *out);

/* ---- texts (error.c) ------------------------------------------------------------------------- */

/* A message under construction; what does not fit is cut off. */
typedef struct tile_text {
    size_t used;
    char bytes[8192];
} tile_text;

void tile_text_add(tile_text *text, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* ---- files (tune_file.c) --------------------------------------------------------------------- */

/* TILE_CACHE, else tile in XDG_CACHE_HOME or ~/.cache. Whether there is one that is ours. */
int tile_cache_folder(char *path, int make);
enum { TILE_PATH_BYTES = 4096 };

/* ---- calls ----------------------------------------------------------------------------------- */

/* What can be wrong with the descriptor and the arguments whatever the kernel does (resolve.c). */
tile_status tile_check_call(const tile_kernel *kernel, const void *const *arguments);
static inline int tile_is_key(const tile_parameter *parameter)
{
    return parameter->kind >= TILE_PARAMETER_KEY;
}
/* An integer argument or an address, sign extended. A type is "i32", "u8", "f16", ... */
int64_t tile_argument_value(const tile_parameter *parameter, const void *argument);
/* The specialisation for these arguments. */
tile_status tile_select(const tile_kernel *kernel, const void *const *arguments,
                        const tile_specialisation **out);
/* Whether TILE_RECORD names a file, and a line for it that may have been written before (record.c).
 */
int tile_is_recording(void);
void tile_record(const char *text);
/* The line for a call (specialisation.c). */
void tile_record_call(const tile_kernel *kernel, const int64_t *keys, const void *const *arguments);
/* The same as a text that stays whole. */
void tile_add_call(tile_text *text, const tile_kernel *kernel, const int64_t *keys,
                   const void *const *arguments);
/* Whether keys of the kernel are the same (build.c). */
int tile_same_keys(const tile_kernel *kernel, const int64_t *a, const int64_t *b, uint32_t count);
uint64_t tile_hash_keys(const tile_kernel *kernel, const int64_t *keys); /* the same of the same */
/* A kernel with the specialisation that the object lacks: compiled before, or now, or the error
 * that says what is missing; then *out stays as it is (build.c). */
tile_status tile_build_missing(const tile_kernel *kernel, const int64_t *keys, uint32_t key_count,
                               const void *const *arguments, const tile_kernel **out);
/* Reports that there is none, and what else there is to say (specialisation.c). */
tile_status tile_missing_specialisation(const tile_kernel *kernel, const int64_t *keys,
                                        const void *const *arguments, const char *more);
/* That there is a tensor of this rank, with a shape (tensor.c). */
tile_status tile_check_rank(const char *kernel, const char *argument, int32_t ndim,
                            const DLTensor *tensor);
/* A tensor of vectors as one of numbers, whose last dimension they are, in `room`, where so many
 * dimensions are asked for; else the tensor itself (tensor.c). */
enum { TILE_MOST_DIMENSIONS = 16 };
typedef struct tile_numbers {
    DLTensor tensor;
    int64_t shape[TILE_MOST_DIMENSIONS], strides[TILE_MOST_DIMENSIONS];
} tile_numbers;
const DLTensor *tile_as_numbers(const DLTensor *tensor, int32_t ndim, tile_numbers *room);
/* The name of a TILE_DTYPE: "float16", "int8x4" (tensor.c). */
void tile_add_dtype(tile_text *text, uint32_t dtype);

#endif
