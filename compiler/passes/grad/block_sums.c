/* block_sums.c: sums to which the blocks of a launch add at the same place: gradients of biases, of
 * gains, of numbers.
 *
 *     launch (n) { ... atomic [j] += x }    becomes    launch (pieces) {
 *                                                        for i = block; i < n; i += pieces
 *                                                          carry sum { ... sum + x }
 *                                                        atomic [j] += sum }
 *
 * with as many pieces as fill the machine: so each adds once, and what it adds stays in registers.
 */
#include "passes/grad/coordinates.h"
#include "ir/rebuild.h"
#include "target/cost.h"

enum { PIECES = 2 }; /* the dimension of the grid that counts them */

typedef struct Gathering {
    Grad *grad;
    Op *launch; /* of the program's blocks */
    Coordinates kept, dropped;
    VEC(Op *) sums;
    Map outer, inner; /* values of that launch -> of the new one, in front of its loop and in it */
    Builder host, builder;
} Gathering;

/* ---- which sums ---- */

static bool is_sum(const Gathering *gathering, const Op *op)
{
    const bool is_element = op->code == OP_element_atomic;
    if (!map_has(&gathering->grad->effects, op) || !view_of(op) || op->results->use_count)
        return false;
    return op->code == OP_atomic || (is_element && op_int(op, ATTR_once, 0));
}

/* Operands that say where it adds. */
static bool is_where(const Op *op, int index)
{
    const int first = op->code == OP_atomic ? operand_index(op, more) : operand_index(op, indices);
    return index == operand_index(op, memory) || index >= first;
}

static ValueAnswer is_made_once(const Value *value, void *context)
{
    (void)context;
    const Op *op = value->op;
    return op && (!op_has(op, PURE) || op->region_count) ? VALUE_FOUND : VALUE_OPERANDS;
}

/* Whether it can be told in front of the loop. */
static bool is_steady(const Value *value, const Coordinates *dropped)
{
    for (size_t i = 0; i < dropped->count; i++)
        if (value_needs(value, dropped->data[i].value)) return false;
    return !value_finds(value, is_made_once, NULL);
}

static bool adds_at_one_element(const Op *sum, const Coordinates *dropped)
{
    for (int i = 0; i < sum->operand_count; i++)
        if (is_where(sum, i) && !is_steady(sum->operands[i], dropped)) return false;
    return true;
}

static bool place_needs(const Op *sum, const Value *coordinate)
{
    for (int i = 0; i < sum->operand_count; i++)
        if (is_where(sum, i) && value_needs(sum->operands[i], coordinate)) return true;
    return false;
}

/* Along which coordinates all blocks add at the same place. */
static bool divide(Gathering *gathering, const Op *sum)
{
    Arena *arena = gathering->grad->arena;
    Coordinates all = {0};
    gathering->kept.count = gathering->dropped.count = 0;
    if (!find_coordinates(gathering->grad, gathering->launch, sum, &all)) return false;
    for (size_t i = 0; i < all.count; i++) {
        if (place_needs(sum, all.data[i].value))
            vec_push(arena, &gathering->kept, all.data[i]);
        else
            vec_push(arena, &gathering->dropped, all.data[i]);
    }
    return gathering->dropped.count && gathering->kept.count <= PIECES &&
           adds_at_one_element(sum, &gathering->dropped);
}

static Value *wide_value(const Op *sum)
{
    Value *value = operand(sum, value);
    const Op *op = value->op;
    const bool is_cast = op && op->code == OP_cast && dtype_is_float(operand(op, a)->type->dtype);
    return is_cast && operand(op, a)->type->dtype == adjoint_dtype(value->type->dtype)
               ? operand(op, a)
               : value;
}

static int64_t bits_of(const Op *sum)
{
    const Type *type = wide_value(sum)->type;
    return (type_is_tile(type) ? type_elements(type) : 1) * dtype_bits(type->dtype);
}

/* Of a thread, if each has as many as the others. */
static int64_t registers_of(const Grad *grad, const Op *sum)
{
    const int64_t bits = grad->threads * dtype_bits(DTYPE_f32);
    return (bits_of(sum) + bits - 1) / bits;
}

