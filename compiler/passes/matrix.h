/* matrix.h: what is chosen for a dot, as its attributes say it; private to this folder. */
#ifndef TILEC_PASSES_MATRIX_H
#define TILEC_PASSES_MATRIX_H

#include "passes/passes.h"

/* The shape of the dot's matrix instruction; false if it is computed by fma. */
bool dot_mma_shape(const Op *dot, MmaShape *out);

#endif
