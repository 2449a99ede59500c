# What is read and written a few elements from the neighbour's, as the pairs of a rotation are, decides how many elements a thread has
# side by side: a warp's accesses are in few lines, also where some of them could be wide.
cat > $TMP/apart.tile <<'END'
import tilelang
import tilelang.language as T

@tilelang.jit
def pairs(rows: int, n: int):
    @T.prim_func
    def main(X: T.Tensor((rows, 2 * n), T.bfloat16), cos: T.Tensor((rows, n), T.float32), Y: T.Tensor((rows, 2 * n), T.bfloat16)):
        with T.Kernel(rows // 8, threads=256) as k:
            for i, j in T.Parallel(8, n):
                Y[k * 8 + i, 2 * j] = X[k * 8 + i, 2 * j + 1] * cos[k * 8 + i, j]
                Y[k * 8 + i, 2 * j + 1] = X[k * 8 + i, 2 * j] * cos[k * 8 + i, j]
    return main
END
$TILEC $TMP/apart.tile --arch=sm_90a --export 'pairs = pairs(1024, 128)' --emit=ptx --print-after=infer_layout -o $TMP/apart.ptx 2>&1 |
  grep -oE '^kernel @[a-z0-9_]+|\{shape \[8, 128\].*' | uniq
