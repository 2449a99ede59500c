/* uniformity.c: which values are the same in all threads of a group, and which may differ.
 *
 * A value may differ if it follows from one that does (the thread's index, what a thread group set
 * for its own threads, an element at a place that differs, an array of a thread's own that holds
 * such a value, what an atomic found), or where the way taken to it may; but not if the difference
 * vanishes in it, as in a quotient, or in how often a loop runs (thread_offset.c). A register tile
 * is one thing of all its threads: it never differs. Answers are found on demand; what has been
 * looked at without finding a difference is remembered. */
#include "passes/analysis/uniformity.h"
#include "ir/op_vec.h"
#include "passes/analysis/context.h"
#include "passes/analysis/thread_offset.h"

struct Agreement {
    PassContext *context;
    Arena *arena;
    ThreadGroup threads; /* that the answers in `seen` and `vanish` are for */
    Map seen;            /* values that do not differ, or are being looked at */
    Map vanish;          /* op -> whether its operands' differences vanish in it */
    Map stores;          /* local_alloc -> OpVec: the stores to it */
    Op *source;          /* of the last difference found */
    NamedValues named;   /* the values with names that follow from it, what was asked about last */
    int depth;           /* of values that are looked at behind others */
};

enum { DEEPEST = 10000 }; /* beyond, a value may differ: a stack has an end */

static void note_store(Op *op, void *context)
{
    Agreement *agreement = context;
    if (op->code != OP_element_store || operand(op, memory)->type->kind != TYPE_LOCAL) return;
    OpVec *stores = map_get(&agreement->stores, operand(op, memory));
    if (!stores) {
        stores = arena_new_of(agreement->arena, OpVec);
        map_set(agreement->arena, &agreement->stores, operand(op, memory), stores);
    }
    vec_push(agreement->arena, stores, op);
}

Agreement *agreement_new(PassContext *context)
{
    Arena *arena = arena_new();
    Agreement *agreement = arena_new_of(arena, Agreement);
    agreement->arena = arena;
    agreement->context = context;
    kernel_visit_those(context->kernel, OP_element_store, note_store, agreement);
    return agreement;
}

void agreement_free(Agreement *agreement)
{
    if (agreement) arena_free(agreement->arena);
}

void agreement_forget(Agreement *agreement)
{
    agreement->vanish = (Map){0};
    agreement->seen = (Map){0};
    agreement->source = NULL;
    agreement->named.count = 0;
}

static bool differs(Agreement *agreement, const Value *value);

static bool found_at(Agreement *agreement, Op *op)
{
    agreement->source = op;
    return true;
}

static bool any_differs(Agreement *agreement, int count, Value *const *values)
{
    for (int i = 0; i < count; i++)
        if (differs(agreement, values[i])) return true;
    return false;
}

/* ---- differences that vanish ---- */

/* Apart from what is being looked at: whatever is found does not end that. */
static bool is_common(void *context, const Value *value)
{
    Agreement *agreement = context;
    const Agreement outer = *agreement;
    agreement->seen = (Map){0};
    const bool found = differs(agreement, value);
    agreement->seen = outer.seen;
    agreement->source = outer.source;
    agreement->named.count = outer.named.count;
    return !found;
}

/* The result is the same in all threads, though operands are not; of a loop, how often it runs. */
static bool differences_vanish(Agreement *agreement, const Op *op)
{
    const bool is_loop = op->code == OP_for;
    if (!is_loop && !offset_may_vanish(op)) return false;
    const void *known = map_get(&agreement->vanish, op);
    if (known) return known == op;
    map_set(agreement->arena, &agreement->vanish, op, agreement); /* for those who ask meanwhile */
    FactTable *facts = analysis_ranges(agreement->context);
    const bool vanish = (is_loop ? iterations_are_equal : offset_is_common)(
        facts, op, agreement->threads, is_common, agreement);
    if (vanish) map_set(agreement->arena, &agreement->vanish, op, (void *)op);
    return vanish;
}

/* ---- control ---- */

/* The operands that decide which way an op with regions goes. */
static int deciding_operands(const Op *op)
{
    return op->code == OP_for ? 3 : op->code == OP_if ? 1 : 0;
}

/* What more threads do together in a loop takes it to be of the same indices in all of them:
 * block_stride.c. */
static bool is_within_warp(const Agreement *agreement)
{
    return agreement->threads.count <= WARP_SIZE;
}

static bool way_differs(Agreement *agreement, const Op *op)
{
    if (op_int(op, ATTR_idle, 0)) return false; /* the others come along */
    if (is_within_warp(agreement) && op->code == OP_for && differences_vanish(agreement, op))
        return false;
    if (any_differs(agreement, deciding_operands(op), op->operands)) return true;
    return op->code == OP_while &&
           differs(agreement, operand(region_terminator(op->regions[0]), condition));
}

static bool end_differs(Agreement *agreement, const Op *op, int index)
{
    for (int r = 0; r < op->region_count; r++) {
        const Op *end = region_terminator(op->regions[r]);
        const int first = end && end->code == OP_condition ? 1 : 0;
        if (end && index + first < end->operand_count &&
            differs(agreement, end->operands[index + first]))
            return true;
    }
    return false;
}

static bool group_differs(Agreement *agreement, const Op *group, int index)
{
    const ThreadGroup set = group_threads(group);
    const Value *in = region_terminator(group->regions[0])->operands[index];
    const Value *out = region_terminator(group->regions[1])->operands[index];
    if (group_has(set, agreement->threads)) return differs(agreement, in);
    if (group_is_apart(set, agreement->threads)) return differs(agreement, out);
    if (in != out) return found_at(agreement, (Op *)group);
    return differs(agreement, in);
}

