/* llvm.c: types, values and control flow: structured regions become basic blocks with phis. */
#include "codegen/llvm.h"
#include "codegen/quirks.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

Gen gen_new(Codegen *codegen, Kernel *kernel, const Machine *machine, const Target *target,
            LLVMModuleRef module)
{
    return (Gen){
        .codegen = codegen,
        .kernel = kernel,
        .arena = arena_new(),
        .machine = machine,
        .target = target,
        .context = codegen->context,
        .module = module,
        .builder = LLVMCreateBuilderInContext(codegen->context),
        .types = codegen->types,
    };
}

void gen_free(Gen *gen)
{
    LLVMDisposeBuilder(gen->builder);
    arena_free(gen->arena);
}

/* ---- types ---- */

LLVMTypeRef gen_dtype(const Gen *gen, DType dtype)
{
    const GenTypes *types = &gen->types;
    switch (dtype) {
    case DTYPE_b1: return types->i1;
    case DTYPE_f16: return gen->machine->has_f16 ? types->f16 : types->i16;
    case DTYPE_bf16: return gen->machine->has_bf16 ? types->bf16 : types->i16;
    case DTYPE_tf32:
    case DTYPE_f32: return types->f32;
    case DTYPE_f64: return types->f64;
    default: return LLVMIntTypeInContext(gen->context, (unsigned)dtype_bits(dtype));
    }
}

LLVMTypeRef gen_dtype_in_memory(const Gen *gen, DType dtype)
{
    return dtype_bits(dtype) < 8 ? gen->types.i8 : gen_dtype(gen, dtype);
}

LLVMTypeRef gen_type(const Gen *gen, const Type *type)
{
    switch (type->kind) {
    case TYPE_SCALAR: return gen_dtype(gen, type->dtype);
    case TYPE_VECTOR:
        if (dtype_is_packed(type->dtype)) return gen_packed_type(gen, type);
        return LLVMVectorType(gen_dtype(gen, type->dtype), (unsigned)type->count);
    case TYPE_POINTER:
        return LLVMPointerTypeInContext(gen->context, gen->machine->spaces[type->space]);
    default:
        ICE("a value of this type has no place in the program of a thread: %s",
            type_text(gen->arena, type));
    }
}

/* ---- small helpers ---- */

LLVMValueRef gen_int(const Gen *gen, LLVMTypeRef type, int64_t value)
{
    (void)gen;
    return LLVMConstInt(type, (unsigned long long)value, true);
}

/* Floats are kept as the bits of a double; nothing is done with a text. */
LLVMValueRef gen_key(Gen *gen, const Parameter *parameter)
{
    LLVMValueRef bits =
        LLVMConstInt(LLVMInt64TypeInContext(gen->context), (uint64_t)parameter->key, false);
    LLVMTypeRef type = gen_type(gen, parameter->value->type);
    if (dtype_is_float(parameter->value->type->dtype)) return LLVMConstBitCast(bits, type);
    return gen_int(gen, type, parameter->key);
}

/* Where a packed argument is. */
LLVMValueRef gen_place(Gen *gen, LLVMValueRef arguments, int index)
{
    LLVMValueRef at = gen_offset(gen, arguments, (int64_t)sizeof(void *) * index);
    return LLVMBuildLoad2(gen->builder, gen->types.pointer, at, "");
}

LLVMValueRef gen_argument(Gen *gen, const Type *type, LLVMValueRef arguments, int index)
{
    const bool is_byte = type->kind == TYPE_SCALAR && dtype_bits(type->dtype) < 8;
    LLVMValueRef place = gen_place(gen, arguments, index);
    LLVMValueRef value =
        LLVMBuildLoad2(gen->builder, is_byte ? gen->types.i8 : gen_type(gen, type), place, "");
    if (!is_byte) return value;
    if (type->dtype != DTYPE_b1)
        return LLVMBuildTrunc(gen->builder, value, gen_type(gen, type), "");
    return LLVMBuildICmp(gen->builder, LLVMIntNE, value, gen_int(gen, gen->types.i8, 0), "");
}

