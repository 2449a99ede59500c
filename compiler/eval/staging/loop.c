/* loop.c: control whose condition or count is known at run time only: regions. */
#include "eval/staging/staging.h"

enum { RETRY_LIMIT = 64 };

static Flow run_rest(Eval *eval, void *context)
{
    return eval_rest(eval, context);
}

/* rest: what the other branch left to this one; or NULL. */
static Flow stage_way(Eval *eval, Region *region, const Way *way, Rest *rest, ChangeVec *changed)
{
    Control control = control_enter(eval, region);
    Flow flow = way->run(eval, way->context);
    if (rest != NULL) rest->taken = true;
    if (rest != NULL && flow == FLOW_NEXT)
        flow = eval_rest(eval, rest);
    else if (rest != NULL && flow == FLOW_MAYBE)
        flow = stage_rest(eval, run_rest, rest);
    build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
    control_leave(eval, control, changed);
    return flow;
}

Flow stage_ways(Eval *eval, Value *condition, const Way ways[2], Rest *rest)
{
    Op *op = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    ChangeVec changes[2] = {{0}, {0}};
    Flow flows[2] = {FLOW_NEXT, FLOW_NEXT};
    int first = ways[1].leaves && !ways[0].leaves;
    for (int turn = 0; turn < 2; turn++) {
        int i = turn == 0 ? first : 1 - first;
        bool takes = turn == 1 && rest != NULL && flow_leaves(flows[1 - i]);
        flows[i] = stage_way(eval, op->regions[i], &ways[i], takes ? rest : NULL, &changes[i]);
        if (flows[i] == FLOW_ERROR) return FLOW_ERROR;
    }
    merge_branches(eval, op, changes, flows);
    return flow_join(flows[0], flows[1]);
}

/* ---- loops: on trial until all that is carried from iteration to iteration is known ---- */

typedef struct Loop {
    const Node *node;
    const Node *target; /* of a for */
    Nodes body, orelse;
    OpCode code;
    Value *bounds[3]; /* of a for: begin, end, step */
    int64_t by;       /* the step as far as it is known; 0: not */
    Object *map;
    Object *start, *step; /* of a for that may go down: i = start + counter * step */
    int64_t unroll, stages;
    bool runs_once;
    bool stops;     /* a break or return ends it: then a for is a while, too */
    bool is_masked; /* of a parallel loop: each has bounds of its own, or may leave on its own */
    int64_t trips;  /* 0: not known */
    Binding *stopped, *counter;
    MaskedLoop masked;
} Loop;

static bool bind_counter(Eval *eval, const Loop *loop, Value *counter)
{
    Object *object = object_ir(eval, counter);
    if (loop->step != NULL) {
        if (object_is_staged(loop->step))
            object = object_ir(
                eval, stage_cast(eval, counter, stage_value(eval, loop->step)->type->dtype));
        object = operate_binary(eval, OPERATOR_Mult, object, loop->step, eval->at);
        object = object != NULL ? operate_binary(eval, OPERATOR_Add, object, loop->start, eval->at)
                                : NULL;
    }
    if (object != NULL && loop->map != NULL)
        object = call_simple(eval, loop->map, 1, &object, eval->at);
    return object != NULL && masked_assign_all(eval, loop->target, object);
}

/* The counter of this iteration goes to the loop's target. */
static bool begin_iteration(Eval *eval, const Loop *loop, Region *region)
{
    jump_clear_all(eval, eval->at);
    if (loop->target == NULL) return true;
    const Node *target = loop->target;
    Name name = target->kind == NODE_Name ? NODE_AS(Name, target)->id : NULL;
    if (loop->code == OP_for)
        return bind_counter(eval, loop, region_add_argument(region, loop->bounds[0]->type, name));
    Object *counter = binding_get(eval, loop->counter, eval->at);
    return counter != NULL && bind_counter(eval, loop, stage_value(eval, counter));
}

