/* scattered.c: accesses of elements at indices of their own taken apart, and how wide they can be:
 * along the tile's last dimension indices may count up in memory, whatever they do along others, as
 * those of rows that are looked up. */
#include "passes/analysis/access.h"

#include <string.h>

enum { DEPTH = 24, MOST_VALUES = 4096 }; /* of index expressions that are followed */

bool op_is_scattered(const Op *op)
{
    return op_has(op, SCATTERED);
}

Value *scattered_value(Op *op)
{
    return op->code == OP_gather ? &op->results[0] : operand(op, value);
}

Value *scattered_mask(const Op *op)
{
    return op_int(op, ATTR_masked, 0) ? op->operands[op->operand_count - 1] : NULL;
}

int scattered_first(const Op *op)
{
    return op->operand_count - operand(op, memory)->type->rank - (scattered_mask(op) != NULL);
}

/* ---- gathered to shared memory ---- */

Op *gather_choice(const Op *gather)
{
    Op *choice = gather->results[0].use_count == 1 ? gather->results[0].uses->op : NULL;
    return choice && choice->code == OP_select &&
                   operand(choice, condition) == scattered_mask(gather) &&
                   operand(choice, a) == gather->results && value_is_zero(operand(choice, b)) &&
                   choice->results[0].use_count == 1 &&
                   choice->results[0].uses->op->code == OP_shared_store
               ? choice
               : NULL;
}

Op *gather_stored(const Op *store)
{
    Op *op = operand(store, value)->op;
    if (op && op->code == OP_select) {
        Op *gather = operand(op, a)->op;
        op = gather && gather->code == OP_gather && gather_choice(gather) == op ? gather : NULL;
    }
    return op && op->code == OP_gather && op->results[0].use_count == 1 &&
                   operand(op, memory)->type->kind == TYPE_VIEW
               ? op
               : NULL;
}

/* ---- how wide ---- */

/* A tile along its last dimension: the coordinate `step` times, 0 or more, and what does not
 * change, which is a multiple of `multiple`. That is so within vectors, at multiples of their
 * length, that divide `whole`: quotients change from one to the next, and answers to comparisons.
 * 0: in all. */
typedef struct Run {
    int64_t step;
    int64_t multiple, whole;
} Run;

typedef struct Follow {
    FactTable *facts;
    int values; /* that may yet be looked at: expressions share parts */
} Follow;

static bool run_of(Follow *follow, const Value *value, int depth, Run *out);

/* The number that all elements are; 0: there is none, or it is not above 0. */
static int64_t same_number(Follow *follow, const Value *value)
{
    const Facts facts = facts_of(follow->facts, value);
    return facts.low == facts.high && facts.low > 0 ? facts.low : 0;
}

/* Of a quotient or a remainder: no multiple of the divisor lies inside of a vector that divides it
 * and begins at a multiple of its length. */
static bool run_of_quotient(Follow *follow, const Op *op, int depth, Run *out)
{
    Run a;
    const int64_t divisor = same_number(follow, operand(op, b));
    const bool floors = op->code == OP_floordiv || op->code == OP_floormod ||
                        facts_of(follow->facts, operand(op, a)).low >= 0;
    if (!divisor || !floors || !run_of(follow, operand(op, a), depth, &a) || a.step > 1)
        return false;
    *out = a;
    if (!a.step) {
        out->multiple = facts_of(follow->facts, &op->results[0]).multiple;
        return true;
    }
    const int64_t whole = divisor_common(a.multiple, divisor);
    out->step = op_has(op, REMAINDER);
    out->multiple = out->step ? whole : 1;
    out->whole = divisor_common(a.whole, whole);
    return true;
}

/* Of a comparison that asks on which side of a number elements are: no vector that divides it has
 * some on either side. */
static bool run_of_side(Follow *follow, const Op *op, int depth, Run *out)
{
    Run a, b;
    const char *predicate = op_attr(op, ATTR_predicate)->text;
    if (!run_of(follow, operand(op, a), depth, &a) || !run_of(follow, operand(op, b), depth, &b) ||
        a.step == b.step || a.step + b.step > 1)
        return false;
    const bool from_below = strcmp(predicate, "lt") == 0 || strcmp(predicate, "ge") == 0,
               from_above = strcmp(predicate, "gt") == 0 || strcmp(predicate, "le") == 0;
    const int64_t whole = divisor_common(a.multiple, b.multiple);
    *out = (Run){0, 1, divisor_common(divisor_common(a.whole, b.whole), whole)};
    return a.step ? from_below : from_above;
}

