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
 * they read of memory, as long as nothing is between that may write it. So it does where ptxas ran
 * out of registers and what the loops around carry fills many. */
#include "passes/analysis/access.h"
#include "ir/op_vec.h"

#include <string.h>

typedef struct Seat {
    int number, last; /* of an op of the region, and of the last op there that uses its results */
    int *lasts;       /* of each result, where they are counted one by one */
    int uses;         /* of its results, by ops that are not placed yet */
    bool placed, looked;
} Seat;

/* What is read of one tile in shared memory, or of any memory of a space. */
typedef struct PlaceRead {
    Space space;
    const Op *tile;
    bool steady; /* the kernel does not write it */
    OpVec reads; /* that are not placed yet */
} PlaceRead;

typedef struct PressureSchedule {
    Arena *arena;
    Region *region;
    int number;
    int *carried;  /* NULL: not counted; of each argument the number of the last op that uses it */
    int registers; /* of a thread of the launch */
    bool far;      /* more ops move */
    bool in_turn;  /* but none that warps compute together */
    bool late;     /* what is read of memory that stays as it is does so behind barriers, too */
    bool closes;   /* what takes fewer registers than what it needs stays in front */
    int at_once;   /* so many words are read before they are used */
    OpVec stack;
    VEC(PlaceRead) places;
} PressureSchedule;

static Seat *seat_of(const Op *op)
{
    return op->scratch;
}

static bool is_pure(const Op *op)
{
    return op_has(op, PURE) && !op_has(op, COOP | TERM);
}

static bool reads_memory(const Op *op)
{
    if (!op_has(op, LOADS)) return false;
    const Space space = operand(op, pointer)->type->space;
    return space == SPACE_SHARED || space == SPACE_GLOBAL;
}

/* The tile in shared memory that the pointer points into, or NULL. */
static const Op *tile_of(const Value *pointer)
{
    const Op *op = pointer_root(pointer)->op;
    return op && op->code == OP_shared_base ? op : NULL;
}

static bool are_apart(const Op *a, const Op *b)
{
    const int64_t of_a = op_int(a, ATTR_bytes, 0), of_b = op_int(b, ATTR_bytes, 0);
    const int64_t from_a = op_int(a, ATTR_offset, 0), from_b = op_int(b, ATTR_offset, 0);
    return of_a && of_b && (from_a + of_a <= from_b || from_b + of_b <= from_a);
}

/* At its pointer, and does nothing else. */
static bool writes_memory(const Op *op)
{
    return op->code == OP_st || op->code == OP_stmatrix;
}

/* It neither writes that memory nor waits for what does. */
static bool leaves(const Op *op, const PlaceRead *from)
{
    if (!writes_memory(op)) return op_has(op, PURE | LOADS);
    const Value *pointer = operand(op, pointer);
    if (from->steady) return true;
    if (pointer->type->space != from->space) return pointer->type->space != SPACE_CLUSTER;
    const Op *tile = tile_of(pointer);
    return tile && from->tile && are_apart(tile, from->tile);
}

static bool may_move(const PressureSchedule *schedule, const Op *op)
{
    if (schedule->far && ((op_has(op, PURE) && op_has(op, COOP) && !schedule->in_turn) ||
                          op_has(op, REPORTS) || reads_memory(op)))
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
    for (int i = 0; i < op->operand_count; i++) {
        const Value *value = op->operands[i];
        if (is_here(schedule, value)) {
            seat_of(value->op)->last = schedule->number;
            seat_of(value->op)->uses++;
            if (schedule->late)
                seat_of(value->op)->lasts[value - value->op->results] = schedule->number;
        }
        if (schedule->carried && !value->op && value->region == schedule->region)
            schedule->carried[value->index] = schedule->number;
    }
}

static int words_of_value(const Value *value)
{
    const Type *type = value->type;
    const int bits = type->kind == TYPE_POINTER ? 64 : dtype_bits(type->dtype);
    return (int)type_elements(type) * (bits > 32 ? 2 : 1);
}

static int words_of(const Op *op)
{
    int words = 0;
    if (op->code == OP_const) return 0;
    for (int i = 0; i < op->result_count; i++) words += words_of_value(&op->results[i]);
    return words;
}

/* No order has more of the region's values at a time: few regions need another look. */
static bool has_words(const Region *region, int most)
{
    int words = 0;
    for (const Op *op = region->first; op && words <= most; op = op_next(op)) words += words_of(op);
    return words > most;
}

