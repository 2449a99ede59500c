/* order.c: which accesses come before which by way of atomics and mbarriers (PTX ISA manual,
 * "Memory Consistency Model", causality order). Barriers are the clocks of a Block and need no
 * memory; a release is an event that comes after what its thread knew, and is added to the chain of
 * its address, which an acquire makes known to its thread. A relaxed atomic does neither, and the
 * chain goes on behind it. So the events form a graph, and an access comes before a thread's
 * present if it comes before one of the events that can be reached from the last one that the
 * thread knows.
 *
 * The graph is walked only where an access is not ordered by barriers, which is rare. */
#include <stdlib.h>
#include <string.h>

#include "emulator/checker.h"

enum { MEMO = 1024, KNOWN = 4096, MAX_VISITS = 1 << 20 };

/* The clocks of the thread that did an atomic, after it; block 0: two events' joint, at `stamp` of
 * the block whose number `thread` is, or 0 if that is not known. Where some warps met at a barrier
 * of their own, all that they did before `stamp`. */
typedef struct Event {
    uint32_t block, thread;
    uint32_t warps; /* that met; 0: this is an atomic */
    uint32_t barrier_stamp, sync_stamp, stamp;
    uint32_t before[2]; /* events known to it, 0 is none */
    uint32_t site;      /* of the atomic, or of where they met */
    uint32_t visit;     /* the last walk that came here */
    bool is_narrow;     /* not all is known from here: passes_narrow */
    bool unit;          /* a copy has landed, at the stamp before: nothing else is known of it */
} Event;

/* Known from a walk: from `event`, accesses of `block` older than `stamp` can be reached, or those
 * alone that passes_narrow. */
typedef struct Memo {
    uint32_t event, block, stamp;
    bool is_narrow;
} Memo;

/* From `event` these accesses of one thread can be reached. */
typedef struct Known {
    uint32_t event, block, stamp;
    uint16_t thread;
    uint8_t reads, others; /* and what covers() looks at beside */
} Known;

struct Order {
    Launch *launch;
    Event *events; /* the first is none */
    uint32_t count, capacity;
    uint32_t team_start; /* events from here on are of this team alone, unless: */
    bool met_global;
    uint32_t visit;
    uint32_t *stack;
    size_t stack_capacity;
    Map narrow, wide; /* address and whose to the last event there: chain_at */
    Memo memo[MEMO];
    Known known[KNOWN];
};

Order *tile_emu_order_new(Launch *launch)
{
    Order *order = calloc(1, sizeof *order);
    if (!order) return NULL;
    order->launch = launch;
    order->count = order->team_start = 1;
    return order;
}

/* What came before what is not known any more: no fault may follow from that. */
static void no_memory(Order *order)
{
    order->launch->no_memory = order->launch->stopped = true;
}

void tile_emu_order_free(Order *order)
{
    if (!order) return;
    free(order->events);
    free(order->stack);
    tile_emu_map_free(&order->narrow);
    tile_emu_map_free(&order->wide);
    free(order);
}

/* Events of atomics in shared memory alone cannot be reached from other teams. */
void tile_emu_order_begin_team(Order *order)
{
    tile_emu_map_clear(&order->narrow);
    if (!order->met_global && order->count > order->team_start) {
        order->count = order->team_start;
        memset(order->memo, 0, sizeof order->memo);
        memset(order->known, 0, sizeof order->known);
    }
    order->team_start = order->count;
    order->met_global = false;
}

/* 0 where there is no memory for it. */
static uint32_t add_event(Order *order, Event event)
{
    if (order->count >= order->capacity) {
        uint32_t capacity = order->capacity ? order->capacity * 2 : 1024;
        Event *grown = realloc(order->events, capacity * sizeof *grown);
        if (!grown) {
            no_memory(order);
            return 0;
        }
        order->events = grown;
        order->capacity = capacity;
    }
    order->events[order->count] = event;
    return order->count++;
}

static uint32_t join(Order *order, const Block *in, uint32_t a, uint32_t b)
{
    if (!a || !b || a == b) return a ? a : b;
    return add_event(
        order, (Event){.thread = in ? in->id : 0, .stamp = in ? in->now : 0, .before = {a, b}});
}

/* ---- chains: what was released at an address ---- */

/* Of how many blocks the threads are that an event is told to: a release is for those that its
 * scope holds, and reaches those whose own scope holds it. So there is a chain for each of the
 * three, of which a release adds to those up to its scope, and an acquire looks at those up to its
 * own. */
typedef enum Reach { OF_BLOCK, OF_CLUSTER, OF_ALL, REACHES } Reach;

