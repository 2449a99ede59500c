/* retile.c: the tiles of a launch that is one sum of products, which has them of the program.
 *
 * Of c = a @ b with tiles of m x n and steps of k the gradient of a has tiles of m x k and steps of
 * n: where n is the longest that is a long way at each step, and little to keep. So the shorter
 * side of the result and the step change their lengths, if the step's is longer. What is computed
 * is the same: tiles that grow end where those before did.
 *
 * Small tiles, of blocks that do little else than wait, grow along all three. */
#include "passes/grad/retile.h"

#include "passes/analysis/ranges.h"
#include "passes/grad/coordinates.h"
#include "target/cost.h"

/* What counts tiles: a block's index, or the variable of a loop from 0 on. */
typedef struct Axis {
    Value *index;
    Op *loop;       /* or NULL: a dimension of the grid */
    int dim;        /* that one */
    int64_t length; /* of its tiles; 0: none was met */
    int64_t fresh;  /* what it becomes */
    bool is_fixed;  /* it counts something else, too */
} Axis;

/* A dimension of a tile, of all tiles that are as long there. */
typedef struct Side {
    struct Side *same; /* or itself */
    Axis *axis;
    bool is_fixed;
} Side;

typedef struct Tiling {
    Grad *grad;
    Op *launch;
    VEC(Axis *) axes;
    Map sides; /* tile -> its Side array */
    Op *dot;   /* the only one */
    int dots;
} Tiling;

/* ---- axes ---- */

static bool is_offset_of(const Op *op, const Value *offset)
{
    if (op->code != OP_load && op->code != OP_store) return false;
    const int first = operand_index(op, offsets);
    for (int i = 0; i < first; i++)
        if (op->operands[i] == offset) return false;
    return true;
}

static void set_length(Axis *axis, int64_t length)
{
    axis->is_fixed |= length <= 0 || (axis->length && axis->length != length);
    axis->length = length;
}

/* All that is made of an index is offsets of tiles, side by side. */
static void look_at_uses(Axis *axis, const Value *value, bool is_offset)
{
    for (const OpUse *use = value->uses; use && !axis->is_fixed; use = use->next) {
        Op *op = use->op;
        int64_t length;
        if (op->code == OP_cast && dtype_is_integer(op->results->type->dtype)) {
            look_at_uses(axis, op->results, is_offset);
        } else if (!is_offset && op->code == OP_mul && value_constant(operand(op, b), &length)) {
            set_length(axis, length);
            look_at_uses(axis, op->results, true);
        } else if (!is_offset || !is_offset_of(op, value)) {
            axis->is_fixed = true;
        }
    }
}

static Axis *add_axis(Tiling *tiling, Value *index)
{
    Axis *axis = arena_new_of(tiling->grad->arena, Axis);
    *axis = (Axis){.index = index};
    vec_push(tiling->grad->arena, &tiling->axes, axis);
    return axis;
}

static void add_loop(Tiling *tiling, Op *loop)
{
    int64_t begin, step;
    Axis *axis = add_axis(tiling, loop->regions[0]->arguments[0]);
    axis->loop = loop;
    if (!value_constant(operand(loop, begin), &begin) || begin != 0 ||
        !value_constant(operand(loop, step), &step))
        axis->is_fixed = true;
    else if (step != 1)
        set_length(axis, step);
    look_at_uses(axis, axis->index, axis->length != 0);
}

static void find_axis(Op *op, void *context)
{
    Tiling *tiling = context;
    if (op->code == OP_for) add_loop(tiling, op);
    if (op->code != OP_block_idx) return;
    Axis *axis = add_axis(tiling, op->results);
    axis->dim = (int)op_int(op, ATTR_dim, 0);
    look_at_uses(axis, axis->index, false);
}

static const Value *without_casts(const Value *value)
{
    while (value->op && value->op->code == OP_cast) value = operand(value->op, a);
    return value;
}

