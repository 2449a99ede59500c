/* faults_test.c: libtile where things fail: each allocation and each call of the driver once, at
 * each place; processes that fork, and plug-ins that are unloaded. */
#include "abi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "fake_fixture.h"

/* ---- the allocator: the Makefile has the linker put these before libtile's calls ----------------
 */

static _Atomic int allocations, fail_allocation, live; /* threads count as well */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
void __wrap_free(void *memory);

static int fails(void)
{
    return ++allocations == fail_allocation;
}

static void *counted(void *memory)
{
    live += memory != NULL;
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : counted(__real_malloc(bytes));
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : counted(__real_calloc(count, bytes));
}

void *__wrap_realloc(void *old, size_t bytes)
{
    if (fails()) return NULL;
    void *made = __real_realloc(old, bytes);
    live += made && !old;
    return made;
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return fails() ? NULL : counted(__real_aligned_alloc(alignment, bytes));
}

void __wrap_free(void *memory)
{
    live -= memory != NULL;
    __real_free(memory);
}

/* ---- a kernel with a workspace of n bytes, which is zeroed, and PTX beside a cubin --------------
 */

static int32_t host(const void *const *arguments, tile_grid *grids, int64_t *extents,
                    uint64_t *workspaces, const char **complaint, uint64_t *spans)
{
    (void)extents, (void)complaint, (void)spans;
    const int32_t n = *(const int32_t *)arguments[0];
    grids[0] = (tile_grid){1, 1, 1};
    for (int i = 0; i < 4; i++) workspaces[i] = n < 0 ? UINT64_C(1) << 62 : (uint64_t)n;
    return TILE_OK;
}

static tile_status run_nothing(const tile_image *image, const tile_entry *entry,
                               const tile_grid *grid, const void *const *given)
{
    (void)image, (void)entry, (void)grid, (void)given;
    return TILE_OK;
}

static const tile_emulator nothing = {.run = run_nothing};
static const tile_parameter parameters[] = {{"n", "i32", TILE_PARAMETER_SCALAR, 4},
                                            {"a", "f32", TILE_PARAMETER_POINTER, 8}};
static const tile_entry large[] = {{"large", NULL, 1, 100000, 0, 0}},
                        emulated[] = {{"emulated", NULL, 1, 0, 0, 0}};
static tile_image images[] = {
    {"compute_80", "ptx text+", large, NULL, NULL, 8, TILE_IMAGE_PTX, 80, 0, 0},
    {"emulator", NULL, emulated, NULL, &nothing, 0, TILE_IMAGE_EMULATOR, 90, 'a', 0}};
static const tile_variant variants[] = {{NULL, images, 2}};
static const tile_specialisation specialisations[] = {{.host = host,
                                                       .variants = variants,
                                                       .variant_count = 1,
                                                       .launch_count = 1,
                                                       .workspace_count = 4,
                                                       .zeroed_workspaces = 5}};
static void *state;
static const tile_kernel kernel = {"sums", parameters, specialisations, &state, TILE_ABI_VERSION, 2,
                                   1,      0};

static tile_status call(tile_stream stream, int32_t n)
{
    const void *memory = NULL;
    const void *arguments[] = {&n, &memory};
    return tile_launch(&kernel, stream, NULL, 0, arguments);
}

/* ---- each failure once -------------------------------------------------------------------------
 */

enum { NOTHING_FAILED = 77, STREAMS = 3 };

/* All that a program does; the first status that is not 0. */
static tile_status whole_program(tile_stream const *streams)
{
    float data[4] = {1, 2, 3, 4}, back[4] = {0};
    void *memory = NULL;
    tile_status status = tile_prepare(&kernel, 0);
    if (!status) status = tile_alloc(&memory, sizeof data);
    if (!status) status = tile_copy_in(memory, data, sizeof data, NULL);
    for (int i = 0; !status && i < STREAMS; i++) status = call(streams[i], 100 << i);
    if (!status) status = call(streams[0], 10000);
    if (!status) status = tile_copy_out(back, memory, sizeof back, NULL);
    if (!status) status = tile_synchronize(NULL);
    if (!status) CHECK(!memcmp(back, data, sizeof back));
    fail_allocation = fake->fail_at = 0;
    CHECK(tile_free(memory) == TILE_OK);
    return status;
}

