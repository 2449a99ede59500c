/* llvm_approx.c: the GPU's quick instructions for f32, which are right to the PTX manual's bounds,
 * and what is made of them within two units in the last place.
 * On the emulator a function of its library answers within them. */
#include "codegen/llvm.h"

#include <string.h>

typedef struct Quick {
    const char *name, *ptx;
} Quick;

/* 2 ** k, k a whole number, times the instruction's power of what is left, from 0 to 1: $1 times
 * log2(e) / 252 and 1 / 252 is what keeps k from -126 to 126. */
#define EXP_BY_EX2(scale, rest)                                                                    \
    "{ .reg .f32 t, k, r; .reg .b32 e; fma.rn.sat.f32 t, $1, " scale                               \
    ", 0f3F000000; fma.rm.f32 t, t, 0f437C0000, 0f4B400001; add.f32 k, t, 0fCB40007F; "            \
    "neg.f32 k, k; " rest                                                                          \
    "ex2.approx.ftz.f32 r, r; mov.b32 e, t; shl.b32 e, e, 23; mov.b32 t, e; mul.f32 $0, r, t; }"

static const Quick quick[] = {
    [TILE_EMU_EX2] = {"ex2", "ex2.approx.ftz.f32 $0, $1;"},
    [TILE_EMU_LG2] = {"lg2", "lg2.approx.ftz.f32 $0, $1;"},
    [TILE_EMU_RCP] = {"rcp", "rcp.approx.ftz.f32 $0, $1;"},
    [TILE_EMU_SQRT] = {"sqrt", "sqrt.approx.ftz.f32 $0, $1;"},
    [TILE_EMU_RSQRT] = {"rsqrt", "rsqrt.approx.ftz.f32 $0, $1;"},
    [TILE_EMU_SIN] = {"sin", "sin.approx.ftz.f32 $0, $1;"},
    [TILE_EMU_COS] = {"cos", "cos.approx.ftz.f32 $0, $1;"},
    [TILE_EMU_TANH] = {"tanh", "tanh.approx.f32 $0, $1;"},
    [TILE_EMU_DIV] = {"div", "div.approx.ftz.f32 $0, $1, $2;"},
    [TILE_EMU_EXP] = {"exp",
                      EXP_BY_EX2(
                          "0f3BBB989E",
                          "fma.rn.f32 r, $1, 0f3FB8AA3B, k; fma.rn.f32 r, $1, 0f32A57060, r; ")},
    [TILE_EMU_EXP2] = {"exp2", EXP_BY_EX2("0f3B820821", "add.f32 r, $1, k; ")},
};
enum { QUICK_COUNT = sizeof quick / sizeof *quick };

static int quick_find(const char *name)
{
    for (int i = 0; i < QUICK_COUNT; i++)
        if (strcmp(quick[i].name, name) == 0) return i;
    ICE("approx: no function '%s'", name);
}

void emit_approx(Gen *gen, const Op *op)
{
    const int function = quick_find(op_attr(op, ATTR_function)->text);
    if (gen->machine->approximate == NULL) ICE("approx: not on the %s", gen->machine->name);
    LLVMValueRef a = gen_operand(gen, op, a);
    LLVMValueRef b = operand_given(op, b) != NULL ? gen_operand(gen, op, b) : a;
    gen_define_result(gen, op, gen->machine->approximate(gen, function, a, b));
}

/* Without effects, so that LLVM moves, joins and drops it. */
LLVMValueRef nvptx_approximate(Gen *gen, int function, LLVMValueRef a, LLVMValueRef b)
{
    const unsigned count = function == TILE_EMU_DIV ? 2 : 1;
    const char *text = quick[function].ptx, *constraints = count == 2 ? "=f,f,f" : "=f,f";
    LLVMTypeRef types[2] = {gen->types.f32, gen->types.f32};
    LLVMTypeRef type = LLVMFunctionType(gen->types.f32, types, count, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints),
                                         false, false, LLVMInlineAsmDialectATT, false);
    LLVMValueRef arguments[2] = {a, b};
    return LLVMBuildCall2(gen->builder, type, code, arguments, count, "");
}

LLVMValueRef emulator_approximate(Gen *gen, int function, LLVMValueRef a, LLVMValueRef b)
{
    static const char name[] = "tile_emu_approximate";
    LLVMTypeRef f32 = gen->types.f32, types[3] = {gen->types.i32, f32, f32};
    LLVMTypeRef type = LLVMFunctionType(f32, types, 3, false);
    LLVMValueRef callee = LLVMGetNamedFunction(gen->module, name);
    if (callee == NULL) {
        callee = LLVMAddFunction(gen->module, name, type);
        function_set_flag(callee, "nounwind");
    }
    LLVMValueRef arguments[3] = {gen_i32(gen, function), a, b};
    return LLVMBuildCall2(gen->builder, type, callee, arguments, 3, "");
}
