/* lower.h: what the lower*.c files share; private to them.
 *
 * Each launch's region is written anew. Address arithmetic is built by the functions of
 * address.c, which fold constants, never build the same thing twice, and put each op before
 * the loops that don't change its operands. */
#ifndef TILEC_PASSES_LOWER_LOWER_H
#define TILEC_PASSES_LOWER_LOWER_H

#include "base/vec.h"
#include "passes/analysis/access.h"

/* A tensor map that is a parameter of the kernel already. */
typedef struct MadeMap {
    TensorCopy copy;
    Value *map;
} MadeMap;

/* A loop in whose iterations each thread stands for one thread after the other of a group so many
 * times as large: of that are the layouts that are asked about inside it. */
typedef struct CoarsenedLoop {
    Value *index;       /* NULL: there is no such loop */
    int threads, count; /* powers of two */
} CoarsenedLoop;

typedef struct Lower {
    Kernel *kernel;
    const Target *target;
    Arena *arena;      /* of the pass */
    FactTable *facts;  /* of the old program */
    Region *top;       /* the new region of the launch */
    Builder at;        /* where ops go */
    ThreadGroup group; /* the threads that run what is lowered now */
    bool spare;        /* what is lowered reads what nobody need have written (ATTR_spare) */
    int prefetch_size; /* bytes of a cache line that come to L2 by what it reads; 0: as it is */
    bool any;          /* it writes where others may write, too (ATTR_any) */
    CoarsenedLoop iterations;
    Map scalars;    /* old Value -> new Value */
    Map tiles;      /* old Value -> Value *[layout_registers] */
    Map read;       /* old Values that something but stores reads */
    Map joined;     /* old element_store -> the Neighbours that it is written with */
    Interner *keys; /* of what is built already */
    Map built;      /* key -> Value */
    VEC(MadeMap) maps;
} Lower;

/* ---- values.c ---- */

Value *lower_scalar(const Lower *lower, Value *old);
Value **lower_tile(const Lower *lower, const Value *old);
Value **lower_new_tile(Lower *lower, const Value *old); /* registers to be filled in */
int register_count(const Value *value);                 /* 1 of a scalar */
Value *lower_build(Lower *lower, OpCode code, int count, Value *const *operands, const Type *type);

/* ---- address.c: pure integer and pointer arithmetic ---- */

Value *address_const(Lower *lower, DType dtype, int64_t value);
Value *address_zero(Lower *lower, DType dtype); /* of any element type */
Value *address_op(Lower *lower, OpCode code, Value *a, Value *b);
Value *address_cast(Lower *lower, DType dtype, Value *a);
Value *address_cmp(Lower *lower, const char *predicate, Value *a, Value *b);
/* assume.c: the emulator says by the text where it does not hold; GPUs do not ask. */
void lower_check(Lower *lower, const char *text, const char *predicate, Value *a, Value *b);
Value *address_and(Lower *lower, Value *a, Value *b); /* of predicates; NULL is true */
Value *address_shared(Lower *lower, DType dtype, const Op *alloc);
/* The same place of shared memory in another block of the cluster. */
Value *address_in_cluster(Lower *lower, Value *pointer, Value *rank);
Value *address_pointer_to(Lower *lower, DType dtype, Value *pointer);
/* Loops around the place where a value is made: 0 outside of all. */
int address_depth(const Lower *lower, const Value *value);
/* The exclusive or of targets[b] over the bits b of the thread index that are set, as i32. NULL: it
 * is always zero. */
Value *address_gather(Lower *lower, const int32_t targets[32]);
/* a + number, or a ^ number; `a` NULL is zero. */
Value *address_add_number(Lower *lower, Value *a, int64_t number);
Value *address_xor_number(Lower *lower, Value *a, int64_t number);

/* Coordinates of a tile's registers: coordinate = (thread part ^ flip) + rest. */
typedef struct Coordinates {
    const Layout *layout;
    Value *part[LAYOUT_RANK];  /* NULL: zero */
    int32_t mask[LAYOUT_RANK]; /* the bits that it can have */
} Coordinates;
typedef struct Coordinate {
    Value *variable; /* i32; NULL: zero */
    int64_t rest;
} Coordinate;
Coordinates coordinates_of(Lower *lower, const Layout *layout);
Coordinate coordinate_at(Lower *lower, const Coordinates *coordinates, int reg, int dim);

typedef enum Padding { PADDING_NONE, PADDING_SOME, PADDING_ALL } Padding;
/* Whether the register holds padding: in no thread, in some (then *predicate is the others), in
 * all. */
