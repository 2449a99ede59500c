/* array_functions.c: the functions of tile.host. */
#include "command/arrays.h"

#include "tile/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments ---- */

typedef struct Arguments {
    ArrayContext *context;
    const HostCall *call;
} Arguments;

static const HostValue *argument(const Arguments *arguments, int index, const char *name)
{
    const HostCall *call = arguments->call;
    if (index >= 0 && index < call->argument_count) return &call->arguments[index];
    for (int i = 0; i < call->named_count; i++)
        if (strcmp(call->names[i], name) == 0) return &call->named[i];
    return NULL;
}

static bool complain(const Arguments *arguments, const char *name, const char *wanted)
{
    ArrayContext *context = arguments->context;
    diag_report(
        context->session->diags, DIAG_bad_array, context->at,
        arena_printf(context->arena, "%s(): '%s' must be %s", arguments->call->name, name, wanted));
    return false;
}

static bool take_number(const Arguments *arguments, int index, const char *name, double otherwise,
                        double *out)
{
    const HostValue *value = argument(arguments, index, name);
    *out = otherwise;
    if (!value && !isnan(otherwise)) return true;
    if (!value ||
        (value->kind != HOST_INT && value->kind != HOST_FLOAT && value->kind != HOST_BOOL))
        return complain(arguments, name, "a number");
    *out = value->kind == HOST_FLOAT ? value->number : (double)value->integer;
    return true;
}

static bool take_array(const Arguments *arguments, int index, const char *name, const Array **out)
{
    const HostValue *value = argument(arguments, index, name);
    if (!value || value->kind != HOST_ARRAY) return complain(arguments, name, "an array");
    *out = value->array;
    return true;
}

static bool take_dtype(const Arguments *arguments, int index, DType otherwise, DType *out)
{
    const HostValue *value = argument(arguments, index, "dtype");
    *out = otherwise;
    if (!value) return true;
    if (value->kind != HOST_DTYPE) return complain(arguments, "dtype", "an element type");
    *out = value->dtype;
    return true;
}

static bool take_shape(const Arguments *arguments, int index, int *rank, int64_t *shape)
{
    const HostValue *value = argument(arguments, index, "shape");
    if (value && value->kind == HOST_INT) {
        *rank = 1;
        shape[0] = value->integer;
        return true;
    }
    bool fine = value && (value->kind == HOST_TUPLE || value->kind == HOST_LIST) &&
                value->count <= ARRAY_RANK;
    for (int i = 0; fine && i < value->count; i++) {
        fine = value->items[i].kind == HOST_INT;
        shape[i] = value->items[i].integer;
    }
    if (!fine) return complain(arguments, "shape", "an integer or a tuple of at most 8");
    *rank = value->count;
    return true;
}

static bool take_path(const Arguments *arguments, int index, const char **out)
{
    const HostValue *value = argument(arguments, index, "path");
    if (!value || value->kind != HOST_TEXT) return complain(arguments, "path", "a text");
    *out = value->text;
    return true;
}

static HostStatus give_array(HostValue *result, Array *array)
{
    if (!array) return HOST_FAILED;
    *result = (HostValue){.kind = HOST_ARRAY, .array = array};
    return HOST_OK;
}

static HostStatus give_bool(HostValue *result, bool value)
{
    *result = (HostValue){.kind = HOST_BOOL, .integer = value};
    return HOST_OK;
}

/* ---- making arrays ---- */

static Element number_element(DType dtype, double number)
{
    return dtype_is_float(dtype) ? (Element){.f = number} : (Element){.i = (int64_t)number};
}

static HostStatus make_array(const Arguments *arguments, DType dtype, int rank,
                             const int64_t *shape,
                             Element (*element)(const void *state, DType dtype, int64_t index),
                             const void *state, HostValue *result)
{
    Array *array = array_new(arguments->context, dtype, rank, shape);
    if (!array) return HOST_FAILED;
    Elements elements = {malloc(sizeof(Element) * (size_t)(array_count(array) + 1)),
                         array_count(array)};
    CHECK(elements.items != NULL);
    for (int64_t i = 0; i < elements.count; i++) elements.items[i] = element(state, dtype, i);
    bool fine = array_write(arguments->context, array, &elements);
    free(elements.items);
    return fine ? give_array(result, array) : HOST_FAILED;
}

static Element same_element(const void *state, DType dtype, int64_t index)
{
    (void)index;
    return number_element(dtype, *(const double *)state);
}

static Element counted_element(const void *state, DType dtype, int64_t index)
{
    (void)state;
    return dtype_is_float(dtype) ? (Element){.f = (double)index} : (Element){.i = index};
}

