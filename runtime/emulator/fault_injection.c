/* fault_injection.c: code may be compiled to do without one of its ops, to see whether the checks
 * find that. Which one is the process's to say; it is told which ones threads came to, and, where
 * nobody misses the op, why.
 *
 * For that each thread counts how often it has passed the place of the op, and what it does is
 * marked with that number: of two accesses to the same bytes, one of which writes, the op would lie
 * between those whose marks say so. Either there are none, or something else orders them. */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

#include "emulator/checker.h"

enum { MOST = 1 << 18 /* numbers */, UNCONFINED = UINT16_MAX, MOST_PASSES = UNCONFINED - 1 };

typedef enum Finding { FOUND_NOTHING, FOUND_BEFORE, FOUND_BEHIND } Finding;

static struct {
    _Atomic uint32_t number; /* left out; 0: none */
    tile_emu_role role;
    atomic_bool stops;                      /* at the first fault */
    const tile_entry *_Atomic met_in[MOST]; /* by whose threads; NULL: nobody came to it */
    atomic_bool held[MOST];                 /* somebody came to a condition that held */
    bool chance;                            /* an atomic, or an arrival at an mbarrier, was met */
    bool atomics;                           /* were done: sums of floats may come out otherwise */
    uint64_t digest;                        /* of memory at the ends of launches */
    Finding finding;
    char text[2 * PLACE_TEXT];
} the;

TILE_API void tile_emulator_leave_out(uint32_t number)
{
    the.number = number;
    the.role = TILE_EMU_MEETS;
    the.finding = FOUND_NOTHING;
    the.chance = the.atomics = false;
    the.digest = 0;
}

TILE_API void tile_emulator_stop_at_fault(int stops)
{
    the.stops = stops != 0;
}

bool tile_emu_stops_at_fault(void)
{
    return the.stops;
}

TILE_API int tile_emulator_came_to(uint32_t number)
{
    return number >= MOST || the.met_in[number] ? 2 : the.held[number];
}

bool tile_emu_seeks_evidence(void)
{
    return the.number != 0;
}

void tile_emu_note_chance(void)
{
    the.chance = true;
}

TILE_API int tile_emulator_goes_by_chance(void)
{
    return the.atomics ? 2 : the.chance;
}

void tile_emu_note_atomic(void)
{
    the.atomics = true;
}

void tile_emu_note_end(void)
{
    if (the.stops) the.digest = 3 * the.digest + tile_digest_allocations();
}

TILE_API uint64_t tile_emulator_digest(void)
{
    return the.digest;
}

bool tile_emu_is_whole(const tile_entry *entry)
{
    const tile_entry *lacks = the.number && the.number < MOST ? the.met_in[the.number] : NULL;
    return lacks && lacks != entry;
}

/* ---- marks ---- */

static void pass(Thread *thread)
{
    Passing *passing = &thread->passing;
    if (the.role == TILE_EMU_CONFINES) {
        passing->unconfined = true;
        return;
    }
    passing->count += passing->count < MOST_PASSES;
    passing->event = thread->event;
    passing->barrier_stamp = thread->block->barrier_stamp;
    passing->sync_stamp = thread->block->sync_stamp[thread->warp];
}

TILE_API uint32_t tile_emu_inject_fault(tile_emu_thread *thread, uint32_t number, uint32_t role,
                                        uint32_t holds)
{
    if (holds) {
        if (number < MOST) atomic_store_explicit(&the.held[number], true, memory_order_relaxed);
        return 1;
    }
    const tile_entry *entry = ((Thread *)thread->owner)->block->launch->entry;
    if (number < MOST) atomic_store_explicit(&the.met_in[number], entry, memory_order_relaxed);
    if (number != atomic_load_explicit(&the.number, memory_order_relaxed)) return 0;
    the.role = (tile_emu_role)role;
    pass(thread->owner);
    return 1;
}

uint16_t tile_emu_passed(const Thread *thread)
{
    return thread->passing.unconfined ? UNCONFINED : thread->passing.count;
}

uint16_t tile_emu_take_passed(Thread *thread)
{
    const uint16_t passed = tile_emu_passed(thread);
    thread->passing.unconfined = false;
    return passed;
}

/* ---- accesses that meet ---- */

const Thread *tile_emu_thread_of(const Access *access, const Team *team)
{
    const uint32_t place = access->block - team->first_id;
    return place < team->count ? &team->blocks[place].threads[access->thread] : NULL;
}

