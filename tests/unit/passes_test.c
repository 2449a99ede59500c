/* passes_test.c: from tiles to the program of one thread: facts, bounds, layouts, placement,
 * barriers, and what the lowered kernels compute, by the op and by the number. */
#include "passes/analysis/ranges.h"
#include "passes_fixture.h"
#include "thread_machine.h"

/* ---- facts ---- */

static void expect_facts(FactTable *table, const Value *value, int64_t multiple, int64_t low,
                         int64_t high)
{
    const Facts facts = facts_of(table, value);
    assert_int_equal(facts.multiple, multiple);
    assert_int_equal(facts.low, low);
    assert_int_equal(facts.high, high);
}

static void test_facts(void **state)
{
    (void)state;
    Fixture fixture = fixture_open(
        "kernel @k export k stage TYPED (%n: i32 multiple 16, %p: ptr<f16, global> multiple 32) {\n"
        "  %c128 = const {value = 128} : i32\n"
        "  %c127 = const {value = 127} : i32\n"
        "  %one = const {value = 1} : i32\n"
        "  %s = add %n, %c127 : i32\n"
        "  %g = floordiv %s, %c128 : i32\n"
        "  launch %g, %c128, %one {warps = 4} {\n"
        "    %t = const {value = 128} : i32\n"
        "    %two = const {value = 2} : i32\n"
        "    %big = const {value = 2000000000} : i32\n"
        "    %x = block_idx {dim = 0} : i32\n"
        "    %y = block_idx {dim = 1} : i32\n"
        "    %z = block_idx {dim = 2} : i32\n"
        "    %a = mul %x, %t : i32\n"
        "    %b = shl %y, %two : i32\n"
        "    %c = add %a, %n : i32\n"
        "    %d = floormod %n, %t : i32\n"
        "    %e = add %b, %big : i32\n"
        "    %f = mul %e, %two : i32\n"
        "    %h = min %y, %two : i32\n"
        "    %q = ptr_add %p, %b : ptr<f16, global>\n"
        "    %w = cast %a : i64\n"
        "    %v = and %n, %t : i32\n"
        "    %u = sub %two, %y : i32\n"
        "    %r = rem %u, %two : i32\n"
        "    for %two, %t, %two {unroll = 1} (%i: i32) {\n"
        "      %j = mul %i, %t : i32\n"
        "      yield\n"
        "    }\n"
        "  }\n"
        "}\n");
    FactTable *table = facts_new(fixture.kernel);
    const Op *op = fixture_op(&fixture, OP_mul, 0);
    expect_facts(table, &op->results[0], 128, 0, (int64_t)16777214 * 128);
    expect_facts(table, &op->next->results[0], 4, 0, 508);
    expect_facts(table, &op->next->next->results[0], 16, INT32_MIN, INT32_MAX); /* may wrap */
    expect_facts(table, &fixture_op(&fixture, OP_floormod, 0)->results[0], 16, 0, 127);
    expect_facts(table, &fixture_op(&fixture, OP_add, 1)->results[0], 4, 2000000000, 2000000508);
    expect_facts(table, &fixture_op(&fixture, OP_mul, 1)->results[0], 8, INT32_MIN, INT32_MAX);
    expect_facts(table, &fixture_op(&fixture, OP_min, 0)->results[0], 1, 0, 2);
    assert_int_equal(facts_of(table, &fixture_op(&fixture, OP_ptr_add, 0)->results[0]).multiple, 8);
    expect_facts(table, &fixture_op(&fixture, OP_cast, 0)->results[0], 128, 0,
                 (int64_t)16777214 * 128);
    expect_facts(table, &fixture_op(&fixture, OP_and, 0)->results[0], 128, 0, 128);
    expect_facts(table, &fixture_op(&fixture, OP_sub, 0)->results[0], 1, -125, 2);
    expect_facts(table, &fixture_op(&fixture, OP_rem, 0)->results[0], 1, -1, 1);
    expect_facts(table, &fixture_op(&fixture, OP_block_idx, 2)->results[0], 0, 0, 0);
    const Op *loop = fixture_op(&fixture, OP_for, 0);
    expect_facts(table, loop->regions[0]->arguments[0], 2, 2, 126);
    expect_facts(table, &loop->regions[0]->first->results[0], 256, 256, 126 * 128);
    facts_free(table);
    fixture_close(&fixture);
}

/* ---- kernels ---- */

/* c[0:n] = a[0:n] + 1, `tile` elements a block. */
static Fixture open_add_one(const char *parameters, int tile, int warps)
{
    char text[2048];
    snprintf(text, sizeof text,
             "kernel @k export k stage TYPED (%s) {\n"
             "  %%c127 = const {value = %d} : i32\n"
             "  %%c128 = const {value = %d} : i32\n"
             "  %%one = const {value = 1} : i32\n"
             "  %%s = add %%n, %%c127 : i32\n"
             "  %%g = floordiv %%s, %%c128 : i32\n"
             "  launch %%g, %%one, %%one {warps = %d} {\n"
             "    %%t = const {value = %d} : i32\n"
             "    %%u = const {value = 1} : i32\n"
             "    %%bx = block_idx {dim = 0} : i32\n"
             "    %%o = mul %%bx, %%t : i32\n"
             "    %%va = view %%a, %%n, %%u : view<f32, [?], [1]>\n"
             "    %%vb = view %%b, %%n, %%u : view<f32, [?], [1]>\n"
             "    %%x = load %%va, %%o : tile<f32, [%d]>\n"
             "    %%f = const {number = 1} : f32\n"
             "    %%k = splat %%f : tile<f32, [%d]>\n"
             "    %%y = add %%x, %%k : tile<f32, [%d]>\n"
             "    store %%vb, %%y, %%o\n"
             "  }\n"
             "}\n",
             parameters, tile - 1, tile, warps, tile, tile, tile, tile);
    return fixture_open(text);
}

static const char plain_parameters[] =
    "%n: i32, %a: ptr<f32, global> multiple 16, %b: ptr<f32, global> multiple 16";
static const char whole_parameters[] =
    "%n: i32 multiple 1024, %a: ptr<f32, global> multiple 16, %b: ptr<f32, global> multiple 16";

static void expect_clean(const Machine *machine)
{
    assert_int_equal(machine->races, 0);
    assert_int_equal(machine->faults, 0);
    assert_int_equal(machine->misaligned, 0);
}

static void check_add_one(const char *parameters, int tile, int warps, int n)
{
    Fixture fixture = open_add_one(parameters, tile, warps);
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    assert_true(fixture.kernel->parameters[1].is_read && !fixture.kernel->parameters[1].is_written);
    assert_true(fixture.kernel->parameters[2].is_written && !fixture.kernel->parameters[2].is_read);
    float *a = aligned_alloc(64, 64 * 1024), *b = aligned_alloc(64, 64 * 1024);
    for (int i = 0; i < 16 * 1024; i++) {
        a[i] = (float)i;
        b[i] = -1;
    }
    Machine machine;
    machine_start(&machine, 32 * warps);
    machine_add_buffer(&machine, a, (size_t)n * 4);
    machine_add_buffer(&machine, b, (size_t)n * 4);
    const uint64_t arguments[] = {(uint64_t)n, (uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)b};
    for (int block = 0; block * tile < n; block++)
        machine_run_block(&machine, fixture.kernel, arguments, block, 0);
    expect_clean(&machine);
    for (int i = 0; i < 16 * 1024; i++) assert_float_equal(b[i], (i < n ? (float)i + 1 : -1), 0);
    machine_stop(&machine);
    free(a);
    free(b);
    fixture_close(&fixture);
}

