/* sums.c: how the launches of a gradient add to memory, once it is known what is left of them.
 *
 * A sum of products that is at the same place for all blocks along a coordinate becomes a launch of
 * its own, whose blocks are those places: each goes along that coordinate, and adds its sum at the
 * end. So both gradients of a product of matrices are products of matrices.
 */
#include "ir/rebuild.h"
#include "passes/grad/coordinates.h"
#include "passes/grad/retile.h"
#include "passes/grad/states.h"

/* ---- which ---- */

/* The product that the op adds, in its type or another one, which has no other use. */
static Op *added_product(const Op *sum)
{
    const Value *value = operand(sum, value), *product = value;
    bool alone = value->use_count == 1;
    while (product->op && product->op->code == OP_cast) {
        product = operand(product->op, a);
        alone = alone && product->use_count == 1;
    }
    Op *dot = product->op;
    const bool is_one = alone && dot && dot->code == OP_dot && dot->parent == sum->parent;
    return is_one && value_is_zero(operand(dot, c)) ? dot : NULL;
}

static bool address_needs(const Op *sum, const Value *coordinate)
{
    for (int i = operand_index(sum, more); i < sum->operand_count; i++)
        if (value_needs(sum->operands[i], coordinate)) return true;
    return value_needs(operand(sum, memory), coordinate);
}

/* ---- a launch of its own ---- */

typedef struct Split {
    Grad *grad;
    Op *launch, *sum, *dot; /* of a copy of the launch, with nothing else in it */
    Coordinates kept, dropped;
    Map values; /* of that copy -> of the new launch */
    Map inner;  /* values that depend on what is dropped */
    Builder host, builder;
} Split;

static Value *in_launch(Split *split, Value *value)
{
    return value_in_launch(&split->builder, value, &split->values);
}

static Value *host_trips(Split *split, const Op *loop)
{
    Builder *host = &split->host;
    Map copied = {0};
    Value *begin = value_on_host(host, operand(loop, begin), &copied);
    Value *end = value_on_host(host, operand(loop, end), &copied);
    Value *step = value_on_host(host, operand(loop, step), &copied);
    return build_cast(host, DTYPE_i32, trips_of(host, begin, end, step));
}

/* Three at most; more count as one. */
static Op *new_grid(Split *split)
{
    Value *grid[3];
    for (int i = 0; i < 3; i++) grid[i] = build_const(&split->host, DTYPE_i32, 1);
    for (size_t i = 0; i < split->kept.count; i++) {
        const Coordinate *one = &split->kept.data[i];
        grid[i] = one->loop ? host_trips(split, one->loop) : one->extent;
    }
    Op *launch = build_op(&split->host, OP_launch, 3, grid, 0, NULL);
    op_keep_attr(launch, split->launch, ATTR_warps);
    op_keep_attr(launch, split->launch, ATTR_agree);
    return launch;
}

/* The program's number for a block's index: of a loop its variable. */
static void place_kept(Split *split, const Coordinate *one, int dim)
{
    Builder *builder = &split->builder;
    Value *index = build_of_grid(builder, OP_block_idx, dim);
    Value *value = build_cast(builder, one->value->type->dtype, index);
    if (one->loop) {
        Value *step = in_launch(split, operand(one->loop, step));
        Value *begin = in_launch(split, operand(one->loop, begin));
        value = build2(builder, OP_add, begin, build2(builder, OP_mul, value, step));
    }
    map_set(split->grad->arena, &split->values, one->value, value);
}

static bool uses_inner(const Split *split, const Op *op)
{
    for (int i = 0; i < op->operand_count; i++)
        if (map_has(&split->inner, op->operands[i])) return true;
    for (int r = 0; r < op->region_count; r++)
        for (const Op *at = op->regions[r]->first; at; at = op_next(at))
            if (uses_inner(split, at)) return true;
    return false;
}

static bool is_around(const Op *op, const Op *inner)
{
    for (int i = 0; i < op->region_count; i++)
        if (region_holds(op->regions[i], inner->parent)) return true;
    return false;
}

/* Ops of the launch and of the loops around the sum, in order: those that depend on what is
 * dropped, or the others. */
static void copy_ops(Split *split, const Region *region, bool inner)
{
    for (const Op *op = region->first; op; op = op_next(op)) {
        const bool is_last =
            op == split->sum || op == split->dot || op == operand(split->sum, value)->op;
        if (is_around(op, split->sum)) {
            copy_ops(split, op->regions[0], inner);
            continue;
        }
        if (is_last || op_has(op, TERM) ||
            (op->result_count && map_has(&split->values, op->results)))
            continue;
        const bool depends = uses_inner(split, op);
        for (int i = 0; depends && i < op->result_count; i++)
            map_set(split->grad->arena, &split->inner, &op->results[i], split);
        if (depends == inner) op_clone(&split->builder, op, &split->values);
    }
}

