/* control.c: branches and loops, backwards. What a region adds to the adjoints of values around it
 * is handed out: a branch gives it as results, a loop carries it as sums. */
#include "ir/rebuild.h"
#include "passes/grad/states.h"

/* A part of a value's adjoint that leaves a region. */
typedef struct Export {
    Value *value;
    Part part;
} Export;

typedef VEC(Export) Exports;

static bool has_export(const Exports *exports, const Value *value, Part part)
{
    for (size_t i = 0; i < exports->count; i++)
        if (exports->data[i].value == value && exports->data[i].part == part) return true;
    return false;
}

static bool is_inside(const Op *op, const Value *value)
{
    const Region *home = value_home(value);
    bool inside = false;
    for (int i = 0; home && i < op->region_count; i++) inside |= region_holds(op->regions[i], home);
    return inside;
}

/* What the scope has of values that are not those of the op's regions. */
static void collect(Grad *grad, const Scope *scope, const Op *op, Exports *out)
{
    for (size_t i = 0; i < scope->touched.count; i++) {
        Value *value = scope->touched.data[i];
        if (is_inside(op, value)) continue;
        const Adjoint *both = map_get(&scope->adjoints, value);
        for (int part = 0; part < PARTS; part++)
            if (both->parts[part] && !has_export(out, value, (Part)part))
                vec_push(grad->arena, out, ((Export){value, (Part)part}));
    }
}

static Value *part_of(const Scope *scope, const Value *value, Part part)
{
    const Adjoint *both = map_get(&scope->adjoints, value);
    return both ? both->parts[part] : NULL;
}

static Value *part_or_zero(Grad *grad, const Scope *scope, const Value *value, Part part)
{
    Value *found = part_of(scope, value, part);
    return found ? found : number_of(grad, adjoint_type(grad, value), 0);
}

static void give_part(Grad *grad, Value *value, Part part, Value *adjoint)
{
    if (part == PART_TOTAL)
        give_total(grad, value, adjoint);
    else
        give(grad, value, part, adjoint);
}

/* ---- branches ---- */

static void reverse_side(Grad *grad, Region *from, Region *to, const Adjoint *results, Scope *scope)
{
    grad->builder = builder_at_end(to, grad->builder.span);
    scope_open(grad, scope);
    const Op *yield = region_terminator(from);
    replay(grad, from, true);
    for (int i = 0; yield && i < yield->operand_count; i++)
        give_both(grad, yield->operands[i], results[i]);
    reverse(grad, from);
    scope_close(grad);
}

static void end_side(Grad *grad, Region *region, const Scope *scope, const Exports *exports)
{
    ValueVec values = {0};
    grad->builder = builder_at_end(region, grad->builder.span);
    for (size_t i = 0; i < exports->count; i++)
        vec_push(grad->arena, &values,
                 part_or_zero(grad, scope, exports->data[i].value, exports->data[i].part));
    build_op(&grad->builder, OP_yield, (int)values.count, values.data, 0, NULL);
}

static Op *with_results(Grad *grad, Op *branch, const Exports *exports)
{
    VEC(const Type *) types = {0};
    for (size_t i = 0; i < exports->count; i++)
        vec_push(grad->arena, &types, adjoint_type(grad, exports->data[i].value));
    if (!types.count) return branch;
    Op *wide =
        op_rebuild(branch, branch->operand_count, branch->operands, (int)types.count, types.data);
    op_erase(branch);
    return wide;
}

void adjoint_if(Grad *grad, Op *op)
{
    Scope scopes[2];
    Exports exports = {0};
    const Builder outside = grad->builder;
    Adjoint *results = arena_new_array(grad->arena, Adjoint, op->result_count + 1);
    for (int i = 0; i < op->result_count; i++) results[i] = take_adjoint(grad, &op->results[i]);
    Value *condition = replayed(grad, operand(op, condition));
    Op *branch = build_op(&grad->builder, OP_if, 1, &condition, 0, NULL);
    op_keep_attr(branch, op, ATTR_idle);
    for (int i = 0; i < 2; i++) {
        reverse_side(grad, op->regions[i], branch->regions[i], results, &scopes[i]);
        collect(grad, &scopes[i], op, &exports);
    }
    for (int i = 0; i < 2; i++) end_side(grad, branch->regions[i], &scopes[i], &exports);
    branch = with_results(grad, branch, &exports);
    grad->builder = outside;
    for (size_t i = 0; i < exports.count; i++)
        give_part(grad, exports.data[i].value, exports.data[i].part, &branch->results[i]);
}

