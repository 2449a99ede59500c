/* nvptx_mma.c: mma.sync, ldmatrix, stmatrix, wgmma. */
#include "codegen/llvm.h"

#include <string.h>

void nvptx_ldmatrix(Gen *gen, LLVMValueRef row, int count, bool transposed, LLVMValueRef *words)
{
    static const char *const names[2][3] = {
        {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16"},
        {"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16",
         "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16"},
    };
    LLVMTypeRef pointer = LLVMTypeOf(row);
    LLVMValueRef result = gen_intrinsic(gen, names[transposed][count >> 1], 1, &pointer, 1, &row);
    for (int i = 0; i < count; i++)
        words[i] =
            count == 1 ? result : LLVMBuildExtractValue(gen->builder, result, (unsigned)i, "");
}

void nvptx_stmatrix(Gen *gen, LLVMValueRef row, int count, bool transposed,
                    const LLVMValueRef *words)
{
    static const char *const names[2][3] = {
        {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.b16",
         "llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.b16",
         "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.b16"},
        {"llvm.nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16",
         "llvm.nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16",
         "llvm.nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16"},
    };
    LLVMTypeRef pointer = LLVMTypeOf(row);
    LLVMValueRef arguments[5] = {row};
    for (int i = 0; i < count; i++) arguments[1 + i] = words[i];
    gen_intrinsic(gen, names[transposed][count >> 1], 1, &pointer, 1 + (unsigned)count, arguments);
}

static LLVMValueRef packed_pair(Gen *gen, const Op *op, int first)
{
    LLVMValueRef pair = LLVMGetPoison(LLVMVectorType(gen->types.f16, 2));
    for (int i = 0; i < 2; i++)
        pair = LLVMBuildInsertElement(gen->builder, pair, gen_operand_at(gen, op, first + i),
                                      gen_i32(gen, i), "");
    return pair;
}

static int mma_arguments(Gen *gen, const Op *op, const MmaKind *kind, LLVMValueRef *arguments)
{
    const bool packed = mma_packs(kind);
    LLVMTypeRef word = kind->operand == DTYPE_f16   ? LLVMVectorType(gen->types.f16, 2)
                       : kind->operand == DTYPE_f64 ? gen->types.f64
                                                    : gen->types.i32;
    int count = 0;
    for (; count < MMA_INPUTS; count++)
        arguments[count] = gen_bitcast(gen, gen_operand_at(gen, op, count), word);
    for (int i = 0; i < MMA_SUMS; i += packed ? 2 : 1)
        arguments[count++] =
            packed ? packed_pair(gen, op, MMA_INPUTS + i) : gen_operand_at(gen, op, MMA_INPUTS + i);
    return count;
}

/* m16n8k8 of f64, which sm_90 is the first to have, by m8n8k4: a's and b's elements are by k and
 * c's by rows in halves of the wide fragments (PTX ISA manual, "Matrix Fragments for mma.m8n8k4
 * with .f64 floating point type"). */
static void mma_by_quarters(Gen *gen, const Op *op, const LLVMValueRef *arguments)
{
    static const char name[] = "llvm.nvvm.mma.m8n8k4.row.col.f64";
    for (int half = 0; half < 2; half++) {
        LLVMValueRef sums[2];
        for (int i = 0; i < 2; i++) sums[i] = arguments[MMA_INPUTS + 2 * half + i];
        for (int k = 0; k < 2; k++) {
            LLVMValueRef quarter[] = {arguments[2 * k + half], arguments[4 + k], sums[0], sums[1]};
            LLVMValueRef result = gen_intrinsic(gen, name, 0, NULL, 4, quarter);
            for (int i = 0; i < 2; i++)
                sums[i] = LLVMBuildExtractValue(gen->builder, result, (unsigned)i, "");
        }
        for (int i = 0; i < 2; i++) gen_define(gen, &op->results[2 * half + i], sums[i]);
    }
}

void nvptx_mma(Gen *gen, const Op *op)
{
    static const char *const intrinsics[] = {
#define MMA(name, operand, accumulator, k, feature, intrinsic) intrinsic,
#include "ir/mma.def"
#undef MMA
    };
    const MmaKind *kind = mma_of(op);
    const bool packed = mma_packs(kind);
    LLVMValueRef arguments[MMA_INPUTS + MMA_SUMS];
    const int count = mma_arguments(gen, op, kind, arguments);
    if (kind->operand == DTYPE_f64 && !target_has(gen->target, HAS_WIDE_F64_MMA)) {
        mma_by_quarters(gen, op, arguments);
        return;
    }
    LLVMValueRef result =
        gen_intrinsic(gen, intrinsics[mma_kind_index(kind)], 0, NULL, count, arguments);
    for (int i = 0; i < MMA_SUMS; i++) {
        LLVMValueRef value =
            LLVMBuildExtractValue(gen->builder, result, (unsigned)(packed ? i / 2 : i), "");
        if (packed) value = LLVMBuildExtractElement(gen->builder, value, gen_i32(gen, i % 2), "");
        gen_define(gen, &op->results[i], value);
    }
}

/* ---- wgmma: inline PTX, as LLVM has no intrinsic for it ---- */

void nvptx_setmaxnreg(Gen *gen, const Op *op)
{
    Buf text = {0};
    buf_printf(&text, "setmaxnreg.%s.sync.aligned.u32 %d;", op_attr(op, ATTR_mode)->text,
               (int)op_int(op, ATTR_count, 0));
    nvptx_asm(gen, gen->types.nothing, text.data, "~{memory}", 0, NULL);
    buf_free(&text);
}

/* Elements, or matrices, in the shared memory of another block of the cluster. */
static bool meets_peer_memory(const Op *op, const void *context)
{
    (void)context;
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind == TYPE_POINTER &&
            op->operands[i]->type->space == SPACE_CLUSTER)
            return op->code == OP_ld || op->code == OP_st || op_has(op, ATOMIC);
    return false;
}

