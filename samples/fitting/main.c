/* Fits a model of physics to what was seen: gravity and drag of balls that were thrown, by the
 * gradient of how far off the model is, which a tape of one launch gives. */
#include "fitting.h"

#include <tile/tape.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BALLS = 64, THREADS = 64, MOMENTS = 40, STEPS = 200 };
static const float DT = 0.02f, RATE[] = {1.0f, 0.005f}, MOMENTUM = 0.9f;

static void must(tile_status status)
{
    if (status == TILE_OK) return;
    fprintf(stderr, "fitting: %s: %s\n", tile_status_name(status), tile_last_error());
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

/* ---- tensors, each with its gradient ---- */

static int64_t of_balls[] = {BALLS, 2}, of_parameters[] = {2}, of_one[] = {1};

typedef struct Pair {
    DLTensor value, gradient;
} Pair;

static DLTensor new_tensor(DLDevice device, int64_t *shape)
{
    DLTensor tensor = {.device = device,
                       .ndim = shape == of_balls ? 2 : 1,
                       .dtype = {kDLFloat, 32, 1},
                       .shape = shape};
    must(tile_alloc(&tensor.data, tile_tensor_bytes(&tensor)));
    return tensor;
}

static void put(const DLTensor *tensor, const float *numbers)
{
    must(tile_copy_in(tensor->data, numbers, tile_tensor_bytes(tensor), NULL));
    must(tile_synchronize(NULL));
}

static void get(const DLTensor *tensor, float *numbers)
{
    must(tile_copy_out(numbers, tensor->data, tile_tensor_bytes(tensor), NULL));
    must(tile_synchronize(NULL));
}

/* ---- the model ---- */

typedef struct Model {
    Pair thrown, parameters, seen, total;
    tile_tape *tape;
} Model;

static Pair new_pair(Model *model, DLDevice device, int64_t *shape)
{
    Pair pair = {new_tensor(device, shape), new_tensor(device, shape)};
    must(tile_tape_watch(model->tape, &pair.value, &pair.gradient));
    return pair;
}

static float misses(Model *m)
{
    float total = 0;
    put(&m->total.value, &total);
    must(miss(NULL, BALLS, &m->thrown.value, &m->parameters.value, MOMENTS, DT, &m->seen.value,
              &m->total.value, THREADS, 0));
    get(&m->total.value, &total);
    return total / BALLS;
}

static Model new_model(DLDevice device, const float truth[2])
{
    Model model;
    float speeds[2 * BALLS];
    must(tile_tape_new(&model.tape));
    model.thrown = new_pair(&model, device, of_balls);
    model.parameters = new_pair(&model, device, of_parameters);
    model.seen = new_pair(&model, device, of_balls);
    model.total = new_pair(&model, device, of_one);
    for (int i = 0; i < BALLS; i++) {
        speeds[2 * i] = 2 + 0.1f * (float)i;
        speeds[2 * i + 1] = 6 - 0.05f * (float)i;
    }
    put(&model.thrown.value, speeds);
    put(&model.parameters.value, truth);
    must(toss(NULL, BALLS, &model.thrown.value, &model.parameters.value, MOMENTS, DT,
              &model.seen.value, THREADS, 0));
    return model;
}

static void free_model(Model *m)
{
    Pair *const pairs[] = {&m->thrown, &m->parameters, &m->seen, &m->total};
    tile_tape_free(m->tape);
    for (int i = 0; i < 4; i++) {
        must(tile_free(pairs[i]->value.data));
        must(tile_free(pairs[i]->gradient.data));
    }
}

static void descend(Model *m, float guess[2], float step[2])
{
    const float one = 1.0f / BALLS;
    float slope[2];
    put(&m->parameters.value, guess);
    must(tile_tape_reset(m->tape));
    must(tile_tape_begin(m->tape));
    misses(m);
    must(tile_tape_end(m->tape));
    must(tile_tape_zero(m->tape, NULL));
    put(&m->total.gradient, &one);
    must(tile_tape_backward(m->tape, NULL));
    get(&m->parameters.gradient, slope);
    for (int i = 0; i < 2; i++) guess[i] += step[i] = MOMENTUM * step[i] - RATE[i] * slope[i];
}

int main(void)
{
    const float truth[] = {9.81f, 0.08f};
    float guess[] = {5.0f, 0.0f}, step[2] = {0};
    Model model = new_model(choose_device(), truth);
    for (int i = 0; i < STEPS; i++) descend(&model, guess, step);
    printf("fitting: gravity %.3f, drag %.4f, after %d steps\n", guess[0], guess[1], STEPS);
    free_model(&model);
    return fabsf(guess[0] - truth[0]) < 0.02f && fabsf(guess[1] - truth[1]) < 0.001f ? 0 : 5;
}
