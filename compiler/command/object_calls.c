/* object_calls.c: calls of kernels in an object, through the tables that libtile goes by. */
#include "command/object_calls.h"

#include "command/object_view.h"
#include "build/load.h"

#include "tile/dlpack.h"
#include "tile/emulator.h"

#include <llvm-c/Error.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct ObjectKernels {
    VEC(const tile_kernel *) kernels;
    VEC(LLVMOrcLLJITRef) jits;
};

/* ---- loading ---- */

bool is_object_file(const char *path)
{
    char head[4];
    FILE *file = fopen(path, "rb");
    const bool read = file && fread(head, sizeof head, 1, file) == 1;
    if (file) fclose(file);
    return read && view_is_elf(head, sizeof head);
}

static bool load_one(Session *session, const Build *object, const char *path, const char *name,
                     ObjectKernels *out)
{
    LLVMOrcLLJITRef jit;
    const tile_kernel *kernel = load_kernel(session, object, name, &tile_the_emulator, &jit);
    if (jit) vec_push(session->arena, &out->jits, jit);
    if (kernel && kernel->abi_version != TILE_ABI_VERSION) {
        diag_report(session->diags, DIAG_not_an_object, (Span){0}, path,
                    "it was made by another version of tilec");
        return false;
    }
    if (kernel) vec_push(session->arena, &out->kernels, kernel);
    return kernel != NULL;
}

static bool load_all(Session *session, const Build *object, const char *path, ObjectKernels *out)
{
    static const char suffix[] = "_kernel";
    const size_t tail = sizeof suffix - 1;
    const char *fault;
    ObjectSymbol symbol;
    const ObjectView *view = view_open(session->arena, object->object, object->object_size, &fault);
    if (view) fault = view_fault(view);
    for (size_t i = 0; !fault && view_symbol(view, i, &symbol); i++) {
        const size_t length = strlen(symbol.name);
        if (length <= tail || strcmp(symbol.name + length - tail, suffix) != 0) continue;
        if (!load_one(session, object, path,
                      arena_copy_text(session->arena, symbol.name, length - tail), out))
            return false;
    }
    if (!fault) return true;
    diag_report(session->diags, DIAG_not_an_object, (Span){0}, path, fault);
    return false;
}

ObjectKernels *object_kernels_open(Session *session, const char *path)
{
    ObjectKernels *kernels = arena_new_of(session->arena, ObjectKernels);
    Build object = {0};
    object.object = os_read_file(session->arena, path, &object.object_size);
    if (!object.object)
        diag_report(session->diags, DIAG_cannot_read, (Span){0}, path, strerror(errno));
    else if (load_all(session, &object, path, kernels))
        return kernels;
    object_kernels_close(kernels);
    return NULL;
}

void object_kernels_close(ObjectKernels *kernels)
{
    for (size_t i = 0; i < kernels->jits.count; i++)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(kernels->jits.data[i]));
    kernels->jits.count = 0;
}

const tile_kernel *object_kernel(const ObjectKernels *kernels, const char *name)
{
    for (size_t i = 0; kernels && i < kernels->kernels.count; i++)
        if (strcmp(kernels->kernels.data[i]->name, name) == 0) return kernels->kernels.data[i];
    return NULL;
}

/* ---- arguments ---- */

typedef struct Packed { /* as tile_launch_tensors takes them */
    ArrayContext *context;
    const tile_kernel *kernel;
    const HostCall *call;
    DLTensor *tensors;
    DLTensor **pointers;
    uint64_t *cells;
    const void **others;
    const char **names; /* of the arguments that were taken; the first of them came by place */
    int name_count, other_count;
    bool on_emulator;
} Packed;

static bool refuse(const Packed *packed, DiagCode code, const char *name)
{
    diag_report(packed->context->session->diags, code, packed->call->at, name);
    return false;
}

static bool refuse_kind(const Packed *packed, const char *name, const char *wanted)
{
    diag_report(packed->context->session->diags, DIAG_argument_kind, packed->call->at, name,
                wanted);
    return false;
}

