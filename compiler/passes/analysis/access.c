/* access.c: loads and stores of global memory taken apart, and how wide they can be. */
#include "passes/analysis/access.h"

bool op_is_element(const Op *op)
{
    return op_has(op, ELEMENT);
}

bool op_is_own_copy(const Op *op)
{
    return op->code == OP_element_store && op_int(op, ATTR_async, 0);
}

bool op_is_access(const Op *op)
{
    return op_has(op, ACCESS);
}

static void find_tile_dims(Access *access)
{
    const Attr *dims = op_attr(access->op, ATTR_dims);
    for (int d = 0; d < access->rank; d++) {
        access->tile_dim[d] = -1;
        access->width[d] = 1;
    }
    for (int t = 0; t < access->tile->rank; t++) {
        const int d = dims ? (int)dims->integers[t] : access->rank - access->tile->rank + t;
        CHECK(d >= 0 && d < access->rank);
        access->tile_dim[d] = t;
        access->width[d] = access->tile->shape[t];
    }
}

Access access_of(Op *op)
{
    const bool stores = op->code != OP_load;
    const Op *view = operand(op, view)->op;
    CHECK(view && view->code == OP_view);
    Access access = {.op = op, .view = operand(op, view)->type, .pointer = operand(view, pointer)};
    access.value = !stores                                 ? &op->results[0]
                   : op_row_names(op->code, OPERAND_value) ? operand(op, value)
                                                           : operand(op, tile);
    access.tile = access.value->type;
    access.rank = access.view->rank;
    const Attr *bounds = op_attr(op, ATTR_bounds);
    for (int d = 0; d < access.rank; d++) {
        access.extents[d] = operand_list(view, extents)[d];
        access.strides[d] = operand_list(view, extents)[access.rank + d];
        access.offsets[d] = operand_list(op, offsets)[d];
        access.bounds[d] = bounds ? (int)bounds->integers[d] : BOUND_LOW | BOUND_HIGH;
    }
    find_tile_dims(&access);
    return access;
}

int access_contiguous(const Access *access)
{
    for (int d = access->rank - 1; d >= 0; d--) {
        if (access->tile_dim[d] >= 0 && access->width[d] > 1 &&
            value_is_constant(access->strides[d], 1))
            return d;
    }
    return -1;
}

/* The address of a vector's start is a multiple of its size whatever the other coordinates are. */
static const char *fault_of_address(FactTable *facts, const Access *access, int dim, int vector)
{
    const int64_t size = facts_address_unit(access->view->dtype, vector);
    if (facts_of(facts, access->pointer).multiple % size != 0)
        return "the address is not known to be a multiple of more";
    for (int d = 0; d < access->rank; d++) {
        const int64_t offset = facts_of(facts, access->offsets[d]).multiple;
        const int64_t stride = facts_of(facts, access->strides[d]).multiple;
        const bool offset_fits = offset % vector == 0, stride_fits = stride % vector == 0;
        if (d == dim && !offset_fits)
            return "the first index is not known to be a multiple of more";
        if (d != dim && !stride_fits && !(offset_fits && access->width[d] == 1))
            return "rows are not known to be a multiple of more apart";
    }
    return NULL;
}

static const char *fault_of_extent(FactTable *facts, const Access *access, int dim, int vector)
{
    if (access->width[dim] % vector != 0) return "the tile's rows are no multiple of more";
    return access->bounds[dim] & BOUND_HIGH &&
                   facts_of(facts, access->extents[dim]).multiple % vector != 0
               ? "the tensor's rows are not known to be a multiple of more"
               : NULL;
}

const char *access_fault(FactTable *facts, const Access *access, int dim, int vector)
{
    const char *fault = fault_of_address(facts, access, dim, vector);
    return fault ? fault : fault_of_extent(facts, access, dim, vector);
}

int access_vector(FactTable *facts, const Access *access, int dim, int limit)
{
    int vector = ACCESS_BYTES * 8 / dtype_memory_bits(access->view->dtype);
    while (vector > 1 && (vector > limit || access_fault(facts, access, dim, vector))) vector /= 2;
    return vector;
}

int64_t access_bytes(FactTable *facts, Op *op)
{
    enum { MOST = 64 };
    const Access access = access_of(op);
    const int dim = access_contiguous(&access);
    if (dim < 0) return 0;
    const int vector = access_vector(facts, &access, dim, MOST);
    return dtype_memory_bytes(access.view->dtype, vector);
}

bool access_is_wide(FactTable *facts, Op *op)
{
    return access_bytes(facts, op) >= COST_COPY_LEAST;
}

bool op_swaps(const Op *op)
{
    if (op->code != OP_transpose) return false;
    const Attr *dims = op_attr(op, ATTR_dims);
    return dims->count == 2 && dims->integers[0] == 1;
}

Op *op_unswapped(Op *op, bool *swapped)
{
    for (*swapped = false; op && op_swaps(op); op = operand(op, a)->op) *swapped = !*swapped;
    return op;
}

