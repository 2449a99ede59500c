/* lanes.c: indices and values that are several side by side. The library makes them: a class with
 * `__read_at__` and `__write_at__` says what its instances mean in a subscript of memory, which
 * these methods get in a list, as a name of their own would be a copy of a register tile. */
#include "eval/staging/staging.h"

/* The first of the subscript's indices, or the value, whose class has the method; NULL: none. */
static Object *with_lanes(Eval *eval, Object *index, Object *value, const char *method)
{
    Object *const *items = object_is_sequence(index) ? index->as.list.items : &index;
    const uint32_t count = object_is_sequence(index) ? index->as.list.count : 1;
    for (uint32_t i = 0; i < count; i++)
        if (items[i]->kind == OBJECT_INSTANCE && special_method(eval, items[i], method) != NULL)
            return items[i];
    const bool is_value = value != NULL && value->kind == OBJECT_INSTANCE;
    return is_value && special_method(eval, value, method) != NULL ? value : NULL;
}

bool lanes_get(Eval *eval, Object *memory, Object *index, Span at, Object **out)
{
    Object *lanes = with_lanes(eval, index, NULL, "__read_at__");
    if (lanes == NULL) return false;
    Object *held = object_list(eval, OBJECT_LIST, &memory, 1);
    *out = eval->ops->call_simple(eval, special_method(eval, lanes, "__read_at__"), 3,
                                  (Object *[]){lanes, held, index}, at);
    return true;
}

bool lanes_set(Eval *eval, Object *memory, Object *index, Object *value, Span at, bool *out)
{
    Object *lanes = with_lanes(eval, index, value, "__write_at__");
    if (lanes == NULL) return false;
    Object *held = object_list(eval, OBJECT_LIST, &memory, 1);
    *out = eval->ops->call_simple(eval, special_method(eval, lanes, "__write_at__"), 4,
                                  (Object *[]){lanes, held, index, value}, at) != NULL;
    return true;
}
