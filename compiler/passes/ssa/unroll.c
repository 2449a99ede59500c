/* unroll.c: loops by whose variables a thread finds the elements of an array of its own, those that
 * the author wants unrolled, and those that run once; needs a TYPED kernel in SSA.
 *
 * A thread's registers have no addresses: an array is in registers where each access says by a
 * number which element it means, and else in memory, which is a hundred times slower. Where all
 * indices of an array follow from numbers and from variables of loops whose bounds do, too, these
 * loops are unrolled, the outer ones first, as bounds of inner ones may follow from their
 * variables. An array of which some index is known at run time only gains nothing by it.
 *
 * A division by what such loops know is by a number in each copy of their bodies, a shift or a
 * product in place of many instructions, and what is computed of its result is known better: short
 * loops are unrolled for it. So they are for a float that an index divides: that is a number.
 *
 * A vector that is written out has an element chosen by comparisons of its index with each place:
 * where that follows from such loops, too, one of them is left in each copy of their bodies, the
 * element itself.
 *
 * A few iterations that only load and compute, as those over the places of a small filter, are
 * unrolled so that none of them waits for what another one has loaded, and so that each place is a
 * number in indices and masks, for all of a tile or for the element that a thread reads. Loops
 * whose loads are of whole blocks alone gain nothing by it.
 *
 * Nor has a register tile addresses: what reads a part of it at a place that such loops know reads
 * it in shared memory, a copy, and by numbers in registers. */
#include "ir/fold.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"
#include "passes/analysis/access.h"

#include <string.h>

enum { DEEPEST = 64 /* index expression that is followed */ };

typedef bool Fits(const Op *op);

/* What an index chooses at each place of a vector, by comparisons and selects, and the loops that
 * it follows from, which are in one, or are that one. */
typedef struct Choice {
    OpVec ops, loops;
    Op *nest;
} Choice;

typedef struct Unroll {
    Kernel *kernel;
    Arena *arena;
    Map wanted;           /* Op -> itself: loops that are to be unrolled */
    OpVec outermost;      /* of these, those that are in no other */
    VEC(Choice) choices;  /* by what is known once loops are unrolled */
    Map folded;           /* ops of these */
    int64_t left;         /* ops that may yet be made, in parts of COST_UNROLL_FOLDED */
    bool counts_elements; /* rather than where they are */
} Unroll;

/* ---- copies of register tiles ---- */

/* Made in one place of a register tile, and read a part at a time. What has a name is the
 * author's. */
static bool is_copy(const Op *alloc)
{
    const Value *copy = &alloc->results[0];
    int stores = 0;
    for (const OpUse *use = copy->uses; use; use = use->next) {
        const bool stored = use->op->code == OP_shared_store && use->op->parent == alloc->parent;
        if (!stored &&
            !(use->op->code == OP_shared_view && shared_is_loaded_alone(use->op->results)))
            return false;
        stores += stored;
    }
    return stores == 1 && !copy->name;
}

/* ---- which loops ---- */

/* The loops of one array. */
typedef struct Indices {
    Unroll *unroll;
    Fits *fits; /* what may be in them */
    Map seen;   /* values that were followed */
    OpVec loops;
} Indices;

static bool follow(Indices *indices, Value *value, int depth);

/* What a copy of is another of the same: no tile, no memory of the block's. */
static bool is_copied(const Op *op)
{
    return op->code != OP_shared_alloc && !op_has_tiles(op) &&
           !op_has(op, COPY | DOT | ASYNC | WAITS | MBARRIER | PIPELINE_BARRIER);
}

/* Or tiles that go by elements, and memory of copies. */
static bool is_tile_copied(const Op *op)
{
    if (op->code == OP_shared_alloc) return is_copy(op);
    return is_copied(op) || op_has(op, ALIAS) || op->code == OP_shared_store ||
           op->code == OP_shared_load || op->code == OP_yield || op->code == OP_for ||
           (op_has(op, PURE) && !op_has(op, COOP));
}

static bool is_unfit(const Op *op, const void *context)
{
    Fits *const *fits = context;
    return !(*fits)(op);
}

