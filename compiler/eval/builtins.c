/* builtins.c: Python's own functions, as far as kernels and the code around them use them. */
#include "eval/builtins.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- calling a row ---- */

static const BuiltinRow ROWS[] = {
#define BUILTIN(module, name, signature, handler) {module, name, signature, handler},
#include "eval/builtins.def"
#undef BUILTIN
};

enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS, PARAMETER_LIMIT = 12 };

typedef struct SignaturePart {
    const char *name;
    size_t length;
    bool optional, by_name, takes_rest;
} SignaturePart;

static int parse_signature(const char *signature, SignaturePart *parts)
{
    int count = 0;
    bool by_name = false;
    for (const char *c = signature; *c != '\0';) {
        size_t length = strcspn(c, ",");
        bool star = *c == '*';
        bool optional = length > 0 && c[length - 1] == '=';
        if (length > (size_t)star && count < PARAMETER_LIMIT)
            parts[count++] =
                (SignaturePart){c + star, length - star - optional, optional, by_name, star};
        by_name |= star;
        c += length;
        c += strspn(c, ", ");
    }
    return count;
}

static Object *complain(Eval *eval, const BuiltinRow *row, const Arguments *arguments,
                        const char *what)
{
    return FAIL(eval, call_arguments, arguments->at,
                arena_printf(eval->arena, "%s(%s) %s", row->name, row->signature, what));
}

static bool bind_named(Eval *eval, const BuiltinRow *row, const Arguments *arguments,
                       const SignaturePart *parts, int count, Bound *bound)
{
    for (size_t i = 0; i < arguments->names.count; i++) {
        Name name = arguments->names.data[i];
        int place = 0;
        while (place < count && (parts[place].takes_rest || strlen(name) != parts[place].length ||
                                 strncmp(parts[place].name, name, parts[place].length) != 0))
            place++;
        if (place == count || bound->values[place] != NULL) {
            complain(eval, row, arguments, arena_printf(eval->arena, "takes no '%s'", name));
            return false;
        }
        bound->values[place] = arguments->named.data[i];
    }
    return true;
}

static bool bind_signature(Eval *eval, const BuiltinRow *row, const Arguments *arguments,
                           Bound *bound)
{
    SignaturePart parts[PARAMETER_LIMIT];
    int count = parse_signature(row->signature, parts);
    size_t given = arguments->positional.count, taken = 0;
    for (int i = 0; i < count; i++) {
        if (parts[i].takes_rest) {
            bound->rest =
                object_list(eval, OBJECT_TUPLE, arguments->positional.data + taken, given - taken);
            taken = given;
        } else if (!parts[i].by_name && taken < given) {
            bound->values[i] = arguments->positional.data[taken++];
        }
    }
    if (taken < given) {
        complain(eval, row, arguments, "got too many arguments");
        return false;
    }
    if (!bind_named(eval, row, arguments, parts, count, bound)) return false;
    for (int i = 0; i < count; i++)
        if (bound->values[i] == NULL && !parts[i].optional && !parts[i].takes_rest) {
            complain(eval, row, arguments, "lacks an argument");
            return false;
        }
    return true;
}

/* dict(a=1) takes any name. */
static Object *named_dict(Eval *eval, const Arguments *arguments)
{
    Object *dict = object_new(eval, OBJECT_DICT);
    dict->as.dict.control = (uint32_t)eval->control;
    for (size_t i = 0; i < arguments->names.count; i++) {
        Name name = arguments->names.data[i];
        dict_set(eval, dict, object_text(eval, name, strlen(name)), arguments->named.data[i]);
    }
    return dict;
}

Object *builtin_call(Eval *eval, const BuiltinRow *row, const Arguments *arguments)
{
    Bound bound = {.at = arguments->at};
    if (eval->library > 0) bound.at = eval->at;
    if (strcmp(row->signature, "self, *values, **") == 0) {
        bound.rest = object_list(eval, OBJECT_TUPLE, arguments->positional.data + 1,
                                 arguments->positional.count - 1);
        bound.values[0] = arguments->positional.data[0];
        bound.values[1] = named_dict(eval, arguments);
        return row->handler(eval, &bound);
    }
    if (strcmp(row->signature, "**") == 0) {
        bound.rest = object_list(eval, OBJECT_TUPLE, arguments->positional.data,
                                 arguments->positional.count);
        bound.values[0] = named_dict(eval, arguments);
        return row->handler(eval, &bound);
    }
    return bind_signature(eval, row, arguments, &bound) ? row->handler(eval, &bound) : NULL;
}