/* What is the loop's own is no iteration's. */
static bool set_own(Eval *eval, Binding *binding, Object *object)
{
    Value **mask = eval->parallel != NULL ? &eval->parallel->mask : NULL, *outer = NULL;
    if (mask != NULL) outer = *mask, *mask = NULL;
    const bool good = binding_set(eval, binding, object, eval->at);
    if (mask != NULL) *mask = outer;
    return good;
}

/* A step further, but not beyond the end: sums would wrap there. What is left to it is a number
 * without a sign, as it may be one more bit. */
static Value *next_counter(Eval *eval, const Loop *loop, Value *counter)
{
    Value *end = loop->bounds[1], *step = loop->bounds[2];
    const bool is_wide = counter->type->dtype == DTYPE_i64;
    const DType without_sign = is_wide ? DTYPE_u64 : DTYPE_u32;
    const int64_t largest = is_wide ? INT64_MAX : INT32_MAX;
    int64_t last;
    const bool is_known = value_constant(end, &last) && loop->by > 0 && last <= largest - loop->by;
    if (loop->by == 1 || is_known) return build2(&eval->builder, OP_add, counter, step);
    Value *left = build2(&eval->builder, OP_sub, end, counter);
    step = build2(&eval->builder, OP_min, stage_cast(eval, step, without_sign),
                  stage_cast(eval, left, without_sign));
    return build2(&eval->builder, OP_add, counter, stage_cast(eval, step, counter->type->dtype));
}

static bool end_iteration(Eval *eval, const Loop *loop)
{
    jump_clear(eval, JUMP_CONTINUE, eval->at);
    if (loop->stops) {
        Object *stop = jump_taken(eval, JUMPS_STOP);
        if (stop == NULL || !set_own(eval, loop->stopped, stop)) return false;
    }
    if (loop->counter == NULL) return true;
    Object *counter = binding_get(eval, loop->counter, eval->at);
    if (counter == NULL) return false;
    Value *next = next_counter(eval, loop, stage_value(eval, counter));
    return set_own(eval, loop->counter, object_ir(eval, next));
}

/* Those that have iterations left, of a loop whose bounds differ. */
static Object *iterations_left(Eval *eval, const Loop *loop)
{
    Object *counter = binding_get(eval, loop->counter, eval->at);
    if (counter == NULL) return NULL;
    return object_ir(eval,
                     build_cmp(&eval->builder, "lt", stage_value(eval, counter), loop->bounds[1]));
}

static Value *loop_condition(Eval *eval, const Loop *loop)
{
    if (loop->target == NULL) {
        Object *test = object_condition(eval, eval_expr(eval, NODE_AS(While, loop->node)->test));
        if (test != NULL && masked_differ(eval, test)) return masked_any(eval, test, eval->at);
        return test != NULL ? stage_condition(eval, test, eval->at) : NULL;
    }
    Object *left = iterations_left(eval, loop);
    if (left == NULL || !masked_differ(eval, left))
        return left != NULL ? stage_value(eval, left) : NULL;
    return masked_any(eval, left, eval->at);
}

typedef struct Test {
    const Loop *loop;
    Binding *holds;
} Test;

static Flow run_test(Eval *eval, void *context)
{
    const Test *test = context;
    Value *condition = loop_condition(eval, test->loop);
    if (condition == NULL) return FLOW_ERROR;
    binding_put(eval, test->holds, object_ir(eval, condition), eval->at);
    return FLOW_NEXT;
}

static Binding *unnamed_binding(Eval *eval, const char *name, Object *object)
{
    Binding *binding = arena_new_of(eval->arena, Binding);
    binding->name = intern_text(eval->session->names, name);
    binding->sight = SIGHT_ALL;
    binding_put(eval, binding, object, eval->at);
    return binding;
}

/* A loop that was stopped does not test again. */
static Value *whole_condition(Eval *eval, const Loop *loop)
{
    if (!loop->stops) return loop_condition(eval, loop);
    Object *stopped = binding_get(eval, loop->stopped, eval->at);
    Test test = {loop, unnamed_binding(eval, "holds", eval->no)};
    if (stopped == NULL || stage_unless(eval, stopped, FLOW_NEXT, run_test, &test) == FLOW_ERROR)
        return NULL;
    Object *holds = binding_get(eval, test.holds, eval->at);
    return holds != NULL ? stage_condition(eval, holds, eval->at) : NULL;
}

