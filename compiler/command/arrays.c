/* arrays.c: arrays in device memory and their elements on the CPU. */
#include "command/arrays.h"

#include "tile/tile.h"

#include <stdlib.h>
#include <string.h>

int64_t array_count(const Array *array)
{
    int64_t count = 1;
    for (int i = 0; i < array->rank; i++) count *= array->shape[i];
    return count;
}

bool array_is_contiguous(const Array *array)
{
    int64_t stride = 1;
    for (int i = array->rank - 1; i >= 0; i--) {
        if (array->shape[i] != 1 && array->strides[i] != stride) return false;
        stride *= array->shape[i];
    }
    return true;
}

char *array_data(const Array *array)
{
    return array->storage + array->offset * dtype_bytes(array->dtype);
}

static bool check_status(ArrayContext *context, tile_status status)
{
    if (status == TILE_OK) return true;
    DiagCode code = status == TILE_ERROR_FAULT ? DIAG_run_fault : DIAG_device_failed;
    diag_report(context->session->diags, code, context->at, tile_last_error());
    return false;
}

Array *array_new(ArrayContext *context, DType dtype, int rank, const int64_t *shape)
{
    Array *array = arena_new_of(context->arena, Array);
    *array = (Array){.dtype = dtype, .rank = rank, .storage_elements = 1};
    for (int i = rank - 1; i >= 0; i--) {
        array->shape[i] = shape[i];
        array->strides[i] = array->storage_elements;
        if (shape[i] < 0 ||
            __builtin_mul_overflow(array->storage_elements, shape[i], &array->storage_elements) ||
            array->storage_elements > INT64_C(1) << 40) {
            diag_report(context->session->diags, DIAG_bad_array, context->at,
                        "an array's extents must be >= 0 and its size below 2^40");
            return NULL;
        }
    }
    size_t bytes = (size_t)array->storage_elements * (size_t)dtype_bytes(dtype);
    void *storage;
    if (!check_status(context, tile_alloc(&storage, bytes ? bytes : 1))) return NULL;
    array->storage = storage;
    return array;
}

Array *array_view(ArrayContext *context, const Array *array)
{
    Array *view = arena_new_of(context->arena, Array);
    *view = *array;
    return view;
}

/* ---- elements ---- */

Element element_decode(DType dtype, const void *bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, bytes, (size_t)dtype_bytes(dtype));
    if (dtype_is_float(dtype)) return (Element){.f = dtype_decode(dtype, bits)};
    return (Element){.i = dtype_wrap(dtype, (int64_t)bits)};
}

void element_encode(DType dtype, Element element, void *bytes)
{
    uint64_t bits = dtype_is_float(dtype) ? dtype_encode(dtype, element.f) : (uint64_t)element.i;
    memcpy(bytes, &bits, (size_t)dtype_bytes(dtype));
}

double element_number(DType dtype, Element element)
{
    if (dtype_is_float(dtype)) return element.f;
    return dtype == DTYPE_u64 ? (double)(uint64_t)element.i : (double)element.i;
}

/* Calls `visit` with each element's address in `bytes`, a copy of the array's storage, in row-major
 * order. */
typedef void ElementVisit(void *context, char *address, int64_t index);

static void visit_elements(const Array *array, char *bytes, ElementVisit *visit, void *context)
{
    int64_t position[ARRAY_RANK] = {0}, count = array_count(array), at = array->offset;
    int size = dtype_bytes(array->dtype);
    for (int64_t index = 0; index < count; index++) {
        visit(context, bytes + at * size, index);
        for (int dim = array->rank - 1; dim >= 0; dim--) {
            at += array->strides[dim];
            if (++position[dim] < array->shape[dim]) break;
            at -= array->strides[dim] * array->shape[dim];
            position[dim] = 0;
        }
    }
}

static char *copy_storage(ArrayContext *context, const Array *array)
{
    size_t bytes = (size_t)array->storage_elements * (size_t)dtype_bytes(array->dtype);
    char *copy = malloc(bytes ? bytes : 1);
    CHECK(copy != NULL);
    if (check_status(context, tile_copy_out(copy, array->storage, bytes, NULL)) &&
        check_status(context, tile_synchronize(NULL)))
        return copy;
    free(copy);
    return NULL;
}

typedef struct Transfer {
    DType dtype;
    Element *items;
} Transfer;

static void read_element(void *context, char *address, int64_t index)
{
    const Transfer *transfer = context;
    transfer->items[index] = element_decode(transfer->dtype, address);
}

static void write_element(void *context, char *address, int64_t index)
{
    const Transfer *transfer = context;
    element_encode(transfer->dtype, transfer->items[index], address);
}

bool array_read(ArrayContext *context, const Array *array, Elements *out)
{
    *out = (Elements){.count = array_count(array)};
    char *bytes = copy_storage(context, array);
    if (!bytes) return false;
    out->items = malloc(sizeof(Element) * (size_t)(out->count ? out->count : 1));
    CHECK(out->items != NULL);
    Transfer transfer = {array->dtype, out->items};
    visit_elements(array, bytes, read_element, &transfer);
    free(bytes);
    return true;
}

bool array_write(ArrayContext *context, const Array *array, const Elements *elements)
{
    size_t bytes = (size_t)array->storage_elements * (size_t)dtype_bytes(array->dtype);
    /* A view that covers its storage needs nothing of what was there. */
    bool whole = array_is_contiguous(array) && array_count(array) == array->storage_elements;
    char *copy = whole ? malloc(bytes ? bytes : 1) : copy_storage(context, array);
    if (!copy) return false;
    Transfer transfer = {array->dtype, elements->items};
    visit_elements(array, copy, write_element, &transfer);
    bool fine = check_status(context, tile_copy_in(array->storage, copy, bytes, NULL)) &&
                check_status(context, tile_synchronize(NULL));
    free(copy);
    return fine;
}

Array *array_from_elements(ArrayContext *context, DType dtype, int rank, const int64_t *shape,
                           const Elements *elements)
{
    Array *array = array_new(context, dtype, rank, shape);
    return array && array_write(context, array, elements) ? array : NULL;
}

/* ---- broadcasting ---- */

bool shape_broadcast(ArrayContext *context, int a_rank, const int64_t *a, int b_rank,
                     const int64_t *b, int *rank, int64_t *shape)
{
    *rank = a_rank > b_rank ? a_rank : b_rank;
    for (int i = 0; i < *rank; i++) {
        int64_t x = i < *rank - a_rank ? 1 : a[i - (*rank - a_rank)];
        int64_t y = i < *rank - b_rank ? 1 : b[i - (*rank - b_rank)];
        if (x != y && x != 1 && y != 1) {
            diag_report(context->session->diags, DIAG_bad_array, context->at,
                        "the arrays' shapes do not broadcast");
            return false;
        }
        shape[i] = x == 1 ? y : x;
    }
    return true;
}

Array *array_broadcast(ArrayContext *context, const Array *array, int rank, const int64_t *shape)
{
    Array *view = array_view(context, array);
    int added = rank - array->rank;
    view->rank = rank;
    for (int i = 0; i < rank; i++) {
        bool stretched = i < added || array->shape[i - added] != shape[i];
        view->shape[i] = shape[i];
        view->strides[i] = stretched ? 0 : array->strides[i - added];
    }
    return view;
}
