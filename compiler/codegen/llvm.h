/* llvm.h: what the files of codegen/ share: the code generator's state, the machine that a function
 * is made for, and the helpers that write LLVM IR. Private to this folder. */
#ifndef TILEC_CODEGEN_LLVM_H
#define TILEC_CODEGEN_LLVM_H

#include "base/vec.h"
#include "codegen/codegen.h"
#include "emulator/abi.h"
#include "ir/mma.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef struct Gen Gen;

/* LLVM's types, made once. */
typedef struct GenTypes {
    LLVMTypeRef nothing, i1, i8, i16, i32, i64, f16, bf16, f32, f64;
    LLVMTypeRef pointer; /* the generic one; on the CPU the only one */
} GenTypes;

/* What differs between the machines that code is made for. */
typedef struct Machine {
    const char *name;
    void (*emit)(Gen *gen, const Op *op); /* the table of handlers */
    bool has_ptx;                         /* inline PTX may be written */
    bool has_f16, has_bf16; /* LLVM's types; else they are 16-bit integers and computed in f32 */
    bool has_fma;           /* llvm.fma, trunc, floor and ceil need no library */
    unsigned spaces[SPACE_COUNT]; /* LLVM's address spaces */
#define HANDLER(result, name, ...) result (*name)(__VA_ARGS__);
#include "codegen/machine.def"
#undef HANDLER
    /* In a host region. */
    void (*launch)(Gen *gen, const Op *op);
    void (*require)(Gen *gen, const Op *op);
    void (*result_shape)(Gen *gen, const Op *op);
    void (*workspace_size)(Gen *gen, const Op *op);
    void (*buffer_extent)(Gen *gen, const Op *op);
    void (*tensor_map)(Gen *gen, const Op *op);
} Machine;

extern const Machine nvptx_machine, emulator_machine, host_machine;
#define HANDLER(result, name, ...)                                                                 \
    result nvptx_##name(__VA_ARGS__);                                                              \
    result emulator_##name(__VA_ARGS__);
#include "codegen/machine.def"
#undef HANDLER

/* Memory of a thread that may be suspended: a piece of its frame, or, where there is no frame, an
 * alloca. */
typedef struct Slot {
    LLVMValueRef alloca; /* NULL of a piece of the frame */
    int64_t offset;      /* bytes, there */
} Slot;

/* A value of the IR in LLVM's hands. */
typedef struct Held {
    LLVMValueRef value;
    unsigned segment; /* where `value` may be used */
    bool is_kept;     /* in `slot`, for the segments behind; on demand */
    Slot slot;
} Held;

/* The function at hand. */
struct Gen {
    Codegen *codegen;
    Kernel *kernel;
    Arena *arena; /* released with the function */
    const Machine *machine;
    const Target *target;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    GenTypes types;
    LLVMValueRef function;
    LLVMValueRef first;    /* an instruction of the entry block: slots come before it */
    LLVMValueRef frame;    /* where slots lie, of a thread that suspends; else NULL */
    uint64_t frame_bytes;  /* so far */
    Map held;              /* Value* -> Held* */
    const Op *op;          /* at hand */
    LLVMValueRef *yielded; /* what the region at hand ended with */
    int yielded_count;
    LLVMValueRef condition; /* of a while's first region */
    unsigned segment, last_segment;
    int segment_ops;                   /* so far */
    struct EmulatorFunction *emulator; /* of an emulated function */
    struct HostFunction *host;
    struct Lines *lines; /* debug.c; NULL without -g */
};

struct Codegen {
    Session *session;
    CodegenOptions options;
    LLVMContextRef context;
    LLVMModuleRef host_module;
    LLVMTargetMachineRef host_target;
    char *host_triple, *ptxas; /* ptxas: NULL if there is none */
    bool looked_for_ptxas;
    GenTypes types;
    VEC(struct NvptxTarget) gpu_targets;
    VEC(struct LinkedModule) linked; /* the host module's, behind what is in it already */
    Map ramps;                       /* names that emulated kernels have */
};

typedef struct LinkedModule {
    LLVMModuleRef module;
    size_t modules; /* that it is made of */
} LinkedModule;

typedef struct NvptxTarget {
    const Target *target;
    int ptx; /* the version */
    LLVMCodeGenOptLevel level;
    LLVMTargetMachineRef machine;
} NvptxTarget;

