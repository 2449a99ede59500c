/* checker.c: one access in checked mode: its alignment, its bounds, whether what it reads was
 * written; then the races (shadow.c) and the counts (statistics.c). An access that is not allowed
 * goes to a scratch area, so that the launch goes on and shows more faults. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/checker.h"

enum {
    NEAR_BYTES = 4096,
    SHARED_FILL = 0xff /* a NaN in every float format */,
    ANYTHING = SHARED_FILL,
    ELEMENT_TEXT = 512,
    MAX_THREADS = MAX_WARPS * LANES
};

Checker *tile_emu_checker_new(Launch *launch)
{
    Checker *checker = calloc(1, sizeof *checker);
    if (!checker) return NULL;
    checker->shadow = tile_emu_shadow_new(0);
    checker->order = tile_emu_order_new(launch);
    checker->site_allocation =
        calloc((size_t)launch->site_count + 1, sizeof *checker->site_allocation);
    checker->site_extents = calloc((size_t)launch->site_count + 1, sizeof *checker->site_extents);
    if (checker->shadow && checker->order && checker->site_allocation && checker->site_extents)
        checker->statistics = tile_emu_statistics_new(launch);
    if (checker->statistics) return checker;
    tile_emu_checker_free(checker);
    return NULL;
}

/* The statistics were published, and freed with that. */
void tile_emu_checker_free(Checker *checker)
{
    tile_emu_shadow_free(checker->shadow);
    tile_emu_order_free(checker->order);
    free(checker->site_allocation);
    free(checker->site_extents);
    free(checker);
}

/* Uses are read where they were noted alone. */
static bool trace_new(Trace *out, size_t words, size_t warps)
{
    out->warps = calloc(words, sizeof *out->warps);
    out->uses = malloc(warps * words * sizeof *out->uses);
    return out->warps && out->uses;
}

static void trace_free(const Trace *trace)
{
    free(trace->warps);
    free(trace->uses);
}

Watch *tile_emu_watch_new(const Launch *launch)
{
    const size_t bytes = launch->entry->shared_bytes, warps = launch->entry->warps;
    Watch *watch = calloc(1, sizeof *watch);
    if (!watch) return NULL;
    watch->shadow = tile_emu_shadow_new((uint32_t)bytes);
    watch->copy_site = calloc(bytes / 4 + 1, sizeof(uint32_t));
    watch->reading_site = calloc(bytes / 16 + 1, sizeof(uint32_t));
    watch->words = bytes / 4 + 1;
    const bool traced = trace_new(&watch->written, watch->words, warps);
    if (trace_new(&watch->read, watch->words, warps) && traced && watch->shadow &&
        watch->copy_site && watch->reading_site)
        return watch;
    tile_emu_watch_free(watch);
    return NULL;
}

void tile_emu_watch_free(Watch *watch)
{
    if (!watch) return;
    tile_emu_shadow_free(watch->shadow);
    free(watch->copy_site);
    free(watch->reading_site);
    trace_free(&watch->written);
    trace_free(&watch->read);
    free(watch);
}

/* ---- clocks ---- */

void tile_emu_check_begin_block(Block *block)
{
    Watch *watch = block->watch;
    const size_t bytes = block->launch->entry->shared_bytes;
    block->now = 1;
    block->barrier_stamp = 0;
    memset(block->sync_stamp, 0, sizeof block->sync_stamp);
    memset(block->memory, SHARED_FILL, bytes + 2 * RED_ZONE);
    if (watch->copy_count) memset(watch->copy_site, 0, bytes / 4 * 4);
    watch->copy_count = 0;
    watch->visits = NULL;
    memset(watch->reading_site, 0, bytes / 16 * 4);
    memset(watch->written.warps, 0, watch->words * sizeof *watch->written.warps);
    memset(watch->read.warps, 0, watch->words * sizeof *watch->read.warps);
}