static void test_add_one(void **state)
{
    (void)state;
    check_add_one(plain_parameters, 128, 4, 16);
    check_add_one(plain_parameters, 128, 4, 1000);
    check_add_one(plain_parameters, 1024, 4, 5001);
    check_add_one(whole_parameters, 1024, 4, 4096);
}

/* Tiles that are no powers of two, that leave threads without work, and single elements. */
static void test_odd_tiles(void **state)
{
    static const int tiles[] = {1, 3, 32, 96, 100, 160, 257, 384, 1000};
    (void)state;
    for (size_t i = 0; i < sizeof tiles / sizeof tiles[0]; i++)
        for (int warps = 1; warps <= 8; warps *= 2)
            check_add_one(plain_parameters, tiles[i], warps, 777);
}

static void test_bounds(void **state)
{
    (void)state;
    Fixture fixture = open_add_one(plain_parameters, 128, 4);
    assert_true(fixture_run_pass(&fixture, pass_bounds));
    assert_int_equal(op_attr(fixture_op(&fixture, OP_load, 0), ATTR_bounds)->integers[0], 2);
    fixture_close(&fixture);
    fixture = open_add_one(whole_parameters, 128, 4); /* whole tiles */
    assert_true(fixture_run_pass(&fixture, pass_bounds));
    assert_int_equal(op_attr(fixture_op(&fixture, OP_load, 0), ATTR_bounds)->integers[0], 0);
    assert_int_equal(op_attr(fixture_op(&fixture, OP_store, 0), ATTR_bounds)->integers[0], 0);
    fixture_close(&fixture);
}

static void test_widths(void **state)
{
    (void)state;
    Fixture fixture = open_add_one(plain_parameters, 1024, 4); /* n may end within a vector */
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    assert_int_equal(fixture_count(&fixture, OP_ld), 8);
    assert_int_equal(fixture_count_width(&fixture, OP_ld, SPACE_GLOBAL, 4), 8);
    fixture_close(&fixture);
    fixture = open_add_one(whole_parameters, 1024, 4);
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    assert_int_equal(fixture_count(&fixture, OP_ld), 2);
    assert_int_equal(fixture_count_width(&fixture, OP_ld, SPACE_GLOBAL, 16), 2);
    assert_int_equal(fixture_count_width(&fixture, OP_st, SPACE_GLOBAL, 16), 2);
    assert_int_equal(fixture_count(&fixture, OP_cmp), 0);
    fixture_close(&fixture);
}

/* ---- matmul ---- */

typedef struct Gemm {
    int m, n, k; /* of a tile */
    const char *operand, *accumulator, *result;
    int warps, depth, width;   /* k and n of the matrices */
    bool a_columns, b_columns; /* stored column by column */
} Gemm;

static Fixture open_gemm(const Gemm *gemm)
{
    char text[6000];
    const char *a = gemm->a_columns ? "%one, %m" : "%k, %one";
    const char *b = gemm->b_columns ? "%one, %k" : "%n, %one";
    char a_strides[64], b_strides[64];
    snprintf(a_strides, sizeof a_strides, gemm->a_columns ? "[1, ?]" : "[%d, 1]", gemm->depth);
    snprintf(b_strides, sizeof b_strides, gemm->b_columns ? "[1, %d]" : "[%d, 1]",
             gemm->b_columns ? gemm->depth : gemm->width);
    snprintf(text, sizeof text,
             "kernel @k export k stage TYPED (%%m: i32 %s, %%a: ptr<%s, global> multiple 16, "
             "%%b: ptr<%s, global> multiple 16, %%c: ptr<%s, global> multiple 16) {\n"
             "  %%h1 = const {value = %d} : i32\n"
             "  %%h2 = const {value = %d} : i32\n"
             "  %%h3 = const {value = 1} : i32\n"
             "  %%gy = const {value = %d} : i32\n"
             "  %%h4 = add %%m, %%h1 : i32\n"
             "  %%gx = floordiv %%h4, %%h2 : i32\n"
             "  launch %%gx, %%gy, %%h3 {warps = %d} {\n"
             "    %%tm = const {value = %d} : i32\n"
             "    %%tn = const {value = %d} : i32\n"
             "    %%tk = const {value = %d} : i32\n"
             "    %%k = const {value = %d} : i32\n"
             "    %%n = const {value = %d} : i32\n"
             "    %%one = const {value = 1} : i32\n"
             "    %%zero = const {value = 0} : i32\n"
             "    %%end = const {value = %d} : i32\n"
             "    %%bx = block_idx {dim = 0} : i32\n"
             "    %%by = block_idx {dim = 1} : i32\n"
             "    %%om = mul %%bx, %%tm : i32\n"
             "    %%on = mul %%by, %%tn : i32\n"
             "    %%va = view %%a, %%m, %%k, %s : view<%s, [?, %d], %s>\n"
             "    %%vb = view %%b, %%k, %%n, %s : view<%s, [%d, %d], %s>\n",
             gemm->a_columns ? "multiple 8" : "", gemm->operand, gemm->operand, gemm->result,
             gemm->m - 1, gemm->m, (gemm->width + gemm->n - 1) / gemm->n, gemm->warps, gemm->m,
             gemm->n, gemm->k, gemm->depth, gemm->width, (gemm->depth + gemm->k - 1) / gemm->k, a,
             gemm->operand, gemm->depth, a_strides, b, gemm->operand, gemm->depth, gemm->width,
             b_strides);
    const size_t used = strlen(text);
    const bool whole = strncmp(gemm->accumulator, "i", 1) == 0;
    snprintf(text + used, sizeof text - used,
             "    %%f0 = const {%s = 0} : %s\n"
             "    %%s0 = splat %%f0 : tile<%s, [%d, %d]>\n"
             "    %%acc = for %%zero, %%end, %%one, %%s0 : tile<%s, [%d, %d]> (%%i: i32, %%sum: "
             "tile<%s, [%d, %d]>) {\n"
             "      %%ok = mul %%i, %%tk : i32\n"
             "      %%ta = load %%va, %%om, %%ok : tile<%s, [%d, %d]>\n"
             "      %%tb = load %%vb, %%ok, %%on : tile<%s, [%d, %d]>\n"
             "      %%next = dot %%ta, %%tb, %%sum : tile<%s, [%d, %d]>\n"
             "      yield %%next\n"
             "    }\n"
             "    %%h = cast %%acc : tile<%s, [%d, %d]>\n"
             "    %%vc = view %%c, %%m, %%n, %%n, %%one : view<%s, [?, %d], [%d, 1]>\n"
             "    store %%vc, %%h, %%om, %%on\n"
             "  }\n"
             "}\n",
             whole ? "value" : "number", gemm->accumulator, gemm->accumulator, gemm->m, gemm->n,
             gemm->accumulator, gemm->m, gemm->n, gemm->accumulator, gemm->m, gemm->n,
             gemm->operand, gemm->m, gemm->k, gemm->operand, gemm->k, gemm->n, gemm->accumulator,
             gemm->m, gemm->n, gemm->result, gemm->m, gemm->n, gemm->result, gemm->width,
             gemm->width);
    return fixture_open(text);
}

static double element(DType dtype, const unsigned char *data, int64_t index)
{
    uint64_t bits = 0;
    memcpy(&bits, data + index * dtype_bytes(dtype), (size_t)dtype_bytes(dtype));
    return as_number(dtype, extend_bits(dtype, bits));
}

