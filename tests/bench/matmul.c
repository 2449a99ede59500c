/* matmul.c: is a half precision matmul right, and how does it stand against cuBLAS?
 *
 *     matmul [--no-bench] [--json FILE] [M N K]...
 *
 * Measures any kernel with the C entry
 *     matmul(stream, int32_t m, int64_t n, int64_t k, const void *a, const void *b, void *c).
 * Without sizes: checks odd and small m, and times m = 1, 4, 8, 16, with two weights. On the
 * emulator (TILE_DEVICE=emulator) it only checks.
 *
 * A check compares every element with a float64 product: within 1e-2 of it, absolute plus relative,
 * and all of them together within 1e-3. c starts out as NaN, between canaries.
 *
 * cuBLAS comes through dlopen: CUBLAS_LIBRARY names it, or it is found where the loader looks.
 * Exit status 5 if anything was wrong, 3 if the device failed. */
#include "bench.h"

#ifndef HEADER
#define HEADER "matmul.h"
#define ENTRY  matmul
#endif
#include HEADER

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define PLAN        JOIN(ENTRY, _plan)

typedef uint16_t half;

typedef struct shape {
    int m, n, k;
} shape;

/* ---- operands and the reference -------------------------------------------------------------- */

/* The operands of one (n, k) with as many rows as any check wants, and the product. A check of
 * fewer rows takes the first ones. */
typedef struct problem {
    shape shape;
    half *a, *b;
    double *columns; /* a, transposed */
    double *product;
    atomic_int next_block;
} problem;

enum { BLOCK = 64 }; /* columns of the product that are made at a time */

static void fill(half *to, size_t count, double scale, uint64_t seed)
{
    bench_random random = {seed};
    for (size_t i = 0; i < count; i++) to[i] = bench_half(scale * bench_random_number(&random));
}

static void multiply_block(problem *problem, int first, const double *value_of)
{
    const shape shape = problem->shape;
    const int width = shape.n - first < BLOCK ? shape.n - first : BLOCK;
    double row[BLOCK];
    for (int k = 0; k < shape.k; k++) {
        const half *b = problem->b + (size_t)k * (size_t)shape.n + first;
        const double *a = problem->columns + (size_t)k * (size_t)shape.m;
        for (int j = 0; j < width; j++) row[j] = value_of[b[j]];
        for (int i = 0; i < shape.m; i++) {
            double *sums = problem->product + (size_t)i * (size_t)shape.n + first;
            for (int j = 0; j < width; j++) sums[j] += a[i] * row[j];
        }
    }
}

static double *table_of_halves(void)
{
    double *table = bench_new(65536, sizeof *table);
    for (unsigned i = 0; i < 65536; i++) table[i] = bench_from_half((half)i);
    return table;
}

static void *multiply_blocks(void *argument)
{
    problem *problem = argument;
    double *value_of = table_of_halves();
    int first;
    while ((first = BLOCK * atomic_fetch_add(&problem->next_block, 1)) < problem->shape.n)
        multiply_block(problem, first, value_of);
    free(value_of);
    return NULL;
}

static void multiply(problem *problem)
{
    enum { MOST = 64 };
    pthread_t threads[MOST];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const int count = processors < 1 ? 1 : processors > MOST ? MOST : (int)processors;
    for (int i = 0; i < count; i++)
        if (pthread_create(&threads[i], NULL, multiply_blocks, problem))
            bench_stop("pthread_create");
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

/* Elements of a have variance 1 and those of b 1/k, so that the product's have 1: small enough for
 * half precision, large enough for the bounds to mean something. */
static problem *make_problem(shape shape, uint64_t seed)
{
    const size_t m = (size_t)shape.m, n = (size_t)shape.n, k = (size_t)shape.k;
    problem *problem = bench_new(1, sizeof *problem);
    problem->shape = shape;
    problem->a = bench_new(m * k, sizeof(half));
    problem->b = bench_new(k * n, sizeof(half));
    problem->columns = bench_new(m * k, sizeof(double));
    problem->product = bench_new(m * n, sizeof(double));
    fill(problem->a, m * k, sqrt(3), seed);
    fill(problem->b, k * n, sqrt(3.0 / shape.k), ~seed);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < k; j++)
            problem->columns[j * m + i] = bench_from_half(problem->a[i * k + j]);
    multiply(problem);
    return problem;
}

