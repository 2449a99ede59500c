/* launch_test.c: what a call checks before it launches, without any driver: arguments of every
 * width, many keys, descriptors that ask for too much, names of statuses. */
#include "abi.h"
#include "runtime.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

static int runs;

static tile_status count_run(const tile_image *image, const tile_entry *entry,
                             const tile_grid *grid, const void *const *parameters)
{
    (void)image, (void)entry, (void)grid, (void)parameters;
    runs++;
    return TILE_OK;
}
static const tile_emulator counting_emulator = {.run = count_run};

static int32_t one_block(const void *const *arguments, tile_grid *grids, int64_t *extents,
                         uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)arguments, (void)extents, (void)workspaces, (void)complaint, (void)spans;
    grids[0] = (tile_grid){1, 1, 1};
    return TILE_OK;
}

static int32_t no_blocks(const void *const *arguments, tile_grid *grids, int64_t *extents,
                         uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)arguments, (void)grids, (void)extents, (void)workspaces, (void)complaint, (void)spans;
    return TILE_ERROR_ARGUMENT;
}

typedef struct Fixture { /* a kernel whose parts a test may change */
    tile_entry entries[2];
    tile_image image;
    tile_variant variant;
    tile_specialisation specialisations[12];
    int64_t keys[12];
    tile_parameter parameters[4];
    void *state;
    tile_kernel kernel;
} Fixture;

static void set_up(Fixture *f, tile_parameter parameter)
{
    memset(f, 0, sizeof *f);
    f->entries[0] = (tile_entry){.name = "k", .warps = 1};
    f->image = (tile_image){.target = "sm_90a", .entries = f->entries, .kind = TILE_IMAGE_EMULATOR};
    f->image.emulator = &counting_emulator;
    f->variant = (tile_variant){.images = &f->image, .image_count = 1};
    f->specialisations[0] =
        (tile_specialisation){.keys = f->keys, .host = one_block, .variants = &f->variant, 1, 1};
    f->parameters[0] = parameter;
    f->kernel = (tile_kernel){.name = "k",
                              .parameters = f->parameters,
                              .specialisations = f->specialisations,
                              .state = &f->state,
                              .abi_version = TILE_ABI_VERSION,
                              .parameter_count = 1,
                              .specialisation_count = 1};
    assert_int_equal(tile_set_device("emulator"), TILE_OK);
    runs = 0;
}

static tile_status launch(Fixture *f, const void *value)
{
    const void *arguments[] = {value, value, value, value};
    return tile_launch(&f->kernel, NULL, NULL, 0, arguments);
}

/* Multiples of 3 cannot be told from a value that was read with the wrong width or sign. */
static void values_of_every_width(void **unused)
{
    (void)unused;
    static const struct {
        const char *type;
        uint32_t bytes;
        int64_t value;
        const char *text;
    } rows[] = {
        {"i8", 1, -3, NULL},
        {"i8", 1, -4, "got -4"},
        {"u8", 1, 253, "got 253"},
        {"u8", 1, 252, NULL},
        {"i16", 2, -3000, NULL},
        {"i16", 2, -3001, "got -3001"},
        {"u16", 2, 65535, NULL},
        {"u16", 2, 65534, "got 65534"},
        {"i32", 4, -3, NULL},
        {"u32", 4, 4294967294, "got 4294967294"},
        {"i64", 8, -300000000000, NULL},
        {"i64", 8, -300000000001, "got -300000000001"},
    };
    static const uint32_t three[] = {3};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Fixture f;
        set_up(&f, (tile_parameter){"n", rows[i].type, TILE_PARAMETER_SCALAR, rows[i].bytes});
        f.variant.multiples = three;
        unsigned char cell[16];
        memset(cell, 0x55, sizeof cell); /* what lies behind the value must not count */
        memcpy(cell, &rows[i].value, rows[i].bytes);
        assert_int_equal(launch(&f, cell), rows[i].text ? TILE_ERROR_ARGUMENT : TILE_OK);
        assert_int_equal(runs, rows[i].text ? 0 : 1);
        if (rows[i].text) assert_non_null(strstr(tile_last_error(), rows[i].text));
    }
}

