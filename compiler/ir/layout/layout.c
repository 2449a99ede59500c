/* layout.c: layouts as values: interned, asked for coordinates, inverted. */
#include "ir/layout/layout.h"

#include "ir/layout/bits.h"

#include <string.h>

/* ---- bit vectors ---- */

static int top_bit(uint64_t vector)
{
    return 63 - __builtin_clzll(vector);
}

static uint64_t solver_reduce(const Solver *solver, uint64_t vector, uint64_t *inputs)
{
    uint64_t rest = 0; /* bits that no added vector ends in */
    while (vector != 0) {
        int top = top_bit(vector);
        if (solver->vector[top] == 0) {
            rest |= UINT64_C(1) << top;
            vector ^= UINT64_C(1) << top;
            continue;
        }
        vector ^= solver->vector[top];
        *inputs ^= solver->inputs[top];
    }
    return rest;
}

bool solver_add(Solver *solver, uint64_t vector, uint64_t inputs)
{
    uint64_t rest = solver_reduce(solver, vector, &inputs);
    if (rest == 0) return false;
    solver->vector[top_bit(rest)] = rest;
    solver->inputs[top_bit(rest)] = inputs;
    return true;
}

bool solver_solve(const Solver *solver, uint64_t vector, uint64_t *inputs)
{
    *inputs = 0;
    return solver_reduce(solver, vector, inputs) == 0;
}

int bits_log2(int64_t power)
{
    return power < 2 ? 0 : top_bit((uint64_t)power);
}

int bits_log2_above(int64_t size)
{
    return size < 2 ? 0 : top_bit((uint64_t)size - 1) + 1;
}

