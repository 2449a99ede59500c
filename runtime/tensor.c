/* tensor.c: checks DLPack tensors against what a kernel wants of its arguments. */
#include "runtime.h"

#include "tile/dlpack.h"

#include <inttypes.h>

/* ---- texts ----------------------------------------------------------------------------------- */

typedef struct type_name {
    const char *text;
    uint8_t bits; /* that the name says already; 0: they follow it */
} type_name;

static type_name name_of_type(uint8_t code)
{
    static const type_name names[] = {
        [kDLInt] = {"int", 0},
        [kDLUInt] = {"uint", 0},
        [kDLFloat] = {"float", 0},
        [kDLOpaqueHandle] = {"handle", 0},
        [kDLBfloat] = {"bfloat", 0},
        [kDLComplex] = {"complex", 0},
        [kDLBool] = {"bool", 8},
        [kDLFloat8_e3m4] = {"float8_e3m4", 8},
        [kDLFloat8_e4m3] = {"float8_e4m3", 8},
        [kDLFloat8_e4m3b11fnuz] = {"float8_e4m3b11fnuz", 8},
        [kDLFloat8_e4m3fn] = {"float8_e4m3fn", 8},
        [kDLFloat8_e4m3fnuz] = {"float8_e4m3fnuz", 8},
        [kDLFloat8_e5m2] = {"float8_e5m2", 8},
        [kDLFloat8_e5m2fnuz] = {"float8_e5m2fnuz", 8},
        [kDLFloat8_e8m0fnu] = {"float8_e8m0fnu", 8},
        [kDLFloat6_e2m3fn] = {"float6_e2m3fn", 6},
        [kDLFloat6_e3m2fn] = {"float6_e3m2fn", 6},
        [kDLFloat4_e2m1fn] = {"float4_e2m1fn", 4},
    };
    static const type_name unknown = {"an unknown type", 255};
    return code < sizeof names / sizeof names[0] ? names[code] : unknown;
}

/* "float16", "int8x4", "bool", "float8_e4m3fn". */
static void add_type(tile_text *text, DLDataType type)
{
    const type_name name = name_of_type(type.code);
    tile_text_add(text, "%s", name.text);
    if (name.bits == 0)
        tile_text_add(text, "%u", type.bits);
    else if (name.bits != type.bits)
        tile_text_add(text, " of %u bits", type.bits);
    if (type.lanes != 1) tile_text_add(text, "x%u", type.lanes);
}

void tile_add_dtype(tile_text *text, uint32_t dtype)
{
    add_type(text, (DLDataType){(uint8_t)(dtype >> 24), (uint8_t)(dtype >> 16), (uint16_t)dtype});
}

static const char *device_name(int32_t type)
{
    switch (type) {
    case kDLCPU: return "cpu";
    case kDLCUDA: return "cuda";
    case kDLCUDAHost: return "cuda_host";
    case kDLCUDAManaged: return "cuda_managed";
    case kDLROCM: return "rocm";
    default: return "device type ";
    }
}

static void add_device(tile_text *text, DLDevice device)
{
    const char *name = device_name((int32_t)device.device_type);
    tile_text_add(text, "%s", name);
    if (name[0] == 'd') tile_text_add(text, "%d", (int)device.device_type);
    tile_text_add(text, ":%d", (int)device.device_id);
}

static tile_status refuse(const tile_text *text)
{
    return tile_error(TILE_ERROR_ARGUMENT, "%s", text->bytes);
}

/* The head of a message: "gemm: argument 'a': ". */
static tile_text about(const tile_tensors *call, const tile_tensor_spec *spec)
{
    tile_text text = {0};
    tile_text_add(&text, "%s: argument '%s': ", call->kernel, spec->name);
    return text;
}

/* ---- type and rank --------------------------------------------------------------------------- */

static tile_status check_type(const tile_tensors *call, const tile_tensor_spec *spec,
                              const DLTensor *tensor)
{
    const DLDataType want = spec->dtype, got = tensor->dtype;
    if (want.code == got.code && want.bits == got.bits && want.lanes == got.lanes) return TILE_OK;
    tile_text text = about(call, spec);
    tile_text_add(&text, "expected elements of ");
    add_type(&text, want);
    tile_text_add(&text, ", got ");
    add_type(&text, got);
    return refuse(&text);
}