/* Zero in the sum's type, and the loops along what is dropped, which carry it. */
static Value *sum_along(Split *split, size_t dim, Value *sum)
{
    Builder *builder = &split->builder;
    if (dim == split->dropped.count) {
        copy_ops(split, launch_region(split->launch), true);
        Value *a = map_get(&split->values, operand(split->dot, a));
        Value *b = map_get(&split->values, operand(split->dot, b));
        Value *product = build3(builder, OP_dot, a, b, sum);
        op_keep_attr(product->op, split->dot, ATTR_tf32);
        return product;
    }
    const Coordinate *one = &split->dropped.data[dim];
    Value *operands[4] = {0};
    for (int i = 0; one->loop && i < 3; i++) operands[i] = in_launch(split, one->loop->operands[i]);
    if (!one->loop) {
        operands[0] = build_const(builder, DTYPE_i32, 0);
        operands[1] = in_launch(split, one->extent);
        operands[2] = build_const(builder, DTYPE_i32, 1);
    }
    operands[3] = sum;
    Op *loop = loop_build(builder, 4, operands);
    const Builder outside = *builder;
    *builder = builder_at_end(loop->regions[0], outside.span);
    map_set(split->grad->arena, &split->values, one->value,
            build_cast(builder, one->value->type->dtype, loop->regions[0]->arguments[0]));
    Value *after = sum_along(split, dim + 1, loop->regions[0]->arguments[1]);
    build_op(builder, OP_yield, 1, &after, 0, NULL);
    *builder = outside;
    return loop->results;
}

static void add_sum(Split *split, Value *sum)
{
    Grad *grad = split->grad;
    Value *value = operand(split->sum, value);
    Value *cast = build_cast(&split->builder, value->type->dtype, sum);
    map_set(grad->arena, &split->values, value, cast);
    Op *op = op_clone(&split->builder, split->sum, &split->values);
    map_set(grad->arena, &grad->effects, op, op);
}

/* Whether all numbers that the new launch needs can be computed there. */
static bool build_split(Split *split)
{
    Grad *grad = split->grad;
    split->host = builder_before(split->launch);
    split->host.span = split->sum->span;
    Op *launch = new_grid(split);
    split->builder = builder_at_end(launch_region(launch), split->sum->span);
    for (size_t i = 0; i < split->kept.count; i++) place_kept(split, &split->kept.data[i], (int)i);
    for (size_t i = 0; i < split->dropped.count; i++) {
        const Coordinate *one = &split->dropped.data[i];
        map_set(grad->arena, &split->inner, one->value, split);
        if (!one->loop && !in_launch(split, one->extent)) {
            op_erase(launch);
            return false;
        }
    }
    copy_ops(split, launch_region(split->launch), false);
    grad->builder = split->builder;
    Value *zero = number_of(grad, split->dot->results->type, 0);
    split->builder = grad->builder;
    add_sum(split, sum_along(split, 0, zero));
    vec_push(grad->arena, &grad->products, launch);
    return true;
}

/* ---- whether ---- */

/* What stands in the way of a launch apart: memory of the block's, records of states, what is asked
 * of the grid, and what the rest of the launch makes of the memory that is read, or added to. */
typedef struct Obstacles {
    Grad *grad;
    const Op *sum; /* of the launch */
    Map read;      /* pointers */
    bool found;
} Obstacles;

static void find_obstacle(Op *op, void *context)
{
    Obstacles *obstacles = context;
    obstacles->found |= op->code == OP_shared_alloc || op->code == OP_local_alloc ||
                        op->code == OP_grid_dim || op->code == OP_thread_id ||
                        records_workspace(obstacles->grad, op);
    if (view_of(op) && op_has(op, READS) && !op_has(op, ATOMIC))
        map_set(obstacles->grad->arena, &obstacles->read, view_pointer(op), op);
}

static void find_writer(Op *op, void *context)
{
    Obstacles *obstacles = context;
    if (!map_has(&obstacles->grad->effects, op) || !view_of(op)) return;
    const bool is_same = view_pointer(op) == view_pointer(obstacles->sum) && op->code != OP_atomic;
    const bool is_read = map_has(&obstacles->read, view_pointer(op));
    obstacles->found |= is_same || (is_read && !map_has(&obstacles->grad->clears, op));
}

