/* nvptx.c: the GPU: inline PTX, special registers, threads together, and the table of all that it
 * does. */
#include "codegen/llvm.h"
#include "ir/group.h"

#include <stdio.h>
#include <string.h>

/* ---- inline PTX ---- */

LLVMValueRef nvptx_asm(Gen *gen, LLVMTypeRef result, const char *text, const char *constraints,
                       int count, LLVMValueRef *arguments)
{
    return gen_asm(gen, result, text, constraints, true, count, arguments);
}

/* ---- special registers ---- */

static LLVMValueRef special_register(Gen *gen, const char *name, uint64_t below)
{
    LLVMValueRef call = gen_intrinsic(gen, name, 0, NULL, 0, NULL);
    const uint64_t low[1] = {0}, high[1] = {below};
    unsigned range = LLVMGetEnumAttributeKindForName("range", strlen("range"));
    LLVMAttributeRef attribute =
        LLVMCreateConstantRangeAttribute(gen->context, range, 32, low, high);
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeReturnIndex, attribute);
    return call;
}

LLVMValueRef nvptx_index(Gen *gen, OpCode code, int dim)
{
    static const char *const block[] = {"llvm.nvvm.read.ptx.sreg.ctaid.x",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.y",
                                        "llvm.nvvm.read.ptx.sreg.ctaid.z"};
    static const char *const grid[] = {"llvm.nvvm.read.ptx.sreg.nctaid.x",
                                       "llvm.nvvm.read.ptx.sreg.nctaid.y",
                                       "llvm.nvvm.read.ptx.sreg.nctaid.z"};
    CHECK(dim >= 0 && dim < 3);
    if (code == OP_block_idx)
        return special_register(gen, block[dim], dim == 0 ? 0x7fffffff : 0xffff);
    if (code == OP_grid_dim)
        return special_register(gen, grid[dim], dim == 0 ? 0x80000000u : 0x10000);
    const Op *launch = op_enclosing(gen->op, OP_launch);
    CHECK(launch != NULL);
    uint64_t threads = (uint64_t)launch_threads(launch).count;
    return special_register(gen, "llvm.nvvm.read.ptx.sreg.tid.x", threads);
}

/* ---- threads together ---- */

void nvptx_warp_sync(Gen *gen)
{
    LLVMValueRef everyone = gen_i32(gen, -1);
    gen_intrinsic(gen, "llvm.nvvm.bar.warp.sync", 0, NULL, 1, &everyone);
}

/* A block of one warp needs no more than the warp's own. */
void nvptx_barrier(Gen *gen, LLVMValueRef index, int count)
{
    LLVMValueRef arguments[2] = {index, gen_i32(gen, count)};
    if (count > 0)
        gen_intrinsic(gen, "llvm.nvvm.barrier.cta.sync.aligned.count", 0, NULL, 2, arguments);
    else if (launch_warps(op_enclosing(gen->op, OP_launch)) == 1)
        nvptx_warp_sync(gen);
    else
        gen_intrinsic(gen, "llvm.nvvm.barrier.cta.sync.aligned.all", 0, NULL, 1, arguments);
}

LLVMValueRef nvptx_shuffle(Gen *gen, const char *mode, LLVMValueRef word, LLVMValueRef lane)
{
    static const char *const modes[][2] = {{"idx", "llvm.nvvm.shfl.sync.idx.i32"},
                                           {"up", "llvm.nvvm.shfl.sync.up.i32"},
                                           {"down", "llvm.nvvm.shfl.sync.down.i32"},
                                           {"xor", "llvm.nvvm.shfl.sync.bfly.i32"}};
    int clamp = strcmp(mode, "up") == 0 ? 0 : 31;
    LLVMValueRef arguments[4] = {gen_i32(gen, -1), word, lane, gen_i32(gen, clamp)};
    for (int i = 0; i < 4; i++)
        if (strcmp(modes[i][0], mode) == 0)
            return gen_intrinsic(gen, modes[i][1], 0, NULL, 4, arguments);
    ICE("shuffle: no mode '%s'", mode);
}

LLVMValueRef nvptx_redux(Gen *gen, const char *mode, bool is_signed, LLVMValueRef word)
{
    const bool has_order = strcmp(mode, "min") == 0 || strcmp(mode, "max") == 0;
    const char *name = arena_printf(gen->arena, "llvm.nvvm.redux.sync.%s%s",
                                    has_order && !is_signed ? "u" : "", mode);
    LLVMValueRef arguments[2] = {word, gen_i32(gen, -1)};
    return gen_intrinsic(gen, name, 0, NULL, 2, arguments);
}

