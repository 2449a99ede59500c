/* emulator_test.c: the emulator, driven by coroutines written by hand in the shape that LLVM gives
 * them: a frame whose first word is the function that resumes it, NULL once it has ended. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "emulator/emulator.h" /* for the matrix unit's two versions; all else is the interface */

/* ---- coroutines ---- */

typedef struct Coroutine Coroutine;
struct Coroutine {
    void (*resume)(Coroutine *);
    tile_emu_thread *t;
    const void *const *parameters;
    void (*body)(Coroutine *);
    int state;
    uint32_t i;
};

static void *start(tile_emu_thread *t, const void *const *parameters, void (*body)(Coroutine *))
{
    Coroutine *c = tile_emu_frame(t, sizeof *c);
    assert_int_equal((uintptr_t)c % 64, 0);
    *c = (Coroutine){.resume = body, .t = t, .parameters = parameters};
    return c;
}

/* KERNEL(name) { BEGIN ... SUSPEND(op, site) ... END } */
#define KERNEL(name)                                                                               \
    static void name##_body(Coroutine *c);                                                         \
    static void *name(tile_emu_thread *t, const void *const *p)                                    \
    {                                                                                              \
        return start(t, p, name##_body);                                                           \
    }                                                                                              \
    static void name##_body(Coroutine *c)
#define BEGIN                                                                                      \
    switch (c->state) {                                                                            \
    case 0:
#define SUSPEND(operation, place)                                                                  \
    do {                                                                                           \
        c->state = __LINE__;                                                                       \
        c->t->op = (operation);                                                                    \
        c->t->site = (place);                                                                      \
        return;                                                                                    \
    case __LINE__:;                                                                                \
    } while (0)
#define END                                                                                        \
    }                                                                                              \
    c->resume = NULL;

enum { SITES = 64 };
static tile_emu_site sites[SITES];

static void *at(Coroutine *c, void *address, uint32_t bytes, uint32_t kind, uint32_t space,
                uint32_t site)
{
    return c->t->checked ? tile_emu_access(c->t, address, bytes, kind, space, site) : address;
}

static uint32_t load_shared(Coroutine *c, uint32_t offset, uint32_t site)
{
    uint32_t value;
    memcpy(&value, at(c, c->t->shared + offset, 4, TILE_EMU_READ, TILE_EMU_SHARED, site), 4);
    return value;
}

static void store_shared(Coroutine *c, uint32_t offset, uint32_t value, uint32_t site)
{
    memcpy(at(c, c->t->shared + offset, 4, TILE_EMU_WRITE, TILE_EMU_SHARED, site), &value, 4);
}

static uint32_t load_global(Coroutine *c, const uint32_t *from, uint32_t site)
{
    uint32_t value;
    memcpy(&value, at(c, (void *)(uintptr_t)from, 4, TILE_EMU_READ, TILE_EMU_GLOBAL, site), 4);
    return value;
}

static void store_global(Coroutine *c, uint32_t *to, uint32_t value, uint32_t site)
{
    memcpy(at(c, to, 4, TILE_EMU_WRITE, TILE_EMU_GLOBAL, site), &value, 4);
}

enum {
    ATOMIC_ACQ_REL_GPU = TILE_EMU_ATOMIC |
                         (TILE_EMU_ACQUIRE | TILE_EMU_RELEASE) << TILE_EMU_KIND_BITS |
                         TILE_EMU_GPU << TILE_EMU_SCOPE_BITS
};

static uint32_t add_global(Coroutine *c, uint32_t *to, uint32_t value, uint32_t site)
{
    uint32_t *place = at(c, to, 4, ATOMIC_ACQ_REL_GPU, TILE_EMU_GLOBAL, site);
    return __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);
}

/* ---- launches ---- */

typedef void *Ramp(tile_emu_thread *, const void *const *);

static tile_status launch_grid(Ramp *ramp, uint32_t warps, uint32_t shared, tile_grid grid,
                               const void *const *parameters)
{
    tile_entry entry = {.name = "kernel", .warps = warps, .shared_bytes = shared};
    memcpy(&entry.emulated, &ramp, sizeof ramp);
    tile_image image = {.target = "emulator", .sites = sites, .site_count = SITES};
    return tile_emulator_run(&image, &entry, &grid, parameters);
}

static tile_status launch(Ramp *ramp, uint32_t warps, uint32_t shared, uint32_t blocks,
                          void *pointer)
{
    const void *parameters[] = {&pointer};
    return launch_grid(ramp, warps, shared, (tile_grid){blocks, 1, 1}, parameters);
}

static void *pointer_of(const Coroutine *c)
{
    void *pointer;
    memcpy(&pointer, c->parameters[0], sizeof pointer);
    return pointer;
}

static void assert_fault(tile_status status, const char *text)
{
    if (status != TILE_ERROR_FAULT || !strstr(tile_last_error(), text))
        fail_msg("status %d, wanted '%s' in: %s", (int)status, text, tile_last_error());
}

static void assert_fine(tile_status status)
{
    if (status != TILE_OK) fail_msg("status %d: %s", (int)status, tile_last_error());
}

static uint32_t *allocate(size_t words, const uint32_t *from)
{
    void *memory;
    assert_fine(tile_alloc(&memory, words * 4));
    if (from) assert_fine(tile_copy_in(memory, from, words * 4, NULL));
    return memory;
}

static tile_emulator_count count_at(uint32_t site, uint32_t operation)
{
    static tile_emulator_count counts[SITES * 4];
    size_t count = tile_emulator_statistics(counts, SITES * 4);
    for (size_t i = 0; i < count; i++)
        if (counts[i].line == site && counts[i].operation == operation) return counts[i];
    fail_msg("no count of %s at line %u", tile_emulator_operation_name(operation), site);
    return (tile_emulator_count){0};
}

static int set_up(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SITES; i++) sites[i] = (tile_emu_site){"kernel.tile", i, 5};
    tile_emulator_set_checked(1);
    return tile_set_device("emulator");
}

/* ---- barriers and shuffles ---- */

/* Each thread reads what its right neighbour wrote. */
KERNEL(rotate)
{
    uint32_t *out = pointer_of(c);
    uint32_t count = 64;
    BEGIN
    store_shared(c, c->t->index * 4, c->t->index + 100 * c->t->block[0], 1);
    SUSPEND(TILE_EMU_BARRIER, 2);
    store_global(c, out + c->t->block[0] * count + c->t->index,
                 load_shared(c, (c->t->index + 1) % count * 4, 3), 4);
    END
}

static void test_barrier(void **state)
{
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        tile_emulator_set_checked(checked);
        uint32_t *out = allocate(64 * 37, NULL);
        assert_fine(launch(rotate, 2, 256, 37, out));
        for (uint32_t i = 0; i < 64 * 37; i++)
            assert_int_equal(out[i], (i % 64 + 1) % 64 + 100 * (i / 64));
        tile_free(out);
    }
    assert_int_equal(count_at(2, TILE_EMULATOR_BARRIER).executions, 2 * 37);
    assert_int_equal(count_at(1, TILE_EMULATOR_SHARED_WRITE).executions, 2 * 37);
    assert_int_equal(count_at(3, TILE_EMULATOR_SHARED_READ).bank_conflicts, 0);
}

/* Block indices in three dimensions. */
KERNEL(indices)
{
    uint32_t *out = pointer_of(c);
    BEGIN
    if (c->t->index == 0) {
        uint32_t block =
            (c->t->block[2] * c->t->grid[1] + c->t->block[1]) * c->t->grid[0] + c->t->block[0];
        add_global(c, out + block, 1, 1);
    }
    END
}

static void test_grid(void **state)
{
    (void)state;
    uint32_t zeros[24] = {0}, *out = allocate(24, zeros);
    const void *parameters[] = {&out};
    tile_emulator_set_checked(0);
    assert_fine(launch_grid(indices, 1, 0, (tile_grid){2, 3, 4}, parameters));
    tile_emulator_set_checked(1);
    assert_fine(launch_grid(indices, 1, 0, (tile_grid){2, 3, 4}, parameters));
    for (int i = 0; i < 24; i++) assert_int_equal(out[i], 2);
    assert_fine(launch_grid(indices, 1, 0, (tile_grid){0, 3, 4}, parameters));
    tile_free(out);
}

KERNEL(shuffles)
{
    uint32_t *out = pointer_of(c);
    BEGIN
    for (c->i = 0; c->i < 4; c->i++) {
        c->t->in[0] = 1000 + c->t->index;
        c->t->in[1] = c->i == TILE_EMU_SHUFFLE_IDX ? 7 : 5;
        c->t->mode = c->i;
        SUSPEND(TILE_EMU_SHUFFLE, 1);
        out[c->i * 32 + c->t->index] = c->t->out[0];
    }
    END
}

static void test_shuffle(void **state)
{
    (void)state;
    uint32_t out[4][32];
    assert_fine(launch(shuffles, 1, 0, 1, out));
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(out[TILE_EMU_SHUFFLE_IDX][i], 1007);
        assert_int_equal(out[TILE_EMU_SHUFFLE_UP][i], 1000 + (i >= 5 ? i - 5 : i));
        assert_int_equal(out[TILE_EMU_SHUFFLE_DOWN][i], 1000 + (i + 5 < 32 ? i + 5 : i));
        assert_int_equal(out[TILE_EMU_SHUFFLE_XOR][i], 1000 + (i ^ 5));
    }
    assert_int_equal(count_at(1, TILE_EMULATOR_SHUFFLE).executions, 4);
}

KERNEL(votes)
{
    uint32_t *out = pointer_of(c);
    BEGIN
    c->t->in[0] = c->t->index % 3 == 0 ? 7 : 0;
    SUSPEND(TILE_EMU_VOTE, 1);
    out[c->t->index] = c->t->out[0];
    END
}

static void test_vote(void **state)
{
    (void)state;
    uint32_t out[64];
    assert_fine(launch(votes, 2, 0, 1, out));
    for (uint32_t i = 0; i < 64; i++) assert_int_equal(out[i], i < 32 ? 0x49249249 : 0x92492492);
    assert_int_equal(count_at(1, TILE_EMULATOR_VOTE).executions, 2);
}

/* An index outside is reported where the launch is checked, and 0 takes its place. */
KERNEL(indices_checked)
{
    int64_t *out = pointer_of(c);
    BEGIN
    out[c->t->index] = tile_emu_index(c->t, (int64_t)c->t->index - 1, 30, 1, "'s'");
    END
}

static void test_index(void **state)
{
    (void)state;
    int64_t out[32];
    assert_fault(launch(indices_checked, 1, 0, 1, out), "out of bounds");
    assert_int_equal(out[0], 0);
    assert_int_equal(out[30], 29);
    assert_int_equal(out[31], 0);
}

/* ---- ldmatrix ---- */

typedef struct LoadMatrix {
    uint32_t count, transposed, out[32][4], stride, swizzled;
} LoadMatrix;

/* Rows of 16 bytes, `stride` bytes apart; element e of the memory holds e. Swizzled rows of 64
 * bytes have their 16-byte pieces permuted by half the row. */
KERNEL(load_matrix)
{
    LoadMatrix *test = pointer_of(c);
    uint32_t index = c->t->index, row = index;
    BEGIN
    for (c->i = index; c->i < test->stride * 32 / 4; c->i += 32)
        store_shared(c, c->i * 4, c->i * 2 | (c->i * 2 + 1) << 16, 1);
    SUSPEND(TILE_EMU_WARP_SYNC, 2);
    {
        uint32_t piece = test->swizzled ? row / 2 % 4 : 0;
        uint64_t address = (uint64_t)(uintptr_t)(c->t->shared + row * test->stride + piece * 16);
        memcpy(c->t->in, &address, 8);
        if (index >= 8 * test->count) memset(c->t->in, 0xee, 8); /* does not matter */
        c->t->in[2] = test->count;
        c->t->in[3] = test->transposed;
    }
    SUSPEND(TILE_EMU_LDMATRIX, 3);
    memcpy(test->out[index], c->t->out, 4 * test->count);
    END
}

