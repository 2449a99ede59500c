/* emulator.c: the program of a thread as a CPU coroutine (runtime/emulator/abi.h). The ramp makes
 * the frame; every cooperative op stores what it wants into the thread's record, notes in the frame
 * where the code goes on, and returns. (LLVM has coroutines of its own: to split one of some ten
 * thousand blocks takes it minutes, and what lives across a suspension is known here.) */
#include "codegen/llvm.h"

#include <stddef.h>
#include <string.h>

#include "emulator/abi.h"

/* Of the image, all launches together. */
typedef struct Sites {
    VEC(Span) spans;
} Sites;

typedef struct EmulatorFunction {
    LLVMValueRef thread;
    LLVMValueRef resumption; /* the switch that each resumption begins with */
    LLVMBasicBlockRef suspended;
    int states; /* of the switch */
    Sites *sites;
} EmulatorFunction;

/* What a frame begins with; slots follow. */
enum {
    FRAME_RESUME = 0, /* the function; NULL once the thread has ended */
    FRAME_THREAD = 8,
    FRAME_PARAMETERS = 16,
    FRAME_STATE = 24, /* an i32 */
    FRAME_SLOTS = 64
};

/* ---- the thread's record ---- */

static LLVMValueRef field(Gen *gen, size_t offset)
{
    return gen_offset(gen, gen->emulator->thread, (int64_t)offset);
}

static LLVMValueRef field_load(Gen *gen, size_t offset, LLVMTypeRef type)
{
    return LLVMBuildLoad2(gen->builder, type, field(gen, offset), "");
}

static void field_store(Gen *gen, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(gen->builder, value, field(gen, offset));
}

static void in_store(Gen *gen, int index, LLVMValueRef word)
{
    CHECK(index < TILE_EMU_IN_WORDS);
    field_store(gen, offsetof(tile_emu_thread, in) + 4 * (size_t)index, word);
}

static LLVMValueRef out_load(Gen *gen, int index)
{
    CHECK(index < TILE_EMU_OUT_WORDS);
    return field_load(gen, offsetof(tile_emu_thread, out) + 4 * (size_t)index, gen->types.i32);
}

static int64_t site_of(Gen *gen, const Op *op)
{
    Sites *sites = gen->emulator->sites;
    for (size_t i = sites->spans.count; i-- > 0;) {
        const Span *span = &sites->spans.data[i];
        if (span->source == op->span.source && span->begin == op->span.begin &&
            span->end == op->span.end)
            return (int64_t)i;
    }
    vec_push(gen->codegen->session->arena, &sites->spans, op->span);
    return (int64_t)sites->spans.count - 1;
}

/* ---- suspensions ---- */

static void frame_store(Gen *gen, int64_t offset, LLVMValueRef value)
{
    LLVMBuildStore(gen->builder, value, gen_offset(gen, gen->frame, offset));
}

static LLVMValueRef frame_load(Gen *gen, int64_t offset, LLVMTypeRef type)
{
    return LLVMBuildLoad2(gen->builder, type, gen_offset(gen, gen->frame, offset), "");
}

/* The code from here on is what the thread's next resumption runs. */
static void resume_here(Gen *gen)
{
    EmulatorFunction *emulator = gen->emulator;
    LLVMBasicBlockRef resumed = gen_block(gen, "resumed");
    LLVMAddCase(emulator->resumption, gen_i32(gen, emulator->states++), resumed);
    gen_at(gen, resumed);
    gen_new_segment(gen);
}

/* Ends the segment. */
static void suspend(Gen *gen)
{
    frame_store(gen, FRAME_STATE, gen_i32(gen, gen->emulator->states));
    LLVMBuildBr(gen->builder, gen->emulator->suspended);
    resume_here(gen);
}

/* Only the switch of the entry says that a resumption might begin here. */
static void emulator_cut(Gen *gen)
{
    LLVMBasicBlockRef before = LLVMGetInsertBlock(gen->builder);
    resume_here(gen);
    LLVMBasicBlockRef after = LLVMGetInsertBlock(gen->builder);
    gen_at(gen, before);
    LLVMBuildBr(gen->builder, after);
    gen_at(gen, after);
}

static void cooperate_at(Gen *gen, tile_emu_op op, LLVMValueRef mode)
{
    field_store(gen, offsetof(tile_emu_thread, op), gen_i32(gen, op));
    field_store(gen, offsetof(tile_emu_thread, mode), mode);
    field_store(gen, offsetof(tile_emu_thread, site), gen_i32(gen, site_of(gen, gen->op)));
    suspend(gen);
}

static void cooperate(Gen *gen, tile_emu_op op, int mode)
{
    cooperate_at(gen, op, gen_i32(gen, mode));
}

static void emulator_give_way(Gen *gen)
{
    cooperate(gen, TILE_EMU_NONE, 0);
}

static void emulator_barrier(Gen *gen, LLVMValueRef index, int count)
{
    in_store(gen, 0, gen_i32(gen, count));
    cooperate_at(gen, TILE_EMU_BARRIER, index);
}

static void emulator_warp_sync(Gen *gen)
{
    cooperate(gen, TILE_EMU_WARP_SYNC, 0);
}

static LLVMValueRef emulator_shuffle(Gen *gen, const char *mode, LLVMValueRef word,
                                     LLVMValueRef lane)
{
    static const char *const modes[] = {[TILE_EMU_SHUFFLE_IDX] = "idx",
                                        [TILE_EMU_SHUFFLE_UP] = "up",
                                        [TILE_EMU_SHUFFLE_DOWN] = "down",
                                        [TILE_EMU_SHUFFLE_XOR] = "xor"};
    for (int i = 0; i < 4; i++)
        if (strcmp(modes[i], mode) == 0) {
            in_store(gen, 0, word);
            in_store(gen, 1, lane);
            in_store(gen, 2, gen_i32(gen, i));
            cooperate(gen, TILE_EMU_SHUFFLE, i);
            return out_load(gen, 0);
        }
    ICE("shuffle: no mode '%s'", mode);
}

