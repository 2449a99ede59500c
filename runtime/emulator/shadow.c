/* shadow.c: races by happens-before. Every cell of memory remembers its last write, and since then
 * the reads (the epochs of FastTrack, Flanagan and Freund 2009) and the atomics, apart from both,
 * as these race with each other but not among themselves: of each width and scope. Threads of a GPU
 * are ordered by few things, so a clock needs no vector: an access comes before the present of
 * another thread of its block if it is older than the block's last barrier, or than their warp's
 * last, or is known by way of an atomic, or of a barrier of several blocks (order.c). Blocks are
 * not ordered among each other otherwise, launches are.
 *
 * A cell is as wide as the narrowest access to its page so far, from one bit to 16 bytes: narrower
 * accesses split the page's cells, and that loses nothing. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emulator/checker.h"

enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, WIDEST = 7 /* 128 bits */, CHUNK = 64 };

/* The atomics of one width and scope, as a set. */
typedef struct Updates Updates;
struct Updates {
    Access set;
    Updates *next;
};

typedef struct UpdatesChunk {
    struct UpdatesChunk *next;
    Updates items[CHUNK];
} UpdatesChunk;

typedef struct Cell {
    Access write, read;
    Updates *updates; /* since the last write */
} Cell;

typedef enum Mapped { MAPPED_UNKNOWN, MAPPED_YES, MAPPED_NO } Mapped;

typedef struct Page {
    Cell *cells;   /* NULL: nothing yet */
    uint8_t shift; /* a cell is 1 << shift bits */
    uint8_t mapped;
} Page;

struct Shadow {
    Page *shared; /* by offset; cells of earlier blocks tell themselves by their block */
    size_t shared_pages;
    Map pages; /* global memory: page number to Page */
    UpdatesChunk *chunks;
    Updates *free_updates;
};

Shadow *tile_emu_shadow_new(uint32_t shared_bytes)
{
    Shadow *shadow = calloc(1, sizeof *shadow);
    if (!shadow) return NULL;
    shadow->shared_pages = (shared_bytes >> PAGE_SHIFT) + 1;
    shadow->shared = calloc(shadow->shared_pages, sizeof *shadow->shared);
    if (shadow->shared) return shadow;
    free(shadow);
    return NULL;
}

void tile_emu_shadow_free(Shadow *shadow)
{
    if (!shadow) return;
    for (size_t i = 0; i < shadow->shared_pages; i++) free(shadow->shared[i].cells);
    for (size_t i = 0; i < shadow->pages.capacity; i++) {
        Page *page = (Page *)(uintptr_t)shadow->pages.values[i];
        if (page) free(page->cells);
        free(page);
    }
    for (UpdatesChunk *next, *chunk = shadow->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(shadow->shared);
    tile_emu_map_free(&shadow->pages);
    free(shadow);
}

/* ---- pages and cells ---- */

static Page *global_page(Shadow *shadow, uintptr_t address)
{
    uint64_t *place = tile_emu_map_at(&shadow->pages, address >> PAGE_SHIFT);
    if (!place) return NULL;
    if (!*place) *place = (uintptr_t)calloc(1, sizeof(Page));
    return (Page *)(uintptr_t)*place;
}

bool tile_emu_shadow_is_mapped(Shadow *shadow, uintptr_t address)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    Page *page = address >> PAGE_SHIFT ? global_page(shadow, address) : NULL;
    if (!page) return false;
    if (page->mapped == MAPPED_UNKNOWN) {
        unsigned char resident;
        bool none = mincore((void *)(address & ~(uintptr_t)(size - 1)), 1, &resident);
        page->mapped = none ? MAPPED_NO : MAPPED_YES;
    }
    return page->mapped == MAPPED_YES;
}

static void no_memory(const Request *request)
{
    request->block->launch->no_memory = request->block->launch->stopped = true;
}

static bool make_updates(Shadow *shadow)
{
    UpdatesChunk *chunk = malloc(sizeof *chunk);
    if (!chunk) return false;
    chunk->next = shadow->chunks;
    shadow->chunks = chunk;
    for (size_t i = 0; i < CHUNK; i++) {
        chunk->items[i].next = shadow->free_updates;
        shadow->free_updates = &chunk->items[i];
    }
    return true;
}

