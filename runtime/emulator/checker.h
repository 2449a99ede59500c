/* checker.h: how the emulator knows an access, and what it keeps of those before it. */
#ifndef TILE_EMULATOR_CHECKER_H
#define TILE_EMULATOR_CHECKER_H

#include "emulator/emulator.h"

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
    uint8_t any : 1;        /* as in Request */
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
/* The threads of the warps know what each of them did and knows; that as an event. */
uint32_t tile_emu_order_barrier(Order *order, Block *block, uint32_t warps);
/* What both know. */
uint32_t tile_emu_order_both(Order *order, uint32_t a, uint32_t b);
/* What a warp did and knows, though its lanes do not learn of each other. */
uint32_t tile_emu_order_gather(Order *order, Block *block, uint32_t warp);
/* Whether `access` comes before all that the event's thread does now. */
bool tile_emu_order_knows(Order *order, uint32_t event, const Access *access);
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
    uint16_t access; /* which of the code's */
    Proxy proxy;
    uint8_t order;                     /* of an atomic: tile_emu_order */
    uint8_t scope;                     /* and tile_emu_scope */
    uint8_t bits;                      /* of a byte's part: which; 0: all */
    bool together, in_flight;          /* as in Access */
    bool done;                         /* a write that was in flight no longer is */
    bool spare;                        /* a read of what nobody need have written */
    bool any;                          /* a write by an op of which any thread's is meant to last */
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
/* Reports what became of a doubtful store: before anything else is done to memory. */
void tile_emu_shadow_settle(Launch *launch);
/* Compares an access with those before it, and remembers it. */
void tile_emu_shadow_access(Shadow *shadow, Order *order, const Request *request);
/* Whether `before` comes before what the requesting thread does now, by barriers alone. */
bool tile_emu_shadow_is_ordered(const Access *before, const Request *request);
/* The last event that is known to who makes the request. */
uint32_t tile_emu_known_to(const Request *request);
/* Whether the program has memory there at all. */
bool tile_emu_shadow_is_mapped(Shadow *shadow, uintptr_t address);

/* ---- fault_injection.c: what accesses show of ops that are left out ---- */

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
/* Another proxy uses, for `by`, what the thread used with this mark and some fence has shown. */
void tile_emu_note_shown(const Thread *user, uint16_t passed, const Thread *by);

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
/* Whether the bytes of shared memory are, in part, those of an mbarrier that was made there. */
bool tile_emu_mbarrier_is_among(const Request *request);
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
/* What a thread did with a block's shared memory, where another proxy is to come behind it. */
typedef struct Shown {
    const Thread *user;
    uint32_t stamp, site;
    uint16_t passed; /* fault_injection.c */
    bool reads;      /* all that it did: the other proxy is to write */
    bool unit;       /* as in Access */
    bool made;       /* an mbarrier, for which there are fences of its own */
} Shown;
/* Reports it if no fence is between that and what the request's thread does now. */
bool tile_emu_check_shown(const Request *request, const char *what, const Shown *shown);
/* An access to shared memory; and a write by another way than a thread's own. */
void tile_emu_note_use(const Request *request);
void tile_emu_note_async_write(const Request *request);

void tile_emu_execute_wgmma(Block *block, Thread *lanes);
/* Whose access it is; NULL: its block has ended. */
const Thread *tile_emu_thread_of(const Access *access, const Team *team);
bool tile_emu_global_is_shown(const Thread *reader, const Access *before);

/* ---- statistics.c ---- */

/* One lane's access, to be put together with those of the other lanes. */
void tile_emu_note_access(Statistics *statistics, uint32_t operation, const Request *request);

/* ---- checker.c ---- */

enum { MOST_COMPARED = 16 /* bytes */ };

/* A store that races with earlier ones: once it is done, its bytes say whether that matters. */
typedef struct Doubtful {
    uint32_t count; /* of the earlier ones; 0: there is none */
    Access before[MOST_COMPARED];
    Request request;
    uint8_t bytes[MOST_COMPARED]; /* before it */
} Doubtful;

/* An argument's memory, from its first byte to behind its last one. */
typedef struct Extent {
    uintptr_t begin, end; /* no end: not known */
    bool is_seen;
} Extent;

struct Checker {
    Doubtful doubtful;
    Shadow *shadow; /* of global memory */
    Order *order;
    Statistics *statistics;
    const tile_allocation **site_allocation; /* by site: where it went last */
    Extent *site_extents;                    /* by site: of the argument that it accesses */
    const tile_allocation *allocations[64];  /* some that were met */
    uint32_t allocation_count;
    bool arguments_known;
    bool foreign_argument; /* one that lies in no allocation of libtile */
};

/* A thread's use of a word, through its own proxy. */
typedef struct Use {
    uint32_t stamp, site; /* when: its Block.now; and where */
    uint16_t passed;      /* fault_injection.c */
    uint16_t thread : 15;
    uint16_t unit : 1; /* of a copy of the thread's */
    uint32_t rank;     /* in which block of the cluster */
} Use;

/* What threads did last with each word of shared memory (proxy.c). */
typedef struct Trace {
    uint32_t *warps; /* by words: those that did something since the other proxy wrote there */
    Use *uses;       /* by warps, then words: what, the latest; of those warps alone */
} Trace;

/* What is kept of a block's shared memory. */
struct Watch {
    Shadow *shadow;
    uint32_t *copy_site;    /* by words: 1 + the site of the copy in flight to it */
    uint32_t *reading_site; /* by chunks of 16 bytes: 1 + the site of a wgmma that reads it */
    Trace written, read;
    size_t words;     /* of each */
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
