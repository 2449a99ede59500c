/* widen_operands.c: products of floats that f16 holds exactly, where the matrix unit multiplies f16
 * alone.
 *
 * Targets before fp8's matrix instructions have none for its types, nor has any for fp4 or operands
 * of two types. As f16 the operands are the same numbers, and their products are added up in f32 as
 * those of f16 are; each thread widens the elements that the instruction wants of it. */
#include "passes/layout/matrix.h"
#include "ir/rebuild.h"

static bool is_of_f16(DType dtype)
{
    return dtype_is_float(dtype) && dtype_exponent_bits(dtype) <= dtype_exponent_bits(DTYPE_f16) &&
           dtype_digits(dtype) <= dtype_digits(DTYPE_f16);
}

static bool is_narrow(const Op *dot)
{
    const DType left = operand(dot, a)->type->dtype, right = operand(dot, b)->type->dtype;
    return is_of_f16(left) && is_of_f16(right) && (left != DTYPE_f16 || right != DTYPE_f16);
}

static void widen(Op *dot, void *context)
{
    const Target *target = context;
    if (dot->code != OP_dot || !is_narrow(dot) || matrix_kind(dot, target)) return;
    Builder at = builder_before(dot);
    Value *const given[3] = {operand(dot, a), operand(dot, b), operand(dot, c)};
    Value *operands[3] = {build_cast(&at, DTYPE_f16, given[0]),
                          build_cast(&at, DTYPE_f16, given[1]), given[2]};
    Op *wide = build_op(&at, OP_dot, 3, operands, 1, &dot->results[0].type);
    op_keep_attrs(wide, dot);
    const bool is_better = dot_has_instruction(wide, target);
    if (is_better) value_replace(dot->results, wide->results);
    op_erase(is_better ? dot : wide);
    for (int i = 0; i < 2 && !is_better; i++)
        if (operands[i] != given[i]) op_erase(operands[i]->op);
}

bool pass_widen_operands(Kernel *kernel, PassContext *context)
{
    kernel_visit_those(kernel, OP_dot, widen, (void *)context->target);
    return true;
}
