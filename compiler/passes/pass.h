/* pass.h: what every pass is given, and the passes of passes.def. */
#ifndef TILEC_PASSES_PASS_H
#define TILEC_PASSES_PASS_H

#include "ir/group.h"
#include "ir/ir.h"
#include "target/cost.h"

typedef struct PassContext {
    const Target *target;
    int warps; /* of the launch that holds the op at hand: passes set it themselves by launch_warps
                */
} PassContext;

/* The passes: each is true if it went well. simplify_again and simplify_threads are simplify. */
#define PASS(name, needs, gives, why) bool pass_##name(Kernel *kernel, const Target *target);
#include "passes/passes.def"
#undef PASS

#endif
