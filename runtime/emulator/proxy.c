/* proxy.c: the asynchronous proxy, by which the tensor core and TMA use shared memory (PTX ISA
 * manual, "Async proxy", and "Proxy-preserved base causality order"). They see what a thread wrote,
 * and write behind what a thread has read, where a fence of the proxies stands on the way from the
 * one to the other: of that thread, or of one that knew of it, and known to who begins the copy or
 * product. Barriers and mbarriers alone order neither: boxes landed in shared memory that warps
 * were still to read, whose loads stood before a bar.sync, or an arrival at an mbarrier (seen on an
 * H200: one tile of 150).
 *
 * The other way needs no fence: what copies and products have done is shown by what waits for them
 * (async.c, wgmma.c, tma.c). */
#include "emulator/checker.h"

enum { CHUNK = 16 };

/* ---- what is done ---- */

static void check_readings(const Request *request, size_t begin)
{
    const Block *block = request->block;
    const uint32_t *chunks = request->home->watch->reading_site;
    uint32_t site = 0;
    for (size_t i = begin / CHUNK; i <= (begin + request->bytes - 1) / CHUNK && !site; i++)
        site = chunks[i];
    if (!site) return;
    char where[PLACE_TEXT], place[PLACE_TEXT];
    tile_emu_fault_add(block->launch, FAULT_READING, request->site, site - 1,
                       "thread %u of block (%u, %u, %u) writes %u bytes %s, which the tensor core "
                       "or unit may still read, as nobody has waited for it; it was started at %s",
                       request->thread->abi.index, block->index[0], block->index[1],
                       block->index[2], request->bytes, tile_emu_address_text(request, where),
                       tile_emu_place(block->launch, site - 1, place));
}

/* A thread's own, or of a copy by it. What was done before it is written comes before that. */
static void note_generic(const Request *request, size_t begin)
{
    Watch *watch = request->home->watch;
    const bool reads = request->kind == TILE_EMU_READ,
               whole = !request->bits && begin % 4 == 0 && request->bytes % 4 == 0;
    const Trace *trace = reads ? &watch->read : &watch->written;
    const uint32_t warp = request->thread->warp;
    Use *uses = trace->uses + warp * watch->words;
    const Use use = {.stamp = request->block->now,
                     .site = request->site,
                     .passed = tile_emu_passed(request->thread),
                     .thread = (uint16_t)(request->thread->abi.index),
                     .unit = request->unit,
                     .rank = request->block->rank};
    for (size_t i = begin / 4; i <= (begin + request->bytes - 1) / 4; i++) {
        if (!reads && whole) watch->read.warps[i] = watch->written.warps[i] = 0;
        trace->warps[i] |= 1u << warp;
        uses[i] = use;
    }
}

void tile_emu_note_use(const Request *request)
{
    const size_t begin = request->address - (uintptr_t)request->home->shared;
    if (request->proxy == PROXY_ASYNC && request->kind != TILE_EMU_READ)
        tile_emu_note_async_write(request);
    if (request->proxy != PROXY_GENERIC) return;
    if (request->kind != TILE_EMU_READ) check_readings(request, begin);
    note_generic(request, begin);
}

void tile_emu_note_async_write(const Request *request)
{
    Watch *watch = request->home->watch;
    const size_t begin = request->address - (uintptr_t)request->home->shared;
    check_readings(request, begin);
    for (size_t i = begin / 4; i <= (begin + request->bytes - 1) / 4; i++)
        watch->written.warps[i] = watch->read.warps[i] = 0;
}

/* ---- fences ---- */

static Fence fence_of(Thread *thread)
{
    Block *block = thread->block;
    return (Fence){.event = thread->event,
                   .barrier_stamp = block->barrier_stamp,
                   .sync_stamp = block->sync_stamp[thread->warp],
                   .stamp = ++block->now};
}

/* The same of global memory, of what `before` has written. Of blocks that have ended their threads'
 * fences are not known: any may have been one. */
bool tile_emu_global_is_shown(const Thread *reader, const Access *before)
{
    const Team *team = reader->block->team;
    const Fence *fence = &reader->global_fence;
    const Thread *writer = tile_emu_thread_of(before, team);
    if (writer ? before->stamp < writer->global_fence.stamp : reader->block->launch->fenced_global)
        return true;
    if (before->block == reader->block->id && before->stamp < fence->barrier_stamp) return true;
    return tile_emu_order_knows(reader->block->launch->checker->order, fence->event, before);
}

TILE_API void tile_emu_fence_async(tile_emu_thread *thread, uint32_t what)
{
    Thread *owner = thread->owner;
    if (!(thread->checked & TILE_EMU_CHECKED)) return;
    Fence fence = fence_of(owner);
    if (what == TILE_EMU_FENCE_GLOBAL) {
        owner->global_fence = fence;
        owner->block->launch->fenced_global = true;
        return;
    }
    fence.made = what == TILE_EMU_FENCE_MADE;
    owner->fences[owner->fence_count++ % KEPT_FENCES] = fence;
    owner->has_untold = false;
}

/* The thread's kept fences have these numbers. */
static uint32_t first_kept(const Thread *thread)
{
    return thread->fence_count < KEPT_FENCES ? 0 : thread->fence_count - KEPT_FENCES;
}

static bool is_for(const Fence *fence, const Shown *shown)
{
    return shown->made || !fence->made;
}