/* The axis along which the offset moves by a tile each time. */
static Axis *axis_of(const Tiling *tiling, const Value *offset)
{
    offset = without_casts(offset);
    if (offset->op && offset->op->code == OP_mul) offset = without_casts(operand(offset->op, a));
    for (size_t i = 0; i < tiling->axes.count; i++)
        if (tiling->axes.data[i]->index == offset) return tiling->axes.data[i];
    return NULL;
}

/* ---- sides ---- */

static Side *side_root(Side *side)
{
    while (side->same != side) side = side->same;
    return side;
}

static Side *sides_of(Tiling *tiling, const Value *tile)
{
    Side *sides = map_get(&tiling->sides, tile);
    if (sides) return sides;
    sides = arena_new_array(tiling->grad->arena, Side, TYPE_RANK);
    for (int d = 0; d < TYPE_RANK; d++) sides[d] = (Side){.same = &sides[d]};
    map_set(tiling->grad->arena, &tiling->sides, tile, sides);
    return sides;
}

static void set_axis(Side *side, Axis *axis)
{
    side = side_root(side);
    side->is_fixed |= !axis || (side->axis && side->axis != axis);
    side->axis = axis;
}

static void join(Side *a, Side *b)
{
    a = side_root(a), b = side_root(b);
    if (a == b) return;
    a->is_fixed |= b->is_fixed || (a->axis && b->axis && a->axis != b->axis);
    if (!a->axis) a->axis = b->axis;
    b->same = a;
}

static void join_tiles(Tiling *tiling, const Value *a, const Value *b)
{
    if (!type_is_tile(a->type) || !type_is_tile(b->type)) return;
    for (int d = 0; d < a->type->rank; d++) join(&sides_of(tiling, a)[d], &sides_of(tiling, b)[d]);
}

static void fix(Tiling *tiling, const Value *tile)
{
    for (int d = 0; type_is_tile(tile->type) && d < tile->type->rank; d++)
        side_root(&sides_of(tiling, tile)[d])->is_fixed = true;
}

static int view_dim(const Op *op, const Type *tile, int dim)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    return dims ? (int)dims->integers[dim] : operand(op, view)->type->rank - tile->rank + dim;
}

/* Whether elements outside of the view are something else than zero. */
static bool is_padded(const Op *op)
{
    const Op *view = operand(op, view)->op;
    return op_attr(view, ATTR_value) || op_attr(view, ATTR_number);
}

static void look_at_access(Tiling *tiling, const Op *op, const Value *tile)
{
    if (is_padded(op)) fix(tiling, tile);
    for (int d = 0; d < tile->type->rank; d++) {
        const Value *offset = operand_list(op, offsets)[view_dim(op, tile->type, d)];
        Axis *axis = axis_of(tiling, offset);
        if (axis) axis->is_fixed |= axis->length != tile->type->shape[d];
        set_axis(&sides_of(tiling, tile)[d], axis);
    }
}

static void look_at_dot(Tiling *tiling, Op *op)
{
    Side *a = sides_of(tiling, operand(op, a)), *b = sides_of(tiling, operand(op, b));
    Side *result = sides_of(tiling, op->results);
    tiling->dot = op;
    tiling->dots++;
    join(&a[0], &result[0]);
    join(&b[1], &result[1]);
    join(&a[1], &b[0]);
    join_tiles(tiling, operand(op, c), op->results);
}

static void look_at_loop(Tiling *tiling, const Op *op)
{
    const Region *region = op->regions[0];
    for (int i = 0; i < op->result_count; i++) {
        join_tiles(tiling, &op->results[i], operand_list(op, init)[i]);
        join_tiles(tiling, &op->results[i], region->arguments[1 + i]);
        join_tiles(tiling, &op->results[i], region->last->operands[i]);
    }
}

static void look_at_transpose(Tiling *tiling, const Op *op)
{
    const Attr *dims = op_attr(op, ATTR_dims);
    for (int d = 0; d < op->results->type->rank; d++)
        join(&sides_of(tiling, op->results)[d],
             &sides_of(tiling, operand(op, a))[dims->integers[d]]);
}

static void look_at_elements(Tiling *tiling, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++) join_tiles(tiling, op->results, op->operands[i]);
}