/* What threads did in another block's memory is ordered by no fence of the block's own. */
void nvptx_fence_async(Gen *gen, const Op *op)
{
    const char *text = op_attr(op, ATTR_made)     ? "fence.mbarrier_init.release.cluster;"
                       : op_attr(op, ATTR_global) ? "fence.proxy.async.global;"
                       : kernel_had(gen->kernel, OP_cluster_address) &&
                               region_find(gen->kernel->host, meets_peer_memory, NULL)
                           ? "fence.proxy.async.shared::cluster;"
                           : "fence.proxy.async.shared::cta;";
    if (!target_has(gen->target, HAS_ASYNC_PROXY)) return; /* there is one proxy */
    nvptx_asm(gen, gen->types.nothing, text, "~{memory}", 0, NULL);
}

/* The descriptor of what begins at the pointer. */
static LLVMValueRef descriptor_at(Gen *gen, LLVMValueRef pointer, const Attr *operand)
{
    enum { ADDRESS_BITS = 0x3ffff };
    LLVMValueRef address = LLVMBuildPtrToInt(gen->builder, pointer, gen->types.i32, "");
    address = LLVMBuildAnd(gen->builder, address, gen_i32(gen, ADDRESS_BITS), "");
    address = LLVMBuildLShr(gen->builder, address, gen_i32(gen, 4), "");
    LLVMValueRef wide = LLVMBuildZExt(gen->builder, address, gen->types.i64, "");
    return LLVMBuildOr(gen->builder, wide,
                       gen_int(gen, gen->types.i64, (int64_t)wgmma_descriptor(operand)), "");
}

static void print_range(Buf *text, int first, int count)
{
    buf_text(text, "{");
    for (int i = 0; i < count; i++) buf_printf(text, "%s$%d", i ? ", " : "", first + i);
    buf_text(text, "}");
}

/* What follows the predicate that says to add: signs, which integers lack, and, for elements of 16
 * bits, which operands are transposed. */
static void print_immediates(Buf *text, const Wgmma *wgmma)
{
    if (strstr(wgmma->shape, ".s32.")) return;
    buf_text(text, ", 1, 1");
    if (!strstr(wgmma->shape, "k16.")) return;
    if (wgmma->left) buf_printf(text, ", %d", wgmma_is_transposed(wgmma->left));
    buf_printf(text, ", %d", wgmma_is_transposed(wgmma->right));
}