static Object *row_object(Eval *eval, const BuiltinRow *row)
{
    Object *object = object_new(eval, OBJECT_BUILTIN);
    object->as.builtin = row;
    return object;
}

void builtins_bind(Eval *eval, const char *module, Bindings *bindings)
{
    for (size_t i = 0; i < ROW_COUNT; i++)
        if (strcmp(ROWS[i].module, module) == 0)
            bindings_make(eval, bindings, intern_text(eval->session->names, ROWS[i].name))->object =
                row_object(eval, &ROWS[i]);
    if (strcmp(module, "__core__") != 0) return;
    for (DType dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        Object *object = object_new(eval, OBJECT_DTYPE);
        object->as.dtype = dtype;
        bindings_make(eval, bindings, intern_text(eval->session->names, dtype_user_name(dtype)))
            ->object = object;
    }
}

bool builtin_is(const Object *object, const char *name)
{
    return object->kind == OBJECT_BUILTIN && strcmp(object->as.builtin->module, "builtins") == 0 &&
           strcmp(object->as.builtin->name, name) == 0;
}

Object *builtin_method(Eval *eval, Object *self, Name name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(ROWS[i].module, object_kind_name(self)) != 0 || strcmp(ROWS[i].name, name) != 0)
            continue;
        if (strcmp(ROWS[i].signature, "@") == 0)
            return ROWS[i].handler(eval, &(Bound){.values = {self}, .at = eval->at});
        Object *method = object_new(eval, OBJECT_METHOD);
        method->as.method.self = self;
        method->as.method.function = row_object(eval, &ROWS[i]);
        return method;
    }
    return NULL;
}

/* ---- sizes and ranges ---- */

Object *builtin_len(Eval *eval, const Bound *bound)
{
    Object *object = bound->values[0];
    if (object_is_sequence(object)) return object_int(eval, object->as.list.count);
    if (object->kind == OBJECT_DICT || object->kind == OBJECT_SET)
        return object_int(eval, (int64_t)object->as.dict.keys.count);
    if (object->kind == OBJECT_CLASS &&
        class_find(object, intern_text(eval->session->names, "__class_iter__")) != NULL) {
        Object *items = iterate(eval, object, bound->at);
        return items != NULL ? object_int(eval, items->as.list.count) : NULL;
    }
    if (object->kind == OBJECT_INSTANCE) {
        Object *method =
            class_find(object->as.instance->class, intern_text(eval->session->names, "__len__"));
        if (method != NULL) return call_simple(eval, method, 1, &object, bound->at);
    }
    if (object->kind == OBJECT_TEXT || object->kind == OBJECT_RANGE ||
        object->kind == OBJECT_ARRAY) {
        Object *items = iterate(eval, object, bound->at);
        return items != NULL ? object_int(eval, items->as.list.count) : NULL;
    }
    return FAIL(eval, expected_kind, bound->at, "the argument of len()", "a container",
                object_repr(eval, object));
}

Object *builtin_range(Eval *eval, const Bound *bound)
{
    Object *range = object_new(eval, OBJECT_RANGE);
    Object *const *given = bound->values;
    bool one = given[1] == NULL || (given[1]->kind == OBJECT_NONE && given[2] == NULL);
    range->as.range.start = one ? object_int(eval, 0) : given[0];
    range->as.range.stop = one ? given[0] : given[1];
    range->as.range.step =
        given[2] != NULL && given[2]->kind != OBJECT_NONE ? given[2] : object_int(eval, 1);
    range->as.range.unroll = given[3] != NULL && given[3]->kind != OBJECT_NONE ? given[3] : NULL;
    const Object *parts[3] = {range->as.range.start, range->as.range.stop, range->as.range.step};
    for (int i = 0; i < 3; i++) {
        bool whole = parts[i]->kind == OBJECT_INT || parts[i]->kind == OBJECT_BOOL ||
                     (parts[i]->kind == OBJECT_IR && type_is_scalar(parts[i]->as.ir.value->type) &&
                      dtype_is_integer(parts[i]->as.ir.value->type->dtype));
        if (!whole)
            return FAIL(eval, expected_kind, bound->at, "a bound of range()", "an integer",
                        object_repr(eval, parts[i]));
    }
    return range;
}

