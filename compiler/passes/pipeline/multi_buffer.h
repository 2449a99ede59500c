/* multi_buffer.h: what multi-buffer.c and warp_groups.c share; private to them. */
#ifndef TILEC_PASSES_PIPELINE_MULTI_BUFFER_H
#define TILEC_PASSES_PIPELINE_MULTI_BUFFER_H

#include "base/vec.h"
#include "passes/analysis/access.h"
#include "ir/op_vec.h"

/* A tile that is copied ahead. */
typedef struct MultiBuffer {
    Op *copy, *alloc;
    Value *stages;  /* the multi-buffer */
    bool is_shared; /* the tile is used outside of the loop, too */
    bool is_plain;  /* of those that TMA copies: threads read along its rows */
    int half;    /* of two blocks that need the same, each copies half along this dimension; -1 */
    int channel; /* of a loop that is planned: its index */
} MultiBuffer;

/* Multi-buffers that the same products read, which have barriers of their own in a loop that is
 * planned. */
typedef struct Channel {
    Value *barriers;
    int64_t bytes;  /* of a stage of each */
    int stage;      /* of what reads it first */
    int last_stage; /* and last */
} Channel;

typedef struct Pass {
    Kernel *kernel;
    PassContext *context;
    const Target *target;
    Arena *arena;
    Region *launch;
    Map written; /* of the launch: parameters whose memory it writes */
    bool writes_any;
} Pass;

/* In which a block takes tiles of different length. */
typedef struct PersistentRaster {
    int dim;   /* the index of the grid along which they get shorter */
    int group; /* of other indices, at most so many are taken together; 0: tiles are of one length
                */
} PersistentRaster;

/* remark_stores.c: stores of a launch, each with why it cannot be a TMA store; NULL: by itself it
 * can. */
typedef struct StoreFault {
    const Op *op;
    const char *why;
} StoreFault;
typedef struct StoreFaults {
    const Pass *pass;
    VEC(StoreFault) faults;
} StoreFaults;
/* Before anything is pipelined; and when all is: says it to who asks. */
StoreFaults multi_buffer_note_stores(const Pass *pass);
void multi_buffer_remark_stores(const StoreFaults *stores);

typedef struct Pipeline {
    const Pass *pass;
    Op *loop;
    int stages;
    int ahead;         /* iterations that copies are ahead of their use */
    bool by_tensor;    /* producers of their own copy by TMA */
    int blocks;        /* that share a multiprocessor, by consumers' registers and shared memory */
    bool sets_maxnreg; /* producers are a warpgroup, whose registers the others get */
    bool persistent;   /* a block does the work of several */
    PersistentRaster raster;
    bool nested;          /* within loops and branches of the author's */
    bool pairs;           /* two blocks copy some of the tiles together */
    Value *rank, *paired; /* of pairs: which block it is; whether the two need the same */
    Op *open; /* a dot that is left in flight till the next iteration; NULL: there is none */
    VEC(MultiBuffer) buffers;
    Map by_threads; /* copies of a loop that is planned which threads make through registers */
    VEC(Channel) channels;
    VEC(MultiBuffer)
    once; /* tiles that are copied before the loop, which producers do, too: multi-buffers of one
           */
    Value *barriers; /* of those */
    OpVec uses;      /* of shared tiles in the launch, in order */
} Pipeline;

/* What the iterations carry: the stage that is read, the one that was read in the iteration before,
 * and two more. */
enum { STAGE_READ, STAGE_BEFORE, STAGE_FREE, STAGE_LAST, STAGE_VALUES, STAGE_PARITY = STAGE_FREE };

/* ---- multi_buffer.c ---- */

/* Of the tile; NULL: the loop does not copy it ahead. */
const MultiBuffer *multi_buffer_of(const Pipeline *pipeline, const Op *alloc);
/* Whether the copy is one of those that are ahead. */
bool multi_buffer_has(const Pipeline *pipeline, const Op *copy);
bool multi_buffer_is_inside(const Op *op, const Region *region);
Value *multi_buffer_number(Builder *builder, int value); /* an i32 */
/* The multi-buffer's tiles, made where the builder is. */
void multi_buffer_make_stages(const Pipeline *pipeline, Builder *builder, MultiBuffer *buffer);
Value *multi_buffer_stage(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                          Value *stage);
/* Copies what `value` needs of the region to the builder's place; `map` says what is there already.
 */
Value *multi_buffer_copy_slice(Builder *builder, Value *value, const Region *region, Map *map);
/* The loop with i32 values that begin as `first` after its own; *arguments are its iterations'. */
void multi_buffer_carry(Pipeline *pipeline, Value *const first[STAGE_VALUES],
                        Value *arguments[STAGE_VALUES]);
void multi_buffer_yield(const Pipeline *pipeline, Value *const carried[STAGE_VALUES]);
/* The stage after `stage`; *is_last if that is the first again. */
Value *multi_buffer_next(const Pipeline *pipeline, Builder *builder, Value *stage, Value **is_last);
/* Uses of the multi-buffers' tiles become uses of stages. */
void multi_buffer_move_uses(const Pipeline *pipeline, Value *const arguments[STAGE_VALUES]);
/* The loop's open dot is waited for an iteration later; the wait behind the loop. */
Op *multi_buffer_leave_in_flight(const Pipeline *pipeline);

/* ---- persistent.c: a block that does the work of several ---- */

