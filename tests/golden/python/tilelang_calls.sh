# What calls of TileLang's kernels give besides arrays: addresses, and nothing for tensors that a simplified kernel has no use for; kernels
# that functions without a name are around.
needs numpy
cd "$TMP"
mkdir -p lib/elsewhere program
touch lib/elsewhere/__init__.py
cat >lib/elsewhere/parts.py <<'END'
HALF = 0.5


def halved(x):
    return x * HALF
END
cat >program/calls.py <<'END'
import operator
import os
import sys

sys.path.insert(0, os.path.join(os.getcwd(), "lib"))

import numpy
import tilelang
import tilelang.language as T
from elsewhere.parts import halved
from tilelang.autotuner import AutoTuner, autotune
from tilelang.transform.simplify import apply_simplify


def scaled(with_bias):
    @T.prim_func
    def main(A: T.Tensor((32,), T.float32), Bias: T.Tensor((32,), T.float32), C: T.Tensor((32,), T.float32)):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                if with_bias:
                    C[i] = A[i] * 2.0 + Bias[i]
                else:
                    C[i] = A[i] * 2.0

    return apply_simplify(main)


a, c = numpy.arange(32, dtype=numpy.float32), numpy.zeros(32, numpy.float32)
tilelang.compile(scaled(True))(a, a, c)
print((c == 3 * a).all())
tilelang.compile(scaled(False))(a, c)
print((c == 2 * a).all())


@T.prim_func
def of_pointers(a_ptr: T.ptr, c_ptr: T.ptr, n: T.int32):
    A = T.make_tensor(a_ptr, (n,), T.float32)
    C = T.make_tensor(c_ptr, (n,), T.float32)
    with T.Kernel(1, threads=32):
        for i in T.serial(n):
            C[i] = A[i] + 1.0


kernel = tilelang.compile(of_pointers)
kernel(a, c, 32)
print((c == a + 1).all())
for n in (16, 8):
    c[:] = 0
    kernel(a.ctypes.data, c.ctypes.data, n)
    print((c[:n] == a[:n] + 1).all(), (c[n:] == 0).all())


def applied(function):
    @T.prim_func
    def main(A: T.Tensor((32,), T.float32), C: T.Tensor((32,), T.float32)):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(32):
                C[i] = function(A[i])

    return main


factor = 3.0
for function in (lambda x: x * factor, lambda x: T.max(x, 16.0), operator.neg, halved):
    tilelang.compile(applied(function))(a, c)
    print(c[1], c[31])


# What the original's passes do in a configuration changes nothing.
def blocks(threads=64):
    @T.prim_func
    def main(A: T.Tensor((64,), T.float32), s: T.float32):
        with T.Kernel(1, threads=threads):
            for i in T.Parallel(64):
                A[i] = A[i] * s

    return main


configs = [{"threads": 32, "pass_configs": {"tl.disable_tma": True}}, {"threads": 64}]
tuner = AutoTuner.from_kernel(blocks, configs)
with tilelang.set_autotune_inputs(a, 2.0):
    print(tuner.run().config)


@autotune(configs=[{"threads": 32}, {"threads": 64}])
@tilelang.jit
def doubled(A, threads=32):
    n = T.const("n")
    A: T.Tensor[[n], T.float32]
    B = T.empty([n], T.float32)
    with T.Kernel(1, threads=threads):
        for i in T.Parallel(n):
            B[i] = A[i] * 2.0
    return B


print(doubled.compile(n=64, threads=32).config)
try:
    autotune(configs=configs)(tilelang.jit(blocks))()
except ValueError as error:
    print(error)
END
python3 -m tilec run program/calls.py 2>&1 | grep -v '^  File\|^    \|^Traceback'
