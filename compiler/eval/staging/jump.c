/* jump.c: break, continue and return that run-time control decides.
 *
 * A way through the code that leaves notes it in a boolean of its frame, which is merged like any
 * name. What follows is staged where it is not set: in the other branch where one branch leaves for
 * certain, else under an `if` of its own. Code that is being staged has not left, so the booleans
 * are known to be false wherever code runs; they are read behind it.
 *
 * A bare `return` in a statement of a kernel's procedure, as methods of a Script are, leaves the
 * kernel, and so does core.end_kernel() anywhere. Such a way returns from the procedure with no
 * value, and from each of its callers behind the statement that calls. */
#include "eval/staging/staging.h"

#include <string.h>

void jump_take(Eval *eval, JumpKind kind, Span at)
{
    binding_put(eval, &frame_jumps(eval)->taken[kind], eval->yes, at);
}

void jump_clear(Eval *eval, JumpKind kind, Span at)
{
    binding_put(eval, &frame_jumps(eval)->taken[kind], eval->no, at);
}

void jump_clear_all(Eval *eval, Span at)
{
    for (JumpKind kind = 0; kind < JUMP_COUNT; kind++) jump_clear(eval, kind, at);
    binding_put(eval, &frame_jumps(eval)->exited, eval->no, at);
}

bool jump_possible(Eval *eval, JumpKind kind)
{
    return eval->frame->jumps != NULL && eval->frame->jumps->taken[kind].object != eval->no;
}

Object *jump_taken(Eval *eval, unsigned kinds)
{
    Object *result = eval->no;
    for (JumpKind kind = 0; kind < JUMP_COUNT; kind++) {
        if (!(kinds >> kind & 1) || !jump_possible(eval, kind)) continue;
        Object *taken = binding_get(eval, &eval->frame->jumps->taken[kind], eval->at);
        if (taken == NULL || taken == eval->yes) return taken;
        if (taken == eval->no) continue;
        result = result == eval->no
                     ? taken
                     : object_ir(eval, build2(&eval->builder, OP_or, stage_value(eval, result),
                                              stage_value(eval, taken)));
    }
    return result;
}

Flow flow_join(Flow a, Flow b)
{
    if (a == FLOW_ERROR || b == FLOW_ERROR) return FLOW_ERROR;
    if (a == b) return a;
    return flow_leaves(a) && flow_leaves(b) ? FLOW_GONE : FLOW_MAYBE;
}

OpenLoop loop_open(Eval *eval)
{
    Jumps *jumps = frame_jumps(eval);
    OpenLoop outer = {jumps->loop, jumps->iteration};
    jumps->loop = open_flag(eval);
    jumps->iteration = open_flag(eval);
    return outer;
}

void loop_close(Eval *eval, OpenLoop outer)
{
    Jumps *jumps = eval->frame->jumps;
    *jumps->loop = *jumps->iteration = false;
    eval->passed++;
    jumps->loop = outer.loop;
    jumps->iteration = outer.iteration;
}

void iteration_open(Eval *eval)
{
    frame_jumps(eval)->iteration = open_flag(eval);
}

void iteration_close(Eval *eval)
{
    *eval->frame->jumps->iteration = false;
    eval->passed++;
}

/* How the ways have ended that have left. */
static Flow left_flow(Eval *eval)
{
    static const Flow FLOWS[JUMP_COUNT] = {FLOW_CONTINUE, FLOW_BREAK, FLOW_RETURN};
    Flow flow = FLOW_NEXT;
    for (JumpKind kind = 0; kind < JUMP_COUNT; kind++)
        if (jump_possible(eval, kind)) flow = flow == FLOW_NEXT ? FLOWS[kind] : FLOW_GONE;
    return flow;
}

