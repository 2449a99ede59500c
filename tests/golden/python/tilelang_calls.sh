# What calls of TileLang's kernels give besides arrays: addresses, and nothing for tensors that a simplified kernel has no use for; kernels
# that functions without a name are around.
needs numpy
export PYTHONPATH=$TILE_ROOT/python TILE_LIBRARIES=$TILE_BUILD
cd "$TMP"
cat >calls.py <<'END'
import numpy
import tilelang
import tilelang.language as T
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
for function in (lambda x: x * factor, lambda x: T.max(x, 16.0)):
    tilelang.compile(applied(function))(a, c)
    print(c[1], c[31])
END
python3 -m tilec run calls.py
