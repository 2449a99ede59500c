# Threads take what they gather, and the numbers that say where it is, an element at a time: a block needs no more of them for that.
cat > $TMP/a.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit
def product(X: T.Tensor[[8, 32, 32, 32, 64], T.float16], K: T.Tensor[[1728, 64], T.float16], Y: T.Tensor[[262144, 64], T.float16]):
    with T.Kernel(2048, threads=128) as b:
        x = T.alloc_shared([128, 32], T.float16)
        k = T.alloc_shared([32, 64], T.float16)
        sums = T.alloc_fragment([128, 64], T.float32)
        T.clear(sums)
        for step in T.Pipelined(54, num_stages=4):
            for i, j in T.Parallel(128, 32):
                tap = (step * 32 + j) // 64
                at = b * 128 + i
                d, h, w = at // 1024 % 32 + tap // 9 - 1, at // 32 % 32 + tap // 3 % 3 - 1, at % 32 + tap % 3 - 1
                inside = (d >= 0) & (d < 32) & (h >= 0) & (h < 32) & (w >= 0) & (w < 32)
                x[i, j] = T.if_then_else(inside, X[at // 32768, d, h, w, (step * 32 + j) % 64], 0)
            T.copy(K[step * 32, 0], k)
            T.gemm(x, k, sums)
        T.copy(sums, Y[b * 128, 0])
T
$TILEC $TMP/a.tile --arch=sm_90a --ptxas=none --no-cache -Rperf -o $TMP/a.o --export "k = product" 2>&1 | grep -oE 'error.*|[0-9]+ threads in place of.*|[0-9]+ warps' | uniq