static void free_problem(problem *problem)
{
    free(problem->a);
    free(problem->b);
    free(problem->columns);
    free(problem->product);
    free(problem);
}

/* ---- checks ---------------------------------------------------------------------------------- */

enum { CANARIES = 4096 };
static const half POISON = 0x7e5a; /* a NaN */

typedef struct check {
    const char *who;
    shape shape;
    int shift; /* elements by which all pointers miss the allocator's alignment */
    tile_status status;
    long long wrong, first_wrong, overwritten;
    double error; /* of all elements, relative */
    int good;
} check;

static void *upload(const half *from, size_t count, int shift)
{
    void *device;
    bench_must(tile_alloc(&device, (count + (size_t)shift) * sizeof *from), "tile_alloc");
    half *at = (half *)device + shift;
    bench_must(tile_copy_in(at, from, count * sizeof *from, NULL), "tile_copy_in");
    return device;
}

static void compare(check *check, const problem *problem, const half *memory)
{
    const size_t count = (size_t)check->shape.m * (size_t)check->shape.n;
    double distance = 0, norm = 0;
    for (size_t i = 0; i < count; i++) {
        const double is = bench_from_half(memory[CANARIES + i]), should = problem->product[i];
        const double difference = is - should;
        distance += difference * difference;
        norm += should * should;
        if (!(fabs(difference) <= 1e-2 + 1e-2 * fabs(should)) && !check->wrong++)
            check->first_wrong = (long long)i;
    }
    for (size_t i = 0; i < CANARIES; i++)
        check->overwritten += (memory[i] != POISON) + (memory[CANARIES + count + i] != POISON);
    check->error = norm > 0 ? sqrt(distance / norm) : sqrt(distance);
    check->good = !check->wrong && !check->overwritten && check->error <= 1e-3;
}

/* How a contender is called: c = a @ b on `stream`. */
typedef tile_status multiply_function(tile_stream stream, shape shape, const void *a, const void *b,
                                      void *c);

static tile_status ours(tile_stream stream, shape shape, const void *a, const void *b, void *c)
{
    return ENTRY(stream, shape.m, shape.n, shape.k, a, b, c);
}

static void run_check(check *check, const problem *problem, multiply_function *function,
                      tile_stream stream)
{
    const shape shape = check->shape;
    const size_t m = (size_t)shape.m, n = (size_t)shape.n, k = (size_t)shape.k;
    const size_t room = m * n + 2 * CANARIES;
    half *memory = bench_new(room, sizeof *memory);
    for (size_t i = 0; i < room; i++) memory[i] = POISON;
    half *a = upload(problem->a, m * k, check->shift);
    half *b = upload(problem->b, k * n, check->shift);
    half *c = upload(memory, room, check->shift);
    bench_must(tile_synchronize(NULL), "tile_synchronize");
    check->status =
        function(stream, shape, a + check->shift, b + check->shift, c + check->shift + CANARIES);
    if (!check->status)
        check->status = tile_copy_out(memory, c + check->shift, room * sizeof *c, stream);
    if (!check->status) check->status = tile_synchronize(stream);
    if (!check->status) compare(check, problem, memory);
    tile_free(a);
    tile_free(b);
    tile_free(c);
    free(memory);
}

static void print_check(const check *check)
{
    printf("%-6s %6d %6d %6d  shift %d  %-5s", check->who, check->shape.m, check->shape.n,
           check->shape.k, check->shift, check->good ? "ok" : "WRONG");
    if (check->status)
        printf("  %s: %s\n", tile_status_name(check->status), tile_last_error());
    else
        printf("  relative error %.1e, %lld wrong (first %lld), %lld canaries overwritten\n",
               check->error, check->wrong, check->first_wrong, check->overwritten);
    fflush(stdout);
}

/* ---- cuBLAS ---------------------------------------------------------------------------------- */

static struct {
    void *library, *handle;
    int (*create)(void **handle);
    int (*set_stream)(void *handle, CUstream stream);
    int (*gemm)(void *handle, int transpose_a, int transpose_b, int m, int n, int k,
                const void *alpha, const void *a, int a_type, int lda, const void *b, int b_type,
                int ldb, const void *beta, void *c, int c_type, int ldc, int compute,
                int algorithm);
} cublas;

