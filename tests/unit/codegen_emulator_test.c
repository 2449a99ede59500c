/* codegen_emulator_test.c: kernels compiled for the CPU, linked, loaded and run by the emulator. */
#include "codegen_fixture.h"

/* ---- whole kernels ---- */

static void test_saxpy_emulated(void **state)
{
    (void)state;
    enum { N = 1000 };
    int32_t n = N;
    float a = 3, x[N], y[N], out[N];
    for (int i = 0; i < N; i++) {
        x[i] = (float)i / 7;
        y[i] = (float)(i % 13) / 3;
    }
    Made made = made_from(saxpy_text, &defaults);
    made_load(&made);
    void *device_x = device_new(sizeof x, x), *device_y = device_new(sizeof y, y);
    const void *parameters[] = {&n, &a, &device_x, &device_y};
    tile_grid grid;
    int32_t (*host)(const void *const *, tile_grid *);
    *(void **)&host = made.symbol(0);
    assert_int_equal(host(parameters, &grid), TILE_OK);
    assert_int_equal(grid.x, 2);
    assert_int_equal(grid.y, 1);
    made_run(&made, grid.x, parameters);
    assert_int_equal(tile_copy_out(out, device_y, sizeof out, NULL), TILE_OK);
    for (int i = 0; i < N; i++) {
        volatile float product = a * x[i];
        assert_true(out[i] == (i % 4 == 2 ? product + y[i] : fmaf(a, x[i], y[i])));
    }
    tile_free(device_x);
    tile_free(device_y);
    made_free(&made);
}

static void test_mma_emulated(void **state)
{
    (void)state;
    enum { K = 48 };
    uint16_t a[16 * K], b[K * 8];
    float c[16 * 8];
    int32_t k = K;
    for (int i = 0; i < 16 * K; i++) a[i] = (uint16_t)dtype_encode(DTYPE_f16, i * 7 % 17 - 8);
    for (int i = 0; i < K * 8; i++) b[i] = (uint16_t)dtype_encode(DTYPE_f16, i * 5 % 13 - 6);
    Made made = made_from(mma_text, &defaults);
    made_load(&made);
    void *device_a = device_new(sizeof a, a), *device_b = device_new(sizeof b, b),
         *device_c = device_new(sizeof c, NULL);
    const void *parameters[] = {&k, &device_a, &device_b, &device_c};
    made_run(&made, 1, parameters);
    assert_int_equal(tile_copy_out(c, device_c, sizeof c, NULL), TILE_OK);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 8; j++) {
            int sum = 0;
            for (int l = 0; l < K; l++)
                sum += ((i * K + l) * 7 % 17 - 8) * ((l * 8 + j) * 5 % 13 - 6);
            assert_true(c[i * 8 + j] == (float)sum);
        }
    tile_free(device_a);
    tile_free(device_b);
    tile_free(device_c);
    made_free(&made);
}

/* ---- predicated accesses of every width ---- */

static const char *const piece_rows[][4] = {
    /* type, element, align, instruction */
    {"vec<f16, 8>", "f16", "16", "ld.global.v4.b32"},
    {"vec<f16, 8>", "f16", "8", "ld.global.v2.b32"},
    {"vec<bf16, 4>", "bf16", "8", "ld.global.v2.b32"},
    {"vec<i8, 4>", "i8", "4", "ld.global.b32"},
    {"vec<i8, 4>", "i8", "1", "ld.global.b8"},
    {"f64", "f64", "8", "ld.global.b64"},
    {"i16", "i16", "2", "ld.global.b16"},
    {"u8", "u8", "1", "ld.global.b8"},
    {"b1", "b1", "1", "ld.global.b8"},
    {"vec<f32, 8>", "f32", "16", "ld.global.v4.b32"},
};

