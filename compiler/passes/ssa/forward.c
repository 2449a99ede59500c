/* forward.c: a tile that was written to shared memory and is read back at once stays in registers;
 * needs and leaves a TYPED kernel in SSA.
 *
 * Texts store sums by way of shared memory, so that the threads' stores are wide. How stores go is
 * for later passes to choose, which know more: by TMA, from a few rows of them at a time. What is a
 * row or a column again and again needs no memory at all, nor does what is kept there for its
 * elements alone, where those are now all of it, in order. What else other work reads stays where
 * it is, and so does what such work stands between, for which the registers may be needed. What is
 * written and not read before all of it is written again is not written. A few numbers that are
 * copied there, each to be read once by all threads, are read where they are copied from: nobody
 * waits for the copy, and whoever copies ahead knows them, too, as where a block's share begins and
 * how long it is. */
#include "ir/group.h"
#include "ir/op_vec.h"
#include "passes/analysis/access.h"

enum { MOST_BETWEEN = 64, MOST_NUMBERS = 8 };

static ValueAnswer is_no_store(const Value *value, const Op *user, void *context)
{
    (void)value, (void)context;
    if (user->code == OP_store) return VALUE_ENOUGH;
    return op_has(user, ELEM) ? VALUE_RESULTS : VALUE_FOUND;
}

static bool is_stored_alone(const Value *value)
{
    return !value_finds_use(value, is_no_store, NULL);
}

static ValueAnswer is_not_spread(const Value *value, void *context)
{
    (void)context;
    const Op *op = value->op;
    if (op && (op->code == OP_broadcast || op->code == OP_splat)) return VALUE_ENOUGH;
    return op && op_has(op, ELEM) && op->operand_count ? VALUE_OPERANDS : VALUE_FOUND;
}

/* Of a row or column, or a number: threads have that, wherever its elements are needed. */
static bool is_spread(const Value *value)
{
    return !value_finds(value, is_not_spread, NULL);
}

/* What the op writes to all of the tile; NULL: it may write some of it, or is more work. */
static Value *stored_by(const Op *op, const Value *tile)
{
    const bool fits = op->code == OP_shared_store && operand(op, tile) == tile;
    return fits ? operand(op, value) : NULL;
}

/* Other groups of threads are told of stores, or tell of theirs: by an mbarrier, or by a barrier of
 * some threads. */
static bool tells_others(const Op *op)
{
    return op_has(op, MBARRIER) || (op->code == OP_barrier && op_attr(op, ATTR_count));
}

static bool may_be_between(const Op *op, const Op *alloc)
{
    return !op->region_count && op->code != OP_dot && !tells_others(op) &&
           (!shared_is_used(op, alloc) || shared_is_only_read(op));
}

/* What is in the tile where it is read; NULL: that is not known. */
static Value *find_stored(const Op *load)
{
    const Value *tile = operand(load, tile);
    int between = 0;
    for (const Op *op = load->previous; op && between < MOST_BETWEEN;
         op = op->previous, between++) {
        Value *stored = stored_by(op, tile);
        if (stored) return stored->type == load->results[0].type ? stored : NULL;
        if (!may_be_between(op, tile->op)) return NULL;
    }
    return NULL;
}

static bool is_whole(const Value *tile)
{
    return tile->op && tile->op->code == OP_shared_alloc;
}

/* More than this would be taken apart on its way through shared memory. */
static bool fits_registers(const Op *load)
{
    const Type *type = load->results[0].type;
    const int64_t words = type_elements(type) * dtype_bits(type->dtype) / REGISTER_BITS;
    return words <= (int64_t)COST_FORWARD_REGISTERS * op_threads(load).count;
}

/* Memory that is made for what is in it, as elements of register tiles are read by way of it. What
 * has a name is the author's. */
static bool is_detour(const Value *tile)
{
    const Op *store = tile->op->next;
    if (tile->name || !store || !stored_by(store, tile)) return false;
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op != store && use->op->code != OP_shared_load) return false;
    return true;
}

static void forward(Op *op, void *context)
{
    const bool *has_sums = context;
    if (op->code != OP_shared_load || !is_whole(operand(op, tile)) || !fits_registers(op)) return;
    Value *stored = find_stored(op);
    if (!stored) return;
    const bool is_sum = *has_sums && (is_stored_alone(&op->results[0]) || is_spread(stored));
    if (!is_sum && !is_detour(operand(op, tile))) return;
    value_replace(&op->results[0], stored);
    op_erase(op);
}

/* All of the tile is written again before anything else is done with it, by threads of another
 * group neither. */
static bool is_overwritten(const Op *store)
{
    const Value *tile = operand(store, tile);
    int between = 0;
    for (const Op *op = store->next; op && between < MOST_BETWEEN; op = op->next, between++) {
        if (stored_by(op, tile)) return true;
        if (op->region_count || tells_others(op) || shared_is_used(op, tile->op)) return false;
    }
    return false;
}

