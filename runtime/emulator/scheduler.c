/* scheduler.c: runs a launch. Workers take blocks in order; within a block the threads of a warp
 * are resumed one after another until each waits, then the warp's operation is executed, and so on
 * until all of the block waits at its barrier. Blocks start in order, so one that waits for memory
 * written by an earlier block is served.
 *
 * Cooperative operations are convergent: bar.sync is .aligned, shfl.sync and bar.warp.sync get the
 * mask of all lanes, ldmatrix and mma.sync need all of them (PTX ISA, the sections of these names),
 * so lanes that wait at different ones wait for ever. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/emulator.h"

enum {
    MAX_WORKERS = 64,
    CHUNK_BYTES = 1 << 20,
    IDLE_CHECKED = 1 << 16,
    IDLE_FAST = 1 << 24,
    IDLE_POLITE = 1 << 8
};

typedef void *RampFunction(tile_emu_thread *thread, const void *const *parameters);
typedef void ResumeFunction(void *handle);

/* ---- frames ---- */

struct FrameChunk {
    FrameChunk *next;
    size_t bytes, used; /* beyond this header, which takes 64 bytes */
};

static FrameChunk *frame_chunk_new(size_t bytes)
{
    size_t whole = 64 + (bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
    FrameChunk *chunk = aligned_alloc(64, whole);
    if (chunk) *chunk = (FrameChunk){.bytes = whole - 64};
    return chunk;
}

static void *frame_take(FramePool *pool, size_t bytes)
{
    FrameChunk **link = pool->current ? &pool->current : &pool->first;
    while (*link && (*link)->bytes - (*link)->used < bytes) link = &(*link)->next;
    if (!*link) *link = frame_chunk_new(bytes);
    FrameChunk *chunk = *link;
    if (!chunk) return NULL;
    pool->current = chunk;
    void *frame = (uint8_t *)chunk + 64 + chunk->used;
    chunk->used += bytes;
    return frame;
}

static void frames_reset(FramePool *pool)
{
    for (FrameChunk *chunk = pool->first; chunk; chunk = chunk->next) chunk->used = 0;
    pool->current = pool->first;
}

static void frames_free(FramePool *pool)
{
    while (pool->first) {
        FrameChunk *next = pool->first->next;
        free(pool->first);
        pool->first = next;
    }
}

void *tile_emu_block_memory(Block *block, size_t bytes)
{
    void *memory = frame_take(&block->frames, (bytes + 63) & ~(size_t)63);
    if (!memory) block->launch->no_memory = block->launch->stopped = true;
    return memory;
}

TILE_API void *tile_emu_frame(tile_emu_thread *thread, uint64_t bytes)
{
    return tile_emu_block_memory(((Thread *)thread->owner)->block, (size_t)bytes);
}

/* ---- what went wrong ---- */

static const char *operation_text(uint32_t op)
{
    static const char *const NAMES[] = {
        [TILE_EMU_NONE] = "a loop that waits",
        [TILE_EMU_BARRIER] = "the block's barrier",
        [TILE_EMU_WARP_SYNC] = "a warp's barrier",
        [TILE_EMU_SHUFFLE] = "a shuffle",
        [TILE_EMU_LDMATRIX] = "ldmatrix",
        [TILE_EMU_MMA] = "mma",
        [TILE_EMU_VOTE] = "a vote",
        [TILE_EMU_WGMMA] = "wgmma",
    };
    return op < sizeof NAMES / sizeof *NAMES ? NAMES[op] : "an unknown operation";
}

/* `mode` means something to these alone. */
static bool has_mode(uint32_t op)
{
    return op == TILE_EMU_SHUFFLE || op == TILE_EMU_MMA || op == TILE_EMU_BARRIER;
}

static bool same_wait(const Thread *a, const Thread *b)
{
    if (a->state != b->state) return false;
    if (a->state != THREAD_WAITING) return true;
    return a->abi.op == b->abi.op && a->abi.site == b->abi.site &&
           (a->abi.mode == b->abi.mode || !has_mode(a->abi.op));
}

static uint32_t lanes_like(const Thread *lanes, uint32_t lane)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LANES; i++) mask |= same_wait(&lanes[lane], &lanes[i]) ? 1u << i : 0;
    return mask;
}

