/* gradients.c: are gradients of large kernels right, and how long do they take?
 *
 *     gradients [--no-bench]
 *
 * A product in half precision: its gradients, both of them, against the product itself. Norms and
 * softmax of rows: what their gradients move against a copy of as many bytes. Gradients add to what
 * there is, so that each moves its input, the adjoints of its output, and twice those of its input.
 *
 * A check compares elements, 4096 at random, with float64: within 2e-2 of products, 1e-3 of the
 * others, absolute plus relative. Times are CUDA events around a row of launches, in rounds, of
 * contenders in turns: medians, and ratios within rounds. On the emulator (TILE_DEVICE=emulator) it
 * only checks, small sizes. Exit status 5 if anything was wrong, 3 if the device failed. */
#include "bench.h"

#include "gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef uint16_t half;

enum { ELEMENTS = 4096, ROUNDS = 9, ROW = 10, LENGTH = 4096 };

static int wrong; /* checks */

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct array {
    size_t count, size; /* elements, bytes of one */
    void *host, *device;
} array;

static array new_array(size_t count, size_t size)
{
    array array = {.count = count, .size = size, .host = bench_new(count, size)};
    bench_must(tile_alloc(&array.device, count * size), "tile_alloc");
    return array;
}

static void upload(const array *array)
{
    bench_must(tile_copy_in(array->device, array->host, array->count * array->size, NULL),
               "tile_copy_in");
}

static void download(const array *array)
{
    bench_must(tile_copy_out(array->host, array->device, array->count * array->size, NULL),
               "tile_copy_out");
    bench_must(tile_synchronize(NULL), "tile_synchronize");
}

static void set(const array *array, size_t i, double value)
{
    if (array->size == sizeof(half))
        ((half *)array->host)[i] = bench_half(value);
    else
        ((float *)array->host)[i] = (float)value;
}

static double get(const array *array, size_t i)
{
    return array->size == sizeof(half) ? bench_from_half(((half *)array->host)[i])
                                       : (double)((float *)array->host)[i];
}

/* Random numbers up to `most`, or zeros. */
static array filled(size_t count, size_t size, double most, uint64_t seed)
{
    array made = new_array(count, size);
    bench_random random = {seed};
    for (size_t i = 0; most != 0 && i < count; i++)
        set(&made, i, most * bench_random_number(&random));
    upload(&made);
    return made;
}

static void release(array *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        tile_free(arrays[i].device);
        free(arrays[i].host);
    }
}

/* ---- checks ---------------------------------------------------------------------------------- */

typedef struct comparison {
    const char *name;
    double tolerance, worst;
    long long wrong;
} comparison;

static void compare(comparison *of, double got, double wanted)
{
    const double error = fabs(got - wanted) / (1 + fabs(wanted));
    if (!(error <= of->tolerance)) of->wrong++;
    if (!(error <= of->worst)) of->worst = error;
}

static void report(const comparison *of)
{
    printf("%-24s %s, %lld wrong, worst error %.2g\n", of->name, of->wrong ? "WRONG" : "right",
           of->wrong, of->worst);
    fflush(stdout);
    wrong += of->wrong != 0;
}

/* ---- a product ------------------------------------------------------------------------------- */

enum { A, B, C, A_GRAD, B_GRAD, C_GRAD, PRODUCT_ARRAYS };

typedef struct product_problem {
    int m, n, k;
    array all[PRODUCT_ARRAYS];
} product_problem;

static product_problem new_product(int m, int n, int k)
{
    const size_t mk = (size_t)m * (size_t)k, kn = (size_t)k * (size_t)n;
    const size_t mn = (size_t)m * (size_t)n, size = sizeof(half);
    return (product_problem){m,
                             n,
                             k,
                             {filled(mk, size, 1, 1), filled(kn, size, sqrt(3.0 / k), 2),
                              filled(mn, size, 0, 3), filled(mk, size, 0, 4),
                              filled(kn, size, 0, 5), filled(mn, size, sqrt(3.0 / m), 6)}};
}

