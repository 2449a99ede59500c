# A kernel that allocates by an extent of its tensors' is compiled for each extent that calls have.
needs numpy
export TILE_DEVICE=emulator
cat >"$TMP/asked.py" <<'P'
import numpy
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1])
def turned():
    length = T.symbolic("length", dtype=T.int32)

    @T.prim_func
    def main(A: T.Tensor[(length,), T.int32], B: T.Tensor[(length,), T.int32]):
        with T.Kernel(1, threads=32):
            s = T.alloc_shared((length,), dtype=T.int32)
            T.copy(A, s)
            for i in T.serial(length):
                B[i] = s[length - 1 - i]

    return main


kernel = turned()
for n in (100, 200, 200, 100):
    a = numpy.arange(n, dtype=numpy.int32)
    print(n, numpy.array_equal(numpy.asarray(kernel(a)), a[::-1]))
P
cd "$TMP" && python3 -m tilec run asked.py