static void test_predicated_widths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof piece_rows / sizeof *piece_rows; i++) {
        const char *type = piece_rows[i][0], *element = piece_rows[i][1], *align = piece_rows[i][2];
        uint8_t in[512], out[512], zero[512] = {0};
        Buf text = {0};
        buf_printf(&text,
                   "kernel @copy stage THREADED (%%in: ptr<%s, global> reads, %%out: ptr<%s, "
                   "global> writes) {\n"
                   "%%1 = const {value = 1} : i32\n"
                   "launch %%1, %%1, %%1 {warps = 1} {\n"
                   "%%t = thread_id : i32\n"
                   "%%n = const {value = 9} : i32\n"
                   "%%w = const {value = %d} : i32\n"
                   "%%p = cmp %%t, %%n {predicate = lt} : b1\n"
                   "%%i = mul %%t, %%w : i32\n"
                   "%%from = ptr_add %%in, %%i : ptr<%s, global>\n"
                   "%%to = ptr_add %%out, %%i : ptr<%s, global>\n"
                   "%%x = ld %%from, %%p {align = %s} : %s\n"
                   "st %%to, %%x, %%p {align = %s}\n}\n}\n",
                   element, element, strstr(type, ", ") != NULL ? atoi(strstr(type, ", ") + 2) : 1,
                   element, element, align, type, align);
        Made made = made_from(text.data, there_is_ptxas() ? &defaults : &no_ptxas);
        made_image(&made, "sm_80");
        assert_true(occurrences(made.image.ptx, piece_rows[i][3]) >= 1);
        made_load(&made);
        for (int j = 0; j < 512; j++)
            in[j] = strcmp(element, "b1") == 0 ? j & 1 : (uint8_t)(j * 37);
        DType dtype;
        assert_true(dtype_find(element, &dtype));
        size_t bytes = 9 * (size_t)dtype_bytes(dtype);
        if (strstr(type, ", ") != NULL) bytes *= (size_t)atoi(strstr(type, ", ") + 2);
        void *device_in = device_new(bytes, in), *device_out = device_new(sizeof zero, zero);
        const void *parameters[] = {&device_in, &device_out};
        made_run(&made, 1, parameters);
        assert_int_equal(tile_copy_out(out, device_out, sizeof out, NULL), TILE_OK);
        assert_memory_equal(out, in, bytes);
        assert_memory_equal(out + bytes, zero, sizeof out - bytes);
        tile_free(device_in);
        tile_free(device_out);
        made_free(&made);
        buf_free(&text);
    }
}

/* ---- control flow across suspensions ---- */

static const char flow_text[] =
    "kernel @flow stage THREADED (%out: ptr<i32, global> writes) {\n"
    "  %one = const {value = 1} : i32\n"
    "  launch %one, %one, %one {warps = 1} {\n"
    "    %lane = thread_id : i32\n"
    "    %0 = const {value = 0} : i32\n"
    "    %1 = const {value = 1} : i32\n"
    "    %5 = const {value = 5} : i32\n"
    "    %kept = mul %lane, %5 : i32\n"
    "    %sum, %last = for %0, %5, %1, %0, %kept : i32, i32 (%i: i32, %s: i32, %w: i32) {\n"
    "      %x = shuffle %lane, %i {mode = idx} : i32\n"
    "      %y = shuffle %x, %1 {mode = xor} : i32\n"
    "      %s1 = add %s, %y : i32\n"
    "      %s2 = add %s1, %kept : i32\n"
    "      yield %s2, %s\n"
    "    }\n"
    "    %even = and %sum, %1 : i32\n"
    "    %c = cmp %0, %0 {predicate = eq} : b1\n"
    "    %r = if %c : i32 {\n"
    "      barrier\n"
    "      %t = add %sum, %last : i32\n"
    "      yield %t\n"
    "    } {\n"
    "      %u = sub %sum, %kept : i32\n"
    "      yield %u\n"
    "    }\n"
    "    %n, %acc = while %0, %r : i32, i32 (%j: i32, %a: i32) {\n"
    "      %go = cmp %j, %5 {predicate = lt} : b1\n"
    "      condition %go, %j, %a\n"
    "    } (%j2: i32, %a2: i32) {\n"
    "      warp_sync\n"
    "      %j3 = add %j2, %1 : i32\n"
    "      %a3 = add %a2, %kept : i32\n"
    "      yield %j3, %a3\n"
    "    }\n"
    "    %res = add %acc, %n : i32\n"
    "    %p = ptr_add %out, %lane : ptr<i32, global>\n"
    "    st %p, %res\n"
    "  }\n"
    "}\n";