/* ---- loops ---- */

/* A loop of the program on its way back. */
typedef struct Back {
    Op *loop;
    Value **arguments; /* of its region: what it carries */
    Value *const *inits;
    int count;
    Adjoint *results; /* adjoints of what it carried last */
    Exports carried;  /* those of `arguments` that the way back carries */
    Value *begin, *end,
        *step;      /* of the way back: an i of the program's, or a number of iterations */
    Value *last;    /* the program's last i, or the number of its last iteration */
    States *states; /* NULL: what is carried is found by going through the loop again */
    /* One iteration: replays it, and goes back through it; `after` is what is carried behind it. */
    void (*body)(Grad *grad, struct Back *back, Value *index, const Adjoint *after);
} Back;

/* Its number among what is carried. */
static int index_of(const Back *back, const Export *one)
{
    return one->value->index - (back->loop->code == OP_for);
}

/* Those of the arguments that have an adjoint and are not carried yet. */
static bool extend_carried(Grad *grad, Back *back, const Scope *scope)
{
    bool grown = false;
    for (int i = 0; i < back->count; i++)
        for (int part = 0; part < PARTS; part++) {
            Value *value = back->arguments[i];
            const bool found = scope ? part_of(scope, value, (Part)part) != NULL
                                     : back->results[i].parts[part] != NULL;
            if (!found || has_export(&back->carried, value, (Part)part)) continue;
            vec_push(grad->arena, &back->carried, ((Export){value, (Part)part}));
            grown = true;
        }
    return grown;
}

/* The way back carries what is known so far to be an adjoint. */
static Op *begin_back(Grad *grad, const Back *back, Adjoint *after)
{
    ValueVec operands = {0};
    Value *const bounds[] = {back->begin, back->end, back->step};
    for (int i = 0; i < 3; i++) vec_push(grad->arena, &operands, bounds[i]);
    for (size_t i = 0; i < back->carried.count; i++) {
        const Export *one = &back->carried.data[i];
        Value *first = back->results[index_of(back, one)].parts[one->part];
        if (!first) first = number_of(grad, adjoint_type(grad, one->value), 0);
        vec_push(grad->arena, &operands, first);
    }
    Op *loop = loop_build(&grad->builder, (int)operands.count, operands.data);
    for (size_t i = 0; i < back->carried.count; i++) {
        const Export *one = &back->carried.data[i];
        after[index_of(back, one)].parts[one->part] = loop->regions[0]->arguments[1 + i];
    }
    return loop;
}

static bool is_store(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, STORES) && !op_has(op, ATOMIC);
}

/* Whether it is the same in which order the iterations go. */
static bool is_unordered(const Back *back, const Scope *scope, const Op *loop)
{
    if (op_find_within(back->loop, is_store, NULL)) return false;
    for (size_t i = 0; i < back->carried.count; i++)
        if (part_of(scope, back->carried.data[i].value, back->carried.data[i].part) !=
            loop->regions[0]->arguments[1 + i])
            return false;
    return true;
}

/* Ends the loop: what is carried, and sums of what it adds to adjoints around it. */
static Op *end_back(Grad *grad, const Back *back, Op *loop, const Scope *scope,
                    const Exports *exports)
{
    ValueVec firsts = {0}, values = {0};
    const Builder outside = builder_before(loop);
    Region *region = loop->regions[0];
    for (size_t i = 0; i < back->carried.count; i++)
        vec_push(
            grad->arena, &values,
            part_or_zero(grad, scope, back->carried.data[i].value, back->carried.data[i].part));
    const Builder inside = grad->builder;
    grad->builder = outside;
    for (size_t i = 0; i < exports->count; i++)
        vec_push(grad->arena, &firsts,
                 number_of(grad, adjoint_type(grad, exports->data[i].value), 0));
    loop = loop_carry(loop, (int)firsts.count, firsts.data);
    grad->builder = inside;
    for (size_t i = 0; i < exports->count; i++) {
        Value *before = region_add_argument(region, firsts.data[i]->type, NULL);
        Value *more = part_of(scope, exports->data[i].value, exports->data[i].part);
        vec_push(grad->arena, &values, value_sum(grad, before, more));
    }
    build_op(&grad->builder, OP_yield, (int)values.count, values.data, 0, NULL);
    return loop;
}

