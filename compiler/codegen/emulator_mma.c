/* emulator_mma.c: the emulator: the matrix unit's instructions. */
#include "codegen/emulator.h"

void emulator_ldmatrix(Gen *gen, LLVMValueRef row, int count, bool transposed, LLVMValueRef *words)
{
    emu_store(gen, offsetof(tile_emu_thread, in), row); /* in[0..1] */
    emu_in(gen, 2, gen_i32(gen, count));
    emu_in(gen, 3, gen_i32(gen, transposed));
    emu_cooperate(gen, TILE_EMU_LDMATRIX, 0);
    for (int i = 0; i < count; i++) words[i] = emu_out(gen, i);
}

void emulator_stmatrix(Gen *gen, LLVMValueRef row, int count, bool transposed,
                       const LLVMValueRef *words)
{
    emu_store(gen, offsetof(tile_emu_thread, in), row); /* in[0..1] */
    emu_in(gen, 2, gen_i32(gen, count));
    emu_in(gen, 3, gen_i32(gen, transposed));
    for (int i = 0; i < count; i++) emu_in(gen, 4 + i, words[i]);
    emu_cooperate(gen, TILE_EMU_STMATRIX, 0);
}

static LLVMValueRef pair_of(Gen *gen, const Op *op, int first)
{
    LLVMValueRef low = gen_bitcast(gen, gen_operand_at(gen, op, first), gen->types.i16);
    LLVMValueRef high = gen_bitcast(gen, gen_operand_at(gen, op, first + 1), gen->types.i16);
    high = LLVMBuildShl(gen->builder, LLVMBuildZExt(gen->builder, high, gen->types.i32, ""),
                        gen_i32(gen, 16), "");
    return LLVMBuildOr(gen->builder, LLVMBuildZExt(gen->builder, low, gen->types.i32, ""), high,
                       "");
}

static LLVMValueRef half_of(Gen *gen, LLVMValueRef word, bool high)
{
    if (high) word = LLVMBuildLShr(gen->builder, word, gen_i32(gen, 16), "");
    return LLVMBuildTrunc(gen->builder, word, gen->types.i16, "");
}

static LLVMValueRef word_of(Gen *gen, LLVMValueRef wide, bool high)
{
    LLVMValueRef bits = gen_bitcast(gen, wide, gen->types.i64);
    if (high) bits = LLVMBuildLShr(gen->builder, bits, gen_int(gen, gen->types.i64, 32), "");
    return LLVMBuildTrunc(gen->builder, bits, gen->types.i32, "");
}

static LLVMValueRef wide_out(Gen *gen, int word)
{
    LLVMValueRef low = LLVMBuildZExt(gen->builder, emu_out(gen, word), gen->types.i64, ""),
                 high = LLVMBuildZExt(gen->builder, emu_out(gen, word + 1), gen->types.i64, "");
    high = LLVMBuildShl(gen->builder, high, gen_int(gen, gen->types.i64, 32), "");
    return LLVMBuildOr(gen->builder, low, high, "");
}

/* Elements of f64: two words each, the low one first. */
static void build_wide_mma(Gen *gen, const Op *op, const MmaKind *kind)
{
    for (int i = 0; i < 2 * op->operand_count; i++)
        emu_in(gen, i, word_of(gen, gen_operand_at(gen, op, i / 2), i % 2));
    emu_cooperate(gen, TILE_EMU_MMA, mma_kind_index(kind));
    for (int i = 0; i < MMA_SUMS; i++)
        gen_define(gen, &op->results[i], gen_bitcast(gen, wide_out(gen, 2 * i), gen->types.f64));
}

void emulator_mma(Gen *gen, const Op *op)
{
    const MmaKind *kind = mma_of(op);
    const bool packed = mma_packs(kind);
    if (kind->operand == DTYPE_f64) {
        build_wide_mma(gen, op, kind);
        return;
    }
    int count = 0;
    for (; count < MMA_INPUTS; count++)
        emu_in(gen, count, gen_bitcast(gen, gen_operand_at(gen, op, count), gen->types.i32));
    for (int i = 0; i < MMA_SUMS; i += packed ? 2 : 1)
        emu_in(gen, count++,
               packed ? pair_of(gen, op, MMA_INPUTS + i)
                      : gen_bitcast(gen, gen_operand_at(gen, op, MMA_INPUTS + i), gen->types.i32));
    emu_cooperate(gen, TILE_EMU_MMA, mma_kind_index(kind));
    for (int i = 0; i < MMA_SUMS; i++) {
        LLVMValueRef word = emu_out(gen, packed ? i / 2 : i);
        LLVMValueRef bits = packed ? half_of(gen, word, i % 2) : word;
        gen_define(gen, &op->results[i],
                   gen_bitcast(gen, bits, gen_type(gen, op->results[i].type)));
    }
}

/* ---- wgmma ---- */

LLVMValueRef emulator_wgmma_in_flight(Gen *gen, int count)
{
    LLVMValueRef groups = gen_i32(gen, count), zero = gen_i32(gen, 0);
    LLVMValueRef some = emu_call(gen, "tile_emu_wgmma_in_flight", gen->types.i32, 1, &groups);
    return LLVMBuildICmp(gen->builder, LLVMIntNE, some, zero, "");
}

