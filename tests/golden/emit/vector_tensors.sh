# Tensors of vectors from C: as DLPack's vectors, or as numbers with a last dimension for them.
set -e
cd $TMP
cat > scale.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def scale(A: T.Tensor[[T.dyn["n"]], "float32x4"]):
    (n,) = A.shape
    B = T.empty((n,), "float32x2")
    with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
        for i in T.Parallel(32):
            if bx * 32 + i < n:
                B[bx * 32 + i] = T.float32x2(A[bx * 32 + i][3], A[bx * 32 + i][0]) * 2.0
    return B


scale.compile()
T
cat > use.c <<'C'
#include "scale.h"

#include <stdio.h>

static void call(DLTensor *a)
{
    int64_t shape[2];
    float out[6];
    DLTensor b = {.shape = shape};
    if (scale_shapes(a, &b)) { puts(tile_last_error()); return; }
    tile_alloc(&b.data, sizeof out);
    if (scale(NULL, a, &b)) { puts(tile_last_error()); return; }
    tile_copy_out(out, b.data, sizeof out, NULL);
    for (int i = 0; i < 6; i++) printf("%g ", out[i]);
    printf("in [%d, %d]\n", (int)shape[0], (int)shape[1]);
}

int main(void)
{
    const float numbers[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    int64_t numbers_shape[] = {3, 4}, vectors_shape[] = {3}, strides[] = {1}, gaps[] = {2};
    DLTensor a = {.device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLFloat, 32, 1}, .shape = numbers_shape};
    tile_alloc(&a.data, sizeof numbers);
    tile_copy_in(a.data, numbers, sizeof numbers, NULL);
    call(&a);
    a.ndim = 1, a.dtype.lanes = 4, a.shape = vectors_shape;
    call(&a);
    a.strides = strides;
    call(&a);
    a.strides = gaps;
    call(&a);
    a.strides = NULL, a.dtype.lanes = 2;
    call(&a);
    a.dtype = (DLDataType){kDLFloat, 16, 4};
    call(&a);
    a.dtype = (DLDataType){kDLFloat, 32, 1};
    call(&a);
    return 0;
}
C
$TILEC scale.tile --arch=sm_90a,emulator --ptxas=none -o scale.o -H scale.h
$TILE_CC -I$TILE_ROOT/runtime/include -I. -o use use.c scale.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
./use
$TILEC info scale.o | grep tensor
