/* kept_loads.c: what one loop has loaded, and another one would load again, is kept in registers;
 * needs and leaves a TYPED kernel in SSA.
 *
 *     for k: sum += f(load(row, k))            a = load(row, 0); ...
 *     for k: store(g(sum, load(row, k)))       sum += f(a); ... store(g(sum, a)); ...
 *
 * Norms and softmax go through a row more than once. Registers have no addresses, so that both
 * loops are unrolled; which is done where the tiles of all iterations fit into the registers, and
 * the unrolled bodies are not too much code. Tiles of iterations are the same where their offsets
 * are the same numbers, or the same sums of numbers and of what is outside of the loops; loops may
 * go through them in different orders. As elsewhere, parameters are different memory. */
#include "ir/fold.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"
#include "passes/analysis/access.h"
#include "passes/analysis/loop.h"

enum {
    MOST_TRIPS = 64,
    DEEPEST = 16 /* offset that is followed */
};

typedef struct Kept {
    Kernel *kernel;
    Arena *arena;
    int threads;
} Kept;

/* ---- what may be kept ---- */

/* Between two ops of a region, these among them. */
static bool is_written(const Op *from, const Op *to, const Parameter *parameter)
{
    for (const Op *op = from; op; op = op == to ? NULL : op_next(op))
        if (op_find_within(op, op_may_change, parameter)) return true;
    return false;
}

static bool may_keep(const Op *op)
{
    return op->code == OP_load && !op_attr(op, ATTR_evict);
}

/* A body that may as well stand there several times: of tiles in registers, and no products. */
static bool is_plain(const Op *loop)
{
    if (loop->code != OP_for || op_int(loop, ATTR_stages, 0) > 0) return false;
    const int64_t trips = loop_trips(loop);
    if (trips < 2 || trips > MOST_TRIPS) return false;
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op))
        if (op->region_count || op_has(op, DOT | COPY | ASYNC | WAITS | MBARRIER | SHARED))
            return false;
    return true;
}

/* ---- offsets ---- */

/* An iteration of a loop. */
typedef struct At {
    const Op *loop;
    int64_t index;
} At;

static bool is_index(const Value *value, const void *context, int64_t *out)
{
    const At *at = context;
    *out = at->index;
    return value == at->loop->regions[0]->arguments[0];
}

static bool same_value(At a, const Value *x, At b, const Value *y, int deep)
{
    int64_t left, right;
    const bool known = fold_value(x, is_index, &a, &left);
    if (known != fold_value(y, is_index, &b, &right)) return false;
    if (known) return left == right;
    if (x == y) return !region_holds(a.loop->regions[0], value_home(x));
    const Op *p = x->op, *q = y->op;
    if (deep == DEEPEST || !p || !q || !op_has(p, ELEM) || !op_alike(p, q)) return false;
    for (int i = 0; i < p->operand_count; i++)
        if (!same_value(a, p->operands[i], b, q->operands[i], deep + 1)) return false;
    return true;
}

static bool same_tile(At a, const Op *load, At b, const Op *other)
{
    for (int i = operand_index(load, offsets); i < load->operand_count; i++)
        if (!same_value(a, load->operands[i], b, other->operands[i], 0)) return false;
    return true;
}

static At iteration(const Op *loop, int64_t trip)
{
    int64_t begin = 0, step = 0;
    value_constant(operand(loop, begin), &begin);
    value_constant(operand(loop, step), &step);
    return (At){loop, begin + trip * step};
}

/* The trip in which `first` loads what `other` does at that place; -1: there is none. */
static int64_t find_trip(const Op *first, At at, const Op *other)
{
    const Op *loop = first->parent->parent;
    const int64_t trips = loop_trips(loop);
    for (int64_t trip = 0; trip < trips; trip++)
        if (same_tile(iteration(loop, trip), first, at, other)) return trip;
    return -1;
}

/* All iterations of its loop load what the other one's have. */
static bool loads_again(const Op *first, const Op *again)
{
    Op *loop = first->parent->parent, *later = again->parent->parent;
    const Parameter *parameter = memory_parameter(operand(first, view));
    if (first->results[0].type != again->results[0].type ||
        operand(first, view) != operand(again, view) ||
        first->operand_count != again->operand_count || !op_same_attr(first, again, ATTR_dims) ||
        !op_same_attr(first, again, ATTR_bounds) || !parameter ||
        is_written(loop, later, parameter))
        return false;
    const int64_t trips = loop_trips(later);
    for (int64_t trip = 0; trip < trips; trip++)
        if (find_trip(first, iteration(later, trip), again) < 0) return false;
    return true;
}

/* ---- how much that is ---- */

