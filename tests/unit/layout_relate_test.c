/* layout_relate_test.c: conversions, derived layouts, vectors and ldmatrix, against enumeration. */
#include "layout_fixture.h"

/* ---- conversions ---- */

typedef struct Needs {
    bool registers, warp, same; /* what enumeration found enough */
} Needs;

static bool thread_holds(const Layout *layout, int thread, int64_t element)
{
    for (int reg = 0; reg < layout_registers(layout); reg++)
        if (element_of(layout, reg, thread) == element) return true;
    return false;
}

/* One register of `from` that serves `reg` of `to` in all threads. */
static int find_common_source(const Layout *from, const Layout *to, int reg, int threads)
{
    for (int source = 0; source < layout_registers(from); source++) {
        bool serves = true;
        for (int thread = 0; thread < threads && serves; thread++) {
            int64_t wanted = element_of(to, reg, thread & (layout_threads(to) - 1));
            serves = wanted < 0 ||
                     element_of(from, source, thread & (layout_threads(from) - 1)) == wanted;
        }
        if (serves) return source;
    }
    return -1;
}

static bool warp_holds(const Layout *layout, int warp, int64_t element)
{
    warp &= (1 << layout->bits[LAYOUT_WARP]) - 1;
    for (int lane = 0; lane < 32; lane++)
        if (thread_holds(layout, warp * 32 + lane, element)) return true;
    return false;
}

static bool registers_suffice(const Layout *from, const Layout *to, int threads)
{
    for (int reg = 0; reg < layout_registers(to); reg++)
        if (find_common_source(from, to, reg, threads) < 0) return false;
    return true;
}

static bool warps_suffice(const Layout *from, const Layout *to, int threads)
{
    for (int reg = 0; reg < layout_registers(to); reg++)
        for (int thread = 0; thread < threads; thread++) {
            int64_t wanted = element_of(to, reg, thread & (layout_threads(to) - 1));
            if (wanted >= 0 && !warp_holds(from, thread >> 5, wanted)) return false;
        }
    return true;
}

static void check_sources(const Layout *from, const Layout *to, int threads, bool same)
{
    for (int reg = 0; reg < layout_registers(to); reg++) {
        int source = same ? reg : layout_source_register(from, to, reg);
        for (int thread = 0; thread < threads; thread++) {
            int64_t wanted = element_of(to, reg, thread & (layout_threads(to) - 1));
            if (wanted >= 0)
                assert_int_equal(element_of(from, source, thread & (layout_threads(from) - 1)),
                                 wanted);
        }
    }
}

static bool is_padded(const Layout *layout)
{
    return layout_size(layout) != element_count(layout);
}

/* Never too cheap; and exact where nothing is padded. */
static void check_conversion(const Layout *from, const Layout *to)
{
    int threads =
        layout_threads(from) > layout_threads(to) ? layout_threads(from) : layout_threads(to);
    Conversion conversion = layout_conversion(from, to);
    bool registers = registers_suffice(from, to, threads);
    if (conversion <= CONVERT_REGISTERS) {
        assert_true(registers);
        check_sources(from, to, threads, conversion == CONVERT_NONE);
        return;
    }
    if (!is_padded(from) && !is_padded(to)) assert_false(registers);
    bool warps = warps_suffice(from, to, threads);
    if (conversion == CONVERT_SHUFFLE)
        assert_true(warps);
    else if (!is_padded(from) && !is_padded(to))
        assert_false(warps);
}

static const int32_t SMALL[][2] = {{1, 8},  {3, 16}, {4, 4},  {8, 8},   {16, 8}, {33, 1},
                                   {48, 2}, {1, 96}, {6, 10}, {16, 16}, {24, 8}};
enum { SMALL_COUNT = sizeof SMALL / sizeof *SMALL };