bool shared_is_used(const Op *op, const void *alloc)
{
    for (int i = 0; i < op->operand_count; i++)
        if (op->operands[i]->type->kind == TYPE_SHARED && shared_root(op->operands[i]) == alloc)
            return true;
    return false;
}

bool shared_is_only_read(const Op *op)
{
    return op->code == OP_shared_view || op->code == OP_shared_reshape ||
           op->code == OP_shared_load || op->code == OP_element_load || op->code == OP_gather;
}

bool copy_source_finds(const Op *copy, ValueQuestion *ask, void *context)
{
    for (int i = 0; i < copy->operand_count; i++)
        if (i != operand_index(copy, tile) && value_finds(copy->operands[i], ask, context))
            return true;
    return false;
}

bool shared_is_loaded_alone(const Value *tile)
{
    for (const OpUse *use = tile->uses; use; use = use->next)
        if (use->op->code != OP_shared_load) return false;
    return true;
}

/* The same number in every iteration of all loops around it. */
bool value_is_steady(const Value *value)
{
    const Region *region = value->op ? value->op->parent : value->region;
    for (; region && region->parent; region = region->parent->parent)
        if (op_has(region->parent, LOOP)) return false;
    return true;
}

Ldmatrix access_matrices(const Target *target, TargetFeature feature, const Layout *registers,
                         const Value *tile)
{
    const int bits = dtype_memory_bits(tile->type->dtype);
    if (!target_has(target, feature) || bits != 16 || layout_is_padded(registers) ||
        !tile->type->layout)
        return (Ldmatrix){0};
    return layout_ldmatrix(registers, tile->type->layout, bits);
}

bool access_is_own(FactTable *facts, Op *a, Op *b, int threads)
{
    const Access x = access_of(a), y = access_of(b);
    const Layout *layout = x.tile->layout;
    const bool only_stored = a->code == OP_store && b->code == OP_store; /* by one that has it */
    if (operand(a, view) != operand(b, view) || y.tile->layout != layout ||
        (!only_stored && (layout_replica_mask(layout) || layout_threads(layout) != threads)))
        return false;
    for (int d = 0; d < x.rank; d++) {
        if (x.offsets[d] != y.offsets[d] || x.tile_dim[d] != y.tile_dim[d]) return false;
        const Facts offset = facts_of(facts, x.offsets[d]);
        if (offset.low != offset.high && offset.multiple % x.width[d] != 0 &&
            !value_is_steady(x.offsets[d]))
            return false;
    }
    return true;
}

/* A number and what it is added to; NULL: nothing. */
static const Value *split_number(const Value *value, int64_t *number)
{
    *number = 0;
    if (value_constant(value, number)) return NULL;
    const bool sums = value->op && value->op->code == OP_add;
    return sums && value_constant(operand(value->op, b), number) ? operand(value->op, a) : value;
}

/* ---- views that follow each other ---- */

/* The same number; casts that lose nothing do not change what is a size. */
static bool same_size(const Value *a, const Value *b)
{
    return value_same_number(value_uncast(a), value_uncast(b));
}

/* How many times `size` an offset is; false: that can't be seen. */
static bool times_of(const Value *offset, const Value *size, int64_t *times)
{
    int64_t bytes;
    const Op *op = offset->op;
    *times = 1;
    if (value_constant(offset, times) && *times == 0) return true;
    if (value_constant(offset, times) && value_constant(size, &bytes) && bytes > 0) {
        const bool whole = *times % bytes == 0;
        *times /= bytes;
        return whole;
    }
    *times = 1;
    if (same_size(offset, size)) return true;
    return op && op->code == OP_mul && same_size(operand(op, a), size) &&
           value_constant(operand(op, b), times);
}

/* Views of one dimension that begin at different multiples of their extent: `a[i]` and `a[j]`. */
static bool views_apart(const Access *x, const Access *y)
{
    const Value *offsets[2] = {NULL, NULL}, *pointers[2] = {x->pointer, y->pointer};
    int64_t times[2] = {0, 0}, stride;
    for (int i = 0; i < 2; i++) {
        const Op *op = pointers[i]->op;
        if (!op || op->code != OP_ptr_add) continue;
        offsets[i] = operand(op, index);
        pointers[i] = operand(op, pointer);
    }
    if (pointers[0] != pointers[1] || !value_is_steady(pointers[0]) || x->rank != 1 ||
        y->rank != 1 || !same_size(x->extents[0], y->extents[0]) || !value_is_steady(x->extents[0]))
        return false;
    for (int i = 0; i < 2; i++) {
        const Access *access = i ? y : x;
        if (!value_constant(access->strides[0], &stride) || stride != 1) return false;
        if (offsets[i] && !times_of(offsets[i], x->extents[0], &times[i])) return false;
    }
    return times[0] != times[1];
}

void access_check(Op *op, const Attr *known, unsigned dims)
{
    int64_t checks[TYPE_RANK];
    const int rank = op_memory(op)->type->rank;
    for (int d = 0; d < rank; d++)
        checks[d] = known && !(dims >> d & 1) ? known->integers[d] : BOUND_LOW | BOUND_HIGH;
    op_set_ints(op, ATTR_bounds, rank, checks);
}

