# Exports of functions: those without open keys, those compiled by statements of the module and by the command line.
cat >"$TMP/functions.tile" <<'TILE'
import tilelang.language as T
from itertools import product
from tilelang import jit, lazy_jit
from typing import Any


@lazy_jit
def scaled(A: T.Tensor[[T.dyn["m"], int], Any], factor: T.float32, out_dtype: T.dtype = T.float32, block: int = 16):
    m, n = A.shape
    B = T.empty((m, n), out_dtype)
    with T.Kernel(T.ceildiv(m, block), threads=32) as bx:
        for i, j in T.Parallel(block, n):
            B[bx * block + i, j] = A[bx * block + i, j] * factor
    return B


scaled.par_compile([{"A": T.Tensor((1, n), dtype), "block": block} for n, dtype, block in product([8, 32], ["float16"], [8, 16])])


@lazy_jit
def settled(A: T.Tensor[[T.dyn], T.int32], B: T.StridedTensor[[4, T.dyn["n"]], [T.dyn, 1], T.int32]):
    with T.Kernel(1, threads=32):
        for i in T.Parallel(4):
            A[i] = B[i, 0]


@T.prim_func
def plain(A: T.Tensor((4,), "float32")):
    with T.Kernel(1, threads=32):
        A[0] = 1


@lazy_jit
def two(A: T.Tensor[[T.dyn["n"]], T.float32]):
    (n,) = A.shape
    even, odd = T.empty((T.ceildiv(n, 2),)), T.empty((n // 2,))
    with T.Kernel(1, threads=32):
        even[0] = A[0]
        odd[0] = A[1]
    return odd, even


@jit(out_idx=[-1])
def copied(m, dtype):
    @T.prim_func
    def main(A: T.Tensor((m,), dtype), B: T.Tensor((m,), dtype)):
        with T.Kernel(1, threads=32):
            T.copy(A, B)

    return main


copied.compile(16, "float16")
by_name = copied(32, "float32")


@lazy_jit
def open_key(A: T.Tensor[[int], T.float32]):
    with T.Kernel(1, threads=32):
        A[0] = 1
TILE
cd "$TMP" || exit
"$TILEC" functions.tile --arch=emulator -o f.o -H f.h &&
    "$TILEC" functions.tile --arch=emulator -o opened.o -H opened.h --export 'opened = open_key.compile(A=T.Tensor((8,), T.float32))' &&
    grep -hE '^tile_status [a-z_]+\(tile_stream' f.h opened.h &&
    for object in f.o opened.o; do "$TILEC" info $object; done | grep -E '^[a-z_]+\(|^  (tensor|returns|with)' | sed 's, ABI version.*,,'
echo "-- placeholders are remarked upon, or refused"
echo 'scaled.compile(T.Tensor((1, 8)), 1.0); two.compile(T.Tensor((8,), T.float16))' >>functions.tile
"$TILEC" functions.tile --arch=emulator -o f.o
"$TILEC" functions.tile --arch=emulator -o f.o -Werror=placeholder 2>&1 | grep error
"$TILEC" functions.tile --arch=emulator -o f.o -Werror=nonsense
echo "without the warning:"; "$TILEC" functions.tile --arch=emulator -o f.o -Wno-placeholder 2>&1 | grep -c placeholder; "$TILEC" functions.tile --arch=emulator -o f.o -Wno-placehold