static void look_at_others(Tiling *tiling, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++) fix(tiling, op->operands[i]);
    for (int i = 0; i < op->result_count; i++) fix(tiling, &op->results[i]);
    for (int r = 0; r < op->region_count; r++)
        for (int i = 0; i < op->regions[r]->argument_count; i++)
            fix(tiling, op->regions[r]->arguments[i]);
}

static bool ends_for(const Op *op)
{
    return op_has(op, TERM) && op->parent->parent && op->parent->parent->code == OP_for;
}

static void look_at(Op *op, void *context)
{
    Tiling *tiling = context;
    if (op->code == OP_load)
        look_at_access(tiling, op, op->results);
    else if (op->code == OP_store)
        look_at_access(tiling, op, operand(op, value));
    else if (op->code == OP_dot)
        look_at_dot(tiling, op);
    else if (op->code == OP_for)
        look_at_loop(tiling, op);
    else if (op->code == OP_transpose)
        look_at_transpose(tiling, op);
    else if (op_has(op, ELEMENTWISE))
        look_at_elements(tiling, op);
    else if (op->code != OP_splat && !ends_for(op))
        look_at_others(tiling, op);
}

static Axis *free_axis(Side *side)
{
    const Side *root = side_root(side);
    return root->axis && !root->axis->is_fixed && !root->is_fixed ? root->axis : NULL;
}

/* ---- what grows ends where it did ---- */

/* How many there are; of a loop that goes on by a tile's length the end of the last one, or less.
 */
static Value *tiles_along(Tiling *tiling, const Axis *axis)
{
    return axis->loop ? operand(axis->loop, end) : tiling->launch->operands[axis->dim];
}

static bool counts_tiles(const Axis *axis)
{
    int64_t step = 1;
    if (axis->loop) value_constant(operand(axis->loop, step), &step);
    return step == 1;
}

/* A number without the constants that are added to it. */
static const Value *without_constants(const Value *value, int64_t *sum)
{
    int64_t number;
    const Op *op = value_uncast(value)->op;
    *sum = 0;
    while (op && (op->code == OP_add || op->code == OP_sub) &&
           value_constant(operand(op, b), &number)) {
        *sum += op->code == OP_add ? number : -number;
        value = operand(op, a);
        op = value_uncast(value)->op;
    }
    return value_uncast(value);
}

/* Whether the tiles reach the end: there are as many as (extent + length - 1) / length, or more. */
static bool tiles_cover(const Value *tiles, int64_t length, const Value *extent)
{
    int64_t count, end;
    if (value_constant(tiles, &count) && value_constant(extent, &end)) return count * length >= end;
    const Op *op = value_uncast(tiles)->op;
    if (op && op->code == OP_max)
        return tiles_cover(operand(op, a), length, extent) ||
               tiles_cover(operand(op, b), length, extent);
    return op && op->code == OP_floordiv && value_is_constant(operand(op, b), length) &&
           without_constants(operand(op, a), &count) == value_uncast(extent) && count >= length - 1;
}

/* The view, which ends with the tiles that there were. */
static void clip_view(Op *op, int dim, Value *end)
{
    const Op *view = operand(op, view)->op;
    const int rank = operand(op, view)->type->rank;
    Value *extents[2 * TYPE_RANK];
    Builder builder = builder_before(op);
    for (int i = 0; i < 2 * rank; i++) extents[i] = operand_list(view, extents)[i];
    extents[dim] = build2(&builder, OP_min, extents[dim],
                          build_cast(&builder, extents[dim]->type->dtype, end));
    Value *clipped = build_view(&builder, operand(view, pointer), rank, extents, extents + rank);
    op_set_operand(op, operand_index(op, view), clipped);
}

/* Whether nothing of what the op has lies behind the axis's tiles. */
static bool are_covered(Tiling *tiling, const Axis *axis, const Value *extent)
{
    const Value *tiles = tiles_along(tiling, axis);
    return counts_tiles(axis) ? tiles_cover(tiles, axis->length, extent)
                              : value_uncast(tiles) == value_uncast(extent);
}

typedef struct Clip {
    Tiling *tiling;
    const Axis *axis;
    Value *end;
} Clip;