/* Puts the set before those of the list; false: there is no memory. */
static bool add_updates(Shadow *shadow, Updates **list, const Access *set)
{
    Updates *updates = shadow->free_updates;
    if (!updates && !make_updates(shadow)) return false;
    updates = shadow->free_updates;
    shadow->free_updates = updates->next;
    *updates = (Updates){*set, *list};
    *list = updates;
    return true;
}

static void forget_updates(Shadow *shadow, Cell *cell)
{
    Updates **end = &cell->updates;
    while (*end) end = &(*end)->next;
    *end = shadow->free_updates;
    shadow->free_updates = cell->updates;
    cell->updates = NULL;
}

static bool copy_cell(Shadow *shadow, const Cell *from, Cell *to)
{
    bool fine = true;
    *to = (Cell){from->write, from->read, NULL};
    for (const Updates *at = from->updates; at; at = at->next)
        fine &= add_updates(shadow, &to->updates, &at->set);
    return fine;
}

/* Makes the page's cells no wider than 1 << shift. */
static bool split_cells(Shadow *shadow, Page *page, uint32_t shift)
{
    if (page->cells && page->shift <= shift) return true;
    const size_t count = (size_t)PAGE_BYTES * 8 >> shift;
    Cell *cells = page->cells ? malloc(count * sizeof *cells) : calloc(count, sizeof *cells);
    bool fine = cells != NULL;
    if (!fine) return false;
    for (size_t i = 0; page->cells && i < count; i++)
        fine &= copy_cell(shadow, &page->cells[i >> (page->shift - shift)], &cells[i]);
    free(page->cells);
    page->cells = cells;
    page->shift = (uint8_t)shift;
    return fine;
}

/* ---- order ---- */

bool tile_emu_shadow_is_ordered(const Access *before, const Request *request)
{
    const Block *block = request->block;
    if (before->block == 0 ||
        (request->space == TILE_EMU_SHARED && before->block < block->team->first_id))
        return true;
    if (before->block != block->id || before->scope == SCOPE_GRID || request->unit) return false;
    if (before->stamp < block->barrier_stamp) return true;
    if (before->unit) return false;
    if (before->scope == SCOPE_THREAD && before->thread == request->thread->abi.index) return true;
    uint32_t warp = request->thread->warp;
    if (before->together && before->scope == SCOPE_THREAD && before->thread / LANES == warp)
        return true;
    return before->scope <= SCOPE_WARP && before->thread / LANES == warp &&
           before->stamp < block->sync_stamp[warp];
}

uint32_t tile_emu_known_to(const Request *request)
{
    return request->unit ? request->event : request->thread->event;
}

static const char *earlier_text(const Access *access)
{
    return access->reads ? "the read" : access->atomic ? "the atomic update" : "the write";
}

/* ---- atomics ---- */

static const char *const SCOPES[] = {"cta", "cluster", "gpu", "sys"};

static uint8_t atomic_mark(const Request *request)
{
    return (uint8_t)(request->bytes << 2 | request->scope);
}

/* The blocks of a cluster run next to each other. */
static bool is_same_cluster(const Block *block, uint32_t other)
{
    return (block->id - 1) / block->cluster->count == (other - 1) / block->cluster->count;
}

static bool is_of_cluster(const Request *request, const Access *set)
{
    const bool has_other = set->scope == SCOPE_GRID && request->space == TILE_EMU_GLOBAL;
    return is_same_cluster(request->block, set->block) &&
           (!has_other || is_same_cluster(request->block, set->other.block));
}

/* PTX ISA manual, "Morally strong operations": each one's scope holds the other's thread, and they
 * are of the same bytes. Of a set each has to be. */
static bool are_strong(const Access *before, const Request *request)
{
    const uint8_t now = atomic_mark(request);
    const uint32_t one = before->atomic & 3, other = now & 3, narrow = one < other ? one : other;
    if (!before->atomic || request->kind != TILE_EMU_ATOMIC || before->atomic >> 2 != now >> 2)
        return false;
    return narrow >= TILE_EMU_GPU ||
           (before->block == request->block->id && before->scope != SCOPE_GRID) ||
           (narrow == TILE_EMU_CLUSTER && is_of_cluster(request, before));
}