Flow stage_unless(Eval *eval, Object *left, Flow other, FlowWork *work, void *context)
{
    if (left == NULL) return FLOW_ERROR;
    if (left == eval->yes) return other;
    Span at = eval->at;
    if (left == eval->no) {
        jump_clear_all(eval, at);
        return work(eval, context);
    }
    Value *condition = build1(&eval->builder, OP_not, stage_value(eval, left));
    Op *op = build_op(&eval->builder, OP_if, 1, &condition, 0, NULL);
    ChangeVec changes[2] = {{0}, {0}};
    Flow flows[2] = {FLOW_ERROR, other};
    for (int i = 0; i < 2; i++) {
        Control control = control_enter(eval, op->regions[i]);
        if (i == 0) {
            jump_clear_all(eval, at);
            flows[0] = work(eval, context);
        }
        build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
        control_leave(eval, control, &changes[i]);
    }
    if (flows[0] == FLOW_ERROR) return FLOW_ERROR;
    merge_branches(eval, op, changes, flows);
    return flow_join(flows[0], flows[1]);
}

Flow stage_rest(Eval *eval, FlowWork *work, void *context)
{
    Flow other = left_flow(eval);
    return stage_unless(eval, jump_taken(eval, JUMPS_ALL), other, work, context);
}

typedef struct Else {
    Nodes body;
    const MaskedLoop *masked;
} Else;

static Flow run_orelse(Eval *eval, void *context)
{
    const Else *orelse = context;
    return masked_orelse(eval, orelse->masked, orelse->body);
}

Flow finish_loop(Eval *eval, Flow flow, Nodes body, const MaskedLoop *masked)
{
    Else orelse = {body, masked};
    if (flow != FLOW_ERROR && flow != FLOW_RETURN) {
        bool returns = jump_possible(eval, JUMP_RETURN);
        Object *left = flow == FLOW_BREAK || body.count == 0 ? eval->yes
                       : flow == FLOW_NEXT                   ? eval->no
                                                             : jump_taken(eval, JUMPS_STOP);
        if (jump_possible(eval, JUMP_BREAK)) jump_clear(eval, JUMP_BREAK, eval->at);
        flow = left == eval->no ? run_orelse(eval, &orelse)
                                : stage_unless(eval, left, returns ? FLOW_MAYBE : FLOW_NEXT,
                                               run_orelse, &orelse);
    }
    masked_close(eval, masked);
    return flow;
}

/* ---- returns that leave the kernel ---- */

static bool is_own_statement(const Frame *frame, const Node *node)
{
    const Nodes body = NODE_AS(FunctionDef, frame->function->node)->body;
    for (uint32_t i = 0; i < body.count; i++)
        if (body.items[i] == node) return true;
    return false;
}

/* Whether a `return` leaves the kernel. */
static bool return_exits(const Eval *eval, const Node *node)
{
    return eval->frame->is_procedure && NODE_AS(Return, node)->value == NULL &&
           !is_own_statement(eval->frame, node);
}

static void exit_take(Eval *eval, Span at)
{
    binding_put(eval, &frame_jumps(eval)->exited, eval->yes, at);
}

static bool refuse_exits(Eval *eval, Span at)
{
    FAIL(eval, call_ends_kernel, at);
    if (eval->quiet == 0)
        diag_note(eval->session->diags, eval->frame->exited, "the kernel ends here");
    return false;
}

bool exits_tell(Eval *eval, Span at)
{
    Frame *frame = eval->frame;
    if (frame->exits != NULL) return refuse_exits(eval, at);
    if (frame->jumps == NULL || frame->jumps->exited.object == eval->no) return true;
    Object *exited = binding_get(eval, &frame->jumps->exited, at);
    if (exited == NULL || exited == eval->no) return exited != NULL;
    frame->caller->exits = exited;
    frame->caller->exited = frame->jumps->exited.at;
    return true;
}

/* The call that the statement is, or whose value it binds or returns; or another expression. */
static const Node *whole_call(const Node *statement)
{
    switch ((int)statement->kind) {
    case NODE_Expr: return NODE_AS(Expr, statement)->value;
    case NODE_Assign: return NODE_AS(Assign, statement)->value;
    case NODE_AnnAssign: return NODE_AS(AnnAssign, statement)->value;
    case NODE_Return: return NODE_AS(Return, statement)->value;
    default: return NULL;
    }
}

static Flow leave_kernel(Eval *eval, void *context)
{
    const Span *at = context;
    exit_take(eval, *at);
    if (eval->control > eval->frame->control)
        jump_take(eval, JUMP_RETURN, *at);
    else
        eval->frame->result = eval->none;
    return FLOW_RETURN;
}