tile_status tile_check_rank(const char *kernel, const char *argument, int32_t ndim,
                            const DLTensor *tensor)
{
    const char *many = ndim == 1 ? "" : "s";
    if (!tensor)
        return tile_error(TILE_ERROR_ARGUMENT, "%s: argument '%s': expected a tensor, got NULL",
                          kernel, argument);
    if (tensor->ndim != ndim)
        return tile_error(TILE_ERROR_ARGUMENT, "%s: argument '%s': expected %d dimension%s, got %d",
                          kernel, argument, (int)ndim, many, (int)tensor->ndim);
    if (ndim > 0 && !tensor->shape)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: argument '%s': its shape is NULL, expected %d extent%s", kernel,
                          argument, (int)ndim, many);
    return TILE_OK;
}

const DLTensor *tile_as_numbers(const DLTensor *tensor, int32_t ndim, tile_numbers *room)
{
    if (!tensor || tensor->dtype.lanes <= 1 || tensor->ndim + 1 != ndim || !tensor->shape ||
        ndim > TILE_MOST_DIMENSIONS)
        return tensor;
    const int64_t lanes = tensor->dtype.lanes;
    room->tensor = *tensor;
    room->tensor.ndim = ndim;
    room->tensor.dtype.lanes = 1;
    room->tensor.shape = room->shape;
    room->tensor.strides = tensor->strides ? room->strides : NULL;
    room->shape[ndim - 1] = lanes;
    room->strides[ndim - 1] = 1;
    for (int32_t i = 0; i < ndim - 1; i++) {
        room->shape[i] = tensor->shape[i];
        if (tensor->strides && __builtin_mul_overflow(tensor->strides[i], lanes, &room->strides[i]))
            room->strides[i] = INT64_MAX;
    }
    return &room->tensor;
}

/* ---- extents and strides --------------------------------------------------------------------- */

/* The unknown that a number of a specification stands for, or NULL. */
static tile_symbol *symbol_of(const tile_tensors *call, int64_t want)
{
    const uint64_t index = (uint64_t)want - (uint64_t)TILE_SYMBOL(0);
    return index < call->symbol_count ? &call->symbols[index] : NULL;
}

static tile_status wrong_number(const tile_tensors *call, const tile_tensor_spec *spec,
                                const char *what, int32_t dimension, int64_t want, int64_t got)
{
    const tile_symbol *symbol = symbol_of(call, want);
    tile_text text = about(call, spec);
    tile_text_add(&text, "expected %s ", what);
    if (symbol)
        tile_text_add(&text, "%s = %" PRId64 ", as in dimension %d of '%s',", symbol->name,
                      symbol->value, (int)symbol->dimension, symbol->argument);
    else
        tile_text_add(&text, "%" PRId64, want);
    tile_text_add(&text, " in dimension %d, got %" PRId64, (int)dimension, got);
    return refuse(&text);
}

/* One number of the tensor against one of the specification; `what` is "extent" or "stride". */
static tile_status check_number(tile_tensors *call, const tile_tensor_spec *spec, const char *what,
                                int32_t dimension, int64_t want, int64_t got)
{
    if (want == TILE_ANY || want == got) return TILE_OK;
    tile_symbol *symbol = symbol_of(call, want);
    if (symbol && !symbol->argument) {
        symbol->argument = spec->name;
        symbol->value = got;
        symbol->dimension = dimension;
    }
    return symbol && symbol->value == got ? TILE_OK
                                          : wrong_number(call, spec, what, dimension, want, got);
}

static tile_status check_shape(tile_tensors *call, const tile_tensor_spec *spec,
                               const DLTensor *tensor, int *is_empty)
{
    *is_empty = 0;
    for (int32_t i = 0; i < spec->ndim; i++) {
        const int64_t got = tensor->shape[i];
        if (got < 0) {
            tile_text text = about(call, spec);
            tile_text_add(&text, "the extent of dimension %d is negative: %" PRId64, (int)i, got);
            return refuse(&text);
        }
        const tile_status status = check_number(call, spec, "extent", i, spec->shape[i], got);
        if (status) return status;
        *is_empty |= got == 0;
    }
    return TILE_OK;
}