LLVMValueRef gen_i32(const Gen *gen, int64_t value)
{
    return gen_int(gen, gen->types.i32, value);
}

LLVMValueRef gen_is_first_lane(Gen *gen)
{
    LLVMValueRef thread = gen->machine->index(gen, OP_thread_id, 0);
    LLVMValueRef lane = LLVMBuildAnd(gen->builder, thread, gen_i32(gen, WARP_SIZE - 1), "");
    return LLVMBuildICmp(gen->builder, LLVMIntEQ, lane, gen_i32(gen, 0), "");
}

LLVMValueRef gen_bitcast(Gen *gen, LLVMValueRef value, LLVMTypeRef type)
{
    return LLVMTypeOf(value) == type ? value : LLVMBuildBitCast(gen->builder, value, type, "");
}

LLVMValueRef gen_offset(Gen *gen, LLVMValueRef pointer, int64_t bytes)
{
    LLVMValueRef index = gen_i32(gen, bytes);
    return bytes == 0 ? pointer
                      : LLVMBuildGEP2(gen->builder, gen->types.i8, pointer, &index, 1, "");
}

LLVMValueRef gen_intrinsic(Gen *gen, const char *name, int overload_count, LLVMTypeRef *overloads,
                           int count, LLVMValueRef *arguments)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    if (id == 0) ICE("LLVM has no intrinsic '%s'", name);
    LLVMValueRef callee =
        LLVMGetIntrinsicDeclaration(gen->module, id, overloads, (size_t)overload_count);
    return LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(callee), callee, arguments,
                          (unsigned)count, "");
}

LLVMValueRef gen_intrinsic1(Gen *gen, const char *name, LLVMValueRef a)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return gen_intrinsic(gen, name, 1, &type, 1, &a);
}

LLVMValueRef gen_intrinsic2(Gen *gen, const char *name, LLVMValueRef a, LLVMValueRef b)
{
    LLVMTypeRef type = LLVMTypeOf(a);
    return gen_intrinsic(gen, name, 1, &type, 2, (LLVMValueRef[]){a, b});
}

LLVMValueRef gen_asm(Gen *gen, LLVMTypeRef result, const char *text, const char *constraints,
                     bool has_effects, int count, LLVMValueRef *arguments)
{
    LLVMTypeRef types[16];
    CHECK(count <= 16);
    for (int i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef function = LLVMFunctionType(result, types, (unsigned)count, false);
    LLVMValueRef code =
        LLVMGetInlineAsm(function, text, strlen(text), constraints, strlen(constraints),
                         has_effects, false, LLVMInlineAsmDialectATT, false);
    return LLVMBuildCall2(gen->builder, function, code, arguments, (unsigned)count, "");
}

LLVMValueRef gen_from_words(Gen *gen, int count, LLVMValueRef *words, LLVMTypeRef type)
{
    if (count == 1) return gen_bitcast(gen, words[0], type);
    LLVMTypeRef vector = LLVMVectorType(LLVMTypeOf(words[0]), (unsigned)count);
    LLVMValueRef whole = LLVMGetPoison(vector);
    for (int i = 0; i < count; i++)
        whole = LLVMBuildInsertElement(gen->builder, whole, words[i], gen_i32(gen, i), "");
    return gen_bitcast(gen, whole, type);
}

LLVMBasicBlockRef gen_block(Gen *gen, const char *name)
{
    return LLVMAppendBasicBlockInContext(gen->context, gen->function, name);
}

void gen_at(Gen *gen, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(gen->builder, block);
}

/* ---- values ----
 *
 * The function of a thread that suspends begins anew at each resumption, and no LLVM value lives
 * from one to the next, but for those of the entry block. The stretch of code between two
 * suspensions is a segment; a value that is used in another segment than its own gets a slot of the
 * thread's frame and is loaded from there. A long stretch is cut into several
 * (QUIRK_SEGMENT_OPS). */

void gen_new_segment(Gen *gen)
{
    gen->segment = ++gen->last_segment;
    gen->segment_ops = 0;
}

void gen_define(Gen *gen, const Value *value, LLVMValueRef llvm)
{
    Held *held = arena_new_of(gen->arena, Held);
    *held = (Held){.value = llvm, .segment = gen->segment};
    map_set(gen->arena, &gen->held, value, held);
}

void gen_define_result(Gen *gen, const Op *op, LLVMValueRef llvm)
{
    gen_define(gen, &op->results[0], llvm);
}

/* The next piece of the frame. */
static int64_t frame_piece(Gen *gen, LLVMTypeRef type, unsigned alignment)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(gen->module);
    const uint64_t least = LLVMABIAlignmentOfType(layout, type);
    const uint64_t align = alignment > least ? alignment : least;
    const uint64_t offset = (gen->frame_bytes + align - 1) / align * align;
    gen->frame_bytes = offset + LLVMABISizeOfType(layout, type);
    return (int64_t)offset;
}

