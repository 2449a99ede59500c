/* iterator.c: what gives its items one at a time, when they are asked for: zip() and the like over
 * others of their kind, objects with __next__, generators (generator.c). */
#include "eval/python/python.h"

Object *iterator_new(Eval *eval, Object *items)
{
    if (items == NULL) return NULL;
    Object *iterator = object_new(eval, OBJECT_ITERATOR);
    iterator->as.iterator.items = items;
    iterator->as.iterator.control = eval->control;
    return iterator;
}

/* An iterator that makes each item by `pull`, from the state. */
static Object *pulling(Eval *eval, IteratorPull *pull, Object *state)
{
    Object *iterator = iterator_new(eval, state);
    if (iterator != NULL) iterator->as.iterator.pull = pull;
    return iterator;
}

/* Of a list as it is by now. */
static bool pull_item(Eval *eval, Object *iterator, Span at, Object **item)
{
    (void)at;
    Object *items = iterator->as.iterator.items;
    const uint32_t next = iterator->as.iterator.next;
    if (!eval->ops->content_settle(eval, items)) return false;
    *item = next < items->as.list.count ? items->as.list.items[next] : NULL;
    if (*item != NULL) iterator->as.iterator.next++;
    return true;
}

bool iterator_may_move(Eval *eval, const Object *iterator, Span at)
{
    if (eval->control <= iterator->as.iterator.control) return true;
    FAIL(eval, changed_under_control, at, "an iterator");
    return false;
}

/* Of an iterator that only another one asks. */
static bool pull_inner(Eval *eval, Object *iterator, Span at, Object **item)
{
    IteratorPull *pull = iterator->as.iterator.pull;
    const Object *keyed = iterator->as.iterator.keyed;
    *item = NULL;
    if (iterator->as.iterator.ended) return true;
    if (keyed != NULL && keyed->as.dict.keys.count != iterator->as.iterator.keys) {
        FAIL(eval, changed_size, at, keyed->kind == OBJECT_DICT ? "dict" : "set");
        return false;
    }
    if (!eval_works(eval, WORK_OF_ITEM, at)) return false;
    if (pull != NULL && (!eval_step(eval, at) || !eval_may_nest(eval, at))) return false;
    if (!(pull != NULL ? pull : pull_item)(eval, iterator, at, item)) return false;
    iterator->as.iterator.ended = *item == NULL;
    return true;
}

bool iterator_pull(Eval *eval, Object *iterator, Span at, Object **item)
{
    return iterator_may_move(eval, iterator, at) && pull_inner(eval, iterator, at, item);
}

Object *iterator_drain(Eval *eval, Object *iterator, Span at)
{
    Object *list = object_list(eval, OBJECT_LIST, NULL, 0);
    for (Object *item;;) {
        if (!iterator_pull(eval, iterator, at, &item)) return NULL;
        if (item == NULL) return list;
        if (list->as.list.count >= ITEM_LIMIT)
            return FAIL(eval, endless, at, (long long)ITEM_LIMIT);
        list_append(eval, list, item);
    }
}

/* ---- of ranges, and of objects with __next__ ---- */

static bool pull_range(Eval *eval, Object *iterator, Span at, Object **item)
{
    const Object *range = iterator->as.iterator.items;
    (void)at;
    if (iterator->as.iterator.next < range_length(range))
        *item = object_int(eval, range_number(range, iterator->as.iterator.next++));
    return true;
}

static bool is_plain_range(const Object *object)
{
    return object->kind == OBJECT_RANGE && object->as.range.start->kind == OBJECT_INT &&
           object->as.range.stop->kind == OBJECT_INT && object->as.range.step->kind == OBJECT_INT;
}

/* Until it raises StopIteration. */
static bool pull_next(Eval *eval, Object *iterator, Span at, Object **item)
{
    Object *object = iterator->as.iterator.items;
    Object *next =
        class_find(object->as.instance->class, intern_text(eval->session->names, "__next__"));
    Attempt attempt = {.quiet = eval->quiet + 1, .outer = eval->attempt};
    eval->attempt = &attempt;
    eval->quiet++;
    *item = call_simple(eval, next, 1, &object, at);
    eval->quiet--;
    eval->attempt = attempt.outer;
    return *item != NULL || attempt_raised(eval, &attempt, "StopIteration");
}