static void many_specialisations(void **unused)
{
    (void)unused;
    Fixture f;
    set_up(&f, (tile_parameter){"size", "i64", TILE_PARAMETER_KEY, 8});
    for (int i = 0; i < 12; i++) {
        f.specialisations[i] = f.specialisations[0];
        f.keys[i] = i;
        f.specialisations[i].keys = &f.keys[i];
    }
    f.kernel.specialisation_count = 12;
    int64_t size = 11;
    assert_int_equal(launch(&f, &size), TILE_OK);
    size = 12;
    assert_int_equal(launch(&f, &size), TILE_ERROR_NO_SPECIALISATION);
    assert_non_null(strstr(tile_last_error(), "(size = 7) and 4 more; add the line "
                                              "'k.compile(size=12)'"));
    f.kernel.specialisation_count = 0;
    assert_int_equal(launch(&f, &size), TILE_ERROR_NO_SPECIALISATION);
    assert_non_null(strstr(tile_last_error(), "the object holds none"));
}

static clock_t plan_often(const Fixture *f, int64_t key)
{
    enum { OFTEN = 20000 };
    const void *arguments[] = {&key};
    tile_plan plan;
    const clock_t start = clock();
    for (int i = 0; i < OFTEN; i++) {
        assert_int_equal(tile_plan_launch(&f->kernel, arguments, &plan), TILE_OK);
        assert_int_equal(plan.specialisation, key * 2); /* the first of its configurations */
    }
    return clock() - start;
}

/* The last of very many is found as fast as the first. */
static void specialisations_are_hashed(void **unused)
{
    (void)unused;
    enum { MANY = 4000 };
    static tile_specialisation many[2 * MANY];
    static int64_t keys[MANY];
    Fixture f;
    set_up(&f, (tile_parameter){"size", "i64", TILE_PARAMETER_KEY, 8});
    for (int i = 0; i < 2 * MANY; i++) {
        many[i] = f.specialisations[0];
        many[i].keys = &keys[i / 2];
        keys[i / 2] = i / 2;
    }
    f.kernel.specialisations = many;
    f.kernel.specialisation_count = 2 * MANY;
    for (int64_t key = 0; key < MANY; key++) {
        int64_t size = key;
        const void *arguments[] = {&size};
        tile_plan plan;
        assert_int_equal(tile_plan_launch(&f.kernel, arguments, &plan), TILE_OK);
        assert_int_equal(plan.specialisation, 2 * key);
    }
    const clock_t first = plan_often(&f, 0), last = plan_often(&f, MANY - 1);
    assert_true(last <= 5 * first + CLOCKS_PER_SEC / 100);
}

static void descriptors_that_ask_for_too_much(void **unused)
{
    (void)unused;
    Fixture f;
    int64_t value = 0;
    set_up(&f, (tile_parameter){"n", "i64", TILE_PARAMETER_SCALAR, 8});
    f.kernel.parameter_count = 257;
    assert_int_equal(launch(&f, &value), TILE_ERROR_ARGUMENT);
    assert_string_equal(tile_last_error(), "k: 257 parameters, at most 256 can be passed");
    f.kernel.parameter_count = 1;
    f.specialisations[0].launch_count = 65;
    assert_int_equal(launch(&f, &value), TILE_ERROR_ABI);
    assert_string_equal(tile_last_error(), "k: 65 launches, at most 64 are possible");
    f.specialisations[0].launch_count = 1;
    f.specialisations[0].variant_count = 0;
    assert_int_equal(launch(&f, &value), TILE_ERROR_ABI);
    assert_string_equal(tile_last_error(), "k: the descriptor holds no code");
    assert_int_equal(runs, 0);
}

/* A refused grid is told with the integers it may come from, and with no other argument. */
static void refused_grid_names_the_integers(void **unused)
{
    (void)unused;
    Fixture f;
    int64_t value = -7;
    set_up(&f, (tile_parameter){"n", "i64", TILE_PARAMETER_SCALAR, 8});
    f.parameters[1] = (tile_parameter){"scale", "f32", TILE_PARAMETER_SCALAR, 4};
    f.parameters[2] = (tile_parameter){"half", "bf16", TILE_PARAMETER_SCALAR, 2};
    f.parameters[3] = (tile_parameter){"data", "f32", TILE_PARAMETER_POINTER, 8};
    f.kernel.parameter_count = 4;
    f.specialisations[0].host = no_blocks;
    assert_int_equal(launch(&f, &value), TILE_ERROR_ARGUMENT);
    assert_string_equal(tile_last_error(),
                        "k: the number of blocks is negative or too large (n = -7)");
}

static tile_grid asked_grid;

static int32_t asked_blocks(const void *const *arguments, tile_grid *grids, int64_t *extents,
                            uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)arguments, (void)extents, (void)workspaces, (void)complaint, (void)spans;
    grids[0] = asked_grid;
    return TILE_OK;
}