static void test_conversions(void **state)
{
    Fixture *fixture = *state;
    int seen[4] = {0};
    for (int i = 0; i < 400; i++) {
        const int32_t *shape = SMALL[random_below(fixture, SMALL_COUNT)];
        const Layout *from = random_layout(fixture, 2, shape),
                     *to = random_layout(fixture, 2, shape);
        check_conversion(from, to);
        seen[layout_conversion(from, to)]++;
        assert_int_equal(layout_conversion(from, from), CONVERT_NONE);
    }
    for (int kind = CONVERT_NONE; kind <= CONVERT_SHARED; kind++) assert_true(seen[kind] > 0);
}

static const Layout *read_layout(Fixture *fixture, const char *text)
{
    const Layout *layout = layout_read(fixture->table, &text);
    assert_non_null(layout);
    return layout;
}

/* Threads and registers that hold padding alone ask for nothing. */
static void test_padding_needs_nothing(void **state)
{
    Fixture *fixture = *state;
    static const struct {
        const char *from, *to;
        Conversion conversion;
    } cases[] = {
        {"{shape [1] block [1] reg [[0]]}", "{shape [1] block [2] reg [[1]]}", CONVERT_NONE},
        {"{shape [1] block [1] lane [[0]]}", "{shape [1] block [2] lane [[1]]}", CONVERT_NONE},
        {"{shape [1] block [2] lane [[1]]}", "{shape [1] block [1] lane [[0]]}", CONVERT_SHUFFLE},
        {"{shape [2] block [2] lane [[0],[1]]}", "{shape [2] block [4] lane [[1],[2]]}",
         CONVERT_SHUFFLE},
        {"{shape [2] block [2] reg [[1]] warp [[0]]}", "{shape [2] block [4] reg [[1]] warp [[2]]}",
         CONVERT_NONE},
        {"{shape [2, 1] block [2, 1] reg [[1,0]] lane [[0,0]]}",
         "{shape [2, 1] block [2, 2] reg [[1,1]] lane [[0,1]]}", CONVERT_SHUFFLE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Layout *from = read_layout(fixture, cases[i].from);
        const Layout *to = read_layout(fixture, cases[i].to);
        assert_int_equal(layout_conversion(from, to), cases[i].conversion);
    }
}

/* Attention's second product: the accumulator of one dot is operand a of the next without moving.
 */
static void test_accumulator_becomes_operand(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {16, 8, 16, 16};
    const Layout *c = layout_mma(fixture->table, DOT_C, inst, 64, 96, 64, 4, 1);
    const Layout *a = layout_mma(fixture->table, DOT_A, inst, 64, 64, 96, 4, 1);
    assert_int_equal(layout_conversion(c, a), CONVERT_NONE);
    check_conversion(c, a);
    c = layout_mma(fixture->table, DOT_C, inst, 128, 96, 64, 4, 1);
    a = layout_mma(fixture->table, DOT_A, inst, 128, 64, 96, 4, 1);
    assert_int_equal(layout_conversion(c, a), CONVERT_REGISTERS);
    check_conversion(c, a);
}

static void test_broadcast_is_registers(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 200; i++) {
        int32_t shape[2], small[2];
        random_shape(fixture, 2, shape);
        const Layout *layout =
            i % 2 ? random_blocked(fixture, 2, shape) : random_mma(fixture, 2, shape);
        int dim = random_below(fixture, 2);
        memcpy(small, shape, sizeof small);
        small[dim] = 1;
        const Layout *shrunk = layout_shrink(fixture->table, layout, small);
        check_covers(shrunk);
        assert_true(layout_conversion(shrunk, layout) <= CONVERT_REGISTERS);
        for (int reg = 0; reg < layout_registers(layout); reg++) {
            int source = layout_source_register(shrunk, layout, reg);
            for (int thread = 0; thread < layout_threads(layout); thread += 5) {
                int64_t element = element_of(layout, reg, thread);
                if (element < 0) continue;
                int64_t wanted = dim == 0 ? element % shape[1] : element / shape[1];
                assert_int_equal(element_of(shrunk, source, thread), wanted);
            }
        }
    }
}

