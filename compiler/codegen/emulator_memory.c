/* emulator_memory.c: the emulator: loads, stores, atomics, copies to shared memory, prints. What is
 * read and written the checker may want to see. */
#include "codegen/emulator.h"

#include <string.h>

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
        emu_function(gen, "tile_emu_access", types->pointer, CHECK_ARGUMENTS, parameters);
    function_set_flag(access, "cold");
    function = LLVMAddFunction(gen->module, "tilec_check", LLVMGlobalGetValueType(access));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    emu_attributes(function);
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

/* Of a byte's part the kind says which bits are meant, of an atomic what it orders. */
static LLVMValueRef kind_of(Gen *gen, const Op *op, tile_emu_kind kind)
{
    const bool loads = op->code == OP_ld_bits;
    if (kind == TILE_EMU_ATOMIC) {
        const MemoryOrder order = atomic_order(op);
        return gen_i32(gen, kind | order.kinds << TILE_EMU_KIND_BITS |
                                (int)order.scope << TILE_EMU_SCOPE_BITS);
    }
    if (!loads && op->code != OP_st_bits) return gen_i32(gen, kind);
    const DType dtype = loads ? op->results[0].type->dtype : operand(op, value)->type->dtype;
    LLVMValueRef mask = gen_i32(gen, ((1 << dtype_bits(dtype)) - 1) << TILE_EMU_KIND_BITS);
    mask = LLVMBuildShl(gen->builder, mask, gen_operand(gen, op, bit), "");
    return LLVMBuildOr(gen->builder, mask, gen_i32(gen, kind), "");
}

/* Of all accesses at one place in the source, one lane may do some and the next one others. */
static LLVMValueRef number_of_access(Gen *gen)
{
    enum { MOST = 1 << (32 - TILE_EMU_ACCESS_BITS) };
    const uint32_t number = (uint32_t)(gen->emulator->accesses++ % MOST);
    return gen_i32(gen, (int32_t)(number << TILE_EMU_ACCESS_BITS));
}

/* The address to use for an access of at most 16 bytes. */
static LLVMValueRef checked_address(Gen *gen, const Op *op, LLVMValueRef pointer, int bytes,
                                    tile_emu_kind kind)
{
    const Space space = operand(op, pointer)->type->space;
    const bool is_shared = space == SPACE_SHARED || space == SPACE_CLUSTER;
    LLVMValueRef function = check_function(gen);
    LLVMValueRef arguments[CHECK_ARGUMENTS] = {
        gen->emulator->thread,
        pointer,
        gen_i32(gen, bytes),
        LLVMBuildOr(gen->builder, kind_of(gen, op, kind), number_of_access(gen), ""),
        gen_i32(gen, is_shared ? TILE_EMU_SHARED : TILE_EMU_GLOBAL),
        gen_i32(gen, emu_site(gen, op)),
    };
    return LLVMBuildCall2(gen->builder, LLVMGlobalGetValueType(function), function, arguments,
                          CHECK_ARGUMENTS, "");
}

LLVMValueRef emulator_check_index(Gen *gen, const Op *op, LLVMValueRef index, LLVMValueRef extent)
{
    const Attr *text = op_attr(op, ATTR_text);
    LLVMValueRef arguments[] = {index, extent, gen_i32(gen, emu_site(gen, op)),
                                text != NULL
                                    ? LLVMBuildGlobalStringPtr(gen->builder, text->text, "")
                                    : LLVMConstPointerNull(gen->types.pointer)};
    return emu_call(gen, "tile_emu_index", gen->types.i64, 4, arguments);
}

LLVMValueRef emulator_fault_injected(Gen *gen, const Op *op, LLVMValueRef holds)
{
    LLVMTypeRef word = gen->types.i32;
    LLVMValueRef arguments[] = {gen_i32(gen, op_int(op, ATTR_index, 0)),
                                gen_i32(gen, op_int(op, ATTR_role, 0)),
                                LLVMBuildZExt(gen->builder, holds, word, "")};
    LLVMValueRef injected = emu_call(gen, "tile_emu_inject_fault", word, 3, arguments);
    return LLVMBuildTrunc(gen->builder, injected, gen->types.i1, "");
}