void tile_emu_check_barrier(Block *block, uint32_t warps)
{
    Checker *checker = block->launch->checker;
    block->now++;
    if ((uint32_t)__builtin_popcount(warps) == block->warp_count) {
        block->barrier_stamp = block->now;
        block->barrier_site = block->threads->abi.site;
        tile_emu_order_join(checker->order, block->threads, block->thread_count);
    } else {
        tile_emu_order_barrier(checker->order, block, warps);
    }
    for (uint32_t warp = 0; warp < block->warp_count; warp++)
        if (warps >> warp & 1)
            tile_emu_note_operation(checker->statistics, block->threads[warp * LANES].abi.site,
                                    TILE_EMULATOR_BARRIER, 0, 0);
}

void tile_emu_check_warp_sync(Block *block, Thread *lanes)
{
    block->sync_stamp[lanes->warp] = ++block->now;
    block->sync_site[lanes->warp] = lanes->abi.site;
    tile_emu_order_join(block->launch->checker->order, lanes, LANES);
}

/* ---- where an access lies ---- */

static bool holds(const tile_allocation *allocation, uintptr_t address, uint32_t bytes)
{
    uintptr_t offset = address - (uintptr_t)allocation->base;
    return offset < allocation->bytes && bytes <= allocation->bytes - offset;
}

/* One that the access begins in is remembered even where it does not hold all of it. */
static const tile_allocation *look_up(Checker *checker, uintptr_t address, uint32_t bytes)
{
    for (uint32_t i = 0; i < checker->allocation_count; i++)
        if (holds(checker->allocations[i], address, bytes)) return checker->allocations[i];
    const tile_allocation *found = tile_find_allocation((const void *)address);
    if (found &&
        checker->allocation_count < sizeof checker->allocations / sizeof *checker->allocations)
        checker->allocations[checker->allocation_count++] = found;
    return found && holds(found, address, bytes) ? found : NULL;
}

static const tile_allocation *find_allocation(Checker *checker, const Request *request)
{
    const Launch *launch = request->block->launch;
    uint32_t site = request->site < launch->site_count ? request->site : launch->site_count;
    const tile_allocation **hint = &checker->site_allocation[site];
    if (*hint && holds(*hint, request->address, request->bytes)) return *hint;
    const tile_allocation *found = look_up(checker, request->address, request->bytes);
    if (found) *hint = found;
    return found;
}

static bool is_near(const Checker *checker, uintptr_t address)
{
    for (uint32_t i = 0; i < checker->allocation_count; i++) {
        const tile_allocation *allocation = checker->allocations[i];
        uintptr_t low = (uintptr_t)allocation->base - NEAR_BYTES;
        if (address - low < allocation->bytes + 2 * NEAR_BYTES) return true;
    }
    return false;
}

/* Whether memory outside every allocation may be the caller's own. Where the arguments are not
 * known, it is not next to an allocation, nor where the same place in the source met an allocation
 * before. */
static bool may_be_foreign(Checker *checker, const Request *request)
{
    const Launch *launch = request->block->launch;
    uint32_t site = request->site < launch->site_count ? request->site : launch->site_count;
    if (checker->arguments_known && !checker->foreign_argument) return false;
    if (!checker->arguments_known &&
        (checker->site_allocation[site] || is_near(checker, request->address)))
        return false;
    uintptr_t last = request->address + request->bytes - 1;
    return tile_emu_shadow_is_mapped(checker->shadow, request->address) &&
           tile_emu_shadow_is_mapped(checker->shadow, last);
}

static bool is_in_shared(const Request *request)
{
    uint32_t size = request->home->launch->entry->shared_bytes;
    uintptr_t offset = request->address - (uintptr_t)request->home->shared;
    return offset < size && request->bytes <= size - offset;
}

/* ---- other blocks of the cluster ---- */

static void report_visit(const Request *request, const char *why)
{
    const Block *block = request->block, *home = request->home;
    tile_emu_fault_add(block->launch, FAULT_BOUNDS, request->site, NO_SITE,
                       "thread %u of block (%u, %u, %u) uses the shared memory of block "
                       "(%u, %u, %u), which %s: the cluster's blocks have to wait for each other",
                       request->thread->abi.index, block->index[0], block->index[1],
                       block->index[2], home->index[0], home->index[1], home->index[2], why);
}