static LLVMValueRef emulator_vote(Gen *gen, LLVMValueRef condition)
{
    in_store(gen, 0, LLVMBuildZExt(gen->builder, condition, gen->types.i32, ""));
    cooperate(gen, TILE_EMU_VOTE, 0);
    return out_load(gen, 0);
}

static void emulator_ldmatrix(Gen *gen, const Op *op, LLVMValueRef row, int count, bool transposed,
                              LLVMValueRef *words)
{
    (void)op;
    field_store(gen, offsetof(tile_emu_thread, in), row); /* in[0..1] */
    in_store(gen, 2, gen_i32(gen, count));
    in_store(gen, 3, gen_i32(gen, transposed));
    cooperate(gen, TILE_EMU_LDMATRIX, 0);
    for (int i = 0; i < count; i++) words[i] = out_load(gen, i);
}

static void emulator_stmatrix(Gen *gen, LLVMValueRef row, int count, bool transposed,
                              const LLVMValueRef *words)
{
    field_store(gen, offsetof(tile_emu_thread, in), row); /* in[0..1] */
    in_store(gen, 2, gen_i32(gen, count));
    in_store(gen, 3, gen_i32(gen, transposed));
    for (int i = 0; i < count; i++) in_store(gen, 4 + i, words[i]);
    cooperate(gen, TILE_EMU_STMATRIX, 0);
}

static LLVMValueRef pair_of(Gen *gen, const Op *op, int first)
{
    LLVMValueRef low = gen_bitcast(gen, gen_operand(gen, op, first), gen->types.i16);
    LLVMValueRef high = gen_bitcast(gen, gen_operand(gen, op, first + 1), gen->types.i16);
    high = LLVMBuildShl(gen->builder, LLVMBuildZExt(gen->builder, high, gen->types.i32, ""),
                        gen_i32(gen, 16), "");
    return LLVMBuildOr(gen->builder, LLVMBuildZExt(gen->builder, low, gen->types.i32, ""), high,
                       "");
}

static LLVMValueRef half_of(Gen *gen, LLVMValueRef word, bool high)
{
    if (high) word = LLVMBuildLShr(gen->builder, word, gen_i32(gen, 16), "");
    return LLVMBuildTrunc(gen->builder, word, gen->types.i16, "");
}

static void emulator_mma(Gen *gen, const Op *op)
{
    int index = mma_find(op);
    const MmaInstruction *row = mma_at(index);
    int inputs = row->a_words + row->b_words;
    bool is_packed = row->c_words < row->scalars;
    for (int i = 0; i < inputs; i++)
        in_store(gen, i, gen_bitcast(gen, gen_operand(gen, op, i), gen->types.i32));
    for (int i = 0; i < row->c_words; i++)
        in_store(gen, inputs + i,
                 is_packed ? pair_of(gen, op, inputs + 2 * i)
                           : gen_bitcast(gen, gen_operand(gen, op, inputs + i), gen->types.i32));
    cooperate(gen, TILE_EMU_MMA, index);
    for (int i = 0; i < row->scalars; i++) {
        LLVMValueRef word = out_load(gen, is_packed ? i / 2 : i);
        LLVMValueRef bits = is_packed ? half_of(gen, word, i % 2) : word;
        gen_define(gen, &op->results[i],
                   gen_bitcast(gen, bits, gen_type(gen, op->results[i].type)));
    }
}

/* ---- memory ---- */

static LLVMValueRef declared(Gen *gen, const char *name, LLVMTypeRef result, int count,
                             LLVMTypeRef *types)
{
    LLVMValueRef function = LLVMGetNamedFunction(gen->module, name);
    if (function != NULL) return function;
    function =
        LLVMAddFunction(gen->module, name, LLVMFunctionType(result, types, (unsigned)count, false));
    function_set_flag(function, "nounwind");
    return function;
}

/* A function of the emulator's runtime is called with the thread, then the arguments. */
static LLVMValueRef call_runtime(Gen *gen, const char *name, LLVMTypeRef result, int count,
                                 const LLVMValueRef *arguments)
{
    enum { MOST = 8 };
    LLVMTypeRef types[MOST];
    LLVMValueRef all[MOST] = {gen->emulator->thread};
    CHECK(count < MOST);
    for (int i = 0; i < count; i++) all[1 + i] = arguments[i];
    for (int i = 0; i <= count; i++) types[i] = LLVMTypeOf(all[i]);
    LLVMValueRef function = declared(gen, name, result, count + 1, types);
    return LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(function), function, all,
                          (unsigned)count + 1, "");
}

static void emulated_attributes(LLVMValueRef function)
{
    const char *triple = LLVMGetTarget(LLVMGetGlobalParent(function));
    if (strncmp(triple, "x86_64", 6) ==
        0) /* F16C and FMA: conversions and llvm.fma need no library */
        function_set_text(function, "target-cpu", "x86-64-v3");
    function_set_text(function, "tilec-done", "");
    function_set_flag(function, "nounwind");
}

enum { CHECK_ARGUMENTS = 6 };

/* thread->checked ? tile_emu_access(thread, address, ...) : address. A function, so that the
 * thread's has few blocks while it is made; it is inlined afterwards. */
static LLVMValueRef check_function(Gen *gen)
{
    GenTypes *types = &gen->types;
    LLVMValueRef function = LLVMGetNamedFunction(gen->module, "tilec_check");
    if (function != NULL) return function;
    LLVMTypeRef parameters[CHECK_ARGUMENTS] = {types->pointer, types->pointer, types->i32,
                                               types->i32,     types->i32,     types->i32};
    LLVMValueRef access =
        declared(gen, "tile_emu_access", types->pointer, CHECK_ARGUMENTS, parameters);
    function_set_flag(access, "cold");
    function = LLVMAddFunction(gen->module, "tilec_check", LLVMGlobalGetValueType(access));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    emulated_attributes(function);
    LLVMBuilderRef at = LLVMCreateBuilderInContext(gen->context);
    LLVMBasicBlockRef blocks[3];
    for (int i = 0; i < 3; i++)
        blocks[i] = LLVMAppendBasicBlockInContext(gen->context, function, "");
    LLVMPositionBuilderAtEnd(at, blocks[0]);
    LLVMValueRef arguments[CHECK_ARGUMENTS],
        offset = gen_i32(gen, offsetof(tile_emu_thread, checked));
    LLVMGetParams(function, arguments);
    LLVMValueRef place = LLVMBuildGEP2(at, types->i8, arguments[0], &offset, 1, "");
    LLVMValueRef checked = LLVMBuildLoad2(at, types->i32, place, "");
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntNE, checked, gen_i32(gen, 0), ""), blocks[1],
                    blocks[2]);
    LLVMPositionBuilderAtEnd(at, blocks[1]);
    LLVMBuildRet(at, LLVMBuildCall2(at, LLVMGlobalGetValueType(access), access, arguments,
                                    CHECK_ARGUMENTS, ""));
    LLVMPositionBuilderAtEnd(at, blocks[2]);
    LLVMBuildRet(at, arguments[1]);
    LLVMDisposeBuilder(at);
    return function;
}

