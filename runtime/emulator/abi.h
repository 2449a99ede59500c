/* emulator/abi.h: what emulated code and the emulator agree on. Shared with the code generator,
 * which builds the same struct as an LLVM type (codegen/emulator.c).
 *
 * A kernel's thread program becomes a coroutine: its ramp function
 *     void *ramp(tile_emu_thread *thread, const void *const *parameters)
 * makes the frame (tile_emu_frame), suspends at once and returns the handle. The handle's first
 * word is the resume function, NULL once the thread has ended. Resumed, the coroutine runs to its
 * next cooperative operation: it stores what it wants in thread->op, the operands in thread->in,
 * and suspends; when it is resumed the results are in thread->out.
 *
 * Ordinary accesses to memory go through tile_emu_access when thread->checked is set, which reports
 * faults and gives the address to use (a scratch area where the access is not allowed). */
#ifndef TILE_EMULATOR_ABI_H
#define TILE_EMULATOR_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Cooperative operations. Operands in `in`, results in `out`, as 32-bit words unless said. */
typedef enum tile_emu_op {
    TILE_EMU_NONE, /* none: gives way to other threads, then goes on (loops that wait for memory) */
    TILE_EMU_BARRIER,   /* block: bar.sync mode, in[0] = threads that take part, 0: all */
    TILE_EMU_WARP_SYNC, /* warp: bar.warp.sync; if mode, what it did before is not ordered by it */
    TILE_EMU_SHUFFLE,   /* warp: in = value, lane or mask or delta, mode (tile_emu_shuffle) -> out =
                           value */
    TILE_EMU_LDMATRIX,  /* warp: in = address (64 bits, in[0..1]), count 1 2 4, transposed -> out =
                           count words */
    TILE_EMU_MMA,   /* warp: in = A words, B words, C words; mode = tile_emu_mma -> out = D words */
    TILE_EMU_VOTE,  /* warp: in = condition -> out = the lanes where it is not 0 */
    TILE_EMU_WGMMA, /* warp: m64nN, 32 bytes of k, for this warp's rows: in = address of the words
                       of the sums (64 bits; read and written), a's descriptor or the address of its
                       4 words (64 bits), b's descriptor (64 bits), N, flags (tile_emu_wgmma); mode
                       = tile_emu_mma */
    TILE_EMU_CLUSTER_ARRIVE, /* warp: barrier.cluster.arrive; mode (tile_emu_arrive) */
    TILE_EMU_CLUSTER_WAIT,   /* warp: barrier.cluster.wait */
    TILE_EMU_GRID_SYNC,      /* warp: all threads of the launch wait for each other */
    TILE_EMU_STMATRIX,       /* warp: in = as for ldmatrix, then count words */
    TILE_EMU_REDUX,          /* warp: in = value; mode (tile_emu_redux) -> out = of all lanes */
    TILE_EMU_REGISTERS,      /* warp: setmaxnreg; in = count; mode (tile_emu_registers) */
} tile_emu_op;

/* .relaxed; and that behind a fence, which has told of mbarriers that were made */
typedef enum tile_emu_arrive { TILE_EMU_ARRIVE_RELAXED = 1, TILE_EMU_ARRIVE_MADE } tile_emu_arrive;

typedef enum tile_emu_shuffle {
    TILE_EMU_SHUFFLE_IDX,
    TILE_EMU_SHUFFLE_UP,
    TILE_EMU_SHUFFLE_DOWN,
    TILE_EMU_SHUFFLE_XOR
} tile_emu_shuffle;

typedef enum tile_emu_redux {
    TILE_EMU_REDUX_ADD,
    TILE_EMU_REDUX_AND,
    TILE_EMU_REDUX_OR,
    TILE_EMU_REDUX_XOR,
    TILE_EMU_REDUX_MIN,
    TILE_EMU_REDUX_MAX,
    TILE_EMU_REDUX_UMIN,
    TILE_EMU_REDUX_UMAX
} tile_emu_redux;

typedef enum tile_emu_registers {
    TILE_EMU_REGISTERS_DEC,
    TILE_EMU_REGISTERS_INC
} tile_emu_registers;