static void check_load_matrix(uint32_t count, uint32_t transposed)
{
    LoadMatrix test = {.count = count, .transposed = transposed, .stride = 48};
    assert_fine(launch(load_matrix, 1, 48 * 32, 1, &test));
    for (uint32_t m = 0; m < count; m++) {
        for (uint32_t row = 0; row < 8; row++) {
            for (uint32_t column = 0; column < 8; column++) {
                uint32_t element = (8 * m + row) * 24 + column;
                uint32_t r = transposed ? column : row, k = transposed ? row : column;
                uint32_t word = test.out[r * 4 + k / 2][m];
                assert_int_equal(k % 2 ? word >> 16 : word & 0xffff, element);
            }
        }
    }
}

static void test_ldmatrix(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 4; count *= 2)
        for (uint32_t transposed = 0; transposed < 2; transposed++)
            check_load_matrix(count, transposed);
}

/* Rows of 64 bytes: 8 rows fall on half the banks twice over, 4 times in all; swizzled on each
 * once. */
static void test_ldmatrix_conflicts(void **state)
{
    (void)state;
    LoadMatrix test = {.count = 4, .stride = 64};
    assert_fine(launch(load_matrix, 1, 64 * 32, 1, &test));
    tile_emulator_count count = count_at(3, TILE_EMULATOR_LDMATRIX);
    assert_int_equal(count.executions, 1);
    assert_int_equal(count.ideal, 4);
    assert_int_equal(count.bank_conflicts, 4 * 3);
    test.swizzled = 1;
    assert_fine(launch(load_matrix, 1, 64 * 32, 1, &test));
    assert_int_equal(count_at(3, TILE_EMULATOR_LDMATRIX).bank_conflicts, 0);
}

typedef struct StoreMatrix {
    uint32_t count, transposed;
    uint16_t out[32][8];
} StoreMatrix;

/* Rows of 16 bytes, 48 bytes apart; lane l's word m holds 256 l + 2 m and the next number. */
KERNEL(store_matrix)
{
    StoreMatrix *test = pointer_of(c);
    uint32_t index = c->t->index;
    BEGIN
    {
        uint64_t address = (uint64_t)(uintptr_t)(c->t->shared + index * 48);
        memcpy(c->t->in, &address, 8);
        if (index >= 8 * test->count) memset(c->t->in, 0xee, 8); /* does not matter */
        c->t->in[2] = test->count;
        c->t->in[3] = test->transposed;
        for (uint32_t m = 0; m < 4; m++)
            c->t->in[4 + m] = (256 * index + 2 * m) | (256 * index + 2 * m + 1) << 16;
    }
    SUSPEND(TILE_EMU_STMATRIX, 3);
    SUSPEND(TILE_EMU_WARP_SYNC, 4);
    if (index < 8 * test->count) memcpy(test->out[index], c->t->shared + index * 48, 16);
    END
}

/* What ldmatrix would give each lane is what the lane had. */
static void test_stmatrix(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 4; count *= 2)
        for (uint32_t transposed = 0; transposed < 2; transposed++) {
            StoreMatrix test = {.count = count, .transposed = transposed};
            assert_fine(launch(store_matrix, 1, 48 * 32, 1, &test));
            for (uint32_t at = 0; at < 64 * count; at++) {
                uint32_t row = at / 8 % 8, column = at % 8, m = at / 64;
                uint32_t i = transposed ? column : row, j = transposed ? row : column;
                assert_int_equal(test.out[at / 8][column], 256 * (4 * i + j / 2) + 2 * m + j % 2);
            }
        }
}

static void test_stmatrix_faults(void **state)
{
    (void)state;
    StoreMatrix test = {.count = 4};
    assert_fault(launch(store_matrix, 1, 48 * 31, 1, &test),
                 "kernel.tile:3:5: out of bounds: thread 31 of block (0, 0, 0) writes 16 bytes at "
                 "byte 1488");
}

KERNEL(load_matrix_outside)
{
    BEGIN
    {
        uint64_t address = (uint64_t)(uintptr_t)(c->t->shared + c->t->index * 16);
        memcpy(c->t->in, &address, 8);
        c->t->in[2] = 4, c->t->in[3] = 0;
    }
    SUSPEND(TILE_EMU_LDMATRIX, 3);
    END
}

static void test_ldmatrix_faults(void **state)
{
    (void)state;
    tile_status status = launch(load_matrix_outside, 1, 16 * 31, 1, NULL);
    assert_fault(
        status,
        "kernel.tile:3:5: out of bounds: thread 31 of block (0, 0, 0) reads 16 bytes at byte 496");
    assert_fault(status, "unwritten memory: thread 0");
}

/* ---- mma ---- */

enum { MAX_DEPTH = 32 };

typedef struct Product {
    uint32_t mode, depth;
    uint32_t a[16][MAX_DEPTH], b[MAX_DEPTH][8], c[16][8], d[16][8]; /* the elements' bits */
} Product;

/* Where element i of a lane's fragment is, by the formulas of the manual. */
typedef struct Place {
    uint32_t row, column;
} Place;

