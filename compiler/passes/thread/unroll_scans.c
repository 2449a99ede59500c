/* unroll_scans.c: loops that go through a row of shared memory and choose by their index where in
 * registers a result goes, as scans do; needs and leaves a THREADED kernel in SSA.
 *
 *     for j:  sum += row[j];  r0 = j == 8 t ? sum : r0;  r1 = j == 8 t + 1 ? sum : r1;  ...
 *
 * Registers have no addresses, so that each iteration chooses for each register. Of as many
 * iterations side by side as neighbouring registers have elements, each knows of most registers
 * that they are not its own, whichever thread it is, and what it reads lies behind what the one
 * before did: of a swizzled row, too, in which the index is combined with a multiple of a power of
 * two. */
#include "base/vec.h"
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"
#include "target/target.h"

#include <string.h>

#include "passes/thread/unroll_scans.h"

enum { MOST_TOGETHER = 32 /* iterations */ };

typedef struct Scan {
    FactTable *facts;
    Op *loop;
    Value *index;
    int64_t run; /* iterations side by side */
} Scan;

/* ---- choices by the index ---- */

/* base + offset == index. */
typedef struct Choice {
    Value *base;
    int64_t offset;
} Choice;

static bool is_before(const Scan *scan, const Value *value)
{
    return !region_holds(scan->loop->regions[0], value_home(value));
}

static bool read_choice(const Scan *scan, const Op *op, Choice *out)
{
    if (op->code != OP_cmp || strcmp(op_attr(op, ATTR_predicate)->text, "eq") != 0) return false;
    Value *a = operand(op, a), *b = operand(op, b);
    if (a == scan->index) a = b, b = scan->index;
    if (b != scan->index || !is_before(scan, a)) return false;
    *out = (Choice){a, 0};
    int64_t more;
    while (out->base->op && out->base->op->code == OP_add &&
           value_constant(operand(out->base->op, b), &more)) {
        out->offset += more;
        out->base = operand(out->base->op, a);
    }
    return true;
}

/* The largest power of two that divides the value, as far as is known, and not more than `most`. */
static int64_t alignment(const Scan *scan, const Value *value, int64_t most)
{
    const int64_t multiple = facts_of(scan->facts, value).multiple;
    int64_t power = 1;
    while (power < most && (multiple == 0 || multiple % (2 * power) == 0)) power *= 2;
    return power;
}

/* Whether it may hold `ahead` iterations behind one whose index is a multiple of the run. */
static bool may_hold(const Scan *scan, const Choice *choice, int64_t ahead)
{
    const int64_t power = alignment(scan, choice->base, scan->run);
    return ((choice->offset - ahead) & (power - 1)) == 0;
}

static const Op *chosen_by(const Scan *scan, const Op *op, Choice *choice)
{
    if (op->code != OP_select) return NULL;
    const Op *condition = operand(op, condition)->op;
    return condition && !is_before(scan, condition->results) && read_choice(scan, condition, choice)
               ? condition
               : NULL;
}

/* ---- which loops ---- */

static bool is_combined(const Scan *scan, const Op *op)
{
    return op->code == OP_xor && (operand(op, a) == scan->index || operand(op, b) == scan->index);
}

static Value *combined_with(const Scan *scan, const Op *op)
{
    return operand(op, a) == scan->index ? operand(op, b) : operand(op, a);
}

/* Operations of so many iterations; 0: it is no scan, or each may choose any register. */
static int64_t count_ops(const Scan *scan)
{
    int64_t count = 0;
    bool knows = false, reads = false;
    for (const Op *op = scan->loop->regions[0]->first; op; op = op->next) {
        Choice choice;
        if (op->region_count || op_has(op, COOP | BARRIER | WAITS | ASYNC | WRITES)) return 0;
        const bool is_choice = read_choice(scan, op, &choice);
        const bool is_chosen = chosen_by(scan, op, &choice) != NULL;
        reads |= op->code == OP_ld && operand(op, pointer)->type->space == SPACE_SHARED;
        for (int64_t ahead = 0; ahead < scan->run; ahead++) {
            const bool holds = !(is_choice || is_chosen) || may_hold(scan, &choice, ahead);
            knows |= is_chosen && !holds;
            count += holds;
        }
    }
    return knows && reads ? count : 0;
}