/* Of the op's results that are used later; they end all together. */
static int words_at_once(const Op *op, int number, int *ends)
{
    const int last = seat_of(op)->last, own = last > number ? words_of(op) : 0;
    ends[last] += own;
    return own;
}

/* Each ends where it was used last. */
static int words_by_result(const Op *op, int number, int *ends)
{
    int all = 0;
    for (int i = 0; op->code != OP_const && i < op->result_count; i++) {
        const int last = seat_of(op)->lasts[i],
                  own = last > number ? words_of_value(&op->results[i]) : 0;
        ends[last] += own;
        all += own;
    }
    return all;
}

/* With what is carried, and where reads are late: results have the registers of operands that the
 * op is the last to use, as sums of products do. */
static int most_words(PressureSchedule *schedule)
{
    int count = 0, most = 0, words = 0;
    for (Op *op = schedule->region->first; op; op = op_next(op)) {
        Seat *seat = arena_new_array(schedule->arena, Seat, 1);
        op->scratch = seat;
        if (schedule->late)
            seat->lasts = arena_new_array(schedule->arena, int, op->result_count + 1);
        schedule->number = seat->number = count++;
        op_visit(op, note_uses, schedule);
    }
    int *ends = arena_new_array(schedule->arena, int, count + 1);
    int number = 0;
    const bool in_place = schedule->carried || schedule->late;
    for (int i = 0; schedule->carried && i < schedule->region->argument_count; i++) {
        words += words_of_value(schedule->region->arguments[i]);
        ends[schedule->carried[i]] += words_of_value(schedule->region->arguments[i]);
    }
    for (Op *op = schedule->region->first; op; op = op->next, number++) {
        if (schedule->late)
            words += words_by_result(op, number, ends);
        else
            words += words_at_once(op, number, ends);
        if (!in_place) most = words > most ? words : most;
        words -= ends[number];
        if (in_place) most = words > most ? words : most;
    }
    return most;
}

/* ---- the order ---- */

static void push_operands(Op *op, void *context)
{
    PressureSchedule *schedule = context;
    for (int i = op->operand_count - 1; i >= 0; i--) {
        Value *value = op->operands[i];
        if (is_here(schedule, value) && !seat_of(value->op)->placed &&
            may_move(schedule, value->op))
            vec_push(schedule->arena, &schedule->stack, value->op);
    }
}

static void take_uses(Op *op, void *context)
{
    const PressureSchedule *schedule = context;
    for (int i = 0; i < op->operand_count; i++)
        if (is_here(schedule, op->operands[i])) seat_of(op->operands[i]->op)->uses--;
}

/* Puts the op at the end of what is placed, behind what it needs. */
static void place(PressureSchedule *schedule, Op *op)
{
    vec_push(schedule->arena, &schedule->stack, op);
    while (schedule->stack.count > 0) {
        Op *next = vec_last(&schedule->stack);
        const size_t before = schedule->stack.count;
        if (!seat_of(next)->placed) op_visit(next, push_operands, schedule);
        if (schedule->stack.count > before) continue;
        schedule->stack.count--;
        if (seat_of(next)->placed) continue;
        seat_of(next)->placed = true;
        op_visit(next, take_uses, schedule);
        if (next != schedule->region->last) op_move_before(next, schedule->region->last);
    }
}

/* What it needs is there, and takes more registers than what it makes: a sum of a row. */
static bool is_closing(const PressureSchedule *schedule, const Op *op)
{
    int words = words_of(op);
    if (seat_of(op)->placed || op->region_count || !is_pure(op)) return false;
    for (int i = 0; i < op->operand_count; i++) {
        const Value *value = op->operands[i];
        if (!is_here(schedule, value)) continue;
        const Seat *seat = seat_of(value->op);
        if (!seat->placed) return false;
        int uses = 0;
        bool is_first = true;
        for (int k = 0; k < op->operand_count; k++) {
            const bool is_same = op->operands[k]->op == value->op;
            uses += is_same;
            is_first &= !is_same || k >= i;
        }
        if (is_first && uses == seat->uses) words -= words_of(value->op);
    }
    return words < 0;
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
        Seat *seat = is_here(batch->schedule, value) ? seat_of(value->op) : NULL;
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
        const Seat *seat = seat_of(next);
        op_visit(next, open_operands, &batch);
        if (!reads_memory(next) || seat->placed || seat->number >= limit) continue;
        place(schedule, next);
        words += words_of(next);
    }
    return words;
}