/* SplitMix64 (Steele, Lea and Flood 2014): element i of a seed is the same on every machine. */
static uint64_t random_bits(uint64_t seed, int64_t index)
{
    uint64_t x =
        seed * UINT64_C(0xD1342543DE82EF95) + ((uint64_t)index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Floats are uniform in [-1, 1), integers in [-64, 63] (unsigned: [0, 127]). */
static Element random_element(const void *state, DType dtype, int64_t index)
{
    uint64_t bits = random_bits(*(const uint64_t *)state, index);
    if (dtype_is_float(dtype)) return (Element){.f = (double)(bits >> 11) * 0x1p-52 - 1.0};
    if (dtype == DTYPE_b1) return (Element){.i = (int64_t)(bits >> 63)};
    return (Element){.i = (int64_t)(bits >> 57) - (dtype_is_signed(dtype) ? 64 : 0)};
}

static HostStatus function_full(const Arguments *arguments, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    double value;
    DType dtype;
    if (!take_shape(arguments, 0, &rank, shape) ||
        !take_number(arguments, 1, "value", NAN, &value) ||
        !take_dtype(arguments, 2, DTYPE_f32, &dtype))
        return HOST_FAILED;
    return make_array(arguments, dtype, rank, shape, same_element, &value, result);
}

static HostStatus function_zeros(const Arguments *arguments, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    DType dtype;
    const double zero = 0;
    if (!take_shape(arguments, 0, &rank, shape) || !take_dtype(arguments, 1, DTYPE_f32, &dtype))
        return HOST_FAILED;
    return make_array(arguments, dtype, rank, shape, same_element, &zero, result);
}

static HostStatus function_empty(const Arguments *arguments, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    DType dtype;
    if (!take_shape(arguments, 0, &rank, shape) || !take_dtype(arguments, 1, DTYPE_f32, &dtype))
        return HOST_FAILED;
    return give_array(result, array_new(arguments->context, dtype, rank, shape));
}

static HostStatus function_arange(const Arguments *arguments, HostValue *result)
{
    double count;
    DType dtype;
    if (!take_number(arguments, 0, "n", NAN, &count) ||
        !take_dtype(arguments, 1, DTYPE_i32, &dtype))
        return HOST_FAILED;
    const int64_t shape[] = {(int64_t)count};
    return make_array(arguments, dtype, 1, shape, counted_element, NULL, result);
}

static HostStatus function_random(const Arguments *arguments, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    double seed;
    DType dtype;
    if (!take_shape(arguments, 0, &rank, shape) || !take_dtype(arguments, 1, DTYPE_f32, &dtype) ||
        !take_number(arguments, 2, "seed", 0, &seed))
        return HOST_FAILED;
    const uint64_t state = (uint64_t)(int64_t)seed;
    return make_array(arguments, dtype, rank, shape, random_element, &state, result);
}

/* ---- checking ---- */

static bool is_close(double a, double b, double relative, double absolute)
{
    return a == b || fabs(a - b) <= absolute + relative * fabs(b); /* NaN is close to nothing */
}

static void remark_difference(const Arguments *arguments, const Array *shape, int64_t first,
                              double a, double b, int64_t count)
{
    Buf place = {0};
    for (int i = 0; i < shape->rank; i++) {
        int64_t below = 1;
        for (int j = i + 1; j < shape->rank; j++) below *= shape->shape[j];
        buf_printf(&place, "%s%lld", i ? ", " : "", (long long)(first / below % shape->shape[i]));
    }
    diag_report(arguments->context->session->diags, DIAG_not_close, arguments->context->at,
                (long long)count, (long long)array_count(shape), place.data ? place.data : "", a,
                b);
    buf_free(&place);
}

/* allclose(a, b, rtol, atol): |a - b| <= atol + rtol * |b| for each element; what differs is told
 * in a remark. */
static HostStatus function_allclose(const Arguments *arguments, HostValue *result)
{
    const Array *a, *b;
    double relative, absolute;
    if (!take_array(arguments, 0, "a", &a) || !take_array(arguments, 1, "b", &b) ||
        !take_number(arguments, 2, "rtol", 1e-5, &relative) ||
        !take_number(arguments, 3, "atol", 1e-8, &absolute))
        return HOST_FAILED;
    int rank;
    int64_t shape[ARRAY_RANK];
    ArrayContext *context = arguments->context;
    if (!shape_broadcast(context, a->rank, a->shape, b->rank, b->shape, &rank, shape))
        return HOST_FAILED;
    Elements x = {0}, y = {0};
    const Array *wide = array_broadcast(context, a, rank, shape);
    if (!array_read(context, wide, &x) ||
        !array_read(context, array_broadcast(context, b, rank, shape), &y)) {
        free(x.items);
        return HOST_FAILED;
    }
    int64_t first = -1, count = 0;
    for (int64_t i = 0; i < x.count; i++) {
        if (is_close(element_number(a->dtype, x.items[i]), element_number(b->dtype, y.items[i]),
                     relative, absolute))
            continue;
        if (count++ == 0) first = i;
    }
    if (count)
        remark_difference(arguments, wide, first, element_number(a->dtype, x.items[first]),
                          element_number(b->dtype, y.items[first]), count);
    free(x.items);
    free(y.items);
    return give_bool(result, count == 0);
}

/* The product in float64 of [m, k] and [k, n]: c[i] += a[i][p] * b[p], rows of b in order. */
static void multiply(const double *a, const double *b, Element *c, int64_t m, int64_t n, int64_t k)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) c[i * n + j].f = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++) c[i * n + j].f += a[i * k + p] * b[p * n + j];
    }
}