/* The longest one says along which coordinates. */
static bool choose_coordinates(Gathering *gathering)
{
    const Op *longest = NULL;
    int64_t most = 0;
    for (const Op *op = launch_region(gathering->launch)->first; op; op = op->next) {
        if (!is_sum(gathering, op) || !divide(gathering, op) || bits_of(op) <= most ||
            registers_of(gathering->grad, op) > COST_BLOCK_SUMS)
            continue;
        longest = op;
        most = bits_of(op);
    }
    return longest && divide(gathering, longest);
}

static void find_sums(Gathering *gathering)
{
    int64_t registers = 0;
    if (!choose_coordinates(gathering)) return;
    for (Op *op = launch_region(gathering->launch)->first; op; op = op->next) {
        if (!is_sum(gathering, op) || !adds_at_one_element(op, &gathering->dropped)) continue;
        const int64_t more = registers_of(gathering->grad, op);
        if (registers + more > COST_BLOCK_SUMS) continue;
        registers += more;
        vec_push(gathering->grad->arena, &gathering->sums, op);
    }
}

/* ---- the new launch ---- */

static Value *product_of(Builder *builder, const Coordinates *coordinates)
{
    Value *product = build_const(builder, DTYPE_i32, 1);
    for (size_t i = 0; i < coordinates->count; i++)
        product = build2(builder, OP_mul, product,
                         build_cast(builder, DTYPE_i32, coordinates->data[i].extent));
    return product;
}

/* Blocks for each place of the sums. */
static Value *count_pieces(Gathering *gathering, Value *total)
{
    Builder *host = &gathering->host;
    const Grad *grad = gathering->grad;
    const int64_t each = COST_SUM_THREADS / grad->threads;
    Value *one = build_const(host, DTYPE_i32, 1);
    Value *blocks = build_const(host, DTYPE_i32, grad->target->sm_count * (each > 1 ? each : 1));
    Value *elements = build2(host, OP_max, product_of(host, &gathering->kept), one);
    Value *pieces = build2(host, OP_max, build2(host, OP_floordiv, blocks, elements), one);
    return build2(host, OP_min, pieces, total);
}

static Op *new_launch(Gathering *gathering, Value *pieces)
{
    Builder *host = &gathering->host;
    Value *grid[3] = {build_const(host, DTYPE_i32, 1), build_const(host, DTYPE_i32, 1), pieces};
    for (size_t i = 0; i < gathering->kept.count; i++) grid[i] = gathering->kept.data[i].extent;
    Op *launch = build_op(host, OP_launch, 3, grid, 0, NULL);
    op_keep_attr(launch, gathering->launch, ATTR_warps);
    op_keep_attr(launch, gathering->launch, ATTR_agree);
    return launch;
}

static void set_value(Gathering *gathering, Map *values, const Coordinate *one, Value *value)
{
    map_set(gathering->grad->arena, values, one->value,
            build_cast(&gathering->builder, one->value->type->dtype, value));
}

static void place_kept(Gathering *gathering)
{
    for (size_t i = 0; i < gathering->kept.count; i++) {
        Value *index = build_of_grid(&gathering->builder, OP_block_idx, (int)i);
        set_value(gathering, &gathering->outer, &gathering->kept.data[i], index);
        set_value(gathering, &gathering->inner, &gathering->kept.data[i], index);
    }
}

/* Which of the program's blocks it is, by its number among those that add at the place. */
static bool place_dropped(Gathering *gathering, Value *number)
{
    Builder *builder = &gathering->builder;
    for (size_t i = 0; i < gathering->dropped.count; i++) {
        const Coordinate *one = &gathering->dropped.data[i];
        Value *extent = value_in_launch(builder, one->extent, &gathering->inner);
        if (!extent) return false;
        extent = build_cast(builder, DTYPE_i32, extent);
        const bool is_last = i + 1 == gathering->dropped.count;
        set_value(gathering, &gathering->inner, one,
                  is_last ? number : build2(builder, OP_rem, number, extent));
        number = build2(builder, OP_div, number, extent);
    }
    return true;
}

