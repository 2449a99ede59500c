/* shared.c: loads and stores of shared tiles by one thread.
 *
 * The offset of an element is linear in the bits of its coordinates, so a thread's offset is the
 * exclusive or of one part for its bits of the thread index and one for the register's. Beyond the
 * shared layout's block, repeats are added. */
#include "passes/lower/lower.h"

#include <string.h>

/* Offsets, in elements, as a function of some bits: (xor part, add part). */
typedef struct Offset {
    int32_t flip;  /* within the block */
    int64_t added; /* repeats of the block */
} Offset;

typedef struct SharedMap {
    int rank;
    int32_t inverse[LAYOUT_RANK][LAYOUT_BITS];
    int64_t repeat_stride[LAYOUT_RANK];
    int block_bits[LAYOUT_RANK];
} SharedMap;

static SharedMap shared_map(const Layout *layout)
{
    SharedMap map = {.rank = layout->rank};
    CHECK(layout_invert(layout, map.inverse));
    int64_t stride = 1;
    for (int d = 0; d < layout->rank; d++) {
        while (1 << map.block_bits[d] < layout->block[d]) map.block_bits[d]++;
        stride *= layout->block[d];
    }
    for (int d = layout->rank - 1; d >= 0; d--) {
        map.repeat_stride[d] = stride;
        stride *= layout->repeat[d];
    }
    return map;
}

static Offset offset_of(const SharedMap *map, const int32_t *coordinates)
{
    Offset offset = {0};
    for (int d = 0; d < map->rank; d++) {
        for (int bit = 0; bit < map->block_bits[d]; bit++)
            if (coordinates[d] >> bit & 1) offset.flip ^= map->inverse[d][bit];
        offset.added += (coordinates[d] >> map->block_bits[d]) * map->repeat_stride[d];
    }
    return offset;
}

/* The thread's part of an offset: bases[b] are the coordinates that bit b of the thread index
 * stands for. */
typedef struct ThreadOffset {
    Value *flip, *added; /* NULL: zero */
    int32_t mask;        /* the bits that `flip` can have */
} ThreadOffset;

static ThreadOffset thread_offset(Lower *lower, const SharedMap *map, int bits,
                                  const int32_t *const *bases)
{
    ThreadOffset offset = {0};
    int32_t flips[32] = {0};
    for (int bit = 0; bit < bits; bit++) {
        flips[bit] = offset_of(map, bases[bit]).flip;
        offset.mask |= flips[bit];
    }
    offset.flip = address_gather(lower, flips);
    for (int d = 0; d < map->rank; d++) {
        int32_t repeats[32] = {0};
        for (int bit = 0; bit < bits; bit++) repeats[bit] = bases[bit][d] >> map->block_bits[d];
        Value *index = address_gather(lower, repeats);
        if (!index) continue;
        Value *stride = address_const(lower, DTYPE_i32, map->repeat_stride[d]);
        Value *step = address_op(lower, OP_mul, index, stride);
        offset.added = offset.added ? address_op(lower, OP_add, offset.added, step) : step;
    }
    return offset;
}

/* Bits that register and thread part share are flipped; the rest is a constant that the address
 * takes in. */
static Value *element_pointer(Lower *lower, Value *base, ThreadOffset thread, Offset reg)
{
    const int32_t shared = reg.flip & thread.mask;
    Value *offset = address_xor_number(lower, thread.flip, shared);
    if (thread.added)
        offset = offset ? address_op(lower, OP_add, offset, thread.added) : thread.added;
    Value *pointer = offset ? address_op(lower, OP_ptr_add, base, offset) : base;
    return address_add_number(lower, pointer, (reg.flip & ~shared) + reg.added);
}

/* A part of a tile. Where it does not start apart (layout_starts_apart), each element's place is
 * computed from its coordinates in the whole tile. */
typedef struct SharedPart {
    bool own;       /* it lies as a tile of its own does */
    bool scattered; /* it does not start apart */
    const Layout *whole;
    int dims[LAYOUT_RANK];          /* of the whole tile, by the part's dimensions */
    Value *offsets[LAYOUT_RANK];    /* by the whole tile's dimensions, i32; NULL: zero */
    int64_t multiples[LAYOUT_RANK]; /* powers of two that they are multiples of; 0: they are 0 */
} SharedPart;

