/* worklist.h: a worklist in rounds. What a walk over numbered things, again and again until nothing
 * changes, would come to is visited in the order in which the walk would: by number, and in the
 * next round where its number has passed; private to this folder. */
#ifndef TILEC_PASSES_LAYOUT_WORKLIST_H
#define TILEC_PASSES_LAYOUT_WORKLIST_H

#include "base/vec.h"

typedef VEC(size_t) IndexVec;

typedef struct WorklistItem {
    size_t round, index;
} WorklistItem;

typedef struct Worklist {
    VEC(WorklistItem) waiting; /* a heap, the first item at its root */
    WorklistItem now;          /* the last one that was taken */
} Worklist;

void worklist_add(Arena *arena, Worklist *worklist, size_t index);
/* The first that waits; false: none does, and the rounds begin anew. One that was added several
 * times comes as often. */
bool worklist_take(Worklist *worklist, size_t *index);

#endif