static void at_entry(Gen *gen)
{
    LLVMValueRef first = gen->first;
    if (first == NULL) first = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(gen->function));
    if (first != NULL) LLVMPositionBuilderBefore(gen->builder, first);
}

static Slot slot_new(Gen *gen, LLVMTypeRef type, unsigned alignment)
{
    if (gen->frame != NULL) return (Slot){.offset = frame_piece(gen, type, alignment)};
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    at_entry(gen);
    Slot slot = {.alloca = LLVMBuildAlloca(gen->builder, type, "")};
    if (alignment) LLVMSetAlignment(slot.alloca, alignment);
    gen_at(gen, here);
    return slot;
}

/* Made where it is used: addresses of all slots in the entry block would all be live from there on.
 */
static LLVMValueRef slot_address(Gen *gen, Slot slot)
{
    return slot.alloca ? slot.alloca : gen_offset(gen, gen->frame, slot.offset);
}

LLVMValueRef gen_slot(Gen *gen, LLVMTypeRef type, unsigned alignment)
{
    const Slot slot = slot_new(gen, type, alignment);
    if (slot.alloca) return slot.alloca;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    at_entry(gen);
    LLVMValueRef address = slot_address(gen, slot);
    gen_at(gen, here);
    return address;
}

/* Stores the value right where it is made. */
static void held_spill(Gen *gen, Held *held)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    held->slot = slot_new(gen, LLVMTypeOf(held->value), 0);
    held->is_kept = true;
    LLVMValueRef next = LLVMGetNextInstruction(held->value);
    while (next != NULL && LLVMIsAPHINode(next) != NULL) next = LLVMGetNextInstruction(next);
    if (next != NULL)
        LLVMPositionBuilderBefore(gen->builder, next);
    else
        gen_at(gen, LLVMGetInstructionParent(held->value));
    LLVMBuildStore(gen->builder, held->value, slot_address(gen, held->slot));
    gen_at(gen, here);
}

LLVMValueRef gen_use(Gen *gen, const Value *value)
{
    Held *held = map_get(&gen->held, value);
    if (held == NULL) ICE("op '%s' uses a value that was not made", op_info(gen->op->code)->name);
    bool is_near = gen->machine->cut == NULL || held->segment == gen->segment;
    if (is_near || LLVMIsAInstruction(held->value) == NULL) return held->value;
    if (LLVMGetInstructionParent(held->value) == LLVMGetEntryBasicBlock(gen->function))
        return held->value;
    if (!held->is_kept) held_spill(gen, held);
    return LLVMBuildLoad2(gen->builder, LLVMTypeOf(held->value), slot_address(gen, held->slot), "");
}

LLVMValueRef gen_use_given(Gen *gen, const Value *value)
{
    return value == NULL ? NULL : gen_use(gen, value);
}

LLVMValueRef gen_operand_at(Gen *gen, const Op *op, int index)
{
    CHECK(index < op->operand_count);
    return gen_use(gen, op->operands[index]);
}

/* ---- control flow ---- */

/* Values that meet where blocks join: phis, or slots where a suspension may lie in between. */
typedef struct Join {
    int count;
    LLVMValueRef *phis;
    Slot *slots; /* NULL where there are phis */
    LLVMBasicBlockRef block;
} Join;

