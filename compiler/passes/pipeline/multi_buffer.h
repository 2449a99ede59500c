/* multi_buffer.h: what ring.c and warp_groups.c share; private to them. */
#ifndef TILEC_PASSES_PIPELINE_MULTI_BUFFER_H
#define TILEC_PASSES_PIPELINE_MULTI_BUFFER_H

#include "base/vec.h"
#include "passes/analysis/access.h"
#include "ir/op_vec.h"

/* A tile that is copied ahead. */
typedef struct Ring {
    Op *copy, *alloc;
    Value *slots;   /* the ring */
    bool is_shared; /* the tile is used outside of the loop, too */
    bool is_plain;  /* of those that the tensor unit copies: threads read along its rows */
    int half;    /* of two blocks that need the same, each copies half along this dimension; -1 */
    int channel; /* of a loop that is planned: its index */
} Ring;

/* Rings that the same products read, which have barriers of their own in a loop that is planned. */
typedef struct Channel {
    Value *barriers;
    int64_t bytes; /* of a slot of each */
    int stage;     /* of the products */
} Channel;

typedef struct Pass {
    Kernel *kernel;
    PassContext *context;
    const Target *target;
    Arena *arena;
    Region *launch;
} Pass;

typedef struct Pipeline {
    const Pass *pass;
    Op *loop;
    int stages;
    int ahead;            /* rounds that copies are ahead of their use */
    bool by_tensor;       /* producers of their own copy by the tensor unit */
    bool alone;           /* of a loop with a plan: no second block has room on a multiprocessor */
    bool lends;           /* producers are a warpgroup, whose registers the others get */
    bool persistent;      /* a block does the work of several */
    bool pairs;           /* two blocks copy some of the tiles together */
    Value *rank, *paired; /* of pairs: which block it is; whether the two need the same */
    Op *open; /* a dot that is left under way till the next round; NULL: there is none */
    VEC(Ring) rings;
    VEC(Channel) channels;
    VEC(Ring)
    once;            /* tiles that are copied before the loop, which producers do, too: rings of one
                      */
    Value *barriers; /* of those */
    OpVec uses;      /* of shared tiles in the launch, in order */
} Pipeline;

/* What the rounds carry: the slot that is read, the one that was read in the round before, and
 * two more. */
enum { SLOT_READ, SLOT_BEFORE, SLOT_FREE, SLOT_LAST, SLOTS, SLOT_PARITY = SLOT_FREE };

/* ---- multi_buffer.c ---- */

bool ring_is_inside(const Op *op, const Region *region);
Value *ring_number(Builder *builder, int value); /* an i32 */
/* The ring's tiles, made where the builder is. */
void ring_make_slots(const Pipeline *pipeline, Builder *builder, Ring *ring);
Value *ring_slot(const Pipeline *pipeline, Builder *builder, const Ring *ring, Value *slot);
/* Copies what `value` needs of the region to the builder's place; `map` says what is there already.
 */
Value *ring_copy_slice(Builder *builder, Value *value, const Region *region, Map *map);
/* The loop with i32 values that begin as `first` after its own; *arguments are its rounds'. */
void ring_carry(Pipeline *pipeline, Value *const first[SLOTS], Value *arguments[SLOTS]);
void ring_yield(const Pipeline *pipeline, Value *const carried[SLOTS]);
/* The slot after `slot`; *is_last if that is the first again. */
Value *ring_next(const Pipeline *pipeline, Builder *builder, Value *slot, Value **is_last);
/* Uses of the rings' tiles become uses of slots. */
void ring_move_uses(const Pipeline *pipeline, Value *const arguments[SLOTS]);
/* The loop's open dot is waited for a round later; the wait behind the loop. */
Op *ring_leave_open(const Pipeline *pipeline);

/* ---- persistent.c: a block that does the work of several ---- */

/* What a group of threads does for each block whose turn it is: ops before the region's end. */
typedef struct Turn {
    Region *region;
    Value *slot, *parity;        /* at its beginning */
    Value *index[3], *extent[3]; /* of the block and the grid; NULL: there is but one turn */
} Turn;

/* Whether it does not matter which block runs when: none waits for another. */
bool turns_may_differ(const Op *launch);
/* Makes `region` a loop over the blocks that fall to this one. */
Turn turns_begin(const Pass *pass, Region *region, int parity);
/* The one turn of a block that has no others. */
Turn turns_only(Region *region, int parity);
/* Values of the launch that a turn has its own for, into `map`. */
void turns_know(const Pass *pass, const Turn *turn, Map *map);
void turns_end(const Turn *turn, Value *slot, Value *parity);

/* ---- warp_specialize.c ---- */

/* The tensor unit can do all of a round's copies, to slots that are laid out so. */
bool are_by_tensor(const Pipeline *pipeline);
void ring_lay_out(const Pipeline *pipeline, Ring *ring);
/* Says of the loop's copies, which are by cp.async, why they are no TMA loads: `fault` is that of
 * a loop where all of them could be. */
void ring_remark_copies(const Pipeline *pipeline, const char *fault);
/* Why warps of their own may not fill the rings of the loop, whose only work is `dot`; NULL: they
 * may. */
const char *fault_of_split(Pipeline *pipeline, const Op *dot);
/* Lets them do it. */
void split(Pipeline *pipeline);
/* Whether producers can copy the tile, which lies as the tensor core reads it, before the loop. */
bool can_copy_once(const Pipeline *pipeline, const Ring *ring);
/* The same for a loop with a plan: NULL, or why they may not. */
const char *fault_of_split_by_plan(Pipeline *pipeline);
/* Whether the producers have registers to give away, where a thread needs so many; how many the
 * others have then. */
void lend_registers(Pipeline *pipeline, int64_t needed);
int64_t registers_left(const Pipeline *pipeline);
struct Plan;
void split_by_plan(Pipeline *pipeline, struct Plan *plan);
/* The barriers of the rings' slots, made where the builder is. */
Value *ring_make_barriers(const Pipeline *pipeline, Builder *builder);
/* The parity of a slot's next lap, which changes after the last slot. */
Value *ring_next_parity(Builder *builder, Value *parity, Value *is_last);
/* A round's copies to its slot by the tensor unit: `filled` are the barriers and the slot, `map`
 * has the values of `region` that are there already. */
void ring_copy_by_tensor(const Pipeline *pipeline, Builder *builder, Value *const filled[2],
                         const Region *region, Map *map);

/* ---- multicast.c: two blocks that copy what both need once ---- */

/* Which tiles two neighbouring blocks would do well to copy together. */
void pairs_find(Pipeline *pipeline, const Op *dot);
/* What is known of the pair, made where the builder is: at the launch's beginning. */
void pairs_begin(Pipeline *pipeline, Builder *builder);
/* A round's copy of the ring's tile: the own half, to both blocks, or all of it. */
void pairs_copy(const Pipeline *pipeline, Builder *builder, const Ring *ring,
                Value *const filled[2], const Region *region, Map *map);
/* The blocks of a pair meet when each has made its barriers: all threads of both. */
void pairs_meet(Builder *builder);
/* The block that a slot is given back to, too. */
Value *pairs_other(const Pipeline *pipeline, Builder *builder);

/* ---- tma_multi_buffer.c ---- */

/* Why no thread that computes may have the tensor unit fill the rings, or NULL, and that. */
const char *fault_of_fill(const Pipeline *pipeline);
void fill(Pipeline *pipeline);

#endif
