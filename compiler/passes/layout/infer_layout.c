/* infer_layout.c: gives every tile a layout; needs a TYPED kernel whose accesses have bounds and
 * whose dots have instructions, leaves it LAID_OUT.
 *
 * Values that must agree (elementwise operands and results, what a loop carries, a dot's
 * accumulator and result) form a class. Classes of accumulators get their dot's layout, that of
 * wgmma before others'; layouts then spread through broadcasts, reshapes and transposes; the
 * largest class that is left takes what its loads or stores like best, and so on. Splats and iotas
 * are copied to each use first, so that they tie nothing together. Where an op then needs another
 * layout than its operand has, convert.c inserts a conversion. */
#include "passes/analysis/alive.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/layout/layouts.h"

#include <stdlib.h>

#include "passes/layout/matrix.h"
#include "passes/layout/worklist.h"

typedef struct Classes {
    Inference *inference;
    VEC(Value *) values; /* the tiles; Value.scratch is the index + 1 */
    VEC(Op *) accesses;
    VEC(Op *) scattered;
    VEC(Op *) renames; /* broadcast, reshape, transpose */
    VEC(Op *) dots;
    VEC(Op *) anchors;
    int *parent;            /* union-find */
    const Layout **layouts; /* by root */
    const Layout **asked;   /* by root: those that products and the author ask for */
    bool *apart;            /* by root: no layout spreads to it */
    bool *has_load;         /* by root */
    bool *has_access;       /* by root: of global memory, or of single elements */
    const Type **narrowest; /* by root: of those read and written in shared memory; NULL: none */
    int *runs;              /* by root: elements side by side a thread that it should have at most;
                               0: any */
    IndexVec *touching;     /* by root: the renames that it is an operand or result of, in order */
    Worklist worklist;      /* renames that a layout may spread through */
} Classes;

/* ---- a copy of each splat and iota for each use ---- */

static bool is_source(const Op *op)
{
    return op && op_has(op, REMAT);
}

static void copy_sources(Op *op, void *context)
{
    Inference *inference = context;
    for (int i = 0; i < op->operand_count; i++) {
        const Op *source = op->operands[i]->op;
        if (!is_source(source)) continue;
        Map map = {0};
        Builder builder = builder_before(op);
        Op *copy = op_clone(&builder, source, &map);
        copy->scratch = inference; /* not an original */
        op_set_operand(op, i, &copy->results[0]);
    }
}

static void drop_originals(Op *op, void *context)
{
    (void)context;
    if (is_source(op) && !op->scratch) op_erase(op);
    op->scratch = NULL;
}

/* ---- classes ---- */

static void collect_value(Classes *classes, Value *value)
{
    if (value->type->kind != TYPE_TILE) return;
    vec_push(classes->inference->arena, &classes->values, value);
    value->scratch = (void *)(uintptr_t)classes->values.count;
}

static void collect_op(Op *op, void *context)
{
    Classes *classes = context;
    Arena *arena = classes->inference->arena;
    for (int i = 0; i < op->result_count; i++) collect_value(classes, &op->results[i]);
    for (int r = 0; r < op->region_count; r++)
        for (int i = 0; i < op->regions[r]->argument_count; i++)
            collect_value(classes, op->regions[r]->arguments[i]);
    if (op_is_access(op)) vec_push(arena, &classes->accesses, op);
    if (op_is_scattered(op)) vec_push(arena, &classes->scattered, op);
    if (op_has(op, DERIVES)) vec_push(arena, &classes->renames, op);
    if (is_dot(op)) vec_push(arena, &classes->dots, op);
    if (op->code == OP_anchor) vec_push(arena, &classes->anchors, op);
}

static int class_of(const Classes *classes, const Value *value)
{
    CHECK(value->scratch);
    int at = (int)(uintptr_t)value->scratch - 1;
    while (classes->parent[at] != at) {
        classes->parent[at] = classes->parent[classes->parent[at]];
        at = classes->parent[at];
    }
    return at;
}

static void unite(Classes *classes, const Value *a, const Value *b)
{
    if (a->type->kind == TYPE_TILE && b->type->kind == TYPE_TILE)
        classes->parent[class_of(classes, a)] = class_of(classes, b);
}

static void unite_elements(Classes *classes, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++) unite(classes, op->operands[i], &op->results[0]);
}

/* What ends `region` carries on to the op's results and back to the arguments of `next` from
 * `first` on. */
static void unite_end(Classes *classes, const Op *op, const Region *region, const Region *next,
                      int first)
{
    const Op *end = region->last;
    const int skip = end && end->code == OP_condition ? 1 : 0;
    for (int i = skip; end && i < end->operand_count; i++) {
        unite(classes, end->operands[i], &op->results[i - skip]);
        if (next) unite(classes, end->operands[i], next->arguments[first + i - skip]);
    }
}

static void unite_init(Classes *classes, const Op *op, const Region *region, int skip, int first)
{
    for (int i = skip; i < op->operand_count; i++)
        unite(classes, op->operands[i], region->arguments[first + i - skip]);
}

static void unite_op(Op *op, void *context)
{
    Classes *classes = context;
    if (op_has(op, ELEMENTWISE)) {
        unite_elements(classes, op);
    } else if (op_is_scattered(op)) {
        const Value *value = scattered_value(op);
        for (int i = 0; i < op->operand_count; i++) unite(classes, value, op->operands[i]);
        if (op->code == OP_atomic) unite(classes, value, &op->results[0]);
    } else if (op->code == OP_dot_wait) {
        for (int i = 0; i < op->operand_count; i++)
            unite(classes, op->operands[i], &op->results[i]);
    } else if (is_dot(op)) {
        unite(classes, operand(op, c), &op->results[0]);
    } else if (op->code == OP_for) {
        unite_init(classes, op, op->regions[0], operand_index(op, init), 1);
        unite_end(classes, op, op->regions[0], op->regions[0], 1);
    } else if (op->code == OP_while) {
        unite_init(classes, op, op->regions[0], operand_index(op, init), 0);
        unite_end(classes, op, op->regions[0], op->regions[1], 0);
        unite_end(classes, op, op->regions[1], op->regions[0], 0);
    } else if (op->code == OP_if) {
        unite_end(classes, op, op->regions[0], NULL, 0);
        unite_end(classes, op, op->regions[1], NULL, 0);
    }
}