/* ---- loads of neighbours ---- */

/* How many iterations, from one whose index is a multiple of that, read one element after the
 * other. */
static int64_t reach_of(const Scan *scan, const Op *load)
{
    const Value *pointer = operand(load, pointer);
    int64_t reach = scan->run;
    int along = 0;
    if (pointer->type->space != SPACE_SHARED || load->results[0].type->kind != TYPE_SCALAR ||
        load->operand_count != 1)
        return 1;
    for (; !is_before(scan, pointer); pointer = operand(pointer->op, pointer)) {
        int64_t slope = 1;
        if (!pointer->op || pointer->op->code != OP_ptr_add) return 1;
        const Value *index = operand(pointer->op, index);
        if (is_before(scan, index)) continue;
        if (index->op && is_combined(scan, index->op)) {
            const Value *with = combined_with(scan, index->op);
            reach = is_before(scan, with) ? alignment(scan, with, reach) : 1;
        } else if (!loop_slope(scan->loop, index, &slope)) {
            return 1;
        }
        if (slope != 0 && slope != 1) return 1;
        along += slope == 1;
    }
    return along == 1 ? reach : 1;
}

/* A load of the body, and what became of it. */
typedef struct Load {
    const Op *op;
    DType dtype;
    int64_t reach;
    Op *made[MOST_TOGETHER]; /* by iteration */
} Load;

typedef VEC(Load) Loads;

static void note_loads(Scan *scan, Loads *loads)
{
    for (const Op *op = scan->loop->regions[0]->first; op; op = op->next)
        if (op->code == OP_ld && reach_of(scan, op) > 1)
            vec_push(scan->loop->parent->kernel->arena, loads,
                     ((Load){.op = op,
                             .dtype = op->results[0].type->dtype,
                             .reach = reach_of(scan, op)}));
}

static void join_loads(FactTable *facts, Op *const *loads, int count)
{
    Kernel *kernel = loads[0]->parent->kernel;
    Value *pointer = operand(loads[0], pointer);
    const DType dtype = loads[0]->results[0].type->dtype;
    const int64_t bytes = dtype_memory_bytes(dtype, count);
    const Type *type = type_vector(kernel->types, dtype, count);
    if (facts_of(facts, pointer).multiple % bytes) return;
    Builder at = builder_before(loads[0]);
    Op *joined = build_op(&at, OP_ld, 1, &pointer, 1, &type);
    op_set_int(joined, ATTR_align, bytes);
    op_keep_attr(joined, loads[0], ATTR_spare);
    Value *vector = joined->results;
    for (int i = 0; i < count; i++) {
        Op *element = build_op(&at, OP_vec_get, 1, &vector, 1, &loads[i]->results[0].type);
        op_set_int(element, ATTR_index, i);
        value_replace(loads[i]->results, element->results);
    }
    for (int i = 0; i < count; i++) op_erase(loads[i]);
}

/* Once the loop's index is known as a multiple of the run. */
static void join_all(const Scan *scan, const Loads *loads)
{
    FactTable *facts = facts_new(scan->loop->parent->kernel);
    vec_each (load, loads) {
        int64_t count = ACCESS_BYTES * 8 / dtype_memory_bits(load->dtype);
        if (load->reach < count) count = load->reach;
        for (int64_t ahead = 0; count > 1 && ahead < scan->run; ahead += count)
            join_loads(facts, load->made + ahead, (int)count);
    }
    facts_free(facts);
}

/* ---- side by side ---- */

static Value *index_ahead(const Scan *scan, Builder *at, int64_t ahead)
{
    const DType dtype = scan->index->type->dtype;
    return ahead ? build2(at, OP_add, scan->index, build_const(at, dtype, ahead)) : scan->index;
}

static Value *mapped(const Map *map, Value *value)
{
    Value *made = map_get(map, value);
    return made ? made : value;
}