/* ---- module.c ---- */
/* An empty module for the host, with its triple and data layout. */
LLVMModuleRef host_module_new(Codegen *codegen, const char *name);
void passes_on_module(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes);
void passes_on_function(LLVMValueRef function, LLVMTargetMachineRef machine, const char *passes);
void module_check(LLVMModuleRef module, const char *what);
/* recompute.c: what takes registers for as long as it is not used is computed once more. */
void module_recompute(Arena *arena, LLVMModuleRef module);
/* Moves the functions of a module into the host module. */
void module_link(Codegen *codegen, LLVMModuleRef module);
/* A section of its own for each function and each variable that has none. */
void module_set_sections(LLVMModuleRef module);
void function_set_text(LLVMValueRef function, const char *key, const char *value);
void function_set_flag(LLVMValueRef function, const char *attribute);
void parameter_set_flag(LLVMValueRef function, int index, const char *attribute);

/* ---- llvm.c: types, values, control flow ---- */
Gen gen_new(Codegen *codegen, Kernel *kernel, const Machine *machine, const Target *target,
            LLVMModuleRef module);
void gen_free(Gen *gen);
LLVMTypeRef gen_dtype(const Gen *gen, DType dtype);
LLVMTypeRef gen_dtype_in_memory(const Gen *gen, DType dtype);
LLVMTypeRef gen_type(const Gen *gen, const Type *type);
LLVMValueRef gen_use(Gen *gen, const Value *value);
/* An operand by its name in the op's row; or, of a name that stands for several, by its number. */
#define gen_operand(gen, op, name) gen_use((gen), operand(op, name))
#define gen_operand_given(gen, op, name)                                                           \
    gen_use_given((gen), operand_given(op, name)) /* or NULL                                       \
                                                   */
LLVMValueRef gen_use_given(Gen *gen, const Value *value);
LLVMValueRef gen_operand_at(Gen *gen, const Op *op, int index);
void gen_define(Gen *gen, const Value *value, LLVMValueRef llvm);
void gen_define_result(Gen *gen, const Op *op, LLVMValueRef llvm);
void gen_region(Gen *gen, const Region *region);
void gen_new_segment(Gen *gen);
/* Others may have to run before what an atomic op in a loop waits for is there. */
bool op_gives_way(const Op *op);
void gen_for(Gen *gen, const Op *op);
void gen_while(Gen *gen, const Op *op);
void gen_if(Gen *gen, const Op *op);
LLVMBasicBlockRef gen_block(Gen *gen, const char *name);
void gen_at(Gen *gen, LLVMBasicBlockRef block);
/* Calls an intrinsic; one that LLVM does not know is an internal error. */
LLVMValueRef gen_intrinsic(Gen *gen, const char *name, int overload_count, LLVMTypeRef *overloads,
                           int count, LLVMValueRef *arguments);
LLVMValueRef gen_intrinsic1(Gen *gen, const char *name,
                            LLVMValueRef a); /* overloaded on its operand */
LLVMValueRef gen_intrinsic2(Gen *gen, const char *name, LLVMValueRef a, LLVMValueRef b);
/* Memory of the thread's own, for as long as the function runs. `alignment` 0: the type's. */
LLVMValueRef gen_slot(Gen *gen, LLVMTypeRef type, unsigned alignment);
LLVMValueRef gen_int(const Gen *gen, LLVMTypeRef type, int64_t value);
LLVMValueRef gen_key(Gen *gen, const Parameter *parameter); /* its value */
/* The pointer of that index in an array of pointers, and what it points to; a bool is a byte there.
 */
LLVMValueRef gen_place(Gen *gen, LLVMValueRef arguments, int index);
LLVMValueRef gen_argument(Gen *gen, const Type *type, LLVMValueRef arguments, int index);
LLVMValueRef gen_i32(const Gen *gen, int64_t value);
LLVMValueRef gen_is_first_lane(Gen *gen); /* this thread of its warp */
LLVMValueRef gen_bitcast(Gen *gen, LLVMValueRef value, LLVMTypeRef type);
LLVMValueRef gen_offset(Gen *gen, LLVMValueRef pointer, int64_t bytes);
/* Inline assembly, `constraints` as LLVM has them. */
LLVMValueRef gen_asm(Gen *gen, LLVMTypeRef result, const char *text, const char *constraints,
                     bool has_effects, int count, LLVMValueRef *arguments);
/* A vector or scalar from its bits, words of one type. */
LLVMValueRef gen_from_words(Gen *gen, int count, LLVMValueRef *words, LLVMTypeRef type);

/* ---- llvm_ops.c, llvm_arith.c ---- */
void gen_op(Gen *gen, const Op *op);
#define OP(name, ...) void emit_##name(Gen *gen, const Op *op);
#include "ir/ops.def"
#undef OP

/* ---- llvm_packed.c: vectors of numbers of less than a byte ---- */
LLVMTypeRef gen_packed_type(const Gen *gen, const Type *vector);
LLVMValueRef gen_packed_get(Gen *gen, const Type *type, LLVMValueRef vector, int index);
LLVMValueRef gen_packed_pack(Gen *gen, const Op *op);

