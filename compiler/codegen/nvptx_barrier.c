/* nvptx_barrier.c: mbarriers, copies by TMA, which arrive at them, and what blocks of a cluster or
 * of a grid wait by, as inline PTX. What is older than Hopper has no window of a cluster to name,
 * gives the phase's state to a register, and can only test. */
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

/* The block's own threads are whom it is for if nothing is said. */
static const char *order_suffix(MemoryOrder order)
{
    return order.scope == TILE_EMU_CTA       ? ""
           : order.kinds == TILE_EMU_RELEASE ? ".release.cluster"
                                             : ".acquire.cluster";
}

void nvptx_mbarrier_arrive(Gen *gen, const Op *op, LLVMValueRef barrier, LLVMValueRef active)
{
    const Attr *bytes = op_attr(op, ATTR_bytes);
    char text[96];
    if (is_remote(op) && bytes)
        snprintf(text, sizeof text,
                 "@$1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [$0], %d;",
                 (int)bytes->integer);
    else if (is_remote(op))
        snprintf(text, sizeof text, "@$1 mbarrier.arrive%s.shared::cluster.b64 _, [$0];",
                 order_suffix(arrival_order(op)));
    else if (bytes) /* on Hopper alone */
        snprintf(text, sizeof text, "@$1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], %d;",
                 (int)bytes->integer);
    else
        snprintf(text, sizeof text, "%s",
                 is_new(gen) ? "@$1 mbarrier.arrive.shared::cta.b64 _, [$0];"
                             : "{\n\t.reg .b64 state;\n\t"
                               "@$1 mbarrier.arrive.shared.b64 state, [$0];\n\t}");
    barrier_asm(gen, text, "r,b,~{memory}", barrier, active);
}

static void barrier_bytes(Gen *gen, const Op *op, const char *text)
{
    LLVMValueRef arguments[3];
    for (int i = 0; i < 3; i++) arguments[i] = gen_operand_at(gen, op, i);
    nvptx_asm(gen, gen->types.nothing, text, "r,r,b,~{memory}", 3, arguments);
}

/* These are on Hopper alone. */
void nvptx_mbarrier_expect(Gen *gen, const Op *op)
{
    barrier_bytes(gen, op,
                  is_remote(op)
                      ? "@$2 mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [$0], $1;"
                      : "@$2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [$0], $1;");
}

/* There is no release but by a fence. */
void nvptx_mbarrier_complete(Gen *gen, const Op *op)
{
    const char *scope = memory_scope_name(arrival_order(op));
    char text[128];
    snprintf(text, sizeof text,
             "fence.acq_rel.%s;\n\t"
             "@$2 mbarrier.complete_tx.relaxed.%s.shared::%s.b64 [$0], $1;",
             scope, scope, is_remote(op) ? "cluster" : "cta");
    barrier_bytes(gen, op, text);
}

void nvptx_copy_arrive(Gen *gen, const Op *op, LLVMValueRef barrier)
{
    char text[80];
    snprintf(text, sizeof text, "cp.async.mbarrier.arrive%s.%s.b64 [$0];",
             op_int(op, ATTR_extra, 0) ? "" : ".noinc", space(gen));
    barrier_asm(gen, text, "r,~{memory}", barrier, NULL);
}

/* The phase before the one in flight is complete: if that has parity 0, this one has 1. */
LLVMValueRef nvptx_mbarrier_phase(Gen *gen, const Op *op, LLVMValueRef barrier)
{
    char text[128];
    (void)op;
    snprintf(text, sizeof text,
             "{\n\t.reg .pred odd;\n\t"
             "mbarrier.test_wait.parity.%s.b64 odd, [$1], 0;\n\t"
             "selp.b32 $0, 1, 0, odd;\n\t}",
             space(gen));
    return nvptx_asm(gen, gen->types.i32, text, "=r,r,~{memory}", 1, &barrier);
}

