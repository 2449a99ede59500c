/* emulator.h: what the emulator's files share. Needs abi.h on both sides: the emulated code's
 * (emulator/abi.h) and libtile's (../abi.h).
 *
 *   scheduler.c   launches, blocks, warps: who runs next
 *   cluster.c     blocks that run together: their barriers, each other's shared memory
 *   async.c       asynchronous copies: what is in flight, until it is waited for
 *   mbarrier.c    mbarriers, and what will arrive at them      tma.c  TMA's copies
 *   cycle.c       blocks that go round for ever               stuck.c   what is said of them
 *   machine.c     the warp's cooperative operations; mma.c, wgmma.c  the matrix unit
 *   checker.c     one access: bounds, alignment, unwritten memory
 *   shadow.c      races: the last accesses to every byte      order.c  what an atomic orders
 *   statistics.c  counts by source place                      fault.c  the list of faults
 *   fault_injection.c    ops that a launch does without
 *
 * Nothing here is global but what a process sets once for all launches (statistics.c,
 * fault_injection.c); everything else hangs on a Launch, so several may run at a time. Functions
 * seen by the linker start with tile_emu_, since they are linked into other people's programs. */
#ifndef TILE_EMULATOR_PRIVATE_H
#define TILE_EMULATOR_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "../abi.h"
#include "emulator/abi.h"
#include "tile/emulator.h"

enum {
    LANES = 32,
    MAX_WARPS = 32,
    BARRIERS = 16,
    RED_ZONE = 1024,
    SCRATCH_BYTES = 64,
    MAX_FAULTS = 16
};

typedef struct Launch Launch;
typedef struct Block Block;
typedef struct Watch Watch;

typedef enum ThreadState { THREAD_READY, THREAD_WAITING, THREAD_ENDED } ThreadState;

/* How often a thread has come to where an op is left out, and what it knew at the last. */
typedef struct Passing {
    uint16_t count;
    bool unconfined; /* its next access is one that it makes only since a predicate is left out */
    uint32_t event, barrier_stamp, sync_stamp;
} Passing;

/* The last fence.proxy.async of global memory: what its thread knew there, and the block's clock.
 */
typedef struct GlobalFence {
    uint32_t event, barrier_stamp, stamp;
} GlobalFence;

typedef struct Thread {
    tile_emu_thread abi; /* first: all that emulated code sees; abi.owner is this record */
    void *handle;        /* of the coroutine: its frame */
    size_t frame_bytes;
    Block *block;
    struct Copy *first_copy, *last_copy;          /* async.c: in flight, the oldest first */
    uint32_t copy_group;                          /* the one that the next copy belongs to */
    struct Reading *first_reading, *last_reading; /* wgmma.c: in flight, the oldest first */
    uint32_t reading_group, readings_done;        /* the next one; how many have been waited for */
    struct Box *first_store, *last_store;         /* tma.c: that it has begun to write */
    uint32_t store_group;
    uint32_t fences;                   /* of the asynchronous proxy, that it has passed */
    uint32_t tellings;                 /* those, and fences of mbarriers alone */
    uint32_t fence_event, fence_stamp; /* what it knew at the last: `event`, `barrier_stamp` */
    GlobalFence global_fence;
    uint32_t event;  /* order.c: the last event that this thread knows of, 0 is none */
    Passing passing; /* fault_injection.c */
    bool has_untold; /* mbarriers that it has made and not fenced */
    const struct Barrier *awaited; /* mbarrier.c: where it waits; NULL: nowhere */
    uint8_t parity;                /* for which phase */
    uint8_t state;                 /* ThreadState */
    uint8_t warp, lane;
} Thread;

/* Frames are taken one after another and all given back with the block. */
typedef struct FrameChunk FrameChunk;
typedef struct FramePool {
    FrameChunk *first, *current;
} FramePool;

typedef enum WarpState {
    WARP_YIELDS,
    WARP_AT_BARRIER,
    WARP_AT_CLUSTER,
    WARP_AT_GRID,
    WARP_ENDED,
    WARP_DIVERGED
} WarpState;