static uint32_t range_length(const Object *range)
{
    const Object *start = range->as.range.start, *stop = range->as.range.stop;
    const Object *step = range->as.range.step;
    if (start->kind == OBJECT_IR || stop->kind == OBJECT_IR || step->kind == OBJECT_IR)
        return UINT32_MAX;
    double length =
        ceil(((double)stop->as.integer - (double)start->as.integer) / (double)step->as.integer);
    return length < 0 ? 0 : length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
}

/* The rows of what stands side by side, as long as the shortest column. A range may be longer than
 * could be written out. */
static Object *zip_rows(Eval *eval, Object *const *iterables, uint32_t width, Span at)
{
    uint32_t shortest = UINT32_MAX;
    Object *columns = object_list(eval, OBJECT_LIST, NULL, 0),
           *rows = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = 0; i < width; i++) {
        bool range = iterables[i]->kind == OBJECT_RANGE && width > 1;
        Object *items = range ? iterables[i] : iterate(eval, iterables[i], at);
        if (items == NULL) return NULL;
        uint32_t length = range ? range_length(items) : items->as.list.count;
        shortest = length < shortest ? length : shortest;
        list_append(eval, columns, items);
    }
    for (uint32_t i = 0; i < width; i++) {
        Object *column = columns->as.list.items[i];
        if (column->kind != OBJECT_RANGE) continue;
        column = iterate_some(eval, column, shortest, at);
        if (column == NULL) return NULL;
        columns->as.list.items[i] = column;
        if (column->as.list.count < shortest) shortest = column->as.list.count;
    }
    for (uint32_t i = 0; width > 0 && i < shortest; i++) {
        Object *row = object_list(eval, OBJECT_TUPLE, NULL, 0);
        for (uint32_t j = 0; j < width; j++)
            list_append(eval, row, columns->as.list.items[j]->as.list.items[i]);
        list_append(eval, rows, row);
    }
    return rows;
}

Object *builtin_zip(Eval *eval, const Bound *bound)
{
    const Object *rest = bound->rest;
    bool strict = false;
    if (bound->values[1] != NULL && !object_truth(eval, bound->values[1], &strict)) return NULL;
    Object *first = NULL, *items = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = 0; strict && i < rest->as.list.count; i++) {
        Object *column = iterate(eval, rest->as.list.items[i], bound->at);
        if (column == NULL) return NULL;
        first = first == NULL ? column : first;
        if (column->as.list.count != first->as.list.count)
            return FAIL(eval, bad_value, bound->at, "the arguments of zip() differ in length");
        list_append(eval, items, column);
    }
    const Object *from = strict ? items : rest;
    return iterator_new(eval, zip_rows(eval, from->as.list.items, from->as.list.count, bound->at));
}

Object *builtin_enumerate(Eval *eval, const Bound *bound)
{
    int64_t start = 0;
    Object *items = iterate(eval, bound->values[0], bound->at);
    if (items == NULL ||
        (bound->values[1] != NULL &&
         !object_as_int(eval, bound->values[1], "the start of enumerate()", &start)))
        return NULL;
    Object *rows = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = 0; i < items->as.list.count; i++) {
        Object *pair[2] = {object_int(eval, (int64_t)((uint64_t)start + i)),
                           items->as.list.items[i]};
        list_append(eval, rows, object_list(eval, OBJECT_TUPLE, pair, 2));
    }
    return iterator_new(eval, rows);
}

