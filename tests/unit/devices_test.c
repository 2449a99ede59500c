/* devices_test.c: libtile on several GPUs of one process, a thread or more for each: what is
 * loaded, kept and chosen for one is no other's, and no thread waits for a GPU that is not its own.
 */
#include "abi.h"

#include "fake_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* ---- a kernel of two configurations and a workspace --------------------------------------------
 */

static int32_t host(const void *const *arguments, tile_grid *grids, int64_t *extents,
                    uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    const int32_t n = *(const int32_t *)arguments[0];
    (void)extents;
    (void)complaint;
    grids[0] = (tile_grid){(uint32_t)n, 1, 1};
    workspaces[0] = 8 * (uint64_t)n;
    if (spans) spans[1] = 4 * (uint64_t)n;
    return TILE_OK;
}

static tile_parameter parameters[] = {
    {"n", "i32", TILE_PARAMETER_SCALAR, 4, 0},
    {"c_ptr", "f32", TILE_PARAMETER_POINTER, 8, TILE_WRITTEN},
};
enum { SHARED = 64 * 1024 }; /* more than every device gives unasked */
static const tile_entry small_entry[] = {{"small", NULL, 4, SHARED, 32, 0}};
static const tile_entry large_entry[] = {{"large", NULL, 4, SHARED, 32, 0}};
static const tile_image small_image[] = {
    {"sm_90", "cubin", small_entry, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0}};
static const tile_image large_image[] = {
    {"sm_90", "cubin", large_entry, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0}};
static const tile_variant small_variant[] = {{NULL, small_image, 1}};
static const tile_variant large_variant[] = {{NULL, large_image, 1}};
static const tile_specialisation specialisations[] = {
    {.host = host,
     .variants = small_variant,
     .variant_count = 1,
     .launch_count = 1,
     .workspace_count = 1,
     .configuration = "size=small",
     .code = 1,
     .configuration_count = 2},
    {.host = host,
     .variants = large_variant,
     .variant_count = 1,
     .launch_count = 1,
     .workspace_count = 1,
     .configuration = "size=large",
     .code = 2},
};
static void *kernel_state;
static const tile_kernel kernel = {.name = "sums",
                                   .parameters = parameters,
                                   .specialisations = specialisations,
                                   .state = &kernel_state,
                                   .abi_version = TILE_ABI_VERSION,
                                   .parameter_count = 2,
                                   .specialisation_count = 2};

/* ---- ranks -------------------------------------------------------------------------------------
 */

enum { DEVICES = 2, THREADS = 8 };

static const char *expected[DEVICES]; /* what a device's last launch of a call has to be */
static pthread_barrier_t start;

static void set_up(tile_tuning mode)
{
    fake->device_count = DEVICES;
    for (int i = 0; i < DEVICES; i++) fake->compute[i] = 90;
    fake->parameter_bytes[0] = 4;
    fake->parameter_bytes[1] = fake->parameter_bytes[2] = 8;
    setenv("TILE_CACHE", "off", 1);
    CHECK(tile_set_tuning(mode) == TILE_OK);
}

static tile_status call(tile_stream stream, int32_t n)
{
    static float c[4096];
    float *to = c;
    const void *arguments[] = {&n, &to};
    return tile_launch(&kernel, stream, NULL, 0, arguments);
}

/* What a device chose shows in a plan of the same arguments. */
static int has_chosen(int32_t n, const char *name)
{
    static float c[4096];
    float *to = c;
    const void *arguments[] = {&n, &to};
    tile_plan plan;
    return tile_plan_launch(&kernel, arguments, &plan) == TILE_OK &&
           strcmp(specialisations[plan.specialisation].configuration, name) == 0;
}

static void *rank(void *argument)
{
    const int index = (int)(intptr_t)argument, device = index % DEVICES;
    fake_context *own = fake_push(device);
    fake_stream stream = {.context = own, .id = 100 + (unsigned)index};
    pthread_barrier_wait(&start);
    for (int i = 0; i < 20; i++) {
        if (call(i % 2 ? &stream : NULL, 100 + i) != TILE_OK) return "a call failed";
        if (fake_current() != own || fake_depth() != 1) return "another context";
    }
    return expected[device] && !has_chosen(100, expected[device]) ? "another choice" : NULL;
}

static void run_ranks(void)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, rank, (void *)i);
    for (int i = 0; i < THREADS; i++) {
        void *fault = NULL;
        pthread_join(threads[i], &fault);
        if (fault) fprintf(stderr, "rank %d: %s: %s\n", i, (char *)fault, tile_last_error());
        CHECK(!fault);
    }
}

