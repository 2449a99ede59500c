/* loop_limits.c: loops that do something in their first iterations alone end there.
 *
 *     for i in range(count): if first + i < limit: ...
 *
 * is how a thread's share of what is known at run time is gone through, or what lies inside of an
 * array. All iterations behind the limit would compare and branch. Where nothing wraps, and threads
 * do nothing together in the loop, it runs to the limit, or to its end if that comes first, and
 * does not compare. Short loops are left to unrolling. */
#include "passes/analysis/context.h"
#include "passes/analysis/loop.h"
#include "passes/pass.h"
#include "ir/rebuild.h"

#include <string.h>

enum { FEW_TRIPS = 8 };

typedef struct Limit {
    Op *loop, *guard;     /* the `if` */
    Value *index, *bound; /* of the comparison */
    bool or_equal;
    int64_t step; /* by which the index grows in each iteration */
} Limit;

static bool is_together(const Op *op, const void *context)
{
    (void)context;
    return op_has(op, COOP | BARRIER | WAITS | ASYNC);
}

/* The branch that is all the loop does; NULL: it does something else. */
static Op *guard_of(const Op *loop)
{
    Op *guard = NULL;
    for (Op *op = loop->regions[0]->first; op; op = op->next) {
        if (op->code == OP_if && !guard && op->result_count == 0 &&
            op->regions[1]->first == op->regions[1]->last) {
            guard = op;
        } else if (is_together(op, NULL) || op->region_count ||
                   !(op_has(op, PURE) || op_has(op, LOADS) || op_has(op, TERM))) {
            return NULL;
        }
    }
    return guard && !region_find(guard->regions[0], is_together, NULL) ? guard : NULL;
}

static bool is_outside(const Op *loop, const Value *value)
{
    return !region_holds(loop->regions[0], value_home(value));
}

/* A comparison that, once it is false, stays so. */
static bool read_limit(FactTable *facts, const Op *compare, Limit *out)
{
    int64_t step, slope, number;
    if (!compare || compare->code != OP_cmp) return false;
    const char *predicate = op_attr(compare, ATTR_predicate)->text;
    if (strchr("lg", predicate[0]) == NULL) return false;
    const bool less = predicate[0] == 'l';
    out->or_equal = predicate[1] == 'e';
    out->index = less ? operand(compare, a) : operand(compare, b);
    out->bound = less ? operand(compare, b) : operand(compare, a);
    if (!(is_outside(out->loop, out->bound) || value_constant(out->bound, &number)) ||
        is_outside(out->loop, out->index) || !value_constant(operand(out->loop, step), &step) ||
        step < 1 || !loop_slope(out->loop, out->index, &slope) || slope < 1 ||
        slope > INT32_MAX / step)
        return false;
    out->step = slope * step;
    const Facts at = facts_of(facts, out->index); /* it cannot wrap */
    return loop_foresees(out->loop, out->index) && out->index->type->dtype == DTYPE_i32 &&
           at.low > INT32_MIN && at.high < INT32_MAX;
}

static Value *wide(Builder *at, Value *value)
{
    return build_cast(at, DTYPE_i64, value);
}

static Value *wide_number(Builder *at, int64_t number)
{
    return build_const(at, DTYPE_i64, number);
}

/* begin + max(0, ceil((bound - first) / step)) * the loop's own step. */
static Value *end_of(Builder *at, const Limit *limit, Value *first, Value *bound)
{
    Value *begin = operand(limit->loop, begin), *end = operand(limit->loop, end);
    Value *left = build2(at, OP_sub, wide(at, bound), wide(at, first));
    left = build2(at, OP_add, left, wide_number(at, limit->step - !limit->or_equal));
    left = build2(at, OP_max, left, wide_number(at, 0));
    Value *trips = build2(at, OP_floordiv, left, wide_number(at, limit->step));
    trips = build2(at, OP_mul, trips, wide(at, operand(limit->loop, step)));
    Value *there = build2(at, OP_add, wide(at, begin), trips);
    return build_cast(at, end->type->dtype, build2(at, OP_min, wide(at, end), there));
}

static void set_limit(const Limit *limit, Value *condition)
{
    Map first = {0}; /* values of the body -> what they are in the first iteration */
    Builder at = builder_before(limit->loop), inside = builder_before(limit->guard);
    const Region *body = limit->loop->regions[0];
    map_set(at.kernel->arena, &first, body->arguments[0], operand(limit->loop, begin));
    Value *index = value_copy_slice(&at, limit->index, body, &first);
    Value *bound = value_copy_slice(&at, limit->bound, body, &first);
    Value *end = end_of(&at, limit, index, bound);
    op_set_operand(limit->loop, operand_index(limit->loop, end), end);
    if (operand(limit->guard, condition) == condition)
        op_set_operand(limit->guard, operand_index(limit->guard, condition),
                       build_const(&inside, DTYPE_b1, 1));
}

static void visit(Op *loop, void *context)
{
    const int64_t trips = loop_trips(loop);
    Limit limit = {.loop = loop};
    if (loop->code != OP_for || loop->result_count || op_attr(loop, ATTR_unroll) ||
        (trips > 0 && trips < FEW_TRIPS) || operand(loop, begin)->type->dtype != DTYPE_i32 ||
        !(limit.guard = guard_of(loop)))
        return;
    Value *condition = operand(limit.guard, condition);
    Value *tests[] = {condition, condition};
    if (condition->op && condition->op->code == OP_and) {
        tests[0] = operand(condition->op, a);
        tests[1] = operand(condition->op, b);
    }
    for (int i = 0; i < 2; i++) {
        if (!read_limit(context, tests[i]->op, &limit)) continue;
        set_limit(&limit, tests[i]);
        return;
    }
}

bool pass_loop_limits(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_for, visit, analysis_ranges(context));
    return true;
}
