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

#if defined(TILE_API) /* a build of libtile says it itself */
#elif defined(__GNUC__)
#define TILE_API __attribute__((visibility("default")))
#else
#define TILE_API
#endif

#define TILE_ABI_VERSION 10u

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
    TILE_PARAMETER_KEY,       /* an int64_t that selects the specialisation */
    TILE_PARAMETER_KEY_FLOAT, /* a double that does, to the last bit */
    TILE_PARAMETER_KEY_TEXT,  /* a const char * that does, by its characters */
    TILE_PARAMETER_KEY_FIXED  /* the compiler's alone: an argument is not looked at */
} tile_parameter_kind;

typedef struct tile_parameter {
    const char *name;
    const char *type; /* "i32", "f16", ...: for a pointer what it points to; "str", "dtype" */
    uint32_t kind;    /* tile_parameter_kind */
    uint32_t bytes;   /* of the argument itself */
    uint32_t access;  /* of a pointer: TILE_READ and TILE_WRITTEN, what kernels do to its memory */
} tile_parameter;

enum { TILE_READ = 1, TILE_WRITTEN = 2 };

/* DLPack's type code, bits and lanes as one number. */
#define TILE_DTYPE(code, bits, lanes)                                                              \
    ((uint32_t)(code) << 24 | (uint32_t)(bits) << 16 | (uint32_t)(lanes))

/* An extent or a stride that is no number: the k-th unknown of the call, which takes the first
 * value that it meets and must be the same wherever it stands; or anything. */
#define TILE_SYMBOL(k) (INT64_MIN + 1 + (int64_t)(k))
#define TILE_ANY       INT64_MIN

/* A tensor among the arguments (tile/dlpack.h): parameters that the caller does not pass by
 * themselves. TILE_SYMBOL(k) stands for the value of parameter k. */
typedef struct tile_tensor {
    const char *name;
    const int64_t *shape;   /* of a result NULL: it follows from the arguments */
    const int64_t *strides; /* in elements; NULL: packed, the last dimension fastest */
    uint32_t dtype;         /* TILE_DTYPE that the specialisation takes */
    uint32_t ndim;
    uint32_t pointer;   /* index of the parameter that is its address */
    uint32_t dtype_key; /* of the key that is its type; UINT32_MAX: there is none */
    uint32_t is_result; /* returned: these come behind the others */
    uint32_t is_written;
} tile_tensor;

/* Memory that TMA copies boxes of, dimensions from the innermost. */
typedef struct tile_tensor_map {
    const void *pointer;
    int64_t extents[5];
    int64_t strides[5]; /* in bytes */
    uint32_t box[5];    /* extents */
    uint32_t rank;
    uint32_t dtype;   /* TILE_DTYPE of an element: of what is only copied an unsigned integer */
    uint32_t swizzle; /* bytes of a row in shared memory: 32, 64, 128; 16: rows are not swizzled */
} tile_tensor_map;

/* Fills in what an image's kernels take behind all other parameters. */
typedef void tile_map_function(const void *const *arguments, tile_tensor_map *out);