/* Of a product with a number. */
static bool run_of_product(Follow *follow, const Op *op, int depth, Run *out)
{
    enum { MOST_APART = 1 << 20 };
    Run a, b;
    if (!run_of(follow, operand(op, a), depth, &a) || !run_of(follow, operand(op, b), depth, &b))
        return false;
    const int64_t factor = same_number(follow, a.step ? operand(op, b) : operand(op, a));
    if (!(a.step || b.step) || !factor || factor > MOST_APART || a.step + b.step > MOST_APART)
        return false;
    *out = (Run){(a.step + b.step) * factor, facts_of(follow->facts, &op->results[0]).multiple,
                 divisor_common(a.whole, b.whole)};
    return true;
}

/* Of an op that works on one element at a time. */
static bool run_of_elements(Follow *follow, const Op *op, int depth, Run *out)
{
    Run a = {0}, b;
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i]->type->kind != TYPE_TILE) continue;
        if (!run_of(follow, op->operands[i], depth, &b)) return false;
        const bool sums = op->code == OP_add || (op->code == OP_sub && (i == 0 || !b.step));
        if (b.step && !sums && op->code != OP_cast) return false;
        a = i == 0 ? b
                   : (Run){a.step + b.step, divisor_common(a.multiple, b.multiple),
                           divisor_common(a.whole, b.whole)};
    }
    *out = a;
    if (op->code == OP_add || op->code == OP_sub || op->code == OP_cast) return true;
    out->multiple = facts_of(follow->facts, &op->results[0]).multiple;
    return true;
}

/* Rows of one shape lie in rows of the other: they are parts of those, or have several of them. */
static bool run_of_reshaped(Follow *follow, const Op *op, int depth, Run *out)
{
    const Type *from = operand(op, a)->type, *to = op->results[0].type;
    const int64_t row = to->shape[to->rank - 1], given = from->shape[from->rank - 1];
    if ((row % given != 0 && given % row != 0) || !run_of(follow, operand(op, a), depth, out))
        return false;
    if (given > row && out->step) out->multiple = divisor_common(out->multiple, row);
    if (given < row) out->whole = divisor_common(out->whole, given);
    return true;
}

static bool run_of(Follow *follow, const Value *value, int depth, Run *out)
{
    const Op *op = value->op;
    const int last = value->type->rank - 1;
    if (!op || depth == 0 || --follow->values < 0) return false;
    if (op->code == OP_iota) {
        const bool steps = op_int(op, ATTR_dim, 0) == last;
        *out = (Run){steps, steps ? 0 : 1, 0};
        return true;
    }
    *out = (Run){0, facts_of(follow->facts, value).multiple, 0};
    if (op->code == OP_splat) return true;
    if (op->code == OP_convert) return run_of(follow, operand(op, a), depth - 1, out);
    if (op->code == OP_broadcast)
        return operand(op, a)->type->shape[last] == 1 ||
               run_of(follow, operand(op, a), depth - 1, out);
    if (op->code == OP_reshape) return run_of_reshaped(follow, op, depth - 1, out);
    const OpInfo *info = op_info(op->code);
    if (!(info->traits & ELEM) && op->code != OP_gather) return false;
    if (op_has(op, QUOTIENT | REMAINDER) && run_of_quotient(follow, op, depth - 1, out))
        return true;
    if (op->code == OP_cmp && run_of_side(follow, op, depth - 1, out)) return true;
    if (op->code == OP_mul && run_of_product(follow, op, depth - 1, out)) return true;
    if (op->code != OP_gather) return run_of_elements(follow, op, depth - 1, out);
    return run_of_elements(follow, op, depth - 1, out) && out->step == 0;
}

/* Of an index or a mask. */
static bool run_along(FactTable *facts, const Value *value, Run *out)
{
    Follow follow = {facts, MOST_VALUES};
    return run_of(&follow, value, DEPTH, out);
}