static bool is_gathered(const Gathering *gathering, const Op *op)
{
    for (size_t i = 0; i < gathering->sums.count; i++)
        if (gathering->sums.data[i] == op) return true;
    return false;
}

static void copy_body(Gathering *gathering)
{
    for (const Op *op = launch_region(gathering->launch)->first; op; op = op->next)
        if (!is_gathered(gathering, op) &&
            !(op->result_count && map_has(&gathering->inner, op->results)))
            op_clone(&gathering->builder, op, &gathering->inner);
}

/* The loop over the program's blocks, which carries zeros. */
static Op *begin_loop(Gathering *gathering, Value *total)
{
    Grad *grad = gathering->grad;
    Builder *builder = &gathering->builder;
    ValueVec operands = {0};
    vec_push(grad->arena, &operands, build_of_grid(builder, OP_block_idx, PIECES));
    vec_push(grad->arena, &operands, total);
    vec_push(grad->arena, &operands, build_of_grid(builder, OP_grid_dim, PIECES));
    grad->builder = *builder;
    for (size_t i = 0; i < gathering->sums.count; i++)
        vec_push(grad->arena, &operands,
                 number_of(grad, wide_value(gathering->sums.data[i])->type, 0));
    return loop_build(builder, (int)operands.count, operands.data);
}

static void end_loop(Gathering *gathering, Op *loop)
{
    Grad *grad = gathering->grad;
    ValueVec ends = {0};
    grad->builder = gathering->builder;
    for (size_t i = 0; i < gathering->sums.count; i++) {
        Value *more = map_get(&gathering->inner, wide_value(gathering->sums.data[i]));
        vec_push(grad->arena, &ends, value_sum(grad, loop->regions[0]->arguments[1 + i], more));
    }
    build_op(&grad->builder, OP_yield, (int)ends.count, ends.data, 0, NULL);
}

/* NULL: the device can't know which blocks there are. */
static Op *build_loop(Gathering *gathering, Value *total)
{
    Builder *builder = &gathering->builder;
    total = value_in_launch(builder, total, &gathering->outer);
    if (!total) return NULL;
    Op *loop = begin_loop(gathering, total);
    const Builder outside = *builder;
    *builder = builder_at_end(loop->regions[0], outside.span);
    if (!place_dropped(gathering, loop->regions[0]->arguments[0])) return NULL;
    copy_body(gathering);
    end_loop(gathering, loop);
    *builder = outside;
    return loop;
}

static void add_sum(Gathering *gathering, const Op *sum, Value *all)
{
    Grad *grad = gathering->grad;
    Value *value = operand(sum, value);
    map_set(grad->arena, &gathering->outer, value,
            build_cast(&gathering->builder, value->type->dtype, all));
    for (int i = 0; i < sum->operand_count; i++)
        if (is_where(sum, i))
            map_set(grad->arena, &gathering->outer, sum->operands[i],
                    value_in_launch(&gathering->builder, sum->operands[i], &gathering->outer));
    op_clone(&gathering->builder, sum, &gathering->outer);
}

static bool gather(Gathering *gathering)
{
    gathering->host = builder_before(gathering->launch);
    Value *total = product_of(&gathering->host, &gathering->dropped);
    Op *launch = new_launch(gathering, count_pieces(gathering, total));
    gathering->builder = builder_at_end(launch_region(launch), gathering->launch->span);
    place_kept(gathering);
    Op *loop = build_loop(gathering, total);
    if (!loop) {
        op_erase(launch);
        return false;
    }
    for (size_t i = 0; i < gathering->sums.count; i++)
        add_sum(gathering, gathering->sums.data[i], &loop->results[i]);
    return true;
}

/* What asks how many blocks there are means the program's. */
static bool is_bound(const Op *launch)
{
    return region_has(launch->regions[0], OP_grid_dim) ||
           region_has(launch->regions[0], OP_cluster_rank);
}

void gather_block_sums(Grad *grad, Op *launch)
{
    Gathering gathering = {.grad = grad, .launch = launch};
    grad->threads = launch_threads(launch).count;
    if (is_bound(launch)) return;
    find_sums(&gathering);
    if (gathering.sums.count && gather(&gathering)) op_erase(launch);
}
