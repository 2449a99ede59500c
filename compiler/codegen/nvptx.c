/* nvptx.c: the GPU: target machines, kernels, memory, special registers; PTX text. */
#include "codegen/llvm.h"

#include <stdio.h>
#include <string.h>

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>

#include "abi.h"

enum {
    PTX_KERNEL = 71,
    SPACE_OF_GLOBAL = 1,
    SPACE_OF_SHARED = 3,
    SPACE_OF_CLUSTER = 7,
    SHARED_ALIGN = 1024
};

/* ---- target machines ---- */

static LLVMTargetMachineRef machine_make(const Target *target, int ptx)
{
    char cpu[32], features[32], *error = NULL;
    LLVMTargetRef llvm = NULL;
    if (LLVMGetTargetFromTriple("nvptx64-nvidia-cuda", &llvm, &error)) ICE("LLVM: %s", error);
    snprintf(cpu, sizeof cpu, "sm_%d%c", target->number, target->suffix);
    snprintf(features, sizeof features, "+ptx%d", ptx);
    return LLVMCreateTargetMachine(llvm, "nvptx64-nvidia-cuda", cpu, features,
                                   LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelDefault);
}

static bool has_short_pointers(LLVMTargetMachineRef machine)
{
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    bool result = LLVMPointerSizeForAS(layout, SPACE_OF_SHARED) == 4;
    LLVMDisposeTargetData(layout);
    return result;
}

/* Shared memory has 32-bit addresses. LLVM takes that as an option of the process, which may be
 * given once. */
static LLVMTargetMachineRef machine_with_short_pointers(const Target *target, int ptx)
{
    LLVMTargetMachineRef machine = machine_make(target, ptx);
    if (has_short_pointers(machine)) return machine;
    static const char *const options[] = {"tilec", "-nvptx-short-ptr"};
    LLVMParseCommandLineOptions(2, options, NULL);
    LLVMDisposeTargetMachine(machine);
    machine = machine_make(target, ptx);
    CHECK(has_short_pointers(machine));
    return machine;
}

static LLVMTargetMachineRef machine_of(Codegen *codegen, const Target *target, int ptx)
{
    for (size_t i = 0; i < codegen->gpu_targets.count; i++)
        if (codegen->gpu_targets.data[i].target == target &&
            codegen->gpu_targets.data[i].ptx == ptx)
            return codegen->gpu_targets.data[i].machine;
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    NvptxTarget made = {target, ptx, machine_with_short_pointers(target, ptx)};
    vec_push(codegen->session->arena, &codegen->gpu_targets, made);
    return made.machine;
}

void nvptx_prepare(Codegen *codegen)
{
    machine_of(codegen, target_at(0), target_at(0)->ptx);
}

/* ---- inline PTX ---- */

static LLVMValueRef build_asm(Gen *gen, LLVMTypeRef result, const char *text,
                              const char *constraints, bool has_effects, int count,
                              LLVMValueRef *arguments)
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

LLVMValueRef nvptx_asm(Gen *gen, LLVMTypeRef result, const char *text, const char *constraints,
                       int count, LLVMValueRef *arguments)
{
    return build_asm(gen, result, text, constraints, true, count, arguments);
}

/* One instruction, which ptxas does not make of two that have a constant each. */
LLVMValueRef nvptx_masked(Gen *gen, LLVMValueRef word, uint32_t mask, uint32_t flip)
{
    enum { AND_XOR = (0xf0 & 0xcc) ^ 0xaa };
    char text[64];
    snprintf(text, sizeof text, "lop3.b32 $0, $1, 0x%x, 0x%x, 0x%x;", (unsigned)mask,
             (unsigned)flip, AND_XOR);
    return build_asm(gen, gen->types.i32, text, "=r,r", false, 1, &word);
}

/* ---- memory ---- */

/* How one value moves: `count` pieces of `unit` bytes an instruction, as often as it takes. */
typedef struct Access {
    int bytes, unit, count, times;
    const char *space;
} Access;

static int access_align(const Gen *gen, const Op *op, const Type *type)
{
    int64_t align = op_int(op, ATTR_align, dtype_bytes(type->dtype)), power = align & -align;
    (void)gen;
    return power > 16 ? 16 : (int)power;
}