typedef struct SharedAccess {
    SharedMap map;
    SharedPart part;
    Coordinates coordinates; /* of the registers */
    ThreadOffset thread;
    Value *base;
    DType dtype;
    int vector;
} SharedAccess;

/* ---- parts ---- */

/* Of a sum of multiples of both. */
static int64_t common_power(int64_t a, int64_t b)
{
    b &= -b;
    return a == 0 || (b != 0 && b < a) ? b : a;
}

static bool starts_apart(const SharedPart *part, const Type *type)
{
    int64_t dims[LAYOUT_RANK];
    for (int i = 0; i < type->rank; i++) dims[i] = part->dims[i];
    return layout_starts_apart(part->whole, type->rank, dims, type->shape, part->multiples);
}

static SharedPart part_of(Lower *lower, const Value *tile)
{
    SharedPart part = {.own = true, .whole = tile->type->layout};
    if (tile->op->code != OP_shared_view) {
        for (int d = 0; d < tile->type->rank; d++) part.dims[d] = d;
        return part;
    }
    const Op *view = tile->op;
    const SharedPart above = part_of(lower, operand(view, tile));
    const Attr *dims = op_attr(view, ATTR_dims);
    part = above;
    part.own &= op_int(view, ATTR_aligned, 0);
    for (int i = 0; i < dims->count; i++) part.dims[i] = above.dims[dims->integers[i]];
    for (int d = 0; d < operand(view, tile)->type->rank; d++) {
        Value **offset = &part.offsets[above.dims[d]];
        Value *more =
            address_cast(lower, DTYPE_i32, lower_scalar(lower, operand_list(view, offsets)[d]));
        *offset = *offset ? address_op(lower, OP_add, *offset, more) : more;
        int64_t *multiple = &part.multiples[above.dims[d]];
        *multiple = common_power(*multiple,
                                 facts_of(lower->facts, operand_list(view, offsets)[d]).multiple);
    }
    part.scattered = !part.own && !starts_apart(&part, tile->type);
    return part;
}

/* By the coordinates of the tile, which may be a part of another one. */
static SharedMap part_map(const SharedPart *part, const Type *tile)
{
    if (part->own) return shared_map(tile->layout);
    const SharedMap whole = shared_map(part->whole);
    SharedMap map = {.rank = tile->rank};
    for (int i = 0; i < map.rank; i++) {
        const int d = part->dims[i];
        memcpy(map.inverse[i], whole.inverse[d], sizeof map.inverse[i]);
        map.repeat_stride[i] = whole.repeat_stride[d];
        map.block_bits[i] = whole.block_bits[d];
    }
    return map;
}

/* The exclusive or of targets[b] over the bits b of `value` that are set, bits below `count`; NULL:
 * always zero. */
static Value *gather_bits(Lower *lower, Value *value, int count, const int32_t *targets)
{
    Value *sum = NULL;
    for (int shift = -LAYOUT_BITS; shift <= LAYOUT_BITS; shift++) {
        int32_t mask = 0;
        for (int bit = 0; bit < count; bit++)
            if (bit + shift >= 0 && bit + shift <= LAYOUT_BITS && targets[bit] >> (bit + shift) & 1)
                mask |= 1 << bit;
        if (!mask) continue;
        Value *moved = address_op(lower, OP_and, value, address_const(lower, DTYPE_i32, mask));
        moved = address_op(lower, shift < 0 ? OP_shr : OP_shl, moved,
                           address_const(lower, DTYPE_i32, shift < 0 ? -shift : shift));
        sum = sum ? address_op(lower, OP_xor, sum, moved) : moved;
    }
    return sum;
}

static Value *added(Lower *lower, Value *a, Value *b)
{
    if (!a || !b) return a ? a : b;
    return address_op(lower, OP_add, a, b);
}