/* Of a byte's part the kind says which bits are meant. */
static LLVMValueRef kind_of(Gen *gen, const Op *op, tile_emu_kind kind)
{
    const bool loads = op->code == OP_ld_bits;
    if (!loads && op->code != OP_st_bits) return gen_i32(gen, kind);
    const DType dtype = loads ? op->results[0].type->dtype : op->operands[1]->type->dtype;
    LLVMValueRef mask = gen_i32(gen, ((1 << dtype_bits(dtype)) - 1) << TILE_EMU_KIND_BITS);
    mask = LLVMBuildShl(gen->builder, mask, gen_operand(gen, op, loads ? 1 : 2), "");
    return LLVMBuildOr(gen->builder, mask, gen_i32(gen, kind), "");
}

/* The address to use for an access of at most 16 bytes. */
static LLVMValueRef checked_address(Gen *gen, const Op *op, LLVMValueRef pointer, int bytes,
                                    tile_emu_kind kind)
{
    const Space space = op->operands[0]->type->space;
    const bool is_shared = space == SPACE_SHARED || space == SPACE_CLUSTER;
    LLVMValueRef function = check_function(gen);
    LLVMValueRef arguments[CHECK_ARGUMENTS] = {
        gen->emulator->thread,
        pointer,
        gen_i32(gen, bytes),
        kind_of(gen, op, kind),
        gen_i32(gen, is_shared ? TILE_EMU_SHARED : TILE_EMU_GLOBAL),
        gen_i32(gen, site_of(gen, op)),
    };
    return LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(function), function, arguments,
                          CHECK_ARGUMENTS, "");
}

static LLVMValueRef emulator_check_index(Gen *gen, const Op *op, LLVMValueRef index,
                                         LLVMValueRef extent)
{
    LLVMValueRef arguments[] = {index, extent, gen_i32(gen, site_of(gen, op))};
    return call_runtime(gen, "tile_emu_index", gen->types.i64, 3, arguments);
}

static LLVMValueRef emulator_left_out(Gen *gen, int64_t number, LLVMValueRef holds)
{
    LLVMTypeRef word = gen->types.i32;
    LLVMValueRef arguments[] = {gen_i32(gen, number), LLVMBuildZExt(gen->builder, holds, word, "")};
    LLVMValueRef left_out = call_runtime(gen, "tile_emu_left_out", word, 2, arguments);
    return LLVMBuildTrunc(gen->builder, left_out, gen->types.i1, "");
}

static void emulator_stop(Gen *gen, const Op *op, const char *text)
{
    LLVMValueRef arguments[] = {LLVMBuildGlobalStringPtr(gen->builder, text, ""),
                                gen_i32(gen, site_of(gen, op))};
    call_runtime(gen, "tile_emu_stop", gen->types.nothing, 2, arguments);
}

/* A wider value moves as pieces of 16 bytes. The CPU asks for no alignment: a wrong one is the
 * checker's to find. */
static LLVMValueRef load_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type)
{
    int bytes = gen_type_bytes(gen, op->results[0].type), pieces = (bytes + 15) / 16;
    LLVMTypeRef piece = pieces == 1 ? type : LLVMVectorType(gen->types.i8, 16);
    LLVMValueRef words[16];
    CHECK(pieces <= 16 && (pieces == 1 || bytes % 16 == 0));
    for (int i = 0; i < pieces; i++) {
        LLVMValueRef at = gen_offset(gen, pointer, (int64_t)16 * i);
        at = checked_address(gen, op, at, pieces == 1 ? bytes : 16, TILE_EMU_READ);
        words[i] = LLVMBuildLoad2(gen->builder, piece, at, "");
        LLVMSetAlignment(words[i], 1);
        if (pieces > 1)
            words[i] = gen_bitcast(gen, words[i], LLVMIntTypeInContext(gen->context, 128));
    }
    return pieces == 1 ? words[0] : gen_from_words(gen, pieces, words, type);
}

static LLVMValueRef emulator_load(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                                  LLVMValueRef predicate)
{
    if (predicate == NULL) return load_now(gen, op, pointer, type);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    LLVMBasicBlockRef loads = gen_block(gen, "loads"), after = gen_block(gen, "after");
    LLVMBuildCondBr(gen->builder, predicate, loads, after);
    gen_at(gen, loads);
    LLVMValueRef values[2] = {load_now(gen, op, pointer, type), LLVMConstNull(type)};
    LLVMBasicBlockRef blocks[2] = {loads, here};
    LLVMBuildBr(gen->builder, after);
    gen_at(gen, after);
    LLVMValueRef phi = LLVMBuildPhi(gen->builder, type, "");
    LLVMAddIncoming(phi, values, blocks, 2);
    return phi;
}

static void store_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value)
{
    int bytes = gen_type_bytes(gen, op->operands[1]->type), pieces = (bytes + 15) / 16;
    LLVMTypeRef i128 = LLVMIntTypeInContext(gen->context, 128);
    if (pieces > 1) value = gen_bitcast(gen, value, LLVMVectorType(i128, (unsigned)pieces));
    for (int i = 0; i < pieces; i++) {
        LLVMValueRef at = gen_offset(gen, pointer, (int64_t)16 * i);
        at = checked_address(gen, op, at, pieces == 1 ? bytes : 16, TILE_EMU_WRITE);
        LLVMValueRef piece =
            pieces == 1 ? value : LLVMBuildExtractElement(gen->builder, value, gen_i32(gen, i), "");
        LLVMSetAlignment(LLVMBuildStore(gen->builder, piece, at), 1);
    }
}

