/* statistics.c: what the operations at each place cost. An access of one lane meets those of the
 * other lanes of its warp by number: the n-th time that each does the same access of the code since
 * the warp last stood still; in a loop in which they part, that may be in different iterations.
 * Shared memory: 32 banks of 4 bytes, accesses of 8 and 16 bytes in two and four phases (CUDA C++
 * Programming Guide, "Shared Memory"). Global memory: sectors of 32 bytes.
 *
 * Two things are global here since they are the process's by their interface: whether launches are
 * checked, and the counts of the last one. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/checker.h"

#define NO_GROUP UINT32_MAX
enum { MAX_GROUPS = 8192, NO_LANE = 0xff };

/* One place and operation. */
typedef struct Counter {
    uint64_t executions, transactions, ideal;
    uint32_t round;                /* the warp's turn that the groups below belong to */
    uint32_t first, last, current; /* groups: of the turn, of the lane that speaks */
    uint32_t lane, maker;          /* the one that speaks; the first one of the turn */
} Counter;

/* The accesses that the lanes of a warp make together. */
typedef struct Group {
    uint32_t counter, next, mask, bytes, access;
    uintptr_t address[LANES];
} Group;

struct Statistics {
    Counter *counters; /* by site and operation */
    size_t counter_count;
    Group *groups;
    uint32_t group_count, round;
};

/* ---- settings and the last launch's counts ---- */

static atomic_int checked_setting = -1;

static struct {
    pthread_mutex_t lock;
    tile_emulator_count *counts;
    size_t count;
} last_launch = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Of a plug-in that goes; a thread that still asks at a program's end finds none. */
static __attribute__((destructor)) void forget_last_launch(void)
{
    pthread_mutex_lock(&last_launch.lock);
    free(last_launch.counts);
    last_launch.counts = NULL;
    last_launch.count = 0;
    pthread_mutex_unlock(&last_launch.lock);
}

TILE_API void tile_emulator_set_checked(int checked)
{
    atomic_store(&checked_setting, checked);
}

static _Thread_local bool in_turn;

TILE_API void tile_emulator_set_in_turn(int is_in_turn)
{
    in_turn = is_in_turn != 0;
}

bool tile_emu_is_in_turn(void)
{
    return in_turn;
}

tile_status tile_emu_is_checked(bool *checked, bool *backwards)
{
    static const char *const NAMES[] = {"fast", "checked", "backwards"};
    int setting = atomic_load(&checked_setting);
    const char *text = getenv("TILE_EMULATOR");
    if (setting < 0 && (!text || !*text)) setting = 1;
    for (int i = 0; setting < 0 && i < 3; i++)
        if (strcmp(text, NAMES[i]) == 0) setting = i;
    *checked = setting != 0;
    *backwards = setting == 2;
    return setting >= 0 ? TILE_OK
                        : tile_error(TILE_ERROR_ARGUMENT,
                                     "TILE_EMULATOR is '%s', not checked, backwards or fast", text);
}

TILE_API size_t tile_emulator_statistics(tile_emulator_count *out, size_t capacity)
{
    pthread_mutex_lock(&last_launch.lock);
    size_t count = last_launch.count;
    size_t copied = count < capacity ? count : capacity;
    if (copied) memcpy(out, last_launch.counts, copied * sizeof *out);
    pthread_mutex_unlock(&last_launch.lock);
    return count;
}

TILE_API const char *tile_emulator_operation_name(uint32_t operation)
{
    static const char *const NAMES[TILE_EMULATOR_OPERATIONS] = {
        [TILE_EMULATOR_GLOBAL_READ] = "global read",
        [TILE_EMULATOR_GLOBAL_WRITE] = "global write",
        [TILE_EMULATOR_GLOBAL_ATOMIC] = "global atomic",
        [TILE_EMULATOR_SHARED_READ] = "shared read",
        [TILE_EMULATOR_SHARED_WRITE] = "shared write",
        [TILE_EMULATOR_SHARED_ATOMIC] = "shared atomic",
        [TILE_EMULATOR_LDMATRIX] = "ldmatrix",
        [TILE_EMULATOR_STMATRIX] = "stmatrix",
        [TILE_EMULATOR_MMA] = "mma",
        [TILE_EMULATOR_SHUFFLE] = "shuffle",
        [TILE_EMULATOR_VOTE] = "vote",
        [TILE_EMULATOR_WARP_SYNC] = "warp barrier",
        [TILE_EMULATOR_BARRIER] = "barrier",
    };
    return operation < TILE_EMULATOR_OPERATIONS ? NAMES[operation] : "?";
}

/* ---- one launch ---- */

