/* async.c: cp.async, from its definition in the PTX ISA manual. A copy lands when its thread waits
 * for it: between the start and the wait its destination is nobody's, and both the destination at
 * the start and all of it at the end are checked as accesses of the thread. */
#include <inttypes.h>
#include <string.h>

#include "emulator/emulator.h"

typedef struct Copy Copy;
struct Copy {
    Copy *next;
    uint8_t *to;
    const uint8_t *from;
    uint32_t bytes, inside, group, site;
    uint16_t passed; /* left_out.c */
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
                       "thread %u of block (%u, %u, %u) %s %u bytes %s, to which a copy is under "
                       "way that nobody has waited for; it was started at %s",
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

static void note_destination(Thread *thread, const Copy *copy)
{
    if (!thread->block->launch->checker) return;
    const Request request = {.thread = thread,
                             .block = thread->block,
                             .address = (uintptr_t)copy->to,
                             .bytes = copy->bytes,
                             .kind = TILE_EMU_WRITE,
                             .space = TILE_EMU_SHARED,
                             .site = copy->site};
    tile_emu_check(&request);
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
                   .passed = passed};
    note_destination(owner, copy);
    tile_emu_mark_copy(owner->block, to, bytes, site + 1);
    *(owner->last_copy ? &owner->last_copy->next : &owner->first_copy) = copy;
    owner->last_copy = copy;
}

TILE_API void tile_emu_copy_commit(tile_emu_thread *thread)
{
    ((Thread *)thread->owner)->copy_group++;
}

static void land(Thread *thread, Copy *copy)
{
    const bool checked = thread->abi.checked != 0, unconfined = thread->passing.unconfined;
    uint8_t *to = copy->to;
    const void *from = copy->from;
    tile_emu_mark_copy(thread->block, to, copy->bytes, 0);
    if (checked && copy->inside)
        from = tile_emu_access(&thread->abi, (void *)(uintptr_t)from, copy->bytes, TILE_EMU_READ,
                               TILE_EMU_GLOBAL, copy->site);
    uint8_t bytes[16] = {0};
    if (copy->inside) memcpy(bytes, from, copy->bytes);
    thread->passing.unconfined = unconfined;
    if (checked)
        to = tile_emu_access(&thread->abi, to, copy->bytes, TILE_EMU_WRITE, TILE_EMU_SHARED,
                             copy->site);
    memcpy(to, bytes, copy->bytes);
}

struct Copy *tile_emu_take_copies(Thread *thread)
{
    Copy *copies = thread->first_copy;
    thread->first_copy = thread->last_copy = NULL;
    return copies;
}

static void finish(Thread *thread, Copy *copy)
{
    Block *block = thread->block;
    tile_emu_note_completion(thread, copy->passed, copy->site, true);
    land(thread, copy);
    copy->next = block->free_copies;
    block->free_copies = copy;
}

void tile_emu_land_copies(Thread *thread, Copy *copies)
{
    for (Copy *next; copies; copies = next) {
        next = copies->next;
        finish(thread, copies);
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
        finish(owner, copy);
    }
}

void tile_emu_note_unused(Block *block)
{
    for (uint32_t i = 0; i < block->thread_count; i++) {
        const Copy *copy = block->threads[i].first_copy;
        if (copy) tile_emu_note_completion(&block->threads[i], copy->passed, copy->site, false);
    }
}