static void emulator_store(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                           LLVMValueRef predicate)
{
    if (predicate == NULL) {
        store_now(gen, op, pointer, value);
        return;
    }
    LLVMBasicBlockRef stores = gen_block(gen, "stores"), after = gen_block(gen, "after");
    LLVMBuildCondBr(gen->builder, predicate, stores, after);
    gen_at(gen, stores);
    store_now(gen, op, pointer, value);
    LLVMBuildBr(gen->builder, after);
    gen_at(gen, after);
}

static void store_bits_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef mask,
                           LLVMValueRef set)
{
    const LLVMAtomicOrdering order = LLVMAtomicOrderingMonotonic;
    LLVMValueRef at = checked_address(gen, op, pointer, 1, TILE_EMU_WRITE);
    LLVMValueRef keep = LLVMBuildNot(gen->builder, mask, "");
    keep = LLVMBuildTrunc(gen->builder, keep, gen->types.i8, "");
    set = LLVMBuildTrunc(gen->builder, set, gen->types.i8, "");
    LLVMBuildAtomicRMW(gen->builder, LLVMAtomicRMWBinOpAnd, at, keep, order, false);
    LLVMBuildAtomicRMW(gen->builder, LLVMAtomicRMWBinOpOr, at, set, order, false);
}

static void emulator_store_bits(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef mask,
                                LLVMValueRef set, LLVMValueRef predicate)
{
    if (predicate == NULL) {
        store_bits_now(gen, op, pointer, mask, set);
        return;
    }
    LLVMBasicBlockRef stores = gen_block(gen, "stores"), after = gen_block(gen, "after");
    LLVMBuildCondBr(gen->builder, predicate, stores, after);
    gen_at(gen, stores);
    store_bits_now(gen, op, pointer, mask, set);
    LLVMBuildBr(gen->builder, after);
    gen_at(gen, after);
}

static LLVMAtomicRMWBinOp atomic_operation(const char *mode, DType dtype)
{
    static const struct {
        const char *mode;
        LLVMAtomicRMWBinOp floats, integers, naturals; /* with and without sign */
    } rows[] = {
        {"add", LLVMAtomicRMWBinOpFAdd, LLVMAtomicRMWBinOpAdd, LLVMAtomicRMWBinOpAdd},
        {"min", LLVMAtomicRMWBinOpFMin, LLVMAtomicRMWBinOpMin, LLVMAtomicRMWBinOpUMin},
        {"max", LLVMAtomicRMWBinOpFMax, LLVMAtomicRMWBinOpMax, LLVMAtomicRMWBinOpUMax},
        {"and", LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd, LLVMAtomicRMWBinOpAnd},
        {"or", LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr, LLVMAtomicRMWBinOpOr},
        {"xor", LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor, LLVMAtomicRMWBinOpXor},
        {"exch", LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg, LLVMAtomicRMWBinOpXchg},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].mode, mode) == 0)
            return dtype_is_float(dtype)    ? rows[i].floats
                   : dtype_is_signed(dtype) ? rows[i].integers
                                            : rows[i].naturals;
    ICE("atom: no mode '%s'", mode);
}

static LLVMValueRef atomic_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                               LLVMValueRef compare)
{
    const DType dtype = op->operands[1]->type->dtype;
    const char *mode = op_attr(op, ATTR_mode)->text;
    const LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
    LLVMValueRef at = checked_address(gen, op, pointer, dtype_bits(dtype) / 8, TILE_EMU_ATOMIC);
    if (strcmp(mode, "cas") != 0)
        return LLVMBuildAtomicRMW(gen->builder, atomic_operation(mode, dtype), at, value, order,
                                  false);
    LLVMTypeRef type = LLVMTypeOf(value),
                word = LLVMIntTypeInContext(gen->context, (unsigned)dtype_bits(dtype));
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(gen->builder, at, gen_bitcast(gen, compare, word),
                                               gen_bitcast(gen, value, word), order, order, false);
    return gen_bitcast(gen, LLVMBuildExtractValue(gen->builder, pair, 0, ""), type);
}

static LLVMValueRef emulator_atomic(Gen *gen, const Op *op, LLVMValueRef pointer,
                                    LLVMValueRef value, LLVMValueRef compare,
                                    LLVMValueRef predicate)
{
    if (predicate == NULL) return atomic_now(gen, op, pointer, value, compare);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    LLVMBasicBlockRef updates = gen_block(gen, "updates"), after = gen_block(gen, "after");
    LLVMBuildCondBr(gen->builder, predicate, updates, after);
    gen_at(gen, updates);
    LLVMValueRef values[2] = {atomic_now(gen, op, pointer, value, compare),
                              LLVMConstNull(LLVMTypeOf(value))};
    LLVMBasicBlockRef blocks[2] = {updates, here};
    LLVMBuildBr(gen->builder, after);
    gen_at(gen, after);
    LLVMValueRef phi = LLVMBuildPhi(gen->builder, LLVMTypeOf(value), "");
    LLVMAddIncoming(phi, values, blocks, 2);
    return phi;
}

static void emulator_print(Gen *gen, const char *format, int count, LLVMValueRef *slots)
{
    CHECK(2 * count <= TILE_EMU_IN_WORDS);
    for (int i = 0; i < count; i++)
        LLVMSetAlignment(LLVMBuildStore(gen->builder, slots[i],
                                        field(gen, offsetof(tile_emu_thread, in) + 8 * (size_t)i)),
                         4);
    LLVMValueRef arguments[] = {LLVMBuildGlobalStringPtr(gen->builder, format, "format"),
                                gen_i32(gen, count)};
    call_runtime(gen, "tile_emu_print", gen->types.nothing, 2, arguments);
}

/* ---- asynchronous copies ---- */

