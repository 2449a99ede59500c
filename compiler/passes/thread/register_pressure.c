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
 * they read of memory, as long as nothing is between that may write it. */
#include "passes/pass.h"
#include "ir/op_vec.h"

#include <string.h>

typedef struct Seat {
    int number, last; /* of an op of the region, and of the last op there that uses its results */
    bool placed, looked;
} Seat;

typedef struct PressureSchedule {
    Arena *arena;
    Region *region;
    int number;
    bool far;    /* more ops move */
    int at_once; /* so many words are read before they are used */
    OpVec stack;
} PressureSchedule;

static bool is_pure(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP | TERM);
}

/* Where what is read may move. */
static const Space MOVED[] = {SPACE_SHARED, SPACE_GLOBAL};
enum { MOVED_COUNT = sizeof MOVED / sizeof *MOVED };

static bool reads(const Op *op, Space space)
{
    return op_has(op, LOADS) && operand(op, pointer)->type->space == space;
}

static bool reads_memory(const Op *op)
{
    return reads(op, SPACE_SHARED) || reads(op, SPACE_GLOBAL);
}

/* It neither writes that memory nor waits for what does. */
static bool leaves(const Op *op, Space space)
{
    if (op->code != OP_st) return op_has(op, PURE | LOADS);
    const Space other = operand(op, pointer)->type->space;
    return other != space && other != SPACE_CLUSTER;
}

static bool may_move(const PressureSchedule *schedule, const Op *op)
{
    if (schedule->far &&
        ((op_has(op, PURE) && op_has(op, COOP)) || op_has(op, REPORTS) || reads_memory(op)))
        return true;
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
        Seat *seat = arena_new_array(schedule->arena, Seat, 1);
        op->scratch = seat;
        schedule->number = seat->number = count++;
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

/* ---- reads, some at a time ---- */

typedef struct Batch {
    PressureSchedule *schedule;
    OpVec *open;
} Batch;

static void open_operands(Op *op, void *context)
{
    const Batch *batch = context;
    for (int i = op->operand_count - 1; i >= 0; i--) {
        Value *value = op->operands[i];
        Seat *seat = is_here(batch->schedule, value) ? value->op->scratch : NULL;
        if (!seat || seat->placed || seat->looked || !may_move(batch->schedule, value->op))
            continue;
        seat->looked = true;
        vec_push(batch->schedule->arena, batch->open, value->op);
    }
}

/* Places what the op needs of what is read before the op with the number `limit`: so many words. */
static int place_reads(PressureSchedule *schedule, Op *op, int limit)
{
    int words = 0;
    OpVec open = {0};
    Batch batch = {schedule, &open};
    op_visit(op, open_operands, &batch);
    while (open.count > 0) {
        Op *next = vec_pop(&open);
        const Seat *seat = next->scratch;
        op_visit(next, open_operands, &batch);
        if (!reads_memory(next) || seat->placed || seat->number >= limit) continue;
        place(schedule, next);
        words += words_of(next);
    }
    return words;
}

/* A read takes long, many take hardly longer: those for some ops are placed before the first of
 * these. */
static size_t read_ahead(PressureSchedule *schedule, const OpVec *ops, size_t at)
{
    int words = 0;
    size_t i = at;
    for (; i < ops->count && words < schedule->at_once; i++)
        if (!may_move(schedule, ops->data[i]))
            words += place_reads(schedule, ops->data[i], (int)at);
    return i;
}

/* Where that comes to no more words than `most`. */
static void change_order(PressureSchedule *schedule, int most)
{
    const OpVec ops = ops_of(schedule);
    size_t read[MOVED_COUNT] = {0}, ahead = 0;
    for (size_t i = 0; i < ops.count; i++) {
        if (may_move(schedule, ops.data[i])) continue;
        if (schedule->far && i >= ahead) ahead = read_ahead(schedule, &ops, i);
        for (int m = 0; schedule->far && m < MOVED_COUNT; m++)
            for (; !leaves(ops.data[i], MOVED[m]) && read[m] < i; read[m]++)
                if (reads(ops.data[read[m]], MOVED[m])) place(schedule, ops.data[read[m]]);
        place(schedule, ops.data[i]);
    }
    for (size_t i = 0; i < ops.count; i++) place(schedule, ops.data[i]); /* what nobody uses */
    if (most_words(schedule) <= most) return;
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
    int words = most_words(&schedule);
    if (words > COST_PRESSURE_REGISTERS) change_order(&schedule, words - 1);
    /* Some at once; one by one, where that takes many fewer. */
    for (schedule.at_once = COST_PRESSURE_READS; schedule.at_once >= 0;
         schedule.at_once -= COST_PRESSURE_READS) {
        words = most_words(&schedule);
        schedule.far = words > target->registers_per_thread;
        if (!schedule.far) break;
        change_order(&schedule, schedule.at_once ? words - 1 : words * 3 / 4);
    }
    for (Op *op = region->first; op; op = op_next(op)) op->scratch = NULL;
}

bool pass_register_pressure(Kernel *kernel, PassContext *context)
{
    for (Op *op = kernel->host->first; op; op = op->next)
        if (op->code == OP_launch) order_region(kernel, context->target, op->regions[0]);
    return true;
}