static int open_cublas(CUstream stream)
{
    const char *names[] = {getenv("CUBLAS_LIBRARY"), "libcublas.so.13", "libcublas.so.12",
                           "libcublas.so"};
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !cublas.library; i++)
        if (names[i] && *names[i]) cublas.library = dlopen(names[i], RTLD_NOW);
    if (!cublas.library) {
        printf("no cuBLAS: %s\n", dlerror());
        return 0;
    }
    bench_find(cublas.library, "cublasCreate_v2", &cublas.create);
    bench_find(cublas.library, "cublasSetStream_v2", &cublas.set_stream);
    bench_find(cublas.library, "cublasGemmEx", &cublas.gemm);
    bench_must(cublas.create(&cublas.handle), "cublasCreate");
    bench_must(cublas.set_stream(cublas.handle, stream), "cublasSetStream");
    return 1;
}

/* cuBLAS counts by columns: the transposed product is asked for, whose operands lie as ours do. */
static tile_status theirs(tile_stream stream, shape shape, const void *a, const void *b, void *c)
{
    enum { PLAIN = 0, HALF = 2, COMPUTE_FLOAT = 68, DEFAULT = -1 };
    const float one = 1, zero = 0;
    (void)stream; /* the handle's */
    return cublas.gemm(cublas.handle, PLAIN, PLAIN, shape.n, shape.m, shape.k, &one, b, HALF,
                       shape.n, a, HALF, shape.k, &zero, c, HALF, shape.n, COMPUTE_FLOAT, DEFAULT);
}

/* ---- times ----------------------------------------------------------------------------------- */

enum {
    ROUNDS = 15,
    SAMPLES = 5, /* of a contender in a round; their median is the round's value */
    ROW = 12,    /* launches of a sample in a row */
    CONTENDERS = 3,
    FLUSH_BYTES = 512 << 20 /* several times any L2 */
};

/* cuBLAS twice: what the second time differs by, the method cannot tell apart. */
enum { OURS, CUBLAS, CUBLAS_AGAIN };
static multiply_function *const contenders[CONTENDERS] = {ours, theirs, theirs};

typedef struct bench {
    bench_gpu gpu;
    CUevent start, end;
    void *flush;
    int contenders; /* 1 without cuBLAS */
    bench_random random;
    shape shape;
    void *a, *c, **weights;
    int copies, next; /* of the weights */
} bench;

/* One way of timing: microseconds of a product, by round, and cuBLAS's over each. */
typedef struct timing {
    int launches; /* of a sample */
    double rounds[CONTENDERS][ROUNDS], ratios[CONTENDERS][ROUNDS];
} timing;

typedef struct times {
    shape shape;
    tile_plan plan;
    timing alone, row;
} times;

static void open_bench(bench *bench)
{
    bench_gpu_open(&bench->gpu);
    bench->random.state = 1;
    bench_must(bench->gpu.more.event_create(&bench->start, 0), "cuEventCreate");
    bench_must(bench->gpu.more.event_create(&bench->end, 0), "cuEventCreate");
    bench_must(tile_alloc(&bench->flush, FLUSH_BYTES), "tile_alloc");
    bench->contenders = open_cublas(bench->gpu.stream) ? CONTENDERS : 1;
}

/* Operands on the device, the weights so often that one round through them is several times L2. */
static void load_operands(bench *bench, const problem *problem, shape shape)
{
    const size_t m = (size_t)shape.m, n = (size_t)shape.n, k = (size_t)shape.k;
    const size_t bytes = n * k * sizeof(half);
    bench->shape = shape;
    bench->copies = (int)(((size_t)256 << 20) / bytes + 1);
    bench->copies = bench->copies < 3 ? 3 : bench->copies > 64 ? 64 : bench->copies;
    bench->weights = bench_new((size_t)bench->copies, sizeof *bench->weights);
    bench->a = upload(problem->a, m * k, 0);
    bench_must(tile_alloc(&bench->c, m * n * sizeof(half)), "tile_alloc");
    bench->weights[0] = upload(problem->b, n * k, 0);
    for (int i = 1; i < bench->copies; i++) {
        bench_must(tile_alloc(&bench->weights[i], bytes), "tile_alloc");
        bench_must(bench->gpu.more.memory_copy((CUdeviceptr)(uintptr_t)bench->weights[i],
                                          (CUdeviceptr)(uintptr_t)bench->weights[0], bytes, NULL),
                   "cuMemcpyDtoDAsync");
    }
    bench_must(tile_synchronize(NULL), "tile_synchronize");
}

