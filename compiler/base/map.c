/* map.c: pointers to pointers, open-addressed; removal shifts back, so that there are no
 * tombstones. NULL is no key. The order of the slots follows addresses: never let output depend on
 * it. */
#include "base/base.h"

static size_t home_slot(const Map *map, const void *key)
{
    uint64_t bits = (uint64_t)(uintptr_t)key >> 3;
    return (size_t)((bits * 0x9e3779b97f4a7c15u) >> 32) & (map->capacity - 1);
}

/* The slot of the key, or the free one where it belongs. The table is never full. */
static size_t find_slot(const Map *map, const void *key)
{
    size_t i = home_slot(map, key);
    while (map->slots[i].key != NULL && map->slots[i].key != key) i = (i + 1) & (map->capacity - 1);
    return i;
}

void *map_get(const Map *map, const void *key)
{
    if (map->count == 0 || key == NULL) return NULL;
    return map->slots[find_slot(map, key)].value;
}

bool map_has(const Map *map, const void *key)
{
    return map->count > 0 && key != NULL && map->slots[find_slot(map, key)].key != NULL;
}

static void grow_map(Arena *arena, Map *map)
{
    Map larger = {.count = map->count, .capacity = map->capacity == 0 ? 8 : map->capacity * 2};
    larger.slots = arena_new_array(arena, struct MapSlot, larger.capacity);
    for (size_t i = 0; i < map->capacity; i++)
        if (map->slots[i].key != NULL)
            larger.slots[find_slot(&larger, map->slots[i].key)] = map->slots[i];
    *map = larger;
}

void map_set(Arena *arena, Map *map, const void *key, void *value)
{
    CHECK(key != NULL);
    if (map->count * 4 >= map->capacity * 3) grow_map(arena, map);
    struct MapSlot *slot = &map->slots[find_slot(map, key)];
    if (slot->key == NULL) map->count++;
    *slot = (struct MapSlot){key, value};
}

void map_add(Arena *arena, Map *map, const void *key)
{
    map_set(arena, map, key, (void *)(uintptr_t)key);
}

intptr_t map_number(const Map *map, const void *key, intptr_t otherwise)
{
    return map_has(map, key) ? (intptr_t)map_get(map, key) : otherwise;
}

void map_set_number(Arena *arena, Map *map, const void *key, intptr_t number)
{
    map_set(arena, map, key, (void *)number);
}

void map_remove(Map *map, const void *key)
{
    if (!map_has(map, key)) return;
    size_t mask = map->capacity - 1;
    size_t hole = find_slot(map, key);
    for (size_t i = (hole + 1) & mask; map->slots[i].key != NULL; i = (i + 1) & mask) {
        size_t home = home_slot(map, map->slots[i].key);
        if (((i - home) & mask) < ((i - hole) & mask)) continue; /* it would move before its home */
        map->slots[hole] = map->slots[i];
        hole = i;
    }
    map->slots[hole] = (struct MapSlot){NULL, NULL};
    map->count--;
}
