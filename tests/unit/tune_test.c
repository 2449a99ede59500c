/* tune_test.c: the choice among configurations: measured with the fake driver's clock on arguments
 * that the launches really change, kept in files that are damaged in every way. */
#include "abi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fake_fixture.h"

/* ---- a kernel of three configurations: c[i] += a[i] for i < n, n in blocks of 128, 64, 32 -------
 */

static int unknown_span;

static int32_t host_of(int block, const void *const *arguments, tile_grid *grids, uint64_t *spans)
{
    const int32_t n = *(const int32_t *)arguments[0];
    if (n < 0) return TILE_ERROR_ARGUMENT;
    grids[0] = (tile_grid){((uint32_t)n + (uint32_t)block - 1) / (uint32_t)block, 1, 1};
    for (int i = 1; spans && i < 3; i++) {
        const uint64_t bytes = unknown_span == i ? TILE_UNKNOWN_SPAN : 4 * (uint64_t)n;
        if (bytes > spans[i]) spans[i] = bytes;
    }
    return TILE_OK;
}

#define HOST(name, block)                                                                          \
    static int32_t name(const void *const *arguments, tile_grid *grids, int64_t *extents,          \
                        uint64_t *workspaces, const char **complaint, uint64_t *spans)             \
    {                                                                                              \
        (void)extents;                                                                             \
        (void)workspaces;                                                                          \
        (void)complaint;                                                                           \
        return host_of(block, arguments, grids, spans);                                            \
    }
HOST(host_128, 128)
HOST(host_64, 64)
HOST(host_32, 32)

static tile_parameter parameters[] = {
    {"n", "i32", TILE_PARAMETER_SCALAR, 4, 0},
    {"a_ptr", "f32", TILE_PARAMETER_POINTER, 8, TILE_READ},
    {"c_ptr", "f32", TILE_PARAMETER_POINTER, 8, TILE_READ | TILE_WRITTEN},
};
static const tile_entry entry_128[] = {{"block_128", NULL, 4, 0, 32, 0}};
static const tile_entry entry_64[] = {{"block_64", NULL, 2, 0, 32, 0}};
static const tile_entry entry_32[] = {{"block_32", NULL, 1, 0, 32, 0}};
#define IMAGE(entries)                                                                             \
    {                                                                                              \
        {                                                                                          \
            "sm_90", "cubin", entries, NULL, NULL, 5, TILE_IMAGE_CUBIN, 90, 0, 0                   \
        }                                                                                          \
    }
static tile_image images[][1] = {IMAGE(entry_128), IMAGE(entry_64), IMAGE(entry_32)};
static const tile_variant variants[][1] = {
    {{NULL, images[0], 1}}, {{NULL, images[1], 1}}, {{NULL, images[2], 1}}};
static tile_specialisation specialisations[] = {
    {.host = host_128,
     .variants = variants[0],
     .variant_count = 1,
     .launch_count = 1,
     .configuration = "block=128",
     .code = 1,
     .configuration_count = 3},
    {.host = host_64,
     .variants = variants[1],
     .variant_count = 1,
     .launch_count = 1,
     .configuration = "block=64",
     .code = 2},
    {.host = host_32,
     .variants = variants[2],
     .variant_count = 1,
     .launch_count = 1,
     .configuration = "block=32",
     .code = 3},
};
static void *kernel_state;
static tile_kernel kernel = {.name = "add_to",
                             .parameters = parameters,
                             .specialisations = specialisations,
                             .state = &kernel_state,
                             .abi_version = TILE_ABI_VERSION,
                             .parameter_count = 3,
                             .specialisation_count = 3};

enum { N = 300 };
static float a[N], c[N];
static int runs[3];

static void add_to(const char *name, void **arguments)
{
    const int32_t n = *(const int32_t *)arguments[0];
    const float *from = *(float **)arguments[1];
    float *to = *(float **)arguments[2];
    runs[strcmp(name, "block_128") == 0 ? 0 : strcmp(name, "block_64") == 0 ? 1 : 2]++;
    for (int32_t i = 0; i < n; i++) to[i] += from[i];
}

static char folder[64];
static char heard[4096];

static void hear(const char *text, void *context)
{
    (void)context;
    const size_t used = strlen(heard);
    snprintf(heard + used, sizeof heard - used, "%s\n", text);
}

/* The second configuration is the fastest, the third hopeless. */
static void set_up(void)
{
    static const fake_cost costs[] = {{"block_128", 2, 0}, {"block_64", 1, 0}, {"block_32", 9, 0}};
    memcpy(fake->costs, costs, sizeof costs);
    fake->work = add_to;
    unsetenv("TILE_TUNE");
    setenv("TILE_CACHE", folder, 1);
    tile_set_log(hear, NULL);
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        c[i] = 1;
    }
}

