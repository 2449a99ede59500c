/* dot.c: dot by the matrix unit.
 *
 * Which register holds which element of a fragment is looked up by coordinates: thread 0's are
 * those of the fragment's corner, and the other threads' differ by the same amount in all operands.
 */
#include "ir/mma.h"
#include "passes/lower/lower.h"

typedef struct Dot {
    Op *op;
    MmaShape shape;
    Value **a, **b, **c, **results;
    RegisterIndex a_index, b_index;
    const Layout *c_layout;
} Dot;

static Dot dot_of(Lower *lower, Op *op)
{
    Dot dot = {.op = op, .shape = dot_kind(op)->shape};
    CHECK(operand(op, c)->type->layout == op->results[0].type->layout);
    dot.c_layout = op->results[0].type->layout;
    dot.a = lower_tile(lower, operand(op, a));
    dot.b = lower_tile(lower, operand(op, b));
    dot.c = lower_tile(lower, operand(op, c));
    dot.results = lower_new_tile(lower, &op->results[0]);
    dot.a_index = register_index(lower, operand(op, a)->type->layout);
    dot.b_index = register_index(lower, operand(op, b)->type->layout);
    for (int reg = 0; reg < layout_registers(dot.c_layout); reg++) dot.results[reg] = dot.c[reg];
    return dot;
}

/* ---- the matrix unit ---- */

/* 32-bit words of a fragment, or elements of f64, in the manual's order: a has two halves of k for
 * each 8 rows, rows first. */
static int pack_a(Lower *lower, const Dot *dot, int32_t row, int32_t k, Value **out)
{
    const int word = REGISTER_BITS / dot->shape.element_bits;
    int count = 0;
    for (int half = 0; half < dot->shape.k; half += 4 * word)
        for (int eight = 0; eight < dot->shape.m; eight += 8) {
            const int reg = register_of(&dot->a_index, row + eight, k + half);
            out[count++] = memory_pack(lower, word, dot->a + reg);
        }
    return count;
}

static int pack_b(Lower *lower, const Dot *dot, int32_t k, int32_t column, Value **out)
{
    const int word = REGISTER_BITS / dot->shape.element_bits;
    int count = 0;
    for (int half = 0; half < dot->shape.k; half += 4 * word)
        out[count++] =
            memory_pack(lower, word, dot->b + register_of(&dot->b_index, k + half, column));
    return count;
}

typedef struct Corner {
    int32_t row, column;
    int registers[4];
} Corner;

/* One instruction: the registers of c in the manual's order are pairs along n, for each 8 rows. */
static void emit_mma(Lower *lower, const Dot *dot, const Corner *corner, int32_t k)
{
    Value *operands[12];
    int count = pack_a(lower, dot, corner->row, k, operands);
    count += pack_b(lower, dot, k, corner->column, operands + count);
    const Type *scalar = type_scalar(lower->kernel->types, dot->op->results[0].type->dtype);
    const Type *types[4] = {scalar, scalar, scalar, scalar};
    for (int i = 0; i < 4; i++) operands[count++] = dot->results[corner->registers[i]];
    Op *mma = build_op(&lower->at, OP_mma, count, operands, 4, types);
    op_set_text(mma, ATTR_instruction, op_attr(dot->op, ATTR_instruction)->text);
    for (int i = 0; i < 4; i++) dot->results[corner->registers[i]] = &mma->results[i];
}

/* Fragments of c that hold anything of the tile. */
static int find_corners(Lower *lower, const Dot *dot, Corner *out)
{
    const RegisterIndex index = register_index(lower, dot->c_layout);
    int count = 0;
    for (int reg = 0; reg < layout_registers(dot->c_layout); reg++) {
        int32_t at[LAYOUT_RANK];
        layout_coordinates(dot->c_layout, reg, 0, 0, at);
        if (at[0] % dot->shape.m != 0 || at[1] % dot->shape.n != 0 ||
            !layout_is_inside(dot->c_layout, at) || register_of(&index, at[0], at[1]) != reg)
            continue;
        Corner corner = {.row = at[0], .column = at[1]};
        for (int i = 0; i < 4; i++)
            corner.registers[i] = register_of(&index, at[0] + i / 2 * 8, at[1] + i % 2);
        out[count++] = corner;
    }
    return count;
}

static void lower_mma(Lower *lower, const Dot *dot)
{
    Corner *corners = arena_new_array(lower->arena, Corner, layout_registers(dot->c_layout));
    const int count = find_corners(lower, dot, corners);
    const int32_t depth = (int32_t)operand(dot->op, a)->type->shape[1];
    for (int32_t k = 0; k < depth; k += dot->shape.k)
        for (int i = 0; i < count; i++) emit_mma(lower, dot, &corners[i], k);
}

void lower_dot(Lower *lower, Op *op)
{
    if (!dot_kind(op)) {
        lower_dot_fma(lower, op);
        return;
    }
    const Dot dot = dot_of(lower, op);
    lower_mma(lower, &dot);
}

/* ---- a warp's own ---- */

/* Elements that a thread has, as the words of 32 bits that the instruction takes. */
static int pack_elements(Lower *lower, const MmaKind *kind, Value **elements, int count,
                         Value **out)
{
    const int word =
        kind->shape.element_bits < REGISTER_BITS ? REGISTER_BITS / kind->shape.element_bits : 1;
    for (int i = 0; i < count; i += word) out[i / word] = memory_pack(lower, word, elements + i);
    return count / word;
}

void lower_mma_sync(Lower *lower, Op *op)
{
    const MmaKind *kind = mma_kind(op_attr(op, ATTR_instruction)->text);
    const int inputs = mma_elements(kind, DOT_A) + mma_elements(kind, DOT_B);
    Value **elements = arena_new_array(lower->arena, Value *, inputs),
          *operands[MMA_INPUTS + MMA_SUMS];
    for (int i = 0; i < inputs; i++) elements[i] = lower_scalar(lower, op->operands[i]);
    int count = pack_elements(lower, kind, elements, inputs, operands);
    for (int i = 0; i < MMA_SUMS; i++)
        operands[count++] = lower_scalar(lower, op->operands[inputs + i]);
    const Type *scalar = op->results[0].type;
    const Type *types[MMA_SUMS] = {scalar, scalar, scalar, scalar};
    Op *mma = build_op(&lower->at, OP_mma, count, operands, MMA_SUMS, types);
    op_set_text(mma, ATTR_instruction, op_attr(op, ATTR_instruction)->text);
    for (int i = 0; i < MMA_SUMS; i++)
        map_set(lower->arena, &lower->scalars, &op->results[i], &mma->results[i]);
}
