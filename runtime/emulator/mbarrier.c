/* mbarrier.c: mbarriers, from their definition in the PTX ISA manual: phases of a number of
 * arrivals, of which the first has parity 0. An arrival is a release, a test that finds the phase
 * complete an acquire of those that have arrived in it, or before. What arrives when copies have
 * landed does so when somebody tests the barrier, or the thread waits for its copies: as late as
 * the program allows. */
#include <stdio.h>
#include <string.h>

#include "emulator/checker.h"

enum { MAGIC = 0x6d, MOST_ARRIVALS = UINT16_MAX, MOST_BYTES = (1 << 20) - 1 };

/* The 8 bytes. A phase is complete when all have arrived and all bytes that were to land have. */
typedef struct Barrier {
    uint64_t magic : 8, phase : 1, expected : 16;
    uint64_t pending : 17; /* copies may come to be waited for, too */
    int64_t bytes : 22;    /* still to land */
} Barrier;
_Static_assert(sizeof(Barrier) == 8, "an mbarrier has 8 bytes");

typedef struct Arrival Arrival;
struct Arrival {
    Arrival *next;
    Barrier *barrier;
    Thread *thread;
    struct Copy *copies;
    uint32_t group, site;
    uint32_t begun; /* of order.c: what the thread knew when it asked for it */
};

static Request request_of(Thread *thread, const Barrier *barrier, uint32_t kind, uint32_t site)
{
    return (Request){.thread = thread,
                     .block = thread->block,
                     .address = (uintptr_t)barrier,
                     .bytes = sizeof *barrier,
                     .kind = kind,
                     .space = TILE_EMU_SHARED,
                     .proxy = PROXY_ANY,
                     .scope = TILE_EMU_SYS,
                     .site = site};
}

static void report_barrier(const Thread *thread, uint32_t site, const char *what)
{
    const Block *block = thread->block;
    tile_emu_fault_add(block->launch, FAULT_BARRIER, site, NO_SITE,
                       "thread %u of block (%u, %u, %u) %s", thread->abi.index, block->index[0],
                       block->index[1], block->index[2], what);
}

/* Whether there is an mbarrier. */
static bool is_made(const Thread *thread, const Barrier *barrier, uint32_t site)
{
    const Block *block = thread->block, *home = tile_emu_home(thread->block, (uintptr_t)barrier);
    const uintptr_t offset = (uintptr_t)barrier - (uintptr_t)home->shared;
    const bool inside = offset % sizeof *barrier == 0 &&
                        offset + sizeof *barrier <= block->launch->entry->shared_bytes;
    if (inside && barrier->magic == MAGIC) return true;
    report_barrier(thread, site, "uses an mbarrier that nobody has made");
    block->launch->stopped = true;
    return false;
}

/* Who made an mbarrier: later arrivals hide that from the memory's own record. */
typedef struct Making Making;
struct Making {
    Making *next;
    const Barrier *barrier;
    Access access;
    const Thread *maker;
};

static Making *making_of(const Block *home, const Barrier *barrier)
{
    Making *making = home->first_making;
    while (making && making->barrier != barrier) making = making->next;
    return making;
}

bool tile_emu_mbarrier_is_among(const Request *request)
{
    const Making *making = request->home->first_making;
    for (; making; making = making->next) {
        const uintptr_t at = (uintptr_t)making->barrier;
        if (at < request->address + request->bytes && request->address < at + sizeof(Barrier))
            return true;
    }
    return false;
}

static void note_making(const Request *request)
{
    const Barrier *barrier = (const Barrier *)request->address;
    Block *home = request->home;
    Making *making = making_of(home, barrier);
    if (!making) {
        making = tile_emu_block_memory(home, sizeof *making);
        if (!making) return;
        making->next = home->first_making;
        home->first_making = making;
    }
    making->barrier = barrier;
    making->access = tile_emu_shadow_access_of(request);
    making->maker = request->thread;
}

void tile_emu_mbarrier_check_told(const Request *request)
{
    const Block *home = tile_emu_home(request->block, request->address);
    const Making *making = making_of(home, (const Barrier *)request->address);
    if (!making) return;
    const Shown shown = {.user = making->maker,
                         .stamp = making->access.stamp,
                         .site = making->access.site,
                         .passed = making->access.passed,
                         .made = true};
    tile_emu_check_shown(request, "TMA uses", &shown);
}

/* Whoever uses one, a wait, too, comes after its making. */
static void check_making(Thread *thread, const Barrier *barrier, uint32_t site)
{
    Request request = request_of(thread, barrier, TILE_EMU_READ, site);
    if (!(thread->abi.checked & TILE_EMU_CHECKED)) return;
    request.home = tile_emu_home(thread->block, request.address);
    const Making *making = making_of(request.home, barrier);
    if (making)
        tile_emu_shadow_check(&making->access, &request, thread->block->launch->checker->order);
}