/* The offset in the whole tile of the element at `at`; NULL: 0. */
static Value *whole_offset(Lower *lower, const Layout *whole, Value *const *at)
{
    const SharedMap map = shared_map(whole);
    Value *flip = NULL, *sum = NULL;
    for (int d = 0; d < whole->rank; d++) {
        if (!at[d]) continue;
        Value *bits = gather_bits(lower, at[d], map.block_bits[d], map.inverse[d]);
        if (bits) flip = flip ? address_op(lower, OP_xor, flip, bits) : bits;
        if (whole->repeat[d] == 1) continue;
        Value *index =
            address_op(lower, OP_shr, at[d], address_const(lower, DTYPE_i32, map.block_bits[d]));
        Value *stride = address_const(lower, DTYPE_i32, map.repeat_stride[d]);
        sum = added(lower, sum, address_op(lower, OP_mul, index, stride));
    }
    return added(lower, flip, sum);
}

static Value *scattered_pointer(Lower *lower, const SharedAccess *access, int reg)
{
    const SharedPart *part = &access->part;
    Value *at[LAYOUT_RANK] = {NULL};
    for (int d = 0; d < part->whole->rank; d++) at[d] = part->offsets[d];
    for (int i = 0; i < access->coordinates.layout->rank; i++) {
        const Coordinate own = coordinate_at(lower, &access->coordinates, reg, i);
        Value **start = &at[part->dims[i]];
        *start = added(lower, *start, own.variable);
        if (own.rest) *start = address_add_number(lower, *start, own.rest);
    }
    Value *offset = whole_offset(lower, part->whole, at);
    return offset ? address_op(lower, OP_ptr_add, access->base, offset) : access->base;
}

/* Whether it is {aligned} where it begins at such multiples. */
static bool lies_so(const Lower *lower, const Op *view, const int64_t *multiples)
{
    const Type *part = view->results[0].type;
    return layout_view(lower->kernel->layouts, operand(view, tile)->type->layout, part->rank,
                       op_attr(view, ATTR_dims)->integers, part->shape, multiples) == part->layout;
}

/* Of those offsets that are not always 0, by what multiples it lies so. False: by none. */
static bool least_multiples(const Lower *lower, const Op *view, const int64_t *known,
                            int64_t *least)
{
    const int rank = operand(view, tile)->type->rank;
    for (int d = 0; d < rank; d++) least[d] = known[d] ? INT64_C(1) << LAYOUT_BITS : 0;
    if (!lies_so(lower, view, least)) return false;
    for (int d = 0; d < rank; d++) {
        int64_t before = least[d];
        while (before > 1) {
            least[d] = before / 2;
            if (!lies_so(lower, view, least)) break;
            before = least[d];
        }
        least[d] = before;
    }
    return true;
}

/* What a text promises of offsets that are known at run time alone. */
static void watch_alignment(Lower *lower, const Op *view)
{
    static const char text[] = "{aligned} promises what does not hold";
    int64_t known[LAYOUT_RANK], least[LAYOUT_RANK];
    const int rank = operand(view, tile)->type->rank;
    Value *const *offsets = operand_list(view, offsets);
    for (int d = 0; d < rank; d++) known[d] = facts_of(lower->facts, offsets[d]).multiple;
    if (lies_so(lower, view, known)) return;
    const bool ever = least_multiples(lower, view, known, least);
    for (int d = 0; d < rank; d++) {
        if (known[d] == 0 || (ever && known[d] % least[d] == 0)) continue;
        Value *first = address_cast(lower, DTYPE_i64, lower_scalar(lower, offsets[d])),
              *of = address_const(lower, DTYPE_i64, ever ? least[d] : 1);
        lower_check(lower, text, ever ? "eq" : "lt", address_op(lower, OP_rem, first, of),
                    address_const(lower, DTYPE_i64, 0));
    }
}

void shared_watch(Lower *lower, const Value *part)
{
    const Op *view = part->op;
    if (!view || view->code != OP_shared_view) return;
    shared_watch(lower, operand(view, tile));
    if (op_int(view, ATTR_aligned, 0)) watch_alignment(lower, view);
    if (!op_int(view, ATTR_watched, 0)) return;
    const Attr *dims = op_attr(view, ATTR_dims);
    int64_t beyond[TYPE_RANK] = {0}; /* elements behind the first one */
    for (int i = 0; i < dims->count; i++) beyond[dims->integers[i]] = part->type->shape[i] - 1;
    for (int d = 0; d < operand(view, tile)->type->rank; d++) {
        const int64_t extent = operand(view, tile)->type->shape[d];
        const Facts known = facts_of(lower->facts, operand_list(view, offsets)[d]);
        Value *first = lower_scalar(lower, operand_list(view, offsets)[d]);
        if (known.low < 0 || (beyond[d] == 0 && known.high >= extent))
            lower_check_index(lower, first, operand(view, tile), d);
        if (beyond[d] > 0 && known.high >= extent - beyond[d])
            lower_check_index(
                lower, address_add_number(lower, address_cast(lower, DTYPE_i64, first), beyond[d]),
                operand(view, tile), d);
    }
}

