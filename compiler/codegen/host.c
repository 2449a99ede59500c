/* host.c: a kernel's host region as a function that fills one grid for each launch, and the sizes
 * of workspaces. */
#include "codegen/llvm.h"

#include <string.h>

#include "tile/dlpack.h"
#include "tile/tile.h"

enum { HOST_ARGUMENTS = 6 };
#define WORKSPACE_LIMIT (INT64_C(1) << 48) /* bytes: more than any device has */

typedef struct HostFunction {
    LLVMValueRef grids, extents, complaint, workspaces, spans, maps; /* where results go */
    LLVMBasicBlockRef fail;
    int launches;
} HostFunction;

/* Extents outside [0, most] are the caller's fault. */
static LLVMValueRef extent_fits(Gen *gen, LLVMValueRef extent, int64_t most)
{
    LLVMValueRef limit = gen_int(gen, LLVMTypeOf(extent), most);
    return LLVMBuildICmp(gen->builder, LLVMIntULE, extent, limit, "");
}

static LLVMValueRef wide_extent(Gen *gen, const Value *extent)
{
    DType dtype = extent->type->dtype;
    DType wide = dtype_is_signed(dtype) ? DTYPE_i64 : DTYPE_u64;
    return gen_cast(gen, dtype, wide, gen_use(gen, extent));
}

static void host_launch(Gen *gen, const Op *op)
{
    static const int64_t most[3] = {2147483647, 65535, 65535};
    HostFunction *host = gen->host;
    for (int dim = 0; dim < 3; dim++) {
        LLVMValueRef extent = wide_extent(gen, op->operands[dim]);
        LLVMBasicBlockRef next = gen_block(gen, "");
        LLVMBuildCondBr(gen->builder, extent_fits(gen, extent, most[dim]), next, host->fail);
        gen_at(gen, next);
        LLVMValueRef at =
            gen_offset(gen, host->grids, host->launches * (int64_t)sizeof(tile_grid) + 4 * dim);
        LLVMBuildStore(gen->builder, LLVMBuildTrunc(gen->builder, extent, gen->types.i32, ""), at);
    }
    host->launches++;
}

/* Goes on where the condition holds; else the call is refused with the text. */
static void host_require(Gen *gen, LLVMValueRef condition, const char *text)
{
    HostFunction *host = gen->host;
    LLVMBasicBlockRef refused = gen_block(gen, ""), next = gen_block(gen, "");
    LLVMBuildCondBr(gen->builder, condition, next, refused);
    gen_at(gen, refused);
    LLVMBuildStore(gen->builder, LLVMBuildGlobalStringPtr(gen->builder, text, ""), host->complaint);
    LLVMBuildBr(gen->builder, host->fail);
    gen_at(gen, next);
}

static void host_workspace_size(Gen *gen, const Op *op)
{
    HostFunction *host = gen->host;
    LLVMValueRef bytes = wide_extent(gen, operand(op, bytes));
    host_require(gen, extent_fits(gen, bytes, WORKSPACE_LIMIT),
                 "a workspace's size is negative or too large");
    LLVMBuildStore(gen->builder, bytes,
                   gen_offset(gen, host->workspaces, 8 * op_int(op, ATTR_index, 0)));
}

static void host_refuse_unless(Gen *gen, const Op *op)
{
    host_require(gen, gen_operand(gen, op, condition), op_attr(op, ATTR_text)->text);
}

/* Results lie one after the other in `extents`, which is NULL where nobody asks. */
static int64_t extents_before(const Kernel *kernel, int64_t result)
{
    int64_t extents = 0;
    for (int i = 0; i < kernel->tensor_count && result > 0; i++) {
        if (!kernel->tensors[i].is_result) continue;
        extents += kernel->tensors[i].rank;
        result--;
    }
    return extents;
}

