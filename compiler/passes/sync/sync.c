/* sync.c: the fewest barriers that order all conflicting accesses; needs a PLACED kernel, leaves it
 * SYNCED.
 *
 * The region is walked in order with the set of accesses made since the last barrier. A barrier
 * goes before an access that conflicts with one of them: both touch the same bytes of shared memory
 * and one writes, by different threads. A loop is walked again with what its end leaves pending
 * until that adds nothing; what is pending says which iteration it was made in, so that a
 * multi-buffer's stages are told apart. Accesses of global memory conflict where the author put a
 * sync between them, and where one reads through the pointer by which the other writes, unless each
 * thread reads what it writes itself; the author's syncs are dropped.
 *
 * An asynchronous copy, and what the tensor core reads for an open dot, is in flight until its
 * thread waits: no barrier orders it before that. Which of them a wait is for is not followed:
 * after one, all before it may have landed or not, but for a wait for all.
 *
 * Where threads may go different ways there is no barrier: what such an `if` or loop needs comes
 * before it. Within it each thread's own order is all there is.
 *
 * The tensor core, and TMA, use shared memory through a proxy of their own: a barrier
 * that comes after threads wrote is preceded by a fence that shows them what; and so is one that
 * comes after threads read what TMA overwrites, as a barrier does not wait until that
 * has been read. So is an arrival at an mbarrier, and where a stage is given back. A thread that
 * itself hands to them what it wrote or read passes no barrier, and fences before that.
 *
 * What warps of their own copy to a multi-buffer is ordered by the multi-buffer's own barriers. So
 * is what thread groups do beside each other by the author's own mbarriers, in a launch that has
 * some; and what is copied to one is in flight until somebody has waited for that.
 *
 * Equal parts of the threads that each use rows of their own of a tile ({slices}) wait each for
 * itself, where that is all that conflicts.
 *
 * Within a thread group a barrier is the group's own and orders its threads' accesses alone; what
 * other threads left pending is ordered by a barrier before the group, for all that run the group's
 * op, or before one that stands before it and waits for others at an mbarrier. */
#include "passes/analysis/context.h"
#include "passes/sync/sync.h"
#include "passes/ssa/simplify.h"

enum { MOST_TRIED = 64 };    /* barriers, whether they can be left out: time goes by the square */
enum { MOST_PENDING = 256 }; /* accesses between two barriers, each of which is compared with all */

/* Which group waits at which of the block's barriers. */
typedef struct Barriers {
    ThreadGroup groups[NAMED_BARRIERS];
    int count;
    bool too_many;
} Barriers;

/* ---- the kinds of ops, by their traits ---- */

static bool is_fence(const Op *op)
{
    return op && op_has(op, SHOWS) && !op_attr(op, ATTR_global);
}

static bool is_phase_wait(const Op *op)
{
    return op_has(op, MBARRIER) && op_has(op, ACQUIRES) && !op_has(op, ARRIVES);
}

static bool is_cluster_arrive(const Op *op)
{
    return op_has(op, BLOCKS) && op_has(op, RELEASES);
}

static bool is_cluster_wait(const Op *op)
{
    return op_has(op, BLOCKS) && op_has(op, MEETS) && op_has(op, LOCAL);
}

/* By cp.async, or by the author's TMA load. */
static bool is_async_copy(const Op *op)
{
    return op_has(op, COPY) && op_has(op, ASYNC);
}

/* ---- the walk ---- */

static void walk(const Sync *sync, Region *region, State *state);

static int barrier_of(const Sync *sync, ThreadGroup group)
{
    Barriers *barriers = sync->barriers;
    for (int i = 0; i < barriers->count; i++)
        if (barriers->groups[i].begin == group.begin && barriers->groups[i].count == group.count)
            return i + 1;
    if (barriers->count == NAMED_BARRIERS - 1) {
        barriers->too_many = true;
        return 1;
    }
    barriers->groups[barriers->count++] = group;
    return barriers->count;
}

/* The parts' barriers follow each other. */
static int barriers_of(const Sync *sync, ThreadGroup group, int parts)
{
    ThreadGroup part = {group.begin, group.count / parts};
    const int first = barrier_of(sync, part);
    for (int i = 1; i < parts; i++) {
        part.begin += part.count;
        sync->barriers->too_many |= barrier_of(sync, part) != first + i;
    }
    return first;
}

