/* mbarriers.c: mbarriers of the author's own. */
#include "eval/surface/surface.h"

/* A row of barriers with so many arrivals each. */
static Value *build_row(Builder *builder, int count, const int64_t *counts)
{
    const int64_t shape[1] = {count};
    const Type *type = type_shared(builder->kernel->types, DTYPE_i64, 1, shape, NULL);
    Value *row = build_op(builder, OP_shared_alloc, 0, NULL, 1, &type)->results;
    op_set_ints(build_op(builder, OP_mbarrier_init, 1, &row, 0, NULL), ATTR_counts, count, counts);
    return row;
}

static Builder start_of_launch(Eval *eval, Span at)
{
    Region *region = launch_region(eval->staging->launch);
    Builder start = region->first != NULL ? builder_before(region->first) : eval->builder;
    start.span = at;
    return start;
}

enum { ROW = 128 };

/* False: reported. */
static bool read_counts(Eval *eval, Object *object, Span at, int *count, int64_t counts[ROW])
{
    Object *all = iterate(eval, object, at);
    if (all == NULL) return false;
    *count = (int)all->as.list.count;
    if (*count < 1 || *count > ROW) {
        FAIL(eval, count_range, at, "the number of barriers in a row", 1LL, (long long)ROW,
             (long long)*count);
        return false;
    }
    for (int i = 0; i < *count; i++) {
        if (!object_as_int(eval, all->as.list.items[i], "the arrivals at a barrier", &counts[i]))
            return false;
        if (counts[i] < 1 || counts[i] > UINT16_MAX) {
            FAIL(eval, count_range, at, "the arrivals at a barrier", 1LL, (long long)UINT16_MAX,
                 (long long)counts[i]);
            return false;
        }
    }
    return true;
}

/* signals(counts, first): a row of them, each with as many arrivals a phase, made here or, if
 * `first`, where the launch begins. */
Object *core_mbarriers(Eval *eval, const Bound *bound)
{
    int count;
    int64_t counts[ROW];
    bool first = false;
    if (!stage_ready(eval, bound->at) ||
        !read_counts(eval, bound->values[0], bound->at, &count, counts) ||
        (!argument_absent(bound->values[1]) && !object_truth(eval, bound->values[1], &first)))
        return NULL;
    if (first && eval->staging->launch == NULL) return FAIL(eval, outside_launch, bound->at);
    Builder start = first ? start_of_launch(eval, bound->at) : eval->builder;
    Value *row = build_row(&start, count, counts);
    build_op(&start, OP_barrier, 0, NULL, 0, NULL);
    return object_ir(eval, row);
}

/* A barrier that is made where the launch begins, for all blocks of a cluster. */
static Value *first_signal(Eval *eval, int64_t count, Span at)
{
    Builder start = start_of_launch(eval, at);
    Value *row = build_row(&start, 1, &count);
    if (op_attr(eval->staging->launch, ATTR_cluster) != NULL) {
        build_op(&start, OP_cluster_arrive, 0, NULL, 0, NULL);
        build_op(&start, OP_cluster_wait, 0, NULL, 0, NULL);
    } else {
        build_op(&start, OP_barrier, 0, NULL, 0, NULL);
    }
    return row;
}

/* block_mbarrier(): such a barrier, of all threads of the block. */
Object *core_block_mbarrier(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    if (eval->staging->launch == NULL) return FAIL(eval, outside_launch, bound->at);
    return object_ir(
        eval,
        first_signal(eval, WARP_SIZE * op_int(eval->staging->launch, ATTR_warps, 1), bound->at));
}

/* named_barrier(number, count): the launch's barrier of that number, made where the launch begins.
 */
Object *core_named_barrier(Eval *eval, const Bound *bound)
{
    int64_t number, count;
    Staging *staging = eval->staging;
    if (!stage_ready(eval, bound->at) ||
        !object_as_int(eval, bound->values[0], "the barrier's number", &number) ||
        !object_as_int(eval, bound->values[1], "the arrivals at a barrier", &count))
        return NULL;
    if (staging->launch == NULL) return FAIL(eval, outside_launch, bound->at);
    if (number < 0 || number >= NAMED_BARRIERS || count < 1 || count > UINT16_MAX)
        return FAIL(eval, count_range, bound->at,
                    number < 0 || number > 15 ? "the number of a barrier"
                                              : "the arrivals at a barrier",
                    number < 0 || number > 15 ? 0LL : 1LL,
                    number < 0 || number > 15 ? 15LL : (long long)UINT16_MAX,
                    (long long)(number < 0 || number > 15 ? number : count));
    if (staging->named[number].row != NULL && staging->named[number].count != count)
        return FAIL(eval, barrier_threads, bound->at, (long long)number, (long long)count,
                    (long long)staging->named[number].count);
    if (staging->named[number].row == NULL) {
        staging->named[number].row = first_signal(eval, count, bound->at);
        staging->named[number].count = count;
    }
    return object_ir(eval, staging->named[number].row);
}

