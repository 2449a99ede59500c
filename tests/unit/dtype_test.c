/* dtype_test.c: element types: numbers to bits and back. */
#include "ir/ir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static double double_of(uint64_t bits)
{
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static void test_dtype_facts(void **state)
{
    (void)state;
    DType found;
    for (int i = 0; i < DTYPE_COUNT; i++) {
        assert_true(dtype_find(dtype_name((DType)i), &found));
        assert_int_equal(found, i);
    }
    assert_false(dtype_find("f17", &found));
    assert_int_equal(dtype_bytes(DTYPE_b1), 1);
    assert_int_equal(dtype_bytes(DTYPE_tf32), 4);
    assert_true(dtype_is_signed(DTYPE_i8) && !dtype_is_signed(DTYPE_u8) &&
                !dtype_is_integer(DTYPE_b1));
}

static void test_patterns_round_trip(void **state)
{
    (void)state;
    for (uint64_t bits = 0; bits < 65536; bits++) {
        assert_int_equal(dtype_encode(DTYPE_f16, dtype_decode(DTYPE_f16, bits)), bits);
        assert_int_equal(dtype_encode(DTYPE_bf16, dtype_decode(DTYPE_bf16, bits)), bits);
        uint64_t tf32 = bits << 16 | (bits & 7) << 13;
        assert_int_equal(dtype_encode(DTYPE_tf32, dtype_decode(DTYPE_tf32, tf32)), tf32);
        uint64_t f32 = bits << 16 | (bits * 40503 & 0xffff);
        assert_int_equal(dtype_encode(DTYPE_f32, dtype_decode(DTYPE_f32, f32)), f32);
        uint64_t f64 = bits << 48 | bits * 2654435761u;
        assert_true(dtype_encode(DTYPE_f64, dtype_decode(DTYPE_f64, f64)) == f64);
    }
    for (uint64_t bits = 0; bits < 256; bits++) {
        assert_int_equal(dtype_encode(DTYPE_f8e4m3, dtype_decode(DTYPE_f8e4m3, bits)), bits);
        if ((bits & 0x7f) != 0x7c) /* infinity is read, and never made */
            assert_int_equal(dtype_encode(DTYPE_f8e5m2, dtype_decode(DTYPE_f8e5m2, bits)), bits);
    }
}

static uint64_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 11 ^ *seed << 33;
}

#ifdef __FLT16_MANT_DIG__
__extension__ typedef _Float16 Half;
#endif

/* The compiler's own conversions, which the machine rounds, must agree. */
static void test_rounding_matches_machine(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 300000; i++) {
        uint64_t bits = next_random(&seed);
        if (i % 2 == 0) /* near the range of 16-bit floats, on and beside ties */
            bits = (bits & 0x800fffc000000000u) | (uint64_t)(1023 - 30 + (int)(bits % 50)) << 52 |
                   (bits >> 5 & 1);
        double number = double_of(bits);
        if (isnan(number)) continue;
        float single = (float)number;
        uint32_t single_bits;
        memcpy(&single_bits, &single, sizeof single_bits);
        assert_int_equal(dtype_encode(DTYPE_f32, number), single_bits);
#ifdef __FLT16_MANT_DIG__
        Half half = (Half)number;
        uint16_t half_bits;
        memcpy(&half_bits, &half, sizeof half_bits);
        assert_int_equal(dtype_encode(DTYPE_f16, number), half_bits);
#endif
        uint32_t upper = single_bits & 0x7fffffff;
        if ((double)single == number && upper < 0x7f800000) {
            upper = (upper + 0x7fff + (upper >> 16 & 1)) >> 16;
            assert_int_equal(dtype_encode(DTYPE_bf16, number), upper | single_bits >> 31 << 15);
        }
    }
}

