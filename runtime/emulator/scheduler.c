/* scheduler.c: runs a launch. Workers take blocks in order, those that run together as a team;
 * within a block the threads of a warp are resumed one after another until each waits, then the
 * warp's operation is executed, and so on until all of the block waits at its barrier. Blocks start
 * in order, so one that waits for memory written by an earlier block is served. One that waits for
 * memory all the same gets the next ones beside it, as many as a machine has room for.
 *
 * Cooperative operations are convergent: bar.sync is .aligned, shfl.sync and bar.warp.sync get the
 * mask of all lanes, ldmatrix and mma.sync need all of them (PTX ISA, the sections of these names),
 * so lanes that wait at different ones wait for ever. */
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emulator/checker.h"

enum {
    MAX_WORKERS = 64,
    CHUNK_BYTES = 1 << 20,
    MOST_OPERATIONS = 1 << 10, /* of a warp, before others have their turns */
    IDLE_MUTANT = 1 << 10,     /* somebody waits for ever in many of them */
    IDLE_POLITE = 1 << 8, /* of each so many-th another thread has its turn, which may be long */
    IDLE_BESIDE = 1 << 4  /* of all workers: more blocks may help */
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
    Thread *owner = thread->owner;
    owner->frame_bytes = (size_t)bytes;
    return tile_emu_block_memory(owner->block, (size_t)bytes);
}

/* ---- warps ---- */

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

/* Whose turn it is as the i-th of so many. */
static uint32_t turn(const Launch *launch, uint32_t i, uint32_t count)
{
    return launch->backwards ? count - 1 - i : i;
}

/* Resumes the lanes that can run, once each; the number that gave way and can run again. */
static uint32_t resume_lanes(Block *block, Thread *lanes)
{
    uint32_t ready = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        Thread *lane = &lanes[turn(block->launch, i, LANES)];
        if (lane->state != THREAD_READY) continue;
        thread_resume(lane);
        ready += lane->state == THREAD_READY;
        block->progress |= lane->state != THREAD_READY;
    }
    if (block->launch->checker) tile_emu_note_round(block->launch->checker->statistics);
    return ready;
}

static bool arrived_together(const Thread *lanes)
{
    for (uint32_t i = 1; i < LANES; i++)
        if (!tile_emu_same_wait(&lanes[0], &lanes[i])) return false;
    return true;
}

static void release_lanes(Thread *lanes)
{
    for (uint32_t i = 0; i < LANES; i++) lanes[i].state = THREAD_READY;
}

/* Runs a warp until it waits for others, or has ended. */
static WarpState run_warp(Block *block, Thread *lanes)
{
    for (uint32_t i = 0; i < MOST_OPERATIONS; i++) {
        if (resume_lanes(block, lanes)) return WARP_YIELDS;
        if (block->launch->stopped) return WARP_YIELDS;
        if (!arrived_together(lanes)) return WARP_DIVERGED;
        if (lanes->state == THREAD_ENDED) return WARP_ENDED;
        if (lanes->abi.op == TILE_EMU_BARRIER) return WARP_AT_BARRIER;
        if (lanes->abi.op == TILE_EMU_CLUSTER_WAIT) return WARP_AT_CLUSTER;
        if (lanes->abi.op == TILE_EMU_GRID_SYNC) return WARP_AT_GRID;
        if (lanes->abi.op != TILE_EMU_REGISTERS)
            tile_emu_execute(block, lanes);
        else if (!tile_emu_set_registers(block, lanes))
            return WARP_AT_REGISTERS;
        release_lanes(lanes);
    }
    return WARP_YIELDS;
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
                    .checked = launch->checker ? TILE_EMU_CHECKED : 0,
                    .block = {block->index[0], block->index[1], block->index[2]},
                    .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
                    .shared = block->shared,
                    .rank = block->rank},
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

