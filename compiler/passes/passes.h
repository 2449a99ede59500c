/* passes.h: the front door of passes/: from a TYPED kernel to the program of one thread. */
#ifndef TILEC_PASSES_H
#define TILEC_PASSES_H

#include "base/vec.h"
#include "passes/pass.h"
#include "passes/thread/fault_injection.h"

typedef struct PassOptions {
    const char *print_after; /* a pass's name, "all", or NULL */
    const char *stop_after;  /* a pass's name, or NULL */
    bool verify_each;
    bool reasons; /* barriers say what they are for */
    bool strict;  /* what is defined here alone is reported, by the emulator */
    Buf *dump;    /* where --print-after writes */
} PassOptions;

/* Runs all passes from the kernel's stage on. False: reported. */
bool passes_run(Kernel *kernel, const Target *target, const PassOptions *options);
/* Runs the one named (tilec opt). False: reported, or no such pass. */
bool pass_run_named(Kernel *kernel, const Target *target, const char *name,
                    const PassOptions *options);
const char *pass_name_at(int index); /* NULL past the end */
/* A line: its name, what it needs, gives and breaks, and which analyses it preserves. */
void pass_describe(int index, Buf *out);
/* Of passes that run in this order over a kernel of the evaluator's, the first that lacks
 * something, and what; NULL: each has what it needs. */
const char *passes_misplaced(const char *const *names, int count, Buf *missing);

#endif
