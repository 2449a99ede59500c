/* value.c: compile-time values: making, comparing, printing them. */
#include "eval/values/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- making ---- */

Object *object_new(Eval *eval, ObjectKind kind)
{
    Object *object = arena_new_of(eval->arena, Object);
    object->kind = kind;
    return object;
}

Object *object_dtype(Eval *eval, DType dtype)
{
    const bool is_plain = eval->staging != NULL && eval->staging->plain_types;
    Object *object = object_new(eval, OBJECT_DTYPE);
    object->as.dtype = dtype;
    object->as.spelled = is_plain ? NULL : eval->spelled[dtype];
    return object;
}

const char *dtype_spelling(const Object *dtype)
{
    return dtype->as.spelled != NULL ? dtype->as.spelled : dtype_user_name(dtype->as.dtype);
}

Object *object_bool(Eval *eval, bool value)
{
    return value ? eval->yes : eval->no;
}

Object *object_int(Eval *eval, int64_t value)
{
    Object *object = object_new(eval, OBJECT_INT);
    object->as.integer = value;
    return object;
}

Object *object_float(Eval *eval, double value)
{
    Object *object = object_new(eval, OBJECT_FLOAT);
    object->as.number = value;
    return object;
}

/* Of an int the last 64. */
static int64_t bits_of(const Object *number)
{
    if (number->kind == OBJECT_WIDE) return (int64_t)(uint64_t)*number->as.wide;
    return number->kind == OBJECT_FLOAT ? (int64_t)number->as.number : number->as.integer;
}

Object *object_of_dtype(Eval *eval, const Object *number, DType dtype)
{
    Object *made =
        dtype_is_float(dtype)
            ? object_float(eval, dtype_decode(dtype, dtype_encode(dtype, object_number(number))))
            : object_int(eval, dtype_wrap(dtype, bits_of(number)));
    made->said = (uint8_t)(dtype + 1);
    return made;
}

bool number_said(const Object *number, DType *out)
{
    if (number->said == 0) return false;
    *out = (DType)(number->said - 1);
    return true;
}

Object *object_text_adopt(Eval *eval, char *data, size_t length)
{
    Object *object = object_new(eval, OBJECT_TEXT);
    object->as.text.data = data;
    object->as.text.length = length;
    return object;
}

Object *object_text(Eval *eval, const char *data, size_t length)
{
    return object_text_adopt(eval, arena_copy_text(eval->arena, length ? data : "", length),
                             length);
}

Object *object_list(Eval *eval, ObjectKind kind, Object *const *items, size_t count)
{
    Object *list = object_new(eval, kind);
    list->as.list.control = (uint32_t)eval->control;
    list->made = ++eval->clock;
    for (size_t i = 0; i < count; i++) list_append(eval, list, items[i]);
    return list;
}

void list_append(Eval *eval, Object *list, Object *item)
{
    if (list->as.list.count == list->as.list.capacity) {
        size_t capacity = list->as.list.capacity;
        list->as.list.items = vec_grow(eval->arena, list->as.list.items, sizeof(Object *),
                                       list->as.list.count, &capacity);
        list->as.list.capacity = (uint32_t)capacity;
    }
    list->as.list.items[list->as.list.count++] = item;
}

/* ---- asking ---- */

const char *object_kind_name(const Object *object)
{
    static const char *const NAMES[OBJECT_COUNT] = {
#define OBJECT(kind, name) name,
        OBJECT_KINDS
#undef OBJECT
    };
    return NAMES[object->kind];
}

bool object_is_number(const Object *object)
{
    return object->kind == OBJECT_BOOL || object->kind == OBJECT_INT ||
           object->kind == OBJECT_FLOAT;
}

bool object_is_real(const Object *object)
{
    return object_is_number(object) || object->kind == OBJECT_WIDE;
}

bool object_is_staged(const Object *object)
{
    return object->kind == OBJECT_IR || object->kind == OBJECT_TILE;
}

size_t count_characters(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += !continues_character(text[i]);
    return count;
}

bool object_is_sequence(const Object *object)
{
    return object->kind == OBJECT_TUPLE || object->kind == OBJECT_LIST;
}