static Object *iterator_of_instance(Eval *eval, Object *object, Span at)
{
    Object *method = special_method(eval, object, "__iter__");
    if (method == NULL) return FAIL(eval, not_iterable, at, object_repr(eval, object));
    Object *items = eval->ops->call_simple(eval, method, 1, &object, at);
    if (items == NULL || items->kind != OBJECT_INSTANCE)
        return items != NULL ? iterator_of(eval, items, at) : NULL;
    if (class_find(items->as.instance->class, intern_text(eval->session->names, "__next__")) ==
        NULL)
        return FAIL(eval, not_iterable, at, object_repr(eval, items));
    return pulling(eval, pull_next, items);
}

/* What it is the keys, the values or the pairs of; NULL: it is something else. */
static const Object *keyed_of(const Object *iterable)
{
    if (iterable->kind == OBJECT_LIST) return iterable->as.list.keyed;
    return iterable->kind == OBJECT_DICT || iterable->kind == OBJECT_SET ? iterable : NULL;
}

static Object *iterator_of_keyed(Eval *eval, Object *iterable, const Object *keyed, Span at)
{
    Object *iterator = iterator_new(eval, eval->ops->iterate(eval, iterable, at));
    if (iterator == NULL) return NULL;
    iterator->as.iterator.keyed = keyed;
    iterator->as.iterator.keys = keyed->as.dict.keys.count;
    return iterator;
}

Object *iterator_of(Eval *eval, Object *iterable, Span at)
{
    if (iterable->kind == OBJECT_ITERATOR) return iterable;
    if (iterable->kind == OBJECT_INSTANCE ||
        (object_is_record(iterable) && special_method(eval, iterable, "__iter__") != NULL))
        return iterator_of_instance(eval, iterable, at);
    const Object *keyed = keyed_of(iterable);
    if (keyed != NULL) return iterator_of_keyed(eval, iterable, keyed, at);
    if (iterable->kind == OBJECT_LIST) return iterator_new(eval, iterable);
    if (is_plain_range(iterable)) return pulling(eval, pull_range, iterable);
    return iterator_new(eval, eval->ops->iterate(eval, iterable, at));
}

/* ---- zip, enumerate, map, filter ---- */

/* The iterators over each of the items, behind the object `first` if there is one. */
static Object *sources(Eval *eval, Object *first, Object *const *items, uint32_t count, Span at)
{
    Object *list = object_list(eval, OBJECT_LIST, &first, first != NULL);
    for (uint32_t i = 0; i < count; i++) {
        Object *iterator = iterator_of(eval, items[i], at);
        if (iterator == NULL) return NULL;
        list_append(eval, list, iterator);
    }
    return list;
}

/* An item of each source from `first` on; *row NULL: one has none. */
static bool pull_row(Eval *eval, const Object *list, uint32_t first, Span at, Object **row)
{
    Object *items = object_list(eval, OBJECT_TUPLE, NULL, 0);
    *row = NULL;
    for (uint32_t i = first; i < list->as.list.count; i++) {
        Object *item;
        if (!pull_inner(eval, list->as.list.items[i], at, &item)) return false;
        if (item == NULL) return true;
        list_append(eval, items, item);
    }
    *row = list->as.list.count > first ? items : NULL;
    return true;
}

static bool pull_zip(Eval *eval, Object *iterator, Span at, Object **item)
{
    return pull_row(eval, iterator->as.iterator.items, 0, at, item);
}

static bool pull_strict(Eval *eval, Object *iterator, Span at, Object **item)
{
    const Object *list = iterator->as.iterator.items;
    uint32_t have = 0;
    Object *row = object_list(eval, OBJECT_TUPLE, NULL, 0);
    for (uint32_t i = 0; i < list->as.list.count; i++) {
        Object *each;
        if (!pull_inner(eval, list->as.list.items[i], at, &each)) return false;
        have += each != NULL;
        if (each != NULL) list_append(eval, row, each);
    }
    if (have != 0 && have != list->as.list.count) {
        FAIL(eval, zip_lengths, at);
        return false;
    }
    *item = have != 0 ? row : NULL;
    return true;
}