static double *read_numbers(ArrayContext *context, const Array *array)
{
    Elements elements;
    if (!array_read(context, array, &elements)) return NULL;
    double *numbers = malloc(sizeof *numbers * (size_t)(elements.count + 1));
    CHECK(numbers != NULL);
    for (int64_t i = 0; i < elements.count; i++)
        numbers[i] = element_number(array->dtype, elements.items[i]);
    free(elements.items);
    return numbers;
}

static HostStatus function_matmul(const Arguments *arguments, HostValue *result)
{
    const Array *a, *b;
    if (!take_array(arguments, 0, "a", &a) || !take_array(arguments, 1, "b", &b))
        return HOST_FAILED;
    if (a->rank != 2 || b->rank != 2 || a->shape[1] != b->shape[0]) {
        complain(arguments, "b", "a matrix with as many rows as 'a' has columns");
        return HOST_FAILED;
    }
    const int64_t shape[] = {a->shape[0], b->shape[1]};
    double *x = read_numbers(arguments->context, a),
           *y = x ? read_numbers(arguments->context, b) : NULL;
    HostStatus status = HOST_FAILED;
    if (x && y) {
        Elements product = {malloc(sizeof(Element) * (size_t)(shape[0] * shape[1] + 1)),
                            shape[0] * shape[1]};
        CHECK(product.items != NULL);
        multiply(x, y, product.items, shape[0], shape[1], a->shape[1]);
        status = give_array(result,
                            array_from_elements(arguments->context, DTYPE_f64, 2, shape, &product));
        free(product.items);
    }
    free(x);
    free(y);
    return status;
}

/* ---- files, time ---- */

static HostStatus function_load(const Arguments *arguments, HostValue *result)
{
    const char *path;
    return take_path(arguments, 0, &path) ? give_array(result, npy_load(arguments->context, path))
                                          : HOST_FAILED;
}

static HostStatus function_save(const Arguments *arguments, HostValue *result)
{
    const char *path;
    const Array *array;
    *result = (HostValue){.kind = HOST_NONE};
    if (!take_path(arguments, 0, &path) || !take_array(arguments, 1, "array", &array))
        return HOST_FAILED;
    return npy_save(arguments->context, path, array) ? HOST_OK : HOST_FAILED;
}

enum { TIME_GROUPS = 9, TIME_CALLS = 10 };

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* time(function): milliseconds a call, the median of some groups of calls after two that warm up;
 * the device has finished at the end of each group. */
static HostStatus function_time(const Arguments *arguments, HostValue *result)
{
    const HostValue *function = argument(arguments, 0, "function");
    HostValue ignored;
    double times[TIME_GROUPS];
    if (!function || function->kind != HOST_FUNCTION) {
        complain(arguments, "function", "a function without arguments");
        return HOST_FAILED;
    }
    for (int i = 0; i < 2; i++)
        if (!arguments->call->invoke(arguments->call, function, &ignored)) return HOST_FAILED;
    for (int group = 0; group < TIME_GROUPS; group++) {
        tile_synchronize(NULL);
        uint64_t start = os_now_ns();
        for (int i = 0; i < TIME_CALLS; i++)
            if (!arguments->call->invoke(arguments->call, function, &ignored)) return HOST_FAILED;
        tile_synchronize(NULL);
        times[group] = (double)(os_now_ns() - start) / TIME_CALLS / 1e6;
    }
    qsort(times, TIME_GROUPS, sizeof times[0], compare_numbers);
    *result = (HostValue){.kind = HOST_FLOAT, .number = times[TIME_GROUPS / 2]};
    return HOST_OK;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    HostStatus (*run)(const Arguments *arguments, HostValue *result);
} functions[] = {
    {"load", function_load},     {"save", function_save},     {"arange", function_arange},
    {"zeros", function_zeros},   {"empty", function_empty},   {"full", function_full},
    {"random", function_random}, {"matmul", function_matmul}, {"allclose", function_allclose},
    {"time", function_time},
};
enum { FUNCTION_TOTAL = sizeof functions / sizeof functions[0] };

static int find_function(const char *name)
{
    for (int i = 0; i < FUNCTION_TOTAL; i++)
        if (strcmp(functions[i].name, name) == 0) return i;
    return -1;
}

bool array_function_exists(const char *name)
{
    return find_function(name) >= 0;
}

HostStatus array_call(ArrayContext *context, const HostCall *call, HostValue *result)
{
    int index = find_function(call->name);
    if (index < 0) return HOST_UNKNOWN;
    const Arguments arguments = {context, call};
    return functions[index].run(&arguments, result);
}