Object *builtin_reversed(Eval *eval, const Bound *bound)
{
    Object *items = iterate(eval, bound->values[0], bound->at);
    Object *turned = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = items != NULL ? items->as.list.count : 0; i-- > 0;)
        list_append(eval, turned, items->as.list.items[i]);
    return items != NULL ? iterator_new(eval, turned) : NULL;
}

Object *builtin_map(Eval *eval, const Bound *bound)
{
    Object *rows =
        zip_rows(eval, bound->rest->as.list.items, bound->rest->as.list.count, bound->at);
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = 0; rows != NULL && i < rows->as.list.count; i++) {
        const Object *row = rows->as.list.items[i];
        Object *item = call_simple(eval, bound->values[0], (int)row->as.list.count,
                                   row->as.list.items, bound->at);
        if (item == NULL) return NULL;
        list_append(eval, list, item);
    }
    return rows != NULL ? iterator_new(eval, list) : NULL;
}

static Object *sort_key(Eval *eval, const Bound *bound, Object *item)
{
    if (bound->values[1] == NULL || bound->values[1]->kind == OBJECT_NONE) return item;
    return call_simple(eval, bound->values[1], 1, &item, bound->at);
}

/* By insertion: lists here are short. */
Object *builtin_sorted(Eval *eval, const Bound *bound)
{
    bool reverse = false;
    Object *items = iterate(eval, bound->values[0], bound->at);
    if (items == NULL ||
        (bound->values[2] != NULL && !object_truth(eval, bound->values[2], &reverse)))
        return NULL;
    Object *keys = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = 0; i < items->as.list.count; i++) {
        Object *item = items->as.list.items[i], *key = sort_key(eval, bound, item);
        if (key == NULL) return NULL;
        list_append(eval, keys, key);
        uint32_t place = i;
        for (; place > 0; place--) {
            Object *left = keys->as.list.items[place - 1];
            Object *less = operate_compare(eval, OPERATOR_Lt, reverse ? left : key,
                                           reverse ? key : left, bound->at);
            bool moves;
            if (less == NULL || !object_truth(eval, less, &moves)) return NULL;
            if (!moves) break;
            keys->as.list.items[place] = left;
            items->as.list.items[place] = items->as.list.items[place - 1];
        }
        keys->as.list.items[place] = key;
        items->as.list.items[place] = item;
    }
    return items;
}

/* ---- numbers ---- */

static Object *pick_by_key(Eval *eval, const Bound *bound, const Object *items, Operator wins)
{
    Object *best = NULL, *best_key = NULL;
    for (uint32_t i = 0; i < items->as.list.count; i++) {
        Object *item = items->as.list.items[i];
        Object *key = call_simple(eval, bound->values[2], 1, &item, bound->at);
        Object *better = key == NULL        ? NULL
                         : best_key == NULL ? eval->yes
                                            : operate_compare(eval, wins, key, best_key, bound->at);
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
        items = iterate(eval, items->as.list.items[0], bound->at);
        if (items == NULL) return NULL;
    }
    if (items->as.list.count == 0 && bound->values[1] != NULL) return bound->values[1];
    if (items->as.list.count == 0)
        return FAIL(eval, bad_value, bound->at, "there is nothing to choose from");
    if (bound->values[2] != NULL && bound->values[2]->kind != OBJECT_NONE)
        return pick_by_key(eval, bound, items, wins);
    Object *best = items->as.list.items[0];
    for (uint32_t i = 1; best != NULL && i < items->as.list.count; i++)
        best = smaller_or_larger(eval, wins, best, items->as.list.items[i], bound->at);
    return best;
}

Object *smaller_or_larger(Eval *eval, Operator wins, Object *a, Object *b, Span at)
{
    if (object_is_staged(a) || object_is_staged(b)) {
        Value *left, *right;
        if (!stage_pair(eval, a, b, at, &left, &right)) return NULL;
        if (left->type->dtype == DTYPE_b1) { /* booleans have no order in the IR */
            left = stage_cast(eval, left, DTYPE_i32);
            right = stage_cast(eval, right, DTYPE_i32);
        }
        return object_ir(
            eval, build2(&eval->builder, wins == OPERATOR_Lt ? OP_min : OP_max, left, right));
    }
    Object *better = operate_compare(eval, wins, b, a, at);
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
    Object *items = iterate(eval, bound->values[0], bound->at);
    Object *total = bound->values[1] != NULL ? bound->values[1] : object_int(eval, 0);
    for (uint32_t i = 0; items != NULL && total != NULL && i < items->as.list.count; i++)
        total = operate_binary(eval, OPERATOR_Add, total, items->as.list.items[i], bound->at);
    return items != NULL ? total : NULL;
}

