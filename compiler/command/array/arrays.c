/* arrays.c: arrays in device memory, and their bytes and elements on the CPU. */
#include "command/array/arrays.h"

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

void array_take_after(Array *array, int count, const Array *const *models)
{
    array->on_host = true;
    for (int i = 0; i < count; i++) {
        if (!models[i]) continue;
        if (models[i]->family > array->family) array->family = models[i]->family;
        array->on_host = array->on_host && models[i]->on_host;
    }
}

char *array_data(const Array *array)
{
    return array->storage + array->offset * dtype_memory_bits(array->dtype) / 8;
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
    int64_t count = 1;
    *array = (Array){.dtype = dtype, .rank = rank};
    for (int i = rank - 1; i >= 0; i--) {
        array->shape[i] = shape[i];
        array->strides[i] = count;
        if (shape[i] < 0 || __builtin_mul_overflow(count, shape[i], &count) ||
            count > INT64_C(1) << 40) {
            diag_report(context->session->diags, DIAG_array_extents, context->at);
            return NULL;
        }
    }
    if (context->shapes_only) return array;
    size_t bytes = (size_t)dtype_memory_bytes(dtype, count);
    void *storage;
    if (!check_status(context, tile_alloc(&storage, bytes ? bytes : 1))) return NULL;
    array->storage = storage;
    return array;
}

Array *array_view(ArrayContext *context, const Array *array)
{
    Array *view = arena_new_of(context->arena, Array);
    *view = *array;
    view->grad = NULL;
    return view;
}

/* ---- bytes ---- */

void *bytes_new(int64_t count, int size)
{
    void *bytes = malloc((size_t)count * (size_t)size + 1);
    CHECK(bytes != NULL);
    return bytes;
}

/* The elements of storage that a view reaches, relative to its element 0: [low, high]. */
static void array_span(const Array *array, int64_t *low, int64_t *high)
{
    *low = *high = 0;
    for (int i = 0; i < array->rank; i++) {
        int64_t reach = (array->shape[i] - 1) * array->strides[i];
        *(reach < 0 ? low : high) += reach;
    }
}

static bool bytes_out(ArrayContext *context, void *to, const char *from, int64_t bytes)
{
    return check_status(context, tile_copy_out(to, from, (size_t)bytes, NULL)) &&
           check_status(context, tile_synchronize(NULL));
}

static bool bytes_in(ArrayContext *context, char *to, const void *from, int64_t bytes)
{
    return check_status(context, tile_copy_in(to, from, (size_t)bytes, NULL)) &&
           check_status(context, tile_synchronize(NULL));
}

/* Elements of less than a byte are packed on the device alone: on the CPU each has its byte. The
 * bytes on the device that hold elements [first, first + count). */
typedef struct Packed {
    char *at, *bytes;
    int64_t size;
    int bits;
    int64_t skipped; /* elements of the first byte that come before */
} Packed;

static Packed packed_of(const Array *array, int64_t first, int64_t count)
{
    const int bits = dtype_memory_bits(array->dtype), each = 8 / bits;
    Packed packed = {.bits = bits, .skipped = first % each};
    packed.at = array->storage + first / each;
    packed.size = dtype_memory_bytes(array->dtype, packed.skipped + count);
    packed.bytes = bytes_new(packed.size, 1);
    return packed;
}

static void unpack(const Packed *packed, int64_t count, char *elements)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t bit = (packed->skipped + i) * packed->bits;
        const int byte = (unsigned char)packed->bytes[bit / 8];
        elements[i] = (char)(byte >> bit % 8 & ((1 << packed->bits) - 1));
    }
}

static void pack(const Packed *packed, int64_t count, const char *elements)
{
    for (int64_t i = 0; i < count; i++) {
        const int64_t bit = (packed->skipped + i) * packed->bits;
        const int mask = ((1 << packed->bits) - 1) << bit % 8;
        const int byte = packed->bytes[bit / 8] & ~mask;
        packed->bytes[bit / 8] = (char)(byte | ((unsigned char)elements[i] << bit % 8 & mask));
    }
}

/* `count` elements of storage from element `first` on. */
static bool copy_out(ArrayContext *context, void *to, const Array *array, int64_t first,
                     int64_t count)
{
    const int size = dtype_bytes(array->dtype);
    if (!dtype_is_packed(array->dtype))
        return bytes_out(context, to, array->storage + first * size, count * size);
    const Packed packed = packed_of(array, first, count);
    const bool fine = bytes_out(context, packed.bytes, packed.at, packed.size);
    if (fine) unpack(&packed, count, to);
    free(packed.bytes);
    return fine;
}