static void test_flow_emulated(void **state)
{
    (void)state;
    for (int optimise = 0; optimise < 2; optimise++) {
        CodegenOptions options = {.optimise = optimise * 3};
        int32_t out[32];
        Made made = made_from(flow_text, &options);
        made_load(&made);
        void *device = device_new(sizeof out, NULL);
        const void *parameters[] = {&device};
        made_run(&made, 1, parameters);
        assert_int_equal(tile_copy_out(out, device, sizeof out, NULL), TILE_OK);
        for (int lane = 0; lane < 32; lane++) {
            int sum = 0, last = lane * 5, kept = lane * 5;
            for (int i = 0; i < 5; i++) {
                last = sum;
                sum += i + kept; /* xor: a neighbour's copy of the same broadcast */
            }
            assert_int_equal(out[lane], sum + last + 5 * kept + 5);
        }
        tile_free(device);
        made_free(&made);
    }
}

/* ---- arithmetic: every type, emulated, against the definition ---- */

static int run_nothing_undefined(const char *object, Arena *arena, char **output)
{
    const char *const arguments[] = {"nm", "-u", object, NULL};
    return run_tool(arena, output, arguments);
}

/* out[i] = cast of in[i], for one pair of types, 32 values. */
/* An element of less than a byte is the lowest bits of one. */
static const char *memory_name(DType dtype)
{
    return dtype_name(dtype_is_packed(dtype) ? DTYPE_u8 : dtype);
}

static void cast_text(Buf *text, DType from_dtype, DType to_dtype)
{
    const char *from = memory_name(from_dtype), *to = memory_name(to_dtype);
    const bool reads_bits = dtype_is_packed(from_dtype), writes_bits = dtype_is_packed(to_dtype);
    buf_printf(text,
               "kernel @cast stage THREADED (%%in: ptr<%s, global> reads, %%out: ptr<%s, global> "
               "writes) {\n"
               "  %%1 = const {value = 1} : i32\n"
               "  launch %%1, %%1, %%1 {warps = 1} {\n"
               "    %%i = thread_id : i32\n"
               "    %%p = ptr_add %%in, %%i : ptr<%s, global>\n"
               "    %%q = ptr_add %%out, %%i : ptr<%s, global>\n"
               "    %%bit = const {value = 0} : i32\n"
               "    %%x = %s : %s\n"
               "    %%y = cast %%x : %s\n"
               "    %s\n"
               "  }\n"
               "}\n",
               from, to, from, to, reads_bits ? "ld_bits %p, %bit" : "ld %p",
               dtype_name(from_dtype), dtype_name(to_dtype),
               writes_bits ? "st_bits %q, %y, %bit" : "st %q, %y");
}

static const double samples[32] = {
    0,
    -0.0,
    1,
    -1,
    0.5,
    -0.5,
    1.5,
    2.5,
    3.4999,
    100.7,
    -100.7,
    127.5,
    128,
    255.9,
    256,
    -129,
    448,
    465,
    1e-3,
    6.1e-5,
    5.9e-8,
    65504,
    65520,
    -70000,
    1e9 + 1,
    3e9,
    1.00390625,
    1.01171875,
    1.00048828125001,
    1e20,
    -1e20,
    4.6e-41,
};

static int64_t saturate(DType to, double x)
{
    int bits = dtype_bits(to);
    double low = dtype_is_signed(to) ? -ldexp(1, bits - 1) : 0,
           high = ldexp(1, dtype_is_signed(to) ? bits - 1 : bits);
    if (x <= low) return (int64_t)(dtype_is_signed(to) ? (uint64_t)-1 << (bits - 1) : 0);
    if (x >= high)
        return (int64_t)(bits == 64 && !dtype_is_signed(to)
                             ? ~0ull
                             : (1ull << (dtype_is_signed(to) ? bits - 1 : bits)) - 1);
    return dtype_is_signed(to) ? (int64_t)x : (int64_t)(uint64_t)x;
}

static uint64_t mask_of(DType dtype)
{
    int bits = dtype_memory_bits(dtype);
    return bits == 64 ? ~0ull : (1ull << bits) - 1;
}

static double value_of(DType dtype, uint64_t bits)
{
    if (dtype_is_float(dtype)) return dtype_decode(dtype, bits);
    int64_t wrapped = dtype_wrap(dtype, (int64_t)bits);
    return dtype_is_signed(dtype) ? (double)wrapped : (double)(uint64_t)wrapped;
}

static uint64_t sample_bits(DType from, int i)
{
    if (dtype_is_float(from)) return dtype_encode(from, samples[i]);
    if (from == DTYPE_b1) return i & 1;
    return (uint64_t)saturate(dtype_bits(from) == 64 ? DTYPE_i32 : from, samples[i]) &
           mask_of(from);
}