static bool is_in_the_way(Grad *grad, Op *launch, const Op *sum, Op *copy)
{
    Obstacles obstacles = {.grad = grad, .sum = sum};
    region_visit(launch_region(copy), find_obstacle, &obstacles);
    region_visit(launch_region(launch), find_writer, &obstacles);
    return obstacles.found;
}

static bool divide(Split *split, const Coordinates *all)
{
    Arena *arena = split->grad->arena;
    bool drops_blocks = false;
    for (size_t i = 0; i < all->count; i++) {
        const Coordinate *one = &all->data[i];
        const bool is_kept = address_needs(split->sum, one->value);
        drops_blocks |= !is_kept && !one->loop;
        if (is_kept)
            vec_push(arena, &split->kept, *one);
        else
            vec_push(arena, &split->dropped, *one);
    }
    return drops_blocks && split->kept.count && split->kept.count <= 3;
}

/* Of several casts the last one says it all. */
static void cast_once(Op *sum, const Op *dot)
{
    Builder builder = builder_before(sum);
    const int place = operand_index(sum, value);
    op_set_operand(sum, place,
                   build_cast(&builder, sum->operands[place]->type->dtype, dot->results));
}

static bool can_split(Split *split)
{
    Coordinates all = {0};
    split->dot = added_product(split->sum);
    if (split->dot) cast_once(split->sum, split->dot);
    return split->dot && find_coordinates(split->grad, split->launch, split->sum, &all) &&
           divide(split, &all);
}

/* A copy of the launch that does nothing but add there. */
static void copy_launch(Split *split, Op *launch, Op *sum)
{
    Grad *grad = split->grad;
    const Map effects = grad->effects;
    Map map = {0};
    Builder builder = builder_before(launch);
    split->launch = op_clone(&builder, launch, &map);
    split->sum = ((Value *)map_get(&map, sum->results))->op;
    grad->effects = (Map){0};
    map_set(grad->arena, &grad->effects, split->sum, split->sum);
    drop_unneeded(grad, launch_region(split->launch));
    grad->effects = effects;
    pass_simplify(grad->kernel, &(PassContext){.kernel = grad->kernel, .arena = grad->arena});
}

static bool split_sum(Grad *grad, Op *launch, Op *sum)
{
    Split split = {.grad = grad};
    if (!added_product(sum)) return false;
    copy_launch(&split, launch, sum);
    const bool fine =
        !is_in_the_way(grad, launch, sum, split.launch) && can_split(&split) && build_split(&split);
    op_erase(split.launch);
    if (fine) map_remove(&grad->effects, sum);
    return fine;
}

/* ---- factors ---- */

/* Adjoints are longer than the program's numbers, but factors are not: what was made longer and is
 * short again is as it was. */
static void take_as_it_was(Op *dot, void *context)
{
    (void)context;
    const int factors[] = {operand_index(dot, a), operand_index(dot, b)};
    for (int i = 0; i < 2; i++) {
        Value *factor = dot->operands[factors[i]], *wide = without_cast(factor);
        Value *before = without_cast(wide);
        const DType dtype = wide->type->dtype;
        if (before->type == factor->type && dtype_is_float(dtype) &&
            dtype_bits(dtype) > dtype_bits(factor->type->dtype))
            op_set_operand(dot, factors[i], before);
    }
}

/* ---- all launches ---- */

static void split_launch(Grad *grad, Op *launch)
{
    bool split = false;
    const OpVec effects = effects_of(grad, launch);
    for (size_t i = 0; i < effects.count; i++)
        if (effects.data[i]->code == OP_atomic) split |= split_sum(grad, launch, effects.data[i]);
    if (!split) return;
    if (effects_of(grad, launch).count)
        drop_unneeded(grad, launch_region(launch));
    else
        op_erase(launch);
}

/* Of launches that stand there now: what the change makes of one stands before the next. */
static void change_launches(Grad *grad, void (*change)(Grad *, Op *launch))
{
    for (Op *op = grad->kernel->host->first, *next; op; op = next) {
        next = op_next(op);
        if (op->code == OP_launch) change(grad, op);
    }
}

void arrange_sums(Grad *grad)
{
    Kernel *kernel = grad->kernel;
    PassContext context = {.kernel = kernel, .arena = kernel->arena};
    pass_simplify(kernel, &context);
    region_visit_those(kernel->host, OP_dot, take_as_it_was, NULL);
    change_launches(grad, split_launch);
    pass_simplify(kernel, &context);
    change_launches(grad, settle_sums);
    pass_simplify(kernel, &context);
    for (size_t i = 0; i < grad->products.count; i++) retile(grad, grad->products.data[i]);
    pass_simplify(kernel, &context);
    change_launches(grad, gather_block_sums);
    pass_simplify(kernel, &context);
    change_launches(grad, order_loads);
}
