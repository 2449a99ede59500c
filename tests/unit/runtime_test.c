/* runtime_test.c: libtile against a driver that records, counts and fails
 * (tests/tools/fake_cuda.c), and its emulator's side with a run function of the test's own.
 *
 * libtile opens the driver once in a process, so each scenario runs in a child. */
#include "abi.h"

#include "tile/dlpack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_fixture.h"

/* ---- kernels by hand ---------------------------------------------------------------------------
 */

enum { BLOCK = 128 };

static const void *seen_parameters[FAKE_PARAMETERS];
static const char *seen_entry;
static tile_grid seen_grid;
static int emulated_runs;
static tile_status emulated_status;

static tile_status fake_run(const tile_image *image, const tile_entry *entry, const tile_grid *grid,
                            const void *const *parameters)
{
    CHECK(image->kind == TILE_IMAGE_EMULATOR);
    emulated_runs++;
    seen_entry = entry->name;
    seen_grid = *grid;
    memcpy(seen_parameters, parameters, 3 * sizeof parameters[0]);
    return emulated_status ? tile_error(emulated_status, "a race") : TILE_OK;
}
static const tile_emulator fake_emulator = {.run = fake_run};

/* n, size, a, b: one launch of ceil(n / 128) blocks; n < 0 is refused */
static int32_t host_one(const void *const *arguments, tile_grid *grids, int64_t *extents,
                        uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)spans;
    (void)extents;
    (void)workspaces;
    (void)complaint;
    const int32_t n = *(const int32_t *)arguments[0];
    if (n < 0) return TILE_ERROR_ARGUMENT;
    grids[0] = (tile_grid){((uint32_t)n + BLOCK - 1) / BLOCK, 1, 1};
    return TILE_OK;
}

/* The same, and a second launch of one block; the first has n rows in y. */
static int32_t host_two(const void *const *arguments, tile_grid *grids, int64_t *extents,
                        uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)spans;
    (void)extents;
    (void)workspaces;
    (void)complaint;
    grids[0] = (tile_grid){1, *(const uint32_t *)arguments[0], 1};
    grids[1] = (tile_grid){2, 3, 4};
    return TILE_OK;
}

/* Two workspaces: n bytes, which are zeroed, and 8 n bytes. */
static int32_t host_workspaces(const void *const *arguments, tile_grid *grids, int64_t *extents,
                               uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)spans;
    (void)extents;
    const int32_t n = *(const int32_t *)arguments[0];
    *complaint = "a workspace's size is negative or too large";
    if (n < 0) return TILE_ERROR_ARGUMENT;
    grids[0] = (tile_grid){1, 1, 1};
    workspaces[0] = (uint64_t)n;
    workspaces[1] = 8 * (uint64_t)n;
    return TILE_OK;
}

static const tile_parameter parameters[] = {
    {"n", "i32", TILE_PARAMETER_SCALAR, 4},
    {"size", "i64", TILE_PARAMETER_KEY, 8},
    {"a_ptr", "f32", TILE_PARAMETER_POINTER, 8},
    {"b_ptr", "f32", TILE_PARAMETER_POINTER, 8},
};
static const int64_t key_384[] = {384}, key_512[] = {512}, key_640[] = {640};

#define ENTRIES(name, ...) static const tile_entry name[] = {__VA_ARGS__}
ENTRIES(aligned_90, {"aligned_90", NULL, 4, 1024, 32, 0});
ENTRIES(general_90, {"general_90", NULL, 4, 0, 40, 8});
ENTRIES(big_90, {"big_90", NULL, 8, 100000, 0, 0});
ENTRIES(pair_90, {"first", NULL, 2, 0, 0, 0}, {"second", NULL, 1, 60000, 0, 0});
ENTRIES(emulated, {"emulated", NULL, 4, 0, 0, 0}, {"emulated_2", NULL, 4, 0, 0, 0});

static tile_image aligned_images[] = {
    {"sm_90", "cubin", aligned_90, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0}};
static tile_image general_images[] = {
    {"sm_90", "cubin", general_90, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0},
    {"emulator", NULL, emulated, NULL, NULL, 0, TILE_IMAGE_EMULATOR, 90, 'a', 0}};
static tile_image big_images[] = {
    {"compute_80", "ptx text+", big_90, NULL, NULL, 8, TILE_IMAGE_PTX, 80, 0, 0}};
static tile_image pair_images[] = {
    {"sm_90", "cubin", pair_90, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0}};

static const uint32_t aligned[] = {12, 0, 16, 1};
static const tile_variant variants_384[] = {{aligned, aligned_images, 1},
                                            {NULL, general_images, 2}};
static const tile_variant variants_512[] = {{NULL, big_images, 1}};
static const tile_variant variants_640[] = {{NULL, pair_images, 1}};
static const tile_specialisation specialisations[] = {
    {key_384, host_one, variants_384, 2, 1},
    {key_512, host_one, variants_512, 1, 1},
    {key_640, host_two, variants_640, 1, 2},
};
static void *kernel_state;
static const tile_kernel kernel = {
    "scale", parameters, specialisations, &kernel_state, TILE_ABI_VERSION, 4, 3, 0};

/* A call of `kernel`. The addresses are never followed. */
typedef struct call_values {
    int32_t n;
    int64_t size;
    uint64_t a, b;
} call_values;

static tile_status call_on(tile_stream stream, call_values values)
{
    const void *arguments[] = {&values.n, &values.size, &values.a, &values.b};
    static const int bytes[] = {4, 8, 8, 0};
    memcpy(fake->parameter_bytes, bytes, sizeof bytes);
    return tile_launch(&kernel, stream, NULL, 0, arguments);
}

static tile_status call(int32_t n, int64_t size, uint64_t a)
{
    return call_on(NULL, (call_values){n, size, a, 0x3000});
}

static void forget(void)
{
    fake->log[0] = '\0';
    fake->calls = 0;
}

/* ---- launches ----------------------------------------------------------------------------------
 */

TEST(launch_reaches_the_driver)
{
    CHECK(!strcmp(tile_last_error(), ""));
    CHECK(call(1001, 384, 0x1004) == TILE_OK);
    CHECK(fake->launches == 1 && !strcmp(fake->last.kernel, "general_90"));
    CHECK(fake->last.grid[0] == 8 && fake->last.grid[1] == 1 && fake->last.block[0] == 128);
    CHECK(fake->last.parameters[0] == 1001 && fake->last.parameters[1] == 0x1004);
    CHECK(fake->last.parameters[2] == 0x3000); /* the key is gone */
    CHECK(fake_depth() == 0);
}

TEST(aligned_variant_needs_every_multiple)
{
    CHECK(call(24, 384, 0x1010) == TILE_OK && !strcmp(fake->last.kernel, "aligned_90"));
    CHECK(fake->last.shared_bytes == 1024);
    CHECK(call(25, 384, 0x1010) == TILE_OK && !strcmp(fake->last.kernel, "general_90"));
    CHECK(call(24, 384, 0x1018) == TILE_OK && !strcmp(fake->last.kernel, "general_90"));
}

TEST(second_call_does_nothing_but_launch)
{
    fake_context *own = fake_push(0);
    fake_stream stream = {own};
    CHECK(call_on(&stream, (call_values){1, 384, 4, 0}) == TILE_OK);
    forget();
    CHECK(call_on(&stream, (call_values){1, 384, 4, 0}) == TILE_OK);
    CHECK(!strcmp(fake->log, "cuCtxGetCurrent cuStreamGetCtx cuLaunchKernelEx "));
    forget();
    CHECK(call(1, 384, 4) == TILE_OK);
    CHECK(!strcmp(fake->log, "cuCtxGetCurrent cuLaunchKernelEx "));
    CHECK(fake->libraries == 1 && fake->retained == 0);
}