/* Small whole numbers: sums are exact in every type, so results are compared exactly. */
static unsigned char *fill_matrix(DType dtype, int count, unsigned seed)
{
    unsigned char *data =
        aligned_alloc(64, ((size_t)count * (size_t)dtype_bytes(dtype) + 63) / 64 * 64);
    for (int i = 0; i < count; i++) {
        seed = seed * 1103515245u + 12345u;
        const int number = (int)(seed >> 16 & 3) - 1;
        const uint64_t bits =
            dtype_is_float(dtype) ? dtype_encode(dtype, number) : (uint64_t)(int64_t)number;
        memcpy(data + i * dtype_bytes(dtype), &bits, (size_t)dtype_bytes(dtype));
    }
    return data;
}

static double gemm_element(const Gemm *gemm, DType dtype, const unsigned char *a,
                           const unsigned char *b, int rows, int row, int column)
{
    double sum = 0;
    for (int k = 0; k < gemm->depth; k++)
        sum += element(dtype, a,
                       gemm->a_columns ? (int64_t)k * rows + row : (int64_t)row * gemm->depth + k) *
               element(dtype, b,
                       gemm->b_columns ? (int64_t)column * gemm->depth + k
                                       : (int64_t)k * gemm->width + column);
    return sum;
}

/* Runs the kernel on `rows` rows; the machine is left for the caller to look at and stop. */
static void check_gemm(const Gemm *gemm, const Fixture *fixture, int rows, Machine *machine)
{
    DType operand, result;
    assert_true(dtype_find(gemm->operand, &operand) && dtype_find(gemm->result, &result));
    unsigned char *a = fill_matrix(operand, rows * gemm->depth, 1),
                  *b = fill_matrix(operand, gemm->depth * gemm->width, 2);
    unsigned char *c = fill_matrix(result, rows * gemm->width, 3);
    machine_start(machine, 32 * gemm->warps);
    machine_add_buffer(machine, a, (size_t)(rows * gemm->depth * dtype_bytes(operand)));
    machine_add_buffer(machine, b, (size_t)(gemm->depth * gemm->width * dtype_bytes(operand)));
    machine_add_buffer(machine, c, (size_t)(rows * gemm->width * dtype_bytes(result)));
    const uint64_t arguments[] = {(uint64_t)rows, (uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)b,
                                  (uint64_t)(uintptr_t)c};
    const int columns = (gemm->width + gemm->n - 1) / gemm->n;
    machine->grid[0] = (rows + gemm->m - 1) / gemm->m, machine->grid[1] = columns;
    machine->grid[2] = 1;
    for (int x = 0; x * gemm->m < rows; x++)
        for (int y = 0; y < columns; y++)
            machine_run_block(machine, fixture->kernel, arguments, x, y);
    expect_clean(machine);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < gemm->width; column++)
            assert_float_equal(element(result, c, (int64_t)row * gemm->width + column),
                               gemm_element(gemm, operand, a, b, rows, row, column), 0);
    free(a);
    free(b);
    free(c);
}

static int run_gemm(Gemm gemm, int rows)
{
    Machine machine;
    Fixture fixture = open_gemm(&gemm);
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    check_gemm(&gemm, &fixture, rows, &machine);
    const int conflicts = machine.conflicts;
    machine_stop(&machine);
    fixture_close(&fixture);
    return conflicts;
}

/* What the matrix product of the reference sizes becomes, op by op. */
static void test_matmul_ops(void **state)
{
    (void)state;
    const Gemm gemm = {64, 128, 16, "f16", "f32", "f16", 4, 64, 256, false, false};
    Fixture fixture = open_gemm(&gemm);
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    assert_int_equal(fixture_count_width(&fixture, OP_ld, SPACE_GLOBAL, 16), 3);
    assert_int_equal(fixture_count_width(&fixture, OP_st, SPACE_SHARED, 16), 3);
    assert_int_equal(fixture_count_width(&fixture, OP_st, SPACE_GLOBAL, 16), 8);
    assert_int_equal(fixture_count(&fixture, OP_ldmatrix), 6);
    assert_int_equal(op_int(fixture_op(&fixture, OP_ldmatrix, 0), ATTR_count, 0), 4);
    assert_int_equal(fixture_count(&fixture, OP_mma), 16);
    assert_int_equal(fixture_count(&fixture, OP_barrier),
                     4); /* two an iteration, two for the result */
    assert_int_equal(op_int(fixture_launch(&fixture), ATTR_bytes, 0),
                     16384); /* the result's, over the operands' */
    const Region *body = fixture_op(&fixture, OP_for, 0)->regions[0];
    int arithmetic = 0;
    for (const Op *op = body->first; op; op = op->next)
        arithmetic += op->code == OP_add || op->code == OP_mul || op->code == OP_xor ||
                      op->code == OP_or || op->code == OP_and || op->code == OP_shl ||
                      op->code == OP_shr || op->code == OP_cmp;
    assert_true(arithmetic <= 2);
    fixture_close(&fixture);
}

static void test_matmul(void **state)
{
    (void)state;
    assert_int_equal(
        run_gemm((Gemm){64, 128, 16, "f16", "f32", "f16", 4, 64, 256, false, false}, 100), 0);
    assert_int_equal(
        run_gemm((Gemm){64, 64, 32, "bf16", "f32", "f32", 8, 80, 64, false, false}, 64), 0);
    assert_int_equal(run_gemm((Gemm){64, 64, 32, "f16", "f32", "f32", 4, 64, 64, false, true}, 64),
                     0);
    assert_int_equal(run_gemm((Gemm){64, 64, 32, "f16", "f32", "f32", 4, 64, 64, true, false}, 72),
                     0);
    run_gemm((Gemm){16, 8, 16, "f16", "f16", "f16", 4, 32, 16, false, false}, 20);
    run_gemm((Gemm){96, 48, 16, "f16", "f32", "f32", 4, 40, 48, false, false}, 97);
    run_gemm((Gemm){32, 24, 48, "f16", "f32", "f16", 2, 96, 24, false, false}, 40);
    run_gemm((Gemm){64, 64, 64, "i8", "i32", "i32", 4, 128, 64, false, true}, 64);
    run_gemm((Gemm){32, 32, 32, "i8", "i32", "i32", 4, 64, 32, false, false}, 33);
    run_gemm((Gemm){64, 32, 16, "tf32", "f32", "f32", 4, 64, 32, false, false}, 64);
    run_gemm((Gemm){32, 32, 32, "tf32", "f32", "f32", 2, 48, 32, false, true}, 40);
}

/* Without a matrix instruction: full precision, whole numbers, small shapes. */
static void test_matmul_by_hand(void **state)
{
    (void)state;
    run_gemm((Gemm){32, 32, 8, "f32", "f32", "f32", 4, 24, 32, false, false}, 40);
    run_gemm((Gemm){16, 16, 16, "f64", "f64", "f64", 1, 16, 16, false, false}, 16);
    run_gemm((Gemm){8, 8, 4, "i32", "i32", "i32", 2, 12, 8, true, true}, 16);
    run_gemm((Gemm){12, 20, 6, "f16", "f32", "f32", 4, 18, 20, false, false}, 30);
}

