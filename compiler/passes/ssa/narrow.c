/* narrow.c: of a register tile that goes to shared memory to be read there, the part that is read;
 * needs and leaves a TYPED kernel in SSA.
 *
 * What threads read of a tile at other places than their own is a copy of the whole tile in shared
 * memory, made by the evaluator or by elements.c. A tile that comes from there, and stays there as
 * it is, is read where it is. Where no more than half of it is read, the copy is of a part: one
 * whose extents are powers of two, at a multiple of them, as registers can be divided so. A copy of
 * what was cast to a wider type has the narrower numbers, and what is read of it is cast. */
#include "passes/analysis/context.h"
#include "passes/ssa/index_bounds.h"

#include "ir/op_vec.h"

enum { MOST_LOOKS = 1 << 24 };

typedef struct Box {
    int64_t begin[TYPE_RANK], extent[TYPE_RANK];
} Box;

typedef struct Narrow {
    FactTable *facts;
    Arena *arena;
    int64_t looks; /* at values, that are left */
} Narrow;

/* ---- the copies ---- */

static bool is_read(const Op *op, const Value *copy)
{
    if (op->code == OP_shared_view)
        return operand(op, tile) == copy && shared_is_loaded_alone(op->results);
    return ((op->code == OP_gather && !op_attr(op, ATTR_lenient)) || op->code == OP_element_load) &&
           operand(op, memory) == copy;
}

/* The op that makes all of the copy, if everything else reads elements or parts of it; else NULL.
 * What has a name is the author's. */
static Op *copying_store(const Value *copy)
{
    Op *store = NULL;
    if (copy->name || dtype_is_packed(copy->type->dtype)) return NULL;
    for (const OpUse *use = copy->uses; use; use = use->next) {
        if (is_read(use->op, copy)) continue;
        if (use->op->code != OP_shared_store || store) return NULL;
        store = use->op;
    }
    return store;
}

/* ---- the part that is read ---- */

static int first_index(const Op *read)
{
    return op_is_scattered(read) ? scattered_first(read) : 1;
}

static void reach_of_view(const Narrow *narrow, const Op *view, int dim, int64_t *low,
                          int64_t *high)
{
    const Attr *dims = op_attr(view, ATTR_dims);
    const Facts start = facts_of(narrow->facts, operand_list(view, offsets)[dim]);
    const int64_t extent = operand(view, tile)->type->shape[dim];
    int64_t span = 1;
    for (int i = 0; i < dims->count; i++)
        if (dims->integers[i] == dim) span = view->results[0].type->shape[i];
    *low = start.low > 0 ? start.low : 0;
    *high = start.high < extent - span ? start.high + span - 1 : extent - 1;
}

/* Where along a dimension all reads are, as low and high. */
static void reach_of_all(Narrow *narrow, const Value *copy, int dim, int64_t *low, int64_t *high)
{
    *low = INT64_MAX, *high = INT64_MIN;
    for (const OpUse *use = copy->uses; use; use = use->next) {
        int64_t first, last;
        if (use->op->code == OP_shared_store) continue;
        if (use->op->code == OP_shared_view)
            reach_of_view(narrow, use->op, dim, &first, &last);
        else
            index_reach(narrow->facts, &narrow->looks, use->op, dim, &first, &last);
        *low = first < *low ? first : *low;
        *high = last > *high ? last : *high;
    }
}

/* The least power of two, at a multiple of itself, that holds them; or all there is. */
static void iteration_out(int64_t low, int64_t high, int64_t whole, int64_t *begin, int64_t *extent)
{
    *begin = 0, *extent = whole;
    if (low > high || low < 0) return;
    for (int64_t size = 1; size < whole; size *= 2) {
        if (low / size != high / size) continue;
        if ((low / size + 1) * size <= whole) *begin = low / size * size, *extent = size;
        return;
    }
}

static bool find_box(Narrow *narrow, const Value *copy, Box *box)
{
    int64_t elements = 1;
    for (int d = 0; d < copy->type->rank; d++) {
        int64_t low, high;
        reach_of_all(narrow, copy, d, &low, &high);
        iteration_out(low, high, copy->type->shape[d], &box->begin[d], &box->extent[d]);
        elements *= box->extent[d];
    }
    return copy->uses && elements <= type_elements(copy->type) / 2;
}

/* ---- the part ---- */

