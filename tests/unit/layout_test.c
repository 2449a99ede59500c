/* layout_test.c: making layouts, asking them and their text, against enumeration. */
#include "layout_fixture.h"

/* ---- interning ---- */

static void test_intern_compares_what_matters(void **state)
{
    Fixture *fixture = *state;
    Layout one = {.rank = 1, .bits = {1, 1, 0}, .shape = {4}, .block = {4}, .basis = {{1}, {2}}};
    Layout two = one;
    two.basis[2][0] = 77; /* beyond the bits */
    two.shape[5] = 9;
    assert_ptr_equal(layout_intern(fixture->table, &one), layout_intern(fixture->table, &two));
    two.basis[0][0] = 2;
    two.basis[1][0] = 1;
    assert_ptr_not_equal(layout_intern(fixture->table, &one), layout_intern(fixture->table, &two));
}

static void test_intern_absorbs_repeats(void **state)
{
    Fixture *fixture = *state;
    Layout repeated = {
        .rank = 2, .bits = {1, 1, 0}, .shape = {2, 16}, .block = {1, 4}, .basis = {{0, 1}, {0, 2}}};
    const Layout *layout = layout_intern(fixture->table, &repeated);
    assert_int_equal(layout->repeat[0] * layout->repeat[1], 1);
    assert_int_equal(layout->bits[LAYOUT_REGISTER], 4);
    for (int reg = 0; reg < 16; reg++) {
        int32_t at[2];
        layout_coordinates(layout, reg, 1, 0, at);
        assert_int_equal(at[0], reg >> 3);
        assert_int_equal(at[1], (reg >> 1 & 3) * 4 + (reg & 1) + 2);
    }
}

static void test_repeats_number_registers(void **state)
{
    Fixture *fixture = *state;
    Layout repeated = {
        .rank = 2, .bits = {1, 0, 0}, .shape = {3, 6}, .block = {1, 2}, .basis = {{0, 1}}};
    const Layout *layout = layout_intern(fixture->table, &repeated);
    assert_int_equal(layout_registers(layout), 18);
    for (int reg = 0; reg < 18; reg++)
        assert_int_equal(element_of(layout, reg, 0), reg); /* dimension 0 slowest */
}

/* ---- blocked ---- */

static void test_blocked_covers_once(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 300; i++) {
        int32_t shape[LAYOUT_RANK];
        int rank = random_below(fixture, 4);
        random_shape(fixture, rank, shape);
        check_covers(random_blocked(fixture, rank, shape));
    }
}

static void test_blocked_blocks(void **state)
{
    Fixture *fixture = *state;
    LayoutTable *table = fixture->table;
    const int order[] = {1, 0}, one[] = {0};
    const Layout *layout = layout_blocked(table, 2, (int32_t[]){64, 96}, order, 8, 4);
    assert_int_equal(layout->block[1], 32);
    assert_int_equal(layout->repeat[1], 3);
    assert_int_equal(layout_registers(layout), 48);
    assert_int_equal(layout_basis(layout, LAYOUT_REGISTER, 2)[1], 4);
    assert_int_equal(layout_basis(layout, LAYOUT_LANE, 0)[1], 8);
    assert_int_equal(layout_basis(layout, LAYOUT_LANE, 2)[0], 1);
    assert_int_equal(layout_basis(layout, LAYOUT_WARP, 0)[0], 8);
    layout = layout_blocked(table, 1, (int32_t[]){100}, one, 8, 4);
    assert_int_equal(layout->block[0], 128);
    assert_int_equal(layout_registers(layout), 4); /* vectors of 4, since 8 does not divide 100 */
    /* three times all warps, the last time half of them, and not five of eight warps four times */
    layout = layout_blocked(table, 1, (int32_t[]){5120}, one, 8, 8);
    assert_int_equal(layout->block[0], 2048);
    assert_int_equal(layout->repeat[0], 3);
    assert_int_equal(layout_registers(layout), 24);
    layout = layout_blocked(table, 2, (int32_t[]){1, 5120}, order, 8, 8);
    assert_int_equal(layout_registers(layout), 24);
    layout = layout_blocked(table, 1, (int32_t[]){96}, one, 1, 4);
    assert_int_equal(layout_registers(layout), 1);
    layout = layout_blocked(table, 1, (int32_t[]){64}, one, 1, 4);
    assert_int_equal(layout_replica_mask(layout), 0x40);
}

