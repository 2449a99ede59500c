/* fault_injection.h: kernels that can be run without some of their ops. */
#ifndef TILEC_PASSES_THREAD_MUTANT_H
#define TILEC_PASSES_THREAD_MUTANT_H

#include "base/vec.h"
#include "ir/ir.h"

/* One op that a kernel can be run without. */
typedef struct Mutant {
    Name kernel;
    const char *code; /* tells kernels of one name apart */
    Span span;
    const char *what; /* "barrier" */
    bool is_predicate;
    bool is_fixed; /* a predicate that no argument bears on: each launch has all its values */
} Mutant;
typedef VEC(Mutant) MutantVec;
/* In a THREADED kernel, each op that others are ordered by, and each predicate, goes by a
 * fault_injected of its number in `out`, from 1 on. `code` is the kernel's text. */
void mutants_make(Kernel *kernel, const char *code, Arena *arena, MutantVec *out);

#endif