/* Nothing that a fence shows is between. */
static bool is_fenced(const Op *op)
{
    op = op->previous;
    while (op && !is_fence(op) && op_has(op, PURE | NO_PROXY | ARRIVES | ASYNC_PROXY))
        op = op->previous;
    return is_fence(op);
}

static bool is_of_proxy(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, ASYNC_PROXY);
}

/* Whether the tensor core, or unit, may read shared memory after the op: behind it, behind what is
 * around it, and anywhere in a loop around it. */
static bool reaches_tensor_core(const Sync *sync, const Op *op)
{
    if (!sync->tensor_core) return false;
    for (const Op *from = op;; from = op->next) {
        for (const Op *at = from; at; at = at->next)
            if (op_find_within(at, is_of_proxy, NULL)) return true;
        op = op->parent->parent;
        if (op->code == OP_launch) return false;
        if (op_has(op, LOOP) && op_find_within(op, is_of_proxy, NULL)) return true;
    }
}

static bool writes_shared(const Op *op)
{
    return op_has(op, INITS) || (is_async_copy(op) && !op_has(op, TMA)) ||
           (hazard_is_shared(op) && hazard_writes(op));
}

/* What threads write, to be shown to the tensor core: a strict kernel's author does that. */
static bool is_authors_to_show(const Sync *sync, const Op *op)
{
    return sync->kernel->is_strict && sync->kernel->has_own_fences && writes_shared(op) &&
           !op_has(op, INITS);
}

/* A barrier at the op has to show the tensor core what threads wrote since the last one, and to
 * wait for what they read. */
static void build_fence(const Sync *sync, Op *op, const State *state)
{
    bool needed = false, made = true;
    if (!sync->fences || is_fenced(op)) return;
    for (size_t i = 0; i < state->items.count; i++) {
        const Pending *item = state_item(sync, state, i);
        if (!group_has(sync->group, item->group) || item->in_flight || item->met || item->open ||
            item->known.count || is_authors_to_show(sync, item->op) ||
            !(op_has(item->op, INITS) || map_has(sync->shown, item->op)))
            continue;
        needed = true;
        made &= op_has(item->op, INITS);
    }
    /* beside groups that the author's mbarriers order, the text does not say what comes after */
    if (!needed || !(sync->mbarriers ? sync->tensor_core : reaches_tensor_core(sync, op))) return;
    Builder builder = builder_before(op);
    Op *fence = build_op(&builder, OP_fence_async, 0, NULL, 0, NULL);
    if (made) op_set_int(fence, ATTR_made, 1);
}

/* Where no barrier is between what a thread did itself and what it has TMA, or the tensor core, do
 * with that memory, the fence comes before the latter. */
static void build_own_fence(const Sync *sync, Op *op, const State *state)
{
    bool needed = false;
    if (!sync->fences || !op_has(op, ASYNC_PROXY) || op_int(op, ATTR_by_threads, 0) ||
        is_fenced(op))
        return;
    for (size_t i = 0; i < state->items.count && !needed; i++) {
        const Pending *item = state_item(sync, state, i);
        needed = group_has(sync->group, item->group) && !item->known.count && !item->met &&
                 !is_authors_to_show(sync, item->op) && hazard_is_unfenced(sync, item, op);
    }
    Builder builder = builder_before(op);
    if (needed) build_op(&builder, OP_fence_async, 0, NULL, 0, NULL);
}

/* What the barrier is for goes with it, for who leaves it out (fault_injection.c). */
static void note_cause(const Sync *sync, Op *barrier)
{
    const Op *earlier = sync->cause->earlier, *later = sync->cause->later;
    if (!sync->kernel->wants_remarks || !earlier) return;
    const Location from = source_location(earlier->span.source, earlier->span.begin),
                   to = source_location(later->span.source, later->span.begin);
    op_set_text(barrier, ATTR_text,
                intern_printf(sync->kernel->session->names, "%s in line %u behind %s in line %u",
                              op_info(later->code)->name, (unsigned)to.line,
                              op_info(earlier->code)->name, (unsigned)from.line));
}

/* Of all threads, or of each of so many parts for itself. What stays pending at a barrier right
 * there, such as copies in flight, is pending behind another one, too. */