static tile_status multiply(tile_stream stream, const product_problem *of)
{
    return product(stream, of->m, of->n, of->k, of->all[A].device, of->all[B].device,
                   of->all[C].device);
}

static tile_status multiply_back(tile_stream stream, const product_problem *of)
{
    return product_grad(stream, of->m, of->n, of->k, of->all[A].device, of->all[B].device,
                        of->all[C].device, of->all[A_GRAD].device, of->all[B_GRAD].device,
                        of->all[C_GRAD].device);
}

/* An element of a product of matrices that lie with these strides. */
static double dot(const array *a, size_t a_first, size_t a_stride, const array *b, size_t b_first,
                  size_t b_stride, int count)
{
    double sum = 0;
    for (size_t i = 0; i < (size_t)count; i++)
        sum += get(a, a_first + i * a_stride) * get(b, b_first + i * b_stride);
    return sum;
}

static void check_product(int m, int n, int k)
{
    product_problem of = new_product(m, n, k);
    const size_t width = (size_t)n, depth = (size_t)k;
    bench_random random = {7};
    comparison a = {"product, gradient of a", 2e-2, 0, 0},
               b = {"product, gradient of b", 2e-2, 0, 0};
    bench_must(multiply(NULL, &of), "product");
    bench_must(multiply_back(NULL, &of), "product_grad");
    download(&of.all[A_GRAD]);
    download(&of.all[B_GRAD]);
    for (int i = 0; i < ELEMENTS; i++) {
        const size_t row = bench_random_bits(&random) % (size_t)m;
        const size_t column = bench_random_bits(&random) % width;
        const size_t step = bench_random_bits(&random) % depth;
        compare(&a, get(&of.all[A_GRAD], row * depth + step),
                dot(&of.all[C_GRAD], row * width, 1, &of.all[B], step * width, 1, n));
        compare(&b, get(&of.all[B_GRAD], step * width + column),
                dot(&of.all[A], step, depth, &of.all[C_GRAD], column, width, m));
    }
    report(&a);
    report(&b);
    release(of.all, PRODUCT_ARRAYS);
}

/* ---- rows ------------------------------------------------------------------------------------ */

enum { X, Y, X_GRAD, Y_GRAD, GAIN, BIAS, GAIN_GRAD, BIAS_GRAD, ROW_ARRAYS };

typedef struct row_problem {
    int m;
    array all[ROW_ARRAYS];
} row_problem;

static row_problem new_rows(int m)
{
    const size_t count = (size_t)m * LENGTH, size = sizeof(float);
    return (row_problem){m,
                         {filled(count, size, 2, 1), filled(count, size, 0, 2),
                          filled(count, size, 0, 3), filled(count, size, 1, 4),
                          filled(LENGTH, size, 1, 5), filled(LENGTH, size, 1, 6),
                          filled(LENGTH, size, 0, 7), filled(LENGTH, size, 0, 8)}};
}

static tile_status norm(tile_stream stream, const row_problem *of)
{
    return layernorm(stream, of->m, LENGTH, of->all[X].device, of->all[GAIN].device,
                     of->all[BIAS].device, of->all[Y].device);
}

static tile_status norm_back(tile_stream stream, const row_problem *of)
{
    return layernorm_grad(stream, of->m, LENGTH, of->all[X].device, of->all[GAIN].device,
                          of->all[BIAS].device, of->all[Y].device, of->all[X_GRAD].device,
                          of->all[GAIN_GRAD].device, of->all[BIAS_GRAD].device,
                          of->all[Y_GRAD].device);
}

static tile_status soft(tile_stream stream, const row_problem *of)
{
    return softmax(stream, of->m, LENGTH, of->all[X].device, of->all[Y].device);
}

static tile_status soft_back(tile_stream stream, const row_problem *of)
{
    return softmax_grad(stream, of->m, LENGTH, of->all[X].device, of->all[Y].device,
                        of->all[X_GRAD].device, of->all[Y_GRAD].device);
}