static tile_status call_on(tile_stream stream, int32_t n, float *from, float *to)
{
    const void *arguments[] = {&n, &from, &to};
    return tile_launch(&kernel, stream, NULL, 0, arguments);
}

static int is_once(void)
{
    for (int i = 0; i < N; i++)
        if (c[i] != 1 + (float)i) return 0;
    return 1;
}

static int called(const char *name)
{
    return !strcmp(fake->last.kernel, name);
}

static void empty_folder(void)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    char path[512];
    while (files && (entry = readdir(files))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (files) closedir(files);
}

/* ---- measuring ------------------------------------------------------------------------------- */

TEST(fastest_is_taken_and_the_call_happens_once)
{
    set_up();
    empty_folder();
    CHECK(call_on(NULL, N, a, c) == TILE_OK);
    CHECK(called("block_64") && fake->last.grid[0] == 5 && is_once());
    CHECK(runs[2] == 1); /* hopeless at its first run */
    CHECK(runs[0] > 1 && runs[1] > runs[0]);
    CHECK(fake->cleared > 0 && fake->allocations == 0 && fake->events == 0);
    CHECK(strstr(heard, "add_to: block=64 is the fastest of 3 configurations on Fake GPU 0"));
    const int launches = fake->launches;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && fake->launches == launches + 1);
    CHECK(call_on(NULL, N - 1, a, c) == TILE_OK && fake->launches == launches + 2); /* its class */
    CHECK(call_on(NULL, 200, a, c) == TILE_OK && fake->launches > launches + 3);
}

TEST(second_call_takes_no_lock_and_asks_nothing)
{
    set_up();
    empty_folder();
    fake_push(0);
    CHECK(call_on(NULL, N, a, c) == TILE_OK);
    fake->log[0] = '\0';
    CHECK(call_on(NULL, N, a, c) == TILE_OK);
    CHECK(!strcmp(fake->log, "cuCtxGetCurrent cuLaunchKernelEx "));
}

/* One array as input and output, each through a parameter that is only read or only written. */
TEST(arguments_that_overlap_are_put_back)
{
    set_up();
    empty_folder();
    parameters[2].access = TILE_WRITTEN;
    CHECK(call_on(NULL, N, c, c) == TILE_OK);
    for (int i = 0; i < N; i++) CHECK(c[i] == 2);
    CHECK(fake->copied > 0);
}

TEST(what_is_only_written_is_not_saved)
{
    set_up();
    empty_folder();
    parameters[2].access = TILE_WRITTEN;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64") && fake->copied == 0);
}

TEST(unknown_span_takes_the_first_and_says_why)
{
    set_up();
    empty_folder();
    unknown_span = 2;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && is_once());
    CHECK(fake->launches == 1 && strstr(heard, "block=128, is taken, since how much memory"));
}

TEST(no_memory_takes_the_first_and_says_why)
{
    set_up();
    empty_folder();
    fake->memory = 1000;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && is_once());
    CHECK(strstr(heard, "there is no memory to save") && fake->allocations == 0);
}

TEST(configuration_that_fails_is_left_out)
{
    set_up();
    empty_folder();
    fake->costs[1].fails = 1;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && is_once());
    CHECK(strstr(heard, "block=64 is left out"));
}

TEST(nothing_is_measured_in_a_capture)
{
    set_up();
    empty_folder();
    fake_stream stream = {.context = fake_push(0), .capturing = 1};
    CHECK(call_on(&stream, N, a, c) == TILE_OK && called("block_128") && fake->launches == 1);
    CHECK(strstr(heard, "captured"));
    stream.capturing = 0;
    CHECK(call_on(&stream, N, a, c) == TILE_OK && called("block_64"));
    stream.capturing = 1;
    CHECK(call_on(&stream, N, a, c) == TILE_OK && called("block_64"));
}

TEST(modes)
{
    set_up();
    empty_folder();
    CHECK(tile_set_tuning(TILE_TUNE_FIRST) == TILE_OK);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && fake->launches == 1);
    CHECK(tile_set_tuning(TILE_TUNE_OFF) == TILE_OK);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && fake->launches == 2);
    setenv("TILE_TUNE", "file", 1);
    CHECK(tile_set_tuning(TILE_TUNE_DEFAULT) == TILE_OK);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && fake->launches == 3);
    CHECK(tile_set_tuning(TILE_TUNE_ON) == TILE_OK);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64") && fake->launches > 4);
    CHECK(tile_set_tuning((tile_tuning)77) == TILE_ERROR_ARGUMENT);
}

