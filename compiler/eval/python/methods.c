/* methods.c: methods of text, lists, dicts and element types, and the numbers of __math__. */
#include "eval/python/python.h"

#include <math.h>
#include <string.h>

/* ---- text ---- */

Object *text_join(Eval *eval, const Bound *bound)
{
    const Object *separator = bound->values[0];
    Object *items = eval->ops->iterate(eval, bound->values[1], bound->at);
    Buf buf = {0};
    bool good = items != NULL;
    for (uint32_t i = 0; good && i < items->as.list.count; i++) {
        const Object *item =
            text_argument(eval, items->as.list.items[i], "what is joined", bound->at);
        good = item != NULL;
        if (good && i > 0)
            good =
                text_add(eval, &buf, separator->as.text.data, separator->as.text.length, bound->at);
        if (good) good = text_add(eval, &buf, item->as.text.data, item->as.text.length, bound->at);
    }
    Object *result = good ? object_text(eval, buf.data, buf.length) : NULL;
    buf_free(&buf);
    return result;
}

static Object *map_letters(Eval *eval, const Object *text, char first, char last, int shift)
{
    char *copy = arena_copy_text(eval->arena, text->as.text.data, text->as.text.length);
    for (size_t i = 0; i < text->as.text.length; i++)
        if (copy[i] >= first && copy[i] <= last) copy[i] = (char)(copy[i] + shift);
    return object_text_adopt(eval, copy, text->as.text.length);
}

Object *text_upper(Eval *eval, const Bound *bound)
{
    return map_letters(eval, bound->values[0], 'a', 'z', 'A' - 'a');
}

Object *text_lower(Eval *eval, const Bound *bound)
{
    return map_letters(eval, bound->values[0], 'A', 'Z', 'a' - 'A');
}

Object *text_swapcase(Eval *eval, const Bound *bound)
{
    const Object *text = bound->values[0];
    char *copy = arena_copy_text(eval->arena, text->as.text.data, text->as.text.length);
    for (size_t i = 0; i < text->as.text.length; i++)
        if ((copy[i] >= 'a' && copy[i] <= 'z') || (copy[i] >= 'A' && copy[i] <= 'Z'))
            copy[i] ^= 'a' ^ 'A';
    return object_text_adopt(eval, copy, text->as.text.length);
}

Object *text_expandtabs(Eval *eval, const Bound *bound)
{
    const Object *text = bound->values[0];
    int64_t size = 8, column = 0;
    if (bound->values[1] != NULL && !object_as_int(eval, bound->values[1], "tabsize", &size))
        return NULL;
    if (size > 1000) return FAIL(eval, tab_size, bound->at);
    Buf buf = {0};
    bool good = true;
    for (size_t i = 0; good && i < text->as.text.length; i++) {
        const char c = text->as.text.data[i];
        const int64_t spaces = size > 0 ? size - column % size : 0;
        if (c != '\t') buf_char(&buf, c);
        for (int64_t s = 0; c == '\t' && s < spaces; s++) buf_char(&buf, ' ');
        if (c == '\t') good = text_grows(eval, &buf, (size_t)spaces, bound->at);
        column = c == '\n' || c == '\r' ? 0
                 : c == '\t'            ? column + spaces
                                        : column + !continues_character(c);
    }
    Object *result = good ? object_text(eval, buf.data, buf.length) : NULL;
    buf_free(&buf);
    return result;
}

/* An empty text stands before each character and at the end. */
static const char *find_replaced(const char *data, const char *end, const Object *old, bool first)
{
    if (old->as.text.length > 0) return find_part(data, end, old);
    if (first) return data;
    if (data == end) return NULL;
    for (data++; data < end && continues_character(*data); data++) continue;
    return data;
}