static int64_t ops_of(const Kept *kept, const Op *loop)
{
    int64_t ops = 0;
    for (const Op *op = loop->regions[0]->first; op; op = op_next(op)) {
        const Type *type = op->result_count ? op->results[0].type : NULL;
        const int64_t each =
            type && type->kind == TYPE_TILE ? type_elements(type) / kept->threads : 1;
        ops += each > 1 ? each : 1;
    }
    return ops * loop_trips(loop);
}

/* ---- unrolling ---- */

/* Loads of tiles that an earlier loop has loaded; or, where `first` is itself, that loop's. */
typedef struct Again {
    const Op *first;
    Value **tiles; /* of the trips of the first one */
} Again;

typedef struct Group {
    Map loads; /* -> Again */
    OpVec loops;
} Group;

/* A load whose tile another loop has loaded is that tile. */
static void copy_op(Builder *builder, const Op *op, int64_t trip, Map *copies, void *context)
{
    const Group *group = context;
    const Again *again = map_get(&group->loads, op);
    if (again && again->first != op) {
        const At at = iteration(op->parent->parent, trip);
        map_set(builder->kernel->arena, copies, op->results,
                again->tiles[find_trip(again->first, at, op)]);
        return;
    }
    Op *copy = op_clone(builder, op, copies);
    if (again) again->tiles[trip] = copy->results;
}

/* Loops are compared as they are until all iterations are there. */
static void unroll(const Group *group)
{
    vec_each (loop, &group->loops) {
        const At first = iteration(*loop, 0), second = iteration(*loop, 1);
        loop_copy_iterations(*loop, first.index, second.index - first.index, loop_trips(*loop),
                             copy_op, (Group *)(uintptr_t)group);
    }
    vec_each (loop, &group->loops) op_erase(*loop);
}

/* ---- which loops ---- */

static void add_load(const Kept *kept, Group *group, const Op *load, const Op *first)
{
    const Again *known = map_get(&group->loads, first);
    Again *added = arena_new_of(kept->arena, Again);
    const int64_t trips = loop_trips(first->parent->parent);
    *added = (Again){first, known ? known->tiles : arena_new_array(kept->arena, Value *, trips)};
    map_set(kept->arena, &group->loads, load, added);
}

static void add_loop(const Kept *kept, Group *group, Op *loop)
{
    vec_each (known, &group->loops)
        if (*known == loop) return;
    vec_push(kept->arena, &group->loops, loop);
}

/* What the later loop loads that the first one has loaded goes to the group; how many bytes that
 * are which are not kept yet. */
static void compare_loads(const Kept *kept, Group *group, Op *loop, Op *later, int64_t *bytes)
{
    for (const Op *again = later->regions[0]->first; again; again = op_next(again)) {
        for (const Op *first = loop->regions[0]->first; first && may_keep(again);
             first = op_next(first)) {
            if (!may_keep(first) || !loads_again(first, again)) continue;
            if (!map_has(&group->loads, first)) {
                *bytes += type_bytes(first->results[0].type) * loop_trips(loop);
                add_load(kept, group, first, first);
            }
            add_load(kept, group, again, first);
            add_loop(kept, group, loop);
            add_loop(kept, group, later);
            break;
        }
    }
}

static bool keep_loads_of(const Kept *kept, Op *loop)
{
    Group group = {0};
    int64_t bytes = 0, ops = 0;
    for (Op *later = op_next(loop); later; later = op_next(later))
        if (is_plain(later)) compare_loads(kept, &group, loop, later, &bytes);
    vec_each (one, &group.loops) ops += ops_of(kept, *one);
    if (!group.loops.count) return false;
    const bool fits = bytes <= (int64_t)COST_KEPT_REGISTERS * REGISTER_BYTES * kept->threads &&
                      bytes <= COST_KEPT_BYTES && ops <= COST_KEPT_OPS;
    kernel_remark(kept->kernel, loop->span,
                  fits ? "loops are unrolled, as what this one loads is loaded again: %lld bytes "
                         "of a thread's registers"
                       : "what this loop loads is loaded again: %lld bytes of a thread, which are "
                         "too many to be kept in registers, or too much code",
                  (long long)(bytes / kept->threads));
    if (fits) unroll(&group);
    return fits;
}

static void visit_region(const Kept *kept, const Region *region)
{
    Op *op = region->first;
    while (op) {
        if (is_plain(op) && keep_loads_of(kept, op)) {
            op = region->first; /* anew: the loops are gone */
            continue;
        }
        for (int r = 0; r < op->region_count; r++) visit_region(kept, op->regions[r]);
        op = op_next(op);
    }
}

bool pass_kept_loads(Kernel *kernel, PassContext *context)
{
    Kept kept = {.kernel = kernel, .arena = context->arena};
    if (kernel->is_strict) return true;
    kernel_each_launch (op, kernel) {
        kept.threads = launch_threads(op).count;
        visit_region(&kept, launch_region(op));
    }
    return true;
}
