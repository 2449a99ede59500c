/* convert.c: conversions between layouts: where an op needs another layout than its operand has,
 * and how those that move data between threads go through shared memory. */
#include "passes/layout/layouts.h"

enum { REMADE_OPERANDS = 4 }; /* of an op that is computed anew */

/* ---- inserting ---- */

/* The outermost place at which a value is known and which comes with `op`: before the loops that
 * don't change it. */
static Op *hoist_place(const Value *value, Op *op)
{
    const Region *home = value_home(value);
    for (Op *around = op->parent->parent; around && around->code == OP_for;
         around = around->parent->parent) {
        if (!home || region_holds(around->regions[0], home)) return op;
        op = around;
    }
    return op;
}

static Value *build_convert(Inference *inference, Builder *builder, Value *value,
                            const Layout *layout)
{
    const Type *type = type_with_layout(inference->kernel->types, value->type, layout);
    return &build_op(builder, OP_convert, 1, &value, 1, &type)->results[0];
}

/* Between threads that only shared memory, or shuffles, can bring it to. */
static bool moves_data(const Layout *from, const Layout *to)
{
    const Conversion way = layout_conversion(from, to);
    return way == CONVERT_SHARED || way == CONVERT_SHUFFLE;
}

static bool is_free_source(const Value *value)
{
    return value->op && op_has(value->op, REMAT);
}

/* The same conversion made earlier in the region; NULL if there is none. */
static Value *earlier_convert(const Op *place, const Value *value, const Layout *layout)
{
    for (Op *op = place->previous; op && op != value->op; op = op->previous)
        if (op->code == OP_convert && operand(op, a) == value &&
            op->results[0].type->layout == layout)
            return &op->results[0];
    return NULL;
}

/* Whether the tile can be computed anew in the layout, from indices and scalars alone, by no more
 * than so many ops one after the other. */
static bool can_remake(const Value *value, const Layout *layout, int most)
{
    const Op *op = value->op;
    if (value->type->kind != TYPE_TILE || value->type->layout == layout) return true;
    bool can = op && most > 0 && op->operand_count <= REMADE_OPERANDS && op_has(op, REMAT | ELEM);
    for (int i = 0; can && i < op->operand_count; i++)
        can = can_remake(op->operands[i], layout, most - 1);
    return can;
}

/* `made` has what was computed so already. */
static Value *remake(Inference *inference, Builder *builder, Value *value, const Layout *layout,
                     Map *made)
{
    Value *operands[REMADE_OPERANDS], *known = map_get(made, value);
    const Op *op = value->op;
    if (known || value->type->kind != TYPE_TILE || value->type->layout == layout)
        return known ? known : value;
    for (int i = 0; i < op->operand_count; i++)
        operands[i] = remake(inference, builder, op->operands[i], layout, made);
    const Type *type = type_with_layout(inference->kernel->types, value->type, layout);
    Op *anew = build_op(builder, op->code, op->operand_count, operands, 1, &type);
    op_keep_attrs(anew, op);
    map_set(inference->kernel->arena, made, value, anew->results);
    return anew->results;
}

/* What is read from shared memory at computed indices is read in the layout that its user needs,
 * and not brought there through shared memory once more. */
static bool gather_so(Inference *inference, const Value *value, const Layout *layout)
{
    Op *gather = value->op;
    Map made = {0};
    if (!gather || gather->code != OP_gather || value->use_count != 1 ||
        operand(gather, memory)->type->kind != TYPE_SHARED)
        return false;
    for (int i = 0; i < gather->operand_count; i++)
        if (!can_remake(gather->operands[i], layout, COST_REMADE_OPS)) return false;
    Builder builder = builder_before(gather);
    for (int i = 0; i < gather->operand_count; i++)
        op_set_operand(gather, i, remake(inference, &builder, gather->operands[i], layout, &made));
    gather->results[0].type = type_with_layout(inference->kernel->types, value->type, layout);
    return true;
}

/* The operand in the layout; a splat has any. A conversion of a conversion starts from the first.
 */