static Place a_place(const Product *p, uint32_t lane, uint32_t i)
{
    uint32_t group = lane >> 2, thread = lane % 4;
    if (p->depth == 16)
        return (Place){i < 2 || (i >= 4 && i < 6) ? group : group + 8,
                       thread * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
    if (p->depth == 8)
        return (Place){i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4};
    return (Place){i < 4 || (i >= 8 && i < 12) ? group : group + 8,
                   thread * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}

static Place b_place(const Product *p, uint32_t lane, uint32_t i)
{
    uint32_t group = lane >> 2, thread = lane % 4;
    if (p->depth == 16) return (Place){thread * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
    if (p->depth == 8) return (Place){i == 0 ? thread : thread + 4, group};
    return (Place){thread * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
}

static Place c_place(uint32_t lane, uint32_t i)
{
    return (Place){i < 2 ? lane >> 2 : (lane >> 2) + 8, lane % 4 * 2 + (i & 1)};
}

static uint32_t element_bits(const Product *p)
{
    return p->depth == 16 ? 16 : p->depth == 8 ? 32 : 8;
}

static void put(uint32_t *words, uint32_t bits, uint32_t i, uint32_t value)
{
    words[i * bits / 32] |= value << i * bits % 32;
}

static void fill_fragments(const Product *p, uint32_t lane, uint32_t *in)
{
    uint32_t bits = element_bits(p), c_bits = p->mode == TILE_EMU_MMA_M16N8K16_F16_F16 ? 16 : 32;
    memset(in, 0, TILE_EMU_IN_WORDS * 4);
    for (uint32_t i = 0; i < 4 * 32 / bits; i++)
        put(in, bits, i, p->a[a_place(p, lane, i).row][a_place(p, lane, i).column]);
    for (uint32_t i = 0; i < 2 * 32 / bits; i++)
        put(in + 4, bits, i, p->b[b_place(p, lane, i).row][b_place(p, lane, i).column]);
    for (uint32_t i = 0; i < 4; i++)
        put(in + 6, c_bits, i, p->c[c_place(lane, i).row][c_place(lane, i).column]);
}

KERNEL(multiply)
{
    Product *p = pointer_of(c);
    BEGIN
    fill_fragments(p, c->t->index, c->t->in);
    c->t->mode = p->mode;
    SUSPEND(TILE_EMU_MMA, 1);
    for (uint32_t i = 0; i < 4; i++) {
        Place place = c_place(c->t->index, i);
        uint32_t bits = p->mode == TILE_EMU_MMA_M16N8K16_F16_F16 ? 16 : 32;
        uint32_t word = c->t->out[i * bits / 32] >> i * bits % 32;
        p->d[place.row][place.column] = bits == 16 ? word & 0xffff : word;
    }
    END
}

static double f16_value(uint32_t bits)
{
    int exponent = bits >> 10 & 31;
    double magnitude = exponent == 31 ? (bits & 1023 ? NAN : INFINITY)
                       : exponent     ? ldexp(1024 + (bits & 1023), exponent - 25)
                                      : ldexp(bits & 1023, -24);
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double f32_value(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static double value_of(const Product *p, uint32_t bits)
{
    switch ((tile_emu_mma)p->mode) {
    case TILE_EMU_MMA_M16N8K16_F32_F16:
    case TILE_EMU_MMA_M16N8K16_F16_F16: return f16_value(bits);
    case TILE_EMU_MMA_M16N8K16_F32_BF16: return f32_value(bits << 16);
    case TILE_EMU_MMA_M16N8K8_F32_TF32: return f32_value(bits & 0xffffe000);
    case TILE_EMU_MMA_M16N8K32_S32_S8: return (int8_t)bits;
    case TILE_EMU_MMA_M16N8K32_S32_U8: return (uint8_t)bits;
    case TILE_EMU_MMA_M16N8K32_F32_E4M3:
        return (bits & 128 ? -1 : 1) * (bits & 0x78
                                            ? ldexp(8 + (bits & 7), (int)(bits >> 3 & 15) - 10)
                                            : ldexp(bits & 7, -9));
    case TILE_EMU_MMA_M16N8K32_F32_E5M2: return f16_value(bits << 8);
    case TILE_EMU_MMA_M16N8K8_F64_F64: break; /* test_mma_f64 */
    }
    return 0;
}

static bool has_integers(uint32_t mode)
{
    return mode == TILE_EMU_MMA_M16N8K32_S32_S8 || mode == TILE_EMU_MMA_M16N8K32_S32_U8;
}

static double result_of(const Product *p, uint32_t bits)
{
    if (has_integers(p->mode)) return (int32_t)bits;
    return p->mode == TILE_EMU_MMA_M16N8K16_F16_F16 ? f16_value(bits) : f32_value(bits);
}

static uint32_t seed = 1;
static uint32_t next_random(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

/* Numbers of moderate size of each type, as bits. */
static uint32_t random_element(uint32_t mode)
{
    uint32_t sign = next_random() & 1, fraction = next_random(), exponent = next_random() % 4;
    switch ((tile_emu_mma)mode) {
    case TILE_EMU_MMA_M16N8K16_F32_F16:
    case TILE_EMU_MMA_M16N8K16_F16_F16:
        return sign << 15 | (exponent + 12) << 10 | (fraction & 1023);
    case TILE_EMU_MMA_M16N8K16_F32_BF16:
        return sign << 15 | (exponent + 125) << 7 | (fraction & 127);
    case TILE_EMU_MMA_M16N8K8_F32_TF32:
        return sign << 31 | (exponent + 125) << 23 | (fraction & 0x7fffff);
    case TILE_EMU_MMA_M16N8K32_S32_S8:
    case TILE_EMU_MMA_M16N8K32_S32_U8: return fraction & 255;
    case TILE_EMU_MMA_M16N8K32_F32_E4M3: /* all but NaN */ return sign << 7 | fraction % 0x7f;
    case TILE_EMU_MMA_M16N8K32_F32_E5M2: return sign << 7 | (exponent + 14) << 2 | (fraction & 3);
    case TILE_EMU_MMA_M16N8K8_F64_F64: break; /* test_mma_f64 */
    }
    return 0;
}

static void fill_product(Product *p, uint32_t mode, uint32_t depth)
{
    *p = (Product){.mode = mode, .depth = depth};
    uint32_t c_mode = mode == TILE_EMU_MMA_M16N8K16_F16_F16 || has_integers(mode)
                          ? mode
                          : TILE_EMU_MMA_M16N8K8_F32_TF32;
    for (uint32_t i = 0; i < 16 * depth; i++) p->a[i / depth][i % depth] = random_element(mode);
    for (uint32_t i = 0; i < 8 * depth; i++) p->b[i / 8][i % 8] = random_element(mode);
    for (uint32_t i = 0; i < 128; i++) p->c[i / 8][i % 8] = random_element(c_mode);
}

static void check_product(const Product *p)
{
    for (uint32_t i = 0; i < 16; i++) {
        for (uint32_t j = 0; j < 8; j++) {
            double sum = result_of(p, p->c[i][j]), size = fabs(sum);
            for (uint32_t k = 0; k < p->depth; k++) {
                sum += value_of(p, p->a[i][k]) * value_of(p, p->b[k][j]);
                size += fabs(value_of(p, p->a[i][k]) * value_of(p, p->b[k][j]));
            }
            double got = result_of(p, p->d[i][j]);
            double bound = size * ldexp(p->depth + 1, -24);
            if (p->mode == TILE_EMU_MMA_M16N8K16_F16_F16) bound += fabs(sum) * ldexp(1, -11);
            if (has_integers(p->mode)) bound = 0;
            if (!(fabs(got - sum) <= bound))
                fail_msg("mode %u, (%u, %u): %.9g instead of %.9g", p->mode, i, j, got, sum);
        }
    }
}

static void test_mma(void **state)
{
    (void)state;
    static const uint32_t DEPTHS[] = {16, 16, 16, 8, 32, 32, 32, 32};
    Product p;
    for (uint32_t mode = 0; mode < 8; mode++) {
        for (int round = 0; round < 20; round++) {
            fill_product(&p, mode, DEPTHS[mode]);
            assert_fine(launch(multiply, 1, 0, 1, &p));
            check_product(&p);
        }
    }
}

/* ---- f64: two words an element, at the places of tf32 ---- */

typedef struct WideProduct {
    double a[16][8], b[8][8], c[16][8], d[16][8];
} WideProduct;

KERNEL(multiply_wide)
{
    static const Product places = {.depth = 8};
    WideProduct *p = pointer_of(c);
    double in[10];
    BEGIN
    for (uint32_t i = 0; i < 4; i++) {
        const Place a = a_place(&places, c->t->index, i), sum = c_place(c->t->index, i);
        in[i] = p->a[a.row][a.column];
        in[6 + i] = p->c[sum.row][sum.column];
    }
    for (uint32_t i = 0; i < 2; i++) {
        const Place b = b_place(&places, c->t->index, i);
        in[4 + i] = p->b[b.row][b.column];
    }
    memcpy(c->t->in, in, sizeof in);
    c->t->mode = TILE_EMU_MMA_M16N8K8_F64_F64;
    SUSPEND(TILE_EMU_MMA, 1);
    for (uint32_t i = 0; i < 4; i++) {
        const Place place = c_place(c->t->index, i);
        memcpy(&p->d[place.row][place.column], c->t->out + 2 * i, 8);
    }
    END
}

static double random_f64(void)
{
    return ldexp(next_random(), -24) + ldexp(next_random(), -48) - 0.5;
}

static void test_mma_f64(void **state)
{
    (void)state;
    WideProduct p;
    for (int i = 0; i < 128; i++) {
        p.a[i / 8][i % 8] = random_f64();
        p.c[i / 8][i % 8] = random_f64();
        if (i < 64) p.b[i / 8][i % 8] = random_f64();
    }
    assert_fine(launch(multiply_wide, 1, 0, 1, &p));
    for (int i = 0; i < 128; i++) {
        double sum = p.c[i / 8][i % 8];
        for (int k = 0; k < 8; k++) sum += p.a[i / 8][k] * p.b[k][i % 8];
        assert_true(fabs(p.d[i / 8][i % 8] - sum) <= 1e-15);
    }
}

/* One element at a time: a[0][0] b[0][0] + c[0][0]. */
static uint32_t multiply_one(uint32_t mode, uint32_t a, uint32_t b, uint32_t c)
{
    Product p = {.mode = mode, .depth = 16};
    p.a[0][0] = a, p.b[0][0] = b, p.c[0][0] = c;
    assert_fine(launch(multiply, 1, 0, 1, &p));
    return p.d[0][0];
}

/* Every f16 goes in and comes out unchanged, subnormals and infinities included. */
static void test_mma_f16_values(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x10000; bits += 128 / 2) {
        Product p = {.mode = TILE_EMU_MMA_M16N8K16_F16_F16, .depth = 16};
        for (uint32_t i = 0; i < 64; i++) p.a[i / 8][i % 8] = bits + i;
        for (uint32_t j = 0; j < 8; j++) p.b[j][j] = 0x3c00;
        bool infinite = (bits & 0x7fff) + 63 >= 0x7c00;
        if (infinite) memset(p.a[0] + 1, 0, 7 * 4); /* 0 times infinity is no number */
        assert_fine(launch(multiply, 1, 0, 1, &p));
        for (uint32_t i = 0; i < 64 && !infinite; i++) {
            uint32_t expected = bits + i == 0x8000 ? 0 : bits + i; /* +0 - 0 is +0 */
            assert_int_equal(p.d[i / 8][i % 8], expected);
        }
    }
    assert_int_equal(multiply_one(TILE_EMU_MMA_M16N8K16_F32_F16, 0x7bff, 0x7bff, 0), 0x4f7fc004);
}

static void test_mma_special(void **state)
{
    (void)state;
    uint32_t f32 = TILE_EMU_MMA_M16N8K16_F32_F16, f16 = TILE_EMU_MMA_M16N8K16_F16_F16;
    assert_int_equal(multiply_one(f32, 0x7c00, 0x3c00, 0), 0x7f800000); /* inf * 1 */
    assert_int_equal(multiply_one(f32, 0x7c00, 0x0000, 0), 0x7fffffff); /* inf * 0 */
    assert_int_equal(multiply_one(f32, 0xfe01, 0x3c00, 0), 0x7fffffff); /* NaN */
    assert_int_equal(multiply_one(f32, 0x0001, 0x0001, 0), 0x27800000); /* 2^-48 */
    assert_int_equal(multiply_one(f16, 0x7c00, 0x0000, 0), 0x7fff);
    assert_int_equal(multiply_one(f16, 0x7bff, 0x4000, 0), 0x7c00);      /* 131008 is too large */
    assert_int_equal(multiply_one(f16, 0x7bff, 0x3c00, 0x4b80), 0x7bff); /* 65519 rounds down */
    assert_int_equal(multiply_one(f16, 0x7bff, 0x3c00, 0x4c00), 0x7c00); /* 65520 rounds up */
    assert_int_equal(multiply_one(f16, 0x0001, 0x3800, 0), 0x0000); /* half of the least: to even */
    assert_int_equal(multiply_one(f16, 0x0003, 0x3800, 0), 0x0002); /* 1.5 of it: to even */
    assert_int_equal(multiply_one(f16, 0x3c01, 0x3c01, 0), 0x3c02);
}

/* Any bits at all, NaNs and infinities too, give the same bits on every processor. */
static void test_mma_versions(void **state)
{
    (void)state;
    static Thread lanes[LANES], portable[LANES];
    for (uint32_t round = 0; round < 2000; round++) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t i = 0; i < 10; i++)
                lanes[lane].abi.in[i] = next_random() ^ next_random() << 16;
        memcpy(portable, lanes, sizeof lanes);
        tile_emu_choose_matrix()(lanes, round % 5);
        tile_emu_matrix_portable(portable, round % 5);
        assert_memory_equal(lanes, portable, sizeof lanes);
    }
}

/* ---- races ---- */

/* Threads write a word, pass an operation of some kind or none, and read another thread's. */
typedef struct Exchange {
    uint32_t kind, distance;
} Exchange;

/* Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2 (site 2): each reads what its
 * neighbour in the group wrote. `distance` threads are waited for; `kind` 1: the groups read each
 * other's. */
KERNEL(meet)
{
    const Exchange *test = pointer_of(c);
    uint32_t group = c->t->index / 64, from = (c->t->index + 32) % 64 + (group ^ test->kind) * 64;
    BEGIN
    store_shared(c, c->t->index * 4, c->t->index, 1);
    c->t->mode = 1 + group;
    c->t->in[0] = test->distance;
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (load_shared(c, from * 4, 3) != from && !test->kind) abort();
    SUSPEND(TILE_EMU_BARRIER, 2);
    store_shared(c, from * 4, 7, 4);
    END
}

static void test_group_barrier(void **state)
{
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        tile_emulator_set_checked(checked);
        Exchange test = {0, 64};
        assert_fine(launch(meet, 4, 512, 5, &test));
        test.distance = 96;
        assert_fault(launch(meet, 4, 512, 1, &test),
                     "kernel.tile:2:5: barrier divergence: block (0, 0, 0): thread 0 waits at "
                     "barrier 1 for 96 threads, which do not all come; thread 64 waits at "
                     "barrier 2 of 96 threads (kernel.tile:2:5)");
    }
    Exchange across = {1, 64};
    assert_fault(launch(meet, 4, 512, 1, &across), "kernel.tile:3:5: race: thread");
}

/* ---- registers ---- */

/* Warps from 8 on come to setmaxnreg.dec (site 1), the others to setmaxnreg.inc (site 2), the odd
 * one in another way. */
typedef struct Shares {
    uint32_t first, dec, inc;
    enum { NOT_ODD, ODD_ENDS, ODD_TWICE, ODD_COUNT } odd; /* warp 11 */
} Shares;

KERNEL(share)
{
    const Shares *test = pointer_of(c);
    const uint32_t warp = c->t->index / 32, odd = warp == 11 ? test->odd : NOT_ODD;
    BEGIN
    c->t->mode = warp < 8 ? TILE_EMU_REGISTERS_INC : TILE_EMU_REGISTERS_DEC;
    c->t->in[0] = (warp < 8 ? test->inc : test->dec) - 8 * (odd == ODD_COUNT);
    if (odd != ODD_ENDS) SUSPEND(TILE_EMU_REGISTERS, warp < 8 ? 2 : 1);
    if (odd == ODD_TWICE || (test->odd == ODD_TWICE && warp > 8)) SUSPEND(TILE_EMU_REGISTERS, 3);
    SUSPEND(TILE_EMU_WARP_SYNC, 4);
    END
}

static tile_status launch_shares(Shares test, uint32_t warps)
{
    const Shares *pointer = &test;
    const void *parameters[] = {&pointer};
    Ramp *ramp = share;
    tile_entry entry = {.name = "kernel", .warps = warps, .registers = test.first};
    memcpy(&entry.emulated, &ramp, sizeof ramp);
    tile_image image = {.target = "emulator", .sites = sites, .site_count = SITES};
    return tile_emulator_run(&image, &entry, &(tile_grid){3, 1, 1}, parameters);
}

static void test_registers(void **state)
{
    (void)state;
    for (int checked = 0; checked < 3; checked++) {
        tile_emulator_set_checked(checked);
        assert_fine(launch_shares((Shares){80, 24, 104, NOT_ODD}, 12));
        assert_fine(launch_shares((Shares){168, 24, 240, NOT_ODD}, 12));
    }
    tile_emulator_set_checked(1);
    assert_fault(
        launch_shares((Shares){80, 24, 112, NOT_ODD}, 12),
        "kernel.tile:2:5: deadlock: block (0, 0, 0): thread 224 waits for its warp to have "
        "112 registers a thread, 1024 more in all, and 0 are free of those that the "
        "block's 384 threads began with, 80 each; now threads 0-223 have 112, 224-255 80, "
        "256-383 24; setmaxnreg.inc of 104 at most would not wait");
    assert_fault(
        launch_shares((Shares){168, 168, 240, NOT_ODD}, 12),
        "thread 0 waits for its warp to have 240 registers a thread, 2304 more in all, and "
        "0 are free of those that the block's 384 threads began with, 168 each; now "
        "threads 0-383 have 168; others have to give some away by setmaxnreg.dec");
    tile_emulator_set_checked(0);
    assert_fault(launch_shares((Shares){80, 24, 112, NOT_ODD}, 12), "112 registers a thread");
    tile_emulator_set_checked(1);
    assert_fault(launch_shares((Shares){80, 88, 80, NOT_ODD}, 12),
                 "kernel.tile:1:5: registers: warp 8 of block (0, 0, 0) has 80 registers a thread, "
                 "fewer than the 88 of setmaxnreg.dec");
    assert_fault(launch_shares((Shares){80, 24, 72, NOT_ODD}, 12),
                 "warp 0 of block (0, 0, 0) has 80 registers a thread, more than the 72 of "
                 "setmaxnreg.inc");
    assert_fault(launch_shares((Shares){80, 24, 96, ODD_ENDS}, 12),
                 "registers: warp 11 of block (0, 0, 0) has ended, and has not executed its "
                 "warpgroup's setmaxnreg (kernel.tile:1:5)");
    assert_fault(
        launch_shares((Shares){80, 24, 104, ODD_COUNT}, 12),
        "kernel.tile:1:5: registers: warp 11 of block (0, 0, 0) executes another setmaxnreg "
        "than others of its warpgroup (kernel.tile:1:5)");
    assert_fault(launch_shares((Shares){80, 24, 80, ODD_TWICE}, 12),
                 "kernel.tile:3:5: registers: warp 9 of block (0, 0, 0) executes setmaxnreg again "
                 "before warp 10 of its warpgroup came to the last (kernel.tile:1:5)");
    assert_fault(launch_shares((Shares){80, 24, 80, NOT_ODD}, 9),
                 "warp 8 of block (0, 0, 0) executes setmaxnreg, and is of no whole warpgroup");
}

/* Each thread copies a word for itself and one outside, in two groups, and reads the first after a
 * wait that leaves `distance` groups in flight (site 3); `kind` 1 reads a neighbour's at once. */
KERNEL(copies)
{
    const Exchange *test = pointer_of(c);
    const uint32_t *from = (const uint32_t *)(const void *)test;
    uint32_t offset = c->t->index * 4;
    BEGIN
    tile_emu_copy_async(c->t, c->t->shared + offset, from, 4, 1, 1, 1);
    tile_emu_copy_commit(c->t);
    tile_emu_copy_async(c->t, c->t->shared + 128 + offset, NULL, 4, 0, 1, 2);
    tile_emu_copy_async(c->t, NULL, NULL, 4, 1, 0, 2); /* not active */
    tile_emu_copy_commit(c->t);
    tile_emu_copy_wait(c->t, (int32_t)test->distance);
    if (test->kind == 0) SUSPEND(TILE_EMU_BARRIER, 4);
    if (load_shared(c, offset ^ 4, 3) != 0 && test->kind == 0 && test->distance < 2) abort();
    if (test->distance == 0 && load_shared(c, 128 + offset, 3) != 0) abort();
    END
}

static void test_copies(void **state)
{
    (void)state;
    Exchange test = {0, 0};
    assert_fine(launch(copies, 1, 256, 3, &test));
    test.distance = 1;
    assert_fine(launch(copies, 1, 256, 3, &test));
    test.distance = 2;
    assert_fault(launch(copies, 1, 256, 1, &test),
                 "kernel.tile:3:5: unfinished copy: thread 0 of block (0, 0, 0) reads 4 bytes at "
                 "byte 4 of 256 bytes of shared memory, to which a copy is in flight that nobody "
                 "has waited for; it was started at kernel.tile:1:5");
    test = (Exchange){1, 0};
    assert_fault(launch(copies, 1, 256, 1, &test), "kernel.tile:1:5: race: thread 1");
    tile_emulator_set_checked(0); /* late all the same: the copy is not there yet */
    test = (Exchange){0, 2};
    assert_fine(launch(copies, 1, 256, 1, &test));
    tile_emulator_set_checked(1);
}

/* Warp 0 copies a word each, which arrive at an mbarrier; warp 1 waits for the phase of parity
 * `distance`, unless `kind` is 1, and reads them (site 6). `kind` 2: nobody waits for the making.
 */
KERNEL(signals)
{
    const Exchange *test = pointer_of(c);
    const uint32_t *from = (const uint32_t *)(const void *)test;
    const uint32_t offset = 64 + c->t->index % 32 * 4;
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, c->t->index == 0 ? 32 : 0, 1);
    if (test->kind < 2) SUSPEND(TILE_EMU_BARRIER, 2);
    if (c->t->index == 1 && test->kind == 2)
        tile_emu_mbarrier_arrive(c->t, c->t->shared, 1, TILE_EMU_CTA, 4);
    if (c->t->index < 32) {
        tile_emu_copy_async(c->t, c->t->shared + offset, from, 4, 1, 1, 3);
        tile_emu_copy_arrive(c->t, c->t->shared, 0, 4);
    } else if (test->kind < 2) {
        while (test->kind == 0 &&
               !tile_emu_mbarrier_test(c->t, c->t->shared, test->distance, TILE_EMU_CTA, 5))
            SUSPEND(TILE_EMU_NONE, 5);
        if (load_shared(c, offset, 6) != 0 && test->distance == 0) abort();
    }
    END
}

/* Thread 0's phase waits for `distance` bytes, in which case its only arrival comes before that of
 * thread 1. */
KERNEL(crowd)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, c->t->index == 0 ? 1 : 0, 1);
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (c->t->index == 0) tile_emu_mbarrier_expect(c->t, c->t->shared, (uint32_t)test->distance, 3);
    if (c->t->index < 2) tile_emu_mbarrier_arrive(c->t, c->t->shared, 1, TILE_EMU_CTA, 4);
    END
}