/* What a row's elements are apart from their mean, by its deviation; that is returned, inverted. */
static double normalised(const row_problem *of, size_t first, double *apart)
{
    double mean = 0, square = 0;
    for (size_t j = 0; j < LENGTH; j++) mean += get(&of->all[X], first + j) / LENGTH;
    for (size_t j = 0; j < LENGTH; j++) {
        apart[j] = get(&of->all[X], first + j) - mean;
        square += apart[j] * apart[j] / LENGTH;
    }
    const double factor = 1 / sqrt(square + 1e-5);
    for (size_t j = 0; j < LENGTH; j++) apart[j] *= factor;
    return factor;
}

static void check_norms(int m)
{
    static double apart[LENGTH], gains[LENGTH], biases[LENGTH];
    row_problem of = new_rows(m);
    comparison x = {"layernorm, input", 1e-3, 0, 0}, gain = {"layernorm, gain", 1e-3, 0, 0};
    comparison bias = {"layernorm, bias", 1e-3, 0, 0};
    memset(gains, 0, sizeof gains);
    memset(biases, 0, sizeof biases);
    bench_must(norm(NULL, &of), "layernorm");
    bench_must(norm_back(NULL, &of), "layernorm_grad");
    for (int i = X_GRAD; i <= BIAS_GRAD; i++)
        if (i == X_GRAD || i >= GAIN_GRAD) download(&of.all[i]);
    for (size_t i = 0; i < (size_t)m; i++) {
        const size_t first = i * LENGTH;
        const double factor = normalised(&of, first, apart);
        double mean = 0, along = 0;
        for (size_t j = 0; j < LENGTH; j++) {
            const double y = get(&of.all[Y_GRAD], first + j), by_gain = y * get(&of.all[GAIN], j);
            mean += by_gain / LENGTH;
            along += by_gain * apart[j] / LENGTH;
            gains[j] += y * apart[j];
            biases[j] += y;
        }
        for (size_t j = i % 64; j < LENGTH; j += 64)
            compare(&x, get(&of.all[X_GRAD], first + j),
                    factor * (get(&of.all[Y_GRAD], first + j) * get(&of.all[GAIN], j) - mean -
                              apart[j] * along));
    }
    for (size_t j = 0; j < LENGTH; j++) {
        compare(&gain, get(&of.all[GAIN_GRAD], j), gains[j]);
        compare(&bias, get(&of.all[BIAS_GRAD], j), biases[j]);
    }
    report(&x);
    report(&gain);
    report(&bias);
    release(of.all, ROW_ARRAYS);
}

static void check_softmax(int m)
{
    static double p[LENGTH];
    row_problem of = new_rows(m);
    comparison x = {"softmax, input", 1e-3, 0, 0};
    bench_must(soft(NULL, &of), "softmax");
    bench_must(soft_back(NULL, &of), "softmax_grad");
    download(&of.all[X_GRAD]);
    for (size_t i = 0; i < (size_t)m; i++) {
        const size_t first = i * LENGTH;
        double total = 0, along = 0;
        for (size_t j = 0; j < LENGTH; j++) total += p[j] = exp(get(&of.all[X], first + j));
        for (size_t j = 0; j < LENGTH; j++)
            along += (p[j] /= total) * get(&of.all[Y_GRAD], first + j);
        /* as large as what the others are compared with */
        for (size_t j = i % 64; j < LENGTH; j += 64)
            compare(&x, LENGTH * get(&of.all[X_GRAD], first + j),
                    LENGTH * p[j] * (get(&of.all[Y_GRAD], first + j) - along));
    }
    report(&x);
    release(of.all, ROW_ARRAYS);
}

/* ---- times ----------------------------------------------------------------------------------- */

typedef struct timer {
    bench_gpu gpu;
    CUevent start, end;
} timer;

typedef int launch_function(const timer *timer, const void *problem);