/* The object's own choice comes first, for its device and sizes. */
TEST(choice_of_the_object)
{
    static const int64_t sizes[] = {384}, others[] = {512};
    static const tile_choice choices[] = {
        {"Another GPU", sizes, 1, 0, 0, 0}, {NULL, others, 1, 0, 0, 0}, {NULL, sizes, 1, 0, 2, 0}};
    set_up();
    empty_folder();
    kernel.choices = choices;
    kernel.choice_count = 3;
    CHECK(tile_size_class(N) == 384);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_32") && fake->launches == 1);
}

TEST(first_configuration_is_one_that_fits)
{
    static const tile_entry large[] = {{"block_128", NULL, 4, 300000, 32, 0}};
    set_up();
    empty_folder();
    images[0][0].entries = large;
    CHECK(tile_set_tuning(TILE_TUNE_OFF) == TILE_OK);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64"));
    CHECK(tile_prepare(&kernel, 0) == TILE_OK);
}

/* As where a plug-in was unloaded, and another one lies where it lay. */
TEST(kernel_in_the_place_of_another)
{
    set_up();
    empty_folder();
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64"));
    kernel_state = NULL;
    kernel.specialisation_count = 1;
    specialisations[0].configuration_count = 1;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128"));
    kernel.specialisation_count = specialisations[0].configuration_count = 3;
    kernel_state = NULL;
    specialisations[1].code = 77;
    fake->costs[2].milliseconds = 0.5f;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_32"));
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_32"));
}

static void *call_from_thread(void *unused)
{
    float own[N] = {0}, *to = own;
    const float *from = a;
    const int32_t n = N;
    const void *arguments[] = {&n, &from, &to};
    (void)unused;
    tile_plan plan;
    const int fine = tile_launch(&kernel, NULL, NULL, 0, arguments) == TILE_OK &&
                     tile_plan_launch(&kernel, arguments, &plan) == TILE_OK;
    for (int i = 0; i < N; i++)
        if (own[i] != (float)i) return "other numbers";
    return fine && plan.specialisation == 1 ? NULL : "another choice";
}

TEST(threads_that_call_at_once_get_one_answer)
{
    enum { THREADS = 16 };
    pthread_t threads[THREADS];
    void *failure;
    set_up();
    empty_folder();
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call_from_thread, NULL) == 0);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], &failure) == 0 && !failure);
    CHECK(runs[2] == 1); /* measured once */
}

static void failing_body(void)
{
    set_up();
    fake->fail_at = number_of_run;
    const tile_status status = call_on(NULL, N, a, c);
    CHECK(status == TILE_OK || status == FAKE_ERROR || status == TILE_ERROR_NO_DRIVER);
    CHECK(status != TILE_OK || is_once());
    fake->fail_at = 0;
    for (int i = 0; i < N; i++) c[i] = 1;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && is_once());
}

/* Whichever call of the driver fails, the kernel's work is done once or the call fails. */
static void each_call_of_the_driver_fails_once(void **unused)
{
    (void)unused;
    for (int fail = 1; fail < 90; fail++) {
        empty_folder();
        assert_int_equal(run_numbered(failing_body, fail), 0);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static void tuned_file(char *path, size_t size)
{
    DIR *files = opendir(folder);
    const struct dirent *entry;
    path[0] = '\0';
    while (files && (entry = readdir(files))) {
        const size_t length = strlen(entry->d_name);
        if (length > 5 && !strcmp(entry->d_name + length - 5, ".tune"))
            snprintf(path, size, "%s/%s", folder, entry->d_name);
    }
    if (files) closedir(files);
}

static void keep_one_body(void)
{
    set_up();
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64") && is_once());
}

static void take_kept_body(void)
{
    set_up();
    fake->costs[0].milliseconds = 0.01f; /* would win if it were measured again */
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64") && fake->launches == 1);
    CHECK(is_once());
}

static void measure_again_body(void)
{
    set_up();
    fake->costs[0].milliseconds = 0.01f;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && fake->launches > 1);
    CHECK(is_once());
}

static void second_process_starts_with_the_winner(void **unused)
{
    (void)unused;
    empty_folder();
    run(keep_one_body);
    run(take_kept_body);
}

/* Which byte is changed is the number of the run. */
static void damaged_body(void)
{
    char path[512], bytes[4096];
    tuned_file(path, sizeof path);
    const int file = open(path, O_RDWR);
    const ssize_t size = read(file, bytes, sizeof bytes);
    CHECK(size > 100);
    set_up();
    tile_set_tuning(TILE_TUNE_FILE);
    for (ssize_t i = 0; i < size; i++) {
        const char changed = (char)(bytes[i] ^ (1 << (i % 8)));
        CHECK(pwrite(file, &changed, 1, i) == 1);
        CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128"));
        CHECK(pwrite(file, &bytes[i], 1, i) == 1);
    }
    for (ssize_t i = 0; i < size; i++) {
        CHECK(ftruncate(file, i) == 0);
        CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128"));
    }
    CHECK(pwrite(file, bytes, (size_t)size, 0) == size && pwrite(file, "x", 1, size) == 1);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128"));
    CHECK(ftruncate(file, size) == 0);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64"));
    close(file);
}

static void every_damaged_byte_is_seen(void **unused)
{
    (void)unused;
    empty_folder();
    run(keep_one_body);
    run(damaged_body);
}

static void other_code_body(void)
{
    kernel_state = NULL;
    specialisations[1].code = 77;
    measure_again_body();
}

static void other_device_body(void)
{
    set_up();
    fake->device_count = 2;
    fake->compute[1] = 90;
    setenv("TILE_DEVICE", "cuda:1", 1);
    fake->costs[0].milliseconds = 0.01f;
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_128") && fake->launches > 1);
}

static void what_is_of_something_else_counts_for_nothing(void **unused)
{
    (void)unused;
    empty_folder();
    run(keep_one_body);
    run(other_code_body);
    run(other_device_body);
    run(take_kept_body);
}

static void nowhere_body(void)
{
    static const char *const places[] = {"/proc/nowhere", "/dev/null", "off", "/"};
    set_up();
    setenv("TILE_CACHE", places[number_of_run], 1);
    CHECK(call_on(NULL, N, a, c) == TILE_OK && called("block_64") && is_once());
}

static void folders_that_cannot_be_used(void **unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) assert_int_equal(run_numbered(nowhere_body, i), 0);
    empty_folder();
    run(keep_one_body);
    assert_int_equal(chmod(folder, 0777), 0); /* anyone may have written there */
    run(measure_again_body);
    assert_int_equal(chmod(folder, 0500), 0);
    run(take_kept_body);
    assert_int_equal(chmod(folder, 0700), 0);
}

