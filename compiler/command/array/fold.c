/* fold.c: reductions and scans along an axis. Floats are summed in float64. */
#include "command/array/lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- of two ---- */

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
static int64_t add_integers(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static int64_t multiply_integers(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
static int64_t greater_integer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t less_integer(int64_t a, int64_t b)
{
    return a < b ? a : b;
}
static int64_t any_integer(int64_t a, int64_t b)
{
    return a || b;
}
static int64_t all_integers(int64_t a, int64_t b)
{
    return a && b;
}

/* ---- the table ---- */

typedef enum Gives {
    SUMS,   /* of integers 64 bits */
    MEANS,  /* of integers floats */
    SAME,   /* the array's own type; there must be an element */
    BOOLS,  /* whether numbers are zero counts */
    PLACES, /* where on the axis the first is that stays, int64 */
} Gives;

typedef struct Fold {
    const char *name;
    double (*floats)(double a, double b);
    int64_t (*integers)(int64_t a, int64_t b);
    int start; /* of SUMS, MEANS and BOOLS */
    Gives gives;
    bool scans;
} Fold;

static const Fold FOLDS[] = {
    {"sum", add, add_integers, 0, SUMS, false},
    {"prod", multiply, multiply_integers, 1, SUMS, false},
    {"mean", add, add_integers, 0, MEANS, false},
    {"max", number_greater, greater_integer, 0, SAME, false},
    {"min", number_less, less_integer, 0, SAME, false},
    {"any", any, any_integer, 0, BOOLS, false},
    {"all", all, all_integers, 1, BOOLS, false},
    {"argmax", number_greater, greater_integer, 0, PLACES, false},
    {"argmin", number_less, less_integer, 0, PLACES, false},
    {"cumsum", add, add_integers, 0, SUMS, true},
    {"cumprod", multiply, multiply_integers, 1, SUMS, true},
    {"cummax", number_greater, greater_integer, 0, SAME, true},
    {"cummin", number_less, less_integer, 0, SAME, true},
};
enum { FOLD_TOTAL = sizeof FOLDS / sizeof FOLDS[0] };

static const Fold *find_fold(const char *name)
{
    for (int i = 0; i < FOLD_TOTAL; i++)
        if (strcmp(FOLDS[i].name, name) == 0) return &FOLDS[i];
    return NULL;
}

/* Whether it begins with a line's first element, and compares. */
static bool compares(const Fold *fold)
{
    return fold->gives == SAME || fold->gives == PLACES;
}

static DType result_dtype(const Array *array, const Fold *fold)
{
    const DType dtype = array->dtype;
    const bool is_numpy = array->family == FAMILY_NUMPY;
    if (fold->gives == BOOLS) return DTYPE_b1;
    if (fold->gives == PLACES) return DTYPE_i64;
    if (fold->gives == SAME || dtype_is_float(dtype)) return dtype;
    if (fold->gives == MEANS) return is_numpy ? DTYPE_f64 : DTYPE_f32;
    return is_numpy && dtype != DTYPE_b1 && !dtype_is_signed(dtype) ? DTYPE_u64 : DTYPE_i64;
}

/* ---- along a line ---- */

static bool stays(const Fold *fold, bool floats, Element value, Element next)
{
    if (floats) {
        const double kept = fold->floats(value.f, next.f);
        return kept == value.f || isnan(value.f);
    }
    return fold->integers(value.i, next.i) == value.i;
}

static Element fold_two(const Fold *fold, bool floats, Element a, Element b)
{
    return floats ? (Element){.f = fold->floats(a.f, b.f)}
                  : (Element){.i = fold->integers(a.i, b.i)};
}

static void fold_line(const Fold *fold, bool floats, const Element *from, Element *to, Lines lines)
{
    const bool begins = compares(fold);
    Element value = floats ? (Element){.f = fold->start} : (Element){.i = fold->start};
    int64_t index = 0;
    if (begins && lines.count > 0) value = from[0];
    for (int64_t i = 0; i < lines.count; i++) {
        const Element next = from[i * lines.after];
        if (fold->gives != PLACES || !stays(fold, floats, value, next)) {
            value = begins && i == 0 ? next : fold_two(fold, floats, value, next);
            index = i;
        }
        if (fold->scans) to[i * lines.after] = value;
    }
    if (!fold->scans) to[0] = fold->gives == PLACES ? (Element){.i = index} : value;
}

/* Without their highest bit's meaning turned around, u64 would compare as signed. */
static void turn(const Array *array, DType dtype, Elements *elements)
{
    if (array->dtype != DTYPE_u64 || dtype == DTYPE_b1) return;
    for (int64_t i = 0; i < elements->count; i++) elements->items[i].i ^= INT64_MIN;
}

static void finish(const Array *array, const Fold *fold, DType dtype, Lines lines, Elements *out)
{
    const bool was_float = dtype_is_float(array->dtype);
    if (fold->gives == BOOLS && was_float)
        elements_convert(DTYPE_f64, DTYPE_b1, out->count, out->items);
    if (fold->gives != MEANS) return;
    if (!was_float)
        elements_convert(array->dtype == DTYPE_u64 ? DTYPE_u64 : DTYPE_i64, dtype, out->count,
                         out->items);
    for (int64_t i = 0; i < out->count; i++) out->items[i].f /= (double)lines.count;
}

static bool fold_into(ArrayContext *context, const Array *array, int axis, const Fold *fold,
                      const Array *out)
{
    const Lines lines = lines_of(array, axis);
    const int64_t made = fold->scans ? lines.count : 1;
    const bool floats = dtype_is_float(array->dtype);
    Elements from;
    if (!array_read(context, array, &from)) return false;
    Elements to = {bytes_new(array_count(out) + 1, sizeof(Element)), array_count(out)};
    if (compares(fold)) turn(array, array->dtype, &from);
    for (int64_t line = 0; line < lines.before * lines.after; line++)
        fold_line(fold, floats, from.items + line_start(lines, line, lines.count),
                  to.items + line_start(lines, line, made), lines);
    if (fold->gives == SAME) turn(array, array->dtype, &to);
    finish(array, fold, out->dtype, lines, &to);
    const bool fine = array_write(context, out, &to);
    free(from.items);
    free(to.items);
    return fine;
}

bool array_fold_exists(const char *name)
{
    return find_fold(name) != NULL;
}

bool array_fold_needs_element(const char *name)
{
    const Fold *fold = find_fold(name);
    return !fold->scans && compares(fold);
}

Array *array_fold(ArrayContext *context, const char *name, const Array *array, int axis)
{
    const Fold *fold = find_fold(name);
    int64_t shape[ARRAY_RANK];
    int rank = 0;
    for (int d = 0; d < array->rank; d++)
        if (d != axis || fold->scans) shape[rank++] = array->shape[d];
    Array *out = array_new(context, result_dtype(array, fold), rank, shape);
    if (!out) return NULL;
    array_take_after(out, 1, &array);
    if (!out->storage) return out;
    return fold_into(context, array, axis, fold, out) ? out : NULL;
}