TEST(launches_run_in_order_and_empty_ones_not_at_all)
{
    CHECK(call(0, 384, 0) == TILE_OK && fake->launches == 0);
    CHECK(call(5, 640, 0) == TILE_OK && fake->launches == 2);
    CHECK(!strcmp(fake->last.kernel, "second") && fake->last.grid[2] == 4);
    CHECK(fake->last.block[0] == 32 && fake->last.shared_bytes == 60000);
    CHECK(call(0, 640, 0) == TILE_OK && fake->launches == 3);
    CHECK(!strcmp(fake->last.kernel, "second"));
}

TEST(grids_are_checked)
{
    CHECK(call(-5, 384, 0) == TILE_ERROR_ARGUMENT);
    CHECK(says("scale") && says("n = -5, size = 384") && says("negative or too large"));
    CHECK(call(65536, 640, 0) == TILE_ERROR_ARGUMENT);
    CHECK(says("1 x 65536 x 1 blocks") && says("n = 65536"));
    CHECK(fake->launches == 0);
}

TEST(missing_specialisation_tells_what_to_add)
{
    CHECK(call(1, 4096, 0) == TILE_ERROR_NO_SPECIALISATION);
    CHECK(says("scale: no specialisation for size = 4096"));
    CHECK(says("(size = 384), (size = 512), (size = 640)"));
    CHECK(says("scale.compile(size=4096)"));
    CHECK(says("--export 'scale = scale.compile(size=4096)'"));
    CHECK(fake->calls == 0);
}

TEST(arguments_are_checked)
{
    int32_t n = 3;
    int64_t size = 384;
    const void *arguments[] = {&n, &size, NULL, NULL};
    CHECK(tile_launch(&kernel, NULL, NULL, 0, arguments) == TILE_ERROR_ARGUMENT);
    CHECK(says("'a_ptr'") && says("arguments[2]"));
    CHECK(tile_launch(&kernel, NULL, NULL, 0, NULL) == TILE_ERROR_ARGUMENT);
    CHECK(tile_launch(NULL, NULL, NULL, 0, arguments) == TILE_ERROR_ARGUMENT);
    tile_kernel other = kernel;
    other.abi_version = TILE_ABI_VERSION + 1;
    CHECK(tile_launch(&other, NULL, NULL, 0, arguments) == TILE_ERROR_ABI);
    CHECK(says("version 10") && says("scale"));
}

/* A kernel whose last variant assumes something says which argument breaks it. */
TEST(assumption_without_a_general_variant)
{
    static const tile_variant only[] = {{aligned, aligned_images, 1}};
    static const tile_specialisation one[] = {{key_384, host_one, only, 1, 1}};
    static void *state;
    const tile_kernel strict = {"strict", parameters, one, &state, TILE_ABI_VERSION, 4, 1, 0};
    int32_t n = 12;
    int64_t size = 384;
    uint64_t a = 0x1004, b = 0;
    const void *arguments[] = {&n, &size, &a, &b};
    CHECK(tile_launch(&strict, NULL, NULL, 0, arguments) == TILE_ERROR_ARGUMENT);
    CHECK(says("strict") && says("'a_ptr'") && says("16 bytes") && says("0x1004"));
    n = 13;
    CHECK(tile_launch(&strict, NULL, NULL, 0, arguments) == TILE_ERROR_ARGUMENT);
    CHECK(says("'n'") && says("multiple of 12, got 13"));
}

TEST(own_grid_and_warps)
{
    int32_t n = 3;
    int64_t size = 384;
    uint64_t a = 4, b = 0;
    const void *arguments[] = {&n, &size, &a, &b};
    const tile_grid grid = {3, 2, 1};
    CHECK(tile_launch(&kernel, NULL, &grid, 4, arguments) == TILE_OK);
    CHECK(fake->last.grid[0] == 3 && fake->last.grid[1] == 2);
    CHECK(tile_launch(&kernel, NULL, NULL, 8, arguments) == TILE_ERROR_ARGUMENT);
    CHECK(says("'warps'") && says("0 or 4, got 8"));
    size = 640;
    CHECK(tile_launch(&kernel, NULL, &grid, 0, arguments) == TILE_ERROR_ARGUMENT && says("'grid'"));
}

TEST(plan_says_what_a_call_would_do)
{
    int32_t n = 300;
    int64_t size = 384;
    uint64_t a = 4, b = 0;
    const void *arguments[] = {&n, &size, &a, &b};
    tile_plan plan;
    CHECK(tile_plan_launch(&kernel, arguments, NULL) == TILE_ERROR_ARGUMENT);
    CHECK(tile_plan_launch(&kernel, arguments, &plan) == TILE_OK);
    CHECK(!strcmp(plan.target, "sm_90") && plan.grid.x == 3 && plan.warps == 4);
    CHECK(plan.registers == 40 && plan.spill_bytes == 8 && plan.variant == 1);
    CHECK(plan.cluster.x == 1 && plan.launches == 1 && plan.specialisation == 0);
    CHECK(fake->libraries == 0 && fake_depth() == 0);
}

/* Which device a call belongs to, for those who check its tensors. */
TEST(device_of_a_stream_and_its_capability)
{
    fake->device_count = 2;
    fake->compute[1] = 80;
    CHECK(tile_device_compute(0) == 90 && tile_device_compute(1) == 80);
    CHECK(tile_device_compute(2) == 0 && tile_device_compute(-1) == 0);
    tile_tensors tensors = {.kernel = "scale"};
    CHECK(tile_tensors_begin(&tensors, NULL) == TILE_OK);
    CHECK(tensors.device.device_type == kDLCUDA && tensors.device.device_id == 0);
    CHECK(tile_set_device("cuda:1") == TILE_OK);
    CHECK(tile_tensors_begin(&tensors, NULL) == TILE_OK && tensors.device.device_id == 1);
    CHECK(fake_depth() == 0);
}

/* ---- images -------------------------------------------------------------------------------------
 */