/* Warp 1 waits at an mbarrier that thread 0 has made, and arrived at unless `kind` is 1, for the
 * phase of parity `kind`: the first to come may find none there. */
KERNEL(unmade)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, c->t->index == 0 ? 1 : 0, 1);
    tile_emu_mbarrier_arrive(c->t, c->t->shared, c->t->index == 0 && !test->kind, TILE_EMU_CTA, 2);
    if (test->distance) SUSPEND(TILE_EMU_BARRIER, 3);
    while (c->t->index >= 32 &&
           !tile_emu_mbarrier_test(c->t, c->t->shared, test->kind, TILE_EMU_CTA, 4))
        SUSPEND(TILE_EMU_NONE, 4);
    END
}

static void test_making(void **state)
{
    (void)state;
    for (int parity = 0; parity < 2; parity++) {
        Exchange test = {parity, 1};
        assert_fine(launch(unmade, 2, 256, 1, &test));
        test.distance = 0;
        assert_fault(launch(unmade, 2, 256, 1, &test),
                     "kernel.tile:4:5: race: thread 32 of block (0, 0, 0) reads 8 bytes at byte 0 "
                     "of 256 bytes of shared memory, not ordered with the write by thread 0");
    }
}

static void test_mbarriers(void **state)
{
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        tile_emulator_set_checked(checked);
        Exchange test = {0, 0};
        assert_fine(launch(signals, 2, 256, 3, &test));
    }
    Exchange parity = {0, 1}; /* that of the phase before the first: does not wait */
    assert_fault(launch(signals, 2, 256, 1, &parity),
                 "kernel.tile:6:5: unfinished copy: thread 32 of block (0, 0, 0) reads 4 bytes");
    Exchange missing = {1, 1};
    assert_fault(launch(signals, 2, 256, 1, &missing), "kernel.tile:6:5: unfinished copy");
    Exchange early = {2, 1};
    assert_fault(launch(signals, 2, 256, 1, &early),
                 "kernel.tile:4:5: race: thread 1 of block (0, 0, 0)");
    Exchange phases = {0, 0};
    assert_fine(launch(crowd, 1, 256, 1, &phases));
    Exchange crowded = {0, 16};
    assert_fault(launch(crowd, 1, 256, 1, &crowded),
                 "thread 1 of block (0, 0, 0) arrives at an mbarrier whose arrivals have all come");
    Exchange too_many = {0, 1 << 20};
    assert_fault(launch(crowd, 1, 256, 1, &too_many),
                 "makes an mbarrier's phase wait for more than 1048575 bytes");
}

/* ---- TMA: warp 0 copies or stores a box of 8 rows of 64 bytes, warp 1 waits ----
 *
 * Memory has 5 rows of 40 elements; the box begins at row 2 and column 16, or, to the left of all,
 * column -8. What is left out: */
typedef enum Lack {
    LACKS_NOTHING,
    LACKS_EXPECTATION, /* of the bytes: the barrier's phase ends without them */
    LACKS_WAIT,
    LACKS_FENCE,   /* between the barrier's making, or the box's writing, and the unit */
    LACKS_READERS, /* nobody waits at all */
    FENCES_MAKING, /* a fence of mbarriers alone that were made */
    LACKS
} Lack;
enum { BOX_ROWS = 8, BOX_COLUMNS = 32, MAP_ROWS = 5, MAP_COLUMNS = 40, BOX_AT = 1024 };

typedef struct Boxed {
    _Alignas(64) tile_tensor_map map;
    _Alignas(16) uint16_t memory[MAP_ROWS * MAP_COLUMNS];
    int column;
    Lack lack;
} Boxed;

static uint16_t element_of(const Boxed *test, int row, int column)
{
    row += 2;
    column += test->column;
    return row < MAP_ROWS && column >= 0 && column < MAP_COLUMNS
               ? test->memory[row * MAP_COLUMNS + column]
               : 0;
}

/* Where an element of the box lies: 16 bytes of each row are flipped by the bits of the address
 * from 7 on, of which rows of 64 bytes have two. */
static uint32_t place_of(int row, int column)
{
    const uint32_t plain = (uint32_t)(row * 64 + column * 2);
    return BOX_AT + (plain ^ (plain >> 7 & 3) * 16);
}

static uint16_t read_half(Coroutine *c, uint32_t offset, uint32_t site)
{
    return (uint16_t)(load_shared(c, offset & ~3u, site) >> (offset & 2 ? 16 : 0));
}

KERNEL(boxed_copy)
{
    const Boxed *test = pointer_of(c);
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, c->t->index == 0 ? 1 : 0, 1);
    if (test->lack != LACKS_FENCE) tile_emu_fence_async(c->t, test->lack == FENCES_MAKING);
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (c->t->index == 0) {
        if (test->lack != LACKS_EXPECTATION)
            tile_emu_mbarrier_expect(c->t, c->t->shared, BOX_ROWS * BOX_COLUMNS * 2, 3);
        tile_emu_mbarrier_arrive(c->t, c->t->shared, 1, TILE_EMU_CTA, 3);
    }
    c->t->in[0] = (uint32_t)test->column;
    c->t->in[1] = 2;
    tile_emu_tensor_copy(c->t, &test->map, c->t->shared + BOX_AT, c->t->shared, c->t->index == 0, 2,
                         0, 4);
    if (c->t->index >= 32 && test->lack != LACKS_READERS) {
        while (test->lack != LACKS_WAIT &&
               !tile_emu_mbarrier_test(c->t, c->t->shared, 0, TILE_EMU_CTA, 5))
            SUSPEND(TILE_EMU_NONE, 5);
        for (int i = (int)c->t->index - 32; i < BOX_ROWS * BOX_COLUMNS; i += 32) {
            const int row = i / BOX_COLUMNS, column = i % BOX_COLUMNS;
            if (read_half(c, place_of(row, column), 6) != element_of(test, row, column) &&
                test->lack == LACKS_NOTHING)
                abort();
        }
    }
    END
}

KERNEL(boxed_store)
{
    const Boxed *test = pointer_of(c);
    BEGIN
    for (int i = (int)c->t->index; i < BOX_ROWS * BOX_COLUMNS / 2; i += 32) {
        const int row = i / (BOX_COLUMNS / 2), column = i % (BOX_COLUMNS / 2) * 2;
        store_shared(c, place_of(row, column),
                     (uint32_t)(row * 100 + column) | (uint32_t)(row * 100 + column + 1) << 16, 1);
    }
    if (test->lack != LACKS_FENCE) tile_emu_fence_async(c->t, test->lack == FENCES_MAKING);
    SUSPEND(TILE_EMU_BARRIER, 2);
    c->t->in[0] = (uint32_t)test->column;
    c->t->in[1] = 2;
    tile_emu_tensor_store(c->t, &test->map, c->t->shared + BOX_AT, c->t->index == 0, 2, 4);
    tile_emu_tensor_commit(c->t);
    if (test->lack != LACKS_READERS && test->lack != LACKS_WAIT) tile_emu_tensor_wait(c->t, 0, 0);
    c->t->in[0] = 0; /* all threads */
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (test->lack != LACKS_READERS) store_shared(c, BOX_AT + c->t->index * 4, 0, 6);
    tile_emu_tensor_wait(c->t, test->lack == LACKS_READERS ? 1 : 0, 0);
    END
}

static Boxed boxed(int column, Lack lack)
{
    Boxed test = {.map = {.extents = {MAP_COLUMNS, MAP_ROWS},
                          .strides = {2, MAP_COLUMNS * 2},
                          .box = {BOX_COLUMNS, BOX_ROWS},
                          .rank = 2,
                          .dtype = TILE_DTYPE(1, 16, 1),
                          .swizzle = 64},
                  .column = column,
                  .lack = lack};
    for (int i = 0; i < MAP_ROWS * MAP_COLUMNS; i++) test.memory[i] = (uint16_t)(1000 + i);
    return test;
}

