/* counted_loops.c: a `while` that counts up to a number that stays is a `for`; needs and leaves a
 * TYPED kernel in SSA form.
 *
 *     while row < rows: ...; row += blocks         becomes    for row = row, row + blocks ... rows
 *
 * So is one whose author leaves it in front of all that it does, `while True: if row >= rows:
 * break`. Of a `for` passes know which numbers its index has, and what the next iteration does:
 * they can load and copy ahead, and prove that accesses lie inside of their memory. */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

#include "ir/rebuild.h"

typedef struct Count {
    Op *loop;
    int counter;       /* which of what it carries */
    Value *end, *step; /* the same in all iterations: may be made before the loop */
    bool including;    /* the end */
    Op *leave;         /* the branch in which the author leaves the loop; NULL: its own test */
    int stopped;       /* which of what it carries says so then; else -1 */
} Count;

static int argument_of(const Region *region, const Value *value)
{
    return value->region == region ? (int)value->index : -1;
}

/* The comparison goes on, or, if it is `inverted`, ends the loop. */
static bool find_end(Count *count, const Region *region, const Value *condition, bool inverted)
{
    Order order;
    if (!condition->op || condition->op->code != OP_cmp || !order_of(condition->op, &order))
        return false;
    const DType dtype = order.less->type->dtype;
    if (!type_is_scalar(order.less->type) || (dtype != DTYPE_i32 && dtype != DTYPE_i64))
        return false;
    Value *counter = inverted ? order.more : order.less;
    count->end = inverted ? order.less : order.more;
    count->including = order.equal != inverted;
    count->counter = argument_of(region, counter);
    return count->counter >= 0 && value_may_precede(count->end, count->loop);
}

/* From the first on to before the end, but for the one that is asked for besides. */
static bool all_pure(const Op *first, const Op *end, const Op *but)
{
    for (const Op *op = first; op != end; op = op_next(op))
        if (op != but && !op_has(op, PURE)) return false;
    return true;
}

/* What the loop carries goes through its test as it is. */
static bool leaves_carried(const Region *test, const Op *condition)
{
    for (int i = 0; i < test->argument_count; i++)
        if (operand_list(condition, carried)[i] != test->arguments[i]) return false;
    return true;
}

/* Which of the carried is true once the author has left the loop, whose own test is `True`. */
static int find_stopped(const Op *loop, const Value *holds)
{
    const Region *test = loop->regions[0];
    const Op *branch = holds->op;
    if (!branch || branch->code != OP_if || branch->result_count != 1) return -1;
    const Op *go = region_terminator(branch->regions[0]), *no = operand(branch, condition)->op;
    if (!go || branch->regions[0]->first != go ||
        !value_is_constant(*operand_list(go, values), 1) || !no || no->code != OP_not)
        return -1;
    const int stopped = argument_of(test, operand(no, a));
    return stopped >= 0 && value_is_constant(operand_list(loop, init)[stopped], 0) ? stopped : -1;
}

/* What an iteration yields, on the way on which the author leaves the loop, or on the other. */
static Value *yielded(const Count *count, int index, int side)
{
    Value *value = operand_list(count->loop->regions[1]->last, values)[index];
    if (!count->leave || value->op != count->leave) return value;
    return operand_list(region_terminator(count->leave->regions[side]),
                        values)[value - count->leave->results];
}

/* The branch that ends each iteration, on one side of which nothing is done but to leave. */
static bool find_leave(Count *count, const Region *body)
{
    Op *leave = body->last->previous;
    if (!leave || leave->code != OP_if || !all_pure(body->first, leave, NULL)) return false;
    const Region *side = leave->regions[0];
    if (!region_terminator(side) || !region_terminator(leave->regions[1]) ||
        !all_pure(side->first, side->last, NULL))
        return false;
    count->leave = leave;
    if (body->arguments[count->stopped]->use_count ||
        !value_is_constant(yielded(count, count->stopped, 0), 1) ||
        !value_is_constant(yielded(count, count->stopped, 1), 0))
        return false;
    for (int i = 0; i < body->argument_count; i++)
        if (i != count->stopped && yielded(count, i, 0) != body->arguments[i]) return false;
    return find_end(count, body, operand(leave, condition), true);
}

