/* tile.h: the runtime of compiled tile kernels.
 *
 * Needs libc alone. The CUDA driver is opened when the first call needs it, so a program starts
 * where there is none and gets TILE_ERROR_NO_DRIVER from the call. Every function may be called
 * from any thread; none prints, exits or changes the caller's context. */
#ifndef TILE_TILE_H
#define TILE_TILE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif

#define TILE_ABI_VERSION 1u

/* 0 is success, negative numbers are ours, positive ones are the driver's CUresult. */
typedef int32_t tile_status;
enum {
    TILE_OK = 0,
    TILE_ERROR_NO_DRIVER = -1,         /* no CUDA driver on this machine */
    TILE_ERROR_NO_IMAGE = -2,          /* nothing in the object runs on this device */
    TILE_ERROR_NO_SPECIALISATION = -3, /* the keys of this call were not compiled */
    TILE_ERROR_ARGUMENT = -4,          /* an argument is wrong: tile_last_error() names it */
    TILE_ERROR_ABI = -5,               /* the object was made for another libtile */
    TILE_ERROR_NO_EMULATOR =
        -6, /* the emulator was asked for and the object holds no image for it */
    TILE_ERROR_MEMORY = -7,
    TILE_ERROR_FAULT = -8, /* the emulator found a fault: race, bounds, unwritten memory, ... */
    TILE_ERROR_DEVICE = -9 /* TILE_DEVICE or tile_set_device names no such device */
};

typedef void *tile_stream; /* a CUstream or cudaStream_t; NULL is the default stream */

typedef enum tile_parameter_kind {
    TILE_PARAMETER_SCALAR,
    TILE_PARAMETER_POINTER,
    TILE_PARAMETER_KEY /* an int64_t that selects the specialisation */
} tile_parameter_kind;

typedef struct tile_parameter {
    const char *name;
    const char *type; /* "i32", "f16", ...: for a pointer what it points to */
    uint32_t kind;    /* tile_parameter_kind */
    uint32_t bytes;   /* of the argument itself */
} tile_parameter;

/* One kernel launch of one image. */
typedef struct tile_entry {
    const char *name; /* symbol in the image */
    void *emulated;   /* the emulator's ramp function, else NULL */
    uint32_t warps;
    uint32_t shared_bytes; /* dynamic shared memory */
    uint32_t registers;    /* a thread; 0 if unknown */
    uint32_t spill_bytes;  /* a thread */
} tile_entry;

typedef enum tile_image_kind {
    TILE_IMAGE_CUBIN,
    TILE_IMAGE_PTX,
    TILE_IMAGE_EMULATOR
} tile_image_kind;

typedef struct tile_image {
    const char *target;        /* "sm_90a" */
    const void *bytes;         /* cubin or PTX text; NULL for the emulator */
    const tile_entry *entries; /* one for each launch of the specialisation */
    const void *sites;         /* the emulator's source places, else NULL */
    void *run;                 /* tile_emulator_run of an emulator image, else NULL */
    uint64_t size;
    uint32_t kind;    /* tile_image_kind */
    uint32_t compute; /* 90 for sm_90a */
    uint32_t suffix;  /* 'a' or 0 */
    uint32_t site_count;
} tile_image;

/* An image set with its assumptions: every argument must be a multiple of its entry in `multiples`
 * (pointers: the address; integers: the value; 0 and 1: anything). Tried in order; the last one
 * asks for no more than pointers that are aligned to their elements. */
typedef struct tile_variant {
    const uint32_t *multiples; /* one a parameter, or NULL */
    const tile_image *images;
    uint64_t image_count;
} tile_variant;

typedef struct tile_grid {
    uint32_t x, y, z;
} tile_grid;

typedef struct tile_specialisation {
    const int64_t *keys; /* one for each key parameter, in order */
    /* Fills one grid for each launch from the arguments; 0, or TILE_ERROR_ARGUMENT where a grid is
     * negative or too large. */
    int32_t (*host)(const void *const *arguments, tile_grid *grids);
    const tile_variant *variants;
    uint32_t variant_count;
    uint32_t launch_count;
} tile_specialisation;

/* What the compiler knows of a kernel; `state` is libtile's. */
typedef struct tile_kernel {
    const char *name;
    const tile_parameter *parameters;
    const tile_specialisation *specialisations;
    void **state; /* what is loaded; NULL before the first call */
    uint32_t abi_version;
    uint32_t parameter_count;
    uint32_t specialisation_count;
    uint32_t unused;
} tile_kernel;

/* What a call would do. */
typedef struct tile_plan {
    const char *target;
    tile_grid grid; /* of the first launch */
    tile_grid cluster;
    uint32_t warps;
    uint32_t shared_bytes;
    uint32_t registers;
    uint32_t spill_bytes;
    uint32_t specialisation;
    uint32_t variant;
    uint32_t launches;
    uint64_t workspace_bytes;
} tile_plan;

/* Launches a kernel with `arguments[i]` pointing to the value of parameter i (keys: int64_t).
 * `grid` NULL and `warps` 0 take the kernel's own; another `warps` is TILE_ERROR_ARGUMENT. */
TILE_API tile_status tile_launch(const tile_kernel *kernel, tile_stream stream,
                                 const tile_grid *grid, uint32_t warps,
                                 const void *const *arguments);
TILE_API tile_status tile_plan_launch(const tile_kernel *kernel, const void *const *arguments,
                                      tile_plan *out);
/* Loads all of the kernel's code for a device, before graph capture say. */
TILE_API tile_status tile_prepare(const tile_kernel *kernel, int device);

TILE_API const char *tile_status_name(tile_status status);
/* The whole story of this thread's last failure; "" if there was none. */
TILE_API const char *tile_last_error(void);

/* "cuda", "cuda:1" or "emulator", for this process; NULL takes TILE_DEVICE from the environment,
 * else "cuda". */
TILE_API tile_status tile_set_device(const char *device);
TILE_API int tile_device_count(void);         /* GPUs that the driver shows; 0 without a driver */
TILE_API int tile_device_compute(int device); /* 90 for capability 9.0; 0 if there is no such GPU */

/* Memory of the chosen device, and copies in stream order. On the emulator plain host memory, whose
 * bounds and first writes are watched. */
TILE_API tile_status tile_alloc(void **out, size_t bytes);
TILE_API tile_status tile_free(void *pointer);
TILE_API tile_status tile_copy_in(void *device, const void *host, size_t bytes, tile_stream stream);
TILE_API tile_status tile_copy_out(void *host, const void *device, size_t bytes,
                                   tile_stream stream);
TILE_API tile_status tile_synchronize(tile_stream stream);

#ifdef __cplusplus
}
#endif

#endif