static void require(Inference *inference, Op *op, int index, const Layout *layout)
{
    Value *value = op->operands[index];
    if (value->type->layout == layout) return;
    if (is_free_source(value)) {
        value->type = type_with_layout(inference->kernel->types, value->type, layout);
        return;
    }
    while (value->op && value->op->code == OP_convert) value = operand(value->op, a);
    if (value->type->layout == layout) {
        op_set_operand(op, index, value);
        return;
    }
    if (moves_data(value->type->layout, layout) && gather_so(inference, value, layout)) {
        op_set_operand(op, index, value);
        return;
    }
    Op *place = hoist_place(value, op);
    Value *earlier = earlier_convert(place, value, layout);
    Builder builder = builder_before(place);
    builder.span = op->span;
    op_set_operand(op, index,
                   earlier ? earlier : build_convert(inference, &builder, value, layout));
}

/* The op makes its result in `layout`; its users go on with the layout that was chosen for it. */
static void produce(Inference *inference, Op *op, const Layout *layout)
{
    Value *result = &op->results[0];
    const Layout *chosen = result->type->layout;
    if (chosen == layout) return;
    Builder builder = builder_after(op);
    result->type = type_with_layout(inference->kernel->types, result->type, layout);
    Value *converted = build_convert(inference, &builder, result, chosen);
    value_replace(result, converted);
    op_set_operand(converted->op, operand_index(converted->op, a), result);
}

static void fit_dot(Inference *inference, Op *op)
{
    const DotLayouts layouts = propose_dot(inference, op, op->results[0].type->layout);
    const Layout *wanted[3] = {layouts.a, layouts.b, layouts.c};
    for (int i = 0; i < 3; i++)
        if (op->operands[i]->type->kind == TYPE_TILE) require(inference, op, i, wanted[i]);
    produce(inference, op, layouts.c);
}

/* Not every layout can be reshaped: then both sides are converted to and from one that can. */
static void fit_rename(Inference *inference, Op *op)
{
    const Layout *wanted = derive_operand(inference, op, op->results[0].type->layout);
    if (wanted) {
        require(inference, op, operand_index(op, a), wanted);
        return;
    }
    const Layout *made = derive_result(inference, op, operand(op, a)->type->layout);
    if (!made) {
        const Layout *plain = propose_default(inference, operand(op, a)->type);
        made = derive_result(inference, op, plain);
        if (made) require(inference, op, operand_index(op, a), plain);
    }
    if (made)
        produce(inference, op, made);
    else
        reshape_through_shared(inference, op);
}

/* ---- parts ---- */

static Value *splat_like(Builder *builder, const Type *type, int64_t number)
{
    Value *value = build_const(builder, type->dtype, number);
    return build_op(builder, OP_splat, 1, &value, 1, &type)->results;
}

/* Whether an element is in the part, along one dimension. */
static Value *is_along(Builder *builder, Value *at, int64_t begin, int64_t end)
{
    return build2(builder, OP_and,
                  build_cmp(builder, "ge", at, splat_like(builder, at->type, begin)),
                  build_cmp(builder, "lt", at, splat_like(builder, at->type, end)));
}

/* Where not each thread has elements of the part, those that do store them one by one. */
static void put_elements(Inference *inference, Builder *builder, const Op *part, Value *shared)
{
    Value *whole = operand(part, a), *operands[3 + LAYOUT_RANK] = {shared, whole};
    const int64_t *begins = op_attr(part, ATTR_begins)->integers;
    const Type *type = type_with_dtype(inference->kernel->types, whole->type, DTYPE_i32);
    const int rank = whole->type->rank;
    Value *mask = NULL;
    for (int d = 0; d < rank; d++) {
        Op *iota = build_op(builder, OP_iota, 0, NULL, 1, &type);
        op_set_int(iota, ATTR_dim, d);
        Value *at = iota->results;
        Value *inside =
            is_along(builder, at, begins[d], begins[d] + part->results[0].type->shape[d]);
        mask = mask ? build2(builder, OP_and, mask, inside) : inside;
        operands[2 + d] = build2(builder, OP_sub, at, splat_like(builder, type, begins[d]));
    }
    operands[2 + rank] = mask;
    Op *put = build_op(builder, OP_put, 3 + rank, operands, 0, NULL);
    op_set_int(put, ATTR_masked, 1);
}

static void store_elements(Inference *inference, const Op *part, Op *store)
{
    Builder builder = builder_before(store);
    put_elements(inference, &builder, part, operand(store, tile));
    op_erase(store);
}

