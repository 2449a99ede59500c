/* codegen_test.c: from IR text to PTX and cubin, and to host functions. */
#include "codegen_fixture.h"

/* ---- the elementwise kernel ---- */

static void test_saxpy_ptx(void **state)
{
    (void)state;
    Made made = made_from(saxpy_text, &no_ptxas);
    made_image(&made, "sm_80");
    const char *ptx = made.image.ptx;
    assert_int_equal(made.image.kind, IMAGE_PTX);
    assert_int_equal(made.image.entry_count, 1);
    assert_string_equal(made.image.entries[0].name, "saxpy");
    assert_int_equal(made.image.entries[0].warps, 4);
    assert_non_null(strstr(ptx, ".entry saxpy"));
    assert_non_null(strstr(ptx, ".maxntid 128"));
    assert_non_null(strstr(ptx, ".target sm_80"));
    assert_int_equal(occurrences(ptx, " ld.global.v4.b32"), 2);
    assert_int_equal(occurrences(ptx, " st.global.v4.b32"), 1);
    assert_int_equal(occurrences(ptx, "fma.rn.f32"), 3);
    assert_int_equal(occurrences(ptx, "mul.rn.f32"), 1); /* neither LLVM nor ptxas may fuse these */
    assert_int_equal(occurrences(ptx, "add.rn.f32"), 1);
    made_free(&made);
}

static void test_saxpy_cubin(void **state)
{
    (void)state;
    if (!there_is_ptxas()) skip();
    static const char *const archs[] = {"sm_80", "sm_86", "sm_89", "sm_90a"};
    for (int i = 0; i < 4; i++) {
        CodegenOptions options = defaults;
        options.lines = i % 2;
        Made made = made_from(saxpy_text, &options);
        made_image(&made, archs[i]);
        assert_int_equal(made.image.kind, IMAGE_CUBIN);
        assert_memory_equal(made.image.bytes, "\177ELF", 4);
        assert_in_range(made.image.entries[0].registers, 8, 64);
        assert_int_equal(made.image.entries[0].spill_bytes, 0);
        assert_int_equal(strstr(made.image.ptx, ".loc") != NULL, i % 2);
        made_free(&made);
    }
}

static void test_ptxas_failure_is_reported(void **state)
{
    (void)state;
    CodegenOptions options = {.optimise = 3, .ptxas = "/bin/false"};
    ArchList archs;
    Made made = made_from(saxpy_text, &options);
    assert_true(arch_parse(made.session, "sm_80", &archs));
    assert_true(image_start(made.codegen, made.kernel, &archs.items[0], &made.image));
    assert_false(image_finish(made.codegen, &made.image));
    assert_int_equal(diag_error_count(made.session->diags), 1);
    made_free(&made);
    options.ptxas = "/nowhere/ptxas";
    made = made_from(saxpy_text, &options);
    assert_true(arch_parse(made.session, "sm_80", &archs));
    bool started = image_start(made.codegen, made.kernel, &archs.items[0], &made.image);
    assert_false(started && image_finish(made.codegen, &made.image));
    assert_int_equal(diag_error_count(made.session->diags), 1);
    made_free(&made);
}

/* ---- the matrix unit ---- */