static void emulator_copy_async(Gen *gen, const Op *op, LLVMValueRef to, LLVMValueRef from,
                                int bytes, LLVMValueRef inside, LLVMValueRef active)
{
    const LLVMTypeRef i32 = gen->types.i32;
    LLVMValueRef arguments[] = {to,
                                from,
                                gen_i32(gen, bytes),
                                LLVMBuildZExt(gen->builder, inside, i32, ""),
                                active != NULL ? LLVMBuildZExt(gen->builder, active, i32, "")
                                               : gen_i32(gen, 1),
                                gen_i32(gen, site_of(gen, op))};
    call_runtime(gen, "tile_emu_copy_async", gen->types.nothing, 6, arguments);
}

static void emulator_copy_commit(Gen *gen)
{
    call_runtime(gen, "tile_emu_copy_commit", gen->types.nothing, 0, NULL);
}

static void emulator_copy_wait(Gen *gen, int groups)
{
    LLVMValueRef count = gen_i32(gen, groups);
    call_runtime(gen, "tile_emu_copy_wait", gen->types.nothing, 1, &count);
}

/* ---- mbarriers ---- */

static LLVMValueRef call_barrier(Gen *gen, const char *name, LLVMTypeRef result,
                                 LLVMValueRef barrier, LLVMValueRef number, int64_t site)
{
    LLVMValueRef arguments[] = {barrier, number, gen_i32(gen, site)};
    return call_runtime(gen, name, result, 3, arguments);
}

static void emulator_mbarrier_init(Gen *gen, const Op *op, LLVMValueRef barrier, int arrivals,
                                   LLVMValueRef active)
{
    LLVMValueRef count =
        LLVMBuildSelect(gen->builder, active, gen_i32(gen, arrivals), gen_i32(gen, 0), "");
    call_barrier(gen, "tile_emu_mbarrier_init", gen->types.nothing, barrier, count,
                 site_of(gen, op));
}

static void emulator_mbarrier_arrive(Gen *gen, const Op *op, LLVMValueRef barrier,
                                     LLVMValueRef active)
{
    LLVMValueRef zero = gen_i32(gen, 0), bytes = gen_i32(gen, op_int(op, ATTR_bytes, 0));
    if (op_attr(op, ATTR_bytes))
        call_barrier(gen, "tile_emu_mbarrier_expect", gen->types.nothing, barrier,
                     LLVMBuildSelect(gen->builder, active, bytes, zero, ""), site_of(gen, op));
    call_barrier(gen, "tile_emu_mbarrier_arrive", gen->types.nothing, barrier,
                 LLVMBuildZExt(gen->builder, active, gen->types.i32, ""), site_of(gen, op));
}

/* Operands before the `first` coordinate, of which the last says whether it is active; coordinates
 * go through the thread's record. */
static int tensor_arguments(Gen *gen, const Op *op, int first, int end, LLVMValueRef *arguments)
{
    for (int i = first; i < end; i++) in_store(gen, i - first, gen_operand(gen, op, i));
    for (int i = 0; i < first; i++) arguments[i] = gen_operand(gen, op, i);
    arguments[first - 1] = LLVMBuildZExt(gen->builder, arguments[first - 1], gen->types.i32, "");
    arguments[first] = gen_i32(gen, end - first);
    return first + 1;
}

static void emulator_tensor_copy(Gen *gen, const Op *op)
{
    LLVMValueRef arguments[8];
    const bool cast = op_attr(op, ATTR_cast) != NULL;
    const int end = op->operand_count - cast;
    int count = tensor_arguments(gen, op, 4, end, arguments);
    arguments[count++] = cast ? gen_operand(gen, op, end) : gen_i32(gen, 0);
    arguments[count++] = gen_i32(gen, site_of(gen, op));
    call_runtime(gen, "tile_emu_tensor_copy", gen->types.nothing, count, arguments);
}

static void emulator_tensor_store(Gen *gen, const Op *op)
{
    LLVMValueRef arguments[8];
    int count = tensor_arguments(gen, op, 3, op->operand_count, arguments);
    arguments[count++] = gen_i32(gen, site_of(gen, op));
    call_runtime(gen, "tile_emu_tensor_store", gen->types.nothing, count, arguments);
}

static void emulator_tensor_commit(Gen *gen)
{
    call_runtime(gen, "tile_emu_tensor_commit", gen->types.nothing, 0, NULL);
}

static void emulator_tensor_wait(Gen *gen, int groups)
{
    LLVMValueRef count = gen_i32(gen, groups);
    call_runtime(gen, "tile_emu_tensor_wait", gen->types.nothing, 1, &count);
}

static void emulator_copy_arrive(Gen *gen, const Op *op, LLVMValueRef barrier)
{
    call_barrier(gen, "tile_emu_copy_arrive", gen->types.nothing, barrier,
                 gen_i32(gen, op_int(op, ATTR_extra, 0)), site_of(gen, op));
}

static void barrier_bytes(Gen *gen, const Op *op, const char *name)
{
    LLVMValueRef active = LLVMBuildZExt(gen->builder, gen_operand(gen, op, 2), gen->types.i32, "");
    LLVMValueRef bytes = LLVMBuildMul(gen->builder, gen_operand(gen, op, 1), active, "");
    call_barrier(gen, name, gen->types.nothing, gen_operand(gen, op, 0), bytes, site_of(gen, op));
}

static void emulator_mbarrier_expect(Gen *gen, const Op *op)
{
    barrier_bytes(gen, op, "tile_emu_mbarrier_expect");
}

static void emulator_mbarrier_complete(Gen *gen, const Op *op)
{
    barrier_bytes(gen, op, "tile_emu_mbarrier_complete");
}

static LLVMValueRef emulator_mbarrier_phase(Gen *gen, const Op *op, LLVMValueRef barrier)
{
    return call_barrier(gen, "tile_emu_mbarrier_phase", gen->types.i32, barrier, gen_i32(gen, 0),
                        site_of(gen, op));
}