TEST(image_is_the_best_for_each_device)
{
    static const tile_entry entry[] = {{"k", NULL, 1, 0, 0, 0}};
    static const tile_image images[] = {
        {"compute_80", "ptx text", entry, NULL, NULL, 8, TILE_IMAGE_PTX, 80, 0, 0},
        {"sm_80", "c", entry, NULL, NULL, 1, TILE_IMAGE_CUBIN, 80, 0, 0},
        {"sm_86", "c", entry, NULL, NULL, 1, TILE_IMAGE_CUBIN, 86, 0, 0},
        {"sm_90a", "c", entry, NULL, NULL, 1, TILE_IMAGE_CUBIN, 90, 'a', 0},
        {"sm_100a", "c", entry, NULL, NULL, 1, TILE_IMAGE_CUBIN, 100, 'a', 0},
        {"compute_90", "ptx text", entry, NULL, NULL, 8, TILE_IMAGE_PTX, 90, 0, 0},
        {"compute_90a", "ptx text", entry, NULL, NULL, 8, TILE_IMAGE_PTX, 90, 'a', 0},
    };
    static const tile_variant variant[] = {{NULL, images, 7}};
    static const tile_specialisation one[] = {{NULL, host_one, variant, 1, 1}};
    static const tile_parameter n_only[] = {{"n", "i32", TILE_PARAMETER_SCALAR, 4}};
    static void *state;
    static const tile_kernel k = {"k", n_only, one, &state, TILE_ABI_VERSION, 1, 1, 0};
    static const struct {
        int compute;
        const char *target;
    } rows[] = {{80, "sm_80"},  {86, "sm_86"},    {87, "sm_86"},       {89, "sm_86"},
                {90, "sm_90a"}, {100, "sm_100a"}, {103, "compute_90"}, {120, "compute_90"}};
    const int32_t n = 1;
    const void *arguments[] = {&n};
    fake->device_count = 9;
    for (int i = 0; i < 8; i++) fake->compute[i] = rows[i].compute;
    fake->compute[8] = 75;
    for (int i = 0; i < 8; i++) {
        tile_plan plan;
        fake_push(i);
        CHECK(tile_plan_launch(&k, arguments, &plan) == TILE_OK);
        CHECK(!strcmp(plan.target, rows[i].target));
        CHECK(tile_launch(&k, NULL, NULL, 0, arguments) == TILE_OK && fake->last.device == i);
    }
    CHECK(fake->libraries == 5); /* sm_86 and compute_90 serve several devices */
    fake_push(8);
    CHECK(tile_launch(&k, NULL, NULL, 0, arguments) == TILE_ERROR_NO_IMAGE);
    CHECK(says("Fake GPU 8 of compute capability 7.5") && says("sm_100a, compute_90 (PTX)"));
    CHECK(says("sm_75"));
}

TEST(refused_image_tells_the_whole_story)
{
    fake->fail_name = "cuLibraryLoadData";
    CHECK(call(1, 512, 0) == FAKE_ERROR);
    CHECK(says("scale") && says("compute_80 (PTX)") && says("CUDA 12.4") && says("Fake GPU 0"));
    CHECK(says("capability 9.0") && says("CUDA_ERROR_UNKNOWN (999)"));
    CHECK(says("ptxas: syntax error in line 1"));
    fake->fail_name = NULL;
    CHECK(call(1, 512, 0) == TILE_OK);
    CHECK(!strcmp(tile_status_name(FAKE_ERROR), "CUDA_ERROR_UNKNOWN"));
}

TEST(large_shared_memory_is_asked_for_on_each_device_once)
{
    fake->device_count = 2;
    fake->compute[1] = 90;
    fake_context *first = fake_push(0), *second = fake_push(1);
    fake_stream streams[] = {{first}, {second}};
    for (int i = 0; i < 6; i++) {
        CHECK(call_on(&streams[i % 2], (call_values){1, 512, 0, 0}) == TILE_OK);
        CHECK(fake->last.device == i % 2);
    }
    CHECK(fake->attributes == 2 && fake->libraries == 1 && fake->kernels_made == 1);
}

TEST(too_much_shared_memory_is_an_error_with_both_numbers)
{
    static const tile_entry huge[] = {{"huge", NULL, 4, 300000, 0, 0}};
    static const tile_image images[] = {
        {"sm_90", "c", huge, NULL, NULL, 1, TILE_IMAGE_CUBIN, 90, 0, 0}};
    static const tile_variant variant[] = {{NULL, images, 1}};
    static const tile_specialisation one[] = {{key_384, host_one, variant, 1, 1}};
    static void *state;
    static const tile_kernel k = {"k", parameters, one, &state, TILE_ABI_VERSION, 4, 1, 0};
    CHECK(tile_prepare(&k, 0) == FAKE_ERROR);
    CHECK(says("300000 bytes") && says("232448"));
}

TEST(prepare_leaves_nothing_for_the_first_call)
{
    CHECK(tile_prepare(&kernel, 0) == TILE_OK);
    CHECK(fake->settled == 5 && fake->libraries == 4 && fake_depth() == 0);
    forget();
    CHECK(call(1, 512, 0) == TILE_OK);
    CHECK(!strcmp(fake->log,
                  "cuCtxGetCurrent cuCtxPushCurrent_v2 cuLaunchKernelEx cuCtxPopCurrent_v2 "));
    CHECK(tile_prepare(&kernel, 9) == TILE_ERROR_DEVICE && says("cuda:9"));
    CHECK(tile_prepare(&kernel, -1) == TILE_ERROR_DEVICE);
}

/* ---- contexts
 * ------------------------------------------------------------------------------------- */

TEST(context_of_the_caller_is_honoured_and_kept)
{
    fake->device_count = 2;
    fake->compute[1] = 90;
    fake_context *own = fake_push(0);
    CHECK(call(1, 384, 4) == TILE_OK && fake->last.context == own);
    CHECK(fake->retained == 0);
    fake_context *other = fake_push(1);
    fake_stream stream = {own};
    CHECK(call_on(&stream, (call_values){1, 384, 4, 0}) == TILE_OK);
    CHECK(fake->last.context == own && fake->last.device == 0);
    CHECK(fake_current() == other && fake_depth() == 2);
    CHECK(tile_prepare(&kernel, 0) == TILE_OK && fake_current() == other && fake->retained == 1);
    /* special streams belong to the current context */
    CHECK(tile_synchronize((tile_stream)(uintptr_t)2) == TILE_OK);
    CHECK(fake_current() == other && fake_depth() == 2);
}

TEST(without_a_context_the_chosen_device_is_used)
{
    fake->device_count = 2;
    fake->compute[1] = 90;
    CHECK(tile_set_device("cuda:1") == TILE_OK);
    CHECK(call(1, 384, 4) == TILE_OK && fake->last.device == 1);
    CHECK(call(1, 384, 4) == TILE_OK && fake->retained == 1 && fake_depth() == 0);
    CHECK(tile_set_device("cuda:2") == TILE_ERROR_DEVICE && says("cuda:2") && says("2 GPUs"));
    CHECK(call(1, 384, 4) == TILE_OK && fake->last.device == 1);
    CHECK(tile_device_count() == 2);
}

/* ---- failures -----------------------------------------------------------------------------------
 */

/* All that a program does, from nothing; the first status that is not 0. */
static tile_status whole_program(void)
{
    int data = 7, back = 0;
    void *memory = NULL;
    tile_status status = tile_prepare(&kernel, 0);
    if (!status) status = tile_alloc(&memory, sizeof data);
    if (!status) status = tile_copy_in(memory, &data, sizeof data, NULL);
    if (!status) status = call(3, 640, (uintptr_t)memory);
    if (!status) status = tile_copy_out(&back, memory, sizeof back, NULL);
    if (!status) status = tile_synchronize(NULL);
    if (!status) CHECK(back == 7);
    fake->fail_at = 0;
    if (tile_free(memory)) CHECK(0);
    return status;
}

enum { NOTHING_FAILED = 77 };

/* Fails the call of this run's number, then does it all again without. */
static void one_call_fails(void)
{
    fake->device_count = 2;
    fake->compute[1] = 90;
    fake->fail_at = number_of_run;
    const tile_status status = whole_program();
    const int reached = fake->calls >= number_of_run && status != TILE_OK;
    CHECK(status == TILE_OK || status == FAKE_ERROR);
    CHECK(!status || says("cu"));
    CHECK(fake_depth() == 0 && fake->allocations == 0);
    CHECK(whole_program() == TILE_OK);
    CHECK(fake_depth() == 0 && fake->allocations == 0 && fake->retained == 1);
    CHECK(fake->libraries == 4 && fake->kernels_made == 5);
    exit(reached ? 0 : NOTHING_FAILED);
}