/* Of an extent of 1 the stride is never used, and libraries fill in what they like. */
static tile_status check_strides(tile_tensors *call, const tile_tensor_spec *spec,
                                 const DLTensor *tensor)
{
    int64_t packed = 1;
    for (int32_t i = spec->ndim - 1; i >= 0; i--) {
        const int64_t got = tensor->strides ? tensor->strides[i] : packed;
        const int64_t want = spec->strides ? spec->strides[i] : packed;
        if (tensor->shape[i] != 1) {
            const tile_status status = check_number(call, spec, "stride", i, want, got);
            if (status) return status;
        }
        if (__builtin_mul_overflow(packed, tensor->shape[i], &packed)) {
            tile_text text = about(call, spec);
            tile_text_add(&text, "it has more elements than 64 bits can count");
            return refuse(&text);
        }
    }
    return TILE_OK;
}

/* ---- place ----------------------------------------------------------------------------------- */

/* Memory that the host has pinned or that moves by itself is reached from every GPU. */
static int is_reachable(DLDevice from, DLDevice memory)
{
    if (memory.device_type == kDLCUDAHost || memory.device_type == kDLCUDAManaged) return 1;
    if (memory.device_type != from.device_type) return 0;
    return from.device_type == kDLCPU || memory.device_id == from.device_id;
}

static uint32_t element_alignment(const tile_tensor_spec *spec)
{
    const uint32_t bytes = ((uint32_t)spec->dtype.bits * spec->dtype.lanes + 7) / 8;
    return spec->alignment ? spec->alignment : bytes & (0u - bytes);
}

static tile_status check_place(const tile_tensors *call, const tile_tensor_spec *spec,
                               const DLTensor *tensor, int is_empty, void **data)
{
    const uint64_t address = (uint64_t)(uintptr_t)tensor->data + tensor->byte_offset;
    const uint32_t alignment = element_alignment(spec);
    const int is_aligned = alignment <= 1 || address % alignment == 0;
    *data = (void *)(uintptr_t)address;
    if (is_empty) return TILE_OK; /* nothing is read through it */
    if (tensor->data && is_aligned && is_reachable(call->device, tensor->device)) return TILE_OK;
    tile_text text = about(call, spec);
    if (!tensor->data) {
        tile_text_add(&text, "its data is NULL");
    } else if (is_aligned) {
        tile_text_add(&text, "expected memory of ");
        add_device(&text, call->device);
        tile_text_add(&text, call->device.device_type == kDLCPU ? ", where the emulator runs, got "
                                                                : ", got ");
        add_device(&text, tensor->device);
    } else {
        tile_text_add(&text,
                      "expected an address aligned to %u bytes, got 0x%" PRIx64 " (data 0x%" PRIxPTR
                      ", byte_offset %" PRIu64 ")",
                      alignment, address, (uintptr_t)tensor->data, tensor->byte_offset);
    }
    return refuse(&text);
}

/* ---- the front ------------------------------------------------------------------------------- */

tile_status tile_tensors_begin(tile_tensors *call, tile_stream stream)
{
    int device;
    tile_driver *driver = NULL;
    tile_scope scope;
    tile_status status = tile_chosen_device(&device);
    call->device = (DLDevice){kDLCPU, 0};
    if (status || device == TILE_DEVICE_EMULATOR) return status;
    status = tile_driver_get(&driver);
    if (!status) status = tile_scope_enter(driver, stream, call->kernel, &scope);
    if (status) return status;
    call->device = (DLDevice){kDLCUDA, scope.device};
    return tile_scope_leave(&scope, call->kernel, TILE_OK);
}

tile_status tile_check_tensor(tile_tensors *call, const tile_tensor_spec *spec,
                              const DLTensor *tensor, void **data)
{
    int is_empty = 0;
    tile_numbers room;
    if (spec->dtype.lanes == 1) tensor = tile_as_numbers(tensor, spec->ndim, &room);
    tile_status status = tile_check_rank(call->kernel, spec->name, spec->ndim, tensor);
    if (!status) status = check_type(call, spec, tensor);
    if (!status) status = check_shape(call, spec, tensor, &is_empty);
    if (!status && !is_empty) status = check_strides(call, spec, tensor);
    return status ? status : check_place(call, spec, tensor, is_empty, data);
}
