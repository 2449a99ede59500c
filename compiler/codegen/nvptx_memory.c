/* nvptx_memory.c: the GPU: loads, stores, atomics, copies to shared memory, prints. */
#include "codegen/llvm.h"

#include <stdio.h>
#include <string.h>

/* How one value moves: `count` pieces of `unit` bytes an instruction, as often as it takes. */
typedef struct Access {
    int bytes, unit, count, times;
    const char *space;
} Access;

static int access_align(const Op *op, const Type *type)
{
    int64_t align = op_int(op, ATTR_align, dtype_bytes(type->dtype)), power = align & -align;
    return power > 16 ? 16 : (int)power;
}

static Access access_of(const Op *op, const Type *type)
{
    Access it = {.bytes = (int)type_bytes(type)};
    int align = access_align(op, type), most = it.bytes < align ? it.bytes : align;
    it.unit = most > 4 ? 4 : most;
    if (type->kind == TYPE_SCALAR) it.unit = it.bytes;
    it.count = type->kind == TYPE_SCALAR ? 1 : most / it.unit;
    it.times = it.bytes / (it.unit * it.count);
    const Space space = operand(op, pointer)->type->space;
    it.space = space == SPACE_SHARED    ? "shared"
               : space == SPACE_CLUSTER ? "shared::cluster"
                                        : "global";
    CHECK(it.unit * it.count * it.times == it.bytes);
    return it;
}

static LLVMTypeRef unit_type(const Gen *gen, const Access *it)
{
    /* PTX has no 8-bit registers: a byte moves in a 16-bit one. */
    return it->unit == 8 ? gen->types.i64 : it->unit == 4 ? gen->types.i32 : gen->types.i16;
}

static char unit_letter(const Access *it)
{
    return it->unit == 8 ? 'l' : it->unit == 4 ? 'r' : 'h';
}

static const char *vector_suffix(const Access *it)
{
    return it->count == 4 ? ".v4" : it->count == 2 ? ".v2" : "";
}

static void unit_list(Buf *text, const Access *it, int first)
{
    buf_text(text, it->count > 1 ? "{" : "");
    for (int i = 0; i < it->count; i++) buf_printf(text, "%s$%d", i > 0 ? ", " : "", first + i);
    buf_text(text, it->count > 1 ? "}" : "");
}

static LLVMTypeRef units_type(const Gen *gen, const Access *it)
{
    LLVMTypeRef unit = unit_type(gen, it), types[4] = {unit, unit, unit, unit};
    return it->count == 1
               ? unit
               : LLVMStructTypeInContext(gen->context, types, (unsigned)it->count, false);
}

/* The bytes of the cache line that L2 reads as well; "": the sectors alone. */
static const char *prefetch_suffix(const Op *op)
{
    return op_int(op, ATTR_prefetch_size, 0) == CACHE_LINE_BYTES ? ".L2::128B" : "";
}

/* One instruction; what it does not load, where the predicate is given and false, is zero. */
static void load_piece(Gen *gen, const Op *op, const Access *it, LLVMValueRef pointer,
                       LLVMValueRef predicate, LLVMValueRef *units)
{
    Buf text = {0}, constraints = {0};
    const int bits = it->unit == 1 ? 16 : it->unit * 8;
    for (int i = 0; i < it->count; i++) {
        if (predicate != NULL) buf_printf(&text, "mov.b%d $%d, 0;\n\t", bits, i);
        buf_printf(&constraints, "=%s%c,", predicate != NULL ? "&" : "", unit_letter(it));
    }
    if (predicate != NULL) buf_printf(&text, "@$%d ", it->count + 1);
    buf_printf(&text, "ld.%s%s%s.b%d ", it->space, prefetch_suffix(op), vector_suffix(it),
               it->unit * 8);
    unit_list(&text, it, 0);
    buf_printf(&text, ", [$%d];", it->count);
    buf_printf(&constraints, "%c,%s~{memory}", it->space[0] == 's' ? 'r' : 'l',
               predicate != NULL ? "b," : "");
    LLVMValueRef arguments[2] = {pointer, predicate};
    LLVMValueRef result = nvptx_asm(gen, units_type(gen, it), text.data, constraints.data,
                                    predicate != NULL ? 2 : 1, arguments);
    for (int i = 0; i < it->count; i++)
        units[i] =
            it->count == 1 ? result : LLVMBuildExtractValue(gen->builder, result, (unsigned)i, "");
    buf_free(&text);
    buf_free(&constraints);
}

