/* builtins.c: Python's own functions, as far as kernels and the code around them use them. */
#include "eval/python/python.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- calling a row ---- */

enum { PARAMETER_LIMIT = 12 };

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

static const char *row_title(Eval *eval, const BuiltinRow *row)
{
    return arena_printf(eval->arena, "%s(%s)", row->name, row->signature);
}

static bool lacks(Eval *eval, const BuiltinRow *row, const Arguments *arguments,
                  const SignaturePart *part)
{
    FAIL(eval, missing_argument, arguments->at, row_title(eval, row),
         arena_copy_text(eval->arena, part->name, part->length));
    return false;
}

static bool bind_named(Eval *eval, const BuiltinRow *row, const Arguments *arguments,
                       const SignaturePart *parts, int count, Bound *bound)
{
    for (size_t i = 0; i < arguments->names.count; i++) {
        Name name = arguments->names.data[i];
        int index = 0;
        while (index < count && (parts[index].takes_rest || strlen(name) != parts[index].length ||
                                 strncmp(parts[index].name, name, parts[index].length) != 0))
            index++;
        if (index == count || bound->values[index] != NULL) {
            FAIL(eval, unknown_parameter, keyword_span(eval, arguments, name), row_title(eval, row),
                 name);
            return false;
        }
        bound->values[index] = arguments->named.data[i];
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
            Object **rest = taken < given ? arguments->positional.data + taken : NULL;
            bound->rest = object_list(eval, OBJECT_TUPLE, rest, given - taken);
            taken = given;
        } else if (!parts[i].by_name && taken < given) {
            bound->values[i] = arguments->positional.data[taken++];
        }
    }
    if (taken < given) {
        FAIL(eval, many_arguments, extra_span(eval, arguments, taken), row_title(eval, row),
             (unsigned)taken, (unsigned)given);
        return false;
    }
    if (!bind_named(eval, row, arguments, parts, count, bound)) return false;
    for (int i = 0; i < count; i++)
        if (bound->values[i] == NULL && !parts[i].optional && !parts[i].takes_rest)
            return lacks(eval, row, arguments, &parts[i]);
    return true;
}

/* dict(a=1) takes any name. */
static Object *named_dict(Eval *eval, const Arguments *arguments)
{
    Object *dict = dict_new(eval);
    for (size_t i = 0; i < arguments->names.count; i++) {
        Name name = arguments->names.data[i];
        dict_set(eval, dict, object_text(eval, name, strlen(name)), arguments->named.data[i]);
    }
    return dict;
}

/* The others are the kinds whose methods they are. */
static bool is_module(const char *module)
{
    return strncmp(module, "__", 2) == 0 || strcmp(module, "builtins") == 0;
}

/* `str.upper(x)`: a method that is called through its class says itself what it is called for. */
static bool check_self(Eval *eval, const BuiltinRow *row, const Arguments *arguments, Span at)
{
    if (is_module(row->module) || strncmp(row->signature, "self", 4) != 0) return true;
    if (arguments->positional.count == 0)
        return lacks(eval, row, arguments, &(SignaturePart){.name = "self", .length = 4});
    const Object *self = arguments->positional.data[0];
    if (strcmp(object_kind_name(self), row->module) == 0 ||
        (self->kind == OBJECT_BOOL && strcmp(row->module, "int") == 0))
        return true;
    FAIL(eval, expected_kind, at,
         arena_printf(eval->arena, "the first argument of %s.%s()", row->module, row->name),
         arena_printf(eval->arena, "of kind %s", row->module), object_repr(eval, self));
    return false;
}

/* What a method of a text or a list may look at: all of it. */
static void charge(Eval *eval, const Arguments *arguments)
{
    const Object *self =
        arguments->positional.count > 0 ? arguments->positional.data[0] : eval->none;
    if (self->kind == OBJECT_TEXT)
        eval_work(eval, self->as.text.length / WORK_LETTERS);
    else if (self->kind == OBJECT_LIST)
        eval_work(eval, self->as.list.count / WORK_ITEMS);
}

