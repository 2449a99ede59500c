/* tune.c: does tuning choose well, does it leave the arguments as it must, and what does it cost?
 *
 *     tune [N]    of n x n x n products (default 4096), whose kernels headers tuned.h and
 * tuned_add.h declare
 *
 * The choice of the first call is set beside a measurement of each configuration of its own: other
 * events, another order in each round, medians. A kernel that adds to its result is tuned too, and
 * must have added once. Exit status 5: the choice is more than 5 % slower than the best one, or a
 * result is wrong; 3: the device failed. */
#include "bench.h"

#include "tuned.h"
#include "tuned_add.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 15, MOST = 64 };

typedef uint16_t half;

typedef struct problem {
    int n;
    void *a, *b, *c;
    half *host;
    size_t bytes;
} problem;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fill(problem *problem, void *to, uint64_t seed)
{
    bench_random random = {seed};
    const double scale = 1 / sqrt((double)problem->n);
    for (size_t i = 0; i < problem->bytes / sizeof(half); i++)
        problem->host[i] = bench_half(scale * bench_random_number(&random));
    bench_must(tile_copy_in(to, problem->host, problem->bytes, NULL), "tile_copy_in");
    bench_must(tile_synchronize(NULL), "tile_synchronize");
}

/* One configuration as a kernel of its own. */
typedef struct single {
    tile_specialisation specialisation;
    tile_kernel kernel;
    void *state;
} single;

static void make_single(const tile_kernel *of, uint32_t index, single *out)
{
    out->specialisation = of->specialisations[index];
    out->specialisation.configuration_count = 0;
    out->kernel = *of;
    out->kernel.specialisations = &out->specialisation;
    out->kernel.specialisation_count = 1;
    out->kernel.state = &out->state;
    out->state = NULL;
}

static void launch(const tile_kernel *kernel, const problem *problem)
{
    const int32_t m = problem->n;
    const int64_t n = problem->n;
    const void *arguments[] = {&m, &n, &n, &problem->a, &problem->b, &problem->c};
    bench_must(tile_launch(kernel, NULL, NULL, 0, arguments), "tile_launch");
}

static void read_result(const problem *problem, half *out)
{
    bench_must(tile_copy_out(out, problem->c, problem->bytes, NULL), "tile_copy_out");
    bench_must(tile_synchronize(NULL), "tile_synchronize");
}

static double difference(const half *a, const half *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++) {
        const double apart = fabs(bench_from_half(a[i]) - bench_from_half(b[i]));
        if (!(apart <= most)) most = apart;
    }
    return most;
}

/* ---- measuring ------------------------------------------------------------------------------- */

typedef struct watch {
    bench_gpu gpu;
    CUevent start, end;
    void *other;
    size_t other_bytes;
} watch;

static double time_once(watch *watch, const tile_kernel *kernel, const problem *problem)
{
    float milliseconds = 0;
    bench_must(watch->gpu.more.memory_fill((CUdeviceptr)(uintptr_t)watch->other, 1,
                                           watch->other_bytes, NULL),
               "cuMemsetD8Async");
    bench_must(watch->gpu.more.event_record(watch->start, NULL), "cuEventRecord");
    launch(kernel, problem);
    bench_must(watch->gpu.more.event_record(watch->end, NULL), "cuEventRecord");
    bench_must(watch->gpu.more.event_synchronize(watch->end), "cuEventSynchronize");
    bench_must(watch->gpu.more.event_elapsed(&milliseconds, watch->start, watch->end),
               "cuEventElapsedTime");
    return (double)milliseconds;
}

/* The medians of all configurations, in milliseconds. */
static void time_all(watch *watch, const tile_kernel *of, uint32_t count, const problem *problem,
                     double *out)
{
    static single singles[MOST];
    static double times[MOST][ROUNDS];
    bench_random random = {7};
    for (uint32_t i = 0; i < count; i++) {
        make_single(of, i, &singles[i]);
        time_once(watch, &singles[i].kernel, problem);
    }
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t first = (uint32_t)(bench_random_bits(&random) >> 32) % count;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t at = (first + i * 5) % count;
            times[at][round] = time_once(watch, &singles[at].kernel, problem);
        }
    }
    for (uint32_t i = 0; i < count; i++) out[i] = bench_quantile(times[i], ROUNDS, 0.5);
}

