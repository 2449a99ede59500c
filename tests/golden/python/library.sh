# Kernels of a source file, and of an object in a shared library under the module that --emit=python writes, on numpy's arrays.
needs numpy
cd "$TMP"
cat >kernels.tile <<'END'
import tilus
import tilelang.language as T
from tilus import float32, int32

FACTOR = 2.0


class Scale(tilus.Script):
    def __call__(self, n: int32, by: float32, source: ~float32, target: ~float32):
        self.attrs.blocks = (n + 63) // 64
        self.attrs.warps = 1
        a = self.global_view(source, dtype=float32, shape=[n])
        b = self.global_view(target, dtype=float32, shape=[n])
        x = self.load_global(a, offsets=[self.blockIdx.x * 64], shape=[64])
        self.store_global(b, x * by * FACTOR, offsets=[self.blockIdx.x * 64])


@T.prim_func
def add(A: T.Tensor((T.dyn["n"],), T.float32), B: T.Tensor((T.dyn["n"],), T.float32)):
    (n,) = A.shape
    C = T.empty((n,), T.float32)
    with T.Kernel(T.ceildiv(n, 32), threads=32) as bx:
        for i in T.Parallel(32):
            C[bx * 32 + i] = A[bx * 32 + i] + B[bx * 32 + i]
    return C


scale = Scale()
END
cat >use.py <<'END'
import sys

import numpy as np
import tilec

if sys.argv[1] == "source":
    kernels = tilec.load("kernels.tile", FACTOR=3.0)
    factor = 3.0
else:
    import kernels

    factor = 2.0
a, b = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
for by in (1.0, 0.5, -2.0):
    kernels.scale(100, by, a, b)
    print(sys.argv[1], by, (b == a * by * factor).all())
for n in (100, 33):
    for _ in range(2):
        made = kernels.add(a[:n], b[:n])
        print(made.shape, made.dtype, (made == a[:n] + b[:n]).all())
for wrong in (lambda: kernels.add(a, b[:50]), lambda: kernels.add(a, b.astype(np.float64)), lambda: kernels.scale(100, 1.0, a, "b"),
              lambda: kernels.scale(100, 1.0, a)):
    try:
        wrong()
    except (tilec.Error, TypeError) as error:
        print(str(error).partition("\n")[0].split("error: ")[-1])
END
python3 use.py source
"$TILEC" kernels.tile --arch=emulator --emit=obj,python -o kernels.o
cat kernels.py
$TILE_CC -shared -o libkernels.so kernels.o "$TILE_BUILD/libtile_emulator.so" "$TILE_BUILD/libtile.so"
python3 use.py library
# A library that is linked with the emulator's is found on a machine with a GPU, too.
python3 -c 'from tilec import aot, device; device.is_emulator = lambda: False; print(aot.Library("libkernels.so").kernel("scale").__name__)'
