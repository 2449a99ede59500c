/* disjoint.c: parts of one shared tile that have no byte in common, such as the stages of a
 * multi-buffer that a program keeps by itself: `tile[(i + 2) % 3]` and `tile[i % 3]`. */
#include "passes/analysis/access.h"
#include "passes/analysis/loop.h"

/* (root + number) mod modulus, or without a modulus (0) */
typedef struct BufferStage {
    const Value *root; /* NULL: 0, or */
    const Op *loop;    /* if given: `step` times the number of iterations that it has behind it */
    int64_t number, modulus, step;
} BufferStage;

/* Others are not followed: sums and products of these have room. */
static bool is_small(int64_t number)
{
    return number >= INT32_MIN && number <= INT32_MAX;
}

static int64_t floor_mod(int64_t value, int64_t modulus)
{
    return ((value % modulus) + modulus) % modulus;
}

static void take_number(BufferStage *stage)
{
    int64_t number;
    while (stage->root->op &&
           (stage->root->op->code == OP_add || stage->root->op->code == OP_sub) &&
           value_constant(operand(stage->root->op, b), &number) && is_small(number) &&
           is_small(stage->number)) {
        stage->number += stage->root->op->code == OP_add ? number : -number;
        stage->root = operand(stage->root->op, a);
    }
    if (!value_constant(stage->root, &number) || !is_small(number)) return;
    stage->number += number;
    stage->root = NULL;
}

static BufferStage stage_as_written(const Value *index)
{
    BufferStage stage = {.root = index};
    const Op *op = index->op;
    if (op && op->code == OP_floormod && value_constant(operand(op, b), &stage.modulus) &&
        stage.modulus > 0 && is_small(stage.modulus))
        stage.root = operand(op, a);
    else
        stage.modulus = 0;
    take_number(&stage);
    if (stage.root || !stage.modulus) return stage;
    return (BufferStage){.number = floor_mod(stage.number, stage.modulus)};
}

/* The loop that carries the value from round to iteration; NULL: none does. */
static const Op *carrying_loop(const Value *value)
{
    const Op *loop = value && value->region ? value->region->parent : NULL;
    return loop && loop->code == OP_for && value->index > 0 ? loop : NULL;
}

/* What a carried number becomes for the next iteration. */
static BufferStage stage_carried(const Op *loop, const Value *value)
{
    return stage_as_written(loop->regions[0]->last->operands[value->index - 1]);
}

/* Numbers that a loop counts by `i = (i + 1) % n` are told by their first one and its iterations,
 * so that several of them can be compared. */
static BufferStage stage_of(const Value *index)
{
    BufferStage stage = stage_as_written(index);
    const Op *loop = carrying_loop(stage.root);
    int64_t first;
    if (!loop || !value_constant(operand_list(loop, init)[stage.root->index - 1], &first) ||
        !is_small(first))
        return stage;
    const BufferStage next = stage_carried(loop, stage.root);
    const bool is_remainder =
        stage.modulus == 0 && stage.number == 0 && first >= 0 && first < next.modulus;
    if (next.root != stage.root || (next.modulus != stage.modulus && !is_remainder)) return stage;
    return (BufferStage){
        .loop = loop, .number = first + stage.number, .modulus = next.modulus, .step = next.number};
}

/* By how much it grew since the iteration before; false if that is not known. */
static bool growth(const Op *loop, const BufferStage *stage, int64_t *by)
{
    int64_t step;
    *by = stage->loop == loop ? stage->step : 0;
    if (stage->loop)
        return stage->loop == loop || region_holds(stage->loop->regions[0], loop->parent);
    if (!loop_slope(loop, stage->root, by)) return false;
    if (*by == 0) return true;
    if (loop->code != OP_for || !value_constant(operand(loop, step), &step)) return false;
    return !__builtin_mul_overflow(*by, step, by);
}

/* The stage of an earlier iteration in terms of this one's root; false if there are no such terms.
 * Of all rounds from the second last back it is the last one's, if all others' are below it. */