/* ---- combined along a dimension ---- */

/* Every element of the row that warp `warp` holds any of has one part, the same for all that the
 * warp holds, and another one for another warp's elements. */
static void check_part(const Layout *layout, const Layout *parts, int dim, int thread)
{
    int32_t mine[LAYOUT_RANK], other[LAYOUT_RANK], part[LAYOUT_RANK], other_part[LAYOUT_RANK];
    for (int warp = 0; warp < 1 << layout->bits[LAYOUT_WARP]; warp++) {
        layout_coordinates(layout, 0, 0, thread / 32, mine);
        layout_coordinates(layout, 0, 0, warp, other);
        layout_coordinates(parts, 0, thread & 31, thread / 32, part);
        layout_coordinates(parts, 0, thread & 31, warp, other_part);
        assert_int_equal(mine[dim] == other[dim], part[dim] == other_part[dim]);
        assert_true(part[dim] < parts->shape[dim]);
    }
}

static bool thread_has_all(const Layout *gathered, const Layout *combined, int dim, int thread)
{
    int32_t kept[LAYOUT_RANK], at[LAYOUT_RANK];
    for (int reg = 0; reg < layout_registers(combined); reg++) {
        uint64_t seen = 0;
        layout_coordinates(combined, reg, thread & 31, thread / 32, kept);
        for (int other = 0; other < layout_registers(gathered); other++) {
            layout_coordinates(gathered, other, thread & 31, thread / 32, at);
            if (at[1 - dim] == kept[1 - dim]) seen |= UINT64_C(1) << at[dim];
        }
        if (seen != (UINT64_C(1) << gathered->shape[dim]) - 1) return false;
    }
    return true;
}

static void test_warp_parts(void **state)
{
    Fixture *fixture = *state;
    static const int32_t shapes[][2] = {{64, 64}, {2, 256}, {3, 1000}, {1, 100}, {96, 5}};
    static const int orders[][2] = {{1, 0}, {0, 1}};
    for (int i = 0; i < 5 * 2 * 2; i++) {
        const int dim = i & 1;
        const int32_t *shape = shapes[i / 4];
        const int32_t small[2] = {dim == 0 ? 1 : shape[0], dim == 1 ? 1 : shape[1]};
        const Layout *layout =
            layout_blocked(fixture->table, 2, shape, orders[i >> 1 & 1], 1, 1 << i % 5);
        assert_true(layout_is_plain(layout, 1u << dim));
        const Layout *combined = layout_shrink(fixture->table, layout, small),
                     *parts = layout_parts(fixture->table, layout, 1u << dim, LAYOUT_WARP),
                     *gathered = layout_gathered(fixture->table, combined, parts);
        check_covers(parts);
        assert_int_equal(layout_threads(gathered), layout_threads(layout));
        for (int thread = 0; thread < layout_threads(layout); thread++) {
            check_part(layout, parts, dim, thread);
            assert_true(thread_has_all(gathered, combined, dim, thread));
        }
    }
}

/* Each thread gets what it wants of the lane and the register that are said to have it. */
static void check_exchange(const Layout *from, const Layout *to)
{
    int32_t lanes[LAYOUT_BITS], differs;
    assert_true(layout_exchange(from, to, lanes));
    for (int thread = 0; thread < layout_threads(to); thread++)
        for (int reg = 0; reg < layout_registers(to); reg++) {
            const int source = layout_exchange_source(from, to, reg, &differs);
            for (int bit = 0; bit < LAYOUT_BITS; bit++)
                if (thread >> bit & 1) differs ^= lanes[bit];
            assert_true(differs >= 0 && differs < 32);
            assert_int_equal(element_of(from, source, (thread & ~31) | differs),
                             element_of(to, reg, thread));
        }
}

