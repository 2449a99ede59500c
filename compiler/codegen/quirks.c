/* quirks.c: each workaround of quirks.h, where its case and its test are told. */
#include "codegen/quirks.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/Support.h>

/* ---- LLVM: time ---- */

enum { MANY_INSTRUCTIONS = 20000, MANY_BLOCKS = 1000, MANY_SUMS = 400 /* of one value */ };

/* How many instructions a function has, and to *blocks is added how many blocks. */
static size_t function_size(LLVMValueRef function, size_t *blocks)
{
    size_t count = 0;
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block != NULL; block = LLVMGetNextBasicBlock(block), ++*blocks)
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != NULL;
             at = LLVMGetNextInstruction(at))
            count++;
    return count;
}

static bool is_sum_of_two(LLVMValueRef value)
{
    return LLVMIsABinaryOperator(value) && LLVMGetInstructionOpcode(value) == LLVMAdd &&
           !LLVMIsConstant(LLVMGetOperand(value, 0)) && !LLVMIsConstant(LLVMGetOperand(value, 1));
}

static bool has_many_sums(LLVMValueRef value)
{
    size_t count = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use))
        count += is_sum_of_two(LLVMGetUser(use));
    return count > MANY_SUMS;
}

static bool adds_often(LLVMValueRef function)
{
    LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
    for (; block != NULL; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
            if (has_many_sums(at)) return true;
    for (LLVMValueRef at = LLVMGetFirstParam(function); at != NULL; at = LLVMGetNextParam(at))
        if (has_many_sums(at)) return true;
    return false;
}

bool quirk_is_large(LLVMModuleRef module)
{
    size_t count = 0, blocks = 0;
    bool sums = false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        count += function_size(f, &blocks);
        sums |= adds_often(f);
    }
    return sums || count > MANY_INSTRUCTIONS || blocks > MANY_BLOCKS;
}

/* Phis come first in a block, and all go along, as they are of those who come to it. */
static size_t move_instructions(LLVMBuilderRef builder, LLVMBasicBlockRef from, size_t least)
{
    size_t count = 0;
    LLVMValueRef instruction = LLVMGetFirstInstruction(from);
    for (; count < least || LLVMIsAPHINode(instruction);
         count++, instruction = LLVMGetFirstInstruction(from)) {
        LLVMInstructionRemoveFromParent(instruction);
        LLVMInsertIntoBuilder(builder, instruction);
    }
    return count;
}

/* Those who go to the one block go to the other. */
static void redirect(LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(from)), next;
    for (; use != NULL; use = next) {
        LLVMValueRef end = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        for (unsigned i = 0; LLVMIsATerminatorInst(end) && i < LLVMGetNumSuccessors(end); i++)
            if (LLVMGetSuccessor(end, i) == from) LLVMSetSuccessor(end, i, to);
    }
}

static size_t block_size(LLVMBasicBlockRef block)
{
    size_t count = 0;
    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at; at = LLVMGetNextInstruction(at))
        count++;
    return count;
}

/* What it begins with becomes blocks of its own, so that its end is still what phis know. */
static void cut_block(LLVMBuilderRef builder, LLVMBasicBlockRef block)
{
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(block)));
    for (size_t left = block_size(block); left > 2 * QUIRK_BLOCK;) {
        LLVMBasicBlockRef front = LLVMInsertBasicBlockInContext(context, block, "");
        LLVMPositionBuilderAtEnd(builder, front);
        left -= move_instructions(builder, block, QUIRK_BLOCK);
        redirect(block, front);
        LLVMBuildBr(builder, block);
    }
}

void quirk_cut_blocks(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function)) {
        LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
        for (; block != NULL; block = LLVMGetNextBasicBlock(block)) cut_block(builder, block);
    }
    LLVMDisposeBuilder(builder);
}

/* Passes that take the square of a function's blocks are most of the time from here on. */
enum { MANY_HOST_INSTRUCTIONS = 30000, MANY_HOST_BLOCKS = 5000 };

bool quirk_has_large_function(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function)) {
        size_t blocks = 0;
        if (function_size(function, &blocks) > MANY_HOST_INSTRUCTIONS || blocks > MANY_HOST_BLOCKS)
            return true;
    }
    return false;
}

/* ---- LLVM: code ---- */

void quirk_set_options(void)
{
    static const char *const options[] = {"tilec", "-nvptx-short-ptr", "-unroll-remainder"};
    LLVMParseCommandLineOptions(3, options, NULL);
}

LLVMValueRef quirk_shift_wide(Gen *gen, ShiftBuilder *build, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    LLVMValueRef amount = gen_intrinsic2(gen, "llvm.umin", b, gen_int(gen, type, 64));
    LLVMValueRef half = LLVMBuildLShr(gen->builder, amount, gen_int(gen, type, 1), "");
    LLVMValueRef rest = LLVMBuildSub(gen->builder, amount, half, "");
    return build(gen->builder, build(gen->builder, a, half, ""), rest, "");
}

