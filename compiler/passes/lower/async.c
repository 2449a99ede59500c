/* async.c: asynchronous copies from global to shared memory by one thread: cp.async of 16, 8
 * or 4 bytes.
 *
 * What is not aligned so far is loaded and stored at once. Neighbours that fill a word of shared
 * memory are loaded one by one, and stored as one. A thread has no more of them in flight than it
 * has registers for, nor of words, whose places take some: it copies in iterations, in each of
 * which it stands for another thread. */
#include "passes/lower/lower.h"
#include "ir/rebuild.h"

/* The tile spread over the threads as its memory likes it best. */
static const Layout *copy_layout(Lower *lower, const Access *access, int vector, int threads)
{
    const Type *tile = access->tile;
    const int dim = access_contiguous(access);
    int32_t shape[LAYOUT_RANK];
    int dim_order[LAYOUT_RANK], count = 0;
    for (int d = 0; d < tile->rank; d++) shape[d] = (int32_t)tile->shape[d];
    if (dim >= 0) dim_order[count++] = access->tile_dim[dim];
    for (int d = tile->rank - 1; d >= 0; d--)
        if (dim < 0 || d != access->tile_dim[dim]) dim_order[count++] = d;
    return layout_blocked(lower->kernel->layouts, tile->rank, shape, dim_order, vector,
                          threads / WARP_SIZE);
}

static int word_elements(const Access *access)
{
    const int bits = dtype_memory_bits(access->tile->dtype);
    return bits < CP_ASYNC_LEAST * 8 ? CP_ASYNC_LEAST * 8 / bits : 1;
}

/* Elements that one thread can copy at a time. */
static int copy_vector_of(const Lower *lower, const Access *access)
{
    const int dim = access_contiguous(access), warps = group_warps(lower->group);
    const int64_t threads = warps > 0 ? WARP_SIZE * warps : 1;
    const int64_t each = (type_elements(access->tile) + threads - 1) / threads;
    const int least = word_elements(access);
    return dim < 0 ? 1
                   : access_vector(lower->facts, access, dim, (int)(each > least ? each : least));
}

static void narrow(const Access *access, const Layout *layout, int *vector)
{
    const int dim = access_contiguous(access);
    if (dim < 0) return;
    const int tile_dim = access->tile_dim[dim], run = layout_register_run(layout, tile_dim);
    while (*vector > 1 && (*vector > run || !layout_starts_aligned(layout, tile_dim, *vector) ||
                           layout->shape[tile_dim] % *vector != 0))
        *vector /= 2;
}

/* ---- at once ---- */

typedef struct NarrowCopy {
    const Op *op;
    Memory memory; /* with the vector that is stored */
    int loaded;    /* elements a load */
    Value *mask;
} NarrowCopy;

/* What the thread, or the one that it stands for, has of the tile. */
static void copy_now(Lower *lower, NarrowCopy *copy)
{
    Memory *memory = &copy->memory;
    Walk walk = {0};
    const Layout *layout = memory->coordinates.layout;
    const DType dtype = memory->access.tile->dtype;
    const bool stores = copy->op->code == OP_tma_store; /* from shared memory */
    memory->coordinates = coordinates_of(lower, layout);
    memory->walk = &walk;
    Value **to = shared_pointers(lower, operand(copy->op, tile), layout, &memory->vector);
    if (copy->loaded > memory->vector) copy->loaded = memory->vector;
    const int count = layout_registers(layout), replicas = layout_register_replicas(layout);
    Value **registers = arena_new_array(lower->arena, Value *, count);
    Value **active = arena_new_array(lower->arena, Value *, count);
    Value *own = address_and(lower, address_not_replica(lower, layout), copy->mask);
    for (int reg = 0; reg < count; reg += memory->vector) {
        active[reg] = own;
        if (reg & replicas ||
            coordinates_padding(lower, &memory->coordinates, reg, &active[reg]) == PADDING_ALL) {
            to[reg] = NULL;
            continue;
        }
        if (stores)
            memory_read(lower, to[reg], active[reg], dtype, memory->vector, registers + reg);
        for (int i = reg; i < reg + memory->vector && !stores; i += copy->loaded)
            memory_read(lower, memory_pointer(lower, memory, i),
                        address_and(lower, memory_inside(lower, memory, i), active[reg]), dtype,
                        copy->loaded, registers + i);
    }
    for (int reg = 0; reg < count; reg += memory->vector) {
        if (to[reg] && stores)
            memory_write(lower, memory_pointer(lower, memory, reg),
                         address_and(lower, memory_inside(lower, memory, reg), active[reg]), dtype,
                         memory->vector, registers + reg);
        else if (to[reg])
            memory_write(lower, to[reg], active[reg], dtype, memory->vector, registers + reg);
    }
}

