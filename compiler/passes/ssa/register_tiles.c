/* register_tiles.c: tiles that threads could as well have in registers: shared tiles become
 * variables, which promote makes values of, and what was loaded is not loaded again; needs a TYPED
 * kernel in SSA.
 *
 * A tile that is written and read as a whole only, by ops of all threads, says nothing of who has
 * which element: where each thread reads what it wrote itself, a way through shared memory and two
 * barriers are for nothing, and a copy waits for them in each round of a loop. Layouts are chosen
 * later, and where they differ a conversion takes that way all the same.
 *
 * Left alone is what threads hand to the tensor core, or to other groups of threads, what pipelined
 * loops copy ahead, what the author says of the cache, and what would take too many registers.
 *
 * Where elements are read at indices that threads compute, a copy in shared memory it has to be:
 * one before the loop that reads them, where the loop does not change the tile. */
#include "ir/op_vec.h"
#include "passes/analysis/access.h"
#include "passes/pass.h"

typedef struct Tiles {
    Arena *arena;
    Region *launch;
    int64_t room; /* bytes of shared memory that a loop may have for copies */
    int threads;
    bool others; /* work on tiles that this is not for */
    OpVec found;
} Tiles;

/* ---- which ---- */

static bool writes_whole(const Op *op)
{
    return op->code == OP_copy || op->code == OP_shared_store;
}

/* Another shape of it: dimensions of one element are left out. */
static bool is_whole_view(const Op *op)
{
    int64_t offset;
    if (op->code != OP_shared_view ||
        type_elements(op->results[0].type) != type_elements(operand(op, tile)->type))
        return false;
    for (int d = 0; d < operand(op, tile)->type->rank; d++)
        if (!value_constant(operand_list(op, offsets)[d], &offset) || offset != 0) return false;
    const Attr *dims = op_attr(op, ATTR_dims);
    for (int i = 1; i < dims->count; i++)
        if (dims->integers[i - 1] > dims->integers[i]) return false;
    return true;
}

static bool is_in_pipeline(const Op *op)
{
    for (const Op *loop = op_enclosing(op, OP_for); loop; loop = op_enclosing(loop, OP_for))
        if (op_int(loop, ATTR_stages, 0) > 0) return true;
    return false;
}

static bool is_used_whole(const Value *tile)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        const Op *op = use->op;
        if (op->code == OP_copy && (is_in_pipeline(op) || op_attr(op, ATTR_evict))) return false;
        if (op->code == OP_shared_load || writes_whole(op)) continue;
        if (!is_whole_view(op) || !is_used_whole(op->results)) return false;
    }
    return true;
}

static bool names(const Value *value, const Value *tile)
{
    while (value->op && value->op->code == OP_shared_view) value = operand(value->op, tile);
    return value == tile;
}

static bool uses(const Op *op, const Value *tile)
{
    bool found = false;
    for (int i = 0; i < op->operand_count && op->code != OP_shared_view; i++)
        found |= op->operands[i]->type->kind == TYPE_SHARED && names(op->operands[i], tile);
    return found;
}

/* Whether nobody in the region reads what was not written, on whatever way he came; `written`: on
 * all ways to here. */
static bool is_written_first(const Region *region, const Value *tile, bool *written)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        const bool used = uses(op, tile), before = *written;
        bool after = op->code == OP_if;
        if (used && !writes_whole(op) && !before) return false;
        for (int r = 0; r < op->region_count; r++) {
            bool inside = before;
            if (!is_written_first(op->regions[r], tile, &inside)) return false;
            after &= inside;
        }
        *written |= after || (used && writes_whole(op));
    }
    return true;
}

static bool fits_registers(const Tiles *tiles, const Value *tile)
{
    const int64_t bytes = dtype_memory_bytes(tile->type->dtype, type_elements(tile->type));
    return bytes <= (int64_t)COST_TILE_BY_REGISTERS * tiles->threads;
}

/* ---- tiles in variables ---- */

static Value *loaded(Builder *at, const Op *copy, const Type *type)
{
    Value *operands[1 + TYPE_RANK] = {operand(copy, view)};
    const int first = operand_index(copy, offsets), count = copy->operand_count - first;
    for (int i = 0; i < count; i++) operands[1 + i] = operand_list(copy, offsets)[i];
    Op *load = build_op(at, OP_load, 1 + count, operands, 1, &type);
    op_keep_attr(load, copy, ATTR_dims);
    op_keep_attr(load, copy, ATTR_bounds);
    return load->results;
}

static Value *shaped(Builder *at, Value *value, const Type *type)
{
    if (type_same_shape(value->type, type)) return value;
    return build_op(at, OP_reshape, 1, &value, 1, &type)->results;
}

static void replace_uses(const Value *tile, Value *variable);

/* Of a tile that is a variable's content, or has another shape. */
static void replace_use(Op *op, const Value *tile, Value *variable)
{
    Builder at = builder_before(op);
    const Type *shared = tile->type;
    const Type *type =
        type_tile(at.kernel->types, shared->dtype, shared->rank, shared->shape, NULL);
    if (op->code == OP_shared_view) {
        replace_uses(op->results, variable);
    } else if (op->code == OP_shared_load) {
        Value *value = build1(&at, OP_var_get, variable);
        value_replace(op->results, shaped(&at, value, type));
    } else {
        Value *value = op->code == OP_copy ? loaded(&at, op, type) : operand(op, value);
        Value *operands[2] = {variable, shaped(&at, value, variable->type->content)};
        build_op(&at, OP_var_set, 2, operands, 0, NULL);
    }
    op_erase(op);
}

static void replace_uses(const Value *tile, Value *variable)
{
    while (tile->uses) replace_use(tile->uses->op, tile, variable);
}

