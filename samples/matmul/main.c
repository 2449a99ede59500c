/* Multiplies two matrices on the GPU, or on the emulator where there is none, and checks every
 * number.
 *
 * The elements are small integers, so that all sums are exact in half precision and the reference
 * has to agree to the last bit. */
#include "matmul.h"

#include <stdio.h>
#include <stdlib.h>

enum { M = 100, N = 384, K = 256 }; /* M is no multiple of the block */

typedef uint16_t half;

static void must(tile_status status)
{
    if (status == TILE_OK) return;
    fprintf(stderr, "matmul: %s: %s\n", tile_status_name(status), tile_last_error());
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

static void fill(half *to, int count, int step)
{
    for (int i = 0; i < count; i++) to[i] = half_of(i * step % 5 - 2);
}

/* What the element at (row, column) has to be. */
static int product(int row, int column)
{
    int sum = 0;
    for (int k = 0; k < K; k++) sum += ((row * K + k) * 7 % 5 - 2) * ((k * N + column) * 3 % 5 - 2);
    return sum;
}

static void matmul_on_device(const half *a, const half *b, half *c)
{
    void *da, *db, *dc;
    must(tile_alloc(&da, M * K * sizeof *a));
    must(tile_alloc(&db, K * N * sizeof *b));
    must(tile_alloc(&dc, M * N * sizeof *c));
    must(tile_copy_in(da, a, M * K * sizeof *a, NULL));
    must(tile_copy_in(db, b, K * N * sizeof *b, NULL));
    must(matmul(NULL, M, N, K, da, db, dc));
    must(tile_copy_out(c, dc, M * N * sizeof *c, NULL));
    must(tile_synchronize(NULL));
    must(tile_free(da));
    must(tile_free(db));
    must(tile_free(dc));
}

int main(void)
{
    static half a[M * K], b[K * N], c[M * N];
    /* TILE_DEVICE in the environment has the last word. */
    if (!getenv("TILE_DEVICE") && tile_device_count() == 0) must(tile_set_device("emulator"));
    fill(a, M * K, 7);
    fill(b, K * N, 3);
    matmul_on_device(a, b, c);
    int wrong = 0;
    for (int i = 0; i < M * N; i++) wrong += c[i] != half_of(product(i / N, i % N));
    printf("matmul: 0x%04x 0x%04x 0x%04x ... 0x%04x: %d of %d right\n", c[0], c[1], c[2],
           c[M * N - 1], M * N - wrong, M * N);
    return wrong ? 5 : 0;
}