Object *builtin_abs(Eval *eval, const Bound *bound)
{
    Object *x = bound->values[0];
    if (object_is_staged(x)) return core_absolute(eval, &(Bound){.values = {x}, .at = bound->at});
    if (x->kind == OBJECT_FLOAT) return object_float(eval, fabs(x->as.number));
    if (!object_is_number(x))
        return FAIL(eval, expected_kind, bound->at, "the argument of abs()", "a number",
                    object_repr(eval, x));
    return x->as.integer < 0 ? operate_unary(eval, OPERATOR_USub, x, bound->at)
                             : object_int(eval, x->as.integer);
}

Object *builtin_round(Eval *eval, const Bound *bound)
{
    Object *x = bound->values[0];
    int64_t digits = 0;
    if (!object_is_number(x))
        return FAIL(eval, expected_kind, bound->at, "the argument of round()", "a number",
                    object_repr(eval, x));
    if (bound->values[1] != NULL &&
        !object_as_int(eval, bound->values[1], "the digits of round()", &digits))
        return NULL;
    double number = object_number(x);
    if (bound->values[1] != NULL) {
        if (x->kind != OBJECT_FLOAT && digits >= 0) return object_int(eval, x->as.integer);
        if (digits < -18 || digits > 300 || !(fabs(number) < 1e300)) return x;
        if (digits >= 0) { /* as its decimal digits round */
            char text[700];
            snprintf(text, sizeof text, "%.*f", (int)digits, number);
            return object_float(eval, strtod(text, NULL));
        }
        double scale = pow(10, (double)-digits), rounded = nearbyint(number / scale) * scale;
        return x->kind == OBJECT_FLOAT ? object_float(eval, rounded)
                                       : object_int(eval, (int64_t)rounded);
    }
    if (!(fabs(number) < 9e18)) return FAIL(eval, int_overflow, bound->at, "round");
    return object_int(eval, x->kind == OBJECT_FLOAT ? (int64_t)nearbyint(number) : x->as.integer);
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
        return FAIL(eval, bad_value, bound->at,
                    "pow() takes a modulus of 1 to 2**31 - 1 and no negative exponent");
    int64_t result = 1 % divisor;
    for (base = (base % divisor + divisor) % divisor; power > 0; power >>= 1) {
        if (power & 1) result = result * base % divisor;
        base = base * base % divisor;
    }
    return object_int(eval, result);
}

/* ---- conversions ---- */

static Object *int_of_text(Eval *eval, const Object *text, int64_t base, Span at)
{
    char *end;
    const char *start = text->as.text.data;
    while (*start == ' ') start++;
    const char *digits = start + (*start == '-' || *start == '+');
    bool prefixed = base == 0 && digits[0] == '0' && digits[1] != '\0';
    bool binary = digits[0] == '0' && (digits[1] | 32) == 'b' && (base == 0 || base == 2);
    bool octal = digits[0] == '0' && (digits[1] | 32) == 'o' && (base == 0 || base == 8);
    errno = 0;
    long long value = binary || octal ? strtoll(digits + 2, &end, binary ? 2 : 8)
                                      : strtoll(start, &end,
                                                prefixed ? 16
                                                : base   ? (int)base
                                                         : 10);
    bool empty = end == (binary || octal ? digits + 2 : start);
    while (*end == ' ' || *end == '\n') end++;
    if (errno == ERANGE) return FAIL(eval, int_overflow, at, "int");
    if (empty || *end != '\0')
        return FAIL(eval, bad_value, at,
                    arena_printf(eval->arena, "%s is no integer", object_repr(eval, text)));
    return object_int(eval, (binary || octal) && *start == '-' ? -value : value);
}