/* The next one by place, else the one of that name. NULL: reported. */
static const HostValue *take_argument(Packed *packed, const char *name)
{
    const HostCall *call = packed->call;
    const int index = packed->name_count++;
    packed->names[index] = name;
    if (index < call->argument_count) return &call->arguments[index];
    for (int i = 0; i < call->named_count; i++)
        if (strcmp(call->names[i], name) == 0) return &call->named[i];
    diag_report(packed->context->session->diags, DIAG_missing_argument, call->at, "the kernel",
                name);
    return NULL;
}

static int find_taken(const Packed *packed, const char *name)
{
    for (int i = 0; i < packed->name_count; i++)
        if (strcmp(packed->names[i], name) == 0) return i;
    return packed->name_count;
}

/* Whether all that is given was taken. */
static bool check_taken(const Packed *packed)
{
    const HostCall *call = packed->call;
    Diags *diags = packed->context->session->diags;
    if (packed->name_count < call->argument_count)
        return diag_report(diags, DIAG_many_arguments, call->at, "the kernel", packed->name_count,
                           call->argument_count),
               false;
    for (int i = 0; i < call->named_count; i++) {
        const int taken = find_taken(packed, call->names[i]);
        if (taken < call->argument_count)
            return refuse(packed, DIAG_argument_twice, call->names[i]);
        if (taken == packed->name_count)
            return diag_report(diags, DIAG_unknown_parameter, call->at, packed->kernel->name,
                               call->names[i]),
                   false;
    }
    return true;
}

static DLDataType dlpack_dtype(DType dtype)
{
    const uint32_t code = (uint32_t)dtype_code(dtype);
    return (DLDataType){(uint8_t)(code >> 24), (uint8_t)(code >> 16), (uint16_t)code};
}

static void describe(const Array *array, bool on_emulator, DLTensor *out)
{
    *out = (DLTensor){.data = array_data(array),
                      .device = {kDLCUDA, 0},
                      .ndim = array->rank,
                      .dtype = dlpack_dtype(array->dtype),
                      .shape = (int64_t *)(uintptr_t)array->shape,
                      .strides = (int64_t *)(uintptr_t)array->strides};
    if (on_emulator) out->device.device_type = kDLCPU;
}

static bool pack_tensor(Packed *packed, uint32_t index)
{
    const tile_tensor *tensor = &packed->kernel->tensors[index];
    const HostValue *value = take_argument(packed, tensor->name);
    if (!value) return false;
    if (value->kind != HOST_ARRAY) return refuse_kind(packed, tensor->name, "an array");
    describe(value->array, packed->on_emulator, &packed->tensors[index]);
    return true;
}

static bool pack_number(Packed *packed, const tile_parameter *parameter, const HostValue *value,
                        uint64_t *cell)
{
    DType dtype = parameter->kind == TILE_PARAMETER_KEY_FLOAT ? DTYPE_f64 : DTYPE_i64;
    const bool is_key =
        parameter->kind == TILE_PARAMETER_KEY_FLOAT || parameter->kind == TILE_PARAMETER_KEY;
    if (!is_key && !dtype_find(parameter->type, &dtype))
        return refuse(packed, DIAG_unknown_element_type, parameter->name);
    return value_encode(packed->context->session, packed->call->at, parameter->name, dtype, value,
                        cell);
}

static bool pack_other(Packed *packed, const tile_parameter *parameter)
{
    const HostValue *value = take_argument(packed, parameter->name);
    uint64_t *cell = &packed->cells[packed->other_count];
    if (!value) return false;
    packed->others[packed->other_count++] = cell;
    if (parameter->kind == TILE_PARAMETER_POINTER) {
        if (value->kind != HOST_ARRAY) return refuse_kind(packed, parameter->name, "an array");
        *cell = (uint64_t)(uintptr_t)array_data(value->array);
        return true;
    }
    if (parameter->kind == TILE_PARAMETER_KEY_TEXT) {
        *cell = (uint64_t)(uintptr_t)value->text;
        return value->kind == HOST_TEXT || refuse_kind(packed, parameter->name, "a text");
    }
    if (value->kind == HOST_DTYPE) {
        *cell = (uint64_t)dtype_code(value->dtype);
        return true;
    }
    return pack_number(packed, parameter, value, cell);
}

