/* reference.h: a layer in double precision, on the CPU, for small ones. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "layer.h"

/* What the layer's result has to be, of the weights and the x of one rank that has all of them.
 * NULL: out of memory. */
uint16_t *reference_of(const Layer *layer);

#endif
