/* loop.h: what is asked of a `for`; private to this folder. */
#ifndef TILEC_PASSES_ANALYSIS_LOOP_H
#define TILEC_PASSES_ANALYSIS_LOOP_H

#include "passes/analysis/ranges.h"

/* How often it runs; 0 if that is not known, or never. */
int64_t loop_trips(const Op *loop);
bool loop_is_short(const Op *loop);                       /* known to run a few times */
bool loop_runs(const Op *loop);                           /* once at least, by ranges */
Value *loop_is_entered(Builder *builder, const Op *loop); /* the same, when the kernel runs */
/* How often at most, as if nothing wrapped: for who may be wrong; 0: nothing is known. */
int64_t loop_most_trips(FactTable *facts, const Op *loop);
/* What does not hold in blocks where it has no iterations, as they store nothing (empty_blocks.c);
 * NULL: there are no such. */
Value *loop_condition(const Op *loop);
/* Products that its body does itself. */
int loop_products(const Op *loop);
/* No index is larger, of a loop whose bounds are numbers, none of which is negative, or that ends
 * at the index of such a loop around it, as through triangles; -1: of another, or of one that never
 * runs. */
int64_t loop_last(const Op *loop);
/* True if `value` follows from the loop's variable and from outside by pure ops of the body alone,
 * so that it can be computed iterations ahead. */
bool loop_foresees(const Op *loop, const Value *value);
ValueAnswer loop_is_unforeseen(const Op *loop, const Value *value); /* of that one alone */
bool loop_foresees_operands(const Op *loop, const Op *op);          /* all of them */
/* By how much a scalar grows as the loop's variable grows by 1; false if not always by the same. */
bool loop_slope(const Op *loop, const Value *value, int64_t *slope);

/* The index so many iterations further, which may wrap; whether counting from there so far, or
 * back, does not. */
Value *loop_ahead(Builder *builder, Value *index, Value *step, int iterations);
bool loop_counts_to(const Op *loop, const Value *index, int iterations);
/* Whether there is an iteration so many behind the one with this index, of index `later`. */
Value *loop_has_iteration(const Op *loop, Builder *builder, Value *index, int iterations,
                          Value *later);

#endif