/* Of the base, so that all such choices of the run are one. */
static Value *make_choice(const Scan *scan, Builder *at, const Choice *choice, int64_t ahead)
{
    Builder before = builder_before(scan->loop);
    Value *base = choice->base;
    const int64_t offset = choice->offset - ahead;
    if (offset)
        base = build2(&before, OP_add, base, build_const(&before, base->type->dtype, offset));
    return build_cmp(at, "eq", base, scan->index);
}

/* `combined`: of each op of the body what it was when the low bits of the index were last zero. */
static void copy_op(const Scan *scan, Builder *at, const Op *op, int64_t ahead, Map *map,
                    Map *combined, const Loads *loads)
{
    Arena *arena = at->kernel->arena;
    Choice choice;
    if (read_choice(scan, op, &choice)) {
        Value *made = may_hold(scan, &choice, ahead) ? make_choice(scan, at, &choice, ahead)
                                                     : build_const(at, DTYPE_b1, 0);
        map_set(arena, map, op->results, made);
    } else if (chosen_by(scan, op, &choice) && !may_hold(scan, &choice, ahead)) {
        map_set(arena, map, op->results, mapped(map, operand(op, b)));
    } else if (is_combined(scan, op)) {
        Value *with = combined_with(scan, op);
        const int64_t power = is_before(scan, with) ? alignment(scan, with, scan->run) : 1;
        const int64_t low = ahead & (power - 1);
        Value *made = map_get(combined, op->results);
        if (low == 0) {
            made = build2(at, OP_xor, mapped(map, with), index_ahead(scan, at, ahead));
            map_set(arena, combined, op->results, made);
        } else {
            made = build2(at, OP_add, made, build_const(at, made->type->dtype, low));
        }
        map_set(arena, map, op->results, made);
    } else {
        Op *made = op_clone(at, op, map);
        vec_each (load, loads)
            if (load->op == op) load->made[ahead] = made;
    }
}

static void unroll(Scan *scan)
{
    Loads loads = {0};
    note_loads(scan, &loads);
    Op *loop = scan->loop;
    Region *body = loop->regions[0];
    Arena *arena = body->kernel->arena;
    Op *yield = body->last, *first = body->first;
    Builder at = builder_before(yield);
    Map combined = {0};
    const int count = loop->result_count;
    Value **carried = arena_new_array(arena, Value *, (size_t)count + 1);
    for (int i = 0; i < count; i++) carried[i] = body->arguments[1 + i];
    Op *last = yield->previous;
    for (int64_t ahead = 0; ahead < scan->run; ahead++) {
        Map map = {0};
        for (int i = 0; i < count; i++) map_set(arena, &map, body->arguments[1 + i], carried[i]);
        if (ahead) map_set(arena, &map, scan->index, index_ahead(scan, &at, ahead));
        for (const Op *op = first;; op = op->next) {
            copy_op(scan, &at, op, ahead, &map, &combined, &loads);
            if (op == last) break;
        }
        for (int i = 0; i < count; i++) carried[i] = mapped(&map, yield->operands[i]);
    }
    for (int i = 0; i < count; i++) op_set_operand(yield, i, carried[i]);
    for (Op *op = last, *previous; op; op = previous) {
        previous = op->previous;
        op_erase(op);
    }
    Builder before = builder_before(loop);
    const int step = operand_index(loop, step);
    op_set_operand(loop, step, build_const(&before, loop->operands[step]->type->dtype, scan->run));
    join_all(scan, &loads);
}

bool unroll_scan(FactTable *facts, Op *loop)
{
    int64_t begin;
    const int64_t trips = loop_trips(loop);
    if (!value_constant(operand(loop, begin), &begin) || !loop->regions[0]->last->previous)
        return false;
    Scan scan = {.facts = facts, .loop = loop, .index = loop->regions[0]->arguments[0]};
    for (scan.run = MOST_TOGETHER; scan.run > 1; scan.run /= 2) {
        if (trips % scan.run || begin % scan.run) continue;
        const int64_t ops = count_ops(&scan);
        if (ops > 0 && ops <= COST_UNROLL_RUN_OPS) break;
    }
    if (scan.run < 2) return false;
    unroll(&scan);
    return true;
}