/* What a group of threads does for each block whose tile it is: ops before the region's end. */
typedef struct PersistentTile {
    Region *region;
    Value *stage, *parity;       /* at its beginning */
    Value *index[3], *extent[3]; /* of the block and the grid; NULL: there is but one tile */
    Op *yield;                   /* of what the next one begins with; NULL: there is none */
    int yield_at;                /* its operand */
} PersistentTile;

/* Whether it does not matter which block runs when: none waits for another. */
bool persistent_may_differ(const Op *launch);
/* Makes `region` a loop over the blocks that fall to this one. */
PersistentTile persistent_begin(const Pass *pass, Region *region, const PersistentRaster *raster,
                                int parity);
/* Of the loop over tiles, which is at `place`: 0 and 1 in turn. */
Value *persistent_turn(Builder *builder, const Op *tiles, Value *place);
/* The one tile of a block that has no others. */
PersistentTile persistent_only(Region *region, int parity);
/* Values of the launch that a persistent tile has its own for, into `map`. */
void persistent_know(const Pass *pass, const PersistentTile *tile, Map *map);
void persistent_end(const PersistentTile *tile, Value *stage, Value *parity);

/* ---- plan_memory.c: what the launch writes ---- */

/* Which memory the launch writes, into the pass; whether it may write the view's. */
void launch_note_writes(Pass *pass);
bool launch_writes(const Pass *pass, const Value *view);
/* An element of memory that the launch does not write: it may be loaded at any time. */
bool is_steady_load(const Pass *pass, const Op *op);

/* ---- nest.c: a loop within loops and branches of the author's ---- */

/* Whether it is the index of a loop around the pipelined one. */
bool nest_counts(const Pipeline *pipeline, const Value *value);
/* Why producers cannot follow the consumers through it; NULL: they can. */
const char *nest_fault(const Pipeline *pipeline);
/* The same loops and branches, in the producers' group; `map` gets their indices. */
PersistentTile nest_begin(const Pipeline *pipeline, Region *group, int parity, Map *map);
/* What is around the loop in tile->region carries the tile's stage and parity. */
void nest_carry(const Pipeline *pipeline, PersistentTile *tile);

/* ---- warp_specialize.c ---- */

/* Each thread could find the value out by itself, in the loop or before it. */
bool is_known(const Pipeline *pipeline, const Value *value);

/* TMA can do the copy, or all of an iteration's copies, to stages that are laid out so. */
bool is_by_tensor(const Pipeline *pipeline, const MultiBuffer *buffer);
bool are_by_tensor(const Pipeline *pipeline);
void multi_buffer_lay_out(const Pipeline *pipeline, MultiBuffer *buffer);
/* Says of the loop's copies, which are by cp.async, why they are no TMA loads: `fault` is that of
 * a loop where all of them could be. */
void multi_buffer_remark_copies(const Pipeline *pipeline, const char *fault);
/* Why warps of their own may not fill the multi-buffers of the loop, whose only work is `dot`;
 * NULL: they may. */
const char *fault_of_split(Pipeline *pipeline, const Op *dot);
/* Lets them do it. */
void split(Pipeline *pipeline);
/* Whether producers can copy the tile, which lies as the tensor core reads it, before the loop. */
bool can_copy_once(const Pipeline *pipeline, const MultiBuffer *buffer);
/* The same for a loop with a plan: NULL, or why they may not. */
const char *fault_of_split_by_plan(Pipeline *pipeline);
/* Whether the producers have registers to give away, where a thread needs so many: NULL, or why
 * they cost more than they gain; how many the others have then. */
const char *share_registers(Pipeline *pipeline, int64_t needed);
int64_t registers_left(const Pipeline *pipeline);
struct Plan;
void split_by_plan(Pipeline *pipeline, struct Plan *plan);
/* The barriers of the multi-buffers' stages, made where the builder is. */
Value *multi_buffer_make_barriers(const Pipeline *pipeline, Builder *builder);
/* The parity of a stage's next lap, which changes after the last stage. */
Value *multi_buffer_next_parity(Builder *builder, Value *parity, Value *is_last);
/* An iteration's copies to its stage by TMA: `filled` are the barriers and the stage, `map`
 * has the values of `region` that are there already. */
void multi_buffer_copy_by_tensor(const Pipeline *pipeline, Builder *builder, Value *const filled[2],
                                 const Region *region, Map *map);

/* ---- multicast.c: two blocks that copy what both need once ---- */

/* Which tiles two neighbouring blocks would do well to copy together. */
void pairs_find(Pipeline *pipeline, const Op *dot);
/* What is known of the pair, made where the builder is: at the launch's beginning. */
void pairs_begin(Pipeline *pipeline, Builder *builder);
/* An iteration's copy of the multi-buffer's tile: the own half, to both blocks, or all of it. */
void pairs_copy(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                Value *const filled[2], const Region *region, Map *map);
/* The blocks of a pair meet when each has made its barriers: all threads of both. */
void pairs_meet(Builder *builder);
/* The block that a stage is given back to, too. */
Value *pairs_other(const Pipeline *pipeline, Builder *builder);

/* ---- tma_multi_buffer.c ---- */

/* Why no thread that computes may have TMA fill the multi-buffers, or NULL, and that. */
const char *fault_of_fill(const Pipeline *pipeline);
void fill(Pipeline *pipeline);

#endif