/* Where the tile's memory begins, in its own block or another one of the cluster. */
static Value *base_of(Lower *lower, const Value *tile)
{
    Value *rank = shared_rank(tile);
    Value *base = address_shared(lower, memory_dtype(tile->type->dtype), shared_root(tile));
    return rank ? address_in_cluster(lower, base, lower_scalar(lower, rank)) : base;
}

Value *shared_element(Lower *lower, const Value *tile, Value *const *coordinates)
{
    const SharedPart part = part_of(lower, tile);
    Value *at[LAYOUT_RANK] = {NULL};
    for (int d = 0; d < part.whole->rank; d++) at[d] = part.offsets[d];
    for (int i = 0; i < tile->type->rank; i++)
        at[part.dims[i]] = added(lower, at[part.dims[i]], coordinates[i]);
    Value *base = base_of(lower, tile);
    Value *offset = whole_offset(lower, part.whole, at);
    return offset ? address_op(lower, OP_ptr_add, base, offset) : base;
}

/* ---- accesses ---- */

static SharedAccess shared_access(Lower *lower, const Value *tile, const Layout *layout)
{
    SharedAccess access = {.part = part_of(lower, tile), .dtype = tile->type->dtype};
    const int32_t *bases[LAYOUT_BITS];
    for (int bit = 0; bit < layout_thread_bits(layout); bit++)
        bases[bit] = layout_thread_basis(layout, bit);
    access.map = part_map(&access.part, tile->type);
    access.coordinates = coordinates_of(lower, layout);
    access.thread = thread_offset(lower, &access.map, layout_thread_bits(layout), bases);
    access.base = base_of(lower, tile);
    access.vector = 1;
    if (access.part.scattered) return access;
    Value *first = whole_offset(lower, access.part.whole, access.part.offsets);
    if (first) access.base = address_op(lower, OP_ptr_add, access.base, first);
    const int limit = ACCESS_BYTES * 8 / dtype_memory_bits(access.dtype);
    access.vector = access.part.own
                        ? layout_shared_vector(layout, tile->type->layout, limit)
                        : layout_part_vector(layout, access.part.whole, access.part.dims, limit);
    return access;
}

static Value *register_pointer(Lower *lower, const SharedAccess *access, int reg)
{
    int32_t coordinates[LAYOUT_RANK];
    if (access->part.scattered) return scattered_pointer(lower, access, reg);
    layout_coordinates(access->coordinates.layout, reg, 0, 0, coordinates);
    return element_pointer(lower, access->base, access->thread,
                           offset_of(&access->map, coordinates));
}

Value **shared_pointers(Lower *lower, const Value *tile, const Layout *layout, int *vector)
{
    const SharedAccess access = shared_access(lower, tile, layout);
    Value **pointers = arena_new_array(lower->arena, Value *, layout_registers(layout));
    if (access.vector < *vector) *vector = access.vector;
    for (int reg = 0; reg < layout_registers(layout); reg += *vector)
        pointers[reg] = register_pointer(lower, &access, reg);
    return pointers;
}

/* A vector must be tile or padding as a whole. */
static void narrow_for_padding(SharedAccess *access)
{
    const Layout *layout = access->coordinates.layout;
    for (int d = 0; d < layout->rank; d++)
        if ((int64_t)layout->block[d] * layout->repeat[d] != layout->shape[d])
            while (access->vector > 1 && layout->shape[d] % access->vector != 0)
                access->vector /= 2;
}

/* ---- ldmatrix ---- */

/* Lane i gives the address of row i & 7 of matrix i >> 3. In an upright matrix a row is what four
 * lanes hold, so the row's bits are those of lanes 2 to 4; transposed, a row goes through the
 * register's pair and lanes 0 and 1. */