/* One that all iterations of a parallel loop have left does not, either. */
static Value *left_condition(Eval *eval, const Loop *loop)
{
    if (!loop->is_masked || loop->masked.gone == NULL) return whole_condition(eval, loop);
    Value *outer = eval->parallel->mask;
    eval->parallel->mask = masked_left_in(eval, &loop->masked);
    Value *any = masked_any(eval, NULL, eval->at);
    Value *condition = whole_condition(eval, loop);
    eval->parallel->mask = outer;
    return condition != NULL ? build2(&eval->builder, OP_and, any, condition) : NULL;
}

static bool stage_test(Eval *eval, const Loop *loop, Region *region, ChangeVec *changes)
{
    Control control = control_enter(eval, region);
    Value *condition = left_condition(eval, loop);
    if (condition != NULL) build_op(&eval->builder, OP_condition, 1, &condition, 0, NULL);
    control_leave(eval, control, changes);
    return condition != NULL;
}

/* In a parallel loop, an iteration is for the iterations whose test holds. */
static bool run_iteration(Eval *eval, const Loop *loop)
{
    if (eval->parallel != NULL && loop->code == OP_while) {
        Object *test = loop->target == NULL ? eval_expr(eval, NODE_AS(While, loop->node)->test)
                                            : iterations_left(eval, loop);
        if (test == NULL) return false;
        if (masked_differ(eval, test) && !masked_narrow(eval, test, eval->at)) return false;
        eval->parallel->entered = eval->parallel->mask;
    }
    return eval_block(eval, loop->body) != FLOW_ERROR;
}

/* *stops: whether an iteration may end the loop. */
static bool stage_body(Eval *eval, Loop *loop, Op *op, ChangeVec *changes, bool *stops)
{
    Region *region = op->regions[op->region_count - 1];
    Span at = eval->at;
    if (loop->code == OP_while && !stage_test(eval, loop, op->regions[0], changes)) return false;
    Control control = control_enter(eval, region);
    bool good = begin_iteration(eval, loop, region);
    const MaskedFrame masked = masked_enter(eval, &loop->masked);
    good = good && run_iteration(eval, loop);
    masked_leave(eval, masked);
    iteration_close(eval);
    eval_move(eval, at);
    *stops = jump_possible(eval, JUMP_BREAK) || jump_possible(eval, JUMP_RETURN);
    good = good && end_iteration(eval, loop);
    build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
    control_leave(eval, control, changes);
    return good;
}

static const Op *launch_around(const Op *op)
{
    return op == NULL || op->code == OP_launch ? op : op_enclosing(op, OP_launch);
}

static const Op *op_of(const Value *value)
{
    return value->op != NULL ? value->op : value->region != NULL ? value->region->parent : NULL;
}

/* A value of a launch that has ended. */
static bool is_of_other_launch(const Eval *eval, const Object *object)
{
    const Op *op = NULL;
    if (object == NULL) return false;
    if (object->kind == OBJECT_IR) op = op_of(object->as.ir.value);
    if (object->kind == OBJECT_CELL) op = op_of(object->as.ir.var);
    if (object->kind == OBJECT_MERGE) op = object->as.merge->control;
    const Op *launch = launch_around(op);
    return launch != NULL && launch != launch_around(eval->builder.region->parent);
}

/* A name that nothing in the loop reads, and that has no value on some way to it, or one of another
 * launch, is one without any: who reads it behind the loop is told so. */
static bool forget_unbound(Eval *eval, Binding *binding)
{
    if (is_of_other_launch(eval, binding->object)) {
        binding_put(eval, binding, NULL, eval->at);
        return true;
    }
    LoopTrial *trial = eval->trial;
    eval->trial = NULL; /* to ask is not to read */
    eval->quiet++;
    const bool unbound = binding_get(eval, binding, eval->at) == NULL;
    eval->quiet--;
    eval->trial = trial;
    if (unbound) binding_put(eval, binding, NULL, eval->at);
    return unbound;
}