/* try_wait gives up after a time that the machine chooses. */
void nvptx_mbarrier_wait(Gen *gen, const Op *op)
{
    char text[192];
    snprintf(text, sizeof text,
             "{\n\t.reg .pred done;\nagain:\n\t"
             "mbarrier.%s_wait.parity%s.%s.b64 done, [$0], $1;\n\t"
             "@!done bra again;\n\t}",
             is_new(gen) ? "try" : "test", order_suffix(wait_order(op)), space(gen));
    barrier_asm(gen, text, "r,r,~{memory}", gen_operand(gen, op, barrier),
                gen_operand(gen, op, parity));
}

/* ---- TMA ---- */

/* "{$4, $5}" and "r,r,". */
static void list_coordinates(Buf *text, Buf *constraints, int first, int end)
{
    buf_char(text, '{');
    for (int i = first; i < end; i++) {
        buf_printf(text, "%s$%d", i > first ? ", " : "", i);
        buf_text(constraints, "r,");
    }
    buf_char(text, '}');
}

static void build_tensor(Gen *gen, const Op *op, Buf *text, Buf *constraints)
{
    LLVMValueRef arguments[16];
    for (int i = 0; i < op->operand_count; i++) arguments[i] = gen_operand_at(gen, op, i);
    buf_text(constraints, "~{memory}");
    nvptx_asm(gen, gen->types.nothing, text->data, constraints->data, op->operand_count, arguments);
    buf_free(text);
    buf_free(constraints);
}

void nvptx_tma_load(Gen *gen, const Op *op)
{
    enum { FIRST = 4 /* coordinate */ };
    Buf text = {0}, constraints = {0};
    const Attr *evict = op_attr(op, ATTR_evict);
    const int cast = op_attr(op, ATTR_multicast) != NULL, end = op->operand_count - cast;
    buf_text(&constraints, "l,r,r,b,");
    buf_text(&text, cast || evict ? "{\n\t" : "");
    if (cast) buf_printf(&text, ".reg .b16 blocks;\n\tcvt.u16.u32 blocks, $%d;\n\t", end);
    if (evict) nvptx_policy(&text, evict->text);
    buf_printf(&text,
               "@$3 cp.async.bulk.tensor.%dd.shared::cluster.global.tile.mbarrier::"
               "complete_tx::bytes%s%s [$1], [$0, ",
               end - FIRST, cast ? ".multicast::cluster" : "", evict ? ".L2::cache_hint" : "");
    list_coordinates(&text, &constraints, FIRST, end);
    buf_printf(&text, "], [$2]%s%s;%s", cast ? ", blocks" : "", evict ? ", policy" : "",
               cast || evict ? "\n\t}" : "");
    buf_text(&constraints, cast ? "r," : "");
    build_tensor(gen, op, &text, &constraints);
}

void nvptx_tma_store(Gen *gen, const Op *op)
{
    enum { FIRST = 3 };
    Buf text = {0}, constraints = {0};
    buf_text(&constraints, "l,r,b,");
    const bool adds = op_attr(op, ATTR_mode) != NULL;
    buf_printf(&text, "@$2 cp%s.async.bulk.tensor.%dd.global.shared::cta%s.tile.bulk_group [$0, ",
               adds ? ".reduce" : "", op->operand_count - FIRST, adds ? ".add" : "");
    list_coordinates(&text, &constraints, FIRST, op->operand_count);
    buf_text(&text, "], [$1];");
    build_tensor(gen, op, &text, &constraints);
}

void nvptx_tma_store_commit(Gen *gen)
{
    nvptx_asm(gen, gen->types.nothing, "cp.async.bulk.commit_group;", "~{memory}", 0, NULL);
}

void nvptx_tma_store_wait(Gen *gen, const Op *op, int groups)
{
    char text[64];
    snprintf(text, sizeof text, "cp.async.bulk.wait_group%s %d;",
             op_attr(op, ATTR_written) ? "" : ".read", groups);
    nvptx_asm(gen, gen->types.nothing, text, "~{memory}", 0, NULL);
}

/* ---- blocks together: clusters, and a launch whose blocks meet ---- */

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