/* (q @ k) @ v: what the first product leaves in registers is the second's operand as it stands. */
static void test_chain(void **state)
{
    (void)state;
    Fixture fixture =
        fixture_open("kernel @k export k stage TYPED (%q: ptr<f16, global> multiple 16, %a: "
                     "ptr<f16, global> multiple 16, "
                     "%b: ptr<f16, global> multiple 16, %c: ptr<f32, global> multiple 16) {\n"
                     "  %h = const {value = 1} : i32\n"
                     "  launch %h, %h, %h {warps = 4} {\n"
                     "    %o = const {value = 0} : i32\n"
                     "    %one = const {value = 1} : i32\n"
                     "    %s = const {value = 64} : i32\n"
                     "    %vq = view %q, %s, %s, %s, %one : view<f16, [64, 64], [64, 1]>\n"
                     "    %va = view %a, %s, %s, %s, %one : view<f16, [64, 64], [64, 1]>\n"
                     "    %vb = view %b, %s, %s, %s, %one : view<f16, [64, 64], [64, 1]>\n"
                     "    %vc = view %c, %s, %s, %s, %one : view<f32, [64, 64], [64, 1]>\n"
                     "    %tq = load %vq, %o, %o : tile<f16, [64, 64]>\n"
                     "    %ta = load %va, %o, %o : tile<f16, [64, 64]>\n"
                     "    %tb = load %vb, %o, %o : tile<f16, [64, 64]>\n"
                     "    %f = const {number = 0} : f32\n"
                     "    %z = splat %f : tile<f32, [64, 64]>\n"
                     "    %p = dot %tq, %ta, %z : tile<f32, [64, 64]>\n"
                     "    %ph = cast %p : tile<f16, [64, 64]>\n"
                     "    %r = dot %ph, %tb, %z : tile<f32, [64, 64]>\n"
                     "    store %vc, %r, %o, %o\n"
                     "  }\n"
                     "}\n");
    assert_true(fixture_run(&fixture, STAGE_PLACED));
    assert_int_equal(fixture_count(&fixture, OP_shared_alloc), 3);
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    unsigned char *m[4];
    for (unsigned i = 0; i < 4; i++) m[i] = fill_matrix(i < 3 ? DTYPE_f16 : DTYPE_f32, 64 * 64, i);
    Machine machine;
    uint64_t arguments[4];
    machine_start(&machine, 128);
    for (int i = 0; i < 4; i++) {
        machine_add_buffer(&machine, m[i], i < 3 ? 8192 : 16384);
        arguments[i] = (uint64_t)(uintptr_t)m[i];
    }
    machine_run_block(&machine, fixture.kernel, arguments, 0, 0);
    expect_clean(&machine);
    for (int row = 0; row < 64; row++)
        for (int column = 0; column < 64; column++) {
            double sum = 0;
            for (int k = 0; k < 64; k++) {
                double inner = 0;
                for (int j = 0; j < 64; j++)
                    inner += element(DTYPE_f16, m[0], row * 64 + j) *
                             element(DTYPE_f16, m[1], j * 64 + k);
                sum += inner * element(DTYPE_f16, m[2], k * 64 + column);
            }
            assert_float_equal(element(DTYPE_f32, m[3], row * 64 + column), sum, 0);
        }
    for (int i = 0; i < 4; i++) free(m[i]);
    machine_stop(&machine);
    fixture_close(&fixture);
}

/* All passes in their order, prefetching included. */
static void test_all_passes(void **state)
{
    (void)state;
    static const Gemm gemms[] = {
        {64, 128, 16, "f16", "f32", "f16", 4, 64, 256, false, false},
        {64, 64, 32, "f16", "f32", "f32", 4, 96, 64, true, false},
        {32, 32, 8, "f32", "f32", "f32", 4, 24, 32, false, false},
    };
    for (size_t i = 0; i < sizeof gemms / sizeof gemms[0]; i++) {
        Fixture fixture = open_gemm(&gemms[i]);
        Machine machine;
        const PassOptions options = {.verify_each = true};
        const bool fine = passes_run(fixture.kernel, fixture.target, &options);
        if (!fine) show_reports(fixture.session);
        assert_true(fine);
        check_gemm(&gemms[i], &fixture, 72, &machine);
        machine_stop(&machine);
        fixture_close(&fixture);
    }
}

/* ---- placement and barriers ---- */

#define SHARED_VIEWS                                                                               \
    "kernel @k export k stage TYPED (%a: ptr<f32, global> multiple 16, %b: ptr<f32, global> "      \
    "multiple 16, %n: i32) {\n"                                                                    \
    "  %one = const {value = 1} : i32\n"                                                           \
    "  launch %one, %one, %one {warps = 2} {\n"                                                    \
    "    %u = const {value = 1} : i32\n"                                                           \
    "    %o = const {value = 0} : i32\n"                                                           \
    "    %e = const {value = 256} : i32\n"                                                         \
    "    %va = view %a, %e, %u : view<f32, [256], [1]>\n"                                          \
    "    %vb = view %b, %e, %u : view<f32, [256], [1]>\n"
#define SHARED_HEAD SHARED_VIEWS "    %x = load %va, %o : tile<f32, [256]>\n"
#define SHARED_TAIL                                                                                \
    "  }\n"                                                                                        \
    "}\n"

/* The layouts of stores and loads of one shared tile are the same unless something asks for others,
 * and then each thread reads what it wrote. A broken-up product makes them differ: */
#define PRODUCT(name, left, right)                                                                 \
    "    %" name "l = reshape %" left " : tile<f32, [16, 16]>\n"                                   \
    "    %" name "r = reshape %" right " : tile<f32, [16, 16]>\n"                                  \
    "    %" name "t = transpose %" name "r {dims = [1, 0]} : tile<f32, [16, 16]>\n"                \
    "    %" name "s = add %" name "l, %" name "t : tile<f32, [16, 16]>\n"                          \
    "    %" name " = reshape %" name "s : tile<f32, [256]>\n"

static void expect_barriers(const char *text, int barriers, int bytes)
{
    Fixture fixture = fixture_open(text);
    assert_true(fixture_run(&fixture, STAGE_SYNCED));
    assert_int_equal(fixture_count(&fixture, OP_barrier), barriers);
    assert_int_equal(fixture_count(&fixture, OP_sync), 0);
    assert_int_equal(op_int(fixture_launch(&fixture), ATTR_bytes, -1), bytes);
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    fixture_close(&fixture);
}

static void test_barriers(void **state)
{
    (void)state;
    /* each thread reads what it wrote: no barrier, whatever the author wrote */
    expect_barriers(SHARED_VIEWS "    %k = const {number = 2} : f32\n"
                                 "    %w = splat %k : tile<f32, [256]>\n"
                                 "    %s = shared_alloc : shared<f32, [256]>\n"
                                 "    shared_store %s, %w\n"
                                 "    sync\n"
                                 "    %y = shared_load %s : tile<f32, [256]>\n"
                                 "    store %vb, %y, %o\n" SHARED_TAIL,
                    0, 1024);
    /* the author's sync orders the load of a before the store to b, which may be the same array */
    expect_barriers(SHARED_HEAD "    %s = shared_alloc : shared<f32, [256]>\n"
                                "    shared_store %s, %x\n"
                                "    sync\n"
                                "    %y = shared_load %s : tile<f32, [256]>\n"
                                "    store %vb, %y, %o\n" SHARED_TAIL,
                    1, 1024);
    /* x + transpose(x): one conversion, one barrier */
    expect_barriers(SHARED_HEAD PRODUCT("p", "x", "x") "    store %vb, %p, %o\n" SHARED_TAIL, 1,
                    1024);
    /* twice in a row: the second has bytes of its own, and does not wait for the first one's
     * readers */
    expect_barriers(SHARED_HEAD PRODUCT("p", "x", "x")
                        PRODUCT("q", "p", "p") "    store %vb, %q, %o\n" SHARED_TAIL,
                    2, 2048);
    /* three times: together they are not small, so that each reuses the bytes of the one before */
    expect_barriers(SHARED_HEAD PRODUCT("p", "x", "x") PRODUCT("q", "p", "p")
                        PRODUCT("t", "q", "q") "    store %vb, %t, %o\n" SHARED_TAIL,
                    5, 1024);
    /* in a loop: before the store and before the load */
    expect_barriers(SHARED_HEAD
                    "    %r = for %o, %n, %u, %x : tile<f32, [256]> (%i: i32, %c: tile<f32, "
                    "[256]>) {\n" PRODUCT("p", "c", "c") "      yield %p\n"
                                                         "    }\n"
                                                         "    store %vb, %r, %o\n" SHARED_TAIL,
                    2, 1024);
    /* in one branch: as in straight code */
    expect_barriers(SHARED_HEAD "    %z = cmp %n, %o {predicate = gt} : b1\n"
                                "    %r = if %z : tile<f32, [256]> {\n" PRODUCT(
                                    "p", "x", "x") "      yield %p\n"
                                                   "    } {\n"
                                                   "      yield %x\n"
                                                   "    }\n"
                                                   "    store %vb, %r, %o\n" SHARED_TAIL,
                    1, 1024);
    /* what the loop only reads was written before it: one barrier before the loop */
    expect_barriers(
        SHARED_HEAD
        "    %s = shared_alloc : shared<f32, [256]>\n"
        "    shared_store %s, %x\n"
        "    %r = for %o, %n, %u, %x : tile<f32, [256]> (%i: i32, %c: tile<f32, [256]>) {\n"
        "      %y = shared_load %s : tile<f32, [256]>\n"
        "      %yl = reshape %y : tile<f32, [16, 16]>\n"
        "      %yt = transpose %yl {dims = [1, 0]} : tile<f32, [16, 16]>\n"
        "      %yf = reshape %yt : tile<f32, [256]>\n"
        "      %cc = add %yf, %c : tile<f32, [256]>\n"
        "      yield %cc\n"
        "    }\n"
        "    store %vb, %r, %o\n" SHARED_TAIL,
        1, 1024);
    /* global memory: ordered where the author says so */
    expect_barriers(SHARED_HEAD "    store %vb, %x, %o\n"
                                "    sync\n"
                                "    %y = load %vb, %o : tile<f32, [256]>\n"
                                "    store %va, %y, %o\n" SHARED_TAIL,
                    1, 0);
}

