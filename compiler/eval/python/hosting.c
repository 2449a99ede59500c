/* hosting.c: the crossing between the evaluator's objects and the host's plain values. */
#include "eval/python/python.h"

/* ---- out ---- */

enum { NESTING = 64 };

static bool convert(Eval *eval, Object *object, int depth, HostValue *out);

static bool host_items(Eval *eval, Object *const *objects, size_t count, int depth, HostValue *out)
{
    if (depth > NESTING) return false;
    HostValue *items = arena_new_array(eval->arena, HostValue, count + 1);
    for (size_t i = 0; i < count; i++)
        if (!convert(eval, objects[i], depth, &items[i])) return false;
    out->items = items;
    out->count = (int)count;
    return true;
}

static bool host_slice(Eval *eval, const Object *slice, int depth, HostValue *out)
{
    Object *parts[3] = {slice->as.range.start, slice->as.range.stop, slice->as.range.step};
    for (int i = 0; i < 3; i++) parts[i] = parts[i] != NULL ? parts[i] : eval->none;
    return host_items(eval, parts, 3, depth, out);
}

static bool convert(Eval *eval, Object *object, int depth, HostValue *out)
{
    if (object->kind == OBJECT_INSTANCE) { /* a member of an enumeration of numbers, say */
        Object *number = instance_number(eval, object);
        if (number == NULL) return false;
        if (number->kind != OBJECT_INSTANCE) return convert(eval, number, depth, out);
    }
    static const HostKind KINDS[OBJECT_COUNT] = {
        [OBJECT_BOOL] = HOST_BOOL,
        [OBJECT_INT] = HOST_INT,
        [OBJECT_FLOAT] = HOST_FLOAT,
        [OBJECT_TEXT] = HOST_TEXT,
        [OBJECT_DTYPE] = HOST_DTYPE,
        [OBJECT_ARRAY] = HOST_ARRAY,
        [OBJECT_TUPLE] = HOST_TUPLE,
        [OBJECT_LIST] = HOST_LIST,
        [OBJECT_SLICE] = HOST_SLICE,
        [OBJECT_ELLIPSIS] = HOST_ELLIPSIS,
        [OBJECT_FUNCTION] = HOST_FUNCTION,
        [OBJECT_METHOD] = HOST_FUNCTION,
        [OBJECT_BUILTIN] = HOST_FUNCTION,
        [OBJECT_INSTANCE] = HOST_FUNCTION,
        [OBJECT_CLASS] = HOST_FUNCTION,
        [OBJECT_HOST_FUNCTION] = HOST_FUNCTION,
        [OBJECT_SPECIALISATION] = HOST_FUNCTION,
    };
    *out = (HostValue){.kind = KINDS[object->kind]};
    switch ((int)object->kind) {
    case OBJECT_NONE:
    case OBJECT_ELLIPSIS: return true;
    case OBJECT_BOOL:
    case OBJECT_INT: out->integer = object->as.integer; return true;
    case OBJECT_FLOAT: out->number = object->as.number; return true;
    case OBJECT_TEXT:
        out->text = object->as.text.data;
        out->length = object->as.text.length;
        return true;
    case OBJECT_DTYPE: out->dtype = object->as.dtype; return true;
    case OBJECT_ARRAY: out->array = object->as.array; return true;
    case OBJECT_TUPLE:
    case OBJECT_LIST:
        return host_items(eval, object->as.list.items, object->as.list.count, depth + 1, out);
    case OBJECT_SLICE: return host_slice(eval, object, depth + 1, out);
    default: out->function = object; return out->kind == HOST_FUNCTION;
    }
}

bool host_value(Eval *eval, Object *object, HostValue *out)
{
    return convert(eval, object, 0, out);
}

static const char TO_HOST[] = "what is given to the host",
                  TO_COMBINE[] = "what an array that is no argument of the kernel is combined with",
                  TO_INDEX[] = "the index of an array that is no argument of the kernel",
                  TO_WRITE[] = "what is written to an array that is no argument of the kernel";

