/* operand_swap.c: products whose columns, not rows, fill the matrix unit.
 *
 * wgmma makes 64 rows of a product at a time, but columns by the 8. Where a tile has another number
 * of rows, and columns that are a multiple of 64, the sides change places:
 *
 *     c + a @ b    is    transpose(transpose(c) + transpose(b) @ transpose(a))
 *
 * Of operands in shared memory a transpose is another way to read them. Sums that a loop carries it
 * carries transposed, and what is behind the loop gets them back as they were, which only renames
 * the elements that a thread has. So does what a product's own sums, which begin with one number,
 * go to, if that is memory: what computes with them further might need them in rows. */
#include "passes/layout/matrix.h"
#include "ir/op_vec.h"
#include "ir/rebuild.h"

typedef struct OperandSwap {
    Kernel *kernel;
    const Target *target;
} OperandSwap;

static Value *transpose(Builder *at, Value *tile)
{
    const int64_t shape[2] = {tile->type->shape[1], tile->type->shape[0]}, dims[2] = {1, 0};
    const Type *type = type_tile(at->kernel->types, tile->type->dtype, 2, shape, NULL);
    Op *op = build_op(at, OP_transpose, 1, &tile, 1, &type);
    op_set_ints(op, ATTR_dims, 2, dims);
    return op->results;
}

static bool is_worth_it(const Op *dot)
{
    if (dot->code != OP_dot) return false; /* it may have no results */
    const Type *c = dot->results[0].type;
    return c->rank == 2 && c->shape[0] >= COST_SWAP_ROWS && c->shape[0] % WGMMA_ROWS != 0 &&
           c->shape[1] % WGMMA_ROWS == 0;
}

/* The dot with its sides changed, which adds to `sum`. */
static Op *build_swapped(const Op *dot, Builder *at, Value *sum)
{
    Value *operands[3] = {transpose(at, operand(dot, b)), transpose(at, operand(dot, a)), sum};
    Op *swapped = build_op(at, OP_dot, 3, operands, 1, &sum->type);
    op_keep_attrs(swapped, dot);
    return swapped;
}

/* Makes it, to see whether wgmma can do it. */
static bool can_swap(const OperandSwap *swap, Op *dot)
{
    Builder at = builder_before(dot);
    Op *swapped = build_swapped(dot, &at, transpose(&at, operand(dot, c)));
    const bool can = wgmma_can(swap->kernel, swap->target, swapped);
    Value *const operands[3] = {operand(swapped, a), operand(swapped, b), operand(swapped, c)};
    op_erase(swapped);
    for (int i = 0; i < 3; i++) op_erase(operands[i]->op);
    return can;
}

/* The op that uses the value, if it is the only one. */
typedef struct Use {
    const Value *value;
    Op *op;
    int count;
} Use;

static void find_use(Op *op, void *context)
{
    Use *use = context;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i] == use->value) {
            use->op = op;
            use->count++;
        }
}

static Op *only_use(const Region *region, const Value *value)
{
    Use use = {.value = value};
    for (Op *op = region->first; op; op = op_next(op)) op_visit(op, find_use, &use);
    return use.count == 1 && use.op->parent == region ? use.op : NULL;
}

/* The products that a loop adds up from one round to the next, and nothing else sees. */
static bool find_chain(const OperandSwap *swap, const Op *loop, int carried, OpVec *chain)
{
    const Region *body = loop->regions[0];
    const Value *sum = body->arguments[1 + carried];
    const Op *yield = region_terminator(body);
    for (Op *use; (use = only_use(body, sum)) != NULL && use != yield; sum = use->results) {
        if (!is_worth_it(use) || operand(use, c) != sum || !can_swap(swap, use)) return false;
        vec_push(swap->kernel->arena, chain, use);
    }
    return chain->count > 0 && yield->operands[carried] == sum && only_use(body, sum) == yield;
}

static void change_loop(Op *loop, int carried, const OpVec *chain)
{
    Value *sum = loop->regions[0]->arguments[1 + carried], *result = &loop->results[carried];
    Builder before = builder_before(loop), after = builder_after(loop);
    Value *first = transpose(&before, operand_list(loop, init)[carried]);
    sum->type = result->type = first->type;
    op_set_operand(loop, operand_index(loop, init) + carried, first);
    Value *back = transpose(&after, result);
    value_replace(result, back);
    op_set_operand(back->op, operand_index(back->op, a), result);
    for (size_t i = 0; i < chain->count; i++) {
        Op *dot = chain->data[i];
        Builder at = builder_before(dot);
        Op *swapped = build_swapped(dot, &at, sum);
        value_replace(dot->results, swapped->results);
        op_erase(dot);
        sum = swapped->results;
    }
}

/* ---- products by themselves ---- */

static ValueAnswer goes_elsewhere(const Value *value, const Op *user, void *context)
{
    (void)value, (void)context;
    if (op_has(user, STORES)) return VALUE_ENOUGH;
    return op_has(user, ELEM) && user->result_count == 1 && user->results->use_count > 0
               ? VALUE_RESULTS
               : VALUE_FOUND;
}

/* Element by element on the way, if at all. */
static bool goes_to_memory(const Value *value)
{
    return value->use_count > 0 && !value_finds_use(value, goes_elsewhere, NULL);
}

static bool starts_alike(const Op *dot)
{
    const Op *c = operand(dot, c)->op;
    return c && c->code == OP_splat;
}

static void look_at_dot(Op *dot, void *context)
{
    const OperandSwap *swap = context;
    if (!is_worth_it(dot) || !starts_alike(dot) || !goes_to_memory(dot->results) ||
        !can_swap(swap, dot))
        return;
    Builder at = builder_before(dot);
    Op *swapped = build_swapped(dot, &at, transpose(&at, operand(dot, c)));
    value_replace(dot->results, transpose(&at, swapped->results));
    op_erase(dot);
}

static void look(Op *loop, void *context)
{
    const OperandSwap *swap = context;
    if (loop->code != OP_for) return;
    for (int i = 0; i < loop->result_count; i++) {
        OpVec chain = {0};
        if (find_chain(swap, loop, i, &chain)) change_loop(loop, i, &chain);
    }
}

bool pass_operand_swap(Kernel *kernel, PassContext *context)
{
    OperandSwap swap = {.kernel = kernel, .target = context->target};
    if (!target_has(context->target, HAS_WGMMA)) return true;
    if (kernel_had(kernel, OP_dot)) kernel_visit_those(kernel, OP_for, look, &swap);
    kernel_visit_those(kernel, OP_dot, look_at_dot, &swap);
    return true;
}