/* `first`: the first column of the leftmost box; the other one is column 16. */
static void expect_boxes(Ramp *ramp, int first, uint32_t warps, uint32_t blocks,
                         const char *const faults[])
{
    for (int lack = LACKS_NOTHING; lack < LACKS; lack++) {
        if (!faults[lack]) continue;
        for (int column = first; column <= 16; column += 16 - first) {
            Boxed test = boxed(column, (Lack)lack);
            test.map.pointer = test.memory;
            const tile_status status = launch(ramp, warps, 2048, blocks, &test);
            if (*faults[lack])
                assert_fault(status, faults[lack]);
            else
                assert_fine(status);
        }
    }
}

static void test_tensor_copies(void **state)
{
    (void)state;
    static const char *const faults[LACKS] = {
        [LACKS_NOTHING] = "",
        [LACKS_EXPECTATION] = "kernel.tile:6:5: unfinished copy: thread 32 of block (0, 0, 0)",
        [LACKS_WAIT] = "kernel.tile:6:5: unfinished copy: thread 32 of block (0, 0, 0)",
        [LACKS_FENCE] = "kernel.tile:4:5: unfenced write: TMA uses for thread 0",
        [LACKS_READERS] = "kernel.tile:4:5: unfinished copy: block (0, 0, 0) ends while",
        [FENCES_MAKING] = ""};
    static const char *const fast[LACKS] = {""};
    expect_boxes(boxed_copy, -8, 2, 2, faults);
    tile_emulator_set_checked(0);
    expect_boxes(boxed_copy, -8, 2, 2, fast);
    tile_emulator_set_checked(1);
}

/* ---- a box for several blocks of a cluster ---- */

static uint32_t load_peer(Coroutine *c, uint32_t rank, uint32_t offset, uint32_t site)
{
    uint32_t value;
    void *place = tile_emu_cluster_address(c->t, c->t->shared + offset, rank, site);
    memcpy(&value, at(c, place, 4, TILE_EMU_READ, TILE_EMU_SHARED, site), 4);
    return value;
}

/* The first block of three copies to itself and to the third; each tells the first that it has seen
 * the box, before which nobody ends. LACKS_READERS: but nobody waits for that. */
KERNEL(cast_copy)
{
    const Boxed *test = pointer_of(c);
    const bool takes = c->t->rank != 1;
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, c->t->index == 0 ? 1 : 0, 1);
    tile_emu_mbarrier_init(c->t, c->t->shared + 8, c->t->index == 0 ? 2 : 0, 1);
    if (test->lack != LACKS_FENCE) tile_emu_fence_async(c->t, test->lack == FENCES_MAKING);
    SUSPEND(TILE_EMU_CLUSTER_ARRIVE, 2);
    SUSPEND(TILE_EMU_CLUSTER_WAIT, 2);
    if (c->t->index == 0 && takes) {
        tile_emu_mbarrier_expect(c->t, c->t->shared, BOX_ROWS * BOX_COLUMNS * 2, 3);
        tile_emu_mbarrier_arrive(c->t, c->t->shared, 1, TILE_EMU_CTA, 3);
    }
    c->t->in[0] = (uint32_t)test->column;
    c->t->in[1] = 2;
    tile_emu_tensor_copy(c->t, &test->map, c->t->shared + BOX_AT, c->t->shared,
                         c->t->index == 0 && c->t->rank == 0, 2, 5, 4);
    while (takes && test->lack != LACKS_WAIT &&
           !tile_emu_mbarrier_test(c->t, c->t->shared, 0, TILE_EMU_CTA, 5))
        SUSPEND(TILE_EMU_NONE, 5);
    for (int i = (int)c->t->index; takes && i < BOX_ROWS * BOX_COLUMNS; i += 32) {
        const int row = i / BOX_COLUMNS, column = i % BOX_COLUMNS;
        if (read_half(c, place_of(row, column), 6) != element_of(test, row, column) &&
            test->lack == LACKS_NOTHING)
            abort();
    }
    if (takes && c->t->index == 0)
        tile_emu_mbarrier_arrive(c->t, tile_emu_cluster_address(c->t, c->t->shared + 8, 0, 7), 1,
                                 TILE_EMU_CTA, 7);
    while (test->lack != LACKS_READERS && c->t->rank == 0 &&
           !tile_emu_mbarrier_test(c->t, c->t->shared + 8, 0, TILE_EMU_CTA, 8))
        SUSPEND(TILE_EMU_NONE, 8);
    if (c->t->rank == 0 && test->lack == LACKS_NOTHING) load_peer(c, 0, BOX_AT, 9);
    END
}

/* Each of two blocks makes an mbarrier for the other's arrival, and tells of it unless `kind` is 1;
 * what arrives at the cluster's barrier tells of no more. */
KERNEL(told)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, c->t->index == 0 ? 1 : 0, 1);
    if (!test->kind) tile_emu_fence_async(c->t, 1);
    c->t->mode = TILE_EMU_ARRIVE_MADE;
    SUSPEND(TILE_EMU_CLUSTER_ARRIVE, 2);
    SUSPEND(TILE_EMU_CLUSTER_WAIT, 2);
    if (c->t->index == 0)
        tile_emu_mbarrier_arrive(c->t,
                                 tile_emu_cluster_address(c->t, c->t->shared, 1 - c->t->rank, 3), 1,
                                 TILE_EMU_CTA, 3);
    while (!tile_emu_mbarrier_test(c->t, c->t->shared, 0, TILE_EMU_CTA, 4))
        SUSPEND(TILE_EMU_NONE, 4);
    END
}

static tile_status launch_cluster(Ramp *ramp, uint32_t blocks, uint8_t size, void *pointer)
{
    const void *parameters[] = {&pointer};
    tile_entry entry = {
        .name = "kernel", .warps = 1, .shared_bytes = 2048, .cluster = {size, 1, 1}};
    memcpy(&entry.emulated, &ramp, sizeof ramp);
    tile_image image = {.target = "emulator", .sites = sites, .site_count = SITES};
    return tile_emulator_run(&image, &entry, &(tile_grid){blocks, 1, 1}, parameters);
}

static void test_cast_copies(void **state)
{
    (void)state;
    static const char *const faults[LACKS] = {
        [LACKS_NOTHING] = "",
        [LACKS_EXPECTATION] = NULL,
        [LACKS_WAIT] = "kernel.tile:6:5: unfinished copy: thread 0 of block (0, 0, 0)",
        [LACKS_FENCE] = "kernel.tile:4:5: unfenced write: TMA uses for thread 0",
        [LACKS_READERS] = "kernel.tile:7:5: out of bounds: thread 0 of block (2, 0, 0) uses the "
                          "shared memory of block (0, 0, 0), which has ended",
        [FENCES_MAKING] = ""};
    for (int lack = LACKS_NOTHING; lack < LACKS; lack++) {
        if (!faults[lack]) continue;
        Boxed test = boxed(16, (Lack)lack);
        test.map.pointer = test.memory;
        const tile_status status = launch_cluster(cast_copy, 6, 3, &test);
        if (*faults[lack])
            assert_fault(status, faults[lack]);
        else
            assert_fine(status);
    }
    Boxed test = boxed(16, LACKS_NOTHING);
    test.map.pointer = test.memory;
    tile_emulator_set_checked(0);
    assert_fine(launch_cluster(cast_copy, 6, 3, &test));
    tile_emulator_set_checked(1);
    assert_fault(launch_cluster(cast_copy, 2, 2, &test),
                 "copies a box to block 2 of a cluster of 2 blocks");
}

static void test_told(void **state)
{
    (void)state;
    Exchange test = {0, 0};
    assert_fine(launch_cluster(told, 2, 2, &test));
    test.kind = 1;
    assert_fault(launch_cluster(told, 2, 2, &test),
                 "kernel.tile:3:5: race: thread 0 of block (0, 0, 0) reads 8 bytes");
}

static void test_tensor_stores(void **state)
{
    (void)state;
    static const char *const faults[LACKS] = {
        [LACKS_NOTHING] = "",
        [LACKS_EXPECTATION] = NULL,
        [LACKS_WAIT] = "kernel.tile:6:5: unfinished read: thread",
        [LACKS_FENCE] = "kernel.tile:4:5: unfenced write: TMA reads for thread 0",
        [LACKS_READERS] = "kernel.tile:4:5: unfinished copy: block (0, 0, 0) ends while",
        [FENCES_MAKING] = "kernel.tile:4:5: unfenced write: TMA reads for thread 0"};
    expect_boxes(boxed_store, 8, 1, 1, faults);
    Boxed test = boxed(-8, LACKS_NOTHING);
    test.map.pointer = test.memory;
    assert_fault(launch(boxed_store, 1, 2048, 1, &test),
                 "kernel.tile:4:5: out of bounds: thread 0 of block (0, 0, 0) stores a box at "
                 "coordinate -8");
    test = boxed(16, LACKS_NOTHING);
    test.map.pointer = test.memory;
    assert_fine(launch(boxed_store, 1, 2048, 1, &test));
    for (int row = 0; row < MAP_ROWS; row++)
        for (int column = 0; column < MAP_COLUMNS; column++) {
            const int written = row >= 2 && column >= 16;
            assert_int_equal(test.memory[row * MAP_COLUMNS + column],
                             written ? (row - 2) * 100 + column - 16
                                     : 1000 + row * MAP_COLUMNS + column);
        }
}

/* ---- sums of boxes ---- */

typedef struct Sums {
    tile_tensor_map map;
    _Alignas(16) uint8_t memory[32];
    uint32_t more[8];
} Sums;

/* A row of 32 bytes, whose numbers are added to those of the memory. */
KERNEL(boxed_sums)
{
    const Sums *test = pointer_of(c);
    BEGIN
    if (c->t->index < 8) store_shared(c, c->t->index * 4, test->more[c->t->index], 1);
    tile_emu_fence_async(c->t, 0);
    SUSPEND(TILE_EMU_BARRIER, 2);
    c->t->in[0] = c->t->in[1] = 0;
    tile_emu_tensor_add(c->t, &test->map, c->t->shared, c->t->index == 0, 2, 4);
    tile_emu_tensor_commit(c->t);
    tile_emu_tensor_wait(c->t, 0, 0);
    END
}

static void expect_sums(uint32_t dtype, const void *before, const void *more, const void *sums,
                        size_t bytes)
{
    const uint32_t each = (dtype >> 16 & 0xff) / 8, count = (uint32_t)sizeof(uint8_t[32]) / each;
    Sums test = {.map = {.extents = {count, 1},
                         .strides = {each, 32},
                         .box = {count, 1},
                         .rank = 2,
                         .dtype = dtype,
                         .swizzle = 16}};
    test.map.pointer = test.memory;
    memcpy(test.memory, before, bytes);
    memcpy(test.more, more, bytes);
    assert_fine(launch(boxed_sums, 1, 128, 1, &test));
    assert_memory_equal(test.memory, sums, bytes);
}

/* Exact sums, ties to even, subnormal numbers, what is too large, infinities and NaN. */
static void test_tensor_sums(void **state)
{
    (void)state;
    static const uint16_t f16[] = {0x3c00, 0x3c00, 0x3c01, 0x0001, 0x0001, 0x7bff, 0x7c00, 0x3c00},
                          f16_more[] = {0x3c00, 0x1000, 0x1000, 0x0001,
                                        0x83ff, 0x7bff, 0xfc00, 0xbc00},
                          f16_sums[] = {0x4000, 0x3c00, 0x3c02, 0x0002,
                                        0x83fe, 0x7c00, 0x7fff, 0x0000};
    static const uint16_t bf16[] = {0x3f80, 0x3f80, 0x3f81, 0x0001, 0x7f7f, 0xff80, 0xc000},
                          bf16_more[] = {0x3f80, 0x3b80, 0x3b80, 0x007f, 0x7f7f, 0x3f80, 0x3f80},
                          bf16_sums[] = {0x4000, 0x3f80, 0x3f82, 0x0080, 0x7f80, 0xff80, 0xbf80};
    static const float f32[] = {1, -2.5f, 1e30f}, f32_more[] = {2, 2.25f, 1e30f},
                       f32_sums[] = {3, -0.25f, 2e30f};
    expect_sums(TILE_DTYPE(2, 16, 1), f16, f16_more, f16_sums, sizeof f16);
    expect_sums(TILE_DTYPE(4, 16, 1), bf16, bf16_more, bf16_sums, sizeof bf16);
    expect_sums(TILE_DTYPE(2, 32, 1), f32, f32_more, f32_sums, sizeof f32);
}

/* ---- copies go their own way ---- */