/* Whether the thread has heard of the block since it began. */
static bool has_begun(const Request *request)
{
    const Access begin = {.block = request->home->id, .scope = SCOPE_THREAD, .reads = true};
    return tile_emu_order_knows(request->block->launch->checker->order, request->thread->event,
                                &begin);
}

/* False where the memory is gone. */
static bool check_visit(const Request *request)
{
    Block *home = request->home;
    Watch *watch = home->watch;
    const size_t count = (size_t)home->cluster->count * MAX_THREADS;
    if (home->ended) {
        report_visit(request, "has ended");
        return false;
    }
    if (request->unit) return true; /* the block waits for it */
    if (!has_begun(request)) report_visit(request, "may not have begun");
    if (!watch->visits) {
        watch->visits = tile_emu_block_memory(home, count * sizeof *watch->visits);
        if (!watch->visits) return false;
        memset(watch->visits, 0, count * sizeof *watch->visits);
    }
    watch->visits[request->block->rank * MAX_THREADS + request->thread->abi.index] =
        request->block->now;
    watch->visit_site = request->site;
    return true;
}

/* A thread's latest visit that the block need not know of before it ends; NULL: there is none. */
static const Thread *late_visitor(Block *block)
{
    const Cluster *cluster = block->cluster;
    for (uint32_t i = 0; i < cluster->count * MAX_THREADS; i++) {
        const Access visit = {.block = cluster->blocks[i / MAX_THREADS].id,
                              .stamp = block->watch->visits[i],
                              .thread = (uint16_t)(i % MAX_THREADS),
                              .scope = SCOPE_THREAD,
                              .reads = true,
                              .warps = 1u << i % MAX_THREADS / LANES};
        if (visit.stamp &&
            !tile_emu_order_knows(block->launch->checker->order, block->threads->event, &visit))
            return &cluster->blocks[i / MAX_THREADS].threads[i % MAX_THREADS];
    }
    return NULL;
}

void tile_emu_check_end_block(Block *block)
{
    const Watch *watch = block->watch;
    tile_emu_shadow_settle(block->launch);
    if (!watch->visits) return;
    tile_emu_order_join(block->launch->checker->order, block->threads, block->thread_count);
    const Thread *visitor = late_visitor(block);
    if (visitor)
        tile_emu_fault_add(block->launch, FAULT_BOUNDS, watch->visit_site, NO_SITE,
                           "block (%u, %u, %u) may have ended when thread %u of block (%u, %u, %u) "
                           "uses its shared memory: the cluster's blocks have to wait for each "
                           "other",
                           block->index[0], block->index[1], block->index[2], visitor->abi.index,
                           visitor->block->index[0], visitor->block->index[1],
                           visitor->block->index[2]);
}

/* ---- arguments ---- */

static int64_t number_of(const Launch *launch, const tile_emu_number *number)
{
    int32_t narrow;
    int64_t wide;
    if (!number->argument) return number->value;
    const void *given = launch->parameters[number->argument - 1];
    if (number->bytes == sizeof wide) {
        memcpy(&wide, given, sizeof wide);
        return wide;
    }
    memcpy(&narrow, given, sizeof narrow);
    return narrow;
}

static Extent extent_of(const Launch *launch, const tile_emu_array *array)
{
    Extent extent = {.is_seen = true};
    if (!array || array->rank == 0 || array->rank > TILE_EMU_RANK) return extent;
    int64_t last = 0;
    bool is_empty = false;
    for (uint32_t i = 0; i < array->rank; i++) {
        const int64_t count = number_of(launch, &array->shape[i]),
                      stride = number_of(launch, &array->strides[i]);
        if (count < 0 || stride < 0) return extent;
        is_empty |= count == 0;
        last += (count - 1) * stride;
    }
    const void *base;
    memcpy(&base, launch->parameters[array->argument], sizeof base);
    extent.begin = (uintptr_t)base;
    extent.end = extent.begin;
    if (!is_empty) extent.end += (uintptr_t)((last + 1) * array->element_bits + 7) / 8;
    return extent;
}