void tile_emu_block_index(const Launch *launch, uint64_t number, uint32_t out[3])
{
    const uint32_t extents[3] = {launch->grid.x, launch->grid.y, launch->grid.z};
    const uint32_t *cluster = launch->cluster;
    const uint64_t blocks = (uint64_t)cluster[0] * cluster[1] * cluster[2];
    uint64_t rank = number % blocks, which = number / blocks;
    for (int i = 0; i < 3; i++) {
        const uint32_t clusters = extents[i] / cluster[i];
        out[i] = (uint32_t)(which % clusters * cluster[i] + rank % cluster[i]);
        which /= clusters;
        rank /= cluster[i];
    }
}

static void begin_block(Block *block, uint64_t number)
{
    Launch *launch = block->launch;
    block->id = (uint32_t)number + 1;
    tile_emu_block_index(launch, number, block->index);
    frames_reset(&block->frames);
    memset(block->states, 0, sizeof block->states);
    memset(block->arrivals, 0, sizeof block->arrivals);
    memset(block->waits, 0, sizeof block->waits);
    block->ended = false;
    block->free_copies = NULL;
    block->stores = 0;
    block->first_box = block->last_box = block->free_boxes = NULL;
    block->first_read = block->last_read = NULL;
    block->free_readings = NULL;
    block->first_arrival = block->last_arrival = block->free_arrivals = NULL;
    block->first_making = NULL;
    tile_emu_begin_registers(block);
    if (launch->checker) tile_emu_check_begin_block(block);
    if (!start_threads(block)) launch->no_memory = launch->stopped = true;
}

void tile_emu_release_warp(Block *block, uint32_t warp)
{
    release_lanes(block->threads + warp * LANES);
    block->states[warp] = WARP_YIELDS;
    block->progress = block->released = true;
}

/* The warps that wait at a barrier, as a mask, and how many threads it waits for; -1 of those if
 * they do not agree, or are more. */
static uint32_t warps_at(const Block *block, uint32_t barrier, int64_t *wanted)
{
    uint32_t mask = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        const Thread *first = &block->threads[w * LANES];
        if (block->states[w] != WARP_AT_BARRIER || first->abi.mode != barrier) continue;
        const int64_t count = tile_emu_barrier_threads(first);
        *wanted = !mask || *wanted == count ? count : -1;
        mask |= 1u << w;
    }
    if (__builtin_popcount(mask) * LANES > *wanted) *wanted = -1;
    return mask;
}

/* Lets those go on whose barrier all that it waits for have reached. */
static void release_barriers(Block *block)
{
    for (uint32_t barrier = 0; barrier < BARRIERS; barrier++) {
        int64_t wanted = 0;
        const uint32_t mask = warps_at(block, barrier, &wanted);
        if (!mask || __builtin_popcount(mask) * LANES < wanted) continue;
        if (wanted < 0) tile_emu_report_crowd(block, mask);
        if (block->launch->checker) tile_emu_check_barrier(block, mask);
        for (uint32_t w = 0; w < block->warp_count; w++)
            if (mask >> w & 1) tile_emu_release_warp(block, w);
    }
}

/* One turn for each warp; false if a warp diverged. */
static bool run_warps(Block *block)
{
    uint32_t ended = 0;
    block->at_barrier = block->yields = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const uint32_t w = turn(block->launch, i, block->warp_count);
        Thread *lanes = block->threads + w * LANES;
        if (block->states[w] == WARP_YIELDS) block->states[w] = run_warp(block, lanes);
        if (block->states[w] == WARP_DIVERGED) {
            tile_emu_report_divergence(block, lanes);
            return false;
        }
        block->at_barrier += block->states[w] == WARP_AT_BARRIER;
        ended += block->states[w] == WARP_ENDED;
        block->yields += block->states[w] == WARP_YIELDS;
    }
    block->ended = ended == block->warp_count;
    return true;
}