/* Blocks that see each other's shared memory and have a barrier of their own. */
typedef struct Cluster {
    Block *blocks;
    uint32_t count;
    uint32_t phase;      /* of its barrier, how many are complete */
    uint32_t arrived[2]; /* order.c: what those knew that have arrived, in even and odd phases */
} Cluster;

enum { CYCLE_WRITES = 64, CYCLE_PLACES = 256 };

typedef struct CycleWrite {
    const void *address;
    uint32_t bytes;
    uint8_t before[16];
} CycleWrite;

/* cycle.c: some rounds of a team, to see whether it goes round for ever. */
typedef struct Cycle {
    uint64_t rounds, end;   /* that the team has had; until which it is looked at */
    uint64_t sample, whole; /* digests of a frame and of all, when that began */
    uint64_t reads;         /* since */
    uint32_t seen;          /* Launch.changes then */
    uint32_t settled_at;    /* as it found that nothing changes any more */
    bool looks, settled;
    bool is_idle; /* that began when all but waited, and ends when they do not */
    bool changed; /* more was written than is kept, or by the runtime */
    uint32_t write_count, place_count;
    CycleWrite writes[CYCLE_WRITES];
    uintptr_t places[CYCLE_PLACES]; /* that were read, by hash */
} Cycle;

/* The blocks that a worker runs now, in turns: those of a cluster and of the clusters behind it
 * that it may wait for, or, in a cooperative launch, all. */
typedef struct Team {
    Launch *launch;
    Block *blocks;
    Cluster *clusters;
    uint32_t count, cluster_count;
    uint32_t made;     /* blocks that have memory */
    uint32_t first_id; /* of its blocks */
    bool is_busy;      /* as the launch counts */
    Cycle cycle;
} Team;

/* A block that a worker runs; its memory serves one block after another. */
struct Block {
    Launch *launch;
    Team *team;
    Cluster *cluster;
    uint32_t rank; /* in the cluster */
    Watch *watch;  /* checker.c; NULL: a fast launch */
    WarpState states[MAX_WARPS];
    uint32_t arrivals[MAX_WARPS], waits[MAX_WARPS]; /* at the cluster's barrier, by warps */
    uint32_t at_barrier, yields;                    /* warps, in this round */
    bool ended;
    Thread *threads;
    uint32_t thread_count, warp_count;
    uint32_t id; /* its place in the order in which blocks run, plus 1 */
    uint32_t index[3];
    uint8_t *memory; /* red zone, shared memory, red zone */
    uint8_t *shared;
    FramePool frames;
    struct Copy *free_copies;
    struct Box *first_box, *last_box, *free_boxes; /* tma.c: in flight, the oldest first */
    uint32_t stores;                               /* of TMA, in flight */
    struct Box *first_read, *last_read; /* those that have been read and are to be written */
    struct Reading *free_readings;
    struct Arrival *first_arrival, *last_arrival, *free_arrivals; /* mbarrier.c: to come */
    struct Making *first_making; /* mbarrier.c: by whom mbarriers were made */
    bool progress;               /* something but waiting happened in this round */
    bool released;               /* a barrier let go in this round */
    /* Clocks of the checker: `now` moves at every event that orders something. An access made
     * before the last barrier has a smaller stamp than `barrier_stamp`, and so on. */
    uint32_t now, barrier_stamp, sync_stamp[MAX_WARPS];
    uint32_t barrier_site, sync_site[MAX_WARPS]; /* where those were */
    _Alignas(64) uint8_t scratch[SCRATCH_BYTES]; /* where accesses that are not allowed go */
};

typedef void MatrixFunction(Thread *lanes, uint32_t mode);
typedef struct Checker Checker;

typedef enum FaultKind {
    FAULT_BOUNDS,
    FAULT_ALIGNMENT,
    FAULT_UNWRITTEN,
    FAULT_RACE,
    FAULT_BENIGN_RACE, /* two stores of the same bytes: told, and no error */
    FAULT_UNFINISHED,
    FAULT_PROXY,
    FAULT_READING,
    FAULT_DIVERGENCE,
    FAULT_BARRIER,
    FAULT_DEADLOCK,
    FAULT_ASSERTION
} FaultKind;

