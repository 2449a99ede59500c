# A program of each dialect, on numpy's arrays and the emulator: closures, values that Python computed, results, gradients.
needs numpy
cat >"$TMP/lazy.py" <<'END'
import argparse

import numpy
import tilelang
import tilelang.language as T

parser = argparse.ArgumentParser()
parser.add_argument("--scale", type=float, default=1.0)
SCALE = parser.parse_args().scale


@T.macro
def scaled(x, by):
    return x * (by * SCALE)


def make(n, block, dtype="float32"):
    @T.prim_func
    def main(A: T.Tensor((n,), dtype), B: T.Tensor((n,), dtype)):
        with T.Kernel(T.ceildiv(n, block), threads=block) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = scaled(A[bx * block + i], 2)

    return main


@tilelang.jit(out_idx=[-1])
def kernels(n, block=32):
    return make(n, block)


@tilelang.jit
def doubled(A, block: int = 32):
    N = T.const("N")
    A: T.Tensor((N,), T.float32)
    B = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, block), threads=block) as bx:
        for i in T.Parallel(block):
            B[bx * block + i] = A[bx * block + i] + A[bx * block + i]
    return B


a, b = numpy.arange(100, dtype=numpy.float32), numpy.zeros(100, numpy.float32)
tilelang.compile(make(100, 32))(a, b)
print("compile", (b == 2 * SCALE * a).all())
for _ in range(2):
    print("jit", (kernels(100)(a) == 2 * SCALE * a).all())
print("eager", (doubled(a) == 2 * a).all(), doubled.compile(N=100)(a)[:4].tolist())
print("dtypes", T.float16 == "float16", str(T.bfloat16), T.float32.bits, T.ceildiv(1000, 128), tilelang.cdiv(7, 2))
try:
    kernels(100)(a[:50])
except RuntimeError as error:
    print("refused:", str(error).partition("\n")[0])
END
cat >"$TMP/script.py" <<'END'
import numpy
import tilus
from tilus import float32, int32
from tilus.utils import benchmark_func, cdiv


def scripts(bias):
    @tilus.autotune("block", [32, 64])
    class Add(tilus.Script):
        def __init__(self, block: int):
            super().__init__()
            self.block = block

        def __call__(self, n: int32, a_ptr: ~float32, b_ptr: ~float32, factor: float32):
            self.attrs.blocks = cdiv(n, self.block)
            self.attrs.warps = 1
            a = self.global_view(a_ptr, dtype=float32, shape=[n])
            b = self.global_view(b_ptr, dtype=float32, shape=[n])
            x = self.load_global(a, offsets=[self.blockIdx.x * self.block], shape=[self.block])
            self.store_global(b, x * factor + bias, offsets=[self.blockIdx.x * self.block])

    return Add


a, b = numpy.arange(100, dtype=numpy.float32), numpy.zeros(100, numpy.float32)
add = scripts(3.0)()
for factor in (2.0, 0.5, -1.0):
    add(100, a, b, factor)
    print(factor, (b == factor * a + 3).all())
add(10, a, b, 0.0)
print(b[:12].tolist())
print(scripts(1.0)(block=64).block, cdiv(7, 2), benchmark_func(lambda: add(100, a, b, 1.0)) > 0)
END
cat >"$TMP/threads.py" <<'END'
import numpy as np
import warp as wp

SIZE = wp.constant(16)


@wp.struct
class Scale:
    by: float
    to: wp.array(dtype=float)


@wp.func
def twice(x: float):
    return x + x


@wp.kernel
def scale(x: wp.array(dtype=float), s: Scale, n: int):
    i = wp.tid()
    if i < n:
        s.to[i] = twice(x[i]) * s.by


@wp.kernel
def squares(x: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    t = wp.tile_load(x[i], shape=SIZE)
    wp.tile_store(y, wp.tile_sum(t * t), offset=i)


@wp.kernel
def dots(v: wp.array(dtype=wp.vec3), q: wp.vec3, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = wp.dot(v[i], q)


x = wp.array(np.arange(8, dtype=np.float32))
s = Scale()
s.by, s.to = 0.5, wp.zeros(8)
wp.launch(scale, dim=8, inputs=[x, s, 5])
print(s.to.numpy().tolist())
wp.launch(scale, dim=8, inputs=[x, s, 8])
print(s.to)
m = wp.array(np.random.default_rng(1).random((4, 16), np.float32), requires_grad=True)
y = wp.zeros(4, requires_grad=True)
with wp.Tape() as tape:
    wp.launch_tiled(squares, dim=[4], inputs=[m, y], block_dim=32)
y.grad = wp.ones_like(y)
tape.backward()
print(np.allclose(y.numpy(), (m.numpy() ** 2).sum(1)), np.allclose(m.grad.numpy(), 2 * m.numpy()))
v, out = wp.array([[1, 2, 3], [4, 5, 6]], dtype=wp.vec3), wp.zeros(2)
wp.launch(dots, dim=2, inputs=[v, wp.vec3(1.0, 0.0, 1.0)], outputs=[out])
print(out.numpy().tolist(), v[1:].shape, v.numpy().shape, wp.float32, wp.vec3(1.0, 2.0, 3.0))
END
cd "$TMP"
python3 -m tilec run lazy.py --scale 1.5
python3 -m tilec run script.py
python3 -m tilec run threads.py
