/* host.c: what host code meets in an interpreter: arrays that are told by their shapes alone,
 * launches that somebody else makes, and give(), which hands values out. */
#include "library/host.h"

#include "build/load.h"

#include <string.h>

/* ---- arrays ---- */

static Shadow *add_array(Library *library, const HostArray *is)
{
    Shadow *shadow = arena_new_of(library->session->arena, Shadow);
    *shadow = (Shadow){.is = *is, .number = (int)library->arrays.count};
    vec_push(library->session->arena, &library->arrays, shadow);
    return shadow;
}

/* Of several in the same memory, as tf32 and f32, the last is the one that arrays are of. */
static bool find_dtype(DLDataType type, DType *out)
{
    for (int i = DTYPE_COUNT; i-- > 0;) {
        *out = (DType)i;
        if (dtype_code(*out) == (int64_t)TILE_DTYPE(type.code, type.bits, type.lanes)) return true;
    }
    return false;
}

static int64_t packed_stride(const DLTensor *tensor, int dimension)
{
    int64_t stride = 1;
    for (int i = dimension + 1; i < tensor->ndim; i++) stride *= tensor->shape[i];
    return stride;
}

static bool take_array(Library *library, const DLTensor *tensor)
{
    enum { MOST = sizeof((HostArray *)NULL)->shape / sizeof(int64_t) };
    HostArray is = {.rank = tensor->ndim};
    if (tensor->ndim < 0 || tensor->ndim > MOST || !find_dtype(tensor->dtype, &is.dtype)) {
        diag_report(library->session->diags, DIAG_call_refused, (Span){0},
                    arena_printf(library->session->arena,
                                 "array %zu has a type or a number of dimensions that no kernel's "
                                 "tensor has",
                                 library->arrays.count));
        return false;
    }
    for (int i = 0; i < is.rank; i++) {
        is.shape[i] = tensor->shape[i];
        is.strides[i] = tensor->strides ? tensor->strides[i] : packed_stride(tensor, i);
    }
    add_array(library, &is);
    return true;
}

bool library_take_arrays(Library *library, const DLTensor *const *arrays, uint32_t count)
{
    library->arrays.count = 0;
    library->printed.length = library->values.length = library->launches.length = 0;
    library->built.length = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!take_array(library, arrays[i])) return false;
    library->given = library->arrays.count;
    return true;
}

static void describe(Host *host, const void *array, HostArray *out)
{
    (void)host;
    *out = ((const Shadow *)array)->is;
}

static HostStatus attribute(Host *host, const HostValue *array, const char *name, Span at,
                            HostValue *result)
{
    const HostArray *is = &((const Shadow *)array->array)->is;
    Library *library = (Library *)host;
    (void)at;
    if (strcmp(name, "dtype") == 0) {
        *result = (HostValue){.kind = HOST_DTYPE, .dtype = is->dtype};
        return HOST_OK;
    }
    if (strcmp(name, "ndim") == 0) {
        *result = (HostValue){.kind = HOST_INT, .integer = is->rank};
        return HOST_OK;
    }
    if (strcmp(name, "shape") != 0) return HOST_UNKNOWN;
    HostValue *items = arena_new_array(library->session->arena, HostValue, is->rank + 1);
    for (int i = 0; i < is->rank; i++)
        items[i] = (HostValue){.kind = HOST_INT, .integer = is->shape[i]};
    *result = (HostValue){.kind = HOST_TUPLE, .items = items, .count = is->rank};
    return HOST_OK;
}

/* What would read or write an array's elements. */
static HostStatus refuse(const Library *library, Span at)
{
    diag_report(library->session->diags, DIAG_call_refused, at,
                "the elements of an array are not known here, only its shape and type");
    return HOST_FAILED;
}

static HostStatus binary(Host *host, const char *op, const HostValue *left, const HostValue *right,
                         Span at, HostValue *result)
{
    (void)op, (void)left, (void)right, (void)result;
    return refuse((Library *)host, at);
}