static void end_block(Block *block)
{
    tile_emu_check_registers(block);
    if (block->first_box || block->stores) tile_emu_check_boxes(block);
    if (block->first_read) tile_emu_write_boxes(block);
    if (block->watch) tile_emu_check_end_block(block);
    if (block->launch->seeks_evidence) tile_emu_note_unused(block);
}

/* One turn for each block; false after a fault that ends the launch. */
static bool run_round(Team *team)
{
    for (uint32_t i = 0; i < team->count; i++) {
        Block *block = &team->blocks[turn(team->launch, i, team->count)];
        block->progress = block->released = false;
        if (block->ended) continue;
        if (!run_warps(block)) return false;
        if (block->ended) end_block(block);
        if (block->at_barrier) release_barriers(block);
        tile_emu_release_registers(block);
    }
    tile_emu_release_clusters(team);
    tile_emu_release_grid(team);
    return true;
}

typedef struct Tally {
    uint32_t ended, yields;
    bool progress, released;
} Tally;

static Tally tally_of(const Team *team)
{
    Tally tally = {0};
    for (uint32_t i = 0; i < team->count; i++) {
        const Block *block = &team->blocks[i];
        tally.ended += block->ended;
        tally.yields += block->yields;
        tally.progress |= block->progress;
        tally.released |= block->released;
    }
    return tally;
}

/* ---- teams ---- */

static bool init_block(Block *block, Team *team, uint32_t place)
{
    Launch *launch = team->launch;
    size_t shared = ((size_t)launch->entry->shared_bytes + 1023) & ~(size_t)1023;
    *block = (Block){.launch = launch,
                     .team = team,
                     .cluster = &team->clusters[place / launch->cluster_blocks],
                     .rank = place % launch->cluster_blocks,
                     .warp_count = launch->entry->warps};
    block->thread_count = block->warp_count * LANES;
    block->threads = aligned_alloc(64, (block->thread_count * sizeof(Thread) + 63) & ~(size_t)63);
    block->memory = aligned_alloc(1024, shared + 2 * RED_ZONE);
    block->shared = block->memory + RED_ZONE;
    if (launch->checker) block->watch = tile_emu_watch_new(launch);
    return block->threads && block->memory && (block->watch || !launch->checker);
}

static void team_free(Team *team)
{
    for (uint32_t i = 0; i < team->made; i++) {
        Block *block = &team->blocks[i];
        frames_free(&block->frames);
        tile_emu_watch_free(block->watch);
        free(block->threads);
        free(block->memory);
    }
    free(team->blocks);
    free(team->clusters);
}

/* False: there is no memory. */
static bool init_team(Team *team, Launch *launch)
{
    *team =
        (Team){.launch = launch,
               .blocks = aligned_alloc(64, launch->most_blocks * sizeof(Block)),
               .clusters = calloc(launch->most_blocks / launch->cluster_blocks, sizeof(Cluster))};
    return team->blocks && team->clusters;
}

/* The first of blocks that follow each other, at most `*count`, and how many they are: 0: there are
 * none left. */
static uint64_t take_blocks(Launch *launch, uint32_t *count)
{
    uint64_t number = launch->next_block;
    do {
        const uint64_t left = launch->block_count - number;
        if (left < *count) *count = (uint32_t)left;
    } while (!atomic_compare_exchange_weak(&launch->next_block, &number, number + *count));
    return number;
}

/* Whole clusters, behind those that the team has. */
static void begin_blocks(Team *team, uint64_t number, uint32_t count)
{
    Launch *launch = team->launch;
    const uint32_t size = launch->cluster_blocks;
    for (uint32_t i = 0; i < count; i++) {
        Block *block = &team->blocks[team->count];
        if (team->count % size == 0)
            team->clusters[team->cluster_count++] = (Cluster){.blocks = block, .count = size};
        if (team->count == team->made && !init_block(block, team, team->made++)) {
            launch->no_memory = launch->stopped = true;
            return;
        }
        team->count++;
        begin_block(block, number + i);
    }
}