/* Phis are made here, so `block` must be empty. */
static Join join_new(Gen *gen, LLVMBasicBlockRef block, bool in_slots, int count,
                     const LLVMTypeRef *types)
{
    Join join = {.count = count, .block = block};
    if (in_slots) {
        join.slots = arena_new_array(gen->arena, Slot, count + 1);
        for (int i = 0; i < count; i++) join.slots[i] = slot_new(gen, types[i], 0);
        return join;
    }
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    gen_at(gen, block);
    join.phis = arena_new_array(gen->arena, LLVMValueRef, count + 1);
    for (int i = 0; i < count; i++) join.phis[i] = LLVMBuildPhi(gen->builder, types[i], "");
    gen_at(gen, here);
    return join;
}

/* From the block at hand, which ends here. */
static void join_send(Gen *gen, Join *join, LLVMValueRef *values)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    for (int i = 0; i < join->count; i++) {
        if (join->slots)
            LLVMBuildStore(gen->builder, values[i], slot_address(gen, join->slots[i]));
        else
            LLVMAddIncoming(join->phis[i], &values[i], &here, 1);
    }
    LLVMBuildBr(gen->builder, join->block);
}

static LLVMValueRef join_receive(Gen *gen, const Join *join, int index, LLVMTypeRef type)
{
    return join->slots
               ? LLVMBuildLoad2(gen->builder, type, slot_address(gen, join->slots[index]), "")
               : join->phis[index];
}

static LLVMTypeRef *result_types(Gen *gen, const Op *op, int before)
{
    LLVMTypeRef *types = arena_new_array(gen->arena, LLVMTypeRef, before + op->result_count + 1);
    for (int i = 0; i < op->result_count; i++)
        types[before + i] = gen_type(gen, op->results[i].type);
    return types;
}

static LLVMValueRef *operands_from(Gen *gen, const Op *op, int first)
{
    LLVMValueRef *values = arena_new_array(gen->arena, LLVMValueRef, op->operand_count + 1);
    for (int i = first; i < op->operand_count; i++) values[i - first] = gen_operand_at(gen, op, i);
    return values;
}

bool op_gives_way(const Op *op)
{
    return op->code == OP_atom && op_enclosing(op, OP_while) != NULL;
}

static bool is_read(const Op *op, const void *context)
{
    (void)context;
    return (op->code == OP_ld || op->code == OP_ld_bits) &&
           operand(op, pointer)->type->space != SPACE_LOCAL;
}

/* Whether a loop may wait for what others write, by loads; one that carries nothing does, or goes
 * round for ever. */
static bool loop_waits(const Gen *gen, const Op *op)
{
    if (gen->machine->go_round == NULL || op->code != OP_while) return false;
    return op->operand_count == 0 || op_find_within(op, is_read, NULL) != NULL;
}

/* Counts the ops; true at the first that suspends, or when they are more than a segment has. */
static bool region_suspends(const Gen *gen, const Region *region, int *count)
{
    for (const Op *op = region->first; op != NULL; op = op_next(op)) {
        if (op_has(op, COOP) || op_gives_way(op) || loop_waits(gen, op) ||
            ++*count > QUIRK_SEGMENT_OPS)
            return true;
        for (int i = 0; i < op->region_count; i++)
            if (region_suspends(gen, op->regions[i], count)) return true;
    }
    return false;
}

static bool op_suspends(const Gen *gen, const Op *op)
{
    int count = 0;
    if (loop_waits(gen, op)) return true;
    for (int i = 0; gen->machine->cut != NULL && i < op->region_count; i++)
        if (region_suspends(gen, op->regions[i], &count)) return true;
    return false;
}