static Flow do_nothing(Eval *eval, void *context)
{
    (void)eval;
    (void)context;
    return FLOW_NEXT;
}

Flow stage_exits(Eval *eval, const Node *statement, Flow flow, Rest *rest)
{
    Frame *frame = eval->frame;
    Object *exits = frame->exits;
    const Node *call = frame->exiting;
    frame->exits = NULL;
    frame->exiting = NULL;
    if (flow == FLOW_ERROR) return flow;
    Span at = eval_move_to(eval, statement);
    if (call == NULL || call != whole_call(statement)) return refuse_exits(eval, at), FLOW_ERROR;
    if (flow == FLOW_RETURN) {
        binding_put(eval, &frame_jumps(eval)->exited, exits, at);
        return flow;
    }
    if (exits == eval->yes) return leave_kernel(eval, &at);
    Value *condition = stage_condition(eval, exits, at);
    const Way ways[2] = {{leave_kernel, &at, true}, {do_nothing, NULL, false}};
    return condition != NULL ? stage_ways(eval, condition, ways, rest) : FLOW_ERROR;
}

Flow end_exits(Eval *eval, Flow flow)
{
    Frame *frame = eval->frame;
    if (flow == FLOW_ERROR || frame->jumps == NULL || frame->jumps->exited.object == eval->no)
        return flow;
    jump_clear(eval, JUMP_RETURN, eval->at);
    binding_put(eval, &frame->jumps->exited, eval->no, eval->at);
    if (flow == FLOW_RETURN) frame->result = NULL;
    return FLOW_NEXT;
}

Object *core_end_kernel(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    if (eval->parallel != NULL) return FAIL(eval, parallel_control, bound->at, "end the kernel");
    eval->frame->exits = eval->yes;
    eval->frame->exited = bound->at;
    return eval->none;
}

/* ---- the result of a call ---- */

/* A loop may have made a variable of what was returned before it. */
static bool put_result(Eval *eval, Object *value, Span at)
{
    Binding *result = &frame_jumps(eval)->result;
    if (result->variable && eval->control > result->control)
        return variable_write(eval, result, value, at);
    binding_put(eval, result, value, at);
    return true;
}

/* Of a way that ends without a value: a thread's function has any there, as in C. */
static bool put_nothing(Eval *eval, Span at)
{
    const Binding *result = &frame_jumps(eval)->result;
    const Function *function = eval->frame->function;
    if (!eval->frame->is_thread_code) return put_result(eval, eval->none, at);
    if (function != NULL && result->object != NULL && result->object != eval->none)
        diag_report(eval->session->diags, DIAG_no_value_on_a_way, function->node->span,
                    function->name);
    return true;
}

static Flow return_none(Eval *eval, void *context)
{
    (void)context;
    jump_take(eval, JUMP_RETURN, eval->at);
    return put_nothing(eval, eval->at) ? FLOW_RETURN : FLOW_ERROR;
}

Object *call_result(Eval *eval, Flow flow, Span at)
{
    Frame *frame = eval->frame;
    if (flow == FLOW_MAYBE) flow = stage_rest(eval, return_none, NULL);
    if (flow == FLOW_ERROR) return NULL;
    Object *of_masked = masked_result(eval);
    if (flow == FLOW_NEXT && eval->parallel != NULL &&
        (of_masked != NULL || (frame->result != NULL && frame->result != eval->none)))
        return FAIL(eval, parallel_return, at, "nothing in some and a value in others");
    if (flow == FLOW_NEXT) return eval->none;
    if (of_masked != NULL) return of_masked;
    if (frame->result != NULL) return frame->result;
    Binding *bound = &frame_jumps(eval)->result;
    Object *result = bound->object != NULL ? binding_get(eval, bound, at) : eval->none;
    *frame->jumps->call = false;
    eval->passed++;
    if (result != NULL && result->kind == OBJECT_TILE) result->fresh = true;
    return result;
}

/* ---- return, break, continue ---- */

static bool is_staged_jump(const Eval *eval)
{
    return eval->control > eval->frame->control;
}