/* What threads of a block write to one place, where any of it is meant to last. Iterations of a
 * loop are not told apart. */
static bool is_any(const Access *before, const Request *request)
{
    return request->any && before->any && before->site == request->site &&
           before->block == request->block->id;
}

static const char *weakness(const Access *before, const Request *request, char out[PLACE_TEXT])
{
    out[0] = '\0';
    if (before->atomic && request->kind == TILE_EMU_ATOMIC)
        snprintf(out, PLACE_TEXT, "; atomics of %d bytes for scope %s and %u for %s order nothing",
                 before->atomic >> 2, SCOPES[before->atomic & 3], request->bytes,
                 SCOPES[request->scope & 3]);
    return out;
}

static void report_race_as(FaultKind kind, const Request *request, const Access *before)
{
    const Launch *launch = request->block->launch;
    char where[PLACE_TEXT], place[PLACE_TEXT], who[PLACE_TEXT], why[PLACE_TEXT];
    uint32_t index[3];
    tile_emu_block_index(launch, before->block - 1, index);
    bool own = before->block == request->block->id && before->thread == request->thread->abi.index;
    if (own && !before->unit && !request->unit)
        snprintf(who, sizeof who, "another thread");
    else
        snprintf(who, sizeof who, "%sthread %u of block (%u, %u, %u)",
                 before->unit ? "a copy of " : "", before->thread, index[0], index[1], index[2]);
    tile_emu_fault_add(
        request->block->launch, kind, request->site, before->site,
        "%sthread %u of block (%u, %u, %u) %s %u bytes %s, not ordered with %s by %s at %s%s",
        request->unit ? "a copy of " : "", request->thread->abi.index, request->block->index[0],
        request->block->index[1], request->block->index[2], tile_emu_verb(request->kind),
        request->bytes, tile_emu_address_text(request, where), earlier_text(before), who,
        tile_emu_place(launch, before->site, place), weakness(before, request, why));
}

/* Two plain stores by threads: as long as they are of the same bytes, neither is lost. */
static bool is_doubtful(const Request *request, const Access *before)
{
    return request->kind == TILE_EMU_WRITE && !request->bits && !before->reads && !before->atomic &&
           !before->unit && !request->unit && !before->in_flight && !before->async &&
           request->proxy != PROXY_ASYNC && request->bytes <= MOST_COMPARED &&
           !request->block->launch->seeks_evidence;
}

/* What threads do by themselves in global memory, where they run one behind another. */
static bool is_in_turn(const Request *request, const Access *before)
{
    return request->block->launch->in_turn && request->space == TILE_EMU_GLOBAL && !before->unit &&
           !request->unit && !before->in_flight && !request->in_flight && !before->async &&
           request->proxy != PROXY_ASYNC;
}

static void report_race(const Request *request, const Access *before)
{
    if (is_in_turn(request, before)) return;
    Doubtful *doubtful = &request->block->launch->checker->doubtful;
    if (!is_doubtful(request, before)) {
        report_race_as(FAULT_RACE, request, before);
        return;
    }
    if (!doubtful->count) {
        doubtful->request = *request;
        memcpy(doubtful->bytes, (const void *)request->address, request->bytes);
    }
    if (doubtful->count < MOST_COMPARED) doubtful->before[doubtful->count++] = *before;
}

void tile_emu_shadow_settle(Launch *launch)
{
    Doubtful *doubtful = &launch->checker->doubtful;
    const Request *request = &doubtful->request;
    if (!doubtful->count) return;
    const bool same = memcmp(doubtful->bytes, (const void *)request->address, request->bytes) == 0;
    for (uint32_t i = 0; i < doubtful->count; i++)
        report_race_as(same ? FAULT_BENIGN_RACE : FAULT_RACE, request, &doubtful->before[i]);
    doubtful->count = 0;
}

/* Of a set of readers the last one. */
static Access last_of(const Access *reads)
{
    Access last = *reads;
    last.scope = SCOPE_THREAD;
    last.warps = 1u << last.thread / LANES;
    last.by_warp = NULL;
    return last;
}