Object *text_replace(Eval *eval, const Bound *bound)
{
    const Object *old = text_argument(eval, bound->values[1], "what is replaced", bound->at);
    const Object *new =
        old != NULL ? text_argument(eval, bound->values[2], "the replacement", bound->at) : NULL;
    int64_t count = -1;
    if (new == NULL ||
        (bound->values[3] != NULL && !object_as_int(eval, bound->values[3], "the count", &count)))
        return NULL;
    if (count < 0) count = -1;
    const char *data = bound->values[0]->as.text.data,
               *end = data + bound->values[0]->as.text.length;
    Buf buf = {0};
    bool first = true, good = true;
    for (const char *next;
         good && count-- != 0 && (next = find_replaced(data, end, old, first)) != NULL;) {
        good = text_add(eval, &buf, data, (size_t)(next - data), bound->at) &&
               text_add(eval, &buf, new->as.text.data, new->as.text.length, bound->at);
        data = next + old->as.text.length;
        first = false;
    }
    good = good && text_add(eval, &buf, data, (size_t)(end - data), bound->at);
    Object *result = good ? object_text(eval, buf.data, buf.length) : NULL;
    buf_free(&buf);
    return result;
}

static bool begins_with(const Object *text, const Object *part)
{
    size_t length = part->as.text.length;
    return length <= text->as.text.length &&
           memcmp(text->as.text.data, part->as.text.data, length) == 0;
}

static bool ends_with(const Object *text, const Object *part)
{
    size_t length = part->as.text.length, whole = text->as.text.length;
    return length <= whole &&
           memcmp(text->as.text.data + whole - length, part->as.text.data, length) == 0;
}

/* One part, or any of a tuple. */
static Object *test_parts(Eval *eval, const Bound *bound,
                          bool (*test)(const Object *, const Object *), const char *what)
{
    Object *parts = bound->values[1];
    uint32_t count = object_is_sequence(parts) ? parts->as.list.count : 1;
    Object *const *items = object_is_sequence(parts) ? parts->as.list.items : &parts;
    for (uint32_t i = 0; i < count; i++) {
        const Object *part = text_argument(eval, items[i], what, bound->at);
        if (part == NULL) return NULL;
        if (test(bound->values[0], part)) return eval->yes;
    }
    return eval->no;
}

Object *text_startswith(Eval *eval, const Bound *bound)
{
    return test_parts(eval, bound, begins_with, "the prefix");
}

Object *text_endswith(Eval *eval, const Bound *bound)
{
    return test_parts(eval, bound, ends_with, "the suffix");
}

/* ---- lists ---- */

Object *list_method_append(Eval *eval, const Bound *bound)
{
    if (!list_may_change(eval, bound->values[0], bound->at)) return NULL;
    list_append(eval, bound->values[0], eval->ops->object_keep(eval, bound->values[1]));
    return eval->none;
}

Object *list_method_extend(Eval *eval, const Bound *bound)
{
    Object *items = list_may_change(eval, bound->values[0], bound->at)
                        ? eval->ops->iterate(eval, bound->values[1], bound->at)
                        : NULL;
    for (uint32_t i = 0; items != NULL && i < items->as.list.count; i++)
        list_append(eval, bound->values[0], items->as.list.items[i]);
    return items != NULL ? eval->none : NULL;
}

Object *list_method_insert(Eval *eval, const Bound *bound)
{
    int64_t position;
    Object *list = bound->values[0];
    if (!list_may_change(eval, list, bound->at) ||
        !object_as_int(eval, bound->values[1], "the index", &position))
        return NULL;
    int64_t count = list->as.list.count;
    position = position < 0 ? position + count : position;
    position = position < 0 ? 0 : position > count ? count : position;
    list_append(eval, list, bound->values[2]);
    memmove(list->as.list.items + position + 1, list->as.list.items + position,
            sizeof(Object *) * (size_t)(count - position));
    list->as.list.items[position] = eval->ops->object_keep(eval, bound->values[2]);
    return eval->none;
}

