/* fault.c: the faults of a launch, each kind and pair of places once, as the text of its error. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"

static const char *const KIND_NAMES[] = {
    [FAULT_BOUNDS] = "out of bounds",          [FAULT_ALIGNMENT] = "misaligned",
    [FAULT_UNWRITTEN] = "unwritten memory",    [FAULT_RACE] = "race",
    [FAULT_BENIGN_RACE] = "benign race",       [FAULT_UNFINISHED] = "unfinished copy",
    [FAULT_UNFENCED_WRITE] = "unfenced write", [FAULT_UNFENCED_READ] = "unfenced read",
    [FAULT_READING] = "unfinished read",       [FAULT_DIVERGENCE] = "divergence",
    [FAULT_BARRIER] = "barrier divergence",    [FAULT_DEADLOCK] = "deadlock",
    [FAULT_REGISTERS] = "registers",           [FAULT_ASSERTION] = "assertion",
};

const char *tile_emu_place(const Launch *launch, uint32_t site, char out[PLACE_TEXT])
{
    if (site >= launch->site_count) {
        snprintf(out, PLACE_TEXT, "%s", "unknown place");
        return out;
    }
    const tile_emu_site *place = &launch->sites[site];
    snprintf(out, PLACE_TEXT, "%s:%" PRIu32 ":%" PRIu32, place->file ? place->file : "?",
             place->line, place->column);
    return out;
}

/* The first site of the same place. */
static uint32_t place_of(const Launch *launch, uint32_t site)
{
    return site < launch->site_count ? site - launch->sites[site].repeats : site;
}

/* The lock is held. */
static bool is_listed(const FaultList *list, FaultKind kind, uint32_t site, uint32_t other)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const Fault *fault = &list->seen[i];
        bool same = fault->site == site && fault->other == other;
        bool swapped = fault->site == other && fault->other == site;
        if (fault->kind == kind && (same || swapped)) return true;
    }
    return false;
}

bool tile_emu_fault_is_new(Launch *launch, FaultKind kind, uint32_t site, uint32_t other)
{
    FaultList *list = &launch->faults;
    site = place_of(launch, site);
    other = place_of(launch, other);
    pthread_mutex_lock(&list->lock);
    bool listed = is_listed(list, kind, site, other);
    bool full = list->count == MAX_FAULTS;
    list->more |= !listed && full;
    pthread_mutex_unlock(&list->lock);
    return !listed && !full;
}

static void append(char **text, size_t *length, const char *more)
{
    size_t added = strlen(more);
    char *grown = realloc(*text, *length + added + 1);
    if (!grown) return; /* the fault is counted all the same */
    memcpy(grown + *length, more, added + 1);
    *text = grown;
    *length += added;
}

static void append_fault(char **text, size_t *length, const char *place, FaultKind kind,
                         const char *message)
{
    const char *parts[] = {"\n", place, ": ", KIND_NAMES[kind], ": ", message};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) append(text, length, parts[i]);
}

void tile_emu_fault_add(Launch *launch, FaultKind kind, uint32_t site, uint32_t other,
                        const char *format, ...)
{
    if (!tile_emu_fault_is_new(launch, kind, site, other)) return;
    const bool benign = kind == FAULT_BENIGN_RACE;
    if (tile_emu_stops_at_fault() && !benign) launch->stopped = true;
    char message[1024], place[PLACE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    site = place_of(launch, site);
    other = place_of(launch, other);
    tile_emu_place(launch, site, place);

    FaultList *list = &launch->faults;
    pthread_mutex_lock(&list->lock);
    if (list->count < MAX_FAULTS && !is_listed(list, kind, site, other)) {
        list->seen[list->count++] = (Fault){kind, site, other};
        list->benign_count += benign;
        append_fault(benign ? &list->benign : &list->text,
                     benign ? &list->benign_length : &list->length, place, kind, message);
    }
    pthread_mutex_unlock(&list->lock);
}

enum { BENIGN_TEXT = 4096 };

static _Thread_local char benign_races[BENIGN_TEXT]; /* of this thread's launches since it asked */

TILE_API const char *tile_emulator_benign_races(void)
{
    static _Thread_local char told[BENIGN_TEXT];
    memcpy(told, benign_races, sizeof told);
    benign_races[0] = '\0';
    return told;
}

static void tell_benign(const FaultList *list)
{
    const size_t told = strlen(benign_races);
    if (list->benign)
        snprintf(benign_races + told, sizeof benign_races - told, "%s", list->benign + !told);
}

tile_status tile_emu_fault_report(Launch *launch)
{
    const FaultList *list = &launch->faults;
    const char *name = launch->entry->name ? launch->entry->name : "?";
    const uint32_t count = list->count - list->benign_count;
    tell_benign(list);
    if (launch->no_memory)
        return tile_error(TILE_ERROR_MEMORY, "%s: no memory left for the emulator", name);
    if (!count) return TILE_OK;
    return tile_error(TILE_ERROR_FAULT, "%s: %" PRIu32 "%s fault%s found by the emulator%s", name,
                      count, list->more ? " and more" : "", count == 1 ? "" : "s",
                      list->text ? list->text : "");
}

void tile_emu_fault_free(Launch *launch)
{
    free(launch->faults.text);
    free(launch->faults.benign);
    pthread_mutex_destroy(&launch->faults.lock);
}