static bool find_step(Count *count, FactTable *facts)
{
    const Value *counter = count->loop->regions[1]->arguments[count->counter];
    const Op *next = yielded(count, count->counter, 1)->op;
    if (!next || next->code != OP_add) return false;
    const bool turned = operand(next, a) != counter;
    count->step = turned ? operand(next, a) : operand(next, b);
    return (turned ? operand(next, b) : operand(next, a)) == counter &&
           value_may_precede(count->step, count->loop) && facts_of(facts, count->step).low > 0;
}

static bool find_count(Op *loop, FactTable *facts, Count *out)
{
    const Region *test = loop->regions[0], *body = loop->regions[1];
    const Op *condition = test->last;
    const Value *holds = operand(condition, condition);
    *out = (Count){.loop = loop, .stopped = -1};
    if (!leaves_carried(test, condition) || !all_pure(test->first, condition, holds->op))
        return false;
    if (!find_end(out, test, holds, false)) {
        out->stopped = find_stopped(loop, holds);
        if (out->stopped < 0 || !find_leave(out, body)) return false;
    }
    return find_step(out, facts);
}

/* Everything that the loop carries but, if nothing behind it asks for them, its count, and whether
 * it has been left. */
static bool is_carried(const Count *count, int index)
{
    return index != count->stopped &&
           (index != count->counter || count->loop->results[index].use_count);
}

static void make_for(Kernel *kernel, const Count *count)
{
    Op *loop = count->loop;
    Region *body = loop->regions[1];
    value_move_before(count->end, loop);
    value_move_before(count->step, loop);
    Builder builder = builder_before(loop);
    Value *init = operand_list(loop, init)[count->counter], *end = count->end;
    const DType dtype = init->type->dtype;
    if (count->including) end = build2(&builder, OP_add, end, build_const(&builder, dtype, 1));

    const int most = body->argument_count;
    Value **operands = arena_new_array(kernel->arena, Value *, 3 + most);
    Value **yields = arena_new_array(kernel->arena, Value *, most);
    int carried = 0;
    operands[0] = init;
    operands[1] = end;
    operands[2] = count->step;
    for (int i = 0; i < most; i++) {
        if (!is_carried(count, i)) continue;
        operands[3 + carried] = operand_list(loop, init)[i];
        yields[carried++] = yielded(count, i, 1);
    }
    Op *made = loop_build(&builder, 3 + carried, operands);
    Value *const *arguments = made->regions[0]->arguments;
    arguments[0]->name = body->arguments[count->counter]->name;
    Builder inner = builder_at_end(made->regions[0], loop->span);
    Map now = {0};
    for (int i = 0, at = 0; i < most; i++) {
        Value *was = body->arguments[i];
        if (is_carried(count, i)) {
            arguments[1 + at]->name = was->name;
            map_set(kernel->arena, &now, was, arguments[1 + at]);
            made->results[at].name = loop->results[i].name;
            value_replace(&loop->results[i], &made->results[at++]);
        }
        if (i == count->counter) map_set(kernel->arena, &now, was, arguments[0]);
    }
    Op *yield = build_op(&inner, OP_yield, carried, yields, 0, NULL);
    region_move_before(body, yield);
    if (count->leave) {
        region_move_before(count->leave->regions[1], count->leave);
        op_erase(body->last); /* the old yield */
        op_erase(count->leave);
    }
    region_replace(made->regions[0], &now);
    op_erase(loop);
}

static void consider(Op *loop, void *context)
{
    PassContext *pass = context;
    Count count;
    if (loop->code == OP_while && find_count(loop, analysis_ranges(pass), &count))
        make_for(pass->kernel, &count);
}

bool pass_counted_loops(Kernel *kernel, PassContext *context)
{
    region_visit_inner_first(kernel->host, consider, context);
    return true;
}
