/* dependence.h: which values follow from some ops: by their operands, by what loops and branches
 * carry, by the way that is taken to where they are set. A coarse answer, by the text alone:
 * uniformity.h has the one that asks what becomes of a difference. */
#ifndef TILEC_PASSES_ANALYSIS_DEPENDENCE_H
#define TILEC_PASSES_ANALYSIS_DEPENDENCE_H

#include "ir/ir.h"

typedef struct Dependence {
    Arena *arena;
    Map *
        values; /* that follow, variables and arrays among them: those there are, and those found */
    bool (*begins)(const Op *op);          /* its results do, whatever it is given */
    bool (*is_followed)(const Type *type); /* others are never among them */
    bool grows;                            /* the search's own */
} Dependence;

/* Adds all that the region has to the values. */
void dependence_find(Dependence *dependence, Region *region);
/* One of its operands does, or the way to it does. */
bool dependence_has(const Dependence *dependence, const Op *op);

#endif