static ThreadOffset row_offset(Lower *lower, const SharedMap *map, const Layout *layout,
                               Ldmatrix how)
{
    static const int32_t nothing[LAYOUT_RANK];
    const int32_t *bases[LAYOUT_BITS] = {nothing, nothing, nothing, nothing, nothing};
    for (int i = 0; i < 3; i++)
        bases[i] = how.transposed ? (i == 0 ? layout->basis[0] : layout_thread_basis(layout, i - 1))
                                  : layout_thread_basis(layout, i + 2);
    for (int i = 0; 1 << i < how.count; i++) bases[3 + i] = layout->basis[how.register_bit[i]];
    for (int bit = WARP_BITS; bit < layout_thread_bits(layout); bit++)
        bases[bit] = layout_thread_basis(layout, bit);
    return thread_offset(lower, map, layout_thread_bits(layout), bases);
}

/* The register that matrix `index` fills first. */
static int matrix_register(Ldmatrix how, int reg, int index)
{
    for (int i = 0; 1 << i < how.count; i++) reg |= (index >> i & 1) << how.register_bit[i];
    return reg;
}

static void read_matrices(Lower *lower, Value *row, Ldmatrix how, DType dtype, int reg,
                          Value **registers)
{
    const Type *pair = type_vector(lower->kernel->types, dtype, 2);
    const Type *types[4] = {pair, pair, pair, pair};
    Op *op = build_op(&lower->at, OP_ldmatrix, 1, &row, how.count, types);
    op_set_int(op, ATTR_count, how.count);
    op_set_int(op, ATTR_transposed, how.transposed);
    for (int i = 0; i < how.count; i++)
        for (int half = 0; half < 2; half++)
            registers[matrix_register(how, reg, i) + half] =
                memory_element(lower, &op->results[i], half);
}

static void write_matrices(Lower *lower, Value *row, Ldmatrix how, int reg, Value *const *registers)
{
    Value *operands[5] = {row};
    for (int i = 0; i < how.count; i++)
        operands[1 + i] = memory_pack(lower, 2, registers + matrix_register(how, reg, i));
    Op *op = build_op(&lower->at, OP_stmatrix, 1 + how.count, operands, 0, NULL);
    op_set_int(op, ATTR_count, how.count);
    op_set_int(op, ATTR_transposed, how.transposed);
}

static void move_matrices(Lower *lower, const SharedAccess *access, Ldmatrix how, bool write,
                          Value **registers)
{
    const Layout *layout = access->coordinates.layout;
    const ThreadOffset thread = row_offset(lower, &access->map, layout, how);
    const int inner = 1 | (matrix_register(how, 0, how.count - 1));
    for (int reg = 0; reg < layout_registers(layout); reg++) {
        if (reg & inner) continue;
        int32_t coordinates[LAYOUT_RANK];
        layout_coordinates(layout, reg, 0, 0, coordinates);
        Value *row =
            element_pointer(lower, access->base, thread, offset_of(&access->map, coordinates));
        if (write)
            write_matrices(lower, row, how, reg, registers);
        else
            read_matrices(lower, row, how, access->dtype, reg, registers);
    }
}

/* Whether an access is of whole matrices of 16-bit elements, if the machine can. */
static bool find_matrices(const Lower *lower, TargetFeature feature, const SharedAccess *access,
                          const Value *tile, Ldmatrix *how)
{
    *how = access_matrices(lower->target, feature, access->coordinates.layout, tile);
    return how->possible && access->part.own;
}

/* ---- the ops ---- */

/* The vector from register `reg` on, which is no replica. */
static void load_vector(Lower *lower, const SharedAccess *access, int reg, Value **registers)
{
    Value *predicate = NULL;
    if (coordinates_padding(lower, &access->coordinates, reg, &predicate) == PADDING_ALL) {
        for (int i = 0; i < access->vector; i++)
            registers[reg + i] = address_zero(lower, access->dtype);
    } else {
        memory_read(lower, register_pointer(lower, access, reg), predicate, access->dtype,
                    access->vector, registers + reg);
    }
}

