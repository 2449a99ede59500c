# Tensors of a shape or type that was not compiled: what was asked for, what there is, and the line to add; an object of another libtile.
set -e
$TILEC $TILE_ROOT/tests/golden/emit/tensor_keys.ir --arch=sm_90a,emulator --ptxas=none -o $TMP/scale.o -H $TMP/scale.h
cat > $TMP/use.c <<'C'
#include "scale.h"

#include <stdio.h>

static void show(const char *what, tile_status status)
{
    printf("%s: %s%s%s\n", what, tile_status_name(status), status ? ": " : "", status ? tile_last_error() : "");
}

/* b = 2a in 3 rows. */
static tile_status call(DLDataType dtype, int64_t columns, int64_t n)
{
    int64_t a_shape[] = {columns}, b_shape[] = {3, columns};
    DLTensor a = {.device = {kDLCPU, 0}, .ndim = 1, .dtype = dtype, .shape = a_shape}, b = a;
    b.ndim = 2;
    b.shape = b_shape;
    tile_alloc(&a.data, 4096);
    tile_alloc(&b.data, 4096);
    static const float numbers[128] = {1};
    tile_copy_in(a.data, numbers, sizeof numbers, NULL);
    tile_status status = scale(NULL, &a, n, &b);
    tile_free(a.data);
    tile_free(b.data);
    return status;
}

int main(void)
{
    const DLDataType f32 = {kDLFloat, 32, 1}, f16 = {kDLFloat, 16, 1}, e4m3 = {kDLFloat8_e4m3fn, 8, 1};
    show("float32 [128]", call(f32, 128, 2));
    show("float16 [64]", call(f16, 64, 2));
    show("float32 [64]", call(f32, 64, 2));
    show("float8 [128]", call(e4m3, 128, 2));
    show("n = 5", call(f32, 128, 5));
    tile_kernel other = scale_kernel;
    other.abi_version = 1;
    show("an old object", tile_launch_tensors(&other, NULL, NULL, NULL));
    show("no kernel", tile_launch_tensors(NULL, NULL, NULL, NULL));
    show("no tensors", tile_launch_tensors(&scale_kernel, NULL, NULL, NULL));
    int64_t shape[] = {128}, shape2[] = {3, 128};
    DLTensor a = {.device = {kDLCPU, 0}, .ndim = 1, .dtype = f32, .shape = shape}, b = a;
    b.ndim = 2;
    b.shape = shape2;
    DLTensor *tensors[] = {&a, &b};
    show("no key", tile_launch_tensors(&scale_kernel, NULL, tensors, NULL));
    return 0;
}
C
$TILE_CC -std=c99 -Wall -Wextra -Werror -I$TILE_ROOT/runtime/include -I$TMP -o $TMP/use $TMP/use.c $TMP/scale.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
$TMP/use