/* Each thread stands for so many. What is built until iterations_close is theirs. */
static Builder iterations_open(Lower *lower, int threads, int iterations)
{
    Value *bounds[3] = {address_const(lower, DTYPE_i32, 0),
                        address_const(lower, DTYPE_i32, iterations),
                        address_const(lower, DTYPE_i32, 1)};
    Op *loop = loop_build(&lower->at, 3, bounds);
    op_set_int(loop, ATTR_unroll, 1);
    const Builder outside = lower->at;
    lower->at = builder_at_end(loop->regions[0], outside.span);
    lower->iterations = (CoarsenedLoop){loop->regions[0]->arguments[0], threads, iterations};
    return outside;
}

static void iterations_close(Lower *lower, Builder outside)
{
    build_op(&lower->at, OP_yield, 0, NULL, 0, NULL);
    lower->iterations = (CoarsenedLoop){0};
    lower->at = outside;
}

static void copy_in_iterations(Lower *lower, NarrowCopy *copy, int threads, int iterations)
{
    const Builder outside = iterations_open(lower, threads, iterations);
    copy_now(lower, copy);
    iterations_close(lower, outside);
}

/* Threads that a layout is of: a power of two. */
static int layout_group(const Lower *lower)
{
    int threads = 1;
    while (2 * threads <= lower->group.count) threads *= 2;
    return threads;
}

/* Spread over as many threads as have no more than `most` accesses each, of `each` elements: each
 * of ours stands for *iterations of them. */
static const Layout *layout_of_iterations(Lower *lower, const Access *access, int vector, int each,
                                          int most, int *iterations)
{
    const int threads = layout_group(lower);
    const Layout *layout = copy_layout(lower, access, vector, threads), *next = layout;
    *iterations = 1;
    for (int more = 1; layout_registers(next) / each > most;) {
        more = threads * more < WARP_SIZE ? WARP_SIZE : 2 * more;
        next = copy_layout(lower, access, vector, threads * more);
        if (layout_registers(next) >= layout_registers(layout)) break;
        layout = next;
        *iterations = more;
    }
    return layout;
}

static void copy_narrow(Lower *lower, const Access *access, int vector, int loaded, NarrowCopy copy)
{
    int iterations;
    const Layout *layout =
        layout_of_iterations(lower, access, vector, loaded, COST_LOADS_IN_FLIGHT, &iterations);
    copy.memory = (Memory){.access = *access, .coordinates.layout = layout, .vector = vector};
    copy.loaded = loaded;
    narrow(access, layout, &copy.memory.vector);
    if (iterations == 1)
        copy_now(lower, &copy);
    else
        copy_in_iterations(lower, &copy, layout_group(lower), iterations);
}

/* ---- cp.async ---- */

static void copy_vector(Lower *lower, const Op *copy, const Memory *memory, int reg, Value *to,
                        Value *active)
{
    const int64_t bytes = dtype_memory_bytes(memory->access.tile->dtype, memory->vector);
    Value *inside = memory_inside(lower, memory, reg);
    const DType dtype = memory_dtype(memory->access.tile->dtype);
    Value *from = memory_address(lower, dtype, memory_pointer(lower, memory, reg));
    if (!inside) inside = address_const(lower, DTYPE_b1, 1);
    Value *operands[4] = {memory_address(lower, dtype, to), from, inside, active};
    Op *op = build_op(&lower->at, OP_cp_async, active ? 4 : 3, operands, 0, NULL);
    op_set_int(op, ATTR_bytes, bytes);
    op_keep_attr(op, copy, ATTR_evict);
    op_keep_attr(op, copy, ATTR_prefetch_size);
}

static void copy_vectors(Lower *lower, const Op *op, Memory *memory, Value *mask)
{
    const Layout *layout = memory->coordinates.layout;
    const int replicas = layout_register_replicas(layout);
    Value **to = shared_pointers(lower, operand(op, tile), layout, &memory->vector);
    for (int reg = 0; reg < layout_registers(layout); reg += memory->vector) {
        Value *active = address_and(lower, address_not_replica(lower, layout), mask);
        if (reg & replicas ||
            coordinates_padding(lower, &memory->coordinates, reg, &active) == PADDING_ALL)
            continue;
        copy_vector(lower, op, memory, reg, to[reg], active);
    }
}