TILE_API void tile_emu_mbarrier_init(tile_emu_thread *thread, void *barrier, uint32_t arrivals,
                                     uint32_t site)
{
    Barrier *made = barrier;
    if (!arrivals) return;
    tile_emu_cycle_changed(((Thread *)thread->owner)->block);
    if (thread->checked & TILE_EMU_CHECKED) {
        Request request = request_of(thread->owner, made, TILE_EMU_WRITE, site);
        request.home = tile_emu_home(request.block, request.address);
        made = tile_emu_check(&request);
        if (made == barrier) {
            note_making(&request);
            tile_emu_note_async_write(&request);
        }
        ((Thread *)thread->owner)->has_untold = true;
    }
    *made = (Barrier){
        .magic = MAGIC, .expected = arrivals & MOST_ARRIVALS, .pending = arrivals & MOST_ARRIVALS};
}

/* The same, of a thread that uses it now. */
static bool is_made_before(Thread *thread, const Barrier *barrier, uint32_t site)
{
    const bool made = is_made(thread, barrier, site);
    if (made && thread->awaited != barrier) check_making(thread, barrier, site);
    return made;
}

static void note_update(Thread *thread, const Barrier *barrier, uint32_t site)
{
    const Request request = request_of(thread, barrier, TILE_EMU_ATOMIC, site);
    tile_emu_cycle_changed(thread->block);
    if (thread->abi.checked & TILE_EMU_CHECKED) tile_emu_check(&request);
}

static void complete(Thread *thread, Barrier *barrier)
{
    if (barrier->pending || barrier->bytes) return;
    barrier->pending = barrier->expected;
    barrier->phase ^= 1;
    if (thread->abi.checked & TILE_EMU_CHECKED)
        tile_emu_order_complete(thread->block->launch->checker->order,
                                tile_emu_home(thread->block, (uintptr_t)barrier),
                                (uintptr_t)barrier);
}

/* What others know with the phase that this is part of. */
static void tell(Thread *thread, const Barrier *barrier, tile_emu_scope scope, uint32_t site)
{
    note_update(thread, barrier, site);
    if (thread->abi.checked & TILE_EMU_CHECKED)
        tile_emu_order_arrive(thread->block->launch->checker->order, thread,
                              tile_emu_home(thread->block, (uintptr_t)barrier), (uintptr_t)barrier,
                              scope, site);
}

static void count_arrival(Thread *thread, Barrier *barrier, uint32_t site)
{
    if (!barrier->pending) {
        report_barrier(
            thread, site,
            "arrives at an mbarrier whose arrivals have all come: its phase waits for bytes alone");
        return;
    }
    barrier->pending--;
    complete(thread, barrier);
}

static void arrive(Thread *thread, Barrier *barrier, tile_emu_scope scope, uint32_t site)
{
    if (!is_made_before(thread, barrier, site)) return;
    tell(thread, barrier, scope, site);
    count_arrival(thread, barrier, site);
}

TILE_API void tile_emu_mbarrier_expect(tile_emu_thread *thread, void *barrier, uint32_t bytes,
                                       uint32_t site)
{
    Barrier *at = barrier;
    tile_emu_take_passed(thread->owner);
    if (!bytes || !is_made_before(thread->owner, at, site)) return;
    if (at->bytes + (int64_t)bytes > MOST_BYTES)
        report_barrier(thread->owner, site,
                       "makes an mbarrier's phase wait for more than 1048575 bytes at a time");
    else
        at->bytes += (int32_t)bytes;
}

bool tile_emu_mbarrier_is_made(Thread *thread, const void *barrier, uint32_t site)
{
    return is_made_before(thread, barrier, site);
}

static void land(Thread *thread, Barrier *barrier, uint32_t bytes)
{
    barrier->bytes -= (int32_t)bytes;
    complete(thread, barrier);
}

/* What has landed is known with the phase. */
static void tell_landed(Thread *thread, uint32_t begun, const Barrier *barrier, uint32_t site)
{
    Request request = request_of(thread, barrier, TILE_EMU_ATOMIC, site);
    request.unit = true;
    request.event = begun;
    if (!(thread->abi.checked & TILE_EMU_CHECKED)) return;
    tile_emu_check(&request);
    tile_emu_order_land(thread->block->launch->checker->order, thread, begun,
                        tile_emu_home(thread->block, (uintptr_t)barrier), (uintptr_t)barrier, site);
}

void tile_emu_mbarrier_land(Thread *thread, uint32_t begun, void *barrier, uint32_t bytes,
                            uint32_t site)
{
    tell_landed(thread, begun, barrier, site);
    land(thread, barrier, bytes);
}

TILE_API void tile_emu_mbarrier_complete(tile_emu_thread *thread, void *barrier, uint32_t bytes,
                                         uint32_t scope, uint32_t site)
{
    Thread *owner = thread->owner;
    if (!bytes || !is_made_before(owner, barrier, site)) return;
    tell(owner, barrier, (tile_emu_scope)scope, site);
    land(owner, barrier, bytes);
    owner->block->progress = true;
}

TILE_API void tile_emu_mbarrier_arrive(tile_emu_thread *thread, void *barrier, uint32_t count,
                                       uint32_t scope, uint32_t site)
{
    Thread *owner = thread->owner;
    if (!count) return;
    arrive(owner, barrier, (tile_emu_scope)scope, site);
    owner->block->progress = true;
}

