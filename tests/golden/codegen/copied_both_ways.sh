# A pipelined loop that copies one operand by T.copy and the other one element by element: both by TMA, ahead, by a producer warp.
cd $TMP
cat >k.tile <<'T'
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def product(M, N, K):
    @T.prim_func
    def main(A: T.Tensor((M, K), T.float16), B: T.Tensor((N, K), T.float16), C: T.Tensor((M, N), T.float16)):
        with T.Kernel(N // 128, M // 128, threads=256) as (bx, by):
            a = T.alloc_shared((128, 64), T.float16)
            b = T.alloc_shared((128, 64), T.float16)
            c = T.alloc_fragment((128, 128), T.float32)
            T.clear(c)
            for k in T.Pipelined(K // 64, num_stages=3):
                T.copy(A[by * 128, k * 64], a)
                for i, j in T.Parallel(128, 64):
                    b[i, j] = B[bx * 128 + i, k * 64 + j]
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * 128, bx * 128])
    return main


k = product(4096, 4096, 4096)
T
$TILEC k.tile --arch=sm_90a --ptxas=none -Rperf -o k.o 2>&1 | grep -oE '(a copy by|a loop multi-buffered|persistent blocks).*aligned'
