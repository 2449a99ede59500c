/* access.h: what the passes ask of a load or store of global memory; private to this folder. */
#ifndef TILEC_PASSES_ANALYSIS_ACCESS_H
#define TILEC_PASSES_ANALYSIS_ACCESS_H

#include "base/vec.h"
#include "passes/analysis/uniformity.h"
#include "passes/analysis/ranges.h"
#include "passes/pass.h"

enum { BOUND_LOW = 1, BOUND_HIGH = 2 };

/* A load or store of a tile, taken apart. */
typedef struct Access {
    Op *op;
    const Type *view, *tile; /* of a copy: a shared tile */
    Value *pointer, *value;  /* `value` is the tile that is stored or loaded */
    int rank;                /* of the view; the arrays go by its dimensions */
    Value *extents[TYPE_RANK], *strides[TYPE_RANK], *offsets[TYPE_RANK];
    int tile_dim[TYPE_RANK];  /* which dimension of the tile; -1: extent 1 */
    int64_t width[TYPE_RANK]; /* the tile's extent along it */
    int bounds[TYPE_RANK];
} Access;

bool op_is_access(const Op *op);
/* ---- element_threads.c ---- */
/* No element of a shared tile is met by one thread in one of the accesses and by another in the
 * other. `known`: what was found of accesses before. */
bool threads_keep_elements(Arena *arena, Map *known, Op *a, Op *b, int64_t threads);
/* ---- scattered.c ---- */
/* One element, by each thread for itself. */
bool op_is_element(const Op *op);
/* A thread's copy to shared memory by itself, which it waits for. */
bool op_is_own_copy(const Op *op);
/* Each element at indices of its own: gather, put, atomic. */
bool op_is_scattered(const Op *op);
/* The tile that such an op moves, and its first index among the operands. */
Value *scattered_value(Op *op);
int scattered_first(const Op *op);
/* Its mask; NULL: it has none. */
Value *scattered_mask(const Op *op);
/* What chooses between the gathered elements and zeros by the condition that they are gathered
 * under, and so is the same, on its way to shared memory; NULL: there is none. */
Op *gather_choice(const Op *gather);
/* The gather from a view that the store to a shared tile is all of, but for such a choice; NULL: it
 * stores something else. */
Op *gather_stored(const Op *store);
/* The longest vector along the tile's last dimension, a power of two of at most `limit` elements,
 * whose elements lie side by side and aligned in memory, inside or outside of it, done or masked
 * out as a whole. */
int scattered_vector(FactTable *facts, const Target *target, Op *op, int limit);
/* How many elements of memory lie from each element to the next one along the tile's last
 * dimension; 0: they do not follow each other, or this is not known. */
int64_t scattered_step(FactTable *facts, const Op *op);
/* Of an atomic: it adds to global memory, nobody wants to know what was there, and so many elements
 * side by side are one access of the machine at most; 0: none of that. */
int atomic_sums(const Target *target, const Op *op);
Access access_of(Op *op);
/* Both bounds of the dimensions in the mask are checked, and of others what `known` has (NULL:
 * both). */
void access_check(Op *op, const Attr *known, unsigned dims);
/* begin + span <= next, of numbers of any size. */
bool width_ends_before(int64_t begin, int64_t span, int64_t next);
/* The dimension of the view that is contiguous in memory and that the tile spans; -1: none. */
int access_contiguous(const Access *access);
/* The longest vector along that dimension, in elements (a power of two, at most `limit`), that is
 * aligned in memory and is inside or outside of the view as a whole, wherever it starts at a
 * multiple of its length in the tile. */
int access_vector(FactTable *facts, const Access *access, int dim, int limit);
/* Why such a vector is not possible; NULL: it is. */
const char *access_fault(FactTable *facts, const Access *access, int dim, int vector);
/* How many bytes a thread moves at a time; whether a copy of it moves several words. */
int64_t access_bytes(FactTable *facts, Op *op);
bool access_is_wide(FactTable *facts, Op *op);
/* True if each of the `threads` meets in one access only elements that it, and nobody else, had in
 * the other: both have the same tile at the same offsets, and the offsets of other iterations of a
 * loop are the same ones or at least a tile away. */
bool access_is_own(FactTable *facts, Op *a, Op *b, int threads);
/* Whether the question finds something in what says where a copy reads from: all that it is given
 * but its shared tile. */
bool copy_source_finds(const Op *copy, ValueQuestion *ask, void *context);
/* The same number in every iteration of all loops around it. */
bool value_is_steady(const Value *value);
/* True if no element is met by both accesses. */
bool access_is_apart(FactTable *facts, Op *a, Op *b);
/* The shared_alloc that a shared tile is a part of, or is. */
const Op *shared_root(const Value *tile);
/* How a shared tile that is whole, or a part that lies like one, is read or written by matrices, if
 * the target has that: then a warp's threads move what others of it hold. */
Ldmatrix access_matrices(const Target *target, TargetFeature feature, const Layout *registers,
                         const Value *tile);
/* Whether the tile, or a part of it, is an operand of the op; and whether an op that has such
 * operands does no more with them than to read them or to name parts of them. */
bool shared_is_used(const Op *op, const void *alloc);
bool shared_is_only_read(const Op *op);
/* Whether the tile, or part of one, is but read, and as a whole. */
bool shared_is_loaded_alone(const Value *tile);
/* The rank of the block in whose memory it is; NULL: the block's own. */
Value *shared_rank(const Value *tile);
/* ---- disjoint.c ---- */
/* In which iteration of the loops around it an access was made, seen from one that is made now: the
 * same; the one before of `loop`, or some before that, and the same of all others; without a loop,
 * some earlier one. */
