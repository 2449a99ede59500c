/* items.c: what holds other values: iteration, subscripts, text from values. */
#include "eval/python/python.h"

#include <string.h>

bool list_may_change(Eval *eval, const Object *list, Span at)
{
    bool keyed = list->kind == OBJECT_DICT || list->kind == OBJECT_SET;
    uint32_t made = keyed ? list->as.dict.control : list->as.list.control;
    if (!keyed && list->as.list.is_frozen) {
        FAIL(eval, list_chosen, at);
        return false;
    }
    if ((uint32_t)eval->control <= made && list->kind == OBJECT_SET) return true;
    if ((uint32_t)eval->control <= made) return eval->ops->content_release(eval, (Object *)list);
    FAIL(eval, changed_under_control, at, object_kind_name(list));
    return false;
}

/* ---- iteration ---- */

static Object *iterate_range(Eval *eval, const Object *range, Span at)
{
    int64_t start, stop, step;
    if (!object_as_int(eval, range->as.range.start, "the start of a range that is unrolled",
                       &start) ||
        !object_as_int(eval, range->as.range.stop, "the end of a range that is unrolled", &stop) ||
        !object_as_int(eval, range->as.range.step, "the step of a range that is unrolled", &step))
        return NULL;
    if (step == 0) return FAIL(eval, zero_step, at, "a range");
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (int64_t i = start; step > 0 ? i < stop : i > stop;) {
        if (list->as.list.count >= ITEM_LIMIT)
            return FAIL(eval, endless, at, (long long)ITEM_LIMIT);
        list_append(eval, list, object_int(eval, i));
        if (__builtin_add_overflow(i, step, &i)) break;
    }
    return list;
}

static Object *iterate_text(Eval *eval, const Object *text, Span at)
{
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    const char *data = text->as.text.data;
    for (size_t i = 0; i < text->as.text.length;) {
        size_t length = 1;
        if (list->as.list.count >= ITEM_LIMIT)
            return FAIL(eval, endless, at, (long long)ITEM_LIMIT);
        while (i + length < text->as.text.length && continues_character(data[i + length])) length++;
        list_append(eval, list, object_text(eval, data + i, length));
        i += length;
    }
    return list;
}

bool array_length(Eval *eval, Object *array, Span at, int64_t *out)
{
    bool found;
    Object *shape =
        host_attribute(eval, array, intern_text(eval->session->names, "shape"), at, &found);
    if (shape == NULL || !object_is_sequence(shape) || shape->as.list.count == 0) {
        FAIL(eval, not_iterable, at, "this array");
        return false;
    }
    *out = shape->as.list.items[0]->as.integer;
    return true;
}

static Object *iterate_array(Eval *eval, Object *array, Span at)
{
    int64_t length;
    if (!array_length(eval, array, at, &length)) return NULL;
    if (length > ITEM_LIMIT) return FAIL(eval, endless, at, (long long)ITEM_LIMIT);
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (int64_t i = 0; i < length; i++) {
        Object *item = host_item(eval, array, object_int(eval, i), at);
        if (item == NULL) return NULL;
        list_append(eval, list, item);
    }
    return list;
}

Object *set_new(Eval *eval)
{
    Object *set = object_new(eval, OBJECT_SET);
    set->as.dict.control = (uint32_t)eval->control;
    return set;
}

static Object *iterate_class(Eval *eval, Object *class, Span at)
{
    Object *method = class_find(class, intern_text(eval->session->names, "__class_iter__"));
    if (method == NULL) return FAIL(eval, not_iterable, at, object_repr(eval, class));
    Object *items = eval->ops->call_simple(eval, method, 1, &class, at);
    return items != NULL ? iterate(eval, items, at) : NULL;
}

