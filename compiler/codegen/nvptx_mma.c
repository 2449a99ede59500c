/* nvptx_mma.c: mma.sync and ldmatrix. */
#include "codegen/llvm.h"

void nvptx_ldmatrix(Gen *gen, const Op *op, LLVMValueRef row, int count, bool transposed,
                    LLVMValueRef *words)
{
    static const char *const names[2][3] = {
        {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"},
        {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"},
    };
    (void)op;
    LLVMTypeRef pointer = LLVMTypeOf(row);
    LLVMValueRef result = gen_intrinsic(gen, names[transposed][count >> 1], 1, &pointer, 1, &row);
    for (int i = 0; i < count; i++)
        words[i] =
            count == 1 ? result : LLVMBuildExtractValue(gen->builder, result, (unsigned)i, "");
}

/* Accumulators of 16 bits share words in pairs. */
static bool are_packed(const MmaInstruction *row)
{
    return row->c_words < row->scalars;
}

static LLVMValueRef packed_pair(Gen *gen, const Op *op, int first)
{
    LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(gen->types.f16, 2));
    for (int i = 0; i < 2; i++)
        pair = LLVMBuildInsertElement(gen->builder, pair, gen_operand(gen, op, first + i),
                                      gen_i32(gen, i), "");
    return pair;
}

static int mma_arguments(Gen *gen, const Op *op, const MmaInstruction *row, LLVMValueRef *arguments)
{
    int inputs = row->a_words + row->b_words;
    LLVMTypeRef word = row->half_operands ? LLVMVectorType(gen->types.f16, 2) : gen->types.i32;
    for (int i = 0; i < inputs; i++) arguments[i] = gen_bitcast(gen, gen_operand(gen, op, i), word);
    for (int i = 0; i < row->c_words; i++)
        arguments[inputs + i] = are_packed(row) ? packed_pair(gen, op, inputs + 2 * i)
                                                : gen_operand(gen, op, inputs + i);
    return inputs + row->c_words;
}

void nvptx_mma(Gen *gen, const Op *op)
{
    const MmaInstruction *row = mma_at(mma_find(op));
    LLVMValueRef arguments[16];
    int count = mma_arguments(gen, op, row, arguments);
    LLVMValueRef result = gen_intrinsic(gen, row->intrinsic, 0, NULL, count, arguments);
    for (int i = 0; i < row->scalars; i++) {
        unsigned word = (unsigned)(are_packed(row) ? i / 2 : i);
        LLVMValueRef value = LLVMBuildExtractValue(gen->builder, result, word, "");
        if (are_packed(row))
            value = LLVMBuildExtractElement(gen->builder, value, gen_i32(gen, i % 2), "");
        gen_define(gen, &op->results[i], value);
    }
}