static Object *call_row(Eval *eval, const BuiltinRow *row, const Arguments *arguments)
{
    Bound bound = {.at = arguments->at};
    if (eval->library > 0) bound.at = eval->at;
    if (!eval->ops->masked_allow(eval, row, bound.at) ||
        !check_self(eval, row, arguments, bound.at))
        return NULL;
    charge(eval, arguments);
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

Object *builtin_call(Eval *eval, const BuiltinRow *row, const Arguments *arguments)
{
    const ActiveCall call = {arguments, eval->frame, row->name,
                             eval->library > 0 ? eval->at : arguments->at, eval->calling};
    eval->calling = &call;
    Object *result = call_row(eval, row, arguments);
    eval->calling = call.outer;
    return unless_equal_failed(eval, result);
}

static Object *row_object(Eval *eval, const BuiltinRow *row)
{
    Object *object = object_new(eval, OBJECT_BUILTIN);
    object->as.builtin = row;
    return object;
}

void builtins_add(Eval *eval, const BuiltinRow *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) vec_push(eval->arena, &eval->rows, rows[i]);
}

void builtins_bind(Eval *eval, const char *module, Bindings *bindings)
{
    if (!is_module(module)) return;
    for (size_t i = 0; i < eval->rows.count; i++)
        if (strcmp(eval->rows.data[i].module, module) == 0)
            bindings_make(eval, bindings,
                          intern_text(eval->session->names, eval->rows.data[i].name))
                ->object = row_object(eval, &eval->rows.data[i]);
    if (strcmp(module, "__core__") != 0) return;
    for (DType dtype = 0; dtype < DTYPE_COUNT; dtype++) {
        Object *object = object_new(eval, OBJECT_DTYPE);
        object->as.dtype = dtype;
        bindings_make(eval, bindings, intern_text(eval->session->names, dtype_user_name(dtype)))
            ->object = object;
    }
}

Object *builtin_of_kind(Eval *eval, const BuiltinRow *kind, Name name)
{
    for (size_t i = 0; strcmp(kind->module, "builtins") == 0 && i < eval->rows.count; i++)
        if (strcmp(eval->rows.data[i].module, kind->name) == 0 &&
            strcmp(eval->rows.data[i].name, name) == 0 &&
            strcmp(eval->rows.data[i].signature, "@") != 0)
            return row_object(eval, &eval->rows.data[i]);
    return NULL;
}

Object *builtin_method(Eval *eval, Object *self, Name name)
{
    for (size_t i = 0; i < eval->rows.count; i++) {
        if (strcmp(eval->rows.data[i].module, object_kind_name(self)) != 0 ||
            strcmp(eval->rows.data[i].name, name) != 0)
            continue;
        if (strcmp(eval->rows.data[i].signature, "@") == 0)
            return eval->rows.data[i].handler(eval, &(Bound){.values = {self}, .at = eval->at});
        if (strncmp(eval->rows.data[i].signature, "self", 4) != 0)
            return row_object(eval, &eval->rows.data[i]);
        Object *method = object_new(eval, OBJECT_METHOD);
        method->as.method.self = self;
        method->as.method.function = row_object(eval, &eval->rows.data[i]);
        return method;
    }
    return NULL;
}

