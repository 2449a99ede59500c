/* operate.c: Python's operators. On compile-time values they are computed here; classes of the
 * program may define their own (__add__ and the like); with a run-time value they are staged. */
#include "eval/python/python.h"

#include <math.h>
#include <string.h>

Object *no_operator(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    Object *ahead = eval->ops->extent_ahead(eval, left, right);
    if (ahead != NULL) return ahead;
    Object *extent = eval->ops->extent_computed(eval, op, left, right);
    if (extent != NULL) return extent;
    if (!eval->ops->extent_is_known(eval, left, at) || !eval->ops->extent_is_known(eval, right, at))
        return NULL;
    return FAIL(eval, bad_operands, at, operator_text(op), object_repr(eval, left),
                object_repr(eval, right));
}

/* ---- integers ---- */

static bool are_ints(const Object *left, const Object *right)
{
    return left->kind != OBJECT_FLOAT && right->kind != OBJECT_FLOAT;
}

static bool is_bits(Operator op)
{
    return op == OPERATOR_BitAnd || op == OPERATOR_BitOr || op == OPERATOR_BitXor;
}

static Object *operate_ints(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    if ((op == OPERATOR_LShift || op == OPERATOR_RShift) && object_number(right) < 0)
        return FAIL(eval, shift_count, at);
    Object *result = wide_binary(eval, op, left, right, at);
    const bool are_bools = left->kind == OBJECT_BOOL && right->kind == OBJECT_BOOL;
    return is_bits(op) && are_bools ? object_bool(eval, result->as.integer != 0) : result;
}

/* ---- floats ---- */