/* Whether the op would lie between the two. */
static bool lies_between(const Access *before, const Request *request)
{
    const Thread *earlier = tile_emu_thread_of(before, request->block->team),
                 *later = request->thread;
    switch (the.role) {
    case TILE_EMU_MEETS: return before->passed < later->passing.count;
    case TILE_EMU_RELEASES: return earlier && before->passed < earlier->passing.count;
    case TILE_EMU_CONFINES: return before->passed == UNCONFINED || later->passing.unconfined;
    default: return false;
    }
}

static bool is_own(const Access *before, const Request *request)
{
    return before->block == request->block->id && before->scope == SCOPE_THREAD &&
           before->thread == request->thread->abi.index;
}

/* Whether the thread knew of the access when it passed. */
static bool was_known(const Access *before, const Request *request, Order *order)
{
    const Thread *thread = request->thread;
    const Passing *passing = &thread->passing;
    if (the.role != TILE_EMU_MEETS) return false;
    if (before->block == request->block->id && before->scope != SCOPE_GRID) {
        if (before->stamp < passing->barrier_stamp) return true;
        if (before->scope <= SCOPE_WARP && before->thread / LANES == thread->warp &&
            before->stamp < passing->sync_stamp)
            return true;
    }
    return tile_emu_order_knows(order, passing->event, before);
}

/* What the pair is ordered by; false: by nothing. */
static bool find_order(const Access *before, const Request *request, Order *order, uint32_t *site)
{
    const Block *block = request->block;
    if (tile_emu_shadow_is_ordered(before, request)) {
        *site = before->stamp < block->barrier_stamp ? block->barrier_site
                                                     : block->sync_site[request->thread->warp];
        return true;
    }
    *site = tile_emu_order_site(order, tile_emu_known_to(request), before);
    return *site != NO_SITE || tile_emu_order_knows(order, tile_emu_known_to(request), before);
}

static void found(Finding finding, const Launch *launch, const char *what, uint32_t site)
{
    char place[PLACE_TEXT];
    if (the.finding >= finding) return;
    the.finding = finding;
    snprintf(the.text, sizeof the.text, what, tile_emu_place(launch, site, place));
}

void tile_emu_note_barrier(const Access *before, const Request *request, Order *order)
{
    uint32_t site;
    const bool gone = !before->block || (request->space == TILE_EMU_SHARED &&
                                         before->block < request->block->team->first_id);
    if (the.finding == FOUND_BEHIND || gone || is_own(before, request) ||
        !lies_between(before, request) || !find_order(before, request, order, &site))
        return;
    const Launch *launch = request->block->launch;
    if (!was_known(before, request, order))
        found(FOUND_BEHIND, launch, "ordered by %s, too", site);
    else if (request->proxy != PROXY_ANY)
        found(FOUND_BEFORE, launch, "ordered before, by %s", site);
}

/* ---- what is begun, what is shown ---- */

void tile_emu_note_completion(Thread *thread, uint16_t passed, uint32_t site, bool used)
{
    const Launch *launch = thread->block->launch;
    if (the.role == TILE_EMU_CONFINES) thread->passing.unconfined = passed == UNCONFINED;
    if (the.role != TILE_EMU_COMPLETES || passed >= thread->passing.count) return;
    if (used)
        found(FOUND_BEHIND, launch, "what %s began is waited for later, too", site);
    else
        found(FOUND_BEFORE, launch, "nobody uses what %s began", site);
}

void tile_emu_note_shown(const Thread *user, uint16_t passed, const Thread *by)
{
    const bool fenced = passed < user->passing.count || passed < by->passing.count;
    if (the.role == TILE_EMU_SHOWS && fenced)
        found(FOUND_BEHIND, user->block->launch, "another fence shows what was written, too",
              NO_SITE);
}

TILE_API int tile_emulator_evidence(const char **text)
{
    static const char *const NOTHING[] = {
        [TILE_EMU_MEETS] = "no two threads meet across it",
        [TILE_EMU_RELEASES] = "no two threads meet across it",
        [TILE_EMU_COMPLETES] = "nothing is in flight",
        [TILE_EMU_SHOWS] = "nothing that it shows is used",
        [TILE_EMU_CONFINES] = "what others do as well matters to nobody",
        [TILE_EMU_GIVES] = "others have registers enough",
    };
    *text = the.finding == FOUND_NOTHING ? NOTHING[the.role] : the.text;
    return (int)the.finding;
}