static void clip_access(Op *op, void *context)
{
    const Clip *clip = context;
    if (op->code != OP_load && op->code != OP_store) return;
    for (int d = 0; d < operand(op, view)->type->rank; d++)
        if (axis_of(clip->tiling, operand_list(op, offsets)[d]) == clip->axis &&
            !are_covered(clip->tiling, clip->axis, operand_list(operand(op, view)->op, extents)[d]))
            clip_view(op, d, clip->end);
}

/* A number that is not negative, divided up. */
static Value *quotient_up(Builder *builder, Value *value, int64_t by)
{
    const DType dtype = value->type->dtype;
    Value *sum = build2(builder, OP_add, value, build_const(builder, dtype, by - 1));
    return build2(builder, OP_floordiv, sum, build_const(builder, dtype, by));
}

/* Where the tiles ended; NULL: the device can't know. */
static Value *end_of_tiles(Tiling *tiling, const Axis *axis)
{
    Builder builder =
        builder_before(axis->loop ? axis->loop : launch_region(tiling->launch)->first);
    Map copied = {0};
    Value *tiles = tiles_along(tiling, axis);
    if (!axis->loop) tiles = value_in_launch(&builder, tiles, &copied);
    if (!tiles) return NULL;
    tiles = build_cast(&builder, DTYPE_i64, tiles);
    if (!counts_tiles(axis)) tiles = quotient_up(&builder, tiles, axis->length);
    return build2(&builder, OP_mul, tiles, build_const(&builder, DTYPE_i64, axis->length));
}

/* ---- the change ---- */

static void resize_tile(Tiling *tiling, Value *tile)
{
    const Type *type = tile->type;
    int64_t shape[TYPE_RANK];
    Side *sides = map_get(&tiling->sides, tile);
    if (!sides) return;
    for (int d = 0; d < type->rank; d++) {
        const Axis *axis = side_root(&sides[d])->axis;
        shape[d] = axis && axis->fresh ? axis->fresh : type->shape[d];
    }
    tile->type = type_tile(tiling->grad->kernel->types, type->dtype, type->rank, shape, NULL);
}

static void resize(Op *op, void *context)
{
    for (int i = 0; i < op->result_count; i++) resize_tile(context, &op->results[i]);
    for (int r = 0; r < op->region_count; r++)
        for (int i = 0; i < op->regions[r]->argument_count; i++)
            resize_tile(context, op->regions[r]->arguments[i]);
}

static void set_constant(Op *op, int operand, int64_t number)
{
    Builder builder = builder_before(op);
    op_set_operand(op, operand, build_const(&builder, op->operands[operand]->type->dtype, number));
}

/* Each product of the index with a tile's length. */
static void resize_offsets(const Axis *axis, const Value *value)
{
    for (const OpUse *use = value->uses; use; use = use->next) {
        if (use->op->code == OP_cast) resize_offsets(axis, use->op->results);
        if (use->op->code == OP_mul) set_constant(use->op, operand_index(use->op, b), axis->fresh);
    }
}

/* Shorter tiles: as many more of them. */
static void shorten_loop(const Axis *axis)
{
    Op *loop = axis->loop;
    const int end = operand_index(loop, end), step = operand_index(loop, step);
    const DType dtype = loop->operands[end]->type->dtype;
    Builder builder = builder_before(loop);
    int64_t length = 1;
    value_constant(loop->operands[step], &length);
    Value *tiles = quotient_up(&builder, loop->operands[end], length);
    const int64_t each = length == 1 ? axis->length / axis->fresh : axis->length;
    op_set_operand(loop, end, build2(&builder, OP_mul, tiles, build_const(&builder, dtype, each)));
    if (length == 1)
        resize_offsets(axis, axis->index);
    else
        set_constant(loop, step, axis->fresh);
}

/* Longer tiles: as many fewer of them. */
static void lengthen_grid(Tiling *tiling, const Axis *axis)
{
    Builder host = builder_before(tiling->launch);
    Value *tiles = tiles_along(tiling, axis);
    op_set_operand(tiling->launch, axis->dim,
                   quotient_up(&host, tiles, axis->fresh / axis->length));
    resize_offsets(axis, axis->index);
}