/* Or whatever else threads do, but for what loops by plan move. */
static bool is_repeated(const Op *op)
{
    return !op_has(op, ALLOCATES | COPY | DOT | ASYNC | WAITS | MBARRIER | PIPELINE_BARRIER);
}

static bool all_fit(const Op *op, Fits *fits)
{
    return !op_find_within(op, is_unfit, &fits);
}

static bool is_never(const Op *loop)
{
    int64_t begin, end;
    const bool once = value_constant(operand(loop, begin), &begin) &&
                      value_constant(operand(loop, end), &end) && begin < end && begin == end - 1;
    return op_int(loop, ATTR_unroll, 0) == 1 && !once;
}

static bool follow_loop(Indices *indices, Op *loop, int depth)
{
    if (loop->code != OP_for || is_never(loop) || !all_fit(loop, indices->fits)) return false;
    if (!follow(indices, operand(loop, begin), depth) ||
        !follow(indices, operand(loop, end), depth) || !follow(indices, operand(loop, step), depth))
        return false;
    vec_push(indices->unroll->arena, &indices->loops, loop);
    return true;
}

static bool follow_operands(Indices *indices, const Op *op, int depth)
{
    if (!op_has(op, ELEM) || op->result_count != 1) return false;
    for (int i = 0; i < op->operand_count; i++)
        if (!follow(indices, op->operands[i], depth)) return false;
    return true;
}

/* Whether it is known once loops are unrolled. */
static bool follow(Indices *indices, Value *value, int depth)
{
    int64_t number;
    if (value_constant(value, &number) || map_has(&indices->seen, value)) return true;
    const bool counts = dtype_is_integer(value->type->dtype) || value->type->dtype == DTYPE_b1;
    if (depth == 0 || value->type->kind != TYPE_SCALAR || !counts) return false;
    const bool is_variable = value->region && value->region->parent && value->index == 0;
    if (value->op ? !follow_operands(indices, value->op, depth - 1)
                  : !is_variable || !follow_loop(indices, value->region->parent, depth - 1))
        return false;
    map_set(indices->unroll->arena, &indices->seen, value, value);
    return true;
}

static bool follow_parts(Indices *indices, const Value *copy)
{
    for (const OpUse *use = copy->uses; use; use = use->next)
        for (int d = 0; use->op->code == OP_shared_view && d < copy->type->rank; d++)
            if (!follow(indices, operand_list(use->op, offsets)[d], DEEPEST)) return false;
    return true;
}

static bool follow_uses(Indices *indices, const Value *array)
{
    for (const OpUse *use = array->uses; use; use = use->next) {
        if (!op_has(use->op, ELEMENT)) return false;
        for (int d = 0; d < array->type->rank; d++)
            if (!follow(indices, operand_list(use->op, indices)[d], DEEPEST)) return false;
    }
    return true;
}

/* ---- how much that is ---- */

static bool is_known(const Value *value, const void *known, int64_t *out)
{
    const int64_t *number = map_get(known, value);
    if (number) *out = *number;
    return number != NULL;
}

/* The number that a value is where variables of loops are those of `known`. */
static bool number_of(const Map *known, const Value *value, int64_t *out)
{
    return fold_value(value, is_known, known, out);
}

typedef struct Trips {
    int64_t begin, step, count;
} Trips;

/* Of numbers of 32 bits; a step that is longer than these go is one of them, too. */
static bool trips_of(const Map *known, const Op *loop, Trips *out)
{
    int64_t end;
    if (!number_of(known, operand(loop, begin), &out->begin) ||
        !number_of(known, operand(loop, end), &end) ||
        !number_of(known, operand(loop, step), &out->step) || out->step <= 0 || end > INT32_MAX ||
        out->begin < INT32_MIN)
        return false;
    if (out->step > UINT32_MAX) out->step = UINT32_MAX;
    out->count = out->begin < end ? (end - out->begin - 1) / out->step + 1 : 0;
    return true;
}

static bool count_region(Unroll *unroll, const Region *region, Map *known);

