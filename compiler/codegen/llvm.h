/* llvm.h: what the files of codegen/ share: the code generator's state, the machine that a function
 * is made for, and the helpers that write LLVM IR. Private to this folder. */
#ifndef TILEC_CODEGEN_LLVM_H
#define TILEC_CODEGEN_LLVM_H

#include "base/vec.h"
#include "codegen/codegen.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

typedef struct Gen Gen;

/* LLVM's types, made once. */
typedef struct GenTypes {
    LLVMTypeRef nothing, i1, i8, i16, i32, i64, f16, bf16, f32, f64;
    LLVMTypeRef pointer; /* the generic one; on the CPU the only one */
} GenTypes;

/* What differs between the machines that code is made for. A handler that is NULL is an operation
 * that the machine does not have. */
typedef struct Machine {
    const char *name;
    bool has_f16, has_bf16; /* LLVM's types; else they are 16-bit integers and computed in f32 */
    bool has_fma;           /* llvm.fma, trunc, floor and ceil need no library */
    unsigned spaces[SPACE_COUNT]; /* LLVM's address spaces */
    void (*cut)(Gen *gen); /* goes on in a segment of its own; threads suspend where it is given */
    LLVMValueRef (*index)(Gen *gen, OpCode code, int dim); /* thread_id, block_idx, grid_dim */
    LLVMValueRef (*shared)(Gen *gen, int64_t offset);
    LLVMValueRef (*load)(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                         LLVMValueRef predicate);
    void (*store)(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                  LLVMValueRef predicate);
    /* Sets the bits of `mask` of a byte, i32s of at most 8 bits, and leaves the others alone. */
    void (*store_bits)(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef mask,
                       LLVMValueRef set, LLVMValueRef predicate);
    LLVMValueRef (*atomic)(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                           LLVMValueRef compare, LLVMValueRef predicate);
    /* `slots`: 64-bit words */
    void (*print)(Gen *gen, const char *format, int count, LLVMValueRef *slots);
    void (*stop)(Gen *gen, const Op *op, const char *text); /* with an error */
    /* `active` NULL: always */
    void (*copy_async)(Gen *gen, const Op *op, LLVMValueRef to, LLVMValueRef from, int bytes,
                       LLVMValueRef inside, LLVMValueRef active);
    void (*copy_commit)(Gen *gen);
    void (*copy_arrive)(Gen *gen, const Op *op, LLVMValueRef barrier);
    void (*mbarrier_init)(Gen *gen, const Op *op, LLVMValueRef barrier, int arrivals,
                          LLVMValueRef active);
    void (*mbarrier_arrive)(Gen *gen, const Op *op, LLVMValueRef barrier, LLVMValueRef active);
    void (*mbarrier_expect)(Gen *gen, const Op *op);
    void (*mbarrier_complete)(Gen *gen, const Op *op);
    void (*tensor_copy)(Gen *gen, const Op *op);
    void (*tensor_store)(Gen *gen, const Op *op);
    void (*tensor_commit)(Gen *gen);
    void (*tensor_wait)(Gen *gen, int groups);
    LLVMValueRef (*mbarrier_phase)(Gen *gen, const Op *op, LLVMValueRef barrier);
    void (*mbarrier_wait)(Gen *gen, const Op *op);
    void (*copy_wait)(Gen *gen, int groups); /* -1: for all copies */
    void (*give_way)(Gen *gen); /* in a loop that waits for memory; NULL: there is no need */
    void (*barrier)(Gen *gen, LLVMValueRef index,
                    int count); /* count 0: all threads of the block */
    void (*warp_sync)(Gen *gen);
    LLVMValueRef (*cluster_rank)(Gen *gen);
    LLVMValueRef (*cluster_address)(Gen *gen, const Op *op, LLVMValueRef pointer,
                                    LLVMValueRef rank);
    void (*cluster_arrive)(Gen *gen, const Op *op);
    void (*cluster_wait)(Gen *gen);
    void (*grid_sync)(Gen *gen, LLVMValueRef count);
    LLVMValueRef (*shuffle)(Gen *gen, const char *mode, LLVMValueRef word, LLVMValueRef lane);
    LLVMValueRef (*elect)(Gen *gen);                        /* true in one lane of the warp */
    LLVMValueRef (*vote)(Gen *gen, LLVMValueRef condition); /* the lanes where it holds */
    /* NULL: nobody looks */
    LLVMValueRef (*check_index)(Gen *gen, const Op *op, LLVMValueRef index, LLVMValueRef extent);
    /* NULL: nothing is left out */
    LLVMValueRef (*left_out)(Gen *gen, int64_t number, LLVMValueRef holds);
    void (*stmatrix)(Gen *gen, LLVMValueRef row, int count, bool transposed,
                     const LLVMValueRef *words);
    void (*ldmatrix)(Gen *gen, const Op *op, LLVMValueRef row, int count, bool transposed,
                     LLVMValueRef *words);
    void (*mma)(Gen *gen, const Op *op);
    void (*wgmma)(Gen *gen, const Op *op);
    void (*wgmma_wait)(Gen *gen, const Op *op);
    /* whether more than so many groups are under way; NULL: nobody looks */
    LLVMValueRef (*wgmma_under_way)(Gen *gen, int count);
    void (*fence_async)(Gen *gen, const Op *op);
    /* a tile_emu_function; `b` counts for TILE_EMU_DIV alone */
    LLVMValueRef (*approximate)(Gen *gen, int function, LLVMValueRef a, LLVMValueRef b);
    /* In a host region. */
    void (*launch)(Gen *gen, const Op *op);
    void (*require)(Gen *gen, const Op *op);
    void (*result_shape)(Gen *gen, const Op *op);
    void (*workspace_size)(Gen *gen, const Op *op);
    void (*span)(Gen *gen, const Op *op);
    void (*tensor_map)(Gen *gen, const Op *op);
} Machine;