static void note_rename(Classes *classes, size_t rename, const Value *value)
{
    IndexVec *touching = &classes->touching[class_of(classes, value)];
    vec_push(classes->inference->arena, touching, rename);
}

static void note_renames(Classes *classes)
{
    for (size_t i = 0; i < classes->renames.count; i++) {
        const Op *op = classes->renames.data[i];
        note_rename(classes, i, operand(op, a));
        note_rename(classes, i, &op->results[0]);
    }
}

static bool is_in_shared(const Value *value)
{
    bool is = value->op && value->op->code == OP_shared_load;
    for (const OpUse *use = value->uses; use && !is; use = use->next)
        is = use->op->code == OP_shared_store;
    return is;
}

/* The fewer bits an element has, the more of them an access has. */
static void note_shared(Classes *classes, const Value *value)
{
    const Type **narrowest = &classes->narrowest[class_of(classes, value)];
    if (!is_in_shared(value)) return;
    if (!*narrowest ||
        dtype_memory_bits(value->type->dtype) < dtype_memory_bits((*narrowest)->dtype))
        *narrowest = value->type;
}

/* Of a part of shared memory that begins anywhere in a row, elements come one at a time. Lanes that
 * have several side by side access the same bank then, in turn. */
static void note_part(Classes *classes, const Value *value, const Value *part)
{
    const Op *view = part->op;
    if (!view || view->code != OP_shared_view) return;
    const Type *whole = operand(view, tile)->type;
    const Facts offset =
        facts_of(classes->inference->facts, operand_list(view, offsets)[whole->rank - 1]);
    const int bits = dtype_memory_bits(value->type->dtype);
    int *run = &classes->runs[class_of(classes, value)];
    if (!(op_dims_mask(view) >> (whole->rank - 1) & 1) ||
        offset.multiple % (ACCESS_BYTES * 8 / bits) == 0)
        return;
    *run = bits < REGISTER_BYTES * 8 ? REGISTER_BYTES * 8 / bits : 1;
}

static void note_run(Classes *classes, const Value *value)
{
    if (value->op && value->op->code == OP_shared_load)
        note_part(classes, value, operand(value->op, tile));
    for (const OpUse *use = value->uses; use; use = use->next)
        if (use->op->code == OP_shared_store) note_part(classes, value, operand(use->op, tile));
}

static const Value *accessed_value(const Op *access)
{
    return access->code == OP_load ? &access->results[0] : operand(access, value);
}

static void note_accesses(Classes *classes)
{
    for (size_t i = 0; i < classes->accesses.count; i++) {
        const Op *op = classes->accesses.data[i];
        const int class = class_of(classes, accessed_value(op));
        classes->has_access[class] = true;
        classes->has_load[class] |= op->code == OP_load;
    }
    for (size_t i = 0; i < classes->scattered.count; i++)
        classes->has_access[class_of(classes, scattered_value(classes->scattered.data[i]))] = true;
}

static void classes_init(Classes *classes)
{
    Arena *arena = classes->inference->arena;
    region_visit(classes->inference->region, collect_op, classes);
    classes->parent = arena_new_array(arena, int, classes->values.count + 1);
    classes->layouts = arena_new_array(arena, const Layout *, classes->values.count + 1);
    classes->asked = arena_new_array(arena, const Layout *, classes->values.count + 1);
    classes->apart = arena_new_array(arena, bool, classes->values.count + 1);
    classes->has_load = arena_new_array(arena, bool, classes->values.count + 1);
    classes->has_access = arena_new_array(arena, bool, classes->values.count + 1);
    for (size_t i = 0; i < classes->values.count; i++) classes->parent[i] = (int)i;
    region_visit(classes->inference->region, unite_op, classes);
    note_accesses(classes);
    classes->touching = arena_new_array(arena, IndexVec, classes->values.count + 1);
    note_renames(classes);
    classes->narrowest = arena_new_array(arena, const Type *, classes->values.count + 1);
    for (size_t i = 0; i < classes->values.count; i++)
        note_shared(classes, classes->values.data[i]);
    classes->runs = arena_new_array(arena, int, classes->values.count + 1);
    for (size_t i = 0; i < classes->values.count; i++) note_run(classes, classes->values.data[i]);
}

/* ---- choosing ---- */

void inference_enter(Inference *inference, const Op *op)
{
    inference->warps = group_warps(op_threads(op));
}

static const Layout *known(const Classes *classes, const Value *value)
{
    return classes->layouts[class_of(classes, value)];
}

/* Renames that the class has to do with: those in front of the one whose turn it is come after all
 * that wait now. */
static void await_renames(Classes *classes, int class)
{
    const IndexVec *touching = &classes->touching[class];
    for (size_t i = 0; i < touching->count; i++)
        worklist_add(classes->inference->arena, &classes->worklist, touching->data[i]);
}

static void choose(Classes *classes, const Value *value, const Layout *layout)
{
    const int class = class_of(classes, value);
    if (classes->layouts[class]) return;
    classes->layouts[class] = layout;
    await_renames(classes, class);
}

static void spread_through(Classes *classes, const Op *op)
{
    const Value *operand = operand(op, a), *result = &op->results[0];
    const Layout *above = known(classes, operand), *below = known(classes, result);
    if (!above == !below || classes->apart[class_of(classes, above ? result : operand)]) return;
    inference_enter(classes->inference, op);
    const Layout *derived = above ? derive_result(classes->inference, op, above)
                                  : derive_operand(classes->inference, op, below);
    if (derived) choose(classes, above ? result : operand, derived);
}

