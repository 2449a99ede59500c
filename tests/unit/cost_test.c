/* cost_test.c: what a multiprocessor has room for, and that each tuned number says where it comes
 * from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/cost.h"

#include <string.h>

static const Target *hopper(void)
{
    return target_find("sm_90a");
}

static void test_registers(void **state)
{
    (void)state;
    assert_int_equal(cost_registers_per_thread(hopper(), 4, 1), 255); /* no more than 255 */
    assert_int_equal(cost_registers_per_thread(hopper(), 8, 1), 255); /* 256 in each partition */
    assert_int_equal(cost_registers_per_thread(hopper(), 9, 1), 168); /* one has three warps */
    assert_int_equal(cost_registers_per_thread(hopper(), 12, 1), 168);
    assert_int_equal(cost_registers_per_thread(hopper(), 4, 2), 255);
    assert_int_equal(cost_registers_per_thread(hopper(), 8, 2), 128);
}

static void test_blocks(void **state)
{
    (void)state;
    assert_int_equal(cost_blocks_per_sm(hopper(), 4, 32, 0), 16); /* threads */
    assert_int_equal(cost_blocks_per_sm(hopper(), 1, 32, 0), 32); /* blocks */
    assert_int_equal(cost_blocks_per_sm(hopper(), 4, 168, 0), 3); /* registers */
    assert_int_equal(cost_blocks_per_sm(hopper(), 12, 168, 0), 1);
    assert_int_equal(cost_blocks_per_sm(hopper(), 4, 32, 113 * 1024), 2); /* shared memory */
    assert_int_equal(cost_blocks_per_sm(hopper(), 4, 32, 113 * 1024 + 1), 1);
    assert_int_equal(cost_blocks_per_sm(target_find("sm_86"), 32, 32, 0), 1);
}

static void test_waves(void **state)
{
    (void)state;
    assert_int_equal(cost_waves(hopper(), 132, 1), 1);
    assert_int_equal(cost_waves(hopper(), 133, 1), 2);
    assert_int_equal(cost_waves(hopper(), 264, 2), 1);
}

static void test_units(void **state)
{
    (void)state;
    for (int unit = 0; unit < UNITS; unit++) {
        assert_true(cost_latency(hopper(), (CostUnit)unit) > 0);
        assert_true(cost_cycles(hopper(), (CostUnit)unit, 1) == 1);
    }
    assert_int_equal(cost_latency(target_find("sm_80"), UNIT_TENSOR), 0);
    assert_int_equal(cost_cycles(target_find("sm_120"), UNIT_TENSOR, 1000), 0);
    assert_int_equal(cost_cycles(hopper(), UNIT_SFU, 160), 10);
    /* m64n256k16 */
    assert_int_equal(cost_cycles(hopper(), UNIT_TENSOR, 2 * 64 * 256 * 16), 128);
    assert_true(cost_cycles(target_find("sm_80"), UNIT_ALU, 128) >
                cost_cycles(hopper(), UNIT_ALU, 128));
}

/* Where no measurement decided, the row says so. */
static void test_measurements(void **state)
{
    static const struct {
        const char *name, *gpu, *measurement;
    } rows[] = {
#define TUNED(name, value, what, gpu, measurement) {#name, gpu, measurement},
#include "target/cost.def"
#undef TUNED
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const bool claims = strncmp(rows[i].measurement, "not measured", 12) != 0;
        if (claims != (strcmp(rows[i].gpu, "-") != 0))
            fail_msg("%s: '%s' by '%s'", rows[i].name, rows[i].measurement, rows[i].gpu);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_registers),
                                       cmocka_unit_test(test_blocks), cmocka_unit_test(test_waves),
                                       cmocka_unit_test(test_units),
                                       cmocka_unit_test(test_measurements)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
