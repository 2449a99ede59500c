/* Adds one to a vector on the GPU, or on the emulator where there is none, and checks all of it. */
#include "add_one.h"

#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000 }; /* no multiple of the block: the end is part of the test */

static void must(tile_status status)
{
    if (status == TILE_OK) return;
    fprintf(stderr, "add_one: %s: %s\n", tile_status_name(status), tile_last_error());
    exit(3);
}

static void add_one_on_device(const float *in, float *out)
{
    const size_t bytes = COUNT * sizeof *in;
    void *a, *b;
    must(tile_alloc(&a, bytes));
    must(tile_alloc(&b, bytes));
    must(tile_copy_in(a, in, bytes, NULL));
    must(add_one(NULL, COUNT, a, b));
    must(tile_copy_out(out, b, bytes, NULL));
    must(tile_synchronize(NULL));
    must(tile_free(a));
    must(tile_free(b));
}

int main(void)
{
    static float in[COUNT], out[COUNT];
    /* TILE_DEVICE in the environment has the last word. */
    if (!getenv("TILE_DEVICE") && tile_device_count() == 0) must(tile_set_device("emulator"));
    for (int i = 0; i < COUNT; i++) in[i] = (float)i / 4;
    add_one_on_device(in, out);
    int wrong = 0;
    for (int i = 0; i < COUNT; i++) wrong += out[i] != in[i] + 1;
    printf("add_one: %g %g %g ... %g: %d of %d right\n", out[0], out[1], out[2], out[COUNT - 1],
           COUNT - wrong, COUNT);
    return wrong ? 5 : 0;
}