static void each_call_fails_once(void **unused)
{
    (void)unused;
    int number = 1, outcome = 0;
    for (; number < 200 && !outcome; number++) outcome = run_numbered(one_call_fails, number);
    assert_int_equal(outcome, NOTHING_FAILED);
    assert_in_range(number, 40, 199);
}

/* As above with the caller's own context and a stream of another one. */
static void one_call_fails_on_a_stream(void)
{
    fake_context *other = fake_push(0), *own = fake_push(0);
    fake_stream stream = {other};
    fake->fail_at = number_of_run;
    const tile_status status = call_on(&stream, (call_values){1, 512, 0, 0});
    CHECK(fake_current() == own && fake_depth() == 2);
    CHECK(status == TILE_OK || (status == FAKE_ERROR && says("cu")));
    fake->fail_at = 0;
    CHECK(call_on(&stream, (call_values){1, 512, 0, 0}) == TILE_OK);
    CHECK(fake->last.context == other && fake->libraries == 1 && fake_current() == own);
    exit(status ? 0 : NOTHING_FAILED);
}

static void each_call_fails_once_on_a_stream(void **unused)
{
    (void)unused;
    int number = 1, outcome = 0;
    for (; number < 100 && !outcome; number++)
        outcome = run_numbered(one_call_fails_on_a_stream, number);
    assert_int_equal(outcome, NOTHING_FAILED);
    assert_in_range(number, 15, 99);
}

TEST(no_driver_is_a_status)
{
    setenv("TILE_CUDA_LIBRARY", "/nonexistent/libcuda.so.1", 1);
    void *memory = &memory;
    CHECK(call(1, 384, 4) == TILE_ERROR_NO_DRIVER && says("libcuda.so.1") && says("emulator"));
    CHECK(tile_alloc(&memory, 4) == TILE_ERROR_NO_DRIVER && !memory);
    CHECK(tile_set_device("cuda") == TILE_ERROR_NO_DRIVER);
    CHECK(tile_device_count() == 0);
    CHECK(!strcmp(tile_status_name(TILE_ERROR_NO_DRIVER), "TILE_ERROR_NO_DRIVER"));
    CHECK(!strcmp(tile_status_name(700), "unknown CUresult"));
}

TEST(old_driver_is_named)
{
    setenv("TILE_CUDA_LIBRARY", "libc.so.6", 1); /* a library without the symbols */
    CHECK(call(1, 384, 4) == TILE_ERROR_NO_DRIVER);
    CHECK(says("libc.so.6 has no cuInit") && says("12.0"));
}

TEST(error_text_may_quote_the_last_one)
{
    tile_error(TILE_ERROR_FAULT, "inner");
    CHECK(tile_error(TILE_ERROR_FAULT, "outer: %s", tile_last_error()) == TILE_ERROR_FAULT);
    CHECK(!strcmp(tile_last_error(), "outer: inner"));
}

/* ---- threads
 * -------------------------------------------------------------------------------------- */

enum { THREADS = 64 };
static pthread_barrier_t barrier;
static tile_status thread_status[THREADS];

static void *first_call(void *number)
{
    const size_t index = (size_t)(uintptr_t)number;
    int32_t n = (int32_t)index + 1;
    int64_t size = 384;
    uint64_t a = index % 2 ? 4 : 16, b = 0;
    const void *arguments[] = {&n, &size, &a, &b};
    pthread_barrier_wait(&barrier);
    thread_status[index] = tile_launch(&kernel, NULL, NULL, 0, arguments);
    return NULL;
}

static void on_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    CHECK(!pthread_barrier_init(&barrier, NULL, THREADS));
    for (size_t i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, body, (void *)(uintptr_t)i));
    for (size_t i = 0; i < THREADS; i++) CHECK(!pthread_join(threads[i], NULL));
    for (size_t i = 0; i < THREADS; i++) CHECK(thread_status[i] == TILE_OK);
}

TEST(first_call_from_64_threads)
{
    on_threads(first_call);
    CHECK(fake->launches == THREADS && fake->retained == 1);
    CHECK(fake->libraries == 2 || fake->libraries == 1); /* n % 12 and a % 16 may pick one only */
    char *init = strstr(fake->log, "cuInit ");
    CHECK(init && !strstr(init + 1, "cuInit "));
}

/* ---- memory
 * ----------------------------------------------------------------------------------------- */

TEST(gpu_memory_goes_through_the_driver)
{
    char text[] = "tiles", back[sizeof text] = "";
    void *memory;
    CHECK(tile_alloc(&memory, sizeof text) == TILE_OK && fake->allocations == 1);
    CHECK(tile_copy_in(memory, text, sizeof text, NULL) == TILE_OK);
    CHECK(tile_copy_out(back, memory, sizeof back, NULL) == TILE_OK);
    CHECK(tile_synchronize(NULL) == TILE_OK && !strcmp(back, "tiles"));
    CHECK(!tile_find_allocation(memory));
    CHECK(tile_free(memory) == TILE_OK && fake->allocations == 0 && fake_depth() == 0);
    CHECK(tile_free(NULL) == TILE_OK);
    CHECK(tile_alloc(&memory, 0) == TILE_OK && !memory);
    CHECK(tile_copy_in(NULL, text, 4, NULL) == TILE_ERROR_ARGUMENT && says("'device'"));
    CHECK(tile_copy_out(NULL, text, 4, NULL) == TILE_ERROR_ARGUMENT && says("'host'"));
}

static int is_written(const tile_allocation *allocation, size_t byte)
{
    return allocation->written[byte / 8] >> byte % 8 & 1;
}

TEST(emulator_memory_is_watched)
{
    enum { BYTES = 100 };
    char text[BYTES] = "tiles", back[BYTES];
    uint8_t *memory;
    CHECK(tile_set_device("emulator") == TILE_OK);
    CHECK(tile_alloc((void **)&memory, BYTES) == TILE_OK && (uintptr_t)memory % 256 == 0);
    const tile_allocation *found = tile_find_allocation(memory);
    CHECK(found && found->base == memory && found->bytes == BYTES);
    CHECK(tile_find_allocation(memory + BYTES - 1) == found);
    CHECK(!tile_find_allocation(memory + BYTES) && !tile_find_allocation(memory - 1));
    CHECK(tile_copy_in(memory + 3, text, 42, NULL) == TILE_OK);
    for (size_t i = 0; i < BYTES; i++) CHECK(is_written(found, i) == (i >= 3 && i < 45));
    CHECK(tile_copy_out(back, memory + 3, 42, NULL) == TILE_OK && !memcmp(text, back, 42));
    CHECK(tile_copy_in(memory + 90, text, 11, NULL) == TILE_ERROR_ARGUMENT);
    CHECK(says("11 bytes at byte 90") && says("allocation of 100 bytes"));
    CHECK(tile_copy_out(back, text, 1, NULL) == TILE_ERROR_ARGUMENT && says("in no allocation"));
    CHECK(tile_free(memory + 1) == TILE_ERROR_ARGUMENT);
    CHECK(tile_free(memory) == TILE_OK && !tile_find_allocation(memory));
    CHECK(tile_alloc((void **)&memory, SIZE_MAX - 64) == TILE_ERROR_MEMORY);
    CHECK(fake->calls == 0);
}

