/* cycle.c: whether blocks go round for ever. What threads do next follows from their frames and
 * from memory. So a team is looked at in some of its rounds: if all frames are again as they were,
 * and so is what was written meanwhile, nothing else will ever happen, unless other teams change
 * memory. They may be in other workers; once each has found that, about the time in which none
 * changed anything, the launch is stuck.
 *
 * Threads that count while they wait are never as they were. They are given up after many reads of
 * the same few places, when nobody has changed anything in all that time.
 *
 * Rounds in which all threads but wait are all looked at, of the others a few, later and later, so
 * that it costs programs that run for long little. */
#include <string.h>

#include "emulator/emulator.h"

enum {
    FIRST_IDLE = 20, /* the round from which they are looked at: more blocks are there */
    FIRST_BUSY = 1 << 12,
    SHARE = 32,           /* of which one of so many is */
    MOST_READS = 1 << 26, /* of a few places */
    ATOMIC_READS = 32     /* that an atomic counts as: it takes longer */
};

/* ---- what is looked at ---- */

static uint64_t mix(uint64_t digest, uint64_t word)
{
    digest = (digest ^ word) * 0x9E3779B97F4A7C15u;
    return digest ^ digest >> 29;
}

static uint64_t digest_thread(const Thread *thread)
{
    const uint8_t *frame = thread->handle;
    uint64_t digest = mix(thread->state, thread->abi.op), word;
    if (thread->state == THREAD_ENDED) return digest;
    for (size_t i = 0; i + sizeof word <= thread->frame_bytes; i += sizeof word) {
        memcpy(&word, frame + i, sizeof word);
        digest = mix(digest, word);
    }
    return digest;
}

static uint64_t digest_team(const Team *team)
{
    uint64_t digest = team->count;
    for (uint32_t i = 0; i < team->count; i++) {
        const Block *block = &team->blocks[i];
        for (uint32_t t = 0; !block->ended && t < block->thread_count; t++)
            digest = mix(digest, digest_thread(&block->threads[t]));
    }
    return digest;
}

/* One that stands for all: most often it tells that they are not as they were. */
static const Thread *sample(const Team *team)
{
    for (uint32_t i = 0; i < team->count; i++)
        for (uint32_t t = 0; !team->blocks[i].ended && t < team->blocks[i].thread_count; t++)
            if (team->blocks[i].threads[t].state != THREAD_ENDED)
                return &team->blocks[i].threads[t];
    return NULL;
}

static uint64_t digest_sample(const Team *team)
{
    const Thread *thread = sample(team);
    return thread ? digest_thread(thread) : 0;
}

void tile_emu_cycle_changed(Block *block)
{
    block->team->cycle.changed = true;
}

static void note_write(Cycle *cycle, const void *address, uint32_t bytes)
{
    for (uint32_t i = 0; i < cycle->write_count; i++)
        if (cycle->writes[i].address == address && cycle->writes[i].bytes >= bytes) return;
    if (cycle->write_count == CYCLE_WRITES) {
        cycle->changed = true;
        return;
    }
    CycleWrite *write = &cycle->writes[cycle->write_count++];
    *write = (CycleWrite){.address = address, .bytes = bytes};
    memcpy(write->before, address, bytes);
}

static void note_read(Cycle *cycle, uintptr_t address)
{
    for (uint32_t i = 0; i < CYCLE_PLACES; i++) {
        uintptr_t *place = &cycle->places[(address / 4 + i) % CYCLE_PLACES];
        if (*place == address) return;
        if (*place) continue;
        *place = address;
        cycle->place_count++;
        return;
    }
}

void tile_emu_cycle_access(Block *block, const void *address, uint32_t bytes, uint32_t kind)
{
    Cycle *cycle = &block->team->cycle;
    cycle->reads += kind == TILE_EMU_ATOMIC ? ATOMIC_READS : 1;
    if (kind != TILE_EMU_WRITE) note_read(cycle, (uintptr_t)address);
    if (kind != TILE_EMU_READ) note_write(cycle, address, bytes);
}

static bool is_memory_same(const Cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->write_count; i++)
        if (memcmp(cycle->writes[i].address, cycle->writes[i].before, cycle->writes[i].bytes) != 0)
            return false;
    return !cycle->changed;
}

/* ---- when ---- */

