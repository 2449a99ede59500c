/* recompute.c: what one instruction makes of one number is made anew for later uses.
 *
 * LLVM computes an index, and whether it is within its bounds, once: what is loaded before a loop
 * or a barrier and what is stored behind it share that, and a thread keeps a number for each of its
 * elements meanwhile. ptxas keeps them, too, also where that leaves no registers for the rest; so
 * this is for a kernel that spills. */
#include "codegen/llvm.h"

#include <stdio.h>
#include <string.h>

enum {
    FAR = 64,  /* instructions between a number's uses: those of a few elements */
    STEPS = 3, /* of such instructions behind each other, at most */
};

typedef struct Made {
    LLVMValueRef value; /* what has the number here */
    LLVMBasicBlockRef block;
    int used; /* the number of the last instruction that uses it */
} Made;

typedef struct Recompute {
    Arena *arena;
    LLVMBuilderRef builder;
    Map made; /* Made, by the instruction that is there anyway */
    int number;
} Recompute;

static bool is_cheap(LLVMOpcode code)
{
    switch (code) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
    case LLVMICmp:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMGetElementPtr: return true;
    default: return false;
    }
}

/* The only operand that is neither a constant nor the kernel's, which takes no register, or -1. */
static int only_operand(LLVMValueRef instruction)
{
    int only = -1;
    for (int i = 0; i < LLVMGetNumOperands(instruction); i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        if (LLVMIsConstant(operand) || LLVMIsAArgument(operand)) continue;
        if (only >= 0) return -1;
        only = i;
    }
    return only;
}

/* A register of PTX that is one number; LLVM calls it by a letter. */
static const char *register_of(LLVMTypeRef type)
{
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    unsigned bits = kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
    if (kind == LLVMPointerTypeKind) {
        const unsigned space = LLVMGetPointerAddressSpace(type);
        bits = space == SPACE_OF_SHARED ? 32 : space <= SPACE_OF_GLOBAL ? 64 : 0;
    }
    return bits == 16 ? "h" : bits == 32 ? "r" : bits == 64 ? "l" : NULL;
}

static bool is_remade(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) && is_cheap(LLVMGetInstructionOpcode(value)) &&
           only_operand(value) >= 0 &&
           register_of(LLVMTypeOf(LLVMGetOperand(value, (unsigned)only_operand(value))));
}

/* The same number, of which LLVM does not know that. */
static LLVMValueRef unknown(const Recompute *recompute, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    const char letter = *register_of(type);
    char text[32], constraints[16];
    snprintf(text, sizeof text, "mov.b%d $0, $1;", letter == 'h' ? 16 : letter == 'r' ? 32 : 64);
    snprintf(constraints, sizeof constraints, "=%c,%c", letter, letter);
    LLVMTypeRef function = LLVMFunctionType(type, &type, 1, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, text, strlen(text), constraints, strlen(constraints), false,
                         false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(recompute->builder, function, code, &value, 1, "");
}

static Made *made_of(Recompute *recompute, LLVMValueRef value)
{
    Made *made = map_get(&recompute->made, value);
    if (made == NULL) {
        made = arena_new_of(recompute->arena, Made);
        *made = (Made){value, LLVMGetInstructionParent(value), recompute->number};
        map_set(recompute->arena, &recompute->made, value, made);
    }
    return made;
}

static bool is_near(const Recompute *recompute, const Made *made, LLVMBasicBlockRef block)
{
    return made->block == block && recompute->number - made->used <= FAR;
}

/* The number before the user: as it is there by now, or made anew. */
static LLVMValueRef number_for(Recompute *recompute, LLVMValueRef value, LLVMValueRef user,
                               int steps)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(user);
    if (!is_remade(value) || steps == 0) return value;
    Made *made = made_of(recompute, value);
    if (!is_near(recompute, made, block)) {
        const unsigned at = (unsigned)only_operand(value);
        LLVMValueRef of = LLVMGetOperand(value, at);
        LLVMValueRef now = number_for(recompute, of, user, steps - 1);
        LLVMPositionBuilderBefore(recompute->builder, user);
        if (now == of) now = unknown(recompute, of);
        LLVMValueRef again = LLVMInstructionClone(value);
        LLVMSetOperand(again, at, now);
        LLVMInsertIntoBuilder(recompute->builder, again);
        *made = (Made){again, block, 0};
    }
    made->used = recompute->number;
    return made->value;
}

static void recompute_operands(Recompute *recompute, LLVMValueRef user)
{
    if (LLVMIsAPHINode(user)) return;
    for (int i = 0; i < LLVMGetNumOperands(user); i++) {
        LLVMValueRef value = LLVMGetOperand(user, (unsigned)i);
        LLVMValueRef number = number_for(recompute, value, user, STEPS);
        if (number != value) LLVMSetOperand(user, (unsigned)i, number);
    }
}

void module_recompute(Arena *arena, LLVMModuleRef module)
{
    Recompute recompute = {arena, LLVMCreateBuilderInContext(LLVMGetModuleContext(module)), {0}, 0};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef at = LLVMGetFirstInstruction(b); at != NULL;
                 at = LLVMGetNextInstruction(at)) {
                recompute.number++;
                if (is_remade(at)) made_of(&recompute, at);
                recompute_operands(&recompute, at);
            }
    LLVMDisposeBuilder(recompute.builder);
}
