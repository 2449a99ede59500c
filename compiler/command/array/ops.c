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
UNSIGNED(add_i, x + y)
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
    {.op = "**", loop_pow_f, NULL, NULL},
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

static ArrayFamily family_of(const Operand *a, const Operand *b)
{
    ArrayFamily x = a->array ? a->array->family : FAMILY_TILE,
                y = b->array ? b->array->family : FAMILY_TILE;
    return x > y ? x : y;
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
    if (out) out->family = family_of(&a, &b);
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
    out->family = array->family;
    const HostValue value = {.kind = HOST_ARRAY, .array = (void *)array};
    return array_assign(context, out, &value) ? out : NULL;
}