static bool count_loop(Unroll *unroll, const Op *loop, Map *known)
{
    Trips trips;
    if (!trips_of(known, loop, &trips)) return false;
    int64_t *variable = arena_new_of(unroll->arena, int64_t);
    map_set(unroll->arena, known, loop->regions[0]->arguments[0], variable);
    *variable = trips.begin;
    for (int64_t trip = 0; trip < trips.count; trip++, *variable += trips.step)
        if (!count_region(unroll, loop->regions[0], known)) return false;
    return true;
}

/* What is computed of indices, or a mask, is the same for most of a thread's elements. */
static bool is_of_places(const Op *op)
{
    const Type *type = op->result_count ? op->results[0].type : NULL;
    return type && op_has(op, ELEM) && (type->dtype == DTYPE_i32 || type->dtype == DTYPE_b1);
}

/* Ops of a thread, as good as one may tell before layouts. */
static int64_t thread_ops(const Op *op)
{
    const Type *type = op->result_count ? op->results[0].type : NULL;
    const int64_t each =
        type && type->kind == TYPE_TILE ? type_elements(type) / op_threads(op).count : 1;
    return each > 1 ? each : 1;
}

/* In parts of COST_UNROLL_FOLDED. Among elements that are loaded, splats and coordinates are no
 * more than what folds. */
static int64_t parts_of(const Unroll *unroll, const Op *op)
{
    if (op->code == OP_const) return 0;
    if (map_has(&unroll->folded, op) || (unroll->counts_elements && op_has(op, REMAT))) return 1;
    if (unroll->counts_elements && is_of_places(op)) return COST_UNROLL_FOLDED;
    return COST_UNROLL_FOLDED * thread_ops(op);
}

/* Takes what becomes of the region from what may be made; false: that is too much. */
static bool count_region(Unroll *unroll, const Region *region, Map *known)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        unroll->left -= parts_of(unroll, op);
        if (unroll->left < 0) return false;
        if (map_has(&unroll->wanted, op)) {
            if (!count_loop(unroll, op, known)) return false;
            continue;
        }
        for (int r = 0; r < op->region_count; r++)
            if (!count_region(unroll, op->regions[r], known)) return false;
    }
    return true;
}

static bool is_within_wanted(const Unroll *unroll, const Op *op)
{
    for (const Op *around = op->parent->parent; around; around = around->parent->parent)
        if (map_has(&unroll->wanted, around)) return true;
    return false;
}

static void count_outermost(Op *op, void *context)
{
    Unroll *unroll = context;
    Map known = {0};
    if (map_has(&unroll->wanted, op) && !is_within_wanted(unroll, op) &&
        !count_loop(unroll, op, &known))
        unroll->left = -1;
}

/* All loops that are wanted by now. */
static bool are_affordable(Unroll *unroll)
{
    unroll->left = COST_UNROLL_FOLDED * COST_UNROLL_OPS;
    kernel_visit(unroll->kernel, count_outermost, unroll);
    return unroll->left >= 0;
}

/* The outermost loop that is wanted around it, or it. What inner loops count to may follow from the
 * variables of outer ones. */
static Op *outermost_wanted(const Unroll *unroll, Op *loop)
{
    for (Op *around = loop; around; around = around->parent->parent)
        if (map_has(&unroll->wanted, around)) loop = around;
    return loop;
}

/* Few ops become of each. */
static bool are_short(Unroll *unroll, const OpVec *loops, int64_t ops)
{
    for (size_t i = 0; i < loops->count; i++) {
        unroll->left = COST_UNROLL_FOLDED * ops;
        count_outermost(outermost_wanted(unroll, loops->data[i]), unroll);
        if (unroll->left < 0) return false;
    }
    return true;
}

/* If no more than so many ops become of each, and not too much of all. */
static bool want(Unroll *unroll, const OpVec *loops, int64_t ops)
{
    OpVec added = {0};
    for (size_t i = 0; i < loops->count; i++) {
        if (map_has(&unroll->wanted, loops->data[i])) continue;
        map_set(unroll->arena, &unroll->wanted, loops->data[i], loops->data[i]);
        vec_push(unroll->arena, &added, loops->data[i]);
    }
    if (added.count == 0 || (are_short(unroll, &added, ops) && are_affordable(unroll))) return true;
    for (size_t i = 0; i < added.count; i++) map_remove(&unroll->wanted, added.data[i]);
    return false;
}

