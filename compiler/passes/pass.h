/* pass.h: what every pass is given, and the passes of passes.def. */
#ifndef TILEC_PASSES_PASS_H
#define TILEC_PASSES_PASS_H

#include "ir/group.h"
#include "ir/ir.h"
#include "target/cost.h"

/* What passes over one kernel share: the target, and what analyses have found. Passes ask for
 * analyses by analysis/context.h, and for nothing else here. */
typedef struct PassContext {
    Kernel *kernel;
    const Target *target;
    Arena *arena;                 /* for what a pass notes: gone when it is done */
    struct FactTable *ranges;     /* NULL: nobody has asked since they were invalidated */
    struct Agreement *uniformity; /* likewise */
} PassContext;

/* The passes: each is true if it went well. simplify_again and simplify_threads are simplify,
 * promote_again is promote. */
#define PASS(name, needs, gives, breaks, preserves, why)                                           \
    bool pass_##name(Kernel *kernel, PassContext *context);
#include "passes/passes.def"
#undef PASS

#endif
