/* group.c: `with` over a group of threads: a region that is the group's alone. */
#include "eval/builtins.h"

#include "eval/evaluate.h"

bool group_now(Eval *eval, int64_t *begin, int64_t *count)
{
    *begin = eval->staging->group_begin;
    *count = eval->staging->group_count;
    if (*count != 0) return true;
    if (eval->staging->is_function) {
        if (in_host_part(eval)) {
            FAIL(eval, bad_value, eval->at, "the threads of a block, outside a launch");
            return false;
        }
        *count = 32 * op_int(eval->staging->launch, ATTR_warps, 1);
        return true;
    }
    int64_t warps;
    Object *object = kernel_attribute(eval, "warps");
    if (object == NULL || !object_as_int(eval, object, "the number of warps", &warps)) return false;
    *count = 32 * warps;
    return true;
}

static bool check_group(Eval *eval, int64_t begin, int64_t count, int64_t outer_begin,
                        int64_t outer_count)
{
    const char *fault = NULL;
    if (count < 1 || begin < 0 || begin > outer_count - count)
        fault =
            arena_printf(eval->arena, "threads %lld to %lld are not among the %lld around them",
                         (long long)begin, (long long)(begin + count - 1), (long long)outer_count);
    else if (count != 1 && ((outer_begin + begin) % 32 != 0 || count % 32 != 0))
        fault = "a thread group is one thread, or whole warps";
    if (fault != NULL) FAIL(eval, bad_value, eval->at, fault);
    return fault == NULL;
}

/* The group's region; the others' is empty. */
static Op *open_group(Eval *eval, int64_t begin, int64_t count)
{
    Value *inside = core_build(eval, OP_in_group, 0, NULL, type_scalar(core_types(eval), DTYPE_b1));
    op_set_int(inside->op, ATTR_begin, begin);
    op_set_int(inside->op, ATTR_count, count);
    Op *op = build_op(&eval->builder, OP_if, 1, &inside, 0, NULL);
    Builder others = builder_at_end(op->regions[1], eval->at);
    build_op(&others, OP_yield, 0, NULL, 0, NULL);
    return op;
}

static Flow stage_members(Eval *eval, Op *op, ThreadsBody *body, const NodeWith *node,
                          uint32_t index)
{
    ChangeVec changes = {0};
    Control control = control_enter(eval, op->regions[0]);
    Flow flow = body(eval, node, index);
    build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
    control_leave(eval, control, &changes);
    if (flow == FLOW_NEXT) merge_group(eval, op, &changes);
    if (flow != FLOW_NEXT && flow != FLOW_ERROR) {
        FAIL(eval, jump_under_control, node->base.span, "a jump out of a thread group");
        return FLOW_ERROR;
    }
    return flow;
}

Flow stage_group(Eval *eval, const Object *range, ThreadsBody *body, const NodeWith *node,
                 uint32_t index)
{
    int64_t given[2], begin, count;
    int rank;
    const Span at = eval->at;
    if (!stage_ready(eval, eval->at) || !group_now(eval, &begin, &count) ||
        !argument_ints(eval, (Object *)range, "the threads of a group", eval->at, &rank, given))
        return FLOW_ERROR;
    eval_move(eval, at);
    if (rank != 2) {
        FAIL(eval, bad_value, eval->at, "a group of threads is a first thread and a number");
        return FLOW_ERROR;
    }
    if (given[0] == -1) given[0] = 0; /* any: the first will do */
    if (!check_group(eval, given[0], given[1], begin, count)) return FLOW_ERROR;
    if (given[1] == count) return body(eval, node, index);
    Staging outer = *eval->staging;
    eval->staging->group_begin = begin + given[0];
    eval->staging->group_count = given[1];
    Op *op = open_group(eval, begin + given[0], given[1]);
    Flow flow = stage_members(eval, op, body, node, index);
    eval->staging->group_begin = outer.group_begin;
    eval->staging->group_count = outer.group_count;
    return flow;
}

/* (first thread, number of threads) */
Object *core_thread_range(Eval *eval, const Bound *bound)
{
    int64_t begin, count;
    if (!stage_ready(eval, bound->at) || !group_now(eval, &begin, &count)) return NULL;
    Object *items[2] = {object_int(eval, begin), object_int(eval, count)};
    return object_list(eval, OBJECT_TUPLE, items, 2);
}

/* A barrier that is kept as it is: what other blocks see depends on it. */
Object *core_barrier(Eval *eval, const Bound *bound)
{
    int64_t begin, count;
    if (!stage_ready(eval, bound->at) || !group_now(eval, &begin, &count)) return NULL;
    if (count == 1) return eval->none;
    const OpCode code = eval->staging->group_count == 32 ? OP_warp_sync : OP_barrier;
    build_op(&eval->builder, code, 0, NULL, 0, NULL);
    return eval->none;
}