/* What a loop carries, or an `if` yields, in place `index` among its results. */
static bool carried_differs(Agreement *agreement, const Op *op, int index)
{
    if (is_group(op)) return group_differs(agreement, op, index);
    if (way_differs(agreement, op)) return true;
    if (op->code != OP_if && differs(agreement, operand_list(op, init)[index])) return true;
    return end_differs(agreement, op, index);
}

static bool argument_differs(Agreement *agreement, const Value *value)
{
    const Op *loop = value->region->parent;
    const int first = loop->code == OP_for ? 1 : 0;
    if (value->index >= first) return carried_differs(agreement, loop, value->index - first);
    return way_differs(agreement, loop) ||
           any_differs(agreement, deciding_operands(loop), loop->operands);
}

/* ---- memory ---- */

/* A store by other threads, to arrays of their own. */
static bool is_of_others(const Agreement *agreement, const Op *store)
{
    for (const Region *at = store->parent; at->parent->code != OP_launch; at = at->parent->parent) {
        if (!is_group(at->parent)) continue;
        const ThreadGroup set = group_threads(at->parent);
        if (at == at->parent->regions[0] ? group_is_apart(set, agreement->threads)
                                         : group_has(set, agreement->threads))
            return true;
    }
    return false;
}

/* Threads of the group may have stored different things, or not all of them have. */
static bool store_differs(Agreement *agreement, const Op *store)
{
    if (is_of_others(agreement, store)) return false;
    for (const Region *at = store->parent; at->parent->code != OP_launch; at = at->parent->parent) {
        const Op *around = at->parent;
        if (!is_group(around)) {
            if (way_differs(agreement, around)) return true;
        } else if (at == around->regions[0] &&
                   !group_has(group_threads(around), agreement->threads)) {
            return found_at(agreement, (Op *)around);
        }
    }
    return any_differs(agreement, store->operand_count - 1, operand_list(store, value));
}

static bool local_differs(Agreement *agreement, const Value *array)
{
    const OpVec *stores = map_get(&agreement->stores, array);
    if (map_has(&agreement->seen, array)) return false;
    map_set(agreement->arena, &agreement->seen, array, agreement);
    for (size_t i = 0; stores && i < stores->count; i++)
        if (store_differs(agreement, stores->data[i])) return true;
    return false;
}

static bool op_differs(Agreement *agreement, Op *op)
{
    switch ((int)op->code) {
    case OP_thread_id: return found_at(agreement, op);
    case OP_in_group: {
        const ThreadGroup group = in_group_threads(op);
        return !group_has(group, agreement->threads) &&
               !group_is_apart(group, agreement->threads) && found_at(agreement, op);
    }
    case OP_element_atomic:
        if (!op_int(op, ATTR_once, 0)) return found_at(agreement, op);
        break;
    case OP_element_load:
        if (operand(op, memory)->type->kind == TYPE_LOCAL &&
            local_differs(agreement, operand(op, memory)))
            return true;
        break;
    default: break;
    }
    return !differences_vanish(agreement, op) &&
           any_differs(agreement, op->operand_count, op->operands);
}

static bool differs(Agreement *agreement, const Value *value)
{
    if (value->type->kind == TYPE_TILE || value->type->kind == TYPE_LOCAL ||
        map_has(&agreement->seen, value))
        return false;
    map_set(agreement->arena, &agreement->seen, value, agreement);
    if (!value->op && !value->region) return false; /* a parameter */
    if (!value->op) return argument_differs(agreement, value);
    if (agreement->depth == DEEPEST) return found_at(agreement, value->op);
    agreement->depth++;
    const bool found = value->op->region_count ? carried_differs(agreement, value->op, value->index)
                                               : op_differs(agreement, value->op);
    agreement->depth--;
    if (found && value->name) vec_push(agreement->arena, &agreement->named, value);
    return found;
}

/* ---- questions ---- */

/* What was looked at on the way to a difference is not known to be the same. */
static void prepare(Agreement *agreement, ThreadGroup threads)
{
    if (!agreement->source && group_is_same(agreement->threads, threads)) return;
    const Map vanish = group_is_same(agreement->threads, threads) ? agreement->vanish : (Map){0};
    agreement_forget(agreement);
    agreement->vanish = vanish;
    agreement->threads = threads;
}

const Op *threads_differ(Agreement *agreement, const Value *value, ThreadGroup threads)
{
    if (threads.count == 1) return NULL;
    prepare(agreement, threads);
    return differs(agreement, value) ? agreement->source : NULL;
}

const NamedValues *difference_names(const Agreement *agreement)
{
    return &agreement->named;
}

const Op *threads_part(Agreement *agreement, const Op *op)
{
    const ThreadGroup threads = op_threads(op);
    if (threads.count == 1 || is_group(op)) return NULL;
    prepare(agreement, threads);
    return way_differs(agreement, op) ? agreement->source : NULL;
}

const Op *warps_part(Agreement *agreement, const Op *op)
{
    const ThreadGroup threads = op_threads(op);
    for (int warp = 0; warp < group_warps(threads); warp++) {
        prepare(agreement, (ThreadGroup){threads.begin + WARP_SIZE * warp, WARP_SIZE});
        if (way_differs(agreement, op)) return agreement->source;
    }
    return NULL;
}
