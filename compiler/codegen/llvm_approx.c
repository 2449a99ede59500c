/* llvm_approx.c: the GPU's quick instructions for f32, which are right to the PTX manual's bounds,
 * and what is made of them within two units in the last place.
 * On the emulator a function of its library answers within them. */
#include "codegen/llvm.h"

#include <string.h>

typedef struct Quick {
    const char *name, *ptx; /* NULL: it takes several instructions */
} Quick;

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
    [TILE_EMU_EXP] = {"exp", NULL},
    [TILE_EMU_EXP2] = {"exp2", NULL},
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

/* Without effects, so that LLVM joins and drops them, but in assembly, so that it leaves them where
 * they are: of intrinsics it moved a norm's sums and their root behind the loads of what is scaled,
 * where the sums' parts were alive with all that is loaded. */
static LLVMValueRef call_quick(Gen *gen, int function, LLVMValueRef a, LLVMValueRef b)
{
    const bool is_binary = function == TILE_EMU_DIV;
    return gen_asm(gen, gen->types.f32, quick[function].ptx, is_binary ? "=f,f,f" : "=f,f", false,
                   is_binary ? 2 : 1, (LLVMValueRef[]){a, b});
}

static LLVMValueRef fused(Gen *gen, const char *intrinsic, LLVMValueRef a, LLVMValueRef b,
                          LLVMValueRef c)
{
    return gen_intrinsic(gen, intrinsic, 0, NULL, 3, (LLVMValueRef[]){a, b, c});
}

static LLVMValueRef single(Gen *gen, double value)
{
    return LLVMConstReal(gen->types.f32, value);
}

/* 2 ** k, k a whole number from -126 to 126, times the instruction's power of what is left, from 0
 * to 1: `scale` is log2(e) / 252 or 1 / 252, `whole` is k and 0x1.8p+23 + 127. */
static LLVMValueRef power_of_two(Gen *gen, bool natural, LLVMValueRef x)
{
    LLVMBuilderRef at = gen->builder;
    const double scale = natural ? 0x1.77313cp-8 : 0x1.041042p-8;
    LLVMValueRef share =
        fused(gen, "llvm.nvvm.fma.rn.sat.f", x, single(gen, scale), single(gen, 0.5));
    LLVMValueRef whole =
        fused(gen, "llvm.nvvm.fma.rm.f", share, single(gen, 252.0), single(gen, 0x1.800002p+23));
    LLVMValueRef k = LLVMBuildFAdd(at, whole, single(gen, -0x1.8000fep+23), "");
    LLVMValueRef rest = LLVMBuildFNeg(at, k, "");
    if (natural) {
        rest = fused(gen, "llvm.nvvm.fma.rn.f", x, single(gen, 0x1.715476p+0), rest);
        rest = fused(gen, "llvm.nvvm.fma.rn.f", x, single(gen, 0x1.4ae0cp-26), rest);
    } else {
        rest = LLVMBuildFAdd(at, x, rest, "");
    }
    LLVMValueRef bits =
        LLVMBuildShl(at, gen_bitcast(gen, whole, gen->types.i32), gen_i32(gen, 23), "");
    return LLVMBuildFMul(at, call_quick(gen, TILE_EMU_EX2, rest, NULL),
                         gen_bitcast(gen, bits, gen->types.f32), "");
}

LLVMValueRef nvptx_approximate(Gen *gen, int function, LLVMValueRef a, LLVMValueRef b)
{
    if (function == TILE_EMU_EXP || function == TILE_EMU_EXP2)
        return power_of_two(gen, function == TILE_EMU_EXP, a);
    return call_quick(gen, function, a, b);
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