/* A part that some threads have alone goes to the others, and not the whole tile for its sake. */
static void part_through_shared(Inference *inference, Op *op)
{
    const Type *type = op->results[0].type, *stored = linear_type(inference->kernel, type);
    Builder builder = builder_before(op);
    Op *alloc = build_op(&builder, OP_shared_alloc, 0, NULL, 1, &stored);
    op_set_int(alloc, ATTR_bytes, type_bytes(stored));
    put_elements(inference, &builder, op, alloc->results);
    Op *load = build_op(&builder, OP_shared_load, 1, &alloc->results, 1, &type);
    value_replace(&op->results[0], load->results);
    op_erase(op);
}

/* Of a part for this store alone (ssa/narrow.c). */
static void fit_shared_store(Inference *inference, Op *op)
{
    Op *part = operand(op, value)->op;
    if (!part || part->code != OP_part) return;
    const Layout *made = derive_result(inference, part, operand(part, a)->type->layout);
    Value *result = &part->results[0];
    if (made) {
        result->type = type_with_layout(inference->kernel->types, result->type, made);
    } else {
        store_elements(inference, part, op);
        op_erase(part);
    }
}

/* The whole tile would go through shared memory for nothing but this part of it, of which no
 * element is stored by itself. Where the author's mbarriers order groups, it is for expand_converts
 * to say what has room. */
static bool goes_alone(const Inference *inference, const Op *part, const Layout *wanted)
{
    const Value *whole = operand(part, a);
    const Type *type = part->results[0].type;
    return COST_PART_ALONE * type_elements(type) <= type_elements(whole->type) &&
           whole->use_count == 1 && whole->op && !op_has(whole->op, REMAT) &&
           whole->op->code != OP_gather && inference->room == INT64_MAX &&
           !dtype_is_packed(whole->type->dtype) && whole->type->dtype != DTYPE_b1 &&
           layout_conversion(whole->type->layout, wanted) == CONVERT_SHARED;
}

static bool is_stored_alone(const Value *part)
{
    for (const OpUse *use = part->uses; use; use = use->next)
        if (use->op->code != OP_shared_store) return false;
    return true;
}

/* Of a part that is in registers each thread has its elements, or the tile is converted. */
static void fit_part(Inference *inference, Op *op)
{
    if (is_stored_alone(&op->results[0])) return;
    const Type *whole = operand(op, a)->type;
    const Layout *made = derive_result(inference, op, whole->layout);
    if (!made) {
        int32_t shape[LAYOUT_RANK];
        for (int d = 0; d < whole->rank; d++) shape[d] = (int32_t)whole->shape[d];
        LayoutTable *table = inference->kernel->layouts;
        made = op->results[0].type->layout;
        const Layout *wanted = layout_whole(table, made, shape);
        if (!wanted) {
            made = propose_default(inference, op->results[0].type);
            wanted = layout_whole(table, made, shape);
        }
        CHECK(wanted);
        if (goes_alone(inference, op, wanted)) {
            part_through_shared(inference, op);
            return;
        }
        require(inference, op, operand_index(op, a), wanted);
    }
    produce(inference, op, made);
}

static const Op *outermost_loop(const Op *op)
{
    const Op *found = NULL;
    for (const Op *around = op->parent->parent; around->code != OP_launch;
         around = around->parent->parent)
        if (op_has(around, LOOP)) found = around;
    return found;
}

/* Bytes of the tiles that are in use as long as the loop runs. */
static int64_t held_by_loop(Inference *inference, const Op *loop)
{
    const uintptr_t known = (uintptr_t)map_get(&inference->held, loop);
    if (known) return (int64_t)known - 1;
    Arena *arena = arena_new();
    const SharedUses uses = loop_shared_uses(arena, inference->region, loop);
    int64_t bytes = 0;
    for (size_t i = 0; i < uses.count; i++) {
        const SharedUse *use = &uses.data[i];
        if (shared_use_lasts(use) && !region_holds(loop->regions[0], use->alloc->parent))
            bytes += op_int(use->alloc, ATTR_bytes, 0);
    }
    arena_free(arena);
    map_set(inference->arena, &inference->held, loop, (void *)((uintptr_t)bytes + 1));
    return bytes;
}

