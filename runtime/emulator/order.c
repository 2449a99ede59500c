/* order.c: which accesses come before which by way of atomics. Barriers are the clocks of a Block
 * and need no memory; an atomic is an event that comes after what its thread knew and after the
 * last atomic at the same address. So the events form a graph, and an access comes before a
 * thread's present if it comes before one of the events that can be reached from the last one that
 * the thread knows.
 *
 * The graph is walked only where an access is not ordered by barriers, that is seldom. */
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"

enum { MEMO = 1024, MAX_VISITS = 1 << 20 };

/* The clocks of the thread that did an atomic, after it; block 0: two events' joint. Where some
 * warps met at a barrier of their own, all that they did before `stamp`. */
typedef struct Event {
    uint32_t block, thread;
    uint32_t warps; /* that met; 0: this is an atomic */
    uint32_t barrier_stamp, sync_stamp, stamp;
    uint32_t before[2]; /* events known to it, 0 is none */
    uint32_t site;      /* of the atomic, or of where they met */
    uint32_t visit;     /* the last walk that came here */
} Event;

/* Known from a walk: from `event`, accesses of `block` older than `stamp` can be reached. */
typedef struct Memo {
    uint32_t event, block, stamp;
} Memo;

struct Order {
    Launch *launch;
    Event *events; /* the first is none */
    uint32_t count, capacity;
    uint32_t team_start; /* events from here on are of this team alone, unless: */
    bool met_global;
    uint32_t visit;
    uint32_t *stack;
    size_t stack_capacity;
    Map shared, global; /* address to the last event there */
    Memo memo[MEMO];
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
    tile_emu_map_free(&order->shared);
    tile_emu_map_free(&order->global);
    free(order);
}