/* Lane numbers as "0-3, 8". */
static const char *lanes_text(uint32_t mask, char out[PLACE_TEXT])
{
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < LANES && length < PLACE_TEXT; i++) {
        if (!(mask >> i & 1)) continue;
        uint32_t last = i;
        while (last + 1 < LANES && mask >> (last + 1) & 1) last++;
        const char *comma = length ? ", " : "";
        length +=
            (size_t)(last > i
                         ? snprintf(out + length, PLACE_TEXT - length, "%s%u-%u", comma, i, last)
                         : snprintf(out + length, PLACE_TEXT - length, "%s%u", comma, i));
        i = last;
    }
    return out;
}

static void describe_lanes(const Launch *launch, const Thread *lanes, uint32_t mask, char *out,
                           size_t size)
{
    char numbers[PLACE_TEXT], place[PLACE_TEXT];
    const Thread *first = &lanes[__builtin_ctz(mask)];
    lanes_text(mask, numbers);
    if (first->state == THREAD_ENDED)
        snprintf(out, size, "; lanes %s have ended", numbers);
    else
        snprintf(out, size, "; lanes %s are at %s (%s)", numbers, operation_text(first->abi.op),
                 tile_emu_place(launch, first->abi.site, place));
}

/* The lanes of a warp wait at different operations, or some have ended. */
static void report_divergence(Block *block, const Thread *lanes)
{
    uint32_t best = 0, waiting = 0; /* the operation where most lanes are */
    for (uint32_t lane = 0; lane < LANES; lane++) {
        uint32_t mask = lanes_like(lanes, lane);
        bool more = __builtin_popcount(mask) > __builtin_popcount(best);
        if (lanes[lane].state == THREAD_WAITING && more) best = mask, waiting = lane;
    }
    char text[768] = "", numbers[PLACE_TEXT];
    size_t length = 0;
    for (uint32_t rest = ~best; rest && length < sizeof text - 1;) {
        uint32_t mask = lanes_like(lanes, (uint32_t)__builtin_ctz(rest));
        describe_lanes(block->launch, lanes, mask, text + length, sizeof text - length);
        length += strlen(text + length);
        rest &= ~mask;
    }
    const Thread *first = &lanes[waiting];
    FaultKind kind = first->abi.op == TILE_EMU_BARRIER ? FAULT_BARRIER : FAULT_DIVERGENCE;
    tile_emu_fault_add(block->launch, kind, first->abi.site, NO_SITE,
                       "warp %u of block (%u, %u, %u): lanes %s are at %s, which needs all lanes%s",
                       first->warp, block->index[0], block->index[1], block->index[2],
                       lanes_text(best, numbers), operation_text(first->abi.op), text);
}

static const Thread *find_thread(const Block *block, ThreadState state)
{
    for (uint32_t i = 0; i < block->thread_count; i++)
        if (block->threads[i].state == state) return &block->threads[i];
    return NULL;
}

static bool is_block_barrier(const Thread *thread)
{
    return !thread->abi.in[0] || thread->abi.in[0] == thread->block->thread_count;
}

/* Two groups of threads wait at different barriers, each for the other, or for one that has ended.
 */
static void report_group_barrier(Block *block, const Thread *waiting)
{
    char others[PLACE_TEXT + 64] = "", place[PLACE_TEXT];
    for (uint32_t i = 0; i < block->thread_count && !*others; i++) {
        const Thread *other = &block->threads[i];
        if (other->state == THREAD_WAITING && !same_wait(waiting, other))
            snprintf(others, sizeof others, "; thread %u waits at %s (%s)", other->abi.index,
                     operation_text(other->abi.op),
                     tile_emu_place(block->launch, other->abi.site, place));
        else if (other->state == THREAD_ENDED)
            snprintf(others, sizeof others, "; thread %u has ended", other->abi.index);
    }
    tile_emu_fault_add(block->launch, FAULT_BARRIER, waiting->abi.site, NO_SITE,
                       "block (%u, %u, %u): thread %u waits at barrier %u for %u threads, which do "
                       "not all come%s",
                       block->index[0], block->index[1], block->index[2], waiting->abi.index,
                       waiting->abi.mode,
                       waiting->abi.in[0] ? waiting->abi.in[0] : block->thread_count, others);
}

