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

typedef tile_status Linear(tile_stream stream, int32_t m, int32_t n, int32_t k, const void *a,
                           const void *b, void *c);

static void multiply(Layer *layer, tile_stream stream, Linear *function, int32_t m, int32_t n,
                     int32_t k, const uint16_t *a, const uint16_t *b, uint16_t *c)
{
    rank_must(layer->rank, function(stream, m, n, k, a, b, c), "a product");
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

/* Of all tokens: each sees those before it. */
static void run_heads(Layer *layer, const uint16_t *x)
{
    const Share s = share_of(layer);
    multiply(layer, layer->rank->compute, linear, s.tokens, 3 * s.of_width, s.width, x, layer->qkv,
             layer->projected);
    attend(layer);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Some tokens, which have a lane for themselves. */
typedef struct Chunk {
    int rows;
    size_t first;
    tile_stream lane;
} Chunk;

static Chunk chunk_of(const Layer *layer, int index)
{
    const int rows = model_tokens(layer->model) / layer->chunks;
    const Rank *rank = layer->rank;
    return (Chunk){.rows = rows,
                   .first = (size_t)index * (size_t)rows,
                   .lane = layer->chunks == 1 ? rank->compute
                                              : rank->lanes[index * layer->lanes / layer->chunks]};
}

static void fork_lanes(Layer *layer)
{
    Rank *rank = layer->rank;
    for (int i = 0; i < layer->chunks; i++) {
        const tile_stream lane = chunk_of(layer, i).lane;
        if (lane != rank->compute) gpu_follow(rank, lane, rank->compute);
    }
}

/* sums = a @ b over all ranks, on the stream of the sums. Meanwhile other chunks are multiplied. */
static void sum_chunk(Layer *layer, const Chunk *chunk, const uint16_t *a, const uint16_t *b, int k,
                      uint16_t *sums)
{
    Rank *rank = layer->rank;
    const size_t width = (size_t)model_width(layer->model);
    uint16_t *part = sums + chunk->first * width;
    multiply(layer, chunk->lane, layer->chunks > 1 ? linear_between : linear, chunk->rows,
             (int)width, k, a + chunk->first * (size_t)k, b, part);
    gpu_follow(rank, rank->reduce, chunk->lane);
    rank_sum(rank, part, (size_t)chunk->rows * width);
}

static void out_chunk(Layer *layer, const Chunk *chunk, uint16_t *sums)
{
    sum_chunk(layer, chunk, layer->attended, layer->out, share_of(layer).of_width, sums);
}

static void up_chunk(Layer *layer, const Chunk *chunk, const uint16_t *x)
{
    const Share s = share_of(layer);
    multiply(layer, chunk->lane, layer->chunks > 1 ? linear_relu_between : linear_relu, chunk->rows,
             s.of_inner, s.width, x + chunk->first * (size_t)s.width, layer->up,
             layer->inside + chunk->first * (size_t)s.of_inner);
}

static void down_chunk(Layer *layer, const Chunk *chunk, uint16_t *sums)
{
    sum_chunk(layer, chunk, layer->inside, layer->down, share_of(layer).of_inner, sums);
}

/* added = x + partial, and its norm, which the chunk's lane goes on with. */
static void norm_chunk(Layer *layer, const Chunk *chunk)
{
    Rank *rank = layer->rank;
    const int width = model_width(layer->model);
    const size_t at = chunk->first * (size_t)width;
    MUST(rank, add_norm(rank->reduce, chunk->rows, width, layer->x + at, layer->partial + at,
                        layer->added + at, layer->normed + at));
    gpu_follow(rank, chunk->lane, rank->reduce);
}

static void add_chunk(Layer *layer, const Chunk *chunk)
{
    const int width = model_width(layer->model);
    const size_t at = chunk->first * (size_t)width;
    MUST(layer->rank, add(layer->rank->reduce, chunk->rows, width, layer->added + at,
                          layer->partial + at, layer->result + at));
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void run_mlp(Layer *layer)
{
    const Share s = share_of(layer);
    multiply(layer, layer->rank->compute, linear_relu, s.tokens, s.of_inner, s.width, layer->x,
             layer->up, layer->inside);
    fork_lanes(layer);
    for (int i = 0; i < layer->chunks; i++) {
        const Chunk chunk = chunk_of(layer, i);
        down_chunk(layer, &chunk, layer->result);
    }
}

static void run_attention(Layer *layer)
{
    run_heads(layer, layer->x);
    fork_lanes(layer);
    for (int i = 0; i < layer->chunks; i++) {
        const Chunk chunk = chunk_of(layer, i);
        out_chunk(layer, &chunk, layer->result);
    }
}

/* A chunk's sum runs under other chunks' products, those of the MLP, too. */
static void run_both(Layer *layer)
{
    MUST(layer->rank, norm(layer->rank->compute, model_tokens(layer->model),
                           model_width(layer->model), layer->x, layer->normed));
    run_heads(layer, layer->normed);
    fork_lanes(layer);
    for (int i = 0; i < layer->chunks; i++) {
        const Chunk chunk = chunk_of(layer, i);
        out_chunk(layer, &chunk, layer->partial);
        norm_chunk(layer, &chunk);
    }
    for (int i = 0; i < layer->chunks; i++) {
        const Chunk chunk = chunk_of(layer, i);
        up_chunk(layer, &chunk, layer->normed);
        down_chunk(layer, &chunk, layer->partial);
        add_chunk(layer, &chunk);
    }
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

void layer_open(Layer *layer, const Model *model, Rank *rank, Part part)
{
    uint16_t **places[12];
    size_t counts[12];
    *layer = (Layer){.model = model, .rank = rank, .part = part, .chunks = 1, .lanes = 1};
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
    static void (*const parts[PART_COUNT])(Layer *) = {
        [PART_MLP] = run_mlp, [PART_ATTENTION] = run_attention, [PART_LAYER] = run_both};
    parts[layer->part](layer);
    gpu_follow(layer->rank, layer->rank->compute, layer->rank->reduce);
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