#define MULTI_BUFFER_ITERATION(counter)                                                            \
    "      %wi = add %" counter ", %cw : i32\n"                                                    \
    "      %w = floormod %wi, %cs : i32\n"                                                         \
    "      %sw = shared_view %s, %w, %o {dims = [1]} : shared<f32, [256]>\n"                       \
    "      shared_store %sw, %c\n"                                                                 \
    "      %ri = add %" counter ", %cr : i32\n"                                                    \
    "      %rm = floormod %ri, %cs : i32\n"                                                        \
    "      %sr = shared_view %s, %rm, %o {dims = [1]} : shared<f32, [256]>\n"                      \
    "      %y = shared_load %sr : tile<f32, [256]>\n"                                              \
    "      %yl = reshape %y : tile<f32, [16, 16]>\n"                                               \
    "      %yt = transpose %yl {dims = [1, 0]} : tile<f32, [16, 16]>\n"                            \
    "      %yf = reshape %yt : tile<f32, [256]>\n"                                                 \
    "      %cc = add %yf, %c : tile<f32, [256]>\n"                                                 \
    "      %ki = add %k, %u : i32\n"                                                               \
    "      %kn = floormod %ki, %cs : i32\n"                                                        \
    "      yield %cc, %kn\n"                                                                       \
    "    }\n"                                                                                      \
    "    store %vb, %r, %o\n" SHARED_TAIL

/* A multi-buffer of the author's own: a stage is written and one is read in each iteration. */
static void expect_ring_barriers(int stages, int written, int read, bool carried, int barriers)
{
    char numbers[512], text[4096];
    snprintf(numbers, sizeof numbers,
             "    %%s = shared_alloc : shared<f32, [%d, 256]>\n"
             "    %%cs = const {value = %d} : i32\n"
             "    %%cw = const {value = %d} : i32\n"
             "    %%cr = const {value = %d} : i32\n",
             stages, stages, written, read);
    snprintf(text, sizeof text, "%s%s%s%s", SHARED_HEAD, numbers,
             "    %r, %j = for %o, %n, %u, %x, %o : tile<f32, [256]>, i32 "
             "(%i: i32, %c: tile<f32, [256]>, %k: i32) {\n",
             carried ? MULTI_BUFFER_ITERATION("k") : MULTI_BUFFER_ITERATION("i"));
    Fixture fixture = fixture_open(text);
    assert_true(fixture_run(&fixture, STAGE_SYNCED));
    assert_int_equal(fixture_count(&fixture, OP_barrier), barriers);
    fixture_close(&fixture);
}

/* One barrier an iteration is enough where what is written was read in an earlier iteration, and
 * what is read was written in one; a multi-buffer of a single stage needs two. */
static void test_ring_barriers(void **state)
{
    (void)state;
    for (int carried = 0; carried < 2; carried++) {
        expect_ring_barriers(3, 2, 0, carried, 1);
        expect_ring_barriers(4, 2, 0, carried, 1);
        expect_ring_barriers(2, 1, 0, carried, 1);
        expect_ring_barriers(2, 0, 0, carried, 1);
        expect_ring_barriers(2, 2, 0, carried, 1); /* the same stage */
        expect_ring_barriers(1, 0, 0, carried, 2);
    }
}

/* Two tiles that live at once lie side by side; a third that comes after the first takes its place.
 */
static void test_placement(void **state)
{
    (void)state;
    Fixture fixture =
        fixture_open(SHARED_HEAD "    %s = shared_alloc : shared<f32, [256]>\n"
                                 "    %t = shared_alloc {align = 1024} : shared<f32, [256]>\n"
                                 "    %w = shared_alloc : shared<f32, [256]>\n"
                                 "    shared_store %s, %x\n"
                                 "    shared_store %t, %x\n"
                                 "    %y = shared_load %s : tile<f32, [256]>\n"
                                 "    shared_store %w, %y\n"
                                 "    %z = shared_load %t : tile<f32, [256]>\n"
                                 "    %v = shared_load %w : tile<f32, [256]>\n"
                                 "    %q = add %z, %v : tile<f32, [256]>\n"
                                 "    store %vb, %q, %o\n" SHARED_TAIL);
    assert_true(fixture_run(&fixture, STAGE_PLACED));
    assert_int_equal(op_int(fixture_op(&fixture, OP_shared_alloc, 0), ATTR_offset, -1), 0);
    assert_int_equal(op_int(fixture_op(&fixture, OP_shared_alloc, 1), ATTR_offset, -1), 1024);
    assert_int_equal(op_int(fixture_op(&fixture, OP_shared_alloc, 2), ATTR_offset, -1), 0);
    assert_int_equal(op_int(fixture_launch(&fixture), ATTR_bytes, 0), 2048);
    fixture_close(&fixture);
}

/* Runs a kernel of SHARED_HEAD on a[i] = i. */
static void run_shared(const char *text, int n, float *out, bool keeps_barriers)
{
    Fixture fixture = fixture_open(text);
    assert_true(fixture_run(&fixture, keeps_barriers ? STAGE_THREADED : STAGE_SYNCED));
    if (!keeps_barriers) {
        while (fixture_count(&fixture, OP_barrier) > 0)
            op_erase(fixture_op(&fixture, OP_barrier, 0));
        assert_true(fixture_run(&fixture, STAGE_THREADED));
    }
    float *a = aligned_alloc(64, 1024);
    for (int i = 0; i < 256; i++) a[i] = (float)i;
    Machine machine;
    machine_start(&machine, 64);
    machine_add_buffer(&machine, a, 1024);
    machine_add_buffer(&machine, out, 1024);
    const uint64_t arguments[] = {(uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)out, (uint64_t)n};
    machine_run_block(&machine, fixture.kernel, arguments, 0, 0);
    if (keeps_barriers)
        expect_clean(&machine);
    else
        assert_true(machine.races > 0);
    machine_stop(&machine);
    free(a);
    fixture_close(&fixture);
}