/* Their numbers are of 32 bits. */
static void too_many_blocks_to_take_turns(void **unused)
{
    (void)unused;
    static const struct {
        tile_grid grid;
        const char *complaint;
    } rows[] = {
        {{1u << 30, 1, 1}, NULL},
        {{1u << 15, 1u << 15, 1}, NULL},
        {{1u << 15, 1u << 15, 2}, "k: 32768 x 32768 x 2 blocks, at most 1073741824 can take turns"},
        {{(1u << 30) + 1, 1, 1}, "k: 1073741825 x 1 x 1 blocks, at most"},
        {{INT32_MAX, 65535, 65535}, "k: 2147483647 x 65535 x 65535 blocks, at most 1073741824"},
        {{INT32_MAX, 65535, 0}, NULL},
    };
    int64_t value = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Fixture f;
        set_up(&f, (tile_parameter){"n", "i64", TILE_PARAMETER_SCALAR, 8});
        f.specialisations[0].host = asked_blocks;
        f.entries[0].persistent = 1;
        asked_grid = rows[i].grid;
        assert_int_equal(launch(&f, &value), rows[i].complaint ? TILE_ERROR_ARGUMENT : TILE_OK);
        assert_int_equal(runs, !rows[i].complaint && rows[i].grid.z ? 1 : 0);
        if (rows[i].complaint) assert_non_null(strstr(tile_last_error(), rows[i].complaint));
    }
}

/* 40 tiles by 16 blocks at a time take three turns, for which 14 blocks do. */
static void blocks_of_turns(void **unused)
{
    (void)unused;
    const tile_grid grid = {5, 4, 2}, few = {3, 1, 1};
    const tile_entry even = {.persistent = 1}, pairs = {.persistent = 1, .cluster = {2, 1, 1}};
    assert_int_equal(tile_persistent_grid(&even, &grid, 16).x, 14);
    assert_int_equal(tile_persistent_grid(&even, &few, 16).x, 3);
    assert_int_equal(tile_persistent_grid(&pairs, &grid, 16).x, 14);
}

static void no_image_for_the_emulator(void **unused)
{
    (void)unused;
    Fixture f;
    int64_t value = 0;
    set_up(&f, (tile_parameter){"n", "i64", TILE_PARAMETER_SCALAR, 8});
    f.image.emulator = NULL; /* linked without libtile_emulator */
    assert_int_equal(launch(&f, &value), TILE_ERROR_NO_EMULATOR);
    assert_non_null(strstr(tile_last_error(), "add -ltile_emulator before -ltile"));
    f.image.kind = 17;
    assert_int_equal(launch(&f, &value), TILE_ERROR_NO_EMULATOR);
    assert_non_null(strstr(tile_last_error(), "sm_90a (of an unknown kind)"));
    f.variant.image_count = 0;
    assert_int_equal(tile_prepare(&f.kernel, 0), TILE_ERROR_NO_EMULATOR);
    assert_non_null(strstr(tile_last_error(), "the object holds nothing"));
}

static void names_of_statuses(void **unused)
{
    (void)unused;
    static const struct {
        tile_status status;
        const char *name;
    } rows[] = {
#define NAME(status) {status, #status}
        NAME(TILE_OK),
        NAME(TILE_ERROR_NO_DRIVER),
        NAME(TILE_ERROR_NO_IMAGE),
        NAME(TILE_ERROR_NO_SPECIALISATION),
        NAME(TILE_ERROR_ARGUMENT),
        NAME(TILE_ERROR_ABI),
        NAME(TILE_ERROR_NO_EMULATOR),
        NAME(TILE_ERROR_MEMORY),
        NAME(TILE_ERROR_FAULT),
        NAME(TILE_ERROR_DEVICE),
#undef NAME
        {-1000, "unknown tile_status"},
        {719, "unknown CUresult"}, /* no driver was opened that could name it */
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(tile_status_name(rows[i].status), rows[i].name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_width),
        cmocka_unit_test(many_specialisations),
        cmocka_unit_test(specialisations_are_hashed),
        cmocka_unit_test(descriptors_that_ask_for_too_much),
        cmocka_unit_test(refused_grid_names_the_integers),
        cmocka_unit_test(too_many_blocks_to_take_turns),
        cmocka_unit_test(blocks_of_turns),
        cmocka_unit_test(no_image_for_the_emulator),
        cmocka_unit_test(names_of_statuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