/* The names that must be variables before the loop. */
static bool make_variables(Eval *eval, const LoopTrial *trial, const ChangeVec *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        const Change *change = &changes->data[i];
        if (!change_is_carried(eval, trial, change)) continue;
        if (change->binding->object != NULL && !map_has(&trial->reads, change->binding) &&
            forget_unbound(eval, change->binding))
            continue;
        if (!binding_make_variable(eval, change->binding, change->after)) return false;
    }
    return true;
}

static Op *build_loop(Eval *eval, const Loop *loop)
{
    bool counts = loop->code == OP_for;
    Op *op = build_op(&eval->builder, loop->code, counts ? 3 : 0, loop->bounds, 0, NULL);
    if (counts && loop->unroll != 0) op_set_int(op, ATTR_unroll, loop->unroll);
    if (counts && loop->stages != 0) op_set_int(op, ATTR_stages, loop->stages);
    return op;
}

/* So many iterations are run whether there is something to do in them or not. */
enum { SHORT = 16 };

static bool is_short(const Loop *loop)
{
    return loop->code == OP_for && loop->trips > 0 && loop->trips <= SHORT;
}

/* A `for` becomes a `while` with a counter. */
static void test_each_iteration(Eval *eval, Loop *loop)
{
    loop->code = OP_while;
    if (loop->target != NULL && loop->counter == NULL)
        loop->counter = unnamed_binding(eval, "counter", object_ir(eval, loop->bounds[0]));
}

/* One trial. *settled: all that is carried from iteration to iteration was known. */
static bool try_loop(Eval *eval, Loop *loop, bool *settled)
{
    Span at = eval->at;
    if (!eval_works(eval, WORK_OF_LOOP, at)) return false; /* loops in loops: again and again */
    Op *op = build_loop(eval, loop);
    LoopTrial trial = {
        .start = eval->clock, .frame = eval->frame, .control = eval->control, .outer = eval->trial};
    ChangeVec changes = {0};
    bool stops = false;
    eval->trial = &trial;
    bool good = stage_body(eval, loop, op, &changes, &stops);
    eval->trial = trial.outer;
    if (!good) return false;
    eval_move(eval, at);
    const bool leaves = masked_left(&loop->masked) && !loop->is_masked;
    *settled = !trial.again && (!stops || loop->stops) && !leaves;
    for (size_t i = 0; *settled && i < changes.count; i++)
        *settled = !change_is_carried(eval, &trial, &changes.data[i]);
    if (*settled) {
        merge_loop(eval, op, &changes, loop->runs_once);
        return true;
    }
    op_erase(op); /* before the variables are made, so that they come where it stood */
    if (stops && !loop->stops) {
        loop->stops = true;
        loop->stopped = unnamed_binding(eval, "stopped", eval->no);
    }
    loop->is_masked |= leaves;
    if (loop->stops || (leaves && !is_short(loop))) test_each_iteration(eval, loop);
    return make_variables(eval, &trial, &changes);
}

static Flow stage_loop(Eval *eval, Loop *loop, bool endless)
{
    Span at = eval->at;
    bool good = false, settled = false;
    loop->masked = masked_open(eval, loop->body);
    for (int retry = 0; retry < RETRY_LIMIT && !settled; retry++) {
        eval_move(eval, at);
        OpenLoop outer = loop_open(eval);
        good = try_loop(eval, loop, &settled);
        loop_close(eval, outer);
        if (!good) break;
    }
    if (good && !settled) FAIL(eval, loop_unsettled, at);
    if (!good || !settled) return FLOW_ERROR;
    bool breaks = jump_possible(eval, JUMP_BREAK), returns = jump_possible(eval, JUMP_RETURN);
    if (!endless || breaks || loop->masked.broken)
        return finish_loop(eval, breaks || returns ? FLOW_MAYBE : FLOW_NEXT, loop->orelse,
                           &loop->masked);
    masked_close(eval, &loop->masked);
    if (loop->masked.returned) return eval->parallel->loops > 0 ? FLOW_CONTINUE : FLOW_RETURN;
    if (returns) jump_take(eval, JUMP_RETURN, eval->at); /* there is no other way out */
    return returns ? FLOW_RETURN : FLOW_GONE;
}

