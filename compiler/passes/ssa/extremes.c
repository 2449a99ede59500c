/* extremes.c: the lesser and the greater of two integers, and whether one is less than the other,
 * where their ranges, or that of their difference, say so.
 *
 *     min(start + 128, length)         is start + 128, of blocks that all fit
 *     min(start + 64, start + 128)     is start + 64, wherever the block starts
 *     start + k < start + 128          is true, of k below 128
 *
 * Of floats that were widened for it, and whose result is narrowed again, which is one of them, the
 * extremes are those of the narrow numbers:
 *
 *     f16(max(f32(x), mask ? f32(y) : -inf))     is max(x, mask ? y : -inf)
 *
 * How often a loop runs follows from such an end of a block's share: a number lets it be unrolled.
 * What is done in any case can be done ahead. */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

/* NULL: it is either one. */
static Value *decided(FactTable *facts, const Op *op)
{
    Value *a = operand(op, a), *b = operand(op, b);
    const Facts first = facts_of(facts, a), second = facts_of(facts, b);
    const bool is_min = op->code == OP_min;
    int64_t low, high;
    if (first.high <= second.low) return is_min ? a : b;
    if (second.high <= first.low) return is_min ? b : a;
    if (!facts_difference(facts, a, b, &low, &high) || (low < 0 && high > 0)) return NULL;
    return (high <= 0) == is_min ? a : b;
}

static bool has_ranges(const Type *type)
{
    return type_is_scalar(type) && dtype_is_integer(type->dtype) && type->dtype != DTYPE_u64;
}

static void visit(Op *op, void *context)
{
    Value *value = has_ranges(op->results[0].type) ? decided(context, op) : NULL;
    if (value) value_replace(op->results, value);
}

/* By the range of a - b. 1: a < b, or a <= b if `equal`; 0: it is not; -1: that is not known. */
static int is_less(int64_t low, int64_t high, bool equal)
{
    if (equal ? high <= 0 : high < 0) return 1;
    return (equal ? low > 0 : low >= 0) ? 0 : -1;
}

static int decided_comparison(FactTable *facts, const Op *op)
{
    Order order;
    int64_t low, high;
    return order_of(op, &order) && facts_difference(facts, order.less, order.more, &low, &high)
               ? is_less(low, high, order.equal)
               : -1;
}

static void visit_comparison(Op *op, void *context)
{
    const int decided = has_ranges(operand(op, a)->type) ? decided_comparison(context, op) : -1;
    if (decided < 0) return;
    Builder builder = builder_before(op);
    value_replace(op->results, build_const(&builder, DTYPE_b1, decided));
}

/* ---- of widened floats ---- */

enum { DEEPEST = 4 /* choices one in the other */ };

static Value *narrowed(Builder *builder, Value *value, const Type *type, int depth);

static Value *narrowed_constant(Builder *builder, const Op *op, DType dtype)
{
    const double number = op_attr(op, ATTR_number)->number;
    return dtype_decode(dtype, dtype_encode(dtype, number)) == number
               ? build_number(builder, dtype, number)
               : NULL;
}

static Value *narrowed_choice(Builder *builder, const Op *op, const Type *type, int depth)
{
    const int first = op->code == OP_select;
    Value *operands[3] = {first ? operand(op, condition) : NULL};
    for (int i = first; i < op->operand_count; i++)
        if (!(operands[i] = narrowed(builder, op->operands[i], type, depth - 1))) return NULL;
    Op *made = build_op(builder, op->code, op->operand_count, operands, 1, &type);
    op_keep_attrs(made, op);
    return made->results;
}

/* What was widened, or chosen of that alone; NULL: it is something else. */
static Value *narrowed(Builder *builder, Value *value, const Type *type, int depth)
{
    const Op *op = value->op;
    if (!op || depth == 0) return NULL;
    if (op->code == OP_cast) return operand(op, a)->type == type ? operand(op, a) : NULL;
    if (op->code == OP_const) return narrowed_constant(builder, op, type->dtype);
    if (op->code == OP_splat) {
        const Type *scalar = type_scalar(builder->kernel->types, type->dtype);
        Value *number = narrowed(builder, operand(op, a), scalar, depth - 1);
        return number ? build_op(builder, OP_splat, 1, &number, 1, &type)->results : NULL;
    }
    const bool chooses = op->code == OP_select || op->code == OP_min || op->code == OP_max;
    return chooses && value->use_count == 1 ? narrowed_choice(builder, op, type, depth) : NULL;
}

static void visit_cast(Op *op, void *context)
{
    (void)context;
    const Type *type = op->results[0].type, *from = operand(op, a)->type;
    const Op *source = operand(op, a)->op;
    if (!dtype_is_float(type->dtype) || from->dtype != DTYPE_f32 || dtype_bits(type->dtype) != 16 ||
        !source || (source->code != OP_min && source->code != OP_max && source->code != OP_select))
        return;
    Builder builder = builder_before(op);
    Value *value = narrowed(&builder, operand(op, a), type, DEEPEST);
    if (value) value_replace(op->results, value);
}

bool pass_extremes(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_min, visit, analysis_ranges(context));
    kernel_visit_those(kernel, OP_max, visit, analysis_ranges(context));
    kernel_visit_those(kernel, OP_cmp, visit_comparison, analysis_ranges(context));
    kernel_visit_those(kernel, OP_cast, visit_cast, NULL);
    return true;
}