/* ---- arrivals to come ---- */

TILE_API void tile_emu_copy_arrive(tile_emu_thread *thread, void *barrier, uint32_t extra,
                                   uint32_t site)
{
    Thread *owner = thread->owner;
    Block *block = owner->block;
    Arrival *arrival = block->free_arrivals;
    if (arrival)
        block->free_arrivals = arrival->next;
    else
        arrival = tile_emu_block_memory(block, sizeof *arrival);
    if (!arrival || !is_made_before(owner, barrier, site)) return;
    if (extra) ((Barrier *)barrier)->pending++;
    *arrival = (Arrival){.barrier = barrier,
                         .thread = owner,
                         .copies = tile_emu_take_copies(owner),
                         .group = owner->copy_group,
                         .site = site};
    if (thread->checked & TILE_EMU_CHECKED)
        arrival->begun = tile_emu_order_begin(block->launch->checker->order, owner, site);
    *(block->last_arrival ? &block->last_arrival->next : &block->first_arrival) = arrival;
    block->last_arrival = arrival;
}

static void settle(Block *block, Arrival **link, Arrival *previous)
{
    Arrival *arrival = *link;
    *link = arrival->next;
    if (!arrival->next) block->last_arrival = previous;
    if (arrival->thread->abi.checked & TILE_EMU_CHECKED) block->now++;
    tile_emu_land_copies(arrival->thread, arrival->begun, arrival->copies);
    if (is_made(arrival->thread, arrival->barrier, arrival->site)) {
        tell_landed(arrival->thread, arrival->begun, arrival->barrier, arrival->site);
        count_arrival(arrival->thread, arrival->barrier, arrival->site);
    }
    arrival->next = block->free_arrivals;
    block->free_arrivals = arrival;
    block->progress = true;
}

void tile_emu_settle_own(Thread *thread, int32_t groups)
{
    Block *block = thread->block;
    Arrival *previous = NULL;
    for (Arrival **link = &block->first_arrival; *link;) {
        Arrival *arrival = *link;
        const bool landed = groups < 0 || arrival->group + (uint32_t)groups < thread->copy_group;
        if (arrival->thread == thread && landed) {
            settle(block, link, previous);
        } else {
            previous = arrival;
            link = &arrival->next;
        }
    }
}

static bool is_complete(const Barrier *barrier, uint32_t parity)
{
    return barrier->phase != (parity & 1);
}

TILE_API uint32_t tile_emu_mbarrier_phase(tile_emu_thread *thread, void *barrier, uint32_t unused,
                                          uint32_t site)
{
    (void)unused;
    if (!is_made_before(thread->owner, barrier, site)) return 0;
    return ((const Barrier *)barrier)->phase;
}

void tile_emu_awaited_text(const Thread *thread, char text[AWAITED_TEXT])
{
    const Barrier *barrier = thread->awaited;
    if (!barrier) {
        const Team *team = thread->block->team;
        char behind[96] = "";
        if (team->launch->next_block < team->launch->block_count)
            snprintf(behind, sizeof behind,
                     ": blocks behind the %u that are there begin when these have ended",
                     team->count);
        snprintf(text, AWAITED_TEXT, "for memory that nobody writes any more%s", behind);
        return;
    }
    char bytes[64] = "";
    const int64_t missing = barrier->bytes;
    if (missing)
        snprintf(bytes, sizeof bytes,
                 missing < 0 ? ", %lld bytes have landed that were not expected"
                             : " and %lld bytes",
                 (long long)(missing < 0 ? -missing : missing));
    snprintf(text, AWAITED_TEXT,
             "for the phase of parity %u of the mbarrier at byte %u of shared memory, where %u of "
             "%u arrivals%s are missing%s and nobody arrives any more",
             thread->parity, (unsigned)((const uint8_t *)barrier - thread->block->shared),
             (unsigned)barrier->pending, (unsigned)barrier->expected, missing > 0 ? bytes : "",
             missing < 0 ? bytes : "");
}

TILE_API uint32_t tile_emu_mbarrier_test(tile_emu_thread *thread, void *barrier, uint32_t parity,
                                         uint32_t scope, uint32_t site)
{
    Thread *owner = thread->owner;
    Block *block = owner->block;
    Arrival *previous = NULL;
    if (!is_made_before(owner, barrier, site)) return 0;
    for (Arrival **link = &block->first_arrival; *link && !is_complete(barrier, parity);) {
        if ((*link)->barrier == barrier) {
            settle(block, link, previous);
        } else {
            previous = *link;
            link = &previous->next;
        }
    }
    while (!is_complete(barrier, parity) && tile_emu_land_box(block, barrier)) continue;
    owner->awaited = is_complete(barrier, parity) ? NULL : barrier;
    owner->parity = parity & 1;
    if (owner->awaited) return 0;
    block->progress = true;
    if (thread->checked & TILE_EMU_CHECKED)
        tile_emu_order_await(block->launch->checker->order, owner, (uintptr_t)barrier,
                             (tile_emu_scope)scope);
    return 1;
}
