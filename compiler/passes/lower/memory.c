/* memory.c: loads and stores of global memory by one thread: an address and a predicate for
 * each vector of registers that are neighbours in memory.
 *
 * The address is a sum of products, added up from what is known before all loops to what changes in
 * the innermost; a register's own constant comes last, where the machine's addressing takes it in.
 */
#include "passes/lower/lower.h"

DType memory_dtype(DType dtype)
{
    return dtype == DTYPE_b1 ? DTYPE_u8 : dtype;
}

/* ---- vectors ---- */

Value *memory_whole(int count, Value *const *elements)
{
    const Op *first = elements[0]->op;
    bool whole = first && first->code == OP_vec_get && operand(first, vector)->type->count == count;
    for (int i = 0; i < count && whole; i++) {
        const Op *get = elements[i]->op;
        whole = get && get->code == OP_vec_get && operand(get, vector) == operand(first, vector) &&
                op_int(get, ATTR_index, 0) == i;
    }
    return whole ? operand(first, vector) : NULL;
}

Value *memory_pack(Lower *lower, int count, Value *const *elements)
{
    Value *whole = memory_whole(count, elements);
    if (whole) return whole;
    const Type *type = type_vector(lower->kernel->types, elements[0]->type->dtype, count);
    return lower_build(lower, OP_vec_pack, count, elements, type);
}

Value *memory_element(Lower *lower, Value *vector, int index)
{
    const Type *type = type_scalar(lower->kernel->types, vector->type->dtype);
    Value *element = lower_build(lower, OP_vec_get, 1, &vector, type);
    op_set_int(element->op, ATTR_index, index);
    return element;
}

Value *memory_address(Lower *lower, DType dtype, Value *pointer)
{
    return address_pointer_to(lower, dtype,
                              dtype_is_packed(dtype) ? packed_address(lower, pointer) : pointer);
}

void memory_read(Lower *lower, Value *pointer, Value *predicate, DType dtype, int count,
                 Value **registers)
{
    TypeTable *types = lower->kernel->types;
    const DType stored = memory_dtype(dtype);
    if (count * dtype_memory_bits(dtype) % 8 != 0) {
        for (int i = 0; i < count; i++)
            registers[i] = packed_read(lower, address_add_number(lower, pointer, i), predicate);
        return;
    }
    Value *operands[2] = {memory_address(lower, stored, pointer), predicate};
    const Type *type = count == 1 ? type_scalar(types, stored) : type_vector(types, stored, count);
    Value *read = lower_build(lower, OP_ld, predicate ? 2 : 1, operands, type);
    op_set_int(read->op, ATTR_align, dtype_memory_bytes(dtype, count));
    if (lower->spare) op_set_int(read->op, ATTR_spare, 1);
    /* of narrow loads L1 has the rest of the sector, and most of the line */
    if (lower->prefetch_size && dtype_memory_bytes(dtype, count) == ACCESS_BYTES)
        op_set_int(read->op, ATTR_prefetch_size, lower->prefetch_size);
    for (int i = 0; i < count; i++) {
        Value *element = count == 1 ? read : memory_element(lower, read, i);
        registers[i] = stored == dtype ? element : build_cast(&lower->at, dtype, element);
    }
}

void memory_write(Lower *lower, Value *pointer, Value *predicate, DType dtype, int count,
                  Value *const *registers)
{
    const DType stored = memory_dtype(dtype);
    if (count * dtype_memory_bits(dtype) % 8 != 0) {
        for (int i = 0; i < count; i++)
            packed_write(lower, address_add_number(lower, pointer, i), predicate, registers[i]);
        return;
    }
    Value **elements = arena_new_array(lower->arena, Value *, count);
    for (int i = 0; i < count; i++)
        elements[i] = stored == dtype ? registers[i] : build_cast(&lower->at, stored, registers[i]);
    Value *operands[3] = {memory_address(lower, stored, pointer),
                          count == 1 ? elements[0] : memory_pack(lower, count, elements),
                          predicate};
    Op *write = build_op(&lower->at, OP_st, predicate ? 3 : 2, operands, 0, NULL);
    op_set_int(write, ATTR_align, dtype_memory_bytes(dtype, count));
    if (lower->any) op_set_int(write, ATTR_any, 1);
}

/* ---- addresses ---- */

typedef struct Terms {
    Value *items[3 * TYPE_RANK];
    int count;
} Terms;

static void add_term(Lower *lower, Terms *terms, Value *factor, Value *stride)
{
    if (!factor) return;
    Value *term = address_op(lower, OP_mul, address_cast(lower, DTYPE_i64, factor),
                             address_cast(lower, DTYPE_i64, stride));
    int at = terms->count++;
    for (; at > 0 && address_depth(lower, terms->items[at - 1]) > address_depth(lower, term); at--)
        terms->items[at] = terms->items[at - 1];
    terms->items[at] = term;
}