/* Some warps have ended while others wait at the block's barrier. */
static void report_barrier(Block *block)
{
    const Thread *waiting = find_thread(block, THREAD_WAITING),
                 *ended = find_thread(block, THREAD_ENDED);
    if (!is_block_barrier(waiting) || !ended) {
        report_group_barrier(block, waiting);
        return;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->thread_count; i++)
        count += block->threads[i].state == THREAD_ENDED;
    tile_emu_fault_add(
        block->launch, FAULT_BARRIER, waiting->abi.site, NO_SITE,
        "block (%u, %u, %u): thread %u waits for all threads at the block's barrier, and %u of %u "
        "have ended, thread %u the first",
        block->index[0], block->index[1], block->index[2], waiting->abi.index, count,
        block->thread_count, ended->abi.index);
}

static void report_deadlock(Block *block)
{
    const Thread *spinning = find_thread(block, THREAD_READY),
                 *waiting = find_thread(block, THREAD_WAITING);
    char place[PLACE_TEXT] = "", others[PLACE_TEXT + 64] = "", awaited[PLACE_TEXT];
    tile_emu_awaited_text(spinning, awaited);
    if (waiting)
        snprintf(others, sizeof others, ", while thread %u waits at %s (%s)", waiting->abi.index,
                 operation_text(waiting->abi.op),
                 tile_emu_place(block->launch, waiting->abi.site, place));
    tile_emu_fault_add(block->launch, FAULT_DEADLOCK, spinning->abi.site,
                       waiting ? waiting->abi.site : NO_SITE,
                       "block (%u, %u, %u): thread %u waits %s%s", block->index[0], block->index[1],
                       block->index[2], spinning->abi.index, awaited, others);
}

/* ---- warps ---- */

typedef enum WarpState { WARP_YIELDS, WARP_AT_BARRIER, WARP_ENDED, WARP_DIVERGED } WarpState;

static ResumeFunction *resume_function(const void *handle)
{
    ResumeFunction *function;
    memcpy(&function, handle, sizeof function);
    return function;
}

static void thread_resume(Thread *thread)
{
    resume_function(thread->handle)(thread->handle);
    if (!resume_function(thread->handle))
        thread->state = THREAD_ENDED;
    else if (thread->abi.op != TILE_EMU_NONE)
        thread->state = THREAD_WAITING;
}

/* Resumes the lanes that can run, once each; the number that gave way and can run again. */
static uint32_t resume_lanes(Block *block, Thread *lanes)
{
    uint32_t ready = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        if (lanes[i].state != THREAD_READY) continue;
        thread_resume(&lanes[i]);
        ready += lanes[i].state == THREAD_READY;
        block->progress |= lanes[i].state != THREAD_READY;
    }
    if (block->launch->checker) tile_emu_note_round(block->launch->checker->statistics);
    return ready;
}

static bool arrived_together(const Thread *lanes)
{
    for (uint32_t i = 1; i < LANES; i++)
        if (!same_wait(&lanes[0], &lanes[i])) return false;
    return true;
}

static void release_lanes(Thread *lanes)
{
    for (uint32_t i = 0; i < LANES; i++) lanes[i].state = THREAD_READY;
}

/* Runs a warp until it waits for others, or has ended. */
static WarpState run_warp(Block *block, Thread *lanes)
{
    for (;;) {
        if (resume_lanes(block, lanes)) return WARP_YIELDS;
        if (block->launch->stopped) return WARP_YIELDS;
        if (!arrived_together(lanes)) return WARP_DIVERGED;
        if (lanes->state == THREAD_ENDED) return WARP_ENDED;
        if (lanes->abi.op == TILE_EMU_BARRIER) return WARP_AT_BARRIER;
        tile_emu_execute(block, lanes);
        release_lanes(lanes);
    }
}

/* ---- blocks ---- */

static bool start_threads(Block *block)
{
    const Launch *launch = block->launch;
    RampFunction *ramp;
    memcpy(&ramp, &launch->entry->emulated, sizeof ramp);
    for (uint32_t i = 0; i < block->thread_count; i++) {
        Thread *thread = &block->threads[i];
        *thread = (Thread){
            .abi = {.index = i,
                    .checked = launch->checker != NULL,
                    .block = {block->index[0], block->index[1], block->index[2]},
                    .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
                    .shared = block->shared},
            .block = block,
            .warp = (uint8_t)(i / LANES),
            .lane = (uint8_t)(i % LANES),
        };
        thread->abi.owner = thread;
        thread->handle = ramp(&thread->abi, launch->parameters);
        if (!thread->handle) return false;
        if (!resume_function(thread->handle)) thread->state = THREAD_ENDED;
    }
    return true;
}