static Access access_of(const Thread *thread, uint32_t stamp, const Shown *shown)
{
    return (Access){.block = thread->block->id,
                    .stamp = stamp,
                    .thread = (uint16_t)thread->abi.index,
                    .scope = SCOPE_THREAD,
                    .reads = shown->reads,
                    .warps = 1u << thread->warp};
}

/* Whether all that `by` does now comes behind what a thread did at `stamp`. */
static bool knows(const Thread *by, const Thread *thread, uint32_t stamp, const Shown *shown)
{
    const Block *block = by->block;
    if (by == thread) return true;
    if (block == thread->block &&
        (stamp < block->barrier_stamp ||
         (by->warp == thread->warp && stamp < block->sync_stamp[by->warp])))
        return true;
    const Access access = access_of(thread, stamp, shown);
    return tile_emu_order_knows(block->launch->checker->order, by->event, &access);
}

/* The first fence of the one that did it which comes behind that is known to `by`. If it is not
 * kept it may have been. */
static bool is_fenced_by_user(const Thread *by, const Shown *shown)
{
    const Thread *user = shown->user;
    const uint32_t first = first_kept(user);
    for (uint32_t i = first; i < user->fence_count; i++) {
        const Fence *fence = &user->fences[i % KEPT_FENCES];
        if (fence->stamp > shown->stamp && is_for(fence, shown))
            return (i == first && first) || knows(by, user, fence->stamp, shown);
    }
    return false;
}

/* The last fence of `thread` that is known to `by` comes behind it. */
static bool is_fenced_by(const Thread *thread, const Thread *by, const Shown *shown)
{
    const Thread *user = shown->user;
    for (uint32_t i = thread->fence_count; i > first_kept(thread); i--) {
        const Fence *fence = &thread->fences[(i - 1) % KEPT_FENCES];
        if (fence->stamp < shown->stamp && thread->block == user->block) return false;
        if (!is_for(fence, shown) || !knows(by, thread, fence->stamp, shown)) continue;
        if (thread->block == user->block &&
            (shown->stamp < fence->barrier_stamp ||
             (!shown->unit && thread->warp == user->warp && shown->stamp < fence->sync_stamp)))
            return true;
        Access access = access_of(user, shown->stamp, shown);
        access.unit = shown->unit;
        return tile_emu_order_knows(thread->block->launch->checker->order, fence->event, &access);
    }
    return false;
}

/* ---- what is shown ---- */

/* By one of the two, as most are. Reads of another block's memory a thread's own fence puts before
 * what it tells of them; what it wrote there, that block has to show. */
static bool is_shown(const Thread *by, const Block *home, const Shown *shown)
{
    const bool own = !shown->unit && (shown->reads || shown->user->block == home);
    return (own && is_fenced_by_user(by, shown)) || is_fenced_by(by, by, shown);
}

/* By any thread of the block whose memory it is. */
static bool is_shown_by_others(const Thread *by, const Block *home, const Shown *shown)
{
    for (uint32_t i = 0; i < home->thread_count; i++)
        if (is_fenced_by(&home->threads[i], by, shown)) return true;
    return false;
}

bool tile_emu_check_shown(const Request *request, const char *what, const Shown *shown)
{
    const Block *block = request->block, *home = tile_emu_home(request->block, request->address);
    const FaultKind kind = shown->reads ? FAULT_UNFENCED_READ : FAULT_UNFENCED_WRITE;
    if (is_shown(request->thread, home, shown)) {
        tile_emu_note_shown(shown->user, shown->passed, request->thread);
        return true;
    }
    if (!tile_emu_fault_is_new(block->launch, kind, request->site, shown->site)) return false;
    if (is_shown_by_others(request->thread, home, shown)) return true;
    char where[PLACE_TEXT], place[PLACE_TEXT];
    Request named = *request;
    named.home = tile_emu_home(request->block, request->address);
    tile_emu_fault_add(block->launch, kind, request->site, shown->site,
                       "%s for thread %u of block (%u, %u, %u) %u bytes %s, which thread %u has "
                       "%s at %s and not fenced since (fence.proxy.async)",
                       what, request->thread->abi.index, block->index[0], block->index[1],
                       block->index[2], request->bytes, tile_emu_address_text(&named, where),
                       shown->user->abi.index, shown->reads ? "read" : "written",
                       tile_emu_place(block->launch, shown->site, place));
    return false;
}

/* Of one word, what each warp did last. */
static bool check_word(const Request *request, const Block *home, const Trace *trace, size_t word,
                       const char *what)
{
    for (uint32_t rest = trace->warps[word]; rest; rest &= rest - 1) {
        const Use *use = &trace->uses[__builtin_ctz(rest) * home->watch->words + word];
        const Shown shown = {.user = &home->cluster->blocks[use->rank].threads[use->thread],
                             .stamp = use->stamp,
                             .site = use->site,
                             .passed = use->passed,
                             .reads = trace == &home->watch->read,
                             .unit = use->unit};
        if (!tile_emu_check_shown(request, what, &shown)) return false;
    }
    return true;
}

void tile_emu_check_proxy(const Request *request, const char *what)
{
    const Block *home = tile_emu_home(request->block, request->address);
    const Watch *watch = home->watch;
    const size_t offset = request->address - (uintptr_t)home->shared;
    const bool writes = request->kind != TILE_EMU_READ;
    if (offset + request->bytes > home->launch->entry->shared_bytes) return;
    for (size_t i = offset / 4; i < (offset + request->bytes) / 4; i++)
        if (!check_word(request, home, &watch->written, i, what) ||
            (writes && !check_word(request, home, &watch->read, i, what)))
            return;
}