Object *list_method_pop(Eval *eval, const Bound *bound)
{
    Object *list = bound->values[0];
    Object *index = bound->values[1] != NULL ? bound->values[1] : object_int(eval, -1);
    int64_t position;
    if (!list_may_change(eval, list, bound->at) ||
        !normal_index(eval, list, index, list->as.list.count, bound->at, &position))
        return NULL;
    Object *item = list->as.list.items[position];
    size_t after = list->as.list.count - (size_t)position - 1;
    memmove(list->as.list.items + position, list->as.list.items + position + 1,
            sizeof(Object *) * after);
    list->as.list.count--;
    return item;
}

Object *list_method_index(Eval *eval, const Bound *bound)
{
    const Object *list = bound->values[0];
    for (uint32_t i = 0; i < list->as.list.count; i++)
        if (object_agrees(eval, list->as.list.items[i], bound->values[1]))
            return object_int(eval, i);
    return FAIL(eval, not_found, bound->at, object_repr(eval, bound->values[1]));
}

Object *list_method_count(Eval *eval, const Bound *bound)
{
    const Object *list = bound->values[0];
    int64_t count = 0;
    for (uint32_t i = 0; i < list->as.list.count; i++)
        count += object_agrees(eval, list->as.list.items[i], bound->values[1]);
    return object_int(eval, count);
}

Object *list_method_copy(Eval *eval, const Bound *bound)
{
    return object_list(eval, OBJECT_LIST, bound->values[0]->as.list.items,
                       bound->values[0]->as.list.count);
}

/* ---- dicts ---- */

Object *dict_method_get(Eval *eval, const Bound *bound)
{
    if (!key_is_fit(eval, bound->values[1], bound->at)) return NULL;
    Object *value = dict_get(eval, bound->values[0], bound->values[1]);
    if (value != NULL) return value;
    return bound->values[2] != NULL ? bound->values[2] : eval->none;
}

static Object *view_of(Eval *eval, Object *dict, const ObjectVec *parts)
{
    Object *view = object_list(eval, OBJECT_LIST, parts->data, parts->count);
    view->as.list.keyed = dict;
    return view;
}

Object *dict_method_keys(Eval *eval, const Bound *bound)
{
    return view_of(eval, bound->values[0], &bound->values[0]->as.dict.keys);
}

Object *dict_method_values(Eval *eval, const Bound *bound)
{
    return view_of(eval, bound->values[0], &bound->values[0]->as.dict.values);
}

Object *dict_method_items(Eval *eval, const Bound *bound)
{
    Object *dict = bound->values[0];
    Object *list = view_of(eval, dict, &(ObjectVec){0});
    for (size_t i = 0; i < dict->as.dict.keys.count; i++) {
        Object *pair[2] = {dict->as.dict.keys.data[i], dict->as.dict.values.data[i]};
        list_append(eval, list, object_list(eval, OBJECT_TUPLE, pair, 2));
    }
    return list;
}

static bool update_from(Eval *eval, Object *dict, Object *other, Span at)
{
    Object *const from = dict_from(eval, other, at);
    for (size_t i = 0; from != NULL && i < from->as.dict.keys.count; i++)
        if (!item_set(eval, dict, from->as.dict.keys.data[i], from->as.dict.values.data[i], at))
            return false;
    return from != NULL;
}

Object *dict_method_update(Eval *eval, const Bound *bound)
{
    Object *dict = bound->values[0];
    if (bound->rest->as.list.count > 1)
        return FAIL(eval, many_arguments, bound->at, "update()", 1, bound->rest->as.list.count);
    for (uint32_t i = 0; i < bound->rest->as.list.count; i++)
        if (!update_from(eval, dict, bound->rest->as.list.items[i], bound->at)) return NULL;
    return update_from(eval, dict, bound->values[1], bound->at) ? eval->none : NULL;
}

Object *dict_method_fromkeys(Eval *eval, const Bound *bound)
{
    Object *keys = eval->ops->iterate(eval, bound->values[0], bound->at);
    Object *dict = dict_new(eval);
    for (uint32_t i = 0; keys != NULL && i < keys->as.list.count; i++) {
        Object *key = keys->as.list.items[i];
        if (!key_is_fit(eval, key, bound->at)) return NULL;
        dict_set(eval, dict, key, bound->values[1] != NULL ? bound->values[1] : eval->none);
    }
    return keys != NULL ? dict : NULL;
}

