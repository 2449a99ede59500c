/* loop.c: control whose condition or count is known at run time only: regions. */
#include "eval/value.h"

enum { RETRY_LIMIT = 64 };

/* ---- if ---- */

static Flow stage_branch(Eval *eval, Region *region, Nodes body, ChangeVec *changed)
{
    int outer = eval->frame->loop;
    Control control = control_enter(eval, region);
    eval->frame->loop = -1;
    Flow flow = eval_block(eval, body);
    eval->frame->loop = outer;
    build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
    control_leave(eval, control, changed);
    return flow;
}

Flow stage_if(Eval *eval, const NodeIf *node, Value *condition)
{
    Op *op = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    const Nodes bodies[2] = {node->body, node->orelse};
    ChangeVec changes[2] = {{0}, {0}};
    for (int i = 0; i < 2; i++)
        if (stage_branch(eval, op->regions[i], bodies[i], &changes[i]) != FLOW_NEXT)
            return FLOW_ERROR;
    merge_branches(eval, op, changes);
    return FLOW_NEXT;
}

/* a if condition else b */
Object *stage_choice(Eval *eval, const NodeIfExp *node, Value *condition)
{
    Op *op = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    const Node *sides[2] = {node->body, node->orelse};
    ChangeVec changes[2] = {{0}, {0}};
    Binding *unnamed = arena_new_of(eval->arena, Binding);
    unnamed->name = intern_text(eval->session->names, "choice");
    Object *object = object_new(eval, OBJECT_MERGE);
    object->as.merge = arena_new_of(eval->arena, Merge);
    Merge *merge = object->as.merge;
    *merge = (Merge){.control = op, .before = UINT64_MAX, .binding = unnamed};
    for (int i = 0; i < 2; i++) {
        Control control = control_enter(eval, op->regions[i]);
        merge->values[i] = eval_expr(eval, sides[i]);
        build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
        control_leave(eval, control, &changes[i]);
        merge->regions[i] = op->regions[i];
        merge->at[i] = sides[i]->span;
        if (merge->values[i] == NULL) return NULL;
    }
    merge_branches(eval, op, changes);
    Object *lifted = merge_lift(eval, object, node->base.span);
    if (lifted != NULL && lifted->kind == OBJECT_CELL)
        return object_ir(eval, build1(&eval->builder, OP_var_get, lifted->as.ir.var));
    if (lifted != NULL && lifted->kind == OBJECT_TILE) lifted->fresh = true;
    return lifted;
}

/* ---- loops: on trial until all that is carried round is known ---- */

typedef struct Loop {
    const Node *node;
    const Node *target; /* of a for */
    Nodes body;
    OpCode code;
    Value *bounds[3];     /* of a for: begin, end, step */
    Object *start, *step; /* of a for with a negative step: i = start + counter * step */
    int64_t unroll;
    bool runs_once;
} Loop;

static bool bind_counter(Eval *eval, const Loop *loop, Region *region)
{
    const Node *target = loop->target;
    Name name = target->kind == NODE_Name ? NODE_AS(Name, target)->id : NULL;
    Value *counter = region_add_argument(region, loop->bounds[0]->type, name);
    Object *object = object_ir(eval, counter);
    if (loop->step != NULL) {
        object = operate_binary(eval, OPERATOR_Mult, object, loop->step, eval->at);
        object = object != NULL ? operate_binary(eval, OPERATOR_Add, object, loop->start, eval->at)
                                : NULL;
    }
    return object != NULL && assign_target(eval, target, object);
}

static bool stage_test(Eval *eval, const Loop *loop, Region *region, ChangeVec *changes)
{
    Control control = control_enter(eval, region);
    Object *test = eval_expr(eval, NODE_AS(While, loop->node)->test);
    Value *condition = test != NULL ? stage_condition(eval, test, eval->at) : NULL;
    if (condition != NULL) build_op(&eval->builder, OP_condition, 1, &condition, 0, NULL);
    control_leave(eval, control, changes);
    return condition != NULL;
}

static Flow stage_body(Eval *eval, const Loop *loop, Op *op, ChangeVec *changes)
{
    Region *region = op->regions[op->region_count - 1];
    if (loop->code == OP_while && !stage_test(eval, loop, op->regions[0], changes))
        return FLOW_ERROR;
    int outer = eval->frame->loop;
    Control control = control_enter(eval, region);
    eval->frame->loop = -1;
    bool bound = loop->code != OP_for || bind_counter(eval, loop, region);
    Flow flow = bound ? eval_block(eval, loop->body) : FLOW_ERROR;
    eval->frame->loop = outer;
    build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
    control_leave(eval, control, changes);
    return flow;
}

