/* two_gpus.c: one process, two GPUs: first calls from 64 threads, each on the device of its own
 * context and stream; calls on streams of the device that is not current; capture on the second; a
 * wish for more memory than there is; a child; and at the end a device that is reset.
 *
 * Prints a line a check; exit status 1 if one failed, 77 where there are fewer than two GPUs. */
#include "staged.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 64, ROUNDS = 20, COUNT = 100000, BYTES = COUNT * 4 };

/* Of the driver: what a program has that uses it beside libtile. */
static int (*retain)(void **, int), (*set_current)(void *), (*get_current)(void **);
static int (*stream_new)(void **, unsigned), (*begin)(void *, int), (*end)(void *, void **);
static int (*instantiate)(void **, void *, unsigned long long), (*launch_graph)(void *, void *);
static int (*reset)(int), (*wait_for)(void *);

static void *driver;
static void find(void *function, const char *name)
{
    void *address = dlsym(driver, name);
    if (!address) printf("no %s\n", name), exit(1);
    memcpy(function, &address, sizeof address);
}

static int failures;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void check(int fine, const char *what)
{
    pthread_mutex_lock(&lock);
    if (!fine) printf("FAIL %s: %s\n", what, tile_last_error());
    failures += !fine;
    pthread_mutex_unlock(&lock);
}

typedef struct side { /* what one thread has on one device */
    void *context, *stream;
    float *a, *b;
} side;

static void side_open(side *out, int device)
{
    static float numbers[COUNT];
    for (int i = 0; i < COUNT; i++) numbers[i] = (float)(i % 1000);
    int result = retain(&out->context, device);
    if (!result) result = set_current(out->context);
    if (!result) result = stream_new(&out->stream, 1);
    check(result == 0, "a context and a stream");
    check(tile_alloc((void **)&out->a, BYTES) == TILE_OK, "memory of the current context");
    check(tile_alloc((void **)&out->b, BYTES) == TILE_OK, "memory of the current context");
    check(tile_copy_in(out->a, numbers, BYTES, out->stream) == TILE_OK, "copy to the device");
}

static int is_right(const side *on, int number)
{
    float *back = malloc(BYTES);
    int fine = tile_copy_out(back, on->b, BYTES, on->stream) == TILE_OK &&
               tile_synchronize(on->stream) == TILE_OK;
    for (int i = 0; fine && i < COUNT; i++) fine = back[i] == (float)(i % 1000 + number);
    free(back);
    return fine;
}

static pthread_barrier_t start;

static void *on_both(void *argument)
{
    const int index = (int)(intptr_t)argument;
    side sides[2];
    side_open(&sides[0], 0);
    side_open(&sides[1], 1);
    pthread_barrier_wait(&start); /* all first calls at once */
    for (int i = 0; i < ROUNDS; i++) {
        const int device = (index + i) % 2, current = i / 2 % 2;
        void *there = NULL;
        set_current(sides[current].context);
        check(staged(sides[device].stream, COUNT, index + i, sides[device].a, sides[device].b) ==
                  TILE_OK,
              "a call on the stream's device");
        get_current(&there);
        check(there == sides[current].context, "the current context stays");
        check(is_right(&sides[device], index + i), "numbers of the device of the stream");
    }
    return NULL;
}

static void in_capture(void)
{
    side one;
    void *graph = NULL, *runnable = NULL;
    side_open(&one, 1);
    check(staged_prepare(1) == TILE_OK, "prepare on the second device");
    check(begin(one.stream, 1) == 0, "begin of a capture");
    check(staged(one.stream, COUNT, 7, one.a, one.b) == TILE_OK, "a call in a capture");
    check(end(one.stream, &graph) == 0 && instantiate(&runnable, graph, 0) == 0, "its graph");
    check(launch_graph(runnable, one.stream) == 0 && is_right(&one, 7), "the graph's numbers");
}

static void too_much(void)
{
    void *memory = NULL;
    check(tile_alloc(&memory, (size_t)1 << 50) == 2 && strstr(tile_last_error(), "cuMemAlloc"),
          "more memory than there is");
    check(tile_set_device("cuda:9") == TILE_ERROR_DEVICE, "a device that is not there");
}

static void in_a_child(void)
{
    int ended = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (!child) {
        float numbers[4] = {0};
        const int status = staged(NULL, 4, 1, numbers, numbers);
        _exit(status == TILE_ERROR_NO_DRIVER && strstr(tile_last_error(), "forked") ? 0 : 1);
    }
    check(waitpid(child, &ended, 0) == child && ended == 0, "a child is told that it has no GPU");
}

/* The first device's context is gone with all that was in it; the second one knows nothing of it.
 */
static void after_reset(void)
{
    side gone, other;
    side_open(&gone, 0);
    side_open(&other, 1);
    check(reset(0) == 0, "reset of the first device");
    set_current(other.context);
    check(staged(other.stream, COUNT, 3, other.a, other.b) == TILE_OK && is_right(&other, 3),
          "the second device goes on");
    set_current(gone.context);
    const tile_status status = staged(NULL, COUNT, 4, gone.a, gone.b);
    const tile_status later = status ? status : tile_synchronize(NULL);
    printf("a call on the first device after its reset: %d (%s)\n", (int)later, tile_last_error());
    check(later != TILE_OK, "memory that is gone with the context");
}

int main(void)
{
    pthread_t threads[THREADS];
    if (tile_device_count() < 2) return printf("fewer than two GPUs\n"), 77;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    find(&retain, "cuDevicePrimaryCtxRetain");
    find(&set_current, "cuCtxSetCurrent");
    find(&get_current, "cuCtxGetCurrent");
    find(&stream_new, "cuStreamCreate");
    find(&begin, "cuStreamBeginCapture_v2");
    find(&end, "cuStreamEndCapture");
    find(&instantiate, "cuGraphInstantiateWithFlags");
    find(&launch_graph, "cuGraphLaunch");
    find(&reset, "cuDevicePrimaryCtxReset_v2");
    find(&wait_for, "cuStreamSynchronize");
    pthread_barrier_init(&start, NULL, THREADS);
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, on_both, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("%d threads, %d calls each on two devices in turn: %d failures\n", THREADS, ROUNDS,
           failures);
    in_capture();
    too_much();
    in_a_child();
    after_reset();
    printf("%d failures\n", failures);
    return failures != 0;
}