double object_number(const Object *object)
{
    if (object->kind == OBJECT_WIDE) return (double)*object->as.wide;
    return object->kind == OBJECT_FLOAT ? object->as.number : (double)object->as.integer;
}

enum { EQUAL_DEPTH = 100 }; /* a list may hold itself */

static bool equal_at(Eval *eval, const Object *a, const Object *b, int depth);

/* Of one class, or of classes that the fields come from one of. */
static bool are_records_alike(Eval *eval, const Object *a, const Object *b)
{
    Object *first = a->as.list.class, *second = b->as.list.class;
    if (first == second) return true;
    if (eval == NULL || first == NULL || second == NULL) return false;
    const Name name = intern_text(eval->session->names, "__fields__");
    const Object *fields = class_find(first, name);
    return fields != NULL && fields == class_find(second, name);
}

static bool lists_equal(Eval *eval, const Object *a, const Object *b, int depth)
{
    if (a->as.list.count != b->as.list.count || !are_records_alike(eval, a, b)) return false;
    for (uint32_t i = 0; i < a->as.list.count && i < b->as.list.count; i++) /* an __eq__ may */
        if (!equal_at(eval, a->as.list.items[i], b->as.list.items[i], depth)) return false;
    return a->as.list.count == b->as.list.count;
}

static bool dicts_equal(Eval *eval, const Object *a, const Object *b, int depth)
{
    if (a->as.dict.keys.count != b->as.dict.keys.count) return false;
    for (size_t i = 0; i < a->as.dict.keys.count; i++) {
        const Object *other = dict_get(eval, b, a->as.dict.keys.data[i]);
        if (other == NULL || !equal_at(eval, a->as.dict.values.data[i], other, depth)) return false;
    }
    return true;
}

static bool sets_equal(Eval *eval, const Object *a, const Object *b)
{
    if (a->as.dict.keys.count != b->as.dict.keys.count) return false;
    for (size_t i = 0; i < a->as.dict.keys.count; i++)
        if (dict_get(eval, b, a->as.dict.keys.data[i]) == NULL) return false;
    return true;
}

/* Of the same numbers, however they are written; else as they are written. */
static bool ranges_equal(const Object *a, const Object *b)
{
    int64_t count, other;
    const bool starts = object_equal(NULL, a->as.range.start, b->as.range.start),
               steps = object_equal(NULL, a->as.range.step, b->as.range.step);
    if (range_count(a, &count) && range_count(b, &other))
        return count == other && (count == 0 || (starts && (count == 1 || steps)));
    return starts && steps && object_equal(NULL, a->as.range.stop, b->as.range.stop);
}

/* float16 == "float16", in whichever dialect it is compared. */
static bool is_named(const Eval *eval, DType dtype, const Object *text)
{
    DType named;
    return dtype_by_user_name(eval, text->as.text.data, &named) && named == dtype;
}

/* What __eq__ of one of the two says. */
static bool instances_equal(Eval *eval, const Object *a, const Object *b)
{
    bool same = false;
    Object *result = eval->ops->operate_compare(eval, OPERATOR_Eq, (Object *)(uintptr_t)a,
                                                (Object *)(uintptr_t)b, eval->at);
    if (result == NULL || !object_truth(eval, result, &same)) eval->equal_failed = true;
    return same;
}

Object *unless_equal_failed(Eval *eval, Object *found)
{
    const bool failed = eval->equal_failed;
    eval->equal_failed = false;
    return failed ? NULL : found;
}