static void test_halved(void **state)
{
    Fixture *fixture = *state;
    static const int32_t shapes[][2] = {{64, 64}, {32, 128}, {128, 32}, {256, 16}, {8, 512}};
    static const int orders[][2] = {{1, 0}, {0, 1}};
    for (int i = 0; i < 5 * 2 * 2 * 4; i++) {
        const int dim = i & 1, halvings = i >> 2 & 3;
        const int32_t *shape = shapes[i / 16];
        const int32_t small[2] = {dim == 0 ? 1 : shape[0], dim == 1 ? 1 : shape[1]};
        const Layout *layout =
            layout_blocked(fixture->table, 2, shape, orders[i >> 1 & 1], 2, i % 3);
        const Layout *whole = layout_shrink(fixture->table, layout, small),
                     *halved = layout_halved(fixture->table, layout, 1u << dim, whole, halvings);
        const int times = whole->bits[LAYOUT_REGISTER] - halved->bits[LAYOUT_REGISTER];
        check_covers(halved);
        assert_true(times <= halvings);
        assert_int_equal(layout_registers(halved) << times, layout_registers(whole));
        for (int bit = 0; bit < layout->bits[LAYOUT_LANE];
             bit++) /* other lanes' are as they were */
            if (layout_basis(layout, LAYOUT_LANE, bit)[1 - dim])
                assert_memory_equal(layout_basis(halved, LAYOUT_LANE, bit),
                                    layout_basis(whole, LAYOUT_LANE, bit), sizeof(int32_t) * 2);
        check_exchange(halved, whole);
    }
}

/* Of whom it is another register in other lanes, no shuffle makes it. */
static void test_no_exchange(void **state)
{
    Fixture *fixture = *state;
    const int32_t shape[] = {64, 64};
    int32_t lanes[LAYOUT_BITS];
    const Layout *rows = layout_blocked(fixture->table, 2, shape, (int[]){1, 0}, 4, 1),
                 *columns = layout_blocked(fixture->table, 2, shape, (int[]){0, 1}, 4, 1),
                 *warps = layout_blocked(fixture->table, 2, shape, (int[]){1, 0}, 4, 2);
    assert_false(layout_exchange(rows, columns, lanes));
    assert_false(layout_exchange(warps, rows, lanes));
    check_exchange(rows, rows);
}

/* ---- derived ---- */

static void check_same_elements(const Layout *one, const Layout *two)
{
    assert_int_equal(layout_registers(one), layout_registers(two));
    assert_int_equal(layout_threads(one), layout_threads(two));
    for (int thread = 0; thread < layout_threads(one); thread++)
        for (int reg = 0; reg < layout_registers(one); reg++)
            assert_int_equal(element_of(one, reg, thread), element_of(two, reg, thread));
}

static void test_reshape(void **state)
{
    Fixture *fixture = *state;
    static const struct {
        int rank, new_rank;
        int32_t shape[4], new_shape[4];
        bool possible;
    } cases[] = {
        {2, 1, {64, 32}, {2048}, true},
        {1, 2, {2048}, {64, 32}, true},
        {2, 3, {64, 32}, {64, 1, 32}, true},
        {2, 2, {64, 32}, {32, 64}, true},
        {2, 4, {1, 100}, {1, 1, 100, 1}, true},
        {2, 1, {48, 64}, {3072}, true},
        {2, 1, {33, 16}, {528}, true},
        {3, 2, {4, 8, 100}, {32, 100}, true},
        {2, 2, {64, 96}, {96, 64}, false},
        {2, 1, {16, 33}, {528}, false},
        {3, 0, {1, 1, 1}, {0}, true},
        {0, 2, {0}, {1, 1}, true},
        {1, 2, {96}, {3, 32}, true},
        {1, 2, {96}, {32, 3}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int vector = 1; vector <= 8; vector *= 8) {
            const int order[] = {cases[i].rank - 1, cases[i].rank - 2, cases[i].rank - 3};
            const Layout *layout =
                layout_blocked(fixture->table, cases[i].rank, cases[i].shape, order, vector, 4);
            const Layout *other =
                layout_reshape(fixture->table, layout, cases[i].new_rank, cases[i].new_shape);
            assert_int_equal(other != NULL, cases[i].possible);
            if (other != NULL) check_same_elements(layout, other);
            if (other != NULL)
                assert_ptr_equal(layout_reshape(fixture->table, other, layout->rank, layout->shape),
                                 layout);
        }
}

static void test_transpose(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 100; i++) {
        int32_t shape[3], at[LAYOUT_RANK], other_at[LAYOUT_RANK];
        int dims[3];
        random_shape(fixture, 3, shape);
        random_order(fixture, 3, dims);
        const Layout *layout = random_blocked(fixture, 3, shape);
        int repeating = 0;
        for (int d = 0; d < 3; d++) repeating += layout->repeat[d] > 1;
        if (repeating > 1) continue;
        const Layout *other = layout_transpose(fixture->table, layout, dims);
        assert_int_equal(layout_registers(layout), layout_registers(other));
        for (int reg = 0; reg < layout_registers(layout); reg++) {
            layout_coordinates(layout, reg, 21, 0, at);
            layout_coordinates(other, reg, 21, 0, other_at);
            for (int d = 0; d < 3; d++) assert_int_equal(other_at[d], at[dims[d]]);
        }
    }
}