void gen_region(Gen *gen, const Region *region)
{
    gen->yielded = NULL;
    gen->yielded_count = 0;
    const bool may_cut = gen->machine->cut != NULL && region->parent != NULL &&
                         (region->parent->code == OP_launch || op_suspends(gen, region->parent));
    for (const Op *op = region->first; op != NULL; op = op_next(op)) {
        gen->op = op;
        if (gen->lines != NULL) lines_at(gen, op);
        if (may_cut && ++gen->segment_ops > QUIRK_SEGMENT_OPS) gen->machine->cut(gen);
        gen->machine->emit(gen, op);
    }
}

void emit_yield(Gen *gen, const Op *op)
{
    gen->yielded = operands_from(gen, op, operand_index(op, values));
    gen->yielded_count = op->operand_count;
}

void emit_condition(Gen *gen, const Op *op)
{
    gen->condition = gen_operand(gen, op, condition);
    gen->yielded = operands_from(gen, op, operand_index(op, carried));
    gen->yielded_count = op->operand_count - operand_index(op, carried);
}

static LLVMMetadataRef loop_property(Gen *gen, const char *key, LLVMMetadataRef value)
{
    LLVMMetadataRef parts[2] = {LLVMMDStringInContext2(gen->context, key, strlen(key)), value};
    return LLVMMDNodeInContext2(gen->context, parts, value ? 2 : 1);
}

/* `for`'s unroll attributes as metadata of the branch back. A loop that has been unrolled is left
 * alone by all, but where it is said what it is from then on. */
static void loop_hint(Gen *gen, LLVMValueRef branch, int64_t unroll, bool further)
{
    if (unroll < 1) return;
    LLVMContextRef context = gen->context;
    LLVMMetadataRef hint = unroll == 1 ? loop_property(gen, "llvm.loop.unroll.disable", NULL)
                                       : loop_property(gen, "llvm.loop.unroll.count",
                                                       LLVMValueAsMetadata(gen_i32(gen, unroll)));
    LLVMMetadataRef then = loop_property(gen, "llvm.loop.unroll.followup_unrolled",
                                         loop_property(gen, "llvm.loop.mustprogress", NULL));
    /* A loop's node must be its own first operand: made with a placeholder, then tied. */
    LLVMMetadataRef placeholder = LLVMTemporaryMDNode(context, NULL, 0);
    LLVMMetadataRef all[3] = {placeholder, hint, then};
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, all, further ? 3 : 2);
    LLVMMetadataReplaceAllUsesWith(placeholder, node);
    unsigned kind = LLVMGetMDKindIDInContext(context, "llvm.loop", strlen("llvm.loop"));
    LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(context, node));
}

/* So many rounds at a time as the author asks for, or fewer, that are no remainder: of a loop in
 * which threads do something together LLVM makes none, but unrolls all of it. */
static int64_t unroll_of(const Op *op)
{
    int64_t unroll = op_int(op, ATTR_unroll, 0), begin, end, step;
    if (unroll < 2 || !value_constant(operand(op, begin), &begin) ||
        !value_constant(operand(op, end), &end) || !value_constant(operand(op, step), &step) ||
        step < 1 || end <= begin)
        return unroll;
    const uint64_t trips = ((uint64_t)end - (uint64_t)begin - 1) / (uint64_t)step + 1;
    const bool together = region_has_with(op->regions[0], COOP);
    while (together && trips > (uint64_t)unroll && trips % (uint64_t)unroll) unroll--;
    return unroll;
}

/* Where an index could be beyond its type's range after the last trip, the trips that are left are
 * counted beside it, and nobody looks at that index. A step that is no number would cost a
 * division: such an index stops at the end. */
typedef enum ForKind { FOR_PLAIN, FOR_COUNTED, FOR_STOPPED } ForKind;

static ForKind for_kind(const Op *op)
{
    const bool is_wide = dtype_bytes(operand(op, begin)->type->dtype) == 8;
    const int64_t largest = is_wide ? INT64_MAX : INT32_MAX;
    int64_t step, end;
    if (!value_constant(operand(op, step), &step) || step < 1) return FOR_STOPPED;
    if (step == 1 || (value_constant(operand(op, end), &end) && end <= largest - step))
        return FOR_PLAIN;
    return FOR_COUNTED;
}