/* In the order of the text, again and again, until nothing is left to spread. */
static void spread(Classes *classes)
{
    for (size_t rename; worklist_take(&classes->worklist, &rename);)
        spread_through(classes, classes->renames.data[rename]);
}

static void choose_accumulator(Classes *classes, const Op *dot)
{
    inference_enter(classes->inference, dot);
    choose(classes, &dot->results[0], propose_dot(classes->inference, dot, NULL).c);
}

/* Those of wgmma first: its sums may be in flight where they are carried on, and cannot be
 * converted there. */
static void choose_accumulators(Classes *classes)
{
    for (int others = 0; others < 2; others++)
        for (size_t i = 0; i < classes->dots.count; i++)
            if ((classes->dots.data[i]->code != OP_dot_shared) == others)
                choose_accumulator(classes, classes->dots.data[i]);
    spread(classes);
}

/* What the author asks for, unless a dot's accumulator has to lie otherwise. */
static void choose_anchors(Classes *classes)
{
    for (size_t i = 0; i < classes->anchors.count; i++) {
        Op *op = classes->anchors.data[i];
        inference_enter(classes->inference, op);
        const Layout *layout = anchor_layout(classes->inference, op);
        if (layout) choose(classes, operand(op, tile), layout);
        op_erase(op);
    }
    spread(classes);
}

/* Each element of the fragment would be loaded by itself, as what lies next to each other in memory
 * does not there, and by each warp that needs it: there are several. */
static bool is_loaded_across(const Classes *classes, const Op *dot, int side,
                             const Layout *fragment)
{
    const Value *value = side ? operand(dot, b) : operand(dot, a);
    const int64_t held = (int64_t)layout_registers(fragment) * op_threads(dot).count;
    bool along = side == 0; /* k, of which a register has two or more */
    if (held <= type_elements(value->type)) return false;
    for (; value->op && op_swaps(value->op); value = operand(value->op, a)) along = !along;
    return !along && value->type->kind == TYPE_TILE && classes->has_load[class_of(classes, value)];
}

/* Operands that come from nowhere or from shared memory take the fragment's layout; those loaded
 * from global memory are loaded as memory likes it best, and converted. */
static void choose_dot_operands(Classes *classes)
{
    for (size_t i = 0; i < classes->dots.count; i++) {
        const Op *dot = classes->dots.data[i];
        inference_enter(classes->inference, dot);
        const DotLayouts layouts =
            propose_dot(classes->inference, dot, known(classes, &dot->results[0]));
        const Value *const sides[2] = {operand(dot, a), operand(dot, b)};
        const Layout *wanted[2] = {layouts.a, layouts.b};
        for (int o = 0; o < 2; o++)
            if (sides[o]->type->kind == TYPE_TILE &&
                !classes->has_load[class_of(classes, sides[o])] &&
                !is_loaded_across(classes, dot, o, wanted[o]))
                choose(classes, sides[o], wanted[o]);
    }
    spread(classes);
}

typedef struct WeighedAccess {
    size_t index; /* in the text */
    int64_t weight, elements;
    Op *op; /* NULL: weighed for something else */
} WeighedAccess;

enum { OF_LOAD = 2, OF_SUMS = 4 }; /* as much as so many stores */

/* Loads before stores, large before small: what is large costs most to convert. */
static int64_t access_weight(const Op *op)
{
    return type_elements(accessed_value(op)->type) * (op->code == OP_load ? OF_LOAD : 1);
}

static int loops_around(const Op *op)
{
    int count = 0;
    for (; op; op = op->parent ? op->parent->parent : NULL) count += op_has(op, LOOP);
    return count;
}

