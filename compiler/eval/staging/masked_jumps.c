/* masked_jumps.c: iterations of a parallel loop that leave a serial loop in it, or a call, on their
 * own: by masks. Who has left a loop is kept in a variable before it, who has returned and with
 * what in variables at the start of the call; an iteration is for those that are left. */
#include "eval/staging/staging.h"

#include <string.h>

/* ---- what jumps out of statements ---- */

static unsigned jumps_of(Nodes statements);

static unsigned jumps_of_loop(Nodes body, Nodes orelse)
{
    return (jumps_of(body) & 1u << JUMP_RETURN) | jumps_of(orelse);
}

/* By its name alone, as no value is known yet: at worst there is a jump where none is (run_marker).
 */
static bool is_loop_break(const Node *expression)
{
    if (expression->kind != NODE_Call) return false;
    const Node *called = NODE_AS(Call, expression)->func;
    const char *name = called->kind == NODE_Attribute ? NODE_AS(Attribute, called)->attr
                       : called->kind == NODE_Name    ? NODE_AS(Name, called)->id
                                                      : "";
    return strcmp(name, "loop_break") == 0;
}

/* As bits of JumpKind. */
static unsigned jumps_in(const Node *node)
{
    switch ((int)node->kind) {
    case NODE_Expr: return is_loop_break(NODE_AS(Expr, node)->value) ? 1u << JUMP_BREAK : 0;
    case NODE_Continue: return 1u << JUMP_CONTINUE;
    case NODE_Break: return 1u << JUMP_BREAK;
    case NODE_Return: return 1u << JUMP_RETURN;
    case NODE_If: return jumps_of(NODE_AS(If, node)->body) | jumps_of(NODE_AS(If, node)->orelse);
    case NODE_For: return jumps_of_loop(NODE_AS(For, node)->body, NODE_AS(For, node)->orelse);
    case NODE_While: return jumps_of_loop(NODE_AS(While, node)->body, NODE_AS(While, node)->orelse);
    case NODE_With: return jumps_of(NODE_AS(With, node)->body);
    case NODE_Match: return jumps_of(NODE_AS(Match, node)->cases);
    case NODE_match_case: return jumps_of(NODE_AS(match_case, node)->body);
    default: return 0;
    }
}

static unsigned jumps_of(Nodes statements)
{
    unsigned jumps = 0;
    for (uint32_t i = 0; i < statements.count; i++) jumps |= jumps_in(statements.items[i]);
    return jumps;
}

bool block_jumps(Nodes statements)
{
    return jumps_of(statements) != 0;
}

static int count_jumps(Nodes statements);

static int count_in(const Node *node)
{
    switch ((int)node->kind) {
    case NODE_If:
        return count_jumps(NODE_AS(If, node)->body) + count_jumps(NODE_AS(If, node)->orelse);
    case NODE_For: return count_jumps(NODE_AS(For, node)->body);
    case NODE_While: return count_jumps(NODE_AS(While, node)->body);
    case NODE_With: return count_jumps(NODE_AS(With, node)->body);
    case NODE_Match: return count_jumps(NODE_AS(Match, node)->cases);
    case NODE_match_case: return count_jumps(NODE_AS(match_case, node)->body);
    default: return jumps_in(node) != 0;
    }
}

static int count_jumps(Nodes statements)
{
    int count = 0;
    for (uint32_t i = 0; i < statements.count; i++) count += count_in(statements.items[i]);
    return count;
}

/* A loop's only jump is a break: then it ends for all iterations. */
static bool breaks_plainly(const Parallel *parallel, unsigned jumps)
{
    return jumps == 1u << JUMP_BREAK && parallel->mask == parallel->entered &&
           parallel->loop != NULL && parallel->loop->jumps == 1;
}

bool masked_leave_by(const Eval *eval, const Nodes bodies[2])
{
    const Parallel *parallel = eval->parallel;
    if (parallel == NULL || eval->control != parallel->base_control) return false;
    const unsigned jumps = jumps_of(bodies[0]) | jumps_of(bodies[1]);
    return jumps != 0 && !breaks_plainly(parallel, jumps);
}

/* ---- variables ---- */

/* Of a tile type, zero at first. */
static Value *make_variable(Eval *eval, Builder *at, const Type *type)
{
    Value *zero = dtype_is_float(type->dtype) ? build_number(at, type->dtype, 0)
                                              : build_const(at, type->dtype, 0);
    Value *splat = build_op(at, OP_splat, 1, &zero, 1, &type)->results;
    const Type *variable = type_var(core_types(eval), type);
    return build_op(at, OP_var, 1, &splat, 1, &variable)->results;
}

static Value *make_mask(Eval *eval, Builder *at)
{
    const Parallel *parallel = eval->parallel;
    return make_variable(
        eval, at, type_tile(core_types(eval), DTYPE_b1, parallel->rank, parallel->shape, NULL));
}

