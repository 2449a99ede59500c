/* layer.c: columns of a first matrix are divided among the ranks, and the rows of the second that
 * meet them: so each rank goes from x to a part of a sum by itself, and what is summed over all
 * ranks is the result. */
#include "layer.h"

#include "attention.h"
#include "fill.h"
#include "gpu.h"
#include "products.h"

#include <math.h>

#define MUST(rank, call) rank_must(rank, call, #call)

int model_tokens(const Model *model)
{
    return model->batch * model->rows;
}

int model_width(const Model *model)
{
    return model->heads * model->dim;
}

const char *model_refuses(const Model *model, int ranks, int chunks)
{
    if (ranks < 1 || ranks > MOST_RANKS) return "there are 1 to 64 ranks";
    if (model->heads % ranks) return "the heads are not shared evenly";
    if (model->inner % ranks || model->inner / ranks % 8)
        return "the columns of the MLP are not shared evenly, in eights";
    if (chunks < 1 || model_tokens(model) % chunks) return "the chunks are not of one size";
    return NULL;
}

double model_flops(const Model *model, Part part)
{
    const double tokens = model_tokens(model), width = model_width(model);
    const double mlp = 4 * tokens * width * model->inner;
    const double attention = 8 * tokens * width * width + 2 * tokens * width * model->rows;
    return part == PART_MLP ? mlp : part == PART_ATTENTION ? attention : mlp + attention;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static size_t product_of(int rows, int columns)
{
    return (size_t)rows * (size_t)columns;
}

/* What depends on the number of ranks: columns that are this one's. */
typedef struct Share {
    int tokens, width, of_width, of_inner;
} Share;

static Share share_of(const Layer *layer)
{
    const int ranks = layer->rank->team->size;
    return (Share){model_tokens(layer->model), model_width(layer->model),
                   model_width(layer->model) / ranks, layer->model->inner / ranks};
}

static void list_memory(Layer *layer, uint16_t **places[12], size_t counts[12])
{
    const Share s = share_of(layer);
    uint16_t **const all[12] = {&layer->qkv,     &layer->out,       &layer->up,
                                &layer->down,    &layer->x,         &layer->normed,
                                &layer->added,   &layer->projected, &layer->attended,
                                &layer->partial, &layer->inside,    &layer->result};
    const size_t sizes[12] = {
        product_of(s.width, 3 * s.of_width), product_of(s.of_width, s.width),
        product_of(s.width, s.of_inner),     product_of(s.of_inner, s.width),
        product_of(s.tokens, s.width),       product_of(s.tokens, s.width),
        product_of(s.tokens, s.width),       product_of(s.tokens, 3 * s.of_width),
        product_of(s.tokens, s.of_width),    product_of(s.tokens, s.width),
        product_of(s.tokens, s.of_inner),    product_of(s.tokens, s.width)};
    for (int i = 0; i < 12; i++) {
        places[i] = all[i];
        counts[i] = sizes[i];
    }
}

static DLTensor tensor_at(const Layer *layer, void *data, int ndim, int64_t *shape)
{
    const int device = layer->rank->device;
    return (DLTensor){.data = data,
                      .device = {device < 0 ? kDLCPU : kDLCUDA, device < 0 ? 0 : device},
                      .ndim = ndim,
                      .dtype = {kDLFloat, 16, 1},
                      .shape = shape};
}

/* ---- weights --------------------------------------------------------------------------------- */

/* A part of a matrix of `width` columns, from (row, column) on; it lies in rows of `stride`
 * numbers. */
typedef struct Block {
    int rows, columns, row, column, width, stride;
} Block;

static void make(Layer *layer, uint16_t *memory, Block block, int seed, float scale)
{
    int64_t shape[2] = {block.rows, block.columns}, strides[2] = {block.stride, 1};
    DLTensor part = tensor_at(layer, memory, 2, shape);
    part.strides = strides;
    MUST(layer->rank, fill(layer->rank->compute, block.rows, block.columns, &part, block.row,
                           block.column, block.width, seed, scale, 256, 0));
}

/* Products of `rows` numbers of variance 1 have it, too. */
static float scale_for(int rows)
{
    return sqrtf(3.0f / (float)rows);
}

/* Queries, keys and values of the same heads. */
static void make_qkv(Layer *layer, const Share *s)
{
    const int index = layer->rank->index, stride = 3 * s->of_width;
    for (int i = 0; i < 3; i++)
        make(layer, layer->qkv + i * s->of_width,
             (Block){s->width, s->of_width, 0, i * s->width + index * s->of_width, 3 * s->width,
                     stride},
             1, scale_for(s->width));
}

static void make_weights(Layer *layer)
{
    const Share s = share_of(layer);
    const int index = layer->rank->index, inner = layer->model->inner;
    make_qkv(layer, &s);
    make(layer, layer->out, (Block){s.of_width, s.width, index * s.of_width, 0, s.width, s.width},
         2, scale_for(s.width));
    make(layer, layer->up, (Block){s.width, s.of_inner, 0, index * s.of_inner, inner, s.of_inner},
         3, scale_for(s.width));
    make(layer, layer->down, (Block){s.of_inner, s.width, index * s.of_inner, 0, s.width, s.width},
         4, scale_for(inner));
    make(layer, layer->x, (Block){s.tokens, s.width, 0, 0, s.width, s.width}, 5, scale_for(1));
}

/* ---- products -------------------------------------------------------------------------------- */

static void norm_chunk(Layer *layer, int first, int rows)
{
    const int width = model_width(layer->model);
    const size_t at = product_of(first, width);
    MUST(layer->rank, add_norm(layer->rank->reduce, rows, width, layer->x + at, layer->partial + at,
                               layer->added + at, layer->normed + at));
}

static void add_chunk(Layer *layer, int first, int rows)
{
    const int width = model_width(layer->model);
    const size_t at = product_of(first, width);
    MUST(layer->rank, add(layer->rank->reduce, rows, width, layer->added + at, layer->partial + at,
                          layer->result + at));
}

/* What is done with some tokens' sums, on the same stream. */
typedef void AfterSum(Layer *layer, int first, int rows);

/* sums = a @ b over all ranks. While a chunk's sums go from GPU to GPU the next chunk is
 * multiplied. */
static void multiply_and_sum(Layer *layer, const uint16_t *a, const uint16_t *b, int k,
                             uint16_t *sums, AfterSum *after)
{
    Rank *rank = layer->rank;
    const int width = model_width(layer->model), rows = model_tokens(layer->model) / layer->chunks;
    tile_status (*const multiply)(tile_stream, int32_t, int32_t, int32_t, const void *,
                                  const void *, void *) =
        layer->chunks > 1 ? linear_between : linear;
    for (int i = 0; i < layer->chunks; i++) {
        uint16_t *chunk = sums + product_of(i * rows, width);
        rank_must(rank,
                  multiply(rank->compute, rows, width, k, a + product_of(i * rows, k), b, chunk),
                  "linear");
        gpu_follow(rank, rank->reduce, rank->compute);
        rank_sum(rank, chunk, product_of(rows, width));
        if (after) after(layer, i * rows, rows);
    }
    gpu_follow(rank, rank->compute, rank->reduce);
}

static void attend(Layer *layer)
{
    const Model *model = layer->model;
    const int64_t heads = model->heads / layer->rank->team->size;
    int64_t shape[5] = {model->batch, model->rows, 3, heads, model->dim};
    int64_t out_shape[4] = {model->batch, model->rows, heads, model->dim};
    const DLTensor qkv = tensor_at(layer, layer->projected, 5, shape);
    DLTensor out = tensor_at(layer, layer->attended, 4, out_shape);
    MUST(layer->rank, attention(layer->rank->compute, &qkv, &out));
}

static void run_attention(Layer *layer, const uint16_t *x, uint16_t *sums, AfterSum *after)
{
    const Share s = share_of(layer);
    Rank *rank = layer->rank;
    MUST(rank,
         linear(rank->compute, s.tokens, 3 * s.of_width, s.width, x, layer->qkv, layer->projected));
    attend(layer);
    multiply_and_sum(layer, layer->attended, layer->out, s.of_width, sums, after);
}

static void run_mlp(Layer *layer, const uint16_t *x, uint16_t *sums, AfterSum *after)
{
    const Share s = share_of(layer);
    Rank *rank = layer->rank;
    MUST(rank,
         linear_relu(rank->compute, s.tokens, s.of_inner, s.width, x, layer->up, layer->inside));
    multiply_and_sum(layer, layer->inside, layer->down, s.of_inner, sums, after);
}

/* ---- the interface --------------------------------------------------------------------------- */

/* Code is loaded before a rank waits for another one, which the driver might wait for, too. */
static void load(Rank *rank)
{
    static tile_status (*const prepare[])(int) = {
        linear_prepare, linear_between_prepare, linear_relu_prepare, norm_prepare, add_norm_prepare,
        add_prepare,    attention_prepare,      fill_prepare};
    for (size_t i = 0; rank->device >= 0 && i < sizeof prepare / sizeof *prepare; i++)
        rank_must(rank, prepare[i](rank->device), "loading the code");
}

void layer_open(Layer *layer, const Model *model, Rank *rank, Part part, int chunks)
{
    uint16_t **places[12];
    size_t counts[12];
    *layer = (Layer){.model = model, .rank = rank, .part = part, .chunks = chunks};
    rank->doing = "loading code and making weights";
    load(rank);
    list_memory(layer, places, counts);
    for (int i = 0; i < 12; i++) {
        void *memory;
        rank_must(rank, tile_alloc(&memory, counts[i] * sizeof **places[i]), "memory");
        *places[i] = memory;
    }
    make_weights(layer);
    gpu_wait(rank);
}

void layer_run(Layer *layer)
{
    Rank *rank = layer->rank;
    if (layer->part == PART_MLP) {
        run_mlp(layer, layer->x, layer->result, NULL);
    } else if (layer->part == PART_ATTENTION) {
        run_attention(layer, layer->x, layer->result, NULL);
    } else {
        MUST(rank, norm(rank->compute, model_tokens(layer->model), model_width(layer->model),
                        layer->x, layer->normed));
        run_attention(layer, layer->normed, layer->partial, norm_chunk);
        run_mlp(layer, layer->normed, layer->partial, add_chunk);
    }
}

void layer_forget(Layer *layer)
{
    const Share s = share_of(layer);
    make(layer, layer->result, (Block){s.tokens, s.width, 0, 0, s.width, s.width}, 0, 0);
}

void layer_close(Layer *layer)
{
    uint16_t **places[12];
    size_t counts[12];
    list_memory(layer, places, counts);
    for (int i = 0; i < 12; i++) rank_must(layer->rank, tile_free(*places[i]), "memory");
}
