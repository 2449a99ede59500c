# Sums that a loop makes of a tile loaded before it are made by few shuffles: threads have longer runs of its rows than an access moves. And
# rows of 5120 by 256 threads are read by 8 bytes, 5 times, as by 16 bytes a thread would have padding.
cat >$TMP/rows.py <<'END'
import tilelang
import tilelang.language as T


@tilelang.jit
def most(X, k: int):
    M, N = T.const("M, N")
    X: T.Tensor[[M, N], T.float32]
    Y = T.empty([M, k], T.float32)
    with T.Kernel(T.ceildiv(M, 128), threads=128) as bx:
        x = T.alloc_fragment([128, N], T.float32)
        top = T.alloc_fragment([128], T.float32)
        T.copy(X[bx * 128, 0], x)
        for i in T.serial(k):
            T.reduce_max(x, top, dim=1, clear=True)
            for r, c in T.Parallel(128, N):
                x[r, c] = T.if_then_else(top[r] == x[r, c], -10000.0, x[r, c])
            for r in T.Parallel(128):
                Y[bx * 128 + r, i] = top[r]
    return Y


@tilelang.jit
def scaled(X):
    M, N = T.const("M, N")
    X: T.Tensor[[M, N], T.float16]
    Y = T.empty([M, N], T.float16)
    with T.Kernel(M, threads=256) as row:
        x = T.alloc_fragment([N], T.float32)
        T.copy(X[row, 0], x)
        for i in T.Parallel(N):
            Y[row, i] = x[i] * 2.0
    return Y
END
for call in 'most.compile(M=65536, N=64, k=8)' 'scaled.compile(M=4096, N=5120)'; do
    $TILEC $TMP/rows.py --arch=sm_90a --ptxas=none --emit=ptx --export "k = $call" 2>/dev/null |
        awk '/^\.visible/ { wanted = /_aligned/ } wanted' | grep -oE 'shfl\.sync\.bfly|ld\.global[a-z0-9.]*' | sort | uniq -c
done