static LLVMValueRef load_pieces(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                                LLVMValueRef predicate)
{
    Access it = access_of(op, op->results[0].type);
    LLVMValueRef units[64];
    int total = it.count * it.times;
    CHECK(total <= 64);
    for (int i = 0; i < it.times; i++)
        load_piece(gen, op, &it, gen_offset(gen, pointer, (int64_t)i * it.unit * it.count),
                   predicate, units + i * it.count);
    for (int i = 0; it.unit == 1 && i < total; i++)
        units[i] = LLVMBuildTrunc(gen->builder, units[i], gen->types.i8, "");
    return gen_from_words(gen, total, units, type);
}

LLVMValueRef nvptx_load(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                        LLVMValueRef predicate)
{
    if (predicate != NULL || op_attr(op, ATTR_prefetch_size) != NULL)
        return load_pieces(gen, op, pointer, type, predicate);
    LLVMValueRef load = LLVMBuildLoad2(gen->builder, type, pointer, "");
    LLVMSetAlignment(load, (unsigned)access_align(op, op->results[0].type));
    return load;
}

static void store_piece(Gen *gen, const Access *it, LLVMValueRef pointer, LLVMValueRef predicate,
                        LLVMValueRef *units)
{
    Buf text = {0}, constraints = {0};
    LLVMValueRef arguments[6] = {pointer, predicate};
    buf_printf(&text, "@$1 st.%s%s.b%d [$0], ", it->space, vector_suffix(it), it->unit * 8);
    unit_list(&text, it, 2);
    buf_text(&text, ";");
    buf_printf(&constraints, "%c,b,", it->space[0] == 's' ? 'r' : 'l');
    for (int i = 0; i < it->count; i++) {
        buf_printf(&constraints, "%c,", unit_letter(it));
        arguments[2 + i] = units[i];
    }
    buf_text(&constraints, "~{memory}");
    nvptx_asm(gen, gen->types.nothing, text.data, constraints.data, 2 + it->count, arguments);
    buf_free(&text);
    buf_free(&constraints);
}

static void store_predicated(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                             LLVMValueRef predicate)
{
    Access it = access_of(op, operand(op, value)->type);
    int total = it.count * it.times;
    LLVMTypeRef unit = LLVMIntTypeInContext(gen->context, (unsigned)it.unit * 8);
    LLVMTypeRef whole = total == 1 ? unit : LLVMVectorType(unit, (unsigned)total);
    LLVMValueRef units[64], bits = gen_bitcast(gen, value, whole);
    CHECK(total <= 64);
    for (int i = 0; i < total; i++) {
        units[i] =
            total == 1 ? bits : LLVMBuildExtractElement(gen->builder, bits, gen_i32(gen, i), "");
        if (it.unit == 1) units[i] = LLVMBuildZExt(gen->builder, units[i], gen->types.i16, "");
    }
    for (int i = 0; i < it.times; i++)
        store_piece(gen, &it, gen_offset(gen, pointer, (int64_t)i * it.unit * it.count), predicate,
                    units + i * it.count);
}

void nvptx_store(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                 LLVMValueRef predicate)
{
    if (predicate != NULL) {
        store_predicated(gen, op, pointer, value, predicate);
        return;
    }
    LLVMValueRef store = LLVMBuildStore(gen->builder, value, pointer);
    LLVMSetAlignment(store, (unsigned)access_align(op, operand(op, value)->type));
}

