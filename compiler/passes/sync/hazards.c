/* hazards.c: which accesses of a launch must be ordered: both touch the same bytes and one writes,
 * by different threads, or the author has a sync between them. Memory is told by the bytes that it
 * was placed in, threads by the layouts of registers. */
#include "passes/sync/sync.h"

/* ---- kinds of accesses ---- */

static bool is_of(const Op *op, TypeKind memory)
{
    return (op_is_scattered(op) || op_is_element(op)) && operand(op, memory)->type->kind == memory;
}

bool hazard_is_mbarrier_copy(const Op *op)
{
    return op->code == OP_tma_load && operand(op, barriers)->type->rank == 1;
}

bool hazard_is_shared(const Op *op)
{
    return (op_has(op, SHARED) && op->operand_count) || hazard_is_mbarrier_copy(op) ||
           is_of(op, TYPE_SHARED);
}

bool hazard_is_global(const Op *op)
{
    return op_is_access(op) || op->code == OP_copy_async || is_of(op, TYPE_VIEW);
}

bool hazard_writes(const Op *op)
{
    return op_has(op, STORES);
}

static const Layout *register_layout(const Op *op)
{
    const Value *value = operand_given(op, value);
    return (value ? value : op->results)->type->layout;
}

/* Each element at the place that it has in the tile itself. */
static bool is_in_order(Op *op)
{
    const Value *memory = operand(op, memory), *tile = scattered_value(op);
    const int first = scattered_first(op);
    if (memory->type->kind != TYPE_SHARED || scattered_mask(op) ||
        memory->type->rank != tile->type->rank)
        return false;
    for (int d = 0; d < tile->type->rank; d++) {
        const Op *index = op->operands[first + d]->op;
        if (!index || index->code != OP_iota || op_int(index, ATTR_dim, 0) != d ||
            tile->type->shape[d] != memory->type->shape[d])
            return false;
    }
    return true;
}

/* A part that has one index along some dimensions and all of the others: two of them are the same
 * bytes in the same way, or have none in common. NULL: it is no such part; else of which tile. */
static const Value *whole_of_stage(const Value *part)
{
    const Op *view = part->op;
    if (!view || view->code != OP_shared_view) return NULL;
    const Type *whole = operand(view, tile)->type;
    const Attr *dims = op_attr(view, ATTR_dims);
    for (int i = 0; i < dims->count; i++)
        if (part->type->shape[i] != whole->shape[dims->integers[i]]) return NULL;
    return shared_root(part) == operand(view, tile)->op ? operand(view, tile) : NULL;
}

/* Whole tiles that lie in the same bytes in the same way, or such stages. */
static bool same_elements(const Value *a, const Value *b)
{
    const Op *x = a->op, *y = b->op;
    const Value *whole = whole_of_stage(a);
    if (whole)
        return whole == whole_of_stage(b) && a->type == b->type && op_same_attr(x, y, ATTR_dims);
    return x->code == OP_shared_alloc && y->code == OP_shared_alloc && a->type == b->type &&
           op_int(x, ATTR_offset, 0) == op_int(y, ATTR_offset, 0);
}

/* ---- elements ---- */

/* Of the number of threads that are walked for. */
static bool is_multiple(const Sync *sync, const Value *value)
{
    const int64_t multiple = facts_of(sync->facts, value).multiple;
    return sync->group.count > 0 && multiple % sync->group.count == 0;
}

/* The thread's index, with numbers added or not: another one in each thread. So it is with
 * multiples of how many threads there are, whatever these are each time, and modulo one. */
static bool is_own_index(const Sync *sync, const Value *index)
{
    int64_t number;
    for (;;) {
        const Op *op = value_uncast(index)->op;
        if (!op || op->code == OP_thread_id) return op != NULL;
        const bool sums = op->code == OP_add || op->code == OP_sub;
        if (!sums && !op_has(op, REMAINDER)) return false;
        const Value *a = operand(op, a), *b = operand(op, b);
        if (is_multiple(sync, b) || (sums && value_constant(b, &number)))
            index = a;
        else if (op->code == OP_add && is_multiple(sync, a))
            index = b;
        else
            return false;
    }
}

