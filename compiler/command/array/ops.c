/* ops.c: operators of host arrays: blocks of elements are decoded, computed on and encoded.
 */
#include "command/array/arrays.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static HostStatus give(HostValue *result, Array *array)
{
    if (!array) return HOST_FAILED;
    *result = (HostValue){.kind = HOST_ARRAY, .array = array};
    return HOST_OK;
}

/* ---- element types ---- */

static int dtype_rank(DType dtype) /* a float beats an integer, more bits beat fewer */
{
    return (dtype_is_float(dtype) ? 1000 : 0) + dtype_bits(dtype) * 2 +
           (dtype_is_signed(dtype) ? 0 : 1);
}

static DType dtype_promote(DType a, DType b)
{
    if (a != b && dtype_bits(a) == 16 && dtype_bits(b) == 16 && dtype_is_float(a) &&
        dtype_is_float(b))
        return DTYPE_f32;
    return dtype_rank(a) >= dtype_rank(b) ? a : b;
}

/* A Python number takes the array's type; a float beside an array of integers makes f32. */
static DType scalar_dtype(const HostValue *scalar, DType array)
{
    if (scalar->kind == HOST_FLOAT && !dtype_is_float(array)) return DTYPE_f32;
    return array == DTYPE_b1 && scalar->kind == HOST_INT ? DTYPE_i32 : array;
}

/* ---- operators ---- */

static int64_t floor_divide(int64_t a, int64_t b)
{
    if (b == 0) return 0; /* as NumPy */
    if (b == -1) return (int64_t)(0 - (uint64_t)a);
    int64_t quotient = a / b;
    return a % b != 0 && (a % b < 0) != (b < 0) ? quotient - 1 : quotient;
}

static int64_t floor_modulo(int64_t a, int64_t b)
{
    return b == 0 ? 0 : (int64_t)((uint64_t)a - (uint64_t)floor_divide(a, b) * (uint64_t)b);
}

static int64_t shift_left(int64_t a, int64_t b)
{
    return b < 0 || b > 63 ? 0 : (int64_t)((uint64_t)a << b);
}

static int64_t shift_right(int64_t a, int64_t b)
{
    return b < 0 || b > 63 ? (a < 0 ? -1 : 0) : a >> b;
}

static int64_t power_of(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0; /* as torch */
    uint64_t power = 1, factor = (uint64_t)base;
    for (; exponent > 0; exponent >>= 1, factor *= factor)
        if (exponent & 1) power *= factor;
    return (int64_t)power;
}

