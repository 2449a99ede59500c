/* Lets particles fall in a box, on the GPU or on the emulator where there is none, and checks every
 * number against a program of the CPU's.
 *
 * A launch's extent comes first in a call: the number of particles for `step`, that of tiles for
 * `energy`. Three numbers of a vector are the last dimension of an array, and arguments of their
 * own where the vector is one. */
#include "particles.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 1000, STEPS = 20, TILE_SIZE = 256, BLOCK = 128, BY_THREAD = 0, BY_BLOCK = 1 };
static const float GRAVITY[3] = {0.5f, 0.0f, -4.0f}, DT = 0.01f;

static void must(tile_status status)
{
    if (status == TILE_OK) return;
    fprintf(stderr, "particles: %s: %s\n", tile_status_name(status), tile_last_error());
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

static DLTensor tensor_of(DLDevice device, int ndim, int64_t *shape, int bits, const void *from)
{
    DLTensor tensor = {
        .device = device, .ndim = ndim, .dtype = {kDLFloat, (uint8_t)bits, 1}, .shape = shape};
    const size_t bytes = tile_tensor_bytes(&tensor);
    must(tile_alloc(&tensor.data, bytes));
    must(tile_copy_in(tensor.data, from, bytes, NULL));
    must(tile_synchronize(NULL));
    return tensor;
}

static double on_device(float *x, float *v)
{
    const DLDevice device = choose_device();
    int64_t shape[] = {COUNT, 3}, one[] = {1};
    double total = 0;
    DLTensor places = tensor_of(device, 2, shape, 32, x),
             speeds = tensor_of(device, 2, shape, 32, v);
    DLTensor sum = tensor_of(device, 1, one, 64, &total);
    const float *g = GRAVITY;
    for (int i = 0; i < STEPS; i++)
        must(step(NULL, COUNT, &places, &speeds, g[0], g[1], g[2], DT, BLOCK, BY_THREAD));
    must(energy(NULL, (COUNT + TILE_SIZE - 1) / TILE_SIZE, &places, &speeds, g[0], g[1], g[2], &sum,
                BLOCK, BY_BLOCK));
    must(tile_copy_out(x, places.data, tile_tensor_bytes(&places), NULL));
    must(tile_copy_out(v, speeds.data, tile_tensor_bytes(&speeds), NULL));
    must(tile_copy_out(&total, sum.data, sizeof total, NULL));
    must(tile_synchronize(NULL));
    void *const memory[] = {places.data, speeds.data, sum.data};
    for (int i = 0; i < 3; i++) must(tile_free(memory[i]));
    return total;
}

/* The same, number by number. */
static double on_host(float *x, float *v)
{
    double total = 0;
    for (int s = 0; s < STEPS; s++)
        for (int i = 0; i < 3 * COUNT; i++) {
            v[i] = v[i] + GRAVITY[i % 3] * DT;
            x[i] = x[i] + v[i] * DT;
            if (x[i] < 0 || x[i] > 1) v[i] = -v[i];
            if (x[i] < 0) x[i] = -x[i];
            if (x[i] > 1) x[i] = 2 - x[i];
        }
    for (int i = 0; i < 3 * COUNT; i++) total += 0.5 * v[i] * v[i] - x[i] * GRAVITY[i % 3];
    return total;
}

int main(void)
{
    static float x[3 * COUNT], v[3 * COUNT], wanted_x[3 * COUNT], wanted_v[3 * COUNT];
    int wrong = 0;
    for (int i = 0; i < 3 * COUNT; i++) {
        wanted_x[i] = x[i] = (float)(i * 37 % 101) / 101;
        wanted_v[i] = v[i] = (float)(i * 53 % 97 - 48) / 12;
    }
    const double total = on_device(x, v), wanted = on_host(wanted_x, wanted_v);
    for (int i = 0; i < 3 * COUNT; i++)
        wrong += fabsf(x[i] - wanted_x[i]) > 1e-5f || fabsf(v[i] - wanted_v[i]) > 1e-4f;
    wrong += fabs(total - wanted) > 1e-4 * fabs(wanted);
    printf("particles: energy %.3f: %d wrong\n", total, wrong);
    return wrong ? 5 : 0;
}