bool width_ends_before(int64_t begin, int64_t span, int64_t next)
{
    int64_t end;
    return !__builtin_add_overflow(begin, span, &end) && end <= next;
}

/* How far the offset of one access is behind that of the other. What both add to is one number also
 * where nothing is known of it. */
static bool offset_distance(FactTable *facts, const Value *from, const Value *to, int64_t *low,
                            int64_t *high)
{
    int64_t a, b;
    const Value *first = split_number(from, &a), *second = split_number(to, &b);
    if (!value_same(first, second, NULL, NULL)) return facts_difference(facts, to, from, low, high);
    const bool is_small = !__builtin_sub_overflow(b, a, low);
    *high = *low;
    return is_small;
}

static bool keeps_offset(FactTable *facts, const Value *offset)
{
    const Facts known = facts_of(facts, offset);
    return known.low == known.high || value_is_steady(offset);
}

bool access_is_apart(FactTable *facts, Op *a, Op *b)
{
    const Access x = access_of(a), y = access_of(b);
    if (operand(a, view) != operand(b, view)) return views_apart(&x, &y);
    for (int d = 0; d < x.rank; d++) {
        int64_t low, high;
        if (keeps_offset(facts, x.offsets[d]) && keeps_offset(facts, y.offsets[d]) &&
            offset_distance(facts, x.offsets[d], y.offsets[d], &low, &high) &&
            (low >= x.width[d] || high <= -y.width[d]))
            return true;
    }
    return false;
}

bool load_is_global(const Op *op)
{
    return op->code == OP_ld && operand(op, pointer)->type->space == SPACE_GLOBAL;
}

const Value *pointer_root(const Value *pointer)
{
    while (pointer->op && op_has(pointer->op, ALIAS)) pointer = op_aliased(pointer->op);
    return pointer;
}

Parameter *pointer_parameter(Kernel *kernel, const Value *pointer)
{
    return kernel_parameter_of(kernel, pointer_root(pointer));
}

const Parameter *memory_parameter(const Value *memory)
{
    return memory->type->kind == TYPE_VIEW && memory->op && memory->op->code == OP_view
               ? pointer_parameter(memory->op->parent->kernel, operand(memory->op, pointer))
               : NULL;
}

/* NULL: any memory. */
static bool may_be_of(const Value *memory, const Parameter *parameter)
{
    if (!memory) return true;
    const Parameter *own = memory_parameter(memory);
    return memory->type->kind == TYPE_VIEW && (!parameter || !own || own == parameter);
}

bool op_may_change(const Op *op, const void *parameter)
{
    return !op->region_count && !op_has(op, PURE | TERM) && op_has(op, WRITES) &&
           op->code != OP_shared_alloc && op->code != OP_local_alloc &&
           may_be_of(op_has(op, STORES) && !op_has(op, ATOMIC) ? op_memory(op) : NULL, parameter);
}

/* Blocks that run together may have another name for what they write. */
bool op_may_write(const Op *op, const void *parameter)
{
    if (op->region_count || !op_has(op, WRITES)) return false;
    if (op_has(op, BARRIER | BLOCKS))
        return launch_is_cluster_or_cooperative(op_enclosing(op, OP_launch));
    return !op_has(op, COPY | ALLOCATES | LOCAL) && op->code != OP_local_alloc &&
           op->code != OP_assume && op->code != OP_anchor &&
           may_be_of(op_has(op, STORES) ? op_memory(op) : NULL, parameter);
}

static void note_parameter(WrittenMemory *written, Arena *arena, const Parameter *parameter)
{
    if (parameter)
        map_set(arena, &written->parameters, parameter, (void *)(uintptr_t)parameter);
    else
        written->any = true;
}

void written_note(WrittenMemory *written, Arena *arena, const Value *memory)
{
    note_parameter(written, arena, memory ? memory_parameter(memory) : NULL);
}

static bool has_parameter(const WrittenMemory *written, const Parameter *parameter)
{
    return written->any ||
           (parameter ? map_has(&written->parameters, parameter) : written->parameters.count > 0);
}

bool written_has(const WrittenMemory *written, const Value *memory)
{
    return has_parameter(written, memory_parameter(memory));
}

void written_note_store(WrittenMemory *written, Kernel *kernel, const Op *store)
{
    const bool aliases = op_int(op_enclosing(store, OP_launch), ATTR_aliases, 0);
    note_parameter(written, kernel->arena,
                   aliases ? NULL : pointer_parameter(kernel, operand(store, pointer)));
}

bool written_may_have(const WrittenMemory *written, Kernel *kernel, const Op *load)
{
    return has_parameter(written, pointer_parameter(kernel, operand(load, pointer)));
}

int64_t region_shared_bytes(Region *region)
{
    int64_t bytes = 0;
    region_each_of (alloc, region, OP_shared_alloc) bytes += type_bytes(alloc->results[0].type);
    return bytes;
}