static LLVMValueRef for_runs(Gen *gen, const Op *op, LLVMValueRef index)
{
    LLVMValueRef end = gen_operand(gen, op, end);
    bool is_signed = dtype_is_signed(operand(op, begin)->type->dtype);
    return LLVMBuildICmp(gen->builder, is_signed ? LLVMIntSLT : LLVMIntULT, index, end, "");
}

/* (end - begin - 1) / step + 1, or 0: as numbers without a sign differences do not wrap. */
static LLVMValueRef for_trips(Gen *gen, const Op *op)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef begin = gen_operand(gen, op, begin), end = gen_operand(gen, op, end);
    LLVMTypeRef type = LLVMTypeOf(begin);
    LLVMValueRef one = LLVMConstInt(type, 1, false);
    LLVMValueRef last = LLVMBuildSub(builder, LLVMBuildSub(builder, end, begin, ""), one, "");
    LLVMValueRef trips = LLVMBuildUDiv(builder, last, gen_operand(gen, op, step), "");
    return LLVMBuildSelect(builder, for_runs(gen, op, begin), LLVMBuildAdd(builder, trips, one, ""),
                           LLVMConstNull(type), "");
}

static LLVMValueRef for_next(Gen *gen, const Op *op, ForKind kind, LLVMValueRef index)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMValueRef step = gen_operand(gen, op, step), end = gen_operand(gen, op, end);
    if (kind == FOR_STOPPED) {
        LLVMValueRef left = LLVMBuildSub(builder, end, index, "");
        LLVMValueRef goes_on = LLVMBuildICmp(builder, LLVMIntULT, step, left, "");
        return LLVMBuildSelect(builder, goes_on, LLVMBuildAdd(builder, index, step, ""), end, "");
    }
    if (dtype_is_signed(operand(op, begin)->type->dtype))
        return LLVMBuildNSWAdd(builder, index, step, "");
    return LLVMBuildNUWAdd(builder, index, step, "");
}

/* One trip: the block at hand is the body's first; it ends with the branch back. */
static void for_body(Gen *gen, const Op *op, Join *join)
{
    const Region *body = op->regions[0];
    gen_region(gen, body);
    LLVMValueRef *values = arena_new_array(gen->arena, LLVMValueRef, join->count);
    CHECK(gen->yielded_count == op->result_count);
    gen->op = op;
    values[0] = for_next(gen, op, for_kind(op), gen_use(gen, body->arguments[0]));
    for (int i = 0; i < op->result_count; i++) values[i + 1] = gen->yielded[i];
    if (for_kind(op) == FOR_COUNTED) {
        LLVMTypeRef type = LLVMTypeOf(values[0]);
        LLVMValueRef left = join_receive(gen, join, join->count - 1, type);
        values[join->count - 1] =
            LLVMBuildSub(gen->builder, left, LLVMConstInt(type, 1, false), "");
    }
    join_send(gen, join, values);
    loop_hint(gen, LLVMGetLastInstruction(LLVMGetInsertBlock(gen->builder)), unroll_of(op),
              op_int(op, ATTR_unroll_further, 0));
}

void gen_for(Gen *gen, const Op *op)
{
    const bool in_slots = op_suspends(gen, op), counted = for_kind(op) == FOR_COUNTED;
    const int given = 1 + op->result_count, count = given + counted;
    LLVMBasicBlockRef header = gen_block(gen, "for"), body = gen_block(gen, "body"),
                      after = gen_block(gen, "after");
    LLVMTypeRef *types = result_types(gen, op, 1); /* room for one more */
    types[0] = gen_type(gen, operand(op, begin)->type);
    if (counted) types[given] = types[0];
    Join join = join_new(gen, header, in_slots, count, types);
    LLVMValueRef *values = arena_new_array(gen->arena, LLVMValueRef, count);
    values[0] = gen_operand(gen, op, begin);
    for (int i = 1; i < given; i++)
        values[i] = gen->machine->has_ptx && wgmma_ignores(op->regions[0]->arguments[i])
                        ? LLVMGetUndef(types[i])
                        : gen_operand_at(gen, op, operand_index(op, step) + i);
    if (counted) values[given] = for_trips(gen, op);
    join_send(gen, &join, values);
    gen_at(gen, header);
    if (in_slots) gen_new_segment(gen);
    for (int i = 0; i < count; i++) values[i] = join_receive(gen, &join, i, types[i]);
    for (int i = 0; i < given; i++) gen_define(gen, op->regions[0]->arguments[i], values[i]);
    LLVMValueRef runs = counted ? LLVMBuildIsNotNull(gen->builder, values[given], "")
                                : for_runs(gen, op, values[0]);
    LLVMBuildCondBr(gen->builder, runs, body, after);
    gen_at(gen, body);
    for_body(gen, op, &join);
    gen_at(gen, after);
    if (in_slots) gen_new_segment(gen);
    for (int i = 1; i < given; i++) gen_define(gen, &op->results[i - 1], values[i]);
}

