/* main.c: y = 2 x + y on the first GPU, or on the emulator where there is none. */
#include "saxpy.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 1000 };

static void must(tile_status status)
{
    if (status == TILE_OK) return;
    fprintf(stderr, "%s: %s\n", tile_status_name(status), tile_last_error());
    exit(1);
}

int main(void)
{
    static float x[N], y[N];
    void *device_x, *device_y;
    int wrong = 0;
    if (!getenv("TILE_DEVICE") && tile_device_count() == 0) must(tile_set_device("emulator"));
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
    must(tile_alloc(&device_x, sizeof x));
    must(tile_alloc(&device_y, sizeof y));
    must(tile_copy_in(device_x, x, sizeof x, NULL));
    must(tile_copy_in(device_y, y, sizeof y, NULL));
    must(saxpy_fixed(NULL, N, 2, device_x, device_y)); /* saxpy takes the block, 256, too */
    must(tile_copy_out(y, device_y, sizeof y, NULL));
    must(tile_synchronize(NULL));
    for (int i = 0; i < N; i++) wrong += y[i] != 2 * x[i] + 1;
    printf("saxpy of %d numbers: %d wrong\n", N, wrong);
    must(tile_free(device_x));
    must(tile_free(device_y));
    return wrong != 0;
}
