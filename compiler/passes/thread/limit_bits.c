/* limit_bits.c: many comparisons of x, x + 8, x + 16, ... with one limit.
 *
 * A thread that has elements of a row in several places compares the coordinate of each with the
 * row's limit. How many of them are below it is one number, and a word of so many ones says so of
 * each: a comparison is a bit of the word. Bits of several limits are combined a word at a time, as
 * FlashAttention-4 does, where comparisons would be combined for each element.
 *
 *     x + c >= limit, of c in {0, 1, 8, 9, 16, ...}
 *     y = limit - x, word = ones << y / 8 * 2 + min(y % 8, 2), (word & 1 << (number of c)) != 0
 *
 * Coordinates come in runs, a power of two apart, as layouts have them. */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

#include <stdlib.h>
#include <string.h>

typedef struct Element {
    Op *compare;
    int64_t at; /* x + at is compared */
} Element;

/* Comparisons in a region, by one predicate. */
typedef struct Group {
    Value *x, *limit;
    bool below; /* x + at < limit; or it is not */
    VEC(Element) elements;
} Group;

typedef struct LimitBits {
    Kernel *kernel;
    FactTable *facts;
    Map by_limit; /* of the region: a limit -> number of its first group, and one more */
    VEC(Group) groups;
} LimitBits;

/* ---- who is compared with what ---- */

/* Numbers are chosen by it, by itself or with others; what branches by it has it in a predicate. */
static bool is_for_choices(const Value *mask, int depth)
{
    enum { DEPTH = 4 };
    for (const OpUse *use = mask->uses; use; use = use->next) {
        const bool joins = use->op->code == OP_or || use->op->code == OP_and;
        if (use->op->code != OP_select &&
            !(joins && depth < DEPTH && is_for_choices(use->op->results, depth + 1)))
            return false;
    }
    return true;
}

static bool find_element(const Op *op, Group *group, Element *element)
{
    if (op->code != OP_cmp || !is_for_choices(op->results, 0) ||
        !type_is_scalar(operand(op, a)->type) || operand(op, a)->type->dtype != DTYPE_i32)
        return false;
    const char *predicate = op_attr(op, ATTR_predicate)->text;
    group->below = strcmp(predicate, "lt") == 0;
    if (!group->below && strcmp(predicate, "ge") != 0) return false;
    const Op *sum = operand(op, a)->op;
    group->limit = operand(op, b);
    group->x = operand(op, a);
    element->compare = (Op *)(uintptr_t)op;
    element->at = 0;
    if (sum && sum->code == OP_add && value_constant(operand(sum, b), &element->at))
        group->x = operand(sum, a);
    else if (sum && sum->code == OP_add && value_constant(operand(sum, a), &element->at))
        group->x = operand(sum, b);
    return true;
}

static Group *group_for(LimitBits *bits, const Group *wanted)
{
    const size_t first = (size_t)(intptr_t)map_get(&bits->by_limit, wanted->limit);
    for (size_t i = first; i > 0 && i <= bits->groups.count; i++) {
        Group *group = &bits->groups.data[i - 1];
        if (group->limit == wanted->limit && group->x == wanted->x && group->below == wanted->below)
            return group;
    }
    vec_push(bits->kernel->arena, &bits->groups, *wanted);
    if (!first)
        map_set(bits->kernel->arena, &bits->by_limit, wanted->limit,
                (void *)(intptr_t)bits->groups.count);
    return &vec_last(&bits->groups);
}

static int compare_places(const void *a, const void *b)
{
    const int64_t x = ((const Element *)a)->at, y = ((const Element *)b)->at;
    return (x > y) - (x < y);
}

/* ---- how their coordinates lie ---- */

typedef struct Runs {
    int64_t first, length, stride;
} Runs;

static bool find_runs(const Group *group, Runs *out)
{
    const Element *elements = group->elements.data;
    const int64_t count = (int64_t)group->elements.count, first = elements[0].at;
    int64_t length = 1;
    while (length < count && elements[length].at == first + length) length++;
    const int64_t stride = length < count ? elements[length].at - first : length;
    *out = (Runs){first, length, stride};
    const bool is_power = stride > 0 && (stride & (stride - 1)) == 0; /* of two */
    if (length < count && (!is_power || count % length)) return false;
    for (int64_t i = 0; i < count; i++)
        if (elements[i].at != first + i / length * stride + i % length) return false;
    return true;
}