TEST(many_allocations_are_found)
{
    enum { COUNT = 1000 };
    static uint8_t *memory[COUNT];
    CHECK(tile_set_device("emulator") == TILE_OK);
    for (size_t i = 0; i < COUNT; i++) CHECK(tile_alloc((void **)&memory[i], 1 + i) == TILE_OK);
    for (size_t i = 0; i < COUNT; i += 2) CHECK(tile_free(memory[i]) == TILE_OK);
    for (size_t i = 1; i < COUNT; i += 2) {
        const tile_allocation *found = tile_find_allocation(memory[i] + i);
        CHECK(found && found->base == memory[i] && !tile_find_allocation(memory[i] + i + 1));
    }
    for (size_t i = 1; i < COUNT; i += 2) CHECK(tile_free(memory[i]) == TILE_OK);
}

static void *use_memory(void *number)
{
    const size_t index = (size_t)(uintptr_t)number;
    pthread_barrier_wait(&barrier);
    for (size_t i = 0; i < 50; i++) {
        uint8_t *memory;
        thread_status[index] = tile_alloc((void **)&memory, 1 + index);
        if (thread_status[index]) return NULL;
        for (size_t j = 0; j < 20; j++) {
            const tile_allocation *found = tile_find_allocation(memory + index);
            if (!found || found->base != memory) thread_status[index] = TILE_ERROR_FAULT;
        }
        tile_free(memory);
    }
    return NULL;
}

TEST(memory_from_64_threads)
{
    CHECK(tile_set_device("emulator") == TILE_OK);
    on_threads(use_memory);
}

/* ---- the emulator
 * --------------------------------------------------------------------------------- */

TEST(emulator_runs_without_a_driver)
{
    setenv("TILE_CUDA_LIBRARY", "/nonexistent", 1);
    setenv("TILE_DEVICE", "emulator", 1);
    CHECK(call(300, 384, 4) == TILE_ERROR_NO_EMULATOR && says("-ltile_emulator"));
    general_images[1].emulator = &fake_emulator;
    CHECK(call(300, 384, 4) == TILE_OK && emulated_runs == 1);
    CHECK(!strcmp(seen_entry, "emulated") && seen_grid.x == 3);
    CHECK(call(0, 384, 4) == TILE_OK && emulated_runs == 1);
    CHECK(call(1, 512, 4) == TILE_ERROR_NO_EMULATOR && says("compute_80 (PTX)"));
    emulated_status = TILE_ERROR_FAULT;
    CHECK(call(1, 384, 4) == TILE_ERROR_FAULT && says("a race"));
    CHECK(tile_prepare(&kernel, 0) == TILE_ERROR_NO_EMULATOR);
    CHECK(tile_synchronize(NULL) == TILE_OK);
}

TEST(emulator_gets_the_parameters_without_keys)
{
    general_images[1].emulator = &fake_emulator;
    int32_t n = 5;
    int64_t size = 384;
    uint64_t a = 4, b = 8;
    const void *arguments[] = {&n, &size, &a, &b};
    CHECK(tile_set_device("emulator") == TILE_OK);
    CHECK(tile_launch(&kernel, NULL, NULL, 0, arguments) == TILE_OK);
    CHECK(seen_parameters[0] == &n && seen_parameters[1] == &a && seen_parameters[2] == &b);
    tile_plan plan;
    CHECK(tile_plan_launch(&kernel, arguments, &plan) == TILE_OK);
    CHECK(!strcmp(plan.target, "emulator") && plan.grid.x == 1);
}

TEST(device_names_are_checked)
{
    CHECK(tile_set_device("gpu") == TILE_ERROR_DEVICE && says("'gpu'") && says("cuda:N"));
    CHECK(tile_set_device("cuda:") == TILE_ERROR_DEVICE);
    CHECK(tile_set_device("cuda:1x") == TILE_ERROR_DEVICE);
    CHECK(tile_set_device("cuda:99999999999999999999") == TILE_ERROR_DEVICE);
    CHECK(tile_set_device("cuda:0") == TILE_OK);
    CHECK(tile_set_device("emulator") == TILE_OK);
    setenv("TILE_DEVICE", "cuda:-1", 1);
    CHECK(tile_set_device(NULL) == TILE_ERROR_DEVICE && says("TILE_DEVICE"));
    unsetenv("TILE_DEVICE");
    CHECK(tile_set_device(NULL) == TILE_OK);
    CHECK(call(1, 384, 4) == TILE_OK && fake->launches == 1);
}

TEST(wrong_environment_is_said_by_the_first_call)
{
    setenv("TILE_DEVICE", "tpu", 1);
    CHECK(call(1, 384, 4) == TILE_ERROR_DEVICE && says("TILE_DEVICE") && says("'tpu'"));
    setenv("TILE_DEVICE", "cuda:3", 1);
    CHECK(call(1, 384, 4) == TILE_ERROR_DEVICE && says("cuda:3") && says("1 GPU"));
}

/* ---- tensor maps, and blocks that take turns ---------------------------------------------------
 */

/* Of `n` rows of 64 halves at the pointer. */
static void map_rows(const void *const *arguments, tile_tensor_map *out)
{
    int32_t n;
    memcpy(&n, arguments[0], sizeof n);
    memcpy(&out->pointer, arguments[1], sizeof out->pointer);
    out->extents[0] = 64;
    out->extents[1] = n;
    out->strides[0] = 2;
    out->strides[1] = 128;
    out->box[0] = 64;
    out->box[1] = 8;
    out->rank = 2;
    out->dtype = TILE_DTYPE(1, 16, 1);
    out->swizzle = 128;
}

static int32_t host_rows(const void *const *arguments, tile_grid *grids, int64_t *extents,
                         uint64_t *sizes, const char **complaint, uint64_t *spans)
{
    int32_t n;
    (void)extents, (void)sizes, (void)complaint, (void)spans;
    memcpy(&n, arguments[0], sizeof n);
    grids[0] = (tile_grid){32, (uint32_t)n / 8 + 1, 1};
    return TILE_OK;
}

static const tile_entry by_map[] = {{.name = "by_map", .warps = 5, .persistent = 1}};
static const tile_entry by_threads[] = {{.name = "by_threads", .warps = 4}};
static const tile_image map_images[] = {{.target = "sm_90a",
                                         .bytes = "cubin",
                                         .entries = by_map,
                                         .size = 5,
                                         .compute = 90,
                                         .suffix = 'a',
                                         .maps = map_rows,
                                         .map_count = 1}};
static const tile_image thread_images[] = {{.target = "sm_90a",
                                            .bytes = "cubin",
                                            .entries = by_threads,
                                            .size = 5,
                                            .compute = 90,
                                            .suffix = 'a'}};
static const uint32_t map_multiples[] = {1, 16};
static const tile_variant map_variants[] = {{map_multiples, map_images, 1},
                                            {NULL, thread_images, 1}};
static const tile_specialisation map_specialisations[] = {
    {.host = host_rows, .variants = map_variants, .variant_count = 2, .launch_count = 1}};
static const tile_parameter map_parameters[] = {{"n", "i32", TILE_PARAMETER_SCALAR, 4},
                                                {"p", "f16", TILE_PARAMETER_POINTER, 8}};
static void *map_state;
static const tile_kernel map_kernel = {
    "rows", map_parameters, map_specialisations, &map_state, TILE_ABI_VERSION, 2, 1, 0};

static tile_status call_rows(int32_t n, uint64_t pointer)
{
    const int bytes[] = {4, 8, n > 0 && pointer % 16 == 0 ? 8 : 0, 0};
    const void *arguments[] = {&n, &pointer};
    memcpy(fake->parameter_bytes, bytes, sizeof bytes);
    forget();
    return tile_launch(&map_kernel, NULL, NULL, 0, arguments);
}

