/* retile.h: see retile.c; private to this folder. */
#ifndef TILEC_PASSES_GRAD_RETILE_H
#define TILEC_PASSES_GRAD_RETILE_H

#include "passes/grad/grad.h"

/* Of a launch that the gradient of a product has for itself. */
void retile(Grad *grad, Op *launch);

#endif