/* Whether a copy of the tile in shared memory is possible at all, where `op` stands. */
static bool fits_in_shared(Inference *inference, const Op *op, const Type *tile)
{
    const Op *loop = outermost_loop(op);
    const int64_t held = loop ? held_by_loop(inference, loop) : 0;
    return type_bytes(tile) + held <= inference->target->shared_bytes;
}

/* Where the author's mbarriers order groups beside each other the group's conversion has memory of
 * its own. False: there is none left. */
static bool takes_room(Inference *inference, const Op *op)
{
    const int64_t bytes = type_bytes(operand(op, value)->type);
    if (op_is_of_block(op)) return true;
    if (bytes > inference->room) return false;
    inference->room -= bytes;
    return true;
}

/* A sum that TMA was to add. */
static void add_by_threads(Op *store)
{
    Value *places[1 + TYPE_RANK] = {operand(store, view)};
    Value *operands[2 + TYPE_RANK] = {operand(store, view)}, *value = operand(store, value);
    const int first = operand_index(store, offsets), count = store->operand_count - first;
    Builder builder = builder_before(store);
    for (int i = 0; i < count; i++) places[1 + i] = operands[2 + i] = store->operands[first + i];
    Op *load = build_op(&builder, OP_load, 1 + count, places, 1, &value->type);
    operands[1] = build2(&builder, OP_add, load->results, value);
    Op *sum = build_op(&builder, OP_store, 2 + count, operands, 0, NULL);
    op_keep_attr(load, store, ATTR_dims);
    op_keep_attr(load, store, ATTR_bounds);
    op_keep_attr(sum, store, ATTR_dims);
    op_keep_attr(sum, store, ATTR_bounds);
    op_erase(store);
}

/* In how many pieces that lie in memory by themselves warps write a tile. */
static int64_t pieces_of(const Type *tile, int64_t segment)
{
    return dtype_memory_bytes(tile->dtype, type_elements(tile)) / (segment > 0 ? segment : 1);
}

/* A store through shared memory pays where a warp would touch less than a whole sector of memory at
 * a time, and that often enough for a barrier. */
static void fit_store(Inference *inference, Op *op)
{
    if (op_attr(op, ATTR_tma)) { /* else as it lies: no room is left for a conversion */
        if (!store_by_tma(inference, op) && op_attr(op, ATTR_mode)) add_by_threads(op);
        return;
    }
    if (type_elements(operand(op, value)->type) <= COST_STORE_AS_IT_LIES ||
        !fits_in_shared(inference, op, operand(op, value)->type))
        return;
    const Type *tile = operand(op, value)->type;
    const Layout *likes = propose_access(inference, op, 0);
    const int64_t segment = access_segment(inference, op, tile->layout),
                  longer = access_segment(inference, op, likes);
    if (segment < SECTOR_BYTES && longer > segment &&
        pieces_of(tile, segment) - pieces_of(tile, longer) > COST_STORE_PIECES &&
        takes_room(inference, op))
        require(inference, op, operand_index(op, value), likes);
}

/* ---- reductions and scans ---- */

const Type *tile_of_layout(const Inference *inference, const Type *tile, const Layout *layout)
{
    int64_t shape[TYPE_RANK];
    for (int d = 0; d < layout->rank; d++) shape[d] = layout->shape[d];
    return type_tile(inference->kernel->types, tile->dtype, layout->rank, shape, layout);
}

/* Who combines what the warps have: every thread the results that it needs, or, where these are
 * many, each thread its share of them, of which the others are then told. */
static const Layout *combining_layout(const Inference *inference, const Type *result,
                                      const Layout *needed, const Layout *parts)
{
    const Layout *shares = propose_default(inference, result);
    const int fetched =
                  layout_registers(layout_gathered(inference->kernel->layouts, needed, parts)),
              shared = layout_registers(layout_gathered(inference->kernel->layouts, shares, parts));
    const int told = layout_registers(needed) + shared;
    return fetched - told > COST_REDUCE_FETCHES ? shares : needed;
}