/* ---- the checks ------------------------------------------------------------------------------ */

static int check_choice(watch *watch, problem *problem)
{
    double milliseconds[MOST];
    tile_plan plan;
    const uint32_t count = product_kernel.specialisations[0].configuration_count;
    const double begin = now();
    launch(&product_kernel, problem);
    bench_must(tile_synchronize(NULL), "tile_synchronize");
    printf("first call: %.0f ms for %u configurations\n", 1e3 * (now() - begin), count);
    bench_must(
        product_plan(problem->n, problem->n, problem->n, problem->a, problem->b, problem->c, &plan),
        "product_plan");
    time_all(watch, &product_kernel, count, problem, milliseconds);
    double best = milliseconds[0];
    for (uint32_t i = 0; i < count; i++) best = milliseconds[i] < best ? milliseconds[i] : best;
    const double flops = 2 * pow(problem->n, 3);
    for (uint32_t i = 0; i < count; i++)
        printf("%c %9.4f ms %7.1f TFLOP/s %5.2fx  %s\n", i == plan.specialisation ? '*' : ' ',
               milliseconds[i], flops / milliseconds[i] * 1e-9, milliseconds[i] / best,
               product_kernel.specialisations[i].configuration);
    const double apart = milliseconds[plan.specialisation] / best;
    printf("the choice takes %.3f of the best one's time\n", apart);
    return apart <= 1.05;
}

static int check_results(problem *problem)
{
    const uint32_t count = product_kernel.specialisations[0].configuration_count;
    const size_t elements = problem->bytes / sizeof(half);
    half *first = bench_new(elements, sizeof(half)), *other = bench_new(elements, sizeof(half));
    double most = 0;
    for (uint32_t i = 0; i < count; i++) {
        static single one;
        make_single(&product_kernel, i, &one);
        fill(problem, problem->c, 99);
        launch(&one.kernel, problem);
        read_result(problem, i ? other : first);
        const double apart = i ? difference(first, other, elements) : 0;
        most = apart > most ? apart : most;
    }
    free(first);
    free(other);
    printf("configurations differ by %.5f at most\n", most);
    return most <= 4e-3;
}

static int check_once(problem *problem)
{
    const size_t elements = problem->bytes / sizeof(half);
    half *tuned = bench_new(elements, sizeof(half)), *once = bench_new(elements, sizeof(half));
    static single one;
    fill(problem, problem->c, 5);
    launch(&product_add_kernel, problem);
    read_result(problem, tuned);
    make_single(&product_add_kernel, 0, &one);
    fill(problem, problem->c, 5);
    launch(&one.kernel, problem);
    read_result(problem, once);
    const double apart = difference(tuned, once, elements);
    free(tuned);
    free(once);
    printf("tuned in place, against one call: %.5f apart\n", apart);
    return apart <= 4e-3;
}

int main(int count, char **words)
{
    watch watch = {0};
    problem problem = {.n = count > 1 ? atoi(words[1]) : 4096};
    if (bench_on_emulator()) bench_stop("tune needs a GPU");
    bench_gpu_open(&watch.gpu);
    bench_must(watch.gpu.more.event_create(&watch.start, 0), "cuEventCreate");
    bench_must(watch.gpu.more.event_create(&watch.end, 0), "cuEventCreate");
    watch.other_bytes = 2 * (size_t)watch.gpu.l2_bytes;
    problem.bytes = (size_t)problem.n * (size_t)problem.n * sizeof(half);
    problem.host = bench_new(problem.bytes, 1);
    bench_must(tile_alloc(&watch.other, watch.other_bytes), "tile_alloc");
    bench_must(tile_alloc(&problem.a, problem.bytes), "tile_alloc");
    bench_must(tile_alloc(&problem.b, problem.bytes), "tile_alloc");
    bench_must(tile_alloc(&problem.c, problem.bytes), "tile_alloc");
    fill(&problem, problem.a, 1);
    fill(&problem, problem.b, 2);
    printf("%s, driver %d, n = %d\n", watch.gpu.name, watch.gpu.version, problem.n);
    int fine = check_once(&problem);
    fine &= check_results(&problem);
    fine &= check_choice(&watch, &problem);
    printf("%s\n", fine ? "ok" : "WRONG");
    return fine ? 0 : 5;
}
