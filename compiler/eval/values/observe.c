/* observe.c: the values that expressions and names of the program's own text had, for tools that
 * show them. What is staged is described at once, as its IR may be gone later; a place that is
 * evaluated again and again is looked at a few times alone, so that unrolled loops cost nothing. */
#include "eval/inspect.h"
#include "eval/values/values.h"

#include <string.h>

enum { OBSERVED_OFTEN = 16, DESCRIBED_DEPTH = 2, DESCRIBED_ITEMS = 8, DESCRIBED_LETTERS = 60 };

typedef struct Observation {
    Object *object; /* the latest that was looked at */
    const char *texts[OBSERVED_TEXTS];
    int text_count, seen;
} Observation;

static void describe_at(Eval *eval, const Object *object, int depth, Buf *out);

static void describe_text(const Object *object, Buf *out)
{
    size_t length = object->as.text.length;
    const bool is_cut = length > DESCRIBED_LETTERS;
    if (is_cut) length = DESCRIBED_LETTERS;
    while (is_cut && length > 0 && continues_character(object->as.text.data[length])) length--;
    buf_quoted(out, object->as.text.data, length);
    if (is_cut) buf_text(out, "...");
}

static void describe_items(Eval *eval, const Object *object, int depth, Buf *out)
{
    const bool is_tuple = object->kind == OBJECT_TUPLE;
    const uint32_t count = object->as.list.count;
    buf_char(out, is_tuple ? '(' : '[');
    for (uint32_t i = 0; i < count && i < DESCRIBED_ITEMS; i++) {
        buf_text(out, i == 0 ? "" : ", ");
        describe_at(eval, object->as.list.items[i], depth + 1, out);
    }
    if (count > DESCRIBED_ITEMS) buf_text(out, ", ...");
    buf_text(out, is_tuple && count == 1 ? ",)" : is_tuple ? ")" : "]");
}

/* The number, or the text, alone: within lists, and behind "int = ". */
static void describe_at(Eval *eval, const Object *object, int depth, Buf *out)
{
    switch ((int)object->kind) {
    case OBJECT_NONE: buf_text(out, "None"); break;
    case OBJECT_BOOL: buf_text(out, object->as.integer != 0 ? "True" : "False"); break;
    case OBJECT_INT: buf_integer(out, object->as.integer); break;
    case OBJECT_FLOAT: buf_float(out, object->as.number); break;
    case OBJECT_TEXT: describe_text(object, out); break;
    case OBJECT_DTYPE: buf_text(out, dtype_spelling(object)); break;
    case OBJECT_IR:
    case OBJECT_TILE: buf_text(out, eval->ops->staged_type_text(eval, object)); break;
    case OBJECT_CLASS: buf_printf(out, "class %s", object->as.class->name); break;
    case OBJECT_INSTANCE: buf_text(out, object->as.instance->class->as.class->name); break;
    case OBJECT_MODULE: buf_printf(out, "module %s", object->as.unit->name); break;
    case OBJECT_TUPLE:
    case OBJECT_LIST:
        if (object_is_record(object))
            buf_text(out, object->as.list.class->as.class->name);
        else if (depth < DESCRIBED_DEPTH)
            describe_items(eval, object, depth, out);
        else
            buf_text(out, "...");
        break;
    default: buf_text(out, object_kind_name(object)); break;
    }
}

void object_explain(Eval *eval, const Object *object, Buf *out)
{
    switch ((int)object->kind) {
    case OBJECT_BOOL:
    case OBJECT_INT:
    case OBJECT_FLOAT:
    case OBJECT_TEXT: buf_printf(out, "%s = ", object_kind_name(object)); break;
    case OBJECT_TUPLE:
    case OBJECT_LIST:
        if (!object_is_record(object)) buf_printf(out, "%s = ", object_kind_name(object));
        break;
    case OBJECT_DTYPE: buf_text(out, "dtype "); break;
    default: break;
    }
    describe_at(eval, object, 0, out);
}

static void add_text(Eval *eval, Observation *observation, const Object *object)
{
    Buf text = {0};
    object_explain(eval, object, &text);
    bool is_new = observation->text_count < OBSERVED_TEXTS;
    for (int i = 0; i < observation->text_count; i++)
        is_new &= strcmp(observation->texts[i], text.data) != 0;
    if (is_new)
        observation->texts[observation->text_count++] =
            arena_copy_text(eval->arena, text.data, text.length);
    buf_free(&text);
}

/* Keys of the map are no pointers: both ends of the place. */
static const void *place_key(Span at)
{
    _Static_assert(sizeof(uintptr_t) >= 2 * sizeof at.begin, "both ends fit");
    return (const void *)((uintptr_t)at.begin << 32 | at.end);
}

static bool is_value(const Object *object)
{
    return object != NULL && object->kind < OBJECT_CELL && object->kind != OBJECT_SYMBOL;
}

/* Names that the library binds have the place of its caller: these are not the program's. */
void observe(Eval *eval, Span at, Object *object)
{
    if (eval->observed == NULL || at.source != eval->observed_source || at.source == NULL ||
        eval->library > 0 || !is_value(object))
        return;
    Observation *observation = map_get(eval->observed, place_key(at));
    if (observation == NULL) {
        observation = arena_new_of(eval->arena, Observation);
        map_set(eval->arena, eval->observed, place_key(at), observation);
    }
    if (++observation->seen > OBSERVED_OFTEN) return;
    observation->object = object;
    add_text(eval, observation, object);
}

static const Observation *observation_at(const Eval *eval, Span at)
{
    return eval->observed != NULL ? map_get(eval->observed, place_key(at)) : NULL;
}

Object *observed_object(const Eval *eval, Span at)
{
    const Observation *observation = observation_at(eval, at);
    return observation != NULL ? observation->object : NULL;
}

const char *observed_text(const Eval *eval, Span at)
{
    const Observation *observation = observation_at(eval, at);
    if (observation == NULL) return NULL;
    Buf text = {0};
    for (int i = 0; i < observation->text_count; i++)
        buf_printf(&text, "%s%s", i == 0 ? "" : " | ", observation->texts[i]);
    const char *copy = arena_copy_text(eval->arena, text.data, text.length);
    buf_free(&text);
    return copy;
}
