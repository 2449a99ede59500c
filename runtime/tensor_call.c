/* tensor_call.c: calls whose arguments are tensors: taken apart into what tile_launch wants, and
 * checked, the results against the shape that the kernel's host part gives.
 *
 * First every parameter gets a value, which tells the specialisation; then each tensor is checked
 * against what that one wants. No lock and no allocation, but for the caller's own of results. */
#include "runtime.h"

#include <inttypes.h>
#include <limits.h>

enum { MAX_EXTENTS = 256 /* of all results of a kernel */ };

typedef struct tensor_call {
    const tile_kernel *kernel;
    const tile_specialisation *specialisation;
    DLTensor *const *tensors;
    tile_stream stream;
    DLDevice device;
    const void *arguments[TILE_MAX_PARAMETERS]; /* NULL: not known yet */
    int64_t values[TILE_MAX_PARAMETERS];        /* of those that come with tensors; hosts put the
                                                   lowest byte first, so an i32 lies in front */
    int64_t extents[MAX_EXTENTS];
    tile_symbol symbols[TILE_MAX_PARAMETERS];
} tensor_call;

/* ---- taking apart ---------------------------------------------------------------------------- */

/* Later places of the same number are checked when its value is settled. */
static void give(tensor_call *call, uint64_t parameter, int64_t value)
{
    if (call->arguments[parameter]) return;
    call->values[parameter] = value;
    call->arguments[parameter] = &call->values[parameter];
}

static tile_status give_number(tensor_call *call, const tile_tensor *spec, const char *what,
                               uint32_t dimension, int64_t want, int64_t got)
{
    const tile_kernel *kernel = call->kernel;
    const uint64_t k = (uint64_t)want - (uint64_t)TILE_SYMBOL(0);
    if (k >= kernel->parameter_count) return TILE_OK;
    give(call, k, got);
    if (kernel->parameters[k].bytes == 8 || (got >= INT32_MIN && got <= INT32_MAX)) return TILE_OK;
    return tile_error(TILE_ERROR_ARGUMENT,
                      "%s: argument '%s': the %s of dimension %u is %" PRId64
                      ", at most %d is possible",
                      kernel->name, spec->name, what, dimension, got, INT32_MAX);
}

static tile_status take_apart(tensor_call *call, const tile_tensor *spec, const DLTensor *given)
{
    tile_numbers room;
    const DLTensor *tensor = tile_as_numbers(given, (int32_t)spec->ndim, &room);
    tile_status status =
        tile_check_rank(call->kernel->name, spec->name, (int32_t)spec->ndim, tensor);
    if (status) return status;
    int64_t packed = 1;
    for (uint32_t i = spec->ndim; !status && i-- > 0;) {
        const int64_t extent = tensor->shape[i],
                      stride = tensor->strides ? tensor->strides[i] : packed;
        status = give_number(call, spec, "extent", i, spec->shape[i], extent);
        if (!status && spec->strides)
            status = give_number(call, spec, "stride", i, spec->strides[i], stride);
        if (__builtin_mul_overflow(packed, extent, &packed)) packed = 0; /* refused later */
    }
    if (spec->dtype_key != UINT32_MAX)
        give(call, spec->dtype_key,
             TILE_DTYPE(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes));
    give(call, spec->pointer, (int64_t)((uintptr_t)tensor->data + tensor->byte_offset));
    return status;
}

/* A result whose type is a key must have it, if nothing else. */
static tile_status promise(tensor_call *call, const tile_tensor *spec, const DLTensor *tensor)
{
    give(call, spec->pointer, 0);
    if (spec->dtype_key == UINT32_MAX) return TILE_OK;
    if (!tensor)
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: argument '%s' is NULL, expected a tensor whose dtype says what is "
                          "returned",
                          call->kernel->name, spec->name);
    give(call, spec->dtype_key,
         TILE_DTYPE(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes));
    return TILE_OK;
}