extern const Machine nvptx_machine, emulator_machine, host_machine;

/* A value of the IR in LLVM's hands. */
typedef struct Held {
    LLVMValueRef value,
        slot;         /* slot: where it waits while the thread is suspended; made on demand */
    unsigned segment; /* where `value` may be used */
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
};

typedef struct NvptxTarget {
    const Target *target;
    int ptx; /* the version */
    LLVMTargetMachineRef machine;
} NvptxTarget;

/* ---- codegen.c ---- */
GenTypes gen_types_new(LLVMContextRef context);
/* An empty module for the host, with its triple and data layout. */
LLVMModuleRef host_module_new(Codegen *codegen, const char *name);
void passes_on_module(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes);
void passes_on_function(LLVMValueRef function, LLVMTargetMachineRef machine, const char *passes);
void module_check(LLVMModuleRef module, const char *what);
/* Moves the functions of a module into the host module. */
void module_link(Codegen *codegen, LLVMModuleRef module);
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
LLVMValueRef gen_operand(Gen *gen, const Op *op, int index);
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
/* A vector's or scalar's bits as 32-bit words and back (its size is a multiple of 4 bytes). */
void gen_words(Gen *gen, LLVMValueRef value, int count, LLVMValueRef *words);
LLVMValueRef gen_from_words(Gen *gen, int count, LLVMValueRef *words, LLVMTypeRef type);
int gen_type_bytes(const Gen *gen, const Type *type);

/* ---- llvm_ops.c, llvm_arith.c ---- */
void gen_op(Gen *gen, const Op *op);
#define OP(name, results, operands, names, regions, traits, stages, text)                          \
    void emit_##name(Gen *gen, const Op *op);
#include "ir/ops.def"
#undef OP

/* ---- llvm_packed.c: vectors of numbers of less than a byte ---- */
LLVMTypeRef gen_packed_type(const Gen *gen, const Type *vector);
LLVMValueRef gen_packed_get(Gen *gen, const Type *type, LLVMValueRef vector, int index);
LLVMValueRef gen_packed_pack(Gen *gen, const Op *op);
void nvptx_store_bits(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef mask,
                      LLVMValueRef set, LLVMValueRef predicate);