static const char loop_text[] = SHARED_HEAD
    "    %r = for %o, %n, %u, %x : tile<f32, [256]> (%i: i32, %c: tile<f32, [256]>) {\n" PRODUCT(
        "p", "c", "c") "      yield %p\n"
                       "    }\n"
                       "    store %vb, %r, %o\n" SHARED_TAIL;

static const char while_text[] = SHARED_HEAD
    "    %r, %j = while %x, %o : tile<f32, [256]>, i32 (%c: tile<f32, [256]>, %i: i32) {\n"
    "      %z = cmp %i, %n {predicate = lt} : b1\n"
    "      condition %z, %c, %i\n"
    "    } (%d: tile<f32, [256]>, %k: i32) {\n"
    "      %m = add %k, %u : i32\n" PRODUCT("p", "d", "d") "      yield %p, %m\n"
                                                           "    }\n"
                                                           "    store %vb, %r, %o\n" SHARED_TAIL;

/* x + transpose(x), n times over: 2^(n-1) (x + transpose(x)). */
static void test_loops(void **state)
{
    (void)state;
    float *out = aligned_alloc(64, 1024);
    const char *texts[] = {loop_text, while_text};
    for (int t = 0; t < 2; t++)
        for (int n = 0; n < 4; n++) {
            run_shared(texts[t], n, out, true);
            for (int i = 0; i < 256; i++) {
                const int across = i % 16 * 16 + i / 16;
                assert_float_equal(out[i], (n == 0 ? i : (i + across) * (1 << (n - 1))), 0);
            }
        }
    run_shared(loop_text, 3, out, false); /* the machine sees what the barriers are for */
    free(out);
}

/* Broadcasts and iotas: out[i] = x[i] + 100 * column(i) + x's first row in each row. */
static void test_renames(void **state)
{
    (void)state;
    float *out = aligned_alloc(64, 1024);
    run_shared(SHARED_HEAD "    %w = const {value = 16} : i32\n"
                           "    %h = const {value = 1} : i32\n"
                           "    %vr = view %a, %h, %w, %w, %u : view<f32, [1, 16], [16, 1]>\n"
                           "    %row = load %vr, %o, %o : tile<f32, [1, 16]>\n"
                           "    %rows = broadcast %row : tile<f32, [16, 16]>\n"
                           "    %col = iota {dim = 1} : tile<i32, [16, 16]>\n"
                           "    %colf = cast %col : tile<f32, [16, 16]>\n"
                           "    %f = const {number = 100} : f32\n"
                           "    %fs = splat %f : tile<f32, [16, 16]>\n"
                           "    %colm = mul %colf, %fs : tile<f32, [16, 16]>\n"
                           "    %xx = reshape %x : tile<f32, [16, 16]>\n"
                           "    %s = add %xx, %colm : tile<f32, [16, 16]>\n"
                           "    %q = add %s, %rows : tile<f32, [16, 16]>\n"
                           "    %z = reshape %q : tile<f32, [256]>\n"
                           "    store %vb, %z, %o\n" SHARED_TAIL,
               0, out, true);
    for (int i = 0; i < 256; i++) assert_float_equal(out[i], (i + 100 * (i % 16) + i % 16), 0);
    free(out);
}

/* One sum of products that want different layouts: x @ x in f16, x @ x in f32, added up over a
 * loop. */
static void test_disagreement(void **state)
{
    (void)state;
    float *out = aligned_alloc(64, 1024);
    run_shared(
        SHARED_HEAD
        "    %f = const {number = 0} : f32\n"
        "    %zs = splat %f : tile<f32, [16, 16]>\n"
        "    %q = const {number = 0.0625} : f32\n"
        "    %qs = splat %q : tile<f32, [16, 16]>\n"
        "    %x2 = reshape %x : tile<f32, [16, 16]>\n"
        "    %xm = mul %x2, %qs : tile<f32, [16, 16]>\n"
        "    %xh = cast %xm : tile<f16, [16, 16]>\n"
        "    %r = for %o, %n, %u, %zs : tile<f32, [16, 16]> (%i: i32, %c: tile<f32, [16, 16]>) {\n"
        "      %p = dot %xh, %xh, %c : tile<f32, [16, 16]>\n"
        "      %d = dot %x2, %x2, %p : tile<f32, [16, 16]>\n"
        "      yield %d\n"
        "    }\n"
        "    %z = reshape %r : tile<f32, [256]>\n"
        "    store %vb, %z, %o\n" SHARED_TAIL,
        2, out, true);
    for (int i = 0; i < 256; i++) {
        double sum = 0;
        for (int k = 0; k < 16; k++)
            sum += 2 * (1 + 1 / 256.0) * (i / 16 * 16 + k) * (k * 16 + i % 16);
        assert_true(fabs(out[i] - sum) <= 1e-3 * fabs(sum));
    }
    free(out);
}

/* Booleans are bytes in shared memory: out[i] = x[i] where the transposed element is less than 100,
 * else -1. */
static void test_booleans(void **state)
{
    (void)state;
    float *out = aligned_alloc(64, 1024);
    run_shared(SHARED_HEAD "    %xx = reshape %x : tile<f32, [16, 16]>\n"
                           "    %f = const {number = 100} : f32\n"
                           "    %fs = splat %f : tile<f32, [16, 16]>\n"
                           "    %m = cmp %xx, %fs {predicate = lt} : tile<b1, [16, 16]>\n"
                           "    %t = transpose %m {dims = [1, 0]} : tile<b1, [16, 16]>\n"
                           "    %g = const {number = -1} : f32\n"
                           "    %gs = splat %g : tile<f32, [16, 16]>\n"
                           "    %s = select %t, %xx, %gs : tile<f32, [16, 16]>\n"
                           "    %z = reshape %s : tile<f32, [256]>\n"
                           "    store %vb, %z, %o\n" SHARED_TAIL,
               0, out, true);
    for (int i = 0; i < 256; i++)
        assert_float_equal(out[i], (i % 16 * 16 + i / 16 < 100 ? i : -1), 0);
    free(out);
}

/* What a loop does not change is converted once, before it; used twice, it is converted once. */
static void test_hoisting(void **state)
{
    (void)state;
    Fixture fixture = fixture_open(
        SHARED_HEAD
        "    %r = for %o, %n, %u, %x : tile<f32, [256]> (%i: i32, %c: tile<f32, [256]>) {\n"
        "      %xx = reshape %x : tile<f32, [16, 16]>\n" PRODUCT(
            "p", "c", "x") "      yield %p\n"
                           "    }\n"
                           "    store %vb, %r, %o\n" SHARED_TAIL);
    assert_true(fixture_run(&fixture, STAGE_SYNCED));
    const Region *body = fixture_op(&fixture, OP_for, 0)->regions[0];
    for (const Op *op = body->first; op; op = op->next)
        assert_true(op->code != OP_shared_store && op->code != OP_barrier);
    fixture_close(&fixture);
}