Object *iterate(Eval *eval, Object *iterable, Span at)
{
    if (object_is_record(iterable) && special_method(eval, iterable, "__iter__") != NULL) {
        Object *iterator = iterator_of(eval, iterable, at);
        return iterator != NULL ? iterate(eval, iterator, at) : NULL;
    }
    switch ((int)iterable->kind) {
    case OBJECT_LIST:
    case OBJECT_TUPLE: /* a copy: the body may change the list */
        return list_fits(eval, iterable->as.list.count, at)
                   ? object_list(eval, OBJECT_LIST, iterable->as.list.items,
                                 iterable->as.list.count)
                   : NULL;
    case OBJECT_RANGE: return iterate_range(eval, iterable, at);
    case OBJECT_TEXT: return iterate_text(eval, iterable, at);
    case OBJECT_DTYPE: { /* as its name, which it is equal to */
        const char *name = dtype_spelling(iterable);
        return iterate_text(eval, object_text(eval, name, strlen(name)), at);
    }
    case OBJECT_SET:
    case OBJECT_DICT:
        return object_list(eval, OBJECT_LIST, iterable->as.dict.keys.data,
                           iterable->as.dict.keys.count);
    case OBJECT_ITERATOR: return iterator_drain(eval, iterable, at);
    case OBJECT_CLASS: return iterate_class(eval, iterable, at);
    case OBJECT_INSTANCE: {
        Object *iterator = iterator_of(eval, iterable, at);
        return iterator != NULL ? iterate(eval, iterator, at) : NULL;
    }
    case OBJECT_ARRAY: return iterate_array(eval, iterable, at);
    case OBJECT_MISSING: return eval->ops->missing_needed(eval, iterable, NULL, at);
    default: return FAIL(eval, not_iterable, at, object_repr(eval, iterable));
    }
}

/* ---- subscripts ---- */

