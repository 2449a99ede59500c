/* relate.c: how two layouts differ: the cheapest conversion, vectors and ldmatrix between
 * registers and shared memory.
 *
 * For a conversion both layouts are extended to a box of powers of two that covers both: repeats
 * become register bits (some of which name registers that do not exist, in the padding alone).
 * There each is one matrix, and what a thread needs is a question of which vectors are sums of
 * which. */
#include "ir/layout/layout.h"

#include "ir/layout/bits.h"

#include <string.h>

/* ---- conversions ---- */

typedef struct Relation {
    const Layout *from, *to;
    int log[LAYOUT_RANK];           /* of the box's extents */
    bool is_broadcast[LAYOUT_RANK]; /* one element of `from` stands for all of `to` */
    Solver registers;               /* the vectors of from's registers */
} Relation;

static int log2_covered(const Layout *layout, int dim)
{
    return bits_log2_above((int64_t)layout->block[dim] * layout->repeat[dim]);
}

static uint64_t pack_in_box(const Relation *relation, const int32_t *coordinates)
{
    uint64_t vector = 0;
    for (int d = 0; d < relation->from->rank; d++)
        vector =
            vector << relation->log[d] | (relation->is_broadcast[d] ? 0 : (uint64_t)coordinates[d]);
    return vector;
}

/* Vectors of repeats: powers of two times the block. Their inputs count on from `input`. */
static void add_repeats(Relation *relation, int input)
{
    const Layout *from = relation->from;
    for (int d = 0; d < from->rank; d++) {
        if (relation->is_broadcast[d]) continue;
        int32_t coordinates[LAYOUT_RANK] = {0};
        for (int bit = bits_log2(from->block[d]); bit < relation->log[d]; bit++) {
            coordinates[d] = 1 << bit;
            solver_add(&relation->registers, pack_in_box(relation, coordinates),
                       UINT64_C(1) << input++);
        }
    }
}

static void relate(Relation *relation, const Layout *from, const Layout *to)
{
    CHECK(from->rank == to->rank);
    *relation = (Relation){.from = from, .to = to};
    int sum = 0;
    for (int d = 0; d < from->rank; d++) {
        int log = log2_covered(from, d);
        relation->log[d] = log2_covered(to, d) > log ? log2_covered(to, d) : log;
        relation->is_broadcast[d] = from->shape[d] == 1 && to->shape[d] > 1;
        sum += relation->log[d];
    }
    CHECK(sum <= 64);
    for (int bit = 0; bit < from->bits[LAYOUT_REGISTER]; bit++)
        solver_add(&relation->registers, pack_in_box(relation, from->basis[bit]),
                   UINT64_C(1) << bit);
    add_repeats(relation, from->bits[LAYOUT_REGISTER]);
}

/* Zero for bits that the layout lacks: threads beyond it hold what those below hold. */
static uint64_t vector_of(const Relation *relation, const Layout *layout, LayoutAxis axis, int bit)
{
    if (bit >= layout->bits[axis]) return 0;
    return pack_in_box(relation, layout_basis(layout, axis, bit));
}

/* Whether whatever has this bit set is padding: it alone reaches a coordinate bit above the shape.
 */
static bool is_dead(const Layout *layout, LayoutAxis axis, int bit)
{
    if (bit >= layout->bits[axis]) return false;
    const int32_t *basis = layout_basis(layout, axis, bit);
    for (int d = 0; d < layout->rank; d++) {
        int32_t above = basis[d] >> bits_log2_above(layout->shape[d]);
        if (above == 0) continue;
        int32_t others = 0;
        for (int i = 0; i < layout_index_bits(layout); i++)
            others |= layout->basis[i] == basis ? 0 : layout->basis[i][d];
        if ((above & ~(others >> bits_log2_above(layout->shape[d]))) != 0) return true;
    }
    return false;
}

static int axis_bits(const Relation *relation, LayoutAxis axis)
{
    int from = relation->from->bits[axis], to = relation->to->bits[axis];
    return from > to ? from : to;
}

static bool covers_repeats(const Relation *relation, const Solver *solver)
{
    const Layout *to = relation->to;
    uint64_t inputs;
    for (int d = 0; d < to->rank; d++) {
        int32_t coordinates[LAYOUT_RANK] = {0};
        for (int bit = bits_log2(to->block[d]); bit < log2_covered(to, d); bit++) {
            coordinates[d] = 1 << bit;
            if (!solver_solve(solver, pack_in_box(relation, coordinates), &inputs)) return false;
        }
    }
    return true;
}

