/* late.c: what does a specialisation cost that libtilec compiles when it is asked for?
 *
 *     late [N]    of n x n x n products (default 4096), whose kernels headers late.h and ahead.h
 *                 declare: `ahead` is built for N, `late` for another size, with its source
 *
 * The first calls, then rows of both in turn, whose results must be the same bits; last, four more
 * sizes by four threads at once. Exit status 5: wrong, more than 1 s, or 5 % slower than built
 * ahead; 3: the device failed. */
#include "bench.h"

#include "ahead.h"
#include "late.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, ROW = 20, THREADS = 4 };

typedef uint16_t half;
typedef tile_status product(tile_stream stream, int32_t m, int64_t n, int64_t k, const void *a,
                            const void *b, void *c);

typedef struct problem {
    int n;
    void *a, *b, *c;
    size_t bytes;
} problem;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static problem make_problem(int n)
{
    problem made = {.n = n, .bytes = (size_t)n * (size_t)n * sizeof(half)};
    half *host = bench_new(made.bytes, 1);
    bench_random random = {(uint64_t)n};
    bench_must(tile_alloc(&made.a, made.bytes), "tile_alloc");
    bench_must(tile_alloc(&made.b, made.bytes), "tile_alloc");
    bench_must(tile_alloc(&made.c, made.bytes), "tile_alloc");
    for (size_t i = 0; i < made.bytes / sizeof(half); i++)
        host[i] = bench_half(bench_random_number(&random) / sqrt((double)n));
    bench_must(tile_copy_in(made.a, host, made.bytes, NULL), "tile_copy_in");
    bench_must(tile_copy_in(made.b, host, made.bytes, NULL), "tile_copy_in");
    bench_must(tile_synchronize(NULL), "tile_synchronize");
    free(host);
    return made;
}

/* Seconds of so many calls in a row. */
static double time_calls(product *call, const problem *problem, int count)
{
    const double begin = now();
    for (int i = 0; i < count; i++)
        bench_must(
            call(NULL, problem->n, problem->n, problem->n, problem->a, problem->b, problem->c),
            "the call");
    bench_must(tile_synchronize(NULL), "tile_synchronize");
    return now() - begin;
}

static half *result_of(const problem *problem)
{
    half *host = bench_new(problem->bytes, 1);
    bench_must(tile_copy_out(host, problem->c, problem->bytes, NULL), "tile_copy_out");
    bench_must(tile_synchronize(NULL), "tile_synchronize");
    return host;
}

static int check_results(const problem *problem)
{
    time_calls(late, problem, 1);
    half *one = result_of(problem);
    time_calls(ahead, problem, 1);
    half *other = result_of(problem);
    const int same = memcmp(one, other, problem->bytes) == 0;
    printf("the results are %s\n", same ? "the same bits" : "DIFFERENT");
    free(one);
    free(other);
    return same;
}

static int check_speed(const problem *problem, int row)
{
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const double first = time_calls(i % 2 ? ahead : late, problem, row);
        const double second = time_calls(i % 2 ? late : ahead, problem, row);
        ratios[i] = i % 2 ? second / first : first / second;
    }
    const double ratio = bench_quantile(ratios, ROUNDS, 0.5);
    printf("compiled for the call takes %.3f of the time of built ahead\n", ratio);
    return ratio <= 1.05 || bench_on_emulator();
}

static void *call_once(void *context)
{
    time_calls(late, context, 1);
    return NULL;
}

static void call_at_once(int n)
{
    pthread_t threads[THREADS];
    problem problems[THREADS];
    for (int i = 0; i < THREADS; i++) problems[i] = make_problem(n + 64 * (i + 1));
    const double begin = now();
    for (int i = 0; i < THREADS; i++)
        bench_must(pthread_create(&threads[i], NULL, call_once, &problems[i]), "pthread_create");
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("first calls of %d more sizes, by as many threads at once: %.0f ms\n", THREADS,
           1e3 * (now() - begin));
}

int main(int count, char **words)
{
    bench_gpu gpu;
    const int n = count > 1 ? atoi(words[1]) : 4096;
    if (!bench_on_emulator()) bench_gpu_open(&gpu);
    const problem problem = make_problem(n);
    const double built = time_calls(ahead, &problem, 1), first = time_calls(late, &problem, 1);
    printf("first call, n = %d: built ahead %.0f ms, compiled for the call %.0f ms\n", n,
           1e3 * built, 1e3 * first);
    int fine = first <= 1 || bench_on_emulator();
    fine &= check_results(&problem);
    fine &= check_speed(&problem, bench_on_emulator() ? 1 : ROW);
    call_at_once(n < 512 ? n : 512);
    printf("%s\n", fine ? "ok" : "WRONG");
    return fine ? 0 : 5;
}
