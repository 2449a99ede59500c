/* sync.c: the fewest barriers that order all conflicting accesses; needs a PLACED kernel, leaves it
 * SYNCED.
 *
 * The region is walked in order with the set of accesses made since the last barrier. A barrier
 * goes before an access that conflicts with one of them: both touch the same bytes of shared memory
 * and one writes, by different threads. A loop is walked again with what its end leaves pending
 * until that adds nothing. Accesses of global memory conflict where the author put a sync between
 * them; the author's syncs are dropped. */
#include "base/vec.h"
#include "passes/access.h"

typedef struct Pending {
    Op *op;
    bool fenced; /* an author's sync came after it */
} Pending;

typedef struct State {
    VEC(Pending) items;
} State;

typedef struct Sync {
    Kernel *kernel;
    Arena *arena;
    bool *hit; /* if given, barriers are not inserted but reported here */
} Sync;

/* ---- sets of accesses ---- */

static bool state_has(const State *state, Pending item)
{
    for (size_t i = 0; i < state->items.count; i++)
        if (state->items.data[i].op == item.op && state->items.data[i].fenced == item.fenced)
            return true;
    return false;
}

static void state_add(const Sync *sync, State *state, Pending item)
{
    if (!state_has(state, item)) vec_push(sync->arena, &state->items, item);
}

/* True if that added something. */
static bool state_join(const Sync *sync, State *state, const State *other)
{
    const size_t before = state->items.count;
    for (size_t i = 0; i < other->items.count; i++) state_add(sync, state, other->items.data[i]);
    return state->items.count != before;
}

static State state_copy(const Sync *sync, const State *state)
{
    State copy = {0};
    state_join(sync, &copy, state);
    return copy;
}

static void state_fence(State *state)
{
    for (size_t i = 0; i < state->items.count; i++) state->items.data[i].fenced = true;
}

/* ---- conflicts ---- */

static bool is_shared_access(const Op *op)
{
    return op->code == OP_shared_load || op->code == OP_shared_store;
}

static bool writes(const Op *op)
{
    return op->code == OP_store || op->code == OP_shared_store;
}

static const Layout *register_layout(const Op *op)
{
    return op->code == OP_shared_store ? op->operands[1]->type->layout
                                       : op->results[0].type->layout;
}

/* Every thread reads what it wrote itself. */
static bool is_private(const Op *a, const Op *b)
{
    return a->operands[0] == b->operands[0] && register_layout(a) == register_layout(b) &&
           layout_replica_mask(register_layout(a)) == 0;
}

static bool same_bytes(const Op *a, const Op *b)
{
    const Op *x = a->operands[0]->op, *y = b->operands[0]->op;
    if (!x || !y || x->code != OP_shared_alloc || y->code != OP_shared_alloc) return true;
    const int64_t x_begin = op_int(x, ATTR_offset, 0), y_begin = op_int(y, ATTR_offset, 0);
    return x_begin < y_begin + op_int(y, ATTR_bytes, 0) &&
           y_begin < x_begin + op_int(x, ATTR_bytes, 0);
}

static bool same_memory(const Sync *sync, const Op *a, const Op *b)
{
    const Parameter *x = pointer_parameter(sync->kernel, a->operands[0]->op->operands[0]);
    const Parameter *y = pointer_parameter(sync->kernel, b->operands[0]->op->operands[0]);
    return x == y || !x || !y;
}

static bool conflicts(const Sync *sync, Pending earlier, const Op *op)
{
    if (!writes(earlier.op) && !writes(op)) return false;
    if (is_shared_access(earlier.op) && is_shared_access(op))
        return same_bytes(earlier.op, op) && !is_private(earlier.op, op);
    return op_is_access(earlier.op) && op_is_access(op) && earlier.fenced &&
           same_memory(sync, earlier.op, op);
}

/* ---- the walk ---- */

static void walk(const Sync *sync, Region *region, State *state);

static void insert_barrier(const Sync *sync, Op *before, State *state)
{
    *state = (State){0};
    if (sync->hit) {
        *sync->hit = true;
        return;
    }
    Builder builder = builder_before(before);
    build_op(&builder, OP_barrier, 0, NULL, 0, NULL);
}

static void visit_access(const Sync *sync, Op *op, State *state)
{
    for (size_t i = 0; i < state->items.count; i++) {
        if (!conflicts(sync, state->items.data[i], op)) continue;
        insert_barrier(sync, op, state);
        break;
    }
    state_add(sync, state, (Pending){op, false});
}

/* Runs a loop's regions once; `exit` is what is pending where it is left. */
static void walk_once(const Sync *sync, const Op *loop, State *state, State *exit)
{
    walk(sync, loop->regions[0], state);
    *exit = state_copy(sync, state);
    if (loop->code == OP_while) walk(sync, loop->regions[1], state);
}

/* The loop's own conflicts are settled first; a barrier that only what came before it needs goes
 * before the loop, where it is passed once. */
static void visit_loop(const Sync *sync, Op *loop, State *state)
{
    State own = {0}, exit = {0};
    for (bool changed = true; changed;) {
        State body = state_copy(sync, &own);
        walk_once(sync, loop, &body, &exit);
        changed = state_join(sync, &own, &body);
    }
    bool hit = false;
    Sync dry = *sync;
    dry.hit = &hit;
    State entry = state_copy(sync, state), ignored = {0};
    walk_once(&dry, loop, &entry, &ignored);
    if (hit) insert_barrier(sync, loop, state);
    state_join(sync, state, &own);
    state_join(sync, state, &exit);
}

static void visit_if(const Sync *sync, Op *op, State *state)
{
    State otherwise = state_copy(sync, state);
    walk(sync, op->regions[0], state);
    walk(sync, op->regions[1], &otherwise);
    state_join(sync, state, &otherwise);
}

static void visit_op(const Sync *sync, Op *op, State *state)
{
    if (is_shared_access(op) || op_is_access(op))
        visit_access(sync, op, state);
    else if (op->code == OP_barrier)
        *state = (State){0};
    else if (op->code == OP_sync)
        state_fence(state);
    else if (op->code == OP_for || op->code == OP_while)
        visit_loop(sync, op, state);
    else if (op->code == OP_if)
        visit_if(sync, op, state);
}

static void walk(const Sync *sync, Region *region, State *state)
{
    for (Op *op = region->first; op; op = op->next) visit_op(sync, op, state);
}

static void drop_sync(Op *op, void *context)
{
    (void)context;
    if (op->code == OP_sync) op_erase(op);
}

bool pass_sync(Kernel *kernel, const Target *target)
{
    (void)target;
    const Sync sync = {.kernel = kernel, .arena = arena_new()};
    for (Op *op = kernel->host->first; op; op = op->next) {
        if (op->code != OP_launch) continue;
        State state = {0};
        walk(&sync, launch_region(op), &state);
        region_visit(launch_region(op), drop_sync, NULL);
    }
    arena_free(sync.arena);
    kernel->stage = STAGE_SYNCED;
    return true;
}
