/* thread_offset.h: which numbers are the same in all threads although they follow from the thread's
 * index. Private to this folder. */
#ifndef TILEC_PASSES_ANALYSIS_THREAD_OFFSET_H
#define TILEC_PASSES_ANALYSIS_THREAD_OFFSET_H

#include "ir/group.h"
#include "passes/analysis/ranges.h"

typedef bool ValueIsCommon(void *context, const Value *value);
bool offset_may_vanish(const Op *op); /* by what kind of op it is */
/* Whether the result of such an op is the same in those threads of the block, where `ask` says of
 * what values it follows from whether they are. */
bool offset_is_common(FactTable *facts, const Op *op, ThreadGroup threads, ValueIsCommon *ask,
                      void *context);
/* Whether those threads make as many iterations of a `for`, each from its own index on. */
bool iterations_are_equal(FactTable *facts, const Op *loop, ThreadGroup threads, ValueIsCommon *ask,
                          void *context);

#endif