typedef enum Early {
    ON_TIME,
    EARLY_READ,  /* the box is looked at when its buffer has been read */
    EARLY_OWN,   /* the same by the thread that has begun to store it */
    EARLY_AGAIN, /* another is stored to the same place */
} Early;

/* Thread 0 stores a box, and waits, for it to be written or only read; then somebody looks. */
KERNEL(stored_then_read)
{
    const Boxed *test = pointer_of(c);
    const uint16_t *row = test->memory + (size_t)2 * MAP_COLUMNS + 16;
    const uint32_t reader = (Early)test->lack == EARLY_OWN ? 0 : 9;
    BEGIN
    for (int i = (int)c->t->index; i < BOX_ROWS * BOX_COLUMNS / 2; i += 32)
        store_shared(c, BOX_AT + (uint32_t)i * 4, 7, 1);
    tile_emu_fence_async(c->t, 0);
    SUSPEND(TILE_EMU_BARRIER, 2);
    c->t->in[0] = 16;
    c->t->in[1] = 2;
    tile_emu_tensor_store(c->t, &test->map, c->t->shared + BOX_AT, c->t->index == 0, 2, 4);
    tile_emu_tensor_commit(c->t);
    tile_emu_tensor_wait(c->t, 0, (Early)test->lack == ON_TIME);
    if ((Early)test->lack == EARLY_AGAIN) {
        tile_emu_tensor_store(c->t, &test->map, c->t->shared + BOX_AT, c->t->index == 0, 2, 5);
        tile_emu_tensor_commit(c->t);
        tile_emu_tensor_wait(c->t, 0, 0);
    }
    c->t->in[0] = 0; /* all threads */
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (c->t->index == reader) load_global(c, (const uint32_t *)(const void *)row, 6);
    END
}

static void test_written_late(void **state)
{
    (void)state;
    static const char *const faults[] = {
        [ON_TIME] = NULL,
        [EARLY_READ] =
            "kernel.tile:6:5: unfinished copy: thread 9 of block (0, 0, 0) reads 4 bytes",
        [EARLY_OWN] = "kernel.tile:6:5: unfinished copy: thread 0 of block (0, 0, 0) reads 4 bytes",
        [EARLY_AGAIN] = "kernel.tile:5:5: unfinished copy: thread 0 of block (0, 0, 0) writes 16"};
    for (int early = ON_TIME; early <= EARLY_AGAIN; early++) {
        Boxed test = boxed(16, (Lack)early);
        test.map.pointer = test.memory;
        const tile_status status = launch(stored_then_read, 1, 2048, 1, &test);
        if (faults[early])
            assert_fault(status, faults[early]);
        else
            assert_fine(status);
        assert_int_equal(test.memory[2 * MAP_COLUMNS + 16], 7); /* it is written all the same */
    }
}

typedef enum Mover { BY_THREADS, BY_UNIT } Mover;
typedef enum When {
    BEFORE,       /* the source is written, then all meet, then the copy begins */
    BEHIND_START, /* the copy begins, then all meet, then the source is written */
    BY_ITSELF,    /* by the thread that has begun to copy it */
    WORD_BEFORE,  /* not the source: that thread writes a word, which the others read, */
    WORD_BEHIND   /* before it begins, or behind that */
} When;

typedef struct Moved {
    Boxed box;
    Mover mover;
    When when;
} Moved;

static void begin_copy(Coroutine *c, const Moved *test)
{
    uint8_t *shared = c->t->shared;
    if (test->mover == BY_THREADS) {
        if (c->t->index) return;
        tile_emu_copy_async(c->t, shared + BOX_AT, test->box.memory, 16, 1, 1, 4);
        tile_emu_copy_arrive(c->t, shared, 0, 4);
        return;
    }
    if (c->t->index == 0) {
        tile_emu_mbarrier_expect(c->t, shared, BOX_ROWS * BOX_COLUMNS * 2, 3);
        tile_emu_mbarrier_arrive(c->t, shared, 1, TILE_EMU_CTA, 3);
    }
    c->t->in[0] = c->t->in[1] = 0;
    tile_emu_tensor_copy(c->t, &test->box.map, shared + BOX_AT, shared, c->t->index == 0, 2, 0, 4);
    c->t->in[0] = 0;
}

KERNEL(moved)
{
    const Moved *test = pointer_of(c);
    uint32_t *source = (uint32_t *)(uintptr_t)test->box.memory;
    const uint32_t writer = test->when == BY_ITSELF ? 0 : 32;
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, c->t->index == 0 ? 1 : 0, 1);
    tile_emu_fence_async(c->t, 0);
    if (test->when == BEFORE && c->t->index == writer) store_global(c, source, 1, 7);
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (test->when == WORD_BEFORE && c->t->index == 0) store_shared(c, 64, 1, 7);
    begin_copy(c, test);
    if (test->when == WORD_BEHIND && c->t->index == 0) store_shared(c, 64, 1, 7);
    if (test->when == BEHIND_START || test->when == BY_ITSELF) {
        SUSPEND(TILE_EMU_BARRIER, 2);
        if (c->t->index == writer) store_global(c, source, 1, 7);
    }
    while (c->t->index >= 32 && !tile_emu_mbarrier_test(c->t, c->t->shared, 0, TILE_EMU_CTA, 5))
        SUSPEND(TILE_EMU_NONE, 5);
    if (c->t->index >= 32 && test->when >= WORD_BEFORE) load_shared(c, 64, 6);
    END
}

static void test_own_way(void **state)
{
    (void)state;
    static const struct {
        Mover mover;
        When when;
        const char *fault;
    } rows[] = {
        {BY_THREADS, BEFORE, NULL},
        {BY_THREADS, BEHIND_START, "race: a copy of thread 0 of block (0, 0, 0) reads 16 bytes"},
        {BY_THREADS, BY_ITSELF, "race: a copy of thread 0 of block (0, 0, 0) reads 16 bytes"},
        {BY_THREADS, WORD_BEFORE, NULL},
        {BY_THREADS, WORD_BEHIND, "kernel.tile:6:5: race: thread 32"},
        {BY_UNIT, BEFORE, "unfenced write: TMA reads for thread 0 of block (0, 0, 0)"},
        {BY_UNIT, BEHIND_START, "race: a copy of thread 0 of block (0, 0, 0) reads 16 bytes"},
        {BY_UNIT, BY_ITSELF, "race: a copy of thread 0 of block (0, 0, 0) reads 16 bytes"},
        {BY_UNIT, WORD_BEFORE, NULL},
        {BY_UNIT, WORD_BEHIND, "kernel.tile:6:5: race: thread 32"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Moved test = {boxed(0, LACKS_NOTHING), rows[i].mover, rows[i].when};
        test.box.map.pointer = test.box.memory;
        const tile_status status = launch(moved, 2, 2048, 1, &test);
        if (rows[i].fault)
            assert_fault(status, rows[i].fault);
        else
            assert_fine(status);
    }
}

/* ---- what warp 1 reads, and TMA then writes for warp 0 ---- */

typedef enum Way { OVER_BLOCK, OVER_SOME, OVER_MBARRIER, OVER_CLUSTER, WAYS } Way;
/* WARP_2 reads the same itself, and fences that; WARP_2_BEHIND reads nothing, and fences when it
 * has met the readers; READERS_LATE have told others before. */
typedef enum Fencer {
    NOBODY,
    THE_READERS,
    READERS_LATE,
    WARP_2,
    WARP_2_BEHIND,
    WHO_COPIES,
    FENCERS
} Fencer;

typedef struct ReadBefore {
    Moved moved;
    Way way;
    Fencer fencer;
} ReadBefore;

KERNEL(read_before)
{
    const ReadBefore *test = pointer_of(c);
    const uint32_t index = c->t->index;
    const bool reads = index >= 32 && index < 64, is_other = index >= 64 && index < 96;
    BEGIN
    tile_emu_mbarrier_init(c->t, c->t->shared, index == 0 ? 1 : 0, 1);
    tile_emu_mbarrier_init(c->t, c->t->shared + 8, index == 0 ? 64 : 0, 1);
    store_shared(c, BOX_AT + index * 4, index, 1);
    tile_emu_fence_async(c->t, 0);
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (reads) load_shared(c, BOX_AT + index * 4, 3);
    if (is_other && test->fencer == WARP_2) load_shared(c, BOX_AT + (index - 32) * 4, 6);
    if (test->fencer == WARP_2_BEHIND) SUSPEND(TILE_EMU_BARRIER, 2);
    if ((reads && test->fencer == THE_READERS) ||
        (is_other && (test->fencer == WARP_2 || test->fencer == WARP_2_BEHIND)))
        tile_emu_fence_async(c->t, 0);
    if (test->way == OVER_BLOCK) SUSPEND(TILE_EMU_BARRIER, 2);
    if (test->way == OVER_SOME && index < 96) {
        c->t->mode = 1;
        c->t->in[0] = 96;
        SUSPEND(TILE_EMU_BARRIER, 2);
    }
    if (test->way == OVER_MBARRIER && (reads || is_other))
        tile_emu_mbarrier_arrive(c->t, c->t->shared + 8, 1, TILE_EMU_CTA, 3);
    if (test->way == OVER_CLUSTER) {
        c->t->mode = 0;
        SUSPEND(TILE_EMU_CLUSTER_ARRIVE, 2);
    }
    if (reads && test->fencer == READERS_LATE) tile_emu_fence_async(c->t, 0);
    while (test->way == OVER_MBARRIER && index == 0 &&
           !tile_emu_mbarrier_test(c->t, c->t->shared + 8, 0, TILE_EMU_CTA, 5))
        SUSPEND(TILE_EMU_NONE, 5);
    if (test->way == OVER_CLUSTER) SUSPEND(TILE_EMU_CLUSTER_WAIT, 2);
    if (index == 0 && test->fencer == WHO_COPIES) tile_emu_fence_async(c->t, 0);
    begin_copy(c, &test->moved);
    while (reads && !tile_emu_mbarrier_test(c->t, c->t->shared, 0, TILE_EMU_CTA, 5))
        SUSPEND(TILE_EMU_NONE, 5);
    END
}

/* Nothing but a fence has TMA wait until what threads read has been read: one that stands between
 * the read and what tells the thread that copies of it. */
static void test_read_before(void **state)
{
    (void)state;
    for (int way = OVER_BLOCK; way < (int)WAYS; way++)
        for (int fencer = NOBODY; fencer < (int)FENCERS; fencer++) {
            ReadBefore test = {
                {boxed(0, LACKS_NOTHING), BY_UNIT, BEHIND_START}, (Way)way, (Fencer)fencer};
            test.moved.box.map.pointer = test.moved.box.memory;
            const tile_status status = launch(read_before, 4, 2048, 1, &test);
            if (fencer == NOBODY || fencer == READERS_LATE || fencer == WARP_2)
                assert_fault(status, "kernel.tile:4:5: unfenced read: TMA writes for thread 0 of "
                                     "block (0, 0, 0) 16 bytes at byte 1152 of 2048 bytes of "
                                     "shared memory, which thread 32 has read at kernel.tile:3:5 "
                                     "and not fenced since (fence.proxy.async)");
            else
                assert_fine(status);
        }
}

/* The source is written behind a flag, for which the copy's thread waits before or behind the start
 * of the copy (`kind`), but always before it waits for the copy itself. */
KERNEL(flagged)
{
    uint32_t *memory = pointer_of(c);
    const bool early = memory[8];
    BEGIN
    if (c->t->index == 32) {
        store_global(c, memory + 4, 1, 1);
        add_global(c, memory, 1, 2);
    }
    if (c->t->index == 0) {
        if (early) tile_emu_copy_async(c->t, c->t->shared, memory + 4, 4, 1, 1, 3);
        while (!add_global(c, memory, 0, 4)) SUSPEND(TILE_EMU_NONE, 4);
        if (!early) tile_emu_copy_async(c->t, c->t->shared, memory + 4, 4, 1, 1, 3);
        tile_emu_copy_wait(c->t, -1);
    }
    END
}

static void test_flagged(void **state)
{
    (void)state;
    for (uint32_t early = 0; early < 2; early++) {
        _Alignas(16) uint32_t memory[12] = {[8] = early};
        const tile_status status = launch(flagged, 2, 64, 1, memory);
        if (early)
            assert_fault(status, "race: thread");
        else
            assert_fine(status);
    }
}

KERNEL(exchange)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    store_shared(c, c->t->index * 4, c->t->index, 1);
    if (test->kind == TILE_EMU_BARRIER)
        SUSPEND(TILE_EMU_BARRIER, 2);
    else if (test->kind == TILE_EMU_WARP_SYNC)
        SUSPEND(TILE_EMU_WARP_SYNC, 2);
    else if (test->kind == TILE_EMU_SHUFFLE) {
        c->t->in[0] = c->t->in[1] = 0, c->t->mode = TILE_EMU_SHUFFLE_IDX;
        SUSPEND(TILE_EMU_SHUFFLE, 2);
    }
    load_shared(c, (c->t->index ^ test->distance) * 4, 3);
    END
}