static void make_variable(Kernel *kernel, Op *alloc)
{
    const Type *shared = alloc->results[0].type;
    const Type *tile = type_tile(kernel->types, shared->dtype, shared->rank, shared->shape, NULL);
    const Type *type = type_var(kernel->types, tile);
    Builder at = builder_before(alloc);
    Value *variable = build_op(&at, OP_var, 0, NULL, 1, &type)->results;
    variable->name = alloc->results[0].name;
    replace_uses(alloc->results, variable);
    kernel_remark(kernel, alloc->span,
                  "a shared tile is in registers, as all threads read and "
                  "write it as a whole");
    op_erase(alloc);
}

/* ---- what was loaded ---- */

static bool fits_reuse(const Tiles *tiles, const Type *tile)
{
    const int64_t bytes = dtype_memory_bytes(tile->dtype, type_elements(tile));
    return bytes <= (int64_t)COST_KEPT_REGISTERS * REGISTER_BYTES * tiles->threads;
}

static bool is_same_load(const Op *a, const Op *b)
{
    return op_same_operands(a, 0, b, 0) && a->results[0].type == b->results[0].type &&
           op_same_attr(a, b, ATTR_dims) && op_same_attr(a, b, ATTR_bounds) &&
           !op_attr(a, ATTR_evict) && !op_attr(b, ATTR_evict);
}

/* Whether something of the region may change memory; each op keeps in `scratch` whether it does, or
 * what is in it: so that all of it is looked at once, and not for each op around it. */
static bool note_writes(Tiles *tiles, const Region *region)
{
    bool any = false;
    for (Op *op = region->first; op; op = op_next(op)) {
        bool writes = op_may_change(op, NULL);
        for (int r = 0; r < op->region_count; r++) writes |= note_writes(tiles, op->regions[r]);
        op->scratch = writes ? tiles : NULL;
        any |= writes;
    }
    return any;
}

static void reuse_loads(Tiles *tiles, const Region *region, OpVec *loaded)
{
    const size_t before = loaded->count;
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        if (op->scratch) loaded->count = 0;
        op->scratch = NULL;
        for (int r = 0; r < op->region_count; r++) reuse_loads(tiles, op->regions[r], loaded);
        if (op->code != OP_load || !fits_reuse(tiles, op->results[0].type)) continue;
        size_t at = 0;
        while (at < loaded->count && !is_same_load(loaded->data[at], op)) at++;
        if (at == loaded->count) {
            vec_push(tiles->arena, loaded, op);
            continue;
        }
        value_replace(op->results, loaded->data[at]->results);
        op_erase(op);
    }
    if (loaded->count > before) loaded->count = before;
}

/* ---- the launches ---- */

static bool can_be_registers(const Tiles *tiles, const Value *tile)
{
    bool written = false;
    return fits_registers(tiles, tile) && is_used_whole(tile) &&
           is_written_first(tile->op->parent, tile, &written);
}

static void look(Op *op, void *context)
{
    Tiles *tiles = context;
    tiles->others |= op_has(op, DOT) || op->code == OP_in_group;
    if (op->code == OP_shared_alloc && can_be_registers(tiles, op->results))
        vec_push(tiles->arena, &tiles->found, op);
}

/* ---- copies of what a loop does not change ---- */

static bool is_read_only(const Value *tile, const Op *store)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        const Op *op = use->op;
        if (op == store || op->code == OP_shared_load || op->code == OP_gather) continue;
        if (op->code != OP_shared_view || !is_read_only(op->results, store)) return false;
    }
    return true;
}

/* The store that the tile's elements come from, all of them, before anybody reads one, and that
 * each iteration does alike. */
static Op *find_same_store(const Op *alloc, const Region *body)
{
    const Value *tile = alloc->results;
    bool written = false;
    Op *store = NULL;
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op->code == OP_shared_store && store == NULL) store = use->op;
    if (!store || store->parent != body || region_holds(body, value_home(operand(store, value))) ||
        operand(store, tile) != tile || !is_read_only(tile, store) ||
        !is_written_first(body, tile, &written))
        return NULL;
    return store;
}

/* A tile's elements at indices that threads compute are read from a copy in shared memory. A loop
 * that reads one each iteration needs no other copy each time, if there is room for all that it
 * reads as long as it runs. */
static void copy_once(Op *loop, void *context)
{
    const Tiles *tiles = context;
    if (loop->code != OP_for || op_int(loop, ATTR_stages, 0) > 0) return;
    for (Op *op = loop->regions[0]->first, *next; op; op = next) {
        next = op_next(op);
        if (op->code != OP_shared_alloc || !fits_reuse(tiles, op->results->type)) continue;
        Op *store = find_same_store(op, loop->regions[0]);
        if (!store || loop_lasting_bytes(tiles->launch, loop) > tiles->room) continue;
        if (next == store) next = op_next(store);
        op_move_before(op, loop);
        op_move_before(store, loop);
    }
}

bool pass_register_tiles(Kernel *kernel, PassContext *context)
{
    for (Op *op = kernel->host->first; op; op = op->next) {
        if (op->code != OP_launch || kernel->is_strict) continue;
        Tiles tiles = {.arena = kernel->arena,
                       .launch = launch_region(op),
                       .room = context->target->shared_bytes - COST_SHARED_MARGIN,
                       .threads = launch_threads(op).count};
        region_visit(launch_region(op), look, &tiles);
        if (tiles.others) continue;
        for (size_t i = 0; i < tiles.found.count; i++) make_variable(kernel, tiles.found.data[i]);
        OpVec loaded = {0};
        note_writes(&tiles, launch_region(op));
        reuse_loads(&tiles, launch_region(op), &loaded);
        region_visit(launch_region(op), copy_once, &tiles);
    }
    return true;
}