static void begin_block(Block *block, uint64_t number)
{
    Launch *launch = block->launch;
    block->id = (uint32_t)number + 1;
    block->index[0] = (uint32_t)(number % launch->grid.x);
    block->index[1] = (uint32_t)(number / launch->grid.x % launch->grid.y);
    block->index[2] = (uint32_t)(number / launch->grid.x / launch->grid.y);
    frames_reset(&block->frames);
    block->free_copies = NULL;
    block->stores = 0;
    block->first_box = block->last_box = block->free_boxes = NULL;
    block->free_readings = NULL;
    block->first_arrival = block->last_arrival = block->free_arrivals = NULL;
    if (launch->checker) tile_emu_check_begin_block(block);
    if (!start_threads(block)) launch->no_memory = launch->stopped = true;
}

typedef struct Tally {
    uint32_t at_barrier, ended, yields;
} Tally;

static void release_warp(Block *block, uint32_t warp, WarpState *states)
{
    release_lanes(block->threads + warp * LANES);
    states[warp] = WARP_YIELDS;
    block->progress = block->released = true;
}

/* The warps that wait at a barrier, as a mask, and how many threads it waits for. */
static uint32_t warps_at(const Block *block, const WarpState *states, uint32_t barrier,
                         uint32_t *wanted)
{
    uint32_t mask = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const Thread *first = &block->threads[w * LANES];
        if (states[w] != WARP_AT_BARRIER || first->abi.mode != barrier) continue;
        *wanted = first->abi.in[0] ? first->abi.in[0] : block->thread_count;
        mask |= 1u << w;
    }
    return mask;
}

/* Lets those go on whose barrier all that it waits for have reached. */
static void release_barriers(Block *block, WarpState *states)
{
    for (uint32_t barrier = 0; barrier < BARRIERS; barrier++) {
        uint32_t wanted = 0, mask = warps_at(block, states, barrier, &wanted);
        if (!mask || (uint32_t)__builtin_popcount(mask) * LANES < wanted) continue;
        if (block->launch->checker) tile_emu_check_barrier(block, mask);
        for (uint32_t w = 0; w < block->warp_count; w++)
            if (mask >> w & 1) release_warp(block, w, states);
    }
}

/* One turn for each warp; false if a warp diverged. */
static bool run_round(Block *block, WarpState *states, Tally *tally)
{
    *tally = (Tally){0};
    for (uint32_t w = 0; w < block->warp_count; w++) {
        Thread *lanes = block->threads + w * LANES;
        if (states[w] == WARP_YIELDS) states[w] = run_warp(block, lanes);
        if (states[w] == WARP_DIVERGED) {
            report_divergence(block, lanes);
            return false;
        }
        tally->at_barrier += states[w] == WARP_AT_BARRIER;
        tally->ended += states[w] == WARP_ENDED;
        tally->yields += states[w] == WARP_YIELDS;
    }
    return true;
}

/* Whether a block whose warps only wait for memory may hope. */
static bool may_wait(const Block *block, uint32_t *idle)
{
    if (block->progress)
        *idle = 0;
    else
        ++*idle;
    /* Blocks run one at a time where they are checked, so nobody else can write. */
    if (block->launch->checker) return *idle < IDLE_CHECKED;
    if (*idle > IDLE_POLITE) sched_yield();
    return *idle < IDLE_FAST;
}

/* False after a fault that ends the launch. */
static bool run_block(Block *block)
{
    WarpState states[MAX_WARPS] = {WARP_YIELDS};
    Tally tally;
    uint32_t idle = 0;
    while (!block->launch->stopped) {
        block->progress = block->released = false;
        if (!run_round(block, states, &tally)) return false;
        if (tally.ended == block->warp_count) {
            if (block->first_box || block->stores) tile_emu_check_boxes(block);
            return true;
        }
        if (tally.at_barrier) release_barriers(block, states);
        if (!tally.yields && !block->released) {
            report_barrier(block);
            return false;
        }
        if (!may_wait(block, &idle)) {
            report_deadlock(block);
            return false;
        }
    }
    return false;
}

