/* ranges.h: facts about integers: a divisor and a range. */
#ifndef TILEC_PASSES_ANALYSIS_RANGES_H
#define TILEC_PASSES_ANALYSIS_RANGES_H

#include "ir/ir.h"

typedef struct Facts {
    int64_t multiple;  /* the value is a multiple of this, at least 1; 0: the value is 0. Addresses:
                          in bytes, those of packed elements in elements */
    int64_t low, high; /* and lies in [low, high]; INT64_MIN, INT64_MAX where nothing is known */
} Facts;

typedef struct FactTable FactTable; /* remembers answers; made anew after a change of the IR */
FactTable *facts_new(Kernel *kernel);
void facts_free(FactTable *table); /* may be NULL */
/* A value of the kernel of which `old` remembers what `fresh` does not find; NULL: there is none.
 */
const Value *facts_compare(FactTable *old, FactTable *fresh);
/* Of a scalar integer or pointer: parameters' multiples, constants, arithmetic, loop variables,
 * block indices (below a constant grid), `assume`. */
Facts facts_of(FactTable *table, const Value *value);
/* Neither end is one of an i32, as which the range ends where a number may be any, or wraps. */
bool facts_are_bounded(Facts facts);
/* What a comparison asks: whether one is less than the other, or, if `equal`, not greater. False:
 * it is of another kind. */
typedef struct Order {
    Value *less, *more;
    bool equal;
} Order;
bool order_of(const Op *compare, Order *out);
int64_t divisor_common(int64_t a, int64_t b); /* the greatest one */
/* Whether some value + gap <= limit was assumed; the largest such gap. */
bool facts_gap(FactTable *table, const Value *value, const Value *limit, int64_t *gap);
/* Of two integers, where no sum or product that they are made of loses bits: a - b lies in
 * [*low, *high]. */
bool facts_difference(FactTable *table, const Value *a, const Value *b, int64_t *low,
                      int64_t *high);
/* As if nothing in them wrapped: for who may be wrong. */
bool facts_likely_difference(FactTable *table, const Value *a, const Value *b, int64_t *low,
                             int64_t *high);
/* Whether `value` is not negative, as if nothing wrapped, where less + gap <= more. */
bool facts_likely_follows(FactTable *table, const Value *value, const Value *less,
                          const Value *more, int64_t gap);
/* Without casts of integers that leave the number what it is: one below 0 keeps its sign. */
const Value *facts_uncast(FactTable *table, const Value *value);
/* So many elements in the unit of an address's multiple. */
int64_t facts_address_unit(DType dtype, int64_t count);

#endif