void emulator_stop(Gen *gen, const Op *op, const char *text)
{
    LLVMValueRef arguments[] = {LLVMBuildGlobalStringPtr(gen->builder, text, ""),
                                gen_i32(gen, emu_site(gen, op))};
    emu_call(gen, "tile_emu_stop", gen->types.nothing, 2, arguments);
}

/* Code that runs where the predicate holds; NULL: always. */
typedef struct Guard {
    LLVMBasicBlockRef before, after;
} Guard;

static Guard guard_begin(Gen *gen, LLVMValueRef predicate)
{
    if (predicate == NULL) return (Guard){0};
    LLVMBasicBlockRef holds = gen_block(gen, "holds");
    const Guard guard = {LLVMGetInsertBlock(gen->builder), gen_block(gen, "after")};
    LLVMBuildCondBr(gen->builder, predicate, holds, guard.after);
    gen_at(gen, holds);
    return guard;
}

/* The value, which is zero where the predicate does not hold; NULL: there is none. */
static LLVMValueRef guard_end(Gen *gen, const Guard *guard, LLVMValueRef value)
{
    if (guard->before == NULL) return value;
    LLVMBasicBlockRef blocks[2] = {LLVMGetInsertBlock(gen->builder), guard->before};
    LLVMBuildBr(gen->builder, guard->after);
    gen_at(gen, guard->after);
    if (value == NULL) return NULL;
    LLVMValueRef phi = LLVMBuildPhi(gen->builder, LLVMTypeOf(value), "");
    LLVMAddIncoming(phi, (LLVMValueRef[]){value, LLVMConstNull(LLVMTypeOf(value))}, blocks, 2);
    return phi;
}

/* A wider value moves as pieces of 16 bytes. The CPU asks for no alignment: a wrong one is the
 * checker's to find. */
static LLVMValueRef load_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type)
{
    int bytes = (int)type_bytes(op->results[0].type), pieces = (bytes + 15) / 16;
    LLVMTypeRef piece = pieces == 1 ? type : LLVMVectorType(gen->types.i8, 16);
    LLVMValueRef words[16];
    const tile_emu_kind kind = op_attr(op, ATTR_spare) ? TILE_EMU_SPARE_READ : TILE_EMU_READ;
    CHECK(pieces <= 16 && (pieces == 1 || bytes % 16 == 0));
    for (int i = 0; i < pieces; i++) {
        LLVMValueRef at = gen_offset(gen, pointer, (int64_t)16 * i);
        at = checked_address(gen, op, at, pieces == 1 ? bytes : 16, kind);
        words[i] = LLVMBuildLoad2(gen->builder, piece, at, "");
        LLVMSetAlignment(words[i], 1);
        if (pieces > 1)
            words[i] = gen_bitcast(gen, words[i], LLVMIntTypeInContext(gen->context, 128));
    }
    return pieces == 1 ? words[0] : gen_from_words(gen, pieces, words, type);
}

LLVMValueRef emulator_load(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                           LLVMValueRef predicate)
{
    const Guard guard = guard_begin(gen, predicate);
    return guard_end(gen, &guard, load_now(gen, op, pointer, type));
}

static void store_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value)
{
    int bytes = (int)type_bytes(operand(op, value)->type), pieces = (bytes + 15) / 16;
    LLVMTypeRef i128 = LLVMIntTypeInContext(gen->context, 128);
    const tile_emu_kind kind = op_attr(op, ATTR_any) ? TILE_EMU_ANY_WRITE : TILE_EMU_WRITE;
    if (pieces > 1) value = gen_bitcast(gen, value, LLVMVectorType(i128, (unsigned)pieces));
    for (int i = 0; i < pieces; i++) {
        LLVMValueRef at = gen_offset(gen, pointer, (int64_t)16 * i);
        at = checked_address(gen, op, at, pieces == 1 ? bytes : 16, kind);
        LLVMValueRef piece =
            pieces == 1 ? value : LLVMBuildExtractElement(gen->builder, value, gen_i32(gen, i), "");
        LLVMSetAlignment(LLVMBuildStore(gen->builder, piece, at), 1);
    }
}

void emulator_store(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                    LLVMValueRef predicate)
{
    const Guard guard = guard_begin(gen, predicate);
    store_now(gen, op, pointer, value);
    guard_end(gen, &guard, NULL);
}

