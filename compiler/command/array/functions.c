/* functions.c: the functions of tile.host. */
#include "command/array/arguments.h"

#include "tile/tile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- making arrays ---- */

/* Fills elements [start, start + count) of an array. */
typedef void Filler(const void *state, DType dtype, int64_t start, int64_t count, Element *out);

enum { BLOCK = 1024 };

static HostStatus make_array(const Arguments *arguments, DType dtype, int rank,
                             const int64_t *shape, Filler *fill, const void *state,
                             HostValue *result)
{
    Array *array = array_new(arguments->context, dtype, rank, shape);
    if (!array) return HOST_FAILED;
    if (!array->storage) return give_array(result, array);
    int64_t total = array_count(array), size = dtype_bytes(dtype);
    char *bytes = bytes_new(total, (int)size);
    Element block[BLOCK];
    for (int64_t start = 0; start < total; start += BLOCK) {
        int64_t count = total - start < BLOCK ? total - start : BLOCK;
        fill(state, dtype, start, count, block);
        elements_encode(dtype, block, count, bytes + start * size);
    }
    bool fine = array_store(arguments->context, array, bytes);
    free(bytes);
    return fine ? give_array(result, array) : HOST_FAILED;
}

static void fill_same(const void *state, DType dtype, int64_t start, int64_t count, Element *out)
{
    (void)dtype, (void)start;
    for (int64_t i = 0; i < count; i++) out[i] = *(const Element *)state;
}

typedef struct Progression {
    double start, step;
    bool is_whole; /* its numbers are integers, which go around where the type ends */
    uint64_t whole_start, whole_step;
} Progression;

static void fill_progression(const void *state, DType dtype, int64_t start, int64_t count,
                             Element *out)
{
    const Progression *progression = state;
    const bool is_float = dtype_is_float(dtype);
    for (int64_t i = 0; i < count; i++) {
        const double number = progression->start + progression->step * (double)(start + i);
        if (is_float)
            out[i].f = number;
        else if (progression->is_whole)
            out[i].i = (int64_t)(progression->whole_start +
                                 progression->whole_step * (uint64_t)(start + i));
        else
            out[i].i = (int64_t)number;
    }
}

