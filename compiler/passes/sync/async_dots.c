/* async_dots.c: products that the author leaves in flight. What such a product makes comes from the
 * wait that it is done by; so does what comes after. A loop may carry it to its next iteration,
 * where another product goes on with it, and a branch may give it, as either of its arms begins
 * one. One that is used before it is waited for, or waited for
 * elsewhere, is done at once. Needs and leaves a TYPED kernel in SSA. */
#include "base/vec.h"
#include "ir/op_vec.h"
#include "passes/pass.h"

/* A sum, and what waits for it. */
typedef struct Wait {
    Op *op;
    Value *sum;
} Wait;

typedef struct Open {
    Kernel *kernel;
    OpVec dots;
    VEC(Wait) waits;
    Map seen; /* a loop's argument that is followed -> with how many groups */
    Arena *arena;
} Open;

static bool is_open(const Op *op, const void *context)
{
    (void)context;
    return op->code == OP_dot && op_int(op, ATTR_async, 0);
}

/* ---- uses ---- */

static bool uses_inside(const Op *op, const Value *value)
{
    for (int i = 0; i < op->region_count; i++)
        if (region_count_uses(op->regions[i], value)) return true;
    return false;
}

/* The next product adds to what this one makes, as the tensor core does by itself. */
static bool continues(const Op *next, const Value *sum)
{
    return is_open(next, NULL) && operand(next, c) == sum && operand(next, a) != sum &&
           operand(next, b) != sum;
}

/* Which operand from `first` on is the sum, as which alone the op uses it; -1: none. */
static int carried_as(const Op *op, int first, const Value *sum)
{
    int found = -1, count = 0;
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i] != sum) continue;
        found = i - first;
        count++;
    }
    return count == 1 ? found : -1;
}

/* ---- where a sum is waited for ---- */

static bool follow(Open *open, Value *sum, Op *from, int64_t groups);

/* Into a loop, or to its next iteration: a product goes on there, or it comes out again. */
static bool follow_iteration(Open *open, Op *loop, int index, int64_t groups)
{
    Value *argument = loop->regions[0]->arguments[1 + index];
    if (map_number(&open->seen, argument, INTPTR_MAX) <= groups) return true;
    map_set_number(open->arena, &open->seen, argument, groups);
    return follow(open, argument, loop->regions[0]->first, groups);
}

static bool follow_loop(Open *open, Op *loop, int index, int64_t groups)
{
    return index >= 0 && follow_iteration(open, loop, index, groups) &&
           follow(open, &loop->results[index], loop->next, groups);
}

/* The op that is the first to use the sum. */
static bool follow_use(Open *open, Op *op, Value *sum, int64_t groups)
{
    enum { BOUNDS = 3 };
    if (continues(op, sum)) return sum->use_count == 1;
    Op *around = op->parent->parent;
    if (op->code == OP_for && !uses_inside(op, sum))
        return follow_loop(open, op, carried_as(op, BOUNDS, sum), groups);
    const int index = op->code == OP_yield ? carried_as(op, 0, sum) : -1;
    /* another arm may give another sum: who waits for either waits for both */
    if (index >= 0 && around->code == OP_if && !is_group(around))
        return follow(open, &around->results[index], around->next, groups);
    return index >= 0 && around->code == OP_for && follow_loop(open, around, index, groups);
}

/* How many groups of products are begun there at least. */
static int64_t groups_begun(const Op *op)
{
    if (op->code == OP_dot_commit || (is_open(op, NULL) && !op_attr(op, ATTR_joined))) return 1;
    if (op->code != OP_if) return 0;
    int64_t counts[2] = {0, 0};
    for (int r = 0; r < 2; r++)
        for (const Op *inner = op->regions[r]->first; inner; inner = inner->next)
            counts[r] += groups_begun(inner);
    return counts[0] < counts[1] ? counts[0] : counts[1];
}

/* A sum that comes there in two ways, with more groups behind it in one, is done by the later wait
 * in both. */