/* Events of atomics in shared memory alone cannot be reached from other teams. */
void tile_emu_order_begin_team(Order *order)
{
    tile_emu_map_clear(&order->shared);
    if (!order->met_global && order->count > order->team_start) {
        order->count = order->team_start;
        memset(order->memo, 0, sizeof order->memo);
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

void tile_emu_order_atomic(Order *order, Thread *thread, uintptr_t address, uint32_t space,
                           uint32_t site)
{
    Block *block = thread->block;
    uint64_t *last =
        tile_emu_map_at(space == TILE_EMU_SHARED ? &order->shared : &order->global, address >> 2);
    if (!last) {
        no_memory(order);
        return;
    }
    block->now++;
    Event event = {.block = block->id,
                   .thread = thread->abi.index,
                   .barrier_stamp = block->barrier_stamp,
                   .sync_stamp = block->sync_stamp[thread->warp],
                   .stamp = block->now,
                   .site = site,
                   .before = {thread->event, (uint32_t)*last}};
    tile_emu_note_chance();
    thread->event = add_event(order, event);
    *last = thread->event;
    order->met_global |= space != TILE_EMU_SHARED;
}

static uint32_t join(Order *order, uint32_t a, uint32_t b)
{
    if (!a || !b || a == b) return a ? a : b;
    return add_event(order, (Event){.before = {a, b}});
}

void tile_emu_order_acquire(Order *order, Thread *thread, uintptr_t address)
{
    const uint64_t *last = tile_emu_map_at(&order->shared, address >> 2);
    if (last)
        thread->event = join(order, thread->event, (uint32_t)*last);
    else
        no_memory(order);
}

void tile_emu_order_join(Order *order, Thread *threads, uint32_t count)
{
    uint32_t joint = 0, previous = 0, first = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = threads[i].event;
        if (!event || event == previous || event == first) continue;
        first = first ? first : event;
        joint = join(order, joint, event);
        previous = event;
    }
    for (uint32_t i = 0; joint && i < count; i++) threads[i].event = joint;
}

uint32_t tile_emu_order_both(Order *order, uint32_t a, uint32_t b)
{
    return join(order, a, b);
}

static uint32_t add_meeting(Order *order, const Block *block, uint32_t warps)
{
    uint32_t joint = 0, previous = 0;
    for (uint32_t i = 0; i < block->thread_count; i++) {
        uint32_t event = block->threads[i].event;
        if (!(warps >> block->threads[i].warp & 1) || !event || event == previous) continue;
        joint = join(order, joint, event);
        previous = event;
    }
    return add_event(order, (Event){.block = block->id,
                                    .warps = warps,
                                    .barrier_stamp = block->barrier_stamp,
                                    .stamp = block->now,
                                    .site = block->threads[__builtin_ctz(warps) * LANES].abi.site,
                                    .before = {joint, 0}});
}

uint32_t tile_emu_order_meet(Order *order, Block *block, uint32_t warps)
{
    const uint32_t met = add_meeting(order, block, warps);
    for (uint32_t i = 0; met && i < block->thread_count; i++)
        if (warps >> block->threads[i].warp & 1) block->threads[i].event = met;
    return met;
}

uint32_t tile_emu_order_gather(Order *order, Block *block, uint32_t warp)
{
    block->now++;
    return add_meeting(order, block, 1u << warp);
}

/* Of each warp, the lanes that have done an atomic of their own after an access. */
typedef struct Lanes {
    uint32_t of_warp[LANES];
} Lanes;

/* Lanes that did something together are known one by one, too: once all have been met. */
static bool lane_completes(Lanes *lanes, const Event *event, uint32_t warp, WarpReads reads)
{
    if (event->warps || event->thread / LANES != warp || reads.stamp >= event->stamp) return false;
    lanes->of_warp[warp] |= 1u << event->thread % LANES;
    return (lanes->of_warp[warp] & reads.lanes) == reads.lanes;
}

/* The warps of a set of reads that the event comes after. */
static uint32_t warps_covered(const Event *event, const Access *access, uint32_t warps,
                              Lanes *lanes)
{
    uint32_t covered = 0;
    if (event->block != access->block) return 0;
    for (uint32_t rest = warps; rest; rest &= rest - 1) {
        const uint32_t warp = (uint32_t)__builtin_ctz(rest), stamp = access->reads[warp].stamp;
        const uint32_t known = event->warps >> warp & 1 ? event->stamp
                               : !event->warps && event->thread / LANES == warp
                                   ? event->sync_stamp
                                   : event->barrier_stamp;
        if (stamp < known || stamp < event->barrier_stamp ||
            lane_completes(lanes, event, warp, access->reads[warp]))
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
    if (event->warps) return !(access->warps & ~event->warps) && access->stamp < event->stamp;
    bool same_warp = event->thread / LANES == access->thread / LANES;
    if (access->scope <= SCOPE_WARP && same_warp && access->stamp < event->sync_stamp) return true;
    return access->scope == SCOPE_THREAD && access->stamp < event->stamp &&
           (access->thread == event->thread || (access->together && same_warp));
}

static Memo *memo_of(Order *order, uint32_t event, uint32_t block)
{
    return &order->memo[(event * 31 + block) % MEMO];
}

/* An event from which `access` is known; 0: there is none. A walk that grows too long answers with
 * where it is, since a fault that is none is worse than one that is missed. */
static uint32_t walk(Order *order, uint32_t from, const Access *access)
{
    size_t depth = 0;
    uint32_t warps = access->warps;
    Lanes lanes = {0};
    order->visit++;
    if (!push(order, &depth, from)) return from;
    for (uint32_t visits = 0; depth; visits++) {
        uint32_t index = order->stack[--depth];
        Event *event = &order->events[index];
        if (visits == MAX_VISITS || covers(event, access)) return index;
        if (access->scope == SCOPE_BLOCK && access->reads) {
            warps &= ~warps_covered(event, access, warps, &lanes);
            if (!warps) return index;
        }
        if (access->scope == SCOPE_WARP && event->block == access->block &&
            lane_completes(&lanes, event, access->thread / LANES,
                           (WarpReads){access->stamp, UINT32_MAX}))
            return index;
        for (int i = 0; i < 2; i++) {
            uint32_t before = event->before[i];
            if (!before || order->events[before].visit == order->visit) continue;
            order->events[before].visit = order->visit;
            if (!push(order, &depth, before)) return index;
        }
    }
    return 0;
}

bool tile_emu_order_knows(Order *order, uint32_t event, const Access *access)
{
    if (!event) return false;
    /* Readers in several blocks: who they were is not kept, so a thread that met any atomic is
     * believed to know them. */
    if (access->scope == SCOPE_GRID) return true;
    Memo *memo = memo_of(order, event, access->block);
    if (memo->event == event && memo->block == access->block && access->stamp < memo->stamp)
        return true;
    uint32_t found = walk(order, event, access);
    if (!found) return false;
    const Event *end = &order->events[found];
    if (end->block == access->block && access->stamp < end->barrier_stamp)
        *memo = (Memo){event, access->block, end->barrier_stamp};
    return true;
}

uint32_t tile_emu_order_site(Order *order, uint32_t event, const Access *access)
{
    const uint32_t found = event && access->scope != SCOPE_GRID ? walk(order, event, access) : 0;
    return found ? order->events[found].site : NO_SITE;
}