/* `what` it is, messages say. */
static bool cross(Eval *eval, Object *object, const char *what, Span at, HostValue *out)
{
    if (object->kind == OBJECT_MISSING) {
        eval->ops->missing_needed(eval, object, NULL, at);
        return false;
    }
    if (host_value(eval, object, out)) return true;
    FAIL(eval, expected_kind, at, what,
         what != TO_HOST && object_is_staged(object) ? "known when the kernel is compiled"
                                                     : "a number, text, array or list of such",
         object_repr(eval, object));
    return false;
}

/* ---- in ---- */

static Object *host_sequence(Eval *eval, const HostValue *value, ObjectKind kind)
{
    Object *list = object_list(eval, kind, NULL, 0);
    for (int i = 0; i < value->count; i++)
        list_append(eval, list, host_object(eval, &value->items[i]));
    return list;
}

Object *host_object(Eval *eval, const HostValue *value)
{
    Object *object;
    switch (value->kind) {
    case HOST_NONE: return eval->none;
    case HOST_BOOL: return object_bool(eval, value->integer != 0);
    case HOST_INT: return object_int(eval, value->integer);
    case HOST_UNSIGNED: return object_of_wide(eval, (uint64_t)value->integer);
    case HOST_FLOAT: return object_float(eval, value->number);
    case HOST_TEXT: return object_text(eval, value->text, value->length);
    case HOST_ELLIPSIS: return eval->ellipsis;
    case HOST_DTYPE:
        object = object_new(eval, OBJECT_DTYPE);
        object->as.dtype = value->dtype;
        return object;
    case HOST_ARRAY:
        object = object_new(eval, OBJECT_ARRAY);
        object->as.array = value->array;
        return object;
    case HOST_TUPLE: return host_sequence(eval, value, OBJECT_TUPLE);
    case HOST_LIST: return host_sequence(eval, value, OBJECT_LIST);
    case HOST_FUNCTION: return value->function;
    case HOST_SLICE: break;
    }
    return eval->none;
}

/* ---- calls ---- */

static bool invoke(const HostCall *call, const HostValue *function, HostValue *result)
{
    Eval *eval = call->evaluator;
    Object *object = eval->ops->call_simple(eval, function->function, 0, NULL, call->at);
    *result = (HostValue){0};
    if (object != NULL && !host_value(eval, object, result)) *result = (HostValue){0};
    return object != NULL;
}

static Object *take_result(Eval *eval, HostStatus status, const HostValue *result)
{
    return status == HOST_OK ? host_object(eval, result) : NULL;
}

Object *host_function_named(Eval *eval, const char *name)
{
    Object *object = object_new(eval, OBJECT_HOST_FUNCTION);
    object->as.host = intern_text(eval->session->names, name);
    return object;
}

Object *host_call(Eval *eval, Name name, const Arguments *arguments)
{
    size_t count = arguments->positional.count, named = arguments->names.count;
    HostValue *values = arena_new_array(eval->arena, HostValue, count + named + 1);
    for (size_t i = 0; i < count; i++)
        if (!cross(eval, arguments->positional.data[i], TO_HOST, arguments->at, &values[i]))
            return NULL;
    for (size_t i = 0; i < named; i++)
        if (!cross(eval, arguments->named.data[i], TO_HOST, arguments->at, &values[count + i]))
            return NULL;
    HostCall call = {.name = name,
                     .arguments = values,
                     .argument_count = (int)count,
                     .names = arguments->names.data,
                     .named = values + count,
                     .named_count = (int)named,
                     .at = arguments->at,
                     .invoke = invoke,
                     .evaluator = eval};
    HostValue result = {0};
    HostStatus status = eval->host->call(eval->host, &call, &result);
    if (status == HOST_UNKNOWN) return FAIL(eval, unknown_name, arguments->at, name);
    return take_result(eval, status, &result);
}

