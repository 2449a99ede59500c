/* nvptx_barrier.c: mbarriers, as inline PTX. What is older than Hopper has no window of a cluster
 * to name, gives the phase's state to a register, and can only test. */
#include "codegen/llvm.h"

#include <stdio.h>

static bool is_new(const Gen *gen)
{
    return target_has(gen->target, HAS_CLUSTER);
}

static const char *space(const Gen *gen)
{
    return is_new(gen) ? "shared::cta" : "shared";
}

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
    snprintf(text, sizeof text, "@$1 mbarrier.init.%s.b64 [$0], %d;", space(gen), arrivals);
    barrier_asm(gen, text, "r,b,~{memory}", barrier, active);
}

void nvptx_mbarrier_arrive(Gen *gen, const Op *op, LLVMValueRef barrier, LLVMValueRef active)
{
    (void)op;
    barrier_asm(gen,
                is_new(gen) ? "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
                            : "{\n\t.reg .b64 state;\n\t"
                              "@$1 mbarrier.arrive.shared.b64 state, [$0];\n\t}",
                "r,b,~{memory}", barrier, active);
}

void nvptx_copy_arrive(Gen *gen, const Op *op, LLVMValueRef barrier)
{
    char text[80];
    snprintf(text, sizeof text, "cp.async.mbarrier.arrive%s.%s.b64 [$0];",
             op_int(op, ATTR_extra, 0) ? "" : ".noinc", space(gen));
    barrier_asm(gen, text, "r,~{memory}", barrier, NULL);
}

/* try_wait gives up after a time that the machine chooses. */
void nvptx_mbarrier_wait(Gen *gen, const Op *op)
{
    char text[192];
    snprintf(text, sizeof text,
             "{\n\t.reg .pred done;\nagain:\n\t"
             "mbarrier.%s_wait.parity.%s.b64 done, [$0], $1;\n\t"
             "@!done bra again;\n\t}",
             is_new(gen) ? "try" : "test", space(gen));
    barrier_asm(gen, text, "r,r,~{memory}", gen_operand(gen, op, 0), gen_operand(gen, op, 1));
}