/* What is kept for good is as much as where nothing failed. */
static int kept(const char *device, int allocation, int driver_call, tile_status *first)
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const pid_t child = fork();
    if (!child) {
        fake_context *own = fake_push(0);
        fake_stream made[STREAMS] = {{own, 7, 0}, {own, 8, 0}, {own, 9, 0}};
        tile_stream streams[STREAMS] = {&made[0], &made[1], &made[2]};
        CHECK(tile_set_device(device) == TILE_OK);
        allocations = live = fake->calls = 0;
        fail_allocation = allocation;
        fake->fail_at = driver_call;
        int told[2] = {whole_program(streams)};
        CHECK(!told[0] || *tile_last_error());
        CHECK(fake_depth() == 1 && fake_current() == own);
        CHECK(whole_program(streams) == TILE_OK);
        CHECK(fake_depth() == 1 && fake_current() == own);
        told[1] = live * 1000 + fake->allocations * 10 + fake->libraries;
        CHECK(write(ends[1], told, sizeof told) == sizeof told);
        _exit(0);
    }
    int ended = -1, told[2] = {0};
    CHECK(waitpid(child, &ended, 0) == child && ended == 0);
    CHECK(read(ends[0], told, sizeof told) == sizeof told);
    close(ends[0]);
    close(ends[1]);
    *first = told[0];
    return told[1];
}

static void each_fails_once(const char *device, int allocation, int driver_call, tile_status error)
{
    tile_status status;
    const int usual = kept(device, 0, 0, &status);
    int refused = 0;
    CHECK(status == TILE_OK);
    for (int number = 1; number < 200; number++) {
        const int now = kept(device, number * allocation, number * driver_call, &status);
        CHECK(now == usual);
        CHECK(status == TILE_OK || status == error);
        refused += status != TILE_OK;
        if (number > 100 && status == TILE_OK) break;
    }
    CHECK(refused > 3);
}

TEST(each_allocation_fails_once)
{
    each_fails_once("cuda:0", 1, 0, TILE_ERROR_MEMORY);
}

TEST(each_allocation_fails_once_on_the_emulator)
{
    each_fails_once("emulator", 1, 0, TILE_ERROR_MEMORY);
}

TEST(each_call_of_the_driver_fails_once)
{
    each_fails_once("cuda:0", 0, 1, FAKE_ERROR);
}

/* Four workspaces whose sizes add up to 2^64. */
TEST(sizes_that_no_memory_has)
{
    fake->memory = 1 << 20;
    CHECK(call(NULL, -1) == 2 && says("cuMemAlloc") && fake->launches == 0);
    CHECK(tile_set_device("emulator") == TILE_OK);
    CHECK(call(NULL, -1) == TILE_ERROR_MEMORY);
}

/* ---- a device that is reset ---------------------------------------------------------------------
 */

/* Each call says so until the program has a context again, and the workspaces of the old one, on
 * streams that are gone with it, are not taken for those of new streams. */
TEST(context_that_is_gone)
{
    fake_context *old = fake_push(0);
    fake_stream stream = {old, 7, 0};
    void *memory;
    CHECK(call(&stream, 100) == TILE_OK && tile_alloc(&memory, 100) == TILE_OK);
    const int allocations_before = fake->allocations;
    old->destroyed = 1;
    for (int i = 0; i < 3; i++) {
        CHECK(call(&stream, 100) == FAKE_CONTEXT_IS_DESTROYED && says("(709)"));
        CHECK(call(NULL, 100) == FAKE_CONTEXT_IS_DESTROYED && says("sums"));
        CHECK(tile_alloc(&memory, 100) == FAKE_CONTEXT_IS_DESTROYED && says("cuMemAlloc"));
        CHECK(tile_synchronize(NULL) == FAKE_CONTEXT_IS_DESTROYED);
        CHECK(fake_depth() == 1 && fake_current() == old);
    }
    fake_context *own = fake_push(0);
    fake_stream anew = {own, 8, 0};
    CHECK(call(&anew, 100) == TILE_OK && fake->last.context == own);
    CHECK(fake->allocations > allocations_before && fake->libraries == 1);
    CHECK(tile_alloc(&memory, 100) == TILE_OK && tile_free(memory) == TILE_OK);
    CHECK(fake_depth() == 2 && fake_current() == own);
}