/* A read takes long, many take hardly longer: those for some stores are placed before the first of
 * these. All that is looked at for that is placed by the last of them, before the next batch. */
static size_t read_ahead(PressureSchedule *schedule, const OpVec *ops, size_t at)
{
    int words = 0;
    size_t i = at;
    for (; i < ops->count && words < schedule->at_once; i++) {
        if (may_move(schedule, ops->data[i])) continue;
        if (!writes_memory(ops->data[i])) break;
        words += place_reads(schedule, ops->data[i], (int)at);
    }
    return i;
}

/* Memory that the kernel does not write is the same behind all barriers, and stores to other memory
 * do not change it. */
static bool is_steady(const Op *read)
{
    const Value *pointer = operand(read, pointer);
    const Parameter *parameter = pointer_parameter(read->parent->kernel, pointer);
    return pointer->type->space == SPACE_GLOBAL && parameter && !parameter->is_written &&
           !op_int(op_enclosing(read, OP_launch), ATTR_aliases, 0);
}

static void note_read(PressureSchedule *schedule, Op *read)
{
    const Value *pointer = operand(read, pointer);
    const bool steady = is_steady(read);
    if (schedule->late && steady) return;
    const Space space = pointer->type->space;
    const Op *tile = tile_of(pointer);
    PlaceRead *from = NULL;
    vec_each (known, &schedule->places)
        if (known->tile == tile && known->space == space && known->steady == steady) from = known;
    if (!from) {
        vec_push(schedule->arena, &schedule->places,
                 ((PlaceRead){.space = space, .tile = tile, .steady = steady}));
        from = &vec_last(&schedule->places);
    }
    vec_push(schedule->arena, &from->reads, read);
}

/* What the op may change is read before it. */
static void place_before(PressureSchedule *schedule, const Op *op)
{
    vec_each (from, &schedule->places) {
        if (from->reads.count == 0 || leaves(op, from)) continue;
        vec_each (read, &from->reads) place(schedule, *read);
        from->reads.count = 0;
    }
}

static void walk(PressureSchedule *schedule, const OpVec *ops)
{
    size_t ahead = 0;
    schedule->places.count = 0;
    for (size_t i = 0; i < ops->count; i++) {
        Op *op = ops->data[i];
        if (schedule->far && reads_memory(op)) note_read(schedule, op);
        if (may_move(schedule, op)) {
            if (schedule->closes && is_closing(schedule, op)) place(schedule, op);
            continue;
        }
        if (schedule->far && i >= ahead) ahead = read_ahead(schedule, ops, i);
        place_before(schedule, op);
        place(schedule, op);
    }
    vec_each (op, ops) place(schedule, *op); /* what nobody uses */
}

static void restore(const OpVec *ops)
{
    for (size_t i = 0; i + 1 < ops->count; i++)
        op_move_before(ops->data[i], ops->data[ops->count - 1]);
}

/* The words of the new order, which begins with that of `ops`. */
static int words_in_order(PressureSchedule *schedule, const OpVec *ops, bool closes)
{
    restore(ops);
    most_words(schedule); /* numbers the ops */
    schedule->closes = closes;
    walk(schedule, ops);
    return most_words(schedule);
}