static Op *mbarrier_op(Eval *eval, const Bound *bound, OpCode code, int numbers)
{
    Value *operands[4] = {
        argument_value(eval, bound->values[0], TYPE_SHARED, "the barriers", NULL, bound->at)};
    for (int i = 0; operands[0] != NULL && i < numbers; i++)
        if ((operands[1 + i] = stage_scalar(eval, bound->values[1 + i], DTYPE_i32, bound->at)) ==
            NULL)
            return NULL;
    return operands[0] != NULL ? build_op(&eval->builder, code, 1 + numbers, operands, 0, NULL)
                               : NULL;
}

/* mbarrier_arrive(barriers, index, rank): at those of the cluster's block of that rank, if given.
 */
Object *core_mbarrier_arrive(Eval *eval, const Bound *bound)
{
    const int numbers = argument_absent(bound->values[2]) ? 1 : 2;
    return mbarrier_op(eval, bound, OP_mbarrier_arrive, numbers) != NULL ? eval->none : NULL;
}

Object *core_mbarrier_arrive_and_wait(Eval *eval, const Bound *bound)
{
    return mbarrier_op(eval, bound, OP_mbarrier_arrive_and_wait, 1) != NULL ? eval->none : NULL;
}

/* Whether an argument is given, and true. */
static bool read_flag(Eval *eval, Object *object, bool *out)
{
    *out = false;
    return argument_absent(object) || object_truth(eval, object, out);
}

/* mbarrier_arrive_on_copies(barriers, index, arrives, mask, counted): for the copies that were
 * begun, or, with a mask, for the last one, which goes to those blocks of the cluster. If the copy
 * is `counted`, what waits for it has been told of its bytes. */
Object *core_mbarrier_arrive_on_copies(Eval *eval, const Bound *bound)
{
    bool arrives, counted;
    if (!read_flag(eval, bound->values[2], &arrives) ||
        !read_flag(eval, bound->values[4], &counted))
        return NULL;
    Bound with_mask = *bound;
    with_mask.values[2] = bound->values[3];
    const int numbers = argument_absent(bound->values[3]) ? 1 : 2;
    Op *op = mbarrier_op(eval, &with_mask, OP_mbarrier_arrive_on_copies, numbers);
    if (op != NULL && arrives) op_set_int(op, ATTR_arrives, 1);
    if (op != NULL && counted) op_set_int(op, ATTR_counted, 1);
    return op != NULL ? eval->none : NULL;
}

/* mbarrier_expect_tx(barriers, index, bytes, once, rank): they have to land, too; at those of the
 * cluster's block of that rank, if given. */
Object *core_mbarrier_expect_tx(Eval *eval, const Bound *bound)
{
    bool once;
    if (!read_flag(eval, bound->values[3], &once)) return NULL;
    Bound with_rank = *bound;
    with_rank.values[2 + 1] = bound->values[4];
    const int numbers = argument_absent(bound->values[4]) ? 2 : 3;
    Op *op = mbarrier_op(eval, &with_rank, OP_mbarrier_expect_tx, numbers);
    if (op != NULL && once) op_set_int(op, ATTR_once, 1);
    return op != NULL ? eval->none : NULL;
}

Object *core_mbarrier_wait(Eval *eval, const Bound *bound)
{
    return mbarrier_op(eval, bound, OP_mbarrier_wait, 2) != NULL ? eval->none : NULL;
}

/* fence_async(global): what this thread wrote to shared memory is for the tensor core to see, or to
 * global memory for TMA. */
Object *core_fence_async(Eval *eval, const Bound *bound)
{
    bool global;
    if (!stage_ready(eval, bound->at) || !read_flag(eval, bound->values[0], &global)) return NULL;
    Op *op = build_op(&eval->builder, OP_fence_async, 0, NULL, 0, NULL);
    if (global) op_set_int(op, ATTR_global, 1);
    return eval->none;
}

/* own_fences(): the kernel's text, where it comes from, needs the fences that are added here. */
Object *core_own_fences(Eval *eval, const Bound *bound)
{
    if (!stage_ready(eval, bound->at)) return NULL;
    eval->staging->kernel->has_own_fences = true;
    return eval->none;
}