static double float_mod(double a, double b)
{
    double rest = fmod(a, b);
    if (rest == 0) return copysign(0, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static Object *operate_floats(Eval *eval, Operator op, double a, double b)
{
    switch ((int)op) {
    case OPERATOR_Add: return object_float(eval, a + b);
    case OPERATOR_Sub: return object_float(eval, a - b);
    case OPERATOR_Mult: return object_float(eval, a * b);
    case OPERATOR_Div: return object_float(eval, a / b);
    case OPERATOR_FloorDiv: return object_float(eval, floor(a / b));
    case OPERATOR_Mod: return object_float(eval, float_mod(a, b));
    default: return NULL;
    }
}

/* Where C gives an infinity or none, Python has an exception, or a complex number. */
static Object *float_power(Eval *eval, double a, double b, Span at)
{
    const double power = pow(a, b);
    if (a == 0 && b < 0)
        return raise_python(eval, "ZeroDivisionError", "0.0 cannot be raised to a negative power",
                            at);
    if (isinf(power) && isfinite(a) && isfinite(b))
        return raise_python(eval, "OverflowError", "Numerical result out of range", at);
    if (isnan(power) && !isnan(a) && !isnan(b))
        return FAIL(eval, unsupported, at, "a complex number");
    return object_float(eval, power);
}

static Object *operate_numbers(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    const double a = object_number(left), b = object_number(right);
    const bool divides = op == OPERATOR_Div || op == OPERATOR_FloorDiv || op == OPERATOR_Mod;
    if (divides && b == 0) return FAIL(eval, zero_division, at);
    const bool gives_float = op == OPERATOR_Div || (op == OPERATOR_Pow && b < 0);
    if (are_ints(left, right) && !gives_float && op != OPERATOR_MatMult)
        return operate_ints(eval, op, left, right, at);
    if (op == OPERATOR_Pow) return float_power(eval, a, b, at);
    Object *result = operate_floats(eval, op, a, b);
    return result != NULL ? result : no_operator(eval, op, left, right, at);
}

/* ---- sequences ---- */

static size_t length_of(const Object *sequence)
{
    return sequence->kind == OBJECT_TEXT ? sequence->as.text.length : sequence->as.list.count;
}

static Object *concatenate(Eval *eval, Object *left, Object *right, Span at)
{
    const size_t length = length_of(left) + length_of(right);
    if (left->kind == OBJECT_TEXT) {
        Buf buf = {0};
        const bool good = text_grows(eval, &buf, length, at);
        if (good) buf_bytes(&buf, left->as.text.data, left->as.text.length);
        if (good) buf_bytes(&buf, right->as.text.data, right->as.text.length);
        Object *text = good ? object_text(eval, buf.data, buf.length) : NULL;
        buf_free(&buf);
        return text;
    }
    if (length > TEXT_LIMIT) return FAIL(eval, result_length, at);
    if (!list_fits(eval, length, at)) return NULL;
    Object *list = object_list(eval, left->kind, left->as.list.items, left->as.list.count);
    for (uint32_t i = 0; i < right->as.list.count; i++)
        list_append(eval, list, right->as.list.items[i]);
    return list;
}

/* By doubling what is there already: few large copies. */
static Object *repeat_text(Eval *eval, const Object *text, size_t times)
{
    const size_t length = text->as.text.length * times;
    char *data = arena_alloc(eval->arena, length + 1);
    size_t done = times > 0 ? text->as.text.length : 0;
    memcpy(data, text->as.text.data, done);
    for (size_t more; done < length; done += more) {
        more = length - done < done ? length - done : done;
        memcpy(data + done, data, more);
    }
    data[length] = '\0';
    return object_text_adopt(eval, data, length);
}

static Object *repeat_list(Eval *eval, const Object *list, size_t times)
{
    Object *result = object_list(eval, list->kind, NULL, 0);
    for (size_t i = 0; i < times; i++)
        for (uint32_t j = 0; j < list->as.list.count; j++)
            list_append(eval, result, list->as.list.items[j]);
    return result;
}

static Object *repeat(Eval *eval, Object *sequence, int64_t times, Span at)
{
    const size_t length = length_of(sequence);
    times = times < 0 || length == 0 ? 0 : times;
    if (length > 0 && times > ITEM_LIMIT / (int64_t)length) return FAIL(eval, result_length, at);
    const bool is_text = sequence->kind == OBJECT_TEXT;
    const size_t items = length * (size_t)times;
    if (!eval_works(eval, is_text ? items / WORK_BYTES : items, at)) return NULL;
    return is_text ? repeat_text(eval, sequence, (size_t)times)
                   : repeat_list(eval, sequence, (size_t)times);
}

static bool is_repeatable(const Object *object)
{
    return object->kind == OBJECT_TEXT || object_is_sequence(object);
}

static bool is_count(const Object *object)
{
    return object->kind == OBJECT_INT || object->kind == OBJECT_BOOL;
}

static Object *merge_dicts(Eval *eval, Object *left, Object *right)
{
    Object *dict = dict_new(eval);
    for (size_t i = 0; i < left->as.dict.keys.count; i++)
        dict_set(eval, dict, left->as.dict.keys.data[i], left->as.dict.values.data[i]);
    for (size_t i = 0; i < right->as.dict.keys.count; i++)
        dict_set(eval, dict, right->as.dict.keys.data[i], right->as.dict.values.data[i]);
    return dict;
}

static bool is_type(const Object *object)
{
    return object->kind == OBJECT_BUILTIN || object->kind == OBJECT_CLASS ||
           object->kind == OBJECT_DTYPE ||
           (object->kind == OBJECT_TUPLE && object->as.list.count > 0 &&
            object->as.list.class == NULL && is_type(object->as.list.items[0]));
}

static void add_types(Eval *eval, Object *types, Object *object)
{
    const bool is_one = object->kind != OBJECT_TUPLE || object->as.list.class != NULL;
    for (uint32_t i = 0; !is_one && i < object->as.list.count; i++)
        list_append(eval, types, object->as.list.items[i]);
    if (is_one) list_append(eval, types, object);
}

/* list[float] | wp.vec2: the types, as isinstance() takes them. */
static Object *join_types(Eval *eval, Object *left, Object *right)
{
    Object *types = object_list(eval, OBJECT_TUPLE, NULL, 0);
    Object *const sides[] = {left, right};
    /* A type comes first, by which the tuple is known as one of types. */
    const int first = is_type(left) ? 0 : 1;
    add_types(eval, types, sides[first]);
    add_types(eval, types, sides[!first]);
    return types;
}

static Object *operate_containers(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    bool known;
    Object *set = eval->ops->operate_sets(eval, op, left, right, &known);
    if (known) return set;
    if (op == OPERATOR_Mod && left->kind == OBJECT_TEXT)
        return eval->ops->text_percent(eval, left, right, at);
    if (op == OPERATOR_Add && left->kind == right->kind && is_repeatable(left))
        return concatenate(eval, left, right, at);
    if (op == OPERATOR_Mult && is_repeatable(left) && is_count(right))
        return repeat(eval, left, right->as.integer, at);
    if (op == OPERATOR_Mult && is_repeatable(right) && is_count(left))
        return repeat(eval, right, left->as.integer, at);
    if (op == OPERATOR_BitOr && left->kind == OBJECT_DICT && right->kind == OBJECT_DICT)
        return merge_dicts(eval, left, right);
    if (op == OPERATOR_BitOr && (is_type(left) || is_type(right)))
        return join_types(eval, left, right);
    return no_operator(eval, op, left, right, at);
}

/* ---- operators that classes define ---- */

static const struct {
    const char *left, *right;
} METHODS[OPERATOR_COUNT] = {
    [OPERATOR_Add] = {"__add__", "__radd__"},
    [OPERATOR_Sub] = {"__sub__", "__rsub__"},
    [OPERATOR_Mult] = {"__mul__", "__rmul__"},
    [OPERATOR_Div] = {"__truediv__", "__rtruediv__"},
    [OPERATOR_FloorDiv] = {"__floordiv__", "__rfloordiv__"},
    [OPERATOR_Mod] = {"__mod__", "__rmod__"},
    [OPERATOR_MatMult] = {"__matmul__", "__rmatmul__"},
    [OPERATOR_Pow] = {"__pow__", "__rpow__"},
    [OPERATOR_BitAnd] = {"__and__", "__rand__"},
    [OPERATOR_BitOr] = {"__or__", "__ror__"},
    [OPERATOR_BitXor] = {"__xor__", "__rxor__"},
    [OPERATOR_LShift] = {"__lshift__", "__rlshift__"},
    [OPERATOR_RShift] = {"__rshift__", "__rrshift__"},
    [OPERATOR_Eq] = {"__eq__", "__eq__"},
    [OPERATOR_NotEq] = {"__ne__", "__ne__"},
    [OPERATOR_Lt] = {"__lt__", "__gt__"},
    [OPERATOR_LtE] = {"__le__", "__ge__"},
    [OPERATOR_Gt] = {"__gt__", "__lt__"},
    [OPERATOR_GtE] = {"__ge__", "__le__"},
    [OPERATOR_USub] = {"__neg__", NULL},
    [OPERATOR_UAdd] = {"__pos__", NULL},
    [OPERATOR_Invert] = {"__invert__", NULL},
    [OPERATOR_In] = {"__contains__", NULL},
};

static Object *find_method(Eval *eval, Object *object, const char *name)
{
    return name != NULL ? special_method(eval, object, name) : NULL;
}

/* What a method gives that leaves the operator to the other side. */
static bool is_not_implemented(const Object *object)
{
    return object != NULL && object->kind == OBJECT_INSTANCE &&
           strcmp(object->as.instance->class->as.class->name, "NotImplementedType") == 0;
}

/* The function of the text's own that a kernel has as an operator of a class: that of the name
 * below, if the class's __operates__ says so. */
static Object *function_of_operator(Eval *eval, Operator op, Object *left, Span at)
{
    static const char *const NAMES[OPERATOR_COUNT] = {
        [OPERATOR_Add] = "add", [OPERATOR_Sub] = "sub",           [OPERATOR_Mult] = "mul",
        [OPERATOR_Div] = "div", [OPERATOR_FloorDiv] = "floordiv", [OPERATOR_Mod] = "mod",
        [OPERATOR_USub] = "neg"};
    if (eval->library > 0 || eval->frame == NULL || !eval->frame->is_thread_code ||
        NAMES[op] == NULL || !object_is_record(left))
        return NULL;
    bool found, operates = false;
    Object *function = scope_lookup(eval, eval->frame->scope,
                                    intern_text(eval->session->names, NAMES[op]), at, &found);
    Object *asks = function != NULL ? special_method(eval, left, "__operates__") : NULL;
    Object *said = asks != NULL
                       ? eval->ops->call_simple(eval, asks, 2, (Object *[]){left, function}, at)
                       : NULL;
    return said != NULL && object_truth(eval, said, &operates) && operates ? function : NULL;
}

/* *found tells whether a class defines the operator. */
static Object *operate_classes(Eval *eval, Operator op, Object *left, Object *right, Span at,
                               bool *found)
{
    Object *method = function_of_operator(eval, op, left, at);
    if (method == NULL) method = find_method(eval, left, METHODS[op].left);
    *found = true;
    if (method != NULL) {
        Object *result = eval->ops->call_simple(eval, method, right != NULL ? 2 : 1,
                                                (Object *[]){left, right}, at);
        if (!is_not_implemented(result)) return result;
    }
    method = right != NULL ? find_method(eval, right, METHODS[op].right) : NULL;
    if (method != NULL) {
        Object *result = eval->ops->call_simple(eval, method, 2, (Object *[]){right, left}, at);
        if (!is_not_implemented(result)) return result;
    }
    *found = false;
    return NULL;
}

/* ---- the operators ---- */

/* As C does, in the program of a thread: the quotient of whole numbers is cut, and what % gives has
 * the left side's sign; what has a point is divided by zero. */
static Object *divide_as_c(Eval *eval, Operator op, const Object *left, const Object *right,
                           Span at)
{
    const double x = object_number(left), y = object_number(right);
    if (!are_ints(left, right)) return object_float(eval, op == OPERATOR_Div ? x / y : fmod(x, y));
    if (y == 0) return FAIL(eval, zero_division, at);
    int64_t a = left->as.integer, b = right->as.integer;
    if (b == -1) {
        if (op == OPERATOR_Mod) return object_int(eval, 0);
        return a == INT64_MIN ? FAIL(eval, int_overflow, at, operator_text(op))
                              : object_int(eval, -a);
    }
    return object_int(eval, op == OPERATOR_Div ? a / b : a % b);
}

/* In a kernel a number that was made of a type has it, and what is computed of it, too: of two such
 * types the one of more bits. */
static Object *as_said(Eval *eval, const Object *left, const Object *right, Object *result)
{
    DType first, second;
    if (eval->staging == NULL || result == NULL || result->kind == OBJECT_BOOL) return result;
    const bool is_first = number_said(left, &first), is_second = number_said(right, &second);
    if (!is_first && !is_second) return result;
    const bool is_left = is_first && (!is_second || dtype_bits(first) >= dtype_bits(second));
    const DType dtype = is_left ? first : second;
    const bool fits = (result->kind == OBJECT_FLOAT) == dtype_is_float(dtype);
    return fits ? object_of_dtype(eval, result, dtype) : result;
}

Object *operate_binary(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    bool found;
    eval_work(eval, 1);
    Object *result = operate_classes(eval, op, left, right, at, &found);
    if (found) return result;
    if (object_is_real(left) && object_is_real(right)) {
        const bool is_of_c = eval->staging != NULL && eval->frame->is_thread_code &&
                             object_is_number(left) && object_is_number(right) &&
                             (op == OPERATOR_Mod || op == OPERATOR_Div);
        result = is_of_c ? divide_as_c(eval, op, left, right, at)
                         : operate_numbers(eval, op, left, right, at);
        return as_said(eval, left, right, result);
    }
    if (left->kind == OBJECT_ARRAY || right->kind == OBJECT_ARRAY)
        return host_binary(eval, operator_text(op), left, right, at);
    bool staged = object_is_staged(left) || object_is_staged(right);
    if (staged && (object_is_staged(left) || object_is_real(left)) &&
        (object_is_staged(right) || object_is_real(right)))
        return eval->ops->stage_binary(eval, op, left, right, at);
    if (left->kind == OBJECT_MISSING || right->kind == OBJECT_MISSING)
        return eval->ops->missing_needed(eval, left->kind == OBJECT_MISSING ? left : right, NULL,
                                         at);
    return operate_containers(eval, op, left, right, at);
}

Object *operate_in_place(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    const char *name = METHODS[op].left; /* __add__: __iadd__ */
    Object *method = NULL;
    if (object_class(left) != NULL)
        method = find_method(eval, left, arena_printf(eval->arena, "__i%s", name + 2));
    Object *result = method != NULL
                         ? eval->ops->call_simple(eval, method, 2, (Object *[]){left, right}, at)
                         : NULL;
    const bool is_done = method != NULL && !is_not_implemented(result);
    return is_done ? result : operate_binary(eval, op, left, right, at);
}

static Object *operate_not(Eval *eval, Object *operand, Span at)
{
    if ((operand = object_condition(eval, operand)) == NULL) return NULL;
    if (object_is_staged(operand)) return eval->ops->stage_unary(eval, OPERATOR_Not, operand, at);
    bool truth;
    if (!object_truth(eval, operand, &truth)) return NULL;
    return object_bool(eval, !truth);
}

Object *operate_unary(Eval *eval, Operator op, Object *operand, Span at)
{
    bool found;
    if (op == OPERATOR_Not) return operate_not(eval, operand, at);
    Object *result = operate_classes(eval, op, operand, NULL, at, &found);
    if (found) return result;
    if (object_is_staged(operand)) return eval->ops->stage_unary(eval, op, operand, at);
    if (operand->kind == OBJECT_MISSING) return eval->ops->missing_needed(eval, operand, NULL, at);
    Object *ahead = eval->ops->extent_ahead(eval, operand, operand);
    if (ahead != NULL) return ahead;
    Object *zero = object_int(eval, 0);
    Object *extent =
        op == OPERATOR_USub ? eval->ops->extent_computed(eval, OPERATOR_Sub, zero, operand) : NULL;
    if (extent != NULL) return extent;
    if (operand->kind == OBJECT_ARRAY) return host_unary(eval, operator_text(op), operand, at);
    if (op == OPERATOR_Invert && operand->kind == OBJECT_DTYPE) {
        Object *pointer = object_new(eval, OBJECT_POINTER_TYPE);
        pointer->as.dtype = operand->as.dtype;
        return pointer;
    }
    if (operand->kind == OBJECT_FLOAT && op != OPERATOR_Invert)
        return op == OPERATOR_USub
                   ? as_said(eval, operand, operand, object_float(eval, -operand->as.number))
                   : operand;
    if (!object_is_real(operand) || operand->kind == OBJECT_FLOAT)
        return FAIL(eval, expected_kind, at,
                    arena_printf(eval->arena, "the operand of '%s'", operator_text(op)), "a number",
                    object_repr(eval, operand));
    return as_said(eval, operand, operand, wide_unary(eval, op, operand, at));
}

/* ---- comparisons ---- */

static int order_texts(const Object *a, const Object *b)
{
    size_t shorter = a->as.text.length < b->as.text.length ? a->as.text.length : b->as.text.length;
    int order = memcmp(a->as.text.data, b->as.text.data, shorter);
    if (order != 0) return order < 0 ? -1 : 1;
    return (a->as.text.length > b->as.text.length) - (a->as.text.length < b->as.text.length);
}

/* order: -1, 0, 1; 2: not ordered (NaN). */
static Object *order_says(Eval *eval, Operator op, int order)
{
    return object_bool(eval, (op == OPERATOR_Lt && order == -1) ||
                                 (op == OPERATOR_Gt && order == 1) ||
                                 (op == OPERATOR_LtE && (order == -1 || order == 0)) ||
                                 (op == OPERATOR_GtE && (order == 1 || order == 0)));
}

/* By the first items that differ. */
static Object *compare_sequences(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    const uint32_t *counts[2] = {&left->as.list.count, &right->as.list.count};
    for (uint32_t i = 0; i < *counts[0] && i < *counts[1]; i++) {
        Object *a = left->as.list.items[i], *b = right->as.list.items[i];
        if (object_agrees(eval, a, b)) continue;
        if (i >= *counts[0] || i >= *counts[1]) break; /* an __eq__ has taken them away */
        if (object_is_staged(a) || object_is_staged(b))
            return no_operator(eval, op, left, right, at);
        return eval_may_nest(eval, at) ? operate_compare(eval, op, a, b, at) : NULL;
    }
    return order_says(eval, op, (*counts[0] > *counts[1]) - (*counts[0] < *counts[1]));
}

static Object *compare_order(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    if (object_is_real(left) && object_is_real(right))
        return order_says(eval, op, object_order_numbers(left, right));
    if (left->kind == OBJECT_TEXT && right->kind == OBJECT_TEXT) {
        eval_work(eval, left->as.text.length / WORK_BYTES);
        return order_says(eval, op, order_texts(left, right));
    }
    if (object_is_sequence(left) && left->kind == right->kind)
        return compare_sequences(eval, op, left, right, at);
    return no_operator(eval, op, left, right, at);
}

static bool contains_text(Eval *eval, const Object *whole, const Object *part)
{
    eval_work(eval, whole->as.text.length / WORK_LETTERS);
    return memmem(whole->as.text.data, whole->as.text.length, part->as.text.data,
                  part->as.text.length) != NULL;
}

static Object *compare_member(Eval *eval, Object *item, Object *container, Span at)
{
    if (container->kind == OBJECT_TEXT && item->kind == OBJECT_TEXT)
        return object_bool(eval, contains_text(eval, container, item));
    const bool keyed = container->kind == OBJECT_DICT || container->kind == OBJECT_SET;
    /* A set is asked for as the frozen one that it is equal to. */
    const bool as_frozen = container->kind == OBJECT_SET && item->kind == OBJECT_SET;
    if (keyed && !as_frozen && !key_is_fit(eval, item, at)) return NULL;
    if (keyed) return object_bool(eval, dict_get(eval, container, item) != NULL);
    bool found;
    Object *result = operate_classes(eval, OPERATOR_In, container, item, at, &found);
    if (found) return result;
    int64_t count;
    if (item->kind == OBJECT_INT && range_count(container, &count))
        return object_bool(eval, range_has(container, item->as.integer));
    Object *items = eval->ops->iterate(eval, container, at);
    if (items == NULL) return NULL;
    for (uint32_t i = 0; i < items->as.list.count; i++)
        if (object_agrees(eval, items->as.list.items[i], item)) return eval->yes;
    return eval->no;
}

/* Unequal to itself, though the same object in a list or a dict. */
static bool is_nan(const Object *object)
{
    return object->kind == OBJECT_FLOAT && isnan(object->as.number);
}

static Object *compare(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    if (op == OPERATOR_Is || op == OPERATOR_IsNot)
        return object_bool(eval, object_is(eval, left, right) == (op == OPERATOR_Is));
    if (op == OPERATOR_In || op == OPERATOR_NotIn) {
        Object *member = compare_member(eval, left, right, at);
        return member == NULL || op == OPERATOR_In ? member : operate_not(eval, member, at);
    }
    bool found;
    Object *result = operate_classes(eval, op, left, right, at, &found);
    if (found) return result;
    if (op == OPERATOR_NotEq) {
        Object *same = operate_classes(eval, OPERATOR_Eq, left, right, at, &found);
        if (found) return same != NULL ? operate_not(eval, same, at) : NULL;
    }
    bool numeric = (object_is_staged(left) || object_is_real(left)) &&
                   (object_is_staged(right) || object_is_real(right));
    if (numeric && (object_is_staged(left) || object_is_staged(right)))
        return eval->ops->stage_compare(eval, op, left, right, at);
    if (left->kind == OBJECT_ARRAY || right->kind == OBJECT_ARRAY)
        return host_binary(eval, operator_text(op), left, right, at);
    if (left->kind == OBJECT_MISSING || right->kind == OBJECT_MISSING)
        return eval->ops->missing_needed(eval, left->kind == OBJECT_MISSING ? left : right, NULL,
                                         at);
    if (op == OPERATOR_Eq || op == OPERATOR_NotEq) {
        const bool is_instance = left->kind == OBJECT_INSTANCE || right->kind == OBJECT_INSTANCE;
        bool same =
            !is_nan(left) && !is_nan(right) &&
            (is_instance ? object_equal(eval, left, right) : object_agrees(eval, left, right));
        return object_bool(eval, same == (op == OPERATOR_Eq));
    }
    Object *set = eval->ops->operate_sets(eval, op, left, right, &found);
    if (found) return set;
    return compare_order(eval, op, left, right, at);
}

Object *operate_compare(Eval *eval, Operator op, Object *left, Object *right, Span at)
{
    eval_work(eval, 1);
    return unless_equal_failed(eval, compare(eval, op, left, right, at));
}
