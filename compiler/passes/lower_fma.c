/* lower_fma.c: dot by multiplying and adding, k after k, of operands in registers or read in shared
 * memory as they are needed. */
#include "passes/lower.h"

typedef struct Operand {
    RegisterIndex index;
    Value **registers;    /* NULL: to be read, */
    SharedReader *reader; /* or of another type, to be cast, once each */
    Value **cast;
} Operand;

/* Whether k or the other dimension lies side by side in a thread: what makes the longer reads. */
static const Layout *slices_layout(const Lower *lower, const Type *tile, const Layout *c, int outer)
{
    LayoutTable *table = lower->kernel->layouts;
    const int32_t k = (int32_t)tile->shape[1 - outer];
    const int limit = ACCESS_BYTES * 8 / dtype_memory_bits(tile->dtype);
    const Layout *plain = layout_fma_operand(table, c, k, outer, outer == 0),
                 *other = layout_fma_operand(table, c, k, outer, outer != 0);
    return layout_shared_vector(other, tile->layout, limit) >
                   layout_shared_vector(plain, tile->layout, limit)
               ? other
               : plain;
}

static Operand operand_of(Lower *lower, const Op *dot, int number)
{
    const Value *value = dot->operands[number];
    const bool is_shared = value->type->kind == TYPE_SHARED;
    const Layout *layout =
        is_shared ? slices_layout(lower, value->type, dot->results[0].type->layout, number)
                  : value->type->layout;
    Operand operand = {.index = register_index(lower, layout)};
    if (is_shared)
        operand.reader = shared_reader(lower, value, layout);
    else
        operand.registers = lower_tile(lower, value);
    operand.cast = arena_new_array(lower->arena, Value *, layout_registers(layout));
    return operand;
}

static Value *operand_at(Lower *lower, Operand *operand, int32_t row, int32_t column, DType dtype)
{
    const int reg = register_of(&operand->index, row, column);
    if (!operand->cast[reg])
        operand->cast[reg] =
            build_cast(&lower->at, dtype,
                       operand->reader ? shared_reader_at(lower, operand->reader, reg)
                                       : operand->registers[reg]);
    return operand->cast[reg];
}

static Value *multiply_add(Lower *lower, Value *a, Value *b, Value *sum)
{
    const Type *type = sum->type;
    if (dtype_is_float(type->dtype))
        return lower_build(lower, OP_fma, 3, (Value *[]){a, b, sum}, type);
    Value *product = lower_build(lower, OP_mul, 2, (Value *[]){a, b}, type);
    return lower_build(lower, OP_add, 2, (Value *[]){sum, product}, type);
}

void lower_dot_fma(Lower *lower, Op *op)
{
    Value **c = lower_tile(lower, op->operands[2]),
          **results = lower_new_tile(lower, &op->results[0]);
    const Layout *layout = op->results[0].type->layout;
    const DType dtype = op->results[0].type->dtype;
    const int count = layout_registers(layout);
    const int32_t depth = (int32_t)op->operands[0]->type->shape[1];
    Operand a = operand_of(lower, op, 0), b = operand_of(lower, op, 1);
    CHECK(op->operands[2]->type->layout == layout);
    for (int reg = 0; reg < count; reg++) results[reg] = c[reg];
    for (int32_t k = 0; k < depth; k++)
        for (int reg = 0; reg < count; reg++) {
            int32_t at[LAYOUT_RANK];
            layout_coordinates(layout, reg, 0, 0, at);
            results[reg] = multiply_add(lower, operand_at(lower, &a, at[0], k, dtype),
                                        operand_at(lower, &b, k, at[1], dtype), results[reg]);
        }
}