/* ---- llvm_cast.c ---- */
LLVMValueRef gen_cast(Gen *gen, DType from, DType to, LLVMValueRef value);
LLVMValueRef gen_to_f32(Gen *gen, DType from,
                        LLVMValueRef value); /* from a float type of at most 32 bits */
LLVMValueRef gen_from_f32(Gen *gen, DType to, LLVMValueRef value);
LLVMValueRef gen_to_f64(Gen *gen, DType from, LLVMValueRef value);
LLVMValueRef gen_from_f64(Gen *gen, DType to, LLVMValueRef value);
/* Two numbers of 8 bits at once, where the machine has HAS_FP8_MMA: of f32, the lower byte from
 * `low`; and to two halves. */
LLVMValueRef gen_fp8_pair(Gen *gen, DType to, LLVMValueRef low, LLVMValueRef high);
LLVMValueRef gen_fp8_halves(Gen *gen, DType from, LLVMValueRef pair);
bool gen_has_fp8(const Gen *gen, DType dtype);
/* True if LLVM computes in this float type as it stands. */
bool gen_is_native(const Gen *gen, DType dtype);

/* ---- order.c ---- */

/* What an op orders, as both machines have it. */
typedef struct MemoryOrder {
    uint8_t kinds; /* tile_emu_order */
    tile_emu_scope scope;
    bool sequential; /* behind fence.sc */
} MemoryOrder;
bool is_remote(const Op *op); /* its pointer is to another block's memory, maybe */
MemoryOrder atomic_order(const Op *op);
MemoryOrder arrival_order(const Op *op); /* of mbar_arrive and mbar_complete */
MemoryOrder wait_order(const Op *op);    /* of mbar_wait */
/* As PTX has them. */
const char *memory_order_name(MemoryOrder order);
const char *memory_scope_name(MemoryOrder order);

/* ---- nvptx_*.c ---- */

/* LLVM's address spaces. */
enum { SPACE_OF_GLOBAL = 1, SPACE_OF_SHARED = 3, SPACE_OF_CLUSTER = 7 };

bool nvptx_image(Codegen *codegen, Kernel *kernel, Image *out);
void nvptx_prepare(Codegen *codegen);            /* of codegen_prepare */
void nvptx_policy(Buf *text, const char *evict); /* a register `policy` */
LLVMValueRef nvptx_asm(Gen *gen, LLVMTypeRef result, const char *text, const char *constraints,
                       int count, LLVMValueRef *arguments);

/* ---- mma.c ---- */

const MmaKind *mma_of(const Op *op);
/* Sums of 16 bits share words in pairs. */
bool mma_packs(const MmaKind *kind);

/* A wgmma op taken apart. */
typedef struct Wgmma {
    const char *shape;            /* "m64n128k16.f32.f16" */
    int n;                        /* columns of an instruction */
    const MmaKind *kind;          /* of the mma.sync that does 8 of them for a warp */
    int parts, pieces, steps;     /* products along m, n and k */
    int words;                    /* of a in registers, 0 if it is in memory */
    int scalars, sums, sums_each; /* of c: in the IR, in 32-bit words, and an instruction's */
    bool is_open, commits;        /* its group, itself */
    bool clears;                  /* c is zero: nothing is added to */
    const Op *first_of;           /* a loop, in whose first iteration c is zero; NULL: none */
    const Attr *left, *right;     /* left NULL: a is in registers */
} Wgmma;
Wgmma wgmma_of(const Op *op);
/* The value is such a beginning, or what the loop carries, and nobody needs it. */
bool wgmma_ignores(const Value *value);
/* The constant bits of the descriptor that {left} or {right} is, and where a part begins. */
uint64_t wgmma_descriptor(const Attr *operand);
int64_t wgmma_start(const Attr *operand, int part);
bool wgmma_is_transposed(const Attr *operand);

/* ---- emulator.c ---- */
bool emulator_image(Codegen *codegen, Kernel *kernel, Image *out);

/* ---- ptxas.c ---- */
typedef struct PtxasJob PtxasJob;
/* NULL: there is no ptxas, it was reported that it does not start, or the cache knows the cubin. */
PtxasJob *ptxas_start(Codegen *codegen, Image *image, Span span);
bool ptxas_finish(Codegen *codegen, Image *image);

/* ---- debug.c ---- */
struct Lines *lines_new(Gen *gen);
void lines_function(Gen *gen, const Op *launch, const char *symbol);
void lines_at(Gen *gen, const Op *op);
void lines_finish(Gen *gen);

#endif
