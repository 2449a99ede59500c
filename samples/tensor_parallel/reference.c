/* reference.c: the definition, as plainly as can be. */
#include "reference.h"

#include "half.h"

#include <math.h>
#include <stdlib.h>

static double *numbers_of(const Layer *layer, const uint16_t *memory, int rows, int columns)
{
    const size_t count = (size_t)rows * (size_t)columns;
    uint16_t *halves = malloc(count * sizeof *halves);
    double *numbers = malloc(count * sizeof *numbers);
    if (!halves || !numbers) rank_fail(layer->rank, "out of memory");
    rank_must(layer->rank,
              tile_copy_out(halves, memory, count * sizeof *halves, layer->rank->compute),
              "reference");
    rank_must(layer->rank, tile_synchronize(layer->rank->compute), "reference");
    for (size_t i = 0; i < count; i++) numbers[i] = (double)float_of_half(halves[i]);
    free(halves);
    return numbers;
}

/* a of [m, k] times a matrix of the device, [k, n]. */
static double *times(const Layer *layer, const double *a, const uint16_t *memory, int m, int n,
                     int k)
{
    double *b = numbers_of(layer, memory, k, n), *c = calloc((size_t)m * (size_t)n, sizeof *c);
    if (!c) rank_fail(layer->rank, "out of memory");
    for (int i = 0; i < m; i++)
        for (int l = 0; l < k; l++)
            for (int j = 0; j < n; j++) c[i * n + j] += a[i * k + l] * b[l * n + j];
    free(b);
    return c;
}

static double *norm_of(const Layer *layer, const double *x, int rows, int width)
{
    double *normed = malloc((size_t)rows * (size_t)width * sizeof *normed);
    if (!normed) rank_fail(layer->rank, "out of memory");
    for (int i = 0; i < rows; i++) {
        double squares = 0;
        for (int j = 0; j < width; j++) squares += x[i * width + j] * x[i * width + j];
        for (int j = 0; j < width; j++)
            normed[i * width + j] = x[i * width + j] / sqrt(squares / width + 1e-5);
    }
    return normed;
}

/* Of one query, a number of which stands at `query`, to the keys and values of `count` tokens
 * before. */
static void attend_row(const double *query, const double *first, int count, int dim, int stride,
                       double *out)
{
    const int width = stride / 3;
    double all = 0;
    for (int d = 0; d < dim; d++) out[d] = 0;
    for (int t = 0; t < count; t++) {
        double score = 0;
        for (int d = 0; d < dim; d++) score += query[d] * first[t * stride + width + d];
        const double weight = exp(score / sqrt(dim));
        for (int d = 0; d < dim; d++) out[d] += weight * first[t * stride + 2 * width + d];
        all += weight;
    }
    for (int d = 0; d < dim; d++) out[d] /= all;
}

static double *attention_of(const Layer *layer, const double *qkv)
{
    const Model *m = layer->model;
    const int width = model_width(m), stride = 3 * width;
    double *out = malloc((size_t)model_tokens(m) * (size_t)width * sizeof *out);
    if (!out) rank_fail(layer->rank, "out of memory");
    for (int token = 0; token < model_tokens(m); token++) {
        const int first = token / m->rows * m->rows;
        for (int at = 0; at < width; at += m->dim)
            attend_row(qkv + token * stride + at, qkv + first * stride + at, token - first + 1,
                       m->dim, stride, out + token * width + at);
    }
    return out;
}

static double *attention_part(const Layer *layer, const double *x)
{
    const int tokens = model_tokens(layer->model), width = model_width(layer->model);
    double *qkv = times(layer, x, layer->qkv, tokens, 3 * width, width);
    double *heads = attention_of(layer, qkv);
    double *out = times(layer, heads, layer->out, tokens, width, width);
    free(qkv);
    free(heads);
    return out;
}

static double *mlp_part(const Layer *layer, const double *x)
{
    const int tokens = model_tokens(layer->model), width = model_width(layer->model);
    const int inner = layer->model->inner;
    double *inside = times(layer, x, layer->up, tokens, inner, width);
    for (int i = 0; i < tokens * inner; i++) inside[i] = inside[i] > 0 ? inside[i] : 0;
    double *out = times(layer, inside, layer->down, tokens, width, inner);
    free(inside);
    return out;
}

typedef double *PartFunction(const Layer *layer, const double *x);

/* x + part(norm(x)) */
static double *beside(const Layer *layer, const double *x, PartFunction *part)
{
    const int tokens = model_tokens(layer->model), width = model_width(layer->model);
    double *normed = norm_of(layer, x, tokens, width), *sum = part(layer, normed);
    for (int i = 0; i < tokens * width; i++) sum[i] += x[i];
    free(normed);
    return sum;
}

static double *layer_of(const Layer *layer, const double *x)
{
    double *added = beside(layer, x, attention_part), *result = beside(layer, added, mlp_part);
    free(added);
    return result;
}

uint16_t *reference_of(const Layer *layer)
{
    static PartFunction *const parts[PART_COUNT] = {
        [PART_MLP] = mlp_part, [PART_ATTENTION] = attention_part, [PART_LAYER] = layer_of};
    const int tokens = model_tokens(layer->model), width = model_width(layer->model);
    double *x = numbers_of(layer, layer->x, tokens, width), *result = parts[layer->part](layer, x);
    uint16_t *halves = malloc((size_t)tokens * (size_t)width * sizeof *halves);
    for (int i = 0; halves && i < tokens * width; i++) halves[i] = half_of_float((float)result[i]);
    free(x);
    free(result);
    return halves;
}