static uint64_t cast_wanted(DType from, DType to, uint64_t bits)
{
    double x = value_of(from, bits);
    if (to == DTYPE_b1) return x != 0;
    if (dtype_is_float(to)) return dtype_encode(to, x);
    if (dtype_is_float(from)) return (uint64_t)saturate(to, x) & mask_of(to);
    return (uint64_t)(dtype_is_signed(from) ? (int64_t)x : (int64_t)(uint64_t)x) & mask_of(to);
}

static void check_cast(DType from, DType to, bool must_run)
{
    Buf text = {0};
    uint8_t in[32 * 8] = {0}, out[32 * 8];
    int from_bytes = dtype_bytes(from), to_bytes = dtype_bytes(to);
    cast_text(&text, from, to);
    Made made = made_from(text.data, &no_ptxas);
    made_image(&made, "sm_80");
    for (int i = 0; i < 32; i++) {
        uint64_t bits = sample_bits(from, i);
        memcpy(in + i * from_bytes, &bits, (size_t)from_bytes);
    }
    if (must_run) {
        made_load(&made);
        void *device_in = device_new(32 * (size_t)from_bytes, in),
             *device_out = device_new(32 * (size_t)to_bytes, NULL);
        const void *parameters[] = {&device_in, &device_out};
        made_run(&made, 1, parameters);
        assert_int_equal(tile_copy_out(out, device_out, 32 * (size_t)to_bytes, NULL), TILE_OK);
        for (int i = 0; i < 32; i++) {
            uint64_t got = 0, wanted = cast_wanted(from, to, sample_bits(from, i));
            memcpy(&got, out + i * to_bytes, (size_t)to_bytes);
            got &= mask_of(to);
            if (got != wanted)
                fprintf(stderr, "cast %s -> %s of %g: %llx, wanted %llx\n", dtype_name(from),
                        dtype_name(to), value_of(from, sample_bits(from, i)),
                        (unsigned long long)got, (unsigned long long)wanted);
            assert_true(got == wanted);
        }
        tile_free(device_in);
        tile_free(device_out);
    }
    made_free(&made);
    buf_free(&text);
}

/* Linking takes its time: pairs with a conversion of ours run, the others are compiled. */
static void test_casts(void **state)
{
    (void)state;
    for (int from = 0; from < DTYPE_COUNT; from++)
        for (int to = 0; to < DTYPE_COUNT; to++)
            if (from != to) {
                bool is_ours = dtype_is_float((DType)from) || dtype_is_float((DType)to);
                check_cast((DType)from, (DType)to, is_ours && (from * 7 + to) % 3 == 0);
            }
}

/* A kernel with every operation on every type; its object may need the emulator's two functions
 * alone. */
static const char *const float_and_int[] = {"add", "sub", "mul", "div", "rem", "min", "max"};
static const char *const int_only[] = {"floordiv", "floormod", "and", "or", "xor", "shl", "shr"};

/* The names of what was made, so that something uses it. */
typedef struct Results {
    char side; /* h host, d device */
    char names[32][24];
    int count;
} Results;

static void operation(Buf *text, Results *results, int type, const char *operation,
                      const char *operands)
{
    char *name = results->names[results->count];
    snprintf(name, sizeof results->names[0], "%c%d_%d", results->side, type, results->count);
    results->count++;
    buf_printf(text, "%%%s = %s %s : %s\n", name, operation, operands, dtype_name((DType)type));
}

static void operations_on(Buf *text, Results *results, int type)
{
    char side = results->side, one[32], two[64], three[128];
    bool is_float = dtype_is_float((DType)type);
    snprintf(one, sizeof one, "%%%cx%d", side, type);
    snprintf(two, sizeof two, "%%%cx%d, %%%cy%d", side, type, side, type);
    snprintf(three, sizeof three, "%s, %s", two, one);
    for (int i = 0; i < 7; i++) operation(text, results, type, float_and_int[i], two);
    for (int i = 0; i < 7 && !is_float; i++) operation(text, results, type, int_only[i], two);
    operation(text, results, type, "neg", one);
    operation(text, results, type, "abs", one);
    if (is_float && side == 'd') {
        operation(text, results, type, "sqrt", one);
        operation(text, results, type, "fma", three);
        operation(text, results, type, "floor", one);
        operation(text, results, type, "ceil", one);
        operation(text, results, type, "trunc", one);
        operation(text, results, type, "round", one);
    }
    buf_printf(text, "%%%cc%d = cmp %s {predicate = le} : b1\n", side, type, two);
    snprintf(three, sizeof three, "%%%cc%d, %s", side, type, two);
    operation(text, results, type, "select", three);
}