/* Where that comes to no more words than `most`. Sums stay in front if it takes far fewer. */
static void change_order(PressureSchedule *schedule, int most)
{
    OpVec ops = {0};
    for (Op *op = schedule->region->first; op; op = op_next(op))
        vec_push(schedule->arena, &ops, op);
    int words = words_in_order(schedule, &ops, false);
    if (words > schedule->registers) {
        const int less = words * COST_PRESSURE_PERCENT / 100;
        words = words_in_order(schedule, &ops, true);
        if (words > less) words = words_in_order(schedule, &ops, false);
    }
    if (words > most) restore(&ops);
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
static void sink_into(Kernel *kernel, Op *choice, Region *branch)
{
    PressureSchedule schedule = {.arena = kernel->arena};
    if (!is_crowded(&schedule, branch)) return;
    for (Op *op = choice->previous, *before; op; op = before) {
        before = op->previous;
        if (is_for_branch(op, branch)) op_move_before(op, branch->first);
    }
}

/* What the loops around that of the region carry stays in registers for as long as it runs. */
static int words_around(const Region *region)
{
    int words = 0;
    while (region->parent->code != OP_launch) {
        region = region->parent->parent;
        for (int i = 0; i < region->argument_count; i++)
            words += words_of_value(region->arguments[i]);
    }
    return words;
}

/* Many reads at once; fewer, where that comes to `most` registers or takes far fewer. */
static void order_reads(PressureSchedule *schedule, int most)
{
    int words = most_words(schedule), wanted = words - 1;
    schedule->far = true;
    schedule->at_once = COST_PRESSURE_READS;
    for (bool more = true; more && words > most; schedule->at_once /= 2) {
        change_order(schedule, wanted);
        words = most_words(schedule);
        wanted = (int)larger_of(words * COST_PRESSURE_PERCENT / 100, most);
        more = schedule->at_once > 0;
    }
}

/* Each step of a product reads its operands, and all sums are there from the first one on. */
static void order_steps(PressureSchedule *schedule)
{
    schedule->far = schedule->in_turn = true;
    schedule->at_once = 0;
    change_order(schedule, most_words(schedule) - 1);
    schedule->far = schedule->in_turn = false;
}

/* What many sums are computed with behind a loop, before they are stored some at a time, is read
 * with those that it is for: the sums themselves nearly fill a thread's registers. */
static void order_late(PressureSchedule *schedule)
{
    schedule->in_turn = schedule->late = true;
    const int less = most_words(schedule) * COST_PRESSURE_PERCENT / 100;
    order_reads(schedule, (int)lesser_of(less, schedule->registers - COST_PRESSURE_SPARE));
    schedule->far = schedule->in_turn = schedule->late = false;
}

static bool reads_steady(const Region *region)
{
    for (const Op *op = region->first; op; op = op_next(op))
        if (reads_memory(op) && is_steady(op)) return true;
    return false;
}

static void order_words(Kernel *kernel, PressureSchedule *schedule, const Target *target)
{
    int words = most_words(schedule);
    if (words <= COST_PRESSURE_REGISTERS) return;
    if (words > schedule->registers) {
        kernel->uses |= MAY_READ_EARLY | (reads_steady(schedule->region) ? MAY_READ_FIRST : 0);
        if (!target_has(target, MAY_READ_EARLY)) order_steps(schedule);
        if (!target_has(target, MAY_READ_FIRST)) order_late(schedule);
        words = most_words(schedule);
    }
    change_order(schedule, words - 1);
    order_reads(schedule, target->registers_per_thread);
}

/* Where what is read may be as much as there is too much. */
static void order_carried(Kernel *kernel, PressureSchedule *schedule, const Target *target)
{
    const Region *region = schedule->region;
    const int most = target->registers_per_thread - COST_PRESSURE_SPARE - words_around(region);
    int words = 0, read = 0;
    for (int i = 0; i < region->argument_count; i++) words += words_of_value(region->arguments[i]);
    if (!has_words(region, most - words)) return;
    schedule->carried = arena_new_array(schedule->arena, int, region->argument_count + 1);
    for (const Op *op = region->first; op; op = op_next(op))
        read += reads_memory(op) ? words_of(op) : 0;
    if (most_words(schedule) <= most || most_words(schedule) - read > most) return;
    kernel->uses |= MAY_READ_EARLY;
    if (!target_has(target, MAY_READ_EARLY)) order_reads(schedule, most);
}

static void order_region(Kernel *kernel, const Target *target, Region *region, int registers)
{
    for (Op *op = region->first; op; op = op_next(op)) {
        if (op->code == OP_setmaxnreg) registers = (int)op_int(op, ATTR_count, registers);
        for (int i = 0; op->code == OP_if && i < op->region_count; i++)
            sink_into(kernel, op, op->regions[i]);
        for (int i = 0; i < op->region_count; i++)
            order_region(kernel, target, op->regions[i], registers);
    }
    PressureSchedule schedule = {.arena = kernel->arena, .region = region, .registers = registers};
    if (!region->last || may_move(&schedule, region->last)) return;
    if (has_words(region, COST_PRESSURE_REGISTERS)) order_words(kernel, &schedule, target);
    order_carried(kernel, &schedule, target);
    if (kernel->wants_remarks && schedule.carried)
        kernel->registers_held =
            (int)larger_of(kernel->registers_held, most_words(&schedule) + words_around(region));
    for (Op *op = region->first; op; op = op_next(op)) op->scratch = NULL;
}

bool pass_register_pressure(Kernel *kernel, PassContext *context)
{
    kernel_each_launch (op, kernel)
        order_region(kernel, context->target, op->regions[0],
                     cost_registers_per_thread(context->target, launch_warps(op), 1));
    return true;
}
