/* multi_buffer.h: what is planned of a pipelined loop (plan.h), and those who do it: private to
 * this folder. */
#ifndef TILEC_PASSES_PIPELINE_MULTI_BUFFER_H
#define TILEC_PASSES_PIPELINE_MULTI_BUFFER_H

#include "base/vec.h"
#include "passes/analysis/access.h"
#include "ir/op_vec.h"

/* A tile that is copied ahead. */
typedef struct MultiBuffer {
    Op *copy, *alloc;
    OpVec uses;     /* of the tile and of its parts, in the launch, in order */
    Op *gather;     /* what `copy`, a store, writes is gathered; NULL: it is a copy */
    Value *stages;  /* the multi-buffer */
    bool is_shared; /* the tile is used outside of the loop, too */
    bool is_plain;  /* of those that TMA copies: threads read along its rows */
    int half;    /* of two blocks that need the same, each copies half along this dimension; -1 */
    int channel; /* of a loop that is planned: its index */
} MultiBuffer;
typedef VEC(MultiBuffer) MultiBuffers;

/* Multi-buffers that have barriers of their own: in a loop by plan those that the same products
 * read; elsewhere all that TMA or producers fill. */
typedef struct Channel {
    Value *barriers;
    int64_t bytes;  /* of a stage of each */
    int stage;      /* the plan's, of the first op that reads it */
    int last_stage; /* and of the last one */
    int reads;      /* in that one: steps, for each of their multi-buffers */
} Channel;

/* Which stage comes next, and the parity of its lap: CUTLASS's PipelineState. Groups of copies,
 * which threads wait for themselves, have no parity. */
typedef struct PipelineState {
    Value *stage, *parity;
} PipelineState;

typedef struct Pass {
    Kernel *kernel;
    PassContext *context;
    const Target *target;
    Arena *arena;
    Region *launch;
    WrittenMemory written; /* by the launch */
    bool shares_registers; /* the author says how many each of its warpgroups has */
} Pass;

/* The order in which persistent blocks take tiles of unequal length. */
typedef struct PersistentRaster {
    int dim;   /* the index of the grid along which they get shorter */
    int group; /* of other indices, at most so many are taken together; 0: there is no such index */
    bool uneven; /* lengths follow no such order */
} PersistentRaster;

/* explain.c: stores of a launch, each with why it cannot be a TMA store; NULL: by itself it
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

/* ---- what is planned ---- */

/* Who fills the stages. */
typedef enum Filling {
    FILLED_BY_NOBODY, /* nothing is copied ahead */
    FILLED_BY_THREADS,
    FILLED_BY_TMA, /* by TMA, as one of the threads tells it */
    FILLED_BY_PRODUCERS,
    FILLED_BY_PLAN, /* by producers, for consumers whose iterations go by a Plan */
} Filling;

typedef struct Pipeline {
    const Pass *pass;
    Op *loop;
    Filling filling;
    int stages;
    bool by_tma;   /* copies are TMA loads */
    int consumers; /* threads that the author asks for */
    int producers; /* threads beside them */
    bool consumers_first;
    int blocks;         /* that share a multiprocessor, by consumers' registers and shared memory */
    bool sets_maxnreg;  /* producers are a warpgroup, whose registers the others get */
    int64_t registers;  /* of a consumer, then */
    bool persistent;    /* a block does the work of several */
    bool reuses_stages; /* behind the loop, for the next tile of the block or of its own loops */
    PersistentRaster raster;
    bool nested;          /* within loops and branches of the author's */
    int cluster;          /* so many blocks, two, copy some of the tiles together; 0: none */
    Value *rank, *paired; /* of those: which block it is; whether the two need the same */
    Op *open;     /* a dot that is left in flight till the next iteration; NULL: there is none */
    int open_sum; /* what the loop carries for its sum alone: the index */
    bool releases_early; /* what it reads, where copies are late */
    MultiBuffers buffers;
    Map by_threads; /* copies of a loop that is planned which threads make through registers */
    VEC(Channel) channels;
    bool pingpong;            /* consumers' warpgroups begin their products one behind the other */
    Value *order;             /* the mbarriers for that, as CUTLASS's OrderedSequenceBarrier */
    MultiBuffers copied_once; /* by producers, before the loop */
    struct Pipeline *once;    /* of these, of one stage; NULL: there are none */
} Pipeline;