Object *builtin_len(Eval *eval, const Bound *bound)
{
    Object *object = bound->values[0];
    Object *own = special_method(eval, object, "__len__");
    if (own != NULL) {
        Object *length = eval->ops->call_simple(eval, own, 1, &object, bound->at);
        return length != NULL && length_is_fit(eval, length, bound->at) ? length : NULL;
    }
    if (object_is_sequence(object)) return object_int(eval, object->as.list.count);
    if (object->kind == OBJECT_DICT || object->kind == OBJECT_SET)
        return object_int(eval, (int64_t)object->as.dict.keys.count);
    if (object->kind == OBJECT_CLASS &&
        class_find(object, intern_text(eval->session->names, "__class_iter__")) != NULL) {
        Object *items = eval->ops->iterate(eval, object, bound->at);
        return items != NULL ? object_int(eval, items->as.list.count) : NULL;
    }
    int64_t count;
    if (range_count(object, &count)) return object_int(eval, count);
    if (object->kind == OBJECT_ARRAY)
        return array_length(eval, object, bound->at, &count) ? object_int(eval, count) : NULL;
    if (object->kind == OBJECT_TEXT || object->kind == OBJECT_RANGE) {
        Object *items = eval->ops->iterate(eval, object, bound->at);
        return items != NULL ? object_int(eval, items->as.list.count) : NULL;
    }
    Object *extent =
        object_is_staged(object) ? eval->ops->staged_length(eval, object, bound->at) : NULL;
    if (extent != NULL) return extent;
    return FAIL(eval, expected_kind, bound->at, "the argument of len()", "a container",
                object_repr(eval, object));
}

static Object *combine(Eval *eval, Operator op, Object *a, Object *b, Span at)
{
    return a != NULL && b != NULL ? operate_binary(eval, op, a, b, at) : NULL;
}

/* A range whose bounds a run tells: from start + (stop - start - sign) // step * step back to it.
 */
static Object *reversed_range(Eval *eval, const Object *range, Span at)
{
    Object *start = range->as.range.start, *stop = range->as.range.stop;
    Object *step = range->as.range.step, *one = object_int(eval, 1), *zero = object_int(eval, 0);
    Object *up = eval->ops->operate_compare(eval, OPERATOR_Gt, step, zero, at);
    Object *sign = combine(eval, OPERATOR_Mult, up, object_int(eval, 2), at);
    sign = combine(eval, OPERATOR_Sub, sign, one, at);
    Object *way = combine(eval, OPERATOR_Sub, stop, start, at);
    way = combine(eval, OPERATOR_FloorDiv, combine(eval, OPERATOR_Sub, way, sign, at), step, at);
    Object *last =
        combine(eval, OPERATOR_Add, start, combine(eval, OPERATOR_Mult, way, step, at), at);
    Object *const given[3] = {last, combine(eval, OPERATOR_Sub, start, step, at),
                              combine(eval, OPERATOR_Sub, zero, step, at)};
    return given[0] && given[1] && given[2] ? range_new(eval, given, at) : NULL;
}

Object *builtin_reversed(Eval *eval, const Bound *bound)
{
    const Object *range = bound->values[0];
    int64_t count;
    if (range->kind == OBJECT_RANGE && range->as.range.map == NULL && !range_count(range, &count))
        return reversed_range(eval, range, bound->at);
    Object *items = eval->ops->iterate(eval, bound->values[0], bound->at);
    Object *turned = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = items != NULL ? items->as.list.count : 0; i-- > 0;)
        list_append(eval, turned, items->as.list.items[i]);
    return items != NULL ? iterator_new(eval, turned) : NULL;
}

static Object *sort_key(Eval *eval, const Bound *bound, Object *item)
{
    if (bound->values[1] == NULL || bound->values[1]->kind == OBJECT_NONE) return item;
    return eval->ops->call_simple(eval, bound->values[1], 1, &item, bound->at);
}

/* Items and their keys, side by side. */
typedef struct Sorting {
    Eval *eval;
    Object **items, **keys, **items_aside, **keys_aside;
    bool reverse;
    Span at;
} Sorting;

/* Whether keys[right] comes before keys[left], though it stood behind it. */
static bool overtakes(const Sorting *sorting, uint32_t left, uint32_t right, bool *out)
{
    Object *first = sorting->keys[left], *second = sorting->keys[right];
    Object *less = sorting->eval->ops->operate_compare(
        sorting->eval, OPERATOR_Lt, sorting->reverse ? first : second,
        sorting->reverse ? second : first, sorting->at);
    return less != NULL && eval_goes_on(sorting->eval, sorting->at) &&
           object_truth(sorting->eval, less, out);
}

