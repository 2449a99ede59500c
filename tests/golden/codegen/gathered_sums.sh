# Dot products of rows that numbers tell, as many as there are: a thread reads the numbers of its rows itself, eight elements of each at a time,
# and, of a length that is no multiple of anything, too, as long as the addresses are. What is added to rows in memory is added by whole
# sectors: four floats that lie side by side a thread, however narrow the elements that are read for it;
# behind a loop, as what the loop loads has it.
cat > $TMP/sums.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def dots(N: int, D: int, bt: int = 16):
    nnz = T.dynamic("nnz")

    @T.prim_func
    def main(Q: T.Tensor((N, D), "float16"), K: T.Tensor((N, D), "float16"), ri: T.Tensor((nnz,), "int32"), ci: T.Tensor((nnz,), "int32"), S: T.Tensor((nnz,), "float32")):
        with T.Kernel(T.ceildiv(nnz, bt), threads=128) as bx:
            q = T.alloc_fragment((bt, D), "float32")
            s = T.alloc_fragment((bt,), "float32")
            for i, d in T.Parallel(bt, D):
                if bx * bt + i < nnz:
                    q[i, d] = Q[ri[bx * bt + i], d].astype("float32") * K[ci[bx * bt + i], d].astype("float32")
                else:
                    q[i, d] = 0
            T.reduce_sum(q, s, dim=1)
            for i in T.Parallel(bt):
                if bx * bt + i < nnz:
                    S[bx * bt + i] = s[i]

    return main


@tilelang.jit
def added(N: int, V: int, D: int, bt: int = 4):
    @T.prim_func
    def main(G: T.Tensor((N, D), "bfloat16"), ids: T.Tensor((N,), "int32"), W: T.Tensor((V, D), "float32")):
        with T.Kernel(N // bt, threads=256) as bx:
            for i, d in T.Parallel(bt, D):
                T.atomic_add(W[ids[bx * bt + i], d], G[bx * bt + i, d].astype("float32"))

    return main


@tilelang.jit
def behind(N: int, D: int):
    @T.prim_func
    def main(G: T.Tensor((N, D), "bfloat16"), W: T.Tensor((D,), "float32")):
        with T.Kernel(N // 64, threads=256) as bx:
            s = T.alloc_fragment((D,), "float32")
            T.clear(s)
            for k in T.serial(64):
                for d in T.Parallel(D):
                    s[d] += G[bx * 64 + k, d].astype("float32")
            for d in T.Parallel(D):
                T.atomic_add(W[d], s[d])

    return main


@tilelang.jit
def twice(N: int, D: int):
    @T.prim_func
    def main(X: T.Tensor((N, D), "float16"), Y: T.Tensor((2 * N, D), "float16")):
        with T.Kernel(N // 4, threads=128) as bx:
            for i, d in T.Parallel(8, D):
                Y[bx * 8 + i, d] = X[(bx * 8 + i) // 2, d]

    return main
END
$TILEC $TMP/sums.tile --arch=sm_90a --export 'dots = dots(4096, 128)' --export 'added = added(64, 100, 2048)' --export 'behind = behind(256, 2048)' --export 'twice = twice(64, 64)' --emit=ptx 2>/dev/null |
  grep -oE '^\.visible \.entry [a-z0-9_]+|ld\.global[.a-z0-9]*|bar\.sync|red\.[.a-z0-9]*|st\.[a-z]*[.a-z0-9]*' | uniq -c