/* Each warp reduces what it has; threads then fetch the parts of results and combine them. */
static void split_reduce(Inference *inference, Op *op, const Layout *needed, const Layout *parts)
{
    Value *result = &op->results[0];
    const Layout *chosen = result->type->layout,
                 *combined = combining_layout(inference, result->type, needed, parts);
    const Type *whole = type_with_layout(inference->kernel->types, result->type, combined);
    Builder builder = builder_after(op);
    result->type = tile_of_layout(inference, whole, parts);
    Value *gathered = build_convert(inference, &builder, result,
                                    layout_gathered(inference->kernel->layouts, combined, parts));
    Op *last = build_op(&builder, OP_reduce, 1, &gathered, 1, &whole);
    op_keep_attrs(last, op);
    Value *value = &last->results[0];
    if (chosen != combined) value = build_convert(inference, &builder, value, chosen);
    value_replace(result, value);
    op_set_operand(gathered->op, operand_index(gathered->op, a), result);
}

static void fit_reduce(Inference *inference, Op *op)
{
    const unsigned dims = op_dims_mask(op);
    if (reduces_to_parts(op)) return;
    if (!layout_is_plain(operand(op, a)->type->layout, dims))
        require(inference, op, operand_index(op, a),
                propose_default(inference, operand(op, a)->type));
    const Layout *has = operand(op, a)->type->layout;
    const Layout *combined = derive_result(inference, op, has),
                 *parts = layout_parts(inference->kernel->layouts, has, dims, LAYOUT_WARP);
    bool across_warps = false;
    for (int d = 0; d < parts->rank; d++) across_warps |= parts->shape[d] != combined->shape[d];
    if (across_warps)
        split_reduce(inference, op, combined, halved_layout(inference, op, has, parts, false));
    else
        produce(inference, op, combined);
}

static void fit_scan(Inference *inference, Op *op)
{
    const Layout *layout = scan_layout(inference, op, operand(op, a)->type->layout);
    require(inference, op, operand_index(op, a), layout);
    produce(inference, op, layout);
}

/* ---- shared tiles of the compiler ---- */

/* The dimension along which the layout's registers run the furthest, and how far. */
static int longest_run(const Layout *layout, int *run)
{
    int dim = layout->rank - 1;
    *run = 1;
    for (int d = 0; d < layout->rank; d++) {
        const int length = layout_register_run(layout, d);
        if (length > *run) {
            *run = length;
            dim = d;
        }
    }
    return dim;
}

static const Layout *shared_layout(const Inference *inference, const Type *from, const Type *to)
{
    int from_run, to_run, dim_order[LAYOUT_RANK], count = 1;
    const int from_dim = longest_run(from->layout, &from_run),
              to_dim = longest_run(to->layout, &to_run);
    dim_order[0] = to_run > from_run ? to_dim : from_dim;
    for (int d = from->rank - 1; d >= 0; d--)
        if (d != dim_order[0]) dim_order[count++] = d;
    const int bits = dtype_memory_bits(from->dtype), least = from_run < to_run ? from_run : to_run;
    return (from_dim != to_dim && least * bits >= ACCESS_BYTES * 8 ? layout_swizzled_columns
                                                                   : layout_swizzled)(
        inference->kernel->layouts, from->rank, from->layout->shape, dim_order, bits);
}

static Value *build_shared(const Inference *inference, Builder *builder, const Type *from,
                           const Type *to)
{
    TypeTable *types = inference->kernel->types;
    const Layout *layout = shared_layout(inference, from, to);
    const Type *type = type_shared(types, from->dtype, from->rank, from->shape, layout);
    Op *alloc = build_op(builder, OP_shared_alloc, 0, NULL, 1, &type);
    op_set_int(alloc, ATTR_bytes, type_bytes(type));
    return &alloc->results[0];
}

/* One thread alone gets each old element: the others that hold it are told through shared memory.
 */
static void fit_atomic(Inference *inference, Op *op)
{
    Value *old = &op->results[0];
    const Layout *layout = old->type->layout;
    const int threads = inference->warps > 0 ? WARP_SIZE * inference->warps : 1;
    if (old->use_count == 0 ||
        (layout_replica_mask(layout) == 0 && layout_threads(layout) == threads))
        return;
    Builder after = builder_after(op);
    Value *shared = build_shared(inference, &after, old->type, old->type);
    Op *store = build_op(&after, OP_shared_store, 2, (Value *[]){shared, old}, 0, NULL);
    Op *load = build_op(&after, OP_shared_load, 1, &shared, 1, &old->type);
    value_replace(old, &load->results[0]);
    op_set_operand(store, operand_index(store, value), old);
}