/* ---- llvm_approx.c ---- */
LLVMValueRef nvptx_approximate(Gen *gen, int function, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emulator_approximate(Gen *gen, int function, LLVMValueRef a, LLVMValueRef b);

/* ---- llvm_cast.c ---- */
LLVMValueRef gen_cast(Gen *gen, DType from, DType to, LLVMValueRef value);
LLVMValueRef gen_to_f32(Gen *gen, DType from,
                        LLVMValueRef value); /* from a float type of at most 32 bits */
LLVMValueRef gen_from_f32(Gen *gen, DType to, LLVMValueRef value);
LLVMValueRef gen_to_f64(Gen *gen, DType from, LLVMValueRef value);
LLVMValueRef gen_from_f64(Gen *gen, DType to, LLVMValueRef value);
/* True if LLVM computes in this float type as it stands. */
bool gen_is_native(const Gen *gen, DType dtype);

/* ---- nvptx.c, nvptx_mma.c ---- */

/* LLVM's address spaces. */
enum { SPACE_OF_GLOBAL = 1, SPACE_OF_SHARED = 3, SPACE_OF_CLUSTER = 7 };

/* nvptx_kernel.c */
bool nvptx_image(Codegen *codegen, Kernel *kernel, Image *out);
void nvptx_prepare(Codegen *codegen); /* of codegen_prepare */
void nvptx_stmatrix(Gen *gen, LLVMValueRef row, int count, bool transposed,
                    const LLVMValueRef *words);
void nvptx_ldmatrix(Gen *gen, const Op *op, LLVMValueRef row, int count, bool transposed,
                    LLVMValueRef *words);
void nvptx_mma(Gen *gen, const Op *op);
void nvptx_wgmma(Gen *gen, const Op *op);
void nvptx_wgmma_wait(Gen *gen, const Op *op);
void nvptx_fence_async(Gen *gen, const Op *op);
void nvptx_registers(Gen *gen, const Op *op);
/* nvptx_memory.c */
LLVMValueRef nvptx_load(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMTypeRef type,
                        LLVMValueRef predicate);
void nvptx_store(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                 LLVMValueRef predicate);
LLVMValueRef nvptx_atomic(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef value,
                          LLVMValueRef compare, LLVMValueRef predicate);
void nvptx_print(Gen *gen, const char *format, int count, LLVMValueRef *slots);
void nvptx_stop(Gen *gen, const Op *op, const char *text);
void nvptx_copy_async(Gen *gen, const Op *op, LLVMValueRef to, LLVMValueRef from, int bytes,
                      LLVMValueRef inside, LLVMValueRef active);
void nvptx_copy_commit(Gen *gen);
void nvptx_copy_wait(Gen *gen, int groups);
LLVMValueRef nvptx_shared(Gen *gen, int64_t offset);
/* nvptx_barrier.c */
void nvptx_copy_arrive(Gen *gen, const Op *op, LLVMValueRef barrier);
void nvptx_mbarrier_init(Gen *gen, const Op *op, LLVMValueRef barrier, int arrivals,
                         LLVMValueRef active);
void nvptx_mbarrier_arrive(Gen *gen, const Op *op, LLVMValueRef barrier, LLVMValueRef active);
void nvptx_mbarrier_expect(Gen *gen, const Op *op);
void nvptx_mbarrier_complete(Gen *gen, const Op *op);
LLVMValueRef nvptx_mbarrier_phase(Gen *gen, const Op *op, LLVMValueRef barrier);
void nvptx_mbarrier_wait(Gen *gen, const Op *op);
void nvptx_tensor_copy(Gen *gen, const Op *op);
void nvptx_tensor_store(Gen *gen, const Op *op);
void nvptx_tensor_commit(Gen *gen);
void nvptx_tensor_wait(Gen *gen, int groups);
/* nvptx_cluster.c */
LLVMValueRef nvptx_cluster_rank(Gen *gen);
LLVMValueRef nvptx_cluster_address(Gen *gen, const Op *op, LLVMValueRef pointer, LLVMValueRef rank);
void nvptx_cluster_arrive(Gen *gen, const Op *op);
void nvptx_cluster_wait(Gen *gen);
void nvptx_grid_sync(Gen *gen, LLVMValueRef count);
bool nvptx_in_cluster(const Gen *gen); /* the launch at hand has clusters of several blocks */
LLVMValueRef nvptx_asm(Gen *gen, LLVMTypeRef result, const char *text, const char *constraints,
                       int count, LLVMValueRef *arguments);
/* (word & mask) ^ flip. */
LLVMValueRef nvptx_masked(Gen *gen, LLVMValueRef word, uint32_t mask, uint32_t flip);

/* A wgmma op taken apart. */
typedef struct Wgmma {
    const char *shape;            /* "m64n128k16.f32.f16" */
    int n;                        /* columns of an instruction */
    int kind;                     /* the mma.sync that does 8 of them for a warp: of mma_at */
    int parts, pieces, steps;     /* products along m, n and k */
    int words;                    /* of a in registers, 0 if it is in memory */
    int scalars, sums, sums_each; /* of c: in the IR, in 32-bit words, and an instruction's */
    bool is_open;
    const Attr *left, *right; /* left NULL: a is in registers */
} Wgmma;
Wgmma wgmma_of(const Op *op);
/* The constant bits of the descriptor that {left} or {right} is, and where a part begins. */
uint64_t wgmma_descriptor(const Attr *operand);
int64_t wgmma_start(const Attr *operand, int part);
bool wgmma_is_transposed(const Attr *operand);

/* The instructions of the matrix unit, in the order of tile_emu_mma. */
typedef struct MmaInstruction {
    const char *name, *intrinsic;
    int a_words, b_words, c_words, scalars; /* a thread; scalars: of C and D in the IR */
    bool half_operands;                     /* the intrinsic takes <2 x half>, else i32 */
} MmaInstruction;
int mma_find(const Op *op);          /* an index; internal error if there is none */
int mma_find_kind(const char *kind); /* by the name from its `k` on */
const MmaInstruction *mma_at(int index);

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