static bool equal_at(Eval *eval, const Object *a, const Object *b, int depth)
{
    if (eval != NULL && !eval_work(eval, 1)) return false;
    if (a == b) return true;
    if (depth > EQUAL_DEPTH) return false;
    if (eval != NULL && !eval_may_nest(eval, eval->at)) {
        eval->equal_failed = true;
        return false;
    }
    if (object_is_real(a) && object_is_real(b)) return object_order_numbers(a, b) == 0;
    if (eval != NULL && eval->plain == 0 &&
        (a->kind == OBJECT_INSTANCE || b->kind == OBJECT_INSTANCE))
        return instances_equal(eval, a, b);
    if (a->kind == OBJECT_DTYPE && b->kind == OBJECT_TEXT) return is_named(eval, a->as.dtype, b);
    if (a->kind == OBJECT_TEXT && b->kind == OBJECT_DTYPE) return is_named(eval, b->as.dtype, a);
    if (a->kind != b->kind) return false;
    switch ((int)a->kind) { /* the rest is equal by identity */
    case OBJECT_NONE:
    case OBJECT_ELLIPSIS: return true;
    case OBJECT_TEXT:
        return a->as.text.length == b->as.text.length &&
               (eval == NULL || eval_work(eval, a->as.text.length / WORK_BYTES)) &&
               memcmp(a->as.text.data, b->as.text.data, a->as.text.length) == 0;
    case OBJECT_TUPLE:
    case OBJECT_LIST: return lists_equal(eval, a, b, depth + 1);
    case OBJECT_DICT: return dicts_equal(eval, a, b, depth + 1);
    case OBJECT_SET: return sets_equal(eval, a, b);
    case OBJECT_RANGE: return ranges_equal(a, b);
    case OBJECT_DTYPE:
    case OBJECT_POINTER_TYPE: return a->as.dtype == b->as.dtype;
    case OBJECT_BUILTIN: return a->as.builtin == b->as.builtin;
    case OBJECT_INSTANCE: return a->as.instance == b->as.instance;
    case OBJECT_CLASS: return class_is(a->as.class, b->as.class);
    case OBJECT_IR: return a->as.ir.value == b->as.ir.value;
    case OBJECT_METHOD:
        return object_is(eval, a->as.method.self, b->as.method.self) &&
               equal_at(eval, a->as.method.function, b->as.method.function, depth + 1);
    default: return false;
    }
}

bool object_equal(Eval *eval, const Object *a, const Object *b)
{
    if (eval == NULL) return equal_at(NULL, a, b, 0);
    eval->plain++;
    const bool same = equal_at(eval, a, b, 0);
    eval->plain--;
    return same;
}

bool object_agrees(Eval *eval, const Object *a, const Object *b)
{
    return equal_at(eval, a, b, 0);
}

bool object_is(Eval *eval, const Object *a, const Object *b)
{
    if (a->kind == OBJECT_LIST || a->kind == OBJECT_DICT || a->kind == OBJECT_SET ||
        a->kind == OBJECT_TILE)
        return a == b;
    return a->kind == b->kind && object_equal(eval, a, b);
}

/* ---- printing ---- */

enum { PRINT_DEPTH = 20 };

static void print_text(const Object *object, TextStyle style, Buf *out)
{
    if (style == TEXT_STR) {
        buf_bytes(out, object->as.text.data, object->as.text.length);
        return;
    }
    bool has_single = memchr(object->as.text.data, '\'', object->as.text.length) != NULL;
    bool has_double = memchr(object->as.text.data, '"', object->as.text.length) != NULL;
    char quote = has_single && !has_double ? '"' : '\'';
    buf_char(out, quote);
    for (size_t i = 0; i < object->as.text.length; i++) {
        char c = object->as.text.data[i];
        if (c == '\n')
            buf_text(out, "\\n");
        else if (c == '\t')
            buf_text(out, "\\t");
        else if (c == '\r')
            buf_text(out, "\\r");
        else if ((unsigned char)c < 32 || c == 127)
            buf_printf(out, "\\x%02x", (unsigned char)c);
        else if (c == '\\' || c == quote)
            buf_printf(out, "\\%c", c);
        else
            buf_char(out, c);
    }
    buf_char(out, quote);
}

static void print_at(Eval *eval, const Object *object, TextStyle style, int depth, Buf *out);

static void print_list(Eval *eval, const Object *object, int depth, Buf *out)
{
    bool is_tuple = object->kind == OBJECT_TUPLE;
    buf_char(out, is_tuple ? '(' : '[');
    for (uint32_t i = 0; i < object->as.list.count; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        print_at(eval, object->as.list.items[i], TEXT_REPR, depth, out);
    }
    buf_text(out, is_tuple && object->as.list.count == 1 ? ",)" : is_tuple ? ")" : "]");
}