static void lengthen_loop(const Axis *axis)
{
    Op *loop = axis->loop;
    Builder builder = builder_before(loop);
    if (!counts_tiles(axis)) {
        set_constant(loop, operand_index(loop, step), axis->fresh);
        return;
    }
    op_set_operand(loop, operand_index(loop, end),
                   quotient_up(&builder, operand(loop, end), axis->fresh / axis->length));
    resize_offsets(axis, axis->index);
}

static void settle(Axis *axis)
{
    if (axis->fresh) axis->length = axis->fresh;
    axis->fresh = 0;
}

static void exchange(Tiling *tiling, Axis *side, Axis *step)
{
    Clip clip = {tiling, side, end_of_tiles(tiling, side)};
    if (!clip.end) return;
    side->fresh = step->length;
    step->fresh = side->length;
    region_visit(launch_region(tiling->launch), clip_access, &clip);
    region_visit(launch_region(tiling->launch), resize, tiling);
    lengthen_grid(tiling, side);
    shorten_loop(step);
    settle(side);
    settle(step);
}

/* ---- small tiles ---- */

static int64_t grown(int64_t length, int64_t most)
{
    while (2 * length <= most) length *= 2;
    return length;
}

static int64_t step_bytes_to_length(const Op *dot)
{
    enum { BYTE = 8 };
    return COST_GROWN_STEP * BYTE / dtype_bits(operand(dot, a)->type->dtype);
}

/* Zero where nothing is, so that a longer step adds nothing there. */
static bool is_loaded(const Value *value)
{
    while (value->op && (value->op->code == OP_cast || value->op->code == OP_transpose))
        value = operand(value->op, a);
    return value->op && value->op->code == OP_load;
}

static void grow_axis(Tiling *tiling, Axis *axis, Value *end)
{
    Clip clip = {tiling, axis, end};
    region_visit(launch_region(tiling->launch), clip_access, &clip);
    if (axis->loop)
        lengthen_loop(axis);
    else
        lengthen_grid(tiling, axis);
}

static void grow(Tiling *tiling, Axis *row, Axis *column, Axis *step)
{
    enum { AXES = 3 };
    Axis *axes[AXES] = {row, column, step};
    Value *ends[AXES];
    if (row->length * column->length >= COST_SMALL_PRODUCT) return;
    for (int i = 0; i < AXES; i++) {
        ends[i] = end_of_tiles(tiling, axes[i]);
        if (!ends[i]) return;
    }
    row->fresh = grown(row->length, COST_GROWN_SIDE);
    column->fresh = grown(column->length, COST_GROWN_SIDE);
    if (is_loaded(operand(tiling->dot, a)) && is_loaded(operand(tiling->dot, b)))
        step->fresh = grown(step->length, step_bytes_to_length(tiling->dot));
    for (int i = 0; i < AXES; i++)
        if (axes[i]->fresh > axes[i]->length) grow_axis(tiling, axes[i], ends[i]);
    region_visit(launch_region(tiling->launch), resize, tiling);
    op_set_int(tiling->launch, ATTR_warps, COST_GROWN_WARPS);
    for (int i = 0; i < AXES; i++) settle(axes[i]);
}

void retile(Grad *grad, Op *launch)
{
    Tiling tiling = {.grad = grad, .launch = launch};
    region_visit(launch_region(launch), find_axis, &tiling);
    region_visit(launch_region(launch), look_at, &tiling);
    if (tiling.dots != 1) return;
    Side *result = sides_of(&tiling, tiling.dot->results);
    Axis *row = free_axis(&result[0]), *column = free_axis(&result[1]);
    Axis *step = free_axis(&sides_of(&tiling, operand(tiling.dot, a))[1]);
    if (!row || !column || !step || !step->loop || row->loop || column->loop) return;
    Axis *side = row->length < column->length ? row : column;
    if (step->length > side->length && step->length % side->length == 0)
        exchange(&tiling, side, step);
    grow(&tiling, row, column, step);
}