/* ---- launches ---- */

static bool init_block(Block *block, Launch *launch)
{
    size_t shared = ((size_t)launch->entry->shared_bytes + 1023) & ~(size_t)1023;
    *block = (Block){.launch = launch, .warp_count = launch->entry->warps};
    block->thread_count = block->warp_count * LANES;
    block->threads = aligned_alloc(64, (block->thread_count * sizeof(Thread) + 63) & ~(size_t)63);
    block->memory = aligned_alloc(1024, shared + 2 * RED_ZONE);
    if (!block->threads || !block->memory) return false;
    block->shared = block->memory + RED_ZONE;
    return true;
}

static void *run_worker(void *argument)
{
    Launch *launch = argument;
    Block *block = aligned_alloc(64, (sizeof *block + 63) & ~(size_t)63);
    if (!block || !init_block(block, launch)) launch->no_memory = launch->stopped = true;
    while (!launch->stopped) {
        uint64_t number = launch->next_block++;
        if (number >= launch->block_count) break;
        begin_block(block, number);
        if (!run_block(block)) launch->stopped = true;
    }
    if (block) {
        frames_free(&block->frames);
        free(block->threads);
        free(block->memory);
    }
    free(block);
    return NULL;
}

static uint32_t worker_count(const Launch *launch)
{
    cpu_set_t set;
    if (launch->checker || sched_getaffinity(0, sizeof set, &set)) return 1;
    uint64_t count = (uint64_t)CPU_COUNT(&set);
    count = count < launch->block_count ? count : launch->block_count;
    return count > MAX_WORKERS ? MAX_WORKERS : (uint32_t)count;
}

/* This thread is a worker too; what cannot be started is done by those that are there. */
static void run_workers(Launch *launch)
{
    pthread_t threads[MAX_WORKERS];
    uint32_t started = 0, wanted = worker_count(launch);
    while (started + 1 < wanted && !pthread_create(&threads[started], NULL, run_worker, launch))
        started++;
    run_worker(launch);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

static tile_status check_launch(const tile_entry *entry, uint64_t block_count)
{
    const char *name = entry->name ? entry->name : "?";
    if (!entry->emulated)
        return tile_error(TILE_ERROR_NO_EMULATOR, "%s: the image holds no code for the emulator",
                          name);
    if (!entry->warps || entry->warps > MAX_WARPS)
        return tile_error(TILE_ERROR_ARGUMENT, "%s: %u warps a block, the emulator runs 1 to %d",
                          name, entry->warps, (int)MAX_WARPS);
    if (block_count >= UINT32_MAX)
        return tile_error(TILE_ERROR_ARGUMENT, "%s: too many blocks for the emulator", name);
    return TILE_OK;
}

/* The number of blocks, or UINT64_MAX where it does not fit in 64 bits. */
static uint64_t count_blocks(const tile_grid *grid)
{
    uint64_t plane = (uint64_t)grid->x * grid->y, count;
    return __builtin_mul_overflow(plane, (uint64_t)grid->z, &count) ? UINT64_MAX : count;
}

TILE_API tile_status tile_emulator_run(const tile_image *image, const tile_entry *entry,
                                       const tile_grid *grid, const void *const *parameters)
{
    Launch launch = {.entry = entry,
                     .sites = image->sites,
                     .site_count = image->sites ? image->site_count : 0,
                     .grid = *grid,
                     .parameters = parameters,
                     .block_count = count_blocks(grid),
                     .matrix = tile_emu_choose_matrix()};
    bool checked = false;
    tile_status status = check_launch(entry, launch.block_count);
    if (status == TILE_OK) status = tile_emu_is_checked(&checked);
    if (status != TILE_OK || !launch.block_count) return status;
    if (checked) {
        launch.checker = tile_emu_checker_new(&launch);
        if (!launch.checker)
            return tile_error(TILE_ERROR_MEMORY, "%s: no memory left for the emulator",
                              entry->name);
    }
    pthread_mutex_init(&launch.faults.lock, NULL);
    run_workers(&launch);
    status = tile_emu_fault_report(&launch);
    if (checked) {
        tile_emu_statistics_publish(launch.checker->statistics, &launch);
        tile_emu_checker_free(launch.checker);
    }
    tile_emu_fault_free(&launch);
    return status;
}
