/* target_test.c: what --arch may name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "target/target.h"

#include <string.h>

static void test_find(void **state)
{
    (void)state;
    const Target *target = target_find("sm_90a");
    assert_non_null(target);
    assert_int_equal(target->number, 90);
    assert_true(target_has(target, HAS_WGMMA));
    assert_false(target_has(target_find("sm_80"), HAS_WGMMA));
    assert_null(target_find("sm_9"));
    size_t count = 0;
    while (target_at(count) != NULL) count++;
    assert_true(count >= 4);
}

static void assert_list(const char *text, const char *expected)
{
    Session *session = session_new();
    ArchList list;
    Buf out = {0};
    buf_text(&out, "");
    if (arch_parse(session, text, &list))
        for (size_t i = 0; i < list.count; i++)
            buf_printf(&out, "%s%s ", list.items[i].emulator ? "emulator:" : "",
                       list.items[i].target->name);
    else
        buf_printf(&out, "%zu errors", diag_error_count(session->diags));
    assert_string_equal(out.data, expected);
    buf_free(&out);
    session_free(session);
}

static void test_lists(void **state)
{
    (void)state;
    assert_list("sm_80", "sm_80 ");
    assert_list("emulator,sm_80,sm_90a", "emulator:sm_80 sm_80 sm_90a ");
    assert_list("emulator", "emulator:sm_90a ");
    assert_list("emulator:sm_86,emulator:sm_86,sm_89", "emulator:sm_86 sm_89 ");
    assert_list("", "1 errors");
    assert_list("sm_80,", "1 errors");
    assert_list("emulatorx", "1 errors");
    assert_list("emulator:", "1 errors");
    assert_list("emulator:sm_8", "1 errors");
}

/* What "native" builds runs on the chip: 'a' code on its own alone, and never a newer chip's. */
static void test_chips(void **state)
{
    static const struct {
        int chip;
        const char *name;
    } rows[] = {{80, "sm_80"},       {86, "sm_86"},      {87, "sm_86"},   {89, "sm_89"},
                {90, "sm_90a"},      {100, "sm_100a"},   {120, "sm_120"}, {121, "sm_120"},
                {103, "compute_80"}, {110, "compute_80"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(target_for_chip(rows[i].chip)->name, rows[i].name);
    assert_null(target_for_chip(75));
    assert_null(target_for_chip(0));
    assert_true(target_has(target_find("compute_80"), IS_PORTABLE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_find), cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_chips)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