/* A value for every parameter; those of results are settled when they are checked. */
static tile_status fill_arguments(tensor_call *call, const void *const *others)
{
    const tile_kernel *kernel = call->kernel;
    tile_status status = TILE_OK;
    for (uint32_t i = 0; i < kernel->parameter_count; i++) call->arguments[i] = NULL;
    for (uint32_t i = 0; !status && i < kernel->tensor_count; i++) {
        const tile_tensor *spec = &kernel->tensors[i];
        if (spec->is_result)
            status = promise(call, spec, call->tensors[i]);
        else
            status = take_apart(call, spec, call->tensors[i]);
    }
    for (uint32_t i = 0; !status && i < kernel->parameter_count; i++) {
        const int is_fixed = kernel->parameters[i].kind == TILE_PARAMETER_KEY_FIXED;
        if (!call->arguments[i] && !is_fixed && others) call->arguments[i] = *others++;
    }
    return status;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static DLDataType data_type(uint32_t dtype)
{
    return (DLDataType){(uint8_t)(dtype >> 24), (uint8_t)(dtype >> 16), (uint16_t)dtype};
}

static tile_tensor_spec spec_of(const tile_tensor *tensor, const int64_t *shape)
{
    return (tile_tensor_spec){.name = tensor->name,
                              .dtype = data_type(tensor->dtype),
                              .ndim = (int32_t)tensor->ndim,
                              .shape = shape,
                              .strides = tensor->strides};
}

static tile_tensors checks_of(tensor_call *call)
{
    return (tile_tensors){.kernel = call->kernel->name,
                          .symbols = call->symbols,
                          .symbol_count = call->kernel->parameter_count,
                          .device = call->device};
}

static tile_status check_inputs(tensor_call *call)
{
    const tile_kernel *kernel = call->kernel;
    tile_tensors checks = checks_of(call);
    tile_status status = TILE_OK;
    for (uint32_t i = 0; i < kernel->parameter_count; i++)
        call->symbols[i] = (tile_symbol){.name = kernel->parameters[i].name};
    for (uint32_t i = 0; !status && i < kernel->tensor_count; i++) {
        const tile_tensor *tensor = &call->specialisation->tensors[i];
        const tile_tensor_spec spec = spec_of(tensor, tensor->shape);
        void *data;
        if (!tensor->is_result) status = tile_check_tensor(&checks, &spec, call->tensors[i], &data);
    }
    return status;
}

static tile_status begin(tensor_call *call, const tile_kernel *kernel, tile_stream stream,
                         DLTensor *const *tensors, const void *const *others)
{
    tile_tensors where = {.kernel = kernel ? kernel->name : NULL};
    static const void *const present[1];
    tile_status status = tile_check_call(kernel, present);
    if (status) return status;
    if (!tensors && kernel->tensor_count)
        return tile_error(TILE_ERROR_ARGUMENT, "%s: tensors is NULL, expected %u of them",
                          kernel->name, kernel->tensor_count);
    call->kernel = kernel;
    call->tensors = tensors;
    call->stream = stream;
    status = fill_arguments(call, others);
    if (!status) status = tile_select(kernel, call->arguments, &call->specialisation);
    if (!status) status = tile_tensors_begin(&where, stream);
    call->device = where.device;
    return status ? status : check_inputs(call);
}

/* ---- results --------------------------------------------------------------------------------- */

uint64_t tile_tensor_bytes(const DLTensor *tensor)
{
    uint64_t count = 1;
    for (int32_t i = 0; i < tensor->ndim; i++) count *= (uint64_t)tensor->shape[i];
    return (count * tensor->dtype.bits * tensor->dtype.lanes + 7) / 8;
}

/* What is done with each result. */
typedef tile_status result_function(tensor_call *call, const tile_tensor *spec, DLTensor *tensor,
                                    const int64_t *extents);

static tile_status fill_in(tensor_call *call, const tile_tensor *spec, DLTensor *tensor,
                           const int64_t *extents)
{
    if (!tensor || (spec->ndim > 0 && !tensor->shape))
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: argument '%s': expected a tensor whose shape points to room for %u "
                          "extent%s, got NULL",
                          call->kernel->name, spec->name, spec->ndim, spec->ndim == 1 ? "" : "s");
    tensor->device = call->device;
    tensor->ndim = (int32_t)spec->ndim;
    tensor->dtype = data_type(spec->dtype);
    tensor->strides = NULL;
    tensor->byte_offset = 0;
    for (uint32_t i = 0; i < spec->ndim; i++) tensor->shape[i] = extents[i];
    return TILE_OK;
}