static void look_at_array(Op *op, void *context)
{
    Unroll *unroll = context;
    Indices indices = {.unroll = unroll, .fits = is_copied};
    if (type_elements(op->results[0].type) > COST_ARRAY_ELEMENTS ||
        !follow_uses(&indices, op->results))
        return;
    if (!want(unroll, &indices.loops, COST_UNROLL_OPS))
        kernel_remark(unroll->kernel, op->span,
                      "an array of each thread's own is in memory: there is too much in the loops "
                      "that go through it to unroll them");
}

static void look_at_copy(Op *op, void *context)
{
    Unroll *unroll = context;
    Indices indices = {.unroll = unroll, .fits = is_tile_copied};
    if (is_copy(op) && follow_parts(&indices, op->results))
        want(unroll, &indices.loops, COST_UNROLL_OPS);
}

static void look_at_division(Op *op, void *context)
{
    Unroll *unroll = context;
    Indices indices = {.unroll = unroll, .fits = is_repeated};
    int64_t number;
    double dividend;
    Value *divisor = value_repeated(operand(op, b));
    if (value_repeated_number(operand(op, a), &dividend) && divisor->op &&
        divisor->op->code == OP_cast)
        divisor = operand(divisor->op, a);
    if (value_constant(divisor, &number) || !follow(&indices, divisor, DEEPEST)) return;
    want(unroll, &indices.loops, COST_UNROLL_DIVISION_OPS);
}

static bool is_choice(const Op *op)
{
    int64_t place;
    if (op->code != OP_cmp || op->results[0].type->kind != TYPE_SCALAR ||
        strcmp(op_attr(op, ATTR_predicate)->text, "eq") != 0 ||
        !value_constant(operand(op, b), &place) || !op->results[0].uses)
        return false;
    for (const OpUse *use = op->results[0].uses; use; use = use->next)
        if (use->op->code != OP_select || operand(use->op, condition) != op->results) return false;
    return true;
}

static void mark_folded(Unroll *unroll, const Choice *choice)
{
    vec_each (op, &choice->ops) map_add(unroll->arena, &unroll->folded, *op);
}

static void unmark_folded(Unroll *unroll, const Choice *choice)
{
    vec_each (op, &choice->ops) map_remove(&unroll->folded, *op);
}

static Op *outermost_of(const OpVec *loops)
{
    Op *outermost = loops->data[0];
    vec_each (loop, loops)
        if (region_holds((*loop)->regions[0], outermost->parent)) outermost = *loop;
    return outermost;
}

static void note_choice(Op *op, void *context)
{
    Unroll *unroll = context;
    Indices indices = {.unroll = unroll, .fits = is_copied};
    Choice choice = {0};
    int64_t number;
    if (map_has(&unroll->folded, op) || !is_choice(op)) return;
    Value *index = operand(op, a);
    int places = 0;
    for (const OpUse *use = index->uses; use; use = use->next) {
        if (!is_choice(use->op) || operand(use->op, a) != index) continue;
        places++;
        vec_push(unroll->arena, &choice.ops, use->op);
        for (const OpUse *chosen = use->op->results[0].uses; chosen; chosen = chosen->next)
            vec_push(unroll->arena, &choice.ops, chosen->op);
    }
    if (places < 2 || value_constant(index, &number) || !follow(&indices, index, DEEPEST) ||
        !indices.loops.count)
        return;
    choice.loops = indices.loops;
    choice.nest = outermost_of(&choice.loops);
    mark_folded(unroll, &choice);
    vec_push(unroll->arena, &unroll->choices, choice);
}

/* Each by itself: those that are not taken do not fold. */
static void want_each_choice(Unroll *unroll, const Op *nest)
{
    vec_each (choice, &unroll->choices)
        if (choice->nest == nest) unmark_folded(unroll, choice);
    vec_each (choice, &unroll->choices) {
        if (choice->nest != nest) continue;
        mark_folded(unroll, choice);
        if (!want(unroll, &choice->loops, COST_UNROLL_CHOICE_OPS)) unmark_folded(unroll, choice);
    }
}

