/* nearby.c: what is computed for one register of a tile is computed next to its use.
 *
 * Lowering makes each op of a tile one op for every register. Of a tile with many registers a
 * thread then has the intermediate results of all elements at a time, which are more than there are
 * registers: so each element goes the whole way from where it is loaded to where it is stored
 * before the next one does. Effects keep their order, and all ops where that would not help. */
#include "passes/passes.h"
#include "passes/op_vec.h"

#include <string.h>

/* Words that a thread has at a time in a region from which on the order is changed. */
enum { MANY_WORDS = 160 };

typedef struct Seat {
    int last; /* of an op of the region: the number of the last op there that uses its results */
    bool placed;
} Seat;

typedef struct Nearby {
    Arena *arena;
    Region *region;
    int number;
    OpVec stack;
} Nearby;

static bool may_move(const Op *op)
{
    const unsigned traits = op_info(op->code)->traits;
    if (op->code != OP_if) return (traits & PURE) && !(traits & (COOP | TERM));
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = inner->next)
            if (inner->code != OP_yield && (inner->region_count || !may_move(inner))) return false;
    return true;
}

static bool is_here(const Nearby *nearby, const Value *value)
{
    return value->op && value->op->parent == nearby->region;
}

/* ---- how much a thread has at a time ---- */

static void note_uses(Op *op, void *context)
{
    const Nearby *nearby = context;
    for (int i = 0; i < op->operand_count; i++)
        if (is_here(nearby, op->operands[i]))
            ((Seat *)op->operands[i]->op->scratch)->last = nearby->number;
}

static int words_of(const Op *op)
{
    int words = 0;
    if (op->code == OP_const) return 0;
    for (int i = 0; i < op->result_count; i++) {
        const Type *type = op->results[i].type;
        const int count = type->kind == TYPE_VECTOR ? type->count : 1;
        const int bits = type->kind == TYPE_POINTER ? 64 : dtype_bits(type->dtype);
        words += count * (bits > 32 ? 2 : 1);
    }
    return words;
}

static int most_words(Nearby *nearby)
{
    int count = 0, most = 0, words = 0;
    for (Op *op = nearby->region->first; op; op = op->next) {
        op->scratch = arena_new_array(nearby->arena, Seat, 1);
        nearby->number = count++;
        op_visit(op, note_uses, nearby);
    }
    int *ends = arena_new_array(nearby->arena, int, count + 1);
    int number = 0;
    for (Op *op = nearby->region->first; op; op = op->next, number++) {
        const int last = ((Seat *)op->scratch)->last;
        if (last > number) {
            words += words_of(op);
            ends[last] += words_of(op);
        }
        most = words > most ? words : most;
        words -= ends[number];
    }
    return most;
}

/* ---- the order ---- */

static void push_operands(Op *op, void *context)
{
    Nearby *nearby = context;
    for (int i = op->operand_count - 1; i >= 0; i--) {
        Value *value = op->operands[i];
        if (is_here(nearby, value) && !((Seat *)value->op->scratch)->placed && may_move(value->op))
            vec_push(nearby->arena, &nearby->stack, value->op);
    }
}

/* Puts the op at the end of what is placed, behind what it needs. */
static void place(Nearby *nearby, Op *op)
{
    vec_push(nearby->arena, &nearby->stack, op);
    while (nearby->stack.count > 0) {
        Op *next = nearby->stack.data[nearby->stack.count - 1];
        const size_t before = nearby->stack.count;
        if (!((Seat *)next->scratch)->placed) op_visit(next, push_operands, nearby);
        if (nearby->stack.count > before) continue;
        nearby->stack.count--;
        if (((Seat *)next->scratch)->placed) continue;
        ((Seat *)next->scratch)->placed = true;
        if (next != nearby->region->last) op_move_before(next, nearby->region->last);
    }
}

static OpVec ops_of(const Nearby *nearby)
{
    OpVec ops = {0};
    for (Op *op = nearby->region->first; op; op = op->next) vec_push(nearby->arena, &ops, op);
    return ops;
}

static void change_order(Nearby *nearby)
{
    const OpVec ops = ops_of(nearby);
    const int before = most_words(nearby);
    if (before <= MANY_WORDS) return;
    for (size_t i = 0; i < ops.count; i++)
        if (!may_move(ops.data[i])) place(nearby, ops.data[i]);
    for (size_t i = 0; i < ops.count; i++) place(nearby, ops.data[i]); /* what nobody uses */
    if (most_words(nearby) < before) return;
    for (size_t i = 0; i + 1 < ops.count; i++) op_move_before(ops.data[i], ops.data[ops.count - 1]);
}

static void order_region(Kernel *kernel, Region *region)
{
    for (Op *op = region->first; op; op = op->next)
        for (int i = 0; i < op->region_count; i++) order_region(kernel, op->regions[i]);
    if (!region->last || may_move(region->last)) return;
    change_order(&(Nearby){.arena = kernel->arena, .region = region});
    for (Op *op = region->first; op; op = op->next) op->scratch = NULL;
}

bool pass_nearby(Kernel *kernel, const Target *target)
{
    (void)target;
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) order_region(kernel, op->regions[0]);
    return true;
}