static bool may_return(Eval *eval, const Object *value, bool exits, Span at)
{
    if (eval->frame->is_entry && value != eval->none)
        FAIL(eval, returned_value, at);
    else if (exits && eval->parallel != NULL)
        FAIL(eval, parallel_control, at, "end the kernel");
    else if (exits && eval->frame->generator != NULL)
        FAIL(eval, yield_place, at, "a 'return' that ends the kernel, in a generator,");
    else
        return true;
    return false;
}

Flow run_return(Eval *eval, const Node *node)
{
    const NodeReturn *n = NODE_AS(Return, node);
    Object *value = n->value != NULL ? eval_expr(eval, n->value) : eval->none;
    if (value == NULL) return FLOW_ERROR;
    Flow flow = FLOW_RETURN;
    const Span at = eval_move_to(eval, node);
    const bool exits = return_exits(eval, node);
    if (!may_return(eval, value, exits, at)) return FLOW_ERROR;
    if (masked_return(eval, value, at, &flow)) return flow;
    if (exits) exit_take(eval, at);
    if (!is_staged_jump(eval)) {
        eval->frame->result = value;
        eval->frame->returned = node->span;
        return FLOW_RETURN;
    }
    jump_take(eval, JUMP_RETURN, node->span);
    const bool put = exits || (value == eval->none ? put_nothing(eval, node->span)
                                                   : put_result(eval, value, node->span));
    return put ? FLOW_RETURN : FLOW_ERROR;
}

Flow run_break(Eval *eval, const Node *node)
{
    Flow flow = FLOW_BREAK;
    if (masked_jump(eval, JUMP_BREAK, node->span, &flow)) return flow;
    if (is_staged_jump(eval)) jump_take(eval, JUMP_BREAK, node->span);
    return FLOW_BREAK;
}

static bool is_in_loop(Nodes statements, const Node *statement, bool in_loop);

static bool is_under(const Node *node, const Node *statement, bool in_loop)
{
    if (node == statement) return in_loop;
    switch ((int)node->kind) {
    case NODE_If:
        return is_in_loop(NODE_AS(If, node)->body, statement, in_loop) ||
               is_in_loop(NODE_AS(If, node)->orelse, statement, in_loop);
    case NODE_For:
        return is_in_loop(NODE_AS(For, node)->body, statement, true) ||
               is_in_loop(NODE_AS(For, node)->orelse, statement, in_loop);
    case NODE_While:
        return is_in_loop(NODE_AS(While, node)->body, statement, true) ||
               is_in_loop(NODE_AS(While, node)->orelse, statement, in_loop);
    case NODE_With: return is_in_loop(NODE_AS(With, node)->body, statement, in_loop);
    case NODE_Try: return is_in_loop(NODE_AS(Try, node)->body, statement, in_loop);
    case NODE_Match: return is_in_loop(NODE_AS(Match, node)->cases, statement, in_loop);
    case NODE_match_case: return is_in_loop(NODE_AS(match_case, node)->body, statement, in_loop);
    default: return false;
    }
}

static bool is_in_loop(Nodes statements, const Node *statement, bool in_loop)
{
    for (uint32_t i = 0; i < statements.count; i++)
        if (is_under(statements.items[i], statement, in_loop)) return true;
    return false;
}

Flow run_marker(Eval *eval, const Node *statement, const Object *value)
{
    if (value->kind != OBJECT_BUILTIN || strcmp(value->as.builtin->name, "LoopBreak") != 0)
        return FLOW_NEXT;
    const Function *function = eval->frame->function;
    if (function != NULL && function->node->kind == NODE_FunctionDef &&
        is_in_loop(NODE_AS(FunctionDef, function->node)->body, statement, false))
        return run_break(eval, statement);
    FAIL(eval, misplaced, statement->span, "break", "a loop of its function");
    return FLOW_ERROR;
}

Flow run_continue(Eval *eval, const Node *node)
{
    Flow flow = FLOW_CONTINUE;
    if (masked_jump(eval, JUMP_CONTINUE, node->span, &flow)) return flow;
    if (is_staged_jump(eval)) jump_take(eval, JUMP_CONTINUE, node->span);
    return FLOW_CONTINUE;
}