/* ---- what each has -----------------------------------------------------------------------------
 */

TEST(code_is_loaded_once_and_prepared_for_each)
{
    set_up(TILE_TUNE_OFF);
    run_ranks();
    CHECK(fake->libraries == 1 && fake->kernels_made == 1);
    CHECK(fake->attributes == DEVICES && fake->launches == THREADS * 20);
    CHECK(tile_prepare(&kernel, 1) == TILE_OK &&
          fake->attributes == DEVICES + 1); /* the other one */
}

/* The default stream is another one on each device, whatever the driver calls it. */
TEST(workspaces_are_each_devices_own)
{
    int64_t place[DEVICES];
    set_up(TILE_TUNE_OFF);
    for (int i = 0; i < DEVICES; i++) {
        fake_push(i);
        CHECK(call(NULL, 100) == TILE_OK && fake->last.device == i);
        place[i] = fake->last.parameters[2];
    }
    CHECK(fake->allocations == DEVICES && place[0] != place[1]);
    CHECK(call(NULL, 50) == TILE_OK && fake->last.parameters[2] == place[1]);
    fake_push(0);
    CHECK(call(NULL, 50) == TILE_OK && fake->last.parameters[2] == place[0]);
    CHECK(fake->allocations == DEVICES);
}

TEST(workspace_of_the_caller_is_for_one_device)
{
    static _Alignas(256) char memory[4096];
    set_up(TILE_TUNE_OFF);
    fake_push(0);
    CHECK(tile_set_workspace(NULL, memory, sizeof memory) == TILE_OK);
    CHECK(call(NULL, 100) == TILE_OK && fake->last.parameters[2] == (intptr_t)memory);
    fake_push(1);
    CHECK(call(NULL, 100) == TILE_OK && fake->last.parameters[2] != (intptr_t)memory);
}

TEST(each_device_chooses_for_itself)
{
    static const fake_cost costs[] = {
        {"small", 1, 0, 1}, {"large", 2, 0, 1}, {"small", 2, 0, 2}, {"large", 1, 0, 2}};
    set_up(TILE_TUNE_ON);
    memcpy(fake->costs, costs, sizeof costs);
    expected[0] = "size=small";
    expected[1] = "size=large";
    /* Times of threads that measure at once add up on the fake's one clock: one after the other. */
    for (int i = 0; i < DEVICES; i++) {
        fake_push(i);
        for (int n = 100; n < 120; n++) CHECK(call(NULL, n) == TILE_OK);
    }
    run_ranks();
}

/* ---- nobody waits for another device -----------------------------------------------------------
 */

/* Device 0 is in the middle of what it does together with device 1, whose launch it waits for. */
static atomic_int is_waiting, has_launched, was_stuck;

static void note_launch(const char *name, void **arguments)
{
    (void)name;
    (void)arguments;
    if (fake->last.device == 1) has_launched = 1;
}

static void wait_for_other(int device)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    if (device != 0 || was_stuck) return;
    is_waiting = 1;
    for (int i = 0; i < 3000 && !has_launched; i++) nanosleep(&nap, NULL);
    if (!has_launched) was_stuck = 1;
}

static void *call_first(void *unused)
{
    (void)unused;
    fake_push(0);
    return call(NULL, 100) == TILE_OK ? NULL : "a call failed";
}

static void call_on_both(void)
{
    pthread_t other;
    void *fault = NULL;
    fake->work = note_launch;
    fake->wait = wait_for_other;
    pthread_create(&other, NULL, call_first, NULL);
    while (!is_waiting) sched_yield();
    fake_push(1);
    CHECK(call(NULL, 100) == TILE_OK);
    pthread_join(other, &fault);
    CHECK(!fault && has_launched && !was_stuck);
}

TEST(choosing_waits_for_no_other_device)
{
    set_up(TILE_TUNE_ON);
    call_on_both();
}

TEST(workspaces_wait_for_no_other_device)
{
    set_up(TILE_TUNE_OFF);
    call_on_both();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_loaded_once_and_prepared_for_each),
        cmocka_unit_test(workspaces_are_each_devices_own),
        cmocka_unit_test(workspace_of_the_caller_is_for_one_device),
        cmocka_unit_test(each_device_chooses_for_itself),
        cmocka_unit_test(choosing_waits_for_no_other_device),
        cmocka_unit_test(workspaces_wait_for_no_other_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