static void device_operations(Buf *text, int type)
{
    Results results = {.side = 'd'};
    const char *t = dtype_name((DType)type);
    buf_printf(text, "%%p%d = ptr_add %%%s, %%zero : ptr<%s, global>\n", type, t, t);
    buf_printf(text, "%%dx%d = ld %%p%d : %s\n%%dy%d = ld %%p%d : %s\n", type, type, t, type, type,
               t);
    operations_on(text, &results, type);
    for (int i = 0; i < results.count; i++)
        buf_printf(text, "st %%p%d, %%%s\n", type, results.names[i]);
}

static void host_operations(Buf *text, int type, int *sum)
{
    Results results = {.side = 'h'};
    const char *t = dtype_name((DType)type);
    buf_printf(text, "%%hx%d = cast %%n : %s\n%%hy%d = cast %%n : %s\n", type, t, type, t);
    operations_on(text, &results, type);
    for (int i = 0; i < results.count; i++) {
        const char *name = results.names[i];
        buf_printf(text, "%%l%s = cast %%%s : i64\n", name, name);
        buf_printf(text, "%%sum%d = add %%sum%d, %%l%s : i64\n", *sum + 1, *sum, name);
        ++*sum;
    }
}

static void parameters_text(Buf *text)
{
    buf_text(text, "kernel @all stage THREADED (%n: i64");
    for (int i = 1; i < DTYPE_COUNT; i++)
        buf_printf(text, ", %%%s: ptr<%s, global> writes", dtype_name((DType)i),
                   dtype_name((DType)i));
    buf_text(text, ") {\n%one = const {value = 1} : i32\n%sum0 = const {value = 0} : i64\n");
}

static void every_operation(Buf *text)
{
    int sum = 0;
    parameters_text(text);
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (i != DTYPE_b1 && i != DTYPE_i64) host_operations(text, i, &sum);
    buf_printf(text,
               "launch %%sum%d, %%one, %%one {warps = 1} {\n%%zero = const {value = 0} : i32\n",
               sum);
    for (int i = 0; i < DTYPE_COUNT; i++)
        if (i != DTYPE_b1) device_operations(text, i);
    buf_text(text, "}\n}\n");
}

static void test_objects_need_no_library(void **state)
{
    (void)state;
    static const char *const hosts[] = {"x86_64-pc-linux-gnu", "aarch64-unknown-linux-gnu"};
    Buf text = {0};
    every_operation(&text);
    for (int i = 0; i < 2; i++) {
        CodegenOptions options = {
            .optimise = 3, .host_triple = hosts[i], .ptxas = there_is_ptxas() ? NULL : ""};
        Made made = made_from(text.data, &options);
        Arena *arena = made.session->arena;
        const char *bytes;
        char *output, *folder = os_temp_folder(arena),
                      *object = os_join_path(arena, folder, "all.o");
        size_t size;
        if (i == 0) made_image(&made, "sm_80");
        made_image(&made, "emulator");
        assert_true(host_function(made.codegen, made.kernel, "host_function"));
        assert_true(codegen_host_object(made.codegen, arena, &bytes, &size));
        assert_true(os_write_file(object, bytes, size));
        assert_int_equal(run_nothing_undefined(object, arena, &output), 0);
        if (occurrences(output, " U ") != 3) fputs(output, stderr);
        assert_int_equal(occurrences(output, " U "), 3);
        assert_int_equal(occurrences(output, "tile_emu_access"), 1);
        assert_int_equal(occurrences(output, "tile_emu_frame"), 1);
        assert_int_equal(occurrences(output, "tile_emu_argument"), 1);
        os_remove_folder(folder);
        made_free(&made);
    }
    buf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saxpy_emulated),
        cmocka_unit_test(test_mma_emulated),
        cmocka_unit_test(test_predicated_widths),
        cmocka_unit_test(test_flow_emulated),
        cmocka_unit_test(test_casts),
        cmocka_unit_test(test_objects_need_no_library),
    };
    setenv("TILE_DEVICE", "emulator", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
