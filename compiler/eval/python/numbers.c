/* numbers.c: Python's own functions of numbers, and those that make one kind of value from another.
 */
#include "eval/python/python.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

static Object *pick_by_key(Eval *eval, const Bound *bound, const Object *items, Operator wins)
{
    Object *best = NULL, *best_key = NULL;
    for (uint32_t i = 0; i < items->as.list.count; i++) {
        Object *item = items->as.list.items[i];
        Object *key = eval->ops->call_simple(eval, bound->values[2], 1, &item, bound->at);
        Object *better = key == NULL ? NULL
                         : best_key == NULL
                             ? eval->yes
                             : eval->ops->operate_compare(eval, wins, key, best_key, bound->at);
        bool truth;
        if (better == NULL || !object_truth(eval, better, &truth)) return NULL;
        best = truth ? item : best;
        best_key = truth ? key : best_key;
    }
    return best;
}

static Object *pick(Eval *eval, const Bound *bound, Operator wins)
{
    Object *items = bound->rest;
    if (items->as.list.count == 1 && !object_is_staged(items->as.list.items[0])) {
        items = eval->ops->iterate(eval, items->as.list.items[0], bound->at);
        if (items == NULL) return NULL;
    }
    if (items->as.list.count == 0 && bound->values[1] != NULL) return bound->values[1];
    if (items->as.list.count == 0)
        return FAIL(eval, empty_argument, bound->at, "what min() or max() chooses from");
    if (bound->values[2] != NULL && bound->values[2]->kind != OBJECT_NONE)
        return pick_by_key(eval, bound, items, wins);
    Object *best = items->as.list.items[0];
    for (uint32_t i = 1; best != NULL && i < items->as.list.count; i++)
        best = smaller_or_larger(eval, wins, best, items->as.list.items[i], bound->at);
    return best;
}

Object *smaller_or_larger(Eval *eval, Operator wins, Object *a, Object *b, Span at)
{
    if (object_is_staged(a) || object_is_staged(b))
        return eval->ops->stage_extreme(eval, wins, a, b, at);
    Object *extent = eval->ops->extent_extreme(eval, wins, a, b);
    if (extent != NULL) return extent;
    Object *better = eval->ops->operate_compare(eval, wins, b, a, at);
    bool truth;
    if (better == NULL || !object_truth(eval, better, &truth)) return NULL;
    return truth ? b : a;
}

Object *builtin_min(Eval *eval, const Bound *bound)
{
    return pick(eval, bound, OPERATOR_Lt);
}

Object *builtin_max(Eval *eval, const Bound *bound)
{
    return pick(eval, bound, OPERATOR_Gt);
}

Object *builtin_sum(Eval *eval, const Bound *bound)
{
    Object *items = eval->ops->iterate(eval, bound->values[0], bound->at);
    Object *total = bound->values[1] != NULL ? bound->values[1] : object_int(eval, 0);
    for (uint32_t i = 0; items != NULL && total != NULL && i < items->as.list.count; i++)
        total = operate_binary(eval, OPERATOR_Add, total, items->as.list.items[i], bound->at);
    return items != NULL ? total : NULL;
}

Object *builtin_abs(Eval *eval, const Bound *bound)
{
    Object *x = bound->values[0];
    if (object_is_staged(x))
        return eval->ops->core_absolute(eval, &(Bound){.values = {x}, .at = bound->at});
    Object *method = special_method(eval, x, "__abs__");
    if (method != NULL) return eval->ops->call_simple(eval, method, 1, &x, bound->at);
    if (x->kind == OBJECT_FLOAT) return object_float(eval, fabs(x->as.number));
    if (!object_is_real(x))
        return FAIL(eval, expected_kind, bound->at, "the argument of abs()", "a number",
                    object_repr(eval, x));
    return object_number(x) < 0 ? operate_unary(eval, OPERATOR_USub, x, bound->at)
                                : wide_unary(eval, OPERATOR_UAdd, x, bound->at);
}

static Object *no_integer(Eval *eval, double number, Span at)
{
    return isnan(number) ? FAIL(eval, nan_to_integer, at)
                         : raise_python(eval, "OverflowError",
                                        "cannot convert float infinity to integer", at);
}

