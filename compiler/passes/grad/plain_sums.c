/* plain_sums.c: what no two blocks add to is added to without atomics. */
#include "passes/grad/coordinates.h"

/* ---- effects ---- */

static bool is_effect(const Op *op, const void *context)
{
    const Grad *grad = context;
    return map_has(&grad->effects, op) && view_of(op);
}

OpVec effects_of(Grad *grad, Op *launch)
{
    return region_list(grad->arena, launch_region(launch), is_effect, grad);
}

Value *without_cast(Value *value)
{
    return value->op && value->op->code == OP_cast ? operand(value->op, a) : value;
}

/* ---- which ---- */

static bool same_elements(const Op *a, const Op *b)
{
    const int first = operand_index(a, more);
    return operand(a, memory) == operand(b, memory) && op_same_operands(a, first, b, first) &&
           a->parent == b->parent;
}

/* Pointers with memory to which more is done than sums of the same elements, by the same block. */
static Map find_mixed(Arena *arena, const OpVec *effects)
{
    Map mixed = {0}, sums = {0};
    for (size_t i = 0; i < effects->count; i++) {
        Op *effect = effects->data[i];
        const Value *pointer = view_pointer(effect);
        const Op *first = map_get(&sums, pointer);
        if (effect->code != OP_atomic || (first && !same_elements(first, effect)))
            map_set(arena, &mixed, pointer, effect);
        else if (!first)
            map_set(arena, &sums, pointer, effect);
    }
    return mixed;
}

/* The tile's offsets, which indices of elements are made of; and which dimensions it spans. */
static bool offsets_of(const Op *sum, Value **offsets, int64_t *dims)
{
    const int rank = operand(sum, memory)->type->rank;
    int found = 0;
    for (int d = 0; d < rank; d++) {
        Value *index = operand_list(sum, more)[d];
        offsets[d] = index;
        if (!type_is_tile(index->type)) continue;
        if (!index->op || index->op->code != OP_add) return false;
        for (int i = 0; i < 2; i++) {
            Value *side = index->op->operands[i];
            Value *inner = without_cast(side);
            if (side->op && side->op->code == OP_splat) offsets[d] = operand(side->op, a);
            if (!inner->op || inner->op->code != OP_iota) continue;
            dims[op_int(inner->op, ATTR_dim, 0)] = d;
            found++;
        }
    }
    for (int d = 0; d < rank; d++)
        if (type_is_tile(offsets[d]->type)) return false;
    return found == operand(sum, value)->type->rank;
}

/* ---- sums that begin with what is there ---- */

static bool carries_sum(const Op *loop, int number);

/* The value goes on as that result alone, and more is added to it. */
static bool goes_on(const Value *value, const Value *result)
{
    const Op *op = result->op;
    if (value->use_count != 1 || !op) return false;
    if (op->code == OP_for)
        return operand_list(op, init)[result->index] == value && carries_sum(op, result->index);
    return op->code == OP_dot && operand(op, c) == value;
}

/* Nothing is made of what the loop carries there but a sum with products. */
static bool carries_sum(const Op *loop, int number)
{
    return goes_on(loop->regions[0]->arguments[1 + number],
                   loop->regions[0]->last->operands[number]);
}

static bool stands_before(const Value *value, const Op *op)
{
    return !value->op || (value->op->parent == op->parent && op_comes_before(value->op, op));
}

/* The loop that makes a sum from zero on, if it can begin with what is at the place. */
static Op *loop_of(const Grad *grad, const Op *sum, const Value *value, int count,
                   Value *const *operands)
{
    Op *loop = value->op;
    bool is_product = false;
    for (size_t i = 0; i < grad->products.count; i++)
        is_product |= region_holds(launch_region(grad->products.data[i]), sum->parent);
    if (!is_product || !loop || loop->code != OP_for || loop->parent != sum->parent ||
        value->use_count != 1 || !value_is_zero(operand_list(loop, init)[value->index]) ||
        !carries_sum(loop, value->index))
        return NULL;
    for (int i = 0; i < count; i++)
        if (!stands_before(operands[i], loop)) return NULL;
    return loop;
}

/* The value with what is there: at its beginning, or at its end. */
static Value *with_memory(Grad *grad, const Op *sum, Value *value, int count,
                          Value *const *operands, const int64_t *dims)
{
    const Type *type = operand(sum, value)->type;
    Op *loop = loop_of(grad, sum, value, count, operands);
    Builder builder = builder_before(loop ? loop : (Op *)(uintptr_t)sum);
    Op *load = build_op(&builder, OP_load, count, operands, 1, &type);
    op_set_ints(load, ATTR_dims, type->rank, dims);
    Value *before = build_cast(&builder, value->type->dtype, load->results);
    if (!loop) return build2(&builder, OP_add, before, value);
    op_set_operand(loop, operand_index(loop, init) + value->index, before);
    return value;
}

/* As it was before it was cast, if that is no shorter than adjoints are. */
static Value *widest(Builder *builder, Value *value)
{
    const DType wide = adjoint_dtype(value->type->dtype);
    Value *before = without_cast(value);
    const DType dtype = before->type->dtype;
    return dtype_is_float(dtype) && dtype_bits(dtype) >= dtype_bits(wide)
               ? before
               : build_cast(builder, wide, value);
}

static void add_plainly(Grad *grad, Op *sum)
{
    Value *operands[2 + TYPE_RANK] = {operand(sum, memory)}, *value = operand(sum, value);
    int64_t dims[TYPE_RANK] = {0};
    const int rank = operands[0]->type->rank;
    if (!offsets_of(sum, operands + 1, dims)) return;
    Builder builder = builder_before(sum);
    Value *all = with_memory(grad, sum, widest(&builder, value), 1 + rank, operands, dims);
    for (int d = rank; d > 0; d--) operands[1 + d] = operands[d];
    operands[1] = build_cast(&builder, value->type->dtype, all);
    Op *store = build_op(&builder, OP_store, 2 + rank, operands, 0, NULL);
    op_set_ints(store, ATTR_dims, value->type->rank, dims);
    op_set_int(store, ATTR_added, 1);
    map_set(grad->arena, &grad->effects, store, store);
    op_erase(sum);
}

void settle_sums(Grad *grad, Op *launch)
{
    OpVec apart = {0};
    const OpVec effects = effects_of(grad, launch);
    const Map mixed = find_mixed(grad->arena, &effects);
    for (size_t i = 0; i < effects.count; i++) {
        Op *sum = effects.data[i];
        const Value *pointer = view_pointer(sum);
        Coordinates all = {0};
        if (sum->code == OP_atomic && !pointer->op && !map_has(&mixed, pointer) &&
            find_coordinates(grad, launch, sum, &all) && adds_apart(sum, &all))
            vec_push(grad->arena, &apart, sum);
    }
    for (size_t i = 0; i < apart.count; i++) add_plainly(grad, apart.data[i]);
}