/* ---- matrix unit: the formulas of the PTX manual, for one instruction ---- */

static void check_fragment(const Layout *layout, int reg, int lane, int row, int column)
{
    int32_t at[LAYOUT_RANK];
    layout_coordinates(layout, reg, lane, 0, at);
    assert_int_equal(at[0], row);
    assert_int_equal(at[1], column);
}

static void test_mma_fragments_16(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {16, 8, 16, 16};
    const Layout *a = layout_mma(fixture->table, DOT_A, inst, 16, 8, 16, 1, 1);
    const Layout *b = layout_mma(fixture->table, DOT_B, inst, 16, 8, 16, 1, 1);
    const Layout *c = layout_mma(fixture->table, DOT_C, inst, 16, 8, 16, 1, 1);
    for (int lane = 0; lane < 32; lane++) {
        int group = lane >> 2, in_group = lane % 4;
        for (int i = 0; i < 8; i++)
            check_fragment(a, i, lane, (i < 2) || (i >= 4 && i < 6) ? group : group + 8,
                           in_group * 2 + (i & 1) + (i >= 4 ? 8 : 0));
        for (int i = 0; i < 4; i++) {
            check_fragment(b, i, lane, in_group * 2 + (i & 1) + (i >= 2 ? 8 : 0), group);
            check_fragment(c, i, lane, i < 2 ? group : group + 8, in_group * 2 + (i & 1));
        }
    }
}

static void test_mma_fragments_8(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {16, 8, 32, 8};
    const Layout *a = layout_mma(fixture->table, DOT_A, inst, 16, 8, 32, 1, 1);
    const Layout *b = layout_mma(fixture->table, DOT_B, inst, 16, 8, 32, 1, 1);
    for (int lane = 0; lane < 32; lane++) {
        int group = lane >> 2, in_group = lane % 4;
        for (int i = 0; i < 16; i++)
            check_fragment(a, i, lane, (i < 4) || (i >= 8 && i < 12) ? group : group + 8,
                           in_group * 4 + (i & 3) + (i >= 8 ? 16 : 0));
        for (int i = 0; i < 8; i++)
            check_fragment(b, i, lane, in_group * 4 + (i & 3) + (i >= 4 ? 16 : 0), group);
    }
}

static void test_mma_fragments_32(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {16, 8, 8, 32};
    const Layout *a = layout_mma(fixture->table, DOT_A, inst, 16, 8, 8, 1, 1);
    const Layout *b = layout_mma(fixture->table, DOT_B, inst, 16, 8, 8, 1, 1);
    for (int lane = 0; lane < 32; lane++) {
        int group = lane >> 2, in_group = lane % 4;
        for (int i = 0; i < 4; i++)
            check_fragment(a, i, lane, i == 0 || i == 2 ? group : group + 8,
                           i < 2 ? in_group : in_group + 4);
        for (int i = 0; i < 2; i++)
            check_fragment(b, i, lane, i == 0 ? in_group : in_group + 4, group);
    }
}

/* ---- wgmma: the manual's tables for m64nN, a warpgroup's thread and its registers ---- */

static void check_group(const Layout *layout, int reg, int thread, int row, int column)
{
    int32_t at[LAYOUT_RANK];
    layout_coordinates(layout, reg, thread % 32, thread / 32, at);
    assert_int_equal(at[0], row);
    assert_int_equal(at[1], column);
}

/* The accumulator, of 40 columns, which 8 does not divide into a power of two. */
static void test_wgmma_sums(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {16, 8, 16, 16};
    const Layout *c = layout_mma(fixture->table, DOT_C, inst, 64, 40, 16, 4, 1);
    assert_int_equal(layout_registers(c), 20);
    for (int thread = 0; thread < 128; thread++)
        for (int i = 0; i < 20; i++)
            check_group(c, i, thread, thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8,
                        i / 4 * 8 + thread % 4 * 2 + i % 2);
}