typedef struct Fault {
    FaultKind kind;
    uint32_t site, other;
} Fault;

typedef struct FaultList {
    pthread_mutex_t lock;
    Fault seen[MAX_FAULTS];
    uint32_t count;
    bool more;
    char *text;
    size_t length;
    uint32_t benign_count; /* of those that are seen */
    char *benign;          /* their texts; NULL: none */
    size_t benign_length;
} FaultList;

struct Launch {
    const tile_entry *entry;
    const tile_emu_site *sites;
    uint32_t site_count;
    tile_grid grid;
    const void *const *parameters;
    uint64_t block_count;
    uint32_t cluster[3];         /* extents in blocks */
    uint32_t cluster_blocks;     /* how many these are */
    uint32_t team_blocks;        /* that begin together */
    uint32_t most_blocks;        /* that a team may have */
    _Atomic uint64_t next_block; /* that nobody has begun */
    _Atomic int32_t busy;        /* teams that do more than wait */
    _Atomic uint32_t teams;      /* that run, or will */
    _Atomic uint32_t changes;    /* cycle.c: grows when a team may have changed memory */
    _Atomic uint64_t settled;    /* at which of them, in the upper half, how many teams go round */
    bool backwards;              /* the last thread has the first turn */
    _Atomic bool stopped;        /* a fault that nothing can follow, or no memory */
    _Atomic bool fenced_global;  /* by fence.proxy.async.global, some thread has */
    _Atomic bool no_memory;
    bool seeks_evidence; /* fault_injection.c */
    bool is_whole;
    MatrixFunction *matrix;
    FaultList faults;
    Checker *checker; /* NULL: a fast launch */
};

/* ---- fault.c ---- */