Object *builtin_int(Eval *eval, const Bound *bound)
{
    Object *x = bound->values[0];
    if (x == NULL) return object_int(eval, 0);
    if (object_is_staged(x)) return cast_to(eval, x, DTYPE_i32, bound->at);
    int64_t base = 10;
    if (bound->values[1] != NULL && !object_as_int(eval, bound->values[1], "the base", &base))
        return NULL;
    if (x->kind == OBJECT_TEXT) return int_of_text(eval, x, base, bound->at);
    if (x->kind == OBJECT_INSTANCE) {
        Object *method =
            class_find(x->as.instance->class, intern_text(eval->session->names, "__int__"));
        if (method != NULL) return call_simple(eval, method, 1, &x, bound->at);
    }
    if (!object_is_number(x))
        return FAIL(eval, expected_kind, bound->at, "the argument of int()", "a number",
                    object_repr(eval, x));
    if (x->kind != OBJECT_FLOAT) return object_int(eval, x->as.integer);
    if (!(fabs(x->as.number) < 9.2e18)) return FAIL(eval, int_overflow, bound->at, "int");
    return object_int(eval, (int64_t)x->as.number);
}

Object *builtin_float(Eval *eval, const Bound *bound)
{
    Object *x = bound->values[0];
    if (x == NULL) return object_float(eval, 0);
    if (object_is_staged(x)) return cast_to(eval, x, DTYPE_f32, bound->at);
    if (object_is_number(x)) return object_float(eval, object_number(x));
    char *end = NULL;
    double number = x->kind == OBJECT_TEXT ? strtod(x->as.text.data, &end) : 0;
    if (end == NULL || end == x->as.text.data || *end != '\0')
        return FAIL(eval, bad_value, bound->at,
                    arena_printf(eval->arena, "%s is no number", object_repr(eval, x)));
    return object_float(eval, number);
}

Object *builtin_bool(Eval *eval, const Bound *bound)
{
    bool truth = false;
    if (bound->values[0] != NULL && object_is_staged(bound->values[0]))
        return cast_to(eval, bound->values[0], DTYPE_b1, bound->at);
    if (bound->values[0] != NULL && !object_truth(eval, bound->values[0], &truth)) return NULL;
    return object_bool(eval, truth);
}

Object *builtin_str(Eval *eval, const Bound *bound)
{
    return bound->values[0] != NULL ? format_object(eval, bound->values[0], "", bound->at)
                                    : object_text(eval, "", 0);
}

Object *builtin_repr(Eval *eval, const Bound *bound)
{
    const char *text = object_repr(eval, bound->values[0]);
    return object_text(eval, text, strlen(text));
}