static bool knows_reader(Order *order, const Access *reader, const Request *request)
{
    const uint32_t known = tile_emu_known_to(request);
    return tile_emu_shadow_is_ordered(reader, request) ||
           tile_emu_order_knows(order, known, reader);
}

/* Of the readers of global memory in several blocks two are kept. */
static bool knows_two(Order *order, const Access *reads, const Request *request)
{
    const Access last = last_of(reads);
    Access other = last;
    other.block = reads->other.block;
    other.stamp = reads->other.stamp;
    other.thread = (uint16_t)reads->warps;
    other.together = true; /* as far as is known */
    other.unit = reads->other_unit;
    other.warps = 1u << other.thread / LANES;
    return tile_emu_known_to(request) && knows_reader(order, &last, request) &&
           knows_reader(order, &other, request);
}

/* Whether it comes after what the warps of one block did: it may be the thread's own. */
static bool knows_block(Order *order, const Request *request, const Access *access)
{
    const Block *block = request->block;
    if (access->block == block->id && access->stamp < block->barrier_stamp && !request->unit)
        return true;
    return tile_emu_order_knows(order, tile_emu_known_to(request), access);
}

/* Whether the thread comes after a set of several blocks of its cluster. */
static bool knows_all(Order *order, const Request *request, const Access *set)
{
    const Cluster *cluster = request->block->cluster;
    for (uint32_t rank = 0; rank < cluster->count; rank++) {
        const uint32_t warps = request->block->warp_count;
        const WarpReads *own = set->by_warp + (size_t)rank * warps;
        Access access = {.block = cluster->blocks[rank].id,
                         .scope = SCOPE_BLOCK,
                         .reads = set->reads,
                         .by_warp = (WarpReads *)(uintptr_t)own};
        for (uint32_t warp = 0; warp < warps; warp++) {
            access.warps |= (uint32_t)(own[warp].stamp != 0) << warp;
            access.stamp = own[warp].stamp > access.stamp ? own[warp].stamp : access.stamp;
        }
        access.thread = access.warps ? (uint16_t)(__builtin_ctz(access.warps) * LANES) : 0;
        if (access.warps && !knows_block(order, request, &access)) return false;
    }
    return true;
}

static bool is_known(Order *order, const Access *before, const Request *request)
{
    if (before->scope != SCOPE_GRID)
        return tile_emu_order_knows(order, tile_emu_known_to(request), before);
    if (request->space == TILE_EMU_GLOBAL) return knows_two(order, before, request);
    return !before->by_warp || knows_all(order, request, before);
}

/* Who the readers in a block that has ended were is not kept. */
static bool is_gone(const Access *access, const Request *request)
{
    return access->scope == SCOPE_BLOCK && access->by_warp &&
           access->block < request->block->team->first_id;
}

static void check_known(const Access *before, const Request *request, Order *order)
{
    if (request->block->launch->seeks_evidence) tile_emu_note_barrier(before, request, order);
    if (tile_emu_shadow_is_ordered(before, request)) return;
    if (!tile_emu_fault_is_new(request->block->launch, FAULT_RACE, request->site, before->site))
        return;
    if (!is_known(order, before, request)) report_race(request, before);
}

void tile_emu_shadow_check(const Access *before, const Request *request, Order *order)
{
    if (are_strong(before, request) || is_any(before, request)) return;
    if (is_gone(before, request)) {
        const Access last = last_of(before);
        check_known(&last, request, order);
    } else {
        check_known(before, request, order);
    }
}

/* ---- one cell ---- */

Access tile_emu_shadow_access_of(const Request *request)
{
    return (Access){.block = request->block->id,
                    .stamp = request->block->now,
                    .site = request->site,
                    .thread = (uint16_t)request->thread->abi.index,
                    .scope = SCOPE_THREAD,
                    .warps = 1u << request->thread->warp,
                    .atomic = request->kind == TILE_EMU_ATOMIC ? atomic_mark(request) : 0,
                    .reads = request->kind == TILE_EMU_READ,
                    .together = request->together,
                    .unit = request->unit,
                    .any = request->any,
                    .async = request->proxy == PROXY_ASYNC,
                    .in_flight = request->in_flight,
                    .passed = tile_emu_passed(request->thread)};
}