static Access access_of(const Gen *gen, const Op *op, const Type *type)
{
    Access it = {.bytes = gen_type_bytes(gen, type)};
    int align = access_align(gen, op, type), most = it.bytes < align ? it.bytes : align;
    it.unit = most > 4 ? 4 : most;
    if (type->kind == TYPE_SCALAR) it.unit = it.bytes;
    it.count = type->kind == TYPE_SCALAR ? 1 : most / it.unit;
    it.times = it.bytes / (it.unit * it.count);
    const Space space = op->operands[0]->type->space;
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

/* One predicated instruction: what it does not load is zero. */
static void load_piece(Gen *gen, const Access *it, LLVMValueRef pointer, LLVMValueRef predicate,
                       LLVMValueRef *units)
{
    Buf text = {0}, constraints = {0};
    int bits = it->unit == 1 ? 16 : it->unit * 8;
    for (int i = 0; i < it->count; i++) {
        buf_printf(&text, "mov.b%d $%d, 0;\n\t", bits, i);
        buf_printf(&constraints, "=&%c,", unit_letter(it));
    }
    buf_printf(&text, "@$%d ld.%s%s.b%d ", it->count + 1, it->space, vector_suffix(it),
               it->unit * 8);
    unit_list(&text, it, 0);
    buf_printf(&text, ", [$%d];", it->count);
    buf_printf(&constraints, "%c,b,~{memory}", it->space[0] == 's' ? 'r' : 'l');
    LLVMValueRef arguments[2] = {pointer, predicate};
    LLVMValueRef result =
        nvptx_asm(gen, units_type(gen, it), text.data, constraints.data, 2, arguments);
    for (int i = 0; i < it->count; i++)
        units[i] =
            it->count == 1 ? result : LLVMBuildExtractValue(gen->builder, result, (unsigned)i, "");
    buf_free(&text);
    buf_free(&constraints);
}

static LLVMValueRef load_predicated(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                                    LLVMValueRef predicate)
{
    Access it = access_of(gen, op, op->results[0].type);
    LLVMValueRef units[64];
    int total = it.count * it.times;
    CHECK(total <= 64);
    for (int i = 0; i < it.times; i++)
        load_piece(gen, &it, gen_offset(gen, pointer, (int64_t)i * it.unit * it.count), predicate,
                   units + i * it.count);
    for (int i = 0; it.unit == 1 && i < total; i++)
        units[i] = LLVMBuildTrunc(gen->builder, units[i], gen->types.i8, "");
    return gen_from_words(gen, total, units, type);
}

static LLVMValueRef nvptx_load(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                               LLVMValueRef predicate)
{
    if (predicate != NULL) return load_predicated(gen, op, pointer, type, predicate);
    LLVMValueRef load = LLVMBuildLoad2(gen->builder, type, pointer, "");
    LLVMSetAlignment(load, (unsigned)access_align(gen, op, op->results[0].type));
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
    Access it = access_of(gen, op, op->operands[1]->type);
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

static void nvptx_store(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                        LLVMValueRef predicate)
{
    if (predicate != NULL) {
        store_predicated(gen, op, pointer, value, predicate);
        return;
    }
    LLVMValueRef store = LLVMBuildStore(gen->builder, value, pointer);
    LLVMSetAlignment(store, (unsigned)access_align(gen, op, op->operands[1]->type));
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

static LLVMValueRef nvptx_atomic(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                                 LLVMValueRef compare, LLVMValueRef predicate)
{
    Buf text = {0}, constraints = {0};
    const DType dtype = op->operands[1]->type->dtype;
    const int bits = dtype_bits(dtype);
    const bool in_cluster = op->operands[0]->type->space == SPACE_CLUSTER;
    const bool is_shared = op->operands[0]->type->space == SPACE_SHARED || in_cluster;
    const bool compares = strcmp(op_attr(op, ATTR_mode)->text, "cas") == 0;
    const char letter = bits == 16              ? 'h'
                        : dtype_is_float(dtype) ? (bits == 64 ? 'd' : 'f')
                        : bits == 64            ? 'l'
                                                : 'r';
    const char *order = op_attr(op, ATTR_order)->text, *scope = op_attr(op, ATTR_scope)->text;
    if (in_cluster && strcmp(scope, "cta") == 0) scope = "cluster";
    LLVMValueRef arguments[4] = {pointer};
    int count = 1;
    if (strcmp(order, "seq_cst") == 0) { /* one order of all: by a fence before the atomic */
        order = "acq_rel";
        buf_printf(&text, "fence.sc.%s;\n\t", scope);
    }
    if (compares) arguments[count++] = compare;
    arguments[count++] = value;
    if (predicate != NULL) {
        arguments[count++] = predicate;
        buf_printf(&text, "mov.b%d $0, 0;\n\t@$%d ", bits, count);
    }
    buf_printf(&text, "atom.%s.%s.%s.%s.%c%d $0, [$1], $2%s;", order, scope,
               in_cluster  ? "shared::cluster"
               : is_shared ? "shared"
                           : "global",
               op_attr(op, ATTR_mode)->text, atomic_class(op, dtype), bits, compares ? ", $3" : "");
    buf_printf(&constraints, "=%s%c,%c,%c,", predicate != NULL ? "&" : "", letter,
               is_shared ? 'r' : 'l', letter);
    if (compares) buf_printf(&constraints, "%c,", letter);
    buf_printf(&constraints, "%s~{memory}", predicate != NULL ? "b," : "");
    LLVMValueRef old =
        nvptx_asm(gen, gen_dtype(gen, dtype), text.data, constraints.data, count, arguments);
    buf_free(&text);
    buf_free(&constraints);
    return old;
}

/* The driver's printf takes its arguments from memory. */
static void nvptx_print(Gen *gen, const char *format, int count, LLVMValueRef *slots)
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
static void nvptx_stop(Gen *gen, const Op *op, const char *text)
{
    Buf format = {0};
    for (const char *p = text; *p != '\0'; p++) buf_printf(&format, *p == '%' ? "%%%%" : "%c", *p);
    buf_text(&format, "\n");
    (void)op;
    nvptx_print(gen, format.data, 0, NULL);
    nvptx_asm(gen, gen->types.nothing, "trap;", "~{memory}", 0, NULL);
    buf_free(&format);
}

/* Past L1 where it is 16 bytes wide, as what is shared by the block is read once. */
static void nvptx_copy_async(Gen *gen, const Op *op, LLVMValueRef to, LLVMValueRef from, int bytes,
                             LLVMValueRef inside, LLVMValueRef active)
{
    const Attr *evict = op_attr(op, ATTR_evict);
    Buf text = {0};
    LLVMValueRef arguments[4] = {to, from, NULL, active};
    arguments[2] = LLVMBuildSelect(gen->builder, inside, gen_i32(gen, bytes), gen_i32(gen, 0), "");
    if (evict != NULL)
        buf_printf(&text,
                   "{\n\t.reg .b64 policy;\n\t"
                   "createpolicy.fractional.L2::%s.b64 policy, 1.0;\n\t",
                   evict->text);
    buf_printf(&text, "%scp.async.%s.shared.global%s [$0], [$1], %d, $2%s", active ? "@$3 " : "",
               bytes == 16 ? "cg" : "ca", evict != NULL ? ".L2::cache_hint" : "", bytes,
               evict != NULL ? ", policy;\n\t}" : ";");
    nvptx_asm(gen, gen->types.nothing, text.data, active ? "r,l,r,b,~{memory}" : "r,l,r,~{memory}",
              active ? 4 : 3, arguments);
    buf_free(&text);
}

static void nvptx_copy_commit(Gen *gen)
{
    nvptx_asm(gen, gen->types.nothing, "cp.async.commit_group;", "~{memory}", 0, NULL);
}

static void nvptx_copy_wait(Gen *gen, int groups)
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
static LLVMValueRef nvptx_shared(Gen *gen, int64_t offset)
{
    LLVMValueRef base = LLVMGetNamedGlobal(gen->module, "shared_memory");
    if (base == NULL) {
        LLVMTypeRef type = LLVMArrayType2(gen->types.i8, 0);
        base = LLVMAddGlobalInAddressSpace(gen->module, type, "shared_memory", SPACE_OF_SHARED);
        LLVMSetLinkage(base, LLVMExternalLinkage);
        LLVMSetAlignment(base, SHARED_ALIGN);
    }
    return gen_offset(gen, base, offset);
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

static LLVMValueRef nvptx_index(Gen *gen, OpCode code, int dim)
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
    uint64_t threads = (uint64_t)op_int(launch, ATTR_warps, 1) * (uint64_t)gen->target->warp;
    return special_register(gen, "llvm.nvvm.read.ptx.sreg.tid.x", threads);
}

/* ---- threads together ---- */

static void nvptx_barrier(Gen *gen, LLVMValueRef index, int count)
{
    LLVMValueRef arguments[2] = {index, gen_i32(gen, count)};
    if (count > 0)
        gen_intrinsic(gen, "llvm.nvvm.barrier.cta.sync.aligned.count", 0, NULL, 2, arguments);
    else
        gen_intrinsic(gen, "llvm.nvvm.barrier.cta.sync.aligned.all", 0, NULL, 1, arguments);
}

static void nvptx_warp_sync(Gen *gen)
{
    LLVMValueRef everyone = gen_i32(gen, -1);
    gen_intrinsic(gen, "llvm.nvvm.bar.warp.sync", 0, NULL, 1, &everyone);
}

static LLVMValueRef nvptx_shuffle(Gen *gen, const char *mode, LLVMValueRef word, LLVMValueRef lane)
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

/* Older machines have no instruction for it. */
static LLVMValueRef nvptx_elect(Gen *gen)
{
    if (!target_has(gen->target, HAS_CLUSTER)) return gen_is_first_lane(gen);
    LLVMValueRef all = gen_i32(gen, -1);
    LLVMValueRef both = gen_intrinsic(gen, "llvm.nvvm.elect.sync", 0, NULL, 1, &all);
    return LLVMBuildExtractValue(gen->builder, both, 1, "");
}

static LLVMValueRef nvptx_vote(Gen *gen, LLVMValueRef condition)
{
    LLVMValueRef arguments[2] = {gen_i32(gen, -1), condition};
    return gen_intrinsic(gen, "llvm.nvvm.vote.ballot.sync", 0, NULL, 2, arguments);
}

const Machine nvptx_machine = {
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
    .print = nvptx_print,
    .stop = nvptx_stop,
    .copy_async = nvptx_copy_async,
    .cluster_rank = nvptx_cluster_rank,
    .cluster_address = nvptx_cluster_address,
    .cluster_arrive = nvptx_cluster_arrive,
    .cluster_wait = nvptx_cluster_wait,
    .grid_sync = nvptx_grid_sync,
    .copy_commit = nvptx_copy_commit,
    .copy_arrive = nvptx_copy_arrive,
    .mbarrier_init = nvptx_mbarrier_init,
    .mbarrier_arrive = nvptx_mbarrier_arrive,
    .mbarrier_expect = nvptx_mbarrier_expect,
    .mbarrier_complete = nvptx_mbarrier_complete,
    .mbarrier_phase = nvptx_mbarrier_phase,
    .mbarrier_wait = nvptx_mbarrier_wait,
    .tensor_copy = nvptx_tensor_copy,
    .tensor_store = nvptx_tensor_store,
    .tensor_commit = nvptx_tensor_commit,
    .tensor_wait = nvptx_tensor_wait,
    .copy_wait = nvptx_copy_wait,
    .barrier = nvptx_barrier,
    .warp_sync = nvptx_warp_sync,
    .shuffle = nvptx_shuffle,
    .elect = nvptx_elect,
    .vote = nvptx_vote,
    .ldmatrix = nvptx_ldmatrix,
    .stmatrix = nvptx_stmatrix,
    .mma = nvptx_mma,
    .wgmma = nvptx_wgmma,
    .wgmma_wait = nvptx_wgmma_wait,
    .fence_async = nvptx_fence_async,
    .approximate = nvptx_approximate,
};

/* ---- kernels ---- */

static void add_attribute(Gen *gen, int index, LLVMAttributeRef attribute)
{
    LLVMAddAttributeAtIndex(gen->function, (LLVMAttributeIndex)(index + 1), attribute);
}

static unsigned attribute_kind(const char *name)
{
    return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

/* A tensor map is passed whole, and the tensor unit reads it where it is. */
static void declare_map(Gen *gen, int index)
{
    static const char constant[] = "nvvm.grid_constant";
    LLVMTypeRef bytes = LLVMArrayType2(gen->types.i8, sizeof(tile_encoded_map));
    add_attribute(gen, index,
                  LLVMCreateTypeAttribute(gen->context, attribute_kind("byval"), bytes));
    add_attribute(
        gen, index,
        LLVMCreateEnumAttribute(gen->context, attribute_kind("align"), _Alignof(tile_encoded_map)));
    add_attribute(gen, index,
                  LLVMCreateStringAttribute(gen->context, constant, strlen(constant), "", 0));
}

static void parameter_align(Gen *gen, int index, const Parameter *parameter)
{
    int64_t multiple = parameter->multiple;
    if (parameter->value->type->kind != TYPE_POINTER || multiple <= 1) return;
    uint64_t power = (uint64_t)(multiple & -multiple);
    add_attribute(
        gen, index,
        LLVMCreateEnumAttribute(gen->context, attribute_kind("align"), power > 256 ? 256 : power));
}

/* A packed number comes in a byte of its own. */
static LLVMTypeRef parameter_type(const Gen *gen, const Type *type)
{
    const bool is_packed = type->kind == TYPE_SCALAR && dtype_is_packed(type->dtype);
    return is_packed ? gen->types.i8 : gen_type(gen, type);
}

/* The device's parameters are those that are no keys, in order. */
static void kernel_declare(Gen *gen, const char *symbol, int warps)
{
    const Kernel *kernel = gen->kernel;
    LLVMTypeRef *types = arena_new_array(gen->arena, LLVMTypeRef, kernel->parameter_count + 1);
    int count = 0;
    char threads[32];
    for (int i = 0; i < kernel->parameter_count; i++)
        if (!kernel->parameters[i].is_key)
            types[count++] = parameter_type(gen, kernel->parameters[i].value->type);
    LLVMTypeRef type = LLVMFunctionType(gen->types.nothing, types, (unsigned)count, false);
    gen->function = LLVMAddFunction(gen->module, symbol, type);
    LLVMSetFunctionCallConv(gen->function, PTX_KERNEL);
    snprintf(threads, sizeof threads, "%d", warps * gen->target->warp);
    function_set_text(gen->function, "nvvm.maxntid", threads);
    function_set_text(gen->function, "nvvm.minctasm", "1");
    function_set_flag(gen->function, "nounwind");
}

/* Before the tensor unit needs it. */
static void prefetch_map(Gen *gen, LLVMValueRef map)
{
    nvptx_asm(gen, gen->types.nothing,
              "{\n\t.reg .pred first;\n\t.reg .b32 thread;\n\tmov.u32 thread, %tid.x;\n\t"
              "setp.eq.u32 first, thread, 0;\n\t@first prefetch.tensormap [$0];\n\t}",
              "l,~{memory}", 1, &map);
}

static void kernel_define_parameters(Gen *gen)
{
    int index = 0;
    for (int i = 0; i < gen->kernel->parameter_count; i++) {
        const Parameter *parameter = &gen->kernel->parameters[i];
        if (parameter->is_key) {
            gen_define(gen, parameter->value, gen_key(gen, parameter));
            continue;
        }
        parameter_align(gen, index, parameter);
        LLVMValueRef value = LLVMGetParam(gen->function, (unsigned)index);
        if (parameter_is_map(parameter)) {
            declare_map(gen, index);
            prefetch_map(gen, value);
        }
        index++;
        if (parameter_type(gen, parameter->value->type) != gen_type(gen, parameter->value->type))
            value = LLVMBuildTrunc(gen->builder, value, gen_type(gen, parameter->value->type), "");
        gen_define(gen, parameter->value, value);
    }
}

static void kernel_emit(Codegen *codegen, Kernel *kernel, LLVMModuleRef module, const Op *launch,
                        Image *out)
{
    ImageEntry *entry = &out->entries[out->entry_count];
    Gen gen = gen_new(codegen, kernel, &nvptx_machine, out->target, module);
    entry->name = out->entry_count == 0 ? kernel->name
                                        : intern_printf(codegen->session->names, "%s_%d",
                                                        kernel->name, out->entry_count);
    entry->warps = (int)op_int(launch, ATTR_warps, 1);
    entry_set_company(entry, launch);
    entry->shared_bytes = (int)op_int(launch, ATTR_bytes, 0);
    out->entry_count++;
    kernel_declare(&gen, entry->name, entry->warps);
    if (entry_blocks(entry) > 1) {
        char text[32];
        snprintf(text, sizeof text, "%d,%d,%d", entry->cluster[0], entry->cluster[1],
                 entry->cluster[2]);
        function_set_text(gen.function, "nvvm.cluster_dim", text);
    }
    if (codegen->options.lines) {
        gen.lines = lines_new(&gen);
        lines_function(&gen, launch, entry->name);
    }
    gen_at(&gen, gen_block(&gen, "entry"));
    kernel_define_parameters(&gen);
    gen_region(&gen, launch->regions[0]);
    LLVMBuildRetVoid(gen.builder);
    if (gen.lines != NULL) lines_finish(&gen);
    gen_free(&gen);
}

static const char *message_text(Codegen *codegen, char *message)
{
    const char *text = arena_copy_text(codegen->session->arena, message, strlen(message));
    LLVMDisposeMessage(message);
    return text;
}

/* What a kernel needs: values out of memory, common subexpressions, loops' invariants. default<O2>
 * gave the same PTX for matrix products and elementwise kernels, in up to a third more time. */
#define PASSES_OF_LOOPS                                                                            \
    "function(sroa,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"                 \
    "loop-mssa(loop-simplifycfg,licm<no-allowspeculation>,loop-rotate,licm),simplifycfg,loop("     \
    "indvars),"
#define PASSES_AFTER_LOOPS "gvn,instcombine<no-verify-fixpoint>,dse,adce,simplifycfg)"
static const char nvptx_passes[] = PASSES_OF_LOOPS PASSES_AFTER_LOOPS;
/* Where a loop asks to be unrolled; the others are left to ptxas. */
static const char nvptx_passes_unrolling[] = PASSES_OF_LOOPS
    "loop-unroll<no-partial;no-runtime;no-upperbound;no-peeling>," PASSES_AFTER_LOOPS;

static void find_unrolled(Op *op, void *found)
{
    if (op->code == OP_for && op_int(op, ATTR_unroll, 0) > 1) *(bool *)found = true;
}

static const char *passes_for(Kernel *kernel)
{
    bool unrolls = false;
    kernel_visit(kernel, find_unrolled, &unrolls);
    return unrolls ? nvptx_passes_unrolling : nvptx_passes;
}

static const char *module_ptx(Codegen *codegen, LLVMModuleRef module, LLVMTargetMachineRef machine)
{
    char *error = NULL;
    LLVMMemoryBufferRef buffer = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &error, &buffer))
        ICE("LLVM writes no PTX: %s", error);
    const char *text = arena_copy_text(codegen->session->arena, LLVMGetBufferStart(buffer),
                                       LLVMGetBufferSize(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    return text;
}

static LLVMModuleRef module_new(Codegen *codegen, const Kernel *kernel,
                                LLVMTargetMachineRef machine)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(kernel->name, codegen->context);
    LLVMSetTarget(module, "nvptx64-nvidia-cuda");
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMDisposeTargetData(layout);
    return module;
}

/* What waits for a phase by its parity is as young as this. */
static void find_parity(Op *op, void *context)
{
    enum { PARITY = 71 };
    int *version = context;
    if ((op->code == OP_mbarrier_wait || op->code == OP_mbarrier_phase) && *version < PARITY)
        *version = PARITY;
}

static int ptx_version(Kernel *kernel, const Target *target)
{
    int version = target->ptx;
    kernel_visit(kernel, find_parity, &version);
    return version;
}

/* ---- what LLVM puts between the last products and the wait for them ----
 *
 * LLVM moves what is computed for later to the start of the block behind the loop, before the
 * wait. ptxas then finds the sums read too early, and gives up that the products be under way. */

static bool is_last_wait(LLVMValueRef at)
{
    size_t length = 0;
    if (LLVMIsACallInst(at) == NULL) return false;
    LLVMValueRef called = LLVMGetCalledValue(at);
    if (LLVMIsAInlineAsm(called) == NULL) return false;
    const char *text = LLVMGetInlineAsmAsmString(called, &length);
    static const char wait[] = "wgmma.wait_group.sync.aligned 0;";
    return length == sizeof wait - 1 && memcmp(text, wait, length) == 0;
}

static bool is_before(LLVMValueRef at, LLVMValueRef other)
{
    while (at != NULL && at != other) at = LLVMGetNextInstruction(at);
    return at != NULL;
}

static bool is_extreme(LLVMValueRef at)
{
    static const char *const names[] = {"llvm.smin", "llvm.smax", "llvm.umin", "llvm.umax"};
    if (LLVMIsACallInst(at) == NULL) return false;
    const unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(at));
    for (size_t i = 0; id != 0 && i < sizeof names / sizeof *names; i++)
        if (id == LLVMLookupIntrinsicID(names[i], strlen(names[i]))) return true;
    return false;
}

/* Is it computed from values only, none of whose uses is at the wait or before it? */
static bool can_follow(LLVMValueRef at, LLVMValueRef wait)
{
    if (LLVMIsABinaryOperator(at) == NULL && LLVMIsACastInst(at) == NULL &&
        LLVMIsAGetElementPtrInst(at) == NULL && LLVMIsASelectInst(at) == NULL &&
        LLVMIsAICmpInst(at) == NULL && LLVMIsAFreezeInst(at) == NULL && !is_extreme(at))
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(at); use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        const bool is_here = LLVMGetInstructionParent(user) == LLVMGetInstructionParent(at);
        if (is_here && LLVMIsAPHINode(user) == NULL && is_before(user, wait)) return false;
    }
    return true;
}

static void wait_first(LLVMBuilderRef builder, LLVMValueRef wait)
{
    LLVMValueRef next = LLVMGetNextInstruction(wait);
    for (LLVMValueRef at = LLVMGetPreviousInstruction(wait), before; at != NULL; at = before) {
        before = LLVMGetPreviousInstruction(at);
        if (!can_follow(at, wait)) continue;
        LLVMInstructionRemoveFromParent(at);
        LLVMPositionBuilderBefore(builder, next);
        LLVMInsertIntoBuilder(builder, at);
        next = at;
    }
}

static void last_waits_first(LLVMModuleRef module)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef at = LLVMGetFirstInstruction(b); at != NULL;
                 at = LLVMGetNextInstruction(at))
                if (is_last_wait(at)) wait_first(builder, at);
    LLVMDisposeBuilder(builder);
}

bool nvptx_image(Codegen *codegen, Kernel *kernel, Image *out)
{
    LLVMTargetMachineRef machine =
        machine_of(codegen, out->target, ptx_version(kernel, out->target));
    LLVMModuleRef module = module_new(codegen, kernel, machine);
    for (const Op *op = kernel->host->first; op != NULL; op = op->next)
        if (op->code == OP_launch) kernel_emit(codegen, kernel, module, op, out);
    module_check(module, kernel->name);
    if (codegen->options.optimise > 0) passes_on_module(module, machine, passes_for(kernel));
    last_waits_first(module);
    module_check(module, kernel->name);
    if (codegen->options.keep_llvm)
        out->llvm = message_text(codegen, LLVMPrintModuleToString(module));
    out->ptx = module_ptx(codegen, module, machine);
    LLVMDisposeModule(module);
    out->kind = IMAGE_PTX;
    out->bytes = out->ptx;
    out->size = strlen(out->ptx);
    size_t errors = diag_error_count(codegen->session->diags);
    if (target_has(out->target, IS_PORTABLE)) return true;
    out->job = ptxas_start(codegen, out, kernel->span);
    return diag_error_count(codegen->session->diags) == errors;
}
