# A reversed scan is gathered in the scan's own layout: a tile goes through shared memory twice, at two barriers. A block's index stays below the
# number of blocks, which nobody checks again.
cat > $TMP/a.py <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def chunks(A, n):
    A: T.Tensor((n, 64), T.float32)
    C = T.empty((n, 64), T.float32)
    with T.Kernel(n, threads=256) as b:
        part = T.alloc_shared((1, 64), T.float32)
        T.copy(A[b, :], part)
        T.cumsum(part, dim=1, reverse=True)
        T.copy(part, C[b, :])
    return C


@tilelang.jit
def marks(A):
    n = T.dynamic("n")
    A: T.Tensor((n,), T.float32)
    with T.Kernel(n, threads=32) as b:
        if T.get_thread_binding() == 0:
            A[b] = A[b] + 1.0
T
for k in 'chunks.compile(n=4096)' 'marks.compile()'; do
    echo "$k: $($TILEC $TMP/a.py --arch=sm_90a --no-cache --emit=ptx -o $TMP/a.ptx --export "k = $k" 2>&1 | grep -v W0706 | grep -v hint; grep -c 'bar.sync' $TMP/a.ptx) barriers, $(grep -c setp $TMP/a.ptx) comparisons"
done