/* a in registers: 32 bytes of k, words of 4 bytes, of elements of 1, 2, 4 bytes. */
static void test_wgmma_left(void **state)
{
    Fixture *fixture = *state;
    for (int bytes = 1; bytes <= 4; bytes *= 2) {
        const int word = 4 / bytes;
        MmaShape inst = {16, 8, 8 * word, 8 * bytes};
        const Layout *a = layout_mma(fixture->table, DOT_A, inst, 64, 8, 8 * word, 4, 1);
        assert_int_equal(layout_registers(a), 4 * word);
        for (int thread = 0; thread < 128; thread++)
            for (int i = 0; i < 4 * word; i++)
                check_group(a, i, thread, thread / 32 * 16 + thread % 32 / 4 + i / word % 2 * 8,
                            (i / word / 2 * 4 + thread % 4) * word + i % word);
    }
}

/* f64 m8n8k4: one element of a and b a thread. */
static void test_mma_fragments_64(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {8, 8, 4, 64};
    const Layout *a = layout_mma(fixture->table, DOT_A, inst, 8, 8, 4, 1, 1);
    const Layout *b = layout_mma(fixture->table, DOT_B, inst, 8, 8, 4, 1, 1);
    const Layout *c = layout_mma(fixture->table, DOT_C, inst, 8, 8, 4, 1, 1);
    for (int lane = 0; lane < 32; lane++) {
        check_fragment(a, 0, lane, lane >> 2, lane % 4);
        check_fragment(b, 0, lane, lane % 4, lane >> 2);
        for (int i = 0; i < 2; i++) check_fragment(c, i, lane, lane >> 2, lane % 4 * 2 + i);
    }
}

/* A dot done the way the lowering does it: word groups c[m * N + n], a[k * M + m], b[k * N + n]. */
static void test_mma_register_order(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {16, 8, 16, 16};
    const Layout *a = layout_mma(fixture->table, DOT_A, inst, 128, 64, 64, 2, 2);
    const Layout *b = layout_mma(fixture->table, DOT_B, inst, 128, 64, 64, 2, 2);
    const Layout *c = layout_mma(fixture->table, DOT_C, inst, 128, 64, 64, 2, 2);
    int ms = 4, ns = 4, ks = 4;
    assert_int_equal(layout_registers(a), 8 * ms * ks);
    assert_int_equal(layout_registers(b), 4 * ns * ks);
    assert_int_equal(layout_registers(c), 4 * ms * ns);
    assert_int_equal(layout_replica_mask(a), 1 << 5); /* warps along n come first */
    assert_int_equal(layout_replica_mask(b), 1 << 6);
    for (int warp = 0; warp < 4; warp++)
        for (int i = 0; i < ms * ns * ks; i++) {
            int m = i / (ns * ks), n = i / ks % ns, k = i % ks;
            int32_t at_a[LAYOUT_RANK], at_b[LAYOUT_RANK], at_c[LAYOUT_RANK];
            layout_coordinates(a, 8 * (k * ms + m), 0, warp, at_a);
            layout_coordinates(b, 4 * (k * ns + n), 0, warp, at_b);
            layout_coordinates(c, 4 * (m * ns + n), 0, warp, at_c);
            assert_int_equal(at_a[0], at_c[0]);
            assert_int_equal(at_b[1], at_c[1]);
            assert_int_equal(at_a[1], at_b[0]);
            assert_int_equal(at_a[1], k * 16);
            assert_int_equal(at_c[0], m * 32 + (warp >> 1) * 16);
            assert_int_equal(at_c[1], n * 16 + (warp & 1) * 8);
        }
}

static void test_mma_covers_once(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 200; i++) {
        int32_t shape[2];
        random_shape(fixture, 2, shape);
        check_covers(random_mma(fixture, 2, shape));
    }
    MmaShape inst = {16, 8, 16, 16};
    const Layout *c = layout_mma(fixture->table, DOT_C, inst, 48, 100, 16, 1, 1);
    assert_int_equal(layout_registers(c), 4 * 3 * 13); /* padded to 104 only */
    c = layout_mma(fixture->table, DOT_C, inst, 48, 96, 16, 1, 4);
    assert_int_equal(layout_registers(c), 4 * 3 * 3);
}

/* ---- products by multiplying and adding ---- */

/* How many different coordinates of `dim` a thread's registers have. */
static int extent_of_thread(const Layout *layout, int dim)
{
    bool seen[256] = {false};
    int count = 0;
    for (int reg = 0; reg < layout_registers(layout); reg++) {
        int32_t at[LAYOUT_RANK];
        layout_coordinates(layout, reg, 0, 0, at);
        count += !seen[at[dim]];
        seen[at[dim]] = true;
    }
    return count;
}