void emulator_store_bits(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef mask,
                         LLVMValueRef set, LLVMValueRef predicate)
{
    const LLVMAtomicOrdering order = LLVMAtomicOrderingMonotonic;
    const Guard guard = guard_begin(gen, predicate);
    LLVMValueRef at = checked_address(gen, op, pointer, 1, TILE_EMU_WRITE);
    LLVMValueRef keep = LLVMBuildNot(gen->builder, mask, "");
    keep = LLVMBuildTrunc(gen->builder, keep, gen->types.i8, "");
    set = LLVMBuildTrunc(gen->builder, set, gen->types.i8, "");
    LLVMBuildAtomicRMW(gen->builder, LLVMAtomicRMWBinOpAnd, at, keep, order, false);
    LLVMBuildAtomicRMW(gen->builder, LLVMAtomicRMWBinOpOr, at, set, order, false);
    guard_end(gen, &guard, NULL);
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

static LLVMValueRef read_atomically(Gen *gen, LLVMValueRef at, LLVMTypeRef type, int bytes)
{
    LLVMValueRef load = LLVMBuildLoad2(gen->builder, type, at, "");
    LLVMSetOrdering(load, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(load, (unsigned)bytes);
    return load;
}

/* The sum is computed as the machine has it, and exchanged for what it was computed from, until
 * nobody came between. What was there. */
static LLVMValueRef add_by_exchange(Gen *gen, LLVMValueRef at, LLVMValueRef value, DType dtype)
{
    const LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
    LLVMBuilderRef builder = gen->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(builder), again = gen_block(gen, "again"),
                      after = gen_block(gen, "added");
    LLVMTypeRef word = gen->types.i16;
    LLVMValueRef first = read_atomically(gen, at, word, 2);
    LLVMBuildBr(builder, again);
    gen_at(gen, again);
    LLVMValueRef old = LLVMBuildPhi(builder, word, "");
    LLVMValueRef was = gen_to_f32(gen, dtype, gen_bitcast(gen, old, gen_dtype(gen, dtype)));
    LLVMValueRef sum = LLVMBuildFAdd(builder, was, gen_to_f32(gen, dtype, value), "");
    sum = gen_bitcast(gen, gen_from_f32(gen, dtype, sum), word);
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(builder, at, old, sum, order, order, false);
    LLVMValueRef found = LLVMBuildExtractValue(builder, pair, 0, "");
    LLVMBasicBlockRef blocks[2] = {before, LLVMGetInsertBlock(builder)};
    LLVMAddIncoming(old, (LLVMValueRef[]){first, found}, blocks, 2);
    LLVMBuildCondBr(builder, LLVMBuildExtractValue(builder, pair, 1, ""), after, again);
    gen_at(gen, after);
    return gen_bitcast(gen, old, gen_dtype(gen, dtype));
}

static LLVMValueRef atomic_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                               LLVMValueRef compare)
{
    const DType dtype = operand(op, value)->type->dtype;
    const char *mode = op_attr(op, ATTR_mode)->text;
    const LLVMAtomicOrdering order = LLVMAtomicOrderingSequentiallyConsistent;
    LLVMValueRef at = checked_address(gen, op, pointer, dtype_bits(dtype) / 8, TILE_EMU_ATOMIC);
    if (strcmp(mode, "ld") == 0)
        return read_atomically(gen, at, LLVMTypeOf(value), dtype_bits(dtype) / 8);
    if (dtype_is_float(dtype) && dtype_bits(dtype) == 16)
        return add_by_exchange(gen, at, value, dtype);
    if (strcmp(mode, "cas") != 0)
        return LLVMBuildAtomicRMW(gen->builder, atomic_operation(mode, dtype), at, value, order,
                                  false);
    LLVMTypeRef type = LLVMTypeOf(value),
                word = LLVMIntTypeInContext(gen->context, (unsigned)dtype_bits(dtype));
    LLVMValueRef pair = LLVMBuildAtomicCmpXchg(gen->builder, at, gen_bitcast(gen, compare, word),
                                               gen_bitcast(gen, value, word), order, order, false);
    return gen_bitcast(gen, LLVMBuildExtractValue(gen->builder, pair, 0, ""), type);
}

LLVMValueRef emulator_atomic(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                             LLVMValueRef compare, LLVMValueRef predicate)
{
    const Guard guard = guard_begin(gen, predicate);
    return guard_end(gen, &guard, atomic_now(gen, op, pointer, value, compare));
}

static void add_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value, DType dtype)
{
    LLVMValueRef at = checked_address(gen, op, pointer, dtype_bytes(dtype), TILE_EMU_ATOMIC);
    if (dtype_bits(dtype) == 16)
        add_by_exchange(gen, at, value, dtype);
    else
        LLVMBuildAtomicRMW(gen->builder, LLVMAtomicRMWBinOpFAdd, at, value,
                           LLVMAtomicOrderingSequentiallyConsistent, false);
}