/* Of a number without a fraction, as `function` gives it. */
static Object *integer_of(Eval *eval, double number, const char *function, Span at)
{
    if (!isfinite(number)) return no_integer(eval, number, at);
    if (!(fabs(number) < 0x1p127)) return FAIL(eval, int_overflow, at, function);
    return object_of_wide(eval, (Wide)number);
}

/* To a multiple of 10 ** zeros, of two as near to the even one. */
static Object *round_integer(Eval *eval, int64_t number, int64_t zeros)
{
    Wide unit = 1;
    for (; zeros > 0; zeros--) unit *= 10;
    Wide rest = number % unit, whole = number / unit;
    if (rest < 0) {
        rest += unit;
        whole--;
    }
    whole += rest > unit - rest || (rest == unit - rest && whole % 2 != 0);
    return object_of_wide(eval, whole * unit);
}

Object *builtin_round(Eval *eval, const Bound *bound)
{
    Object *x = bound->values[0];
    int64_t digits = 0;
    if (x->kind == OBJECT_WIDE && bound->values[1] == NULL) return x;
    if (!object_is_number(x))
        return FAIL(eval, expected_kind, bound->at, "the argument of round()", "a number",
                    object_repr(eval, x));
    if (bound->values[1] != NULL &&
        !object_as_int(eval, bound->values[1], "the digits of round()", &digits))
        return NULL;
    double number = object_number(x);
    if (bound->values[1] != NULL) {
        if (x->kind != OBJECT_FLOAT)
            return round_integer(eval, x->as.integer, digits > 0 ? 0 : digits < -20 ? 20 : -digits);
        if (digits > 300 || !(fabs(number) < 1e300)) return x;
        if (digits < -308) return object_float(eval, copysign(0, number));
        if (digits >= 0) { /* as its decimal digits round */
            char text[700];
            snprintf(text, sizeof text, "%.*f", (int)digits, number);
            return object_float(eval, strtod(text, NULL));
        }
        double scale = pow(10, (double)-digits), rounded = nearbyint(number / scale) * scale;
        return object_float(eval, rounded);
    }
    return x->kind == OBJECT_FLOAT ? integer_of(eval, nearbyint(number), "round", bound->at)
                                   : object_int(eval, x->as.integer);
}

Object *builtin_divmod(Eval *eval, const Bound *bound)
{
    Object *pair[2];
    pair[0] =
        operate_binary(eval, OPERATOR_FloorDiv, bound->values[0], bound->values[1], bound->at);
    pair[1] = pair[0] != NULL ? operate_binary(eval, OPERATOR_Mod, bound->values[0],
                                               bound->values[1], bound->at)
                              : NULL;
    return pair[1] != NULL ? object_list(eval, OBJECT_TUPLE, pair, 2) : NULL;
}

Object *builtin_pow(Eval *eval, const Bound *bound)
{
    const Object *modulus = bound->values[2];
    if (modulus == NULL || modulus->kind == OBJECT_NONE)
        return operate_binary(eval, OPERATOR_Pow, bound->values[0], bound->values[1], bound->at);
    int64_t base, power, divisor;
    if (!object_as_int(eval, bound->values[0], "the base of pow()", &base) ||
        !object_as_int(eval, bound->values[1], "the exponent of pow()", &power) ||
        !object_as_int(eval, bound->values[2], "the modulus of pow()", &divisor))
        return NULL;
    if (power < 0 || divisor <= 0 || divisor > INT32_MAX)
        return FAIL(eval, power_modulus, bound->at);
    int64_t result = 1 % divisor;
    for (base = (base % divisor + divisor) % divisor; power > 0; power >>= 1) {
        if (power & 1) result = result * base % divisor;
        base = base * base % divisor;
    }
    return object_int(eval, result);
}

/* ---- conversions ---- */

/* A number's text without spaces around it and without the underscores between its digits. */
static const char *number_text(Eval *eval, const Object *text)
{
    const char *start = text->as.text.data, *end = start + text->as.text.length;
    while (start < end && isspace((unsigned char)*start)) start++;
    while (end > start && isspace((unsigned char)end[-1])) end--;
    eval_work(eval, text->as.text.length / WORK_LETTERS);
    char *copy = arena_copy_text(eval->arena, start, (size_t)(end - start));
    size_t kept = 0;
    for (size_t i = 0; copy[i] != '\0'; i++) {
        const bool joins = copy[i] == '_' && i > 0 && isxdigit((unsigned char)copy[i - 1]) &&
                           isxdigit((unsigned char)copy[i + 1]);
        if (!joins) copy[kept++] = copy[i];
    }
    copy[kept] = '\0';
    return copy;
}