/* A thread's part is as square as may be; its vectors come first, and lanes read 8 of them side by
 * side. */
static void test_fma_sums(void **state)
{
    LayoutTable *table = ((Fixture *)*state)->table;
    static const int cases[][7] = {/* m, n, vectors, warps, rows, columns a thread */
                                   {128, 128, 1, 4, 8, 8, 8},  {128, 128, 4, 4, 8, 8, 8},
                                   {128, 128, 4, 1, 4, 16, 8}, {64, 128, 1, 4, 4, 8, 8},
                                   {128, 32, 1, 4, 4, 8, 4},   {96, 48, 1, 4, 1, 12, 12},
                                   {32, 32, 1, 4, 8, 1, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *row = cases[i], *vectors = row + 2;
        const Layout *layout = layout_fma_sums(table, (int32_t[]){row[0], row[1]}, vectors, row[4]);
        assert_non_null(layout);
        check_covers(layout);
        assert_int_equal(layout_replica_mask(layout), 0);
        assert_int_equal(extent_of_thread(layout, 0), row[5]);
        assert_int_equal(extent_of_thread(layout, 1), row[6]);
        assert_int_equal(layout_basis(layout, LAYOUT_LANE, 0)[1], vectors[1]);
        assert_int_equal(layout_basis(layout, LAYOUT_LANE, 1)[0], vectors[0]);
        for (int outer = 0; outer < 2; outer++) {
            const Layout *operand = layout_fma_operand(table, layout, 16, outer, true);
            check_covers(operand);
            assert_int_equal(layout_registers(operand), 16 * row[5 + outer]);
            assert_int_equal(layout_basis(operand, LAYOUT_REGISTER, 0)[1 - outer], 1);
        }
    }
    assert_null(layout_fma_sums(table, (int32_t[]){8, 8}, (int[]){1, 1}, 4));
    assert_null(layout_fma_sums(table, (int32_t[]){100, 100}, (int[]){1, 1}, 4));
}

/* What TMA can fill at once: swizzled panels, and rows as they are. */
static void test_boxes(void **state)
{
    LayoutTable *table = ((Fixture *)*state)->table;
    const int order[] = {1, 0};
    static const int32_t shapes[][6] = {
        /* rows, columns, bits; of panels: bytes, columns; of rows as they are: columns */
        {64, 64, 16, 128, 64, 64},  {64, 32, 16, 64, 32, 32}, {16, 256, 32, 128, 32, 256},
        {16, 512, 32, 128, 32, 0},  {8, 8, 16, 0, 0, 8},      {24, 4, 16, 0, 0, 0},
        {32, 128, 8, 128, 128, 128}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const int32_t *row = shapes[i];
        const Layout *panels = layout_panels(table, 2, row, row[2]);
        const LayoutBoxes cut = panels ? layout_boxes(panels, row[2]) : (LayoutBoxes){.swizzle = 0};
        assert_int_equal(cut.possible, row[3] != 0);
        assert_int_equal(cut.swizzle, row[3]);
        assert_int_equal(cut.columns, row[4]);
        const LayoutBoxes whole = layout_boxes(layout_row_major(table, 2, row, order), row[2]);
        assert_int_equal(whole.possible, row[5] != 0);
        if (whole.possible) assert_int_equal(whole.swizzle, 16);
        if (whole.possible) assert_int_equal(whole.columns, row[5]);
    }
}

/* ---- shared ---- */

static void test_shared_round_trips(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 200; i++) {
        int32_t shape[LAYOUT_RANK], at[LAYOUT_RANK], back[LAYOUT_RANK];
        int rank = random_below(fixture, 4);
        random_shape(fixture, rank, shape);
        const Layout *layout = random_shared(fixture, rank, shape);
        int64_t count = element_count(layout), size = layout_size(layout);
        assert_int_equal(size, layout_registers(layout));
        assert_true(count <= size);
        for (int64_t element = 0; element < count; element++) {
            split_index(layout, element, at);
            int64_t offset = layout_offset(layout, at);
            assert_in_range(offset, 0, size - 1);
            layout_coordinates(layout, (int)offset, 0, 0, back);
            assert_memory_equal(at, back, (size_t)rank * sizeof *at);
        }
    }
}