static void load_vectors(Lower *lower, const SharedAccess *access, Value **registers)
{
    const Layout *layout = access->coordinates.layout;
    const int replicas = layout_register_replicas(layout);
    for (int reg = 0; reg < layout_registers(layout); reg += access->vector) {
        if (reg & replicas)
            memcpy(registers + reg, registers + (reg & ~replicas),
                   (size_t)access->vector * sizeof *registers);
        else
            load_vector(lower, access, reg, registers);
    }
}

struct SharedReader {
    SharedAccess access;
    int replicas;
    Value **registers; /* NULL: not read yet */
};

SharedReader *shared_reader(Lower *lower, const Value *tile, const Layout *layout, int most)
{
    SharedReader *reader = arena_new_of(lower->arena, SharedReader);
    reader->access = shared_access(lower, tile, layout);
    if (reader->access.vector > most) reader->access.vector = most;
    reader->replicas = layout_register_replicas(layout);
    reader->registers = arena_new_array(lower->arena, Value *, layout_registers(layout));
    narrow_for_padding(&reader->access);
    return reader;
}

Value *shared_reader_at(Lower *lower, SharedReader *reader, int reg)
{
    reg &= ~reader->replicas;
    if (!reader->registers[reg])
        load_vector(lower, &reader->access, reg - reg % reader->access.vector, reader->registers);
    return reader->registers[reg];
}

void lower_shared_load(Lower *lower, Op *op)
{
    const Layout *layout = op->results[0].type->layout;
    SharedAccess access = shared_access(lower, operand(op, tile), layout);
    Value **registers = lower_new_tile(lower, &op->results[0]);
    Ldmatrix how;
    if (!shared_rank(operand(op, tile)) &&
        find_matrices(lower, HAS_LDMATRIX, &access, operand(op, tile), &how)) {
        move_matrices(lower, &access, how, false, registers);
        return;
    }
    narrow_for_padding(&access);
    load_vectors(lower, &access, registers);
}

/* No thread reads what it wrote itself, without waiting for others: a load by the same layout. */
static bool is_read_by_others(const Value *tile, const Layout *layout)
{
    for (const OpUse *use = tile->uses; use; use = use->next) {
        const Op *op = use->op;
        if (op->code == OP_shared_load && op->results[0].type->layout == layout) return false;
        if (op_has(op, ALIAS) && !is_read_by_others(op->results, layout)) return false;
    }
    return true;
}

void lower_shared_store(Lower *lower, Op *op)
{
    const Layout *layout = operand(op, value)->type->layout;
    SharedAccess access = shared_access(lower, operand(op, tile), layout);
    Value **registers = lower_tile(lower, operand(op, value));
    const int replicas = layout_register_replicas(layout);
    Ldmatrix how;
    /* Lanes write for each other: no thread finds what it wrote without waiting for its warp. A
     * thread that has what another one has, too, may not write, as it may not have loaded it. */
    const bool begins = op_begins_copy(op);
    if (!begins && !operand_given(op, condition) && !shared_rank(operand(op, tile)) && !replicas &&
        !address_has_replicas(lower, layout) &&
        (op_attr(op, ATTR_tma) ||
         is_read_by_others(shared_root(operand(op, tile))->results, layout)) &&
        find_matrices(lower, HAS_STMATRIX, &access, operand(op, tile), &how)) {
        move_matrices(lower, &access, how, true, registers);
        return;
    }
    narrow_for_padding(&access);
    const bool may_copy = begins || is_copied_at_once(lower, op);
    Value *condition = operand_given(op, condition);
    bool copies = false;
    if (condition) condition = lower_scalar(lower, condition);
    for (int reg = 0; reg < layout_registers(layout); reg += access.vector) {
        Value *predicate = address_and(lower, address_not_replica(lower, layout), condition);
        if (reg & replicas ||
            coordinates_padding(lower, &access.coordinates, reg, &predicate) == PADDING_ALL)
            continue;
        Value *pointer = register_pointer(lower, &access, reg);
        const bool copied = may_copy && lower_loaded_copy(lower, pointer, predicate, access.vector,
                                                          registers + reg);
        copies |= copied;
        if (!copied)
            memory_write(lower, pointer, predicate, access.dtype, access.vector, registers + reg);
    }
    if (copies && !begins) build_op(&lower->at, OP_copy_wait, 0, NULL, 0, NULL);
}
