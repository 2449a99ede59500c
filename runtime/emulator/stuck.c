/* stuck.c: what is said of threads that wait for ever. */
#include <stdio.h>
#include <string.h>

#include "emulator/checker.h"

static const char *operation_text(uint32_t op)
{
    static const char *const NAMES[] = {
        [TILE_EMU_NONE] = "a loop that waits",
        [TILE_EMU_BARRIER] = "the block's barrier",
        [TILE_EMU_WARP_SYNC] = "a warp's barrier",
        [TILE_EMU_SHUFFLE] = "a shuffle",
        [TILE_EMU_LDMATRIX] = "ldmatrix",
        [TILE_EMU_STMATRIX] = "stmatrix",
        [TILE_EMU_MMA] = "mma",
        [TILE_EMU_VOTE] = "a vote",
        [TILE_EMU_REDUX] = "redux",
        [TILE_EMU_WGMMA] = "wgmma",
        [TILE_EMU_CLUSTER_ARRIVE] = "the arrival at the cluster's barrier",
        [TILE_EMU_CLUSTER_WAIT] = "the cluster's barrier",
        [TILE_EMU_GRID_SYNC] = "the barrier of the launch's blocks",
        [TILE_EMU_REGISTERS] = "setmaxnreg",
    };
    return op < sizeof NAMES / sizeof *NAMES ? NAMES[op] : "an unknown operation";
}

uint32_t tile_emu_barrier_threads(const Thread *waiting)
{
    return waiting->abi.in[0] ? waiting->abi.in[0] : waiting->block->thread_count;
}

static bool is_block_barrier(const Thread *waiting)
{
    return tile_emu_barrier_threads(waiting) == waiting->block->thread_count;
}

/* Where a thread waits: a group's barrier has a number. */
static const char *wait_text(const Thread *thread, char out[PLACE_TEXT])
{
    if (thread->abi.op != TILE_EMU_BARRIER || is_block_barrier(thread))
        return operation_text(thread->abi.op);
    snprintf(out, PLACE_TEXT, "barrier %u of %u threads", thread->abi.mode,
             tile_emu_barrier_threads(thread));
    return out;
}

/* `mode` means something to these alone. */
static bool has_mode(uint32_t op)
{
    return op == TILE_EMU_SHUFFLE || op == TILE_EMU_REDUX || op == TILE_EMU_MMA ||
           op == TILE_EMU_BARRIER;
}

bool tile_emu_same_wait(const Thread *a, const Thread *b)
{
    if (a->state != b->state) return false;
    if (a->state != THREAD_WAITING) return true;
    return a->abi.op == b->abi.op && a->abi.site == b->abi.site &&
           (a->abi.mode == b->abi.mode || !has_mode(a->abi.op));
}