/* An argument may be a part of an allocation. */
static bool is_in_argument(const Checker *checker, const Request *request)
{
    const Launch *launch = request->block->launch;
    if (request->site >= launch->site_count) return true;
    Extent *extent = &checker->site_extents[request->site];
    if (!extent->is_seen) *extent = extent_of(launch, launch->sites[request->site].array);
    return !extent->end ||
           (request->address >= extent->begin && request->address + request->bytes <= extent->end);
}

static bool is_in_bounds(Checker *checker, Request *request)
{
    if (request->space == TILE_EMU_SHARED)
        return is_in_shared(request) && (request->home == request->block || check_visit(request));
    request->allocation = find_allocation(checker, request);
    return is_in_argument(checker, request) &&
           (request->allocation || may_be_foreign(checker, request));
}

/* ---- faults ---- */

/* Bytes between an address and an allocation; 0 inside it. */
static uintptr_t distance(uintptr_t address, const tile_allocation *allocation)
{
    uintptr_t base = (uintptr_t)allocation->base, end = base + allocation->bytes;
    return address < base ? base - address : address < end ? 0 : address - end;
}

/* The allocation that an access outside all of them is told against: the one that the same place in
 * the source met before, else the nearest. */
static const tile_allocation *nearest(const Request *request)
{
    const Launch *launch = request->block->launch;
    const Checker *checker = launch->checker;
    uint32_t site = request->site < launch->site_count ? request->site : launch->site_count;
    if (checker->site_allocation[site]) return checker->site_allocation[site];
    const tile_allocation *best = NULL;
    for (uint32_t i = 0; i < checker->allocation_count; i++) {
        const tile_allocation *candidate = checker->allocations[i];
        if (distance(request->address, candidate) > NEAR_BYTES) continue;
        if (!best || distance(request->address, candidate) < distance(request->address, best))
            best = candidate;
    }
    return best;
}

const char *tile_emu_address_text(const Request *request, char out[PLACE_TEXT])
{
    if (request->space == TILE_EMU_SHARED) {
        const Block *home = request->home;
        const int64_t offset = (int64_t)(request->address - (uintptr_t)home->shared);
        int length =
            snprintf(out, PLACE_TEXT, "at byte %" PRId64 " of %" PRIu32 " bytes of shared memory",
                     offset, home->launch->entry->shared_bytes);
        if (home != request->block)
            snprintf(out + length, PLACE_TEXT - (size_t)length, " of block (%u, %u, %u)",
                     home->index[0], home->index[1], home->index[2]);
        return out;
    }
    const tile_allocation *allocation =
        request->allocation ? request->allocation : nearest(request);
    if (allocation)
        snprintf(out, PLACE_TEXT, "at byte %" PRId64 " of an allocation of %zu bytes",
                 (int64_t)(request->address - (uintptr_t)allocation->base), allocation->bytes);
    else
        snprintf(out, PLACE_TEXT, "at address 0x%" PRIxPTR, request->address);
    return out;
}

const char *tile_emu_verb(uint32_t kind)
{
    return kind == TILE_EMU_READ    ? "reads"
           : kind == TILE_EMU_WRITE ? "writes"
                                    : "updates atomically";
}

/* ---- elements of arguments, by their names ---- */

static int64_t floor_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* "[3, 100": the extents, of which some are not known, or indices. */
static size_t append_numbers(char *out, size_t size, size_t at, const int64_t *numbers,
                             uint32_t count, bool are_extents)
{
    for (uint32_t i = 0; i < count && at < size; i++) {
        const char *before = i == 0 ? "[" : ", ";
        if (are_extents && numbers[i] < 0)
            at += (size_t)snprintf(out + at, size - at, "%s?", before);
        else
            at += (size_t)snprintf(out + at, size - at, "%s%" PRId64, before, numbers[i]);
    }
    return at < size ? at : size - 1;
}