typedef void FitRule(Inference *inference, Op *op);
static FitRule *const fit_rules[OP_COUNT] = {
    [OP_dot] = fit_dot,          [OP_dot_shared] = fit_dot, [OP_dot_slices] = fit_dot,
    [OP_broadcast] = fit_rename, [OP_reshape] = fit_rename, [OP_transpose] = fit_rename,
    [OP_part] = fit_part,        [OP_store] = fit_store,    [OP_reduce] = fit_reduce,
    [OP_scan] = fit_scan,        [OP_atomic] = fit_atomic,  [OP_shared_store] = fit_shared_store,
};

static void fit_op(Op *op, void *context)
{
    if (!fit_rules[op->code]) return;
    inference_enter(context, op);
    fit_rules[op->code](context, op);
}

/* Renames cost nothing: those of values from before a loop go there, and take their conversions
 * along. */
static void hoist_rename(Op *op, void *context)
{
    (void)context;
    if (fit_rules[op->code] == fit_rename) op_move_before(op, hoist_place(operand(op, a), op));
}

void insert_converts(Inference *inference)
{
    region_visit(inference->region, hoist_rename, NULL);
    region_visit(inference->region, fit_op, inference);
}

/* ---- through shared memory ---- */

/* Few shuffles do it. */
static bool goes_by_shuffles(const Type *from, const Type *to)
{
    int32_t lanes[LAYOUT_BITS];
    const int words = dtype_bits(to->dtype) > REGISTER_BITS ? 2 : 1;
    return layout_conversion(from->layout, to->layout) == CONVERT_SHUFFLE &&
           words * layout_registers(to->layout) <= COST_EXCHANGED_REGISTERS &&
           layout_exchange(from->layout, to->layout, lanes);
}

static bool moves_tile(const Op *convert)
{
    return moves_data(operand(convert, a)->type->layout, convert->results[0].type->layout);
}

static bool is_converted(const Value *value)
{
    return value->op && value->op->code == OP_convert;
}

static void drop_unused(Op *op, void *context)
{
    (void)context;
    if (op->code == OP_convert && op->results[0].use_count == 0) op_erase(op);
}

static void replace_convert(Op *convert, Value *shared, Builder *loads)
{
    loads->span = convert->span;
    Op *load = build_op(loads, OP_shared_load, 1, &shared, 1, &convert->results[0].type);
    value_replace(&convert->results[0], &load->results[0]);
    op_erase(convert);
}

/* Neighbouring conversions are stored together and then loaded together, so that one barrier serves
 * all; none is needed where shuffles do for all. Returns the op that comes after them. */
static Op *expand_run(Inference *inference, Op *first)
{
    VEC(Op *) converts = {0};
    VEC(Value *) tiles = {0};
    bool by_shuffles = true;
    Op *end = first;
    for (; end && end->code == OP_convert && !(end != first && is_converted(operand(end, a)));
         end = end->next)
        if (moves_tile(end)) {
            vec_push(inference->arena, &converts, end);
            by_shuffles &= goes_by_shuffles(operand(end, a)->type, end->results[0].type);
        }
    if (by_shuffles) return end;
    Builder loads = builder_at_end(first->parent, first->span);
    loads.before = end;
    Builder stores = builder_before(first);
    for (size_t i = 0; i < converts.count; i++) {
        Value *from = operand(converts.data[i], a);
        stores.span = converts.data[i]->span;
        Value *tile =
            build_shared(inference, &stores, from->type, converts.data[i]->results[0].type);
        build2(&stores, OP_shared_store, tile, from);
        vec_push(inference->arena, &tiles, tile);
    }
    for (size_t i = 0; i < converts.count; i++)
        replace_convert(converts.data[i], tiles.data[i], &loads);
    return end;
}

static void expand_region(Inference *inference, Region *region)
{
    for (Op *op = region->first; op;) {
        for (int i = 0; i < op->region_count; i++) expand_region(inference, op->regions[i]);
        op = op->code == OP_convert ? expand_run(inference, op) : op->next;
    }
}

void expand_converts(Inference *inference)
{
    if (!kernel_had(inference->kernel, OP_convert)) return;
    region_visit(inference->region, drop_unused, inference);
    expand_region(inference, inference->region);
}