static void print_dict(Eval *eval, const Object *object, int depth, Buf *out)
{
    buf_char(out, '{');
    for (size_t i = 0; i < object->as.dict.keys.count; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        print_at(eval, object->as.dict.keys.data[i], TEXT_REPR, depth, out);
        buf_text(out, ": ");
        print_at(eval, object->as.dict.values.data[i], TEXT_REPR, depth, out);
    }
    buf_char(out, '}');
}

static void print_set(Eval *eval, const Object *object, int depth, Buf *out)
{
    bool empty = object->as.dict.keys.count == 0, frozen = object->as.dict.frozen;
    buf_text(out, frozen ? "frozenset(" : empty ? "set(" : "");
    buf_text(out, empty ? "" : "{");
    for (size_t i = 0; i < object->as.dict.keys.count; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        print_at(eval, object->as.dict.keys.data[i], TEXT_REPR, depth, out);
    }
    buf_text(out, empty ? "" : "}");
    buf_text(out, frozen || empty ? ")" : "");
}

/* By the class's own __str__ or __repr__. */
static bool print_instance(Eval *eval, const Object *object, TextStyle style, Buf *out)
{
    static const char *const NAMES[] = {"__str__", "__repr__"};
    const Object *class = object_class(object);
    for (int i = style == TEXT_STR ? 0 : 1; i < 2; i++) {
        Object *method = class_find(class, intern_text(eval->session->names, NAMES[i]));
        if (method == NULL || eval->depth > CALL_LIMIT) continue;
        Object *self = (Object *)object;
        Object *text = eval->ops->call_simple(eval, method, 1, &self, eval->at);
        if (text == NULL || text->kind != OBJECT_TEXT) continue;
        buf_bytes(out, text->as.text.data, text->as.text.length);
        return true;
    }
    return false;
}

static void print_range(Eval *eval, const Object *object, int depth, Buf *out)
{
    const Object *step = object->as.range.step;
    buf_text(out, "range(");
    print_at(eval, object->as.range.start, TEXT_REPR, depth, out);
    buf_text(out, ", ");
    print_at(eval, object->as.range.stop, TEXT_REPR, depth, out);
    if (step->kind != OBJECT_INT || step->as.integer != 1) {
        buf_text(out, ", ");
        print_at(eval, step, TEXT_REPR, depth, out);
    }
    buf_char(out, ')');
}

static void print_named(Eval *eval, const Object *object, Buf *out)
{
    switch ((int)object->kind) {
    case OBJECT_FUNCTION: buf_printf(out, "<function %s>", object->as.function.name); break;
    case OBJECT_BUILTIN: buf_printf(out, "<builtin %s>", object->as.builtin->name); break;
    case OBJECT_CLASS: buf_printf(out, "<class '%s'>", object->as.class->name); break;
    case OBJECT_INSTANCE:
        buf_printf(out, "<%s object>", object->as.instance->class->as.class->name);
        break;
    case OBJECT_MODULE: buf_printf(out, "<module '%s'>", object->as.unit->name); break;
    case OBJECT_MISSING: buf_printf(out, "<host module '%s'>", object->as.missing.path); break;
    case OBJECT_IR:
    case OBJECT_TILE: {
        buf_printf(out, "<run-time %s>", eval->ops->staged_type_text(eval, object));
        break;
    }
    default: buf_printf(out, "<%s>", object_kind_name(object)); break;
    }
}

/* Its characters are work too. What is too long takes all that is left. */
static bool may_print(Eval *eval, const Object *object, TextStyle style, const Buf *out)
{
    const size_t each = style == TEXT_REPR ? strlen("\\x00") : 1;
    const size_t more = object->kind == OBJECT_TEXT ? each * object->as.text.length : 0;
    if (more + out->length > TEXT_LIMIT) eval_work(eval, UINT64_MAX);
    return eval_work(eval,
                     WORK_OF_PRINTING + more / (style == TEXT_REPR ? WORK_LETTERS : WORK_BYTES));
}

static void print_array(Eval *eval, const Object *object, Buf *out)
{
    HostValue array = {.kind = HOST_ARRAY, .array = object->as.array};
    if (eval->host != NULL) eval->host->repr(eval->host, &array, out);
}