static HostStatus unary(Host *host, const char *op, const HostValue *operand, Span at,
                        HostValue *result)
{
    (void)op, (void)operand, (void)result;
    return refuse((Library *)host, at);
}

static HostStatus get_item(Host *host, const HostValue *array, const HostValue *index, Span at,
                           HostValue *result)
{
    (void)array, (void)index, (void)result;
    return refuse((Library *)host, at);
}

static HostStatus set_item(Host *host, const HostValue *array, const HostValue *index,
                           const HostValue *value, Span at)
{
    (void)array, (void)index, (void)value;
    return refuse((Library *)host, at);
}

static HostStatus truth(Host *host, const HostValue *array, Span at, bool *result)
{
    (void)array, (void)result;
    return refuse((Library *)host, at);
}

static void repr(Host *host, const HostValue *array, Buf *out)
{
    (void)host;
    buf_printf(out, "array(%d)", ((const Shadow *)array->array)->number);
}

/* ---- values that go out ---- */

static void put_value(const HostValue *value, Buf *out)
{
    static const char *const KINDS[] = {
        [HOST_SLICE] = "slice", [HOST_ELLIPSIS] = "ellipsis", [HOST_FUNCTION] = "function"};
    switch (value->kind) {
    case HOST_NONE: buf_text(out, "null"); break;
    case HOST_BOOL: buf_text(out, value->integer ? "true" : "false"); break;
    case HOST_INT: buf_printf(out, "%lld", (long long)value->integer); break;
    case HOST_FLOAT: buf_printf(out, "{\"float\": \"%a\"}", value->number); break;
    case HOST_TEXT: buf_quoted(out, value->text, value->length); break;
    case HOST_DTYPE: buf_printf(out, "{\"dtype\": \"%s\"}", dtype_user_name(value->dtype)); break;
    case HOST_ARRAY:
        buf_printf(out, "{\"array\": %d}", ((const Shadow *)value->array)->number);
        break;
    case HOST_TUPLE:
    case HOST_LIST:
        buf_text(out, value->kind == HOST_TUPLE ? "{\"tuple\": [" : "[");
        for (int i = 0; i < value->count; i++) {
            if (i > 0) buf_text(out, ", ");
            put_value(&value->items[i], out);
        }
        buf_text(out, value->kind == HOST_TUPLE ? "]}" : "]");
        break;
    default: buf_printf(out, "{\"kind\": \"%s\"}", KINDS[value->kind]); break;
    }
}

static void put_separated(Buf *out)
{
    if (out->length > 0) buf_text(out, ", ");
}

/* ---- functions ---- */

static const char *const FUNCTIONS[] = {"array", "give"};

static const char *function_name(Host *host, size_t index)
{
    (void)host;
    return index < sizeof FUNCTIONS / sizeof *FUNCTIONS ? FUNCTIONS[index] : NULL;
}

static bool find(Host *host, const char *name)
{
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
        if (strcmp(function_name(host, i), name) == 0) return true;
    return false;
}

/* array(number) */
static HostStatus call_array(const Library *library, const HostCall *call, HostValue *result)
{
    const HostValue *number = call->arguments;
    if (call->argument_count != 1 || number->kind != HOST_INT || number->integer < 0 ||
        (uint64_t)number->integer >= library->arrays.count) {
        diag_report(library->session->diags, DIAG_call_refused, call->at,
                    "array() takes the number of an array");
        return HOST_FAILED;
    }
    *result =
        (HostValue){.kind = HOST_ARRAY, .array = library->arrays.data[(size_t)number->integer]};
    return HOST_OK;
}

/* give(value, ...) */
static HostStatus call_give(Library *library, const HostCall *call, HostValue *result)
{
    for (int i = 0; i < call->argument_count; i++) {
        put_separated(&library->values);
        put_value(&call->arguments[i], &library->values);
    }
    *result = (HostValue){.kind = HOST_NONE};
    return HOST_OK;
}

static HostStatus call_function(Host *host, const HostCall *call, HostValue *result)
{
    Library *library = (Library *)host;
    if (strcmp(call->name, "array") == 0) return call_array(library, call, result);
    if (strcmp(call->name, "give") == 0) return call_give(library, call, result);
    return HOST_UNKNOWN;
}