/* The base that a prefix asks for, and where the digits begin. */
static const char *skip_prefix(const char *digits, int64_t *base)
{
    const char letter = digits[0] == '0' ? (char)(digits[1] | 32) : '\0';
    const int64_t prefixed = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
    const bool is_prefix = prefixed != 0 && (*base == 0 || *base == prefixed);
    if (is_prefix)
        *base = prefixed;
    else if (*base == 0)
        *base = 10;
    return is_prefix ? digits + 2 : digits;
}

/* What a letter stands for, of up to 36; else more. */
static int digit_of(char letter)
{
    if (letter >= '0' && letter <= '9') return letter - '0';
    return isalpha((unsigned char)letter) ? (letter | 32) - 'a' + 10 : INT_MAX;
}

static Object *int_of_text(Eval *eval, const Object *text, int64_t base, Span at)
{
    if (base != 0 && (base < 2 || base > 36)) return FAIL(eval, number_base, at);
    const int64_t given = base;
    const char *sign = number_text(eval, text);
    const bool has_sign = *sign == '-' || *sign == '+';
    const char *digits = skip_prefix(sign + has_sign, &base);
    const char *end = digits;
    Wide value = 0;
    bool fits = true;
    for (int digit; (digit = digit_of(*end)) < base; end++)
        fits &= !__builtin_mul_overflow(value, (Wide)base, &value) &&
                !__builtin_add_overflow(value, (Wide)digit, &value);
    if (!fits) return FAIL(eval, int_overflow, at, "int");
    if (end == digits || *end != '\0')
        return FAIL(eval, number_text, at,
                    arena_printf(eval->arena, "invalid literal for int() with base %d", (int)given),
                    object_repr(eval, text));
    return object_of_wide(eval, *sign == '-' ? -value : value);
}

/* What a host's array of one element holds; any other object is itself. */
static Object *element_of_one(Eval *eval, Object *x, Span at)
{
    bool found = false;
    if (x->kind != OBJECT_ARRAY) return x;
    Object *item =
        eval->ops->attribute_find(eval, x, intern_text(eval->session->names, "item"), at, &found);
    return item != NULL ? eval->ops->call_simple(eval, item, 0, NULL, at) : NULL;
}

Object *builtin_int(Eval *eval, const Bound *bound)
{
    if (bound->values[0] == NULL) return object_int(eval, 0);
    Object *x = element_of_one(eval, bound->values[0], bound->at);
    if (x == NULL) return NULL;
    if (object_is_staged(x)) return eval->ops->cast_to(eval, x, DTYPE_i32, bound->at);
    int64_t base = 10;
    if (bound->values[1] != NULL && !object_as_int(eval, bound->values[1], "the base", &base))
        return NULL;
    if (x->kind == OBJECT_TEXT) return int_of_text(eval, x, base, bound->at);
    Object *method = special_method(eval, x, "__int__");
    if (method != NULL) return eval->ops->call_simple(eval, method, 1, &x, bound->at);
    if (!object_is_real(x))
        return FAIL(eval, expected_kind, bound->at, "the argument of int()", "a number",
                    object_repr(eval, x));
    if (x->kind != OBJECT_FLOAT) return wide_unary(eval, OPERATOR_UAdd, x, bound->at);
    return integer_of(eval, trunc(x->as.number), "int", bound->at);
}

Object *builtin_float(Eval *eval, const Bound *bound)
{
    if (bound->values[0] == NULL) return object_float(eval, 0);
    Object *x = element_of_one(eval, bound->values[0], bound->at);
    if (x == NULL) return NULL;
    if (object_is_staged(x)) return eval->ops->cast_to(eval, x, DTYPE_f32, bound->at);
    Object *method = special_method(eval, x, "__float__");
    if (method != NULL) return eval->ops->call_simple(eval, method, 1, &x, bound->at);
    if (object_is_real(x)) {
        const double number = object_number(x);
        /* in the program of a thread it has 32 bits, as a run-time one has */
        return object_float(
            eval, eval->staging != NULL && eval->frame->is_thread_code ? (float)number : number);
    }
    if (x->kind != OBJECT_TEXT)
        return FAIL(eval, expected_kind, bound->at, "the argument of float()", "a number or text",
                    object_repr(eval, x));
    const char *text = number_text(eval, x);
    char *end;
    const double number = strtod(text, &end);
    const bool is_hex = strpbrk(text, "xX(") != NULL; /* which C reads, and Python does not */
    if (end == text || *end != '\0' || is_hex)
        return FAIL(eval, number_text, bound->at, "could not convert string to float",
                    object_repr(eval, x));
    return object_float(eval, number);
}