/* Of what is loaded. */
static int deepest_load(const Classes *classes)
{
    int deepest = 0;
    for (size_t i = 0; i < classes->accesses.count; i++) {
        const Op *op = classes->accesses.data[i];
        const int depth = op->code == OP_load ? loops_around(op) : 0;
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}

/* Sums that are added in memory, as often as anything is loaded, before all else, as each part of a
 * sector is one more of what L2 does one after the other; gathers of neighbours as loads, and of
 * single elements, which have little to lose, as stores. */
static int64_t scattered_weight(const Classes *classes, Op *op, int deepest)
{
    const Inference *inference = classes->inference;
    const Type *tile = scattered_value(op)->type;
    if (op->code == OP_atomic && atomic_sums(inference->target, op) && loops_around(op) >= deepest)
        return type_elements(tile) * OF_SUMS;
    const int limit = elements_each(inference, tile);
    const bool is_wide = op->code == OP_gather &&
                         scattered_vector(inference->facts, inference->target, op, limit) > 1;
    return type_elements(tile) * (is_wide ? OF_LOAD : 1);
}

static int by_weight(const void *a, const void *b)
{
    const WeighedAccess *x = a, *y = b;
    if (x->weight != y->weight) return x->weight > y->weight ? -1 : 1;
    if (x->elements != y->elements) return x->elements > y->elements ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* A loop of products loads numbers of rows ahead, and has barriers anyhow: they go through shared
 * memory, which takes fewer registers than each thread's own copies of them. */
static bool is_beside_products(const Op *op)
{
    const Op *loop = op_enclosing(op, OP_for);
    return loop && region_has_with(loop->regions[0], DOT);
}

static size_t weigh_accesses(const Classes *classes, WeighedAccess *weighed)
{
    const int deepest = deepest_load(classes);
    size_t count = 0;
    for (size_t i = 0; i < classes->accesses.count; i++) {
        Op *op = classes->accesses.data[i];
        weighed[count] =
            (WeighedAccess){count, access_weight(op), type_elements(accessed_value(op)->type), op};
        count++;
    }
    for (size_t i = 0; i < classes->scattered.count; i++) {
        Op *op = classes->scattered.data[i];
        if (operand(op, memory)->type->kind != TYPE_VIEW || is_beside_products(op)) continue;
        inference_enter(classes->inference, op);
        weighed[count] = (WeighedAccess){count, scattered_weight(classes, op, deepest),
                                         type_elements(scattered_value(op)->type), op};
        count++;
    }
    qsort(weighed, count, sizeof *weighed, by_weight);
    return count;
}

/* ---- tiles that are loaded for a larger one, or stored of it ---- */

/* Classes that are the same tile in other shapes, and the rename by which each was found. */
enum { SHAPES = 16 };
typedef struct Shapes {
    int class[SHAPES], from[SHAPES], count;
    const Op *rename[SHAPES];
} Shapes;

static void note_shape(Shapes *shapes, int class, int from, const Op *rename)
{
    for (int i = 0; i < shapes->count; i++)
        if (shapes->class[i] == class) return;
    if (shapes->count == SHAPES) return;
    shapes->class[shapes->count] = class;
    shapes->from[shapes->count] = from;
    shapes->rename[shapes->count++] = rename;
}

static Shapes shapes_of(const Classes *classes, int class)
{
    Shapes shapes = {.class = {class}, .count = 1};
    for (int i = 0; i < shapes.count; i++) {
        const IndexVec *touching = &classes->touching[shapes.class[i]];
        for (size_t k = 0; k < touching->count; k++) {
            const Op *op = classes->renames.data[touching->data[k]];
            if (op->code != OP_reshape && op->code != OP_transpose) continue;
            note_shape(&shapes, class_of(classes, operand(op, a)), i, op);
            note_shape(&shapes, class_of(classes, op->results), i, op);
        }
    }
    return shapes;
}

/* The larger tile that the class is broadcast to, or a reduction of; NULL: the rename makes neither
 * of it. */
static const Value *larger_side(const Classes *classes, const Op *rename, int class)
{
    if (rename->code == OP_broadcast && class_of(classes, operand(rename, a)) == class)
        return rename->results;
    if (rename->code == OP_reduce && class_of(classes, rename->results) == class)
        return operand(rename, a);
    return NULL;
}

/* The largest tile that one of the shapes is broadcast to, or is a reduction of. */
static const Value *largest_around(const Classes *classes, const Shapes *shapes, int *at,
                                   const Op **through)
{
    const Value *largest = NULL;
    for (int i = 0; i < shapes->count; i++) {
        const IndexVec *touching = &classes->touching[shapes->class[i]];
        for (size_t k = 0; k < touching->count; k++) {
            const Op *rename = classes->renames.data[touching->data[k]];
            const Value *larger = larger_side(classes, rename, shapes->class[i]);
            if (!larger || (largest && type_elements(larger->type) <= type_elements(largest->type)))
                continue;
            largest = larger;
            *at = i;
            *through = rename;
        }
    }
    return largest;
}

/* Across the rename to a class on one of its sides. */
static const Layout *across(const Classes *classes, const Op *rename, int to, const Layout *layout)
{
    if (!layout) return NULL;
    inference_enter(classes->inference, rename);
    return class_of(classes, rename->results) == to
               ? derive_result(classes->inference, rename, layout)
               : derive_operand(classes->inference, rename, layout);
}

/* Accesses of a thread where the tile has the layout. */
static int count_accesses(const Classes *classes, Op *op, const Layout *layout)
{
    const Access access = access_of(op);
    const int dim = access_contiguous(&access);
    if (dim < 0) return layout_registers(layout);
    const int run = layout_register_run(layout, access.tile_dim[dim]);
    return layout_registers(layout) / access_vector(classes->inference->facts, &access, dim, run);
}

/* Memory has nothing to say about it, nor about another shape of it. */
static bool is_apart_from_memory(const Classes *classes, const Value *value)
{
    const Shapes shapes = shapes_of(classes, class_of(classes, value));
    for (int i = 0; i < shapes.count; i++)
        if (classes->has_access[shapes.class[i]] || classes->layouts[shapes.class[i]]) return false;
    return true;
}

static const Layout *default_of(const Classes *classes, const Value *value)
{
    const int class = class_of(classes, value);
    const Type *narrowest = classes->narrowest[class];
    inference_enter(classes->inference, value->op ? value->op : value->region->first);
    return propose_shared(classes->inference, narrowest ? narrowest : value->type,
                          classes->runs[class]);
}

/* Of sums of it every warp would have to be told all, where they could have shares of them. */
static bool is_told_to_warps(const Classes *classes, const Value *value, const Layout *layout)
{
    const int class = class_of(classes, value);
    const IndexVec *touching = &classes->touching[class];
    for (size_t i = 0; i < touching->count; i++) {
        const Op *op = classes->renames.data[touching->data[i]];
        if (op->code == OP_reduce && class_of(classes, operand(op, a)) == class &&
            reduces_across_warps(op, layout))
            return true;
    }
    return false;
}

/* What memory has nothing to say about is laid out before what is loaded for it, or stored of it,
 * where threads then have that as they need it by few accesses: it is not exchanged by way of
 * shared memory. */
static void choose_larger(Classes *classes, Op *op)
{
    const int class = class_of(classes, accessed_value(op));
    const Shapes shapes = shapes_of(classes, class);
    const Op *through = NULL;
    int at = 0;
    const Value *larger = largest_around(classes, &shapes, &at, &through);
    if (!larger || !is_apart_from_memory(classes, larger)) return;
    const Layout *layout = default_of(classes, larger),
                 *own = across(classes, through, shapes.class[at], layout);
    if (is_told_to_warps(classes, larger, layout)) return;
    for (; at > 0; at = shapes.from[at])
        own = across(classes, shapes.rename[at], shapes.class[shapes.from[at]], own);
    if (!own || count_accesses(classes, op, own) > COST_FOLLOWING_ACCESSES) return;
    choose(classes, larger, layout);
    spread(classes);
}

/* How often an op is done, as good as the text tells. */
static int64_t weight_of_loops(const Op *op)
{
    const int loops = loops_around(op);
    return INT64_C(1) << (2 * (loops < 8 ? loops : 8));
}

/* Of L1, what so many accesses of a thread take that find the elements of a warp's lanes so many
 * bytes from each other: each asks for all lines that these are in. */
static int64_t line_cycles(const Op *op, int64_t count, int64_t bytes)
{
    enum { ISSUED = 1, OF_LINE = 2 };
    const int64_t lines = lesser_of(bytes * WARP_SIZE / CACHE_LINE_BYTES, WARP_SIZE);
    return weight_of_loops(op) * count * (OF_LINE * (lines > 1 ? lines : 1) + ISSUED);
}

/* What the accesses of a class that are like this one take where a thread has `run` elements side
 * by side: one of fewer elements than the run asks for lines that others ask for, too. */
static int64_t access_cycles(const Classes *classes, const Access *like, int dim, int run)
{
    FactTable *facts = classes->inference->facts;
    const int64_t bytes = dtype_memory_bytes(like->tile->dtype, run);
    const int class = class_of(classes, accessed_value(like->op));
    int64_t cycles = 0;
    for (size_t i = 0; i < classes->accesses.count; i++) {
        Op *op = classes->accesses.data[i];
        if (class_of(classes, accessed_value(op)) != class) continue;
        const Access access = access_of(op);
        const int own = access_contiguous(&access);
        if (own < 0 || access.tile_dim[own] != dim ||
            dtype_memory_bits(access.tile->dtype) != dtype_memory_bits(like->tile->dtype))
            continue;
        const int vector = access_vector(facts, &access, own, run);
        const int64_t each = elements_each(classes->inference, access.tile);
        cycles += line_cycles(op, (each + vector - 1) / vector, bytes);
    }
    return cycles;
}

/* The same of what is gathered, or put, a fixed way off from the neighbour's along the last
 * dimension. */
static int64_t scattered_cycles(const Classes *classes, int class, int run)
{
    const Inference *inference = classes->inference;
    int64_t cycles = 0;
    for (size_t i = 0; i < classes->scattered.count; i++) {
        Op *op = classes->scattered.data[i];
        const Type *tile = scattered_value(op)->type;
        if (class_of(classes, scattered_value(op)) != class || op->code == OP_atomic ||
            operand(op, memory)->type->kind != TYPE_VIEW)
            continue;
        const int64_t step = scattered_step(inference->facts, op);
        const int vector = scattered_vector(inference->facts, inference->target, op, run);
        const int64_t each = elements_each(inference, tile);
        if (step)
            cycles += line_cycles(op, (each + vector - 1) / vector,
                                  dtype_memory_bytes(tile->dtype, run) * step);
    }
    return cycles;
}

static int64_t run_cycles(const Classes *classes, Op *op, int run)
{
    if (op_is_scattered(op))
        return scattered_cycles(classes, class_of(classes, scattered_value(op)), run);
    const Access access = access_of(op);
    const int dim = access.tile_dim[access_contiguous(&access)];
    const int64_t cycles = access_cycles(classes, &access, dim, run);
    return dim != access.tile->rank - 1
               ? cycles
               : cycles + scattered_cycles(classes, class_of(classes, accessed_value(op)), run);
}

static int longest_run(const Classes *classes, Op *op, int most)
{
    const Inference *inference = classes->inference;
    if (op_is_scattered(op)) {
        const int limit = run_limit(inference, scattered_value(op)->type, most);
        return op->code == OP_atomic
                   ? 1
                   : scattered_vector(inference->facts, inference->target, op, limit);
    }
    const Access access = access_of(op);
    const int dim = access_contiguous(&access), limit = run_limit(inference, access.tile, most);
    return dim < 0 ? 1 : access_vector(inference->facts, &access, dim, limit);
}

/* Elements side by side of a thread that its class's accesses take the least time with, if they
 * are not all like this one; no more than this one may have. */
static int best_run(const Classes *classes, Op *op, int most)
{
    int best = longest_run(classes, op, most);
    if (best == 1) return op->code == OP_atomic ? most : best;
    int64_t least = run_cycles(classes, op, best) * COST_NARROWER_PERCENT / 100;
    for (int run = best / 2; run > 0; run /= 2) {
        const int64_t cycles = run_cycles(classes, op, run);
        if (cycles >= least) continue;
        least = cycles;
        best = run;
    }
    return best;
}

/* How often an op is done for each time that the access is. */
static int64_t times_within(const Op *op, const Op *access)
{
    enum { OFTEN = 4 /* of a loop that may be of any length */, MOST = 1 << 20 };
    int64_t times = 1;
    for (const Op *loop = op_enclosing(op, OP_for); loop && times < MOST;
         loop = op_enclosing(loop, OP_for)) {
        if (region_holds(loop->regions[0], access->parent)) break;
        const int64_t trips = loop_trips(loop);
        times *= trips ? trips : OFTEN;
    }
    return lesser_of(times, MOST);
}

/* What lanes tell each other in the reductions that are made oftener than the access. */
static int64_t exchange_cycles(const Classes *classes, const Op *access, const Layout *layout)
{
    const int class = class_of(classes, accessed_value(access));
    int64_t cycles = 0;
    for (size_t i = 0; i < classes->values.count; i++) {
        const Value *value = classes->values.data[i];
        if (class_of(classes, value) != class) continue;
        for (const OpUse *use = value->uses; use; use = use->next) {
            const int64_t times = use->op->code == OP_reduce ? times_within(use->op, access) : 1;
            if (times > 1) cycles += times * exchanged_cycles(classes->inference, use->op, layout);
        }
    }
    return weight_of_loops(access) * cycles;
}

/* Where a loop makes sums of a tile that is loaded before it, threads have longer runs than an
 * access moves at once, up to whole lines, if what accesses take longer for that is less than what
 * lanes then need not tell each other. */
static const Layout *propose_runs(const Classes *classes, Op *op, const Layout *proposed)
{
    const Inference *inference = classes->inference;
    const Access access = access_of(op);
    const int dim = access_contiguous(&access);
    const int64_t exchanged = exchange_cycles(classes, op, proposed);
    if (dim < 0 || !exchanged) return proposed;
    const int along = access.tile_dim[dim], first = layout_register_run(proposed, along);
    const Layout *best = proposed;
    int64_t least = (run_cycles(classes, op, first) + exchanged) * COST_NARROWER_PERCENT / 100;
    for (int run = 2 * first;
         run <= elements_each(inference, access.tile) && access.tile->shape[along] % run == 0;
         run *= 2) {
        const Layout *layout = propose_run(inference, op, run);
        const int64_t cycles = run_cycles(classes, op, run) + exchange_cycles(classes, op, layout);
        if (cycles >= least) continue;
        least = cycles;
        best = layout;
    }
    return best;
}

/* Neighbours go to neighbouring threads, so that a warp touches as little memory as may be. */
static void choose_access(Classes *classes, Op *op)
{
    Inference *inference = classes->inference;
    const bool is_scattered = op_is_scattered(op);
    const Value *value = is_scattered ? scattered_value(op) : accessed_value(op);
    if (!is_scattered && !known(classes, value)) choose_larger(classes, op);
    if (known(classes, value)) return;
    inference_enter(inference, op);
    const int most = best_run(classes, op, classes->runs[class_of(classes, value)]);
    choose(classes, value,
           is_scattered ? propose_scattered(inference, op, most)
                        : propose_runs(classes, op, propose_access(inference, op, most)));
    spread(classes);
}

static void choose_accesses(Classes *classes)
{
    WeighedAccess *weighed =
        arena_new_array(classes->inference->arena, WeighedAccess,
                        classes->accesses.count + classes->scattered.count + 1);
    const size_t count = weigh_accesses(classes, weighed);
    for (size_t i = 0; i < count; i++) choose_access(classes, weighed[i].op);
}

/* iota == index along a dimension, as a choice of where in a tile a value goes: the index; NULL: it
 * is none. */
static const Value *chosen_index(const Value *value, int *dim)
{
    const Op *op = value->op;
    return op && op->code == OP_select ? value_chosen_index(operand(op, condition), dim) : NULL;
}

/* How many choices there are: of a loop's index one an iteration, or such an unrolled loop's one
 * after the other. */
static int64_t count_choices(const Value *value, int dim, int64_t most)
{
    int64_t number, count = 0;
    for (int other = dim; count < most; value = operand(value->op, b)) {
        const Value *index = chosen_index(value, &other);
        if (!index || other != dim) break;
        const Op *loop = index->region ? index->region->parent : NULL;
        if (loop) return loop->code == OP_for && index->index == 0 ? loop_trips(loop) : 0;
        if (!value_constant(index, &number)) return 0;
        count++;
    }
    return count;
}

/* The dimension along which a value is put in a tile; -1: there is none, or a conversion behind all
 * of it is more work. */
static int chosen_dim(const Classes *classes, const Value *value)
{
    int dim;
    if (!chosen_index(value, &dim)) return -1;
    inference_enter(classes->inference, value->op);
    const int64_t each = elements_each(classes->inference, value->type);
    return each > 1 && count_choices(value, dim, each) >= each ? dim : -1;
}

/* Registers of a thread along that dimension: an iteration chooses between those of one row. */
static void choose_chosen(Classes *classes)
{
    for (size_t i = 0; i < classes->values.count; i++) {
        const Value *value = classes->values.data[i];
        const int dim = known(classes, value) ? -1 : chosen_dim(classes, value);
        if (dim < 0) continue;
        choose(classes, value, propose_along(classes->inference, value->type, dim));
        spread(classes);
    }
}

/* Those that are left. */
static void choose_scattered(Classes *classes)
{
    for (size_t i = 0; i < classes->scattered.count; i++)
        choose_access(classes, classes->scattered.data[i]);
}

static void choose_default(Classes *classes, const Value *value)
{
    if (known(classes, value)) return;
    choose(classes, value, default_of(classes, value));
    spread(classes);
}

/* What shared memory is read or written by, the most bytes first: what is narrower on the way there
 * follows it. */
static void choose_shared(Classes *classes)
{
    WeighedAccess *weighed =
        arena_new_array(classes->inference->arena, WeighedAccess, classes->values.count + 1);
    size_t count = 0;
    for (size_t i = 0; i < classes->values.count; i++) {
        const Type *narrowest = classes->narrowest[class_of(classes, classes->values.data[i])];
        if (narrowest) weighed[count++] = (WeighedAccess){i, type_bytes(narrowest), 0, NULL};
    }
    qsort(weighed, count, sizeof *weighed, by_weight);
    for (size_t i = 0; i < count; i++)
        choose_default(classes, classes->values.data[weighed[i].index]);
}

static void choose_rest(Classes *classes)
{
    for (size_t i = 0; i < classes->values.count; i++)
        choose_default(classes, classes->values.data[i]);
}

static void choose_others(Classes *classes)
{
    choose_dot_operands(classes);
    choose_chosen(classes);
    choose_accesses(classes);
    choose_scattered(classes);
    choose_shared(classes);
    choose_rest(classes);
}

/* ---- fewer registers ---- */

static int64_t registers_of(const Layout *layout, DType dtype)
{
    const int64_t bits = (int64_t)layout_registers(layout) * dtype_bits(dtype);
    return (bits + REGISTER_BYTES * 8 - 1) / (REGISTER_BYTES * 8);
}

static int64_t registers_of_tile(const Value *tile, const void *context)
{
    return registers_of(known(context, tile), tile->type->dtype);
}

static int64_t registers_alive(const Classes *classes)
{
    return tiles_alive(classes->inference->region, registers_of_tile, classes);
}

/* Several threads hold each element, and each of them holds more for that than its share. */
static bool is_held_often(const Classes *classes, const Value *value)
{
    const int class = class_of(classes, value);
    const Layout *layout = classes->layouts[class];
    if (classes->asked[class]) return false;
    inference_enter(classes->inference, value->op ? value->op : value->region->first);
    const int warps = classes->inference->warps;
    const int64_t share = type_elements(value->type) / (warps > 0 ? WARP_SIZE * warps : 1);
    return layout_registers(layout) > (share > 1 ? share : 1);
}

static void copy_layouts(const Classes *classes, const Layout **from, const Layout **to)
{
    for (size_t i = 0; i < classes->values.count; i++) to[i] = from[i];
}

static void start_again(Classes *classes, const Layout **layouts)
{
    copy_layouts(classes, layouts, classes->layouts);
    for (size_t i = 0; i < classes->values.count; i++)
        if (classes->layouts[i]) await_renames(classes, (int)i);
    spread(classes);
}

/* A tile that is broadcast to a larger one, or is sums of it, has the larger one's layout, by which
 * many threads may hold each element. Of a few that costs less than to convert them; but where a
 * loop carries many, so that a thread has not the registers, each has its own share of those. */
static void limit_replicas(Classes *classes)
{
    const int most = classes->inference->target->registers_per_thread;
    const int64_t before = registers_alive(classes);
    bool any = false;
    if (before <= most) return;
    for (size_t i = 0; i < classes->values.count; i++)
        if (is_held_often(classes, classes->values.data[i]))
            any = classes->apart[class_of(classes, classes->values.data[i])] = true;
    if (!any) return;
    const Layout **layouts =
        arena_new_array(classes->inference->arena, const Layout *, classes->values.count + 1);
    copy_layouts(classes, classes->layouts, layouts);
    start_again(classes, classes->asked);
    choose_others(classes);
    if (registers_alive(classes) >= before) copy_layouts(classes, layouts, classes->layouts);
}

static void set_layouts(Classes *classes)
{
    for (size_t i = 0; i < classes->values.count; i++) {
        Value *value = classes->values.data[i];
        value->type =
            type_with_layout(classes->inference->kernel->types, value->type, known(classes, value));
    }
    for (size_t i = 0; i < classes->values.count; i++) classes->values.data[i]->scratch = NULL;
}

/* ---- shared tiles of the author ---- */

/* A part that does not lie as a tile of its own has a layout all the same; it is not looked at. */
static void lay_out_part(Inference *inference, Op *op)
{
    Value *part = &op->results[0];
    LayoutTable *table = inference->kernel->layouts;
    const Op *above = operand(op, tile)->op;
    const bool apart = above->code == OP_shared_view && !op_int(above, ATTR_aligned, 0);
    const Layout *layout =
        apart ? NULL
              : shared_part_layout(table, inference->facts, op, operand(op, tile)->type->layout);
    if (layout) op_set_int(op, ATTR_aligned, 1);
    int32_t shape[LAYOUT_RANK];
    int dim_order[LAYOUT_RANK];
    for (int d = 0; d < part->type->rank; d++) {
        shape[d] = (int32_t)part->type->shape[d];
        dim_order[d] = part->type->rank - 1 - d;
    }
    if (!layout) layout = layout_row_major(table, part->type->rank, shape, dim_order);
    part->type = type_with_layout(inference->kernel->types, part->type, layout);
}

/* Of stages, for one: whichever is used, it is one along the first dimension. */
static bool is_used_by_slices(const Value *tile)
{
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op->code != OP_shared_view || op_dims_mask(use->op) & 1) return false;
    return tile->type->rank > 1 && tile->uses;
}

static bool is_accessed(const Value *part)
{
    for (const OpUse *use = part->uses; use; use = use->next)
        if (use->op->code == OP_shared_load || use->op->code == OP_shared_store) return true;
    return false;
}

/* Of a part that threads load or store the last dimension is another one of the tile's: of one of
 * so many dimensions, or more. */
static bool is_used_by_columns(const Value *tile, int rank)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        if (use->op->code != OP_shared_view) continue;
        const Attr *dims = op_attr(use->op, ATTR_dims);
        if (dims->count >= rank && dims->integers[dims->count - 1] != tile->type->rank - 1 &&
            is_accessed(use->op->results))
            return true;
    }
    return false;
}