static void busy_body(void)
{
    set_up();
    for (int32_t n = 1; n <= N; n += 7) {
        for (int i = 0; i < N; i++) c[i] = 1;
        CHECK(call_on(NULL, n, a, c) == TILE_OK && called("block_64"));
        for (int i = 0; i < n; i++) CHECK(c[i] == 1 + (float)i);
    }
}

/* Processes that read and write one folder, some killed at any moment, while files vanish. */
static void sixteen_processes_share_a_folder(void **unused)
{
    enum { PROCESSES = 16, ROUNDS = 100 };
    (void)unused;
    unsigned random = 1;
    for (int round = 0; round < ROUNDS; round++) {
        pid_t processes[PROCESSES];
        fflush(NULL);
        for (int i = 0; i < PROCESSES; i++) {
            processes[i] = fork();
            if (processes[i]) continue;
            load_fake();
            busy_body();
            _exit(0);
        }
        if (round % 4 == 0) empty_folder();
        for (int i = 0; i < PROCESSES; i++) {
            int status = 0;
            random = random * 1103515245 + 12345;
            const int killed = random >> 16 & 1;
            const struct timespec pause = {.tv_nsec = (long)(random >> 17) % 8 * 20 * 1000};
            nanosleep(&pause, NULL);
            if (killed) kill(processes[i], SIGKILL);
            assert_int_equal(waitpid(processes[i], &status, 0), processes[i]);
            assert_true(WIFSIGNALED(status) ? killed : WEXITSTATUS(status) == 0);
        }
    }
    run(keep_one_body);
    run(take_kept_body);
}

static int make_folder(void **unused)
{
    (void)unused;
    strcpy(folder, "/tmp/tile-tune-XXXXXX");
    return mkdtemp(folder) ? 0 : 1;
}

static int remove_folder(void **unused)
{
    (void)unused;
    empty_folder();
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fastest_is_taken_and_the_call_happens_once),
        cmocka_unit_test(second_call_takes_no_lock_and_asks_nothing),
        cmocka_unit_test(arguments_that_overlap_are_put_back),
        cmocka_unit_test(what_is_only_written_is_not_saved),
        cmocka_unit_test(unknown_span_takes_the_first_and_says_why),
        cmocka_unit_test(no_memory_takes_the_first_and_says_why),
        cmocka_unit_test(configuration_that_fails_is_left_out),
        cmocka_unit_test(nothing_is_measured_in_a_capture),
        cmocka_unit_test(modes),
        cmocka_unit_test(choice_of_the_object),
        cmocka_unit_test(first_configuration_is_one_that_fits),
        cmocka_unit_test(kernel_in_the_place_of_another),
        cmocka_unit_test(threads_that_call_at_once_get_one_answer),
        cmocka_unit_test(each_call_of_the_driver_fails_once),
        cmocka_unit_test(second_process_starts_with_the_winner),
        cmocka_unit_test(every_damaged_byte_is_seen),
        cmocka_unit_test(what_is_of_something_else_counts_for_nothing),
        cmocka_unit_test(folders_that_cannot_be_used),
        cmocka_unit_test(sixteen_processes_share_a_folder),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