/* Registers of `to` must be sums of what `solver` has. */
static bool covers_registers(const Relation *relation, const Solver *solver)
{
    const Layout *to = relation->to;
    uint64_t inputs;
    for (int bit = 0; bit < to->bits[LAYOUT_REGISTER]; bit++)
        if (!is_dead(to, LAYOUT_REGISTER, bit) &&
            !solver_solve(solver, vector_of(relation, to, LAYOUT_REGISTER, bit), &inputs))
            return false;
    return covers_repeats(relation, solver);
}

/* Threads have the same part of the tile in both, so that the register asked for is the same in
 * all. */
static bool have_equal_threads(const Relation *relation)
{
    for (int axis = LAYOUT_LANE; axis < LAYOUT_AXES; axis++)
        for (int bit = 0; bit < axis_bits(relation, (LayoutAxis)axis); bit++)
            if (!is_dead(relation->to, (LayoutAxis)axis, bit) &&
                vector_of(relation, relation->from, (LayoutAxis)axis, bit) !=
                    vector_of(relation, relation->to, (LayoutAxis)axis, bit))
                return false;
    return true;
}

/* Every warp holds, somewhere, what its threads need. */
static bool have_equal_warps(const Relation *relation)
{
    const Layout *from = relation->from, *to = relation->to;
    Solver solver = relation->registers;
    uint64_t inputs;
    for (int bit = 0; bit < from->bits[LAYOUT_LANE]; bit++)
        solver_add(&solver, vector_of(relation, from, LAYOUT_LANE, bit), 0);
    for (int bit = 0; bit < to->bits[LAYOUT_LANE]; bit++)
        if (!is_dead(to, LAYOUT_LANE, bit) &&
            !solver_solve(&solver, vector_of(relation, to, LAYOUT_LANE, bit), &inputs))
            return false;
    for (int bit = 0; bit < axis_bits(relation, LAYOUT_WARP); bit++) {
        uint64_t change =
            vector_of(relation, from, LAYOUT_WARP, bit) ^ vector_of(relation, to, LAYOUT_WARP, bit);
        if (!is_dead(to, LAYOUT_WARP, bit) && !solver_solve(&solver, change, &inputs)) return false;
    }
    return covers_registers(relation, &solver);
}

/* The register of `from` for inputs of the solver; -1 if it is in the padding. */
static int register_of_inputs(const Relation *relation, uint64_t inputs)
{
    const Layout *from = relation->from;
    int bits = from->bits[LAYOUT_REGISTER];
    int low = (int)(inputs & ((UINT64_C(1) << bits) - 1));
    int32_t repeats[LAYOUT_RANK] = {0};
    inputs >>= bits;
    for (int d = 0; d < from->rank; d++) {
        if (relation->is_broadcast[d]) continue;
        int count = relation->log[d] - bits_log2(from->block[d]);
        repeats[d] = (int32_t)(inputs & ((UINT64_C(1) << count) - 1));
        inputs >>= count;
        if (repeats[d] >= from->repeat[d]) return -1;
    }
    return low | layout_repeat_index(from, repeats) << bits;
}

static int find_source(const Relation *relation, int reg)
{
    int32_t coordinates[LAYOUT_RANK];
    uint64_t inputs;
    layout_coordinates(relation->to, reg, 0, 0, coordinates);
    if (!solver_solve(&relation->registers, pack_in_box(relation, coordinates), &inputs)) return -1;
    return register_of_inputs(relation, inputs);
}

static bool is_identity(const Relation *relation)
{
    int count = layout_registers(relation->to);
    if (count != layout_registers(relation->from)) return false;
    for (int reg = 0; reg < count; reg++) {
        int source = find_source(relation, reg);
        if (source != reg && source >= 0) return false;
    }
    return true;
}

/* Where padding decides, the answer may be dearer than needed; it is never too cheap. */
Conversion layout_conversion(const Layout *from, const Layout *to)
{
    if (from == to) return CONVERT_NONE;
    Relation relation;
    relate(&relation, from, to);
    if (have_equal_threads(&relation) && covers_registers(&relation, &relation.registers))
        return is_identity(&relation) ? CONVERT_NONE : CONVERT_REGISTERS;
    return have_equal_warps(&relation) ? CONVERT_SHUFFLE : CONVERT_SHARED;
}