/* The elements of a column of plain rows are in a few banks. */
static bool rows_meet_banks(const Type *type)
{
    enum { APART = 8 };
    const int64_t bytes = dtype_memory_bytes(type->dtype, type->shape[type->rank - 1]);
    return bytes % APART == 0;
}

/* Parts of it begin where no block of the layout does: their elements' addresses are computed one
 * by one, which a swizzle makes long. */
static bool has_shifted_parts(const Inference *inference, const Value *tile, const Layout *layout)
{
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op->code == OP_shared_view &&
            !shared_part_layout(inference->kernel->layouts, inference->facts, use->op, layout))
            return true;
    return false;
}

static const Layout *plain_shared(const Inference *inference, const Value *tile)
{
    const Type *type = tile->type;
    LayoutTable *table = inference->kernel->layouts;
    const int bits = dtype_memory_bits(type->dtype);
    int32_t shape[LAYOUT_RANK];
    int dim_order[LAYOUT_RANK];
    for (int d = 0; d < type->rank; d++) {
        shape[d] = (int32_t)type->shape[d];
        dim_order[d] = type->rank - 1 - d;
    }
    if (is_used_by_slices(tile))
        return layout_swizzled_slices(table, type->rank, shape, dim_order, bits);
    if (region_has_with(inference->region, DOT))
        return layout_swizzled(table, type->rank, shape, dim_order, bits);
    const Layout *layout = is_used_by_columns(tile, 2)
                               ? layout_swizzled_columns(table, type->rank, shape, dim_order, bits)
                               : layout_swizzled(table, type->rank, shape, dim_order, bits);
    const bool may_be_rows = !is_used_by_columns(tile, 1) || !rows_meet_banks(type);
    return may_be_rows && has_shifted_parts(inference, tile, layout)
               ? layout_rows(table, type->rank, shape, dim_order)
               : layout;
}

