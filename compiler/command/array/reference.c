/* reference.c: reductions, scans and functions of arrays in float64, to check kernels
 * against: reference("sum", a, axis), reference("cumsum", a, axis), reference("exp", a). */
#include "command/array/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double add(double a, double b)
{
    return a + b;
}
static double multiply(double a, double b)
{
    return a * b;
}
static double any(double a, double b)
{
    return a != 0 || b != 0;
}
static double all(double a, double b)
{
    return a != 0 && b != 0;
}

/* An array's elements along an axis, as `before` lines of `count` elements that lie `after` apart.
 */
typedef struct Lines {
    int64_t before, count, after;
} Lines;

typedef double Fold(double a, double b);

static const struct {
    const char *name;
    Fold *fold;
    double start;
    bool scans;
} FOLDS[] = {
    {"sum", add, 0, false},
    {"prod", multiply, 1, false},
    {"max", fmax, -INFINITY, false},
    {"min", fmin, INFINITY, false},
    {"any", any, 0, false},
    {"all", all, 1, false},
    {"cumsum", add, 0, true},
    {"cumprod", multiply, 1, true},
    {"cummax", fmax, -INFINITY, true},
};

static const struct {
    const char *name;
    double (*apply)(double);
} FUNCTIONS[] = {
    {"exp", exp},   {"exp2", exp2}, {"log", log},    {"sin", sin},     {"cos", cos},
    {"sqrt", sqrt}, {"abs", fabs},  {"round", rint}, {"floor", floor},
};

static void fold_line(const double *from, Element *to, Lines lines, int row)
{
    double value = FOLDS[row].start;
    for (int64_t i = 0; i < lines.count; i++) {
        value = FOLDS[row].fold(value, from[i * lines.after]);
        if (FOLDS[row].scans) to[i * lines.after].f = value;
    }
    if (!FOLDS[row].scans) to[0].f = value;
}

static void fold_all(const double *from, Element *to, Lines lines, int row)
{
    const int64_t step = FOLDS[row].scans ? lines.count : 1;
    for (int64_t b = 0; b < lines.before; b++)
        for (int64_t a = 0; a < lines.after; a++)
            fold_line(from + b * lines.count * lines.after + a, to + b * step * lines.after + a,
                      lines, row);
}

static double *numbers_of(ArrayContext *context, const Array *array)
{
    Elements elements;
    if (!array_read(context, array, &elements)) return NULL;
    double *numbers = bytes_new(elements.count + 1, sizeof *numbers);
    for (int64_t i = 0; i < elements.count; i++)
        numbers[i] = element_number(array->dtype, elements.items[i]);
    free(elements.items);
    return numbers;
}

/* Without an axis the array counts as one line. */
static Array *folded(ArrayContext *context, const Array *array, int axis, int row)
{
    Lines lines = {1, array_count(array), 1};
    int64_t shape[ARRAY_RANK];
    int rank = 0;
    for (int d = 0; axis >= 0 && d < array->rank; d++) {
        if (d < axis) lines.before *= array->shape[d];
        if (d > axis) lines.after *= array->shape[d];
        if (d != axis || FOLDS[row].scans) shape[rank++] = array->shape[d];
    }
    if (axis >= 0) lines.count = array->shape[axis];
    if (rank == 0) shape[rank++] = FOLDS[row].scans ? lines.count : 1;
    double *numbers = numbers_of(context, array);
    if (!numbers) return NULL;
    const int64_t count = lines.before * lines.after * (FOLDS[row].scans ? lines.count : 1);
    Elements elements = {bytes_new(count + 1, sizeof(Element)), count};
    fold_all(numbers, elements.items, lines, row);
    Array *result = array_from_elements(context, DTYPE_f64, rank, shape, &elements);
    free(elements.items);
    free(numbers);
    return result;
}

static Array *applied(ArrayContext *context, const Array *array, int row)
{
    double *numbers = numbers_of(context, array);
    if (!numbers) return NULL;
    const int64_t count = array_count(array);
    Elements elements = {bytes_new(count + 1, sizeof(Element)), count};
    for (int64_t i = 0; i < count; i++) elements.items[i].f = FUNCTIONS[row].apply(numbers[i]);
    Array *result = array_from_elements(context, DTYPE_f64, array->rank, array->shape, &elements);
    free(elements.items);
    free(numbers);
    return result;
}

bool array_reference(ArrayContext *context, const char *name, const Array *array, int axis,
                     Array **result)
{
    for (size_t i = 0; i < sizeof FOLDS / sizeof *FOLDS; i++)
        if (strcmp(FOLDS[i].name, name) == 0) {
            *result = folded(context, array, axis, (int)i);
            return true;
        }
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof *FUNCTIONS; i++)
        if (strcmp(FUNCTIONS[i].name, name) == 0) {
            *result = applied(context, array, (int)i);
            return true;
        }
    return false;
}
