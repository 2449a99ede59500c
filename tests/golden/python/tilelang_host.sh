# What TileLang's programs compile for a processor of the host: a block that does not say has one thread, so what threads do alike is done once;
# its arrays may be large, and products are those of its numbers.
needs numpy torch
cat >"$TMP/host.py" <<'END'
import contextlib

import numpy
import tilelang
import tilelang.language as T
from tilec import native
from tilelang import tvm


@T.prim_func
def counted(Start: T.Tensor((1,), "float32"), B: T.Tensor((1,), "float32"), P: T.Tensor((4,), "float32")):
    with T.Kernel(1):
        B[0] = Start[0]
        for i in T.serial(4):
            P[i] = T.atomic_add(B[0], 3, return_prev=True)


start = numpy.full(1, 1.5, numpy.float32)
total, before = tilelang.compile(counted, out_idx=[1, 2], target="c")(start)
print(numpy.from_dlpack(total), numpy.from_dlpack(before))

total, before = numpy.zeros(1, numpy.float32), numpy.zeros(4, numpy.float32)
with tvm.target.Target("c"):
    print(tvm.target.Target.current().kind.name)
    tilelang.compile(counted)(start, total, before)
print(total, before, tvm.target.Target.current())


@T.prim_func
def product(A: T.Tensor((64, 64), "float32"), B: T.Tensor((64, 64), "float32"), C: T.Tensor((64, 64), "float32")):
    with T.Kernel(1):
        a = T.alloc_local((64, 64), "float32")
        b = T.alloc_local((64, 64), "float32")
        c = T.alloc_local((64, 64), "float32")
        T.clear(c)
        T.copy(A, a)
        T.copy(B, b)
        T.gemm(a, b, c)
        T.copy(c, C)


x = numpy.random.default_rng(1).standard_normal((64, 64), numpy.float32)
y = numpy.zeros_like(x)
tilelang.compile(product, target="llvm")(x, x, y)
print(abs(y - x @ x).max() < 1e-4)


@T.prim_func
def alone(A: T.Tensor((4,), "float32"), B: T.Tensor((4,), "float32"), n: T.int32):
    for i in T.serial(n):
        B[i] = A[i] + 1.0


print(numpy.from_dlpack(tilelang.compile(alone, out_idx=[1])(numpy.arange(4, dtype=numpy.float32), 4)))


# The function itself as the kernel, for a processor of the host: called, compiled for an extent.
@tilelang.jit(target="c")
def plus(A, B):
    N = T.const("N")
    A: T.Tensor((N,), T.float32)
    B: T.Tensor((N,), T.float32)
    C = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, 64)) as bx:
        part = T.alloc_local((64,), T.float32)
        for i in T.serial(64):
            j = bx * 64 + i
            if j < N:
                part[i] = A[j] + B[j]
                C[j] = part[i]
    return C


x = numpy.arange(100, dtype=numpy.float32)
print(numpy.array_equal(numpy.asarray(plus(x, x)), 2 * x), numpy.array_equal(numpy.asarray(plus.compile(N=100)(x, x)), 2 * x))


# As what is for the processor runs beside a GPU: without the emulator's checks.
@T.prim_func
def careless(B: T.Tensor((4,), "float32")):
    with T.Kernel(1):
        part = T.alloc_shared((4,), "float32")
        for i in T.serial(4):
            B[i] = part[i] * 0 + i


kernel = tilelang.compile(careless, target="c")
for checks in (contextlib.nullcontext, native.unchecked, contextlib.nullcontext):
    out = numpy.zeros(4, numpy.float32)
    with checks():
        try:
            kernel(out)
            print("not checked")
        except Exception as error:
            print(str(error).splitlines()[0].partition(": ")[2])
END
cd "$TMP" && TILE_EMULATOR='' python3 -m tilec run host.py