/* The dimension of the memory that is contiguous; -1: none is. */
static int contiguous_dim(const Value *memory)
{
    const int rank = memory->type->rank;
    if (memory->type->kind != TYPE_VIEW) return memory->op->code == OP_shared_alloc ? rank - 1 : -1;
    for (int d = rank - 1; d >= 0; d--)
        if (value_is_constant(operand_list(memory->op, extents)[rank + d], 1)) return d;
    return -1;
}

/* Elements from each multiple of so many on lie side by side, at a multiple of their bytes. */
static bool view_is_aligned(FactTable *facts, const Value *view, int contiguous, int64_t vector)
{
    const int rank = view->type->rank;
    Value *const *extents = operand_list(view->op, extents);
    const int64_t size = facts_address_unit(view->type->dtype, vector);
    if (facts_of(facts, operand(view->op, pointer)).multiple % size != 0) return false;
    for (int d = 0; d < rank; d++)
        if (d != contiguous && facts_of(facts, extents[rank + d]).multiple % vector != 0)
            return false;
    return facts_of(facts, extents[contiguous]).multiple % vector == 0;
}

static bool memory_is_aligned(FactTable *facts, const Value *memory, int contiguous, int64_t vector)
{
    return memory->type->kind == TYPE_VIEW
               ? view_is_aligned(facts, memory, contiguous, vector)
               : layout_aligned_run(memory->type->layout, contiguous) % vector == 0;
}

static bool is_aligned(FactTable *facts, const Op *op, int contiguous, int64_t vector)
{
    const Value *memory = operand(op, memory);
    for (int d = 0; d < memory->type->rank; d++) {
        const Value *index = op->operands[scattered_first(op) + d];
        Run run = {0, 1, 0};
        if (type_is_tile(index->type) && !run_along(facts, index, &run)) return false;
        if (!type_is_tile(index->type)) run.multiple = facts_of(facts, index).multiple;
        if (run.step != (d == contiguous) || run.whole % vector != 0) return false;
        if (d == contiguous && run.multiple % vector != 0) return false;
    }
    return memory_is_aligned(facts, memory, contiguous, vector);
}

int atomic_sums(const Target *target, const Op *op)
{
    const DType dtype = operand(op, value)->type->dtype;
    const bool is_wide = target_has(target, HAS_VECTOR_RED);
    const char *order = op_attr(op, ATTR_order)->text;
    const bool sums = strcmp(op_attr(op, ATTR_mode)->text, "add") == 0 &&
                      op->results[0].use_count == 0 && operand(op, memory)->type->kind == TYPE_VIEW;
    if (!sums || (strcmp(order, "relaxed") != 0 && strcmp(order, "release") != 0)) return 0;
    if (dtype == DTYPE_f16) return is_wide ? ACCESS_BYTES / 2 : 2;
    if (dtype == DTYPE_bf16) return is_wide ? ACCESS_BYTES / 2 : 0;
    if (dtype == DTYPE_f32) return is_wide ? ACCESS_BYTES / 4 : 1;
    return 0;
}

int64_t scattered_step(FactTable *facts, const Op *op)
{
    const Value *memory = operand(op, memory);
    const int contiguous = contiguous_dim(memory);
    int64_t step = 0;
    for (int d = 0; d < memory->type->rank; d++) {
        const Value *index = op->operands[scattered_first(op) + d];
        Run run = {0};
        if (type_is_tile(index->type) && !run_along(facts, index, &run)) return 0;
        if (run.step && d != contiguous) return 0;
        step += run.step;
    }
    return step;
}

int scattered_vector(FactTable *facts, const Target *target, Op *op, int limit)
{
    const Value *memory = operand(op, memory), *mask = scattered_mask(op);
    const Type *tile = scattered_value(op)->type;
    const int contiguous = contiguous_dim(memory);
    Run run = {0};
    if (contiguous < 0 || tile->rank == 0) return 1;
    if (op->code == OP_atomic && atomic_sums(target, op) < limit) limit = atomic_sums(target, op);
    if (mask && (!run_along(facts, mask, &run) || run.step)) return 1;
    while (limit > 1 && run.whole % limit != 0) limit /= 2;
    int vector = ACCESS_BYTES * 8 / dtype_memory_bits(tile->dtype);
    while (vector > 1 && (vector > limit || tile->shape[tile->rank - 1] % vector != 0 ||
                          !is_aligned(facts, op, contiguous, vector)))
        vector /= 2;
    return vector;
}