static WarpReads warp_reads(const Access *reads)
{
    if (reads->scope == SCOPE_WARP)
        return (WarpReads){reads->stamp, reads->warp.first, reads->warp.lanes};
    return (WarpReads){reads->stamp, reads->stamp,
                       reads->together               ? 0
                       : reads->scope > SCOPE_THREAD ? UINT32_MAX
                                                     : 1u << reads->thread % LANES};
}

static void add_read(WarpReads *reads, const Access *now)
{
    const uint32_t lane = now->together ? 0 : 1u << now->thread % LANES;
    if (!(reads->lanes & ~lane)) reads->first = now->stamp; /* no others */
    reads->stamp = now->stamp;
    reads->lanes |= lane;
}

/* The set as one of a block that has so many warps. */
static void put_reads(const Access *reads, uint32_t warps, WarpReads *out)
{
    if (reads->scope == SCOPE_BLOCK && reads->by_warp)
        memcpy(out, reads->by_warp, warps * sizeof *out);
    else
        out[reads->thread / LANES] = warp_reads(reads);
}

/* The set with this read; each warp's latest is kept, as one that has arrived at an mbarrier need
 * not wait for the others. NULL: not a set of several warps, or one of several blocks in global
 * memory, or there is no memory. */
static WarpReads *reads_with(const Access *reads, const Access *now, const Request *request)
{
    const Cluster *cluster = request->block->cluster;
    const bool of_blocks = now->scope == SCOPE_GRID, is_shared = request->space == TILE_EMU_SHARED;
    const size_t warps = request->block->warp_count;
    if (now->scope < SCOPE_BLOCK || now->unit || reads->unit || (of_blocks && !is_shared))
        return NULL;
    WarpReads *all = reads->scope == now->scope ? reads->by_warp : NULL;
    if (!all) {
        const size_t count = (of_blocks ? cluster->count : 1) * warps;
        if (reads->scope == now->scope) return NULL;
        all =
            tile_emu_block_memory(is_shared ? request->home : request->block, count * sizeof *all);
        if (!all) return NULL;
        memset(all, 0, count * sizeof *all);
        put_reads(reads, (uint32_t)warps,
                  all + (of_blocks ? reads->block - cluster->blocks->id : 0) * warps);
    }
    add_read(all + (of_blocks ? request->block->rank * warps : 0) + request->thread->warp, now);
    return all;
}

/* What begins a copy comes before what that does. */
static bool is_read_before(const Access *reads, const Request *request, Order *order)
{
    return tile_emu_shadow_is_ordered(reads, request) ||
           (request->unit && is_known(order, reads, request));
}

static void keep_other(const Access *reads, Access *now)
{
    const bool kept = reads->scope == SCOPE_GRID && reads->block == now->block;
    now->other_unit = kept ? reads->other_unit : reads->unit;
    now->other.block = kept ? reads->other.block : reads->block;
    now->other.stamp = kept ? reads->other.stamp : reads->stamp;
    now->warps = kept ? reads->warps : reads->thread;
}

static bool is_over(const Access *set, const Request *request)
{
    return !set->block ||
           (request->space == TILE_EMU_SHARED && set->block < request->block->team->first_id);
}

/* Whether who races with the set, and not with `now`, cannot be: else the set is not forgotten. */
static bool stands_for(const Access *now, const Access *set)
{
    return !now->atomic || (now->atomic & 3) >= TILE_EMU_GPU || set->block == now->block;
}

/* What comes before this access is forgotten: what comes after this one comes after it. The others
 * widen to a set, which keeps the last one's name. */
static void remember(Access *set, const Request *request, Order *order)
{
    Access now = tile_emu_shadow_access_of(request);
    if (!is_over(set, request) && !(is_read_before(set, request, order) && stands_for(&now, set))) {
        bool same_block = set->block == now.block && set->scope != SCOPE_GRID;
        bool same_warp = set->scope <= SCOPE_WARP && !set->unit && !now.unit &&
                         set->thread / LANES == now.thread / LANES;
        now.scope = !same_block ? SCOPE_GRID : same_warp ? SCOPE_WARP : SCOPE_BLOCK;
        now.warps |= set->warps;
        if (now.scope == SCOPE_WARP) {
            WarpReads all = warp_reads(set);
            add_read(&all, &now);
            now.warp.first = all.first;
            now.warp.lanes = all.lanes;
        } else {
            now.by_warp = reads_with(set, &now, request);
        }
        if (now.scope == SCOPE_GRID && request->space == TILE_EMU_GLOBAL) keep_other(set, &now);
    }
    *set = now;
}