/* One instruction; the operands' numbers are: sums out, sums in unless they are zero, a, b. */
static void print_product(Buf *text, const Wgmma *wgmma, int part, int piece, int step)
{
    const int left = part * wgmma->steps + step, inputs = (wgmma->clears ? 1 : 2) * wgmma->sums,
              right = step * wgmma->pieces + piece;
    const int b = inputs + (wgmma->left ? 1 : wgmma->words);
    if (wgmma->left)
        buf_printf(text, "add.s64 a, $%d, %lld;\n", inputs,
                   (long long)wgmma_start(wgmma->left, left) >> 4);
    buf_printf(text, "add.s64 b, $%d, %lld;\n", b,
               (long long)wgmma_start(wgmma->right, right) >> 4);
    buf_printf(text, "wgmma.mma_async.sync.aligned.%s%s ", wgmma->shape,
               strrchr(wgmma->shape, '.'));
    print_range(text, (part * wgmma->pieces + piece) * wgmma->sums_each, wgmma->sums_each);
    buf_text(text, ", ");
    if (wgmma->left)
        buf_text(text, "a");
    else
        print_range(text, inputs + 4 * left, 4);
    buf_text(text, (wgmma->clears || wgmma->first_of) && step == 0 ? ", b, q" : ", b, p");
    print_immediates(text, wgmma);
    buf_text(text, ";\n");
}

/* The predicate that says to add, in all iterations but the first. */
static void print_first(Buf *text, const Wgmma *wgmma)
{
    const Value *begin = operand(wgmma->first_of, begin);
    const int index = 2 * wgmma->sums + (wgmma->left ? 1 : wgmma->words) + 1;
    int64_t number = 0;
    CHECK(value_constant(begin, &number));
    buf_printf(text, ".reg .pred q;\nsetp.ne.b%d q, $%d, %lld;\n", dtype_bits(begin->type->dtype),
               index, (long long)number);
}

/* All products are one text, so that nothing comes between them. */
static void print_wgmma(Buf *text, const Wgmma *wgmma)
{
    buf_text(text, "{\n.reg .pred p;\n.reg .b64 a, b;\nsetp.eq.u32 p, 0, 0;\n");
    if (wgmma->clears) buf_text(text, ".reg .pred q;\nsetp.ne.u32 q, 0, 0;\n");
    if (wgmma->first_of) print_first(text, wgmma);
    buf_text(text, "wgmma.fence.sync.aligned;\n");
    for (int step = 0; step < wgmma->steps; step++)
        for (int part = 0; part < wgmma->parts; part++)
            for (int piece = 0; piece < wgmma->pieces; piece++)
                print_product(text, wgmma, part, piece, step);
    if (wgmma->commits) buf_text(text, "wgmma.commit_group.sync.aligned;\n");
    buf_text(text, wgmma->is_open ? "}" : "wgmma.wait_group.sync.aligned 0;\n}");
}

/* `sums` operands that are results, too, or results alone, then `inputs`, such as "r,r,l". */
static void print_constraints(Buf *text, int sums, bool clears, LLVMValueRef *values, int words,
                              const char *inputs)
{
    for (int i = 0; i < sums; i++)
        buf_text(text, LLVMGetTypeKind(LLVMTypeOf(values[i])) == LLVMFloatTypeKind ? "=f," : "=r,");
    for (int i = 0; i < sums && !clears; i++) buf_printf(text, "%d,", i);
    for (int i = 0; i < words; i++) buf_text(text, "r,");
    buf_text(text, inputs);
    buf_text(text, "~{memory}");
}

static void mark_convergent(Gen *gen, LLVMValueRef call)
{
    const unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(gen->context, kind, 0));
}

/* The op's operands from `first` on as words: those of 16 bits two and two. Gives how many. */
static int pack_sums(Gen *gen, const Op *op, int first, LLVMValueRef *words)
{
    int count = 0;
    for (int i = first; i < op->operand_count; i++) {
        const bool is_half = op->operands[i]->type->dtype == DTYPE_f16;
        words[count++] = is_half ? gen_bitcast(gen, packed_pair(gen, op, i), gen->types.i32)
                                 : gen_operand_at(gen, op, i);
        i += is_half;
    }
    return count;
}

static void define_sums(Gen *gen, const Op *op, int words, LLVMValueRef result)
{
    for (int i = 0, at = 0; i < op->result_count; i++, at++) {
        LLVMValueRef word =
            words == 1 ? result : LLVMBuildExtractValue(gen->builder, result, (unsigned)at, "");
        if (op->results[i].type->dtype != DTYPE_f16) {
            gen_define(gen, &op->results[i], word);
            continue;
        }
        word = gen_bitcast(gen, word, LLVMVectorType(gen->types.f16, 2));
        for (int half = 0; half < 2; half++)
            gen_define(gen, &op->results[i + half],
                       LLVMBuildExtractElement(gen->builder, word, gen_i32(gen, half), ""));
        i++;
    }
}

