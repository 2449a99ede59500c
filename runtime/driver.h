/* driver.h: the part of the CUDA Driver API that libtile calls, declared here because no CUDA
 * toolkit is needed to build it, and the table that cuda.c fills from the driver's library.
 *
 * Names, values and layouts are those of the driver's binary interface; a suffix _v2 is part of the
 * symbol. */
#ifndef TILE_DRIVER_H
#define TILE_DRIVER_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUfunc_st *CUfunction;
typedef struct CUevent_st *CUevent;
typedef unsigned long long CUdeviceptr;

enum {
    CUDA_SUCCESS = 0,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
    CU_TENSOR_MAP_DATA_TYPE_UINT8 = 0,
    CU_TENSOR_MAP_DATA_TYPE_UINT16 = 1,
    CU_TENSOR_MAP_DATA_TYPE_UINT32 = 2,
    CU_TENSOR_MAP_DATA_TYPE_UINT64 = 4,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16 = 6,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32 = 7,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 = 9,
    CU_TENSOR_MAP_SWIZZLE_NONE = 0,
    CU_TENSOR_MAP_SWIZZLE_32B = 1,
    CU_TENSOR_MAP_SWIZZLE_64B = 2,
    CU_TENSOR_MAP_SWIZZLE_128B = 3,
    CU_TENSOR_MAP_L2_PROMOTION_128B = 2,
    CU_JIT_ERROR_LOG_BUFFER = 5,
    CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6
};

/* The handles of the legacy and the per-thread default stream: they belong to whatever context is
 * current, as NULL does. */
enum { CU_STREAM_LAST_SPECIAL = 2 };

enum {
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
    CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};

typedef struct CUlaunchAttribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        int cooperative;
        int programmatic;
        struct {
            unsigned int x, y, z;
        } cluster;
    } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;

/* CALL(field, symbol, parameters). cuLibrary* asks for a driver of CUDA 12.0. */
#define TILE_DRIVER_CALLS(CALL)                                                                    \
    CALL(init, cuInit, (unsigned int flags))                                                       \
    CALL(driver_version, cuDriverGetVersion, (int *version))                                       \
    CALL(error_name, cuGetErrorName, (CUresult result, const char **text))                         \
    CALL(error_string, cuGetErrorString, (CUresult result, const char **text))                     \
    CALL(device_count, cuDeviceGetCount, (int *count))                                             \
    CALL(device_get, cuDeviceGet, (CUdevice * device, int ordinal))                                \
    CALL(device_name, cuDeviceGetName, (char *name, int bytes, CUdevice device))                   \
    CALL(device_attribute, cuDeviceGetAttribute, (int *value, int attribute, CUdevice device))     \
    CALL(primary_retain, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))         \
    CALL(context_current, cuCtxGetCurrent, (CUcontext * context))                                  \
    CALL(context_push, cuCtxPushCurrent_v2, (CUcontext context))                                   \
    CALL(context_pop, cuCtxPopCurrent_v2, (CUcontext * context))                                   \
    CALL(context_device, cuCtxGetDevice, (CUdevice * device))                                      \
    CALL(stream_context, cuStreamGetCtx, (CUstream stream, CUcontext * context))                   \
    CALL(stream_synchronize, cuStreamSynchronize, (CUstream stream))                               \
    CALL(stream_id, cuStreamGetId, (CUstream stream, unsigned long long *id))                      \
    CALL(stream_is_capturing, cuStreamIsCapturing, (CUstream stream, int *status))                 \
    CALL(memory_set, cuMemsetD8Async,                                                              \
         (CUdeviceptr device, unsigned char value, size_t bytes, CUstream stream))                 \
    CALL(memory_alloc, cuMemAlloc_v2, (CUdeviceptr * pointer, size_t bytes))                       \
    CALL(memory_free, cuMemFree_v2, (CUdeviceptr pointer))                                         \
    CALL(copy_in, cuMemcpyHtoDAsync_v2,                                                            \
         (CUdeviceptr device, const void *host, size_t bytes, CUstream stream))                    \
    CALL(copy_out, cuMemcpyDtoHAsync_v2,                                                           \
         (void *host, CUdeviceptr device, size_t bytes, CUstream stream))                          \
    CALL(copy_device, cuMemcpyDtoDAsync_v2,                                                        \
         (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                        \
    CALL(event_create, cuEventCreate, (CUevent * event, unsigned int flags))                       \
    CALL(event_destroy, cuEventDestroy_v2, (CUevent event))                                        \
    CALL(event_record, cuEventRecord, (CUevent event, CUstream stream))                            \
    CALL(event_elapsed, cuEventElapsedTime, (float *milliseconds, CUevent start, CUevent end))     \
    CALL(map_encode, cuTensorMapEncodeTiled,                                                       \
         (void *map, int type, unsigned int rank, void *pointer, const uint64_t *extents,          \
          const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,     \
          int swizzle, int promotion, int fill))                                                   \
    CALL(library_load, cuLibraryLoadData,                                                          \
         (CUlibrary * library, const void *code, int *jit_options, void **jit_values,              \
          unsigned int jit_count, int *options, void **values, unsigned int count))                \
    CALL(library_unload, cuLibraryUnload, (CUlibrary library))                                     \
    CALL(library_kernel, cuLibraryGetKernel,                                                       \
         (CUkernel * kernel, CUlibrary library, const char *name))                                 \
    CALL(kernel_attribute, cuKernelSetAttribute,                                                   \
         (int attribute, int value, CUkernel kernel, CUdevice device))                             \
    CALL(blocks_at_a_time, cuOccupancyMaxActiveBlocksPerMultiprocessor,                            \
         (int *blocks, CUfunction function, int threads, size_t shared))                           \
    CALL(kernel_function, cuKernelGetFunction, (CUfunction * function, CUkernel kernel))           \
    CALL(launch, cuLaunchKernelEx,                                                                 \
         (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra))

/* Held while the driver may wait for a GPU. That GPU may wait for another one, as a sum over both
 * does, and who gives that one its work must not be kept waiting: each GPU has its own. */
typedef struct tile_gpu_locks {
    pthread_mutex_t choosing; /* among configurations */
    pthread_mutex_t growing;  /* workspaces */
} tile_gpu_locks;

typedef struct tile_gpu {
    CUdevice device;
    uint32_t compute;  /* 90 for 9.0 */
    CUcontext primary; /* retained by the first call that needs it, atomic */
    tile_gpu_locks *locks;
    char name[64];
} tile_gpu;

/* The open driver: constant once published, but for each GPU's `primary`. */
typedef struct tile_driver {
#define TILE_DRIVER_FIELD(field, symbol, parameters) CUresult(*field) parameters;
    TILE_DRIVER_CALLS(TILE_DRIVER_FIELD)
#undef TILE_DRIVER_FIELD
    void *library;
    int version; /* 12080 for 12.8 */
    int count;
    tile_gpu gpus[];
} tile_driver;

#endif
