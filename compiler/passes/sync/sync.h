/* sync.h: what sync.c, which walks a launch and places barriers, pending.c, which keeps what was
 * met on the way, and hazards.c, which knows what must not meet, share; private to this folder. */
#ifndef TILEC_PASSES_SYNC_SYNC_H
#define TILEC_PASSES_SYNC_SYNC_H

#include "base/vec.h"
#include "passes/analysis/access.h"
#include "passes/analysis/uniformity.h"
#include "ir/op_vec.h"

typedef struct Pending {
    Op *op;
    ThreadGroup group; /* whose it is, or who has waited for it */
    ThreadGroup
        fence; /* the threads that an author's sync after it is of; count 0: there was none */
    ThreadGroup known; /* the threads that are ordered behind it */
    bool in_flight;    /* an asynchronous copy, or an open dot, that nothing has waited for */
    Iteration iteration;
    bool met;  /* the parts of the threads have met since, each for itself */
    bool open; /* a thread's own copy of elements that it has not waited for */
} Pending;

typedef struct PendingTable PendingTable;

/* A set of them: numbers of the table. */
typedef struct State {
    VEC(size_t) items;
    uint64_t *bits; /* those of the items: of numbers below 64 * words */
    size_t words;   /* 0: none is set yet */
} State;

/* What a barrier is for. */
typedef struct Cause {
    const Op *earlier, *later;
} Cause;

typedef struct Sync {
    Kernel *kernel;
    const Target *target;
    Arena *arena;
    struct Barriers *barriers; /* sync.c */
    PendingTable *table;
    FactTable *facts;
    Agreement *agreement;
    ThreadGroup group; /* the threads that run what is walked */
    ThreadGroup block; /* all of them */
    bool tensor_core;  /* it reads shared memory in this launch */
    Map *copied_for;   /* mbarriers of the author's at which copies arrive when they have landed */
    bool mbarriers;    /* the author's mbarriers order what groups do beside each other */
    OpVec *inserted;   /* barriers */
    Map *shown;        /* what threads write that TMA, or the tensor core, uses, too, and what they
                        * read that TMA overwrites */
    Map *read_back;    /* the barriers of stages that threads read before they give them back */
    Cause *cause;      /* of the next one */
    const Op *ignored; /* a barrier that is taken for not there */
    bool fences;       /* barriers get the fences that they need */
    Map *left;         /* loop -> Left: sync.c */
    Map *keepers;      /* access -> the threads that meet each element: element_threads.c */
    /* if given, barriers are not inserted but reported here, for conflicts with what threads
     * outside `reported` did, or all if its count is 0; and so by the walk that this one is within
     */
    bool *hit;
    ThreadGroup reported;
    const struct Sync *outer;
} Sync;

/* ---- pending.c ---- */

PendingTable *pending_table_new(Arena *arena);
/* The op and the items that may conflict with it; hazard_between, of the item of that number. */
typedef struct Verdicts Verdicts;
Verdicts *pending_verdicts(const Sync *sync, Op *op);
bool pending_conflicts(const Sync *sync, Verdicts *verdicts, size_t number, Op *op);
const Pending *state_item(const Sync *sync, const State *state, size_t index);
void state_add(const Sync *sync, State *state, Pending item);
/* True if that added something. */
bool state_join(const Sync *sync, State *state, const State *other);
State state_copy(const Sync *sync, const State *state);
/* What the end of a loop's iteration leaves to the next one. */
void state_age(const Sync *sync, State *state, const Op *loop);
/* A sync of the threads that are walked for: those of others are not waited for. */
void state_fence(const Sync *sync, State *state);
/* They have met, all of them or the parts that they are in, each for itself. */
void state_clear(const Sync *sync, State *state);
void state_meet(const Sync *sync, State *state);
/* Their copies have landed, or, unless they wait for all, may have. */
void state_wait(const Sync *sync, State *state, bool for_all);
/* Their stores by TMA have been read, or, unless they wait for all, may have. */
void state_stored(const Sync *sync, State *state, bool for_all);
/* Their open dots are done, or, unless they wait for all, may be. */
void state_multiplied(const Sync *sync, State *state, bool for_all);
/* The copies that the mbarriers count may have landed, for those that wait; `known` of these know.
 */
void state_mbarrier(const Sync *sync, State *state, const Op *wait, ThreadGroup known);
/* What a pipelined loop copies ahead has landed when its last iteration has waited. */
void state_land(const Sync *sync, State *state);

/* ---- hazards.c ---- */

bool hazard_is_shared(const Op *op); /* an access to shared memory, or to global */
bool hazard_is_global(const Op *op);
bool hazard_writes(const Op *op);
bool hazard_begins_copy(const Op *op); /* that is in flight until somebody waits */
/* A store of the author's by TMA, that reads shared memory until somebody waits. */
bool hazard_begins_store(const Op *op);
bool hazard_begins_dot(const Op *op); /* an open one, which reads shared memory until then */
/* By TMA, for an mbarrier of the author's. */
bool hazard_is_mbarrier_copy(const Op *op);
bool hazard_uses_mbarriers(const Op *op);
/* Whether two values are of shared memory that was placed in the same bytes, whatever their parts.
 */
bool hazard_same_memory(const Value *a, const Value *b);
/* With a thread that arrives at an mbarrier comes what it did before, and what the author's sync
 * put before that. */
bool hazard_is_arrival(const Op *op);
/* It is dropped: the barriers that it stands for are made by this pass. */
bool hazard_is_authors_sync(const Op *op);
/* Whether something may have to wait for it at a barrier of the threads that are walked for. */
bool hazard_is_pending(const Sync *sync, const Pending *item);
/* Whether a barrier must come between the two. */
bool hazard_between(const Sync *sync, Pending earlier, Op *op);
/* Whether a thread that did the one shows it to TMA, or the tensor core, by a fence before the
 * other. */
bool hazard_is_unfenced(const Sync *sync, const Pending *earlier, const Op *op);
/* What one part of the threads does is never for another part to wait for. */
bool hazard_within_parts(const Sync *sync, Pending earlier, const Op *op);

/* ---- remarks.c ---- */

/* Says which of the author's syncs were needed, and which barriers he did not ask for. */
void remark_barriers(Kernel *kernel, Arena *arena, Op *launch);

#endif
