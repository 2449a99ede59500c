/* simplify.h: what other passes ask of simplify.c, and its parts. */
#ifndef TILEC_PASSES_SSA_SIMPLIFY_H
#define TILEC_PASSES_SSA_SIMPLIFY_H

#include "ir/ir.h"

/* Erases the ops whose results nobody uses and that do nothing else. */
void kernel_drop_dead(Kernel *kernel);

/* Lets the loop begin with what its first iteration takes in place of a carried value; true if
 * there was such (choices.c). */
bool simplify_first_choices(Op *loop);

/* What a choice may as well be, as it is used where its condition holds alone; NULL: it stays
 * (choices.c). */
Value *simplify_nested_choice(const Op *choice);

#endif