static bool is_for_nothing(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_shared_store && is_whole(operand(op, tile)) && is_overwritten(op);
}

static void drop_overwritten(Kernel *kernel)
{
    const OpVec found = region_list(kernel->arena, kernel->host, is_for_nothing, NULL);
    for (size_t i = 0; i < found.count; i++) op_erase(found.data[i]);
}

static bool is_only_written(const Value *tile)
{
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (!stored_by(use->op, tile)) return false;
    return true;
}

static bool is_unread(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_shared_alloc && is_only_written(&op->results[0]);
}

static void drop_unread(Kernel *kernel)
{
    const OpVec unread = region_list(kernel->arena, kernel->host, is_unread, NULL);
    for (size_t i = 0; i < unread.count; i++) {
        Op *alloc = unread.data[i];
        while (alloc->results[0].uses) op_erase(alloc->results[0].uses->op);
        op_erase(alloc);
    }
}

/* ---- numbers that are copied ---- */

static ValueAnswer is_of_thread(const Value *value, void *context)
{
    (void)context;
    return value->op && op_has(value->op, PER_THREAD | DIVERGES) ? VALUE_FOUND : VALUE_OPERANDS;
}

/* One number for all threads, read once for each time that the copy is made. */
static bool is_number_of(const Op *load, const Op *copy)
{
    if (load->code != OP_element_load || op_attr(load, ATTR_watched) ||
        !region_holds(copy->parent, load->parent))
        return false;
    const Op *at = region_find_ancestor(copy->parent, load);
    if (!op_comes_before(copy, at)) return false;
    for (const Op *op = load->parent->parent; load->parent != copy->parent && op;
         op = op->parent->parent) {
        if (op_has(op, LOOP)) return false;
        if (op == at) break;
    }
    for (int i = 1; i < load->operand_count; i++)
        if (value_finds(load->operands[i], is_of_thread, NULL)) return false;
    return true;
}

/* The op that fills the tile, of which nothing but such numbers is read; NULL: there is none. */
static Op *copy_of_numbers(const Value *tile)
{
    Op *copy = NULL;
    if (dtype_is_packed(tile->type->dtype) || tile->use_count < 2 ||
        tile->use_count > MOST_NUMBERS + 1)
        return NULL;
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op->code == OP_copy && !copy) copy = use->op;
    for (const OpUse *use = tile->uses; copy && use; use = use->next)
        if (use->op != copy && !is_number_of(use->op, copy)) return NULL;
    return copy && operand(copy, view)->type->dtype == tile->type->dtype ? copy : NULL;
}

static bool may_change(const Op *copy)
{
    const Parameter *parameter = memory_parameter(operand(copy, view));
    return !parameter ||
           region_find(launch_region(op_enclosing(copy, OP_launch)), op_may_write, parameter);
}

static Value *sum_of(Builder *at, Value *a, Value *b)
{
    const DType first = a->type->dtype, second = b->type->dtype;
    const DType wide = dtype_bits(first) < dtype_bits(second) ? second : first;
    return build2(at, OP_add, build_cast(at, wide, a), build_cast(at, wide, b));
}

static void read_in_place(Op *load, const Op *copy)
{
    Value *view = operand(copy, view), *operands[TYPE_RANK + 1] = {view};
    const Attr *dims = op_attr(copy, ATTR_dims);
    const int rank = view->type->rank;
    Builder at = builder_before(load);
    for (int d = 0; d < rank; d++) operands[d + 1] = operand_list(copy, offsets)[d];
    for (int i = 0; i < load->operand_count - 1; i++) {
        const int dim = dims ? (int)dims->integers[i] : i;
        operands[dim + 1] = sum_of(&at, operands[dim + 1], load->operands[i + 1]);
    }
    const Type *type = load->results[0].type;
    value_replace(&load->results[0],
                  build_op(&at, OP_element_load, rank + 1, operands, 1, &type)->results);
    op_erase(load);
}

static bool is_filled_with_numbers(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_shared_alloc && copy_of_numbers(&op->results[0]);
}

static void read_numbers(Kernel *kernel)
{
    const OpVec found = region_list(kernel->arena, kernel->host, is_filled_with_numbers, NULL);
    for (size_t i = 0; i < found.count; i++) {
        Op *alloc = found.data[i], *copy = copy_of_numbers(&alloc->results[0]);
        if (may_change(copy)) continue;
        while (alloc->results[0].use_count > 1) {
            const OpUse *use = alloc->results[0].uses;
            read_in_place(use->op != copy ? use->op : use->next->op, copy);
        }
        op_erase(copy);
        op_erase(alloc);
    }
}

bool pass_forward(Kernel *kernel, PassContext *context)
{
    (void)context;
    read_numbers(kernel);
    bool has_sums = region_has(kernel->host, OP_dot); /* which texts store so */
    kernel_visit(kernel, forward, &has_sums);
    if (has_sums) drop_overwritten(kernel);
    drop_unread(kernel);
    return true;
}