Object *builtin_zip(Eval *eval, const Bound *bound)
{
    bool strict = false;
    if (bound->values[1] != NULL && !object_truth(eval, bound->values[1], &strict)) return NULL;
    Object *list =
        sources(eval, NULL, bound->rest->as.list.items, bound->rest->as.list.count, bound->at);
    return pulling(eval, strict ? pull_strict : pull_zip, list);
}

static bool pull_numbered(Eval *eval, Object *iterator, Span at, Object **item)
{
    const Object *list = iterator->as.iterator.items;
    Object *row;
    if (!pull_row(eval, list, 1, at, &row)) return false;
    if (row == NULL) return true;
    const int64_t start = list->as.list.items[0]->as.integer;
    Object *pair[2] = {object_int(eval, (int64_t)((uint64_t)start + iterator->as.iterator.next++)),
                       row->as.list.items[0]};
    *item = object_list(eval, OBJECT_TUPLE, pair, 2);
    return true;
}

Object *builtin_enumerate(Eval *eval, const Bound *bound)
{
    int64_t start = 0;
    if (bound->values[1] != NULL &&
        !object_as_int(eval, bound->values[1], "the start of enumerate()", &start))
        return NULL;
    Object *list = sources(eval, object_int(eval, start), &bound->values[0], 1, bound->at);
    return pulling(eval, pull_numbered, list);
}

static bool pull_mapped(Eval *eval, Object *iterator, Span at, Object **item)
{
    const Object *list = iterator->as.iterator.items;
    Object *row;
    if (!pull_row(eval, list, 1, at, &row)) return false;
    if (row == NULL) return true;
    *item = eval->ops->call_simple(eval, list->as.list.items[0], (int)row->as.list.count,
                                   row->as.list.items, at);
    return *item != NULL;
}

Object *builtin_map(Eval *eval, const Bound *bound)
{
    Object *list = sources(eval, bound->values[0], bound->rest->as.list.items,
                           bound->rest->as.list.count, bound->at);
    return pulling(eval, pull_mapped, list);
}

static bool pull_filtered(Eval *eval, Object *iterator, Span at, Object **item)
{
    const Object *list = iterator->as.iterator.items;
    Object *test = list->as.list.items[0];
    for (bool truth = false; !truth;) {
        if (!pull_inner(eval, list->as.list.items[1], at, item)) return false;
        if (*item == NULL) return true;
        Object *answer =
            test->kind == OBJECT_NONE ? *item : eval->ops->call_simple(eval, test, 1, item, at);
        if (answer == NULL || !object_truth(eval, answer, &truth)) return false;
    }
    return true;
}

Object *builtin_filter(Eval *eval, const Bound *bound)
{
    return pulling(eval, pull_filtered,
                   sources(eval, bound->values[0], &bound->values[1], 1, bound->at));
}

/* ---- iter, next ---- */

Object *builtin_iter(Eval *eval, const Bound *bound)
{
    return iterator_of(eval, bound->values[0], bound->at);
}

Object *builtin_next(Eval *eval, const Bound *bound)
{
    Object *iterator = bound->values[0], *item;
    if (iterator->kind == OBJECT_INSTANCE) {
        Object *method =
            class_find(iterator->as.instance->class, intern_text(eval->session->names, "__next__"));
        if (method != NULL && bound->values[1] == NULL)
            return eval->ops->call_simple(eval, method, 1, &iterator, bound->at);
        if (method != NULL) iterator = pulling(eval, pull_next, iterator);
    }
    if (iterator->kind != OBJECT_ITERATOR)
        return FAIL(eval, expected_kind, bound->at, "the argument of next()", "an iterator",
                    object_repr(eval, iterator));
    if (!iterator_pull(eval, iterator, bound->at, &item)) return NULL;
    if (item != NULL) return item;
    return bound->values[1] != NULL ? bound->values[1] : FAIL(eval, stop_iteration, bound->at);
}