/* The way back, with as many carried adjoints as it turns out to have. */
static Op *build_back(Grad *grad, Back *back, Scope *scope)
{
    const Builder outside = grad->builder;
    extend_carried(grad, back, NULL);
    for (;;) {
        Adjoint *after = arena_new_array(grad->arena, Adjoint, back->count + 1);
        for (int i = 0; i < back->count; i++) after[i] = (Adjoint){0};
        grad->builder = outside;
        Op *loop = begin_back(grad, back, after);
        grad->builder = builder_at_end(loop->regions[0], outside.span);
        Value *at = loop->regions[0]->arguments[0];
        Value *passed = build2(&grad->builder, OP_sub, at, back->begin);
        Value *index = build2(&grad->builder, OP_sub, back->last, passed);
        scope_open(grad, scope);
        back->body(grad, back, index, after);
        scope_close(grad);
        if (!grad->failed && extend_carried(grad, back, scope)) {
            op_erase(loop);
            continue;
        }
        /* Then the program's order does. */
        if (is_unordered(back, scope, loop)) value_replace(index, at);
        return loop;
    }
}

static void go_back(Grad *grad, Back *back)
{
    Scope scope;
    Exports exports = {0};
    const Builder outside = grad->builder;
    Op *loop = build_back(grad, back, &scope);
    if (grad->failed) return;
    collect(grad, &scope, back->loop, &exports);
    loop = end_back(grad, back, loop, &scope, &exports);
    grad->builder = outside;
    for (size_t i = 0; i < back->carried.count; i++) {
        const Export *one = &back->carried.data[i];
        give_part(grad, back->inits[index_of(back, one)], one->part, &loop->results[i]);
    }
    for (size_t i = 0; i < exports.count; i++)
        give_part(grad, exports.data[i].value, exports.data[i].part,
                  &loop->results[back->carried.count + i]);
}

/* The replayed loop's results are those of before again: the values to `out`. */
static void keep_results(Grad *grad, const Op *loop, Value *const *before, Value **out)
{
    for (int i = 0; i < loop->result_count; i++) {
        out[i] = map_get(&grad->primal, &loop->results[i]);
        map_set(grad->arena, &grad->primal, &loop->results[i], before[i]);
    }
}

/* ---- for ---- */

/* What the loop carries into the iteration, from the last known iteration before it on. */
static void carried_before(Grad *grad, const Op *loop, const States *states, Value *index)
{
    const int count = loop->result_count;
    Value **before = arena_new_array(grad->arena, Value *, count + 1);
    Value **now = arena_new_array(grad->arena, Value *, count + 1);
    Value *from = states ? states_load(grad, states, index, now) : NULL;
    if (!states || states->stride) {
        for (int i = 0; i < count; i++) before[i] = map_get(&grad->primal, &loop->results[i]);
        Op *again = replay_op(grad, loop, true);
        for (int i = 0; states && i < count; i++)
            op_set_operand(again, operand_index(again, init) + i, now[i]);
        if (states) op_set_operand(again, operand_index(again, begin), from);
        op_set_operand(again, operand_index(again, end), index);
        keep_results(grad, loop, before, now);
    }
    for (int i = 0; i < count; i++)
        map_set(grad->arena, &grad->primal, loop->regions[0]->arguments[1 + i], now[i]);
}

static void back_through_for(Grad *grad, Back *back, Value *index, const Adjoint *after)
{
    Op *loop = back->loop;
    Region *region = loop->regions[0];
    if (back->count) carried_before(grad, loop, back->states, index);
    map_set(grad->arena, &grad->primal, region->arguments[0], index);
    replay(grad, region, true);
    const Op *yield = region_terminator(region);
    for (int i = 0; i < back->count; i++) give_both(grad, yield->operands[i], after[i]);
    reverse(grad, region);
}

/* begin + (end - begin - 1) / step * step */
static Value *last_index(Grad *grad, Value *begin, Value *end, Value *step)
{
    Builder *builder = &grad->builder;
    Value *one = build_const(builder, begin->type->dtype, 1);
    Value *span = build2(builder, OP_sub, build2(builder, OP_sub, end, begin), one);
    Value *steps = build2(builder, OP_floordiv, span, step);
    return build2(builder, OP_add, begin, build2(builder, OP_mul, steps, step));
}

