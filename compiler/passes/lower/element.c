/* element.c: single elements of views, shared tiles and local arrays by one thread. */
#include "passes/lower/lower.h"

typedef struct Element {
    Op *op;
    Value *pointer, *predicate;
} Element;

static Value *index_of(const Lower *lower, const Element *element, int dim)
{
    return lower_scalar(lower, operand_list(element->op, indices)[dim]);
}

static bool is_within(Lower *lower, const Element *element, int dim, Facts extent)
{
    const Facts index = facts_of(lower->facts, operand_list(element->op, indices)[dim]);
    return index.low >= 0 && index.high < extent.low;
}

static bool is_assumed(Lower *lower, const Element *element, int dim, const Value *extent)
{
    const Value *index = operand_list(element->op, indices)[dim];
    int64_t gap;
    return facts_of(lower->facts, index).low >= 0 && facts_gap(lower->facts, index, extent, &gap) &&
           gap >= 1;
}

/* ---- views ---- */

static bool is_narrow(const Value *value)
{
    return dtype_bits(value->type->dtype) <= 32 && value->type->dtype != DTYPE_u32;
}

/* One comparison without sign finds what is below 0, too. */
static void require_inside(Lower *lower, Element *element, int dim, Value *old_extent)
{
    if (is_within(lower, element, dim, facts_of(lower->facts, old_extent)) ||
        is_assumed(lower, element, dim, old_extent))
        return;
    Value *index = index_of(lower, element, dim), *extent = lower_scalar(lower, old_extent);
    const bool narrow = is_narrow(index) && is_narrow(extent);
    const DType with_sign = narrow ? DTYPE_i32 : DTYPE_i64,
                without = narrow ? DTYPE_u32 : DTYPE_u64;
    index = address_cast(lower, without, address_cast(lower, with_sign, index));
    extent = address_cast(lower, with_sign, extent);
    if (facts_of(lower->facts, old_extent).low < 0) /* then nothing is inside */
        extent = address_op(lower, OP_max, extent, address_const(lower, with_sign, 0));
    extent = address_cast(lower, without, extent);
    element->predicate =
        address_and(lower, element->predicate, address_cmp(lower, "lt", index, extent));
}

static void find_in_view(Lower *lower, Element *element)
{
    const Op *view = operand(element->op, memory)->op;
    const int rank = operand(element->op, memory)->type->rank;
    CHECK(view && view->code == OP_view);
    element->pointer = lower_scalar(lower, operand(view, pointer));
    for (int d = 0; d < rank; d++) {
        require_inside(lower, element, d, operand_list(view, extents)[d]);
        Value *index = address_cast(lower, DTYPE_i64, index_of(lower, element, d));
        Value *stride = lower_scalar(lower, operand_list(view, extents)[rank + d]);
        Value *step = address_op(lower, OP_mul, index, address_cast(lower, DTYPE_i64, stride));
        element->pointer = address_op(lower, OP_ptr_add, element->pointer, step);
    }
}

/* ---- shared tiles and local arrays ---- */

Value *lower_check_index(Lower *lower, Value *index, const Value *memory, int dim)
{
    Value *operands[2] = {address_cast(lower, DTYPE_i64, index),
                          address_const(lower, DTYPE_i64, memory->type->shape[dim])};
    const Type *type = type_scalar(lower->kernel->types, DTYPE_i64);
    Value *checked = lower_build(lower, OP_check_index, 2, operands, type);
    const Name name = dimension_name(memory, dim);
    if (name) op_set_text(checked->op, ATTR_text, name);
    return address_cast(lower, DTYPE_i32, checked);
}

/* An i32 below the extent; the emulator says where it is not. */
static Value *checked_index(Lower *lower, const Element *element, int dim)
{
    const int64_t extent = operand(element->op, memory)->type->shape[dim];
    Value *index = index_of(lower, element, dim);
    const bool within = is_within(lower, element, dim, (Facts){extent, extent, extent});
    return within ? address_cast(lower, DTYPE_i32, index)
                  : lower_check_index(lower, index, operand(element->op, memory), dim);
}

static void find_in_shared(Lower *lower, Element *element)
{
    const Value *tile = operand(element->op, memory);
    Value *at[LAYOUT_RANK];
    for (int d = 0; d < tile->type->rank; d++) at[d] = checked_index(lower, element, d);
    element->pointer = shared_element(lower, tile, at);
}