/* ---- for over a range ---- */

static int64_t trip_count(int64_t start, int64_t stop, int64_t step)
{
    bool up = step > 0;
    if (up ? stop <= start : stop >= start) return 0;
    uint64_t distance = up ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t width = up ? (uint64_t)step : 0 - (uint64_t)step;
    uint64_t trips = (distance - 1) / width + 1;
    return trips > INT64_MAX ? INT64_MAX : (int64_t)trips;
}

static bool is_wide(const Object *object)
{
    if (object->kind == OBJECT_INT) return object->as.integer != (int32_t)object->as.integer;
    const Type *type = argument_type(object);
    return type != NULL && type->dtype != DTYPE_i32 && dtype_bits(type->dtype) >= 32;
}

static Value *stage_bound(Eval *eval, Object *bound, DType dtype, bool differ)
{
    return differ ? masked_number(eval, bound, dtype, eval->at)
                  : stage_scalar(eval, bound, dtype, eval->at);
}

/* A loop that goes down, or may, as shows when it runs: its iterations are counted from 0. As
 * numbers without a sign the differences do not wrap. */
static void count_iterations(Eval *eval, Loop *loop, bool differ)
{
    Builder *at = &eval->builder;
    Value *start = loop->bounds[0], *stop = loop->bounds[1], *step = loop->bounds[2];
    const DType dtype = step->type->dtype,
                without_sign = dtype == DTYPE_i64 ? DTYPE_u64 : DTYPE_u32;
    Value *zero = stage_bound(eval, object_int(eval, 0), dtype, differ);
    Value *none = stage_bound(eval, object_int(eval, 0), without_sign, differ);
    Value *one = stage_bound(eval, object_int(eval, 1), without_sign, differ);
    Value *up = build_cmp(at, "gt", step, zero);
    Value *low = build3(at, OP_select, up, start, stop),
          *high = build3(at, OP_select, up, stop, start);
    Value *runs =
        build2(at, OP_and, build_cmp(at, "lt", low, high), build_cmp(at, "ne", step, zero));
    Value *width = build3(at, OP_select, up, step, build1(at, OP_neg, step));
    width = build2(at, OP_max, stage_cast(eval, width, without_sign), one);
    Value *last = stage_cast(eval, build2(at, OP_sub, high, low), without_sign);
    last = build2(at, OP_div, build2(at, OP_sub, last, one), width);
    Value *trips = build3(at, OP_select, runs, build2(at, OP_add, last, one), none);
    loop->start = object_ir(eval, start);
    loop->step = object_ir(eval, step);
    loop->by = 1;
    loop->bounds[0] = stage_bound(eval, object_int(eval, 0), DTYPE_i64, differ);
    loop->bounds[1] = stage_cast(eval, trips, DTYPE_i64);
    loop->bounds[2] = stage_bound(eval, object_int(eval, 1), DTYPE_i64, differ);
}

enum { MOST_VALUES = 64 }; /* that are looked at: one may be met by many ways */

/* As far as it shows: sizes of grids, numbers without a sign, what is made of such. */
static bool is_positive(const Value *value, int *left)
{
    int64_t number;
    const Op *op = value->op;
    if (value_constant(value, &number)) return number > 0;
    if (--*left < 0) return false;
    if (op && op->code == OP_splat) return is_positive(operand(op, a), left);
    if (!dtype_is_signed(value->type->dtype)) return true;
    if (!op) return false;
    const bool each = op->code == OP_mul || op->code == OP_add || op->code == OP_min,
               any = op->code == OP_max;
    if (op->code == OP_cast) return is_positive(operand(op, a), left);
    if (!each && !any) return op->code == OP_grid_dim;
    const bool first = is_positive(operand(op, a), left),
               second = is_positive(operand(op, b), left);
    return each ? first && second : first || second;
}