static void test_mma_ptx(void **state)
{
    (void)state;
    Made made = made_from(mma_text, there_is_ptxas() ? &defaults : &no_ptxas);
    made_image(&made, "sm_90a");
    const char *ptx = made.image.ptx;
    assert_int_equal(occurrences(ptx, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"), 1);
    assert_int_equal(occurrences(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"), 1);
    assert_int_equal(occurrences(ptx, "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16"), 1);
    assert_int_equal(occurrences(ptx, "ld.global.v4.b32"), 1);
    assert_int_equal(occurrences(ptx, "st.shared.v4.b32"), 1);
    assert_int_equal(occurrences(ptx, "bar.warp.sync"), 2); /* the block is one warp */
    assert_int_equal(occurrences(ptx, ".extern .shared"), 1);
    assert_int_equal(made.image.entries[0].shared_bytes, 768);
    made_free(&made);
}

/* Every instruction of the matrix unit, with operands of its types. */
static void test_mma_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *instruction, *word, *scalar, *ptx;
        int c_words;
    } kinds[] = {
        {"m16n8k16.f32.f16", "vec<f16, 2>", "f32", "f32.f16.f16.f32", 4},
        {"m16n8k16.f32.bf16", "vec<bf16, 2>", "f32", "f32.bf16.bf16.f32", 4},
        {"m16n8k16.f16.f16", "vec<f16, 2>", "f16", "f16.f16.f16.f16", 2},
        {"m16n8k8.f32.tf32", "f32", "f32", "f32.tf32.tf32.f32", 4},
        {"m16n8k32.s32.s8", "vec<i8, 4>", "i32", "s32.s8.s8.s32", 4},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *w = kinds[i].word, *s = kinds[i].scalar;
        Buf text = {0};
        buf_printf(&text,
                   "kernel @k stage THREADED (%%p: ptr<%s, global> reads, %%q: ptr<i32, global> "
                   "writes) {\n",
                   s);
        buf_printf(&text, "%%1 = const {value = 1} : i32\nlaunch %%1, %%1, %%1 {warps = 1} {\n");
        buf_printf(&text, "%%q1 = ptr_cast %%q : ptr<%s, global>\n", s);
        buf_printf(&text, "%%x = ptr_cast %%q : ptr<%s, global>\n",
                   strncmp(w, "vec", 3) ? "f32" : s);
        for (int j = 0; j < 6; j++)
            buf_printf(
                &text,
                "%%i%d = const {value = %d} : i32\n%%qq%d = ptr_add %%q, %%i%d : ptr<i32, global>\n"
                "%%v%d = ld %%qq%d {align = 4} : i32\n%%w%d = bitcast %%v%d : %s\n",
                j, j, j, j, j, j, j, j, w);
        buf_printf(
            &text,
            "%%c = ld %%p : %s\n%%d0, %%d1, %%d2, %%d3 = mma %%w0, %%w1, %%w2, %%w3, %%w4, %%w5, "
            "%%c, %%c, %%c, %%c {instruction = \"%s\"} : %s, %s, %s, %s\n",
            s, kinds[i].instruction, s, s, s, s);
        buf_printf(&text, "st %%q1, %%d0\nst %%q1, %%d1\nst %%q1, %%d2\nst %%q1, %%d3\n}\n}\n");
        Made made = made_from(text.data, there_is_ptxas() ? &defaults : &no_ptxas);
        made_image(&made, "sm_80");
        assert_int_equal(occurrences(made.image.ptx, kinds[i].ptx), 1);
        made_free(&made);
        made = made_from(text.data, &defaults);
        made_load(&made);
        made_free(&made);
        buf_free(&text);
    }
}

/* ---- loops that ask to be unrolled ---- */

static void test_unroll(void **state)
{
    (void)state;
    static const int wanted[][2] = {
        {0, 1}, {1, 1}, {4, 4}}; /* attribute, loads in the PTX at least */
    for (int i = 0; i < 3; i++) {
        Buf text = {0};
        buf_printf(&text,
                   "kernel @sum stage THREADED (%%n: i32, %%in: ptr<f32, global> reads, %%out: "
                   "ptr<f32, global> writes) {\n"
                   "%%1 = const {value = 1} : i32\n"
                   "launch %%1, %%1, %%1 {warps = 1} {\n"
                   "%%0 = const {value = 0} : i32\n"
                   "%%s = const {value = 1} : i32\n"
                   "%%z = const {number = 0} : f32\n"
                   "%%r = for %%0, %%n, %%s, %%z {unroll = %d} : f32 (%%i: i32, %%a: f32) {\n"
                   "%%p = ptr_add %%in, %%i : ptr<f32, global>\n"
                   "%%x = ld %%p : f32\n"
                   "%%b = add %%a, %%x : f32\n"
                   "yield %%b\n}\nst %%out, %%r\n}\n}\n",
                   wanted[i][0]);
        Made made = made_from(text.data, there_is_ptxas() ? &defaults : &no_ptxas);
        made_image(&made, "sm_90a");
        int loads = occurrences(made.image.ptx, "ld.global.b32");
        assert_true(wanted[i][1] == 1 ? loads == 1 : loads >= wanted[i][1]);
        if (wanted[i][0] < 2) /* what was unrolled is not to be unrolled again */
            assert_int_equal(occurrences(made.image.ptx, "nounroll"), wanted[i][0]);
        made_free(&made);
        buf_free(&text);
    }
}

/* ---- host functions ---- */

static const char host_text[] =
    "kernel @grids stage THREADED (%n: i64, %d: i64, %f: f16, %key: key i32 = 3) {\n"
    "  %one = const {value = 1} : i32\n"
    "  %x = floordiv %n, %d : i64\n"
    "  %y = floormod %n, %d : i64\n"
    "  %h = cast %f : i32\n"
    "  launch %x, %y, %h {warps = 2} {\n"
    "  }\n"
    "  %q = div %n, %d : i64\n"
    "  %s = add %key, %one : i32\n"
    "  launch %s, %one, %q {warps = 2} {\n"
    "  }\n"
    "}\n";

static void test_host_function(void **state)
{
    (void)state;
    Made made = made_from(host_text, &defaults);
    made_load(&made);
    tile_host_function *host;
    const char *complaint = NULL;
    *(void **)&host = made.symbol(0);
    assert_int_equal(made.image.entry_count, 2);
    int64_t n = 17, d = 5, key = 3;
    uint16_t f = (uint16_t)dtype_encode(DTYPE_f16, 9.75);
    const void *arguments[] = {&n, &d, &f, &key};
    tile_grid grids[2];
    assert_int_equal(host(arguments, grids, NULL, NULL, &complaint, NULL), TILE_OK);
    assert_true(grids[0].x == 3 && grids[0].y == 2 && grids[0].z == 9);
    assert_true(grids[1].x == 4 && grids[1].y == 1 && grids[1].z == 3);
    n = -17;
    assert_int_equal(host(arguments, grids, NULL, NULL, &complaint, NULL),
                     TILE_ERROR_ARGUMENT); /* -4 */
    d = -5;                                /* 3 and -2 */
    assert_int_equal(host(arguments, grids, NULL, NULL, &complaint, NULL), TILE_ERROR_ARGUMENT);
    n = 17, d = 0; /* no trap */
    assert_int_equal(host(arguments, grids, NULL, NULL, &complaint, NULL), TILE_ERROR_ARGUMENT);
    n = INT64_MIN, d = -1;
    assert_int_equal(host(arguments, grids, NULL, NULL, &complaint, NULL), TILE_ERROR_ARGUMENT);
    n = (int64_t)70000 * 70001 + 70000, d = 70001; /* y too large */
    assert_int_equal(host(arguments, grids, NULL, NULL, &complaint, NULL), TILE_ERROR_ARGUMENT);
    made_free(&made);
}

static void test_unknown_host(void **state)
{
    (void)state;
    Session *session = session_new();
    CodegenOptions options = {.host_triple = "pdp11-dec-none"};
    assert_null(codegen_new(session, &options));
    assert_int_equal(diag_error_count(session->diags), 1);
    session_free(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_saxpy_ptx),
        cmocka_unit_test(test_saxpy_cubin),
        cmocka_unit_test(test_ptxas_failure_is_reported),
        cmocka_unit_test(test_mma_ptx),
        cmocka_unit_test(test_mma_kinds),
        cmocka_unit_test(test_unroll),
        cmocka_unit_test(test_host_function),
        cmocka_unit_test(test_unknown_host),
    };
    setenv("TILE_DEVICE", "emulator", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
