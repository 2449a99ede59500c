/* element_copy.c: elements that a thread copies to shared memory by itself, and waits for: what is
 * stored there of a load that nobody else needs becomes a cp.async of 4, 8 or 16 bytes. Where a
 * condition chooses between what was loaded and zero, it says what cp.async fills with zeros. */
#include "passes/lower/lower.h"

typedef struct ElementCopy {
    Value *condition; /* without which elements are zero; NULL: there is none */
    Op *load;         /* of all of them */
} ElementCopy;

static bool is_zero(const Value *value)
{
    int64_t number;
    if (value_constant(value, &number)) return number == 0;
    const Attr *real =
        value->op && value->op->code == OP_const ? op_attr(value->op, ATTR_number) : NULL;
    return real && real->number == 0;
}

static bool is_choice(const Value *value)
{
    return value->op && value->op->code == OP_select && is_zero(operand(value->op, b));
}

/* Of the typed program: loaded for the store alone. */
static bool is_only_stored(const Value *value)
{
    if (is_choice(value) && value->use_count == 1) value = operand(value->op, a);
    return value->op && value->op->code == OP_element_load && value->use_count == 1 &&
           operand(value->op, memory)->type->kind == TYPE_VIEW;
}

static bool may_be_copy(const Neighbours *all)
{
    const Type *tile = operand(all->ops[0], memory)->type;
    const int64_t bytes = dtype_memory_bytes(tile->dtype, all->count);
    bool may = tile->kind == TYPE_SHARED && bytes >= CP_ASYNC_LEAST &&
               memory_dtype(tile->dtype) == tile->dtype;
    for (int i = 0; i < all->count; i++)
        may = may && op_int(all->ops[i], ATTR_async, 0) &&
              is_only_stored(operand(all->ops[i], value));
    return may;
}

/* All of one vector that was loaded, in its order, under one condition. */
static bool find_copy(Lower *lower, int count, Value *const *values, ElementCopy *copy)
{
    Value **loaded = arena_new_array(lower->arena, Value *, count);
    const bool chosen = is_choice(values[0]);
    if (chosen) copy->condition = operand(values[0]->op, condition);
    for (int i = 0; i < count; i++) {
        if (is_choice(values[i]) != chosen ||
            (chosen && operand(values[i]->op, condition) != copy->condition))
            return false;
        loaded[i] = chosen ? operand(values[i]->op, a) : values[i];
    }
    const Value *whole = count == 1 ? loaded[0] : memory_whole(count, loaded);
    copy->load = whole && whole->op && whole->op->code == OP_ld ? whole->op : NULL;
    return copy->load != NULL;
}

static void drop(Value *value)
{
    if (value->use_count == 0) op_erase(value->op);
}

/* What was loaded into registers is not. */
static void drop_loaded(int count, Value *const *values, Op *load)
{
    for (int i = 0; i < count; i++) {
        Value *loaded = is_choice(values[i]) ? operand(values[i]->op, a) : values[i];
        if (loaded != values[i]) drop(values[i]);
        if (loaded->op != load) drop(loaded);
    }
    drop(&load->results[0]);
}

bool lower_element_copy(Lower *lower, const Neighbours *all, Value *pointer, Value *const *values)
{
    ElementCopy copy = {0};
    if (!may_be_copy(all) || !find_copy(lower, all->count, values, &copy)) return false;
    const DType dtype = values[0]->type->dtype;
    Value *inside = address_and(lower, operand_given(copy.load, predicate), copy.condition);
    if (!inside) inside = address_const(lower, DTYPE_b1, 1);
    Value *operands[3] = {memory_address(lower, dtype, pointer), operand(copy.load, pointer),
                          inside};
    Op *op = build_op(&lower->at, OP_cp_async, 3, operands, 0, NULL);
    op_set_int(op, ATTR_bytes, dtype_memory_bytes(dtype, all->count));
    drop_loaded(all->count, values, copy.load);
    return true;
}
