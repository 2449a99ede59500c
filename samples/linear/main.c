/* Computes relu(x w + bias) on the GPU, or on the emulator where there is none, and checks every
 * number.
 *
 * The kernel takes tensors: a DLTensor says where the elements are, how many, and of what type, and
 * the call checks all of that. The elements are small integers, so that all sums are exact. */
#include "linear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 100, K = 128, N = 192 }; /* ROWS is no multiple of the block */

typedef uint16_t half;

static void must(tile_status status)
{
    if (status == TILE_OK) return;
    fprintf(stderr, "linear: %s: %s\n", tile_status_name(status), tile_last_error());
    exit(3);
}

/* An integer of at most 11 bits: the leading one is hidden, the rest is the fraction. */
static half half_of(int value)
{
    const unsigned sign = value < 0 ? 0x8000u : 0;
    unsigned magnitude = (unsigned)abs(value), exponent = 25;
    if (!magnitude) return 0;
    for (; magnitude < 1024; magnitude *= 2) exponent--;
    return (half)(sign | exponent << 10 | (magnitude & 1023));
}

static int x_at(int i)
{
    return i * 7 % 5 - 2;
}

static int w_at(int i)
{
    return i * 3 % 5 - 2;
}

static int bias_at(int i)
{
    return i % 9 - 4;
}

/* What the element at (row, column) has to be. */
static int expected(int row, int column)
{
    int sum = bias_at(column);
    for (int k = 0; k < K; k++) sum += x_at(row * K + k) * w_at(k * N + column);
    return sum > 0 ? sum : 0;
}

/* Memory of the device, and the elements in it. */
static DLTensor tensor_of(DLDevice device, int ndim, int64_t *shape, int (*at)(int))
{
    static half host[K * N];
    const int count = (int)(shape[0] * (ndim == 2 ? shape[1] : 1));
    DLTensor tensor = {.device = device, .ndim = ndim, .dtype = {kDLFloat, 16, 1}, .shape = shape};
    must(tile_alloc(&tensor.data, (size_t)count * sizeof *host));
    for (int i = 0; at && i < count; i++) host[i] = half_of(at(i));
    if (at) must(tile_copy_in(tensor.data, host, (size_t)count * sizeof *host, NULL));
    must(tile_synchronize(NULL));
    return tensor;
}

/* Memory of the CPU is the emulator's. TILE_DEVICE in the environment has the last word. */
static DLDevice choose_device(void)
{
    const char *wanted = getenv("TILE_DEVICE");
    if (!wanted && tile_device_count() == 0) must(tile_set_device(wanted = "emulator"));
    if (wanted && strcmp(wanted, "emulator") == 0) return (DLDevice){kDLCPU, 0};
    return (DLDevice){kDLCUDA, wanted && strncmp(wanted, "cuda:", 5) == 0 ? atoi(wanted + 5) : 0};
}

static void linear_on_device(half *y)
{
    const DLDevice device = choose_device();
    int64_t x_shape[] = {ROWS, K}, w_shape[] = {K, N}, bias_shape[] = {N}, y_shape[2];
    DLTensor x = tensor_of(device, 2, x_shape, x_at), w = tensor_of(device, 2, w_shape, w_at);
    DLTensor bias = tensor_of(device, 1, bias_shape, bias_at), result = {.shape = y_shape};
    if (device.device_type == kDLCUDA) /* loads the code now, not in the first call */
        must(linear_prepare(device.device_id));
    /* All of the result but its memory follows from the arguments. */
    must(linear_shapes(&x, &w, &bias, &result));
    must(tile_alloc(&result.data, tile_tensor_bytes(&result)));
    must(linear(NULL, &x, &w, &bias, &result));
    must(tile_copy_out(y, result.data, tile_tensor_bytes(&result), NULL));
    must(tile_synchronize(NULL));
    void *const memory[] = {x.data, w.data, bias.data, result.data};
    for (int i = 0; i < 4; i++) must(tile_free(memory[i]));
}

int main(void)
{
    static half y[ROWS * N];
    linear_on_device(y);
    int wrong = 0;
    for (int i = 0; i < ROWS * N; i++) wrong += y[i] != half_of(expected(i / N, i % N));
    printf("linear: 0x%04x 0x%04x 0x%04x ... 0x%04x: %d of %d right\n", y[0], y[1], y[2],
           y[ROWS * N - 1], ROWS * N - wrong, ROWS * N);
    return wrong ? 5 : 0;
}