/* The word around the byte; the two halves of the change leave other bits alone each by itself. */
void nvptx_store_bits(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef mask,
                      LLVMValueRef set, LLVMValueRef predicate)
{
    const Space in = operand(op, pointer)->type->space;
    const bool is_shared = in == SPACE_SHARED || in == SPACE_CLUSTER;
    const char *space = in == SPACE_SHARED    ? "cta.shared"
                        : in == SPACE_CLUSTER ? "cluster.shared::cluster"
                                              : "gpu.global",
               *guard = predicate ? "@$3 " : "";
    LLVMTypeRef whole = is_shared ? gen->types.i32 : gen->types.i64;
    LLVMValueRef address = LLVMBuildPtrToInt(gen->builder, pointer, whole, "");
    LLVMValueRef byte = LLVMBuildAnd(gen->builder, address, gen_int(gen, whole, 3), ""),
                 arguments[4];
    LLVMValueRef shift =
        LLVMBuildTrunc(gen->builder, LLVMBuildShl(gen->builder, byte, gen_int(gen, whole, 3), ""),
                       gen->types.i32, "");
    address = LLVMBuildSub(gen->builder, address, byte, "");
    mask = LLVMBuildShl(gen->builder, mask, shift, "");
    arguments[0] = address;
    arguments[1] = LLVMBuildNot(gen->builder, mask, "");
    arguments[2] = LLVMBuildShl(gen->builder, set, shift, "");
    arguments[3] = predicate;
    Buf text = {0};
    buf_printf(&text, "%sred.relaxed.%s.and.b32 [$0], $1;\n\t%sred.relaxed.%s.or.b32 [$0], $2;",
               guard, space, guard, space);
    const char *constraints = is_shared   ? predicate ? "r,r,r,b,~{memory}" : "r,r,r,~{memory}"
                              : predicate ? "l,r,r,b,~{memory}"
                                          : "l,r,r,~{memory}";
    nvptx_asm(gen, gen->types.nothing, text.data, constraints, predicate ? 4 : 3, arguments);
    buf_free(&text);
}

static char atomic_class(const Op *op, DType dtype)
{
    static const char *const of_bits[] = {"exch", "cas", "and", "or", "xor"};
    const char *mode = op_attr(op, ATTR_mode)->text;
    for (size_t i = 0; i < sizeof of_bits / sizeof *of_bits; i++)
        if (strcmp(mode, of_bits[i]) == 0) return 'b';
    if (dtype_is_float(dtype)) return 'f';
    /* a sum is the same with and without sign; of 64 bits there is one name */
    return strcmp(mode, "add") == 0 || !dtype_is_signed(dtype) ? 'u' : 's';
}

/* What stands behind the operation: ".noftz.f16", ".u32". */
static void atomic_type(Buf *text, const Op *op, DType dtype)
{
    if (dtype_is_float(dtype) && dtype_bits(dtype) == 16)
        buf_printf(text, ".noftz.%s", dtype_name(dtype));
    else
        buf_printf(text, ".%c%d", atomic_class(op, dtype), dtype_bits(dtype));
}

/* A plain load: one that is strong for the GPU is the L2 cache's to answer, where all that ask for
 * one element stand in line. No pass of LLVM moves it. */
static LLVMValueRef read_now(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                             LLVMValueRef predicate)
{
    const Access it = access_of(op, op->results[0].type);
    LLVMValueRef word;
    load_piece(gen, op, &it, pointer, predicate, &word);
    return gen_bitcast(gen, word, type);
}

LLVMValueRef nvptx_atomic(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                          LLVMValueRef compare, LLVMValueRef predicate)
{
    if (strcmp(op_attr(op, ATTR_mode)->text, "ld") == 0)
        return read_now(gen, op, pointer, LLVMTypeOf(value), predicate);
    Buf text = {0}, constraints = {0};
    const DType dtype = operand(op, value)->type->dtype;
    const int bits = dtype_bits(dtype);
    LLVMTypeRef in_register = bits == 16 ? gen->types.i16 : gen_dtype(gen, dtype);
    const bool in_cluster = is_remote(op);
    const bool is_shared = operand(op, pointer)->type->space == SPACE_SHARED || in_cluster;
    const bool compares = strcmp(op_attr(op, ATTR_mode)->text, "cas") == 0;
    const char letter = bits == 16              ? 'h'
                        : dtype_is_float(dtype) ? (bits == 64 ? 'd' : 'f')
                        : bits == 64            ? 'l'
                                                : 'r';
    const MemoryOrder order = atomic_order(op);
    const char *scope = memory_scope_name(order);
    LLVMValueRef arguments[4] = {pointer};
    int count = 1;
    if (order.sequential) buf_printf(&text, "fence.sc.%s;\n\t", scope);
    if (compares) arguments[count++] = compare;
    arguments[count++] = gen_bitcast(gen, value, in_register);
    if (predicate != NULL) {
        arguments[count++] = predicate;
        buf_printf(&text, "mov.b%d $0, 0;\n\t@$%d ", bits, count);
    }
    buf_printf(&text, "atom.%s.%s.%s.%s", memory_order_name(order), scope,
               in_cluster  ? "shared::cluster"
               : is_shared ? "shared"
                           : "global",
               op_attr(op, ATTR_mode)->text);
    atomic_type(&text, op, dtype);
    buf_printf(&text, " $0, [$1], $2%s;", compares ? ", $3" : "");
    buf_printf(&constraints, "=%s%c,%c,%c,", predicate != NULL ? "&" : "", letter,
               is_shared ? 'r' : 'l', letter);
    if (compares) buf_printf(&constraints, "%c,", letter);
    buf_printf(&constraints, "%s~{memory}", predicate != NULL ? "b," : "");
    LLVMValueRef old = nvptx_asm(gen, in_register, text.data, constraints.data, count, arguments);
    buf_free(&text);
    buf_free(&constraints);
    return gen_bitcast(gen, old, gen_dtype(gen, dtype));
}