/* Indices along one dimension that are never the same number. */
static bool are_apart(const Value *a, const Value *b)
{
    int64_t x, y;
    return value_constant(a, &x) && value_constant(b, &y) && x != y;
}

/* No element is met by different threads, whenever they come: each has an index of its own along
 * some dimension, or the indices along one differ. Those of a view whose strides overlap may name
 * one place in different ways; of a view they have to be the same. */
static bool indices_are_own(const Sync *sync, const Op *a, const Op *b)
{
    const Type *memory = operand(a, memory)->type;
    const bool by_threads = !op_int(a, ATTR_once, 0) && !op_int(b, ATTR_once, 0);
    bool own = false, same = true;
    for (int d = 0; d < memory->rank; d++) {
        const Value *x = operand_list(a, indices)[d], *y = operand_list(b, indices)[d];
        own |= x == y ? by_threads && is_own_index(sync, x) : are_apart(x, y);
        same &= x == y;
    }
    return own && (same || memory->kind != TYPE_VIEW);
}

/* The author's word is for what is written by such ops: who else reads or writes it waits. */
static bool are_written_apart(const Op *a, const Op *b)
{
    return a->code == OP_element_store && b->code == OP_element_store && op_int(a, ATTR_apart, 0) &&
           op_int(b, ATTR_apart, 0);
}

/* Both are done by one thread, or none meets what another did; or the author says that it is so. */
static bool elements_are_own(const Sync *sync, Op *a, Op *b)
{
    if (!op_is_element(a) || !op_is_element(b)) return false;
    if ((op_is_own_copy(a) && op_is_own_copy(b)) || are_written_apart(a, b))
        return operand(a, memory) == operand(b, memory);
    if (op_int(a, ATTR_once, 0) && op_int(b, ATTR_once, 0)) return true;
    if (op_int(a, ATTR_once, 0)) return false; /* it stands for other indices, too (pending.c) */
    if (operand(a, memory) != operand(b, memory) || !value_is_steady(operand(a, memory)))
        return false;
    return indices_are_own(sync, a, b) ||
           (!op_int(b, ATTR_once, 0) &&
            threads_keep_elements(sync->arena, sync->keepers, a, b, sync->group.count));
}

/* Each thread is the author's own business in code that it runs by itself; what is done once, or
 * by all together, comes in the order that the author sees. */
static bool elements_are_ordered(const Op *a, const Op *b)
{
    return op_int(a, ATTR_once, 0) || op_int(b, ATTR_once, 0) || !op_is_element(a) ||
           !op_is_element(b);
}

/* By TMA, or core. */
static bool reads_by_itself(const Op *op)
{
    return op_has(op, ASYNC_PROXY) || op->code == OP_tma_store_wait;
}

/* No register's layout says which thread meets what. */
static bool reads_or_writes_itself(const Op *op)
{
    return op_has(op, ASYNC) || op_begins_copy(op) || op->code == OP_dot_slices ||
           reads_by_itself(op);
}

/* Threads of a warp read, or write, for each other. */
static bool moves_matrices(const Sync *sync, const Op *op, OpCode code, TargetFeature feature)
{
    return op->code == code &&
           access_matrices(sync->target, feature, register_layout(op), operand(op, tile)).possible;
}

static bool reads_matrices(const Sync *sync, const Op *op)
{
    return moves_matrices(sync, op, OP_shared_load, HAS_LDMATRIX);
}

/* Each element is met by the thread that has it, and by no other. */
static bool is_met_in_order(const Sync *sync, Op *op, const Op *other)
{
    return !op_is_scattered(op) ||
           (is_in_order(op) && !moves_matrices(sync, other, OP_shared_store, HAS_STMATRIX));
}