static void report_unwritten(const Request *request)
{
    char where[PLACE_TEXT];
    Launch *launch = request->block->launch;
    if (tile_emu_fault_is_new(launch, FAULT_UNWRITTEN, request->site, NO_SITE))
        tile_emu_fault_add(
            launch, FAULT_UNWRITTEN, request->site, NO_SITE,
            "thread %u of block (%u, %u, %u) reads %u bytes %s, which nobody has written",
            request->thread->abi.index, request->block->index[0], request->block->index[1],
            request->block->index[2], request->bytes, tile_emu_address_text(request, where));
}

static void report_in_flight(const Access *before, const Request *request)
{
    const Block *block = request->block;
    char where[PLACE_TEXT], place[PLACE_TEXT];
    tile_emu_fault_add(block->launch, FAULT_UNFINISHED, request->site, before->site,
                       "thread %u of block (%u, %u, %u) %s %u bytes %s, which TMA may "
                       "still write, as nobody has waited for that; it was started at %s",
                       request->thread->abi.index, block->index[0], block->index[1],
                       block->index[2], tile_emu_verb(request->kind), request->bytes,
                       tile_emu_address_text(request, where),
                       tile_emu_place(block->launch, before->site, place));
}

/* Of what a copy reads as it ends: whether it was written since that began. */
static bool was_changed(const Access *write, const Request *request, Order *order)
{
    if (write->block == request->block->id) return write->stamp > request->begun;
    return write->block && !tile_emu_order_knows(order, request->event, write);
}

static void report_changed(const Access *write, const Request *request)
{
    const Launch *launch = request->block->launch;
    char where[PLACE_TEXT], place[PLACE_TEXT];
    uint32_t index[3];
    tile_emu_block_index(launch, write->block - 1, index);
    tile_emu_fault_add(request->block->launch, FAULT_READING, write->site, request->site,
                       "thread %u of block (%u, %u, %u) writes %s, which a copy of thread %u of "
                       "block (%u, %u, %u) may still read, as nobody has waited for it; it was "
                       "started at %s",
                       write->thread, index[0], index[1], index[2],
                       tile_emu_address_text(request, where), request->thread->abi.index,
                       request->block->index[0], request->block->index[1], request->block->index[2],
                       tile_emu_place(launch, request->site, place));
}

static void report_hidden(const Access *before, const Request *request)
{
    const Block *block = request->block;
    char where[PLACE_TEXT], place[PLACE_TEXT];
    tile_emu_fault_add(block->launch, FAULT_UNFENCED_WRITE, request->site, before->site,
                       "TMA %s for thread %u of block (%u, %u, %u) %u bytes %s, which "
                       "thread %u has written at %s in this launch, and has not fenced since "
                       "(fence.proxy.async.global)",
                       tile_emu_verb(request->kind), request->thread->abi.index, block->index[0],
                       block->index[1], block->index[2], request->bytes,
                       tile_emu_address_text(request, where), before->thread,
                       tile_emu_place(block->launch, before->site, place));
}

/* Of global memory: what TMA writes, and what it has to see. Shared memory has records
 * of its own of both (async.c, wgmma.c). */
static void check_unit(const Access *before, const Request *request)
{
    if (before->in_flight) report_in_flight(before, request);
    if (request->proxy == PROXY_ASYNC && before->block && !before->async &&
        !tile_emu_global_is_shown(request->thread, before))
        report_hidden(before, request);
}

static void check_write(const Access *write, const Request *request, Order *order)
{
    if (request->done) return;
    if (request->space == TILE_EMU_GLOBAL) check_unit(write, request);
    if (request->begun && was_changed(write, request, order)) report_changed(write, request);
    tile_emu_shadow_check(write, request, order);
}