static void begin_team(Team *team, uint64_t number)
{
    team->first_id = (uint32_t)number + 1;
    team->count = team->cluster_count = 0;
    tile_emu_cycle_begin_team(team);
    if (team->launch->checker) tile_emu_order_begin_team(team->launch->checker->order);
    begin_blocks(team, number, team->launch->team_blocks);
}

/* Whether a thread waits for what another block may write. */
static bool waits_for_memory(const Team *team)
{
    for (uint32_t i = 0; i < team->count; i++)
        for (uint32_t t = 0; t < team->blocks[i].thread_count; t++) {
            const Thread *thread = &team->blocks[i].threads[t];
            if (thread->state == THREAD_READY && !thread->awaited) return true;
        }
    return false;
}

/* As many as there are. False: there are no more, or there is no room. */
static bool begin_more(Team *team)
{
    Launch *launch = team->launch;
    const uint32_t room = launch->most_blocks - team->count;
    uint32_t count = room < team->count ? room : team->count;
    if (!count) return false;
    const uint64_t number = take_blocks(launch, &count);
    if (!count) return false;
    tile_emu_cycle_begin_team(team);
    begin_blocks(team, number, count);
    return true;
}

/* Whether nothing else will happen any more, after a round that was the `idle`-th of those in which
 * all but waited. */
static bool is_stuck(Team *team, const Tally *tally, uint32_t idle)
{
    if (!tally->yields && !tally->released) return true;
    if (team->launch->seeks_evidence && idle >= IDLE_MUTANT) return true;
    if (!team->launch->checker && idle > 0 && idle % IDLE_POLITE == 0) sched_yield();
    return tile_emu_cycle_round(team, idle);
}

/* Counts the teams of the launch that do more than wait. */
static void set_busy(Team *team, bool is_busy)
{
    if (is_busy != team->is_busy) team->launch->busy += is_busy ? 1 : -1;
    team->is_busy = is_busy;
}

/* False after a fault that ends the launch. */
static bool run_rounds(Team *team)
{
    uint32_t idle = 0;
    while (!team->launch->stopped) {
        if (!run_round(team)) return false;
        const Tally tally = tally_of(team);
        if (tally.ended == team->count) return true;
        idle = tally.progress ? 0 : idle + 1;
        set_busy(team, idle < IDLE_BESIDE);
        if (!team->launch->busy && waits_for_memory(team) && begin_more(team)) idle = 0;
        if (is_stuck(team, &tally, idle)) {
            if (tally.yields + tally.released && begin_more(team)) continue;
            if (!team->launch->stopped) tile_emu_report_stuck(team, tally.released);
            return false;
        }
    }
    return false;
}

static bool run_team(Team *team)
{
    set_busy(team, true);
    const bool fine = run_rounds(team);
    set_busy(team, false);
    return fine;
}

/* ---- launches ---- */

static void *run_worker(void *argument)
{
    Launch *launch = argument;
    Team team;
    if (!init_team(&team, launch)) launch->no_memory = launch->stopped = true;
    while (!launch->stopped) {
        uint32_t count = launch->team_blocks;
        const uint64_t number = take_blocks(launch, &count);
        if (!count) break;
        begin_team(&team, number);
        if (!run_team(&team)) launch->stopped = true;
    }
    team_free(&team);
    launch->changes++;
    launch->teams--;
    return NULL;
}

static uint32_t worker_count(const Launch *launch)
{
    cpu_set_t set;
    if (launch->checker || launch->is_whole || launch->in_turn ||
        sched_getaffinity(0, sizeof set, &set))
        return 1;
    uint64_t count = (uint64_t)CPU_COUNT(&set);
    const uint64_t teams = launch->block_count / launch->team_blocks;
    count = count < teams ? count : teams;
    return count > MAX_WORKERS ? MAX_WORKERS : (uint32_t)count;
}