static void test_invert_agrees_with_offset(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 100; i++) {
        int32_t shape[LAYOUT_RANK], at[LAYOUT_RANK], inverse[LAYOUT_RANK][LAYOUT_BITS];
        random_shape(fixture, 2, shape);
        const Layout *layout = random_shared(fixture, 2, shape);
        assert_true(layout_invert(layout, inverse));
        for (int64_t element = 0; element < element_count(layout); element += 7) {
            split_index(layout, element, at);
            int64_t offset = 0, repeat = 0;
            for (int d = 0; d < 2; d++) {
                repeat = repeat * layout->repeat[d] + at[d] / layout->block[d];
                for (int bit = 0; 1 << bit < layout->block[d]; bit++)
                    offset ^= at[d] >> bit & 1 ? inverse[d][bit] : 0;
            }
            assert_int_equal(offset + (repeat << layout->bits[LAYOUT_REGISTER]),
                             layout_offset(layout, at));
        }
    }
    int32_t inverse[LAYOUT_RANK][LAYOUT_BITS];
    const int order[] = {0};
    assert_false(
        layout_invert(layout_blocked(fixture->table, 1, (int32_t[]){8}, order, 1, 1), inverse));
}

static void test_row_major_is_row_major(void **state)
{
    Fixture *fixture = *state;
    const int rows[] = {1, 0}, columns[] = {0, 1}, one[] = {0};
    const Layout *layout = layout_row_major(fixture->table, 2, (int32_t[]){16, 64}, rows);
    assert_int_equal(layout_offset(layout, (int32_t[]){3, 5}), 3 * 64 + 5);
    layout = layout_row_major(fixture->table, 2, (int32_t[]){16, 64}, columns);
    assert_int_equal(layout_offset(layout, (int32_t[]){3, 5}), 5 * 16 + 3);
    layout = layout_row_major(fixture->table, 1, (int32_t[]){1000}, one);
    assert_true(layout_size(layout) < 1016);
    for (int32_t i = 0; i < 1000; i++) assert_int_equal(layout_offset(layout, &i), i);
}

/* Eight accesses of 16 bytes meet no conflict if they touch all 8 groups of 4 banks. */
static void check_banks(const Layout *shared, int element_bits, int32_t at[8][LAYOUT_RANK])
{
    unsigned banks = 0;
    for (int i = 0; i < 8; i++) {
        int64_t byte = layout_offset(shared, at[i]) * element_bits / 8;
        assert_int_equal(byte % 16, 0);
        banks |= 1u << (byte / 16 % 8);
    }
    assert_int_equal(banks, 0xff);
}

static void check_swizzle_rows(const Layout *shared, int element_bits)
{
    int chunk = 128 / element_bits;
    for (int row = 0; row < shared->shape[0]; row += 8)
        for (int column = 0; column < shared->shape[1]; column += chunk) {
            int32_t at[8][LAYOUT_RANK] = {0};
            for (int i = 0; i < 8; i++) {
                at[i][0] = row + i;
                at[i][1] = column;
            }
            check_banks(shared, element_bits, at);
        }
}

static void check_swizzle_vectors(LayoutTable *table, const Layout *shared, int element_bits)
{
    const int order[] = {1, 0};
    int chunk = 128 / element_bits;
    const Layout *registers = layout_blocked(table, 2, shared->shape, order, chunk, 4);
    assert_int_equal(layout_shared_vector(registers, shared, chunk), chunk);
    for (int reg = 0; reg < layout_registers(registers); reg += chunk)
        for (int warp = 0; warp < 4; warp++)
            for (int lane = 0; lane < 32; lane += 8) {
                int32_t at[8][LAYOUT_RANK];
                for (int i = 0; i < 8; i++)
                    layout_coordinates(registers, reg, lane + i, warp, at[i]);
                check_banks(shared, element_bits, at);
            }
}

static void test_swizzled_has_no_conflicts(void **state)
{
    Fixture *fixture = *state;
    const int order[] = {1, 0};
    for (int element_bits = 8; element_bits <= 32; element_bits *= 2)
        for (int bytes = 16; bytes <= 512; bytes *= 2)
            for (int rows = 32; rows <= 128; rows *= 2)
                for (int times = 1; times <= 3; times++) {
                    int32_t shape[] = {rows, bytes * 8 / element_bits * times};
                    const Layout *shared =
                        layout_swizzled(fixture->table, 2, shape, order, element_bits);
                    check_swizzle_rows(shared, element_bits);
                    if (shape[0] * shape[1] * element_bits / 128 >= 128 && times != 3)
                        check_swizzle_vectors(fixture->table, shared, element_bits);
                    if (times == 3 && rows * bytes >= 128 * 16)
                        check_swizzle_vectors(fixture->table, shared, element_bits);
                }
}