Object *dict_method_setdefault(Eval *eval, const Bound *bound)
{
    if (!key_is_fit(eval, bound->values[1], bound->at)) return NULL;
    Object *value = dict_get(eval, bound->values[0], bound->values[1]);
    if (value != NULL) return value;
    value = bound->values[2] != NULL ? bound->values[2] : eval->none;
    return item_set(eval, bound->values[0], bound->values[1], value, bound->at) ? value : NULL;
}

/* ---- element types ---- */

Object *dtype_attribute_name(Eval *eval, const Bound *bound)
{
    const char *name = dtype_spelling(bound->values[0]);
    return object_text(eval, name, strlen(name));
}

/* As Tilus has it: f16, u8, bool. */
Object *dtype_attribute_short_name(Eval *eval, const Bound *bound)
{
    const DType dtype = bound->values[0]->as.dtype;
    const char *name = dtype == DTYPE_b1 ? "bool" : dtype_name(dtype);
    return object_text(eval, name, strlen(name));
}

Object *dtype_attribute_nbits(Eval *eval, const Bound *bound)
{
    return object_int(eval, dtype_bits(bound->values[0]->as.dtype));
}

Object *dtype_attribute_nbytes(Eval *eval, const Bound *bound)
{
    return object_int(eval, dtype_bytes(bound->values[0]->as.dtype));
}

/* What its elements are in C: ctypes.sizeof() asks it. */
Object *dtype_attribute_type(Eval *eval, const Bound *bound)
{
    (void)eval;
    return bound->values[0];
}

Object *dtype_attribute_lanes(Eval *eval, const Bound *bound)
{
    (void)bound;
    return object_int(eval, 1);
}

/* The largest finite number: all exponents but the one of infinity, all mantissa bits. */
static double largest(DType dtype)
{
    switch ((int)dtype) {
    case DTYPE_f16: return 65504.0;
    case DTYPE_bf16: return 0x1.fep127;
    case DTYPE_tf32: return 0x1.ffcp127;
    case DTYPE_f32: return 0x1.fffffep127;
    case DTYPE_f8e4m3: return 448.0;
    case DTYPE_f8e5m2: return 57344.0;
    case DTYPE_f8e8m0: return 0x1p127;
    case DTYPE_f4e2m1: return 6.0;
    default: return 0x1.fffffffffffffp1023;
    }
}

static Object *number_of(Eval *eval, DType dtype, int value)
{
    return dtype_is_float(dtype) ? object_float(eval, value) : object_int(eval, value);
}

Object *dtype_attribute_zero(Eval *eval, const Bound *bound)
{
    return number_of(eval, bound->values[0]->as.dtype, 0);
}

Object *dtype_attribute_one(Eval *eval, const Bound *bound)
{
    return number_of(eval, bound->values[0]->as.dtype, 1);
}

Object *dtype_attribute_max(Eval *eval, const Bound *bound)
{
    DType dtype = bound->values[0]->as.dtype;
    if (dtype_is_float(dtype)) return object_float(eval, largest(dtype));
    const int bits = dtype_bits(dtype) - dtype_is_signed(dtype);
    return object_of_wide(eval, ((Wide)1 << bits) - 1);
}

Object *dtype_attribute_min(Eval *eval, const Bound *bound)
{
    DType dtype = bound->values[0]->as.dtype;
    if (dtype_is_float(dtype)) return object_float(eval, -largest(dtype));
    if (!dtype_is_signed(dtype)) return object_int(eval, 0);
    return object_int(eval, (int64_t)(UINT64_MAX << (dtype_bits(dtype) - 1)));
}

Object *dtype_attribute_exponent_nbits(Eval *eval, const Bound *bound)
{
    return object_int(eval, dtype_exponent_bits(bound->values[0]->as.dtype));
}

