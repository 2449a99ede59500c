/* host.c: a kernel's host region as a function that fills one grid for each launch. */
#include "codegen/llvm.h"

#include "tile/tile.h"

typedef struct HostFunction {
    LLVMValueRef grids;
    LLVMBasicBlockRef fail;
    int launches;
} HostFunction;

/* Extents outside [0, most] are the caller's fault. */
static LLVMValueRef extent_fits(Gen *gen, LLVMValueRef extent, int64_t most)
{
    LLVMValueRef limit = gen_int(gen, LLVMTypeOf(extent), most);
    return LLVMBuildICmp(gen->builder, LLVMIntULE, extent, limit, "");
}

static LLVMValueRef wide_extent(Gen *gen, const Op *op, int dim)
{
    DType dtype = op->operands[dim]->type->dtype;
    DType wide = dtype_is_signed(dtype) ? DTYPE_i64 : DTYPE_u64;
    return gen_cast(gen, dtype, wide, gen_operand(gen, op, dim));
}

static void host_launch(Gen *gen, const Op *op)
{
    static const int64_t most[3] = {2147483647, 65535, 65535};
    HostFunction *host = gen->host;
    for (int dim = 0; dim < 3; dim++) {
        LLVMValueRef extent = wide_extent(gen, op, dim);
        LLVMBasicBlockRef next = gen_block(gen, "");
        LLVMBuildCondBr(gen->builder, extent_fits(gen, extent, most[dim]), next, host->fail);
        gen_at(gen, next);
        LLVMValueRef at =
            gen_offset(gen, host->grids, host->launches * (int64_t)sizeof(tile_grid) + 4 * dim);
        LLVMBuildStore(gen->builder, LLVMBuildTrunc(gen->builder, extent, gen->types.i32, ""), at);
    }
    host->launches++;
}

/* Host regions hold scalar arithmetic alone. */
const Machine host_machine = {
    .name = "host",
    .launch = host_launch,
};

static void host_parameters(Gen *gen)
{
    LLVMValueRef arguments = LLVMGetParam(gen->function, 0);
    for (int i = 0; i < gen->kernel->parameter_count; i++) {
        const Parameter *parameter = &gen->kernel->parameters[i];
        const Type *type = parameter->value->type;
        LLVMTypeRef llvm = gen_type(gen, type);
        if (parameter->is_key) {
            gen_define(gen, parameter->value, gen_int(gen, llvm, parameter->key));
            continue;
        }
        bool is_boolean = type->kind == TYPE_SCALAR && type->dtype == DTYPE_b1;
        LLVMValueRef at = gen_offset(gen, arguments, (int64_t)sizeof(void *) * i);
        LLVMValueRef place = LLVMBuildLoad2(gen->builder, gen->types.pointer, at, "");
        LLVMValueRef value =
            LLVMBuildLoad2(gen->builder, is_boolean ? gen->types.i8 : llvm, place, "");
        if (is_boolean)
            value =
                LLVMBuildICmp(gen->builder, LLVMIntNE, value, gen_int(gen, gen->types.i8, 0), "");
        gen_define(gen, parameter->value, value);
    }
}

static void host_return(Gen *gen, tile_status status)
{
    LLVMBuildRet(gen->builder, gen_i32(gen, status));
}

bool host_function(Codegen *codegen, Kernel *kernel, const char *symbol)
{
    LLVMModuleRef module = codegen->host_module;
    Gen gen = gen_new(codegen, kernel, &host_machine, NULL, module);
    LLVMTypeRef types[2] = {gen.types.pointer, gen.types.pointer};
    gen.function =
        LLVMAddFunction(module, symbol, LLVMFunctionType(gen.types.i32, types, 2, false));
    LLVMSetVisibility(gen.function, LLVMHiddenVisibility);
    function_set_flag(gen.function, "nounwind");
    gen_at(&gen, gen_block(&gen, "entry"));
    HostFunction host = {.grids = LLVMGetParam(gen.function, 1), .fail = gen_block(&gen, "fail")};
    gen.host = &host;
    host_parameters(&gen);
    gen_region(&gen, kernel->host);
    host_return(&gen, TILE_OK);
    gen_at(&gen, host.fail);
    host_return(&gen, TILE_ERROR_ARGUMENT);
    gen_free(&gen);
    return true;
}