#define NO_SITE UINT32_MAX
enum { PLACE_TEXT = 256, AWAITED_TEXT = 384 };
/* Whether this kind of fault at this pair of places, in either order, is not in the list yet. */
bool tile_emu_fault_is_new(Launch *launch, FaultKind kind, uint32_t site, uint32_t other);
void tile_emu_fault_add(Launch *launch, FaultKind kind, uint32_t site, uint32_t other,
                        const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Writes "file:line:column" to `out` and returns it. */
const char *tile_emu_place(const Launch *launch, uint32_t site, char out[PLACE_TEXT]);
/* TILE_OK, or the status of the whole launch with its message left in tile_error. */
tile_status tile_emu_fault_report(Launch *launch);
void tile_emu_fault_free(Launch *launch);

/* ---- fault_injection.c ---- */

/* Whether an op is left out, but none of this kernel's: it was looked at without that. */
bool tile_emu_is_whole(const tile_entry *entry);
/* Whether checked launches are to show why nobody misses what is left out. */
bool tile_emu_seeks_evidence(void);

/* A launch has ended. */
void tile_emu_note_end(void);

/* Whether a launch ends with its first fault: nobody wants to read of the others. */
bool tile_emu_stops_at_fault(void);

/* ---- scheduler.c ---- */

/* Memory that lasts as long as the block; NULL: none is left, and the launch stops. */
void *tile_emu_block_memory(Block *block, size_t bytes);
/* A warp that waits for others goes on. */
void tile_emu_release_warp(Block *block, uint32_t warp);
/* The indices of the block that runs as the `number`-th. */
void tile_emu_block_index(const Launch *launch, uint64_t number, uint32_t out[3]);

/* ---- cluster.c ---- */

/* The block of the same cluster in whose shared memory, or next to it, the address is; else the
 * block itself. */
Block *tile_emu_home(Block *block, uintptr_t address);
/* A warp arrives at its cluster's barrier; what it did before with it unless that is `relaxed`. */
void tile_emu_cluster_arrive(Block *block, Thread *lanes, bool relaxed);
/* Lets those go on whose cluster, or launch, has met. */
void tile_emu_release_clusters(Team *team);
void tile_emu_release_grid(Team *team);

/* ---- cycle.c ---- */

void tile_emu_cycle_begin_team(Team *team);
/* Of a round that has ended, the `idle`-th in which all but waited: whether all rounds to come are
 * as those were, of all teams. */
bool tile_emu_cycle_round(Team *team, uint32_t idle);
/* An access, before it is done, of a team that is looked at. */
void tile_emu_cycle_access(Block *block, const void *address, uint32_t bytes, uint32_t kind);
/* Memory is changed otherwise. */
void tile_emu_cycle_changed(Block *block);

/* ---- stuck.c ---- */

/* Whether two lanes of a warp do the same: wait at one operation, or run, or have ended. */
bool tile_emu_same_wait(const Thread *a, const Thread *b);
void tile_emu_report_divergence(const Block *block, const Thread *lanes);
/* `cycles`: though barriers let threads go on. */
void tile_emu_report_stuck(const Team *team, bool cycles);
/* How many threads the barrier waits for at which this one does. */
uint32_t tile_emu_barrier_threads(const Thread *waiting);
/* More warps wait at a barrier than it is for, or for different numbers of threads. */
void tile_emu_report_crowd(const Block *block, uint32_t warps);

/* ---- machine.c, mma.c ---- */

/* Runs the operation at which all lanes of a warp have arrived. Not the block's barrier. */
void tile_emu_execute(Block *block, Thread *lanes);
/* The fastest matrix unit that this processor can run; all give the same bits. */
MatrixFunction *tile_emu_choose_matrix(void);
/* The same without the processor's wide instructions. */
MatrixFunction tile_emu_matrix_portable;

/* ---- map.c: 64-bit keys, not 0, to 64-bit values ---- */

typedef struct Map {
    uint64_t *keys, *values;
    size_t count, capacity;
} Map;
/* The value's place, 0 at first; valid until the next call. NULL: no memory. */
uint64_t *tile_emu_map_at(Map *map, uint64_t key);
void tile_emu_map_clear(Map *map);
void tile_emu_map_free(Map *map);

/* ---- statistics.c ---- */

typedef struct Statistics Statistics;
Statistics *tile_emu_statistics_new(const Launch *launch);
/* Makes the counts those of the last launch, and frees. */
void tile_emu_statistics_publish(Statistics *statistics, const Launch *launch);
/* One lane's access, to be put together with those of the other lanes. */
void tile_emu_note_access(Statistics *statistics, uint32_t site, uint32_t operation, uint32_t lane,
                          uintptr_t address, uint32_t bytes);
/* All lanes of a warp have run to their next suspension: counts what they noted. */
void tile_emu_note_round(Statistics *statistics);
void tile_emu_note_operation(Statistics *statistics, uint32_t site, uint32_t operation,
                             uint32_t transactions, uint32_t ideal);
/* How often the banks are passed over for the accesses of the lanes in `mask`; adds to `ideal` how
 * often they must be. */
uint32_t tile_emu_bank_passes(const uintptr_t address[LANES], uint32_t mask, uint32_t bytes,
                              uint32_t *ideal);
/* Whether launches are checked, and in what order threads have their turns; TILE_ERROR_ARGUMENT
 * where the environment says something else. */
tile_status tile_emu_is_checked(bool *checked, bool *backwards);

/* ---- order.c: what is ordered by atomics, beyond barriers ---- */

typedef enum Scope { SCOPE_THREAD, SCOPE_WARP, SCOPE_BLOCK, SCOPE_GRID } Scope;

/* Of a set of reads, those of one warp. Its lanes may run one after the other, and each is known by
 * what it did after its own read. That is looked for after the first read of the set, as no stamp
 * is kept for each lane: one that reads again behind what it did is not seen. */
typedef struct WarpReads {
    uint32_t stamp, first; /* the latest read, and the first */
    uint32_t lanes;        /* that have to be known one by one; none where any will do */
} WarpReads;

/* An access, or a set of reads none of which is ordered before another: those of several threads of
 * one warp, several warps of one block, several blocks. */
typedef struct Access {
    uint32_t block; /* Block.id; 0: none */
    uint32_t stamp; /* Block.now; of a set, the latest; 0: the block's beginning */
    uint32_t site;
    uint16_t thread;
    uint8_t scope;          /* Scope */
    uint8_t atomic;         /* 0: it is none; else its bytes and scope, as atomic_mark has them */
    uint8_t together : 1;   /* a read that is any lane's as much as that of the one that is named */
    uint8_t reads : 1;      /* and does not write */
    uint8_t unit : 1;       /* of a copy that the thread has begun, not of the thread itself */
    uint8_t async : 1;      /* through the asynchronous proxy */
    uint8_t in_flight : 1;  /* a write that may not be there yet, nor anywhere else */
    uint8_t other_unit : 1; /* of `other` */
    uint16_t passed;        /* fault_injection.c */
    uint32_t warps;         /* of a set of reads of one block: whose they are */
    union {
        struct {
            uint32_t first, lanes;
        } warp;             /* of a set of one warp's: as in WarpReads */
        WarpReads *by_warp; /* of one of several warps', in shared memory; of several blocks' by
                               their ranks, then warps; else NULL */
        struct {
            uint32_t block, stamp;
        } other; /* of a set of several blocks' reads of global memory: the last that is not of the
                    last one's block, whose thread is in `warps` */
    };
} Access;

typedef struct Order Order;
Order *tile_emu_order_new(Launch *launch);
void tile_emu_order_free(Order *order);
void tile_emu_order_begin_team(Order *order);
typedef struct Request Request;
/* An atomic acquires what those before it at its address have released whose scopes hold its
 * thread, and whose threads its scope holds; and releases, or neither. */
void tile_emu_order_atomic(Order *order, const Request *request);
/* A thread's arrival at an mbarrier: a release. */
void tile_emu_order_arrive(Order *order, Thread *thread, Block *home, uintptr_t barrier,
                           tile_emu_scope scope, uint32_t site);
/* Copies that a thread begins are done by something that knows what the thread does then, and goes
 * its own way: as that event. */
uint32_t tile_emu_order_begin(Order *order, Thread *thread, uint32_t site);
/* What they have just moved, and with it the event at which they were begun, is known to whoever
 * waits at the barrier. */
void tile_emu_order_land(Order *order, const Thread *thread, uint32_t begun, Block *home,
                         uintptr_t barrier, uint32_t site);
/* The phase is complete; a thread that waits for that knows of the arrivals up to here. */
void tile_emu_order_complete(Order *order, Block *home, uintptr_t barrier);
void tile_emu_order_await(Order *order, Thread *thread, uintptr_t barrier, tile_emu_scope scope);
/* All of `threads` know what each of them knows. */
void tile_emu_order_join(Order *order, Thread *threads, uint32_t count);
/* The threads of the warps know what each of them did and knows; that as an event. `waited`: each
 * for what it had begun to read, too. */
uint32_t tile_emu_order_barrier(Order *order, Block *block, uint32_t warps, bool waited);
/* What both know. */
uint32_t tile_emu_order_both(Order *order, uint32_t a, uint32_t b);
/* What a warp did and knows, though its lanes do not learn of each other. */
uint32_t tile_emu_order_gather(Order *order, Block *block, uint32_t warp);
/* Whether `access` comes before all that the event's thread does now. */
bool tile_emu_order_knows(Order *order, uint32_t event, const Access *access);
/* Whether what `access` reads has been read before all that the event's thread does now: by way of
 * more than barriers of threads, which wait for no read. */
bool tile_emu_order_waited(Order *order, uint32_t event, const Access *access);
/* By what it does: where that is; NO_SITE: it does not, or that was not kept. */
uint32_t tile_emu_order_site(Order *order, uint32_t event, const Access *access);

/* ---- shadow.c ---- */

/* Through which memory is accessed: what one has written, the other sees behind a fence. An
 * mbarrier is for both. */
typedef enum Proxy { PROXY_GENERIC, PROXY_ASYNC, PROXY_ANY } Proxy;

struct Request {
    Thread *thread;
    Block *block; /* the thread's */
    Block *home;  /* shared: in whose memory it is; found by the checker */
    uintptr_t address;
    uint32_t bytes, kind, space, site;
    Proxy proxy;
    uint8_t order;                     /* of an atomic: tile_emu_order */
    uint8_t scope;                     /* and tile_emu_scope */
    uint8_t bits;                      /* of a byte's part: which; 0: all */
    bool together, in_flight;          /* as in Access */
    bool done;                         /* a write that was in flight no longer is */
    bool unit;                         /* as in Access: what is known to it is `event` */
    uint32_t event;                    /* of order.c */
    uint32_t begun;                    /* of a copy that ends: after which stamp, and event */
    const tile_allocation *allocation; /* global: where it lies, or NULL */
};

typedef struct Shadow Shadow;
Shadow *tile_emu_shadow_new(uint32_t shared_bytes);
void tile_emu_shadow_free(Shadow *shadow);
/* Reports the access if it conflicts with the one before, and is not ordered behind it. */
void tile_emu_shadow_check(const Access *before, const Request *request, Order *order);
/* The access as it is remembered. */
Access tile_emu_shadow_access_of(const Request *request);
/* Compares an access with those before it, and remembers it. */
/* Reports what became of a doubtful store: before anything else is done to memory. */
void tile_emu_shadow_settle(Launch *launch);
void tile_emu_shadow_access(Shadow *shadow, Order *order, const Request *request);
/* Whether `before` comes before what the requesting thread does now, by barriers alone. */
bool tile_emu_shadow_is_ordered(const Access *before, const Request *request);
/* The last event that is known to who makes the request. */
uint32_t tile_emu_known_to(const Request *request);
/* Whether the program has memory there at all. */
bool tile_emu_shadow_is_mapped(Shadow *shadow, uintptr_t address);

/* ---- fault_injection.c, again ---- */

/* Who comes first is left to the order in which threads have their turns. */
void tile_emu_note_chance(void);
/* Memory is updated: what comes of that may depend on who is first. */
void tile_emu_note_atomic(void);
/* What an access, or something that is begun, is marked with. */
uint16_t tile_emu_passed(const Thread *thread);
/* The same; what the thread does next is done under its condition again. */
uint16_t tile_emu_take_passed(Thread *thread);
/* Two accesses to the same bytes, one of which writes. */
void tile_emu_note_barrier(const Access *before, const Request *request, Order *order);
/* Something that the thread began with this mark is waited for, or, `used` is false, never was. */
void tile_emu_note_completion(Thread *thread, uint16_t passed, uint32_t site, bool used);
/* Another proxy uses what the writer wrote with this mark and some fence has shown. */
void tile_emu_note_shown(const Thread *writer, uint16_t passed, const Thread *reader);

/* ---- async.c ---- */

/* Reports an access to shared memory into which a copy is in flight. */
void tile_emu_check_copies(const Request *request);

/* A copy to shared memory is in flight from the site, or, 0, no more. */
void tile_emu_mark_copy(Block *block, const uint8_t *to, uint32_t bytes, uint32_t site);

/* What the thread has begun to copy, out of its own list; and the end of that. */
struct Copy *tile_emu_take_copies(Thread *thread);
void tile_emu_land_copies(Thread *thread, uint32_t begun, struct Copy *copies);
/* Copies that nobody has waited for when their block ends. */
void tile_emu_note_unused(Block *block);

/* ---- mbarrier.c ---- */

/* Where a thread waits that nobody helps. */
void tile_emu_awaited_text(const Thread *thread, char text[AWAITED_TEXT]);
/* The thread has waited for its copies but those of the latest `groups`; < 0: for all. */
void tile_emu_settle_own(Thread *thread, int32_t groups);

bool tile_emu_mbarrier_is_made(Thread *thread, const void *barrier, uint32_t site);
/* TMA uses an mbarrier, which it has to have been told of. */
void tile_emu_mbarrier_check_told(const Request *request);
/* So many bytes have landed. */
void tile_emu_mbarrier_land(Thread *thread, uint32_t begun, void *barrier, uint32_t bytes,
                            uint32_t site);

/* ---- tma.c ---- */

/* Lets the oldest copy land that arrives at the barrier; false: there is none. */
bool tile_emu_land_box(Block *block, const void *barrier);
/* Reports copies that are in flight when their block has ended. */
void tile_emu_check_boxes(Block *block);
/* What nobody has waited for is written when the block has ended. */
void tile_emu_write_boxes(Block *block);

/* ---- proxy.c ---- */

/* Reports what of the bytes a thread wrote, or, of a write, read, and nobody has fenced since;
 * `what` uses them, as "the tensor core reads". */
void tile_emu_check_proxy(const Request *request, const char *what);
/* What another proxy is to see of a block's shared memory. */
typedef struct Shown {
    const Thread *writer;
    uint32_t stamp;
    uint16_t passed; /* fault_injection.c */
    bool reads;      /* all that it did: the other proxy is to write */
    bool unit;       /* as in Access */
    bool since;      /* the writer has fenced since */
} Shown;
bool tile_emu_is_shown(const Thread *reader, const Block *home, const Shown *shown);
void tile_emu_report_hidden(const Request *request, const char *what, const Shown *shown);
/* An access to shared memory; and a write by another way than a thread's own. */
void tile_emu_note_use(const Request *request);
void tile_emu_note_async_write(const Request *request);

void tile_emu_execute_wgmma(Block *block, Thread *lanes);
/* Whose access it is; NULL: its block has ended. */
const Thread *tile_emu_thread_of(const Access *access, const Team *team);
bool tile_emu_global_is_shown(const Thread *reader, const Access *before);

/* ---- checker.c ---- */

enum { MOST_COMPARED = 16 /* bytes */ };

/* A store that races with earlier ones: once it is done, its bytes say whether that matters. */
typedef struct Doubtful {
    uint32_t count; /* of the earlier ones; 0: there is none */
    Access before[MOST_COMPARED];
    Request request;
    uint8_t bytes[MOST_COMPARED]; /* before it */
} Doubtful;

struct Checker {
    Doubtful doubtful;
    Shadow *shadow; /* of global memory */
    Order *order;
    Statistics *statistics;
    const tile_allocation **site_allocation; /* by site: where it went last */
    const tile_allocation *allocations[64];  /* some that were met */
    uint32_t allocation_count;
    bool arguments_known;
    bool foreign_argument; /* one that lies in no allocation of libtile */
};

/* What threads did last, through their own proxy, with each word of shared memory (proxy.c). */
typedef struct Trace {
    uint32_t *mark;   /* who; 0: nobody since the other proxy wrote there */
    uint32_t *stamp;  /* and when: its Block.now */
    uint16_t *passed; /* fault_injection.c */
    uint8_t *rank;    /* in which block of the cluster */
} Trace;

/* What is kept of a block's shared memory. */
struct Watch {
    Shadow *shadow;
    uint32_t *copy_site;    /* by words: 1 + the site of the copy in flight to it */
    uint32_t *reading_site; /* by chunks of 16 bytes: 1 + the site of a wgmma that reads it */
    Trace written, read;
    uint32_t *visits; /* of other blocks: each thread's latest, by ranks, then threads; or NULL */
    uint32_t visit_site; /* of the last one */
    uint32_t copy_count; /* in flight to the block */
};

Checker *tile_emu_checker_new(Launch *launch);
void tile_emu_checker_free(Checker *checker);
Watch *tile_emu_watch_new(const Launch *launch);
void tile_emu_watch_free(Watch *watch);
/* The address to use for an access, its faults reported. */
void *tile_emu_check(const Request *request);
/* The same of what a program's text says, which is counted. */
void *tile_emu_move(Request *request);
/* "at byte 12 of shared memory" and the like; returns `out`. */
const char *tile_emu_address_text(const Request *request, char out[PLACE_TEXT]);

const char *tile_emu_verb(uint32_t kind); /* what an access of that kind does */

void tile_emu_check_begin_block(Block *block);
/* Nobody may use its shared memory any more. */
void tile_emu_check_end_block(Block *block);
void tile_emu_check_barrier(Block *block, uint32_t warps);
void tile_emu_check_warp_sync(Block *block, Thread *lanes);

#endif
