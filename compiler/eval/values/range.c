/* range.c: what range() makes, and the numbers in it. */
#include "eval/values/values.h"

static uint64_t distance(int64_t from, int64_t to)
{
    return (uint64_t)to - (uint64_t)from;
}

static uint64_t magnitude(int64_t number)
{
    return number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
}

uint64_t range_length(const Object *range)
{
    const int64_t start = range->as.range.start->as.integer,
                  stop = range->as.range.stop->as.integer;
    const int64_t step = range->as.range.step->as.integer;
    const bool runs = step > 0 ? start < stop : step < 0 && start > stop;
    const uint64_t way = step > 0 ? distance(start, stop) : distance(stop, start);
    return runs ? (way - 1) / magnitude(step) + 1 : 0;
}

static bool range_is_known(const Object *range)
{
    return range->kind == OBJECT_RANGE && range->as.range.map == NULL &&
           range->as.range.start->kind == OBJECT_INT && range->as.range.stop->kind == OBJECT_INT &&
           range->as.range.step->kind == OBJECT_INT && range->as.range.step->as.integer != 0;
}

bool range_count(const Object *range, int64_t *out)
{
    if (!range_is_known(range)) return false;
    const uint64_t count = range_length(range);
    *out = (int64_t)count;
    return count <= INT64_MAX;
}

int64_t range_number(const Object *range, uint64_t index)
{
    const uint64_t step = (uint64_t)range->as.range.step->as.integer;
    return (int64_t)((uint64_t)range->as.range.start->as.integer + index * step);
}

bool range_has(const Object *range, int64_t number)
{
    const int64_t start = range->as.range.start->as.integer,
                  stop = range->as.range.stop->as.integer;
    const int64_t step = range->as.range.step->as.integer;
    if (step > 0 ? number < start || number >= stop : number > start || number <= stop)
        return false;
    const uint64_t way = step > 0 ? distance(start, number) : distance(number, start);
    return way % magnitude(step) == 0;
}

Object *range_new(Eval *eval, Object *const given[3], Span at)
{
    Object *range = object_new(eval, OBJECT_RANGE);
    bool one = given[1] == NULL || (given[1]->kind == OBJECT_NONE && given[2] == NULL);
    range->as.range.start = one ? object_int(eval, 0) : given[0];
    range->as.range.stop = one ? given[0] : given[1];
    range->as.range.step =
        given[2] != NULL && given[2]->kind != OBJECT_NONE ? given[2] : object_int(eval, 1);
    const Object *parts[3] = {range->as.range.start, range->as.range.stop, range->as.range.step};
    for (int i = 0; i < 3; i++) {
        const bool whole =
            parts[i]->kind == OBJECT_INT || parts[i]->kind == OBJECT_BOOL ||
            (object_is_staged(parts[i]) && eval->ops->staged_is_integer(eval, parts[i]));
        if (!whole)
            return FAIL(eval, expected_kind, at, "a bound of range()", "an integer",
                        object_repr(eval, parts[i]));
    }
    return range;
}

Object *builtin_range(Eval *eval, const Bound *bound)
{
    Object *range = range_new(eval, bound->values, bound->at);
    Object *unroll = bound->values[3];
    if (range != NULL && unroll != NULL && unroll->kind != OBJECT_NONE)
        range->as.range.unroll = unroll;
    return range;
}
