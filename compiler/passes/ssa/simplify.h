/* simplify.h: what other passes ask of simplify.c. */
#ifndef TILEC_PASSES_SSA_SIMPLIFY_H
#define TILEC_PASSES_SSA_SIMPLIFY_H

#include "ir/ir.h"

/* Erases the ops whose results nobody uses and that do nothing else. */
void kernel_drop_dead(Kernel *kernel);

#endif