void lay_out_shared(Op *op, void *context)
{
    Inference *inference = context;
    if (op->code == OP_shared_peer) op->results[0].type = operand(op, tile)->type;
    if (op->code == OP_shared_view) lay_out_part(inference, op);
    if (op->code == OP_shared_reshape) lay_out_reshaped(inference, op);
    if (op->code != OP_shared_alloc) return;
    Value *tile = &op->results[0];
    if (!tile->type->layout)
        tile->type =
            type_with_layout(inference->kernel->types, tile->type, plain_shared(inference, tile));
    op_set_int(op, ATTR_bytes, type_bytes(tile->type));
}

/* ---- the pass ---- */

typedef struct Taken {
    int64_t bytes;
    bool mbarriers;
} Taken;

static void find_taken(Op *op, void *context)
{
    Taken *taken = context;
    taken->mbarriers |= op->code == OP_mbarrier_init;
    if (op->code == OP_shared_alloc)
        taken->bytes += (op_int(op, ATTR_bytes, 0) + SWIZZLE_ATOM_BYTES - 1) / SWIZZLE_ATOM_BYTES *
                        SWIZZLE_ATOM_BYTES;
}

static int64_t room_of(const Inference *inference)
{
    Taken taken = {0};
    if (!kernel_had(inference->kernel, OP_mbarrier_init)) return INT64_MAX;
    region_visit(inference->region, find_taken, &taken);
    return taken.mbarriers ? inference->target->shared_bytes - taken.bytes : INT64_MAX;
}

