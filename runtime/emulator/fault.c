/* fault.c: the faults of a launch, each kind and pair of places once, as the text of its error. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"

static const char *const KIND_NAMES[] = {
    [FAULT_BOUNDS] = "out of bounds",       [FAULT_ALIGNMENT] = "misaligned",
    [FAULT_UNWRITTEN] = "unwritten memory", [FAULT_RACE] = "race",
    [FAULT_UNFINISHED] = "unfinished copy", [FAULT_PROXY] = "unfenced write",
    [FAULT_READING] = "unfinished read",    [FAULT_DIVERGENCE] = "divergence",
    [FAULT_BARRIER] = "barrier divergence", [FAULT_DEADLOCK] = "deadlock",
    [FAULT_ASSERTION] = "assertion",
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
    pthread_mutex_lock(&list->lock);
    bool listed = is_listed(list, kind, site, other);
    bool full = list->count == MAX_FAULTS;
    list->more |= !listed && full;
    pthread_mutex_unlock(&list->lock);
    return !listed && !full;
}

static void append(FaultList *list, const char *text)
{
    size_t length = strlen(text);
    char *grown = realloc(list->text, list->length + length + 1);
    if (!grown) return; /* the fault is counted all the same */
    memcpy(grown + list->length, text, length + 1);
    list->text = grown;
    list->length += length;
}

void tile_emu_fault_add(Launch *launch, FaultKind kind, uint32_t site, uint32_t other,
                        const char *format, ...)
{
    if (!tile_emu_fault_is_new(launch, kind, site, other)) return;
    if (tile_emu_stops_at_fault()) launch->stopped = true;
    char message[1024], place[PLACE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    tile_emu_place(launch, site, place);

    FaultList *list = &launch->faults;
    pthread_mutex_lock(&list->lock);
    if (list->count < MAX_FAULTS && !is_listed(list, kind, site, other)) {
        list->seen[list->count++] = (Fault){kind, site, other};
        append(list, "\n");
        append(list, place);
        append(list, ": ");
        append(list, KIND_NAMES[kind]);
        append(list, ": ");
        append(list, message);
    }
    pthread_mutex_unlock(&list->lock);
}

tile_status tile_emu_fault_report(Launch *launch)
{
    const FaultList *list = &launch->faults;
    const char *name = launch->entry->name ? launch->entry->name : "?";
    if (launch->no_memory)
        return tile_error(TILE_ERROR_MEMORY, "%s: no memory left for the emulator", name);
    if (!list->count) return TILE_OK;
    return tile_error(TILE_ERROR_FAULT, "%s: %" PRIu32 "%s fault%s found by the emulator%s", name,
                      list->count, list->more ? " and more" : "", list->count == 1 ? "" : "s",
                      list->text ? list->text : "");
}

void tile_emu_fault_free(Launch *launch)
{
    free(launch->faults.text);
    pthread_mutex_destroy(&launch->faults.lock);
}
