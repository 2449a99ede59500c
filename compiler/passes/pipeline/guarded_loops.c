/* guarded_loops.c: iterations of a pipelined loop that do all or nothing.
 *
 * Where a mask says which blocks of an operand are there, an iteration copies and multiplies under
 * a condition. Copies of an iteration that may not come are not made ahead; but whoever copies
 * ahead can ask the same condition. So what it guards becomes a pipelined loop of one iteration: a
 * loop within others and branches is planned so that producers go from one of its runs to the next.
 *
 *     for i {stages = 3}:          becomes    for i:
 *         if condition:                           if condition:
 *             copy, multiply                          for 0, 1 {stages = 3}:
 *                                                         copy, multiply */
#include "passes/pass.h"

#include "ir/rebuild.h"

/* What is before the condition in an iteration: numbers that whoever copies ahead can know, too. */
static bool is_plain(const Op *op)
{
    return !op->region_count && !op_has(op, COOP) && !op_has(op, WRITES);
}

/* The only thing that an iteration does, but for what it is made of; NULL: there is none. */
static Op *guard_of(const Op *loop)
{
    Op *guard = NULL;
    for (Op *op = loop->regions[0]->first; op; op = op_next(op)) {
        if (op_has(op, TERM) || is_plain(op)) continue;
        if (guard || op->code != OP_if) return NULL;
        guard = op;
    }
    if (!guard || !region_has_with(guard->regions[0], COPY)) return NULL;
    const Region *otherwise = guard->regions[1];
    return !otherwise->first || otherwise->first == region_terminator(otherwise) ? guard : NULL;
}

/* In the loop, which carries the values that the condition leaves as they are otherwise. */
static void carry(const Kernel *kernel, Op *loop, const Op *otherwise, int count)
{
    Map inside = {0};
    for (int i = 0; i < count; i++) {
        Value *was = otherwise->operands[i];
        Value *carried = loop->regions[0]->arguments[1 + i];
        carried->name = was->name;
        if (!map_has(&inside, was)) map_set(kernel->arena, &inside, was, carried);
    }
    region_replace(loop->regions[0], &inside);
}

static void loop_inside(Kernel *kernel, Op *guard, int64_t stages)
{
    Region *region = guard->regions[0];
    Op *end = region_terminator(region);
    const Op *otherwise = region_terminator(guard->regions[1]);
    const int count = end ? end->operand_count : 0;
    Builder builder = builder_before(region->first);
    builder.span = guard->span;
    Value **operands = arena_new_array(kernel->arena, Value *, 3 + count);
    for (int i = 0; i < 3; i++) operands[i] = build_const(&builder, DTYPE_i32, i > 0);
    for (int i = 0; i < count; i++) operands[3 + i] = otherwise->operands[i];
    Op *loop = loop_build(&builder, 3 + count, operands);
    op_set_int(loop, ATTR_stages, stages);
    Builder inner = builder_at_end(loop->regions[0], guard->span);
    Op *yield = build_op(&inner, OP_yield, count, end ? end->operands : NULL, 0, NULL);
    for (Op *op = loop->next, *next; op && op != end; op = next) {
        next = op->next;
        op_move_before(op, yield);
    }
    carry(kernel, loop, otherwise, count);
    for (int i = 0; i < count; i++) op_set_operand(end, i, &loop->results[i]);
}

static void consider(Kernel *kernel, Op *loop)
{
    const int64_t stages = op_int(loop, ATTR_stages, 0);
    Op *guard = stages > 1 ? guard_of(loop) : NULL;
    if (!guard) return;
    loop_inside(kernel, guard, stages);
    op_drop_attr(loop, ATTR_stages);
}

bool pass_guarded_loops(Kernel *kernel, PassContext *context)
{
    if (!kernel_had_any(kernel, COPY) || !target_has(context->target, HAS_TMA)) return true;
    region_each_of (loop, kernel->host, OP_for) consider(kernel, loop);
    return true;
}