/* The names that must be variables before the loop. */
static bool make_variables(Eval *eval, const LoopTrial *trial, const ChangeVec *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        if (change_is_carried(trial, &changes->data[i]) &&
            !binding_make_variable(eval, changes->data[i].binding, changes->data[i].after))
            return false;
    return true;
}

static Flow stage_loop(Eval *eval, const Loop *loop)
{
    Span at = eval->at;
    for (int retry = 0; retry < RETRY_LIMIT; retry++) {
        eval_move(eval, at);
        Op *op = build_op(&eval->builder, loop->code, loop->code == OP_for ? 3 : 0, loop->bounds, 0,
                          NULL);
        if (loop->unroll != 0) op_set_int(op, ATTR_unroll, loop->unroll);
        LoopTrial trial = {.start = eval->clock, .outer = eval->trial};
        ChangeVec changes = {0};
        eval->trial = &trial;
        Flow flow = stage_body(eval, loop, op, &changes);
        eval->trial = trial.outer;
        if (flow != FLOW_NEXT) return FLOW_ERROR;
        eval_move(eval, at);
        int carried = 0;
        for (size_t i = 0; i < changes.count; i++)
            carried += change_is_carried(&trial, &changes.data[i]);
        if (carried == 0) {
            merge_loop(eval, op, &changes, loop->runs_once);
            return FLOW_NEXT;
        }
        op_erase(op); /* before the variables are made, so that they come where it stood */
        if (!make_variables(eval, &trial, &changes)) return FLOW_ERROR;
    }
    FAIL(eval, bad_value, at, "what this loop carries round never settles");
    return FLOW_ERROR;
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
    return object->kind == OBJECT_IR && object->as.ir.value->type->dtype != DTYPE_i32 &&
           dtype_bits(object->as.ir.value->type->dtype) >= 32;
}

static bool set_bounds(Eval *eval, Loop *loop, Object *const bounds[3])
{
    bool wide = is_wide(bounds[0]) || is_wide(bounds[1]) || is_wide(bounds[2]);
    for (int i = 0; i < 3; i++) {
        loop->bounds[i] = stage_scalar(eval, bounds[i], wide ? DTYPE_i64 : DTYPE_i32, eval->at);
        if (loop->bounds[i] == NULL) return false;
    }
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

/* A negative step counts up from 0: the `for` op counts up alone. */
static void turn_round(Eval *eval, Loop *loop, Object *bounds[3], int64_t trips)
{
    loop->start = bounds[0];
    loop->step = bounds[2];
    bounds[0] = object_int(eval, 0);
    bounds[1] = object_int(eval, trips);
    bounds[2] = object_int(eval, 1);
}

Flow stage_for(Eval *eval, const NodeFor *node, Object *range)
{
    Loop loop = {.node = &node->base, .target = node->target, .body = node->body, .code = OP_for};
    Object *bounds[3] = {range->as.range.start, range->as.range.stop, range->as.range.step};
    int64_t trips = 0;
    bool known = true;
    for (int i = 0; i < 3; i++) known &= !object_is_staged(bounds[i]);
    if (bounds[2]->kind == OBJECT_INT && bounds[2]->as.integer == 0) {
        FAIL(eval, bad_value, eval->at, "the step of a range is zero");
        return FLOW_ERROR;
    }
    if (known) {
        trips = trip_count(bounds[0]->as.integer, bounds[1]->as.integer, bounds[2]->as.integer);
        if (trips == 0) return eval_block(eval, node->orelse);
        loop.runs_once = true;
    }
    bool backwards = bounds[2]->kind == OBJECT_INT && bounds[2]->as.integer < 0;
    if (backwards && !known) {
        FAIL(eval, unsupported, eval->at, "a negative step with run-time bounds");
        return FLOW_ERROR;
    }
    if (backwards) turn_round(eval, &loop, bounds, trips);
    if (!read_unroll(eval, range, &loop, trips) || !set_bounds(eval, &loop, bounds))
        return FLOW_ERROR;
    Flow flow = stage_loop(eval, &loop);
    return flow == FLOW_NEXT ? eval_block(eval, node->orelse) : flow;
}

/* ---- while ---- */

Flow stage_while(Eval *eval, const NodeWhile *node)
{
    Loop loop = {.node = &node->base, .body = node->body, .code = OP_while};
    Flow flow = stage_loop(eval, &loop);
    return flow == FLOW_NEXT ? eval_block(eval, node->orelse) : flow;
}