double number_greater(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

double number_less(double a, double b)
{
    return a < b || isnan(a) ? a : b;
}

typedef void Loop(const Element *a, const Element *b, Element *out, int64_t count);

#define LOOP(name, type, from, to, expression)                                                     \
    static void loop_##name(const Element *a, const Element *b, Element *out, int64_t count)       \
    {                                                                                              \
        for (int64_t i = 0; i < count; i++) {                                                      \
            type x = (type)a[i].from, y = (type)b[i].from;                                         \
            out[i].to = (expression);                                                              \
        }                                                                                          \
    }
#define FLOATS(name, expression)   LOOP(name, double, f, f, expression)
#define INTEGERS(name, expression) LOOP(name, int64_t, i, i, expression)
#define UNSIGNED(name, expression) LOOP(name, uint64_t, i, i, (int64_t)(expression))
#define COMPARISON(name, op)                                                                       \
    LOOP(name##_f, double, f, i, x op y)                                                           \
    LOOP(name##_i, int64_t, i, i, x op y)                                                          \
    LOOP(name##_u, uint64_t, i, i, x op y)

FLOATS(add_f, x + y)
FLOATS(sub_f, x - y)
FLOATS(mul_f, x *y)
FLOATS(div_f, x / y)
FLOATS(floordiv_f, floor(x / y))
FLOATS(mod_f, x - floor(x / y) * y)
FLOATS(pow_f, pow(x, y))
FLOATS(greater_f, number_greater(x, y))
FLOATS(less_f, number_less(x, y))
FLOATS(hypot_f, hypot(x, y))
FLOATS(atan2_f, atan2(x, y))
FLOATS(copysign_f, copysign(x, y))
FLOATS(fmod_f, fmod(x, y))
UNSIGNED(add_i, x + y)
INTEGERS(pow_i, power_of(x, y))
INTEGERS(greater_i, x > y ? x : y)
UNSIGNED(greater_u, x > y ? x : y)
INTEGERS(less_i, x < y ? x : y)
UNSIGNED(less_u, x < y ? x : y)
INTEGERS(fmod_i, y == 0 || y == -1 ? 0 : x % y)
UNSIGNED(sub_i, x - y)
UNSIGNED(mul_i, x *y)
INTEGERS(floordiv_i, floor_divide(x, y))
UNSIGNED(floordiv_u, y == 0 ? 0 : x / y)
INTEGERS(mod_i, floor_modulo(x, y))
UNSIGNED(mod_u, y == 0 ? 0 : x % y)
UNSIGNED(and_i, x &y)
UNSIGNED(or_i, x | y)
UNSIGNED(xor_i, x ^ y)
INTEGERS(shl_i, shift_left(x, y))
INTEGERS(shr_i, shift_right(x, y))
UNSIGNED(shr_u, y > 63 ? 0 : x >> y)
COMPARISON(eq, ==)
COMPARISON(ne, !=)
COMPARISON(lt, <)
COMPARISON(le, <=)
COMPARISON(gt, >)
COMPARISON(ge, >=)
LOOP(both_f, double, f, i, x &&y)
LOOP(either_f, double, f, i, x || y)
INTEGERS(both_i, x &&y)
INTEGERS(either_i, x || y)
LOOP(one_f, double, f, i, (x != 0) != (y != 0))
INTEGERS(one_i, (x != 0) != (y != 0))

typedef struct Operation {
    const char *op;
    Loop *floats, *integers, *large; /* large: of u64, where it is not the signed loop */
    bool compares;
} Operation;

static const Operation operations[] = {
    {.op = "+", loop_add_f, loop_add_i, NULL},
    {.op = "-", loop_sub_f, loop_sub_i, NULL},
    {.op = "*", loop_mul_f, loop_mul_i, NULL},
    {.op = "/", loop_div_f, NULL, NULL},
    {.op = "//", loop_floordiv_f, loop_floordiv_i, loop_floordiv_u},
    {.op = "%", loop_mod_f, loop_mod_i, loop_mod_u},
    {.op = "**", loop_pow_f, loop_pow_i, NULL},
    {.op = "&", NULL, loop_and_i, NULL},
    {.op = "|", NULL, loop_or_i, NULL},
    {.op = "^", NULL, loop_xor_i, NULL},
    {.op = "<<", NULL, loop_shl_i, NULL},
    {.op = ">>", NULL, loop_shr_i, loop_shr_u},
    {.op = "==", loop_eq_f, loop_eq_i, loop_eq_u, true},
    {.op = "!=", loop_ne_f, loop_ne_i, loop_ne_u, true},
    {.op = "<", loop_lt_f, loop_lt_i, loop_lt_u, true},
    {.op = "<=", loop_le_f, loop_le_i, loop_le_u, true},
    {.op = ">", loop_gt_f, loop_gt_i, loop_gt_u, true},
    {.op = ">=", loop_ge_f, loop_ge_i, loop_ge_u, true},
    {.op = "maximum", loop_greater_f, loop_greater_i, loop_greater_u},
    {.op = "minimum", loop_less_f, loop_less_i, loop_less_u},
    {.op = "fmod", loop_fmod_f, loop_fmod_i, loop_mod_u},
    {.op = "hypot", loop_hypot_f},
    {.op = "atan2", loop_atan2_f},
    {.op = "copysign", loop_copysign_f},
    {.op = "logical_and", loop_both_f, loop_both_i, NULL, true},
    {.op = "logical_or", loop_either_f, loop_either_i, NULL, true},
    {.op = "logical_xor", loop_one_f, loop_one_i, NULL, true},
};

static const Operation *find_operation(const char *op)
{
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++)
        if (strcmp(operations[i].op, op) == 0) return &operations[i];
    return NULL;
}

static Loop *choose_loop(const Operation *operation, DType dtype)
{
    if (dtype_is_float(dtype)) return operation->floats;
    return dtype == DTYPE_u64 && operation->large ? operation->large : operation->integers;
}

/* ---- operands ---- */

typedef struct Operand {
    DType dtype;
    const Array *array; /* NULL: a number */
    Element number;
    char *bytes; /* the array's, stretched to the result's shape */
} Operand;

bool array_element(ArrayContext *context, DType dtype, const HostValue *number, Element *out)
{
    if (element_of(dtype, number, out)) return true;
    char text[ELEMENT_TEXT];
    const bool is_float = number->kind == HOST_FLOAT;
    element_text(is_float ? DTYPE_f64 : DTYPE_i64,
                 is_float ? (Element){.f = number->number} : (Element){.i = number->integer}, text);
    diag_report(context->session->diags, DIAG_element_range, context->at, text,
                dtype_user_name(dtype));
    return false;
}

static Operand array_operand(const Array *array)
{
    return (Operand){.dtype = array->dtype, .array = array};
}

/* A comparison may be with a number that no element can be. */
static bool operand_of(ArrayContext *context, const HostValue *value, DType other, bool compares,
                       Operand *out)
{
    if (value->kind == HOST_ARRAY) {
        *out = array_operand(value->array);
        return true;
    }
    *out = (Operand){.dtype = scalar_dtype(value, other), .number.i = value->integer};
    if (compares && !dtype_is_float(out->dtype)) return true;
    return array_element(context, out->dtype, value, &out->number);
}

static bool read_operand(ArrayContext *context, Operand *operand, int rank, const int64_t *shape)
{
    if (operand->array)
        operand->bytes =
            array_bytes(context, array_broadcast(context, operand->array, rank, shape));
    return !operand->array || operand->bytes;
}

enum { BLOCK = 1024 };

static void load_block(const Operand *operand, DType dtype, int64_t start, int64_t count,
                       Element *out)
{
    if (operand->array)
        elements_decode(operand->dtype, operand->bytes + start * dtype_bytes(operand->dtype), count,
                        out);
    else
        for (int64_t i = 0; i < count; i++) out[i] = operand->number;
    elements_convert(operand->dtype, dtype, count, out);
}

typedef struct Computation {
    Loop *loop; /* NULL: the first operand is copied */
    DType dtype, result;
    const Operand *a, *b;
} Computation;

static void compute(const Computation *computation, int64_t total, char *out)
{
    Element a[BLOCK], b[BLOCK], result[BLOCK];
    for (int64_t start = 0; start < total; start += BLOCK) {
        int64_t count = total - start < BLOCK ? total - start : BLOCK;
        load_block(computation->a, computation->dtype, start, count, a);
        if (computation->loop) {
            load_block(computation->b, computation->dtype, start, count, b);
            computation->loop(a, b, result, count);
        }
        elements_encode(computation->result, computation->loop ? result : a, count,
                        out + start * dtype_bytes(computation->result));
    }
}

static bool run_computation(ArrayContext *context, const Computation *computation, const Array *out)
{
    int64_t count = array_count(out);
    char *bytes = bytes_new(count, dtype_bytes(out->dtype));
    compute(computation, count, bytes);
    bool fine = array_store(context, out, bytes);
    free(bytes);
    return fine;
}

static bool broadcast_operands(ArrayContext *context, const Operand *a, const Operand *b, int *rank,
                               int64_t *shape)
{
    return shape_broadcast(context, a->array ? a->array->rank : 0,
                           a->array ? a->array->shape : NULL, b->array ? b->array->rank : 0,
                           b->array ? b->array->shape : NULL, rank, shape);
}

HostStatus array_binary(ArrayContext *context, const char *op, const HostValue *left,
                        const HostValue *right, HostValue *result)
{
    bool fine = (left->kind == HOST_ARRAY || value_is_number(left)) &&
                (right->kind == HOST_ARRAY || value_is_number(right));
    if (!fine) return HOST_UNKNOWN;
    if (strcmp(op, "@") == 0 && left->kind == right->kind)
        return give(result, array_multiply(context, left->array, right->array, NULL));
    const Operation *operation = find_operation(op);
    if (!operation) return HOST_UNKNOWN;
    const Array *some = left->kind == HOST_ARRAY ? left->array : right->array;
    const bool divides = strcmp(op, "/") == 0; /* gives floats: of integers, too */
    const DType other = divides && !dtype_is_float(some->dtype) ? DTYPE_f32 : some->dtype;
    Operand a, b;
    int rank;
    int64_t shape[ARRAY_RANK];
    if (!operand_of(context, left, other, operation->compares, &a) ||
        !operand_of(context, right, other, operation->compares, &b) ||
        !broadcast_operands(context, &a, &b, &rank, shape))
        return HOST_FAILED;
    DType dtype = dtype_promote(a.dtype, b.dtype);
    if (divides && !dtype_is_float(dtype)) dtype = DTYPE_f32;
    const Computation computation = {choose_loop(operation, dtype), dtype,
                                     operation->compares ? DTYPE_b1 : dtype, &a, &b};
    if (!computation.loop) {
        diag_report(context->session->diags, DIAG_array_operator, context->at);
        return HOST_FAILED;
    }
    Array *out = array_new(context, computation.result, rank, shape);
    if (out) array_take_after(out, 2, (const Array *const[]){a.array, b.array});
    fine = out && (!out->storage || (read_operand(context, &a, rank, shape) &&
                                     read_operand(context, &b, rank, shape) &&
                                     run_computation(context, &computation, out)));
    free(a.bytes);
    free(b.bytes);
    return give(result, fine ? out : NULL);
}

HostStatus array_unary(ArrayContext *context, const char *op, const HostValue *operand,
                       HostValue *result)
{
    const Array *array = operand->array;
    HostValue minus_one = {.kind = HOST_INT, .integer = -1}, zero = {.kind = HOST_INT};
    if (op[0] == '-' && dtype_is_float(array->dtype)) /* 0 - x would lose the sign of zero */
        return array_binary(context, "*", operand, &minus_one, result);
    if (op[0] == '-') return array_binary(context, "-", &zero, operand, result);
    if (op[0] == '~' && array->dtype == DTYPE_b1)
        return array_binary(context, "==", operand, &zero, result);
    if (op[0] == '~' && !dtype_is_float(array->dtype))
        return array_binary(context, "^", operand, &minus_one, result);
    if (op[0] != '+') return HOST_UNKNOWN;
    *result = *operand;
    return HOST_OK;
}

/* ---- by a condition ---- */

static void pick(const Operand *condition, const Operand *from[2], DType dtype, int64_t total,
                 char *out)
{
    Element which[BLOCK], made[2][BLOCK];
    for (int64_t start = 0; start < total; start += BLOCK) {
        const int64_t count = total - start < BLOCK ? total - start : BLOCK;
        load_block(condition, DTYPE_b1, start, count, which);
        for (int i = 0; i < 2; i++) load_block(from[i], dtype, start, count, made[i]);
        for (int64_t i = 0; i < count; i++) made[0][i] = made[which[i].i ? 0 : 1][i];
        elements_encode(dtype, made[0], count, out + start * dtype_bytes(dtype));
    }
}

static bool select_into(ArrayContext *context, Operand *condition, Operand *a, Operand *b,
                        const Array *out)
{
    const Operand *from[2] = {a, b};
    if (!read_operand(context, condition, out->rank, out->shape) ||
        !read_operand(context, a, out->rank, out->shape) ||
        !read_operand(context, b, out->rank, out->shape))
        return false;
    char *bytes = bytes_new(array_count(out), dtype_bytes(out->dtype));
    pick(condition, from, out->dtype, array_count(out), bytes);
    const bool fine = array_store(context, out, bytes);
    free(bytes);
    return fine;
}

static DType type_beside(const HostValue *other, DType condition)
{
    return other->kind == HOST_ARRAY ? ((const Array *)other->array)->dtype : condition;
}

Array *array_select(ArrayContext *context, const Array *condition, const HostValue *a,
                    const HostValue *b)
{
    Operand which = array_operand(condition), from[2];
    int rank, wide;
    int64_t shape[ARRAY_RANK], both[ARRAY_RANK];
    if (!operand_of(context, a, type_beside(b, which.dtype), false, &from[0]) ||
        !operand_of(context, b, type_beside(a, which.dtype), false, &from[1]) ||
        !broadcast_operands(context, &from[0], &from[1], &rank, shape) ||
        !shape_broadcast(context, condition->rank, condition->shape, rank, shape, &wide, both))
        return NULL;
    Array *out = array_new(context, dtype_promote(from[0].dtype, from[1].dtype), wide, both);
    if (!out) return NULL;
    array_take_after(out, 3, (const Array *const[]){from[0].array, from[1].array, condition});
    const bool fine = !out->storage || select_into(context, &which, &from[0], &from[1], out);
    free(which.bytes);
    free(from[0].bytes);
    free(from[1].bytes);
    return fine ? out : NULL;
}

/* ---- putting ---- */

bool array_assign(ArrayContext *context, const Array *view, const HostValue *value)
{
    int rank;
    int64_t shape[ARRAY_RANK];
    if (value->kind != HOST_ARRAY && !value_is_number(value)) {
        diag_report(context->session->diags, DIAG_not_elements, context->at);
        return false;
    }
    Operand source = {.dtype = view->dtype};
    if (value->kind == HOST_ARRAY) {
        source = array_operand(value->array);
        if (!shape_broadcast(context, view->rank, view->shape, source.array->rank,
                             source.array->shape, &rank, shape))
            return false;
        if (rank != view->rank || memcmp(shape, view->shape, sizeof *shape * (size_t)rank) != 0) {
            diag_report(context->session->diags, DIAG_larger_value, context->at);
            return false;
        }
    } else if (!array_element(context, view->dtype, value, &source.number)) {
        return false;
    }
    if (!view->storage) return true;
    const Computation copy = {NULL, view->dtype, view->dtype, &source, NULL};
    bool fine = read_operand(context, &source, view->rank, view->shape) &&
                run_computation(context, &copy, view);
    free(source.bytes);
    return fine;
}

Array *array_cast(ArrayContext *context, const Array *array, DType dtype)
{
    Array *out = array_new(context, dtype, array->rank, array->shape);
    if (!out) return NULL;
    array_take_after(out, 1, &array);
    const HostValue value = {.kind = HOST_ARRAY, .array = (void *)array};
    return array_assign(context, out, &value) ? out : NULL;
}
