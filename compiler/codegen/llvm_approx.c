/* llvm_approx.c: the GPU's quick instructions for f32, which are right to the PTX manual's bounds.
 * On the emulator a function of its library answers within them. */
#include "codegen/llvm.h"

#include <string.h>

typedef struct Quick {
    const char *name, *ptx;
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