static bool set_bounds(Eval *eval, Loop *loop, Object *const bounds[3])
{
    bool wide = is_wide(bounds[0]) || is_wide(bounds[1]) || is_wide(bounds[2]), differ = false;
    for (int i = 0; i < 3; i++) differ |= masked_differ(eval, bounds[i]);
    if (bounds[2]->kind == OBJECT_INT) loop->by = bounds[2]->as.integer;
    for (int i = 0; i < 3; i++) {
        loop->bounds[i] = stage_bound(eval, bounds[i], wide ? DTYPE_i64 : DTYPE_i32, differ);
        if (loop->bounds[i] == NULL) return false;
    }
    int left = MOST_VALUES;
    if (!is_positive(loop->bounds[2], &left)) count_iterations(eval, loop, differ);
    if (!differ) return true;
    /* those with no iterations stay at their end */
    loop->bounds[1] = build2(&eval->builder, OP_max, loop->bounds[0], loop->bounds[1]);
    test_each_iteration(eval, loop);
    return true;
}

static bool read_unroll(Eval *eval, const Object *range, Loop *loop, int64_t trips)
{
    const Object *unroll = range->as.range.unroll;
    loop->unroll = 0;
    if (unroll == NULL || unroll->kind == OBJECT_NONE) return true;
    if (unroll->kind == OBJECT_INT && unroll->as.integer > 0) {
        loop->unroll = unroll->as.integer;
        return true;
    }
    if (unroll->kind == OBJECT_TEXT) { /* "all" */
        loop->unroll = trips;
        return true;
    }
    FAIL(eval, expected_kind, eval->at, "unroll", "'all' or a positive int",
         object_repr(eval, unroll));
    return false;
}

/* One that goes down so many iterations. */
static void turn_iteration(Eval *eval, Loop *loop, Object *bounds[3])
{
    loop->start = bounds[0];
    loop->step = bounds[2];
    bounds[0] = object_int(eval, 0);
    bounds[1] = object_int(eval, loop->trips);
    bounds[2] = object_int(eval, 1);
}

Flow stage_for(Eval *eval, const NodeFor *node, Object *range)
{
    Loop loop = {.node = &node->base,
                 .target = node->target,
                 .body = node->body,
                 .orelse = node->orelse,
                 .code = OP_for,
                 .stages = range->as.range.stages,
                 .map = range->as.range.map};
    Object *bounds[3] = {range->as.range.start, range->as.range.stop, range->as.range.step};
    int64_t trips = 0;
    bool known = true;
    for (int i = 0; i < 3; i++) known &= !object_is_staged(bounds[i]);
    if (bounds[2]->kind == OBJECT_INT && bounds[2]->as.integer == 0) {
        FAIL(eval, zero_step, eval->at, "a range");
        return FLOW_ERROR;
    }
    if (known) {
        trips = trip_count(bounds[0]->as.integer, bounds[1]->as.integer, bounds[2]->as.integer);
        if (trips == 0) return eval_block(eval, node->orelse);
        loop.runs_once = true;
        loop.trips = trips;
    }
    if (known && bounds[2]->as.integer < 0) turn_iteration(eval, &loop, bounds);
    if (!read_unroll(eval, range, &loop, trips) || !set_bounds(eval, &loop, bounds))
        return FLOW_ERROR;
    return stage_loop(eval, &loop, false);
}

/* ---- while ---- */

bool is_literal_true(const Node *node)
{
    if (node->kind != NODE_Constant) return false;
    const Literal *literal = &NODE_AS(Constant, node)->value;
    return literal->kind == LITERAL_TRUE || (literal->kind == LITERAL_INT && literal->integer != 0);
}

Flow stage_while(Eval *eval, const NodeWhile *node)
{
    bool endless = is_literal_true(node->test);
    Loop loop = {.node = &node->base,
                 .body = node->body,
                 .orelse = node->orelse,
                 .code = OP_while,
                 .runs_once = endless};
    return stage_loop(eval, &loop, endless);
}
