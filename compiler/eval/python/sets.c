/* sets.c: sets, in order of insertion, and further methods of lists, dicts and numbers. */
#include "eval/python/python.h"

#include <math.h>

Object *set_from_items(Eval *eval, const Object *items)
{
    if (items == NULL) return NULL;
    Object *set = set_new(eval);
    for (uint32_t i = 0; i < items->as.list.count; i++) {
        Object *item = items->as.list.items[i];
        if (!key_is_fit(eval, item, eval->at)) return NULL;
        dict_set(eval, set, item, item);
    }
    return set;
}

static Object *set_from(Eval *eval, Object *iterable, Span at)
{
    return set_from_items(eval, eval->ops->iterate(eval, iterable, at));
}

Object *builtin_set(Eval *eval, const Bound *bound)
{
    return bound->values[0] != NULL ? set_from(eval, bound->values[0], bound->at) : set_new(eval);
}

Object *builtin_frozenset(Eval *eval, const Bound *bound)
{
    Object *set = builtin_set(eval, bound);
    if (set != NULL) set->as.dict.frozen = true;
    return set;
}

static void keep_where(Eval *eval, Object *out, const Object *set, const Object *other, bool inside)
{
    for (size_t i = 0; i < set->as.dict.keys.count; i++) {
        Object *item = set->as.dict.keys.data[i];
        if ((dict_get(eval, other, item) != NULL) == inside) dict_set(eval, out, item, item);
    }
}

static void add_all(Eval *eval, Object *out, const Object *set)
{
    for (size_t i = 0; i < set->as.dict.keys.count; i++)
        dict_set(eval, out, set->as.dict.keys.data[i], set->as.dict.keys.data[i]);
}

static Object *combine(Eval *eval, Operator op, const Object *left, const Object *right)
{
    Object *out = set_new(eval);
    out->as.dict.frozen = left->as.dict.frozen;
    if (op == OPERATOR_BitAnd) {
        keep_where(eval, out, left, right, true);
        return out;
    }
    if (op == OPERATOR_BitOr)
        add_all(eval, out, left);
    else
        keep_where(eval, out, left, right, false);
    if (op == OPERATOR_BitXor) keep_where(eval, out, right, left, false);
    if (op == OPERATOR_BitOr) add_all(eval, out, right);
    return out;
}

static bool contains_all(Eval *eval, const Object *set, const Object *part)
{
    for (size_t i = 0; i < part->as.dict.keys.count; i++)
        if (dict_get(eval, set, part->as.dict.keys.data[i]) == NULL) return false;
    return true;
}

Object *operate_sets(Eval *eval, Operator op, Object *left, Object *right, bool *known)
{
    *known = left->kind == OBJECT_SET && right->kind == OBJECT_SET;
    if (!*known) return NULL;
    size_t a = left->as.dict.keys.count, b = right->as.dict.keys.count;
    switch ((int)op) {
    case OPERATOR_BitAnd:
    case OPERATOR_BitOr:
    case OPERATOR_BitXor:
    case OPERATOR_Sub: return combine(eval, op, left, right);
    case OPERATOR_LtE: return object_bool(eval, contains_all(eval, right, left));
    case OPERATOR_GtE: return object_bool(eval, contains_all(eval, left, right));
    case OPERATOR_Lt: return object_bool(eval, a < b && contains_all(eval, right, left));
    case OPERATOR_Gt: return object_bool(eval, a > b && contains_all(eval, left, right));
    default: break;
    }
    *known = false;
    return NULL;
}

/* ---- methods of sets ---- */

static bool may_change(Eval *eval, const Object *set, Span at)
{
    if (!set->as.dict.frozen) return list_may_change(eval, set, at);
    FAIL(eval, immutable, at, "a frozenset");
    return false;
}

Object *set_method_add(Eval *eval, const Bound *bound)
{
    if (!may_change(eval, bound->values[0], bound->at) ||
        !key_is_fit(eval, bound->values[1], bound->at))
        return NULL;
    dict_set(eval, bound->values[0], bound->values[1], bound->values[1]);
    return eval->none;
}

static Object *take_out(Eval *eval, const Bound *bound, Object *otherwise)
{
    const Object *item = bound->values[1];
    if (!may_change(eval, bound->values[0], bound->at) ||
        (item->kind != OBJECT_SET && !key_is_fit(eval, item, bound->at)))
        return NULL;
    Object *removed = dict_method_pop(
        eval, &(Bound){.values = {bound->values[0], bound->values[1], otherwise}, .at = bound->at});
    return removed != NULL ? eval->none : NULL;
}

Object *set_method_discard(Eval *eval, const Bound *bound)
{
    return take_out(eval, bound, eval->none);
}

Object *set_method_remove(Eval *eval, const Bound *bound)
{
    return take_out(eval, bound, NULL);
}

static Object *combine_all(Eval *eval, const Bound *bound, Operator op)
{
    Object *result = combine(eval, OPERATOR_BitOr, bound->values[0], set_new(eval));
    for (uint32_t i = 0; i < bound->rest->as.list.count; i++) {
        Object *other = set_from(eval, bound->rest->as.list.items[i], bound->at);
        if (other == NULL) return NULL;
        result = combine(eval, op, result, other);
    }
    return result;
}