/* The indices of the element so many elements behind the first: by the largest stride first, of
 * which the quotient may be outside of the extent. False: it is not known how elements lie. */
static bool find_indices(const Launch *launch, const tile_emu_array *array, int64_t element,
                         int64_t indices[TILE_EMU_RANK])
{
    bool done[TILE_EMU_RANK] = {false};
    if (array->rank == 0 || array->rank > TILE_EMU_RANK) return false;
    for (uint32_t turn = 0; turn < array->rank; turn++) {
        uint32_t largest = TILE_EMU_RANK;
        int64_t most = 0;
        for (uint32_t i = 0; i < array->rank; i++) {
            const int64_t stride = number_of(launch, &array->strides[i]);
            if (stride < 1) return false;
            if (done[i] || stride <= most) continue;
            largest = i;
            most = stride;
        }
        done[largest] = true;
        indices[largest] = floor_quotient(element, most);
        element -= indices[largest] * most;
    }
    return true;
}

/* " of b[3, 100], where b has the extents [4, 128],": nothing where the argument is not known. */
static void element_text(const Request *request, char *out, size_t size)
{
    const Launch *launch = request->block->launch;
    const bool is_known = request->space == TILE_EMU_GLOBAL && request->site < launch->site_count;
    const tile_emu_array *array = is_known ? launch->sites[request->site].array : NULL;
    out[0] = '\0';
    if (!array || !array->element_bits) return;
    const void *base;
    memcpy(&base, launch->parameters[array->argument], sizeof base);
    const int64_t bits = 8 * (int64_t)(request->address - (uintptr_t)base),
                  element = floor_quotient(bits, array->element_bits);
    int64_t indices[TILE_EMU_RANK], extents[TILE_EMU_RANK];
    size_t at = (size_t)snprintf(out, size, " of %.64s", array->name);
    if (!find_indices(launch, array, element, indices)) {
        snprintf(out + at, size - at, "[%" PRId64 "]", element);
        return;
    }
    for (uint32_t i = 0; i < array->rank; i++) extents[i] = number_of(launch, &array->shape[i]);
    at = append_numbers(out, size, at, indices, array->rank, false);
    at += (size_t)snprintf(out + at, size - at, "], where %.64s has the extents ", array->name);
    at = append_numbers(out, size, at, extents, array->rank, true);
    snprintf(out + at, size - at, "],");
}

static void report(const Request *request, FaultKind kind, const char *what)
{
    Block *block = request->block;
    char where[PLACE_TEXT], element[ELEMENT_TEXT];
    if (!tile_emu_fault_is_new(block->launch, kind, request->site, NO_SITE)) return;
    element_text(request, element, sizeof element);
    tile_emu_fault_add(block->launch, kind, request->site, NO_SITE,
                       "thread %u of block (%u, %u, %u) %s %u bytes%s %s%s",
                       request->thread->abi.index, block->index[0], block->index[1],
                       block->index[2], tile_emu_verb(request->kind), request->bytes, element,
                       tile_emu_address_text(request, where), what);
}

static bool is_aligned(uintptr_t address, uint32_t bytes)
{
    bool is_power = !(bytes & (bytes - 1));
    return !is_power || !(address & (bytes - 1));
}

/* ---- the map of what was written ---- */

/* Bits of a byte of the map that belong to the bytes [first, end). */
static uint8_t written_mask(size_t index, size_t first, size_t end)
{
    size_t low = first > index * 8 ? first - index * 8 : 0;
    size_t high = end < index * 8 + 8 ? end - index * 8 : 8;
    return (uint8_t)((1u << high) - (1u << low));
}

static bool was_written(const uint8_t *map, size_t first, size_t end)
{
    for (size_t index = first / 8; index * 8 < end; index++) {
        uint8_t mask = written_mask(index, first, end);
        if ((__atomic_load_n(&map[index], __ATOMIC_RELAXED) & mask) != mask) return false;
    }
    return true;
}

