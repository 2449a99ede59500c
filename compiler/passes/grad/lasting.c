/* lasting.c: which reads of what a launch writes find the same again when the gradient, which runs
 * behind the kernel, does them once more. */
#include "passes/grad/grad.h"

#include "passes/analysis/access.h"
#include "passes/analysis/loop.h"

enum { MOST_PAIRS = 1 << 16 }; /* of reads and writes that are looked at */

/* An op that touches memory of the caller's. */
typedef struct Touch {
    Op *op;
    const Value *memory;
    size_t place; /* among all of them, in the program's order */
} Touch;

typedef struct Touches {
    Grad *grad;
    FactTable *facts;
    size_t count;
    int64_t pairs;
    bool meets; /* the block's threads wait for each other somewhere */
    VEC(Touch) reads, writes;
} Touches;

/* What an op touches of a view: so many elements from an offset on along each dimension. */
typedef struct Place {
    const Value *view;
    int rank; /* 0: anything of it */
    const Value *offsets[TYPE_RANK];
    int64_t width[TYPE_RANK];
} Place;

static void note_touch(Op *op, void *context)
{
    Touches *touches = context;
    touches->meets |= op_has(op, COOP) && !op->region_count && !view_of(op);
    const Value *memory =
        op->region_count || !op_has(op, READS | WRITES) ? NULL : memory_touched(touches->grad, op);
    if (!memory) return;
    const Touch touch = {op, memory, touches->count++};
    if (op_has(op, WRITES))
        vec_push(touches->grad->arena, &touches->writes, touch);
    else
        vec_push(touches->grad->arena, &touches->reads, touch);
}

/* An element that threads choose each for itself may be another one's once they have met. */
static Place place_of(const Touches *touches, Op *op)
{
    Place place = {.view = view_of(op)};
    if (op_is_access(op)) {
        const Access access = access_of(op);
        place.rank = access.rank;
        for (int d = 0; d < access.rank; d++) {
            place.offsets[d] = access.offsets[d];
            place.width[d] = access.width[d];
        }
    } else if (op_is_element(op) && !touches->meets) {
        const int first = operand_index(op, indices);
        place.rank = op->operand_count - first;
        for (int d = 0; d < place.rank; d++) {
            place.offsets[d] = op->operands[first + d];
            place.width[d] = 1;
        }
    }
    return place;
}

/* The same places of memory by the same offsets. */
static bool is_same_view(const Value *a, const Value *b)
{
    if (a == b) return true;
    if (a->op->code != OP_view || b->op->code != OP_view ||
        a->op->operand_count != b->op->operand_count)
        return false;
    for (int i = 0; i < a->op->operand_count; i++)
        if (!value_same_number(a->op->operands[i], b->op->operands[i])) return false;
    return true;
}

/* By how much both offsets grow from iteration to iteration, at least, and in which direction;
 * false if that is not known, or not the same of both. */
static bool growth_of(const Touches *touches, const Op *loop, const Value *a, const Value *b,
                      int64_t *growth)
{
    int64_t slope, other;
    if (loop->code != OP_for || !loop_slope(loop, a, &slope) || !loop_slope(loop, b, &other) ||
        slope != other)
        return false;
    const Facts step = facts_of(touches->facts, operand(loop, step));
    if (step.low <= 0 && step.high >= 0) return false;
    return !__builtin_mul_overflow(slope, step.low > 0 ? step.low : step.high, growth);
}

/* Whether the write leaves alone what was read before it (an index that wraps is another one, too):
 * in an iteration behind the read's of the loop, or, without one, in the same of all. */
static bool is_left_alone(const Touches *touches, Op *read, Op *write, const Op *loop)
{
    const Place from = place_of(touches, read), to = place_of(touches, write);
    if (!from.rank || from.rank != to.rank || !is_same_view(from.view, to.view)) return false;
    for (int d = 0; d < from.rank; d++) {
        int64_t low, high, growth = 0;
        if (loop && !growth_of(touches, loop, from.offsets[d], to.offsets[d], &growth)) continue;
        if (!facts_likely_difference(touches->facts, to.offsets[d], from.offsets[d], &low, &high))
            continue;
        if ((growth >= 0 && !__builtin_add_overflow(low, growth, &low) && low >= from.width[d]) ||
            (growth <= 0 && !__builtin_add_overflow(high, growth, &high) && high <= -to.width[d]))
            return true;
    }
    return false;
}

/* The loop around the op, or around the loop that is `op` itself; NULL: there is none. */
static const Op *loop_around(const Op *op)
{
    do op = op->parent->parent;
    while (op && op->code != OP_launch && !op_has(op, LOOP));
    return op && op->code != OP_launch ? op : NULL;
}

static bool is_within(const Op *loop, const Op *op)
{
    bool holds = false;
    for (int i = 0; i < loop->region_count; i++)
        holds |= region_holds(loop->regions[i], op->parent);
    return holds;
}

/* Neither behind the read nor in a later iteration of a loop around both. */
static bool is_kept_by(Touches *touches, const Touch *read, const Touch *write)
{
    if (write->place > read->place && !is_left_alone(touches, read->op, write->op, NULL))
        return false;
    for (const Op *loop = loop_around(read->op); loop; loop = loop_around(loop))
        if (is_within(loop, write->op) && !is_left_alone(touches, read->op, write->op, loop))
            return false;
    return true;
}

static bool lasts(Touches *touches, const Touch *read)
{
    for (size_t i = 0; i < touches->writes.count; i++) {
        const Touch *write = &touches->writes.data[i];
        if (write->memory != read->memory) continue;
        if (++touches->pairs > MOST_PAIRS || !is_kept_by(touches, read, write)) return false;
    }
    return true;
}

/* What a thread has written, and others have before the block's threads met, is read as it stays if
 * no write to it comes behind the read: so a read of what was written finds it again. */
void find_lasting(Grad *grad, const Map *later, Op *launch)
{
    Touches touches = {.grad = grad, .facts = facts_new(grad->kernel)};
    grad->lasting = (Map){0};
    region_visit(launch_region(launch), note_touch, &touches);
    for (size_t i = 0; i < touches.reads.count; i++) {
        const Touch *read = &touches.reads.data[i];
        if (!map_has(later, read->memory) && lasts(&touches, read))
            map_set(grad->arena, &grad->lasting, read->op, read->op);
    }
    facts_free(touches.facts);
}