void emulator_red(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                  LLVMValueRef predicate)
{
    const Type *type = operand(op, value)->type;
    const Guard guard = guard_begin(gen, predicate);
    if (type->kind == TYPE_SCALAR) add_now(gen, op, pointer, value, type->dtype);
    for (int i = 0; type->kind == TYPE_VECTOR && i < type->count; i++)
        add_now(gen, op, gen_offset(gen, pointer, (int64_t)i * dtype_bytes(type->dtype)),
                LLVMBuildExtractElement(gen->builder, value, gen_i32(gen, i), ""), type->dtype);
    guard_end(gen, &guard, NULL);
}

/* Where the conversion of the value behind the first `count` begins; the end: there are no more. */
static const char *conversion_at(const char *format, int count)
{
    for (; *format != '\0'; format++) {
        if (*format != '%') continue;
        if (format[1] == '%')
            format++;
        else if (count-- == 0)
            break;
    }
    return format;
}

void emulator_texture(Gen *gen, LLVMValueRef texture, LLVMValueRef level, int dims,
                      const LLVMValueRef *coordinates, LLVMValueRef *channels)
{
    LLVMValueRef none = LLVMConstReal(gen->types.f32, 0);
    LLVMValueRef arguments[6] = {texture, level, gen_i32(gen, dims), coordinates[0], none, none};
    for (int i = 1; i < dims; i++) arguments[3 + i] = coordinates[i];
    emu_call(gen, "tile_emu_texture", gen->types.nothing, 6, arguments);
    for (int i = 0; i < 4; i++) channels[i] = gen_bitcast(gen, emu_out(gen, i), gen->types.f32);
}

static void print_part(Gen *gen, const char *format, int count, LLVMValueRef *slots)
{
    for (int i = 0; i < count; i++)
        LLVMSetAlignment(
            LLVMBuildStore(gen->builder, slots[i],
                           emu_field(gen, offsetof(tile_emu_thread, in) + 8 * (size_t)i)),
            4);
    LLVMValueRef arguments[] = {LLVMBuildGlobalStringPtr(gen->builder, format, "format"),
                                gen_i32(gen, count)};
    emu_call(gen, "tile_emu_print", gen->types.nothing, 2, arguments);
}

/* A call takes so many values: more are printed by one after the other. */
void emulator_print(Gen *gen, const char *format, int count, LLVMValueRef *slots)
{
    enum { MOST = TILE_EMU_IN_WORDS / 2 };
    while (count > MOST) {
        const char *rest = conversion_at(format, MOST);
        print_part(gen, arena_printf(gen->arena, "%.*s", (int)(rest - format), format), MOST,
                   slots);
        format = rest;
        slots += MOST;
        count -= MOST;
    }
    print_part(gen, format, count, slots);
}

/* ---- asynchronous copies ---- */

void emulator_copy_async(Gen *gen, const Op *op, LLVMValueRef to, LLVMValueRef from, int bytes,
                         LLVMValueRef inside, LLVMValueRef active)
{
    const LLVMTypeRef i32 = gen->types.i32;
    LLVMValueRef arguments[] = {to,
                                from,
                                gen_i32(gen, bytes),
                                LLVMBuildZExt(gen->builder, inside, i32, ""),
                                active != NULL ? LLVMBuildZExt(gen->builder, active, i32, "")
                                               : gen_i32(gen, 1),
                                gen_i32(gen, emu_site(gen, op))};
    emu_call(gen, "tile_emu_copy_async", gen->types.nothing, 6, arguments);
}

void emulator_copy_commit(Gen *gen)
{
    emu_call(gen, "tile_emu_copy_commit", gen->types.nothing, 0, NULL);
}

void emulator_copy_wait(Gen *gen, int groups)
{
    LLVMValueRef count = gen_i32(gen, groups);
    emu_call(gen, "tile_emu_copy_wait", gen->types.nothing, 1, &count);
}