static uint32_t lanes_like(const Thread *lanes, uint32_t lane)
{
    uint32_t mask = 0;
    for (uint32_t i = 0; i < LANES; i++)
        mask |= tile_emu_same_wait(&lanes[lane], &lanes[i]) ? 1u << i : 0;
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
void tile_emu_report_divergence(const Block *block, const Thread *lanes)
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

void tile_emu_report_crowd(const Block *block, uint32_t warps)
{
    const Thread *first = &block->threads[__builtin_ctz(warps) * LANES],
                 *last = &block->threads[(31 - __builtin_clz(warps)) * LANES];
    char place[PLACE_TEXT];
    tile_emu_fault_add(block->launch, FAULT_BARRIER, last->abi.site, NO_SITE,
                       "block (%u, %u, %u): %u threads wait at barrier %u at a time: thread %u for "
                       "%u threads, thread %u for %u (%s)",
                       block->index[0], block->index[1], block->index[2],
                       (uint32_t)__builtin_popcount(warps) * LANES, last->abi.mode, last->abi.index,
                       tile_emu_barrier_threads(last), first->abi.index,
                       tile_emu_barrier_threads(first),
                       tile_emu_place(block->launch, first->abi.site, place));
}

static const Thread *find_thread(const Block *block, ThreadState state)
{
    for (uint32_t i = 0; i < block->thread_count; i++)
        if (block->threads[i].state == state) return &block->threads[i];
    return NULL;
}

/* Two groups of threads wait at different barriers, each for the other, or for one that has ended.
 */
static void report_group_barrier(const Block *block, const Thread *waiting)
{
    char others[2 * PLACE_TEXT + 64] = "", place[PLACE_TEXT], where[PLACE_TEXT];
    for (uint32_t i = 0; i < block->thread_count && !*others; i++) {
        const Thread *other = &block->threads[i];
        if (other->state == THREAD_WAITING && !tile_emu_same_wait(waiting, other))
            snprintf(others, sizeof others, "; thread %u waits at %s (%s)", other->abi.index,
                     wait_text(other, where),
                     tile_emu_place(block->launch, other->abi.site, place));
        else if (other->state == THREAD_ENDED)
            snprintf(others, sizeof others, "; thread %u has ended", other->abi.index);
    }
    tile_emu_fault_add(block->launch, FAULT_BARRIER, waiting->abi.site, NO_SITE,
                       "block (%u, %u, %u): thread %u waits at barrier %u for %u threads, which do "
                       "not all come%s",
                       block->index[0], block->index[1], block->index[2], waiting->abi.index,
                       waiting->abi.mode, tile_emu_barrier_threads(waiting), others);
}

/* Some warps have ended while others wait at the block's barrier. */
static void report_barrier(const Block *block)
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

static void report_deadlock(const Block *block)
{
    const Thread *spinning = find_thread(block, THREAD_READY),
                 *waiting = find_thread(block, THREAD_WAITING);
    char place[PLACE_TEXT], where[PLACE_TEXT], awaited[AWAITED_TEXT];
    char others[2 * PLACE_TEXT + 64] = "";
    tile_emu_awaited_text(spinning, awaited);
    if (waiting)
        snprintf(others, sizeof others, ", while thread %u waits at %s (%s)", waiting->abi.index,
                 wait_text(waiting, where),
                 tile_emu_place(block->launch, waiting->abi.site, place));
    tile_emu_fault_add(block->launch, FAULT_DEADLOCK, spinning->abi.site,
                       waiting ? waiting->abi.site : NO_SITE,
                       "block (%u, %u, %u): thread %u waits %s%s", block->index[0], block->index[1],
                       block->index[2], spinning->abi.index, awaited, others);
}

/* Threads that meet again and again. */
static void report_cycle(const Block *block)
{
    char where[PLACE_TEXT];
    const Thread *waiting = find_thread(block, THREAD_WAITING);
    tile_emu_fault_add(
        block->launch, FAULT_DEADLOCK, waiting->abi.site, NO_SITE,
        "block (%u, %u, %u): thread %u comes to %s again and again, and what decides "
        "how often does not change any more",
        block->index[0], block->index[1], block->index[2], waiting->abi.index,
        wait_text(waiting, where));
}

/* ---- several blocks ---- */

/* A warp that waits for other blocks, and one of a block that does not come. */
static void report_blocks(const Team *team, const Block *block, uint32_t warp)
{
    const Thread *waiting = &block->threads[warp * LANES];
    const bool at_grid = block->states[warp] == WARP_AT_GRID;
    const uint32_t count = at_grid ? team->count : block->cluster->count;
    const Block *blocks = at_grid ? team->blocks : block->cluster->blocks;
    char other[2 * PLACE_TEXT + 128] = "", place[PLACE_TEXT], where[PLACE_TEXT];
    for (uint32_t i = 0; i < count * block->warp_count && !*other; i++) {
        const Block *at = &blocks[i / block->warp_count];
        const Thread *first = &at->threads[i % block->warp_count * LANES];
        if (at->states[first->warp] == block->states[warp]) continue;
        if (first->state == THREAD_ENDED)
            snprintf(other, sizeof other, ": thread %u of block (%u, %u, %u) has ended",
                     first->abi.index, at->index[0], at->index[1], at->index[2]);
        else
            snprintf(other, sizeof other, ": thread %u of block (%u, %u, %u) waits at %s (%s)",
                     first->abi.index, at->index[0], at->index[1], at->index[2],
                     wait_text(first, where),
                     tile_emu_place(block->launch, first->abi.site, place));
    }
    tile_emu_fault_add(block->launch, FAULT_DEADLOCK, waiting->abi.site, NO_SITE,
                       "block (%u, %u, %u): thread %u waits at %s, to which not all threads of its "
                       "%u blocks come%s",
                       block->index[0], block->index[1], block->index[2], waiting->abi.index,
                       operation_text(waiting->abi.op), count, other);
}

typedef bool Tells(WarpState state);

static bool spins(WarpState state)
{
    return state == WARP_YIELDS;
}

static bool is_at_own(WarpState state)
{
    return state == WARP_AT_BARRIER;
}

static bool is_at_others(WarpState state)
{
    return state == WARP_AT_CLUSTER || state == WARP_AT_GRID;
}

static bool lacks_registers(WarpState state)
{
    return state == WARP_AT_REGISTERS;
}

static const Block *find_warp(const Team *team, Tells *tells, uint32_t *warp)
{
    for (uint32_t i = 0; i < team->count; i++)
        for (*warp = 0; *warp < team->blocks[i].warp_count; ++*warp)
            if (tells(team->blocks[i].states[*warp])) return &team->blocks[i];
    return NULL;
}

void tile_emu_report_stuck(const Team *team, bool cycles)
{
    uint32_t warp;
    const Block *block = find_warp(team, lacks_registers, &warp);
    if (block) {
        tile_emu_report_registers(block, warp);
    } else if ((block = find_warp(team, spins, &warp)) && find_thread(block, THREAD_READY)) {
        report_deadlock(block);
    } else if (cycles) {
        for (block = team->blocks; !find_thread(block, THREAD_WAITING);) block++;
        report_cycle(block);
    } else if ((block = find_warp(team, is_at_own, &warp))) {
        report_barrier(block);
    } else if ((block = find_warp(team, is_at_others, &warp))) {
        report_blocks(team, block, warp);
    }
}