/* The registers that an addend is in: pairs of 16-bit numbers in one. */
typedef struct Addend {
    int count;
    bool is_paired;
    LLVMValueRef registers[4];
} Addend;

static Addend addend_of(Gen *gen, const Type *type, LLVMValueRef value)
{
    const int elements = type->kind == TYPE_VECTOR ? type->count : 1,
              bits = dtype_bits(type->dtype);
    Addend addend = {.count = elements, .is_paired = bits == 16 && elements > 1};
    if (addend.is_paired) addend.count /= 2;
    LLVMTypeRef unit = bits == 32         ? gen->types.f32
                       : addend.is_paired ? gen->types.i32
                                          : gen->types.i16;
    LLVMTypeRef whole = addend.count == 1 ? unit : LLVMVectorType(unit, (unsigned)addend.count);
    value = gen_bitcast(gen, value, whole);
    for (int i = 0; i < addend.count; i++)
        addend.registers[i] =
            addend.count == 1 ? value
                              : LLVMBuildExtractElement(gen->builder, value, gen_i32(gen, i), "");
    return addend;
}

void nvptx_red(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
               LLVMValueRef predicate)
{
    const Type *type = operand(op, value)->type;
    const Addend addend = addend_of(gen, type, value);
    const MemoryOrder order = atomic_order(op);
    const Access access = {.count = addend.count};
    const char letter = dtype_bits(type->dtype) == 32 ? 'f' : addend.is_paired ? 'r' : 'h';
    Buf text = {0}, constraints = {0};
    LLVMValueRef arguments[6] = {pointer};
    if (predicate != NULL) buf_printf(&text, "@$%d ", addend.count + 1);
    buf_printf(&text, "red.%s.%s.global.add%s%s.%s%s [$0], ", memory_order_name(order),
               memory_scope_name(order), letter == 'f' ? "" : ".noftz", vector_suffix(&access),
               dtype_name(type->dtype), addend.is_paired ? "x2" : "");
    unit_list(&text, &access, 1);
    buf_text(&text, ";");
    buf_text(&constraints, "l,");
    for (int i = 0; i < addend.count; i++) {
        buf_printf(&constraints, "%c,", letter);
        arguments[1 + i] = addend.registers[i];
    }
    buf_printf(&constraints, "%s~{memory}", predicate != NULL ? "b," : "");
    arguments[1 + addend.count] = predicate;
    nvptx_asm(gen, gen->types.nothing, text.data, constraints.data,
              1 + addend.count + (predicate != NULL), arguments);
    buf_free(&text);
    buf_free(&constraints);
}