static void add_wait(Open *open, Op *op, Value *sum)
{
    vec_each (known, &open->waits) {
        if (known->sum != sum) continue;
        if (op_comes_before(known->op, op)) known->op = op;
        return;
    }
    const Wait wait = {op, sum};
    vec_push(open->arena, &open->waits, wait);
}

/* From an op on, with so many groups of products begun since the sum's own, that one with them. */
static bool follow(Open *open, Value *sum, Op *from, int64_t groups)
{
    for (Op *op = from; op; op = op->next) {
        if (op_count_uses(op, sum)) return follow_use(open, op, sum, groups);
        groups += groups_begun(op);
        if (op->code != OP_dot_wait || op_int(op, ATTR_count, 0) >= groups) continue;
        add_wait(open, op, sum);
        return true;
    }
    return false;
}

/* False: nothing waits for it where it is in flight. */
static bool is_settled(Open *open, Op *dot)
{
    open->seen = (Map){0};
    return follow(open, &dot->results[0], dot->next, op_attr(dot, ATTR_joined) ? 0 : 1);
}

/* The last ones first: others go on with them. Again, where one is done at once, as others may go
 * on with that. */
static void settle_all(Open *open)
{
    for (bool changed = true; changed;) {
        changed = false;
        open->waits.count = 0;
        for (size_t i = open->dots.count; i-- > 0;) {
            Op *dot = open->dots.data[i];
            if (!is_open(dot, NULL) || is_settled(open, dot)) continue;
            op_set_int(dot, ATTR_async, 0);
            changed = true;
        }
    }
}

/* ---- what the waits make ---- */

static bool is_waited_for(const Op *wait, const Value *sum)
{
    for (int i = 0; i < wait->operand_count; i++)
        if (wait->operands[i] == sum) return true;
    return false;
}

/* What stands where the wait did, as it gives back all sums that it is for. */
typedef struct Made {
    Op *op;
    int first; /* of the new ones */
    Value **sums;
} Made;

static Made with_sums(Open *open, Op *wait, Map *made_of)
{
    VEC(Value *) sums = {0};
    VEC(const Type *) types = {0};
    Builder builder = builder_before(wait);
    for (int i = 0; i < wait->operand_count; i++) vec_push(open->arena, &sums, wait->operands[i]);
    vec_each (known, &open->waits)
        if (known->op == wait && !is_waited_for(wait, known->sum)) /* else another product's, too */
            vec_push(open->arena, &sums, known->sum);
    for (size_t i = 0; i < sums.count; i++) vec_push(open->arena, &types, sums.data[i]->type);
    const int count = (int)sums.count;
    Op *made = build_op(&builder, OP_dot_wait, count, sums.data, count, types.data);
    op_set_int(made, ATTR_count, op_int(wait, ATTR_count, 0));
    for (int i = 0; i < count; i++) {
        Value *old = i < wait->result_count ? &wait->results[i] : sums.data[i];
        map_set(open->arena, made_of, old, &made->results[i]);
        if (i >= wait->result_count) made->results[i].name = old->name;
    }
    op_erase(wait);
    return (Made){made, wait->operand_count, sums.data};
}

static void make_waits(Open *open)
{
    Map made_of = {0}, seen = {0};
    VEC(Made) all = {0};
    for (size_t i = 0; i < open->waits.count; i++) {
        Op *wait = open->waits.data[i].op;
        if (map_has(&seen, wait)) continue;
        map_add(open->arena, &seen, wait);
        vec_push(open->arena, &all, with_sums(open, wait, &made_of));
    }
    region_replace(open->kernel->host, &made_of);
    for (size_t i = 0; i < all.count; i++)
        for (int j = all.data[i].first; j < all.data[i].op->operand_count; j++)
            op_set_operand(all.data[i].op, j, all.data[i].sums[j]);
}

bool pass_async_dots(Kernel *kernel, PassContext *context)
{
    Open open = {.kernel = kernel, .arena = context->arena};
    open.dots = region_list(open.arena, kernel->host, is_open, NULL);
    settle_all(&open);
    make_waits(&open);
    return true;
}