/* Threads exchange elements that nobody else meets. */
static bool is_kept(const Sync *sync, Op *a, Op *b)
{
    if (!op_is_scattered(a) && !op_is_scattered(b)) return false;
    return !moves_matrices(sync, a, OP_shared_store, HAS_STMATRIX) &&
           !moves_matrices(sync, b, OP_shared_store, HAS_STMATRIX) && !reads_matrices(sync, a) &&
           !reads_matrices(sync, b) &&
           threads_keep_elements(sync->arena, sync->keepers, a, b, sync->group.count);
}

/* Every thread reads what it wrote itself. */
static bool is_private(const Sync *sync, Pending a, Op *b)
{
    const ThreadGroup group = sync->group;
    if (op_is_element(a.op) || op_is_element(b))
        return a.group.begin == group.begin && a.group.count == group.count &&
               elements_are_own(sync, a.op, b);
    if (!hazard_is_global(b) && a.group.begin == group.begin && a.group.count == group.count &&
        is_kept(sync, a.op, b))
        return true;
    if (!is_met_in_order(sync, a.op, b) || !is_met_in_order(sync, b, a.op)) return false;
    if (reads_or_writes_itself(a.op) || reads_or_writes_itself(b)) return false;
    if (reads_matrices(sync, a.op) || reads_matrices(sync, b)) return false;
    const Layout *layout = register_layout(b);
    return same_elements(op_memory(a.op), op_memory(b)) && register_layout(a.op) == layout &&
           layout_replica_mask(layout) == 0 && a.group.begin == group.begin &&
           a.group.count == group.count && layout_threads(layout) == group.count;
}

bool hazard_same_memory(const Value *a, const Value *b)
{
    if (a->type->kind != TYPE_SHARED || b->type->kind != TYPE_SHARED) return false;
    const Op *x = shared_root(a), *y = shared_root(b);
    const int64_t x_begin = op_int(x, ATTR_offset, 0), y_begin = op_int(y, ATTR_offset, 0);
    return x_begin < y_begin + op_int(y, ATTR_bytes, 0) &&
           y_begin < x_begin + op_int(x, ATTR_bytes, 0);
}

static bool same_part(const Sync *sync, const Value *a, Iteration iteration, const Value *b)
{
    return hazard_same_memory(a, b) && !shared_parts_apart(sync->agreement, a, iteration, b);
}

typedef enum Tiles { TILES_ANY, TILES_OTHERS /* two that were placed together */ } Tiles;

static bool same_bytes(const Sync *sync, Pending a, const Op *b, Tiles tiles)
{
    for (int i = 0; i < a.op->operand_count; i++)
        for (int j = 0; j < b->operand_count; j++)
            if (same_part(sync, a.op->operands[i], a.iteration, b->operands[j]) &&
                (tiles == TILES_ANY ||
                 shared_root(a.op->operands[i]) != shared_root(b->operands[j])))
                return true;
    return false;
}

static bool same_memory(const Sync *sync, const Op *a, const Op *b)
{
    const Parameter *x = pointer_parameter(sync->kernel, operand(op_memory(a)->op, pointer));
    const Parameter *y = pointer_parameter(sync->kernel, operand(op_memory(b)->op, pointer));
    return x == y || !x || !y;
}

bool hazard_begins_copy(const Op *op)
{
    return op_begins_copy(op) || hazard_is_mbarrier_copy(op);
}

bool hazard_begins_store(const Op *op)
{
    return op->code == OP_tma_store && op_int(op, ATTR_async, 0);
}

bool hazard_begins_dot(const Op *op)
{
    return op->code == OP_dot_shared && op_int(op, ATTR_async, 0);
}

/* What an mbarrier is for: among themselves such ops are in order, whoever else has its memory
 * before or after it must wait. */
bool hazard_uses_mbarriers(const Op *op)
{
    return op_has(op, PIPELINE_BARRIER);
}