static void limit_value(Inference *inference, const Value *value)
{
    const int registers = layout_registers(value->type->layout);
    if (registers <= LAYOUT_REGISTERS || inference->failed) return;
    const Op *op = value->op ? value->op : value->region->parent;
    diag_report(inference->kernel->session->diags, DIAG_thread_elements, op->span, registers,
                LAYOUT_REGISTERS);
    inference->failed = true;
}

static void limit_registers(const Classes *classes)
{
    for (size_t i = 0; i < classes->values.count; i++)
        limit_value(classes->inference, classes->values.data[i]);
}

/* How much there is to compile for an element, measured in time: an access has an address, a check
 * and a wait of its own, and a number that is the same everywhere is none of an element's. */
static int work_of_element(const Op *op)
{
    enum { OF_ACCESS = 5 };
    if (op_has(op, REMAT)) return 0;
    return op_has(op, READS) || op_has(op, WRITES) ? OF_ACCESS : 1;
}

/* What an op does, a thread does for each element that it has of the largest tile there. Work of
 * MOST takes a few seconds to compile, besides what ptxas takes. */
static void limit_work(Inference *inference, const Op *op)
{
    enum { MOST = 75000 };
    int most = 0;
    for (int i = 0; i < op->result_count + op->operand_count; i++) {
        const Value *value =
            i < op->result_count ? &op->results[i] : op->operands[i - op->result_count];
        const int registers =
            value->type->kind == TYPE_TILE ? layout_registers(value->type->layout) : 0;
        if (registers > most) most = registers;
    }
    inference->work += (int64_t)most * work_of_element(op);
    if (inference->work <= MOST || inference->failed) return;
    diag_report(inference->kernel->session->diags, DIAG_thread_work, op->span, MOST);
    inference->failed = true;
}

