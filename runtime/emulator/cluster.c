/* cluster.c: blocks that run together: the shared memory of a cluster's blocks, barrier.cluster and
 * mapa from their definition in the PTX ISA manual, and the barrier of all blocks of a launch. */
#include "emulator/checker.h"

static bool is_near(const Block *block, uintptr_t address)
{
    const uintptr_t bytes = block->launch->entry->shared_bytes + 2 * RED_ZONE;
    return address - (uintptr_t)block->memory < bytes;
}

Block *tile_emu_home(Block *block, uintptr_t address)
{
    Cluster *cluster = block->cluster;
    if (cluster->count == 1 || is_near(block, address)) return block;
    for (uint32_t i = 0; i < cluster->count; i++)
        if (is_near(&cluster->blocks[i], address)) return &cluster->blocks[i];
    return block;
}

TILE_API void *tile_emu_cluster_address(tile_emu_thread *thread, void *pointer, uint32_t rank,
                                        uint32_t site)
{
    const Block *block = ((Thread *)thread->owner)->block;
    const Cluster *cluster = block->cluster;
    if (rank < cluster->count)
        return cluster->blocks[rank].shared + ((uint8_t *)pointer - block->shared);
    tile_emu_fault_add(block->launch, FAULT_BOUNDS, site, NO_SITE,
                       "thread %u of block (%u, %u, %u) uses the shared memory of block %u of a "
                       "cluster of %u blocks",
                       thread->index, block->index[0], block->index[1], block->index[2], rank,
                       cluster->count);
    block->launch->stopped = true;
    return pointer;
}

/* ---- the cluster's barrier ---- */

/* Whether all warps have arrived in the phase in flight that have not ended. */
static bool all_arrived(const Cluster *cluster)
{
    bool any = false;
    for (uint32_t i = 0; i < cluster->count; i++) {
        const Block *block = &cluster->blocks[i];
        for (uint32_t warp = 0; warp < block->warp_count; warp++) {
            if (block->states[warp] == WARP_ENDED) continue;
            if (block->arrivals[warp] <= cluster->phase) return false;
            any = true;
        }
    }
    return any;
}

static void report_order(const Block *block, const Thread *first, const char *what)
{
    tile_emu_fault_add(block->launch, FAULT_BARRIER, first->abi.site, NO_SITE,
                       "warp %u of block (%u, %u, %u) %s", first->warp, block->index[0],
                       block->index[1], block->index[2], what);
    block->launch->stopped = true;
}

void tile_emu_cluster_arrive(Block *block, Thread *lanes, bool relaxed)
{
    Cluster *cluster = block->cluster;
    uint32_t *arrivals = &block->arrivals[lanes->warp];
    if (*arrivals > block->waits[lanes->warp]) {
        report_order(block, lanes, "arrives twice at the cluster's barrier without waiting");
        return;
    }
    if (block->watch && !relaxed) {
        Order *order = block->launch->checker->order;
        uint32_t *known = &cluster->arrived[cluster->phase & 1];
        *known =
            tile_emu_order_both(order, *known, tile_emu_order_gather(order, block, lanes->warp));
    }
    ++*arrivals;
    block->progress = true;
}

/* What the threads of a warp know when the phase that they have arrived in is complete. */
static void learn(Block *block, uint32_t warp)
{
    Thread *lanes = block->threads + (size_t)warp * LANES;
    if (!block->watch) return;
    Order *order = block->launch->checker->order;
    const uint32_t known = block->cluster->arrived[(block->arrivals[warp] - 1) & 1];
    uint32_t before = UINT32_MAX, joint = 0;
    for (uint32_t i = 0; i < LANES; i++) {
        if (lanes[i].event != before) {
            before = lanes[i].event;
            joint = tile_emu_order_both(order, before, known);
        }
        lanes[i].event = joint;
    }
}

static void release_waiting(Block *block)
{
    for (uint32_t warp = 0; warp < block->warp_count; warp++) {
        if (block->states[warp] != WARP_AT_CLUSTER) continue;
        if (block->arrivals[warp] == block->waits[warp]) {
            report_order(block, block->threads + (size_t)warp * LANES,
                         "waits at the cluster's barrier where it has not arrived");
        } else if (block->arrivals[warp] <= block->cluster->phase) {
            learn(block, warp);
            block->waits[warp]++;
            tile_emu_release_warp(block, warp);
        }
    }
}

void tile_emu_release_clusters(Team *team)
{
    for (uint32_t i = 0; i < team->cluster_count; i++) {
        Cluster *cluster = &team->clusters[i];
        if (all_arrived(cluster)) cluster->arrived[++cluster->phase & 1] = 0;
        for (uint32_t j = 0; j < cluster->count; j++) release_waiting(&cluster->blocks[j]);
    }
}

/* ---- the launch's barrier ---- */

static bool all_at_grid(const Team *team)
{
    for (uint32_t i = 0; i < team->count; i++)
        for (uint32_t warp = 0; warp < team->blocks[i].warp_count; warp++)
            if (team->blocks[i].states[warp] != WARP_AT_GRID) return false;
    return true;
}

/* All threads know what all did. */
static void learn_all(Team *team)
{
    Order *order = team->launch->checker->order;
    uint32_t known = 0;
    for (uint32_t i = 0; i < team->count; i++) {
        Block *block = &team->blocks[i];
        block->barrier_stamp = ++block->now;
        block->barrier_site = block->threads->abi.site;
        known = tile_emu_order_both(
            order, known,
            tile_emu_order_barrier(order, block, UINT32_MAX >> (32 - block->warp_count)));
    }
    for (uint32_t i = 0; i < team->count; i++)
        for (uint32_t t = 0; t < team->blocks[i].thread_count; t++)
            team->blocks[i].threads[t].event = known;
}

void tile_emu_release_grid(Team *team)
{
    if (!all_at_grid(team)) return;
    if (team->launch->checker) learn_all(team);
    for (uint32_t i = 0; i < team->count; i++)
        for (uint32_t warp = 0; warp < team->blocks[i].warp_count; warp++)
            tile_emu_release_warp(&team->blocks[i], warp);
}