static void build_barrier(const Sync *sync, Op *before, int parts)
{
    Builder builder = builder_before(before);
    const int block = launch_threads(op_enclosing(before, OP_launch)).count;
    const bool warp = sync->group.count == WARP_SIZE && block > WARP_SIZE;
    const OpCode code = warp ? OP_warp_sync : OP_barrier;
    const Op *there = before->previous;
    if (sync->group.count < WARP_SIZE) return;
    if (there && there->code == code && op_int(there, ATTR_slices, 1) == parts &&
        op_int(there, ATTR_count, sync->group.count / parts) == sync->group.count / parts)
        return;
    Op *barrier = build_op(&builder, code, 0, NULL, 0, NULL);
    if (parts > 1) op_set_int(barrier, ATTR_slices, parts);
    note_cause(sync, barrier);
    /* without one that only ends a long list of accesses, the list would be too long again */
    if (sync->cause->earlier) vec_push(sync->arena, sync->inserted, barrier);
}

/* A barrier in a group of several warps is the group's own. */
static void visit_barrier(const Sync *sync, Op *barrier, State *state)
{
    const int block = launch_threads(op_enclosing(barrier, OP_launch)).count,
              parts = (int)op_int(barrier, ATTR_slices, 1);
    if (barrier == sync->ignored) return;
    build_fence(sync, barrier, state);
    (parts > 1 ? state_meet : state_clear)(sync, state);
    if ((parts == 1 && sync->group.count == block) || sync->group.count <= WARP_SIZE) return;
    op_set_int(barrier, ATTR_index, barriers_of(sync, sync->group, parts));
    op_set_int(barrier, ATTR_count, sync->group.count / parts);
}

/* Barriers of several blocks are barriers of the block's threads, too. */
static void visit_barrier_of_all(const Sync *sync, Op *op, State *state)
{
    const bool waits = is_cluster_wait(op), arrives = is_cluster_arrive(op);
    if (!waits && !op_int(op, ATTR_relaxed, 0)) build_fence(sync, op, state);
    const Op *arrive = waits ? op->previous : NULL;
    if ((!waits && !arrives) ||
        (arrive && is_cluster_arrive(arrive) && !op_int(arrive, ATTR_relaxed, 0)))
        state_clear(sync, state);
}

/* For each of so many parts of the threads. */
static void insert_barrier(const Sync *sync, Op *before, State *state, int parts)
{
    (parts > 1 ? state_meet : state_clear)(sync, state);
    if (!sync->hit) build_barrier(sync, before, parts);
}

static void report_hit(const Sync *sync, const Pending *earlier)
{
    for (; sync && sync->hit; sync = sync->outer)
        if (!sync->reported.count || !group_has(sync->reported, earlier->group)) *sync->hit = true;
}

/* A walk that only says, in `hit`, whether a barrier is needed. */
static Sync dry_walk(const Sync *sync, bool *hit, ThreadGroup reported)
{
    Sync dry = *sync;
    dry.hit = hit;
    dry.reported = reported;
    dry.outer = sync;
    return dry;
}

/* Whether a barrier must come between what is pending and the access, or is to, as so much is: of
 * all threads, or of each of their parts for itself, so many; 0: none. */
static int needs_barrier(const Sync *sync, Op *op, const State *state)
{
    int needed = 0, pending = 0;
    Verdicts *verdicts = state->items.count ? pending_verdicts(sync, op) : NULL;
    for (size_t i = 0; i < state->items.count; i++) {
        const Pending *earlier = state_item(sync, state, i);
        pending += hazard_is_pending(sync, earlier) && group_has(sync->group, earlier->group);
        if (pending == MOST_PENDING) {
            *sync->cause = (Cause){0};
            report_hit(sync, earlier);
            return 1;
        }
        if (!pending_conflicts(sync, verdicts, state->items.data[i], op)) continue;
        const bool apart = hazard_within_parts(sync, *earlier, op);
        if (apart && earlier->met) continue;
        *sync->cause = (Cause){earlier->op, op};
        if (group_has(sync->group, earlier->group))
            needed = apart && needed != 1 ? (int)op_int(op, ATTR_slices, 1) : 1;
        report_hit(sync, earlier);
    }
    return needed;
}

