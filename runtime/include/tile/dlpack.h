/* dlpack.h: tensors of other libraries (DLPack) as arguments: checked against what a kernel wants,
 * and taken apart into pointers.
 *
 *     tile_symbol sizes[] = {{.name = "M"}, {.name = "K"}};
 *     const int64_t shape[] = {TILE_SYMBOL(0), TILE_SYMBOL(1)};
 *     const tile_tensor_spec a = {
 *         .name = "a", .dtype = {kDLFloat, 16, 1}, .ndim = 2, .shape = shape, .alignment = 16};
 *     tile_tensors call = {.kernel = "gemm", .symbols = sizes, .symbol_count = 2};
 *     void *a_data;
 *     status = tile_tensors_begin(&call, stream);
 *     if (!status) status = tile_check_tensor(&call, &a, tensor, &a_data); */
#ifndef TILE_DLPACK_H
#define TILE_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#include <tile/tile.h>

/* DLPack's own header where there is one; else its interface, by its name, values and layout. */
#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#ifdef __cplusplus
extern "C" {
#endif

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 1

typedef struct {
    uint32_t major;
    uint32_t minor;
} DLPackVersion;

typedef enum {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,
    kDLOpenCL = 4,
    kDLVulkan = 7,
    kDLMetal = 8,
    kDLVPI = 9,
    kDLROCM = 10,
    kDLROCMHost = 11,
    kDLExtDev = 12,
    kDLCUDAManaged = 13,
    kDLOneAPI = 14,
    kDLWebGPU = 15,
    kDLHexagon = 16,
    kDLMAIA = 17,
    kDLTrn = 18
} DLDeviceType;

typedef struct {
    DLDeviceType device_type;
    int32_t device_id;
} DLDevice;

typedef enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLOpaqueHandle = 3,
    kDLBfloat = 4,
    kDLComplex = 5,
    kDLBool = 6,
    kDLFloat8_e3m4 = 7,
    kDLFloat8_e4m3 = 8,
    kDLFloat8_e4m3b11fnuz = 9,
    kDLFloat8_e4m3fn = 10,
    kDLFloat8_e4m3fnuz = 11,
    kDLFloat8_e5m2 = 12,
    kDLFloat8_e5m2fnuz = 13,
    kDLFloat8_e8m0fnu = 14,
    kDLFloat6_e2m3fn = 15,
    kDLFloat6_e3m2fn = 16,
    kDLFloat4_e2m1fn = 17
} DLDataTypeCode;

typedef struct {
    uint8_t code; /* DLDataTypeCode */
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: packed, the last dimension fastest */
    uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
    DLTensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
} DLManagedTensor;

#define DLPACK_FLAG_BITMASK_READ_ONLY              (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED              (1UL << 1UL)
#define DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED (1UL << 2UL)

typedef struct DLManagedTensorVersioned {
    DLPackVersion version;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    DLTensor dl_tensor;
} DLManagedTensorVersioned;

#ifdef __cplusplus
}
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tile_symbol {
    const char *name;
    const char *argument; /* whose tensor gave the value; NULL: none so far */
    int64_t value;
    int32_t dimension;
} tile_symbol;

/* What a kernel wants of one argument. */
typedef struct tile_tensor_spec {
    const char *name; /* of the argument */
    DLDataType dtype;
    int32_t ndim;
    const int64_t *shape;   /* a number, TILE_SYMBOL(k) or TILE_ANY for each dimension */
    const int64_t *strides; /* the same, in elements; NULL: packed, the last dimension fastest */
    uint32_t alignment;     /* of the first element, in bytes; 0: that of one element */
} tile_tensor_spec;

/* The tensors of one call. */
typedef struct tile_tensors {
    const char *kernel; /* for messages */
    tile_symbol *symbols;
    uint32_t symbol_count;
    DLDevice device; /* where they must be: kDLCPU stands for the emulator */
} tile_tensors;

/* Sets `device` to that of the stream, or to the chosen one. */
TILE_API tile_status tile_tensors_begin(tile_tensors *call, tile_stream stream);
/* Checks one tensor; *data is the address of its first element. TILE_ERROR_ARGUMENT: the text
 * names kernel, argument, what was expected and what came. */
TILE_API tile_status tile_check_tensor(tile_tensors *call, const tile_tensor_spec *spec,
                                       const DLTensor *tensor, void **data);

/* ---- calls of kernels that take tensors: what the generated entries do ----
 *
 * `tensors`: the arguments in order, then the results. `others[i]` points to the value of the i-th
 * of the parameters that come with no tensor (keys: int64_t). All is checked: see tile_last_error.
 */

/* Launches. A result is a tensor of the shape that follows from the arguments, packed; or one whose
 * data is NULL, whose memory the allocator gives and whose other fields are filled in. */
TILE_API tile_status tile_launch_tensors(const tile_kernel *kernel, tile_stream stream,
                                         DLTensor *const *tensors, const void *const *others);
/* What the call would do. Results may be NULL. */
TILE_API tile_status tile_plan_tensors(const tile_kernel *kernel, DLTensor *const *tensors,
                                       const void *const *others, tile_plan *out);
/* Fills in the results but for their data: `shape` points to room for their extents. */
TILE_API tile_status tile_shape_tensors(const tile_kernel *kernel, DLTensor *const *tensors,
                                        const void *const *others);
/* Of the elements of a packed tensor. */
TILE_API uint64_t tile_tensor_bytes(const DLTensor *tensor);

/* Gives results their memory: sets `data` of a tensor whose other fields are filled in. The memory
 * is the caller's, also where the launch fails afterwards. */
typedef struct tile_allocator {
    void *context;
    tile_status (*allocate)(void *context, tile_stream stream, DLTensor *tensor, uint64_t bytes);
} tile_allocator;
/* For this process, until it is set anew; NULL: none, results come with memory. */
TILE_API void tile_set_allocator(const tile_allocator *allocator);

#ifdef __cplusplus
}
#endif

#endif