TEST(tensor_maps_are_made_and_kept)
{
    CHECK(call_rows(100, 4096) == TILE_OK && !strcmp(fake->last.kernel, "by_map"));
    CHECK(strstr(fake->log, "cuTensorMapEncodeTiled"));
    CHECK(fake->last.parameters[0] == 100 && fake->last.parameters[1] == 4096);
    CHECK(fake->last.parameters[2] == 4096); /* what the driver was told first */
    CHECK(call_rows(100, 4096) == TILE_OK && !strstr(fake->log, "cuTensorMapEncodeTiled"));
    CHECK(call_rows(100, 8192) == TILE_OK && strstr(fake->log, "cuTensorMapEncodeTiled"));
    CHECK(fake->last.parameters[2] == 8192);
    CHECK(call_rows(101, 8192) == TILE_OK && strstr(fake->log, "cuTensorMapEncodeTiled"));
    fake->fail_name = "cuTensorMapEncodeTiled";
    CHECK(call_rows(102, 8192) == FAKE_ERROR && says("rows") && says("cuTensorMapEncodeTiled"));
    CHECK(call_rows(101, 8192) == TILE_OK);
}

TEST(what_no_tensor_map_can_say_takes_another_variant)
{
    CHECK(call_rows(100, 4098) == TILE_OK && !strcmp(fake->last.kernel, "by_threads"));
    CHECK(call_rows(0, 4096) == TILE_OK && !strcmp(fake->last.kernel, "by_threads"));
    CHECK(call_rows(1, 4096) == TILE_OK && !strcmp(fake->last.kernel, "by_map"));
}

TEST(blocks_that_take_turns_are_as_many_as_run_at_a_time)
{
    CHECK(call_rows(127, 4096) == TILE_OK && fake->last.grid[0] == 128); /* 512 in 4 turns */
    CHECK(fake->last.grid[1] == 1 && fake->last.block[0] == 160);
    CHECK(call_rows(31, 4096) == TILE_OK && fake->last.grid[0] == 128); /* in one */
    CHECK(call_rows(39, 4096) == TILE_OK && fake->last.grid[0] == 80);  /* 160 in 2 */
    CHECK(call_rows(127, 4098) == TILE_OK && fake->last.grid[0] == 32 && fake->last.grid[1] == 16);
}

/* ---- blocks together ----------------------------------------------------------------------------
 */

static int32_t host_blocks(const void *const *arguments, tile_grid *grids, int64_t *extents,
                           uint64_t *sizes, const char **complaint, uint64_t *spans)
{
    int32_t n;
    (void)extents, (void)sizes, (void)complaint, (void)spans;
    memcpy(&n, arguments[0], sizeof n);
    grids[0] = (tile_grid){(uint32_t)n, 2, 1};
    grids[1] = (tile_grid){(uint32_t)n, 1, 1};
    return TILE_OK;
}

static const tile_entry together[] = {
    {.name = "pairs", .warps = 4, .early = 1, .cluster = {2, 1, 1}},
    {.name = "meeting", .warps = 4, .cooperative = 1}};
static const tile_image together_images[] = {{.target = "sm_90a",
                                              .bytes = "cubin",
                                              .entries = together,
                                              .size = 5,
                                              .compute = 90,
                                              .suffix = 'a'}};
static const tile_variant together_variants[] = {{NULL, together_images, 1}};
static const tile_specialisation together_specialisations[] = {
    {.host = host_blocks, .variants = together_variants, .variant_count = 1, .launch_count = 2}};
static const tile_parameter together_parameters[] = {{"n", "i32", TILE_PARAMETER_SCALAR, 4}};
static void *together_state;
static const tile_kernel together_kernel = {"together",
                                            together_parameters,
                                            together_specialisations,
                                            &together_state,
                                            TILE_ABI_VERSION,
                                            1,
                                            1,
                                            0};

static uint32_t first_cluster[3], first_early; /* what the first launch of a call says */

static void keep_first(const char *kernel, void **parameters)
{
    (void)parameters;
    if (strcmp(kernel, "pairs")) return;
    memcpy(first_cluster, fake->last.cluster, sizeof first_cluster);
    first_early = fake->last.early;
}

static tile_status call_together(int32_t n)
{
    const int bytes[] = {4, 0};
    const void *arguments[] = {&n};
    memcpy(fake->parameter_bytes, bytes, sizeof bytes);
    fake->work = keep_first;
    forget();
    const tile_status status = tile_launch(&together_kernel, NULL, NULL, 0, arguments);
    fake->work = NULL;
    return status;
}

TEST(clusters_and_meetings_are_asked_for)
{
    const int32_t n = 128;
    tile_plan plan;
    CHECK(call_together(n) == TILE_OK && !strcmp(fake->last.kernel, "meeting"));
    CHECK(fake->last.cooperative == 1 && fake->last.cluster[0] == 0);
    CHECK(first_cluster[0] == 2 && first_cluster[1] == 1 && first_cluster[2] == 1);
    CHECK(first_early == 1 && fake->last.early == 0);
    CHECK(tile_plan_launch(&together_kernel, (const void *[]){&n}, &plan) == TILE_OK);
    CHECK(plan.cluster.x == 2 && plan.cluster.y == 1 && plan.cluster.z == 1);
}

TEST(clusters_are_whole_and_all_that_meet_run)
{
    CHECK(call_together(7) == TILE_ERROR_ARGUMENT && says("7 x 2 x 1") && says("2 x 1 x 1"));
    CHECK(says("n = 7"));
    CHECK(call_together(134) == TILE_ERROR_ARGUMENT && says("wait for each other"));
    CHECK(says("134 x 1 x 1") && says("runs 132"));
}

/* ---- launches that begin early ---- */

static int32_t host_line(const void *const *arguments, tile_grid *grids, int64_t *extents,
                         uint64_t *sizes, const char **complaint, uint64_t *spans)
{
    int32_t n;
    (void)extents, (void)sizes, (void)complaint, (void)spans;
    memcpy(&n, arguments[0], sizeof n);
    grids[0] = (tile_grid){(uint32_t)n, 1, 1};
    return TILE_OK;
}

enum { A_THIRD = 77000, MOST = 200000 /* of a multiprocessor's shared memory */ };
static const tile_entry three_each[] = {
    {.name = "three", .warps = 4, .shared_bytes = A_THIRD, .early = 1}};
static const tile_entry ahead[] = {
    {.name = "ahead", .warps = 4, .shared_bytes = A_THIRD, .persistent = 1, .early = 1}};
static const tile_entry one_each[] = {
    {.name = "one", .warps = 4, .shared_bytes = MOST, .persistent = 1, .early = 1}};
#define LINE_IMAGE(name)                                                                           \
    {                                                                                              \
        .target = "sm_90a", .bytes = "cubin", .entries = name, .size = 5, .compute = 90,           \
        .suffix = 'a'                                                                              \
    }
static const tile_image line_images[] = {LINE_IMAGE(three_each), LINE_IMAGE(one_each),
                                         LINE_IMAGE(ahead)};
static const tile_variant line_variants[] = {
    {NULL, line_images, 1}, {NULL, line_images + 1, 1}, {NULL, line_images + 2, 1}};
static const tile_specialisation line_specialisations[] = {
    {.host = host_line, .variants = line_variants, .variant_count = 1, .launch_count = 1},
    {.host = host_line, .variants = line_variants + 1, .variant_count = 1, .launch_count = 1},
    {.host = host_line, .variants = line_variants + 2, .variant_count = 1, .launch_count = 1}};