static Reach reach_of(uint32_t scope)
{
    return scope == TILE_EMU_CTA ? OF_BLOCK : scope == TILE_EMU_CLUSTER ? OF_CLUSTER : OF_ALL;
}

/* The last event of a chain. Those of memory that all launches' blocks see outlive a team. NULL:
 * there is no memory. */
static uint64_t *chain_at(Order *order, const Block *block, uintptr_t address, uint32_t space,
                          Reach reach)
{
    enum { PLACE_BITS = 16 };
    const Team *team = block->team;
    const uint64_t number = block->id - team->first_id,
                   place = reach == OF_BLOCK     ? 1 + 2 * number
                           : reach == OF_CLUSTER ? 2 + 2 * (number / block->cluster->count)
                                                 : 0;
    uint64_t *last =
        tile_emu_map_at(space == TILE_EMU_SHARED || place ? &order->narrow : &order->wide,
                        (uint64_t)(address >> 2) << PLACE_BITS | place);
    if (!last) no_memory(order);
    return last;
}

/* What a thread does from here on is not part of it. */
static Event event_of(Thread *thread, uint32_t site)
{
    Block *block = thread->block;
    return (Event){.block = block->id,
                   .thread = thread->abi.index,
                   .barrier_stamp = block->barrier_stamp,
                   .sync_stamp = block->sync_stamp[thread->warp],
                   .stamp = ++block->now,
                   .site = site,
                   .before = {thread->event, 0}};
}

static void acquire(Order *order, Thread *thread, uintptr_t address, uint32_t space, Reach most)
{
    for (int reach = OF_BLOCK; reach <= (int)most; reach++) {
        const uint64_t *last = chain_at(order, thread->block, address, space, (Reach)reach);
        if (last) thread->event = join(order, thread->block, thread->event, (uint32_t)*last);
    }
}

/* The thread learns nothing by that, so a chain's next event is not the thread's own. */
static void release(Order *order, Thread *thread, const Request *request, Reach most)
{
    Event event = event_of(thread, request->site);
    for (int reach = OF_BLOCK; reach <= (int)most; reach++) {
        uint64_t *last =
            chain_at(order, thread->block, request->address, request->space, (Reach)reach);
        if (!last) return;
        event.before[1] = (uint32_t)*last;
        *last = add_event(order, event);
    }
}

/* Where it has acquired, too, its event knows what is in the chains. */
static void release_known(Order *order, Thread *thread, const Request *request, Reach most)
{
    thread->event = add_event(order, event_of(thread, request->site));
    for (int reach = OF_BLOCK; reach <= (int)most; reach++) {
        uint64_t *last =
            chain_at(order, thread->block, request->address, request->space, (Reach)reach);
        if (last) *last = thread->event;
    }
}

void tile_emu_order_atomic(Order *order, const Request *request)
{
    Thread *thread = request->thread;
    const Reach most = reach_of(request->scope);
    const bool acquires = request->order & TILE_EMU_ACQUIRE;
    tile_emu_note_chance();
    if (acquires) acquire(order, thread, request->address, request->space, most);
    if (!(request->order & TILE_EMU_RELEASE)) return;
    (acquires ? release_known : release)(order, thread, request, most);
    order->met_global |= request->space != TILE_EMU_SHARED;
}

/* ---- mbarriers: a chain of the phase in flight, and behind it one of those that are complete ----
 */

enum { COMPLETE = 4 /* bytes further */ };

/* One for another block's barrier that is for its own block's threads alone: what a thread wrote
 * may not be there yet. */
void tile_emu_order_arrive(Order *order, Thread *thread, Block *home, uintptr_t barrier,
                           tile_emu_scope scope, uint32_t site)
{
    const bool is_remote = home != thread->block;
    Event event = event_of(thread, site);
    event.is_narrow = is_remote && scope == TILE_EMU_CTA;
    uint64_t *last = chain_at(order, home, barrier, TILE_EMU_SHARED,
                              is_remote && scope != TILE_EMU_CTA ? OF_CLUSTER : OF_BLOCK);
    tile_emu_note_chance();
    if (last) *last = join(order, thread->block, add_event(order, event), (uint32_t)*last);
}

uint32_t tile_emu_order_begin(Order *order, Thread *thread, uint32_t site)
{
    return add_event(order, event_of(thread, site));
}

void tile_emu_order_land(Order *order, const Thread *thread, uint32_t begun, Block *home,
                         uintptr_t barrier, uint32_t site)
{
    uint64_t *last = chain_at(order, home, barrier, TILE_EMU_SHARED, OF_BLOCK);
    const Event event = {.block = thread->block->id,
                         .thread = thread->abi.index,
                         .unit = true,
                         .stamp = ++thread->block->now,
                         .site = site,
                         .before = {begun, last ? (uint32_t)*last : 0}};
    tile_emu_note_chance();
    if (last) *last = add_event(order, event);
}

