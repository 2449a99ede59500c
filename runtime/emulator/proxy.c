/* proxy.c: the asynchronous proxy, by which the tensor core and TMA use shared memory
 * (PTX ISA manual, "Async proxy"): they see what a thread wrote when it has fenced, or one that
 * knew of it; and so they may write what a thread has read. A barrier of threads alone does not
 * wait for what they read: it orders them where all go through one pipe, which TMA
 * passes by (seen on an H200: boxes landed in shared memory that warps were still to read, whose
 * loads stood before a bar.sync and waited for the banks). An arrival at an mbarrier does come
 * behind the reads before it, and an arrival at the cluster's barrier waits for them. */
#include "emulator/checker.h"

enum {
    CHUNK = 16,
    THREAD_BITS = 11,        /* of a Trace's mark */
    UNIT = 1 << THREAD_BITS, /* of a copy of the thread's; fences above */
    FENCE_BITS = 12
};

static uint32_t mark_of(const Thread *thread)
{
    return (thread->abi.index + 1) | thread->fences << FENCE_BITS;
}

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

/* A thread's own, or of a copy by it. What was read before it is written comes before that. */
static void note_generic(const Request *request, size_t begin)
{
    Watch *watch = request->home->watch;
    const bool reads = request->kind == TILE_EMU_READ;
    Trace *trace = reads ? &watch->read : &watch->written;
    for (size_t i = begin / 4; i <= (begin + request->bytes - 1) / 4; i++) {
        if (!reads) watch->read.mark[i] = 0;
        trace->mark[i] = mark_of(request->thread) | (request->unit ? (uint32_t)UNIT : 0);
        trace->stamp[i] = request->block->now;
        trace->passed[i] = tile_emu_passed(request->thread);
        trace->rank[i] = (uint8_t)request->block->rank;
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
        watch->written.mark[i] = watch->read.mark[i] = 0;
}

/* ---- fences ---- */

/* Behind its stamps no write that was before the fence has one of after it. */
static void fence_global(Thread *owner)
{
    owner->global_fence = (GlobalFence){.event = owner->event,
                                        .barrier_stamp = owner->block->barrier_stamp,
                                        .stamp = ++owner->block->now};
    owner->block->launch->fenced_global = true;
}

/* The same of global memory, of what `before` has written. Of blocks that have ended their threads'
 * fences are not known: any may have been one. */
bool tile_emu_global_is_shown(const Thread *reader, const Access *before)
{
    const Team *team = reader->block->team;
    const GlobalFence *fence = &reader->global_fence;
    const Thread *writer = tile_emu_thread_of(before, team);
    if (writer ? before->stamp < writer->global_fence.stamp : reader->block->launch->fenced_global)
        return true;
    if (before->block == reader->block->id && before->stamp < fence->barrier_stamp) return true;
    return tile_emu_order_knows(reader->block->launch->checker->order, fence->event, before);
}

TILE_API void tile_emu_fence_async(tile_emu_thread *thread, uint32_t what)
{
    Thread *owner = thread->owner;
    if (what == TILE_EMU_FENCE_GLOBAL) {
        if (thread->checked & TILE_EMU_CHECKED) fence_global(owner);
        return;
    }
    owner->tellings++;
    owner->has_untold = false;
    if (what == TILE_EMU_FENCE_MADE) return;
    owner->fences++;
    owner->fence_event = owner->event;
    owner->fence_stamp = owner->block->barrier_stamp;
}

/* ---- what is shown ---- */

static Access access_of(const Shown *shown)
{
    const Thread *thread = shown->writer;
    return (Access){.block = thread->block->id,
                    .stamp = shown->stamp,
                    .thread = (uint16_t)thread->abi.index,
                    .scope = SCOPE_THREAD,
                    .reads = shown->reads,
                    .unit = shown->unit,
                    .warps = 1u << thread->warp};
}

/* The writer has fenced since, which is for its own block's memory, or the reader has, when it knew
 * of the write. */
bool tile_emu_is_shown(const Thread *reader, const Block *home, const Shown *shown)
{
    const Thread *writer = shown->writer;
    if (shown->since && writer->block == home) return true;
    if (writer->block == reader->block && shown->stamp < reader->fence_stamp) return true;
    const Access access = access_of(shown);
    return tile_emu_order_knows(home->launch->checker->order, reader->fence_event, &access);
}

void tile_emu_report_hidden(const Request *request, const char *what, const Shown *shown)
{
    const Block *block = request->block;
    char where[PLACE_TEXT];
    Request named = *request;
    named.home = tile_emu_home(request->block, request->address);
    tile_emu_fault_add(block->launch, FAULT_PROXY, request->site, NO_SITE,
                       "%s for thread %u of block (%u, %u, %u) %u bytes %s, which thread %u "
                       "%s and has not fenced since (fence.proxy.async)",
                       what, request->thread->abi.index, block->index[0], block->index[1],
                       block->index[2], request->bytes, tile_emu_address_text(&named, where),
                       shown->writer->abi.index, shown->reads ? "may not have read yet" : "wrote");
}

/* Whoever did it last has shown it, or it needs no showing: of one word. */
static bool check_word(const Request *request, const Block *home, const Trace *trace, size_t word,
                       const char *what)
{
    const uint32_t mark = trace->mark[word], index = mark & ((1u << THREAD_BITS) - 1);
    if (!index) return true;
    const Thread *thread = &home->cluster->blocks[trace->rank[word]].threads[index - 1];
    const Shown shown = {.writer = thread,
                         .stamp = trace->stamp[word],
                         .passed = trace->passed[word],
                         .reads = trace == &home->watch->read,
                         .unit = mark & UNIT,
                         .since = !(mark & UNIT) && mark != mark_of(thread)};
    if (tile_emu_is_shown(request->thread, home, &shown)) {
        tile_emu_note_shown(thread, shown.passed, request->thread);
        return true;
    }
    const Access access = access_of(&shown);
    if (shown.reads &&
        tile_emu_order_waited(home->launch->checker->order, request->thread->event, &access))
        return true;
    tile_emu_report_hidden(request, what, &shown);
    return false;
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
