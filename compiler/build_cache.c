/* build_cache.c: a build as bytes: for each unit why it failed or what it gave, then the object. */
#include "build_cache.h"

#include <string.h>

Cache *open_cache(Session *session, const Options *options)
{
    const char *fault, *folder = options->no_cache ? NULL
                                 : options->cache  ? options->cache
                                                   : cache_folder(session->arena);
    return folder ? cache_open(session->arena, folder, CACHE_LIMIT, &fault) : NULL;
}

void store_build(Cache *cache, const Stages *stages, const CacheKey *key)
{
    Buf bytes = {0};
    for (size_t i = 0; i < stages->units.count; i++) {
        const Unit *unit = &stages->units.data[i];
        const bool is_near = unit->fault_at.source == unit->typed->span.source;
        put_text(&bytes, unit->fault ? unit->fault : "");
        put_number(&bytes, is_near ? unit->fault_at.begin : unit->typed->span.begin);
        put_number(&bytes, is_near ? unit->fault_at.end : unit->typed->span.end);
        put_unit(unit->images, false, &bytes);
    }
    buf_bytes(&bytes, stages->build->object, stages->build->object_size);
    cache_put(cache, key, bytes.data, bytes.length);
    buf_free(&bytes);
}

static void take_build(Taker *taker, Stages *stages)
{
    for (size_t i = 0; i < stages->units.count && !taker->failed; i++) {
        Unit *unit = &stages->units.data[i];
        const char *fault = taker_text(taker);
        unit->fault = fault && *fault ? fault : NULL;
        unit->fault_at = unit->typed->span;
        unit->fault_at.begin = (uint32_t)taker_number(taker);
        unit->fault_at.end = (uint32_t)taker_number(taker);
        take_unit(taker, stages->archs, false, unit->images);
    }
}

bool restore_build(Cache *cache, Stages *stages, const CacheKey *key)
{
    Taker taker = {.session = stages->session};
    if (!cache_get(cache, stages->session->arena, key, &taker.at, &taker.left)) return false;
    take_build(&taker, stages);
    if (taker.failed) {
        for (size_t i = 0; i < stages->units.count; i++)
            stages->units.data[i].images->variant_count = 0;
        return false;
    }
    stages->build->object = taker.at;
    stages->build->object_size = taker.left;
    return true;
}