static void free_operands(bench *bench)
{
    for (int i = 0; i < bench->copies; i++) tile_free(bench->weights[i]);
    tile_free(bench->a);
    tile_free(bench->c);
    free(bench->weights);
}

/* Microseconds of a launch. The memset empties L2 of operands, and keeps the GPU busy until all
 * launches are queued, so that no host time is measured. */
static double sample(bench *bench, multiply_function *function, int launches)
{
    const bench_gpu *gpu = &bench->gpu;
    float milliseconds = 0;
    bench_must(gpu->more.memory_fill((CUdeviceptr)(uintptr_t)bench->flush, 0, FLUSH_BYTES, gpu->stream),
               "cuMemsetD8Async");
    bench_must(gpu->more.event_record(bench->start, gpu->stream), "cuEventRecord");
    for (int i = 0; i < launches; i++) {
        const void *weights = bench->weights[bench->next++ % bench->copies];
        bench_must(function(gpu->stream, bench->shape, bench->a, weights, bench->c), "a launch");
    }
    bench_must(gpu->more.event_record(bench->end, gpu->stream), "cuEventRecord");
    bench_must(gpu->more.event_synchronize(bench->end), "cuEventSynchronize");
    bench_must(gpu->more.event_elapsed(&milliseconds, bench->start, bench->end), "cuEventElapsedTime");
    return 1e3 * (double)milliseconds / launches;
}

static void shuffle(bench *bench, int *order, int count)
{
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)(bench_random_bits(&bench->random) % (uint64_t)(i + 1));
        const int saved = order[i];
        order[i] = order[j];
        order[j] = saved;
    }
}

static void measure_round(bench *bench, timing *timing, int round)
{
    int order[CONTENDERS] = {OURS, CUBLAS, CUBLAS_AGAIN};
    shuffle(bench, order, bench->contenders);
    for (int i = 0; i < bench->contenders; i++) {
        double values[SAMPLES];
        for (int j = 0; j < SAMPLES; j++)
            values[j] = sample(bench, contenders[order[i]], timing->launches);
        timing->rounds[order[i]][round] = bench_quantile(values, SAMPLES, 0.5);
    }
    for (int i = 0; i < bench->contenders; i++)
        timing->ratios[i][round] =
            bench->contenders > 1 ? timing->rounds[CUBLAS][round] / timing->rounds[i][round] : NAN;
}

static void measure(bench *bench, timing *timing, int launches)
{
    timing->launches = launches;
    for (int i = 0; i < bench->contenders; i++) /* warms up */
        sample(bench, contenders[i], 3);
    for (int round = 0; round < ROUNDS; round++) measure_round(bench, timing, round);
}

static void measure_shape(bench *bench, const problem *problem, times *times)
{
    const shape shape = times->shape;
    load_operands(bench, problem, shape);
    bench_must(PLAN(shape.m, shape.n, shape.k, bench->a, bench->weights[0], bench->c, &times->plan),
               "the plan");
    measure(bench, &times->alone, 1);
    measure(bench, &times->row, ROW);
    free_operands(bench);
}

/* ---- what is printed and written ------------------------------------------------------------- */

/* Bytes that have to move at least: each operand once. */
static double operand_bytes(shape shape)
{
    const double m = shape.m, n = shape.n, k = shape.k;
    return 2 * (m * k + k * n + m * n);
}

static void print_timing(const char *name, const bench *bench, shape shape, timing *timing)
{
    double *us = timing->rounds[OURS];
    const double median = bench_quantile(us, ROUNDS, 0.5);
    printf("%6d %6d %6d  %-6s %8.2f (%.2f..%.2f) %6.0f", shape.m, shape.n, shape.k, name, median,
           us[0], us[ROUNDS - 1], operand_bytes(shape) / median * 1e-3);
    if (bench->contenders > 1) {
        us = timing->rounds[CUBLAS];
        const double library = bench_quantile(us, ROUNDS, 0.5);
        double *ratios = timing->ratios[OURS];
        const double ratio = bench_quantile(ratios, ROUNDS, 0.5);
        printf("  %8.2f (%.2f..%.2f) %6.3f (%.3f..%.3f) %6.3f", library, us[0], us[ROUNDS - 1],
               ratio, ratios[0], ratios[ROUNDS - 1],
               bench_quantile(timing->ratios[CUBLAS_AGAIN], ROUNDS, 0.5));
    }
    printf("\n");
    fflush(stdout);
}