Padding coordinates_padding(Lower *lower, const Coordinates *coordinates, int reg,
                            Value **predicate);
/* A predicate that is true in one of the threads that hold the same elements; NULL: in all. */
Value *address_not_replica(Lower *lower, const Layout *layout);
/* Whether such a predicate is false in any thread. */
bool address_has_replicas(const Lower *lower, const Layout *layout);
Value *address_thread_id(Lower *lower);
/* The value, which is the same in all lanes of each warp, in a form that shows it: made of the
 * thread index alone. */
Value *address_uniform(Lower *lower, Value *value);
/* True in the threads of the group. */
Value *address_in_group(Lower *lower, ThreadGroup group);
/* True in the first thread of those that run what is lowered now. */
/* True in the block's thread of that index, for whole warps to ask: of a warp's first thread the
 * machine knows then that it is alone. */
Value *address_elected(Lower *lower, int thread);
Value *address_first_thread(Lower *lower);
/* True in the first thread of each of so many equal parts of them. */
Value *address_first_of_part(Lower *lower, int parts);
/* Which part a thread is of, as many times; NULL: there is but one. */
Value *address_part(Lower *lower, int parts, int32_t times);
/* Registers that repeat a lower one. */
int layout_register_replicas(const Layout *layout);
/* Bits of the thread index as coordinates: lanes, then warps. */
int layout_thread_bits(const Layout *layout);
const int32_t *layout_thread_basis(const Layout *layout, int bit);

/* Which register of thread 0 holds which coordinates. */
typedef struct RegisterIndex {
    const Layout *layout;
    int32_t extent[LAYOUT_RANK];
    int *at; /* -1: another thread */
} RegisterIndex;
RegisterIndex register_index(Lower *lower, const Layout *layout);
int register_at(const RegisterIndex *index, const int32_t *coordinates);  /* -1: another thread's */
int register_of(const RegisterIndex *index, int32_t row, int32_t column); /* the thread has it */

/* ---- one lowering an op ---- */

typedef void LowerRule(Lower *lower, Op *op);
LowerRule lower_load, lower_store; /* lower/memory.c */
/* Fills in `read`, of the old region; linear in it, as each value is marked once. */
void lower_note_reads(Lower *lower, Region *region);
LowerRule lower_shared_load, lower_shared_store; /* shared.c */
/* Before the part is used: the emulator says where it does not lie in its tile. */
void shared_watch(Lower *lower, const Value *part);
/* The index as an i32; the emulator reports one that is outside. */
Value *lower_check_index(Lower *lower, Value *index, const Value *memory, int dim);
LowerRule lower_gather, lower_put, lower_atomic; /* lower/scattered.c */
LowerRule lower_mbarrier_init, lower_mbarrier_arrive, lower_mbarrier_expect_tx,
    lower_mbarrier_arrive_on_copies, lower_mbarrier_arrive_and_wait,
    lower_mbarrier_wait;                      /* lower/mbarrier.c */
LowerRule lower_assume;                       /* lower/assume.c */
LowerRule lower_thread_id, lower_local_alloc; /* lower/element.c */
LowerRule lower_element_load, lower_element_store, lower_element_atomic;
/* ---- neighbours.c ---- */
enum { NEIGHBOURS = ACCESS_BYTES }; /* elements of an access, at most */
/* Accesses of one region that may be made as one of a vector. */
typedef struct Neighbours {
    Op *ops[NEIGHBOURS]; /* in the order of their elements */
    int count, before;   /* how many of them are before the one that was asked about */
    int met;             /* of those that are written, so far */
} Neighbours;
/* With `op` and those that come after it; its count is 1 if there are none. */
Neighbours neighbours_of(Lower *lower, Op *op);
/* element_copy.c: whether the elements are copied from global memory by cp.async, and not stored.
 */
bool lower_element_copy(Lower *lower, const Neighbours *all, Value *pointer, Value *const *values);
/* The same of a vector that was loaded to be stored by `store` alone; where `active` is false
 * nothing is done. */
bool lower_loaded_copy(Lower *lower, Value *pointer, Value *active, int count,
                       Value *const *values);
/* Whether all that the store of a tile writes was loaded for it alone, in pieces that cp.async
 * moves best, and nobody else in its loop has copies in flight. */
bool is_copied_at_once(const Lower *lower, const Op *store);
/* atom.c: what `op` does to one element: a pointer, a value, a comparand, a predicate or
 * NULL.
 */