Object *set_method_union(Eval *eval, const Bound *bound)
{
    return combine_all(eval, bound, OPERATOR_BitOr);
}

Object *set_method_intersection(Eval *eval, const Bound *bound)
{
    return combine_all(eval, bound, OPERATOR_BitAnd);
}

Object *set_method_difference(Eval *eval, const Bound *bound)
{
    return combine_all(eval, bound, OPERATOR_Sub);
}

Object *set_method_symmetric(Eval *eval, const Bound *bound)
{
    Object *other = set_from(eval, bound->values[1], bound->at);
    return other != NULL ? combine(eval, OPERATOR_BitXor, bound->values[0], other) : NULL;
}

/* `set` holds what `content` does from here on. */
static Object *replace_content(Eval *eval, Object *set, const Object *content, Span at)
{
    if (content == NULL || !may_change(eval, set, at)) return NULL;
    dict_clear(set);
    add_all(eval, set, content);
    return eval->none;
}

Object *set_method_update(Eval *eval, const Bound *bound)
{
    return replace_content(eval, bound->values[0], set_method_union(eval, bound), bound->at);
}

Object *set_method_intersection_update(Eval *eval, const Bound *bound)
{
    return replace_content(eval, bound->values[0], set_method_intersection(eval, bound), bound->at);
}

Object *set_method_difference_update(Eval *eval, const Bound *bound)
{
    return replace_content(eval, bound->values[0], set_method_difference(eval, bound), bound->at);
}

Object *set_method_symmetric_update(Eval *eval, const Bound *bound)
{
    return replace_content(eval, bound->values[0], set_method_symmetric(eval, bound), bound->at);
}

/* Which item is nobody's business; the last one is taken quickest. */
Object *set_method_pop(Eval *eval, const Bound *bound)
{
    Object *set = bound->values[0];
    if (!may_change(eval, set, bound->at)) return NULL;
    if (set->as.dict.keys.count == 0)
        return raise_python(eval, "KeyError", "pop from an empty set", bound->at);
    Object *item = vec_last(&set->as.dict.keys);
    dict_remove(eval, set, item);
    return item;
}

Object *set_method_issubset(Eval *eval, const Bound *bound)
{
    const Object *other = set_from(eval, bound->values[1], bound->at);
    return other != NULL ? object_bool(eval, contains_all(eval, other, bound->values[0])) : NULL;
}

Object *set_method_issuperset(Eval *eval, const Bound *bound)
{
    const Object *other = set_from(eval, bound->values[1], bound->at);
    return other != NULL ? object_bool(eval, contains_all(eval, bound->values[0], other)) : NULL;
}

Object *set_method_isdisjoint(Eval *eval, const Bound *bound)
{
    const Object *other = set_from(eval, bound->values[1], bound->at);
    if (other == NULL) return NULL;
    return object_bool(
        eval, combine(eval, OPERATOR_BitAnd, bound->values[0], other)->as.dict.keys.count == 0);
}

Object *set_method_copy(Eval *eval, const Bound *bound)
{
    return combine(eval, OPERATOR_BitOr, bound->values[0], set_new(eval));
}

Object *set_method_clear(Eval *eval, const Bound *bound)
{
    Object *set = bound->values[0];
    if (!may_change(eval, set, bound->at)) return NULL;
    dict_clear(set);
    return eval->none;
}

/* ---- further methods of lists ---- */

Object *list_method_remove(Eval *eval, const Bound *bound)
{
    Object *index = list_method_index(eval, bound);
    if (index == NULL) return NULL;
    return list_method_pop(eval, &(Bound){.values = {bound->values[0], index}, .at = bound->at}) !=
                   NULL
               ? eval->none
               : NULL;
}

Object *list_method_clear(Eval *eval, const Bound *bound)
{
    if (!list_may_change(eval, bound->values[0], bound->at)) return NULL;
    bound->values[0]->as.list.count = 0;
    return eval->none;
}

static Object *replace_items(Eval *eval, const Bound *bound, const Object *items)
{
    Object *list = bound->values[0];
    if (items == NULL || !list_may_change(eval, list, bound->at)) return NULL;
    if (items->as.list.count != list->as.list.count)
        return FAIL(eval, changed_meanwhile, bound->at);
    for (uint32_t i = 0; i < items->as.list.count; i++)
        list->as.list.items[i] = items->as.list.items[i];
    return eval->none;
}

Object *list_method_reverse(Eval *eval, const Bound *bound)
{
    const Object *list = bound->values[0];
    Object *turned = object_list(eval, OBJECT_LIST, NULL, 0);
    for (uint32_t i = list->as.list.count; i-- > 0;)
        list_append(eval, turned, list->as.list.items[i]);
    return replace_items(eval, bound, turned);
}

Object *list_method_sort(Eval *eval, const Bound *bound)
{
    return replace_items(eval, bound, builtin_sorted(eval, bound));
}

