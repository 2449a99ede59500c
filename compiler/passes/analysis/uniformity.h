/* uniformity.h: on what the threads of a group agree, and where they may go different ways. Private
 * to this folder. The kernel is in SSA. */
#ifndef TILEC_PASSES_ANALYSIS_UNIFORMITY_H
#define TILEC_PASSES_ANALYSIS_UNIFORMITY_H

#include "base/vec.h"
#include "passes/pass.h"
#include "ir/rebuild.h"

typedef struct Agreement Agreement;
Agreement *agreement_new(PassContext *context);
void agreement_free(Agreement *agreement); /* may be NULL */
/* An op's attributes are others now: what was found out is asked anew. */
void agreement_forget(Agreement *agreement);
/* The op by which the value differs between the threads; NULL: it is the same in all of them. */
const Op *threads_differ(Agreement *agreement, const Value *value, ThreadGroup threads);
/* Of the difference found last: the values with names that follow from it, nearer and nearer to
 * what was asked about. */
typedef VEC(const Value *) NamedValues;
const NamedValues *difference_names(const Agreement *agreement);
/* The op by which the threads that run `op`, an `if` or a loop, may take different ways through
 * it; NULL: they stay together. */
const Op *threads_part(Agreement *agreement, const Op *op);
/* The same of the threads of a warp, of any. */
const Op *warps_part(Agreement *agreement, const Op *op);

#endif
