/* map.c: an open hash table from 64-bit keys to 64-bit values, for addresses that are looked up at
 * every access. It only grows; key 0 marks a free place. */
#include <stdlib.h>
#include <string.h>

#include "emulator/emulator.h"

static size_t slot_of(const Map *map, uint64_t key)
{
    size_t mask = map->capacity - 1;
    size_t slot = (size_t)((key * 0x9E3779B97F4A7C15u) >> 20) & mask;
    while (map->keys[slot] && map->keys[slot] != key) slot = (slot + 1) & mask;
    return slot;
}

static bool grow(Map *map)
{
    Map wider = {.capacity = map->capacity ? map->capacity * 2 : 1024, .count = map->count};
    wider.keys = calloc(wider.capacity, sizeof *wider.keys);
    wider.values = calloc(wider.capacity, sizeof *wider.values);
    if (!wider.keys || !wider.values) {
        tile_emu_map_free(&wider);
        return false;
    }
    for (size_t i = 0; i < map->capacity; i++) {
        if (!map->keys[i]) continue;
        size_t slot = slot_of(&wider, map->keys[i]);
        wider.keys[slot] = map->keys[i];
        wider.values[slot] = map->values[i];
    }
    tile_emu_map_free(map);
    *map = wider;
    return true;
}

uint64_t *tile_emu_map_at(Map *map, uint64_t key)
{
    if (map->count * 2 >= map->capacity && !grow(map)) return NULL;
    size_t slot = slot_of(map, key);
    if (!map->keys[slot]) {
        map->keys[slot] = key;
        map->count++;
    }
    return &map->values[slot];
}

void tile_emu_map_clear(Map *map)
{
    if (!map->count) return;
    memset(map->keys, 0, map->capacity * sizeof *map->keys);
    memset(map->values, 0, map->capacity * sizeof *map->values);
    map->count = 0;
}

void tile_emu_map_free(Map *map)
{
    free(map->keys);
    free(map->values);
    *map = (Map){0};
}