static void add_access(const Sync *sync, Op *op, State *state)
{
    state_add(sync, state,
              (Pending){.op = op,
                        .group = sync->group,
                        .in_flight = hazard_begins_copy(op) || hazard_begins_store(op) ||
                                     hazard_begins_dot(op),
                        .open = op_is_own_copy(op),
                        .iteration = {ITERATION_SAME, NULL}});
}

static void visit_access(const Sync *sync, Op *op, State *state)
{
    const int parts = needs_barrier(sync, op, state);
    if (parts) insert_barrier(sync, op, state, parts);
    build_own_fence(sync, op, state);
    add_access(sync, op, state);
}

/* What was written is shown to the tensor core by those that wrote it, too, and what was read is
 * kept from TMA by those that read it. */
static void visit_arrive(const Sync *sync, Op *arrive, const State *state)
{
    bool needed = false;
    for (size_t i = 0; i < state->items.count && sync->fences; i++) {
        const Pending *item = state_item(sync, state, i);
        needed |= !group_is_apart(item->group, sync->group) && !item->known.count && !item->open &&
                  !op_has(item->op, INITS) && !is_authors_to_show(sync, item->op) &&
                  map_has(sync->shown, item->op);
    }
    Builder builder = builder_before(arrive);
    if (needed && sync->tensor_core && !is_fenced(arrive))
        build_op(&builder, OP_fence_async, 0, NULL, 0, NULL);
}

static void note_apart(const Sync *sync, Op *op, State *state)
{
    if (op_has(op, AWAITS_COPIES)) state_wait(sync, state, false);
    if (is_phase_wait(op)) {
        state_mbarrier(sync, state, op, (ThreadGroup){0});
        add_access(sync, op, state);
    }
    if (hazard_is_arrival(op))
        visit_arrive(sync, op, state);
    else if (hazard_is_shared(op) || hazard_is_global(op))
        add_access(sync, op, state);
}

/* Code in which the threads may part has no barriers: what it needs comes before it. */
static void visit_apart(const Sync *sync, Op *op, State *state)
{
    bool needed = false;
    for (int r = 0; r < op->region_count; r++)
        region_each (inner, op->regions[r])
            if (hazard_is_shared(inner) || hazard_is_global(inner) || hazard_is_arrival(inner))
                needed |= needs_barrier(sync, inner, state) != 0;
    if (needed) insert_barrier(sync, op, state, 1);
    for (int r = 0; r < op->region_count; r++)
        region_each (inner, op->regions[r]) note_apart(sync, inner, state);
}

/* Whether the group has to wait for what others left pending. */
static bool group_waits(const Sync *sync, const Op *group, const State *state)
{
    bool hit = false;
    Sync inner = *sync;
    inner.group = group_threads(group);
    const Sync dry = dry_walk(&inner, &hit, inner.group);
    State entry = state_copy(sync, state);
    walk(&dry, group->regions[0], &entry);
    return hit;
}

/* Its threads may wait until the other's arrive: at an mbarrier that those do more with than wait.
 */
static bool waits_for(const Op *group, const Op *other)
{
    region_each (wait, group->regions[0]) {
        if (!op_has(wait, MBARRIER) || !op_has(wait, ACQUIRES)) continue;
        region_each (op, other->regions[0])
            for (int i = 0; i < op->operand_count && !is_phase_wait(op); i++)
                if (op->operands[i] == operand(wait, barriers)) return true;
    }
    return false;
}

/* The last group behind this one, before all meet, that this one may wait for. */
static const Op *last_partner(const Op *group)
{
    const Op *last = NULL;
    for (const Op *op = group->next; op; op = op->next) {
        if (op_has(op, BARRIER)) break;
        if (is_group(op) && waits_for(group, op)) last = op;
    }
    return last;
}

/* Whether a group behind this one has to wait for what is pending, and cannot do so there: this one
 * may wait for it, or for one further behind. */
static bool later_group_waits(const Sync *sync, const Op *group, const State *state)
{
    const Op *last = sync->mbarriers ? last_partner(group) : NULL;
    for (const Op *op = group; last && op != last;) {
        op = op->next;
        if (is_group(op) && group_waits(sync, op, state)) return true;
    }
    return false;
}

/* Waits for what others did before the group begins, then walks it. A walk that only looks finds
 * within the group what it would have to wait for. */