/* What a product reads in registers has all of k in each thread. */
static void limit_converted(Op *op, void *context)
{
    for (int i = 0; i < op->result_count; i++)
        if (op->results[i].type->kind == TYPE_TILE) limit_value(context, &op->results[i]);
    limit_work(context, op);
}

static void lay_out(Inference *inference)
{
    if (kernel_had_any(inference->kernel, REMAT)) {
        region_visit(inference->region, copy_sources, inference);
        region_visit(inference->region, drop_originals, inference);
    }
    region_visit_those(inference->region, OP_anchor, anchor_shared, inference);
    region_visit_those(inference->region, OP_shared_reshape, prepare_reshaped, inference);
    const bool has_marks = kernel_had(inference->kernel, OP_mbarrier_arrive_on_copies),
               has_stores = kernel_had(inference->kernel, OP_tma_store);
    if (has_marks || has_stores) region_visit(inference->region, lay_out_for_copies, inference);
    region_visit_with(inference->region, ALLOCATES | ALIAS, lay_out_shared, inference);
    if (has_marks || kernel_had_any(inference->kernel, TMA))
        region_visit(inference->region, copy_for_mbarriers, inference);
    Classes classes = {.inference = inference};
    classes_init(&classes);
    choose_accumulators(&classes);
    choose_anchors(&classes);
    copy_layouts(&classes, classes.layouts, classes.asked);
    choose_others(&classes);
    limit_replicas(&classes);
    set_layouts(&classes);
    limit_registers(&classes);
    if (inference->failed) return;
    inference->room = room_of(inference);
    carry_partial_sums(inference);
    insert_converts(inference);
    expand_converts(inference);
    region_visit(inference->region, limit_converted, inference);
}

static bool lay_out_launch(Kernel *kernel, Op *launch, PassContext *context)
{
    Inference inference = {.kernel = kernel,
                           .region = launch_region(launch),
                           .target = context->target,
                           .warps = launch_warps(launch)};
    inference.arena = arena_new();
    inference.facts = analysis_ranges(context);
    lay_out(&inference);
    arena_free(inference.arena);
    return !inference.failed;
}

bool pass_infer_layout(Kernel *kernel, PassContext *context)
{
    bool fine = true;
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) fine &= lay_out_launch(kernel, op, context);
    kernel->stage = STAGE_LAID_OUT;
    return fine;
}