static Adjoint *take_results(Grad *grad, const Op *loop)
{
    Adjoint *results = arena_new_array(grad->arena, Adjoint, loop->result_count + 1);
    for (int i = 0; i < loop->result_count; i++) results[i] = take_adjoint(grad, &loop->results[i]);
    return results;
}

/* The loop that was replayed last keeps what it carries. */
static States *keep_states(Grad *grad, const Back *back)
{
    const Builder outside = grad->builder;
    const Trips trips = {back->loop,  back->arguments, back->inits, back->count,
                         back->begin, back->end,       back->step};
    Op *kept = ((Value *)map_get(&grad->primal, back->loop->results))->op;
    Region *region = kept->regions[0];
    grad->builder = builder_before(kept);
    States *states = states_open(grad, &trips);
    grad->builder = builder_before(region->first);
    if (states) states_save(grad, states, region->arguments[0], region->arguments + 1);
    grad->builder = outside;
    if (states) states_close(grad, states);
    return states;
}

void adjoint_for(Grad *grad, Op *op)
{
    Back back = {.loop = op,
                 .arguments = op->regions[0]->arguments + 1,
                 .inits = operand_list(op, init),
                 .count = op->result_count,
                 .results = take_results(grad, op),
                 .begin = replayed(grad, operand(op, begin)),
                 .end = replayed(grad, operand(op, end)),
                 .step = replayed(grad, operand(op, step)),
                 .body = back_through_for};
    if (back.count) back.states = keep_states(grad, &back);
    back.last = last_index(grad, back.begin, back.end, back.step);
    go_back(grad, &back);
}

/* ---- while ---- */

/* The loop once more, with a number of its iterations behind what it carries. */
static Value *count_iterations(Grad *grad, const Op *loop)
{
    const int count = loop->result_count;
    Value **before = arena_new_array(grad->arena, Value *, count + 1);
    Value **now = arena_new_array(grad->arena, Value *, count + 1);
    for (int i = 0; i < count; i++) before[i] = map_get(&grad->primal, &loop->results[i]);
    Op *again = replay_op(grad, loop, true);
    keep_results(grad, loop, before, now);
    ValueVec operands = {0};
    VEC(const Type *) types = {0};
    const Type *number = type_scalar(grad->kernel->types, DTYPE_i32);
    Builder ahead = builder_before(again);
    for (int i = 0; i < again->operand_count; i++)
        vec_push(grad->arena, &operands, again->operands[i]);
    vec_push(grad->arena, &operands, build_const(&ahead, DTYPE_i32, 0));
    for (int i = 0; i < count; i++) vec_push(grad->arena, &types, again->results[i].type);
    vec_push(grad->arena, &types, number);
    Op *wide = op_rebuild(again, (int)operands.count, operands.data, count + 1, types.data);
    op_erase(again);
    Value *asked = region_add_argument(wide->regions[0], number, NULL);
    Value *passed = region_add_argument(wide->regions[1], number, NULL);
    op_add_operands(region_terminator(wide->regions[0]), 1, &asked);
    Op *yield = region_terminator(wide->regions[1]);
    Builder end = builder_before(yield);
    Value *next = build2(&end, OP_add, passed, build_const(&end, DTYPE_i32, 1));
    op_add_operands(yield, 1, &next);
    return &wide->results[count];
}

static void set_arguments(Grad *grad, const Region *region, Value *const *values)
{
    for (int i = 0; i < region->argument_count; i++)
        map_set(grad->arena, &grad->primal, region->arguments[i], values[i]);
}

static Value **replayed_list(Grad *grad, Value *const *values, int count)
{
    Value **out = arena_new_array(grad->arena, Value *, count + 1);
    for (int i = 0; i < count; i++) out[i] = replayed(grad, values[i]);
    return out;
}

/* Both regions, without the question: what the second one's terminator has. */
static Value **step_through(Grad *grad, const Op *loop, Value *const *state)
{
    const int count = loop->operand_count;
    const Op *asks = region_terminator(loop->regions[0]);
    set_arguments(grad, loop->regions[0], state);
    replay(grad, loop->regions[0], true);
    set_arguments(grad, loop->regions[1],
                  replayed_list(grad, operand_list(asks, carried), loop->result_count));
    replay(grad, loop->regions[1], true);
    return replayed_list(grad, region_terminator(loop->regions[1])->operands, count);
}