void emulator_fence_async(Gen *gen, const Op *op)
{
    const bool made = op_int(op, ATTR_made, 0), global = op_int(op, ATTR_global, 0);
    LLVMValueRef shown = gen_i32(gen, made     ? TILE_EMU_FENCE_MADE
                                      : global ? TILE_EMU_FENCE_GLOBAL
                                               : TILE_EMU_FENCE_SHARED);
    emu_call(gen, "tile_emu_fence_async", gen->types.nothing, 1, &shown);
}

/* An array of the thread's own, with the op's operands from `first` on, one after the other. */
static LLVMValueRef array_of(Gen *gen, const Op *op, int first, int count)
{
    LLVMValueRef array =
        gen_slot(gen, LLVMArrayType2(gen->types.i32, (uint64_t)(count > 0 ? count : 1)), 16);
    for (int i = 0; i < count; i++) {
        const Value *operand = op->operands[first + i];
        LLVMBuildStore(gen->builder, gen_operand_at(gen, op, first + i),
                       gen_offset(gen, array, type_bytes(operand->type) * i));
    }
    return array;
}

static LLVMValueRef descriptor_at(Gen *gen, LLVMValueRef pointer, const Attr *operand, int part)
{
    LLVMTypeRef wide = gen->types.i64;
    LLVMValueRef base = emu_load(gen, offsetof(tile_emu_thread, shared), gen->types.pointer);
    LLVMValueRef offset =
        LLVMBuildSub(gen->builder, LLVMBuildPtrToInt(gen->builder, pointer, wide, ""),
                     LLVMBuildPtrToInt(gen->builder, base, wide, ""), "");
    offset = LLVMBuildAdd(gen->builder, offset, gen_int(gen, wide, wgmma_start(operand, part)), "");
    offset = LLVMBuildLShr(gen->builder, offset, gen_int(gen, wide, 4), "");
    return LLVMBuildOr(gen->builder, offset, gen_int(gen, wide, (int64_t)wgmma_descriptor(operand)),
                       "");
}

static int wgmma_flags(const Wgmma *wgmma)
{
    return (wgmma->left ? 0 : TILE_EMU_WGMMA_REGISTERS) |
           (wgmma->left && wgmma_is_transposed(wgmma->left) ? TILE_EMU_WGMMA_A_TRANSPOSED : 0) |
           (wgmma_is_transposed(wgmma->right) ? TILE_EMU_WGMMA_B_TRANSPOSED : 0);
}

/* One instruction. */
void emulator_product(Gen *gen, const Op *op, const Wgmma *wgmma, LLVMValueRef sums,
                      LLVMValueRef words, const int at[3])
{
    const int part = at[0], piece = at[1], step = at[2], left = part * wgmma->steps + step,
              right = step * wgmma->pieces + piece, b = wgmma->left ? 1 : wgmma->words;
    const size_t in = offsetof(tile_emu_thread, in);
    const int64_t first = (int64_t)(part * wgmma->pieces + piece) * wgmma->sums_each;
    emu_store(gen, in, gen_offset(gen, sums, 4 * first));
    emu_store(gen, in + 8,
              wgmma->left ? descriptor_at(gen, gen_operand(gen, op, a), wgmma->left, left)
                          : gen_offset(gen, words, (int64_t)16 * left));
    emu_store(gen, in + 16, descriptor_at(gen, gen_operand_at(gen, op, b), wgmma->right, right));
    emu_in(gen, 6, gen_i32(gen, wgmma->n));
    emu_in(gen, 7, gen_i32(gen, wgmma_flags(wgmma)));
    emu_cooperate(gen, TILE_EMU_WGMMA, mma_kind_index(wgmma->kind));
}

static void build_wgmma_wait(Gen *gen, int groups)
{
    LLVMValueRef count = gen_i32(gen, groups);
    emu_call(gen, "tile_emu_wgmma_wait", gen->types.nothing, 1, &count);
}

/* wgmma.wait_group is .sync: the lanes leave it together, and know no more of each other. */
static void await_wgmma(Gen *gen, int groups)
{
    build_wgmma_wait(gen, groups);
    emu_cooperate(gen, TILE_EMU_WARP_SYNC, 1);
}

void emulator_dot_commit(Gen *gen)
{
    emu_call(gen, "tile_emu_wgmma_commit", gen->types.nothing, 0, NULL);
}

void emulator_wgmma(Gen *gen, const Op *op)
{
    const Wgmma wgmma = wgmma_of(op);
    LLVMValueRef words = array_of(gen, op, 0, wgmma.words),
                 sums = array_of(gen, op, op->operand_count - wgmma.scalars, wgmma.scalars);
    for (int step = 0; step < wgmma.steps; step++)
        for (int part = 0; part < wgmma.parts; part++)
            for (int piece = 0; piece < wgmma.pieces; piece++)
                emulator_product(gen, op, &wgmma, sums, words, (int[]){part, piece, step});
    if (wgmma.commits) emulator_dot_commit(gen);
    if (!wgmma.is_open) await_wgmma(gen, 0);
    for (int i = 0; i < wgmma.scalars; i++) {
        const Type *type = op->results[i].type;
        gen_define(gen, &op->results[i],
                   LLVMBuildLoad2(gen->builder, gen_type(gen, type),
                                  gen_offset(gen, sums, type_bytes(type) * i), ""));
    }
}

void emulator_wgmma_wait(Gen *gen, const Op *op)
{
    await_wgmma(gen, (int)op_int(op, ATTR_count, 0));
    for (int i = 0; i < op->result_count; i++)
        gen_define(gen, &op->results[i], gen_operand_at(gen, op, i));
}