static void print_heading(const bench *bench)
{
    printf(
        "\nmicroseconds: median (least..most) of %d rounds in shuffled order, each the median of "
        "%d samples\n%s, %d multiprocessors, L2 %.0f MiB. Out of an emptied L2: 'alone' one "
        "launch, 'row' %d launches on rotating weights.\n"
        "ratio: cuBLAS time / ours, by rounds; control: the same of cuBLAS and cuBLAS\n"
        "     m      n      k  how        ours              GB/s    cuBLAS              ratio     "
        "         control\n",
        ROUNDS, SAMPLES, bench->gpu.name, bench->gpu.multiprocessors,
        bench->gpu.l2_bytes / 1048576.0, ROW);
}

static void write_values(FILE *file, const char *name, double *values)
{
    const double median = bench_quantile(values, ROUNDS, 0.5);
    fprintf(file, "\"%s\": {\"median\": %.4f, \"least\": %.4f, \"most\": %.4f}", name, median,
            values[0], values[ROUNDS - 1]);
}

static void write_timing(FILE *file, const bench *bench, const char *name, timing *timing)
{
    fprintf(file, ", \"%s\": {", name);
    write_values(file, "us", timing->rounds[OURS]);
    if (bench->contenders > 1) {
        fprintf(file, ", ");
        write_values(file, "cublas_us", timing->rounds[CUBLAS]);
        fprintf(file, ", ");
        write_values(file, "ratio", timing->ratios[OURS]);
        fprintf(file, ", ");
        write_values(file, "control", timing->ratios[CUBLAS_AGAIN]);
    }
    fprintf(file, "}");
}

static void write_times(FILE *file, const bench *bench, times *times)
{
    const tile_plan *plan = &times->plan;
    fprintf(file,
            "{\"m\": %d, \"n\": %d, \"k\": %d, \"target\": \"%s\", \"grid\": [%u, %u, %u], "
            "\"warps\": %u, \"shared_bytes\": %u, \"registers\": %u, \"spill_bytes\": %u, "
            "\"variant\": %u",
            times->shape.m, times->shape.n, times->shape.k, plan->target, plan->grid.x,
            plan->grid.y, plan->grid.z, plan->warps, plan->shared_bytes, plan->registers,
            plan->spill_bytes, plan->variant);
    write_timing(file, bench, "alone", &times->alone);
    write_timing(file, bench, "row", &times->row);
    fprintf(file, "}");
}

static void write_check(FILE *file, const check *check)
{
    fprintf(file,
            "{\"who\": \"%s\", \"m\": %d, \"n\": %d, \"k\": %d, \"shift\": %d, \"status\": %d, "
            "\"wrong\": %lld, \"overwritten\": %lld, \"error\": %.3g, \"good\": %s}",
            check->who, check->shape.m, check->shape.n, check->shape.k, check->shift,
            (int)check->status, check->wrong, check->overwritten,
            isfinite(check->error) ? check->error : 1e300, check->good ? "true" : "false");
}

/* ---- the program ----------------------------------------------------------------------------- */

enum { MOST_RUNS = 64 };

typedef struct session {
    const char *json;
    int time_it;
    bench bench;
    shape shapes[MOST_RUNS]; /* asked for */
    int shape_count;
    check checks[MOST_RUNS];
    int check_count, wrong;
    times times[MOST_RUNS];
    int times_count;
} session;

static void write_json(session *session)
{
    FILE *file = fopen(session->json, "w");
    if (!file) bench_stop(session->json);
    fprintf(file, "{\"program\": \"matmul\", \"device\": \"%s\", \"cuda\": %d,\n \"checks\": [",
            session->time_it ? session->bench.gpu.name : "", session->bench.gpu.version);
    for (int i = 0; i < session->check_count; i++) {
        fprintf(file, "%s\n  ", i ? "," : "");
        write_check(file, &session->checks[i]);
    }
    fprintf(file, "],\n \"times\": [");
    for (int i = 0; i < session->times_count; i++) {
        fprintf(file, "%s\n  ", i ? "," : "");
        write_times(file, &session->bench, &session->times[i]);
    }
    fprintf(file, "]}\n");
    fclose(file);
}