/* What is carried into the iteration of that number, from `state` of an earlier one on; `kept`:
 * that of each iteration on the way is kept there. */
static Value **state_before(Grad *grad, const Op *loop, Value *const *state, Value *from,
                            Value *number, States *kept)
{
    const int count = loop->operand_count;
    const Builder outside = grad->builder;
    ValueVec operands = {0};
    vec_push(grad->arena, &operands, from);
    vec_push(grad->arena, &operands, number);
    vec_push(grad->arena, &operands, build_const(&grad->builder, DTYPE_i32, 1));
    for (int i = 0; i < count; i++) vec_push(grad->arena, &operands, state[i]);
    Op *again = loop_build(&grad->builder, 3 + count, operands.data);
    Value **arguments = again->regions[0]->arguments;
    grad->builder = builder_at_end(again->regions[0], outside.span);
    if (kept) states_save(grad, kept, arguments[0], arguments + 1);
    Value **next = step_through(grad, loop, arguments + 1);
    build_op(&grad->builder, OP_yield, count, next, 0, NULL);
    grad->builder = outside;
    Value **out = arena_new_array(grad->arena, Value *, count + 1);
    for (int i = 0; i < count; i++) out[i] = &again->results[i];
    return out;
}

/* The same on the way back. */
static Value **state_at(Grad *grad, const Back *back, Value *number)
{
    const Op *loop = back->loop;
    Value *from = back->begin, **state = replayed_list(grad, loop->operands, back->count);
    if (back->states) from = states_load(grad, back->states, number, state);
    return state_before(grad, loop, state, from, number, NULL);
}

/* From the loop's beginning to its end. */
static Value **state_after(Grad *grad, Back *back)
{
    const Op *loop = back->loop;
    const Trips trips = {loop,        back->arguments, back->inits, back->count,
                         back->begin, back->end,       back->step};
    back->states = states_open(grad, &trips);
    Value **first = replayed_list(grad, loop->operands, back->count);
    Value **last = state_before(grad, loop, first, back->begin, back->end, back->states);
    if (back->states) states_close(grad, back->states);
    return last;
}

static void reverse_question(Grad *grad, const Op *loop, const Adjoint *after)
{
    const Op *asks = region_terminator(loop->regions[0]);
    for (int i = 0; i < loop->result_count; i++)
        give_both(grad, operand_list(asks, carried)[i], after[i]);
    reverse(grad, loop->regions[0]);
}

static void back_through_while(Grad *grad, Back *back, Value *index, const Adjoint *after)
{
    const Op *loop = back->loop;
    Adjoint *between = arena_new_array(grad->arena, Adjoint, back->count + 1);
    step_through(grad, loop, state_at(grad, back, index));
    const Op *yield = region_terminator(loop->regions[1]);
    for (int i = 0; i < back->count; i++) give_both(grad, yield->operands[i], after[i]);
    reverse(grad, loop->regions[1]);
    for (int i = 0; i < back->count; i++)
        between[i] = take_adjoint(grad, loop->regions[1]->arguments[i]);
    reverse_question(grad, loop, between);
}

/* The question is asked once more than the loop goes round. */
void adjoint_while(Grad *grad, Op *op)
{
    Region *asks = op->regions[0];
    if (op->result_count != op->operand_count) {
        grad_refuse(grad, op, "its regions carry different values");
        return;
    }
    const Adjoint *results = take_results(grad, op);
    Back back = {.loop = op,
                 .arguments = asks->arguments,
                 .inits = op->operands,
                 .count = op->result_count,
                 .results = arena_new_array(grad->arena, Adjoint, op->result_count + 1),
                 .begin = build_const(&grad->builder, DTYPE_i32, 0),
                 .end = count_iterations(grad, op),
                 .step = build_const(&grad->builder, DTYPE_i32, 1),
                 .body = back_through_while};
    set_arguments(grad, asks, state_after(grad, &back));
    replay(grad, asks, true);
    reverse_question(grad, op, results);
    for (int i = 0; i < back.count; i++) back.results[i] = take_adjoint(grad, asks->arguments[i]);
    back.last = last_index(grad, back.begin, back.end, back.step);
    go_back(grad, &back);
}