static bool is_last_wait(LLVMValueRef at)
{
    size_t length = 0;
    if (LLVMIsACallInst(at) == NULL) return false;
    LLVMValueRef called = LLVMGetCalledValue(at);
    if (LLVMIsAInlineAsm(called) == NULL) return false;
    const char *text = LLVMGetInlineAsmAsmString(called, &length);
    static const char wait[] = "wgmma.wait_group.sync.aligned 0;";
    return length == sizeof wait - 1 && memcmp(text, wait, length) == 0;
}

static bool is_before(LLVMValueRef at, LLVMValueRef other)
{
    while (at != NULL && at != other) at = LLVMGetNextInstruction(at);
    return at != NULL;
}

static bool is_extreme(LLVMValueRef at)
{
    static const char *const names[] = {"llvm.smin", "llvm.smax", "llvm.umin", "llvm.umax"};
    if (LLVMIsACallInst(at) == NULL) return false;
    const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(at));
    for (size_t i = 0; id != 0 && i < sizeof names / sizeof *names; i++)
        if (id == LLVMLookupIntrinsicID(names[i], strlen(names[i]))) return true;
    return false;
}

/* Is it computed from values only, none of whose uses is at the wait or before it? */
static bool can_follow(LLVMValueRef at, LLVMValueRef wait)
{
    if (LLVMIsABinaryOperator(at) == NULL && LLVMIsACastInst(at) == NULL &&
        LLVMIsAGetElementPtrInst(at) == NULL && LLVMIsASelectInst(at) == NULL &&
        LLVMIsAICmpInst(at) == NULL && LLVMIsAFreezeInst(at) == NULL && !is_extreme(at))
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(at); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        const bool is_here = LLVMGetInstructionParent(user) == LLVMGetInstructionParent(at);
        if (is_here && LLVMIsAPHINode(user) == NULL && is_before(user, wait)) return false;
    }
    return true;
}

static void wait_first(LLVMBuilderRef builder, LLVMValueRef wait)
{
    LLVMValueRef next = LLVMGetNextInstruction(wait);
    for (LLVMValueRef at = LLVMGetPreviousInstruction(wait), before; at != NULL; at = before) {
        before = LLVMGetPreviousInstruction(at);
        if (!can_follow(at, wait)) continue;
        LLVMInstructionRemoveFromParent(at);
        LLVMPositionBuilderBefore(builder, next);
        LLVMInsertIntoBuilder(builder, at);
        next = at;
    }
}

void quirk_last_waits_first(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef at = LLVMGetFirstInstruction(b); at != NULL;
                 at = LLVMGetNextInstruction(at))
                if (is_last_wait(at)) wait_first(builder, at);
    LLVMDisposeBuilder(builder);
}

/* ---- ptxas ---- */

LLVMValueRef quirk_masked(Gen *gen, LLVMValueRef word, uint32_t mask, uint32_t flip)
{
    enum { AND_XOR = (0xf0 & 0xcc) ^ 0xaa };
    char text[64];
    snprintf(text, sizeof text, "lop3.b32 $0, $1, 0x%x, 0x%x, 0x%x;", (unsigned)mask,
             (unsigned)flip, AND_XOR);
    return gen_asm(gen, gen->types.i32, text, "=r,r", false, 1, &word);
}

typedef struct Shares {
    int fma, all;
} Shares;

static void count_fma(Op *op, void *context)
{
    Shares *shares = context;
    shares->all++;
    shares->fma += op->code == OP_fma;
}

bool quirk_is_in_order(Kernel *kernel)
{
    Shares shares = {0};
    kernel_visit(kernel, count_fma, &shares);
    return 2 * shares.fma > shares.all;
}

/* A line is an instruction, in LLVM's PTX and in ours; a branch is a block's end. */
int quirk_predicated(const char *ptx)
{
    int count = 0;
    for (const char *line = ptx; line != NULL; line = strchr(line, '\n')) {
        line += strspn(line, "\n\t ");
        const char *code = *line == '@' ? strchr(line, ' ') : NULL;
        if (code == NULL) continue;
        code += strspn(code, "\t ");
        count += strncmp(code, "bra", 3) != 0;
    }
    return count;
}

static bool is_within(uint64_t offset, uint64_t bytes, size_t size)
{
    return offset <= size && bytes <= size - offset;
}

/* All that its headers name is there. What is no ELF file is for others to look at. */
bool quirk_is_whole(const char *cubin, size_t size)
{
    Elf64_Ehdr header;
    if (size < SELFMAG) return false;
    if (memcmp(cubin, ELFMAG, SELFMAG) != 0) return true;
    if (size < sizeof header) return false;
    memcpy(&header, cubin, sizeof header);
    bool whole = is_within(header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr), size) &&
                 is_within(header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr), size);
    for (int i = 0; whole && i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, cubin + header.e_shoff + (size_t)i * sizeof section, sizeof section);
        whole =
            section.sh_type == SHT_NOBITS || is_within(section.sh_offset, section.sh_size, size);
    }
    return whole;
}