Value *lower_atom(Lower *lower, const Op *op, Value *const operands[4]);
/* Of atomic_sums: adds so many values to the elements from the pointer on. */
void lower_red(Lower *lower, const Op *op, Value *pointer, Value *predicate, int count,
               Value *const *values);
LowerRule lower_copy_async;                                   /* lower/async.c */
LowerRule lower_dot, lower_mma_sync;                          /* dot.c */
LowerRule lower_dot_fma;                                      /* lower/fma.c */
LowerRule lower_dot_shared, lower_dot_commit, lower_dot_wait; /* lower/wgmma.c */
LowerRule lower_pipeline_init, lower_producer_acquire,
    lower_producer_commit; /* producer_consumer.c */
LowerRule lower_consumer_wait, lower_consumer_try_wait, lower_consumer_release, lower_order_wait,
    lower_order_arrive;
LowerRule lower_tma_load, lower_tma_store, lower_tma_store_commit, lower_tma_store_wait,
    lower_barrier; /* lower/tma.c */
/* The mbarrier of a multi-buffer's stage that says that it is filled (producer_consumer.c). */
Value *stage_filled(Lower *lower, const Value *barriers, Value *stage);
/* A tma_load or tma_store {by_threads}. */
void copy_by_threads(Lower *lower, Op *op); /* lower/async.c */
LowerRule lower_reduce, lower_scan;         /* lower/reduce.c */
/* A conversion between lanes; false: layout_exchange does not know it. */
bool lower_exchange(Lower *lower, const Op *op);

/* ---- shared.c ---- */

/* The address of an element of a shared tile or of a part of one; coordinates are i32, NULL is 0.
 */
Value *shared_element(Lower *lower, const Value *tile, Value *const *coordinates);
/* The addresses of a tile's elements by registers of the layout. *vector is lowered to how many
 * registers lie next to each other. */
Value **shared_pointers(Lower *lower, const Value *tile, const Layout *layout, int *vector);

/* The registers of a tile in the layout, each read, with those that come with it, when it is first
 * asked for: so many at a time at most. */
typedef struct SharedReader SharedReader;
SharedReader *shared_reader(Lower *lower, const Value *tile, const Layout *layout, int most);
Value *shared_reader_at(Lower *lower, SharedReader *reader, int reg);

/* ---- packed.c: elements of less than a byte ---- */

/* The address of the first of a whole byte. */
Value *packed_address(Lower *lower, Value *pointer);
/* One element, wherever it lies. */
Value *packed_read(Lower *lower, Value *pointer, Value *predicate);
void packed_write(Lower *lower, Value *pointer, Value *predicate, Value *value);
/* Casts as many of the registers from `reg` on as it does at once; 0: none. */
int packed_cast(Lower *lower, DType to, Value *const *from, int count, Value **registers);

/* ---- lower/memory.c ---- */

/* The address that was made last, but for what is constant: the next one is made of it, so that the
 * distances of all from the first need no registers. */
typedef struct Walk {
    Value *pointer; /* NULL: there is none */
    Coordinate at[TYPE_RANK];
} Walk;

/* A view's part, and the registers that go with it. */
typedef struct Memory {
    Access access;
    Coordinates coordinates;
    int vector; /* registers an access */
    Walk *walk; /* NULL: each address is made by itself */
} Memory;

/* Says how wide the accesses are, and why not wider, if they could be. */
void memory_remark(Lower *lower, const Memory *memory);
/* The address of a register's element. */
Value *memory_pointer(Lower *lower, const Memory *memory, int reg);
/* Whether it is inside the view; NULL: always. */
Value *memory_inside(Lower *lower, const Memory *memory, int reg);
/* Vectors along `dim` start at multiples of their length. */
bool layout_starts_aligned(const Layout *layout, int dim, int vector);

/* What registers are in memory: a bool is a byte. */
DType memory_dtype(DType dtype);
/* Reads `count` elements at `pointer` into registers[0..count). */
void memory_read(Lower *lower, Value *pointer, Value *predicate, DType dtype, int count,
                 Value **registers);
void memory_write(Lower *lower, Value *pointer, Value *predicate, DType dtype, int count,
                  Value *const *registers);
/* The pointer as one to elements of the type; of packed ones, to a whole byte's first. */
Value *memory_address(Lower *lower, DType dtype, Value *pointer);
Value *memory_pack(Lower *lower, int count, Value *const *elements);
/* The vector whose elements they are, all in their order; NULL: there is none. */
Value *memory_whole(int count, Value *const *elements);
Value *memory_element(Lower *lower, Value *vector, int index);

#endif