static void host_result_shape(Gen *gen, const Op *op)
{
    HostFunction *host = gen->host;
    int64_t first = extents_before(gen->kernel, op_int(op, ATTR_index, 0));
    LLVMBasicBlockRef wanted = gen_block(gen, ""), next = gen_block(gen, "");
    for (int dim = 0; dim < op->operand_count; dim++)
        host_require(gen, extent_fits(gen, wide_extent(gen, op->operands[dim]), INT64_MAX),
                     "an extent of what it returns is negative");
    LLVMBuildCondBr(gen->builder, LLVMBuildIsNotNull(gen->builder, host->extents, ""), wanted,
                    next);
    gen_at(gen, wanted);
    for (int dim = 0; dim < op->operand_count; dim++)
        LLVMBuildStore(gen->builder, wide_extent(gen, op->operands[dim]),
                       gen_offset(gen, host->extents, 8 * (first + dim)));
    LLVMBuildBr(gen->builder, next);
    gen_at(gen, next);
}

/* The largest of what is said of one pointer, all ones being the largest number; `spans` is NULL
 * where nobody asks. */
static void host_buffer_extent(Gen *gen, const Op *op)
{
    LLVMBuilderRef builder = gen->builder;
    LLVMBasicBlockRef wanted = gen_block(gen, ""), next = gen_block(gen, "");
    LLVMValueRef bytes = wide_extent(gen, operand(op, bytes)), spans = gen->host->spans;
    LLVMBuildCondBr(builder, LLVMBuildIsNotNull(builder, spans, ""), wanted, next);
    gen_at(gen, wanted);
    LLVMValueRef at = gen_offset(gen, spans, 8 * op_int(op, ATTR_index, 0));
    LLVMValueRef old = LLVMBuildLoad2(builder, gen->types.i64, at, "");
    LLVMValueRef more = LLVMBuildICmp(builder, LLVMIntUGT, bytes, old, "");
    LLVMBuildStore(builder, LLVMBuildSelect(builder, more, bytes, old, ""), at);
    LLVMBuildBr(builder, next);
    gen_at(gen, next);
}

/* ---- tensor maps: a function of an image's own ---- */

static void store_map_field(Gen *gen, LLVMValueRef map, size_t offset, LLVMValueRef value)
{
    LLVMBuildStore(gen->builder, value, gen_offset(gen, map, (int64_t)offset));
}

/* What is only copied is bits. */
static int64_t map_dtype(const Op *op, DType dtype)
{
    enum { BYTE = 8 };
    return op_attr(op, ATTR_mode) ? dtype_code(dtype)
                                  : (int64_t)TILE_DTYPE(kDLUInt, dtype_bytes(dtype) * BYTE, 1);
}

/* One tile_tensor_map. */
static void maps_tensor_map(Gen *gen, const Op *op)
{
    const Attr *box = op_attr(op, ATTR_dims);
    const DType dtype = operand(op, pointer)->type->dtype;
    LLVMTypeRef i64 = gen->types.i64;
    LLVMValueRef map = gen_offset(gen, gen->host->maps,
                                  op_int(op, ATTR_index, 0) * (int64_t)sizeof(tile_tensor_map));
    store_map_field(gen, map, offsetof(tile_tensor_map, pointer), gen_operand(gen, op, pointer));
    for (int i = 0; i < box->count; i++) {
        const size_t at = (size_t)i * 8;
        LLVMValueRef stride =
            i ? gen_operand_at(gen, op, operand_index(op, extents) + box->count + i - 1)
              : gen_int(gen, i64, 1);
        stride = LLVMBuildMul(gen->builder, stride, gen_int(gen, i64, dtype_bytes(dtype)), "");
        store_map_field(gen, map, offsetof(tile_tensor_map, extents) + at,
                        gen_operand_at(gen, op, operand_index(op, extents) + i));
        store_map_field(gen, map, offsetof(tile_tensor_map, strides) + at, stride);
        store_map_field(gen, map, offsetof(tile_tensor_map, box) + at / 2,
                        gen_i32(gen, box->integers[i]));
    }
    store_map_field(gen, map, offsetof(tile_tensor_map, rank), gen_i32(gen, box->count));
    store_map_field(gen, map, offsetof(tile_tensor_map, dtype), gen_i32(gen, map_dtype(op, dtype)));
    store_map_field(gen, map, offsetof(tile_tensor_map, swizzle),
                    gen_i32(gen, op_int(op, ATTR_swizzle, 0)));
}

static void maps_nothing(Gen *gen, const Op *op)
{
    (void)gen;
    (void)op;
}