/* The driver's printf takes its arguments from memory. */
void nvptx_print(Gen *gen, const char *format, int count, LLVMValueRef *slots)
{
    LLVMTypeRef parameters[2] = {gen->types.pointer, gen->types.pointer};
    LLVMTypeRef type = LLVMFunctionType(gen->types.i32, parameters, 2, false);
    LLVMValueRef function = LLVMGetNamedFunction(gen->module, "vprintf");
    if (function == NULL) function = LLVMAddFunction(gen->module, "vprintf", type);
    LLVMValueRef text = LLVMConstStringInContext2(gen->context, format, strlen(format), false);
    LLVMValueRef global =
        LLVMAddGlobalInAddressSpace(gen->module, LLVMTypeOf(text), "format", SPACE_OF_GLOBAL);
    LLVMSetInitializer(global, text);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(gen->builder);
    LLVMPositionBuilderBefore(gen->builder,
                              LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(gen->function)));
    LLVMTypeRef buffer = LLVMArrayType2(gen->types.i64, (uint64_t)(count > 0 ? count : 1));
    LLVMValueRef memory = LLVMBuildAlloca(gen->builder, buffer, "");
    LLVMSetAlignment(memory, 8);
    LLVMPositionBuilderAtEnd(gen->builder, here);
    for (int i = 0; i < count; i++)
        LLVMBuildStore(gen->builder, slots[i], gen_offset(gen, memory, (int64_t)8 * i));
    LLVMValueRef arguments[2] = {LLVMConstAddrSpaceCast(global, gen->types.pointer), memory};
    LLVMBuildCall2(gen->builder, type, function, arguments, 2, "");
}

/* printf's text is seen if the program looks at it before the context is gone. */
void nvptx_stop(Gen *gen, const Op *op, const char *text)
{
    Buf format = {0};
    for (const char *p = text; *p != '\0'; p++) buf_printf(&format, *p == '%' ? "%%%%" : "%c", *p);
    buf_text(&format, "\n");
    (void)op;
    nvptx_print(gen, format.data, 0, NULL);
    nvptx_asm(gen, gen->types.nothing, "trap;", "~{memory}", 0, NULL);
    buf_free(&format);
}

/* The L2 eviction priority of one load. */
void nvptx_policy(Buf *text, const char *evict)
{
    buf_printf(text,
               ".reg .b64 policy;\n\t"
               "createpolicy.fractional.L2::%s.b64 policy, 1.0;\n\t",
               evict);
}

/* Past L1 where it is 16 bytes wide, as what is shared by the block is read once. */
void nvptx_copy_async(Gen *gen, const Op *op, LLVMValueRef to, LLVMValueRef from, int bytes,
                      LLVMValueRef inside, LLVMValueRef active)
{
    const Attr *evict = op_attr(op, ATTR_evict);
    Buf text = {0};
    LLVMValueRef arguments[4] = {to, from, NULL, active};
    arguments[2] = LLVMBuildSelect(gen->builder, inside, gen_i32(gen, bytes), gen_i32(gen, 0), "");
    if (evict != NULL) {
        buf_text(&text, "{\n\t");
        nvptx_policy(&text, evict->text);
    }
    buf_printf(&text, "%scp.async.%s.shared.global%s%s [$0], [$1], %d, $2%s", active ? "@$3 " : "",
               bytes == 16 ? "cg" : "ca", evict != NULL ? ".L2::cache_hint" : "",
               prefetch_suffix(op), bytes, evict != NULL ? ", policy;\n\t}" : ";");
    nvptx_asm(gen, gen->types.nothing, text.data, active ? "r,l,r,b,~{memory}" : "r,l,r,~{memory}",
              active ? 4 : 3, arguments);
    buf_free(&text);
}

void nvptx_copy_commit(Gen *gen)
{
    nvptx_asm(gen, gen->types.nothing, "cp.async.commit_group;", "~{memory}", 0, NULL);
}

void nvptx_copy_wait(Gen *gen, int groups)
{
    Buf text = {0};
    if (groups < 0)
        buf_text(&text, "cp.async.wait_all;");
    else
        buf_printf(&text, "cp.async.wait_group %d;", groups);
    nvptx_asm(gen, gen->types.nothing, text.data, "~{memory}", 0, NULL);
    buf_free(&text);
}

/* All of the block's shared memory is one array, whose size the launch gives. */

LLVMValueRef nvptx_shared(Gen *gen, int64_t offset)
{
    LLVMValueRef base = LLVMGetNamedGlobal(gen->module, "shared_memory");
    if (base == NULL) {
        LLVMTypeRef type = LLVMArrayType2(gen->types.i8, 0);
        base = LLVMAddGlobalInAddressSpace(gen->module, type, "shared_memory", SPACE_OF_SHARED);
        LLVMSetLinkage(base, LLVMExternalLinkage);
        LLVMSetAlignment(base, SWIZZLE_ATOM_BYTES);
    }
    return gen_offset(gen, base, offset);
}
