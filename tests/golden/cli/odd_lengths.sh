# A length that is known when a call is made is odd more often than not: there is code that assumes nothing of it, where rows are as wide without.
cat > $TMP/gather.tile <<'X'
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[2])
def gather(V, D, rows=8, threads=256):
    n = T.dynamic("n")

    @T.prim_func
    def main(W: T.Tensor((V, D), "float16"), ids: T.Tensor((n,), "int32"), Y: T.Tensor((n, D), "float16")):
        with T.Kernel(T.ceildiv(n, rows), threads=threads) as bx:
            for i, d in T.Parallel(rows, D):
                if bx * rows + i < n:
                    Y[bx * rows + i, d] = W[ids[bx * rows + i], d]

    return main


rows = gather(32000, 2048)
X
cd $TMP; $TILEC gather.tile --arch=compute_80 --ptxas=none -o gather.o
$TILEC info gather.o | grep where