static void print_wide(Wide value, Buf *out)
{
    enum { DIGITS = 40 };
    char digits[DIGITS];
    int at = DIGITS;
    const bool is_negative = value < 0;
    for (; value != 0; value /= 10)
        digits[--at] = (char)('0' + (is_negative ? -1 : 1) * (int)(value % 10));
    buf_printf(out, "%s%.*s", is_negative ? "-" : "", DIGITS - at, digits + at);
}

static void print_at(Eval *eval, const Object *object, TextStyle style, int depth, Buf *out)
{
    if (!may_print(eval, object, style, out)) return;
    if (depth > PRINT_DEPTH) {
        buf_text(out, "...");
        return;
    }
    switch ((int)object->kind) {
    case OBJECT_NONE: buf_text(out, "None"); break;
    case OBJECT_BOOL: buf_text(out, object->as.integer ? "True" : "False"); break;
    case OBJECT_INT: buf_printf(out, "%lld", (long long)object->as.integer); break;
    case OBJECT_WIDE: print_wide(*object->as.wide, out); break;
    case OBJECT_FLOAT: buf_float(out, object->as.number); break;
    case OBJECT_TEXT: print_text(object, style, out); break;
    case OBJECT_ELLIPSIS: buf_text(out, "Ellipsis"); break;
    case OBJECT_TUPLE:
    case OBJECT_LIST:
        if (!object_is_record(object) || !print_instance(eval, object, style, out))
            print_list(eval, object, depth + 1, out);
        break;
    case OBJECT_DICT: print_dict(eval, object, depth + 1, out); break;
    case OBJECT_SET: print_set(eval, object, depth + 1, out); break;
    case OBJECT_RANGE: print_range(eval, object, depth + 1, out); break;
    case OBJECT_DTYPE: buf_text(out, dtype_spelling(object)); break;
    case OBJECT_POINTER_TYPE: buf_printf(out, "~%s", dtype_user_name(object->as.dtype)); break;
    case OBJECT_ARRAY: print_array(eval, object, out); break;
    case OBJECT_INSTANCE:
        if (!print_instance(eval, object, style, out)) print_named(eval, object, out);
        break;
    default: print_named(eval, object, out); break;
    }
}

void object_print(Eval *eval, const Object *object, TextStyle style, Buf *out)
{
    print_at(eval, object, style, 0, out);
}

/* Where the text of a value that is longer than messages show is cut: before a character. */
static size_t shown_length(const Buf *text)
{
    enum { SHOWN = 80 };
    if (text->length <= SHOWN) return text->length;
    size_t length = SHOWN - strlen(" ...");
    while (length > 0 && (text->data[length] & 0xc0) == 0x80) length--;
    return length;
}

/* An array by its shape and type. */
static void describe_array(Eval *eval, const Object *object, Buf *out)
{
    HostArray array = {0};
    eval->host->describe(eval->host, object->as.array, &array);
    buf_text(out, "array [");
    for (int i = 0; i < array.rank; i++)
        buf_printf(out, "%s%lld", i > 0 ? ", " : "", (long long)array.shape[i]);
    buf_printf(out, "] of %s", dtype_user_name(array.dtype));
}

const char *object_repr(Eval *eval, const Object *object)
{
    Buf buf = {0};
    if (object->kind == OBJECT_ARRAY && eval->host != NULL && eval->host->describe != NULL)
        describe_array(eval, object, &buf);
    else
        object_print(eval, object, TEXT_REPR, &buf);
    const size_t length = shown_length(&buf);
    const char *text =
        arena_printf(eval->arena, "%.*s%s", (int)length, buf.data != NULL ? buf.data : "",
                     length < buf.length ? " ..." : "");
    buf_free(&buf);
    eval->described = object;
    return text;
}

/* ---- truth and numbers ---- */

bool length_is_fit(Eval *eval, const Object *length, Span at)
{
    if (object_is_staged(length)) return true;
    if (length->kind != OBJECT_INT && length->kind != OBJECT_BOOL) {
        FAIL(eval, expected_kind, at, "what __len__ returns", "an int", object_repr(eval, length));
        return false;
    }
    if (length->as.integer >= 0) return true;
    FAIL(eval, negative_length, at);
    return false;
}