static void visit_group(const Sync *sync, Op *op, State *state)
{
    if ((!sync->hit && group_waits(sync, op, state)) || later_group_waits(sync, op, state))
        insert_barrier(sync, op, state, 1);
    Sync inner = *sync;
    inner.group = group_threads(op);
    walk(&inner, op->regions[0], state);
}

/* Runs a loop's regions once; `exit` is what is pending where it is left. */
static void walk_once(const Sync *sync, const Op *loop, State *state, State *exit)
{
    walk(sync, loop->regions[0], state);
    *exit = state_copy(sync, state);
    if (loop->code == OP_while) walk(sync, loop->regions[1], state);
}

/* What a loop by itself leaves pending: where an iteration ends, and where it is left. */
typedef struct Left {
    State iterations, exit;
    bool is_settled; /* the barriers that it needs by itself are there */
} Left;

/* It follows from the loop alone, so one search is enough, however often loops around it are
 * walked; but one that only looks inserts nothing. */
static const Left *loop_leaves(const Sync *sync, Op *loop)
{
    Left *left = map_get(sync->left, loop);
    if (left && (left->is_settled || sync->hit)) return left;
    left = arena_new_of(sync->arena, Left);
    for (bool changed = true; changed;) {
        State body = state_copy(sync, &left->iterations);
        walk_once(sync, loop, &body, &left->exit);
        state_age(sync, &body, loop);
        changed = state_join(sync, &left->iterations, &body);
    }
    left->is_settled = !sync->hit;
    map_set(sync->arena, sync->left, loop, left);
    return left;
}

/* The loop's own conflicts are settled first; a barrier that only what came before it needs goes
 * before the loop, where it is passed once. */
static void visit_loop(const Sync *sync, Op *loop, State *state)
{
    bool hit = false;
    const Left *left = loop_leaves(sync, loop);
    const Sync dry = dry_walk(sync, &hit, (ThreadGroup){0});
    State entry = state_copy(sync, state), waited = {0};
    walk_once(&dry, loop, &entry, &waited);
    if (hit)
        insert_barrier(sync, loop, state, 1);
    else
        state_join(sync, state, &waited); /* what began before the loop may have landed in it */
    state_join(sync, state, &left->iterations);
    state_join(sync, state, &left->exit);
    if (op_attr(loop, ATTR_stages)) state_land(sync, state);
}

static void visit_if(const Sync *sync, Op *op, State *state)
{
    State otherwise = state_copy(sync, state);
    walk(sync, op->regions[0], state);
    walk(sync, op->regions[1], &otherwise);
    state_join(sync, state, &otherwise);
}

static bool is_for_copies(const Sync *sync, const Op *take)
{
    return op_has(take, PIPELINE_BARRIER) ||
           map_has(sync->copied_for, shared_root(operand(take, barriers)));
}

/* Copies have landed for others, which tell the threads of this group, whose products read them. */
static bool is_told_of_copies(const Sync *sync, const Op *take)
{
    const Op *group = take->parent->parent;
    bool multiplies = false;
    while (group && !is_group(group)) group = group->parent->parent;
    if (!group || !sync->copied_for->count) return false;
    region_each (op, group->regions[0]) {
        if (op_has(op, ACQUIRES) && is_for_copies(sync, op)) return false;
        multiplies |= op_has(op, ASYNC_PROXY) && !op_has(op, TMA);
    }
    return multiplies;
}

/* What was copied to a multi-buffer's stage, or for an mbarrier, is shown to the tensor core by
 * those that wait for it. */
static void visit_take(const Sync *sync, Op *take)
{
    Builder builder = builder_after(take);
    if (op_attr(take, ATTR_tma)) return; /* both are of one proxy */
    if (!is_for_copies(sync, take) && !is_told_of_copies(sync, take)) return;
    if (sync->fences && !is_fence(take->next) && reaches_tensor_core(sync, take))
        build_op(&builder, OP_fence_async, 0, NULL, 0, NULL);
}

static void visit_wait(const Sync *sync, const Op *op, State *state)
{
    const bool for_all = op_int(op, ATTR_count, 0) == 0;
    if (op_has(op, AWAITS_COPIES))
        state_wait(sync, state, op_attr(op, ATTR_count) == NULL);
    else if (op_has(op, AWAITS_STORES))
        state_stored(sync, state, for_all);
    else
        state_multiplied(sync, state, for_all);
}