static void statistics_free(Statistics *statistics)
{
    if (!statistics) return;
    free(statistics->counters);
    free(statistics->groups);
    free(statistics);
}

Statistics *tile_emu_statistics_new(const Launch *launch)
{
    Statistics *statistics = calloc(1, sizeof *statistics);
    if (!statistics) return NULL;
    /* One site more, for places that the image does not name. */
    statistics->counter_count = ((size_t)launch->site_count + 1) * TILE_EMULATOR_OPERATIONS;
    statistics->counters = calloc(statistics->counter_count, sizeof *statistics->counters);
    statistics->groups = malloc(MAX_GROUPS * sizeof *statistics->groups);
    statistics->round = 1;
    if (statistics->counters && statistics->groups) return statistics;
    statistics_free(statistics);
    return NULL;
}

static Counter *counter_of(Statistics *statistics, uint32_t site, uint32_t operation)
{
    size_t sites = statistics->counter_count / TILE_EMULATOR_OPERATIONS;
    size_t known = site < sites ? site : sites - 1;
    return &statistics->counters[known * TILE_EMULATOR_OPERATIONS + operation];
}

void tile_emu_note_operation(Statistics *statistics, uint32_t site, uint32_t operation,
                             uint32_t transactions, uint32_t ideal)
{
    Counter *counter = counter_of(statistics, site, operation);
    counter->executions++;
    counter->transactions += transactions;
    counter->ideal += ideal;
}

/* A new group at the counter's end; NO_GROUP where a thread has run on for so long that the rest of
 * its turn is not counted. */
static uint32_t add_group(Statistics *statistics, Counter *counter, const Request *request)
{
    if (statistics->group_count == MAX_GROUPS) return NO_GROUP;
    uint32_t index = statistics->group_count++;
    statistics->groups[index] = (Group){.counter = (uint32_t)(counter - statistics->counters),
                                        .next = NO_GROUP,
                                        .bytes = request->bytes,
                                        .access = request->access};
    if (counter->first == NO_GROUP)
        counter->first = index;
    else
        statistics->groups[counter->last].next = index;
    counter->last = index;
    return index;
}

/* The first from `index` on that the lane is to be in; NO_GROUP: none. */
static uint32_t find_group(const Statistics *statistics, uint32_t index, const Request *request)
{
    for (; index != NO_GROUP; index = statistics->groups[index].next) {
        const Group *group = &statistics->groups[index];
        if (group->access == request->access && !(group->mask >> request->thread->lane & 1)) break;
    }
    return index;
}

void tile_emu_note_access(Statistics *statistics, uint32_t operation, const Request *request)
{
    Counter *counter = counter_of(statistics, request->site, operation);
    const uint32_t lane = request->thread->lane;
    if (counter->round != statistics->round) {
        counter->round = statistics->round;
        counter->first = counter->last = NO_GROUP;
        counter->lane = NO_LANE;
        counter->maker = lane;
    }
    uint32_t index = NO_GROUP;
    if (counter->lane == lane && lane != counter->maker) /* who is in all that there are */
        index = find_group(statistics, statistics->groups[counter->current].next, request);
    if (index == NO_GROUP && lane != counter->maker)
        index = find_group(statistics, counter->first, request);
    if (index == NO_GROUP) index = add_group(statistics, counter, request);
    if (index == NO_GROUP) return;
    counter->lane = lane;
    counter->current = index;
    Group *group = &statistics->groups[index];
    group->mask |= 1u << lane;
    group->address[lane] = request->address;
    if (group->bytes < request->bytes) group->bytes = request->bytes;
}

/* ---- what a warp access costs ---- */

/* Passes for the lanes of one phase: as many as the bank with the most different words needs. */
static uint32_t phase_passes(const uintptr_t address[LANES], uint32_t mask, uint32_t words)
{
    uintptr_t met[32][LANES]; /* the words met in each bank */
    uint8_t count[32] = {0};
    uint32_t most = 0;
    for (; mask; mask &= mask - 1) {
        uintptr_t first = address[__builtin_ctz(mask)] >> 2;
        for (uintptr_t word = first; word < first + words; word++) {
            uint32_t bank = word & 31, i = 0;
            while (i < count[bank] && met[bank][i] != word) i++;
            if (i == count[bank]) met[bank][count[bank]++] = word;
            most = count[bank] > most ? count[bank] : most;
        }
    }
    return most;
}

uint32_t tile_emu_bank_passes(const uintptr_t address[LANES], uint32_t mask, uint32_t bytes,
                              uint32_t *ideal)
{
    uint32_t words = bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4;
    uint32_t lanes = LANES / words, passes = 0;
    for (uint32_t lane = 0; lane < LANES; lane += lanes) {
        uint32_t phase = mask & (lanes == LANES ? UINT32_MAX : ((1u << lanes) - 1) << lane);
        passes += phase_passes(address, phase, words);
        *ideal += phase != 0;
    }
    return passes;
}