/* Inline PTX whose first `sums` arguments are its results, too; or, if it clears them, only say of
 * what types those are. */
static void build_with_sums(Gen *gen, const Op *op, const Buf *text, const Buf *constraints,
                            bool clears, int sums, int count, LLVMValueRef *arguments)
{
    const int skipped = clears ? sums : 0;
    LLVMTypeRef *types = arena_new_array(gen->arena, LLVMTypeRef, count + sums + 1);
    for (int i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    for (int i = 0; i < sums; i++) types[count + i] = types[i];
    LLVMTypeRef result =
        sums == 0   ? gen->types.nothing
        : sums == 1 ? types[0]
                    : LLVMStructTypeInContext(gen->context, types + count, (unsigned)sums, false);
    LLVMTypeRef function =
        LLVMFunctionType(result, types + skipped, (unsigned)(count - skipped), false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, text->data, text->length, constraints->data, constraints->length,
                         true, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(gen->builder, function, code, arguments + skipped,
                                       (unsigned)(count - skipped), "");
    mark_convergent(gen, call);
    define_sums(gen, op, sums, call);
}

void nvptx_wgmma(Gen *gen, const Op *op)
{
    const Wgmma wgmma = wgmma_of(op);
    const int left = wgmma.left ? 1 : wgmma.words, fixed = wgmma.sums + left + 1,
              count = fixed + (wgmma.first_of ? 1 : 0);
    LLVMValueRef *arguments = arena_new_array(gen->arena, LLVMValueRef, count);
    CHECK(pack_sums(gen, op, left + 1, arguments) == wgmma.sums);
    for (int i = 0; i < wgmma.words; i++)
        arguments[wgmma.sums + i] = gen_bitcast(gen, gen_operand_at(gen, op, i), gen->types.i32);
    if (wgmma.left) arguments[wgmma.sums] = descriptor_at(gen, gen_operand(gen, op, a), wgmma.left);
    arguments[fixed - 1] = descriptor_at(gen, gen_operand_at(gen, op, left), wgmma.right);
    if (wgmma.first_of) arguments[fixed] = gen_use(gen, op->parent->arguments[0]);
    Buf text = {0}, constraints = {0};
    print_wgmma(&text, &wgmma);
    Buf inputs = {0};
    buf_text(&inputs, wgmma.left ? "l,l," : "l,");
    if (wgmma.first_of)
        buf_text(&inputs,
                 dtype_bits(operand(wgmma.first_of, begin)->type->dtype) == 64 ? "l," : "r,");
    print_constraints(&constraints, wgmma.sums, wgmma.clears, arguments, wgmma.words, inputs.data);
    buf_free(&inputs);
    build_with_sums(gen, op, &text, &constraints, wgmma.clears, wgmma.sums, count, arguments);
    buf_free(&text);
    buf_free(&constraints);
}

void nvptx_dot_commit(Gen *gen)
{
    nvptx_asm(gen, gen->types.nothing, "wgmma.commit_group.sync.aligned;", "~{memory}", 0, NULL);
}

/* Nobody needs what its operands are. */
static bool is_bare(const Op *wait)
{
    for (int i = 0; i < wait->result_count; i++)
        if (!wgmma_ignores(&wait->results[i])) return false;
    return true;
}

void nvptx_wgmma_wait(Gen *gen, const Op *op)
{
    if (op->result_count && is_bare(op)) {
        for (int i = 0; i < op->result_count; i++)
            gen_define(gen, &op->results[i], LLVMGetUndef(gen_type(gen, op->results[i].type)));
        return;
    }
    LLVMValueRef *arguments = arena_new_array(gen->arena, LLVMValueRef, op->operand_count + 1);
    Buf text = {0}, constraints = {0};
    const int sums = pack_sums(gen, op, 0, arguments);
    buf_printf(&text, "wgmma.wait_group.sync.aligned %d;", (int)op_int(op, ATTR_count, 0));
    print_constraints(&constraints, sums, false, arguments, 0, "");
    build_with_sums(gen, op, &text, &constraints, false, sums, sums, arguments);
    buf_free(&text);
    buf_free(&constraints);
}
