/* group.c: `with` over a group of threads: a region that is the group's alone. */
#include "eval/staging/staging.h"

#include "ir/group.h"
#include "ir/op_vec.h"

#include <string.h>

bool group_now(Eval *eval, int64_t *begin, int64_t *count)
{
    *begin = eval->staging->group_begin;
    *count = eval->staging->group_count;
    if (*count != 0) return true;
    if (eval->staging->is_function) {
        if (in_host_part(eval)) {
            FAIL(eval, outside_launch, eval->at);
            return false;
        }
        *count = WARP_SIZE * op_int(eval->staging->launch, ATTR_warps, 1);
        return true;
    }
    int64_t warps;
    const Span at = eval->at;
    if (!eval->ops->kernel_warps(eval, &warps)) return false;
    eval->at = at;
    *count = WARP_SIZE * warps;
    return true;
}

static bool check_group(Eval *eval, int64_t begin, int64_t count, int64_t outer_begin,
                        int64_t outer_count)
{
    const char *fault = NULL;
    if (count < 1 || begin < 0 || begin > outer_count - count)
        fault = arena_printf(eval->arena,
                             "%lld threads from %lld on are not among the %lld around them",
                             (long long)count, (long long)begin, (long long)outer_count);
    else if (count != 1 && ((outer_begin + begin) % WARP_SIZE != 0 || count % WARP_SIZE != 0))
        fault = "a thread group is one thread, or whole warps";
    if (fault != NULL) FAIL(eval, thread_group, eval->at, fault);
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

/* What the threads of a group do. */
typedef struct Members {
    ThreadsBody *body; /* or NULL: the statements */
    const NodeWith *node;
    uint32_t index;
    Nodes statements;
} Members;

static Flow run_members(Eval *eval, const Members *members)
{
    return members->body != NULL ? members->body(eval, members->node, members->index)
                                 : eval_block(eval, members->statements);
}

static Flow stage_members(Eval *eval, Op *op, const Members *members, Span at)
{
    ChangeVec changes = {0};
    Control control = control_enter(eval, op->regions[0]);
    Flow flow = run_members(eval, members);
    build_op(&eval->builder, OP_yield, 0, NULL, 0, NULL);
    control_leave(eval, control, &changes);
    if (flow == FLOW_NEXT) merge_group(eval, op, &changes);
    if (flow != FLOW_NEXT && flow != FLOW_ERROR) {
        FAIL(eval, jump_under_control, at, "a jump out of a thread group");
        return FLOW_ERROR;
    }
    return flow;
}

/* The threads from `begin` on of the block. */
static Flow stage_threads(Eval *eval, int64_t begin, int64_t count, const Members *members, Span at)
{
    Staging outer = *eval->staging;
    eval->staging->group_begin = begin;
    eval->staging->group_count = count;
    eval->staging->by_index |= members->body == NULL;
    Op *op = open_group(eval, begin, count);
    Flow flow = stage_members(eval, op, members, at);
    eval->staging->group_begin = outer.group_begin;
    eval->staging->group_count = outer.group_count;
    eval->staging->by_index = outer.by_index;
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
        FAIL(eval, thread_group, eval->at, "it is a first thread and a number of them");
        return FLOW_ERROR;
    }
    if (given[0] == -1) given[0] = 0; /* any: the first will do */
    if (!check_group(eval, given[0], given[1], begin, count)) return FLOW_ERROR;
    if (given[1] == count) return body(eval, node, index);
    const Members members = {.body = body, .node = node, .index = index};
    return stage_threads(eval, begin + given[0], given[1], &members, node->base.span);
}

/* ---- an `if` by the thread's index ---- */

typedef struct Threads { /* of the block: from `begin` on below `end` */
    int64_t begin, end;
} Threads;

/* The thread's index, as the only dimension of the block has it, or that of so many together, such
 * as a warp's: how many; 0: it is neither. */
static int64_t threads_counted(Eval *eval, const Value *value)
{
    int64_t extent, together = 1;
    const Op *op = value->op;
    while (op != NULL && (op->code == OP_floordiv || op->code == OP_shr) &&
           value_constant(operand(op, b), &extent)) {
        if (op->code == OP_shr) extent = extent >= 0 && extent <= 10 ? 1 << extent : 0;
        if (extent <= 0 || extent > MAX_BLOCK_THREADS) return 0;
        together = together * extent <= MAX_BLOCK_THREADS ? together * extent : MAX_BLOCK_THREADS;
        op = operand(op, a)->op;
    }
    if (op != NULL && op->code == OP_floormod && value_constant(operand(op, b), &extent) &&
        extent == WARP_SIZE * op_int(eval->staging->launch, ATTR_warps, 1))
        op = operand(op, a)->op;
    return op != NULL && op->code == OP_thread_id ? together : 0;
}