/* By merging: what is equal stays in order. False: reported. */
static bool sort_part(const Sorting *sorting, uint32_t begin, uint32_t end)
{
    const uint32_t middle = begin + (end - begin) / 2;
    if (middle == begin) return true;
    if (!sort_part(sorting, begin, middle) || !sort_part(sorting, middle, end)) return false;
    bool moves;
    if (!overtakes(sorting, middle - 1, middle, &moves)) return false;
    if (!moves) return true;
    for (uint32_t i = begin, left = begin, right = middle; i < end; i++) {
        moves = left == middle;
        if (left < middle && right < end && !overtakes(sorting, left, right, &moves)) return false;
        const uint32_t from = moves ? right++ : left++;
        sorting->items_aside[i] = sorting->items[from];
        sorting->keys_aside[i] = sorting->keys[from];
    }
    const size_t size = sizeof(Object *) * (end - begin);
    memcpy(sorting->items + begin, sorting->items_aside + begin, size);
    memcpy(sorting->keys + begin, sorting->keys_aside + begin, size);
    return true;
}

Object *builtin_sorted(Eval *eval, const Bound *bound)
{
    Sorting sorting = {.eval = eval, .at = bound->at};
    Object *items = eval->ops->iterate(eval, bound->values[0], bound->at);
    if (items == NULL ||
        (bound->values[2] != NULL && !object_truth(eval, bound->values[2], &sorting.reverse)))
        return NULL;
    const uint32_t count = items->as.list.count;
    sorting.items = items->as.list.items;
    sorting.keys = arena_new_array(eval->arena, Object *, count);
    sorting.items_aside = arena_new_array(eval->arena, Object *, count);
    sorting.keys_aside = arena_new_array(eval->arena, Object *, count);
    for (uint32_t i = 0; i < count; i++)
        if ((sorting.keys[i] = sort_key(eval, bound, sorting.items[i])) == NULL) return NULL;
    return sort_part(&sorting, 0, count) ? items : NULL;
}

/* ---- logic ---- */