bool normal_index(Eval *eval, const Object *object, Object *index, int64_t length, Span at,
                  int64_t *out)
{
    Object *method = special_method(eval, index, "__index__");
    if (method != NULL && (index = eval->ops->call_simple(eval, method, 1, &index, at)) == NULL)
        return false;
    if (object->kind == OBJECT_LIST) length = object->as.list.count; /* which it may change */
    if (!object_as_int(eval, index, "this index", out)) return false;
    int64_t given = *out;
    *out = given < 0 ? given + length : given;
    if (*out >= 0 && *out < length) return true;
    FAIL(eval, index_range, at, (long long)given, object_kind_name(object), (long long)length);
    return false;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

typedef struct Indices {
    int64_t first, stop, step, count;
} Indices;

/* Python's slice.indices(), and how many. */
static bool slice_indices(Eval *eval, const Object *slice, int64_t length, Indices *out)
{
    int64_t step = 1;
    if (slice->as.range.step != NULL &&
        !object_as_int(eval, slice->as.range.step, "the step of a slice", &step))
        return false;
    if (step == 0 || step == INT64_MIN) {
        FAIL(eval, zero_step, eval->at, "a slice");
        return false;
    }
    int64_t low = step < 0 ? -1 : 0, high = step < 0 ? length - 1 : length;
    int64_t start = step < 0 ? high : low, stop = step < 0 ? low : high;
    if (slice->as.range.start != NULL) {
        if (!object_as_int(eval, slice->as.range.start, "the start of a slice", &start))
            return false;
        start = clamp(start < 0 ? start + length : start, low, high);
    }
    if (slice->as.range.stop != NULL) {
        if (!object_as_int(eval, slice->as.range.stop, "the end of a slice", &stop)) return false;
        stop = clamp(stop < 0 ? stop + length : stop, low, high);
    }
    int64_t span = step > 0 ? stop - start : start - stop, width = step > 0 ? step : -step;
    *out = (Indices){start, stop, step, span <= 0 ? 0 : (span - 1) / width + 1};
    return true;
}

static Object *slice_list(Eval *eval, const Object *list, const Object *slice)
{
    Indices at;
    if (!slice_indices(eval, slice, list->as.list.count, &at)) return NULL;
    Object *result = object_list(eval, list->kind, NULL, 0);
    for (int64_t i = 0; i < at.count; i++)
        list_append(eval, result, list->as.list.items[at.first + i * at.step]);
    return result;
}

/* Where each character begins, and the text ends. NULL: reported. */
static const size_t *character_starts(Eval *eval, const Object *text, size_t count, Span at)
{
    if (!eval_has_room(eval, sizeof(size_t) * count, at)) return NULL;
    size_t *starts = arena_new_array(eval->arena, size_t, count + 1), next = 0;
    for (size_t i = 0; i < text->as.text.length; i++)
        if (!continues_character(text->as.text.data[i]) && next < count) starts[next++] = i;
    starts[count] = text->as.text.length;
    return starts;
}

static void put_characters(const Object *text, const size_t *starts, int64_t first, int64_t count,
                           Buf *out)
{
    const size_t begin = starts != NULL ? starts[first] : (size_t)first,
                 end = starts != NULL ? starts[first + count] : (size_t)(first + count);
    buf_bytes(out, text->as.text.data + begin, end - begin);
}

/* Texts are of characters, not of bytes. */
static Object *text_item(Eval *eval, const Object *text, Object *index, Span at)
{
    const size_t length = text->as.text.length,
                 count = count_characters(text->as.text.data, length);
    Indices part = {.step = 1, .count = 1};
    const bool good = index->kind == OBJECT_SLICE
                          ? slice_indices(eval, index, (int64_t)count, &part)
                          : normal_index(eval, text, index, (int64_t)count, at, &part.first);
    if (!good || !eval_works(eval, length / WORK_LETTERS, at)) return NULL;
    if (part.count == 0) return object_text(eval, "", 0);
    const size_t *starts = count < length ? character_starts(eval, text, count, at) : NULL;
    if (count < length && starts == NULL) return NULL;
    Buf buf = {0};
    if (part.step == 1) put_characters(text, starts, part.first, part.count, &buf);
    for (int64_t i = 0; part.step != 1 && i < part.count; i++)
        put_characters(text, starts, part.first + i * part.step, 1, &buf);
    Object *result = object_text(eval, buf.data, buf.length);
    buf_free(&buf);
    return result;
}

/* Behind the last one, or before the first, it may not fit. */
static bool number_in_range(const Object *range, int64_t index, int64_t *out)
{
    const Wide step = range->as.range.step->as.integer;
    const Wide number = range->as.range.start->as.integer + index * step;
    *out = (int64_t)number;
    return *out == number;
}

static Object *slice_range(Eval *eval, const Object *range, const Object *slice, int64_t length,
                           Span at)
{
    Indices indices;
    int64_t start, stop, width;
    if (!slice_indices(eval, slice, length, &indices)) return NULL;
    if (!number_in_range(range, indices.first, &start) ||
        !number_in_range(range, indices.stop, &stop) ||
        __builtin_mul_overflow(indices.step, range->as.range.step->as.integer, &width))
        return FAIL(eval, int_overflow, at, "a slice of a range");
    Object *result = object_new(eval, OBJECT_RANGE);
    result->as.range.start = object_int(eval, start);
    result->as.range.stop = object_int(eval, stop);
    result->as.range.step = object_int(eval, width);
    return result;
}

static Object *range_item(Eval *eval, const Object *range, Object *index, Span at)
{
    int64_t length, position;
    if (!range_count(range, &length)) {
        const Object *items = iterate_range(eval, range, at);
        return items != NULL ? item_get(eval, (Object *)items, index, at) : NULL;
    }
    if (index->kind == OBJECT_SLICE) return slice_range(eval, range, index, length, at);
    return normal_index(eval, range, index, length, at, &position)
               ? object_int(eval, range_number(range, (uint64_t)position))
               : NULL;
}

static Object *dict_item(Eval *eval, Object *dict, Object *key, Span at)
{
    if (!key_is_fit(eval, key, at)) return NULL;
    Object *value = dict_get(eval, dict, key);
    if (value != NULL || eval->equal_failed) return unless_equal_failed(eval, value);
    return raise_no_key(eval, dict, key, at);
}

static Object *instance_item(Eval *eval, Object *object, Object *index, Span at)
{
    Object *method = special_method(eval, object, "__getitem__");
    if (method == NULL)
        return FAIL(eval, bad_index, at, object_repr(eval, object), object_kind_name(index));
    return eval->ops->call_simple(eval, method, 2, (Object *[]){object, index}, at);
}

static Object *class_item(Eval *eval, Object *class, Object *index, Span at)
{
    Object *method = class_find(class, intern_text(eval->session->names, "__class_getitem__"));
    if (method == NULL) return class; /* Generic[T]: for readers */
    if (method->kind == OBJECT_CLASS_METHOD) method = method->as.method.function;
    return eval->ops->call_simple(eval, method, 2, (Object *[]){class, index}, at);
}

/* Of a shape of four extents, whatever the rank. */
static bool is_behind_shape(const Eval *eval, const Object *tuple, const Object *index)
{
    enum { EXTENTS = 4 };
    return tuple->is_shape && eval->staging != NULL && eval->staging->four_extents &&
           index->kind == OBJECT_INT && index->as.integer >= tuple->as.list.count &&
           index->as.integer < EXTENTS;
}

Object *item_get(Eval *eval, Object *object, Object *index, Span at)
{
    int64_t position;
    if (object_is_record(object)) return instance_item(eval, object, index, at);
    switch ((int)object->kind) {
    case OBJECT_LIST:
    case OBJECT_TUPLE:
        if (index->kind == OBJECT_SLICE) return slice_list(eval, object, index);
        if (object_is_staged(index) && object->kind == OBJECT_TUPLE &&
            eval->frame->is_thread_code && object->as.list.count > 0 &&
            !eval->ops->object_is_known(eval, index))
            return eval->ops->stage_chosen(eval, object, index, at);
        if (is_behind_shape(eval, object, index)) return object_int(eval, 0);
        return normal_index(eval, object, index, object->as.list.count, at, &position)
                   ? object->as.list.items[position]
                   : NULL;
    case OBJECT_TEXT: return text_item(eval, object, index, at);
    case OBJECT_RANGE: return range_item(eval, object, index, at);
    case OBJECT_DICT: return dict_item(eval, object, index, at);
    case OBJECT_INSTANCE: return instance_item(eval, object, index, at);
    case OBJECT_CLASS: return class_item(eval, object, index, at);
    case OBJECT_BUILTIN: return object; /* list[int]: for readers */
    case OBJECT_ARRAY: return host_item(eval, object, index, at);
    case OBJECT_IR:
    case OBJECT_TILE: return eval->ops->subscript_get(eval, object, index, at);
    case OBJECT_MISSING: return eval->ops->missing_needed(eval, object, NULL, at);
    default: return FAIL(eval, bad_index, at, object_repr(eval, object), object_kind_name(index));
    }
}

/* a[i:j] = items; a step other than 1 replaces as many as there are. */
static bool slice_set(Eval *eval, Object *list, const Object *slice, Object *value, Span at)
{
    Indices to;
    Object *items = list_may_change(eval, list, at) ? iterate(eval, value, at) : NULL;
    if (items == NULL || !slice_indices(eval, slice, list->as.list.count, &to)) return false;
    if (to.step != 1 && items->as.list.count != (uint32_t)to.count) {
        FAIL(eval, slice_size, at, items->as.list.count, (long long)to.count);
        return false;
    }
    if (to.step != 1) {
        if (items == list)
            items = object_list(eval, OBJECT_LIST, list->as.list.items, list->as.list.count);
        for (int64_t i = 0; i < to.count; i++)
            list->as.list.items[to.first + i * to.step] =
                eval->ops->object_keep(eval, items->as.list.items[i]);
        return true;
    }
    Object *whole = object_list(eval, OBJECT_LIST, list->as.list.items, (size_t)to.first);
    for (uint32_t i = 0; i < items->as.list.count; i++)
        list_append(eval, whole, eval->ops->object_keep(eval, items->as.list.items[i]));
    for (int64_t i = to.first + to.count; i < list->as.list.count; i++)
        list_append(eval, whole, list->as.list.items[i]);
    uint32_t control = list->as.list.control;
    list->as.list = whole->as.list;
    list->as.list.control = control;
    return true;
}

static bool slice_delete(Eval *eval, Object *list, const Object *slice, Span at)
{
    Indices which;
    if (!list_may_change(eval, list, at) ||
        !slice_indices(eval, slice, list->as.list.count, &which))
        return false;
    if (which.count == 0) return true;
    if (which.step < 0) {
        which.first += (which.count - 1) * which.step;
        which.step = -which.step;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->as.list.count; i++) {
        const int64_t from = (int64_t)i - which.first;
        if (from < 0 || from % which.step != 0 || from / which.step >= which.count)
            list->as.list.items[kept++] = list->as.list.items[i];
    }
    list->as.list.count = kept;
    return true;
}

bool item_delete(Eval *eval, Object *object, Object *index, Span at)
{
    if (object->kind == OBJECT_LIST) {
        Object *slice = index;
        if (index->kind != OBJECT_SLICE) {
            int64_t position;
            if (!normal_index(eval, object, index, object->as.list.count, at, &position))
                return false;
            slice = object_new(eval, OBJECT_SLICE);
            slice->as.range.start = object_int(eval, position);
            slice->as.range.stop = object_int(eval, position + 1);
        }
        return slice_delete(eval, object, slice, at);
    }
    if (object->kind == OBJECT_DICT)
        return dict_method_pop(eval, &(Bound){.values = {object, index}, .at = at}) != NULL;
    Name name = intern_text(eval->session->names, "__delitem__");
    Object *method =
        object->kind == OBJECT_INSTANCE ? class_find(object->as.instance->class, name) : NULL;
    if (method != NULL)
        return eval->ops->call_simple(eval, method, 2, (Object *[]){object, index}, at) != NULL;
    FAIL(eval, bad_index, at, object_repr(eval, object), object_kind_name(index));
    return false;
}

bool item_set(Eval *eval, Object *object, Object *index, Object *value, Span at)
{
    int64_t position;
    switch ((int)object->kind) {
    case OBJECT_LIST:
        if (index->kind == OBJECT_SLICE) return slice_set(eval, object, index, value, at);
        if (!normal_index(eval, object, index, object->as.list.count, at, &position)) return false;
        if (!object->as.list.is_frozen && eval->ops->content_owns(eval, object))
            return eval->ops->content_set(eval, object, (size_t)position, value, at);
        if (!list_may_change(eval, object, at)) return false;
        object->as.list.items[position] = eval->ops->object_keep(eval, value);
        return true;
    case OBJECT_DICT:
        if (!key_is_fit(eval, index, at)) return false;
        if (object->as.dict.mirrored != NULL) return mirror_set(eval, object, index, value, at);
        position = (int64_t)dict_entry(eval, object, index);
        if (eval->ops->content_owns(eval, object) && position < (int64_t)object->as.dict.keys.count)
            return eval->ops->content_set(eval, object, (size_t)position, value, at);
        if (!list_may_change(eval, object, at)) return false;
        dict_set(eval, object, index, eval->ops->object_keep(eval, value));
        return true;
    case OBJECT_ARRAY: return host_set_item(eval, object, index, value, at);
    case OBJECT_IR:
    case OBJECT_TILE: return eval->ops->subscript_set(eval, object, index, value, at);
    case OBJECT_TUPLE:
    case OBJECT_INSTANCE: {
        Object *method = special_method(eval, object, "__setitem__");
        if (method != NULL)
            return eval->ops->call_simple(eval, method, 3, (Object *[]){object, index, value},
                                          at) != NULL;
        break;
    }
    default: break;
    }
    FAIL(eval, bad_index, at, object_repr(eval, object), object_kind_name(index));
    return false;
}

/* What is not ASCII, as repr() escapes what cannot be printed. */
static void escape_characters(const Buf *text, Buf *out)
{
    for (size_t i = 0; i < text->length;) {
        uint32_t character;
        const size_t length = utf8_decode(text->data + i, text->length - i, &character);
        if (length <= 1)
            buf_char(out, text->data[i]);
        else
            buf_printf(out,
                       character < 0x100     ? "\\x%02x"
                       : character < 0x10000 ? "\\u%04x"
                                             : "\\U%08x",
                       character);
        i += length > 0 ? length : 1;
    }
}

Object *object_converted(Eval *eval, Object *object, char conversion)
{
    if (conversion == 's' && object->kind == OBJECT_TEXT) return object;
    Buf buf = {0}, escaped = {0};
    object_print(eval, object, conversion == 's' ? TEXT_STR : TEXT_REPR, &buf);
    if (conversion == 'a') escape_characters(&buf, &escaped);
    const Buf *text = conversion == 'a' ? &escaped : &buf;
    object = object_text(eval, text->data != NULL ? text->data : "", text->length);
    buf_free(&buf);
    buf_free(&escaped);
    return object;
}

Object *dict_method_pop(Eval *eval, const Bound *bound)
{
    Object *dict = bound->values[0];
    if (!list_may_change(eval, dict, bound->at) ||
        (dict->kind == OBJECT_DICT && !key_is_fit(eval, bound->values[1], bound->at)))
        return NULL;
    const size_t position = dict_entry(eval, dict, bound->values[1]);
    if (position < dict->as.dict.keys.count) {
        Object *value = dict->as.dict.values.data[position];
        if (dict->as.dict.mirrored == NULL)
            dict_remove(eval, dict, bound->values[1]);
        else if (!mirror_delete(eval, dict, bound->values[1], bound->at))
            return NULL;
        return value;
    }
    if (bound->values[2] != NULL) return bound->values[2];
    return raise_no_key(eval, dict, bound->values[1], bound->at);
}
