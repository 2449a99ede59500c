/* mma.c: what both machines ask of mma and wgmma ops (PTX ISA manual, "Warp Level Matrix
 * Instructions" and "Asynchronous Warpgroup Level Matrix Instructions"). */
#include "codegen/llvm.h"

enum { SWIZZLE, LEADING, STRIDE, TRANSPOSED, FIXED, WORDS = 4 /* of a, an instruction */ };

bool mma_packs(const MmaKind *kind)
{
    return dtype_bits(kind->accumulator) == 16;
}

const MmaKind *mma_of(const Op *op)
{
    const MmaKind *kind = mma_kind(op_attr(op, ATTR_instruction)->text);
    CHECK(kind && op->operand_count == MMA_INPUTS + MMA_SUMS && op->result_count == MMA_SUMS);
    return kind;
}

static bool adds_to_zero(const Op *op)
{
    for (int i = op->operand_count - op->result_count; i < op->operand_count; i++)
        if (!value_is_zero(op->operands[i])) return false;
    return true;
}

/* Zero, or zero that open products were waited for with. */
static bool begins_as_zero(const Value *value)
{
    const Op *op = value->op;
    return value_is_zero(value) || (op && op->code == OP_wgmma_wait && value->use_count == 1 &&
                                    value_is_zero(op->operands[value->index]));
}

static bool runs(const Op *loop)
{
    int64_t begin, end;
    return value_constant(operand(loop, begin), &begin) &&
           value_constant(operand(loop, end), &end) && begin < end;
}

/* The loop that carries the op's sums from zero on, for it alone: what they begin as need not be
 * anywhere. NULL: none, or it may have no iteration. */
static const Op *wgmma_first_of(const Op *op)
{
    const Op *loop = op->parent->parent;
    if (op->code != OP_wgmma || !loop || loop->code != OP_for || !runs(loop)) return NULL;
    for (int i = op->operand_count - op->result_count; i < op->operand_count; i++) {
        const Value *sum = op->operands[i];
        if (sum->op || sum->region != op->parent || sum->use_count != 1 || sum->index == 0 ||
            !begins_as_zero(operand_list(loop, init)[sum->index - 1]))
            return NULL;
    }
    return loop;
}

static bool is_sum_of(const Value *value, const Op *wgmma)
{
    for (int i = wgmma->operand_count - wgmma->result_count; i < wgmma->operand_count; i++)
        if (wgmma->operands[i] == value) return true;
    return false;
}

bool wgmma_ignores(const Value *value)
{
    const Op *op = value->use_count == 1 ? value->uses->op : NULL;
    if (op && op->code == OP_wgmma) return is_sum_of(value, op) && wgmma_first_of(op);
    if (!op || op->code != OP_for) return false;
    for (int i = 0; i < op->result_count; i++)
        if (operand_list(op, init)[i] == value)
            return wgmma_ignores(op->regions[0]->arguments[i + 1]);
    return false;
}

Wgmma wgmma_of(const Op *op)
{
    const char *name = op_attr(op, ATTR_instruction)->text;
    Wgmma wgmma = {.left = op_attr(op, ATTR_left), .right = op_attr(op, ATTR_right)};
    const Attr *dims = op_attr(op, ATTR_dims);
    wgmma.shape = name + sizeof "wgmma." - 1;
    wgmma.n = wgmma_columns(name);
    wgmma.kind = mma_kind(name);
    CHECK(wgmma.n && wgmma.kind && wgmma.right && dims && dims->count == 3);
    wgmma.is_open = op_int(op, ATTR_async, 0) != 0;
    wgmma.commits = !wgmma.is_open || !op_int(op, ATTR_joined, 0);
    wgmma.clears = adds_to_zero(op);
    wgmma.first_of = wgmma_first_of(op);
    wgmma.parts = (int)dims->integers[0];
    wgmma.pieces = (int)dims->integers[1];
    wgmma.steps = (int)dims->integers[2];
    wgmma.scalars = op->result_count;
    wgmma.sums = mma_packs(wgmma.kind) ? wgmma.scalars / 2 : wgmma.scalars;
    wgmma.sums_each = wgmma.sums / (wgmma.parts * wgmma.pieces);
    wgmma.words = wgmma.left ? 0 : wgmma.parts * wgmma.steps * WORDS;
    CHECK(op->operand_count == (wgmma.left ? 1 : wgmma.words) + 1 + wgmma.scalars &&
          wgmma.scalars == wgmma.parts * wgmma.pieces * wgmma.n / 2);
    return wgmma;
}

/* Start (bits 0-13), leading (16-29) and stride (32-45) in 16 bytes; the swizzle (62-63): 1 is 128
 * bytes, 2 is 64, 3 is 32. */
uint64_t wgmma_descriptor(const Attr *operand)
{
    const int64_t *fields = operand->integers;
    const uint64_t mode = fields[SWIZZLE] == SWIZZLE_ROW_BYTES ? 1 : fields[SWIZZLE] == 64 ? 2 : 3;
    return (uint64_t)(fields[LEADING] >> 4 & 0x3fff) << 16 |
           (uint64_t)(fields[STRIDE] >> 4 & 0x3fff) << 32 | mode << 62;
}

int64_t wgmma_start(const Attr *operand, int part)
{
    return operand->integers[FIXED + part];
}

bool wgmma_is_transposed(const Attr *operand)
{
    return operand->integers[TRANSPOSED] != 0;
}