bool bits_is_power(int64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

/* ---- a layout as vectors ---- */

int layout_index_bits(const Layout *layout)
{
    return layout->bits[LAYOUT_REGISTER] + layout->bits[LAYOUT_LANE] + layout->bits[LAYOUT_WARP];
}

uint64_t layout_pack(const Layout *layout, const int32_t *coordinates)
{
    uint64_t vector = 0;
    for (int d = 0; d < layout->rank; d++)
        vector = vector << bits_log2(layout->block[d]) | (uint64_t)coordinates[d];
    return vector;
}

void layout_unpack(const Layout *layout, uint64_t vector, int32_t *coordinates)
{
    for (int d = layout->rank - 1; d >= 0; d--) {
        coordinates[d] = (int32_t)(vector & (uint64_t)(layout->block[d] - 1));
        vector >>= bits_log2(layout->block[d]);
    }
}

/* All basis vectors added in order; input i is basis[i]. */
static void layout_solver(const Layout *layout, Solver *solver)
{
    memset(solver, 0, sizeof *solver);
    for (int i = 0; i < layout_index_bits(layout); i++)
        solver_add(solver, layout_pack(layout, layout->basis[i]), UINT64_C(1) << i);
}

int layout_repeat_index(const Layout *layout, const int32_t *repeats)
{
    int index = 0;
    for (int d = 0; d < layout->rank; d++) index = index * layout->repeat[d] + repeats[d];
    return index;
}

static void layout_repeat_split(const Layout *layout, int index, int32_t *repeats)
{
    for (int d = layout->rank - 1; d >= 0; d--) {
        repeats[d] = index % layout->repeat[d];
        index /= layout->repeat[d];
    }
}

/* ---- interning ---- */

struct LayoutTable {
    Arena *arena;
    Interner *texts; /* the layouts' bytes */
    Map by_text;
};

LayoutTable *layout_table_new(Arena *arena)
{
    LayoutTable *table = arena_new_of(arena, LayoutTable);
    table->arena = arena;
    table->texts = interner_new(arena);
    return table;
}

static bool has_valid_extents(const Layout *layout)
{
    int block_bits = 0;
    int64_t repeats = 1;
    for (int d = 0; d < layout->rank; d++) {
        if (layout->shape[d] < 1 || !bits_is_power(layout->block[d])) return false;
        block_bits += bits_log2(layout->block[d]);
        repeats *= ((int64_t)layout->shape[d] + layout->block[d] - 1) / layout->block[d];
        if (block_bits > LAYOUT_BITS || repeats > INT32_MAX >> layout->bits[LAYOUT_REGISTER])
            return false;
    }
    return true;
}

static bool is_within_block(const Layout *layout, const int32_t *coordinates)
{
    for (int d = 0; d < layout->rank; d++)
        if (coordinates[d] < 0 || coordinates[d] >= layout->block[d]) return false;
    return true;
}

/* Basis vectors are zero or independent, and reach all of the block: so each element is held, and
 * held more than once only where a bit's vector is zero. */
bool layout_is_valid(const Layout *layout)
{
    if (layout->rank > LAYOUT_RANK || layout_index_bits(layout) > LAYOUT_BITS ||
        !has_valid_extents(layout))
        return false;
    int missing = 0;
    for (int d = 0; d < layout->rank; d++) missing += bits_log2(layout->block[d]);
    Solver solver = {0};
    for (int i = 0; i < layout_index_bits(layout); i++) {
        if (!is_within_block(layout, layout->basis[i])) return false;
        uint64_t vector = layout_pack(layout, layout->basis[i]);
        if (vector != 0 && !solver_add(&solver, vector, 0)) return false;
        missing -= vector != 0;
    }
    return missing == 0;
}

/* A register bit above the others, for coordinate `value` of `dim`. */
static void append_register_bit(Layout *layout, int dim, int32_t value)
{
    int at = layout->bits[LAYOUT_REGISTER]++;
    int after = layout_index_bits(layout) - 1 - at;
    memmove(layout->basis[at + 1], layout->basis[at], (size_t)after * sizeof layout->basis[0]);
    memset(layout->basis[at], 0, sizeof layout->basis[at]);
    layout->basis[at][dim] = value;
}

/* Repeats that are powers of two become register bits, the fastest first, as long as the registers'
 * numbers stay the same: so equal layouts are written in one way. */
static void absorb_repeats(Layout *layout)
{
    for (int d = layout->rank - 1; d >= 0; d--) {
        int more = bits_log2(layout->repeat[d]);
        if (!bits_is_power(layout->repeat[d]) || layout_index_bits(layout) + more > LAYOUT_BITS)
            return;
        for (; layout->repeat[d] > 1; layout->repeat[d] /= 2) {
            append_register_bit(layout, d, layout->block[d]);
            layout->block[d] *= 2;
        }
    }
}

static Layout canonical(const Layout *layout)
{
    Layout copy = {.rank = layout->rank};
    memcpy(copy.bits, layout->bits, sizeof copy.bits);
    for (int d = 0; d < layout->rank; d++) {
        copy.shape[d] = layout->shape[d];
        copy.block[d] = layout->block[d];
        copy.repeat[d] =
            (int32_t)(((int64_t)layout->shape[d] + layout->block[d] - 1) / layout->block[d]);
    }
    for (int i = 0; i < layout_index_bits(layout); i++)
        memcpy(copy.basis[i], layout->basis[i], layout->rank * sizeof(int32_t));
    absorb_repeats(&copy);
    return copy;
}

/* Only shape, block, bits and basis are looked at; repeat follows from them. */
const Layout *layout_intern(LayoutTable *table, const Layout *layout)
{
    CHECK(layout_is_valid(layout));
    Layout copy = canonical(layout);
    Name text = intern(table->texts, (const char *)&copy, sizeof copy);
    Layout *known = map_get(&table->by_text, text);
    if (known != NULL) return known;
    known = arena_new_of(table->arena, Layout);
    *known = copy;
    map_set(table->arena, &table->by_text, text, known);
    return known;
}

/* ---- asking ---- */

const int32_t *layout_basis(const Layout *layout, LayoutAxis axis, int bit)
{
    int at = bit;
    for (int before = 0; before < (int)axis; before++) at += layout->bits[before];
    return layout->basis[at];
}

int layout_registers(const Layout *layout)
{
    int count = 1 << layout->bits[LAYOUT_REGISTER];
    for (int d = 0; d < layout->rank; d++) count *= layout->repeat[d];
    return count;
}

int layout_threads(const Layout *layout)
{
    return 1 << (layout->bits[LAYOUT_LANE] + layout->bits[LAYOUT_WARP]);
}

int layout_extend_run(const Layout *layout, LayoutAxis axis, int dim, int run)
{
    for (int bit = 0; bit < layout->bits[axis]; bit++) {
        const int32_t *basis = layout_basis(layout, axis, bit);
        if (axis == LAYOUT_LANE && layout_replica_mask(layout) >> bit & 1) continue;
        for (int d = 0; d < layout->rank; d++)
            if (basis[d] != (d == dim ? run : 0)) return run;
        run *= 2;
    }
    return run;
}

int layout_register_run(const Layout *layout, int dim)
{
    return layout_extend_run(layout, LAYOUT_REGISTER, dim, 1);
}

int layout_aligned_run(const Layout *layout, int dim)
{
    int run = layout_register_run(layout, dim);
    for (int bit = bits_log2(run); bit < layout->bits[LAYOUT_REGISTER]; bit++)
        while (layout_basis(layout, LAYOUT_REGISTER, bit)[dim] & (run - 1)) run /= 2;
    return run;
}

int64_t layout_size(const Layout *layout)
{
    int64_t size = 1;
    for (int d = 0; d < layout->rank; d++) size *= (int64_t)layout->block[d] * layout->repeat[d];
    return size;
}

bool layout_has_row_parts(const Layout *layout, int threads, int parts)
{
    const int row = layout->rank - 2, registers = layout->bits[LAYOUT_REGISTER],
              bits = layout->bits[LAYOUT_LANE] + layout->bits[LAYOUT_WARP];
    if (row < 0 || !bits_is_power(parts) || layout_threads(layout) != threads ||
        layout->block[row] != layout->shape[row] || layout->shape[row] % parts != 0)
        return false;
    const int32_t rows = layout->shape[row] / parts;
    const int first = registers + bits - bits_log2(parts);
    for (int bit = 0; bit < registers + bits; bit++)
        for (int d = 0; d < layout->rank; d++) {
            const int32_t basis = layout->basis[bit][d];
            if (bit < first ? d == row && basis >= rows
                            : basis != (d == row ? rows << (bit - first) : 0))
                return false;
        }
    return true;
}

/* Adds the basis vectors of the bits of `index` that are set. */
static void add_basis(const Layout *layout, LayoutAxis axis, int index, int32_t *out)
{
    for (int bit = 0; bit < layout->bits[axis]; bit++) {
        if ((index >> bit & 1) == 0) continue;
        const int32_t *basis = layout_basis(layout, axis, bit);
        for (int d = 0; d < layout->rank; d++) out[d] ^= basis[d];
    }
}

void layout_coordinates(const Layout *layout, int reg, int lane, int warp, int32_t *out)
{
    int32_t repeats[LAYOUT_RANK] = {0};
    layout_repeat_split(layout, reg >> layout->bits[LAYOUT_REGISTER], repeats);
    for (int d = 0; d < layout->rank; d++) out[d] = 0;
    add_basis(layout, LAYOUT_REGISTER, reg, out);
    add_basis(layout, LAYOUT_LANE, lane, out);
    add_basis(layout, LAYOUT_WARP, warp, out);
    for (int d = 0; d < layout->rank; d++) out[d] += repeats[d] * layout->block[d];
}

bool layout_is_inside(const Layout *layout, const int32_t *coordinates)
{
    for (int d = 0; d < layout->rank; d++)
        if (coordinates[d] < 0 || coordinates[d] >= layout->shape[d]) return false;
    return true;
}

bool layout_is_padded(const Layout *layout)
{
    for (int d = 0; d < layout->rank; d++)
        if ((int64_t)layout->block[d] * layout->repeat[d] != layout->shape[d]) return true;
    return false;
}

static uint32_t zero_bits(const Layout *layout, LayoutAxis axis)
{
    uint32_t mask = 0;
    for (int bit = 0; bit < layout->bits[axis]; bit++)
        if (layout_pack(layout, layout_basis(layout, axis, bit)) == 0) mask |= UINT32_C(1) << bit;
    return mask;
}

uint32_t layout_replica_mask(const Layout *layout)
{
    return zero_bits(layout, LAYOUT_LANE) | zero_bits(layout, LAYOUT_WARP) << 5;
}

Holder layout_find_holder(const Layout *layout, const int32_t *coordinates)
{
    int32_t inner[LAYOUT_RANK], repeats[LAYOUT_RANK];
    for (int d = 0; d < layout->rank; d++) {
        inner[d] = coordinates[d] & (layout->block[d] - 1);
        repeats[d] = coordinates[d] / layout->block[d];
    }
    Solver solver;
    layout_solver(layout, &solver);
    uint64_t index;
    CHECK(solver_solve(&solver, layout_pack(layout, inner), &index));
    int registers = layout->bits[LAYOUT_REGISTER], lanes = layout->bits[LAYOUT_LANE];
    int repeat = layout_repeat_index(layout, repeats);
    return (Holder){.reg = (int)(index & ((UINT64_C(1) << registers) - 1)) | repeat << registers,
                    .lane = (int)(index >> registers & ((UINT64_C(1) << lanes) - 1)),
                    .warp = (int)(index >> (registers + lanes))};
}

int64_t layout_offset(const Layout *layout, const int32_t *coordinates)
{
    return layout_find_holder(layout, coordinates).reg;
}

bool layout_invert(const Layout *layout, int32_t result[LAYOUT_RANK][LAYOUT_BITS])
{
    memset(result, 0, sizeof(int32_t) * LAYOUT_RANK * LAYOUT_BITS);
    Solver solver;
    layout_solver(layout, &solver);
    int bits = 0;
    for (int d = layout->rank - 1; d >= 0; d--)
        for (int bit = 0; bit < bits_log2(layout->block[d]); bit++) {
            uint64_t index;
            if (!solver_solve(&solver, UINT64_C(1) << bits++, &index)) return false;
            result[d][bit] = (int32_t)index;
        }
    return bits == layout_index_bits(layout); /* else a zero vector: several offsets an element */
}

bool layout_is_order(const Layout *layout)
{
    int32_t inverse[LAYOUT_RANK][LAYOUT_BITS];
    return layout_invert(layout, inverse);
}