/* Gives way until the phase is complete. */
static void emulator_mbarrier_wait(Gen *gen, const Op *op)
{
    LLVMBasicBlockRef test = gen_block(gen, "test"), again = gen_block(gen, "again"),
                      after = gen_block(gen, "after");
    LLVMBuildBr(gen->builder, test);
    gen_at(gen, test);
    gen_new_segment(gen);
    LLVMValueRef done =
        call_barrier(gen, "tile_emu_mbarrier_test", gen->types.i32, gen_operand(gen, op, 0),
                     gen_operand(gen, op, 1), site_of(gen, op));
    done = LLVMBuildICmp(gen->builder, LLVMIntNE, done, gen_i32(gen, 0), "");
    LLVMBuildCondBr(gen->builder, done, after, again);
    gen_at(gen, again);
    emulator_give_way(gen);
    LLVMBuildBr(gen->builder, test);
    gen_at(gen, after);
    gen_new_segment(gen);
}

/* ---- blocks together ---- */

static LLVMValueRef emulator_cluster_rank(Gen *gen)
{
    return field_load(gen, offsetof(tile_emu_thread, rank), gen->types.i32);
}

static LLVMValueRef emulator_cluster_address(Gen *gen, const Op *op, LLVMValueRef pointer,
                                             LLVMValueRef rank)
{
    LLVMValueRef arguments[] = {pointer, rank, gen_i32(gen, site_of(gen, op))};
    return call_runtime(gen, "tile_emu_cluster_address", gen->types.pointer, 3, arguments);
}

static void emulator_cluster_arrive(Gen *gen, const Op *op)
{
    cooperate(gen, TILE_EMU_CLUSTER_ARRIVE, op_int(op, ATTR_relaxed, 0) != 0);
}

static void emulator_cluster_wait(Gen *gen)
{
    cooperate(gen, TILE_EMU_CLUSTER_WAIT, 0);
}

/* The emulator needs no count to know who has come. */
static void emulator_grid_sync(Gen *gen, LLVMValueRef count)
{
    (void)count;
    cooperate(gen, TILE_EMU_GRID_SYNC, 0);
}

/* ---- wgmma ---- */

static LLVMValueRef emulator_wgmma_under_way(Gen *gen, int count)
{
    LLVMValueRef groups = gen_i32(gen, count), zero = gen_i32(gen, 0);
    LLVMValueRef some = call_runtime(gen, "tile_emu_wgmma_under_way", gen->types.i32, 1, &groups);
    return LLVMBuildICmp(gen->builder, LLVMIntNE, some, zero, "");
}

static void emulator_fence_async(Gen *gen, const Op *op)
{
    (void)op;
    call_runtime(gen, "tile_emu_fence_async", gen->types.nothing, 0, NULL);
}

/* An array of the thread's own, with the op's operands from `first` on, one after the other. */
static LLVMValueRef array_of(Gen *gen, const Op *op, int first, int count)
{
    LLVMValueRef array =
        gen_slot(gen, LLVMArrayType2(gen->types.i32, (uint64_t)(count > 0 ? count : 1)), 16);
    for (int i = 0; i < count; i++) {
        const Value *operand = op->operands[first + i];
        LLVMBuildStore(gen->builder, gen_operand(gen, op, first + i),
                       gen_offset(gen, array, (int64_t)gen_type_bytes(gen, operand->type) * i));
    }
    return array;
}

static LLVMValueRef descriptor_at(Gen *gen, LLVMValueRef pointer, const Attr *operand, int part)
{
    LLVMTypeRef wide = gen->types.i64;
    LLVMValueRef base = field_load(gen, offsetof(tile_emu_thread, shared), gen->types.pointer);
    LLVMValueRef offset =
        LLVMBuildSub(gen->builder, LLVMBuildPtrToInt(gen->builder, pointer, wide, ""),
                     LLVMBuildPtrToInt(gen->builder, base, wide, ""), "");
    offset = LLVMBuildAdd(gen->builder, offset, gen_int(gen, wide, wgmma_start(operand, part)), "");
    offset = LLVMBuildLShr(gen->builder, offset, gen_int(gen, wide, 4), "");
    return LLVMBuildOr(gen->builder, offset, gen_int(gen, wide, (int64_t)wgmma_descriptor(operand)),
                       "");
}

static int wgmma_flags(const Wgmma *wgmma)
{
    return (wgmma->left ? 0 : TILE_EMU_WGMMA_REGISTERS) |
           (wgmma->left && wgmma_is_transposed(wgmma->left) ? TILE_EMU_WGMMA_A_TRANSPOSED : 0) |
           (wgmma_is_transposed(wgmma->right) ? TILE_EMU_WGMMA_B_TRANSPOSED : 0);
}

/* One instruction. */
static void emulator_product(Gen *gen, const Op *op, const Wgmma *wgmma, LLVMValueRef sums,
                             LLVMValueRef words, const int at[3])
{
    const int part = at[0], piece = at[1], step = at[2], left = part * wgmma->steps + step,
              right = step * wgmma->pieces + piece, b = wgmma->left ? 1 : wgmma->words;
    const size_t in = offsetof(tile_emu_thread, in);
    const int64_t first = (int64_t)(part * wgmma->pieces + piece) * wgmma->sums_each;
    field_store(gen, in, gen_offset(gen, sums, 4 * first));
    field_store(gen, in + 8,
                wgmma->left ? descriptor_at(gen, gen_operand(gen, op, 0), wgmma->left, left)
                            : gen_offset(gen, words, (int64_t)16 * left));
    field_store(gen, in + 16, descriptor_at(gen, gen_operand(gen, op, b), wgmma->right, right));
    in_store(gen, 6, gen_i32(gen, wgmma->n));
    in_store(gen, 7, gen_i32(gen, wgmma_flags(wgmma)));
    cooperate(gen, TILE_EMU_WGMMA, wgmma->kind);
}

static void build_wgmma_wait(Gen *gen, int groups)
{
    LLVMValueRef count = gen_i32(gen, groups);
    call_runtime(gen, "tile_emu_wgmma_wait", gen->types.nothing, 1, &count);
}

/* wgmma.wait_group is .sync: the lanes leave it together. */
static void await_wgmma(Gen *gen, int groups)
{
    build_wgmma_wait(gen, groups);
    emulator_warp_sync(gen);
}