static tile_status run_exchange(uint32_t kind, uint32_t distance)
{
    Exchange test = {kind, distance};
    return launch(exchange, 2, 256, 2, &test);
}

static void test_race_shared(void **state)
{
    (void)state;
    assert_fine(run_exchange(TILE_EMU_BARRIER, 1));
    assert_fine(run_exchange(TILE_EMU_BARRIER, 32));
    assert_fine(run_exchange(TILE_EMU_WARP_SYNC, 1));
    assert_fine(run_exchange(TILE_EMU_NONE, 0));
    /* Which of the two comes second is chance, that there are two is not. */
    assert_fault(run_exchange(TILE_EMU_WARP_SYNC, 32), "race: thread 32 of block (0, 0, 0) writes");
    /* What a shuffle orders in time it does not order in memory. */
    assert_fault(run_exchange(TILE_EMU_SHUFFLE, 1), "race");
    tile_status status = run_exchange(TILE_EMU_NONE, 1);
    assert_fault(status, "kernel: 2 faults"); /* the race, and what a lane reads too early */
    assert_fault(status, "kernel.tile:1:5: race: thread 1 of block (0, 0, 0) writes 4 bytes at "
                         "byte 4 of 256 bytes of "
                         "shared memory, not ordered with the read by thread 0 of block (0, 0, 0) "
                         "at kernel.tile:3:5");
}

/* Everyone reads word 0, then one thread writes it, with or without a barrier between. */
KERNEL(read_then_write)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    if (c->t->index == 0) store_shared(c, 0, 1, 1);
    SUSPEND(TILE_EMU_BARRIER, 2);
    load_shared(c, 0, 3);
    if (test->kind == TILE_EMU_BARRIER) SUSPEND(TILE_EMU_BARRIER, 4);
    if (c->t->index == test->distance) store_shared(c, 0, 2, 5);
    END
}

static void test_race_write_after_read(void **state)
{
    (void)state;
    for (uint32_t writer = 0; writer < 64; writer += 21) {
        Exchange test = {TILE_EMU_BARRIER, writer};
        assert_fine(launch(read_then_write, 2, 4, 3, &test));
        test.kind = TILE_EMU_NONE;
        assert_fault(launch(read_then_write, 2, 4, 3, &test), "race: thread");
        assert_fault(TILE_ERROR_FAULT, "kernel.tile:3:5");
        assert_fault(TILE_ERROR_FAULT, "kernel.tile:5:5");
    }
}

/* Neighbours write the halves of one word, and one of them the whole of it later. */
KERNEL(halves)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    {
        uint16_t value = 1;
        void *to = at(c, c->t->shared + 2 * c->t->index, 2, TILE_EMU_WRITE, TILE_EMU_SHARED, 1);
        memcpy(to, &value, 2);
    }
    if (test->kind == TILE_EMU_BARRIER) SUSPEND(TILE_EMU_BARRIER, 2);
    if (c->t->index % 2) store_shared(c, c->t->index / 2 * 4, 7, 3);
    END
}

static void test_race_bytes(void **state)
{
    (void)state;
    Exchange test = {TILE_EMU_BARRIER, 0};
    assert_fine(launch(halves, 1, 64, 1, &test));
    test.kind = TILE_EMU_NONE;
    assert_fault(launch(halves, 1, 64, 1, &test), "kernel.tile:3:5: race: thread 1");
}

/* Blocks write the same word. */
KERNEL(all_write)
{
    BEGIN
    if (c->t->index == 0) store_global(c, pointer_of(c), c->t->block[0], 1);
    END
}

/* Blocks add to one word: no race. */
KERNEL(all_add)
{
    BEGIN
    add_global(c, pointer_of(c), 1, 1);
    END
}

/* Blocks add, and one reads the sum without waiting. */
KERNEL(add_and_read)
{
    BEGIN
    if (c->t->block[0])
        add_global(c, pointer_of(c), 1, 1);
    else if (c->t->index == 0)
        load_global(c, pointer_of(c), 2);
    END
}

static void test_race_global(void **state)
{
    (void)state;
    uint32_t zero = 0, *word = allocate(1, &zero);
    assert_fine(launch(all_write, 1, 0, 1, word));
    assert_fault(launch(all_write, 1, 0, 2, word),
                 "race: thread 0 of block (1, 0, 0) writes 4 bytes at byte 0 of an "
                 "allocation of 4 bytes, not ordered with the write by thread 0 of "
                 "block (0, 0, 0) at kernel.tile:1:5");
    *word = 0;
    assert_fine(launch(all_add, 2, 0, 5, word));
    assert_int_equal(*word, 320);
    assert_fault(launch(add_and_read, 1, 0, 2, word), "race");
    tile_free(word);
}

/* Each block writes its part; the last one to arrive at the counter adds up. */
KERNEL(last_block)
{
    uint32_t *words = pointer_of(c), blocks = c->t->grid[0], *counter = words + blocks * 32;
    BEGIN
    store_global(c, words + c->t->block[0] * 32 + c->t->index, c->t->index, 1);
    SUSPEND(TILE_EMU_BARRIER, 2);
    if (c->t->index == 0) store_shared(c, 0, add_global(c, counter, 1, 3), 4);
    SUSPEND(TILE_EMU_BARRIER, 5);
    if (load_shared(c, 0, 6) == blocks - 1)
        for (uint32_t i = 0; i < blocks; i++) load_global(c, words + i * 32 + (c->t->index ^ 1), 7);
    END
}

/* The same, but each block counts before all of its threads have written. */
KERNEL(last_block_early)
{
    uint32_t *words = pointer_of(c), blocks = c->t->grid[0], *counter = words + blocks * 32;
    BEGIN
    store_global(c, words + c->t->block[0] * 32 + c->t->index, c->t->index, 1);
    if (c->t->index == 0) store_shared(c, 0, add_global(c, counter, 1, 3), 4);
    SUSPEND(TILE_EMU_BARRIER, 5);
    if (load_shared(c, 0, 6) == blocks - 1)
        for (uint32_t i = 0; i < blocks; i++) load_global(c, words + i * 32 + (c->t->index ^ 1), 7);
    END
}

static void test_race_last_block(void **state)
{
    (void)state;
    enum { BLOCKS = 50 };
    uint32_t *words = allocate(BLOCKS * 32 + 1, NULL), zero = 0;
    assert_fine(tile_copy_in(words + BLOCKS * 32, &zero, 4, NULL));
    assert_fine(launch(last_block, 1, 4, BLOCKS, words));
    assert_fine(tile_copy_in(words + BLOCKS * 32, &zero, 4, NULL));
    assert_fault(launch(last_block_early, 1, 4, BLOCKS, words), "kernel.tile:7:5: race");
    tile_free(words);
}

/* ---- bounds, alignment, unwritten memory ---- */

KERNEL(shared_overrun)
{
    BEGIN
    store_shared(c, c->t->index * 4, 1, 1);
    if (c->t->index == 3) store_shared(c, (uint32_t)-4, 1, 2);
    END
}

static void test_bounds_shared(void **state)
{
    (void)state;
    assert_fine(launch(shared_overrun, 1, 256, 0, NULL));
    tile_status status = launch(shared_overrun, 1, 100, 1, NULL);
    assert_fault(status, "kernel: 2 faults found by the emulator\n");
    assert_fault(status, "kernel.tile:1:5: out of bounds: thread 25 of block (0, 0, 0) writes 4 "
                         "bytes at byte 100 of "
                         "100 bytes of shared memory");
    assert_fault(status, "kernel.tile:2:5: out of bounds: thread 3 ");
}

/* Copies 33 words with 32 threads, the last one from one too far. */
KERNEL(copy_words)
{
    uint32_t *words = pointer_of(c);
    BEGIN
    store_global(c, words + c->t->index, load_global(c, words + c->t->index + 1, 1) + 1, 2);
    END
}

static void test_bounds_global(void **state)
{
    (void)state;
    uint32_t values[32] = {0}, *words = allocate(32, values);
    tile_status status = launch(copy_words, 1, 0, 1, words);
    assert_fault(status, "kernel.tile:1:5: out of bounds: thread 31 of block (0, 0, 0) reads 4 "
                         "bytes at byte 128 of an "
                         "allocation of 128 bytes");
    tile_free(words);
    assert_fault(launch(copy_words, 1, 0, 1, NULL), "out of bounds");
}

/* Memory of the caller's own is let through, of nobody's is not. */
static void test_foreign_memory(void **state)
{
    (void)state;
    uint32_t *words = calloc(64, 4);
    assert_fine(launch(all_write, 1, 0, 1, words));
    free(words);
    assert_fault(launch(all_write, 1, 0, 1, (void *)(uintptr_t)0x7f0000000000), "out of bounds");
}

/* The ramp tells its argument. */
static void *told_all_write(tile_emu_thread *t, const void *const *p)
{
    void *pointer;
    memcpy(&pointer, p[0], sizeof pointer);
    tile_emu_argument(t, pointer);
    return all_write(t, p);
}

KERNEL(write_far)
{
    BEGIN
    if (c->t->index == 0) store_global(c, (uint32_t *)pointer_of(c) + (1 << 20), 1, 1);
    END
}

static void *told_write_far(tile_emu_thread *t, const void *const *p)
{
    void *pointer;
    memcpy(&pointer, p[0], sizeof pointer);
    tile_emu_argument(t, pointer);
    return write_far(t, p);
}

static void test_arguments(void **state)
{
    (void)state;
    uint32_t *own = calloc(1, 4), *words = allocate(4, NULL), got[4];
    assert_fine(launch(told_all_write, 1, 0, 1, own));
    assert_fault(launch(told_write_far, 1, 0, 1, words), "out of bounds");
    assert_fault(launch(copy_words, 1, 0, 1, words), "unwritten");
    tile_emulator_set_checked(0);
    assert_fine(launch(told_all_write, 1, 0, 1, words)); /* counts all of it as written */
    tile_emulator_set_checked(1);
    assert_fine(tile_copy_out(got, words, sizeof got, NULL));
    tile_free(words);
    free(own);
}

KERNEL(misaligned)
{
    BEGIN
    memset(at(c, c->t->shared + 8 * c->t->index, 16, TILE_EMU_WRITE, TILE_EMU_SHARED, 1), 0, 16);
    END
}

static void test_alignment(void **state)
{
    (void)state;
    assert_fault(launch(misaligned, 1, 1024, 1, NULL), "kernel.tile:1:5: misaligned: thread 1");
}

/* A row further down is in no other array either. */
static void test_neighbours(void **state)
{
    (void)state;
    uint32_t *arrays[8];
    for (int i = 0; i < 8; i++) arrays[i] = allocate(64, NULL);
    for (int i = 0; i < 64; i++) {
        const ptrdiff_t apart = (char *)arrays[i / 8] - (char *)arrays[i % 8];
        assert_true(i / 8 == i % 8 || labs(apart) > 60000);
    }
    for (int i = 0; i < 8; i++) tile_free(arrays[i]);
}

KERNEL(read_unwritten)
{
    uint32_t *words = pointer_of(c);
    BEGIN
    if (c->t->index < 31) store_shared(c, 4 * c->t->index, 1, 1);
    SUSPEND(TILE_EMU_BARRIER, 2);
    load_shared(c, 4 * (31 - c->t->index), 3);
    load_global(c, words + c->t->index, 4);
    END
}

