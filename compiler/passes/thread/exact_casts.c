/* exact_casts.c: whole numbers of a known range become floats by way of what holds each of them.
 *
 * An i32 that becomes a bf16 is rounded once. f32 has fewer bits than an i32, so that by way of it
 * some would be rounded twice; of what lies within 2^24 of zero none is, as with weights of a few
 * bits, a byte's or an index of a tile. GPUs have the two conversions as instructions that take as
 * long as a multiplication, and two numbers are rounded to bf16 by one. i64s that fit become i32s
 * first, whose conversion takes a quarter of the time. */
#include "passes/analysis/context.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

/* The whole numbers that f32 holds, all of them. */
static const int64_t MOST_OF_F32 = INT64_C(1) << 24;

static bool is_within(Facts facts, int64_t low, int64_t high)
{
    return facts.low >= low && facts.high <= high;
}

/* Whether its conversion from 32 bits is not one by way of f32 anyway: f16 and the 8-bit floats end
 * before f32 rounds. */
static bool has_more_range(DType to)
{
    return to == DTYPE_bf16 || to == DTYPE_tf32 || to == DTYPE_f8e8m0;
}

static void visit(Op *op, void *context)
{
    Value *number = operand(op, a);
    const DType from = number->type->dtype, to = op->results[0].type->dtype;
    if (!type_is_scalar(number->type) || !dtype_is_integer(from) || from == DTYPE_u64 ||
        dtype_bits(from) < 32 || !dtype_is_float(to))
        return;
    const Facts facts = facts_of(context, number);
    Builder at = builder_before(op);
    at.span = op->span;
    Value *exact = number;
    if (dtype_bits(from) == 64 && is_within(facts, INT32_MIN, INT32_MAX))
        exact = build_cast(&at, DTYPE_i32, exact);
    if (has_more_range(to) && is_within(facts, -MOST_OF_F32, MOST_OF_F32))
        exact = build_cast(&at, DTYPE_f32, exact);
    if (exact == number) return;
    value_replace(op->results, build_cast(&at, to, exact));
    op_erase(op);
}

bool pass_exact_casts(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_cast, visit, analysis_ranges(context));
    return true;
}