/* The pointer moved by the terms, those of one depth at a time. */
static Value *add_terms(Lower *lower, Value *pointer, const Terms *terms)
{
    for (int i = 0; i < terms->count;) {
        const int depth = address_depth(lower, terms->items[i]);
        Value *sum = terms->items[i++];
        for (; i < terms->count && address_depth(lower, terms->items[i]) == depth; i++)
            sum = address_op(lower, OP_add, sum, terms->items[i]);
        pointer = address_op(lower, OP_ptr_add, pointer, sum);
    }
    return pointer;
}

static Coordinate view_coordinate(Lower *lower, const Memory *memory, int reg, int dim)
{
    const int tile_dim = memory->access.tile_dim[dim];
    return tile_dim < 0 ? (Coordinate){0}
                        : coordinate_at(lower, &memory->coordinates, reg, tile_dim);
}

/* So many strides further, where that is not constant. */
static Value *add_steps(Lower *lower, Value *pointer, Value *stride, int64_t count)
{
    int64_t known;
    if (count == 0 || value_constant(stride, &known)) return pointer;
    Value *steps = address_op(lower, OP_mul, address_cast(lower, DTYPE_i64, stride),
                              address_const(lower, DTYPE_i64, count));
    return address_op(lower, OP_ptr_add, pointer, steps);
}

static Value *first_pointer(Lower *lower, const Access *access, const Coordinate *at)
{
    Terms terms = {0};
    for (int d = 0; d < access->rank; d++) {
        Value *stride = lower_scalar(lower, access->strides[d]);
        add_term(lower, &terms, lower_scalar(lower, access->offsets[d]), stride);
        add_term(lower, &terms, at[d].variable, stride);
    }
    Value *pointer = add_terms(lower, lower_scalar(lower, access->pointer), &terms);
    for (int d = 0; d < access->rank; d++)
        pointer = add_steps(lower, pointer, lower_scalar(lower, access->strides[d]), at[d].rest);
    return pointer;
}

/* From the last one on. NULL: it is not known how far that is. */
static Value *next_pointer(Lower *lower, const Access *access, const Walk *walk,
                           const Coordinate *at)
{
    Value *pointer = walk ? walk->pointer : NULL;
    for (int d = 0; pointer && d < access->rank; d++) {
        if (at[d].variable != walk->at[d].variable) return NULL;
        pointer = add_steps(lower, pointer, lower_scalar(lower, access->strides[d]),
                            at[d].rest - walk->at[d].rest);
    }
    return pointer;
}

Value *memory_pointer(Lower *lower, const Memory *memory, int reg)
{
    const Access *access = &memory->access;
    Walk here = {0};
    uint64_t constant = 0; /* wraps as addresses do, whatever stride a text has */
    for (int d = 0; d < access->rank; d++) {
        int64_t known;
        here.at[d] = view_coordinate(lower, memory, reg, d);
        if (value_constant(lower_scalar(lower, access->strides[d]), &known))
            constant += (uint64_t)here.at[d].rest * (uint64_t)known;
    }
    here.pointer = next_pointer(lower, access, memory->walk, here.at);
    if (!here.pointer) here.pointer = first_pointer(lower, access, here.at);
    if (memory->walk) *memory->walk = here;
    return address_op(lower, OP_ptr_add, here.pointer,
                      address_const(lower, DTYPE_i64, (int64_t)constant));
}

/* ---- predicates ---- */

/* The bound is a multiple, too: the largest i32 that is one of 1024 leaves room for 1023 more. */
static int64_t largest(Facts facts)
{
    const int64_t rest = facts.multiple > 1 && facts.high > 0 ? facts.high % facts.multiple : 0;
    return facts.high - rest;
}

/* Coordinates are compared in 32 bits where offset + tile can't overflow them. */
static DType coordinate_dtype(const Lower *lower, const Memory *memory, int dim)
{
    const Access *access = &memory->access;
    const Value *offset = access->offsets[dim], *extent = access->extents[dim];
    const Facts facts = facts_of(lower->facts, offset), limit = facts_of(lower->facts, extent);
    const Layout *layout = memory->coordinates.layout;
    const int tile_dim = access->tile_dim[dim];
    const int64_t last =
        tile_dim < 0 ? 0 : (int64_t)layout->block[tile_dim] * layout->repeat[tile_dim] - 1;
    const bool fits = facts.low >= INT32_MIN && largest(facts) <= INT32_MAX - last &&
                      limit.low >= INT32_MIN && limit.high <= INT32_MAX;
    return fits ? DTYPE_i32 : DTYPE_i64;
}

