/* alive.c: tiles as intervals of the text, from where each is made to its last use. A use within a
 * loop of what was made before it is one until the loop ends. */
#include "passes/analysis/alive.h"

#include "passes/analysis/access.h"

typedef struct Alive {
    Arena *arena;
    Map begins; /* ops -> their numbers */
    Map ends;   /* ops with regions -> the number of the last one within */
    int count;
    int *joint;       /* by number: the ops so far that take whole tiles */
    int64_t *changes; /* by number: what is alive from there on, and was not before */
    TileSize *size;
    const void *context;
} Alive;

static void number_ops(Alive *alive, const Region *region)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        map_set(alive->arena, &alive->begins, op, (void *)(intptr_t)++alive->count);
        const int begin = alive->count;
        int end = begin;
        if (!op->region_count) continue;
        for (int i = 0; i < op->region_count; i++) {
            if (op->code == OP_if) alive->count = begin; /* one region or the other */
            number_ops(alive, op->regions[i]);
            end = alive->count > end ? alive->count : end;
        }
        alive->count = end + 1;
        map_set(alive->arena, &alive->ends, op, (void *)(intptr_t)alive->count);
    }
}

static int begin_of(const Alive *alive, const Op *op)
{
    return (int)(intptr_t)map_get(&alive->begins, op);
}

static int end_of(const Alive *alive, const Op *op)
{
    return op->region_count ? (int)(intptr_t)map_get(&alive->ends, op) : begin_of(alive, op);
}

/* The last place where `op` needs a value of `region`. */
static int number_of_use(const Alive *alive, const Op *op, const Region *region)
{
    int number = begin_of(alive, op);
    for (const Op *at = op; at->parent != region; at = at->parent->parent)
        if (op_has(at->parent->parent, LOOP)) number = end_of(alive, at->parent->parent);
    return number;
}

/* Threads take what goes from one elementwise op to the next, by way of branches, too, or to a
 * store, an element at a time; and what they gather from global memory. */
static bool takes_elements(const Op *op)
{
    if (op->code == OP_gather) return operand(op, memory)->type->kind == TYPE_VIEW;
    if (op->code == OP_yield) return op->parent->parent->code == OP_if;
    if (op->code != OP_if) return op_has(op, STORES) || (op_has(op, PURE) && !op_has(op, COOP));
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            if (!takes_elements(inner)) return false;
    return true;
}

static void count_joint(Alive *alive, const Region *region)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        alive->joint[begin_of(alive, op)] |= !takes_elements(op) && op_has(op, COOP);
        for (int i = 0; i < op->region_count; i++) count_joint(alive, op->regions[i]);
    }
}

/* What is made where it is needed, and what products read in shared memory. */
static bool is_remade(const Value *value)
{
    if (!value->op) return false;
    if (value->op->code == OP_splat || value->op->code == OP_iota || op_swaps(value->op))
        return true;
    if (value->op->code != OP_shared_load) return false;
    for (const OpUse *use = value->uses; use; use = use->next)
        if (use->op->code != OP_dot && !op_swaps(use->op)) return false;
    return true;
}

static bool is_whole(const Alive *alive, const Value *value, int begin, int end)
{
    if (is_remade(value)) return false;
    if (!value->op || !takes_elements(value->op)) return true;
    for (const OpUse *use = value->uses; use; use = use->next)
        if (!takes_elements(use->op)) return true;
    return end > begin && alive->joint[end - 1] > alive->joint[begin];
}

static void add(Alive *alive, const Value *value, const Region *region, int begin)
{
    int end = begin;
    if (value->type->kind != TYPE_TILE) return;
    for (const OpUse *use = value->uses; use; use = use->next) {
        const int number = number_of_use(alive, use->op, region);
        end = number > end ? number : end;
    }
    if (!is_whole(alive, value, begin, end)) return;
    const int64_t size = alive->size(value, alive->context);
    alive->changes[begin] += size;
    alive->changes[end] -= size;
}

static void add_region(Alive *alive, const Region *region)
{
    for (int i = 0; i < region->argument_count; i++)
        add(alive, region->arguments[i], region, begin_of(alive, region->parent));
    for (const Op *op = region->first; op; op = op_next(op)) {
        for (int i = 0; i < op->region_count; i++) add_region(alive, op->regions[i]);
        for (int i = 0; i < op->result_count; i++)
            add(alive, &op->results[i], region, end_of(alive, op));
    }
}

static bool has_tiles(const Region *region)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        if (op_has_tiles(op)) return true;
        for (int i = 0; i < op->region_count; i++)
            if (has_tiles(op->regions[i])) return true;
    }
    return false;
}

int64_t tiles_alive(const Region *region, TileSize *size, const void *context)
{
    if (!has_tiles(region)) return 0;
    Alive alive = {.arena = arena_new(), .size = size, .context = context};
    number_ops(&alive, region);
    alive.changes = arena_new_array(alive.arena, int64_t, alive.count + 2);
    alive.joint = arena_new_array(alive.arena, int, alive.count + 2);
    count_joint(&alive, region);
    for (int i = 1; i <= alive.count; i++) alive.joint[i] += alive.joint[i - 1];
    add_region(&alive, region);
    int64_t now = 0, most = 0;
    for (int i = 0; i <= alive.count; i++) {
        now += alive.changes[i];
        most = now > most ? now : most;
    }
    arena_free(alive.arena);
    return most;
}

static int64_t bits_of_tile(const Value *tile, const void *context)
{
    (void)context;
    return type_elements(tile->type) * dtype_bits(tile->type->dtype);
}

int64_t tile_bits_alive(const Region *region)
{
    return tiles_alive(region, bits_of_tile, NULL);
}