static void test_swizzled_wastes_little(void **state)
{
    Fixture *fixture = *state;
    const int order[] = {2, 1, 0};
    const Layout *layout = layout_swizzled(fixture->table, 3, (int32_t[]){3, 33, 96}, order, 16);
    assert_int_equal(layout_size(layout), 3 * 40 * 96);
    /* The slowest dimension's elements lie one after another: a ring of stages. */
    assert_int_equal(layout_offset(layout, (int32_t[]){2, 5, 70}) -
                         layout_offset(layout, (int32_t[]){1, 5, 70}),
                     40 * 96);
}

/* ---- text ---- */

static void test_print_reads_back(void **state)
{
    Fixture *fixture = *state;
    for (int i = 0; i < 300; i++) {
        int32_t shape[LAYOUT_RANK];
        int rank = random_below(fixture, 4);
        random_shape(fixture, rank, shape);
        const Layout *layout =
            i % 3 ? random_layout(fixture, rank, shape) : random_shared(fixture, rank, shape);
        Buf text = {0}, again = {0};
        layout_print(layout, &text);
        const char *at = text.data;
        const Layout *read = layout_read(fixture->table, &at);
        assert_ptr_equal(read, layout);
        assert_int_equal(*at, 0);
        layout_print(read, &again);
        assert_string_equal(text.data, again.data);
        buf_free(&text);
        buf_free(&again);
    }
}

static void test_print_form(void **state)
{
    Fixture *fixture = *state;
    MmaShape inst = {16, 8, 16, 16};
    Buf text = {0};
    layout_print(layout_mma(fixture->table, DOT_C, inst, 16, 16, 16, 1, 2), &text);
    assert_string_equal(text.data, "{shape [16, 16] block [16, 16] reg [[0,1],[8,0]] "
                                   "lane [[0,2],[0,4],[1,0],[2,0],[4,0]] warp [[0,8]]}");
    buf_free(&text);
}

static void test_read_refuses(void **state)
{
    Fixture *fixture = *state;
    static const char *const wrong[] = {
        "",
        "{shape [2] block [2]}",               /* not covered */
        "{shape [2] block [2] reg [[1],[1]]}", /* twice */
        "{shape [2] block [2] reg [[2]]}",     /* outside */
        "{shape [3] block [3] reg [[1],[2]]}", /* no power of two */
        "{shape [0] block [1]}",
        "{shape [2, 2] block [2] reg [[1]]}",
        "{shape [2] block [2] reg [[1,0]]}",
        "{shape [2] block [2] reg [[1]]",
        "{shape [99999999999] block [2] reg [[1]]}",
        "{shape [2000000000, 2000000000] block [2, 1] reg [[1, 0]]}",
        "{shape [1,1,1,1,1,1,1,1,1] block [1]}",
        "{shape [2] block [2] reg [[-1]]}",
        "{shape [1073741824, 1073741824] block [1073741824, 1073741824]}",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const char *at = wrong[i];
        assert_null(layout_read(fixture->table, &at));
    }
    const char *at = "{shape [4] black [4]}";
    assert_null(layout_read(fixture->table, &at));
    assert_string_equal(at, "black [4]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_intern_compares_what_matters),
        TEST(test_intern_absorbs_repeats),
        TEST(test_repeats_number_registers),
        TEST(test_blocked_covers_once),
        TEST(test_blocked_blocks),
        TEST(test_mma_fragments_16),
        TEST(test_mma_fragments_8),
        TEST(test_mma_fragments_32),
        TEST(test_mma_fragments_64),
        TEST(test_wgmma_sums),
        TEST(test_wgmma_left),
        TEST(test_mma_register_order),
        TEST(test_mma_covers_once),
        TEST(test_fma_sums),
        TEST(test_boxes),
        TEST(test_shared_round_trips),
        TEST(test_invert_agrees_with_offset),
        TEST(test_row_major_is_row_major),
        TEST(test_swizzled_has_no_conflicts),
        TEST(test_swizzled_wastes_little),
        TEST(test_print_reads_back),
        TEST(test_print_form),
        TEST(test_read_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
