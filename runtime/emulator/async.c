/* async.c: cp.async, from its definition in the PTX ISA manual. A copy lands when its thread waits
 * for it: between the start and the wait its destination is nobody's, and its source is to stay. So
 * both are checked as accesses at the start, and again at the end, of the thread, or, if an
 * mbarrier was told to count the copy, of something that the thread has begun; and of what the
 * thread copied itself, that nothing was written in between. */
#include <inttypes.h>
#include <string.h>

#include "emulator/checker.h"

typedef struct Copy Copy;
struct Copy {
    Copy *next;
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes, inside, group, site;
    uint32_t begun, event; /* the block's clock then, and what was known */
    uint16_t passed;       /* fault_injection.c */
};

/* ---- destinations ---- */

void tile_emu_mark_copy(Block *block, const uint8_t *to, uint32_t bytes, uint32_t site)
{
    Watch *watch = block->watch;
    const uintptr_t offset = (uintptr_t)to - (uintptr_t)block->shared;
    const uint32_t size = block->launch->entry->shared_bytes;
    if (!watch || offset >= size || bytes > size - offset || offset % 4 != 0) return;
    for (uint32_t i = 0; i < bytes / 4; i++) watch->copy_site[offset / 4 + i] = site;
    watch->copy_count += site ? 1u : -1u;
}

void tile_emu_check_copies(const Request *request)
{
    const Block *block = request->block;
    const uint32_t *words = request->home->watch->copy_site;
    const size_t first = (request->address - (uintptr_t)request->home->shared) / 4;
    const size_t last =
        (request->address + request->bytes - 1 - (uintptr_t)request->home->shared) / 4;
    uint32_t site = 0;
    for (size_t i = first; i <= last && !site; i++) site = words[i];
    if (!site) return;
    char where[PLACE_TEXT], place[PLACE_TEXT];
    tile_emu_fault_add(block->launch, FAULT_UNFINISHED, request->site, site - 1,
                       "thread %u of block (%u, %u, %u) %s %u bytes %s, to which a copy is in "
                       "flight that nobody has waited for; it was started at %s",
                       request->thread->abi.index, block->index[0], block->index[1],
                       block->index[2], tile_emu_verb(request->kind), request->bytes,
                       tile_emu_address_text(request, where),
                       tile_emu_place(block->launch, site - 1, place));
}

/* ---- copies ---- */

static Copy *copy_new(Block *block)
{
    Copy *copy = block->free_copies;
    if (!copy) return tile_emu_block_memory(block, sizeof *copy);
    block->free_copies = copy->next;
    return copy;
}

static Request request_of(Thread *thread, const Copy *copy, uint32_t kind)
{
    const void *address = kind == TILE_EMU_READ ? copy->from : copy->to;
    return (Request){.thread = thread,
                     .block = thread->block,
                     .address = (uintptr_t)address,
                     .bytes = copy->bytes,
                     .kind = kind,
                     .space = kind == TILE_EMU_READ ? TILE_EMU_GLOBAL : TILE_EMU_SHARED,
                     .site = copy->site};
}

static void note_start(Thread *thread, const Copy *copy)
{
    const Request reads = request_of(thread, copy, TILE_EMU_READ),
                  writes = request_of(thread, copy, TILE_EMU_WRITE);
    if (!thread->block->launch->checker) return;
    if (copy->inside) tile_emu_check(&reads);
    tile_emu_check(&writes);
}

TILE_API void tile_emu_copy_async(tile_emu_thread *thread, void *to, const void *from,
                                  uint32_t bytes, uint32_t inside, uint32_t active, uint32_t site)
{
    Thread *owner = thread->owner;
    const uint16_t passed = tile_emu_take_passed(owner);
    Copy *copy = active ? copy_new(owner->block) : NULL;
    if (!copy) return;
    *copy = (Copy){.to = to,
                   .from = from,
                   .bytes = bytes,
                   .inside = inside,
                   .group = owner->copy_group,
                   .site = site,
                   .begun = owner->block->now++,
                   .event = owner->event,
                   .passed = passed};
    note_start(owner, copy);
    tile_emu_mark_copy(owner->block, to, bytes, site + 1);
    *(owner->last_copy ? &owner->last_copy->next : &owner->first_copy) = copy;
    owner->last_copy = copy;
}

TILE_API void tile_emu_copy_commit(tile_emu_thread *thread)
{
    ((Thread *)thread->owner)->copy_group++;
}

/* At `begun` if that is not 0: the thread may be elsewhere. */
static void *check_end(Thread *thread, uint32_t begun, const Copy *copy, uint32_t kind)
{
    Request request = request_of(thread, copy, kind);
    request.unit = begun != 0;
    request.event = begun ? begun : copy->event;
    request.begun = begun || kind != TILE_EMU_READ ? 0 : copy->begun;
    return thread->abi.checked & TILE_EMU_CHECKED ? tile_emu_move(&request)
                                                  : (void *)request.address;
}

static void land(Thread *thread, uint32_t begun, Copy *copy)
{
    const bool unconfined = thread->passing.unconfined;
    uint8_t bytes[16] = {0};
    tile_emu_cycle_changed(thread->block);
    tile_emu_mark_copy(thread->block, copy->to, copy->bytes, 0);
    if (copy->inside) memcpy(bytes, check_end(thread, begun, copy, TILE_EMU_READ), copy->bytes);
    thread->passing.unconfined = unconfined;
    memcpy(check_end(thread, begun, copy, TILE_EMU_WRITE), bytes, copy->bytes);
}

struct Copy *tile_emu_take_copies(Thread *thread)
{
    Copy *copies = thread->first_copy;
    thread->first_copy = thread->last_copy = NULL;
    return copies;
}

static void finish(Thread *thread, uint32_t begun, Copy *copy)
{
    Block *block = thread->block;
    tile_emu_note_completion(thread, copy->passed, copy->site, true);
    land(thread, begun, copy);
    copy->next = block->free_copies;
    block->free_copies = copy;
}

void tile_emu_land_copies(Thread *thread, uint32_t begun, Copy *copies)
{
    for (Copy *next; copies; copies = next) {
        next = copies->next;
        finish(thread, begun, copies);
    }
}

TILE_API void tile_emu_copy_wait(tile_emu_thread *thread, int32_t groups)
{
    Thread *owner = thread->owner;
    tile_emu_settle_own(owner, groups);
    while (owner->first_copy) {
        Copy *copy = owner->first_copy;
        if (groups >= 0 && copy->group + (uint32_t)groups >= owner->copy_group) return;
        owner->first_copy = copy->next;
        if (!copy->next) owner->last_copy = NULL;
        finish(owner, 0, copy);
    }
}

void tile_emu_note_unused(Block *block)
{
    for (uint32_t i = 0; i < block->thread_count; i++) {
        const Copy *copy = block->threads[i].first_copy;
        if (copy) tile_emu_note_completion(&block->threads[i], copy->passed, copy->site, false);
    }
}