/* A window over two dimensions of three, crosswise, that hangs over the edges of its view. */
static void check_window(const char *dims, int rows, int columns, int row_dim, int column_dim)
{
    char text[2048];
    static const int extents[3] = {5, 20, 30}, offsets[3] = {2, -3, 25};
    snprintf(text, sizeof text,
             "kernel @k export k stage TYPED (%%a: ptr<f32, global>, %%b: ptr<f32, global>, %%x: "
             "i32) {\n"
             "  %%h = const {value = 1} : i32\n"
             "  launch %%h, %%h, %%h {warps = 2} {\n"
             "    %%z = const {value = 0} : i32\n"
             "    %%one = const {value = 1} : i32\n"
             "    %%e0 = const {value = 5} : i32\n"
             "    %%e1 = const {value = 20} : i32\n"
             "    %%e2 = const {value = 30} : i32\n"
             "    %%s0 = const {value = 600} : i64\n"
             "    %%o1 = const {value = -3} : i32\n"
             "    %%o2 = const {value = 25} : i32\n"
             "    %%r = const {value = %d} : i32\n"
             "    %%c = const {value = %d} : i32\n"
             "    %%va = view %%a, %%e0, %%e1, %%e2, %%s0, %%e2, %%one : view<f32, [5, 20, 30], "
             "[600, 30, 1]>\n"
             "    %%vb = view %%b, %%r, %%c, %%c, %%one : view<f32, [%d, %d], [%d, 1]>\n"
             "    %%t = load %%va, %%x, %%o1, %%o2 {dims = %s} : tile<f32, [%d, %d]>\n"
             "    store %%vb, %%t, %%z, %%z\n"
             "  }\n"
             "}\n",
             rows, columns, rows, columns, columns, dims, rows, columns);
    Fixture fixture = fixture_open(text);
    assert_true(fixture_run(&fixture, STAGE_THREADED));
    float *a = aligned_alloc(64, 64 * 188), out[64 * 64];
    for (int i = 0; i < 3000; i++) a[i] = (float)(i + 1);
    Machine machine;
    machine_start(&machine, 64);
    machine_add_buffer(&machine, a, 3000 * sizeof(float));
    machine_add_buffer(&machine, out, sizeof(float) * (size_t)(rows * columns));
    const uint64_t arguments[] = {(uint64_t)(uintptr_t)a, (uint64_t)(uintptr_t)out, 2};
    machine_run_block(&machine, fixture.kernel, arguments, 0, 0);
    expect_clean(&machine);
    for (int row = 0; row < rows; row++)
        for (int column = 0; column < columns; column++) {
            int at[3] = {offsets[0], offsets[1], offsets[2]};
            at[row_dim] += row;
            at[column_dim] += column;
            bool inside = true;
            for (int d = 0; d < 3; d++) inside &= at[d] >= 0 && at[d] < extents[d];
            const float expected = inside ? (float)(at[0] * 600 + at[1] * 30 + at[2] + 1) : 0;
            assert_float_equal(out[row * columns + column], expected, 0);
        }
    machine_stop(&machine);
    free(a);
    fixture_close(&fixture);
}

static void test_windows(void **state)
{
    (void)state;
    check_window("[1, 2]", 8, 16, 1, 2);
    check_window("[2, 1]", 12, 40, 2, 1);
    check_window("[0, 2]", 7, 5, 0, 2);
    check_window("[1, 0]", 33, 3, 1, 0);
    check_window("[0, 1]", 1, 1, 0, 1);
    check_window("[2, 0]", 48, 20, 2, 0);
}

/* ---- what is refused ---- */

static void expect_refusal(const char *text, Stage stage, const char *code)
{
    Fixture fixture = fixture_open(text);
    assert_false(fixture_run(&fixture, stage));
    Buf report = {0};
    diag_render(fixture.session->diags, DIAG_TEXT, false, &report);
    assert_non_null(strstr(report.data, code));
    buf_free(&report);
    fixture_close(&fixture);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refusal(SHARED_HEAD "    %s = shared_alloc : shared<f32, [256, 256]>\n"
                               "    %t = shared_load %s : tile<f32, [256, 256]>\n"
                               "    shared_store %s, %t\n" SHARED_TAIL,
                   STAGE_THREADED, "E0504");
}

/* ---- what passes need, give and break ---- */

enum { MOST_PASSES = 64 };

static int all_passes(const char *names[MOST_PASSES])
{
    int count = 0;
    while (count < MOST_PASSES && pass_name_at(count)) {
        names[count] = pass_name_at(count);
        count++;
    }
    return count;
}

static int place_of_pass(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0) return i;
    fail_msg("there is no pass %s", name);
    return -1;
}

/* `first` where `second` is, and the other way ~iteration~. */
static void expect_misplaced(const char *first, const char *second, const char *lacks)
{
    const char *names[MOST_PASSES];
    const int count = all_passes(names), a = place_of_pass(names, count, first),
              b = place_of_pass(names, count, second);
    Buf missing = {0};
    names[a] = second;
    names[b] = first;
    assert_non_null(passes_misplaced(names, count, &missing));
    assert_string_equal(missing.data, lacks);
    buf_free(&missing);
}

static void test_order_of_passes(void **state)
{
    (void)state;
    const char *names[MOST_PASSES];
    Buf missing = {0};
    assert_null(passes_misplaced(names, all_passes(names), &missing));
    assert_int_equal(missing.length, 0);
    expect_misplaced("once", "simplify", "AS_WRITTEN");
    expect_misplaced("promote", "affine", "SSA");
    expect_misplaced("elements", "uniform", "ELEMENTS GROUPS");
    expect_misplaced("bounds", "multi_buffer", "BOUNDS");
    expect_misplaced("bounds", "rasterize", "BOUNDS");
    expect_misplaced("matrix", "infer_layout", "INSTRUCTIONS");
    expect_misplaced("shared", "sync", "PLACED OFFSETS");
    expect_misplaced("pipeline", "lower", "SYNCED OFFSETS BARRIERS");
}

/* A pass that somebody asks for by name is refused as those in a wrong table are. */
static void expect_needs(const char *earlier, const char *pass, const char *needs)
{
    Fixture fixture = open_add_one(plain_parameters, 128, 4);
    const PassOptions options = {.verify_each = true};
    assert_true(!earlier || pass_run_named(fixture.kernel, fixture.target, earlier, &options));
    assert_false(pass_run_named(fixture.kernel, fixture.target, pass, &options));
    Buf report = {0};
    diag_render(fixture.session->diags, DIAG_TEXT, false, &report);
    assert_non_null(strstr(report.data, needs));
    buf_free(&report);
    fixture_close(&fixture);
}

static void test_needs(void **state)
{
    (void)state;
    expect_needs(NULL, "copies", "pass 'copies' needs BOUNDS, which kernel");
    expect_needs("simplify", "once", "pass 'once' needs AS_WRITTEN, which kernel");
    expect_needs(NULL, "lower",
                 "pass 'lower' needs SYNCED BOUNDS LAYOUTS OFFSETS BARRIERS, which kernel");
}

/* What is kept is found again by the next who asks, and is gone once the kernel has changed. */
static void test_analyses(void **state)
{
    (void)state;
    Fixture fixture = open_add_one(plain_parameters, 128, 4);
    PassContext context = {.kernel = fixture.kernel, .target = fixture.target};
    Op *load = (Op *)(uintptr_t)fixture_op(&fixture, OP_load, 0);
    const Value *offset = load->operands[1], *wrong;
    FactTable *ranges = analysis_ranges(&context);
    assert_int_equal(facts_of(ranges, offset).multiple, 128);
    assert_true(pass_bounds(fixture.kernel, &context));
    analysis_keep(&context, 1u << ANALYSIS_RANGES);
    assert_ptr_equal(analysis_ranges(&context), ranges);
    assert_true(analysis_holds(&context, &wrong));
    Builder before = builder_before(offset->op);
    op_set_operand(offset->op, 1, build_const(&before, DTYPE_i32, 3));
    assert_false(analysis_holds(&context, &wrong));
    assert_ptr_equal(wrong, offset);
    analysis_invalidate(&context);
    assert_int_equal(facts_of(analysis_ranges(&context), offset).multiple, 3);
    assert_true(analysis_holds(&context, &wrong));
    analysis_invalidate(&context);
    fixture_close(&fixture);
}