static Builder at_call(const Eval *eval)
{
    const LaneExit *exit = &eval->frame->exit;
    Builder at = exit->last != NULL            ? builder_after(exit->last)
                 : exit->region->first != NULL ? builder_before(exit->region->first)
                                               : builder_at_end(exit->region, eval->builder.span);
    at.span = eval->builder.span;
    return at;
}

static Value *read(Eval *eval, Value *variable)
{
    return build1(&eval->builder, OP_var_get, variable);
}

static void add_mask(Eval *eval, Value *variable)
{
    build2(&eval->builder, OP_var_set, variable,
           masked_either(eval, eval->parallel->mask, read(eval, variable)));
}

/* ---- results ---- */

/* Tiles that are variables in the place of the values' tiles. */
static Object *make_result(Eval *eval, Builder *at, const Object *like)
{
    if (!object_is_sequence(like)) {
        if (like->kind != OBJECT_TILE) return (Object *)like;
        Object *made = object_new(eval, OBJECT_TILE);
        made->as.ir.var = make_variable(eval, at, staged_object_type(like));
        return made;
    }
    Object *parts = object_list(eval, like->kind, NULL, 0);
    parts->as.list.class = like->as.list.class;
    for (uint32_t i = 0; i < like->as.list.count; i++)
        list_append(eval, parts, make_result(eval, at, like->as.list.items[i]));
    return parts;
}

static Object *read_result(Eval *eval, const Object *result)
{
    if (!object_is_sequence(result))
        return result->kind == OBJECT_TILE ? object_ir(eval, read(eval, result->as.ir.var))
                                           : (Object *)result;
    Object *parts = object_list(eval, result->kind, NULL, 0);
    parts->as.list.class = result->as.list.class;
    for (uint32_t i = 0; i < result->as.list.count; i++)
        list_append(eval, parts, read_result(eval, result->as.list.items[i]));
    return parts;
}

static bool write_result(Eval *eval, const Object *result, Object *value, Span at)
{
    if (object_is_sequence(result)) {
        for (uint32_t i = 0; i < result->as.list.count; i++)
            if (!write_result(eval, result->as.list.items[i], value->as.list.items[i], at))
                return false;
        return true;
    }
    if (result->kind != OBJECT_TILE) return true;
    const Type *type = result->as.ir.var->type->content;
    Value *now = stage_cast(eval, stage_value(eval, value), type->dtype);
    build2(&eval->builder, OP_var_set, result->as.ir.var, now);
    return true;
}

static bool is_alike(const Object *a, const Object *b)
{
    if (!object_is_sequence(a) || !object_is_sequence(b))
        return object_is_sequence(a) == object_is_sequence(b);
    if (a->kind != b->kind || a->as.list.count != b->as.list.count) return false;
    for (uint32_t i = 0; i < a->as.list.count; i++)
        if (!is_alike(a->as.list.items[i], b->as.list.items[i])) return false;
    return true;
}

/* Of those in the mask. */
static bool keep_result(Eval *eval, Object *value, Value *mask, Span at)
{
    LaneExit *exit = &eval->frame->exit;
    Object *whole = masked_stretch(eval, value, false, at);
    if (whole == NULL) return false;
    if (exit->result == NULL) {
        Builder call = at_call(eval);
        exit->result = make_result(eval, &call, whole);
    }
    Object *old = read_result(eval, exit->result);
    if (mask != NULL) whole = masked_choose(eval, mask, value, old, at);
    if (whole != NULL) whole = masked_stretch(eval, whole, false, at);
    if (whole == NULL) return false;
    if (is_alike(exit->result, whole)) return write_result(eval, exit->result, whole, at);
    FAIL(eval, parallel_return, at, "values of different kinds");
    return false;
}

Object *masked_result(Eval *eval)
{
    const Object *result = eval->frame->exit.result;
    return result != NULL ? read_result(eval, result) : NULL;
}

/* ---- loops and calls ---- */

MaskedLoop masked_open(Eval *eval, Nodes body)
{
    MaskedLoop loop = {0};
    Parallel *parallel = eval->parallel;
    if (parallel == NULL) return loop;
    const unsigned jumps = jumps_of(body);
    loop.outer = parallel->loop;
    loop.jumps = count_jumps(body);
    if (jumps & JUMPS_STOP) loop.gone = make_mask(eval, &eval->builder);
    if (!(jumps >> JUMP_RETURN & 1) || eval->frame == parallel->frame) return loop;
    Frame *frame = eval->frame;
    if (frame->exit.returned == NULL) {
        Builder call = at_call(eval);
        frame->exit.returned = make_mask(eval, &call);
    }
    Object *earlier = frame->result;
    frame->result = NULL;
    if (earlier != NULL) keep_result(eval, earlier, NULL, eval->at);
    return loop;
}

