# What was evaluated stays in an interpreter's memory: another is opened when it holds too much, and what programs have of it is there anew.
needs numpy
export TILE_DEVICE=emulator
cat >"$TMP/memory.py" <<'P2'
import numpy
import tilelang
import tilelang.language as T
from tilec import session


@tilelang.jit(out_idx=[-1])
def scaled(n, factor):
    @T.prim_func
    def main(A: T.Tensor((n,), "float32"), B: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                B[i] = A[i] * factor

    return main


def asked(limit, factor):
    """How many interpreters were opened for as many kernels."""
    session.Session.MOST_MEMORY = limit
    seen = set()
    for n in range(8, 14):
        dtype = T.dtype("float16")
        kernel = scaled(n, factor)
        assert (numpy.asarray(kernel(numpy.ones(n, numpy.float32))) == factor).all() and str(dtype) == "float16"
        assert kernel.get_kernel_source()
        seen.add(session.the.generation)
    return len(seen)


print(asked(1 << 40, 2) == 1, asked(1, 3) > 3, 0 < session.the.interpreter.memory < 1 << 30)
P2
cd "$TMP" && python3 -m tilec run memory.py