Object *builtin_bool(Eval *eval, const Bound *bound)
{
    bool truth = false;
    if (bound->values[0] == NULL) return object_bool(eval, truth);
    Object *object = object_condition(eval, bound->values[0]);
    if (object == NULL) return NULL;
    if (object_is_staged(object)) return eval->ops->cast_to(eval, object, DTYPE_b1, bound->at);
    if (!object_truth(eval, object, &truth)) return NULL;
    return object_bool(eval, truth);
}

Object *builtin_str(Eval *eval, const Bound *bound)
{
    return bound->values[0] != NULL ? object_converted(eval, bound->values[0], 's')
                                    : object_text(eval, "", 0);
}

Object *builtin_repr(Eval *eval, const Bound *bound)
{
    return object_converted(eval, bound->values[0], 'r');
}

static Object *to_sequence(Eval *eval, const Bound *bound, ObjectKind kind)
{
    Object *items = bound->values[0] != NULL ? eval->ops->iterate(eval, bound->values[0], bound->at)
                                             : object_list(eval, kind, NULL, 0);
    return items != NULL ? object_list(eval, kind, items->as.list.items, items->as.list.count)
                         : NULL;
}

Object *builtin_tuple(Eval *eval, const Bound *bound)
{
    return to_sequence(eval, bound, OBJECT_TUPLE);
}

Object *builtin_list(Eval *eval, const Bound *bound)
{
    return to_sequence(eval, bound, OBJECT_LIST);
}

/* What has keys and items. */
static Object *dict_of_mapping(Eval *eval, Object *mapping, Object *method, Span at)
{
    Object *given = eval->ops->call_simple(eval, method, 1, &mapping, at);
    Object *keys = given != NULL ? eval->ops->iterate(eval, given, at) : NULL;
    Object *dict = dict_new(eval);
    for (uint32_t i = 0; keys != NULL && i < keys->as.list.count; i++) {
        Object *value = item_get(eval, mapping, keys->as.list.items[i], at);
        if (value == NULL || !key_is_fit(eval, keys->as.list.items[i], at)) return NULL;
        dict_set(eval, dict, keys->as.list.items[i], value);
    }
    return keys != NULL ? dict : NULL;
}

Object *dict_from(Eval *eval, Object *other, Span at)
{
    if (other->kind == OBJECT_DICT) return other;
    Object *method = special_method(eval, other, "keys");
    if (method != NULL) return dict_of_mapping(eval, other, method, at);
    Object *pairs = eval->ops->iterate(eval, other, at), *dict = dict_new(eval);
    for (uint32_t i = 0; pairs != NULL && i < pairs->as.list.count; i++) {
        Object *pair = eval->ops->iterate(eval, pairs->as.list.items[i], at);
        if (pair == NULL) return NULL;
        if (pair->as.list.count != 2) return FAIL(eval, pairs_needed, at);
        if (!key_is_fit(eval, pair->as.list.items[0], at)) return NULL;
        dict_set(eval, dict, pair->as.list.items[0], pair->as.list.items[1]);
    }
    return pairs != NULL ? dict : NULL;
}

Object *builtin_dict(Eval *eval, const Bound *bound)
{
    Object *dict = dict_new(eval);
    if (bound->rest->as.list.count > 1)
        return FAIL(eval, many_arguments, bound->at, "dict()", 1, bound->rest->as.list.count);
    if (bound->rest->as.list.count == 1)
        dict = dict_from(eval, bound->rest->as.list.items[0], bound->at);
    return dict != NULL ? operate_binary(eval, OPERATOR_BitOr, dict, bound->values[0], bound->at)
                        : NULL;
}
