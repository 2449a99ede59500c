/* properties.h: the properties of kernels that passes.def speaks of (properties.def). Private to
 * this folder. */
#ifndef TILEC_PASSES_PROPERTIES_H
#define TILEC_PASSES_PROPERTIES_H

#include "ir/ir.h"

/* Sets of properties: a bit each, the stages' first. */
enum { STAGE_COUNT = STAGE_THREADED + 1 };
typedef enum Property {
    PROPERTY_STAGES = STAGE_COUNT - 1, /* the ones below are the stages */
#define PROPERTY(name, from, breaks, text) PROPERTY_##name,
#include "passes/properties.def"
#undef PROPERTY
    PROPERTY_COUNT
} Property;

const char *property_name(int property);
/* The set that such a list of names is; ICE: there is no such name. */
unsigned properties_named(const char *names);
void properties_print(unsigned set, Buf *out); /* names with spaces between */
/* Those of a kernel; of one that no pass has run over yet what can be seen, and what is true of
 * each that was made as this one was. */
unsigned properties_of(Kernel *kernel);
void properties_set(Kernel *kernel, unsigned set); /* but for the stages */
/* The first op by which the property is not true; NULL: it is, or ops don't tell. */
const Op *property_breaker(Kernel *kernel, int property);

#endif
