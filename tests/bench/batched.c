/* batched.c: many Fourier transforms and factors at a time, beside cuFFT, cuSOLVER and a copy.
 *
 *     batched [REGEX]
 *
 * batched.sh builds it. A row is one size: each contender computes the same, in shuffled rounds;
 * the time is the median of the rounds, and the ratio the median of those of each round. Operands
 * are more than L2 holds. What is wrong is reported and not timed; exit status 5. */
#include <cuda_runtime.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "fourier.h"
#include "factors.h"

enum { ROUNDS = 21, LAUNCHES = 8, MATRICES = 100000 };
enum { NUMBERS = 1 << 25 }; /* complex ones of a batch of transforms */

static int wrong;

static void *device_new(size_t bytes)
{
    void *memory;
    bench_must(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
}

/* ---- contenders ------------------------------------------------------------------------------ */

enum { MOST_CONTENDERS = 3 };

typedef struct Case Case;
typedef struct Contender {
    const char *name;
    void (*before)(Case *); /* not timed; NULL: nothing, and launches follow each other */
    void (*run)(Case *);
} Contender;

struct Case {
    char name[64];
    Contender contenders[MOST_CONTENDERS];
    int contender_count;
    double moved; /* bytes of global memory */
    int n, count;
    size_t bytes; /* of all matrices */
    void *source, *target, *right, **pointers, **right_pointers;
    int *statuses;
    cufftHandle plan;
    cusolverDnHandle_t solver;
    tile_status (*transform)(tile_stream, int32_t, const void *, void *);
    tile_status (*factor)(tile_stream, int32_t, const void *, void *, void *);
    tile_status (*solve)(tile_stream, int32_t, const void *, const void *, void *, void *);
    int is_double;
};

static double time_of(Case *c, const Contender *contender, cudaEvent_t *events)
{
    const int launches = contender->before ? 1 : LAUNCHES;
    float milliseconds;
    if (contender->before) contender->before(c);
    cudaEventRecord(events[0], NULL);
    for (int i = 0; i < launches; i++) contender->run(c);
    cudaEventRecord(events[1], NULL);
    bench_must(cudaEventSynchronize(events[1]), contender->name);
    cudaEventElapsedTime(&milliseconds, events[0], events[1]);
    return milliseconds * 1e3 / launches;
}

static void measure(Case *c)
{
    double times[MOST_CONTENDERS][ROUNDS], ratios[ROUNDS];
    cudaEvent_t events[2];
    for (int i = 0; i < 2; i++) bench_must(cudaEventCreate(&events[i]), "cudaEventCreate");
    for (int i = 0; i < c->contender_count; i++) time_of(c, &c->contenders[i], events);
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0, first = rand(); i < c->contender_count; i++) {
            const int at = (first + i) % c->contender_count;
            times[at][round] = time_of(c, &c->contenders[at], events);
        }
    printf("%-18s", c->name);
    for (int i = 1; i < c->contender_count; i++) {
        for (int round = 0; round < ROUNDS; round++)
            ratios[round] = times[i][round] / times[0][round];
        printf("  %s/tilec %.3f", c->contenders[i].name, bench_quantile(ratios, ROUNDS, 0.5));
    }
    for (int i = 0; i < c->contender_count; i++) {
        const double us = bench_quantile(times[i], ROUNDS, 0.5);
        printf("  %s %.1f us %.0f GB/s", c->contenders[i].name, us, c->moved / us * 1e-3);
    }
    printf("\n");
    fflush(stdout);
    for (int i = 0; i < 2; i++) cudaEventDestroy(events[i]);
}