static void set_looks(Team *team, bool looks)
{
    Cycle *cycle = &team->cycle;
    if (looks == cycle->looks) return;
    cycle->looks = looks;
    for (uint32_t i = 0; i < team->count; i++)
        for (uint32_t t = 0; t < team->blocks[i].thread_count; t++) {
            uint32_t *checked = &team->blocks[i].threads[t].abi.checked;
            *checked = (*checked & TILE_EMU_CHECKED) | (looks ? (uint32_t)TILE_EMU_WATCHED : 0);
        }
}

/* What the team did until now, the others may not have seen. */
static void unsettle(Team *team)
{
    if (!team->cycle.settled && team->launch->settled) team->launch->changes++;
    team->cycle.settled = false;
}

/* As the team is now. */
static void keep(Team *team, uint64_t rounds)
{
    Cycle *cycle = &team->cycle;
    cycle->end = cycle->rounds + rounds;
    cycle->sample = digest_sample(team);
    cycle->whole = digest_team(team);
}

static void begin(Team *team, uint64_t rounds)
{
    Cycle *cycle = &team->cycle;
    if (!cycle->settled) unsettle(team);
    cycle->changed = false;
    cycle->write_count = cycle->place_count = 0;
    cycle->reads = 0;
    memset(cycle->places, 0, sizeof cycle->places);
    cycle->seen = team->launch->changes;
    keep(team, rounds);
    set_looks(team, true);
}

static void end(Team *team)
{
    set_looks(team, false);
    team->cycle.settled = false;
    unsettle(team);
}

/* How many rounds are looked at from here on; 0: none. */
static uint64_t rounds_to_look(const Cycle *cycle, uint32_t idle)
{
    if (idle >= FIRST_IDLE) return idle;
    const bool begins = cycle->rounds >= FIRST_BUSY && !(cycle->rounds & (cycle->rounds - 1));
    return begins ? cycle->rounds / SHARE : 0;
}

static bool is_as_it_was(const Team *team)
{
    const Cycle *cycle = &team->cycle;
    return digest_sample(team) == cycle->sample && is_memory_same(cycle) &&
           digest_team(team) == cycle->whole;
}

static bool is_fruitless(const Cycle *cycle)
{
    const uint64_t share = cycle->is_idle ? 1 : SHARE;
    return cycle->reads * share >= MOST_READS && cycle->place_count < CYCLE_PLACES &&
           is_memory_same(cycle);
}

/* Whether all teams have found it of the same time, in which nothing changed. */
static bool settle(Team *team)
{
    Launch *launch = team->launch;
    Cycle *cycle = &team->cycle;
    uint64_t settled = launch->settled, next;
    if (cycle->seen != launch->changes) {
        cycle->settled = true; /* it was looked at all the time */
        begin(team, cycle->end - cycle->rounds + 1);
        return false;
    }
    do {
        const bool is_new = settled >> 32 != cycle->seen;
        if (cycle->settled && cycle->settled_at == cycle->seen && !is_new) break;
        next = (uint64_t)cycle->seen << 32 | (is_new ? 1 : (settled & UINT32_MAX) + 1);
    } while (!atomic_compare_exchange_weak(&launch->settled, &settled, next));
    cycle->settled = true;
    cycle->settled_at = cycle->seen;
    settled = launch->settled;
    return settled >> 32 == launch->changes && cycle->seen == launch->changes &&
           (settled & UINT32_MAX) >= launch->teams;
}

void tile_emu_cycle_begin_team(Team *team)
{
    set_looks(team, false);
    team->cycle.rounds = 0;
    team->cycle.settled = false;
}

bool tile_emu_cycle_round(Team *team, uint32_t idle)
{
    Cycle *cycle = &team->cycle;
    cycle->rounds++;
    if (!cycle->looks) {
        const uint64_t rounds = rounds_to_look(cycle, idle);
        cycle->is_idle = idle >= FIRST_IDLE;
        if (rounds) begin(team, rounds);
        return false;
    }
    if (cycle->is_idle && !idle) {
        end(team);
        return false;
    }
    if (is_as_it_was(team) || is_fruitless(cycle)) return settle(team);
    if (cycle->rounds < cycle->end && !cycle->changed) return false;
    if (cycle->is_idle && is_memory_same(cycle))
        keep(team, idle);
    else
        end(team);
    return false;
}