typedef struct Iteration {
    enum { ITERATION_SAME, ITERATION_BEFORE, ITERATION_EARLIER } when;
    const Op *loop;
} Iteration;
/* Whether it is a part that may be another one in another iteration. */
bool shared_part_moves(const Value *part);
/* Whether two parts of a shared tile, one met in that iteration and one now, have no byte in
 * common. */
bool shared_parts_apart(Agreement *agreement, const Value *earlier, Iteration iteration,
                        const Value *later);
/* ---- shared_view.c ---- */
/* The layout of a shared_view of a tile that has the layout `whole`, if its elements lie behind the
 * first one as in a tile of their own; NULL: they don't, or that can't be seen. */
const Layout *shared_part_layout(LayoutTable *table, FactTable *facts, const Op *view,
                                 const Layout *whole);
/* ---- shared_uses.c ---- */

/* A shared tile, and where in the launch it is used, seen from a loop: its place is its own from
 * its first use to its last. */
typedef struct SharedUse {
    const Op *alloc;
    bool before, inside, behind;
} SharedUse;
typedef VEC(SharedUse) SharedUses;
SharedUses loop_shared_uses(Arena *arena, Region *launch, const Op *loop);
bool shared_use_lasts(const SharedUse *use); /* while the loop runs */
/* Of all those, a stage each, and of the largest register tile that goes to other threads in the
 * loop, by way of shared memory, for which infer_layout makes room: what is scanned, or transposed
 * for anything but a product. */
int64_t loop_lasting_bytes(Region *launch, const Op *loop);

/* ---- analysis/tma.c: copies by TMA ---- */
/* How a copy is done: boxes of a tensor map, dimensions from the innermost. */
typedef struct TensorCopy {
    Access access;
    int swizzle;              /* bytes */
    int dim[TENSOR_RANK];     /* of the view */
    int64_t box[TENSOR_RANK]; /* extents, in what the map counts */
    int32_t rows, columns;    /* of the tile's last dimensions, a box */
} TensorCopy;
/* Not all rows begin at lines of the cache, so that two blocks' copies ask for some lines twice. */
bool access_splits_lines(FactTable *facts, const Access *access);
/* Elements that a tensor map counts as one along the contiguous dimension: those of a byte. */
int tensor_unit(DType dtype);
/* How TMA may lay out a shared tile: in panels, as the tensor core reads them, or row after row.
 * NULL: its extents don't allow that. */
const Layout *tma_panels(LayoutTable *layouts, const Type *tile);
const Layout *tma_rows(LayoutTable *layouts, const Type *tile);
/* How a tile of this layout would be copied as `copy` says; false: there is no way. */
bool tma_load_of(Op *copy, const Layout *layout, TensorCopy *out);
/* Whether the memory is such that TMA can do so. */
bool tma_load_fits(FactTable *facts, const TensorCopy *copy);
/* Why a copy to a tile of this layout cannot be a TMA load; NULL: it can. */
const char *tma_load_fault(FactTable *facts, Op *copy, const Layout *layout);
/* Why TMA cannot write what `store` does, through shared memory; NULL: it can. */
const char *tma_store_fault(FactTable *facts, Op *store);
bool tma_store_fits(FactTable *facts, Op *store);
/* Of a load whose elements all went into those that are stored at the same places: it is done when
 * these are known, so that nothing need order the two. */
bool store_replaces(const Op *store, const Op *load);
/* What is stored at a time of the tile that so many threads hold, rows and columns: of rows each
 * warpgroup has its own, but in sums of a product whose operands were swapped, where warpgroups
 * have columns. False: no columns can be. */
bool tma_store_part(const Op *store, int threads, int32_t part[2]);
/* What a pointer was before anything was added to it: a parameter's value, or an op's that makes an
 * array, loads a pointer or chooses one. */
const Value *pointer_root(const Value *pointer);
/* Whether it is a thread's load of global memory. */
bool load_is_global(const Op *op);
/* The parameter whose memory a pointer reaches; NULL if that can't be seen. */
Parameter *pointer_parameter(Kernel *kernel, const Value *pointer);
/* Of a view; NULL: that, or not a view. */
const Parameter *memory_parameter(const Value *memory);
/* Whether that memory, or any of a view (NULL), may hold something else after the op, by this
 * thread or by others that it meets or waits for. */
bool op_may_change(const Op *op, const void *parameter);
/* Whether the op writes it, or may: asked of all ops of a launch, as what others of them do is not
 * asked. */
bool op_may_write(const Op *op, const void *parameter);
/* Parameters whose memory is written. */
typedef struct WrittenMemory {
    Map parameters;
    bool any; /* memory of which it is not known whose it is */
} WrittenMemory;
void written_note(WrittenMemory *written, Arena *arena, const Value *memory); /* NULL: any */
bool written_has(const WrittenMemory *written, const Value *memory);
/* The same of a thread's accesses through pointers. Of a launch whose parameters may be aliases a
 * store may be to any memory. */
void written_note_store(WrittenMemory *written, Kernel *kernel, const Op *store);
bool written_may_have(const WrittenMemory *written, Kernel *kernel, const Op *load);
bool op_swaps(const Op *op); /* a transpose of two dimensions */
/* What such a transpose, or one of one, is of; another op itself. NULL: no op makes it. *swapped:
 * whether rows are columns by all of them. */
Op *op_unswapped(Op *op, bool *swapped);
/* Of all shared tiles that are made in the region. */
int64_t region_shared_bytes(Region *region);

#endif