/* ---- vectors and ldmatrix ---- */

static void test_shared_vector(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 200; i++) {
        int32_t shape[2], at[LAYOUT_RANK];
        random_shape(fixture, 2, shape);
        const Layout *registers = random_layout(fixture, 2, shape);
        const Layout *shared = random_shared(fixture, 2, shape);
        int vector = layout_shared_vector(registers, shared, 8);
        for (int thread = 0; thread < layout_threads(registers); thread += 3)
            for (int reg = 0; reg < layout_registers(registers); reg += vector) {
                int64_t base = -1;
                for (int j = 0; j < vector; j++) {
                    layout_coordinates(registers, reg + j, thread & 31, thread >> 5, at);
                    if (!layout_is_inside(registers, at)) continue;
                    int64_t offset = layout_offset(shared, at) - j;
                    assert_int_equal(offset % vector, 0);
                    assert_true(base < 0 || base == offset);
                    base = offset;
                }
            }
    }
}

static void test_repeats_break_vectors(void **state)
{
    Fixture *fixture = *state;
    const Layout *registers = read_layout(fixture, "{shape [6] block [2] reg [[1]]}");
    const Layout *shared = read_layout(fixture, "{shape [6] block [8] reg [[1],[2],[5]]}");
    assert_int_equal(layout_shared_vector(registers, shared, 2), 1); /* element 4 is at 5 */
    shared = read_layout(fixture, "{shape [6] block [8] reg [[1],[2],[4]]}");
    assert_int_equal(layout_shared_vector(registers, shared, 2), 2);
}

/* What ldmatrix puts in the registers, from its definition: matrix i's row r comes from the address
 * of lane 8 * i + r, which the lowering takes from the registers' layout. */
static void row_address(const Layout *registers, Ldmatrix load, int reg, int warp, int lane,
                        int32_t *at)
{
    int row = lane & 7, matrix = lane >> 3 & (load.count - 1);
    for (int i = 0; i < 2; i++)
        if (matrix >> i & 1) reg |= 1 << load.register_bit[i];
    if (load.transposed)
        layout_coordinates(registers, reg | (row & 1), row >> 1, warp, at);
    else
        layout_coordinates(registers, reg, row << 2, warp, at);
}

