/* turns.h: a worklist in rounds. What a walk over numbered things, again and again until nothing
 * changes, would come to is visited in the order in which the walk would: by number, and in the
 * next round where its number has passed; private to this folder. */
#ifndef TILEC_PASSES_LAYOUT_TURNS_H
#define TILEC_PASSES_LAYOUT_TURNS_H

#include "base/vec.h"

typedef VEC(size_t) IndexVec;

typedef struct Turn {
    size_t round, index;
} Turn;

typedef struct Turns {
    VEC(Turn) waiting; /* a heap, the first turn at its root */
    Turn now;          /* the last one that was taken */
} Turns;

void turns_add(Arena *arena, Turns *turns, size_t index);
/* The first that waits; false: none does, and the rounds begin anew. One that was added several
 * times comes as often. */
bool turns_take(Turns *turns, size_t *index);

#endif