static void visit_op(const Sync *sync, Op *op, State *state)
{
    if (op_has(op, PURE)) return; /* most are, and each is met many times */
    if (is_async_copy(op) && !op_has(op, TMA) && op_attr(op, ATTR_multi_buffer)) return;
    if (hazard_is_arrival(op)) {
        if (needs_barrier(sync, op, state)) insert_barrier(sync, op, state, 1);
        visit_arrive(sync, op, state);
    }
    if (op_has(op, ACQUIRES)) visit_take(sync, op);
    if (is_phase_wait(op)) state_mbarrier(sync, state, op, sync->group);
    if (op_has(op, MBARRIER) && op_has(op, ACQUIRES | INITS))
        add_access(sync, op, state); /* that behind an author's sync arrivals alone conflict with */
    if (hazard_uses_mbarriers(op))
        visit_access(sync, op, state);
    else if (hazard_is_shared(op) || hazard_is_global(op))
        visit_access(sync, op, state);
    else if (op_has(op, BLOCKS))
        visit_barrier_of_all(sync, op, state);
    else if (op_has(op, MEETS) && (op_has(op, BARRIER) || sync->group.count == WARP_SIZE))
        visit_barrier(sync, op, state);
    else if (op_has(op, WAITS))
        visit_wait(sync, op, state);
    else if (hazard_is_authors_sync(op))
        state_fence(sync, state);
    else if (is_group(op))
        visit_group(sync, op, state);
    else if (op->region_count && threads_part(sync->agreement, op))
        visit_apart(sync, op, state);
    else if (op_has(op, LOOP))
        visit_loop(sync, op, state);
    else if (op->code == OP_if)
        visit_if(sync, op, state);
}

static void walk(const Sync *sync, Region *region, State *state)
{
    for (Op *op = region->first; op; op = op_next(op)) visit_op(sync, op, state);
}

static void drop_sync(Op *op, void *context)
{
    (void)context;
    if (hazard_is_authors_sync(op)) op_erase(op);
}

/* A barrier of all threads of the block, or with `cluster` of the cluster: its last op. */
static Op *barrier_of_all_at(Op *op, bool cluster)
{
    if (op_has(op, BARRIER) && op_has(op, MEETS) && !op_attr(op, ATTR_count) &&
        !op_attr(op, ATTR_slices))
        return cluster ? NULL : op;
    const bool arrives = is_cluster_arrive(op) && !op_int(op, ATTR_relaxed, 0);
    return arrives && op->next && is_cluster_wait(op->next) ? op->next : NULL;
}

/* What threads do between two barriers of all as if there were one: they make mbarriers. */
static bool is_idle(const Op *op)
{
    return op_has(op, PURE | ALLOCATES) || (op_has(op, MBARRIER) && op_has(op, INITS));
}

/* Of such barriers with nothing between them but the making of mbarriers the last one is enough. */
static void merge_meetings(Region *region)
{
    for (Op *op = region->first, *next; op; op = next) {
        next = op_next(op);
        for (int r = 0; r < op->region_count; r++) merge_meetings(op->regions[r]);
        const bool cluster = is_cluster_arrive(op);
        Op *last = barrier_of_all_at(op, cluster), *after = last ? last->next : NULL;
        while (after && (is_idle(after) || (cluster && barrier_of_all_at(after, false) == after)))
            after = after->next;
        if (!after || !barrier_of_all_at(after, cluster)) continue;
        next = last->next;
        if (last != op) op_erase(last);
        op_erase(op);
    }
}

static void walk_launch(Sync sync, Op *launch)
{
    State state = {0};
    Map left = {0};
    sync.left = &left;
    walk(&sync, launch_region(launch), &state);
}

/* A tile that something uses through the other proxy. What copies to it may wait until readers
 * have given the stage back, behind their reads. Ops are many, tiles are few: each is there once.
 */
typedef struct ProxyTile {
    const Value *tile, *barriers; /* of one that is copied behind reads */
    enum { TILE_USED, TILE_COPIED, TILE_COPIED_BEHIND_READS, TILE_KINDS } kind;
} ProxyTile;

typedef struct ProxyTiles {
    const Sync *sync;
    Map given_back; /* the barriers of such stages */
    Map seen[TILE_KINDS];
    VEC(ProxyTile) tiles;
} ProxyTiles;

