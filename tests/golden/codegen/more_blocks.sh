# ptxas is asked for another block as long as few threads are on a multiprocessor: of 128 threads there are seven.
needs ptxas
cat > $TMP/filter.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def depthwise(N: int, H: int, W: int, C: int, bw: int = 8, bc: int = 128):
    @T.prim_func
    def main(X: T.Tensor((N, H, W, C), "float16"), F: T.Tensor((3, 3, C), "float16"), Y: T.Tensor((N, H, W, C), "float16")):
        with T.Kernel(C // bc, T.ceildiv(W, bw), N * H, threads=128) as (bx, by, bz):
            acc = T.alloc_fragment((bw, bc), "float32")
            T.clear(acc)
            for kh, kw in T.grid(3, 3):
                h = bz % H + kh - 1
                for i, c in T.Parallel(bw, bc):
                    w = by * bw + i + kw - 1
                    if h >= 0 and h < H and w >= 0 and w < W:
                        acc[i, c] += X[bz // H, h, w, bx * bc + c].astype("float32") * F[kh, kw, bx * bc + c].astype("float32")
            for i, c in T.Parallel(bw, bc):
                if by * bw + i < W:
                    Y[bz // H, bz % H, by * bw + i, bx * bc + c] = acc[i, c]

    return main
END
$TILEC $TMP/filter.tile --arch=sm_90a --export 'filter = depthwise(4, 56, 56, 256)' -Rperf -o $TMP/filter.o 2>&1 |
  sed -n 's/.*, \([0-9]*\) registers a thread.*sm_90a, aligned.*/\1/p' | awk '{ print ($1 <= 72 ? "seven blocks" : $1 " registers") }'