/* The element type of results that is a key. */
static bool pack_dtype(Packed *packed, uint32_t parameter)
{
    const tile_kernel *kernel = packed->kernel;
    const char *name = kernel->parameters[parameter].name;
    const HostValue *value = take_argument(packed, name);
    if (!value) return false;
    if (value->kind != HOST_DTYPE) return refuse_kind(packed, name, "an element type");
    for (uint32_t i = 0; i < kernel->tensor_count; i++)
        if (kernel->tensors[i].dtype_key == parameter)
            packed->tensors[i].dtype = dlpack_dtype(value->dtype);
    return true;
}

/* The tensor whose address the parameter is, or UINT32_MAX. */
static uint32_t tensor_at(const tile_kernel *kernel, uint32_t parameter)
{
    for (uint32_t i = 0; i < kernel->tensor_count; i++)
        if (kernel->tensors[i].pointer == parameter) return i;
    return UINT32_MAX;
}

/* Whether the parameter's value comes with a tensor. */
static bool is_implied(const tile_kernel *kernel, uint32_t parameter)
{
    for (uint32_t i = 0; i < kernel->tensor_count; i++) {
        const tile_tensor *tensor = &kernel->tensors[i];
        if (tensor->is_result) continue;
        if (tensor->dtype_key == parameter) return true;
        for (uint32_t j = 0; j < tensor->ndim; j++)
            if (tensor->shape[j] == TILE_SYMBOL(parameter) ||
                (tensor->strides && tensor->strides[j] == TILE_SYMBOL(parameter)))
                return true;
    }
    return false;
}

/* Whether it is the element type of results alone. */
static bool is_result_dtype(const tile_kernel *kernel, uint32_t parameter)
{
    for (uint32_t i = 0; i < kernel->tensor_count; i++)
        if (kernel->tensors[i].dtype_key == parameter) return true;
    return false;
}

static bool pack_one(Packed *packed, uint32_t parameter)
{
    const tile_kernel *kernel = packed->kernel;
    const uint32_t tensor = tensor_at(kernel, parameter);
    if (tensor != UINT32_MAX)
        return kernel->tensors[tensor].is_result || pack_tensor(packed, tensor);
    const tile_parameter *row = &kernel->parameters[parameter];
    if (row->kind == TILE_PARAMETER_KEY_FIXED || is_implied(kernel, parameter)) return true;
    return is_result_dtype(kernel, parameter) ? pack_dtype(packed, parameter)
                                              : pack_other(packed, row);
}

static bool pack_all(Packed *packed)
{
    for (uint32_t i = 0; i < packed->kernel->parameter_count; i++)
        if (!pack_one(packed, i)) return false;
    return check_taken(packed);
}

/* ---- calls ---- */

HostStatus launch_status(Session *session, Span at, tile_status status)
{
    const char *races = tile_emulator_benign_races();
    if (*races) diag_report(session->diags, DIAG_benign_race, at, races);
    if (status == TILE_OK) return HOST_OK;
    const bool is_call = status == TILE_ERROR_ARGUMENT || status == TILE_ERROR_NO_SPECIALISATION;
    diag_report(session->diags,
                status == TILE_ERROR_FAULT ? DIAG_run_fault
                : is_call                  ? DIAG_call_refused
                                           : DIAG_device_failed,
                at, tile_last_error());
    return HOST_FAILED;
}