/* the quick instructions: ex2.approx.ftz.f32 and so on, tanh.approx.f32 */
typedef enum tile_emu_function {
    TILE_EMU_EX2,
    TILE_EMU_LG2,
    TILE_EMU_RCP,
    TILE_EMU_SQRT,
    TILE_EMU_RSQRT,
    TILE_EMU_SIN,
    TILE_EMU_COS,
    TILE_EMU_TANH,
    TILE_EMU_DIV, /* alone has a second operand */
    TILE_EMU_EXP, /* these keep subnormal numbers */
    TILE_EMU_EXP2
} tile_emu_function;

/* mma.sync shapes, as in the PTX manual; A, B, C words a thread */
typedef enum tile_emu_mma {
    TILE_EMU_MMA_M16N8K16_F32_F16,  /* 4, 2, 4 */
    TILE_EMU_MMA_M16N8K16_F32_BF16, /* 4, 2, 4 */
    TILE_EMU_MMA_M16N8K16_F16_F16,  /* 4, 2, 2 */
    TILE_EMU_MMA_M16N8K8_F32_TF32,  /* 4, 2, 4 */
    TILE_EMU_MMA_M16N8K32_S32_S8,   /* 4, 2, 4 */
    TILE_EMU_MMA_M16N8K32_S32_U8,   /* 4, 2, 4 */
    TILE_EMU_MMA_M16N8K32_F32_E4M3, /* 4, 2, 4 */
    TILE_EMU_MMA_M16N8K32_F32_E5M2, /* 4, 2, 4 */
    TILE_EMU_MMA_M16N8K8_F64_F64,   /* 8, 4, 8: each element is two words, the low one first */
} tile_emu_mma;

typedef enum tile_emu_wgmma {
    TILE_EMU_WGMMA_REGISTERS = 1,    /* a is in registers */
    TILE_EMU_WGMMA_A_TRANSPOSED = 2, /* m is contiguous, not k */
    TILE_EMU_WGMMA_B_TRANSPOSED = 4, /* n is */
} tile_emu_wgmma;

typedef enum tile_emu_space { TILE_EMU_GLOBAL, TILE_EMU_SHARED } tile_emu_space;
/* The bits from TILE_EMU_KIND_BITS on say, of an access to a part of a byte, which part; of an
 * atomic, what it orders: tile_emu_order, and from TILE_EMU_SCOPE_BITS on tile_emu_scope; those from
 * TILE_EMU_ACCESS_BITS on which of the code's accesses it is, as there are many at one site. */
typedef enum tile_emu_kind {
    TILE_EMU_READ,
    TILE_EMU_WRITE,
    TILE_EMU_ATOMIC,
    TILE_EMU_SPARE_READ, /* of what nobody need have written */
    TILE_EMU_ANY_WRITE, /* of which those of other threads at the same place in the source may be */
    TILE_EMU_KIND_BITS = 8,
    TILE_EMU_SCOPE_BITS = 10,
    TILE_EMU_ACCESS_BITS = 16
} tile_emu_kind;

/* As in the PTX manual's memory consistency model; both is .acq_rel, none .relaxed. */
typedef enum tile_emu_order { TILE_EMU_ACQUIRE = 1, TILE_EMU_RELEASE = 2 } tile_emu_order;

/* Of an atomic or an mbarrier's operation: for whose threads it orders anything. */
typedef enum tile_emu_scope {
    TILE_EMU_CTA,
    TILE_EMU_CLUSTER,
    TILE_EMU_GPU,
    TILE_EMU_SYS
} tile_emu_scope;

/* Of a thread's `checked`: accesses are checked; or, in a fast launch, looked at for a while. */
enum { TILE_EMU_CHECKED = 1, TILE_EMU_WATCHED = 2 };

enum { TILE_EMU_IN_WORDS = 24, TILE_EMU_OUT_WORDS = 16 };

typedef struct tile_emu_thread {
    uint32_t index;    /* in the block */
    uint32_t checked;  /* nonzero: call tile_emu_access before each access */
    uint32_t block[3]; /* blockIdx */
    uint32_t grid[3];  /* gridDim */
    uint8_t *shared;   /* the block's shared memory */
    uint32_t op;       /* tile_emu_op, set before a suspension */
    uint32_t mode;     /* of the op */
    uint32_t site;     /* index into the image's sites, of the op */
    uint32_t rank;     /* of the block in its cluster */
    uint32_t in[TILE_EMU_IN_WORDS];
    uint32_t out[TILE_EMU_OUT_WORDS];
    void *owner;     /* the emulator's own record of the thread */
    uint32_t rounds; /* of loops that wait for memory; the code counts them */
} tile_emu_thread;