static bool stage_now(BufferStage *stage, Iteration iteration)
{
    int64_t by;
    if (iteration.when == ITERATION_SAME || (!stage->root && !stage->loop)) return true;
    if (stage->root && value_is_steady(stage->root)) return true;
    if (!iteration.loop || !growth(iteration.loop, stage, &by) || !is_small(by)) return false;
    if (iteration.when == ITERATION_EARLIER && (stage->modulus || by < 0)) return by == 0;
    stage->number -= iteration.when == ITERATION_EARLIER ? 2 * by : by;
    return true;
}

static bool stages_differ(BufferStage a, BufferStage b, int64_t span_a, int64_t span_b,
                          bool or_below)
{
    if (a.root != b.root || a.loop != b.loop || a.modulus != b.modulus || a.step != b.step)
        return false;
    if (a.modulus)
        return span_a == 1 && span_b == 1 && floor_mod(a.number - b.number, a.modulus) != 0;
    return a.number + span_a <= b.number || (!or_below && b.number + span_b <= a.number);
}

/* How far the part reaches along a dimension of the tile that it is of. */
static int64_t part_span(const Op *view, int whole)
{
    const Attr *dims = op_attr(view, ATTR_dims);
    for (int i = 0; i < dims->count; i++)
        if (dims->integers[i] == whole) return view->results[0].type->shape[i];
    return 1;
}

/* The tile that a part is of, in whichever block's memory: parts of other indices are apart in all
 * of them. NULL: it is no part. */
static const Value *part_of(const Value *part)
{
    if (!part->op || part->op->code != OP_shared_view) return NULL;
    const Value *tile = operand(part->op, tile);
    return tile->op && tile->op->code == OP_shared_peer ? operand(tile->op, tile) : tile;
}

/* The tile that a value is a part of, or a part of such a part, as one that lies another way is;
 * NULL: it is no part of a whole one. */
static const Value *whole_of(const Value *part)
{
    const Value *whole = part_of(part);
    while (whole && whole->op && whole->op->code == OP_shared_view) whole = part_of(whole);
    return whole && whole->op && whole->op->code == OP_shared_alloc ? whole : NULL;
}

/* Moved on by an index within the part; false if what that makes is not followed. */
static bool stage_moved(BufferStage *stage, const Value *by)
{
    const BufferStage further = stage_of(by);
    if (!further.root && !further.loop && !further.number) return true;
    if (!stage->root && !stage->loop && !stage->number) {
        *stage = further;
        return true;
    }
    if (further.root || further.loop || stage->modulus) return false;
    stage->number += further.number;
    return is_small(stage->number);
}

/* Where the part begins along a dimension of the whole tile, and how far it reaches; false: that
 * is not followed. */
static bool place_of(const Value *part, int d, BufferStage *stage, int64_t *span)
{
    const Value *tile = part_of(part);
    if (tile->op->code == OP_shared_alloc) {
        *stage = stage_of(operand_list(part->op, offsets)[d]);
        *span = part_span(part->op, d);
        return true;
    }
    if (!place_of(tile, d, stage, span)) return false;
    const Attr *dims = op_attr(tile->op, ATTR_dims);
    for (int i = 0; i < dims->count; i++) {
        if (dims->integers[i] != d) continue;
        *span = part_span(part->op, i);
        return stage_moved(stage, operand_list(part->op, offsets)[i]);
    }
    return true;
}

bool shared_part_moves(const Value *part)
{
    const Value *whole = whole_of(part);
    for (int d = 0; whole && d < whole->type->rank; d++) {
        BufferStage stage;
        int64_t span;
        if (!place_of(part, d, &stage, &span) || stage.root || stage.loop) return true;
    }
    return false;
}

bool shared_parts_apart(Agreement *agreement, const Value *earlier, Iteration iteration,
                        const Value *later)
{
    const Value *whole = whole_of(earlier);
    if (!whole || whole_of(later) != whole) return false;
    const ThreadGroup block = launch_threads(op_enclosing(later->op, OP_launch));
    for (int d = 0; d < whole->type->rank; d++) {
        BufferStage a, b;
        int64_t span_a, span_b;
        if (place_of(earlier, d, &a, &span_a) && place_of(later, d, &b, &span_b) &&
            stage_now(&a, iteration) &&
            stages_differ(a, b, span_a, span_b,
                          iteration.when == ITERATION_EARLIER && (a.root || a.loop)) &&
            (!a.root || !threads_differ(agreement, a.root, block)))
            return true;
    }
    return false;
}