/* ---- fork ---------------------------------------------------------------------------------------
 */

/* A child has the parent's texts and settings, but no driver: that says so, call by call. */
TEST(child_after_the_first_call)
{
    CHECK(call(NULL, 100) == TILE_OK);
    CHECK(tile_set_device("tpu") == TILE_ERROR_DEVICE);
    const pid_t child = fork();
    if (!child) {
        CHECK(says("'tpu'"));
        CHECK(call(NULL, 100) == TILE_ERROR_NO_DRIVER && says("forked"));
        CHECK(tile_set_device("cuda:0") == TILE_ERROR_NO_DRIVER && tile_device_count() == 0);
        CHECK(tile_set_device("emulator") == TILE_OK);
        CHECK(call(NULL, 100) == TILE_OK);
        _exit(0);
    }
    int ended = -1;
    CHECK(waitpid(child, &ended, 0) == child && ended == 0);
    CHECK(call(NULL, 100) == TILE_OK && fake->launches == 2);
}

static _Atomic int stop;

static void *keep_allocating(void *unused)
{
    void *memory;
    while (!stop)
        if (tile_alloc(&memory, 100) != TILE_OK || tile_free(memory) != TILE_OK) return &stop;
    return unused;
}

/* A fork may come while another thread holds any of the locks. */
TEST(child_of_threads)
{
    enum { THREADS = 4, FORKS = 200 };
    pthread_t threads[THREADS];
    void *failure, *memory;
    CHECK(tile_set_device("emulator") == TILE_OK);
    for (int i = 0; i < THREADS; i++)
        CHECK(!pthread_create(&threads[i], NULL, keep_allocating, NULL));
    for (int i = 0; i < FORKS; i++) {
        const pid_t child = fork();
        if (!child) {
            alarm(20); /* a lock that nobody gives back */
            CHECK(tile_alloc(&memory, 100) == TILE_OK && call(NULL, 100) == TILE_OK);
            CHECK(tile_free(memory) == TILE_OK);
            _exit(0);
        }
        int ended = -1;
        CHECK(waitpid(child, &ended, 0) == child && ended == 0);
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++) CHECK(!pthread_join(threads[i], &failure) && !failure);
}

/* ---- plug-ins -----------------------------------------------------------------------------------
 */

typedef tile_status plugin_function(int32_t n);
static plugin_function *plugin_call;
static pthread_barrier_t called, closed;

static void *call_plugin(void *unused)
{
    const tile_status status = plugin_call(3);
    pthread_barrier_wait(&called);
    pthread_barrier_wait(&closed); /* and ends when the code is gone */
    return status ? &stop : unused;
}

TEST(plugin_is_loaded_and_unloaded)
{
    enum { THREADS = 8, TIMES = 5 };
    char path[4096];
    snprintf(path, sizeof path, "%s", getenv("TILE_CUDA_LIBRARY"));
    strcpy(strrchr(path, '/') + 1, "libkernel.so");
    for (int i = 0; i < TIMES; i++) {
        pthread_t threads[THREADS];
        void *failure, *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(library);
        find(library, "plugin_call", &plugin_call);
        pthread_barrier_init(&called, NULL, THREADS + 1);
        pthread_barrier_init(&closed, NULL, THREADS + 1);
        for (int j = 0; j < THREADS; j++)
            CHECK(!pthread_create(&threads[j], NULL, call_plugin, NULL));
        pthread_barrier_wait(&called);
        CHECK(dlclose(library) == 0 && !dlopen(path, RTLD_NOLOAD | RTLD_NOW));
        pthread_barrier_wait(&closed);
        for (int j = 0; j < THREADS; j++) CHECK(!pthread_join(threads[j], &failure) && !failure);
    }
    CHECK(fake->launches == THREADS * TIMES && !strcmp(fake->last.kernel, "plugin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_allocation_fails_once),
        cmocka_unit_test(each_allocation_fails_once_on_the_emulator),
        cmocka_unit_test(each_call_of_the_driver_fails_once),
        cmocka_unit_test(sizes_that_no_memory_has),
        cmocka_unit_test(context_that_is_gone),
        cmocka_unit_test(child_after_the_first_call),
        cmocka_unit_test(child_of_threads),
        cmocka_unit_test(plugin_is_loaded_and_unloaded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
