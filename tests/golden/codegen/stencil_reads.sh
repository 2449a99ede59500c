# Neighbours in a tile of shared memory, one to each side: lanes read side by side, not four elements apart, so that no two of them ask a bank.
cat > $TMP/stencil.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[1])
def stencil(H: int, W: int, dtype: str, bh: int = 16, bw: int = 128):
    @T.prim_func
    def main(X: T.Tensor((H, W), dtype), Y: T.Tensor((H, W), dtype)):
        with T.Kernel(W // bw, H // bh, threads=256) as (bx, by):
            s = T.alloc_shared((bh + 2, bw + 2), dtype)
            for i, j in T.Parallel(bh + 2, bw + 2):
                s[i, j] = X[T.min(T.max(by * bh + i - 1, 0), H - 1), T.min(T.max(bx * bw + j - 1, 0), W - 1)]
            for i, j in T.Parallel(bh, bw):
                Y[by * bh + i, bx * bw + j] = s[i + 1, j + 1] + s[i, j + 1] + s[i + 2, j + 1] + s[i + 1, j] + s[i + 1, j + 2]

    return main
END
for dtype in float32 float16; do
    $TILEC run --statistics --device=emulator $TMP/stencil.tile "x = random((32, 256), $dtype); y = stencil(32, 256, '$dtype')(x)" 2>&1 |
        grep -oE '(shared read|global write): .*' | uniq
done
