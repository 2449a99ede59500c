/* emulator_barrier.c: the emulator: mbarriers, copies by TMA, which arrive at them, and
 * other blocks' memory: the runtime does it. */
#include "codegen/emulator.h"

/* ---- mbarriers ---- */

static LLVMValueRef call_ordering(Gen *gen, const char *name, LLVMTypeRef result,
                                  LLVMValueRef barrier, LLVMValueRef number, MemoryOrder order,
                                  int64_t site)
{
    LLVMValueRef arguments[] = {barrier, number, gen_i32(gen, order.scope), gen_i32(gen, site)};
    return emu_call(gen, name, result, 4, arguments);
}

static LLVMValueRef call_barrier(Gen *gen, const char *name, LLVMTypeRef result,
                                 LLVMValueRef barrier, LLVMValueRef number, int64_t site)
{
    LLVMValueRef arguments[] = {barrier, number, gen_i32(gen, site)};
    return emu_call(gen, name, result, 3, arguments);
}

void emulator_mbarrier_init(Gen *gen, const Op *op, LLVMValueRef barrier, int arrivals,
                            LLVMValueRef active)
{
    LLVMValueRef count =
        LLVMBuildSelect(gen->builder, active, gen_i32(gen, arrivals), gen_i32(gen, 0), "");
    call_barrier(gen, "tile_emu_mbarrier_init", gen->types.nothing, barrier, count,
                 emu_site(gen, op));
}

void emulator_mbarrier_arrive(Gen *gen, const Op *op, LLVMValueRef barrier, LLVMValueRef active)
{
    LLVMValueRef zero = gen_i32(gen, 0), bytes = gen_i32(gen, op_int(op, ATTR_bytes, 0));
    if (op_attr(op, ATTR_bytes))
        call_barrier(gen, "tile_emu_mbarrier_expect", gen->types.nothing, barrier,
                     LLVMBuildSelect(gen->builder, active, bytes, zero, ""), emu_site(gen, op));
    call_ordering(gen, "tile_emu_mbarrier_arrive", gen->types.nothing, barrier,
                  LLVMBuildZExt(gen->builder, active, gen->types.i32, ""), arrival_order(op),
                  emu_site(gen, op));
}

/* Operands before the `first` coordinate, of which the last says whether it is active; coordinates
 * go through the thread's record. */
static int tensor_arguments(Gen *gen, const Op *op, int first, int end, LLVMValueRef *arguments)
{
    for (int i = first; i < end; i++) emu_in(gen, i - first, gen_operand_at(gen, op, i));
    for (int i = 0; i < first; i++) arguments[i] = gen_operand_at(gen, op, i);
    arguments[first - 1] = LLVMBuildZExt(gen->builder, arguments[first - 1], gen->types.i32, "");
    arguments[first] = gen_i32(gen, end - first);
    return first + 1;
}

void emulator_tma_load(Gen *gen, const Op *op)
{
    LLVMValueRef arguments[8];
    const bool cast = op_attr(op, ATTR_multicast) != NULL;
    const int end = op->operand_count - cast;
    int count = tensor_arguments(gen, op, 4, end, arguments);
    arguments[count++] = cast ? gen_operand_at(gen, op, end) : gen_i32(gen, 0);
    arguments[count++] = gen_i32(gen, emu_site(gen, op));
    emu_call(gen, "tile_emu_tensor_copy", gen->types.nothing, count, arguments);
}

void emulator_tma_store(Gen *gen, const Op *op)
{
    LLVMValueRef arguments[8];
    int count = tensor_arguments(gen, op, 3, op->operand_count, arguments);
    arguments[count++] = gen_i32(gen, emu_site(gen, op));
    emu_call(gen, op_attr(op, ATTR_mode) ? "tile_emu_tensor_add" : "tile_emu_tensor_store",
             gen->types.nothing, count, arguments);
}

void emulator_tma_store_commit(Gen *gen)
{
    emu_call(gen, "tile_emu_tensor_commit", gen->types.nothing, 0, NULL);
}

void emulator_tma_store_wait(Gen *gen, const Op *op, int groups)
{
    LLVMValueRef arguments[] = {gen_i32(gen, groups), gen_i32(gen, op_int(op, ATTR_written, 0))};
    emu_call(gen, "tile_emu_tensor_wait", gen->types.nothing, 2, arguments);
}

void emulator_copy_arrive(Gen *gen, const Op *op, LLVMValueRef barrier)
{
    call_barrier(gen, "tile_emu_copy_arrive", gen->types.nothing, barrier,
                 gen_i32(gen, op_int(op, ATTR_extra, 0)), emu_site(gen, op));
}

/* None where the op is not active. */
static LLVMValueRef active_bytes(Gen *gen, const Op *op)
{
    LLVMValueRef active =
        LLVMBuildZExt(gen->builder, gen_operand(gen, op, active), gen->types.i32, "");
    return LLVMBuildMul(gen->builder, gen_operand(gen, op, bytes), active, "");
}

void emulator_mbarrier_expect(Gen *gen, const Op *op)
{
    call_barrier(gen, "tile_emu_mbarrier_expect", gen->types.nothing, gen_operand(gen, op, barrier),
                 active_bytes(gen, op), emu_site(gen, op));
}

void emulator_mbarrier_complete(Gen *gen, const Op *op)
{
    call_ordering(gen, "tile_emu_mbarrier_complete", gen->types.nothing,
                  gen_operand(gen, op, barrier), active_bytes(gen, op), arrival_order(op),
                  emu_site(gen, op));
}

LLVMValueRef emulator_mbarrier_phase(Gen *gen, const Op *op, LLVMValueRef barrier)
{
    return call_barrier(gen, "tile_emu_mbarrier_phase", gen->types.i32, barrier, gen_i32(gen, 0),
                        emu_site(gen, op));
}

/* Gives way until the phase is complete. */
void emulator_mbarrier_wait(Gen *gen, const Op *op)
{
    LLVMBasicBlockRef test = gen_block(gen, "test"), again = gen_block(gen, "again"),
                      after = gen_block(gen, "after");
    LLVMBuildBr(gen->builder, test);
    gen_at(gen, test);
    gen_new_segment(gen);
    LLVMValueRef done =
        call_ordering(gen, "tile_emu_mbarrier_test", gen->types.i32, gen_operand(gen, op, barrier),
                      gen_operand(gen, op, parity), wait_order(op), emu_site(gen, op));
    done = LLVMBuildICmp(gen->builder, LLVMIntNE, done, gen_i32(gen, 0), "");
    LLVMBuildCondBr(gen->builder, done, after, again);
    gen_at(gen, again);
    emulator_give_way(gen);
    LLVMBuildBr(gen->builder, test);
    gen_at(gen, after);
    gen_new_segment(gen);
}

/* ---- blocks together ---- */

LLVMValueRef emulator_cluster_rank(Gen *gen)
{
    return emu_load(gen, offsetof(tile_emu_thread, rank), gen->types.i32);
}

LLVMValueRef emulator_cluster_address(Gen *gen, const Op *op, LLVMValueRef pointer,
                                      LLVMValueRef rank)
{
    LLVMValueRef arguments[] = {pointer, rank, gen_i32(gen, emu_site(gen, op))};
    return emu_call(gen, "tile_emu_cluster_address", gen->types.pointer, 3, arguments);
}
