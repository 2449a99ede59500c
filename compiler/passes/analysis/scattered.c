/* scattered.c: accesses of elements at indices of their own taken apart, and how wide they can be:
 * along the tile's last dimension indices may count up in memory, whatever they do along others, as
 * those of rows that are looked up. */
#include "passes/analysis/access.h"

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

/* ---- how wide ---- */

/* A tile along its last dimension: the coordinate `step` times, 0 or 1, and what does not change,
 * which is a multiple of `multiple`. */
typedef struct Run {
    int step;
    int64_t multiple;
} Run;

typedef struct Follow {
    FactTable *facts;
    int values; /* that may yet be looked at: expressions share parts */
} Follow;

static bool run_of(Follow *follow, const Value *value, int depth, Run *out);

/* Of an op that works on one element at a time. */
static bool run_of_elements(Follow *follow, const Op *op, int depth, Run *out)
{
    Run a = {0}, b;
    for (int i = 0; i < op->operand_count; i++) {
        if (op->operands[i]->type->kind != TYPE_TILE) continue;
        if (!run_of(follow, op->operands[i], depth, &b)) return false;
        const bool sums = op->code == OP_add || (op->code == OP_sub && (i == 0 || !b.step));
        if (b.step && !sums && op->code != OP_cast) return false;
        a = i == 0 ? b : (Run){a.step + b.step, divisor_common(a.multiple, b.multiple)};
    }
    *out = a;
    if (op->code == OP_add || op->code == OP_sub || op->code == OP_cast) return a.step <= 1;
    out->multiple = facts_of(follow->facts, &op->results[0]).multiple;
    return true;
}

static bool run_of(Follow *follow, const Value *value, int depth, Run *out)
{
    const Op *op = value->op;
    const int last = value->type->rank - 1;
    if (!op || depth == 0 || --follow->values < 0) return false;
    if (op->code == OP_iota) {
        const bool steps = op_int(op, ATTR_dim, 0) == last;
        *out = (Run){steps, steps ? 0 : 1};
        return true;
    }
    *out = (Run){0, facts_of(follow->facts, value).multiple};
    if (op->code == OP_splat) return true;
    if (op->code == OP_convert) return run_of(follow, operand(op, a), depth - 1, out);
    if (op->code == OP_broadcast)
        return operand(op, a)->type->shape[last] == 1 ||
               run_of(follow, operand(op, a), depth - 1, out);
    const OpInfo *info = op_info(op->code);
    if (!(info->traits & ELEM) && op->code != OP_gather) return false;
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
static int contiguous_dim(const Value *view)
{
    const int rank = view->type->rank;
    for (int d = rank - 1; d >= 0; d--) {
        int64_t stride;
        if (value_constant(operand_list(view->op, extents)[rank + d], &stride) && stride == 1)
            return d;
    }
    return -1;
}

static bool is_aligned(FactTable *facts, const Op *op, int contiguous, int64_t vector)
{
    const Value *view = operand(op, memory);
    const int rank = view->type->rank;
    const int64_t size = facts_address_unit(view->type->dtype, vector);
    if (facts_of(facts, operand(view->op, pointer)).multiple % size != 0) return false;
    for (int d = 0; d < rank; d++) {
        const Value *index = op->operands[scattered_first(op) + d];
        Run run = {0, 1};
        if (type_is_tile(index->type) && !run_along(facts, index, &run)) return false;
        if (!type_is_tile(index->type)) run.multiple = facts_of(facts, index).multiple;
        if (run.step != (d == contiguous)) return false;
        const Value *stride = operand_list(view->op, extents)[rank + d];
        const int64_t multiple = d == contiguous ? run.multiple : facts_of(facts, stride).multiple;
        if (multiple % vector != 0) return false;
    }
    return facts_of(facts, operand_list(view->op, extents)[contiguous]).multiple % vector == 0;
}

int scattered_vector(FactTable *facts, Op *op, int limit)
{
    const Value *memory = operand(op, memory), *mask = scattered_mask(op);
    const Type *tile = scattered_value(op)->type;
    const int contiguous = memory->type->kind == TYPE_VIEW ? contiguous_dim(memory) : -1;
    Run run = {0};
    if (op->code == OP_atomic || contiguous < 0 || tile->rank == 0) return 1;
    if (mask && (!run_along(facts, mask, &run) || run.step)) return 1;
    int vector = ACCESS_BYTES * 8 / dtype_memory_bits(tile->dtype);
    while (vector > 1 && (vector > limit || tile->shape[tile->rank - 1] % vector != 0 ||
                          !is_aligned(facts, op, contiguous, vector)))
        vector /= 2;
    return vector;
}
