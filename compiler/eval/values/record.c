/* record.c: records: tuples of a class, whose methods and operators they have. A record is a value:
 * to assign to a part of it makes another one and binds that, wherever the record was read. So
 * records are merged, carried round loops and chosen between part by part, as tuples are. */
#include "eval/values/values.h"

#include <string.h>

Object *record_new(Eval *eval, Object *class, Object *const *parts, size_t count)
{
    Object *record = object_list(eval, OBJECT_TUPLE, parts, count);
    record->as.list.class = class;
    return record;
}

/* ---- parts by name ---- */

/* -1: there is none. */
static int64_t field_index(Eval *eval, const Object *record, Name name)
{
    const Object *fields =
        class_find(record->as.list.class, intern_text(eval->session->names, "__fields__"));
    if (fields == NULL || !object_is_sequence(fields)) return -1;
    for (uint32_t i = 0; i < fields->as.list.count && i < record->as.list.count; i++) {
        const Object *field = fields->as.list.items[i];
        if (field->kind == OBJECT_TEXT && strcmp(field->as.text.data, name) == 0) return i;
    }
    return -1;
}

Object *record_field(Eval *eval, const Object *record, Name name)
{
    const int64_t index = field_index(eval, record, name);
    return index >= 0 ? record->as.list.items[index] : NULL;
}

Object *record_with_field(Eval *eval, Object *record, Name name, Object *value, Span at)
{
    Object *method = special_method(eval, record, "__with_field__");
    if (method != NULL)
        return eval->ops->call_simple(
            eval, method, 3, (Object *[]){record, object_text(eval, name, strlen(name)), value},
            at);
    const int64_t index = field_index(eval, record, name);
    if (index < 0) return FAIL(eval, unknown_attribute, at, object_repr(eval, record), name);
    Object *other =
        record_new(eval, record->as.list.class, record->as.list.items, record->as.list.count);
    other->as.list.items[index] = value;
    return other;
}

Object *record_with_item(Eval *eval, Object *record, Object *index, Object *value, Span at)
{
    Object *method = special_method(eval, record, "__with_item__");
    if (method == NULL)
        return FAIL(eval, bad_index, at, object_repr(eval, record), object_kind_name(index));
    return eval->ops->call_simple(eval, method, 3, (Object *[]){record, index, value}, at);
}

/* ---- names ---- */

static bool is_reference(const Object *record)
{
    return class_says(record->as.list.class, "__reference__");
}

bool object_is_absent(const Object *object)
{
    return object_is_record(object) && class_says(object->as.list.class, "__absent__");
}

typedef struct Hold {
    Eval *eval;
    Map made[2]; /* what was made of tuples that are parts: held, or kept */
} Hold;

static Object *hold_part(Hold *hold, Object *part, bool keeps);

/* The record whose parts are made of these; the same one if they stay the same. */
static Object *with_parts(Hold *hold, Object *record, bool keeps)
{
    Eval *eval = hold->eval;
    Object *parts = NULL;
    if (!eval_work(eval, 1)) return record;
    for (uint32_t i = 0; i < record->as.list.count; i++) {
        Object *part = record->as.list.items[i], *made = hold_part(hold, part, keeps);
        if (made == part) continue;
        if (parts == NULL) {
            parts = object_list(eval, record->kind, record->as.list.items, record->as.list.count);
            parts->as.list.class = record->as.list.class;
        }
        parts->as.list.items[i] = made;
    }
    return parts != NULL ? parts : record;
}

static Object *hold_part(Hold *hold, Object *part, bool keeps)
{
    Eval *eval = hold->eval;
    if (part->kind != OBJECT_TUPLE)
        return keeps ? eval->ops->object_keep(eval, part) : eval->ops->object_hold(eval, part);
    if (object_is_record(part)) keeps = keeps || is_reference(part);
    Object *made = map_get(&hold->made[keeps], part);
    if (made != NULL) return made;
    if (stack_is_low()) return FAIL(eval, recursion, eval->at, CALL_LIMIT), part;
    made = with_parts(hold, part, keeps);
    map_set(eval->arena, &hold->made[keeps], part, made);
    return made;
}

Object *record_hold(Eval *eval, Object *record, bool temporaries)
{
    Hold hold = {.eval = eval};
    return with_parts(&hold, record, temporaries || is_reference(record));
}