static void *line_states[3];
static const tile_kernel line_kernels[] = {
    {"threes", together_parameters, line_specialisations, line_states, TILE_ABI_VERSION, 1, 1, 0},
    {"ones", together_parameters, line_specialisations + 1, line_states + 1, TILE_ABI_VERSION, 1, 1,
     0},
    {"aheads", together_parameters, line_specialisations + 2, line_states + 2, TILE_ABI_VERSION, 1,
     1, 0}};

static int begins_early(const tile_kernel *kernel, int32_t n)
{
    const int bytes[] = {4, 0};
    memcpy(fake->parameter_bytes, bytes, sizeof bytes);
    forget();
    CHECK(tile_launch(kernel, NULL, NULL, 0, (const void *[]){&n}) == TILE_OK);
    return (int)fake->last.early;
}

TEST(blocks_begin_early_where_they_spread_evenly)
{
    /* 396 have room: all, or nearly, or more than all */
    CHECK(begins_early(line_kernels, 384) && begins_early(line_kernels, 396));
    CHECK(begins_early(line_kernels, 4000));
    CHECK(!begins_early(line_kernels, 66) && !begins_early(line_kernels, 198));
    CHECK(!begins_early(line_kernels, 300));
    /* one on each of 132, and several turns of them */
    CHECK(begins_early(line_kernels + 1, 70) && begins_early(line_kernels + 1, 132));
    CHECK(!begins_early(line_kernels + 1, 133));
    /* a launch beside one like it */
    CHECK(begins_early(line_kernels + 2, 132) && begins_early(line_kernels + 2, 198));
    CHECK(!begins_early(line_kernels + 2, 131) && !begins_early(line_kernels + 2, 199));
}

static const tile_entry by_pair[] = {
    {.name = "by_pair", .warps = 5, .persistent = 1, .cluster = {2, 1, 1}}};
static const tile_image couple_images[] = {{.target = "sm_90a",
                                            .bytes = "cubin",
                                            .entries = by_pair,
                                            .size = 5,
                                            .compute = 90,
                                            .suffix = 'a'}};
static const tile_variant couple_variants[] = {{NULL, couple_images, 1}};
static const tile_specialisation couple_specialisations[] = {
    {.host = host_rows, .variants = couple_variants, .variant_count = 1, .launch_count = 1}};
static void *couple_state;
static const tile_kernel couple_kernel = {
    "rows", map_parameters, couple_specialisations, &couple_state, TILE_ABI_VERSION, 2, 1, 0};

static uint32_t blocks_in_pairs(int32_t n)
{
    const int bytes[] = {4, 8, 0};
    const uint64_t pointer = 4096;
    const void *arguments[] = {&n, &pointer};
    memcpy(fake->parameter_bytes, bytes, sizeof bytes);
    forget();
    CHECK(tile_launch(&couple_kernel, NULL, NULL, 0, arguments) == TILE_OK);
    return fake->last.grid[0];
}

TEST(clusters_of_blocks_that_take_turns_are_whole)
{
    CHECK(blocks_in_pairs(127) == 128); /* 512 in 4 turns */
    CHECK(blocks_in_pairs(39) == 80);   /* 160 in 2 */
    CHECK(blocks_in_pairs(71) == 96);   /* 288: 144 clusters in 3 turns of 64 */
}

/* ---- workspaces -------------------------------------------------------------------------------
 */

static const tile_entry workspace_90[] = {{"workspace_90", NULL, 1, 0, 0, 0}};
static tile_image workspace_images[] = {
    {"sm_90", "cubin", workspace_90, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0},
    {"emulator", NULL, emulated, NULL, NULL, 0, TILE_IMAGE_EMULATOR, 90, 'a', 0}};
static const tile_variant workspace_variants[] = {{NULL, workspace_images, 2}};
static const tile_specialisation workspace_specialisations[] = {{.host = host_workspaces,
                                                                 .variants = workspace_variants,
                                                                 .variant_count = 1,
                                                                 .launch_count = 1,
                                                                 .workspace_count = 2,
                                                                 .zeroed_workspaces = 1}};
static const tile_specialisation keeping_specialisations[] = {{.host = host_workspaces,
                                                               .variants = workspace_variants,
                                                               .variant_count = 1,
                                                               .launch_count = 1,
                                                               .workspace_count = 2,
                                                               .zeroed_workspaces = 1,
                                                               .kept_workspaces = 1}};
static void *workspace_states[3];
static const tile_kernel workspace_kernels[] = {{"sums", parameters, workspace_specialisations,
                                                 &workspace_states[0], TILE_ABI_VERSION, 1, 1, 0},
                                                {"others", parameters, workspace_specialisations,
                                                 &workspace_states[1], TILE_ABI_VERSION, 1, 1, 0},
                                                {"keeps", parameters, keeping_specialisations,
                                                 &workspace_states[2], TILE_ABI_VERSION, 1, 1, 0}};

/* Where the kernel found its workspaces. */
static tile_status call_workspaces(int kernel_index, fake_stream *stream, int32_t n,
                                   char *places[2])
{
    const void *arguments[] = {&n};
    static const int bytes[] = {4, 8, 8, 0};
    memcpy(fake->parameter_bytes, bytes, sizeof bytes);
    const tile_status status =
        tile_launch(&workspace_kernels[kernel_index], stream, NULL, 0, arguments);
    for (int i = 0; i < 2; i++) places[i] = (char *)(uintptr_t)fake->last.parameters[i + 1];
    return status;
}

TEST(workspaces_are_each_kernels_and_streams_own)
{
    fake_context *own = fake_push(0);
    fake_stream first = {own, 7, 0}, second = {own, 8, 0};
    char *a[2], *b[2];
    CHECK(call_workspaces(0, &first, 100, a) == TILE_OK && fake->allocations == 1);
    CHECK(a[1] == a[0] + 256 && fake->last.parameters[0] == 100);
    CHECK(fake->cleared == 100 && a[0][0] == 0 && a[0][99] == 0);
    memset(a[0], 1, 100);
    forget();
    CHECK(call_workspaces(0, &first, 50, b) == TILE_OK && b[0] == a[0] && b[1] == a[1]);
    CHECK(!strcmp(fake->log, "cuCtxGetCurrent cuStreamGetCtx cuStreamGetId cuMemsetD8Async "
                             "cuLaunchKernelEx "));
    CHECK(a[0][49] == 0 && a[0][50] == 1);
    CHECK(call_workspaces(0, &second, 50, b) == TILE_OK && b[0] != a[0]);
    CHECK(call_workspaces(1, &first, 50, b) == TILE_OK && b[0] != a[0] && fake->allocations == 3);
    CHECK(call_workspaces(0, NULL, 50, b) == TILE_OK && b[0] != a[0] && fake->allocations == 4);
    CHECK(call_workspaces(0, &first, 0, b) == TILE_OK && fake->allocations == 4);
}

TEST(workspaces_grow_outside_capture_alone)
{
    fake_context *own = fake_push(0);
    fake_stream stream = {own, 7, 1};
    char *a[2], *b[2];
    CHECK(call_workspaces(0, &stream, 100, a) == TILE_ERROR_MEMORY && fake->launches == 0);
    CHECK(says("sums") && says("1280 bytes") && says("captured") && says("tile_set_workspace"));
    stream.capturing = 0;
    CHECK(call_workspaces(0, &stream, 100, a) == TILE_OK);
    stream.capturing = 1;
    CHECK(call_workspaces(0, &stream, 100, b) == TILE_OK && b[0] == a[0]);
    CHECK(call_workspaces(0, &stream, 101, b) == TILE_OK); /* the same after rounding */
    CHECK(call_workspaces(0, &stream, 1000, b) == TILE_ERROR_MEMORY);
    stream.capturing = 0;
    CHECK(call_workspaces(0, &stream, 1000, b) == TILE_OK && b[0] != a[0]);
    CHECK(fake->allocations == 2); /* a graph may still name the first */
    fake->fail_name = "cuMemAlloc_v2";
    CHECK(call_workspaces(0, &stream, 100000, b) == FAKE_ERROR && says("workspace"));
    CHECK(call_workspaces(0, &stream, -1, b) == TILE_ERROR_ARGUMENT && says("n = -1"));
    CHECK(says("a workspace's size"));
}