static void find_in_local(Lower *lower, Element *element)
{
    const Type *type = operand(element->op, memory)->type;
    Value *offset = address_const(lower, DTYPE_i32, 0);
    for (int d = 0; d < type->rank; d++) {
        offset = address_op(lower, OP_mul, offset, address_const(lower, DTYPE_i32, type->shape[d]));
        offset = address_op(lower, OP_add, offset, checked_index(lower, element, d));
    }
    element->pointer =
        address_op(lower, OP_ptr_add, lower_scalar(lower, operand(element->op, memory)), offset);
}

/* ---- the ops ---- */

static Element element_of(Lower *lower, Op *op)
{
    Element element = {.op = op};
    const TypeKind kind = operand(op, memory)->type->kind;
    if (op_int(op, ATTR_once, 0) && lower->group.count > 1)
        element.predicate = address_in_group(lower, (ThreadGroup){lower->group.begin, 1});
    if (kind == TYPE_VIEW)
        find_in_view(lower, &element);
    else if (kind == TYPE_SHARED)
        find_in_shared(lower, &element);
    else
        find_in_local(lower, &element);
    return element;
}

void lower_thread_id(Lower *lower, Op *op)
{
    map_set(lower->arena, &lower->scalars, &op->results[0], address_thread_id(lower));
}

void lower_local_alloc(Lower *lower, Op *op)
{
    const Type *array = op->results[0].type;
    const DType dtype = memory_dtype(array->dtype);
    const Type *type = type_pointer(lower->kernel->types, dtype, SPACE_LOCAL);
    Value *base = lower_build(lower, OP_local_base, 0, NULL, type);
    op_set_int(base->op, ATTR_bytes, dtype_memory_bytes(dtype, type_elements(array)));
    map_set(lower->arena, &lower->scalars, &op->results[0], base);
}

static Value *first_pointer(Lower *lower, const Element *element, int before)
{
    return before ? address_add_number(lower, element->pointer, -before) : element->pointer;
}

void lower_element_load(Lower *lower, Op *op)
{
    Value *read[NEIGHBOURS];
    if (map_has(&lower->scalars, &op->results[0])) return; /* with one before it */
    const Neighbours all = neighbours_of(lower, op);
    const Element element = element_of(lower, op);
    memory_read(lower, first_pointer(lower, &element, all.before), element.predicate,
                op->results[0].type->dtype, all.count, read);
    for (int i = 0; i < all.count; i++)
        map_set(lower->arena, &lower->scalars, &all.ops[i]->results[0], read[i]);
}

/* Writes or adds those of one vector, of which `op` is the last. */
static void store_all(Lower *lower, Op *op, const Neighbours *all)
{
    Value *values[NEIGHBOURS];
    int before = 0;
    while (all->ops[before] != op) before++;
    const Element element = element_of(lower, op);
    for (int i = 0; i < all->count; i++)
        values[i] = lower_scalar(lower, operand(all->ops[i], value));
    Value *pointer = first_pointer(lower, &element, before);
    if (op->code == OP_element_atomic)
        lower_red(lower, op, pointer, element.predicate, all->count, values);
    else if (element.predicate || !lower_element_copy(lower, all, pointer, values))
        memory_write(lower, pointer, element.predicate, values[0]->type->dtype, all->count, values);
}

void lower_element_store(Lower *lower, Op *op)
{
    Neighbours *all = map_get(&lower->joined, op);
    if (!all) {
        all = arena_new_of(lower->arena, Neighbours);
        *all = neighbours_of(lower, op);
        for (int i = 0; i < all->count; i++)
            map_set(lower->arena, &lower->joined, all->ops[i], all);
    }
    if (++all->met == all->count) store_all(lower, op, all);
}

void lower_element_atomic(Lower *lower, Op *op)
{
    if (atomic_sums(lower->target, op)) {
        lower_element_store(lower, op);
        return;
    }
    const Element element = element_of(lower, op);
    Value *operands[4] = {element.pointer, lower_scalar(lower, operand(op, value)),
                          lower_scalar(lower, operand(op, compare)), element.predicate};
    map_set(lower->arena, &lower->scalars, &op->results[0], lower_atom(lower, op, operands));
}
