/* ring.h: what ring.c and warp_groups.c share; private to them. */
#ifndef TILEC_PASSES_RING_H
#define TILEC_PASSES_RING_H

#include "base/vec.h"
#include "passes/access.h"

/* A tile that is copied ahead. */
typedef struct Ring {
    Op *copy, *alloc;
    Value *slots;   /* the ring */
    bool is_shared; /* the tile is used outside of the loop, too */
} Ring;

typedef VEC(Op *) Ops;

typedef struct Pass {
    Kernel *kernel;
    const Target *target;
    Arena *arena;
    Region *launch;
} Pass;

typedef struct Pipeline {
    const Pass *pass;
    Op *loop;
    int stages;
    int ahead; /* rounds that copies are ahead of their use */
    Op *open;  /* a dot that is left under way till the next round; NULL: there is none */
    VEC(Ring) rings;
    Ops uses; /* of shared tiles in the launch, in order */
} Pipeline;

/* What the rounds carry: the slot that is read, the one that was read in the round before, and
 * two more. */
enum { SLOT_READ, SLOT_BEFORE, SLOT_FREE, SLOT_LAST, SLOTS, SLOT_PARITY = SLOT_FREE };

/* ---- ring.c ---- */

bool ring_is_inside(const Op *op, const Region *region);
/* The ring's tiles, made where the builder is. */
void ring_make_slots(const Pipeline *pipeline, Builder *builder, Ring *ring);
Value *ring_slot(const Pipeline *pipeline, Builder *builder, const Ring *ring, Value *slot);
/* Copies what `value` needs of the region to the builder's place; `map` says what is there already.
 */
Value *ring_copy_slice(Builder *builder, Value *value, const Region *region, Map *map);
/* The loop with i32 values that begin as `first` after its own; *arguments are its rounds'. */
void ring_carry(Pipeline *pipeline, const int first[SLOTS], Value *arguments[SLOTS]);
void ring_yield(const Pipeline *pipeline, Value *const carried[SLOTS]);
/* The slot after `slot`; *is_last if that is the first again. */
Value *ring_next(const Pipeline *pipeline, Builder *builder, Value *slot, Value **is_last);
/* Uses of the rings' tiles become uses of slots. */
void ring_move_uses(const Pipeline *pipeline, Value *const arguments[SLOTS]);
/* The loop's open dot is waited for a round later. */
void ring_leave_open(const Pipeline *pipeline);

/* ---- warp_groups.c ---- */

/* Whether warps of their own may fill the rings of the loop, whose only work is `dot`. */
bool can_split(const Pipeline *pipeline);
/* Lets them do it. */
void split(Pipeline *pipeline);

#endif