static void print(Host *host, const char *text, size_t length)
{
    buf_bytes(&((Library *)host)->printed, text, length);
}

/* ---- launches ---- */

static bool check_array(const Library *library, const HostLaunch *launch, int index)
{
    const Parameter *parameter = &launch->kernel->parameters[index];
    const HostValue *value = &launch->arguments[index];
    const DType wanted = parameter->value->type->dtype;
    if (value->kind != HOST_ARRAY) {
        diag_report(library->session->diags, DIAG_argument_kind, launch->at, parameter->name,
                    "an array");
        return false;
    }
    const HostArray *is = &((const Shadow *)value->array)->is;
    /* the evaluator has looked at a tensor; a pointer to bytes takes any array */
    if (kernel_tensor_of(launch->kernel, index) || wanted == DTYPE_u8 ||
        dtype_holds(wanted, is->dtype))
        return true;
    diag_report(library->session->diags, DIAG_argument_dtype, launch->at, parameter->name,
                dtype_user_name(is->dtype), dtype_user_name(wanted));
    return false;
}

/* The argument as the kernel takes it, an array as its number. */
static bool encode_argument(const Library *library, const HostLaunch *launch, int index,
                            uint64_t *cell)
{
    const Parameter *parameter = &launch->kernel->parameters[index];
    const HostValue *value = &launch->arguments[index];
    const Tensor *tensor = kernel_tensor_of(launch->kernel, index);
    if (parameter->is_key) {
        *cell = parameter->text ? (uint64_t)(uintptr_t)parameter->text : (uint64_t)parameter->key;
        return true;
    }
    if (parameter->value->type->kind != TYPE_POINTER)
        return value_encode(library->session, launch->at, parameter->name,
                            parameter->value->type->dtype, value, cell);
    if (tensor && tensor->is_result) return true;
    /* None for an array is one that nobody looks at */
    return check_array(library, launch, index);
}

static HostArray packed(DType dtype, int rank, const int64_t *extents)
{
    HostArray is = {.dtype = dtype, .rank = rank};
    int64_t stride = 1;
    for (int i = rank; i-- > 0; stride *= extents[i]) {
        is.shape[i] = extents[i];
        is.strides[i] = stride;
    }
    return is;
}

static bool make_results(Library *library, const HostLaunch *launch, const tile_kernel *kernel,
                         const void *const *arguments)
{
    const Kernel *typed = launch->kernel;
    int64_t *extents =
        arena_new_array(library->session->arena, int64_t, TYPE_RANK * (typed->tensor_count + 1));
    int count = 0;
    for (int i = 0; i < typed->tensor_count; i++) {
        const Tensor *tensor = &typed->tensors[i];
        if (!tensor->is_result) continue;
        if (count == 0 &&
            !load_result_extents(library->session, launch->at, kernel, arguments, extents))
            return false;
        const HostArray is = packed(tensor->dtype, tensor->rank, extents);
        launch->results[count++] =
            (HostValue){.kind = HOST_ARRAY, .array = add_array(library, &is)};
        extents += tensor->rank;
    }
    return true;
}

/* The array that stands for a parameter, a result's included; NULL: it is a value. */
static const Shadow *array_of(const HostLaunch *launch, int index)
{
    const Kernel *kernel = launch->kernel;
    if (kernel->parameters[index].value->type->kind != TYPE_POINTER) return NULL;
    int results = 0;
    for (int i = 0; i < kernel->tensor_count; i++) {
        const Tensor *tensor = &kernel->tensors[i];
        if (tensor->is_result && tensor->pointer == index) return launch->results[results].array;
        results += tensor->is_result;
    }
    return launch->arguments[index].array;
}

static void tell_argument(const HostLaunch *launch, int index, uint64_t cell, Buf *out)
{
    const Parameter *parameter = &launch->kernel->parameters[index];
    const Shadow *shadow = parameter->is_key ? NULL : array_of(launch, index);
    if (shadow) {
        buf_printf(out, "{\"array\": %d}", shadow->number);
    } else if (parameter->is_key && parameter->text) {
        buf_text(out, "{\"text\": ");
        buf_quoted(out, parameter->text, strlen(parameter->text));
        buf_text(out, "}");
    } else {
        buf_printf(out, "{\"bits\": %llu}", (unsigned long long)cell);
    }
}