static Object *any_or_all(Eval *eval, const Bound *bound, bool wanted)
{
    Object *iterator = iterator_of(eval, bound->values[0], bound->at);
    for (bool truth; iterator != NULL;) {
        Object *item;
        if (!iterator_pull(eval, iterator, bound->at, &item)) return NULL;
        if (item == NULL) return object_bool(eval, !wanted);
        if (!object_truth(eval, item, &truth)) return NULL;
        if (truth == wanted) return object_bool(eval, wanted);
    }
    return NULL;
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

/* What is an instance of which of Python's own types, and of the one of element types. */
static const struct {
    const char *name;
    ObjectKind kind;
} own_types[] = {
    {"int", OBJECT_INT},     {"int", OBJECT_BOOL},       {"int", OBJECT_WIDE},
    {"float", OBJECT_FLOAT}, {"bool", OBJECT_BOOL},      {"str", OBJECT_TEXT},
    {"tuple", OBJECT_TUPLE}, {"list", OBJECT_LIST},      {"dict", OBJECT_DICT},
    {"range", OBJECT_RANGE}, {"set", OBJECT_SET},        {"type", OBJECT_CLASS},
    {"slice", OBJECT_SLICE}, {"DataType", OBJECT_DTYPE},
};
enum { OWN_TYPES = sizeof own_types / sizeof *own_types };

static bool is_own_type(const Object *type, const char *name)
{
    return builtin_is(type, name) ||
           (type->kind == OBJECT_BUILTIN && strcmp(name, "DataType") == 0 &&
            strcmp(type->as.builtin->name, name) == 0);
}

static bool own_type_has(const Object *type, ObjectKind kind)
{
    for (size_t i = 0; i < OWN_TYPES; i++)
        if (own_types[i].kind == kind && is_own_type(type, own_types[i].name)) return true;
    return false;
}

/* Whether one of Python's own types is among what the class derives from. */
static bool class_has_type(const Object *class, const Object *type)
{
    for (int i = 0; i < class->as.class->mro_count; i++) {
        const Object *written = class->as.class->mro[i]->as.class->written;
        for (uint32_t k = 0; k < written->as.list.count; k++)
            if (object_is(NULL, written->as.list.items[k], type)) return true;
    }
    return false;
}

static bool is_root(const Object *class)
{
    return class->kind == OBJECT_CLASS && strcmp(class->as.class->name, "object") == 0;
}

/* Whether the test holds for the kind, or for one of a tuple of kinds. False: reported. */
typedef bool KindTest(const Object *object, const Object *kind);
static bool one_of_kinds(Eval *eval, KindTest *test, const Object *object, const Object *kind,
                         bool *out)
{
    *out = !object_is_sequence(kind) && test(object, kind);
    if (!object_is_sequence(kind)) return true;
    if (!eval_may_nest(eval, eval->at) || !eval_works(eval, 1, eval->at)) return false;
    for (uint32_t i = 0; !*out && i < kind->as.list.count; i++)
        if (!one_of_kinds(eval, test, object, kind->as.list.items[i], out)) return false;
    return true;
}

static bool is_instance(const Object *object, const Object *kind)
{
    if (is_root(kind)) return true;
    const Object *class = object_class(object);
    if (kind->kind == OBJECT_CLASS && object->kind == OBJECT_ARRAY)
        return class_says(kind, "__host_array__");
    if (kind->kind == OBJECT_CLASS && object_is_staged(object) && class_says(kind, "__staged__"))
        return true;
    if (kind->kind == OBJECT_CLASS) return class != NULL && class_derives(class, kind);
    return class == NULL ? own_type_has(kind, object->kind) : class_has_type(class, kind);
}

bool object_is_instance(Eval *eval, const Object *object, const Object *kind, bool *out)
{
    return one_of_kinds(eval, is_instance, object, kind, out);
}

Object *builtin_isinstance(Eval *eval, const Bound *bound)
{
    bool is;
    return object_is_instance(eval, bound->values[0], bound->values[1], &is) ? object_bool(eval, is)
                                                                             : NULL;
}

/* All that is an instance of the one is an instance of the other. */
static bool own_type_derives(const Object *type, const Object *base)
{
    bool found = false;
    for (size_t i = 0; i < OWN_TYPES; i++) {
        if (!is_own_type(type, own_types[i].name)) continue;
        if (!own_type_has(base, own_types[i].kind)) return false;
        found = true;
    }
    return found;
}

static bool is_subclass(const Object *class, const Object *base)
{
    if (class->kind == OBJECT_BUILTIN) return is_root(base) || own_type_derives(class, base);
    if (class->kind != OBJECT_CLASS) return false;
    return base->kind == OBJECT_CLASS ? class_derives(class, base) : class_has_type(class, base);
}

Object *builtin_issubclass(Eval *eval, const Bound *bound)
{
    bool is;
    return one_of_kinds(eval, is_subclass, bound->values[0], bound->values[1], &is)
               ? object_bool(eval, is)
               : NULL;
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
    Attempt attempt = {.quiet = eval->quiet + 1, .frame = eval->frame, .outer = eval->attempt};
    eval->attempt = &attempt;
    eval->quiet++;
    Object *value = attribute_find(eval, bound->values[0], name, bound->at, &found);
    eval->quiet--;
    eval->attempt = attempt.outer;
    if (value != NULL || !found) return found ? value : bound->values[2];
    return attempt_raised(eval, &attempt, "AttributeError") ? bound->values[2] : NULL;
}

Object *builtin_setattr(Eval *eval, const Bound *bound)
{
    Name name = name_argument(eval, bound->values[1], bound->at);
    return name != NULL && attribute_set(eval, bound->values[0], name, bound->values[2], bound->at)
               ? eval->none
               : NULL;
}

Object *builtin_hash(Eval *eval, const Bound *bound)
{
    const Object *object = bound->values[0];
    return key_is_fit(eval, object, bound->at)
               ? object_int(eval, (int64_t)object_hash(eval, object))
               : NULL;
}

/* environment(name): a text, or None. */
Object *core_environment(Eval *eval, const Bound *bound)
{
    const Object *name = text_argument(eval, bound->values[0], "the name", bound->at);
    if (name == NULL) return NULL;
    const char *value = os_environment(name->as.text.data);
    return value != NULL ? object_text(eval, value, strlen(value)) : eval->none;
}

Object *builtin_callable(Eval *eval, const Bound *bound)
{
    ObjectKind kind = bound->values[0]->kind;
    bool calls = kind == OBJECT_FUNCTION || kind == OBJECT_METHOD || kind == OBJECT_BUILTIN ||
                 kind == OBJECT_CLASS || kind == OBJECT_HOST_FUNCTION;
    calls = calls || special_method(eval, bound->values[0], "__call__") != NULL;
    return object_bool(eval, calls);
}

static Object *make_type(Eval *eval, const Bound *bound)
{
    ObjectVec bases = {0};
    const Object *name = bound->values[0], *given = bound->values[1], *dict = bound->values[2];
    if (name->kind != OBJECT_TEXT || !object_is_sequence(given) || dict->kind != OBJECT_DICT)
        return FAIL(eval, expected_kind, bound->at, "the arguments of type()",
                    "an object, or name, bases and dict", object_repr(eval, name));
    for (uint32_t i = 0; i < given->as.list.count; i++)
        if (given->as.list.items[i]->kind == OBJECT_CLASS ||
            given->as.list.items[i]->kind == OBJECT_BUILTIN)
            vec_push(eval->arena, &bases, given->as.list.items[i]);
    return class_make(eval, intern(eval->session->names, name->as.text.data, name->as.text.length),
                      &bases, dict, bound->at);
}

Object *builtin_type(Eval *eval, const Bound *bound)
{
    if (bound->values[1] != NULL && bound->values[2] != NULL) return make_type(eval, bound);
    const Object *object = bound->values[0];
    Object *own = special_method(eval, object, "__type_of__");
    if (own != NULL) return eval->ops->call_simple(eval, own, 1, bound->values, bound->at);
    if (object_class(object) != NULL) return object_class(object);
    Object *dtype = object_is_staged(object) ? eval->ops->staged_dtype(eval, object) : NULL;
    if (dtype != NULL) return dtype;
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
    if (class == NULL || self == NULL || class->kind != OBJECT_CLASS ||
        (object_class(self) == NULL && self->kind != OBJECT_CLASS))
        return FAIL(eval, misplaced, bound->at, "super()", "a method");
    Object *object = object_new(eval, OBJECT_SUPER);
    object->as.method.self = self;
    object->as.method.function = class;
    return object;
}

static Object *wrap(Eval *eval, const Bound *bound, ObjectKind kind)
{
    Object *object = object_new(eval, kind);
    object->as.method.function = bound->values[0] != NULL ? bound->values[0] : eval->none;
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

/* As the attribute `__print__` of the function says that calls it. */
static Object *print_in_kernel(Eval *eval, const Bound *bound)
{
    const Function *function = eval->frame->function;
    const Binding *own =
        function != NULL && function->attributes != NULL
            ? bindings_get(function->attributes, intern_text(eval->session->names, "__print__"))
            : NULL;
    if (own == NULL) return FAIL(eval, unsupported, bound->at, "print() in a kernel");
    return eval->ops->call_simple(eval, own->object, (int)bound->rest->as.list.count,
                                  bound->rest->as.list.items, bound->at);
}

Object *builtin_print(Eval *eval, const Bound *bound)
{
    if (eval->staging != NULL) return print_in_kernel(eval, bound);
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