static void test_unwritten(void **state)
{
    (void)state;
    uint32_t values[31] = {0}, *words = allocate(32, NULL);
    assert_fine(tile_copy_in(words, values, sizeof values, NULL));
    tile_status status = launch(read_unwritten, 1, 128, 2, words);
    assert_fault(status, "kernel: 2 faults");
    assert_fault(
        status,
        "kernel.tile:3:5: unwritten memory: thread 0 of block (0, 0, 0) reads 4 bytes at byte 124");
    assert_fault(status, "kernel.tile:4:5: unwritten memory: thread 31 of block (0, 0, 0)");
    tile_free(words);
}

/* Shared memory is new to each block. */
KERNEL(first_block_writes)
{
    BEGIN
    if (c->t->block[0] == 0) store_shared(c, 4 * c->t->index, 1, 1);
    load_shared(c, 4 * c->t->index, 2);
    END
}

static void test_unwritten_by_block(void **state)
{
    (void)state;
    assert_fine(launch(first_block_writes, 1, 128, 1, NULL));
    assert_fault(launch(first_block_writes, 1, 128, 2, NULL),
                 "unwritten memory: thread 0 of block (1, 0, 0)");
}

/* ---- divergence and deadlock ---- */

KERNEL(diverge)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    if (c->t->index < test->distance) {
        c->t->mode = TILE_EMU_SHUFFLE_XOR;
        SUSPEND(TILE_EMU_SHUFFLE, 1);
    } else if (test->kind != TILE_EMU_NONE)
        SUSPEND(test->kind, 2);
    END
}

static void test_divergence(void **state)
{
    (void)state;
    for (int checked = 0; checked < 2; checked++) {
        tile_emulator_set_checked(checked);
        Exchange test = {TILE_EMU_BARRIER, 20};
        assert_fault(launch(diverge, 1, 0, 1, &test),
                     "kernel.tile:1:5: divergence: warp 0 of block (0, 0, 0): lanes 0-19 are at a "
                     "shuffle, which needs "
                     "all lanes; lanes 20-31 are at the block's barrier (kernel.tile:2:5)");
        test = (Exchange){TILE_EMU_NONE, 4};
        assert_fault(launch(diverge, 1, 0, 1, &test), "; lanes 4-31 have ended");
        test = (Exchange){TILE_EMU_BARRIER, 4};
        assert_fault(launch(diverge, 1, 0, 1, &test), "kernel.tile:2:5: barrier divergence");
        test = (Exchange){TILE_EMU_BARRIER, 0};
        assert_fine(launch(diverge, 1, 0, 1, &test));
        test = (Exchange){TILE_EMU_BARRIER, 32};
        assert_fault(launch(diverge, 2, 0, 1, &test),
                     "kernel.tile:2:5: barrier divergence: block (0, 0, 0): thread 32 "
                     "waits for all threads at the block's barrier, and 32 of 64");
    }
}

/* Warp 1 waits for a word that warp 0 writes, or not. All meet at the barrier `kind`. */
KERNEL(spin)
{
    const Exchange *test = pointer_of(c);
    BEGIN
    if (c->t->index < 32) {
        SUSPEND(TILE_EMU_WARP_SYNC, 1);
        *(volatile uint32_t *)(void *)c->t->shared = test->distance;
    } else {
        while (!*(volatile uint32_t *)(void *)c->t->shared) SUSPEND(TILE_EMU_NONE, 2);
    }
    c->t->mode = test->kind;
    c->t->in[0] = test->kind ? 96 : 0;
    SUSPEND(TILE_EMU_BARRIER, 3);
    END
}

static void test_deadlock(void **state)
{
    (void)state;
    Exchange test = {0, 1};
    assert_fine(launch(spin, 2, 4, 1, &test));
    test.distance = 0;
    assert_fault(launch(spin, 2, 4, 1, &test),
                 "kernel.tile:2:5: deadlock: block (0, 0, 0): thread 32 waits for memory "
                 "that nobody writes any more, while thread 0 waits at the block's "
                 "barrier (kernel.tile:3:5)");
    assert_fault(
        launch(spin, 2, 120 << 10, 133, &test),
        "nobody writes any more: blocks behind the 132 that are there begin when these have ended");
    test.kind = 5;
    assert_fault(launch(spin, 4, 4, 1, &test),
                 "while thread 0 waits at barrier 5 of 96 threads (kernel.tile:3:5)");
}

/* ---- counts ---- */

typedef struct Pattern {
    uint32_t bytes, stride, swizzled;
} Pattern;

KERNEL(write_pattern)
{
    const Pattern *p = pointer_of(c);
    uint32_t offset = c->t->index * p->stride;
    BEGIN
    if (p->swizzled) offset ^= c->t->index % 8 * 16;
    memset(at(c, c->t->shared + offset, p->bytes, TILE_EMU_WRITE, TILE_EMU_SHARED, 1), 0, p->bytes);
    END
}

static void check_pattern(Pattern p, uint32_t ideal, uint32_t conflicts)
{
    assert_fine(launch(write_pattern, 1, 32 * 256, 1, &p));
    tile_emulator_count count = count_at(1, TILE_EMULATOR_SHARED_WRITE);
    assert_int_equal(count.executions, 1);
    assert_int_equal(count.ideal, ideal);
    assert_int_equal(count.bank_conflicts, conflicts);
}

static void test_bank_conflicts(void **state)
{
    (void)state;
    check_pattern((Pattern){4, 4, 0}, 1, 0);
    check_pattern((Pattern){4, 8, 0}, 1, 1);    /* 2 words: two lanes a bank */
    check_pattern((Pattern){4, 128, 0}, 1, 31); /* 32 words: all in one bank */
    check_pattern((Pattern){4, 132, 0}, 1, 0);
    check_pattern((Pattern){2, 2, 0}, 1, 0); /* two lanes share a word */
    check_pattern((Pattern){8, 8, 0}, 2, 0);
    check_pattern((Pattern){8, 16, 0}, 2, 2);
    check_pattern((Pattern){16, 16, 0}, 4, 0);
    check_pattern((Pattern){16, 128, 0}, 4, 28); /* a column of rows of 128 bytes */
    check_pattern((Pattern){16, 128, 1}, 4, 0);  /* swizzled */
}

/* Lanes differ in which of two places they pass, and in how often. */
KERNEL(uneven)
{
    uint32_t *words = pointer_of(c);
    BEGIN
    for (uint32_t i = 0; i <= c->t->index % 2; i++) load_global(c, words + 32 * i + c->t->index, 1);
    if (c->t->index < 8) load_global(c, words + 8 * c->t->index, 2);
    END
}

static void test_transactions(void **state)
{
    (void)state;
    uint32_t values[64] = {0}, *words = allocate(64, values);
    assert_fine(launch(uneven, 1, 0, 1, words));
    tile_emulator_count first = count_at(1, TILE_EMULATOR_GLOBAL_READ),
                        second = count_at(2, TILE_EMULATOR_GLOBAL_READ);
    assert_int_equal(first.executions, 2);
    assert_int_equal(first.transactions, 8);
    assert_int_equal(first.ideal, 4 + 2); /* 32 words, then 16 of them, every other one */
    assert_int_equal(second.executions, 1);
    assert_int_equal(second.transactions, 8);
    assert_int_equal(second.ideal, 1);
    tile_free(words);
}

/* The quick instructions at many numbers, against the C library: within the PTX manual's bounds,
 * relative ones or absolute ones as it has them. */
static double quick_error(tile_emu_function function, double (*exact)(double), double low,
                          double high, bool relative)
{
    double greatest = 0;
    for (int i = 0; i < 20000; i++) {
        const float x = (float)(low + (high - low) * i / 20000);
        const double wanted = exact((double)x);
        double error = fabs((double)tile_emu_approximate(function, x, 0) - wanted);
        if (relative && wanted != 0) error /= fabs(wanted);
        if (!(error <= greatest)) greatest = error;
    }
    return greatest;
}

static double reciprocal(double x)
{
    return 1 / x;
}

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static void test_approximations(void **state)
{
    (void)state;
    assert_true(quick_error(TILE_EMU_EX2, exp2, -125, 127, true) < 0x1p-22);
    assert_true(quick_error(TILE_EMU_LG2, log2, 0.5, 2, false) < 0x1p-22);
    assert_true(quick_error(TILE_EMU_LG2, log2, 2, 1e30, true) < 0x1p-22);
    assert_true(quick_error(TILE_EMU_RCP, reciprocal, 1e-3, 1e3, true) < 0x1p-23);
    assert_true(quick_error(TILE_EMU_SQRT, sqrt, 1e-30, 1e3, true) < 0x1p-23);
    assert_true(quick_error(TILE_EMU_RSQRT, reciprocal_root, 1e-30, 1e3, true) < 0x1p-22);
    assert_true(quick_error(TILE_EMU_SIN, sin, -3.1415926, 3.1415926, false) < 0x1p-20);
    assert_true(quick_error(TILE_EMU_COS, cos, -3.1415926, 3.1415926, false) < 0x1p-20);
    assert_true(quick_error(TILE_EMU_SIN, sin, -1000, 1000, false) < 0x1p-20);
    assert_true(quick_error(TILE_EMU_TANH, tanh, -12, 12, true) <= 0x1p-11);
    assert_true(tile_emu_approximate(TILE_EMU_DIV, 1e-40f, 1) == 0); /* a subnormal operand */
    assert_true(tile_emu_approximate(TILE_EMU_DIV, 1, 1e38f) == 0);  /* beyond 2^126 */
    assert_true(tile_emu_approximate(TILE_EMU_DIV, 7, -2) == -3.5f);
    assert_true(isnan(tile_emu_approximate(TILE_EMU_DIV, INFINITY, 1e38f)));
    assert_true(isnan(tile_emu_approximate(TILE_EMU_SQRT, -1, 0)));
    assert_true(tile_emu_approximate(TILE_EMU_TANH, 1e-40f, 0) != 0); /* it keeps subnormals */
}

static void test_settings(void **state)
{
    (void)state;
    Exchange test = {TILE_EMU_NONE, 1};
    tile_emulator_set_checked(-1);
    setenv("TILE_EMULATOR", "fast", 1);
    assert_fine(launch(exchange, 2, 256, 1, &test));
    setenv("TILE_EMULATOR", "slow", 1);
    assert_int_equal(launch(exchange, 2, 256, 1, &test), TILE_ERROR_ARGUMENT);
    unsetenv("TILE_EMULATOR");
    assert_fault(launch(exchange, 2, 256, 1, &test), "race");
    tile_emulator_set_checked(1);
    assert_int_equal(launch(exchange, 33, 256, 1, &test), TILE_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_barrier),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_shuffle),
        cmocka_unit_test(test_vote),
        cmocka_unit_test(test_index),
        cmocka_unit_test(test_ldmatrix),
        cmocka_unit_test(test_ldmatrix_conflicts),
        cmocka_unit_test(test_ldmatrix_faults),
        cmocka_unit_test(test_stmatrix),
        cmocka_unit_test(test_stmatrix_faults),
        cmocka_unit_test(test_mma),
        cmocka_unit_test(test_mma_f64),
        cmocka_unit_test(test_mma_f16_values),
        cmocka_unit_test(test_mma_special),
        cmocka_unit_test(test_mma_versions),
        cmocka_unit_test(test_group_barrier),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_mbarriers),
        cmocka_unit_test(test_making),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_written_late),
        cmocka_unit_test(test_own_way),
        cmocka_unit_test(test_read_before),
        cmocka_unit_test(test_flagged),
        cmocka_unit_test(test_race_shared),
        cmocka_unit_test(test_race_write_after_read),
        cmocka_unit_test(test_race_bytes),
        cmocka_unit_test(test_race_global),
        cmocka_unit_test(test_race_last_block),
        cmocka_unit_test(test_bounds_shared),
        cmocka_unit_test(test_bounds_global),
        cmocka_unit_test(test_foreign_memory),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_unwritten),
        cmocka_unit_test(test_unwritten_by_block),
        cmocka_unit_test(test_divergence),
        cmocka_unit_test(test_tensor_copies),
        cmocka_unit_test(test_cast_copies),
        cmocka_unit_test(test_tensor_stores),
        cmocka_unit_test(test_tensor_sums),
        cmocka_unit_test(test_deadlock),
        cmocka_unit_test(test_bank_conflicts),
        cmocka_unit_test(test_transactions),
        cmocka_unit_test(test_approximations),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests_name("emulator", tests, set_up, NULL);
}