/* One comparison without sign finds what is below 0, too. */
static Value *is_within(Lower *lower, Value *at, Value *old_extent)
{
    const DType with_sign = at->type->dtype,
                without = with_sign == DTYPE_i32 ? DTYPE_u32 : DTYPE_u64;
    Value *extent = address_cast(lower, with_sign, lower_scalar(lower, old_extent));
    if (facts_of(lower->facts, old_extent).low < 0) /* then nothing is inside */
        extent = address_op(lower, OP_max, extent, address_const(lower, with_sign, 0));
    return address_cmp(lower, "lt", address_cast(lower, without, at),
                       address_cast(lower, without, extent));
}

static Value *dim_predicate(Lower *lower, const Memory *memory, int reg, int dim, Value *predicate)
{
    const Access *access = &memory->access;
    if (!access->bounds[dim]) return predicate;
    const DType dtype = coordinate_dtype(lower, memory, dim);
    const Coordinate coordinate = view_coordinate(lower, memory, reg, dim);
    Value *at = address_cast(lower, dtype, lower_scalar(lower, access->offsets[dim]));
    if (coordinate.variable)
        at = address_op(lower, OP_add, at, address_cast(lower, dtype, coordinate.variable));
    at = address_op(lower, OP_add, at, address_const(lower, dtype, coordinate.rest));
    if (access->bounds[dim] == (BOUND_LOW | BOUND_HIGH))
        return address_and(lower, predicate, is_within(lower, at, access->extents[dim]));
    if (access->bounds[dim] & BOUND_LOW)
        predicate = address_and(lower, predicate,
                                address_cmp(lower, "ge", at, address_const(lower, dtype, 0)));
    if (access->bounds[dim] & BOUND_HIGH) {
        Value *extent = address_cast(lower, dtype, lower_scalar(lower, access->extents[dim]));
        predicate = address_and(lower, predicate, address_cmp(lower, "lt", at, extent));
    }
    return predicate;
}

Value *memory_inside(Lower *lower, const Memory *memory, int reg)
{
    Value *predicate = NULL;
    for (int d = 0; d < memory->access.rank; d++)
        predicate = dim_predicate(lower, memory, reg, d, predicate);
    return predicate;
}

/* What must hold for the vector that starts at the register; PADDING_ALL: it never does. */
static Padding vector_predicate(Lower *lower, const Memory *memory, int reg, Value **predicate)
{
    const Padding padding = coordinates_padding(lower, &memory->coordinates, reg, predicate);
    if (padding == PADDING_ALL) return padding;
    for (int d = 0; d < memory->access.rank; d++)
        *predicate = dim_predicate(lower, memory, reg, d, *predicate);
    return padding;
}

/* ---- the ops ---- */

/* Vectors start at multiples of their length, so no other bit may move them off. */
bool layout_starts_aligned(const Layout *layout, int dim, int vector)
{
    int low = 0;
    while (1 << low < vector) low++;
    for (int bit = low; bit < layout->bits[LAYOUT_REGISTER] + layout_thread_bits(layout); bit++)
        if (layout->basis[bit][dim] & (vector - 1)) return false;
    return layout->block[dim] >= vector;
}

static int choose_vector(const Lower *lower, const Access *access)
{
    const int dim = access_contiguous(access);
    if (dim < 0) return 1;
    const Layout *layout = access->tile->layout;
    const int run = layout_register_run(layout, access->tile_dim[dim]);
    int vector = access_vector(lower->facts, access, dim, run);
    while (vector > 1 && !layout_starts_aligned(layout, access->tile_dim[dim], vector)) vector /= 2;
    return vector;
}

static const char *fault_of_vector(Lower *lower, const Memory *memory)
{
    const Access *access = &memory->access;
    const int dim = access_contiguous(access);
    if (dim < 0) return "no dimension that the tile spans is contiguous";
    const char *fault = access_fault(lower->facts, access, dim, 2 * memory->vector);
    return fault ? fault : "threads have no more neighbours each";
}

void memory_remark(Lower *lower, const Memory *memory)
{
    enum { LEAST_COPY = 4 }; /* bytes of a cp.async */
    const Access *access = &memory->access;
    const int dim = access_contiguous(access);
    const DType dtype = access->view->dtype;
    const int64_t bytes = dtype_memory_bytes(dtype, memory->vector),
                  row = dim < 0 ? ACCESS_BYTES : dtype_memory_bytes(dtype, access->width[dim]);
    const char *what = access->op->code == OP_store  ? "a store"
                       : access->op->code == OP_load ? "a load"
                       : bytes >= LEAST_COPY         ? "a copy by cp.async"
                                                     : "a copy by loads and stores";
    if (bytes < ACCESS_BYTES && bytes < row)
        kernel_remark(lower->kernel, access->op->span, "%s of %lld bytes at a time: %s", what,
                      (long long)bytes, fault_of_vector(lower, memory));
    else
        kernel_remark(lower->kernel, access->op->span, "%s of %lld bytes at a time", what,
                      (long long)bytes);
}