void gen_while(Gen *gen, const Op *op)
{
    bool in_slots = op_suspends(gen, op);
    const Region *test = op->regions[0], *body = op->regions[1];
    LLVMBasicBlockRef header = gen_block(gen, "while"), inside = gen_block(gen, "body");
    LLVMBasicBlockRef after = gen_block(gen, "after");
    LLVMTypeRef *types = arena_new_array(gen->arena, LLVMTypeRef, op->operand_count + 1);
    for (int i = 0; i < op->operand_count; i++) types[i] = gen_type(gen, op->operands[i]->type);
    Join join = join_new(gen, header, in_slots, op->operand_count, types);
    join_send(gen, &join, operands_from(gen, op, operand_index(op, init)));
    gen_at(gen, header);
    if (in_slots) gen_new_segment(gen);
    for (int i = 0; i < op->operand_count; i++)
        gen_define(gen, test->arguments[i], join_receive(gen, &join, i, types[i]));
    gen_region(gen, test);
    CHECK(gen->yielded_count == op->result_count && gen->condition != NULL);
    LLVMValueRef *carried = gen->yielded;
    LLVMBuildCondBr(gen->builder, gen->condition, inside, after);
    gen->condition = NULL;
    gen_at(gen, inside);
    for (int i = 0; i < body->argument_count; i++) gen_define(gen, body->arguments[i], carried[i]);
    gen_region(gen, body);
    CHECK(gen->yielded_count == join.count);
    if (loop_waits(gen, op)) {
        gen->op = op;
        join.block = gen_block(gen, "round");
        join_send(gen, &join, gen->yielded);
        gen_at(gen, join.block);
        gen->machine->go_round(gen, header);
    } else {
        join_send(gen, &join, gen->yielded);
    }
    gen_at(gen, after);
    if (in_slots) gen_new_segment(gen);
    for (int i = 0; i < op->result_count; i++) gen_define(gen, &op->results[i], carried[i]);
}

static void if_branch(Gen *gen, const Region *region, LLVMBasicBlockRef block, Join *join)
{
    gen_at(gen, block);
    gen_region(gen, region);
    CHECK(gen->yielded_count == join->count);
    join_send(gen, join, gen->yielded);
}

void gen_if(Gen *gen, const Op *op)
{
    bool in_slots = op_suspends(gen, op);
    LLVMBasicBlockRef yes = gen_block(gen, "then"), no = gen_block(gen, "else"),
                      after = gen_block(gen, "join");
    LLVMTypeRef *types = result_types(gen, op, 0);
    LLVMBuildCondBr(gen->builder, gen_operand(gen, op, condition), yes, no);
    Join join = join_new(gen, after, in_slots, op->result_count, types);
    if_branch(gen, op->regions[0], yes, &join);
    if (in_slots) /* what was in reach before the branch is in reach no more */
        gen_new_segment(gen);
    if_branch(gen, op->regions[1], no, &join);
    gen_at(gen, after);
    if (in_slots) gen_new_segment(gen);
    for (int i = 0; i < op->result_count; i++)
        gen_define(gen, &op->results[i], join_receive(gen, &join, i, types[i]));
}