static bool copy_in(ArrayContext *context, const Array *array, int64_t first, int64_t count,
                    const void *from)
{
    const int size = dtype_bytes(array->dtype);
    if (!dtype_is_packed(array->dtype))
        return bytes_in(context, array->storage + first * size, from, count * size);
    const Packed packed = packed_of(array, first, count);
    bool fine = bytes_out(context, packed.bytes, packed.at, packed.size);
    if (fine) pack(&packed, count, from);
    fine = fine && bytes_in(context, packed.at, packed.bytes, packed.size);
    free(packed.bytes);
    return fine;
}

/* Moves `count` elements between a row of a view, `stride` apart, and packed bytes. */
#define MOVE_ROW(type)                                                                             \
    static void move_row_##type(char *row, int64_t stride, char *packed, int64_t count, bool out)  \
    {                                                                                              \
        type *strided = (void *)row, *dense = (void *)packed;                                      \
        if (out)                                                                                   \
            for (int64_t i = 0; i < count; i++) dense[i] = strided[i * stride];                    \
        else                                                                                       \
            for (int64_t i = 0; i < count; i++) strided[i * stride] = dense[i];                    \
    }
MOVE_ROW(uint8_t)
MOVE_ROW(uint16_t)
MOVE_ROW(uint32_t)
MOVE_ROW(uint64_t)
#undef MOVE_ROW

/* All rows in row-major order; `first` is the address of the view's element 0 on the CPU. */
static void move_rows(const Array *array, char *first, char *packed, bool out)
{
    int size = dtype_bytes(array->dtype), last = array->rank - 1;
    int64_t position[ARRAY_RANK] = {0}, row = last < 0 ? 1 : array->shape[last],
            stride = last < 0 ? 1 : array->strides[last], count = array_count(array), at = 0;
    for (int64_t done = 0; done < count; done += row) {
        char *from = first + at * size, *to = packed + done * size;
        switch (size) {
        case 1: move_row_uint8_t(from, stride, to, row, out); break;
        case 2: move_row_uint16_t(from, stride, to, row, out); break;
        case 4: move_row_uint32_t(from, stride, to, row, out); break;
        default: move_row_uint64_t(from, stride, to, row, out); break;
        }
        for (int dim = last - 1; dim >= 0; dim--) {
            at += array->strides[dim];
            if (++position[dim] < array->shape[dim]) break;
            at -= array->strides[dim] * array->shape[dim];
            position[dim] = 0;
        }
    }
}

char *array_bytes(ArrayContext *context, const Array *array)
{
    if (!array->storage) return NULL;
    int64_t low, high, count = array_count(array), size = dtype_bytes(array->dtype);
    char *packed = bytes_new(count, (int)size);
    if (count == 0) return packed;
    if (array_is_contiguous(array)) {
        if (copy_out(context, packed, array, array->offset, count)) return packed;
        free(packed);
        return NULL;
    }
    array_span(array, &low, &high);
    char *span = bytes_new(high - low + 1, (int)size);
    bool fine = copy_out(context, span, array, array->offset + low, high - low + 1);
    if (fine) move_rows(array, span - low * size, packed, true);
    free(span);
    if (!fine) free(packed);
    return fine ? packed : NULL;
}

bool array_store(ArrayContext *context, const Array *array, const char *bytes)
{
    int64_t low, high, count = array_count(array), size = dtype_bytes(array->dtype);
    if (count == 0 || !array->storage) return true;
    if (array_is_contiguous(array)) return copy_in(context, array, array->offset, count, bytes);
    array_span(array, &low, &high);
    const int64_t first = array->offset + low, reach = high - low + 1;
    char *span = bytes_new(reach, (int)size);
    bool fine = copy_out(context, span, array, first, reach);
    if (fine) move_rows(array, span - low * size, (char *)bytes, false);
    fine = fine && copy_in(context, array, first, reach, span);
    free(span);
    return fine;
}

/* ---- elements ---- */

bool array_read(ArrayContext *context, const Array *array, Elements *out)
{
    *out = (Elements){.count = array_count(array)};
    char *bytes = array_bytes(context, array);
    if (!bytes) return false;
    out->items = bytes_new(out->count, sizeof(Element));
    elements_decode(array->dtype, bytes, out->count, out->items);
    free(bytes);
    return true;
}

bool array_write(ArrayContext *context, const Array *array, const Elements *elements)
{
    char *bytes = bytes_new(elements->count, dtype_bytes(array->dtype));
    elements_encode(array->dtype, elements->items, elements->count, bytes);
    bool fine = array_store(context, array, bytes);
    free(bytes);
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
            diag_report(context->session->diags, DIAG_no_broadcast, context->at);
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
