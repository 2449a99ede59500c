# A kernel function called from C: shapes, a launch, a call that was not compiled, and the line that its message says to add.
set -e
cd $TMP
cat > add.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def add(A: T.Tensor[[int, T.dyn["K"]], T.float32], B: T.Tensor[[T.dyn["K"]], T.float32], n: int):
    M, K = A.shape
    C = T.empty((M, K), T.float32)
    with T.Kernel(T.ceildiv(K, 32), M, threads=32) as (bx, by):
        for j in T.Parallel(32):
            C[by, bx * 32 + j] = A[by, bx * 32 + j] + B[bx * 32 + j] * n
    return C


add.compile(A=T.Tensor((4, 64), T.float32), B=T.Tensor((64,), T.float32), n=3)
T
cat > use.c <<'C'
#include "add.h"

#include <stdio.h>

static DLTensor make(int ndim, int64_t *shape)
{
    float numbers[1024];
    DLTensor tensor = {.device = {kDLCPU, 0}, .ndim = ndim, .dtype = {kDLFloat, 32, 1}, .shape = shape};
    for (int i = 0; i < 1024; i++) numbers[i] = (float)i;
    tile_alloc(&tensor.data, sizeof numbers);
    tile_copy_in(tensor.data, numbers, sizeof numbers, NULL);
    return tensor;
}

static int call(int64_t m, int64_t k)
{
    int64_t a_shape[] = {m, k}, b_shape[] = {k}, c_shape[2];
    DLTensor a = make(2, a_shape), b = make(1, b_shape), c = {.shape = c_shape};
    float numbers[1024];
    int right = 0;
    if (add_shapes(&a, &b, 3, &c)) return puts(tile_last_error());
    tile_alloc(&c.data, tile_tensor_bytes(&c));
    if (add(NULL, &a, &b, 3, &c)) return puts(tile_last_error());
    tile_copy_out(numbers, c.data, tile_tensor_bytes(&c), NULL);
    for (int i = 0; i < m * k; i++) right += numbers[i] == (float)(i + 3 * (i % k));
    return printf("[%d, %d]: %d right\n", (int)c_shape[0], (int)c_shape[1], right);
}

int main(void)
{
    call(4, 64);
    call(4, 50);
    call(5, 64);
    return 0;
}
C
build() { $TILEC add.tile --arch=sm_90a,emulator --ptxas=none -o add.o -H add.h "$@"
  $TILE_CC -I$TILE_ROOT/runtime/include -I. -o use use.c add.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm; }
build; ./use | tee said
build --export 'add = add.compile(A=T.Tensor((4, 64), T.float32), B=T.Tensor((64,), T.float32), n=3)' --export "$(sed -n "s/.* --export '\(.*\)' to tilec.*/\1/p" said)"; ./use
