/* layer.h: a layer of a transformer, or a part of one, of whose weights each rank has a share. */
#ifndef LAYER_H
#define LAYER_H

#include "team.h"

typedef struct Model {
    int batch, rows; /* tokens: sequences, and the length of each */
    int heads, dim;  /* heads * dim numbers a token */
    int inner;       /* numbers a token between the two products of the MLP */
} Model;

typedef enum Part {
    PART_MLP,       /* relu(x @ up) @ down */
    PART_ATTENTION, /* attention(x @ qkv) @ out */
    PART_LAYER,     /* y = x + attention(norm(x)), then y + mlp(norm(y)) */
    PART_COUNT
} Part;

typedef struct Layer {
    const Model *model;
    Rank *rank;
    Part part;
    int chunks, lanes; /* of the tokens; that have streams of their own */
    /* shares of the weights, numbers row by row */
    uint16_t *qkv, *out; /* [width, 3, width / ranks], [width / ranks, width] */
    uint16_t *up, *down; /* [width, inner / ranks], [inner / ranks, width] */
    /* [tokens, ...] */
    uint16_t *x, *normed, *projected, *attended, *added, *inside, *partial, *result;
} Layer;

int model_tokens(const Model *model);
int model_width(const Model *model);
/* NULL, or why `ranks` cannot share it in such chunks. */
const char *model_refuses(const Model *model, int ranks, int chunks);
/* Operations of all ranks together. */
double model_flops(const Model *model, Part part);

/* Loads the code, makes the weights and an x, the same whatever the number of ranks. It begins with
 * one chunk. */
void layer_open(Layer *layer, const Model *model, Rank *rank, Part part);
/* From x to result, in stream order. */
void layer_run(Layer *layer);
/* Zeros for a result, so that the next run has to make it anew. */
void layer_forget(Layer *layer);
void layer_close(Layer *layer);

#endif
