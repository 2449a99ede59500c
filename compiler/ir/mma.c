/* mma.c: what mma.def says, and the layouts that its instructions read and leave. */
#include "ir/mma.h"

#include <stdlib.h>
#include <string.h>

enum { MMA_ROWS = 16, MMA_COLUMNS = 8, DEPTH_BITS = 256 /* of k */ };
enum { WORDS_DEEP = 8 /* along k */, A_WORDS = 4 /* of a thread */ };

static const MmaKind kinds[] = {
#define MMA(name, operand, accumulator, k, feature, intrinsic)                                     \
    {name, DTYPE_##operand, DTYPE_##accumulator, {MMA_ROWS, MMA_COLUMNS, k, DEPTH_BITS / (k)}},
#include "ir/mma.def"
#undef MMA
};
enum { KINDS = sizeof kinds / sizeof *kinds };

const MmaKind *mma_kind_at(int index)
{
    return index < KINDS ? &kinds[index] : NULL;
}

int mma_kind_index(const MmaKind *kind)
{
    return (int)(kind - kinds);
}

const MmaKind *mma_kind(const char *instruction)
{
    const char *from_k = strchr(instruction, 'k');
    for (int i = 0; from_k && i < KINDS; i++)
        if (strcmp(strchr(kinds[i].name, 'k'), from_k) == 0) return &kinds[i];
    return NULL;
}

static bool multiplies(const MmaKind *kind, DType dtype, bool tf32)
{
    return dtype == kind->operand || (tf32 && dtype == DTYPE_f32 && kind->operand == DTYPE_tf32);
}

int mma_elements(const MmaKind *kind, DotOperand operand)
{
    const int word = kind->shape.k / WORDS_DEEP;
    return operand == DOT_C ? MMA_SUMS : (operand == DOT_A ? A_WORDS : MMA_INPUTS - A_WORDS) * word;
}

bool mma_takes(const MmaKind *kind, DType dtype)
{
    return multiplies(kind, dtype, true);
}

bool mma_multiplies(const MmaKind *kind, const Op *dot, bool tf32)
{
    return multiplies(kind, operand(dot, a)->type->dtype, tf32) &&
           multiplies(kind, operand(dot, b)->type->dtype, tf32) &&
           operand(dot, c)->type->dtype == kind->accumulator;
}

bool mma_divides(const MmaKind *kind, const Op *dot)
{
    const Type *a = operand(dot, a)->type, *c = operand(dot, c)->type;
    return c->shape[0] % kind->shape.m == 0 && c->shape[1] % kind->shape.n == 0 &&
           a->shape[1] % kind->shape.k == 0;
}

int wgmma_columns(const char *instruction)
{
    static const char start[] = "wgmma.m64n";
    if (strncmp(instruction, start, sizeof start - 1) != 0) return 0;
    char *end;
    const long columns = strtol(instruction + sizeof start - 1, &end, 10);
    return *end == 'k' && columns > 0 && columns <= INT32_MAX ? (int)columns : 0;
}

bool wgmma_multiplies(const MmaKind *kind)
{
    return dtype_bits(kind->operand) <= 32;
}

/* Multiples of 8, with integers beyond 24 of 16. */
bool wgmma_has_columns(const MmaKind *kind, int64_t columns)
{
    enum { MOST = 256 };
    return wgmma_multiplies(kind) && columns > 0 && columns % MMA_COLUMNS == 0 && columns <= MOST &&
           (dtype_is_float(kind->accumulator) || columns <= 24 || columns % 16 == 0);
}

const MmaKind *dot_kind(const Op *dot)
{
    const Attr *instruction = op_attr(dot, ATTR_instruction);
    return instruction ? mma_kind(instruction->text) : NULL;
}

/* ---- layouts ---- */

/* All layouts of a kernel have a bit for each warp: warps that the matrix has no use for hold
 * replicas. */
static const Layout *with_all_warps(LayoutTable *table, const Layout *layout, int warps)
{
    const int missing = bits_log2(warps) - layout->bits[LAYOUT_WARP];
    if (missing <= 0) return layout;
    Layout padded = *layout;
    padded.bits[LAYOUT_WARP] = (uint8_t)(layout->bits[LAYOUT_WARP] + missing);
    return layout_intern(table, &padded);
}

/* The bit of a register that has the coordinate; -1: none. */
static int find_register_bit(const Layout *layout, int dim, int32_t coordinate)
{
    for (int bit = 0; bit < layout->bits[LAYOUT_REGISTER]; bit++)
        if (layout->basis[bit][dim] == coordinate) return bit;
    return -1;
}

/* Sums of wgmma, laid out for warpgroups one below the other, as they are with `groups` side by
 * side: registers leave the upper bits of the column to the warps. */
static const Layout *share_columns(LayoutTable *table, const Layout *layout, int groups)
{
    Layout shared = *layout;
    int count = 0;
    for (int axis = 0; axis < LAYOUT_AXES; axis++) count += layout->bits[axis];
    for (int32_t column = layout->shape[1] / groups; column < layout->shape[1]; column *= 2) {
        const int bit = find_register_bit(&shared, 1, column);
        CHECK(bit >= 0);
        for (int i = bit; i + 1 < count; i++)
            for (int d = 0; d < LAYOUT_RANK; d++) {
                const int32_t moved = shared.basis[i][d];
                shared.basis[i][d] = shared.basis[i + 1][d];
                shared.basis[i + 1][d] = moved;
            }
        shared.bits[LAYOUT_REGISTER]--;
        shared.bits[LAYOUT_WARP]++;
    }
    return layout_intern(table, &shared);
}

const Layout *dot_layout(LayoutTable *table, const Op *dot, DotOperand operand, int warps)
{
    const int64_t *warps_along = op_attr(dot, ATTR_dims)->integers;
    const Type *a = operand(dot, a)->type, *c = operand(dot, c)->type;
    const bool is_shared = dot->code == OP_dot_shared;
    const int along_n = (int)warps_along[1];
    const Layout *layout =
        layout_mma(table, operand, dot_kind(dot)->shape, (int)c->shape[0], (int)c->shape[1],
                   (int)a->shape[1], (int)warps_along[0], is_shared ? 1 : along_n);
    if (is_shared && operand == DOT_C && along_n > 1)
        layout = share_columns(table, layout, along_n);
    return with_all_warps(table, layout, warps);
}
