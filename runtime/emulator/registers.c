/* registers.c: how many registers the threads of each warp have, and what the block's pool has for
 * others, from the PTX ISA manual, "setmaxnreg". A block has what its threads begin with: what a
 * warp gives away goes to the pool at once, and who asks for more waits until it is there. */
#include <stdio.h>
#include <string.h>

#include "emulator/emulator.h"

enum { UNIT = 8 /* of a count */ };

void tile_emu_begin_registers(Block *block)
{
    RegisterPool *pool = &block->pool;
    memset(pool, 0, sizeof *pool);
    for (uint32_t w = 0; w < block->warp_count; w++)
        pool->warps[w].count = block->launch->entry->registers;
}

/* ---- what the manual demands ---- */

/* `other` is the place of what it was to be like; NO_SITE: there is none. */
static void report(const Block *block, const Thread *lanes, const char *what, uint32_t other)
{
    char place[PLACE_TEXT], text[PLACE_TEXT + 4] = "";
    if (other != NO_SITE)
        snprintf(text, sizeof text, " (%s)", tile_emu_place(block->launch, other, place));
    tile_emu_fault_add(block->launch, FAULT_REGISTERS, lanes->abi.site, other,
                       "warp %u of block (%u, %u, %u) %s%s", lanes->warp, block->index[0],
                       block->index[1], block->index[2], what, text);
    block->launch->stopped = true;
}

/* The first warp of the warpgroup that has come to fewer of them; NULL: none. */
static const Thread *find_behind(const Block *block, uint32_t first, uint32_t comes)
{
    for (uint32_t w = first; w < first + WARPS_OF_GROUP && w < block->warp_count; w++)
        if (block->pool.warps[w].comes < comes) return &block->threads[w * LANES];
    return NULL;
}

/* All warps of a warpgroup execute the same ones. */
static void check_group(Block *block, const Thread *lanes)
{
    RegisterPool *pool = &block->pool;
    const uint32_t group = lanes->warp / WARPS_OF_GROUP, first = group * WARPS_OF_GROUP;
    WarpRegisters *own = &pool->warps[lanes->warp];
    GroupRegisters *of_group = &pool->groups[group];
    char text[128];
    if (first + WARPS_OF_GROUP > block->warp_count)
        report(block, lanes, "executes setmaxnreg, and is of no whole warpgroup", NO_SITE);
    const Thread *behind = find_behind(block, first, of_group->comes);
    if (++own->comes > of_group->comes) {
        if (behind) {
            snprintf(text, sizeof text,
                     "executes setmaxnreg again before warp %u of its warpgroup came to the last",
                     behind->warp);
            report(block, lanes, text, of_group->site);
        }
        *of_group = (GroupRegisters){own->comes, lanes->abi.in[0], lanes->abi.site};
    } else if (of_group->site != lanes->abi.site || of_group->count != lanes->abi.in[0]) {
        report(block, lanes, "executes another setmaxnreg than others of its warpgroup",
               of_group->site);
    }
}

void tile_emu_check_registers(const Block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w += WARPS_OF_GROUP) {
        const GroupRegisters *group = &block->pool.groups[w / WARPS_OF_GROUP];
        const Thread *behind = find_behind(block, w, group->comes);
        if (!behind) continue;
        report(block, behind, "has ended, and has not executed its warpgroup's setmaxnreg",
               group->site);
    }
}

static void check_direction(const Block *block, const Thread *lanes)
{
    const bool more = lanes->abi.mode == TILE_EMU_REGISTERS_INC;
    const uint32_t has = block->pool.warps[lanes->warp].count, count = lanes->abi.in[0];
    char text[128];
    if (more ? has <= count : has >= count) return;
    snprintf(text, sizeof text, "has %u registers a thread, %s than the %u of setmaxnreg.%s", has,
             more ? "more" : "fewer", count, more ? "inc" : "dec");
    report(block, lanes, text, NO_SITE);
}

/* ---- the pool ---- */

/* False: they are not there. */
static bool take(Block *block, const Thread *lanes)
{
    WarpRegisters *own = &block->pool.warps[lanes->warp];
    const uint32_t count = lanes->abi.in[0];
    if (count > own->count && (count - own->count) * LANES > block->pool.free) return false;
    block->pool.free += own->count * LANES;
    block->pool.free -= count * LANES;
    own->count = count;
    return true;
}

bool tile_emu_set_registers(Block *block, const Thread *lanes)
{
    check_group(block, lanes);
    check_direction(block, lanes);
    return take(block, lanes);
}

void tile_emu_release_registers(Block *block)
{
    for (uint32_t w = 0; w < block->warp_count; w++)
        if (block->states[w] == WARP_AT_REGISTERS && take(block, &block->threads[w * LANES]))
            tile_emu_release_warp(block, w);
}

/* ---- warps that wait for ever ---- */

/* "threads 0-127 have 240 each, 128-383 168" */
static void shares_text(const Block *block, char *out, size_t size)
{
    const WarpRegisters *warps = block->pool.warps;
    size_t length = 0;
    for (uint32_t w = 0, end; w < block->warp_count && length < size; w = end) {
        for (end = w + 1; end < block->warp_count && warps[end].count == warps[w].count;) end++;
        length += (size_t)snprintf(out + length, size - length,
                                   w ? ", %u-%u %u" : "threads %u-%u have %u", w * LANES,
                                   end * LANES - 1, warps[w].count);
    }
}

/* How many a thread would be there for all that come to where this warp waits. */
static uint32_t count_there(const Block *block, const Thread *waiting)
{
    uint32_t registers = block->pool.free, threads = 0;
    for (uint32_t w = 0; w < block->warp_count; w++) {
        if (block->pool.groups[w / WARPS_OF_GROUP].site != waiting->abi.site) continue;
        registers += block->pool.warps[w].count * LANES;
        threads += LANES;
    }
    return registers / threads / UNIT * UNIT;
}

void tile_emu_report_registers(const Block *block, uint32_t warp)
{
    const Thread *waiting = &block->threads[warp * LANES];
    const uint32_t has = block->pool.warps[warp].count, there = count_there(block, waiting);
    char shares[512], advice[96];
    shares_text(block, shares, sizeof shares);
    if (there > has)
        snprintf(advice, sizeof advice, "setmaxnreg.inc of %u at most would not wait", there);
    else
        snprintf(advice, sizeof advice, "others have to give some away by setmaxnreg.dec");
    tile_emu_fault_add(block->launch, FAULT_DEADLOCK, waiting->abi.site, NO_SITE,
                       "block (%u, %u, %u): thread %u waits for its warp to have %u registers a "
                       "thread, %u more in all, and %u are free of those that the block's %u "
                       "threads began with, %u each; now %s; %s",
                       block->index[0], block->index[1], block->index[2], waiting->abi.index,
                       waiting->abi.in[0], (waiting->abi.in[0] - has) * LANES, block->pool.free,
                       block->thread_count, block->launch->entry->registers, shares, advice);
}