static bool shared_conflict(const Sync *sync, Pending earlier, Op *op)
{
    if (hazard_uses_mbarriers(earlier.op) && hazard_uses_mbarriers(op))
        return same_bytes(sync, earlier, op, TILES_OTHERS);
    if (hazard_uses_mbarriers(earlier.op) || hazard_uses_mbarriers(op))
        return hazard_is_shared(hazard_uses_mbarriers(op) ? earlier.op : op) &&
               same_bytes(sync, earlier, op, TILES_ANY);
    const bool write = hazard_writes(earlier.op) || hazard_writes(op) || hazard_begins_copy(op) ||
                       hazard_begins_copy(earlier.op);
    return write && hazard_is_shared(earlier.op) && hazard_is_shared(op) &&
           same_bytes(sync, earlier, op, TILES_ANY) && !is_private(sync, earlier, op);
}

/* A tile is read or written where the same threads write one, with no sync between: the author sees
 * one tile after the other, so that is how it has to be. */
static bool reads_written(const Sync *sync, Pending earlier, Op *op)
{
    if (op_is_element(op) || op_is_element(earlier.op))
        return elements_are_ordered(earlier.op, op) && !is_private(sync, earlier, op);
    const bool scattered = op_is_scattered(earlier.op) || op_is_scattered(op);
    if (!scattered && !(op_is_access(earlier.op) && op_is_access(op))) return false;
    if (!group_is_same(earlier.group, sync->group)) return false;
    if (!scattered && access_is_apart(sync->facts, earlier.op, op)) return false;
    return pointer_parameter(sync->kernel, operand(op_memory(op)->op, pointer)) &&
           (scattered || !access_is_own(sync->facts, earlier.op, op, sync->group.count));
}

static bool global_conflict(const Sync *sync, Pending earlier, Op *op)
{
    const bool write = hazard_writes(earlier.op) || hazard_writes(op);
    if (!write || !hazard_is_global(earlier.op) || !hazard_is_global(op)) return false;
    /* Behind the author's sync two parameters may be one array. */
    return earlier.fence.count ||
           (same_memory(sync, earlier.op, op) && reads_written(sync, earlier, op));
}

bool hazard_is_authors_sync(const Op *op)
{
    return op_has(op, BARRIER) && !op_has(op, MEETS);
}

bool hazard_is_arrival(const Op *op)
{
    return op_has(op, MBARRIER) && op_has(op, ARRIVES);
}

bool hazard_is_unfenced(const Sync *sync, const Pending *earlier, const Op *op)
{
    const bool touches = hazard_is_shared(earlier->op) && !reads_by_itself(earlier->op),
               writes = hazard_writes(earlier->op) || earlier->op->code == OP_copy_async;
    return touches && !earlier->in_flight && (writes || op->code == OP_tma_load) &&
           same_bytes(sync, *earlier, op, TILES_ANY);
}

bool hazard_is_pending(const Sync *sync, const Pending *item)
{
    return !item->in_flight && !(item->known.count && group_has(item->known, sync->group));
}

bool hazard_between(const Sync *sync, Pending earlier, Op *op)
{
    if (!hazard_is_pending(sync, &earlier)) return false;
    const bool fenced = earlier.fence.count && group_has(earlier.fence, sync->group);
    if (hazard_is_arrival(op)) return fenced;
    if (op_has(earlier.op, ATOMIC) && op_has(op, ATOMIC)) return false;
    if (sync->group.count == 1 && group_has(sync->group, earlier.group)) return false;
    /* The author's mbarriers order what groups do with one tile, not what was placed together. */
    if (sync->mbarriers && !fenced && group_is_apart(earlier.group, sync->group) &&
        !same_bytes(sync, earlier, op, TILES_OTHERS))
        return false;
    return shared_conflict(sync, earlier, op) || global_conflict(sync, earlier, op);
}

bool hazard_within_parts(const Sync *sync, Pending earlier, const Op *op)
{
    const int64_t parts = op_int(op, ATTR_slices, 1);
    return parts > 1 && op_int(earlier.op, ATTR_slices, 1) == parts &&
           earlier.group.begin == sync->group.begin && earlier.group.count == sync->group.count &&
           operand_given(earlier.op, tile) == operand_given(op, tile);
}
