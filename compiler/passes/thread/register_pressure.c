/* register_pressure.c: what is computed for one register of a tile is computed next to its use.
 *
 * Lowering makes each op of a tile one op for every register. Of a tile with many registers a
 * thread then has the intermediate results of all elements at a time, which are more than there are
 * registers: so each element goes the whole way from where it is loaded to where it is stored
 * before the next one does. Effects keep their order, and all ops where that would not help.
 *
 * What a branch that has many alone needs goes into it first.
 *
 * Where that is still more than all registers, what warps compute together moves, too, and what
 * they read of shared memory, as long as nothing is between that may write it. */
#include "passes/pass.h"
#include "ir/op_vec.h"

#include <string.h>

typedef struct Seat {
    int last; /* of an op of the region: the number of the last op there that uses its results */
    bool placed;
} Seat;

typedef struct PressureSchedule {
    Arena *arena;
    Region *region;
    int number;
    bool far; /* more ops move */
    OpVec stack;
} PressureSchedule;

static bool is_pure(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP | TERM);
}

static bool reads_shared(const Op *op)
{
    return op_has(op, LOADS) && operand(op, pointer)->type->space == SPACE_SHARED;
}

/* It neither writes shared memory nor waits for what does. */
static bool leaves_shared(const Op *op)
{
    return op_has(op, PURE | LOADS) ||
           (op->code == OP_st && operand(op, pointer)->type->space == SPACE_GLOBAL);
}

static bool may_move(const PressureSchedule *schedule, const Op *op)
{
    if (schedule->far && ((op_has(op, PURE) && op_has(op, COOP)) || reads_shared(op))) return true;
    if (op->code != OP_if) return is_pure(op);
    for (int i = 0; i < op->region_count; i++)
        for (const Op *inner = op->regions[i]->first; inner; inner = op_next(inner))
            if (inner->code != OP_yield && (inner->region_count || !is_pure(inner))) return false;
    return true;
}

static bool is_here(const PressureSchedule *schedule, const Value *value)
{
    return value->op && value->op->parent == schedule->region;
}

/* ---- how much a thread has at a time ---- */

static void note_uses(Op *op, void *context)
{
    const PressureSchedule *schedule = context;
    for (int i = 0; i < op->operand_count; i++)
        if (is_here(schedule, op->operands[i]))
            ((Seat *)op->operands[i]->op->scratch)->last = schedule->number;
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

/* No order has more of the region's values at a time: few regions need another look. */
static bool has_words(const Region *region, int most)
{
    int words = 0;
    for (const Op *op = region->first; op && words <= most; op = op_next(op)) words += words_of(op);
    return words > most;
}

static int most_words(PressureSchedule *schedule)
{
    int count = 0, most = 0, words = 0;
    for (Op *op = schedule->region->first; op; op = op_next(op)) {
        op->scratch = arena_new_array(schedule->arena, Seat, 1);
        schedule->number = count++;
        op_visit(op, note_uses, schedule);
    }
    int *ends = arena_new_array(schedule->arena, int, count + 1);
    int number = 0;
    for (Op *op = schedule->region->first; op; op = op->next, number++) {
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
    PressureSchedule *schedule = context;
    for (int i = op->operand_count - 1; i >= 0; i--) {
        Value *value = op->operands[i];
        if (is_here(schedule, value) && !((Seat *)value->op->scratch)->placed &&
            may_move(schedule, value->op))
            vec_push(schedule->arena, &schedule->stack, value->op);
    }
}

/* Puts the op at the end of what is placed, behind what it needs. */
static void place(PressureSchedule *schedule, Op *op)
{
    vec_push(schedule->arena, &schedule->stack, op);
    while (schedule->stack.count > 0) {
        Op *next = schedule->stack.data[schedule->stack.count - 1];
        const size_t before = schedule->stack.count;
        if (!((Seat *)next->scratch)->placed) op_visit(next, push_operands, schedule);
        if (schedule->stack.count > before) continue;
        schedule->stack.count--;
        if (((Seat *)next->scratch)->placed) continue;
        ((Seat *)next->scratch)->placed = true;
        if (next != schedule->region->last) op_move_before(next, schedule->region->last);
    }
}

static OpVec ops_of(const PressureSchedule *schedule)
{
    OpVec ops = {0};
    for (Op *op = schedule->region->first; op; op = op_next(op))
        vec_push(schedule->arena, &ops, op);
    return ops;
}

static void change_order(PressureSchedule *schedule)
{
    const OpVec ops = ops_of(schedule);
    const int before = most_words(schedule);
    size_t read = 0;
    for (size_t i = 0; i < ops.count; i++) {
        if (may_move(schedule, ops.data[i])) continue;
        for (; schedule->far && !leaves_shared(ops.data[i]) && read < i; read++)
            if (reads_shared(ops.data[read])) place(schedule, ops.data[read]);
        place(schedule, ops.data[i]);
    }
    for (size_t i = 0; i < ops.count; i++) place(schedule, ops.data[i]); /* what nobody uses */
    if (most_words(schedule) < before) return;
    for (size_t i = 0; i + 1 < ops.count; i++) op_move_before(ops.data[i], ops.data[ops.count - 1]);
}

/* ---- into branches ---- */

static bool is_for_branch(const Op *op, const Region *branch)
{
    bool all = is_pure(op) && op->result_count == 1 && op->results[0].uses && !op->region_count;
    for (const OpUse *use = all ? op->results[0].uses : NULL; use && all; use = use->next)
        all = region_holds(branch, use->op->parent);
    return all;
}

/* The region, or one of those in it, has more at a time than are asked for. */
static bool is_crowded(PressureSchedule *schedule, Region *region)
{
    schedule->region = region;
    if (has_words(region, COST_PRESSURE_REGISTERS) &&
        most_words(schedule) > COST_PRESSURE_REGISTERS)
        return true;
    for (const Op *op = region->first; op; op = op_next(op))
        for (int i = 0; i < op->region_count; i++)
            if (is_crowded(schedule, op->regions[i])) return true;
    return false;
}

/* What the branch alone needs is computed there, not by all that come to it, so that it is next to
 * its use, behind a loop, too. */
static void sink_into(PressureSchedule *schedule, Op *choice, Region *branch)
{
    if (!is_crowded(schedule, branch)) return;
    for (Op *op = choice->previous, *before; op; op = before) {
        before = op->previous;
        if (is_for_branch(op, branch)) op_move_before(op, branch->first);
    }
}

static void sink(Kernel *kernel, Op *choice)
{
    PressureSchedule schedule = {.arena = kernel->arena};
    for (int i = 0; choice->code == OP_if && i < choice->region_count; i++)
        sink_into(&schedule, choice, choice->regions[i]);
}

static void order_region(Kernel *kernel, const Target *target, Region *region)
{
    for (Op *op = region->first; op; op = op_next(op)) {
        sink(kernel, op);
        for (int i = 0; i < op->region_count; i++) order_region(kernel, target, op->regions[i]);
    }
    PressureSchedule schedule = {.arena = kernel->arena, .region = region};
    if (!region->last || may_move(&schedule, region->last)) return;
    if (!has_words(region, COST_PRESSURE_REGISTERS)) return;
    if (most_words(&schedule) > COST_PRESSURE_REGISTERS) change_order(&schedule);
    schedule.far = most_words(&schedule) > target->registers_per_thread;
    if (schedule.far) change_order(&schedule);
    for (Op *op = region->first; op; op = op_next(op)) op->scratch = NULL;
}

bool pass_register_pressure(Kernel *kernel, PassContext *context)
{
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) order_region(kernel, context->target, op->regions[0]);
    return true;
}
