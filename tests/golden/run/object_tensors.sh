# Kernels of an object are called with what their C entries take, tensors and keys by place or by name; what they return is made.
cd $TMP; cat > kernels.tile <<'END'
import tilelang.language as T
from tilelang import lazy_jit

@lazy_jit
def scale(a: T.Tensor[[T.dyn["n"]], T.float32], factor: T.float32):
    (n,) = a.shape
    b = T.empty((n,), T.float32)
    with T.Kernel(T.ceildiv(n, 256), threads=128) as bx:
        for i in T.Parallel(256):
            b[bx * 256 + i] = a[bx * 256 + i] * factor
    return b

scale.compile(T.Tensor((1,), T.float32))

@lazy_jit
def both(a: T.Tensor[[T.dyn["n"]], T.float32], by: float, way: str):
    (n,) = a.shape
    b = T.empty((n,), T.float32)
    c = T.empty((2, n), T.float16)
    with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
        for i in T.Parallel(64):
            b[bx * 64 + i] = a[bx * 64 + i] * by if way == "up" else a[bx * 64 + i] - by
            for j in T.serial(2):
                c[j, bx * 64 + i] = a[bx * 64 + i] + j
    return b, c

both.compile(T.Tensor((1,), T.float32), by=2.0, way="up")
both.compile(T.Tensor((1,), T.float32), by=0.5, way="down")

@lazy_jit
def cast(a: T.Tensor[[T.dyn["n"]], T.float32], dtype):
    (n,) = a.shape
    b = T.empty((n,), dtype)
    with T.Kernel(T.ceildiv(n, 64), threads=64) as bx:
        for i in T.Parallel(64):
            b[bx * 64 + i] = T.cast(a[bx * 64 + i], dtype)
    return b

cast.compile(T.Tensor((1,), T.float32), T.float16)
cast.compile(T.Tensor((1,), T.float32), dtype=T.int32)

@lazy_jit
def strided(a: T.StridedTensor[[int, int], [int, int], T.float32]):
    m, n = a.shape
    b = T.empty((m, n), T.float32)
    with T.Kernel(m, threads=32) as bx:
        for i in T.Parallel(32):
            if i < n:
                b[bx, i] = a[bx, i] * 2
    return b

strided.compile(T.Tensor((2, 3), T.float32))
strided.compile(T.StridedTensor((2, 3), (6, 2), T.float32))
END
$TILEC kernels.tile --arch=emulator -o kernels.o
run() { echo "== $1"; $TILEC run kernels.o "a = arange(3, float32); r = $1; print(r)" 2>&1 | sed '/^ /d'; }
run 'scale(a, 2.5)'; run 'scale(factor=3, a=a)'; run 'scale(a[:0], 1)'
run 'both(a, 2.0, "up")'; run 'both(a, way="down", by=0.5)'
run 'cast(a / 2, float16)'; run 'cast(a / 2, dtype=int32)'
for call in 'scale(a)' 'scale(3, 3)' 'scale(a, 1, 2)' 'scale(a, "x")' 'scale(a, 1, factor=1)' 'scale(a, factor=1, way=2)' 'scale(zeros((2, 2), float32), 1)' \
  'scale(arange(3, float16), 1)' 'scale(arange(6, float32)[::2], 1)' 'both(a, 2.0, "down")' 'both(a, 2.0, 3)' 'both(a, "x", "up")' 'both(3, 2.0, "up")' \
  'cast(a)' 'cast(a, 3)' 'cast(a, float64)'; do run "$call"; done
cd $TMP; run 'strided(arange(12, float32).reshape((2, 6))[:, ::2])'; run 'strided(arange(6, float32).reshape((3, 2)).T)'
echo 'strided.compile(a=T.StridedTensor((2, 3), (1, 2), T.float32))' >> kernels.tile
$TILEC kernels.tile --arch=emulator -o kernels.o && run 'strided(arange(6, float32).reshape((3, 2)).T)'