/* No sum wraps, nor does the difference of the limit and one. */
static bool are_exact(const LimitBits *bits, const Group *group)
{
    const Facts x = facts_of(bits->facts, group->x), limit = facts_of(bits->facts, group->limit);
    const int64_t low = x.low + group->elements.data[0].at,
                  high = x.high + vec_last(&group->elements).at;
    return x.low >= -INT16_MAX && x.high <= INT16_MAX && low >= -INT16_MAX && high <= INT16_MAX &&
           limit.low >= -INT16_MAX && limit.high <= INT16_MAX;
}

/* ---- words ---- */

static Value *number_of(Builder *builder, int64_t number)
{
    return build_const(builder, DTYPE_i32, number);
}

static Value *clamp(Builder *builder, Value *value, int64_t most)
{
    value = build2(builder, OP_max, value, number_of(builder, 0));
    return build2(builder, OP_min, value, number_of(builder, most));
}

/* How many of the elements are below the limit. */
static Value *count_below(Builder *builder, const Group *group, Runs runs)
{
    const int64_t count = (int64_t)group->elements.count;
    Value *way = build2(builder, OP_sub, group->limit, group->x);
    if (runs.first) way = build2(builder, OP_sub, way, number_of(builder, runs.first));
    if (runs.length == count) return clamp(builder, way, count);
    way = clamp(builder, way, count / runs.length * runs.stride);
    int shift = 0;
    while ((int64_t)1 << shift < runs.stride) shift++;
    Value *whole = build2(builder, OP_shr, way, number_of(builder, shift));
    if (runs.length > 1) whole = build2(builder, OP_mul, whole, number_of(builder, runs.length));
    Value *rest = build2(builder, OP_and, way, number_of(builder, runs.stride - 1));
    rest = build2(builder, OP_min, rest, number_of(builder, runs.length));
    return build2(builder, OP_add, whole, rest);
}

/* Bits of elements that are not below the limit, or of those that are. */
static Value *build_word(Builder *builder, const Group *group, Value *below, int64_t begin)
{
    if ((int64_t)group->elements.count > REGISTER_BITS) {
        below = build2(builder, OP_sub, below, number_of(builder, begin));
        below = clamp(builder, below, REGISTER_BITS);
    }
    Value *word = build2(builder, OP_shl, number_of(builder, -1), below);
    return group->below ? build1(builder, OP_not, word) : word;
}

static void replace_element(const Element *element, Value *word, int bit)
{
    Builder builder = builder_before(element->compare);
    Value *one = number_of(&builder, (int32_t)(1u << bit));
    Value *rest = build2(&builder, OP_and, word, one);
    value_replace(&element->compare->results[0],
                  build_cmp(&builder, "ne", rest, number_of(&builder, 0)));
    op_erase(element->compare);
}

static void consider(LimitBits *bits, Group *group)
{
    Runs runs;
    if (group->elements.count < COST_LIMIT_BITS) return;
    Builder builder = builder_before(group->elements.data[0].compare);
    qsort(group->elements.data, group->elements.count, sizeof(Element), compare_places);
    if (!are_exact(bits, group) || !find_runs(group, &runs)) return;
    Value *below = count_below(&builder, group, runs);
    VEC(Value *) words = {0};
    for (size_t i = 0; i < group->elements.count; i += REGISTER_BITS)
        vec_push(bits->kernel->arena, &words, build_word(&builder, group, below, (int64_t)i));
    for (size_t i = 0; i < group->elements.count; i++)
        replace_element(&group->elements.data[i], words.data[i / REGISTER_BITS],
                        (int)(i % REGISTER_BITS));
}

static void look(LimitBits *bits, Region *region)
{
    bits->by_limit = (Map){0};
    bits->groups.count = 0;
    for (Op *op = region->first; op; op = op_next(op)) {
        Group group = {0};
        Element element;
        if (!find_element(op, &group, &element)) continue;
        vec_push(bits->kernel->arena, &group_for(bits, &group)->elements, element);
    }
    for (size_t i = 0; i < bits->groups.count; i++) consider(bits, &bits->groups.data[i]);
    for (Op *op = region->first; op; op = op_next(op))
        for (int i = 0; i < op->region_count; i++) look(bits, op->regions[i]);
}

bool pass_limit_bits(Kernel *kernel, PassContext *context)
{
    LimitBits bits = {.kernel = kernel, .facts = analysis_ranges(context)};
    kernel_each_launch (op, kernel) look(&bits, op->regions[0]);
    return true;
}