static void build_wgmma_commit(Gen *gen)
{
    call_runtime(gen, "tile_emu_wgmma_commit", gen->types.nothing, 0, NULL);
}

static void emulator_wgmma(Gen *gen, const Op *op)
{
    const Wgmma wgmma = wgmma_of(op);
    LLVMValueRef words = array_of(gen, op, 0, wgmma.words),
                 sums = array_of(gen, op, op->operand_count - wgmma.scalars, wgmma.scalars);
    for (int step = 0; step < wgmma.steps; step++)
        for (int part = 0; part < wgmma.parts; part++)
            for (int piece = 0; piece < wgmma.pieces; piece++)
                emulator_product(gen, op, &wgmma, sums, words, (int[]){part, piece, step});
    build_wgmma_commit(gen);
    if (!wgmma.is_open) await_wgmma(gen, 0);
    for (int i = 0; i < wgmma.scalars; i++) {
        const Type *type = op->results[i].type;
        gen_define(gen, &op->results[i],
                   LLVMBuildLoad2(gen->builder, gen_type(gen, type),
                                  gen_offset(gen, sums, (int64_t)gen_type_bytes(gen, type) * i),
                                  ""));
    }
}

static void emulator_wgmma_wait(Gen *gen, const Op *op)
{
    await_wgmma(gen, (int)op_int(op, ATTR_count, 0));
    for (int i = 0; i < op->result_count; i++)
        gen_define(gen, &op->results[i], gen_operand(gen, op, i));
}

static LLVMValueRef emulator_shared(Gen *gen, int64_t offset)
{
    LLVMValueRef base = field_load(gen, offsetof(tile_emu_thread, shared), gen->types.pointer);
    return gen_offset(gen, base, offset);
}

static LLVMValueRef emulator_index(Gen *gen, OpCode code, int dim)
{
    CHECK(dim >= 0 && dim < 3);
    size_t offset = code == OP_block_idx  ? offsetof(tile_emu_thread, block)
                    : code == OP_grid_dim ? offsetof(tile_emu_thread, grid)
                                          : offsetof(tile_emu_thread, index);
    return field_load(gen, offset + 4 * (size_t)dim, gen->types.i32);
}

const Machine emulator_machine = {
    .name = "emulator",
    .has_f16 = true,
    .has_fma = true,
    .cut = emulator_cut,
    .index = emulator_index,
    .shared = emulator_shared,
    .load = emulator_load,
    .store = emulator_store,
    .store_bits = emulator_store_bits,
    .atomic = emulator_atomic,
    .print = emulator_print,
    .copy_async = emulator_copy_async,
    .copy_commit = emulator_copy_commit,
    .copy_arrive = emulator_copy_arrive,
    .mbarrier_init = emulator_mbarrier_init,
    .mbarrier_arrive = emulator_mbarrier_arrive,
    .mbarrier_expect = emulator_mbarrier_expect,
    .mbarrier_complete = emulator_mbarrier_complete,
    .mbarrier_phase = emulator_mbarrier_phase,
    .mbarrier_wait = emulator_mbarrier_wait,
    .tensor_copy = emulator_tensor_copy,
    .tensor_store = emulator_tensor_store,
    .tensor_commit = emulator_tensor_commit,
    .tensor_wait = emulator_tensor_wait,
    .copy_wait = emulator_copy_wait,
    .cluster_rank = emulator_cluster_rank,
    .cluster_address = emulator_cluster_address,
    .cluster_arrive = emulator_cluster_arrive,
    .cluster_wait = emulator_cluster_wait,
    .grid_sync = emulator_grid_sync,
    .give_way = emulator_give_way,
    .barrier = emulator_barrier,
    .warp_sync = emulator_warp_sync,
    .shuffle = emulator_shuffle,
    .elect = gen_is_first_lane,
    .vote = emulator_vote,
    .check_index = emulator_check_index,
    .left_out = emulator_left_out,
    .stop = emulator_stop,
    .ldmatrix = emulator_ldmatrix,
    .stmatrix = emulator_stmatrix,
    .mma = emulator_mma,
    .wgmma = emulator_wgmma,
    .wgmma_wait = emulator_wgmma_wait,
    .wgmma_under_way = emulator_wgmma_under_way,
    .fence_async = emulator_fence_async,
    .approximate = emulator_approximate,
};

/* ---- the coroutine ---- */

/* Tells the emulator what memory the launch was given. */
static void note_argument(Gen *gen, LLVMValueRef pointer)
{
    LLVMTypeRef types[2] = {gen->types.pointer, gen->types.pointer};
    LLVMValueRef note =
        declared(gen, "tile_emu_argument", LLVMVoidTypeInContext(gen->context), 2, types);
    LLVMValueRef arguments[2] = {gen->emulator->thread, pointer};
    LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(note), note, arguments, 2, "");
}

/* The parameters that the launch gives, in order: NULL ends them. */
static const Parameter *next_given(const Gen *gen, int *index)
{
    const Kernel *kernel = gen->kernel;
    while (*index < kernel->parameter_count && kernel->parameters[*index].is_key) ++*index;
    return *index < kernel->parameter_count ? &kernel->parameters[(*index)++] : NULL;
}

/* Memory for the frame, and what it begins with. */
static void build_ramp(Gen *gen, LLVMValueRef ramp, LLVMValueRef resume)
{
    GenTypes *types = &gen->types;
    gen->function = ramp;
    gen_at(gen, gen_block(gen, "entry"));
    LLVMBasicBlockRef made = gen_block(gen, "made"), done = gen_block(gen, "done");
    LLVMValueRef thread = LLVMGetParam(ramp, 0), parameters = LLVMGetParam(ramp, 1);
    LLVMTypeRef given[2] = {types->pointer, types->i64};
    LLVMValueRef make = declared(gen, "tile_emu_frame", types->pointer, 2, given);
    LLVMValueRef arguments[2] = {thread, gen_int(gen, types->i64, (int64_t)gen->frame_bytes)};
    gen->frame = LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(make), make, arguments, 2, "");
    LLVMBuildCondBr(gen->builder, LLVMBuildIsNull(gen->builder, gen->frame, ""), done, made);
    gen_at(gen, made);
    frame_store(gen, FRAME_RESUME, resume);
    frame_store(gen, FRAME_THREAD, thread);
    frame_store(gen, FRAME_PARAMETERS, parameters);
    frame_store(gen, FRAME_STATE, gen_i32(gen, 0));
    gen->emulator->thread = thread;
    const Parameter *parameter;
    for (int i = 0, index = 0; (parameter = next_given(gen, &i)) != NULL; index++) {
        const Type *type = parameter->value->type;
        if (type->kind == TYPE_POINTER && !parameter_is_map(parameter))
            note_argument(gen, gen_argument(gen, type, parameters, index));
    }
    LLVMBuildBr(gen->builder, done);
    gen_at(gen, done);
    LLVMBuildRet(gen->builder, gen->frame);
}