/* The 16-byte row `row` of matrix `matrix`, and where in it thread `lane` finds its word. */
static void check_ldmatrix_word(const Layout *registers, const Layout *shared, Ldmatrix load,
                                int element_bits, int base, int warp, int lane, int matrix)
{
    int elements = 32 / element_bits, reg = base;
    for (int i = 0; i < 2; i++)
        if (matrix >> i & 1) reg |= 1 << load.register_bit[i];
    for (int j = 0; j < elements; j++) {
        int32_t at[LAYOUT_RANK], wanted[LAYOUT_RANK];
        int row = load.transposed ? 2 * (lane % 4) + j : lane / 4;
        int column = load.transposed ? lane / 4 : lane % 4 * elements + j;
        row_address(registers, load, base, warp, matrix * 8 + row, at);
        layout_coordinates(registers, reg + j, lane, warp, wanted);
        int64_t offset = layout_offset(shared, at);
        assert_int_equal(offset * element_bits % 128, 0);
        assert_int_equal(offset + column, layout_offset(shared, wanted));
    }
}

static void check_ldmatrix(const Layout *registers, const Layout *shared, Ldmatrix load,
                           int element_bits)
{
    int elements = 32 / element_bits, mask = elements - 1;
    for (int i = 0; i < 2 && load.count >> i > 1; i++) mask |= 1 << load.register_bit[i];
    for (int base = 0; base < layout_registers(registers); base++)
        for (int thread = 0; thread < layout_threads(registers) && (base & mask) == 0; thread += 3)
            for (int matrix = 0; matrix < load.count; matrix++)
                check_ldmatrix_word(registers, shared, load, element_bits, base, thread >> 5,
                                    thread & 31, matrix);
}

static void test_ldmatrix(void **state)
{
    Fixture *fixture = *state;
    static const MmaShape instructions[] = {{16, 8, 32, 8}, {16, 8, 16, 16}, {16, 8, 8, 32}};
    const int orders[2][2] = {{1, 0}, {0, 1}};
    for (int i = 0; i < 3; i++)
        for (int operand = DOT_A; operand <= DOT_B; operand++)
            for (int by_column = 0; by_column < 2; by_column++) {
                MmaShape inst = instructions[i];
                const Layout *registers =
                    layout_mma(fixture->table, (DotOperand)operand, inst, 64, 96, 64, 2, 2);
                const Layout *shared = layout_swizzled(fixture->table, 2, registers->shape,
                                                       orders[by_column], inst.element_bits);
                Ldmatrix load = layout_ldmatrix(registers, shared, inst.element_bits);
                bool is_along_k = (operand == DOT_A) == (by_column == 0);
                assert_int_equal(load.possible, is_along_k || inst.element_bits == 16);
                if (!load.possible) continue;
                assert_int_equal(load.transposed, !is_along_k);
                assert_int_equal(load.count, 4);
                check_ldmatrix(registers, shared, load, inst.element_bits);
            }
}

static void test_ldmatrix_refuses(void **state)
{
    Fixture *fixture = *state;
    const int order[] = {1, 0};
    const Layout *shared = layout_swizzled(fixture->table, 2, (int32_t[]){64, 64}, order, 16);
    const Layout *registers = layout_blocked(fixture->table, 2, (int32_t[]){64, 64}, order, 8, 4);
    assert_false(layout_ldmatrix(registers, shared, 16).possible);
    MmaShape inst = {16, 8, 16, 16};
    registers = layout_mma(fixture->table, DOT_A, inst, 64, 64, 64, 2, 2);
    assert_false(layout_ldmatrix(registers, shared, 64).possible);
    /* Rows of 8 bytes. */
    shared = layout_swizzled(fixture->table, 2, (int32_t[]){64, 4}, order, 16);
    registers = layout_mma(fixture->table, DOT_A, inst, 64, 64, 4, 2, 2);
    assert_false(layout_ldmatrix(registers, shared, 16).possible);
}

/* ---- wgmma ---- */

/* Where the descriptor says an element lies, by the PTX manual: rows of the swizzle's width, 8 of
 * them `stride` before the next 8, panels of rows `leading` apart. */
static int64_t described(const WgmmaLayout *layout, int bytes, int64_t k, int64_t other)
{
    const int64_t along = bytes * (layout->transposed ? other : k),
                  across = layout->transposed ? k : other;
    const int64_t plain = along / layout->swizzle * layout->leading + across / 8 * layout->stride +
                          across % 8 * layout->swizzle + along % layout->swizzle;
    return plain ^ ((plain >> 7 & (layout->swizzle / 16 - 1)) << 4);
}

