/* nvptx_barrier.c: mbarriers, as inline PTX. */
#include "codegen/llvm.h"

#include <stdio.h>

static void barrier_asm(Gen *gen, const char *text, const char *constraints, LLVMValueRef barrier,
                        LLVMValueRef number)
{
    LLVMValueRef arguments[2] = {barrier, number};
    nvptx_asm(gen, gen->types.nothing, text, constraints, number ? 2 : 1, arguments);
}

void nvptx_mbarrier_init(Gen *gen, const Op *op, LLVMValueRef barrier, int arrivals,
                         LLVMValueRef active)
{
    char text[64];
    (void)op;
    snprintf(text, sizeof text, "@$1 mbarrier.init.shared::cta.b64 [$0], %d;", arrivals);
    barrier_asm(gen, text, "r,b,~{memory}", barrier, active);
}

void nvptx_mbarrier_arrive(Gen *gen, const Op *op, LLVMValueRef barrier, LLVMValueRef active)
{
    (void)op;
    barrier_asm(gen, "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];", "r,b,~{memory}", barrier,
                active);
}

void nvptx_copy_arrive(Gen *gen, LLVMValueRef barrier)
{
    barrier_asm(gen, "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [$0];", "r,~{memory}", barrier,
                NULL);
}

/* try_wait gives up after a time that the machine chooses. */
void nvptx_mbarrier_wait(Gen *gen, const Op *op)
{
    barrier_asm(gen,
                "{\n\t.reg .pred done;\nagain:\n\t"
                "mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;\n\t"
                "@!done bra again;\n\t}",
                "r,r,~{memory}", gen_operand(gen, op, 0), gen_operand(gen, op, 1));
}