static void add_proxy_tile(ProxyTiles *found, ProxyTile added)
{
    const Op *root = shared_root(added.tile);
    if (map_has(&found->seen[added.kind], root)) return;
    map_add(found->sync->arena, &found->seen[added.kind], root);
    vec_push(found->sync->arena, &found->tiles, added);
}

static void find_proxy_tiles(ProxyTiles *found, const Op *op)
{
    for (int i = 0; i < op->operand_count && op_has(op, ASYNC_PROXY); i++)
        if (op->operands[i]->type->kind == TYPE_SHARED)
            add_proxy_tile(found, (ProxyTile){op->operands[i], NULL, TILE_USED});
    if (is_async_copy(op) && op_has(op, TMA) && !op_int(op, ATTR_by_threads, 0))
        add_proxy_tile(found, (ProxyTile){operand(op, tile), operand(op, barriers),
                                          map_has(&found->given_back, operand(op, barriers))
                                              ? TILE_COPIED_BEHIND_READS
                                              : TILE_COPIED});
}

static bool meets_tile(const ProxyTile *other, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (hazard_same_memory(op->operands[i], other->tile)) return true;
    return false;
}

/* What threads write of what something else uses, and read of what TMA overwrites at some time: of
 * a stage, when it is given back. */
static void find_shown(const ProxyTiles *found, const Op *op)
{
    const Sync *sync = found->sync;
    const bool writes = writes_shared(op);
    if (!writes && (!hazard_is_shared(op) || hazard_writes(op) || op_has(op, ASYNC_PROXY))) return;
    vec_each (other, &found->tiles) {
        if ((other->kind == TILE_USED) != writes || !meets_tile(other, op)) continue;
        if (other->kind == TILE_COPIED_BEHIND_READS && shared_is_used(op, shared_root(other->tile)))
            map_add(sync->arena, sync->read_back, other->barriers);
        else
            map_add(sync->arena, sync->shown, op);
    }
}

static void find_all_shown(const Sync *sync, Op *launch)
{
    ProxyTiles found = {.sync = sync};
    if (!sync->tensor_core) return;
    region_each (op, launch_region(launch))
        if (op_has(op, REUSES)) map_add(sync->arena, &found.given_back, operand(op, barriers));
    region_each (op, launch_region(launch)) find_proxy_tiles(&found, op);
    if (!found.tiles.count) return;
    region_each (op, launch_region(launch)) find_shown(&found, op);
}

/* What was put before an access in a loop may do for those before it, too, in the next iteration;
 * so may the author's own. */
static void drop_idle_barriers(Sync sync, Op *launch)
{
    for (size_t i = 0; i < sync.inserted->count && sync.inserted->count <= MOST_TRIED; i++) {
        bool hit = false; /* without it, in a walk from the launch's start */
        sync.ignored = sync.inserted->data[i];
        walk_launch(dry_walk(&sync, &hit, (ThreadGroup){0}), launch);
        if (!hit) op_erase(sync.inserted->data[i]);
    }
}

static void place_barriers(Sync sync, Op *launch)
{
    walk_launch(sync, launch);
    drop_idle_barriers(sync, launch);
    sync.fences = true;
    walk_launch(sync, launch);
}

/* ---- ping-pong of warpgroups ---- */

static bool meets_other_groups(const Op *op, const void *context)
{
    (void)context;
    const int64_t count = op_int(op, ATTR_count, 0);
    return op->code == OP_barrier && (count == 0 || count > WARPGROUP_SIZE);
}

/* A warpgroup whose turn it is waits for no other one, which may be waiting for its own turn: the
 * turn begins behind barriers before its first product, and ends before those behind that. */
static void keep_from_barriers(Op *wait)
{
    Op *arrive = wait->next;
    bool begun = false;
    while (arrive && arrive->code != OP_order_arrive) arrive = arrive->next;
    for (Op *op = wait->next; arrive && op != arrive; op = op->next) {
        begun |= op_has(op, DOT);
        if (!op_find_within(op, meets_other_groups, NULL)) continue;
        op_move_before(begun ? arrive : wait, begun ? op : op->next);
        if (begun) return;
    }
}

/* TMA writes to a stage that is given back behind what threads have read of it, which an mbarrier
 * alone, of another proxy than TMA's writes, does not wait for, though their values have been used.
 * So the PTX ISA has it ("Proxy-preserved base causality order"), and CUTLASS where its epilogues
 * give back what they read; its main loops whose threads read operands do without. */