/* Arrays for the results, once their shapes are known. */
static bool make_results(Packed *packed, HostValue *results, int *count)
{
    const tile_kernel *kernel = packed->kernel;
    int64_t *shapes = arena_new_array(packed->context->arena, int64_t,
                                      ARRAY_RANK * ((size_t)kernel->tensor_count + 1));
    bool any = false;
    for (uint32_t i = 0; i < kernel->tensor_count; i++) {
        if (!kernel->tensors[i].is_result) continue;
        packed->tensors[i].shape = shapes + (size_t)i * ARRAY_RANK;
        any = true;
    }
    if (any && launch_status(packed->context->session, packed->call->at,
                             tile_shape_tensors(kernel, packed->pointers, packed->others)))
        return false;
    for (uint32_t i = 0; i < kernel->tensor_count; i++) {
        const DLTensor *tensor = &packed->tensors[i];
        DType dtype;
        if (!kernel->tensors[i].is_result) continue;
        const char *name = dtype_code_name(
            TILE_DTYPE(tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes));
        if (!name || !dtype_find(name, &dtype))
            return refuse(packed, DIAG_unknown_element_type, kernel->tensors[i].name);
        Array *array = array_new(packed->context, dtype, tensor->ndim, tensor->shape);
        if (!array) return false;
        describe(array, packed->on_emulator, &packed->tensors[i]);
        results[(*count)++] = (HostValue){.kind = HOST_ARRAY, .array = array};
    }
    return true;
}

HostStatus object_kernel_call(ArrayContext *context, const tile_kernel *kernel, bool on_emulator,
                              const HostCall *call, HostValue *result)
{
    Arena *arena = context->arena;
    const size_t tensors = (size_t)kernel->tensor_count + 1;
    const size_t others = (size_t)kernel->parameter_count + 1;
    HostValue *results = arena_new_array(arena, HostValue, tensors);
    Packed packed = {.context = context,
                     .kernel = kernel,
                     .call = call,
                     .on_emulator = on_emulator,
                     .tensors = arena_new_array(arena, DLTensor, tensors),
                     .pointers = arena_new_array(arena, DLTensor *, tensors),
                     .cells = arena_new_array(arena, uint64_t, others),
                     .others = arena_new_array(arena, const void *, others),
                     .names = arena_new_array(arena, const char *, others)};
    int count = 0;
    for (size_t i = 0; i < tensors; i++) packed.pointers[i] = &packed.tensors[i];
    if (!pack_all(&packed) || !make_results(&packed, results, &count)) return HOST_FAILED;
    *result = count == 1 ? results[0]
              : count    ? (HostValue){.kind = HOST_TUPLE, .items = results, .count = count}
                         : (HostValue){.kind = HOST_NONE};
    return launch_status(context->session, call->at,
                         tile_launch_tensors(kernel, NULL, packed.pointers, packed.others));
}

/* ---- what was measured ---- */

static const char *key_text(Arena *arena, const tile_parameter *parameter, int64_t key)
{
    Buf text = {0};
    double number;
    memcpy(&number, &key, sizeof number);
    const char *dtype = strcmp(parameter->type, "dtype") == 0 ? dtype_code_name(key) : NULL;
    if (parameter->kind == TILE_PARAMETER_KEY_TEXT)
        buf_quoted(&text, (const char *)(uintptr_t)key, strlen((const char *)(uintptr_t)key));
    else if (parameter->kind == TILE_PARAMETER_KEY_FLOAT)
        buf_float(&text, number);
    else if (dtype)
        buf_text(&text, dtype);
    else
        buf_printf(&text, "%lld", (long long)key);
    const char *copy = arena_copy_text(arena, text.data, text.length);
    buf_free(&text);
    return copy;
}

void object_tuning(Arena *arena, const tile_tuned *tuned, Tuning *out)
{
    const tile_kernel *kernel = tuned->kernel;
    const int64_t *keys = kernel->specialisations[tuned->specialisation].keys;
    const int64_t *class = tuned->classes;
    *out =
        (Tuning){.kernel = arena_copy_text(arena, kernel->plain_name, strlen(kernel->plain_name))};
    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const tile_parameter *parameter = &kernel->parameters[i];
        const char *name = arena_copy_text(arena, parameter->name, strlen(parameter->name));
        const bool is_size = parameter->kind == TILE_PARAMETER_SCALAR &&
                             (parameter->type[0] == 'i' || parameter->type[0] == 'u');
        if (parameter->kind >= TILE_PARAMETER_KEY)
            vec_push(arena, &out->keys,
                     ((Named){.name = name, .text = key_text(arena, parameter, *keys++)}));
        else if (is_size)
            vec_push(arena, &out->sizes, ((Named){.name = name, .number = (double)*class ++}));
    }
}