/* The addresses of a group in ascending order, which is mostly the one they come in. */
static uint32_t sort_addresses(const Group *group, uintptr_t out[LANES])
{
    uint32_t count = 0;
    for (uint32_t mask = group->mask; mask; mask &= mask - 1) {
        uintptr_t address = group->address[__builtin_ctz(mask)];
        uint32_t at = count++;
        for (; at && out[at - 1] > address; at--) out[at] = out[at - 1];
        out[at] = address;
    }
    return count;
}

static void count_sectors(Counter *counter, const Group *group)
{
    uintptr_t address[LANES], sector_end = 0, byte_end = 0;
    uint32_t count = sort_addresses(group, address), sectors = 0;
    size_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        uintptr_t first = address[i], end = first + group->bytes;
        uintptr_t low = first >> 5, high = (end + 31) >> 5;
        low = low > sector_end ? low : sector_end;
        sectors += high > low ? (uint32_t)(high - low) : 0;
        sector_end = high > sector_end ? high : sector_end;
        first = first > byte_end ? first : byte_end;
        bytes += end > first ? end - first : 0;
        byte_end = end > byte_end ? end : byte_end;
    }
    counter->transactions += sectors;
    counter->ideal += (bytes + 31) / 32;
}

static void count_banks(Counter *counter, const Group *group)
{
    uint32_t ideal = 0;
    counter->transactions +=
        tile_emu_bank_passes(group->address, group->mask, group->bytes, &ideal);
    counter->ideal += ideal;
}

void tile_emu_note_round(Statistics *statistics)
{
    for (uint32_t i = 0; i < statistics->group_count; i++) {
        const Group *group = &statistics->groups[i];
        Counter *counter = &statistics->counters[group->counter];
        counter->executions++;
        if (group->counter % TILE_EMULATOR_OPERATIONS < TILE_EMULATOR_SHARED_READ)
            count_sectors(counter, group);
        else
            count_banks(counter, group);
    }
    if (statistics->group_count) statistics->round++;
    statistics->group_count = 0;
}

/* ---- publishing ---- */

static tile_emulator_count count_of(const Counter *counter, size_t index, const Launch *launch)
{
    static const tile_emu_site UNKNOWN = {.file = "?"};
    size_t site = index / TILE_EMULATOR_OPERATIONS;
    uint32_t operation = index % TILE_EMULATOR_OPERATIONS;
    const tile_emu_site *place = site < launch->site_count ? &launch->sites[site] : &UNKNOWN;
    bool banks = operation >= TILE_EMULATOR_SHARED_READ && operation <= TILE_EMULATOR_STMATRIX;
    return (tile_emulator_count){.file = place->file,
                                 .line = place->line,
                                 .column = place->column,
                                 .operation = operation,
                                 .executions = counter->executions,
                                 .transactions = counter->transactions,
                                 .ideal = counter->ideal,
                                 .bank_conflicts =
                                     banks ? counter->transactions - counter->ideal : 0};
}

/* Sites of one place, for different tiles, are told as one. */
static void add_repeats(Statistics *statistics, const Launch *launch)
{
    for (uint32_t site = 0; site < launch->site_count; site++) {
        const size_t first = site - launch->sites[site].repeats;
        for (size_t i = 0; first != site && i < TILE_EMULATOR_OPERATIONS; i++) {
            Counter *to = &statistics->counters[first * TILE_EMULATOR_OPERATIONS + i],
                    *from = &statistics->counters[site * TILE_EMULATOR_OPERATIONS + i];
            to->executions += from->executions;
            to->transactions += from->transactions;
            to->ideal += from->ideal;
            from->executions = 0;
        }
    }
}

void tile_emu_statistics_publish(Statistics *statistics, const Launch *launch)
{
    size_t used = 0, filled = 0;
    add_repeats(statistics, launch);
    for (size_t i = 0; i < statistics->counter_count; i++)
        used += statistics->counters[i].executions != 0;
    tile_emulator_count *counts = calloc(used ? used : 1, sizeof *counts);
    for (size_t i = 0; counts && i < statistics->counter_count; i++)
        if (statistics->counters[i].executions)
            counts[filled++] = count_of(&statistics->counters[i], i, launch);
    statistics_free(statistics);

    pthread_mutex_lock(&last_launch.lock);
    tile_emulator_count *before = last_launch.counts;
    last_launch.counts = counts;
    last_launch.count = filled;
    pthread_mutex_unlock(&last_launch.lock);
    free(before);
}