static void fence_release(const Sync *sync, Op *release, OpVec *fences)
{
    Builder builder = builder_before(release);
    if (!map_has(sync->read_back, operand(release, barriers)) || is_fenced(release)) return;
    vec_push(sync->arena, fences, build_op(&builder, OP_fence_async, 0, NULL, 0, NULL));
}

/* Whether it may come before the release, which then is later: it waits for no one who may be
 * waiting for the stage himself, unless it is for a copy that was begun before. */
static bool may_precede(const Op *op, const Op *release)
{
    if (op->code == OP_consumer_wait) return operand(op, stage) == operand(release, stage);
    const bool waits = (op_has(op, PIPELINE_BARRIER | MBARRIER) && !op_has(op, ARRIVES)) ||
                       (op_has(op, MEETS) && !op_has(op, BARRIER));
    return op->region_count == 0 && !waits;
}

/* Whether another stage of the iteration is given back behind the op. */
static bool comes_before_release(const Op *op, const Op *release)
{
    for (; op; op = op->next)
        if (op->code == OP_consumer_release && operand(op, stage) == operand(release, stage))
            return true;
    return false;
}

/* A fence further down the iteration does for a release as well, if another stage is given back
 * behind that one, for which the producer waits anyway before it copies again. */
static void share_fence(const Sync *sync, Op *fence)
{
    Op *release = fence->next, *later = release->next;
    if (operand(release, barriers)->type->shape[1] < 2) return; /* of one stage */
    for (; later && !is_fence(later); later = later->next)
        if (!may_precede(later, release) || (later->code == OP_consumer_release &&
                                             map_has(sync->read_back, operand(later, barriers))))
            return; /* it may need the fence, too */
    if (!later || !comes_before_release(later, release)) return;
    op_move_before(release, later->next);
    op_erase(fence);
}

static void fence_releases(const Sync *sync, const Op *launch)
{
    OpVec fences = {0};
    region_each_of (release, launch_region(launch), OP_consumer_release)
        fence_release(sync, release, &fences);
    for (size_t i = fences.count; i-- > 0;) share_fence(sync, fences.data[i]);
}

static bool sync_launch(Kernel *kernel, PassContext *context, Op *launch)
{
    Arena *arena = context->arena;
    merge_meetings(launch_region(launch));
    const Sync sync = {.mbarriers = region_has(launch_region(launch), OP_mbarrier_init),
                       .tensor_core = region_has_with(launch_region(launch), ASYNC_PROXY),
                       .kernel = kernel,
                       .target = context->target,
                       .arena = arena,
                       .barriers = arena_new_of(arena, Barriers),
                       .inserted = arena_new_of(arena, OpVec),
                       .shown = arena_new_of(arena, Map),
                       .read_back = arena_new_of(arena, Map),
                       .copied_for = arena_new_of(arena, Map),
                       .keepers = arena_new_of(arena, Map),
                       .cause = arena_new_of(arena, Cause),
                       .table = pending_table_new(arena),
                       .facts = analysis_ranges(context),
                       .agreement = analysis_uniformity(context),
                       .block = launch_threads(launch),
                       .group = launch_threads(launch)};
    region_each_of (op, launch_region(launch), OP_mbarrier_arrive_on_copies)
        map_add(arena, sync.copied_for, shared_root(operand(op, barriers)));
    find_all_shown(&sync, launch);
    place_barriers(sync, launch);
    fence_releases(&sync, launch);
    region_each_of (wait, launch_region(launch), OP_order_wait) keep_from_barriers(wait);
    remark_barriers(kernel, arena, launch);
    region_visit_with(launch_region(launch), BARRIER, drop_sync, NULL);
    if (sync.barriers->too_many)
        diag_report(kernel->session->diags, DIAG_too_many_barriers, launch->span);
    return !sync.barriers->too_many;
}

bool pass_sync(Kernel *kernel, PassContext *context)
{
    bool fine = true;
    kernel_drop_dead(kernel); /* loads of what the tensor core reads for itself, for one */
    kernel_each_launch (op, kernel) fine &= sync_launch(kernel, context, op);
    kernel->stage = STAGE_SYNCED;
    return fine;
}