/* Of its loop, to who asks. */
#define pipeline_remark(pipeline, ...)                                                             \
    kernel_remark((pipeline)->pass->kernel, (pipeline)->loop->span, __VA_ARGS__)

enum { PLAN_STAGES = 2 }; /* at most */

/* Of a loop of several products, or of other work. */
typedef struct Plan {
    Pipeline *pipeline;
    Arena *arena;
    OpVec steps;        /* of the loop's body, in the order in which an iteration does them */
    Map stages;         /* of each, how many iterations behind the loads' it is done */
    Map async;          /* products by wgmma */
    Map derived;        /* ops that wait for a product of their iteration */
    bool waits;         /* for each product at once */
    bool hands_over;    /* products wait a stage for what threads store for them */
    int count;          /* of stages */
    int64_t cycles;     /* of an iteration, by the cost model */
    const char *fault;  /* why there is one, where there might be more; NULL */
    const Op *obstacle; /* why there is no plan: what the loop has that may not be in one; NULL */
    PipelineState at;   /* that consumers begin with */
} Plan;

/* Of a step; of other ops, and of NULL, 0: such as what is made where it is needed. */
int plan_stage(const Plan *plan, const Op *op);
/* Whether it is a product that is begun, and waited for later. */
bool plan_is_async(const Plan *plan, const Op *op);
/* Where an operand of the product is read from shared memory, and the matrix there; NULL: none. */
const Op *plan_operand_load(const Op *dot, int operand);
const Value *plan_operand(const Op *dot, int operand);
/* Whether the step reads the tile. */
bool plan_reads(const Op *op, const Op *alloc);
/* Both touch the same memory, or may do so, and one of them writes it. */
bool plan_conflicts(const Op *earlier, const Op *later);
/* The op makes the product's left operand, which it reads in registers: those that the next
 * iteration's takes, too, so that it waits while the product is in flight. */
bool plan_reads_registers(const Op *dot, const Op *op);
/* What follows from the loop's index, and what is read in shared memory, is made where it is
 * needed, again in each stage. */
bool plan_is_remade(const Plan *plan, const Op *op);

/* ---- plan_buffers.c ---- */

/* Of the tile; NULL: the loop does not copy it ahead. */
const MultiBuffer *multi_buffer_of(const Pipeline *pipeline, const Op *alloc);
/* Of all, a stage. */
int64_t multi_buffer_bytes(const Pipeline *pipeline);
/* As wgmma reads tiles of that type, or row after row. NULL: the extents don't allow that. */
const Layout *multi_buffer_layout(const Pipeline *pipeline, const MultiBuffer *buffer,
                                  const Type *tile);

/* What the iterations carry, of those that need it: the stage that is read, the one that was read
 * in the iteration before, the one that is free, the last one that was read, and the parity of the
 * lap. */
enum { STAGE_READ, STAGE_BEFORE, STAGE_FREE, STAGE_LAST, STAGE_PARITY, STAGE_VALUES };

/* ---- multi_buffer.c ---- */

/* So many tiles like that one; all multi-buffers, made where the builder is. */
Value *multi_buffer_alloc(Builder *builder, const Op *alloc, int64_t stages);
void multi_buffer_make_stages(Pipeline *pipeline, Builder builder);
Value *multi_buffer_stage(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                          Value *stage);
/* A tile of that type among `stages`. */
Value *multi_buffer_view(Builder *builder, Value *stages, Value *stage, const Type *type);
/* The buffer's copy to a stage, filled[1] of the barriers filled[0], or of none. `which`: by TMA
 * the blocks of the cluster that it goes to, a bit each; by cp.async whether there is a copy at
 * all; NULL: to this block, always. */
Op *multi_buffer_copy(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                      Value *const filled[2], Value *which, const Region *region, Map *map);
PipelineState multi_buffer_advance(const Pipeline *pipeline, Builder *builder, PipelineState at);
/* The loop goes through the stages, with i32 values that begin as `first` after its own; *arguments
 * are its iterations'. */
void multi_buffer_carry(Pipeline *pipeline, Value *const first[STAGE_VALUES],
                        Value *arguments[STAGE_VALUES]);
