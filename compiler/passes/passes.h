/* passes.h: the front door of passes/: from a TYPED kernel to the program of one thread. */
#ifndef TILEC_PASSES_H
#define TILEC_PASSES_H

#include "base/vec.h"
#include "ir/group.h"
#include "ir/ir.h"
#include "target/target.h"

typedef struct PassOptions {
    const char *print_after; /* a pass's name, "all", or NULL */
    const char *stop_after;  /* a pass's name, or NULL */
    bool verify_each;
    bool reasons; /* barriers say what they are for */
    Buf *dump; /* where --print-after writes */
} PassOptions;

/* Runs all passes from the kernel's stage on. False: reported. */
bool passes_run(Kernel *kernel, const Target *target, const PassOptions *options);
/* Runs the one named (tilec opt). False: reported, or no such pass. */
bool pass_run_named(Kernel *kernel, const Target *target, const char *name);
const char *pass_name_at(int index); /* NULL past the end */

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
/* mutant.c: in a THREADED kernel, each op that others are ordered by, and each predicate, goes by a
 * left_out of its number in `out`, from 1 on. `code` is the kernel's text. */
void mutants_make(Kernel *kernel, const char *code, Arena *arena, MutantVec *out);

typedef struct PassContext {
    const Target *target;
    int warps; /* of the launch that holds the op at hand: passes set it themselves by launch_warps
                */
} PassContext;

/* The passes: each is true if it went well. simplify_again and simplify_threads are simplify. */
#define PASS(name, needs, gives, why) bool pass_##name(Kernel *kernel, const Target *target);
#include "passes/passes.def"
#undef PASS

/* simplify.c: erases the ops whose results nobody uses and that do nothing else. */
void kernel_drop_dead(Kernel *kernel);

/* ---- facts.c: what is known of integers ---- */

typedef struct Facts {
    int64_t multiple;  /* the value is a multiple of this, at least 1; 0: the value is 0. Addresses:
                          in bytes, those of packed elements in elements */
    int64_t low, high; /* and lies in [low, high]; INT64_MIN, INT64_MAX where nothing is known */
} Facts;

typedef struct FactTable FactTable; /* remembers answers; made anew after a change of the IR */
FactTable *facts_new(Kernel *kernel);
void facts_free(FactTable *table);
/* Of a scalar integer or pointer: parameters' multiples, constants, arithmetic, loop variables,
 * block indices (below a constant grid), `assume`. */
Facts facts_of(FactTable *table, const Value *value);
int64_t divisor_common(int64_t a, int64_t b); /* the greatest one */
/* Whether some value + gap <= limit was assumed; the largest such gap. */
bool facts_gap(FactTable *table, const Value *value, const Value *limit, int64_t *gap);
Value *value_uncast(const Value *value); /* without casts of integers that lose no bits */
/* Without those that leave the number what it is: one below 0 keeps its sign. */
const Value *facts_uncast(FactTable *table, const Value *value);
/* So many elements in the unit of an address's multiple. */
int64_t facts_address_unit(DType dtype, int64_t count);

#endif