/* The norm of the difference by that of the second, of the first numbers; NaN counts as wrong. */
static void check(const char *name, const void *a, const void *b, size_t count, int is_double,
                  double most)
{
    const size_t bytes = count * (is_double ? 8 : 4);
    char *x = bench_new(1, bytes), *y = bench_new(1, bytes);
    double off = 0, whole = 0;
    bench_must(cudaMemcpy(x, a, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    bench_must(cudaMemcpy(y, b, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    for (size_t i = 0; i < count; i++) {
        const double u = is_double ? ((double *)x)[i] : (double)((float *)x)[i],
                     v = is_double ? ((double *)y)[i] : (double)((float *)y)[i];
        off += (u - v) * (u - v);
        whole += v * v;
    }
    if (!(sqrt(off / whole) <= most)) {
        printf("%s is WRONG: %g\n", name, sqrt(off / whole));
        wrong = 1;
    }
    free(x);
    free(y);
}

/* ---- Fourier transforms ---------------------------------------------------------------------- */

static void run_transform(Case *c)
{
    bench_must(c->transform(NULL, c->count, c->source, c->target), c->name);
}

static void run_cufft(Case *c)
{
    bench_must(cufftExecC2C(c->plan, c->source, c->target, CUFFT_FORWARD), "cufftExecC2C");
}

static void run_copy(Case *c)
{
    bench_must(cudaMemcpyAsync(c->target, c->source, c->bytes, cudaMemcpyDeviceToDevice, NULL),
               "copy");
}

static void transform_case(int n,
                           tile_status (*transform)(tile_stream, int32_t, const void *, void *),
                           const void *numbers)
{
    enum { CHECKED = 1 << 20 };
    Case c = {.n = n, .count = NUMBERS / n, .transform = transform};
    c.bytes = (size_t)c.count * (size_t)n * 8;
    c.moved = 2.0 * (double)c.bytes;
    snprintf(c.name, sizeof c.name, "fft-f32-%d", n);
    c.source = device_new(c.bytes);
    c.target = device_new(c.bytes);
    void *wanted = device_new(c.bytes);
    bench_must(cudaMemcpy(c.source, numbers, c.bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    bench_must(cufftPlan1d(&c.plan, n, CUFFT_C2C, c.count), "cufftPlan1d");
    bench_must(cufftExecC2C(c.plan, c.source, wanted, CUFFT_FORWARD), "cufftExecC2C");
    run_transform(&c);
    check(c.name, c.target, wanted, CHECKED, 0, 1e-6);
    c.contenders[c.contender_count++] = (Contender){"tilec", NULL, run_transform};
    c.contenders[c.contender_count++] = (Contender){"cufft", NULL, run_cufft};
    c.contenders[c.contender_count++] = (Contender){"copy", NULL, run_copy};
    measure(&c);
    cufftDestroy(c.plan);
    cudaFree(wanted);
    cudaFree(c.source);
    cudaFree(c.target);
}

/* ---- factors and systems --------------------------------------------------------------------- */

static void run_factor(Case *c)
{
    bench_must(c->factor(NULL, c->count, c->source, c->target, c->statuses), c->name);
}

/* In place, so each factor begins with a copy, which is not timed. cuSOLVER's upper triangle by
 * columns is the lower one by rows. */
static void fill_target(Case *c)
{
    bench_must(cudaMemcpyAsync(c->target, c->source, c->bytes, cudaMemcpyDeviceToDevice, NULL),
               "copy");
}

static void run_cusolver(Case *c)
{
    const cublasFillMode_t mode = CUBLAS_FILL_MODE_UPPER;
    bench_must(c->is_double
                   ? (int)cusolverDnDpotrfBatched(c->solver, mode, c->n, (double **)c->pointers,
                                                  c->n, c->statuses, c->count)
                   : (int)cusolverDnSpotrfBatched(c->solver, mode, c->n, (float **)c->pointers,
                                                  c->n, c->statuses, c->count),
               "potrfBatched");
}

static void run_solve(Case *c)
{
    bench_must(c->solve(NULL, c->count, c->source, c->right, c->right, c->statuses), c->name);
}

static void run_cusolver_both(Case *c)
{
    const cublasFillMode_t mode = CUBLAS_FILL_MODE_UPPER;
    run_cusolver(c);
    bench_must(c->is_double
                   ? (int)cusolverDnDpotrsBatched(c->solver, mode, c->n, 1, (double **)c->pointers,
                                                  c->n, (double **)c->right_pointers, c->n,
                                                  c->statuses, c->count)
                   : (int)cusolverDnSpotrsBatched(c->solver, mode, c->n, 1, (float **)c->pointers,
                                                  c->n, (float **)c->right_pointers, c->n,
                                                  c->statuses, c->count),
               "potrsBatched");
}

static void put(void *memory, size_t at, int is_double, double value)
{
    if (is_double)
        ((double *)memory)[at] = value;
    else
        ((float *)memory)[at] = (float)value;
}

/* Symmetric, with n on the diagonal. */
static void fill_matrices(Case *c)
{
    const size_t n = (size_t)c->n;
    void *host = bench_new(1, c->bytes);
    bench_random random = {1};
    for (size_t i = 0; i < (size_t)c->count; i++)
        for (size_t row = 0; row < n; row++)
            for (size_t column = 0; column <= row; column++) {
                const double value = row == column ? (double)n + bench_random_number(&random)
                                                   : bench_random_number(&random);
                put(host, (i * n + row) * n + column, c->is_double, value);
                put(host, (i * n + column) * n + row, c->is_double, value);
            }
    bench_must(cudaMemcpy(c->source, host, c->bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    free(host);
}

static void **pointers_to(char *memory, size_t each, size_t count)
{
    void **host = bench_new(1, count * sizeof *host), **device = device_new(count * sizeof *host);
    for (size_t i = 0; i < count; i++) host[i] = memory + i * each;
    bench_must(cudaMemcpy(device, host, count * sizeof *host, cudaMemcpyHostToDevice),
               "cudaMemcpy");
    free(host);
    return device;
}

static Case matrices_new(const char *what, int n, int is_double)
{
    Case c = {.n = n, .count = MATRICES, .is_double = is_double};
    const size_t each = (size_t)n * (size_t)n * (is_double ? 8 : 4);
    snprintf(c.name, sizeof c.name, "%s-%s-%d", what, is_double ? "f64" : "f32", n);
    c.bytes = each * MATRICES;
    c.source = device_new(c.bytes);
    c.target = device_new(c.bytes);
    c.right = device_new(c.bytes / (size_t)n);
    c.statuses = device_new(MATRICES * sizeof(int));
    c.pointers = pointers_to(c.target, each, MATRICES);
    c.right_pointers = pointers_to(c.right, each / (size_t)n, MATRICES);
    bench_must(cusolverDnCreate(&c.solver), "cusolverDnCreate");
    fill_matrices(&c);
    return c;
}

static void matrices_free(Case *c)
{
    cusolverDnDestroy(c->solver);
    void *const memories[] = {c->source,   c->target,   c->right,
                              c->statuses, c->pointers, c->right_pointers};
    for (size_t i = 0; i < sizeof memories / sizeof *memories; i++) cudaFree(memories[i]);
}

/* Of cuSOLVER's factor the triangle behind the diagonal is what it was before. */
static void check_factor(Case *c)
{
    const size_t n = (size_t)c->n, width = c->is_double ? 8 : 4, bytes = 64 * n * n * width;
    char *a = bench_new(1, bytes), *b = bench_new(1, bytes);
    run_factor(c);
    bench_must(cudaMemcpy(a, c->target, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    fill_target(c);
    run_cusolver(c);
    bench_must(cudaMemcpy(b, c->target, bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    double most = 0;
    for (size_t i = 0; i < 64 * n * n; i++) {
        if (i % n > i / n % n) continue;
        const double x = c->is_double ? ((double *)a)[i] : (double)((float *)a)[i],
                     y = c->is_double ? ((double *)b)[i] : (double)((float *)b)[i];
        most = fabs(x - y) <= most ? most : fabs(x - y);
    }
    if (!(most <= (c->is_double ? 1e-13 : 1e-5))) {
        printf("%s is WRONG: %g\n", c->name, most);
        wrong = 1;
    }
    free(a);
    free(b);
}

static void factor_case(int n, int is_double,
                        tile_status (*factor)(tile_stream, int32_t, const void *, void *, void *))
{
    Case c = matrices_new("cholesky", n, is_double);
    c.factor = factor;
    c.moved = 2.0 * (double)c.bytes;
    check_factor(&c);
    c.contenders[c.contender_count++] = (Contender){"tilec", fill_target, run_factor};
    c.contenders[c.contender_count++] = (Contender){"cusolver", fill_target, run_cusolver};
    c.contenders[c.contender_count++] = (Contender){"copy", fill_target, run_copy};
    measure(&c);
    matrices_free(&c);
}

static void fill_both(Case *c)
{
    fill_target(c);
    bench_must(cudaMemsetAsync(c->right, 0, c->bytes / (size_t)c->n, NULL), "memset");
}

static void check_solve(Case *c, void *x, const void *numbers)
{
    const size_t bytes = c->bytes / (size_t)c->n;
    bench_must(cudaMemcpy(c->right, numbers, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    run_solve(c);
    bench_must(cudaMemcpy(x, c->right, bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
    bench_must(cudaMemcpy(c->right, numbers, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    fill_target(c);
    run_cusolver_both(c);
    check(c->name, x, c->right, (size_t)c->n * 64, c->is_double, c->is_double ? 1e-13 : 1e-5);
}

static void solve_case(int n, int is_double, const void *numbers,
                       tile_status (*solve)(tile_stream, int32_t, const void *, const void *,
                                            void *, void *))
{
    Case c = matrices_new("cholesky-solve", n, is_double);
    void *x = device_new(c.bytes / (size_t)n);
    c.solve = solve;
    c.moved = (double)c.bytes * (1 + 2.0 / n);
    check_solve(&c, x, numbers);
    c.contenders[c.contender_count++] = (Contender){"tilec", fill_both, run_solve};
    c.contenders[c.contender_count++] = (Contender){"cusolver", fill_both, run_cusolver_both};
    measure(&c);
    cudaFree(x);
    matrices_free(&c);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static regex_t chosen;

static int is_chosen(const char *what, int n)
{
    char name[64];
    snprintf(name, sizeof name, "%s-%d", what, n);
    return regexec(&chosen, name, 0, NULL, 0) == 0;
}

int main(int argc, char **argv)
{
    struct cudaDeviceProp properties;
    if (regcomp(&chosen, argc > 1 ? argv[1] : ".", REG_EXTENDED | REG_NOSUB)) return 2;
    bench_must(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    bench_must(cudaFree(NULL), "the context");
    printf("%s, %d rounds; times are of one launch\n", properties.name, ROUNDS);
    float *numbers = bench_new(1, NUMBERS * 8ul);
    bench_random random = {7};
    for (size_t i = 0; i < NUMBERS * 2ul; i++) numbers[i] = (float)bench_random_number(&random);
#define TRANSFORM(n)                                                                               \
    if (is_chosen("fft-f32", n)) transform_case(n, fft##n, numbers);
    TRANSFORM(64)
    TRANSFORM(128)
    TRANSFORM(256)
    TRANSFORM(512)
    TRANSFORM(1024) TRANSFORM(2048) TRANSFORM(4096)
#define FACTOR(n)                                                                                  \
    if (is_chosen("cholesky-f32", n)) factor_case(n, 0, cholesky_s##n);                            \
    if (is_chosen("cholesky-f64", n)) factor_case(n, 1, cholesky_d##n);
        FACTOR(8) FACTOR(16) FACTOR(24) FACTOR(32) FACTOR(48) FACTOR(64) double *wide =
            bench_new(1, (size_t)MATRICES * 64 * 8);
    for (size_t i = 0; i < (size_t)MATRICES * 64; i++) wide[i] = bench_random_number(&random);
#define SOLVE(n)                                                                                   \
    if (is_chosen("cholesky-solve-f32", n)) solve_case(n, 0, numbers, solve_s##n);                 \
    if (is_chosen("cholesky-solve-f64", n)) solve_case(n, 1, wide, solve_d##n);
    SOLVE(8) SOLVE(16) SOLVE(24) SOLVE(32) SOLVE(48) SOLVE(64) return wrong ? 5 : 0;
}