static tile_status allocate(tensor_call *call, const tile_tensor *spec, DLTensor *tensor,
                            const int64_t *extents)
{
    const tile_allocator *allocator =
        atomic_load_explicit(&tile_the_process.allocator, memory_order_acquire);
    if (!allocator) return TILE_OK;
    tile_status status = fill_in(call, spec, tensor, extents);
    const uint64_t bytes = status ? 0 : tile_tensor_bytes(tensor);
    if (!bytes) return status;
    status = allocator->allocate(allocator->context, call->stream, tensor, bytes);
    if (status)
        return tile_error(status, "%s: argument '%s': the allocator gave no %" PRIu64 " bytes: %s",
                          call->kernel->name, spec->name, bytes, tile_status_name(status));
    return TILE_OK;
}

static tile_status settle(tensor_call *call, const tile_tensor *spec, DLTensor *tensor,
                          const int64_t *extents)
{
    tile_tensors checks = checks_of(call);
    const tile_tensor_spec wanted = spec_of(spec, extents);
    void *data = NULL;
    tile_status status = TILE_OK;
    if (tensor && !tensor->data) status = allocate(call, spec, tensor, extents);
    if (!status) status = tile_check_tensor(&checks, &wanted, tensor, &data);
    call->values[spec->pointer] = (int64_t)(uintptr_t)data;
    return status;
}

static tile_status each_result(tensor_call *call, result_function *visit)
{
    const tile_kernel *kernel = call->kernel;
    const tile_tensor *tensors = call->specialisation->tensors;
    uint32_t first = kernel->tensor_count, count = 0;
    for (; first > 0 && tensors[first - 1].is_result; first--) count += tensors[first - 1].ndim;
    if (first == kernel->tensor_count) return TILE_OK;
    if (count > MAX_EXTENTS)
        return tile_error(TILE_ERROR_ABI, "%s: results of %u extents, at most %d are possible",
                          kernel->name, count, MAX_EXTENTS);
    tile_status status = tile_result_extents(kernel, call->arguments, call->extents);
    const int64_t *extents = call->extents;
    for (uint32_t i = first; !status && i < kernel->tensor_count; extents += tensors[i++].ndim)
        status = visit(call, &tensors[i], call->tensors[i], extents);
    return status;
}

/* ---- the front ------------------------------------------------------------------------------- */

tile_status tile_launch_tensors(const tile_kernel *kernel, tile_stream stream,
                                DLTensor *const *tensors, const void *const *others)
{
    tensor_call call;
    tile_status status = begin(&call, kernel, stream, tensors, others);
    if (!status) status = each_result(&call, settle);
    return status ? status : tile_launch(kernel, stream, NULL, 0, call.arguments);
}

tile_status tile_plan_tensors(const tile_kernel *kernel, DLTensor *const *tensors,
                              const void *const *others, tile_plan *out)
{
    tensor_call call;
    const tile_status status = begin(&call, kernel, NULL, tensors, others);
    return status ? status : tile_plan_launch(kernel, call.arguments, out);
}

tile_status tile_shape_tensors(const tile_kernel *kernel, DLTensor *const *tensors,
                               const void *const *others)
{
    tensor_call call;
    const tile_status status = begin(&call, kernel, NULL, tensors, others);
    return status ? status : each_result(&call, fill_in);
}

void tile_set_allocator(const tile_allocator *allocator)
{
    atomic_store_explicit(&tile_the_process.allocator, allocator, memory_order_release);
}