/* Microseconds of a launch, of a row of them behind one that is not counted. */
static double sample(const timer *timer, launch_function *launch, const void *problem)
{
    const bench_gpu *gpu = &timer->gpu;
    float milliseconds = 0;
    bench_must(launch(timer, problem), "a launch");
    bench_must(gpu->more.event_record(timer->start, gpu->stream), "cuEventRecord");
    for (int i = 0; i < ROW; i++) bench_must(launch(timer, problem), "a launch");
    bench_must(gpu->more.event_record(timer->end, gpu->stream), "cuEventRecord");
    bench_must(gpu->more.event_synchronize(timer->end), "cuEventSynchronize");
    bench_must(gpu->more.event_elapsed(&milliseconds, timer->start, timer->end),
               "cuEventElapsedTime");
    return 1e3 * (double)milliseconds / ROW;
}

static int run_product(const timer *timer, const void *of)
{
    return multiply(timer->gpu.stream, of);
}

static int run_product_back(const timer *timer, const void *of)
{
    return multiply_back(timer->gpu.stream, of);
}

static int run_norm_back(const timer *timer, const void *of)
{
    return norm_back(timer->gpu.stream, of);
}

static int run_soft_back(const timer *timer, const void *of)
{
    return soft_back(timer->gpu.stream, of);
}

/* As many bytes as a gradient of rows moves: two arrays, read and written. */
static int run_copies(const timer *timer, const void *problem)
{
    const row_problem *of = problem;
    const size_t bytes = of->all[X].count * of->all[X].size;
    const int status = timer->gpu.more.memory_copy((CUdeviceptr)(uintptr_t)of->all[Y].device,
                                                   (CUdeviceptr)(uintptr_t)of->all[X].device, bytes,
                                                   timer->gpu.stream);
    return status ? status
                  : timer->gpu.more.memory_copy((CUdeviceptr)(uintptr_t)of->all[Y].device,
                                                (CUdeviceptr)(uintptr_t)of->all[Y_GRAD].device,
                                                bytes, timer->gpu.stream);
}

/* Times of both, and the ratio of the second one's to the first one's. */
static void contend(const timer *timer, const char *name, launch_function *first,
                    launch_function *second, const void *problem)
{
    double a[ROUNDS], b[ROUNDS], ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        a[i] = sample(timer, first, problem);
        b[i] = sample(timer, second, problem);
        ratios[i] = b[i] / a[i];
    }
    const double ratio = bench_quantile(ratios, ROUNDS, 0.5);
    printf("%-44s %9.1f us %9.1f us  ratio %.3f (%.3f..%.3f)\n", name,
           bench_quantile(a, ROUNDS, 0.5), bench_quantile(b, ROUNDS, 0.5), ratio, ratios[0],
           ratios[ROUNDS - 1]);
    fflush(stdout);
}

static void measure(void)
{
    enum { SIZE = 4096, ROWS = 8192 };
    timer timer;
    bench_gpu_open(&timer.gpu);
    bench_must(timer.gpu.more.event_create(&timer.start, 0), "cuEventCreate");
    bench_must(timer.gpu.more.event_create(&timer.end, 0), "cuEventCreate");
    printf("%s\n", timer.gpu.name);
    product_problem of = new_product(SIZE, SIZE, SIZE);
    contend(&timer, "product 4096^3 f16: it, its gradients", run_product, run_product_back, &of);
    release(of.all, PRODUCT_ARRAYS);
    row_problem rows = new_rows(ROWS);
    contend(&timer, "layernorm 8192 x 4096 f32: copies, gradient", run_copies, run_norm_back,
            &rows);
    contend(&timer, "softmax 8192 x 4096 f32: copies, gradient", run_copies, run_soft_back, &rows);
    release(rows.all, ROW_ARRAYS);
}

int main(int count, char **words)
{
    const int small = bench_on_emulator();
    check_product(256, 512, 192);
    if (!small) check_product(4096, 4096, 4096);
    check_norms(small ? 12 : 1300);
    check_softmax(small ? 12 : 1300);
    if (!small && !(count == 2 && !strcmp(words[1], "--no-bench"))) measure();
    return wrong ? 5 : 0;
}
