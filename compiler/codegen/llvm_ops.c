/* llvm_ops.c: the table of handlers, and all ops but arithmetic. */
#include "codegen/llvm.h"

/* Every op that a thread's program or a host region may hold has a handler: one that is missing
 * does not link. Tile ops have none. */
typedef void OpHandler(Gen *gen, const Op *op);
static OpHandler *const handlers[OP_COUNT] = {
#define OP(name, results, operands, names, attrs, regions, traits, stages, text)                   \
    [OP_##name] = ((stages) & (THREAD | HOST)) ? emit_##name : NULL,
#include "ir/ops.def"
#undef OP
};

void gen_op(Gen *gen, const Op *op)
{
    OpHandler *handler = (unsigned)op->code < OP_COUNT ? handlers[op->code] : NULL;
    if (handler == NULL) ICE("codegen: op '%s' should have been lowered", op_info(op->code)->name);
    handler(gen, op);
}

/* A handler of the machine that must be there. */
#define MACHINE(gen, op, handler)                                                                  \
    ((gen)->machine->handler != NULL                                                               \
         ? (gen)->machine->handler                                                                 \
         : (ICE("%s: no op '%s'", (gen)->machine->name, op_info((op)->code)->name),                \
            (gen)->machine->handler))

/* ---- what the machine does by itself ---- */

#define BY_MACHINE(name, handler)                                                                  \
    void emit_##name(Gen *gen, const Op *op)                                                       \
    {                                                                                              \
        MACHINE(gen, op, handler)(gen, op);                                                        \
    }
BY_MACHINE(launch, launch)
BY_MACHINE(workspace_size, workspace_size)
BY_MACHINE(buffer_extent, buffer_extent)
BY_MACHINE(tensor_map, tensor_map)
BY_MACHINE(require, require)
BY_MACHINE(result_shape, result_shape)
BY_MACHINE(mbar_expect, mbarrier_expect)
BY_MACHINE(mbar_complete, mbarrier_complete)
BY_MACHINE(cp_bulk_tensor, tma_load)
BY_MACHINE(st_bulk_tensor, tma_store)
BY_MACHINE(mbar_wait, mbarrier_wait)
BY_MACHINE(cluster_arrive, cluster_arrive)
BY_MACHINE(mma, mma)
BY_MACHINE(wgmma, wgmma)
BY_MACHINE(wgmma_wait, wgmma_wait)
BY_MACHINE(fence_async, fence_async)
#undef BY_MACHINE

#define BY_MACHINE(name)                                                                           \
    void emit_##name(Gen *gen, const Op *op)                                                       \
    {                                                                                              \
        MACHINE(gen, op, name)(gen);                                                               \
    }
BY_MACHINE(copy_commit)
BY_MACHINE(tma_store_commit)
BY_MACHINE(dot_commit)
BY_MACHINE(cluster_wait)
BY_MACHINE(warp_sync)
#undef BY_MACHINE

/* ---- values ---- */

void emit_const(Gen *gen, const Op *op)
{
    const Type *type = op->results[0].type;
    const Attr *number = op_attr(op, ATTR_number);
    LLVMTypeRef llvm = gen_type(gen, type);
    if (!dtype_is_float(type->dtype)) {
        gen_define_result(gen, op, gen_int(gen, llvm, op_int(op, ATTR_value, 0)));
        return;
    }
    double value = number != NULL ? number->number : (double)op_int(op, ATTR_value, 0);
    uint64_t bits = dtype_encode(type->dtype, value);
    LLVMTypeRef word = LLVMIntTypeInContext(gen->context, (unsigned)dtype_bits(type->dtype));
    LLVMValueRef constant = LLVMConstInt(word, bits, false);
    gen_define_result(gen, op, llvm == word ? constant : LLVMConstBitCast(constant, llvm));
}

void emit_bitcast(Gen *gen, const Op *op)
{
    LLVMTypeRef type = gen_type(gen, op->results[0].type);
    LLVMValueRef value = gen_operand(gen, op, a);
    bool from_pointer = LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
    bool to_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
    if (from_pointer && !to_pointer)
        value = LLVMBuildPtrToInt(gen->builder, value, type, "");
    else if (to_pointer && !from_pointer)
        value = LLVMBuildIntToPtr(gen->builder, value, type, "");
    else
        value = gen_bitcast(gen, value, type);
    gen_define_result(gen, op, value);
}

void emit_vec_pack(Gen *gen, const Op *op)
{
    if (dtype_is_packed(op->results[0].type->dtype)) {
        gen_define_result(gen, op, gen_packed_pack(gen, op));
        return;
    }
    LLVMValueRef vector = LLVMGetPoison(gen_type(gen, op->results[0].type));
    for (int i = 0; i < op->operand_count; i++)
        vector = LLVMBuildInsertElement(gen->builder, vector, gen_operand_at(gen, op, i),
                                        gen_i32(gen, i), "");
    gen_define_result(gen, op, vector);
}

void emit_vec_get(Gen *gen, const Op *op)
{
    const Type *type = operand(op, vector)->type;
    const int64_t index = op_int(op, ATTR_index, 0);
    LLVMValueRef vector = gen_operand(gen, op, vector);
    gen_define_result(gen, op,
                      dtype_is_packed(type->dtype)
                          ? gen_packed_get(gen, type, vector, (int)index)
                          : LLVMBuildExtractElement(gen->builder, vector, gen_i32(gen, index), ""));
}

/* ---- pointers ---- */

void emit_ptr_add(Gen *gen, const Op *op)
{
    const Type *index_type = operand(op, index)->type;
    LLVMTypeRef element = gen_dtype_in_memory(gen, op->results[0].type->dtype);
    LLVMValueRef pointer = gen_operand(gen, op, pointer), index = gen_operand(gen, op, index);
    if (!dtype_is_signed(index_type->dtype) &&
        dtype_bits(index_type->dtype) < 64) /* GEP extends by sign */
        index = LLVMBuildZExt(gen->builder, index, gen->types.i64, "");
    const DType dtype = op->results[0].type->dtype;
    if (dtype_is_packed(dtype)) /* whole bytes of them */
        index = LLVMBuildSDiv(gen->builder, index,
                              gen_int(gen, LLVMTypeOf(index), 8 / dtype_bits(dtype)), "");
    gen_define_result(gen, op, LLVMBuildGEP2(gen->builder, element, pointer, &index, 1, ""));
}

void emit_ptr_cast(Gen *gen, const Op *op)
{
    gen_define_result(gen, op, gen_operand(gen, op, pointer));
}

/* A view is its pointer, extents and strides, which ops refer to as operands: nothing to do. */
void emit_view(Gen *gen, const Op *op)
{
    (void)gen;
    (void)op;
}

/* ---- the launch ---- */

static void emit_index(Gen *gen, const Op *op)
{
    gen_define_result(gen, op,
                      MACHINE(gen, op, index)(gen, op->code, (int)op_int(op, ATTR_dim, 0)));
}

void emit_block_idx(Gen *gen, const Op *op)
{
    emit_index(gen, op);
}

void emit_grid_dim(Gen *gen, const Op *op)
{
    emit_index(gen, op);
}

void emit_thread_id(Gen *gen, const Op *op)
{
    emit_index(gen, op);
}

/* The passes have used it. */
void emit_assume(Gen *gen, const Op *op)
{
    (void)gen;
    (void)op;
}

/* ---- control ---- */

void emit_for(Gen *gen, const Op *op)
{
    gen_for(gen, op);
}

void emit_while(Gen *gen, const Op *op)
{
    gen_while(gen, op);
}

void emit_if(Gen *gen, const Op *op)
{
    gen_if(gen, op);
}

/* ---- memory ---- */

void emit_shared_base(Gen *gen, const Op *op)
{
    gen_define_result(gen, op, MACHINE(gen, op, shared)(gen, op_int(op, ATTR_offset, 0)));
}

/* An array of the function's own; it is made where the function begins. */
void emit_local_base(Gen *gen, const Op *op)
{
    LLVMTypeRef type = LLVMArrayType2(gen->types.i8, (uint64_t)op_int(op, ATTR_bytes, 1));
    gen_define_result(gen, op, gen_slot(gen, type, 16));
}

void emit_check_index(Gen *gen, const Op *op)
{
    LLVMValueRef index = gen_operand(gen, op, index);
    if (gen->machine->check_index != NULL) {
        LLVMTypeRef wide = gen->types.i64;
        LLVMValueRef extent = LLVMBuildSExt(gen->builder, gen_operand(gen, op, extent), wide, "");
        LLVMValueRef checked = gen->machine->check_index(
            gen, op, LLVMBuildSExt(gen->builder, index, wide, ""), extent);
        index = LLVMBuildTrunc(gen->builder, checked, LLVMTypeOf(index), "");
    }
    gen_define_result(gen, op, index);
}

void emit_fault_injected(Gen *gen, const Op *op)
{
    LLVMTypeRef boolean = gen->types.i1;
    LLVMValueRef holds =
        operand_given(op, holds) != NULL ? gen_operand(gen, op, holds) : gen_int(gen, boolean, 0);
    gen_define_result(gen, op,
                      gen->machine->fault_injected ? gen->machine->fault_injected(gen, op, holds)
                                                   : holds);
}

/* Of what is the thread's own there is nothing to watch. */
static bool is_local(const Op *op)
{
    return operand(op, pointer)->type->space == SPACE_LOCAL;
}

/* Booleans are bytes in memory. */
void emit_ld(Gen *gen, const Op *op)
{
    const Type *type = op->results[0].type;
    bool is_boolean = type->dtype == DTYPE_b1 && type->kind == TYPE_SCALAR;
    LLVMTypeRef llvm = is_boolean ? gen->types.i8 : gen_type(gen, type);
    LLVMValueRef predicate = gen_operand_given(gen, op, predicate);
    LLVMValueRef value =
        is_local(op)
            ? LLVMBuildLoad2(gen->builder, llvm, gen_operand(gen, op, pointer), "")
            : MACHINE(gen, op, load)(gen, op, gen_operand(gen, op, pointer), llvm, predicate);
    if (is_boolean)
        value = LLVMBuildICmp(gen->builder, LLVMIntNE, value, gen_int(gen, llvm, 0), "");
    gen_define_result(gen, op, value);
}

void emit_st(Gen *gen, const Op *op)
{
    LLVMValueRef value = gen_operand(gen, op, value);
    if (LLVMTypeOf(value) == gen->types.i1)
        value = LLVMBuildZExt(gen->builder, value, gen->types.i8, "");
    LLVMValueRef predicate = gen_operand_given(gen, op, predicate);
    if (is_local(op))
        LLVMBuildStore(gen->builder, value, gen_operand(gen, op, pointer));
    else
        MACHINE(gen, op, store)(gen, op, gen_operand(gen, op, pointer), value, predicate);
}

void emit_atom(Gen *gen, const Op *op)
{
    LLVMValueRef predicate = gen_operand_given(gen, op, predicate);
    gen_define_result(gen, op,
                      MACHINE(gen, op, atomic)(gen, op, gen_operand(gen, op, pointer),
                                               gen_operand(gen, op, value),
                                               gen_operand(gen, op, compare), predicate));
    if (gen->machine->give_way != NULL && op_gives_way(op)) gen->machine->give_way(gen);
}

void emit_red(Gen *gen, const Op *op)
{
    MACHINE(gen, op, red)
    (gen, op, gen_operand(gen, op, pointer), gen_operand(gen, op, value),
     gen_operand_given(gen, op, predicate));
}

void emit_check(Gen *gen, const Op *op)
{
    if (op_int(op, ATTR_emulated, 0) && gen->machine->check_index == NULL) return;
    LLVMBasicBlockRef fails = gen_block(gen, "fails"), after = gen_block(gen, "after");
    LLVMBuildCondBr(gen->builder, gen_operand(gen, op, condition), after, fails);
    gen_at(gen, fails);
    MACHINE(gen, op, stop)(gen, op, op_attr(op, ATTR_text)->text);
    LLVMBuildBr(gen->builder, after);
    gen_at(gen, after);
}

void emit_print(Gen *gen, const Op *op)
{
    LLVMValueRef slots[PRINT_VALUES];
    CHECK(op->operand_count <= PRINT_VALUES);
    for (int i = 0; i < op->operand_count; i++)
        slots[i] = gen_bitcast(gen, gen_operand_at(gen, op, i), gen->types.i64);
    MACHINE(gen, op, print)(gen, op_attr(op, ATTR_text)->text, op->operand_count, slots);
}

void emit_cp_async(Gen *gen, const Op *op)
{
    LLVMValueRef active = gen_operand_given(gen, op, active);
    MACHINE(gen, op, copy_async)
    (gen, op, gen_operand(gen, op, shared), gen_operand(gen, op, global),
     (int)op_int(op, ATTR_bytes, 0), gen_operand(gen, op, inside), active);
}

void emit_mbar_init(Gen *gen, const Op *op)
{
    MACHINE(gen, op, mbarrier_init)
    (gen, op, gen_operand(gen, op, barrier), (int)op_int(op, ATTR_count, 1),
     gen_operand(gen, op, active));
}

void emit_mbar_arrive(Gen *gen, const Op *op)
{
    MACHINE(gen, op, mbarrier_arrive)
    (gen, op, gen_operand(gen, op, barrier), gen_operand(gen, op, active));
}

void emit_tma_store_wait(Gen *gen, const Op *op)
{
    MACHINE(gen, op, tma_store_wait)(gen, op, (int)op_int(op, ATTR_count, 0));
}

void emit_mbar_phase(Gen *gen, const Op *op)
{
    gen_define(gen, &op->results[0],
               MACHINE(gen, op, mbarrier_phase)(gen, op, gen_operand(gen, op, barrier)));
}

void emit_cp_async_arrive(Gen *gen, const Op *op)
{
    MACHINE(gen, op, copy_arrive)(gen, op, gen_operand(gen, op, barrier));
}

void emit_copy_wait(Gen *gen, const Op *op)
{
    MACHINE(gen, op, copy_wait)(gen, (int)op_int(op, ATTR_count, -1));
}

/* ---- blocks together ---- */

void emit_cluster_rank(Gen *gen, const Op *op)
{
    gen_define(gen, &op->results[0], MACHINE(gen, op, cluster_rank)(gen));
}

void emit_cluster_address(Gen *gen, const Op *op)
{
    gen_define(gen, &op->results[0],
               MACHINE(gen, op, cluster_address)(gen, op, gen_operand(gen, op, pointer),
                                                 gen_operand(gen, op, rank)));
}

void emit_grid_sync(Gen *gen, const Op *op)
{
    MACHINE(gen, op, grid_sync)(gen, gen_operand(gen, op, count));
}

void emit_launch_wait(Gen *gen, const Op *op)
{
    MACHINE(gen, op, launch_wait)(gen, gen_operand(gen, op, next));
}

/* ---- threads together ---- */

void emit_barrier(Gen *gen, const Op *op)
{
    LLVMValueRef index = gen_i32(gen, op_int(op, ATTR_index, 0));
    if (operand_given(op, part) != NULL)
        index = LLVMBuildAdd(gen->builder, index, gen_operand(gen, op, part), "");
    MACHINE(gen, op, barrier)(gen, index, (int)op_int(op, ATTR_count, 0));
}

void emit_shuffle(Gen *gen, const Op *op)
{
    const Attr *mode = op_attr(op, ATTR_mode);
    LLVMValueRef value = gen_operand(gen, op, value);
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef lane = gen_operand(gen, op, lane), word = gen_bitcast(gen, value, gen->types.i32);
    word = MACHINE(gen, op, shuffle)(gen, mode != NULL ? mode->text : "idx", word, lane);
    gen_define_result(gen, op, gen_bitcast(gen, word, type));
}

void emit_redux(Gen *gen, const Op *op)
{
    const bool is_signed = dtype_is_signed(op->results[0].type->dtype);
    gen_define_result(gen, op,
                      MACHINE(gen, op, redux)(gen, op_attr(op, ATTR_mode)->text, is_signed,
                                              gen_operand(gen, op, value)));
}

void emit_elect(Gen *gen, const Op *op)
{
    gen_define_result(gen, op, MACHINE(gen, op, elect)(gen));
}

void emit_vote(Gen *gen, const Op *op)
{
    gen_define_result(gen, op, MACHINE(gen, op, vote)(gen, gen_operand(gen, op, condition)));
}

void emit_texture(Gen *gen, const Op *op)
{
    LLVMValueRef coordinates[3], channels[4];
    const int first = operand_index(op, coordinates), dims = op->operand_count - first;
    for (int i = 0; i < dims; i++) coordinates[i] = gen_operand_at(gen, op, first + i);
    MACHINE(gen, op, texture)
    (gen, gen_operand(gen, op, texture), gen_operand(gen, op, level), dims, coordinates, channels);
    for (int i = 0; i < op->result_count; i++) gen_define(gen, &op->results[i], channels[i]);
}

void emit_stmatrix(Gen *gen, const Op *op)
{
    LLVMValueRef words[4];
    const int count = op->operand_count - 1;
    CHECK(count == 1 || count == 2 || count == 4);
    for (int i = 0; i < count; i++)
        words[i] =
            gen_bitcast(gen, gen_operand_at(gen, op, operand_index(op, words) + i), gen->types.i32);
    MACHINE(gen, op, stmatrix)
    (gen, gen_operand(gen, op, pointer), count, op_int(op, ATTR_transposed, 0) != 0, words);
}

void emit_ldmatrix(Gen *gen, const Op *op)
{
    LLVMValueRef words[4];
    int count = (int)op_int(op, ATTR_count, op->result_count);
    CHECK(count == op->result_count && (count == 1 || count == 2 || count == 4));
    bool transposed = op_int(op, ATTR_transposed, 0) != 0;
    MACHINE(gen, op, ldmatrix)(gen, gen_operand(gen, op, pointer), count, transposed, words);
    for (int i = 0; i < count; i++)
        gen_define(gen, &op->results[i],
                   gen_bitcast(gen, words[i], gen_type(gen, op->results[i].type)));
}

/* Registers that may be written still. */
void emit_wgmma_in_flight(Gen *gen, const Op *op)
{
    LLVMValueRef early = NULL;
    if (gen->machine->wgmma_in_flight)
        early = gen->machine->wgmma_in_flight(gen, (int)op_int(op, ATTR_count, 0));
    for (int i = 0; i < op->result_count; i++) {
        LLVMValueRef sum = gen_operand_at(gen, op, i);
        LLVMValueRef ones = LLVMConstAllOnes(
            LLVMIntTypeInContext(gen->context, (unsigned)type_bytes(op->results[i].type) * 8));
        LLVMValueRef other = LLVMBuildBitCast(gen->builder, ones, LLVMTypeOf(sum), "");
        gen_define(gen, &op->results[i],
                   early ? LLVMBuildSelect(gen->builder, early, other, sum, "") : sum);
    }
}

void emit_setmaxnreg(Gen *gen, const Op *op)
{
    MACHINE(gen, op, setmaxnreg)(gen, op);
}