/* For a register of padding any will do: 0. */
int layout_source_register(const Layout *from, const Layout *to, int reg)
{
    Relation relation;
    relate(&relation, from, to);
    int source = find_source(&relation, reg);
    return source < 0 ? 0 : source;
}

/* ---- exchanges within a warp ---- */

/* Of registers and repeats there are fewer than 2^EXCHANGED_LANES. */
enum { EXCHANGED_LANES = 48 };

/* The lane's number as far as the bit of the thread's index says it; false: it says more. */
static bool exchanged_lane(const Relation *relation, const Solver *lanes, LayoutAxis axis, int bit,
                           int32_t *out)
{
    uint64_t inputs, vector = vector_of(relation, relation->to, axis, bit);
    *out = 0;
    if (axis == LAYOUT_WARP) vector ^= vector_of(relation, relation->from, axis, bit);
    if (is_dead(relation->to, axis, bit)) return true;
    if (!solver_solve(lanes, vector, &inputs)) return false;
    *out = (int32_t)(inputs >> EXCHANGED_LANES);
    return true;
}

static void add_lanes(const Relation *relation, Solver *solver)
{
    for (int bit = 0; bit < relation->from->bits[LAYOUT_LANE]; bit++)
        solver_add(solver, vector_of(relation, relation->from, LAYOUT_LANE, bit),
                   UINT64_C(1) << (EXCHANGED_LANES + bit));
}

bool layout_exchange(const Layout *from, const Layout *to, int32_t lanes[LAYOUT_BITS])
{
    Relation relation;
    Solver apart = {0};
    relate(&relation, from, to);
    add_lanes(&relation, &apart);
    memset(lanes, 0, LAYOUT_BITS * sizeof *lanes);
    if (from->bits[LAYOUT_LANE] != to->bits[LAYOUT_LANE] || layout_is_padded(to)) return false;
    for (int axis = LAYOUT_LANE, index = 0; axis < LAYOUT_AXES; axis++)
        for (int bit = 0; bit < axis_bits(&relation, (LayoutAxis)axis); bit++)
            if (!exchanged_lane(&relation, &apart, (LayoutAxis)axis, bit, &lanes[index++]))
                return false;
    add_lanes(&relation, &relation.registers);
    return covers_registers(&relation, &relation.registers);
}

int layout_exchange_source(const Layout *from, const Layout *to, int reg, int32_t *lane)
{
    Relation relation;
    int32_t coordinates[LAYOUT_RANK];
    uint64_t inputs = 0;
    relate(&relation, from, to);
    add_lanes(&relation, &relation.registers);
    layout_coordinates(to, reg, 0, 0, coordinates);
    CHECK(solver_solve(&relation.registers, pack_in_box(&relation, coordinates), &inputs));
    *lane = (int32_t)(inputs >> EXCHANGED_LANES);
    return register_of_inputs(&relation, inputs & ((UINT64_C(1) << EXCHANGED_LANES) - 1));
}

/* ---- shared memory ---- */

/* Of every index bit of a register layout, what it adds to the offset in a shared tile. */
typedef struct Offsets {
    uint32_t bits[LAYOUT_AXES][LAYOUT_BITS];
    uint32_t repeats; /* all that repeats may add, or'ed */
} Offsets;

/* The repeats of the shared layout add multiples of its block to this, and an offset bit that a
 * vector uses lies in the block: so they keep any vector aligned. */
static uint32_t offset_in_block(const Layout *shared, int32_t inverse[LAYOUT_RANK][LAYOUT_BITS],
                                int rank, const int *dims, const int32_t *coordinates)
{
    uint32_t offset = 0;
    for (int i = 0; i < rank; i++)
        for (int bit = 0; bit < bits_log2(shared->block[dims[i]]); bit++)
            if (coordinates[i] >> bit & 1) offset ^= (uint32_t)inverse[dims[i]][bit];
    return offset;
}

static uint32_t offsets_of_repeats(const Layout *registers, const Layout *shared,
                                   int32_t inverse[LAYOUT_RANK][LAYOUT_BITS], const int *dims)
{
    uint32_t all = 0;
    for (int d = 0; d < registers->rank; d++) {
        int32_t coordinates[LAYOUT_RANK] = {0};
        for (int bit = bits_log2(registers->block[d]); bit < log2_covered(registers, d); bit++) {
            coordinates[d] = 1 << bit;
            all |= offset_in_block(shared, inverse, registers->rank, dims, coordinates);
        }
    }
    return all;
}

