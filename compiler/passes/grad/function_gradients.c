/* function_gradients.c: op grad, the gradient of a function inside of a kernel, becomes the ops
 * that compute it: its region once more, and the way back through that. A function of numbers alone
 * is a thread's own, with one of tiles the block goes back together. */
#include "ir/rebuild.h"
#include "passes/grad/grad.h"

/* ---- what the function does ---- */

typedef struct Function {
    const Op *writer; /* of memory that others see; NULL: none */
    bool has_tiles;
} Function;

static void look_at(Op *op, void *context)
{
    Function *function = context;
    if (op_has(op, WRITES) && view_of(op)) function->writer = op;
    for (int i = 0; i < op->result_count; i++) {
        const TypeKind kind = op->results[i].type->kind;
        function->has_tiles |= kind == TYPE_TILE || kind == TYPE_SHARED;
    }
}

static Function function_of(const Op *op)
{
    Function function = {0};
    for (int i = 0; i < op->operand_count; i++)
        function.has_tiles |= op->operands[i]->type->kind == TYPE_TILE;
    region_visit(op->regions[0], look_at, &function);
    return function;
}

/* ---- who has what for himself ---- */

static void add_own(Grad *grad, const Value *value)
{
    if (value->type->kind == TYPE_SCALAR) map_set(grad->arena, &grad->depends, value, grad);
}

static void add_results(Op *op, void *context)
{
    for (int i = 0; i < op->result_count; i++) add_own(context, &op->results[i]);
    for (int r = 0; r < op->region_count; r++)
        for (int i = 0; i < op->regions[r]->argument_count; i++)
            add_own(context, op->regions[r]->arguments[i]);
}

static Op *launch_around(const Op *op)
{
    Op *at = op->parent->parent;
    while (at->code != OP_launch) at = at->parent->parent;
    return at;
}

/* Numbers that a function of tiles has as inputs are the block's. */
static void check_inputs(Grad *grad, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (scalar_depends(grad, op->operands[i]))
            grad_refuse(grad, op,
                        "it is of tiles, and by a number that threads have each for itself");
}

static void find_own(Grad *grad, const Op *op, const Function *function)
{
    Region *region = op->regions[0];
    if (function->has_tiles) {
        find_dependent(grad, launch_region(launch_around(op)));
        check_inputs(grad, op);
        return;
    }
    for (int i = 0; i < region->argument_count; i++) add_own(grad, region->arguments[i]);
    region_visit(region, add_results, grad);
}

/* ---- there and back ---- */

static void give_ones(Grad *grad, const Op *yield, Part part)
{
    for (int i = 0; i < yield->operand_count; i++) {
        Value *value = yield->operands[i];
        if (is_differentiable(value))
            give(grad, value, value->type->kind == TYPE_TILE ? PART_TOTAL : part,
                 number_of(grad, adjoint_type(grad, value), 1));
    }
}

/* Of the region's arguments, in their own types. */
static void take_gradients(Grad *grad, const Op *op, Part part, Value **out)
{
    const Region *region = op->regions[0];
    for (int i = 0; i < region->argument_count; i++) {
        const Value *argument = region->arguments[i];
        const Adjoint both = take_adjoint(grad, argument);
        Value *found = part == PART_OWN ? both.parts[PART_OWN] : whole_adjoint(grad, both);
        out[i] = found ? build_cast(&grad->builder, argument->type->dtype, found)
                       : number_of(grad, argument->type, 0);
    }
}

static void go_there_and_back(Grad *grad, const Op *op, Part part, Value **out)
{
    Scope scope;
    Region *region = op->regions[0];
    for (int i = 0; i < region->argument_count; i++)
        map_set(grad->arena, &grad->primal, region->arguments[i], op->operands[i]);
    find_moving(grad, region);
    scope_open(grad, &scope);
    replay(grad, region, false);
    give_ones(grad, region_terminator(region), part);
    reverse(grad, region);
    take_gradients(grad, op, part, out);
    scope_close(grad);
}

/* What stands in the region of `made` takes the place of both. */
static void put_in_place(Op *op, Op *made, Value *const *gradients)
{
    ops_move_before(made->regions[0]->first, op);
    for (int i = 0; i < op->result_count; i++) value_replace(&op->results[i], gradients[i]);
    op_erase(op);
    op_erase(made);
}

static bool expand(Kernel *kernel, const Target *target, Op *op)
{
    const Function function = function_of(op);
    Builder before = builder_before(op);
    Op *made = build_op(&before, OP_grad, 0, NULL, 0, NULL);
    Grad grad = {.kernel = kernel,
                 .target = target,
                 .arena = kernel->arena,
                 .builder = builder_at_end(made->regions[0], op->span),
                 .threads = WARP_SIZE * op_int(launch_around(op), ATTR_warps, 1),
                 .is_inner = true};
    Value **gradients = arena_new_array(kernel->arena, Value *, op->operand_count + 1);
    find_own(&grad, op, &function);
    if (function.writer)
        grad_refuse(&grad, function.writer,
                    "a function whose gradient a kernel computes writes no memory of others");
    if (!grad.failed)
        go_there_and_back(&grad, op, function.has_tiles ? PART_TOTAL : PART_OWN, gradients);
    if (grad.failed) return false;
    drop_slopes(made->regions[0]);
    settle_custom_vjp(&grad, made->regions[0]);
    put_in_place(op, made, gradients);
    return reads_are_fresh(&grad);
}

/* ---- all of them ---- */

/* The first one that is in no other. */
static Op *find_in(const Region *region)
{
    for (Op *op = region->first; op; op = op_next(op)) {
        if (op->code == OP_grad) return op;
        for (int i = 0; i < op->region_count; i++) {
            Op *found = find_in(op->regions[i]);
            if (found) return found;
        }
    }
    return NULL;
}

bool settle_gradients(Kernel *kernel, const Target *target, Region *region)
{
    for (Op *op; (op = find_in(region)) != NULL;)
        if (!expand(kernel, target, op)) return false;
    return true;
}

bool pass_function_gradients(Kernel *kernel, PassContext *context)
{
    return settle_gradients(kernel, context->target, kernel->host);
}
