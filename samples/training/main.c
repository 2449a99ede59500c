/* Trains a small network, on the GPU or on the emulator where there is none: forward, back, a step
 * down; and looks whether the loss falls. */
#include "training.h"

#include <tile/tape.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 64, BLOCK_ROWS = 32, WIDTH = 16, THREADS = 64, STEPS = 40 };

static void must(tile_status status)
{
    if (status == TILE_OK) return;
    fprintf(stderr, "training: %s: %s\n", tile_status_name(status), tile_last_error());
    exit(3);
}

/* Memory of the CPU is the emulator's. TILE_DEVICE in the environment has the last word. */
static DLDevice choose_device(void)
{
    const char *wanted = getenv("TILE_DEVICE");
    if (!wanted && tile_device_count() == 0) must(tile_set_device(wanted = "emulator"));
    if (wanted && strcmp(wanted, "emulator") == 0) return (DLDevice){kDLCPU, 0};
    return (DLDevice){kDLCUDA, wanted && strncmp(wanted, "cuda:", 5) == 0 ? atoi(wanted + 5) : 0};
}

/* ---- tensors ---- */

static int64_t of_rows[] = {ROWS, WIDTH}, of_weights[] = {WIDTH, WIDTH}, of_one[] = {1};

static void fill(DLTensor *tensor, float scale, unsigned seed)
{
    const size_t bytes = tile_tensor_bytes(tensor);
    float *numbers = calloc(1, bytes);
    for (size_t i = 0; numbers && i < bytes / sizeof *numbers; i++) {
        seed = seed * 1664525u + 1013904223u;
        numbers[i] = scale * ((float)(seed >> 8) / (1 << 23) - 1);
    }
    must(tile_copy_in(tensor->data, numbers, bytes, NULL));
    must(tile_synchronize(NULL));
    free(numbers);
}

static DLTensor new_tensor(DLDevice device, int64_t *shape, float scale, unsigned seed)
{
    DLTensor tensor = {.device = device,
                       .ndim = shape == of_one ? 1 : 2,
                       .dtype = {kDLFloat, 32, 1},
                       .shape = shape};
    must(tile_alloc(&tensor.data, tile_tensor_bytes(&tensor)));
    fill(&tensor, scale, seed);
    return tensor;
}

/* ---- the network ---- */

/* Each with its gradient. */
typedef struct Pair {
    DLTensor value, gradient;
} Pair;

typedef struct Network {
    Pair x, v, h, w, y, total;
    tile_tape *tape; /* of the forward pass */
} Network;

static Pair new_pair(DLDevice device, int64_t *shape, float scale, unsigned seed)
{
    return (Pair){new_tensor(device, shape, scale, seed), new_tensor(device, shape, 0, 0)};
}

static float forward(Network *n)
{
    float total;
    fill(&n->total.value, 0, 0);
    must(hidden(NULL, ROWS / BLOCK_ROWS, &n->x.value, &n->v.value, &n->h.value, THREADS, 1));
    must(loss(NULL, ROWS / BLOCK_ROWS, &n->h.value, &n->w.value, &n->y.value, &n->total.value,
              THREADS, 1));
    must(tile_copy_out(&total, n->total.value.data, sizeof total, NULL));
    must(tile_synchronize(NULL));
    return total;
}

static void list_pairs(Network *n, Pair *pairs[6])
{
    Pair *const all[] = {&n->x, &n->v, &n->h, &n->w, &n->y, &n->total};
    memcpy(pairs, all, sizeof all);
}

/* The tape has both launches, whose arguments stay the same. */
static void record(Network *n)
{
    Pair *pairs[6];
    list_pairs(n, pairs);
    must(tile_tape_new(&n->tape));
    for (int i = 0; i < 6; i++)
        must(tile_tape_watch(n->tape, &pairs[i]->value, &pairs[i]->gradient));
    must(tile_tape_begin(n->tape));
    forward(n);
    must(tile_tape_end(n->tape));
}

static Network new_network(DLDevice device)
{
    Network network = {.x = new_pair(device, of_rows, 1, 1),
                       .v = new_pair(device, of_weights, 0.3f, 2),
                       .h = new_pair(device, of_rows, 0, 0),
                       .w = new_pair(device, of_weights, 0.3f, 3),
                       .y = new_pair(device, of_rows, 0.5f, 4),
                       .total = new_pair(device, of_one, 0, 0)};
    record(&network);
    return network;
}

static void free_network(Network *network)
{
    Pair *pairs[6];
    list_pairs(network, pairs);
    tile_tape_free(network->tape);
    for (int i = 0; i < 6; i++) {
        must(tile_free(pairs[i]->value.data));
        must(tile_free(pairs[i]->gradient.data));
    }
}

/* From the loss back: its gradient by itself is one. */
static void backward(Network *n)
{
    const float one = 1;
    must(tile_tape_zero(n->tape, NULL));
    must(tile_copy_in(n->total.gradient.data, &one, sizeof one, NULL));
    must(tile_tape_backward(n->tape, NULL));
}

/* ---- is it one ---- */

static float number_of(const DLTensor *tensor)
{
    float number;
    must(tile_copy_out(&number, tensor->data, sizeof number, NULL));
    must(tile_synchronize(NULL));
    return number;
}

static float loss_at(Network *n, float first)
{
    must(tile_copy_in(n->v.value.data, &first, sizeof first, NULL));
    return forward(n);
}

/* The first weight's gradient, and how the loss changes with it. */
static int is_gradient(Network *n)
{
    const float before = number_of(&n->v.value), by = 0.01f;
    forward(n);
    backward(n);
    const float gradient = number_of(&n->v.gradient);
    const float difference = (loss_at(n, before + by) - loss_at(n, before - by)) / (2 * by);
    loss_at(n, before);
    printf("training: gradient %.3f, difference %.3f\n", gradient, difference);
    return fabsf(gradient - difference) <= 0.02f * (1 + fabsf(difference));
}

static int train(Network *n)
{
    const float first = forward(n);
    float last = first;
    for (int i = 0; i < STEPS; i++) {
        backward(n);
        must(step(NULL, WIDTH, WIDTH, &n->v.value, &n->v.gradient, 0.002f, THREADS, 0));
        must(step(NULL, WIDTH, WIDTH, &n->w.value, &n->w.gradient, 0.002f, THREADS, 0));
        last = forward(n);
    }
    printf("training: loss %.2f, after %d steps %.2f\n", first, STEPS, last);
    return last < 0.8f * first;
}

int main(void)
{
    Network network = new_network(choose_device());
    const int good = is_gradient(&network) && train(&network);
    free_network(&network);
    return good ? 0 : 5;
}