/* By __bool__, __len__ or the number of items. */
static bool container_truth(Eval *eval, Object *object, bool *out)
{
    static const char *const NAMES[] = {"__bool__", "__len__"};
    *out = true;
    int64_t count;
    if (range_count(object, &count)) {
        *out = count > 0;
        return true;
    }
    if (object->kind == OBJECT_RANGE) {
        Object *items = eval->ops->iterate(eval, object, eval->at);
        *out = items != NULL && items->as.list.count > 0;
        return items != NULL;
    }
    for (int i = 0; i < 2; i++) {
        Object *method = special_method(eval, object, NAMES[i]);
        if (method == NULL) continue;
        Object *result =
            eval->ops->call_simple(eval, method, 1, (Object *[]){(Object *)object}, eval->at);
        if (result == NULL) return false;
        if (i == 1 && !length_is_fit(eval, result, eval->at)) return false;
        if (i == 1 || object_is_staged(result) || result->kind == OBJECT_BOOL)
            return object_truth(eval, result, out);
        FAIL(eval, expected_kind, eval->at, "what __bool__ returns", "a bool",
             object_repr(eval, result));
        return false;
    }
    return true;
}

Object *object_condition(Eval *eval, Object *object)
{
    if (object == NULL || eval->staging == NULL || object_class(object) == NULL) return object;
    Object *method = special_method(eval, object, "__bool__");
    if (method == NULL) return object;
    Object *result = eval->ops->call_simple(eval, method, 1, &object, eval->at);
    return result == NULL || object_is_staged(result) ? result : object;
}

bool object_truth(Eval *eval, Object *object, bool *out)
{
    if (object_is_record(object)) return container_truth(eval, object, out);
    switch ((int)object->kind) {
    case OBJECT_NONE: *out = false; return true;
    case OBJECT_BOOL:
    case OBJECT_INT: *out = object->as.integer != 0; return true;
    case OBJECT_FLOAT: *out = object->as.number != 0; return true;
    case OBJECT_TEXT: *out = object->as.text.length > 0; return true;
    case OBJECT_TUPLE:
    case OBJECT_LIST: *out = object->as.list.count > 0; return true;
    case OBJECT_SET:
    case OBJECT_DICT: *out = object->as.dict.keys.count > 0; return true;
    case OBJECT_RANGE:
    case OBJECT_INSTANCE: return container_truth(eval, object, out);
    case OBJECT_IR:
    case OBJECT_TILE:
        FAIL(eval, not_static, eval->at, "this condition", object_repr(eval, object));
        return false;
    case OBJECT_MISSING: eval->ops->missing_needed(eval, object, NULL, eval->at); return false;
    case OBJECT_ARRAY: {
        HostValue array = {.kind = HOST_ARRAY, .array = object->as.array};
        return eval->host->truth(eval->host, &array, eval->at, out) == HOST_OK;
    }
    default: *out = true; return true;
    }
}

bool object_as_int(Eval *eval, Object *object, const char *what, int64_t *out)
{
    if (object->kind == OBJECT_INT || object->kind == OBJECT_BOOL) {
        *out = object->as.integer;
        return true;
    }
    int64_t constant;
    if (object->kind == OBJECT_IR && eval->ops->staged_constant(object, &constant)) {
        *out = constant;
        return true;
    }
    if (object_is_staged(object))
        FAIL(eval, not_static, eval->at, what, object_repr(eval, object));
    else
        FAIL(eval, expected_kind, eval->at, what, "an int", object_kind_name(object));
    return false;
}

bool dtype_by_user_name(const Eval *eval, const char *name, DType *out)
{
    for (DType dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (strcmp(dtype_user_name(dtype), name) == 0) {
            *out = dtype;
            return true;
        }
    for (size_t i = 0; eval != NULL && i < eval->type_names.count; i++)
        if (strcmp(eval->type_names.data[i].name, name) == 0) {
            *out = eval->type_names.data[i].dtype;
            return true;
        }
    return false;
}

const Object *text_argument(Eval *eval, const Object *object, const char *what, Span at)
{
    if (object->kind == OBJECT_TEXT) return object;
    return FAIL(eval, expected_kind, at, what, "a str", object_repr(eval, object));
}

bool object_is_variable(const Object *object)
{
    return object != NULL && object->kind == OBJECT_PLACE && object->as.place->assigns;
}
