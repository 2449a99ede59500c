/* interleave.c: the few iterations that a thread has of a parallel loop load before they store.
 *
 * Where each thread goes through its share of a parallel loop, one iteration after the other, the
 * loads of the next one would wait for the stores of this one, which might be to the same memory.
 * But iterations of such loops are independent: what one loads through a pointer that the loop does
 * not store through is loaded for all first. Stores keep their order. */
#include "passes/analysis/context.h"
#include "passes/analysis/access.h"
#include "ir/op_vec.h"
#include "target/cost.h"

typedef struct Interleave {
    FactTable *facts;
    Arena *arena;
} Interleave;

/* What a pointer leads into: a parameter, or an array; NULL: not known. */
static const Value *root_of(const Value *pointer)
{
    const Value *root = pointer_root(pointer);
    const bool is_array =
        root->op && (root->op->code == OP_local_base || root->op->code == OP_shared_base);
    return !root->op || is_array ? root : NULL;
}

/* An array that each iteration has for itself. */
static bool is_own_array(const Value *pointer, const Region *body)
{
    const Value *root = root_of(pointer);
    return root && root->op && root->op->code == OP_local_base && root->op->parent == body;
}

/* All loads stand before the first store; how many ops it has, and registers for what it loads. */
typedef struct Body {
    const Op *first_store; /* NULL: there is none */
    OpVec loads, stores;
    int ops, words;
} Body;

static bool take_access(Interleave *interleave, Body *body, Op *op)
{
    if (!root_of(operand(op, pointer))) return false;
    if (is_own_array(operand(op, pointer), op->parent)) return true;
    if (operand(op, pointer)->type->space == SPACE_LOCAL) return false;
    if (op->code == OP_st) {
        if (!body->first_store) body->first_store = op;
        vec_push(interleave->arena, &body->stores, op);
        return true;
    }
    if (body->first_store) return false;
    body->words += type_words(op->results[0].type);
    vec_push(interleave->arena, &body->loads, op);
    return true;
}

static bool take_body(Interleave *interleave, const Op *loop, Body *body)
{
    for (Op *op = loop->regions[0]->first; op; op = op->next, body->ops++) {
        if (op->region_count || op_has(op, COOP)) return false;
        if (op->code == OP_ld || op->code == OP_st) {
            if (!take_access(interleave, body, op)) return false;
        } else if (!op_has(op, PURE | TERM) && op->code != OP_local_base) {
            return false;
        }
    }
    return body->loads.count && body->stores.count;
}

/* Whether one of the loop's stores may be to what it loads. */
static bool stores_what_it_loads(const Body *body)
{
    for (size_t i = 0; i < body->stores.count; i++) {
        const Value *to = root_of(operand(body->stores.data[i], pointer));
        for (size_t k = 0; k < body->loads.count; k++) {
            const Value *from = root_of(operand(body->loads.data[k], pointer));
            if (from == to || (from->op && to->op)) return true;
        }
    }
    return false;
}

static int64_t trips_from(int64_t begin, int64_t end, int64_t step)
{
    return begin < end ? (end - begin + step - 1) / step : 0;
}

/* How many iterations there are, wherever a thread begins; 0: that differs. */
static int64_t trips_of(const Interleave *interleave, const Op *loop)
{
    int64_t end, step;
    const Facts begin = facts_of(interleave->facts, operand(loop, begin));
    if (!value_constant(operand(loop, end), &end) || !value_constant(operand(loop, step), &step) ||
        step < 1 || end > INT32_MAX || begin.low < 0 || begin.high > INT32_MAX)
        return 0;
    const int64_t trips = trips_from(begin.low, end, step);
    return trips == trips_from(begin.high, end, step) ? trips : 0;
}

static void copy_ops(Builder *at, const Op *first, const Op *end, Map *map)
{
    for (const Op *op = first; op != end; op = op->next)
        if (!op_has(op, TERM)) op_clone(at, op, map);
}

static void interleave(Interleave *state, Op *loop, const Body *body, int trips)
{
    Builder at = builder_before(loop);
    const Op *first = loop->regions[0]->first;
    Map *maps = arena_new_array(state->arena, Map, trips);
    const DType dtype = operand(loop, begin)->type->dtype;
    for (int i = 0; i < trips; i++) {
        Value *by = build2(&at, OP_mul, operand(loop, step), build_const(&at, dtype, i));
        Value *index = build2(&at, OP_add, operand(loop, begin), by);
        map_set(state->arena, &maps[i], loop->regions[0]->arguments[0], index);
        copy_ops(&at, first, body->first_store, &maps[i]);
    }
    for (int i = 0; i < trips; i++) copy_ops(&at, body->first_store, NULL, &maps[i]);
    op_erase(loop);
}

static void visit(Op *loop, void *context)
{
    Interleave *state = context;
    Body body = {0};
    if (!op_int(loop, ATTR_parallel, 0) || loop->result_count) return;
    const int64_t trips = trips_of(state, loop);
    if (trips < 2 || trips > COST_INTERLEAVED_WORDS || !take_body(state, loop, &body) ||
        stores_what_it_loads(&body) || body.words * trips > COST_INTERLEAVED_WORDS ||
        body.ops * trips > COST_INTERLEAVED_OPS)
        return;
    interleave(state, loop, &body, (int)trips);
}

bool pass_interleave(Kernel *kernel, PassContext *context)
{
    Interleave state = {analysis_ranges(context), kernel->arena};
    kernel_visit_those(kernel, OP_for, visit, &state);
    return true;
}