static void check_wgmma(const Layout *shared, int k_dim, int extent, int swizzle, int bytes)
{
    const WgmmaLayout found = layout_wgmma(shared, k_dim, extent, 8 * bytes);
    assert_true(found.possible);
    assert_int_equal(found.swizzle, swizzle);
    assert_int_equal(found.transposed, k_dim == 0);
    for (int32_t k = 0; k < 32 / bytes; k++)
        for (int32_t other = 0; other < extent; other++) {
            const int32_t at[2] = {k_dim == 0 ? k : other, k_dim == 0 ? other : k};
            assert_int_equal(described(&found, bytes, k, other), bytes * layout_offset(shared, at));
        }
}

static void test_wgmma(void **state)
{
    LayoutTable *table = ((Fixture *)*state)->table;
    static const int columns[] = {16, 32, 64, 128, 192, 256};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        const int width = 2 * columns[i] < 128 ? 2 * columns[i] : 128;
        const Layout *shared = layout_panels(table, 2, (int32_t[]){64, columns[i]}, 16);
        assert_non_null(shared);
        check_wgmma(shared, 1, 64, width, 2);         /* a is [64, k], or b [n, k] */
        check_wgmma(shared, 0, columns[i], width, 2); /* b is [k, n], or a [k, m] */
    }
    /* rows that are no whole number of 128 bytes */
    static const int parts[][2] = {{48, 32}, {80, 32}, {96, 64}, {144, 32}, {160, 64}, {224, 64}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const Layout *shared = layout_panels(table, 2, (int32_t[]){64, parts[i][0]}, 16);
        assert_non_null(shared);
        check_wgmma(shared, 1, 64, parts[i][1], 2);
        check_wgmma(shared, 0, parts[i][0], parts[i][1], 2);
    }
}

/* Elements of 1 and 4 bytes, with k contiguous; the other way is for 2 bytes alone. */
static void test_wgmma_bytes(void **state)
{
    LayoutTable *table = ((Fixture *)*state)->table;
    for (int bytes = 1; bytes <= 4; bytes *= 4)
        for (int width = 32; width <= 256; width *= 2) {
            const Layout *shared =
                layout_panels(table, 2, (int32_t[]){72, width / bytes}, 8 * bytes);
            assert_non_null(shared);
            check_wgmma(shared, 1, 72, width < 128 ? width : 128, bytes);
            assert_false(layout_wgmma(shared, 0, width / bytes, 8 * bytes).possible);
        }
}

static void test_wgmma_refuses(void **state)
{
    LayoutTable *table = ((Fixture *)*state)->table;
    static const int32_t shapes[][2] = {{64, 8}, {64, 24}, {4, 64}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        assert_null(layout_panels(table, 2, shapes[i], 16));
    const Layout *shared = layout_row_major(table, 2, (int32_t[]){64, 64}, (int[]){1, 0});
    assert_false(layout_wgmma(shared, 1, 64, 16).possible);
    /* rows of 256 bytes in one piece */
    shared = layout_swizzled(table, 2, (int32_t[]){64, 128}, (int[]){1, 0}, 16);
    assert_false(layout_wgmma(shared, 1, 64, 16).possible);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_conversions),
        TEST(test_padding_needs_nothing),
        TEST(test_repeats_break_vectors),
        TEST(test_accumulator_becomes_operand),
        TEST(test_broadcast_is_registers),
        TEST(test_warp_parts),
        TEST(test_halved),
        TEST(test_no_exchange),
        TEST(test_reshape),
        TEST(test_transpose),
        TEST(test_shared_vector),
        TEST(test_ldmatrix),
        TEST(test_ldmatrix_refuses),
        TEST(test_wgmma),
        TEST(test_wgmma_bytes),
        TEST(test_wgmma_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