/* What follows from a comparison with n: x is not below n + from, and below n + below; -1: nothing.
 */
typedef struct Bounds {
    const char *predicate;
    int from, below;
} Bounds;
static const Bounds comparisons[] = {
    {"lt", -1, 0}, {"le", -1, 1}, {"ge", 0, -1}, {"gt", 1, -1}, {"eq", 0, 1},
};

enum { MOST_CONDITIONS = 64 }; /* that are looked at: one may be met by many ways */

/* Leaves those of the threads for which the condition holds, where these follow each other. */
static bool narrow(Eval *eval, const Value *condition, Threads *threads, int *left)
{
    int64_t number;
    const Op *op = condition->op;
    if (op == NULL || --*left < 0) return false;
    if (op->code == OP_and)
        return narrow(eval, operand(op, a), threads, left) &&
               narrow(eval, operand(op, b), threads, left);
    if (op->code != OP_cmp || !value_constant(operand(op, b), &number)) return false;
    const int64_t together = threads_counted(eval, operand(op, a));
    if (together == 0) return false;
    const Bounds *bounds = NULL;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (strcmp(op_attr(op, ATTR_predicate)->text, comparisons[i].predicate) == 0)
            bounds = &comparisons[i];
    if (bounds == NULL) return false;
    number = number < -1 ? -1 : number > MAX_BLOCK_THREADS ? MAX_BLOCK_THREADS : number;
    if (bounds->below >= 0)
        threads->end = lesser_of(threads->end, together * (number + bounds->below));
    if (bounds->from >= 0)
        threads->begin = larger_of(threads->begin, together * (number + bounds->from));
    return true;
}

static bool is_whole(Threads threads)
{
    return threads.begin < threads.end && threads.begin % WARP_SIZE == 0 &&
           threads.end % WARP_SIZE == 0;
}

/* The others of `all`, where they follow each other. */
static bool others_of(Threads all, Threads threads, Threads *out)
{
    *out = threads.begin == all.begin ? (Threads){threads.end, all.end}
                                      : (Threads){all.begin, threads.begin};
    return threads.begin == all.begin || threads.end == all.end;
}

static bool group_by(Eval *eval, const Value *condition, const NodeIf *node, Threads all,
                     Flow *flow);

static Flow run_among(Eval *eval, Threads threads, Nodes statements, Span at)
{
    const Members members = {.statements = statements};
    if (threads.begin >= threads.end || statements.count == 0) return FLOW_NEXT;
    return stage_threads(eval, threads.begin, threads.end - threads.begin, &members, at);
}

/* The conditions of `elif`s that are of that kind, too, are of the threads that are left. */
static Flow run_others(Eval *eval, Threads all, Nodes statements, Span at)
{
    const Node *only = statements.count == 1 ? statements.items[0] : NULL;
    if (only == NULL || only->kind != NODE_If || all.begin >= all.end)
        return run_among(eval, all, statements, at);
    const NodeIf *node = NODE_AS(If, only);
    Object *test = eval_expr(eval, node->test);
    Flow flow = FLOW_NEXT;
    if (test == NULL) return FLOW_ERROR;
    if (test->kind == OBJECT_IR && group_by(eval, test->as.ir.value, node, all, &flow)) return flow;
    return run_among(eval, all, statements, at);
}

static bool group_by(Eval *eval, const Value *condition, const NodeIf *node, Threads all,
                     Flow *flow)
{
    Threads threads = all, others;
    int left = MOST_CONDITIONS;
    if (!narrow(eval, condition, &threads, &left) || !is_whole(threads) ||
        (!others_of(all, threads, &others) && node->orelse.count > 0))
        return false;
    *flow = run_among(eval, threads, node->body, node->base.span);
    if (*flow == FLOW_NEXT) *flow = run_others(eval, others, node->orelse, node->base.span);
    return true;
}

bool run_group_if(Eval *eval, const Value *condition, const NodeIf *node, Flow *flow)
{
    Threads all;
    if (eval->parallel != NULL || !eval->staging->is_function || eval->staging->launch == NULL ||
        condition->op == NULL || (condition->op->code != OP_cmp && condition->op->code != OP_and) ||
        block_jumps(node->body) || block_jumps(node->orelse))
        return false;
    if (!group_now(eval, &all.begin, &all.end)) return false;
    all.end += all.begin;
    return is_whole(all) && group_by(eval, condition, node, all, flow);
}

/* (first thread, number of threads) */
Object *core_thread_range(Eval *eval, const Bound *bound)
{
    int64_t begin, count;
    if (!stage_ready(eval, bound->at) || !group_now(eval, &begin, &count)) return NULL;
    Object *items[2] = {object_int(eval, begin), object_int(eval, count)};
    return object_list(eval, OBJECT_TUPLE, items, 2);
}