void tile_emu_order_complete(Order *order, Block *home, uintptr_t barrier)
{
    for (int reach = OF_BLOCK; reach <= OF_CLUSTER; reach++) {
        const uint64_t *last = chain_at(order, home, barrier, TILE_EMU_SHARED, (Reach)reach);
        const uint32_t event = last ? (uint32_t)*last : 0;
        uint64_t *complete =
            chain_at(order, home, barrier + COMPLETE, TILE_EMU_SHARED, (Reach)reach);
        if (complete) *complete = event;
    }
}

void tile_emu_order_await(Order *order, Thread *thread, uintptr_t barrier, tile_emu_scope scope)
{
    acquire(order, thread, barrier + COMPLETE, TILE_EMU_SHARED, reach_of(scope));
}

/* ---- threads that meet ---- */

void tile_emu_order_join(Order *order, Thread *threads, uint32_t count)
{
    uint32_t joint = 0, previous = 0, first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = threads[i].event;
        if (!event || event == previous || event == first) continue;
        first = first ? first : event;
        joint = join(order, threads->block, joint, event);
        previous = event;
    }
    for (uint32_t i = 0; joint && i < count; i++) threads[i].event = joint;
}

uint32_t tile_emu_order_both(Order *order, uint32_t a, uint32_t b)
{
    return join(order, NULL, a, b);
}

static uint32_t add_barrier(Order *order, const Block *block, uint32_t warps)
{
    uint32_t joint = 0, previous = 0;
    for (uint32_t i = 0; i < block->thread_count; i++) {
        uint32_t event = block->threads[i].event;
        if (!(warps >> block->threads[i].warp & 1) || !event || event == previous) continue;
        joint = join(order, block, joint, event);
        previous = event;
    }
    return add_event(order, (Event){.block = block->id,
                                    .warps = warps,
                                    .barrier_stamp = block->barrier_stamp,
                                    .stamp = block->now,
                                    .site = block->threads[__builtin_ctz(warps) * LANES].abi.site,
                                    .before = {joint, 0}});
}

uint32_t tile_emu_order_barrier(Order *order, Block *block, uint32_t warps)
{
    const uint32_t met = add_barrier(order, block, warps);
    for (uint32_t i = 0; met && i < block->thread_count; i++)
        if (warps >> block->threads[i].warp & 1) block->threads[i].event = met;
    return met;
}

uint32_t tile_emu_order_gather(Order *order, Block *block, uint32_t warp)
{
    block->now++;
    return add_barrier(order, block, 1u << warp);
}

/* Of each warp, the lanes that have done an atomic of their own after a read of theirs. */
typedef struct Lanes {
    uint32_t of_warp[LANES];
} Lanes;

/* Lanes that read are known one by one, too: once all have been met. */
static bool lane_completes(Lanes *lanes, const Event *event, uint32_t warp, WarpReads reads)
{
    if (event->warps || event->unit || event->thread / LANES != warp || reads.first >= event->stamp)
        return false;
    lanes->of_warp[warp] |= 1u << event->thread % LANES;
    return (lanes->of_warp[warp] & reads.lanes) == reads.lanes;
}

/* The warps of a set of reads that the event comes after. */
static uint32_t warps_covered(const Event *event, const Access *access, uint32_t warps,
                              Lanes *lanes)
{
    uint32_t covered = 0;
    if (event->block != access->block || event->unit) return 0;
    for (uint32_t rest = warps; rest; rest &= rest - 1) {
        const uint32_t warp = (uint32_t)__builtin_ctz(rest), stamp = access->by_warp[warp].stamp;
        const uint32_t known = event->warps >> warp & 1 ? event->stamp
                               : !event->warps && event->thread / LANES == warp
                                   ? event->sync_stamp
                                   : event->barrier_stamp;
        if (stamp < known || stamp < event->barrier_stamp ||
            lane_completes(lanes, event, warp, access->by_warp[warp]))
            covered |= 1u << warp;
    }
    return covered;
}

static bool push(Order *order, size_t *depth, uint32_t event)
{
    if (*depth == order->stack_capacity) {
        size_t capacity = order->stack_capacity ? order->stack_capacity * 2 : 1024;
        uint32_t *grown = realloc(order->stack, capacity * sizeof *grown);
        if (!grown) return false;
        order->stack = grown;
        order->stack_capacity = capacity;
    }
    order->stack[(*depth)++] = event;
    return true;
}