static Memory memory_of(Lower *lower, Op *op)
{
    Memory memory = {.access = access_of(op)};
    CHECK(memory.access.tile->layout);
    memory.coordinates = coordinates_of(lower, memory.access.tile->layout);
    memory.vector = choose_vector(lower, &memory.access);
    memory_remark(lower, &memory);
    return memory;
}

static void zero_registers(Lower *lower, DType dtype, int count, Value **registers)
{
    for (int i = 0; i < count; i++) registers[i] = address_zero(lower, dtype);
}

/* A value that something but a store reads, and all that it may be. */
typedef struct Reads {
    Lower *lower;
    VEC(Value *) open; /* those whose origins are not marked yet */
} Reads;

static void mark_read(Reads *reads, Value *value)
{
    if (value->type->kind != TYPE_TILE || map_has(&reads->lower->read, value)) return;
    map_set(reads->lower->arena, &reads->lower->read, value, NULL);
    vec_push(reads->lower->arena, &reads->open, value);
}

static bool carries(const Op *op)
{
    return op->code == OP_for || op->code == OP_if;
}

static void mark_operands(Op *op, void *context)
{
    const bool passes_on = op->code == OP_reshape || op->code == OP_for ||
                           (op->code == OP_yield && carries(op->parent->parent));
    if (passes_on || op->code == OP_store || op->code == OP_shared_store) return;
    for (int i = 0; i < op->operand_count; i++) mark_read(context, op->operands[i]);
}

/* What a loop carries as its value `index`, or what each branch of an `if` leaves. */
static void mark_yielded(Reads *reads, Op *op, int index)
{
    for (int r = 0; r < op->region_count; r++)
        mark_read(reads, op->regions[r]->last->operands[index]);
    if (op->code == OP_for) mark_read(reads, operand_list(op, init)[index]);
}

static void mark_origins(Reads *reads, const Value *value)
{
    Op *op = value->op;
    if (!op && value->region->parent->code == OP_for)
        mark_yielded(reads, value->region->parent, value->index - 1);
    if (op && op->code == OP_reshape) mark_read(reads, operand(op, a));
    if (op && carries(op)) mark_yielded(reads, op, value->index);
}

void lower_note_reads(Lower *lower, Region *region)
{
    Reads reads = {.lower = lower};
    region_visit(region, mark_operands, &reads);
    while (reads.open.count > 0) mark_origins(&reads, reads.open.data[--reads.open.count]);
}

void lower_load(Lower *lower, Op *op)
{
    const Memory memory = memory_of(lower, op);
    const Layout *layout = memory.access.tile->layout;
    const DType dtype = memory.access.tile->dtype;
    const int replicas = layout_register_replicas(layout);
    Value **registers = lower_new_tile(lower, &op->results[0]);
    /* Of several threads that have the same elements one writes them: the others need none. */
    Value *reads = map_has(&lower->read, op->results) ? NULL : address_not_replica(lower, layout);
    for (int reg = 0; reg < layout_registers(layout); reg += memory.vector) {
        Value *predicate = reads;
        if (reg & replicas)
            for (int i = 0; i < memory.vector; i++)
                registers[reg + i] = registers[(reg & ~replicas) + i];
        else if (vector_predicate(lower, &memory, reg, &predicate) == PADDING_ALL)
            zero_registers(lower, dtype, memory.vector, registers + reg);
        else
            memory_read(lower, memory_pointer(lower, &memory, reg), predicate, dtype, memory.vector,
                        registers + reg);
    }
}

void lower_store(Lower *lower, Op *op)
{
    const Memory memory = memory_of(lower, op);
    const Layout *layout = memory.access.tile->layout;
    const int replicas = layout_register_replicas(layout);
    Value **registers = lower_tile(lower, memory.access.value);
    for (int reg = 0; reg < layout_registers(layout); reg += memory.vector) {
        Value *predicate = address_not_replica(lower, layout);
        if (reg & replicas || vector_predicate(lower, &memory, reg, &predicate) == PADDING_ALL)
            continue;
        memory_write(lower, memory_pointer(lower, &memory, reg), predicate,
                     memory.access.tile->dtype, memory.vector, registers + reg);
    }
}
