/* open.c: products that the author leaves under way. What such a product makes comes from the wait
 * that it is done by; so does what comes after. One that is used before it is waited for, or
 * waited for elsewhere, is done at once. Needs and leaves a TYPED kernel in SSA. */
#include "base/vec.h"
#include "passes/passes.h"

typedef struct Open {
    Kernel *kernel;
    VEC(Op *) dots;
    Arena *arena;
} Open;

static bool is_open(const Op *op)
{
    return op->code == OP_dot && op_int(op, ATTR_open, 0);
}

typedef struct Search {
    const Value *value;
    bool found;
} Search;

static void find_use(Op *op, void *context)
{
    Search *search = context;
    for (int i = 0; i < op->operand_count; i++) search->found |= op->operands[i] == search->value;
}

/* The op, or one in its regions, has the value as an operand. */
static bool uses(Op *op, const Value *value)
{
    Search search = {value, false};
    find_use(op, &search);
    for (int i = 0; i < op->region_count; i++) region_visit(op->regions[i], find_use, &search);
    return search.found;
}

/* The next product adds to what this one makes, as the tensor core does by itself. */
static bool continues(const Op *next, const Value *sum)
{
    return is_open(next) && next->operands[2] == sum && next->operands[0] != sum &&
           next->operands[1] != sum;
}

static void wait_for(Open *open, Op *wait, Value *sum)
{
    Builder builder = builder_before(wait);
    const int count = wait->operand_count + 1;
    Value **operands = arena_new_array(open->arena, Value *, count);
    const Type **types = arena_new_array(open->arena, const Type *, count);
    for (int i = 0; i + 1 < count; i++) operands[i] = wait->operands[i];
    operands[count - 1] = sum;
    for (int i = 0; i < count; i++) types[i] = operands[i]->type;
    Op *made = build_op(&builder, OP_dot_wait, count, operands, count, types);
    op_set_int(made, ATTR_count, op_int(wait, ATTR_count, 0));
    for (int i = 0; i + 1 < count; i++)
        value_replace(open->kernel, &wait->results[i], &made->results[i]);
    value_replace(open->kernel, sum, &made->results[count - 1]);
    made->operands[count - 1] = sum;
    made->results[count - 1].name = sum->name;
    op_erase(wait);
}

/* False: nothing waits for it where it is under way. */
static bool settle(Open *open, Op *dot)
{
    Value *sum = &dot->results[0];
    int64_t later = 0;
    for (Op *op = dot->next; op; op = op->next) {
        if (continues(op, sum)) return value_count_uses(open->kernel, sum) == 1;
        if (uses(op, sum)) return false;
        later += is_open(op);
        if (op->code != OP_dot_wait || op_int(op, ATTR_count, 0) > later) continue;
        wait_for(open, op, sum);
        return true;
    }
    return false;
}

static void note_dot(Op *op, void *context)
{
    Open *open = context;
    if (is_open(op)) vec_push(open->arena, &open->dots, op);
}

bool pass_open(Kernel *kernel, const Target *target)
{
    (void)target;
    Open open = {.kernel = kernel, .arena = arena_new()};
    kernel_visit(kernel, note_dot, &open);
    for (size_t i = open.dots.count; i-- > 0;)
        if (!settle(&open, open.dots.data[i])) op_set_int(open.dots.data[i], ATTR_open, 0);
    arena_free(open.arena);
    return true;
}
