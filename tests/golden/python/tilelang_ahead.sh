# Kernels that are compiled several at a time: each by an interpreter of its own, whose code the process's own one then finds; faults are
# told one by one.
export TILE_DEVICE=emulator TILE_CACHE=$TMP/kept
cat >"$TMP/ahead.py" <<'P'
import os

import tilelang
import tilelang.language as T
from tilec import native, session

os.sched_getaffinity = lambda process: {0, 1, 2}
opened = []
run = native.Interpreter.run


def counted(self, statements, tensors=()):
    if "core.kernel_code(" in statements and self is not session.the.interpreter:
        opened.append(statements)
    return run(self, statements, tensors)


native.Interpreter.run = counted


def scaled(factor, block):
    @T.prim_func
    def main(A: T.Tensor((64,), "float32"), B: T.Tensor((64,), "float32")):
        with T.Kernel(64 // block, threads=32) as i:
            for j in T.Parallel(block):
                B[i * block + j] = A[i * block + j] * factor

    return main


@tilelang.jit
def lazy(factor, block):
    return scaled(factor, block)


def shifted(A, block=32):
    N = T.const("N")
    A: T.Tensor((N,), T.float32)
    B = T.empty((N,), T.float32)
    with T.Kernel(T.ceildiv(N, block), threads=32) as i:
        for j in T.Parallel(block):
            B[i * block + j] = A[i * block + j] + block
    return B


eager = tilelang.jit(shifted)
kernels = tilelang.par_compile([scaled(2.0, 16), scaled(3.0, 32), scaled(4.0, 64)])
kept = len(os.listdir(os.environ["TILE_CACHE"]))
print(len(kernels), len(opened), kept)
print(len(lazy.par_compile([{"factor": 5.0, "block": 16}, (6.0, 32)])), len(opened))
print(len(eager.par_compile([{"N": 64, "block": block} for block in (8, 16)])), len(opened))
made = lazy.par_compile([(2.0, 16), (2.0, 0), (2.0, 32)], ignore_error=True)
print([one is not None for one in made])
try:
    lazy.par_compile([(7.0, 16), (7.0, 0)])
except Exception as error:
    print(type(error).__name__)


# On the emulator nothing is measured: the time is a number all the same.
tuned = tilelang.autotune(configs=[{"block": 8}, {"block": 16}])(tilelang.jit(shifted))
made = tuned.compile(N=64)
print(made.config, 1 / made.latency)
P
cd "$TMP" && python3 -m tilec run ahead.py