/* A number that the code knows, or an argument of the launch: an integer of so many bytes. */
typedef struct tile_emu_number {
    int64_t value;     /* of no argument; of an extent -1: not known */
    uint32_t argument; /* its index plus 1; 0: none */
    uint32_t bytes;
} tile_emu_number;

enum { TILE_EMU_RANK = 8 };

/* What a pointer argument is taken for, for messages. */
typedef struct tile_emu_array {
    const char *name;
    uint32_t argument;     /* the pointer's index among the launch's */
    uint32_t element_bits; /* in memory */
    uint32_t rank;         /* 0: shape and strides are not known */
    uint32_t unused;
    tile_emu_number shape[TILE_EMU_RANK], strides[TILE_EMU_RANK]; /* strides in elements */
} tile_emu_array;

/* Where in the source something is done. */
typedef struct tile_emu_site {
    const char *file;
    uint32_t line, column;
    uint32_t repeats;  /* how many sites before this one the first of the same place is */
    uint32_t tiles[2]; /* the numbers of the shared tiles that it accesses, what it writes first; 0:
                          none, or not known */
    const tile_emu_array
        *array; /* the memory of the argument's that it accesses; NULL: not known */
} tile_emu_site;

/* Memory for a coroutine's frame, 64-byte aligned; released with the block. `thread` is the ramp's.
 * NULL where there is none: the ramp then returns NULL. */
void *tile_emu_frame(tile_emu_thread *thread, uint64_t bytes);

/* One access of `bytes` bytes (1 to 16) in checked mode. `kind` is tile_emu_kind, `space`
 * tile_emu_space. Returns the address to use. */
void *tile_emu_access(tile_emu_thread *thread, void *address, uint32_t bytes, uint32_t kind,
                      uint32_t space, uint32_t site);

/* The index; 0 where it is not from 0 to `extent` - 1, which checked mode reports, by what the
 * dimension is called; NULL: it has no name. */
int64_t tile_emu_index(tile_emu_thread *thread, int64_t index, int64_t extent, uint32_t site,
                       const char *name);

/* The launch fails: a condition of the author's does not hold. */
void tile_emu_stop(tile_emu_thread *thread, const char *text, uint32_t site);

/* What a quick instruction gives, right to the manual's bound. `function` is tile_emu_function. */
float tile_emu_approximate(uint32_t function, float a, float b);

/* The four channels of a texture (tile_emulator_texture) at coordinates of a mip level: `out` holds
 * f32s then. */
void tile_emu_texture(tile_emu_thread *thread, uint64_t texture, float level, uint32_t dims,
                      float x, float y, float z);

/* printf to the standard output: `in` holds `count` values of 64 bits, as `format` takes them. */
void tile_emu_print(tile_emu_thread *thread, const char *format, uint32_t count);

/* cp.async: a copy of 4, 8 or 16 bytes, or zeros where `inside` is 0, that lands when the thread
 * waits for it, as late as the program allows; nothing where `active` is 0. Then its commit_group
 * and wait_group; groups < 0 is wait_all. */
void tile_emu_copy_async(tile_emu_thread *thread, void *to, const void *from, uint32_t bytes,
                         uint32_t inside, uint32_t active, uint32_t site);
void tile_emu_copy_commit(tile_emu_thread *thread);
void tile_emu_copy_wait(tile_emu_thread *thread, int32_t groups);

/* mbarriers: 8 bytes of shared memory. Initialised for phases of so many arrivals, unless 0; so
 * many arrivals, 0 or 1, a release of that tile_emu_scope; one when the copies that the thread has
 * begun have landed, which counts beside the phase's own if `extra`; whether the phase of this
 * parity is complete, if so an acquire. */
void tile_emu_mbarrier_init(tile_emu_thread *thread, void *barrier, uint32_t arrivals,
                            uint32_t site);
void tile_emu_mbarrier_arrive(tile_emu_thread *thread, void *barrier, uint32_t count,
                              uint32_t scope, uint32_t site);