static const Machine maps_machine = {
    .emit = gen_op,
    .name = "maps",
    .launch = maps_nothing,
    .require = maps_nothing,
    .result_shape = maps_nothing,
    .workspace_size = maps_nothing,
    .buffer_extent = maps_nothing,
    .tensor_map = maps_tensor_map,
};

/* Host regions hold scalar arithmetic alone. */
const Machine host_machine = {
    .emit = gen_op,
    .name = "host",
    .launch = host_launch,
    .require = host_refuse_unless,
    .result_shape = host_result_shape,
    .workspace_size = host_workspace_size,
    .buffer_extent = host_buffer_extent,
    .tensor_map = maps_nothing,
};

static void host_parameters(Gen *gen)
{
    LLVMValueRef arguments = LLVMGetParam(gen->function, 0);
    for (int i = 0; i < gen->kernel->parameter_count; i++) {
        const Parameter *parameter = &gen->kernel->parameters[i];
        if (parameter->is_workspace ||
            parameter_is_map(parameter)) { /* the host only describes it */
            gen_define(gen, parameter->value, LLVMConstNull(gen_type(gen, parameter->value->type)));
            continue;
        }
        if (parameter->is_key) {
            gen_define(gen, parameter->value, gen_key(gen, parameter));
            continue;
        }
        gen_define(gen, parameter->value, gen_argument(gen, parameter->value->type, arguments, i));
    }
}

static void host_return(Gen *gen, tile_status status)
{
    LLVMBuildRet(gen->builder, gen_i32(gen, status));
}

bool host_function(Codegen *codegen, Kernel *kernel, const char *symbol)
{
    LLVMModuleRef module = codegen_host_module(codegen);
    Gen gen = gen_new(codegen, kernel, &host_machine, NULL, module);
    LLVMTypeRef pointer = gen.types.pointer;
    LLVMTypeRef types[HOST_ARGUMENTS] = {pointer, pointer, pointer, pointer, pointer, pointer};
    gen.function = LLVMAddFunction(module, symbol,
                                   LLVMFunctionType(gen.types.i32, types, HOST_ARGUMENTS, false));
    LLVMSetVisibility(gen.function, LLVMHiddenVisibility);
    function_set_flag(gen.function, "nounwind");
    gen_at(&gen, gen_block(&gen, "entry"));
    HostFunction host = {.grids = LLVMGetParam(gen.function, 1),
                         .extents = LLVMGetParam(gen.function, 2),
                         .workspaces = LLVMGetParam(gen.function, 3),
                         .complaint = LLVMGetParam(gen.function, 4),
                         .spans = LLVMGetParam(gen.function, 5),
                         .fail = gen_block(&gen, "fail")};
    gen.host = &host;
    host_parameters(&gen);
    gen_region(&gen, kernel->host);
    host_return(&gen, TILE_OK);
    gen_at(&gen, host.fail);
    host_return(&gen, TILE_ERROR_ARGUMENT);
    gen_free(&gen);
    return true;
}

static void build_maps(Codegen *codegen, Kernel *kernel, const char *symbol)
{
    Gen gen = gen_new(codegen, kernel, &maps_machine, NULL, codegen_host_module(codegen));
    LLVMTypeRef types[2] = {gen.types.pointer, gen.types.pointer};
    gen.function = LLVMAddFunction(codegen->host_module, symbol,
                                   LLVMFunctionType(gen.types.nothing, types, 2, false));
    LLVMSetLinkage(gen.function, LLVMInternalLinkage);
    function_set_flag(gen.function, "nounwind");
    gen_at(&gen, gen_block(&gen, "entry"));
    HostFunction host = {.maps = LLVMGetParam(gen.function, 1)};
    gen.host = &host;
    host_parameters(&gen);
    gen_region(&gen, kernel->host);
    LLVMBuildRetVoid(gen.builder);
    gen_free(&gen);
}

int maps_function(Codegen *codegen, const char *maps, const char *symbol)
{
    int kernels = 0;
    Source *source = source_from_text(codegen->session, symbol, maps, strlen(maps));
    Kernel **kernel = kernel_read(codegen->session, source, &kernels);
    if (!kernel || kernels != 1) ICE("'%s' is no kernel", symbol);
    const int count = kernel_map_count(kernel[0]);
    build_maps(codegen, kernel[0], symbol);
    kernel_free(kernel[0]);
    return count;
}