/* This thread is a worker too; what cannot be started is done by those that are there. */
static void run_workers(Launch *launch)
{
    pthread_t threads[MAX_WORKERS];
    uint32_t started = 0, wanted = worker_count(launch);
    launch->teams = wanted;
    while (started + 1 < wanted && !pthread_create(&threads[started], NULL, run_worker, launch))
        started++;
    launch->teams -= wanted - started - 1;
    run_worker(launch);
    for (uint32_t i = 0; i < started; i++) pthread_join(threads[i], NULL);
}

/* As many as an H100 runs at a time, but for what registers allow. */
static uint32_t resident_blocks(const tile_entry *entry)
{
    enum { PROCESSORS = 132, WARPS = 64, BLOCKS = 32, SHARED = 228 << 10, RESERVED = 1 << 10 };
    const uint32_t by_warps = WARPS / entry->warps,
                   by_memory = SHARED / (entry->shared_bytes + RESERVED);
    const uint32_t blocks = by_warps < by_memory ? by_warps : by_memory;
    return PROCESSORS * (blocks > BLOCKS ? (uint32_t)BLOCKS : blocks);
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
    if (entry->cooperative && block_count > resident_blocks(entry))
        return tile_error(TILE_ERROR_ARGUMENT,
                          "%s: its blocks wait for each other, so all %" PRIu64
                          " have to run at a time, and the emulator's machine runs %u of %u warps "
                          "and %u bytes of shared memory",
                          name, block_count, resident_blocks(entry), entry->warps,
                          entry->shared_bytes);
    return TILE_OK;
}

/* The number of blocks, or UINT64_MAX where it does not fit in 64 bits. */
static uint64_t count_blocks(const tile_grid *grid)
{
    uint64_t plane = (uint64_t)grid->x * grid->y, count;
    return __builtin_mul_overflow(plane, (uint64_t)grid->z, &count) ? UINT64_MAX : count;
}

/* What runs together: a cluster, or in a cooperative launch all. */
static void set_teams(Launch *launch)
{
    const uint64_t room = resident_blocks(launch->entry);
    uint32_t size = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t extent = launch->entry->cluster[i];
        launch->cluster[i] = extent ? extent : 1;
        size *= launch->cluster[i];
    }
    launch->cluster_blocks = size;
    launch->team_blocks = launch->entry->cooperative ? (uint32_t)launch->block_count : size;
    launch->most_blocks =
        (uint32_t)(launch->block_count < room ? launch->block_count : room) / size * size;
    if (launch->most_blocks < launch->team_blocks) launch->most_blocks = launch->team_blocks;
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
                     .in_turn = tile_emu_is_in_turn(),
                     .matrix = tile_emu_choose_matrix()};
    bool checked = false;
    tile_status status = check_launch(entry, launch.block_count);
    if (status == TILE_OK) status = tile_emu_is_checked(&checked, &launch.backwards);
    if (status != TILE_OK || !launch.block_count) return status;
    launch.backwards = launch.backwards && !launch.in_turn;
    launch.is_whole = checked && tile_emu_is_whole(entry);
    checked = checked && !launch.is_whole;
    launch.seeks_evidence = checked && tile_emu_seeks_evidence();
    set_teams(&launch);
    if (checked) {
        launch.checker = tile_emu_checker_new(&launch);
        if (!launch.checker)
            return tile_error(TILE_ERROR_MEMORY, "%s: no memory left for the emulator",
                              entry->name);
    }
    pthread_mutex_init(&launch.faults.lock, NULL);
    run_workers(&launch);
    tile_emu_note_end();
    status = tile_emu_fault_report(&launch);
    if (checked) {
        tile_emu_statistics_publish(launch.checker->statistics, &launch);
        tile_emu_checker_free(launch.checker);
    }
    tile_emu_fault_free(&launch);
    return status;
}