/* Older machines have no instruction for it. */
LLVMValueRef nvptx_elect(Gen *gen)
{
    if (!target_has(gen->target, HAS_ELECT)) return gen_is_first_lane(gen);
    LLVMValueRef all = gen_i32(gen, -1);
    LLVMValueRef both = gen_intrinsic(gen, "llvm.nvvm.elect.sync", 0, NULL, 1, &all);
    return LLVMBuildExtractValue(gen->builder, both, 1, "");
}

LLVMValueRef nvptx_vote(Gen *gen, LLVMValueRef condition)
{
    LLVMValueRef arguments[2] = {gen_i32(gen, -1), condition};
    return gen_intrinsic(gen, "llvm.nvvm.vote.ballot.sync", 0, NULL, 2, arguments);
}

void nvptx_texture(Gen *gen, LLVMValueRef texture, LLVMValueRef level, int dims,
                   const LLVMValueRef *coordinates, LLVMValueRef *channels)
{
    static const char *const names[] = {"llvm.nvvm.tex.unified.1d.level.v4f32.f32",
                                        "llvm.nvvm.tex.unified.2d.level.v4f32.f32",
                                        "llvm.nvvm.tex.unified.3d.level.v4f32.f32"};
    LLVMValueRef arguments[5] = {texture};
    for (int i = 0; i < dims; i++) arguments[1 + i] = coordinates[i];
    arguments[1 + dims] = level;
    LLVMValueRef all = gen_intrinsic(gen, names[dims - 1], 0, NULL, dims + 2, arguments);
    for (unsigned i = 0; i < 4; i++) channels[i] = LLVMBuildExtractValue(gen->builder, all, i, "");
}

const Machine nvptx_machine = {
    .emit = gen_op,
    .has_ptx = true,
    .name = "nvptx",
    .has_f16 = true,
    .has_bf16 = true,
    .has_fma = true,
    .spaces = {[SPACE_GLOBAL] = SPACE_OF_GLOBAL,
               [SPACE_SHARED] = SPACE_OF_SHARED,
               [SPACE_CLUSTER] = SPACE_OF_CLUSTER},
    .index = nvptx_index,
    .shared = nvptx_shared,
    .load = nvptx_load,
    .store = nvptx_store,
    .store_bits = nvptx_store_bits,
    .atomic = nvptx_atomic,
    .red = nvptx_red,
    .print = nvptx_print,
    .stop = nvptx_stop,
    .copy_async = nvptx_copy_async,
    .cluster_rank = nvptx_cluster_rank,
    .cluster_address = nvptx_cluster_address,
    .cluster_arrive = nvptx_cluster_arrive,
    .cluster_wait = nvptx_cluster_wait,
    .grid_sync = nvptx_grid_sync,
    .launch_wait = nvptx_launch_wait,
    .copy_commit = nvptx_copy_commit,
    .copy_arrive = nvptx_copy_arrive,
    .mbarrier_init = nvptx_mbarrier_init,
    .mbarrier_arrive = nvptx_mbarrier_arrive,
    .mbarrier_expect = nvptx_mbarrier_expect,
    .mbarrier_complete = nvptx_mbarrier_complete,
    .mbarrier_phase = nvptx_mbarrier_phase,
    .mbarrier_wait = nvptx_mbarrier_wait,
    .tma_load = nvptx_tma_load,
    .tma_store = nvptx_tma_store,
    .tma_store_commit = nvptx_tma_store_commit,
    .tma_store_wait = nvptx_tma_store_wait,
    .copy_wait = nvptx_copy_wait,
    .barrier = nvptx_barrier,
    .warp_sync = nvptx_warp_sync,
    .shuffle = nvptx_shuffle,
    .redux = nvptx_redux,
    .elect = nvptx_elect,
    .vote = nvptx_vote,
    .texture = nvptx_texture,
    .setmaxnreg = nvptx_setmaxnreg,
    .ldmatrix = nvptx_ldmatrix,
    .stmatrix = nvptx_stmatrix,
    .mma = nvptx_mma,
    .wgmma = nvptx_wgmma,
    .dot_commit = nvptx_dot_commit,
    .wgmma_wait = nvptx_wgmma_wait,
    .fence_async = nvptx_fence_async,
    .approximate = nvptx_approximate,
};