Object *dtype_attribute_mantissa_nbits(Eval *eval, const Bound *bound)
{
    const DType dtype = bound->values[0]->as.dtype;
    return object_int(eval, dtype_is_float(dtype) ? dtype_digits(dtype) - 1 : 0);
}

Object *dtype_method_is_integer(Eval *eval, const Bound *bound)
{
    return object_bool(eval, dtype_is_integer(bound->values[0]->as.dtype));
}

Object *dtype_method_is_float(Eval *eval, const Bound *bound)
{
    return object_bool(eval, dtype_is_float(bound->values[0]->as.dtype));
}

Object *dtype_method_is_any_float16(Eval *eval, const Bound *bound)
{
    const DType dtype = bound->values[0]->as.dtype;
    return object_bool(eval, dtype == DTYPE_f16 || dtype == DTYPE_bf16);
}

Object *dtype_method_is_signed(Eval *eval, const Bound *bound)
{
    return object_bool(eval, dtype_is_signed(bound->values[0]->as.dtype));
}

/* ---- numbers known at compile time ---- */

static Object *defined(Eval *eval, double result, bool is_defined, const char *name, Span at)
{
    return is_defined ? object_float(eval, result) : FAIL(eval, value_range, at, name);
}

static Object *of_number(Eval *eval, const Bound *bound, const char *name,
                         double (*function)(double))
{
    const Object *x = bound->values[0];
    if (object_is_staged(x))
        return FAIL(eval, unsupported, bound->at,
                    arena_printf(eval->arena, "%s() of a run-time value", name));
    if (!object_is_number(x))
        return FAIL(eval, expected_kind, bound->at, "the argument", "a number",
                    object_repr(eval, x));
    double result = function(object_number(x));
    return defined(eval, result, !isnan(result) || isnan(object_number(x)), name, bound->at);
}

Object *math_sqrt(Eval *eval, const Bound *bound)
{
    if (object_is_staged(bound->values[0]))
        return eval->ops->core_sqrt(eval, &(Bound){.values = {bound->values[0]}, .at = bound->at});
    return of_number(eval, bound, "sqrt", sqrt);
}

