/* abi.h: what libtile, libtile_emulator and the code generator agree on beside tile.h. */
#ifndef TILE_ABI_H
#define TILE_ABI_H

#include "tile/tile.h"

/* Sets this thread's error text and returns `status`. */
TILE_API tile_status tile_error(tile_status status, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* The extents of a kernel's results, one after the other, from the arguments that tile_launch
 * takes.
 */
TILE_API tile_status tile_result_extents(const tile_kernel *kernel, const void *const *arguments,
                                         int64_t *out);

/* The class of sizes that an integer argument belongs to: calls of one class share what tuning
 * chose. Two for each power of two: 4097 to 6144 are 6144. */
TILE_API int64_t tile_size_class(int64_t value);

/* Why a line of TILE_RECORD could not be written, the first time; NULL: all could. */
TILE_API const char *tile_record_fault(void);

/* What tuning found, for someone who collects it. */
typedef struct tile_measured {
    double nanoseconds; /* of one call; negative: it did not run to its end, or was hopeless */
} tile_measured;
typedef struct tile_tuned {
    const tile_kernel *kernel;
    const char *device;            /* its name */
    const int64_t *classes;        /* of the integer arguments in order */
    const tile_measured *measured; /* one a configuration */
    uint32_t class_count;
    uint32_t specialisation; /* the first of the row */
    uint32_t configuration;  /* the fastest */
    uint32_t compute;
    int driver; /* 12080 for 12.8 */
} tile_tuned;
typedef void tile_tuned_function(const tile_tuned *tuned, void *context);
TILE_API void tile_set_tuned(tile_tuned_function *function, void *context);

/* A tensor map as kernels take it: of the driver's making (CUtensorMap), or, for the emulator, a
 * tile_tensor_map. */
typedef struct tile_encoded_map {
    _Alignas(64) uint8_t bytes[128];
} tile_encoded_map;

/* The emulator, found through tile_image.emulator so that libtile itself does not need it. `run`
 * runs one launch to its end; `parameters` are the device's: those of the call without the keys.
 * `symbols` is what emulated code refers to. */
typedef tile_status tile_emulator_run_function(const tile_image *image, const tile_entry *entry,
                                               const tile_grid *grid,
                                               const void *const *parameters);
TILE_API tile_emulator_run_function tile_emulator_run;
typedef struct tile_emulator_symbol {
    const char *name;
    void (*address)(void);
} tile_emulator_symbol;
typedef struct tile_emulator {
    tile_emulator_run_function *run;
    const tile_emulator_symbol *symbols;
    uint64_t symbol_count;
} tile_emulator;
TILE_API extern const tile_emulator tile_the_emulator;

/* ---- libtilec -------------------------------------------------------------------------------- */

/* A specialisation that a call asks for. */
typedef struct tile_build_request {
    uint32_t abi_version;
    uint32_t compute_count;
    const uint32_t *computes; /* of the GPUs to compile for; none: for the emulator */
    const tile_emulator *emulator;
    const char *emulated; /* the architecture that the emulator is */
    const tile_source *source;
    const char *wanted; /* "mm = mm.compile(n_size=4096)" */
    const char *cache;  /* a folder for results; NULL: none is kept */
} tile_build_request;
/* A kernel with that specialisation alone, for as long as the process lives; or why there is none,
 * of at most `bytes` bytes, the compiler's messages included. Any number of threads may call. */
typedef tile_status tile_build_function(const tile_build_request *request, const tile_kernel **out,
                                        char *fault, size_t bytes);
TILE_API tile_build_function tilec_build;

/* Allocations of tile_alloc on the emulator, for its checks: libtile keeps the list. */
typedef struct tile_allocation {
    uint8_t *base;
    size_t bytes;
    uint8_t *written; /* one bit a byte: set once something wrote it, all of it */
    uint8_t *parts;   /* a byte each: which of its bits were written; NULL: no byte in parts */
} tile_allocation;
/* The allocation that holds `address`, or NULL. Valid until it is freed. */
TILE_API const tile_allocation *tile_find_allocation(const void *address);
/* What all of them hold, and which of their bytes were written: equal where that is. */
TILE_API uint64_t tile_digest_allocations(void);

#endif