static Value *moved(Builder *at, Value *index, int64_t begin)
{
    Value *less = build_const(at, index->type->dtype, begin);
    if (type_is_tile(index->type))
        less = build_op(at, OP_splat, 1, &less, 1, &index->type)->results;
    return build2(at, OP_sub, index, less);
}

static void move_read(Op *read, Value *part, const Box *box)
{
    const int first = first_index(read);
    Builder at = builder_before(read);
    const int memory =
        read->code == OP_shared_view ? operand_index(read, tile) : operand_index(read, memory);
    op_set_operand(read, memory, part);
    for (int d = 0; d < part->type->rank; d++)
        if (box->begin[d])
            op_set_operand(read, first + d, moved(&at, read->operands[first + d], box->begin[d]));
}

/* A view may have the tile's dimensions in another order. */
static bool keeps_order(const Op *view)
{
    const Attr *dims = op_attr(view, ATTR_dims);
    for (int i = 1; i < dims->count; i++)
        if (dims->integers[i] < dims->integers[i - 1]) return false;
    return true;
}

/* All that is read is one part, from the same place on, of a tile that layouts do not pad, in the
 * order of its dimensions. */
static bool is_one_part(const Value *copy, const Box *box)
{
    int64_t begin, elements = 1;
    for (int d = 0; d < copy->type->rank; d++) {
        if (copy->type->shape[d] & (copy->type->shape[d] - 1)) return false;
        if (copy->type->shape[d] % box->extent[d]) return false;
        elements *= box->extent[d];
    }
    for (const OpUse *use = copy->uses; use; use = use->next) {
        if (use->op->code == OP_shared_store) continue;
        if (use->op->code != OP_shared_view || !keeps_order(use->op) ||
            type_elements(use->op->results[0].type) != elements)
            return false;
        for (int d = 0; d < copy->type->rank; d++)
            if (!value_constant(operand_list(use->op, offsets)[d], &begin) ||
                begin != box->begin[d])
                return false;
    }
    return true;
}

static Op *build_part(const Op *store, const Box *box)
{
    Builder before = builder_before((Op *)(uintptr_t)store);
    const Type *whole = operand(store, value)->type,
               *tile =
                   type_tile(before.kernel->types, whole->dtype, whole->rank, box->extent, NULL);
    Op *part = build_op(&before, OP_part, 1, operand_list(store, value), 1, &tile);
    op_set_ints(part, ATTR_begins, whole->rank, box->begin);
    return part;
}

/* What is read of it is in registers: nothing goes to shared memory. */
static void read_part(Op *copy, Op *store, const Box *box)
{
    Value *part = build_part(store, box)->results;
    op_erase(store);
    while (copy->results[0].uses) {
        Op *view = copy->results[0].uses->op;
        while (view->results[0].uses) {
            Op *load = view->results[0].uses->op;
            Builder at = builder_before(load);
            value_replace(load->results,
                          build_op(&at, OP_reshape, 1, &part, 1, &load->results[0].type)->results);
            op_erase(load);
        }
        op_erase(view);
    }
    op_erase(copy);
}

static void copy_part(Op *copy, Op *store, const Box *box)
{
    TypeTable *types = builder_before(copy).kernel->types;
    const Type *whole = copy->results[0].type;
    const Type *shared = type_shared(types, whole->dtype, whole->rank, box->extent, NULL);
    Builder at = builder_before(copy), before = builder_before(store);
    Value *made = build_op(&at, OP_shared_alloc, 0, NULL, 1, &shared)->results;
    Value *part = build_part(store, box)->results;
    build_op(&before, OP_shared_store, 2, (Value *[]){made, part}, 0, NULL);
    op_erase(store);
    while (copy->results[0].uses) move_read(copy->results[0].uses->op, made, box);
    op_erase(copy);
}

/* ---- copies of what is in shared memory already ---- */

/* Or may do so, where it holds others. */
static bool writes(const Op *op, const Op *alloc)
{
    return op->region_count || (shared_is_used(op, alloc) && !shared_is_only_read(op));
}

static int uses_in(const Op *op, const Value *value)
{
    int count = 0;
    for (int i = 0; i < op->operand_count; i++) count += op->operands[i] == value;
    return count;
}

