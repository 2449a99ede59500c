/* build_cache.c: a build as bytes: for each unit why it failed or what it gave, then the object. */
#include "build/build_cache.h"

#include "build/tunings.h"

#include <string.h>

const char *chosen_cache(Session *session, const Options *options)
{
    return options->no_cache ? NULL
           : options->cache  ? options->cache
                             : cache_folder(session->arena);
}

Cache *open_cache(Session *session, const Options *options)
{
    const char *fault, *folder = chosen_cache(session, options);
    return folder ? cache_open(session->arena, folder, CACHE_LIMIT, &fault) : NULL;
}

/* ---- what it follows from ---- */

/* The text of a kernel holds its names, keys, tensors and places. Those of places in IR text are
 * not in it, so that text is. */
static void add_unit(const Unit *unit, Buf *out)
{
    const Kernel *kernel = unit->typed;
    Buf text = {0};
    kernel_print(kernel, &text);
    put_text(out, text.data);
    put_text(out, kernel->read_from ? kernel->read_from->path : "");
    put_text(out, kernel->read_from ? kernel->read_from->text : "");
    put_number(out, kernel->has_own_fences);
    put_number(out, kernel->guards_elements);
    put_number(out, kernel->rounds_products);
    buf_free(&text);
}

static void add_path_maps(const Session *session, Buf *out)
{
    put_number(out, (uint64_t)session->path_map_count);
    for (int i = 0; i < session->path_map_count; i++) {
        put_text(out, session->path_maps[i].from);
        put_text(out, session->path_maps[i].to);
    }
}

static void add_emit_wish(const EmitWish *wish, Buf *out)
{
    const Carried *carried = wish->carried;
    put_number(out, wish->tables_only);
    for (int i = 0; carried && i < carried->word_count; i++) put_text(out, carried->words[i]);
    for (int i = 0; carried && i < carried->file_count; i++) {
        put_text(out, carried->files[i]->path);
        put_text(out, carried->files[i]->text);
    }
}

CacheKey build_key(const Stages *stages)
{
    const Build *build = stages->build;
    Buf made_from = {0};
    bool for_gpu = false;
    for (size_t i = 0; i < stages->archs->count; i++) for_gpu |= !stages->archs->items[i].emulator;
    codegen_add_identity(stages->codegen, for_gpu, &made_from);
    put_number(&made_from, stages->options->verify_each);
    put_number(&made_from, stages->options->strict);
    put_number(&made_from, stages->wish.first_only);
    put_number(&made_from, stages->wish.general_only);
    add_path_maps(stages->session, &made_from);
    add_emit_wish(&stages->wish.emit, &made_from);
    for (size_t i = 0; i < stages->archs->count; i++) {
        put_text(&made_from, stages->archs->items[i].target->name);
        put_text(&made_from, stages->archs->items[i].emulator ? "emulator" : "");
    }
    for (int i = 0; i < build->export_count; i++) {
        put_text(&made_from, build->exports[i].name);
        put_number(&made_from, (uint64_t)build->exports[i].specialisation_count);
        put_number(&made_from, build->exports[i].lacks_name);
        put_number(&made_from, build->exports[i].lacks_language);
    }
    for (size_t i = 0; i < stages->units.count; i++) add_unit(&stages->units.data[i], &made_from);
    tunings_write(stages->tunings, &made_from);
    CacheKey key = cache_key(made_from.data, made_from.length);
    buf_free(&made_from);
    return key;
}

/* ---- what it gave ---- */

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