/* One kernel launch of one image. */
typedef struct tile_entry {
    const char *name; /* symbol in the image */
    void *emulated;   /* the emulator's ramp function, else NULL */
    uint32_t warps;
    uint32_t shared_bytes; /* dynamic shared memory */
    uint32_t registers;    /* a thread; 0 if unknown */
    uint32_t spill_bytes;  /* a thread */
    uint8_t persistent;  /* blocks take turns: as many are launched as the device runs at a time */
    uint8_t early;       /* blocks may begin before the launch before has ended: they wait for it */
    uint8_t merged[2];   /* of the grid's blocks along x and along y 2 to the power of this are one */
    uint8_t cluster[3];  /* extents of a cluster in blocks; 0: 1 */
    uint8_t cooperative; /* blocks wait for each other: all have to run at a time */
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
    const void *emulator;      /* the emulator's tile_emulator of its images, else NULL */
    uint64_t size;
    uint32_t kind;    /* tile_image_kind */
    uint32_t compute; /* 90 for sm_90a */
    uint32_t suffix;  /* 'a' or 0 */
    uint32_t site_count;
    tile_map_function *maps; /* NULL if there are none */
    uint64_t map_count;
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

/* Fills one grid for each launch, the extents of results one after the other, and one size in bytes
 * for each workspace, from the arguments; 0, or TILE_ERROR_ARGUMENT: `complaint` then says why,
 * unless a grid is negative or too large. `extents` may be NULL, and `spans`: one number a
 * parameter, raised to the bytes that the kernel uses from a pointer on; TILE_UNKNOWN_SPAN: nobody
 * knows. */
typedef int32_t tile_host_function(const void *const *arguments, tile_grid *grids, int64_t *extents,
                                   uint64_t *workspaces, const char **complaint, uint64_t *spans);
#define TILE_UNKNOWN_SPAN UINT64_MAX

typedef struct tile_specialisation {
    const int64_t *keys; /* one for each key parameter, in order: a number, the bits of a double,
                            the address of a text, a TILE_DTYPE */
    tile_host_function *host;
    const tile_variant *variants;
    uint32_t variant_count;
    uint32_t launch_count;
    uint32_t workspace_count;   /* pointers that the device takes behind the call's arguments */
    uint32_t zeroed_workspaces; /* bit i: workspace i is zero when the first launch begins */
    const tile_tensor *tensors; /* the kernel's, with the numbers and the types of this one */
    /* Of one of several for the same keys, in a row, which tuning chooses from: "block_m=64"; else
     * NULL. */
    const char *configuration;
    uint64_t code;                /* a hash of the images */
    uint32_t configuration_count; /* of the first of them: how many; else 0 */
    uint32_t
        lacks; /* TILE_LACKS_: what a line of its file could not say; the kernel's first tells */
    uint32_t kept_workspaces; /* bit i: a zeroed one that the last launch leaves zero */
} tile_specialisation;

#define TILE_LACKS_NAME     1u /* the kernel's name is none of a kernel in its file */
#define TILE_LACKS_LANGUAGE 2u /* T, by which tensors are described, is no name there */

/* A choice that the object was built with. */
typedef struct tile_choice {
    const char *device;     /* its name; NULL: any */
    const int64_t *classes; /* tile_size_class of each integer argument, in order; keys are none */
    uint32_t class_count;
    uint32_t specialisation; /* the first of the row */
    uint32_t configuration;  /* the chosen one's place in it */
    uint32_t reserved;
} tile_choice;

/* What a kernel was compiled from, for libtilec to compile it for other keys: the options as words,
 * the texts of the program's files, the main one first. */
typedef struct tile_file {
    const char *path;
    const char *text;
    uint64_t bytes;
} tile_file;
typedef struct tile_source {
    const char *const *words;
    const tile_file *files;
    uint64_t word_count;
    uint64_t file_count;
} tile_source;

/* What the compiler knows of a kernel; `state` and `later` are libtile's. */
typedef struct tile_kernel {
    const char *name;
    const tile_parameter *parameters;
    const tile_specialisation *specialisations;
    void **state; /* what is loaded; NULL before the first call */
    uint32_t abi_version;
    uint32_t parameter_count;
    uint32_t specialisation_count;
    uint32_t tensor_count;
    const tile_tensor *tensors; /* arguments in order, then results; those of a specialisation */
    const tile_choice *choices;
    uint64_t choice_count;
    const char *plain_name;             /* without tilec's --prefix */
    const tile_source *source;          /* NULL: it was not put into the object */
    void **later;                       /* what was compiled for it since; with `source` */
    const struct tile_kernel *gradient; /* that of this kernel, which tilec --grad makes; or NULL */
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

/* Launches a kernel with `arguments[i]` pointing to the value of parameter i (a key as its
 * kind says).
 * `grid` NULL and `warps` 0 take the kernel's own; another `warps` is TILE_ERROR_ARGUMENT. */
TILE_API tile_status tile_launch(const tile_kernel *kernel, tile_stream stream,
                                 const tile_grid *grid, uint32_t warps,
                                 const void *const *arguments);
TILE_API tile_status tile_plan_launch(const tile_kernel *kernel, const void *const *arguments,
                                      tile_plan *out);
/* Loads all of the kernel's code for a device, before graph capture say. */
TILE_API tile_status tile_prepare(const tile_kernel *kernel, int device);

/* Memory that kernels launched on `stream` use for their workspaces, `bytes` long and aligned to
 * 256, instead of what libtile allocates and keeps for each kernel and stream; a call that needs
 * more is refused (tile_plan.workspace_bytes). It is the caller's, and must outlive those launches.
 * NULL: libtile's again. */
TILE_API tile_status tile_set_workspace(tile_stream stream, void *pointer, size_t bytes);

/* How a kernel that was built in several configurations chooses one when it is called: */
typedef enum tile_tuning {
    /* what the object was built with, else what is kept of an earlier run, else it measures them on
     * the call's own arguments, and keeps the fastest */
    TILE_TUNE_ON,
    TILE_TUNE_FILE,   /* the same, but never measures: the first configuration */
    TILE_TUNE_OFF,    /* what the object was built with, else the first configuration */
    TILE_TUNE_FIRST,  /* the first configuration */
    TILE_TUNE_DEFAULT /* as TILE_TUNE says: on (default), file, off, first */
} tile_tuning;
TILE_API tile_status tile_set_tuning(tile_tuning mode); /* of the process */

/* Hears what the library has to say beside errors: one line, without an end of line. NULL: nobody
 * does. It is called by the thread whose call it is about, in the middle of it: it must launch
 * nothing. */
typedef void tile_log_function(const char *text, void *context);
TILE_API tile_status tile_set_log(tile_log_function *function, void *context);

/* The library that compiles what a call asks for and an object lacks, if the object holds its
 * source (tilec --with-source): a path, "off", or NULL: TILE_COMPILER, else libtilec.so.0 where it
 * is installed. The text is the caller's, and stays. */
TILE_API tile_status tile_set_compiler(const char *library);

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