/* ---- what the planner of pipelined loops moves ---- */

/* Behind the product %p of an iteration, and before the sum that it is added to: %q. */
typedef struct LoopOp {
    OpCode code;
    const char *body;
} LoopOp;

static const LoopOp loop_ops[] = {
    {OP_dot, "%h = cast %p : tile<f16, [64, 64]>\n%q = dot %h, %y, %acc0 : tile<f32, [64, 64]>"},
    {OP_load,
     "%l = load %vd, %r, %zero : tile<f32, [64, 64]>\n%q = add %p, %l : tile<f32, [64, 64]>"},
    {OP_store, "store %vd, %p, %r, %zero\n%q = neg %p : tile<f32, [64, 64]>"},
    {OP_shared_load,
     "%l = shared_load %st : tile<f32, [64, 64]>\n%q = add %p, %l : tile<f32, [64, 64]>"},
    {OP_shared_store, "shared_store %st, %p\n%q = neg %p : tile<f32, [64, 64]>"},
    {OP_gather,
     "%w = splat %r : tile<i32, [64, 64]>\n%l = gather %vd, %w, %w : tile<f32, [64, 64]>\n"
     "%q = add %p, %l : tile<f32, [64, 64]>"},
    {OP_put, "%w = splat %r : tile<i32, [64, 64]>\nput %vd, %p, %w, %w\n"
             "%q = neg %p : tile<f32, [64, 64]>"},
    {OP_atomic, "%w = splat %r : tile<i32, [64, 64]>\n"
                "%l = atomic %vd, %p, %w, %w {mode = add, order = relaxed, scope = gpu} : "
                "tile<f32, [64, 64]>\n"
                "%q = add %p, %l : tile<f32, [64, 64]>"},
    {OP_element_load,
     "%l = element_load %vd, %r, %zero : f32\n%w = splat %l : tile<f32, [64, 64]>\n"
     "%q = add %p, %w : tile<f32, [64, 64]>"},
    {OP_element_store, "element_store %vd, %z, %r, %zero\n%q = neg %p : tile<f32, [64, 64]>"},
    {OP_element_atomic,
     "%l = element_atomic %vd, %z, %z, %r, %zero {mode = add, order = relaxed, scope = gpu} : f32\n"
     "%q = neg %p : tile<f32, [64, 64]>"},
    {OP_sync, "sync\n%q = neg %p : tile<f32, [64, 64]>"},
    {OP_abs, "%q = abs %p : tile<f32, [64, 64]>"},
};

/* A loop of a product and the op: whether producers copy for it, by a plan. */
static bool is_planned(const char *body)
{
    Session *session = session_new();
    const char *text = arena_printf(
        session->arena,
        "kernel @k export k stage TYPED (%%a: ptr<f16, global> multiple 16, %%b: ptr<f16, global> "
        "multiple 16, %%c: ptr<f32, global> multiple 16, %%d: ptr<f32, global> multiple 16) {\n"
        "%%one = const {value = 1} : i32\n"
        "launch %%one, %%one, %%one {warps = 4} {\n"
        "%%u = const {value = 1} : i32\n"
        "%%zero = const {value = 0} : i32\n"
        "%%R = const {value = 512} : i32\n"
        "%%K = const {value = 64} : i32\n"
        "%%va = view %%a, %%R, %%K, %%K, %%u : view<f16, [512, 64], [64, 1]>\n"
        "%%vb = view %%b, %%R, %%K, %%K, %%u : view<f16, [512, 64], [64, 1]>\n"
        "%%vc = view %%c, %%K, %%K, %%K, %%u : view<f32, [64, 64], [64, 1]>\n"
        "%%vd = view %%d, %%R, %%K, %%K, %%u : view<f32, [512, 64], [64, 1]>\n"
        "%%sa = shared_alloc : shared<f16, [64, 64]>\n"
        "%%sb = shared_alloc : shared<f16, [64, 64]>\n"
        "%%st = shared_alloc : shared<f32, [64, 64]>\n"
        "%%z = const {number = 0.0} : f32\n"
        "%%acc0 = splat %%z : tile<f32, [64, 64]>\n"
        "%%e = const {value = 8} : i32\n"
        "%%acc = for %%zero, %%e, %%u, %%acc0 {stages = 3} : tile<f32, [64, 64]> (%%i: i32, %%old: "
        "tile<f32, [64, 64]>) {\n"
        "%%r = mul %%i, %%K : i32\n"
        "copy %%va, %%sa, %%r, %%zero\n"
        "copy %%vb, %%sb, %%r, %%zero\n"
        "%%x = shared_load %%sa : tile<f16, [64, 64]>\n"
        "%%y = shared_load %%sb : tile<f16, [64, 64]>\n"
        "%%p = dot %%x, %%y, %%acc0 : tile<f32, [64, 64]>\n"
        "%s\n"
        "%%new = add %%old, %%q : tile<f32, [64, 64]>\n"
        "yield %%new\n"
        "}\n"
        "store %%vc, %%acc, %%zero, %%zero\n"
        "}\n"
        "}\n",
        body);
    Fixture fixture = fixture_open(text);
    fixture.target = target_find("sm_90a");
    assert_true(kernel_verify(fixture.kernel));
    assert_true(fixture_run_pass(&fixture, pass_bounds));
    assert_true(fixture_run_pass(&fixture, pass_multi_buffer));
    const bool planned = fixture_count(&fixture, OP_producer_commit) > 0;
    fixture_close(&fixture);
    session_free(session);
    return planned;
}

/* Its trait alone says that an op that touches memory may be in a planned loop: each that has it is
 * tried here, and some that have not. */
static void test_planned_ops(void **state)
{
    (void)state;
    for (int code = 0; code < OP_COUNT; code++) {
        const OpTraits traits = op_info((OpCode)code)->traits;
        const LoopOp *row = NULL;
        for (size_t i = 0; i < sizeof loop_ops / sizeof *loop_ops; i++)
            if (loop_ops[i].code == (OpCode)code) row = &loop_ops[i];
        if (!row && (traits & PLANNED))
            fail_msg("no loop here has a %s, which has the trait PLANNED",
                     op_info((OpCode)code)->name);
        if ((traits & PLANNED) && (traits & WRITES) && !(traits & STORES))
            fail_msg("%s writes, and has not the trait by which its order is kept",
                     op_info((OpCode)code)->name);
        if (row && is_planned(row->body) != ((traits & (PLANNED | PURE)) != 0))
            fail_msg("a loop with a %s is %s", op_info((OpCode)code)->name,
                     traits & (PLANNED | PURE) ? "not planned" : "planned");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_facts),        cmocka_unit_test(test_add_one),
        cmocka_unit_test(test_odd_tiles),    cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_widths),       cmocka_unit_test(test_matmul_ops),
        cmocka_unit_test(test_matmul),       cmocka_unit_test(test_matmul_by_hand),
        cmocka_unit_test(test_barriers),     cmocka_unit_test(test_ring_barriers),
        cmocka_unit_test(test_placement),    cmocka_unit_test(test_loops),
        cmocka_unit_test(test_renames),      cmocka_unit_test(test_chain),
        cmocka_unit_test(test_windows),      cmocka_unit_test(test_booleans),
        cmocka_unit_test(test_disagreement), cmocka_unit_test(test_hoisting),
        cmocka_unit_test(test_refusals),     cmocka_unit_test(test_all_passes),
        cmocka_unit_test(test_needs),        cmocka_unit_test(test_order_of_passes),
        cmocka_unit_test(test_analyses),     cmocka_unit_test(test_planned_ops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
