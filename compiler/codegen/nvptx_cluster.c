/* nvptx_cluster.c: blocks together: clusters, and a launch whose blocks meet. */
#include "codegen/llvm.h"

LLVMValueRef nvptx_cluster_rank(Gen *gen)
{
    return gen_intrinsic(gen, "llvm.nvvm.read.ptx.sreg.cluster.ctarank", 0, NULL, 0, NULL);
}

LLVMValueRef nvptx_cluster_address(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef rank)
{
    (void)op;
    LLVMValueRef arguments[2] = {pointer, rank};
    return gen_intrinsic(gen, "llvm.nvvm.mapa.shared.cluster", 0, NULL, 2, arguments);
}

/* A release waits for all that the thread wrote to be seen by the GPU. */
void nvptx_cluster_arrive(Gen *gen, const Op *op)
{
    const bool relaxed = op_attr(op, ATTR_relaxed) || op_attr(op, ATTR_made);
    nvptx_asm(gen, gen->types.nothing,
              relaxed ? "barrier.cluster.arrive.relaxed.aligned;"
                      : "barrier.cluster.arrive.release.aligned;",
              "~{memory}", 0, NULL);
}

void nvptx_cluster_wait(Gen *gen)
{
    nvptx_asm(gen, gen->types.nothing, "barrier.cluster.wait.acquire.aligned;", "~{memory}", 0,
              NULL);
}

/* A launch that was not let begin early has nothing to wait for. */
void nvptx_launch_wait(Gen *gen, LLVMValueRef next)
{
    if (!LLVMIsAConstantInt(next))
        nvptx_asm(gen, gen->types.nothing,
                  "griddepcontrol.wait;\n\t@$0 griddepcontrol.launch_dependents;", "b,~{memory}", 1,
                  &next);
    else
        nvptx_asm(gen, gen->types.nothing,
                  LLVMConstIntGetZExtValue(next)
                      ? "griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;"
                      : "griddepcontrol.wait;",
                  "~{memory}", 0, NULL);
}

/* One thread of each block speaks for it. The first block adds what makes the highest bit change
 * with the last arrival, so the count goes on from where it is. */
void nvptx_grid_sync(Gen *gen, LLVMValueRef count)
{
    static const char text[] = "{\n\t.reg .pred speaks, zero, waits;\n\t"
                               ".reg .b32 id, size, all, add, old, now;\n\t"
                               "bar.sync 0;\n\t"
                               "mov.u32 id, %tid.x;\n\t"
                               "setp.eq.u32 speaks, id, 0;\n\t"
                               "mov.u32 all, %nctaid.x;\n\t"
                               "mov.u32 size, %nctaid.y;\n\t"
                               "mul.lo.u32 all, all, size;\n\t"
                               "mov.u32 size, %nctaid.z;\n\t"
                               "mul.lo.u32 all, all, size;\n\t"
                               "sub.u32 all, 0x80000001, all;\n\t"
                               "mov.u32 id, %ctaid.x;\n\t"
                               "mov.u32 size, %ctaid.y;\n\t"
                               "or.b32 id, id, size;\n\t"
                               "mov.u32 size, %ctaid.z;\n\t"
                               "or.b32 id, id, size;\n\t"
                               "setp.eq.u32 zero, id, 0;\n\t"
                               "selp.u32 add, all, 1, zero;\n\t"
                               "@!speaks bra met;\n\t"
                               "atom.acq_rel.gpu.global.add.u32 old, [$0], add;\n"
                               "again:\n\t"
                               "ld.acquire.gpu.global.u32 now, [$0];\n\t"
                               "xor.b32 now, now, old;\n\t"
                               "setp.ge.s32 waits, now, 0;\n\t"
                               "@waits bra again;\n"
                               "met:\n\t"
                               "bar.sync 0;\n\t}";
    nvptx_asm(gen, gen->types.nothing, text, "l,~{memory}", 1, &count);
}
