/* emulator.h: what the emulator's files share. Needs abi.h on both sides: the emulated code's
 * (emulator/abi.h) and libtile's (../abi.h).
 *
 *   scheduler.c   launches, blocks, warps: who runs next
 *   cluster.c     blocks that run together: their barriers, each other's shared memory
 *   cycle.c       blocks that go round for ever               stuck.c   what is said of them
 *   machine.c     the warp's cooperative operations; mma.c, wgmma.c  the matrix unit
 *   registers.c   what warps give each other by setmaxnreg
 *   statistics.c  counts by source place                      fault.c  the list of faults
 *   fault_injection.c    ops that a launch does without
 *
 * and by checker.h, of accesses:
 *
 *   checker.c     one access: bounds, alignment, unwritten memory
 *   shadow.c      races: the last accesses to every byte      order.c  what an atomic orders
 *   async.c       asynchronous copies in flight, until they are waited for
 *   mbarrier.c    mbarriers, and what will arrive at them      tma.c  TMA's copies
 *   proxy.c       what the asynchronous proxy sees
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
    WARPS_OF_GROUP = 4,
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

/* A fence.proxy.async: the block's clock, and what its thread knew there. */
typedef struct Fence {
    uint32_t event, barrier_stamp, sync_stamp, stamp;
    bool made; /* of mbarriers alone that were made */
} Fence;

enum { KEPT_FENCES = 16 };

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
    uint32_t fence_count;      /* proxy.c: those of shared memory that it has passed */
    Fence fences[KEPT_FENCES]; /* the latest of them, by their numbers */
    Fence global_fence;        /* the last of global memory */
    uint32_t event;            /* order.c: the last event that this thread knows of, 0 is none */
    Passing passing;           /* fault_injection.c */
    bool has_untold;           /* mbarriers that it has made and not fenced */
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
    WARP_AT_REGISTERS,
    WARP_ENDED,
    WARP_DIVERGED
} WarpState;

/* registers.c: of a warp, and of a warpgroup: the last setmaxnreg that one of its warps came to. */
typedef struct WarpRegisters {
    uint32_t count; /* a thread */
    uint32_t comes; /* how many setmaxnreg it has come to */
} WarpRegisters;
typedef struct GroupRegisters {
    uint32_t comes, count, site;
} GroupRegisters;
typedef struct RegisterPool {
    uint32_t free; /* that no warp has */
    WarpRegisters warps[MAX_WARPS];
    GroupRegisters groups[MAX_WARPS / WARPS_OF_GROUP];
} RegisterPool;

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
    RegisterPool pool;
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
    FAULT_UNFENCED_WRITE,
    FAULT_UNFENCED_READ,
    FAULT_READING,
    FAULT_DIVERGENCE,
    FAULT_BARRIER,
    FAULT_DEADLOCK,
    FAULT_REGISTERS,
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
    bool in_turn;                /* the program is for threads that run one behind another */
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

/* ---- registers.c ---- */

void tile_emu_begin_registers(Block *block);
/* All lanes of a warp have come to a setmaxnreg. False: it waits for registers. */
bool tile_emu_set_registers(Block *block, const Thread *lanes);
/* Lets those go on for which there are enough now. */
void tile_emu_release_registers(Block *block);
/* A block has ended: whether all warps have come to what others of their warpgroup came to. */
void tile_emu_check_registers(const Block *block);
/* A warp waits for them for ever. */
void tile_emu_report_registers(const Block *block, uint32_t warp);

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
bool tile_emu_is_in_turn(void);

#endif
