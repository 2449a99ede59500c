/* element_copy.c: elements that a thread copies to shared memory by itself, and waits for: what is
 * stored there of a load that nobody else needs becomes a cp.async of 4, 8 or 16 bytes. Where a
 * condition chooses between what was loaded and zero, it says what cp.async fills with zeros.
 *
 * So does a gathered tile that is stored as a whole: all of its rows are on their way at a time,
 * and take no registers. */
#include "passes/lower/lower.h"

typedef struct ElementCopy {
    Value *condition; /* without which elements are zero; NULL: there is none */
    Op *load;         /* of all of them */
} ElementCopy;

static bool is_choice(const Value *value)
{
    return value->op && value->op->code == OP_select && value_is_zero(operand(value->op, b));
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

static void build_copy(Lower *lower, const ElementCopy *copy, Value *pointer, Value *active,
                       int count, Value *const *values)
{
    const DType dtype = values[0]->type->dtype;
    Value *inside = address_and(lower, operand_given(copy->load, predicate), copy->condition);
    if (!inside) inside = address_const(lower, DTYPE_b1, 1);
    Value *operands[4] = {memory_address(lower, dtype, pointer), operand(copy->load, pointer),
                          inside, active};
    Op *op = build_op(&lower->at, OP_cp_async, active ? 4 : 3, operands, 0, NULL);
    op_set_int(op, ATTR_bytes, dtype_memory_bytes(dtype, count));
    drop_loaded(count, values, copy->load);
}

bool lower_element_copy(Lower *lower, const Neighbours *all, Value *pointer, Value *const *values)
{
    ElementCopy copy = {0};
    if (!may_be_copy(all) || !find_copy(lower, all->count, values, &copy)) return false;
    build_copy(lower, &copy, pointer, NULL, all->count, values);
    return true;
}

bool lower_loaded_copy(Lower *lower, Value *pointer, Value *active, int count, Value *const *values)
{
    ElementCopy copy = {0};
    if (!find_copy(lower, count, values, &copy)) return false;
    build_copy(lower, &copy, pointer, active, count, values);
    return true;
}

/* ---- gathered tiles ---- */

static bool has_copies(const Op *loop)
{
    return region_has(loop->regions[0], OP_copy_async) ||
           region_has(loop->regions[0], OP_copy_wait) ||
           region_has(loop->regions[0], OP_copy_commit);
}

static bool is_right_before(const Op *load, const Op *store)
{
    const Op *op = load->parent == store->parent ? load->next : NULL;
    while (op && op != store && op_has(op, PURE) && !op_has(op, COOP)) op = op->next;
    return op == store;
}

bool is_copied_at_once(const Lower *lower, const Op *store)
{
    Op *load = operand(store, value)->op;
    const Op *loop = op_enclosing(store, OP_for);
    const Type *tile = operand(store, tile)->type;
    if (!target_has(lower->target, HAS_CP_ASYNC) || !load || load->code != OP_gather || !loop ||
        operand(load, memory)->type->kind != TYPE_VIEW || load->results[0].use_count != 1 ||
        memory_dtype(tile->dtype) != tile->dtype || !is_right_before(load, store) ||
        has_copies(loop))
        return false;
    const Layout *layout = load->results[0].type->layout;
    const int vector = scattered_vector(lower->facts, lower->target, load,
                                        layout_register_run(layout, layout->rank - 1));
    return dtype_memory_bytes(tile->dtype, vector) == ACCESS_BYTES;
}