static Object *to_sequence(Eval *eval, const Bound *bound, ObjectKind kind)
{
    Object *items = bound->values[0] != NULL ? iterate(eval, bound->values[0], bound->at)
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

Object *builtin_dict(Eval *eval, const Bound *bound)
{
    Object *dict = bound->values[0];
    for (uint32_t i = 0; i < bound->rest->as.list.count; i++) {
        Object *other = bound->rest->as.list.items[i];
        if (other->kind == OBJECT_DICT) {
            dict = operate_binary(eval, OPERATOR_BitOr, other, dict, bound->at);
            continue;
        }
        Object *pairs = iterate(eval, other, bound->at);
        for (uint32_t j = 0; pairs != NULL && j < pairs->as.list.count; j++) {
            Object *pair = pairs->as.list.items[j];
            if (!object_is_sequence(pair) || pair->as.list.count != 2)
                return FAIL(eval, bad_value, bound->at, "dict() takes pairs");
            dict_set(eval, dict, pair->as.list.items[0], pair->as.list.items[1]);
        }
        if (pairs == NULL) return NULL;
    }
    return dict;
}

/* ---- logic ---- */

static Object *any_or_all(Eval *eval, const Bound *bound, bool wanted)
{
    Object *items = iterate(eval, bound->values[0], bound->at);
    for (uint32_t i = 0; items != NULL && i < items->as.list.count; i++) {
        bool truth;
        if (!object_truth(eval, items->as.list.items[i], &truth)) return NULL;
        if (truth == wanted) return object_bool(eval, wanted);
    }
    return items != NULL ? object_bool(eval, !wanted) : NULL;
}

Object *builtin_any(Eval *eval, const Bound *bound)
{
    return any_or_all(eval, bound, true);
}

Object *builtin_all(Eval *eval, const Bound *bound)
{
    return any_or_all(eval, bound, false);
}

/* ---- objects ---- */

bool object_is_instance(const Object *object, const Object *kind)
{
    static const struct {
        const char *name;
        ObjectKind kind;
    } KINDS[] = {
        {"int", OBJECT_INT},   {"int", OBJECT_BOOL},   {"float", OBJECT_FLOAT},
        {"bool", OBJECT_BOOL}, {"str", OBJECT_TEXT},   {"tuple", OBJECT_TUPLE},
        {"list", OBJECT_LIST}, {"dict", OBJECT_DICT},  {"range", OBJECT_RANGE},
        {"set", OBJECT_SET},   {"type", OBJECT_CLASS},
    };
    if (object_is_sequence(kind)) {
        for (uint32_t i = 0; i < kind->as.list.count; i++)
            if (object_is_instance(object, kind->as.list.items[i])) return true;
        return false;
    }
    if (kind->kind == OBJECT_CLASS && strcmp(kind->as.class->name, "object") == 0) return true;
    if (kind->kind == OBJECT_CLASS)
        return object->kind == OBJECT_INSTANCE && class_derives(object->as.instance->class, kind);
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (KINDS[i].kind == object->kind && builtin_is(kind, KINDS[i].name)) return true;
    return false;
}

Object *builtin_isinstance(Eval *eval, const Bound *bound)
{
    return object_bool(eval, object_is_instance(bound->values[0], bound->values[1]));
}

Object *builtin_issubclass(Eval *eval, const Bound *bound)
{
    bool classes = bound->values[0]->kind == OBJECT_CLASS && bound->values[1]->kind == OBJECT_CLASS;
    return object_bool(eval, classes && class_derives(bound->values[0], bound->values[1]));
}

static Name name_argument(Eval *eval, const Object *object, Span at)
{
    if (object->kind == OBJECT_TEXT)
        return intern(eval->session->names, object->as.text.data, object->as.text.length);
    return FAIL(eval, expected_kind, at, "an attribute's name", "a str", object_repr(eval, object));
}

Object *builtin_hasattr(Eval *eval, const Bound *bound)
{
    Name name = name_argument(eval, bound->values[1], bound->at);
    bool found = false;
    if (name == NULL) return NULL;
    eval->quiet++;
    Object *value = attribute_find(eval, bound->values[0], name, bound->at, &found);
    eval->quiet--;
    return object_bool(eval, found && value != NULL);
}

Object *builtin_getattr(Eval *eval, const Bound *bound)
{
    Name name = name_argument(eval, bound->values[1], bound->at);
    bool found = false;
    if (name == NULL) return NULL;
    if (bound->values[2] == NULL) return attribute_get(eval, bound->values[0], name, bound->at);
    Object *value = attribute_find(eval, bound->values[0], name, bound->at, &found);
    return found ? value : bound->values[2];
}

Object *builtin_setattr(Eval *eval, const Bound *bound)
{
    Name name = name_argument(eval, bound->values[1], bound->at);
    return name != NULL && attribute_set(eval, bound->values[0], name, bound->values[2], bound->at)
               ? eval->none
               : NULL;
}

Object *builtin_callable(Eval *eval, const Bound *bound)
{
    ObjectKind kind = bound->values[0]->kind;
    bool calls = kind == OBJECT_FUNCTION || kind == OBJECT_METHOD || kind == OBJECT_BUILTIN ||
                 kind == OBJECT_CLASS || kind == OBJECT_HOST_FUNCTION;
    if (kind == OBJECT_INSTANCE)
        calls = class_find(bound->values[0]->as.instance->class,
                           intern_text(eval->session->names, "__call__")) != NULL;
    return object_bool(eval, calls);
}

static Object *make_type(Eval *eval, const Bound *bound)
{
    ObjectVec bases = {0};
    const Object *name = bound->values[0], *given = bound->values[1], *dict = bound->values[2];
    if (name->kind != OBJECT_TEXT || !object_is_sequence(given) || dict->kind != OBJECT_DICT)
        return FAIL(eval, bad_value, bound->at, "type() takes an object, or name, bases and dict");
    for (uint32_t i = 0; i < given->as.list.count; i++)
        if (given->as.list.items[i]->kind == OBJECT_CLASS)
            vec_push(eval->arena, &bases, given->as.list.items[i]);
    return class_make(eval, intern(eval->session->names, name->as.text.data, name->as.text.length),
                      &bases, dict, bound->at);
}

Object *builtin_type(Eval *eval, const Bound *bound)
{
    if (bound->values[1] != NULL && bound->values[2] != NULL) return make_type(eval, bound);
    const Object *object = bound->values[0];
    if (object->kind == OBJECT_INSTANCE) return object->as.instance->class;
    const char *name = object_kind_name(object);
    bool found;
    Object *type = scope_lookup(eval, eval->builtins, intern_text(eval->session->names, name),
                                bound->at, &found);
    return found ? type : object_text(eval, name, strlen(name));
}

Object *builtin_super(Eval *eval, const Bound *bound)
{
    Object *class = bound->values[0], *self = bound->values[1];
    const Frame *frame = eval->frame;
    if (class == NULL && frame->function != NULL) {
        class = frame->function->owner;
        self = frame->self;
    }
    if (class == NULL || self == NULL || class->kind != OBJECT_CLASS)
        return FAIL(eval, bad_value, bound->at, "super() works in a method only");
    Object *object = object_new(eval, OBJECT_SUPER);
    object->as.method.self = self;
    object->as.method.function = class;
    return object;
}

static Object *wrap(Eval *eval, const Bound *bound, ObjectKind kind)
{
    Object *object = object_new(eval, kind);
    object->as.method.function = bound->values[0];
    return object;
}

Object *builtin_property(Eval *eval, const Bound *bound)
{
    Object *property = wrap(eval, bound, OBJECT_PROPERTY);
    property->as.method.self = bound->values[1];
    return property;
}

/* @name.setter: a property with both. */
Object *property_setter(Eval *eval, const Bound *bound)
{
    Object *property = object_new(eval, OBJECT_PROPERTY);
    property->as.method.function = bound->values[0]->as.method.function;
    property->as.method.self = bound->values[1];
    return property;
}

Object *property_getter(Eval *eval, const Bound *bound)
{
    Object *property = object_new(eval, OBJECT_PROPERTY);
    property->as.method.function = bound->values[1];
    property->as.method.self = bound->values[0]->as.method.self;
    return property;
}

Object *builtin_staticmethod(Eval *eval, const Bound *bound)
{
    return wrap(eval, bound, OBJECT_STATIC_METHOD);
}

Object *builtin_classmethod(Eval *eval, const Bound *bound)
{
    return wrap(eval, bound, OBJECT_CLASS_METHOD);
}

/* ---- output ---- */

Object *builtin_print(Eval *eval, const Bound *bound)
{
    if (eval->staging != NULL) return FAIL(eval, unsupported, bound->at, "print() in a kernel");
    Buf buf = {0};
    const Object *separator = bound->values[1], *end = bound->values[2];
    for (uint32_t i = 0; i < bound->rest->as.list.count; i++) {
        if (i > 0 && separator != NULL && separator->kind == OBJECT_TEXT)
            buf_bytes(&buf, separator->as.text.data, separator->as.text.length);
        else if (i > 0)
            buf_char(&buf, ' ');
        object_print(eval, bound->rest->as.list.items[i], TEXT_STR, &buf);
    }
    if (end != NULL && end->kind == OBJECT_TEXT)
        buf_bytes(&buf, end->as.text.data, end->as.text.length);
    else
        buf_char(&buf, '\n');
    if (eval->host != NULL) eval->host->print(eval->host, buf.data, buf.length);
    buf_free(&buf);
    return eval->none;
}