static void test_known_encodings(void **state)
{
    (void)state;
    /* clang-format off */
    static const struct { DType dtype; double number; uint64_t bits; } rows[] = {
        {DTYPE_f16, 1, 0x3c00}, {DTYPE_f16, 65504, 0x7bff}, {DTYPE_f16, 65519.99, 0x7bff},
        {DTYPE_f16, 65520, 0x7c00}, {DTYPE_f16, -INFINITY, 0xfc00}, {DTYPE_f16, 0x1p-24, 1},
        {DTYPE_f16, 0x1p-25, 0}, {DTYPE_f16, 0x1.8p-25, 1}, {DTYPE_f16, -0.0, 0x8000},
        {DTYPE_bf16, 1, 0x3f80}, {DTYPE_bf16, 0x1.fffp127, 0x7f80},
        {DTYPE_bf16, 3.14159265, 0x4049},
        {DTYPE_tf32, 1.0009765625, 0x3f802000}, {DTYPE_tf32, 1 + 0x1p-11, 0x3f800000},
        {DTYPE_tf32, 1 + 0x3p-11, 0x3f804000}, {DTYPE_f32, 0.1, 0x3dcccccd},
        {DTYPE_f32, 0x1p-149, 1},
        {DTYPE_f64, 0.1, 0x3fb999999999999a}, {DTYPE_f64, 0x1p-1074, 1},
        {DTYPE_f8e4m3, 448, 0x7e}, {DTYPE_f8e4m3, 1e9, 0x7e}, {DTYPE_f8e4m3, -INFINITY, 0xfe},
        {DTYPE_f8e4m3, 1, 0x38}, {DTYPE_f8e4m3, 0x1p-9, 1}, {DTYPE_f8e4m3, 464, 0x7e},
        {DTYPE_f8e4m3, 17, 0x58},
        {DTYPE_f8e4m3, 19, 0x5a}, {DTYPE_f8e4m3, NAN, 0x7f},
        {DTYPE_f8e5m2, 57344, 0x7b}, {DTYPE_f8e5m2, INFINITY, 0x7b}, {DTYPE_f8e5m2, 1, 0x3c},
        {DTYPE_f8e5m2, 0x1p-16, 1}, {DTYPE_f8e5m2, 61440, 0x7b},
        {DTYPE_f8e8m0, 1, 127}, {DTYPE_f8e8m0, 1.01, 128}, {DTYPE_f8e8m0, -3, 129}, {DTYPE_f8e8m0, 0, 0},
        {DTYPE_f8e8m0, 0x1p-127, 0}, {DTYPE_f8e8m0, 0x1.1p-127, 1}, {DTYPE_f8e8m0, 0x1p-200, 0},
        {DTYPE_f8e8m0, 0x1p127, 254}, {DTYPE_f8e8m0, 0x1.1p127, 254}, {DTYPE_f8e8m0, INFINITY, 254},
        {DTYPE_f8e8m0, NAN, 255},
        {DTYPE_f4e2m1, 0.25, 0}, {DTYPE_f4e2m1, 0.75, 2}, {DTYPE_f4e2m1, 1.25, 2},
        {DTYPE_f4e2m1, 1.75, 4}, {DTYPE_f4e2m1, 2.5, 4}, {DTYPE_f4e2m1, 3.5, 6},
        {DTYPE_f4e2m1, 5, 6}, {DTYPE_f4e2m1, 7, 7}, {DTYPE_f4e2m1, -INFINITY, 15},
        {DTYPE_f4e2m1, 0.3, 1}, {DTYPE_f4e2m1, -0.2, 8}, {DTYPE_f4e2m1, 0.25001, 1},
        {DTYPE_f4e2m1, NAN, 7}, {DTYPE_i4, 9, 7}, {DTYPE_i4, -3, 13}, {DTYPE_u2, 7, 3},
        {DTYPE_i1, -1, 1}, {DTYPE_u1, 1, 1},
        {DTYPE_i8, 300, 127}, {DTYPE_i8, -129, 0x80}, {DTYPE_u8, -1, 0}, {DTYPE_i32, 2.5, 2},
        {DTYPE_u64, 1e300, UINT64_MAX}, {DTYPE_i64, -1e300, 1ull << 63}, {DTYPE_i16, NAN, 0},
        {DTYPE_b1, 0.5, 1},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (dtype_encode(rows[i].dtype, rows[i].number) != rows[i].bits)
            fail_msg("%s of %g is %llx, not %llx", dtype_name(rows[i].dtype), rows[i].number,
                     (unsigned long long)dtype_encode(rows[i].dtype, rows[i].number),
                     (unsigned long long)rows[i].bits);
    assert_true(isinf(dtype_decode(DTYPE_f8e5m2, 0x7c)) && isnan(dtype_decode(DTYPE_f8e4m3, 0xff)));
    for (uint64_t bits = 0; bits < 255; bits++)
        assert_int_equal(dtype_encode(DTYPE_f8e8m0, dtype_decode(DTYPE_f8e8m0, bits)), bits);
    assert_true(isnan(dtype_decode(DTYPE_f8e8m0, 255)));
    assert_true(isnan(dtype_decode(DTYPE_f16, dtype_encode(DTYPE_f16, NAN))));
}

static void test_wrap(void **state)
{
    (void)state;
    assert_int_equal(dtype_wrap(DTYPE_i8, 200), -56);
    assert_int_equal(dtype_wrap(DTYPE_u8, -1), 255);
    assert_int_equal(dtype_wrap(DTYPE_i32, INT64_C(1) << 31), INT32_MIN);
    assert_int_equal(dtype_wrap(DTYPE_u64, -1), -1);
    assert_int_equal(dtype_wrap(DTYPE_b1, 3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtype_facts),
        cmocka_unit_test(test_patterns_round_trip),
        cmocka_unit_test(test_rounding_matches_machine),
        cmocka_unit_test(test_known_encodings),
        cmocka_unit_test(test_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