/* registers(count, more): so many a thread from here on. */
Object *core_registers(Eval *eval, const Bound *bound)
{
    bool more;
    if (!stage_ready(eval, bound->at) || !object_truth(eval, bound->values[1], &more)) return NULL;
    Op *op = build_op(&eval->builder, OP_setmaxnreg, 0, NULL, 0, NULL);
    op_set_int(op, ATTR_count, bound->values[0]->as.integer);
    op_set_text(op, ATTR_mode, intern_text(eval->session->names, more ? "inc" : "dec"));
    return eval->none;
}

/* A barrier that is kept as it is: what other blocks see depends on it. */
Object *core_barrier(Eval *eval, const Bound *bound)
{
    int64_t begin, count;
    if (!stage_ready(eval, bound->at) || !group_now(eval, &begin, &count)) return NULL;
    if (count == 1) return eval->none;
    const OpCode code = eval->staging->group_count == WARP_SIZE ? OP_warp_sync : OP_barrier;
    build_op(&eval->builder, code, 0, NULL, 0, NULL);
    return eval->none;
}

/* ---- register tiles that several groups set ---- */

/* Such a tile is in the registers of the threads that set it, so each of the groups has its own,
 * which the others never see. Who sets none reads what the last of them, by the text, has set.
 * Where tiles are of all threads, the groups set the same one, one behind the other. */
typedef VEC(ThreadGroup) Groups;

typedef struct Sets {
    Arena *arena;
    Map groups; /* a variable -> Groups that set it, by where they do so last */
    VEC(Value *) variables;
} Sets;

static bool is_set(const Op *op, const Value *variable)
{
    return op->code == OP_var_set && operand(op, variable) == variable;
}

static void note_set(Op *op, void *context)
{
    Sets *sets = context;
    Value *variable = operand(op, variable);
    if (variable->type->content->kind != TYPE_TILE) return;
    const ThreadGroup group = op_threads(op);
    if (group_has(group, op_threads(variable->op))) return;
    Groups *groups = map_get(&sets->groups, variable);
    if (groups == NULL) {
        groups = arena_new_of(sets->arena, Groups);
        map_set(sets->arena, &sets->groups, variable, groups);
        vec_push(sets->arena, &sets->variables, variable);
    }
    size_t count = 0;
    for (size_t i = 0; i < groups->count; i++)
        if (!group_is_same(groups->data[i], group)) groups->data[count++] = groups->data[i];
    groups->count = count;
    vec_push(sets->arena, groups, group);
}

static bool are_apart(const Groups *groups)
{
    for (size_t i = 0; i < groups->count; i++)
        for (size_t j = 0; j < i; j++)
            if (!group_is_apart(groups->data[i], groups->data[j])) return false;
    return true;
}

/* What all set, and that they have it in some layout, is of the group's tile, too. */
static void use_own(Op *op, Value *variable, Value *own, ThreadGroup group)
{
    const ThreadGroup threads = op_threads(op);
    if (group_has(group, threads)) {
        for (int i = 0; i < op->operand_count; i++)
            if (op->operands[i] == variable) op_set_operand(op, i, own);
        return;
    }
    if (!group_has(threads, group)) return;
    Builder behind = builder_after(op);
    if (is_set(op, variable)) build2(&behind, OP_var_set, own, operand(op, value));
    if (op->code != OP_anchor) return;
    Map map = {0};
    Op *anchor = op_clone(&behind, op, &map);
    op_set_operand(anchor, operand_index(anchor, tile), own);
}

static void give_own(Arena *arena, Value *variable, ThreadGroup group)
{
    OpVec users = {0};
    for (const OpUse *use = variable->uses; use != NULL; use = use->next)
        vec_push(arena, &users, use->op);
    const Op *op = variable->op;
    Builder behind = builder_after(variable->op);
    Value *own =
        build_op(&behind, OP_var, op->operand_count, op->operands, 1, &variable->type)->results;
    own->name = variable->name;
    own->of_library = variable->of_library;
    for (size_t i = 0; i < users.count; i++) use_own(users.data[i], variable, own, group);
}

void group_tiles_settle(Kernel *kernel, Arena *arena)
{
    Sets sets = {.arena = arena};
    if (kernel->has_whole_tiles) return;
    kernel_visit_those(kernel, OP_var_set, note_set, &sets);
    for (size_t i = 0; i < sets.variables.count; i++) {
        const Groups *groups = map_get(&sets.groups, sets.variables.data[i]);
        if (!are_apart(groups)) continue;
        for (size_t j = 0; j + 1 < groups->count; j++)
            give_own(arena, sets.variables.data[i], groups->data[j]);
    }
}