/* Dimension i of the registers is dims[i] of the shared layout. */
static bool find_offsets(const Layout *registers, const Layout *shared, const int *dims,
                         Offsets *offsets)
{
    int32_t inverse[LAYOUT_RANK][LAYOUT_BITS];
    if (!layout_invert(shared, inverse)) return false;
    *offsets = (Offsets){0};
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        for (int bit = 0; bit < registers->bits[axis]; bit++)
            offsets->bits[axis][bit] =
                offset_in_block(shared, inverse, registers->rank, dims,
                                layout_basis(registers, (LayoutAxis)axis, bit));
    offsets->repeats = offsets_of_repeats(registers, shared, inverse, dims);
    return true;
}

/* All bits but the lowest `skipped` registers keep offsets multiples of `size`. */
static bool keeps_alignment(const Offsets *offsets, int skipped, uint32_t size)
{
    uint32_t all = offsets->repeats;
    for (int axis = 0; axis < LAYOUT_AXES; axis++)
        for (int bit = axis == LAYOUT_REGISTER ? skipped : 0; bit < LAYOUT_BITS; bit++)
            all |= offsets->bits[axis][bit];
    return (all & (size - 1)) == 0;
}

static const int same_dims[LAYOUT_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};

int layout_shared_vector(const Layout *registers, const Layout *shared, int limit)
{
    if (registers->rank != shared->rank) return 1;
    return layout_part_vector(registers, shared, same_dims, limit);
}

int layout_part_vector(const Layout *registers, const Layout *shared, const int *dims, int limit)
{
    Offsets offsets;
    if (!find_offsets(registers, shared, dims, &offsets)) return 1;
    int widest = 1;
    for (int bits = 1; bits <= registers->bits[LAYOUT_REGISTER] && 1 << bits <= limit; bits++) {
        if (offsets.bits[LAYOUT_REGISTER][bits - 1] != UINT32_C(1) << (bits - 1)) break;
        if (keeps_alignment(&offsets, bits, UINT32_C(1) << bits)) widest = 1 << bits;
    }
    return widest;
}

/* ---- ldmatrix ---- */

/* The bits that run along a row of 16 bytes, the lowest first, each taken out of `offsets`. */
static bool take_row(Offsets *offsets, LayoutAxis axis, int first, int count, uint32_t *expected)
{
    for (int bit = first; bit < first + count; bit++) {
        if (offsets->bits[axis][bit] != *expected) return false;
        offsets->bits[axis][bit] = 0;
        *expected *= 2;
    }
    return true;
}

/* A row's 16 bytes: the registers of a word, then lanes 0 and 1. */
static bool fits_normal(Offsets offsets, int word, uint32_t chunk)
{
    uint32_t expected = 1;
    return take_row(&offsets, LAYOUT_REGISTER, 0, word, &expected) &&
           take_row(&offsets, LAYOUT_LANE, 0, 2, &expected) && keeps_alignment(&offsets, 0, chunk);
}

/* A row's 8 elements: lanes 2, 3 and 4; register bit 0, lanes 0 and 1 choose the row. */
static bool fits_transposed(Offsets offsets, uint32_t chunk)
{
    uint32_t expected = 1;
    return take_row(&offsets, LAYOUT_LANE, 2, 3, &expected) && keeps_alignment(&offsets, 0, chunk);
}

/* Elements of 8 and 32 bits move as pairs and halves of 16-bit ones, which only rows allow. The
 * matrices of an instruction are chosen by the two lowest register bits above the word's. */
Ldmatrix layout_ldmatrix(const Layout *registers, const Layout *shared, int element_bits)
{
    Ldmatrix result = {.count = 1};
    Offsets offsets;
    if (element_bits != 8 && element_bits != 16 && element_bits != 32) return result;
    int word = bits_log2(32 / element_bits), more = registers->bits[LAYOUT_REGISTER] - word;
    uint32_t chunk = 128 / (uint32_t)element_bits;
    if (more < 0 || registers->bits[LAYOUT_LANE] != 5 || registers->rank != shared->rank ||
        !find_offsets(registers, shared, same_dims, &offsets))
        return result;
    result.transposed = element_bits == 16 && fits_transposed(offsets, chunk);
    result.possible = result.transposed || fits_normal(offsets, word, chunk);
    result.count = more >= 2 ? 4 : more == 1 ? 2 : 1;
    result.register_bit[0] = (uint8_t)(more >= 1 ? word : 0);
    result.register_bit[1] = (uint8_t)(more >= 2 ? word + 1 : 0);
    return result;
}
