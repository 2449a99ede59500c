/* guarded_loads.c: branches that load and compute a little become loads with a predicate, and
 * choices.
 *
 *     if c: m = max(m, p[i])                 x = p[i] where c; m = max(m, x) if c else m
 *
 * ptxas moves no load past a branch: one after the other of a filter's places inside of an image
 * would be waited for. A load with a predicate is an instruction like others. One without, whose
 * neighbours' loads may be one access with it, stays behind its branch, unless it is alone. */
#include "ir/rebuild.h"
#include "passes/analysis/access.h"
#include "passes/pass.h"
#include "target/cost.h"

typedef struct Arms {
    int loads, bare; /* all of them, and those without a predicate */
    int ops;         /* others */
} Arms;

/* Whether each thread does no more than load, and compute for itself. */
static bool count_arm(const Region *arm, Arms *arms)
{
    for (const Op *op = arm->first; op; op = op->next) {
        if (load_is_global(op)) {
            arms->loads++;
            if (!operand_given(op, predicate)) arms->bare++;
        } else if (op->region_count || op_has(op, COOP | QUOTIENT | REMAINDER) ||
                   !op_has(op, PURE | TERM)) {
            return false; /* a division may be by zero elsewhere */
        } else if (op->code != OP_const && !op_has(op, TERM)) {
            arms->ops++;
        }
    }
    return true;
}

static bool are_scalars(const Op *branch)
{
    for (int i = 0; i < branch->result_count; i++)
        if (branch->results[i].type->kind != TYPE_SCALAR) return false;
    return true;
}

static bool is_light(const Op *branch)
{
    Arms arms = {0};
    return are_scalars(branch) && count_arm(branch->regions[0], &arms) &&
           count_arm(branch->regions[1], &arms) && arms.loads > 0 &&
           (arms.bare == 0 || arms.loads == 1) && arms.ops <= COST_GUARDED_OPS;
}

static void take_out(Op *branch, int arm, Value *condition)
{
    for (Op *op = branch->regions[arm]->first, *next; op && !op_has(op, TERM); op = next) {
        next = op->next;
        Builder at = builder_before(branch);
        if (load_is_global(op))
            load_move_under(&at, op, condition);
        else
            op_move_before(op, branch);
    }
}

static void choose(Op *branch)
{
    Builder at = builder_before(branch);
    at.span = branch->span;
    Value *condition = operand(branch, condition);
    const Region *otherwise = branch->regions[1];
    take_out(branch, 0, condition);
    if (otherwise->first && !op_has(otherwise->first, TERM))
        take_out(branch, 1, build2(&at, OP_xor, condition, build_const(&at, DTYPE_b1, 1)));
    for (int i = 0; i < branch->result_count; i++) {
        Value *yes = region_terminator(branch->regions[0])->operands[i],
              *no = region_terminator(otherwise)->operands[i];
        value_replace(&branch->results[i], build3(&at, OP_select, condition, yes, no));
    }
    op_erase(branch);
}

static void visit(Op *branch, void *context)
{
    (void)context;
    if (branch->code == OP_if && is_light(branch)) choose(branch);
}

bool pass_guarded_loads(Kernel *kernel, PassContext *context)
{
    (void)context;
    kernel_each_launch (op, kernel) region_visit_inner_first(launch_region(op), visit, NULL);
    return true;
}