/* ---- further methods of dicts ---- */

Object *dict_method_copy(Eval *eval, const Bound *bound)
{
    Object *empty = object_new(eval, OBJECT_DICT);
    return operate_binary(eval, OPERATOR_BitOr, bound->values[0], empty, bound->at);
}

Object *dict_method_clear(Eval *eval, const Bound *bound)
{
    Object *dict = bound->values[0];
    if (!list_may_change(eval, dict, bound->at)) return NULL;
    while (dict->as.dict.mirrored != NULL && dict->as.dict.keys.count > 0)
        if (!item_delete(eval, dict, vec_last(&dict->as.dict.keys), bound->at)) return NULL;
    dict_clear(dict);
    return eval->none;
}

Object *dict_method_popitem(Eval *eval, const Bound *bound)
{
    Object *dict = bound->values[0];
    if (!list_may_change(eval, dict, bound->at)) return NULL;
    if (dict->as.dict.keys.count == 0)
        return raise_python(eval, "KeyError", "popitem(): dictionary is empty", bound->at);
    Object *pair[2] = {vec_last(&dict->as.dict.keys), vec_last(&dict->as.dict.values)};
    return item_delete(eval, dict, pair[0], bound->at) ? object_list(eval, OBJECT_TUPLE, pair, 2)
                                                       : NULL;
}

/* ---- numbers ---- */

Object *float_method_is_integer(Eval *eval, const Bound *bound)
{
    double number = object_number(bound->values[0]);
    return object_bool(eval, isfinite(number) && floor(number) == number);
}

static uint64_t magnitude_of(const Object *object)
{
    int64_t value = object->as.integer;
    return value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
}

Object *int_method_bit_length(Eval *eval, const Bound *bound)
{
    uint64_t magnitude = magnitude_of(bound->values[0]);
    return object_int(eval, magnitude == 0 ? 0 : 64 - __builtin_clzll(magnitude));
}

Object *int_method_bit_count(Eval *eval, const Bound *bound)
{
    return object_int(eval, __builtin_popcountll(magnitude_of(bound->values[0])));
}

/* ---- objects ---- */

Object *builtin_slice(Eval *eval, const Bound *bound)
{
    bool one = bound->values[1] == NULL;
    Object *const given[3] = {one ? NULL : bound->values[0], bound->values[one ? 0 : 1],
                              bound->values[2]};
    Object *slice = object_new(eval, OBJECT_SLICE);
    Object **parts[3] = {&slice->as.range.start, &slice->as.range.stop, &slice->as.range.step};
    for (int i = 0; i < 3; i++)
        *parts[i] = given[i] != NULL && given[i]->kind != OBJECT_NONE ? given[i] : NULL;
    return slice;
}

static Name name_of(Eval *eval, const Object *object, Span at)
{
    const Object *text = text_argument(eval, object, "an attribute's name", at);
    return text != NULL ? intern(eval->session->names, text->as.text.data, text->as.text.length)
                        : NULL;
}

Object *builtin_vars(Eval *eval, const Bound *bound)
{
    return attribute_get(eval, bound->values[0], intern_text(eval->session->names, "__dict__"),
                         bound->at);
}

Object *builtin_delattr(Eval *eval, const Bound *bound)
{
    Name name = name_of(eval, bound->values[1], bound->at);
    return name != NULL && attribute_delete(eval, bound->values[0], name, bound->at) ? eval->none
                                                                                     : NULL;
}

Object *python_attribute_put(Eval *eval, const Bound *bound)
{
    Name name = name_of(eval, bound->values[1], bound->at);
    return name != NULL && attribute_put(eval, bound->values[0], name, bound->values[2], bound->at)
               ? eval->none
               : NULL;
}

/* As if it had been so all along: whatever run-time control is open, the value is the same. */
Object *python_attribute_keep(Eval *eval, const Bound *bound)
{
    Object *object = bound->values[0], *value = bound->values[2];
    Name name = name_of(eval, bound->values[1], bound->at);
    if (name == NULL || object->kind != OBJECT_INSTANCE || !eval->ops->object_is_known(eval, value))
        return name != NULL ? eval->none : NULL;
    Binding *binding = bindings_make(eval, &object->as.instance->attributes, name);
    binding->object = value;
    binding->at = bound->at;
    return eval->none;
}

/* The same of a dict's item. */
Object *python_item_keep(Eval *eval, const Bound *bound)
{
    Object *dict = bound->values[0], *key = bound->values[1], *value = bound->values[2];
    if (dict->kind == OBJECT_DICT && eval->ops->object_is_known(eval, key) &&
        eval->ops->object_is_known(eval, value))
        dict_set(eval, dict, key, value);
    return eval->none;
}

/* An instance whose __init__ was not called. */
Object *python_instance_make(Eval *eval, const Bound *bound)
{
    if (bound->values[0]->kind == OBJECT_CLASS) return instance_new(eval, bound->values[0]);
    return FAIL(eval, expected_kind, bound->at, "the argument", "a class",
                object_repr(eval, bound->values[0]));
}