Object *host_binary(Eval *eval, const char *op, Object *left, Object *right, Span at)
{
    HostValue a, b, result = {0};
    if (!cross(eval, left, TO_COMBINE, at, &a) || !cross(eval, right, TO_COMBINE, at, &b))
        return NULL;
    HostStatus status = eval->host->binary(eval->host, op, &a, &b, at, &result);
    if (status == HOST_UNKNOWN)
        return FAIL(eval, bad_operands, at, op, object_kind_name(left), object_kind_name(right));
    return take_result(eval, status, &result);
}

Object *host_unary(Eval *eval, const char *op, Object *operand, Span at)
{
    HostValue value, result = {0};
    if (!cross(eval, operand, TO_HOST, at, &value)) return NULL;
    HostStatus status = eval->host->unary(eval->host, op, &value, at, &result);
    if (status == HOST_UNKNOWN)
        return FAIL(eval, expected_kind, at, "the operand", "a number", object_kind_name(operand));
    return take_result(eval, status, &result);
}

Object *host_attribute(Eval *eval, Object *array, Name name, Span at, bool *found)
{
    HostValue value = {.kind = HOST_ARRAY, .array = array->as.array}, result = {0};
    HostStatus status = eval->host->attribute(eval->host, &value, name, at, &result);
    *found = status != HOST_UNKNOWN;
    return take_result(eval, status, &result);
}

/* Whether an index has arrays, or lists, of places or of truths: a module of the library knows what
 * those choose. */
static bool chooses(Eval *eval, const Object *index)
{
    HostArray described;
    for (uint32_t i = 0; index->kind == OBJECT_TUPLE && i < index->as.list.count; i++)
        if (chooses(eval, index->as.list.items[i])) return true;
    if (index->kind != OBJECT_ARRAY) return index->kind == OBJECT_LIST;
    eval->host->describe(eval->host, index->as.array, &described);
    return described.rank > 0 || described.dtype == DTYPE_b1;
}

static Object *call_chooser(Eval *eval, const char *name, int count, Object *const *given, Span at)
{
    const Name path = intern_text(eval->session->names, "compat.choices");
    Object *module = eval->ops->import_module(eval, path, at);
    bool found = false;
    Object *function = module != NULL
                           ? eval->ops->attribute_find(
                                 eval, module, intern_text(eval->session->names, name), at, &found)
                           : NULL;
    return function != NULL ? eval->ops->call_simple(eval, function, count, given, at) : NULL;
}

Object *host_item(Eval *eval, Object *array, Object *index, Span at)
{
    if (chooses(eval, index))
        return call_chooser(eval, "chosen", 2, (Object *[]){array, index}, at);
    HostValue value = {.kind = HOST_ARRAY, .array = array->as.array}, key, result = {0};
    if (!cross(eval, index, TO_INDEX, at, &key)) return NULL;
    HostStatus status = eval->host->get_item(eval->host, &value, &key, at, &result);
    if (status == HOST_UNKNOWN)
        return FAIL(eval, bad_index, at, "an array", object_repr(eval, index));
    return take_result(eval, status, &result);
}

bool host_set_item(Eval *eval, Object *array, Object *index, Object *item, Span at)
{
    if (chooses(eval, index))
        return call_chooser(eval, "put", 3, (Object *[]){array, index, item}, at) != NULL;
    HostValue value = {.kind = HOST_ARRAY, .array = array->as.array}, key, content;
    if (!cross(eval, index, TO_INDEX, at, &key) || !cross(eval, item, TO_WRITE, at, &content))
        return false;
    HostStatus status = eval->host->set_item(eval->host, &value, &key, &content, at);
    if (status == HOST_UNKNOWN) FAIL(eval, bad_index, at, "an array", object_repr(eval, index));
    return status == HOST_OK;
}