static void copy_vectors_in_iterations(Lower *lower, const Op *op, Memory *memory, Value *mask,
                                       const Layout *layout, int iterations)
{
    const Builder outside = iterations_open(lower, layout_group(lower), iterations);
    memory->coordinates = coordinates_of(lower, layout);
    narrow(&memory->access, layout, &memory->vector);
    copy_vectors(lower, op, memory, mask);
    iterations_close(lower, outside);
}

/* How many at a time: words are so many that their places would take registers. */
static int copies_at_once(const Lower *lower, int64_t bytes)
{
    enum { ALL = 1 << 20 };
    return bytes == CP_ASYNC_LEAST         ? COST_WORDS_IN_FLIGHT
           : group_warps(lower->group) > 0 ? ALL
                                           : COST_LOADS_IN_FLIGHT;
}

static void copy_wide(Lower *lower, const Op *op, Memory *memory, Value *mask)
{
    const int64_t bytes = dtype_memory_bytes(memory->access.tile->dtype, memory->vector);
    int iterations;
    const Layout *layout =
        layout_of_iterations(lower, &memory->access, memory->vector, memory->vector,
                             copies_at_once(lower, bytes), &iterations);
    if (iterations > 1)
        copy_vectors_in_iterations(lower, op, memory, mask, layout, iterations);
    else
        copy_vectors(lower, op, memory, mask);
}

void lower_copy_async(Lower *lower, Op *op)
{
    Memory memory = {.access = access_of(op)};
    const int warps = group_warps(lower->group);
    memory.vector = copy_vector_of(lower, &memory.access);
    const Layout *layout = copy_layout(lower, &memory.access, memory.vector, WARP_SIZE * warps);
    memory.coordinates = coordinates_of(lower, layout);
    narrow(&memory.access, layout, &memory.vector);
    shared_pointers(lower, operand(op, tile), layout, &memory.vector);
    memory_remark(lower, &memory);
    Value *mask =
        op_attr(op, ATTR_masked) ? lower_scalar(lower, op->operands[op->operand_count - 1]) : NULL;
    if (dtype_memory_bytes(memory.access.tile->dtype, memory.vector) < CP_ASYNC_LEAST)
        copy_narrow(lower, &memory.access,
                    access_contiguous(&memory.access) < 0 ? 1 : word_elements(&memory.access),
                    memory.vector, (NarrowCopy){.op = op, .mask = mask});
    else
        copy_wide(lower, op, &memory, mask);
}

/* ---- in TMA's place ---- */

/* The copies have landed, and are shown to all that the barrier counts their bytes for. */
static void tell_bytes(Lower *lower, const Op *op)
{
    const Type *tile = operand(op, tile)->type;
    const int64_t bytes = type_elements(tile) * dtype_bits(tile->dtype) / 8;
    build_op(&lower->at, OP_copy_wait, 0, NULL, 0, NULL);
    build_op(&lower->at, OP_fence_async, 0, NULL, 0, NULL);
    if (lower->group.count > 1) build_op(&lower->at, OP_warp_sync, 0, NULL, 0, NULL);
    Value *operands[3] = {stage_filled(lower, operand(op, barriers), operand(op, stage)),
                          address_const(lower, DTYPE_i32, bytes), address_first_thread(lower)};
    build_op(&lower->at, OP_mbar_complete, 3, operands, 0, NULL);
}

static void store_at_once(Lower *lower, Op *op)
{
    const Access access = access_of(op);
    const int vector = copy_vector_of(lower, &access);
    copy_narrow(lower, &access, vector, vector, (NarrowCopy){.op = op});
}

void copy_by_threads(Lower *lower, Op *op)
{
    const Builder around = lower->at;
    const ThreadGroup group = lower->group, warp = {group.begin, WARP_SIZE};
    if (group.count > WARP_SIZE) {
        Op *branch = build_branch(&lower->at, address_in_group(lower, warp));
        lower->at = builder_before(branch->regions[0]->last);
        lower->group = warp;
    }
    if (op->code == OP_tma_store) {
        store_at_once(lower, op);
    } else {
        lower_copy_async(lower, op);
        tell_bytes(lower, op);
    }
    lower->at = around;
    lower->group = group;
}
