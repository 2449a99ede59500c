# Tensors of int4 from C: two elements a byte, an odd number of them; what the entry refuses, and what `info` says of it.
set -e
cd $TMP
cat > widen.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def widen(A: T.Tensor[[T.dyn["m"], 7], T.int4]):
    m = A.shape[0]
    B = T.empty((m, 7), T.float32)
    C = T.empty((m, 7), T.uint4)
    with T.Kernel(m, threads=32) as bx:
        for j in T.Parallel(7):
            B[bx, j] = A[bx, j]
            C[bx, j] = T.Cast("uint4", A[bx, j])
    return B, C


widen.compile()
T
cat > use.c <<'C'
#include "widen.h"

#include <stdio.h>

int main(void)
{
    const unsigned char packed[11] = {0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0x21, 0x43, 0x05};
    int64_t shape[] = {3, 7}, strides[] = {8, 1}, b_shape[2], c_shape[2];
    DLTensor a = {.device = {kDLCPU, 0}, .ndim = 2, .dtype = {kDLInt, 4, 1}, .shape = shape};
    DLTensor b = {.shape = b_shape}, c = {.shape = c_shape};
    float wide[21];
    unsigned char nibbles[11];
    tile_alloc(&a.data, sizeof packed);
    tile_copy_in(a.data, packed, sizeof packed, NULL);
    widen_shapes(&a, &b, &c);
    printf("%llu and %llu bytes, elements of %d bits\n", (unsigned long long)tile_tensor_bytes(&b),
           (unsigned long long)tile_tensor_bytes(&c), c.dtype.bits);
    tile_alloc(&b.data, tile_tensor_bytes(&b));
    tile_alloc(&c.data, tile_tensor_bytes(&c));
    if (widen(NULL, &a, &b, &c)) return puts(tile_last_error());
    tile_copy_out(wide, b.data, sizeof wide, NULL);
    tile_copy_out(nibbles, c.data, sizeof nibbles, NULL);
    for (int i = 0; i < 21; i++) printf("%g ", wide[i]);
    printf("\n");
    for (int i = 0; i < 11; i++) printf("%x%x ", nibbles[i] & 15, i < 10 ? nibbles[i] >> 4 : 0);
    printf("\n");
    a.dtype.bits = 8;
    if (widen(NULL, &a, &b, &c)) puts(tile_last_error());
    a.dtype = (DLDataType){kDLUInt, 4, 1};
    if (widen(NULL, &a, &b, &c)) puts(tile_last_error());
    a.dtype = (DLDataType){kDLInt, 4, 2};
    if (widen(NULL, &a, &b, &c)) puts(tile_last_error());
    a.dtype.lanes = 1;
    a.strides = strides;
    if (widen(NULL, &a, &b, &c)) puts(tile_last_error());
    return 0;
}
C
$TILEC widen.tile --arch=sm_90a,emulator --ptxas=none -o widen.o -H widen.h
$TILE_CC -I$TILE_ROOT/runtime/include -I. -o use use.c widen.o $TILE_BUILD/libtile_emulator.a $TILE_BUILD/libtile.a -lpthread -ldl -lm
./use
sed -n '/A\b.*int4\|int4/p' widen.h
$TILEC info widen.o | grep -i -A3 'widen' | head -12
