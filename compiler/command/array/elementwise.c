/* elementwise.c: functions of one number, element by element: computed in float64, rounded to the
 * result's type. */
#include "command/array/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a function gives of an array of integers; floats keep their type, but for BOOLS. */
typedef enum Gives {
    FLOATS, /* float64 of numpy's arrays, else float32 */
    INTEGERS /* the array's own type, by the function of integers; NULL: they stay as they are */,
    BOOLS,
} Gives;

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double silu(double x)
{
    return x / (1 + exp(-x));
}
static double gelu(double x)
{
    return 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}
static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}
static double softplus(double x)
{
    return x > 20 ? x : log1p(exp(x));
}
static double mish(double x)
{
    return x * tanh(softplus(x));
}
static double relu(double x)
{
    return x < 0 ? 0 : x;
}
static double sign(double x)
{
    return isnan(x) ? x : (x > 0) - (x < 0);
}
static double square(double x)
{
    return x * x;
}
static double rsqrt(double x)
{
    return 1 / sqrt(x);
}
static double reciprocal(double x)
{
    return 1 / x;
}
static double is_nan(double x)
{
    return isnan(x);
}
static double is_infinite(double x)
{
    return isinf(x) != 0;
}
static double is_finite(double x)
{
    return isfinite(x);
}
static double logical_not(double x)
{
    return x == 0;
}

static int64_t magnitude_of(int64_t x, bool is_signed)
{
    return is_signed && x < 0 ? (int64_t)(0 - (uint64_t)x) : x;
}
static int64_t sign_of(int64_t x, bool is_signed)
{
    return is_signed && x < 0 ? -1 : x != 0;
}
static int64_t square_of(int64_t x, bool is_signed)
{
    (void)is_signed;
    return (int64_t)((uint64_t)x * (uint64_t)x);
}
static int64_t positive_of(int64_t x, bool is_signed)
{
    return is_signed && x < 0 ? 0 : x;
}

typedef int64_t OfIntegers(int64_t x, bool is_signed);

static const struct {
    const char *name;
    double (*floats)(double);
    Gives gives;
    OfIntegers *integers;
} FUNCTIONS[] = {
    {"exp", exp, FLOATS, NULL},
    {"exp2", exp2, FLOATS, NULL},
    {"expm1", expm1, FLOATS, NULL},
    {"log", log, FLOATS, NULL},
    {"log2", log2, FLOATS, NULL},
    {"log10", log10, FLOATS, NULL},
    {"log1p", log1p, FLOATS, NULL},
    {"sqrt", sqrt, FLOATS, NULL},
    {"rsqrt", rsqrt, FLOATS, NULL},
    {"cbrt", cbrt, FLOATS, NULL},
    {"reciprocal", reciprocal, FLOATS, NULL},
    {"sin", sin, FLOATS, NULL},
    {"cos", cos, FLOATS, NULL},
    {"tan", tan, FLOATS, NULL},
    {"asin", asin, FLOATS, NULL},
    {"acos", acos, FLOATS, NULL},
    {"atan", atan, FLOATS, NULL},
    {"sinh", sinh, FLOATS, NULL},
    {"cosh", cosh, FLOATS, NULL},
    {"tanh", tanh, FLOATS, NULL},
    {"asinh", asinh, FLOATS, NULL},
    {"acosh", acosh, FLOATS, NULL},
    {"atanh", atanh, FLOATS, NULL},
    {"erf", erf, FLOATS, NULL},
    {"erfc", erfc, FLOATS, NULL},
    {"lgamma", lgamma, FLOATS, NULL},
    {"sigmoid", sigmoid, FLOATS, NULL},
    {"silu", silu, FLOATS, NULL},
    {"gelu", gelu, FLOATS, NULL},
    {"gelu_tanh", gelu_tanh, FLOATS, NULL},
    {"softplus", softplus, FLOATS, NULL},
    {"mish", mish, FLOATS, NULL},
    {"abs", fabs, INTEGERS, magnitude_of},
    {"sign", sign, INTEGERS, sign_of},
    {"square", square, INTEGERS, square_of},
    {"relu", relu, INTEGERS, positive_of},
    {"floor", floor, INTEGERS, NULL},
    {"ceil", ceil, INTEGERS, NULL},
    {"trunc", trunc, INTEGERS, NULL},
    {"round", rint, INTEGERS, NULL},
    {"isnan", is_nan, BOOLS, NULL},
    {"isinf", is_infinite, BOOLS, NULL},
    {"isfinite", is_finite, BOOLS, NULL},
    {"logical_not", logical_not, BOOLS, NULL},
};
enum { FUNCTION_TOTAL = sizeof FUNCTIONS / sizeof FUNCTIONS[0] };

static DType result_dtype(const Array *array, int row)
{
    if (FUNCTIONS[row].gives == BOOLS) return DTYPE_b1;
    if (dtype_is_float(array->dtype) || FUNCTIONS[row].gives == INTEGERS) return array->dtype;
    return array->family == FAMILY_NUMPY ? DTYPE_f64 : DTYPE_f32;
}

static Element result_of(DType from, DType to, Element element, int row)
{
    if (dtype_is_float(to))
        return (Element){.f = FUNCTIONS[row].floats(element_number(from, element))};
    if (FUNCTIONS[row].gives == BOOLS)
        return (Element){.i = FUNCTIONS[row].floats(element_number(from, element)) != 0};
    OfIntegers *integers = FUNCTIONS[row].integers;
    return integers ? (Element){.i = integers(element.i, dtype_is_signed(from))} : element;
}

static Array *apply(ArrayContext *context, const Array *array, int row)
{
    const DType dtype = result_dtype(array, row);
    Array *out = array_new(context, dtype, array->rank, array->shape);
    if (!out) return NULL;
    array_take_after(out, 1, &array);
    Elements elements;
    if (!out->storage) return out;
    if (!array_read(context, array, &elements)) return NULL;
    for (int64_t i = 0; i < elements.count; i++)
        elements.items[i] = result_of(array->dtype, dtype, elements.items[i], row);
    const bool fine = array_write(context, out, &elements);
    free(elements.items);
    return fine ? out : NULL;
}

bool array_apply(ArrayContext *context, const char *name, const Array *array, Array **result)
{
    for (int row = 0; row < FUNCTION_TOTAL; row++) {
        if (strcmp(FUNCTIONS[row].name, name) != 0) continue;
        *result = apply(context, array, row);
        return true;
    }
    return false;
}