/* What a kernel leaves zero is cleared where it is made, where it is not the library's, and where a
 * launch was refused, as those before it may have left something. */
TEST(kept_workspaces_are_cleared_once)
{
    static _Alignas(256) char memory[2048];
    fake_context *own = fake_push(0);
    fake_stream stream = {own, 7, 0};
    char *a[2], *b[2];
    CHECK(call_workspaces(2, &stream, 100, a) == TILE_OK && fake->allocations == 2);
    CHECK(fake->cleared == 256 && a[0][0] == 0 && a[0][255] == 0);
    memset(a[0], 1, 100);
    forget();
    CHECK(call_workspaces(2, &stream, 50, b) == TILE_OK && b[0] == a[0] && b[1] == a[1]);
    CHECK(!strcmp(fake->log, "cuCtxGetCurrent cuStreamGetCtx cuStreamGetId cuLaunchKernelEx "));
    CHECK(a[0][0] == 1);
    fake->fail_name = "cuLaunchKernelEx";
    CHECK(call_workspaces(2, &stream, 100, b) == FAKE_ERROR && says("cuLaunchKernelEx"));
    fake->fail_name = NULL;
    CHECK(a[0][0] == 0 && a[0][99] == 0);
    CHECK(call_workspaces(2, &stream, 300, b) == TILE_OK && b[0] != a[0] && b[1] != a[1]);
    CHECK(fake->allocations == 4 && b[0][0] == 0 && b[0][511] == 0);
    fake->fail_name = "cuMemsetD8Async";
    CHECK(call_workspaces(2, &stream, 3000, b) == FAKE_ERROR && says("cuMemsetD8Async"));
    fake->fail_name = NULL;
    CHECK(tile_set_workspace(&stream, memory, 2048) == TILE_OK);
    memset(memory, 1, 2048);
    CHECK(call_workspaces(2, &stream, 100, b) == TILE_OK && b[0] == memory && memory[99] == 0);
    CHECK(memory[100] == 1 && b[1] == memory + 256);
    CHECK(tile_set_workspace(&stream, NULL, 0) == TILE_OK);
}

TEST(workspaces_may_be_the_callers)
{
    static _Alignas(256) char memory[2048], emulated_memory[2048];
    fake_context *own = fake_push(0);
    fake_stream stream = {own, 7, 1};
    char *places[2];
    CHECK(tile_set_workspace(&stream, memory + 8, 2048) == TILE_ERROR_ARGUMENT && says("256"));
    CHECK(tile_set_workspace(&stream, memory, 2048) == TILE_OK);
    CHECK(call_workspaces(0, &stream, 100, places) == TILE_OK && places[0] == memory);
    CHECK(call_workspaces(1, &stream, 100, places) == TILE_OK && places[1] == memory + 256);
    CHECK(call_workspaces(0, &stream, 1000, places) == TILE_ERROR_ARGUMENT);
    CHECK(says("2048 bytes") && says("9216") && fake->allocations == 0);
    const int32_t n = 1000;
    const void *arguments[] = {&n};
    tile_plan plan;
    CHECK(tile_plan_launch(&workspace_kernels[0], arguments, &plan) == TILE_OK);
    CHECK(plan.workspace_bytes == 9216);
    CHECK(tile_set_workspace(&stream, NULL, 0) == TILE_OK);
    stream.capturing = 0;
    CHECK(call_workspaces(0, &stream, 1000, places) == TILE_OK && fake->allocations == 1);
    /* the emulator's */
    CHECK(tile_set_device("emulator") == TILE_OK);
    workspace_images[1].emulator = &fake_emulator;
    CHECK(tile_set_workspace(NULL, emulated_memory, 2048) == TILE_OK);
    const int32_t small = 10;
    const void *few[] = {&small};
    memset(emulated_memory, 1, 11);
    CHECK(tile_launch(&workspace_kernels[0], NULL, NULL, 0, few) == TILE_OK && emulated_runs == 1);
    CHECK(*(char *const *)seen_parameters[1] == emulated_memory);
    CHECK(emulated_memory[9] == 0 && emulated_memory[10] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_maps_are_made_and_kept),
        cmocka_unit_test(what_no_tensor_map_can_say_takes_another_variant),
        cmocka_unit_test(blocks_that_take_turns_are_as_many_as_run_at_a_time),
        cmocka_unit_test(blocks_begin_early_where_they_spread_evenly),
        cmocka_unit_test(clusters_and_meetings_are_asked_for),
        cmocka_unit_test(clusters_are_whole_and_all_that_meet_run),
        cmocka_unit_test(clusters_of_blocks_that_take_turns_are_whole),
        cmocka_unit_test(workspaces_are_each_kernels_and_streams_own),
        cmocka_unit_test(workspaces_grow_outside_capture_alone),
        cmocka_unit_test(kept_workspaces_are_cleared_once),
        cmocka_unit_test(workspaces_may_be_the_callers),
        cmocka_unit_test(launch_reaches_the_driver),
        cmocka_unit_test(aligned_variant_needs_every_multiple),
        cmocka_unit_test(second_call_does_nothing_but_launch),
        cmocka_unit_test(launches_run_in_order_and_empty_ones_not_at_all),
        cmocka_unit_test(grids_are_checked),
        cmocka_unit_test(missing_specialisation_tells_what_to_add),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(assumption_without_a_general_variant),
        cmocka_unit_test(own_grid_and_warps),
        cmocka_unit_test(plan_says_what_a_call_would_do),
        cmocka_unit_test(device_of_a_stream_and_its_capability),
        cmocka_unit_test(image_is_the_best_for_each_device),
        cmocka_unit_test(refused_image_tells_the_whole_story),
        cmocka_unit_test(large_shared_memory_is_asked_for_on_each_device_once),
        cmocka_unit_test(too_much_shared_memory_is_an_error_with_both_numbers),
        cmocka_unit_test(prepare_leaves_nothing_for_the_first_call),
        cmocka_unit_test(context_of_the_caller_is_honoured_and_kept),
        cmocka_unit_test(without_a_context_the_chosen_device_is_used),
        cmocka_unit_test(each_call_fails_once),
        cmocka_unit_test(each_call_fails_once_on_a_stream),
        cmocka_unit_test(no_driver_is_a_status),
        cmocka_unit_test(old_driver_is_named),
        cmocka_unit_test(error_text_may_quote_the_last_one),
        cmocka_unit_test(first_call_from_64_threads),
        cmocka_unit_test(gpu_memory_goes_through_the_driver),
        cmocka_unit_test(emulator_memory_is_watched),
        cmocka_unit_test(many_allocations_are_found),
        cmocka_unit_test(memory_from_64_threads),
        cmocka_unit_test(emulator_runs_without_a_driver),
        cmocka_unit_test(emulator_gets_the_parameters_without_keys),
        cmocka_unit_test(device_names_are_checked),
        cmocka_unit_test(wrong_environment_is_said_by_the_first_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