/* Other launches may write beside this one, to the same byte of the map. */
static void mark_written(uint8_t *map, size_t first, size_t end)
{
    for (size_t index = first / 8; index * 8 < end; index++) {
        uint8_t mask = written_mask(index, first, end);
        if ((__atomic_load_n(&map[index], __ATOMIC_RELAXED) & mask) != mask)
            __atomic_fetch_or(&map[index], mask, __ATOMIC_RELAXED);
    }
}

/* The map of bytes that are written in parts; NULL: there is none, and no memory for it. */
static uint8_t *parts_of(const tile_allocation *allocation)
{
    uint8_t **slot = &((tile_allocation *)(uintptr_t)allocation)->parts, *none = NULL;
    uint8_t *parts = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
    if (parts) return parts;
    parts = calloc(allocation->bytes, 1);
    if (!parts ||
        __atomic_compare_exchange_n(slot, &none, parts, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return parts;
    free(parts);
    return none;
}

/* A byte of which these bits were written is written once all were. */
static void mark_part(const tile_allocation *allocation, size_t at, uint8_t bits)
{
    uint8_t *parts = parts_of(allocation);
    const uint8_t before = parts ? __atomic_fetch_or(&parts[at], bits, __ATOMIC_RELAXED) : 0xff;
    if ((before | bits) == 0xff) mark_written(allocation->written, at, at + 1);
}

static bool was_part_written(const tile_allocation *allocation, size_t at, uint8_t bits)
{
    const uint8_t *parts = __atomic_load_n(&allocation->parts, __ATOMIC_ACQUIRE);
    return parts && (__atomic_load_n(&parts[at], __ATOMIC_RELAXED) & bits) == bits;
}

static void check_written(const Request *request)
{
    const tile_allocation *allocation = request->allocation;
    const uint8_t bits = request->bits;
    if (!allocation || !allocation->written) return;
    size_t first = request->address - (uintptr_t)allocation->base, end = first + request->bytes;
    if (request->kind != TILE_EMU_WRITE && !was_written(allocation->written, first, end) &&
        !(bits && was_part_written(allocation, first, bits)))
        report(request, FAULT_UNWRITTEN, ", which nobody has written");
    if (request->kind == TILE_EMU_READ) return;
    if (bits)
        mark_part(allocation, first, bits);
    else
        mark_written(allocation->written, first, end);
}

/* ---- the front door ---- */

/* False where the access may not be done. */
static bool check_request(Request *request)
{
    Checker *checker = request->block->launch->checker;
    const bool is_shared = request->space == TILE_EMU_SHARED;
    if (is_shared) request->home = tile_emu_home(request->block, request->address);
    if (!is_aligned(request->address, request->bytes)) {
        report(request, FAULT_ALIGNMENT, ", which is not a multiple of them");
        return false;
    }
    if (!is_in_bounds(checker, request)) {
        report(request, FAULT_BOUNDS, "");
        return false;
    }
    check_written(request);
    if (is_shared && request->kind != TILE_EMU_READ && request->proxy != PROXY_ANY &&
        tile_emu_mbarrier_is_among(request))
        report(request, FAULT_BARRIER, ", the bytes of an mbarrier");
    if (is_shared && request->home->watch->copy_count) tile_emu_check_copies(request);
    if (is_shared) tile_emu_note_use(request);
    tile_emu_shadow_access(is_shared ? request->home->watch->shadow : checker->shadow,
                           checker->order, request);
    tile_emu_take_passed(request->thread);
    return true;
}

void *tile_emu_check(const Request *request)
{
    Request copy = *request;
    if (check_request(&copy)) return (void *)request->address;
    return memset(request->block->scratch, 0, SCRATCH_BYTES);
}

/* The thread was not to do that access: what it reads is not for it to use, and what it would write
 * is no result of its. So any bits will do, for whoever reads them. */
static void *move_anything(const Request *request)
{
    uint8_t *at = (uint8_t *)request->address;
    if (request->kind != TILE_EMU_READ && request->bits)
        *at |= request->bits & ANYTHING;
    else if (request->kind != TILE_EMU_READ)
        memset(at, ANYTHING, request->bytes);
    return memset(request->block->scratch, ANYTHING, SCRATCH_BYTES);
}

void *tile_emu_move(Request *request)
{
    const bool unconfined = request->thread->passing.unconfined;
    Block *block = request->block;
    if (!check_request(request)) return memset(block->scratch, 0, SCRATCH_BYTES);
    if (unconfined) return move_anything(request);
    const uint32_t operation =
        request->kind +
        (request->space == TILE_EMU_SHARED ? TILE_EMULATOR_SHARED_READ : TILE_EMULATOR_GLOBAL_READ);
    tile_emu_note_access(block->launch->checker->statistics, operation, request);
    return (void *)request->address;
}

TILE_API void *tile_emu_access(tile_emu_thread *thread, void *address, uint32_t bytes,
                               uint32_t kind, uint32_t space, uint32_t site)
{
    Thread *owner = thread->owner;
    Request request = {.thread = owner,
                       .block = owner->block,
                       .address = (uintptr_t)address,
                       .bytes = bytes,
                       .kind = kind & ((1u << TILE_EMU_KIND_BITS) - 1),
                       .space = space,
                       .site = site,
                       .access = (uint16_t)(kind >> TILE_EMU_ACCESS_BITS)};
    if (request.kind == TILE_EMU_SPARE_READ) {
        request.kind = TILE_EMU_READ;
        request.spare = true;
    }
    if (request.kind == TILE_EMU_ANY_WRITE) {
        request.kind = TILE_EMU_WRITE;
        request.any = true;
    }
    if (request.kind == TILE_EMU_ATOMIC) {
        request.order = kind >> TILE_EMU_KIND_BITS & 3;
        request.scope = kind >> TILE_EMU_SCOPE_BITS & 3;
        tile_emu_note_atomic();
    } else {
        request.bits = (uint8_t)(kind >> TILE_EMU_KIND_BITS);
    }
    void *place = thread->checked & TILE_EMU_CHECKED ? tile_emu_move(&request) : address;
    if (owner->block->team->cycle.looks)
        tile_emu_cycle_access(owner->block, place, bytes, request.kind);
    return place;
}

/* The first thread speaks for all: arguments are the launch's. */
TILE_API void tile_emu_argument(tile_emu_thread *thread, const void *pointer)
{
    const Block *block = ((Thread *)thread->owner)->block;
    Checker *checker = block->launch->checker;
    if (thread->index || block->id != 1) return;
    const tile_allocation *allocation = pointer ? tile_find_allocation(pointer) : NULL;
    if (checker) {
        checker->arguments_known = true;
        checker->foreign_argument |= pointer && !allocation;
    } else if (allocation && allocation->written) {
        mark_written(allocation->written, 0, allocation->bytes);
    }
}

/* ---- what the author says ---- */

TILE_API void tile_emu_stop(tile_emu_thread *thread, const char *text, uint32_t site)
{
    Launch *launch = ((Thread *)thread->owner)->block->launch;
    tile_emu_fault_add(launch, FAULT_ASSERTION, site, NO_SITE, "thread %" PRIu32 ": %s",
                       thread->index, text);
}

/* ---- indices ---- */

TILE_API int64_t tile_emu_index(tile_emu_thread *thread, int64_t index, int64_t extent,
                                uint32_t site, const char *name)
{
    if (index >= 0 && index < extent) return index;
    Launch *launch = ((Thread *)thread->owner)->block->launch;
    if (thread->checked & TILE_EMU_CHECKED)
        tile_emu_fault_add(launch, FAULT_BOUNDS, site, NO_SITE,
                           "thread %" PRIu32 " uses the index %" PRId64 " of %.128s%s%" PRId64
                           " elements",
                           thread->index, index, name ? name : "a dimension",
                           name ? ", which has " : " of ", extent);
    return 0;
}