/* A nest of loops has several, which are taken together if that is possible: each folds with the
 * others. */
static void look_at_choices(Unroll *unroll)
{
    Map seen = {0};
    kernel_visit_those(unroll->kernel, OP_cmp, note_choice, unroll);
    vec_each (first, &unroll->choices) {
        OpVec loops = {0};
        if (map_has(&seen, first->nest)) continue;
        map_add(unroll->arena, &seen, first->nest);
        vec_each (choice, &unroll->choices)
            for (size_t i = 0; choice->nest == first->nest && i < choice->loops.count; i++)
                vec_push(unroll->arena, &loops, choice->loops.data[i]);
        if (!want(unroll, &loops, COST_UNROLL_CHOICE_OPS)) want_each_choice(unroll, first->nest);
    }
}

/* All of it, by the author's word. */
static void look_at_loop(Op *op, void *context)
{
    Unroll *unroll = context;
    const Map nothing = {0};
    Trips trips;
    if (!trips_of(&nothing, op, &trips) || !all_fit(op, is_copied)) return;
    const int64_t wanted = op_int(op, ATTR_unroll, 0);
    OpVec loops = {0};
    if (wanted < 2 || trips.count > wanted) return;
    vec_push(unroll->arena, &loops, op);
    want(unroll, &loops, COST_UNROLL_OPS);
}

/* ---- loops that load ---- */

/* Threads do nothing together in it. */
static bool is_loaded(const Op *op)
{
    return op->code == OP_load || op->code == OP_gather || op->code == OP_element_load ||
           op->code == OP_yield || op->code == OP_for || op->code == OP_if ||
           (op_has(op, PURE) && !op_has(op, COOP));
}

typedef struct Loaded {
    OpVec loops; /* all of them, one in the other */
    Arena *arena;
    int64_t bytes; /* that a thread loads in an iteration of each */
    bool apart;    /* of shared memory */
    bool finds;    /* places one by one, or a mask, or divides for them */
} Loaded;

static void note_loaded(Op *op, void *context)
{
    Loaded *loaded = context;
    if (op->code == OP_for) vec_push(loaded->arena, &loaded->loops, op);
    const bool is_element = op->code == OP_element_load;
    loaded->finds |= op->code == OP_gather || is_element || op->code == OP_cmp ||
                     op_has(op, QUOTIENT) || op_has(op, REMAINDER);
    if (op->code != OP_load && op->code != OP_gather && !is_element) return;
    const Type *type = op->results[0].type;
    loaded->apart |= op->code != OP_load && operand(op, memory)->type->kind != TYPE_VIEW;
    loaded->bytes += thread_ops(op) * dtype_bytes(type->dtype);
}

/* The iterations of all of them, one in the other; 0: they are many, or that is not known. */
static int64_t trips_together(const OpVec *loops)
{
    const Map nothing = {0};
    int64_t together = 1;
    Trips trips;
    for (size_t i = 0; i < loops->count; i++) {
        if (!trips_of(&nothing, loops->data[i], &trips) || is_never(loops->data[i])) return 0;
        together *= trips.count;
        if (together > COST_UNROLL_LOADS) return 0;
    }
    return together;
}

static void look_at_loads(Op *op, void *context)
{
    Unroll *unroll = context;
    Loaded loaded = {.arena = unroll->arena};
    if (map_has(&unroll->wanted, op) || !op_enclosing(op, OP_launch) || !all_fit(op, is_loaded))
        return;
    vec_push(unroll->arena, &loaded.loops, op);
    region_visit(op->regions[0], note_loaded, &loaded);
    const int64_t trips = trips_together(&loaded.loops);
    if (trips < 2 || loaded.apart || !loaded.finds || loaded.bytes == 0 ||
        loaded.bytes * trips > COST_UNROLL_LOADED_BYTES)
        return;
    unroll->counts_elements = true;
    want(unroll, &loaded.loops, COST_UNROLL_LOAD_OPS);
    unroll->counts_elements = false;
}

/* ---- unrolling ---- */

