/* lower_async.c: asynchronous copies from global to shared memory by one thread: cp.async of 16, 8
 * or 4 bytes. What is not aligned so far is loaded and stored at once. */
#include "passes/lower.h"

enum { LEAST_BYTES = 4 };

/* The tile spread over the threads as its memory likes it best. */
static const Layout *copy_layout(Lower *lower, const Access *access, int *vector)
{
    const Type *tile = access->tile;
    const int dim = access_contiguous(access), warps = group_warps(lower->group);
    const int64_t threads = warps > 0 ? 32 * warps : 1;
    const int64_t each = (type_elements(tile) + threads - 1) / threads;
    int32_t shape[LAYOUT_RANK];
    int order[LAYOUT_RANK], count = 0;
    for (int d = 0; d < tile->rank; d++) shape[d] = (int32_t)tile->shape[d];
    if (dim >= 0) order[count++] = access->tile_dim[dim];
    for (int d = tile->rank - 1; d >= 0; d--)
        if (dim < 0 || d != access->tile_dim[dim]) order[count++] = d;
    const int least = LEAST_BYTES * 8 / dtype_memory_bits(tile->dtype);
    const int limit = (int)(each > least ? each : least);
    *vector = dim < 0 ? 1 : access_vector(lower->facts, access, dim, limit);
    return layout_blocked(lower->kernel->layouts, tile->rank, shape, order, *vector, warps);
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

static void copy_now(Lower *lower, const Memory *memory, int reg, Value *to, Value *inside,
                     Value *active)
{
    enum { MOST = 8 * ACCESS_BYTES };
    Value *registers[MOST];
    const DType dtype = memory->access.tile->dtype;
    CHECK(memory->vector <= MOST);
    memory_read(lower, memory_pointer(lower, memory, reg), address_and(lower, inside, active),
                dtype, memory->vector, registers);
    memory_write(lower, to, active, dtype, memory->vector, registers);
}

static void copy_vector(Lower *lower, const Op *copy, const Memory *memory, int reg, Value *to,
                        Value *active)
{
    const int64_t bytes = dtype_memory_bytes(memory->access.tile->dtype, memory->vector);
    Value *inside = memory_inside(lower, memory, reg);
    if (bytes < LEAST_BYTES) {
        copy_now(lower, memory, reg, to, inside, active);
        return;
    }
    const DType dtype = memory_dtype(memory->access.tile->dtype);
    Value *from = memory_address(lower, dtype, memory_pointer(lower, memory, reg));
    if (!inside) inside = address_const(lower, DTYPE_b1, 1);
    Value *operands[4] = {memory_address(lower, dtype, to), from, inside, active};
    Op *op = build_op(&lower->at, OP_cp_async, active ? 4 : 3, operands, 0, NULL);
    op_set_int(op, ATTR_bytes, bytes);
    const Attr *evict = op_attr(copy, ATTR_evict);
    if (evict) op_set_text(op, ATTR_evict, evict->text);
}

void lower_copy_async(Lower *lower, Op *op)
{
    Memory memory = {.access = access_of(op)};
    const Layout *layout = copy_layout(lower, &memory.access, &memory.vector);
    memory.coordinates = coordinates_of(lower, layout);
    narrow(&memory.access, layout, &memory.vector);
    Value **to = shared_pointers(lower, op->operands[1], layout, &memory.vector);
    memory_remark(lower, &memory);
    const int replicas = layout_register_replicas(layout);
    Value *mask =
        op_attr(op, ATTR_masked) ? lower_scalar(lower, op->operands[op->operand_count - 1]) : NULL;
    for (int reg = 0; reg < layout_registers(layout); reg += memory.vector) {
        Value *active = address_and(lower, address_not_replica(lower, layout), mask);
        if (reg & replicas ||
            coordinates_padding(lower, &memory.coordinates, reg, &active) == PADDING_ALL)
            continue;
        copy_vector(lower, op, &memory, reg, to[reg], active);
    }
}