static void tell(Library *library, const HostLaunch *launch, const tile_kernel *kernel,
                 const uint64_t *cells)
{
    Buf *out = &library->launches;
    put_separated(out);
    buf_printf(out, "{\"kernel\": %llu, \"name\": \"%s\", \"arguments\": [",
               (unsigned long long)(uintptr_t)kernel, launch->kernel->export_name);
    for (int i = 0; i < kernel_argument_count(launch->kernel); i++) {
        if (i > 0) buf_text(out, ", ");
        tell_argument(launch, i, cells[i], out);
    }
    buf_text(out, "]}");
}

static HostStatus host_launch(Host *host, const HostLaunch *asked)
{
    Library *library = (Library *)host;
    HostLaunch own = *asked, *launch = &own;
    if (launch->kernel->is_differentiated && !launch_as_gradient(&library->gradients, launch))
        return HOST_FAILED;
    Arena *arena = library->session->arena;
    const int count = kernel_argument_count(launch->kernel);
    const tile_kernel *kernel = library_code(library, launch->kernel);
    if (!kernel) return HOST_FAILED;
    uint64_t *cells = arena_new_array(arena, uint64_t, count + 1);
    const void **arguments = arena_new_array(arena, const void *, count + 1);
    for (int i = 0; i < count; i++) {
        if (!encode_argument(library, launch, i, &cells[i])) return HOST_FAILED;
        arguments[i] = &cells[i];
    }
    if (!make_results(library, launch, kernel, arguments)) return HOST_FAILED;
    tell(library, launch, kernel, cells);
    return HOST_OK;
}

static HostStatus host_build(Host *host, Kernel *kernel)
{
    Library *library = (Library *)host;
    const tile_kernel *built = library_code(library, kernel);
    if (!built) return HOST_FAILED;
    put_separated(&library->built);
    buf_printf(&library->built, "{\"kernel\": %llu, \"name\": \"%s\"}",
               (unsigned long long)(uintptr_t)built, kernel->export_name);
    return HOST_OK;
}

static void progress(Host *host, size_t done, size_t total)
{
    (void)host, (void)done, (void)total;
}

/* ---- the front ---- */

void library_host(Library *library)
{
    library->host = (Host){.find = find,
                           .name = function_name,
                           .call = call_function,
                           .binary = binary,
                           .unary = unary,
                           .get_item = get_item,
                           .set_item = set_item,
                           .attribute = attribute,
                           .describe = describe,
                           .truth = truth,
                           .repr = repr,
                           .build = host_build,
                           .progress = progress,
                           .launch = host_launch,
                           .print = print};
}

static void put_results(const Library *library, Buf *out)
{
    for (size_t i = library->given; i < library->arrays.count; i++) {
        const HostArray *is = &library->arrays.data[i]->is;
        buf_printf(out, "%s{\"dtype\": %lld, \"shape\": [", i > library->given ? ", " : "",
                   (long long)dtype_code(is->dtype));
        for (int j = 0; j < is->rank; j++)
            buf_printf(out, "%s%lld", j > 0 ? ", " : "", (long long)is->shape[j]);
        buf_text(out, "]}");
    }
}

void library_answer(Library *library, Buf *out)
{
    buf_text(out, "\"printed\": ");
    buf_quoted(out, library->printed.length ? library->printed.data : "", library->printed.length);
    buf_text(out, ", \"values\": [");
    buf_bytes(out, library->values.data, library->values.length);
    buf_text(out, "], \"results\": [");
    put_results(library, out);
    buf_text(out, "], \"built\": [");
    buf_bytes(out, library->built.data, library->built.length);
    buf_text(out, "], \"launches\": [");
    buf_bytes(out, library->launches.data, library->launches.length);
    buf_text(out, "]");
}