static bool covers(const Event *event, const Access *access)
{
    if (event->block != access->block || access->scope == SCOPE_GRID) return false;
    if (!access->stamp) return true; /* the block's beginning */
    if (access->stamp < event->barrier_stamp) return true;
    if (access->unit || event->unit)
        return access->unit && event->unit && access->thread == event->thread &&
               access->stamp + 1 == event->stamp;
    if (event->warps) return !(access->warps & ~event->warps) && access->stamp < event->stamp;
    bool same_warp = event->thread / LANES == access->thread / LANES;
    if (access->scope <= SCOPE_WARP && same_warp && access->stamp < event->sync_stamp) return true;
    return access->scope == SCOPE_THREAD && access->stamp < event->stamp &&
           (access->thread == event->thread || (access->together && same_warp));
}

/* What was read is done when it is, and so is a copy that somebody has waited for. */
static bool passes_narrow(const Access *access)
{
    return access->reads || access->unit;
}

static Memo *memo_of(Order *order, uint32_t event, uint32_t block)
{
    return &order->memo[(event * 31 + block) % MEMO];
}

/* Since when threads can know of the access, or of the first one of a set. */
static uint32_t earliest(const Access *access)
{
    uint32_t first = access->scope == SCOPE_WARP ? access->warp.first : access->stamp;
    if (access->scope < SCOPE_BLOCK) return first;
    if (access->scope == SCOPE_GRID || !access->by_warp) return 0;
    for (uint32_t rest = access->warps; rest; rest &= rest - 1) {
        const WarpReads *reads = &access->by_warp[__builtin_ctz(rest)];
        first = reads->first < first ? reads->first : first;
    }
    return first;
}

/* What is known to an event of before that is older still. */
static bool is_before(const Event *event, uint32_t block, uint32_t stamp)
{
    return (event->block ? event->block : event->thread) == block && event->stamp <= stamp;
}

/* An event from which `access` is known; 0: there is none. A walk that grows too long answers with
 * where it is, since a fault that is none is worse than one that is missed. */
static uint32_t walk(Order *order, uint32_t from, const Access *access)
{
    size_t depth = 0;
    uint32_t warps = access->warps;
    const uint32_t since = earliest(access);
    Lanes lanes = {0};
    order->visit++;
    if (!push(order, &depth, from)) return from;
    for (uint32_t visits = 0; depth; visits++) {
        uint32_t index = order->stack[--depth];
        Event *event = &order->events[index];
        if (event->is_narrow && !passes_narrow(access)) continue;
        if (visits == MAX_VISITS || covers(event, access)) return index;
        if (access->scope == SCOPE_BLOCK && access->by_warp) {
            warps &= ~warps_covered(event, access, warps, &lanes);
            if (!warps) return index;
        }
        if (access->scope == SCOPE_WARP && event->block == access->block &&
            lane_completes(&lanes, event, access->thread / LANES,
                           (WarpReads){access->stamp, access->warp.first, access->warp.lanes}))
            return index;
        if (is_before(event, access->block, since)) continue;
        for (int i = 0; i < 2; i++) {
            uint32_t before = event->before[i];
            if (!before || order->events[before].visit == order->visit) continue;
            order->events[before].visit = order->visit;
            if (!push(order, &depth, before)) return index;
        }
    }
    return 0;
}

/* One thread's accesses at a time are many, and are asked for again and again. */
static Known *known_of(Order *order, uint32_t event, const Access *access)
{
    const uint32_t mix = event * 0x9E3779B1u ^ access->stamp * 0x85EBCA6Bu ^ access->thread;
    return &order->known[(mix >> 12 ^ mix) % KNOWN];
}

bool tile_emu_order_knows(Order *order, uint32_t event, const Access *access)
{
    if (!event) return false;
    Memo *memo = memo_of(order, event, access->block);
    if (memo->event == event && memo->block == access->block && access->stamp < memo->stamp &&
        (passes_narrow(access) || !memo->is_narrow))
        return true;
    const uint8_t others = (uint8_t)(access->unit | access->together << 1);
    const Known now = {event, access->block, access->stamp, access->thread, access->reads, others};
    Known *known = known_of(order, event, access);
    if (access->scope == SCOPE_THREAD && memcmp(known, &now, sizeof now) == 0) return true;
    uint32_t found = walk(order, event, access);
    if (!found) return false;
    const Event *end = &order->events[found];
    if (end->block == access->block && access->stamp < end->barrier_stamp)
        *memo = (Memo){event, access->block, end->barrier_stamp, passes_narrow(access)};
    else if (access->scope == SCOPE_THREAD)
        *known = now;
    return true;
}

uint32_t tile_emu_order_site(Order *order, uint32_t event, const Access *access)
{
    const uint32_t found = event && access->scope != SCOPE_GRID ? walk(order, event, access) : 0;
    return found ? order->events[found].site : NO_SITE;
}