/* Some of the stages are filled by gathers, whose elements threads copy. */
bool multi_buffer_gathers(const Pipeline *pipeline);
/* Uses of the multi-buffers' tiles become uses of stages. */
void multi_buffer_move_uses(const Pipeline *pipeline, Value *const arguments[STAGE_VALUES]);
/* The tiles, and names of their parts, where the stages stand for them everywhere. */
void multi_buffer_drop_tiles(const Pipeline *pipeline);
/* The loop's open dot is waited for an iteration later; the wait behind the loop. */
Op *multi_buffer_leave_in_flight(const Pipeline *pipeline);

/* ---- single_copies.c: copies that no loop makes ahead ---- */

void single_copies_build(const Pass *pass);
/* The copy by threads, before it: the load, behind which comes the store. */
Op *single_copy_by_threads(const Pass *pass, const Op *copy);

/* ---- persistent.c: a block that does the work of several ---- */

/* What a group of threads does for each block whose tile it is: ops before the region's end. */
typedef struct PersistentTile {
    Region *region;
    PipelineState at;            /* at its beginning */
    Value *index[3], *extent[3]; /* of the block and the grid; NULL: there is but one tile */
    Op *yield;                   /* of what the next one begins with; NULL: there is none */
    int yield_at;                /* its operand */
} PersistentTile;

/* Makes `region` a loop over the blocks that fall to this one. */
PersistentTile persistent_begin(const Pass *pass, Region *region, const PersistentRaster *raster,
                                int parity);
/* 0 or 1 in alternation: of the wave that the tile of this number belongs to; `tiles` is the loop
 * over them. */
Value *persistent_wave_parity(Builder *builder, const Op *tiles, Value *number);
/* The one tile of a block that has no others. */
PersistentTile persistent_only(Region *region, int parity);
/* Values of the launch that a persistent tile has its own for, into `map`. */
void persistent_know(const Pass *pass, const PersistentTile *tile, Map *map);
void persistent_end(const PersistentTile *tile, PipelineState at);

/* ---- nest.c: a loop within loops and branches of the author's ---- */

/* The same loops and branches, in the producers' group; `map` gets their indices. */
PersistentTile nest_begin(const Pipeline *pipeline, Region *group, int parity, Map *map);
/* What is around the loop in tile->region carries the tile's state. */
void nest_carry(const Pipeline *pipeline, PersistentTile *tile);

/* ---- stages that others fill: warp_specialize.c ---- */

/* What waits until the stage is filled, by TMA or else; and what gives it back, if `given` (NULL:
 * always): of a pair of blocks to the other one, too. */
void build_consumer_wait(Builder *builder, Value *barriers, PipelineState at, bool by_tma);
void build_consumer_release(const Pipeline *pipeline, Builder *builder, Value *barriers,
                            Value *stage, Value *given);

/* Lets producers fill the multi-buffers of the loop, whose only work is a product, or of one that
 * has a plan. */
void warp_specialize(Pipeline *pipeline, Plan *plan);
/* The barriers of the channels' stages, made where the builder is. */
void multi_buffer_make_barriers(Pipeline *pipeline, Builder *builder);
/* A loop that goes through stages: behind its index it carries the state, which begins so, and is
 * *at in an iteration. */
Op *multi_buffer_stages_loop(Builder *builder, Value *const bounds[3], PipelineState first,
                             PipelineState *at);
/* An iteration's copies to the channel's stage, which arrive at its barriers; `map` has the values
 * of `region` that are there already. */
void multi_buffer_fill(const Pipeline *pipeline, Builder *builder, size_t channel, Value *stage,
                       const Region *region, Map *map);

/* ---- plan_iterations.c ---- */

/* The loop, which stands among the consumers' ops, by the plan; the state behind it. */
PipelineState plan_build(const Plan *plan);

/* ---- multicast.c: two blocks that copy what both need once ---- */

/* What is known of the pair, made where the builder is: at the launch's beginning. */
void pairs_begin(Pipeline *pipeline, Builder *builder);
/* An iteration's copy of the multi-buffer's tile: the own half, to both blocks, or all of it. */
void pairs_copy(const Pipeline *pipeline, Builder *builder, const MultiBuffer *buffer,
                Value *const filled[2], const Region *region, Map *map);
/* The blocks of a pair meet when each has made its barriers: all threads of both. */
void pairs_meet(Builder *builder);
/* The block that a stage is given back to, too. */
Value *pairs_other(const Pipeline *pipeline, Builder *builder);

#endif
