/* masked_execution.c: threads that are in the block, and not in the launch; needs and leaves a
 * TYPED kernel in SSA, behind uniform.
 *
 * An `if` {idle} holds a thread's program. Where it does nothing together with others, the threads
 * without a place in the launch go past it. Else they have to come along: all of it is done by all
 * threads but what is a thread's own, which is done under the condition, one by one: what it writes
 * or says, what it reads, at a place that differs, and the ways that it goes alone. So nothing of
 * an idle thread's own reaches memory, and nothing in memory it. */
#include "passes/analysis/context.h"
#include "passes/analysis/uniformity.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"

typedef struct Masking {
    Kernel *kernel;
    PassContext *context;
    Agreement *agreement;
    Arena *arena;
    OpVec own; /* what is done under the condition */
} Masking;

/* ---- what is a thread's own ---- */

/* What threads tell each other in shared memory they meet for: it is apart until then. */
static bool is_told(const Op *op)
{
    return op->code == OP_element_store && op_int(op, ATTR_apart, 0) &&
           operand(op, memory)->type->kind == TYPE_SHARED;
}

static bool is_joint(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, COOP) || op_has_tiles(op) || is_told(op);
}

static bool differs(const Masking *masking, const Op *op, const Value *value)
{
    return threads_differ(masking->agreement, value, op_threads(op)) != NULL;
}

/* What happens once is done by the block's first thread, which has a place in the launch. */
static bool is_own(const Op *op, const void *context)
{
    const Masking *masking = context;
    switch ((int)op->code) {
    case OP_print:
    case OP_check: return true;
    case OP_check_index:
    case OP_element_load: return differs(masking, op, &op->results[0]);
    case OP_element_store:
        return operand(op, memory)->type->kind != TYPE_LOCAL && !op_int(op, ATTR_once, 0) &&
               !op_int(op, ATTR_idle, 0);
    case OP_element_atomic: return !op_int(op, ATTR_once, 0);
    default: return false;
    }
}

static bool is_idle(const Op *op, const void *context)
{
    (void)context;
    return op_int(op, ATTR_idle, 0) != 0;
}

/* An `if` or loop that each thread goes its own way through, or that makes nothing for all. */
static bool is_own_way(const Masking *masking, const Op *op)
{
    bool own = true;
    for (int i = 0; i < op->region_count; i++)
        if (region_find(op->regions[i], is_idle, NULL)) return false;
    for (int i = 0; i < op->result_count; i++) {
        if (op->results[i].type->kind != TYPE_SCALAR) return false;
        own &= differs(masking, op, &op->results[i]);
    }
    return threads_part(masking->agreement, op) != NULL ||
           (own && op_find_within(op, is_own, masking));
}

static void collect(Masking *masking, const Region *region)
{
    for (Op *op = region->first; op; op = op_next(op)) {
        const bool parts =
            op->region_count > 0 && !op_find_within(op, is_joint, NULL) && is_own_way(masking, op);
        if (parts || is_own(op, masking))
            vec_push(masking->arena, &masking->own, op);
        else
            for (int i = 0; i < op->region_count; i++) collect(masking, op->regions[i]);
    }
}

/* ---- under the condition ---- */

/* Where it is not done its results are zero. */
static Op *guard(Masking *masking, Op *op, Value *condition)
{
    const int count = op->result_count;
    const Type **types = arena_new_array(masking->arena, const Type *, count + 1);
    Value **done = arena_new_array(masking->arena, Value *, count + 1);
    Value **none = arena_new_array(masking->arena, Value *, count + 1);
    for (int i = 0; i < count; i++) types[i] = op->results[i].type;
    Builder at = builder_before(op);
    Op *when = build_op(&at, OP_if, 1, &condition, count, types);
    Builder inside = builder_at_end(when->regions[0], op->span);
    Builder outside = builder_at_end(when->regions[1], op->span);
    for (int i = 0; i < count; i++) {
        const DType dtype = types[i]->dtype;
        value_replace(&op->results[i], &when->results[i]);
        done[i] = &op->results[i];
        none[i] = dtype_is_float(dtype) ? build_number(&outside, dtype, 0)
                                        : build_const(&outside, dtype, 0);
    }
    op_move_before(op, build_op(&inside, OP_yield, count, done, 0, NULL));
    build_op(&outside, OP_yield, count, none, 0, NULL);
    return when;
}

/* What gives nothing, right behind another such one but for what is computed between them, is done
 * with it, so that writes of neighbours become one. */
static bool join(Op *when, Op *op)
{
    if (when == NULL || when->result_count || op->result_count || when->parent != op->parent)
        return false;
    for (const Op *between = when->next; between != op; between = between->next)
        if (between == NULL || !op_has(between, PURE) || op_has(between, COOP)) return false;
    while (when->next != op) op_move_before(when->next, when);
    op_move_before(op, region_terminator(when->regions[0]));
    return true;
}

/* What stands within another one is part of that once it is gone. */
static void take_apart(Op *op, void *context)
{
    Masking *masking = context;
    if (op->code != OP_if || !op_int(op, ATTR_idle, 0)) return;
    if (!op_find_within(op, is_joint, NULL)) {
        op_set_int(op, ATTR_idle, 0);
        return;
    }
    masking->own = (OpVec){0};
    masking->agreement = analysis_uniformity(masking->context);
    collect(masking, op->regions[0]);
    Op *when = NULL;
    for (size_t i = 0; i < masking->own.count; i++) {
        Op *own = masking->own.data[i];
        if (!join(when, own)) when = guard(masking, own, operand(op, condition));
    }
    op_dissolve(op, op->regions[0]);
    analysis_invalidate(masking->context);
}

bool pass_masked_execution(Kernel *kernel, PassContext *context)
{
    Masking masking = {.kernel = kernel, .context = context, .arena = arena_new()};
    region_visit_inner_first(kernel->host, take_apart, &masking);
    arena_free(masking.arena);
    return true;
}