void tile_emu_copy_arrive(tile_emu_thread *thread, void *barrier, uint32_t extra, uint32_t site);
/* The parity of the phase in flight. */
uint32_t tile_emu_mbarrier_phase(tile_emu_thread *thread, void *barrier, uint32_t unused,
                                 uint32_t site);
uint32_t tile_emu_mbarrier_test(tile_emu_thread *thread, void *barrier, uint32_t parity,
                                uint32_t scope, uint32_t site);

/* mapa: where in the cluster's block `rank` lies what is at `pointer` in this one. */
void *tile_emu_cluster_address(tile_emu_thread *thread, void *pointer, uint32_t rank,
                               uint32_t site);

/* mbarrier.expect_tx; 0 bytes: nothing. */
void tile_emu_mbarrier_expect(tile_emu_thread *thread, void *barrier, uint32_t bytes,
                              uint32_t site);
/* mbarrier.complete_tx behind a fence of that scope, of any block of the cluster; 0 bytes: nothing.
 */
void tile_emu_mbarrier_complete(tile_emu_thread *thread, void *barrier, uint32_t bytes,
                                uint32_t scope, uint32_t site);
/* cp.async.bulk.tensor to shared memory, of `rank` coordinates in `in`; lands when somebody waits
 * at the mbarrier for its bytes. Nothing where `active` is 0. Where `blocks` is not 0: in those of
 * the cluster, at the same place, and for the same mbarrier, of each. */
void tile_emu_tensor_copy(tile_emu_thread *thread, const void *map, void *to, void *barrier,
                          uint32_t active, uint32_t rank, uint32_t blocks, uint32_t site);

/* The other way, then cp.async.bulk.commit_group and wait_group.read: until then what is written
 * must stay; or, with `written`, wait_group: until then it is not there. */
void tile_emu_tensor_store(tile_emu_thread *thread, const void *map, void *from, uint32_t active,
                           uint32_t rank, uint32_t site);
/* cp.reduce.async.bulk.tensor with .add, of f16, bf16 or f32, as the map says. */
void tile_emu_tensor_add(tile_emu_thread *thread, const void *map, void *from, uint32_t active,
                         uint32_t rank, uint32_t site);
void tile_emu_tensor_commit(tile_emu_thread *thread);
void tile_emu_tensor_wait(tile_emu_thread *thread, uint32_t groups, uint32_t written);

/* wgmma.commit_group and wait_group: until then what wgmma reads in shared memory must stay. */
void tile_emu_wgmma_commit(tile_emu_thread *thread);
void tile_emu_wgmma_wait(tile_emu_thread *thread, int32_t groups);
/* Whether more than so many groups have not been waited for. */
uint32_t tile_emu_wgmma_in_flight(tile_emu_thread *thread, uint32_t groups);
/* fence.proxy.async of shared or global memory, or, of mbarriers alone that were made,
 * fence.mbarrier_init */
enum { TILE_EMU_FENCE_SHARED, TILE_EMU_FENCE_MADE, TILE_EMU_FENCE_GLOBAL };
void tile_emu_fence_async(tile_emu_thread *thread, uint32_t what);

/* What an op that is left out does for others. */
typedef enum tile_emu_role {
    TILE_EMU_MEETS,     /* threads that pass it come after what was done before it */
    TILE_EMU_RELEASES,  /* others come after what its thread did before it */
    TILE_EMU_COMPLETES, /* what its thread has begun before it is done behind it */
    TILE_EMU_SHOWS,     /* another proxy sees what was written before it */
    TILE_EMU_CONFINES,  /* a predicate: some threads do not what others do */
    TILE_EMU_GIVES,     /* others get the registers that its threads give away */
} tile_emu_role;

/* Nonzero if the op of this number is left out, or `holds` is nonzero; if it is not, the thread has
 * come to where that makes a difference. */
uint32_t tile_emu_inject_fault(tile_emu_thread *thread, uint32_t number, uint32_t role,
                               uint32_t holds);

/* Optional, from the ramp, for each pointer parameter: its value. Known arguments decide what an
 * access outside every allocation of tile_alloc is (memory of the caller's own, or a fault);
 * without them the emulator guesses. In fast mode it counts the argument's allocation as written.
 */
void tile_emu_argument(tile_emu_thread *thread, const void *pointer);

#endif