void masked_close(Eval *eval, const MaskedLoop *loop)
{
    if (eval->parallel == NULL || !loop->returned) return;
    Value *rest = masked_others(eval, read(eval, eval->frame->exit.returned));
    eval->parallel->mask = masked_both(eval, eval->parallel->mask, rest);
}

Flow masked_orelse(Eval *eval, const MaskedLoop *loop, Nodes orelse)
{
    if (eval->parallel == NULL || orelse.count == 0) return eval_block(eval, orelse);
    Value *outer = eval->parallel->mask;
    eval->parallel->mask = masked_left_in(eval, loop);
    const Flow flow = eval_block(eval, orelse);
    eval->parallel->mask = outer;
    return flow;
}

bool masked_left(const MaskedLoop *loop)
{
    return loop->broken || loop->returned;
}

Value *masked_left_in(Eval *eval, const MaskedLoop *loop)
{
    Value *mask = eval->parallel->mask;
    if (loop->gone == NULL || !masked_left(loop)) return mask;
    return masked_both(eval, mask, masked_others(eval, read(eval, loop->gone)));
}

MaskedFrame masked_enter(Eval *eval, MaskedLoop *loop)
{
    Parallel *parallel = eval->parallel;
    if (parallel == NULL) return (MaskedFrame){0};
    const MaskedFrame outer = {parallel->mask, parallel->entered, parallel->called,
                               parallel->loop, parallel->loops,   parallel->base_control};
    if (loop != NULL) {
        parallel->mask = masked_left_in(eval, loop);
    } else {
        parallel->called = parallel->mask;
        eval->frame->exit.region = eval->builder.region;
        eval->frame->exit.last = builder_last(&eval->builder);
    }
    parallel->entered = parallel->mask;
    parallel->loop = loop;
    parallel->loops = loop != NULL ? parallel->loops + 1 : 0;
    parallel->base_control = eval->control;
    return outer;
}

void masked_leave(Eval *eval, MaskedFrame outer)
{
    Parallel *parallel = eval->parallel;
    if (parallel == NULL) return;
    parallel->mask = outer.mask;
    parallel->entered = outer.entered;
    parallel->called = outer.called;
    parallel->loop = outer.loop;
    parallel->loops = outer.loops;
    parallel->base_control = outer.control;
}

/* ---- jumps ---- */

static bool refuse(Eval *eval, JumpKind kind, Span at, Flow *flow)
{
    static const char *const TEXTS[JUMP_COUNT] = {
        [JUMP_CONTINUE] = "go on to the next one here",
        [JUMP_BREAK] = "leave the loop",
        [JUMP_RETURN] = "leave the function",
    };
    FAIL(eval, parallel_control, at, TEXTS[kind]);
    *flow = FLOW_ERROR;
    return true;
}

bool masked_jump(Eval *eval, JumpKind kind, Span at, Flow *flow)
{
    const Parallel *parallel = eval->parallel;
    if (parallel == NULL) return false;
    const bool own = parallel->frame == eval->frame && parallel->loops == 0;
    if (parallel->mask == parallel->entered && !own) return false;
    if (eval->control != parallel->base_control || (own && kind == JUMP_BREAK))
        return refuse(eval, kind, at, flow);
    if (kind == JUMP_BREAK) {
        if (parallel->loop->gone == NULL) return refuse(eval, kind, at, flow);
        add_mask(eval, parallel->loop->gone);
        parallel->loop->broken = true;
    }
    *flow = FLOW_CONTINUE;
    return true;
}

bool masked_return(Eval *eval, Object *value, Span at, Flow *flow)
{
    const Parallel *parallel = eval->parallel;
    Frame *frame = eval->frame;
    if (parallel == NULL) return false;
    if (parallel->frame == frame) return refuse(eval, JUMP_RETURN, at, flow);
    if (parallel->mask == parallel->called) return false;
    if (eval->control != parallel->base_control) return refuse(eval, JUMP_RETURN, at, flow);
    if (parallel->loops == 0 && frame->exit.result == NULL) {
        if (frame->result != NULL)
            value = masked_choose(eval, parallel->mask, value, frame->result, at);
        frame->result = value;
        frame->returned = at;
        *flow = value != NULL ? FLOW_RETURN : FLOW_ERROR;
        return true;
    }
    if (parallel->loops > 0 && frame->exit.returned == NULL)
        return refuse(eval, JUMP_RETURN, at, flow);
    *flow = parallel->loops == 0 ? FLOW_RETURN : FLOW_CONTINUE;
    if (!keep_result(eval, value, parallel->mask, at)) *flow = FLOW_ERROR;
    for (MaskedLoop *loop = parallel->loop; loop != NULL; loop = loop->outer) {
        if (loop->gone != NULL) add_mask(eval, loop->gone);
        loop->returned = true;
    }
    if (parallel->loops > 0) add_mask(eval, frame->exit.returned);
    return true;
}