static bool remember_update(Shadow *shadow, Cell *cell, const Request *request, Order *order)
{
    const uint8_t mark = atomic_mark(request);
    Updates *updates = cell->updates;
    while (updates && updates->set.atomic != mark) updates = updates->next;
    if (updates) {
        remember(&updates->set, request, order);
        return true;
    }
    const Access now = tile_emu_shadow_access_of(request);
    return add_updates(shadow, &cell->updates, &now);
}

static const uint32_t *tiles_of(const Request *request, uint32_t site)
{
    static const uint32_t UNKNOWN[2];
    const Launch *launch = request->block->launch;
    return site < launch->site_count ? launch->sites[site].tiles : UNKNOWN;
}

/* Whether that was not written in this block's time, or as a tile that has had this one's place: if
 * it was before, as that is a race otherwise. */
static bool is_stale(const Access *write, const Request *request, const uint32_t tiles[2],
                     Order *order)
{
    if (write->block < request->block->team->first_id) return true;
    if (!tiles[0]) return false;
    const uint32_t written = tiles_of(request, write->site)[0];
    return written && written != tiles[0] && written != tiles[1] &&
           (tile_emu_shadow_is_ordered(write, request) || is_known(order, write, request));
}

/* True if nobody has written the cell, as is_stale has it, which counts for shared memory. */
static bool touch_cell(Shadow *shadow, Cell *cell, const Request *request, Order *order)
{
    const uint32_t *tiles = tiles_of(request, request->site);
    bool unwritten = is_stale(&cell->write, request, tiles, order);
    check_write(&cell->write, request, order);
    for (const Updates *at = cell->updates; at; at = at->next) {
        unwritten &= is_stale(&at->set, request, tiles, order);
        check_write(&at->set, request, order);
    }
    if (request->kind == TILE_EMU_READ) {
        remember(&cell->read, request, order);
        return unwritten;
    }
    if (!request->done) tile_emu_shadow_check(&cell->read, request, order);
    if (request->kind == TILE_EMU_ATOMIC) {
        if (!remember_update(shadow, cell, request, order)) no_memory(request);
        return unwritten;
    }
    cell->write = tile_emu_shadow_access_of(request);
    cell->read.block = 0;
    if (cell->updates) forget_updates(shadow, cell);
    return false;
}

/* The part of an access that lies in one page: so many bits from the offset on. */
static void touch_page(Shadow *shadow, Page *page, uint32_t offset, uint32_t bits, Order *order,
                       const Request *request)
{
    const uint32_t shift = (uint32_t)__builtin_ctz(offset | bits | 1u << WIDEST);
    if (!page || !split_cells(shadow, page, shift)) {
        no_memory(request);
        return;
    }
    bool unwritten = false;
    for (uint32_t i = offset >> page->shift; i < (offset + bits) >> page->shift; i++)
        unwritten |= touch_cell(shadow, &page->cells[i], request, order);
    if (unwritten && !request->spare && request->space == TILE_EMU_SHARED)
        report_unwritten(request);
}

void tile_emu_shadow_access(Shadow *shadow, Order *order, const Request *request)
{
    tile_emu_shadow_settle(request->block->launch);
    bool is_shared = request->space == TILE_EMU_SHARED;
    uintptr_t at = request->address - (is_shared ? (uintptr_t)request->home->shared : 0);
    uintptr_t end = at + request->bytes;
    while (at < end) {
        uint32_t offset = at & (PAGE_BYTES - 1);
        uint32_t bytes = (uint32_t)(end - at);
        bytes = bytes < PAGE_BYTES - offset ? bytes : PAGE_BYTES - offset;
        Page *page = is_shared ? &shadow->shared[at >> PAGE_SHIFT] : global_page(shadow, at);
        if (request->bits)
            touch_page(shadow, page, offset * 8 + (uint32_t)__builtin_ctz(request->bits),
                       (uint32_t)__builtin_popcount(request->bits), order, request);
        else
            touch_page(shadow, page, offset * 8, bytes * 8, order, request);
        at += bytes;
    }
    if (request->kind == TILE_EMU_ATOMIC) tile_emu_order_atomic(order, request);
}