static int one_check(session *session, const problem *problem, const char *who,
                     multiply_function *function, int m, int shift)
{
    if (session->check_count == MOST_RUNS) bench_stop("too many checks: the list");
    check *check = &session->checks[session->check_count++];
    *check = (struct check){.who = who, .shift = shift};
    check->shape = problem->shape;
    check->shape.m = m;
    run_check(check, problem, function, session->time_it ? session->bench.gpu.stream : NULL);
    print_check(check);
    session->wrong += !check->good;
    return check->good;
}

static void one_timing(session *session, const problem *problem, int m)
{
    times *times = &session->times[session->times_count++];
    *times = (struct times){.shape = problem->shape};
    times->shape.m = m;
    measure_shape(&session->bench, problem, times);
}

/* Everything for one weight: odd m too, and pointers that no vector access is aligned to. What is
 * wrong is not timed. */
static void run_weight(session *session, int n, int k)
{
    static const int small[] = {1, 4, 8, 16}, odd[] = {33, 63, 65, 100};
    enum { COUNT = sizeof small / sizeof small[0], ODD = sizeof odd / sizeof odd[0] };
    problem *problem = make_problem((shape){odd[ODD - 1], n, k}, (uint64_t)n + (uint64_t)k);
    int good[COUNT];
    for (int i = 0; i < COUNT; i++)
        good[i] = one_check(session, problem, "ours", ours, small[i], 0);
    for (int i = 0; i < ODD; i++) one_check(session, problem, "ours", ours, odd[i], 0);
    one_check(session, problem, "ours", ours, odd[0], 1);
    if (session->bench.contenders > 1)
        one_check(session, problem, "cuBLAS", theirs, odd[ODD - 1], 0);
    for (int i = 0; i < COUNT && session->time_it; i++)
        if (good[i]) one_timing(session, problem, small[i]);
    free_problem(problem);
}

static void run_shape(session *session, shape shape)
{
    problem *problem = make_problem(shape, (uint64_t)shape.m);
    const int good = one_check(session, problem, "ours", ours, shape.m, 0);
    one_check(session, problem, "ours", ours, shape.m, 1);
    if (session->bench.contenders > 1) one_check(session, problem, "cuBLAS", theirs, shape.m, 0);
    if (good && session->time_it) one_timing(session, problem, shape.m);
    free_problem(problem);
}

static int parse(session *session, int count, char **words)
{
    session->time_it = !bench_on_emulator();
    for (int i = 1; i < count; i++) {
        if (!strcmp(words[i], "--no-bench")) {
            session->time_it = 0;
        } else if (!strcmp(words[i], "--json") && i + 1 < count) {
            session->json = words[++i];
        } else if (i + 2 < count && atoi(words[i]) > 0 && session->shape_count < MOST_RUNS / 3) {
            session->shapes[session->shape_count++] =
                (shape){atoi(words[i]), atoi(words[i + 1]), atoi(words[i + 2])};
            i += 2;
        } else {
            fprintf(stderr, "usage: matmul [--no-bench] [--json FILE] [M N K]...\n");
            return 0;
        }
    }
    return 1;
}

int main(int count, char **words)
{
    static session session;
    if (!parse(&session, count, words)) return 2;
    if (session.time_it) open_bench(&session.bench);
    for (int i = 0; i < session.shape_count; i++) run_shape(&session, session.shapes[i]);
    if (!session.shape_count) {
        run_weight(&session, 4096, 4096);
        run_weight(&session, 12288, 4096);
    }
    if (session.times_count) print_heading(&session.bench);
    for (int i = 0; i < session.times_count; i++) {
        times *times = &session.times[i];
        print_timing("alone", &session.bench, times->shape, &times->alone);
        print_timing("row", &session.bench, times->shape, &times->row);
    }
    printf("matmul: %d of %d checks right\n", session.check_count - session.wrong,
           session.check_count);
    if (session.json) write_json(&session);
    return session.wrong ? 5 : 0;
}