/* SplitMix64 (Steele, Lea and Flood 2014): element i of a seed is the same on every machine. */
static inline uint64_t random_bits(uint64_t seed, int64_t index)
{
    uint64_t x =
        seed * UINT64_C(0xD1342543DE82EF95) + ((uint64_t)index + 1) * UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

/* Floats are uniform in [-1, 1), integers in [-64, 63] (unsigned: [0, 127]). */
static void fill_random(const void *state, DType dtype, int64_t start, int64_t count, Element *out)
{
    uint64_t seed = *(const uint64_t *)state;
    int64_t shift = dtype_is_signed(dtype) ? 64 : 0;
    for (int64_t i = 0; i < count; i++) {
        uint64_t bits = random_bits(seed, start + i);
        if (dtype_is_float(dtype))
            out[i].f = (double)(bits >> 11) * 0x1p-52 - 1.0;
        else
            out[i].i = dtype == DTYPE_b1 ? (int64_t)(bits >> 63) : (int64_t)(bits >> 57) - shift;
    }
}

/* Floats in [0, 1). */
static void fill_uniform(const void *state, DType dtype, int64_t start, int64_t count, Element *out)
{
    uint64_t seed = *(const uint64_t *)state;
    (void)dtype;
    for (int64_t i = 0; i < count; i++)
        out[i].f = (double)(random_bits(seed, start + i) >> 11) * 0x1p-53;
}

/* Box and Muller's pairs; elements 2 j and 2 j + 1 of one pair of numbers (a block starts at an
 * even one). f32 is exact enough: the tails end at 6.6 standard deviations. */
static void fill_normal(const void *state, DType dtype, int64_t start, int64_t count, Element *out)
{
    uint64_t seed = *(const uint64_t *)state;
    (void)dtype;
    for (int64_t i = 0; i < count; i += 2) {
        uint64_t bits = random_bits(seed, start + i);
        float radius = sqrtf(-2.0f * logf(((float)(bits >> 33) + 1.0f) * 0x1p-31f));
        float angle = (float)(bits & 0x7fffffff) * (float)(0x1p-31 * 6.283185307179586);
        float sine, cosine;
        sincosf(angle, &sine, &cosine);
        out[i].f = radius * cosine;
        if (i + 1 < count) out[i + 1].f = radius * sine;
    }
}

static HostStatus function_full(const Arguments *arguments, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    const HostValue *number;
    DType dtype;
    Element value;
    if (!take_shape(arguments, 0, &rank, shape) ||
        !(number = take_value(arguments, 1, "value", NULL)) ||
        !take_dtype(arguments, 2, DTYPE_f32, &dtype) ||
        !array_element(arguments->context, dtype, number, &value))
        return HOST_FAILED;
    return make_array(arguments, dtype, rank, shape, fill_same, &value, result);
}

/* Of one number in all elements. */
static HostStatus fill_number(const Arguments *arguments, int64_t number, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    DType dtype;
    Element value;
    const HostValue given = {.kind = HOST_INT, .integer = number};
    if (!take_shape(arguments, 0, &rank, shape) || !take_dtype(arguments, 1, DTYPE_f32, &dtype) ||
        !array_element(arguments->context, dtype, &given, &value))
        return HOST_FAILED;
    return make_array(arguments, dtype, rank, shape, fill_same, &value, result);
}

static HostStatus function_zeros(const Arguments *arguments, HostValue *result)
{
    return fill_number(arguments, 0, result);
}

static HostStatus function_ones(const Arguments *arguments, HostValue *result)
{
    return fill_number(arguments, 1, result);
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

/* False: reported. Of floats in an array of integers, both ends must fit. */
static bool take_progression(const Arguments *arguments, DType dtype, int64_t count,
                             Progression *out)
{
    static const HostValue zero = {.kind = HOST_INT, .integer = 0},
                           one = {.kind = HOST_INT, .integer = 1};
    const HostValue *start = take_value(arguments, 2, "start", &zero),
                    *step = start ? take_value(arguments, 3, "step", &one) : NULL;
    if (!step) return false;
    out->start = value_number(start);
    out->step = value_number(step);
    out->is_whole = start->kind != HOST_FLOAT && step->kind != HOST_FLOAT;
    out->whole_start = (uint64_t)start->integer;
    out->whole_step = (uint64_t)step->integer;
    const double end = out->start + out->step * (double)(count - 1);
    const HostValue ends[] = {{.kind = HOST_FLOAT, .number = out->start},
                              {.kind = HOST_FLOAT, .number = end}};
    Element ignored;
    return out->is_whole || count <= 0 ||
           (array_element(arguments->context, dtype, &ends[0], &ignored) &&
            array_element(arguments->context, dtype, &ends[1], &ignored));
}

/* arange(n, dtype, start=0, step=1): n elements; integers go around where their type ends. */
static HostStatus function_arange(const Arguments *arguments, HostValue *result)
{
    int64_t count;
    Progression progression;
    DType dtype;
    if (!take_integer(arguments, 0, "n", INT64_MIN, &count) ||
        !take_dtype(arguments, 1, DTYPE_i32, &dtype) ||
        !take_progression(arguments, dtype, count, &progression))
        return HOST_FAILED;
    const int64_t shape[] = {count};
    return make_array(arguments, dtype, 1, shape, fill_progression, &progression, result);
}

static HostStatus make_random(const Arguments *arguments, Filler *fill, HostValue *result)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    int64_t seed;
    DType dtype;
    if (!take_shape(arguments, 0, &rank, shape) || !take_dtype(arguments, 1, DTYPE_f32, &dtype) ||
        !take_integer(arguments, 2, "seed", 0, &seed))
        return HOST_FAILED;
    if (fill != fill_random && !dtype_is_float(dtype)) {
        complain(arguments, "dtype", "a float type");
        return HOST_FAILED;
    }
    const uint64_t state = (uint64_t)seed;
    return make_array(arguments, dtype, rank, shape, fill, &state, result);
}

static HostStatus function_random(const Arguments *arguments, HostValue *result)
{
    return make_random(arguments, fill_random, result);
}

static HostStatus function_random_uniform(const Arguments *arguments, HostValue *result)
{
    return make_random(arguments, fill_uniform, result);
}

static HostStatus function_random_normal(const Arguments *arguments, HostValue *result)
{
    return make_random(arguments, fill_normal, result);
}

/* ---- checking ---- */

static bool is_close(double a, double b, double relative, double absolute)
{
    return a == b || fabs(a - b) <= absolute + relative * fabs(b); /* NaN is close to nothing */
}

/* Integers of 64 bits have digits that a double has not: of them, in long double. */
static bool is_exact(DType dtype)
{
    return !dtype_is_float(dtype) && dtype_bits(dtype) == 64;
}

static long double exactly(DType dtype, Element element)
{
    if (dtype_is_float(dtype)) return element.f;
    return dtype == DTYPE_u64 ? (long double)(uint64_t)element.i : (long double)element.i;
}

static bool is_close_exactly(long double a, long double b, double relative, double absolute)
{
    return a == b || fabsl(a - b) <= absolute + relative * fabsl(b);
}

typedef struct Comparison {
    DType a_dtype, b_dtype;
    const char *a, *b; /* bytes */
    double relative, absolute;
    int64_t first, count; /* of what differs */
} Comparison;

static void element_text_at(DType dtype, const char *bytes, int64_t index, char text[ELEMENT_TEXT])
{
    element_text(dtype, element_decode(dtype, bytes + index * dtype_bytes(dtype)), text);
}

static void remark_difference(const Arguments *arguments, const Array *shape,
                              const Comparison *comparison)
{
    Buf coordinates = {0};
    const int64_t first = comparison->first;
    char a[ELEMENT_TEXT], b[ELEMENT_TEXT];
    element_text_at(comparison->a_dtype, comparison->a, first, a);
    element_text_at(comparison->b_dtype, comparison->b, first, b);
    for (int i = 0; i < shape->rank; i++) {
        int64_t below = 1;
        for (int j = i + 1; j < shape->rank; j++) below *= shape->shape[j];
        buf_printf(&coordinates, "%s%lld", i ? ", " : "",
                   (long long)(first / below % shape->shape[i]));
    }
    diag_report(arguments->context->session->diags, DIAG_not_close, arguments->context->at,
                (long long)comparison->count, (long long)array_count(shape),
                coordinates.data ? coordinates.data : "", a, b);
    buf_free(&coordinates);
}

static void compare_block(Comparison *comparison, int64_t start, int64_t count)
{
    Element a[BLOCK], b[BLOCK];
    DType x = comparison->a_dtype, y = comparison->b_dtype;
    elements_decode(x, comparison->a + start * dtype_bytes(x), count, a);
    elements_decode(y, comparison->b + start * dtype_bytes(y), count, b);
    const bool exact = is_exact(x) || is_exact(y);
    if (!exact) {
        elements_convert(x, DTYPE_f64, count, a);
        elements_convert(y, DTYPE_f64, count, b);
    }
    const double relative = comparison->relative, absolute = comparison->absolute;
    for (int64_t i = 0; i < count; i++) {
        if (exact ? is_close_exactly(exactly(x, a[i]), exactly(y, b[i]), relative, absolute)
                  : is_close(a[i].f, b[i].f, relative, absolute))
            continue;
        if (comparison->count++ == 0) comparison->first = start + i;
    }
}

/* allclose(a, b, rtol, atol): |a - b| <= atol + rtol * |b| for each element; what differs is told
 * in a remark. */
static HostStatus function_allclose(const Arguments *arguments, HostValue *result)
{
    const Array *a, *b;
    Comparison comparison = {0};
    if (!take_array(arguments, 0, "a", &a) || !take_array(arguments, 1, "b", &b) ||
        !take_number(arguments, 2, "rtol", 1e-5, &comparison.relative) ||
        !take_number(arguments, 3, "atol", 1e-8, &comparison.absolute))
        return HOST_FAILED;
    int rank;
    int64_t shape[ARRAY_RANK];
    ArrayContext *context = arguments->context;
    if (!shape_broadcast(context, a->rank, a->shape, b->rank, b->shape, &rank, shape))
        return HOST_FAILED;
    const Array *wide = array_broadcast(context, a, rank, shape);
    char *x = array_bytes(context, wide),
         *y = x ? array_bytes(context, array_broadcast(context, b, rank, shape)) : NULL;
    comparison.a_dtype = a->dtype;
    comparison.b_dtype = b->dtype;
    comparison.a = x;
    comparison.b = y;
    int64_t total = array_count(wide);
    for (int64_t start = 0; y && start < total; start += BLOCK)
        compare_block(&comparison, start, total - start < BLOCK ? total - start : BLOCK);
    if (y && comparison.count) remark_difference(arguments, wide, &comparison);
    bool fine = y != NULL;
    free(x);
    free(y);
    return fine ? give_bool(result, comparison.count == 0) : HOST_FAILED;
}

/* matmul(a, b, out=None) */
static HostStatus function_matmul(const Arguments *arguments, HostValue *result)
{
    const Array *a, *b;
    const HostValue *out = argument(arguments, 2, "out");
    if (!take_array(arguments, 0, "a", &a) || !take_array(arguments, 1, "b", &b))
        return HOST_FAILED;
    if (out && out->kind != HOST_NONE && out->kind != HOST_ARRAY) {
        complain(arguments, "out", "an array");
        return HOST_FAILED;
    }
    return give_array(result, array_multiply(arguments->context, a, b,
                                             out && out->kind == HOST_ARRAY ? out->array : NULL));
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

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool call_often(const HostCall *call, const HostValue *function, int count)
{
    HostValue ignored;
    for (int i = 0; i < count; i++)
        if (!call->invoke(call, function, &ignored)) return false;
    return true;
}

/* time(function, warmup=2, repeat=9, number=10): milliseconds a call, the median of `repeat` groups
 * of `number` calls after those that warm up; the device has finished at the end of each group. */
static HostStatus function_time(const Arguments *arguments, HostValue *result)
{
    const HostValue *function = argument(arguments, 0, "function");
    double warmup, repeat, number;
    if (!function || function->kind != HOST_FUNCTION) {
        complain(arguments, "function", "a function without arguments");
        return HOST_FAILED;
    }
    if (!take_number(arguments, 1, "warmup", 2, &warmup) ||
        !take_number(arguments, 2, "repeat", 9, &repeat) ||
        !take_number(arguments, 3, "number", 10, &number))
        return HOST_FAILED;
    int groups = repeat >= 1 && repeat <= 10000 ? (int)repeat : 1;
    int calls = number >= 1 && number <= 1e9 ? (int)number : 1;
    double *times = arena_new_array(arguments->context->arena, double, groups);
    if (!call_often(arguments->call, function, warmup >= 0 && warmup <= 1e9 ? (int)warmup : 0))
        return HOST_FAILED;
    for (int group = 0; group < groups; group++) {
        tile_synchronize(NULL);
        uint64_t start = os_now_ns();
        if (!call_often(arguments->call, function, calls)) return HOST_FAILED;
        tile_synchronize(NULL);
        times[group] = (double)(os_now_ns() - start) / calls / 1e6;
    }
    qsort(times, (size_t)groups, sizeof times[0], compare_numbers);
    *result = (HostValue){.kind = HOST_FLOAT, .number = times[groups / 2]};
    return HOST_OK;
}

/* family(array, "torch", on_host): the same memory as an array of that kind: tile, numpy or torch.
 * Or one that takes after another one: family(array, other). */
static HostStatus function_family(const Arguments *arguments, HostValue *result)
{
    static const char *const names[] = {"tile", "numpy", "torch"};
    const Array *array;
    const HostValue *name = argument(arguments, 1, "name");
    const HostValue *on_host = argument(arguments, 2, "on_host");
    if (!take_array(arguments, 0, "array", &array)) return HOST_FAILED;
    if (name && name->kind == HOST_ARRAY) {
        Array *view = array_view(arguments->context, array);
        array_take_after(view, 1, (const Array *const[]){name->array});
        return give_array(result, view);
    }
    for (int i = 0; name && name->kind == HOST_TEXT && i < 3; i++) {
        if (strcmp(names[i], name->text) != 0) continue;
        Array *view = array_view(arguments->context, array);
        view->family = (ArrayFamily)i;
        if (on_host) view->on_host = on_host->integer != 0;
        return give_array(result, view);
    }
    complain(arguments, "name", "'tile', 'numpy' or 'torch'");
    return HOST_FAILED;
}

static HostStatus function_synchronize(const Arguments *arguments, HostValue *result)
{
    *result = (HostValue){.kind = HOST_NONE};
    if (tile_synchronize(NULL) == TILE_OK) return HOST_OK;
    ArrayContext *context = arguments->context;
    diag_report(context->session->diags, DIAG_device_failed, context->at, tile_last_error());
    return HOST_FAILED;
}

/* _seconds(): of a clock that never goes back. */
static HostStatus function_seconds(const Arguments *arguments, HostValue *result)
{
    (void)arguments;
    *result = (HostValue){.kind = HOST_FLOAT, .number = (double)os_now_ns() / 1e9};
    return HOST_OK;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    ArrayFunction *run;
} functions[] = {
    {"load", function_load},
    {"save", function_save},
    {"arange", function_arange},
    {"zeros", function_zeros},
    {"ones", function_ones},
    {"empty", function_empty},
    {"full", function_full},
    {"random", function_random},
    {"random_uniform", function_random_uniform},
    {"random_normal", function_random_normal},
    {"matmul", function_matmul},
    {"allclose", function_allclose},
    {"time", function_time},
    {"synchronize", function_synchronize},
    {"family", function_family},
    {"_seconds", function_seconds},
};
enum { FUNCTION_TOTAL = sizeof functions / sizeof functions[0] };

static ArrayFunction *find_function(const char *name)
{
    for (int i = 0; i < FUNCTION_TOTAL; i++)
        if (strcmp(functions[i].name, name) == 0) return functions[i].run;
    ArrayFunction *primitive = array_primitive(name);
    return primitive ? primitive : array_method(name);
}

bool array_function_exists(const char *name)
{
    return find_function(name) != NULL;
}

const char *array_function_name(size_t index)
{
    return index < FUNCTION_TOTAL ? functions[index].name
                                  : array_primitive_name(index - FUNCTION_TOTAL);
}

HostStatus array_call(ArrayContext *context, const HostCall *call, HostValue *result)
{
    ArrayFunction *function = find_function(call->name);
    if (!function) return HOST_UNKNOWN;
    const Arguments arguments = {context, call};
    return function(&arguments, result);
}
