# A product whose registers leave its block alone on a multiprocessor has as many stages as hide the copies' latency, if there is memory: more than
# the text asks for by steps of 32 and of 64, no more by steps of 128. Blocks of fewer sums are merged first (passes/layout/merge_blocks.c).
cd $TMP
cat > product.tile <<'END'
import tilelang
import tilelang.language as T


@tilelang.lazy_jit
def product(A: T.Tensor[[4096, 4096], T.float16], B: T.Tensor[[4096, 4096], T.float16], columns: int, step: int, stages: int, threads: int = 256):
    C = T.empty((4096, 4096), T.float16)
    with T.Kernel(4096 // columns, 32, threads=threads) as (bx, by):
        a = T.alloc_shared((128, step), T.float16)
        b = T.alloc_shared((step, columns), T.float16)
        c = T.alloc_fragment((128, columns), T.float32)
        T.clear(c)
        for k in T.Pipelined(4096 // step, num_stages=stages):
            T.copy(A[by * 128, k * step], a)
            T.copy(B[k * step, bx * columns], b)
            T.gemm(a, b, c)
        T.copy(c, C[by * 128, bx * columns])
    return C
END
while read -r columns step stages threads; do
    echo "$columns columns, steps of $step, $stages stages, $threads threads:"
    $TILEC product.tile --arch=sm_90a --ptxas=none -Rperf -o k.o --export "k = product.compile(columns=$columns, step=$step, stages=$stages, threads=$threads)" 2>&1 |
        sed -nE 's/.*remark: (.*(stages in place of|a loop multi-buffered|two blocks along).*) \[sm_90a, aligned\].*/    \1/p'
done <<'END'
256 32 2 256
256 64 2 256
256 128 2 256
128 64 2 256
128 32 3 128
END