#define OF_NUMBER(name)                                                                            \
    Object *math_##name(Eval *eval, const Bound *bound)                                            \
    {                                                                                              \
        return of_number(eval, bound, #name, name);                                                \
    }
OF_NUMBER(exp)
OF_NUMBER(exp2)
OF_NUMBER(log2)
OF_NUMBER(log10)
OF_NUMBER(sin)
OF_NUMBER(cos)
OF_NUMBER(tan)
OF_NUMBER(tanh)
OF_NUMBER(atan)
OF_NUMBER(expm1)
OF_NUMBER(log1p)
OF_NUMBER(asin)
OF_NUMBER(acos)
OF_NUMBER(sinh)
OF_NUMBER(cosh)
OF_NUMBER(erf)
OF_NUMBER(erfc)
OF_NUMBER(cbrt)
OF_NUMBER(rint)
OF_NUMBER(fabs)
OF_NUMBER(asinh)
OF_NUMBER(acosh)
OF_NUMBER(atanh)
OF_NUMBER(lgamma)
#undef OF_NUMBER

static bool known_number(Eval *eval, Object *object, Span at, double *out)
{
    if (object_is_number(object)) {
        *out = object_number(object);
        return true;
    }
    FAIL(eval, expected_kind, at, "an argument", "a number", object_repr(eval, object));
    return false;
}

static Object *of_two(Eval *eval, const Bound *bound, const char *name,
                      double (*function)(double, double))
{
    double x, y;
    if (!known_number(eval, bound->values[0], bound->at, &x) ||
        !known_number(eval, bound->values[1], bound->at, &y))
        return NULL;
    const double result = function(x, y);
    return defined(eval, result, !isnan(result) || isnan(x) || isnan(y), name, bound->at);
}

#define OF_TWO(name)                                                                               \
    Object *math_##name(Eval *eval, const Bound *bound)                                            \
    {                                                                                              \
        return of_two(eval, bound, #name, name);                                                   \
    }
OF_TWO(atan2)
OF_TWO(fmod)
OF_TWO(copysign)
OF_TWO(hypot)
OF_TWO(remainder)
OF_TWO(nextafter)
#undef OF_TWO

Object *math_gamma(Eval *eval, const Bound *bound)
{
    return of_number(eval, bound, "gamma", tgamma);
}

Object *math_fma(Eval *eval, const Bound *bound)
{
    double x[3];
    for (int i = 0; i < 3; i++)
        if (!known_number(eval, bound->values[i], bound->at, &x[i])) return NULL;
    return object_float(eval, fma(x[0], x[1], x[2]));
}

Object *math_ldexp(Eval *eval, const Bound *bound)
{
    double x;
    int64_t exponent;
    if (!known_number(eval, bound->values[0], bound->at, &x) ||
        !object_as_int(eval, bound->values[1], "the exponent", &exponent))
        return NULL;
    const int64_t most = 10000; /* beyond all numbers */
    return object_float(eval, ldexp(x, (int)(exponent > most    ? most
                                             : exponent < -most ? -most
                                                                : exponent)));
}

Object *math_frexp(Eval *eval, const Bound *bound)
{
    double x;
    int exponent = 0;
    if (!known_number(eval, bound->values[0], bound->at, &x)) return NULL;
    const double m = frexp(x, &exponent);
    Object *items[2] = {object_float(eval, m), object_int(eval, isfinite(x) ? exponent : 0)};
    return object_list(eval, OBJECT_TUPLE, items, 2);
}

Object *math_log(Eval *eval, const Bound *bound)
{
    Object *x = of_number(eval, bound, "log", log);
    if (x == NULL || bound->values[1] == NULL) return x;
    Object *base =
        of_number(eval, &(Bound){.values = {bound->values[1]}, .at = bound->at}, "log", log);
    return base != NULL ? operate_binary(eval, OPERATOR_Div, x, base, bound->at) : NULL;
}

Object *math_pow(Eval *eval, const Bound *bound)
{
    if (!object_is_number(bound->values[0]) || !object_is_number(bound->values[1]))
        return operate_binary(eval, OPERATOR_Pow, bound->values[0], bound->values[1], bound->at);
    return object_float(eval,
                        pow(object_number(bound->values[0]), object_number(bound->values[1])));
}

static Object *to_whole(Eval *eval, const Bound *bound, const char *name,
                        double (*function)(double))
{
    if (bound->values[0]->kind == OBJECT_INT) return bound->values[0];
    Object *result = of_number(eval, bound, name, function);
    if (result == NULL) return NULL;
    if (!(fabs(result->as.number) < 9.2e18)) return FAIL(eval, int_overflow, bound->at, name);
    return object_int(eval, (int64_t)result->as.number);
}

Object *math_floor(Eval *eval, const Bound *bound)
{
    return to_whole(eval, bound, "floor", floor);
}

Object *math_trunc(Eval *eval, const Bound *bound)
{
    return to_whole(eval, bound, "trunc", trunc);
}

Object *math_ceil(Eval *eval, const Bound *bound)
{
    return to_whole(eval, bound, "ceil", ceil);
}

Object *math_isnan(Eval *eval, const Bound *bound)
{
    return object_bool(eval, object_is_number(bound->values[0]) &&
                                 isnan(object_number(bound->values[0])));
}

Object *math_isinf(Eval *eval, const Bound *bound)
{
    return object_bool(eval, object_is_number(bound->values[0]) &&
                                 isinf(object_number(bound->values[0])));
}

Object *math_gcd(Eval *eval, const Bound *bound)
{
    int64_t a, b;
    if (!object_as_int(eval, bound->values[0], "the first number", &a) ||
        !object_as_int(eval, bound->values[1], "the second number", &b))
        return NULL;
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y != 0) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return x > INT64_MAX ? FAIL(eval, int_overflow, bound->at, "gcd")
                         : object_int(eval, (int64_t)x);
}