/* Of a copy the same loops are wanted, and the same choices fold. */
static void want_copies(Unroll *unroll, const Op *op, Op *copy, bool is_nested)
{
    if (map_has(&unroll->folded, op)) map_add(unroll->arena, &unroll->folded, copy);
    if (map_has(&unroll->wanted, op)) {
        map_set(unroll->arena, &unroll->wanted, copy, copy);
        if (!is_nested) vec_push(unroll->arena, &unroll->outermost, copy);
        is_nested = true;
    }
    for (int r = 0; r < op->region_count; r++) {
        Op *inside = copy->regions[r]->first;
        for (const Op *from = op->regions[r]->first; from; from = from->next, inside = inside->next)
            want_copies(unroll, from, inside, is_nested);
    }
}

/* Where the index is a number by now a choice is one of its operands. */
static bool folds(const Builder *at, const Op *op, Map *copies)
{
    if (op->code != OP_select) return false;
    const Op *place = operand(op, condition)->op;
    const Map nothing = {0};
    int64_t index, number;
    if (!number_of(&nothing, value_copied(copies, operand(place, a)), &index) ||
        !value_constant(operand(place, b), &number))
        return false;
    map_set(at->kernel->arena, copies, op->results,
            value_copied(copies, index == number ? operand(op, a) : operand(op, b)));
    return true;
}

static void copy_op(Builder *at, const Op *op, int64_t trip, Map *copies, void *context)
{
    Unroll *unroll = context;
    (void)trip;
    if (map_has(&unroll->folded, op) && folds(at, op, copies)) return;
    want_copies(unroll, op, op_clone(at, op, copies), false);
}

static void unroll_loop(Unroll *unroll, Op *loop)
{
    const Map nothing = {0};
    Trips trips;
    if (!trips_of(&nothing, loop, &trips)) return;
    loop_copy_iterations(loop, trips.begin, trips.step, trips.count, copy_op, unroll);
    op_erase(loop);
}

/* Products are left where their operands are copied as loops have it. */
static bool is_single(const Op *op, Trips *trips)
{
    const Map nothing = {0};
    return op->code == OP_for && trips_of(&nothing, op, trips) && trips->count == 1 &&
           !region_has_with(op->regions[0], DOT);
}

/* The outer ones first, as bounds of inner ones may follow from their variables. */
static void open_singles(Region *region)
{
    Trips trips;
    for (Op *op = region->first, *next; op; op = next) {
        const bool is_opened = is_single(op, &trips);
        next = is_opened ? op->regions[0]->first : op->next;
        if (is_opened) {
            if (next == op->regions[0]->last) next = op_next(op); /* nothing but its yield */
            Builder at = builder_before(op);
            loop_dissolve(op, build_const(&at, operand(op, begin)->type->dtype, trips.begin));
            continue;
        }
        for (int r = 0; r < op->region_count; r++) open_singles(op->regions[r]);
    }
}

static void find_outermost(Op *op, void *context)
{
    Unroll *unroll = context;
    if (map_has(&unroll->wanted, op) && !is_within_wanted(unroll, op))
        vec_push(unroll->arena, &unroll->outermost, op);
}

bool pass_unroll(Kernel *kernel, PassContext *context)
{
    (void)context;
    Unroll unroll = {
        .kernel = kernel,
        .arena = arena_new(),
    };
    kernel_visit_those(kernel, OP_local_alloc, look_at_array, &unroll);
    kernel_visit_those(kernel, OP_shared_alloc, look_at_copy, &unroll);
    kernel_visit_those(kernel, OP_for, look_at_loop, &unroll);
    look_at_choices(&unroll);
    kernel_visit_with(kernel, QUOTIENT | REMAINDER, look_at_division, &unroll);
    kernel_visit_those(kernel, OP_for, look_at_loads, &unroll);
    kernel_visit_those(kernel, OP_for, find_outermost, &unroll);
    for (size_t i = 0; i < unroll.outermost.count; i++)
        unroll_loop(&unroll, unroll.outermost.data[i]);
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) open_singles(op->regions[0]);
    arena_free(unroll.arena);
    return true;
}