static void define_parameters(Gen *gen)
{
    LLVMValueRef parameters = frame_load(gen, FRAME_PARAMETERS, gen->types.pointer);
    const Kernel *kernel = gen->kernel;
    for (int i = 0; i < kernel->parameter_count; i++)
        if (kernel->parameters[i].is_key)
            gen_define(gen, kernel->parameters[i].value, gen_key(gen, &kernel->parameters[i]));
    const Parameter *parameter;
    for (int i = 0, index = 0; (parameter = next_given(gen, &i)) != NULL; index++)
        gen_define(gen, parameter->value,
                   parameter_is_map(parameter)
                       ? gen_place(gen, parameters, index)
                       : gen_argument(gen, parameter->value->type, parameters, index));
}

/* The thread's whole program, entered where the frame says. */
static void build_resume(Gen *gen, LLVMValueRef resume, const Op *launch)
{
    EmulatorFunction *emulator = gen->emulator;
    GenTypes *types = &gen->types;
    gen->function = resume;
    gen->frame = LLVMGetParam(resume, 0);
    gen->frame_bytes = FRAME_SLOTS;
    gen_at(gen, gen_block(gen, "entry"));
    emulator->suspended = gen_block(gen, "suspended");
    gen->first = emulator->thread = frame_load(gen, FRAME_THREAD, types->pointer);
    LLVMValueRef state = frame_load(gen, FRAME_STATE, types->i32);
    emulator->resumption = LLVMBuildSwitch(gen->builder, state, emulator->suspended, 16);
    resume_here(gen);
    define_parameters(gen);
    gen_region(gen, launch->regions[0]);
    field_store(gen, offsetof(tile_emu_thread, op), gen_i32(gen, TILE_EMU_NONE));
    frame_store(gen, FRAME_RESUME, LLVMConstNull(types->pointer));
    LLVMBuildBr(gen->builder, emulator->suspended);
    gen_at(gen, emulator->suspended);
    LLVMBuildRetVoid(gen->builder);
}

static Name ramp_name(Codegen *codegen, const Kernel *kernel, int launch)
{
    for (int i = 0;; i++) {
        Name name =
            intern_printf(codegen->session->names, "%s.emulated.%d.%d", kernel->name, i, launch);
        if (LLVMGetNamedFunction(codegen->host_module, name) == NULL) return name;
    }
}

static void ramp_emit(Codegen *codegen, Kernel *kernel, LLVMModuleRef module, const Op *launch,
                      Image *out, Sites *sites)
{
    ImageEntry *entry = &out->entries[out->entry_count];
    Gen gen = gen_new(codegen, kernel, &emulator_machine, out->target, module);
    LLVMTypeRef types[2] = {gen.types.pointer, gen.types.pointer};
    *entry = (ImageEntry){
        .name = ramp_name(codegen, kernel, out->entry_count),
        .warps = (int)op_int(launch, ATTR_warps, 1),
        .shared_bytes = (int)op_int(launch, ATTR_bytes, 0),
    };
    entry_set_company(entry, launch);
    out->entry_count++;
    LLVMValueRef ramp =
        LLVMAddFunction(module, entry->name, LLVMFunctionType(gen.types.pointer, types, 2, false));
    LLVMTypeRef nothing = LLVMVoidTypeInContext(gen.context);
    LLVMValueRef resume =
        LLVMAddFunction(module, intern_printf(codegen->session->names, "%s.resume", entry->name),
                        LLVMFunctionType(nothing, types, 1, false));
    LLVMSetLinkage(resume, LLVMInternalLinkage);
    emulated_attributes(ramp);
    emulated_attributes(resume);
    parameter_set_flag(resume, 0, "noalias");
    EmulatorFunction emulator = {.sites = sites};
    gen.emulator = &emulator;
    build_resume(&gen, resume, launch);
    build_ramp(&gen, ramp, resume);
    gen_free(&gen);
}

static const char emulator_passes[] =
    "cgscc(inline),function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-simplifycfg,licm,loop-rotate),dse,adce,simplifycfg),globaldce";
static const char emulator_passes_quick[] = "globaldce";

/* Functions are the host module's from here on; splitting has made more of them. */
static void module_hide(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function))
        if (!LLVMIsDeclaration(function) && LLVMGetLinkage(function) == LLVMExternalLinkage)
            LLVMSetVisibility(function, LLVMHiddenVisibility);
}

bool emulator_image(Codegen *codegen, Kernel *kernel, Image *out)
{
    LLVMModuleRef module = host_module_new(codegen, kernel->name);
    Sites sites = {0};
    for (const Op *op = kernel->host->first; op != NULL; op = op->next)
        if (op->code == OP_launch) ramp_emit(codegen, kernel, module, op, out, &sites);
    module_check(module, kernel->name);
    passes_on_module(module, codegen->host_target,
                     codegen->options.optimise > 0 ? emulator_passes : emulator_passes_quick);
    module_hide(module);
    if (codegen->options.keep_llvm) {
        char *text = LLVMPrintModuleToString(module);
        out->llvm = arena_copy_text(codegen->session->arena, text, strlen(text));
        LLVMDisposeMessage(text);
    }
    module_link(codegen, module);
    out->kind = IMAGE_EMULATOR;
    out->sites = sites.spans.data;
    out->site_count = (int)sites.spans.count;
    return true;
}
