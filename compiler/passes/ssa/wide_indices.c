/* wide_indices.c: indices of i32 into dimensions that may be longer than i32 counts.
 *
 *     x[b * 512 + i]  with b, i: i32  is  x[i64(b) * 512 + i64(i)]
 *
 * An author's arithmetic is of i32, as a block's index is, and signed numbers do not overflow: what
 * would be one of an element behind 2^31 - 1 is meant. */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

#define DEPTH 16

typedef struct Widening {
    FactTable *facts;
    Builder at;
    Map made; /* value -> its i64, which serves what follows in the same region */
} Widening;

static bool may_be_long(const Widening *widening, const Value *extent)
{
    const DType dtype = value_uncast(extent)->type->dtype;
    return dtype_bits(dtype) > 31 && dtype != DTYPE_i32 &&
           facts_of(widening->facts, extent).high > INT32_MAX;
}

static Value *widened(Widening *widening, Value *value, int depth);

static Value *build_wide(Widening *widening, Value *value, int depth)
{
    Builder *at = &widening->at;
    const Op *op = value->op;
    int64_t number;
    if (value->type->kind == TYPE_SCALAR && value_constant(value, &number))
        return build_const(at, DTYPE_i64, number);
    if (value->type->dtype != DTYPE_i32 || op == NULL || depth == DEPTH)
        return build_cast(at, DTYPE_i64, value);
    if (op->code == OP_splat) {
        Value *scalar = widened(widening, operand(op, a), depth + 1);
        const Type *type = type_with_dtype(at->kernel->types, value->type, DTYPE_i64);
        return build_op(at, OP_splat, 1, &scalar, 1, &type)->results;
    }
    if (op->code != OP_add && op->code != OP_sub && op->code != OP_mul)
        return build_cast(at, DTYPE_i64, value);
    Value *a = widened(widening, operand(op, a), depth + 1);
    Value *b = widened(widening, operand(op, b), depth + 1);
    return build2(at, op->code, a, b);
}

static Value *widened(Widening *widening, Value *value, int depth)
{
    const Builder *at = &widening->at;
    Value *made = map_get(&widening->made, value);
    if (made && made->op && made->op->parent == at->region) return made;
    made = build_wide(widening, value, depth);
    if (depth < DEPTH) map_set(at->kernel->arena, &widening->made, value, made);
    return made;
}

/* Whether a cast of the whole would be of a number that had no room. */
static bool is_computed(const Value *value)
{
    const Op *op = value->op;
    while (op && op->code == OP_splat) op = operand(op, a)->op;
    return value->type->dtype == DTYPE_i32 && op &&
           (op->code == OP_add || op->code == OP_sub || op->code == OP_mul);
}

static void widen_indices(Op *op, void *context)
{
    Widening *widening = context;
    const Value *memory = op_memory(op);
    if (memory == NULL || memory->op == NULL || memory->op->code != OP_view) return;
    int first = -1;
    if (op_row_names(op->code, OPERAND_offsets)) first = operand_index(op, offsets);
    if (op_row_names(op->code, OPERAND_indices)) first = operand_index(op, indices);
    for (int d = 0; first >= 0 && d < memory->type->rank; d++) {
        Value *index = op->operands[first + d];
        if (!is_computed(index) || !may_be_long(widening, operand_list(memory->op, extents)[d]))
            continue;
        widening->at = builder_before(op);
        op_set_operand(op, first + d, widened(widening, index, 0));
    }
}

bool pass_wide_indices(Kernel *kernel, PassContext *context)
{
    Widening widening = {.facts = analysis_ranges(context)};
    for (Op *op = kernel->host->first; op; op = op_next(op))
        if (op->code == OP_launch) region_visit(op->regions[0], widen_indices, &widening);
    analysis_invalidate(context);
    return true;
}