/* From where the tile is loaded to where the copy is read last, in one straight text. */
static bool stays_as_it_is(const Op *load, const Value *copy)
{
    const Op *alloc = shared_root(operand(load, tile));
    int left = copy->use_count;
    for (const Op *op = load->next; op; op = op->next) {
        if (op->code == OP_shared_view && uses_in(op, copy))
            return false; /* it may be read later */
        left -= uses_in(op, copy);
        if (left == 0) return true;
        if (writes(op, alloc)) return false;
    }
    return false;
}

/* The tile whose elements the copy has, as long as it is read; NULL: there is none. */
static Value *tile_of_copy(const Op *store)
{
    const Op *load = operand(store, value)->op;
    const Value *copy = operand(store, tile);
    if (!load || load->code != OP_shared_load || load->parent != store->parent) return NULL;
    Value *tile = operand(load, tile);
    return tile->type == copy->type && stays_as_it_is(load, copy) ? tile : NULL;
}

static void read_in_place(Op *copy, Op *store, Value *tile)
{
    op_erase(store);
    value_replace(copy->results, tile);
    op_erase(copy);
}

/* ---- copies of numbers of a wider type ---- */

/* What is cast to a wider type in the store; NULL: nothing is. */
static Value *cast_within(const Op *store)
{
    const Value *value = operand(store, value);
    if (value->op && value->op->code == OP_reshape) value = operand(value->op, a);
    if (!value->op || value->op->code != OP_cast) return NULL;
    Value *from = operand(value->op, a);
    const DType dtype = from->type->dtype;
    const bool is_narrower = dtype_bits(dtype) < dtype_bits(value->type->dtype);
    return is_narrower && dtype != DTYPE_b1 && !dtype_is_packed(dtype) ? from : NULL;
}

static void cast_back(Op *read, DType dtype)
{
    Value *result = read->results;
    const Type *wide = result->type;
    Builder at = builder_after(read);
    Value *cast = build_op(&at, OP_cast, 1, &result, 1, &wide)->results;
    value_replace(result, cast);
    op_set_operand(cast->op, operand_index(cast->op, a), result);
    result->type = type_with_dtype(at.kernel->types, wide, dtype);
}

/* The cast, and the other shape of what it gave. */
static void drop_unused(Value *wide)
{
    while (wide->use_count == 0 && (wide->op->code == OP_reshape || wide->op->code == OP_cast)) {
        Op *op = wide->op;
        const bool is_last = op->code == OP_cast;
        wide = operand(op, a);
        op_erase(op);
        if (is_last) return;
    }
}

static void store_before_cast(Op *copy, Op *store, Value *from)
{
    TypeTable *types = copy->parent->kernel->types;
    const DType dtype = from->type->dtype;
    const Type *tile = type_with_dtype(types, operand(store, value)->type, dtype);
    Builder at = builder_before(store);
    if (from->type != tile) from = build_op(&at, OP_reshape, 1, &from, 1, &tile)->results;
    copy->results[0].type = type_with_dtype(types, copy->results[0].type, dtype);
    Value *wide = operand(store, value);
    op_set_operand(store, operand_index(store, value), from);
    drop_unused(wide);
    for (const OpUse *use = copy->results[0].uses; use; use = use->next) {
        if (use->op == store) continue;
        if (use->op->code != OP_shared_view) {
            cast_back(use->op, dtype);
            continue;
        }
        Value *view = use->op->results;
        view->type = type_with_dtype(types, view->type, dtype);
        for (const OpUse *load = view->uses; load; load = load->next) cast_back(load->op, dtype);
    }
}

static bool is_copy(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_shared_alloc && copying_store(op->results);
}

bool pass_narrow(Kernel *kernel, PassContext *context)
{
    Narrow narrow = {.facts = analysis_ranges(context), .arena = arena_new(), .looks = MOST_LOOKS};
    const OpVec copies = region_list(narrow.arena, kernel->host, is_copy, NULL);
    for (size_t i = 0; i < copies.count; i++) {
        Op *copy = copies.data[i], *store = copying_store(copy->results);
        Value *tile = tile_of_copy(store), *from = tile ? NULL : cast_within(store);
        Box box;
        if (from) store_before_cast(copy, store, from);
        if (tile)
            read_in_place(copy, store, tile);
        else if (!find_box(&narrow, copy->results, &box))
            continue;
        else if (is_one_part(copy->results, &box))
            read_part(copy, store, &box);
        else
            copy_part(copy, store, &box);
    }
    arena_free(narrow.arena);
    return true;
}
